"""Measure the speed of training: turns planned one graph at a time, and all turns in one compiled loop.

    .venv/bin/python docs/scripts/lanes.py

Both compute bit-identical rounds, on one thread and on two. They alternate every second.
"""

from __future__ import annotations

import statistics
import sys
import time

import aleazero
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.config import config_for
from aleazero.training.turns import PlannedLanes

GAMES = ("pig", "dice_game", "examples/race.py", "examples/shut_the_box.py")
SECONDS, TIMES = 1.0, 5


def learner_of(name: str, threads: int, planned: bool) -> AfterstateLearner:
    game = aleazero.load_game(name)
    learner = AfterstateLearner(game, config_for(game, {}, {}), threads)
    if planned:
        learner.turn_player = PlannedLanes(game)
    for _ in range(3):  # compiles
        learner.round()
    return learner


def rate(learner: AfterstateLearner) -> float:
    """Return turns/s, measured over about a second."""
    began, turns = time.perf_counter(), 0
    while time.perf_counter() < began + SECONDS:
        turns += learner.round().turns
    return turns / (time.perf_counter() - began)


def main() -> None:
    head = ("game", "one graph at a time", "two threads", "one loop", "two threads", "ratio, two threads")
    sys.stdout.write(f"| {' | '.join(head)} |\n|---{'|---:' * 5}|\n")
    for name in GAMES:
        learners = [learner_of(name, threads, planned) for planned in (True, False) for threads in (1, 2)]
        rates = [[rate(learner) for learner in learners] for _ in range(TIMES)]
        medians = [statistics.median(column) for column in zip(*rates, strict=True)]
        ratio = statistics.median(row[3] / row[1] for row in rates)
        cells = [name, *(f"{median:,.0f}" for median in medians), f"{ratio:.1f}"]
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        for learner in learners:
            learner.close()


if __name__ == "__main__":
    main()
