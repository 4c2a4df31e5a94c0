"""Networks as players: where one comes from, and the player that takes its word without a search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.players.champions import CHAMPION, champion_path
from aleazero.players.player import Allowed, Thinker
from aleazero.search.evaluator import NONE, Evaluator, evaluate_batch
from aleazero.untrusted import is_there

DUMMY: Final = "dummy"


class DummyNet:
    """A network that knows nothing: equal logits, and values of zero."""

    afterstates = NONE

    def __init__(self, game: Game) -> None:
        self._actions, self._players = game.num_actions, game.num_players

    def __call__(self, observations: Any, legal_masks: Any, /) -> tuple[Any, Any]:
        """Zeros."""
        rows = len(observations)
        return np.zeros((rows, self._actions), np.float32), np.zeros((rows, self._players), np.float32)


def read_any_net(path: str, game: Game, inference: str | None = None, prior_temperature: float | None = None) -> Any:
    """As ``read_net``, or a value network that values all states; ``prior_temperature`` is of its priors.

    ``champion`` is the network that ships for the game.
    """
    path = str(champion_path(game)) if path == CHAMPION else path
    file = Path(path).expanduser()
    if path != DUMMY and is_there(file):
        from aleazero.nets.checkpoint import Metadata
        from aleazero.nets.load import kind_of

        kind = kind_of(file)
        if kind is not Metadata:
            from aleazero.nets.checkpoint import TableMetadata
            from aleazero.nets.planned import PlannedNet

            if inference is not None:
                raise ConfigError(
                    f"is {inference!r}, expected none: a value network computes itself", field="inference"
                )
            return PlannedNet.load(file, game, prior_temperature, tables=kind is TableMetadata)
    net = read_net(path, game, inference)
    if prior_temperature is not None:
        text = f"is {prior_temperature}, expected none: {path} has priors of its own"
        raise ConfigError(text, field="prior_temperature")
    return net


def read_net(path: str, game: Game, inference: str | None = None) -> Evaluator:
    """The network of policy and value at a path, or ``dummy``; ``inference`` says what computes it."""
    if path == DUMMY:
        if inference is not None:
            raise ConfigError(f"is {inference!r}, expected none: {DUMMY} computes nothing", field="inference")
        return DummyNet(game)
    if not is_there(Path(path).expanduser()):
        raise ConfigError(f"no network at {path!r}, expected a file, or {DUMMY}")
    from aleazero.nets.load import load_net

    settings = {} if inference is None else {"inference": inference}
    net: Evaluator = load_net(Path(path).expanduser(), game, **settings)
    return net


class NetPlayer(Thinker):
    """The allowed action of the network's highest logit; of those that tie, the lowest id."""

    def __init__(self, net: Evaluator, game: Game) -> None:
        self._net, self._game = net, game

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """The network's favourites."""
        observations = np.stack([state.observation_tensor() for state in states])
        return self.favourites(
            observations, [some or state.legal_actions() for state, some in zip(states, allowed, strict=True)]
        )

    def favourites(self, observations: NDArray[np.float32], allowed: Sequence[Sequence[int]]) -> list[int]:
        """By row the action of the highest logit among some."""
        masks = np.zeros((len(allowed), self._game.num_actions), np.bool_)
        for row, some in enumerate(allowed):
            masks[row, some] = True
        logits, _ = evaluate_batch(self._net, observations, masks, None, self._game.num_players)
        return [int(action) for action in np.where(masks, logits, -np.inf).argmax(axis=1)]
