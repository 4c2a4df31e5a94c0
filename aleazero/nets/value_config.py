"""What a value network looks like."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from aleazero.search.config import Settings


class ValueNetConfig(Settings):
    """A network that values afterstates from features.

    ``mlp``: layers of ReLU. ``towers``: the same layers over each seat's block, and a small joint layer; for duels
    decided by score. ``torch``: a residual multilayer perceptron.
    """

    kind: Literal["mlp", "towers", "torch"] = "mlp"
    hidden: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = Field(
        (64, 64), min_length=1, max_length=16, strict=False
    )
    """Widths of the layers of ``mlp`` and of a tower."""
    joint: int = Field(32, ge=1, le=8192)
    """Width of the joint layer of ``towers``."""
    skip: bool = True
    """A straight line from the features to the outputs beside the layers."""
    sparse: bool = True
    """The first layer passes over features that are 0."""
    phases: int = Field(1, ge=1, le=64)
    """Networks side by side, of which a row's phase picks one: as many as the game has, or 1 for all of it."""
    width: int = Field(128, ge=1, le=8192)
    """Width of ``torch``."""
    blocks: int = Field(2, ge=0, le=64)
    """Residual blocks of ``torch``, two layers each."""
