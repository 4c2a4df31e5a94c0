"""Ratings: intervals cover the true ratings as often as stated, for pairs instead of games."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aleazero.errors import ConfigError
from aleazero.evaluation.ratings import PairResult, rate_players

TRUE = {"random": 0.0, "weak": 120.0, "good": 260.0, "best": 300.0}
MEETINGS = [("random", "weak"), ("weak", "good"), ("good", "best"), ("random", "good"), ("best", "weak")]
PAIRS = 60


def pairs_of(first, second, rng, shared):
    """Return scores of pairs for the win probability of the ratings; a share of the pairs is split by shared dice."""
    chance = 1 / (1 + 10 ** ((TRUE[second] - TRUE[first]) / 400))
    games = (rng.random((PAIRS, 2)) < chance).astype(float)
    same = rng.random(PAIRS) < shared
    games[same, 1] = games[same, 0]
    return games.mean(axis=1)


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_intervals_cover_the_true_ratings(shared):
    rng = np.random.Generator(np.random.Philox(key=11))
    repeats, covered, off = 300, dict.fromkeys(TRUE, 0), dict.fromkeys(TRUE, 0.0)
    for _ in range(repeats):
        rated = rate_players([PairResult(a, b, pairs_of(a, b, rng, shared)) for a, b in MEETINGS], "random")
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
    share = (3.0 + 0.5) / 5  # half a pair won by each is added
    assert best.rating == pytest.approx(1000 + 400 * math.log10(share / (1 - share)))
    assert (anchor.name, anchor.rating, anchor.error, anchor.pairs) == ("b", 1000.0, 0.0, 4)
    assert best.to_dict()["name"] == "a"


def test_a_player_that_won_every_pair_has_a_finite_rating():
    rated = rate_players([PairResult("a", "b", [1.0] * 20), PairResult("c", "a", [0.0] * 5)], "b")
    assert [one.name for one in rated] == ["a", "c", "b"] or [one.name for one in rated] == ["a", "b", "c"]
    assert all(math.isfinite(one.rating) for one in rated)


def test_intervals_without_bound():
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
    ("results", "anchor", "message"),
    [
        ([("a", "b", [1.0]), ("c", "d", [0.5])], "a", "no pairs between 'a' and c, d, expected all players"),
        ([("a", "b", [1.0])], "c", "anchor is 'c'"),
        ([("a", "a", [1.0])], "a", "a against itself"),
        ([("a", "b", [])], "a", "a against b: got scores"),
        ([("a", "b", [1.5])], "a", "from 0 to 1"),
    ],
)
def test_invalid_results_are_rejected(results, anchor, message):
    with pytest.raises(ConfigError, match=message):
        rate_players([PairResult(*result) for result in results], anchor)
