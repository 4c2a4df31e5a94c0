"""A game of one player as a Gymnasium environment (the extra ``gym``)."""

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
    """A game of one player; ``info["action_mask"]`` tells what is legal, and so does ``action_masks()``.

    An illegal action changes nothing and is rewarded with ``illegal_reward``; None makes it an error. ``last_step`` is
    the step of AleaZero's own environment, for its agents: ``agent.select_action(env.last_step.agent_input)``.
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
            raise ConfigError(f"{game!r} has {game.num_players} players, expected 1: PettingZooEnv takes several")
        self.environment = Environment(game, config)
        size = self.environment.observation_size
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(game.num_actions)
        self.render_mode = checked_render_mode(render_mode)
        self._illegal_reward = illegal_reward

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: with a seed, that of ``Environment.reset(seed)``; without, the next of the last seed's."""
        super().reset(seed=seed)
        self.last_step = self.environment.reset(drawn_seed(self.np_random) if seed is None else seed)
        return self._seen()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an action."""
        try:
            self.last_step = self.environment.step(action)
        except IllegalActionError:
            if self._illegal_reward is None or action not in self.action_space:
                raise
            observation, info = self._seen()
            return observation, self._illegal_reward, False, False, info
        observation, info = self._seen()
        return observation, float(self.last_step.rewards[0]), self.last_step.done, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """What is legal, as MaskablePPO asks for it."""
        return self.last_step.legal_action_mask.copy()

    def render(self) -> str | None:
        """The position as text."""
        return self.environment.text() if self.render_mode == "ansi" else None

    def _seen(self) -> tuple[Observation, dict[str, Any]]:
        step = self.last_step
        return step.observations[0].copy(), {"action_mask": step.legal_action_mask.astype(np.int8)}


def checked_render_mode(render_mode: str | None) -> str | None:
    """The mode, if there is such a one."""
    if render_mode not in (None, "ansi"):
        raise ConfigError(f"render_mode is {render_mode!r}, expected 'ansi' or None")
    return render_mode


def drawn_seed(generator: np.random.Generator) -> int:
    """The seed of an episode that was given none."""
    return int(generator.integers(2**63))
