"""What the numbers of a shard must be whatever the rules are: finite, in range, and in agreement with each other."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ReplayError
from aleazero.games.base import Game
from aleazero.players.search import DUMMY
from aleazero.replay.shard import Shard

SUM_TOLERANCE: Final = 1e-5
"""How far a policy's shares may be from summing to 1."""


def check_numbers(shard: Shard, game: Game) -> None:
    """Raise a ReplayError for the first sample that says what none may say."""
    columns = shard.columns
    require_widths(shard, game)
    if shard.meta.model == DUMMY:
        wrong = columns["searched"]
        _refuse(shard, wrong, wrong, f"searched is {{}} in a game of {DUMMY!r}, which has no values, expected 0")
    for name in ("observations", "policies", "returns", "root_values", "scores", "weights"):
        _refuse(shard, ~np.isfinite(columns[name]), columns[name], f"{name} has {{}}, expected finite numbers")
    _check_policies(shard)
    unsearched = ~columns["searched"][:, np.newaxis] & (columns["root_values"] != 0)
    _refuse(shard, unsearched, columns["root_values"], "root_values has {} where nothing was searched, expected 0")
    _check_seats(shard, game.num_players)
    _check_range(shard, game.info.utility)


def require_widths(shard: Shard, game: Game) -> None:
    """Raise a ReplayError if rows do not have the lengths of the game's."""
    lengths = {"returns": game.num_players, "legal_masks": game.num_actions, "observations": game.observation_size}
    for name, expected in lengths.items():
        if (got := shard.columns[name].shape[1]) != expected:
            raise ReplayError(f"{name}: {got} numbers a row, expected {expected} in {game!r}")


def _check_policies(shard: Shard) -> None:
    columns = shard.columns
    after, weights = columns["afterstate"], columns["weights"]
    masks, policies = columns["legal_masks"], columns["policies"]
    legal = masks.sum(axis=1)
    sums = policies.sum(axis=1, dtype=np.float64)
    _refuse(shard, ~after & (legal == 0), legal, "legal_masks has {} actions at a decision, expected at least 1")
    _refuse(shard, after & (legal > 0), legal, "legal_masks has {} actions at an afterstate, expected none")
    _refuse(shard, weights < 0, weights, "weights has {}, expected at least 0")
    _refuse(shard, after & (weights > 0), weights, "weights has {} at an afterstate, expected 0")
    _refuse(shard, policies < 0, policies, "policies has {}, expected at least 0")
    _refuse(shard, (policies > 0) & ~masks, policies, "policies has {} for an illegal action, expected 0")
    off = (weights > 0) & (abs(sums - 1) > SUM_TOLERANCE)
    _refuse(shard, off, sums, "policies sum to {}, expected 1")
    _refuse(shard, (weights == 0) & (sums != 0), sums, "policies sum to {} where the weight is 0, expected 0")


def _check_seats(shard: Shard, players: int) -> None:
    """Viewers are players, and what is told from their seats is the same at each of a game's samples."""
    columns = shard.columns
    viewers = columns["viewers"].astype(np.int64)
    _refuse(shard, (viewers < 0) | (viewers >= players), viewers, f"viewers has {{}}, expected 0 to {players - 1}")
    lengths = np.diff(columns["sample_offsets"])
    absolute = (np.arange(players) - viewers[:, np.newaxis]) % players
    returns = np.take_along_axis(columns["returns"], absolute, axis=1)
    told = np.repeat(columns["game_returns"].astype(np.float32), lengths, axis=0)
    _refuse(
        shard, returns != told, returns, "returns has {}, expected what the game came to, from the viewer's seat on"
    )
    scores = np.take_along_axis(columns["scores"], absolute, axis=1)
    first = scores[np.repeat(np.minimum(columns["sample_offsets"][:-1], max(len(scores) - 1, 0)), lengths)]
    _refuse(shard, scores != first, scores, "scores has {}, expected the final ones, the same in all samples of a game")


def _check_range(shard: Shard, utility: tuple[float, float] | None) -> None:
    returns = shard.columns["game_returns"]
    low, high = utility or (-np.inf, np.inf)
    wrong = ~np.isfinite(returns) | (returns < low) | (returns > high)
    if wrong.any():
        index = int(np.flatnonzero(wrong.any(axis=1))[0])
        number, got = shard.columns["game_numbers"][index], returns[index].tolist()
        raise ReplayError(f"game {number}: the returns are {got}, expected numbers from {low:g} to {high:g}")


def _refuse(shard: Shard, wrong: NDArray[np.bool_], values: NDArray[Any], why: str) -> None:
    """Raise for the first value that is wrong."""
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0])
        game, step = shard.columns["game"][place[0]], shard.columns["step"][place[0]]
        raise ReplayError(f"game {game}, step {step}: {why.format(f'{float(values[place]):.6g}')}")
