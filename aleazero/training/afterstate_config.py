"""Settings of the recipe ``afterstate``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from aleazero.games.base import Game
from aleazero.nets.config import counts_wins
from aleazero.nets.outcome import MARGIN
from aleazero.nets.value_config import ValueNetConfig
from aleazero.settings import Settings


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
    shards: int = Field(4, ge=1, description="Parts of the lanes that are played side by side; bits depend on it.")
    lanes: int = Field(64, ge=1, description="Games of each shard.")
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


def default_net(game: Game) -> ValueNetConfig:
    """What suits a game: towers where a duel is decided by points, else a small perceptron; one for each phase."""
    features, phases = game.info.features, len(game.info.phases)
    if counts_wins(game) and features is not None and features.lead is not None:
        return ValueNetConfig(kind="towers", hidden=(128, 128), phases=phases)
    return ValueNetConfig(phases=phases)
