"""What many rows of ``aleazero bench chance`` say together: each setting beside plain sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

BASE = "sampling"
FIGURES = ("value_rmse", "value_deviation", "best_q_rmse")

Row = dict[str, Any]


def beside_sampling(rows: Sequence[Row]) -> list[Row]:
    """By evaluator and setting: how many times sampling's error, luck, regret and time.

    Ratios are geometric means over games and budgets, with a standard error that follows from those of the rows. Regret
    is first averaged over the budgets of a game, as single rows may have none; games without any are left out.
    """
    found = []
    for evaluator in dict.fromkeys(row["evaluator"] for row in rows):
        own = [row for row in rows if row["evaluator"] == evaluator]
        bases = {(row["game"], row["budget"]): row for row in own if row["setting"] == BASE}
        for setting in dict.fromkeys(row["setting"] for row in own):
            pairs = [(row, bases[row["game"], row["budget"]]) for row in own if row["setting"] == setting and bases]
            if setting == BASE or not pairs:
                continue
            summary: Row = {"evaluator": evaluator, "setting": setting}
            for figure in FIGURES:
                summary |= _ratio(figure, [(_measured(row, figure), _measured(base, figure)) for row, base in pairs])
            summary |= _ratio("regret", _regrets(pairs))
            summary |= _ratio("seconds", [((row["seconds"], 0.0), (base["seconds"], 0.0)) for row, base in pairs])
            found.append(summary)
    return found


Measured = tuple[float, float]
"""A figure and its standard error."""


def _measured(row: Row, figure: str) -> Measured:
    return row[figure], row[f"{figure}_se"]


def _regrets(pairs: Sequence[tuple[Row, Row]]) -> list[tuple[Measured, Measured]]:
    by_game: dict[str, list[tuple[Row, Row]]] = {}
    for row, base in pairs:
        by_game.setdefault(row["game"], []).append((row, base))
    return [
        (_mean([_measured(row, "regret") for row, _ in some]), _mean([_measured(base, "regret") for _, base in some]))
        for some in by_game.values()
    ]


def _mean(figures: Sequence[Measured]) -> Measured:
    count = len(figures)
    return sum(value for value, _ in figures) / count, math.hypot(*(error for _, error in figures)) / count


def _ratio(name: str, pairs: Sequence[tuple[Measured, Measured]]) -> Row:
    """The geometric mean of the ratios, and its standard error; None where there is nothing to compare."""
    some = [(one, other) for one, other in pairs if one[0] > 0 and other[0] > 0]
    if not some:
        return {name: None, f"{name}_se": None}
    mean = math.exp(sum(math.log(one[0] / other[0]) for one, other in some) / len(some))
    error = math.hypot(*(error / value for pair in some for value, error in pair)) / len(some)
    return {name: mean, f"{name}_se": mean * error}
