from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero.cli.verbs import bench
from aleazero.cli.verbs.bench import Counting, RandomNet, advice, measure_forests


def test_a_game_is_measured(run_json):
    data = run_json("bench", "dice_game", "--seconds", "0.2", "--sims", "50", "--width", "4", "--position", "5")
    assert (data["game"], data["position"], data["compiled"]) == ("dice_game", "5", True)
    assert [row["evaluator"] for row in data["search"]] == ["uniform", "rollout"]
    assert {row["threads"] for row in data["forest"]} == {1, data["cores"]}
    assert {row["trees"] / row["batch"] for row in data["forest"]} == {2}
    for row in (*data["search"], *data["forest"]):
        assert row["evaluations_per_second"] > 0
        assert row["tree_bytes"] > 0
    assert data["advice"][0].startswith("Use batches of ")


def test_tables_and_advice(run):
    result = run("bench", "dice_game", "--seconds", "0.2", "--net", "dummy")
    assert result.exit_code == 0, result.output
    for text in ("One search of 2,000 simulations", "simulations/s", "Many searches, network dummy", "Forest(trees="):
        assert text in result.stdout


def test_a_slow_object_game_is_measured_in_small_batches(run_json, monkeypatch):
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(bench, "ROUNDS", 10**9)  # any game is too slow for this many batches
    data = run_json("bench", "openspiel:tic_tac_toe", "--seconds", "0.2", "--sims", "20", "--width", "4")
    assert data["compiled"] is False
    assert {row["batch"] for row in data["forest"]} == {64}
    assert {row["tree_bytes"] for row in data["search"]} == {None}
    assert "plain Python" in data["advice"][-1]


def test_a_game_without_observations_has_no_network(run, coin_file):
    result = run("bench", coin_file(), "--seconds", "0.2", "--sims", "20")
    assert result.exit_code == 0, result.output
    assert "The game has no observations" in result.stdout
    assert "Many searches" not in result.stdout


def test_every_evaluated_row_is_counted_and_no_empty_one():
    game = aleazero.load_game("pig")
    counting = Counting(RandomNet(game.new_initial_state(), 8))
    config = aleazero.SearchConfig(num_simulations=20)
    with aleazero.Forest(game, counting, config, trees=5, batch_size=64) as forest:
        results = forest.run([game.state_from_text("10-20 turn 3")] * 7, seeds=range(7))
    assert counting.rows == sum(result.stats.evaluations for result in results)
    assert counting(np.zeros((4, game.observation_size), np.float32), np.zeros((4, 2), np.bool_))[1].shape == (4, 2)


def test_threads_take_turns(monkeypatch):
    turns = []
    monkeypatch.setattr(bench, "_run_for", lambda forest, state, seconds: turns.append((forest.threads, seconds)))
    state = aleazero.load_game("dice_game").new_initial_state()
    measure_forests(state, RandomNet(state, 4), 64, [1, 2], 3.0)
    assert turns == [(1, 0.0), (2, 0.0), *[(1, 1.0), (2, 1.0)] * 3]


@pytest.mark.parametrize(
    ("speeds", "said"),
    [
        ({(64, 1): 100, (256, 1): 102, (64, 2): 103, (256, 2): 101}, ["batches of 64 on 1 thread:", "do not help"]),
        ({(64, 1): 50, (256, 1): 100, (64, 2): 110, (256, 2): 180}, ["batches of 256 on 2 threads:", "1.80× as fast"]),
        ({(64, 1): 50, (256, 1): 100}, ["batches of 256 on 1 thread:"]),
    ],
)
def test_the_smallest_setting_that_is_nearly_as_fast_is_recommended(speeds, said):
    rows = [
        {"batch": batch, "threads": threads, "trees": 2 * batch, "evaluations_per_second": speed}
        for (batch, threads), speed in speeds.items()
    ]
    found = advice({"forest": rows, "cores": 2, "compiled": True})
    assert len(found) == len(said)
    assert all(text in line for text, line in zip(said, found, strict=True))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pgi",), "no game 'pgi', did you mean pig?"),
        (("pig", "--net", "nowhere"), "no network at 'nowhere'"),
        (("dice_game", "--position", "21 over"), "the game is over"),
        (("dice_game", "--moves", "fly"), "no action 'fly'"),
    ],
)
def test_bad_input_is_one_line(refused, words, said):
    assert said in refused("bench", *words)


def test_half_a_search_is_not_measured(run, monkeypatch):
    import dataclasses

    original = aleazero.Search.run
    monkeypatch.setattr(
        aleazero.Search,
        "run",
        lambda self, *args, **more: dataclasses.replace(original(self, *args, **more), stopped="interrupted"),
    )
    result = run("bench", "dice_game", "--seconds", "0.2")
    assert result.exit_code != 0
    assert "simulations/s" not in result.stdout
