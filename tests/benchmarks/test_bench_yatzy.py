from __future__ import annotations

import json

import numpy as np
import pytest

from aleazero.games.base import CHANCE, DECISION
from aleazero.search.config import SearchConfig, Widening
from aleazero.search.search import Search
from benchmarks.yatzy import cases, measure, trees
from benchmarks.yatzy.trees import Stored, allowed, duplicates, stored_nodes

TINY = ("--budgets", "8,24", "--seeds", "2", "--positions", "45", "--seconds", "0")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(trees, "HEAVY", 2)
    monkeypatch.setattr(measure, "VARIANCE_POSITIONS", 1)
    monkeypatch.setattr(measure, "FEWEST_SEEDS", 2)
    monkeypatch.setattr(measure, "FRESH_POSITIONS", 1)


def test_rows_and_their_shape(run_json):
    data = run_json("yatzy", "--parts", "nodes,variance,regret,fresh", *TINY)
    assert data["budgets"] == [8, 24]
    assert len(data["nodes"]["rows"]) == 2 * 2 * len(trees.SETTINGS)
    for row in data["nodes"]["rows"]:
        assert row["evaluations"] == row["budget"]
        assert 0 <= row["duplicates"] <= row["nodes"]
        if row["setting"] == "implicit":
            assert (row["chance_nodes"], row["nodes"]) == (0, row["budget"])  # one node per evaluation
        else:
            assert 0 < row["chance_nodes"] < row["nodes"]
    assert [game["beyond"] for game in data["nodes"]["games"]] == [0, 0]
    assert all(0 < game["fullest"] <= game["fullest_allowed"] for game in data["nodes"]["games"])
    assert [row["budget"] for row in data["variance"] if row["setting"] == "sampling"] == [6, 8, 24] * 2 + [
        8,
        21,
        24,
    ] * 2
    exact = [row for row in data["variance"] if (row["evaluator"], row["setting"]) == ("network", "exact-21")]
    assert [row["variance"] for row in exact if row["budget"] in (6, 21)] == pytest.approx([0, 0], abs=1e-18)
    assert len(data["regret"]["rows"]) == 2 * len(measure.REGRET_SETTINGS)
    for row in data["regret"]["rows"]:
        assert row["regret_low"] <= row["regret"] <= row["regret_high"]
        assert row["regret"] == pytest.approx(np.mean([row[f"regret_{kind}"] for kind in measure.KINDS]))
    assert [row["setting"] for row in data["regret"]["ratios"]] == list(measure.REGRET_SETTINGS)
    ways = [(row["way"], row["setting"]) for row in data["fresh"]]
    assert ways == ([(way, s) for way in ("roll", "estimate") for s in measure.FRESH_SETTINGS]
                    + [("stop", "sampling")]) * 2  # fmt: skip
    for row in data["fresh"]:
        if row["way"] == "stop":
            assert row["variance"] == 0
            assert row["nodes"] == row["evaluations"] <= 16


def test_tables_file_and_figures(run, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(measure, "REGRET_SETTINGS", ("sampling", "narrow"))
    file = tmp_path / "yatzy.json"
    result = run("yatzy", *TINY, "--parts", "nodes,variance,regret,fresh", "--json", str(file),
                 "--plots", str(tmp_path))  # fmt: skip
    assert result.exit_code == 0, result.output
    for text in ("Stored nodes", "A roll of 1 die, network", "45 decisions", "after scoring"):
        assert text in result.stdout
    assert json.loads(file.read_text(encoding="utf-8"))["seeds"] == 2
    assert max(len(line) for line in result.stdout.splitlines() if "written" not in line) <= 80
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        "yatzy_fresh.png", "yatzy_nodes.png", "yatzy_regret.png", "yatzy_variance.png",
    ]  # fmt: skip


def test_speed_is_compared_with_the_target(run, run_json, monkeypatch):
    # Other tests compile the search of the one-player game too.
    monkeypatch.setattr(measure, "load_game", lambda name: cases.solitaire())
    monkeypatch.setattr(cases, "TWO_PLAYERS", "filled none upper 0 total 0 / player 0 dice 11456 rerolls 2")
    monkeypatch.setattr(measure, "SPEED_SETTINGS", ("sampling", "full"))
    monkeypatch.setattr(measure, "SPEED_SIMULATIONS", 100)
    (sampling, full) = run_json("yatzy", "--parts", "speed", "--seconds", "0")["speed"]
    assert (sampling["simulations"], sampling["evaluations"]) == (99, 100)
    assert full["simulations"] < full["evaluations"] <= 100
    assert min(sampling["per_second"], sampling["per_second_again"]) > 0
    assert "at least 200,000" in run("yatzy", "--parts", "speed", "--seconds", "0").stdout


def test_the_oracle_is_compared_with_its_targets(run, run_json, monkeypatch):
    """Building takes seconds, so a short program replaces it and prints a time that depends on its folder."""
    program = "import os; folder = os.environ['ALEAZERO_CACHE_DIR']; print(len(os.listdir(folder)) + 0.5); "
    monkeypatch.setattr(measure, "LOADED", program + "open(os.path.join(folder, 'table'), 'w').close()")
    monkeypatch.setattr(measure, "TURNS", 3)
    data = run_json("yatzy", "--parts", "oracle", "--seconds", "0")
    assert data["oracle"]["turn_microseconds"] > 0
    assert (data["oracle"]["build_seconds"], data["oracle"]["load_seconds"]) == (0.5, 1.5)  # in one new folder
    assert [(row["what"], row["target"], row["unit"]) for row in data["targets"]] == [
        ("solving a turn", 15.0, "µs"),
        ("building the oracle's table", 15.0, "s"),
        ("loading the oracle's table", 0.3, "s"),
    ]
    assert [row["met"] for row in data["targets"][1:]] == [True, False]
    shown = run("yatzy", "--parts", "oracle", "--seconds", "0").stdout
    assert "at most 15.00 µs" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_turns_and_kinds_are_equally_frequent():
    states = cases.positions(90)
    kinds = [(cases.open_categories(state), cases.rerolls_left(state)) for state in states]
    assert sorted(kinds) == sorted([(turn, left) for turn in range(1, 16) for left in range(3)] * 2)
    assert [state.to_text() for state in states] == [state.to_text() for state in cases.positions(90)]


def test_rolls_have_the_requested_dice():
    for dice, outcomes in measure.OUTCOMES.items():
        (state,) = cases.best_rolls(dice, 1)
        assert len(state.chance_outcomes()) == outcomes


@pytest.mark.parametrize("setting", ["implicit", "sampling"])
def test_all_nodes_are_found_with_their_states(setting):
    (state,) = cases.positions(1, cases.is_reroll_heavy)
    backend = "implicit" if setting == "implicit" else "auto"
    result = Search(state.game, "rollout", SearchConfig(num_simulations=60), backend).run(state)
    nodes = stored_nodes(result)
    assert len(nodes) == result.stats.nodes
    assert sum(node.kind == CHANCE for node in nodes) == result.stats.chance_nodes
    assert len({node.vector for node in nodes}) + 1 <= len(nodes) <= len({n.vector for n in nodes}) + duplicates(nodes)


def test_duplicates_are_all_nodes_that_share_a_state():
    nodes = [Stored(DECISION, vector, 1, 0) for vector in (b"a", b"b", b"a", b"c", b"a", b"b")]
    assert duplicates(nodes) == 5
    assert duplicates(nodes[:2]) == 0


@pytest.mark.parametrize(("visits", "most"), [(1, 2), (10, 8), (100, 32), (10_000, 64)])
def test_the_schedule_equals_that_of_widening(visits, most):
    assert allowed(Stored(CHANCE, b"", visits, 0), Widening()) == most


def test_the_noisy_network_has_the_given_error_and_is_deterministic():
    states = cases.positions(90)
    errors = []
    for seed in range(20):
        network = cases.YatzyNetwork(seed)
        logits, values = network(states)
        again = network(states[::-1])
        assert (again[1][::-1] == values).all()
        assert (again[0][::-1] == logits).all()
        errors += [value[0] - cases.oracle().value(s) for value, s in zip(values, states, strict=True)]
    size = cases.NETWORK_ERROR
    assert np.mean(errors) == pytest.approx(0, abs=4 * size / len(errors) ** 0.5)
    assert np.std(errors) == pytest.approx(size, rel=4 / (2 * len(errors)) ** 0.5)


def test_a_ratio_of_regrets_and_its_error():
    few, many = np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])
    assert measure.ratio_of("r", many, few) == {"r": 0.5, "r_se": 0, "r_low": 0.5, "r_high": 0.5}
    ratio = measure.ratio_of("r", many[::-1], few)
    assert ratio["r_se"] == pytest.approx(np.std([2, 0, -2], ddof=1) / 3**0.5 / 4)
    assert ratio["r_high"] - ratio["r"] == pytest.approx(1.96 * ratio["r_se"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--parts", "node"), "--parts has 'node', did you mean nodes"),
        (("--parts", ","), "--parts is empty"),
        (("--budgets", "50,many"), "--budgets has 'many', expected integers from 2"),
        (("--json", "nowhere/yatzy.json"), "expected a file in a folder that exists"),
        (("--plots", "nowhere"), "--plots is 'nowhere', expected a folder that exists"),
    ],
)
def test_errors_are_one_line(refused, options, message):
    assert message in refused("yatzy", *options)
