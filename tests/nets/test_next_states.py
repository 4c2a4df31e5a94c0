"""Decisions that are valued without a plan for each: bit-identical to plans.

The loops run as Python; ``tests/training/test_azul_learning.py`` has the same comparison with compiled loops.
"""

from __future__ import annotations

import draft_game
import numpy as np
import pytest
from value_checkpoints import trained_checkpoint

import aleazero
from aleazero.games.kernel import KernelGame
from aleazero.nets.next_states import ROOM, NextStateLists
from aleazero.nets.planned import PlannedEvaluator

DRAFTS = KernelGame(draft_game, {})
pytestmark = pytest.mark.usefixtures("interpreted")
SAMPLED = {"plies": 0, "target": "td", "rounds": 6}


def states_of(game, episodes=4):
    """Return states of random games, except terminal ones."""
    rng, states = np.random.default_rng(1), []
    for _ in range(episodes):
        state = game.new_initial_state()
        while not state.is_terminal():
            states.append(state.clone())
            chance = state.is_chance_node()
            state.apply_action(state.sample_outcome(rng.random()) if chance else int(rng.choice(state.legal_actions())))
    return states


@pytest.mark.parametrize(
    ("game", "settings", "without"),
    [
        (DRAFTS, SAMPLED, "all"),
        (aleazero.load_game("tic_tac_toe"), {}, "all"),
        (aleazero.load_game("dice_game"), {}, "all"),
        (aleazero.load_game("pig", target=20), {}, "some"),  # those that can only bank
        (aleazero.load_game("pig", target=20), {"plies": 1}, "some"),  # after banking, the other player decides
        (DRAFTS, {"plies": 2, "target": "td"}, "none"),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_results_equal_those_of_plans(game, settings, without, tmp_path):
    evaluator = PlannedEvaluator.load(trained_checkpoint(game, tmp_path / "net", **settings), game)
    states = states_of(game)
    assert {row.tobytes() for row in evaluator(states)[0]} != {np.zeros(game.num_actions).tobytes()}
    listed = sum(len(part.rows) for part in evaluator._next.parts(np.array([state.vector for state in states])))
    decisions = sum(not state.is_chance_node() for state in states)
    assert listed == (decisions if without == "all" else 0) or (without == "some" and 0 < listed < decisions)
    fast = evaluator(states)
    evaluator._next = None
    planned = evaluator(states)
    assert [array.tobytes() for array in fast] == [array.tobytes() for array in planned]


def test_many_decisions_are_listed_in_parts():
    states = states_of(DRAFTS, episodes=100)
    vectors = np.array([state.vector for state in states])
    parts = NextStateLists(DRAFTS, 1).parts(vectors)
    assert len(parts) > 1
    rows = np.concatenate([part.rows for part in parts])
    np.testing.assert_array_equal(rows, [row for row, state in enumerate(states) if not state.is_chance_node()])
    for part in parts:
        assert len(part.states) <= ROOM + DRAFTS.num_actions
        for d, row in enumerate(part.rows):
            state, span = states[row], slice(part.starts[d], part.starts[d + 1])
            assert part.actions[span].tolist() == state.legal_actions()
            after = [state.child(action).vector for action in state.legal_actions()]
            np.testing.assert_array_equal(part.states[span], after)
            assert (part.movers[d], part.viewers[d]) == (state.current_player(), state.viewer())


def test_a_network_plays_one_draft_ahead(tmp_path):
    """The states after a draft are valued by the network itself, although they are decisions."""
    evaluator = PlannedEvaluator.load(trained_checkpoint(DRAFTS, tmp_path / "net", **SAMPLED), DRAFTS)
    assert evaluator.horizon() == {"plies": 1}
    assert evaluator.values.samples_chance
    planner = aleazero.Planner(DRAFTS, evaluator, **evaluator.horizon())
    for state in states_of(DRAFTS):
        if not state.is_chance_node():
            after = np.array([state.child(action).vector for action in state.legal_actions()])
            worth = evaluator.values.values_by_player(after, 0.0)[:, state.current_player()]
            assert planner.plan(state).action(state) == int(np.argmax(worth))
