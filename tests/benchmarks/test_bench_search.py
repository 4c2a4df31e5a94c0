from __future__ import annotations

import json

import pytest

from benchmarks import search

TINY = ("search", "--sims", "20", "--seconds", "0", "--games", "dice_game")


def test_speed(run_json):
    data = run_json(*TINY, "--parts", "speed")
    assert [(row["evaluator"], row["chance"]) for row in data["speed"]] == [
        ("uniform", "sampling"), ("uniform", "open"), ("rollout", "sampling"), ("rollout", "open"),
    ]  # fmt: skip
    for row in data["speed"]:
        assert row["game"] == "dice_game"
        assert row["simulations"] == 20
        assert min(row["per_second"], row["per_second_at_10_times"], row["bytes_per_simulation"]) > 0
    assert data["machine"]["cores"] >= 1
    assert "openspiel" not in data


def test_tables_and_the_file(run, tmp_path):
    file = tmp_path / "bench.json"
    result = run(*TINY, "--parts", "speed", "--json", str(file))
    assert result.exit_code == 0, result.output
    assert "sims/s at 20" in result.stdout
    assert "written to" in result.stdout
    assert json.loads(file.read_text(encoding="utf-8"))["sims"] == 20
    assert max(len(line) for line in result.stdout.splitlines() if "written" not in line) <= 80


def test_comparison_with_openspiel(run):
    pytest.importorskip("pyspiel")
    result = run("search", "--sims", "20", "--seconds", "0", "--games", "pig,2048", "--parts", "openspiel")
    assert result.exit_code == 0, result.output
    for text in ("C++ MCTSBot", "Python MCTS", "2048: OpenSpiel's searches do not", "at least 5.0×", "ratio per step"):
        assert text in " ".join(result.stdout.split())


def test_a_missing_openspiel_is_reported(run, run_json, monkeypatch):
    monkeypatch.setattr(search, "find_openspiel", lambda: None)
    text = " ".join(run(*TINY, "--parts", "openspiel").stdout.split())
    assert "OpenSpiel is not installed" in text
    assert "pip install 'aleazero[openspiel]'" in text
    assert run_json(*TINY, "--parts", "openspiel")["openspiel"] == {"installed": False, "rows": []}


def test_a_different_board_raises_an_error(monkeypatch, refused):
    pytest.importorskip("pyspiel")
    monkeypatch.setitem(search.SHARED, "pig", [0, 3])
    assert "expected 'Turn total: 5'" in refused(
        "search", "--sims", "20", "--seconds", "0", "--games", "pig", "--parts", "openspiel"
    )


def test_start_times_are_reported(run, monkeypatch):
    times = {"cold_start_seconds": 9.0, "warm_start_seconds": 1.0, "help_seconds": 0.75}
    monkeypatch.setattr(search, "measure_starts", lambda: times)
    text = run("search", "--parts", "starts").stdout
    assert "9.00 s" in text
    verdicts = {line.split("  ")[0].strip(): line.split()[-1] for line in text.splitlines() if "at most" in line}
    assert verdicts == {"warm start to a first result": "met", "aleazero --help": "missed"}


def test_targets_without_measurements_are_left_out():
    assert search.targets({}) == []
    row = {"game": "2048", "evaluator": "uniform", "chance": "sampling", "per_second": 650_000.0}
    (target,) = search.targets({"speed": [row]})
    assert (target["target"], target["met"]) == (700_000, False)


def test_runs_alternate_and_the_best_counts(monkeypatch):
    clock = iter([0.0, 5.0, 5.0, 6.0, 6.0, 8.0, 8.0, 12.0])
    monkeypatch.setattr(search.time, "process_time", lambda: next(clock))
    turns = []
    assert search.best_seconds([lambda: turns.append("a"), lambda: turns.append("b")], 0.0, repetitions=2) == [
        2.0,
        1.0,
    ]
    assert turns == ["a", "b", "a", "b"]


def test_incomplete_searches_are_not_measured(run, monkeypatch):
    import dataclasses

    from aleazero.search.search import Search

    original = Search.run
    monkeypatch.setattr(
        Search, "run", lambda self, state: dataclasses.replace(original(self, state), stopped="interrupted")
    )
    result = run(*TINY, "--parts", "speed")
    assert result.exit_code != 0
    assert "sims/s" not in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--games", "go"), "--games has 'go', known: 2048"),
        (("--games", ","), "--games is empty"),
        (("--parts", "sped"), "--parts has 'sped', did you mean speed?"),
        (("--json", "nowhere/bench.json"), "expected a file in a folder that exists"),
    ],
)
def test_errors_are_one_line(refused, options, message):
    assert message in refused("search", *options)
