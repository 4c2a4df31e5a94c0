from __future__ import annotations

import json
import math

import numpy as np
import pytest

from aleazero.games.registry import load_game
from aleazero.oracles.solve import solve
from aleazero.search.config import PRESETS, ChanceConfig
from benchmarks.chance import cases, command, measure
from benchmarks.chance.cases import CASES, SETTINGS, NetworkLike, Position
from benchmarks.chance.measure import beside_sampling, crossings, measure_search, time_to_reach

TINY = ("chance", "--games", "dice_game", "--settings", "sampling,full", "--budgets", "4,16", "--seeds", "3")


def test_rows_and_their_shape(run_json):
    data = run_json(*TINY)
    assert data["budgets"] == [4, 16]
    assert list(data["exact"]) == ["dice_game"]
    assert len(data["search"]) == 2 * 2 * 2  # evaluators, settings, budgets
    for row in data["search"]:
        assert row["evaluations"] <= row["budget"]
        assert row["simulations"] <= row["budget"]
        assert row["value_rmse"] >= row["value_absolute_error"] >= abs(row["value_bias"])
        assert row["value_rmse_se"] >= 0
        assert row["regret"] >= 0
        assert min(row["nodes"], row["seconds"], row["tree_bytes"]) > 0
    assert [row["plan"] for row in data["planner"]] == ["1", "2", "4", "game"] * 2
    assert [row["value_rmse"] for row in data["planner"] if row["plan"] == "game"] == pytest.approx([0, 0], abs=1e-9)
    assert [(row["evaluator"], row["setting"]) for row in data["beside_sampling"]] == [
        ("rollout", "full"), ("network", "full"),
    ]  # fmt: skip
    assert [set(row["seconds"]) for row in data["crossings"]] == [{"sampling", "full"}] * 8


def test_tables_file_and_figures(run, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "chance.json"
    result = run(*TINY, "--json", str(file), "--plots", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "dice game, 6 outcomes, network" in result.stdout
    assert "search needs" in result.stdout
    assert json.loads(file.read_text(encoding="utf-8"))["seeds"] == 3
    assert max(len(line) for line in result.stdout.splitlines() if "written" not in line) <= 80
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        "answers_error.png", "answers_luck.png", "answers_planner.png", "answers_regret.png",
    ]  # fmt: skip


def test_one_evaluator_and_another_exploration_constant(run_json):
    data = run_json(*TINY, "--evaluators", "rollout", "--c", "0.5")
    assert {row["evaluator"] for row in data["search"]} == {"rollout"}
    assert data["c"] == 0.5
    assert data["search"][1]["value_rmse"] != measure_search("dice_game", "rollout", "sampling", 16, 3)["value_rmse"]


def test_the_same_seeds_give_the_same_errors():
    first, again = (measure_search("dice_game", "network", "stratified", 32, 4) for _ in range(2))
    assert {**first, "seconds": 0} == {**again, "seconds": 0}


def test_all_settings_are_valid():
    assert all(ChanceConfig(**values) for values in SETTINGS.values())
    assert command.PRESETS.split(",") == list(PRESETS)


def test_all_settings(run_json):
    data = run_json(
        "chance", "--games", "dice_game", "--settings", "all", "--budgets", "4", "--seeds", "2",
        "--evaluators", "rollout",
    )  # fmt: skip
    assert [row["setting"] for row in data["search"]] == list(SETTINGS)


def test_errors_match_their_definition():
    errors = np.array([[1.0, -3.0], [3.0, -1.0]])  # (seeds, positions)
    about = measure.about_errors("value", errors)
    assert about["value_absolute_error"] == 2
    assert about["value_rmse"] == pytest.approx(math.sqrt(5))
    assert about["value_bias"] == 0
    assert about["value_bias_se"] == pytest.approx(1)  # the means of the seeds are −1 and 1
    assert about["value_variance"] == pytest.approx(2)  # 2 at each position
    assert about["value_deviation"] == pytest.approx(math.sqrt(2))


def test_the_noisy_network_has_the_given_error_and_is_deterministic():
    case = CASES["dice_game"]
    truth = case.positions[0].truth
    states = [case.game.state_from_text(str(score)) for score in range(20)]
    errors = []
    for seed in range(50):
        network = NetworkLike(truth, 2.0, seed)
        logits, values = network(states)
        again = network(states[::-1])
        assert (again[1][::-1] == values).all()
        assert (again[0][::-1] == logits).all()
        errors += [float(value[0] - truth.value(state)[0]) for value, state in zip(values, states, strict=True)]
    assert np.mean(errors) == pytest.approx(0, abs=4 * 2 / math.sqrt(len(errors)))
    assert np.std(errors) == pytest.approx(2, rel=4 / math.sqrt(2 * len(errors)))


def test_noise_of_two_players_sums_to_zero():
    pig = load_game("pig", target=20)
    position = Position(pig.state_from_text("4-3 turn 6"), solve(pig))
    _, values = NetworkLike(position.truth, 0.1, 0)([position.state])
    assert values.sum() == pytest.approx(0)
    assert values[0, 0] != position.value


def row(setting, budget, error, regret):
    figures = {"value_rmse": error, "value_deviation": error, "best_q_rmse": error, "regret": regret}
    errors = {f"{name}_se": value / 10 for name, value in figures.items()}
    place = {"game": "pig", "evaluator": "rollout", "setting": setting, "budget": budget, "seconds": 1.0}
    return {**place, **figures, **errors}


def test_ratios_compare_with_sampling():
    rows = [
        row("sampling", 8, 2.0, 0.0),
        row("sampling", 32, 1.0, 3.0),
        row("open", 8, 1.0, 1.0),
        row("open", 32, 4.0, 5.0),
    ]
    (summary,) = beside_sampling(rows)
    assert summary["value_rmse"] == pytest.approx(math.sqrt(2))  # of 1/2 and 4
    assert summary["value_rmse_se"] == pytest.approx(math.sqrt(2) * math.sqrt(4) * 0.1 / 2)
    assert summary["regret"] == pytest.approx(2)  # means over budgets: 3 and 1.5
    assert summary["seconds"] == 1
    assert beside_sampling(rows[2:]) == []


def test_zero_regret_has_no_ratio():
    (summary,) = beside_sampling([row("sampling", 8, 2.0, 0.0), row("open", 8, 1.0, 0.0)])
    assert summary["regret"] is None


@pytest.mark.parametrize(
    ("error", "seconds"),
    [(20.0, 1.0), (10.0, 1.0), (math.sqrt(10), 2.0), (1.0, 4.0), (0.5, None)],
)
def test_the_time_to_an_error_is_interpolated(error, seconds):
    found = time_to_reach(error, [(1.0, 10.0), (4.0, 1.0)])
    assert found is None if seconds is None else found == pytest.approx(seconds)


def test_crossings_compare_equal_settings():
    search = [
        {"game": "pig", "evaluator": evaluator, "setting": "full", "seconds": 1.0, "value_rmse": error}
        for evaluator, error in (("rollout", 0.1), ("network", 9.0))
    ]
    plan = {"game": "pig", "evaluator": "network", "plan": "turn", "value_rmse": 0.5}
    assert crossings(search, [plan]) == [
        {"game": "pig", "evaluator": "network", "plan": "turn", "seconds": {"full": None}}
    ]


def test_without_the_repository_there_are_no_examples(monkeypatch, tmp_path, refused):
    monkeypatch.setattr(cases, "CASES", {"gone": cases.Case("", str(tmp_path / "gone.py"), (), 1.0, ()), **CASES})
    assert "gone" not in cases.known_cases()
    assert "--games has 'gone'" in refused("chance", "--games", "gone")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--games", "go"), "--games has 'go', known: 2048"),
        (("--settings", "samplng"), "--settings has 'samplng', did you mean sampling"),
        (("--settings", ","), "--settings is empty"),
        (("--evaluators", "net"), "--evaluators has 'net'"),
        (("--budgets", "32,many"), "--budgets has 'many', expected integers from 2"),
        (("--budgets", "1"), "--budgets has '1'"),
        (("--budgets", ","), "--budgets is empty"),
        (("--json", "nowhere/chance.json"), "expected a file in a folder that exists"),
        (("--plots", "nowhere"), "--plots is 'nowhere', expected a folder that exists"),
        (("--c", "-1"), "--c is -1.0, expected greater than or equal to 0"),
    ],
)
def test_errors_are_one_line(refused, options, message):
    assert message in refused("chance", *options)


def test_results_are_shown_with_their_standard_error():
    assert command.with_error({"a": 0.1234, "a_se": 0.0123}, "a") == "0.123±0.012"
    assert command.with_error({"a": 12.34, "a_se": 0.123}, "a") == "12.34±0.12"
    assert command.with_error({"a": None, "a_se": None}, "a") == "-"
