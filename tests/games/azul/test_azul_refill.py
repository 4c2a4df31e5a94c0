"""The refill of Azul: exact probabilities, running out of tiles, conservation in many games, and game dice."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from azul_positions import tiles

from aleazero import load_game
from aleazero.games.azul import to_position
from aleazero.games.azul.board import BAG, CONTENTS, FACTORY, LID
from aleazero.games.base import CHANCE
from aleazero.games.check_states import chi_square
from aleazero.games.game_dice import played_outcome
from aleazero.native.compile import compiles_loops, loop_of
from aleazero.native.random import extend_key_bits, unit_at


def refill_state(players, bag, lid):
    """Return a state before a refill with only these tiles; the others are not on the boards, so it is not checked."""
    game = load_game("azul", players=players)
    state = game.new_initial_state()
    state.vector[BAG : BAG + 5], state.vector[LID : LID + 5] = bag, lid
    return state


def chain(state):
    """Return the distribution over complete refills: (factories, bag, lid) → probability."""
    if state.kind() != CHANCE:
        found = to_position(state)
        return {(tuple(map(tuple, found["factories"])), tuple(found["bag"]), tuple(found["lid"])): 1.0}
    result = Counter()
    for outcome, probability in state.chance_outcomes():
        for end, share in chain(state.child(outcome)).items():
            result[end] += probability * share
    return result


def shuffled(players, bag, lid):
    """Return the same distribution from all orders of the bag and of the lid, drawn tile by tile."""
    factories = 2 * players + 1
    result = Counter()
    orders = [set(permutations([c for c in range(5) for _ in range(heap[c])])) for heap in (bag, lid)]
    share = 1.0 / (len(orders[0]) * len(orders[1]))
    for first in orders[0]:
        for second in orders[1]:
            in_bag, in_lid, filled = list(first), list(second), []
            for _ in range(factories):
                drawn = [0] * 5
                for _ in range(4):
                    if not in_bag:
                        in_bag, in_lid = in_lid, []
                    if in_bag:
                        drawn[in_bag.pop()] += 1
                filled.append(tuple(drawn))
            filled.sort(key=lambda heap: (-sum(heap), *(-count for count in heap)))
            left = [tuple(heap.count(c) for c in range(5)) for heap in (in_bag, in_lid)]
            result[tuple(filled), *left] += share
    return result


SMALL = [
    (tiles(blue=2, red=2, white=1), tiles()),  # the last factory is partial
    (tiles(blue=3, red=1), tiles(yellow=2, red=2)),  # the bag ends exactly with a factory
    (tiles(blue=1, red=1), tiles(blue=3, yellow=2)),  # the bag ends within a factory
    (tiles(red=1), tiles(white=1, black=1)),  # bag and lid together fill no factory
    (tiles(), tiles(blue=3, yellow=1, white=1)),  # the lid goes into the bag at once
    (tiles(blue=2, red=2), tiles()),  # one factory, and nothing else
]
"""Bags and lids."""


@pytest.mark.parametrize(("bag", "lid"), SMALL)
def test_the_chain_is_a_shuffled_bag_exactly(bag, lid):
    ours, expected = chain(refill_state(2, bag, lid)), shuffled(2, bag, lid)
    assert ours.keys() == expected.keys()
    assert [ours[end] for end in expected] == pytest.approx(list(expected.values()), abs=1e-12)


@pytest.mark.parametrize(("bag", "lid"), SMALL)
def test_sampled_tiles_have_the_listed_probabilities(bag, lid):
    """``sample`` maps a range of numbers to each order in which the tiles of a factory are drawn, at most 24."""
    state, count = refill_state(2, bag, lid), 3_000
    found = Counter(state.sample_outcome((i + 0.5) / count) for i in range(count))
    listed = dict(state.chance_outcomes())
    assert found.keys() == listed.keys()
    for outcome, probability in listed.items():
        assert abs(found[outcome] - count * probability) <= 25


def test_the_lid_stays_when_a_refill_ends_with_an_empty_bag():
    state = refill_state(2, tiles(blue=20), tiles(red=7))
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    assert (to_position(state)["bag"], to_position(state)["lid"]) == ([0] * 5, tiles(red=7))
    assert to_position(state)["factories"] == [tiles(blue=4)] * 5


def test_a_bag_that_ends_within_a_factory_is_drawn_completely():
    state = refill_state(2, tiles(blue=1, white=2), tiles(red=3, yellow=1))
    ends = {state.action_to_string(outcome): p for outcome, p in state.chance_outcomes()}
    assert ends == pytest.approx({"brww": 0.75, "byww": 0.25})
    state.play("byww")
    assert (to_position(state)["bag"], to_position(state)["lid"]) == (tiles(red=3), [0] * 5)
    assert state.chance_outcomes() == [(state.string_to_action("rrr"), 1.0)]
    state.play("rrr")
    assert to_position(state)["factories"][:3] == [tiles(blue=1, yellow=1, white=2), tiles(red=3), [0] * 5]
    assert not state.is_chance_node()


@pytest.mark.parametrize("players", [2, 4])
def test_whole_refills_are_distributed_as_a_shuffled_bag(players):
    """Chi-square on the contents of factories, on blue tiles per refill, and on different contents per refill."""
    game = load_game("azul", players=players)
    draw, factories = np.random.default_rng(players), 2 * players + 1
    contents, blue, different = np.zeros(len(CONTENTS), int), np.zeros((2, 21), int), np.zeros((2, 10), int)
    numbers = {tuple(row): i for i, row in enumerate(CONTENTS.tolist())}
    bag = np.repeat(np.arange(5), 20)
    for _ in range(800):
        state = game.new_initial_state()
        while state.is_chance_node():
            game.kernels.apply_outcome(state.vector, game.kernels.sample(state.vector, draw.random()))
        ours = state.vector[FACTORY : FACTORY + factories].tolist()
        heaps = draw.permutation(bag)[: 4 * factories].reshape(factories, 4)
        direct = [numbers[tuple(np.bincount(heap, minlength=5).tolist())] for heap in heaps]
        np.add.at(contents, ours, 1)
        for row, ids in enumerate((ours, direct)):
            blue[row, CONTENTS[ids, 0].sum()] += 1
            different[row, len(set(ids))] += 1
    shares = dict(game.new_initial_state().chance_outcomes())
    off, bound = chi_square(contents[list(shares)].tolist(), list(shares.values()))
    assert off < bound
    assert contents.sum() == contents[list(shares)].sum()
    assert two_samples(*blue)
    assert two_samples(*different)


def two_samples(first, second):
    """Compare two histograms of equal size by chi-square, with bins of at least 20 together and a bound of 6 sigma."""
    statistic, bins, a, b = 0.0, 0, 0, 0
    for x, y in zip(first, second, strict=True):
        a, b = a + int(x), b + int(y)
        if a + b >= 20:
            statistic, bins, a, b = statistic + (a - b) ** 2 / (a + b), bins + 1, 0, 0
    assert bins >= 2
    return statistic < bins + 6.0 * (2.0 * bins) ** 0.5


# -- many games --------------------------------------------------------------------------------------------------------


def make_loop(kernels):
    """Return a loop that plays games and counts wrong states, short refills and drafts, and sums up all actions.

    Hoarders draft at random among the drafts with the fewest tiles for the floor that complete no row, so that walls
    and lines fill up and tiles run short.
    """
    init, kind_of, legal, apply = kernels.init, kernels.kind, kernels.legal, kernels.apply
    sample, apply_outcome = kernels.sample, kernels.apply_outcome

    def tiles_in(state, contents, colour, players, factories):
        """Count the tiles of a colour, from the layout in the documentation."""
        count = state[5 + colour] + state[10 + colour] + state[15 + colour]
        for factory in range(factories):
            count += contents[state[20 + factory], colour]
        for player in range(players):
            board = 29 + 24 * player
            for row in range(5):
                count += (state[board + 1 + row] >> ((colour + row) % 5)) & 1
                if state[board + 6 + row] == colour + 1:
                    count += state[board + 11 + row]
            for slot in range(7):
                if state[board + 17 + slot] == colour + 1:
                    count += 1
        return count

    def hoard(state, actions, count, contents, factories):
        """Move the best drafts of a hoarder to the front; return their number."""
        best, least = 0, 1000
        for i in range(count):
            action = actions[i]
            source, colour, to = action // 30, action // 6 % 5, action % 6
            taken = state[15 + colour] if source == factories else contents[state[20 + source], colour]
            board = 29 + 24 * state[1]
            cost = 100 + taken
            if to < 5:
                cost = max(0, taken + state[board + 11 + to] - to - 1)
                on_wall = 0
                for column in range(5):
                    on_wall += (state[board + 1 + to] >> column) & 1
                if on_wall == 4 and taken + state[board + 11 + to] > to:
                    cost = 200
            if cost < least:
                best, least = 0, cost
            if cost == least:
                actions[best] = action
                best += 1
        return best

    def run(seed, games, hoarders, contents, players, state, actions, found):
        key = extend_key_bits(seed, seed)
        factories = 2 * players + 1
        draws = 0
        for _ in range(games):
            for i in range(len(state)):
                state[i] = 0
            init(state)
            kind = 1
            while kind != 2:
                u = unit_at(key, draws)
                draws += 1
                if kind == 1:
                    apply_outcome(state, sample(state, u))
                    if kind_of(state) == 0 and state[20 + factories - 1] < 56:
                        found[1] += 1
                else:
                    count = legal(state, actions)
                    if count < 1:
                        return -1
                    if hoarders:
                        count = hoard(state, actions, count, contents, factories)
                    action = actions[int(u * count)]
                    apply(state, action)
                    found[2] += 1
                    found[3] = (found[3] * 31 + action) % 1000003
                kind = kind_of(state)
                for colour in range(5):
                    if tiles_in(state, contents, colour, players, factories) != 20:
                        found[0] += 1
            for player in range(players):
                found[3] = (found[3] * 31 + state[29 + 24 * player]) % 1000003
        return games

    return run


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_keep_20_tiles_of_each_colour_also_when_tiles_run_short(players):
    game = load_game("azul", players=players)
    loop = loop_of(game, "conservation", make_loop)

    def play(seed, games, hoarders):
        found = np.zeros(4, np.int64)
        room = (np.zeros(game.info.state_size, game.info.state_dtype), np.zeros(game.num_actions, np.int64))
        with np.errstate(over="ignore"):
            assert loop(np.uint64(seed), games, hoarders, CONTENTS, players, *room, found) == games
        return found.tolist()

    games, few = (10_000, 100) if compiles_loops() else (10, 1)
    for number, hoarders in ((games, False), (few, True)):  # games of hoarders end at the cap of 1,000 drafts
        wrong, short, drafts, actions = play(players, number, hoarders)
        assert wrong == 0
        assert drafts > (900 if hoarders else 20) * number
        assert short == 0 or players > 2
        assert short > 0 or players == 2 or not hoarders
        assert play(players, number, hoarders)[3] == actions
        assert play(players + 1, number, hoarders)[3] != actions


# -- game dice ---------------------------------------------------------------------------------------------------------


def played(seed, choose, rounds):
    """Play a game with game dice; return the factories at the start of each round."""
    state, displays = load_game("azul").new_initial_state(), []
    while not state.is_terminal() and len(displays) < rounds:
        if state.is_chance_node():
            state.apply_action(played_outcome(state, seed, 0))
            if not state.is_chance_node():
                displays.append(to_position(state)["factories"])
        else:
            legal = state.legal_actions()
            state.apply_action(legal[choose(len(legal))])
    return displays


def test_refills_are_the_same_in_all_games_of_a_seed_while_the_first_bag_lasts():
    first, last, other = (
        played(seed, choose, 5) for seed, choose in ((5, lambda n: 0), (5, lambda n: n - 1), (6, lambda n: n // 2))
    )
    assert first == last
    assert all(mine != theirs for mine, theirs in zip(first, other, strict=False))
    drawn = [factory for display in first for factory in display]
    assert [sum(factory[colour] for factory in drawn) for colour in range(5)] == [20] * 5


def test_game_dice_of_compiled_code_are_the_same():
    game = load_game("azul", players=3)
    state = game.new_initial_state()
    for seed in (0, 7, 2**63 + 11):
        after = state.clone()
        while after.is_chance_node():
            outcome = played_outcome(after, seed, 0)
            with np.errstate(over="ignore"):
                assert game.kernels.played_outcome_bits(after.vector, np.uint64(seed), 0) == outcome
            after.apply_action(outcome)


def test_factories_are_sorted_during_the_refill():
    state = load_game("azul").new_initial_state()
    state.play("bbyk, bbbb, ywww")
    assert [state.game.kernels.uncompiled["outcome_text"](state.vector, c) for c in state.vector[20:24]] == [
        *("bbbb", "bbyk", "ywww", "-"),
    ]
    assert state.kind() == CHANCE
    other = load_game("azul").new_initial_state()
    other.play("ywww, bbyk, bbbb")
    assert state.key() == other.key()
