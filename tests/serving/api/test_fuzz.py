"""Requests that Schemathesis makes from the OpenAPI description: valid and invalid ones of every route.

Random games and ids are mostly unknown, so half of the requests get a game, a position or a session that exists.
"""

from __future__ import annotations

import contextlib
from collections import Counter

import hypothesis
import pytest
import schemathesis
from hypothesis import strategies
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.serving.api.live_api import live_api

PIG = {"game": "pig(target=20)", "params": {}, "position": None, "moves": []}
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
LIMITS = {"sims": 2_000, "seconds": 1.0, "nodes": 20_000, "evaluations": 2_000, "tree_nodes": 500, "sessions": 50}


def send_requests(live, cases):
    """Send this many requests per route and kind, check the answers, and return the number of answers by status."""
    schema = schemathesis.openapi.from_url(f"{live.origin}/api/v1/openapi.json")
    found = Counter()
    operations = [operation.ok() for operation in schema.get_all_operations()]
    assert len(operations) > 25
    for operation in operations:
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            session = live.made("/sessions", {"game": "pig(target=20)", "seats": ["human", "random"]})["id"]
            with contextlib.suppress(hypothesis.errors.Unsatisfiable):  # a route without parameters
                _send_requests(operation, mode, cases, session, found)
            live.client.delete(f"/sessions/{session}")
    return found


def _send_requests(operation, mode, cases, session, found):
    @hypothesis.seed(1)
    @hypothesis.settings(
        max_examples=cases, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate],
    )  # fmt: skip
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode), known=strategies.booleans())
    def send(case, known):
        if known:
            _use_known(case, session)
        answer = case.call()
        found[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)

    send()


def _use_known(case, session):
    """Replace the names in a request by names that the server knows."""
    names = {"session": session, "game": "pig(target=20)", "run": "first", "search": "none"}
    for name in case.path_parameters or {}:
        case.path_parameters[name] = names[name]
    if isinstance(case.body, dict):
        case.body.update({name: value for name, value in PIG.items() if name in case.body})


def test_few_requests_of_every_route_get_valid_answers(live):
    found = send_requests(live, cases=1)
    assert found.keys() >= {200, 400, 404}


@pytest.mark.long
def test_many_requests_of_every_route_get_valid_answers(tmp_path):
    with live_api(tmp_path, workers=2, limits=LIMITS) as live:
        found = send_requests(live, cases=45)
    assert found.total() >= 2_000
    assert found.keys() >= {200, 201, 400, 404, 422}
