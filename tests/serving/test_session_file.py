from __future__ import annotations

import json
import os
import random

import pytest

import aleazero
from aleazero.errors import AleaZeroError, ConfigError, ReplayError
from aleazero.evaluation.game_file import GameFile, RecordedGame
from aleazero.games.backgammon.mat import Match, record_game, write_mat
from aleazero.serving.session import Session
from aleazero.serving.session_file import read_session, read_studied, studied, write_session
from tests.sample_games import COINS

PIG = aleazero.load_game("pig", target=20)
BACKGAMMON = aleazero.load_game("backgammon")


def finished(game, seed=3, source=None):
    session, choose = Session(game.new_initial_state(), seed, source=source), random.Random(seed)
    session.draw_all()
    while not session.state.is_terminal():
        session.act(choose.choice(session.state.legal_actions()))
        session.draw_all()
    return session


def recorded(session, pair=0):
    return RecordedGame(pair, ("a", "b"), session.seed, session.steps, tuple(session.state.returns()))


def test_a_session_is_written_and_read(tmp_path):
    session, file = finished(PIG), tmp_path / "game.json"
    session.undo()
    write_session(session, file)
    assert read_session(file).to_dict() == session.to_dict()
    (game,) = read_studied(file)
    assert game.steps == session.steps
    assert (game.game.params, game.names, game.source, game.seed) == (
        {"target": 20},
        ("human", "human"),
        "game.json",
        3,
    )
    assert not game.complete
    session.redo()
    assert studied(session).complete


def test_a_game_of_a_file_is_read_from_its_file_or_with_the_given_game(tmp_path):
    coins, file = aleazero.load_game(COINS), tmp_path / "game.json"
    session = finished(coins, source=COINS)
    write_session(session, file)
    assert read_studied(file)[0].steps == session.steps
    data = json.loads(file.read_text())
    assert data["game"] == COINS
    file.write_text(json.dumps({**data, "game": "/elsewhere/coins.py"}))
    with pytest.raises(AleaZeroError, match=r"no file '/elsewhere/coins.py'"):
        read_studied(file)
    assert read_studied(file, coins)[0].game is coins


def test_positions_have_the_step_that_follows():
    session = finished(PIG)
    game = studied(session)
    positions = list(game.positions())
    assert [step for _, step in positions] == [*session.steps, None]
    assert [state.to_text() for state, _ in positions[1:]] == [entry["position"] for entry in session.history]
    assert game.end().key() == session.state.key()
    assert game.start.key() == PIG.new_initial_state().key()


def test_recorded_games_are_read(tmp_path):
    sessions, file = [finished(PIG, 3), finished(PIG, 4)], tmp_path / "games.json"
    GameFile("pig", PIG.params, 1, tuple(recorded(one, n) for n, one in enumerate(sessions))).write(file)
    games = read_studied(file)
    assert [game.steps for game in games] == [one.steps for one in sessions]
    assert [(game.source, game.seed, game.names) for game in games] == [
        ("games.json, game 0", 3, ("a", "b")),
        ("games.json, game 1", 4, ("a", "b")),
    ]
    with pytest.raises(ReplayError, match=r"games.json contains recorded games, expected a session"):
        read_session(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": [[0, 1]]}, r"games.json, game 0, step 1: pig: action 1 is illegal here, expected one of 0 \(roll\)"),
        ({"steps": [[0, 10**12]]}, "step 1: got .* expected two integers"),
        ({"steps": [[0, 0]]}, "game 0: the game does not end as recorded, with returns"),
        ({"returns": [5.0, -5.0]}, "game 0: the game does not end as recorded"),
        ({"players": ["a"]}, "game 0: got 1 players, expected 2"),
        ({"steps": 3}, "is damaged"),
    ],
)
def test_bad_recorded_games(tmp_path, change, message):
    file = tmp_path / "games.json"
    data = json.loads(GameFile("pig", PIG.params, 1, (recorded(finished(PIG)),)).to_bytes())
    data["games"][0] |= change
    file.write_text(json.dumps(data))
    with pytest.raises(ReplayError, match=message):
        read_studied(file)


def test_a_match_file_is_read(tmp_path):
    first, second = finished(BACKGAMMON, 1), finished(BACKGAMMON, 2)
    for _ in range(40):
        second.undo()
    second.undo_decision(complete_plays=True)
    second.undo()
    games = [record_game([action for _, action in one.steps]) for one in (first, second)]
    file = tmp_path / "match.mat"
    file.write_text(write_mat(Match(tuple(games), ("Ann", "Bob"), 5)))
    read = read_studied(file)
    assert [game.steps for game in read_studied(file, BACKGAMMON)] == [game.steps for game in read]
    assert [game.end().key() for game in read] == [first.state.key(), second.state.key()]
    assert [game.complete for game in read] == [True, False]
    assert read[0].names == ("Ann", "Bob")
    assert " won " in read[0].result
    assert read[1].result == ""
    assert [game.source for game in read] == ["match.mat, game 0", "match.mat, game 1"]
    lines = file.read_text().splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("  2)"))
    lines[row] = "  2) 65: 24/20 13/2"
    file.write_text("\n".join(lines))
    with pytest.raises(AleaZeroError, match=f"match file, line {row + 1}: "):
        read_studied(file)
    with pytest.raises(ReplayError, match=r"match.mat is not JSON, expected a session of `aleazero play --save` or"):
        read_studied(file, PIG)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON, expected a session"),
        ("hello", "is not JSON, expected a session .* or a file that ends with .mat"),
        ('{"kind": "aleazero session", "format": 1', "is not JSON"),
        ("{}", "has no kind 'aleazero session' or 'aleazero games', expected"),
        ("[1, 2]", "has no kind"),
        ('{"kind": "aleazero session", "format": 1, "seed": 1' + "0" * 5000 + "}", "an integer has 5001 digits"),
        ("[" * 5000 + "]" * 5000, "nests more than 64 levels deep"),
    ],
)
def test_other_files_are_rejected(tmp_path, text, message):
    file = tmp_path / "file.txt"
    file.write_text(text)
    with pytest.raises(ReplayError, match=message):
        read_studied(file)
    with pytest.raises(ReplayError):
        read_session(file)


def test_files_that_cannot_be_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, message in (
        (tmp_path / "no.json", "No such file"),
        (tmp_path, "directory"),
        (pipe, "not a regular file"),
    ):
        with pytest.raises(ConfigError, match=f"cannot read .*{message}"):
            read_studied(path)
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    with pytest.raises(ReplayError, match="bytes is not JSON"):
        read_studied(tmp_path / "bytes")


def test_another_game_is_rejected(tmp_path):
    write_session(finished(PIG), tmp_path / "game.json")
    for other in (BACKGAMMON, aleazero.load_game("pig", target=30)):
        with pytest.raises(ReplayError, match=r"game.json has a game of pig\(target=20\), expected"):
            read_studied(tmp_path / "game.json", other)


def test_a_file_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        write_session(finished(PIG), tmp_path / "file" / "game.json")
