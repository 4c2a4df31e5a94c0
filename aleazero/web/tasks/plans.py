"""Exact plans of a turn, as a graph of shared positions or as a list of actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aleazero.games.base import DECISION, KIND_NAMES, State
from aleazero.oracles.oracle import evaluator_of, require_oracle
from aleazero.players.basic import find_move
from aleazero.players.make import make_plan
from aleazero.players.spec import PlayerSpec
from aleazero.search.plan.planner import Planner
from aleazero.search.result import TreeNode
from aleazero.serving.answers import plan_settings
from aleazero.serving.requests import PlanRequest
from aleazero.serving.work import Work
from aleazero.web.tasks.opened import open_game, state_of


def plan_graph(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Plan a position, and return the upper levels of the plan as a graph: each state appears once per level.

    The first level after the root has the best actions; below it, decisions follow the plan and rolls have all
    outcomes. ``width`` limits the states per level; those that the plan reaches most often are kept.
    """
    desk, key, game = open_game(payload, work)
    state = state_of(game, payload)
    state.require_running()
    settings = plan_settings(PlanRequest(game=payload["game"], params=payload["params"]), game, desk.sources)
    desk.prepare()

    def make() -> Planner:
        evaluator, planned = make_plan(PlayerSpec("plan", settings), game)
        return Planner(game, evaluator, solver="generic", max_nodes=desk.limits.nodes, **planned)

    root = desk.engine((key, "plan graph"), make).run(state).view.root()
    desk.begin()
    level = {state.key(): PlanPlace(state, root, "now", 1.0, 1)}
    columns: list[list[dict[str, Any]]] = []
    while level and len(columns) < payload["levels"]:
        below: dict[bytes, PlanPlace] = {}
        found = []
        for place in level.values():
            edges = _plan_edges(place, below, len(columns) == 0, payload["width"])
            found.append((place, edges))
        kept = sorted(below, key=lambda one: -below[one].weight)[: payload["width"]]
        last = len(columns) + 1 == payload["levels"]
        columns.append([place.data([] if last else edges, kept) for place, edges in found])
        level = {one: below[one] for one in kept}
        _name_rolled(list(level.values()))
    return {"columns": columns, "evaluator": settings.get("evaluator", "rollout")}


@dataclass
class PlanPlace:
    """A state of a level of a plan."""

    state: State
    node: TreeNode
    text: str
    weight: float
    """Probability that the plan reaches it; below the root, the same for all shown actions."""
    ways: int
    """Number of states above that lead to it."""

    def data(self, edges: Sequence[tuple[bytes, TreeNode, bool]], kept: Sequence[bytes]) -> dict[str, Any]:
        """Return the place for pages, with its edges to kept places."""
        places = {one: number for number, one in enumerate(kept)}
        return {
            "text": self.text, "kind": KIND_NAMES[self.node.kind], "ways": self.ways,
            "value": [float(value) for value in self.node.value],
            "edges": [{"to": places[one], "text": child.text, "probability": child.probability, "best": best}
                      for one, child, best in edges if one in places],
        }  # fmt: skip


def _name_rolled(places: Sequence[PlanPlace]) -> None:
    """Name the positions after rolls by the words in which they differ: different rolls may lead to the same one."""
    rolled = [place for place in places if place.node.probability is not None]
    words = [place.state.to_text().split() for place in rolled]
    if len({tuple(one) for one in words}) < 2:
        return
    first = next(n for n in range(max(map(len, words))) if len({tuple(one[n : n + 1]) for one in words}) > 1)
    last = next(n for n in range(1, max(map(len, words)) + 1) if len({tuple(one[-n:][:1]) for one in words}) > 1)
    for place, one in zip(rolled, words, strict=True):
        place.text = " ".join(one[first : max(first + 1, len(one) - last + 1)]) or place.text


def _plan_edges(
    place: PlanPlace, below: dict[bytes, PlanPlace], first: bool, width: int
) -> list[tuple[bytes, TreeNode, bool]]:
    """Add the states after a place to those of the next level; return the edges to them."""
    children = place.node.children()
    decides = place.node.kind == DECISION
    if decides and first:
        children = sorted(children, key=lambda child: -child.value[place.node.player])[:width]
    elif decides:
        children = [child for child in children if child.prior == 1.0]
    edges = []
    for child in children:
        after = place.state.child(child.label)
        share = place.weight * (1.0 if decides else child.probability or 0.0)
        if after.key() in below:
            below[after.key()].weight += share
            below[after.key()].ways += 1
        else:
            below[after.key()] = PlanPlace(after, child, child.text, share, 1)
        edges.append((after.key(), child, decides and child.prior == 1.0))
    return edges


def plan_turn(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Return what each action of a position is worth in a plan, and how many afterstates the actions share."""
    desk, key, game = open_game(payload, work)
    state = state_of(game, payload)
    for move in payload["moves"]:
        state.apply_action(find_move(state, move))
    desk.prepare()
    evaluator = desk.engine((key, "turn evaluator"), lambda: evaluator_of(require_oracle(game)))
    planner = desk.engine((key, "turn planner"), lambda: Planner(game, evaluator, horizon="turn"))
    desk.begin()
    result = planner.run(state)
    rows = [(state.action_to_string(int(one)), float(q)) for one, q in zip(result.actions, result.q, strict=True)]
    return {"rows": sorted((row for row in rows if row[1] == row[1]), key=lambda row: -row[1])}
