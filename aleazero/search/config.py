"""Settings of a search: one frozen class, with the ways to treat chance nested in it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from aleazero.errors import ConfigError, nearest
from aleazero.games.base import Game
from aleazero.search.evaluator import Rollout, Uniform
from aleazero.settings import Settings, clash, problem


class Widening(Settings):
    """How many outcomes of a chance node may be stored: at most min(max_children, ceil(c·N^alpha)) after N visits."""

    c: float = Field(2.0, gt=0, description="Factor of the schedule.")
    alpha: float = Field(0.6, ge=0, le=1, description="Exponent of the schedule.")
    max_children: int = Field(64, ge=1, description="Most stored outcomes of a chance node.")


CLASHES = (
    ("loop=open", "pick=stratified", "pick=sample, or loop=closed"),
    ("loop=open", "exact_up_to", "exact_up_to=0, or loop=closed"),
    ("loop=open", "widening", "no widening, or loop=closed"),
    ("loop=open", "backup=expectation", "backup=sample, or loop=closed"),
    ("exact_up_to", "backup=sample", "backup=expectation, or exact_up_to=0"),
    ("samples_per_visit", "exact_up_to", "exact_up_to=0, or samples_per_visit=1"),
    ("samples_per_visit", "backup=expectation", "backup=sample, or samples_per_visit=1"),
    ("samples_per_visit", "pick=stratified", "pick=sample, or samples_per_visit=1"),
)
"""Chance settings that are rejected together, and what to set instead; docs/chance.md gives the reasons."""


class ChanceConfig(Settings):
    """How the search treats chance."""

    loop: Literal["closed", "open"] = Field(
        "closed",
        description="closed: a child for each outcome. open: outcomes share statistics, and the search converges "
        "to the best plan that is blind to them.",
    )
    pick: Literal["sample", "stratified"] = Field(
        "sample",
        description="sample: outcomes are drawn from the true distribution. stratified: the outcome whose visits fall "
        "furthest behind its probability.",
    )
    exact_up_to: int = Field(
        0,
        ge=0,
        description="Chance nodes with at most this many outcomes are expanded completely, and have the exact mean of "
        "their outcomes. Requires backup=expectation, which is then the default.",
    )
    widening: Widening | None = Field(
        None,
        description="Limits the stored outcomes of a chance node. Other outcomes are evaluated and backed up, but not "
        "stored.",
    )
    samples_per_visit: int = Field(
        1,
        ge=1,
        le=4096,
        description="Outcomes drawn at the last chance node above a leaf. The mean of those that end there too is "
        "backed up. Requires pick=sample and backup=sample.",
    )
    backup: Literal["sample", "expectation"] = Field(
        "sample",
        description="sample: the mean of what was drawn. expectation: outcomes weighted by their probabilities.",
    )

    @model_validator(mode="before")
    @classmethod
    def _exact_means_expectation(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("exact_up_to") and "backup" not in values:
            return {**values, "backup": "expectation"}
        return values

    @model_validator(mode="after")
    def _goes_together(self) -> ChanceConfig:
        used = {
            "loop=open": self.loop == "open",
            "pick=stratified": self.pick == "stratified",
            "exact_up_to": self.exact_up_to > 0,
            "widening": self.widening is not None,
            "samples_per_visit": self.samples_per_visit > 1,
            "backup=sample": self.backup == "sample",
            "backup=expectation": self.backup == "expectation",
        }
        for first, second, instead in CLASHES:
            if used[first] and used[second]:
                raise clash(f"{first} does not go with {second}, expected {instead}")
        return self

    @property
    def lists_outcomes(self) -> bool:
        """Whether these settings need every outcome listed with its probability."""
        return self.pick == "stratified" or self.backup == "expectation" or self.exact_up_to > 0

    @classmethod
    def preset(cls, name: str) -> ChanceConfig:
        """Settings by name: sampling, stratified, progressive, full or open."""
        if name not in PRESETS:
            raise ConfigError(f"is {name!r}, {nearest(name, PRESETS)}", field="chance")
        return cls(**PRESETS[name])


PRESETS: dict[str, dict[str, Any]] = {
    "sampling": {},
    "stratified": {"pick": "stratified", "backup": "expectation"},
    "progressive": {"widening": {}},
    "full": {"exact_up_to": 300, "backup": "expectation"},
    "open": {"loop": "open"},
}
"""The ways to treat chance that have names."""


def chance_by_name(value: Any) -> Any:
    """Return the preset that a text names, and any other value as it is: for validators of settings."""
    if isinstance(value, str) and value not in PRESETS:
        raise problem(f"is {value!r}, {nearest(value, PRESETS)}")
    return ChanceConfig.preset(value) if isinstance(value, str) else value


class SearchConfig(Settings):
    """How much to search, and how to choose on the way."""

    num_simulations: int = Field(256, ge=1, le=2**31 - 2, description="Descents from the root.")
    seed: int = Field(0, ge=0, lt=2**64, description="Seed of the search's own luck; never that of the played game.")
    chance: ChanceConfig | None = Field(
        None,
        description="How chance is treated: settings, or the name of a preset. None, what was measured to be best: "
        "with uniform and rollout sampling; with any other evaluator stratified where the game lists its outcomes, "
        "else progressive.",
    )
    selection: Literal["puct", "uct"] = Field(
        "puct", description="puct follows the evaluator's priors; uct ignores them and counts visits."
    )
    c: float = Field(1.5, ge=0, description="Weight of exploration, with values scaled to 0..1.")
    first_play: Literal["parent"] | Annotated[float, Field(ge=0, le=1)] = Field(
        "parent",
        description="The value, scaled to 0..1, assumed for an action not yet tried: a number, or the mean of its "
        "node so far.",
    )
    noise_alpha: float = Field(
        0.0, description="Dirichlet concentration of the noise on the root's priors; 0 or less for none."
    )
    noise_fraction: float = Field(0.25, ge=0, le=1, description="Share of the noise in the root's priors.")
    temperature: float = Field(
        1.0, ge=0, description="Of the executed move only (result.sample_action); 0 plays the most visited."
    )
    max_depth: int = Field(200, ge=1, le=10_000, description="Decisions and chance events from root to leaf.")
    in_flight: int = Field(1, ge=1, le=4096, description="Leaves that may wait for the evaluator at once.")
    in_flight_mode: Literal["count", "virtual_loss"] = Field(
        "count",
        description="count: a waiting leaf counts as a visit without a value. virtual_loss: as a visit that lost.",
    )
    max_nodes: int = Field(10_000_000, ge=2, le=2**31 - 2, description="A full tree stops the search and says so.")
    max_evaluations: int | None = Field(
        None,
        ge=1,
        le=2**62,
        description="Stop after this many evaluations: one of the root, and one or more for each simulation that "
        "reaches a new leaf. 1 leaves no simulation.",
    )
    max_seconds: float | None = Field(
        None, gt=0, description="Stop after this time: a prefix of the same search, not repeatable."
    )

    @field_validator("chance", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        return chance_by_name(value)


def chance_of(config: SearchConfig, game: Game, evaluator: Any) -> ChanceConfig:
    """The chance settings of a search: those configured, or the default for the game and the evaluator."""
    if config.chance is not None:
        return config.chance
    if isinstance(evaluator, Uniform | Rollout):
        return _DEFAULTS["sampling"]
    return _DEFAULTS["stratified" if game.info.lists_outcomes else "progressive"]


_DEFAULTS = {name: ChanceConfig.preset(name) for name in ("sampling", "stratified", "progressive")}


def largest_visit(chance: ChanceConfig, game: Game) -> int:
    """The leaves that one visit may have."""
    return max(1, min(chance.exact_up_to, game.info.max_outcomes), chance.samples_per_visit)
