from __future__ import annotations

import builtins

import numpy as np
import pytest

import aleazero
from aleazero.selfplay.environment import AgentInput, make_agent

GAME = aleazero.load_game("tic_tac_toe")
START = GAME.new_initial_state()
THINKING = ("greedy", "oracle", "search:sims=12,evaluator=uniform", "plan:plies=1,evaluator=uniform", "net:dummy")
SIMPLE = ("random", "net:dummy,sims=0")


def seen_of(state, allowed=None, shown=True):
    mask = state.legal_actions_mask()
    if allowed is not None:
        mask[:] = False
        mask[allowed] = True
    return AgentInput(state.observation_tensor(), mask, state.current_player(), state if shown else None)


@pytest.mark.parametrize("spec", THINKING)
def test_an_agent_selects_the_action_of_its_player(spec):
    agent, player = make_agent(spec, GAME, seed=5), aleazero.make_player(spec, GAME)
    for state in (START, START.child(4), START.child(4).child(0)):
        assert agent.select_action(seen_of(state)) == player.select(state, 5)


@pytest.mark.parametrize("spec", THINKING)
def test_search_agents_need_the_state(spec):
    with pytest.raises(aleazero.ConfigError) as caught:
        make_agent(spec, GAME).select_action(seen_of(START, shown=False))
    message = f"agent {spec!r} needs the state, got none: expected EnvConfig(include_full_state=True)"
    assert str(caught.value) == message


@pytest.mark.parametrize("spec", SIMPLE)
def test_simple_agents_ignore_the_state(spec):
    def chosen(shown):
        agent = make_agent(spec, GAME, seed=3)
        seen = AgentInput(START.observation_tensor(), START.legal_actions_mask(), 0, shown)
        return [agent.select_action(seen) for _ in range(20)]

    assert chosen(None) == chosen(START) == chosen(START.child(4))


@pytest.mark.parametrize("spec", THINKING + SIMPLE)
def test_a_mask_can_restrict_the_legal_actions(spec):
    agent = make_agent(spec, GAME, seed=1)
    for allowed in ([7], [3, 7], [1, 3, 5, 7]):
        for _ in range(5):
            assert agent.select_action(seen_of(START, allowed)) in allowed


@pytest.mark.parametrize("spec", THINKING)
def test_a_mask_cannot_extend_the_legal_actions(spec):
    with pytest.raises(aleazero.IllegalActionError, match="action 4 to consider"):
        make_agent(spec, GAME).select_action(seen_of(START.child(4), [3, 4, 5]))


@pytest.mark.parametrize("spec", ["random", "search:sims=5", "net:dummy,sims=0"])
def test_masks_of_other_types_are_accepted(spec):
    seen = seen_of(START, [2])
    for kind in (np.int8, np.float32):
        as_numbers = AgentInput(seen.observation, seen.legal_action_mask.astype(kind), 0, START)
        assert make_agent(spec, GAME).select_action(as_numbers) == 2


@pytest.mark.parametrize("spec", ["random", "search:sims=5", "net:dummy,sims=0"])
def test_errors_are_one_line(spec):
    agent = make_agent(spec, GAME)
    for mask, error, message in (
        (np.ones(8), aleazero.ConfigError, r"legal_action_mask has shape \(8,\), expected \(9,\)"),
        (np.ones((1, 9)), aleazero.ConfigError, r"legal_action_mask has shape \(1, 9\), expected \(9,\)"),
        (np.zeros(9), aleazero.PositionError, "tic_tac_toe: legal_action_mask is all false, expected at least one"),
    ):
        with pytest.raises(error, match=message):
            agent.select_action(AgentInput(START.observation_tensor(), mask, 0, START))


def test_a_state_of_another_player_is_rejected():
    seen = AgentInput(START.observation_tensor(), START.legal_actions_mask(), 1, START)
    with pytest.raises(aleazero.PositionError, match="current_player is 1, expected 0 as in the state"):
        make_agent("search:sims=5", GAME).select_action(seen)


@pytest.mark.parametrize("seed", [-1, 2**64, True, 1.0, None])
def test_invalid_seeds_are_rejected(seed):
    with pytest.raises(aleazero.ConfigError, match=r"seed is .*, expected 0 to"):
        make_agent("random", GAME, seed=seed)


def test_invalid_specs_raise_the_errors_of_players():
    with pytest.raises(aleazero.ConfigError, match="did you mean search"):
        make_agent("serch", GAME)
    with pytest.raises(aleazero.ConfigError, match="expected a Game"):
        make_agent("random", "pig")


def test_the_random_agent_draws_actions_uniformly():
    agent = make_agent("random", GAME, seed=2)
    counts = np.bincount([agent.select_action(seen_of(START, [0, 4, 8])) for _ in range(3000)], minlength=9)
    assert counts[[0, 4, 8]].sum() == 3000
    assert (abs(counts[[0, 4, 8]] - 1000) < 5 * np.sqrt(1000 * 2 / 3)).all()


@pytest.mark.parametrize("spec", ["random", "search:sims=4"])
def test_random_numbers_depend_on_seed_and_episode(spec):
    def chosen(agent, number):
        agent.begin_episode(number)
        return [agent.select_action(seen_of(START)) for _ in range(4)]

    agent = make_agent(spec, GAME, seed=1)
    episodes = [chosen(agent, number) for number in range(12)]
    assert [chosen(agent, number) for number in range(12)] == episodes
    assert [chosen(make_agent(spec, GAME, seed=1), number) for number in range(12)] == episodes
    assert [chosen(make_agent(spec, GAME, seed=2), number) for number in range(12)] != episodes
    assert len({tuple(episode) for episode in episodes}) > 1


def test_a_human_agent(monkeypatch):
    monkeypatch.setattr(builtins, "input", lambda: "4")
    assert make_agent("human", GAME).select_action(seen_of(START)) == 4


def test_a_custom_agent():
    class Last(aleazero.Agent):
        def select_action(self, seen):
            return int(np.flatnonzero(seen.legal_action_mask)[-1])

    agent = Last()
    agent.begin_episode(1)
    assert agent.select_action(seen_of(START)) == 8
