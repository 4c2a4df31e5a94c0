"""Searches of a compiled group, started and read by other compiled code, such as self-play of many games."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aleazero.search.root import NOISE_AT_ROOT
from aleazero.search.status import TO_START
from aleazero.search.tree.arrays import EVALUATIONS, NO_NODE, SEED, RootResults, Tree


class Searches(NamedTuple):
    """The searches of a group of b trees. Between two steps, ``GroupDriver`` does the rest in Python."""

    trees: Tree  # arrays of all trees
    results: RootResults
    statuses: Any  # (b,) int64, by ``search/status.py``
    pauses: Any  # (b,) int64, simulations after which a tree pauses
    limits: Any  # (b,) int64, simulations to run
    to_prepare: Any  # (b,) int8, bits of ``search/root.py``: LIMIT_ACTIONS, NOISE_AT_ROOT


def start_search(searches: Searches, b: Any, state: Any, seed: Any, simulations: Any, chunk: Any, noisy: Any) -> None:
    """Start a search at an idle tree. With noise it pauses at the root, where the noise is mixed in."""
    trees = searches.trees
    for i in range(len(state)):
        trees.states[b, 0, i] = state[i]
    trees.stream_keys[b, SEED] = seed
    searches.limits[b] = simulations
    searches.to_prepare[b] = NOISE_AT_ROOT if noisy else 0
    searches.pauses[b] = 0 if noisy else chunk
    searches.statuses[b] = TO_START


def evaluations_of(searches: Searches, b: Any) -> Any:
    """Return the number of leaves of a search that were evaluated."""
    return searches.trees.counters[b, EVALUATIONS]


def best_slot(results: RootResults, b: Any) -> Any:
    """Return the index of ``SearchResult.best_action`` in a root's actions: most visits, then q, prior, lowest id."""
    best = np.int64(0)
    for slot in range(1, results.counts[b]):
        visits, most = results.visits[b, slot], results.visits[b, best]
        q, best_q = results.q[b, slot], results.q[b, best]
        if visits != most:
            better = visits > most
        elif q != best_q and not (np.isnan(q) and np.isnan(best_q)):
            better = q > best_q or np.isnan(best_q)
        else:
            better = results.priors[b, slot] > results.priors[b, best]  # actions ascend, so equal ones come too late
        if better:
            best = np.int64(slot)
    return best


def read_value_after(trees: Tree, b: Any, action: Any, out: Any) -> bool:
    """Write the mean by player after an action of the root (closed loop), and return whether it has visits."""
    root = trees.nodes[b, 0]
    for slot in range(root.num_edges):
        edge = trees.edges[b, root.first_edge + slot]
        if edge.action == action:
            if edge.child == NO_NODE or trees.nodes[b, edge.child].visits == 0:
                return False
            for p in range(len(out)):
                out[p] = trees.nodes[b, edge.child].value_sums[p] / trees.nodes[b, edge.child].visits
            return True
    return False
