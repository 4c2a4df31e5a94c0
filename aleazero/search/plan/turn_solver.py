"""Turn solvers: a game's own, faster implementation of a plan of one turn.

The module of a kernel game may define ``turn_solver(game) -> TurnSolver``. The planner then uses it for
``horizon="turn"`` without pruning, if the evaluator can value all leaves of the turn. Results must equal those of
``Planner(game, ..., solver="generic")``, which is what to test a turn solver against.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError
from aleazero.games.base import CHANCE, DECISION, NONE, TERMINAL, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.states import KernelStates
from aleazero.native.compile import made_once
from aleazero.search.evaluator import Rollout, Uniform, trust_at_chance
from aleazero.search.group import LeafBatch
from aleazero.search.plain.playout import evaluate_inside
from aleazero.search.plan.plain import leaf_batch
from aleazero.search.plan.plan import PlanEdge, StateNumbers, Vector, best_label

TIE: Final = 1e-9
"""Values that differ by less than this share of 1 + abs(value) are treated as equal up to rounding."""


class SolvedTurn(Protocol):
    """Result of a turn solver.

    These methods are optional:

    - ``nearly_best(state, mover, tie)``: actions of a decision, ascending, whose value is within ``tie * (1 + best)``
      of the best; an empty list for a state that is not a decision inside the turn.
    - ``rolled(state)``: values after each outcome of a chance node inside the turn, shape (outcomes, players), in the
      order of ``outcomes``; None for other states.
    """

    def action_values(self, state: KernelState) -> dict[int, Vector] | None:
        """Return the value by player after each action or outcome; None for a leaf or a state outside of the turn."""


class TurnSolver(Protocol):
    """Solves the turns of one game.

    These methods are optional and take state vectors, shape (rows, state size):

    - ``starts(vectors)``: the state at which the turn of each state began, in the same shape.
    - ``kinds(vectors)`` and ``viewers(vectors)``: kinds and viewers of leaves, shape (rows,).
    """

    def leaves(self, state: KernelState) -> NDArray[np.int64]:
        """Return the states in which the turn of a state can end, without duplicates, shape (leaves, state size).

        These are terminal states and the first states past the turn, as for ``horizon="turn"``.
        """

    def solve(self, state: KernelState, values: Vector) -> SolvedTurn:
        """Solve the rest of a turn from the values of its leaves by player, shape (leaves, players)."""


class SolverGraph:
    """A turn solved by the game's own solver; implements ``plan.GrowingGraph``. A place is a state."""

    def __init__(self, root: KernelState, solver: TurnSolver, evaluator: Any, seed: int) -> None:
        self.root, self.game, self._solver, self._evaluator, self._seed = root, root.game, solver, evaluator, seed
        vectors = np.asarray(solver.leaves(root), np.int64)
        if vectors.ndim != 2 or vectors.shape[1] != self.game.info.state_size:
            raise GameError(
                f"{self.game.name}: the turn solver's leaves have shape {vectors.shape}, expected (leaves, "
                f"{self.game.info.state_size})"
            )
        self._leaves = KernelStates(self.game, vectors)
        self._kinds = self._of_leaves("kinds", vectors)
        self._running = np.flatnonzero(self._kinds != TERMINAL)
        self._values = np.zeros((len(vectors), self.game.num_players))
        for row in np.flatnonzero(self._kinds == TERMINAL).tolist():
            self._values[row] = self._leaves[row].returns()
        self._solved: SolvedTurn | None = None

    @cached_property
    def _row(self) -> dict[bytes, int]:
        """Index of each leaf by the bytes of its vector."""
        return {vector.tobytes(): row for row, vector in enumerate(self._leaves.vectors)}

    def _of_leaves(self, name: Literal["kinds", "viewers"], vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the kinds or viewers of leaves, in one call if the solver supports it."""
        if hasattr(self._solver, name):
            return np.asarray(getattr(self._solver, name)(vectors), np.int64)
        kernel = self.game.kernels.kind if name == "kinds" else self.game.kernels.viewer
        return np.array([kernel(vector) for vector in vectors], np.int64)

    def known_action(self, state: State) -> int | None:
        """Return the best action of a decision, or None if it is not inside the turn."""
        assert isinstance(state, KernelState)
        mover = state.current_player()
        nearly_best = getattr(self._solved, "nearly_best", None)
        if nearly_best is None:
            return self.best(state, mover) if mover >= 0 and self._following(state) is not None else None
        near = nearly_best(state, mover, TIE)
        return self._untied(state, near, mover) if near else None

    def can_value_leaves(self) -> bool:
        """Return whether the evaluator can value every leaf."""
        if self._evaluator is None:
            return not len(self._running)
        return trust_at_chance(self._evaluator) is not NONE or bool((self._kinds[self._running] == DECISION).all())

    def grow(self, kept: NDArray[np.bool_] | None, generation: bool) -> bool:
        """Return True: a solver expands nothing."""
        return True

    def choices(self) -> list[tuple[int, State]]:
        """Return no decisions: a solver does not prune."""
        return []

    def found(self) -> int:
        """Return 0: a solver expands nothing."""
        return 0

    def frontier(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int64]]:
        """Return the leaves to evaluate, and the viewer of each row."""
        if isinstance(self._evaluator, Uniform | Rollout):
            return leaf_batch([], self.game.num_actions, with_states)
        running = KernelStates(self.game, self._leaves.vectors[self._running])
        if not with_states or (self._kinds == DECISION).any():
            return leaf_batch(running, self.game.num_actions, with_states)
        masks = np.zeros((len(running), self.game.num_actions), np.bool_)
        no_observations = np.zeros((len(running), 0), np.float32)
        return LeafBatch(no_observations, masks, running), self._of_leaves("viewers", running.vectors)

    def end(self, values_of: StateNumbers) -> None:
        """Replace the returns of terminal states by these numbers."""
        ends = np.flatnonzero(self._kinds == TERMINAL)
        if len(ends):
            self._values[ends] = values_of(KernelStates(self.game, self._leaves.vectors[ends]))

    def solve(self, values: Vector) -> None:
        """Store the values of the leaves, by player, and solve the turn."""
        if isinstance(self._evaluator, Uniform | Rollout):
            for number, row in enumerate(self._running.tolist()):
                self._values[row] = evaluate_inside(self._evaluator, self._leaves[row], self._seed, number)
        else:
            self._values[self._running] = values
        self._solved = self._solver.solve(self.root, self._values.copy())

    def find(self, state: State) -> State | None:
        """Return the state itself if it is inside the turn or a leaf, else None."""
        assert isinstance(state, KernelState)
        return state if state.key() in self._row or self._following(state) is not None else None

    def _following(self, state: State) -> dict[int, Vector] | None:
        assert self._solved is not None
        assert isinstance(state, KernelState)
        if state.key() in self._row:
            return None
        following = self._solved.action_values(state)
        return None if following is None else dict(sorted(following.items()))

    def state(self, place: State) -> State:
        """Return the state at a place."""
        return place.clone()

    def value(self, place: State) -> Vector:
        """Return the value of a place by player."""
        rolled = self._rolled(place)
        if rolled is None:
            following = self._following(place)
            if following is None:
                leaf: Vector = self._values[self._row[place.key()]].copy()
                return leaf
            if place.kind() != CHANCE:
                return np.array(following[best_label(following, place.current_player())])
            outcomes = place.chance_outcomes()
            rolled = np.array([p for _, p in outcomes]), np.array([following[outcome] for outcome, _ in outcomes])
        terms = rolled[0][:, None] * rolled[1]
        value: Vector = np.cumsum(terms, axis=0)[-1]  # a running sum, as in the planner
        return value

    def _rolled(self, place: State) -> tuple[Vector, Vector] | None:
        """Return probabilities and values of the outcomes of a chance node, if the solver has ``rolled``."""
        assert isinstance(place, KernelState)
        rolled = getattr(self._solved, "rolled", None)
        values: Vector | None = None if rolled is None or place.kind() != CHANCE else rolled(place)
        return None if values is None else (place._outcomes()[2][: len(values)], values)

    def edges(self, place: State) -> list[PlanEdge]:
        """Return the edges of a place, actions ascending; none at a leaf."""
        following = self._following(place)
        if following is None:
            return []
        chances: dict[int, float] = dict(place.chance_outcomes()) if place.kind() == CHANCE else {}
        return [PlanEdge(label, chances.get(label), place.child(label)) for label in chances or following]

    def following(self, place: State) -> dict[int, Vector]:
        """Return the values of the children of a place by label, actions ascending; none at a leaf."""
        return self._following(place) or {}

    def best(self, place: State, mover: int) -> int:
        """Return the mover's best action; the lowest id among equals.

        A solver may sum in another order than the planner. Actions that are equal up to rounding are therefore compared
        by values that are summed as in the planner. The bundled data were generated with these choices.
        """
        following = self.following(place)
        highest = max(float(value[mover]) for value in following.values())
        near = [a for a, value in following.items() if value[mover] >= highest - TIE * (1.0 + abs(highest))]
        return self._untied(place, near, mover)

    def _untied(self, place: State, near: list[int], mover: int) -> int:
        return near[0] if len(near) == 1 else max(near, key=lambda action: self.value(place.child(action))[mover])

    def counts(self) -> dict[str, Any]:
        """Return the counts of ``SearchStats``; nodes is 0 if the solver does not count them."""
        return {"evaluations": len(self._running), "nodes": int(getattr(self._solved, "nodes", 0))}


def starts_of(game: KernelGame, vectors: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the state at which the turn of each state began; None if the game has no such function."""
    starts = getattr(solver_of(game), "starts", None)
    return None if starts is None else np.asarray(starts(vectors), np.int64)


def solver_of(game: KernelGame) -> TurnSolver | None:
    """Return the game's own solver, made once per game; None if it has none."""
    make = game.kernels.turn_solver
    return None if make is None else made_once(game, "turn_solver", lambda: make(game))
