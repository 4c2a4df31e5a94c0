"""Azul as a game of networks, agents and self-play: all parts of the general interface work on it."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from azul_positions import CENTRE, WHITE, action, board, count_tiles, position, tiles, wall

import aleazero
from aleazero import EnvConfig, Environment, Search, SearchConfig, make_agent, self_play_episode
from aleazero.games.azul import from_position, to_position
from aleazero.nets.checkpoint import PolicyValueInfo, read_checkpoint
from aleazero.nets.config import NetConfig
from aleazero.nets.inference import Net, load_policy_net
from aleazero.replay.check import check_episode
from aleazero.replay.shard import shard_name, write_shard
from aleazero.replay.shard_format import Origin
from aleazero.replay.window import Sampler, Window
from aleazero.selfplay.actor import Actor
from aleazero.selfplay.config import SelfplayConfig
from aleazero.selfplay.environment import AgentInput
from aleazero.training.alphazero import fit
from aleazero.training.config import TrainConfig

AZUL = aleazero.load_game("azul")
SHOWN = EnvConfig(include_full_state=True)
SELFPLAY = SelfplayConfig(simulations=3, parallel=2)
TRAIN = TrainConfig(net=NetConfig(width=8, blocks=1, margin=True), steps=4, batch_size=16)
"""With a head for final scores: the recipe learns the winner and the margin."""


class Peaked:
    """An evaluator whose logits prefer one action, and whose values are 0."""

    def __init__(self, preferred: int, height: float = 8.0) -> None:
        self.preferred, self.height = preferred, height

    def __call__(self, observations, legal_masks):
        logits = np.zeros(legal_masks.shape)
        logits[:, self.preferred] = self.height
        return logits, np.zeros((len(observations), 2))


@contextmanager
def interpreted_loops():
    """Run compiled loops as Python, as the fixture ``interpreted`` does, also for fixtures of a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aleazero.native.compile.compiles_loops", lambda: False)
        yield


@pytest.fixture(scope="module")
def records():
    """Return the episodes of two games of self-play."""
    with interpreted_loops():
        actor = Actor(aleazero.load_game("azul"), "uniform", SELFPLAY, seed=1, iteration=0)
        return sorted(actor.play([0, 1]), key=lambda record: record.game_number)


@pytest.fixture(scope="module")
def window(records, tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    write_shard(folder / shard_name(0, 0), records, Origin.of(AZUL, "dummy", "azul"), 0)
    return Window(folder, 10_000)


@pytest.fixture(scope="module")
def path(window, tmp_path_factory):
    """Return the checkpoint of a policy-value network after a few steps."""
    file = tmp_path_factory.mktemp("net") / "net.safetensors"
    fit(AZUL, window, file, TRAIN)
    return file


def first_draft(seed=0):
    return Environment(AZUL, SHOWN).reset(seed)


# -- networks ----------------------------------------------------------------------------------------------------------


def test_a_network_has_the_shapes_and_the_range_of_the_game(path, records):
    net, rows = load_policy_net(path, AZUL), records[0].observations
    logits, values = net.predict_batch(rows)
    assert (logits.shape, values.shape) == ((len(rows), 180), (len(rows), 2))
    assert np.abs(values).max() <= 1.0
    assert np.isfinite(logits).all()
    weights, about = read_checkpoint(path, PolicyValueInfo)
    _, extreme = Net({name: 20 * weight for name, weight in weights.items()}, about).predict_batch(rows)
    assert 0.9 < np.abs(extreme).max() <= 1.0
    single, value = net.predict_single(rows[5])
    assert (single.shape, value.shape) == ((180,), (2,))
    np.testing.assert_array_equal(single, logits[5])
    np.testing.assert_array_equal(value, values[5])


def test_a_network_predicts_the_margin_in_addition_to_the_winner(path, records):
    """Values are the mean of both parts; the scores of the last head have the unit of the game's points."""
    weights, about = read_checkpoint(path, PolicyValueInfo)
    assert weights["heads.bias"].shape == (180 + 2 * 3,)  # logits; values, values of afterstates, final scores
    assert about.values.margin == TRAIN.margin_share > 0
    rows = records[0].observations
    _, both = Net(weights, about).predict_batch(rows)
    ahead = {**weights, "heads.bias": weights["heads.bias"] + np.eye(186, dtype=np.float32)[184] * 10}
    _, more = Net(ahead, about).predict_batch(rows)
    assert (more[:, 0] > both[:, 0] + 0.1).all()
    np.testing.assert_allclose(more.sum(axis=1), 0.0, atol=1e-6)


def test_a_network_is_deterministic(path, records):
    nets, rows = [load_policy_net(path, AZUL) for _ in range(2)], records[0].observations
    one, again, other = nets[0].predict_batch(rows), nets[0].predict_batch(rows), nets[1].predict_batch(rows)
    for mine, same, others in zip(one, again, other, strict=True):
        assert mine.tobytes() == same.tobytes() == others.tobytes()
    assert one[0].std() > 0


# -- search ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 7, -1])
def test_one_simulation_follows_the_priors(place):
    state = first_draft().state
    preferred = state.legal_actions()[place]
    result = Search(AZUL, Peaked(preferred), SearchConfig(num_simulations=1)).run(state)
    assert result.best_action == preferred
    assert (
        dict(zip(result.actions.tolist(), result.visits.tolist(), strict=True))[preferred] == result.visits.sum() == 1
    )
    assert result.priors.argmax() == result.actions.tolist().index(preferred)


def test_illegal_actions_get_no_visits_although_their_logits_are_high():
    state = first_draft().state
    illegal = sorted(set(range(180)) - set(state.legal_actions()))[3]
    result = Search(AZUL, Peaked(illegal, 50.0), SearchConfig(num_simulations=60)).run(state)
    assert result.actions.tolist() == state.legal_actions()
    assert result.visits.sum() == 60
    np.testing.assert_allclose(result.priors, 1 / len(result.actions))


def test_noise_changes_the_priors_at_the_root():
    state = first_draft().state
    preferred = state.legal_actions()[4]

    def priors(seed, **noise):
        config = SearchConfig(num_simulations=4, seed=seed, **noise)
        return Search(AZUL, Peaked(preferred), config).run(state).priors

    clean, noisy = priors(1), priors(1, noise_alpha=0.3, noise_fraction=0.5)
    np.testing.assert_array_equal(noisy, priors(1, noise_alpha=0.3, noise_fraction=0.5))
    assert noisy.sum() == pytest.approx(1.0)
    assert (noisy >= 0.5 * clean - 1e-12).all()
    assert abs(noisy - clean).max() > 0.1
    assert abs(noisy - priors(2, noise_alpha=0.3, noise_fraction=0.5)).max() > 0.01
    np.testing.assert_array_equal(clean, priors(1, noise_alpha=0.3, noise_fraction=0.0))


def test_temperature_selects_how_sharply_visits_are_followed():
    result = Search(AZUL, Peaked(0, 0.0), SearchConfig(num_simulations=120)).run(first_draft().state)
    assert {result.sample_action(temperature=0, seed=seed) for seed in range(20)} == {result.best_action}
    drawn = [result.sample_action(temperature=1.0, seed=seed) for seed in range(600)]
    tried = set(result.actions[result.visits > 0].tolist())
    assert len(tried) > 30
    assert set(drawn) <= tried
    assert len(set(drawn)) > len(tried) / 2
    share = result.visits[result.actions.tolist().index(result.best_action)] / 120
    assert abs(drawn.count(result.best_action) / 600 - share) < 5 * np.sqrt(share * (1 - share) / 600)


@pytest.mark.parametrize("depth", [1, 2])
def test_the_depth_of_a_search_is_limited(depth):
    state = first_draft().state
    config = {"num_simulations": 120, "c": 0.3}
    limited = Search(AZUL, Peaked(state.legal_actions()[0]), SearchConfig(**config, max_depth=depth)).run(state)
    free = Search(AZUL, Peaked(state.legal_actions()[0]), SearchConfig(**config)).run(state)
    assert limited.stats.depth == depth < free.stats.depth


def last_white(score):
    """Return a position in which player 0 drafts the last tile, with the first row of the wall almost complete."""
    own = board(score=score, wall=wall("XXXX."))
    return from_position(position(own, board(score=25), centre=tiles(white=1), next_start=0))


@pytest.mark.parametrize("spec", ["search:sims=60,evaluator=uniform", "search:sims=60,evaluator=rollout", "lookahead"])
def test_an_immediate_win_is_found(spec):
    state = last_white(score=20)
    wins = action(CENTRE[2], WHITE, 0)
    after = state.child(wins)
    assert (after.is_terminal(), after.returns()) == (True, [1.0, -1.0])  # 20 + 5 + 2 against 25
    assert [state.child(other).is_terminal() for other in state.legal_actions()] == [True] + [False] * 5
    assert make_agent(spec, AZUL).select_action(seen_of(state)) == wins


def test_the_same_move_is_not_played_if_it_loses():
    state = last_white(score=0)
    assert state.child(action(CENTRE[2], WHITE, 0)).returns() == [-1.0, 1.0]
    assert make_agent("search:sims=60,evaluator=uniform", AZUL).select_action(seen_of(state)) != action(5, WHITE, 0)


# -- agents and environments -------------------------------------------------------------------------------------------


def seen_of(state, allowed=None):
    mask = state.legal_actions_mask()
    if allowed is not None:
        mask[:] = False
        mask[allowed] = True
    return AgentInput(state.observation_tensor(), mask, state.current_player(), state)


def test_the_state_is_in_the_input_if_the_environment_includes_it():
    shown, hidden = Environment(AZUL, SHOWN).reset(5), Environment(AZUL).reset(5)
    assert hidden.agent_input.state is None
    seen = shown.agent_input
    assert seen.state.legal_actions() == np.flatnonzero(seen.legal_action_mask).tolist()
    assert seen.state.current_player() == seen.current_player == 0
    np.testing.assert_array_equal(seen.observation, seen.state.observation_tensor(0))
    np.testing.assert_array_equal(hidden.agent_input.observation, seen.observation)
    with pytest.raises(aleazero.ConfigError, match=r"needs the state, got none: expected EnvConfig\(include_full_st"):
        make_agent("greedy", AZUL).select_action(hidden.agent_input)


@pytest.mark.parametrize("kind", ["search:sims=20,evaluator=rollout", "greedy", "lookahead", "net:{},sims=6", "random"])
def test_agents_select_among_the_allowed_actions(kind, path):
    agent, generator = make_agent(kind.format(path), AZUL), np.random.default_rng(1)
    for seed in range(4):
        state = first_draft(seed).state
        allowed = sorted(generator.permutation(state.legal_actions())[:3].tolist())
        assert agent.select_action(seen_of(state, allowed)) in allowed
        assert agent.select_action(seen_of(state, allowed[:1])) == allowed[0]


@pytest.mark.parametrize("kind", ["net:{},sims=6", "search:sims=10,evaluator=rollout", "net:{},sims=0"])
def test_a_whole_game_keeps_all_tiles_and_repeats_with_the_same_seeds(kind, path):
    def episode(seed):
        agents = [make_agent(kind.format(path), AZUL, seed=seat) for seat in range(2)]
        return self_play_episode(Environment(AZUL, SHOWN), agents, seed)

    played, again = episode(3), episode(3)
    assert played == again
    assert played.decisions != episode(4).decisions
    environment = Environment(AZUL, SHOWN)
    step = environment.reset(3)
    for player, chosen in played.decisions:
        assert count_tiles(to_position(step.state)) == [20] * 5
        assert (step.current_player, bool(step.legal_action_mask[chosen])) == (player, True)
        assert step.state.legal_actions() == np.flatnonzero(step.legal_action_mask).tolist()
        step = environment.step(chosen)
    assert step.done
    assert count_tiles(to_position(step.state)) == [20] * 5
    assert played.returns == step.rewards.tolist() == step.state.returns()
    assert sorted(played.returns) in ([-1.0, 1.0], [0.0, 0.0])
    assert final_scores(3, again.decisions) == [own["score"] for own in to_position(step.state)["boards"]]


def final_scores(seed, decisions):
    environment = Environment(AZUL, SHOWN)
    step = environment.reset(seed)
    for _, chosen in decisions:
        step = environment.step(chosen)
    return [own["score"] for own in to_position(step.state)["boards"]]


# -- self-play and training --------------------------------------------------------------------------------------------


def test_training_examples_describe_their_games(records):
    for record in records:
        check_episode(record, AZUL)
        decisions, searched = ~record.afterstate, record.weights > 0
        assert record.observations.shape[1:] == (AZUL.observation_size,)
        assert (record.policies[~record.legal_masks] == 0).all()
        np.testing.assert_allclose(record.policies[searched].sum(axis=1), 1.0, atol=1e-6)
        assert (record.legal_masks[decisions].sum(axis=1) > 1).any()
        assert sorted(record.returns.tolist()) in ([-1.0, 1.0], [0.0, 0.0])
    assert not records[0].equals(records[1])


def test_self_play_repeats_with_the_same_seed(records):
    with interpreted_loops():
        actor = Actor(
            aleazero.load_game("azul"), "uniform", SelfplayConfig(simulations=3, parallel=1), seed=1, iteration=0
        )
        (again,) = actor.play([1])
    assert again.equals(records[1])


def test_batches_hold_examples_from_the_view_of_their_player(window, records):
    batch = Sampler(window, 32, seed=2).next()
    assert batch.observations.shape == (32, AZUL.observation_size)
    assert batch.policies.shape == batch.legal_masks.shape == (32, 180)
    for row in range(len(batch)):
        final = records[batch.game[row]].returns
        np.testing.assert_allclose(batch.returns[row], np.roll(final, -batch.viewers[row]))
        np.testing.assert_allclose(batch.scores[row], np.roll(records[batch.game[row]].scores[0], -batch.viewers[row]))
    same, other = Sampler(window, 32, seed=2).next(), Sampler(window, 32, seed=3).next()
    np.testing.assert_array_equal(same.rows, batch.rows)
    assert (other.rows != batch.rows).any()
