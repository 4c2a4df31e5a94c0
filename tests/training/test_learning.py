"""Learning is real: from nothing, without an oracle, to play that an oracle finds little to blame in."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero.nets.config import NetConfig
from aleazero.oracles.solve import solve
from aleazero.selfplay.config import SelfplayConfig
from aleazero.training.alphazero import fit, play_games
from aleazero.training.config import TrainConfig
from aleazero.training.workers import Workers

pytestmark = pytest.mark.long


@pytest.mark.parametrize("seed", [1, 2])
def test_pig_by_the_network_alone(seed: int, tmp_path) -> None:
    game = aleazero.load_game("pig", target=40)
    config = SelfplayConfig(simulations=48, parallel=128)
    train = TrainConfig(net=NetConfig(width=64, blocks=1), steps=300, window=200_000, seed=seed)
    net, start = "dummy", None
    with Workers(2) as workers:
        for number in range(4):
            play_games(workers, game, net, 256, tmp_path / "replay", config, seed=seed, iteration=number)
            path = tmp_path / f"net_{number}.safetensors"
            fit(game, tmp_path / "replay", path, train, start=start)
            net, start = str(path), path
    exact = solve(game)
    states = [
        game.state_from_text(f"{own}-{other} turn {turn} player 0")
        for own in range(0, 40, 3)
        for other in range(0, 40, 3)
        for turn in range(2, 40, 2)
        if own + turn < 40
    ]

    def regret(actions) -> float:
        """In win probability, a decision."""
        lost = []
        for state, action in zip(states, actions, strict=True):
            values = {a: v[0] for a, v in exact.action_values(state).items()}
            lost.append((max(values.values()) - values[action]) / 2)
        return float(np.mean(lost))

    player = aleazero.make_player(f"net:{net},sims=0", game)
    found = regret(player.select_many(states, [0] * len(states)))
    assert found < 0.01
    for always in (0, 1):
        assert regret([always] * len(states)) > 3 * found  # neither boldness nor fear does it
