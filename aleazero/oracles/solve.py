"""``solve``: the exact value of every state of a small game, with or without cycles.

States are found depth first and numbered in postorder, so that successors mostly have smaller numbers. Value iteration
in this order needs one sweep for a game without cycles, and more sweeps only for the edges that close a cycle (in pig,
two lost turns lead back to the same state).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError, PositionError
from aleazero.games.base import CHANCE, DECISION, EXACT, MANY, TERMINAL, Game, State
from aleazero.games.kernel import KernelGame, KernelState

MAX_SWEEPS = 100_000
TIE: Final = 1e-9
"""Actions whose values differ by at most this are equally good."""

Progress = Callable[[str, int], None]
"""Called with ("states", number found so far) and ("sweeps", number done so far)."""


@dataclass(frozen=True)
class Graph:
    """All states of a game in flat arrays. The edges of state i are ``first[i]`` to ``first[i + 1]``."""

    index: dict[bytes, int]
    """Number of a state, by its key."""
    kinds: NDArray[np.int8]
    """(states,)"""
    movers: NDArray[np.int32]
    """(states,) the player to move at decisions; −1 elsewhere."""
    first: NDArray[np.int64]
    """(states + 1,)"""
    actions: NDArray[np.int64]
    """(edges,) the action or outcome."""
    shares: NDArray[np.float64]
    """(edges,) the probability of an outcome; 0 for actions."""
    targets: NDArray[np.int64]
    """(edges,) the number of the next state."""
    returns: NDArray[np.float64]
    """(states, players)"""


class Solution:
    """The exact values of a solved game; also an evaluator that is exact at decisions and afterstates.

    Attributes:
        game: the game.
        graph: all states of the game.
        values: (states, players) the expected return of each player under best play.
        sweeps: number of sweeps of value iteration.
    """

    sees_states = True
    afterstates = EXACT
    decisions = EXACT

    def __init__(self, game: Game, graph: Graph, values: NDArray[np.float64], sweeps: int) -> None:
        self.game = game
        self.graph = graph
        self.values = values
        self.sweeps = sweeps

    @property
    def num_states(self) -> int:
        """Number of states."""
        return len(self.values)

    def value(self, state: State) -> NDArray[np.float64]:
        """Return the expected return (players,) of each player under best play.

        Raises:
            PositionError: the state was not solved.
        """
        return np.array(self.values[self._number(state)])

    def action_values(self, state: State) -> dict[int, NDArray[np.float64]]:
        """Return the expected return (players,) of each player after each action; at a chance node, each outcome.

        Raises:
            PositionError: the state was not solved.
        """
        number = self._number(state)
        edges = range(self.graph.first[number], self.graph.first[number + 1])
        return {int(self.graph.actions[e]): self.values[self.graph.targets[e]].copy() for e in edges}

    def best_actions(self, state: State, tolerance: float = TIE) -> list[int]:
        """Return the actions whose value for the mover is within the tolerance of the best, ascending.

        Raises:
            PositionError: the state is not a decision, or was not solved.
        """
        mover = state.current_player()
        if mover < 0:
            raise PositionError(f"{self.game.name}: {state.to_text()!r} is not a decision, expected one")
        values = {action: float(value[mover]) for action, value in self.action_values(state).items()}
        best = max(values.values())
        return sorted(action for action, value in values.items() if value >= best - tolerance)

    def __call__(self, states: Sequence[State]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return logits and values, as evaluators do."""
        return evaluate_exactly(states, self.value, self.best_actions)

    def _number(self, state: State) -> int:
        number = self.graph.index.get(state.key())
        if number is None:
            raise PositionError(
                f"{self.game.name}: {state.to_text()!r} was not solved, expected a state that play can reach"
            )
        return number


def evaluate_exactly(
    states: Sequence[State],
    value: Callable[[State], NDArray[np.float64]],
    best_actions: Callable[[State], list[int]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return logits (0 for best actions, −30 for others) and values by seat, starting with the viewer."""
    logits = np.full((len(states), states[0].game.num_actions), -30.0)
    for row, state in enumerate(states):
        if state.kind() == DECISION:
            logits[row, best_actions(state)] = 0.0
    return logits, np.array([np.roll(value(state), -state.viewer()) for state in states])


def solve(
    game: Game,
    *,
    start: State | None = None,
    tolerance: float = 1e-12,
    max_states: int = 2_000_000,
    progress: Progress | None = None,
) -> Solution:
    """Solve a game by value iteration over all its states. Each player maximizes their own return.

    Args:
        game: a game whose outcomes are listed.
        start: solve only the states that can follow this state; default: the initial state.
        tolerance: stop when no value changes by more in a sweep. Values within it are ties, which go to the lowest
            action.
        max_states: maximum number of states.
        progress: called with ("states", number found so far) and ("sweeps", number done so far).

    Returns:
        The values of all states.

    Raises:
        GameError: the game has more than ``max_states`` states, its outcomes are too many to list, or its values do not
            converge.
        PositionError: ``start`` is a state of another game.
    """
    if start is not None and start.game is not game and repr(start.game) != repr(game):
        raise PositionError(f"start is a state of {start.game!r}, expected one of {game!r}")
    graph = list_states(game, max_states, progress, start)
    values = graph.returns.copy()
    sweep = _compiled_sweep()
    for sweeps in range(1, MAX_SWEEPS + 1):
        change = sweep(graph.kinds, graph.movers, graph.first, graph.shares, graph.targets, values, tolerance)
        if progress is not None:
            progress("sweeps", sweeps)
        if change <= tolerance:
            return Solution(game, graph, values, sweeps)
    raise GameError(f"{game.name}: values still change by {change:.3g} after {MAX_SWEEPS} sweeps, expected {tolerance}")


def list_states(game: Game, max_states: int, progress: Progress | None = None, start: State | None = None) -> Graph:
    """Return all states that play can reach, numbered so that successors come first except in cycles."""
    expand = _kernel_expander(game) if isinstance(game, KernelGame) else _object_expander(game)
    start = game.new_initial_state() if start is None else start
    names: dict[bytes, int] = {start.key(): 0}  # in order of discovery
    nodes = [expand(start.vector if isinstance(start, KernelState) else start)]
    children: list[list[int]] = [[]]
    order: list[int] = []  # postorder
    stack: list[tuple[int, Iterator[tuple[bytes, Any]]]] = [(0, nodes[0].successors())]
    while stack:
        node, successors = stack[-1]
        for key, successor in successors:
            found = names.get(key)
            if found is None:
                found = len(nodes)
                if found >= max_states:
                    raise GameError(
                        f"{game.name}: more than {max_states} states, expected a smaller game (by its parameters) or, "
                        "in Python, aleazero.solve(game, max_states=N)"
                    )
                names[key] = found
                nodes.append(expand(successor))
                children.append([])
                children[node].append(found)
                stack.append((found, nodes[found].successors()))
                if progress is not None and len(nodes) % 10_000 == 0:
                    progress("states", len(nodes))
                break
            children[node].append(found)
        else:
            order.append(node)
            stack.pop()
    return _flatten(names, nodes, children, order)


@dataclass(slots=True)
class _Node:
    """A state during the search for all states."""

    kind: int
    mover: int
    returns: list[float]
    actions: list[int]
    shares: list[float]
    state: Any
    step: Callable[[Any, int, int], tuple[bytes, Any]]

    def successors(self) -> Iterator[tuple[bytes, Any]]:
        """Yield the key and the state after each action or outcome."""
        state, self.state = self.state, None  # free its memory when done
        for action in self.actions:
            yield self.step(state, self.kind, action)


def _kernel_expander(game: KernelGame) -> Callable[[Any], _Node]:
    """Return a function that calls the kernels directly, about five times as fast as ``State``."""
    kernels, info = game.kernels, game.info
    legal = np.zeros(info.num_actions, np.int64)
    ids, shares = np.zeros(max(1, info.max_outcomes), np.int64), np.zeros(max(1, info.max_outcomes))
    returns = np.zeros(info.num_players)

    def step(vector: Any, kind: int, action: int) -> tuple[bytes, Any]:
        after = vector.copy()
        if kind == CHANCE:
            kernels.apply_outcome(after, action)
        else:
            kernels.apply(after, action)
        return after.tobytes(), after

    def expand(vector: Any) -> _Node:
        kind = int(kernels.kind(vector))
        kernels.returns(vector, returns)
        paid = returns.tolist()
        if kind == DECISION:
            count = int(kernels.legal(vector, legal))
            return _Node(kind, int(kernels.to_play(vector)), paid, legal[:count].tolist(), [], vector, step)
        if kind == TERMINAL:
            return _Node(kind, -1, paid, [], [], vector, step)
        count = int(kernels.outcomes(vector, ids, shares))
        if count == MANY:
            raise GameError(f"{game.name}: its outcomes are too many to list, expected listed outcomes")
        return _Node(kind, -1, paid, ids[:count].tolist(), shares[:count].tolist(), vector, step)

    return expand


def _object_expander(game: Game) -> Callable[[Any], _Node]:
    def step(state: State, kind: int, action: int) -> tuple[bytes, State]:
        after = state.clone()
        after._apply(action)
        return after.key(), after

    def expand(state: State) -> _Node:
        kind = state.kind()
        if kind == CHANCE:
            if not state.outcomes_listed():
                raise GameError(f"{game.name}: its outcomes are too many to list, expected listed outcomes")
            outcomes = state.chance_outcomes()
            return _Node(kind, -1, state.returns(), [o for o, _ in outcomes], [p for _, p in outcomes], state, step)
        return _Node(kind, max(-1, state.current_player()), state.returns(), state.legal_actions(), [], state, step)

    return expand


def _flatten(names: dict[bytes, int], nodes: list[_Node], children: list[list[int]], order: list[int]) -> Graph:
    number = np.empty(len(nodes), np.int64)
    number[order] = np.arange(len(nodes))
    left = [nodes[node] for node in order]
    first = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum([len(node.actions) for node in left], out=first[1:])
    shares = [share for node in left for share in (node.shares or [0.0] * len(node.actions))]
    targets = [child for node in order for child in children[node]]
    return Graph(
        index={key: int(number[node]) for key, node in names.items()},
        kinds=np.array([node.kind for node in left], np.int8),
        movers=np.array([node.mover for node in left], np.int32),
        first=first,
        actions=np.array([action for node in left for action in node.actions], np.int64),
        shares=np.array(shares, np.float64),
        targets=number[np.array(targets, np.int64)] if targets else np.zeros(0, np.int64),
        returns=np.array([node.returns for node in left], np.float64),
    )


def sweep_values(
    kinds: NDArray[np.int8],
    movers: NDArray[np.int32],
    first: NDArray[np.int64],
    shares: NDArray[np.float64],
    targets: NDArray[np.int64],
    values: NDArray[np.float64],
    tie: float,
) -> float:
    """Update the value of each state from its successors, in order, and return the largest change.

    An action replaces an earlier one only if it is better by more than ``tie``.
    """
    largest = 0.0
    players = values.shape[1]
    for state in range(len(kinds)):
        if kinds[state] == TERMINAL:
            continue
        if kinds[state] == CHANCE:
            for player in range(players):
                mean = 0.0
                for edge in range(first[state], first[state + 1]):
                    mean += shares[edge] * values[targets[edge], player]
                largest = max(largest, abs(mean - values[state, player]))
                values[state, player] = mean
        else:
            mover = movers[state]
            best = targets[first[state]]
            for edge in range(first[state] + 1, first[state + 1]):
                if values[targets[edge], mover] > values[best, mover] + tie:
                    best = targets[edge]
            for player in range(players):
                largest = max(largest, abs(values[best, player] - values[state, player]))
                values[state, player] = values[best, player]
    return largest


def _compiled_sweep() -> Callable[..., float]:
    from aleazero.native.compile import cached_njit, made_once  # here, because it imports numba

    return cast(Callable[..., float], made_once(None, sweep_values, lambda: cached_njit()(sweep_values)))
