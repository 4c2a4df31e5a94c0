"""Recorded steps: read a session's JSON, load its game, and check each step against the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from aleazero.errors import AleaZeroError, GameError, ReplayError, shortened
from aleazero.games.base import CHANCE_PLAYER, Game, State
from aleazero.games.kernel import KernelState
from aleazero.games.registry import load_game, parse_game_text

KIND: Final = "aleazero session"
FORMAT: Final = 1
MOST_STEPS: Final = 200_000
"""Maximum number of steps of a game that is read."""
LONGEST_TEXT: Final = 10_000
"""Maximum number of characters of a text in a session that is read."""

Step = tuple[int, int]
"""A player and an action; for chance the player is −1 and the action is the outcome."""
LoadGame = Callable[[str, Mapping[str, Any]], Game]
"""Loads a game from its text and its parameters."""


_FIELDS: Final[dict[str, type]] = {
    "game": str,
    "params": dict,
    "rules_version": int,
    "seed": int,
    "start": str,
    "steps": list,
}
_OPTIONAL: Final[dict[str, tuple[type, Any]]] = {
    "redo": (list, []),
    "seats": (list, None),
    "names": (list, None),
    "temperature": (float, 0.0),
    "seconds": (float, None),
}


def read_fields(data: Any, what: str) -> dict[str, Any]:
    """Return the fields of a session with valid types."""
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise ReplayError(f"{what} has no kind {KIND!r}, expected a session that `aleazero play --save` wrote")
    if data.get("format") != FORMAT:
        raise ReplayError(f"{what}: format is {_quoted(data.get('format'))}, expected {FORMAT}")
    found: dict[str, Any] = {}
    for name, kind in _FIELDS.items():
        if name not in data:
            raise ReplayError(f"{what} has no {name!r}, expected it in a session")
        found[name] = _typed(data[name], kind, f"{what}: {name}")
    for name, (kind, default) in _OPTIONAL.items():
        value = data.get(name)
        found[name] = default if value is None else _typed(value, kind, f"{what}: {name}")
    for name in ("seats", "names"):
        for text in found[name] or ():
            _typed(text, str, f"{what}: {name}")
    if (count := len(found["steps"]) + len(found["redo"])) > MOST_STEPS:
        raise ReplayError(f"{what}: got {count:,} steps, expected at most {MOST_STEPS:,}")
    for name, before in (("steps", 0), ("redo", len(found["steps"]))):
        found[name] = [read_step(row, f"{what}, step {before + number}") for number, row in enumerate(found[name], 1)]
    return found


def read_step(row: Any, where: str) -> Step:
    """Return a step that is read from JSON; raise a ReplayError if it is not two integers of 32 bits."""
    if not isinstance(row, list | tuple) or len(row) != 2:
        raise ReplayError(f"{where}: got {_quoted(row)}, expected [PLAYER, ACTION]")
    for number in row:
        if isinstance(number, bool) or not isinstance(number, int) or not -1 <= number < 2**31:
            raise ReplayError(f"{where}: got {_quoted(row)}, expected two integers from -1 to 2^31 - 1")
    return row[0], row[1]


def _typed(value: Any, kind: type, what: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
        raise ReplayError(f"{what} is {_quoted(value)}, expected {_TYPES[kind]}")
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise ReplayError(f"{what} has {len(value):,} characters, expected at most {LONGEST_TEXT:,}")
    return value


_TYPES: Final = {str: "a text", dict: "an object", int: "an integer", list: "a list", float: "a number"}


def _quoted(value: Any) -> str:
    return shortened(repr(value), 80, 20)


def load_recorded(
    text: str,
    params: Mapping[str, Any],
    rules_version: int,
    what: str,
    load: LoadGame | None = None,
) -> Game:
    """Load the game of a recorded game; its rules must have the recorded version."""
    try:
        game = (load or _load)(text, params)
    except GameError as error:
        raise GameError(f"{what}: {error}") from error
    if game.info.version != rules_version:
        raise ReplayError(f"{what}: got rules of version {rules_version}, expected {game.info.version} of {game!r}")
    return game


def _load(text: str, params: Mapping[str, Any]) -> Game:
    return load_game(parse_game_text(text)[0], **params)


def checked_step(state: State, player: int, action: int, where: str) -> State:
    """Return the state after a recorded step; ``state`` does not change.

    Raises:
        ReplayError: the rules do not allow the step; the message has the position and what is legal.
    """
    mover = state.current_player()
    try:
        if state.is_terminal():
            problem = "got a step after the end of the game, expected none"
        elif player != mover:
            expected = "chance (-1)" if mover == CHANCE_PLAYER else f"player {mover}"
            problem = f"got player {player}, expected {expected}"
        else:
            return possible_child(state, action)
    except AleaZeroError as error:
        problem = str(error)
    except Exception as error:  # the rules of a user's game may raise anything
        problem = f"the rules raised {type(error).__name__}: {error}"
    raise ReplayError(f"{where}: {problem} in {shortened(state.to_text(), 200, 50)!r}")


def possible_child(state: State, action: int) -> State:
    """Return the state after an action or outcome; ``state`` does not change.

    Raises:
        IllegalActionError: the action is illegal, the outcome is impossible, or the game is over.
        PositionError: the outcomes are too many to list, and this one leads to an impossible position.
    """
    after = state.child(action)
    if state.is_chance_node() and not state.outcomes_listed() and isinstance(after, KernelState):
        state.game.state_from_vector(after.vector)  # the rules accept any outcome: check the position it leads to
    return after
