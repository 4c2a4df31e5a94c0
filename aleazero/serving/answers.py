"""Answers to requests, computed in a worker process: ``answer`` is the task of the engine and of the HTTP API.

A worker keeps games, searches and planners between requests, because compiling a game takes seconds and a search
reuses its memory. An answer depends only on its request: a kept search gives the same result as a new one.
"""

from __future__ import annotations

import heapq
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError, GameError, IllegalActionError, PositionError
from aleazero.games.base import KIND_NAMES, Game, State, moves_of
from aleazero.games.game_dice import GameDice
from aleazero.games.registry import game_names, load_game
from aleazero.oracles.oracle import require_oracle
from aleazero.players.basic import find_move
from aleazero.players.champions import CHAMPION, champion_of
from aleazero.players.make import make_plan, make_search, read_evaluator
from aleazero.players.spec import PlayerSpec
from aleazero.search.config import SearchConfig
from aleazero.search.evaluator import PLAN_PLAYOUTS, Rollout
from aleazero.search.plan.planner import Planner
from aleazero.search.result import SearchResult, TreeNode
from aleazero.search.search import Search
from aleazero.serving.requests import (
    AnalyseRequest,
    ApplyRequest,
    EvaluateRequest,
    GameRequest,
    GamesRequest,
    LegalRequest,
    Limits,
    PlanRequest,
    PositionRequest,
    Request,
    Sources,
)
from aleazero.serving.workers import Work
from aleazero.untrusted import parse_digits

ANSWER: Final = "aleazero.serving.answers:answer"
"""This task, for ``Workers.submit``."""
SIMULATIONS: Final = 2000
"""Simulations of a search without limits, as in ``aleazero analyse``."""
MOST_NODES: Final = 10_000_000
"""Default node limit of a search, as in ``SearchConfig``."""
MOST_STATES: Final = 2_000_000
"""Default limit of the states of a plan, as in ``Planner``."""
MOST_GAMES: Final = 12
"""Games that a worker keeps. Compiled code stays in memory, so a worker that loaded more games is replaced."""
MOST_ENGINES: Final = 24
"""Searches, planners and evaluators that a worker keeps."""
LARGE_TREE: Final = 64_000_000
"""Bytes of a tree whose search is not kept."""


class RulesError(GameError):
    """The rules of a game raised an exception."""

    code = "rules"


def answer(payload: tuple[Request, Sources, Limits], work: Work) -> bytes:
    """Compute the answer to a request; the task of worker processes.

    Args:
        payload: the request, the files that it may use, and its limits.
        work: the connection to the process that submitted the request.

    Returns:
        The answer as JSON, in ASCII. Partial results have the same form.

    Raises:
        AleaZeroError: the request cannot be answered.
    """
    request, sources, limits = payload
    desk = Desk(sources, limits, work)
    with _rules_blamed(getattr(request, "game", None)):
        found = ANSWERS[request.request](request, desk)
    if len(_loaded) > MOST_GAMES:
        work.retire()
    return to_json(found)


def to_json(data: Any) -> bytes:
    """Return plain data as JSON in ASCII, on one line."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()


@contextmanager
def _rules_blamed(game: str | None) -> Iterator[None]:
    try:
        yield
    except (AleaZeroError, MemoryError):
        raise
    except Exception as error:
        if game is None:
            raise
        raise RulesError(f"{game}: the rules raised {type(error).__name__}: {error}") from error


_games: OrderedDict[Hashable, Game] = OrderedDict()
_engines: OrderedDict[Hashable, Any] = OrderedDict()
_loaded: set[Hashable] = set()
_warm: set[Hashable] = set()


@dataclass
class Desk:
    """What a request works with: files, limits, and kept games, searches and planners."""

    sources: Sources
    limits: Limits
    work: Work
    prepares: bool = False

    def game(self, request: GameRequest | GamesRequest) -> tuple[Hashable, Game]:
        """Return the game of a request, and the key by which it is kept."""
        assert request.game is not None
        text = self.sources.game_text(request.game)
        key = (text, repr(sorted(request.params.items())))
        return key, self.kept(_games, key, lambda: self._load(key, text, request.params), MOST_GAMES)

    def _load(self, key: Hashable, text: str, params: Mapping[str, Any]) -> Game:
        _loaded.add(key)
        return load_game(text, **params)

    def engine(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return a kept search, planner or evaluator, or make it."""
        return self.kept(_engines, key, make, MOST_ENGINES)

    def kept(self, store: OrderedDict[Hashable, Any], key: Hashable, make: Callable[[], Any], most: int) -> Any:
        """Return an object of a store, or make it, which has a time limit of its own."""
        if key in store:
            store.move_to_end(key)
        else:
            self.prepare()
            store[key] = make()
            if len(store) > most:
                store.popitem(last=False)
        return store[key]

    def prepare(self) -> None:
        """Begin to load or compile something."""
        if not self.prepares:
            self.prepares = True
            self.work.preparing()

    def begin(self) -> None:
        """Begin to compute the answer: from now on the time limit of the request holds."""
        if self.prepares:
            self.prepares = False
            self.work.ready()


def read_position(game: Game, request: PositionRequest, dice: GameDice | None = None) -> tuple[State, list[Any]]:
    """Return the position of a request after its moves, and the applied moves; ``dice`` count the outcomes in them.

    Raises:
        AleaZeroError: the position cannot be read, or a move is not legal; the message has its number.
    """
    state = game.new_initial_state() if request.position is None else game.state_from_text(request.position)
    moves: Sequence[str | int] = moves_of(request.moves) if isinstance(request.moves, str) else request.moves
    applied = []
    for number, move in enumerate(moves, 1):
        try:
            action = find_move(state, move) if isinstance(move, str) else move
            if dice is not None and state.is_chance_node():
                dice.draw(state)
            applied.append(apply_step(state, action))
        except AleaZeroError as error:
            raise IllegalActionError(f"move {number}: {error}") from None
    return state, applied


def apply_step(state: State, action: int) -> dict[str, Any]:
    """Apply an action or outcome, and describe it."""
    before = state.clone()
    state.apply_action(action)
    return {"player": before.current_player(), "action": action, "name": before.action_to_string(action)}


def describe_state(state: State) -> dict[str, Any]:
    """Return a position as plain data: text, player, legal actions or outcomes, and returns."""
    chance = state.is_chance_node()
    listed = chance and state.outcomes_listed()
    actions = [] if chance or state.is_terminal() else state.legal_actions()
    return {
        "game": state.game.name,
        "params": state.game.params,
        "position": state.to_text(),
        "board": str(state),
        "kind": KIND_NAMES[state.kind()],
        "player": state.current_player(),
        "actions": [{"action": action, "name": state.action_to_string(action)} for action in actions],
        "outcomes_listed": listed,
        "outcomes": [
            {"outcome": outcome, "name": state.action_to_string(outcome), "probability": probability}
            for outcome, probability in (state.chance_outcomes() if listed else [])
        ],
        "returns": [float(number) for number in state.returns()],
    }


def describe_game(game: Game) -> dict[str, Any]:
    """Return the facts about a game as plain data."""
    return {
        "name": game.name,
        "players": game.num_players,
        "actions": game.num_actions,
        "chance": game.info.max_outcomes > 0,
        "max_outcomes": game.info.max_outcomes,
        "params": game.params,
        "description": _summary(game),
    }


def _summary(game: Game) -> str:
    """Return the first line of the docstring of a game's file or class, without the game's name."""
    text = (getattr(getattr(game, "module", None), "__doc__", None) or "").strip().partition("\n")[0]
    name, colon, rest = text.partition(": ")
    sentence = rest if colon and len(name.split()) <= 3 else text
    return sentence[:1].upper() + sentence[1:]


def result_data(state: State, result: SearchResult) -> dict[str, Any]:
    """Return a result as plain data, with the position and all names."""
    return {
        "game": state.game.name,
        "params": state.game.params,
        "position": state.to_text(),
        "player": state.current_player(),
        "action_names": [state.action_to_string(int(action)) for action in result.actions],
        "outcome_names": [state.action_to_string(o.outcome) for o in result.outcomes],
        **result.to_dict(),
    }


# -- the kinds of requests ---------------------------------------------------------------------------------------------


def _answer_games(request: GamesRequest, desk: Desk) -> dict[str, Any]:
    if request.game is None:
        if request.params:
            raise ConfigError("is given without game, expected a game", field="params")
        return {"games": sorted({*game_names(), *desk.sources.games}), "nets": sorted(desk.sources.nets)}
    _, game = desk.game(request)
    found = champion_of(game)
    return describe_game(game) | {
        "start": game.new_initial_state().to_text(),
        "champion": None if found is None else found.engine,
    }


def _answer_legal(request: LegalRequest, desk: Desk) -> dict[str, Any]:
    _, game = desk.game(request)
    return describe_state(read_position(game, request)[0])


def _answer_apply(request: ApplyRequest, desk: Desk) -> dict[str, Any]:
    _, game = desk.game(request)
    dice = GameDice(request.seed)
    state, applied = read_position(game, request, dice)
    while request.draw and state.is_chance_node():
        if desk.work.stopped() or len(applied) >= desk.limits.moves:
            raise PositionError(f"{len(applied):,} moves end before a roll, expected a decision or the end of the game")
        applied.append(apply_step(state, dice.draw(state)))
    return describe_state(state) | {"applied": applied}


def _answer_analyse(request: AnalyseRequest, desk: Desk) -> dict[str, Any]:
    key, game = desk.game(request)
    state, _ = read_position(game, request)
    state.require_running()
    evaluator = desk.sources.evaluator_text(request.evaluator)
    fields = ("sims", "seconds", "evaluations", "nodes", "chance", "c", "selection")
    own = (Search, key, evaluator, desk.limits, *(getattr(request, field) for field in fields))
    search: Search = desk.engine(own, lambda: Search(game, *search_settings(request, game, evaluator, desk.limits)))
    kernel = (key, evaluator, request.chance, request.selection)
    if kernel not in _warm:  # compile before the time limit begins
        desk.prepare()
        search.run(state, request.actions, request.seed, stop=lambda: True)
        _warm.add(kernel)
    desk.begin()
    started = time.monotonic()
    latest = started + desk.limits.seconds
    result = search.run(
        state,
        request.actions,
        request.seed,
        progress=None if request.report_every is None else lambda r: desk.work.report(to_json(_partial(state, r))),
        progress_seconds=request.report_every or 1.0,
        stop=lambda: desk.work.stopped() or time.monotonic() >= latest,
    )
    data = result_data(state, result) | {"evaluator": request.evaluator, "seconds": time.monotonic() - started}
    if result.stopped == "interrupted" and not desk.work.stopped():
        data["stopped"] = "seconds"
    if result.stats.tree_bytes > LARGE_TREE:
        _engines.pop(own)
    return data | _tree(request.tree_depth, request.tree_top, result, desk.limits)


def search_settings(request: AnalyseRequest, game: Game, evaluator: str, limits: Limits) -> tuple[Any, SearchConfig]:
    """Return the evaluator and the settings of the search of a request."""
    settings = {"sims": request.sims, "evaluations": request.evaluations, "chance": request.chance,
                "evaluator": evaluator, "c": request.c, "selection": request.selection}  # fmt: skip
    if request.sims is None and request.evaluations is None:
        settings["sims"] = SIMULATIONS if request.seconds is None else limits.sims
    spec = PlayerSpec("search", {name: value for name, value in settings.items() if value is not None})
    nodes = min(MOST_NODES, limits.nodes) if request.nodes is None else request.nodes
    return make_search(spec, game, max_seconds=request.seconds, max_nodes=nodes)


def _partial(state: State, result: SearchResult) -> dict[str, Any]:
    """Return what changes while a search runs. The counts of the tree are left out, because they read all of it."""
    visits = int(result.visits.sum()) or sum(outcome.visits for outcome in result.outcomes)
    q = [None if value != value else float(value) for value in result.q]
    return {
        "position": state.to_text(),
        "player": state.current_player(),
        "simulations": visits,
        "actions": result.actions.tolist(),
        "action_names": [state.action_to_string(int(action)) for action in result.actions],
        "visits": result.visits.tolist(),
        "q": q,
        "value": result.value.tolist(),
        "best_action": result.best_action,
        "outcomes": [
            {"outcome": outcome.outcome, "visits": outcome.visits,
             "value": None if outcome.value is None else outcome.value.tolist()}
            for outcome in result.outcomes
        ],
        "principal_variation": [step.text for step in result.principal_variation()],
    }  # fmt: skip


def _answer_plan(request: PlanRequest, desk: Desk) -> dict[str, Any]:
    key, game = desk.game(request)
    state, _ = read_position(game, request)
    state.require_running()
    settings = plan_settings(request, game, desk.sources)
    draws = request.seed if str(settings.get("evaluator", "rollout")).startswith("rollout") else 0
    own = (Planner, key, tuple(sorted(settings.items())), request.nodes, desk.limits.nodes, draws)
    planner: Planner = desk.engine(own, lambda: _make_planner(request, game, settings, draws, desk.limits))
    if (Planner, key) in _warm:
        desk.begin()
    else:  # the first plan compiles its loop
        desk.prepare()
        _warm.add((Planner, key))
    started = time.monotonic()
    result = planner.run(state, request.actions)
    data = result_data(state, result) | {"evaluator": settings.get("evaluator"), "seconds": time.monotonic() - started}
    data["evaluator"] = _client_name(data["evaluator"], desk.sources)
    return data | _tree(request.tree_depth, request.tree_top, result, desk.limits)


def plan_settings(request: PlanRequest, game: Game, sources: Sources) -> dict[str, Any]:
    """Return the settings of the ``plan`` spec of a request."""
    given = {name: getattr(request, name) for name in ("horizon", "plies", "keep", "margin")}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if request.evaluator is not None:
        settings["evaluator"] = sources.evaluator_text(request.evaluator)
    elif request.horizon != "game" and (champion := champion_of(game)) is not None:
        settings["evaluator"] = f"net:{CHAMPION}"
        if not settings.keys() & {"horizon", "plies"}:
            far = champion.figures["horizon"]
            settings |= {"plies": int(far)} if parse_digits(far) else {"horizon": far}
    return settings


def _make_planner(request: PlanRequest, game: Game, settings: Mapping[str, Any], seed: int, limits: Limits) -> Planner:
    """Return the planner of a request, as ``aleazero analyse --plan`` makes it."""
    evaluator, planned = make_plan(PlayerSpec("plan", settings), game)
    # A game's own solver of turns has no limit of nodes, and solves the turn again for each detail.
    generic = str(settings.get("evaluator")).startswith("net:") or request.nodes is not None
    nodes = request.nodes or min(MOST_STATES, limits.nodes)
    return Planner(game, evaluator, solver="generic" if generic else "auto", max_nodes=nodes, seed=seed, **planned)


def _client_name(evaluator: str | None, sources: Sources) -> str | None:
    """Return the name of an evaluator without the path of its file."""
    names = {f"net:{path}": f"net:{name}" for name, path in sources.nets.items()}
    return names.get(evaluator or "", evaluator)


def _answer_evaluate(request: EvaluateRequest, desk: Desk) -> dict[str, Any]:
    key, game = desk.game(request)
    if request.positions is None:
        states = [read_position(game, request)[0]]
    else:
        states = [game.state_from_text(text) for text in request.positions]
    name = request.evaluator or ("rollout" if champion_of(game) is None else f"net:{CHAMPION}")
    text = desk.sources.evaluator_text(name)
    if text == "oracle":
        if (key, "oracle") not in _warm:
            desk.prepare()
        oracle = require_oracle(game)
        _warm.add((key, "oracle"))
        desk.begin()
        return {"evaluator": name, "positions": [_exact(state, oracle) for state in states]}
    evaluator = desk.engine((key, text), lambda: read_evaluator(text, game, playouts=PLAN_PLAYOUTS))
    draws = request.seed if isinstance(evaluator, Rollout) else 0
    search: Search = desk.engine(
        (Search, key, text, "leaf"), lambda: Search(game, evaluator, SearchConfig(num_simulations=1, max_evaluations=1))
    )
    found = []
    for number, state in enumerate(states):
        if number or (key, text, "leaf") in _warm:
            desk.begin()
        if desk.work.stopped():
            break
        found.append(_evaluated(state, search, lambda: _ply_planner(desk, key, text, game, evaluator, draws), draws))
    _warm.add((key, text, "leaf"))
    return {"evaluator": name, "positions": found}


def _ply_planner(desk: Desk, key: Hashable, text: str, game: Game, evaluator: Any, seed: int) -> Planner:
    """Return the planner that averages over the outcomes of a chance node."""
    planner: Planner = desk.engine(
        (Planner, key, text, "ply", seed), lambda: Planner(game, evaluator, plies=1, solver="generic", seed=seed)
    )
    return planner


def _evaluated(state: State, search: Search, planner: Callable[[], Planner], seed: int) -> dict[str, Any]:
    """Return the evaluator's value of a state, and its priors; the mean over the outcomes at a chance node."""
    base = _evaluated_base(state)
    if state.is_terminal():
        return base | {"value": [float(number) for number in state.returns()], "exact": True}
    if state.is_chance_node():
        return base | {"value": planner().run(state).value.tolist(), "exact": False}
    result = search.run(state, seed=seed)
    return base | {
        "value": result.value.tolist(),
        "exact": False,
        "actions": result.actions.tolist(),
        "action_names": [state.action_to_string(int(action)) for action in result.actions],
        "priors": result.priors.tolist(),
    }


def _exact(state: State, oracle: Any) -> dict[str, Any]:
    base = _evaluated_base(state) | {"exact": True}
    if state.is_terminal():
        return base | {"value": [float(number) for number in state.returns()]}
    base["value"] = [float(number) for number in oracle.values(state)]
    if state.is_chance_node():
        return base
    values = oracle.action_values(state)
    return base | {
        "actions": list(values),
        "action_names": [state.action_to_string(action) for action in values],
        "q": [float(value) for value in values.values()],
    }


def _evaluated_base(state: State) -> dict[str, Any]:
    return {"position": state.to_text(), "kind": KIND_NAMES[state.kind()], "player": state.current_player()}


# -- trees -------------------------------------------------------------------------------------------------------------


def _tree(depth: int | None, top: int, result: SearchResult, limits: Limits) -> dict[str, Any]:
    if depth is None:
        return {}
    tree, complete = cut_tree(result.view.root(), depth, top, limits.tree_nodes)
    return {"tree": tree, "tree_complete": complete}


def cut_tree(root: TreeNode, depth: int, top: int, most: int) -> tuple[dict[str, Any], bool]:
    """Return the upper levels of a tree with at most this many nodes, and whether that limit left out none.

    Nodes with more visits are kept first. The form is that of ``SearchResult.tree``.
    """
    found, count = _node_data(root), 1
    heap: list[tuple[int, int, int, TreeNode, dict[str, Any]]] = [(-root.visits, 0, 0, root, found)]
    while heap:
        _, level, _, node, data = heapq.heappop(heap)
        if level == depth:
            continue
        children = sorted((c for c in node.children() if c.visits), key=lambda child: (-child.visits, child.label))
        for child in children[:top]:
            if count >= most:
                return found, False
            count += 1
            data["children"].append(_node_data(child))
            heapq.heappush(heap, (-child.visits, level + 1, count, child, data["children"][-1]))
    return found, True


def _node_data(node: TreeNode) -> dict[str, Any]:
    return {
        "label": node.label,
        "text": node.text,
        "kind": KIND_NAMES[node.kind],
        "player": node.player,
        "visits": node.visits,
        "value": [float(value) for value in node.value],
        "prior": node.prior,
        "probability": node.probability,
        "children": [],
    }


ANSWERS: Final[Mapping[str, Callable[[Any, Desk], dict[str, Any]]]] = {
    "analyse": _answer_analyse,
    "plan": _answer_plan,
    "evaluate": _answer_evaluate,
    "legal": _answer_legal,
    "apply": _answer_apply,
    "games": _answer_games,
}
"""Function of each kind of request."""
