from __future__ import annotations

import numpy as np
import pytest
from sample_games import sample_games

import aleazero
from aleazero import EnvConfig, Environment, make_agent, self_play_episode
from aleazero.games.base import counts_wins
from aleazero.games.registry import game_names
from aleazero.nets.checkpoint import PolicyValueInfo, write_checkpoint
from aleazero.nets.config import NetConfig, ValueScale

GAMES = sample_games()
OBSERVED = [name for name in GAMES if name != "coins"]
"""Games with observations, which a network needs."""
SHOWN = EnvConfig(include_full_state=True)


def agents_of(spec, game, seed=0):
    return [make_agent(spec, game, seed=seed + seat) for seat in range(game.num_players)]


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("pig", "search:sims=8"),
        ("tic_tac_toe", "search:sims=20"),
        ("dice_game", "search:sims=20,chance=full"),
        ("yatzy-2", "search:sims=4,evaluator=uniform"),
        ("coins", "search:sims=20"),
        ("yatzy-1", "net:dummy,sims=4"),
        ("backgammon", "random"),
        ("pig", "greedy"),
        ("tic_tac_toe", "oracle"),
    ],
)
def test_search_agents_play_a_complete_game(name, spec):
    game = GAMES[name]
    environment = Environment(game, SHOWN)
    played = self_play_episode(environment, agents_of(spec, game), 3)
    step = environment.reset(3)
    for (player, action), rewards in zip(played.decisions, played.rewards, strict=True):
        assert step.current_player == player
        assert step.legal_action_mask[action]
        step = environment.step(action)
        assert step.rewards.tolist() == rewards
    assert step.done
    assert played.returns == step.rewards.tolist() == environment.returns()
    assert played.seed == 3


@pytest.mark.parametrize(
    ("name", "spec"), [("pig", "random"), ("yatzy-3", "random"), ("pig", "search:sims=5"), ("yatzy-1", "greedy")]
)
def test_same_seeds_same_episode(name, spec):
    game = GAMES[name]
    environment, agents = Environment(game, SHOWN), agents_of(spec, game)
    first = [self_play_episode(environment, agents, seed) for seed in (1, 2)]
    assert [self_play_episode(environment, agents, seed) for seed in (1, 2)] == first  # independent of earlier episodes
    assert self_play_episode(Environment(game, SHOWN), agents_of(spec, game), 2) == first[1]
    assert first[0].decisions != first[1].decisions
    if spec == "random":
        assert self_play_episode(environment, agents_of(spec, game, seed=50), 1) != first[0]


def test_agents_draw_other_random_numbers_in_other_episodes():
    game = GAMES["tic_tac_toe"]
    agents = agents_of("random", game)
    openings = {self_play_episode(Environment(game), agents, seed).decisions[0] for seed in range(60)}
    assert len(openings) == 9


def test_agents_do_not_receive_the_seed_of_the_dice():
    numbers = []

    class Recording(aleazero.Agent):
        def begin_episode(self, number):
            numbers.append(number)

        def select_action(self, seen):
            return int(np.flatnonzero(seen.legal_action_mask)[0])

    environment = Environment(GAMES["dice_game"])
    for seed in (0, 1, 1):
        self_play_episode(environment, [Recording()], seed)
    assert numbers[1] == numbers[2] != numbers[0]
    assert not {0, 1} & set(numbers)


def test_a_delta_episode_sums_to_its_returns():
    game = GAMES["2048"]
    played = self_play_episode(Environment(game, EnvConfig(reward="delta")), agents_of("random", game), 1)
    assert np.sum(played.rewards) == pytest.approx(played.returns[0])
    assert len(played.rewards) == len(played.decisions)


def test_errors_are_one_line():
    pig = GAMES["pig"]
    with pytest.raises(aleazero.ConfigError, match=r"got 1 agent, expected 2, one per player of pig\("):
        self_play_episode(Environment(pig), agents_of("random", pig)[:1], 0)
    with pytest.raises(aleazero.ConfigError, match=r"agents\[0\] is 'random', expected an Agent: aleazero.make_agent"):
        self_play_episode(Environment(pig), ["random", "random"], 0)
    with pytest.raises(aleazero.ConfigError, match="seed is -1"):
        self_play_episode(Environment(pig), agents_of("random", pig), -1)
    with pytest.raises(
        aleazero.ConfigError, match=r"needs the state, got none: expected EnvConfig\(include_full_state"
    ):
        self_play_episode(Environment(pig), agents_of("search:sims=5", pig), 0)


def test_illegal_actions_of_an_agent_raise_an_error():
    class Cheat(aleazero.Agent):
        def select_action(self, seen):
            return 1

    with pytest.raises(aleazero.IllegalActionError, match="action 1 is illegal here, expected one of 0"):
        self_play_episode(Environment(GAMES["pig"]), [Cheat(), Cheat()], 0)


def random_net(game, folder, seed=0):
    """Write a network with random weights and return its path."""
    values = ValueScale() if counts_wins(game) else ValueScale(kind="score", scale=100.0)
    about, rng = PolicyValueInfo.of(game, NetConfig(width=16, blocks=1), values), np.random.default_rng(seed)
    path = folder / f"{game.name}:{game.num_players}.safetensors"
    write_checkpoint(path, {name: rng.normal(0, 0.5, shape) for name, shape in about.weight_shapes().items()}, about)
    return path


def decide(name, spec, decisions, seed=0):
    """Let an agent make this many choices; half of the masks allow only some of the legal actions."""
    game = GAMES[name]
    config = EnvConfig(include_full_state=not spec.endswith(("random", "sims=0")))
    environment, agent = Environment(game, config), make_agent(spec, game, seed=seed)
    generator, step, episodes, chosen = np.random.default_rng(seed), None, 0, 0
    while chosen < decisions:
        if step is None or step.done:
            step, episodes = environment.reset(episodes), episodes + 1
            agent.begin_episode(episodes)
        legal = np.flatnonzero(step.legal_action_mask)
        if generator.random() < 0.5:
            step.legal_action_mask[generator.permutation(legal)[generator.integers(1, len(legal) + 1) :]] = False
        action = agent.select_action(step.agent_input)
        assert step.legal_action_mask[action]
        assert action in legal
        chosen += step.legal_action_mask.sum() > 1
        step = environment.step(action)
    return episodes


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", ["random", "net:dummy,sims=0"])
def test_decisions_are_legal(name, spec):
    decide(name, spec, 300)


@pytest.mark.parametrize("name", OBSERVED)
def test_decisions_of_a_search_are_legal(name):
    decide(name, "net:dummy,sims=3", 40)


@pytest.mark.parametrize("name", OBSERVED)
def test_decisions_of_random_networks_are_legal(name, tmp_path):
    path = random_net(GAMES[name], tmp_path)
    decide(name, f"net:{path},sims=3", 20)
    decide(name, f"net:{path},sims=0", 100)


def test_a_network_needs_observations_to_search():
    with pytest.raises(
        aleazero.GameError,
        match=r"the class has no observation_tensor\(\), which networks and other evaluators need",
    ):
        decide("coins", "net:dummy", 1)


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", ["random", "net:dummy,sims=0"])
def test_a_hundred_thousand_decisions_are_legal(name, spec):
    assert decide(name, spec, -(-100_000 // len(GAMES)), seed=1) > 5


@pytest.mark.long
@pytest.mark.parametrize("name", OBSERVED)
def test_a_hundred_thousand_decisions_of_random_networks_are_legal(name, tmp_path):
    for seed in range(4):
        path = random_net(GAMES[name], tmp_path, seed)
        assert decide(name, f"net:{path},sims=0", -(-25_000 // len(OBSERVED)), seed) > 5


@pytest.mark.long
@pytest.mark.parametrize("name", OBSERVED)
def test_a_hundred_thousand_decisions_of_searches_with_random_networks_are_legal(name, tmp_path):
    for seed, sims in enumerate((2, 3, 4)):
        path = random_net(GAMES[name], tmp_path, seed)
        assert decide(name, f"net:{path},sims={sims}", -(-100_000 // (3 * len(OBSERVED))), seed) > 5


def test_all_bundled_games_are_tested():
    assert {GAMES[name].name for name in OBSERVED} == set(game_names())
