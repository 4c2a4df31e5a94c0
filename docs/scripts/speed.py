"""Write the tables of ``docs/benchmarks/speed.md``.

``make bench`` writes ``bench.json``, ``forest.json`` and ``ceiling.json`` to the root of the repository. Then
``.venv/bin/python docs/scripts/speed.py`` copies their rows to ``speed.json`` and writes the tables. A file that is
missing leaves its rows as they are. A test compares the tables with the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from page_tables import rewrite, table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE, KEPT = HERE.parent / "benchmarks" / "speed.md", HERE / "speed.json"

Data = dict[str, Any]


def collect(data: Data) -> Data:
    """Return ``data`` with the rows of the files that ``make bench`` has written."""
    data = dict(data)
    if (file := ROOT / "bench.json").is_file():
        found = json.loads(file.read_text(encoding="utf-8"))
        data["search"], data["starts"] = found["speed"], found["starts"]
        data["openspiel"] = [row for row in found["openspiel"]["rows"] if row["rival"]]
    if (file := ROOT / "forest.json").is_file():
        found = json.loads(file.read_text(encoding="utf-8"))
        data["forest"] = found["forest"]
        if found["mctx"]["installed"]:
            data["mctx"], data["mctx-tuned"] = found["mctx"]["together"], found["mctx"]["tuned"]
    if (file := ROOT / "ceiling.json").is_file():
        data["ceiling"] = json.loads(file.read_text(encoding="utf-8"))["closed"]
    return data


def search(data: Data) -> str:
    rows = [
        [row["game"], row["evaluator"], row["chance"], f"{row['per_second']:,.0f}",
         f"{row['per_second_at_10_times']:,.0f}", f"{row['bytes_per_simulation']:,.0f}"]
        for row in data["search"]
    ]  # fmt: skip
    headers = ["game", "evaluator", "chance", "simulations/s at 10,000", "at 100,000", "bytes/simulation"]
    return table(headers, rows, 3)


def openspiel(data: Data) -> str:
    rows = [
        [row["game"], row["rival"], f"{row['ours_per_second']:,.0f}", f"{row['theirs_per_second']:,.0f}",
         f"{row['ratio']:.1f}×"]
        for row in data["openspiel"]
    ]  # fmt: skip
    return table(["game", "search of OpenSpiel 2.0.2", "AleaZero, sims/s", "OpenSpiel, sims/s", "ratio"], rows, 2)


def forest(data: Data) -> str:
    rows = [
        [row["game"], f"{row['batch']:,}", f"{row['per_second']:,.0f}", f"{row['per_second_2_threads']:,.0f}",
         f"{row['speedup']:.2f}×", f"{row['tree_microseconds']:.2f}", f"{row['network_microseconds']:.2f}"]
        for row in data["forest"]
    ]  # fmt: skip
    headers = ["game", "batch", "leaves/s", "leaves/s, 2 threads", "ratio", "trees, µs/leaf", "network, µs/leaf"]
    return table(headers, rows, 1)


def mctx(data: Data) -> str:
    rows = [
        [row["roots"], f"{row['ours_per_second']:,.0f}", f"{row['mctx_per_second']:,.0f}", f"{row['ratio']:.1f}×"]
        for row in data["mctx"]
    ]
    return table(["2048 from", "AleaZero, sims/s", "mctx, sims/s", "ratio"], rows, 1)


def mctx_tuned(data: Data) -> str:
    rows = [
        [row["roots"], row["network"], f"{row['ours_per_second']:,.0f}", f"{row['explicit']['per_second']:,.0f}",
         f"{row['explicit']['ratio']:.1f}×", f"{row['any']['per_second']:,.0f}", f"{row['any']['ratio']:.1f}×"]
        for row in data["mctx-tuned"]
    ]  # fmt: skip
    headers = ["2048 from", "network", "AleaZero, sims/s", "explicit chance", "ratio", "hidden chance", "ratio"]
    return table(headers, rows, 2)


def ceiling(data: Data) -> str:
    rows = [
        [row["game"], row["evaluator"], f"{row['simulations']:,}", f"{row['new']:,.0f}", f"{row['share_new']:.0%}",
         f"{row['reused']:,.0f}", f"{row['share_reused']:.0%}"]
        for row in data["ceiling"]
    ]  # fmt: skip
    headers = ["game", "evaluator", "simulations", "new, sims/s", "share of C++", "reused, sims/s", "share of C++"]
    return table(headers, rows, 2)


def starts(data: Data) -> str:
    found = data["starts"]
    rows = [
        ["first result of pig in a new process, without compiled code", f"{found['cold_start_seconds']:.1f} s"],
        ["the same with compiled code from the cache", f"{found['warm_start_seconds']:.2f} s"],
        ["`aleazero --help`", f"{found['help_seconds']:.2f} s"],
    ]
    return table(["start", "wall time"], rows, 1)


TABLES: dict[str, Callable[[Data], str]] = {
    "search": search,
    "openspiel": openspiel,
    "forest": forest,
    "mctx": mctx,
    "mctx-tuned": mctx_tuned,
    "ceiling": ceiling,
    "starts": starts,
}


if __name__ == "__main__":
    measured = collect(json.loads(KEPT.read_text(encoding="utf-8")))
    KEPT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    rewrite(PAGE, TABLES, measured)
