from __future__ import annotations

import pytest

import aleazero
from aleazero.players.planning import PlanPlayer
from aleazero.players.player import own_seed


def count_plans(monkeypatch):
    planned = []
    original = aleazero.Planner._plan_all
    monkeypatch.setattr(
        aleazero.Planner, "_plan_all", lambda self, states, some: planned.extend(states) or original(self, states, some)
    )
    return planned


def test_one_plan_serves_a_turn(monkeypatch):
    pig = aleazero.load_game("pig")
    player = PlanPlayer(pig, "uniform", {"horizon": "turn"})
    planned = count_plans(monkeypatch)
    for turn in (4, 9, 12):
        player.select(pig.state_from_text(f"80-60 turn {turn}"), 7)
    assert len(planned) == 1
    player.select(pig.state_from_text("80-60 turn 12"), 8)  # another seat or game has plans of its own
    player.select(pig.state_from_text("80-70 turn 12"), 7)
    assert len(planned) == 3


@pytest.mark.parametrize(
    ("evaluator", "settings"), [("uniform", {"plies": 2}), ("rollout", {"horizon": "turn"})], ids=["plies", "rollout"]
)
def test_plans_that_see_less_or_have_luck_serve_one_decision(monkeypatch, evaluator, settings):
    pig = aleazero.load_game("pig")
    player = PlanPlayer(pig, evaluator, settings)
    planned = count_plans(monkeypatch)
    for turn in (4, 9):
        player.select(pig.state_from_text(f"80-60 turn {turn}"), 7)
    assert len(planned) == 2


def test_the_playouts_luck_is_of_the_seed_and_the_position():
    pig = aleazero.load_game("pig")
    states = [pig.state_from_text(f"80-60 turn {turn}") for turn in range(2, 20)]
    player = PlanPlayer(pig, "rollout", {"horizon": "turn"})
    expected = [aleazero.Planner(pig, "rollout", seed=own_seed(state, 3)).run(state).best_action for state in states]
    assert player.select_many(states, [3] * len(states)) == expected


def test_many_at_once_are_as_one_after_the_other():
    pig = aleazero.load_game("pig")
    states = [pig.state_from_text(f"{score}-60 turn {turn}") for score in (10, 80) for turn in (3, 19, 25)]
    many = PlanPlayer(pig, "uniform", {"plies": 3}).select_many(states, range(6))
    assert many == [PlanPlayer(pig, "uniform", {"plies": 3}).select(state, 0) for state in states]


@pytest.mark.parametrize(
    ("evaluator", "settings"),
    [("uniform", {"horizon": "turn"}), ("uniform", {"plies": 1, "keep": 1}), ("rollout", {"plies": 1})],
    ids=["turn", "pruned", "rollout"],
)
def test_the_best_of_what_is_allowed(evaluator, settings):
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("filled none upper 0 total 0 / player 0 dice 33366 rerolls 0")
    player = PlanPlayer(game, evaluator, settings)
    best = player.select(state, 3)
    others = [action for action in state.legal_actions() if action != best]
    planner = aleazero.Planner(game, evaluator, **settings, seed=own_seed(state, 3))
    assert player.select(state, 3, others) == planner.run(state, others).best_action != best
    assert player.select_many([state, state], [3, 3], [others, None]) == [player.select(state, 3, others), best]
    assert player.select(state, 3) == best  # the plan of the turn is as it was


def test_the_best_of_what_is_allowed_is_that_of_the_turns_values():
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("filled none upper 0 total 0 / player 0 dice 55126 rerolls 1")
    values = {a: v[0] for a, v in aleazero.Planner(game, "uniform").plan(state).action_values(state).items()}
    allowed = sorted(values, key=values.get)[:5]
    assert values[PlanPlayer(game, "uniform", {}).select(state, 0, allowed)] == max(values[a] for a in allowed)
