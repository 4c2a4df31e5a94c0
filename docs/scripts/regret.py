"""Measure the regret of players by simulations, on the standard set of positions.

Run ``.venv/bin/python docs/scripts/regret.py`` (ten minutes). It writes ``regret.json``, ``docs/images/regret.png`` and
the tables of ``docs/benchmarks/regret.md``.
"""

from __future__ import annotations

import json
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for the package benchmarks

from aleazero.evaluation.regret import RegretReport, measure_regret
from aleazero.evaluation.yatzy.positions import Position, classify, load_set, solitaire
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.registry import load_game
from aleazero.oracles.oracle import require_oracle
from aleazero.players.make import make_player
from benchmarks.yatzy.measure import ratio_of
from benchmarks.yatzy.sampling import sample_positions

HERE = Path(__file__).resolve().parent
KEPT, PAGE = HERE / "regret.json", HERE.parent / "benchmarks" / "regret.md"
PICTURE = HERE.parent / "images" / "regret.png"
TABLE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

BUDGETS = (50, 150, 500, 1500, 5000)
DEFAULT = "evaluator=rollout"
UNIFORM = ", random playouts"
"""Suffix of a player whose playouts choose uniformly among the legal actions, not by Yatzy's own policy."""
SETTINGS = (DEFAULT, DEFAULT + UNIFORM, "chance=stratified", "chance=open")
OTHERS = ("random", "greedy", "plan:horizon=turn,evaluator=oracle")
FRESH = SETTINGS[:2]
FRESH_SEED = 3
"""Seed of the games that the fresh positions are taken from."""
COLOURS = ("#1565c0", "#8d99a6", "#6f42c1", "#e07b00")


@cache
def random_playouts() -> Game:
    """Load one-player Yatzy without its own playout policy."""
    game = cast("KernelGame", load_game("yatzy", players=1))
    game.kernels.playout = None
    return game


def measure(name: str, positions: list[Position], seed: int = 0) -> RegretReport:
    """Measure the regret of a player at positions."""
    game = random_playouts() if name.endswith(UNIFORM) else solitaire()
    player = make_player(name.removesuffix(UNIFORM), game, threads=os.cpu_count() or 1)
    states = [one.state() for one in positions]
    return measure_regret(player, states, require_oracle(game), seed=seed, classify=classify)


def name_of(setting: str, sims: int) -> str:
    return f"search:sims={sims},{setting}"


def as_row(name: str, report: RegretReport) -> dict[str, Any]:
    data = report.to_dict()
    return {"player": name, **{part: data[part] for part in ("overall", "by_kind", "by_stage")}}


def as_ratios(setting: str, first: RegretReport, last: RegretReport) -> dict[str, Any]:
    """Compute the ratio of regret at the largest to the smallest budget on the same positions, also by kind."""
    kinds = np.array([one.kind for one in first.decisions])
    few, many = (np.array([one.regret for one in report.decisions]) for report in (first, last))
    groups = {"all": kinds == kinds, **{kind: kinds == kind for kind in first.by_kind}}
    return {"setting": setting, **{name: ratio_of("ratio", many[group], few[group]) for name, group in groups.items()}}


def measure_settings(settings: tuple[str, ...], positions: list[Position], budgets: tuple[int, ...], seed: int) -> Any:
    """Return a row per setting and budget, and the ratios."""
    rows, ratios = [], []
    for setting in settings:
        reports = {}
        for sims in budgets:
            name = name_of(setting, sims)
            reports[sims] = measure(name, positions, seed)
            rows.append(as_row(name, reports[sims]))
        ratios.append(as_ratios(setting, reports[budgets[0]], reports[budgets[-1]]))
    return rows, ratios


def measure_all() -> dict[str, Any]:
    standard = load_set("standard")
    rows, ratios = measure_settings(SETTINGS, standard, BUDGETS, 0)
    return {"standard": [*(as_row(name, measure(name, standard)) for name in OTHERS), *rows], "ratios": ratios}


def measure_fresh() -> dict[str, Any]:
    """Measure the first and the last budget on fresh positions with another seed."""
    fresh = sample_positions(170, FRESH_SEED, require_oracle(solitaire()))
    rows, ratios = measure_settings(FRESH, fresh, (BUDGETS[0], BUDGETS[-1]), 1)
    return {"fresh": rows, "fresh_ratios": ratios}


def shown(name: str) -> str:
    """Format the name of a player as code."""
    return f"`{name.removesuffix(UNIFORM)}`{UNIFORM if name.endswith(UNIFORM) else ''}"


def as_table(rows: list[dict[str, Any]]) -> str:
    if "setting" in rows[0]:
        return as_ratio_table(rows)
    groups = ("reroll 1", "reroll 2", "mark", "opening", "middle", "end")
    lines = [f"| player | regret | 95 % | optimal | {' | '.join(groups)} |", "|---|" + "---:|" * (3 + len(groups))]
    for row in rows:
        all_of, by = row["overall"], {**row["by_kind"], **row["by_stage"]}
        cells = [f"{by[name]['mean']:.2f}" for name in groups]
        interval = f"{max(0.0, all_of['low']):.2f} to {all_of['high']:.2f}"
        head = f"| {shown(row['player'])} | {all_of['mean']:.3f} | {interval} | {all_of['optimal']:.0%} |"
        lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_ratio_table(rows: list[dict[str, Any]]) -> str:
    groups = [name for name in rows[0] if name != "setting"]
    lines = [f"| regret at 5,000 / at 50 simulations | {' | '.join(groups)} |", "|---|" + "---:|" * len(groups)]
    for row in rows:
        found = [row[name] for name in groups]
        cells = [f"{one['ratio']:.2f} ({one['ratio_low']:.2f} to {one['ratio_high']:.2f})" for one in found]
        lines.append(f"| {shown(row['setting'])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(page: str, data: dict[str, Any]) -> str:
    """Return the page with its tables regenerated."""
    return TABLE.sub(lambda match: match[1] + as_table(data[match[2]]) + match[3], page)


def draw(rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    by_name = {row["player"]: row for row in rows}
    panels = {"all decisions": None, "reroll 2": "by_kind", "mark": "by_kind", "end": "by_stage"}
    style = {
        "savefig.dpi": 130, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
        "axes.titlesize": 9.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.grid": True,
        "grid.color": "#d9dde3", "grid.linewidth": 0.6, "axes.axisbelow": True, "legend.frameon": False,
    }  # fmt: skip
    with plt.rc_context(style):
        figure, axes = plt.subplots(1, len(panels), figsize=(12, 3.4), layout="constrained")
        for axis, (title, group) in zip(axes, panels.items(), strict=True):

            def of(row: dict[str, Any], group: str | None = group, title: str = title) -> dict[str, float]:
                return row["overall"] if group is None else row[group][title]

            for setting, colour in zip(SETTINGS, COLOURS, strict=True):
                found = [of(by_name[name_of(setting, sims)]) for sims in BUDGETS]
                bars = [1.959964 * one["error"] for one in found]
                axis.errorbar(BUDGETS, [one["mean"] for one in found], bars, color=colour, marker="o", markersize=3.5,
                              capsize=2, label=shown(setting).replace("`", ""))  # fmt: skip
            axis.axhline(of(by_name["greedy"])["mean"], color="#2e9d63", linestyle="--", linewidth=1, label="greedy")
            axis.set_title(title)
            axis.set_xscale("log")
            axis.set_xticks(BUDGETS, [f"{sims:,}" for sims in BUDGETS])
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
            axis.set_xlabel("simulations")
        axes[0].set_ylabel("regret per decision (points)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.savefig(PICTURE)
        plt.close(figure)


def main() -> None:
    data = {**measure_all(), **measure_fresh()}
    KEPT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    draw(data["standard"])
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), data), encoding="utf-8")


if __name__ == "__main__":
    main()
