"""Measurements of the benchmark ``chance``: error, variance over seeds, regret and cost at equal evaluations.

Every seed searches every position. A result is the mean over seeds of the mean over positions, with its standard error
over seeds. Positions are fixed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.cli.options import read_plan
from aleazero.cli.progress import prepare
from aleazero.games.base import State
from aleazero.search.config import ChanceConfig, SearchConfig
from aleazero.search.plan.planner import Planner
from aleazero.search.result import SearchResult
from aleazero.search.search import Search
from benchmarks.chance.cases import CASES, SETTINGS, make_evaluator

Vector = NDArray[np.float64]

MOST_EVALUATIONS = {"rollout": 2**17, "network": 2**12}
"""Maximum number of evaluations per position over all seeds of a row. Networks are called in Python for each leaf."""
FEWEST_SEEDS = 12
LARGEST_BUDGET = {"rollout": 2**31 - 2, "network": 512}

PLANS = 20
"""Maximum number of seeds of a plan."""
REPETITIONS = 3
"""Number of timings of a plan; the best counts."""


def measure_search(
    name: str, evaluator: str, setting: str, budget: int, seeds: int, c: float | None = None
) -> dict[str, Any]:
    """Measure one row: a game, an evaluator, a chance setting and a budget.

    A budget of B allows B evaluations and B simulations. Visits to terminal states need no evaluation, so a limit on
    evaluations alone would never be reached once the tree is complete.
    """
    case = CASES[name]
    seeds = min(seeds, max(FEWEST_SEEDS, MOST_EVALUATIONS[evaluator] // budget))
    given: dict[str, Any] = {} if c is None else {"c": c}
    config = SearchConfig(
        num_simulations=budget,
        max_evaluations=budget,
        chance=ChanceConfig(**SETTINGS[setting]),
        **given,
    )
    values, qs, regrets = (np.zeros((seeds, len(case.positions))) for _ in range(3))
    spent: list[tuple[float, ...]] = []
    for place, position in enumerate(case.positions):
        search = Search(case.game, make_evaluator(evaluator, case, position, 0), config)
        search.run(position.state, seed=seeds)  # allocates memory, which is not timed
        for seed in range(seeds):
            if evaluator == "network":  # each seed has its own network
                search = Search(case.game, make_evaluator(evaluator, case, position, seed), config)
            started = time.process_time()
            result = search.run(position.state, seed=seed)
            seconds = time.process_time() - started
            if result.stopped == "interrupted":
                raise KeyboardInterrupt
            values[seed, place] = result.value[position.mover] - position.value
            qs[seed, place] = _best_q(result, position.mover) - position.value
            regrets[seed, place] = max(position.action_values.values()) - position.action_values[_chosen(result)]
            stats = result.stats
            spent.append((stats.simulations, stats.evaluations, stats.nodes, stats.tree_bytes, seconds))
    simulations, evaluations, nodes, tree_bytes, seconds = np.mean(spent, axis=0)
    return {
        "game": name,
        "evaluator": evaluator,
        "setting": setting,
        "budget": budget,
        "seeds": seeds,
        **about_errors("value", values),
        **about_errors("best_q", qs),
        **mean_of("regret", regrets.mean(axis=1)),
        "simulations": float(simulations),
        "evaluations": float(evaluations),
        "nodes": float(nodes),
        "tree_bytes": float(tree_bytes),
        "seconds": float(seconds),
    }


def _chosen(result: SearchResult) -> int:
    assert result.best_action is not None, "positions are decision nodes"
    return result.best_action


def _best_q(result: SearchResult, mover: int) -> float:
    """Return the value of the chosen action; without simulations, the evaluation of the root."""
    if result.visits.sum() == 0:
        return float(result.value[mover])
    return float(result.q[list(result.actions).index(_chosen(result))])


def about_errors(of: str, errors: Vector) -> dict[str, float]:
    """Return mean absolute error, root mean square error, bias and variance of errors (seeds, positions)."""
    seeds = len(errors)
    deviations = errors - errors.mean(axis=0)
    return {
        **mean_of(f"{of}_absolute_error", np.abs(errors).mean(axis=1)),
        **root_of(f"{of}_rmse", (errors**2).mean(axis=1)),
        **mean_of(f"{of}_bias", errors.mean(axis=1)),
        **mean_of(f"{of}_variance", (deviations**2).mean(axis=1) * seeds / (seeds - 1)),
        **root_of(f"{of}_deviation", (deviations**2).mean(axis=1) * seeds / (seeds - 1)),
    }


def mean_of(name: str, by_seed: Vector) -> dict[str, float]:
    """Return a mean over seeds and its standard error."""
    error = by_seed.std(ddof=1) / np.sqrt(len(by_seed)) if len(by_seed) > 1 else 0.0
    return {name: float(by_seed.mean()), f"{name}_se": float(error)}


def root_of(name: str, squares: Vector) -> dict[str, float]:
    """Return the square root of a mean over seeds, with its standard error."""
    mean = mean_of(name, squares)
    root = float(np.sqrt(mean[name]))
    return {name: root, f"{name}_se": mean[f"{name}_se"] / (2 * root) if root > 0 else 0.0}


def measure_planner(name: str, evaluator: str, plan: str, seeds: int) -> dict[str, Any]:
    """Measure one row: a game, an evaluator and a horizon of the planner.

    Seeds change playouts or the network. A plan to the end of the game uses neither.
    """
    case = CASES[name]
    seeds = 1 if plan == "game" else min(seeds, PLANS)
    errors, regrets = (np.zeros((seeds, len(case.positions))) for _ in range(2))
    spent: list[tuple[float, ...]] = []
    for place, position in enumerate(case.positions):
        for seed in range(seeds):
            at_horizon = make_evaluator(evaluator, case, position, seed)
            planner = Planner(case.game, at_horizon, seed=seed, **read_plan(plan))
            result, seconds = _best_plan(planner, position.state)
            errors[seed, place] = result.value[position.mover] - position.value
            regrets[seed, place] = max(position.action_values.values()) - position.action_values[_chosen(result)]
            spent.append((result.stats.nodes, result.stats.evaluations, seconds))
    nodes, evaluations, seconds = np.mean(spent, axis=0)
    return {
        "game": name,
        "evaluator": evaluator,
        "plan": plan,
        "seeds": seeds,
        **mean_of("value_absolute_error", np.abs(errors).mean(axis=1)),
        **root_of("value_rmse", (errors**2).mean(axis=1)),
        **mean_of("regret", regrets.mean(axis=1)),
        "nodes": float(nodes),
        "evaluations": float(evaluations),
        "seconds": float(seconds),
    }


def _best_plan(planner: Planner, state: State) -> tuple[SearchResult, float]:
    """Return the result of a plan and its best CPU time."""
    best = float("inf")
    for _ in range(REPETITIONS):
        started = time.process_time()
        result = planner.run(state)
        best = min(best, time.process_time() - started)
    return result, best


def crossings(search: Sequence[dict[str, Any]], planner: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each plan, the CPU time in which a search of each setting reaches the same error.

    Time and error are interpolated between two budgets on logarithmic scales. None if no budget reaches the error.
    """
    found = []
    for plan in planner:
        curves: dict[str, list[tuple[float, float]]] = {}
        for row in search:
            if (row["game"], row["evaluator"]) == (plan["game"], plan["evaluator"]):
                curves.setdefault(row["setting"], []).append((row["seconds"], row["value_rmse"]))
        seconds = {setting: time_to_reach(plan["value_rmse"], curve) for setting, curve in curves.items()}
        found.append({"game": plan["game"], "evaluator": plan["evaluator"], "plan": plan["plan"], "seconds": seconds})
    return found


def time_to_reach(error: float, curve: Sequence[tuple[float, float]]) -> float | None:
    """Return the time at which a curve of (time, error) first reaches an error; None if it does not."""
    for (time_0, error_0), (time_1, error_1) in pairwise(curve):
        if error_0 <= error:
            return time_0
        if error_1 <= error:
            share = np.log(error_0 / error) / np.log(error_0 / max(error_1, 1e-300))
            return float(time_0 * (time_1 / time_0) ** share)
    return curve[-1][0] if curve and curve[-1][1] <= error else None


def measure_all(
    names: Sequence[str],
    evaluators: Sequence[str],
    settings: Sequence[str],
    budgets: Sequence[int],
    seeds: int,
    c: float | None,
    report: Callable[[str], Any],
) -> dict[str, Any]:
    """Measure all rows of the search and of the planner, and compare them."""
    search, planner = [], []
    for name in names:
        report(f"{name}, solving it exactly")
        case = CASES[name]
        for position in case.positions:
            prepare(case.game, position.state)
        for evaluator in evaluators:
            for setting in settings:
                for budget in [budget for budget in budgets if budget <= LARGEST_BUDGET[evaluator]]:
                    report(f"{name}, {evaluator}, {setting}, {budget:,} evaluations")
                    search.append(measure_search(name, evaluator, setting, budget, seeds, c))
            for plan in case.plans:
                report(f"{name}, {evaluator}, planner, {plan}")
                planner.append(measure_planner(name, evaluator, plan, seeds))
    exact = {name: {p.state.to_text(): p.value for p in CASES[name].positions} for name in names}
    return {
        "exact": exact,
        "search": search,
        "planner": planner,
        "crossings": crossings(search, planner),
        "beside_sampling": beside_sampling(search),
    }


BASE = "sampling"
FIGURES = ("value_rmse", "value_deviation", "best_q_rmse")

Row = dict[str, Any]


def beside_sampling(rows: Sequence[Row]) -> list[Row]:
    """Return ratios of error, standard deviation, regret and time to those of sampling, by evaluator and setting.

    Ratios are geometric means over games and budgets, with a standard error from those of the rows. Regret is first
    averaged over the budgets of a game, because it can be zero in single rows. Games without regret are left out.
    """
    found = []
    for evaluator in dict.fromkeys(row["evaluator"] for row in rows):
        own = [row for row in rows if row["evaluator"] == evaluator]
        bases = {(row["game"], row["budget"]): row for row in own if row["setting"] == BASE}
        for setting in dict.fromkeys(row["setting"] for row in own):
            pairs = [(row, bases[row["game"], row["budget"]]) for row in own if row["setting"] == setting and bases]
            if setting == BASE or not pairs:
                continue
            summary: Row = {"evaluator": evaluator, "setting": setting}
            for figure in FIGURES:
                summary |= _ratio(figure, [(_measured(row, figure), _measured(base, figure)) for row, base in pairs])
            summary |= _ratio("regret", _regrets(pairs))
            summary |= _ratio("seconds", [((row["seconds"], 0.0), (base["seconds"], 0.0)) for row, base in pairs])
            found.append(summary)
    return found


Measured = tuple[float, float]
"""A result and its standard error."""


def _measured(row: Row, figure: str) -> Measured:
    return row[figure], row[f"{figure}_se"]


def _regrets(pairs: Sequence[tuple[Row, Row]]) -> list[tuple[Measured, Measured]]:
    by_game: dict[str, list[tuple[Row, Row]]] = {}
    for row, base in pairs:
        by_game.setdefault(row["game"], []).append((row, base))
    return [
        (_mean([_measured(row, "regret") for row, _ in some]), _mean([_measured(base, "regret") for _, base in some]))
        for some in by_game.values()
    ]


def _mean(figures: Sequence[Measured]) -> Measured:
    count = len(figures)
    return sum(value for value, _ in figures) / count, math.hypot(*(error for _, error in figures)) / count


def _ratio(name: str, pairs: Sequence[tuple[Measured, Measured]]) -> Row:
    """Return the geometric mean of the ratios and its standard error; None if there is nothing to compare."""
    some = [(one, other) for one, other in pairs if one[0] > 0 and other[0] > 0]
    if not some:
        return {name: None, f"{name}_se": None}
    mean = math.exp(sum(math.log(one[0] / other[0]) for one, other in some) / len(some))
    error = math.hypot(*(error / value for pair in some for value, error in pair)) / len(some)
    return {name: mean, f"{name}_se": mean * error}
