"""Rules that break the contract during a search raise an error."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero import ChanceConfig, Search, SearchConfig

RULES = """
from enum import IntEnum
from collections import namedtuple
from aleazero import GameInfo
class Prize(IntEnum):
    BIG = {big}
Pair = namedtuple("Pair", "{fields}")
PAIR = Pair(1, 9)
def describe():
    return GameInfo("steps", num_players=1, num_actions=2, max_outcomes=2, state_size=4)
def late(state, mode):  # the state vector: steps, kind, points, and what is broken after two steps
    return state[3] == mode and state[0] >= 2
def kind(state):
    if late(state, 11):
        return 9
    return 2 if state[0] >= 6 else state[1]
def to_play(state):
    return 7 if late(state, 1) else -3 if late(state, 2) else 0
def legal(state, out):
    out[0] = 40 if late(state, 5) else -1 if late(state, 6) else 0
    out[1] = 1
    return 0 if late(state, 3) else 200 if late(state, 4) else 2
def apply(state, action):
    state[2] += action
    state[1] = 1
def outcomes(state, ids, probabilities):
    for i in range(3):
        ids[i] = i * 2**32 if late(state, 8) else i
        probabilities[i] = 0.5
    if late(state, 9):
        probabilities[0] = 1.5
        probabilities[1] = -0.5
    return 3 if late(state, 7) else 2
def apply_outcome(state, outcome):
    state[0] += 1
    state[1] = 0
def returns(state, out):
    out[0] = 1e308 * 100.0 if late(state, 10) else {value}
"""
SOUND = {"big": 5, "fields": "x y", "value": "state[2]"}
BROKEN = range(1, 12)
"""Players 7 and -3; none, 200, 40 and -1 as actions; too many, too large, too unlikely outcomes; return; kind."""


def load(folder: Path, **changes: object):
    file = folder / "steps.py"
    file.write_text(textwrap.dedent(RULES.format(**{**SOUND, **changes})))
    return aleazero.load_game(str(file))


@pytest.mark.parametrize("chance", ["sampling", "stratified", "full", "open"])
def test_broken_rules_raise_an_error(tmp_path: Path, chance: str) -> None:
    game = load(tmp_path)
    config = SearchConfig(num_simulations=300, chance=chance)
    for mode in BROKEN:
        search = Search(game, "uniform", config)
        with pytest.raises(aleazero.ContractError, match="expected"):
            search.run(game.state_from_vector([0, 0, 0, mode]))
    assert Search(game, "uniform", config).run(game.new_initial_state()).visits.sum() == 300


def test_a_search_can_be_used_again_after_broken_rules(tmp_path: Path) -> None:
    """The rows of a batch that a failed tree has requested are free again."""
    game = load(tmp_path)

    def evaluator(observations, masks):
        return np.zeros(masks.shape), np.zeros((len(masks), 1))

    search = Search(game, evaluator, SearchConfig(num_simulations=40, chance="sampling"))
    for mode in (3, 4, 5, 6):  # actions, which are listed for the evaluator
        with pytest.raises(aleazero.ContractError, match="expected"):
            search.run(game.state_from_vector([0, 0, 0, mode]))
    assert search.run(game.new_initial_state()).visits.sum() == 40


def test_broken_rules_raise_an_error_in_the_planner(tmp_path: Path) -> None:
    """Actions and outcomes, which it lists like the search; playouts do not meet them here."""
    game = load(tmp_path)
    for mode in (3, 4, 5, 6, 7, 8, 9):
        with pytest.raises(aleazero.ContractError, match="expected 1 to"):
            aleazero.Planner(game, None, horizon="game").plan(game.state_from_vector([0, 0, 0, mode]))


@pytest.mark.parametrize(
    ("value", "edit", "before", "after"),
    [
        pytest.param("Prize.BIG + 0", {"big": 2}, 5.0, 2.0, marks=pytest.mark.long),
        pytest.param("PAIR.x", {"fields": "y x"}, 1.0, 9.0, marks=pytest.mark.long),
    ],
)
def test_edits_of_an_enum_or_namedtuple_are_recompiled(
    value: str, edit: dict[str, object], before: float, after: float, tmp_path: Path
) -> None:
    for change, expected in (({}, before), (edit, after)):
        game = load(tmp_path, value=value, **change)
        result = Search(game, "uniform", SearchConfig(num_simulations=20)).run(game.new_initial_state())
        assert result.value[0] == expected


def test_noise_and_sampled_actions_differ_between_plies() -> None:
    game = aleazero.load_game("2048")
    search = Search(game, "uniform", SearchConfig(num_simulations=60, noise_alpha=0.3, noise_fraction=1.0))
    boards = [
        game.state_from_text(text) for text in ("2 . . ./. . . ./. . . ./. . . 2", ". 2 . ./. . . ./. . . ./. . . 2")
    ]
    first, second = (search.run(board) for board in boards)
    assert not np.array_equal(first.priors, second.priors)
    np.testing.assert_array_equal(first.priors, search.run(boards[0]).priors)
    executed = {search.run(boards[0], seed=seed).sample_action() for seed in range(20)}
    assert len(executed) > 1


def test_seed_of_run_replaces_the_configured_seed(backend: str) -> None:
    game = aleazero.load_game("pig", target=20)
    state = game.state_from_text("0-0 turn 5")
    chance = ChanceConfig(pick="stratified")
    base = Search(game, "rollout", SearchConfig(num_simulations=200, seed=1, chance=chance), backend=backend)
    other = Search(game, "rollout", SearchConfig(num_simulations=200, seed=2, chance=chance), backend=backend)
    assert base.run(state, seed=2).to_dict()["visits"] == other.run(state).to_dict()["visits"]
    assert base.run(state).q.tolist() != base.run(state, seed=2).q.tolist()
    with pytest.raises(aleazero.ConfigError, match="seed is -1"):
        base.run(state, seed=-1)
