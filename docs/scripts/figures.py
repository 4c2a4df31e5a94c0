"""Measure open and closed loop: ``.venv/bin/python docs/scripts/figures.py`` (about two minutes).

All numbers are seeded. They are kept in ``figures.json``, and a test compares them with the tables in
``docs/benchmarks/loops.md``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import aleazero
from aleazero.oracles.solve import solve

HERE = Path(__file__).resolve().parent
IMAGES = HERE.parent / "images"
REROLL = str(HERE / "reroll.py")

BUDGETS = (64, 256, 1024, 4096, 16384, 65536)
PLAIN_BUDGETS = BUDGETS[:4]
"""Budgets for what runs in plain Python."""
SEEDS = range(16)
C = 0.5

INK, FAINT = "#22272e", "#c9ced6"
COLOURS = {"closed": "#1565c0", "open": "#e07b00", "implicit": "#2e9d63", "hidden": "#b3395b"}
NAMES = {
    "closed": "closed loop",
    "open": "open loop",
    "implicit": "implicit (plain Python)",
    "hidden": "dice inside the rules (wrong)",
}

Run = Callable[[int, int], float]
"""From a budget and a seed to the root's value for player 0."""


class HiddenReroll:
    """Reroll with its die thrown inside ``apply_action``: what the contract forbids, to show why."""

    name = "hidden_reroll"
    num_players = 1
    num_actions = 2
    utility = (0.0, 6.0)

    def __init__(self) -> None:
        self.face, self.left, self.over = 0, 3, False

    def current_player(self) -> int:
        return -4 if self.over else 0

    def legal_actions(self) -> list[int]:
        return [0] if self.face == 0 else [0, 1]

    def apply_action(self, action: int) -> None:
        if action == 0:
            self.face = random.randint(1, 6)
            self.left -= 1
        self.over = action == 1 or self.left == 0

    def returns(self) -> list[float]:
        return [float(self.face)]


def search_value(state: aleazero.State, loop: Any, sims: int, seed: int, backend: Any = "auto") -> float:
    """The root's value for player 0."""
    config = aleazero.SearchConfig(num_simulations=sims, seed=seed, c=C, chance=aleazero.ChanceConfig(loop=loop))
    random.seed(seed)  # only HiddenReroll reads it
    return float(aleazero.Search(state.game, "rollout", config, backend=backend).run(state).value[0])


def runs_from(state: aleazero.State) -> dict[str, Run]:
    """The three searches from one state."""
    return {
        "closed": lambda sims, seed: search_value(state, "closed", sims, seed),
        "open": lambda sims, seed: search_value(state, "open", sims, seed),
        "implicit": lambda sims, seed: search_value(state, "closed", sims, seed, "implicit"),
    }


def measure(runs: dict[str, Run], seeds: Sequence[int] = SEEDS) -> dict[str, dict[str, list[float]]]:
    """By search and budget the mean of the value over the seeds, and its spread (standard deviation)."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, run in runs.items():
        found[name] = {}
        for sims in PLAIN_BUDGETS if name in ("implicit", "hidden") else BUDGETS:
            values = [run(sims, seed) for seed in seeds]
            found[name][str(sims)] = [float(np.mean(values)), float(np.std(values))]
    return found


def loop_cases() -> dict[str, tuple[aleazero.State, float]]:
    """The positions of ``loops.md`` with their exact values for player 0."""
    reroll = aleazero.load_game(REROLL)
    dice = aleazero.load_game("dice_game")
    pig = aleazero.load_game("pig", target=20)
    states = {
        "reroll": reroll.new_initial_state(),
        "dice_game": dice.state_from_text("10"),
        "pig": pig.new_initial_state(),
    }
    return {name: (state, float(solve(state.game).value(state)[0])) for name, state in states.items()}


def measure_loops() -> dict[str, Any]:
    """The numbers of ``loops.md``."""
    data: dict[str, Any] = {}
    for name, (state, exact) in loop_cases().items():
        runs = runs_from(state)
        if name == "reroll":
            runs["hidden"] = runs_from(aleazero.load_game(HiddenReroll).new_initial_state())["closed"]
        data[name] = {"exact": exact, "values": measure(runs)}
    return data


def as_table(case: dict[str, Any]) -> str:
    """One game's numbers as a Markdown table: mean ± spread by budget."""
    values = case["values"]
    rows = ["| simulations | " + " | ".join(values) + " |", "|---:|" + "---:|" * len(values)]
    for sims in BUDGETS:
        cells = [
            f"{values[name][str(sims)][0]:.3f} ± {values[name][str(sims)][1]:.3f}" if str(sims) in values[name] else ""
            for name in values
        ]
        rows.append(f"| {sims:,} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


# -- drawing ---------------------------------------------------------------------------------------------------


def _style(plt: Any) -> None:
    plt.rcParams.update({
        "figure.dpi": 150, "savefig.dpi": 150, "font.size": 10, "font.family": "DejaVu Sans",
        "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK, "axes.labelcolor": INK,
        "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left", "text.color": INK,
        "xtick.color": INK, "ytick.color": INK, "legend.frameon": False, "legend.fontsize": 8.5,
        "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 0.6, "axes.axisbelow": True,
        "svg.hashsalt": "aleazero",
    })  # fmt: skip


def draw_loops(plt: Any, data: dict[str, Any]) -> None:
    """Root value by budget in three games, with the exact value as a line."""
    titles = {
        "reroll": "Reroll: looking at the die matters",
        "dice_game": "Dice game from 10: it does not",
        "pig": "Pig to 20: it matters a little",
    }
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.9), constrained_layout=True)
    for axes, (name, case) in zip(panels, data.items(), strict=True):
        axes.axhline(case["exact"], color=INK, linewidth=1.4, linestyle=(0, (5, 3)))
        below = name == "pig"
        axes.annotate(f"exact {case['exact']:.3f}", (BUDGETS[-1], case["exact"]), xytext=(8, -13 if below else 5),
                      textcoords="offset points", fontsize=8.5, ha="right")  # fmt: skip
        for search, points in case["values"].items():
            sims = np.array([int(key) for key in points])
            means, spreads = (np.array([pair[i] for pair in points.values()]) for i in (0, 1))
            # A little apart sideways, so that what agrees can still be told apart.
            aside = sims * {"implicit": 1.16, "hidden": 1.08}.get(search, 1.0)
            axes.errorbar(aside, means, yerr=spreads, color=COLOURS[search], marker="o", markersize=4.5,
                          linewidth=1.8, elinewidth=1, capsize=2, label=NAMES[search],
                          linestyle="--" if search in ("implicit", "hidden") else "-")  # fmt: skip
        if name == "reroll":
            axes.axhline(3.5, color=COLOURS["open"], linewidth=1, linestyle=":")
            axes.annotate("best blind plan 3.5", (BUDGETS[-1], 3.5), xytext=(0, -12), ha="right",
                          textcoords="offset points", fontsize=8.5, color=COLOURS["open"])  # fmt: skip
        axes.set_xscale("log", base=4)
        axes.set_xticks(BUDGETS, [f"{sims:,}" for sims in BUDGETS])
        axes.set_title(titles[name])
        axes.set_xlabel("simulations")
    panels[0].set_ylabel("value of the root")
    panels[0].set_ylim(2.9, 6.35)
    panels[0].legend(loc="upper left", ncols=2, fontsize=7.5, columnspacing=1.0)
    figure.savefig(IMAGES / "loops.png")
    plt.close(figure)


def main() -> None:
    """Measure, draw, and keep the numbers."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _style(plt)
    IMAGES.mkdir(exist_ok=True)
    data = measure_loops()
    (HERE / "figures.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    draw_loops(plt, data)


if __name__ == "__main__":
    main()
