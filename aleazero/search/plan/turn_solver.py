"""A game's own solver of turns: faster than the planner, and equal to it.

A kernel game's module may define ``turn_solver(game) -> TurnSolver``. The planner then uses it for ``horizon="turn"``
without pruning, wherever the evaluator may be asked at all the solver's leaves. It must equal the planner: whoever
writes one tests it against ``Planner(game, …, solver="generic")``.
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
"""Actions whose values differ by less, as a share of 1 plus the value, may tie but for rounding."""


class SolvedTurn(Protocol):
    """What a turn solver found."""

    def action_values(self, state: KernelState) -> dict[int, Vector] | None:
        """By action (at a chance node: by outcome) the value of what follows, by player.

        None for a state that is not inside the turn, such as a leaf.
        It may have ``nearly_best(state, mover, tie) -> actions``, ascending: a decision's actions whose value is within
        ``tie``·(1 + the best) of the best; none for a state that is not a decision inside the turn.
        And ``rolled(state)``: the values (outcomes, players) behind a roll inside the turn, in the order of
        ``outcomes``; None elsewhere.
        """


class TurnSolver(Protocol):
    """Solves the turns of one game.

    It may have ``starts(vectors) -> vectors``: by state (rows, state size) the one that its turn began from; and
    ``kinds(vectors)``, ``viewers(vectors)``: those of leaves, all at once.
    """

    def leaves(self, state: KernelState) -> NDArray[np.int64]:
        """Where the turn that a state is in can end, as state vectors (leaves, state size), none twice.

        These are the terminal states, and the first states past the turn, as ``horizon="turn"`` has them.
        """

    def solve(self, state: KernelState, values: Vector) -> SolvedTurn:
        """Solve the rest of the turn from a state, given the values (leaves, players) of its leaves."""


class SolverGraph:
    """A turn solved by the game's own solver, as a plan reads it; a place is a state."""

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
        self._asked = np.flatnonzero(self._kinds != TERMINAL)
        self._values = np.zeros((len(vectors), self.game.num_players))
        for row in np.flatnonzero(self._kinds == TERMINAL).tolist():
            self._values[row] = self._leaves[row].returns()
        self._solved: SolvedTurn | None = None

    @cached_property
    def _row(self) -> dict[bytes, int]:
        """By a leaf's bytes its number."""
        return {vector.tobytes(): row for row, vector in enumerate(self._leaves.vectors)}

    def _of_leaves(self, what: Literal["kinds", "viewers"], vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """The kinds or viewers of leaves: all at once where the solver can, else one by one."""
        if hasattr(self._solver, what):
            return np.asarray(getattr(self._solver, what)(vectors), np.int64)
        tell_one = self.game.kernels.kind if what == "kinds" else self.game.kernels.viewer
        return np.array([tell_one(vector) for vector in vectors], np.int64)

    def known_action(self, state: State) -> int | None:
        """The best action of a decision, or None outside of the turn."""
        assert isinstance(state, KernelState)
        mover = state.current_player()
        nearly_best = getattr(self._solved, "nearly_best", None)
        if nearly_best is None:
            return self.best(state, mover) if mover >= 0 and self._following(state) is not None else None
        near = nearly_best(state, mover, TIE)
        return self._untied(state, near, mover) if near else None

    def answerable(self) -> bool:
        """Whether the evaluator may be asked at every leaf."""
        if self._evaluator is None:
            return not len(self._asked)
        return trust_at_chance(self._evaluator) is not NONE or bool((self._kinds[self._asked] == DECISION).all())

    def grow(self, kept: NDArray[np.bool_] | None, generation: bool) -> bool:
        """Nothing is left to expand."""
        return True

    def choices(self) -> list[tuple[int, State]]:
        """A solver does not prune."""
        return []

    def found(self) -> int:
        """Nothing is left to expand."""
        return 0

    def frontier(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int64]]:
        """What the evaluator is to be asked, and whose view each row takes."""
        if isinstance(self._evaluator, Uniform | Rollout):
            return leaf_batch([], self.game.num_actions, with_states)
        asked = KernelStates(self.game, self._leaves.vectors[self._asked])
        if not with_states or (self._kinds == DECISION).any():
            return leaf_batch(asked, self.game.num_actions, with_states)
        masks = np.zeros((len(asked), self.game.num_actions), np.bool_)
        seen = np.zeros((len(asked), 0), np.float32)
        viewers = self._of_leaves("viewers", asked.vectors)
        return LeafBatch(seen, masks, asked), viewers

    def end(self, values_of: StateNumbers) -> None:
        """Take what ends of the game are worth by this, instead of their returns."""
        ends = np.flatnonzero(self._kinds == TERMINAL)
        if len(ends):
            self._values[ends] = values_of(KernelStates(self.game, self._leaves.vectors[ends]))

    def solve(self, values: Vector) -> None:
        """Take the leaves' values, by player, and solve the turn."""
        if isinstance(self._evaluator, Uniform | Rollout):
            for number, row in enumerate(self._asked.tolist()):
                self._values[row] = evaluate_inside(self._evaluator, self._leaves[row], self._seed, number)
        else:
            self._values[self._asked] = values
        self._solved = self._solver.solve(self.root, self._values.copy())

    def find(self, state: State) -> State | None:
        """The state itself, if it is inside the turn or at its end."""
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
        """The state at a place."""
        return place.clone()

    def value(self, place: State) -> Vector:
        """The value of a place, by player."""
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
        value: Vector = np.cumsum(terms, axis=0)[-1]  # one after the other, as the planner sums
        return value

    def _rolled(self, place: State) -> tuple[Vector, Vector] | None:
        """Probabilities and values behind a roll inside the turn, where the solver tells them in their order."""
        assert isinstance(place, KernelState)
        rolled = getattr(self._solved, "rolled", None)
        values: Vector | None = None if rolled is None or place.kind() != CHANCE else rolled(place)
        return None if values is None else (place._outcomes()[2][: len(values)], values)

    def edges(self, place: State) -> list[PlanEdge]:
        """What follows a place, actions ascending; nothing at a leaf."""
        following = self._following(place)
        if following is None:
            return []
        chances: dict[int, float] = dict(place.chance_outcomes()) if place.kind() == CHANCE else {}
        return [PlanEdge(label, chances.get(label), place.child(label)) for label in chances or following]

    def following(self, place: State) -> dict[int, Vector]:
        """The values of what follows a place, by label, actions ascending; nothing at a leaf."""
        return self._following(place) or {}

    def best(self, place: State, mover: int) -> int:
        """The mover's best action; the lowest id among equals.

        A solver may sum in an order of its own, so actions that all but tie are compared by values summed as the
        planner sums. Sets that ship were made by such choices.
        """
        following = self.following(place)
        highest = max(float(value[mover]) for value in following.values())
        near = [a for a, value in following.items() if value[mover] >= highest - TIE * (1.0 + abs(highest))]
        return self._untied(place, near, mover)

    def _untied(self, place: State, near: list[int], mover: int) -> int:
        return near[0] if len(near) == 1 else max(near, key=lambda action: self.value(place.child(action))[mover])

    def counts(self) -> dict[str, Any]:
        """What ``SearchStats`` tells of it: a solver need not count its nodes."""
        return {"evaluations": len(self._asked), "nodes": int(getattr(self._solved, "nodes", 0))}


def starts_of(game: KernelGame, vectors: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """By state the one that its turn began from; None where the game cannot say."""
    starts = getattr(solver_of(game), "starts", None)
    return None if starts is None else np.asarray(starts(vectors), np.int64)


def solver_of(game: KernelGame) -> TurnSolver | None:
    """Return the game's own solver, made once per game; None if it has none."""
    make = game.kernels.turn_solver
    return None if make is None else made_once(game, "turn_solver", lambda: make(game))
