"""Settings of a gate: how many pairs, on which luck, and what it takes to be promoted."""

from __future__ import annotations

from math import sqrt
from typing import Final, Literal

from pydantic import Field, model_validator

from aleazero.errors import ConfigError
from aleazero.evaluation.sprt import Hypotheses
from aleazero.evaluation.statistics import SCORES
from aleazero.games.base import Game
from aleazero.nets.config import counts_wins
from aleazero.settings import Settings, clash

SPREAD: Final = 0.25
"""Standard deviation of the scores of pairs of two games, assumed before any pair was seen."""
RETURN_SPREAD: Final = 1 / 16
"""Likewise of differences of returns, as a share of their range."""
GAIN: Final = 0.02
"""Share of the range of returns that is worth finding, where ``gain1`` does not say."""


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
