"""Engines of backgammon (extra ``judges``) as players and judges: GNU Backgammon, pubeval and bgsage.

An engine chooses complete moves. The player looks up the chosen board among the plays of our rules, so that a wrong
conversion of a board is an error and not a weak player. A double is two actions: the second one is remembered by its
position, and computed from the values of the engine if the first one was not chosen by the engine.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from aleazero.errors import ConfigError, GameError
from aleazero.evaluation.plays import Play, plays_of
from aleazero.games.backgammon.board import HIGH, LOW, MOST_CHECKERS, NUM_POINTS, OFF, PLAYER, SECOND, position_of
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelState
from aleazero.players.player import Allowed, BasePlayer

Board = tuple[tuple[int, ...], tuple[int, ...]]
"""Checkers of the player who moves and of the other one, each from the own view: points 1 to 24, then the bar."""
Dice = tuple[int, int]

INSTALL: Final = "pip install 'aleazero[judges]'"
PLIES: Final = {"gnubg": (0, 1, 2), "bgsage": (1, 2, 3)}
"""Plies of each engine, as it counts them. The first one is the default: the network without a search."""
REMEMBERED: Final = 10_000
"""Most second actions that a player remembers."""
REACH: Final = 0.16
"""Judges value a play with all plies if its quick value is at most this much below the best one."""


def make_engine_player(game: Game, settings: Mapping[str, str], *, name: str) -> EnginePlayer:
    """Make the player of a spec: ``gnubg:ply=0``, ``bgsage:ply=1`` or ``pubeval``.

    Raises:
        ConfigError: a setting is invalid, the engine is not installed, or the game does not have 15 checkers.
    """
    plies = PLIES.get(name, ())
    for key in settings:
        if key != "ply" or not plies:
            expected = f"ply={'|'.join(map(str, plies))}" if plies else "none"
            raise ConfigError(f"{name} has no setting {key!r}, expected {expected}")
    text = settings.get("ply", str(next(iter(plies), "")))
    if plies and text not in map(str, plies):
        raise ConfigError(f"is {text!r}, expected {', '.join(map(str, plies[:-1]))} or {plies[-1]}", field="ply")
    if game.params["checkers"] != MOST_CHECKERS:
        raise ConfigError(f"{name} plays with {MOST_CHECKERS} checkers, got {game!r}")
    if name == "pubeval":
        return EnginePlayer(Pubeval(), name)
    return JudgePlayer(Gnubg(int(text)) if name == "gnubg" else Bgsage(int(text)), f"{name}:ply={text}")


def import_engine(module: str, name: str) -> Any:
    """Import the package of an engine.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.replace("_", "-")
        raise ConfigError(f"{name} requires {package}, which is not installed, install it with: {INSTALL}") from None


def board_of(state: State, player: int) -> Board:
    """Return the board of a state from the view of a player."""
    points, bar, _ = position_of(cast(KernelState, state).vector, player)
    own = (*(max(0, count) for count in points), bar[0])
    other = (*(max(0, -count) for count in reversed(points)), bar[1])
    return own, other


class Engine(ABC):
    """An engine that chooses moves and values boards, which are those of the player who moves or moved last."""

    @abstractmethod
    def best(self, board: Board, dice: Dice) -> Board:
        """Return the board after the best move."""

    @abstractmethod
    def value(self, board: Board) -> float:
        """Return the value of a board after a move that does not end the game; equities except for pubeval."""

    def quick_value(self, board: Board) -> float:
        """Return the value by the network without a search."""
        return self.value(board)

    def move_values(self, board: Board, dice: Dice, full: Collection[Board]) -> dict[Board, tuple[float, bool]] | None:
        """Return the value of every move and whether it has all plies; None if the engine has no such function.

        Args:
            board: the board before the move.
            dice: the roll.
            full: boards after the move whose value has all plies.
        """
        return None


class Gnubg(Engine):
    """GNU Backgammon's evaluation, by the package gnubg-nn."""

    def __init__(self, plies: int) -> None:
        self._engine, self._plies = import_engine("gnubg_nn", "gnubg"), plies

    def best(self, board: Board, dice: Dice) -> Board:
        """Return the board after the best move, found with the move filters of gnubg."""
        return _moved(board, self._engine.best_move(_gnubg_board(board), *dice, n=self._plies))

    def value(self, board: Board) -> float:
        """Return the equity, from the probabilities of the other player, who is on roll."""
        return self._equity(board, self._plies)

    def quick_value(self, board: Board) -> float:
        """Return the equity at 0 plies."""
        return self._equity(board, 0)

    def _equity(self, board: Board, plies: int) -> float:
        own, other = board
        win, gammon, backgammon, own_gammon, own_backgammon = self._engine.probabilities(
            _gnubg_board((other, own)), plies
        )
        return float(1.0 - 2.0 * win - gammon - backgammon + own_gammon + own_backgammon)


class Pubeval(Engine):
    """Tesauro's linear benchmark player, in the implementation of gnubg-nn. Its values order boards of one move."""

    def __init__(self) -> None:
        self._engine = import_engine("gnubg_nn", "pubeval")

    def best(self, board: Board, dice: Dice) -> Board:
        """Return the board after the best move."""
        places = self._engine.pub_best_move(_gnubg_board(board), *dice)  # points are numbered from 0, off is -1
        return _moved(board, [(start + 1, end + 1) for start, end in zip(places[::2], places[1::2], strict=True)])

    def value(self, board: Board) -> float:
        """Return the score of a board, which this function expects with the player who moved first."""
        own, other = board
        return float(self._engine.pub_eval_score([list(own), list(other)]))


class Bgsage(Engine):
    """The engine bgsage, without a cube."""

    def __init__(self, plies: int) -> None:
        self._engine = import_engine("bgsage", "bgsage")
        self._analyzer = self._make(plies)
        self._quick = self._analyzer if plies == 1 else self._make(1)
        self._level = f"{plies}-ply"

    def _make(self, plies: int) -> Any:
        return self._engine.BgBotAnalyzer(eval_level=f"{plies}ply", cubeful=False, parallel_threads=1)

    def best(self, board: Board, dice: Dice) -> Board:
        """Return the board after the best move, found with the move filters of bgsage."""
        return next(iter(self.move_values(board, dice, ())))

    def value(self, board: Board) -> float:
        """Return the cubeless equity."""
        return float(self._analyzer.post_move_analytics(_sage_board(board), jacoby=False).cubeless_equity)

    def quick_value(self, board: Board) -> float:
        """Return the cubeless equity by the network."""
        return float(self._quick.post_move_analytics(_sage_board(board), jacoby=False).cubeless_equity)

    def move_values(self, board: Board, dice: Dice, full: Collection[Board]) -> dict[Board, tuple[float, bool]]:
        """Return the cubeless equity of every move, best first; the filters of bgsage choose which have all plies."""
        forced = [_sage_board(one) for one in full]
        found = self._analyzer.checker_play(_sage_board(board), *dice, jacoby=False, force_boards=forced).moves
        return {_from_sage(move.board): (float(move.cubeless_equity), move.eval_level == self._level) for move in found}


def _gnubg_board(board: Board) -> list[list[int]]:
    """Return a board of gnubg-nn for the player on roll: the other player's checkers come first."""
    own, other = board
    return [list(other), list(own)]


def _sage_board(board: Board) -> list[int]:
    """Return a board of bgsage: the other's bar (0 or more), points 1 to 24 (other's checkers negative), own bar."""
    own, other = board
    points = [mine - theirs for mine, theirs in zip(own[:NUM_POINTS], reversed(other[:NUM_POINTS]), strict=True)]
    return [other[NUM_POINTS], *points, own[NUM_POINTS]]


def _from_sage(board: Sequence[int]) -> Board:
    points = board[1 : NUM_POINTS + 1]
    own = (*(max(0, count) for count in points), abs(board[NUM_POINTS + 1]))
    return own, (*(max(0, -count) for count in reversed(points)), abs(board[0]))


def _moved(board: Board, steps: Sequence[tuple[int, int]]) -> Board:
    """Return the board after half-moves (from, to): points 1 to 24, 25 is the bar, and 0 or less is off."""
    own, other = map(list, board)
    for start, end in steps:
        own[start - 1] -= 1
        if end > 0:
            own[end - 1] += 1
            if other[NUM_POINTS - end]:
                other[NUM_POINTS - end] -= 1
                other[NUM_POINTS] += 1
    return tuple(own), tuple(other)


class EnginePlayer(BasePlayer):
    """Plays the moves of an engine."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine, self.name = engine, name
        self._second: dict[bytes, int] = {}
        """Second action of a double, by the key of the state after the first one."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the actions of the engine's moves."""
        return [self._choose(cast(KernelState, state), some) for state, some in zip(states, allowed, strict=True)]

    def _choose(self, state: KernelState, allowed: Allowed) -> int:
        if allowed is None and not state.vector[SECOND]:
            return self._first_action(state)
        if allowed is None and state.key() in self._second:
            return self._second[state.key()]
        plays = [play for play in plays_of(state) if allowed is None or play.actions[0] in allowed]
        values = [self.value(play.end, state.current_player()) for play in plays]
        return plays[values.index(max(values))].actions[0]

    def _first_action(self, state: KernelState) -> int:
        dice = int(state.vector[HIGH]), int(state.vector[LOW])
        mover = state.current_player()
        target = self.engine.best(board_of(state, mover), dice)
        actions = _find(state, mover, target)
        if actions is None:
            raise GameError(f"{self.name} moved to {target} in {state.to_text()!r}, expected a legal move")
        if len(actions) > 1:
            after = state.clone()
            after._apply(actions[0])
            if len(self._second) >= REMEMBERED:
                self._second.clear()
            self._second[after.key()] = actions[1]
        return actions[0]

    def value(self, end: State, mover: int) -> float:
        """Return the value of the state after a move for the player who moved."""
        return float(end.returns()[mover]) if end.is_terminal() else self.engine.value(board_of(end, mover))


def _find(state: KernelState, mover: int, target: Board) -> tuple[int, ...] | None:
    """Return the actions that lead to a board; None if none do."""
    wanted = _checkers(target, mover, state.vector.dtype)
    if state.vector[HIGH] == state.vector[LOW]:
        for play in plays_of(state):
            if cast(KernelState, play.end).vector[:OFF].tobytes() == wanted:
                return play.actions
        return None
    for action in state.legal_actions():
        after = state.clone()
        after._apply(action)
        if after.vector[:OFF].tobytes() == wanted:
            return (action,)
    return None


def _checkers(board: Board, mover: int, dtype: np.dtype[Any]) -> bytes:
    """Return the part of the state vector with the points and the bar."""
    own, other = board if mover == 0 else board[::-1]  # those of player 0 and of player 1
    points = [mine - theirs for mine, theirs in zip(own[:NUM_POINTS], reversed(other[:NUM_POINTS]), strict=True)]
    return np.array([*points, own[NUM_POINTS], other[NUM_POINTS]], dtype).tobytes()


class JudgePlayer(EnginePlayer):
    """Plays the moves of an engine whose values are equities, so that it can judge other players."""

    def play_values(self, state: State, plays: Sequence[Play], chosen: Sequence[int]) -> list[float]:
        """Return the equity of each play for the mover, see ``Judge``.

        Plays that are neither chosen nor selected by a filter keep a quick value, but not above that of the best play.
        """
        mover = state.current_player()
        boards = [board_of(play.end, mover) for play in plays]
        found = self._by_engine(cast(KernelState, state), boards, [boards[number] for number in chosen])
        if found is None:
            found = self._by_reach(plays, boards, mover, chosen)
        values = [
            (float(play.end.returns()[mover]), True) if play.end.is_terminal() else one
            for play, one in zip(plays, found, strict=True)
        ]
        best = max(value for value, full in values if full)
        return [value if full else min(value, best) for value, full in values]

    def _by_engine(
        self, state: KernelState, boards: Sequence[Board], full: Collection[Board]
    ) -> list[tuple[float, bool]] | None:
        if state.vector[SECOND]:
            return None
        dice = int(state.vector[HIGH]), int(state.vector[LOW])
        found = self.engine.move_values(board_of(state, int(state.vector[PLAYER])), dice, full)
        if found is None:
            return None
        if found.keys() != set(boards):
            raise GameError(f"{self.name} lists {len(found)} moves in {state.to_text()!r}, expected {len(boards)}")
        return [found[board] for board in boards]

    def _by_reach(
        self, plays: Sequence[Play], boards: Sequence[Board], mover: int, chosen: Collection[int]
    ) -> list[tuple[float, bool]]:
        quick = [
            float(play.end.returns()[mover]) if play.end.is_terminal() else self.engine.quick_value(board)
            for play, board in zip(plays, boards, strict=True)
        ]
        least = max(quick) - REACH
        full = [value >= least or number in chosen for number, value in enumerate(quick)]
        return [
            (self.value(plays[number].end, mover) if full[number] else quick[number], full[number])
            for number in range(len(plays))
        ]
