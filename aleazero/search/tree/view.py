"""A readable view of a compiled tree: statistics, values after actions, and the exported tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, CHANCE_PLAYER, DECISION, TERMINAL_PLAYER
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.search.result import ANY_OUTCOME, SearchStats, TreeNode
from aleazero.search.tree.arrays import (
    BLOCKED,
    COLLISIONS,
    COUNTER,
    DEPTH,
    EDGES,
    EVALUATIONS,
    EXPANDED_ALL,
    EXPANSIONS,
    NO_NODE,
    NODES,
    OUTCOME_COUNTERS,
    SIMULATIONS,
    TABLE_ENTRIES,
    TRANSIENT,
    UNEXPANDED,
)


class ReadArrays(NamedTuple):
    """The arrays that a view reads: those of its group, until the tree is replaced, then a copy."""

    nodes: Any
    edges: Any
    states: Any
    tables: Any
    counters: Any


class CompiledView:
    """A view of one tree of a compiled group."""

    def __init__(
        self, game: KernelGame, group: ReadArrays, place: int, closed: bool, row_bytes: tuple[int, int, int]
    ) -> None:
        self.game, self.closed, self._row_bytes = game, closed, row_bytes
        self._group, self._place = group, place

    def detach(self) -> None:
        """Copy the tree, because its arrays are about to be used for another one."""
        group, place = self._group, self._place
        counters = group.counters[place].copy()
        nodes, edges = int(counters[NODES]), int(counters[EDGES])
        self._place = 0
        self._group = ReadArrays(
            _copy_records(group.nodes[place, :nodes])[None],
            _copy_records(group.edges[place, :edges])[None],
            group.states[place, :nodes].copy()[None],
            group.tables[place, : int(counters[TABLE_ENTRIES])].copy()[None],
            counters[None],
        )

    @property
    def _tree(self) -> ReadArrays:
        return ReadArrays(*(array[self._place] for array in self._group))

    def stats(self) -> SearchStats:
        """Return counts of the search and of its tree."""
        tree = self._tree
        counters = tree.counters
        nodes = tree.nodes[: counters[NODES]]
        chance = nodes[nodes["kind"] == CHANCE]
        children = chance["num_children"].astype(np.int64)
        if counters[OUTCOME_COUNTERS]:
            children[0] -= counters[OUTCOME_COUNTERS]
        found, times = np.unique(children, return_counts=True)
        return SearchStats(
            simulations=int(counters[SIMULATIONS]),
            evaluations=int(counters[EVALUATIONS]),
            expansions=int(counters[EXPANSIONS]),
            nodes=int(counters[NODES] - counters[OUTCOME_COUNTERS]),
            depth=int(counters[DEPTH]),
            chance_nodes=len(chance),
            chance_visits=int(chance["visits"].sum(dtype=np.int64)),
            chance_children=int(children.sum()),
            outcome_counts={int(k): int(times_k) for k, times_k in zip(found, times, strict=True)},
            collisions=int(counters[COLLISIONS]),
            transient=int(counters[TRANSIENT]),
            blocked=int(counters[BLOCKED]),
            exact_expansions=int(counters[EXPANDED_ALL]),
            tree_bytes=int(counters[[NODES, EDGES, TABLE_ENTRIES]] @ self._row_bytes),
        )

    def evaluations(self) -> int:
        """Return the number of leaves that were evaluated."""
        return int(self._group.counters[self._place, EVALUATIONS])

    def value_after(self, action: int) -> NDArray[np.float64] | None:
        """Return the mean by player after an action of the root; None if it has no visits, and in open loop."""
        nodes, place = self._group.nodes, self._place  # field by field: whole records are slow to read
        if not self.closed or nodes["kind"][place, 0] != DECISION:
            return None
        first, count = int(nodes["first_edge"][place, 0]), int(nodes["num_edges"][place, 0])
        edges = self._group.edges[place, first : first + max(0, count)]
        actions: list[int] = edges["action"].tolist()
        child = int(edges["child"][actions.index(action)]) if action in actions else NO_NODE
        visits = int(nodes["visits"][place, child]) if child != NO_NODE else 0
        if not visits:
            return None
        mean: NDArray[np.float64] = nodes["value_sums"][place, child] / visits
        return mean

    def children(self, n: int) -> list[int]:
        """Return the children of a chance node, and in open loop of any node, in order of appearance."""
        tree = self._tree
        node = tree.nodes[n]
        if not node["num_children"]:
            return []
        if self.closed and node["num_edges"] != UNEXPANDED:  # a chance node with a list
            found = tree.edges["child"][node["first_edge"] : node["first_edge"] + node["num_edges"]]
        else:
            found = tree.tables[node["first_entry"] : node["first_entry"] + node["table_size"]]
        return sorted(found[found != NO_NODE].tolist())  # nodes are numbered in order of appearance

    def root(self) -> TreeNode:
        """Return the root as a node of the exported tree."""
        return self._export([0], [""], [None], [None])[0]

    def _export(
        self, numbers: list[int], texts: list[str], priors: Sequence[float | None], chances: Sequence[float | None]
    ) -> list[TreeNode]:
        """Return nodes of the exported tree, given the text and the prior or probability that lead to each."""
        nodes = self._tree.nodes  # field by field: whole records are slow to read
        kinds, movers, labels, visits = (nodes[name][numbers].tolist() for name in ("kind", "mover", "label", "visits"))
        values = nodes["value_sums"][numbers]
        found = []
        for row, n in enumerate(numbers):
            kind = kinds[row]
            player = movers[row] if kind == DECISION else CHANCE_PLAYER if kind == CHANCE else TERMINAL_PLAYER
            children = partial(self._export_outcomes if kind == CHANCE else self._export_actions, n)
            value = values[row] / max(1, visits[row])
            found.append(
                TreeNode(labels[row], texts[row], kind, player, visits[row], value, priors[row], chances[row], children)
            )
        return found

    def _export_outcomes(self, n: int) -> list[TreeNode]:
        nodes, children = self._tree.nodes, self.children(n)
        none = [None] * len(children)
        if not self.closed:
            shared = [child for child in children if nodes["kind"][child] != COUNTER]
            return self._export(shared, [ANY_OUTCOME] * len(shared), none, none)
        state = KernelState(self.game, self._tree.states[n].astype(np.int64))
        chances = dict(state.chance_outcomes()) if state.outcomes_listed() else {}
        labels = nodes["label"][children].tolist()
        texts = [state.action_to_string(label) for label in labels]
        return self._export(children, texts, none, [chances.get(label) for label in labels])

    def _export_actions(self, n: int) -> list[TreeNode]:
        nodes = self._tree.nodes
        first, count = int(nodes["first_edge"][n]), max(0, int(nodes["num_edges"][n]))
        edges = self._tree.edges[first : first + count]
        state = KernelState(self.game, self._tree.states[n].astype(np.int64))
        weight = 1.0 if self.closed else running_sum(edges["prior"]) or 1.0
        by_action: dict[int, list[int]] = {}
        if not self.closed:
            children = self.children(n)
            for child, label in zip(children, nodes["label"][children].tolist(), strict=True):
                by_action.setdefault(label, []).append(child)
        numbers: list[int] = []
        texts: list[str] = []
        priors: list[float] = []
        for action, end, prior in zip(edges["action"].tolist(), edges["child"].tolist(), edges["prior"], strict=True):
            ends = by_action.get(action, []) if not self.closed else [] if end == NO_NODE else [end]
            numbers += ends
            texts += [state.action_to_string(action)] * len(ends)
            priors += [float(prior / weight)] * len(ends)
        return self._export(numbers, texts, priors, [None] * len(numbers))


def _copy_records(records: Any) -> Any:
    """Return a copy made byte by byte. numpy copies records field by field, which is slow."""
    return records.view(np.uint8).copy().view(records.dtype)


def running_sum(values: Any) -> float:
    """Return a running sum, as in the loop; numpy's own sum is pairwise and rounds differently."""
    total = 0.0
    for value in values:
        total += float(value)
    return total
