"""A turn of Yatzy solved at once: 252 hands, 462 kept multisets, and 120 leaves, one for each mark and score.

Two short cuts make it quick. Rolling k dice is rolling one die k times, so the value of kept dice is the mean over six
faces of the values with one die more. And the best of all keeps of a hand is the best of keeping it whole and of the
best keeps of the hands with one die less. Tables are arguments of the compiled function, not constants in its code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.dice import ADD, DROP, HISTOGRAMS, KEEPS, KEPT, NUM_HANDS, NUM_KEEPS
from aleazero.games.yatzy_card import NUM_CATEGORIES, SCORES, categories_of
from aleazero.native.compile import cached_njit

Values = NDArray[np.float64]
Table = NDArray[np.uint16]
"""Unsigned, so that compiled code need not look for indices from the end."""

MULTISETS = len(HISTOGRAMS)

# Leaves are numbered by category, then by score.
_LISTED = [(c, points) for c in range(NUM_CATEGORIES) for points in sorted(set(SCORES[:, c].tolist()))]
LEAF_CATEGORY, LEAF_SCORE = (np.array(column, np.int64) for column in zip(*_LISTED, strict=True))
LEAF = np.array([[_LISTED.index((c, n)) for n in SCORES[:, c].tolist()] for c in range(NUM_CATEGORIES)], np.uint16)
"""(15, 252) the leaf behind marking a hand in a category."""
KEEPS_FROM = np.concatenate([[0], np.cumsum(NUM_KEEPS, dtype=np.int64)]).astype(np.uint16)
KEEP_LIST = np.concatenate([KEPT[hand, KEEPS[hand, : NUM_KEEPS[hand]]] for hand in range(NUM_HANDS)]).astype(np.uint16)
"""(4368,) what each hand can keep, in the order of the actions."""


_compile = cached_njit(nogil=True, error_model="numpy")


@_compile
def _mark_best(offered: Values, open_categories: Any, leaf: Table, value: Values, chosen: Table) -> None:
    """The best mark of each hand, and the leaf behind it."""
    first_hand = len(value) - leaf.shape[1]
    for hand in range(leaf.shape[1]):
        value[first_hand + hand] = -np.inf
    for category in open_categories:
        behind = leaf[category]
        for hand in range(leaf.shape[1]):
            number = behind[hand]
            better = offered[number] > value[first_hand + hand]
            value[first_hand + hand] = offered[number] if better else value[first_hand + hand]
            chosen[hand] = number if better else chosen[hand]


@_compile
def _keep_best(kept: Values, drop: Table, value: Values, highest: Values, hands: int) -> None:
    """The best keep of each hand."""
    highest[0] = kept[0]
    for number in range(1, len(kept)):
        most = kept[number]
        for place in range(5):
            other = highest[drop[number, place]]
            most = other if other > most else most
        highest[number] = most
    for hand in range(len(kept) - hands, len(kept)):
        value[hand] = highest[hand]


@_compile
def _find_keep(kept: Values, value: Values, keeps_from: Table, keep_list: Table, chosen: Table) -> None:
    """The first keep, in the order of the actions, that is as good as the best of each hand."""
    first_hand = len(value) - len(chosen)
    for hand in range(len(chosen)):
        place = keeps_from[hand]
        while kept[keep_list[place]] != value[first_hand + hand]:
            place += 1
        chosen[hand] = keep_list[place]


@_compile
def _expect_rolls(value: Values, add: Table) -> None:
    """The value of rolling the missing dice to each kept multiset, given those of the hands."""
    for number in range(len(add) - 1, -1, -1):
        more = add[number]
        low = value[more[0]] + value[more[1]] + value[more[2]]
        value[number] = (low + value[more[3]] + value[more[4]] + value[more[5]]) / 6.0


@_compile
def solve_layers(
    leaf_values: Values,
    open_categories: NDArray[np.int64],
    mover: int,
    leaf: Table,
    add: Table,
    drop: Table,
    keeps_from: Table,
    keep_list: Table,
    values: Values,
) -> None:
    """Fill values (layers, players, multisets), given those of the leaves (players, leaves).

    A layer is the number of rerolls left. In it, the value of a hand of five is that of its decision, and the value of
    fewer dice that of the roll which follows keeping them. The mover maximises; of equal actions the first is taken.
    """
    layers, players, multisets = values.shape
    hands = leaf.shape[1]
    chosen = np.zeros(hands, np.uint16)
    highest = np.empty(multisets)
    for layer in range(layers):
        if layer == 0:
            _mark_best(leaf_values[mover], open_categories, leaf, values[0, mover], chosen)
        else:
            _keep_best(values[layer - 1, mover], drop, values[layer, mover], highest, hands)
            if players > 1:
                _find_keep(values[layer - 1, mover], values[layer, mover], keeps_from, keep_list, chosen)
        for player in range(players):
            value = values[layer, player]
            if player != mover:
                source = leaf_values[player] if layer == 0 else values[layer - 1, player]
                for hand in range(hands):
                    value[multisets - hands + hand] = source[chosen[hand]]
            _expect_rolls(value, add)


def solve_rerolls(leaf_values: Values, avail_mask: int, mover: int = 0, layers: int = 3) -> Values:
    """The values (layers, players, multisets) of a turn, by rerolls left, given those of all leaves (players, leaves).

    The last layer's value of no dice at all is that of the turn's first roll.
    """
    values = np.empty((layers, len(leaf_values), MULTISETS))
    free = np.array(categories_of(avail_mask), np.int64)
    solve_layers(leaf_values, free, mover, LEAF, ADD, DROP, KEEPS_FROM, KEEP_LIST, values)
    return values
