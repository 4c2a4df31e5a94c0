"""Settings of self-play: the search at each decision, and the choice of the move to play."""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from aleazero.errors import ConfigError, fields_below, nearest
from aleazero.games.base import Game
from aleazero.search.config import ChanceConfig, SearchConfig, chance_by_name
from aleazero.settings import Settings, clash


class Temperature(Settings):
    """Temperature of the move to play, by ply. It does not change training targets."""

    kind: Literal["constant", "step", "linear", "exponential"] = Field(
        "constant",
        description="Schedule. constant: always `start`. step: `start` before ply `plies`, then `end`. linear: from "
        "`start` to `end` over `plies` plies. exponential: end + (start − end)·2^(−ply / plies).",
    )
    start: float = Field(1.0, ge=0, description="Temperature at the first decision; 0 plays the most visited action.")
    end: float = Field(0.0, ge=0, description="Final temperature; unused by the schedule `constant`.")
    plies: int = Field(30, ge=1, description="Length of the schedule in decisions; for `exponential`, the half-life.")

    @classmethod
    def parse(cls, text: str) -> Temperature:
        """Parse ``0.5``, or a schedule such as ``linear:1.0:0.1:30`` (kind, start, end, plies)."""
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
            f"is {text!r}, expected a number, or step, linear or exponential with START:END:PLIES, e.g. "
            f"linear:1.0:0.1:30",
            field="temperature",
        )

    def at(self, ply: int) -> float:
        """Return the temperature after this many decisions."""
        if self.kind == "constant":
            return self.start
        if self.kind == "step":
            return self.start if ply < self.plies else self.end
        if self.kind == "linear":
            return self.start + (self.end - self.start) * min(1.0, ply / self.plies)
        return self.end + (self.start - self.end) * math.exp2(-ply / self.plies)


class SelfplayConfig(Settings):
    """Settings of self-play."""

    simulations: int = Field(64, ge=1, le=2**31 - 2, description="Number of simulations of a full search.")
    simulations_by_class: dict[str, int] = Field(
        default_factory=dict,
        description="Number of simulations of a full search by decision class of the game. Other classes use "
        "`simulations`.",
    )
    full_share: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Fraction of decisions with a full search. Only these are policy targets; the others use a fast "
        "search.",
    )
    fast_simulations: int = Field(
        16, ge=1, le=2**31 - 2, description="Number of simulations of a fast search, which has no Dirichlet noise."
    )
    temperature: Temperature = Field(
        default_factory=Temperature, description="Temperature of the move to play, by ply."
    )
    chance: ChanceConfig | None = Field(
        None, description="Chance handling of the search: settings, or the name of a preset. None: as in SearchConfig."
    )
    c: float = Field(1.5, ge=0, description="Exploration constant of the search.")
    noise_alpha: float = Field(
        0.3, description="Concentration of the Dirichlet noise at the root of full searches; 0 or less disables it."
    )
    noise_fraction: float = Field(
        0.25, ge=0, le=1, description="Weight of the Dirichlet noise in the priors at the root of full searches."
    )
    in_flight: int = Field(
        1, ge=1, le=4096, description="Maximum number of leaves of one search that wait for the network."
    )
    parallel: int = Field(256, ge=1, le=65536, description="Number of games that each worker plays at the same time.")
    max_plies: int = Field(
        100_000, ge=1, description="Maximum number of decisions of a game; a longer game is an error."
    )
    games_per_shard: int = Field(32, ge=1, le=65536, description="Number of games per shard file.")

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
        """Return the settings of the searches."""
        return SearchConfig(
            num_simulations=max(self.simulations, *self.simulations_by_class.values(), 1),
            chance=self.chance,
            c=self.c,
            noise_alpha=self.noise_alpha,
            noise_fraction=self.noise_fraction,
            in_flight=self.in_flight,
        )

    def full_simulations(self, game: Game) -> list[int]:
        """Return the simulations of a full search for each decision class of the game."""
        classes = game.info.decision_classes
        for name in self.simulations_by_class:
            if name not in classes:
                raise ConfigError(
                    f"has {name!r}, {nearest(name, classes)}, a decision class of {game.name}",
                    field="simulations_by_class",
                )
        return [self.simulations_by_class.get(name, self.simulations) for name in classes]


def sample_index(visits: Any, temperature: float, u: float) -> int:
    """Return the index that u in [0, 1) selects by visits^(1/temperature); at 0, the first of the most visited."""
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
