"""The bundled Azul agrees with the second rules engine, which was written without looking at it.

Both are compared on 5,040 decisions of random and greedy games and 1,800 of hoarding games, on positions that the
second engine reached, on the hand-worked cases, and on the exact distribution of small refills. Factories and floors
are compared without order, so every id is read in the position that ``to_position`` returns.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations

import azul_by_hand as by_hand
import pytest
from azul_by_hand import FLOOR_MOVE, choose_at_random, choose_greedily, choose_hoarding, comparable, display, play_game
from azul_cases import CASES, FLOOR, A, B, C, D, E, Take, find_action, hoards, make_board, make_position, run_case

import aleazero
from aleazero import IllegalActionError
from aleazero.games import azul

DECISIONS = {choose_at_random: 420, choose_greedily: 420, choose_hoarding: 300}
"""Decisions of each of the six kinds of games, by number of players and whether scores may be negative."""
ALL_ACTIONS_EVERY = 25
"""All actions are compared at every such decision, a few of them at the others."""

CHOOSERS = [choose_at_random, choose_greedily, choose_hoarding]
KINDS = [(players, negative, choose) for players in (2, 3, 4) for negative in (False, True) for choose in CHOOSERS]


@cache
def game(players, negative_scores=False):
    return aleazero.load_game("azul", players=players, negative_scores=negative_scores)


def check_same(state, expected):
    """Compare a state with a position of the second engine; return the state's own position."""
    position = azul.to_position(state)
    assert comparable(position) == comparable(expected)
    phase = by_hand.phase_of(expected)
    assert (state.is_terminal(), state.is_chance_node()) == (phase == "over", phase == "refill")
    assert phase != "draft" or state.current_player() == expected["to_move"]
    assert state.returns() == pytest.approx(by_hand.returns(expected))
    assert by_hand.conserved(position)
    return position


def check_decision(state, position, negative_scores, actions, drafts=None):
    """Compare the legal actions, and the positions after some of them."""
    legal = by_hand.legal_actions(position)
    assert state.legal_actions() == sorted({by_hand.canonical(position, action) for action in legal})
    for action in actions:
        check_same(state.child(action), by_hand.apply_action(position, action, negative_scores, drafts))


def fill(state, rng):
    """Follow the chain of chance nodes at random; check that the tiles can be drawn from the bag and the lid."""
    before = azul.to_position(state)
    while state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(outcomes, probabilities)[0])
    after = azul.to_position(state)
    check_same(state, by_hand.refill(before, drawing_order(before, after["factories"])))


def drawing_order(position, factories):
    """Return an order of draws that fills the factories, in any order of theirs: the bag first, then the lid."""
    filled = sorted((f for f in factories if sum(f)), key=sum, reverse=True)
    bag = position["bag"]
    whole = min(len(filled), sum(bag) // by_hand.FACTORY_SIZE)
    for first in combinations(range(len(filled)), whole):
        left = [count - sum(filled[n][colour] for n in first) for colour, count in enumerate(bag)]
        if min(left) < 0:
            continue
        rest = [n for n in range(len(filled)) if n not in first]
        for crossing in rest:  # the factory during which the bag becomes empty
            others = [n for n in rest if n != crossing]
            more = [count - first_part for count, first_part in zip(filled[crossing], left, strict=True)]
            if min(more) >= 0 and (sum(filled[crossing]) == by_hand.FACTORY_SIZE or not others):
                parts = [*(filled[n] for n in first), left, more, *(filled[n] for n in others)]
                return [colour for part in parts for colour in range(5) for _ in range(part[colour])]
        if not rest:
            return [colour for n in first for colour in range(5) for _ in range(filled[n][colour])]
    raise AssertionError(f"{factories} cannot be drawn from bag {bag} and lid {position['lid']}")


@pytest.mark.parametrize(("players", "negative_scores", "choose"), KINDS)
def test_games_agree(players, negative_scores, choose):
    rng, seen, drafts, short = random.Random(17), 0, 0, 0
    state = game(players, negative_scores).new_initial_state()
    check_same(state, by_hand.initial_position(players))
    while seen < DECISIONS[choose]:
        if state.is_terminal():
            state, drafts = game(players, negative_scores).new_initial_state(), 0
        elif state.is_chance_node():
            short += by_hand.tiles_needed(azul.to_position(state)) < 4 * by_hand.FACTORIES[players]
            fill(state, rng)
        else:
            position, seen = azul.to_position(state), seen + 1
            legal = by_hand.legal_actions(position)
            check_decision(state, position, negative_scores, actions_to_try(legal, seen, rng), drafts)
            action = choose(position, legal, rng)
            state.apply_action(action)
            check_same(state, by_hand.apply_action(position, action, negative_scores, drafts))
            drafts += 1
    assert short > 0 or choose is not choose_hoarding or players == 2


def actions_to_try(legal, number, rng):
    return legal if number % ALL_ACTIONS_EVERY == 0 else rng.sample(legal, min(2, len(legal)))


@pytest.mark.parametrize(("players", "negative_scores", "choose"), KINDS)
def test_positions_of_the_second_engine_are_read_and_agree(players, negative_scores, choose):
    rng = random.Random(3)
    for number, (position, step) in enumerate(play_game(players, 5, choose, negative_scores)):
        if number >= 250:
            break
        if number % 6 and position["phase"] == "draft":
            continue
        state = azul.from_position(position, negative_scores=negative_scores)
        assert state.game.params["negative_scores"] == negative_scores
        own = check_same(state, position)
        if isinstance(step, int):
            check_decision(state, own, negative_scores, actions_to_try(by_hand.legal_actions(own), number, rng))
        elif isinstance(step, list):
            fill(state, rng)


def test_actions_that_the_second_engine_rejects_are_illegal():
    rng, state, tried = random.Random(23), game(2).new_initial_state(), 0
    while tried < 100 and not state.is_terminal():
        if state.is_chance_node():
            fill(state, rng)
            continue
        legal = set(by_hand.legal_actions(azul.to_position(state)))
        for action in rng.sample([n for n in range(180) if n not in legal], 3):
            with pytest.raises(IllegalActionError):
                state.child(action)
            tried += 1
        state.apply_action(rng.choice(sorted(legal)))
    assert tried >= 100


def play_round_on_floors(state, drafts, rng, compare=True):
    """Play the next round with floor moves only, which complete no row; return the number of drafts after it."""
    while state.is_chance_node():
        state.apply_action(state.sample_outcome(rng.random()))
    while not state.is_chance_node() and not state.is_terminal():
        position = azul.to_position(state)
        action = rng.choice([a for a in by_hand.legal_actions(position) if a % 6 == FLOOR_MOVE])
        state.apply_action(action)
        if compare:
            check_same(state, by_hand.apply_action(position, action, drafts=drafts))
        drafts += 1
    return drafts


@pytest.mark.parametrize(("players", "from_draft"), [(2, 960), (4, 930)])
def test_the_move_cap_agrees(players, from_draft):
    rng, start, played = random.Random(2), game(players).new_initial_state(), 0
    while played < from_draft:
        played = play_round_on_floors(start, played, rng, compare=False)
    round_ends, game_ends = set(), set()
    for _ in range(300):  # until one round ends with draft 999 and another with draft 1,000
        state, drafts = start.clone(), played
        while not state.is_terminal():
            round_ends.add(drafts)
            drafts = play_round_on_floors(state, drafts, rng, compare=drafts > 965)
        game_ends.add(drafts)
        if 999 in round_ends and 1000 in game_ends:
            break
    assert 999 in round_ends
    assert max(round_ends) == 999
    assert min(game_ends) == 1000


# Hand-worked cases.


class Bundled:
    """The bundled game as the cases call it."""

    def start(self, position, negative_scores):
        return azul.from_position(position, negative_scores=negative_scores)

    def act(self, state, action):
        return state.child(action)

    def draw(self, state, tiles):
        wanted = comparable(by_hand.refill(azul.to_position(state), tiles))["factories"]
        return next(end for end, _ in ends_of(state) if display(azul.to_position(end)["factories"]) == wanted)

    def position(self, state):
        return azul.to_position(state)

    def legal(self, state):
        return state.legal_actions() if by_hand.phase_of(azul.to_position(state)) == "draft" else []

    def returns(self, state):
        return state.returns()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hand_worked_case(case):
    assert run_case(case, Bundled()) == []


# Refills.


def ends_of(state):
    """Return the states after a complete refill with their probabilities."""
    layer, ends = {state.key(): (state, 1.0)}, {}
    while layer:
        following = {}
        for node, probability in layer.values():
            for outcome, p in node.chance_outcomes():
                after = node.child(outcome)
                store = following if after.is_chance_node() else ends
                known = store.get(after.key(), (after, 0.0))
                store[after.key()] = (after, known[1] + probability * p)
        layer = following
    return list(ends.values())


def before_refill(players, bag):
    """Return a position in which seat 0 takes the last tile, with this bag; all other tiles are in the lid."""
    return make_position(*(make_board() for _ in range(players)), centre=[E], bag=bag)


def hoarded(bag, *lines):
    return make_position(*hoards(*lines), to_move=2, centre=[A], bag=bag)


REFILLS = {
    "two players, the bag is enough": before_refill(2, [17, 2, 1, 0, 0]),
    "two players, bag with one tile too many": before_refill(2, [0, 0, 19, 2, 0]),
    "two players, two tiles from the lid": before_refill(2, [0, 17, 1, 0, 0]),
    "two players, a factory from the lid": before_refill(2, [0, 0, 0, 16, 0]),
    "three players, the bag is enough": before_refill(3, [20, 6, 2, 0, 0]),
    "three players, one tile from the lid": before_refill(3, [7, 20, 0, 0, 0]),
    "four players, the bag is enough": before_refill(4, [20, 16, 0, 0, 0]),
    "four players, two tiles from the lid": before_refill(4, [20, 14, 0, 0, 0]),
    "four players, eight tiles from the lid": hoarded([0] * 5, {}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 4)}),
    "four players, bag and lid": hoarded([1, 2, 0, 0, 1], {}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 2)}),
    "four players, twelve tiles": hoarded([0, 3, 1, 1, 0], {}, {4: (C, 3)}, {4: (D, 2)}, {4: (E, 3)}),
    "four players, one tile": hoarded([0] * 5, {4: (B, 4)}, {4: (C, 4)}, {4: (D, 4)}, {3: (A, 3), 4: (E, 4)}),
}


@pytest.mark.parametrize("name", REFILLS)
def test_the_chain_has_the_exact_distribution_of_displays(name):
    position = REFILLS[name]
    take = Take(position["centre"].index(1), FLOOR)
    state = azul.from_position(position)
    before = azul.to_position(state)
    state.apply_action(find_action(before, take))
    refill = by_hand.apply_action(before, find_action(before, take))
    check_same(state, refill)
    found = {}
    for end, probability in ends_of(state):
        after = azul.to_position(end)
        check_same(end, by_hand.refill(refill, drawing_order(refill, after["factories"])))
        shown = display(after["factories"])
        found[shown] = found.get(shown, 0.0) + probability
    exact = by_hand.refill_distribution(refill)
    assert len(exact) > 1 or name.endswith("one tile")
    assert found == pytest.approx({shown: float(probability) for shown, probability in exact.items()}, abs=1e-9)
