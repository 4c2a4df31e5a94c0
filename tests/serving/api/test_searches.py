"""Searches, plans, trees, evaluations and reviews over HTTP, against a real server."""

from __future__ import annotations

import contextlib
import json
import time

import httpx
import pytest

import aleazero
from aleazero import Planner, Search, SearchConfig
from aleazero.oracles.oracle import require_oracle
from tests.serving.api.live_api import live_api

PIG = "pig(target=20)"
AT = "3-12 turn 7 player 0"
LONG = {"game": PIG, "position": AT, "sims": 20_000_000}
"""A search of minutes, which is cancelled."""


def lines_of(live, path, body):
    """Return all lines of a stream."""
    with live.client.stream("POST", path, json=body) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in answer.iter_lines()]


def failed(live, path, body):
    """Return the status and the line of a stream that fails: of the answer, or of the last line if it comes late."""
    with live.client.stream("POST", path, json=body) as answer:
        last = json.loads(list(answer.iter_lines())[-1])
        return (answer.status_code if answer.status_code != 200 else last["status"]), last["error"]


def plain(data):
    return json.loads(json.dumps(data))


def direct(**settings):
    game = aleazero.load_game(PIG)
    search = Search(game, "rollout", SearchConfig(**settings, max_nodes=1_000_000))
    return plain(search.run(game.state_from_text(AT), seed=3).to_dict())


def test_an_analysis_equals_search_run(live):
    lines = lines_of(live, "/analyse", {"game": PIG, "position": AT, "sims": 500, "seed": 3})
    assert [lines[0]["type"], lines[-1]["type"]] == ["accepted", "result"]
    expected = direct(num_simulations=500)
    assert {key: lines[-1]["result"][key] for key in expected} == expected
    assert lines[-1]["result"]["action_names"] == ["roll", "hold"]
    assert lines[-1]["result"]["position"] == AT


def test_partial_results_come_several_times_per_second(live):
    lines = lines_of(live, "/analyse", {**LONG, "seconds": 2})
    assert [line["type"] for line in lines] == ["accepted", *["partial"] * (len(lines) - 2), "result"]
    counts = [line["result"]["simulations"] for line in lines[1:-1]]
    assert counts == sorted(counts)
    assert len(counts) >= 3  # about 18 on an idle machine
    assert lines[-1]["result"]["stopped"] in ("seconds", "nodes")  # a fast machine fills the tree first


def test_a_search_is_cancelled_by_its_id_with_the_result_so_far(live):
    with live.client.stream("POST", "/analyse", json={**LONG, "id": "mine"}) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines)) == {"type": "accepted", "id": "mine"}
        assert json.loads(next(lines))["type"] == "partial"
        assert live.refused("/analyse", {**LONG, "id": "mine"}) == (
            409, "id is 'mine', which another search has, expected another one",
        )  # fmt: skip
        assert live.client.delete("/searches/mine").json() == {"cancelled": True}
        last = [json.loads(line) for line in lines][-1]
    assert last["type"] == "cancelled"
    assert last["result"]["stopped"] == "interrupted"
    gone = live.client.delete("/searches/mine")
    assert gone.status_code == 404
    assert gone.json()["error"] == "no search 'mine', expected the id of one that runs or waits"


def test_a_search_stops_when_its_client_leaves(live):
    with live.client.stream("POST", "/analyse", json=LONG) as answer:
        assert json.loads(next(answer.iter_lines()))["type"] == "accepted"
        while not live.get("/server").json()["running"]:
            time.sleep(0.01)
    live.wait_until_idle()


def test_the_end_of_the_server_ends_its_streams(tmp_path, caplog):
    with contextlib.ExitStack() as stack:
        with live_api(tmp_path, limits={"sims": 20_000_000}) as live:
            answer = stack.enter_context(httpx.stream("POST", f"{live.origin}/api/v1/analyse", json=LONG, timeout=60))
            lines = answer.iter_lines()
            assert json.loads(next(lines))["type"] == "accepted"
        assert json.loads(list(lines)[-1]) == {"type": "error", "status": 503, "error": "the server is shutting down"}
    assert caplog.text == ""


def test_searches_wait_in_order_and_other_calls_are_answered(live):
    streams = [live.client.stream("POST", "/analyse", json={**LONG, "id": f"n{n}"}) for n in range(5)]
    answers = [stream.__enter__() for stream in streams]
    try:
        while (server := live.get("/server").json())["running"] < 2:  # until the processes have started
            time.sleep(0.01)
        assert server["waiting"] == 3
        session = live.made("/sessions", {"game": PIG})
        assert live.made(f"/sessions/{session['id']}/moves", {"moves": "roll"})["steps"] == 2
        assert live.client.delete("/searches/n4").json() == {"cancelled": True}
        assert [json.loads(line) for line in answers[4].iter_lines()][-1] == {"type": "cancelled", "result": None}
    finally:
        for stream in streams:
            stream.__exit__(None, None, None)
    live.wait_until_idle()


def test_a_tree_has_a_depth_a_breadth_and_a_largest_number_of_nodes(live):
    body = {"game": PIG, "position": AT, "sims": 3_000, "seed": 3}
    tree = live.made("/tree", {**body, "tree_depth": 2, "tree_top": 2})
    assert tree["tree_complete"]
    root = tree["tree"]
    assert [child["text"] for child in root["children"]] == ["roll", "hold"]
    assert root["visits"] == 3_001
    roll = root["children"][0]
    assert (roll["kind"], len(roll["children"])) == ("chance", 2)
    assert {child["probability"] for child in roll["children"]} == {1 / 6}
    assert all(child["children"] == [] for child in roll["children"])
    deep = live.made("/tree", {**body, "tree_depth": 6, "tree_top": 100})
    assert not deep["tree_complete"]
    assert _count(deep["tree"]) == 500
    assert live.refused("/tree", {**body, "tree_depth": 7}) == (400, "tree_depth is 7, expected at most 6")
    assert "tree" not in lines_of(live, "/analyse", body)[-1]["result"]


def _count(node):
    return 1 + sum(_count(child) for child in node["children"])


def test_a_plan_equals_planner_run(live):
    game = aleazero.load_game(PIG)
    expected = plain(Planner(game, "rollout", seed=3).run(game.state_from_text(AT)).to_dict())
    plan = live.made("/plan", {"game": PIG, "position": AT, "seed": 3})
    assert {key: plan[key] for key in expected} == expected


def test_positions_are_evaluated(live):
    oracle = require_oracle(aleazero.load_game(PIG))
    found = live.made("/evaluate", {"game": PIG, "positions": [AT, "0-0 turn 5"], "evaluator": "oracle"})
    state = aleazero.load_game(PIG).state_from_text(AT)
    assert found["positions"][0]["value"] == list(oracle.values(state))
    assert found["positions"][1]["position"] == "0-0 turn 5 player 0"


def test_legal_moves_and_applied_moves(live):
    legal = live.made("/legal", {"game": PIG, "position": AT})
    assert [one["name"] for one in legal["actions"]] == ["roll", "hold"]
    chance = live.made("/legal", {"game": PIG, "position": AT, "moves": ["roll"]})
    assert sum(one["probability"] for one in chance["outcomes"]) == pytest.approx(1.0)
    after = live.made("/apply", {"game": PIG, "position": AT, "moves": ["roll"], "draw": True, "seed": 4})
    assert len(after["applied"]) == 2
    assert live.refused("/apply", {"game": PIG, "moves": ["hold"]})[0] == 400


def test_sessions_are_analysed_planned_and_shown_as_a_tree_at_their_position(live):
    session = live.made("/sessions", {"game": PIG, "position": AT})
    path = f"/sessions/{session['id']}"
    lines = lines_of(live, f"{path}/analyse", {"sims": 500, "seed": 3})
    expected = direct(num_simulations=500)
    assert {key: lines[-1]["result"][key] for key in expected} == expected
    played = live.made(f"{path}/moves", {"moves": "roll 4"})
    for task in ("plan", "tree"):
        assert live.made(f"{path}/{task}", {"seed": 1})["position"] == played["position"]
    live.made(f"{path}/undo", {})
    assert live.made(f"{path}/plan", {})["position"] == AT
    assert live.refused(f"{path}/analyse", {"game": "pig"}) == (
        422, "no field game, expected only those of the description",
    )  # fmt: skip
    assert live.refused("/sessions/unknown/analyse", {})[0] == 404


def test_a_game_that_is_over_cannot_be_searched(live):
    body = {"game": PIG, "position": "20-3 turn 0"}
    for call, route in ((failed, "/analyse"), (type(live).refused, "/plan"), (type(live).refused, "/tree")):
        status, line = call(live, route, body)
        assert status == 400
        assert "over" in line


@pytest.mark.parametrize(
    ("fields", "status", "part"),
    [
        ({"sims": 10**9}, 400, "sims is 1,000,000,000, expected at most 20,000,000"),
        ({"sims": 10**30}, 400, "the body is not valid JSON"),
        ({"seconds": 1e9}, 400, "seconds is 1,000,000,000.0, expected at most 60.0"),
        ({"nodes": 10**9}, 400, "nodes is 1,000,000,000, expected at most 1,000,000"),
        ({"evaluations": 10**9}, 400, "evaluations is 1,000,000,000, expected at most 1,000,000"),
        ({"moves": ["roll"] * 10_001}, 400, "number of moves is 10,001, expected at most 10,000"),
        ({"position": "x" * 100_001}, 400, "length of position is 100,001, expected at most 100,000"),
        ({"tree_depth": 20}, 400, "tree_depth is 20, expected at most 6"),
        ({"report_every": 0.001}, 422, "report_every is 0.001, expected greater than or equal to 0.1"),
        ({"id": "a/b"}, 400, "id is 'a/b', expected up to 100 letters, digits, - and _"),
        ({"evaluator": "net:/etc/passwd"}, 400, "no such network"),
        ({"evaluator": "net:../net.safetensors"}, 400, "no such network"),
        ({"game": "../x.py"}, 400, "a game file has to be named when the server is started"),
        ({"request": "plan"}, 422, "request is 'plan', expected 'analyse'"),
    ],
)
def test_a_search_beyond_a_limit_is_rejected(live, fields, status, part):
    got, line = live.refused("/analyse", {"game": PIG, **fields})
    assert got == status
    assert part in line


def test_rules_that_fail_during_a_search_are_one_error(live):
    status, line = failed(live, "/analyse", {"game": "broken", "sims": 50})
    assert (status, line) == (422, "broken: the rules raised ValueError: no such coin")
    assert live.made("/plan", {"game": PIG})["position"] == "0-0 turn 0 player 0"


def test_a_review_has_the_cost_of_decisions_and_the_luck_of_rolls(live):
    moves = ["roll", "6", "hold", "roll", "1", "roll", "6", "roll", "6", "roll"]
    review = live.made("/review", {"game": PIG, "moves": moves})
    rolls = [entry for entry in review["entries"] if "outcome" in entry]
    assert [roll["outcome"] for roll in rolls] == [6, 1, 6, 6]
    assert rolls[0]["luck"][0] > 0 > rolls[0]["luck"][1]
    assert len(review["totals"]) == 2
    session = live.made("/sessions", {"game": PIG, "moves": moves, "draw": False})
    again = live.made(f"/sessions/{session['id']}/review", {})
    assert again["entries"] == review["entries"]
    status, line = live.refused("/review", {"game": PIG, "moves": ["roll", "6", "nothing"]})
    assert status == 400
    assert "move 3" in line
