"""Measurements of the benchmark ``yatzy``: variance of the root value, regret, the first roll of a turn, speed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from aleazero.cli.progress import whole_search
from aleazero.games.base import ESTIMATE, EXACT, NONE, State
from aleazero.games.registry import load_game
from aleazero.games.yatzy.card import ALL_OPEN
from aleazero.games.yatzy.turn import LEAF_SCORE, solve_rerolls
from aleazero.search.config import SearchConfig
from aleazero.search.result import SearchResult
from aleazero.search.search import Search
from benchmarks.chance.cases import Vector
from benchmarks.chance.measure import mean_of, root_of
from benchmarks.search import best_seconds
from benchmarks.yatzy import cases
from benchmarks.yatzy.trees import LARGEST_BUDGET

VARIANCE_SETTINGS = ("sampling", "exact-21", "stratified", "exact-21-stratified")
VARIANCE_POSITIONS = 6
OUTCOMES = {1: 6, 2: 21}
"""Number of outcomes of a roll by number of dice."""
MOST_EVALUATIONS = {"rollout": 2**16, "network": 2**12}
"""Maximum number of evaluations per position over all seeds of a row."""
FEWEST_SEEDS = 12

REGRET_SETTINGS = ("sampling", "stratified", "progressive", "narrow", "exact-21", "full", "open")
KINDS = ("mark", "reroll_2", "reroll_1")
"""Kinds of decisions, by rerolls left."""

FRESH_WAYS = {"roll": NONE, "estimate": ESTIMATE, "stop": EXACT}
"""What the search does after a category is scored. roll: draw the next roll. estimate: evaluate the afterstate, and
draw the roll at the next visit. stop: evaluate the afterstate and stop there."""
FRESH_SETTINGS = ("sampling", "stratified", "progressive")
FRESH_POSITIONS = 4
FRESH_SEARCHES = 3
"""Searches per position and network. There is one network per five seeds."""

SPEED_SETTINGS = ("sampling", "stratified", "progressive", "narrow", "exact-21", "full", "open", "stratified-pick",
                  "expectation")  # fmt: skip
SPEED_SIMULATIONS = 10_000
NORMAL_95 = 1.96

Report = Callable[[str], Any]
Row = dict[str, Any]


def _config(setting: str, budget: int) -> SearchConfig:
    return SearchConfig(num_simulations=budget, max_evaluations=budget, chance=cases.settings_of(setting))


def _complete(result: SearchResult) -> SearchResult:
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


def _with_interval(name: str, by_position: Vector) -> dict[str, float]:
    """Return a mean over positions with its standard error and 95 % confidence interval."""
    figure = mean_of(name, by_position)
    margin = NORMAL_95 * figure[f"{name}_se"]
    return {**figure, f"{name}_low": figure[name] - margin, f"{name}_high": figure[name] + margin}


# -- variance of the value of a roll ---------------------------------------------------------------------------


def measure_variance(
    dice: int, evaluator: str, setting: str, budget: int, seeds: int, states: Sequence[State]
) -> dict[str, Any]:
    """Measure one row: the variance over seeds of the value of a roll of this many dice. The network is fixed."""
    seeds = min(seeds, max(FEWEST_SEEDS, MOST_EVALUATIONS[evaluator] // budget))
    search = Search(cases.solitaire(), cases.make_evaluator(evaluator), _config(setting, budget))
    values = np.array([[_complete(search.run(state, seed=seed)).value[0] for state in states] for seed in range(seeds)])
    deviations = values - values.mean(axis=0)
    truth = np.array([cases.oracle().value(state) for state in states])
    return {
        "dice": dice, "evaluator": evaluator, "setting": setting, "budget": budget, "seeds": seeds,
        "positions": len(states), **mean_of("variance", (deviations**2).mean(axis=1) * seeds / (seeds - 1)),
        **mean_of("bias", (values - truth).mean(axis=1)),
    }  # fmt: skip


def measure_all_variances(budgets: Sequence[int], seeds: int, report: Report) -> list[Row]:
    """Measure rolls of one and two dice with each evaluator and setting, also with one evaluation per outcome."""
    rows = []
    for dice in (1, 2):
        states = cases.best_rolls(dice, VARIANCE_POSITIONS)
        for evaluator, largest in LARGEST_BUDGET.items():
            for budget in sorted({OUTCOMES[dice], *(budget for budget in budgets if budget <= largest)}):
                for setting in VARIANCE_SETTINGS:
                    report(f"variance, {dice} dice, {evaluator}, {setting}, {budget:,} evaluations")
                    rows.append(measure_variance(dice, evaluator, setting, budget, seeds, states))
    return rows


# -- regret ----------------------------------------------------------------------------------------------------


def regrets_of(setting: str, budget: int, states: Sequence[State]) -> tuple[Vector, float]:
    """Return the regret of the search's choice at each position, with playouts, and the CPU time per search."""
    search = Search(cases.solitaire(), "rollout", _config(setting, budget))
    search.run(states[0])  # allocates memory, which is not timed
    started = time.process_time()
    chosen = [_complete(search.run(state, seed=seed)).best_action for seed, state in enumerate(states)]
    seconds = (time.process_time() - started) / len(states)
    return np.array([cases.regret_of(state, action) for state, action in zip(states, chosen, strict=True)]), seconds


def measure_regret(budgets: Sequence[int], positions: int, report: Report) -> dict[str, Any]:
    """Measure regret by setting and budget on the same positions, and the ratio of the last budget to the first."""
    states = cases.positions(positions)
    kinds = np.array([cases.rerolls_left(state) for state in states])
    rows: list[Row] = []
    ratios: list[Row] = []
    for setting in REGRET_SETTINGS:
        found = []
        for budget in budgets:
            report(f"regret, {setting}, {budget:,} simulations")
            regrets, seconds = regrets_of(setting, budget, states)
            found.append(regrets)
            by_kind = {f"regret_{name}": mean_of("regret", regrets[kinds == k]) for k, name in enumerate(KINDS)}
            rows.append({
                "setting": setting, "budget": budget, "positions": positions, **_with_interval("regret", regrets),
                **{name: figure["regret"] for name, figure in by_kind.items()},
                **{f"{name}_se": figure["regret_se"] for name, figure in by_kind.items()},
                "optimal_share": float((regrets < 1e-9).mean()), "seconds": seconds,
            })  # fmt: skip
        if len(budgets) > 1:
            first, last = rows[-len(budgets)], rows[-1]
            ratios.append({
                "setting": setting, "from": first["budget"], "to": last["budget"],
                **ratio_of("ratio", found[-1], found[0]),
                **ratio_of("keep_ratio", found[-1][kinds > 0], found[0][kinds > 0]),
                "intervals_apart": last["regret_high"] < first["regret_low"],
            })  # fmt: skip
    return {"rows": rows, "ratios": ratios}


def ratio_of(name: str, above: Vector, below: Vector) -> dict[str, float]:
    """Return the ratio of two means over the same positions, its linearized standard error and 95 % interval."""
    ratio = float(above.mean() / below.mean())
    error = float((above - ratio * below).std(ddof=1) / np.sqrt(len(below)) / below.mean())
    margin = NORMAL_95 * error
    return {name: ratio, f"{name}_se": error, f"{name}_low": ratio - margin, f"{name}_high": ratio + margin}


# -- the first roll of a turn ----------------------------------------------------------------------------------


class Timed:
    """An evaluator that measures its own time."""

    sees_states = True

    def __init__(self, inner: cases.YatzyNetwork) -> None:
        self.inner, self.afterstates, self.seconds = inner, inner.afterstates, 0.0

    def __call__(self, states: Sequence[State]) -> tuple[Vector, Vector]:
        """Return the result of the inner evaluator."""
        started = time.process_time()
        answer = self.inner(states)
        self.seconds += time.process_time() - started
        return answer


def measure_fresh(way: str, setting: str, budget: int, networks: int, states: Sequence[State]) -> dict[str, Any]:
    """Measure one row: scoring decisions searched with several networks, a few times each."""
    config = _config(setting, budget)
    values, regrets = (np.zeros((networks, FRESH_SEARCHES, len(states))) for _ in range(2))
    spent = []
    for seed in range(networks):
        evaluator = Timed(cases.YatzyNetwork(seed, FRESH_WAYS[way]))
        search = Search(cases.solitaire(), evaluator, config)
        search.run(states[0], seed=FRESH_SEARCHES)  # allocates memory, which is not timed
        for place, state in enumerate(states):
            for search_seed in range(FRESH_SEARCHES):
                evaluator.seconds, started = 0.0, time.process_time()
                result = _complete(search.run(state, seed=search_seed))
                seconds = time.process_time() - started - evaluator.seconds
                values[seed, search_seed, place] = _best_q(result) - cases.oracle().value(state)
                regrets[seed, search_seed, place] = cases.regret_of(state, result.best_action)
                stats = result.stats
                spent.append((stats.simulations, stats.evaluations, stats.nodes, stats.tree_bytes, seconds))
    simulations, evaluations, nodes, tree_bytes, seconds = np.mean(spent, axis=0)
    deviations = values.var(axis=1, ddof=1).mean(axis=1)  # by network
    return {
        "way": way, "setting": setting, "budget": budget, "networks": networks, "lucks": FRESH_SEARCHES,
        "positions": len(states), **mean_of("variance", deviations),
        **root_of("rmse", (values**2).mean(axis=(1, 2))), **mean_of("regret", regrets.mean(axis=(1, 2))),
        "simulations": float(simulations), "evaluations": float(evaluations), "nodes": float(nodes),
        "tree_bytes": float(tree_bytes), "seconds": float(seconds),
    }  # fmt: skip


def _best_q(result: SearchResult) -> float:
    return float(result.q[list(result.actions).index(result.best_action)])


def measure_all_fresh(budgets: Sequence[int], seeds: int, report: Report) -> list[Row]:
    """Measure each way and setting at each budget; without a roll the settings do not differ."""
    states = cases.positions(FRESH_POSITIONS, lambda state: cases.rerolls_left(state) == 0 < _turns_left(state))
    rows = []
    for budget in [budget for budget in budgets if budget <= LARGEST_BUDGET["network"]]:
        for way in FRESH_WAYS:
            for setting in FRESH_SETTINGS[: 1 if way == "stop" else None]:
                report(f"fresh roll, {way}, {setting}, {budget:,} evaluations")
                rows.append(measure_fresh(way, setting, budget, max(2, seeds // 5), states))
    return rows


def _turns_left(state: State) -> int:
    return cases.open_categories(state) - 1


# -- speed -----------------------------------------------------------------------------------------------------


def measure_speed(seconds: float, report: Report) -> list[Row]:
    """Measure evaluations per CPU second on one thread, in a two-player middle game with the uniform evaluator.

    One result is with new memory for each search, as in the benchmark ``search``, the other with a reused search.
    """
    state = load_game("yatzy").state_from_text(cases.TWO_PLAYERS)
    rows = []
    for setting in SPEED_SETTINGS:
        report(f"speed, {setting}")
        config = _config(setting, SPEED_SIMULATIONS)
        search = Search(state.game, "uniform", config)
        stats = _complete(search.run(state)).stats
        runs = [partial(whole_search, state.game, state, "uniform", config), partial(search.run, state)]
        new, again = best_seconds(runs, seconds)
        rows.append({
            "setting": setting, "simulations": stats.simulations, "evaluations": stats.evaluations,
            "per_second": stats.evaluations / new, "per_second_again": stats.evaluations / again,
            "nodes": stats.nodes, "tree_bytes": stats.tree_bytes,
        })  # fmt: skip
    return rows


TURNS = 1000
"""Turns solved per timing."""
LOADED = """
import time
from aleazero.oracles.yatzy import load_or_build
started = time.perf_counter()
load_or_build()
print(time.perf_counter() - started)
"""


def measure_oracle(seconds: float, report: Callable[[str], Any]) -> dict[str, float]:
    """Measure the CPU time of a turn, and the wall time to build the table (on all cores) and to load it."""
    leaf_values = LEAF_SCORE.astype(np.float64)[None, :]
    solve_rerolls(leaf_values, ALL_OPEN)  # compiles, which is not timed

    def solve_turns() -> None:
        for _ in range(TURNS):
            solve_rerolls(leaf_values, ALL_OPEN)

    report("oracle, solving a turn")
    (turns,) = best_seconds([solve_turns], seconds)
    with tempfile.TemporaryDirectory() as folder:
        report("oracle, building its table")
        built = _load_in(folder)
        report("oracle, loading its table")
        loaded = _load_in(folder)
    return {"turn_microseconds": 1e6 * turns / TURNS, "build_seconds": built, "load_seconds": loaded}


def _load_in(folder: str) -> float:
    """Return the seconds to load the oracle in a new process with this cache folder, without imports."""
    environment = {**os.environ, "ALEAZERO_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-c", LOADED], env=environment, check=True, capture_output=True, text=True, encoding="utf-8"
    )
    return float(done.stdout)
