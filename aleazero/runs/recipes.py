"""The two recipes: how an iteration makes its network, by learning rounds, or by self-play and a fit.

A phase can be repeated after a kill. It keeps the work that was saved, and ends with the same files.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final, Protocol

from aleazero.errors import AleaZeroError, CheckpointError, ReplayError, RunError
from aleazero.games.base import Game
from aleazero.nets.checkpoint import PolicyValueInfo, read_checkpoint
from aleazero.players.search import DUMMY
from aleazero.processes import Pool
from aleazero.replay.shard import require_origin, shard_key, shard_name
from aleazero.replay.shard_format import Origin
from aleazero.replay.window import Window
from aleazero.runs.config import MEASURED, UNKNOWN
from aleazero.runs.directory import RunDirectory
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.alphazero import FinishedGame, fit, play_games, settings_id
from aleazero.training.config import AfterstateConfig, TupleConfig
from aleazero.training.learner import Learner, Round, read_state, write_state
from aleazero.training.table_learner import TupleLearner

LEARN, SELFPLAY, FIT = "learn", "selfplay", "fit"
SAVED_EVERY: Final = 30.0
"""Seconds between two saved states of learning."""
EVENTS_PER_ITERATION: Final = 20
"""Number of learning events that an iteration logs."""
DIFFERENT: Final = "the fit would differ from the run's"
PhaseProgress = Callable[[int, int | None, str], None]
"""Called with the work done, the total (None if it is not known yet), and a note of less than 24 characters."""


class Recipe(Protocol):
    """The phases of an iteration that make its network."""

    @property
    def phases(self) -> tuple[str, ...]:
        """Names of the phases, in order; the last one writes the network."""

    def do(self, phase: str, iteration: int, progress: PhaseProgress) -> dict[str, Any]:
        """Do a phase; return its results, which are the same if the phase is repeated."""

    def close(self) -> None:
        """End its threads."""


def make_recipe(run: RunDirectory, game: Game, pool: Pool) -> Recipe:
    """Return the recipe of a run."""
    return Alphazero(run, game, pool) if run.config.recipe == "alphazero" else Afterstate(run, game, pool.count)


class Afterstate:
    """Learning rounds, the same number in each iteration."""

    phases = (LEARN,)

    def __init__(self, run: RunDirectory, game: Game, workers: int) -> None:
        self.run, self._game, self._workers = run, game, workers
        self._learner: AfterstateLearner | TupleLearner | None = None
        self._seconds = 0.0
        self._compiled = False
        self._state = run.path / "learning" / "state.safetensors"

    def do(self, phase: str, iteration: int, progress: PhaseProgress) -> dict[str, Any]:
        """Learn up to the last round of the iteration, and write the network."""
        if self._learner is None:
            self._learner = make_learner(self._game, self.run.config.learning(self._game), self._workers)
            self._seconds = read_state(self._state, self._learner, self.run.manifest.settings) or 0.0
        learner = self._learner
        learner.rounds = self.run.manifest.rounds or UNKNOWN
        saved, began, turns = time.monotonic(), time.perf_counter(), 0
        if learner.rounds_done > (self._last_round(iteration) or UNKNOWN):
            raise CheckpointError(
                f"{self._state} is from round {learner.rounds_done}, expected at most {self._last_round(iteration)} in "
                f"iteration {iteration}; remove it to restart learning"
            )
        while (last := self._last_round(iteration)) is None or learner.rounds_done < last:
            started = time.perf_counter()
            try:
                found = learner.round()
            except AleaZeroError as error:
                raise type(error)(f"{error}; {self._last_good()}") from None
            if self._compiled:
                self._seconds += time.perf_counter() - started
                turns += found.turns
            else:
                self._compiled, began = True, time.perf_counter()
            self._fix_rounds(learner)
            rate = turns / max(1e-9, time.perf_counter() - began)
            self._log(found, iteration, rate)
            first, last = self._first_round(iteration), self._last_round(iteration)
            note = f"{rate:,.0f} turns/s" if turns else ""
            progress(learner.rounds_done - first, None if last is None else last - first, note)
            if time.monotonic() - saved >= SAVED_EVERY:
                self._save(learner)
                saved = time.monotonic()
        learner.save(self.run.model(iteration))
        self._save(learner)
        return {"rounds": learner.rounds_done}

    def close(self) -> None:
        """End its threads."""
        if self._learner is not None:
            self._learner.close()

    def _save(self, learner: Learner) -> None:
        write_state(self._state, learner, self._seconds, self.run.manifest.settings)

    def _fix_rounds(self, learner: Learner) -> None:
        """Compute the number of rounds from the minutes, early enough that no learning rate has decayed yet."""
        config, manifest = self.run.config, self.run.manifest
        share = min(MEASURED, 0.5 / config.iterations)
        if manifest.rounds is None and config.minutes is not None and self._seconds >= share * 60.0 * config.minutes:
            manifest.rounds = max(config.iterations, learner.rounds_done + 1, round(learner.rounds_done / share))
            learner.rounds = manifest.rounds
            self.run.write_manifest()

    def _first_round(self, iteration: int) -> int:
        return (self._last_round(iteration - 1) or 0) if iteration > 1 else 0

    def _last_round(self, iteration: int) -> int | None:
        rounds = self.run.manifest.rounds
        return None if rounds is None else -(-rounds * iteration // self.run.config.iterations)

    def _log(self, found: Round, iteration: int, rate: float) -> None:
        last = self._last_round(iteration)
        if last is None:
            return
        every = max(1, (last - self._first_round(iteration)) // EVENTS_PER_ITERATION)
        if found.number % every == 0 or found.number == last:
            self.run.events.add("learning", iteration=iteration, round=found.number, turns_per_second=rate,
                                seconds=self._seconds, losses=found.losses, learning_rate=found.learning_rate,
                                mean_return=found.mean_return)  # fmt: skip

    def _last_good(self) -> str:
        done = [one.number for one in self.run.manifest.iterations if LEARN in one.done]
        return f"the last good network is {self.run.model(done[-1])}" if done else "no network was written before"


def make_learner(
    game: Game, config: AfterstateConfig | TupleConfig, threads: int = 1
) -> AfterstateLearner | TupleLearner:
    """Return the learner for these settings."""
    if isinstance(config, TupleConfig):
        return TupleLearner(game, config, threads=threads)
    return AfterstateLearner(game, config, threads)


class Alphazero:
    """Self-play games, and a fit."""

    phases = (SELFPLAY, FIT)

    def __init__(self, run: RunDirectory, game: Game, pool: Pool) -> None:
        self.run, self._game, self._config = run, game, run.config.alphazero
        self._pool = pool
        self._require_files()

    def do(self, phase: str, iteration: int, progress: PhaseProgress) -> dict[str, Any]:
        """Play games, or fit a network to the samples."""
        return self._play(iteration, progress) if phase == SELFPLAY else self._fit(iteration, progress)

    def close(self) -> None:
        """Do nothing: the pool belongs to the run."""

    def _play(self, iteration: int, progress: PhaseProgress) -> dict[str, Any]:
        actor = self._iteration_of(self._config.actor, iteration)
        games = self._games(iteration)
        began, evaluations, decisions, played = time.perf_counter(), 0, 0, 0

        def on_game(finished: FinishedGame, done: int, of: int) -> None:
            nonlocal evaluations, decisions, played
            evaluations, decisions = evaluations + finished.evaluations, decisions + finished.decisions
            played += 1
            progress(done, of, f"{evaluations / max(1e-9, time.perf_counter() - began):,.0f} evaluations/s")

        net = "dummy" if actor is None else str(self.run.checked_model(actor))
        play_games(self._pool, self._game, net, games, self.run.replay, self._config.selfplay,
                   spec=self.run.config.game, seed=self.run.config.seed, iteration=iteration,
                   inference=self._config.inference, on_game=on_game)  # fmt: skip
        spent = time.perf_counter() - began
        if played:  # else they were logged before the run was killed
            self.run.events.add("selfplay", iteration=iteration, games=played, seconds=spent, evaluations=evaluations,
                                decisions=decisions)  # fmt: skip
        return {"games": games, "network": actor}

    def _fit(self, iteration: int, progress: PhaseProgress) -> dict[str, Any]:
        start = self._iteration_of(self._config.start, iteration)
        if start is not None:
            self._require_state(start)
        config = self._config.train.model_copy(update={"seed": self.run.config.seed})

        def on_step(done: int, of: int, losses: Mapping[str, float]) -> None:
            progress(done, of, f"policy {losses['policy_loss']:.2f}, value {losses['value_loss']:.2f}")

        window = Window(self.run.replay, config.window)
        for shard in window.broken:
            raise ReplayError(f"{shard.path}: {shard.why}; without it, the fit has fewer samples than the run played")
        if len(window):  # else the fit raises an error
            self._require_own_games(window, iteration)
        summary = fit(self._game, window, self.run.model(iteration), config,
                      start=None if start is None else self.run.checked_model(start), progress=on_step)  # fmt: skip
        self.run.events.add("fit", iteration=iteration, **asdict(summary))
        return {"step": summary.step, "samples": summary.samples, "start_network": start}

    def _require_files(self) -> None:
        """Check the networks that the next iteration starts from, before any game is played."""
        iteration = 1 + sum(one.model is not None for one in self.run.manifest.iterations)
        if iteration > self.run.config.iterations:
            return
        if (actor := self._iteration_of(self._config.actor, iteration)) is not None:
            self.run.checked_model(actor)
        if (start := self._iteration_of(self._config.start, iteration)) is not None:
            self._require_state(start)

    def _require_state(self, iteration: int) -> None:
        """Check that a network still has its training state, without which training would continue differently."""
        from aleazero.training import trainer

        path = self.run.checked_model(iteration)
        try:
            if not trainer.read_state(path, *read_checkpoint(path, PolicyValueInfo)):
                raise CheckpointError(f"{trainer.state_path(path)} is missing, expected it next to the network")
        except CheckpointError as error:
            raise RunError(f"{error}; restore the file that the run wrote, or start another run") from None

    def _games(self, iteration: int) -> int:
        return self._config.games if iteration > 1 else self._config.first_games

    def _require_own_games(self, window: Window, iteration: int) -> None:
        """Check that the window has all samples that the run played since its oldest shard, and no others."""
        oldest, found = shard_key(window.shards[0].path), {shard.path: shard for shard in window.shards}
        for number in range(max(1, oldest[0]), iteration + 1):
            origin = self._origin(number)
            for place in range(math.ceil(self._games(number) / self._config.selfplay.games_per_shard)):
                path = self.run.replay / shard_name(number, place)
                if (number, place) >= oldest and not path.exists():
                    raise ReplayError(f"{path} is missing, expected all samples of the run: {DIFFERENT}")
                if path in found:  # else it is older, or its games have no samples
                    require_origin(found.pop(path), origin, DIFFERENT)
        for path in found:
            raise ReplayError(f"{path} does not belong to the run, expected only its own samples: {DIFFERENT}")

    def _origin(self, iteration: int) -> Origin:
        """Return the origin of the samples of an iteration."""
        config, iterations = self.run.config, self.run.manifest.iterations
        actor = iterations[iteration - 1].results[SELFPLAY]["network"]
        model = DUMMY if actor is None else str(iterations[actor - 1].model)
        settings = settings_id(self._config.selfplay, config.seed, self._config.inference)
        return Origin.of(self._game, model, config.game, settings)

    def _iteration_of(self, network: str, iteration: int) -> int | None:
        """Return the iteration of the ``newest`` network or of the ``champion``; None in the first iteration."""
        if iteration == 1:
            return None
        return iteration - 1 if network == "newest" else self.run.manifest.champion
