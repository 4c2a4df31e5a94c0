"""Measurements of search trees in Yatzy: nodes and duplicate states with and without chance nodes, and widening."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, State
from aleazero.games.dice import DICE, SIZES
from aleazero.games.yatzy.card import IN_HAND
from aleazero.search.config import SearchConfig, Widening
from aleazero.search.plain.nodes import PlainView, walk
from aleazero.search.result import SearchResult
from aleazero.search.search import Search
from aleazero.search.tree.view import CompiledView
from benchmarks.chance.measure import mean_of
from benchmarks.yatzy import cases

SETTINGS = (cases.IMPLICIT, "sampling", "stratified", "progressive", "narrow")
HEAVY = 8
"""Number of reroll-heavy positions."""
LARGEST_BUDGET = {"rollout": 2**31 - 2, "network": 500}
SCHEDULED = ("progressive", "narrow")


class Stored(NamedTuple):
    """A node of a tree."""

    kind: int
    vector: bytes
    visits: int
    children: int


def stored_nodes(result: SearchResult) -> list[Stored]:
    """Return all nodes of a tree. It reads internal arrays, because the exported tree has no states."""
    view = result.view
    if isinstance(view, PlainView):
        nodes = walk(view._root)
        return [Stored(node.kind, node.state.key(), node.visits, len(node.children)) for node in nodes]
    assert isinstance(view, CompiledView)
    amount = result.stats.nodes
    nodes, states = view._tree.nodes[:amount], view._tree.states[:amount]
    columns = (nodes[name].tolist() for name in ("kind", "visits", "num_children"))
    return [
        Stored(kind, state.tobytes(), visits, children)
        for kind, visits, children, state in zip(*columns, states, strict=True)
    ]


def duplicates(nodes: Sequence[Stored]) -> int:
    """Count the nodes that share their state with another node."""
    return sum(times for times in Counter(node.vector for node in nodes).values() if times > 1)


def measure_nodes(evaluator: str, setting: str, budget: int, states: Sequence[State]) -> dict[str, Any]:
    """Measure one row: nodes and duplicates, with standard errors over positions."""
    config = SearchConfig(num_simulations=budget, max_evaluations=budget, chance=cases.settings_of(setting))
    backend: Any = "implicit" if setting == cases.IMPLICIT else "auto"
    found = []
    for seed, state in enumerate(states):
        search = Search(cases.solitaire(), cases.make_evaluator(evaluator, seed), config, backend)
        result = search.run(state, seed=seed)
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        nodes = stored_nodes(result)
        chance = sum(node.kind == CHANCE for node in nodes)
        evaluations = result.stats.evaluations
        found.append((len(nodes), chance, duplicates(nodes), evaluations, len(nodes) / evaluations))
    nodes, chance, same, evaluations, share = np.array(found, np.float64).T
    return {
        "evaluator": evaluator, "setting": setting, "budget": budget, "positions": len(states),
        **mean_of("nodes", nodes), **mean_of("chance_nodes", chance), **mean_of("duplicates", same),
        **mean_of("duplicate_share", same / nodes), "evaluations": float(evaluations.mean()),
        **mean_of("nodes_an_evaluation", share),
    }  # fmt: skip


def measure_schedule(setting: str, simulations: int) -> dict[str, Any]:
    """Search every decision of a one-player game, and check the number of outcomes that rolls store."""
    chance = cases.settings_of(setting)
    widening = chance.widening
    assert widening is not None
    search = Search(cases.solitaire(), "rollout", SearchConfig(num_simulations=simulations, chance=chance))
    rolls: list[Stored] = []
    most_nodes, ply = 0, 0
    state: State = cases.solitaire().new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(state.sample_outcome(np.random.default_rng([0, ply]).random()))
            ply += 1
            continue
        result = search.run(state, seed=ply)
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        assert result.best_action is not None
        nodes = stored_nodes(result)
        most_nodes = max(most_nodes, len(nodes))
        rolls += [node for node in nodes if node.kind == CHANCE and _dice_to_roll(node) == DICE]
        state.apply_action(result.best_action)
    fullest = max(rolls, key=lambda node: node.children)
    return {
        "setting": setting, "simulations": simulations, **widening.model_dump(), "decisions": cases.DECISIONS,
        "five_dice_rolls": len(rolls), "most_nodes": most_nodes,
        "fullest": fullest.children, "fullest_visits": fullest.visits, "fullest_allowed": allowed(fullest, widening),
        "beyond": sum(node.children > allowed(node, widening) for node in rolls),
    }  # fmt: skip


def _dice_to_roll(node: Stored) -> int:
    return DICE - int(SIZES[np.frombuffer(node.vector, np.int16)[IN_HAND]])


def allowed(node: Stored, widening: Widening) -> int:
    """Return the maximum number of outcomes that widening allows for the visits of a roll."""
    return min(widening.max_children, math.ceil(widening.c * math.pow(node.visits, widening.alpha)))


def measure_trees(budgets: Sequence[int], report: Callable[[str], Any]) -> dict[str, Any]:
    """Measure all rows, and the schedule of widening in a game."""
    states = cases.positions(HEAVY, cases.is_reroll_heavy)
    rows = []
    for evaluator, largest in LARGEST_BUDGET.items():
        for budget in [budget for budget in budgets if budget <= largest]:
            for setting in SETTINGS:
                report(f"nodes, {evaluator}, {setting}, {budget:,} evaluations")
                rows.append(measure_nodes(evaluator, setting, budget, states))
    games = []
    for setting in SCHEDULED:
        report(f"nodes, a game with {setting}")
        games.append(measure_schedule(setting, budgets[-1]))
    return {"rows": rows, "games": games}
