"""Settings and shapes of networks: size, heads and scale of values."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from aleazero.games.base import Game
from aleazero.settings import Settings

EPSILON = 1e-5
"""Of the layer norm, as in torch."""


class NetConfig(Settings):
    """A residual multilayer perceptron: an input layer, ``blocks`` of two layers each, and one layer of heads."""

    width: int = Field(128, ge=1, le=8192, description="Of every layer.")
    blocks: int = Field(2, ge=0, le=64, description="Residual blocks of two layers each.")
    layer_norm: bool = Field(True, description="Whether a block's input is normalised.")
    afterstates: bool = Field(
        True, description="A head of its own for the value of chance nodes, so that the search may ask there."
    )
    margin: bool = Field(
        False,
        description="A head for the final scores by seat: who won is a noisy teacher, by how much a better one.",
    )


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


class ValueScale(Settings):
    """From what the value head says to returns.

    ``win``: tanh, stretched to the range of wins and losses; of two players, what one wins the other loses. ``score``:
    shift + scale · x, a straight line, because the mean of a bent scale is not the mean.
    """

    kind: Literal["win", "score"] = "win"
    shift: float = Field(0.0)
    scale: float = Field(1.0, gt=0)
    margin: float = Field(0.0, ge=0, le=1)
    """With ``win``: the share of tanh(margin / spread) in a value, where the margin is what the head of final scores
    says one is ahead of the others on average."""
    spread: float = Field(1.0, gt=0)


class NetShape(Settings):
    """The sizes that a game gives to a network."""

    observation: int
    actions: int
    players: int

    @classmethod
    def of(cls, game: Game) -> NetShape:
        """The sizes of this game."""
        return cls(observation=game.observation_size, actions=game.num_actions, players=game.num_players)


def num_outputs(shape: NetShape, config: NetConfig) -> int:
    """The columns of the layer of heads: logits, values by seat, afterstate values by seat, scores by seat."""
    return shape.actions + shape.players * (1 + config.afterstates + config.margin)


def residual_shapes(inputs: int, width: int, blocks: int, layer_norm: bool, outputs: int) -> dict[str, tuple[int, ...]]:
    """Every weight of a residual multilayer perceptron, by name: the names of torch's modules, rows are outputs."""
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
