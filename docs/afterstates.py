"""Learn games by the afterstate recipe, several seeds each, and measure on the way: ``docs/afterstates.json``.

    .venv/bin/python docs/afterstates.py yatzy1 yatzy2 pig      the proofs (12 core-minutes a seed; pig 4)
    .venv/bin/python docs/afterstates.py targets                turn, lambda and td beside each other (2 a seed)
    .venv/bin/python docs/afterstates.py plot                   the pictures, from what was measured

Minutes are of one core: the processor time of the process, measuring excluded, so that a busy machine does not shorten
them; six minutes on two cores are twelve. Oracles judge; they never teach.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import aleazero
from aleazero.evaluation.estimate import Estimate
from aleazero.evaluation.yatzy_turns import judge_alone, judge_duels
from aleazero.oracles.solve import solve
from aleazero.oracles.yatzy import load_or_build
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.afterstate_config import AfterstateConfig, default_net
from aleazero.training.learn import MEASURED, UNKNOWN

OUT = Path(__file__).with_name("afterstates.json")
IMAGES = Path(__file__).with_name("images")
MARKS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0)
"""Core-minutes at which the network is measured."""


def judge_yatzy1(learner: AfterstateLearner, last: bool) -> dict[str, Any]:
    found = judge_alone(learner.values, load_or_build(), 10_000 if last else 2_000)
    return {"regret": found.regret.to_dict(), "score": found.score.to_dict()}


def judge_yatzy2(learner: AfterstateLearner, last: bool) -> dict[str, Any]:
    found = judge_duels(learner.values, load_or_build(), 20_000 if last else 1_000, threads=2)
    return {"won": found.won.to_dict(), "score": found.score.to_dict(), "oracle_score": found.oracle_score.to_dict()}


def judge_by_solution(learner: AfterstateLearner, last: bool, games: int = 100) -> dict[str, Any]:
    """Regret of a turn, in win probability, at positions that the planner over the network meets in its own play."""
    game = learner.game
    exact = solved(game.name)
    share = 2.0 if game.num_players == 2 else 1.0  # from -1..1 to a probability
    lanes, states = learner.lanes, np.repeat(learner.first_state[None], games, axis=0)
    regret = np.zeros(games)
    turns = 0
    luck = np.random.default_rng(11)
    running = np.ones(games, np.bool_)
    while running.any():
        leaves, starts, known = lanes.spread(states)
        worth = learner.values.worth(leaves, 0.0)
        truth = np.array([exact.value(game.state_from_vector(leaf)) for leaf in leaves])
        draws = luck.random((len(states), lanes.draws))
        movers, _, got, chosen, _ = lanes.play(states, starts, known, worth, truth, draws, 0.0)
        _, best, _, _, _ = lanes.play(states, starts, known, truth, truth, draws, 0.0)
        regret[running] += (best - got[np.arange(len(states)), movers])[: len(states)] / share
        turns += len(states)
        ends = learner.values.look(leaves[chosen])
        running[np.flatnonzero(running)[ends.over]] = False
        states = leaves[chosen][~ends.over]
    return {"regret_a_game": Estimate.of(regret).to_dict(), "regret_a_turn": float(regret.sum() / turns)}


@lru_cache
def solved(name: str) -> Any:
    return solve(aleazero.load_game(name), max_states=5_000_000)


CASES: dict[str, tuple[str, dict[str, Any], float, Callable[..., dict[str, Any]]]] = {
    "yatzy1": ("yatzy", {"players": 1}, 12.0, judge_yatzy1),
    "yatzy2": ("yatzy", {"players": 2}, 12.0, judge_yatzy2),
    "pig": ("pig", {}, 4.0, judge_by_solution),
}


def learn(what: str, seed: int, minutes: float, label: str = "", **settings: Any) -> list[dict[str, Any]]:
    """Learn for so many core-minutes; a row at each mark."""
    name, params, _, judge = CASES[what]
    game = aleazero.load_game(name, **params)
    learner = AfterstateLearner(game, AfterstateConfig(net=default_net(game), seed=seed, **settings))
    learner.round()  # compiles
    learner = AfterstateLearner(game, AfterstateConfig(net=default_net(game), seed=seed, **settings))
    learner.rounds, spent, rows = UNKNOWN, 0.0, []
    marks = [mark for mark in MARKS if mark < minutes] + [minutes]
    while learner.rounds_done < learner.rounds:
        began = time.process_time()
        told = learner.round()
        spent += (time.process_time() - began) / 60.0
        if learner.rounds == UNKNOWN and spent >= MEASURED * minutes:
            learner.rounds = round(learner.rounds_done / MEASURED)
        last = learner.rounds_done == learner.rounds
        if last or (len(marks) > 1 and spent >= marks[0]):
            marks = marks[1:]
            row = {"case": what, "label": label, "seed": seed, "minutes": spent, "rounds": learner.rounds_done,
                   "turns_per_second": told.turns * learner.rounds_done / spent / 60.0, "last": last,
                   **judge(learner, last)}  # fmt: skip
            print(row, flush=True)  # noqa: T201 -- a script
            rows.append(row)
    return rows


def main() -> None:
    """Learn what is asked for, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="+", choices=(*CASES, "targets", "plot"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--minutes", type=float, default=None)
    options = parser.parse_args()
    for what in options.what:
        if what == "plot":
            plot()
        elif what == "targets":
            for target in ("turn", "lambda", "td"):
                for seed in options.seeds:
                    keep(learn("yatzy1", seed, options.minutes or 2.0, label=target, target=target))
        else:
            for seed in options.seeds:
                keep(learn(what, seed, options.minutes or CASES[what][2]))


def keep(rows: list[dict[str, Any]]) -> None:
    """Put rows into the file, instead of earlier ones of the same case, label and seed."""
    held = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else []
    same = [(row["case"], row["label"], row["seed"]) for row in rows]
    held = [row for row in held if (row["case"], row["label"], row["seed"]) not in same]
    OUT.write_text(json.dumps(held + rows, indent=1) + "\n", encoding="utf-8")


def plot() -> None:
    """Regret against time by target, and the share won against the oracle's player."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = json.loads(OUT.read_text(encoding="utf-8"))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    colours = {"turn": "C0", "lambda": "C1", "td": "C2", "": "C0"}
    for label, name in (("turn", "turn: expectation of the turn"), ("lambda", "lambda 0.7"), ("td", "td: sampled")):
        for number, seed in enumerate(sorted({row["seed"] for row in rows if row["label"] == label})):
            some = [row for row in rows if row["case"] == "yatzy1" and row["label"] == label and row["seed"] == seed]
            left.plot([row["minutes"] for row in some], [row["regret"]["mean"] for row in some], "o-",
                      color=colours[label], ms=3, label=name if number == 0 else None)  # fmt: skip
    for number, seed in enumerate(sorted({r["seed"] for r in rows if r["case"] == "yatzy1" and not r["label"]})):
        some = [row for row in rows if row["case"] == "yatzy1" and not row["label"] and row["seed"] == seed]
        left.plot([row["minutes"] for row in some], [row["regret"]["mean"] for row in some], "o--", color="C3", ms=3,
                  label="turn, 12 core-minutes" if number == 0 else None)  # fmt: skip
    left.set(xscale="log", yscale="log", xlabel="core-minutes", ylabel="regret a game (points)",
             title="One-player Yatzy: 248.44 − regret is the expected score")  # fmt: skip
    left.legend()
    for seed in sorted({row["seed"] for row in rows if row["case"] == "yatzy2"}):
        some = [row for row in rows if row["case"] == "yatzy2" and row["seed"] == seed]
        won = [100 * row["won"]["mean"] for row in some]
        right.errorbar([row["minutes"] for row in some], won, [196 * row["won"]["error"] for row in some], fmt="o-",
                       ms=3, capsize=2, label=f"seed {seed}")  # fmt: skip
    right.axhline(50, color="grey", lw=1)
    right.set(xscale="log", xlabel="core-minutes", ylabel="games won (%)",
              title="Two players: against the player who is best alone")  # fmt: skip
    right.legend()
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(IMAGES / "afterstates.png", dpi=110)


if __name__ == "__main__":
    main()
