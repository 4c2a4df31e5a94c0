"""Tasks of the pages that need the rules of a game. They run in worker processes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from aleazero.errors import ConfigError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.registry import game_names, parse_game_text
from aleazero.serving.api.listings import players
from aleazero.serving.api.tasks import Work, load


def bundled_games(payload: Mapping[str, Any], work: Work) -> list[str]:
    """Return the names of the bundled games."""
    return game_names()


def describe_card(payload: Mapping[str, Any], work: Work) -> dict[str, Any]:
    """Describe a game for the lobby: texts, parameters with their types, seats, and a picture of a position."""
    text = payload["text"]
    name, params = parse_game_text(text)
    game = load(name, params, payload["sources"], work)
    return {
        "game": text,
        "name": name,
        "title": title_of(game),
        "about": _about(game),
        "params": game.json_params(ConfigError),
        "fixed": list(params),
        "help": _help(game),
        "players": game.num_players,
        "chance": game.info.max_outcomes > 0,
        "kinds": players({"sources": payload["sources"], "game": text}, work),
        "picture": str(game.new_initial_state()),
        "error": None,
    }


def title_of(game: Game) -> str:
    """Return the name of a game for people."""
    return game.name.replace("_", " ").capitalize()


def _about(game: Game) -> str:
    """Return the first sentence about a game, without its name."""
    text = " ".join((_doc(game) or "").strip().split("\n\n")[0].split())
    name, colon, rest = text.partition(": ")
    sentence = rest if colon and len(name.split()) <= 3 else text
    return sentence[:1].upper() + sentence[1:]


def _doc(game: Game) -> str | None:
    return getattr(getattr(game, "module", None), "__doc__", None)


def _help(game: Game) -> str:
    """Return the documentation of the parameters."""
    source = game.module.describe if isinstance(game, KernelGame) else None
    return inspect.cleandoc(source.__doc__ or "") if source is not None and game.params else ""
