"""A game as a PettingZoo environment in which one agent acts at a time (the extra ``gym``)."""

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
    """A game whose players are ``player_0``, ``player_1``, …; they act when the rules say, not in turns.

    An observation is a dict of ``observation`` and ``action_mask``, all zero for who does not decide. An illegal action
    is an error and changes nothing; PettingZoo's ``TerminateIllegalWrapper`` ends the episode instead. ``last_step`` is
    the step of AleaZero's own environment, for its agents: ``agent.select_action(env.last_step.agent_input)``.
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
        seen = spaces.Box(-np.inf, np.inf, (self.environment.observation_size,), np.float32)
        return spaces.Dict({"observation": seen, "action_mask": spaces.MultiBinary(self.environment.game.num_actions)})

    def observation_space(self, agent: str) -> Any:
        """What an agent may see."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """What an agent may play."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode: with a seed, that of ``Environment.reset(seed)``; without, the next of the last seed's."""
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
        self._tell()

    def step(self, action: Any) -> None:
        """Play the action of the agent whose turn it is; None for one whose episode is over."""
        if not self.agents or self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        mover = self.agent_selection
        self.last_step = self.environment.step(action)
        self._cumulative_rewards[mover] = 0.0
        self._tell()

    def _tell(self) -> None:
        """Say who is next, and what the last step brought."""
        step = self.last_step
        for player, agent in enumerate(self.agents):
            self.rewards[agent] = float(step.rewards[player])
            self.terminations[agent] = step.done
        self.agent_selection = self.agents[0 if step.done else step.current_player]
        self._accumulate_rewards()

    def observe(self, agent: str) -> Observation:
        """What an agent sees now."""
        step, player = self.last_step, self.possible_agents.index(agent)
        mask = step.legal_action_mask if player == step.current_player else np.zeros_like(step.legal_action_mask)
        return {"observation": step.observations[player].copy(), "action_mask": mask.astype(np.int8)}

    def render(self) -> str | None:
        """The position as text."""
        return self.environment.text() if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Nothing is open."""
