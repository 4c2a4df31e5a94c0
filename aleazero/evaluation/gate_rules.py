"""The rules of a gate: its settings, the sequential and the fixed test, and how often they err.

The sequential test is two test martingales: one grows if the candidate is better than ``low``, the other if it is worse
than ``high``. The first that exceeds 1/alpha or 1/beta decides.
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
SPREAD: Final = 0.25
"""Standard deviation of the scores of pairs of two games, assumed before any pair was seen."""
RETURN_SPREAD: Final = 1 / 16
"""Standard deviation of the differences of returns, as a share of their range, assumed before any pair was seen."""
GAIN: Final = 0.02
"""Share of the range of returns that is worth finding, where ``gain1`` does not say."""
SIMULATED: Final = 2000
"""Gates by which a rule's rates are found."""
CELLS: Final = 4_000_000
"""Pairs that are simulated at once, at most."""
MOST: Final = 0.9
"""Share of the wealth that a pair may lose, at most."""
PRIOR: Final = 8.0
"""Pairs that the spread assumed at first counts for."""


class GateConfig(Settings):
    """Who is promoted: a candidate whose pairs say that it is better than ``score0`` (or ``gain0``)."""

    rule: Literal["sprt", "fixed"] = Field(
        "sprt",
        description="sprt: pairs until the verdict is clear, at most `pairs`; undecided then, the champion is kept. "
        "fixed: exactly `pairs`, and one test.",
    )
    pairs: int = Field(1000, ge=10, le=10**6, description="Pairs: all of a fixed gate, the most of a sequential one.")
    unit: Literal["auto", "wins", "returns"] = Field(
        "auto",
        description="wins: the score of a pair, 0 to 1. returns: the difference of mean returns. auto: wins if returns "
        "are wins and losses (utility −1/(players−1) to 1), else returns, because players maximise them.",
    )
    score0: float = Field(0.5, gt=0, lt=1, description="In wins: a candidate of this score passes at most in alpha.")
    score1: float = Field(0.55, gt=0, lt=1, description="In wins: a candidate of this score is kept at most in beta.")
    gain0: float = Field(0.0, description="In returns, what `score0` is in wins.")
    gain1: float | None = Field(
        None, description="In returns, what `score1` is in wins; by default 2 % of the range of returns."
    )
    alpha: float = Field(0.05, gt=0, lt=0.5, description="Share of gates in which a candidate no better may pass.")
    beta: float = Field(0.05, gt=0, lt=0.5, description="Share of gates in which a better one may be turned down.")
    deterministic_chance: bool = Field(
        True, description="The games of a pair share their luck, keyed by the event. false: fresh luck for each game."
    )
    seed_set: str | None = Field(
        None, description="Seeds by name (small, standard, large) or from a file; by default fresh ones."
    )

    @model_validator(mode="after")
    def _goes_together(self) -> GateConfig:
        if self.score0 >= self.score1:
            raise clash(f"is {self.score0}, expected less than score1, {self.score1}", "score0")
        if self.gain1 is not None and self.gain0 >= self.gain1:
            raise clash(f"is {self.gain0}, expected less than gain1, {self.gain1}", "gain0")
        return self

    def unit_of(self, game: Game) -> Literal["wins", "returns"]:
        """What pairs are measured in."""
        if self.unit == "auto":
            return "wins" if counts_wins(game) else "returns"
        return self.unit

    def hypotheses(self, game: Game) -> Hypotheses:
        """What the gate tells apart, in this game."""
        self._refuse_ignored(game)
        if self.unit_of(game) == "wins":
            games = 2 if game.num_players <= 2 else 2 * game.num_players  # per pair; more games scatter less
            return Hypotheses(self.score0, self.score1, self.alpha, self.beta, SCORES, SPREAD * sqrt(2 / games))
        utility = game.info.utility
        if utility is None:
            if self.gain1 is None:
                raise _refused(
                    "gain1",
                    f"is None, expected the points worth finding: {game!r} has no highest return"
                    + (" (or unit wins)" if game.num_players > 1 else ""),
                )
            # Unknown, so it is taken for wide: stakes are small until pairs were seen.
            return Hypotheses(self.gain0, self.gain1, self.alpha, self.beta, None, 10 * (self.gain1 - self.gain0))
        widest = utility[1] - utility[0]
        gain1 = self.gain0 + GAIN * widest if self.gain1 is None else self.gain1
        if not -widest < self.gain0 < gain1 < widest:
            raise _refused("gain1", f"is {gain1:g}, expected less than {widest:g}, the range of returns")
        return Hypotheses(self.gain0, gain1, self.alpha, self.beta, (-widest, widest), 2 * RETURN_SPREAD * widest)

    def _refuse_ignored(self, game: Game) -> None:
        """Raise if thresholds are set that this gate never reads: those of the other unit."""
        unit = self.unit_of(game)
        ignored, expected = (
            (("gain0", "gain1"), "score0, score1 or unit returns")
            if unit == "wins"
            else (("score0", "score1"), "gain0, gain1 or unit wins")
        )
        for name in ignored:
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                why = f"which has no effect: this gate of {game!r} counts {unit}, expected {expected}"
                raise _refused(name, f"is {value:g}, {why}")


def _refused(field: str, problem: str) -> ConfigError:
    return ConfigError(problem, field=field, where=GateConfig.__name__)


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


@dataclass(frozen=True)
class Hypotheses:
    """What the test tells apart: means of at most ``low`` from those of at least ``high``."""

    low: float
    high: float
    alpha: float
    beta: float
    bounds: tuple[float, float] | None
    """Of a pair's value; None where it has none, and the rates hold nearly."""
    spread: float
    """Of pairs, as it is assumed at first."""


def wealth(pairs: Values, test: Hypotheses) -> tuple[Values, Values]:
    """Log wealth of the two wagers (gates, pairs), for promoting and for keeping."""
    distance, centre = test.high - test.low, (test.low + test.high) / 2
    squares = np.cumsum((pairs - centre) ** 2, axis=1)
    before = np.concatenate((np.zeros((len(pairs), 1)), squares[:, :-1]), axis=1)
    stake = distance / ((PRIOR * test.spread**2 + before) / (PRIOR + np.arange(pairs.shape[1])))
    logs = []
    for sign, bound in ((1.0, test.low), (-1.0, test.high)):
        gain = sign * (pairs - bound)
        if test.bounds is not None:
            worst = bound - test.bounds[0] if sign > 0 else test.bounds[1] - bound
            gain = np.minimum(stake, MOST / worst) * gain
        else:
            gain = np.maximum(stake * gain, -MOST)
        logs.append(np.cumsum(np.log1p(gain), axis=1))
    return logs[0], logs[1]


def decide(pairs: Values, test: Hypotheses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By gate (a row of pairs, in order): the number of pairs looked at, and PROMOTE, KEEP or OPEN."""
    for_it, against = wealth(pairs, test)
    up, down = for_it >= -np.log(test.alpha), against >= -np.log(test.beta)
    ended = up | down
    last = np.where(ended.any(axis=1), ended.argmax(axis=1), pairs.shape[1] - 1)
    rows = np.arange(len(pairs))
    verdict = np.where(up[rows, last], PROMOTE, np.where(down[rows, last], KEEP, OPEN))
    return last + 1, verdict.astype(np.int64)
