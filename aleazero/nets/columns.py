"""What a value network tells, and what it is told: columns of the outcome, and the shape of a row of features."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from aleazero.settings import Settings, clash

MOST_FEATURES: Final = 2**24
"""Most features of a row: a file that names more is damaged."""


class Column(Settings):
    """One number of the outcome, made from what the network says (z), and how far off it is (the loss).

    ``tanh``: tanh(z), in -1 to 1; the loss is the binary cross-entropy of the logit 2z against (y + 1) / 2, where y may
    be an expectation. ``sigmoid``: 1 / (1 + exp(-z)), a chance; the loss is the binary cross-entropy of the logit z
    against y. ``linear``: scale · z; the loss is huber(scale · z - y) / scale. All times ``weight``.
    """

    name: str = Field(min_length=1)
    link: Literal["tanh", "sigmoid", "linear"] = "linear"
    scale: float = Field(1.0, gt=0)
    """Of a linear column: units of the column in 1 of z. The others have none."""
    weight: float = Field(1.0, ge=0)
    delta: float = Field(1.0, gt=0)
    """Of a linear column: where Huber's loss turns from a square to a line, in units of the column."""


_LINKS: Final = {"linear": 0, "tanh": 1, "sigmoid": 2}


def as_table(columns: tuple[Column, ...]) -> NDArray[np.float32]:
    """The columns as the kernels read them: link by number, scale, weight, delta."""
    rows = [(_LINKS[column.link], column.scale, column.weight, column.delta) for column in columns]
    return np.array(rows, np.float32).reshape(len(rows), 4)


class FeatureShape(Settings):
    """A row of features: one block for each seat, the viewer's first, then what they have in common."""

    features: int = Field(ge=1, le=MOST_FEATURES)
    block: int = Field(0, ge=0, le=MOST_FEATURES)
    """Features of one seat; 0: the row is not made of blocks."""
    seats: int = Field(0, ge=0, le=MOST_FEATURES)
    common: int = Field(0, ge=0, le=MOST_FEATURES)
    lead: int | None = Field(None, ge=0)
    """Which of the common features tells by how much the viewer leads."""
    lead_unit: float = Field(1.0, gt=0)
    """Points that 1.0 of that feature stands for."""

    @model_validator(mode="after")
    def _adds_up(self) -> FeatureShape:
        if (self.block or self.seats) and self.block * self.seats + self.common != self.features:
            parts = f"{self.seats} blocks of {self.block} and {self.common} in common"
            raise clash(f"{parts}, expected {self.features} in all")
        if self.lead is not None and self.lead >= self.common:
            raise clash(f"is {self.lead}, expected one of {self.common} common features", "lead")
        return self
