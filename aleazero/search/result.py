"""The result of a search: actions, values, statistics, and the searched tree as JSON and as a DOT drawing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError
from aleazero.games.base import KIND_NAMES
from aleazero.native.random import EXECUTED_MOVE, stream_key
from aleazero.search.config import SearchConfig

DEEPEST_EXPORT = 300
"""Maximum depth of ``SearchResult.tree``."""
ANY_OUTCOME = "(any outcome)"
"""Text of the step after a chance node in open loop, where outcomes share statistics."""


@dataclass(frozen=True)
class SearchResult:
    """Result of a search or of a plan. All values are in units of the game's returns.

    ``actions``, ``visits``, ``q`` and ``priors`` have one entry per action of the root, shape (actions,). At a chance
    root they are empty, and ``outcomes`` is filled instead.
    """

    actions: NDArray[np.int64]
    """Action ids, ascending."""
    visits: NDArray[np.int64]
    """Visits of each action; 0 in a plan."""
    q: NDArray[np.float64]
    """Mean value of each action for the player to move; NaN without visits (in a plan: for a pruned action)."""
    priors: NDArray[np.float64]
    """Prior probability of each action, including Dirichlet noise; in a plan 1 for the best action, else 0."""
    value: NDArray[np.float64]
    """Value of the root by player, shape (players,)."""
    outcomes: list[OutcomeStats]
    """Statistics of each outcome of a chance root."""
    stopped: str | None
    """Reason why the search ended early: interrupted, nodes, evaluations or seconds. None if it did not."""
    config: SearchConfig
    """Settings of the search, with the chance settings that were used."""
    seed: int
    """Seed of the run."""
    position: int
    """64-bit hash of the root's state. ``sample_action`` derives its random stream from seed and position."""
    view: TreeView = field(repr=False)
    """Read access to the searched tree; ``tree`` and ``principal_variation`` use it."""

    @cached_property
    def stats(self) -> SearchStats:
        """Counts of the search and of its tree."""
        return self.view.stats()

    @property
    def simulations(self) -> int:
        """Simulations of a search that were backed up, as in ``stats``, but without reading the whole tree.

        The visits of the stored outcomes of a chance root have another sum: some outcomes are not stored, and outcomes
        that are expanded at once are visited without a simulation.
        """
        return int(self.visits.sum()) if len(self.actions) else self.view.root().visits

    @property
    def evaluations(self) -> int:
        """Number of leaves that were evaluated, as in ``stats``, but without reading the whole tree."""
        return self.view.evaluations()

    def value_after(self, action: int) -> NDArray[np.float64] | None:
        """Return the value of the state after an action of the root (the afterstate, if a chance node follows).

        Args:
            action: id of the action.

        Returns:
            Mean value by player, shape (players,). None if the action has no visits, and in open loop.
        """
        return self.view.value_after(int(action))

    @property
    def expected(self) -> Mapping[str, NDArray[np.float64]]:
        """What the evaluator expects of the end of the game, in a plan with a value network; otherwise empty.

        By name, one number per action (at a chance root: per outcome), for the player that moves or rolls. ``win`` is
        the win probability, where a draw of n players counts 1/n, and ``margin`` the final margin in points. If a win
        can count several points, ``win_2``, ``lose_2``, … are the probabilities to win or lose at least that many.
        """
        return {}

    @property
    def plays(self) -> Sequence[PlayResult]:
        """The plays of the player to move in a plan, the best first, if some of them have several actions.

        A play ends before a roll, before an action of another player, or with the game. Plays that lead to the same
        state are listed once. Empty if every play has one action, in games with one player, and for a search.
        """
        return ()

    @property
    def policy(self) -> NDArray[np.float64]:
        """Share of visits of each action, shape (actions,). Without visits, the priors."""
        total = self.visits.sum()
        return self.visits / total if total else self.priors.copy()

    @property
    def best_action(self) -> int | None:
        """The most visited action; None at a chance root. Ties go to the higher q, then prior, then the lower id."""
        if not len(self.actions):
            return None
        q = np.where(np.isnan(self.q), -np.inf, self.q)
        return int(self.actions[np.lexsort((-self.actions, self.priors, q, self.visits))[-1]])

    def sample_action(self, temperature: float | None = None, seed: int | None = None) -> int:
        """Draw an action with probability proportional to ``visits ** (1 / temperature)``.

        Args:
            temperature: 0 returns ``best_action``; None for the configured temperature.
            seed: seed of the draw; None for the seed of the run. The draw also depends on the position.

        Raises:
            PositionError: the root is a chance node.
            ConfigError: the temperature is negative or not finite.
        """
        temperature = self.config.temperature if temperature is None else temperature
        best = self.best_action
        if best is None:
            raise PositionError("the root is a chance node, expected a decision")
        if not 0 <= temperature < math.inf:
            raise ConfigError(f"temperature is {temperature}, expected a number of at least 0")
        if temperature == 0:
            return best
        weights = (self.policy / self.policy.max()) ** (1.0 / temperature)
        key = stream_key(EXECUTED_MOVE, self.seed if seed is None else seed, self.position)
        return int(np.random.Generator(np.random.Philox(key=key)).choice(self.actions, p=weights / weights.sum()))

    def tree(self, depth: int = 3, top: int | None = None) -> SearchTree:
        """Return the upper levels of the searched tree. Nodes without visits are left out.

        Args:
            depth: number of levels below the root, 0 to 300.
            top: maximum number of children per node, the most visited first; None for all.

        Raises:
            ConfigError: the depth is out of range.
        """
        if not 0 <= depth <= DEEPEST_EXPORT:
            raise ConfigError(f"depth is {depth}, expected 0 to {DEEPEST_EXPORT}")
        return SearchTree(_cut(self.view.root(), depth, top))

    def principal_variation(self) -> list[Step]:
        """Return the principal variation: the most visited steps from the root to a leaf, chance nodes included."""
        steps: list[Step] = []
        node, first = self.view.root(), self.best_action
        while visited := [child for child in node.children() if child.visits]:
            if not steps and first is not None:
                visited = [child for child in visited if child.label == first]
            best = max(visited, key=lambda child: (child.visits, child.probability or child.prior or 0.0, -child.label))
            steps.append(Step(node.kind, node.player, best.label, best.text, best.visits, best.value))
            node = best
        return steps

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary that can be written as JSON."""
        return {
            "actions": self.actions.tolist(),
            "visits": self.visits.tolist(),
            "q": [_finite(value) for value in self.q],
            "priors": self.priors.tolist(),
            "policy": self.policy.tolist(),
            "value": self.value.tolist(),
            "best_action": self.best_action,
            "outcomes": [_fields(outcome) for outcome in self.outcomes],
            "expected": {name: [_finite(x) for x in numbers] for name, numbers in self.expected.items()},
            "plays": [vars(play) | {"actions": list(play.actions)} for play in self.plays],
            "principal_variation": [_fields(step) for step in self.principal_variation()],
            "stopped": self.stopped,
            "stats": vars(self.stats),
            "config": self.config.model_dump(),
        }


def _finite(number: np.float64) -> float | None:
    return None if np.isnan(number) else float(number)


def _fields(record: OutcomeStats | Step) -> dict[str, Any]:
    return {**vars(record), "value": None if record.value is None else record.value.tolist()}


@dataclass(frozen=True)
class OutcomeStats:
    """Statistics of one outcome of a chance root."""

    outcome: int
    """Id of the outcome."""
    probability: float | None
    """Probability of the outcome; None if the game cannot list its outcomes."""
    visits: int
    """Number of visits."""
    value: NDArray[np.float64] | None
    """Mean value by player, shape (players,); None without visits."""


@dataclass(frozen=True)
class PlayResult:
    """A play: one or more actions in a row by the same player."""

    actions: tuple[int, ...]
    """Ids of the actions."""
    text: str
    """The play as text."""
    value: float
    """Value of the state after it for the player to move."""
    expected: Mapping[str, float]
    """What is expected of the end of the game after it, as in ``SearchResult.expected``."""


@dataclass(frozen=True)
class Step:
    """One step of the principal variation: an action, or the most visited outcome of a chance node."""

    kind: int
    """Kind of the node before the step: ``DECISION`` or ``CHANCE``."""
    player: int
    """Player to move; −1 for chance."""
    action: int
    """Id of the action or outcome."""
    text: str
    """The action or outcome as text."""
    visits: int
    """Visits of the node after the step."""
    value: NDArray[np.float64]
    """Mean value by player after the step, shape (players,)."""


@dataclass(frozen=True)
class SearchStats:
    """Counts of a search and of its tree. Counts that do not apply to a plan are 0."""

    simulations: int
    """Simulations that were backed up."""
    evaluations: int
    """Leaves that were evaluated."""
    expansions: int
    """Decision nodes that were expanded."""
    nodes: int
    """Nodes of the tree."""
    depth: int
    """Depth of the deepest leaf, in decisions and chance events."""
    chance_nodes: int
    """Chance nodes of the tree."""
    chance_visits: int
    """Visits of all chance nodes."""
    chance_children: int
    """Outcomes that are stored as children of chance nodes."""
    outcome_counts: dict[int, int]
    """Number of chance nodes by number of stored outcomes."""
    collisions: int
    """Descents that reached a leaf in flight, and were repeated."""
    transient: int
    """Leaves that were evaluated without being stored."""
    blocked: int
    """Visits whose outcome was not stored because of progressive widening."""
    exact_expansions: int
    """Chance nodes whose outcomes were all expanded at once."""
    tree_bytes: int
    """Bytes of the tree in use; 0 for the plain search, which does not count them."""


@dataclass(frozen=True)
class SearchTree:
    """The upper levels of a searched tree, from ``SearchResult.tree``."""

    root: dict[str, Any]
    """Root node as a nested dictionary: label, text, kind, player, visits, value, prior, probability, children."""

    def to_json(self, indent: int | None = 2) -> str:
        """Return the tree as JSON text; ``indent`` as for ``json.dumps``."""
        return json.dumps(self.root, indent=indent, ensure_ascii=False)

    def to_dot(self) -> str:
        """Return the tree as a DOT graph. Decisions are boxes, chance nodes ellipses, terminal states plain text."""
        lines = ["digraph search {", '  node [fontname="Helvetica", fontsize=10];', "  edge [fontsize=9];"]
        _draw(self.root, "n", lines)
        return "\n".join([*lines, "}"])


def _cut(node: TreeNode, depth: int, top: int | None) -> dict[str, Any]:
    children = [child for child in node.children() if child.visits] if depth > 0 else []
    children.sort(key=lambda child: (-child.visits, child.label))
    return {
        "label": node.label,
        "text": node.text,
        "kind": KIND_NAMES[node.kind],
        "player": node.player,
        "visits": node.visits,
        "value": [float(value) for value in node.value],
        "prior": node.prior,
        "probability": node.probability,
        "children": [_cut(child, depth - 1, top) for child in children[:top]],
    }


_SHAPES = {"decision": "box", "chance": "ellipse", "terminal": "plaintext"}


def _draw(node: dict[str, Any], name: str, lines: list[str]) -> None:
    mover = f"player {node['player']}\\n" if node["kind"] == "decision" else ""
    values = ", ".join(f"{value:.3g}" for value in node["value"])
    label = f"{mover}{values}\\n{node['visits']} visits"
    lines.append(f'  {name} [shape={_SHAPES[node["kind"]]}, label="{label}"];')
    for i, child in enumerate(node["children"]):
        _draw(child, f"{name}_{i}", lines)
        share = child["prior"] if child["prior"] is not None else child["probability"]
        text = child["text"].replace("\\", "\\\\").replace('"', '\\"')
        weight = "" if share is None else f"\\n{share:.3g}"
        lines.append(f'  {name} -> {name}_{i} [label="{text}{weight}"];')


class TreeView(Protocol):
    """Read access to a searched tree."""

    def root(self) -> TreeNode:
        """Return the root as a node of the exported tree."""

    def stats(self) -> SearchStats:
        """Return counts of the search and of its tree."""

    def evaluations(self) -> int:
        """Return the number of leaves that were evaluated."""

    def value_after(self, action: int) -> NDArray[np.float64] | None:
        """Return the mean by player after an action of the root; None if it has no visits, and in open loop."""


@dataclass(frozen=True)
class TreeNode:
    """A node of a searched tree, with the action or outcome that leads to it. Children are read on demand."""

    label: int
    """Action or outcome id; −1 at the root."""
    text: str
    kind: int
    player: int
    """Player to move; −1 at a chance node, −4 at a terminal state."""
    visits: int
    value: NDArray[np.float64]
    """Mean value by player, shape (players,)."""
    prior: float | None
    """Prior of the action that leads here; None after an outcome."""
    probability: float | None
    """Probability of the outcome that leads here; None after an action, or if outcomes cannot be listed."""
    children: Callable[[], list[TreeNode]] = field(repr=False)
