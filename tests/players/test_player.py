from __future__ import annotations

import pytest

import aleazero
from aleazero.players.player import BasePlayer, own_seed


class Counting(BasePlayer):
    """Takes the last action, and counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    def choose(self, states, seeds, allowed):
        self.asked += len(states)
        self.allowed = allowed
        return [state.legal_actions()[-1] for state in states]


def test_forced_moves_cost_nothing():
    pig = aleazero.load_game("pig")
    forced, free = pig.state_from_text("0-0"), pig.state_from_text("0-0 turn 5")
    player = Counting()
    assert player.select(forced, 1) == 0
    assert player.asked == 0
    assert player.select_many([forced, free, forced, free], [1, 2, 3, 4]) == [0, 1, 0, 1]
    assert player.asked == 2


def test_nobody_is_asked_where_nobody_decides():
    pig = aleazero.load_game("pig")
    rolling = pig.state_from_text("0-0")
    rolling.apply_action(0)
    with pytest.raises(aleazero.PositionError, match="nobody decides"):
        Counting().select(rolling, 0)


def test_own_luck_is_of_the_seed_and_the_position():
    pig = aleazero.load_game("pig")
    one, other = pig.state_from_text("0-0 turn 5"), pig.state_from_text("0-0 turn 6")
    seeds = {own_seed(state, seed) for state in (one, other) for seed in (0, 1)}
    assert len(seeds) == 4
    assert own_seed(one.clone(), 0) == own_seed(one, 0)


def test_only_allowed_actions_are_choices():
    game = aleazero.load_game("tic_tac_toe")
    start = game.new_initial_state()
    player = Counting()
    assert player.select(start, 1, [3]) == 3
    assert player.asked == 0  # forced by what is allowed
    player.select_many([start, start, start], [1, 2, 3], [None, [5, 2, 5], range(9)])
    assert player.allowed == [None, [2, 5], None]  # all that is legal is no narrowing


@pytest.mark.parametrize(
    ("actions", "said"), [([9], "action 9 to consider, expected some of"), ([], "no action to consider")]
)
def test_what_is_illegal_cannot_be_allowed(actions, said):
    start = aleazero.load_game("tic_tac_toe").new_initial_state()
    with pytest.raises(aleazero.IllegalActionError, match=said):
        Counting().select(start, 1, actions)


def test_allowed_actions_are_told_by_state():
    start = aleazero.load_game("tic_tac_toe").new_initial_state()
    with pytest.raises(aleazero.ConfigError, match="actions has 1 entries, expected 2, one a state"):
        Counting().select_many([start, start], [1, 2], [None])
