"""Answers to requests, computed in a worker process: ``answer`` is the task ``ANSWER`` of the engine and the HTTP API.

An answer depends only on its request: a search that the worker has kept gives the same result as a new one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError, GameError, PositionError
from aleazero.files import without_nan
from aleazero.games.base import KIND_NAMES, Game, State
from aleazero.games.game_dice import GameDice
from aleazero.games.registry import game_names
from aleazero.oracles.oracle import require_oracle
from aleazero.players.champions import CHAMPION, champion_of
from aleazero.players.make import make_plan, make_search, read_evaluator
from aleazero.players.spec import PlayerSpec
from aleazero.search.config import SearchConfig
from aleazero.search.evaluator import PLAN_PLAYOUTS, Rollout
from aleazero.search.plan.planner import Planner
from aleazero.search.result import SearchResult
from aleazero.search.search import Search
from aleazero.serving.desk import Desk
from aleazero.serving.judge import make_judge
from aleazero.serving.judgement import Judge
from aleazero.serving.ledger import ledger_of, thresholds_with
from aleazero.serving.plain_data import (
    cut_tree,
    describe_game,
    describe_state,
    read_position,
    result_data,
    start_of,
    taken_step,
)
from aleazero.serving.requests import (
    AnalyseRequest,
    ApplyRequest,
    EvaluateRequest,
    GamesRequest,
    LegalRequest,
    Limits,
    PlanRequest,
    Request,
    ReviewRequest,
    Sources,
    name_of,
)
from aleazero.serving.work import Work
from aleazero.untrusted import parse_digits

SIMULATIONS: Final = 2000
"""Simulations of a search without limits, as in ``aleazero analyse``."""
MOST_NODES: Final = 10_000_000
"""Default node limit of a search, as in ``SearchConfig``."""


class RulesError(GameError):
    """The rules of a user's game raised an exception."""

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
    answer_of = ANSWERS[request.request]
    with _rules_blamed(getattr(request, "game", None), sources):
        return to_json(answer_of(request, Desk(sources, limits, work)))


def to_json(data: Any) -> bytes:
    """Return plain data as JSON in ASCII, on one line. NaN and infinity become null, and other objects text."""
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False, default=str)
    except ValueError:
        text = json.dumps(without_nan(data), separators=(",", ":"), allow_nan=False, default=str)
    return text.encode()


@contextmanager
def _rules_blamed(game: str | None, sources: Sources) -> Iterator[None]:
    """Turn exceptions raised by the rules of a user's game into a RulesError; in a bundled game they are bugs."""
    try:
        yield
    except (AleaZeroError, MemoryError):
        raise
    except Exception as error:
        if name_of(game) not in sources.games:
            raise
        raise RulesError(f"{game}: the rules raised {type(error).__name__}: {error}") from error


# -- the kinds of requests ---------------------------------------------------------------------------------------------


def _answer_games(request: GamesRequest, desk: Desk) -> dict[str, Any]:
    if request.game is None:
        if request.params:
            raise ConfigError("is given without game, expected a game", field="params")
        return {"games": sorted({*game_names(), *desk.sources.games}), "nets": sorted(desk.sources.nets)}
    _, game = desk.game(request.game, request.params)
    found = champion_of(game)
    return describe_game(game) | {
        "start": game.new_initial_state().to_text(),
        "champion": None if found is None else found.engine,
    }


def _answer_legal(request: LegalRequest, desk: Desk) -> dict[str, Any]:
    _, game = desk.game(request.game, request.params)
    return describe_state(read_position(game, request)[0])


def _answer_apply(request: ApplyRequest, desk: Desk) -> dict[str, Any]:
    _, game = desk.game(request.game, request.params)
    dice = GameDice(request.seed)
    state, applied = read_position(game, request, dice)
    while request.draw and state.is_chance_node():
        if desk.work.stopped() or len(applied) >= desk.limits.moves:
            raise PositionError(f"{len(applied):,} moves end before a roll, expected a decision or the end of the game")
        state, step = taken_step(state, dice.draw(state))
        applied.append(step)
    return describe_state(state) | {"applied": applied}


def _answer_analyse(request: AnalyseRequest, desk: Desk) -> dict[str, Any]:
    key, game = desk.game(request.game, request.params)
    state, _ = read_position(game, request)
    state.require_running()
    evaluator = desk.sources.evaluator_text(request.evaluator)
    fields = ("sims", "seconds", "evaluations", "nodes", "chance", "c", "selection")
    own = (Search, key, evaluator, desk.limits, *(getattr(request, field) for field in fields))
    search: Search = desk.engine(own, lambda: Search(game, *search_settings(request, game, evaluator, desk.limits)))
    kernel = (Search, key, evaluator, request.chance, request.selection)
    if not desk.is_warm(kernel):  # compile before the time limit begins
        desk.prepare()
        search.run(state, request.actions, request.seed, stop=lambda: True)
        desk.warmed(kernel)
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
    data |= _tree(request.tree_depth, request.tree_top, result, desk.limits)
    desk.weigh(own, result.stats.tree_bytes)
    return data


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
    q = [None if value != value else float(value) for value in result.q]
    return {
        "position": state.to_text(),
        "player": state.current_player(),
        "simulations": result.simulations,
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
    key, game = desk.game(request.game, request.params)
    state, _ = read_position(game, request)
    state.require_running()
    settings = plan_settings(request, game, desk.sources)
    draws = request.seed if str(settings.get("evaluator", "rollout")).startswith("rollout") else 0
    own = (Planner, key, tuple(sorted(settings.items())), request.nodes, desk.limits.nodes, draws)
    planner: Planner = desk.engine(own, lambda: _make_planner(request, game, settings, draws, desk.limits))
    if not desk.is_warm((Planner, key)):  # the first plan compiles its loop
        desk.prepare()
    started = time.monotonic()
    result = planner.run(state, request.actions)
    desk.warmed((Planner, key))
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
    nodes = request.nodes or limits.plan_states
    return Planner(game, evaluator, solver="generic" if generic else "auto", max_nodes=nodes, seed=seed, **planned)


def _client_name(evaluator: str | None, sources: Sources) -> str | None:
    """Return the name of an evaluator without the path of its file."""
    names = {f"net:{path}": f"net:{name}" for name, path in sources.nets.items()}
    return names.get(evaluator or "", evaluator)


def _answer_evaluate(request: EvaluateRequest, desk: Desk) -> dict[str, Any]:
    key, game = desk.game(request.game, request.params)
    if request.positions is None:
        states = [read_position(game, request)[0]]
    else:
        states = [game.state_from_text(text) for text in request.positions]
    name = request.evaluator or ("rollout" if champion_of(game) is None else f"net:{CHAMPION}")
    text = desk.sources.evaluator_text(name)
    if text == "oracle":
        oracle = desk.engine((key, "oracle"), lambda: require_oracle(game))
        return {"evaluator": name, "positions": [_exact(state, oracle) for state in states]}
    evaluator = desk.engine((key, text), lambda: read_evaluator(text, game, playouts=PLAN_PLAYOUTS))
    draws = request.seed if isinstance(evaluator, Rollout) else 0
    search: Search = desk.engine(
        (Search, key, text, "leaf"), lambda: Search(game, evaluator, SearchConfig(num_simulations=1, max_evaluations=1))
    )
    found = []
    for state in states:
        if desk.work.stopped():
            break
        kernel = (key, text, state.kind())
        if not desk.is_warm(kernel):
            desk.prepare()
        found.append(_evaluated(state, search, lambda: _ply_planner(desk, key, text, game, evaluator, draws), draws))
        desk.warmed(kernel)
        desk.begin()
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


def _answer_review(request: ReviewRequest, desk: Desk) -> dict[str, Any]:
    key, game = desk.game(request.game, request.params)
    steps = [(one["player"], one["action"]) for one in read_position(game, request)[1]]
    judge: Judge | None = desk.engine((Judge, key), lambda: make_judge(game)) if request.sims is None else None
    own = (Judge, key, request.sims is None)
    if not desk.is_warm(own):  # judging the first steps compiles
        desk.prepare()
    if judge is None:  # it is not kept, because its trees can be large
        judge = make_judge(game, f"search:sims={request.sims}", max_nodes=desk.limits.nodes)
    started = reported = time.monotonic()

    def progress(judged: int, of: int) -> None:
        nonlocal reported
        desk.warmed(own)
        desk.begin()
        if desk.work.stopped():
            raise GameError("the review was cancelled")
        if request.report_every is not None and (now := time.monotonic()) >= reported + request.report_every:
            reported = now
            desk.work.report(to_json({"judged_steps": judged, "steps": of}))

    start = start_of(game, request)
    ledger = ledger_of(start, steps, judge, thresholds_with(game, request.error, request.blunder), progress=progress)
    return {
        "game": game.name,
        "params": game.params,
        "position": start.to_text(),
        **ledger.to_dict(),
        "seconds": time.monotonic() - started,
    }


def _tree(depth: int | None, top: int, result: SearchResult, limits: Limits) -> dict[str, Any]:
    if depth is None:
        return {}
    tree, complete = cut_tree(result.view.root(), depth, top, limits.tree_nodes)
    return {"tree": tree, "tree_complete": complete}


ANSWERS: Final[Mapping[str, Callable[[Any, Desk], dict[str, Any]]]] = {
    "analyse": _answer_analyse,
    "plan": _answer_plan,
    "evaluate": _answer_evaluate,
    "review": _answer_review,
    "legal": _answer_legal,
    "apply": _answer_apply,
    "games": _answer_games,
}
"""Function of each kind of request."""
