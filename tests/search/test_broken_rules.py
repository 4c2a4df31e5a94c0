"""Rules that break the contract in mid-search are an error, not a crash, a wrong value or a stale one."""

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
    return GameInfo("steps", num_players={players}, num_actions={actions}, max_outcomes={outcomes}, state_size=3)
def kind(state):
    return 2 if state[0] >= 6 else state[1]
def to_play(state):
    return {mover}
def legal(state, out):
    out[0] = {action}
    out[1] = 1
    return {count}
def apply(state, action):
    state[2] += action
    state[1] = 1
def outcomes(state, ids, probabilities):
    for i in range(2):
        ids[i] = i * {spread}
        probabilities[i] = {share} if i else 1.0 - {share}
    return 2
def apply_outcome(state, outcome):
    state[0] += 1
    state[1] = 0
def returns(state, out):
    out[0] = {value}
"""
SOUND = {
    "big": 5, "fields": "x y", "players": 1, "actions": 2, "outcomes": 2, "mover": "0", "action": "0", "count": "2",
    "spread": "1", "share": "0.5", "value": "state[2]",
}  # fmt: skip


def load(folder: Path, **changes: object):
    file = folder / "steps.py"
    file.write_text(textwrap.dedent(RULES.format(**{**SOUND, **changes})))
    return aleazero.load_game(str(file))


@pytest.mark.parametrize(
    "changes",
    [
        {"mover": "0 if state[0] < 2 else 7"},
        {"mover": "0 if state[0] < 2 else -3"},
        {"count": "2 if state[0] < 2 else 0"},
        {"count": "2 if state[0] < 2 else 200"},
        {"action": "0 if state[0] < 2 else 40"},
        {"action": "0 if state[0] < 2 else -1"},
        {"outcomes": 1},
        {"spread": "2**32"},
        {"share": "1.5"},
        {"value": "1e308 * 100.0"},
        {"value": "1e308 * 100.0 - 1e308 * 100.0"},
    ],
)
def test_broken_rules_are_found_out(tmp_path: Path, changes: dict) -> None:
    game = load(tmp_path, **changes)
    for chance in ("sampling", "stratified", "full"):
        search = Search(game, "uniform", SearchConfig(num_simulations=300, chance=chance))
        with pytest.raises(aleazero.ContractError, match="expected"):
            search.run(game.new_initial_state())
    with pytest.raises(aleazero.ContractError):
        aleazero.check_game(game)


def test_enum_and_namedtuple_edits_are_never_served_stale(tmp_path: Path) -> None:
    for change, expected in (
        ({"value": "Prize.BIG + 0"}, 5.0),
        ({"value": "Prize.BIG + 0", "big": 2}, 2.0),
        ({"value": "PAIR.x"}, 1.0),
        ({"value": "PAIR.x", "fields": "y x"}, 9.0),
    ):
        game = load(tmp_path, **change)
        result = Search(game, "uniform", SearchConfig(num_simulations=20)).run(game.new_initial_state())
        assert result.value[0] == expected


def test_noise_and_executed_moves_differ_from_ply_to_ply() -> None:
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


def test_a_seed_of_the_run_stands_in_for_the_configured_one(backend: str) -> None:
    game = aleazero.load_game("pig", target=20)
    state = game.state_from_text("0-0 turn 5")
    chance = ChanceConfig(pick="stratified")
    base = Search(game, "rollout", SearchConfig(num_simulations=200, seed=1, chance=chance), backend=backend)
    other = Search(game, "rollout", SearchConfig(num_simulations=200, seed=2, chance=chance), backend=backend)
    assert base.run(state, seed=2).to_dict()["visits"] == other.run(state).to_dict()["visits"]
    assert base.run(state).q.tolist() != base.run(state, seed=2).q.tolist()
    with pytest.raises(aleazero.ConfigError, match="seed is -1"):
        base.run(state, seed=-1)
