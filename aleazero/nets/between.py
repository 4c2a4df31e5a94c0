"""What states between turns are worth: a value network's columns where play goes on, the outcome where it ended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import CheckpointError, ConfigError
from aleazero.games.base import Game
from aleazero.games.states import Rows
from aleazero.nets.ends import Ends
from aleazero.nets.flat import FlatNet, Floats
from aleazero.nets.load import load_value_net
from aleazero.nets.outcome import Outcome, feature_schema, feature_shape


class Between:
    """A value network with the game it values; the parameters may be changed from outside."""

    def __init__(self, game: Game, net: FlatNet, theta: Floats, plies: int | None = None) -> None:
        self.game, self.net, self.theta = game, net, theta
        self.outcome = Outcome.of(game)
        self.plies = plies
        """Chance events that were planned to teach it; None where it was the whole turn."""

    @classmethod
    def load(cls, path: str | Path, game: Game) -> Between:
        """The network of a checkpoint, if it was taught this game."""
        net, theta, about = load_value_net(path, game, feature_shape(game), feature_schema(game))
        try:
            require_phases(net.config.phases, game)
        except ConfigError as error:
            raise CheckpointError(f"{path}: {error}") from None
        return cls(game, net, theta, about.training.get("plies"))

    def look(self, states: Rows) -> Ends:
        """What there is to see of states between turns."""
        return Ends(self.game, self.net.shape.features, states, self.outcome.margin)

    def columns(self, ends: Ends) -> NDArray[np.float64]:
        """The columns of the outcome, by player."""
        outcome = self.outcome
        columns = np.empty((len(ends.over), len(outcome.columns)))
        asked, over = ~ends.over, ends.over
        if asked.any():
            told = self.net.forward(self.theta, ends.features[asked], ends.phases[asked]).astype(np.float64)
            columns[asked] = outcome.by_player(told, ends.viewers[asked])
            if outcome.kind == "score":
                columns[asked] += ends.returns[asked]
        if over.any():
            columns[over] = outcome.at_end(ends.returns[over], ends.points[over])
        return columns

    def worth(self, states: Rows, margin_weight: float) -> NDArray[np.float64]:
        """What states between turns are worth to each player (states, players)."""
        return self.outcome.worth(self.columns(self.look(states)), margin_weight)


def require_phases(phases: int, game: Game) -> None:
    """Refuse a network of other phases than the game's; one network for all of them will do."""
    names = game.info.phases
    if phases not in (1, len(names)):
        expected = f"1 or {len(names)} ({', '.join(names)})" if len(names) > 1 else f"1: {game.name} has no phases"
        raise ConfigError(f"net.phases is {phases}, expected {expected}")
