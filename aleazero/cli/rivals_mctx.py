"""mctx on pgx's 2048, measured in an environment of its own: jax is installed for this and for nothing else.

The environment is made once and kept in the user's cache folder. The script and its pinned requirements are part of
the repository (benchmarks/), not of the wheel.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPT, REQUIREMENTS = "mctx_2048.py", "requirements.txt"
READY = "ready"
"""A file in the environment with the requirements it was made from, written last."""

INSTALL_SECONDS, RUN_SECONDS = 900, 1800


class NotMeasured(Exception):
    """Why there are no figures, in one line."""


def compare_mctx(say: Callable[[str], Any], cores: int = 1, only: Sequence[str] = ()) -> dict[str, Any]:
    """The script's figures on so many cores, with ``installed`` and ``best``; or ``installed`` False, and ``why``.

    ``best`` has mctx's highest simulations a second for each network and kind of roots: ``explicit`` of its searches
    with chance nodes, which do what ours does, and ``any``, with those that hide chance in a step too. One core is
    measured by CPU time, several by the clock. ``only`` are words for the script that say what to measure.
    """
    try:
        if not (BENCHMARKS / SCRIPT).is_file():
            raise NotMeasured("benchmarks/ is part of the repository and not of the installed package")
        figures = _figures(_environment(say), say, cores, only)
    except NotMeasured as reason:
        return {"installed": False, "why": str(reason)}
    return {"installed": True, "best": _best(figures), **figures}


def _environment(say: Callable[[str], Any]) -> Path:
    """The environment's Python; the environment is made anew where it is missing, half made, or of other versions."""
    from aleazero.files import cache_root

    folder = cache_root() / "bench-venv"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = f"{sys.version}\n" + (BENCHMARKS / REQUIREMENTS).read_text(encoding="utf-8")
    ready = folder / READY
    if python.exists() and ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    say("installing jax, mctx and pgx, once")
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)], INSTALL_SECONDS, "no environment could be made")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    _run([*pip, "--requirement", str(BENCHMARKS / REQUIREMENTS)], INSTALL_SECONDS, "pip cannot install")
    ready.write_text(wanted, encoding="utf-8")
    return python


def _figures(python: Path, say: Callable[[str], Any], cores: int, only: Sequence[str]) -> dict[str, Any]:
    say(f"2048, mctx on {cores} core{'' if cores == 1 else 's'}, a few minutes")
    command = [str(python), str(BENCHMARKS / SCRIPT), "--threads", str(cores), *only]
    figures: dict[str, Any] = json.loads(_run(command, RUN_SECONDS, "mctx failed"))
    return figures


def _run(command: list[str], seconds: float, failure: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise NotMeasured(f"{failure} within {seconds} s") from None
    except OSError as error:
        raise NotMeasured(f"{failure}: {error}") from None
    if done.returncode:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line for line in said if line.startswith("ERROR")] or said[-1:] or [f"exit {done.returncode}"]
        raise NotMeasured(f"{failure}: {errors[0][:300]}")
    return done.stdout


def _best(figures: dict[str, Any]) -> list[dict[str, Any]]:
    speed = "per_cpu_second" if figures["cores"] == 1 else "per_second"
    found = []
    for network, roots in dict.fromkeys((row["network"], row["roots"]) for row in figures["rows"]):
        rows = [row for row in figures["rows"] if (row["network"], row["roots"]) == (network, roots)]
        chance = {"explicit": [row for row in rows if row["explicit_chance"]], "any": rows}
        tops = {name: max(some, key=lambda row: row[speed]) for name, some in chance.items()}
        best = {name: {"variant": top["variant"], "per_second": top[speed]} for name, top in tops.items()}
        found.append({"network": network, "roots": roots, **best})
    return found
