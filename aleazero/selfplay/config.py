"""Settings of self-play: how much is searched at each decision, and how the executed move is drawn."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from aleazero.errors import ConfigError, fields_below, nearest
from aleazero.games.base import Game
from aleazero.search.config import ChanceConfig, SearchConfig, chance_by_name
from aleazero.settings import Settings, clash


class Temperature(Settings):
    """The temperature of the executed move, by ply. Training targets never see it."""

    kind: Literal["constant", "step", "linear", "exponential"] = Field(
        "constant",
        description="constant: always start. step: start before `plies`, then end. linear: from start to end over "
        "`plies`. exponential: end + (start − end)·2^(−ply / plies).",
    )
    start: float = Field(1.0, ge=0, description="At the first decision; 0 plays the most visited action.")
    end: float = Field(0.0, ge=0, description="In the end; not used by `constant`.")
    plies: int = Field(30, ge=1, description="Decisions from start to end; of `exponential`, to half of the way.")

    @classmethod
    def parse(cls, text: str) -> Temperature:
        """Read ``0.5``, or a schedule as ``linear:1.0:0.1:30``: its kind, start, end and plies."""
        kind, *numbers = text.split(":")
        try:
            with fields_below("temperature"):
                if not numbers:
                    return cls(start=float(kind))
                start, end, plies = numbers
                if kind in ("step", "linear", "exponential"):
                    named: Any = kind
                    return cls(kind=named, start=float(start), end=float(end), plies=int(plies))
        except ValueError:
            pass
        raise ConfigError(
            f"is {text!r}, expected a number, or step, linear or exponential with START:END:PLIES, "
            f"e.g. linear:1.0:0.1:30",
            field="temperature",
        )

    def at(self, ply: int) -> float:
        """The temperature after so many decisions."""
        if self.kind == "constant":
            return self.start
        if self.kind == "step":
            return self.start if ply < self.plies else self.end
        if self.kind == "linear":
            return self.start + (self.end - self.start) * min(1.0, ply / self.plies)
        return self.end + (self.start - self.end) * math.exp2(-ply / self.plies)


class SelfplayConfig(Settings):
    """How games are played for the sake of their samples."""

    simulations: int = Field(64, ge=1, le=2**31 - 2, description="Of a full search.")
    simulations_by_class: dict[str, int] = Field(
        default_factory=dict, description="Of a full search, by the game's decision classes such as reroll and mark."
    )
    full_share: float = Field(
        1.0, gt=0, le=1, description="Share of decisions with a full search; only those teach the policy."
    )
    fast_simulations: int = Field(16, ge=1, le=2**31 - 2, description="Of the other searches; they have no noise.")
    temperature: Temperature = Field(default_factory=Temperature, description="Of the executed move, by ply.")
    chance: ChanceConfig | None = Field(None, description="How the search treats chance, as in SearchConfig.")
    c: float = Field(1.5, ge=0, description="Weight of exploration.")
    noise_alpha: float = Field(0.3, description="Of the noise at the roots of full searches; 0 or less for none.")
    noise_fraction: float = Field(0.25, ge=0, le=1, description="Share of the noise in the priors of those roots.")
    in_flight: int = Field(1, ge=1, le=4096, description="Leaves of one search that may wait for the network at once.")
    parallel: int = Field(256, ge=1, le=65536, description="Games that one worker has under way.")
    max_plies: int = Field(100_000, ge=1, description="Decisions of a game; one that goes on is an error.")
    games_per_shard: int = Field(32, ge=1, le=65536, description="Games in one file of samples.")

    @field_validator("chance", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        return chance_by_name(value)

    @model_validator(mode="after")
    def _positive(self) -> SelfplayConfig:
        for name, count in self.simulations_by_class.items():
            if count < 1:
                raise clash(f"is {count}, expected at least 1", f"simulations_by_class.{name}")
        return self

    def search(self) -> SearchConfig:
        """The settings of the searches."""
        return SearchConfig(
            num_simulations=max(self.simulations, *self.simulations_by_class.values(), 1),
            chance=self.chance,
            c=self.c,
            noise_alpha=self.noise_alpha,
            noise_fraction=self.noise_fraction,
            in_flight=self.in_flight,
        )

    def full_simulations(self, game: Game) -> list[int]:
        """Simulations of a full search, by the number of the decision class."""
        classes = game.info.decision_classes
        for name in self.simulations_by_class:
            if name not in classes:
                raise ConfigError(
                    f"has {name!r}, {nearest(name, classes)}, a class of {game.name}", field="simulations_by_class"
                )
        return [self.simulations_by_class.get(name, self.simulations) for name in classes]


def drawn(visits: Any, temperature: float, u: float) -> int:
    """The index that a number u in [0, 1) stands for, by visits^(1/temperature); the first of the most visited at 0."""
    most = max(visits)
    if temperature == 0:
        return int(list(visits).index(most))
    if temperature == 1:
        weights = [count / most for count in visits]
    else:
        weights = [(count / most) ** (1.0 / temperature) if count else 0.0 for count in visits]
    target, below = u * math.fsum(weights), 0.0
    for index, weight in enumerate(weights):
        below += weight
        if target < below:
            return index
    return max(index for index, weight in enumerate(weights) if weight)
