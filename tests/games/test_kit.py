"""Where a game's kit comes from, and what a wrong one says."""

from __future__ import annotations

import pytest
from sample_games import STOP_RULES

import aleazero
from aleazero import ContractError, GameKit
from aleazero.games import kit, pig, registry
from aleazero.games.kit import kit_of

FILE = f"""
from aleazero import GameInfo, GameKit

FACES = 6
{STOP_RULES}
def kit(game): return GameKit(notes={{"faces": f"{{FACES}} of {{game.params['faces']}}"}})
"""


class Once:
    num_players = num_actions = 1

    def __init__(self):
        self.played = False

    def current_player(self):
        return -4 if self.played else 0

    def legal_actions(self):
        return [0]

    def apply_action(self, action):
        self.played = True

    def returns(self):
        return [0.0]


class Knowing(Once):
    @staticmethod
    def kit(game):
        return GameKit(notes={"game": repr(game)})


@pytest.fixture(autouse=True)
def clean_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(kit, "_given", dict(kit._given))


def test_a_game_without_any_has_an_empty_one():
    assert kit_of(aleazero.load_game(Once)) == GameKit()


def test_a_file_has_its_own_which_is_bound_to_the_parameters(tmp_path):
    (tmp_path / "stop.py").write_text(FILE)
    game = aleazero.load_game(str(tmp_path / "stop.py"), faces=4)
    assert kit_of(game).notes == {"faces": "4 of 4"}
    assert kit_of(game) is kit_of(game)


def test_a_class_has_it_as_a_static_method():
    assert kit_of(aleazero.load_game(Knowing)).notes == {"game": "Knowing()"}


def test_what_is_registered_comes_first():
    aleazero.register_game("mine", Knowing, kit=GameKit(notes={"a": "b"}))
    assert kit_of(aleazero.load_game("mine")).notes == {"a": "b"}
    aleazero.register_game("mine", Knowing, kit=lambda game: GameKit(notes={"name": game.name}))
    assert kit_of(aleazero.load_game("mine")).notes == {"name": "Knowing"}
    aleazero.register_game("mine", Knowing)
    assert "game" in kit_of(aleazero.load_game("mine")).notes


def test_bundled_games():
    assert [one.position for one in kit_of(aleazero.load_game("pig")).examples][-1] is None
    assert kit_of(aleazero.load_game(pig)).examples
    solo, duel, more = (kit_of(aleazero.load_game("yatzy", players=n)) for n in (1, 2, 3))
    assert (solo.oracle is None, duel.oracle is None, more.oracle is None) == (False, True, True)
    assert (solo.reference, duel.reference, more.reference) == (None, "solo", "solo")
    assert (list(solo.positions), list(duel.positions), list(more.positions)) == (
        ["small", "standard"],
        ["standard", "small"],
        [],
    )
    assert (more.measure, more.positions_oracle) == (None, None)


@pytest.mark.parametrize("wrong", [3, lambda game: None])
def test_what_is_no_kit_is_refused(wrong):
    aleazero.register_game("mine", Once, kit=wrong)
    with pytest.raises(ContractError, match=r"Once: the kit is .*, expected a GameKit, or a function of the game"):
        kit_of(aleazero.load_game("mine"))
