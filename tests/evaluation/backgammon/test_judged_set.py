"""The bundled set of judged decisions of backgammon: its contents, and error rates of known players on it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import aleazero
from aleazero.evaluation.errors import judged_set, make_judge, measure_errors, measure_on_set
from aleazero.evaluation.plays import plays_of
from aleazero.games.backgammon import position_id
from aleazero.games.backgammon.board import HIGH, LOW, SECOND
from aleazero.games.kit import kit_of
from aleazero.players.make import make_player


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game("backgammon")


@pytest.fixture(scope="module")
def judged(game):
    return judged_set(game, "standard")


def test_its_decisions_are_unforced_and_different(judged):
    assert Counter(one.source for one in judged) == {"gnubg:ply=0": 1500, "heuristic": 1000}
    keys = {(position_id(one.state), *one.state.vector[[HIGH, LOW]].tolist()) for one in judged}
    assert len(keys) == len(judged) == 2500
    assert all(len(one.values) > 1 and not one.state.vector[SECOND] for one in judged)
    assert max(float(np.abs(one.values).max()) for one in judged) <= 3.0
    classes = Counter(one.state.decision_class() for one in judged)
    assert min(classes.values()) > 100


def test_its_values_are_those_of_the_judge(game, judged):
    judge = make_judge("bgsage:ply=3", game)
    for one in judged[7::830]:
        plays, best = plays_of(one.state), int(np.argmax(one.values))
        values = judge.play_values(one.state, plays, [best])
        assert values[best] == pytest.approx(one.values[best], abs=1e-3)
        assert max(values) == pytest.approx(values[best], abs=1e-3)


BANDS = {"gnubg:ply=0": (3.4, 0.4), "bgsage:ply=1": (2.7, 0.4), "pubeval": (34.2, 2.0)}
"""Error rates, and how far other versions of numeric libraries may change them. Standard errors are 0.25, 0.2, 1.6."""


@pytest.mark.parametrize("spec", BANDS)
def test_error_rates_of_engines(game, judged, spec):
    mean, band = BANDS[spec]
    report = measure_on_set(make_player(spec, game), judged)
    assert 1000 * report.overall.loss.mean == pytest.approx(mean, abs=band)
    assert set(report.by_kind) == {"contact", "race", "bearoff"}
    assert report.by_kind["contact"].loss.mean > report.by_kind["race"].loss.mean


def test_judging_on_the_set_needs_no_engine(game, judged, monkeypatch):
    import sys

    for name in ("gnubg_nn", "gnubg", "bgsage"):
        monkeypatch.setitem(sys.modules, name, None)
    report = measure_on_set(make_player("random", game), judged[::10])
    assert 150 < 1000 * report.overall.loss.mean < 350


def test_other_numbers_of_checkers_have_no_set():
    kit = kit_of(aleazero.load_game("backgammon", checkers=3))
    assert (kit.judge, kit.judged) == (None, {})


@pytest.mark.long
def test_error_rates_in_own_games(game):
    found = {
        spec: measure_errors(spec, "bgsage:ply=2", game, decisions=600).overall.loss
        for spec in ("gnubg:ply=0", "bgsage:ply=1", "pubeval")
    }
    assert 1000 * found["gnubg:ply=0"].mean == pytest.approx(3.7, abs=4000 * found["gnubg:ply=0"].error)
    assert found["bgsage:ply=1"].mean < found["pubeval"].mean / 4
    assert found["gnubg:ply=0"].mean < found["pubeval"].mean / 4
