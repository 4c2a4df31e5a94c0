"""Routes of the HTTP API for positions: legal moves, searches as streams, plans, trees, evaluations and reviews.

A stream has one JSON object per line (NDJSON). The first one has the id, with which the search can be cancelled;
partial results follow, and then a result, an error, or ``cancelled`` with the result so far. A client that reads
slowly misses partial results. If it disconnects, the search is stopped.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from aleazero.serving.api import models
from aleazero.serving.api.jobs import Job, JobError, result_of
from aleazero.serving.api.state import Api, UnknownNameError, status_of
from aleazero.serving.requests import (
    AnalyseRequest,
    ApplyRequest,
    EvaluateRequest,
    LegalRequest,
    PlanRequest,
    ReviewRequest,
)
from aleazero.serving.requests import Request as EngineRequest
from aleazero.serving.workers import Done

NDJSON: Final = "application/x-ndjson"
FIRST_NEWS: Final = 0.2
"""Seconds that a stream waits for an early error, which then has a status of its own."""
EVERY: Final = 0.1
"""Seconds between partial results, if the request does not have them."""


def search_routes(api: Api) -> APIRouter:
    """Return the routes of searches, for positions and for sessions."""
    routes = APIRouter(tags=["positions"])
    _positions(routes, api)
    _of_sessions(routes, api)

    @routes.delete("/searches/{search}", response_model=models.Cancelled)
    async def cancel(search: str) -> Any:
        """Cancel a search, plan or review by its id."""
        if not api.jobs.has(search):
            raise UnknownNameError(f"no search {search[:100]!r}, expected the id of one that runs or waits")
        return {"cancelled": api.jobs.cancel(search)}

    return routes


STREAM: Final[Any] = {
    200: {
        "description": "A stream of JSON objects, one per line.",
        "content": {NDJSON: {"schema": {"type": "string"}}},
        "model": None,
    }
}
JSON: Final[Any] = {200: {"model": models.Loose}}


def _positions(routes: APIRouter, api: Api) -> None:
    @routes.post("/legal", responses=JSON)
    async def legal(request: Request, body: LegalRequest) -> Response:
        """List the legal actions or the outcomes in a position."""
        return await _answer(api, request, body, quick=True)

    @routes.post("/apply", responses=JSON)
    async def apply(request: Request, body: ApplyRequest) -> Response:
        """Apply moves to a position."""
        return await _answer(api, request, body, quick=True)

    @routes.post("/evaluate", responses=JSON)
    async def evaluate(request: Request, body: EvaluateRequest) -> Response:
        """Evaluate positions without a search."""
        return await _answer(api, request, body)

    @routes.post("/analyse", responses=STREAM, response_class=StreamingResponse)
    async def analyse(request: Request, body: AnalyseRequest) -> Response:
        """Search from a position; the answer is a stream."""
        return await _stream(api, body)

    @routes.post("/plan", responses=JSON)
    async def plan(request: Request, body: PlanRequest) -> Response:
        """Plan from a position with exact chance."""
        return await _answer(api, request, body)

    @routes.post("/tree", responses=JSON)
    async def tree(request: Request, body: AnalyseRequest) -> Response:
        """Search from a position; the answer has the tree, to `tree_depth` with `tree_top` children per node."""
        return await _answer(api, request, _with_tree(body))

    @routes.post("/review", responses=JSON)
    async def review(request: Request, body: ReviewRequest) -> Response:
        """Review a game: the cost of each decision and the luck of each roll."""
        return await _answer(api, request, body)


def _of_sessions(routes: APIRouter, api: Api) -> None:
    @routes.post("/sessions/{session}/analyse", responses=STREAM, response_class=StreamingResponse)
    async def analyse_session(session: str, body: models.SessionAnalysis) -> Response:
        """Search from the position of a session; the answer is a stream."""
        return await _stream(api, _at(api, session, AnalyseRequest, body))

    @routes.post("/sessions/{session}/plan", responses=JSON)
    async def plan_session(request: Request, session: str, body: models.SessionPlan) -> Response:
        """Plan from the position of a session with exact chance."""
        return await _answer(api, request, _at(api, session, PlanRequest, body))

    @routes.post("/sessions/{session}/tree", responses=JSON)
    async def tree_session(request: Request, session: str, body: models.SessionAnalysis) -> Response:
        """Search from the position of a session; the answer has the tree."""
        return await _answer(api, request, _with_tree(_at(api, session, AnalyseRequest, body)))

    @routes.post("/sessions/{session}/review", responses=JSON)
    async def review_session(request: Request, session: str, body: models.SessionReview) -> Response:
        """Review the game of a session up to its position."""
        return await _answer(api, request, _at(api, session, ReviewRequest, body))


def _at(api: Api, session: str, kind: Any, body: Any) -> Any:
    """Return the request for the position of a session. The session itself is not kept from changes."""
    data = api.store.get(session).data
    steps = [action for _, action in data["steps"]]
    given = {name: getattr(body, name) for name in body.model_fields_set}
    return kind(game=data["game"], params=data["params"], position=data["start"], moves=steps, **given)


def _with_tree(body: AnalyseRequest) -> AnalyseRequest:
    return body if body.tree_depth is not None else body.model_copy(update={"tree_depth": 3})


async def _answer(api: Api, request: Request, body: EngineRequest, quick: bool = False) -> Response:
    return Response(await api.answer(request.receive, body, quick), media_type="application/json")


async def _stream(api: Api, body: AnalyseRequest) -> Response:
    if body.report_every is None:
        body = body.model_copy(update={"report_every": EVERY})
    job = api.start(body)
    try:
        await job.wait(FIRST_NEWS)
        if job.ended is not None and job.ended.kind == "error":
            result_of(job.ended)
    except BaseException:
        api.jobs.forget(job)
        raise
    return StreamingResponse(_lines(api, job), media_type=NDJSON)


async def _lines(api: Api, job: Job) -> AsyncIterator[bytes]:
    try:
        yield _line("accepted", {"id": job.id})
        async for event in job.events():
            yield _end(event) if isinstance(event, Done) else _result("partial", event)
    finally:
        api.jobs.forget(job)


def _end(done: Done) -> bytes:
    if done.kind == "error":
        error = JobError(done.code, done.message)
        return _line("error", {"status": status_of(error), "error": str(error)})
    return _result(done.kind, b"null" if done.content is None else done.content)


def _line(kind: str, fields: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, **fields}).encode() + b"\n"


def _result(kind: str, content: bytes) -> bytes:
    return b'{"type":"' + kind.encode() + b'","result":' + content + b"}\n"
