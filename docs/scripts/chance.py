"""Write the tables of ``docs/benchmarks/chance.md`` from ``chance.json``.

Run ``.venv/bin/python docs/scripts/chance.py``. The page names the command that writes ``chance.json`` and the figures.
A test compares the tables with the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from page_tables import rewrite, table

HERE = Path(__file__).resolve().parent
PAGE, KEPT = HERE.parent / "benchmarks" / "chance.md", HERE / "chance.json"
COST_BUDGET = 512

Row = dict[str, Any]


def number(row: Row, name: str) -> str:
    """Format a number with its standard error."""
    value, error = row[name], row[f"{name}_se"]
    if value is None:
        return ""
    digits = 2 if abs(value) >= 10 else 3 if abs(value) >= 0.1 else 4
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def compared(data: Row) -> str:
    """Compare every setting with sampling, over all games and budgets."""
    names = ("value_rmse", "value_deviation", "best_q_rmse", "regret")
    rows = [
        [row["evaluator"], row["setting"], *(number(row, name) for name in names),
         f"{row['seconds']:.2f}" if row["evaluator"] == "rollout" else ""]
        for row in data["beside_sampling"]
    ]  # fmt: skip
    return table(["evaluator", "setting", "error", "std over seeds", "error of best q", "regret", "time"], rows, 2)


def by_budget(figure: str, evaluator: str) -> Callable[[Row], str]:
    """Make a table of one number by game, setting and budget."""

    def make(data: Row) -> str:
        own = [row for row in data["search"] if row["evaluator"] == evaluator]
        budgets = sorted({row["budget"] for row in own})
        rows = [
            [game, setting, *(number(_find(own, game, setting, budget), figure) for budget in budgets)]
            for game, setting in dict.fromkeys((row["game"], row["setting"]) for row in own)
        ]
        return table(["game", "setting", *(f"{budget:,}" for budget in budgets)], rows, 2)

    return make


def _find(rows: list[Row], game: str, setting: str, budget: int) -> Row:
    return next(row for row in rows if (row["game"], row["setting"], row["budget"]) == (game, setting, budget))


def biases(data: Row) -> str:
    """List bias, variance and regret at one budget."""
    rows = [
        [row["game"], row["evaluator"], row["setting"], str(row["seeds"]),
         *(number(row, name) for name in ("value_bias", "value_variance", "best_q_bias", "regret"))]
        for row in data["search"] if row["budget"] == COST_BUDGET
    ]  # fmt: skip
    headers = [
        "game",
        "evaluator",
        "setting",
        "seeds",
        "bias of value",
        "variance of value",
        "bias of best q",
        "regret",
    ]
    return table(headers, rows, 3)


def costs(data: Row) -> str:
    """List simulations, nodes, memory and time at one budget, with playouts."""
    rows = [
        [row["game"], row["setting"], f"{row['simulations']:,.0f}", f"{row['evaluations']:,.0f}",
         f"{row['nodes']:,.0f}", f"{row['tree_bytes'] / 1024:,.0f}", f"{1000 * row['seconds']:.2f}",
         f"{1e6 * row['seconds'] / row['evaluations']:.1f}"]
        for row in data["search"] if row["budget"] == COST_BUDGET and row["evaluator"] == "rollout"
    ]  # fmt: skip
    return table(["game", "setting", "simulations", "evaluations", "nodes", "KiB", "ms", "µs/evaluation"], rows, 2)


def planner(data: Row) -> str:
    """List error and time of plans, and the time in which the fastest search reaches the same error."""
    rows = []
    for row, crossing in zip(data["planner"], data["crossings"], strict=True):
        reached = {name: seconds for name, seconds in crossing["seconds"].items() if seconds is not None}
        best = min(reached, key=lambda name: reached[name]) if reached else None
        rows.append([
            row["game"], row["evaluator"], row["plan"], number(row, "value_rmse"), number(row, "regret"),
            f"{row['nodes']:,.0f}", f"{1000 * row['seconds']:.2f}",
            f"{1000 * reached[best]:.2f} ({best})" if best else "not reached",
        ])  # fmt: skip
    return table(["game", "evaluator", "horizon", "error", "regret", "nodes", "ms", "search, ms"], rows, 3)


TABLES: dict[str, Callable[[Row], str]] = {
    "compared": compared,
    "error-rollout": by_budget("value_rmse", "rollout"),
    "error-network": by_budget("value_rmse", "network"),
    "biases": biases,
    "costs": costs,
    "planner": planner,
}


if __name__ == "__main__":
    rewrite(PAGE, TABLES, json.loads(KEPT.read_text(encoding="utf-8")))
