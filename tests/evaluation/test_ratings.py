"""Ratings find the true ones, as often as their intervals say; on pairs, not games."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aleazero.errors import ConfigError
from aleazero.evaluation.ratings import PairResult, rate_players

TRUE = {"random": 0.0, "weak": 120.0, "good": 260.0, "best": 300.0}
MEETINGS = [("random", "weak"), ("weak", "good"), ("good", "best"), ("random", "good"), ("best", "weak")]
PAIRS = 60


def pairs_of(first, second, luck, shared):
    """Pair scores with the chance that ratings stand for; a share of pairs is decided by luck alone, and split."""
    chance = 1 / (1 + 10 ** ((TRUE[second] - TRUE[first]) / 400))
    games = (luck.random((PAIRS, 2)) < chance).astype(float)
    same = luck.random(PAIRS) < shared
    games[same, 1] = games[same, 0]
    return games.mean(axis=1)


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_intervals_cover_the_true_ratings(shared):
    luck = np.random.Generator(np.random.Philox(key=11))
    repeats, covered, off = 300, dict.fromkeys(TRUE, 0), dict.fromkeys(TRUE, 0.0)
    for _ in range(repeats):
        rated = rate_players([PairResult(a, b, pairs_of(a, b, luck, shared)) for a, b in MEETINGS], "random")
        for one in rated:
            covered[one.name] += one.low <= TRUE[one.name] <= one.high
            off[one.name] += (one.rating - TRUE[one.name]) / repeats
    assert covered.pop("random") == repeats
    band = 3 * math.sqrt(0.05 * 0.95 / repeats)
    for name, count in covered.items():
        assert 0.95 - band <= count / repeats <= 1.0 - 0.05 / 10, name
        assert abs(off[name]) < 12, name


def test_two_players_by_hand():
    scores = [0.5, 1.0, 0.5, 1.0]
    best, anchor = rate_players([PairResult("a", "b", scores)], "b", 1000.0)
    share = (3.0 + 0.5) / 5  # half a pair more that either won
    assert best.rating == pytest.approx(1000 + 400 * math.log10(share / (1 - share)))
    assert (anchor.name, anchor.rating, anchor.error, anchor.pairs) == ("b", 1000.0, 0.0, 4)
    assert best.to_dict()["name"] == "a"


def test_who_won_all_has_an_end():
    rated = rate_players([PairResult("a", "b", [1.0] * 20), PairResult("c", "a", [0.0] * 5)], "b")
    assert [one.name for one in rated] == ["a", "c", "b"] or [one.name for one in rated] == ["a", "b", "c"]
    assert all(math.isfinite(one.rating) for one in rated)


def test_what_no_pair_bounds_has_no_bound():
    pairs = [("a", "b", [1.0] * 20), ("c", "a", [0.0] * 5), ("d", "b", [0.5, 1.0, 0.25]), ("e", "d", [0.0, 0.0])]
    rated = {one.name: one for one in rate_players([PairResult(*pair) for pair in pairs], "b")}
    bounded = {name: (math.isfinite(one.low), math.isfinite(one.high)) for name, one in rated.items()}
    assert bounded == {
        "a": (True, False),
        "b": (True, True),
        "c": (False, False),
        "d": (True, True),
        "e": (False, True),
    }
    assert rated["a"].to_dict()["high"] is None


@pytest.mark.parametrize(
    ("results", "anchor", "said"),
    [
        ([("a", "b", [1.0]), ("c", "d", [0.5])], "a", "no pairs between 'a' and c, d, expected all players"),
        ([("a", "b", [1.0])], "c", "anchor is 'c'"),
        ([("a", "a", [1.0])], "a", "a against itself"),
        ([("a", "b", [])], "a", "a against b: got scores"),
        ([("a", "b", [1.5])], "a", "from 0 to 1"),
    ],
)
def test_what_cannot_be_rated_is_refused(results, anchor, said):
    with pytest.raises(ConfigError, match=said):
        rate_players([PairResult(*result) for result in results], anchor)
