"""An independent implementation of Yatzy without tables: scores of lists of dice, and a slow solver."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, product

NAMES = (
    *("ones", "twos", "threes", "fours", "fives", "sixes", "pair", "two_pairs", "three_kind", "four_kind"),
    *("small_straight", "large_straight", "house", "chance", "yatzy"),
)
FACES = {"ones": 1, "twos": 2, "threes": 3, "fours": 4, "fives": 5, "sixes": 6}
KINDS = {"pair": 2, "three_kind": 3, "four_kind": 4}


def slow_score(hand, name):
    """Return the score of five dice in a category."""
    tally = Counter(hand)
    if name in FACES:
        return sum(die for die in hand if die == FACES[name])
    if name in KINDS:
        enough = [face for face, n in tally.items() if n >= KINDS[name]]
        return max(enough) * KINDS[name] if enough else 0
    if name == "two_pairs":
        pairs = [face for face, n in tally.items() if n >= 2]
        return sum(pairs) * 2 if len(pairs) >= 2 else 0
    if name == "small_straight":
        return 15 if set(hand) == {1, 2, 3, 4, 5} else 0
    if name == "large_straight":
        return 20 if set(hand) == {2, 3, 4, 5, 6} else 0
    if name == "house":
        return sum(hand) if sorted(tally.values()) == [2, 3] else 0
    if name == "chance":
        return sum(hand)
    assert name == "yatzy"
    return 50 if len(tally) == 1 else 0


@cache
def rolls(count):
    """Return the sorted rolls of this many dice, with the number of sequences of each."""
    return tuple(Counter(tuple(sorted(roll)) for roll in product(range(1, 7), repeat=count)).items())


@cache
def turn_value(names, upper):
    """Return the expected points to come before the first roll of a turn, with these categories open."""
    return rolled((), names, upper, 2) if names else 0.0


@cache
def rolled(kept, names, upper, rerolls):
    """Return the expected points to come before a reroll of the other dice."""
    missing = 5 - len(kept)
    worth = (ways * hand_value(tuple(sorted(kept + roll)), names, upper, rerolls) for roll, ways in rolls(missing))
    return sum(worth) / 6**missing


@cache
def hand_value(hand, names, upper, rerolls):
    """Return the expected points to come with five dice."""
    return max(hand_values(hand, names, upper, rerolls).values())


def hand_values(hand, names, upper, rerolls):
    """Return the value of every choice, by category to score or by dice to keep."""
    if rerolls == 0:
        return {name: mark_value(hand, name, names, upper) for name in names}
    keeps = {kept for size in range(6) for kept in combinations(hand, size)}
    return {kept: rolled(kept, names, upper, rerolls - 1) for kept in keeps}


def mark_value(hand, name, names, upper):
    points = slow_score(hand, name)
    left = tuple(other for other in names if other != name)
    if name not in FACES:
        return points + turn_value(left, upper)
    after = upper + points
    bonus = 50 if upper < 63 <= after else 0
    return points + bonus + turn_value(left, min(63, after))
