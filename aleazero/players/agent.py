"""An agent plays in an environment: a player with a seed of its own, who sees what it is shown.

Agents that search, plan, know or ask need the full state. ``random`` and a network alone (``net:PATH,sims=0``) take the
observation and the mask for all there is. A mask narrower than the rules is obeyed by all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError
from aleazero.games.base import Game, State
from aleazero.native.random import AGENT_EPISODES, RANDOM_AGENT, check_seed, stream_key
from aleazero.players.basic import RandomPlayer, by_lot
from aleazero.players.make import make_player
from aleazero.players.player import Player
from aleazero.players.search import NetPlayer
from aleazero.players.spec import PlayerSpec


@dataclass(frozen=True, eq=False)
class AgentInput:
    """What an agent is shown at a decision of its own."""

    observation: NDArray[np.float32]
    """(size,) what the player to move sees."""
    legal_action_mask: NDArray[Any]
    """(actions,) what may be played: all that is legal, or less."""
    current_player: int
    state: State | None = None
    """The whole position, where the environment shows it."""


class Agent(ABC):
    """Whoever plays in an environment."""

    def begin_episode(self, number: int) -> None:  # noqa: B027 - an agent without luck has nothing to do
        """Hear that an episode begins; ``number`` tells it from others, and from it no luck of the game follows."""

    @abstractmethod
    def select_action(self, seen: AgentInput) -> int:
        """The action to play."""


class _Lucky(Agent):
    """An agent with luck of its own: the same seed and number of the episode give the same luck again."""

    def __init__(self, game: Game, seed: int) -> None:
        self._game, self._own_seed, self._seed = game, seed, seed

    def begin_episode(self, number: int) -> None:
        """Have new luck."""
        self._seed = stream_key(AGENT_EPISODES, self._own_seed, number)


class PlayerAgent(_Lucky):
    """A player as an agent; it needs the state."""

    def __init__(self, player: Player, game: Game, seed: int = 0, name: str = "the agent") -> None:
        super().__init__(game, seed)
        self._player, self._name = player, name

    def select_action(self, seen: AgentInput) -> int:
        """What the player selects in this state."""
        allowed = allowed_by(seen.legal_action_mask, self._game)
        if seen.state is None:
            raise ConfigError(f"{self._name} needs the state, got none: expected EnvConfig(include_full_state=True)")
        if seen.state.current_player() != seen.current_player:
            raise PositionError(
                f"{self._game.name}: current_player is {seen.current_player}, expected that of the state, "
                f"{seen.state.current_player()}"
            )
        return self._player.select(seen.state, self._seed, allowed)


class RandomAgent(_Lucky):
    """Any allowed action, each with the same chance. It counts its draws: an observation need not tell states apart."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, seed)
        self._count = 0

    def begin_episode(self, number: int) -> None:
        """Have new luck, from its start."""
        super().begin_episode(number)
        self._count = 0

    def select_action(self, seen: AgentInput) -> int:
        """An action by lot."""
        allowed = allowed_by(seen.legal_action_mask, self._game)
        self._count += 1
        return by_lot(allowed, stream_key(RANDOM_AGENT, self._seed, seen.current_player, self._count))


class NetAgent(Agent):
    """The allowed action that a network likes best, by the observation alone."""

    def __init__(self, player: NetPlayer, game: Game) -> None:
        self._player, self._game = player, game

    def select_action(self, seen: AgentInput) -> int:
        """The action of the highest logit."""
        observations = np.asarray(seen.observation, np.float32)[None]
        return self._player.favourites(observations, [allowed_by(seen.legal_action_mask, self._game)])[0]


def allowed_by(mask: NDArray[Any], game: Game) -> list[int]:
    """The actions of a mask, ascending."""
    mask = np.asarray(mask)
    if mask.shape != (game.num_actions,):
        raise ConfigError(f"legal_action_mask has shape {mask.shape}, expected ({game.num_actions},)")
    if not mask.any():
        raise PositionError(f"{game.name}: no action is allowed, expected a decision")
    return [int(action) for action in np.flatnonzero(mask)]


def make_agent(spec: str | PlayerSpec, game: Game, seed: int = 0) -> Agent:
    """The agent that a player's text describes, e.g. ``random`` or ``search:sims=200``; ``seed`` is of its own luck."""
    check_seed(seed)
    player = make_player(spec, game)
    if isinstance(player, RandomPlayer):
        return RandomAgent(game, seed)
    if isinstance(player, NetPlayer):
        return NetAgent(player, game)
    return PlayerAgent(player, game, seed, f"agent {spec!r}")
