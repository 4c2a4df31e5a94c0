"""A game as an environment: agents act, chance plays by itself; an episode is a game played to its end.

Chance is played luck, keyed by the episode's seed: the same seed and actions give the same dice, observations and
rewards.

An agent is a player with a seed of its own, who sees what it is shown. Agents that search, plan, know or ask need the
full state. ``random`` and a network alone (``net:PATH,sims=0``) take the observation and the mask for all there is. A
mask narrower than the rules is obeyed by all.
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

from aleazero.errors import ConfigError, GameError, IllegalActionError, PositionError
from aleazero.games.base import TERMINAL_PLAYER, Game, State
from aleazero.games.luck import PlayedLuck
from aleazero.native.random import AGENT_EPISODES, EPISODE_NUMBERS, RANDOM_AGENT, check_seed, stream_key
from aleazero.players.basic import RandomPlayer, choose_uniformly
from aleazero.players.make import make_player
from aleazero.players.player import Player
from aleazero.players.search import NetPlayer
from aleazero.players.spec import PlayerSpec
from aleazero.settings import Settings


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


class EnvConfig(Settings):
    """What an environment tells."""

    reward: Literal["terminal", "delta"] = Field(
        "terminal",
        description="terminal: zero until the end, then the returns. delta: how the returns so far have changed.",
    )
    include_full_state: bool = Field(False, description="Show the state too, which searching agents need.")


@dataclass(frozen=True, eq=False)
class EnvStep:
    """Where an episode stands: at a decision, or at its end. Everything in it is a copy."""

    observations: NDArray[np.float32]
    """(players, size) what each player sees; size 0 where the game's class has no observations."""
    legal_action_mask: NDArray[np.bool_]
    """(actions,) all false at the end."""
    current_player: int
    """Who decides; −4 at the end."""
    rewards: NDArray[np.float64]
    """(players,) of the last action and the chance behind it."""
    done: bool
    state: State | None
    """The position, if the environment shows it."""

    @property
    def agent_input(self) -> AgentInput:
        """What the agent who decides is shown."""
        if self.done:
            raise PositionError("the episode is over, expected a decision: reset begins another")
        row = self.observations[self.current_player]
        return AgentInput(row, self.legal_action_mask, self.current_player, self.state)


class Environment:
    """Plays a game one decision at a time."""

    def __init__(self, game: Game, config: EnvConfig | None = None) -> None:
        if not isinstance(game, Game):
            raise ConfigError(f"game is {game!r}, expected a Game: aleazero.load_game makes one")
        if config is not None and not isinstance(config, EnvConfig):
            raise ConfigError(f"config is {config!r}, expected an EnvConfig")
        self.game, self.config = game, config or EnvConfig()
        self.observation_size = _observation_size(game)
        self._state: State | None = None
        self._luck = PlayedLuck(0)
        self._counted = np.zeros(game.num_players)
        """Returns that rewards have told of."""

    def reset(self, seed: int) -> EnvStep:
        """Begin an episode; ``seed`` is of its dice. No reward is told before the first action, unless
        chance alone ends the game."""
        check_seed(seed)
        self._state, self._luck = self.game.new_initial_state(), PlayedLuck(int(seed))
        self._counted = np.zeros(self.game.num_players)
        self._play_chance(self._state)
        done = self._state.is_terminal()
        return self._tell(self._state, self._rewards(self._state) if done else np.zeros(self.game.num_players))

    def step(self, action: SupportsIndex) -> EnvStep:
        """Play an action, and the chance behind it; an illegal action is an error, and changes nothing."""
        state = self._begun()
        if state.is_terminal():
            raise PositionError(f"{self.game.name}: the episode is over, got action {action!r}: reset begins another")
        state.apply_action(self._whole(action, state))
        self._play_chance(state)
        return self._tell(state, self._rewards(state))

    def returns(self) -> list[float]:
        """The returns so far, one number a player."""
        return self._begun().returns()

    def text(self) -> str:
        """The position, to be read by people."""
        return str(self._begun())

    def _begun(self) -> State:
        if self._state is None:
            raise PositionError(f"{self.game.name}: no episode has begun, expected reset(seed) first")
        return self._state

    def _whole(self, action: SupportsIndex, state: State) -> int:
        """The action as a number; networks' libraries like to give it as an array without dimensions."""
        try:
            if not isinstance(action, bool):
                return operator.index(action)
        except TypeError:
            pass
        expected = f"a whole number, one of {state.legal_actions()}"
        raise IllegalActionError(f"{self.game.name}: action is {action!r}, expected {expected}")

    def _play_chance(self, state: State) -> None:
        while state.is_chance_node():
            state.apply_action(self._luck.draw(state))

    def _rewards(self, state: State) -> NDArray[np.float64]:
        """What has not been told yet of the returns."""
        if self.config.reward == "terminal" and not state.is_terminal():
            return np.zeros(self.game.num_players)
        before, self._counted = self._counted, np.array(state.returns())
        return self._counted - before

    def _tell(self, state: State, rewards: NDArray[np.float64]) -> EnvStep:
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
    """Length of an observation; 0 where the game's class has none."""
    try:
        return game.observation_size
    except GameError:
        return 0


# -- agents -----------------------------------------------------------------------------------------------------------


class Agent(ABC):
    """Whoever plays in an environment."""

    def begin_episode(self, number: int) -> None:  # noqa: B027 - an agent without luck has nothing to do
        """Hear that an episode begins; ``number`` tells it from others, and from it no luck of the game follows."""

    @abstractmethod
    def select_action(self, seen: AgentInput) -> int:
        """The action to play."""


class _SeededAgent(Agent):
    """An agent with luck of its own: the same seed and number of the episode give the same luck again."""

    def __init__(self, game: Game, seed: int) -> None:
        self._game, self._own_seed, self._seed = game, seed, seed

    def begin_episode(self, number: int) -> None:
        """Have new luck."""
        self._seed = stream_key(AGENT_EPISODES, self._own_seed, number)


class PlayerAgent(_SeededAgent):
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


class RandomAgent(_SeededAgent):
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
        return choose_uniformly(allowed, stream_key(RANDOM_AGENT, self._seed, seen.current_player, self._count))


class NetAgent(Agent):
    """The allowed action that a network likes best, by the observation alone."""

    def __init__(self, player: NetPlayer, game: Game) -> None:
        self._player, self._game = player, game

    def select_action(self, seen: AgentInput) -> int:
        """The action of the highest logit."""
        observations = np.asarray(seen.observation, np.float32)[None]
        return self._player.best_actions(observations, [allowed_by(seen.legal_action_mask, self._game)])[0]


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


# -- episodes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlayedEpisode:
    """An episode as it was played. With the environment's seed, the actions give it again."""

    seed: int
    """Of its dice."""
    decisions: list[tuple[int, int]]
    """(player, action), in order."""
    rewards: list[list[float]]
    """By decision, one number a player."""
    returns: list[float]
    """One number a player."""


def self_play_episode(environment: Environment, agents: Sequence[Agent], seed: int) -> PlayedEpisode:
    """Play an episode; ``agents`` has one for each seat, and ``seed`` is of the dice.

    Agents hear a number in place of the seed: they have other luck in other episodes, and cannot foresee the dice.
    """
    game = environment.game
    if len(agents) != game.num_players:
        raise ConfigError(f"got {len(agents)} agents, expected {game.num_players}, one a seat of {game!r}")
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
