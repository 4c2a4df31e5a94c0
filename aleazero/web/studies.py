"""Tasks of the pages that take time: searches with all settings, plans, exact values, hints and judgements.

They run in the worker processes for searches, and use the games and searches that those processes keep.
"""

from __future__ import annotations

import heapq
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from aleazero.errors import AleaZeroError, ConfigError
from aleazero.files import without_nan
from aleazero.games.base import DECISION, KIND_NAMES, Game, State
from aleazero.games.kit import play_text
from aleazero.oracles.oracle import evaluator_of, oracle_of, require_oracle
from aleazero.players.basic import find_move
from aleazero.players.champions import champion_of
from aleazero.players.make import make_plan, make_player, read_evaluator
from aleazero.players.spec import PlayerSpec
from aleazero.search.config import SearchConfig
from aleazero.search.plan.planner import Planner
from aleazero.search.result import SearchResult, TreeNode
from aleazero.search.search import Search
from aleazero.serving.answers import plan_settings
from aleazero.serving.desk import Desk
from aleazero.serving.judge import Judge, make_judge
from aleazero.serving.ledger import Decision, Ledger, ledger_of
from aleazero.serving.requests import GameRequest, Limits, PlanRequest
from aleazero.serving.review import Scale
from aleazero.serving.session import Session
from aleazero.serving.session_file import read_studied
from aleazero.serving.workers import Work

MOST_GAMES: Final = 400
"""Games of a match in a lesson."""
MOST_WORST: Final = 12
"""Worst decisions that a review lists."""
JUDGE_SIMULATIONS: Final = 200
"""Simulations of the judge of games without exact values and bundled network. A page should not wait for it."""


def _desk(payload: Mapping[str, Any], work: Work) -> tuple[Desk, Any, Game]:
    desk = Desk(payload["sources"], payload["limits"], work)
    key, game = desk.game(GameRequest(request="study", game=payload["game"], params=payload["params"]))
    return desk, key, game


def _state(game: Game, payload: Mapping[str, Any]) -> State:
    position = payload["position"]
    return game.new_initial_state() if position is None else game.state_from_text(position)


# -- searches ----------------------------------------------------------------------------------------------------------


def search_position(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Search a position as ``Search.run`` does, with partial results.

    ``payload`` has the position; ``settings`` for ``SearchConfig`` without simulations and seed; ``sims``, ``seed`` and
    ``evaluator``; ``depth``, ``top`` and ``nodes`` of the tree in the answer; ``every``, the seconds between partial
    results, or None; and ``last``, whether the nodes of the last simulation are marked.
    """
    desk, key, game = _desk(payload, work)
    state = _state(game, payload)
    state.require_running()
    sims = payload["sims"]
    search = _search(desk, key, game, payload, sims)
    desk.prepare()
    search.run(state, seed=payload["seed"], stop=lambda: True)  # compiles
    desk.begin()
    started = time.monotonic()
    latest = started + desk.limits.seconds
    every = payload["every"]
    result = search.run(
        state,
        seed=payload["seed"],
        progress=None if every is None else lambda found: work.report(_searched(state, found, payload, started)),
        progress_seconds=every or 1.0,
        stop=lambda: work.stopped() or time.monotonic() >= latest,
    )
    data = _searched(state, result, payload, started)
    if payload["last"] and data["simulations"] > 1:
        before = _search(desk, key, game, payload, data["simulations"] - 1)
        earlier = before.run(state, seed=payload["seed"], stop=work.stopped)
        _mark_last(data["tree"], earlier.view.root())
    return data


def _search(desk: Desk, key: Any, game: Game, payload: Mapping[str, Any], sims: int) -> Search:
    limits: Limits = desk.limits
    if sims > limits.sims:
        raise ConfigError(f"is {sims:,}, expected at most {limits.sims:,}", field="simulations")
    name = desk.sources.evaluator_text(payload["evaluator"])
    evaluator = desk.engine((key, name), lambda: read_evaluator(name, game))
    settings = {"max_nodes": limits.nodes, **payload["settings"]}
    if settings["max_nodes"] > limits.nodes:
        raise ConfigError(f"is {settings['max_nodes']:,}, expected at most {limits.nodes:,}", field="max_nodes")
    return Search(game, evaluator, SearchConfig(**settings, num_simulations=sims, seed=payload["seed"]))


def _searched(state: State, result: SearchResult, payload: Mapping[str, Any], started: float) -> dict[str, Any]:
    visits = int(result.visits.sum()) or sum(one.visits for one in result.outcomes)
    tree = shown_tree(result.view.root(), payload["depth"], payload["top"], payload["nodes"])
    return {
        "simulations": visits,
        "seconds": time.monotonic() - started,
        "player": state.current_player(),
        "actions": result.actions.tolist(),
        "names": [state.action_to_string(int(action)) for action in result.actions],
        "visits": result.visits.tolist(),
        "q": [None if value != value else float(value) for value in result.q],
        "priors": result.priors.tolist(),
        "value": result.value.tolist(),
        "best": result.best_action,
        "outcomes": [
            {"name": state.action_to_string(one.outcome), "probability": one.probability, "visits": one.visits,
             "value": None if one.value is None else one.value.tolist()}
            for one in result.outcomes
        ],
        "stopped": result.stopped,
        "chance": result.config.chance.model_dump() if result.config.chance is not None else None,
        "tree": tree,
    }  # fmt: skip


def shown_tree(root: TreeNode, depth: int, top: int, most: int) -> dict[str, Any]:
    """Return the upper levels of a tree with at most this many nodes; those with more visits are kept first.

    A chance node also has ``others``, the stored outcomes that are left out, and ``unstored``, the outcomes that the
    search did not store: their probability, visits and number. Shown outcomes and both add up to 1.
    """
    found, count = _node(root), 1
    heap: list[tuple[int, int, int, TreeNode, dict[str, Any]]] = [(-root.visits, 0, 0, root, found)]
    while heap:
        _, level, _, node, data = heapq.heappop(heap)
        if level == depth or count >= most:
            data["cut"] = data["kind"] != "terminal" and node.visits > 1
            continue
        stored = [child for child in node.children() if child.visits]
        shown = sorted(stored, key=lambda child: (-child.visits, child.label))[: min(top, most - count)]
        for child in sorted(shown, key=lambda child: child.label):
            count += 1
            data["children"].append(_node(child))
            heapq.heappush(heap, (-child.visits, level + 1, count, child, data["children"][-1]))
        if shown:
            _add_rest(data, node, stored, {child.label for child in shown})
    return found


def _add_rest(data: dict[str, Any], node: TreeNode, stored: Sequence[TreeNode], shown: Collection[int]) -> None:
    others = [child for child in stored if child.label not in shown]
    data["others"] = {
        "number": len(others), "visits": sum(child.visits for child in others),
        "probability": sum(child.probability or 0.0 for child in others),
    }  # fmt: skip
    if data["kind"] == "chance" and all(child.probability is not None for child in stored):
        known = sum(child.probability or 0.0 for child in stored)
        visits = node.visits - sum(child.visits for child in stored)
        data["unstored"] = {"visits": max(0, visits), "probability": max(0.0, 1.0 - known)}


def _node(node: TreeNode) -> dict[str, Any]:
    return {
        "label": node.label, "text": node.text, "kind": KIND_NAMES[node.kind], "player": node.player,
        "visits": node.visits, "value": [float(value) for value in node.value], "prior": node.prior,
        "probability": node.probability, "children": [],
    }  # fmt: skip


def _mark_last(tree: dict[str, Any], before: TreeNode | None) -> None:
    """Mark the nodes that one more simulation has visited: their counts differ from those of the earlier tree."""
    if before is not None and before.visits == tree["visits"]:
        return
    tree["last"] = True
    known = {} if before is None else {child.label: child for child in before.children()}
    for child in tree["children"]:
        _mark_last(child, known.get(child["label"]))


# -- exact values and plans --------------------------------------------------------------------------------------------


def exact_values(payload: Mapping[str, Any], work: Work) -> dict[str, Any] | None:
    """Return the exact values of a position and of its actions; None if the game has none."""
    desk, key, game = _desk(payload, work)
    desk.prepare()
    oracle = desk.engine((key, "oracle"), lambda: oracle_of(game))
    desk.begin()
    if oracle is None:
        return None
    state = _state(game, payload)
    try:
        values = {} if state.is_chance_node() or state.is_terminal() else oracle.action_values(state)
        return {
            "value": [float(value) for value in oracle.values(state)] if not state.is_terminal() else state.returns(),
            "actions": {int(action): float(value) for action, value in values.items()},
        }
    except AleaZeroError:  # e.g. a bear-off table in a position with contact
        return None


def plan_graph(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Plan a position, and return the upper levels of the plan as a graph: each state appears once per level.

    The first level after the root has the best actions; below it, decisions follow the plan and rolls have all
    outcomes. ``width`` limits the states per level; those that the plan reaches most often are kept.
    """
    desk, key, game = _desk(payload, work)
    state = _state(game, payload)
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


# -- judgements --------------------------------------------------------------------------------------------------------


def judge_of(desk: Desk, key: Any, game: Game) -> Judge:
    """Return the judge of a game: exact values, the bundled network, or a short search."""
    desk.prepare()

    def make() -> Judge:
        strong = oracle_of(game) is not None or champion_of(game) is not None
        return make_judge(game, None if strong else f"search:sims={JUDGE_SIMULATIONS}")

    judge: Judge = desk.engine((key, "judge"), make)
    desk.begin()
    return judge


def judge_steps(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Judge ``steps`` from a position: cost of decisions, luck of rolls, values; numbers are in units of the scale."""
    desk, key, game = _desk(payload, work)
    judge = judge_of(desk, key, game)
    steps = [(int(player), int(action)) for player, action in payload["steps"]]
    ledger = ledger_of(_state(game, payload), steps, judge)
    return without_nan(ledger_data(game, ledger, payload["first"]))  # type: ignore[no-any-return]


def ledger_data(game: Game, ledger: Ledger, first: int = 0) -> dict[str, Any]:
    """Return a ledger for pages: numbers on the scale of the game, and texts. ``first`` is added to step numbers."""
    scale = Scale(game)
    return {
        "judge": ledger.judge,
        "exact": ledger.exact,
        "unit": scale.name + scale.symbol,
        "entries": [_entry(one, scale, first) for one in ledger.entries],
        "end": [scale.number(value) for value in ledger.end],
        "totals": [
            {"player": one.player, "name": one.name, "decisions": one.decisions, "regret": scale.cost(one.regret),
             "best": one.best, "errors": one.errors, "blunders": one.blunders,
             "luck": scale.luck(one.luck), "result": scale.value(one.result),
             "adjusted": scale.value(one.luck_adjusted)}
            for one in ledger.totals
        ],
    }  # fmt: skip


def _entry(entry: Any, scale: Scale, first: int) -> dict[str, Any]:
    data = {
        "kind": entry.kind,
        "step": entry.step + first,
        "player": entry.player,
        "name": entry.name,
        "position": entry.position,
        "value": None if entry.value is None else [scale.number(value) for value in entry.value],
    }
    if isinstance(entry, Decision):
        return data | {
            "length": len(entry.actions),
            "forced": entry.forced,
            "cost": entry.cost / scale.unit,
            "cost_text": scale.cost(entry.cost),
            "mark": entry.mark,
            "best": entry.best,
            "is_best": entry.is_best,
            "alternatives": [[one.name, scale.value(one.value)] for one in entry.alternatives],
        }
    return data | {
        "length": 1,
        "luck": [value / scale.unit for value in entry.luck],
        "luck_text": [scale.luck(value) for value in entry.luck],
        "probability": entry.probability,
    }


def review_file(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Judge one game of a file: its text, the ending of its name, and the number of the game in it.

    Games in files are only loaded if the command line named them.
    """
    desk = Desk(payload["sources"], payload["limits"], work)

    def load(text: str, params: Mapping[str, Any]) -> Game:
        return desk.game(GameRequest(request="study", game=text, params=dict(params)))[1]

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"game{payload['ending']}"
        file.write_text(payload["text"], encoding="utf-8")
        games = read_studied(file, load=load)
    if payload["number"] >= len(games):
        raise ConfigError(f"is {payload['number']}, expected at most {len(games) - 1}", field="game")
    one = games[payload["number"]]
    if len(one.steps) > desk.limits.moves:
        raise ConfigError(f"the game has {len(one.steps):,} steps, expected at most {desk.limits.moves:,}")
    key, game = desk.game(GameRequest(request="study", game=one.text or one.game.name, params=one.game.params))
    ledger = ledger_of(one.start, one.steps, judge_of(desk, key, game), names=one.names or None)
    return without_nan({  # type: ignore[no-any-return]
        **ledger_data(game, ledger), "games": [", ".join(each.names) for each in games], "names": list(one.names),
        "game": one.text or game.name, "params": game.json_params(ConfigError), "last": one.end().to_text(),
        "worst": [decision.step for decision in ledger.worst[:MOST_WORST]],
    })  # fmt: skip


def hint(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Return the best play in a position by the judge, and what other plays are worth."""
    desk, key, game = _desk(payload, work)
    state = _state(game, payload)
    legal = state.legal_actions()
    if len(legal) == 1:
        return {"action": legal[0], "name": state.action_to_string(legal[0]), "judge": "", "alternatives": []}
    judge = judge_of(desk, key, game)
    found = judge.judge_plays([state], [(state.canonical_action(legal[0]),)])[0]
    scale = Scale(game)
    return {
        "action": int(found.best[0]),
        "name": play_text(state, found.best),
        "judge": judge.name,
        "alternatives": [[play_text(state, actions), scale.value(value)] for actions, value in found.alternatives],
    }


# -- lessons -----------------------------------------------------------------------------------------------------------


def plan_turn(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Return what each action of a position is worth in a plan, and how many afterstates the actions share."""
    desk, key, game = _desk(payload, work)
    state = _state(game, payload)
    for move in payload["moves"]:
        state.apply_action(find_move(state, move))
    desk.prepare()
    evaluator = desk.engine((key, "turn evaluator"), lambda: evaluator_of(require_oracle(game)))
    planner = desk.engine((key, "turn planner"), lambda: Planner(game, evaluator, horizon="turn"))
    desk.begin()
    result = planner.run(state)
    rows = [(state.action_to_string(int(one)), float(q)) for one, q in zip(result.actions, result.q, strict=True)]
    return {"rows": sorted((row for row in rows if row[1] == row[1]), key=lambda row: -row[1])}


def luck_match(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Play games between two equal players, and separate the luck of their rolls from the results of player 0."""
    desk, key, game = _desk(payload, work)
    judge = judge_of(desk, key, game)
    player = desk.engine((key, "greedy"), lambda: make_player("greedy", game))
    results, adjusted = [], []
    for number in range(min(MOST_GAMES, payload["games"])):
        if work.stopped():
            break
        session = Session(game.new_initial_state(), payload["seed"] * MOST_GAMES + number, {0: player, 1: player})
        while not session.state.is_terminal():
            session.draw_all()
            if not session.state.is_terminal():
                session.act(*session.choose())
        totals = ledger_of(session.start_state(), session.steps, judge).totals[0]
        results.append(totals.result or 0.0)
        adjusted.append(totals.luck_adjusted or 0.0)
    table = [[name, f"{np.mean(one):+.3f}", f"{np.std(one):.3f}"]
             for name, one in (("result", results), ("luck-adjusted", adjusted))]  # fmt: skip
    means = {name: [[n + 1, float(np.mean(one[: n + 1]))] for n in range(len(one))]
             for name, one in (("results", results), ("adjusted", adjusted))}  # fmt: skip
    return {"results": results, "adjusted": adjusted, "means": means, "table": table}
