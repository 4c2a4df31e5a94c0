"""Settings of a search, and of how it handles chance."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from aleazero.errors import ConfigError, nearest
from aleazero.games.base import Game
from aleazero.search.evaluator import Rollout, Uniform
from aleazero.settings import Settings, clash, problem


class Widening(Settings):
    """Limits of progressive widening.

    After N visits, a chance node stores at most ``min(max_children, ceil(c * N**alpha))`` outcomes.
    """

    c: float = Field(2.0, gt=0, description="Factor c of the widening limit ceil(c * visits**alpha).")
    alpha: float = Field(0.6, ge=0, le=1, description="Exponent alpha of the widening limit ceil(c * visits**alpha).")
    max_children: int = Field(64, ge=1, description="Maximum number of stored outcomes per chance node.")


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
"""Pairs of chance settings that cannot be combined, and what to set instead."""


class ChanceConfig(Settings):
    """Chance handling of a search: how outcomes are picked, stored and backed up."""

    loop: Literal["closed", "open"] = Field(
        "closed",
        description="closed: each outcome of a chance node has its own child. open: outcomes share their statistics, "
        "so the search converges to the best sequence of actions that cannot react to outcomes.",
    )
    pick: Literal["sample", "stratified"] = Field(
        "sample",
        description="sample: draw outcomes from their distribution. stratified: pick the outcome whose visits are "
        "furthest below its probability.",
    )
    exact_up_to: int = Field(
        0,
        ge=0,
        description="Expand all outcomes of chance nodes that have at most this many; their value is then the exact "
        "mean. 0 turns it off. Requires backup=expectation, which is then the default.",
    )
    widening: Widening | None = Field(
        None,
        description="Progressive widening: limits how many outcomes a chance node stores. Other outcomes are evaluated "
        "and backed up, but not stored. None stores all.",
    )
    samples_per_visit: int = Field(
        1,
        ge=1,
        le=4096,
        description="Number of outcomes drawn at the last chance node above a leaf. The mean value of those that also "
        "lead to a leaf is backed up. Requires pick=sample and backup=sample.",
    )
    backup: Literal["sample", "expectation"] = Field(
        "sample",
        description="Value of a chance node. sample: mean of the values backed up. expectation: mean of its outcomes, "
        "weighted by probability.",
    )

    @model_validator(mode="before")
    @classmethod
    def _default_backup(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("exact_up_to") and "backup" not in values:
            return {**values, "backup": "expectation"}
        return values

    @model_validator(mode="after")
    def _check_combinations(self) -> ChanceConfig:
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
                raise clash(f"{first} cannot be combined with {second}, expected {instead}")
        return self

    @property
    def lists_outcomes(self) -> bool:
        """Whether these settings need every outcome listed with its probability."""
        return self.pick == "stratified" or self.backup == "expectation" or self.exact_up_to > 0

    @classmethod
    def preset(cls, name: str) -> ChanceConfig:
        """Return the chance settings with a name.

        Args:
            name: ``sampling``, ``stratified``, ``progressive``, ``full`` or ``open``.

        Raises:
            ConfigError: there is no preset with this name.
        """
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
"""Chance settings by name."""


def chance_by_name(value: Any) -> Any:
    """Return the preset if the value is a name, else the value itself; for validators."""
    if isinstance(value, str) and value not in PRESETS:
        raise problem(f"is {value!r}, {nearest(value, PRESETS)}")
    return ChanceConfig.preset(value) if isinstance(value, str) else value


class SearchConfig(Settings):
    """Settings of a tree search: its budget, selection, Dirichlet noise and chance handling."""

    num_simulations: int = Field(256, ge=1, le=2**31 - 2, description="Number of simulations per search.")
    seed: int = Field(0, ge=0, lt=2**64, description="Seed of the search. It does not affect the dice of the game.")
    chance: ChanceConfig | None = Field(
        None,
        description="Chance handling: settings, or the name of a preset. None: sampling for the evaluators uniform and "
        "rollout; for other evaluators stratified if the game lists its outcomes, else progressive.",
    )
    selection: Literal["puct", "uct"] = Field(
        "puct", description="Selection rule at decisions. puct uses the evaluator's priors, uct ignores them."
    )
    c: float = Field(1.5, ge=0, description="Exploration constant, for values scaled to 0..1.")
    first_play: Literal["parent", "logits"] | Annotated[float, Field(ge=0, le=1)] = Field(
        "parent",
        description="First-play urgency: value assumed for an action without visits. A number in 0..1, parent for the "
        "current value of the node, or logits for the value of the action by its logit, for evaluators whose logits "
        "are values of actions (value networks). logits requires a closed loop.",
    )
    noise_alpha: float = Field(
        0.0, description="Concentration of the Dirichlet noise on the priors at the root. 0 or less: no noise."
    )
    noise_fraction: float = Field(0.25, ge=0, le=1, description="Share of Dirichlet noise in the priors at the root.")
    temperature: float = Field(
        1.0, ge=0, description="Temperature of result.sample_action. 0 takes the most visited action."
    )
    max_depth: int = Field(200, ge=1, le=10_000, description="Maximum depth of a leaf, in decisions and chance events.")
    in_flight: int = Field(
        1, ge=1, le=4096, description="Maximum number of simulations per tree that wait for the evaluator."
    )
    in_flight_mode: Literal["count", "virtual_loss"] = Field(
        "count",
        description="How a waiting simulation counts in selection. count: as a visit without a value. virtual_loss: as "
        "a lost visit.",
    )
    max_nodes: int = Field(
        10_000_000, ge=2, le=2**31 - 2, description="Node limit of a tree. A full tree ends the search."
    )
    max_evaluations: int | None = Field(
        None,
        ge=1,
        le=2**62,
        description="Maximum number of evaluations. The root needs one, each simulation that reaches a new leaf one "
        "or more. 1 allows no simulation.",
    )
    max_seconds: float | None = Field(
        None, gt=0, description="Time limit in seconds. The number of simulations then varies from run to run."
    )

    @field_validator("chance", mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        return chance_by_name(value)


def chance_of(config: SearchConfig, game: Game, evaluator: Any) -> ChanceConfig:
    """Return the configured chance settings, or the default for this game and evaluator."""
    if config.chance is not None:
        return config.chance
    if isinstance(evaluator, Uniform | Rollout):
        return _DEFAULTS["sampling"]
    return _DEFAULTS["stratified" if game.info.lists_outcomes else "progressive"]


_DEFAULTS = {name: ChanceConfig.preset(name) for name in ("sampling", "stratified", "progressive")}


def largest_visit(chance: ChanceConfig, game: Game) -> int:
    """Return the maximum number of leaves per visit."""
    return max(1, min(chance.exact_up_to, game.info.max_outcomes), chance.samples_per_visit)
