"""Files of games to study: sessions, recorded games, and the game's own formats, read as one type, ``StudiedGame``.

Every step of a game is checked against the rules when the game is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aleazero.errors import ConfigError, ReplayError
from aleazero.evaluation.game_file import KIND as GAMES_KIND
from aleazero.evaluation.game_file import GameFile
from aleazero.files import os_errors_as, write_file
from aleazero.games.base import Game, State
from aleazero.games.kit import kit_of
from aleazero.games.registry import game_names, load_game
from aleazero.serving.session import Session
from aleazero.serving.steps import KIND as SESSION_KIND
from aleazero.serving.steps import MOST_STEPS, LoadGame, Step, checked_step, load_recorded, read_step
from aleazero.untrusted import parse_json, read_regular

LARGEST: Final = 100_000_000
"""Maximum number of bytes of a file that is read."""
EXPECTED: Final = "a session of `aleazero play --save` or recorded games of `aleazero match --save`"


@dataclass(frozen=True)
class StudiedGame:
    """A game to study, finished or not. All steps are legal."""

    game: Game
    start: State
    """The position before the first step; clone it before you change it."""
    steps: tuple[Step, ...]
    """(player, action) pairs; for chance the player is −1 and the action is the outcome."""
    names: tuple[str, ...]
    """Name of the player at each seat."""
    source: str
    """Where the game comes from, e.g. ``games.json, game 3``."""
    text: str = ""
    """Text that ``load_game`` accepts, without parameters."""
    seed: int | None = None
    """Seed of the dice; None if it is not known."""
    result: str = ""
    """How the game ended if the steps do not show it, e.g. by resignation; empty if it is not recorded."""
    info: dict[str, Any] = field(default_factory=dict)
    """More fields of the file, e.g. the number of the pair."""

    def positions(self) -> Iterator[tuple[State, Step | None]]:
        """Yield each state with the step that follows it, and the last state with None. The states are copies."""
        state = self.start.clone()
        for step in self.steps:
            yield state.clone(), step
            state.apply_action(step[1])
        yield state, None

    def end(self) -> State:
        """Return the position after the last step."""
        state = self.start.clone()
        for _, action in self.steps:
            state.apply_action(action)
        return state

    @property
    def complete(self) -> bool:
        """Whether the game is over after the last step."""
        return self.end().is_terminal()


def read_studied(
    path: Path, game: Game | None = None, *, load: LoadGame | None = None, index: int | None = None
) -> list[StudiedGame]:
    """Read the games of a file and check every step of them against the rules.

    Args:
        path: a session, recorded games of ``match --save`` or ``gate --replays``, or a format of a game's kit, e.g. a
            match file ``.mat`` of backgammon.
        game: the game that the file must contain; None for the game that the file names.
        load: loads a game from its text and parameters; default: ``load_game``, which runs a file that the text names.
        index: index of the only game to read and check; None for all games.

    Returns:
        The games, at least one.

    Raises:
        ConfigError: the file cannot be read, or has no game with this index.
        ReplayError: the file is damaged, has another format or game, or a step is illegal (which step, what was legal).
        GameError: the game cannot be loaded.
    """
    data, text = _read(path)
    if data is None:
        return _read_written(path, text, game, index)
    what, load = path.name, only_this(game, path.name, load)
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind == SESSION_KIND:
        _chosen(1, index, what)
        return [studied(Session.from_dict(data, load=load, what=what), what)]
    if kind == GAMES_KIND:
        return _recorded(GameFile.from_dict(data, what), what, load, index)
    raise ReplayError(f"{what} has no kind {SESSION_KIND!r} or {GAMES_KIND!r}, expected {EXPECTED}")


def studied(session: Session, source: str = "the game") -> StudiedGame:
    """Return the game of a session, without the steps that were taken back."""
    start = session.start_state()
    return StudiedGame(session.game, start, session.steps, tuple(session.names), source, session.source, session.seed)


def read_session(path: Path, *, load: LoadGame | None = None) -> Session:
    """Read a session from a file, without its players.

    Raises:
        ConfigError: the file cannot be read.
        ReplayError: the file is damaged, is not a session, or a step is illegal.
        GameError: the game cannot be loaded.
    """
    data, _ = _read(path)
    if isinstance(data, dict) and data.get("kind") == GAMES_KIND:
        raise ReplayError(f"{path.name} contains recorded games, expected a session of `aleazero play --save`")
    if data is None:
        raise ReplayError(f"{path.name} is not JSON, expected a session of `aleazero play --save`")
    return Session.from_dict(data, load=load, what=path.name)


def write_session(session: Session, path: Path) -> None:
    """Write a session to a file, atomically; raises ConfigError if it cannot be written."""
    data = session.to_dict()
    head = json.dumps(
        {name: value for name, value in data.items() if name not in ("steps", "redo")}, ensure_ascii=False
    )
    lists = ", ".join(f'"{name}": {json.dumps(data[name])}' for name in ("steps", "redo"))
    write_file(path, f"{head[:-1]},\n{lists}}}\n", ConfigError)


def _read(path: Path) -> tuple[Any, str]:
    """Return the JSON data of a file, or None if it is not JSON; and its text."""
    with os_errors_as(ConfigError, f"cannot read {str(path)!r}"):
        if path.is_file() and path.stat().st_size > LARGEST:
            raise ReplayError(f"{path.name} has {path.stat().st_size:,} bytes, expected at most {LARGEST:,}")
        raw = read_regular(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")  # match files are older than UTF-8
    if not text.lstrip().startswith(("{", "[")):
        return None, text
    try:
        return parse_json(text), text
    except ValueError as error:
        raise ReplayError(f"{path.name} is not JSON ({error}), expected {EXPECTED}") from None


def only_this(game: Game | None, what: str, load: LoadGame | None) -> LoadGame | None:
    """Return a loader that accepts this game only, if there is one."""
    if game is None:
        return load

    def same(text: str, params: Any) -> Game:
        of_file = ".py" in text  # the name of a file does not have to be that of its game, so only steps are checked
        if dict(params) != game.json_params(ReplayError) or not (of_file or text == game.name):
            given = ", ".join(f"{key}={value!r}" for key, value in sorted(params.items()))
            raise ReplayError(f"{what} has a game of {text}({given}), expected {game!r}")
        return game

    return same


def _chosen(count: int, index: int | None, what: str) -> Sequence[int]:
    """Return the indices of the games to read, of a file with this many."""
    if not count:
        raise ReplayError(f"{what} contains no games, expected at least one")
    if index is not None and not 0 <= index < count:
        raise ConfigError(f"is {index}, expected 0 to {count - 1}, the games of {what}", field="index")
    return range(count) if index is None else [index]


def _recorded(file: GameFile, what: str, load: LoadGame | None, index: int | None) -> list[StudiedGame]:
    game = load_recorded(file.game, file.params, file.rules_version, what, load)
    found = []
    for number in _chosen(len(file.games), index, what):
        one, where = file.games[number], f"{what}, game {number}"
        if len(one.players) != game.num_players:
            raise ReplayError(f"{where}: got {len(one.players)} players, expected {game.num_players}")
        steps = [read_step(step, f"{where}, step {place}") for place, step in enumerate(one.steps, 1)]
        end = _check(game.new_initial_state(), steps, where)
        if not end.is_terminal() or tuple(end.returns()) != one.returns:
            raise ReplayError(f"{where}: the game does not end as recorded, with returns {list(one.returns)}")
        found.append(
            StudiedGame(
                game, game.new_initial_state(), tuple(steps), one.players, where, file.game, one.seed,
                info={"pair": one.pair},
            )
        )  # fmt: skip
    return found


def _check(start: State, steps: Sequence[Step], where: str) -> State:
    """Check all steps; return the position after them."""
    if len(steps) > MOST_STEPS:
        raise ReplayError(f"{where}: got {len(steps):,} steps, expected at most {MOST_STEPS:,}")
    state = start
    for number, (player, action) in enumerate(steps, 1):
        state = checked_step(state, player, action, f"{where}, step {number}")
    return state


def _read_written(path: Path, text: str, game: Game | None, index: int | None) -> list[StudiedGame]:
    """Read a file in a format of a game's kit."""
    ending = path.suffix.casefold()
    choices = [load_game(name) for name in game_names()] if game is None and ending else [game] if game else []
    known: list[str] = []
    for one in choices:
        readers = kit_of(one).read_games
        known += readers
        if ending in readers:
            games, found = readers[ending](text), []
            for number in _chosen(len(games), index, path.name):
                written, where = games[number], f"{path.name}, game {number}"
                _check(one.new_initial_state(), written.steps, where)
                found.append(
                    StudiedGame(
                        one, one.new_initial_state(), written.steps, written.names, where, one.name,
                        result=written.result,
                    )
                )  # fmt: skip
            return found
    more = f", or a file that ends with {' or '.join(sorted(set(known)))}" if known else ""
    raise ReplayError(f"{path.name} is not JSON, expected {EXPECTED}{more}")
