"""A game as an environment: agents act, chance plays by itself.

Chance is played luck, keyed by the episode's seed: the same seed and actions give the same dice, observations and
rewards.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from aleazero.errors import ConfigError, GameError, IllegalActionError, PositionError
from aleazero.games.base import TERMINAL_PLAYER, Game, State
from aleazero.games.luck import PlayedLuck
from aleazero.native.random import check_seed
from aleazero.players.agent import AgentInput
from aleazero.settings import Settings


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
