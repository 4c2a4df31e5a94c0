"""Games in progress: compiled code and Python give equal records."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import aleazero
from aleazero import ContractError
from aleazero.search.compiled_searches import best_slot
from aleazero.search.root import noise_key, noise_keys, position_of
from aleazero.search.tree.arrays import make_root_results
from aleazero.selfplay import compiled_games
from aleazero.selfplay.actor import Actor
from aleazero.selfplay.compiled_games import CompiledGames, GamesScratch, drawn_slot, exact_sum
from aleazero.selfplay.config import SelfplayConfig, Temperature, sample_index
from aleazero.selfplay.running_games import PlainGames
from tests.selfplay.test_actor import GAMES, Noisy

SETTINGS = {
    "usual": {},
    "best moves, no noise": {"temperature": Temperature(start=0.0), "noise_alpha": 0.0},
    "fast searches, in flight": {"full_share": 0.4, "fast_simulations": 2, "in_flight": 3},
    "a schedule": {"temperature": Temperature(kind="exponential", start=1.5, end=0.3, plies=6)},
    "all outcomes": {"chance": "full"},
    "open loop": {"chance": "open"},
}


def records(name: str, settings: dict, kind: type, evaluator=Noisy, **more):
    game = aleazero.load_game(name, **GAMES[name])
    config = SelfplayConfig(**{"simulations": 6, "parallel": 3, **settings})
    actor = Actor(game, evaluator(game), config, seed=4, iteration=2, **more)
    assert type(actor._games) is CompiledGames
    if kind is PlainGames:
        actor._games = PlainGames(actor._games._setting, actor._driver)
    found = sorted(actor.play(range(4)), key=lambda record: record.game_number)
    return found, actor.decisions, actor.evaluations


def require_same(name: str, settings: dict, **more) -> None:
    compiled, *counts = records(name, settings, CompiledGames, **more)
    plain, *wanted = records(name, settings, PlainGames, **more)
    assert counts == wanted
    assert len(compiled) == len(plain) == 4
    for one, other in zip(compiled, plain, strict=True):
        assert one.equals(other)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_compiled_games_and_python_games_give_equal_records(settings: dict) -> None:
    require_same("pig", settings)


@pytest.mark.parametrize("name", ["yatzy", "tic_tac_toe", "2048"])
def test_equal_records_with_own_dice_without_dice_and_of_long_games(name: str) -> None:
    require_same(name, {"full_share": 0.5, "simulations": 4})


def test_equal_records_with_unknown_values() -> None:
    require_same("pig", {}, evaluator=lambda game: "uniform", values_known=False)


@pytest.mark.parametrize("name", ["pig", "yatzy"])
def test_arrays_of_steps_and_decisions_grow(name: str, monkeypatch) -> None:
    settings = {"simulations": 2}
    wanted, *_ = records(name, settings, CompiledGames)
    monkeypatch.setattr(compiled_games, "FIRST_STEPS", 1)
    monkeypatch.setattr(compiled_games, "FIRST_DECISIONS", 1)
    found, *_ = records(name, settings, CompiledGames)
    assert all(one.equals(other) for one, other in zip(found, wanted, strict=True))


BROKEN = """
from aleazero import CHANCE, DECISION, TERMINAL, GameInfo

def describe():
    return GameInfo("broken", num_players=1, num_actions=2, max_outcomes=2, utility=(0, 2), state_size=2,
                    decision_classes=("one",))
def init(state): state[0] = {kind}
def kind(state): return state[0]
def to_play(state): return 0
def viewer(state): return {viewer}
def decision_class(state): return {decision_class}
def legal(state, out):
    out[0], out[1] = 0, 1
    return 2
def apply(state, action): state[0], state[1] = TERMINAL, action
def outcomes(state, ids, probabilities):
    ids[0], ids[1], probabilities[0], probabilities[1] = 0, 1, 0.5, {probability}
    return 2
def apply_outcome(state, outcome): state[0] = DECISION
def returns(state, out): out[0] = state[1]
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probability": 0.25}, "probabilities sum to 0.75, expected 1"),
        ({"viewer": 3}, "gave viewer 3 and decision class 0, expected 0 to 0 and 0 to 0"),
        ({"kind": "DECISION", "decision_class": 2}, "viewer 0 and decision class 2, expected 0 to 0 and 0 to 0"),
    ],
)
def test_broken_rules_raise_an_error(tmp_path, monkeypatch, change: dict, message: str) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)  # compiling takes longer than these games
    numbers = {"kind": "CHANCE", "viewer": 0, "decision_class": 0, "probability": 0.5, **change}
    text = BROKEN
    for name, number in numbers.items():
        text = text.replace(f"{{{name}}}", str(number))
    (tmp_path / "broken.py").write_text(text, encoding="utf-8")
    game = aleazero.load_game(f"{tmp_path}/broken.py")
    with pytest.raises(ContractError, match=message):
        list(Actor(game, "uniform", SelfplayConfig(simulations=4, parallel=2)).play(range(2)))


def scratch(actions: int) -> GamesScratch:
    return GamesScratch(*(np.zeros(actions + 1) for _ in GamesScratch._fields))


def test_exact_sum_equals_fsum() -> None:
    rng = np.random.default_rng(1)
    cases = [rng.random(n) ** rng.integers(1, 30) for n in range(1, 60)]
    cases += [rng.normal(size=n) * 10.0 ** rng.integers(-20, 20, n) for n in range(1, 60)]
    cases += [np.array([1.0, 2.0**-53, 2.0**-106]), np.array([1.0, -(2.0**-54), -(2.0**-108)])]
    cases += [np.zeros(3), np.zeros(0)]
    for case in cases:
        assert exact_sum(case, len(case), np.zeros(len(case) + 1)) == math.fsum(case)


@pytest.mark.parametrize("temperature", [1.0, 0.3, 0.5, 2.0, 1.7])
def test_sampled_moves_equal_those_of_python(temperature: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        visits = rng.integers(0, 9, rng.integers(1, 12)) * rng.integers(0, 2)
        visits[rng.integers(len(visits))] += 1
        u = float(rng.choice([0.0, np.nextafter(1.0, 0.0), rng.random()]))
        found = drawn_slot(visits, len(visits), temperature, u, scratch(len(visits)))
        assert found == sample_index(visits.tolist(), temperature, u)


def test_the_best_action_equals_that_of_the_result() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        roots = make_root_results(1, 6, 1)
        count = roots.counts[0] = int(rng.integers(1, 7))
        roots.actions[0] = np.arange(6) * 2
        roots.visits[0], roots.priors[0] = rng.integers(0, 3, 6), rng.integers(0, 2, 6)
        roots.q[0] = rng.choice([0.0, 1.0, math.nan], 6)
        q = np.where(np.isnan(roots.q[0]), -np.inf, roots.q[0])
        order = np.lexsort((-roots.actions[0, :count], roots.priors[0, :count], q[:count], roots.visits[0, :count]))
        assert best_slot(roots, 0) == order[-1]


def test_noise_keys_equal_those_of_single_searches() -> None:
    seeds, states = [0, 7, 2**64 - 1], [b"", b"one", bytes(200)]
    wanted = [noise_key(seed, position_of(state)) for seed, state in zip(seeds, states, strict=True)]
    assert noise_keys(np.array(seeds, np.uint64), states).tolist() == wanted
