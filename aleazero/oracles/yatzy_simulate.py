"""Games of one-player Yatzy under best play, thousands a second: the oracle's choices and the played dice, compiled.

The dice are those of ``games.yatzy.event_dice``, and of actions that tie the lowest is taken: a simulated game is the
one that the oracle's player plays with the same seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.dice import ADD, DROP, HANDS, KEEPS, KEPT, NUM_KEEPS, SIZES
from aleazero.games.yatzy.card import ALL_OPEN, BONUS, BONUS_FROM, NUM_CATEGORIES, UPPER_CATEGORIES
from aleazero.native.random import GOLDEN_BITS, mix_bits
from aleazero.oracles.oracle import TIE
from aleazero.oracles.yatzy import YatzyOracle

CHUNK = 250
"""Games that a thread plays at a time."""
Progress = Callable[[int, int], None]
"""Called with the number of games played so far, and of all."""


@dataclass(frozen=True)
class SimulatedGames:
    """What games under best play came to."""

    totals: NDArray[np.int64]
    bonuses: NDArray[np.bool_]
    """Whether the upper bonus was taken."""


def simulate(
    oracle: YatzyOracle, seeds: Sequence[int], *, threads: int | None = None, progress: Progress | None = None
) -> SimulatedGames:
    """Play a game for each seed of played dice; the number of threads changes nothing but the time."""
    all_seeds = np.array([seed % 2**64 for seed in seeds], np.uint64)
    totals, uppers = np.zeros(len(all_seeds), np.int64), np.zeros(len(all_seeds), np.int64)
    play = _compiled()
    starts = range(0, len(all_seeds), CHUNK)
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        jobs = [
            pool.submit(
                play, all_seeds[at : at + CHUNK], oracle.table, totals[at : at + CHUNK], uppers[at : at + CHUNK]
            )
            for at in starts
        ]
        for number, job in enumerate(jobs, start=1):
            job.result()
            if progress is not None:
                progress(min(number * CHUNK, len(all_seeds)), len(all_seeds))
    return SimulatedGames(totals, uppers >= BONUS_FROM)


@lru_cache(maxsize=1)
def _compiled() -> Callable[..., None]:
    """The compiled loop over games. Tables are arguments, not constants in its code."""
    import numba

    from aleazero.games.yatzy.turn import KEEP_LIST, KEEPS_FROM, LEAF, LEAF_CATEGORY, LEAF_SCORE, solve_layers

    compile_ = numba.njit(nogil=True, error_model="numpy")
    mix, golden = compile_(mix_bits), GOLDEN_BITS
    of_turn, six = np.uint64(0xA5A35625E4F7C1AD), np.uint64(6)

    @compile_  # type: ignore[untyped-decorator]
    def roll(seed: Any, filled: int, number: int, in_hand: int, missing: int, add: Any) -> int:
        """The dice in hand and the first draws of a played roll."""
        start = mix((seed ^ np.uint64(filled) * of_turn ^ np.uint64(number) * golden) + golden)
        for draw in range(missing):
            in_hand = add[in_hand, mix(start + np.uint64(draw + 1) * golden) % six]
        return in_hand

    @compile_  # type: ignore[untyped-decorator]
    def value_leaves(table: Any, avail: int, upper: int, category: Any, score: Any, out: Any) -> None:
        for leaf in range(len(category)):
            bit = 1 << (NUM_CATEGORIES - 1 - category[leaf])
            if avail & bit:
                reached = upper + (score[leaf] if category[leaf] < UPPER_CATEGORIES else 0)
                bonus = BONUS if upper < BONUS_FROM <= reached else 0
                out[leaf] = score[leaf] + bonus + table[avail - bit, min(reached, BONUS_FROM)]

    @compile_  # type: ignore[untyped-decorator]
    def play_games(
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
                value_leaves(table, avail, upper, category, score, leaf_values[0])
                solve_layers(leaf_values, free[:open_count], 0, leaf, add, drop, keeps_from, keep_list, layers)
                hand = roll(seeds[game], filled, 0, 0, 5, add) - HANDS
                for number in range(1, 3):
                    behind = layers[2 - number, 0]
                    best = -np.inf
                    for i in range(num_keeps[hand]):
                        best = max(best, behind[kept[hand, keeps[hand, i]]])
                    i = 0
                    while behind[kept[hand, keeps[hand, i]]] < best - TIE:
                        i += 1
                    in_hand = kept[hand, keeps[hand, i]]
                    hand = roll(seeds[game], filled, number, in_hand, 5 - sizes[in_hand], add) - HANDS
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

    tables = (ADD, DROP, KEEPS, NUM_KEEPS, KEPT, SIZES, LEAF, LEAF_CATEGORY, LEAF_SCORE, KEEPS_FROM, KEEP_LIST)
    return lambda seeds, table, totals, uppers: play_games(seeds, table, totals, uppers, *tables)
