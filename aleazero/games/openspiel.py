"""OpenSpiel's games as object games (the extra ``openspiel``).

Their states are told apart by history, as ``pyspiel.State.serialize`` writes it: transpositions stay apart.
"""

from __future__ import annotations

import math
from typing import Any

from aleazero.errors import GameError, UnknownGameError, nearest
from aleazero.games.base import GameInfo
from aleazero.games.objects import ObjectGame


def from_openspiel(name: str, **params: Any) -> ObjectGame:
    """A game of OpenSpiel's by its short name, e.g. ``from_openspiel("pig", winscore=20)``.

    Refused: simultaneous moves, hidden information, and chance that is sampled inside the game.
    """
    pyspiel = _import_pyspiel()
    # Looked up first: what pyspiel's loader does not know it also complains about on stderr.
    types = {game_type.short_name: game_type for game_type in pyspiel.registered_games()}
    if name not in types:
        raise UnknownGameError(f"OpenSpiel has no game {name!r}, {nearest(name, types)}")
    known = types[name].parameter_specification
    for key in params:
        if key not in known:
            raise GameError(f"OpenSpiel's {name}: no parameter {key!r}, {nearest(key, known)}")
    _require_searchable(pyspiel, name, types[name])
    try:
        game = pyspiel.load_game(name, params)
    except Exception as error:
        raise GameError(f"OpenSpiel cannot load {name} with {params}: {_first_line(error)}") from error
    _require_searchable(pyspiel, name, game.get_type())
    return ObjectGame(game.new_initial_state, _describe(name, game), params)


def _import_pyspiel() -> Any:
    try:
        import pyspiel
    except ImportError as error:
        raise GameError("OpenSpiel is not installed, expected pyspiel: pip install aleazero[openspiel]") from error
    return pyspiel


def _require_searchable(pyspiel: Any, name: str, game_type: Any) -> None:
    kinds = pyspiel.GameType
    if game_type.dynamics != kinds.Dynamics.SEQUENTIAL:
        what, expected = f"{game_type.dynamics.name.lower()} moves", "one player to move at a time"
    elif game_type.information != kinds.Information.PERFECT_INFORMATION:
        what, expected = "hidden information", "perfect information"
    elif game_type.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
        what, expected = "chance sampled inside the game", "explicit chance nodes"
    else:
        return
    raise GameError(f"OpenSpiel's {name} cannot be searched: got {what}, expected {expected}")


def _describe(name: str, game: Any) -> GameInfo:
    lowest, highest = float(game.min_utility()), float(game.max_utility())
    bounded = math.isfinite(lowest) and math.isfinite(highest) and lowest < highest
    observed = game.get_type().provides_observation_tensor
    return GameInfo(
        name=name,
        num_players=game.num_players(),
        num_actions=game.num_distinct_actions(),
        max_outcomes=game.max_chance_outcomes(),
        utility=(lowest, highest) if bounded else None,
        observation_size=game.observation_tensor_size() if observed else 0,
        observation_schema=f"openspiel-{name}",
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
