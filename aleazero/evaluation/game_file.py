"""Files of recorded games: the game, the players by seat, the seed of the dice, and every step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aleazero.errors import ConfigError, ReplayError
from aleazero.evaluation.pairs import PlayedPair
from aleazero.files import os_errors_as, write_atomic
from aleazero.games.base import Game
from aleazero.games.registry import parse_game_text
from aleazero.untrusted import parse_json, read_regular

FORMAT: Final = 1
KIND: Final = "aleazero games"


@dataclass(frozen=True)
class RecordedGame:
    """One game of a file."""

    pair: int
    players: tuple[str, ...]
    """Name of the player at each seat."""
    seed: int
    """Seed of the dice."""
    steps: tuple[tuple[int, int], ...]
    """(player, action) pairs; for chance the player is −1 and the action is the outcome."""
    returns: tuple[float, ...]


@dataclass(frozen=True)
class GameFile:
    """Recorded games of one game."""

    game: str
    """Text that ``load_game`` accepts."""
    params: Mapping[str, Any]
    rules_version: int
    games: tuple[RecordedGame, ...]

    @classmethod
    def of(cls, game: Game, source: str, names: tuple[str, str], pairs: Sequence[PlayedPair]) -> GameFile:
        """Record the games of pairs; ``names`` has the names of the first and second player."""
        games = tuple(
            RecordedGame(
                pair.number,
                tuple(names[0 if is_first else 1] for is_first in one.seating),
                one.seed,
                one.steps,
                one.returns,
            )
            for pair in pairs
            for one in pair.games
        )
        return cls.of_games(game, source, games)

    @classmethod
    def of_games(cls, game: Game, source: str, games: Sequence[RecordedGame]) -> GameFile:
        """Make a file of recorded games; ``source`` is a text that ``load_game`` accepts."""
        return cls(parse_game_text(source)[0], game.params, game.info.version, tuple(games))

    def to_bytes(self) -> bytes:
        """Return the content of the file, one game per line."""
        head = {"kind": KIND, "format": FORMAT, "game": self.game, "params": self.params}
        lines = ",\n".join(json.dumps({**vars(game)}, ensure_ascii=False) for game in self.games)
        text = json.dumps({**head, "rules_version": self.rules_version}, ensure_ascii=False)
        return f'{text[:-1]}, "games": [\n{lines}\n]}}\n'.encode()

    def write(self, path: Path) -> None:
        """Write the file, atomically."""
        write_atomic(path, [self.to_bytes()])

    @classmethod
    def read(cls, path: Path) -> GameFile:
        """Read a file and check its format, but not the steps of its games."""
        try:
            with os_errors_as(ConfigError, f"cannot read {str(path)!r}"):
                data = parse_json(read_regular(path))
        except ValueError as error:
            raise ReplayError(f"{path.name} is not JSON ({error}), expected a file of recorded games") from None
        return cls.from_dict(data, path.name)

    @classmethod
    def from_dict(cls, data: Any, what: str) -> GameFile:
        """Read JSON data and check its format; ``what`` is its name in error messages."""
        if not isinstance(data, dict) or data.get("kind") != KIND:
            raise ReplayError(
                f"{what} has no kind {KIND!r}, expected a file of `aleazero match --save` or `gate --replays`"
            )
        if data.get("format") != FORMAT:
            raise ReplayError(f"{what}: got format {data.get('format')!r}, expected {FORMAT}")
        try:
            games = tuple(_read(row) for row in data["games"])
            return cls(_is(data["game"], str), _is(data["params"], dict), _is(data["rules_version"], int), games)
        except (KeyError, TypeError, ValueError) as error:
            raise ReplayError(f"{what} is damaged ({error!r}), expected a file of recorded games") from None


def _read(row: Any) -> RecordedGame:
    steps = tuple((_is(player, int), _is(action, int)) for player, action in row["steps"])
    players, returns = (
        tuple(_is(one, kind) for one in row[name]) for name, kind in (("players", str), ("returns", float))
    )
    return RecordedGame(_is(row["pair"], int), players, _is(row["seed"], int), steps, returns)


def _is(value: Any, kind: type) -> Any:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value
