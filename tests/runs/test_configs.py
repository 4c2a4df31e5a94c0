"""Bundled configs: each trains, gates and evaluates when shrunk to a small run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aleazero.cli.main import app
from aleazero.runs.config import read_config

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
SMALL = ["iterations=2", "gate.pairs=10", "evaluate.pairs=2", 'evaluate.against=["random"]',
         "evaluate.reference_games=2", "evaluate.calibration_games=4"]  # fmt: skip
AFTERSTATE = ["minutes=null", "rounds=2", "afterstate.lanes=2"]
ALPHAZERO = ["alphazero.games=2", "alphazero.first_games=2", "alphazero.selfplay.parallel=2", "play=sims=2",
             "alphazero.selfplay.simulations=2", "alphazero.train.steps=2", "alphazero.train.batch_size=8",
             "alphazero.train.net.width=8", "evaluate.every=1"]  # fmt: skip


SLOW = ("yatzy", "yatzy_alphazero", "tic_tac_toe", "backgammon", "backgammon_quick", "bearoff", "azul", "azul_quick")
"""Shrunk, the first equals `yatzy_quick`; the second starts workers and torch; the third compiles the same as `pig`;
the others compile the most."""
MARKED = [pytest.param(path, id=path.stem, marks=[pytest.mark.long] if path.stem in SLOW else []) for path in CONFIGS]


def test_the_docs_show_the_config_file_verbatim():
    page = (Path(__file__).parents[2] / "docs" / "guides" / "runs.md").read_text(encoding="utf-8")
    file = next(path for path in CONFIGS if path.stem == "pig").read_text(encoding="utf-8")
    assert f"```yaml\n{file.partition(chr(10))[2]}```" in page


@pytest.mark.parametrize("path", MARKED)
def test_a_shrunk_config_runs(path, tmp_path):
    config = read_config(path)
    changes = SMALL + (ALPHAZERO if config.recipe == "alphazero" else AFTERSTATE)
    for name in ("final_pairs", "final_reference_games"):
        changes += [f"evaluate.{name}=2"] * (getattr(config.evaluate, name) > 0)
    arguments = ["train", str(path), "--out", str(tmp_path), "--workers", "1", "--json"]
    result = CliRunner().invoke(app, [*arguments, *(part for change in changes for part in ("--set", change))])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["finished"]
    assert summary["results"]["opponents"]["random"]["count"] == 2
    assert (tmp_path / "models" / "0002.safetensors").exists()


def test_every_bundled_game_has_a_config():
    import aleazero

    assert {read_config(path).game for path in CONFIGS} >= set(aleazero.game_names())
