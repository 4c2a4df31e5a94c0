"""Tasks of the HTTP API that need the rules of a game, and the entry of its worker processes, which runs a task.

A session comes as the JSON data of ``Session.to_dict`` and leaves in the same form, together with its view: the
position, the legal moves and what else a front end shows. A worker remembers the sessions that it handled last, so that
it rarely has to play all steps again; which worker gets a session does not change an answer. ``listings`` has further
tasks.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError, IllegalActionError, count_text
from aleazero.files import without_nan
from aleazero.games.base import CHANCE_PLAYER, KIND_NAMES, Game, State, moves_of
from aleazero.games.kit import kit_of
from aleazero.games.registry import load_game, parse_game_text
from aleazero.players.basic import find_move
from aleazero.players.spec import FILE, PlayerSpec
from aleazero.serving.desk import Desk
from aleazero.serving.requests import OWN_NETS, Limits, Sources
from aleazero.serving.session import CHAMPION, PERSON, Session, parse_seat
from aleazero.serving.steps import LoadGame
from aleazero.serving.work import Work

MOST_GAMES: Final = 8
"""Loaded games that a worker keeps."""
NICE: Final = 10
"""Priority of searches for the operating system."""
MOST_SESSIONS: Final = 4
"""Sessions that a worker remembers."""
_loaded: dict[str, Game] = {}
_sessions: list[tuple[dict[str, Any], Session]] = []
"""Sessions that this process handled, with their JSON data; the one used last is the last."""


class TaskError(AleaZeroError):
    """A task failed for a reason of its own; the process that submitted it gets the code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class StepsError(ConfigError):
    """A session would have more steps than the limits allow."""


def call(job: tuple[str, Any], work: Work) -> Any:
    """Run ``NAME`` of this module, or ``MODULE:NAME``, with a payload and the connection of its worker."""
    task, payload = job
    module, _, name = task.rpartition(":")
    if module and module not in sys.modules:  # imports count as loading, and not as time of the rules
        work.preparing()
        importlib.import_module(module)
        work.ready()
    try:
        return None if work.stopped() else getattr(sys.modules[module or __name__], name)(payload, work)
    except MemoryError:
        work.retire()
        raise TaskError("memory", "the request needs more memory than there is, expected a smaller one") from None


def call_nicely(job: tuple[str, Any], work: Work) -> Any:
    """Run a task at a lower priority of the operating system."""
    os.setpriority(os.PRIO_PROCESS, 0, NICE)
    return call(job, work)


def warm(payload: None, work: Work) -> None:
    """Do nothing: importing this module was the work."""


# -- sessions ----------------------------------------------------------------------------------------------------------


def open_session(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Make a session from a game, or from the JSON data of a session; return its data and its view.

    ``payload`` has ``sources`` and ``limits``, and either ``file`` or ``game``, ``params``, ``position``, ``moves``,
    ``seed``, ``seats``, ``names``, ``temperature`` and ``draw``.
    """
    sources, limits = payload["sources"], payload["limits"]
    if payload.get("file") is not None:
        _require_few_steps(payload["file"], limits)
        session = Session.from_dict(payload["file"], load=_loader(sources, work))
        for seat in session.seats:
            check_seat(seat, session.game, sources, limits)
        return _answer(session, [])
    name, given = parse_game_text(payload["game"])
    for key in given.keys() & payload["params"].keys():
        raise ConfigError(f"game {payload['game']!r} sets {key}, which is also in params, expected it only once")
    game = load(name, {**given, **payload["params"]}, sources, work)
    position = payload["position"]
    state = game.new_initial_state() if position is None else game.state_from_text(position)
    seats = payload["seats"]
    for seat in seats or ():
        check_seat(seat, game, sources, limits)
    session = Session(
        state, payload["seed"], temperature=payload["temperature"], seats=seats, names=payload["names"], source=name
    )
    _apply(session, payload["moves"], limits, payload["draw"])
    return _answer(session, list(session.history))


def change_session(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Change a session: ``change`` is ``moves``, ``draw``, ``undo``, ``redo`` or ``view``, which changes nothing."""
    session = _read(payload["session"], _loader(payload["sources"], work))
    change, before = payload["change"], len(session.history)
    if change == "moves":
        _apply(session, payload["moves"], payload["limits"], payload["draw"])
    elif change == "draw":
        if not session.state.is_chance_node():
            raise IllegalActionError(f"{session.game.name}: got a draw, expected it at a chance node")
        _draw_all(session, payload["limits"])
    elif change in ("undo", "redo"):
        _walk(session, change, payload["unit"], payload["count"])
    return _answer(session, session.history[before:])


def play_seat(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Let the player of the seat to move play one action, or all until a person moves if ``all`` is set.

    If the time of a request or the steps of a session end before that, the actions so far are returned.
    """
    sources, limits = payload["sources"], payload["limits"]
    desk = Desk(sources, limits, work)
    session = _read(payload["session"], lambda name, params: desk.game(name, params)[1])
    before, latest = len(session.history), time.monotonic() + limits.seconds
    if session.state.is_chance_node():
        _draw_all(session, limits)
    made: dict[str, Any] = {}
    while not session.state.is_terminal():
        text = session.seats[session.state.current_player()]
        if text == PERSON:
            break
        key = ("play_seat", session.source, str(session.game.params), text)
        if not desk.is_warm(key):  # the first action of a player compiles its search
            desk.prepare()
        if text not in made:
            made[text] = _make_player(text, session.game, sources, limits)
        session.players[session.state.current_player()] = made[text]
        chosen = session.choose()
        desk.warmed(key)
        desk.begin()
        steps = len(session.history)
        try:
            session.act(*chosen)
            _draw_all(session, limits)
        except StepsError:
            if steps == before:
                raise
            while len(session.history) > steps:
                session.undo()
            session.undone.clear()
            break
        if not payload["all"] or time.monotonic() >= latest or work.stopped():
            break
    if len(session.history) == before:
        raise IllegalActionError(
            f"{session.game.name}: the game is over, expected a player to move"
            if session.state.is_terminal()
            else f"seat {session.state.current_player()} is {PERSON!r}, expected the seat of a player"
        )
    return _answer(session, session.history[before:])


def history(payload: Mapping[str, Any], work: Work) -> list[dict[str, Any]]:
    """Return all steps of a session with their names and positions."""
    session = _read(payload["session"], _loader(payload["sources"], work))
    steps = [_step(entry) for entry in session.history]
    _remember(session, payload["session"])
    return steps


def _walk(session: Session, change: str, unit: str, count: int) -> None:
    """Take steps back or play them again: single steps, decisions, or complete plays."""
    for _ in range(count):
        if unit == "step":
            moved: Any = session.undo() if change == "undo" else session.redo()
        else:
            walk = session.undo_decision if change == "undo" else session.redo_decision
            moved = walk(complete_plays=unit == "play")
        if not moved:
            nothing = "take back" if change == "undo" else "play again"
            raise IllegalActionError(f"{session.game.name}: nothing is left to {nothing}, expected a smaller count")


def _apply(session: Session, moves: str | Sequence[str | int], limits: Limits, draw: bool) -> None:
    """Apply actions and outcomes, given by name or id, and draw the outcomes that follow if ``draw`` is set."""
    for move in moves_of(moves) if isinstance(moves, str) else moves:
        if session.state.is_terminal():
            raise IllegalActionError(f"{session.game.name}: the game is over, got {move!r}, expected no more moves")
        action = find_move(session.state, move if isinstance(move, str) else f"#{move}")
        if session.state.is_chance_node():
            session.set_outcome(action)
        else:
            session.act(action)
        _require_steps(len(session.history), limits)
    if draw:
        _draw_all(session, limits)


def _draw_all(session: Session, limits: Limits) -> None:
    """Draw outcomes until a player decides or the game is over."""
    session.draw_all()
    _require_steps(len(session.history), limits)


def _require_few_steps(file: Any, limits: Limits) -> None:
    """Raise a StepsError before the steps of a file are played if they are too many."""
    lists = [file.get(name) for name in ("steps", "redo")] if isinstance(file, dict) else []
    _require_steps(sum(len(one) for one in lists if isinstance(one, list)), limits)


def _require_steps(steps: int, limits: Limits) -> None:
    if steps > limits.moves:
        raise StepsError(
            f"the session has more than {count_text(limits.moves, 'step')}, expected at most this many; its file can "
            "be continued and reviewed on the command line"
        )


def _read(data: Any, load: LoadGame) -> Session:
    """Return the session of JSON data: the remembered one if its data is equal. It is forgotten until ``_remember``."""
    for place, (known, session) in enumerate(_sessions):
        if known == data:
            del _sessions[place]
            return session
    return Session.from_dict(data, load=load)


def _loader(sources: Sources, work: Work) -> LoadGame:
    return lambda name, params: load(name, params, sources, work)


def _remember(session: Session, data: dict[str, Any]) -> None:
    _sessions.append((data, session))
    del _sessions[:-MOST_SESSIONS]


def load(name: str, params: Mapping[str, Any], sources: Sources, work: Work) -> Game:
    """Load a game that the command line or the package names, or return the one loaded before."""
    key = repr((name, sorted(params.items())))
    if key not in _loaded:
        text = sources.game_text(name)
        work.preparing()
        game = load_game(text, **params)
        game.json_params(ConfigError)
        work.ready()
        while len(_loaded) >= MOST_GAMES:
            _loaded.pop(next(iter(_loaded)))
        _loaded[key] = game
    return _loaded[key]


def _answer(session: Session, changes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    view, data = {**_view(session), "changes": [_step(entry) for entry in changes]}, session.to_dict()
    for entry in changes:  # values of searches are part of one answer only: they are not in the data of a session
        entry.update(value=None)
    _remember(session, data)
    return {"session": data, "view": without_nan(view)}


def _view(session: Session) -> dict[str, Any]:
    """Return what a front end shows of a session."""
    state = session.state
    player = state.current_player()
    return {
        "game": session.source,
        "params": session.game.json_params(ConfigError),
        "players": session.game.num_players,
        "seed": int(session.seed),
        "seats": list(session.seats),
        "names": list(session.names),
        "temperature": session.temperature,
        "node": KIND_NAMES[state.kind()],
        "player": player if player >= 0 else None,
        "position": state.to_text(),
        "board": str(state),
        "moves": _moves(state),
        "returns": [float(one) for one in state.returns()],
        "steps": len(session.history),
        "redo_steps": len(session.undone),
    }


def _moves(state: State) -> list[dict[str, Any]] | None:
    """Return the legal actions or the outcomes of a state; None if the outcomes are too many to list."""
    if state.is_chance_node():
        if not state.outcomes_listed():
            return None
        return [
            {"id": one, "name": state.action_to_string(one), "probability": p} for one, p in state.chance_outcomes()
        ]
    return [{"id": one, "name": state.action_to_string(one), "probability": None} for one in state.legal_actions()]


def _step(entry: Mapping[str, Any]) -> dict[str, Any]:
    rolled = entry["kind"] == "chance"
    value = entry.get("value")
    return without_nan({  # type: ignore[no-any-return]
        "player": CHANCE_PLAYER if rolled else entry["player"], "id": entry["outcome" if rolled else "action"],
        "name": entry["name"], "position": entry["position"], "value": value,
    })  # fmt: skip


# -- seats -------------------------------------------------------------------------------------------------------------


def check_seat(text: str, game: Game, sources: Sources, limits: Limits) -> PlayerSpec | None:
    """Return the spec of a seat's player, with the files that the command line named; None for a person.

    Raises:
        ConfigError: the text is not a player, exceeds a limit, or names a file that the command line did not name.
    """
    if text == PERSON:
        return None
    spec = parse_seat(text, game)
    if text == CHAMPION:
        return spec
    settings = dict(spec.settings)
    if spec.kind == FILE:
        raise ConfigError(f"seat is {text!r}, which names a file, expected a player without a file")
    if spec.kind in kit_of(game).players:
        for name, value in settings.items():
            if not _is_number(value):
                raise ConfigError(f"seat {text!r}: {name} is {value!r}, expected a number")
        _check_limits(text, settings, limits)
        return spec
    if "evaluator" in settings:
        settings["evaluator"] = sources.evaluator_text(settings["evaluator"])
    if "path" in settings:
        settings["path"] = _net_file(text, settings["path"], sources)
    _check_limits(text, settings, limits)
    return PlayerSpec(spec.kind, settings)


def _check_limits(text: str, settings: Mapping[str, Any], limits: Limits) -> None:
    for name in ("sims", "evaluations"):
        most = getattr(limits, name)
        if float(settings.get(name, 0)) > most:
            raise ConfigError(f"seat {text!r}: {name} is {settings[name]}, expected at most {most}")


def _net_file(text: str, name: str, sources: Sources) -> str:
    if name not in sources.nets and name not in OWN_NETS:
        known = ", ".join((*OWN_NETS, *sources.nets))
        raise ConfigError(f"seat {text!r}: no network {name!r}, expected {known}; --net names a file")
    return sources.nets.get(name, name)


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _make_player(text: str, game: Game, sources: Sources, limits: Limits) -> Any:
    from aleazero.players.make import make_plan, make_player, make_search
    from aleazero.players.search import PlanPlayer, SearchPlayer

    spec = check_seat(text, game, sources, limits)
    assert spec is not None
    if spec.kind == "plan":
        evaluator, settings = make_plan(spec, game)
        return PlanPlayer(game, evaluator, {**settings, "max_nodes": limits.plan_states})
    if spec.kind != "search":
        return make_player(spec, game)
    evaluator, config = make_search(spec, game, max_seconds=limits.seconds, max_nodes=limits.nodes)
    return SearchPlayer(game, evaluator, config, timed=True)
