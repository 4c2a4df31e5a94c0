"""``learn`` and a run give the same network for the same rounds and seed: one of the two can go."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from runs.small_runs import run

import aleazero
from aleazero.runs.recipes import make_learner
from aleazero.training.config import config_for
from aleazero.training.learn import learn, open_run

RACE = f"{Path(__file__).parents[2]}/examples/race.py"
NETWORK = {"lanes": 4, "shards": 2, "batch_size": 16, "replay": 100, "net": {"hidden": [4]}}
JUDGED = {"gate": {"pairs": 10}, "evaluate": {"pairs": 2, "against": ["random"], "regret": False,
                                              "oracle_games": 0, "calibration_games": 0}}  # fmt: skip
TABLES = {"gate": {"pairs": 10, "rule": "fixed", "gain1": 1000.0}, "evaluate": JUDGED["evaluate"]}


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("game", "params", "settings", "judged", "iterations", "rounds"),
    [
        ("pig", {"target": 10}, NETWORK, JUDGED, 1, 12),
        ("pig", {"target": 10}, {**NETWORK, "target": "lambda"}, JUDGED, 3, 12),
        (RACE, {"length": 8}, NETWORK, JUDGED, 2, 5),
        ("2048", {}, {"lanes": 2}, TABLES, 2, 3),
    ],
    ids=["pig", "lambda", "own", "tables"],
)
def test_the_network_is_the_same(tmp_path, game, params, settings, judged, iterations, rounds, seed):
    loaded = aleazero.load_game(game, **params)
    given, net = {name: value for name, value in settings.items() if name != "net"}, settings.get("net", {})
    config = config_for(loaded, {**given, "seed": seed, "rounds": rounds}, net)
    wanted = {"settings": config.model_dump(mode="json", exclude={"rounds"}), "rounds": rounds}
    with (
        closing(make_learner(loaded, config)) as learner,
        open_run(tmp_path / "learn", loaded, game, wanted, None) as folder,
    ):
        newest = learn(learner, folder)
    run(tmp_path / "run", {"game": game, "params": params, "seed": seed, "rounds": rounds, "iterations": iterations,
                           "afterstate": settings, **judged})  # fmt: skip
    assert newest.read_bytes() == (tmp_path / "run" / "models" / f"{iterations:04}.safetensors").read_bytes()
