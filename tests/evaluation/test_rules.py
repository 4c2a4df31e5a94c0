from __future__ import annotations

import math

import numpy as np
import pytest
from pair_distributions import PAIRS, draw

import aleazero
from aleazero.evaluation.gate_rules import GateConfig, Hypotheses, judge_pairs, passes, rates_at, shifted
from aleazero.evaluation.statistics import SCORES

GATES = 2000
TEST = Hypotheses(0.5, 0.55, 0.05, 0.05, SCORES, 0.25)
BAND = 3 * math.sqrt(0.05 * 0.95 / GATES)
PIG = aleazero.load_game("pig")


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("pairs", [50, 200])
def test_the_fixed_rule_promotes_equal_players_as_often_as_stated(name, pairs):
    promoted = float(passes(draw(name, 0.5, GATES, pairs, seed=3), TEST).mean())
    assert promoted <= 0.05 + BAND
    if name != "nearly always split":
        assert promoted >= 0.05 - 2 * BAND


def test_a_threshold_of_55_percent_of_100_games_is_too_weak():
    """An equal candidate reaches it in one of five gates."""
    assert float((draw("independent games", 0.5, GATES, 50).mean(axis=1) >= 0.55).mean()) > 0.12


def test_shifted_distributions_have_the_requested_mean():
    pairs = np.array([0.5] * 8 + [0.0, 1.0])
    for mean in (0.3, 0.5, 0.55, 0.97):
        values, chances = shifted(pairs, mean, SCORES)
        assert values @ chances == pytest.approx(mean, abs=1e-9)
    values, chances = shifted(np.array([1.0, 5.0]), 10.0, None)
    assert (values @ chances, values.tolist()) == (10.0, [8.0, 12.0])


def test_simulated_rates_match_the_rule():
    pairs = draw("with draws", 0.5, 1, 500)[0]
    for rule, least in (("sprt", 0.85), ("fixed", 0.95)):
        config = GateConfig(rule=rule, pairs=600)
        equal, better = (rates_at(pairs, mean, config, TEST, 600) for mean in (0.5, 0.55))
        assert equal["promoted"] <= 0.05 + BAND
        assert better["promoted"] >= least
        for rates in (equal, better):
            assert rates["promoted"] + rates["kept"] + rates["undecided"] == pytest.approx(1.0, abs=1e-3)
    few = rates_at(pairs, 0.55, GateConfig(pairs=60), TEST, 60)
    assert few == rates_at(pairs, 0.55, GateConfig(pairs=60), TEST, 60)
    assert few["undecided"] > 0.3


def test_verdicts():
    config = GateConfig(pairs=100)
    assert judge_pairs(np.full(5, 0.75), config, PIG, last=False) is None
    undecided = judge_pairs(np.full(5, 0.75), config, PIG, last=True)
    assert (undecided.promoted, undecided.decided) == (False, False)
    assert undecided.reason == "undecided after 5 pairs"
    assert judge_pairs(np.full(60, 1.0), config, PIG, last=False).promoted
    kept = judge_pairs(np.full(60, 0.25), config, PIG, last=False)
    assert (kept.promoted, kept.decided) == (False, True)
    fixed = GateConfig(rule="fixed", pairs=20)
    assert judge_pairs(np.full(19, 1.0), fixed, PIG, last=False) is None
    assert judge_pairs(np.full(20, 1.0), fixed, PIG, last=True).promoted
    assert not judge_pairs(np.full(20, 0.5), fixed, PIG, last=True).promoted
