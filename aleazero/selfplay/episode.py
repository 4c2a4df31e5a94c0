"""An episode: agents play a game in an environment to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aleazero.errors import ConfigError
from aleazero.native.random import EPISODE_NUMBERS, stream_key
from aleazero.players.agent import Agent
from aleazero.selfplay.environment import Environment


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
