"""Bear-off tables, compared with published values and with plain Python that plays every roll to its end."""

from __future__ import annotations

import itertools
import random
from functools import cache

import numpy as np
import pytest

from aleazero.errors import ConfigError, PositionError
from aleazero.oracles import bearoff, bearoff_build, table_file
from aleazero.oracles.bearoff import OneSided, TwoSided, largest_residual
from aleazero.oracles.bearoff_build import build_one_sided, build_two_sided

DICE = [(first, second) for first in range(1, 7) for second in range(1, 7)]
ROLLS = [(high, low) for high, low in DICE if high >= low]


@pytest.fixture(scope="module")
def two_sided():
    return TwoSided.load_or_build()


# -- a second implementation: checkers as a sorted tuple of points --------------------------------------------------


def single_moves(checkers, die):
    """Yield the checkers after one legal move with a die."""
    at_home = max(checkers, default=0) <= 6
    for point in set(checkers):
        rest = list(checkers)
        rest.remove(point)
        if point > die:
            yield tuple(sorted([*rest, point - die]))
        elif at_home and (point == die or point == max(checkers)):
            yield tuple(rest)


def sequences(checkers, dice):
    """Yield (number of dice used, checkers) for every way to play dice in this order, as far as possible."""
    moved = list(single_moves(checkers, dice[0])) if dice else []
    for after in moved:
        for used, end in sequences(after, dice[1:]):
            yield used + 1, end
    if not moved:
        yield 0, checkers


@cache
def turns(checkers, high, low):
    """Return the checkers after all legal turns: both dice if possible, else the higher one; any way that ends it."""
    if high == low:
        played = [(used, 4, end) for used, end in sequences(checkers, (high,) * 4)]
    else:
        played = [(used, high, end) for used, end in sequences(checkers, (high, low))]
        played += [(used, low, end) for used, end in sequences(checkers, (low, high))]
    if any(end == () for *_, end in played):
        played = [(99 if end == () else used, first, end) for used, first, end in played]
    most = max(used for used, *_ in played)
    if most == 99:
        return {end for *_, end in played}
    best = [(first, end) for used, first, end in played if used == most]
    if most == 1 and high != low:
        best = [(first, end) for first, end in best if first == max(first for first, _ in best)]
    return {end for _, end in best}


@cache
def slow_equity(me, them):
    """Return the equity before the roll, computed from the end of the game."""
    if not them:
        return -1.0
    return sum(max(slow_after(end, them) for end in turns(me, max(roll), min(roll))) for roll in DICE) / 36


def slow_after(end, them):
    return 1.0 if not end else -slow_equity(them, end)


@cache
def slow_rolls(checkers):
    """Return the mean and the distribution of the number of rolls under play for the lowest mean."""
    if not checkers:
        return 0.0, {0: 1.0}
    mean, spread = 1.0, {}
    for roll in DICE:
        best, chances = min((slow_rolls(end) for end in turns(checkers, max(roll), min(roll))), key=lambda one: one[0])
        mean += best / 36
        for rolls, chance in chances.items():
            spread[rolls + 1] = spread.get(rolls + 1, 0.0) + chance / 36
    return mean, spread


def checkers_of(counts):
    return tuple(point for point, count in enumerate(counts, 1) for _ in range(count))


def counts_of(checkers, points=6):
    return [checkers.count(point) for point in range(1, points + 1)]


def random_counts(draw, most=6, points=6):
    return counts_of([draw.randint(1, points) for _ in range(draw.randint(1, most))], points)


def digits(text):
    return [int(digit) for digit in text]


# -- the two-sided table -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("me", "them", "equity"),
    [("111102", "200030", 0.08158680), ("021210", "020021", 0.31937110), ("011031", "100050", 0.49966554)],
)
def test_known_equities(two_sided, me, them, equity):
    assert two_sided.table.shape == (924, 924)
    assert two_sided.equity(digits(me), digits(them)) == pytest.approx(equity, abs=1e-8)


def test_equities_after_rolls_equal_plain_enumeration(two_sided):
    draw = random.Random(1)
    for _ in range(500):
        me, them = random_counts(draw), random_counts(draw)
        for high, low in ROLLS:
            ends = turns(checkers_of(me), high, low)
            best = max(1.0 if not end else -two_sided.equity(them, counts_of(end)) for end in ends)
            assert two_sided.equity_after_roll(me, them, (low, high)) == pytest.approx(best, abs=1e-12), (
                me,
                them,
                high,
            )
            plays = two_sided.plays(me, them, (high, low))
            assert {play.after for play in plays} == {tuple(counts_of(end)) for end in ends}
            assert plays[0].equity == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(("points", "checkers", "pairs"), [(6, 2, 784), (3, 3, 400), (9, 2, 500)])
def test_small_tables_equal_plain_recursion(points, checkers, pairs):
    """With nine points, checkers must come home before they bear off."""
    table = TwoSided(points, checkers, build_two_sided(points, checkers))
    every = list(itertools.product(range(len(table.positions)), repeat=2))
    for mine, theirs in random.Random(2).sample(every, min(pairs, len(every))):
        me, them = table.positions.counts[[mine, theirs]].tolist()
        if any(me) and any(them):
            assert table.equity(me, them) == pytest.approx(slow_equity(checkers_of(me), checkers_of(them)), abs=1e-12)


def test_many_positions_at_once_equal_single_ones(two_sided):
    draw = random.Random(3)
    me, them = ([random_counts(draw) for _ in range(200)] for _ in range(2))
    dice = [draw.choice(DICE) for _ in range(200)]
    np.testing.assert_array_equal(two_sided.equities(me, them), list(map(two_sided.equity, me, them)))
    after = list(map(two_sided.equity_after_roll, me, them, dice))
    np.testing.assert_array_equal(two_sided.equities_after_roll(me, them, dice), after)


def test_the_equity_before_the_roll_is_the_mean_after_it(two_sided):
    """A pre-roll value must not be used after the roll: it differs by 0.2 and more for most rolls."""
    draw = random.Random(4)
    for _ in range(50):
        me, them = random_counts(draw), random_counts(draw)
        after = [two_sided.equity_after_roll(me, them, roll) for roll in DICE]
        assert two_sided.equity(me, them) == pytest.approx(sum(after) / 36, abs=1e-12)
    assert largest_residual(two_sided, 50) < 1e-12


def test_the_ends_of_the_game(two_sided):
    none, ace, six = [0] * 6, digits("100000"), digits("000001")
    assert two_sided.equity(ace, six) == 1.0
    assert two_sided.equity(digits("200000"), ace) == 1.0
    assert two_sided.equity(none, ace) == 1.0
    assert two_sided.equity(ace, none) == -1.0
    assert two_sided.equity(six, ace) == pytest.approx(2 * 27 / 36 - 1)  # 27 of 36 rolls bear off from the six point
    with pytest.raises(PositionError, match="on either side"):
        two_sided.equity(none, none)


def test_the_roll_is_no_disadvantage(two_sided):
    table = two_sided.table[1:, 1:]  # by the other side, then the side to roll
    assert table.min() >= -1.0
    assert table.max() == 1.0
    assert (table >= -table.T - 1e-12).all()
    assert np.abs(table + table.T).max() > 0.5  # the equity on roll is not minus that of the other side


def test_a_checker_further_forward_can_be_a_disadvantage(two_sided):
    """So plays must not be pruned by comparing their checkers. GNU Backgammon's table has the same order."""
    them = digits("001101")
    ahead, behind = digits("111002"), digits("102002")
    assert two_sided.equity(them, ahead) - two_sided.equity(them, behind) == pytest.approx(5.8e-4, abs=1e-5)


def test_moves_of_best_plays_are_legal_and_lead_to_their_position(two_sided):
    draw = random.Random(6)
    for _ in range(300):
        me, them, dice = random_counts(draw), random_counts(draw), draw.choice(DICE)
        best = two_sided.best_moves(me, them, dice)
        after = two_sided.equity_after_roll(me, them, dice)
        for play in best:
            assert play.equity == pytest.approx(after, abs=1e-9)
            checkers, left = checkers_of(me), list(dice) * (2 if dice[0] == dice[1] else 1)
            for start, end in play.moves:
                rest = list(checkers)
                rest.remove(start)
                moved = tuple(sorted([*rest, end] if end else rest))
                die = next(die for die in sorted(left) if moved in single_moves(checkers, die))
                left.remove(die)
                checkers = moved
            assert counts_of(checkers) == list(play.after)
            assert not left or not checkers


def test_all_tied_plays_are_best(two_sided):
    # After any play of 1-1, the other side bears off its last checker.
    assert len(two_sided.best_moves(digits("001111"), digits("100000"), (1, 1))) == len(
        turns(checkers_of(digits("001111")), 1, 1)
    )
    (only,) = two_sided.best_moves(digits("200000"), digits("100000"), (6, 5))
    assert only == bearoff.Play(((1, 0), (1, 0)), (0,) * 6, 1.0)


def test_tables_do_not_depend_on_threads(two_sided):
    np.testing.assert_array_equal(build_two_sided(6, 6, threads=1), two_sided.table)
    np.testing.assert_array_equal(build_two_sided(6, 6, threads=5), two_sided.table)
    np.testing.assert_array_equal(build_one_sided(5, 5, threads=1), build_one_sided(5, 5, threads=3))


def test_large_tables_are_float32(monkeypatch):
    assert bearoff_build.table_dtype(6, 7) == np.float64
    assert bearoff_build.table_dtype(6, 8) == np.float32
    exact = build_two_sided(5, 5)
    monkeypatch.setattr(bearoff_build, "DOUBLE_PRECISION", 100)
    short = build_two_sided(5, 5)
    assert short.dtype == np.float32
    assert 0 < np.abs(short - exact).max() < 1e-6
    table = TwoSided(5, 5, short)
    assert largest_residual(table, 50) < 2e-7
    assert isinstance(table.equity_after_roll([1, 1, 1, 1, 1], [0, 0, 0, 0, 5], (6, 1)), float)


# -- one-sided distributions ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_sided():
    return OneSided.load_or_build()


def test_distributions_equal_plain_recursion(one_sided):
    draw = random.Random(7)
    for _ in range(60):
        counts = random_counts(draw, most=3)
        mean, spread = slow_rolls(checkers_of(counts))
        assert one_sided.mean_rolls(counts) == pytest.approx(mean, abs=1e-12)
        distribution = one_sided.distribution(counts)
        for rolls, chance in spread.items():
            assert distribution[rolls] == pytest.approx(chance, abs=1e-3)  # equal means leave the choice open


def test_distributions_of_fifteen_checkers(one_sided):
    assert one_sided.table.shape[0] == 54_264
    np.testing.assert_allclose(one_sided.table.sum(1), 1.0, rtol=0, atol=1e-12)
    assert one_sided.distribution([0] * 6)[0] == 1.0
    means = [0.0]  # on the ace point, every roll bears off two checkers, and a double four
    for checkers in range(1, 16):
        means.append(1 + 5 / 6 * means[max(0, checkers - 2)] + 1 / 6 * means[max(0, checkers - 4)])
    assert one_sided.mean_rolls([15, 0, 0, 0, 0, 0]) == pytest.approx(means[15], abs=1e-12)
    assert one_sided.mean_rolls([2] * 5 + [5]) < one_sided.mean_rolls([0] * 5 + [15])


def test_approximate_win_probabilities(one_sided, two_sided):
    draw = random.Random(8)
    errors = []
    for _ in range(1000):
        me, them = random_counts(draw), random_counts(draw)
        win = one_sided.approximate_win_probability(me, them)
        errors.append(one_sided.approximate_equity(me, them) - two_sided.equity(me, them))
        assert one_sided.approximate_equity(me, them) == 2 * win - 1
    mine, theirs = (list(enumerate(one_sided.distribution(counts))) for counts in (me, them))
    by_hand = sum(p * q for k, p in mine for n, q in theirs if k <= n)
    assert win == pytest.approx(by_hand, abs=1e-12)
    assert 1e-4 < np.sqrt(np.mean(np.square(errors))) < 0.006  # approximate
    assert np.abs(errors).max() < 0.03
    assert one_sided.approximate_win_probability([0] * 6, me) == 1.0
    assert one_sided.approximate_win_probability(me, [0] * 6) == 0.0
    with pytest.raises(PositionError, match="on either side"):
        one_sided.approximate_win_probability([0] * 6, [0] * 6)


# -- files, sizes and invalid input --------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and a count of builds."""
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    built, build = [], bearoff.build_two_sided

    def counted(*arguments, **more):
        built.append(arguments[:2])
        return build(*arguments, **more)

    monkeypatch.setattr(bearoff, "build_two_sided", counted)
    return built


def test_a_table_is_built_once_and_then_mapped(cache):
    calls = []
    assert TwoSided.load(3, 3) is None
    first = TwoSided.load_or_build(3, 3, progress=lambda done, of: calls.append((done, of)))
    again = TwoSided.load_or_build(3, 3)
    assert cache == [(3, 3)]
    assert calls[-1] == (400, 400)
    assert calls == sorted(calls)
    np.testing.assert_array_equal(first.table, again.table)
    assert isinstance(again.table.base, np.memmap)
    assert not again.table.flags.writeable
    assert [file.name for file in TwoSided.path().parent.iterdir()] == ["bearoff_3x3.table"]


def flip(place):
    return lambda content: content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    "damage",
    [flip(0), flip(20), flip(60), flip(100), flip(-1000), lambda c: c[:-8], lambda c: c + b"\0", lambda c: b"",
     lambda c: c[:50], lambda c: b"x" * len(c)],
)  # fmt: skip
def test_a_damaged_file_is_replaced(cache, damage):
    TwoSided.load_or_build(3, 3)
    path = TwoSided.path(3, 3)
    path.write_bytes(damage(path.read_bytes()))
    assert TwoSided.load(3, 3) is None
    assert TwoSided.load_or_build(3, 3).equity([1, 0, 0], [0, 0, 1]) == 1.0
    assert len(cache) == 2
    assert TwoSided.load(3, 3) is not None


def test_a_table_of_another_version_or_size_is_replaced(cache, monkeypatch):
    TwoSided.load_or_build(3, 3)
    TwoSided.path(3, 4).write_bytes(TwoSided.path(3, 3).read_bytes())
    assert TwoSided.load(3, 4) is None
    monkeypatch.setattr(bearoff, "FORMAT", 99)
    assert TwoSided.load(3, 3) is None
    TwoSided.load_or_build(3, 3)
    assert len(cache) == 2


def test_one_sided_tables_are_stored_too(cache, monkeypatch):
    first = np.array(OneSided.load_or_build(3, 4).table)
    with monkeypatch.context() as patch:
        patch.setattr(bearoff, "build_one_sided", None)
        np.testing.assert_array_equal(OneSided.load_or_build(3, 4).table, first)
    path = OneSided.path(3, 4)
    content = path.read_bytes()
    path.write_bytes(flip(-9)(content))
    np.testing.assert_array_equal(OneSided.load_or_build(3, 4).table, first)
    assert path.read_bytes() == content


def test_a_read_only_folder_only_costs_time(cache, tmp_path):
    (tmp_path / "oracles").write_text("in the way")
    assert TwoSided.load_or_build(3, 3).equity([1, 0, 0], [0, 0, 1]) == 1.0
    assert TwoSided.load_or_build(3, 3).equity([1, 0, 0], [0, 0, 1]) == 1.0
    assert len(cache) == 2


@pytest.mark.parametrize(
    ("points", "checkers", "message"),
    [
        (0, 6, "points is 0, expected 1 to 12"),
        (13, 6, "points is 13, expected 1 to 12"),
        (6, 0, "checkers is 0, expected 1 to 14"),
        (6, 15, "checkers is 15, expected 1 to 14 .a side with all 15 can lose a gammon"),
        (6, -1, "checkers is -1, expected 1 to 14"),
    ],
)
def test_sizes_that_are_not_exact_are_rejected(points, checkers, message):
    for call in (TwoSided.load_or_build, TwoSided.load, TwoSided.estimate):
        with pytest.raises(ConfigError, match=message):
            call(points, checkers)


def test_a_table_that_does_not_fit_in_memory_is_rejected(cache, monkeypatch):
    with pytest.raises(ConfigError, match=r"the bear-off table 12x14 needs up to 374,1\d\d.\d GB of memory, expected"):
        TwoSided.load_or_build(12, 14)
    with pytest.raises(ConfigError, match="the one-sided table 12x15 needs up to"):
        OneSided.load_or_build(12, 15)
    monkeypatch.setattr(table_file, "available_memory", lambda: 16_000_000)
    with pytest.raises(ConfigError, match="6x6 needs up to 17 MB of memory, expected at most the 16 MB that are avail"):
        TwoSided.load_or_build(6, 6)
    assert cache == []
    monkeypatch.setattr(table_file, "available_memory", lambda: None)  # unknown: it is built
    TwoSided.load_or_build(2, 2)
    assert cache == [(2, 2)]


def test_the_available_memory_is_known_here():
    free = table_file.available_memory()
    assert free is None or 1e6 < free < 1e15


def test_the_cost_is_estimated_before_a_build():
    small, large = TwoSided.estimate(), TwoSided.estimate(6, 14, threads=2)
    assert small[:2] == (924, 924 * 924 * 8)
    assert large[:2] == (38_760, 38_760**2 * 4)
    assert large.seconds > 100 * small.seconds
    assert bearoff.cost_text(large).startswith("38,760² pairs, file 6.0 GB, memory up to 6.4 GB, about ")


FINE = [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "counts",
    [[7, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 2], [-1, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1] * 7, [1.0, 0, 0, 0, 0, 0], [],
     None, "100000", [None] * 6],
)  # fmt: skip
def test_invalid_counts_are_one_line(two_sided, counts):
    for me, them in ((counts, FINE), (FINE, counts)):
        for call in (two_sided.equity, lambda *sides: two_sided.best_moves(*sides, (3, 1))):
            with pytest.raises(PositionError, match="expected") as error:
                call(me, them)
            assert "\n" not in str(error.value)


@pytest.mark.parametrize("dice", [(0, 1), (7, 1), (1, -1), (1,), (1, 2, 3), (1.0, 2), None, "12", 3])
def test_invalid_dice_are_one_line(two_sided, dice):
    for call in (two_sided.equity_after_roll, two_sided.plays, two_sided.best_moves):
        with pytest.raises(PositionError, match="expected two numbers from 1 to 6"):
            call(FINE, FINE, dice)


def test_a_finished_game_has_no_roll(two_sided):
    for sides in (([0] * 6, FINE), (FINE, [0] * 6)):
        with pytest.raises(PositionError, match="the game is over"):
            two_sided.equity_after_roll(*sides, (1, 2))


def test_invalid_arrays_are_rejected(two_sided):
    fine = np.array([FINE, FINE])
    for me in (fine - 1, fine * 7, fine[:, :5], fine[0], fine * 1.0):
        with pytest.raises(PositionError, match="expected"):
            two_sided.equities(me, fine)
    for me, dice in ((fine, [[1, 7], [1, 1]]), (fine, [[1, 2]]), (fine, [[1.0, 2.0]] * 2), (fine * 0, [[1, 2]] * 2)):
        with pytest.raises(PositionError, match="expected"):
            two_sided.equities_after_roll(me, fine, dice)
    with pytest.raises(PositionError, match="as many positions"):
        two_sided.equities_after_roll(fine, fine[:1], [[1, 2]] * 2)
