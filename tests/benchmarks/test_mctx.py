from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import forest
from benchmarks.forest import compare_mctx

SCRIPT = """
import json, sys
row = {"network": "mlp", "roots": "opening", "variant": "stochastic", "explicit_chance": True}
rows = [row | {"per_second": 9.0, "per_cpu_second": 1.0},
        row | {"variant": "stochastic_tuned", "per_second": 2.0, "per_cpu_second": 3.0},
        row | {"variant": "gumbel", "explicit_chance": False, "per_second": 4.0, "per_cpu_second": 5.0},
        row | {"network": "constant", "per_second": 7.0, "per_cpu_second": 6.0}]
sys.stderr.write("noise\\n")
print(json.dumps({"cores": int(sys.argv[2]), "prefix": sys.prefix, "rows": rows}))
"""


@pytest.fixture
def benchmarks(tmp_path, monkeypatch):
    """Return a folder with a script without requirements; the cache folder is empty."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / forest.SCRIPT).write_text(SCRIPT, encoding="utf-8")
    (folder / forest.REQUIREMENTS).write_text("# nothing\n", encoding="utf-8")
    monkeypatch.setattr(forest, "BENCHMARKS", folder)
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path / "cache"))
    return folder


@pytest.mark.long  # compiles, or runs, for most of a minute
def test_the_environment_is_created_once_per_version(benchmarks, tmp_path):
    messages: list[str] = []
    figures = compare_mctx(messages.append)
    assert figures["installed"]
    assert figures["prefix"] == str(tmp_path / "cache" / "bench-venv")
    assert ["installing" in line for line in messages] == [True, False]
    assert figures["best"] == [
        {
            "network": "mlp",
            "roots": "opening",
            "explicit": {"variant": "stochastic_tuned", "per_second": 3.0},
            "any": {"variant": "gumbel", "per_second": 5.0},
        },
        {
            "network": "constant",
            "roots": "opening",
            "explicit": {"variant": "stochastic", "per_second": 6.0},
            "any": {"variant": "stochastic", "per_second": 6.0},
        },
    ]
    messages.clear()
    by_wall_time = compare_mctx(messages.append, cores=2)
    assert len(messages) == 1
    assert by_wall_time["best"][0]["any"] == {"variant": "stochastic", "per_second": 9.0}

    (benchmarks / forest.REQUIREMENTS).write_text("--no-index\nno-such-package-of-ours==1\n")
    failed = compare_mctx(messages.append)
    assert failed["installed"] is False
    assert failed["why"].startswith("pip cannot install: ERROR: ")
    assert "no-such-package-of-ours" in failed["why"]
    assert "\n" not in failed["why"]


def test_failures_are_reported_in_one_line(benchmarks, monkeypatch):
    (benchmarks / forest.SCRIPT).write_text("raise SystemExit('slides: got 1, expected 2')", encoding="utf-8")
    monkeypatch.setattr(forest, "_environment", lambda report: Path(sys.executable))
    assert compare_mctx(print) == {"installed": False, "why": "mctx failed: slides: got 1, expected 2"}


def test_the_script_exists_and_requirements_are_pinned():
    assert (forest.BENCHMARKS / forest.SCRIPT).is_file()
    lines = (forest.BENCHMARKS / forest.REQUIREMENTS).read_text(encoding="utf-8").split()
    assert all("==" in line for line in lines)
    assert {"jax", "jaxlib", "mctx", "pgx"} <= {line.partition("==")[0] for line in lines}
