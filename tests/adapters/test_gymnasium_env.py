from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import aleazero
from aleazero import EnvConfig, Environment
from aleazero.adapters.gymnasium_env import GymnasiumEnv

GAMES = {
    "dice_game": aleazero.load_game("dice_game"),
    "2048": aleazero.load_game("2048"),
    "yatzy": aleazero.load_game("yatzy", players=1),
}
ABOUT_SPACES = r".*A Box observation space m\w+ value is -?infinity"
ABOUT_RENDERING = r".*Not able to test alternative render modes"


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("config", [None, EnvConfig(reward="delta", include_full_state=True)], ids=["plain", "all"])
def test_the_checker_of_gymnasium_passes(game, config):
    for render_mode in (None, "ansi"):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ABOUT_SPACES)
            warnings.filterwarnings("ignore", ABOUT_RENDERING)
            check_env(GymnasiumEnv(game, config, render_mode=render_mode))


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_steps_equal_those_of_the_environment(game):
    env, own = GymnasiumEnv(game, EnvConfig(reward="delta")), Environment(game, EnvConfig(reward="delta"))
    (observation, info), step = env.reset(seed=7), own.reset(7)
    for _ in range(30):
        assert (observation == step.observations[0]).all()
        assert observation in env.observation_space
        assert (info["action_mask"] == step.legal_action_mask).all()
        assert (env.action_masks() == step.legal_action_mask).all()
        if step.done:
            break
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        step = own.step(int(action))
        assert (reward, terminated, truncated) == (step.rewards[0], step.done, False)


def test_later_episodes_depend_on_the_last_seed():
    env = GymnasiumEnv(GAMES["2048"])
    first = [env.reset(seed=1)[0], env.reset()[0], env.reset()[0]]
    again = [env.reset(seed=1)[0], env.reset()[0], env.reset()[0]]
    assert all((one == other).all() for one, other in zip(first, again, strict=True))
    assert any((one != first[0]).any() for one in first[1:])


def test_an_illegal_action_costs_reward_and_does_not_change_the_state():
    env = GymnasiumEnv(GAMES["yatzy"], illegal_reward=-3.0)
    before, info = env.reset(seed=1)
    text = env.environment.text()
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[-1])  # a scoring action while rerolls are left
    after, reward, terminated, truncated, _ = env.step(illegal)
    assert (reward, terminated, truncated) == (-3.0, False, False)
    assert (after == before).all()
    assert after is not before
    assert env.environment.text() == text
    with pytest.raises(aleazero.IllegalActionError, match="is illegal here"):
        env.step(GAMES["yatzy"].num_actions)
    strict = GymnasiumEnv(GAMES["yatzy"], illegal_reward=None)
    strict.reset(seed=1)
    with pytest.raises(aleazero.IllegalActionError, match="is illegal here"):
        strict.step(illegal)


def test_equivalent_actions_are_legal():
    env = GymnasiumEnv(GAMES["yatzy"], EnvConfig(include_full_state=True))
    env.reset(seed=1)
    state = env.last_step.state
    while not (other := [a for a in range(46) if state.canonical_action(a) not in (-1, a)]):
        env.step(np.flatnonzero(env.action_masks())[0])
        state = env.last_step.state
    assert env.step(np.int64(other[0]))[1] == 0.0
    assert env.last_step.state.key() != state.key()


def test_agents_of_aleazero_play_in_the_environment():
    game = GAMES["dice_game"]
    env = GymnasiumEnv(game, EnvConfig(include_full_state=True))
    agent, done = aleazero.make_agent("oracle", game), False
    env.reset(seed=3)
    while not done:
        _, reward, done, _, _ = env.step(agent.select_action(env.last_step.agent_input))
    assert reward == env.environment.returns()[0]


def test_invalid_input_raises_one_line():
    with pytest.raises(aleazero.ConfigError, match=r"has 2 players, expected 1; use PettingZooEnv for several"):
        GymnasiumEnv(aleazero.load_game("pig"))
    with pytest.raises(aleazero.ConfigError, match="game is 'pig', expected a Game"):
        GymnasiumEnv("pig")
    with pytest.raises(aleazero.ConfigError, match="render_mode is 'human', expected 'ansi' or None"):
        GymnasiumEnv(GAMES["2048"], render_mode="human")
    with pytest.raises(aleazero.PositionError, match="no episode has begun"):
        GymnasiumEnv(GAMES["2048"]).step(0)


def test_the_position_as_text():
    env = GymnasiumEnv(GAMES["dice_game"], render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == str(GAMES["dice_game"].new_initial_state())
    assert GymnasiumEnv(GAMES["dice_game"]).render() is None


def test_an_object_game_without_observations():
    env = GymnasiumEnv(aleazero.load_game(str(Path(__file__).resolve().parents[2] / "examples" / "coins.py")))
    assert env.reset(seed=0)[0].shape == (0,)
    assert env.step(1)[1:4] == (1.0, True, False)
