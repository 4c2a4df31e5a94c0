"""Tasks of the HTTP API that list games, players and runs. They run in worker processes.

A client names a game or a run; the name is compared with those that exist, and no path is made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError
from aleazero.files import without_nan
from aleazero.games.base import Game
from aleazero.games.kit import kit_of
from aleazero.games.registry import game_names, parse_game_text, title_of
from aleazero.players.spec import SETTINGS
from aleazero.serving.api.tasks import TaskError, load
from aleazero.serving.requests import OWN_NETS
from aleazero.serving.session import CHAMPION, PERSON
from aleazero.serving.work import Work

ABOUT: Final = {
    "random": "plays a random legal action",
    "greedy": "the simple player of a game; a game may have none",
    "playout": "plays as the playouts of a search",
    "oracle": "plays exact values, if the game has them",
    "search": "searches a tree",
    "plan": "plans a turn, the game or a number of plies with exact chance",
}
"""Kinds of players that need no file."""


# -- games -------------------------------------------------------------------------------------------------------------


def games(payload: Mapping[str, Any], work: Work) -> list[dict[str, Any]]:
    """Describe the bundled games, or those with the given names, which may have parameters."""
    names = game_names() if payload["names"] is None else payload["names"]
    return [_describe(name, load(*parse_game_text(name), payload["sources"], work)) for name in names]


def _describe(name: str, game: Game) -> dict[str, Any]:
    info = game.info
    text = (getattr(getattr(game, "module", None), "__doc__", None) or "").strip().partition("\n")[0]
    return {
        "name": parse_game_text(name)[0],
        "title": game.name,
        "about": text,
        "params": game.json_params(ConfigError),
        "players": game.num_players,
        "actions": game.num_actions,
        "max_outcomes": info.max_outcomes,
        "lists_outcomes": info.lists_outcomes,
        "utility": None if info.utility is None else list(info.utility),
        "rules_version": info.version,
        "position": game.new_initial_state().to_text(),
        "error": None,
    }


# -- players -----------------------------------------------------------------------------------------------------------


def players(payload: Mapping[str, Any], work: Work) -> list[dict[str, Any]]:
    """Return the kinds of players of a game with their settings."""
    from aleazero.players.champions import champion_of

    sources = payload["sources"]
    name, params = parse_game_text(payload["game"])
    game = load(name, params, sources, work)
    found = [_kind(PERSON, "a person; its actions are sent as moves")]
    if (champion := champion_of(game)) is not None:
        found.append(_kind(CHAMPION, f"the bundled network, as {champion.engine}"))
    hidden = {"inference", "net"}
    types = {kind: {key: of.__name__ for key, of in settings.items() if key not in hidden}
             for kind, settings in SETTINGS.items()}  # fmt: skip
    found += [_kind(kind, ABOUT[kind], settings) for kind, settings in types.items() if kind in ABOUT]
    nets = [net for net in (*OWN_NETS, *sources.nets) if net != CHAMPION or champion is not None]
    found += [_kind(f"net:{net}", "a network", types["net"]) for net in nets]
    found += [_kind(kind, f"a player of {game.name}") for kind in kit_of(game).players if kind not in SETTINGS]
    return found


def _kind(player: str, about: str, settings: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {"player": player, "about": about, "settings": dict(settings or {})}


# -- runs --------------------------------------------------------------------------------------------------------------


def runs(payload: Mapping[str, Any], work: Work) -> list[dict[str, Any]]:
    """Return the summaries of all runs in the folder; a damaged run has an error."""
    from aleazero.runs.summary import find_runs

    return [_summary(path, payload["folder"]) for path in find_runs(payload["folder"])]


def run(payload: Mapping[str, Any], work: Work) -> dict[str, Any] | None:
    """Return the summary of a run, or its error; None if the folder has no run with this name."""
    path = run_path(payload)
    return None if path is None else _summary(path, payload["folder"])


def scalars(payload: Mapping[str, Any], work: Work) -> dict[str, Any] | None:
    """Return the numbers of a run's events whose names start with ``prefix``; None if there is no such run."""
    from aleazero.runs.events import EVENTS, read_events, scalars_of

    path = run_path(payload)
    if path is None:
        return None
    try:
        every = scalars_of(read_events(path / EVENTS))
    except AleaZeroError as error:
        raise TaskError("damaged", _without_folder(error, payload["folder"])) from None
    found = [one for one in every if one.name.startswith(payload["prefix"])]
    first = payload["offset"]
    rows = [one._asdict() for one in found[first : first + payload["count"]]]
    return {"run": path.name, "total": len(found), "scalars": without_nan(rows)}


def run_path(payload: Mapping[str, Any]) -> Path | None:
    """Return the directory of a run by its name. The name is compared with those in the folder, and never opened."""
    from aleazero.runs.summary import find_runs

    return next((path for path in find_runs(payload["folder"]) if path.name == payload["name"]), None)


def _summary(path: Path, folder: Path) -> dict[str, Any]:
    """Return the summary of a run, or its error, without the paths of this machine."""
    from aleazero.runs.summary import summary_lines, summary_of

    try:
        data = summary_of(path)
    except AleaZeroError as error:
        return {"run": path.name, "error": _without_folder(error, folder)}
    data |= {"run": path.name, "game": title_of(data["game"])}
    return without_nan({**data, "lines": summary_lines(data), "error": None})  # type: ignore[no-any-return]


def _without_folder(error: AleaZeroError, folder: Path) -> str:
    return str(error).replace(f"{folder}/", "")
