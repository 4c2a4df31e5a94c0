"""The run: in each iteration a network, a gate and an evaluation; then unneeded files are removed.

After the last iteration the champion may be evaluated once more, on other dice.

A phase does its work and writes its files; then an event is added; then the manifest marks the phase as done. If the
run is killed in between, the phase is done again and ends with the same files.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Protocol

from aleazero.errors import RunError
from aleazero.evaluation.gate import run_gate
from aleazero.files import file_hash, os_errors_as
from aleazero.games.base import Game
from aleazero.processes import Pool
from aleazero.replay.window import Window, shard_paths
from aleazero.runs.directory import Iteration, RunDirectory, require_no_links
from aleazero.runs.evaluate import measure, measure_champion, require_opponents
from aleazero.runs.events import interrupted, read_events, write_scalars, write_tensorboard
from aleazero.runs.recipes import make_recipe

GATE, EVALUATE, FINAL = "gate", "evaluate", "final"
REPLAYS: Final = 2
"""Pairs of a gate whose games are kept, to be watched."""


class Listener(Protocol):
    """Who watches a run."""

    def phase(self, iteration: int, of: int, name: str) -> None:
        """A phase begins."""

    def progress(self, done: int, of: int | None, note: str) -> None:
        """So much of it is done."""

    def ended(self, iteration: int, name: str, results: Mapping[str, Any]) -> None:
        """It is over, and this came of it."""


def train(run: RunDirectory, game: Game, workers: int, listener: Listener) -> None:
    """Do all that is missing of a run."""
    if run.manifest.finished:
        return
    require_opponents(run, game)
    _require_networks(run)
    run.events.add("resumed" if run.manifest.iterations else "started", iterations=run.config.iterations)
    during: dict[str, Any] = {}
    began = time.monotonic()
    try:
        with Pool(workers) as pool, closing(make_recipe(run, game, pool)) as recipe:
            for number in range(1, run.config.iterations + 1):
                iteration = run.iteration(number)
                todo = [one for one in (*recipe.phases, *_phases_after(run, number)) if one not in iteration.done]
                for phase in todo:
                    listener.phase(number, run.config.iterations, phase)
                    during, began = {"iteration": number, "phase": phase}, time.monotonic()
                    if phase == GATE:
                        results = _gate(run, game, iteration, pool, listener)
                    elif phase == EVALUATE:
                        results = _evaluate(run, game, iteration, pool, listener)
                    elif phase == FINAL:
                        results = _final(run, game, pool, listener)
                    else:
                        results = recipe.do(phase, number, listener.progress)
                        if phase == recipe.phases[-1]:
                            iteration.model = file_hash(run.model(number), RunError)
                    _finish_phase(run, iteration, phase, results, time.monotonic() - began)
                    during = {}
                    listener.ended(number, phase, results)
                if todo or number == run.config.iterations:
                    prune(run, number)
                    write_scalars(run.path)
                    require_no_links(run.path)
                    write_tensorboard(run.path)
    except (Exception, KeyboardInterrupt) as error:
        with contextlib.suppress(RunError):  # a full disk is told by who met it first
            told = {"during": {**during, "seconds": time.monotonic() - began}} if during else {}
            run.events.add("stopped", why=str(error) or type(error).__name__, **told)
        raise
    run.manifest.finished = True
    run.write_manifest()
    run.events.add("finished", champion=run.manifest.champion)


def player_of(run: RunDirectory, iteration: int) -> str:
    """The text of the player that an iteration's network is."""
    return f"net:{run.checked_model(iteration)}" + (f",{run.config.play}" if run.config.play else "")


def prune(run: RunDirectory, newest: int) -> None:
    """Remove models that are neither new nor the champion, and samples that no window reaches.

    ``newest`` is the last iteration that is over: the next one, if it has begun, goes on from it.
    """
    champion = run.manifest.champion
    for number in range(1, newest + 1 - run.config.keep.models):
        if number != champion:
            _remove(run.path.glob(f"models/{number:04}.*"))
    for number in range(1, newest):  # what training goes on from
        if number != champion:
            _remove(run.path.glob(f"models/{number:04}.training.safetensors"))
    if run.config.recipe == "alphazero" and run.replay.is_dir():
        kept = max(run.config.keep.samples, run.config.alphazero.train.window)
        wanted, paths = Window(run.replay, kept).shards, shard_paths(run.replay)[0]
        if wanted:
            _remove(
                paths[: paths.index(wanted[0].path)]
            )  # the oldest; what is damaged behind them is told, not removed


def _require_networks(run: RunDirectory) -> None:
    """Refuse to go on without a network that will be judged, or challenged, before anything is learnt."""
    if run.manifest.champion is not None:
        run.checked_model(run.manifest.champion)
    written = [one for one in run.manifest.iterations if one.model is not None]
    if written and not {GATE, EVALUATE} <= set(written[-1].done):
        run.checked_model(written[-1].number)


def _phases_after(run: RunDirectory, number: int) -> tuple[str, ...]:
    """The phases behind an iteration's network."""
    config = run.config.evaluate
    final = number == run.config.iterations and (config.final_pairs or config.final_reference_games)
    return (GATE, EVALUATE, FINAL) if final else (GATE, EVALUATE)


def _finish_phase(run: RunDirectory, iteration: Iteration, phase: str, results: dict[str, Any], seconds: float) -> None:
    before = interrupted(read_events(run.events.path), iteration.number, phase)
    told = {"interrupted": before} if before else {}
    run.events.add("phase", iteration=iteration.number, phase=phase, seconds=seconds, **told, results=results)
    iteration.results[phase] = results
    iteration.done.append(phase)
    run.write_manifest()


def _gate(run: RunDirectory, game: Game, iteration: Iteration, pool: Pool, listener: Listener) -> dict[str, Any]:
    """The iteration's network against the champion; the first of all is champion without one."""
    number, champion = iteration.number, run.manifest.champion
    if champion is None:
        iteration.champion = number
        return {"champion": number, "promoted": True, "pairs": 0}
    run.require_same_seeds()
    report = run_gate(
        game, player_of(run, number), player_of(run, champion), run.config.gate, seed=run.config.seed,
        iteration=number, workers=pool, source=run.config.game, replays=REPLAYS,
        names=(f"network {number}", f"network {champion}"), progress=lambda done, of: listener.progress(done, of, ""),
    )  # fmt: skip
    folder = run.path / "gates"
    with os_errors_as(RunError, f"{folder} cannot be written"):
        report.write(folder / f"{number:04}.json")
        report.games.write(folder / f"{number:04}_games.json")
    iteration.champion = number if report.promoted else champion
    results = report.data["results"]
    gain = {"gain": results["return_difference"]} if run.config.gate.unit_of(game) == "returns" else {}
    return {"champion": iteration.champion, "against": champion, "promoted": report.promoted,
            "decided": report.decided, "pairs": report.table.count, "score": results["score"], **gain,
            "error_rates": report.error_rates}  # fmt: skip


def _evaluate(run: RunDirectory, game: Game, iteration: Iteration, pool: Pool, listener: Listener) -> dict[str, Any]:
    """What is measured of the iteration's network, beside the gate."""
    number = iteration.number
    if number % run.config.evaluate.every and number != run.config.iterations:
        return {}
    return measure(run, game, number, player_of(run, number), pool, listener.progress)


def _final(run: RunDirectory, game: Game, pool: Pool, listener: Listener) -> dict[str, Any]:
    """What is measured of the champion, when all is over."""
    assert run.manifest.champion is not None
    return measure_champion(run, game, player_of(run, run.manifest.champion), pool, listener.progress)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with os_errors_as(RunError, f"{path} cannot be removed"):
            path.unlink(missing_ok=True)
