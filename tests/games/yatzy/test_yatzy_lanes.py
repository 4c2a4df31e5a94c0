"""Turns of many Yatzy games at once, compared with those of the planner."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from aleazero.games.base import CHANCE
from aleazero.games.registry import load_game
from aleazero.games.yatzy.card import AVAIL, BOARD, BOARDS, KIND, PLAYER, REROLLS, TOTAL, UPPER
from aleazero.games.yatzy.lanes import YatzyLanes
from aleazero.games.yatzy.turn import YatzyTurns
from aleazero.search.plan.arrays import INNER, NODES
from aleazero.training.turns import PlannedLanes


def between_turns(game, draw, turns):
    """Return the state before the first roll of a turn of a random game."""
    state = game.new_initial_state()
    done = 0
    while done < turns:
        step = state.sample_outcome(draw.random()) if state.is_chance_node() else draw.choice(state.legal_actions())
        state._apply(step)
        done += state.vector[KIND] != 0 and state.vector[REROLLS] == 2
    return state.vector


@pytest.fixture(scope="module", params=[1, 2, 3])
def turns(request):
    """A game, states from the first to the last turn, and both implementations of turns."""
    game = load_game("yatzy", players=request.param)
    draw, last = random.Random(request.param), 15 * request.param - 1
    numbers = [0, last, last - 1, *(draw.randrange(1, last // 2) for _ in range(3))]
    states = np.array([between_turns(game, draw, number) for number in numbers])
    return game, states, YatzyLanes(game), PlannedLanes(game)


def rows_of(lanes, states):
    """Return the leaves of each lane in sorted order, and the order."""
    leaves, starts, known = lanes.list_turn_ends(states)
    orders = [np.lexsort(leaves[a:b].T) for a, b in pairwise(starts)]
    order = np.concatenate([start + order for start, order in zip(starts, orders, strict=False)])
    return leaves, starts, known, order


def test_leaves_equal_those_of_the_planner_and_the_solver(turns):
    game, states, own, planned = turns
    ours, starts, _, order = rows_of(own, states)
    theirs, their_starts, _, their_order = rows_of(planned, states)
    assert starts.tolist() == their_starts.tolist()
    np.testing.assert_array_equal(ours[order], theirs[their_order])
    for lane, state in enumerate(states):
        solver = YatzyTurns(game).leaves(game.state_from_vector(state))
        np.testing.assert_array_equal(ours[starts[lane] : starts[lane + 1]], solver)
    assert set(ours[:, KIND]) == {CHANCE, 2}


def test_expectations_equal_those_of_the_planner(turns):
    game, states, own, planned = turns
    ours, starts, known, order = rows_of(own, states)
    _, _, their_known, their_order = rows_of(planned, states)
    values = np.random.default_rng(1).normal(size=(len(ours), game.num_players + 2))
    theirs = np.empty_like(values)
    theirs[their_order] = values[order]
    split = game.num_players
    draws = np.random.default_rng(2).random((len(states), own.draws))
    first = own.play_turns(states, starts, known, values[:, :split], values[:, split:], draws, 0.0)
    second = planned.play_turns(states, starts, their_known, theirs[:, :split], theirs[:, split:], draws[:, :2], 0.0)
    assert first[0].tolist() == second[0].tolist() == states[:, PLAYER].tolist()
    np.testing.assert_allclose(first[1], second[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(first[2], second[2], rtol=0, atol=1e-9)
    assert not first[4].any()
    assert not second[4].any()


def masses(arrays, values, mover, explore):
    """Return the probability of each node in plain Python, with best keeps and a fraction of random categories."""
    count = int(arrays.counters[NODES])
    nodes, edges = arrays.nodes.view(np.ndarray), arrays.edges.view(np.ndarray)
    found, mass = np.array(values), np.zeros(count)
    best = {}
    for n in arrays.order[:count][::-1]:
        node = nodes[n]
        if node["role"] != INNER:
            continue
        here = edges[node["first_edge"] : node["first_edge"] + node["num_edges"]]
        behind = found[here["child"]]
        if node["kind"] == CHANCE:
            found[n] = here["probability"] @ behind
        else:
            best[n] = here["child"][np.argmax(behind)]
            found[n] = behind.max()
    mass[0] = 1.0
    for n in arrays.order[:count]:
        node = nodes[n]
        if node["role"] != INNER:
            continue
        here = edges[node["first_edge"] : node["first_edge"] + node["num_edges"]]
        if node["kind"] == CHANCE:
            np.add.at(mass, here["child"], here["probability"] * mass[n])
        else:
            share = explore if arrays.states[n, REROLLS] == 0 else 0.0
            np.add.at(mass, here["child"], share / len(here) * mass[n])
            mass[best[n]] += (1.0 - share) * mass[n]
    return mass


@pytest.mark.parametrize("explore", [0.0, 0.3])
def test_turns_reach_their_leaves_with_the_right_frequencies(turns, explore):
    game, states, own, planned = turns
    games = 20_000
    for lane in (0, 3):  # the first turn, and one in the middle
        state = states[lane : lane + 1]
        ours, _, _, order = rows_of(own, state)
        _, _, ((arrays, ends),), their_order = rows_of(planned, state)
        mover = int(state[0, PLAYER])
        worth = np.random.default_rng(lane).normal(size=(len(ours), game.num_players))
        values = np.zeros(int(arrays.counters[NODES]))
        values[ends[their_order]] = worth[order, mover]
        expected = games * masses(arrays, values, mover, explore)[ends[their_order]]
        assert expected.sum() == pytest.approx(games)

        many = np.repeat(state, games, axis=0)
        starts = np.zeros(games + 1, np.int64)  # all lanes share the leaves of one
        draws = np.random.default_rng(lane + 7).random((games, own.draws))
        nothing = np.zeros((len(ours), 0))
        *_, chosen, explored = own.play_turns(many, starts, None, worth, nothing, draws, explore)
        counted = np.bincount(chosen, minlength=len(ours))[order].astype(float)
        assert counted[expected == 0].sum() == 0
        assert explored.mean() == pytest.approx(explore, abs=0.02)
        likely = expected >= 10
        rest = counted[~likely].sum() - expected[~likely].sum()
        statistic = ((counted - expected)[likely] ** 2 / expected[likely]).sum() + rest**2 / max(
            10.0, expected[~likely].sum()
        )
        free = int(likely.sum())
        assert statistic < free + 5.0 * np.sqrt(2.0 * free) + 5.0


def test_a_single_open_category_is_not_random(turns):
    game, states, own, _ = turns
    last = states[1:2]
    leaves, starts, known = own.list_turn_ends(last)
    worth, nothing = np.zeros((len(leaves), game.num_players)), np.zeros((len(leaves), 0))
    *_, explored = own.play_turns(last, starts, known, worth, nothing, np.zeros((1, own.draws)), 1.0)
    assert not explored[0]


def test_turns_with_the_values_of_the_oracle_have_no_regret(oracle):
    game = load_game("yatzy", players=2)
    draw, lanes = random.Random(4), YatzyLanes(game)
    states = np.array([between_turns(game, draw, number) for number in range(0, 30, 3)])
    leaves, starts, known = lanes.list_turn_ends(states)

    def alone(rows, player):
        board = BOARDS + BOARD * player
        return rows[:, board + TOTAL] + oracle.table[rows[:, board + AVAIL], rows[:, board + UPPER]]

    worth = np.stack([alone(leaves, player) for player in (0, 1)], axis=1)
    draws = np.zeros((len(states), lanes.draws))
    movers, value, carried, _, _ = lanes.play_turns(states, starts, known, worth, worth, draws, 0.0)
    assert set(movers) == {0, 1}
    for lane, mover in enumerate(movers):
        before = alone(states[lane : lane + 1], mover)[0]
        assert value[lane] == pytest.approx(before, abs=1e-9)
        assert carried[lane, mover] == pytest.approx(before, abs=1e-9)
        assert carried[lane, 1 - mover] == pytest.approx(alone(states[lane : lane + 1], 1 - mover)[0], abs=1e-9)
