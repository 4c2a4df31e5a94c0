"""The loop of a run: each iteration trains a network, plays a gate, and evaluates the network.

After the last iteration the champion may be evaluated once more, with other dice.

A phase writes its files, then logs an event, then the manifest marks the phase as done. If the run is killed in
between, the phase is repeated and ends with the same files.
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
from aleazero.runs.evaluate import evaluate_champion, evaluate_network, require_opponents
from aleazero.runs.events import interrupted, read_events, write_scalars, write_tensorboard
from aleazero.runs.recipes import make_recipe

GATE, EVALUATE, FINAL = "gate", "evaluate", "final"
REPLAYS: Final = 2
"""Number of pairs of a gate whose games are recorded."""


class Listener(Protocol):
    """Receives the progress of a run."""

    def phase(self, iteration: int, of: int, name: str) -> None:
        """A phase starts."""

    def progress(self, done: int, of: int | None, note: str) -> None:
        """The phase has done this much work; ``of`` is None if the total is not known yet."""

    def ended(self, iteration: int, name: str, results: Mapping[str, Any]) -> None:
        """The phase is done, with these results."""


def train(run: RunDirectory, game: Game, workers: int, listener: Listener) -> None:
    """Do all phases of a run that are not done yet."""
    if run.manifest.finished:
        return
    require_opponents(run, game)
    _require_networks(run)
    started = any(one["event"] == "started" for one in read_events(run.events.path))
    run.events.add("resumed" if started else "started", iterations=run.config.iterations)
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
        with contextlib.suppress(RunError):  # e.g. a full disk, which the first error already reports
            stop = {"during": {**during, "seconds": time.monotonic() - began}} if during else {}
            run.events.add("stopped", why=str(error) or type(error).__name__, **stop)
        raise
    run.manifest.finished = True
    run.write_manifest()
    run.events.add("finished", champion=run.manifest.champion)


def player_of(run: RunDirectory, iteration: int) -> str:
    """Return the player spec of an iteration's network."""
    return f"net:{run.checked_model(iteration)}" + (f",{run.config.play}" if run.config.play else "")


def prune(run: RunDirectory, newest: int) -> None:
    """Remove old models except the champion, and samples that no window reaches.

    ``newest`` is the last finished iteration, from which the next one continues.
    """
    champion = run.manifest.champion
    for number in range(1, newest + 1 - run.config.keep.models):
        if number != champion:
            _remove(run.path.glob(f"models/{number:04}.*"))
    for number in range(1, newest):  # training states
        if number != champion:
            _remove(run.path.glob(f"models/{number:04}.training.safetensors"))
    if run.config.recipe == "alphazero" and run.replay.is_dir():
        kept = max(run.config.keep.samples, run.config.alphazero.train.window)
        wanted, paths = Window(run.replay, kept).shards, shard_paths(run.replay)[0]
        if wanted:  # remove the oldest shards only: damaged shards after them stay, and are reported
            _remove(paths[: paths.index(wanted[0].path)])


def _require_networks(run: RunDirectory) -> None:
    """Check the networks that the next gate or evaluation needs, before anything is trained."""
    if run.manifest.champion is not None:
        run.checked_model(run.manifest.champion)
    written = [one for one in run.manifest.iterations if one.model is not None]
    if written and not {GATE, EVALUATE} <= set(written[-1].done):
        run.checked_model(written[-1].number)


def _phases_after(run: RunDirectory, number: int) -> tuple[str, ...]:
    """Return the phases after an iteration's network is written."""
    config = run.config.evaluate
    final = number == run.config.iterations and (config.final_pairs or config.final_reference_games)
    return (GATE, EVALUATE, FINAL) if final else (GATE, EVALUATE)


def _finish_phase(run: RunDirectory, iteration: Iteration, phase: str, results: dict[str, Any], seconds: float) -> None:
    before = interrupted(read_events(run.events.path), iteration.number, phase)
    earlier = {"interrupted": before} if before else {}
    run.events.add("phase", iteration=iteration.number, phase=phase, seconds=seconds, **earlier, results=results)
    iteration.results[phase] = results
    iteration.done.append(phase)
    run.write_manifest()


def _gate(run: RunDirectory, game: Game, iteration: Iteration, pool: Pool, listener: Listener) -> dict[str, Any]:
    """Play the iteration's network against the champion; the first network is champion without a gate."""
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
    number = iteration.number
    if number % run.config.evaluate.every and number != run.config.iterations:
        return {}
    return evaluate_network(run, game, number, player_of(run, number), pool, listener.progress)


def _final(run: RunDirectory, game: Game, pool: Pool, listener: Listener) -> dict[str, Any]:
    assert run.manifest.champion is not None
    return evaluate_champion(run, game, player_of(run, run.manifest.champion), pool, listener.progress)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with os_errors_as(RunError, f"{path} cannot be removed"):
            path.unlink(missing_ok=True)
