"""The solver, compared with known values and an independent solution of pig."""

import numpy as np
import pytest

from aleazero.errors import GameError, PositionError
from aleazero.games.objects import from_openspiel
from aleazero.games.registry import load_game
from aleazero.oracles.solve import solve


@pytest.fixture(scope="module")
def pig20():
    game = load_game("pig", target=20)
    return game, solve(game)


def test_known_values_of_the_dice_game():
    game = load_game("dice_game")
    solution = solve(game)
    for score, value in {0: 21.67, 5: 21.66, 10: 21.63, 15: 21.48, 18: 22.08}.items():
        state = game.state_from_text(str(score))
        assert solution.value(state)[0] == pytest.approx(value, abs=0.005)
        assert solution.best_actions(state) == [0]
        assert solution.action_values(state)[1].tolist() == [score]
        rolling = game.state_from_text(f"{score} rolling")
        assert solution.value(rolling)[0] == solution.action_values(state)[0][0]
        after = solution.action_values(rolling)
        assert sorted(after) == [1, 2, 3, 4, 5, 6]
        assert np.mean([value[0] for value in after.values()]) == pytest.approx(solution.value(rolling)[0], abs=1e-12)


def test_tic_tac_toe_is_a_draw_and_wins_are_found():
    game = load_game("tic_tac_toe")
    solution = solve(game)
    assert solution.num_states == 5478
    assert solution.value(game.new_initial_state()).tolist() == [0.0, 0.0]
    state = game.state_from_text("xx./oo./...")
    assert solution.best_actions(state) == [2]
    assert solution.value(state).tolist() == [1.0, -1.0]
    # The only answer to a corner is the center.
    assert solution.best_actions(game.state_from_text("x../.../...")) == [4]


def independent_pig(target):
    """Return the win probability of the player to roll, by score, other score and turn points, from plain loops."""
    wins = np.full((target, target, target), 0.5)
    for _ in range(400):
        before = wins.copy()
        for mine in range(target):
            for other in range(target):
                for turn in range(target - mine - 1, -1, -1):
                    lose = 1.0 - wins[other, mine, 0]
                    more = [1.0 if mine + turn + f >= target else wins[mine, other, turn + f] for f in range(2, 7)]
                    roll = (lose + sum(more)) / 6.0
                    hold = 1.0 - wins[other, mine + turn, 0] if turn else 0.0
                    wins[mine, other, turn] = max(roll, hold)
        if abs(wins - before).max() < 1e-13:
            return wins
    raise AssertionError("no fixed point")


def test_pig_agrees_with_an_independent_value_iteration():
    target = 10
    game = load_game("pig", target=target)
    solution, wins = solve(game), independent_pig(target)
    for mine in range(target):
        for other in range(target):
            for turn in (0, *range(2, target - mine)):
                for player in (0, 1):
                    scores = f"{mine}-{other}" if player == 0 else f"{other}-{mine}"
                    state = game.state_from_text(f"{scores} turn {turn} player {player}")
                    if state.key() in solution.graph.index:
                        value = solution.value(state)
                        assert value[player] == pytest.approx(2.0 * wins[mine, other, turn] - 1.0, abs=1e-10)
                        assert value.sum() == pytest.approx(0.0, abs=1e-12)
    assert solution.num_states > 1000


def test_pig_to_twenty(pig20):
    game, solution = pig20
    start = solution.value(game.new_initial_state())
    assert start.tolist() == pytest.approx([0.23111710, -0.23111710], abs=1e-7)
    assert 1 < solution.sweeps < 100
    # All states satisfy the Bellman equation.
    graph, values = solution.graph, solution.values
    for state in range(0, solution.num_states, 7):
        edges = slice(graph.first[state], graph.first[state + 1])
        after = values[graph.targets[edges]]
        if graph.kinds[state] == 1:
            assert values[state] == pytest.approx(graph.shares[edges] @ after, abs=1e-11)
        elif graph.kinds[state] == 0:
            assert values[state][graph.movers[state]] == pytest.approx(after[:, graph.movers[state]].max(), abs=1e-11)


@pytest.mark.long
def test_pig_to_100_has_the_published_value():
    game = load_game("pig")
    solution = solve(game, max_states=3_000_000)
    assert (1.0 + solution.value(game.new_initial_state())[0]) / 2.0 == pytest.approx(0.5306, abs=5e-5)


def test_a_solution_is_an_exact_evaluator(pig20):
    game, solution = pig20
    assert (solution.sees_states, solution.afterstates, solution.decisions) == (True, 2, 2)
    texts = ["3-4 turn 5 player 1", "3-4 turn 5 player 0 rolling", "18-4 turn 2 player 0"]
    states = [game.state_from_text(text) for text in texts]
    logits, values = solution(states)
    assert (logits.shape, values.shape) == ((3, 2), (3, 2))
    assert np.isfinite(logits).all()
    for state, row in zip(states, values, strict=True):
        absolute = solution.value(state)
        assert row.tolist() == [absolute[state.viewer()], absolute[1 - state.viewer()]]
    assert logits[2].tolist() == [-30.0, 0.0]
    assert values[2].tolist() == [1.0, -1.0]


def test_each_of_three_players_maximizes_their_own_return():
    splits = {(0, 0): [1.0, 5.0, 0.0], (0, 1): [4.0, 4.0, 0.0], (1, 0): [2.0, 0.0, 1.0], (1, 1): [9.0, 0.0, 0.0]}

    class Split:
        """Player 0 picks who chooses; that player picks one of two splits."""

        num_players = 3
        num_actions = 2

        def __init__(self):
            self.moves = ()

        def current_player(self):
            return (0, 1 + self.moves[0] if self.moves else 0, -4)[len(self.moves)]

        def legal_actions(self):
            return [0, 1]

        def apply_action(self, action):
            self.moves += (action,)

        def returns(self):
            return splits.get(self.moves, [0.0] * 3)

        def __str__(self):
            return str(self.moves)

    game = load_game(Split)
    solution = solve(game)
    assert solution.value(game.new_initial_state()).tolist() == [2.0, 0.0, 1.0]
    assert solution.best_actions(game.new_initial_state()) == [1]


class Dice:
    """The dice game as a plain class."""

    num_players = 1
    num_actions = 2
    max_outcomes = 6

    def __init__(self):
        self.score, self.mood = 0, ""

    def current_player(self):
        return {"": 0, " rolling": -1, " over": -4}[self.mood]

    def legal_actions(self):
        return [0, 1]

    def chance_outcomes(self):
        return [(face, 1 / 6) for face in range(1, 7)]

    def apply_action(self, action):
        if self.mood == " rolling":
            self.score += action
            self.mood = " over" if self.score >= 20 else ""
        else:
            self.mood = " over" if action else " rolling"

    def returns(self):
        return [float(self.score)]

    def __str__(self):
        return f"{self.score}{self.mood}"


def test_object_games_agree_with_kernel_games():
    kernel_game, object_game = load_game("dice_game"), load_game(Dice)
    kernel, objects = solve(kernel_game), solve(object_game)
    assert kernel.num_states == objects.num_states == 66
    for key, number in objects.graph.index.items():
        expected = kernel.value(kernel_game.state_from_text(key.decode()))
        assert objects.values[number] == pytest.approx(expected, abs=1e-12)


def test_games_of_openspiel_can_be_solved():
    # The ball falls straight down and the paddle always reaches it.
    game = from_openspiel("catch", rows=4, columns=3)
    assert solve(game).value(game.new_initial_state()).tolist() == [1.0]


def test_too_many_states_and_unknown_states():
    with pytest.raises(GameError, match="more than 1000 states"):
        solve(load_game("pig"), max_states=1000)
    game = load_game("pig", target=10)
    solution = solve(game)
    with pytest.raises(PositionError, match="was not solved"):
        solution.value(game.state_from_text("1-0"))
    with pytest.raises(PositionError, match="is not a decision"):
        solution.best_actions(game.state_from_text("0-0 rolling"))


def test_progress_is_reported():
    told = []
    solve(load_game("pig", target=20), progress=lambda what, count: told.append((what, count)))
    assert ("states", 10_000) in told
    assert ("sweeps", 1) in told


def test_a_start_limits_the_solved_states(pig20):
    game, _ = pig20
    dice = load_game("dice_game")
    state = dice.state_from_text("15")
    late = solve(dice, start=state)
    assert late.value(state) == solve(dice).value(state)
    assert late.num_states < solve(dice).num_states
    with pytest.raises(PositionError, match="was not solved"):
        late.value(dice.state_from_text("14"))
    with pytest.raises(PositionError, match="start is a state of dice_game"):
        solve(game, start=state)
