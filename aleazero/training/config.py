"""Settings of both training recipes, and their defaults for a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from aleazero.games.base import Game, counts_wins
from aleazero.games.kernel import KernelGame
from aleazero.games.kit import kit_of
from aleazero.nets.config import NetConfig, ValueNetConfig
from aleazero.nets.outcome import MARGIN
from aleazero.nets.tables import has_board
from aleazero.settings import Settings

TUPLES: Final = "tuples"
"""The value of ``net.kind`` that selects n-tuple tables."""
FEW_LANES: Final = {"lane_groups": 2, "lanes": 8}
"""Defaults for object games. Their turns are slow to play, so each one is used for more training steps."""


class TrainConfig(Settings):
    """Settings of one fit of a policy-value network to samples, for the recipe ``alphazero``."""

    net: NetConfig = Field(default_factory=NetConfig, description="Architecture of a network trained from scratch.")
    steps: int = Field(1000, ge=1, description="Number of training steps per fit, with one batch each.")
    batch_size: int = Field(512, ge=1, description="Number of samples per training step.")
    window: int = Field(500_000, ge=1, description="Number of newest samples to train on. They are held in memory.")
    learning_rate: float = Field(1e-3, gt=0, description="Learning rate of AdamW after the warm-up.")
    schedule: Literal["constant", "cosine"] = Field(
        "cosine", description="Learning-rate schedule of a fit after the warm-up."
    )
    warmup: int = Field(50, ge=0, description="Number of steps in which the learning rate rises from 0.")
    final_rate: float = Field(
        0.1, ge=0, le=1, description="Final learning rate of the cosine schedule, as a fraction of `learning_rate`."
    )
    weight_decay: float = Field(1e-4, ge=0, description="Weight decay of AdamW. Biases and norms are not decayed.")
    clip: float = Field(1.0, gt=0, description="Maximum gradient norm.")
    ema: float = Field(
        0.995, ge=0, lt=1, description="Decay of the weight average used for play; 0 uses the latest weights."
    )
    value_target: Literal["outcome", "root", "mix", "td", "expectation", "exact", "mismatch"] = Field(
        "td",
        description="Value target. outcome: final return. root: search value. mix: mean of both. td: TD(λ) over search "
        "values. expectation: search value of the afterstate. exact: value of an oracle, or td if it has none. "
        "mismatch: for measurements only, the oracle's value before the last chance event, which is wrong for "
        "decisions.",
    )
    mix: float = Field(0.5, ge=0, le=1, description="Weight of the search value in the value target `mix`.")
    td_lambda: float = Field(0.9, ge=0, le=1, description="Lambda of the value target `td`.")
    policy_weight: float = Field(1.0, ge=0, description="Weight of the policy loss.")
    value_weight: float = Field(1.0, ge=0, description="Weight of the value loss.")
    margin_weight: float = Field(1.0, ge=0, description="Weight of the loss of final scores, if `net.margin` is on.")
    margin_share: float = Field(
        0.5, ge=0, le=1, description="Weight of the predicted margin in values, if `net.margin` is on."
    )
    optimizer: Literal["fresh", "kept"] = Field(
        "kept", description="Keep or reset the moments of the optimizer when a fit continues from a network."
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the initial weights and of the order of samples.")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "cpu", description="Torch device. auto: an accelerator if there is one, else the CPU."
    )
    threads: int = Field(1, ge=1, description="Number of CPU threads of torch. Results depend on it.")


class AfterstateConfig(Settings):
    """Settings of value learning between turns, for the recipe ``afterstate``.

    Scheduled settings keep their initial value for the fraction ``hold`` of training and then change linearly.
    """

    net: ValueNetConfig = Field(
        default_factory=ValueNetConfig, description="Architecture of the network. Defaults depend on the game."
    )
    target: Literal["turn", "lambda", "td"] = Field(
        "turn",
        description="Training target of a turn's start. turn: its exact expected value. td: the value of the state at "
        "the end of the turn. lambda: TD(λ) over the turns of a game.",
    )
    plies: int | None = Field(
        None,
        ge=0,
        description="Number of chance events to plan ahead; default: the complete turn. 0: sample the chance event and "
        "plan only the decisions that follow, up to the next one or to the end of the turn.",
    )
    rounds: int = Field(
        10_000,
        ge=1,
        description="Number of training rounds. In each round every game in progress (lane) plays one turn.",
    )
    lane_groups: int = Field(
        4, ge=1, description="Number of groups of lanes, which are played in parallel. Results depend on it."
    )
    lanes: int = Field(64, ge=1, description="Number of lanes per group. A lane is one game in progress.")
    explore: float = Field(0.1, ge=0, le=1, description="Fraction of turns that are played with random actions.")
    warmup: int = Field(
        0,
        ge=0,
        description="Number of first rounds with at least 30 % random turns and lambda 1. Their targets are final "
        "results, also of games with random turns. It helps if games of an untrained network are extremely long.",
    )
    replay: int = Field(
        20_000, ge=0, description="Number of newest samples to train on; 0 uses the samples of the round only."
    )
    updates: int = Field(3, ge=1, description="Number of training steps per round.")
    batch_size: int = Field(1024, ge=1, description="Number of samples per training step.")
    learning_rate: float = Field(4e-3, gt=0, le=1, description="Initial learning rate of Adam.")
    final_rate: float = Field(0.02, ge=0, le=1, description="Final learning rate, as a fraction of `learning_rate`.")
    hold: float = Field(
        0.1, ge=0, lt=1, description="Fraction of training before learning rate, lambda and margin start to change."
    )
    ema: float = Field(0.995, ge=0, lt=1, description="Decay of the weight average used for play and targets.")
    clip: float = Field(0.0, ge=0, description="Maximum gradient norm; 0 disables clipping.")
    td_lambda: float = Field(0.7, ge=0, le=1, description="Initial lambda of the target `lambda`.")
    final_lambda: float = Field(0.7, ge=0, le=1, description="Final lambda of the target `lambda`.")
    margin: float = Field(0.06, ge=0, description="Initial weight of one point of margin in values; a win is worth 1.")
    final_margin: float = Field(
        MARGIN, ge=0, description="Weight of one point of margin in the second half of training; a win is worth 1."
    )
    exact: bool = Field(
        False,
        description="Use exact values in place of those of the network for states between turns that have them, e.g. "
        "in a bear-off table. They are targets, too.",
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the initial weights, the games and the samples.")


class TableNetConfig(Settings):
    """Selects n-tuple tables in place of a network. The game defines their shape."""

    kind: Literal["tuples"] = Field(TUPLES, description="Use n-tuple tables in place of a network.")


class TupleConfig(Settings):
    """Settings of TD learning of n-tuple tables."""

    net: TableNetConfig = Field(
        default_factory=TableNetConfig, exclude=True, description="Selects n-tuple tables in place of a network."
    )
    rounds: int = Field(
        50_000,
        ge=1,
        description="Number of training rounds. In each, every game in progress makes `moves` moves, then the tables "
        "are updated.",
    )
    lanes: int = Field(256, ge=1, description="Number of games that are played at the same time.")
    moves: int = Field(8, ge=1, le=1024, description="Number of moves per lane and round.")
    horizon: int = Field(5, ge=1, le=64, description="Number of later moves that the target of an afterstate includes.")
    td_lambda: float = Field(0.8, ge=0, le=1, description="Lambda of TD(λ) within the horizon.")
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the game dice.")


def config_for(game: Game, given: Mapping[str, Any], net: Mapping[str, Any]) -> AfterstateConfig | TupleConfig:
    """Return the settings for a game: ``given``, with ``net`` for the network and game-specific defaults.

    Games with a board use n-tuple tables unless ``net`` selects another kind.
    """
    if (net.get("kind", TUPLES) if has_board(game) else net.get("kind")) == TUPLES:
        return TupleConfig(**given, net=net)  # type: ignore[arg-type]
    own = dict(kit_of(game).afterstate)
    net = {**default_net(game).model_dump(), **own.pop("net", {}), **net}
    few = {} if isinstance(game, KernelGame) else FEW_LANES
    return AfterstateConfig(net=net, **{**few, **own, **given})  # type: ignore[arg-type]


def default_net(game: Game) -> ValueNetConfig:
    """Return the default network of a game: towers if points decide a two-player game, else a small perceptron."""
    features, phases = game.info.features, len(game.info.phases)
    if counts_wins(game) and features is not None and features.lead is not None:
        return ValueNetConfig(kind="towers", hidden=(128, 128), phases=phases)
    return ValueNetConfig(phases=phases)
