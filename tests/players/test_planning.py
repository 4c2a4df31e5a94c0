from __future__ import annotations

import pytest

import aleazero
from aleazero.players.planning import PlanPlayer
from aleazero.players.player import own_seed


def count_plans(monkeypatch):
    planned = []
    original = aleazero.Planner.plan_many
    monkeypatch.setattr(
        aleazero.Planner, "plan_many", lambda self, states: planned.extend(states) or original(self, states)
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
