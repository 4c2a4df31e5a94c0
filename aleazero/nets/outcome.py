"""What is learnt of a game: columns of its outcome, whose view they take, and what they are worth to each player.

- ``score``: the score of each player, from the viewer on. A network tells what is still to come; the points so far,
  which are the state's returns, are added to it.
- ``duel``: of two players, whether the viewer wins, from -1 to 1 (a draw is 0); where the game counts points, by how
  many; and where a win counts more than once, the chances to win 2 points or more, 3 or more, and to lose as many.
- ``seats``: what each of three or more players wins, from the viewer on.
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
"""What a point of margin is worth in play, where one win is 1: it decides between actions that win alike."""
MARGIN_SCALE: Final = 20.0
"""Points that a network's margin moves by where it says 1."""
MARGIN_WEIGHT: Final = 0.2
SPREADS: Final = 16
"""Scores are learnt in units of their whole range over this."""
MOST_FEATURES: Final = 2**24
"""Most features of a row: a file that names more is damaged."""
_LINKS: Final = {"linear": 0, "tanh": 1, "sigmoid": 2}


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
    levels: int = 1
    """Points that a win may count. Where that is more than 1, a duel has a column for each number from 2 on, of the
    viewer's wins, then of the other's."""

    @classmethod
    def of(cls, game: Game) -> Outcome:
        """What is learnt of a game."""
        players, features = game.num_players, game.info.features
        win = Column(name="win", link="tanh")
        if game.info.levels > 1:
            names = [f"{side}_{points}" for side in ("win", "lose") for points in range(2, game.info.levels + 1)]
            chances = (Column(name=name, link="sigmoid") for name in names)
            return cls("duel", players, (win, *chances), levels=game.info.levels)
        if not counts_wins(game):
            column = _score_column(game)
            return cls("score", players, tuple(column.model_copy(update={"name": n}) for n in _seats("score", players)))
        if players > 2:
            return cls("seats", players, tuple(Column(name=name, link="tanh") for name in _seats("win", players)))
        if features is None or features.lead is None:
            return cls("duel", players, (win,))
        margin = Column(name="margin", scale=MARGIN_SCALE, delta=MARGIN_SCALE / 2, weight=MARGIN_WEIGHT)
        return cls("duel", players, (win, margin), margin=True, point_unit=features.point_unit)

    def by_player(self, columns: Columns, viewers: NDArray[np.int64]) -> Columns:
        """Columns as the viewers see them, turned to how player 0 (or all, from player 0 on) would."""
        if self.kind == "duel":
            turned: Columns = np.where(viewers[:, None] == 0, columns, self._other_side(columns))
            return turned
        return _rolled(columns, -viewers)

    def by_viewer(self, columns: Columns, viewers: NDArray[np.int64]) -> Columns:
        """The other way round."""
        return self.by_player(columns, viewers) if self.kind == "duel" else _rolled(columns, viewers)

    def _other_side(self, columns: Columns) -> Columns:
        """Columns of a duel as the other player sees them: who wins turns round, and chances change sides."""
        if self.levels == 1:
            return -columns
        wins, losses = np.split(columns[:, 1:], 2, axis=1)
        return np.concatenate((-columns[:, :1], losses, wins), axis=1)

    def at_end(self, returns: Columns, points: Columns) -> Columns:
        """Columns of states that have ended, by player."""
        if self.kind != "duel":
            return returns
        won = returns[:, :1]
        if self.levels > 1:
            if (won % 1 != 0).any() or (abs(won) > self.levels).any():
                raise ContractError(f"a game ended with {won.ravel()}, expected whole points up to {self.levels}")
            most = np.arange(2, self.levels + 1)
            return np.concatenate((np.sign(won), won >= most, -won >= most), axis=1)
        return np.concatenate((won, self.lead(points)), axis=1) if self.margin else won

    def lead(self, points: Columns) -> Columns:
        """By how many points player 0 leads (rows, 1)."""
        return (points[:, :1] - points[:, 1:2]) * self.point_unit

    def values_by_player(self, columns: Columns, margin_weight: float) -> Columns:
        """What columns by player are worth to each player (rows, players)."""
        if self.kind != "duel":
            return columns
        value = columns[:, 0] + (columns[:, 1:] * self.weights(margin_weight)).sum(axis=1)
        return np.stack((value, -value), axis=1)

    def weights(self, margin_weight: float) -> Columns:
        """What each column of a duel but the first is worth to player 0: points of margin, or one point each."""
        if self.margin:
            return np.array([margin_weight])
        return np.repeat([1.0, -1.0], self.levels - 1)


class Column(Settings):
    """One number of the outcome, made from what the network says (z), and how far off it is (the loss).

    ``tanh``: tanh(z), in -1 to 1; the loss is the binary cross-entropy of the logit 2z against (y + 1) / 2, where y may
    be an expectation. ``sigmoid``: 1 / (1 + exp(-z)), a chance; the loss is the binary cross-entropy of the logit z
    against y. ``linear``: scale · z; the loss is huber(scale · z - y) / scale. All times ``weight``.
    """

    name: str = Field(min_length=1)
    link: Literal["tanh", "sigmoid", "linear"] = "linear"
    scale: float = Field(1.0, gt=0)
    """Of a linear column: units of the column in 1 of z. The others have none."""
    weight: float = Field(1.0, ge=0)
    delta: float = Field(1.0, gt=0)
    """Of a linear column: where Huber's loss turns from a square to a line, in units of the column."""


class FeatureShape(Settings):
    """A row of features: one block for each seat, the viewer's first, then what they have in common."""

    features: int = Field(ge=1, le=MOST_FEATURES)
    block: int = Field(0, ge=0, le=MOST_FEATURES)
    """Features of one seat; 0: the row is not made of blocks."""
    seats: int = Field(0, ge=0, le=MOST_FEATURES)
    common: int = Field(0, ge=0, le=MOST_FEATURES)
    lead: int | None = Field(None, ge=0)
    """Which of the common features tells by how much the viewer leads."""
    lead_unit: float = Field(1.0, gt=0)
    """Points that 1.0 of that feature stands for."""

    @model_validator(mode="after")
    def _adds_up(self) -> FeatureShape:
        if (self.block or self.seats) and self.block * self.seats + self.common != self.features:
            parts = f"{self.seats} blocks of {self.block} and {self.common} in common"
            raise clash(f"{parts}, expected {self.features} in all")
        if self.lead is not None and self.lead >= self.common:
            raise clash(f"is {self.lead}, expected one of {self.common} common features", "lead")
        return self


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


def as_table(columns: tuple[Column, ...]) -> NDArray[np.float32]:
    """The columns as the kernels read them: link by number, scale, weight, delta."""
    rows = [(_LINKS[column.link], column.scale, column.weight, column.delta) for column in columns]
    return np.array(rows, np.float32).reshape(len(rows), 4)


def _seats(name: str, players: int) -> list[str]:
    return [name] if players == 1 else [f"{name}_{seat}" for seat in range(players)]


def _score_column(game: Game) -> Column:
    if game.info.utility is None:
        raise ConfigError(
            f"{game.name} has no bounds of its returns, expected GameInfo(utility=(lowest, highest)), of which scores "
            "are learnt in shares, or `aleazero train` with `recipe: alphazero`"
        )
    low, high = game.info.utility
    return Column(name="score", scale=(high - low) / SPREADS, delta=(high - low) / SPREADS / 2)


def _rolled(columns: Columns, shift: NDArray[np.int64]) -> Columns:
    players = columns.shape[1]
    seats = (np.arange(players)[None, :] + shift[:, None]) % players
    turned: Columns = np.take_along_axis(columns, seats, axis=1)
    return turned
