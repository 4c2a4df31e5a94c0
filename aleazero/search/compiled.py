"""The compiled search: a tree in arrays, grown by a game's compiled loop."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, ContractError, GameError
from aleazero.games.base import CHANCE, DECISION, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.luck import stream_key
from aleazero.search.backup import release
from aleazero.search.compile import compile_loop
from aleazero.search.compiled_view import CompiledView, running_sum
from aleazero.search.config import ChanceConfig, SearchConfig, Widening, chance_of
from aleazero.search.engine import MAX_CHANCE_RUN, Counts, Leaves
from aleazero.search.evaluator import NONE, Rollout, Uniform, asked_at_chance, asked_at_decisions
from aleazero.search.loop import make_loop
from aleazero.search.status import (
    BAD_PROBABILITIES,
    BROKEN_RULES,
    ENDLESS_CHANCE,
    GROW_EDGES,
    GROW_NODES,
    UNLISTED_OUTCOMES,
)
from aleazero.search.streams import DESCENT, ROLLOUT, ROOT_EVALUATION, TIES
from aleazero.search.tree import (
    ASKED,
    BLOCKED,
    COLLIDED,
    COLLISIONS,
    DEPTH,
    EDGES,
    EMPTY,
    EVALUATIONS,
    EXACT_EXPANSIONS,
    EXPANSIONS,
    EXTERNAL,
    IN_BATCH,
    NO_EDGE,
    NO_NODE,
    NODES,
    ROWS,
    SIMULATIONS,
    STARTED,
    TALLIES,
    TALLY,
    TRANSIENT,
    UNIFORM,
    Settings,
    Tree,
    grow_edges,
    grow_nodes,
    make_batch,
    make_scratch,
    make_tree,
    new_node,
    tree_bytes,
)
from aleazero.search.tree import ROLLOUT as ROLLOUT_INSIDE

FIRST_NODES = 4096


class CompiledEngine:
    """One tree of arrays."""

    def __init__(self, game: KernelGame, evaluator: Any, config: SearchConfig) -> None:
        self.game, self.config = game, config
        self.chance = chance_of(config, game)
        self.closed = self.chance.loop == "closed"
        self.at_chance = asked_at_chance(evaluator)
        self._advance = loop_of(game)
        self._settings = _settings(game, evaluator, config, self.chance)
        info = game.info
        # Interpreted, numpy's small integers would overflow where compiled ones do not.
        dtype = "int64" if numba.config.DISABLE_JIT else info.state_dtype
        external = self._settings.evaluator == EXTERNAL
        nodes = min(config.max_nodes, FIRST_NODES, 4 * config.num_simulations + 64)
        self._dtype = dtype
        self._tree = self._new_tree(nodes, 2 * nodes)
        self._last_view: Callable[[], CompiledView | None] = lambda: None
        largest = self._settings.largest_visit
        self._batch = make_batch(
            config.in_flight,
            config.in_flight * largest,
            config.max_depth,
            info.state_size,
            dtype,
            game.observation_size if external else 0,
            info.num_actions if external else 0,
            info.num_players,
        )
        self._scratch = make_scratch(info.state_size, dtype, info.num_actions, info.max_outcomes, info.num_players)
        self._run(0, answered=False)  # an empty step: what must be compiled is compiled now, not in a timed search

    def _new_tree(self, nodes: int, edges: int) -> Tree:
        keeps = self.chance.widening is not None and self.chance.backup == "expectation"
        info = self.game.info
        return make_tree(nodes, edges, info.state_size, self._dtype, info.num_players, keeps)

    @property
    def simulations(self) -> int:
        """Simulations that are done."""
        return int(self._tree.counters[SIMULATIONS])

    @property
    def evaluations(self) -> int:
        """Leaves that were evaluated, the root among them."""
        return int(self._tree.counters[EVALUATIONS])

    def reset(self, state: State, seed: int) -> None:
        """Forget the tree and start from a state, with the luck of a seed."""
        self._settings = _with_seed(self._settings, seed)
        assert isinstance(state, KernelState)
        if self._last_view() is not None:  # an earlier result is still read: leave it its tree
            self._tree = self._new_tree(len(self._tree.nodes), len(self._tree.edges))
        tree, batch = self._tree, self._batch
        tree.counters[:] = 0
        tree.keys[:] = EMPTY
        low, high = self.game.info.utility or (math.inf, -math.inf)
        tree.low[:], tree.high[:] = low, high
        new_node(tree, NO_NODE, -1, 1)
        root = tree.nodes[0]
        tree.states[0] = state.vector
        root.kind = state.kind()
        root.mover = state.current_player() if root.kind == DECISION else -1
        if root.kind == CHANCE and self.at_chance is NONE:
            return
        root.pending = 1
        tree.counters[IN_BATCH] = tree.counters[ROWS] = tree.counters[ASKED] = 1
        tree.counters[COLLIDED] = 1  # nothing joins the root's own evaluation
        visit, leaf = batch.visits[0], batch.rows[0]
        visit.simulation, visit.divisor, visit.length = ROOT_EVALUATION, 1.0, 0
        visit.first_row, visit.num_rows, visit.bars, visit.blocked = 0, 1, NO_NODE, 0
        leaf.weight, leaf.node, leaf.pick, leaf.depth, leaf.known, leaf.stands_for = 1.0, 0, NO_EDGE, 0, 0, 1
        batch.states[0] = state.vector
        if self._settings.evaluator == EXTERNAL:
            batch.observations[0] = state.observation_tensor()
            batch.masks[0] = state.legal_actions_mask()

    def advance(self, pause: int) -> int:
        """Simulate to the end, or until leaves wait, or a limit is reached, or ``pause`` simulations are done."""
        return self._run(pause, answered=False)

    def _run(self, pause: int, answered: bool) -> int:
        while True:
            with np.errstate(over="ignore"):
                status = self._advance(self._tree, self._batch, self._scratch, self._settings, pause, answered)
            answered = False
            if status == GROW_NODES:
                self._tree = grow_nodes(self._tree, min(self.config.max_nodes, 2 * len(self._tree.nodes)))
            elif status == GROW_EDGES:
                leaves = len(self._batch.rows) + self._settings.largest_visit
                room = leaves * self.game.num_actions + self.game.info.max_outcomes
                self._tree = grow_edges(self._tree, 2 * len(self._tree.edges) + 4 * room)
            elif status == BAD_PROBABILITIES:
                self.abandon()
                raise ContractError(
                    f"{self.game.name}: the outcomes of a chance event cannot be drawn, expected ids below 2^31 and "
                    f"probabilities that sum to 1 (or a sample function where they are too many to list)"
                )
            elif status == BROKEN_RULES:
                self.abandon()
                raise ContractError(
                    f"{self.game.name}: the rules gave an impossible kind, player, action or return on the way, "
                    f"expected what check_game demands: it tells where"
                )
            elif status == UNLISTED_OUTCOMES:
                self.abandon()
                raise ConfigError(
                    f"{self.game.name}: outcomes here are too many to list, expected chance settings without "
                    f"pick=stratified, exact_up_to and backup=expectation (a game says so by lists_outcomes=False)"
                )
            elif status == ENDLESS_CHANCE:
                self.abandon()
                raise ContractError(
                    f"{self.game.name}: more than {MAX_CHANCE_RUN} chance events in a row, expected a decision"
                )
            else:
                return int(status)

    def waiting(self, with_states: bool) -> Leaves:
        """What the evaluator is to be asked."""
        asked = self._asked()
        states: list[State] | None = None
        if with_states:
            states = [KernelState(self.game, row.astype(np.int64)) for row in self._batch.states[asked]]
        return Leaves(self._batch.observations[asked], self._batch.masks[asked], states)

    def _asked(self) -> NDArray[np.int64]:
        """The rows of the batch that wait for the evaluator."""
        return np.flatnonzero(self._batch.rows.known[: self._tree.counters[ROWS]] == 0)

    def absorb(self, logits: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Take the evaluator's answer: expand the waiting leaves and back their values up, in order."""
        for row, row_logits, row_values in zip(self._asked(), logits, values, strict=True):
            self._batch.logits[row] = row_logits
            self._batch.values[row] = np.roll(row_values, int(self.game.kernels.viewer(self._batch.states[row])))
        self._run(0, answered=True)

    def abandon(self) -> None:
        """Let go of the waiting leaves, as if their descents had not been."""
        tree, batch = self._tree, self._batch
        for v in range(int(tree.counters[IN_BATCH])):
            visit = batch.visits[v]
            rows = batch.rows[visit.first_row : visit.first_row + visit.num_rows]
            stored = rows.node[rows.node != NO_NODE]
            tree.nodes.pending[stored] = 0
            if visit.bars != NO_NODE:
                tree.nodes[visit.bars].pending = 0
            release(tree, batch, v)
            tree.counters[STARTED] -= visit.simulation != ROOT_EVALUATION
        tree.counters[IN_BATCH] = tree.counters[ROWS] = tree.counters[ASKED] = tree.counters[COLLIDED] = 0

    def restrict(self, actions: list[int]) -> None:
        """Drop the root's other actions; the priors of those left are scaled to sum to 1."""
        edges = self._root_slots()
        kept = edges[np.isin(edges.action, actions)].copy()
        weight = running_sum(kept.prior)
        kept.prior = kept.prior / weight if weight > 0 else 1.0 / len(kept)
        if not self.closed:
            kept.prior *= len(kept)
        edges[: len(kept)] = kept
        self._tree.nodes[0].num_edges = len(kept)

    def mix_noise(self, noise: NDArray[np.float64]) -> None:
        """Blend noise into the root's priors."""
        share = self.config.noise_fraction
        edges = self._root_slots()
        edges.prior = (1.0 - share) * edges.prior + share * noise * (1.0 if self.closed else float(len(noise)))

    def _root_slots(self) -> Any:
        root = self._tree.nodes[0]
        count = max(0, int(root.num_edges)) if root.kind == DECISION else 0
        return self._tree.edges[root.first_edge : root.first_edge + count]

    def root_edges(self) -> tuple[Any, Any, Any, Any]:
        """Actions, visits, totals and priors at the root, by action."""
        edges = self._root_slots()
        order = np.argsort(edges.action, kind="stable")
        weight = 1.0 if self.closed else running_sum(edges.prior) or 1.0
        return (
            edges.action[order].copy(),
            edges.visits[order].copy(),
            edges.total[order].copy(),
            edges.prior[order] / weight,
        )

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Visits and total by outcome of a chance root."""
        nodes = self._tree.nodes
        return {
            int(nodes[n].label): (int(nodes[n].visits), self._tree.totals[n].copy())
            for n in CompiledView(self.game, self._tree, self.closed).children(0)
            if (nodes[n].kind == TALLY) != self.closed
        }

    def root_value(self) -> NDArray[np.float64]:
        """The root's mean by player."""
        mean: NDArray[np.float64] = self._tree.totals[0] / max(1, int(self._tree.nodes[0].visits))
        return mean

    def counts(self) -> Counts:
        """Sizes of the tree."""
        counters = self._tree.counters
        nodes = self._tree.nodes[: counters[NODES]]
        chance = nodes[nodes.kind == CHANCE]
        children = chance.num_children.astype(np.int64)
        if counters[TALLIES]:
            children[0] -= counters[TALLIES]
        found, times = np.unique(children, return_counts=True)
        return Counts(
            nodes=int(counters[NODES] - counters[TALLIES]),
            depth=int(counters[DEPTH]),
            expansions=int(counters[EXPANSIONS]),
            chance_nodes=len(chance),
            chance_visits=int(chance.visits.sum(dtype=np.int64)),
            chance_children=int(children.sum()),
            outcome_counts={int(k): int(times_k) for k, times_k in zip(found, times, strict=True)},
            collisions=int(counters[COLLISIONS]),
            transient=int(counters[TRANSIENT]),
            blocked=int(counters[BLOCKED]),
            exact_expansions=int(counters[EXACT_EXPANSIONS]),
            tree_bytes=tree_bytes(self._tree),
        )

    def in_flight(self) -> int:
        """Visits still counted as in flight in the whole tree: 0 between batches."""
        counters = self._tree.counters
        nodes = self._tree.nodes.in_flight[: counters[NODES]].sum()
        return int(nodes + self._tree.edges.in_flight[: counters[EDGES]].sum())

    def view(self) -> CompiledView:
        """The tree as it is now; it stays so while somebody holds the view."""
        view = CompiledView(self.game, self._tree, self.closed)
        self._last_view = weakref.ref(view)
        return view


def loop_of(game: KernelGame) -> Any:
    """A game's compiled loop, made once a game."""
    made = getattr(game, "_loop", None)
    if made is None:
        try:
            made = compile_loop(make_loop(game.kernels), game.name)
        except GameError as error:
            raise type(error)(f"{game.name}: {error}") from error
        game._loop = made  # type: ignore[attr-defined]
    return made


def _settings(game: KernelGame, evaluator: Any, config: SearchConfig, chance: ChanceConfig) -> Settings:
    rollout = isinstance(evaluator, Rollout)
    widening = chance.widening or Widening()
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
        max_depth=config.max_depth,
        in_flight=config.in_flight,
        num_simulations=config.num_simulations,
        max_nodes=config.max_nodes,
        max_evaluations=config.max_evaluations or 2**62,
        evaluator=inside,
        playouts=evaluator.playouts if rollout else 1,
        max_steps=evaluator.max_steps if rollout else 1,
        learns_range=game.info.utility is None,
        descent_key=np.uint64(0),  # the keys are set when a run begins
        rollout_key=np.uint64(0),
        ties_key=np.uint64(0),
        lists_outcomes=chance.lists_outcomes,
        stratified=chance.pick == "stratified",
        exact_up_to=chance.exact_up_to,
        widening=chance.widening is not None,
        widening_c=widening.c,
        widening_alpha=widening.alpha,
        max_children=widening.max_children,
        samples_per_visit=chance.samples_per_visit,
        expectation=chance.backup == "expectation",
        largest_visit=max(1, min(chance.exact_up_to, game.info.max_outcomes), chance.samples_per_visit),
    )


def _with_seed(settings: Settings, seed: int) -> Settings:
    return settings._replace(
        descent_key=np.uint64(stream_key(DESCENT, seed)),
        rollout_key=np.uint64(stream_key(ROLLOUT, seed)),
        ties_key=np.uint64(stream_key(TIES, seed)),
    )
