from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

import aleazero
from aleazero import EnvConfig
from aleazero.adapters.pettingzoo_env import PettingZooEnv

GAMES = {
    "pig": aleazero.load_game("pig", target=30),
    "tic_tac_toe": aleazero.load_game("tic_tac_toe"),
    "dice_game": aleazero.load_game("dice_game"),
    "yatzy-2": aleazero.load_game("yatzy", players=2),
    "yatzy-3": aleazero.load_game("yatzy", players=3),
}
# PettingZoo's test prints the same warnings for its own classic games, which it lists by name.
ABOUT_DICTS = ("Observation is not a NumPy array", "Observation space for each agent probably should be")
ABOUT_EMPTY_BOARDS = ("Observation numpy array is all zeros", "Action mask numpy array is all zeros")


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("config", [None, EnvConfig(reward="delta", include_full_state=True)], ids=["plain", "all"])
def test_the_api_test_of_pettingzoo_passes(game, config, capsys):
    with warnings.catch_warnings():
        for said in (*ABOUT_DICTS, *ABOUT_EMPTY_BOARDS):
            warnings.filterwarnings("ignore", said)
        api_test(PettingZooEnv(game, config), num_cycles=60)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_the_seed_test_of_pettingzoo_passes(game):
    seed_test(lambda: PettingZooEnv(game), num_cycles=30)


@pytest.mark.parametrize("name", ["pig", "yatzy-3"])
@pytest.mark.parametrize("reward", ["terminal", "delta"])
def test_rewards_sum_to_the_returns(name, reward):
    env = PettingZooEnv(GAMES[name], EnvConfig(reward=reward))
    env.reset(seed=5)
    for agent in env.possible_agents:
        env.action_space(agent).seed(1)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, got, over, _, _ = env.last()
        total[agent] += got
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    assert env.agents == []
    assert list(total.values()) == pytest.approx(env.environment.returns())


def test_players_need_not_alternate():
    env = PettingZooEnv(GAMES["yatzy-2"])
    env.reset(seed=0)
    movers = []
    for agent in env.agent_iter(60):
        movers.append(agent)
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1]))
    assert {"player_0", "player_1"} == set(movers)
    assert any(one == other for one, other in pairwise(movers))  # a player may decide twice in a row


def test_agents_that_are_not_to_move_have_no_actions():
    env = PettingZooEnv(GAMES["tic_tac_toe"])
    env.reset(seed=0)
    env.step(4)
    assert env.agent_selection == "player_1"
    assert env.observe("player_0")["action_mask"].tolist() == [0] * 9
    assert env.observe("player_1")["action_mask"].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]
    assert (env.observe("player_0")["observation"] != env.observe("player_1")["observation"]).any()


def test_an_illegal_action_raises_and_does_not_change_the_state():
    env = PettingZooEnv(GAMES["tic_tac_toe"], render_mode="ansi")
    env.reset(seed=0)
    env.step(4)
    before = env.render()
    for action in (4, 9, None):
        with pytest.raises(aleazero.IllegalActionError):
            env.step(action)
    assert (env.render(), env.agent_selection) == (before, "player_1")
    env.step(0)
    assert env.agent_selection == "player_0"


def test_the_wrapper_of_pettingzoo_ends_the_episode_after_an_illegal_action():
    env = TerminateIllegalWrapper(PettingZooEnv(GAMES["tic_tac_toe"]), illegal_reward=-1)
    env.reset(seed=0)
    env.step(4)
    env.step(4)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.rewards["player_1"] == -1


def test_agents_of_aleazero_play_in_the_environment():
    game = GAMES["tic_tac_toe"]
    env = PettingZooEnv(game, EnvConfig(include_full_state=True))
    player = aleazero.make_agent("oracle", game)
    env.reset(seed=0)
    for _ in env.agent_iter():
        env.step(None if env.last()[2] else player.select_action(env.last_step.agent_input))
    assert env.environment.returns() == [0.0, 0.0]


def test_later_episodes_depend_on_the_last_seed():
    env = PettingZooEnv(GAMES["yatzy-2"])

    def starts():
        for seed in (3, None, None):
            env.reset(seed=seed)
            yield env.observe("player_0")["observation"].tolist()

    first = list(starts())
    assert list(starts()) == first
    assert first[1] != first[0]


def test_invalid_input_raises_one_line():
    with pytest.raises(aleazero.ConfigError, match="game is 'pig', expected a Game"):
        PettingZooEnv("pig")
    with pytest.raises(aleazero.ConfigError, match="render_mode is 'human'"):
        PettingZooEnv(GAMES["pig"], render_mode="human")
