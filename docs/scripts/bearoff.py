"""Measure the bear-off table in the search and as a training target, and the error of pre-roll values after rolls.

Run ``.venv/bin/python docs/scripts/bearoff.py`` (ten minutes on one core). It writes ``bearoff.json``,
``docs/images/bearoff_*.png`` and the tables of ``docs/benchmarks/bearoff.md``. With ``--draw`` it only draws pictures
and tables from ``bearoff.json``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from page_tables import rewrite, table

import aleazero
from aleazero.evaluation.regret import measure_regret
from aleazero.evaluation.statistics import Mean
from aleazero.games.backgammon.board import HIGH, LOW
from aleazero.games.base import State
from aleazero.nets.config import NetConfig
from aleazero.oracles.bearoff import TwoSided
from aleazero.oracles.bearoff_build import ROLLS, WEIGHTS
from aleazero.oracles.oracle import require_oracle
from aleazero.players.make import make_player
from aleazero.processes import Pool
from aleazero.replay.window import Window
from aleazero.selfplay.config import SelfplayConfig
from aleazero.training.alphazero import fit, play_games
from aleazero.training.config import TrainConfig

HERE = Path(__file__).resolve().parent
KEPT, PAGE, IMAGES = HERE / "bearoff.json", HERE.parent / "benchmarks" / "bearoff.md", HERE.parent / "images"
GAME = aleazero.load_game("backgammon", start="bearoff", checkers=6)

PAIRS = 20_000
"""Pairs of positions for the error of way D."""
POSITIONS, NET_POSITIONS = 300, 500
"""Decisions per kind (two different dice, or a double) for the regret of searches and of networks (for each seed)."""
BUDGETS = (50, 200, 800)
WAYS = {
    "A": "evaluator=bearoff", "B": "evaluator=bearoff-rolled", "C": "evaluator=bearoff:rollout",
    "D": "evaluator=bearoff-mismatch", "no table": "evaluator=rollout",
}  # fmt: skip
PRESETS = ("sampling", "stratified", "progressive", "full", "open")
PRESET_SEARCH = "search:evaluations=200"
GAMES, SEEDS, STEPS = 300, (1, 2, 3), {"exact": 500, "mismatch": 500, "outcome": 3000}
"""Games of random play, seeds, and training steps by value target, which take about the same time."""
TARGETS = {
    "A+B": {"value_target": "exact", "afterstates": True},
    "B": {"value_target": "exact", "afterstates": False},
    "D": {"value_target": "mismatch", "afterstates": False},
    "outcome, with afterstates": {"value_target": "outcome", "afterstates": True},
    "outcome": {"value_target": "outcome", "afterstates": False},
}
NET_PLAYERS = {"plan": "plan:horizon=turn,net={}", "search": "search:sims=64,net={}"}
COLOURS = {"A": "#1565c0", "B": "#2e7d32", "C": "#6f42c1", "D": "#c62828", "no table": "#8d99a6"}
STYLE = {"savefig.dpi": 130, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}


# -- the error of way D ------------------------------------------------------------------------------------------------


def measure_errors() -> dict[str, Any]:
    """Return the difference between values before and after each roll, over random pairs of the 6×6 table."""
    exact, draw = TwoSided.load_or_build(), np.random.default_rng(0)
    places = draw.integers(1, len(exact.positions), (2, PAIRS))
    me, them = (exact.positions.counts[side].astype(np.int64) for side in places)
    before = exact.equities(me, them)
    rows, squares = [], np.zeros(PAIRS)
    for dice, weight in zip(ROLLS.tolist(), WEIGHTS.tolist(), strict=True):
        error = before - exact.equities_after_roll(me, them, np.tile(dice, (PAIRS, 1)))
        squares += weight / 36.0 * error**2
        rms = float(np.sqrt(np.mean(error**2)))
        rows.append({
            "roll": f"{dice[0]}-{dice[1]}", "rms": rms, "mean": float(error.mean()),
            "rms_error": float(np.std(error**2) / np.sqrt(PAIRS) / 2 / rms),
        })  # fmt: skip
    rms = float(np.sqrt(squares.mean()))
    error = float(np.std(squares) / np.sqrt(PAIRS) / 2 / rms)
    return {"rolls": rows, "all": {"rms": rms, "rms_error": error, "pairs": PAIRS}}


# -- regret of searches ------------------------------------------------------------------------------------------------


def decisions(doubles: bool, count: int, seed: int = 0) -> list[State]:
    """Return first decisions of random starts that have a choice, after a double or after two different dice."""
    draw, found = np.random.default_rng(seed), []
    while len(found) < count:
        state: Any = GAME.new_initial_state()
        while state.is_chance_node():
            state.apply_action(state.sample_outcome(draw.random()))
        if (state.vector[HIGH] == state.vector[LOW]) == doubles and len(state.legal_actions()) > 1:
            found.append(state)
    return found


def regret_of(player: str, kinds: dict[str, list[State]]) -> dict[str, Any]:
    """Return mean regret and its standard error by kind of roll, and over all rolls: five of six are no doubles."""
    made, found, start = make_player(player, GAME), {}, time.process_time()
    for kind, states in kinds.items():
        report = measure_regret(made, states, require_oracle(GAME))
        found[kind] = mean_of([one.regret for one in report.decisions])
    shares = {"mixed": 5 / 6, "doubles": 1 / 6}
    found["all"] = {
        "mean": sum(share * found[kind]["mean"] for kind, share in shares.items()),
        "error": float(np.sqrt(sum((share * found[kind]["error"]) ** 2 for kind, share in shares.items()))),
    }
    return {"player": player, "seconds": time.process_time() - start, **found}


def mean_of(numbers: Sequence[float]) -> dict[str, float]:
    mean = Mean.of(numbers).to_dict()
    return {"mean": mean["mean"], "error": mean["error"]}


def measure_searches() -> dict[str, Any]:
    kinds = {"mixed": decisions(False, POSITIONS), "doubles": decisions(True, POSITIONS)}
    budgets = [
        {"way": way, "evaluations": budget, **regret_of(f"search:evaluations={budget},{setting}", kinds)}
        for way, setting in WAYS.items()
        for budget in BUDGETS
    ]
    presets = [
        {"way": way, "chance": chance, **regret_of(f"{PRESET_SEARCH},{setting},chance={chance}", kinds)}
        for way, setting in WAYS.items()
        for chance in PRESETS
    ]
    return {"budgets": budgets, "presets": presets, "random": regret_of("random", kinds)}


# -- networks ----------------------------------------------------------------------------------------------------------


def measure_networks() -> list[dict[str, Any]]:
    """Train a network per target and seed on the same games, for about the same time, and measure its regret.

    Each seed has decisions of its own, so the spread over seeds includes that over decisions.
    """
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        config = SelfplayConfig(simulations=2, noise_alpha=0, parallel=64, games_per_shard=250)
        with Pool(1) as pool:
            play_games(pool, GAME, "dummy", GAMES, folder / "games", config)
        window = Window(folder / "games", 10**6)
        for seed in SEEDS:
            kinds = {"mixed": decisions(False, NET_POSITIONS, seed), "doubles": decisions(True, NET_POSITIONS, seed)}
            for name, settings in TARGETS.items():
                net = NetConfig(width=64, blocks=1, afterstates=settings["afterstates"])
                train = TrainConfig(
                    net=net, steps=STEPS[settings["value_target"]], batch_size=256, learning_rate=2e-3, seed=seed,
                    policy_weight=0.0, value_target=settings["value_target"],
                )  # fmt: skip
                path, start = folder / f"{len(found)}.safetensors", time.process_time()
                fit(GAME, window, path, train)
                row = {"target": name, "seed": seed, "samples": len(window), "seconds": time.process_time() - start}
                for player, spec in NET_PLAYERS.items():
                    row[player] = regret_of(spec.format(path), kinds)
                    row[player].pop("player")
                found.append(row)
            keep("networks", found)
    return found


# -- tables and pictures -----------------------------------------------------------------------------------------------


def number(one: dict[str, float]) -> str:
    if one["mean"] == 0 and one["error"] == 0:
        return "0"
    digits = 4 if one["mean"] >= 0.0005 else 5
    return f"{one['mean']:.{digits}f} ± {one['error']:.{digits}f}"


def errors_table(data: dict[str, Any]) -> str:
    rows = sorted(data["errors"]["rolls"], key=lambda row: -row["rms"])
    cells = [[row["roll"], f"{row['rms']:.3f} ± {row['rms_error']:.3f}", f"{row['mean']:+.3f}"] for row in rows]
    every = data["errors"]["all"]
    cells.append(["all", f"{every['rms']:.3f} ± {every['rms_error']:.3f}", "0"])
    return table(["roll", "RMS error of D", "mean error"], cells, 1)


def budgets_table(data: dict[str, Any]) -> str:
    rows = data["searches"]["budgets"]
    cells = []
    for way, setting in WAYS.items():
        for kind, shown in (("mixed", "two different dice"), ("doubles", "doubles")):
            found = [number(row[kind]) for row in rows if row["way"] == way]
            cells.append([way, f"`{setting}`", shown, *found])
    return table(["way", "evaluator", "rolls", *(f"{budget} evaluations" for budget in BUDGETS)], cells, 3)


def presets_table(data: dict[str, Any]) -> str:
    rows = data["searches"]["presets"]
    cells = [
        [way, *(number(next(r["all"] for r in rows if (r["way"], r["chance"]) == (way, chance))) for chance in PRESETS)]
        for way in WAYS
    ]
    return table(["way", *PRESETS], cells, 1)


def networks_table(data: dict[str, Any]) -> str:
    cells = []
    for name in TARGETS:
        rows = [row for row in data["networks"] if row["target"] == name]
        seconds = min(row["seconds"] for row in rows)  # other work on the machine only adds time
        cells.append([name, *(number(over_seeds(rows, player)) for player in NET_PLAYERS), f"{seconds:.0f} s"])
    return table(["targets", "`plan:horizon=turn`", "`search:sims=64`", "training"], cells, 1)


def over_seeds(rows: list[dict[str, Any]], player: str) -> dict[str, float]:
    """Return the mean regret; its error is over seeds, or with one seed over decisions."""
    return mean_of([row[player]["all"]["mean"] for row in rows]) if len(rows) > 1 else rows[0][player]["all"]


TABLES = {
    "errors": errors_table, "budgets": budgets_table, "presets": presets_table, "networks": networks_table,
}  # fmt: skip


def draw(data: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        draw_errors(plt, data["errors"])
        draw_searches(plt, data["searches"])
        draw_networks(plt, data["networks"])


def draw_errors(plt: Any, errors: dict[str, Any]) -> None:
    rows = sorted(errors["rolls"], key=lambda row: -row["rms"])
    figure, axes = plt.subplots(figsize=(7.5, 3.0))
    doubles = [row["roll"][0] == row["roll"][2] for row in rows]
    axes.bar(range(len(rows)), [row["rms"] for row in rows], yerr=[row["rms_error"] for row in rows],
             color=[COLOURS["D"] if double else COLOURS["no table"] for double in doubles])  # fmt: skip
    axes.axhline(errors["all"]["rms"], color="black", lw=0.8, ls="--")
    axes.text(len(rows) - 0.4, errors["all"]["rms"], f" all rolls: {errors['all']['rms']:.3f}", va="bottom", ha="right")
    axes.set_xticks(range(len(rows)), [row["roll"] for row in rows])
    axes.set_xlabel("roll (doubles in red)")
    axes.set_ylabel("RMS error (points)")
    axes.set_title("Error of the value before the roll, used after the roll", loc="left")
    figure.tight_layout()
    figure.savefig(IMAGES / "bearoff_errors.png")
    plt.close(figure)


def draw_searches(plt: Any, searches: dict[str, Any]) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(7.5, 3.0), sharey=True)
    for axes, kind, title in zip(panels, ("mixed", "doubles"), ("two different dice", "doubles"), strict=True):
        for place, way in enumerate(WAYS):
            rows = [row for row in searches["budgets"] if row["way"] == way]
            shift = 1.0 + 0.05 * (place - 2)  # so that equal values do not hide each other
            axes.errorbar([shift * row["evaluations"] for row in rows], [row[kind]["mean"] for row in rows],
                          yerr=[row[kind]["error"] for row in rows], color=COLOURS[way], marker="o", ms=3, lw=1.4,
                          label=way if way != "no table" else "no table (playouts)")  # fmt: skip
        axes.set_xscale("log")
        axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
        axes.minorticks_off()
        axes.set_yscale("symlog", linthresh=1e-4)
        axes.set_ylim(bottom=-2e-5)
        axes.set_xlabel("evaluations")
        axes.set_title(title, loc="left")
    panels[0].set_ylabel("regret per decision (points)")
    panels[0].legend(frameon=False, fontsize=8, loc="center right", bbox_to_anchor=(1.0, 0.45))
    figure.tight_layout()
    figure.savefig(IMAGES / "bearoff_search.png")
    plt.close(figure)


def draw_networks(plt: Any, networks: list[dict[str, Any]]) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 2.8))
    for offset, (player, hatch) in zip((-0.2, 0.2), (("plan", ""), ("search", "//")), strict=True):
        found = [over_seeds([row for row in networks if row["target"] == name], player) for name in TARGETS]
        axes.barh(np.arange(len(TARGETS)) + offset, [one["mean"] for one in found], 0.38,
                  xerr=[one["error"] for one in found], hatch=hatch, edgecolor="white",
                  color=[COLOURS[{"A+B": "A", "B": "B", "D": "D"}.get(name, "no table")]
                         for name in TARGETS])  # fmt: skip
    axes.set_yticks(range(len(TARGETS)), list(TARGETS))
    axes.invert_yaxis()
    axes.set_xlabel("regret per decision (points); plain: plan of the turn, hatched: search with 64 simulations")
    axes.set_title("Networks by value target", loc="left")
    figure.tight_layout()
    figure.savefig(IMAGES / "bearoff_networks.png")
    plt.close(figure)


def kept() -> dict[str, Any]:
    """Return what was measured before."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return found


def keep(name: str, found: Any) -> None:
    KEPT.write_text(json.dumps({**kept(), name: found}, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="only draw pictures and tables from bearoff.json")
    parser.add_argument("--only", choices=["errors", "searches", "networks"], help="measure only this part")
    given = parser.parse_args()
    measured = {"errors": measure_errors, "searches": measure_searches, "networks": measure_networks}
    if not given.draw:
        for name in [given.only] if given.only else list(measured):
            keep(name, measured[name]())  # type: ignore[operator]
    data = kept()
    draw(data)
    rewrite(PAGE, TABLES, data)


if __name__ == "__main__":
    main()
