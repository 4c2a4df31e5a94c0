"""Searches with all settings, their trees, and exact values."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError
from aleazero.games.base import KIND_NAMES, Game, State
from aleazero.oracles.oracle import oracle_of
from aleazero.players.make import read_evaluator
from aleazero.search.config import SearchConfig
from aleazero.search.result import SearchResult, TreeNode
from aleazero.search.search import Search
from aleazero.serving.desk import Desk
from aleazero.serving.judge import MOST_SOLVED
from aleazero.serving.requests import Limits
from aleazero.serving.work import Work
from aleazero.web.tasks.opened import open_game, state_of

REPORTS_SHARE: Final = 0.05
"""Largest share of a search's CPU time that its partial results take."""


def search_position(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Search a position as ``Search.run`` does, with partial results.

    ``payload`` has the position; ``settings`` for ``SearchConfig`` without simulations and seed; ``sims``, ``seed`` and
    ``evaluator``; ``depth``, ``top`` and ``nodes`` of the tree in the answer; ``every``, the seconds between partial
    results, or None; and ``last``, whether the nodes of the last simulation are marked.
    """
    desk, key, game = open_game(payload, work)
    state = state_of(game, payload)
    state.require_running()
    sims = payload["sims"]
    search = _search(desk, key, game, payload, sims)
    desk.prepare()
    search.run(state, seed=payload["seed"], stop=lambda: True)  # compiles
    desk.begin()
    started = time.monotonic()
    latest = started + desk.limits.seconds
    every = payload["every"]
    result = search.run(
        state,
        seed=payload["seed"],
        progress=None
        if every is None
        else sparing(lambda found: work.report(_searched(state, found, payload, started))),
        progress_seconds=every or 1.0,
        stop=lambda: work.stopped() or time.monotonic() >= latest,
    )
    data = _searched(state, result, payload, started)
    if payload["last"] and data["simulations"] > 1:
        before = _search(desk, key, game, payload, data["simulations"] - 1)
        earlier = before.run(state, seed=payload["seed"], stop=work.stopped)
        _mark_last(data["tree"], earlier.view.root())
    return data


def sparing(
    report: Callable[[SearchResult], None], clock: Callable[[], float] = time.process_time
) -> Callable[[SearchResult], None]:
    """Return a report that skips results as long as reports would take more than ``REPORTS_SHARE`` of the time.

    Large trees take longer to report, and CPU time passes slowly if many searches share the machine.
    """
    allowed = clock()

    def report_if_allowed(found: SearchResult) -> None:
        nonlocal allowed
        began = clock()
        if began >= allowed:
            report(found)
            ended = clock()
            allowed = ended + (ended - began) * (1 / REPORTS_SHARE - 1)

    return report_if_allowed


def _search(desk: Desk, key: Any, game: Game, payload: Mapping[str, Any], sims: int) -> Search:
    limits: Limits = desk.limits
    if sims > limits.sims:
        raise ConfigError(f"is {sims:,}, expected at most {limits.sims:,}", field="simulations")
    name = desk.sources.evaluator_text(payload["evaluator"])
    evaluator = desk.engine((key, name), lambda: read_evaluator(name, game))
    settings = {"max_nodes": limits.nodes, **payload["settings"]}
    if settings["max_nodes"] > limits.nodes:
        raise ConfigError(f"is {settings['max_nodes']:,}, expected at most {limits.nodes:,}", field="max_nodes")
    return Search(game, evaluator, SearchConfig(**settings, num_simulations=sims, seed=payload["seed"]))


def _searched(state: State, result: SearchResult, payload: Mapping[str, Any], started: float) -> dict[str, Any]:
    tree = shown_tree(result.view.root(), payload["depth"], payload["top"], payload["nodes"])
    return {
        "simulations": result.simulations,
        "seconds": time.monotonic() - started,
        "player": state.current_player(),
        "actions": result.actions.tolist(),
        "names": [state.action_to_string(int(action)) for action in result.actions],
        "visits": result.visits.tolist(),
        "q": [None if value != value else float(value) for value in result.q],
        "priors": result.priors.tolist(),
        "value": result.value.tolist(),
        "best": result.best_action,
        "outcomes": [
            {"name": state.action_to_string(one.outcome), "probability": one.probability, "visits": one.visits,
             "value": None if one.value is None else one.value.tolist()}
            for one in result.outcomes
        ],
        "stopped": result.stopped,
        "chance": result.config.chance.model_dump() if result.config.chance is not None else None,
        "tree": tree,
    }  # fmt: skip


def shown_tree(root: TreeNode, depth: int, top: int, most: int) -> dict[str, Any]:
    """Return the upper levels of a tree with at most this many nodes; those with more visits are kept first.

    A chance node also has ``others``, the stored outcomes that are left out, and ``unstored``, the outcomes that the
    search did not store: their probability, visits and number. Shown outcomes and both add up to 1.
    """
    found, count = _node(root), 1
    heap: list[tuple[int, int, int, TreeNode, dict[str, Any]]] = [(-root.visits, 0, 0, root, found)]
    while heap:
        _, level, _, node, data = heapq.heappop(heap)
        if level == depth or count >= most:
            data["cut"] = data["kind"] != "terminal" and node.visits > 1
            continue
        stored = [child for child in node.children() if child.visits]
        shown = sorted(stored, key=lambda child: (-child.visits, child.label))[: min(top, most - count)]
        for child in sorted(shown, key=lambda child: child.label):
            count += 1
            data["children"].append(_node(child))
            heapq.heappush(heap, (-child.visits, level + 1, count, child, data["children"][-1]))
        if shown:
            _add_rest(data, node, stored, {child.label for child in shown})
    return found


def _add_rest(data: dict[str, Any], node: TreeNode, stored: Sequence[TreeNode], shown: Collection[int]) -> None:
    others = [child for child in stored if child.label not in shown]
    data["others"] = {
        "number": len(others), "visits": sum(child.visits for child in others),
        "probability": sum(child.probability or 0.0 for child in others),
    }  # fmt: skip
    if data["kind"] == "chance" and all(child.probability is not None for child in stored):
        known = sum(child.probability or 0.0 for child in stored)
        visits = node.visits - sum(child.visits for child in stored)
        data["unstored"] = {"visits": max(0, visits), "probability": max(0.0, 1.0 - known)}


def _node(node: TreeNode) -> dict[str, Any]:
    return {
        "label": node.label, "text": node.text, "kind": KIND_NAMES[node.kind], "player": node.player,
        "visits": node.visits, "value": [float(value) for value in node.value], "prior": node.prior,
        "probability": node.probability, "children": [],
    }  # fmt: skip


def _mark_last(tree: dict[str, Any], before: TreeNode | None) -> None:
    """Mark the nodes that one more simulation has visited: their counts differ from those of the earlier tree."""
    if before is not None and before.visits == tree["visits"]:
        return
    tree["last"] = True
    known = {} if before is None else {child.label: child for child in before.children()}
    for child in tree["children"]:
        _mark_last(child, known.get(child["label"]))


def exact_values(payload: Mapping[str, Any], work: Work) -> dict[str, Any] | None:
    """Return the exact values of a position and of its actions; None if the game has none."""
    desk, key, game = open_game(payload, work)
    desk.prepare()
    oracle = desk.engine((key, "oracle"), lambda: oracle_of(game, max_states=MOST_SOLVED))
    desk.begin()
    if oracle is None:
        return None
    state = state_of(game, payload)
    try:
        values = {} if state.is_chance_node() or state.is_terminal() else oracle.action_values(state)
        return {
            "value": [float(value) for value in oracle.values(state)] if not state.is_terminal() else state.returns(),
            "actions": {int(action): float(value) for action, value in values.items()},
        }
    except AleaZeroError:  # e.g. a bear-off table in a position with contact
        return None
