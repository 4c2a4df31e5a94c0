from __future__ import annotations

import json

import pytest

from benchmarks import forest

TINY = ("forest", "--rounds", "1", "--searches", "1")


def test_a_forest_compared_with_its_network(run, monkeypatch, tmp_path):
    monkeypatch.setattr(forest, "BATCHES", (16, 32))
    file = tmp_path / "forest.json"
    result = run(*TINY, "--parts", "forest", "--games", "pig", "--json", str(file))
    assert result.exit_code == 0, result.output
    assert "trees, µs" in result.stdout
    assert max(len(line) for line in result.stdout.splitlines() if "written" not in line) <= 80
    data = json.loads(file.read_text(encoding="utf-8"))
    assert [(row["game"], row["batch"], row["simulations"]) for row in data["forest"]] == [
        ("pig", 16, 64),
        ("pig", 32, 64),
    ]
    for row in data["forest"]:
        assert min(row[k] for k in ("tree_microseconds", "network_microseconds", "speedup", "per_second_2_threads")) > 0
    assert [target["what"] for target in data["targets"]] == [
        "pig, batches of 16, trees per leaf",
        "pig, batches of 32, two threads to one",
    ]


@pytest.mark.long  # takes most of a minute
def test_comparison_with_mctx_if_it_can_be_installed(monkeypatch, run, run_json):
    """A run of mctx takes minutes, so its results are given here; those of aleazero are measured."""
    best = {"variant": "stochastic_tuned", "per_second": 10.0}
    hidden = {"variant": "gumbel", "per_second": 20.0}
    boards = [[1, 0, 0, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0]]
    row = {"network": "mlp", "roots": "opening", "explicit": best, "any": hidden}
    together = [{"roots": "opening", "parts": parts, "per_second": 5.0 * parts} for parts in (1, 2)]
    figures = {"installed": True, "best": [row], "rows": together, "roots": {"opening": boards}}
    monkeypatch.setattr(forest, "compare_mctx", lambda report, cores=1, only=(): figures)
    data = run_json(*TINY, "--parts", "mctx")
    (tuned,) = data["mctx"]["tuned"]
    assert tuned["explicit"]["ratio"] == pytest.approx(tuned["ours_per_second"] / 10)
    assert tuned["any"]["ratio"] == pytest.approx(tuned["ours_per_second"] / 20)
    (together,) = data["mctx"]["together"]
    assert together["ratio"] == pytest.approx(together["ours_per_second"] / 5)
    assert data["targets"][0]["met"]
    assert "Compared with mctx" in run(*TINY, "--parts", "mctx").stdout


def test_the_error_without_mctx_gives_the_reason(monkeypatch, run):
    monkeypatch.setattr(
        forest, "compare_mctx", lambda report, cores=1, only=(): {"installed": False, "why": "pip cannot install"}
    )
    result = run(*TINY, "--parts", "mctx")
    assert result.exit_code == 0
    assert "mctx was not measured: pip cannot install" in result.stdout


def test_without_figures_there_are_no_targets():
    assert forest.forest_targets({}) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--games", "chess"), "--games has 'chess'"),
        (("--parts", "speed"), "--parts has 'speed'"),
        (("--json", "nowhere/f.json"), "expected a file in a folder that exists"),
    ],
)
def test_errors_are_one_line(refused, options, message):
    assert message in refused("forest", *options)
