"""The benchmark ``ceiling``: the search in C++ has the same visits, and the measurement runs."""

from __future__ import annotations

import importlib
import json
import shutil
from pathlib import Path

import pytest

from aleazero import ChanceConfig, Rollout, Search, SearchConfig, load_game

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def ceiling(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.ceiling.__main__")


def test_visits_and_nodes_equal_those_of_the_search(ceiling):
    try:
        library = ceiling.build()
    except ceiling.NoCompiler:
        assert shutil.which("g++") is None
        return
    positions = {
        "pig": ["0-0", "95-97 turn 3 player 1", "40-60 turn 20 player 0", "99-99 turn 0 player 1"],
        "2048": ["2 2 4 4/8 8 16 16/2 4 2 4/32 2 64 .", "2 4 8 16/4 8 16 32/8 16 32 64/16 32 64 64 score 100000"],
    }
    for name, texts in positions.items():
        game = load_game(name)
        for number, text in enumerate(texts):
            state = game.state_from_text(text)
            for steps in (0, 1, 7, 500):
                config = SearchConfig(
                    num_simulations=300, seed=number, c=0.5 + number, max_depth=9 + 40 * number, chance=ChanceConfig()
                )
                cpp = ceiling.CppSearch(library, game, config, steps)
                visits, nodes = cpp.run(state)
                found = Search(game, Rollout(max_steps=steps) if steps else "uniform", config).run(state)
                assert (found.visits.tolist(), found.stats.nodes) == (visits.tolist(), nodes), (name, text, steps)
                cpp.close()


def test_the_measurement_prints_a_line_per_case_and_writes_json(ceiling, tmp_path, capsys):
    file = tmp_path / "ceiling.json"
    assert ceiling.main(["--rounds", "1", "--sims", "50", "--json", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    if shutil.which("g++") is None:
        assert len(lines) == 1
        return
    assert len(lines) == 2 + len(ceiling.CASES) + len(ceiling.OPEN)
    written = json.loads(file.read_text())
    assert [case["simulations"] for case in written["closed"]] == [50] * len(ceiling.CASES)
    assert all(case["share_new"] > 0 and case["share_reused"] > 0 for case in written["closed"])


def test_without_a_compiler_there_is_one_clear_line(ceiling, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.ceiling.cpp.shutil.which", lambda name: None)
    assert ceiling.main([]) == 0
    assert capsys.readouterr().out == "g++ was not found on the path, so the C++ search cannot be built\n"
