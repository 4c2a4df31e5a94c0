"""Make the figures and the tables of the docs: ``.venv/bin/python docs/figures.py`` (about two minutes).

Everything is seeded: the numbers come out the same on every run. ``docs/figures.json`` keeps them, and a test
compares them with the tables in ``loops.md``.
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
IMAGES = HERE / "images"
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
    random.seed(seed)  # read by HiddenReroll alone
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


def sample_positions(game: aleazero.Game, count: int) -> list[aleazero.State]:
    """Decisions with a choice, met in random play; one an episode."""
    dice = random.Random(1)
    positions: list[aleazero.State] = []
    while len(positions) < count:
        state, met = game.new_initial_state(), []
        while not state.is_terminal():
            if not state.is_chance_node() and len(state.legal_actions()) > 1:
                met.append(state.clone())
            state.apply_action(dice.choice(state.legal_actions()))
        positions += [dice.choice(met)] if met else []
    return positions


def draw_pig(plt: Any) -> None:
    """Left: what rolling and holding are worth, exact and searched. Right: the error by budget."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    _draw_choice(left)
    _draw_errors(right)
    figure.savefig(IMAGES / "pig.png")
    plt.close(figure)


def _draw_choice(axes: Any) -> None:
    game = aleazero.load_game("pig", target=50)
    solution = solve(game)
    turns = list(range(2, 37, 2))
    states = [game.state_from_text(f"0-0 turn {turn} player 0") for turn in turns]
    config = aleazero.SearchConfig(num_simulations=200_000, seed=1, c=C)
    results = [aleazero.Search(game, "rollout", config).run(state) for state in states]
    for action, name, colour in ((0, "roll", COLOURS["closed"]), (1, "hold", COLOURS["open"])):
        exact = [float(solution.action_values(state)[action][0]) for state in states]
        found = [float(result.q[action]) for result in results]
        shares = np.array([float(result.policy[action]) for result in results])
        axes.plot(turns, exact, color=colour, linewidth=2, label=f"{name}, exact")
        axes.scatter(turns, found, s=14 + 130 * shares, color=colour, alpha=0.5, edgecolor="white", linewidth=0.8,
                     zorder=3, label=f"{name}, searched (area: visits)")  # fmt: skip
    axes.set_title("Pig to 50, first turn: roll or hold?")
    axes.set_xlabel("points at stake this turn")
    axes.set_ylabel("value for the mover (−1 to 1)")
    axes.legend(loc="upper left")


def _draw_errors(axes: Any) -> None:
    game = aleazero.load_game("pig", target=20)
    solution = solve(game)
    states = sample_positions(game, 60)
    budgets = [4**k for k in range(3, 9)]
    for loop in ("closed", "open"):
        means, highs = [], []
        for sims in budgets:
            errors = [
                abs(search_value(state, loop, sims, seed) - float(solution.value(state)[0]))
                for seed, state in enumerate(states)
            ]
            means.append(float(np.mean(errors)))
            highs.append(float(np.quantile(errors, 0.9)))
        axes.plot(budgets, means, color=COLOURS[loop], marker="o", markersize=4.5, linewidth=2,
                  label=f"{NAMES[loop]}, mean")  # fmt: skip
        axes.plot(budgets, highs, color=COLOURS[loop], linewidth=1, linestyle=":",
                  label=f"{NAMES[loop]}, 90th percentile")  # fmt: skip
    axes.set_xscale("log", base=4)
    axes.set_yscale("log")
    axes.set_xticks(budgets, [f"{sims:,}" for sims in budgets])
    ticks = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_title("Pig to 20, 60 positions: error of the value")
    axes.set_xlabel("simulations (random playouts at the leaves)")
    axes.set_ylabel("distance from the exact value")
    axes.legend(loc="lower left")


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
    draw_pig(plt)


if __name__ == "__main__":
    main()
