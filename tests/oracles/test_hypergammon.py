"""The solution of hypergammon, compared with a slow move generator on a common board, and with bear-off tables."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from aleazero.errors import ConfigError, GameError, PositionError
from aleazero.oracles import hypergammon, table_file
from aleazero.oracles.bearoff import TwoSided
from aleazero.oracles.hypergammon import PLACES, ROLLS, SIZE, WEIGHTS, Hypergammon

DICE = [(first, second) for first in range(1, 7) for second in range(1, 7)]
START = [0] * 21 + [1, 1, 1, 0]


# -- a second implementation: signed checkers on one board, and bars and borne-off checkers by side --------------------


def board_of(me, them):
    """Return (24 signed counts from my view, bars, off)."""
    points = [me[point] - them[23 - point] for point in range(24)]
    return tuple(points), (me[24], them[24]), (3 - sum(me), 3 - sum(them))


def counts_of(board):
    points, bars, _ = board
    me = [max(0, count) for count in points] + [bars[0]]
    them = [max(0, -count) for count in reversed(points)] + [bars[1]]
    return tuple(me), tuple(them)


def single_moves(board, die):
    points, (bar, their_bar), (off, their_off) = board
    sources = [24] if bar else [point for point in range(24) if points[point] > 0]
    for source in sources:
        target = source - die
        after, now_off, now_bar = list(points), off, their_bar
        if source < 24:
            after[source] -= 1
        if target >= 0:
            if points[target] < -1:
                continue
            if points[target] == -1:
                after[target], now_bar = 0, their_bar + 1
            after[target] += 1
        else:
            home = not bar and all(points[point] <= 0 for point in range(6, 24))
            if not home or (target < -1 and any(points[point] > 0 for point in range(source + 1, 6))):
                continue
            now_off += 1
        yield tuple(after), (bar - (source == 24), now_bar), (now_off, their_off)


def sequences(board, dice):
    moved = list(single_moves(board, dice[0])) if dice else []
    for after in moved:
        for used, end in sequences(after, dice[1:]):
            yield used + 1, end
    if not moved:
        yield 0, board


def slow_turns(board, dice):
    """Return the boards after all legal turns: as many dice as possible; if only one is usable, the higher."""
    high, low = max(dice), min(dice)
    if high == low:
        played = [(used, 0, end) for used, end in sequences(board, (high,) * 4)]
    else:
        played = [(used, high, end) for used, end in sequences(board, (high, low))]
        played += [(used, low, end) for used, end in sequences(board, (low, high))]
    most = max(used for used, *_ in played)
    first = max(first for used, first, _ in played if used == most) if most == 1 else None
    return {end for used, die, end in played if used == most and first in (None, die)}


def points_of(board):
    """Return the points that I win when I have borne off all checkers."""
    points, (_, their_bar), (_, their_off) = board
    if their_off:
        return 1.0
    return 3.0 if their_bar or any(count < 0 for count in points[:6]) else 2.0


def value_of(table, board):
    """Return my value after my turn."""
    if board[2][0] == 3:
        return points_of(board)
    me, them = counts_of(board)
    return -float(table[INDEX[places(me)], INDEX[places(them)]])


def places(counts):
    found = [place for place, count in enumerate(counts, 1) for _ in range(count)]
    return tuple([0] * (3 - len(found)) + found)


INDEX = {tuple(one): number for number, one in enumerate(PLACES.tolist())}


def random_position(draw, spread=24):
    """Return counts of two sides that can meet on the board; ``spread`` limits the points."""
    while True:
        sides = []
        for _ in range(2):
            counts = [0] * 25
            for _ in range(draw.choice([1, 2, 3, 3, 3])):
                counts[draw.choice([24, *range(spread), *range(spread)])] += 1
            sides.append(counts)
        if all(not (sides[0][point] and sides[1][23 - point]) for point in range(24)):
            return sides


@pytest.fixture(scope="module")
def random_table():
    """A table with random values, to test one sweep and the turns of a roll."""
    table = np.random.default_rng(0).normal(size=(SIZE, SIZE))
    points = hypergammon.final_points()
    table[:, 0], table[0, :] = points, -points
    table[hypergammon.impossible_pairs()] = np.nan
    return table


def test_the_number_of_states():
    impossible = hypergammon.impossible_pairs()
    assert SIZE == 3276
    assert int((~impossible).sum()) == 7_959_903
    draw = random.Random(1)
    for _ in range(2000):
        mine, theirs = draw.randrange(1, SIZE), draw.randrange(1, SIZE)
        own = {int(place) for place in PLACES[mine] if 1 <= place <= 24}
        other = {25 - int(place) for place in PLACES[theirs] if 1 <= place <= 24}
        assert impossible[theirs, mine] == bool(own & other)


def test_turns_equal_those_of_the_slow_generator(random_table):
    draw, game = random.Random(2), Hypergammon(random_table)
    for case in range(700):
        me, them = random_position(draw, spread=draw.choice([6, 12, 24]))
        for dice in draw.sample(DICE, 4) + ([(6, 5), (1, 1)] if case % 5 == 0 else []):
            turns = game.turns(me, them, dice)
            ends = slow_turns(board_of(me, them), dice)
            assert {(turn.me, turn.them) for turn in turns} == {counts_of(end) for end in ends}, (me, them, dice)
            best = max(value_of(random_table, end) for end in ends)
            assert turns[0].equity == pytest.approx(best, abs=1e-12)
            assert game.equity_after_roll(me, them, dice) == turns[0].equity
            assert game.best_moves(me, them, dice)[0] == turns[0]


def test_computed_values_equal_plain_expectations(random_table):
    draw = random.Random(3)
    with ThreadPoolExecutor(2) as pool:
        plays = hypergammon.list_all_turns(pool)
    pairs = [random_position(draw, spread=draw.choice([6, 12, 24])) for _ in range(400)]
    mine, theirs = (np.array([INDEX[places(pair[side])] for pair in pairs], np.int16) for side in (0, 1))
    values = np.zeros(len(pairs))
    tables = (hypergammon._BLOCKED, hypergammon._BLOTS, hypergammon._HIT, WEIGHTS)
    largest = hypergammon._compute(0, len(pairs), mine, theirs, random_table, *plays, *tables, values)
    for (me, them), value in zip(pairs, values, strict=True):
        expected = sum(
            weight / 36 * max(value_of(random_table, end) for end in slow_turns(board_of(me, them), tuple(roll)))
            for roll, weight in zip(ROLLS.tolist(), WEIGHTS.tolist(), strict=True)
        )
        assert value == pytest.approx(expected, abs=1e-12)
    assert largest == np.abs(values - random_table[theirs, mine]).max()


def test_pairs_are_solved_by_their_pips():
    mine, theirs, bounds = hypergammon.pairs_by_pips(hypergammon.impossible_pairs())
    pips = PLACES.sum(1, dtype=int)
    total = (pips[mine] + pips[theirs]) // hypergammon.STEP
    assert len(mine) == 7_959_903 - 2 * (SIZE - 1)  # without those in which a side has borne off all checkers
    assert bounds[0] == 0
    assert bounds[-1] == len(mine)
    for low, high in pairwise(bounds):
        assert total[low] == total[high - 1]
        assert low == 0 or total[low - 1] < total[low]


def test_mixing_finds_the_fixed_point_of_a_linear_map_sooner():
    draw = np.random.default_rng(5)
    basis, _ = np.linalg.qr(draw.normal(size=(60, 60)))
    shares = np.concatenate([[0.98, 0.9, 0.8], np.linspace(0.0, 0.3, 57)])
    matrix, fixed = basis @ np.diag(shares) @ basis.T, draw.uniform(-1, 1, 60)

    def sweep(values):
        return fixed + matrix @ (values - fixed)

    plain, mixed, mixing = np.zeros(60), np.zeros(60), hypergammon.Mixing()
    for _ in range(20):
        plain = sweep(plain)
        mixed = mixing.next(mixed, sweep(mixed))
    assert np.abs(mixed - fixed).max() < 1e-3
    assert np.abs(plain - fixed).max() > 0.1


def test_points_at_the_end():
    cases = [([1] + [0] * 24, 1), ([3] + [0] * 24, 2), ([2, *[0] * 16, 1, *[0] * 7], 2)]
    cases += [([2, *[0] * 17, 1, *[0] * 6], 3), ([2, *[0] * 23, 1], 3), ([1, *[0] * 23, 1], 1)]
    for counts, points in cases:
        assert hypergammon.final_points()[INDEX[places(counts)]] == points
        assert points_of(board_of([0] * 25, counts)) == points


@pytest.mark.parametrize(
    "counts",
    [[4] + [0] * 24, [-1, 1] + [0] * 23, [1] * 3, [0.5] * 25, None, "0" * 25, [1] * 25],
)
def test_invalid_counts_are_one_line(random_table, counts):
    game, fine = Hypergammon(random_table), [1] + [0] * 24
    for me, them in ((counts, fine), (fine, counts)):
        with pytest.raises(PositionError, match="expected") as error:
            game.equity(me, them)
        assert "\n" not in str(error.value)


def test_impossible_positions_and_dice_are_rejected(random_table):
    game, ace, none = Hypergammon(random_table), [1] + [0] * 24, [0] * 25
    for me, them in ((ace, [0] * 23 + [1, 0]), (none, none)):
        with pytest.raises(PositionError, match="expected a possible position"):
            game.equity(me, them)
    for me, them in ((ace, none), (none, ace)):
        with pytest.raises(PositionError, match="the game is over"):
            game.equity_after_roll(me, them, (1, 2))
    for dice in ((0, 1), (1, 7), (1,), None, (1.5, 2)):
        with pytest.raises(PositionError, match="expected two numbers from 1 to 6"):
            game.turns(ace, ace, dice)


@pytest.mark.long
def test_an_iteration_without_convergence_is_an_error(monkeypatch):
    monkeypatch.setattr(hypergammon, "MOST_SWEEPS", 1)
    with pytest.raises(GameError, match="after 1 sweeps"):
        hypergammon.solve_hypergammon()


def test_the_table_is_stored_and_mapped(random_table, tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    calls = []
    monkeypatch.setattr(hypergammon, "solve_hypergammon", lambda *_, **__: calls.append(1) or random_table)
    first, again = Hypergammon.load_or_build(), Hypergammon.load_or_build()
    assert len(calls) == 1
    assert isinstance(again.table.base, np.memmap)
    np.testing.assert_array_equal(first.table, random_table.astype(np.float32))
    content = bytearray(Hypergammon.path().read_bytes())
    content[-1] ^= 1
    del first, again
    Hypergammon.path().write_bytes(content)
    Hypergammon.load_or_build()
    assert len(calls) == 2
    monkeypatch.setattr(hypergammon, "FORMAT", 99)
    with monkeypatch.context() as patch:
        patch.setattr(table_file, "available_memory", lambda: 10**9)
        with pytest.raises(ConfigError, match=r"hypergammon needs up to 1.4 GB of memory, expected at most the 1.0 GB"):
            Hypergammon.load_or_build()
    Hypergammon.load_or_build()
    assert len(calls) == 3


# -- the solution; its first build takes minutes ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def solution():
    return Hypergammon.load_or_build()


@pytest.mark.long
def test_solved_values_satisfy_the_bellman_equation(solution):
    draw = random.Random(4)
    for case in range(400):
        me, them = (START, START) if case == 0 else random_position(draw, spread=draw.choice([6, 12, 24]))
        board = board_of(me, them)
        expected = sum(max(value_of(solution.table, end) for end in slow_turns(board, roll)) for roll in DICE) / 36
        assert solution.equity(me, them) == pytest.approx(expected, abs=1e-6)


@pytest.mark.long
def test_positions_without_contact_equal_the_bear_off_table(solution):
    """With two checkers or fewer on each side there are no gammons."""
    exact = TwoSided.load_or_build(6, 2)
    for mine, me in enumerate(exact.positions.counts.tolist()):
        for theirs, them in enumerate(exact.positions.counts.tolist()):
            if mine or theirs:
                value = solution.equity(me + [0] * 19, them + [0] * 19)
                assert value == pytest.approx(exact.table[theirs, mine], abs=1e-6)


@pytest.mark.long
def test_solved_values_of_positions_by_hand(solution):
    last = [1] + [0] * 24
    three_home, far = [3] + [0] * 24, [0] * 23 + [0, 3]
    assert solution.equity(last, last) == 1.0
    assert solution.equity(last, three_home) == 2.0  # a gammon: none of its checkers is off
    assert solution.equity(last, far) == 3.0  # on the bar
    assert solution.equity(far, last) > -3.0  # it may enter in time, or hit
    assert solution.equity([0] * 25, far) == 3.0
    table = np.asarray(solution.table)
    possible = ~np.isnan(table)
    assert (possible == ~hypergammon.impossible_pairs()).all()
    assert table[possible].min() >= -3.0
    assert table[possible].max() <= 3.0
    assert solution.equity(START, START) == pytest.approx(0.110691, abs=1e-6)
    openings = [solution.equity_after_roll(START, START, dice) for dice in DICE if dice[0] != dice[1]]
    assert sum(openings) / 30 == pytest.approx(0.083680, abs=1e-6)  # the opening roll is not a double
