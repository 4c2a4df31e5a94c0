"""The outputs of value networks: columns that describe the final result of a game, and their value to each player.

- ``score``: the final score of each player, starting with the viewer. The network predicts the points still to come;
  the points so far, which are the returns of the state, are added to them.
- ``two_player``: the win of the viewer, from -1 to 1 (a draw is 0). If the game counts points, a second column is the
  margin. If a win can count several points, further columns are the probabilities to win at least 2, 3, ... points and
  to lose at least 2, 3, ... points.
- ``seats``: the win of each of three or more players, starting with the viewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from aleazero.errors import ConfigError, ContractError
from aleazero.games.base import Game, counts_wins
from aleazero.settings import Settings, clash

Columns = NDArray[np.float64]
MARGIN: Final = 0.001
"""Value of one point of margin in play; a win is worth 1. It breaks ties between actions that win equally often."""
MARGIN_SCALE: Final = 20.0
"""Points of margin per unit of network output."""
MARGIN_WEIGHT: Final = 0.2
SPREADS: Final = 16
"""One unit of network output is the range of the scores divided by this."""
MOST_FEATURES: Final = 2**24
"""Maximum number of features of a row. A file with more is treated as damaged."""
_LINKS: Final = {"linear": 0, "tanh": 1, "sigmoid": 2}


@dataclass(frozen=True)
class Outcome:
    """The columns of a value network for one game."""

    kind: Literal["score", "two_player", "seats"]
    players: int
    columns: tuple[Column, ...]
    margin: bool = False
    """Whether a two-player game has a margin column."""
    point_unit: float = 1.0
    """Points per unit of the game's ``points``."""
    levels: int = 1
    """Maximum number of points of a win. If it is above 1, there is a column per number from 2 on, for wins of the
    viewer and then for wins of the opponent."""

    @classmethod
    def of(cls, game: Game) -> Outcome:
        """Return the columns for a game."""
        players, features = game.num_players, game.info.features
        win = Column(name="win", link="tanh")
        if game.info.levels > 1:
            names = [f"{side}_{points}" for side in ("win", "lose") for points in range(2, game.info.levels + 1)]
            chances = (Column(name=name, link="sigmoid") for name in names)
            return cls("two_player", players, (win, *chances), levels=game.info.levels)
        if not counts_wins(game):
            column = _score_column(game)
            return cls("score", players, tuple(column.model_copy(update={"name": n}) for n in _seats("score", players)))
        if players > 2:
            return cls("seats", players, tuple(Column(name=name, link="tanh") for name in _seats("win", players)))
        if features is None or features.lead is None:
            return cls("two_player", players, (win,))
        margin = Column(name="margin", scale=MARGIN_SCALE, delta=MARGIN_SCALE / 2, weight=MARGIN_WEIGHT)
        return cls("two_player", players, (win, margin), margin=True, point_unit=features.point_unit)

    def by_player(self, columns: Columns, viewers: NDArray[np.int64]) -> Columns:
        """Convert columns from the point of view of each row's viewer to that of player 0."""
        if self.kind == "two_player":
            turned: Columns = np.where(viewers[:, None] == 0, columns, self._other_side(columns))
            return turned
        return _rolled(columns, -viewers)

    def by_viewer(self, columns: Columns, viewers: NDArray[np.int64]) -> Columns:
        """Convert columns from the point of view of player 0 to that of each row's viewer."""
        return self.by_player(columns, viewers) if self.kind == "two_player" else _rolled(columns, viewers)

    def _other_side(self, columns: Columns) -> Columns:
        """Convert columns of a two-player game to the point of view of the other player."""
        if self.levels == 1:
            return -columns
        others = np.arange(1, self.levels)
        turned: Columns = columns[:, np.concatenate(([0], others + self.levels - 1, others))]
        turned[:, 0] *= -1.0
        return turned

    def describe(self, columns: Columns, player: int) -> dict[str, Columns]:
        """Return what columns mean to a player, by name, each of shape (rows,); empty for scores.

        Args:
            columns: (rows, columns) from the point of view of player 0.
            player: the player.

        Returns:
            ``win``, the win probability, where a draw of n players counts 1/n; ``margin``, the margin in points, if the
            game has one; ``win_2``, ``lose_2``, …, the probabilities to win or lose at least this many points.
        """
        if self.kind == "score":
            return {}
        seen = self.by_viewer(columns, np.full(len(columns), player, np.int64))
        wins = (seen[:, 0] * (self.players - 1) + 1.0) / self.players
        others = {column.name: seen[:, k] for k, column in enumerate(self.columns) if k > 0}
        return {"win": wins, **(others if self.kind == "two_player" else {})}

    def at_end(self, returns: Columns, points: Columns) -> Columns:
        """Return the columns of terminal states from the point of view of player 0."""
        if self.kind != "two_player":
            return returns
        won = returns[:, :1]
        if self.levels > 1:
            if (won % 1 != 0).any() or (abs(won) > self.levels).any():
                raise ContractError(f"a game ended with {won.ravel()}, expected integer points up to {self.levels}")
            most = np.arange(2, self.levels + 1)
            return np.concatenate((np.sign(won), won >= most, -won >= most), axis=1)
        return np.concatenate((won, self.lead(points)), axis=1) if self.margin else won

    def lead(self, points: Columns) -> Columns:
        """Return the lead of player 0 in points, shape (rows, 1)."""
        return (points[:, :1] - points[:, 1:2]) * self.point_unit

    def values_by_player(self, columns: Columns, margin_weight: float) -> Columns:
        """Return the value of columns to each player, shape (rows, players)."""
        if self.kind != "two_player":
            return columns
        value = columns[:, 0] + (columns[:, 1:] * self.weights(margin_weight)).sum(axis=1)
        return np.stack((value, -value), axis=1)

    def weights(self, margin_weight: float) -> Columns:
        """Return the value of every column of a two-player game after the first, for player 0."""
        if self.margin:
            return np.array([margin_weight])
        return np.repeat([1.0, -1.0], self.levels - 1)


class Column(Settings):
    """One output column: how it is computed from the network output z, and its loss for a target y.

    - ``tanh``: tanh(z), from -1 to 1. The loss is the binary cross-entropy of the logit 2z against (y + 1) / 2, where y
      may be an expectation.
    - ``sigmoid``: 1 / (1 + exp(-z)), a probability. The loss is the binary cross-entropy of the logit z against y.
    - ``linear``: scale · z. The loss is huber(scale · z - y) / scale.

    Each loss is multiplied by ``weight``.
    """

    name: str = Field(min_length=1)
    link: Literal["tanh", "sigmoid", "linear"] = "linear"
    scale: float = Field(1.0, gt=0)
    """Scale of a linear column; unused by the others."""
    weight: float = Field(1.0, ge=0)
    delta: float = Field(1.0, gt=0)
    """Threshold of the Huber loss of a linear column, in units of the column."""


class FeatureShape(Settings):
    """Layout of a row of features: one block per seat, starting with the viewer, then the common features."""

    features: int = Field(ge=1, le=MOST_FEATURES)
    block: int = Field(0, ge=0, le=MOST_FEATURES)
    """Features per seat; 0 if the row has no blocks."""
    seats: int = Field(0, ge=0, le=MOST_FEATURES)
    common: int = Field(0, ge=0, le=MOST_FEATURES)
    lead: int | None = Field(None, ge=0)
    """Index of the common feature that holds the lead of the viewer."""
    lead_unit: float = Field(1.0, gt=0)
    """Points per unit of that feature."""

    @model_validator(mode="after")
    def _adds_up(self) -> FeatureShape:
        if (self.block or self.seats) and self.block * self.seats + self.common != self.features:
            parts = f"{self.seats} blocks of {self.block} and {self.common} common features"
            raise clash(f"{parts}, expected {self.features} in total")
        if self.lead is not None and self.lead >= self.common:
            raise clash(f"is {self.lead}, expected one of {self.common} common features", "lead")
        return self


def feature_shape(game: Game) -> FeatureShape:
    """Return the layout of the input of a value network for this game."""
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
    """Return the name of that layout."""
    return game.info.observation_schema if game.info.features is None else game.info.features.schema


def as_table(columns: tuple[Column, ...]) -> NDArray[np.float32]:
    """Return the columns as an array for compiled code: number of the link, scale, weight, delta."""
    rows = [(_LINKS[column.link], column.scale, column.weight, column.delta) for column in columns]
    return np.array(rows, np.float32).reshape(len(rows), 4)


def _seats(name: str, players: int) -> list[str]:
    return [name] if players == 1 else [f"{name}_{seat}" for seat in range(players)]


def _score_column(game: Game) -> Column:
    if game.info.utility is None:
        raise ConfigError(
            f"{game.name} has no bounds of its returns, expected GameInfo(utility=(lowest, highest)) to scale scores; "
            "set it, or train with `recipe: alphazero`"
        )
    low, high = game.info.utility
    return Column(name="score", scale=(high - low) / SPREADS, delta=(high - low) / SPREADS / 2)


def _rolled(columns: Columns, shift: NDArray[np.int64]) -> Columns:
    players = columns.shape[1]
    seats = (np.arange(players)[None, :] + shift[:, None]) % players
    turned: Columns = np.take_along_axis(columns, seats, axis=1)
    return turned
