"""Azul with the recipe ``afterstate``: the game's own settings, training, and play with the trained network."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

import aleazero
from aleazero import CHANCE, DECISION
from aleazero.games.kit import kit_of
from aleazero.games.states import KernelStates
from aleazero.nets.planned import PlannedEvaluator
from aleazero.players.make import make_player, make_search
from aleazero.players.spec import parse_spec
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.config import config_for

AZUL = aleazero.load_game("azul")
TINY = {"lanes": 6, "lane_groups": 2, "rounds": 5, "batch_size": 32, "target": "td"}  # games last longer


def trained(game, threads=1, rounds=5, **settings):
    with closing(AfterstateLearner(game, config_for(game, {**TINY, **settings}, {"hidden": (8,)}), threads)) as learner:
        found = [learner.round() for _ in range(rounds)]
    return learner, found


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("azul") / "net.safetensors"
    learner, _ = trained(AZUL)
    noise = np.random.default_rng(0).normal(0.0, 0.05, learner.net.size)
    learner.mean += noise.astype(np.float32)
    learner.save(file)
    return file


@pytest.fixture(scope="module")
def states():
    """Return the states of a random game, except the last."""
    rng, state, found = np.random.default_rng(3), AZUL.new_initial_state(), []
    while not state.is_terminal():
        found.append(state.vector.copy())
        chance = state.is_chance_node()
        state.apply_action(state.sample_outcome(rng.random()) if chance else int(rng.choice(state.legal_actions())))
    return KernelStates(AZUL, np.array(found))


def test_results_do_not_depend_on_threads():
    (one, rounds), (other, same) = trained(AZUL), trained(AZUL, threads=2)
    assert repr(rounds) == repr(same)
    assert {name: array.tobytes() for name, array in one.state().items()} == {
        name: array.tobytes() for name, array in other.state().items()
    }


def test_lanes_stand_between_drafts():
    """Scattered lanes stand at drafts and before complete refills, never within one."""
    learner, _ = trained(AZUL, lanes=40, rounds=3)
    kinds = {DECISION: 0, CHANCE: 0}
    for group in learner.groups:
        for vector in group.states:
            state = AZUL.state_from_vector(vector)
            kinds[state.kind()] += 1
            assert state.kind() == DECISION or not vector[20:29].any()
            assert state.phase() == (state.kind() == CHANCE)
    assert min(kinds.values()) > 0


def test_decisions_are_valued_as_by_plans(path, states):
    evaluator = PlannedEvaluator.load(path, AZUL)
    fast = evaluator(states)
    lists, evaluator._next = evaluator._next, None
    assert sum(len(part.rows) for part in lists.parts(states.vectors)) == sum(s.kind() == DECISION for s in states)
    assert [array.tobytes() for array in evaluator(states)] == [array.tobytes() for array in fast]
    assert fast[1].std() > 0.01


def test_a_refill_has_the_value_of_the_edge(path):
    evaluator = PlannedEvaluator.load(path, AZUL)
    edge = AZUL.new_initial_state()
    within = edge.child(edge.legal_actions()[7])
    _, values = evaluator([edge, within])
    assert values[0].tobytes() == values[1].tobytes()
    assert abs(values[0, 0]) > 0


def test_a_network_plays_with_and_without_a_search(path, states):
    decisions = [state for state in states if state.kind() == DECISION and len(state.legal_actions()) > 1][::5]
    evaluator = PlannedEvaluator.load(path, AZUL)
    chosen = make_player(f"net:{path}", AZUL).select_many(decisions, range(len(decisions)))
    for state, action in zip(decisions, chosen, strict=True):
        after = np.array([state.child(a).vector for a in state.legal_actions()])
        worth = evaluator.values.values_by_player(after, 0.001)[:, state.current_player()]
        assert action == state.legal_actions()[int(np.argmax(worth))]
    player = make_player(f"search:net={path},sims=20", AZUL)
    searched = player.select_many(decisions, range(len(decisions)))
    assert searched == player.select_many(decisions, range(len(decisions)))
    assert all(action in state.legal_actions() for state, action in zip(decisions, searched, strict=True))
    assert searched != chosen


@pytest.mark.usefixtures("interpreted")
def test_three_players_learn_all_wins():
    game = aleazero.load_game("azul", players=3)
    learner, rounds = trained(game, rounds=1, lanes=1, lane_groups=1)
    assert [column.name for column in learner.outcome.columns] == ["win_0", "win_1", "win_2"]
    assert learner.net.config.kind == "mlp"
    assert rounds[0].turns == 1


def test_priors_have_the_temperature_of_the_kit(path, states):
    own = kit_of(AZUL).prior_temperature
    assert own is not None
    decision = [state for state in states if state.kind() == DECISION][:1]
    by_default, _ = PlannedEvaluator.load(path, AZUL)(decision)
    given, _ = PlannedEvaluator.load(path, AZUL, prior_temperature=2 * own)(decision)
    np.testing.assert_allclose(by_default, 2 * given)


def test_searches_have_the_settings_of_the_kit_unless_the_spec_has_others(path):
    def config(text):
        return make_search(parse_spec(f"search:net={path},{text}"), AZUL)[1]

    evaluator = PlannedEvaluator.load(path, AZUL)
    assert evaluator.logit_unit == pytest.approx(2 * kit_of(AZUL).prior_temperature)  # returns are -1 to 1
    assert (config("sims=5").c, config("sims=5").first_play) == (0.5, "logits")
    assert config("c=0.7").c == 0.7
    assert config("chance=open").first_play == "parent"
    assert (config("selection=uct").c, make_search(parse_spec("search"), AZUL)[1].c) == (1.5, 1.5)


def test_the_first_visits_follow_the_values_of_the_network(path, states):
    """Without exploration, the first draft that is tried is the best one by its logit, and the next by its value."""
    decision = next(state for state in states if state.kind() == DECISION)
    evaluator = PlannedEvaluator.load(path, AZUL)
    logits, _ = evaluator([decision])
    one = aleazero.Search(AZUL, evaluator, aleazero.SearchConfig(num_simulations=1, c=0.0, first_play="logits"))
    legal = decision.legal_actions()
    assert one.run(decision).best_action == legal[int(np.argmax(logits[0, legal]))]
