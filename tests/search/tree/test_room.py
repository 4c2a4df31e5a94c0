"""Room for nodes, edges and waiting leaves: however little there is at first, a search does not change."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from test_forest import SETTINGS, RowByRow, positions

from aleazero import CHANCE, DECISION, TERMINAL, Forest, GameInfo, Search, SearchConfig
from aleazero.games.kernel import KernelGame
from aleazero.search.tree import arrays

MOST_ACTIONS = 20_000

# A game with any number of actions: two decisions with a coin between them.
# State: kind, number of actions, decisions made, sum of the chosen actions.


def describe(actions: int = 3) -> GameInfo:
    return GameInfo(
        name="wide",
        num_players=2,
        num_actions=actions,
        max_outcomes=2,
        utility=(-1.0, 1.0),
        state_size=4,
        state_dtype="int32",
        observation_size=3,
    )


def init(state: Any) -> None:
    state[1] = 3


def kind(state: Any) -> int:
    return state[0]


def to_play(state: Any) -> int:
    return state[2]


def legal(state: Any, out: Any) -> int:
    for i in range(state[1]):
        out[i] = i
    return state[1]


def apply(state: Any, action: int) -> None:
    state[2] += 1
    state[3] += action
    state[0] = CHANCE if state[2] == 1 else TERMINAL


def outcomes(state: Any, ids: Any, probabilities: Any) -> int:
    ids[0], ids[1] = 0, 1
    probabilities[0], probabilities[1] = 0.75, 0.25
    return 2


def apply_outcome(state: Any, outcome: int) -> None:
    state[0] = DECISION
    state[3] += 7 * outcome


def returns(state: Any, out: Any) -> None:
    out[0] = (state[3] % 11) / 10.0 - 0.5
    out[1] = -out[0]


def observe(state: Any, player: int, out: Any) -> None:
    out[0], out[1], out[2] = state[2], state[3] % 11, player


@cache
def wide_game(actions: int) -> KernelGame:
    return KernelGame(sys.modules[__name__], {"actions": actions})


def same_actions(first: Any, second: Any) -> None:
    """All numbers at the root, to the bit."""
    for name in ("actions", "visits", "q", "priors", "value"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert (first.stopped, first.stats.nodes) == (second.stopped, second.stats.nodes)


@pytest.mark.parametrize(  # each number is a game of its own, whose search is compiled
    "actions", [pytest.param(1, marks=pytest.mark.long), pytest.param(300, marks=pytest.mark.long), MOST_ACTIONS]
)
@pytest.mark.parametrize("max_nodes", [2, 3, 4, 5, 8, 64, 10_000_000])
def test_any_number_of_actions_with_any_limit_of_nodes(actions: int, max_nodes: int) -> None:
    """The root gets its edges before room for more is requested, in a single search and in a forest."""
    game = wide_game(actions)
    state = game.state_from_vector([DECISION, actions, 0, 0])
    narrow = game.state_from_vector([DECISION, 1, 0, 5])
    for evaluator in ("uniform", RowByRow(game)):
        for simulations in (1, 50):
            for chance in ("sampling", "open", "full"):
                config = SearchConfig(num_simulations=simulations, max_nodes=max_nodes, chance=chance)
                plain = Search(game, evaluator, config, backend="plain") if actions < 3000 else None
                expected = [(plain or Search(game, evaluator, config)).run(root) for root in (state, narrow)]
                assert expected[0].actions.tolist() == list(range(actions))
                same_actions(Search(game, evaluator, config).run(state), expected[0])
                with Forest(game, evaluator, config, trees=6, batch_size=9) as forest:
                    found = forest.run([state, narrow, state, narrow, narrow, state, state], seeds=[0] * 7)
                for number, result in enumerate(found):
                    same_actions(result, expected[number in (1, 3, 4)])


def test_twenty_thousand_actions_equal_the_plain_search() -> None:
    game = wide_game(MOST_ACTIONS)
    state = game.state_from_vector([DECISION, MOST_ACTIONS, 0, 0])
    for simulations in (1, 50):
        config = SearchConfig(num_simulations=simulations)
        same_actions(*(Search(game, "uniform", config, backend=b).run(state) for b in ("compiled", "plain")))


FEW = [(1, 1), (1, 200), (2, 3), (5, 1), (8, 16), (184, 2), (184, 146)]
"""First rooms for nodes and edges."""


def check_first_rooms(rooms: list[tuple[int, int]], setting: str, patch: pytest.MonkeyPatch) -> None:
    """Check that searches in a forest with this initial room equal single searches with enough room."""
    game, states, seeds = positions("pig", 13)
    config = SearchConfig(num_simulations=60, **SETTINGS[setting])
    for evaluator in (RowByRow(game), RowByRow(game, afterstates=1), "rollout"):
        search = Search(game, evaluator, config)
        expected = [search.run(state, seed=seed) for state, seed in zip(states, seeds, strict=True)]
        for nodes, edges in rooms:
            patch.setattr("aleazero.search.tree.group.FIRST_NODES", nodes)
            patch.setattr("aleazero.search.tree.group.FIRST_EDGES", edges)
            with Forest(game, evaluator, config, trees=6) as forest:
                for found, wanted in zip(forest.run(states, seeds=seeds), expected, strict=True):
                    same_actions(found, wanted)


@pytest.mark.parametrize("setting", list(SETTINGS))
def test_a_forest_may_start_with_any_room(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that grows with leaves in flight keeps the places of the batch that it counts on."""
    check_first_rooms(FEW, setting, monkeypatch)


@pytest.mark.long  # run with bounds checks too (test_modes.py)
@pytest.mark.parametrize("setting", list(SETTINGS))
def test_a_forest_may_start_with_every_room(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [*range(1, 9), 13, 34, 146, 184]
    check_first_rooms([(nodes, edges) for nodes in sizes for edges in sizes], setting, monkeypatch)


@pytest.mark.parametrize("setting", list(SETTINGS))
def test_contents_of_new_memory_do_not_matter(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are not zeroed: every field is written before it is read, also in arrays that have grown."""
    game, states, seeds = positions("pig", 5)
    config = SearchConfig(num_simulations=60, **SETTINGS[setting])
    evaluators = (RowByRow(game), RowByRow(game, afterstates=2), "uniform")
    searches = [Search(game, evaluator, config) for evaluator in evaluators]
    expected = [[s.run(state, seed=seed) for state, seed in zip(states, seeds, strict=True)] for s in searches]
    unset = arrays._unset

    def filled(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        array = unset(shape, dtype)
        array.reshape(-1).view(np.uint8)[:] = np.random.default_rng(len(shape)).integers(0, 256, array.nbytes)
        return array

    monkeypatch.setattr(arrays, "_unset", filled)
    for nodes in (8, 1 << 20):
        monkeypatch.setattr("aleazero.search.tree.group.FIRST_NODES", nodes)
        monkeypatch.setattr("aleazero.search.tree.group.FIRST_EDGES", nodes)
        for evaluator, wanted in zip(evaluators, expected, strict=True):
            search = Search(game, evaluator, config)
            for state, seed, result in zip(states, seeds, wanted, strict=True):
                found = search.run(state, seed=seed)
                same_actions(found, result)
                assert found.tree(depth=4).root == result.tree(depth=4).root
                assert search._driver.group.trees[0].in_flight() == 0  # type: ignore[attr-defined]
