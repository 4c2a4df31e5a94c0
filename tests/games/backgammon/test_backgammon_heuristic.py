"""The fixed player ``heuristic``: its formula, its choice over complete plays, and its moves, which never change."""

from __future__ import annotations

import hashlib
import random

import pytest

import aleazero
from aleazero import ConfigError
from aleazero.evaluation.plays import plays_of
from aleazero.games.backgammon import from_position, to_position
from aleazero.games.backgammon.heuristic import HeuristicScores, evaluate

GAME = aleazero.load_game("backgammon")
POINT_VALUES = {2: 2, 3: 5, 4: 7, 5: 8, 6: 7, 7: 6, 8: 4, 9: 2, 10: 2, 11: 1, 12: 1, 13: 2, 14: 1, 15: 1, 16: 2, 17: 2,
                18: 4, 19: 1, 20: 6, 21: 5, 22: 3, 23: 1, 24: 1}  # fmt: skip
HITTING_ROLLS = {1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17, 7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3}


def by_hand(state, player):
    """The formula of docs/games/backgammon.md, from the position as the player sees it."""
    points, bar, off = to_position(state, player)
    mine = {p: n for p, n in enumerate(points, start=1) if n > 0} | ({25: bar[0]} if bar[0] else {})
    theirs = {p: -n for p, n in enumerate(points, start=1) if n < 0} | ({0: bar[1]} if bar[1] else {})
    score = sum((25 - p) * n for p, n in theirs.items()) - sum(p * n for p, n in mine.items())
    if not mine or not theirs or max(mine) < min(theirs):
        return score + 4 * off[0]
    score += sum(POINT_VALUES.get(p, 0) for p, n in mine.items() if n > 1 and p < 25)
    score -= sum(max(0, n - 3) for p, n in mine.items() if p < 25)
    for blot in (p for p, n in mine.items() if n == 1 and p < 25):
        rolls = min(36, sum(HITTING_ROLLS.get(blot - p, 0) for p in theirs))
        score -= rolls / 36 * (25 - blot + 6)
    my_home = sum(n > 1 for p, n in mine.items() if p <= 6)
    their_home = sum(n > 1 for p, n in theirs.items() if p >= 19)
    return score + 3 * (my_home * bar[1] - their_home * bar[0])


def decisions(count, seed):
    """Return decisions of random games, doubles included."""
    rng, state, found = random.Random(seed), GAME.new_initial_state(), []
    while len(found) < count:
        if state.is_terminal():
            state = GAME.new_initial_state()
        elif state.is_chance_node():
            state.apply_action(state.sample_outcome(rng.random()))
        else:
            found.append(state.clone())
            state.apply_action(rng.choice(state.legal_actions()))
    return found


def test_the_formula_is_the_documented_one():
    for state in decisions(400, 1):
        for player in (0, 1):
            assert evaluate(state.vector, player) == pytest.approx(by_hand(state, player), abs=1e-9)


def test_a_value_by_hand():
    points = [0] * 24
    points[5], points[3], points[17] = 2, 1, -3  # contact ends: all checkers have passed
    race = from_position(points, off=(12, 12))
    assert evaluate(race.vector, 0) == 3 * 7 - 16 + 4 * 12
    points[0], points[17] = -1, -2  # a checker of the other player, three pips before the blot on point 4
    assert evaluate(from_position(points, off=(12, 12)).vector, 0) == pytest.approx(24 + 14 - 16 + 7 - 14 / 36 * 27)


def test_an_action_has_the_value_of_the_best_play_that_begins_with_it():
    scores = HeuristicScores(GAME)
    states = decisions(60, 2) + [state for state in decisions(500, 3) if state.vector[28] == state.vector[29]][:12]
    for state in states:
        mover, best = state.current_player(), {}
        for play in plays_of(state):
            first, value = play.actions[0], evaluate(play.end.vector, mover)
            best[first] = max(best.get(first, value), value)
        found = scores.by_action(state.vector)
        assert list(found) == state.legal_actions()
        assert max(found.values()) == pytest.approx(max(best.values()), abs=1e-9)
        assert all(found[action] >= best[action] - 1e-9 for action in best)


def test_the_moves_never_change():
    player = aleazero.make_player("heuristic", GAME)
    states = decisions(300, 4)
    chosen = player.select_many(states, [0] * len(states))
    assert chosen == player.select_many(states, range(len(states)))  # nothing is drawn at random
    assert hashlib.sha256(repr(chosen).encode()).hexdigest()[:16] == "126568ed71588275"


def test_a_subset_of_the_actions_is_kept():
    player = aleazero.make_player("heuristic", GAME)
    for state in decisions(40, 5):
        some = state.legal_actions()[-2:]
        assert player.select(state, 0, some) in some


def test_it_has_no_settings():
    with pytest.raises(ConfigError, match="player 'heuristic:a=1': heuristic has no setting 'a', expected none"):
        aleazero.make_player("heuristic:a=1", GAME)
