"""Train pig and Yatzy from scratch with the recipe ``alphazero``, several seeds each, and write ``learning.json``.

    python docs/scripts/learning.py pig yatzy     strength (a quarter of an hour)
    python docs/scripts/learning.py compare       value targets, backups and heads at equal time (half an hour)

Minutes are CPU time of all processes divided by two cores, without evaluation. Exact values are used for
evaluation only.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import aleazero
from aleazero.evaluation.match import game_seeds, play_match, play_rotation
from aleazero.games.game_dice import GameDice
from aleazero.games.pig import TURN
from aleazero.nets.config import NetConfig
from aleazero.oracles.solve import solve
from aleazero.processes import Pool
from aleazero.replay.window import Window
from aleazero.search.config import ChanceConfig
from aleazero.selfplay.config import SelfplayConfig, Temperature
from aleazero.selfplay.record import final_scores
from aleazero.training.alphazero import fit, play_games
from aleazero.training.config import TrainConfig

OUT = Path(__file__).with_name("learning.json")
HIGHEST_TOTAL = 374
SELFPLAY = {
    "pig": SelfplayConfig(simulations=48, parallel=128, chance="stratified", c=0.4, temperature=Temperature(start=0.5)),
    "yatzy": SelfplayConfig(
        simulations=32, parallel=128, chance="stratified", c=0.12, temperature=Temperature(start=0.3)
    ),
}
STEADY = {"learning_rate": 2e-3, "schedule": "constant", "ema": 0.99, "td_lambda": 0.9}
TRAIN = {
    "pig": TrainConfig(net=NetConfig(width=64, blocks=1), steps=300, window=200_000, **STEADY),
    "yatzy": TrainConfig(net=NetConfig(width=128, blocks=1), steps=350, window=150_000, **STEADY),
}
MINUTES = {"pig": 1.5, "yatzy": 6.0, "compare": 1.0}
GAMES = 256
"""A round, and twice as many in the first."""


def learn(name: str, seed: int, minutes: float, folder: Path, selfplay: Any, train: Any) -> dict[str, Any]:
    """Rounds of self-play and fit until the time is over; the last checkpoint and what it took."""
    game = aleazero.load_game(name)
    net, start, played, spent, round_ = "dummy", None, 0, 0.0, 0
    with Pool(2) as workers:
        while spent < minutes * 60:
            began = processor_seconds(workers)
            games = 2 * GAMES if round_ == 0 else GAMES
            play_games(workers, game, net, games, folder / "replay", selfplay, seed=seed, iteration=round_)
            config = train.model_copy(update={"seed": seed})
            path = folder / f"net_{round_:04}.safetensors"
            fit(game, Window(folder / "replay", config.window), path, config, start=start)
            net, start = str(path), path
            played, round_, spent = played + games, round_ + 1, spent + processor_seconds(workers) - began
    return {"game": name, "seed": seed, "minutes": spent / 60, "rounds": round_, "games": played, "net": net}


def processor_seconds(workers: Pool) -> float:
    """Time of two cores that this process and its workers have used so far."""
    ticks = 0
    for number in (os.getpid(), *workers.process_ids):
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK") / 2


@lru_cache(maxsize=1)
def solved_pig() -> Any:
    return solve(aleazero.load_game("pig"), max_states=5_000_000)


def regret_in_play(choose: Callable[[list[Any]], list[int]], games: int = 1000) -> dict[str, Any]:
    """Measure regret per decision in win probability, at positions that a player reaches against itself.

    On positions of other players, a player that never holds would look good: one more roll costs little at any single
    decision.
    """
    game = aleazero.load_game("pig")
    states, luck = [game.new_initial_state() for _ in range(games)], [GameDice(seed) for seed in game_seeds(7, games)]
    regrets: list[float] = []
    by_game = np.zeros(games)
    running = list(range(games))
    while running:
        decides = [i for i in running if not states[i].is_chance_node()]
        actions = dict(zip(decides, choose([states[i] for i in decides]), strict=True))
        for i in running:
            if i in actions:
                mover = states[i].current_player()
                values = {a: float(v[mover]) for a, v in solved_pig().action_values(states[i]).items()}
                if len(values) > 1:
                    regrets.append((max(values.values()) - values[actions[i]]) / 2)
                    by_game[i] += regrets[-1]
            states[i].apply_action(actions[i] if i in actions else luck[i].draw(states[i]))
        running = [i for i in running if not states[i].is_terminal()]
    return {
        "decisions": len(regrets),
        "regret": float(np.mean(regrets)),
        "error": float(np.std(by_game) / math.sqrt(games) * games / len(regrets)),
        "worst": float(np.max(regrets)),
    }


def judge_pig(net: str) -> dict[str, Any]:
    """Evaluate the network without a search."""
    player = aleazero.make_player(f"net:{net},sims=0", aleazero.load_game("pig"))
    return regret_in_play(lambda states: player.select_many(states, [0] * len(states)))


def hold_at(points: int) -> Callable[[list[Any]], list[int]]:
    """Make a player that holds at this many points of a turn, and whenever holding wins."""

    def choose(states: list[Any]) -> list[int]:
        return [
            legal[-1] if len(legal) == 1 or state.vector[TURN] >= points else legal[0]
            for state in states
            for legal in [state.legal_actions()]
        ]

    return choose


def judge_scores(net: str, games: int = 300) -> dict[str, Any]:
    """Mean score against itself, without a search and with 64 simulations."""
    game = aleazero.load_game("yatzy")
    found: dict[str, Any] = {}
    for sims in (0, 64):
        player = aleazero.make_player(f"net:{net},sims={sims}" + (",c=0.12" if sims else ""), game)
        scores = [final_scores(p.state) * HIGHEST_TOTAL for p in play_match(game, [player] * 2, game_seeds(9, games))]
        error = np.std(scores) / math.sqrt(2 * games)
        found[f"score_{sims}"] = [float(np.mean(scores)), float(error)]
    return found


def judge_yatzy(net: str, games: int = 300) -> dict[str, Any]:
    """The same, and matches with 64 simulations: shares won."""
    found = judge_scores(net, games)
    game = aleazero.load_game("yatzy")
    player = aleazero.make_player(f"net:{net},sims=64,c=0.12", game)
    unaided = aleazero.load_game("yatzy")
    unaided.kernels.playout = None  # random playouts in place of the game's own
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


JUDGES: dict[str, Callable[[str], dict[str, Any]]] = {"pig": judge_pig, "yatzy": judge_yatzy, "compare": judge_scores}
SAMPLED = ChanceConfig.preset("stratified").model_copy(update={"backup": "sample"})
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "td, λ = 0.9": ({}, {}),
    "outcome": ({"value_target": "outcome"}, {}),
    "root": ({"value_target": "root"}, {}),
    "mix, half": ({"value_target": "mix"}, {}),
    "expectation": ({"value_target": "expectation"}, {}),
    "td, sample backup": ({}, {"chance": SAMPLED}),
    "td, no afterstate head": ({"net": NetConfig(width=128, blocks=1, afterstates=False)}, {}),
}
"""What of training and of self-play is changed."""


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
        if what == "pig":
            held = {"always rolls": hold_at(1000), "holds at 20": hold_at(20), "holds at 25": hold_at(25)}
            rows["pig_rivals"] = {name: regret_in_play(choose) for name, choose in held.items()}
        for label, (train_changes, play_changes) in (VARIANTS if what == "compare" else {"": ({}, {})}).items():
            for seed in options.seeds:
                name = "yatzy" if what == "compare" else what
                with tempfile.TemporaryDirectory() as folder:
                    minutes = options.minutes or MINUTES[what]
                    train = TRAIN[name].model_copy(update=train_changes)
                    selfplay = SELFPLAY[name].model_copy(update=play_changes)
                    row = learn(name, seed, minutes, Path(folder), selfplay, train)
                    row |= JUDGES[what](row.pop("net")) | ({"variant": label} if label else {})
                print(row, flush=True)  # noqa: T201 -- a script
                rows[what].append(row)
                OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
