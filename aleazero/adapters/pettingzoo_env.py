"""A game as a PettingZoo environment of type AEC: one agent acts at a time (extra ``gym``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from aleazero.adapters.gymnasium_env import checked_render_mode, drawn_seed
from aleazero.games.base import Game
from aleazero.selfplay.environment import EnvConfig, Environment, EnvStep

Observation = dict[str, NDArray[Any]]


class PettingZooEnv(AECEnv[str, Observation, Any]):
    """A game with the agents ``player_0``, ``player_1``, …, which need not alternate.

    An observation is a dict of ``observation`` and ``action_mask``, which is all zero for agents that are not to move.
    An illegal action raises IllegalActionError and does not change the state; PettingZoo's ``TerminateIllegalWrapper``
    ends the episode instead.

    Args:
        game: the game.
        config: settings of the environment.
        render_mode: ``ansi`` or None.

    Attributes:
        last_step: the step of AleaZero's environment, for its agents:
            ``agent.select_action(env.last_step.agent_input)``.

    Raises:
        ConfigError: ``render_mode`` is unknown.
    """

    last_step: EnvStep

    def __init__(self, game: Game, config: EnvConfig | None = None, *, render_mode: str | None = None) -> None:
        super().__init__()
        self.environment = Environment(game, config)
        self.metadata = {"name": game.name, "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = checked_render_mode(render_mode)
        self.possible_agents = [f"player_{player}" for player in range(game.num_players)]
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        self._generator: np.random.Generator | None = None

    def _observation_space(self) -> Any:
        numbers = spaces.Box(-np.inf, np.inf, (self.environment.observation_size,), np.float32)
        return spaces.Dict(
            {"observation": numbers, "action_mask": spaces.MultiBinary(self.environment.game.num_actions)}
        )

    def observation_space(self, agent: str) -> Any:
        """Return the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the action space of an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: seed of the episode, as in ``Environment.reset``; None to draw it from a generator, which the last
                given seed determines.
            options: not used.
        """
        if seed is not None or self._generator is None:
            self._generator = np.random.default_rng(seed)
        self.last_step = self.environment.reset(drawn_seed(self._generator) if seed is None else seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._publish()

    def step(self, action: Any) -> None:
        """Apply the action of the selected agent; None if its episode is over.

        Raises:
            IllegalActionError: the action is illegal.
        """
        if not self.agents or self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        mover = self.agent_selection
        self.last_step = self.environment.step(action)
        self._cumulative_rewards[mover] = 0.0
        self._publish()

    def _publish(self) -> None:
        """Set the attributes of PettingZoo (next agent, rewards, terminations) from the last step."""
        step = self.last_step
        for player, agent in enumerate(self.agents):
            self.rewards[agent] = float(step.rewards[player])
            self.terminations[agent] = step.done
        self.agent_selection = self.agents[0 if step.done else step.current_player]
        self._accumulate_rewards()

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent."""
        step, player = self.last_step, self.possible_agents.index(agent)
        mask = step.legal_action_mask if player == step.current_player else np.zeros_like(step.legal_action_mask)
        return {"observation": step.observations[player].copy(), "action_mask": mask.astype(np.int8)}

    def render(self) -> str | None:
        """Return the position as text."""
        return self.environment.text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing, as no resources are open."""
