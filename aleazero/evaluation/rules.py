"""The rules of a gate: when it ends, with which verdict, and how often they err."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from aleazero.evaluation.gate_config import GateConfig
from aleazero.evaluation.sprt import KEEP, OPEN, PROMOTE, Hypotheses, decide
from aleazero.evaluation.statistics import t_quantile
from aleazero.games.base import Game
from aleazero.native.random import GATE_RATES

Values = NDArray[np.float64]
SIMULATED: Final = 2000
"""Gates by which a rule's rates are found."""
CELLS: Final = 4_000_000
"""Pairs that are simulated at once, at most."""


@dataclass(frozen=True)
class Verdict:
    """What a gate decided, and why."""

    promoted: bool
    decided: bool
    """False where pairs ran out before the sequential test had an answer: then the champion is kept."""
    reason: str


def judge_pairs(values: Values, config: GateConfig, game: Game, *, last: bool) -> Verdict | None:
    """The verdict on pairs so far, or None to go on; ``last`` where no pair is left."""
    test = config.hypotheses(game)
    if config.rule == "fixed":
        if not last:
            return None
        promoted = bool(passes(values[None], test)[0])
        words = "above" if promoted else "not above"
        return Verdict(promoted, True, f"mean of {len(values):,} pairs {words} the threshold")
    _, found = decide(values[None], test)
    if found[0] == OPEN:
        return Verdict(False, False, f"undecided after {len(values):,} pairs, so kept") if last else None
    told = f"better than {test.low:g}" if found[0] == PROMOTE else f"not as good as {test.high:g}"
    return Verdict(bool(found[0] == PROMOTE), True, f"{told}, clear after {len(values):,} pairs")


def passes(pairs: Values, test: Hypotheses) -> NDArray[np.bool_]:
    """By gate (a row of pairs): whether the mean is above ``low`` by more than luck explains; a t test at alpha."""
    count = pairs.shape[1]
    error = pairs.std(axis=1, ddof=1) / sqrt(count)
    above = pairs.mean(axis=1) - test.low
    passed: NDArray[np.bool_] = above > np.maximum(t_quantile(1.0 - test.alpha, count - 1) * error, 1e-12)
    return passed


def outcomes(pairs: Values, test: Hypotheses, rule: Literal["sprt", "fixed"]) -> tuple[Values, NDArray[np.int64]]:
    """By gate (a row of pairs): how many pairs it takes, and PROMOTE, KEEP or OPEN."""
    if rule == "sprt":
        taken, found = decide(pairs, test)
        return taken.astype(np.float64), found
    found = np.where(passes(pairs, test), PROMOTE, KEEP).astype(np.int64)
    return np.full(len(pairs), float(pairs.shape[1])), found


def shifted(pairs: Values, mean: float, bounds: tuple[float, float] | None) -> tuple[Values, Values]:
    """The distribution nearest to that of some pairs with another mean: values, and their chances.

    Between bounds values stay what they are and are tilted; each bound counts as a pair more, so any mean can be.
    """
    if bounds is None:
        return pairs - pairs.mean() + mean, np.full(len(pairs), 1.0 / len(pairs))
    values, counts = np.unique(np.concatenate((pairs, np.array(bounds))), return_counts=True)
    scale = (values - mean) / (bounds[1] - bounds[0])
    low, high = -200.0, 200.0
    for _ in range(100):
        tilt = 0.5 * (low + high)
        weights = counts * np.exp(tilt * scale - (tilt * scale).max())
        low, high = (tilt, high) if weights @ scale < 0 else (low, tilt)
    return values, weights / weights.sum()


def rates_at(pairs: Values, mean: float, config: GateConfig, test: Hypotheses, most: int) -> dict[str, Any]:
    """How often the rule promotes, keeps and stays undecided if pairs like these had another mean; by simulation."""
    values, chances = shifted(pairs, mean, test.bounds)
    edges = np.cumsum(chances)[:-1]
    luck = np.random.Generator(np.random.Philox(key=GATE_RATES))
    taken, found = [], []
    rows = max(1, CELLS // most)
    for start in range(0, SIMULATED, rows):
        drawn = values[np.searchsorted(edges, luck.random((min(rows, SIMULATED - start), most)), side="right")]
        some = outcomes(drawn, test, config.rule)
        taken.append(some[0])
        found.append(some[1])
    verdicts = np.concatenate(found)
    shares = {
        name: round(float((verdicts == code).mean()), 4)
        for name, code in (("promoted", PROMOTE), ("kept", KEEP), ("undecided", OPEN))
    }
    return {"mean": mean, **shares, "mean_pairs": round(float(np.concatenate(taken).mean()), 1)}
