"""Inputs of backgammon's value networks, compared with a plain implementation on points as lists."""

from __future__ import annotations

import random

import numpy as np
import pytest

import aleazero
from aleazero.games.backgammon import from_position, to_position
from aleazero.games.backgammon.features import BLOCK_SIZE, HIT, LOSS, PIP_LEAD, PRIME, REAR_ESCAPE, SHOTS

DICE = [(a, b) for a in range(1, 7) for b in range(1, 7)]
REACH = 12


def features_of(state, player):
    out = np.full(2 * BLOCK_SIZE + 1, np.nan, np.float32)
    state.game.kernels.features(state.vector, player, out)
    return out


def side_of(state, player):
    """Return checkers by place (1 to 24, 25 the bar) and checkers off of a player."""
    points, bar, off = to_position(state, player)
    return {place: max(0, points[place - 1]) for place in range(1, 25)} | {25: bar[0]}, off[0]


def can_escape(place, blocked, dice):
    return place - sum(dice) not in blocked and any(place - die not in blocked for die in dice)


def escape(place, other):
    blocked = {25 - p for p in range(1, 25) if other[p] > 1}
    return sum(can_escape(place, blocked, dice) for dice in DICE) / 36


def hits(origin, target, blocked, dice):
    """Return whether one checker can move from its place to a blot with this roll."""
    a, b = dice
    ways = [[a] * n for n in (1, 2, 3, 4)] if a == b else [[a], [b], [a, b], [b, a]]
    for way in ways:
        places = [origin - sum(way[: n + 1]) for n in range(len(way))]
        if origin - target <= REACH and places[-1] == target and not blocked & set(places[:-1]):
            return True
    return False


def block_of(mine, off, other):
    """Return the inputs of one player, by place in the block."""
    out = np.zeros(BLOCK_SIZE)
    for place, count in mine.items():
        at = 4 * (place - 1)
        out[at : at + 4] = count == 1, count == 2, count >= 3, max(0, count - 3) / 2
    out[100:103] = [np.clip(off - low, 0, 5) / 5 for low in (0, 5, 10)]
    out[103] = (sum(p * n for p, n in mine.items()) - 100) * 0.015
    out[104] = sum(max(0, p - 6) * n for p, n in mine.items()) * 0.02
    rear, other_rear = (max(p for p, n in side.items() if n) for side in (mine, other))
    if rear + other_rear <= 24:
        if off == 0:
            leaving = sum((p - 18) * n for p, n in mine.items() if p > 18)
            rolls = max(sum(p * n for p, n in other.items()) / 8.17, sum(other.values()) / 2)
            out[147], out[148] = leaving * 0.1, np.clip((out[104] / 0.02 / 8.17 + 0.5 - rolls) * 0.3, -2, 2)
            out[149] = np.clip((leaving / 8.17 + 0.5 - rolls) * 0.3, -2, 2) if leaving else 0
        return out
    made = {p for p in range(1, 25) if mine[p] > 1}
    blots = [p for p in range(1, 25) if mine[p] == 1]
    origins = [25] if other[25] else [p for p in range(1, 25) if other[p]]
    walls, lost = {25 - p for p in made}, dict.fromkeys(DICE, 0)
    for point in blots:
        hitting = [d for d in DICE if any(hits(origin, 25 - point, walls, d) for origin in origins)]
        out[104 + point] = 2 * len(hitting) / 36
        for dice in hitting:
            lost[dice] = lost[dice] or 25 - point
    out[129] = 2 * sum(pips > 0 for pips in lost.values()) / 36
    out[130] = 0.1 * sum(lost.values()) / 36
    escapes = [escape(place, other) for place in range(16, 26)]
    least = min(escapes)
    out[131:135] = (escape(rear, other) - 0.6) * 1.5, (0.6 - least) * 1.5, ((1 - least) ** 2 - 0.25) * 1.5, \
        (np.mean(escapes) - 0.75) * 2  # fmt: skip
    prime = max((n for n in range(1, 25) for p in range(1, 25) if set(range(p, p + n)) <= made), default=0)
    home = len(made & set(range(1, 7)))
    line, outside = 24 - other_rear, [(p, n) for p, n in mine.items() if p > 6]
    out[135:139] = max(0, prime - 2) * 0.4, (home - 3) * 0.35, home**2 * 0.04 * (other[25] > 0), \
        (sum(n for p, n in mine.items() if p > line) - 6) * 0.15  # fmt: skip
    out[139] = (sum((p - line) * n for p, n in mine.items() if p > line) - 50) * 0.02
    out[140] = sum(p * n for p, n in mine.items() if p <= line) * 0.02
    out[141] = (sum((p - 6) * n * escape(p, other) for p, n in outside) - 25) * 0.03
    out[142] = (sum(max(0, p - 9) ** 2 * n for p, n in mine.items()) - 400) * 0.002
    out[143] = max(0, sum(n for p, n in mine.items() if p > 18) - 2) * 0.5
    out[144] = len(made & set(range(19, 25))) * 0.6
    out[145] = home**2 * min(3, other[25]) / 36
    out[146] = (len(blots) - 2) * 0.3
    return out


def plain_features(state, player):
    (mine, off), (other, other_off) = side_of(state, player), side_of(state, 1 - player)
    lead = sum(p * (mine[p] - other[p]) for p in mine) * 0.03
    return np.concatenate((block_of(mine, off, other), block_of(other, other_off, mine), [lead]))


def positions(game, count, seed):
    """Return positions of random games, from decisions and chance nodes."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        state = game.new_initial_state()
        while not state.is_terminal():
            chance = state.is_chance_node()
            state.apply_action(state.sample_outcome(rng.random()) if chance else rng.choice(state.legal_actions()))
            if not state.is_terminal() and rng.random() < 0.2:
                found.append(state.clone())
    return found[:count]


@pytest.mark.parametrize("params", [{}, {"checkers": 3}])
def test_features_equal_a_plain_implementation(params):
    game = aleazero.load_game("backgammon", **params)
    races = 0
    for state in positions(game, 150, seed=3):
        for player in (0, 1):
            found = features_of(state, player)
            np.testing.assert_allclose(found, plain_features(state, player), rtol=0, atol=1e-5)
            races += state.phase() == 1
    assert 10 <= races <= 250  # both phases


def test_features_swap_with_the_players():
    state = positions(aleazero.load_game("backgammon"), 1, seed=9)[0]
    own, other = features_of(state, 0), features_of(state, 1)
    np.testing.assert_array_equal(own[:BLOCK_SIZE], other[BLOCK_SIZE:-1])
    assert own[PIP_LEAD] == -other[PIP_LEAD]


def test_known_chances():
    """A blot six points ahead is hit by 17 of 36 rolls; from the edge of a prime of five points, only sixes escape."""
    blot = [0] * 24
    blot[0], blot[6], blot[23] = -15, 1, 14  # the other player's checkers are 6 points before the blot
    found = features_of(from_position(blot), 0)
    assert found[SHOTS + 6] == found[HIT] == pytest.approx(2 * 17 / 36)
    assert found[LOSS] == pytest.approx(0.1 * 18 * 17 / 36)
    trapped = [0] * 24
    trapped[0], trapped[18:23], trapped[23] = -5, [-2] * 5, 15
    found = features_of(from_position(trapped), 0)
    assert found[REAR_ESCAPE] == pytest.approx((11 / 36 - 0.6) * 1.5)
    assert found[BLOCK_SIZE + PRIME] == pytest.approx(0.4 * 3)
