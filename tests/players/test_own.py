"""Players from user code: the game's playout policy, and Python files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import aleazero
from aleazero.evaluation.match import game_seeds
from aleazero.evaluation.pairs import play_pairs
from aleazero.native.random import unit
from aleazero.players.player import own_seed

PIG = aleazero.load_game("pig", target=20)
MINE = """
import random

HOLD_AT = 8

def careful(state, seed):
    turn = int(state.to_text().split()[2])
    return "hold" if turn >= HOLD_AT else "roll"

class Drunk:
    def __init__(self, game):
        self.actions = game.num_actions
    def select(self, state, seed):
        return random.Random(seed).choice(state.legal_actions())

def broken(state, seed):
    return 1 // 0

def illegal(state, seed):
    return 7

def wordless(state, seed):
    return None

def unknown(state, seed):
    return "rol"

def leaves(state, seed):
    raise GeneratorExit

class Hidden:
    def __init__(self, game): pass
    @property
    def select(self):
        raise RuntimeError("hidden")

class Empty:
    def __init__(self, game):
        pass

class Raises:
    def __init__(self, game):
        self.place = {}["place"]

number = 5
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")


@pytest.mark.usefixtures("mine")
def test_a_function_plays_and_may_name_its_action():
    player = aleazero.make_player("mine.py:careful", PIG)
    states = [PIG.state_from_text(f"0-0 turn {turn}") for turn in (3, 7, 8, 12)]
    assert [state.action_to_string(player.select(state, 0)) for state in states] == ["roll", "roll", "hold", "hold"]
    assert player.select_many(states, [0] * 4) == [0, 0, 1, 1]
    assert player.explain(states[0], 0) is None


@pytest.mark.usefixtures("mine")
def test_a_class_gets_a_reproducible_seed_per_position():
    player = aleazero.make_player("mine.py:Drunk", PIG)
    state = PIG.state_from_text("0-0 turn 5")
    assert len({player.select(state, seed) for seed in range(20)}) == 2
    assert [player.select(state, seed) for seed in range(20)] == [player.select(state, seed) for seed in range(20)]


@pytest.mark.usefixtures("mine")
def test_user_players_play_in_other_processes():
    own = [str(Path("mine.py").resolve()) + name for name in (":careful", ":Drunk")]  # workers have their own folder
    table = play_pairs(PIG, *own, game_seeds(1, 20))
    again = play_pairs(PIG, *own, game_seeds(1, 20), workers=2)
    assert table.scores.tolist() == again.scores.tolist()
    assert table.scores.mean() > 0.5


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mine.py:carefull", "player 'mine.py:carefull': no 'carefull' in mine.py, did you mean careful?"),
        ("none.py:careful", "no file 'none.py'"),
        (f"{'a' * 300}.py:careful", "no file 'aaaa"),
        ("~nobody-here/mine.py:careful", "cannot read '~nobody-here/mine.py'"),
        (
            "mine.py:number",
            "mine.py:number is not a player, expected a function of (state, seed), or a class with select",
        ),
        ("mine.py:Empty", "is not a player"),
        ("mine.py:Raises", "raised KeyError: 'place' (mine.py, line "),
        (
            "mine.py:broken",
            "player mine.py:broken raised ZeroDivisionError: integer division or modulo by zero (mine.py",
        ),
        ("mine.py:illegal", "selected 7 in '0-0 turn 5 player 0', expected one of 0 (roll), 1 (hold)"),
        ("mine.py:wordless", "selected None in"),
        ("mine.py:unknown", "player mine.py:unknown selected 'rol' in"),
        ("mine.py:leaves", "player mine.py:leaves raised GeneratorExit"),
        ("mine.py:Hidden", "player mine.py:Hidden raised RuntimeError: hidden"),
    ],
)
@pytest.mark.usefixtures("mine")
def test_errors_of_user_code_are_reported_in_one_line(spec, message):
    with pytest.raises(aleazero.AleaZeroError) as caught:
        aleazero.make_player(spec, PIG).select(PIG.state_from_text("0-0 turn 5"), 0)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_imported_is_reported_in_one_line(tmp_path):
    for text, message in (("def careful(:", "SyntaxError"), ("import no_such_module", "ModuleNotFoundError"),
                       ("raise SystemExit(3)", "SystemExit")):  # fmt: skip
        file = tmp_path / "bad.py"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(aleazero.ConfigError, match=f"cannot import .*{message}"):
            aleazero.make_player(f"{file}:careful", PIG)


def test_the_playout_policy_of_the_game_plays():
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("filled none upper 0 total 0 / player 0 dice 55556 rerolls 1")
    player = aleazero.make_player("playout", game)
    assert [player.select(state, seed) for seed in range(50)] == [
        state.playout_action(unit(own_seed(state, seed))) for seed in range(50)
    ]
    some = state.legal_actions()[2:5]
    assert Counter(player.select(state, seed, some) for seed in range(50)).keys() <= set(some)


def test_a_game_without_a_playout_policy_is_an_error():
    with pytest.raises(aleazero.ConfigError, match=r"pig\(target=20\) has no playout policy, expected random"):
        aleazero.make_player("playout", PIG)
