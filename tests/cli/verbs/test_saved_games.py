"""Undo, redo, save and load in ``aleazero play``, and the games that ``aleazero match`` records."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys

import pytest

import aleazero
from aleazero.serving.session_file import read_session, read_studied

PIG = "pig(target=20)"
PLAY = ("play", PIG, "--opponent", "random", "--seed", "3")


def positions(result):
    """Return the positions after the moves that were printed, by number."""
    found = re.findall(r"^(?:> )? +([0-9]+) (?:you|player 1) .*?([0-9]+-[0-9]+ turn .*)$", result.stdout, re.MULTILINE)
    return dict(found)


def test_undo_and_redo(run):
    result = run(*PLAY, stdin="roll\nroll\nu\nredo\nundo\nu\nu\nredo\nredo\nredo\nq\n")
    assert result.exit_code == 0, result.output
    text = result.stdout
    notes = re.findall(r"([0-9]+) steps (taken back|played again), now after ([0-9]+) moves", text)
    assert [kind for _, kind, _ in notes] == [
        "taken back",
        "played again",
        "taken back",
        "taken back",
        *["played again"] * 2,
    ]
    assert notes[0][0] == notes[1][0]
    assert notes[3][2] == "0"
    assert "there is no move of yours to take back" in text
    assert "there is nothing to redo" in text
    assert notes[5][2] == notes[1][2] == re.search(r"stopped after ([0-9]+) moves", text)[1]


def test_the_same_moves_after_an_undo_give_the_same_game(run):
    plain = run(*PLAY, stdin="roll\nroll\nroll\nq\n")
    again = run(*PLAY, stdin="roll\nroll\nu\nu\nroll\nroll\nroll\nq\n")
    assert positions(plain) == positions(again) != {}


def test_a_game_of_several_persons_is_taken_back_move_by_move(run):
    result = run("play", "tic_tac_toe", "--opponent", "human", stdin="4\n0\nu\nu\nq\n")
    assert "player 1, your move" in result.stdout
    assert result.stdout.count("1 step taken back") == 2
    assert "stopped after 0 moves" in result.stdout


def test_a_complete_play_is_taken_back(run):
    words = ("play", "backgammon", "--opponent", "human", "--seed", "3")
    result = run(*words, "--position", "4HPwATDgc/ABMA dice 6-6", stdin="13/7(2) 24/18(2)\nu\nq\n")
    assert "steps taken back, now after 0 moves" in result.stdout


def test_the_commands_are_explained(run):
    assert "? for a hint, u to take back, redo, r to review, save FILE, q to stop" in run(*PLAY, stdin="q\n").stdout


def test_a_saved_game_continues_in_a_new_process(run, tmp_path):
    """A real process plays the second half; the game is the one that was not interrupted."""
    file = tmp_path / "game.json"
    moves = ["roll", "roll", "hold", "roll", "roll", "roll", "hold", "roll"]
    full = run(*PLAY, stdin="\n".join(moves[:8]) + "\n")
    run(*PLAY, "--save", str(file), stdin="\n".join([*moves[:3], "u", "q"]) + "\n")
    command = [sys.executable, "-m", "aleazero", "play", "--load", str(file), "--save", str(file)]
    typed = "\n".join(["redo", *moves[3:8]]) + "\n"
    done = subprocess.run(command, input=typed, capture_output=True, text=True, check=True)
    assert "played again" in done.stdout
    session = read_session(file)
    assert str(session.ply) == list(positions(full))[-1]
    assert session.state.to_text() == list(positions(full).values())[-1]


def test_the_file_has_every_move_and_the_game_is_replayed(run, tmp_path):
    file = tmp_path / "game.json"
    result = run(*PLAY, "--save", str(file), stdin="roll\nroll\nq\n")
    assert f"saved: continue with `aleazero play --load {file}`" in result.stdout.replace("\n", "")
    data = json.loads(file.read_text())
    assert (data["kind"], data["game"], data["params"], data["seed"]) == ("aleazero session", "pig", {"target": 20}, 3)
    assert data["seats"] == ["human", "random"]
    (game,) = read_studied(file)
    assert game.end().to_text() == list(positions(result).values())[-1]


@pytest.mark.parametrize("name", ["~no_such_user/a.json", "a\0b.json", "x" * 300, "x/" * 3000 + "a", "loop"])
def test_a_name_that_no_file_can_have_does_not_end_the_game(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    result = run(*PLAY, stdin=f"save {name}\nsave a.json\nq\n")
    assert "saved to a.json" in result.stdout
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["a.json"]


def test_the_command_save(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.json").write_text("mine")
    typed = ["save", "save taken.json", "save no/where.json", "save a b.json", "roll", "save", "SAVE a b.json", "q"]
    result = run(*PLAY, stdin="\n".join(typed) + "\n")
    assert "save has no file, expected save FILE" in result.stdout
    assert "save is 'taken.json', which exists, expected a new file" in result.stdout
    assert "save is 'no/where.json', expected a file in a folder that exists" in result.stdout
    assert result.stdout.count("saved to a b.json") == 3
    assert (tmp_path / "taken.json").read_text() == "mine"
    assert read_session(tmp_path / "a b.json").ply >= 1
    again = run("play", "--load", "a b.json", stdin="roll\nq\n")
    assert "not saved: a b.json has another position" in again.stdout
    other = run("play", "--load", "a b.json", stdin="roll\nsave\nq\n")
    assert "saved to a b.json" in other.stdout


@pytest.mark.parametrize(("typed", "place"), [("?", "Session.hint"), ("r", "review.review_game")])
def test_a_hint_or_a_review_that_fails_does_not_end_the_game(run, monkeypatch, typed, place):
    def fail(*given, **more):
        raise aleazero.GameError("more than 2,000,000 states")

    home, _, name = place.partition(".")
    module = importlib.import_module(f"aleazero.serving.{home.lower()}")
    monkeypatch.setattr(module.Session if home == "Session" else module, name, fail)
    result = run(*PLAY, stdin=f"roll\n{typed}\nroll\nq\n")
    assert result.exit_code == 0, result.output
    assert "more than 2,000,000 states" in result.stdout
    assert len(positions(result)) > 1
    assert "stopped after" in result.stdout


def test_an_action_with_the_name_of_a_command_is_an_action(run, tmp_path):
    rules = tmp_path / "odd.py"
    rules.write_text(
        "class Odd:\n"
        "    num_players, num_actions = 1, 2\n"
        "    def __init__(self): self.moves = []\n"
        "    def current_player(self): return -4 if len(self.moves) == 2 else 0\n"
        "    def legal_actions(self): return [0, 1]\n"
        "    def apply_action(self, action): self.moves.append(action)\n"
        "    def returns(self): return [float(sum(self.moves))]\n"
        "    def clone(self):\n        other = Odd(); other.moves = list(self.moves); return other\n"
        "    def action_to_string(self, action): return ['q', 'undo'][action]\n"
    )
    result = run("play", str(rules), "--opponent", "random", stdin="undo\nu\nq\nundo\n")
    assert result.exit_code == 0, result.output
    assert "1 step taken back" in result.stdout
    assert "the game is over: 1" in result.stdout


def test_a_loaded_game_keeps_its_players_or_gets_others(run, run_json, tmp_path):
    file = tmp_path / "game.json"
    run(*PLAY, "--save", str(file), stdin="roll\nq\n")
    assert "computer: random" in run("play", "--load", str(file), stdin="q\n").stdout
    assert "computer: greedy" in run("play", "--load", str(file), "--opponent", "greedy", stdin="q\n").stdout
    assert "you are player 1" in run("play", "--load", str(file), "--seat", "1", stdin="q\n").stdout
    record = run_json("play", PIG, "--load", str(file), "--watch")
    assert (record["complete"], record["engine"], record["seed"]) == (True, "random", 3)
    assert [step.get("outcome", step.get("action")) for step in record["steps"]][: len(read_session(file).steps)] == [
        action for _, action in read_session(file).steps
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"kind": "x"},
            "game.json has no kind 'aleazero session', expected a session that `aleazero play --save` wrote",
        ),
        ({"format": 9}, "game.json: format is 9, expected 1"),
        ({"rules_version": 9}, "game.json: got rules of version 9, expected 1 of pig(target=20)"),
        ({"game": "pgi"}, "no game 'pgi'"),
        ({"steps": [[0, 1]]}, "game.json, step 1: pig: action 1 is illegal here, expected one of 0 (roll)"),
        ({"seats": ["human", "rndom"]}, "game.json: seat 1 is 'rndom', did you mean random"),
        ({"start": "19-0 turn 6 player 0", "steps": [[0, 1]]}, "game.json: the game is over, expected one in progress"),
    ],
)
def test_a_changed_file_is_one_line(run, refused, tmp_path, change, expected):
    file = tmp_path / "game.json"
    run(*PLAY, "--save", str(file), stdin="roll\nq\n")
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert expected in refused("play", "--load", str(file))


def test_files_that_do_not_fit(run, refused, tmp_path):
    file = tmp_path / "game.json"
    run(*PLAY, "--save", str(file), stdin="roll\nq\n")
    assert "cannot read" in refused("play", "--load", str(tmp_path / "none.json"))
    assert "which exists, expected a new file or the one of --load" in refused(*PLAY, "--save", str(file))
    assert "expected a file in a folder that exists" in refused(*PLAY, "--save", str(tmp_path / "no" / "a.json"))
    assert "game.json has a game of pig(target=20), expected dice_game" in refused(
        "play", "dice_game", "--load", str(file)
    )
    assert "expected pig(target=100)" in refused("play", "pig", "--load", str(file))
    text = file.read_text()
    for damaged in (text[:50], "", "hello", text.replace('"seed": 3', '"seed": 1' + "0" * 30)):
        file.write_text(damaged)
        assert "game.json is not JSON" in refused("play", "--load", str(file))


def test_a_match_records_its_games(run, refused, tmp_path):
    file = tmp_path / "games.json"
    result = run("match", PIG, "random", "random", "--pairs", "2", "--save", str(file))
    assert f"written to {file}" in result.stdout.replace("\n", "")
    games = read_studied(file)
    assert len(games) == 4
    assert all(game.complete for game in games)
    run("match", "yatzy(players=3)", "random", "random", "random", "--pairs", "1", "--save", str(file))
    games = read_studied(file)
    assert [len(game.names) for game in games] == [3, 3, 3]
    assert aleazero.load_game("yatzy", players=3).params == games[0].game.params
    assert "expected a file in a folder that exists" in refused(
        "match", PIG, "random", "random", "--save", str(tmp_path)
    )
