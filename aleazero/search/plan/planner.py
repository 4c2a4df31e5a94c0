"""The planner: expectimax to the end of a turn, of some plies or of the game, over a graph of states.

Equal states are one node, and the evaluator values the frontier in one batch. ``horizon.py`` defines the frontier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.states import KernelStates, vectors_of
from aleazero.search.evaluator import PLAN_PLAYOUTS, evaluate_batch, evaluate_states, resolve_evaluator
from aleazero.search.group import LeafBatch
from aleazero.search.plan.horizon import Horizon, check_horizon, horizon_at, one_action
from aleazero.search.plan.plan import GrowingGraph, Plan, Vector
from aleazero.search.result import SearchResult
from aleazero.search.root import check_allowed, same_game

Backend = Literal["auto", "compiled", "plain"]


class Planner:
    """Planner with exact chance: computes the best actions of a turn, of some plies or of the game by expectimax.

    Decisions have the value of the best action for the player to move, chance nodes the exact expectation. States past
    the horizon are valued by the evaluator, so results are exact only if its values are.

    Args:
        game: the game, from ``load_game``.
        evaluator: values states past the horizon, as for ``Search``; None if the horizon reaches the end of the game.
            ``"rollout"`` is the mean of 100 playouts per state, the same as ``Rollout(100)``. A plan takes maxima over
            these values, so the more noise they have, the more the results are too high for the player to move.
        horizon: ``"turn"`` or ``"game"``.
        plies: plan this many chance events instead of a turn (in games without chance: decisions). A turn that begins
            with a decision, by the game's own ``turn``, also counts as a ply.
        max_nodes: maximum number of states per plan.
        keep: plan only this many actions of each decision further: those with the best value by the evaluator one step
            later. Other actions count as illegal. The last ply is not pruned. None: no limit.
        margin: plan only actions further whose value is within this margin of the best one. None: no limit.
        backend: ``"auto"``, ``"compiled"`` (kernel games only) or ``"plain"`` for the reference implementation.
        solver: ``"auto"`` uses the game's own turn solver, if it has one; ``"generic"`` never does.
        batch_size: number of rows of every batch for the evaluator, with padding, so that values do not depend on which
            states share a batch. None: one batch with all rows.
        seed: seed of playouts, for the evaluator ``rollout``.

    Raises:
        ConfigError: an argument is invalid, or the backend does not support the game.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Any = None,
        horizon: Literal["turn", "game"] = "turn",
        plies: int | None = None,
        *,
        max_nodes: int = 2_000_000,
        keep: int | None = None,
        margin: float | None = None,
        backend: Backend = "auto",
        solver: Literal["auto", "generic"] = "auto",
        batch_size: int | None = None,
        seed: int = 0,
    ) -> None:
        check_horizon(horizon, plies)
        _check_integer("max_nodes", max_nodes, 2, 2**31 - 2)
        _check_integer("seed", seed, 0, 2**64 - 1)
        if keep is not None:
            _check_integer("keep", keep, 1)
        if batch_size is not None:
            _check_integer("batch_size", batch_size, 1)
        if margin is not None and not (isinstance(margin, int | float) and math.isfinite(margin) and margin >= 0):
            raise ConfigError(f"is {margin!r}, expected a number of at least 0", field="margin")
        if solver not in ("auto", "generic"):
            raise ConfigError(f"is {solver!r}, expected auto or generic", field="solver")
        self.game = game
        chosen: Any = None if evaluator is None else resolve_evaluator(evaluator, PLAN_PLAYOUTS)
        self._prunes = keep is not None or margin is not None
        self.evaluator = chosen.for_plan(horizon, plies, self._prunes) if hasattr(chosen, "for_plan") else chosen
        self._describer = self.evaluator if getattr(self.evaluator, "describes", False) else None
        if self._prunes and self.evaluator is None:
            raise ConfigError("keep or margin is set and there is no evaluator, expected one, which values the actions")
        self.horizon, self.plies = horizon, plies
        self.max_nodes, self.keep, self.margin, self.batch_size, self.seed = max_nodes, keep, margin, batch_size, seed
        self._compiled = _compiles(game, backend)
        self._room: tuple[int, int] | None = None
        if self._compiled:  # the loop is compiled now, not in a plan that is timed
            first = game.new_initial_state()
            self._begin_compiled(first, one_action(first)).found()
        self._own_solver = horizon == "turn" and plies is None and solver == "auto" and not self._prunes

    def plan(self, state: State) -> Plan:
        """Plan from a state.

        Args:
            state: a decision or chance node of the game; it is not changed.

        Returns:
            The plan, which has the values of all states within the horizon.

        Raises:
            PositionError: the state is terminal, or belongs to another game.
            GameError: the plan has more than ``max_nodes`` states, the game can return to an earlier state within the
                horizon, or it does not list its outcomes.
            ConfigError: a state needs an evaluator, and there is none.
            EvaluatorError: the evaluator raised an error, or its output is invalid.
        """
        return self.plan_many([state])[0]

    def run(self, state: State, actions: Sequence[int] | None = None) -> SearchResult:
        """Plan from a state and return the result at its root, as ``Search.run`` does.

        Args:
            state: a decision or chance node of the game; it is not changed.
            actions: actions to consider at the root; None for all legal actions.

        Returns:
            A result without visits, whose priors are 1 for the best action.

        Raises:
            IllegalActionError: an entry of ``actions`` is not legal.
            AleaZeroError: any error of ``plan``.
        """
        self._check_state(state)
        allowed = None if actions is None else check_allowed(state, actions)
        return self._plan_all([state], allowed)[0].result()

    def plan_many(self, states: Sequence[State]) -> list[Plan]:
        """Plan from many states. The evaluator values the frontiers of all plans together.

        Args:
            states: decisions or chance nodes of the game.

        Returns:
            One plan per state, in the same order.

        Raises:
            AleaZeroError: any error of ``plan``.
        """
        for state in states:
            self._check_state(state)
        return self._plan_all(states, None)

    def _plan_all(self, states: Sequence[State], actions: list[int] | None, after_actions: bool = False) -> list[Plan]:
        graphs = [self._begin(state, actions, after_actions) for state in states]
        if self._prunes and not after_actions:
            self._expand_in_step(graphs, actions)
        else:
            for graph in graphs:
                if actions is None or not graph.grow(self._mask(actions), generation=True):
                    graph.grow(None, generation=False)
        self._value(graphs)
        return [Plan(state, graph, actions, self._describer) for state, graph in zip(states, graphs, strict=True)]

    def _begin(self, state: State, actions: list[int] | None, after_actions: bool) -> GrowingGraph:
        """Return the empty graph of a plan: by the game's own solver, compiled, or plain."""
        horizon = one_action(state) if after_actions else horizon_at(state, self.horizon, self.plies)
        if isinstance(state, KernelState) and self._own_solver and actions is None and not after_actions:
            solved = self._begin_solver(state)
            if solved is not None:
                return solved
        if self._compiled:
            return self._begin_compiled(state, horizon)
        from aleazero.search.plan.plain import PlainGraph

        return PlainGraph(state, horizon, self.evaluator, self.max_nodes, self.seed)

    def _begin_solver(self, state: KernelState) -> GrowingGraph | None:
        from aleazero.search.plan.turn_solver import SolverGraph, solver_of

        solver = solver_of(state.game)
        graph = None if solver is None else SolverGraph(state, solver, self.evaluator, self.seed)
        return graph if graph is not None and graph.can_value_leaves() else None

    def _begin_compiled(self, state: State, horizon: Horizon) -> GrowingGraph:
        from aleazero.search.plan.graph import CompiledGraph

        return CompiledGraph(state, horizon, self.evaluator, self.max_nodes, self.seed, self._room)

    # -- pruning -----------------------------------------------------------------------------------------------

    def _expand_in_step(self, graphs: list[GrowingGraph], actions: list[int] | None) -> None:
        """Expand all graphs one generation at a time, and prune the actions of its decisions."""
        growing = list(graphs)
        allowed = None if actions is None else self._mask(actions)[0]
        while growing:
            choices = [[(row, state) for row, state in graph.choices() if self._wide(state)] for graph in growing]
            plans = iter(self._plan_all([state for some in choices for _, state in some], None, after_actions=True))
            masks: list[NDArray[np.bool_] | None] = []
            for graph, some in zip(growing, choices, strict=True):
                if not some and allowed is None:
                    masks.append(None)
                    continue
                kept = np.ones((graph.found(), self.game.num_actions), np.bool_)
                if allowed is not None:
                    kept[0] = allowed
                for row, state in some:
                    kept[row] &= self._kept_actions(next(plans), state, kept[row])
                masks.append(kept)
            growing = [g for g, kept in zip(growing, masks, strict=True) if not g.grow(kept, generation=True)]
            allowed = None

    def _wide(self, state: State) -> bool:
        """Return whether a decision may have actions to prune."""
        return len(state.legal_actions()) > (self.keep if self.keep is not None and self.margin is None else 1)

    def _kept_actions(self, estimates: Plan, state: State, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the actions of a decision that are planned further."""
        mover = state.current_player()
        values = {a: float(v[mover]) for a, v in estimates.action_values(state).items() if allowed[a]}
        best_first = sorted(values, key=lambda action: (-values[action], action))[: self.keep]
        if self.margin is not None:
            best_first = [action for action in best_first if values[action] >= values[best_first[0]] - self.margin]
        kept: NDArray[np.bool_] = self._mask(best_first)[0]
        return kept

    def _mask(self, actions: Sequence[int]) -> NDArray[np.bool_]:
        mask = np.zeros((1, self.game.num_actions), np.bool_)
        mask[0, list(actions)] = True
        return mask

    # -- the frontier ------------------------------------------------------------------------------------------

    def _value(self, graphs: list[GrowingGraph]) -> None:
        """Evaluate the frontiers of all graphs together, and solve the graphs."""
        with_states = bool(getattr(self.evaluator, "sees_states", False))
        frontiers = [graph.frontier(with_states) for graph in graphs]
        sizes = [len(viewers) for _, viewers in frontiers]
        values = np.zeros((0, self.game.num_players))
        if sum(sizes):
            filled = [(leaves, viewers) for leaves, viewers in frontiers if len(viewers)]
            viewers = np.concatenate([viewers for _, viewers in filled])
            values = by_player(self._evaluate([leaves for leaves, _ in filled]), viewers)
        start, ended = 0, getattr(self.evaluator, "ended", None)
        for graph, size in zip(graphs, sizes, strict=True):
            if ended is not None:
                graph.end(ended)
            graph.solve(values[start : start + size])
            start += size
            self._room = graph.room() if hasattr(graph, "room") else self._room

    def _evaluate(self, parts: list[LeafBatch]) -> Vector:
        """Return the evaluator's values, by seat relative to the viewer."""
        if self.batch_size is None and hasattr(self.evaluator, "state_values"):
            return evaluate_states(self.evaluator, _joined_states([some.states or [] for some in parts]))
        leaves = _joined(parts)
        rows = len(leaves.legal_masks)
        size = self.batch_size or rows
        answers = []
        for start in range(0, rows, size):
            chosen = np.minimum(np.arange(start, start + size), rows - 1)  # the last row pads the last batch
            batch = leaves if size == rows else _some(leaves, chosen)
            _, values = evaluate_batch(
                self.evaluator, batch.observations, batch.legal_masks, batch.states, self.game.num_players
            )
            answers.append(values[: rows - start])
        return np.concatenate(answers)

    def _check_state(self, state: State) -> None:
        if not same_game(state.game, self.game):
            raise PositionError(f"the state belongs to {state.game!r}, expected a state of {self.game!r}")
        state.require_running()


def by_player(values: Vector, viewers: NDArray[np.int64]) -> Vector:
    """Return values by player, from values by seat relative to each row's viewer."""
    players = values.shape[1]
    seats = (np.arange(players)[None, :] - viewers[:, None]) % players
    turned: Vector = np.take_along_axis(values, seats, axis=1)
    return turned


def _joined(leaves: list[LeafBatch]) -> LeafBatch:
    if len(leaves) == 1:
        return leaves[0]
    return LeafBatch(
        np.concatenate([some.observations for some in leaves]),
        np.concatenate([some.legal_masks for some in leaves]),
        None if leaves[0].states is None else _joined_states([some.states or [] for some in leaves]),
    )


def _joined_states(parts: list[Sequence[State]]) -> Sequence[State]:
    first = parts[0]
    if isinstance(first, KernelStates):
        return KernelStates(first.game, np.concatenate([vectors_of(part) for part in parts]))
    return [state for part in parts for state in part]


def _some(leaves: LeafBatch, rows: NDArray[np.int64]) -> LeafBatch:
    states = None if leaves.states is None else [leaves.states[row] for row in rows]
    return LeafBatch(leaves.observations[rows], leaves.legal_masks[rows], states)


def _compiles(game: Game, backend: str) -> bool:
    if backend not in ("auto", "compiled", "plain"):
        raise ConfigError(f"backend is {backend!r}, expected auto, compiled or plain")
    if backend == "compiled" and not isinstance(game, KernelGame):
        raise ConfigError(f"backend is compiled and {game.name} is an object game, expected backend plain or auto")
    return backend != "plain" and isinstance(game, KernelGame)


def _check_integer(name: str, value: Any, least: int, most: int | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        above = "" if most is None else f" and at most {most}"
        raise ConfigError(f"is {value!r}, expected an integer of at least {least}{above}", field=name)
