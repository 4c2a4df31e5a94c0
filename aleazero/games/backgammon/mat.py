"""Match files ``.mat``, the text format of Jellyfish that GNU Backgammon and other programs read and write.

A game is a table with a column for each player; player 0 is on the left. Doubles, takes and drops are kept, but the
rules have no cube: they do not change the positions. A game can also end by a drop or by resignation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from aleazero.errors import AleaZeroError, IllegalActionError, PositionError, shortened
from aleazero.games.backgammon.board import HIGH, LOW, NUM_ROLLS, PLAYER, SETUP
from aleazero.games.backgammon.notation import Step, parse_move, steps_of_move
from aleazero.games.base import CHANCE, CHANCE_PLAYER, DECISION
from aleazero.games.kit import WrittenGame

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

LEFT_WIDTH, WIN_INDENT = 27, (6, 34)
"""Width of the left column, and columns of the line that names the points won by each player."""
CUBE_ACTIONS = ("double", "take", "drop")


@dataclass(frozen=True)
class Turn:
    """An entry of a game: a roll with a move, or an action of the cube."""

    player: int
    """0 for the left column, 1 for the right one."""
    dice: tuple[int, int] | None
    """The dice in the order of the file; None for an action of the cube."""
    move: str = ""
    """The move in standard notation; empty if no die can be played."""
    cube: str = ""
    """``double``, ``take`` or ``drop``; empty for a roll."""
    value: int = 0
    """New value of the cube, for ``double``."""


@dataclass(frozen=True)
class MatchGame:
    """One game of a match."""

    turns: tuple[Turn, ...]
    """All entries in order."""
    scores: tuple[int, int] = (0, 0)
    """Points of both players before the game."""
    winner: int | None = None
    """The player who won; None if the game is not finished."""
    points: int = 0
    """Points that the winner got."""

    def replay(self) -> Iterator[tuple[KernelState, tuple[int, ...]]]:
        """Yield every rolled position with the actions that were played there.

        Yields:
            The decision at which a move begins, and the actions of the move.

        Raises:
            IllegalActionError: a move is illegal.
        """
        state = _new_game()
        for turn in self.turns:
            if turn.dice is not None:
                _, before, actions = _play(state, turn)
                yield before, actions

    def steps(self) -> tuple[tuple[int, int], ...]:
        """Return all rolls and actions as (player, action) pairs; the player of a roll is −1.

        Raises:
            IllegalActionError: a move is illegal.
        """
        state, found = _new_game(), list[tuple[int, int]]()
        for turn in self.turns:
            if turn.dice is not None:
                roll, _, actions = _play(state, turn)
                found += [(CHANCE_PLAYER, roll), *((turn.player, action) for action in actions)]
        return tuple(found)


@dataclass(frozen=True)
class Match:
    """A match or, with length 0, a session for money."""

    games: tuple[MatchGame, ...]
    players: tuple[str, str] = ("player 0", "player 1")
    """Names of the players."""
    length: int = 0
    """Points that win the match; 0 if there is no limit."""


def _new_game() -> KernelState:
    from aleazero.games.registry import load_game

    return cast("KernelGame", load_game("backgammon")).new_initial_state()


def _play(state: KernelState, turn: Turn) -> tuple[int, KernelState, tuple[int, ...]]:
    """Play a turn; return its roll, the decision at which its move begins, and its actions."""
    assert turn.dice is not None
    if state.is_terminal():
        raise IllegalActionError("the game is over, expected no more moves")
    high, low = max(turn.dice), min(turn.dice)
    roll = high * (high - 1) // 2 + low - 1
    if state.vector[SETUP]:
        if high == low:
            raise IllegalActionError(f"the opening roll is {high}-{low}, expected two different dice")
        roll += NUM_ROLLS * turn.player
    elif turn.player != state.vector[PLAYER]:
        raise IllegalActionError(f"player {turn.player} moves, expected player {state.vector[PLAYER]}")
    state._apply(roll)
    before, actions = state.clone(), tuple(parse_move(state, turn.move))
    for action in actions:
        state._apply(action)
    return roll, before, actions


def record_game(actions: Sequence[int], scores: tuple[int, int] = (0, 0)) -> MatchGame:
    """Make a game for a match file from the actions and outcomes of an episode.

    Args:
        actions: all outcomes and actions from the opening roll on.
        scores: points of both players before the game.

    Returns:
        The game. An incomplete last move is left out.

    Raises:
        IllegalActionError: an action is illegal.
    """
    state, turns = _new_game(), []
    before, played = state.clone(), list[int]()
    for action in actions:
        if state.kind() == CHANCE:
            state.apply_action(action)
            before, played = state.clone(), []
            continue
        state.apply_action(action)
        played.append(action)
        if state.kind() != DECISION:
            dice = (int(before.vector[HIGH]), int(before.vector[LOW]))
            turns.append(Turn(int(before.vector[PLAYER]), dice, _plain_move(steps_of_move(before, played))))
    won = max(state.returns())
    winner = int(state.vector[PLAYER]) if state.is_terminal() else None
    return MatchGame(tuple(turns), scores, winner, int(won))


def _plain_move(steps: Sequence[Step]) -> str:
    """Return half-moves one by one, with numbers for the bar (25) and off (0), as GNU Backgammon writes them."""
    return " ".join(f"{step.start}/{step.end}{'*' * step.hits}" for step in steps)


# -- writing -----------------------------------------------------------------------------------------------------------


def write_mat(match: Match) -> str:
    """Return a match as the text of a ``.mat`` file.

    Args:
        match: the match; its moves are written as they are.

    Returns:
        The text.

    Raises:
        PositionError: a name cannot be written, or a turn has neither dice nor an action of the cube.
    """
    for name in match.players:
        if not name.strip() or re.search(r"[\n\r]| : ", name):
            raise PositionError(f"backgammon: got the name {name!r}, expected one line without ' : '")
    lines = [f" {match.length} point match", ""]
    for number, game in enumerate(match.games, 1):
        names = [f"{name} : {score}" for name, score in zip(match.players, game.scores, strict=True)]
        lines += [f" Game {number}", f" {names[0]:<31} {names[1]}", *_rows(game)]
        if game.winner is not None:
            plural = "" if game.points == 1 else "s"
            lines.append(f"{' ' * WIN_INDENT[game.winner]}Wins {game.points} point{plural}")
        lines.append("")
    return "\n".join(lines) + "\n"


def _rows(game: MatchGame) -> list[str]:
    """Return the numbered lines of a game, with a cell for each player."""
    cells: list[list[str]] = []
    for turn in game.turns:
        if not cells or turn.player == 0 or cells[-1][1]:
            cells.append(["", ""])
        cells[-1][turn.player] = _cell_of(turn)
    return [f"{number:3}) {left:<{LEFT_WIDTH}} {right}".rstrip() for number, (left, right) in enumerate(cells, 1)]


def _cell_of(turn: Turn) -> str:
    if turn.dice is not None:
        return f"{turn.dice[0]}{turn.dice[1]}: {turn.move}"
    if turn.cube not in CUBE_ACTIONS:
        raise PositionError(f"backgammon: got a turn without dice and the cube action {turn.cube!r}, expected a roll")
    return {"double": f" Doubles => {turn.value}", "take": " Takes", "drop": " Drops"}[turn.cube]


# -- reading -----------------------------------------------------------------------------------------------------------

_LENGTH = re.compile(r"([0-9]{1,4}) points? match", re.IGNORECASE)
_GAME = re.compile(r"Game ([0-9]{1,6})", re.IGNORECASE)
_NAMES = re.compile(r"(.*?\S) : ([0-9]{1,4})\s+(\S.*?) : ([0-9]{1,4})")
_ROW = re.compile(r"\s*[0-9]{1,4}\)")
_WINS = re.compile(r"Wins ([0-9]{1,5}) points?(?: and the match)?\.?", re.IGNORECASE)
_CELL = re.compile(r"(?:\b([1-6])([1-6]):|\b(Doubles?) => ([0-9]{1,6})|\b(Takes?)\b|\b(Drops?)\b)", re.IGNORECASE)
RIGHT_COLUMN = 20
"""A single cell of a line that begins here or later belongs to the right player."""


def read_mat(text: str) -> Match:
    """Read the text of a ``.mat`` file and play all its moves.

    Args:
        text: the content of the file.

    Returns:
        The match. Its moves are those of the file.

    Raises:
        PositionError: the text is not a match file. The message has the number of the line.
        IllegalActionError: a move is illegal. The message has the number of the line.
    """
    return _Reader(text).read()


def read_mat_games(text: str) -> list[WrittenGame]:
    """Read the games of a ``.mat`` file for analysis; raises as ``read_mat``."""
    match = read_mat(text)
    return [WrittenGame(game.steps(), match.players, _result(game, match.players)) for game in match.games]


def _result(game: MatchGame, names: tuple[str, str]) -> str:
    if game.winner is None:
        return ""
    plural = "" if game.points == 1 else "s"
    dropped = " after a refused double" if game.turns and game.turns[-1].cube == "drop" else ""
    return f"{names[game.winner]} won {game.points} point{plural}{dropped}"


class _Reader:
    """Reads a match file line by line."""

    def __init__(self, text: str) -> None:
        self.lines = text.replace("\r\n", "\n").split("\n")
        self.at = 0
        """Number of the current line, from 1."""
        self.names: tuple[str, str] | None = None

    def read(self) -> Match:
        line = self.next_line()
        found = _LENGTH.fullmatch(line.strip()) if line is not None else None
        if found is None:
            self.fail(line, "the length of the match, e.g. '7 point match'")
        games: list[MatchGame] = []
        line = self.next_line()
        while line is not None:
            number = _GAME.fullmatch(line.strip())
            if number is None or int(number[1]) != len(games) + 1:
                self.fail(line, f"'Game {len(games) + 1}'")
            game, line = self.read_game()
            games.append(game)
        if not games:
            self.fail(None, "'Game 1'")
        return Match(tuple(games), self.names or ("", ""), int(found[1]))

    def next_line(self) -> str | None:
        """Return the next line that is neither empty nor a comment; None at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line.strip() and not line.lstrip().startswith(";"):
                return line.replace("\t", " ").rstrip()
        return None

    def fail(self, line: str | None, expected: str) -> NoReturn:
        got = "the end of the file" if line is None else repr(shortened(line.strip(), 80, 20))
        raise PositionError(f"backgammon: match file, line {self.at}: got {got}, expected {expected}")

    def read_game(self) -> tuple[MatchGame, str | None]:
        """Read a game after its headline; return it and the line after it."""
        line = self.next_line()
        found = _NAMES.fullmatch(line.strip()) if line is not None else None
        if found is None:
            self.fail(line, "both names with their scores, e.g. 'White : 0    Black : 2'")
        names = (found[1], found[3])
        if self.names not in (None, names):
            self.fail(line, f"the names of the first game, {self.names}")
        self.names = names
        turns: list[Turn] = []
        state, won = _new_game(), None
        line = self.next_line()
        while line is not None and _GAME.fullmatch(line.strip()) is None:
            if won is not None:
                self.fail(line, "the next game")
            wins = _WINS.search(line)
            cells = line if wins is None else line[: wins.start()]
            if cells.strip():
                for turn in self.read_row(cells):
                    self.play(state, turn, turns)
            if wins is not None:
                won = (0 if wins.start() < RIGHT_COLUMN else 1, int(wins[1]))
            line = self.next_line()
        return self.finish(state, turns, won, (int(found[2]), int(found[4]))), line

    def read_row(self, line: str) -> Iterator[Turn]:
        number = _ROW.match(line)
        cells = list(_CELL.finditer(line, number.end() if number else 0))
        extra = "" if not cells else line[number.end() if number else 0 : cells[0].start()].strip()
        if number is None or not cells or extra or len(cells) > 2:
            self.fail(line, "a numbered line with one or two rolls, e.g. '1) 31: 8/5 6/5    62: 24/18 13/11'")
        for place, cell in enumerate(cells):
            player = place if len(cells) == 2 else int(cell.start() >= RIGHT_COLUMN)
            rest = line[cell.end() : cells[place + 1].start() if place + 1 < len(cells) else len(line)].strip()
            if cell[1]:
                yield Turn(player, (int(cell[1]), int(cell[2])), rest)
            elif rest:
                self.fail(rest, f"nothing after {cell[0]!r}")
            elif cell[3]:
                yield Turn(player, None, cube="double", value=int(cell[4]))
            else:
                yield Turn(player, None, cube="take" if cell[5] else "drop")

    def play(self, state: KernelState, turn: Turn, turns: list[Turn]) -> None:
        """Play a turn and append it."""
        if turns and turns[-1].cube == "drop":
            self.fail(self.lines[self.at - 1], "the points that were won after 'Drops'")
        if turn.dice is not None:
            try:
                _play(state, turn)
            except AleaZeroError as error:
                reason = str(error).removeprefix("backgammon: ")
                raise IllegalActionError(f"backgammon: match file, line {self.at}: {reason}") from None
        turns.append(turn)

    def finish(
        self, state: KernelState, turns: list[Turn], won: tuple[int, int] | None, scores: tuple[int, int]
    ) -> MatchGame:
        if won is not None and state.is_terminal() and won[0] != state.vector[PLAYER]:
            raise PositionError(
                f"backgammon: match file, line {self.at}: player {won[0]} is named as the winner of a game that player "
                f"{state.vector[PLAYER]} won, expected the line below the other column"
            )
        if won is None and state.is_terminal():
            won = int(state.vector[PLAYER]), int(max(state.returns()))
        return MatchGame(tuple(turns), scores, *(won or (None, 0)))
