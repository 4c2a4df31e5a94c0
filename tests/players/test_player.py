from __future__ import annotations

import pytest

import aleazero
from aleazero.players.player import BasePlayer, own_seed


class Counting(BasePlayer):
    """Selects the last action, and counts the states passed to ``choose``."""

    def __init__(self):
        self.count = 0

    def choose(self, states, seeds, allowed):
        self.count += len(states)
        self.allowed = allowed
        return [state.legal_actions()[-1] for state in states]


def test_forced_moves_are_not_passed_to_choose():
    pig = aleazero.load_game("pig")
    forced, free = pig.state_from_text("0-0"), pig.state_from_text("0-0 turn 5")
    player = Counting()
    assert player.select(forced, 1) == 0
    assert player.count == 0
    assert player.select_many([forced, free, forced, free], [1, 2, 3, 4]) == [0, 1, 0, 1]
    assert player.count == 2


def test_states_without_decision_are_rejected():
    pig = aleazero.load_game("pig")
    rolling = pig.state_from_text("0-0")
    rolling.apply_action(0)
    with pytest.raises(aleazero.PositionError, match="has no player to move"):
        Counting().select(rolling, 0)


def test_random_numbers_depend_on_seed_and_position():
    pig = aleazero.load_game("pig")
    one, other = pig.state_from_text("0-0 turn 5"), pig.state_from_text("0-0 turn 6")
    seeds = {own_seed(state, seed) for state in (one, other) for seed in (0, 1)}
    assert len(seeds) == 4
    assert own_seed(one.clone(), 0) == own_seed(one, 0)


def test_only_allowed_actions_are_selected():
    game = aleazero.load_game("tic_tac_toe")
    start = game.new_initial_state()
    player = Counting()
    assert player.select(start, 1, [3]) == 3
    assert player.count == 0  # only one action is allowed
    player.select_many([start, start, start], [1, 2, 3], [None, [5, 2, 5], range(9)])
    assert player.allowed == [None, [2, 5], None]  # all legal actions are allowed


@pytest.mark.parametrize(
    ("actions", "message"), [([9], "action 9 to consider, expected some of"), ([], "no action to consider")]
)
def test_illegal_actions_cannot_be_allowed(actions, message):
    start = aleazero.load_game("tic_tac_toe").new_initial_state()
    with pytest.raises(aleazero.IllegalActionError, match=message):
        Counting().select(start, 1, actions)


def test_allowed_actions_are_given_per_state():
    start = aleazero.load_game("tic_tac_toe").new_initial_state()
    with pytest.raises(aleazero.ConfigError, match="actions has 1 entries, expected 2, one per state"):
        Counting().select_many([start, start], [1, 2], [None])
