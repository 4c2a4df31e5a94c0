"""What a value network looks like."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from aleazero.settings import Settings


class ValueNetConfig(Settings):
    """A network that values afterstates from features."""

    kind: Literal["mlp", "towers", "torch"] = Field(
        "mlp",
        description="mlp: layers of ReLU. towers: the same layers over each seat's block, and a small joint layer; for "
        "duels decided by score. torch: a residual multilayer perceptron.",
    )
    hidden: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = Field(
        (64, 64), min_length=1, max_length=16, strict=False, description="Widths of the layers of `mlp` and of a tower."
    )
    joint: int = Field(32, ge=1, le=8192, description="Width of the joint layer of `towers`.")
    skip: bool = Field(True, description="A straight line from the features to the outputs beside the layers.")
    sparse: bool = Field(True, description="The first layer passes over features that are 0.")
    phases: int = Field(
        1,
        ge=1,
        le=64,
        description="Networks side by side, of which a row's phase picks one: as many as the game has, or 1 for all.",
    )
    width: int = Field(128, ge=1, le=8192, description="Width of `torch`.")
    blocks: int = Field(2, ge=0, le=64, description="Residual blocks of `torch`, two layers each.")
