"""Measures docs/regret.md: the regret of players on the standard set, by simulations; the figure and the table.

Run it with ``.venv/bin/python docs/regret.py`` (ten minutes): it writes ``regret.json`` and ``images/regret.png``,
and puts the table into the page.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from aleazero.evaluation.regret import RegretReport, measure_regret
from aleazero.evaluation.yatzy_sampling import sample_positions
from aleazero.evaluation.yatzy_sets import Position, classify, load_set, solitaire
from aleazero.oracles.judge import judge_of
from aleazero.players.make import make_player

HERE = Path(__file__).resolve().parent
KEPT, PICTURE, PAGE = HERE / "regret.json", HERE / "images" / "regret.png", HERE / "regret.md"
TABLE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

BUDGETS = (50, 150, 500, 1500, 5000)
SETTINGS = ("chance=open,selection=uct,c=0.2", "chance=stratified,c=5", "chance=stratified", "chance=sampling")
OTHERS = ("random", "greedy", "plan:horizon=turn,evaluator=oracle")
FRESH = (SETTINGS[0], SETTINGS[2])
FRESH_SEED = 3
"""Of the games that gave positions which had no part in choosing the settings."""
COLOURS = ("#e07b00", "#b3395b", "#6f42c1", "#1565c0")


def measure(spec: str, positions: list[Position], seed: int = 0) -> RegretReport:
    """The regret of a player on some positions."""
    game = solitaire()
    player = make_player(spec, game, threads=os.cpu_count() or 1)
    return measure_regret(player, [one.state() for one in positions], judge_of(game), seed=seed, classify=classify)


def as_row(spec: str, report: RegretReport) -> dict[str, Any]:
    data = report.to_dict()
    return {"player": spec, **{name: data[name] for name in ("overall", "by_kind", "by_stage")}}


def measure_all() -> list[dict[str, Any]]:
    specs = [*OTHERS, *(f"search:sims={sims},{setting}" for setting in SETTINGS for sims in BUDGETS)]
    standard = load_set("standard")
    return [as_row(spec, measure(spec, standard)) for spec in specs]


def measure_fresh() -> list[dict[str, Any]]:
    """The first and the last budget on fresh positions, with other luck."""
    fresh = sample_positions(170, FRESH_SEED, judge_of(solitaire()))
    specs = [f"search:sims={sims},{setting}" for setting in FRESH for sims in (BUDGETS[0], BUDGETS[-1])]
    return [as_row(spec, measure(spec, fresh, seed=1)) for spec in specs]


def as_table(rows: list[dict[str, Any]]) -> str:
    groups = ("reroll 1", "reroll 2", "mark", "opening", "middle", "end")
    lines = [f"| player | regret | 95 % | optimal | {' | '.join(groups)} |", "|---|" + "---:|" * (3 + len(groups))]
    for row in rows:
        all_of, by = row["overall"], {**row["by_kind"], **row["by_stage"]}
        cells = [f"{by[name]['mean']:.2f}" for name in groups]
        interval = f"{max(0.0, all_of['low']):.2f} to {all_of['high']:.2f}"
        head = f"| `{row['player']}` | {all_of['mean']:.3f} | {interval} | {all_of['optimal']:.0%} |"
        lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def filled(page: str, data: dict[str, list[dict[str, Any]]]) -> str:
    """The page with the tables of what was measured."""
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
                found = [of(by_name[f"search:sims={sims},{setting}"]) for sims in BUDGETS]
                bars = [1.959964 * one["error"] for one in found]
                axis.errorbar(BUDGETS, [one["mean"] for one in found], bars, color=colour, marker="o", markersize=3.5,
                              capsize=2, label=setting)  # fmt: skip
            axis.axhline(of(by_name["greedy"])["mean"], color="#2e9d63", linestyle="--", linewidth=1, label="greedy")
            axis.set_title(title)
            axis.set_xscale("log")
            axis.set_xticks(BUDGETS, [f"{sims:,}" for sims in BUDGETS])
            axis.minorticks_off()
            axis.set_ylim(bottom=0)
            axis.set_xlabel("simulations")
        axes[0].set_ylabel("regret a decision (points)")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.savefig(PICTURE)
        plt.close(figure)


def main() -> None:
    data = {"standard": measure_all(), "fresh": measure_fresh()}
    KEPT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    draw(data["standard"])
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), data), encoding="utf-8")


if __name__ == "__main__":
    main()
