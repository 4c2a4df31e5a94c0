"""``aleazero report``, and ``aleazero train`` without matplotlib."""

from __future__ import annotations

import shutil
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runs"))  # for run_by_hand.py

from run_by_hand import run_by_hand


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw only one chart."""
    from aleazero.report import charts

    every = charts.charts_of
    monkeypatch.setattr(charts, "charts_of", lambda run: every(run)[:1])


@pytest.mark.usefixtures("few")
def test_the_path_of_the_report_is_printed(
    tmp_path: Path, run: Callable[..., Any], run_json: Callable[..., Any]
) -> None:
    path = run_by_hand(tmp_path / "run")
    result = run("report", str(path))
    assert result.exit_code == 0
    assert result.stdout == f"{path / 'report.html'}\n"
    data = run_json("report", str(path), "--out", str(tmp_path / "elsewhere.html"))
    assert data == {
        "run": str(path),
        "report": str(tmp_path / "elsewhere.html"),
        "images": [str(path / "images" / "strength.png")],
    }
    assert (tmp_path / "elsewhere.html").read_bytes() == (path / "report.html").read_bytes()


@pytest.mark.usefixtures("few")
def test_the_browser_is_opened_with_open(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = run_by_hand(tmp_path / "run", iterations=1)
    assert run("report", str(path)).exit_code == 0
    assert opened == []
    assert run("report", str(path), "--open").exit_code == 0
    assert opened == [(path / "report.html").as_uri()]


def test_bad_directories_are_one_line(tmp_path: Path, refused: Callable[..., str]) -> None:
    assert "is not a run" in refused("report", str(tmp_path))
    path = run_by_hand(tmp_path / "run")
    (path / "events.ndjson").write_text("{}}\n", encoding="utf-8")
    assert "events.ndjson, line 1 is damaged" in refused("report", str(path))


def test_without_matplotlib(tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = refused("report", str(run_by_hand(tmp_path / "run")))
    assert "which is missing: pip install 'aleazero[report]' (in a clone of the repository: pip install '.[rep" in said


def test_training_ends_well_without_matplotlib(
    tmp_path: Path, run: Callable[..., Any], run_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is finished; only the summary and the report are missing."""
    from aleazero.runs.config import as_yaml, read_config
    from aleazero.runs.directory import Manifest

    path = run_by_hand(tmp_path / "run")
    file = tmp_path / "pig.yaml"
    file.write_text("{game: pig, params: {target: 30}, rounds: 43, iterations: 4}", encoding="utf-8")
    config = read_config(file)
    manifest = Manifest.from_json((path / "manifest.json").read_text(encoding="utf-8"))
    manifest.settings, manifest.rules = (new := Manifest.of(config, config.load_game())).settings, new.rules
    (path / "manifest.json").write_text(manifest.to_json(), encoding="utf-8")
    (path / "config.yaml").write_text(as_yaml(config), encoding="utf-8")
    shutil.rmtree(path / "images", ignore_errors=True)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("resume", str(path))
    assert result.exit_code == 0, result.output
    assert "against random" in result.stdout
    assert "no report: the report requires matplotlib, which is missing: pip install" in result.stderr
    assert run_json("resume", str(path))["report"] is None
