"""Train games with the recipe ``afterstate``, several seeds each, and write ``afterstates.json``.

    python docs/scripts/afterstates.py yatzy1 yatzy2 2048 pig race shut_the_box   strength (two core-hours)
    python docs/scripts/afterstates.py targets alphazero                          value targets (one core-hour)
    python docs/scripts/afterstates.py search                                     planner and search
    python docs/scripts/afterstates.py pages                                      the figure and the tables

Minutes are CPU time of all processes, without evaluation: six minutes on two cores are twelve core-minutes. Exact
values are used for evaluation only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from page_tables import rewrite

import aleazero
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.regret import measure_regret
from aleazero.evaluation.statistics import Mean
from aleazero.evaluation.strength import measure_tables
from aleazero.evaluation.yatzy.measure import measure_against_solo, measure_solo
from aleazero.evaluation.yatzy.positions import classify, load_set, solitaire
from aleazero.oracles.oracle import require_oracle
from aleazero.oracles.solve import solve
from aleazero.oracles.yatzy import load_or_build
from aleazero.processes import Pool
from aleazero.replay.window import Window
from aleazero.runs.config import MEASURED, UNKNOWN
from aleazero.runs.recipes import make_learner
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.alphazero import fit, play_games
from aleazero.training.config import config_for
from aleazero.training.learner import Learner
from aleazero.training.table_learner import TupleLearner

OUT = Path(__file__).with_name("afterstates.json")
DOCS = Path(__file__).resolve().parents[1]
IMAGES = DOCS / "images"
PAGES = (DOCS / "benchmarks" / "training.md", DOCS / "start" / "train.md")
MARKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0)
"""Core-minutes at which the network is measured."""
BEST_ALONE = 248.44
"""Points of best play of one-player Yatzy."""


def judge_yatzy1(learner: AfterstateLearner, last: bool) -> dict[str, Any]:
    found = measure_solo(learner.values, load_or_build(), 10_000 if last else 2_000)
    return {"regret": found.regret.to_dict(), "score": found.score.to_dict()}


def judge_yatzy2(learner: AfterstateLearner, last: bool) -> dict[str, Any]:
    found = measure_against_solo(learner.values, load_or_build(), 20_000 if last else 1_000, threads=2)
    return {"won": found.won.to_dict(), "score": found.score.to_dict(), "solo_score": found.solo_score.to_dict()}


def judge_2048(learner: TupleLearner, last: bool) -> dict[str, Any]:
    """Scores looking one move ahead, and at the end of a run two."""
    looked = {plies: measure_tables(learner.game, learner.tuples, games, plies=plies, seed=3, threads=2)
              for plies, games in ((1, 1000 if last else 200), (2, 300)) if plies == 1 or last}  # fmt: skip
    return {f"score_{plies}": found.mean.to_dict() for plies, found in looked.items()}


def judge_by_solution(learner: AfterstateLearner, last: bool, games: int = 100) -> dict[str, Any]:
    """Regret of a turn (in win probability where there are wins) in the planner's own play over the network."""
    game = learner.game
    exact = solved(game)
    share = 2.0 if game.num_players == 2 else 1.0  # from -1..1 to a probability
    lanes, states = learner.turn_player, np.repeat(learner.first_state[None], games, axis=0)
    regret = np.zeros(games)
    turns = 0
    luck = np.random.default_rng(11)
    running = np.ones(games, np.bool_)
    while running.any():
        leaves, starts, known = lanes.list_turn_ends(states)
        worth = learner.values.values_by_player(leaves, 0.0)
        truth = np.array([exact.value(game.state_from_vector(leaf)) for leaf in leaves])
        draws = luck.random((len(states), lanes.draws))
        movers, _, got, chosen, _ = lanes.play_turns(states, starts, known, worth, truth, draws, 0.0)
        _, best, _, _, _ = lanes.play_turns(states, starts, known, truth, truth, draws, 0.0)
        regret[running] += (best - got[np.arange(len(states)), movers])[: len(states)] / share
        turns += len(states)
        ends = learner.values.see(leaves[chosen])
        running[np.flatnonzero(running)[ends.over]] = False
        states = leaves[chosen][~ends.over]
    return {"regret_per_game": Mean.of(regret).to_dict(), "regret_per_turn": float(regret.sum() / turns)}


@lru_cache
def solved(game: Any) -> Any:
    return solve(game, max_states=5_000_000)


CASES: dict[str, tuple[str, dict[str, Any], float, Callable[..., dict[str, Any]]]] = {
    "yatzy1": ("yatzy", {"players": 1}, 12.0, judge_yatzy1),
    "yatzy2": ("yatzy", {"players": 2}, 12.0, judge_yatzy2),
    "2048": ("2048", {}, 12.0, judge_2048),
    "pig": ("pig", {}, 4.0, judge_by_solution),
    "race": ("examples/race.py", {}, 1.0, judge_by_solution),
    "shut_the_box": ("examples/shut_the_box.py", {}, 2.0, judge_by_solution),
}


def learn(what: str, seed: int, minutes: float, label: str = "", **settings: Any) -> list[dict[str, Any]]:
    """Learn for so many core-minutes; a row at each mark."""
    name, params, _, judge = CASES[what]
    game = aleazero.load_game(name, **params)
    config = config_for(game, {"seed": seed, **settings}, {})
    make_learner(game, config).round()  # compiles
    learner: Learner = make_learner(game, config)
    learner.rounds, spent, turns, rows = UNKNOWN, 0.0, 0, []
    marks = [mark for mark in MARKS if mark < minutes] + [minutes]
    while learner.rounds_done < learner.rounds:
        began = time.process_time()
        turns += learner.round().turns
        spent += (time.process_time() - began) / 60.0
        if learner.rounds == UNKNOWN and spent >= MEASURED * minutes:
            learner.rounds = round(learner.rounds_done / MEASURED)
        last = learner.rounds_done == learner.rounds
        if last or (len(marks) > 1 and spent >= marks[0]):
            marks = marks[1:]
            row = {"case": what, "label": label, "seed": seed, "minutes": spent, "rounds": learner.rounds_done,
                   "turns_per_second": turns / spent / 60.0, "last": last, **judge(learner, last)}  # fmt: skip
            print(row, flush=True)  # noqa: T201 -- a script
            rows.append(row)
    return rows


def learn_alphazero(seed: int, minutes: float) -> list[dict[str, Any]]:
    """One-player Yatzy by the other recipe, with the settings of ``docs/learning.py``; regret by its mean score."""
    sys.path.insert(0, str(Path(__file__).parent))
    import learning

    game = aleazero.load_game("yatzy", players=1)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, Pool(2) as workers:
        net, start, spent, number = "dummy", None, 0.0, 0
        marks = [mark for mark in MARKS if 1.0 <= mark < minutes] + [minutes]
        while marks:
            began = learning.processor_seconds(workers)
            play_games(workers, game, net, 256 if number else 512, Path(folder) / "replay", learning.SELFPLAY["yatzy"],
                       seed=seed, iteration=number)  # fmt: skip
            config = learning.TRAIN["yatzy"].model_copy(update={"seed": seed})
            start = Path(folder) / f"net_{number:04}.safetensors"
            before, net, number = (Path(net) if number else None), str(start), number + 1
            fit(game, Window(Path(folder) / "replay", config.window), start, config, start=before)
            spent += (learning.processor_seconds(workers) - began) * 2 / 60.0  # that of two cores is halved there
            if spent >= marks[0]:
                marks = marks[1:]
                player = aleazero.make_player(f"net:{net},sims=64,c=0.12", game)
                scores = [played.returns[0] for played in play_match(game, [player], game_seeds(9, 300))]
                score = Mean.of(scores)
                rows.append({"case": "yatzy1", "label": "alphazero", "seed": seed, "minutes": spent, "rounds": number,
                             "last": not marks, "score": score.to_dict(),
                             "regret": {**score.to_dict(), "mean": BEST_ALONE - score.mean}})  # fmt: skip
                print(rows[-1], flush=True)  # noqa: T201 -- a script
    return rows


SEARCHES = (4, 16, 64, 256)


def compare_search(seed: int, minutes: float) -> list[dict[str, Any]]:
    """Train one-player Yatzy for these minutes; measure regret and time of the planner and of searches."""
    game = solitaire()
    learner = make_learner(game, config_for(game, {"seed": seed}, {}))
    began = time.process_time()
    while time.process_time() - began < minutes * 60.0:
        learner.round()
    positions = [one.state() for one in load_set("standard")]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        net = Path(folder) / "net.safetensors"
        learner.save(net)
        specs = {"plan:horizon=turn": 0, **{f"search:sims={sims}": sims for sims in SEARCHES}}
        for spec, sims in specs.items():
            player = aleazero.make_player(f"{spec},net={net}", game)
            player.select_many(positions[:8], [0] * 8)  # compiles
            began = time.process_time()
            found = measure_regret(player, positions, require_oracle(game), classify=classify)
            spent = time.process_time() - began
            rows.append({"case": "search", "label": spec, "seed": seed, "minutes": minutes, "sims": sims,
                         "ms": 1000 * spent / len(positions), "regret": found.overall.to_dict(),
                         "by_kind": {kind: group.to_dict() for kind, group in found.by_kind.items()}})  # fmt: skip
            print(rows[-1], flush=True)  # noqa: T201 -- a script
    return rows


def main() -> None:
    """Measure the given cases and store the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="+", choices=(*CASES, "targets", "alphazero", "search", "pages"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--minutes", type=float, default=None)
    options = parser.parse_args()
    for what in options.what:
        if what == "pages":
            plot()
            rows = json.loads(OUT.read_text(encoding="utf-8"))
            for page in PAGES:
                rewrite(page, TABLES, rows)
        elif what == "targets":
            for target in ("turn", "lambda", "td"):
                for seed in options.seeds:
                    keep(learn("yatzy1", seed, options.minutes or 2.0, label=target, target=target))
        else:
            for seed in options.seeds:
                if what == "search":
                    keep(compare_search(seed, options.minutes or 2.0))
                elif what == "alphazero":
                    keep(learn_alphazero(seed, options.minutes or 12.0))
                else:
                    keep(learn(what, seed, options.minutes or CASES[what][2]))


def keep(rows: list[dict[str, Any]]) -> None:
    """Store rows in the file; they replace earlier rows of the same case, label and seed."""
    held = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else []
    same = [(row["case"], row["label"], row["seed"]) for row in rows]
    held = [row for row in held if (row["case"], row["label"], row["seed"]) not in same]
    OUT.write_text(json.dumps(held + rows, indent=1) + "\n", encoding="utf-8")


def reached(rows: list[dict[str, Any]]) -> str:
    """List the result of each run."""
    lines = ["| game | seed | core-minutes | result | speed per core |", "|---|---:|---:|---|---:|"]
    for case, words in REACHED.items():
        for row in rows:
            if row["case"] == case and not row["label"] and row["last"]:
                speed = f"{row['turns_per_second']:,.0f} {SPEEDS[case]}" if case in SPEEDS else ""
                lines.append(f"| {words[0]} | {row['seed']} | {row['minutes']:.1f} | {words[1](row)} | {speed} |")
    return "\n".join(lines)


def by_target(rows: list[dict[str, Any]]) -> str:
    """List regret after about a minute, by target and seed."""
    lines = ["| target | " + " | ".join(f"seed {seed}" for seed in (1, 2, 3)) + " |", "|---|---:|---:|---:|"]
    for label in ("turn", "lambda", "td"):
        last = {row["seed"]: row for row in rows if row["label"] == label and row["case"] == "yatzy1" and row["last"]}
        cells = [f"{pm(last[seed]['regret'])} ({last[seed]['minutes']:.1f} min)" for seed in sorted(last)]
        lines.append(f"| `{label}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by_search(rows: list[dict[str, Any]]) -> str:
    """Compare the planner and searches over the same network: time and regret per decision."""
    lines = ["| player | ms/decision | regret per decision |", "|---|---:|---:|"]
    for row in sorted(rows, key=lambda row: row.get("sims", 0)):
        if row["case"] == "search":
            lines.append(f"| `{row['label']},net=…` | {row['ms']:.2g} | {pm(row['regret'])} |")
    return "\n".join(lines)


def of_box(rows: list[dict[str, Any]]) -> str:
    """List the regret in shut the box by core-minutes, for all seeds."""
    lines = ["| core-minutes | regret per game, seeds 1 to 3 |", "|---:|---|"]
    mine = [row for row in rows if row["case"] == "shut_the_box"]
    for mark in sorted({min(MARKS, key=lambda mark: abs(mark - row["minutes"])) for row in mine}):
        some = [row for row in mine if min(MARKS, key=lambda one: abs(one - row["minutes"])) == mark]
        lines.append(f"| {mark:g} | " + ", ".join(f"{row['regret_per_game']['mean']:.3f}" for row in some) + " |")
    return "\n".join(lines)


def pm(found: dict[str, float]) -> str:
    """A mean with its standard error."""
    return f"{found['mean']:.3g} ± {found['error']:.1g}"


def share(found: dict[str, float]) -> str:
    """A share of games with its standard error."""
    return f"{found['mean']:.2%} ± {found['error']:.2%}"


SPEEDS = {"yatzy1": "turns/s", "yatzy2": "turns/s", "2048": "moves/s"}
"""Unit of the speed. The other games were measured with a version that planned their turns one by one."""
REACHED: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "yatzy1": ("Yatzy, one player", lambda row: f"regret {pm(row['regret'])} points per game"),
    "yatzy2": ("Yatzy, two players", lambda row: f"{share(row['won'])} of {2 * row['won']['count']:,} games won"),
    "2048": ("2048", lambda row: f"{row['score_1']['mean']:,.0f} ± {row['score_1']['error']:,.0f} points 1-ply, "
                                 f"{row['score_2']['mean']:,.0f} ± {row['score_2']['error']:,.0f} 2-ply"),
    "pig": ("pig", lambda row: f"regret {row['regret_per_turn']:.5f} win probability per turn"),
    "race": ("`examples/race.py`", lambda row: f"regret {row['regret_per_turn']:.5f} win probability per turn"),
    "shut_the_box": ("`examples/shut_the_box.py`", lambda row: f"regret {pm(row['regret_per_game'])} points per game"),
}  # fmt: skip
TABLES = {"reached": reached, "targets": by_target, "search": by_search, "box": of_box}


TARGETS = {
    "turn": "turn: expectation of the turn",
    "lambda": "lambda: mixed with later turns",
    "td": "td: sampled outcome",
    "alphazero": "alphazero: self-play with search",
}


def plot() -> None:
    """Draw regret by time and target, and the share of games won against the solo-optimal player."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = json.loads(OUT.read_text(encoding="utf-8"))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for number, (label, name) in enumerate(TARGETS.items()):
        draw(left, rows, "yatzy1", label, "regret", f"C{number}", name)
    draw(left, rows, "yatzy1", "", "regret", "C0", "turn, six minutes on two cores", "o--")
    left.set(xscale="log", yscale="log", xlabel="core-minutes", ylabel="regret per game (points)",
             title="One-player Yatzy: points short of best play")  # fmt: skip
    left.set_yticks([0.1, 0.3, 1, 3, 10, 30, 100], ["0.1", "0.3", "1", "3", "10", "30", "100"])
    left.legend(fontsize=8)
    draw(right, rows, "yatzy2", "", "won", "C0", "share won, three seeds", scale=100)
    right.axhline(50, color="grey", lw=1)
    right.set(xscale="log", xlabel="core-minutes", ylabel="games won (%)",
              title="Two players: against the solo-optimal player")  # fmt: skip
    right.legend(fontsize=8)
    marks = [0.125, 0.25, 0.5, 1, 2, 4, 8, 12]
    for axis in (left, right):
        axis.set_xticks(marks, [f"{mark:g}" for mark in marks])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    figure.savefig(IMAGES / "afterstates.png", dpi=110)


def draw(axis: Any, rows: Any, case: str, label: str, what: str, colour: str, name: str, style: str = "o-", *,
         scale: float = 1.0) -> None:  # fmt: skip
    """Draw a line per seed with 95 % confidence intervals."""
    mine = [row for row in rows if row["case"] == case and row["label"] == label]
    for seed in sorted({row["seed"] for row in mine}):
        some = [row for row in mine if row["seed"] == seed]
        axis.errorbar([row["minutes"] for row in some], [scale * row[what]["mean"] for row in some],
                      [1.96 * scale * row[what]["error"] for row in some], fmt=style, ms=3, lw=1, capsize=2,
                      color=colour, label=name)  # fmt: skip
        name = "_"  # once in the legend


if __name__ == "__main__":
    main()
