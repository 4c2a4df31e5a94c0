"""A one-player game as a Gymnasium environment (extra ``gym``)."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, IllegalActionError
from aleazero.games.base import Game
from aleazero.selfplay.environment import EnvConfig, Environment, EnvStep

Observation = NDArray[np.float32]


class GymnasiumEnv(gymnasium.Env[Observation, np.int64]):
    """A one-player game. ``info["action_mask"]`` and ``action_masks()`` have the legal actions.

    Args:
        game: a one-player game.
        config: settings of the environment.
        illegal_reward: reward of an illegal action, which does not change the state; None to raise
            IllegalActionError instead.
        render_mode: ``ansi`` or None.

    Attributes:
        last_step: the step of AleaZero's environment, for its agents:
            ``agent.select_action(env.last_step.agent_input)``.

    Raises:
        ConfigError: the game has several players, or ``render_mode`` is unknown.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - Gymnasium's own type
    last_step: EnvStep

    def __init__(
        self,
        game: Game,
        config: EnvConfig | None = None,
        *,
        illegal_reward: float | None = -1.0,
        render_mode: str | None = None,
    ) -> None:
        if isinstance(game, Game) and game.num_players != 1:
            raise ConfigError(f"{game!r} has {game.num_players} players, expected 1; use PettingZooEnv for several")
        self.environment = Environment(game, config)
        size = self.environment.observation_size
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(game.num_actions)
        self.render_mode = checked_render_mode(render_mode)
        self._illegal_reward = illegal_reward

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seed of the episode, as in ``Environment.reset``; None to draw it from a generator, which the last
                given seed determines.
            options: not used.

        Returns:
            The observation (observation_size,), and ``info`` with the action mask.
        """
        super().reset(seed=seed)
        self.last_step = self.environment.reset(drawn_seed(self.np_random) if seed is None else seed)
        return self._observe()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Apply an action.

        Returns:
            Observation, reward, terminated, truncated (always False), and ``info`` with the action mask.

        Raises:
            IllegalActionError: the action is illegal and ``illegal_reward`` is None, or it is not an action id.
        """
        try:
            self.last_step = self.environment.step(action)
        except IllegalActionError:
            if self._illegal_reward is None or action not in self.action_space:
                raise
            observation, info = self._observe()
            return observation, self._illegal_reward, False, False, info
        observation, info = self._observe()
        return observation, float(self.last_step.rewards[0]), self.last_step.done, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask (num_actions,) of the legal actions, as MaskablePPO expects it."""
        return self.last_step.legal_action_mask.copy()

    def render(self) -> str | None:
        """Return the position as text."""
        return self.environment.text() if self.render_mode == "ansi" else None

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        step = self.last_step
        return step.observations[0].copy(), {"action_mask": step.legal_action_mask.astype(np.int8)}


def checked_render_mode(render_mode: str | None) -> str | None:
    """Return the mode; raise ConfigError if it is unknown."""
    if render_mode not in (None, "ansi"):
        raise ConfigError(f"render_mode is {render_mode!r}, expected 'ansi' or None")
    return render_mode


def drawn_seed(generator: np.random.Generator) -> int:
    """Return a random seed for an episode."""
    return int(generator.integers(2**63))
