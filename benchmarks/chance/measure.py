"""Measuring the ways to treat chance: error against exact values, luck, and cost, at equal numbers of evaluations.

Every seed searches every position. A figure is a mean over the seeds of what a seed found on average over the
positions, and stands beside its standard error: seeds are the luck, positions are fixed.
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
"""Evaluations that one position may take over all seeds of a row. Networks are asked leaf by leaf, from Python."""
FEWEST_SEEDS = 12
LARGEST_BUDGET = {"rollout": 2**31 - 2, "network": 512}

PLANS = 20
"""Most seeds of a plan."""
REPETITIONS = 3
"""Times that a plan is timed; the best counts."""


def measure_search(
    name: str, evaluator: str, setting: str, budget: int, seeds: int, c: float | None = None
) -> dict[str, Any]:
    """One row: a game, an evaluator, a chance setting and a budget.

    A budget of B is at most B evaluations and at most B simulations: visits to an end of the game need no evaluation,
    and would otherwise go on for ever once the tree is whole.
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
        search.run(position.state, seed=seeds)  # the tree's memory is made, and not timed
        for seed in range(seeds):
            if evaluator == "network":  # another one for each seed
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
    assert result.best_action is not None, "positions are decisions"
    return result.best_action


def _best_q(result: SearchResult, mover: int) -> float:
    """The value of the chosen action; the root's own evaluation where no simulation was made."""
    if result.visits.sum() == 0:
        return float(result.value[mover])
    return float(result.q[list(result.actions).index(_chosen(result))])


def about_errors(of: str, errors: Vector) -> dict[str, float]:
    """Mean absolute and root mean square error, bias, and variance, of errors (seeds, positions)."""
    seeds = len(errors)
    lucky = errors - errors.mean(axis=0)
    return {
        **mean_of(f"{of}_absolute_error", np.abs(errors).mean(axis=1)),
        **root_of(f"{of}_rmse", (errors**2).mean(axis=1)),
        **mean_of(f"{of}_bias", errors.mean(axis=1)),
        **mean_of(f"{of}_variance", (lucky**2).mean(axis=1) * seeds / (seeds - 1)),
        **root_of(f"{of}_deviation", (lucky**2).mean(axis=1) * seeds / (seeds - 1)),
    }


def mean_of(name: str, by_seed: Vector) -> dict[str, float]:
    """A mean over seeds and its standard error."""
    error = by_seed.std(ddof=1) / np.sqrt(len(by_seed)) if len(by_seed) > 1 else 0.0
    return {name: float(by_seed.mean()), f"{name}_se": float(error)}


def root_of(name: str, squares: Vector) -> dict[str, float]:
    """The root of a mean over seeds; its standard error follows from the mean's."""
    mean = mean_of(name, squares)
    root = float(np.sqrt(mean[name]))
    return {name: root, f"{name}_se": mean[f"{name}_se"] / (2 * root) if root > 0 else 0.0}


def measure_planner(name: str, evaluator: str, plan: str, seeds: int) -> dict[str, Any]:
    """One row: a game, an evaluator at the horizon, and how far the planner looks.

    A seed is other playouts, or another network; a plan to the end of the game needs neither.
    """
    case = CASES[name]
    seeds = 1 if plan == "game" else min(seeds, PLANS)
    errors, regrets = (np.zeros((seeds, len(case.positions))) for _ in range(2))
    spent: list[tuple[float, ...]] = []
    for place, position in enumerate(case.positions):
        for seed in range(seeds):
            asked = make_evaluator(evaluator, case, position, seed)
            planner = Planner(case.game, asked, seed=seed, **read_plan(plan))
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
    """A plan's result and its best CPU time."""
    best = float("inf")
    for _ in range(REPETITIONS):
        started = time.process_time()
        result = planner.run(state)
        best = min(best, time.process_time() - started)
    return result, best


def crossings(search: Sequence[dict[str, Any]], planner: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each plan: the CPU time in which a search comes as near to the exact value, by setting.

    Between two budgets time and error are taken to go straight in logarithms. None where no budget comes as near.
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
    """The time at which a curve of (time, error) first comes down to an error; its first time where it starts there."""
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
    say: Callable[[str], Any],
) -> dict[str, Any]:
    """All rows of the search, of the planner, where they cross, and what the rows say together."""
    search, planner = [], []
    for name in names:
        say(f"{name}, solving it exactly")
        case = CASES[name]
        for position in case.positions:
            prepare(case.game, position.state)
        for evaluator in evaluators:
            for setting in settings:
                for budget in [budget for budget in budgets if budget <= LARGEST_BUDGET[evaluator]]:
                    say(f"{name}, {evaluator}, {setting}, {budget:,} evaluations")
                    search.append(measure_search(name, evaluator, setting, budget, seeds, c))
            for plan in case.plans:
                say(f"{name}, {evaluator}, planner, {plan}")
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
    """By evaluator and setting: how many times sampling's error, luck, regret and time.

    Ratios are geometric means over games and budgets, with a standard error that follows from those of the rows. Regret
    is first averaged over the budgets of a game, as single rows may have none; games without any are left out.
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
"""A figure and its standard error."""


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
    """The geometric mean of the ratios, and its standard error; None where there is nothing to compare."""
    some = [(one, other) for one, other in pairs if one[0] > 0 and other[0] > 0]
    if not some:
        return {name: None, f"{name}_se": None}
    mean = math.exp(sum(math.log(one[0] / other[0]) for one, other in some) / len(some))
    error = math.hypot(*(error / value for pair in some for value, error in pair)) / len(some)
    return {name: mean, f"{name}_se": mean * error}
