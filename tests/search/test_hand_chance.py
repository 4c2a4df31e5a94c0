"""Small trees for each way to treat chance, worked out by hand as those of ``test_hand_trees``.

Every number follows from the rulings (DESIGN.md 5-9, 12, 15) by the arithmetic written beside it. Unless a test says
otherwise the tree is r, with one action and own value 0, then a chance node C at depth 1; two players, values those
of player 0. Probabilities are written as weights out of 16 where ties matter, so that ties are exact in floats too:
"11, 5: 0 1 0 0 1 0 0" means that outcomes of weight 11 and 5 are picked in this order when picked by deficit.

Choices made where the rulings leave room are marked CHOICE.
"""

from __future__ import annotations

import math
import types
from dataclasses import replace
from typing import Any

import pytest
import tree_game
from test_hand_trees import GOLDEN, HALF, ZERO, approx, check, check_node, check_stats, draw, mix, node_at
from tree_game import Scripted, chance, decision, encode, terminal

import aleazero
from aleazero import ESTIMATE, EXACT, NONE, ChanceConfig, ConfigError
from aleazero.games.base import MANY, GameInfo
from aleazero.games.kernel import KernelGame

nan = math.nan
ROW = 2**32
"""Places of the stream between one draw of a visit and the next additional one."""

STRATIFIED = {"pick": "stratified"}
EXPECTED = {"pick": "stratified", "backup": "expectation"}


# The random draws that the expected values rely on.

TIES = 0x74696573


def tie_order(seed: int, node: int, count: int) -> list[int]:
    """Places in a node's list of outcomes, the one that wins ties first."""
    key = 0
    for part in (TIES, seed, node):
        key = mix(key + GOLDEN + part)
    return sorted(range(count), key=lambda i: mix(key + GOLDEN * (i + 1)), reverse=True)


ORDERS = {
    # (seed, node number): the order of four outcomes; that of the first two or three is the same without the rest
    (0, 1): (1, 2, 0, 3),
    (1, 0): (2, 0, 1, 3),
    (1, 1): (1, 3, 0, 2),
    (2, 1): (2, 3, 0, 1),
    (3, 0): (1, 2, 0, 3),
    (3, 1): (0, 2, 1, 3),
    (3, 2): (3, 2, 0, 1),
    (3, 3): (2, 1, 0, 3),
    (4, 0): (1, 2, 3, 0),
    (5, 1): (3, 2, 1, 0),
}

DRAWS = {
    # (seed, place): the first draws, simulations from 0, to four places
    (0, 1): (0.7002, 0.7714, 0.3772, 0.2611, 0.2824, 0.6295, 0.6657, 0.1031, 0.0357, 0.8351, 0.4038),
    (0, 0): (0.1106, 0.2766, 0.8462, 0.6200),
    (0, ROW): (0.3488, 0.9139, 0.5455),
    (0, 1 + ROW): (0.7060, 0.4577, 0.6041, 0.6499),
    (0, 2): (0.4795, 0.7434),
    (0, 2 + ROW): (0.0370, 0.5710),
    (0, 1 + 2 * ROW): (0.2556, 0.1511, 0.1930),
    (0, 2 + 2 * ROW): (0.4732,),
    (1, 2 + ROW): (0.5265,),
    (1, 2 + 2 * ROW): (0.5959,),
    (1, 3 + 2 * ROW): (0.9144,),
    (2, 1): (0.2204, 0.5555, 0.7172, 0.5635, 0.7258, 0.2623),
    (2, 2): (0.6933, 0.5734, 0.9647, 0.2290),
    (2, 1 + ROW): (0.4175, 0.0802, 0.9491, 0.6238),
    (2, 2 + ROW): (0.5165, 0.5158, 0.1108, 0.9314),
    (3, 1): (0.4778, 0.7995, 0.2941, 0.9521, 0.0931, 0.8994, 0.3076, 0.3988, 0.5489),
    (3, 2): (0.0732, 0.6420, 0.8768, 0.9217, 0.6234, 0.8482, 0.5053, 0.7202, 0.0883),
    (3, 3): (0.6318, 0.3262, 0.5588, 0.0417, 0.8183, 0.4480),
    (3, 1 + ROW): (0.8811, 0.2862, 0.8201),
    (3, 2 + ROW): (0.0751, 0.1048, 0.2943, 0.9744, 0.1221),
    (3, 3 + ROW): (0.8764,),
    (3, 2 + 2 * ROW): (0.9484,),
    (3, 3 + 2 * ROW): (0.8010,),
    (4, 1): (0.6972, 0.0970, 0.4962, 0.7052, 0.1908, 0.5962, 0.0717),
    (5, 2 + ROW): (0.3694,),
    (5, 3 + ROW): (0.3781,),
    (5, 2 + 2 * ROW): (0.2619,),
}


@pytest.mark.parametrize(("seed", "node"), ORDERS)
def test_tie_orders_that_the_tests_rely_on(seed: int, node: int) -> None:
    order = ORDERS[seed, node]
    assert tie_order(seed, node, 4) == list(order)
    assert tie_order(seed, node, 2) == [i for i in order if i < 2]


@pytest.mark.parametrize(("seed", "place"), DRAWS)
def test_draws_that_the_tests_rely_on(seed: int, place: int) -> None:
    drawn = [draw(seed, i, place) for i in range(len(DRAWS[seed, place]))]
    assert drawn == pytest.approx(DRAWS[seed, place], abs=5.001e-5)


# Building trees, and reading results.


def after(event: Any) -> Any:
    """The root with one action, to this chance node."""
    return decision(0, {0: event}, "r")


def end(value: float) -> Any:
    return terminal(value, -value)


def line(name: str, value: float, player: int = 1) -> Any:
    """A decision with one action, to an end of this value."""
    return decision(player, {0: end(value)}, name)


def script(**values: float) -> dict[str, Any]:
    """Values of the evaluator for player 0, by name of node; that of r is 0."""
    return {"r": ZERO, **{name: (None, (value, -value)) for name, value in values.items()}}


def check_sampled(result: Any, simulations: int, total: float) -> None:
    """Check a root with one action, whose own value is 0: the values backed up sum to ``total``."""
    mean = total / (simulations + 1)
    check(result, [simulations], [total / simulations], (mean, -mean))


def check_expected(result: Any, simulations: int, value: float) -> None:
    """Check a root with one action, with backup=expectation: the value of C is ``value``, counted n times."""
    mean = simulations * value / (simulations + 1)
    check(result, [simulations], [value], (mean, -mean))
    check_node(node_at(result, 0), "chance", -1, simulations, (value, -value))


def visits_below(result: Any, *labels: int) -> dict[int, int]:
    """Visits by outcome, of those stored below a node."""
    root = result.tree(depth=len(labels) + 1).root
    for label in labels:
        (root,) = [child for child in root["children"] if child["label"] == label]
    return {child["label"]: child["visits"] for child in root["children"]}


# Stratified picks.


@pytest.mark.parametrize(
    ("simulations", "seed", "counts"),
    [
        (1, 0, (0, 1, 0)),
        (2, 0, (1, 1, 0)),
        (3, 0, (1, 1, 1)),
        (5, 0, (2, 2, 1)),
        (7, 0, (2, 3, 2)),
        (8, 0, (2, 4, 2)),
        (8, 2, (3, 3, 2)),
        (9, 0, (3, 4, 2)),
        (9, 2, (3, 4, 2)),
        (13, 2, (4, 6, 3)),
        (16, 0, (5, 7, 4)),
    ],
)
def test_stratified_picks_the_largest_deficit(search_tree: Any, simulations: int, seed: int, counts: Any) -> None:
    # Outcomes 4, 2, 9 of weight 5, 7, 4 (of 16), ends 1, .5, −1. p·(N + 1) − n in sixteenths:
    # N + 1   4              2              9              pick, counts
    #   1     5              7              4              2   0 1 0
    #   2     10             14 − 16 = −2   8              4   1 1 0
    #   3     15 − 16 = −1   21 − 16 = 5    12             9   1 1 1
    #   4     20 − 16 = 4    28 − 16 = 12   16 − 16 = 0    2   1 2 1
    #   5     25 − 16 = 9    35 − 32 = 3    20 − 16 = 4    4   2 2 1
    #   6     30 − 32 = −2   42 − 32 = 10   24 − 16 = 8    2   2 3 1
    #   7     35 − 32 = 3    49 − 48 = 1    28 − 16 = 12   9   2 3 2
    #   8     40 − 32 = 8    56 − 48 = 8    32 − 32 = 0    a tie. C is node 1: seed 0 puts place 1 (outcome 2) before
    #                                                      place 0 (outcome 4): 2 4 2; seed 2 the other way: 3 3 2
    #   9     after 2 4 2: 45 − 32 = 13, 63 − 64, 36 − 32; after 3 3 2: 45 − 48, 63 − 48 = 15, 4: both 3 4 2
    #  10     50 − 48 = 2    70 − 64 = 6    40 − 32 = 8    9   3 4 3
    #  11     55 − 48 = 7    77 − 64 = 13   44 − 48        2   3 5 3
    #  12     60 − 48 = 12   84 − 80 = 4    48 − 48        4   4 5 3
    #  13     65 − 64 = 1    91 − 80 = 11   52 − 48 = 4    2   4 6 3
    #  14     70 − 64 = 6    98 − 96 = 2    56 − 48 = 8    9   4 6 4
    #  15     75 − 64 = 11   105 − 96 = 9   60 − 64        4   5 6 4
    #  16     80 − 80 = 0    112 − 96 = 16  64 − 64        2   5 7 4: the weights
    root = after(chance([(4, 5, end(1)), (2, 7, end(0.5)), (9, 4, end(-1))], "C"))
    asked = Scripted({"r": ZERO})
    result = search_tree(root, asked, chance=STRATIFIED, num_simulations=simulations, seed=seed, **HALF)
    check_sampled(result, simulations, counts[0] + 0.5 * counts[1] - counts[2])
    expected = {outcome: n for outcome, n in zip((4, 2, 9), counts, strict=True) if n}
    assert visits_below(result, 0) == expected
    check_stats(result, evaluations=1, nodes=2 + len(expected), chance_visits=simulations)
    check_stats(result, chance_children=len(expected), transient=0, blocked=0, exact_expansions=0)


@pytest.mark.parametrize("simulations", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_stratified_ties_depend_on_the_seed(search_tree: Any, seed: int, simulations: int) -> None:
    # Four outcomes alike, listed as 40, 10, 30, 20: all four are picked before one is picked again, in the order of
    # the seed for node 1, by place in the list; then again in the same order.
    names = (40, 10, 30, 20)
    root = after(chance([(name, 1, end(name / 100)) for name in names], "C"))
    asked = Scripted({"r": ZERO})
    result = search_tree(root, asked, chance=STRATIFIED, num_simulations=simulations, seed=seed, **HALF)
    picked = [names[place] for place in (ORDERS[seed, 1] * 2)[:simulations]]
    assert visits_below(result, 0) == {name: picked.count(name) for name in picked}
    check_sampled(result, simulations, sum(picked) / 100)


@pytest.mark.parametrize("seed", [1, 4])
def test_stratified_at_a_chance_root(search_tree: Any, seed: int) -> None:
    # The root is node 0. Three simulations visit the first three of its order.
    root = chance([(outcome, 1, end(outcome / 10)) for outcome in range(4)], "c")
    result = search_tree(root, Scripted({}), chance=STRATIFIED, num_simulations=3, seed=seed, **HALF)
    picked = ORDERS[seed, 0][:3]
    assert [(o.outcome, o.visits) for o in result.outcomes] == [(i, int(i in picked)) for i in range(4)]
    assert result.value.tolist() == approx([sum(picked) / 30, -sum(picked) / 30])


@pytest.mark.parametrize(
    ("simulations", "seen", "total"),
    [(1, {(1, 0)}, 0.8), (2, {(1, 0), (0, 1)}, 0.6), (3, {(1, 0), (0, 1), (1, 1)}, 0.2)],
)
def test_each_chance_node_has_deficits_and_an_order(
    search_tree: Any, simulations: int, seen: Any, total: float
) -> None:
    # A chance root with two outcomes alike, 0 → C1 (0 → .4, 1 → −.2), 1 → C2 (0 → .8, 1 → −.4), alike too. Seed 3.
    # 1: node 0 prefers 1: C2 is made, node 1, which prefers 0: the end .8, node 2.
    # 2: 0, which has the largest deficit: C1 is made, node 3, which prefers 1 (node 2 would prefer 0): −.2.
    # 3: a tie again → 1: C2, where outcome 1 has the largest deficit: −.4.
    first = chance([(0, 1, end(0.4)), (1, 1, end(-0.2))], "C1")
    second = chance([(0, 1, end(0.8)), (1, 1, end(-0.4))], "C2")
    root = chance([(0, 1, first), (1, 1, second)], "c")
    result = search_tree(root, Scripted({}), chance=STRATIFIED, num_simulations=simulations, seed=3, **HALF)
    tree = result.tree(depth=2).root
    assert {(event["label"], last["label"]) for event in tree["children"] for last in event["children"]} == seen
    assert result.value.tolist() == approx([total / simulations, -total / simulations])


@pytest.mark.parametrize(("simulations", "counts", "total"), [(4, (3, 1), 1.6), (5, (3, 2), 1.1), (6, (4, 2), 2.1)])
def test_stratified_counts_visits_in_flight(search_tree: Any, simulations: int, counts: Any, total: float) -> None:
    # C: 0 (weight 11) → D .1 → G .3 → end 1;  1 (weight 5) → F .2 → end −.5. Two in flight. In sixteenths:
    # 1: 11, 5 → 0: D waits.  2: 22 − 16 = 6, 10 → 1: F waits (the waiting pick counts). D and F are evaluated.
    # 3: 33 − 16 = 17, 15 − 16 → 0: through D, G waits.
    # 4: 44 − 32 = 12, 20 − 16 = 4 → 0: G waits already: a collision, its pick is taken back. G is evaluated.
    # 4 again: the same, → 0: the end 1. (Had the pick stayed: 55 − 48 = 7, 25 − 16 = 9 → 1.)
    # 5: 55 − 48 = 7, 25 − 16 = 9 → 1: the end −.5.  6: 66 − 48 = 18, 30 − 32 → 0: 1.
    d = decision(1, {0: line("G", 1, player=0)}, "D")
    root = after(chance([(0, 11, d), (1, 5, line("F", -0.5))], "C"))
    asked = Scripted(script(D=0.1, G=0.3, F=0.2))
    result = search_tree(root, asked, chance=STRATIFIED, num_simulations=simulations, in_flight=2, **HALF)
    check_sampled(result, simulations, total)
    assert asked.asked == [["r"], ["D", "F"], ["G"]]
    assert visits_below(result, 0) == dict(enumerate(counts))
    check_stats(result, simulations=simulations, evaluations=4, collisions=1)


# Widening: which outcomes are stored. With c = 1, alpha = 1/2 there is room for ⌈√N⌉: 1 at N = 1, 2 at 2..4,
# 3 at 5..9, 4 from 10 on. With c = 1/2: 1 up to N = 4, then 2 up to 16.

ROOT = {"c": 1.0, "alpha": 0.5}
SLOW = {"c": 0.5, "alpha": 0.5}
FOUR = (1.0, 0.5, -0.5, -1.0)


def four_ends() -> Any:
    return after(chance([(i, 1, end(value)) for i, value in enumerate(FOUR)], "C"))


@pytest.mark.parametrize(
    ("simulations", "stored", "blocked", "total"),
    [
        (1, {2: 1}, 0, -0.5),
        (2, {2: 1, 3: 1}, 0, -1.5),
        (4, {2: 1, 3: 1}, 2, -0.5),
        (5, {2: 1, 3: 1, 1: 1}, 2, 0.0),
        (9, {2: 3, 3: 1, 1: 1}, 4, 1.0),
        (11, {2: 3, 3: 2, 1: 2}, 4, 0.5),
    ],
)
def test_widening(search_tree: Any, simulations: int, stored: Any, blocked: int, total: float) -> None:
    # Four outcomes alike, ends 1, .5, −.5, −1; room for ⌈√N⌉. Seed 0 draws 2 3 1 1 1 2 2 0 0 3 1.
    # N     1    2   3        4        5    6    7    8        9        10  11
    #       2    3   1        1        1    2    2    0        0        3   1
    # room  1    2   2        2        3                      3        3
    #       new  new transient transient new            transient transient
    # value −.5  −1  .5       .5       .5   −.5  −.5  1        1        −1  .5
    # A transient end costs no evaluation and makes no node: outcome 1 has one visit after 5 simulations.
    asked = Scripted({"r": ZERO})
    settings = {"widening": ROOT}
    result = search_tree(four_ends(), asked, chance=settings, num_simulations=simulations, seed=0, **HALF)
    check_sampled(result, simulations, total)
    check_node(node_at(result, 0), "chance", -1, simulations, (total / simulations, -total / simulations))
    assert visits_below(result, 0) == stored
    check_stats(result, evaluations=1, nodes=2 + len(stored), blocked=blocked, transient=blocked)
    check_stats(result, chance_nodes=1, chance_visits=simulations, chance_children=len(stored))
    check_stats(result, outcome_counts={len(stored): 1})


@pytest.mark.parametrize(
    ("most", "stored", "blocked"), [(1, {2: 1}, 4), (2, {2: 1, 3: 1}, 3), (3, {2: 1, 3: 1, 1: 3}, 0)]
)
def test_widening_stops_at_max_children(search_tree: Any, most: int, stored: Any, blocked: int) -> None:
    # The same with c = 2, alpha = .6: room for ⌈2·N^.6⌉ = 2, 4, 4, 5, 6, so only max_children is in the way.
    # Seed 0 draws 2 3 1 1 1: −.5 − 1 + 3·.5 = 0.
    settings = {"widening": {"c": 2.0, "alpha": 0.6, "max_children": most}}
    result = search_tree(four_ends(), Scripted({"r": ZERO}), chance=settings, num_simulations=5, seed=0, **HALF)
    check_sampled(result, 5, 0.0)
    assert visits_below(result, 0) == stored
    check_stats(result, blocked=blocked, transient=blocked, evaluations=1)


@pytest.mark.parametrize(
    ("simulations", "total", "d", "f"),
    [
        (2, -0.2, (1, 0.1), None),
        (4, 0.5, (2, 0.55), None),
        (6, 1.2, (3, 0.7), (1, -0.3)),
        (9, 2.2, (5, 0.82), (2, -0.65)),
    ],
)
def test_a_transient_state_is_evaluated_every_time(
    search_tree: Any, simulations: int, total: float, d: Any, f: Any
) -> None:
    # C (alike): 0 → D .1 → end 1;  1 → F −.3 → end −1. Room for ⌈√N/2⌉. Seed 3 draws 0 1 0 1 0 1 0 0 1.
    # 1: D stored, .1.  2: F transient, −.3.  3: through D, 1.  4: F transient, −.3.  5: 1.
    # 6: N = 6, room for 2: F stored and evaluated a third time, −.3.  7, 8: 1.  9: through F, −1.
    root = after(chance([(0, 1, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    result = search_tree(root, asked, chance={"widening": SLOW}, num_simulations=simulations, seed=3, **HALF)
    check_sampled(result, simulations, total)
    asks = {2: 1, 4: 2, 6: 3, 9: 3}[simulations]
    blocked = min(asks, 2)
    assert asked.asked == [["r"], ["D"], *([["F"]] * asks)]
    check_node(node_at(result, 0, 0), "decision", 1, d[0], (d[1], -d[1]))
    if f is None:
        assert list(visits_below(result, 0)) == [0]
    else:
        check_node(node_at(result, 0, 1), "decision", 1, f[0], (f[1], -f[1]))
    check_stats(result, evaluations=2 + asks, expansions=2 + (f is not None), blocked=blocked, transient=blocked)
    check_stats(result, nodes={2: 3, 4: 4, 6: 5, 9: 6}[simulations], chance_visits=simulations)


def test_chance_is_drawn_below_a_transient_outcome(search_tree: Any) -> None:
    # C1 (depth 1, alike; one stored child at most): 0 → D .1 → end −.5;  1 → C2 (place 2): 0 of weight 7 → end 1,
    # 1 of weight 3 → C3 (place 3): 0 of weight 1 → E .4, 1 of weight 4 → G −.8. Seed 3:
    # i         1       2       3       4       5       6
    # place 1   0 D     1       0       1       0       1
    # place 2           .6420 0         .9217 1         .8482 1
    # place 3                           .0417 0         .4480 1
    # value     .1      end 1   −.5     E .4    −.5     G −.8    sum −.3
    third = chance([(0, 1, line("E", 1)), (1, 4, line("G", 1))], "C3")
    second = chance([(0, 7, end(1)), (1, 3, third)], "C2")
    root = after(chance([(0, 1, line("D", -0.5)), (1, 1, second)], "C1"))
    asked = Scripted(script(D=0.1, E=0.4, G=-0.8))
    settings = {"widening": {"c": 1.0, "alpha": 0.5, "max_children": 1}}
    result = search_tree(root, asked, chance=settings, num_simulations=6, seed=3, **HALF)
    check_sampled(result, 6, -0.3)
    assert asked.asked == [["r"], ["D"], ["E"], ["G"]]
    assert visits_below(result, 0) == {0: 3}
    check_stats(result, evaluations=4, expansions=2, nodes=4, transient=3, blocked=3)
    check_stats(result, chance_nodes=1, chance_visits=6, chance_children=1, outcome_counts={1: 1})


def test_widening_with_estimated_afterstates(search_tree: Any) -> None:
    # C1 (alike; estimate .5; room for ⌈√N/2⌉): 0 → C2 (estimate .2);  1 → D .1 → end −.6. Seed 3 draws 0 1 0 1 0 1.
    # 1: stops at C1, .5.  2: N = 2 (the estimate is a visit): D stored, .1.  3: N = 3: C2 transient: it is evaluated
    # itself, nothing is drawn below: .2.  4: through D, −.6.  5: N = 5, room for 2: C2 stored, evaluated again, .2.
    # 6: −.6.  Sum −.2.
    second = chance([(0, 1, end(1))], "C2")
    root = after(chance([(0, 1, second), (1, 1, line("D", -0.6))], "C1"))
    asked = Scripted(script(C1=0.5, C2=0.2, D=0.1), afterstates=ESTIMATE)
    result = search_tree(root, asked, chance={"widening": SLOW}, num_simulations=6, seed=3, **HALF)
    check_sampled(result, 6, -0.2)
    assert asked.asked == [["r"], ["C1"], ["D"], ["C2"], ["C2"]]
    assert visits_below(result, 0) == {0: 1, 1: 3}
    check_stats(result, evaluations=5, expansions=2, nodes=5, transient=1, blocked=1, chance_nodes=2)


def test_widening_with_stratified_picks(search_tree: Any) -> None:
    # Four ends alike, one stored child at most. Seed 0: node 1 prefers 1 2 0 3: outcome 1 is stored; 2, 0, 3 are
    # transient, and count as picked; then 1 again: .5 − .5 + 1 − 1 + .5 = .5.
    settings = {**STRATIFIED, "widening": {"c": 1.0, "alpha": 0.5, "max_children": 1}}
    result = search_tree(four_ends(), Scripted({"r": ZERO}), chance=settings, num_simulations=5, seed=0, **HALF)
    check_sampled(result, 5, 0.5)
    assert visits_below(result, 0) == {1: 2}
    check_stats(result, blocked=3, transient=3, evaluations=1, nodes=3)


def test_widening_counts_visits_in_flight(search_tree: Any) -> None:
    # C (alike): 0 → D .1, 1 → F −.3; room for ⌈√N⌉; two in flight. Seed 3 draws 0 1. D waits; the second visit is
    # N = 2 with the one in flight, so F is stored as well.
    root = after(chance([(0, 1, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    result = search_tree(root, asked, chance={"widening": ROOT}, num_simulations=2, seed=3, in_flight=2, **HALF)
    check_sampled(result, 2, -0.2)
    assert asked.asked == [["r"], ["D", "F"]]
    assert visits_below(result, 0) == {0: 1, 1: 1}
    check_stats(result, blocked=0, transient=0, nodes=4)


def test_transient_states_in_flight(search_tree: Any) -> None:
    # The same tree; one stored child at most; three in flight. Seed 2 draws 0 1 1 1 1 0.
    # D waits, F waits twice: asked together. F waits twice more; then through D to the end 1; F, F are evaluated.
    # .1 − 4·.3 + 1 = −.1.
    # CHOICE: a transient state is no node, so nothing is pending there, and two visits may wait for the same.
    root = after(chance([(0, 1, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    settings = {"widening": {"c": 1.0, "alpha": 0.5, "max_children": 1}}
    result = search_tree(root, asked, chance=settings, num_simulations=6, seed=2, in_flight=3, **HALF)
    check_sampled(result, 6, -0.1)
    assert asked.asked == [["r"], ["D", "F", "F"], ["F", "F"]]
    check_stats(result, evaluations=6, collisions=0, blocked=4, transient=4, nodes=4)


# Several samples per visit. A further draw is kept only if the visit would have ended right below the chance node too,
# had it drawn this outcome first; the others are dropped, and cost nothing. The visit has the mean of the kept leaves.
# CHOICE: the leaf and the additional samples are evaluated in one batch, in the order drawn. stats.transient counts
# every state evaluated without becoming a node, so the samples too; blocked counts only visits that widening blocked.


def test_three_samples_per_visit(search_tree: Any) -> None:
    # C: four outcomes alike → D0 .1, D1 .2, D2 .4, D3 −.6, each with one action, to −.2. Seed 0:
    # i   place 1   1 + 2^32   1 + 2·2^32   values          mean
    # 1   .7002 2   .7060 2    .2556 1      .4  .4  .2      1/3
    # 2   .7714 3   .4577 1    .1511 0      −.6 .2  .1      −.1
    # 3   .3772 1   .6041 2    .1930 0      .2  -   .1      .15
    # 4   .2611 1   through D1 to its end: a decision lies between, so nothing more is drawn: −.2
    # In 1 the second D2 is kept: D2 was just stored, and is not evaluated yet. In 3 D2 is evaluated, and a visit that
    # draws it goes on below it, so it is dropped. D1 and D0 were only drawn in addition, so they are not stored.
    # Sum 1/3 − .1 + .15 − .2 = .55/3. Leaves keep their own: D2 .4, D3 −.6, D1 (.2 − .2)/2.
    root = after(chance([(i, 1, line(f"D{i}", -0.2)) for i in range(4)], "C"))
    asked = Scripted(script(D0=0.1, D1=0.2, D2=0.4, D3=-0.6))
    result = search_tree(root, asked, chance={"samples_per_visit": 3}, num_simulations=4, seed=0, **HALF)
    check_sampled(result, 4, 0.55 / 3)
    assert asked.asked == [["r"], ["D2", "D2", "D1"], ["D3", "D1", "D0"], ["D1", "D0"]]
    check_node(node_at(result, 0), "chance", -1, 4, (0.55 / 12, -0.55 / 12))
    assert visits_below(result, 0) == {1: 2, 2: 1, 3: 1}
    check_node(node_at(result, 0, 1), "decision", 1, 2, (0.0, 0.0))
    check_node(node_at(result, 0, 2), "decision", 1, 1, (0.4, -0.4))
    check_node(node_at(result, 0, 3), "decision", 1, 1, (-0.6, 0.6))
    check_stats(result, simulations=4, evaluations=9, expansions=4, nodes=6, transient=5, blocked=0)
    check_stats(result, chance_visits=4, chance_children=3)


@pytest.mark.parametrize(
    ("most", "done", "total", "evaluations"), [(6, 1, 1 / 3, 4), (8, 2, 0.7 / 3, 7), (9, 3, 1.15 / 3, 9)]
)
def test_samples_are_not_cut_by_the_budget(
    search_tree: Any, most: int, done: int, total: float, evaluations: int
) -> None:
    # The same tree and seed. The root is 1 evaluation; the first two visits are 3 each, the third 2, as dropped draws
    # cost nothing: 4, 7, 9 in all. A visit that needs more than is left is not made: 1/3; 1/3 − .1; 1/3 − .1 + .15.
    root = after(chance([(i, 1, line(f"D{i}", -0.2)) for i in range(4)], "C"))
    asked = Scripted(script(D0=0.1, D1=0.2, D2=0.4, D3=-0.6))
    settings = {"samples_per_visit": 3}
    result = search_tree(root, asked, chance=settings, num_simulations=4, seed=0, max_evaluations=most, **HALF)
    check_sampled(result, done, total)
    assert result.stopped == "evaluations"
    check_stats(result, simulations=done, evaluations=evaluations)


def test_samples_are_not_drawn_above_a_decision(search_tree: Any) -> None:
    # r → C → D .1 → G .2 → H .3 → end, all forced; four samples per visit. 1: D four times.  2: G once.  3: H once.
    line_below = decision(0, {0: line("H", 1)}, "G")
    root = after(chance([(0, 1, decision(1, {0: line_below}, "D"))], "C"))
    asked = Scripted(script(D=0.1, G=0.2, H=0.3))
    result = search_tree(root, asked, chance={"samples_per_visit": 4}, num_simulations=3, **HALF)
    check_sampled(result, 3, 0.6)
    assert asked.asked == [["r"], ["D", "D", "D", "D"], ["G"], ["H"]]
    check_stats(result, evaluations=7, transient=3, nodes=5)


def test_samples_of_terminal_states_need_no_evaluation(search_tree: Any) -> None:
    # Four ends alike, two samples per visit. Seed 0: 2 and 2, 3 and 1, 1 and 2, 1 and 2: −.5, −.25, 0, 0.
    # CHOICE: an end met again is again a leaf below C, so a sample is drawn in addition each time.
    asked = Scripted({"r": ZERO})
    result = search_tree(four_ends(), asked, chance={"samples_per_visit": 2}, num_simulations=4, seed=0, **HALF)
    check_sampled(result, 4, -0.75)
    assert visits_below(result, 0) == {2: 1, 3: 1, 1: 2}
    check_node(node_at(result, 0, 3), "terminal", -4, 1, (-1.0, 1.0))
    check_stats(result, evaluations=1, transient=4, nodes=5)


def test_samples_are_drawn_at_the_last_chance_node(search_tree: Any) -> None:
    # C1 (alike): 0 → D .1, 1 → C2 (alike): 0 → E .5, 1 → G −.4. Two samples per visit. Seed 3:
    # 1: place 1: 0: D.  In addition, at C1, place 1 + 2^32: .8811 1: C2. The evaluator does not value chance nodes,
    #    so a visit that draws C2 does not end there: dropped. .1.
    # 2: place 1: 1; C2, place 2: .6420 1: G.  In addition, at C2 only, place 2 + 2^32: .1048 0: E. Mean .05.
    second = chance([(0, 1, line("E", 1)), (1, 1, line("G", 1))], "C2")
    root = after(chance([(0, 1, line("D", 1)), (1, 1, second)], "C1"))
    asked = Scripted(script(D=0.1, E=0.5, G=-0.4))
    result = search_tree(root, asked, chance={"samples_per_visit": 2}, num_simulations=2, seed=3, **HALF)
    check_sampled(result, 2, 0.15)
    assert asked.asked == [["r"], ["D"], ["G", "E"]]
    check_node(node_at(result, 0, 1), "chance", -1, 1, (0.05, -0.05))
    assert visits_below(result, 0, 1) == {1: 1}
    check_node(node_at(result, 0, 1, 1), "decision", 1, 1, (-0.4, 0.4))
    check_node(node_at(result, 0, 0), "decision", 1, 1, (0.1, -0.1))
    check_stats(result, evaluations=4, transient=1, nodes=5)


def test_samples_with_estimated_afterstates(search_tree: Any) -> None:
    # C1 (alike; estimate .5): 0 → C2 (alike; estimate .2): ends 1, −.2;  1 → D .1 → end −.6. Two samples. Seed 3:
    # 1: stops at C1, which lies below a decision, so nothing is drawn in addition: .5.
    # 2: 1: D; in addition .2862 0: C2, where a visit stops to ask for the estimate: kept. Mean .15.
    # 3: 0: C2, stored now; in addition .8201 1: D, evaluated: dropped. .2.  4: 1: through D: −.6.
    # 5: 0: through C2, which is evaluated, at place 2: .6234 1: end −.2. C2 is the last chance node: beside the end, at
    #    place 2 + 2^32: .1221 0: end 1. Mean .4.
    # Sum .5 + .15 + .2 − .6 + .4 = .65. C2 (.2 + .4)/2.
    second = chance([(0, 1, end(1)), (1, 1, end(-0.2))], "C2")
    root = after(chance([(0, 1, second), (1, 1, line("D", -0.6))], "C1"))
    asked = Scripted(script(C1=0.5, C2=0.2, D=0.1), afterstates=ESTIMATE)
    result = search_tree(root, asked, chance={"samples_per_visit": 2}, num_simulations=5, seed=3, **HALF)
    check_sampled(result, 5, 0.65)
    assert asked.asked == [["r"], ["C1"], ["D", "C2"], ["C2"]]
    check_node(node_at(result, 0, 0), "chance", -1, 2, (0.3, -0.3))
    check_node(node_at(result, 0, 1), "decision", 1, 2, (-0.25, 0.25))
    check_stats(result, evaluations=5, transient=2, nodes=6)


def test_samples_with_exact_afterstates(search_tree: Any) -> None:
    # A chance root (alike; own value .7): 0 → C2 (exact, .2), 1 → D .1 → end −.6. Two samples per visit, at places 0
    # and 2^32. Seed 0. Every visit that draws C2 ends there, evaluated or not, so C2 is always kept.
    # 1: .1106 0: C2; in addition .3488 0: C2. .2.  2: .2766 0: C2, whose value is known; in addition .9139 1: D, not
    # stored: kept. Mean .15.  3: .8462 1: D; in addition .5455 1: D, stored but not evaluated yet: kept. .1.
    # 4: .6200 1: through D: −.6.  Value (.7 + .2 + .15 + .1 − .6)/5 = .11.
    root = chance([(0, 1, chance([(0, 1, end(1))], "C2")), (1, 1, line("D", -0.6))], "c")
    asked = Scripted({**script(C2=0.2, D=0.1), "c": (None, (0.7, -0.7))}, afterstates=EXACT)
    result = search_tree(root, asked, chance={"samples_per_visit": 2}, num_simulations=4, seed=0, **HALF)
    assert result.value.tolist() == approx([0.11, -0.11])
    assert [o.visits for o in result.outcomes] == [2, 2]
    assert asked.asked == [["c"], ["C2", "C2"], ["D"], ["D", "D"]]
    check_stats(result, evaluations=6, transient=3)


def test_samples_with_a_transient_leaf(search_tree: Any) -> None:
    # C (alike): 0 → D .1 → 1, 1 → F −.3; one stored child at most; two samples per visit. Seed 3:
    # 1: 0: D stored; in addition .8811 1: F. Mean −.1.
    # 2: 1: F, blocked; in addition .2862 0: D, stored and evaluated: dropped. −.3.  3: 0: through D, 1.
    root = after(chance([(0, 1, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    settings = {"samples_per_visit": 2, "widening": {"c": 1.0, "alpha": 0.5, "max_children": 1}}
    result = search_tree(root, asked, chance=settings, num_simulations=3, seed=3, **HALF)
    check_sampled(result, 3, 0.6)
    assert asked.asked == [["r"], ["D", "F"], ["F"]]
    check_node(node_at(result, 0, 0), "decision", 1, 2, (0.55, -0.55))
    check_stats(result, evaluations=4, blocked=1, transient=2, nodes=4)


def test_samples_with_a_transient_chance_node(search_tree: Any) -> None:
    # C1 (weights 1, 3): 0 → D .1, 1 → C2 (alike): 0 → E .5, 1 → G −.4. One stored child at most; two samples. Seed 2:
    # 1: .2204 0: D stored; in addition .4175 1: C2. There was room to store C2, and the visit would have gone on:
    #    dropped. .1.
    # 2: .5555 1: C2, blocked, so the leaf is drawn on at place 2: .5734 1: G. In addition .0802 0: D: dropped.
    #    −.4.
    # 3: .7172 1: C2, blocked: .9647 1: G. In addition .9491 1: C2, which would be blocked as well: kept, drawn on at
    #    place 2 + 2^32: .1108 0: E. Mean .05.
    # 4: .5635 1: C2, blocked: .2290 0: E. In addition .6238 1: C2: .9314 1: G. Mean .05.
    # Sum .1 − .4 + .05 + .05 = −.2.
    second = chance([(0, 1, line("E", 1)), (1, 1, line("G", 1))], "C2")
    root = after(chance([(0, 1, line("D", 1)), (1, 3, second)], "C1"))
    asked = Scripted(script(D=0.1, E=0.5, G=-0.4))
    settings = {"samples_per_visit": 2, "widening": {"c": 1.0, "alpha": 0.5, "max_children": 1}}
    result = search_tree(root, asked, chance=settings, num_simulations=4, seed=2, **HALF)
    check_sampled(result, 4, -0.2)
    assert asked.asked == [["r"], ["D"], ["G"], ["G", "E"], ["E", "G"]]
    assert visits_below(result, 0) == {0: 1}
    check_stats(result, evaluations=7, blocked=3, transient=5, nodes=3, chance_nodes=1, chance_visits=4)


def test_samples_with_a_stored_chance_node(search_tree: Any) -> None:
    # The same, with C1 alike. Seed 0:
    # 1: .7002 1: C2 stored; place 2: .4795 0: E stored; in addition, at C2, place 2 + 2^32: .0370 0: E, not evaluated
    #    yet: kept. .5.
    # 2: .7714 1: C2; .7434 1: G, blocked; in addition .5710 1: G, blocked as well: kept. −.4.
    # 3: .3772 0: D, blocked; in addition, at C1, .6041 1: C2, stored: a visit that draws it goes on: dropped. .1.
    # 4: .2611 0: D, blocked; in addition .6499 1: C2: dropped. .1.
    # Sum .5 − .4 + .1 + .1 = .3. C2 (.5 − .4)/2.
    second = chance([(0, 1, line("E", 1)), (1, 1, line("G", 1))], "C2")
    root = after(chance([(0, 1, line("D", 1)), (1, 1, second)], "C1"))
    asked = Scripted(script(D=0.1, E=0.5, G=-0.4))
    settings = {"samples_per_visit": 2, "widening": {"c": 1.0, "alpha": 0.5, "max_children": 1}}
    result = search_tree(root, asked, chance=settings, num_simulations=4, seed=0, **HALF)
    check_sampled(result, 4, 0.3)
    assert asked.asked == [["r"], ["E", "E"], ["G", "G"], ["D"], ["D"]]
    assert visits_below(result, 0) == {1: 2}
    check_node(node_at(result, 0, 1), "chance", -1, 2, (0.05, -0.05))
    assert visits_below(result, 0, 1) == {0: 1}
    check_stats(result, evaluations=7, blocked=3, transient=5, nodes=4, chance_nodes=2, chance_visits=6)


def test_samples_in_flight(search_tree: Any) -> None:
    # C (alike): 0 → D .1, 1 → F −.3; two samples per visit. Two in flight: the second descent comes while D and F wait.
    # 1: 0: D; in addition .8811 1: F, not stored. Mean −.1.  2: 1: F, which is not stored, so nothing waits there: no
    # collision. In addition .2862 0: D, in flight: a visit that draws it collides, so it is dropped. −.3.
    root = after(chance([(0, 1, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    settings = {"samples_per_visit": 2}
    result = search_tree(root, asked, chance=settings, num_simulations=2, seed=3, in_flight=2, **HALF)
    check_sampled(result, 2, -0.4)
    assert asked.asked == [["r"], ["D", "F", "F"]]
    check_stats(result, evaluations=4, collisions=0, transient=1, nodes=4)


def test_repeated_descent_draws_no_further_samples(search_tree: Any) -> None:
    # The same tree; D and F lie too deep to be expanded, so every visit ends there. Two in flight. Seed 0:
    # 1: .7002 1: F waits; in addition .7060 1: F, not in flight yet: kept. −.3.
    # 2: .7714 1: F is in flight: a collision. F, F are evaluated.
    # 2 again: 1: F waits. The descent collided before, so nothing is drawn in addition (.4577 0 would be D). −.3.
    # 3: .3772 0: D waits; in addition .6041 1: F, in flight: dropped. .1. F and D are evaluated.
    # 4: .2611 0: D; in addition .6499 1: F, where a visit ends though it is evaluated: kept. Mean −.1.
    # Sum −.3 − .3 + .1 − .1 = −.6.
    root = after(chance([(0, 1, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    settings = {"samples_per_visit": 2}
    result = search_tree(root, asked, chance=settings, num_simulations=4, seed=0, in_flight=2, max_depth=1, **HALF)
    check_sampled(result, 4, -0.6)
    assert asked.asked == [["r"], ["F", "F"], ["F", "D"], ["D", "F"]]
    assert visits_below(result, 0) == {0: 2, 1: 2}
    check_stats(result, evaluations=7, collisions=1, transient=2, nodes=4, expansions=1)


def test_samples_at_a_chance_root(search_tree: Any) -> None:
    # Four ends alike, 1, .5, −.5, −1; place 0, and 2^32 in addition.
    # Seed 0: 0 and 1: .75;  1 and 3: −.25;  3 and 2: −.75.
    root = chance([(i, 1, end(value)) for i, value in enumerate(FOUR)], "c")
    result = search_tree(root, Scripted({}), chance={"samples_per_visit": 2}, num_simulations=3, seed=0, **HALF)
    assert result.value.tolist() == approx([-0.25 / 3, 0.25 / 3])
    assert [o.visits for o in result.outcomes] == [1, 1, 0, 1]
    assert [o.value[0] for o in result.outcomes if o.visits] == approx([1.0, 0.5, -1.0])


def test_samples_at_max_depth(search_tree: Any) -> None:
    # D .1 below C lies too deep to be expanded: each visit ends there, with a sample in addition.
    root = after(chance([(0, 1, line("D", 1))], "C"))
    asked = Scripted(script(D=0.1))
    result = search_tree(root, asked, chance={"samples_per_visit": 2}, num_simulations=2, max_depth=1, **HALF)
    check_sampled(result, 2, 0.2)
    assert asked.asked == [["r"], ["D", "D"], ["D", "D"]]
    check_stats(result, evaluations=5, expansions=1)


def test_samples_in_open_loop(search_tree: Any) -> None:
    # C (alike): 0 → D .1 → end .6, 1 → F −.3 → end −.8, both player 1's: one node M. Two samples per visit. Seed 3:
    # 1: 0: M, evaluated as D; in addition .8811 1: F. Mean −.1.  2: 1: through M, as F, to −.8.
    # CHOICE: open loop can be combined with samples_per_visit.
    root = after(chance([(0, 1, line("D", 0.6)), (1, 1, line("F", -0.8))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    settings = {"loop": "open", "samples_per_visit": 2}
    result = search_tree(root, asked, chance=settings, num_simulations=2, seed=3, **HALF)
    check_sampled(result, 2, -0.9)
    assert asked.asked == [["r"], ["D", "F"]]
    (shared,) = result.tree(depth=2).root["children"][0]["children"]
    check_node(shared, "decision", 1, 2, (-0.35, 0.35))
    check_stats(result, evaluations=3, transient=1)


def test_samples_of_another_mover_in_open_loop(search_tree: Any) -> None:
    # The same, but F is player 0's, so D and F are two nodes below C. Seed 3:
    # 1: 0: D; in addition .8811 1: F, no such node yet: kept. Mean −.1.
    # 2: 1: F is stored; in addition .2862 0: D, evaluated: dropped. −.3.  3: 0: through D: .6.
    root = after(chance([(0, 1, line("D", 0.6)), (1, 1, line("F", -0.8, player=0))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    settings = {"loop": "open", "samples_per_visit": 2}
    result = search_tree(root, asked, chance=settings, num_simulations=3, seed=3, **HALF)
    check_sampled(result, 3, 0.2)
    assert asked.asked == [["r"], ["D", "F"], ["F"]]
    check_stats(result, evaluations=4, transient=1)


# Exact expansion of chance nodes with few outcomes.
# CHOICE: the children of one expansion are evaluated in one batch, in the order listed.


@pytest.mark.parametrize("most", [2, 3, 300])
def test_exact_expansion(search_tree: Any, most: int) -> None:
    # Outcomes 4, 2, 9 of weight 5, 3, 2 → D .1, F −.3, end −1. One simulation.
    # At most 3 (or 300) outcomes: all are expanded: .5·.1 − .3·.3 − .2 = −.24, one visit for C and r.
    # At most 2: C is sampled as ever: seed 3 draws .4778: D.
    root = after(chance([(4, 5, line("D", 1)), (2, 3, line("F", 1)), (9, 2, end(-1))], "C"))
    asked = Scripted(script(D=0.1, F=-0.3))
    result = search_tree(root, asked, chance={"exact_up_to": most}, num_simulations=1, seed=3, **HALF)
    if most == 2:
        check_sampled(result, 1, 0.1)
        assert asked.asked == [["r"], ["D"]]
        assert visits_below(result, 0) == {4: 1}
        check_stats(result, evaluations=2, nodes=3, exact_expansions=0)
        return
    check_sampled(result, 1, -0.24)
    assert asked.asked == [["r"], ["D", "F"]]
    check_node(node_at(result, 0), "chance", -1, 1, (-0.24, 0.24))
    assert visits_below(result, 0) == {4: 1, 2: 1, 9: 1}
    check_node(node_at(result, 0, 4), "decision", 1, 1, (0.1, -0.1))
    check_node(node_at(result, 0, 2), "decision", 1, 1, (-0.3, 0.3))
    check_node(node_at(result, 0, 9), "terminal", -4, 1, (-1.0, 1.0))
    check_stats(result, simulations=1, evaluations=3, expansions=3, nodes=5, depth=2, exact_expansions=1)
    check_stats(result, chance_nodes=1, chance_visits=1, chance_children=3, outcome_counts={3: 1})
    check_stats(result, transient=0, blocked=0)


@pytest.mark.parametrize(
    ("simulations", "seed", "counts", "value"),
    [
        (1, 0, (1, 1), 0.15),
        (2, 0, (2, 1), 0.375),
        (4, 2, (4, 1), 0.4875),
        (5, 0, (4, 2), 0.4375),
        (5, 2, (5, 1), 0.51),
    ],
)
def test_exactly_expanded_nodes_pick_by_deficit(
    search_tree: Any, simulations: int, seed: int, counts: Any, value: float
) -> None:
    # Outcomes 0, 1 of weight 3, 1 → D .4 → end 1, F −.6 → end −1. 1: .3 − .15 = .15; each is picked once. Then:
    # N + 1   0                1
    #   3     2.25 − 1 = 1.25  .75 − 1     → 0: 1
    #   4     3 − 2 = 1        1 − 1       → 0: 1
    #   5     3.75 − 3 = .75   1.25 − 1    → 0: 1
    #   6     4.5 − 4 = .5     1.5 − 1 = .5, a tie: node 1 of seed 0 prefers 1: −1; of seed 2 prefers 0: 1.
    # D is .4, (.4 + 1)/2 = .7, .8, .85, or .88 after five; F −.6 or (−.6 − 1)/2 = −.8; ¾·D + ¼·F:
    # .15;  .525 − .15 = .375;  .45;  .6375 − .15 = .4875;  .6375 − .2 = .4375, or .66 − .15 = .51.
    root = after(chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.4, F=-0.6))
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=simulations, seed=seed, **HALF)
    check_expected(result, simulations, value)
    assert visits_below(result, 0) == dict(enumerate(counts))
    assert asked.asked == [["r"], ["D", "F"]]
    d = (0.4 + counts[0] - 1) / counts[0]
    check_node(node_at(result, 0, 0), "decision", 1, counts[0], (d, -d))
    check_stats(result, simulations=simulations, evaluations=3, exact_expansions=1, chance_visits=simulations)


@pytest.mark.parametrize(("simulations", "value"), [(1, 0.5), (2, 0.15), (3, 0.375)])
def test_exact_expansion_after_an_estimate(search_tree: Any, simulations: int, value: float) -> None:
    # The same tree, with estimate .5 at C: the first visit stops there, the second expands C, the third picks 0: 1.
    # Once all outcomes are evaluated the estimate has no weight: .15, then .75·.7 − .15 = .375.
    root = after(chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(C=0.5, D=0.4, F=-0.6), afterstates=ESTIMATE)
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=simulations, **HALF)
    check_expected(result, simulations, value)
    assert asked.asked == [["r"], ["C"], ["D", "F"]][: simulations + 1]
    check_stats(result, evaluations=2 if simulations == 1 else 4, exact_expansions=int(simulations > 1))


def test_exact_afterstates_are_not_expanded(search_tree: Any) -> None:
    # The evaluator's .4 at C is the truth already.
    root = after(chance([(0, 3, end(1)), (1, 1, end(-1))], "C"))
    asked = Scripted(script(C=0.4), afterstates=EXACT)
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=3, **HALF)
    check_sampled(result, 3, 1.2)
    check_stats(result, evaluations=2, nodes=2, exact_expansions=0, chance_children=0)


@pytest.mark.parametrize("afterstates", [NONE, ESTIMATE, EXACT])
@pytest.mark.parametrize("simulations", [1, 2])
def test_exact_expansion_of_a_chance_root(search_tree: Any, simulations: int, afterstates: Any) -> None:
    # Outcomes 10, 20 of weight 3, 1 → D .4 → 1, end −1. 1: .3 − .25 = .05.  2: outcome 10 has the larger deficit:
    # through D, which is then (.4 + 1)/2 = .7: .525 − .25 = .275.
    # With an evaluation of its own, .7, the root has a visit more; the first simulation expands it all the same, and as
    # all outcomes are evaluated then, .7 has no weight.
    root = chance([(10, 3, line("D", 1)), (20, 1, end(-1))], "c")
    asked = Scripted({"c": (None, (0.7, -0.7)), "D": (None, (0.4, -0.4))}, afterstates=afterstates)
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=simulations, **HALF)
    own = afterstates != NONE
    value = (0.05, 0.275)[simulations - 1]
    assert result.value.tolist() == approx([value, -value])
    check_node(result.tree(depth=1).root, "chance", -1, simulations + own, (value, -value))
    assert [(o.outcome, o.visits) for o in result.outcomes] == [(10, simulations), (20, 1)]
    d = (0.4, 0.7)[simulations - 1]
    assert result.outcomes[0].value.tolist() == approx([d, -d])
    assert result.outcomes[1].value.tolist() == approx([-1.0, 1.0])
    assert asked.asked == ([["c"]] if own else []) + [["D"]]
    check_stats(result, simulations=simulations, evaluations=1 + own, exact_expansions=1)


@pytest.mark.parametrize(
    ("seed", "simulations", "value", "below"),
    [(0, 1, 0.45, (1, 0.8)), (0, 2, 0.15, (2, 0.2)), (1, 1, -0.15, (1, -0.4)), (1, 2, 0.15, (2, 0.2))],
)
def test_a_chance_node_below_an_exact_expansion(
    search_tree: Any, seed: int, simulations: int, value: float, below: Any
) -> None:
    # C1 (alike): 0 → D .1, 1 → C2 (alike): 0 → end .8, 1 → G −.4. At most two outcomes: both are expanded.
    # 1: C2, at place 1 of the list, is valued by drawing on at place 1 + 1 + 2·2^32 of the stream:
    #    seed 0: .4732 0: end .8: (.1 + .8)/2 = .45, D evaluated.  seed 1: .5959 1: G: (.1 − .4)/2 = −.15, D, G too.
    # 2: N + 1 = 3: a tie: node 1 prefers outcome 1 for both seeds: C2 is met by a descent for the first time, and
    #    expanded in its turn, G evaluated: C2 is (.8 − .4)/2 = .2, whatever was drawn below before, and C1 (.1 + .2)/2.
    # CHOICE: a chance child that was only drawn through is still to be expanded exactly.
    second = chance([(0, 1, end(0.8)), (1, 1, line("G", 1))], "C2")
    root = after(chance([(0, 1, line("D", 1)), (1, 1, second)], "C1"))
    asked = Scripted(script(D=0.1, G=-0.4))
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=simulations, seed=seed, **HALF)
    check_expected(result, simulations, value)
    check_node(node_at(result, 0, 1), "chance", -1, below[0], (below[1], -below[1]))
    batches = [["r"], ["D"] if seed == 0 else ["D", "G"], ["G"]]
    assert asked.asked == batches[: simulations + 1]
    check_stats(result, evaluations=sum(map(len, asked.asked)), exact_expansions=simulations)
    check_stats(result, nodes=4 if simulations == 1 else 6, chance_nodes=2)
    assert visits_below(result, 0, 1) == ({} if simulations == 1 else {0: 1, 1: 1})


@pytest.mark.parametrize(("seed", "value", "asks"), [(1, 0.65, ["G"]), (3, -0.4, ["G", "G"]), (5, -0.05, ["E"])])
def test_chains_below_an_exact_expansion(search_tree: Any, seed: int, value: float, asks: Any) -> None:
    # C1 (weights 3, 1): 0 → A (alike): 0 → B, 1 → end 1;  1 → X (alike): 0 → end −.8, 1 → B.
    # B (alike): 0 → E .2, 1 → G −.4. A is drawn through at places 2 + 2^32 and 3 + 2^32, X at 2 + 2·2^32, 3 + 2·2^32.
    # seed 1: A .5265 1: 1.             X .5959 1, .9144 1: G −.4.   ¾ − .1 = .65
    # seed 3: A .0751 0, .8764 1: G −.4.  X .9484 1, .8010 1: G −.4.   −.4
    # seed 5: A .3694 0, .3781 0: E .2.   X .2619 0: −.8.              .15 − .2 = −.05
    b = chance([(0, 1, line("E", 1)), (1, 1, line("G", 1))], "B")
    a = chance([(0, 1, b), (1, 1, end(1))], "A")
    x = chance([(0, 1, end(-0.8)), (1, 1, b)], "X")
    asked = Scripted(script(E=0.2, G=-0.4))
    root = after(chance([(0, 3, a), (1, 1, x)], "C1"))
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=1, seed=seed, **HALF)
    check_sampled(result, 1, value)
    assert asked.asked == [["r"], asks]
    assert visits_below(result, 0) == {0: 1, 1: 1}
    check_stats(result, evaluations=1 + len(asks), nodes=4, chance_nodes=3, exact_expansions=1)


@pytest.mark.parametrize("seed", range(6))
def test_chance_is_drawn_below_a_single_expanded_outcome(search_tree: Any, seed: int) -> None:
    # C1 has one outcome, so all of its outcomes are expanded and make one leaf. It leads to C2, which is drawn on.
    second = chance([(0, 1, line("D", -0.5)), (1, 1, line("E", 0.5))], "C2")
    root = after(chance([(0, 1, second)], "C1"))
    asked = Scripted(script(D=0.1, E=0.4))
    result = search_tree(root, asked, chance={"exact_up_to": 1}, num_simulations=1, seed=seed, **HALF)
    assert asked.asked in ([["r"], ["D"]], [["r"], ["E"]])
    assert result.q[0] == pytest.approx({"D": 0.1, "E": 0.4}[asked.asked[1][0]])


def test_an_estimated_chance_node_below_an_exact_expansion(search_tree: Any) -> None:
    # C1 (alike; estimate .5): 0 → D .1, 1 → C2 (alike; estimate .2): ends .8, −.2. Seed 0.
    # 1: stops at C1.  2: D and C2 are evaluated: .15.  3: a tie, node 1 prefers 1: C2 is expanded now: .3.
    # C2 = .3, C1 = (.1 + .3)/2.
    second = chance([(0, 1, end(0.8)), (1, 1, end(-0.2))], "C2")
    root = after(chance([(0, 1, line("D", 1)), (1, 1, second)], "C1"))
    asked = Scripted(script(C1=0.5, C2=0.2, D=0.1), afterstates=ESTIMATE)
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=3, seed=0, **HALF)
    check_expected(result, 3, 0.2)
    check_node(node_at(result, 0, 1), "chance", -1, 2, (0.3, -0.3))
    assert asked.asked == [["r"], ["C1"], ["D", "C2"]]
    check_stats(result, evaluations=4, exact_expansions=2, nodes=6)


def test_exact_expansion_below_a_sampled_chance_node(search_tree: Any) -> None:
    # C1 has three outcomes alike, more than the limit: 0 → end 1, 1 → end −1, 2 → C2 (weights 3, 1: D .4 → 1, F −.6).
    # Seed 0 draws 2 2 1. 1: C2 is expanded: .15.  2: C2 → 0, through D, which is (.4 + 1)/2 = .7:
    # C2 = .525 − .15 = .375.  3: the end −1; outcome 0 was not met, so C1 = (.375 − 1)/2 = −.3125.
    second = chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C2")
    root = after(chance([(0, 1, end(1)), (1, 1, end(-1)), (2, 1, second)], "C1"))
    asked = Scripted(script(D=0.4, F=-0.6))
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=3, seed=0, **HALF)
    check_expected(result, 3, -0.3125)
    assert visits_below(result, 0) == {1: 1, 2: 2}
    check_node(node_at(result, 0, 2), "chance", -1, 2, (0.375, -0.375))
    check_stats(result, evaluations=3, exact_expansions=1, chance_visits=5)


@pytest.mark.parametrize("how", ["exact", "max_depth"])
def test_exact_expansion_above_leaves_that_stay_leaves(search_tree: Any, how: str) -> None:
    # Weights 3, 1 → D .4, F −.6, which are not expanded, as they are exact, or too deep. 1: .15.  2: outcome 0: .4,
    # evaluated again only where D is too deep: still .15.
    root = after(chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.4, F=-0.6), decisions=EXACT if how == "exact" else ESTIMATE)
    depth = 1 if how == "max_depth" else 200
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=2, max_depth=depth, **HALF)
    check_expected(result, 2, 0.15)
    assert asked.asked == [["r"], ["D", "F"], ["D"]][: 3 if how == "max_depth" else 2]
    check_node(node_at(result, 0, 0), "decision", 1, 2, (0.4, -0.4))
    check_stats(result, expansions=1, nodes=4)


@pytest.mark.parametrize(("most", "done"), [(1, 0), (2, 0), (3, 1)])
def test_an_exact_expansion_is_not_cut_by_the_budget(search_tree: Any, most: int, done: int) -> None:
    # The root and two children are three evaluations; with two there is no room for the pair.
    # CHOICE: max_evaluations is never exceeded, and a visit is made completely or not at all.
    root = after(chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.4, F=-0.6))
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=2, max_evaluations=most, **HALF)
    check(result, [done], [0.15 if done else nan], (0.075 * done, -0.075 * done))
    assert result.stopped == "evaluations"
    check_stats(result, simulations=done, evaluations=1 + 2 * done)


@pytest.mark.parametrize(("most", "done"), [(2, 0), (3, 0), (4, 1)])
def test_an_exact_expansion_is_not_cut_by_a_full_tree(search_tree: Any, most: int, done: int) -> None:
    # r, C, D, F are four nodes; the second simulation would need a fifth.
    root = after(chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C"))
    asked = Scripted(script(D=0.4, F=-0.6))
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=2, max_nodes=most, **HALF)
    check(result, [done], [0.15 if done else nan], (0.075 * done, -0.075 * done))
    assert result.stopped == "nodes"
    assert result.stats.nodes <= most


def test_an_exact_expansion_in_flight_collides(search_tree: Any) -> None:
    # r: 0 (prior .9) → C of the tests above, 1 (.1) → A. Two in flight.
    # 1: .5 + .9 → 0: D and F wait: one visit in flight.  2, N = 2: .5 + 1.27279/2 = 1.13640 → 0, .5 + .14142: C is
    # pending: a collision; D and F are evaluated: .15, scaled .575.  2 again: .575 + .63640 → 0: outcome 0, by D: 1.
    # D = .7: .525 − .15 = .375.
    event = chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C")
    root = decision(0, {0: event, 1: line("A", 1)}, "r")
    asked = Scripted({**script(D=0.4, F=-0.6), "r": ({0: 0.9, 1: 0.1}, (0.0, 0.0))})
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=2, in_flight=2, **HALF)
    check(result, [2, 0], [0.375, nan], (0.25, -0.25))
    assert asked.asked == [["r"], ["D", "F"]]
    check_node(node_at(result, 0), "chance", -1, 2, (0.375, -0.375))
    assert visits_below(result, 0) == {0: 2, 1: 1}
    check_stats(result, simulations=2, evaluations=3, collisions=1, exact_expansions=1, nodes=5)


def test_descents_do_not_pass_an_exact_expansion_in_flight(search_tree: Any) -> None:
    # Outcomes 0, 1, 2 of weight 8, 5, 3 (of 16) → end −1, D .4, F −.6. Two in flight. 1: D and F wait. 2: outcome 0,
    # whose end needs no evaluation, has the largest deficit, but C is pending: a collision. D and F are evaluated:
    # −.5 + .125 − .1125 = −.4875.  2 again: outcome 0: −1, as before, so C keeps its value.
    root = after(chance([(0, 8, end(-1)), (1, 5, line("D", 1)), (2, 3, line("F", 1))], "C"))
    asked = Scripted(script(D=0.4, F=-0.6))
    result = search_tree(root, asked, chance={"exact_up_to": 3}, num_simulations=2, in_flight=2, **HALF)
    check_expected(result, 2, -0.4875)
    assert asked.asked == [["r"], ["D", "F"]]
    assert visits_below(result, 0) == {0: 2, 1: 1, 2: 1}
    check_stats(result, evaluations=3, collisions=1, exact_expansions=1, nodes=5)


def test_an_exact_expansion_is_one_visit_in_flight(search_tree: Any) -> None:
    # The same with equal priors. 1: tie → 0: D and F wait.  2, N = 2: .5 + .35355, .5 + .70711 → 1: A waits too, as
    # two visits may. All three are evaluated together.
    event = chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C")
    root = decision(0, {0: event, 1: line("A", 1)}, "r")
    asked = Scripted(script(D=0.4, F=-0.6, A=0.3))
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=2, in_flight=2, **HALF)
    check(result, [1, 1], [0.15, 0.3], (0.15, -0.15))
    assert asked.asked == [["r"], ["D", "F", "A"]]
    check_stats(result, simulations=2, evaluations=4, collisions=0, exact_expansions=1, nodes=5)


def test_exact_expansion_overrides_widening(search_tree: Any) -> None:
    # Outcomes 0, 1, 2 of weight 8, 5, 3 (of 16) → end −1, D .4, F −.6. One stored child at most does not apply here.
    # 1: −.5 + .125 − .1125 = −.4875.  2: 4p − 1 = 1, .25, −.25 → 0: the end −1.  3: 5p − n = .5, .5625, −.0625 → 1:
    # through D, which is (.4 + 1)/2 = .7: −.5 + .21875 − .1125 = −.39375.
    root = after(chance([(0, 8, end(-1)), (1, 5, line("D", 1)), (2, 3, line("F", 1))], "C"))
    asked = Scripted(script(D=0.4, F=-0.6))
    settings = {"exact_up_to": 3, "widening": {"c": 1.0, "alpha": 0.5, "max_children": 1}}
    result = search_tree(root, asked, chance=settings, num_simulations=3, **HALF)
    check_expected(result, 3, -0.39375)
    assert asked.asked == [["r"], ["D", "F"]]
    assert visits_below(result, 0) == {0: 2, 1: 2, 2: 1}
    check_stats(result, evaluations=3, exact_expansions=1, transient=0, blocked=0)


def test_exact_expansion_of_terminal_states_needs_no_evaluation(search_tree: Any) -> None:
    # Ends 1 and −1 of weight 3, 1: .5; then outcome 0 again, and still .5.
    root = after(chance([(0, 3, end(1)), (1, 1, end(-1))], "C"))
    asked = Scripted({"r": ZERO})
    result = search_tree(root, asked, chance={"exact_up_to": 2}, num_simulations=2, **HALF)
    check_expected(result, 2, 0.5)
    assert asked.asked == [["r"]]
    assert visits_below(result, 0) == {0: 2, 1: 1}
    check_stats(result, evaluations=1, nodes=4, exact_expansions=1)


# Expectation backup.

DRAWN_ENDS = [(4, 2, terminal(1, -1)), (2, 3, terminal(0.5, -0.5)), (9, 5, terminal(-0.5, 0.5))]


@pytest.mark.parametrize(("simulations", "value"), [(1, -0.5), (2, -0.5), (3, -0.125), (7, -0.125), (8, 0.1)])
def test_expectation_over_visited_outcomes(search_tree: Any, simulations: int, value: float) -> None:
    # Outcomes 4, 2, 9 of weight 2, 3, 5, ends 1, .5, −.5. Seed 0 draws 9 9 2 2 2 9 9 4.
    # 9 alone: −.5.  With 2: (.3·.5 − .5·.5)/.8 = −.125, however often either was met.  All: .2 + .15 − .25 = .1.
    asked = Scripted({"r": ZERO})
    settings = {"backup": "expectation"}
    result = search_tree(
        after(chance(DRAWN_ENDS, "C")), asked, chance=settings, num_simulations=simulations, seed=0, **HALF
    )
    check_expected(result, simulations, value)
    check_stats(result, evaluations=1, transient=0, blocked=0)


@pytest.mark.parametrize(("simulations", "value"), [(1, 0.6), (2, 0.05), (3, 0.02), (7, 0.02), (8, 0.1)])
def test_expectation_with_an_estimate(search_tree: Any, simulations: int, value: float) -> None:
    # The same with estimate .6 at C, where the first visit stops; then 9 2 2 2 9 9 4: the rest stands at .6.
    # 9: −.25 + .5·.6 = .05.  With 2: −.25 + .15 + .2·.6 = .02.  All: .1.
    asked = Scripted(script(C=0.6), afterstates=ESTIMATE)
    settings = {"backup": "expectation"}
    result = search_tree(
        after(chance(DRAWN_ENDS, "C")), asked, chance=settings, num_simulations=simulations, seed=0, **HALF
    )
    check_expected(result, simulations, value)
    assert asked.asked == [["r"], ["C"]]


@pytest.mark.parametrize(
    ("simulations", "visits", "event", "d", "inner"),
    [
        (3, (2, 1), -0.0375, (1, 0.4), None),
        (4, (3, 1), -0.3125, (2, 0.0), (1, -0.4)),
        (7, (4, 3), 11 / 16 * 0.35 / 3 - 5 / 16, (3, 0.35 / 3), (2, -0.025)),
        (10, (6, 4), -0.256640625, (4, 0.08125), (3, -0.025)),
    ],
)
def test_expectation_through_two_decisions(
    search_tree: Any, simulations: int, visits: Any, event: float, d: Any, inner: Any
) -> None:
    # r (0): 0 → C, 1 → end −.5 (scaled .25).  C (11, 5: 0 1 0 0 1 0 0): 0 → D, 1 → end −1.
    # D (player 1; own value .4; priors .8, .2): 0 → E, 1 → end .2.  E (11, 5): 0 → end −.4, 1 → end .8.
    # V = (own + Σ n·V below)/(1 + Σ n) at decisions, Σ p·V (over what p was visited) at C and E.
    #  i  N   .5·√N    action 0                     action 1
    #  1  1   .5       tie → 0: D leaf: C = .4, scaled .7
    #  2  2   .70711   .7 + .35355 = 1.05355        .5 + .70711 = 1.20711 → 1
    #  3  3   .86603   .7 + .43301 → 0              .25 + .43301
    #        C → 1: C = 11/16·.4 − 5/16 = −.0375, scaled .48125
    #  4  4   1        .48125 + .33333 = .81458 → 0   .25 + .5 = .75
    #        C → 0; D: .5 + .8, .5 + .2 → 0; E → 0: −.4. E = −.4, D = (.4 − .4)/2 = 0, C = −5/16, scaled .34375
    #  5  5   1.11803  .34375 + .27951 = .62326     .25 + .55902 = .80902 → 1
    #  6  6   1.22474  .34375 + .30619 = .64994     .25 + .40825 = .65825 → 1
    #  7  7   1.32288  .34375 + .33072 = .67447 → 0   .25 + .33072 = .58072
    #        C → 0; D, N = 2: 0: .7 + .8·1.41421/2 = 1.26569 → 0 (player 1 has .4), 1: .5 + .28284; E → 1: .8:
    #        E = −.275 + .25 = −.025, D = (.4 + 2·−.025)/3 = .35/3, C = 11/16·.35/3 − 5/16 = −.23229, scaled .38385.
    #        The edge of D now has W = 2·.025, scaled .5125.
    #  8  8   1.41421  .38385 + .28284 = .66669 → 0   .25 + .35355 = .60355     C → 1: no value changes
    #  9  9   1.5      .38385 + .25 = .63385 → 0    .25 + .375 = .625
    #        C → 0; D, N = 3: 0: .5125 + .8·1.73205/3 = .97438 → 0, 1: .5 + .34641; E → 0: E stays,
    #        D = (.4 − 3·.025)/4 = .08125, C = 11/16·.08125 − 5/16 = −.256640625, scaled .37168
    # 10  10  1.58114  .37168 + .22588 = .59756     .25 + .39528 = .64528 → 1
    e = chance([(0, 11, end(-0.4)), (1, 5, end(0.8))], "E")
    chooses = decision(1, {0: e, 1: end(0.2)}, "D")
    root = decision(0, {0: chance([(0, 11, chooses), (1, 5, end(-1))], "C"), 1: end(-0.5)}, "r")
    asked = Scripted({"r": ZERO, "D": ({0: 0.8, 1: 0.2}, (0.4, -0.4))})
    result = search_tree(root, asked, chance=EXPECTED, num_simulations=simulations, **HALF)
    mean = (visits[0] * event - 0.5 * visits[1]) / (1 + simulations)
    check(result, visits, [event, -0.5], (mean, -mean))
    check_node(node_at(result, 0), "chance", -1, visits[0], (event, -event))
    check_node(node_at(result, 0, 0), "decision", 1, d[0], (d[1], -d[1]))
    if inner:
        check_node(node_at(result, 0, 0, 0), "chance", -1, inner[0], (inner[1], -inner[1]))
    assert asked.asked == [["r"], ["D"]]
    check_stats(result, simulations=simulations, evaluations=2, transient=0, exact_expansions=0)


@pytest.mark.parametrize(
    ("simulations", "value"),
    [
        (1, (0.2, 0.4, -0.6)),
        (2, (0.075, 0.3375, -0.4125)),
        (3, (-0.165625, 0.54375, -0.378125)),
        (5, (-0.55 / 3 - 0.109375, 0.503125, -1.1 / 3 + 0.15625)),
    ],
)
def test_expectation_with_three_players(search_tree: Any, simulations: int, value: Any) -> None:
    # C (11, 5: 0 1 0 0 1): 0 → A (player 1; own (.2, .4, −.6); priors .6, .4: 0 → (−.5, 1, −.5), 1 → (1, −.5, −.5)),
    # 1 → B (player 2; own (−.2, .2, 0); one action, to (−.5, −.5, 1)).
    # 1: A: C = A.   2: B: 11/16·(.2, .4, −.6) + 5/16·(−.2, .2, 0) = (.1375 − .0625, .275 + .0625, −.4125).
    # 3: A, .5 + .6 → 0: A = (−.3, 1.4, −1.1)/2: C = (−.103125 − .0625, .48125 + .0625, −.378125).
    # 4: A, N = 2: 0: 1 + .6·1.41421/2 = 1.42426 → 0 (player 1 has 1), 1: .5 + .56569: A = (−.8, 2.4, −1.6)/3.
    # 5: B = (−.7, −.3, 1)/2: C = 11/16·A + 5/16·B = (−.55/3 − .109375, .55 − .046875, −1.1/3 + .15625).
    a = decision(1, {0: terminal(-0.5, 1, -0.5), 1: terminal(1, -0.5, -0.5)}, "A")
    b = decision(2, {0: terminal(-0.5, -0.5, 1)}, "B")
    root = after(chance([(0, 11, a), (1, 5, b)], "C"))
    own = {"r": (None, (0, 0, 0)), "A": ({0: 0.6, 1: 0.4}, (0.2, 0.4, -0.6)), "B": (None, (-0.2, 0.2, 0))}
    result = search_tree(root, Scripted(own), players=3, chance=EXPECTED, num_simulations=simulations, **HALF)
    share = simulations / (simulations + 1)
    check(result, [simulations], [value[0]], [share * x for x in value])
    check_node(node_at(result, 0), "chance", -1, simulations, value)
    if simulations == 5:
        check_node(node_at(result, 0, 0), "decision", 1, 3, (-0.8 / 3, 0.8, -1.6 / 3))
        check_node(node_at(result, 0, 1), "decision", 2, 2, (-0.35, -0.15, 0.5))


@pytest.mark.parametrize(
    ("simulations", "visits", "event"), [(5, (2, 3), 3.375), (9, (3, 6), 6.125), (10, (4, 6), 11 / 16 * 28 / 3 + 0.625)]
)
def test_expectation_without_a_utility_range(search_tree: Any, simulations: int, visits: Any, event: float) -> None:
    # One player. r (own value 7): 0 → C, 1 → end 10.  C (11, 5: 0 1 0 0): 0 → D (own value 4; one action, to 12),
    # 1 → end 2. c = 4, first_play "parent". While the range is a point every scaled value is .5.
    #  i  N   2·√N     action 0                         action 1                           range of edge means
    #  1  1   2        tie → 0: D: C = 4                                                   4..4
    #  2  2   2.82843  .5 + 1.41421                     .5 + 2.82843 → 1                   4..10
    #  3  3   3.46410  0 + 1.73205                      1 + 1.73205 → 1
    #  4  4   4        0 + 2                            1 + 1.33333 → 1
    #  5  5   4.47214  0 + 2.23607 → 0                  1 + 1.11803                        3.375..10
    #        C → 1: C = 2.75 + .625 = 3.375
    #  6  6   4.89898  0 + 1.63299                      1 + 1.22474 → 1
    #  7  7   5.29150  0 + 1.76383                      1 + 1.05830 → 1
    #  8  8   5.65685  0 + 1.88562                      1 + .94281 = 1.94281 → 1
    #  9  9   6        0 + 2 → 0                        1 + .85714                         3.375..12
    #        C → 0: D = (4 + 12)/2 = 8, its edge 12: C = 5.5 + .625 = 6.125
    # 10  10  6.32456  2.75/8.625 + 1.58114 = 1.89998 → 0   6.625/8.625 + .90351 = 1.67163
    #        C → 0: D = 28/3, C = 11/16·28/3 + .625
    d = decision(0, {0: terminal(12)}, "D")
    root = decision(0, {0: chance([(0, 11, d), (1, 5, terminal(2))], "C"), 1: terminal(10)}, "r")
    asked = Scripted({"r": (None, (7,)), "D": (None, (4,))})
    settings = {"utility": None, "c": 4.0, "first_play": "parent"}
    result = search_tree(root, asked, players=1, chance=EXPECTED, num_simulations=simulations, **settings)
    total = 7 + visits[0] * event + 10 * visits[1]
    check(result, visits, [event, 10.0], [total / (1 + simulations)])


def test_expectation_in_flight(search_tree: Any) -> None:
    # C (11, 5: 0 1 0 0): 0 → D .4 → G .8 → end −1;  1 → F −.6 → end. Two in flight.
    # 1, 2: D and F wait, and are evaluated: C = .4, then .275 − .1875 = .0875.
    # 3: G waits.  4: meets G: a collision; G is evaluated: D = (.4 + .8)/2 = .6, C = .4125 − .1875 = .225.
    # 4 again: the end −1: G = (.8 − 1)/2 = −.1, D = (.4 + 2·−.1)/3 = .2/3, C = 11/16·.2/3 − .1875.
    d = decision(1, {0: line("G", -1, player=0)}, "D")
    root = after(chance([(0, 11, d), (1, 5, line("F", 1))], "C"))
    asked = Scripted(script(D=0.4, G=0.8, F=-0.6))
    for simulations, value in ((2, 0.0875), (3, 0.225), (4, 11 / 16 * 0.2 / 3 - 0.1875)):
        asked.asked.clear()
        result = search_tree(root, asked, chance=EXPECTED, num_simulations=simulations, in_flight=2, **HALF)
        check_expected(result, simulations, value)
        assert asked.asked == [["r"], ["D", "F"], ["G"]][:simulations]
        check_stats(result, collisions=int(simulations == 4))
    check_node(node_at(result, 0, 0), "decision", 1, 3, (0.2 / 3, -0.2 / 3))
    check_node(node_at(result, 0, 0, 0), "decision", 0, 2, (-0.1, 0.1))


def test_pending_outcome_is_left_out_of_the_expectation(search_tree: Any) -> None:
    # r: 0 → C (11, 5: 0 1): 0 → D .4, 1 → end −.5;  1 → end −.3 (scaled .35). Two in flight; D waits to the end.
    # i  N  .5·√N    action 0                             action 1
    # 1  1  .5       tie → 0: D waits
    # 2  2  .70711   .5 + .35355                          .5 + .70711 → 1
    # 3  3  .86603   .5 + .43301 → 0: C → 1: C = −.5      .35 + .43301
    # 4  4  1        .25 + 1/3 = .58333                   .35 + .5 → 1
    # 5  5  1.11803  .25 + .37268 = .62268                .35 + .37268 = .72268 → 1
    #      (were D's mass worth 0, C would be −.15625, scaled .42188, and score .79456.)
    # D is evaluated: C = .275 − .15625 = .11875.  Root: 2·.11875 − .9.
    event = chance([(0, 11, line("D", 1)), (1, 5, end(-0.5))], "C")
    asked = Scripted(script(D=0.4))
    root = decision(0, {0: event, 1: end(-0.3)}, "r")
    result = search_tree(root, asked, chance=EXPECTED, num_simulations=5, in_flight=2, **HALF)
    check(result, [2, 3], [0.11875, -0.3], (-0.6625 / 6, 0.6625 / 6))
    assert asked.asked == [["r"], ["D"]]
    check_stats(result, collisions=0, evaluations=2)


@pytest.mark.parametrize("afterstates", [NONE, ESTIMATE])
@pytest.mark.parametrize("simulations", [1, 2, 3])
def test_expectation_at_a_chance_root(search_tree: Any, simulations: int, afterstates: Any) -> None:
    # Outcomes 10, 20 (11, 5: 0 1 0) → D .4 → end 1, end −1.
    # 1: D: .4; with the root's own .7 for the rest .275 + .21875 = .49375.  2: .275 − .3125 = −.0375.
    # 3: D = .7: .48125 − .3125 = .16875. The root's own evaluation is a visit, but its value is gone.
    root = chance([(10, 11, line("D", 1)), (20, 5, end(-1))], "c")
    asked = Scripted({"c": (None, (0.7, -0.7)), "D": (None, (0.4, -0.4))}, afterstates=afterstates)
    result = search_tree(root, asked, chance=EXPECTED, num_simulations=simulations, **HALF)
    own = afterstates == ESTIMATE
    value = (0.49375 if own else 0.4, -0.0375, 0.16875)[simulations - 1]
    assert result.value.tolist() == approx([value, -value])
    check_node(result.tree(depth=1).root, "chance", -1, simulations + own, (value, -value))
    assert [o.visits for o in result.outcomes] == list(((1, 0), (1, 1), (2, 1))[simulations - 1])
    assert result.outcomes[0].value.tolist() == approx([(0.4, 0.4, 0.7)[simulations - 1] * s for s in (1, -1)])


@pytest.mark.parametrize(("simulations", "value"), [(1, 1.0), (2, 0.375), (3, 0.052734375)])
def test_expectation_of_two_chance_events(search_tree: Any, simulations: int, value: float) -> None:
    # C1 (11, 5: 0 1 0): 0 → C2, 1 → end −1.  C2 (11, 5): 0 → end 1, 1 → end −.5.
    # 1: 1.  2: 11/16 − 5/16 = .375.  3: C2 = .6875 − .15625 = .53125, C1 = 11/16·.53125 − 5/16 = .052734375.
    second = chance([(0, 11, end(1)), (1, 5, end(-0.5))], "C2")
    root = after(chance([(0, 11, second), (1, 5, end(-1))], "C1"))
    result = search_tree(root, Scripted({"r": ZERO}), chance=EXPECTED, num_simulations=simulations, **HALF)
    check_expected(result, simulations, value)


@pytest.mark.parametrize(
    ("simulations", "value"), [(1, 0.1), (2, -0.05), (3, 0.23125), (4, 0.305), (5, 0.38), (6, 0.38), (7, 0.4175)]
)
def test_an_unstored_outcome_has_its_transient_values(search_tree: Any, simulations: int, value: float) -> None:
    # Outcomes 0, 1, 2 of weight 5, 3, 2 → D .1 → end 1, F −.3, H .6; room for ⌈√N/2⌉. Seed 3:
    # .4778 0, .7995 1, .2941 0, .9521 2, .0931 0, .8994 2, .3076 0.
    # 1: D stored: .1.  2: F transient, so it counts by its own probability; H was not met: (.05 − .09)/.8 = −.05.
    # 3: D = .55: (.275 − .09)/.8 = .23125.  4: H transient: .275 − .09 + .12 = .305.  5: D = .7: .35 − .09 + .12 = .38.
    # 6: N = 6, room for 2: H stored and evaluated again, .6: .38.  7: D = 3.1/4: .3875 − .09 + .12 = .4175.
    event = chance([(0, 5, line("D", 1)), (1, 3, line("F", 1)), (2, 2, line("H", 1))], "C")
    asked = Scripted(script(D=0.1, F=-0.3, H=0.6))
    settings = {"backup": "expectation", "widening": SLOW}
    result = search_tree(after(event), asked, chance=settings, num_simulations=simulations, seed=3, **HALF)
    check_expected(result, simulations, value)
    blocked = (simulations >= 2) + (simulations >= 4)
    asks = 1 + blocked + (simulations >= 6)
    assert asked.asked == [["r"], ["D"], ["F"], ["H"], ["H"]][: 1 + asks]
    check_stats(result, evaluations=1 + asks, transient=blocked, blocked=blocked)


def test_estimate_counts_for_outcomes_never_evaluated(search_tree: Any) -> None:
    # The same with estimate .5 at C. 1: stops at C.  2: outcome 1: N = 2: F stored: −.09 + .7·.5 = .26.
    # 3: outcome 0: N = 3: D transient; the estimate counts only for H: .05 − .09 + .2·.5 = .06.
    # 4: outcome 2: N = 4: H transient: .05 − .09 + .12 = .08.  5: outcome 0: N = 5, room for 2: D stored and evaluated
    # again.  6: outcome 2: H transient again: .6 on average.  7: outcome 0: D = (.1 + 1)/2: .275 − .09 + .12 = .305.
    event = chance([(0, 5, line("D", 1)), (1, 3, line("F", 1)), (2, 2, line("H", 1))], "C")
    settings = {"backup": "expectation", "widening": SLOW}
    for simulations, value in ((1, 0.5), (2, 0.26), (3, 0.06), (4, 0.08), (5, 0.08), (6, 0.08), (7, 0.305)):
        asked = Scripted(script(C=0.5, D=0.1, F=-0.3, H=0.6), afterstates=ESTIMATE)
        result = search_tree(after(event), asked, chance=settings, num_simulations=simulations, seed=3, **HALF)
        check_expected(result, simulations, value)
        assert asked.asked == [["r"], ["C"], ["F"], ["D"], ["H"], ["D"], ["H"]][: simulations + 1]


@pytest.mark.parametrize(
    ("simulations", "value"), [(2, 0.45), (3, 0.675), (4, 0.375), (5, 0.45), (6, 0.15), (8, 0.21), (9, 0.63)]
)
def test_transient_values_of_a_stored_outcome_are_dropped(search_tree: Any, simulations: int, value: float) -> None:
    # C1 (alike): 0 → D .1 → end 1;  1 → C2 (weights 7, 3): ends .8, −.4. Room for ⌈√N/2⌉. Seed 3 draws, at place 1,
    # 0 1 0 1 0 1 0 0 1; C2 is drawn on, or met, at place 2.
    # 1: D stored: .1.  2: C2 transient: .6420 0: .8: (.1 + .8)/2 = .45.  3: D = .55: (.55 + .8)/2 = .675.
    # 4: C2 transient: .9217 1: −.4. Its mean is (.8 − .4)/2 = .2: (.55 + .2)/2 = .375.  5: D = .7: .45.
    # 6: N = 6, room for 2: C2 stored; .8482 1: −.4. C2 has what lies below it alone: (.7 − .4)/2 = .15.
    # 7, 8: D = 4.1/5 = .82: .21.
    # 9: C2; .0883 0: .8, transient there, as C2 has N = 2 and room for 1: C2 = .56 − .12 = .44: (.82 + .44)/2 = .63.
    second = chance([(0, 7, end(0.8)), (1, 3, end(-0.4))], "C2")
    root = after(chance([(0, 1, line("D", 1)), (1, 1, second)], "C1"))
    asked = Scripted(script(D=0.1))
    settings = {"backup": "expectation", "widening": SLOW}
    result = search_tree(root, asked, chance=settings, num_simulations=simulations, seed=3, **HALF)
    check_expected(result, simulations, value)
    assert asked.asked == [["r"], ["D"]]
    if simulations == 9:
        check_node(node_at(result, 0, 1), "chance", -1, 2, (0.44, -0.44))
        assert visits_below(result, 0, 1) == {1: 1}
    blocked = (simulations >= 2) + (simulations >= 4) + (simulations >= 9)
    check_stats(result, evaluations=2, transient=blocked, blocked=blocked, chance_nodes=1 + (simulations >= 6))


def test_transient_values_count_while_the_stored_child_is_pending(search_tree: Any) -> None:
    # r: 0 → C, 1 → end −1.  C: 1 (weight 11) → F .6 → end 1, 2 (3) → end .4, 0 (6) → end −.8. Room for ⌈√N/2⌉; two in
    # flight; c = 0, so that r takes action 0 while C is above 0, which is what the first play of action 1 counts as.
    # Seed 4:
    # 1: tie → 0; .6972 2: the end .4 is stored: C = .4.  2: .0970 1: F transient, waits.  3: .4962 1: F transient
    # too. F, F are evaluated: C = (.06 + .33)/.7.  4: .7052 0: N = 4: transient: C = .06 + .33 − .24 = .15.
    # 5: .1908 1: N = 5, room for 2: F is stored, and waits.
    # 6: .5962 2: C is computed again. F has its transient values until it is evaluated: .15. (Without them C would
    #    be (.06 − .24)/.45 = −.4, and the next visit would take action 1.)
    # 7: action 0; .0717 1: F is in flight: a collision. F is evaluated: .15.
    # 7 again: action 0, through F to the end 1: F = .8: C = .06 + .44 − .24 = .26.
    event = chance([(1, 11, line("F", 1)), (2, 3, end(0.4)), (0, 6, end(-0.8))], "C")
    root = decision(0, {0: event, 1: end(-1)}, "r")
    asked = Scripted(script(F=0.6))
    chosen = {"chance": {"backup": "expectation", "widening": SLOW}, "in_flight": 2, "c": 0.0, "first_play": 0.5}
    result = search_tree(root, asked, num_simulations=7, seed=4, **chosen)
    check(result, [7, 0], [0.26, nan], (7 * 0.26 / 8, -7 * 0.26 / 8))
    assert asked.asked == [["r"], ["F", "F"], ["F"]]
    assert visits_below(result, 0) == {2: 2, 1: 2}
    check_stats(result, evaluations=4, collisions=1, transient=3, blocked=3, nodes=5)


# Presets, defaults and refusals.


PRESETS = {
    "sampling": {"loop": "closed", "pick": "sample", "exact_up_to": 0, "backup": "sample", "widening": None},
    "stratified": {"loop": "closed", "pick": "stratified", "exact_up_to": 0, "backup": "expectation", "widening": None},
    "progressive": {
        "loop": "closed",
        "pick": "sample",
        "exact_up_to": 0,
        "backup": "sample",
        "widening": {"c": 2.0, "alpha": 0.6, "max_children": 64},
    },
    "full": {"loop": "closed", "exact_up_to": 300, "backup": "expectation", "widening": None},
    "open": {"loop": "open", "pick": "sample", "exact_up_to": 0, "backup": "sample", "widening": None},
}


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    settings = ChanceConfig.preset(name).model_dump()
    assert {key: settings[key] for key in PRESETS[name]} == PRESETS[name]
    assert settings["samples_per_visit"] == 1
    assert aleazero.SearchConfig(chance=name).chance == ChanceConfig.preset(name)


def test_unknown_preset_is_rejected() -> None:
    with pytest.raises(ConfigError, match="stratified"):
        ChanceConfig.preset("stratifid")
    with pytest.raises(ConfigError, match="stratified"):
        aleazero.SearchConfig(chance="stratifid")


@pytest.mark.parametrize("named", ["full", ChanceConfig.preset("full"), {"exact_up_to": 300}])
def test_preset_equals_its_settings(search_tree: Any, named: Any) -> None:
    # The tree of test_exactly_expanded_nodes_pick_by_deficit.
    root = after(chance([(0, 3, line("D", 1)), (1, 1, line("F", -1))], "C"))
    result = search_tree(root, Scripted(script(D=0.4, F=-0.6)), chance=named, num_simulations=2, **HALF)
    check_expected(result, 2, 0.375)


def test_listed_outcomes_are_stratified_by_default(search_tree: Any) -> None:
    # The tree of test_expectation_in_flight, one at a time: D, F, G: .225.
    d = decision(1, {0: line("G", -1, player=0)}, "D")
    root = after(chance([(0, 11, d), (1, 5, line("F", 1))], "C"))
    asked = Scripted(script(D=0.4, G=0.8, F=-0.6))
    result = search_tree(root, asked, chance=None, num_simulations=3, **HALF)
    check_expected(result, 3, 0.225)
    assert asked.asked == [["r"], ["D"], ["F"], ["G"]]


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"loop": "open", "pick": "stratified"}, ("loop=open", "pick=stratified")),
        ({"loop": "open", "exact_up_to": 2}, ("loop=open", "exact_up_to")),
        ({"loop": "open", "widening": {}}, ("loop=open", "widening")),
        ({"loop": "open", "backup": "expectation"}, ("loop=open", "backup=expectation")),
        ({"exact_up_to": 2, "backup": "sample"}, ("exact_up_to", "backup=sample")),
        ({"samples_per_visit": 2, "exact_up_to": 2}, ("samples_per_visit", "exact_up_to")),
        ({"samples_per_visit": 2, "backup": "expectation"}, ("samples_per_visit", "backup=expectation")),
        ({"samples_per_visit": 2, "pick": "stratified"}, ("samples_per_visit", "pick=stratified")),
    ],
)
def test_settings_that_cannot_be_combined(settings: Any, names: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        ChanceConfig(**settings)
    message = str(refused.value)
    assert "\n" not in message
    for name in names:
        assert name in message


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"exact_up_to": -1}, "exact_up_to"),
        ({"samples_per_visit": 0}, "samples_per_visit"),
        ({"pick": "all"}, "pick"),
        ({"backup": "max"}, "backup"),
        ({"widening": {"alpha": 1.5}}, "alpha"),
        ({"widening": {"c": 0}}, "c is 0"),
        ({"widening": {"max_children": 0}}, "max_children"),
    ],
)
def test_invalid_chance_settings_are_rejected(settings: Any, named: str) -> None:
    # CHOICE: alpha lies in 0..1, c above 0, max_children from 1 on.
    with pytest.raises(ConfigError, match=named):
        ChanceConfig(**settings)


# A game whose outcomes cannot be listed: as tree_game, where three outcomes 0, 1, 2 are alike.


def describe_many(declared: bool = True) -> GameInfo:
    return replace(tree_game.describe(), name="many", constants={}, lists_outcomes=not declared)


def many_outcomes(state: Any, ids: Any, probabilities: Any) -> int:
    return MANY


def sample_alike(state: Any, u: float) -> int:
    return int(u * 3)


def many_game(declared: bool = True) -> KernelGame:
    module = types.ModuleType("many")
    for word in ("kind", "to_play", "viewer", "legal", "apply", "apply_outcome", "returns", "observe"):
        setattr(module, word, getattr(tree_game, word))
    module.outcomes, module.sample, module.describe = many_outcomes, sample_alike, describe_many  # type: ignore[attr-defined]
    return KernelGame(module, {"declared": declared})


def many_tree() -> Any:
    return after(chance([(i, 1, end(value)) for i, value in enumerate((1.0, 0.5, -1.0))], "C"))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"pick": "stratified"}, "stratified"),
        ({"backup": "expectation"}, "expectation"),
        ({"exact_up_to": 2}, "exact_up_to"),
    ],
)
def test_settings_that_need_listed_outcomes_are_rejected_without(
    backend: str, settings: Any, named: str, declared: bool
) -> None:
    # The game declares that its outcomes are not listed, or the search detects it.
    game = many_game(declared)
    config = aleazero.SearchConfig(num_simulations=4, chance=ChanceConfig(**settings))
    with pytest.raises(ConfigError, match=named):
        aleazero.Search(game, evaluator=Scripted({"r": ZERO}), config=config, backend=backend).run(
            game.state_from_vector(encode(many_tree()))
        )


def test_outcomes_that_are_not_listed_are_widened_by_default(backend: str) -> None:
    # Outcomes 0, 1, 2 → ends 1, .5, −1. Seed 0 draws .7002 2, .7714 2, .3772 1: −1 − 1 + .5. Room for
    # ⌈2·N^.6⌉ = 2, 4, 4: both are stored. The default is the same search as the preset.
    game = many_game()
    for settings in (None, "progressive"):
        config = aleazero.SearchConfig(num_simulations=3, seed=0, chance=settings, **HALF)
        search = aleazero.Search(game, evaluator=Scripted({"r": ZERO}), config=config, backend=backend)
        result = search.run(game.state_from_vector(encode(many_tree())))
        check_sampled(result, 3, -1.5)
        assert visits_below(result, 0) == {2: 2, 1: 1}
        check_stats(result, blocked=0, transient=0)


@pytest.mark.parametrize(("most", "stored", "blocked"), [(1, {2: 2}, 1), (2, {2: 2, 1: 1}, 0)])
def test_widening_of_unlisted_outcomes(backend: str, most: int, stored: Any, blocked: int) -> None:
    # The same; with one stored child at most outcome 1 is transient.
    game = many_game()
    widening = {"c": 2.0, "alpha": 0.6, "max_children": most}
    config = aleazero.SearchConfig(num_simulations=3, seed=0, chance=ChanceConfig(widening=widening), **HALF)
    search = aleazero.Search(game, evaluator=Scripted({"r": ZERO}), config=config, backend=backend)
    result = search.run(game.state_from_vector(encode(many_tree())))
    check_sampled(result, 3, -1.5)
    assert visits_below(result, 0) == stored
    check_stats(result, blocked=blocked, transient=blocked, evaluations=1)


def test_samples_of_unlisted_outcomes(backend: str) -> None:
    # The same with one stored child at most, and two samples per visit. Ends are always kept. Seed 0, place 1 + 2^32:
    # .7060 2, .4577 1, .6041 1.  1: −1 and −1.  2: −1 and .5: −.25.  3: .5, blocked, and .5.  Sum −.75.
    game = many_game()
    settings = ChanceConfig(samples_per_visit=2, widening={"max_children": 1})
    config = aleazero.SearchConfig(num_simulations=3, seed=0, chance=settings, **HALF)
    search = aleazero.Search(game, evaluator=Scripted({"r": ZERO}), config=config, backend=backend)
    result = search.run(game.state_from_vector(encode(many_tree())))
    check_sampled(result, 3, -0.75)
    assert visits_below(result, 0) == {2: 2}
    check_stats(result, blocked=1, transient=4, evaluations=1)
