from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_games import sample_games

import aleazero
from aleazero import EnvConfig, Environment
from aleazero.evaluation.match import play_match


class Toss:
    """A coin toss comes first: tails ends the game, heads lets player 1 decide."""

    name, num_players, num_actions, max_outcomes, utility = "toss", 2, 3, 2, (-1.0, 1.0)

    def __init__(self):
        self.tossed, self.won = None, None

    def current_player(self):
        return -1 if self.tossed is None else -4 if self.tossed == 0 or self.won is not None else 1

    def legal_actions(self):
        return [1, 2]

    def chance_outcomes(self):
        return [(0, 0.5), (1, 0.5)]

    def apply_action(self, action):
        if self.tossed is None:
            self.tossed = action
        else:
            self.won = action == 2

    def returns(self):
        return [1.0, -1.0] if self.tossed == 0 else [0.0, 0.0] if self.won is None else [-1.0, 1.0]

    def observation_tensor(self, player):
        return [player, self.tossed is not None]


GAMES = {**sample_games(target=30), "toss": aleazero.load_game(Toss)}
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def test_all_bundled_games_are_tested():
    assert {game.name for game in GAMES.values()} >= set(aleazero.game_names())


def steps_of(environment, seed, choices, most=60):
    """Return at most ``most`` steps of an episode; ``choices`` selects the actions."""
    steps = [environment.reset(seed)]
    while not steps[-1].done and len(steps) < most:
        legal = np.flatnonzero(steps[-1].legal_action_mask)
        steps.append(environment.step(int(legal[choices[len(steps) % len(choices)] % len(legal)])))
    return steps


@every_game
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), choices=st.lists(st.integers(0, 1000), min_size=1, max_size=20))
def test_steps_match_the_state(game, seed, choices):
    shown = Environment(game, EnvConfig(include_full_state=True))
    for step in steps_of(shown, seed, choices, 12):
        state = step.state
        assert step.done == state.is_terminal()
        assert not state.is_chance_node()
        assert step.current_player == state.current_player()
        assert (step.legal_action_mask == state.legal_actions_mask()).all()
        assert step.observations.shape == (game.num_players, shown.observation_size)
        assert step.observations.dtype == np.float32
        for player in range(game.num_players if shown.observation_size else 0):
            assert (step.observations[player] == state.observation_tensor(player)).all()


@every_game
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), choices=st.lists(st.integers(0, 1000), min_size=1, max_size=20))
def test_rewards_sum_to_the_returns(game, seed, choices):
    for reward in ("terminal", "delta"):
        environment = Environment(game, EnvConfig(reward=reward))
        steps = steps_of(environment, seed, choices, 400)
        rewards = np.array([step.rewards for step in steps])
        assert rewards.shape == (len(steps), game.num_players)
        assert rewards.dtype == np.float64
        if reward == "terminal":
            assert not rewards[:-1].any()
        if reward == "delta" or steps[-1].done:
            assert rewards.sum(axis=0) == pytest.approx(np.array(environment.returns()), abs=1e-9)
        else:
            assert not rewards.any()


def test_rewards_are_given_when_points_are_scored():
    steps = steps_of(Environment(GAMES["2048"], EnvConfig(reward="delta")), 3, [1, 2, 3], 80)
    assert sum(bool(step.rewards[0]) for step in steps) > 10
    solo = steps_of(Environment(GAMES["yatzy-1"], EnvConfig(reward="delta")), 3, [40], 80)
    assert solo[-1].done
    assert sum(bool(step.rewards[0]) for step in solo) > 3


def test_initial_returns_are_part_of_the_first_reward():
    environment = Environment(GAMES["coins"], EnvConfig(reward="delta"))
    assert environment.reset(0).rewards.tolist() == [0.0]
    assert environment.returns() == [1.0]
    assert environment.step(1).rewards.tolist() == [1.0]


def test_an_episode_may_end_before_the_first_decision():
    environment = Environment(GAMES["toss"])
    steps = {environment.reset(seed).done: environment.reset(seed) for seed in range(20)}
    assert steps[True].rewards.tolist() == [1.0, -1.0]
    assert steps[True].current_player == -4
    assert not steps[True].legal_action_mask.any()
    assert steps[False].rewards.tolist() == [0.0, 0.0]
    assert steps[False].current_player == 1
    assert steps[False].legal_action_mask.tolist() == [False, True, True]


@every_game
def test_the_state_is_included_only_if_enabled(game):
    for config, shown in ((None, False), (EnvConfig(), False), (EnvConfig(include_full_state=True), True)):
        steps = steps_of(Environment(game, config), 1, [0, 1], 5)
        assert {isinstance(step.state, aleazero.State) for step in steps} == {shown}
        assert shown or {step.state for step in steps} == {None}
        inputs = [step.agent_input for step in steps if not step.done]
        assert {seen.state is not None for seen in inputs} <= {shown}


@pytest.mark.parametrize("name", ["pig", "2048", "yatzy-1", "yatzy-3", "tic_tac_toe"])
def test_the_dice_are_those_of_a_match(name):
    game = GAMES[name]
    players = [aleazero.make_player("random", game) for _ in range(game.num_players)]
    played = play_match(game, players, [11, 12])
    environment = Environment(game, EnvConfig(include_full_state=True))
    for one in played:
        step = environment.reset(one.seed)
        for player, action in one.steps:
            if player >= 0:
                assert step.current_player == player
                step = environment.step(action)
        assert step.done
        assert step.state.key() == one.state.key()
        assert step.rewards.tolist() == one.returns


def test_results_are_copies():
    environment = Environment(GAMES["pig"], EnvConfig(include_full_state=True))
    step = environment.reset(1)
    step.state.apply_action(0)
    step.legal_action_mask[:] = False
    step.observations[:] = 9
    step.rewards[:] = 9
    again = environment.step(0)
    fresh = Environment(GAMES["pig"], EnvConfig(include_full_state=True))
    fresh.reset(1)
    assert again.state.key() == fresh.step(0).state.key()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (1, "pig: action 1 is illegal here, expected one of 0"),
        (-1, "action -1 is illegal here, expected one of 0"),
        (2**70, "is illegal here, expected one of 0"),
        ("roll", "action is 'roll', expected an integer, one of [0]"),
        (0.0, "action is 0.0, expected an integer"),
        (None, "action is None"),
        (True, "action is True"),
        (np.array([0]), "action is array([0]), expected an integer"),
    ],
)
def test_an_illegal_action_changes_nothing(action, message):
    environment, other = Environment(GAMES["pig"]), Environment(GAMES["pig"])
    environment.reset(4)
    other.reset(4)
    for _ in range(2):
        with pytest.raises(aleazero.IllegalActionError) as caught:
            environment.step(action)
        assert message in str(caught.value)
    for _ in range(3):
        assert (environment.step(0).observations == other.step(np.int64(0)).observations).all()


def test_integers_of_all_types_are_accepted():
    seen = []
    for action in (0, np.int8(0), np.uint64(0), np.array(0)):
        environment = Environment(GAMES["pig"])
        environment.reset(4)
        seen.append(environment.step(action).observations.tolist())
    assert seen == [seen[0]] * 4


def test_equivalents_of_a_legal_action_are_accepted():
    one, other = (Environment(GAMES["yatzy-1"], EnvConfig(include_full_state=True)) for _ in range(2))
    state, _ = one.reset(0).state, other.reset(0)
    while not (equivalents := [a for a in range(state.game.num_actions) if state.canonical_action(a) not in (-1, a)]):
        action = state.legal_actions()[0]
        state, _ = one.step(action).state, other.step(action)
    after = one.step(equivalents[0]).state
    assert after.key() == other.step(state.canonical_action(equivalents[0])).state.key() != state.key()


def test_a_step_after_the_end_is_rejected():
    environment = Environment(GAMES["tic_tac_toe"])
    steps = steps_of(environment, 0, [0])
    assert steps[-1].done
    for action in (0, 8):
        with pytest.raises(aleazero.PositionError, match=r"the episode is over, got action \d: reset begins another"):
            environment.step(action)
    with pytest.raises(aleazero.PositionError, match="the episode is over, expected a decision"):
        _ = steps[-1].agent_input
    assert not environment.reset(1).done


def test_methods_before_reset_are_rejected():
    environment = Environment(GAMES["pig"])
    for call in (lambda: environment.step(0), environment.returns, environment.text):
        with pytest.raises(aleazero.PositionError, match=r"no episode has begun, expected reset\(seed\) first"):
            call()


@pytest.mark.parametrize("seed", [-1, 2**64, "1", None, False, 1.5])
def test_invalid_seeds_are_rejected(seed):
    with pytest.raises(aleazero.ConfigError, match=r"seed is .*, expected 0 to"):
        Environment(GAMES["pig"]).reset(seed)


def test_invalid_settings_are_rejected():
    with pytest.raises(aleazero.ConfigError, match="EnvConfig: reward is 'dense', expected 'terminal' or 'delta'"):
        EnvConfig(reward="dense")
    with pytest.raises(aleazero.ConfigError, match="no setting 'rewards', did you mean reward"):
        EnvConfig(rewards="delta")
    with pytest.raises(aleazero.ConfigError, match="include_full_state is 'yes'"):
        EnvConfig(include_full_state="yes")
    with pytest.raises(aleazero.ConfigError, match="config is 'delta', expected an EnvConfig"):
        Environment(GAMES["pig"], "delta")
    with pytest.raises(aleazero.ConfigError, match="game is 'pig', expected a Game"):
        Environment("pig")


def test_a_class_without_observations_has_empty_rows():
    environment = Environment(GAMES["coins"])
    assert environment.observation_size == 0
    assert environment.reset(0).observations.shape == (1, 0)
    assert environment.text() == "1 coins"
