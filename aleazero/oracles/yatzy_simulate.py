"""Compiled games of one-player Yatzy under best play, thousands of games/s.

The dice are those of ``games.yatzy.event_dice``, and ties go to the lowest action. A simulated game is therefore the
game that the player ``oracle`` plays with the same seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.dice import ADD, DROP, HANDS, KEEPS, KEPT, NUM_KEEPS, SIZES
from aleazero.games.yatzy.card import ALL_OPEN, BONUS, BONUS_FROM, NUM_CATEGORIES, UPPER_CATEGORIES
from aleazero.games.yatzy.rules import FILLED_BITS
from aleazero.games.yatzy.turn import KEEP_LIST, KEEPS_FROM, LEAF, LEAF_CATEGORY, LEAF_SCORE, solve_layers
from aleazero.native.compile import cached_njit
from aleazero.native.random import GOLDEN_BITS, mix_bits
from aleazero.oracles.solve import TIE
from aleazero.oracles.yatzy import YatzyOracle

TABLES = (ADD, DROP, KEEPS, NUM_KEEPS, KEPT, SIZES, LEAF, LEAF_CATEGORY, LEAF_SCORE, KEEPS_FROM, KEEP_LIST)
"""Arguments of the compiled loop, so that they are not constants in its code."""
CHUNK = 250
"""Number of games that a thread plays at a time."""
Progress = Callable[[int, int], None]
"""Called with the number of games played so far, and the number of all games."""

_compile = cached_njit(nogil=True, error_model="numpy")
_mix = _compile(mix_bits)


@dataclass(frozen=True)
class SimulatedGames:
    """Results of games under best play."""

    totals: NDArray[np.int64]
    """Final score of each game."""
    bonuses: NDArray[np.bool_]
    """Whether each game got the upper bonus."""


def simulate(
    oracle: YatzyOracle, seeds: Sequence[int], *, threads: int | None = None, progress: Progress | None = None
) -> SimulatedGames:
    """Play one game per seed under best play.

    Args:
        oracle: the oracle that selects the actions.
        seeds: seeds of the game dice.
        threads: number of threads, which does not change the results; default: all cores.
        progress: called with the number of games played so far, and the number of all games.

    Returns:
        Final scores and bonuses, in the order of the seeds.
    """
    all_seeds = np.array([seed % 2**64 for seed in seeds], np.uint64)
    totals, uppers = np.zeros(len(all_seeds), np.int64), np.zeros(len(all_seeds), np.int64)
    parts = [slice(start, start + CHUNK) for start in range(0, len(all_seeds), CHUNK)]
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        jobs = [
            pool.submit(_play_games, all_seeds[part], oracle.table, totals[part], uppers[part], *TABLES)
            for part in parts
        ]
        for number, job in enumerate(jobs, start=1):
            job.result()
            if progress is not None:
                progress(min(number * CHUNK, len(all_seeds)), len(all_seeds))
    return SimulatedGames(totals, uppers >= BONUS_FROM)


@_compile
def _play_games(
    seeds: Any, table: Any, totals: Any, uppers: Any, add: Any, drop: Any, keeps: Any, num_keeps: Any, kept: Any,
    sizes: Any, leaf: Any, category: Any, score: Any, keeps_from: Any, keep_list: Any,
) -> None:  # fmt: skip
    leaf_values = np.empty((1, len(category)))
    layers = np.empty((3, 1, len(sizes)))
    free = np.empty(NUM_CATEGORIES, np.int64)
    for game in range(len(seeds)):
        avail, upper, total = ALL_OPEN, 0, 0
        for filled in range(NUM_CATEGORIES):
            open_count = 0
            for c in range(NUM_CATEGORIES):
                if avail >> (NUM_CATEGORIES - 1 - c) & 1:
                    free[open_count] = c
                    open_count += 1
            _value_leaves(table, avail, upper, category, score, leaf_values[0])
            solve_layers(leaf_values, free[:open_count], 0, leaf, add, drop, keeps_from, keep_list, layers)
            hand = _roll(seeds[game], filled, 0, 0, 5, add) - HANDS
            for number in range(1, 3):
                after = layers[2 - number, 0]
                best = -np.inf
                for i in range(num_keeps[hand]):
                    best = max(best, after[kept[hand, keeps[hand, i]]])
                i = 0
                while after[kept[hand, keeps[hand, i]]] < best - TIE:
                    i += 1
                in_hand = kept[hand, keeps[hand, i]]
                hand = _roll(seeds[game], filled, number, in_hand, 5 - sizes[in_hand], add) - HANDS
            best = -np.inf
            for i in range(open_count):
                best = max(best, leaf_values[0, leaf[free[i], hand]])
            i = 0
            while leaf_values[0, leaf[free[i], hand]] < best - TIE:
                i += 1
            points = score[leaf[free[i], hand]]
            avail -= 1 << (NUM_CATEGORIES - 1 - free[i])
            total += points
            if free[i] < UPPER_CATEGORIES:
                total += BONUS if upper < BONUS_FROM <= upper + points else 0
                upper = min(BONUS_FROM, upper + points)
        totals[game] = total
        uppers[game] = upper


@_compile
def _roll(seed: Any, filled: int, number: int, in_hand: int, missing: int, add: Any) -> int:
    """Return the dice in hand after adding the game dice of a roll."""
    start = _mix((seed ^ np.uint64(filled) * FILLED_BITS ^ np.uint64(number) * GOLDEN_BITS) + GOLDEN_BITS)
    for draw in range(missing):
        in_hand = add[in_hand, _mix(start + np.uint64(draw + 1) * GOLDEN_BITS) % np.uint64(6)]
    return in_hand


@_compile
def _value_leaves(table: Any, avail: int, upper: int, category: Any, score: Any, out: Any) -> None:
    for leaf in range(len(category)):
        bit = 1 << (NUM_CATEGORIES - 1 - category[leaf])
        if avail & bit:
            reached = upper + (score[leaf] if category[leaf] < UPPER_CATEGORIES else 0)
            bonus = BONUS if upper < BONUS_FROM <= reached else 0
            out[leaf] = score[leaf] + bonus + table[avail - bit, min(reached, BONUS_FROM)]
