"""Settings and shapes of networks: size, heads and scale of values."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from aleazero.games.base import Game
from aleazero.settings import Settings

EPSILON = 1e-5
"""Epsilon of layer normalization, as in torch."""


class NetConfig(Settings):
    """A policy-value network: a residual multilayer perceptron with one output layer for all heads."""

    width: int = Field(128, ge=1, le=8192, description="Width of every hidden layer.")
    blocks: int = Field(2, ge=0, le=64, description="Number of residual blocks, with two layers each.")
    layer_norm: bool = Field(True, description="Normalize the input of each block with layer normalization.")
    afterstates: bool = Field(
        True, description="Add a value head for chance nodes, so that a search can evaluate afterstates."
    )
    margin: bool = Field(
        False,
        description="Add a head for the final score of each seat. The margin is a less noisy target than the winner.",
    )


class ValueNetConfig(Settings):
    """A network that estimates the value of afterstates from features."""

    kind: Literal["mlp", "towers", "torch"] = Field(
        "mlp",
        description="Architecture. mlp: fully connected ReLU layers. towers: the same layers applied to the features "
        "of each seat, then a small joint layer, for two-player games decided by score. torch: a residual multilayer "
        "perceptron in torch.",
    )
    hidden: tuple[Annotated[int, Field(ge=1, le=8192)], ...] = Field(
        (64, 64), min_length=1, max_length=16, strict=False, description="Widths of the layers of `mlp` or of a tower."
    )
    joint: int = Field(32, ge=1, le=8192, description="Width of the joint layer of `towers`.")
    skip: bool = Field(True, description="Add a linear connection from the features to the outputs.")
    sparse: bool = Field(True, description="Skip features that are 0 in the first layer, for speed.")
    phases: int = Field(
        1,
        ge=1,
        le=64,
        description="Number of networks, one per phase of the game: the number of phases, or 1 to share one network.",
    )
    width: int = Field(128, ge=1, le=8192, description="Width of the hidden layers of `torch`.")
    blocks: int = Field(2, ge=0, le=64, description="Number of residual blocks of `torch`, with two layers each.")


class ValueScale(Settings):
    """Maps the outputs of the value head to returns.

    ``win``: tanh, scaled to the range of wins and losses. With two players the values sum to zero.
    ``score``: shift + scale · x. The map is linear because the expectation of a nonlinear map is not the map of the
    expectation.
    """

    kind: Literal["win", "score"] = "win"
    shift: float = Field(0.0)
    scale: float = Field(1.0, gt=0)
    margin: float = Field(0.0, ge=0, le=1)
    """With ``win``: weight of tanh(margin / spread) in a value. The margin is the predicted final score minus the mean
    of the others."""
    spread: float = Field(1.0, gt=0)


class NetShape(Settings):
    """Input and output sizes of a network for a game."""

    observation: int
    actions: int
    players: int

    @classmethod
    def of(cls, game: Game) -> NetShape:
        """Return the sizes for this game."""
        return cls(observation=game.observation_size, actions=game.num_actions, players=game.num_players)


def num_outputs(shape: NetShape, config: NetConfig) -> int:
    """Return the size of the output layer: logits, then values, afterstate values and scores by seat."""
    return shape.actions + shape.players * (1 + config.afterstates + config.margin)


def residual_shapes(inputs: int, width: int, blocks: int, layer_norm: bool, outputs: int) -> dict[str, tuple[int, ...]]:
    """Return the weight shapes of a residual multilayer perceptron, (outputs, inputs), by torch parameter name."""
    found: dict[str, tuple[int, ...]] = {
        "input.weight": (width, inputs),
        "input.bias": (width,),
        "heads.weight": (outputs, width),
        "heads.bias": (outputs,),
    }
    for b in range(blocks):
        for layer in ("first", "second"):
            found[f"blocks.{b}.{layer}.weight"] = (width, width)
            found[f"blocks.{b}.{layer}.bias"] = (width,)
    if layer_norm:
        for norm in (*(f"blocks.{b}.norm" for b in range(blocks)), "norm"):
            found[f"{norm}.weight"] = found[f"{norm}.bias"] = (width,)
    return found
