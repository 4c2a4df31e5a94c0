"""A plan: the exact values of all states within a horizon of one root."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import CHANCE, DECISION, State
from aleazero.games.game_dice import roller_of
from aleazero.games.kit import play_text
from aleazero.search.config import SearchConfig
from aleazero.search.group import LeafBatch
from aleazero.search.result import OutcomeStats, PlayResult, SearchResult, SearchStats, TreeNode
from aleazero.search.root import same_game

Vector = NDArray[np.float64]
StateNumbers = Callable[[Sequence[State]], Vector]
"""A function from states to n numbers of each, (states, n)."""


class OutcomeDescriber(Protocol):
    """An evaluator that expects more of the end of the game than a value, e.g. a value network."""

    def columns(self, states: Sequence[State]) -> Vector:
        """Return numbers whose expectations have a meaning, (states, n)."""

    def describe(self, columns: Vector, player: int) -> dict[str, Vector]:
        """Return what rows of such numbers mean to a player, by name, (rows,) each; empty if nothing."""


class PlanEdge(NamedTuple):
    """An action or outcome inside a plan, and the place it leads to."""

    label: int
    probability: float | None
    """None at a decision."""
    place: Any


class PlanGraph(Protocol):
    """The graph that a plan reads: arrays, Python objects, or a turn solved by the game's own solver.

    A *place* is one of its nodes: a number, a node object or a state.
    """

    def find(self, state: State) -> Any:
        """Return the place of a state (that with the lowest layer, if there are several), or None."""

    def state(self, place: Any) -> State:
        """Return the state at a place."""

    def value(self, place: Any) -> Vector:
        """Return the value of a place by player."""

    def edges(self, place: Any) -> list[PlanEdge]:
        """Return the edges of a place, actions ascending; none on the frontier."""

    def following(self, place: Any) -> dict[int, Vector]:
        """Return the values of the children of a place by label, actions ascending; none on the frontier."""

    def best(self, place: Any, mover: int) -> int:
        """Return the mover's best action; the lowest id among equals."""

    def counts(self) -> dict[str, Any]:
        """Return the counts of ``SearchStats`` that are known."""


class GrowingGraph(PlanGraph, Protocol):
    """The graph of a plan while it is built, in lock-step with others."""

    def grow(self, kept: NDArray[np.bool_] | None, generation: bool) -> bool:
        """Expand to the end, or only the nodes found so far; return whether all is expanded.

        ``kept`` (nodes found and not yet expanded, actions) masks the actions of those nodes.
        """

    def choices(self) -> list[tuple[int, State]]:
        """Return the decisions that pruning applies to, among nodes not yet expanded, by row of ``kept``."""

    def found(self) -> int:
        """Return the number of nodes that are found and not yet expanded."""

    def frontier(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int64]]:
        """Return the leaves to evaluate, and the viewer of each row; no rows if the evaluator is not external."""

    def end(self, values_of: StateNumbers) -> None:
        """Replace the returns of terminal states by these numbers; ``solve`` comes next."""

    def solve(self, values: Vector) -> None:
        """Store the values of the frontier, by player, and value all other nodes."""


class Plan:
    """Exact values of all states within a horizon of one root, made by ``Planner.plan``.

    One plan answers every decision of a turn. Values of states at the end of the plan come from the evaluator, or are
    the returns of terminal states. Methods raise ``PositionError`` for a state that the plan does not contain.

    Attributes:
        root: the state from which the plan was made.
    """

    def __init__(
        self,
        root: State,
        graph: PlanGraph,
        actions: Sequence[int] | None = None,
        describer: OutcomeDescriber | None = None,
    ) -> None:
        self.root = root
        self._graph = graph
        self._describer = describer
        self._allowed = None if actions is None else list(actions)

    def action(self, state: State) -> int:
        """Return the best action for the player to move; the lowest id among equals.

        Args:
            state: a decision inside the plan.

        Raises:
            PositionError: the state is not a decision inside the plan.
        """
        self._inside(state)
        if state.kind() != DECISION:
            raise PositionError(f"{state.game.name}: nobody decides in {state.to_text()!r}, expected a decision")
        return self._graph.best(self._find(state), state.current_player())

    def action_within(self, state: State) -> int | None:
        """Return the best action at a decision, or None if the plan does not contain it. Faster than ``action``."""
        if hasattr(self._graph, "known_action"):
            known: int | None = self._graph.known_action(state)
            return known
        try:
            return self.action(state)
        except PositionError:
            return None

    def value(self, state: State) -> Vector:
        """Return the value of a state by player, shape (players,)."""
        return self._graph.value(self._find(state))

    def action_values(self, state: State) -> dict[int, Vector]:
        """Return the values after each action of a decision, or after each outcome of a chance node.

        Args:
            state: a decision or chance node inside the plan.

        Returns:
            Value by player, shape (players,), for each action or outcome id. Pruned actions are left out.

        Raises:
            PositionError: the state is not inside the plan.
        """
        return self._inside(state)

    def expected(self, state: State, numbers_of: StateNumbers) -> dict[int, Vector]:
        """Return expectations of other quantities after each action or outcome, if the best actions follow.

        Args:
            state: a decision or chance node inside the plan.
            numbers_of: function from the states at the end of the plan to n numbers each, shape (states, n).

        Returns:
            Expectation of the numbers, shape (n,), for each action or outcome id.
        """
        places = {edge.label: edge.place for edge in self._graph.edges(self._find(state))}
        return expectations(self._graph, places, numbers_of)

    def expected_at(self, state: State, numbers_of: StateNumbers) -> Vector:
        """Return expectations of other quantities at a state inside the plan, if the best actions follow.

        Args:
            state: any state of the plan.
            numbers_of: function from the states at the end of the plan to n numbers each, shape (states, n).

        Returns:
            Expectation of the numbers, shape (n,).
        """
        return expectations(self._graph, {0: self._find(state)}, numbers_of)[0]

    def swings(self, state: State) -> dict[int, float]:
        """Return the standard deviation of the value over the outcomes of the chance node after each action.

        Args:
            state: a decision inside the plan.

        Returns:
            Standard deviation of the value for the player to move, by action. Actions without a chance node after them
            are left out.
        """
        mover, found = state.current_player(), {}
        for edge in self._graph.edges(self._find(state)):
            after = [(e.probability, self._graph.value(e.place)[mover]) for e in self._graph.edges(edge.place)]
            if after and after[0][0] is not None:
                chances, values = np.array(after, np.float64).T
                mean = float(chances @ values)
                found[edge.label] = math.sqrt(max(0.0, float(chances @ (values - mean) ** 2)))
        return found

    def result(self, state: State | None = None) -> SearchResult:
        """Return the plan at one state in the form of a search result.

        Args:
            state: a decision or chance node inside the plan; None for the root.

        Returns:
            A result without visits, whose priors (and policy) are 1 for the best action.

        Raises:
            PositionError: the state is not inside the plan.
        """
        state = self.root if state is None else state
        values = self._inside(state)
        place = self._find(state)
        mover = state.current_player()
        actions = self._actions(state)
        best = self._graph.best(place, mover) if mover >= 0 else None
        edges = self._graph.edges(place) if state.kind() == CHANCE else []
        return PlanResult(
            seed=0,
            position=0,
            actions=np.array(actions, np.int64),
            visits=np.zeros(len(actions), np.int64),
            q=np.array([values[a][mover] if a in values else np.nan for a in actions], np.float64),
            priors=np.array([float(a == best) for a in actions], np.float64),
            value=self._graph.value(place),
            outcomes=[OutcomeStats(edge.label, edge.probability, 0, values[edge.label]) for edge in edges],
            stopped=None,
            config=SearchConfig(),
            view=PlanView(self._graph, place),
            graph=self._graph,
            place=place,
            state=state,
            describer=self._describer,
        )

    def stats(self) -> SearchStats:
        """Return counts of the plan. Counts that only apply to searches are 0."""
        return PlanView(self._graph, None).stats()

    def _actions(self, state: State) -> list[int]:
        if state.kind() != DECISION:
            return []
        if self._allowed is not None and state.key() == self.root.key():
            return self._allowed
        return state.legal_actions()

    def _find(self, state: State) -> Any:
        if not same_game(state.game, self.root.game):
            raise PositionError(f"the state belongs to {state.game!r}, expected a state of {self.root.game!r}")
        place = self._graph.find(state)
        if place is None:
            raise PositionError(
                f"{state.game.name}: {state.to_text()!r} is not in this plan, expected a state that can be reached "
                f"from its root within the horizon"
            )
        return place

    def _inside(self, state: State) -> dict[int, Vector]:
        """Return the values of the children of a state inside the horizon, by label."""
        following = self._graph.following(self._find(state))
        if not following:
            raise PositionError(
                f"{state.game.name}: {state.to_text()!r} is at the end of this plan, expected a state inside the "
                f"horizon: make a new plan from this state"
            )
        return following


def best_label(following: Mapping[int, Vector], mover: int) -> int:
    """Return the mover's best action; the lowest id among equals."""
    return max(following, key=lambda action: following[action][mover])


@dataclass(frozen=True)
class PlanResult(SearchResult):
    """The result of a plan at one of its states."""

    graph: PlanGraph = field(repr=False)
    place: Any = field(repr=False)
    state: State = field(repr=False)
    describer: OutcomeDescriber | None = field(repr=False)

    @cached_property
    def expected(self) -> Mapping[str, Vector]:
        """What the evaluator expects of the end of the game, see ``SearchResult.expected``."""
        places = {edge.label: edge.place for edge in self.graph.edges(self.place)}
        labels = [outcome.outcome for outcome in self.outcomes] or self.actions.tolist()
        return self._describe(places, labels)

    @cached_property
    def plays(self) -> Sequence[PlayResult]:
        """The plays, the best first, if some of them have several actions; see ``SearchResult.plays``."""
        found = self._play_ends() if self.state.kind() == DECISION and self.state.game.num_players > 1 else {}
        if not any(len(actions) > 1 for actions in found):
            return ()
        mover = self.state.current_player()
        values = [float(self.graph.value(place)[mover]) for place in found.values()]
        expected = self._describe(dict(enumerate(found.values())), range(len(found)))
        plays = [
            PlayResult(
                actions, play_text(self.state, actions), value, {name: float(n[row]) for name, n in expected.items()}
            )
            for row, (actions, value) in enumerate(zip(found, values, strict=True))
        ]
        return sorted(plays, key=lambda play: (-play.value, play.actions))

    def _play_ends(self) -> dict[tuple[int, ...], Any]:
        """Return the places after the plays, by their actions; each place once."""
        mover, seen = self.state.current_player(), set()
        found: dict[tuple[int, ...], Any] = {}
        waiting: deque[tuple[tuple[int, ...], Any]] = deque([((), self.place)])
        while waiting:
            before, place = waiting.popleft()
            for edge in self.graph.edges(place):
                if _name(edge.place) in seen:
                    continue
                seen.add(_name(edge.place))
                actions, state = (*before, edge.label), self.graph.state(edge.place)
                if state.kind() == DECISION and state.current_player() == mover and self.graph.edges(edge.place):
                    waiting.append((actions, edge.place))
                else:
                    found[actions] = edge.place
        return found

    def _describe(self, places: Mapping[int, Any], labels: Sequence[int]) -> dict[str, Vector]:
        """Return what is expected at some places; NaN for labels without a place, which were pruned."""
        if self.describer is None or not places:
            return {}
        known = expectations(self.graph, places, self.describer.columns)
        blank = np.full_like(next(iter(known.values())), np.nan)
        rows = np.array([known.get(label, blank) for label in labels])
        roller = roller_of(self.state)
        return self.describer.describe(rows, self.state.current_player() if roller is None else max(0, roller))


class PlanView:
    """A plan as a tree, for ``SearchResult``. States that are reached in several ways appear several times."""

    def __init__(self, graph: PlanGraph, place: Any) -> None:
        self._graph, self._place = graph, place

    def root(self) -> TreeNode:
        """Return the root as a node of the exported tree."""
        return self._export(-1, "", self._place, None, None)

    def stats(self) -> SearchStats:
        """Return counts of the plan. Counts that only apply to searches are 0."""
        blank: dict[str, Any] = {field.name: 0 for field in fields(SearchStats)}
        return SearchStats(**{**blank, "outcome_counts": {}, **self._graph.counts()})

    def evaluations(self) -> int:
        """Return the number of leaves that were evaluated."""
        return self.stats().evaluations

    def value_after(self, action: int) -> NDArray[np.float64] | None:
        """Return the exact value by player after an action of the root; None if there is no such action."""
        found = [edge.place for edge in self._graph.edges(self._place) if edge.label == action]
        return np.array(self._graph.value(found[0])) if found else None

    def _export(self, label: int, text: str, place: Any, prior: float | None, probability: float | None) -> TreeNode:
        state = self._graph.state(place)
        return TreeNode(
            label=label,
            text=text,
            kind=state.kind(),
            player=state.current_player(),
            visits=1,  # exported trees leave out nodes without visits
            value=self._graph.value(place),
            prior=prior,
            probability=probability,
            children=partial(self._children, state, place),
        )

    def _children(self, state: State, place: Any) -> list[TreeNode]:
        edges = self._graph.edges(place)
        if not edges:
            return []
        chance = state.kind() == CHANCE
        best = None if chance else self._graph.best(place, state.current_player())
        return [
            self._export(
                edge.label,
                state.action_to_string(edge.label),
                edge.place,
                None if best is None else float(edge.label == best),
                edge.probability,
            )
            for edge in edges
        ]


def expectations(graph: PlanGraph, roots: Mapping[int, Any], numbers_of: StateNumbers) -> dict[int, Vector]:
    """Return the expectations of numbers at each of some places, if the plan is followed."""
    ways: dict[Any, list[tuple[float, Any]]] = {}
    waiting, ends = list(roots.values()), {}
    while waiting:
        here = waiting.pop()
        if _name(here) not in ways:
            ways[_name(here)] = found = _ways(graph, here)
            waiting += [child for _, child in found]
            if not found:
                ends[_name(here)] = graph.state(here)
    known: dict[Any, Vector] = dict(zip(ends, numbers_of(list(ends.values())), strict=True))
    names = [_name(root) for root in roots.values()]
    while names:  # a place waits until all places after it are known
        name = names[-1]
        unknown = [_name(child) for _, child in ways[name] if _name(child) not in known]
        if name in known or not unknown:
            names.pop()
        if name not in known:
            names += unknown
            if not unknown:
                known[name] = np.sum([share * known[_name(child)] for share, child in ways[name]], axis=0)
    return {label: known[_name(root)] for label, root in roots.items()}


def _name(place: Any) -> Any:
    """Return a key that equal places share."""
    return place.key() if isinstance(place, State) else place


def _ways(graph: PlanGraph, place: Any) -> list[tuple[float, Any]]:
    """Return the next places and their probabilities: by the best action, or by chance; none at the plan's end."""
    edges = graph.edges(place)
    if not edges or edges[0].probability is not None:
        return [(edge.probability or 0.0, edge.place) for edge in edges]
    best = graph.best(place, graph.state(place).current_player())
    return [(1.0, edge.place) for edge in edges if edge.label == best]
