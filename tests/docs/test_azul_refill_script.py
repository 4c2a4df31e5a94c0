"""The measurement of refills in Azul: its frozen refills, and when its players search."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero.games.game_dice import GameDice
from aleazero.games.kernel import KernelState

ROOT = Path(__file__).resolve().parents[2]
AZUL = aleazero.load_game("azul")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("azul_refill", ROOT / "docs" / "scripts" / "azul_refill.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def refilled(state, seed=None):
    """Return the tiles on display after a refill: by the game's dice, or by the only outcome that is listed."""
    state, dice = state.clone(), GameDice(seed or 0)
    while state.is_chance_node():
        if seed is None:
            ((outcome, probability),) = state.chance_outcomes()
            assert probability == 1.0
            assert {state.sample_outcome(u) for u in (0.0, 0.3, 0.9)} == {outcome}
        state.apply_action(dice.draw(state) if seed is not None else outcome)
    return state.vector[20:29].tolist()


def test_frozen_refills_depend_only_on_the_state(script):
    frozen, rng = script.frozen_game(), np.random.default_rng(4)
    edges, state = [], AZUL.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            edges.append(state.vector.copy())
        chance = state.is_chance_node()
        state.apply_action(state.sample_outcome(rng.random()) if chance else int(rng.choice(state.legal_actions())))
    starts = [vector for vector in edges if not vector[20:29].any()]
    assert len(starts) > 3
    with np.errstate(over="ignore"):
        found = [refilled(KernelState(frozen, vector.copy())) for vector in starts]
        assert found == [refilled(KernelState(frozen, vector.copy())) for vector in starts]
    assert len({tuple(tiles) for tiles in found}) == len(found)
    played = [refilled(KernelState(AZUL, vector.copy()), seed=9) for vector in starts]
    assert sum(mine == other for mine, other in zip(found, played, strict=True)) == 0


def test_drafts_left_are_the_colours_at_all_sources(script):
    state = AZUL.new_initial_state()
    state.play("bbyk, bbbb, rrww, ykww, bykw")
    assert script.drafts_left(state) == 3 + 1 + 2 + 3 + 4
    state.apply_action(state.string_to_action("F1 blue 2"))
    assert script.drafts_left(state) == 3 + 2 + 3 + 4  # the factory with four blue tiles is the first
    rng = np.random.default_rng(2)
    lefts = []
    while not state.is_chance_node():
        lefts.append(script.drafts_left(state))
        state.apply_action(int(rng.choice(state.legal_actions())))
    assert lefts == sorted(lefts, reverse=True)
    assert lefts[-1] == 1


def test_a_player_searches_late_in_a_round(script):
    class ByNumber:
        """A network that prefers drafts with a high id."""

        ended, logit_unit = None, 0.1

        def __call__(self, states):
            logits = np.tile(np.arange(180.0), (len(states), 1)) / 180
            return logits, np.zeros((len(states), 2))

    state = AZUL.new_initial_state()
    state.play("bbbb, yyyy, rrrr, kkkk, wwww")
    player = script.LateSearch(AZUL, ByNumber(), "iid", evaluations=8, late=4)
    assert player.select(state, seed=1) == max(state.legal_actions())
    assert player.effort["searches"] == 0
    state.apply_action(state.string_to_action("F1 blue floor"))
    assert player.select(state, seed=1) in state.legal_actions()
    assert (player.effort["searches"], player.effort["evaluations"]) == (1, 8)


def test_blocks_are_added_and_shown(script):
    effort = dict.fromkeys(script.EFFORT, 3.0)
    held = {}
    for scores in ([0.5, 1.0], [0.5, 0.25]):
        script.add(held, {"scores": scores, "points": [4 * score - 2 for score in scores], "effort": effort})
    assert held["scores"] == [0.5, 1.0, 0.5, 0.25]
    assert held["effort"]["searches"] == 6.0
    row = script.table({"iid": held}).splitlines()[2]
    assert row.startswith("| iid | 4 | 56.2% (")
    assert row.endswith("| 1 | 1 | 1.0 |")
    assert "| +0.25 (" in row
