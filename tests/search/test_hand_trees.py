"""Small trees whose searches were computed by hand, before the search was written.

Every number below follows from the rulings (DESIGN.md) by the arithmetic written beside it. Tables read:
``i`` is the simulation (from 1), N = 1 + visits (and in-flight visits) of the node's edges, then each edge's
score, then what happens. √N is rounded to five places; no choice hangs on less than 0.0049, except ties, which
are exact. Unless a test says otherwise: two players, returns in −1..1, so scale(x) = (x + 1) / 2; c = 1;
first_play = 0.5; the root's own value is 0; priors are equal.

Choices made where the rulings leave room are marked CHOICE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from tree_game import Scripted, chance, decision, terminal

import aleazero
from aleazero import ESTIMATE, EXACT, NONE

nan = math.nan
HALF = {"c": 1.0, "first_play": 0.5}
ZERO = (None, (0.0, 0.0))

# The random streams of the search, written again from their specification.

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
DESCENT = 0x64657363656E74


def mix(z: int) -> int:
    z &= MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def draw(seed: int, simulation: int, depth: int) -> float:
    key = 0
    for part in (DESCENT, seed, simulation):
        key = mix(key + GOLDEN + part)
    return (mix(key + GOLDEN * (depth + 1)) >> 11) * 2.0**-53


# What the trees with chance below are built on; simulations from 0.
DRAWS = {
    # (seed, depth): the first draws, to four places
    (0, 1): (0.7002, 0.7714, 0.3772, 0.2611, 0.2824, 0.6295, 0.6657, 0.1031),
    (1, 0): (0.2034, 0.7798, 0.3378, 0.4149, 0.7996),
    (2, 1): (0.2204, 0.5555, 0.7172, 0.5635, 0.7258, 0.2623, 0.1550),
    (2, 2): (0.6933, 0.5734, 0.9647, 0.2290, 0.9414, 0.7292),
    (3, 0): (0.4533, 0.7901, 0.2174, 0.4938, 0.8558, 0.0941),
    (3, 1): (0.4778, 0.7995, 0.2941, 0.9521, 0.0931, 0.8994, 0.3076, 0.3988, 0.5489),
}


@pytest.mark.parametrize(("seed", "depth"), DRAWS)
def test_draws_that_the_tests_rely_on(seed: int, depth: int) -> None:
    drawn = [draw(seed, i, depth) for i in range(len(DRAWS[seed, depth]))]
    assert drawn == pytest.approx(DRAWS[seed, depth], abs=5.001e-5)


# Reading results.


def approx(value: Any) -> Any:
    return pytest.approx(value, abs=1e-12, nan_ok=True)


def check(result: Any, visits: Sequence[int], q: Sequence[float], value: Sequence[float]) -> None:
    assert result.actions.tolist() == list(range(len(visits)))
    assert result.visits.tolist() == list(visits)
    assert result.q.tolist() == approx(list(q))
    assert result.value.tolist() == approx(list(value))
    root = result.tree(depth=1).root
    assert root["visits"] == sum(visits) + 1
    assert root["value"] == approx(list(value))


def check_stats(result: Any, **expected: Any) -> None:
    assert {name: getattr(result.stats, name) for name in expected} == expected


def node_at(result: Any, *labels: int) -> dict[str, Any]:
    """Return the node that these actions and outcomes lead to."""
    node = result.tree(depth=len(labels)).root
    for label in labels:
        (node,) = [child for child in node["children"] if child["label"] == label]
    return node


def check_node(
    node: dict[str, Any], kind: str, player: int, visits: int, value: Sequence[float], *, below: Sequence[int] = ()
) -> None:
    assert (node["kind"], node["player"], node["visits"]) == (kind, player, visits)
    assert node["value"] == approx(list(value))
    if below:
        assert sorted(child["label"] for child in node["children"]) == sorted(below)


# One decision.


def three_ends(first: float, second: float, third: float) -> Any:
    return decision(0, {i: terminal(x, -x) for i, x in enumerate((first, second, third))}, "r")


def test_the_first_simulation_follows_the_prior(search_tree: Any) -> None:
    # N = 1, nothing tried: the scores are 0.5 + 1.5·(0.2, 0.3, 0.5), so action 2, which ends at −1.
    # Root: 2 visits (its own evaluation and this one), total 0 − 1.
    asked = Scripted({"r": ({0: 0.2, 1: 0.3, 2: 0.5}, (0.0, 0.0))})
    result = search_tree(three_ends(1, 0, -1), asked, num_simulations=1, c=1.5)
    check(result, [0, 0, 1], [nan, nan, -1.0], (-0.5, 0.5))
    assert result.priors.tolist() == approx([0.2, 0.3, 0.5])
    assert result.policy.tolist() == [0.0, 0.0, 1.0]
    assert result.best_action == 2
    assert result.outcomes == []
    assert result.stopped is None
    check_stats(result, simulations=1, evaluations=1, expansions=1, nodes=2, depth=1, collisions=0)
    check_stats(result, chance_nodes=0, chance_visits=0, chance_children=0, outcome_counts={})
    assert asked.asked == [["r"]]
    end = node_at(result, 2)
    check_node(end, "terminal", -4, 1, (-1.0, 1.0))
    assert end["prior"] == approx(0.5)
    assert end["probability"] is None


@pytest.mark.parametrize(
    ("simulations", "visits"),
    [(1, (1, 0, 0)), (2, (1, 1, 0)), (6, (1, 5, 0)), (7, (2, 5, 0)), (9, (2, 7, 0)), (10, (2, 7, 1)), (12, (2, 7, 3))],
)
def test_puct_with_unequal_priors(search_tree: Any, simulations: int, visits: tuple[int, ...]) -> None:
    # Priors 0.5, 0.3, 0.2; ends −1, 0, 1, so Q = 0, 0.5, 1 once tried; first_play 0; the root's own value 0.25.
    #  i  N   √N       action 0                action 1                   action 2
    #  1  1   1        .5                      .3                         .2                → 0
    #  2  2   1.41421  .5·1.41421/2 = .35355   .3·1.41421 = .42426        .28284            → 1
    #  3  3   1.73205  .43301                  .5 + .51962/2 = .75981     .34641            → 1
    #  4  4   2        .5                      .5 + .6/3 = .7             .4                → 1
    #  5  5   2.23607  .55902                  .5 + .67082/4 = .66771     .44721            → 1
    #  6  6   2.44949  .61237                  .5 + .73485/5 = .64697     .48990            → 1
    #  7  7   2.64575  .66144                  .5 + .79373/6 = .63229     .52915            → 0
    #  8  8   2.82843  1.41421/3 = .47140      .5 + .84853/6 = .64142     .56569            → 1
    #  9  9   3        .5                      .5 + .9/7 = .62857         .6                → 1
    # 10  10  3.16228  .52705                  .5 + .94868/8 = .61859     .63246            → 2
    # 11  11  3.31662  .55277                  .5 + .99499/8 = .62437     1 + .66332/2      → 2
    # 12  12  3.46410  .57735                  .5 + 1.03923/8 = .62990    1 + .69282/3      → 2
    asked = Scripted({"r": ({0: 0.5, 1: 0.3, 2: 0.2}, (0.25, -0.25))})
    result = search_tree(three_ends(-1, 0, 1), asked, num_simulations=simulations, c=1.0, first_play=0.0)
    mean = (0.25 - visits[0] + visits[2]) / (1 + simulations)
    q = [end if n else nan for end, n in zip((-1.0, 0.0, 1.0), visits, strict=True)]
    check(result, visits, q, (mean, -mean))
    check_stats(result, simulations=simulations, evaluations=1, nodes=1 + sum(n > 0 for n in visits))


def test_a_tie_goes_to_the_lowest_action(search_tree: Any) -> None:
    # Priors 0 and 1 (a logit of −∞); ends 1 and −1, so Q of action 1 is 0. Action 0 always scores first_play = .5.
    # i = 1: action 1 scores .5 + 1. Then 0 + √N/(1 + n): i = 2: 1.41421/2 = .707; i = 3: 1.73205/3 = .577;
    # i = 4: 2/4 = .5, a tie, so action 0.
    asked = Scripted({"r": ({0: 0.0, 1: 1.0}, (0.0, 0.0))})
    root = decision(0, {0: terminal(1, -1), 1: terminal(-1, 1)}, "r")
    result = search_tree(root, asked, num_simulations=4, **HALF)
    check(result, [1, 3], [1.0, -1.0], (-2 / 5, 2 / 5))
    assert result.priors.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("simulations", "visits"),
    [(1, (1, 0, 0)), (3, (1, 1, 1)), (5, (1, 3, 1)), (6, (2, 3, 1)), (10, (2, 7, 1)), (11, (3, 7, 1))],
)
def test_uct(search_tree: Any, simulations: int, visits: tuple[int, ...]) -> None:
    # Ends 0, 1, −1: Q = .5, 1, 0. Untried actions come first, lowest first, whatever the priors and first_play:
    # 1 → 0, 2 → 1, 3 → 2. Then q + √(ln N / n):
    #  i  N   ln N     action 0                     action 1                      action 2
    #  4  4   1.38629  .5 + 1.17741 = 1.67741       1 + 1.17741 = 2.17741         1.17741    → 1
    #  5  5   1.60944  .5 + 1.26864 = 1.76864       1 + √.80472 = 1.89706         1.26864    → 1
    #  6  6   1.79176  .5 + 1.33857 = 1.83857       1 + √.59725 = 1.77282         1.33857    → 0
    #  7  7   1.94591  .5 + √.97296 = 1.48639       1 + √.64864 = 1.80538         1.39496    → 1
    #  8  8   2.07944  .5 + √1.03972 = 1.51967      1 + √.51986 = 1.72101         1.44203    → 1
    #  9  9   2.19722  .5 + √1.09861 = 1.54815      1 + √.43944 = 1.66291         1.48230    → 1
    # 10  10  2.30259  .5 + √1.15129 = 1.57298      1 + √.38376 = 1.61949         1.51743    → 1
    # 11  11  2.39790  .5 + √1.19895 = 1.59496      1 + √.34256 = 1.58528         1.54851    → 0
    asked = Scripted({"r": ({0: 0.01, 1: 0.01, 2: 0.98}, (0.0, 0.0))})
    result = search_tree(
        three_ends(0, 1, -1), asked, num_simulations=simulations, selection="uct", c=1.0, first_play=0.0
    )
    mean = (visits[1] - visits[2]) / (1 + simulations)
    q = [end if n else nan for end, n in zip((0.0, 1.0, -1.0), visits, strict=True)]
    check(result, visits, q, (mean, -mean))


@pytest.mark.parametrize(("first_play", "visits"), [(0.0, (3, 0)), (0.5, (2, 1)), (0.55, (1, 2)), ("parent", (1, 2))])
def test_first_play_urgency(search_tree: Any, first_play: Any, visits: tuple[int, int]) -> None:
    # Priors .6, .4; c = .5; ends .2 and .9: Q = .6, .95; the root's own value .6. Three simulations.
    # i = 1: f + .3 against f + .2 → 0.
    # i = 2, N = 2: action 0 scores .6 + .3·1.41421/2 = .81213; action 1 scores f + .2·1.41421 = f + .28284:
    #   0: .28284 → 0;  .5: .78284 → 0;  .55: .83284 → 1;
    #   parent: the root's mean is now (.6 + .2)/2 = .4, scaled .7: .98284 → 1.
    # i = 3, N = 3, after (2, 0): action 0 .6 + .3·1.73205/3 = .77321; action 1 f + .2·1.73205 = f + .34641:
    #   0: .34641 → 0;  .5: .84641 → 1.
    #   after (1, 1): action 0 .6 + .51962/2 = .85981; action 1 .95 + .34641/2 = 1.12321 → 1.
    asked = Scripted({"r": ({0: 0.6, 1: 0.4}, (0.6, -0.6))})
    root = decision(0, {0: terminal(0.2, -0.2), 1: terminal(0.9, -0.9)}, "r")
    result = search_tree(root, asked, num_simulations=3, c=0.5, first_play=first_play)
    mean = (0.6 + 0.2 * visits[0] + 0.9 * visits[1]) / 4
    check(result, visits, [0.2, 0.9 if visits[1] else nan], (mean, -mean))


@pytest.mark.parametrize(("simulations", "visits"), [(2, (2, 0)), (6, (6, 0)), (7, (6, 1))])
def test_first_play_urgency_parent_is_the_mean_of_the_node(search_tree: Any, simulations: int, visits: Any) -> None:
    # Priors .9, .1; c = .75; ends −.4 (Q = .3) and 0; the root's own value .6, and after k visits to action 0 its
    # mean is m = (.6 − .4k)/(1 + k). Were f to stay at scale(.6) = .8, action 1 would come second (.90607).
    # i  N  √N       m         f = scale(m)  action 0: .3 + .675·√N/i        action 1: f + .075·√N
    # 1  1  1        .6        .8            .8 + .675 (untried: f)          .8 + .075                 → 0
    # 2  2  1.41421  .1        .55           .3 + .95459/2 = .77730          .55 + .10607 = .65607     → 0
    # 3  3  1.73205  −.06667   .46667        .3 + 1.16913/3 = .68971         .46667 + .12990 = .59657  → 0
    # 4  4  2        −.15      .425          .3 + 1.35/4 = .6375             .425 + .15 = .575         → 0
    # 5  5  2.23607  −.2       .4            .3 + 1.50935/5 = .60187         .4 + .16771 = .56771      → 0
    # 6  6  2.44949  −.23333   .38333        .3 + 1.65341/6 = .57557         .38333 + .18371 = .56705  → 0
    # 7  7  2.64575  −.25714   .37143        .3 + 1.78588/7 = .55513         .37143 + .19843 = .56986  → 1
    asked = Scripted({"r": ({0: 0.9, 1: 0.1}, (0.6, -0.6))})
    root = decision(0, {0: terminal(-0.4, 0.4), 1: terminal(0, 0)}, "r")
    result = search_tree(root, asked, num_simulations=simulations, c=0.75, first_play="parent")
    mean = (0.6 - 0.4 * visits[0]) / (1 + simulations)
    check(result, visits, [-0.4, 0.0 if visits[1] else nan], (mean, -mean))


@pytest.mark.parametrize(("unit", "visits"), [(1.0, (1, 2)), (2.0, (3, 0)), (40.0, (3, 0))])
@pytest.mark.parametrize("backup", ["sample", "expectation"])
def test_first_play_urgency_by_logits(search_tree: Any, backup: str, unit: float, visits: tuple[int, int]) -> None:
    # As above: priors .6, .4; c = .5; Q = .6, .95; the root's own value .6. Logits differ by ln(.4/.6) = −.40547, so
    # untried actions have the values .6 and .6 − .40547·unit: scaled .8 and .59727 (1), .39453 (2), 0 (40, clipped).
    # i = 1: .8 + .3 against at most .59727 + .2 → 0.
    # i = 2, N = 2: action 0 .81213; action 1 .28284 more than .59727 (1): .88011 → 1; .39453 (2): .67738 → 0.
    # i = 3, N = 3: after (1, 1) action 1, as above; after (2, 0) .77321 against .39453 + .34641 = .74094 → 0.
    asked = Scripted({"r": ({0: 0.6, 1: 0.4}, (0.6, -0.6))})
    asked.logit_unit = unit
    root = decision(0, {0: terminal(0.2, -0.2), 1: terminal(0.9, -0.9)}, "r")
    settings = {"num_simulations": 3, "c": 0.5, "first_play": "logits"}
    result = search_tree(root, asked, chance={"backup": backup}, **settings)
    mean = (0.6 + 0.2 * visits[0] + 0.9 * visits[1]) / 4
    check(result, visits, [0.2, 0.9 if visits[1] else nan], (mean, -mean))


def test_first_play_urgency_by_logits_is_that_of_the_player_to_move(search_tree: Any) -> None:
    # Player 1 moves at A. Its own value there is .5 (scaled .75), and its logits prefer action 1 by ln 3 = 1.09861, so
    # with a unit of .5 action 0 has −.04931 (scaled .47535). Its ends are .9 (Q = .95) and −.2 (Q = .4); c = 0.
    # i = 1: A. i = 2: .75 against .47535 → 1. i = 3: .4 against .47535 → 0.
    # With the value of player 0, action 0 would have −1.04931 (scaled 0), and i = 3 would be action 1 again.
    asked = Scripted({"r": ZERO, "A": ({0: 0.25, 1: 0.75}, (-0.5, 0.5))})
    asked.logit_unit = 0.5
    root = decision(0, {0: decision(1, {0: terminal(-0.9, 0.9), 1: terminal(0.2, -0.2)}, "A")}, "r")
    result = search_tree(root, asked, num_simulations=3, c=0.0, first_play="logits")
    check(result, [3], [(-0.5 + 0.2 - 0.9) / 3], (-0.3, 0.3))


# Several decisions: no sign is ever flipped.


def test_two_players_alternate(search_tree: Any) -> None:
    # r (player 0): 0 → D, 1 → end 0.  D (player 1): 0 → end (1, −1), 1 → end (−1, 1); D's own value (.5, −.5).
    # Equal priors: each edge adds .5·√N/(1 + n). "mean" is that of edge 0 after the simulation.
    # i  N  .5·√N    r: action 0                r: action 1                 what happens          n  W    scaled mean
    # 1  1  .5       .5 + .5                    .5 + .5       tie → 0       D is a leaf: .5       1  .5   .75
    # 2  2  .70711   .75 + .35355 = 1.10355     .5 + .70711 = 1.20711 → 1   end 0
    # 3  3  .86603   .75 + .43301 = 1.18301     .5 + .43301 → 0             D: tie → 0: (1, −1)   2  1.5  .875
    # 4  4  1        .875 + 1/3 = 1.20833       .5 + .5 → 0                 D, N = 2:             3  .5   .58333
    #      0: 0 + .35355 (player 1 got −1: Q = 0), 1: .5 + .70711 → 1: (−1, 1)
    # 5  5  1.11803  .58333 + .27951 = .86284   .5 + .55902 = 1.05902 → 1
    # 6  6  1.22474  .58333 + .30619 = .88952   .5 + .40825 = .90825 → 1
    # 7  7  1.32288  .58333 + .33072 = .91405   .5 + .33072 = .83072 → 0    D, N = 3:             4  −.5  .4375
    #      0: 0 + .43301, 1: 1 + .43301 → 1: (−1, 1)
    # 8  8  1.41421  .4375 + .28284 = .72034    .5 + .35355 = .85355 → 1
    inner = decision(1, {0: terminal(1, -1), 1: terminal(-1, 1)}, "D")
    root = decision(0, {0: inner, 1: terminal(0, 0)}, "r")
    asked = Scripted({"r": ZERO, "D": (None, (0.5, -0.5))})
    result = search_tree(root, asked, num_simulations=8, **HALF)
    check(result, [4, 4], [-0.125, 0.0], (-0.5 / 9, 0.5 / 9))
    check_node(node_at(result, 0), "decision", 1, 4, (-0.125, 0.125))
    check_node(node_at(result, 0, 0), "terminal", -4, 1, (1.0, -1.0))
    check_node(node_at(result, 0, 1), "terminal", -4, 2, (-1.0, 1.0))
    check_stats(result, simulations=8, evaluations=2, expansions=2, nodes=5, depth=2, collisions=0)
    assert asked.asked == [["r"], ["D"]]


def test_one_player_moves_twice_in_a_row(search_tree: Any) -> None:
    # As before, but player 0 moves at D too, whose own value is (−.5, .5).
    # i  N  .5·√N    r: action 0                r: action 1                 what happens          n  W    scaled mean
    # 1  1  .5       .5 + .5                    .5 + .5       tie → 0       D is a leaf: −.5      1  −.5  .25
    # 2  2  .70711   .25 + .35355 = .60355      .5 + .70711 = 1.20711 → 1
    # 3  3  .86603   .25 + .43301 = .68301      .5 + .43301 = .93301 → 1
    # 4  4  1        .25 + .5 = .75             .5 + 1/3 = .83333 → 1
    # 5  5  1.11803  .25 + .55902 = .80902      .5 + .27951 = .77951 → 0    D: tie → 0: (1, −1)   2  .5   .625
    # 6  6  1.22474  .625 + .40825 = 1.03325    .5 + .30619 = .80619 → 0    D, N = 2:             3  1.5  .75
    #      0: 1 + .35355 = 1.35355, 1: .5 + .70711 = 1.20711 → 0: (1, −1)
    # 7  7  1.32288  .75 + .33072 = 1.08072     .5 + .33072 = .83072 → 0    D, N = 3:             4  .5   .5625
    #      0: 1 + .86603/3 = 1.28868, 1: .5 + .86603 = 1.36603 → 1: (−1, 1)
    # 8  8  1.41421  .5625 + .28284 = .84534    .5 + .35355 = .85355 → 1
    inner = decision(0, {0: terminal(1, -1), 1: terminal(-1, 1)}, "D")
    root = decision(0, {0: inner, 1: terminal(0, 0)}, "r")
    asked = Scripted({"r": ZERO, "D": (None, (-0.5, 0.5))})
    result = search_tree(root, asked, num_simulations=8, **HALF)
    check(result, [4, 4], [0.125, 0.0], (0.5 / 9, -0.5 / 9))
    check_node(node_at(result, 0), "decision", 0, 4, (0.125, -0.125))
    check_node(node_at(result, 0, 0), "terminal", -4, 2, (1.0, -1.0))
    check_node(node_at(result, 0, 1), "terminal", -4, 1, (-1.0, 1.0))
    check_stats(result, evaluations=2, expansions=2, nodes=5, depth=2)


def test_three_players(search_tree: Any) -> None:
    # r (0): 0 → A, 1 → end (−.1, .05, .05).  A (1): 0 → B, 1 → end (1, −.5, −.5).
    # B (2): 0 → end (−.5, 1, −.5), 1 → end (−.5, −.5, 1).  Own values: A (.2, .4, −.6), B (−.2, .2, 0).
    # i  N  .5·√N    r: action 0                 r: action 1                what happens
    # 1  1  .5       tie → 0                                                A leaf. A: n 1, W .2, scaled .6
    # 2  2  .70711   .6 + .35355 = .95355        .5 + .70711 → 1            end: scaled .45
    # 3  3  .86603   .6 + .43301 = 1.03301 → 0   .45 + .43301               A: tie → 0: B leaf (−.2, .2, 0).
    #      r edge 0: n 2, W 0, scaled .5.  A edge 0: n 1, W .2 (player 1), scaled .6
    # 4  4  1        .5 + 1/3 = .83333           .45 + .5 = .95 → 1
    # 5  5  1.11803  .5 + .37268 = .87268 → 0    .45 + .37268               A, N = 2: 0: .6 + .35355 = .95355,
    #      1: .5 + .70711 → 1: (1, −.5, −.5).  r edge 0: n 3, W 1, scaled .66667.  A edge 1: scaled .25
    # 6  6  1.22474  .66667 + .30619 → 0         .45 + .40825               A, N = 3: 0: .6 + .43301,
    #      1: .25 + .43301 → 0.  B: tie → 0: (−.5, 1, −.5).  B edge 0: W −.5 (player 2), scaled .25.
    #      A edge 0: n 2, W 1.2, scaled .8.  r edge 0: n 4, W .5, scaled .5625
    # 7  7  1.32288  .5625 + .26458 = .82708     .45 + .44096 = .89096 → 1
    # 8  8  1.41421  .5625 + .28284 = .84534 → 0  .45 + .35355 = .80355     A, N = 4: 0: .8 + 1/3, 1: .25 + .5
    #      → 0.  B, N = 2: 0: .25 + .35355, 1: .5 + .70711 → 1: (−.5, −.5, 1)
    # B: 3 visits, (−.2, .2, 0) + (−.5, 1, −.5) + (−.5, −.5, 1) = (−1.2, .7, .5).
    # A: 5 visits, its own (.2, .4, −.6) + (1, −.5, −.5) + B's (−1.2, .7, .5) = (0, .6, −.6).
    # r: 9 visits, (0, .6, −.6) + 3·(−.1, .05, .05) = (−.3, .75, −.45).
    b = decision(2, {0: terminal(-0.5, 1, -0.5), 1: terminal(-0.5, -0.5, 1)}, "B")
    a = decision(1, {0: b, 1: terminal(1, -0.5, -0.5)}, "A")
    root = decision(0, {0: a, 1: terminal(-0.1, 0.05, 0.05)}, "r")
    asked = Scripted({"r": (None, (0, 0, 0)), "A": (None, (0.2, 0.4, -0.6)), "B": (None, (-0.2, 0.2, 0))})
    result = search_tree(root, asked, players=3, num_simulations=8, **HALF)
    check(result, [5, 3], [0.0, -0.1], (-0.3 / 9, 0.75 / 9, -0.45 / 9))
    check_node(node_at(result, 0), "decision", 1, 5, (0.0, 0.12, -0.12))
    check_node(node_at(result, 0, 0), "decision", 2, 3, (-0.4, 0.7 / 3, 0.5 / 3))
    check_node(node_at(result, 0, 1), "terminal", -4, 1, (1.0, -0.5, -0.5))
    check_node(node_at(result, 0, 0, 0), "terminal", -4, 1, (-0.5, 1.0, -0.5))
    check_node(node_at(result, 0, 0, 1), "terminal", -4, 1, (-0.5, -0.5, 1.0))
    check_stats(result, evaluations=3, expansions=3, nodes=7, depth=3)


# Returns without bounds: the running range of edge means stands for the utility range.


def test_running_range_only_grows(search_tree: Any) -> None:
    # One player. r: 0 → D (own value 4; its only action ends at 12), 1 → end 10. The root's own value 7, c = 4,
    # first_play "parent". While the range is empty or a point every scaled value is .5. Equal priors: 2·√N/(1 + n).
    # i  N  2·√N     action 0                       action 1                       edge means after   range
    # 1  1  2        .5 + 2                         .5 + 2      tie → 0            0: 4               4..4
    # 2  2  2.82843  .5 + 1.41421                   .5 + 2.82843 → 1               1: 10              4..10
    # 3  3  3.46410  0 + 1.73205                    1 + 1.73205 → 1
    # 4  4  4        0 + 2                          1 + 4/3 = 2.33333 → 1
    # 5  5  4.47214  0 + 2.23607 → 0                1 + 1.11803 = 2.11803          D's edge: 12       4..12
    #      and edge 0: (4 + 12)/2 = 8. (The range of the means of the moment, 8..12, would choose 1 next:
    #      0 + 1.63299 against .5 + 1.22474.)
    # 6  6  4.89898  4/8 + 1.63299 = 2.13299 → 0    6/8 + 1.22474 = 1.97474        0: 28/3
    # 7  7  5.29150  5.33333/8 + 1.32288 = 1.98954  .75 + 1.32288 = 2.07288 → 1
    root = decision(0, {0: decision(0, {0: terminal(12)}, "D"), 1: terminal(10)}, "r")
    asked = Scripted({"r": (None, (7,)), "D": (None, (4,))})
    result = search_tree(root, asked, players=1, utility=None, num_simulations=7, c=4.0, first_play="parent")
    check(result, [3, 4], [28 / 3, 10.0], [75 / 8])
    check_node(node_at(result, 0), "decision", 0, 3, [28 / 3])
    check_node(node_at(result, 0, 0), "terminal", -4, 2, [12.0])


def test_each_player_has_a_range(search_tree: Any) -> None:
    # r (0): 0 → D, 1 → end (5, 0).  D (1): 0 → end (0, 100), 1 → end (10, 50); own value (8, 70).
    #  i  N   .5·√N    action 0                  action 1                    what happens
    #  1  1   .5       tie → 0                                               D leaf: mean 8; range of player 0: 8..8
    #  2  2   .70711   .5 + .35355               .5 + .70711 → 1             mean 5; range 5..8
    #  3  3   .86603   1 + .43301 → 0            0 + .43301                  D: tie → 0: (0, 100); mean 4; range 4..8
    #       range of player 1: 100..100.  Edge 1 of the root is now at (5 − 4)/4 = .25
    #  4  4   1        0 + .33333                .25 + .5 → 1
    #  5  5   1.11803  .37268                    .25 + .37268 → 1
    #  6  6   1.22474  .40825                    .25 + .30619 = .55619 → 1   (one range 4..100 for both would say 0)
    #  7  7   1.32288  .44096                    .25 + .26458 = .51458 → 1
    #  8  8   1.41421  .47140                    .25 + .23570 = .48570 → 1
    #  9  9   1.5      .5 → 0                    .25 + 1.5/7 = .46429        D, N = 2: 0: .5 (a point) + .35355,
    #       1: .5 + .70711 → 1: (10, 50); mean 18/3 = 6; range of player 1: 50..100
    # 10  10  1.58114  .5 + .39528 → 0           .25 + .22588                D, N = 3: 0: 1 + .43301, 1: 0 + .43301
    #       → 0: (0, 100); mean 18/4 = 4.5, at .125
    # 11  11  1.65831  .125 + .33166 = .45666    .25 + .23690 = .48690 → 1
    # 12  12  1.73205  .125 + .34641 = .47141 → 0  .25 + .21651 = .46651     D, N = 4: 0: 1 + 1/3, 1: 0 + .5
    #       → 0: (0, 100)  (without a lower end to player 1's range both would be .5, and 1 chosen)
    # D: 5 visits, (8 + 0 + 10 + 0 + 0, 70 + 100 + 50 + 100 + 100) = (18, 420).
    inner = decision(1, {0: terminal(0, 100), 1: terminal(10, 50)}, "D")
    root = decision(0, {0: inner, 1: terminal(5, 0)}, "r")
    asked = Scripted({"r": ZERO, "D": (None, (8, 70))})
    result = search_tree(root, asked, utility=None, num_simulations=12, **HALF)
    check(result, [5, 7], [3.6, 5.0], (53 / 13, 420 / 13))
    check_node(node_at(result, 0), "decision", 1, 5, (3.6, 84.0))
    check_node(node_at(result, 0, 0), "terminal", -4, 3, (0.0, 100.0))
    check_node(node_at(result, 0, 1), "terminal", -4, 1, (10.0, 50.0))


def test_a_range_of_one_point_scales_to_a_half(search_tree: Any) -> None:
    # One player; ends 3 and 5; priors .8, .2; first_play .6; the root's own value 7. While only action 0 was tried
    # the range is 3..3, and its Q is .5.
    # i = 1: .6 + .8 → 0.  2, N = 2: .5 + 1.13137/2 = 1.06569 → 0, .6 + .28284.
    # 3, N = 3: .5 + 1.38564/3 = .96188 → 0, .6 + .34641 = .94641.  4, N = 4: .5 + 1.6/4 = .9, .6 + .4 = 1 → 1.
    asked = Scripted({"r": ({0: 0.8, 1: 0.2}, (7,))})
    root = decision(0, {0: terminal(3), 1: terminal(5)}, "r")
    result = search_tree(root, asked, players=1, utility=None, num_simulations=4, c=1.0, first_play=0.6)
    check(result, [3, 1], [3.0, 5.0], [(7 + 9 + 5) / 5])


def test_values_outside_the_utility_range_are_clamped_in_selection_only(search_tree: Any) -> None:
    # A's value 3 scales to 1, not 2. Equal priors, first_play .8: i = 1: tie → 0: A.
    # 2, N = 2: 1 + .35355 = 1.35355, .8 + .70711 = 1.50711 → 1: end 1.  Total 3 + 1.
    root = decision(0, {0: decision(1, {0: terminal(1, -1)}, "A"), 1: terminal(1, -1)}, "r")
    result = search_tree(root, Scripted({"r": ZERO, "A": (None, (3, -3))}), num_simulations=2, c=1.0, first_play=0.8)
    check(result, [1, 1], [3.0, 1.0], (4 / 3, -4 / 3))
    # A's value −3 scales to 0, not −1. Priors .8, .2, first_play 0: i = 1: .8 → 0.
    # 2, N = 2: 0 + 1.13137/2 = .56569 → 0: through A to 1;  0 + .28284.  Total −3 + 1.
    asked = Scripted({"r": ({0: 0.8, 1: 0.2}, (0, 0)), "A": (None, (-3, 3))})
    result = search_tree(root, asked, num_simulations=2, c=1.0, first_play=0.0)
    check(result, [2, 0], [-1.0, nan], (-2 / 3, 2 / 3))


# Chance.


def test_chance_with_one_outcome(search_tree: Any) -> None:
    # r: 0 → C, whose only outcome 5 ends at .5 (Q = .75); 1 → end 0. C is passed, never evaluated.
    # i = 1: tie → 0.  i = 2, N = 2: .75 + .35355 = 1.10355, .5 + .70711 → 1.  i = 3: .75 + .43301, .5 + .43301 → 0.
    # i = 4, N = 4: .75 + 1/3 = 1.08333, .5 + .5 → 0.  Root: 5 visits, total 3·.5.
    root = decision(0, {0: chance([(5, 1, terminal(0.5, -0.5))], "C"), 1: terminal(0, 0)}, "r")
    asked = Scripted({"r": ZERO})
    result = search_tree(root, asked, num_simulations=4, **HALF)
    check(result, [3, 1], [0.5, 0.0], (0.3, -0.3))
    check_node(node_at(result, 0), "chance", -1, 3, (0.5, -0.5))
    end = node_at(result, 0, 5)
    check_node(end, "terminal", -4, 3, (0.5, -0.5))
    assert (end["prior"], end["probability"]) == (None, 1.0)
    check_stats(result, simulations=4, evaluations=1, expansions=1, nodes=4, depth=2)
    check_stats(result, chance_nodes=1, chance_visits=3, chance_children=1, outcome_counts={1: 1})
    assert asked.asked == [["r"]]


def test_outcomes_are_drawn_in_the_order_listed(search_tree: Any) -> None:
    # One action, then outcomes 4, 2, 9 of weight 2, 3, 5: below .2, .5 and 1. The chance node lies at depth 1; seed 0:
    # .7002 9, .7714 9, .3772 2, .2611 2, .2824 2, .6295 9, .6657 9, .1031 4.
    # 4 once, 2 three times, 9 four times: W = 1 + 3·.5 − 4·.5 = .5.
    ends = [(4, 2, terminal(1, -1)), (2, 3, terminal(0.5, -0.5)), (9, 5, terminal(-0.5, 0.5))]
    result = search_tree(
        decision(0, {0: chance(ends, "C")}, "r"), Scripted({"r": ZERO}), num_simulations=8, seed=0, **HALF
    )
    check(result, [8], [0.0625], (0.5 / 9, -0.5 / 9))
    check_node(node_at(result, 0), "chance", -1, 8, (0.0625, -0.0625))
    for outcome, visits, probability, value in ((4, 1, 0.2, 1.0), (2, 3, 0.3, 0.5), (9, 4, 0.5, -0.5)):
        end = node_at(result, 0, outcome)
        check_node(end, "terminal", -4, visits, (value, -value))
        assert end["probability"] == approx(probability)
    check_stats(result, evaluations=1, nodes=5, depth=2)
    check_stats(result, chance_nodes=1, chance_visits=8, chance_children=3, outcome_counts={3: 1})


@pytest.mark.parametrize("afterstates", [NONE, ESTIMATE, EXACT])
def test_chance_at_the_root(search_tree: Any, afterstates: Any) -> None:
    # Outcomes 10 (weight 4) → D, 20 (5) → end −.5, 30 (1) → end 1: below .4, .9, 1. Depth 0, seed 1:
    # .2034 10: D is a leaf, .2.   .7798 20.   .3378 10: D (player 1), tie → 0: end (.5, −.5).   .4149 20.   .7996 20.
    # 10: 2 visits, .7; 20: 3 visits, −1.5; 30: none. Total −.8 in 5 visits.
    # An evaluator that knows afterstates values the root too (.7; player 0 looks, as nobody has acted): −.1 in 6
    # visits; the root is expanded even where that value is EXACT.
    # CHOICE: chance_visits is the sum of node visits, so the root's own evaluation counts in it.
    inner = decision(1, {0: terminal(0.5, -0.5), 1: terminal(-1, 1)}, "D")
    root = chance([(10, 4, inner), (20, 5, terminal(-0.5, 0.5)), (30, 1, terminal(1, -1))], "c")
    asked = Scripted({"c": (None, (0.7, -0.7)), "D": (None, (0.2, -0.2))}, afterstates=afterstates)
    result = search_tree(root, asked, num_simulations=5, seed=1, **HALF)
    own = afterstates != NONE
    total, visits = (-0.1, 6) if own else (-0.8, 5)
    assert len(result.actions) == len(result.visits) == len(result.q) == len(result.priors) == 0
    assert result.best_action is None
    assert result.value.tolist() == approx([total / visits, -total / visits])
    assert [(o.outcome, o.visits) for o in result.outcomes] == [(10, 2), (20, 3), (30, 0)]
    assert [o.probability for o in result.outcomes] == approx([0.4, 0.5, 0.1])
    assert result.outcomes[0].value.tolist() == approx([0.35, -0.35])
    assert result.outcomes[1].value.tolist() == approx([-0.5, 0.5])
    assert result.outcomes[2].value is None
    check_node(result.tree(depth=1).root, "chance", -1, visits, (total / visits, -total / visits), below=(10, 20))
    check_node(node_at(result, 10), "decision", 1, 2, (0.35, -0.35))
    check_stats(result, simulations=5, evaluations=1 + own, expansions=1, nodes=4, depth=2)
    check_stats(result, chance_nodes=1, chance_visits=visits, chance_children=2, outcome_counts={2: 1})
    assert asked.asked == ([["c"]] if own else []) + [["D"]]


def test_two_chance_events_in_a_row(search_tree: Any) -> None:
    # r → C1 (depth 1): 0 of weight 7 → C2, 1 of weight 3 → end −1.
    # C2 (depth 2): 0 of weight 3 → end 1, 1 of weight 2 → D (player 1; one action, to .5; own value .25). Seed 2:
    # depth 1: .2204 0   .5555 0   .7172 1    .5635 0   .7258 1   .2623 0      (below .7: 0)
    # depth 2: .6933 1   .5734 0   –          .2290 0   –         .7292 1      (below .6: 0)
    # value:   D .25     1         −1         1         −1        D → .5       sum .75
    # C2: 4 visits, .25 + 1 + 1 + .5 = 2.75.  D: 2 visits, .75.
    inner = decision(1, {0: terminal(0.5, -0.5)}, "D")
    second = chance([(0, 3, terminal(1, -1)), (1, 2, inner)], "C2")
    root = decision(0, {0: chance([(0, 7, second), (1, 3, terminal(-1, 1))], "C1")}, "r")
    result = search_tree(root, Scripted({"r": ZERO, "D": (None, (0.25, -0.25))}), num_simulations=6, seed=2, **HALF)
    check(result, [6], [0.125], (0.75 / 7, -0.75 / 7))
    check_node(node_at(result, 0), "chance", -1, 6, (0.125, -0.125))
    check_node(node_at(result, 0, 0), "chance", -1, 4, (0.6875, -0.6875))
    check_node(node_at(result, 0, 1), "terminal", -4, 2, (-1.0, 1.0))
    check_node(node_at(result, 0, 0, 0), "terminal", -4, 2, (1.0, -1.0))
    check_node(node_at(result, 0, 0, 1), "decision", 1, 2, (0.375, -0.375))
    check_stats(result, evaluations=2, expansions=2, nodes=7, depth=4)
    check_stats(result, chance_nodes=2, chance_visits=10, chance_children=4, outcome_counts={2: 2})


# How values of the evaluator are used.


def test_estimated_afterstate(search_tree: Any) -> None:
    # r: 0 → C (estimate .4), outcome 7 → D (player 1; own value −.2; one action, to .6);  1 → end 0.
    # i  N  .5·√N    action 0                   action 1                   what happens             n  W   scaled mean
    # 1  1  .5       tie → 0                                               C is a leaf: .4          1  .4  .7
    # 2  2  .70711   .7 + .35355 = 1.05355      .5 + .70711 → 1
    # 3  3  .86603   .7 + .43301 → 0            .5 + .43301                through C: D leaf, −.2   2  .2  .55
    # 4  4  1        .55 + 1/3 = .88333         .5 + .5 → 1
    # 5  5  1.11803  .55 + .37268 = .92268 → 0  .5 + .37268 = .87268       C, D, end .6             3  .8
    inner = decision(1, {0: terminal(0.6, -0.6)}, "D")
    root = decision(0, {0: chance([(7, 1, inner)], "C"), 1: terminal(0, 0)}, "r")
    script = {"r": ZERO, "C": (None, (0.4, -0.4)), "D": (None, (-0.2, 0.2))}
    asked = Scripted(script, afterstates=ESTIMATE)
    result = search_tree(root, asked, num_simulations=5, **HALF)
    check(result, [3, 2], [0.8 / 3, 0.0], (0.8 / 6, -0.8 / 6))
    assert asked.asked == [["r"], ["C"], ["D"]]
    check_node(node_at(result, 0), "chance", -1, 3, (0.8 / 3, -0.8 / 3))
    check_node(node_at(result, 0, 7), "decision", 1, 2, (0.2, -0.2))
    check_stats(result, evaluations=3, expansions=2, nodes=5, depth=3)
    check_stats(result, chance_nodes=1, chance_visits=3, chance_children=1, outcome_counts={1: 1})


def test_exact_afterstate(search_tree: Any) -> None:
    # The same tree, but C's .4 is exact: scaled .7 at every visit, evaluated once, nothing below.
    # i = 1 → 0;  2 → 1 as before;  3: .7 + .43301, .5 + .43301 → 0;  4: .7 + 1/3 = 1.03333, .5 + .5 = 1 → 0;
    # 5: .7 + 1.11803/4 = .97951, .5 + .55902 = 1.05902 → 1.  Total 3·.4.
    # CHOICE: a chance node without stored children counts in outcome_counts, as {0: 1}.
    inner = decision(1, {0: terminal(0.6, -0.6)}, "D")
    root = decision(0, {0: chance([(7, 1, inner)], "C"), 1: terminal(0, 0)}, "r")
    asked = Scripted({"r": ZERO, "C": (None, (0.4, -0.4))}, afterstates=EXACT)
    result = search_tree(root, asked, num_simulations=5, **HALF)
    check(result, [3, 2], [0.4, 0.0], (0.2, -0.2))
    assert asked.asked == [["r"], ["C"]]
    check_stats(result, evaluations=2, expansions=1, nodes=3, depth=1)
    check_stats(result, chance_nodes=1, chance_visits=3, chance_children=0, outcome_counts={0: 1})


def test_viewer_of_an_afterstate_is_the_player_that_acted_last(search_tree: Any) -> None:
    # r (0) → D (1) → C → end 1. Values by player: D (.25, −.25), C (.5, −.5), both seen by player 1, so in seats
    # (−.25, .25) and (−.5, .5). Simulations end at D, C, the end: .25 + .5 + 1 = 1.75.
    inner = decision(1, {0: chance([(0, 1, terminal(1, -1))], "C")}, "D")
    script = {"r": ZERO, "D": (None, (0.25, -0.25)), "C": (None, (0.5, -0.5))}
    asked = Scripted(script, afterstates=ESTIMATE)
    result = search_tree(decision(0, {0: inner}, "r"), asked, num_simulations=3, **HALF)
    check(result, [3], [1.75 / 3], (1.75 / 4, -1.75 / 4))
    assert asked.asked == [["r"], ["D"], ["C"]]
    check_node(node_at(result, 0, 0), "chance", -1, 2, (0.75, -0.75))


def test_exact_decisions(search_tree: Any) -> None:
    # r: 0 → D, whose .3 is exact (scaled .65); 1 → end 0. The root is expanded all the same.
    # i = 1: tie → 0.  2: .65 + .35355, .5 + .70711 → 1.  3: .65 + .43301, .5 + .43301 → 0.
    # 4: .65 + 1/3 = .98333, .5 + .5 = 1 → 1.  5: .65 + .37268, .5 + .37268 → 0.  Total 3·.3.
    # CHOICE: D gets no edges, so it is no expansion.
    inner = decision(1, {0: terminal(1, -1), 1: terminal(-1, 1)}, "D")
    asked = Scripted({"r": ZERO, "D": (None, (0.3, -0.3))}, decisions=EXACT)
    result = search_tree(decision(0, {0: inner, 1: terminal(0, 0)}, "r"), asked, num_simulations=5, **HALF)
    check(result, [3, 2], [0.3, 0.0], (0.15, -0.15))
    assert asked.asked == [["r"], ["D"]]
    check_stats(result, evaluations=2, expansions=1, nodes=3, depth=1)


def test_uniform_values_are_the_returns_so_far(search_tree: Any) -> None:
    # Returns so far: r .1, A .2, B −.4; A (player 1) leads to 1. Equal priors, first_play "parent".
    # i = 1: tie → 0: .2 (scaled .6); the root's mean is .15, scaled .575.
    # i = 2, N = 2: .6 + .35355 = .95355, .575 + .70711 → 1: −.4 (scaled .3).
    # i = 3, N = 3: .6 + .43301, .3 + .43301 → 0: through A to the end, 1.
    # Total .1 + .2 − .4 + 1 = .9.
    a = decision(1, {0: terminal(1, -1)}, "A", interim=(0.2, -0.2))
    b = decision(1, {0: terminal(-1, 1)}, "B", interim=(-0.4, 0.4))
    root = decision(0, {0: a, 1: b}, "r", interim=(0.1, -0.1))
    result = search_tree(root, aleazero.Uniform(), num_simulations=3, c=1.0, first_play="parent")
    check(result, [2, 1], [0.6, -0.4], (0.225, -0.225))
    assert result.priors.tolist() == approx([0.5, 0.5])
    check_stats(result, evaluations=3, expansions=3, nodes=4, depth=2)


@pytest.mark.parametrize("playouts", [1, 3])
def test_rollouts_without_choices(search_tree: Any, playouts: int) -> None:
    # r (0): 0 → A (1) → B (0) → end .5;  1 → E (1) → end −1. From A and B every playout ends at .5, from E at −1.
    # i = 1: tie → 0: A leaf (scaled .75).  2: .75 + .35355, .5 + .70711 → 1: E leaf (scaled 0).
    # 3: .75 + .43301, 0 + .43301 → 0: B leaf.  4: .75 + 1/3, 0 + .5 → 0: the end.  5: .75 + .27951, 0 + .55902 → 0.
    # W: 4·.5 and −1. The root's own value is the mean of playouts that end at .5 or −1.
    a = decision(1, {0: decision(0, {0: terminal(0.5, -0.5)})})
    e = decision(1, {0: terminal(-1, 1)})
    result = search_tree(decision(0, {0: a, 1: e}), aleazero.Rollout(playouts=playouts), num_simulations=5, **HALF)
    assert result.visits.tolist() == [4, 1]
    assert result.q.tolist() == approx([0.5, -1.0])
    own = 6 * result.value[0] - 1
    ended_well = playouts * (own + 1) / 1.5
    assert ended_well == pytest.approx(round(ended_well), abs=1e-9)
    assert 0 <= round(ended_well) <= playouts
    check_stats(result, evaluations=4, expansions=4, nodes=5, depth=3)


def test_truncated_rollouts_have_the_returns_so_far(search_tree: Any) -> None:
    # A forced line r → A → B → end 1; returns so far A .1, B .2. One step from r: .1; from A: .2; from B: 1.
    # Root .1, then leaves A .2 and B 1, then the end 1: 2.3 in 4 visits.
    # CHOICE: the value of a truncated playout are the returns of its last state.
    b = decision(0, {0: terminal(1, -1)}, interim=(0.2, -0.2))
    a = decision(1, {0: b}, interim=(0.1, -0.1))
    result = search_tree(decision(0, {0: a}), aleazero.Rollout(max_steps=1), num_simulations=3, **HALF)
    check(result, [3], [2.2 / 3], (2.3 / 4, -2.3 / 4))


# Budgets.


def test_max_depth(search_tree: Any) -> None:
    # The tree of test_exact_decisions, whose D (.3) lies at the greatest depth: the same numbers, but D is evaluated
    # at each of its 3 visits.
    inner = decision(1, {0: terminal(1, -1), 1: terminal(-1, 1)}, "D")
    asked = Scripted({"r": ZERO, "D": (None, (0.3, -0.3))})
    root = decision(0, {0: inner, 1: terminal(0, 0)}, "r")
    result = search_tree(root, asked, num_simulations=5, max_depth=1, **HALF)
    check(result, [3, 2], [0.3, 0.0], (0.15, -0.15))
    assert asked.asked == [["r"], ["D"], ["D"], ["D"]]
    check_stats(result, simulations=5, evaluations=4, expansions=1, nodes=3, depth=1)


@pytest.mark.parametrize(("in_flight", "collisions"), [(1, 0), (2, 2)])
def test_chance_continues_at_max_depth(search_tree: Any, in_flight: int, collisions: int) -> None:
    # r → C at depth 1, the greatest; C is not evaluated but passed, and D at depth 2 is evaluated at every visit: 3·.3.
    # Two in flight: each descent after D has joined the batch meets it there, for simulations 2 and 3.
    root = decision(0, {0: chance([(0, 1, decision(1, {0: terminal(1, -1)}, "D"))], "C")}, "r")
    asked = Scripted({"r": ZERO, "D": (None, (0.3, -0.3))})
    result = search_tree(root, asked, num_simulations=3, max_depth=1, in_flight=in_flight, **HALF)
    check(result, [3], [0.3], (0.9 / 4, -0.9 / 4))
    assert asked.asked == [["r"], ["D"], ["D"], ["D"]]
    check_stats(result, evaluations=4, expansions=1, nodes=3, depth=2, collisions=collisions)
    check_stats(result, chance_visits=3, chance_children=1, outcome_counts={1: 1})


# In flight. These tests share a tree: r (0) → A, B, C (player 1) → A2, B2, C2 (player 0) → ends 1, −1, 0.
# Priors .5, .3, .2.  Values: A −.3 (scaled .35), B .5 (.75), C .1 (.55), A2 .5, B2 −.6, C2 0.

WORTH = {"A": -0.3, "B": 0.5, "C": 0.1, "A2": 0.5, "B2": -0.6, "C2": 0.0}
FLIGHT = {"r": ({0: 0.5, 1: 0.3, 2: 0.2}, (0.0, 0.0)), **{name: (None, (x, -x)) for name, x in WORTH.items()}}


def flight_tree() -> Any:
    a2, b2, c2 = (decision(0, {0: terminal(x, -x)}, name) for name, x in (("A2", 1.0), ("B2", -1.0), ("C2", 0.0)))
    return decision(0, {0: decision(1, {0: a2}, "A"), 1: decision(1, {0: b2}, "B"), 2: decision(1, {0: c2}, "C")}, "r")


def test_two_in_flight_with_a_collision(search_tree: Any) -> None:
    # i  N  √N       action 0                   action 1                       action 2
    # 1  1  1        .5 + .5 → 0: A waits       .5 + .3                        .5 + .2
    # 2  2  1.41421  .5 + .70711/2 = .85355     .5 + .42426 → 1: B waits       .5 + .28284 = .78284
    #    A and B are evaluated together.
    # 3  3  1.73205  .35 + .86603/2 = .78301    .75 + .51962/2 = 1.00981 → 1   .5 + .34641 = .84641    B2 waits
    # 4  4  2        .35 + 1/2 = .85            .75 + .6/3 = .95 → 1           .5 + .4 = .9
    #    B2 waits already: a collision. B2 is evaluated; edge 1: W = .5 − .6 = −.1, mean −.05, scaled .475.
    # 4  4  2        .35 + 1/2 = .85            .475 + .6/3 = .675             .5 + .4 = .9 → 2: C
    # Total −.3 − .1 + .1 = −.3.
    asked = Scripted(FLIGHT)
    result = search_tree(flight_tree(), asked, num_simulations=4, in_flight=2, **HALF)
    check(result, [1, 2, 1], [-0.3, -0.05, 0.1], (-0.06, 0.06))
    assert asked.asked == [["r"], ["A", "B"], ["B2"], ["C"]]
    check_stats(result, simulations=4, evaluations=5, expansions=5, nodes=5, depth=2, collisions=1)
    check_node(node_at(result, 1), "decision", 1, 2, (-0.05, 0.05))
    check_node(node_at(result, 1, 0), "decision", 0, 1, (-0.6, 0.6))


def test_three_in_flight_counted(search_tree: Any) -> None:
    # 1 and 2 as before. 3, N = 3: .5 + .86603/2 = .93301 → 0, .5 + .51962/2 = .75981, .5 + .34641 = .84641:
    # A waits already: a collision. A and B are evaluated; 3 again: .78301, 1.00981 → 1, .84641: B2.
    # Total −.3 + .5 − .6 = −.4.
    asked = Scripted(FLIGHT)
    result = search_tree(flight_tree(), asked, num_simulations=3, in_flight=3, **HALF)
    check(result, [1, 2, 0], [-0.3, -0.05, nan], (-0.1, 0.1))
    assert asked.asked == [["r"], ["A", "B"], ["B2"]]
    check_stats(result, simulations=3, evaluations=4, collisions=1, nodes=4)


@pytest.mark.parametrize("selection", ["puct", "uct"])
def test_waiting_visits_count_in_the_node_and_in_the_edge(search_tree: Any, selection: str) -> None:
    # r (0): 0 → A .31 (scaled .655) → A2 .5;  1 → B 0 (.5) → B2 −.6. Equal priors, two in flight.
    # puct: 1: tie → 0: A waits.  2, N = 2: .5 + .70711/2, .5 + .70711 → 1: B waits. A and B are evaluated.
    #   3, N = 3: .655 + .43301 → 0, .5 + .43301: A2 waits.
    #   4, N = 4: .655 + 1/3 = .98833, .5 + 1/2 = 1 → 1: B2 waits.
    #     (N = 3, without what waits, would say 0: .655 + .86603/3 = .94368, .5 + .86603/2 = .93301.)
    # uct: 1 → 0 and 2 → 1, untried.  3: ln 3 / 1 alike, so the better: 0.
    #   4, ln 4 = 1.38629: .655 + √.69315 = 1.48756, .5 + √1.38629 = 1.67741 → 1.  (Without the waiting visit 0 stays
    #     ahead.)
    # Total .31 + .5 + 0 − .6 = .21.
    below = [decision(0, {0: terminal(0, 0)}, name) for name in ("A2", "B2")]
    root = decision(0, {0: decision(1, {0: below[0]}, "A"), 1: decision(1, {0: below[1]}, "B")}, "r")
    worth = {"A": 0.31, "A2": 0.5, "B": 0.0, "B2": -0.6}
    asked = Scripted({"r": ZERO, **{name: (None, (x, -x)) for name, x in worth.items()}})
    result = search_tree(root, asked, num_simulations=4, in_flight=2, selection=selection, **HALF)
    check(result, [2, 2], [0.405, -0.3], (0.042, -0.042))
    assert asked.asked == [["r"], ["A", "B"], ["A2", "B2"]]
    check_stats(result, evaluations=5, collisions=0, nodes=5)


def test_a_collision_leaves_nothing_in_flight(search_tree: Any) -> None:
    # r (0): 0 → A −.8 (scaled .1) → A2 −.6;  1 → end 0. Priors .9, .1; two in flight.
    # 1: .5 + .9 → 0: A waits.  2, N = 2: .5 + 1.27279/2 = 1.13640 → 0, .5 + .14142: A waits already. A is evaluated.
    # 2 again, N = 2: .1 + 1.27279/2 = .73640 → 0, .5 + .14142 = .64142: A2.
    #   (Did edge 0 still count the collided descent, N = 3: .1 + 1.55885/3 = .61962, .5 + .17321 → 1.)
    inner = decision(1, {0: decision(0, {0: terminal(0, 0)}, "A2")}, "A")
    script = {"r": ({0: 0.9, 1: 0.1}, (0.0, 0.0)), "A": (None, (-0.8, 0.8)), "A2": (None, (-0.6, 0.6))}
    asked = Scripted(script)
    result = search_tree(decision(0, {0: inner, 1: terminal(0, 0)}, "r"), asked, num_simulations=2, in_flight=2, **HALF)
    check(result, [2, 0], [-0.7, nan], (-1.4 / 3, 1.4 / 3))
    assert asked.asked == [["r"], ["A"], ["A2"]]
    check_stats(result, simulations=2, evaluations=3, collisions=1, nodes=3)


def test_virtual_loss(search_tree: Any) -> None:
    # A waiting visit is a lost one: q = n·Q/(n + o).
    # i  N  √N       action 0                        action 1                         action 2
    # 1  1  1        .5 + .5 → 0: A waits            .5 + .3                          .5 + .2
    # 2  2  1.41421  0 + .70711/2 = .35355           .5 + .42426 → 1: B waits         .5 + .28284 = .78284
    # 3  3  1.73205  0 + .86603/2 = .43301           0 + .51962/2 = .25981            .5 + .34641 → 2: C waits
    #    A, B, C are evaluated.
    # 4  4  2        .35 + 1/2 = .85                 .75 + .6/2 = 1.05 → 1: B2 waits  .55 + .4/2 = .75
    # 5  5  2.23607  .35 + 1.11803/2 → 0: A2 waits   .75/2 + .67082/3 = .59861        .55 + .44721/2 = .77361
    # 6  6  2.44949  .35/2 + 1.22474/3 = .58325      .75/2 + .73485/3 = .61995        .55 + .48990/2 → 2: C2 waits
    #    B2, A2, C2 are evaluated: W = (.2, −.1, .1), scaled means .55, .475, .525. Nothing waits any more.
    # 7  7  2.64575  .55 + 1.32288/3 = .99096 → 0    .475 + .79373/3 = .73958         .525 + .52915/3 = .70138
    #    through A and A2 to the end 1, at once.
    # Total .2 − .1 + .1 + 1 = 1.2.
    asked = Scripted(FLIGHT)
    settings = {"in_flight": 3, "in_flight_mode": "virtual_loss", **HALF}
    result = search_tree(flight_tree(), asked, num_simulations=7, **settings)
    check(result, [3, 2, 2], [0.4, -0.05, 0.05], (0.15, -0.15))
    assert asked.asked == [["r"], ["A", "B", "C"], ["B2", "A2", "C2"]]
    check_stats(result, simulations=7, evaluations=7, expansions=7, nodes=8, depth=3, collisions=0)
    assert result.stopped is None


@pytest.mark.parametrize(
    ("most", "visits", "total", "batches"),
    [
        (1, (0, 0, 0), 0.0, 1),
        (3, (1, 1, 0), 0.2, 2),  # A and B: −.3 + .5
        (4, (1, 1, 1), 0.3, 2),  # and C: + .1
        (7, (2, 2, 2), 0.2, 3),  # all six; the seventh would cost nothing, but the search is over
    ],
)
def test_max_evaluations(search_tree: Any, most: int, visits: Any, total: float, batches: int) -> None:
    # The search of test_virtual_loss, stopped early. The root's evaluation counts.
    asked = Scripted(FLIGHT)
    settings = {"in_flight": 3, "in_flight_mode": "virtual_loss", **HALF}
    result = search_tree(flight_tree(), asked, num_simulations=7, max_evaluations=most, **settings)
    done = sum(visits)
    sums = [-0.3 + 0.5 * (visits[0] == 2), 0.5 - 0.6 * (visits[1] == 2), 0.1]
    q = [w / n if n else nan for w, n in zip(sums, visits, strict=True)]
    check(result, visits, q, (total / (1 + done), -total / (1 + done)))
    check_stats(result, simulations=done, evaluations=most, collisions=0)
    assert result.stopped == "evaluations"
    waves = [["r"], ["A", "B", "C"][: most - 1], ["B2", "A2", "C2"]]
    assert asked.asked == waves[:batches]


def test_collided_descent_is_repeated_with_the_same_draws(search_tree: Any) -> None:
    # r → C (depth 1; outcomes 0 and 1 alike): 0 → D (1) → end 1;  1 → F (1) → G (0) → end −1. Values .1, .2, .3.
    # Two in flight; seed 2 draws 0, 1, 1, 1, 1, 0 (.2204 .5555 .7172 .5635 .7258 .2623), then 0.
    # Simulations 1, 2: D and F wait, and are evaluated. 3: G waits. 4: G waits already: a collision; G is evaluated.
    # 4, again with outcome 1: end −1.  5: end −1.  6: end 1.
    # Outcome 0 twice, outcome 1 four times (with fresh draws for each try: 0, 1, 1, 1, 0, 0).
    # Total .1 + .2 + .3 − 1 − 1 + 1 = −.4.
    d = decision(1, {0: terminal(1, -1)}, "D")
    f = decision(1, {0: decision(0, {0: terminal(-1, 1)}, "G")}, "F")
    asked = Scripted({"r": ZERO, "D": (None, (0.1, -0.1)), "F": (None, (0.2, -0.2)), "G": (None, (0.3, -0.3))})
    root = decision(0, {0: chance([(0, 1, d), (1, 1, f)], "C")}, "r")
    result = search_tree(root, asked, num_simulations=6, seed=2, in_flight=2, **HALF)
    check(result, [6], [-0.4 / 6], (-0.4 / 7, 0.4 / 7))
    assert asked.asked == [["r"], ["D", "F"], ["G"]]
    check_node(node_at(result, 0, 0), "decision", 1, 2, (0.55, -0.55))
    check_node(node_at(result, 0, 1), "decision", 1, 4, (-1.5 / 4, 1.5 / 4))
    check_stats(result, simulations=6, evaluations=4, expansions=4, nodes=7, depth=4, collisions=1)
    check_stats(result, chance_nodes=1, chance_visits=6, chance_children=2, outcome_counts={2: 1})


# Open loop: outcomes share statistics.


def open_children(node: dict[str, Any], kind: str, player: int) -> dict[str, Any]:
    """The one child of this kind and mover."""
    (child,) = [c for c in node["children"] if (c["kind"], c["player"]) == (kind, player)]
    return child


def test_open_loop_shares_a_node_between_outcomes(search_tree: Any) -> None:
    # r → C (depth 1; outcomes 0 and 1 alike).  0 → D: player 1 has 0 → end (.6, −.6), 1 → end (−.2, .2).
    # 1 → F: player 1 has 1 → end (−.8, .8), 2 → end (.4, −.4).  D and F are one node M.
    # D's value (.1, −.1), priors .6, .4: slot weights 1.2 and .8. Slot 2 comes later: weight 1.
    # So at D the priors are .6, .4; at F .8/1.8 = 4/9 and 5/9. Seed 3 draws 0 1 0 1 0 1 0 0 1.
    # i         N          √N       scores                                                      value of player 0
    # 1  D      leaf, evaluated as D                                                                  .1
    # 2  F      1          1        1: .5 + .44444;  2: .5 + .55556 → 2 (player 1: −.4, Q .3)       .4
    # 3  D      1          1        0: .5 + .6 → 0 (−.6, Q .2);  1: .5 + .4                         .6
    # 4  F      1 + 0 + 1  1.41421  1: .5 + .62854 → 1 (.8, Q .9);  2: .3 + .78567/2 = .69284      −.8
    # 5  D      1 + 1 + 1  1.73205  0: .2 + 1.03923/2 = .71962;  1: .9 + .69282/2 = 1.24641 → 1    −.2
    #      edge 1: W = .8 + .2, mean .5, Q .75
    # 6  F      1 + 2 + 1  2        1: .75 + .88889/3 = 1.04630 → 1;  2: .3 + 1.11111/2 = .85556   −.8
    #      edge 1: W = 1.8, mean .6, Q .8
    # 7  D      1 + 1 + 3  2.23607  0: .2 + 1.34164/2 = .87082;  1: .8 + .89443/4 = 1.02361 → 1    −.2
    #      edge 1: W = 2, mean .5, Q .75
    # 8  D      1 + 1 + 4  2.44949  0: .2 + 1.46969/2 = .93485;  1: .75 + .97980/5 = .94596 → 1    −.2
    #      edge 1: W = 2.2, mean .44, Q .72
    # 9  F      1 + 5 + 1  2.64575  1: .72 + 1.17589/6 = .91598;  2: .3 + 1.46986/2 = 1.03493 → 2   .4
    # Sum −.7. Edges of M: 0 once (.6), 1 five times (−.8 − .2 − .8 − .2 − .2 = −2.2), 2 twice (.4).
    d = decision(1, {0: terminal(0.6, -0.6), 1: terminal(-0.2, 0.2)}, "D")
    f = decision(1, {1: terminal(-0.8, 0.8), 2: terminal(0.4, -0.4)}, "F")
    root = decision(0, {0: chance([(0, 1, d), (1, 1, f)], "C")}, "r")
    asked = Scripted({"r": ZERO, "D": ({0: 0.6, 1: 0.4}, (0.1, -0.1))})
    result = search_tree(root, asked, loop="open", num_simulations=9, seed=3, **HALF)
    check(result, [9], [-0.7 / 9], (-0.07, 0.07))
    assert asked.asked == [["r"], ["D"]]
    shared = open_children(result.tree(depth=3).root["children"][0], "decision", 1)
    check_node(shared, "decision", 1, 9, (-0.7 / 9, 0.7 / 9), below=(0, 1, 2))
    seen = {child["label"]: (child["visits"], child["value"][0]) for child in shared["children"]}
    assert seen == {0: (1, approx(0.6)), 1: (5, approx(-0.44)), 2: (2, approx(0.4))}
    check_stats(result, simulations=9, evaluations=2, expansions=2, nodes=6, depth=3)
    check_stats(result, chance_nodes=1, chance_visits=9, chance_children=1, outcome_counts={1: 1})


def test_open_loop_keeps_movers_and_ends_apart(search_tree: Any) -> None:
    # r → C, four outcomes alike: 0 → D (player 0) → end 1;  1 → F (player 1) → end −.4;  2 → end .5;  3 → end −.5.
    # Seed 3: .4778 1, .7995 3, .2941 1, .9521 3, .0931 0, .8994 3, .3076 1, .3988 1, .5489 2:
    #         F .1     −.5      −.4      −.5      D .2     −.5      −.4      −.4      .5        sum −1.9
    # Three nodes under C: F's (4 visits, .1 − 1.2 = −1.1), D's (1, .2), the ends' (4, −1.5 + .5 = −1).
    # CHOICE: ends have no mover, so all ends after one chance node share a node.
    d = decision(0, {0: terminal(1, -1)}, "D")
    f = decision(1, {0: terminal(-0.4, 0.4)}, "F")
    ends = [(2, 1, terminal(0.5, -0.5)), (3, 1, terminal(-0.5, 0.5))]
    root = decision(0, {0: chance([(0, 1, d), (1, 1, f), *ends], "C")}, "r")
    asked = Scripted({"r": ZERO, "D": (None, (0.2, -0.2)), "F": (None, (0.1, -0.1))})
    result = search_tree(root, asked, loop="open", num_simulations=9, seed=3, **HALF)
    check(result, [9], [-1.9 / 9], (-0.19, 0.19))
    assert asked.asked == [["r"], ["F"], ["D"]]
    event = result.tree(depth=2).root["children"][0]
    check_node(event, "chance", -1, 9, (-1.9 / 9, 1.9 / 9))
    check_node(open_children(event, "decision", 0), "decision", 0, 1, (0.2, -0.2))
    check_node(open_children(event, "decision", 1), "decision", 1, 4, (-0.275, 0.275))
    check_node(open_children(event, "terminal", -4), "terminal", -4, 4, (-0.25, 0.25))
    check_stats(result, evaluations=3, expansions=3, nodes=6, depth=3)
    check_stats(result, chance_nodes=1, chance_visits=9, chance_children=3, outcome_counts={3: 1})


def test_open_loop_an_action_leads_to_different_kinds(search_tree: Any) -> None:
    # r → C (alike): 0 → D (player 0): 0 → E (player 1) → end .8;  1 → F (player 0): 0 → end −.6. D and F share M, whose
    # edge 0 has two children. Seed 3 draws 0 1 0 1 0: M as D .2;  end −.6;  E .4;  end −.6;  through E .8.
    # Sum .2.
    d = decision(0, {0: decision(1, {0: terminal(0.8, -0.8)}, "E")}, "D")
    f = decision(0, {0: terminal(-0.6, 0.6)}, "F")
    root = decision(0, {0: chance([(0, 1, d), (1, 1, f)], "C")}, "r")
    asked = Scripted({"r": ZERO, "D": (None, (0.2, -0.2)), "E": (None, (0.4, -0.4))})
    result = search_tree(root, asked, loop="open", num_simulations=5, seed=3, **HALF)
    check(result, [5], [0.04], (0.2 / 6, -0.2 / 6))
    assert asked.asked == [["r"], ["D"], ["E"]]
    shared = open_children(result.tree(depth=3).root["children"][0], "decision", 0)
    check_node(shared, "decision", 0, 5, (0.04, -0.04))
    assert [child["label"] for child in shared["children"]] == [0, 0]
    check_node(open_children(shared, "terminal", -4), "terminal", -4, 2, (-0.6, 0.6))
    check_node(open_children(shared, "decision", 1), "decision", 1, 2, (0.6, -0.6))
    check_stats(result, evaluations=3, expansions=3, nodes=6, depth=4)


def test_open_loop_chance_at_the_root(search_tree: Any) -> None:
    # Outcomes 0 → D and 1 → F alike, both player 1's, with one action, to .6 and −.8. Depth 0,
    # seed 3 draws 0 1 0 0 1 0 (.4533 .7901 .2174 .4938 .8558 .0941).
    # M is evaluated as D: .1.  Then −.8, .6, .6, −.8, .6.  Outcome 0: 4 visits, 1.9; outcome 1: 2 visits, −1.6.
    d = decision(1, {0: terminal(0.6, -0.6)}, "D")
    f = decision(1, {0: terminal(-0.8, 0.8)}, "F")
    asked = Scripted({"D": (None, (0.1, -0.1))})
    result = search_tree(chance([(0, 1, d), (1, 1, f)], "c"), asked, loop="open", num_simulations=6, seed=3, **HALF)
    assert result.value.tolist() == approx([0.05, -0.05])
    assert [(o.outcome, o.probability, o.visits) for o in result.outcomes] == [(0, 0.5, 4), (1, 0.5, 2)]
    assert result.outcomes[0].value.tolist() == approx([0.475, -0.475])
    assert result.outcomes[1].value.tolist() == approx([-0.8, 0.8])
    assert asked.asked == [["D"]]
    shared = open_children(result.tree(depth=1).root, "decision", 1)
    check_node(shared, "decision", 1, 6, (0.05, -0.05))
    check_stats(result, simulations=6, evaluations=1, expansions=1, nodes=3, depth=2)
    check_stats(result, chance_nodes=1, chance_visits=6, chance_children=1, outcome_counts={1: 1})


@pytest.mark.parametrize("how", ["exact", "max_depth"])
def test_open_loop_evaluates_each_state(search_tree: Any, how: str) -> None:
    # r → C (alike): 0 → D .1, 1 → F −.3, one node. Where nothing is expanded there, because decisions are exact or
    # too deep, each visit asks with its own state: seed 3 draws 0 1 0: .1 − .3 + .1 = −.1.
    # CHOICE: for exact decisions this follows from ruling 4.
    d = decision(1, {0: terminal(1, -1)}, "D")
    f = decision(1, {0: terminal(-1, 1)}, "F")
    root = decision(0, {0: chance([(0, 1, d), (1, 1, f)], "C")}, "r")
    script = {"r": ZERO, "D": (None, (0.1, -0.1)), "F": (None, (-0.3, 0.3))}
    asked = Scripted(script, decisions=EXACT if how == "exact" else ESTIMATE)
    depth = 2 if how == "max_depth" else 200
    result = search_tree(root, asked, loop="open", num_simulations=3, seed=3, max_depth=depth, **HALF)
    check(result, [3], [-0.1 / 3], (-0.025, 0.025))
    assert asked.asked == [["r"], ["D"], ["F"], ["D"]]
    check_stats(result, evaluations=4, expansions=1, nodes=3, depth=2)


def test_open_loop_evaluates_exact_afterstates_again(search_tree: Any) -> None:
    # r → C, exact .4, at each of three visits: 1.2 in 4. (In closed loop C would be evaluated once.)
    root = decision(0, {0: chance([(0, 1, terminal(1, -1))], "C")}, "r")
    asked = Scripted({"r": ZERO, "C": (None, (0.4, -0.4))}, afterstates=EXACT)
    result = search_tree(root, asked, loop="open", num_simulations=3, **HALF)
    check(result, [3], [0.4], (0.3, -0.3))
    assert asked.asked == [["r"], ["C"], ["C"], ["C"]]
    check_stats(result, evaluations=4, expansions=1, nodes=2, depth=1, chance_visits=3, chance_children=0)


def test_open_loop_estimated_afterstate(search_tree: Any) -> None:
    # r → C (alike): 0 → D (player 1) → end .6;  1 → F (player 1) → end −1. Seed 3 draws 0 1 0: the first visit stops
    # at C, .5; the second goes on with 1 to the shared node, evaluated as F, −.2; the third with 0 through it to .6.
    d = decision(1, {0: terminal(0.6, -0.6)}, "D")
    f = decision(1, {0: terminal(-1, 1)}, "F")
    root = decision(0, {0: chance([(0, 1, d), (1, 1, f)], "C")}, "r")
    script = {"r": ZERO, "C": (None, (0.5, -0.5)), "F": (None, (-0.2, 0.2))}
    asked = Scripted(script, afterstates=ESTIMATE)
    result = search_tree(root, asked, loop="open", num_simulations=3, seed=3, **HALF)
    check(result, [3], [0.3], (0.225, -0.225))
    assert asked.asked == [["r"], ["C"], ["F"]]
    check_node(result.tree(depth=1).root["children"][0], "chance", -1, 3, (0.3, -0.3))
    check_stats(result, evaluations=3, expansions=2, nodes=4, depth=3, chance_children=1)


def test_open_loop_with_legal_actions_of_prior_zero_only(search_tree: Any) -> None:
    # r → C (alike): 0 → D (player 1), priors 1 and 0: 0 → end .6, 1 → end −.2.  1 → F (player 1): only 1 → end −.8.
    # Seed 3 draws 0 1 0: D .1;  F has one action, whose slot weighs 0: −.8 all the same;
    # D, N = 2: 0: .5 + 1.41421 → 0, 1: .9 + 0: .6.  Sum −.1.
    # CHOICE: weights that sum to 0 are no reason to stop; equal priors are then the natural reading.
    d = decision(1, {0: terminal(0.6, -0.6), 1: terminal(-0.2, 0.2)}, "D")
    f = decision(1, {1: terminal(-0.8, 0.8)}, "F")
    root = decision(0, {0: chance([(0, 1, d), (1, 1, f)], "C")}, "r")
    asked = Scripted({"r": ZERO, "D": ({0: 1.0, 1: 0.0}, (0.1, -0.1))})
    result = search_tree(root, asked, loop="open", num_simulations=3, seed=3, **HALF)
    check(result, [3], [-0.1 / 3], (-0.025, 0.025))
    assert asked.asked == [["r"], ["D"]]
