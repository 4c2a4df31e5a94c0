"""Sessions, games, players and runs over HTTP, against a real server."""

from __future__ import annotations

import json

import pytest

PIG = "pig(target=20)"


def test_games_and_their_parameters(live):
    games = {one["name"]: one for one in live.get("/games").json()}
    assert {"pig", "yatzy", "coins", "broken"} <= games.keys()
    assert games["pig"]["params"] == {"target": 100}
    assert games["coins"]["error"] is None
    assert live.get("/games/pig(target=50)").json()["params"] == {"target": 50}
    assert live.get("/games/coins(most=3)").json()["params"] == {"heads": 0.75, "most": 3}


@pytest.mark.parametrize(
    ("game", "status"),
    [("pigg", 404), ("..%2Fsecret.py", 404), ("%2Fetc%2Fpasswd", 404), ("pig(target=1)", 400), ("pig(", 400),
     ("coins.py", 404), ("openspiel:pig", 404)],
)  # fmt: skip
def test_an_unknown_game_is_one_line(live, game, status):
    answer = live.get(f"/games/{game}")
    assert answer.status_code == status
    assert answer.json()["error"]


def test_players_of_a_game(live):
    kinds = {one["player"]: one for one in live.get("/games/yatzy/players").json()}
    assert {"human", "champion", "random", "search", "plan", "net:champion"} <= kinds.keys()
    assert kinds["search"]["settings"]["sims"] == "int"
    assert "champion" not in {one["player"] for one in live.get("/games/pig/players").json()}


def test_a_game_is_played_undone_and_redone(live):
    session = live.made("/sessions", {"game": PIG, "seed": 3})
    assert (session["node"], session["player"], session["revision"]) == ("decision", 0, 0)
    path = f"/sessions/{session['id']}"
    views = [session]
    for _ in range(4):
        views.append(live.made(f"{path}/moves", {"moves": ["roll"]}))
        assert [step["player"] for step in views[-1]["changes"]] == [views[-2]["player"], -1]
    for before in reversed(views[:-1]):
        undone = live.made(f"{path}/undo", {})
        assert undone["position"] == before["position"]
    assert undone["redo_steps"] == 8
    assert live.refused(f"{path}/undo") == (400, "pig: nothing is left to take back, expected a smaller count")
    redone = live.made(f"{path}/redo", {"unit": "step", "count": 8})
    assert redone["position"] == views[-1]["position"]
    steps = live.get(f"{path}/history").json()
    assert len(steps) == 8
    assert steps[-1]["position"] == redone["position"]
    shown = live.get(path).json()
    assert {**redone, "changes": []} == shown


def test_a_session_starts_from_a_position_and_moves(live):
    session = live.made("/sessions", {"game": "pig", "position": "12-30 turn 18", "moves": "roll", "draw": False})
    assert session["node"] == "chance"
    assert len(session["moves"]) == 6
    assert {move["probability"] for move in session["moves"]} == {1 / 6}
    entered = live.made(f"/sessions/{session['id']}/moves", {"moves": [5]})
    assert entered["position"] == "12-30 turn 23 player 0"
    status, line = live.refused(f"/sessions/{session['id']}/draw")
    assert (status, line) == (400, "pig: got a draw, expected it at a chance node")


def test_a_session_is_exported_and_imported(live):
    session = live.made("/sessions", {"game": PIG, "seed": 5, "moves": ["roll"]})
    data = live.get(f"/sessions/{session['id']}/file").json()
    again = live.made("/sessions/file", {"file": data})
    assert again["id"] != session["id"]
    assert again["position"] == session["position"]
    data["steps"][0][1] = 99
    status, line = live.refused("/sessions/file", {"file": data})
    assert status == 400
    assert "step 1" in line
    status, line = live.refused("/sessions/file", {"file": {"kind": "other"}})
    assert status == 400


def test_the_players_of_seats_move(live):
    session = live.made("/sessions", {"game": PIG, "seed": 1, "seats": ["human", "random"]})
    path = f"/sessions/{session['id']}"
    assert live.refused(f"{path}/play") == (400, "seat 0 is 'human', expected the seat of a player")
    while session["player"] == 0:
        session = live.made(f"{path}/moves", {"moves": [session["moves"][-1]["id"]]})
    played = live.made(f"{path}/play", {"all": True})
    assert played["player"] in (0, None)
    assert {step["player"] for step in played["changes"]} == {1, -1}


@pytest.mark.parametrize(
    ("seat", "part"),
    [
        ("net:/etc/passwd", "no network '/etc/passwd'"),
        ("search:net=../net.safetensors", "no such network"),
        ("search:evaluator=net:other", "no such network"),
        ("player.py:Player", "which names a file"),
        ("../x.py:f", "which names a file"),
        ("search:sims=1000000000", "sims is 1000000000, expected at most 20000000"),
        ("champion", "has no bundled network"),
        ("nobody", "seat is 'nobody'"),
    ],
)
def test_a_seat_cannot_name_a_file_or_exceed_a_limit(live, seat, part):
    status, line = live.refused("/sessions", {"game": "pig", "seats": ["human", seat]})
    assert status == 400
    assert part in line


@pytest.mark.parametrize("seat", ["rollouts:sims=9000000000", "rollouts:sims=inf"])
def test_a_player_of_a_game_cannot_exceed_a_limit(live, seat):
    status, line = live.refused("/sessions", {"game": "azul", "seats": ["human", seat]})
    assert status == 400
    assert "expected at most 20000000" in line


@pytest.mark.parametrize("name", ["steps", "redo"])
def test_a_file_with_too_many_steps_is_not_played(live, name):
    session = live.made("/sessions", {"game": PIG, "seed": 5})
    data = live.get(f"/sessions/{session['id']}/file").json()
    data[name] = [[0, 99]] * (live.settings.limits.moves + 1)  # illegal, if they were played
    status, line = live.refused("/sessions/file", {"file": data})
    assert status == 400
    assert "the session has more than" in line


@pytest.mark.parametrize(
    "game", ["../coins.py", "/etc/passwd", "examples/coins.py:Coins", "coins.py", "x/y", "openspiel:pig"]
)
def test_a_game_cannot_be_a_path(live, game):
    status, line = live.refused("/sessions", {"game": game})
    assert status == 400
    assert "a game file has to be named when the server is started" in line
    file = {"kind": "aleazero session", "format": 1, "game": game, "params": {}, "rules_version": 1, "seed": 1,
            "start": "", "steps": []}  # fmt: skip
    assert live.refused("/sessions/file", {"file": file})[0] == 400


@pytest.mark.parametrize("identity", ["x", "..", "..%2F..%2Fetc%2Fpasswd", "a" * 22, "%00"])
def test_an_unknown_session_is_not_found(live, identity):
    for answer in (live.get(f"/sessions/{identity}"), live.get(f"/sessions/{identity}/file")):
        assert answer.status_code == 404
        assert answer.json()["error"]


def test_a_change_of_another_revision_is_a_conflict(live):
    session = live.made("/sessions", {"game": PIG})
    path = f"/sessions/{session['id']}/moves"
    live.made(path, {"moves": "roll", "revision": 0})
    assert live.refused(path, {"moves": "roll", "revision": 0}) == (
        409,
        "revision is 0, expected 1: the session has changed",
    )


def test_sessions_are_listed_and_deleted(live):
    session = live.made("/sessions", {"game": PIG, "moves": ["roll"]})
    listed = {one["id"]: one for one in live.get("/sessions").json()}
    expected = {"id": session["id"], "game": "pig", "params": {"target": 20}, "names": ["human", "human"], "steps": 2,
                "revision": 0, "error": None}  # fmt: skip
    assert listed[session["id"]] == expected
    live.store.close()
    assert expected in live.get("/sessions").json()
    assert live.client.delete(f"/sessions/{session['id']}").status_code == 204
    assert live.get(f"/sessions/{session['id']}").status_code == 404


def test_a_game_whose_rules_raise_gives_an_error_and_the_server_lives_on(live):
    session = live.made("/sessions", {"game": "broken"})
    path = f"/sessions/{session['id']}/moves"
    status, line = live.refused(path, {"moves": "raise"})
    assert (status, line) == (422, "the rules of 'broken' failed: ValueError: no such coin")
    status, line = live.refused(path, {"moves": "exit"})
    assert status == 422
    assert "ended with exit code 7" in line
    status, line = live.refused(path, {"moves": "loop"})
    assert status == 422
    assert "took longer than" in line
    assert live.made(path, {"moves": "end"})["node"] == "terminal"


@pytest.mark.parametrize(
    ("body", "status", "part"),
    [
        (b"{", 400, "the body is not valid JSON"),
        (b"[]", 422, "the body is []"),
        (b"{}", 422, "game is missing"),
        (b'{"game": 3}', 422, "game is 3, expected a valid string"),
        (b'{"game": "pig", "x": 1}', 422, "no field x"),
        (b'{"game": "pig", "seed": -1}', 422, "seed is -1, expected greater than or equal to 0"),
        (b'{"game": "pig", "temperature": NaN}', 422, "temperature is nan"),
        (
            b'{"game": "pig", "params": {"target": null}}',
            422,
            "params.target is None, expected a valid boolean or a val",
        ),
        (b'{"game": "pig", "params": {"target": NaN}}', 422, "params.target is nan, expected "),
        (b'{"game": "pig", "moves": {}}', 422, "moves is {}, expected a valid string or a valid list"),
        (b'{"game": "pig", "position": "nonsense"}', 400, "pig"),
        (b'{"game": "pig", "params": {"target": 1}}', 400, "target is 1"),
        (b'{"game": "pig", "seats": ["human"]}', 400, "seats"),
    ],
)
def test_bad_bodies_are_one_line(live, body, status, part):
    answer = live.client.post("/sessions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert part in answer.json()["error"]


def test_unknown_paths_and_methods(live):
    assert live.get("/nothing").status_code == 404
    answer = live.client.delete("/games")
    assert answer.status_code == 405
    assert "Method Not Allowed" in answer.json()["error"]


def test_the_description_lists_every_route(live):
    description = live.get("/openapi.json").json()
    assert {"/api/v1/sessions/{session}/moves", "/api/v1/analyse", "/api/v1/runs/{run}"} <= description["paths"].keys()
    text = json.dumps(description)
    assert "HTTPValidationError" not in text


def test_idle_sessions_come_back(live):
    store = live.store
    session = live.made("/sessions", {"game": PIG, "moves": ["roll"], "seed": 8})
    store.close()
    assert store.in_memory == []
    shown = live.get(f"/sessions/{session['id']}").json()
    assert {**shown, "changes": None} == {**session, "changes": None}
