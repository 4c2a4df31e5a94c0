"""Load games: bundled games, registered games, and games in a user's file."""

from __future__ import annotations

import ast
import importlib
import math
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aleazero.errors import AleaZeroError, ContractError, GameError, UnknownGameError, nearest
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.kit import GameKit, give_kit
from aleazero.games.objects import METHODS, ObjectGame, is_object_game
from aleazero.untrusted import path_exists

_BUNDLED = {
    "2048": ("aleazero.games.twenty48", None),
    "azul": ("aleazero.games.azul.rules", "aleazero.evaluation.azul"),
    "backgammon": ("aleazero.games.backgammon.rules", "aleazero.evaluation.backgammon"),
    "dice_game": ("aleazero.games.dice_game", None),
    "pig": ("aleazero.games.pig", None),
    "tic_tac_toe": ("aleazero.games.tic_tac_toe", None),
    "yatzy": ("aleazero.games.yatzy.rules", "aleazero.evaluation.yatzy"),
}
"""By name: the module of the rules, and the module of the kit if the kit needs higher layers. It is imported on use."""
_registered: dict[str, Any] = {}

for _rules, _kit in _BUNDLED.values():
    if _kit is not None:
        give_kit(_rules, _kit)


def game_names() -> list[str]:
    """Return the names of all bundled and registered games, sorted."""
    return sorted({*_BUNDLED, *_registered})


def is_bundled(game: Game) -> bool:
    """Return whether a game is bundled, and not a user's game with the same name."""
    return isinstance(game, KernelGame) and game.module.__name__ == _BUNDLED.get(game.name, (None,))[0]


def register_game(name: str, source: Any, kit: GameKit | Callable[[Game], GameKit] | None = None) -> None:
    """Register a game by name.

    Args:
        name: the name for ``load_game``.
        source: the module of a kernel game, or the class of an object game.
        kit: the kit of the game, or a function that makes it from the game. Worker processes load the game from its
            file, and see only the ``kit`` in that file.

    Raises:
        GameError: a bundled game has this name.
        ContractError: the source is not a game.
    """
    if name in _BUNDLED:
        raise GameError(f"the name {name!r} belongs to a bundled game, expected another name")
    _require_game(source, name)
    _registered[name] = source
    give_kit(source, kit)


def load_game(name: str | types.ModuleType | type, /, **params: Any) -> Game:
    """Load a game.

    Args:
        name: the name of a bundled or registered game, a file as ``path/file.py`` or ``path/file.py:NAME``, or the
            module or class of a game. A text may end with parameters, as ``repr(game)`` prints them, e.g.
            ``pig(target=50)``.
        **params: parameters of the game, in addition to those in the text.

    Returns:
        The game with its parameters fixed.

    Raises:
        UnknownGameError: no game has this name, or there is no such file.
        GameError: the text or a parameter is invalid, or the file cannot be imported.
        ContractError: the source is not a game.
    """
    if not isinstance(name, str):
        return _make(name, params)
    text, (name, given) = name, parse_game_text(name)
    for key in given.keys() & params.keys():
        raise GameError(f"game {text!r} sets {key}, which is also given as a parameter, expected it only once")
    params = {**given, **params}
    file, wanted = _split_file(name)
    if file is not None:
        return _make(_find_in(import_file(file), wanted, file), params)
    if name in _registered:
        return _make(_registered[name], params)
    if name in _BUNDLED:
        return _make(importlib.import_module(_BUNDLED[name][0]), params)
    raise UnknownGameError(f"no game {name!r}, {nearest(name, game_names())}")


def parse_game_text(text: str) -> tuple[str, dict[str, Any]]:
    """Split the text of a game into its name and its parameters.

    Args:
        text: a name or ``path/file.py:NAME``, optionally followed by parameters, e.g. ``pig(target=50)``. A value is a
            Python literal or a bare word; a bare word is a string, except ``true`` and ``false``.

    Returns:
        The text before the parameters, and the parameters by name.

    Raises:
        GameError: the parameters cannot be read.
    """
    name, arguments = _split_arguments(text)
    keywords = None if name is None else _parse_keywords(arguments)
    if name is None or keywords is None:
        raise GameError(f"cannot read the game {text!r}, expected NAME or NAME(KEY=VALUE, ...), e.g. pig(target=50)")
    params: dict[str, Any] = {}
    for key, value in keywords:
        if key in params:
            raise GameError(f"game {text!r}: {key} is given twice, expected it only once")
        try:
            is_word = isinstance(value, ast.Name)
            params[key] = _BARE_WORDS.get(value.id, value.id) if is_word else ast.literal_eval(value)
        except (ValueError, TypeError, RecursionError, MemoryError):
            raise GameError(
                f"game {text!r}: cannot read the value of {key}, expected a number, True, False or a quoted text"
            ) from None
    return name, params


_GAME_TEXT = re.compile(r"(.*?\.py(?::[^():]*)?|[^()]*)(\(.*\))?", re.DOTALL)
"""A file or a name, and the parameters in parentheses. The path of a file may contain parentheses."""
_LONGEST_TEXT = 10_000
_BARE_WORDS = {"true": True, "false": False, "inf": math.inf, "nan": math.nan}


def _split_arguments(text: str) -> tuple[str | None, str]:
    """Split ``pig(target=50)`` into ``pig`` and ``(target=50)``; the name is None if the text cannot be read."""
    found = _GAME_TEXT.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    return (None, "") if found is None else (found[1], found[2] or "")


def _parse_keywords(arguments: str) -> list[tuple[str, Any]] | None:
    """Return the names and the expressions of ``(target=50)``; None if it is not a list of keyword arguments."""
    try:
        with warnings.catch_warnings():  # Python warns about texts such as '\d' and 1or
            warnings.simplefilter("ignore")
            call = ast.parse(f"game{arguments or '()'}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        return None
    keywords = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    return keywords if len(keywords) == len(call.keywords) else None


def _split_file(name: str) -> tuple[Path | None, str]:
    """Split ``path/file.py:NAME`` into the file and NAME, which is empty if not given; no file for other texts."""
    path, colon, wanted = name.rpartition(".py:")
    if colon:
        return Path(f"{path}.py"), wanted
    return (Path(name) if name.endswith(".py") else None), ""


_loaded: dict[str, Game] = {}


def load_game_once(name: str, params: Mapping[str, Any]) -> Game:
    """Load a game, or return the one that the last call loaded: a worker process has the same game in every job.

    Args:
        name: the text that the game was loaded by. Parameters in it are ignored.
        params: all parameters of the game.
    """
    key = repr((name, sorted(params.items())))
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = load_game(parse_game_text(name)[0], **params)
    return _loaded[key]


def title_of(text: str) -> str:
    """Return the text of a game without the path of a file: ``race`` for ``games/race.py``."""
    name, arguments = _split_arguments(text)
    if name is None:
        return text
    file, wanted = _split_file(name)
    return (name if file is None else wanted or file.stem) + arguments


def _make(source: Any, params: dict[str, Any]) -> Game:
    if isinstance(source, types.ModuleType):
        return KernelGame(source, params, _title_of_module(source))
    _require_game(source, getattr(source, "__name__", repr(source)))
    return ObjectGame.from_class(source, params)


def _title_of_module(module: types.ModuleType) -> str:
    """Return the name of a kernel game for errors: that of a bundled game, else the last part of the module's name."""
    names = (name for name, (rules, _) in _BUNDLED.items() if rules == module.__name__)
    return next(names, module.__name__.rpartition(".")[2])


def _require_game(source: Any, name: str) -> None:
    if isinstance(source, types.ModuleType) and callable(getattr(source, "describe", None)):
        return
    if not is_object_game(source):
        raise ContractError(
            f"{name} is not a game, expected a module with describe() or a class with {', '.join(METHODS)}"
        )


def import_file(file: Path) -> types.ModuleType:
    """Run a user's Python file and return it as a module.

    Raises:
        UnknownGameError: there is no such file.
        GameError: the file cannot be imported.
    """
    if not path_exists(file) or not file.is_file():
        raise UnknownGameError(f"no file {str(file)!r}, expected path/file.py or path/file.py:NAME")
    module = types.ModuleType(file.stem)
    module.__file__ = str(file)
    with _folder_on_path(file), _in_sys_modules(module):
        try:
            # Compiled from the text and not from a cached .pyc, which could miss an edit within a second.
            exec(compile(file.read_bytes(), str(file), "exec"), vars(module))
        except AleaZeroError:
            raise
        except (Exception, SystemExit) as error:
            raise GameError(f"cannot import {str(file)!r}: {type(error).__name__}: {error}") from error
    return module


@contextmanager
def _folder_on_path(file: Path) -> Iterator[None]:
    """Let a user's file import other files in its folder."""
    folder = str(file.resolve().parent)
    before = set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:  # files of the same name in other folders are other modules
            place = getattr(sys.modules[name], "__file__", None)
            if place and str(Path(place).resolve().parent).startswith(folder):
                del sys.modules[name]


@contextmanager
def _in_sys_modules(module: types.ModuleType) -> Iterator[None]:
    """List a module in ``sys.modules`` while it is run, because dataclasses look up their module."""
    taken = module.__name__ in sys.modules
    sys.modules.setdefault(module.__name__, module)
    try:
        yield
    finally:
        if not taken:
            sys.modules.pop(module.__name__, None)


def _find_in(module: types.ModuleType, wanted: str, file: Path) -> Any:
    """Return the game NAME of a file: a class, or the module itself if it is a kernel game."""
    classes = {
        name: value
        for name, value in vars(module).items()
        if is_object_game(value) and value.__module__ == module.__name__
    }
    found: dict[str, Any] = dict(classes)
    if callable(getattr(module, "describe", None)):
        found[KernelGame(module, {}).name] = module
    if wanted in found:
        return found[wanted]
    if not wanted and len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise GameError(f"{str(file)!r} has no game, expected describe() or a class with {', '.join(METHODS)}")
    raise UnknownGameError(f"no game {wanted!r} in {str(file)!r}, {nearest(wanted, found)}")
