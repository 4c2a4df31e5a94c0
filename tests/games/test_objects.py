"""Object games: a plain class as a game."""

import pytest

from aleazero.errors import ContractError, GameError, IllegalActionError, PositionError
from aleazero.games.registry import load_game


class Bet:
    """Two players bet or pass in turn; a fair coin pays those who bet."""

    num_players = 2
    num_actions = 2
    max_outcomes = 2
    decision_classes = ("open", "answer")
    phases = ("first", "second")
    levels, utility = 2, (-2, 2)

    def __init__(self, stake: float = 1.0):
        self.stake, self.turn, self.rolling, self.money = stake, 0, False, [0.0, 0.0]

    def current_player(self):
        return -1 if self.rolling else self.turn if self.turn < 2 else -4

    def legal_actions(self):
        return [1, 0]

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)]

    def apply_action(self, action):
        if self.rolling:
            self.money[self.turn] += self.stake if action else -self.stake
            self.rolling = False
            self.turn += 1
        elif action:
            self.rolling = True
        else:
            self.turn += 1

    def returns(self):
        return self.money

    def decision_class(self):
        return self.turn

    def phase(self):
        return self.turn


def test_states_of_an_object_game():
    game = load_game(Bet, stake=2.0)
    state = game.new_initial_state()
    assert state.legal_actions() == [0, 1]
    state.play("1 1")
    assert (state.returns(), state.current_player(), state.decision_class()) == ([2.0, 0.0], 1, 1)
    after = state.child(1)
    assert after.is_chance_node()
    assert after.viewer() == 1
    assert after.sample_outcome(0.4) == 0
    assert state.current_player() == 1
    assert game.deserialize(after.serialize()).key() == after.key()
    assert after.child(0).is_terminal()
    assert game.info.decision_classes == ("open", "answer")
    assert (game.info.phases, game.info.levels) == (("first", "second"), 2)
    assert (game.new_initial_state().phase(), state.phase()) == (0, 1)


def test_phases_need_a_method():
    class Mute(Bet):
        phase = None

    with pytest.raises(ContractError, match=r"Mute: the class has phases but no phase\(\), expected both or neither"):
        load_game(Mute).new_initial_state().phase()

    class Plain(Bet):
        phases = ("all",)

    state = load_game(Plain).new_initial_state()
    state.play("0")
    assert state.phase() == 0  # a method phase() without phases is ignored


def test_histories_that_cannot_be_replayed():
    game = load_game(Bet)
    for text in ("1,5", "x", "0,0,0"):
        with pytest.raises(PositionError, match=r"expected|over"):
            game.state_from_text(text)


def test_illegal_actions():
    state = load_game(Bet).new_initial_state()
    with pytest.raises(IllegalActionError):
        state.apply_action(2)


def test_a_missing_observation_is_an_error():
    with pytest.raises(GameError, match="no observation_tensor"):
        load_game(Bet).new_initial_state().observation_tensor()


def test_sizes_are_required():
    class Sizeless(Bet):
        num_players = None

    with pytest.raises(ContractError, match="num_players is None"):
        load_game(Sizeless)


def test_a_class_that_raises_is_an_error():
    with pytest.raises(GameError, match="no parameter 'stakes', did you mean stake"):
        load_game(Bet, stakes=1)

    class Raising(Bet):
        def __init__(self):
            raise ValueError("no luck")

    with pytest.raises(GameError, match="ValueError: no luck"):
        load_game(Raising)


def test_probabilities_are_checked():
    class Unfair(Bet):
        def chance_outcomes(self):
            return [(0, 0.5), (1, 0.6)]

    state = load_game(Unfair).new_initial_state()
    state.apply_action(1)
    with pytest.raises(ContractError, match=r"sum to 1.1"):
        state.chance_outcomes()


@pytest.mark.parametrize("listed", [[(0, 1.5), (1, -0.5)], [(0, 0.5), (-1, 0.5)], [(0, 0.5), (1, float("nan"))], []])
def test_invalid_outcome_lists_are_rejected(listed) -> None:
    class Coin:
        num_players, num_actions, max_outcomes = 1, 1, 2

        def current_player(self):
            return -1

        def legal_actions(self):
            return []

        def chance_outcomes(self):
            return listed

        def apply_action(self, action):
            pass

        def returns(self):
            return [0.0]

    with pytest.raises(ContractError, match="expected"):
        load_game(Coin).new_initial_state().chance_outcomes()
