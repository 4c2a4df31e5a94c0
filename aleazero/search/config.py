"""Settings of a search: one frozen class, with the ways to treat chance nested in it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aleazero.errors import ConfigError, nearest


class Settings(BaseModel):
    """A frozen group of settings; what it cannot accept becomes a ConfigError that says what was expected."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigError(self._explain(error)) from None

    @classmethod
    def _explain(cls, error: ValidationError) -> str:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or cls.__name__
        if first["type"] == "extra_forbidden":
            return f"{cls.__name__}: no setting {name!r}, {nearest(name, cls.model_fields)}"
        expected = first["msg"].replace("Input should be ", "").replace("Value error, ", "")
        return f"{cls.__name__}: {name} is {first['input']!r}, expected {expected}"


class ChanceConfig(Settings):
    """How the search treats chance."""

    loop: Literal["closed", "open"] = Field(
        "closed",
        description="closed: a child for each outcome. open: outcomes share statistics, and the search converges "
        "to the best plan that is blind to them.",
    )
    pick: Literal["sample"] = Field("sample", description="sample: outcomes are drawn from the true distribution.")


class SearchConfig(Settings):
    """How much to search, and how to choose on the way."""

    num_simulations: int = Field(256, ge=1, le=2**31 - 2, description="Descents from the root.")
    seed: int = Field(0, ge=0, lt=2**64, description="Seed of the search's own luck; never that of the played game.")
    chance: ChanceConfig = Field(default_factory=ChanceConfig, description="How chance is treated.")
    selection: Literal["puct", "uct"] = Field(
        "puct", description="puct follows the evaluator's priors; uct ignores them and counts visits."
    )
    c: float = Field(1.5, ge=0, description="Weight of exploration, with values scaled to 0..1.")
    first_play: Literal["parent"] | float = Field(
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
    max_evaluations: int | None = Field(None, ge=1, description="Stop after this many leaf evaluations.")
    max_seconds: float | None = Field(
        None, gt=0, description="Stop after this time: a prefix of the same search, not repeatable."
    )
