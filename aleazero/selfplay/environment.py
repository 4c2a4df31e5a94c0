"""A game as an environment with agents. An episode is a game from start to end.

The environment plays chance nodes with dice derived from the seed of the episode. The same seed and actions give the
same dice, observations and rewards.

An agent is a player with its own seed. Agents that search, plan, use an oracle or ask a person need the full state.
``random`` and a network without search (``net:PATH,sims=0``) need only the observation and the legal action mask. All
agents respect a mask that allows only some of the legal actions.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from aleazero.errors import ConfigError, GameError, IllegalActionError, PositionError, count_text
from aleazero.games.base import TERMINAL_PLAYER, Game, State
from aleazero.games.game_dice import GameDice
from aleazero.native.random import AGENT_EPISODES, EPISODE_NUMBERS, RANDOM_AGENT, check_seed, stream_key
from aleazero.players.basic import RandomPlayer, choose_uniformly
from aleazero.players.make import make_player
from aleazero.players.player import Player
from aleazero.players.search import NetPlayer
from aleazero.players.spec import PlayerSpec
from aleazero.settings import Settings


@dataclass(frozen=True, eq=False)
class AgentInput:
    """The input of an agent at one of its decisions.

    Attributes:
        observation: observation of the player to move, shape (size,).
        legal_action_mask: the allowed actions, shape (actions,): all legal actions, or some of them.
        current_player: the player to move.
        state: the full state, if the environment includes it.
    """

    observation: NDArray[np.float32]
    legal_action_mask: NDArray[Any]
    current_player: int
    state: State | None = None


class EnvConfig(Settings):
    """Settings of an environment."""

    reward: Literal["terminal", "delta"] = Field(
        "terminal",
        description="Rewards of a step. terminal: zero until the end, then the returns. delta: the change of the "
        "returns since the last step.",
    )
    include_full_state: bool = Field(
        False, description="Include the full state in every step. Agents that search or plan need it."
    )


@dataclass(frozen=True, eq=False)
class EnvStep:
    """The state of an episode at a decision or at its end. All arrays are copies.

    Attributes:
        observations: observation of each player, shape (players, size); size is 0 if the game has no observations.
        legal_action_mask: the legal actions, shape (actions,); all false at the end.
        current_player: the player to move; −4 at the end.
        rewards: reward of each player for the last action and the chance events after it, shape (players,).
        done: whether the episode is over.
        state: the full state, if the environment includes it.
    """

    observations: NDArray[np.float32]
    legal_action_mask: NDArray[np.bool_]
    current_player: int
    rewards: NDArray[np.float64]
    done: bool
    state: State | None

    @property
    def agent_input(self) -> AgentInput:
        """The input of the agent that moves next.

        Raises:
            PositionError: the episode is over.
        """
        if self.done:
            raise PositionError("the episode is over, expected a decision: reset begins another")
        row = self.observations[self.current_player]
        return AgentInput(row, self.legal_action_mask, self.current_player, self.state)


class Environment:
    """A game that is played one decision at a time; chance nodes are played by the environment."""

    def __init__(self, game: Game, config: EnvConfig | None = None) -> None:
        """Create an environment; ``reset`` starts an episode.

        Args:
            game: the game to play.
            config: settings of the environment.

        Raises:
            ConfigError: ``game`` is not a ``Game`` or ``config`` is not an ``EnvConfig``.
        """
        if not isinstance(game, Game):
            raise ConfigError(f"game is {game!r}, expected a Game: aleazero.load_game makes one")
        if config is not None and not isinstance(config, EnvConfig):
            raise ConfigError(f"config is {config!r}, expected an EnvConfig")
        self.game, self.config = game, config or EnvConfig()
        self.observation_size = _observation_size(game)
        self._state: State | None = None
        self._dice = GameDice(0)
        self._counted = np.zeros(game.num_players)
        """Returns that were already given as rewards."""

    def reset(self, seed: int) -> EnvStep:
        """Start an episode.

        Args:
            seed: seed of the dice.

        Returns:
            The first decision. Its rewards are zero unless the game is already over.

        Raises:
            ConfigError: ``seed`` is not a valid seed.
        """
        check_seed(seed)
        self._state, self._dice = self.game.new_initial_state(), GameDice(int(seed))
        self._counted = np.zeros(self.game.num_players)
        self._play_chance(self._state)
        done = self._state.is_terminal()
        return self._make_step(self._state, self._rewards(self._state) if done else np.zeros(self.game.num_players))

    def step(self, action: SupportsIndex) -> EnvStep:
        """Play an action and the chance events after it.

        Args:
            action: a legal action.

        Returns:
            The next decision, or the end of the episode.

        Raises:
            IllegalActionError: the action is illegal. The episode does not change.
            PositionError: no episode was started, or it is over.
        """
        state = self._begun()
        if state.is_terminal():
            raise PositionError(f"{self.game.name}: the episode is over, got action {action!r}: reset begins another")
        state.apply_action(self._as_int(action, state))
        self._play_chance(state)
        return self._make_step(state, self._rewards(state))

    def returns(self) -> list[float]:
        """Return the returns so far, one number per player."""
        return self._begun().returns()

    def text(self) -> str:
        """Return the state as text for people."""
        return str(self._begun())

    def _begun(self) -> State:
        if self._state is None:
            raise PositionError(f"{self.game.name}: no episode has begun, expected reset(seed) first")
        return self._state

    def _as_int(self, action: SupportsIndex, state: State) -> int:
        """Return the action as an int; numpy integers and zero-dimensional arrays are accepted."""
        try:
            if not isinstance(action, bool):
                return operator.index(action)
        except TypeError:
            pass
        expected = f"an integer, one of {state.legal_actions()}"
        raise IllegalActionError(f"{self.game.name}: action is {action!r}, expected {expected}")

    def _play_chance(self, state: State) -> None:
        while state.is_chance_node():
            state.apply_action(self._dice.draw(state))

    def _rewards(self, state: State) -> NDArray[np.float64]:
        """Return the part of the returns that was not given as a reward yet."""
        if self.config.reward == "terminal" and not state.is_terminal():
            return np.zeros(self.game.num_players)
        before, self._counted = self._counted, np.array(state.returns())
        return self._counted - before

    def _make_step(self, state: State, rewards: NDArray[np.float64]) -> EnvStep:
        players = range(self.game.num_players)
        empty = np.zeros((len(players), 0), np.float32)
        done = state.is_terminal()
        return EnvStep(
            observations=np.stack([state.observation_tensor(p) for p in players]) if self.observation_size else empty,
            legal_action_mask=state.legal_actions_mask(),
            current_player=TERMINAL_PLAYER if done else state.current_player(),
            rewards=rewards,
            done=done,
            state=state.clone() if self.config.include_full_state else None,
        )


def _observation_size(game: Game) -> int:
    """Return the size of an observation; 0 if the game has none."""
    try:
        return game.observation_size
    except GameError:
        return 0


# -- agents -----------------------------------------------------------------------------------------------------------


class Agent(ABC):
    """Selects actions in an environment. Subclass it to write your own agent."""

    def begin_episode(self, number: int) -> None:  # noqa: B027 - a deterministic agent has nothing to do
        """Prepare for an episode; called at its start.

        Args:
            number: identifies the episode. It is unrelated to the seed of the dice.
        """

    @abstractmethod
    def select_action(self, seen: AgentInput) -> int:
        """Select an action.

        Args:
            seen: observation, allowed actions and, if the environment includes it, the full state.

        Returns:
            The id of an allowed action.
        """


def make_agent(spec: str | PlayerSpec, game: Game, seed: int = 0) -> Agent:
    """Make an agent from a player spec.

    Args:
        spec: player spec, e.g. ``random`` or ``search:sims=200``.
        game: the game to play.
        seed: seed of the agent's own random numbers.

    Returns:
        The agent. All kinds except ``random`` and ``net:PATH,sims=0`` need ``EnvConfig(include_full_state=True)``.

    Raises:
        ConfigError: the spec or the seed is invalid, or the player does not support this game.
    """
    check_seed(seed)
    player = make_player(spec, game)
    if isinstance(player, RandomPlayer):
        return RandomAgent(game, seed)
    if isinstance(player, NetPlayer):
        return NetAgent(player, game)
    return PlayerAgent(player, game, seed, f"agent {spec!r}")


class _SeededAgent(Agent):
    """An agent whose random numbers depend on its seed and the number of the episode."""

    def __init__(self, game: Game, seed: int) -> None:
        self._game, self._own_seed, self._seed = game, seed, seed

    def begin_episode(self, number: int) -> None:
        """Set the seed of this episode."""
        self._seed = stream_key(AGENT_EPISODES, self._own_seed, number)


class PlayerAgent(_SeededAgent):
    """An agent that asks a player, which needs the full state."""

    def __init__(self, player: Player, game: Game, seed: int = 0, name: str = "the agent") -> None:
        super().__init__(game, seed)
        self._player, self._name = player, name

    def select_action(self, seen: AgentInput) -> int:
        """Return the action that the player selects in this state."""
        allowed = allowed_by(seen.legal_action_mask, self._game)
        if seen.state is None:
            raise ConfigError(f"{self._name} needs the state, got none: expected EnvConfig(include_full_state=True)")
        if seen.state.current_player() != seen.current_player:
            raise PositionError(
                f"{self._game.name}: current_player is {seen.current_player}, expected "
                f"{seen.state.current_player()} as in the state"
            )
        return self._player.select(seen.state, self._seed, allowed)


class RandomAgent(_SeededAgent):
    """Selects each allowed action with equal probability. It counts its draws, because observations may repeat."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, seed)
        self._count = 0

    def begin_episode(self, number: int) -> None:
        """Set the seed of this episode and restart the count of draws."""
        super().begin_episode(number)
        self._count = 0

    def select_action(self, seen: AgentInput) -> int:
        """Return a random allowed action."""
        allowed = allowed_by(seen.legal_action_mask, self._game)
        self._count += 1
        return choose_uniformly(allowed, stream_key(RANDOM_AGENT, self._seed, seen.current_player, self._count))


class NetAgent(Agent):
    """Selects the allowed action with the highest logit of a network, from the observation alone."""

    def __init__(self, player: NetPlayer, game: Game) -> None:
        self._player, self._game = player, game

    def select_action(self, seen: AgentInput) -> int:
        """Return the allowed action with the highest logit."""
        observations = np.asarray(seen.observation, np.float32)[None]
        return self._player.best_actions(observations, [allowed_by(seen.legal_action_mask, self._game)])[0]


def allowed_by(mask: NDArray[Any], game: Game) -> list[int]:
    """Return the actions of a mask in ascending order."""
    mask = np.asarray(mask)
    if mask.shape != (game.num_actions,):
        raise ConfigError(f"legal_action_mask has shape {mask.shape}, expected ({game.num_actions},)")
    if not mask.any():
        raise PositionError(f"{game.name}: legal_action_mask is all false, expected at least one action")
    return [int(action) for action in np.flatnonzero(mask)]


# -- episodes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlayedEpisode:
    """A finished episode. Its seed and its actions reproduce it.

    Attributes:
        seed: seed of the dice.
        decisions: (player, action) in order.
        rewards: rewards after each decision, one number per player.
        returns: final returns, one number per player.
    """

    seed: int
    decisions: list[tuple[int, int]]
    rewards: list[list[float]]
    returns: list[float]


def self_play_episode(environment: Environment, agents: Sequence[Agent], seed: int) -> PlayedEpisode:
    """Play an episode.

    Args:
        environment: the environment.
        agents: one agent per player.
        seed: seed of the dice. Agents receive another number, so that they cannot foresee the dice.

    Returns:
        The decisions, rewards and returns of the episode.

    Raises:
        ConfigError: the number of agents is wrong, one of them is not an ``Agent``, or the seed is invalid.
        IllegalActionError: an agent selects an illegal action.
    """
    game = environment.game
    if len(agents) != game.num_players:
        got = count_text(len(agents), "agent")
        raise ConfigError(f"got {got}, expected {game.num_players}, one per player of {game!r}")
    for seat, agent in enumerate(agents):
        if not isinstance(agent, Agent):
            raise ConfigError(f"agents[{seat}] is {agent!r}, expected an Agent: aleazero.make_agent makes one")
    step = environment.reset(seed)
    for agent in agents:
        agent.begin_episode(stream_key(EPISODE_NUMBERS, seed))
    decisions, rewards = [], []
    while not step.done:
        player = step.current_player
        action = agents[player].select_action(step.agent_input)
        step = environment.step(action)
        decisions.append((player, int(action)))
        rewards.append([float(reward) for reward in step.rewards])
    return PlayedEpisode(int(seed), decisions, rewards, environment.returns())
