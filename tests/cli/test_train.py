"""The commands train, resume, runs and config."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runs"))  # for small_runs.py

from small_runs import AFTERSTATE

from aleazero.cli.main import app
from aleazero.cli.verbs.train import phase_line


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("configs") / "small.yaml"
    path.write_text(yaml.safe_dump({**AFTERSTATE, "iterations": 1, "rounds": 4}))
    return path


@pytest.fixture(scope="module")
def finished(config, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "first"
    result = invoke("train", config, "--out", path, "--workers", 1)
    assert result.exit_code == 0, result.output
    return path, result.stdout


def test_train_prints_a_summary_and_writes_a_report(finished):
    path, printed = finished
    assert "against random" in printed
    assert "finished, 1 of 1 iterations" in printed
    assert (path / "report.html").exists()


def test_the_same_command_does_not_change_a_finished_run(config, finished):
    path, _ = finished
    before = (path / "manifest.json").read_bytes()
    result = invoke("train", config, "--out", path, "--json")
    assert json.loads(result.stdout)["finished"]
    assert (path / "manifest.json").read_bytes() == before


def test_runs_are_listed_shown_and_compared(config, finished, tmp_path):
    path, _ = finished
    assert json.loads(invoke("runs", "list", path.parent, "--json").stdout)[0]["champion"] == 1
    assert "pig" in invoke("runs", "list", path.parent).stdout
    shown = json.loads(invoke("runs", "show", path, "--json").stdout)
    assert shown["disk"]["models"] > 0
    assert "disk" in invoke("runs", "show", path).stdout
    other = tmp_path / "other"
    assert invoke("train", config, "--out", other, "--set", "seed=1", "--workers", 1).exit_code == 0
    compared = json.loads(invoke("runs", "compare", path, other, "--json").stdout)
    assert compared["settings"] == {"seed": ["0", "1"]}
    assert "against random" in invoke("runs", "compare", path, other).stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["train", "none.yaml"], "none.yaml cannot be read"),
        (["resume", "nowhere"], "nowhere is not a run"),
        (["runs", "show", "nowhere"], "nowhere is not a run"),
        (["runs", "list", "nowhere"], "no runs in nowhere"),
        (["runs", "compare", "nowhere"], "expected at least two"),
        (["config", "check", "none.yaml"], "none.yaml cannot be read"),
        (["config", "show", "none.yaml"], "none.yaml cannot be read"),
    ],
)
def test_missing_files_are_one_line(words, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*words)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_game_file_in_place_of_a_config_is_one_line(tmp_path):
    rules = tmp_path / "ur.py"
    rules.write_text('"""Royal Game of Ur."""\nfrom aleazero import GameInfo\n')
    done = invoke("config", "check", rules)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "is a Python file, expected a config file in YAML: write `game: ur.py` and `minutes: 6` into" in line
    assert f"`aleazero train {rules}`" in line


def test_a_damaged_run_does_not_hide_the_others(finished, tmp_path):
    shutil.copytree(finished[0], tmp_path / "good")
    shutil.copytree(finished[0], tmp_path / "bad")
    (tmp_path / "bad" / "events.ndjson").write_text("[]\n")
    result = invoke("runs", "list", tmp_path, "--json")
    assert [Path(one["run"]).name for one in json.loads(result.stdout)] == ["good"]
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "line 1 is damaged" in result.stderr


def test_names_are_not_markup(finished, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    runs = [tmp_path / "[red]a[" / "b]", tmp_path / "[red]a[" / "c[bold]d"]
    for path in runs:
        shutil.copytree(finished[0], path)
    for words in (("runs", "show", runs[0]), ("runs", "list", runs[0].parent), ("runs", "compare", *runs),
                  ("resume", runs[0])):  # fmt: skip
        result = invoke(*words)
        assert result.exit_code == 0, result.output
        assert "[red]a[/b]" in result.stdout


def test_a_run_is_shown_without_its_game(finished, tmp_path):
    shutil.copytree(finished[0], tmp_path / "run")
    for name in ("config.yaml", "manifest.json"):
        text = (tmp_path / "run" / name).read_text()
        (tmp_path / "run" / name).write_text(text.replace("game: pig", "game: gone.py").replace('"pig"', '"gone.py"'))
    assert "finished" in invoke("runs", "show", tmp_path / "run").stdout
    assert "no file 'gone.py'" in invoke("resume", tmp_path / "run").stderr


def test_a_run_of_another_version_is_shown_but_not_resumed(config, finished, tmp_path):
    runs = [tmp_path / "one", tmp_path / "two"]
    for run in runs:
        shutil.copytree(finished[0], run)
        manifest = json.loads((run / "manifest.json").read_text())
        (run / "manifest.json").write_text(json.dumps({**manifest, "version": "0.0.7"}))
    for words in (("runs", "show", runs[0]), ("runs", "list", tmp_path), ("runs", "compare", *runs),
                  ("report", runs[0])):  # fmt: skip
        assert invoke(*words).exit_code == 0
    for words in (("resume", runs[0]), ("train", config, "--out", runs[0])):
        result = invoke(*words)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert "is a run of AleaZero 0.0.7" in result.stderr


def test_failing_rules_are_one_line(tmp_path):
    rules = (Path(__file__).parents[2] / "examples" / "coins.py").read_text(encoding="utf-8")
    failing = rules.replace(
        "        if self.flipping:\n", "        assert self.coins < 3\n        if self.flipping:\n", 1
    )
    assert failing != rules
    seen = "    def observation_tensor(self, player):\n        return [float(self.coins), float(self.flipping)]\n"
    (tmp_path / "mine.py").write_text(failing + "\n" + seen, encoding="utf-8")
    settings = {**AFTERSTATE, "game": "mine.py:Coins", "params": {}}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(settings))
    result = invoke("train", tmp_path / "run.yaml", "--out", tmp_path / "run", "--workers", 1)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert "mine.py:Coins: the rules raised AssertionError" in result.stderr
    assert '"event": "stopped"' in (tmp_path / "run" / "events.ndjson").read_text()


def test_too_little_memory_is_one_line(tmp_path):
    (tmp_path / "big.yaml").write_text(yaml.safe_dump({**AFTERSTATE, "afterstate": {"lanes": 10**14}}))
    result = invoke("train", tmp_path / "big.yaml", "--out", tmp_path / "run", "--workers", 1)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "not enough memory" in result.stderr


def test_config_show_check_and_schema(config):
    assert yaml.safe_load(invoke("config", "show", config).stdout)["gate"]["alpha"] == 0.05
    assert "valid, pig(target=10), recipe afterstate" in invoke("config", "check", config).stdout
    assert "properties" in json.loads(invoke("config", "schema").stdout)


def test_another_setting_on_the_same_run_is_rejected(config, finished):
    result = invoke("train", config, "--out", finished[0], "--set", "seed=5")
    assert result.exit_code == 2
    assert "is a run with seed 0, got 5" in result.stderr


def test_a_finished_run_is_extended(config, finished, tmp_path):
    path = tmp_path / "run"
    assert invoke("train", config, "--out", path, "--workers", 1).exit_code == 0
    result = invoke("resume", path, "--set", "iterations=2", "--set", "rounds=8", "--workers", 1, "--json")
    assert json.loads(result.stdout)["iterations"] == {"done": 2, "of": 2}


@pytest.mark.parametrize(
    ("more", "expected"),
    [({}, "candidate promoted: score 52.5% (51.0% to 54.0%), 1,200 pairs"),
     ({"gain": {"mean": 1.25, "low": -0.5, "high": 3.0}},
      "candidate promoted: difference of returns +1.25 (-0.5 to +3), 1,200 pairs")],
)  # fmt: skip
def test_a_gate_is_described_by_the_unit_that_decides(more, expected):
    score = {"mean": 0.525, "low": 0.51, "high": 0.54}
    assert phase_line("gate", {"promoted": True, "pairs": 1200, "score": score, **more}) == expected
