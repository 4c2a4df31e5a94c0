"""Exact values of states of backgammon, from a bear-off table or from the solution of hypergammon.

Tables hold values *before* a roll, which are true at chance nodes. After a roll, the value of a state is the best over
all ways to complete the turn.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.backgammon.board import (
    BAR,
    BEAROFF,
    HIGH,
    HOME_POINTS,
    KIND,
    LOW,
    NUM_POINTS,
    OFF,
    PLACING,
    PLAYER,
    PLAYING,
    POINTS,
    SECOND,
    SETUP,
    STANDARD,
    STARTS,
)
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Game, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.native.compile import cached_njit
from aleazero.oracles.bearoff import TwoSided
from aleazero.oracles.bearoff_build import ROLLS
from aleazero.oracles.hypergammon import CHECKERS as HYPERGAMMON
from aleazero.oracles.hypergammon import RANK, Hypergammon

Rows = NDArray[np.int64]
Values = NDArray[np.float64]
Known = NDArray[np.bool_]

MOST_CHECKERS: Final = 8
"""Games of at most this many checkers per player have a table of all bear-off positions; others one of six checkers."""
USUAL_CHECKERS: Final = 6


class Table(Protocol):
    """Exact values of chance nodes."""

    def before_roll(self, rows: Rows) -> tuple[Values, Known]:
        """Return the value (n,) of positions to the player to roll or to move, as if the dice were not rolled yet.

        The second result is whether the table has the position (n,). Other values are 0.
        """


class BearoffTable:
    """The bear-off table of a game, read by state vectors.

    It has all positions without contact whose checkers are in the home boards. In games of more than eight checkers per
    player, it has those of at most six checkers each, which have no gammons.

    Args:
        checkers: checkers per player in the game.
    """

    def __init__(self, checkers: int) -> None:
        self.complete = checkers <= MOST_CHECKERS
        """Whether the table has every position of the game in which all checkers are in the home boards."""
        self.checkers = checkers
        size = checkers if self.complete else USUAL_CHECKERS
        self.table = TwoSided.load_or_build(HOME_POINTS, size, gammons=self.complete)

    def places(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the indices (n,) of the player to roll or move and of the other; −1 if the table has no position."""
        positions, found = self.table.positions, np.empty((2, len(rows)), np.int64)
        _find(rows, positions.checkers, positions.binomials, positions.ranked, found)
        return found[0], found[1]

    def before_roll(self, rows: Rows) -> tuple[Values, Known]:
        """Return values as ``Table`` does."""
        mine, theirs = self.places(rows)
        known = mine >= 0
        return np.where(known, self.table.table[theirs, mine], 0.0), known

    def after_roll(self, rows: Rows) -> tuple[Values, Known]:
        """Return the value (n,) of decisions to the player to move, and whether the table has the position (n,)."""
        mine, theirs = self.places(rows)
        known, values = (mine >= 0) & (rows[:, KIND] == DECISION), np.zeros(len(rows))
        plays, starts = self.table.positions.plays
        _best_turns(rows, known, mine, theirs, self.table.table, plays, starts, self.table.positions.steps, values)
        return values, known

    def no_gammons(self, rows: Rows) -> Known:
        """Return (n,) whether both players have borne off a checker."""
        return (rows[:, OFF] > 0) & (rows[:, OFF + 1] > 0)

    def setup_value(self, state: KernelState) -> float:
        """Return the value to player 0 while chance places the checkers of a random start."""
        vector, positions = state.vector, self.table.positions
        one, two = np.zeros(len(positions)), np.zeros(len(positions))
        for weights, player in ((one, 0), (two, 1)):
            placed = self._placed(vector, player)
            weights[positions.indices(list(placed))] = list(placed.values())
        return float(two @ np.asarray(self.table.table, np.float64) @ one)  # player 0 rolls first

    def _placed(self, vector: Any, player: int) -> dict[tuple[int, ...], float]:
        """Return the probability of each position of a player after its checkers are placed."""
        points = vector[POINTS : POINTS + NUM_POINTS]
        home = points[:HOME_POINTS] if player == 0 else -points[::-1][:HOME_POINTS]
        here = tuple(int(count) for count in home)
        if player < vector[PLAYER]:
            return {here: 1.0}
        counted = player == vector[PLAYER] and vector[SETUP] == PLACING
        left = [self.checkers - int(vector[OFF + player])] if counted else range(1, self.checkers + 1)
        found: dict[tuple[int, ...], float] = {}
        now, total = {here: 1.0}, sum(here)
        for count in range(total, max(left) + 1):
            if count > total:
                now = _one_more(now)
            if count in left:
                for counts, share in now.items():
                    found[counts] = found.get(counts, 0.0) + share / len(left)
        return found


def _one_more(placed: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """Return the probabilities after one more checker was placed at random."""
    found: dict[tuple[int, ...], float] = {}
    for counts, share in placed.items():
        for point in range(HOME_POINTS):
            after = (*counts[:point], counts[point] + 1, *counts[point + 1 :])
            found[after] = found.get(after, 0.0) + share / HOME_POINTS
    return found


class HypergammonTable:
    """The solution of hypergammon, read by state vectors."""

    def __init__(self) -> None:
        self.table = Hypergammon.load_or_build()

    def before_roll(self, rows: Rows) -> tuple[Values, Known]:
        """Return values as ``Table`` does."""
        found = np.empty((2, len(rows)), np.int64)
        _find_hypergammon(rows, RANK, found)
        known = found[0] >= 0
        return np.where(known, self.table.table[found[1], found[0]], 0.0).astype(np.float64), known


class BackgammonOracle:
    """The exact value of every state of a game whose positions are all in a table."""

    def __init__(self, game: KernelGame, table: BearoffTable | HypergammonTable) -> None:
        self.game, self.table = game, table

    def values(self, state: State) -> Values:
        """Return the expected return (players,) of each player under best play.

        Raises:
            PositionError: the table does not have the position.
        """
        assert isinstance(state, KernelState)
        kind = state.kind()
        if kind == TERMINAL:
            return np.array(state.returns(), np.float64)
        if kind == DECISION and isinstance(self.table, BearoffTable):
            values, known = self.table.after_roll(state.vector[None])
            if known[0]:
                return _by_player(float(values[0]), state.current_player())
        if kind == DECISION:
            return _by_player(max(self.action_values(state).values()), state.current_player())
        if state.vector[SETUP] == PLAYING:
            return _by_player(float(self._at_chance(state.vector[None])[0]), int(state.vector[PLAYER]))
        if isinstance(self.table, BearoffTable):
            return _by_player(self.table.setup_value(state), 0)
        rolled = [share * self.values(state.child(roll)) for roll, share in state.chance_outcomes()]
        expected: NDArray[np.float64] = np.array(rolled).sum(axis=0)
        return expected

    def action_values(self, state: State) -> dict[int, float]:
        """Return the expected return of the mover under best play, after each legal action.

        Raises:
            PositionError: the state is not a decision, or the table does not have the position.
        """
        assert isinstance(state, KernelState)
        if state.kind() != DECISION:
            raise PositionError(f"{self.game.name}: {state.to_text()!r} is not a decision, expected one")
        actions, after = self._after(state.vector)
        values = np.array([self._returned(row) for row in after])
        rolls, again = after[:, KIND] == CHANCE, after[:, KIND] == DECISION
        if rolls.any():  # the other player rolls next
            values[rolls] = -self._at_chance(after[rolls])
        for number in np.flatnonzero(again):  # the second action of a double
            _, ends = self._after(after[number])
            found, next_roll = np.array([self._returned(row) for row in ends]), ends[:, KIND] == CHANCE
            if next_roll.any():
                found[next_roll] = -self._at_chance(ends[next_roll])
            values[number] = found.max()
        return dict(zip(actions, values.tolist(), strict=True))

    def _after(self, vector: Any) -> tuple[list[int], Rows]:
        """Return the legal actions of a decision and the vectors after them."""
        kernels, listed = self.game.kernels, np.zeros(self.game.num_actions, np.int64)
        actions: list[int] = listed[: kernels.legal(vector, listed)].tolist()
        after = np.repeat(vector[None], len(actions), axis=0)
        for row, action in zip(after, actions, strict=True):
            kernels.apply(row, action)
        return actions, after

    def _returned(self, row: Any) -> float:
        """Return the points of the player that just moved; 0 if the game is not over."""
        out = np.zeros(2)
        self.game.kernels.returns(row, out)
        return float(out[int(row[PLAYER])]) if row[KIND] == TERMINAL else 0.0

    def _at_chance(self, rows: Rows) -> Values:
        values, known = self.table.before_roll(rows)
        if not known.all():
            text = self.game.state_from_vector(rows[~known][0]).to_text()
            raise PositionError(f"{self.game.name}: {text!r} is not in the table, expected a position of the bear-off")
        return values


def _by_player(value: float, player: int) -> Values:
    return np.array([value, -value] if player == 0 else [-value, value])


def backgammon_oracle(game: Game) -> BackgammonOracle:
    """Return the oracle of a game of backgammon for which ``no_oracle`` returns None."""
    assert isinstance(game, KernelGame)
    bearoff = game.info.constants["START"] == BEAROFF
    return BackgammonOracle(game, BearoffTable(game.info.constants["CHECKERS"]) if bearoff else HypergammonTable())


def no_oracle(game: Game) -> str | None:
    """Return why the exact values of a game of backgammon are not known; None if they are."""
    start, checkers = game.info.constants["START"], game.info.constants["CHECKERS"]
    if start == BEAROFF and checkers > MOST_CHECKERS:
        return f"a bear-off has exact values with at most {MOST_CHECKERS} checkers per player"
    if start != BEAROFF and (checkers != HYPERGAMMON or start != STANDARD):
        return (
            f"start {STARTS[start]!r} with {checkers} checkers has no exact values, expected start 'bearoff' with at "
            f"most {MOST_CHECKERS} checkers, or hypergammon (start 'standard' with 3)"
        )
    return None


# -- kernels -----------------------------------------------------------------------------------------------------------


@cached_njit(nogil=True, error_model="numpy")
def _find(rows: Any, most: int, binomials: Any, ranked: Any, found: Any) -> None:
    """Write the indices of the positions of both sides, the player to roll or move first; −1 if one has none."""
    for row in range(len(rows)):
        state = rows[row]
        found[0, row] = found[1, row] = -1
        if state[KIND] == TERMINAL or state[SETUP] != PLAYING or state[BAR] > 0 or state[BAR + 1] > 0:
            continue
        inside = True
        for i in range(NUM_POINTS):  # each player's checkers are on its own points 1 to 6
            count = state[POINTS + i]
            if (count > 0 and i >= HOME_POINTS) or (count < 0 and i < NUM_POINTS - HOME_POINTS):
                inside = False
                break
        if not inside:
            continue
        for player in range(2):
            total, rank = 0, 0
            for place in range(HOME_POINTS):
                total += state[POINTS + place] if player == 0 else -state[POINTS + NUM_POINTS - 1 - place]
                if total > most:
                    inside = False
                    break
                rank += binomials[total + place, place + 1]
            if inside:
                found[0 if player == state[PLAYER] else 1, row] = ranked[rank]
        if not inside:
            found[0, row] = found[1, row] = -1


@cached_njit(nogil=True, error_model="numpy")
def _best_turns(
    rows: Any, known: Any, mine: Any, theirs: Any, table: Any, plays: Any, starts: Any, steps: Any, values: Any
) -> None:
    """Write the value of decisions in a table to the player to move."""
    for row in range(len(rows)):
        if not known[row]:
            continue
        me, them = mine[row], theirs[row]
        high, low = rows[row, HIGH], rows[row, LOW]
        least = np.inf  # the value of the other player, who rolls next
        if rows[row, SECOND] == 1:  # two moves of a double are left
            for first in range(steps.shape[2]):
                between = steps[high - 1, me, first]
                if between < 0:
                    continue
                for second in range(steps.shape[2]):
                    after = steps[high - 1, between, second]
                    if after >= 0 and table[after, them] < least:
                        least = table[after, them]
        else:
            place = me * len(ROLLS) + high * (high - 1) // 2 + low - 1
            for play in range(starts[place], starts[place + 1]):
                if table[plays[play], them] < least:
                    least = table[plays[play], them]
        values[row] = -least


@cached_njit(nogil=True, error_model="numpy")
def _find_hypergammon(rows: Any, ranks: Any, found: Any) -> None:
    """Write the numbers of the positions of both sides in hypergammon, the player to roll or move first."""
    places = np.zeros(3, np.int64)
    for row in range(len(rows)):
        state = rows[row]
        found[0, row] = found[1, row] = -1
        if state[KIND] == TERMINAL or state[SETUP] != PLAYING:
            continue
        for player in range(2):
            places[:] = 0
            left = 2  # the places are filled from the highest
            for _ in range(state[BAR + player]):
                places[left] = NUM_POINTS + 1
                left -= 1
            for place in range(NUM_POINTS, 0, -1):
                count = state[POINTS + place - 1] if player == 0 else -state[POINTS + NUM_POINTS - place]
                for _ in range(max(0, count)):
                    places[left] = place
                    left -= 1
            found[0 if player == state[PLAYER] else 1, row] = ranks[places[0], places[1], places[2]]
