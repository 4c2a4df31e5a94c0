"""Error rates: plays, losses by an oracle as the judge, sets of judged decisions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import load, save

import aleazero
from aleazero import ConfigError, PositionError
from aleazero.evaluation import errors
from aleazero.evaluation.errors import (
    JudgedState,
    judge_of,
    judged_set,
    load_set,
    make_judge,
    measure_errors,
    measure_on_set,
    own_decisions,
    save_set,
)
from aleazero.evaluation.plays import plays_of
from aleazero.evaluation.regret import measure_regret
from aleazero.games.backgammon import from_position
from aleazero.oracles.oracle import require_oracle
from aleazero.players.make import make_player


@pytest.fixture(scope="module")
def pig():
    return aleazero.load_game("pig", target=15)


@pytest.fixture(scope="module")
def judged(pig):
    """Return decisions of random games with exact values, for tests of sets."""
    oracle = make_judge("oracle", pig)
    return [
        JudgedState(state, np.array(oracle.play_values(state, plays, ()), np.float32), "random")
        for chunk in range(2)
        for state, plays, _ in own_decisions(make_player("random", pig), pig, chunk)
    ]


# -- plays -------------------------------------------------------------------------------------------------------------


def test_a_play_is_one_action_if_chance_or_another_player_follows(pig):
    state = pig.new_initial_state()
    assert [play.actions for play in plays_of(state)] == [(action,) for action in state.legal_actions()]


def test_plays_of_a_double_are_two_actions_and_lead_to_different_boards():
    points = [0] * 24
    points[5], points[7] = 2, 1  # two checkers on the 6 point, one on the 8 point
    points[23] = -1
    state = from_position(points, off=(12, 14), dice=(1, 1))
    plays = plays_of(state)
    assert {len(play.actions) for play in plays} == {2}
    assert len({play.end.key() for play in plays}) == len(plays)
    # Four pips on three checkers: count the multisets of places by hand, from (8, 6, 6).
    boards = {tuple(sorted((8 - a, 6 - b, 6 - c))) for a in range(5) for b in range(5 - a) for c in [4 - a - b]}
    assert len(plays) == len(boards) == 7
    assert plays == sorted(plays, key=lambda play: play.actions)


# -- own games ---------------------------------------------------------------------------------------------------------


def test_losses_by_the_oracle_are_regrets(pig):
    report = measure_errors("random", "oracle", pig, decisions=60, seed=2)
    states = [pig.state_from_text(one.position) for one in report.losses]
    oracle = require_oracle(pig)
    for state, one in zip(states, report.losses, strict=True):
        values = oracle.action_values(state)
        chosen = next(action for action in values if state.action_to_string(action) == one.chosen)
        assert one.loss == pytest.approx(max(values.values()) - values[chosen], abs=1e-9)
    data = report.to_dict()
    losses = np.array([one.loss for one in report.losses])
    assert data["overall"]["error_rate"]["mean"] == pytest.approx(1000 * losses.mean())
    assert data["overall"]["error_rate"]["error"] == pytest.approx(1000 * losses.std(ddof=1) / 60**0.5)
    assert data["overall"]["pr"] == pytest.approx(500 * losses.mean())
    assert data["overall"]["count"] == sum(group["count"] for group in data["by_kind"].values()) == 60
    assert data["by_source"] == {}
    assert data["worst"][0]["loss"] == losses.max() > 0.0


def test_the_judge_itself_loses_nothing(pig):
    overall = measure_errors("oracle", "oracle", pig, decisions=50).overall
    assert (overall.loss.mean, overall.best) == (0.0, 1.0)


def test_decisions_depend_on_the_seeds_and_not_on_workers(pig):
    report = measure_errors("random", "oracle", pig, decisions=40, seed=3)
    assert measure_errors("random", "oracle", pig, decisions=40, seed=3, workers=2) == report
    assert measure_errors("random", "oracle", pig, decisions=40, seed=4) != report
    assert measure_errors("random", "oracle", pig, decisions=40, seed=3, player_seed=1) != report
    more = measure_errors("random", "oracle", pig, decisions=50, seed=3)
    assert more.losses[:40] == report.losses


def test_one_of_eight_decisions_is_judged(pig, monkeypatch):
    shown = []
    measure_errors("random", "oracle", pig, decisions=30, progress=lambda done, of: shown.append((done, of)))
    assert shown[-1] == (30, 30)
    player = make_player("random", pig)
    some = [state.key() for chunk in range(6) for state, _, _ in own_decisions(player, pig, chunk)]
    monkeypatch.setattr(errors, "SHARE", 1)
    all_of_them = [state.key() for chunk in range(6) for state, _, _ in own_decisions(player, pig, chunk)]
    assert {*some} < {*all_of_them}
    assert 0.06 < len(some) / len(all_of_them) < 0.19


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("random", "the player 'random' cannot judge: it has no values of positions, expected e.g. oracle"),
        ("search:sims=4", "cannot judge"),
        ("gnubg", "player is 'gnubg', "),
    ],
)
def test_players_that_cannot_judge(pig, judge, message):
    with pytest.raises(ConfigError) as raised:
        measure_errors("random", judge, pig, decisions=5)
    assert message in str(raised.value)


def test_the_judge_of_a_game(pig):
    assert judge_of(pig, "oracle") == "oracle"
    with pytest.raises(ConfigError, match=r"pig\(target=15\) has no judge, expected --judge with a player"):
        judge_of(pig)
    with pytest.raises(ConfigError, match="--judge is 'orcle', did you mean oracle"):
        judge_of(pig, "orcle")
    assert judge_of(aleazero.load_game("backgammon")) == "bgsage:ply=3"


# -- sets --------------------------------------------------------------------------------------------------------------


def test_a_set_is_read_back(pig, judged, tmp_path):
    file = tmp_path / "set.safetensors"
    save_set(file, judged, "oracle", "from a test")
    again = judged_set(pig, str(file))
    assert [one.state.key() for one in again] == [one.state.key() for one in judged]
    assert [one.source for one in again] == ["random"] * len(judged)
    assert all((one.values == other.values).all() for one, other in zip(again, judged, strict=True))


def test_the_error_rate_on_a_set_is_the_regret(pig, judged):
    player = make_player("random", pig)
    report = measure_on_set(player, judged, seed=5)
    regret = measure_regret(player, [one.state for one in judged], require_oracle(pig), seed=5)
    assert report.overall.loss.mean == pytest.approx(regret.overall.regret.mean, abs=1e-6)
    assert report.by_source["random"].loss.count == len(judged)
    assert measure_on_set(player, judged, seed=6) != report
    assert measure_on_set(make_player("oracle", pig), judged).overall.loss.mean == pytest.approx(0.0, abs=1e-7)


def test_invalid_sets(pig, judged, tmp_path):
    good, bad = tmp_path / "good.safetensors", tmp_path / "bad.safetensors"
    save_set(good, judged, "oracle", "from a test")
    tensors = load(good.read_bytes())
    info = {"format": 1, "judge": "oracle", "sources": ["random"], "note": ""}

    def written(info=info, **changed):
        bad.write_bytes(save({**tensors, **changed}, {"aleazero": json.dumps(info)}))
        return bad

    cases = [
        (lambda: tmp_path / "none.safetensors", "cannot read the set"),
        (lambda: written({**info, "format": 9}), "its format is 9, expected 1"),
        (lambda: written({**info, "sources": []}), "expected a file of judged decisions"),
        (lambda: written(values=tensors["values"][1:]), "its tensors do not fit together"),
        (lambda: written(values=tensors["values"] * np.float32(np.nan)), "a value is not finite"),
        (lambda: written(counts=tensors["counts"][:0]), "expected a file of judged decisions"),
        (lambda: written({}), "expected a file of judged decisions"),
    ]
    for make, message in cases:
        with pytest.raises(ConfigError) as raised:
            load_set(make(), pig)
        assert message in str(raised.value)
    bad.write_bytes(b"not a file")
    with pytest.raises(ConfigError, match="expected a file of judged decisions"):
        load_set(bad, pig)
    counts = tensors["counts"].copy()
    counts[:2] += np.array([1, -1], np.int32) if counts[1] > 2 else np.array([1, 0], np.int32)
    values = np.append(tensors["values"], np.zeros(counts.sum() - len(tensors["values"]), np.float32))
    with pytest.raises(PositionError, match=r"bad.safetensors: .* does not have 3 plays, expected another set"):
        load_set(written(counts=counts, values=values), pig)
    with pytest.raises(PositionError):
        load_set(good, aleazero.load_game("backgammon"))
    with pytest.raises(ConfigError, match=r"no set 'mine' of pig\(target=15\)"):
        judged_set(pig, "mine")
