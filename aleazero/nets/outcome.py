"""What is learnt of a game: columns of its outcome, whose view they take, and what they are worth to each player.

- ``score``: the score of each player, from the viewer on. A network tells what is still to come; the points so far,
  which are the state's returns, are added to it.
- ``duel``: of two players, whether the viewer wins, from -1 to 1, and where the game counts points, by how many.
- ``seats``: what each of three or more players wins, from the viewer on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.nets.columns import Column, FeatureShape
from aleazero.nets.config import counts_wins

Columns = NDArray[np.float64]
MARGIN: Final = 0.001
"""What a point of margin is worth in play, where one win is 1: it decides between actions that win alike."""
MARGIN_SCALE: Final = 20.0
"""Points that a network's margin moves by where it says 1."""
MARGIN_WEIGHT: Final = 0.2
SPREADS: Final = 16
"""Scores are learnt in units of their whole range over this."""


@dataclass(frozen=True)
class Outcome:
    """The columns that are learnt of one game."""

    kind: Literal["score", "duel", "seats"]
    players: int
    columns: tuple[Column, ...]
    margin: bool = False
    """Whether a duel has a column for its margin."""
    point_unit: float = 1.0
    """Points that 1.0 of the game's ``points`` stands for."""

    @classmethod
    def of(cls, game: Game) -> Outcome:
        """What is learnt of a game."""
        players, features = game.num_players, game.info.features
        if not counts_wins(game):
            column = _score_column(game)
            return cls("score", players, tuple(column.model_copy(update={"name": n}) for n in _seats("score", players)))
        if players > 2:
            return cls("seats", players, tuple(Column(name=name, link="tanh") for name in _seats("win", players)))
        win = Column(name="win", link="tanh")
        if features is None or features.lead is None:
            return cls("duel", players, (win,))
        margin = Column(name="margin", scale=MARGIN_SCALE, delta=MARGIN_SCALE / 2, weight=MARGIN_WEIGHT)
        return cls("duel", players, (win, margin), margin=True, point_unit=features.point_unit)

    def by_player(self, columns: Columns, viewers: NDArray[np.int64]) -> Columns:
        """Columns as the viewers see them, turned to how player 0 (or all, from player 0 on) would."""
        if self.kind == "duel":
            turned: Columns = np.where(viewers[:, None] == 0, columns, -columns)
            return turned
        return _rolled(columns, -viewers)

    def by_viewer(self, columns: Columns, viewers: NDArray[np.int64]) -> Columns:
        """The other way round."""
        return self.by_player(columns, viewers) if self.kind == "duel" else _rolled(columns, viewers)

    def at_end(self, returns: Columns, points: Columns) -> Columns:
        """Columns of states that have ended, by player."""
        if self.kind != "duel":
            return returns
        won = returns[:, :1]
        return np.concatenate((won, self.lead(points)), axis=1) if self.margin else won

    def lead(self, points: Columns) -> Columns:
        """By how many points player 0 leads (rows, 1)."""
        return (points[:, :1] - points[:, 1:2]) * self.point_unit

    def worth(self, columns: Columns, margin_weight: float) -> Columns:
        """What columns by player are worth to each player (rows, players)."""
        if self.kind != "duel":
            return columns
        value = columns[:, 0] + margin_weight * columns[:, 1] if self.margin else columns[:, 0]
        return np.stack((value, -value), axis=1)


def feature_shape(game: Game) -> FeatureShape:
    """The shape of what a value between turns looks at."""
    features, players = game.info.features, game.num_players
    if features is None:
        return FeatureShape(features=game.observation_size)
    return FeatureShape(
        features=features.size(players),
        block=features.block,
        seats=players,
        common=features.common,
        lead=features.lead,
        lead_unit=features.lead_unit,
    )


def feature_schema(game: Game) -> str:
    """The name of their layout."""
    return game.info.observation_schema if game.info.features is None else game.info.features.schema


def require_kernel(game: Game) -> KernelGame:
    """Refuse a game whose rules do not compile."""
    if not isinstance(game, KernelGame):
        raise ConfigError(f"{game.name} is an object game: expected a kernel game, or recipe alphazero")
    return game


def _seats(name: str, players: int) -> list[str]:
    return [name] if players == 1 else [f"{name}_{seat}" for seat in range(players)]


def _score_column(game: Game) -> Column:
    if game.info.utility is None:
        raise ConfigError(
            f"{game.name} has no bounds of its returns, expected GameInfo(utility=(lowest, highest)), of which scores "
            "are learnt in shares, or recipe alphazero"
        )
    low, high = game.info.utility
    return Column(name="score", scale=(high - low) / SPREADS, delta=(high - low) / SPREADS / 2)


def _rolled(columns: Columns, shift: NDArray[np.int64]) -> Columns:
    players = columns.shape[1]
    seats = (np.arange(players)[None, :] + shift[:, None]) % players
    turned: Columns = np.take_along_axis(columns, seats, axis=1)
    return turned
