"""The second rules engine of Azul by itself: hand-worked cases, refills, the move cap and complete games."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import azul_by_hand as by_hand
import pytest
from azul_by_hand import choose_at_random, choose_greedily, choose_hoarding, play_game
from azul_cases import CASES, FLOOR, A, B, C, D, E, Take, find_action, hoards, make_board, make_position, run_case


class ByHand:
    """The engine as the cases call it; a state is a position and whether scores may be negative."""

    def start(self, position, negative_scores):
        return position, negative_scores

    def act(self, state, action):
        position, negative_scores = state
        return by_hand.apply_action(position, action, negative_scores), negative_scores

    def draw(self, state, tiles):
        position, negative_scores = state
        return by_hand.refill(position, tiles), negative_scores

    def position(self, state):
        return state[0]

    def legal(self, state):
        return by_hand.legal_actions(state[0])

    def returns(self, state):
        return by_hand.returns(state[0])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hand_worked_case(case):
    before = json.dumps(case.position)
    assert run_case(case, ByHand()) == []
    assert json.dumps(case.position) == before


def test_each_case_has_its_own_name():
    assert max(Counter(case.name for case in CASES).values()) == 1


def test_all_legal_ids_and_the_canonical_ones():
    same, other = (2, 1, 1, 0, 0), (0, 0, 0, 4, 0)
    position = make_position(make_board(), make_board(), factories=[other, same, other, same], marker_with=None)
    legal = by_hand.legal_actions(position)
    assert legal == sorted((source * 5 + colour) * 6 + destination
                           for source, colours in enumerate([(D,), (A, B, C), (D,), (A, B, C)])
                           for colour in colours for destination in range(6))  # fmt: skip
    kept = sorted({by_hand.canonical(position, action) for action in legal})
    assert kept == [action for action in legal if action < 60]
    for action in legal:
        lowest = by_hand.canonical(position, action)
        after, again = (by_hand.comparable(by_hand.apply_action(position, a)) for a in (action, lowest))
        assert after == again


def test_the_centre_is_not_equivalent_to_a_factory():
    position = make_position(make_board(), make_board(), factories=[(0, 0, 0, 4, 0)], centre=[D] * 4)
    action = find_action(position, Take(D, 4))
    assert by_hand.canonical(position, action) == action == (5 * 5 + D) * 6 + 4


def test_illegal_steps_are_rejected():
    position = make_position(make_board(lines={1: (B, 1)}), make_board(), centre=[A], bag=[18, 2, 0, 0, 0])
    with pytest.raises(ValueError, match="illegal"):
        by_hand.apply_action(position, find_action(position, Take(A, 1)))
    refill = by_hand.apply_action(position, find_action(position, Take(A, 4)))
    assert by_hand.legal_actions(refill) == []
    with pytest.raises(ValueError, match="draw 3 is colour 4, which is not in the bag"):
        by_hand.refill(refill, [A, A, E, *[A] * 17])
    with pytest.raises(ValueError, match="19 tiles in phase refill, expected 20"):
        by_hand.refill(refill, [A] * 19)


def test_phase_without_the_key():
    for position, _ in play_game(2, 5):
        unnamed = {name: value for name, value in position.items() if name != "phase"}
        assert by_hand.phase_of(unnamed) == position["phase"]


def test_the_move_cap_ends_the_game_after_its_round():
    one = make_position(make_board(4, [(row, 0) for row in range(5)]), make_board(6), centre=[A])
    last = find_action(one, Take(A, 4))
    assert by_hand.apply_action(one, last, drafts=998)["phase"] == "refill"
    ended = by_hand.apply_action(one, last, drafts=999)
    assert (ended["phase"], [board["score"] for board in ended["boards"]]) == ("over", [4 + 7, 6 - 1])
    two = make_position(make_board(4), make_board(6), centre=[A, B])
    running = by_hand.apply_action(two, find_action(two, Take(A, FLOOR)), drafts=999)
    assert running["phase"] == "draft"
    assert by_hand.apply_action(running, find_action(running, Take(B, FLOOR)), drafts=1000)["phase"] == "over"


# Refills.


def small_refill(bag):
    """Return a four-player position before a refill: these tiles are in the bag, 4 A minus those in the lid."""
    position = make_position(
        *hoards({4: (B, 2)}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 4)}), to_move=2, centre=[A], bag=bag
    )  # fmt: skip
    return by_hand.apply_action(position, find_action(position, Take(A, FLOOR)))


@pytest.mark.parametrize("bag", [[0] * 5, [2, 0, 0, 0, 0], [1, 1, 0, 0, 0], [2, 1, 0, 0, 0], [3, 2, 0, 0, 0]])
def test_the_distribution_equals_all_orders_of_bag_and_lid(bag):
    position = small_refill(bag)
    assert (position["bag"], position["lid"]) == (bag, [4 - bag[A], 2 - bag[B], 0, 0, 0])
    stores = [[c for c in range(5) for _ in range(position[name][c])] for name in ("bag", "lid")]
    counts = Counter(
        by_hand.display(by_hand.refill(position, [*first, *second])["factories"])
        for first, second in product(*(list(permutations(store)) for store in stores))
    )
    total = sum(counts.values())
    expected = {shown: Fraction(count, total) for shown, count in counts.items()}
    assert by_hand.refill_distribution(position) == expected


def test_two_tiles_of_a_colour_meet_in_one_factory_with_probability_3_of_19():
    position = make_position(make_board(), make_board(), centre=[E], bag=[18, 2, 0, 0, 0])
    refill = by_hand.apply_action(position, find_action(position, Take(E, 4)))
    together = by_hand.display([(4, 0, 0, 0, 0)] * 4 + [(2, 2, 0, 0, 0)])
    apart = by_hand.display([(4, 0, 0, 0, 0)] * 3 + [(3, 1, 0, 0, 0)] * 2)
    assert by_hand.refill_distribution(refill) == {together: Fraction(3, 19), apart: Fraction(16, 19)}


def test_random_draws_follow_the_distribution():
    position, rng, rounds = small_refill([1, 1, 0, 0, 0]), random.Random(1), 5_000
    drawn = Counter(
        by_hand.display(by_hand.refill(position, by_hand.draw_tiles(position, rng))["factories"]) for _ in range(rounds)
    )
    exact = by_hand.refill_distribution(position)
    assert set(drawn) == set(exact)
    for shown, probability in exact.items():
        p = float(probability)
        assert abs(drawn[shown] / rounds - p) < 5 * (p * (1 - p) / rounds) ** 0.5


# Games.


@pytest.mark.parametrize("negative_scores", [False, True])
@pytest.mark.parametrize("choose", [choose_at_random, choose_greedily])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_keep_all_tiles_and_end_with_a_complete_row(players, choose, negative_scores):
    lowest = 0
    for seed in range(10):
        for position, step in play_game(players, seed, choose, negative_scores):
            assert by_hand.conserved(position)
            assert json.loads(json.dumps(position)) == position
            if step is not None:
                assert by_hand.returns(position) == [0] * players
                assert not any(by_hand.complete_rows(board) for board in position["boards"])
            lowest = min(lowest, *(board["score"] for board in position["boards"]))
        assert position["phase"] == "over"
        assert any(by_hand.complete_rows(board) for board in position["boards"])
        assert sum(by_hand.returns(position)) == pytest.approx(0)
        assert max(by_hand.returns(position)) > 0 or players == 2
    assert lowest == 0 or negative_scores
    assert lowest < 0 or not negative_scores or choose is choose_greedily


def test_same_seed_same_game():
    assert list(play_game(3, 7)) == list(play_game(3, 7))
    assert list(play_game(3, 7)) != list(play_game(3, 8))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_that_avoid_rows_run_into_shortage_and_the_move_cap(players):
    drafts, short, unclaimed = 0, 0, 0
    for position, step in play_game(players, 5, choose_hoarding):
        assert by_hand.conserved(position)
        drafts += isinstance(step, int)
        if isinstance(step, list) and drafts:
            short += len(step) < 4 * by_hand.FACTORIES[players]
            unclaimed += position["marker"]
    assert position["phase"] == "over"
    assert not any(by_hand.complete_rows(board) for board in position["boards"])
    assert 1000 <= drafts < 1040
    assert (short > 0) == (players > 2)
    assert (unclaimed > 0) == (players == 4)
