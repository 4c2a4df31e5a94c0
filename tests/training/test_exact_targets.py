"""The value target ``exact``: values of an oracle by seat relative to the viewer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import aleazero
from aleazero import ConfigError, PositionError
from aleazero.nets.config import NetConfig
from aleazero.oracles.oracle import require_oracle
from aleazero.oracles.solve import solve
from aleazero.replay.shard import ShardWriter
from aleazero.replay.shard_format import Origin
from aleazero.replay.window import Window
from aleazero.training import targets
from aleazero.training.config import TrainConfig
from aleazero.training.targets import exact_targets, value_targets
from aleazero.training.trainer import Trainer, scale_for

CONFIG = TrainConfig(net=NetConfig(width=8, blocks=1), steps=5, batch_size=32, value_target="exact")


def test_dice_game_targets_are_the_closed_form_values(play) -> None:
    game = aleazero.load_game("dice_game")
    window = play(game)
    found, covered = exact_targets(window, game)
    worth = [float(score) for score in range(26)]  # by score
    for score in range(19, -1, -1):
        worth[score] = sum(worth[score + 1 : score + 7]) / 6  # rolling is always best
    for observation, target in zip(np.concatenate(window.columns("observations")), found, strict=True):
        assert target == pytest.approx([worth[round(float(observation[0]) * 25)]], abs=1e-5)
    assert covered.all()
    assert np.concatenate(window.columns("afterstate")).any()  # with the same values as their decisions


def test_one_player_yatzy(play, oracle) -> None:
    game = aleazero.load_game("yatzy", players=1)
    window = play(game, simulations=2)
    found, covered = exact_targets(window, game)
    assert covered.all()
    row, afterstates = 0, 0
    for record in window.records():
        state = game.new_initial_state()
        for step, (_, action) in enumerate(record.steps.tolist()):
            if step in record.step:
                assert found[row, 0] == np.float32(oracle.value(state))
                afterstates += state.is_chance_node()
                row += 1
            state.apply_action(action)
    assert row == len(window)
    assert 0 < afterstates < row


def test_seats_are_relative_to_the_viewer_and_a_window_may_begin_within_a_shard(play, tmp_path, pig) -> None:
    whole = play(pig)
    window = Window(tmp_path, len(whole) - 1)  # without the oldest game
    found, covered = exact_targets(window, pig)
    solution = solve(pig)
    row, seen = 0, set()
    for record in window.records():
        state = pig.state_from_text(record.start)
        for step, (_, action) in enumerate(record.steps.tolist()):
            if step in record.step:
                mine = solution.value(state)[state.viewer()]
                assert found[row] == pytest.approx([mine, -mine], abs=1e-6)
                seen.add((state.viewer(), state.is_chance_node()))
                row += 1
            state.apply_action(action)
    assert row == len(window) < len(whole)
    assert seen == {(0, False), (0, True), (1, False), (1, True)}
    assert covered.all()


def test_an_unreachable_position_falls_back_to_td(play, tmp_path, pig) -> None:
    window = play(pig)
    won = next(record for record in window.records() if record.returns[0] == 1)
    odd = replace(won, game_number=0, start="0-1 turn 0 player 0")  # 1 point is unreachable
    writer = ShardWriter(tmp_path / "odd", 0, 1, Origin.of(pig, "test"))
    writer.add(odd)
    writer.finish(1)
    window = Window(tmp_path / "odd", 10**6)
    found, covered = exact_targets(window, pig)
    assert not covered[0]  # later states, with 3 points or more, are reachable
    td = value_targets(window, "td")
    np.testing.assert_array_equal(found[~covered], td[~covered])
    assert covered.any()
    assert (found[covered] != td[covered]).any()


class DecisionOracle:
    """An oracle that covers decision nodes only."""

    def __init__(self, oracle) -> None:
        self.oracle = oracle

    def values(self, state):
        if state.is_chance_node():
            raise PositionError("not covered")
        return self.oracle.values(state)


def test_uncovered_samples_use_td_and_losses_are_reported_separately(play, pig, monkeypatch) -> None:
    window = play(pig)
    monkeypatch.setattr(targets, "require_oracle", lambda game: DecisionOracle(require_oracle(game)))
    found, covered = exact_targets(window, pig, decay=0.7)
    afterstate = np.concatenate(window.columns("afterstate"))
    np.testing.assert_array_equal(covered, ~afterstate)
    np.testing.assert_array_equal(found[afterstate], value_targets(window, "td", decay=0.7)[afterstate])
    assert (found[~afterstate] != value_targets(window, "td", decay=0.7)[~afterstate]).any()
    summary = Trainer(pig, CONFIG, scale_for(pig, window, CONFIG)).fit(window)
    assert summary.exact.share == pytest.approx((~afterstate).mean())
    # Here the two kinds of samples belong to the two value heads, whose losses are also reported by batch.
    assert summary.exact.loss == pytest.approx(summary.value_loss, rel=0.05)
    assert summary.exact.other_loss == pytest.approx(summary.afterstate_loss, rel=0.05)
    assert abs(summary.exact.loss - summary.exact.other_loss) > 0.2 * summary.exact.loss
    headless = CONFIG.model_copy(update={"net": NetConfig(width=8, blocks=1, afterstates=False)})
    summary = Trainer(pig, headless, scale_for(pig, window, headless)).fit(window)
    assert summary.exact.other_loss is None  # afterstates have no target without that head
    assert summary.exact.loss == pytest.approx(summary.value_loss, rel=0.05)


def test_it_is_reproducible_and_uses_no_oracle_by_default(pig, samples, monkeypatch) -> None:
    window = Window(samples, 10**6)
    weights = []
    for _ in range(2):
        trainer = Trainer(pig, CONFIG, scale_for(pig, window, CONFIG))
        assert trainer.fit(window).exact.share == 1.0
        weights.append(trainer.weights())
    assert all(weights[0][name].tobytes() == weights[1][name].tobytes() for name in weights[0])
    monkeypatch.setattr(targets, "require_oracle", lambda game: pytest.fail("the oracle was used"))
    plain = TrainConfig(net=CONFIG.net, steps=1, batch_size=8)
    assert Trainer(pig, plain, scale_for(pig, window, plain)).fit(window).exact is None


def test_a_game_without_an_oracle_is_rejected(samples) -> None:
    window = Window(samples, 10**6)
    with pytest.raises(ConfigError, match=r"2048\(\) has no oracle: only games with listed outcomes"):
        exact_targets(window, aleazero.load_game("2048"))
    with pytest.raises(ConfigError, match=r"yatzy\(players=2\) has no oracle: .* the player 'solo' is its reference"):
        exact_targets(window, aleazero.load_game("yatzy"))


def test_mismatched_targets_are_values_before_the_outcome(play, pig) -> None:
    """Decisions have the value of the chance node before them, as if the dice were not rolled yet."""
    window = play(pig)
    right, _ = exact_targets(window, pig)
    found, covered = exact_targets(window, pig, mismatch=True)
    solution, row, differ = solve(pig), 0, 0
    for record in window.records():
        state, before = pig.state_from_text(record.start), None
        for step, (_, action) in enumerate(record.steps.tolist()):
            if step in record.step:
                valued = state if before is None or state.is_chance_node() else before
                mine = solution.value(valued)[state.viewer()]
                assert found[row] == pytest.approx([mine, -mine], abs=1e-6)
                differ += (found[row] != right[row]).any()
                row += 1
            before = state.clone() if state.is_chance_node() else before
            state.apply_action(action)
    assert row == len(window)
    assert differ > 0.3 * row
    assert covered.all()
    losses = {}
    for target in ("exact", "mismatch"):
        config = CONFIG.model_copy(update={"value_target": target})
        losses[target] = Trainer(pig, config, scale_for(pig, window, config)).fit(window).value_loss
    assert losses["exact"] != losses["mismatch"]
