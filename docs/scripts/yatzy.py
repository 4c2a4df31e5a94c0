"""Write the tables of ``docs/benchmarks/yatzy.md`` from ``yatzy.json``.

Run ``.venv/bin/python docs/scripts/yatzy.py``. The page names the command that writes ``yatzy.json`` and the figures. A
test compares the tables with the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from page_tables import rewrite, table

HERE = Path(__file__).resolve().parent
PAGE, KEPT = HERE.parent / "benchmarks" / "yatzy.md", HERE / "yatzy.json"

Row = dict[str, Any]


def number(row: Row, name: str, digits: int | None = None) -> str:
    """Format a number with its standard error."""
    value, error = row[name], row[f"{name}_se"]
    if digits is None:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f} ± {error:,.{digits}f}"


def unique(rows: list[Row], *names: str) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def find(rows: list[Row], **wanted: Any) -> Row:
    return next(row for row in rows if all(row[name] == value for name, value in wanted.items()))


def nodes(data: Row) -> str:
    rows = [
        [row["evaluator"], f"{row['budget']:,}", row["setting"], number(row, "nodes", 0),
         f"{row['chance_nodes']:,.0f}", number(row, "duplicates", 0), f"{100 * row['duplicate_share']:.0f} %",
         number(row, "nodes_an_evaluation", 2)]
        for row in data["nodes"]["rows"]
    ]  # fmt: skip
    headers = ["evaluator", "evaluations", "tree", "nodes", "chance nodes", "duplicates", "share",
               "nodes/evaluation"]  # fmt: skip
    return table(headers, rows, 3)


def schedule(data: Row) -> str:
    rows = [
        [game["setting"], f"min({game['max_children']}, ⌈{game['c']:g}·N^{game['alpha']:g}⌉)",
         f"{game['simulations']:,}", f"{game['most_nodes']:,}", f"{game['five_dice_rolls']:,}",
         f"{game['fullest']} of {game['fullest_allowed']} after {game['fullest_visits']:,} visits",
         str(game["beyond"])]
        for game in data["nodes"]["games"]
    ]  # fmt: skip
    headers = ["setting", "schedule", "simulations", "largest tree", "rolls of five dice", "fullest roll",
               "rolls beyond the schedule"]  # fmt: skip
    return table(headers, rows, 2)


def variance(data: Row) -> str:
    rows = []
    for dice, evaluator, setting in unique(data["variance"], "dice", "evaluator", "setting"):
        own = [row for row in data["variance"] if (row["dice"], row["evaluator"], row["setting"]) ==
               (dice, evaluator, setting)]  # fmt: skip
        cells = [number(row, "variance") for row in own]
        rows.append([str(dice), evaluator, setting, *cells, *[""] * (1 + len(data["budgets"]) - len(cells))])
    headers = ["dice", "evaluator", "setting", "6 or 21", *(f"{budget:,}" for budget in data["budgets"])]
    return table(headers, rows, 3)


def regret(data: Row) -> str:
    found, ratios = data["regret"]["rows"], data["regret"]["ratios"]
    rows = []
    for (setting,) in unique(found, "setting"):
        ratio = find(ratios, setting=setting)
        own = [row for row in found if row["setting"] == setting]
        rows.append([
            setting, *(number(row, "regret", 2) for row in own),
            *(f"{ratio[n]:.2f} ({ratio[f'{n}_low']:.2f} to {ratio[f'{n}_high']:.2f})" for n in ("ratio", "keep_ratio")),
            "yes" if ratio["intervals_apart"] else "no", f"{1000 * own[-1]['seconds']:.1f}",
        ])  # fmt: skip
    budgets = [f"{budget:,}" for budget in data["budgets"]]
    return table(["setting", *budgets, "ratio", "ratio, rerolls only", "intervals disjoint", "ms"], rows, 1)


def kinds(data: Row) -> str:
    found = data["regret"]["rows"]
    names = {"regret_reroll_1": "first reroll", "regret_reroll_2": "second reroll", "regret_mark": "category"}
    rows = []
    for (setting,) in unique(found, "setting"):
        own = [row for row in found if row["setting"] == setting]
        cells = [f"{number(own[0], name, 2)} → {number(own[-1], name, 2)}" for name in names]
        rows.append([setting, *cells, f"{100 * own[0]['optimal_share']:.0f} → {100 * own[-1]['optimal_share']:.0f} %"])
    return table(["setting", *names.values(), "optimal"], rows, 1)


WAYS = {"roll": "roll", "estimate": "estimate, then roll", "stop": "stop"}


def fresh(data: Row) -> str:
    rows = [
        [WAYS[row["way"]], row["setting"] if row["way"] != "stop" else "", f"{row['budget']:,}",
         f"{row['evaluations']:,.0f}", f"{row['nodes']:,.0f}", f"{row['tree_bytes'] / 1024:,.0f}",
         number(row, "variance"), number(row, "rmse", 2), number(row, "regret", 2), f"{1000 * row['seconds']:.1f}"]
        for row in data["fresh"]
    ]  # fmt: skip
    headers = ["afterstate", "setting", "simulations", "evaluations", "nodes", "KiB", "variance", "error", "regret",
               "ms"]  # fmt: skip
    return table(headers, rows, 2)


def speed(data: Row) -> str:
    rows = [
        [row["setting"], f"{row['per_second']:,.0f}", f"{row['per_second_again']:,.0f}", f"{row['nodes']:,}",
         f"{row['tree_bytes'] / 2**20:.1f}"]
        for row in data["speed"]
    ]  # fmt: skip
    return table(["setting", "evaluations/s", "reused `Search`", "nodes", "MiB"], rows, 1)


TABLES: dict[str, Callable[[Row], str]] = {
    "nodes": nodes,
    "schedule": schedule,
    "variance": variance,
    "regret": regret,
    "kinds": kinds,
    "fresh": fresh,
    "speed": speed,
}


if __name__ == "__main__":
    rewrite(PAGE, TABLES, json.loads(KEPT.read_text(encoding="utf-8")))
