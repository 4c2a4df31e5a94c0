"""Plies of a game in which decisions of different turns follow each other without chance."""

from __future__ import annotations

import draft_game
import numpy as np
import pytest

from aleazero import CHANCE, ESTIMATE, TERMINAL, Planner
from aleazero.games.kernel import KernelGame

GAME = KernelGame(draft_game, {})
BACKENDS = ("compiled", "plain")
pytestmark = pytest.mark.usefixtures("interpreted")


class Fixed:
    """Values that are a fixed function of the state."""

    sees_states = True
    afterstates = ESTIMATE

    def value(self, state):
        number = float(np.sin(state.vector @ np.array([0.0, 1.7, 0.9, 1.3, -1.1, 0.7, 0.4, 0.3])))
        return np.array([number, -number])

    def __call__(self, states):
        values = [np.roll(self.value(state), -state.viewer()) for state in states]
        return np.zeros((len(states), GAME.num_actions)), np.array(values)


def played(seed):
    """Return the states of a random game, except the last."""
    rng, state, states = np.random.default_rng(seed), GAME.new_initial_state(), []
    while not state.is_terminal():
        states.append(state.clone())
        chance = state.is_chance_node()
        state.apply_action(state.sample_outcome(rng.random()) if chance else int(rng.choice(state.legal_actions())))
    return states


def minimax(state, drafts, value):
    """Return the value by player after this many drafts; a refill ends the plan, too."""
    if state.kind() == TERMINAL:
        return np.array(state.returns())
    if drafts == 0 or state.kind() == CHANCE:
        return value(state)
    after = [minimax(state.child(action), drafts - 1, value) for action in state.legal_actions()]
    return max(after, key=lambda worth: worth[state.current_player()])


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_ply_is_one_draft(backend):
    evaluator = Fixed()
    planner = Planner(GAME, evaluator, plies=1, backend=backend)
    decisions = [state for seed in range(5) for state in played(seed) if not state.is_chance_node()]
    assert len(decisions) > 30
    for state in decisions:
        plan = planner.plan(state)
        np.testing.assert_allclose(plan.value(state), minimax(state, 1, evaluator.value), rtol=0, atol=1e-12)
        assert plan.stats().nodes <= 1 + len(state.legal_actions())


@pytest.mark.parametrize("backend", BACKENDS)
def test_plies_count_drafts(backend):
    """Positions from which a round lasts longer than the plan, so that no refill is inside of it."""
    evaluator = Fixed()
    states = [GAME.state_from_vector([0, seat, 6, 0, 0, 0, 0, 4]) for seat in (0, 1)]
    for plies in (1, 2):
        planner = Planner(GAME, evaluator, plies=plies, backend=backend)
        for state in states:
            expected = minimax(state, plies, evaluator.value)
            if plies == 2:  # the second draft may take the last tile; its refill is then the second ply
                assert state.child(2).child(2).is_chance_node()
            np.testing.assert_allclose(planner.plan(state).value(state), expected, rtol=0, atol=1e-12)


def test_chance_events_of_one_turn_are_one_ply():
    """From the first refill: two chance events in a row, then a draft."""
    evaluator = Fixed()
    state = GAME.new_initial_state()
    expected = 0.0
    for one, p in state.chance_outcomes():
        for other, q in state.child(one).chance_outcomes():
            expected = expected + p * q * minimax(state.child(one).child(other), 1, evaluator.value)
    for backend in BACKENDS:
        found = Planner(GAME, evaluator, plies=1, backend=backend).plan(state).value(state)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
