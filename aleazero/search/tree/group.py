"""A group of compiled trees: its arrays, and the calls from Python to the compiled loop."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import DECISION, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.states import KernelStates
from aleazero.native.compile import kernel_dtype, loop_of, made_once
from aleazero.native.random import ROOT_EVALUATION
from aleazero.search.config import ChanceConfig, SearchConfig, Widening, chance_of, largest_visit
from aleazero.search.evaluator import (
    Rollout,
    Uniform,
    copy_answer,
    is_answer,
    logit_unit_of,
    trust_at_chance,
    trust_at_decisions,
    values_ends,
)
from aleazero.search.group import LeafBatch
from aleazero.search.root import mix_root_noise
from aleazero.search.status import (
    ANSWERED,
    EXTERNAL,
    FAILED,
    GROW_NODES,
    IDLE,
    TO_START,
    TRUST_EXACT,
    UNIFORM,
    WAITING,
    error_for,
)
from aleazero.search.status import ROLLOUT as ROLLOUT_INSIDE
from aleazero.search.tree.arrays import (
    COLLIDED,
    COUNTER,
    EDGES,
    IN_FLIGHT,
    LEAVES,
    NO_NODE,
    NODES,
    REQUESTED,
    SEED,
    SIMULATIONS,
    STARTED,
    LoopSettings,
    Sizes,
    Tree,
    flight_at,
    grow_edges,
    grow_nodes,
    make_eval_batch,
    make_in_flight,
    make_root_results,
    make_scratch,
    make_trees,
    row_bytes,
    tree_at,
)
from aleazero.search.tree.backup import release
from aleazero.search.tree.loop import make_loop
from aleazero.search.tree.view import CompiledView, ReadArrays, running_sum

FIRST_NODES = 1 << 20
FIRST_EDGES = 1 << 22
"""Nodes and edges that a group first has room for, at most."""
SMALL_ROOM = 4096
"""Nodes that each tree of a large group first has room for, and half of its edges, even if the group then has more."""


class CompiledGroup:
    """A group of compiled trees that share batches of ``places`` rows; implements ``search.group.Group``."""

    def __init__(self, game: KernelGame, evaluator: Any, config: SearchConfig, count: int, places: int) -> None:
        self.game, self.config = game, config
        self.chance = chance_of(config, game, evaluator)
        self.closed = self.chance.loop == "closed"
        open_loop = not self.closed
        name = "open_loop" if open_loop else ""
        self._advance = loop_of(game, name, lambda kernels: make_loop(kernels, sizes_of(game), open_loop))
        self._settings = loop_settings(game, evaluator, config, self.chance)
        info = game.info
        dtype = kernel_dtype(info.state_dtype)
        external = self._settings.evaluator == EXTERNAL
        leaves = config.in_flight * self._settings.largest_visit
        keeps_transient = self.chance.widening is not None and self.chance.backup == "expectation"
        # Room for the whole search at once: unused room costs nothing, and growing copies. A simulation adds two nodes
        # and expands one in most games. Chance events in a row, lists of outcomes and exact_up_to may need more.
        nodes = min(config.max_nodes, 2 * config.num_simulations + 64)
        nodes = min(nodes, FIRST_NODES, max(SMALL_ROOM, FIRST_NODES // count))
        expanded = (config.num_simulations + 2 * leaves + 1) * info.num_actions
        edges = min(FIRST_EDGES, expanded, max(2 * SMALL_ROOM, FIRST_EDGES // count))
        keeps_leaf_values = (
            self._settings.expectation
            or self._settings.values_ends
            or hasattr(evaluator, "exact")
            or TRUST_EXACT in (self._settings.at_chance, self._settings.at_decisions)
        )
        state = (info.state_size, dtype)
        self._use(make_trees(count, nodes, edges, *state, info.num_players, keeps_transient, keeps_leaf_values))
        self._flights = make_in_flight(count, config.in_flight, leaves, config.max_depth, *state, info.num_players)
        self._batch = make_eval_batch(
            places if external else 0,
            *state,
            game.observation_size if external else 0,
            info.num_actions if external else 0,
            info.num_players,
        )
        self.results = make_root_results(count, info.num_actions, info.num_players)
        self._scratch = make_scratch(*state, info.num_actions, info.max_outcomes, info.num_players)
        self._views: list[Callable[[], CompiledView | None]] = [_no_view] * count
        self._errors: dict[int, Exception] = {}
        self._first = 0
        self.statuses = np.array([IDLE] * count, np.int64)
        self.seen = 1 << IDLE
        self.pauses = np.zeros(count, np.int64)
        self.limits = np.zeros(count, np.int64)
        self.trees = [CompiledTree(self, place) for place in range(count)]
        # No tree continues yet: the loop is compiled now, not in a search with a time limit.
        made_once(game, ("compiled", name), self.advance)

    def _use(self, arrays: Tree) -> None:
        """Use these arrays. Those that Python reads are kept as plain arrays, because numpy's records are slow."""
        self._arrays = arrays
        self.nodes, self.edges = arrays.nodes.view(np.ndarray), arrays.edges.view(np.ndarray)
        self.counters = arrays.counters
        self.row_bytes = row_bytes(arrays)
        self.read = ReadArrays(self.nodes, self.edges, arrays.states, arrays.tables, self.counters)

    @property
    def arrays(self) -> Tree:
        """The arrays of all trees. Growing replaces them."""
        return self._arrays

    def tree_at(self, place: int) -> Tree:
        """Return the arrays of one tree."""
        return tree_at(self._arrays._replace(nodes=self.nodes, edges=self.edges), place)

    def remember(self, place: int, view: CompiledView) -> None:
        """Keep a view, which copies the tree at a place when the next one starts there."""
        self._views[place] = weakref.ref(view)

    def start_tree(self, place: int, state: State, seed: int) -> None:
        """Replace the tree at a place by one that starts at a state, with the random streams of a seed."""
        assert isinstance(state, KernelState)
        view = self._views[place]()
        if view is not None:
            view.detach()
            self._views[place] = _no_view
        self._arrays.states[place, 0] = state.vector
        self._arrays.stream_keys[place, SEED] = seed
        self.statuses[place] = TO_START

    def advance(self) -> None:
        """Let each tree that may continue do so, until its leaves wait, or it ends, pauses or fails."""
        while True:
            with np.errstate(over="ignore"):
                found = self._advance(
                    self._arrays,
                    self._flights,
                    self._batch,
                    self.results,
                    self._scratch,
                    self._settings,
                    self.pauses,
                    self.limits,
                    self.statuses,
                    self._first,
                )
            if found >= 0:
                break
            self._grow(found)
        self.seen = found
        if self.seen & 1 << FAILED:
            for place in np.flatnonzero(self.statuses < 0):
                self.fail(int(place), error_for(int(self.statuses[place]), self.game.name))
            if not self.seen & 1 << WAITING:  # no evaluation follows that would free the rows of the failed trees
                self._batch.used[0] = 0

    def _grow(self, status: int) -> None:
        if status == GROW_NODES:
            room = min(self.config.max_nodes, 2 * self.nodes.shape[1])
            self._use(grow_nodes(self._arrays, room))
        else:
            leaves = self._flights.leaves.shape[1] + self._settings.largest_visit
            room = leaves * self.game.num_actions + self.game.info.max_outcomes
            self._use(grow_edges(self._arrays, 2 * self.edges.shape[1] + 4 * room))

    def waiting(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int32]]:
        """Return the leaves to evaluate, and the tree of each row. Rows after those fill the batch."""
        count = int(self._batch.used[0])
        states = KernelStates(self.game, self._batch.states[:count].astype(np.int64)) if with_states else None
        return LeafBatch(self._batch.observations, self._batch.masks, states), self._batch.owners[:count]

    def absorb(
        self, logits: NDArray[np.float64], values: NDArray[np.float64], exact: NDArray[np.bool_] | None = None
    ) -> None:
        """Give the evaluations, by row, to the trees that still wait."""
        count = int(self._batch.used[0])
        if exact is not None:
            self._batch.exact[:count] = exact[:count]
        self._batch.logits[:count] = logits[:count]
        self._batch.values[:count] = values[:count]
        self._answered()

    def try_absorb(self, answer: Any, rows: int) -> bool:
        """Check and absorb an evaluator's answer in one step; False, with nothing absorbed, if it is not valid."""
        batch = self._batch
        if not is_answer(answer, (rows, batch.logits.shape[1]), (rows, batch.values.shape[1])):
            return False
        if not copy_answer(*answer, batch.masks, int(batch.used[0]), batch.logits, batch.values):
            return False
        self._answered()
        return True

    def _answered(self) -> None:
        self._batch.used[0] = 0
        self.statuses[self.statuses == WAITING] = ANSWERED
        self._first = (self._first + 1) % len(self.statuses)

    def renew_observations(self) -> None:
        """Write the next observations into a new array, because the evaluator kept the present one."""
        self._batch = self._batch._replace(observations=np.zeros_like(self._batch.observations))

    def mix_noise(self, places: list[int], keys: list[int]) -> None:
        """Mix noise into the priors at these roots, each drawn from the stream with its key."""
        config = self.config
        mix_root_noise(self.nodes, self.edges, places, keys, config.noise_alpha, config.noise_fraction, self.closed)

    def fail(self, place: int, error: Exception) -> None:
        """End a tree with an error. Its waiting visits are removed, as if they had not started."""
        tree, flight = tree_at(self._arrays, place), flight_at(self._flights, place)
        for v in range(int(tree.counters[IN_FLIGHT])):
            visit = flight.visits[v]
            leaves = flight.leaves[visit.first_leaf : visit.first_leaf + visit.num_leaves]
            tree.nodes.pending[leaves.node[leaves.node != NO_NODE]] = 0
            if visit.expanding != NO_NODE:
                tree.nodes[visit.expanding].pending = 0
            release(tree, flight, v)
            tree.counters[STARTED] -= visit.simulation != ROOT_EVALUATION
        tree.counters[[IN_FLIGHT, LEAVES, REQUESTED, COLLIDED]] = 0
        self.statuses[place] = FAILED
        self.seen |= 1 << FAILED
        self._errors[place] = error

    def clear(self) -> None:
        """Remove all trees and all requests to the evaluator."""
        self.statuses[:] = IDLE
        self._batch.used[0] = 0

    def error(self, place: int) -> Exception:
        """Return the error with which a tree ended."""
        return self._errors[place]


def _no_view() -> None:
    return None


_WIDENING = Widening()  # its numbers are not read if the settings have none


def loop_settings(game: KernelGame, evaluator: Any, config: SearchConfig, chance: ChanceConfig) -> LoopSettings:
    """Return the numbers of config and evaluator that the loop reads."""
    rollout = isinstance(evaluator, Rollout)
    widening = chance.widening or _WIDENING
    low, high = game.info.utility or (math.inf, -math.inf)
    inside = ROLLOUT_INSIDE if rollout else UNIFORM if isinstance(evaluator, Uniform) else EXTERNAL
    return LoopSettings(
        c=float(config.c),
        first_play=0.0 if isinstance(config.first_play, str) else float(config.first_play),
        first_play_parent=config.first_play == "parent",
        first_play_logits=config.first_play == "logits",
        logit_unit=logit_unit_of(evaluator) if config.first_play == "logits" else 0.0,
        uct=config.selection == "uct",
        virtual_loss=config.in_flight_mode == "virtual_loss",
        open_loop=chance.loop == "open",
        at_chance=int(trust_at_chance(evaluator)),
        at_decisions=int(trust_at_decisions(evaluator)),
        values_ends=values_ends(evaluator),
        max_depth=config.max_depth,
        in_flight=config.in_flight,
        max_nodes=config.max_nodes,
        max_evaluations=config.max_evaluations or 2**62,
        evaluator=inside,
        playouts=evaluator.playouts if rollout else 1,
        max_steps=evaluator.max_steps if rollout else 1,
        learns_range=game.info.utility is None,
        low=low,
        high=high,
        lists_outcomes=chance.lists_outcomes,
        stratified=chance.pick == "stratified",
        exact_up_to=chance.exact_up_to,
        widening=chance.widening is not None,
        widening_c=widening.c,
        widening_alpha=widening.alpha,
        max_children=widening.max_children,
        samples_per_visit=chance.samples_per_visit,
        expectation=chance.backup == "expectation",
        largest_visit=largest_visit(chance, game),
        # Below a chance node whose outcomes are all expanded, chance events may follow that are drawn and not stored.
        one_stored_leaf=chance.loop == "closed"
        and chance.widening is None
        and chance.exact_up_to == 0
        and largest_visit(chance, game) == 1,
    )


def sizes_of(game: KernelGame) -> Sizes:
    """Return the lengths of rows that are constants of a game's compiled loop."""
    return Sizes(game.info.state_size, game.info.num_players, game.info.num_actions)


class CompiledTree:
    """One tree of a compiled group; implements ``search.group.TreeHandle``."""

    def __init__(self, group: Any, place: int) -> None:
        # A reference cycle would keep the memory of searches that are no longer used.
        self._group, self._place = weakref.proxy(group), place

    @property
    def arrays(self) -> Tree:
        """The tree's arrays. Growing replaces them."""
        tree: Tree = self._group.tree_at(self._place)
        return tree

    @property
    def simulations(self) -> int:
        """Number of simulations that are backed up."""
        return int(self._group.counters[self._place, SIMULATIONS])

    def kind(self) -> int:
        """Return the root's kind."""
        return int(self._group.nodes["kind"][self._place, 0])

    def restrict(self, actions: list[int]) -> None:
        """Remove the root's other actions. The priors of those left are scaled to sum to 1 (open loop: mean 1)."""
        edges = self._root_slots()
        kept = edges[np.isin(edges["action"], actions)].copy()
        weight = running_sum(kept["prior"])
        kept["prior"] = kept["prior"] / weight if weight > 0 else 1.0 / len(kept)
        if not self._group.closed:
            kept["prior"] *= len(kept)
        edges[: len(kept)] = kept
        self._group.nodes[self._place, 0]["num_edges"] = len(kept)

    def _root_slots(self) -> Any:
        read, place = self._group.read, self._place
        first, count = (int(read.nodes[field][place, 0]) for field in ("first_edge", "num_edges"))
        return read.edges[place, first : first + (max(0, count) if self.kind() == DECISION else 0)]

    def root_actions(self) -> tuple[Any, Any, Any, Any]:
        """Return actions, visits, q and priors at the root when the tree last stopped."""
        results, here = self._group.results, (self._place, slice(self._group.results.counts[self._place]))
        columns = results.actions, results.visits, results.q, results.priors
        actions, visits, q, priors = (column[here].copy() for column in columns)
        return actions, visits, q, priors

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Return visits and value sums by outcome of a chance root."""
        tree = self.arrays
        return {
            int(tree.nodes[n]["label"]): (int(tree.nodes[n]["visits"]), tree.nodes["value_sums"][n].copy())
            for n in self._make_view().children(0)
            if (tree.nodes[n]["kind"] == COUNTER) != self._group.closed
        }

    def root_value(self) -> NDArray[np.float64]:
        """Return the root's mean by player when the tree last stopped."""
        value: NDArray[np.float64] = self._group.results.values[self._place].copy()
        return value

    def in_flight(self) -> int:
        """Return the visits still counted as in flight in the whole tree: 0 between batches."""
        tree = self.arrays
        nodes = tree.nodes["in_flight"][: tree.counters[NODES]].sum()
        return int(nodes + tree.edges["in_flight"][: tree.counters[EDGES]].sum())

    def view(self) -> CompiledView:
        """Return a view of the tree as it is now. It stays valid when the tree is replaced."""
        view = self._make_view()
        self._group.remember(self._place, view)
        return view

    def _make_view(self) -> CompiledView:
        group = self._group
        return CompiledView(group.game, group.read, self._place, group.closed, group.row_bytes)
