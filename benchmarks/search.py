"""Search speed: simulations/s, bytes per simulation, start times, and a comparison with OpenSpiel."""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.errors import ConfigError
from benchmarks.output import GamesOption, JsonOption, deliver, pick, read_file, show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.games.base import State
    from aleazero.search.result import SearchResult

PARTS = ("speed", "starts", "openspiel")


def search(
    games: GamesOption = None,
    parts: Annotated[
        str, typer.Option("--parts", metavar="A,B", help="Parts to run: `speed`, `starts`, `openspiel`.")
    ] = ",".join(PARTS),
    sims: Annotated[int, typer.Option("--sims", metavar="N", help="Simulations per search.", min=1)] = 10_000,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="T", help="Minimum time per result; the best run counts.", min=0)
    ] = 1.0,
    json: JsonOption = None,
) -> None:
    """Measure simulations/s, bytes per simulation and start times of the search, and compare it with OpenSpiel.

    Everything runs on one thread. Speeds are by CPU time, start times by wall time. Takes about three minutes.

    **Examples**

    - `python -m benchmarks search`

    - `python -m benchmarks search --games pig --parts openspiel`

    - `python -m benchmarks search --json bench.json`
    """
    from aleazero.cli.show import make_console

    names = pick("--games", games, list(OPENINGS))
    chosen = pick("--parts", parts, PARTS)
    read_file(json)  # rejects a wrong name before the measurements
    data: dict[str, Any] = {"machine": machine(), "sims": sims}
    with make_console(stderr=True).status("measuring") as status:
        for part in chosen:
            data[part] = MEASURES[part](names, sims, seconds, status.update)
    data["targets"] = targets(data)
    deliver(data, json, _show)


def _measure_speed(names: list[str], sims: int, seconds: float, report: Any) -> list[dict[str, Any]]:

    rows = []
    for name in names:
        for evaluator in ("uniform", "rollout"):
            for chance in ("sampling", "open"):
                report(f"{name}, {evaluator}, {chance}")
                rows.append(measure_speed(name, evaluator, chance, sims, seconds))
    return rows


def _measure_starts(names: list[str], sims: int, seconds: float, report: Any) -> dict[str, float]:

    report("fresh processes")
    return measure_starts()


def _measure_openspiel(names: list[str], sims: int, seconds: float, report: Any) -> dict[str, Any]:

    pyspiel = find_openspiel()
    if pyspiel is None:
        return {"installed": False, "rows": []}
    rows = []
    for name in SHARED:
        if name in names:
            report(f"{name}, compared with OpenSpiel")
            rows += compare(pyspiel, name, sims, seconds)
    return {"installed": True, "rows": rows}


MEASURES = {"speed": _measure_speed, "starts": _measure_starts, "openspiel": _measure_openspiel}


def targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare the results with the project's targets; targets without a result are left out."""
    ratios = {(r["game"], r["evaluator"]): r["ratio"] for r in data.get("openspiel", {}).get("rows", []) if r["rival"]}
    speeds = {(r["game"], r["evaluator"], r["chance"]): r["per_second"] for r in data.get("speed", [])}
    starts = data.get("starts", {})
    return [
        *target("pig, rollouts, to the C++ bot", ratios.get(("pig", "rollout")), 5, "×", at_least=True),
        *target("backgammon, rollouts, to the C++ bot", ratios.get(("backgammon", "rollout")), 10, "×", at_least=True),
        *target("pig, uniform, to Python MCTS", ratios.get(("pig", "uniform")), 40, "×", at_least=True),
        *target(
            "2048, uniform, explicit chance", speeds.get(("2048", "uniform", "sampling")), 700_000, "/s", at_least=True
        ),
        *target("warm start to a first result", starts.get("warm_start_seconds"), 1.5, "s", at_least=False),
        *target("aleazero --help", starts.get("help_seconds"), 0.5, "s", at_least=False),
    ]


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import facts_table, quiet_table

    about = data["machine"]
    console.print(f"{about['processor']}, Python {about['python']}, numba {about['numba']}; one thread", markup=False)
    if "speed" in data:
        table = quiet_table(("game", "left"), ("evaluator", "left"), ("chance", "left"),
                            (f"sims/s at {data['sims']:,}", "right"), (f"at {10 * data['sims']:,}", "right"),
                            ("bytes/sim", "right"), title="Search")  # fmt: skip
        for row in data["speed"]:
            table.add_row(
                row["game"], row["evaluator"], row["chance"], f"{row['per_second']:,.0f}",
                f"{row['per_second_at_10_times']:,.0f}", f"{row['bytes_per_simulation']:,.0f}",
            )  # fmt: skip
        console.print(table)
    if "starts" in data:
        facts = facts_table()
        facts.add_row("cold start (compiles pig)", f"{data['starts']['cold_start_seconds']:.2f} s")
        facts.add_row("warm start to a first result", f"{data['starts']['warm_start_seconds']:.2f} s")
        facts.add_row("aleazero --help", f"{data['starts']['help_seconds']:.2f} s")
        console.print(facts)
    if "openspiel" in data:
        _show_openspiel(data["openspiel"], console)
    show_targets(data["targets"], console)


def _show_openspiel(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    if not data["installed"]:
        console.print(
            "\nOpenSpiel is not installed, so there is no comparison: pip install 'aleazero[openspiel]'",
            style="bold yellow",
        )
        return
    table = quiet_table(("game", "left"), ("OpenSpiel search", "left"), ("sims", "right"), ("aleazero/s", "right"),
                        ("OpenSpiel/s", "right"), ("ratio", "right"), title="Compared with OpenSpiel")  # fmt: skip
    notes = []
    for row in data["rows"]:
        if row["rival"] is None:
            notes.append(f"{row['game']}: {row['skipped']}.")
            continue
        table.add_row(
            row["game"], row["rival"], f"{row['simulations']:,}", f"{row['ours_per_second']:,.0f}",
            f"{row['theirs_per_second']:,.0f}", f"{row['ratio']:,.1f}×",
        )  # fmt: skip
        steps = row.get("playout_steps")
        if steps and abs(steps["ours"] / steps["theirs"] - 1) > 0.1:
            notes.append(
                f"{row['game']}: a random playout has {steps['ours']:.0f} steps in aleazero and {steps['theirs']:.0f} "
                f"in OpenSpiel. The ratio per step is {row['ratio'] * steps['ours'] / steps['theirs']:.1f}×."
            )
    console.print(table)
    for note in notes:
        console.print(note, style="dim", markup=False)


OPENINGS = {
    "dice_game": "",
    "pig": "roll 5",
    "tic_tac_toe": "",
    "2048": "2@a1 2@b1",
    "yatzy": "roll-13446",
    "backgammon": "3-1",
}
"""Moves to the position of each game that is searched: its first decision with a choice."""

REPETITIONS = 3
LARGER = 10

FIRST_RESULT = """
import aleazero
game = aleazero.load_game("pig")
config = aleazero.SearchConfig(num_simulations=1000)
assert aleazero.Search(game, "rollout", config).run(game.new_initial_state()).best_action is not None
"""


def opening(name: str) -> State:
    """Return the position of a game that is searched."""
    from aleazero.games.registry import load_game

    state = load_game(name).new_initial_state()
    state.play(OPENINGS.get(name, ""))
    return state


def measure_speed(name: str, evaluator: str, chance: str, sims: int, seconds: float) -> dict[str, Any]:
    """Measure simulations/s of a search of ``sims`` simulations and of one ten times as large, and its memory."""
    from aleazero.cli.progress import prepare, whole_search
    from aleazero.players.spec import read_chance
    from aleazero.search.config import SearchConfig

    state = opening(name)
    prepare(state.game, state)

    def run(sims: int) -> SearchResult:
        config = SearchConfig(num_simulations=sims, seed=1, chance=read_chance(chance), max_nodes=2**31 - 2)
        return whole_search(state.game, state, evaluator, config)

    stats = run(sims).stats
    return {
        "game": name,
        "evaluator": evaluator,
        "chance": chance,
        "simulations": sims,
        "per_second": sims / best_seconds([lambda: run(sims)], seconds)[0],
        "per_second_at_10_times": LARGER * sims / best_seconds([lambda: run(LARGER * sims)], 0.0, repetitions=1)[0],
        "bytes_per_simulation": stats.tree_bytes / sims,
        "nodes_per_simulation": stats.nodes / sims,
    }


def best_seconds(runs: Sequence[Callable[[], Any]], seconds: float, repetitions: int = REPETITIONS) -> list[float]:
    """Return the best CPU time of each run; they alternate, ``repetitions`` times and until ``seconds`` have passed.

    CPU time is used because it does not include waiting for a core.
    """
    best = [float("inf")] * len(runs)
    started, turns = time.perf_counter(), 0
    while turns < repetitions or time.perf_counter() - started < seconds:
        for i, run in enumerate(runs):
            before = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - before)
        turns += 1
    return best


def measure_starts() -> dict[str, float]:
    """Measure the wall time of new processes: a first result of pig without and with a cache, and ``--help``."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ALEAZERO_CACHE_DIR": folder}
        first_result = [sys.executable, "-c", FIRST_RESULT]
        cold = _process_seconds(first_result, environment)
        warm = min(_process_seconds(first_result, environment) for _ in range(REPETITIONS))
    helping = [sys.executable, "-m", "aleazero.cli.main", "--help"]
    return {
        "cold_start_seconds": cold,
        "warm_start_seconds": warm,
        "help_seconds": min(_process_seconds(helping, dict(os.environ)) for _ in range(REPETITIONS)),
    }


def _process_seconds(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def machine() -> dict[str, Any]:
    """Return processor, system and versions."""
    import llvmlite
    import numba
    import numpy

    import aleazero

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": numpy.__version__,
        "aleazero": aleazero.__version__,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


SHARED = {"pig": [0, 4], "tic_tac_toe": [], "2048": [], "backgammon": [2]}
"""Games that both libraries have, and the OpenSpiel action ids that lead to the searched position."""

LOOKS = {"pig": "Turn total: 5", "tic_tac_toe": "...\n...\n...", "backgammon": "Dice: 13"}
"""Part of OpenSpiel's text of that position, to check that both libraries search the same position."""

PLAYOUTS = 200


class Constant:
    """An evaluator for OpenSpiel's Python search with equal priors and zero values, like ``uniform``."""

    def evaluate(self, state: Any) -> Any:
        """Return zero for each player."""
        import numpy

        return numpy.zeros(state.num_players())

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Return equal priors; at a chance node, the probabilities."""
        if state.is_chance_node():
            return list(state.chance_outcomes())
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]


def find_openspiel() -> Any | None:
    """Return the module of OpenSpiel; None if it is not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    return pyspiel


def compare(pyspiel: Any, name: str, sims: int, seconds: float) -> list[dict[str, Any]]:
    """Compare rollouts with OpenSpiel's C++ bot, and uniform values with its Python search."""
    game = pyspiel.load_game(name)
    if game.get_type().reward_model != pyspiel.GameType.RewardModel.TERMINAL:
        reason = "OpenSpiel's searches do not support games that score before the end"
        return [{"game": name, "rival": None, "skipped": reason}]
    theirs = game.new_initial_state()
    for action in SHARED[name]:
        theirs.apply_action(action)
    if LOOKS[name] not in str(theirs):
        raise ConfigError(f"{name} in OpenSpiel is {str(theirs)!r}, expected {LOOKS[name]!r} in this text")
    ours = opening(name)
    rows = []
    for evaluator, rival, run in (
        ("rollout", "C++ MCTSBot, rollouts", _cpp_bot(pyspiel, game, theirs, sims)),
        ("uniform", "Python MCTS, constant", _python_search(game, theirs, sims)),
    ):
        race = _race(_ours(ours, evaluator, sims), run, sims, seconds)
        rows.append({"game": name, "evaluator": evaluator, "rival": rival, **race})
    rows[0]["playout_steps"] = {"ours": _playout_steps(ours), "theirs": _playout_steps(theirs)}
    return rows


def _race(ours: Callable[[], Any], theirs: Callable[[], Any], sims: int, seconds: float) -> dict[str, Any]:
    mine, other = best_seconds([ours, theirs], seconds)
    return {
        "simulations": sims,
        "ours_per_second": sims / mine,
        "theirs_per_second": sims / other,
        "ratio": other / mine,
    }


def _ours(state: State, evaluator: str, sims: int) -> Callable[[], Any]:
    from aleazero.cli.progress import prepare, whole_search
    from aleazero.search.config import SearchConfig

    prepare(state.game, state)
    config = SearchConfig(num_simulations=sims, seed=1, selection="uct", c=0.75)
    return lambda: whole_search(state.game, state, evaluator, config)


def _cpp_bot(pyspiel: Any, game: Any, state: Any, sims: int) -> Callable[[], Any]:
    def run() -> None:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 7)
        pyspiel.MCTSBot(game, evaluator, 1.5, sims, 1000, False, 7, False).mcts_search(state)

    return run


def _python_search(game: Any, state: Any, sims: int) -> Callable[[], Any]:
    import numpy
    from open_spiel.python.algorithms import mcts

    def run() -> None:
        bot = mcts.MCTSBot(game, 1.5, sims, Constant(), solve=False, random_state=numpy.random.RandomState(1))
        bot.mcts_search(state)

    return run


def _playout_steps(state: Any) -> float:
    """Return the mean number of actions and outcomes in a random playout."""
    dice = random.Random(1)
    steps = 0
    for _ in range(PLAYOUTS):
        walker = state.clone()
        while not walker.is_terminal():
            steps += 1
            walker.apply_action(dice.choice(walker.legal_actions()))
    return steps / PLAYOUTS
