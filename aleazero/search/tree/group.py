"""The compiled search: trees in arrays, grown by a game's compiled loop."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, ContractError, PositionError
from aleazero.games.base import DECISION, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.states import KernelStates
from aleazero.native.compile import kernel_dtype, loop_of
from aleazero.native.random import ROOT_EVALUATION
from aleazero.search.config import ChanceConfig, SearchConfig, Widening, chance_of, largest_visit
from aleazero.search.evaluator import (
    Rollout,
    Uniform,
    asked_at_chance,
    asked_at_decisions,
    is_answer,
    take_in,
    values_ends,
)
from aleazero.search.group import Leaves
from aleazero.search.root import disturb_roots
from aleazero.search.status import (
    ANSWERED,
    ASK_EXACT,
    BAD_PROBABILITIES,
    BROKEN_RULES,
    ENDLESS_CHANCE,
    EXTERNAL,
    FAILED,
    GAME_OVER,
    IDLE,
    MAX_CHANCE_RUN,
    PLANTED,
    UNIFORM,
    UNLISTED_OUTCOMES,
    WAITING,
)
from aleazero.search.status import ROLLOUT as ROLLOUT_INSIDE
from aleazero.search.tree.arrays import (
    ASKED,
    COLLIDED,
    EDGES,
    IN_BATCH,
    NO_NODE,
    NODES,
    ROWS,
    SEED,
    SIMULATIONS,
    STARTED,
    TALLY,
    Settings,
    Sizes,
    Tree,
    batch_at,
    grow_edges,
    grow_nodes,
    make_batch,
    make_roots,
    make_scratch,
    make_tray,
    make_trees,
    tree_at,
)
from aleazero.search.tree.backup import release
from aleazero.search.tree.loop import GROW_MORE_EDGES, GROW_MORE_NODES, make_loop
from aleazero.search.tree.view import CompiledView, Read, running_sum

FIRST_NODES = 1 << 20
"""Nodes that a tree first has room for, at most."""


FIRST_EDGES = 1 << 22
"""Edges that a tree first has room for, at most."""


SMALL_ROOM = 4096
"""Nodes and edges that every tree of a large group may have room for at first; the group as a whole has no more than
FIRST_NODES and FIRST_EDGES otherwise."""


class CompiledGroup:
    """Trees of arrays, side by side."""

    def __init__(self, game: KernelGame, evaluator: Any, config: SearchConfig, count: int, places: int) -> None:
        self.game, self.config = game, config
        self.chance = chance_of(config, game, evaluator)
        self.closed = self.chance.loop == "closed"
        self._advance = loop_of(game, "", lambda kernels: make_loop(kernels, sizes_of(game)))
        self._settings = _settings(game, evaluator, config, self.chance)
        info = game.info
        dtype = kernel_dtype(info.state_dtype)
        external = self._settings.evaluator == EXTERNAL
        rows = config.in_flight * self._settings.largest_visit
        keeps_transient = self.chance.widening is not None and self.chance.backup == "expectation"
        # Room for the whole search at once: room that is not used costs nothing, room that must grow is copied. A
        # simulation adds two nodes at most where no chance events follow each other, and expands one.
        nodes = min(config.max_nodes, 2 * config.num_simulations + 64)
        nodes = min(nodes, FIRST_NODES, max(SMALL_ROOM, FIRST_NODES // count))
        expanded = (config.num_simulations + 2 * rows + 1) * info.num_actions
        edges = min(FIRST_EDGES, expanded, max(2 * SMALL_ROOM, FIRST_EDGES // count))
        keeps_leaf_values = (
            self._settings.expectation
            or self._settings.values_ends
            or ASK_EXACT in (self._settings.at_chance, self._settings.at_decisions)
        )
        state = (info.state_size, dtype)
        self._use(make_trees(count, nodes, edges, *state, info.num_players, keeps_transient, keeps_leaf_values))
        self._batches = make_batch(count, config.in_flight, rows, config.max_depth, *state, info.num_players)
        self._tray = make_tray(
            places if external else 0,
            *state,
            game.observation_size if external else 0,
            info.num_actions if external else 0,
            info.num_players,
        )
        self.roots = make_roots(count, info.num_actions, info.num_players)
        self._scratch = make_scratch(*state, info.num_actions, info.max_outcomes, info.num_players)
        self._views: list[Callable[[], CompiledView | None]] = [_no_view] * count
        self._errors: dict[int, Exception] = {}
        self._first = 0
        self.statuses = np.full(count, IDLE, np.int64)
        self.seen = 1 << IDLE
        self.pauses = np.zeros(count, np.int64)
        self.limits = np.zeros(count, np.int64)
        self.trees = [CompiledTree(self, place) for place in range(count)]
        self.advance()  # an empty step: what must be compiled is compiled now, not in a timed search

    def _use(self, arrays: Tree) -> None:
        """Stand on these arrays; those that are read from Python are kept by name, without numpy's slow records."""
        self._arrays = arrays
        self.nodes, self.edges = arrays.nodes.view(np.ndarray), arrays.edges.view(np.ndarray)
        self.counters = arrays.counters
        self.read = Read(self.nodes, self.edges, arrays.states, arrays.tables, self.counters)

    @property
    def arrays(self) -> Tree:
        """The arrays of all trees, as they are now; room for more may replace them."""
        return self._arrays

    def tree_at(self, place: int) -> Tree:
        """The arrays of one tree."""
        return tree_at(self._arrays._replace(nodes=self.nodes, edges=self.edges), place)

    def remember(self, place: int, view: CompiledView) -> None:
        """A view reads the tree at a place until the next is planted there."""
        self._views[place] = weakref.ref(view)

    def plant(self, place: int, state: State, seed: int) -> None:
        """Forget the tree at a place and begin one at a state, with the luck of a seed."""
        assert isinstance(state, KernelState)
        view = self._views[place]()
        if view is not None:
            view.detach()
            self._views[place] = _no_view
        self._arrays.states[place, 0] = state.vector
        self._arrays.luck[place, SEED] = seed
        self.statuses[place] = PLANTED

    def advance(self) -> None:
        """Let each tree that may go on do so, until its leaves wait, or it ends, pauses or fails."""
        while True:
            with np.errstate(over="ignore"):
                found = self._advance(
                    self._arrays,
                    self._batches,
                    self._tray,
                    self.roots,
                    self._scratch,
                    self._settings,
                    self.pauses,
                    self.limits,
                    self.statuses,
                    self._first,
                )
            self.seen = found & (GROW_MORE_NODES - 1)
            if self.seen == found:
                break
            self._grow(found)
        if self.seen >= 1 << BAD_PROBABILITIES:
            for place in np.flatnonzero(self.statuses >= BAD_PROBABILITIES):
                self.fail(int(place), self._explain(int(self.statuses[place])))

    def _grow(self, found: int) -> None:
        if found & GROW_MORE_NODES:
            room = min(self.config.max_nodes, 2 * self.nodes.shape[1])
            self._use(grow_nodes(self._arrays, room))
        if found & GROW_MORE_EDGES:
            leaves = self._batches.rows.shape[1] + self._settings.largest_visit
            room = leaves * self.game.num_actions + self.game.info.max_outcomes
            self._use(grow_edges(self._arrays, 2 * self.edges.shape[1] + 4 * room))

    def _explain(self, status: int) -> Exception:
        """What went wrong in the loop, in words."""
        name = self.game.name
        if status == BAD_PROBABILITIES:
            return ContractError(
                f"{name}: the outcomes of a chance event cannot be drawn, expected ids below 2^31 and "
                f"probabilities that sum to 1 (or a sample function where they are too many to list)"
            )
        if status == BROKEN_RULES:
            return ContractError(
                f"{name}: the rules gave an impossible kind, player, action or return on the way, "
                f"expected what check_game demands: it tells where"
            )
        if status == UNLISTED_OUTCOMES:
            return ConfigError(
                f"{name}: outcomes here are too many to list, expected chance settings without "
                f"pick=stratified, exact_up_to and backup=expectation (a game says so by lists_outcomes=False)"
            )
        if status == ENDLESS_CHANCE:
            return ContractError(f"{name}: more than {MAX_CHANCE_RUN} chance events in a row, expected a decision")
        assert status == GAME_OVER, status
        return PositionError(f"{name}: the game is over in this position, expected one with a move left")

    def waiting(self, with_states: bool) -> tuple[Leaves, NDArray[np.int32]]:
        """What the evaluator is to be asked, and which tree asks, by row; rows behind those fill the batch."""
        count = int(self._tray.taken[0])
        states = KernelStates(self.game, self._tray.states[:count].astype(np.int64)) if with_states else None
        return Leaves(self._tray.observations, self._tray.masks, states), self._tray.owners[:count]

    def absorb(self, logits: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Answer the leaves of the trees that still wait, row by row."""
        count = int(self._tray.taken[0])
        self._tray.logits[:count] = logits[:count]
        self._tray.values[:count] = values[:count]
        self._answered()

    def take_in(self, answer: Any, rows: int) -> bool:
        """Absorb an answer of so many rows at once, if it has the right form and can be used; whether that is so."""
        tray = self._tray
        if not is_answer(answer, (rows, tray.logits.shape[1]), (rows, tray.values.shape[1])):
            return False
        if not take_in(*answer, tray.masks, int(tray.taken[0]), tray.logits, tray.values):
            return False
        self._answered()
        return True

    def _answered(self) -> None:
        self._tray.taken[0] = 0
        self.statuses[self.statuses == WAITING] = ANSWERED
        self._first = (self._first + 1) % len(self.statuses)

    def renew_observations(self) -> None:
        """Write further observations into another array."""
        self._tray = self._tray._replace(observations=np.zeros_like(self._tray.observations))

    def mix_noise(self, places: list[int], keys: list[int]) -> None:
        """Blend noise into the priors at these roots, drawn by a key each."""
        config = self.config
        disturb_roots(self.nodes, self.edges, places, keys, config.noise_alpha, config.noise_fraction, self.closed)

    def fail(self, place: int, error: Exception) -> None:
        """End a tree with an error; its waiting leaves are let go of, as if their descents had not been."""
        tree, batch = tree_at(self._arrays, place), batch_at(self._batches, place)
        for v in range(int(tree.counters[IN_BATCH])):
            visit = batch.visits[v]
            rows = batch.rows[visit.first_row : visit.first_row + visit.num_rows]
            tree.nodes.pending[rows.node[rows.node != NO_NODE]] = 0
            if visit.bars != NO_NODE:
                tree.nodes[visit.bars].pending = 0
            release(tree, batch, v)
            tree.counters[STARTED] -= visit.simulation != ROOT_EVALUATION
        tree.counters[IN_BATCH] = tree.counters[ROWS] = tree.counters[ASKED] = tree.counters[COLLIDED] = 0
        self.statuses[place] = FAILED
        self.seen |= 1 << FAILED
        self._errors[place] = error

    def clear(self) -> None:
        """Forget every tree, and what was asked."""
        self.statuses[:] = IDLE
        self._tray.taken[0] = 0

    def error(self, place: int) -> Exception:
        """Why a tree failed."""
        return self._errors[place]


def _no_view() -> None:
    return None


def _settings(game: KernelGame, evaluator: Any, config: SearchConfig, chance: ChanceConfig) -> Settings:
    rollout = isinstance(evaluator, Rollout)
    widening = chance.widening or Widening()
    low, high = game.info.utility or (math.inf, -math.inf)
    inside = ROLLOUT_INSIDE if rollout else UNIFORM if isinstance(evaluator, Uniform) else EXTERNAL
    return Settings(
        c=float(config.c),
        first_play=0.0 if config.first_play == "parent" else float(config.first_play),
        first_play_parent=config.first_play == "parent",
        uct=config.selection == "uct",
        virtual_loss=config.in_flight_mode == "virtual_loss",
        open_loop=chance.loop == "open",
        at_chance=int(asked_at_chance(evaluator)),
        at_decisions=int(asked_at_decisions(evaluator)),
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
        one_stored_leaf=chance.loop == "closed" and chance.widening is None and largest_visit(chance, game) == 1,
    )


def sizes_of(game: KernelGame) -> Sizes:
    """The lengths of rows of a game's arrays."""
    return Sizes(game.info.state_size, game.info.num_players, game.info.num_actions)


class CompiledTree:
    """A tree at a place of a group."""

    def __init__(self, group: Any, place: int) -> None:
        # A circle of references would keep the memory of searches that nobody holds.
        self._group, self._place = weakref.proxy(group), place

    @property
    def arrays(self) -> Tree:
        """The tree's arrays, as they are now; room for more may replace them."""
        tree: Tree = self._group.tree_at(self._place)
        return tree

    @property
    def simulations(self) -> int:
        """Simulations that are done."""
        return int(self._group.counters[self._place, SIMULATIONS])

    def kind(self) -> int:
        """The root's kind."""
        return int(self._group.nodes["kind"][self._place, 0])

    def restrict(self, actions: list[int]) -> None:
        """Drop the root's other actions; the priors of those left are scaled to sum to 1."""
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
        """Actions, visits, q and priors at the root, by action, when the tree last stopped."""
        roots, place = self._group.roots, self._place
        here = place, slice(roots.counts[place])
        return roots.actions[here].copy(), roots.visits[here].copy(), roots.q[here].copy(), roots.priors[here].copy()

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Visits and total by outcome of a chance root."""
        tree = self.arrays
        return {
            int(tree.nodes[n]["label"]): (int(tree.nodes[n]["visits"]), tree.nodes["value_sums"][n].copy())
            for n in self._make_view().children(0)
            if (tree.nodes[n]["kind"] == TALLY) != self._group.closed
        }

    def root_value(self) -> NDArray[np.float64]:
        """The root's mean by player, when the tree last stopped."""
        value: NDArray[np.float64] = self._group.roots.values[self._place].copy()
        return value

    def in_flight(self) -> int:
        """Visits still counted as in flight in the whole tree: 0 between batches."""
        tree = self.arrays
        nodes = tree.nodes["in_flight"][: tree.counters[NODES]].sum()
        return int(nodes + tree.edges["in_flight"][: tree.counters[EDGES]].sum())

    def view(self) -> CompiledView:
        """The tree as it is now; it stays so while somebody holds the view."""
        view = self._make_view()
        self._group.remember(self._place, view)
        return view

    def _make_view(self) -> CompiledView:
        return CompiledView(self._group.game, self._group.read, self._place, self._group.closed)
