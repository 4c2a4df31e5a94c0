"""Rules of a gate: its settings, the sequential test, the fixed test, and their error rates.

The sequential test runs two test martingales. One grows if the candidate is better than ``low``, the other if it is
worse than ``high``. The first that exceeds 1/alpha or 1/beta decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from aleazero.errors import ConfigError
from aleazero.evaluation.statistics import SCORES, t_quantile
from aleazero.games.base import Game, counts_wins
from aleazero.native.random import GATE_RATES
from aleazero.settings import Settings, clash

Values = NDArray[np.float64]
PROMOTE, KEEP, OPEN = 1, -1, 0
SCORE_SPREAD: Final = 0.25
"""Prior standard deviation of the score of a pair of two games."""
RETURN_SPREAD: Final = 1 / 16
"""Prior standard deviation of a return, as a share of the range of returns."""
PRIOR_PAIRS: Final = 8.0
"""Number of pairs that the prior standard deviation counts for."""
GAIN: Final = 0.02
"""Default distance of ``gain1`` from ``gain0``, as a share of the range of returns."""
LARGEST_LOSS: Final = 0.9
"""Largest share of a martingale's value that one pair may take."""
SIMULATED_GATES: Final = 2000
"""Number of simulated gates from which error rates are estimated."""
MOST_CELLS: Final = 4_000_000
"""Most pairs that are simulated at once."""


class GateConfig(Settings):
    """Settings of a gate, which promotes a candidate that is better than ``score0`` (or ``gain0``).

    H0 is a score of at most ``score0``, H1 a score of at least ``score1``. Rejecting H0 promotes the candidate,
    rejecting H1 keeps the champion. ``alpha`` and ``beta`` are the probabilities of a wrong rejection.
    """

    rule: Literal["sprt", "fixed"] = Field(
        "sprt",
        description="sprt: play until H0 or H1 is rejected, at most `pairs` pairs; if neither is, keep the champion. "
        "fixed: play exactly `pairs` pairs, then test once.",
    )
    pairs: int = Field(
        1000, ge=10, le=10**6, description="Number of pairs of a fixed gate, and the limit of a sequential gate."
    )
    unit: Literal["auto", "wins", "returns"] = Field(
        "auto",
        description="wins: compare scores of pairs, 0 to 1. returns: compare mean returns. auto: wins if the game's "
        "returns only count wins and losses (utility −1/(players−1) to 1), else returns.",
    )
    score0: float = Field(0.5, gt=0, lt=1, description="Null score (H0), unit wins: promotion rate is at most alpha.")
    score1: float = Field(
        0.55, gt=0, lt=1, description="Target score (H1), unit wins: early rejection rate is at most beta."
    )
    gain0: float = Field(0.0, description="Null gain (H0), unit returns: promotion rate is at most alpha.")
    gain1: float | None = Field(
        None,
        description="Target gain (H1), unit returns: early rejection rate is at most beta. By default `gain0` plus 2 % "
        "of the range of returns.",
    )
    alpha: float = Field(0.05, gt=0, lt=0.5, description="False-promotion rate: share of gates that promote under H0.")
    beta: float = Field(
        0.05, gt=0, lt=0.5, description="False-rejection rate: share of gates that reject early under H1."
    )
    deterministic_chance: bool = Field(
        True, description="Whether the games of a pair share their dice; false uses independent dice for each game."
    )
    seed_set: str | None = Field(
        None, description="Seed set by name (small, standard, large) or file; by default fresh seeds for each gate."
    )

    @model_validator(mode="after")
    def _check_order(self) -> GateConfig:
        if self.score0 >= self.score1:
            raise clash(f"is {self.score0}, expected less than score1, {self.score1}", "score0")
        if self.gain1 is not None and self.gain0 >= self.gain1:
            raise clash(f"is {self.gain0}, expected less than gain1, {self.gain1}", "gain0")
        return self

    def unit_of(self, game: Game) -> Literal["wins", "returns"]:
        """Return the unit in which pairs of a game are compared."""
        if self.unit == "auto":
            return "wins" if counts_wins(game) else "returns"
        return self.unit

    def hypotheses(self, game: Game) -> Hypotheses:
        """Return the hypotheses of a gate of a game.

        Raises:
            ConfigError: if a threshold is outside the range of returns, missing, or belongs to the other unit.
        """
        self._reject_unused_thresholds(game)
        if self.unit_of(game) == "wins":
            games = 2 if game.num_players <= 2 else 2 * game.num_players  # per pair; more games vary less
            return Hypotheses(self.score0, self.score1, self.alpha, self.beta, SCORES, SCORE_SPREAD * sqrt(2 / games))
        utility = game.info.utility
        if utility is None:
            if self.gain1 is None:
                other = " (or unit wins)" if game.num_players > 1 else ""
                raise _config_error(
                    "gain1", f"is None, expected a number of points: {game!r} has no highest return{other}"
                )
            # The range is unknown, so the prior is wide: the first pairs count little.
            return Hypotheses(self.gain0, self.gain1, self.alpha, self.beta, None, 10 * (self.gain1 - self.gain0))
        widest = utility[1] - utility[0]
        gain1 = self.gain0 + GAIN * widest if self.gain1 is None else self.gain1
        if not -widest < self.gain0 < gain1 < widest:
            raise _config_error("gain1", f"is {gain1:g}, expected less than {widest:g}, the range of returns")
        return Hypotheses(self.gain0, gain1, self.alpha, self.beta, (-widest, widest), 2 * RETURN_SPREAD * widest)

    def _reject_unused_thresholds(self, game: Game) -> None:
        unit = self.unit_of(game)
        unused, expected = (
            (("gain0", "gain1"), "score0, score1 or unit returns")
            if unit == "wins"
            else (("score0", "score1"), "gain0, gain1 or unit wins")
        )
        for name in unused:
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                why = f"which has no effect: this gate of {game!r} counts {unit}, expected {expected}"
                raise _config_error(name, f"is {value:g}, {why}")


def _config_error(field: str, problem: str) -> ConfigError:
    return ConfigError(problem, field=field, where=GateConfig.__name__)


@dataclass(frozen=True)
class Hypotheses:
    """The two hypotheses of a test: a mean of at most ``low``, or of at least ``high``."""

    low: float
    high: float
    alpha: float
    beta: float
    bounds: tuple[float, float] | None
    """Bounds of a pair's value; None if there are none, and then the error rates hold approximately."""
    spread: float
    """Prior standard deviation of the pairs."""


@dataclass(frozen=True)
class Verdict:
    """The decision of a gate, with its reason."""

    promoted: bool
    decided: bool
    """False if the sequential test ran out of pairs; then the champion is kept."""
    reason: str


def judge_pairs(values: Values, config: GateConfig, game: Game, *, last: bool) -> Verdict | None:
    """Return the verdict on the pairs so far, or None to continue; ``last`` if no pair is left."""
    test, count = config.hypotheses(game), f"{len(values):,} pairs"
    unit = "score" if config.unit_of(game) == "wins" else "gain"
    if config.rule == "fixed":
        if not last:
            return None
        promoted = bool(passes(values[None], test)[0])
        above = "significantly above" if promoted else "not significantly above"
        return Verdict(promoted, True, f"mean {unit} of {count} is {above} {test.low:g}")
    found = decide(values[None], test)[1][0]
    if found == OPEN:
        return Verdict(False, False, f"undecided after {count}") if last else None
    bound = f"above {test.low:g}" if found == PROMOTE else f"below {test.high:g}"
    return Verdict(bool(found == PROMOTE), True, f"{unit} {bound}, decided after {count}")


def passes(pairs: Values, test: Hypotheses) -> NDArray[np.bool_]:
    """Return for each gate (a row of pairs) whether its mean is significantly above ``low``: a t test at alpha."""
    count = pairs.shape[1]
    error = pairs.std(axis=1, ddof=1) / sqrt(count)
    above = pairs.mean(axis=1) - test.low
    passed: NDArray[np.bool_] = above > np.maximum(t_quantile(1.0 - test.alpha, count - 1) * error, 1e-12)
    return passed


def decide(pairs: Values, test: Hypotheses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Run the sequential test; return for each gate (a row of pairs) the pairs used, and PROMOTE, KEEP or OPEN."""
    for_candidate, for_champion = log_martingales(pairs, test)
    up, down = for_candidate >= -np.log(test.alpha), for_champion >= -np.log(test.beta)
    ended = up | down
    last = np.where(ended.any(axis=1), ended.argmax(axis=1), pairs.shape[1] - 1)
    rows = np.arange(len(pairs))
    verdict = np.where(up[rows, last], PROMOTE, np.where(down[rows, last], KEEP, OPEN))
    return last + 1, verdict.astype(np.int64)


def log_martingales(pairs: Values, test: Hypotheses) -> tuple[Values, Values]:
    """Return the logarithms of both test martingales after each pair, (gates, pairs): against H0, and against H1."""
    distance, centre = test.high - test.low, (test.low + test.high) / 2
    squares = np.cumsum((pairs - centre) ** 2, axis=1)
    before = np.concatenate((np.zeros((len(pairs), 1)), squares[:, :-1]), axis=1)
    weight = distance / ((PRIOR_PAIRS * test.spread**2 + before) / (PRIOR_PAIRS + np.arange(pairs.shape[1])))
    logs = []
    for sign, bound in ((1.0, test.low), (-1.0, test.high)):
        gain = sign * (pairs - bound)
        if test.bounds is not None:
            worst = bound - test.bounds[0] if sign > 0 else test.bounds[1] - bound
            gain = np.minimum(weight, LARGEST_LOSS / worst) * gain
        else:
            gain = np.maximum(weight * gain, -LARGEST_LOSS)
        logs.append(np.cumsum(np.log1p(gain), axis=1))
    return logs[0], logs[1]


def rates_at(pairs: Values, mean: float, config: GateConfig, test: Hypotheses, most: int) -> dict[str, Any]:
    """Simulate gates with pairs like these but another mean; return the shares promoted, kept and undecided."""
    values, chances = shifted(pairs, mean, test.bounds)
    edges = np.cumsum(chances)[:-1]
    random = np.random.Generator(np.random.Philox(key=GATE_RATES))
    taken, found = [], []
    rows = max(1, MOST_CELLS // most)
    for start in range(0, SIMULATED_GATES, rows):
        uniform = random.random((min(rows, SIMULATED_GATES - start), most))
        gates = values[np.searchsorted(edges, uniform, side="right")]
        if config.rule == "sprt":
            counts, verdicts = decide(gates, test)
        else:
            counts = np.full(len(gates), most, np.int64)
            verdicts = np.where(passes(gates, test), PROMOTE, KEEP)
        taken.append(counts)
        found.append(verdicts)
    verdicts = np.concatenate(found)
    shares = {
        name: round(float((verdicts == code).mean()), 4)
        for name, code in (("promoted", PROMOTE), ("kept", KEEP), ("undecided", OPEN))
    }
    return {"mean": mean, **shares, "mean_pairs": round(float(np.concatenate(taken).mean()), 1)}


def shifted(pairs: Values, mean: float, bounds: tuple[float, float] | None) -> tuple[Values, Values]:
    """Return the distribution closest to that of the pairs with another mean: values, and their probabilities.

    With bounds, the values stay the same and their probabilities are tilted exponentially. Each bound counts as one
    more pair, so that every mean between them is possible.
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
