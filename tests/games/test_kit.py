"""The sources of a game's kit, and the error for an invalid kit."""

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


def test_a_game_without_kit_has_an_empty_kit():
    assert kit_of(aleazero.load_game(Once)) == GameKit()


def test_the_kit_of_a_file_is_bound_to_the_parameters(tmp_path):
    (tmp_path / "stop.py").write_text(FILE)
    game = aleazero.load_game(str(tmp_path / "stop.py"), faces=4)
    assert kit_of(game).notes == {"faces": "4 of 4"}
    assert kit_of(game) is kit_of(game)


def test_the_kit_of_a_class_is_a_static_method():
    assert kit_of(aleazero.load_game(Knowing)).notes == {"game": "Knowing()"}


def test_a_registered_kit_has_precedence():
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
def test_invalid_kits_are_rejected(wrong):
    aleazero.register_game("mine", Once, kit=wrong)
    with pytest.raises(ContractError, match=r"Once: the kit is .*, expected a GameKit or a function that returns one"):
        kit_of(aleazero.load_game("mine"))
