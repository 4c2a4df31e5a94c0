"""The recipe ``afterstate`` for any game: which settings suit it, and who learns by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.nets.tables import has_board
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.afterstate_config import AfterstateConfig, default_net
from aleazero.training.tuple_learning import TupleConfig, TupleLearner

TUPLES = "tuples"
FEW_LANES: Final = {"shards": 2, "lanes": 8}
"""Of object games, whose turns take so long that each is better learnt from more often."""


def make_config(game: Game, given: Mapping[str, Any], net: Mapping[str, Any]) -> AfterstateConfig | TupleConfig:
    """What suits the game, and what is given; ``net`` holds settings of the network.

    A board is learnt by tables over tuples of its cells, unless a network is asked for.
    """
    if (net.get("kind", TUPLES) if has_board(game) else net.get("kind")) == TUPLES:
        return TupleConfig(**given, **{f"net.{name}": value for name, value in net.items() if name != "kind"})
    few = {} if isinstance(game, KernelGame) else FEW_LANES
    return AfterstateConfig(net={**default_net(game).model_dump(), **net}, **{**few, **given})  # type: ignore[arg-type]


def make_learner(
    game: Game, config: AfterstateConfig | TupleConfig, threads: int = 1
) -> AfterstateLearner | TupleLearner:
    """Who learns by these settings."""
    if isinstance(config, TupleConfig):
        return TupleLearner(game, config, threads=threads)
    return AfterstateLearner(game, config, threads)
