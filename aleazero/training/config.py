"""Settings of training: of both recipes, and those that suit a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from aleazero.games.base import Game, counts_wins
from aleazero.games.kernel import KernelGame
from aleazero.nets.config import NetConfig, ValueNetConfig
from aleazero.nets.outcome import MARGIN
from aleazero.nets.tables import has_board
from aleazero.settings import Settings

TUPLES: Final = "tuples"
"""The ``kind`` of network that stands for tables."""
FEW_LANES: Final = {"lane_groups": 2, "lanes": 8}
"""Defaults of object games, whose turns take so long that each is better learned from more often."""


class TrainConfig(Settings):
    """How a network is fitted to samples."""

    net: NetConfig = Field(default_factory=NetConfig, description="Of a network that starts from nothing.")
    steps: int = Field(1000, ge=1, description="Batches of one fit.")
    batch_size: int = Field(512, ge=1, description="Samples of a batch.")
    window: int = Field(500_000, ge=1, description="Newest samples that are used; they are held in memory.")
    learning_rate: float = Field(1e-3, gt=0, description="Of AdamW, after the warm-up.")
    schedule: Literal["constant", "cosine"] = Field("cosine", description="After the warm-up, over the steps of a fit.")
    warmup: int = Field(50, ge=0, description="Steps in which the learning rate rises from 0.")
    final_rate: float = Field(0.1, ge=0, le=1, description="Share of the learning rate at the end of the cosine.")
    weight_decay: float = Field(1e-4, ge=0, description="Of AdamW, for the matrices.")
    clip: float = Field(1.0, gt=0, description="Largest norm of a gradient.")
    ema: float = Field(0.995, ge=0, lt=1, description="Of the averaged weights, which play; 0 plays the newest.")
    value_target: Literal["outcome", "root", "mix", "td", "expectation", "exact"] = Field(
        "td", description="See training.targets; exact asks an oracle."
    )
    mix: float = Field(0.5, ge=0, le=1, description="Share of the search's value in `mix`.")
    td_lambda: float = Field(0.9, ge=0, le=1, description="Of `td`, also where `exact` falls back to it.")
    policy_weight: float = Field(1.0, ge=0, description="Of the policy in the loss.")
    value_weight: float = Field(1.0, ge=0, description="Of the values in the loss.")
    margin_weight: float = Field(1.0, ge=0, description="Of the final scores, where the network has that head.")
    margin_share: float = Field(
        0.5, ge=0, le=1, description="Share of the expected margin in the values of a new network with that head."
    )
    optimizer: Literal["fresh", "kept"] = Field(
        "kept", description="Whether moments of the optimizer are kept or start fresh when a fit continues a network."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Of the first weights and of the order of samples.")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "cpu", description="Where torch computes; auto: an accelerator where there is one."
    )
    threads: int = Field(1, ge=1, description="Of torch on the processor; the bits of a result depend on it.")


class AfterstateConfig(Settings):
    """How values between turns are learnt. Rates fall in a straight line, from the share ``hold`` of all rounds on."""

    net: ValueNetConfig = Field(default_factory=ValueNetConfig, description="The network, as suits the game.")
    target: Literal["turn", "lambda", "td"] = Field(
        "turn",
        description="`turn`: the exact expectation of the turn; `td`: the value of where it came to; `lambda`: those, "
        "mixed backwards from the end of the game.",
    )
    plies: int | None = Field(None, ge=1, description="Plan so many chance events instead of the whole turn.")
    rounds: int = Field(10_000, ge=1, description="In each, every lane plays a turn.")
    lane_groups: int = Field(4, ge=1, description="Groups of lanes that are played in parallel; bits depend on it.")
    lanes: int = Field(64, ge=1, description="Games of each group of lanes.")
    explore: float = Field(0.1, ge=0, le=1, description="Share of turns whose actions are random.")
    replay: int = Field(20_000, ge=0, description="Newest samples to learn from; 0: only those of the round.")
    updates: int = Field(3, ge=1, description="Steps of a round.")
    batch_size: int = Field(1024, ge=1, description="Samples of a step.")
    learning_rate: float = Field(4e-3, gt=0, le=1, description="Of Adam, at the start.")
    final_rate: float = Field(0.02, ge=0, le=1, description="Share of the learning rate at the end.")
    hold: float = Field(0.1, ge=0, lt=1, description="Share of the rounds before anything falls.")
    ema: float = Field(0.995, ge=0, lt=1, description="Of the averaged weights, which play and teach.")
    clip: float = Field(0.0, ge=0, description="Longest gradient; 0: any.")
    td_lambda: float = Field(0.7, ge=0, le=1, description="Of `lambda`, at the start.")
    final_lambda: float = Field(0.7, ge=0, le=1, description="Of `lambda`, at the end.")
    margin: float = Field(0.06, ge=0, description="What a point of margin is worth at the start, where one win is 1.")
    final_margin: float = Field(MARGIN, ge=0, description="And from the middle on.")
    seed: int = Field(0, ge=0, lt=2**63, description="Of the first weights, the luck and all that is random.")


class TableNetConfig(Settings):
    """What stands for the network if tables learn: their shape is the game's."""

    kind: Literal["tuples"] = Field(TUPLES, description="Tables over tuples of a board's cells.")


class TupleConfig(Settings):
    """How tables learn."""

    net: TableNetConfig = Field(
        default_factory=TableNetConfig, exclude=True, description="Names tables in place of a network."
    )
    rounds: int = Field(50_000, ge=1, description="In each, every lane makes some moves, and then there is a lesson.")
    lanes: int = Field(256, ge=1, description="Games under way at a time.")
    moves: int = Field(8, ge=1, le=1024, description="Moves of each between one lesson and the next.")
    horizon: int = Field(5, ge=1, le=64, description="Moves after which an afterstate is learned.")
    td_lambda: float = Field(0.8, ge=0, le=1, description="Weight of later moves within the horizon.")
    seed: int = Field(0, ge=0, lt=2**63, description="Of the luck.")


def config_for(game: Game, given: Mapping[str, Any], net: Mapping[str, Any]) -> AfterstateConfig | TupleConfig:
    """Return the settings that suit the game, with those that are given; ``net`` holds settings of the network.

    Tables over tuples of cells learn a game with a board, unless ``net`` names another kind.
    """
    if (net.get("kind", TUPLES) if has_board(game) else net.get("kind")) == TUPLES:
        return TupleConfig(**given, net=net)  # type: ignore[arg-type]
    few = {} if isinstance(game, KernelGame) else FEW_LANES
    return AfterstateConfig(net={**default_net(game).model_dump(), **net}, **{**few, **given})  # type: ignore[arg-type]


def default_net(game: Game) -> ValueNetConfig:
    """What suits a game: towers where a duel is decided by points, else a small perceptron; one for each phase."""
    features, phases = game.info.features, len(game.info.phases)
    if counts_wins(game) and features is not None and features.lead is not None:
        return ValueNetConfig(kind="towers", hidden=(128, 128), phases=phases)
    return ValueNetConfig(phases=phases)
