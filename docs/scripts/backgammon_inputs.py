"""Train value networks of backgammon without some of their inputs, and write ``backgammon_inputs.json``.

    python docs/scripts/backgammon_inputs.py                      all variants, two seeds (half an hour on one core)
    python docs/scripts/backgammon_inputs.py all shots --seeds 3  two variants with another seed
    python docs/scripts/backgammon_inputs.py --only costs         time of the inputs and of the network
    python docs/scripts/backgammon_inputs.py --only tables        the tables of the page

All networks train for the same CPU time of one thread, without evaluation, and with the same settings. Inputs that are
left out are 0. The hit chances, the inputs of a race and the group of 131 to 146 are not computed either. Error rates
are those of the network without a plan, on the stored set of decisions.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from page_tables import rewrite, table

import aleazero
from aleazero.evaluation.errors import ErrorReport, judged_set, measure_on_set
from aleazero.evaluation.plays import plays_of
from aleazero.evaluation.statistics import Mean
from aleazero.games.backgammon import features as inputs
from aleazero.games.backgammon.board import BAR, HOME_POINTS, NUM_POINTS, POINTS
from aleazero.games.backgammon.features import BLOCK_SIZE
from aleazero.games.kernel import KernelGame
from aleazero.runs.config import UNKNOWN
from aleazero.runs.recipes import make_learner
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.config import config_for

KEPT = Path(__file__).with_name("backgammon_inputs.json")
PAGE = Path(__file__).resolve().parents[1] / "games" / "backgammon.md"
UNIT = 1000.0
"""Error rates are losses per decision times this."""


class Variant(NamedTuple):
    """Inputs to leave out, and the phases that have networks of their own."""

    text: str
    skipped: tuple[str, ...] = ()
    """Functions of ``games/backgammon/features.py`` that are not called."""
    removed: tuple[int, int] = (0, 0)
    """First and last + 1 of the inputs of each player that are set to 0."""
    plans: bool = False
    """Whether the phases are game plans."""


VARIANTS = {
    "all": Variant("all inputs"),
    "board": Variant(
        "only checkers, off and pips (0-104)", skipped=("_write_shots", "_write_structure", "_write_escape")
    ),
    "shots": Variant("without hit chances (105-130)", skipped=("_write_shots",)),
    "structure": Variant("without 131-146", skipped=("_write_structure",)),
    "race": Variant("without the numbers of races (147-149)", skipped=("_write_escape",)),
    "escapes": Variant("without escapes, primes and home board (131-137)", removed=(131, 138)),
    "timing": Variant("without contact, mobility and spread (138-142)", removed=(138, 143)),
    "back": Variant("without checkers back, anchors, bar and blots (143-146)", removed=(143, 147)),
    "plans": Variant("all inputs, five networks by game plan", plans=True),
}


# -- variants of the game ----------------------------------------------------------------------------------------------


def load_variant(variant: Variant) -> KernelGame:
    """Return backgammon with the inputs and the phases of a variant."""
    game = aleazero.load_game("backgammon")
    assert isinstance(game, KernelGame)
    scope = {**vars(inputs), **dict.fromkeys(variant.skipped, write_nothing)}
    game.kernels.features = features_without(types.FunctionType(inputs.features.__code__, scope), *variant.removed)
    if variant.plans:
        game.info = replace(game.info, phases=PLANS)
        game.kernels.phase = plan_of
    return game


def features_without(write: Callable[..., None], first: int, last: int) -> Callable[..., None]:
    """Return a function that writes the inputs and sets those of one group to 0, for both players."""

    def features(state: Any, player: int, out: Any) -> None:
        write(state, player, out)
        for place in range(first, last):
            out[place] = out[BLOCK_SIZE + place] = 0.0

    return features


def write_nothing(*_: Any) -> None:
    """Leave the inputs 0."""


PLANS = ("race", "many back", "both back", "own back", "other back")
"""Phases: no contact; a player with at least three checkers on the bar or in the opponent's home board; both players
have such checkers; only the viewer, or only the other player (or none)."""
MANY_BACK = 3


def plan_of(state: Any) -> int:
    """The game plan as a phase, an index of ``PLANS``; compiled."""
    zero, one = state[BAR], state[BAR + 1]
    rear_zero = NUM_POINTS + 1 if zero > 0 else 0
    rear_one = NUM_POINTS + 1 if one > 0 else 0
    for i in range(NUM_POINTS):
        count = state[POINTS + i]
        if count > 0:
            rear_zero = max(rear_zero, i + 1)
            zero += count if i >= NUM_POINTS - HOME_POINTS else 0
        elif count < 0:
            rear_one = max(rear_one, NUM_POINTS - i)
            one -= count if i < HOME_POINTS else 0
    if rear_zero + rear_one <= NUM_POINTS:
        return 0
    if zero >= MANY_BACK or one >= MANY_BACK:
        return 1
    if zero > 0 and one > 0:
        return 2
    return 3 if (zero if viewer(state) == 0 else one) > 0 else 4


viewer = aleazero.load_game("backgammon").kernels.viewer


# -- training and error rates ------------------------------------------------------------------------------------------


def learn(game: KernelGame, seed: int, minutes: float) -> tuple[AfterstateLearner, dict[str, Any]]:
    """Train a network for this CPU time; the schedules follow the time, not the rounds."""
    config = config_for(game, {"seed": seed}, {})
    make_learner(game, config).round()  # compiles
    learner = make_learner(game, config)
    assert isinstance(learner, AfterstateLearner)
    learner.rounds = UNKNOWN
    spent, games, turns = 0.0, 0, 0
    while learner.rounds_done < learner.rounds:
        began = time.process_time()
        found = learner.round()
        spent += time.process_time() - began
        games, turns = games + found.games, turns + found.turns
        learner.rounds = max(learner.rounds_done, round(learner.rounds_done * minutes * 60.0 / spent))
    return learner, {"minutes": spent / 60.0, "rounds": learner.rounds_done, "games": games,
                     "games_per_second": games / spent, "turns_per_second": turns / spent}  # fmt: skip


def judge(game: KernelGame, learner: AfterstateLearner, decisions: int | None) -> ErrorReport:
    """Return the losses of the network without a plan on the stored set."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.safetensors"
        learner.save(path)
        return measure_on_set(aleazero.make_player(f"net:{path}", game), judged_set(game, "standard")[:decisions])


def measure(names: list[str], seed: int, minutes: float, decisions: int | None) -> None:
    """Train and judge variants with one seed; differences are paired by decision, to all inputs with this seed."""
    base: NDArray[np.float64] | None = None
    for name in sorted(names, key=lambda name: name != "all"):  # all inputs first
        game = load_variant(VARIANTS[name])
        learner, row = learn(game, seed, minutes)
        report = judge(game, learner, decisions)
        losses = np.array([one.loss for one in report.losses])
        base = losses if name == "all" else base
        kinds = {kind: mean_of(group.loss) for kind, group in report.by_kind.items()}
        difference = None if base is None else mean_of(Mean.of(losses - base))
        row = {"variant": name, "seed": seed, "budget": minutes, **row, "decisions": len(losses),
               "error_rate": mean_of(Mean.of(losses)), **kinds, "difference": difference}  # fmt: skip
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
        data = kept()
        rows = [one for one in data["rows"] if (one["variant"], one["seed"], one["budget"]) != (name, seed, minutes)]
        keep({**data, "rows": [*rows, row]})


def mean_of(mean: Mean) -> dict[str, float]:
    return {"mean": UNIT * mean.mean, "error": UNIT * mean.error}


# -- time of the inputs ------------------------------------------------------------------------------------------------


def measure_costs(repeats: int = 15) -> None:
    """Measure the time of inputs and network per position, at all positions after the moves of the stored set.

    The variants alternate, and the fastest of their repetitions counts: other work on the machine only adds time.
    """
    games = {name: load_variant(variant) for name, variant in VARIANTS.items()}
    found = judged_set(games["all"], "standard")
    rows = np.array([play.end.vector for one in found for play in plays_of(one.state)])
    values = {name: AfterstateLearner(game, config_for(game, {}, {})).values for name, game in games.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
    for _ in range(repeats + 1):
        for name, one in values.items():
            start = time.process_time()
            seen = one.see(rows)
            middle = time.process_time()
            one.net.forward(one.theta, seen.features, seen.phases)
            times[name].append((middle - start, time.process_time() - middle))
    unit = 1e6 / len(rows)
    costs = [
        {"variant": name, "positions": len(rows), "inputs_us": unit * min(one[0] for one in taken[1:]),
         "network_us": unit * min(one[1] for one in taken[1:])}
        for name, taken in times.items()
    ]  # fmt: skip
    keep({**kept(), "costs": costs})


# -- tables ------------------------------------------------------------------------------------------------------------


def inputs_table(data: dict[str, Any]) -> str:
    """List the variants: games and error rates of each seed, and the difference to all inputs."""
    costs = {row["variant"]: row["inputs_us"] + row["network_us"] for row in data["costs"]}
    budgets = sorted({row["budget"] for row in data["rows"]})
    headers = ["inputs", "time per position"]
    for budget in budgets:
        headers += [f"thousand games in {budget:g} min", "error rate", "difference"]
    cells = []
    for name, variant in VARIANTS.items():
        line = [variant.text, f"{costs[name]:.2f} µs"]
        for budget in budgets:
            rows = [row for row in data["rows"] if (row["variant"], row["budget"]) == (name, budget)]
            games = " / ".join(f"{row['games'] / 1000:.0f}" for row in rows)
            rates = " / ".join(f"{row['error_rate']['mean']:.1f}" for row in rows)
            line += [games, rates, change(rows)]
        cells.append(line)
    return table(headers, cells, 1)


def change(rows: list[dict[str, Any]]) -> str:
    """Show the mean difference over seeds; its error is over decisions, as if those of the seeds were independent."""
    found = [row["difference"] for row in rows if row["variant"] != "all" and row["difference"] is not None]
    if not found:
        return ""
    error = np.sqrt(np.sum([one["error"] ** 2 for one in found])) / len(found)
    return f"{np.mean([one['mean'] for one in found]):+.1f} ± {error:.1f}"


TABLES = {"inputs": inputs_table}


def kept() -> dict[str, Any]:
    """Return what was measured before."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"rows": [], "costs": []}
    return found


def keep(data: dict[str, Any]) -> None:
    KEPT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Measure the given variants and write the tables of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="*", help=f"{', '.join(VARIANTS)}; default: all of them")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--minutes", type=float, default=1.0, help="CPU minutes of training per network")
    parser.add_argument("--decisions", type=int, default=None, help="judge only the first decisions of the set")
    parser.add_argument("--only", choices=["costs", "tables"], help="measure only the costs, or only write the tables")
    options = parser.parse_args()
    names = options.variants or list(VARIANTS)
    for name in names:
        if name not in VARIANTS:
            parser.error(f"no variant {name!r}, expected one of {', '.join(VARIANTS)}")
    if options.only is None:
        for seed in options.seeds:
            measure(names, seed, options.minutes, options.decisions)
    if options.only != "tables":
        measure_costs()
    rewrite(PAGE, TABLES, kept())


if __name__ == "__main__":
    main()
