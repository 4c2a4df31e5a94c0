"""Learn pig and Yatzy from nothing, several seeds each, and measure what was learnt: ``docs/learning.json``.

    .venv/bin/python docs/learning.py pig yatzy            the proofs (a quarter of an hour)
    .venv/bin/python docs/learning.py compare              value targets and heads at equal time (a quarter of an hour)

Minutes are of the clock on two cores, measuring excluded. Oracles judge; they never teach.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import aleazero
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.rotation import play_rotation
from aleazero.nets.config import NetConfig
from aleazero.oracles.solve import solve
from aleazero.replay.window import Window
from aleazero.selfplay.actor import final_scores
from aleazero.selfplay.config import SelfplayConfig, Temperature
from aleazero.training.alphazero import fit, play_games
from aleazero.training.config import TrainConfig
from aleazero.training.workers import Workers

OUT = Path(__file__).with_name("learning.json")
HIGHEST_TOTAL = 374
SELFPLAY = {
    "pig": SelfplayConfig(simulations=48, parallel=128, chance="stratified"),
    "yatzy": SelfplayConfig(
        simulations=32, parallel=128, chance="stratified", c=0.12, temperature=Temperature(start=0.3)
    ),
}
TRAIN = {
    "pig": TrainConfig(net=NetConfig(width=64, blocks=1), steps=300, window=200_000, learning_rate=1e-3),
    "yatzy": TrainConfig(
        net=NetConfig(width=128, blocks=1),
        steps=350,
        window=150_000,
        learning_rate=2e-3,
        schedule="constant",
        ema=0.99,
        td_lambda=0.9,
    ),
}
MINUTES = {"pig": 1.5, "yatzy": 6.0}
GAMES = 256
"""A round, and twice as many in the first."""


def learn(name: str, seed: int, minutes: float, folder: Path, selfplay: Any, train: Any) -> dict[str, Any]:
    """Rounds of self-play and fit until the time is over; the last checkpoint and what it took."""
    game = aleazero.load_game(name)
    net, start, played, spent, round_ = "dummy", None, 0, 0.0, 0
    with Workers(2) as workers:
        while spent < minutes * 60:
            began = time.perf_counter()
            games = 2 * GAMES if round_ == 0 else GAMES
            play_games(workers, game, net, games, folder / "replay", selfplay, seed=seed, iteration=round_)
            config = train.model_copy(update={"seed": seed})
            path = folder / f"net_{round_:04}.safetensors"
            fit(game, Window(folder / "replay", config.window), path, config, start=start)
            net, start = str(path), path
            played, round_, spent = played + games, round_ + 1, spent + time.perf_counter() - began
    return {"game": name, "seed": seed, "minutes": spent / 60, "rounds": round_, "games": played, "net": net}


def judge_pig(net: str) -> dict[str, Any]:
    """Mean regret in win probability, over a grid of positions, of the network alone.

    Beside it: who always rolls has 0.0039 here, so a small figure proves little.
    """
    game = aleazero.load_game("pig")
    exact = solve(game, max_states=5_000_000)
    states = [
        game.state_from_text(f"{own}-{other} turn {turn} player 0")
        for own in range(0, 100, 6)
        for other in range(0, 100, 6)
        for turn in range(2, 40, 3)
        if own + turn < 100
    ]
    player = aleazero.make_player(f"net:{net},sims=0", game)
    regrets = []
    for state, action in zip(states, player.select_many(states, [0] * len(states)), strict=True):
        values = {a: float(v[0]) for a, v in exact.action_values(state).items()}
        regrets.append((max(values.values()) - values[action]) / 2)
    return {"positions": len(states), "regret": float(np.mean(regrets)), "worst": float(np.max(regrets))}


def judge_yatzy(net: str, games: int = 300) -> dict[str, Any]:
    """Mean score against itself without a search and with 64 simulations; matches of the latter, shares won."""
    game = aleazero.load_game("yatzy")
    found: dict[str, Any] = {}
    for sims in (0, 64):
        player = aleazero.make_player(f"net:{net},sims={sims}" + (",c=0.12" if sims else ""), game)
        scores = [final_scores(p.state) * HIGHEST_TOTAL for p in play_match(game, [player] * 2, game_seeds(9, games))]
        error = np.std(scores) / math.sqrt(2 * games)
        found[f"score_{sims}"] = [float(np.mean(scores)), float(error)]
    unaided = aleazero.load_game("yatzy")
    unaided.kernels.playout = None  # random playouts, as a game has them that brings none of its own
    search = "search:sims=200,evaluator=rollout"
    for what, rival in (
        ("random", aleazero.make_player("random", game)),
        ("random_rollouts", aleazero.make_player(search, unaided)),
        ("own_rollouts", aleazero.make_player(search, game)),
    ):
        tally = play_rotation(game, [player, rival], games, seed=5)[0]
        share = (tally.wins + tally.draws / 2) / tally.games
        found[f"against_{what}"] = [share, math.sqrt(share * (1 - share) / tally.games)]
    return found


JUDGES: dict[str, Callable[[str], dict[str, Any]]] = {"pig": judge_pig, "yatzy": judge_yatzy}
VARIANTS: dict[str, dict[str, Any]] = {
    "td, λ = 0.9": {},
    "outcome": {"value_target": "outcome"},
    "mix": {"value_target": "mix"},
    "expectation": {"value_target": "expectation"},
    "td, no afterstate head": {"net": NetConfig(width=128, blocks=1, afterstates=False)},
}


def main() -> None:
    """Learn what is asked for, and write it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="+", choices=("pig", "yatzy", "compare"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--minutes", type=float, default=None)
    options = parser.parse_args()
    rows: dict[str, Any] = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    for what in options.what:
        rows[what] = []
        for label, changes in VARIANTS.items() if what == "compare" else (("", {}),):
            for seed in options.seeds[:1] if what == "compare" else options.seeds:
                name = "yatzy" if what == "compare" else what
                with tempfile.TemporaryDirectory() as folder:
                    minutes = options.minutes or (2.5 if what == "compare" else MINUTES[name])
                    train = TRAIN[name].model_copy(update=changes)
                    row = learn(name, seed, minutes, Path(folder), SELFPLAY[name], train)
                    row |= JUDGES[name](row.pop("net")) | ({"variant": label} if label else {})
                print(row, flush=True)  # noqa: T201 -- a script
                rows[what].append(row)
                OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
