"""Compare the speed of the search with the same search in C++: ``python -m benchmarks.ceiling [--json FILE]``.

Both run alternately in one process; the fastest run by CPU time counts. A new search allocates its memory; a reused one
has searched before. Visits and nodes of both must be equal.

To measure another version of the library, put it first on the path and run from another folder::

    cd / && PYTHONPATH=OTHER_CHECKOUT:THIS_CHECKOUT python -m benchmarks.ceiling
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aleazero
from aleazero import ChanceConfig, Rollout, Search, SearchConfig
from benchmarks.ceiling.cpp import CppSearch, NoCompiler, build

POSITIONS = {"pig": "0-0 turn 0 player 0", "2048": "2 . . 4/. . . ./8 . . ./. . . . score 12"}
CASES = (
    ("pig", "uniform", 10_000),
    ("2048", "uniform", 10_000),
    ("pig", "rollout", 10_000),
    ("pig", "uniform", 1_000),
)
"""Game, evaluator, simulations."""
OPEN = (("pig", 10_000), ("2048", 10_000))
SHORTEST = 2_000
"""Minimum number of simulations per timing, because shorter times are imprecise."""


@dataclass(frozen=True)
class Share:
    """Simulations per CPU second, and the ratio of aleazero to C++."""

    game: str
    evaluator: str
    simulations: int
    cpp_new: float
    new: float
    cpp_reused: float
    reused: float
    share_new: float
    share_reused: float


@dataclass(frozen=True)
class OpenLoop:
    """Simulations per CPU second of a reused open-loop search."""

    game: str
    simulations: int
    reused: float


def measure_share(library: ctypes.CDLL, name: str, evaluator: str, simulations: int, rounds: int) -> Share:
    """Time both searches alternately."""
    game = aleazero.load_game(name)
    state = game.state_from_text(POSITIONS[name])
    config = SearchConfig(num_simulations=simulations, chance=ChanceConfig(), seed=7)
    inside: Any = Rollout() if evaluator == "rollout" else evaluator
    playout_steps = Rollout().max_steps if evaluator == "rollout" else 0
    cpp, ours = CppSearch(library, game, config, playout_steps), Search(game, inside, config)
    visits, nodes = cpp.run(state)
    found = ours.run(state)
    if found.visits.tolist() != visits.tolist() or found.stats.nodes != nodes:
        raise AssertionError(
            f"{name} {evaluator} {simulations}: visits {found.visits.tolist()} and {found.stats.nodes} nodes, "
            f"expected {visits.tolist()} and {nodes} as in C++"
        )

    def new_cpp() -> None:
        once = CppSearch(library, game, config, playout_steps)
        once.run(state)
        once.close()

    ways = (new_cpp, lambda: Search(game, inside, config).run(state), lambda: cpp.run(state), lambda: ours.run(state))
    cpp_new, new, cpp_reused, reused = (simulations / best for best in _best_of(ways, simulations, rounds))
    cpp.close()
    return Share(name, evaluator, simulations, cpp_new, new, cpp_reused, reused, new / cpp_new, reused / cpp_reused)


def measure_open(name: str, simulations: int, rounds: int) -> OpenLoop:
    """Time an open-loop search, which has no counterpart in C++."""
    game = aleazero.load_game(name)
    state = game.state_from_text(POSITIONS[name])
    config = SearchConfig(num_simulations=simulations, chance=ChanceConfig.preset("open"), seed=7)
    search = Search(game, "uniform", config)
    search.run(state)
    (best,) = _best_of((lambda: search.run(state),), simulations, rounds)
    return OpenLoop(name, simulations, simulations / best)


def _best_of(ways: tuple[Callable[[], Any], ...], simulations: int, rounds: int) -> list[float]:
    """Return the lowest CPU time in seconds of one run of each, measured alternately."""
    times = -(-SHORTEST // simulations)
    best = [float("inf")] * len(ways)
    for _ in range(rounds):
        for i, way in enumerate(ways):
            started = time.process_time_ns()
            for _ in range(times):
                way()
            best[i] = min(best[i], (time.process_time_ns() - started) / times / 1e9)
    return best


def measure(rounds: int, most: int | None = None) -> tuple[list[Share], list[OpenLoop]]:
    """Measure every case, with at most ``most`` simulations."""
    library = build()
    limit = most or sys.maxsize
    shares = [measure_share(library, name, how, min(limit, number), rounds) for name, how, number in CASES]
    return shares, [measure_open(name, min(limit, number), rounds) for name, number in OPEN]


def table(shares: list[Share], opened: list[OpenLoop]) -> str:
    """Return the results as text, one line per case."""
    lines = [f"{'closed loop':<24}{'C++ new':>12}{'new':>12}{'share':>7}{'C++ reused':>12}{'reused':>12}{'share':>7}"]
    for s in shares:
        lines.append(
            f"{f'{s.game} {s.evaluator} {s.simulations:,}':<24}{s.cpp_new:>12,.0f}{s.new:>12,.0f}{s.share_new:>7.2f}"
            f"{s.cpp_reused:>12,.0f}{s.reused:>12,.0f}{s.share_reused:>7.2f}"
        )
    lines += [f"{f'{o.game} open loop {o.simulations:,}':<67}{o.reused:>12,.0f}" for o in opened]
    return "\n".join((*lines, "simulations/s of CPU time", ""))


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and write JSON if requested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ceiling", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file")
    parser.add_argument("--rounds", type=int, default=40, help="runs per case; the fastest counts")
    parser.add_argument("--sims", type=int, help="maximum number of simulations per case, for a quick run")
    options = parser.parse_args(arguments)
    try:
        shares, opened = measure(options.rounds, options.sims)
    except NoCompiler as error:
        sys.stdout.write(f"{error}\n")
        return 0
    sys.stdout.write(table(shares, opened))
    if options.json is not None:
        content = {"closed": [asdict(s) for s in shares], "open": [asdict(o) for o in opened]}
        options.json.write_text(json.dumps(content, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
