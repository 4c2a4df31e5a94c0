"""A game whose state vector contains its own tree: write a small tree, search it, compare with hand arithmetic.

All trees of the same number of players and utility range are positions of one game, so they share one compiled
search. A tree is built from nested descriptions::

    root = decision(0, {0: terminal(1, -1), 1: chance([(7, 3, terminal(-1, 1)), (9, 1, terminal(0, 0))])}, "r")
    game = tree_game(players=2, utility=(-1.0, 1.0))
    state = start(game, root)

A node used twice in the description is one node of the game. Number 0 of the vector is the start of the record of
the current node; the records of all nodes follow. A record is a header (kind, player, number of children, name, returns
in thousandths) followed by its children: (action, record) pairs, or (outcome, weight, record) triples.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from aleazero.games.base import CHANCE, DECISION, ESTIMATE, NONE, TERMINAL, GameInfo, Trust
from aleazero.games.kernel import KernelGame, KernelState

PLAYERS = 2
MOST_PLAYERS = 4
ACTIONS = 8
MOST_OUTCOMES = 300
STATE_SIZE = 1024
UNIT = 1000
"""Returns are stored as integer multiples of 1/UNIT."""

# A record: kind, player (to move; at a chance node, the last to act), number of children, name, returns, children.
KIND, PLAYER, COUNT, NAME, RETURN = 0, 1, 2, 3, 4
HEADER = RETURN + MOST_PLAYERS

ILLEGAL_LOGIT = 50.0
"""Logit of illegal actions in ``Scripted``: it would dominate if the search read it."""


# The kernels.


def describe(players: int = 2, utility: tuple[float, float] | None = (-1.0, 1.0)) -> GameInfo:
    """Trees for this many players, whose returns are in the utility range (None: no bound)."""
    return GameInfo(
        name="tree",
        num_players=players,
        num_actions=ACTIONS,
        max_outcomes=MOST_OUTCOMES,
        utility=utility,
        state_size=STATE_SIZE,
        state_dtype="int32",
        observation_size=2,
        observation_schema="tree-1",
        constants={"PLAYERS": players},
    )


def kind(state: Any) -> int:
    """The kind of the current node."""
    return state[state[0] + KIND]


def to_play(state: Any) -> int:
    """The mover; at a chance node the player who acted last; 0 at the end."""
    return state[state[0] + PLAYER]


def viewer(state: Any) -> int:
    """The mover; at a chance node the player who acted last."""
    return state[state[0] + PLAYER]


def legal(state: Any, out: Any) -> int:
    """The actions of the current record, which are stored in ascending order."""
    node = state[0]
    count = state[node + COUNT]
    for i in range(count):
        out[i] = state[node + HEADER + 2 * i]
    return count


def apply(state: Any, action: int) -> None:
    """Go to the child after an action."""
    node = state[0]
    for i in range(state[node + COUNT]):
        if state[node + HEADER + 2 * i] == action:
            state[0] = state[node + HEADER + 2 * i + 1]
            return


def outcomes(state: Any, ids: Any, probabilities: Any) -> int:
    """Outcomes in the given order, with probability weight / sum of weights."""
    node = state[0]
    count = state[node + COUNT]
    total = 0
    for i in range(count):
        total += state[node + HEADER + 3 * i + 1]
    for i in range(count):
        ids[i] = state[node + HEADER + 3 * i]
        probabilities[i] = state[node + HEADER + 3 * i + 1] / total
    return count


def apply_outcome(state: Any, outcome: int) -> None:
    """Go to the child after an outcome."""
    node = state[0]
    for i in range(state[node + COUNT]):
        if state[node + HEADER + 3 * i] == outcome:
            state[0] = state[node + HEADER + 3 * i + 2]
            return


def returns(state: Any, out: Any) -> None:
    """The returns in the description of the current node; 0 if it has none."""
    for player in range(PLAYERS):
        out[player] = state[state[0] + RETURN + player] / UNIT


def observe(state: Any, player: int, out: Any) -> None:
    """The start of the current record, and the player."""
    out[0] = state[0]
    out[1] = player


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a tree; make one with ``decision``, ``chance`` or ``terminal``."""

    kind: int
    player: int
    """−1 at a chance node if the actor is the last player who decided above it."""
    edges: tuple[tuple[int, ...], ...] = ()
    """(action,) or (outcome, weight), in the order of ``children``."""
    children: tuple[Node, ...] = ()
    name: str = ""
    returns: tuple[float, ...] = ()


def decision(player: int, children: Mapping[int, Node], name: str = "", interim: Sequence[float] = ()) -> Node:
    """Return a decision of a player; ``interim`` are the returns so far."""
    ordered = sorted(children.items())
    edges = tuple((action,) for action, _ in ordered)
    return Node(DECISION, player, edges, tuple(node for _, node in ordered), name, tuple(interim))


def chance(
    children: Sequence[tuple[int, int, Node]], name: str = "", interim: Sequence[float] = (), actor: int = -1
) -> Node:
    """Return a chance node with (outcome, weight, child); ``actor`` acted last (default: the last to decide, or 0)."""
    edges = tuple((outcome, weight) for outcome, weight, _ in children)
    return Node(CHANCE, actor, edges, tuple(node for _, _, node in children), name, tuple(interim))


def terminal(*values: float) -> Node:
    """Return a terminal node with one return per player."""
    return Node(TERMINAL, 0, returns=values)


def encode(root: Node) -> np.ndarray:
    """Return the state vector of the root of a tree."""
    places: dict[Node, int] = {}
    actors: dict[Node, int] = {}
    size = 1

    def place(node: Node, actor: int) -> None:
        nonlocal size
        actor = actor if node.kind == CHANCE and node.player < 0 else node.player
        if actors.setdefault(node, actor) != actor:
            raise ValueError(f"chance node {node.name!r} is shared by different actors; name one")
        if node in places:
            return
        places[node] = size
        size += HEADER + sum(len(edge) + 1 for edge in node.edges)
        for child in node.children:
            place(child, actor)

    place(root, 0)
    if size > STATE_SIZE:
        raise ValueError(f"the tree takes {size} words, expected at most {STATE_SIZE}")
    vector = np.zeros(STATE_SIZE, np.int64)
    vector[0] = places[root]
    for node, at in places.items():
        scaled = [value * UNIT for value in node.returns]
        if any(abs(value - round(value)) > 1e-6 for value in scaled):
            raise ValueError(f"returns {node.returns} are no multiples of 1/{UNIT}")
        words = [node.kind, actors[node], len(node.edges), int.from_bytes(node.name.encode("ascii"), "big")]
        words += [round(value) for value in scaled] + [0] * (MOST_PLAYERS - len(scaled))
        for edge, child in zip(node.edges, node.children, strict=True):
            words += [*edge, places[child]]
        vector[at : at + len(words)] = words
        assert abs(vector).max() < 2**31, "names have at most 4 letters"
    return vector


@cache
def tree_game(players: int = 2, utility: tuple[float, float] | None = (-1.0, 1.0)) -> KernelGame:
    """Return the game whose positions are trees; the same object for the same arguments."""
    return KernelGame(sys.modules[__name__], {"players": players, "utility": utility})


def start(game: KernelGame, root: Node) -> KernelState:
    """Return the root of a tree as a state of the game."""
    return game.state_from_vector(encode(root))


def name_of(state: KernelState) -> str:
    """Return the name of the current node of a state."""
    code = int(state.vector[state.vector[0] + NAME])
    return code.to_bytes(4, "big").lstrip(b"\0").decode("ascii")


@dataclass(eq=False)
class Scripted:
    """An evaluator with a script: node name → (priors by action or None for equal priors, values BY PLAYER).

    ``asked`` has the names of the nodes of every batch, in order.
    """

    script: Mapping[str, tuple[Mapping[int, float] | None, Sequence[float]]]
    afterstates: Trust = NONE
    decisions: Trust = ESTIMATE
    sees_states: bool = True
    asked: list[list[str]] = field(default_factory=list)

    def __call__(self, states: Sequence[KernelState]) -> tuple[np.ndarray, np.ndarray]:
        self.asked.append([name_of(state) for state in states])
        logits = np.full((len(states), ACTIONS), ILLEGAL_LOGIT)
        values = np.zeros((len(states), states[0].game.num_players))
        for row, state in enumerate(states):
            priors, by_player = self.script[name_of(state)]
            if not state.is_chance_node():
                for action in state.legal_actions():
                    prior = 1.0 if priors is None else priors[action]
                    logits[row, action] = math.log(prior) if prior > 0 else -math.inf
            for seat in range(len(by_player)):
                values[row, seat] = by_player[(state.viewer() + seat) % len(by_player)]
        return logits, values
