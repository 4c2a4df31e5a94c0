"""Plans show the plays of a player that acts several times in a row, and what a value network expects after them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

import aleazero
from aleazero.cli.show import print_result
from aleazero.evaluation.plays import plays_of
from aleazero.games.backgammon import format_move, from_position_id, to_position
from aleazero.games.base import ESTIMATE
from aleazero.nets.outcome import Outcome

GAME = aleazero.load_game("backgammon")
OUTCOME = Outcome.of(GAME)


class PipCounts:
    """An evaluator whose columns depend on the pips only, with the methods of a value network."""

    sees_states = True
    afterstates = ESTIMATE
    describes = True

    def __call__(self, states):
        values = OUTCOME.values_by_player(self.columns(states), 0.0)
        seats = np.array([np.roll(row, -state.viewer()) for row, state in zip(values, states, strict=True)])
        return np.zeros((len(states), GAME.num_actions)), seats

    def columns(self, states):
        return np.array([column_row(state) for state in states])

    def describe(self, columns, player):
        return OUTCOME.describe(columns, player)


def column_row(state):
    """Return win, win_2, win_3, lose_2, lose_3 for player 0."""
    points, _, _ = to_position(state, 0)
    lead = sum((p if n < 0 else -p) * abs(n) + (25 - 2 * p) * max(0, -n) for p, n in enumerate(points, start=1)) / 100
    spread = sum(p * p * n for p, n in enumerate(points, start=1) if n > 0) / 10000
    return [np.tanh(lead), 0.3 + 0.1 * lead, 0.1 * spread, 0.3 - 0.1 * lead, 0.05 * spread]


def result_of(text, dice, player=0, **settings):
    state = from_position_id(text, dice, player=player)
    planner = aleazero.Planner(GAME, PipCounts(), backend="plain", **settings)
    return state, planner.plan(state).result()


@pytest.mark.parametrize("player", [0, 1])
def test_plays_of_a_double_are_all_plays_with_their_own_values(player):
    state, result = result_of("4HPwATDgc/ABMA", (6, 6), player)
    ends = {play.end.key(): play for play in plays_of(state)}
    found = {}
    for play in result.plays:
        after = state.clone()
        for action in play.actions:
            after.apply_action(action)
        found[after.key()] = play
        assert play.text == format_move(state, play.actions)
        row = np.array([column_row(after)])
        assert play.value == pytest.approx(OUTCOME.values_by_player(row, 0.0)[0, player])
        meaning = OUTCOME.describe(row, player)
        assert play.expected == pytest.approx({name: numbers[0] for name, numbers in meaning.items()})
    assert found.keys() == ends.keys()
    values = [play.value for play in result.plays]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(max(result.q))


def test_expectations_by_action_are_those_of_the_best_play():
    _, result = result_of("4HPwATDgc/ABMA", (6, 6))
    points = 2 * result.expected["win"] - 1
    points = points + sum(result.expected[name] * sign for name, sign in
                          (("win_2", 1), ("win_3", 1), ("lose_2", -1), ("lose_3", -1)))  # fmt: skip
    np.testing.assert_allclose(points, result.q, atol=1e-12)


def test_single_actions_and_other_evaluators_have_no_plays_or_expectations():
    state, result = result_of("4HPwATDgc/ABMA", (3, 1))
    assert result.plays == ()
    assert list(result.expected) == ["win", "win_2", "win_3", "lose_2", "lose_3"]
    plain = aleazero.Planner(GAME, "uniform", backend="plain").plan(state).result()
    assert dict(plain.expected) == {}
    assert plain.to_dict()["plays"] == []


def test_pruned_actions_are_nan_and_null_in_json():
    _, result = result_of("4HPwATDgc/ABMA", (3, 1), keep=2)
    assert np.isnan(result.expected["win"]).sum() == len(result.actions) - 2
    assert result.to_dict()["expected"]["win"].count(None) == len(result.actions) - 2


@pytest.mark.parametrize(("dice", "header"), [((3, 1), "action"), ((6, 6), "play")])
def test_the_table_has_the_words_of_the_game(dice, header):
    state, result = result_of("4HPwATDgc/ABMA", dice)
    out = io.StringIO()
    print_result(state, result, 0.1, Console(file=out, width=80), top=4)
    lines = out.getvalue().splitlines()
    words = next(line for line in lines if "loss" in line).split()
    assert " ".join(words) == f"{header} equity loss win win g win bg lose g lose bg"
    first = next(line for line in lines if "*" in line)
    assert first.count("%") == 5
    assert any(line.startswith("equity ") for line in lines)
    assert max(map(len, lines)) <= 80


def test_before_a_roll_the_numbers_are_those_of_the_player_that_rolls():
    state, result = result_of("4HPwATDgc/ABMA", None, player=1, plies=1)
    out = io.StringIO()
    print_result(state, result, 0.1, Console(file=out, width=80), top=4)
    header = next(line for line in out.getvalue().splitlines() if "probability" in line)
    assert " ".join(header.split()) == "outcome probability equity luck of 1 win win g win bg lose g lose bg"
    wins = {o.outcome: 2 * win - 1 for o, win in zip(result.outcomes, result.expected["win"], strict=True)}
    better = max(result.outcomes, key=lambda o: o.value[1]).outcome
    assert wins[better] == max(wins.values())
