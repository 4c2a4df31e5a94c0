from __future__ import annotations

import json

import pytest

import aleazero
from aleazero.errors import AleaZeroError, ConfigError, ReplayError
from aleazero.serving.session import Session, make_players

PIG = aleazero.load_game("pig", target=20)


@pytest.fixture
def data():
    session = Session(PIG.new_initial_state(), 5, seats=["human", "greedy"], names=["Ann", "computer"], temperature=0.5)
    for _ in range(4):
        session.act(0)
        session.draw_all()
    session.undo()
    return json.loads(json.dumps(session.to_dict()))


def test_everything_is_read_back(data):
    session = Session.from_dict(data)
    assert session.to_dict() == data
    assert (session.seed, session.seats, session.names) == (5, ("human", "greedy"), ("Ann", "computer"))
    assert session.temperature == 0.5
    assert session.players == {}
    assert len(session.undone) == 1


def test_optional_fields_have_defaults(data):
    for name in ("redo", "seats", "names", "temperature"):
        del data[name]
    session = Session.from_dict(data)
    assert session.seats == session.names == ("human", "human")
    assert session.undone == []


BAD = {
    "foreign": ({"kind": "aleazero games"}, "has no kind 'aleazero session', expected a session that"),
    "format": ({"format": 2}, "format is 2, expected 1"),
    "version": ({"rules_version": 99}, "got rules of version 99, expected 1 of pig"),
    "game": ({"game": "pog"}, "no game 'pog', did you mean pig"),
    "game that is no text": ({"game": 7}, "game is 7, expected a text"),
    "params": ({"params": {"sides": 9}}, "no parameter 'sides'"),
    "params that are no object": ({"params": []}, r"params is \[\], expected an object"),
    "other params": ({"params": {"target": 2}}, "step 2: got player -1, expected|after the end|is illegal|expected"),
    "start": ({"start": "nowhere"}, "pig: cannot read"),
    "seed": ({"seed": -1}, "seed is -1, expected 0 to 2\\^64 - 1"),
    "huge seed": ({"seed": 2**64}, "expected 0 to 2\\^64 - 1"),
    "seed that is no integer": ({"seed": 1.5}, "seed is 1.5, expected an integer"),
    "true seed": ({"seed": True}, "seed is True, expected an integer"),
    "seats": ({"seats": ["human"]}, "seats has 1 text, expected 2"),
    "seats that are no texts": ({"seats": [1, 2]}, "seats is 1, expected a text"),
    "names": ({"names": ["a", "b", "c"]}, "names has 3 texts, expected 2"),
    "long name": ({"names": ["a" * 20_000, "b"]}, "names has 20,000 characters, expected at most 10,000"),
    "temperature": ({"temperature": -1}, "temperature is -1.0, expected at least 0"),
    "temperature that is no number": ({"temperature": "hot"}, "temperature is 'hot', expected a number"),
    "steps": ({"steps": {}}, "steps is {}, expected a list"),
    "step": ({"steps": [[0, 0], [-1, 3, 4]]}, r"step 2: got \[-1, 3, 4\], expected \[PLAYER, ACTION\]"),
    "huge action": ({"steps": [[0, 10**15]]}, "step 1: got .*expected two integers from -1"),
    "illegal action": ({"steps": [[0, 1]]}, r"step 1: pig: action 1 is illegal here, expected one of 0 \(roll\) in"),
    "impossible outcome": ({"steps": [[0, 0], [-1, 7]]}, "step 2: pig: outcome 7 cannot happen here, expected one of"),
    "wrong player": ({"steps": [[1, 0]]}, "step 1: got player 1, expected player 0 in"),
    "no roll": ({"steps": [[0, 0], [0, 0]]}, r"step 2: got player 0, expected chance \(-1\) in"),
    "illegal redo": ({"redo": [[-1, 9]]}, "step 8: pig: outcome 9 cannot happen here"),
    "steps after the end": (
        {"start": "19-0 turn 0 player 0", "steps": [[0, 0], [-1, 6], [0, 1], [1, 0]]},
        "step 4: got a step after the end of the game",
    ),
    "too many steps": ({"steps": [[0, 0]] * 200_001}, "got 200,00. steps, expected at most 200,000"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data_is_rejected_in_one_line(data, case):
    change, message = BAD[case]
    with pytest.raises(AleaZeroError, match=message) as caught:
        Session.from_dict({**data, **change}, what="game.json")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", ["game", "params", "rules_version", "seed", "start", "steps"])
def test_a_missing_field_is_named(data, missing):
    del data[missing]
    with pytest.raises(ReplayError, match=f"the session has no '{missing}'"):
        Session.from_dict(data)


@pytest.mark.parametrize("foreign", [None, [], 3, "text", {}, {"kind": ["aleazero session"]}])
def test_other_json_is_rejected(foreign):
    with pytest.raises(ReplayError, match="has no kind"):
        Session.from_dict(foreign)


def test_a_loader_decides_which_games_may_be_loaded(data):
    seen = []

    def load(text, params):
        seen.append((text, params))
        return PIG

    data["game"] = "/somewhere/evil.py"
    assert Session.from_dict(data, load=load).game is PIG
    assert seen == [("/somewhere/evil.py", {"target": 20})]


def test_players_of_seats():
    made = make_players(["random", "human", "random"], aleazero.load_game("yatzy", players=3))
    assert list(made) == [0, 2]
    assert made[0] is made[2]
    with pytest.raises(ConfigError, match="seat 1 is 'champion', expected a player spec: pig"):
        make_players(["human", "champion"], PIG)
    with pytest.raises(ConfigError, match="seat 0 is 'gredy', did you mean greedy"):
        make_players(["gredy", "human"], PIG)


@pytest.mark.long
def test_the_champion_is_the_bundled_network():
    game = aleazero.load_game("backgammon")
    session = Session(game.new_initial_state(), 1, make_players(["human", "champion"], game))
    session.state = game.state_from_text("4HPwATDgc/ABMA player 1 dice 3-1")
    action, result = session.choose()
    assert action in session.state.legal_actions()
    assert result is not None
