"""Played games in a file, to be looked at again: which game, who sat where, the seed of the dice, and every step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError, ReplayError
from aleazero.evaluation.pairs import PlayedPair
from aleazero.files import os_errors_as, write_whole
from aleazero.games.base import Game, State
from aleazero.games.registry import parse_game_text
from aleazero.untrusted import parse_json, read_regular

FORMAT: Final = 1
KIND: Final = "aleazero games"


@dataclass(frozen=True)
class RecordedGame:
    """A game of the file."""

    pair: int
    players: tuple[str, ...]
    """By seat."""
    seed: int
    """Of its dice."""
    steps: tuple[tuple[int, int], ...]
    """(player, action); the player is −1 for chance, and the action its outcome."""
    returns: tuple[float, ...]

    def positions(self, game: Game) -> Iterator[tuple[State, tuple[int, int] | None]]:
        """The first position with None, then each position with the step that led to it; every step is checked."""
        state = game.new_initial_state()
        yield state.clone(), None
        for number, (player, action) in enumerate(self.steps):
            if player != state.current_player():
                raise ReplayError(
                    f"step {number}: got player {player}, expected {state.current_player()} in {state.to_text()!r}"
                )
            try:
                state.apply_action(action)
            except AleaZeroError as error:
                raise ReplayError(f"step {number}: {error}") from None
            yield state.clone(), (player, action)


@dataclass(frozen=True)
class GameFile:
    """Games of one kind."""

    game: str
    """What ``load_game`` takes."""
    params: Mapping[str, Any]
    rules_version: int
    games: tuple[RecordedGame, ...]

    @classmethod
    def of(cls, game: Game, source: str, names: tuple[str, str], pairs: Sequence[PlayedPair]) -> GameFile:
        """The games of some pairs; ``names`` are of the first player and the second."""
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
        return cls(parse_game_text(source)[0], game.params, game.info.version, games)

    def to_bytes(self) -> bytes:
        """The file, a game a line."""
        head = {"kind": KIND, "format": FORMAT, "game": self.game, "params": self.params}
        lines = ",\n".join(json.dumps({**vars(game)}, ensure_ascii=False) for game in self.games)
        text = json.dumps({**head, "rules_version": self.rules_version}, ensure_ascii=False)
        return f'{text[:-1]}, "games": [\n{lines}\n]}}\n'.encode()

    def write(self, path: Path) -> None:
        """Write the file; it is there whole or not at all."""
        write_whole(path, [self.to_bytes()])

    @classmethod
    def read(cls, path: Path) -> GameFile:
        """Read a file of games, and check its form; whether steps are allowed is found when they are played."""
        try:
            with os_errors_as(ConfigError, f"cannot read {str(path)!r}"):
                data = parse_json(read_regular(path))
        except ValueError as error:
            raise ReplayError(f"{path.name}: got what is no JSON ({error}), expected a file of games") from None
        if not isinstance(data, dict) or data.get("kind") != KIND:
            raise ReplayError(f"{path.name}: got no {KIND!r}, expected a file that `aleazero gate --replays` wrote")
        if data.get("format") != FORMAT:
            raise ReplayError(f"{path.name}: got format {data.get('format')!r}, expected {FORMAT}")
        try:
            games = tuple(_read(row) for row in data["games"])
            return cls(_is(data["game"], str), _is(data["params"], dict), _is(data["rules_version"], int), games)
        except (KeyError, TypeError, ValueError) as error:
            raise ReplayError(
                f"{path.name}: got a damaged file of games ({error!r}), expected one as written"
            ) from None


def _read(row: Any) -> RecordedGame:
    steps = tuple((_is(player, int), _is(action, int)) for player, action in row["steps"])
    players, returns = (
        tuple(_is(one, kind) for one in row[name]) for name, kind in (("players", str), ("returns", float))
    )
    return RecordedGame(_is(row["pair"], int), players, _is(row["seed"], int), steps, returns)


def _is(value: Any, kind: type) -> Any:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value
