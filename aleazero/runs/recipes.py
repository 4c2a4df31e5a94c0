"""What an iteration does before its gate, by recipe: learning rounds, or self-play and a fit.

Each phase can be begun again after a kill: what it finds done it does not do again, and it ends with the same files.
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
"""Seconds between two states of learning."""
NOT_OURS: Final = "the fit would not be the run's"
TOLD: Final = 20
"""How often an iteration's learning is told in the events."""
PhaseProgress = Callable[[int, int | None, str], None]
"""Called with how much of a phase is done, of how much (None while that is measured), and a note."""


class Recipe(Protocol):
    """How the network of an iteration comes to be."""

    @property
    def phases(self) -> tuple[str, ...]:
        """In their order; behind the last one the iteration's network is there."""

    def do(self, phase: str, iteration: int, tell: PhaseProgress) -> dict[str, Any]:
        """Do a phase, and tell what it came to: only what is the same when it is done again."""

    def close(self) -> None:
        """End its threads."""


def make_recipe(run: RunDirectory, game: Game, pool: Pool) -> Recipe:
    """The recipe that the settings name."""
    return Alphazero(run, game, pool) if run.config.recipe == "alphazero" else Afterstate(run, game, pool.count)


class Afterstate:
    """Rounds of learning, the same number in every iteration."""

    phases = (LEARN,)

    def __init__(self, run: RunDirectory, game: Game, workers: int) -> None:
        self.run, self._game, self._workers = run, game, workers
        self._learner: AfterstateLearner | TupleLearner | None = None
        self._seconds = 0.0
        self._state = run.path / "learning" / "state.safetensors"

    def do(self, phase: str, iteration: int, tell: PhaseProgress) -> dict[str, Any]:
        """Learn until the iteration's last round, and write the network."""
        if self._learner is None:
            self._learner = make_learner(self._game, self.run.config.learning(self._game), self._workers)
            self._seconds = read_state(self._state, self._learner, self.run.manifest.settings) or 0.0
        learner = self._learner
        learner.rounds = self.run.manifest.rounds or UNKNOWN
        saved, began, compiled = time.monotonic(), time.perf_counter(), False
        turns = games = evaluations = 0
        if learner.rounds_done > (self._last_round(iteration) or UNKNOWN):
            raise CheckpointError(
                f"{self._state} is of round {learner.rounds_done}, expected at most {self._last_round(iteration)} in "
                f"iteration {iteration}; without it the run starts anew"
            )
        while (last := self._last_round(iteration)) is None or learner.rounds_done < last:
            started = time.perf_counter()
            try:
                told = learner.round()
            except AleaZeroError as error:
                raise type(error)(f"{error}; {self._last_good()}") from None
            if compiled:
                self._seconds += time.perf_counter() - started
                turns += told.turns
                games += told.games
                evaluations += told.evaluations or 0
            else:
                compiled, began = True, time.perf_counter()
            self._measure(learner)
            spent = max(1e-9, time.perf_counter() - began)
            self._announce(told, iteration, turns / spent)
            first = self._first_round(iteration)
            last = self._last_round(iteration)
            counts = {"turns": turns, "games": games, "evaluations": evaluations}
            note = ", ".join(f"{count / spent:,.0f} {name}/s" for name, count in counts.items() if count)
            tell(learner.rounds_done - first, None if last is None else last - first, note)
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

    def _measure(self, learner: Learner) -> None:
        """Fix the number of rounds once enough of the minutes is over, before any rate has begun to fall."""
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

    def _announce(self, told: Round, iteration: int, rate: float) -> None:
        last = self._last_round(iteration)
        if last is None:
            return
        every = max(1, (last - self._first_round(iteration)) // TOLD)
        if told.number % every == 0 or told.number == last:
            self.run.events.add("learning", iteration=iteration, round=told.number, turns_per_second=rate,
                                seconds=self._seconds, losses=told.losses, learning_rate=told.learning_rate,
                                mean_return=told.mean_return)  # fmt: skip

    def _last_good(self) -> str:
        done = [one.number for one in self.run.manifest.iterations if LEARN in one.done]
        return f"the last good network is {self.run.model(done[-1])}" if done else "no network was written before"


def make_learner(
    game: Game, config: AfterstateConfig | TupleConfig, threads: int = 1
) -> AfterstateLearner | TupleLearner:
    """Return the learner that these settings are for."""
    if isinstance(config, TupleConfig):
        return TupleLearner(game, config, threads=threads)
    return AfterstateLearner(game, config, threads)


class Alphazero:
    """Games of self-play, and a fit."""

    phases = (SELFPLAY, FIT)

    def __init__(self, run: RunDirectory, game: Game, pool: Pool) -> None:
        self.run, self._game, self._config = run, game, run.config.alphazero
        self._pool = pool
        self._require_files()

    def do(self, phase: str, iteration: int, tell: PhaseProgress) -> dict[str, Any]:
        """Play, or fit."""
        return self._play(iteration, tell) if phase == SELFPLAY else self._fit(iteration, tell)

    def close(self) -> None:
        """Do nothing: the pool belongs to the run."""

    def _play(self, iteration: int, tell: PhaseProgress) -> dict[str, Any]:
        whose = self._whose(self._config.actor, iteration)
        games = self._games(iteration)
        began, evaluations, decisions, played = time.perf_counter(), 0, 0, 0

        def on_game(taken: FinishedGame, done: int, of: int) -> None:
            nonlocal evaluations, decisions, played
            evaluations, decisions, played = evaluations + taken.evaluations, decisions + taken.decisions, played + 1
            spent = max(1e-9, time.perf_counter() - began)
            tell(done, of, f"{played / spent:,.1f} games/s, {evaluations / spent:,.0f} evaluations/s")

        net = "dummy" if whose is None else str(self.run.checked_model(whose))
        play_games(self._pool, self._game, net, games, self.run.replay, self._config.selfplay,
                   spec=self.run.config.game, seed=self.run.config.seed, iteration=iteration,
                   inference=self._config.inference, on_game=on_game)  # fmt: skip
        spent = time.perf_counter() - began
        if played:  # else a run before had told of them
            self.run.events.add("selfplay", iteration=iteration, games=played, seconds=spent, evaluations=evaluations,
                                decisions=decisions)  # fmt: skip
        return {"games": games, "network": whose}

    def _fit(self, iteration: int, tell: PhaseProgress) -> dict[str, Any]:
        whose = self._whose(self._config.start, iteration)
        if whose is not None:
            self._require_state(whose)
        config = self._config.train.model_copy(update={"seed": self.run.config.seed})

        def progress(done: int, of: int, losses: Mapping[str, float]) -> None:
            tell(done, of, ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items()))

        window = Window(self.run.replay, config.window)
        for shard in window.broken:
            raise ReplayError(f"{shard.path}: {shard.why}; without it, the fit has fewer samples than the run played")
        if len(window):  # else the fit says so
            self._require_own_games(window, iteration)
        summary = fit(self._game, window, self.run.model(iteration), config,
                      start=None if whose is None else self.run.checked_model(whose), progress=progress)  # fmt: skip
        told = asdict(summary)
        self.run.events.add("fit", iteration=iteration, **told)
        return {"step": summary.step, "samples": summary.samples, "start_network": whose}

    def _require_files(self) -> None:
        """Refuse to go on without what the next iteration goes on from, before anything is played."""
        iteration = 1 + sum(one.model is not None for one in self.run.manifest.iterations)
        if iteration > self.run.config.iterations:
            return
        if (actor := self._whose(self._config.actor, iteration)) is not None:
            self.run.checked_model(actor)
        if (start := self._whose(self._config.start, iteration)) is not None:
            self._require_state(start)

    def _require_state(self, iteration: int) -> None:
        """Refuse a network without the state that training had there: it would not go on as it was."""
        from aleazero.training.trainer import read_state, state_path

        path = self.run.checked_model(iteration)
        try:
            if not read_state(path, *read_checkpoint(path, PolicyValueInfo)):
                raise CheckpointError(f"{state_path(path)} is gone, expected it beside the network")
        except CheckpointError as error:
            raise RunError(f"{error}; put back the file that the run wrote, or start another run") from None

    def _games(self, iteration: int) -> int:
        return self._config.games if iteration > 1 else self._config.first_games

    def _require_own_games(self, window: Window, iteration: int) -> None:
        """Refuse a window with a gap, or with samples of others: from its oldest shard on, it has what was played."""
        oldest, found = shard_key(window.shards[0].path), {shard.path: shard for shard in window.shards}
        for number in range(max(1, oldest[0]), iteration + 1):
            origin = self._origin(number)
            for place in range(math.ceil(self._games(number) / self._config.selfplay.games_per_shard)):
                path = self.run.replay / shard_name(number, place)
                if (number, place) >= oldest and not path.exists():
                    raise ReplayError(f"{path} is gone, expected all that were played: {NOT_OURS}")
                if path in found:  # else it is older, or its games have no samples
                    require_origin(found.pop(path), origin, NOT_OURS)
        for path in found:
            raise ReplayError(f"{path} is none that the run played, expected no others there: {NOT_OURS}")

    def _origin(self, iteration: int) -> Origin:
        """Of the samples of an iteration whose games were played."""
        config, iterations = self.run.config, self.run.manifest.iterations
        actor = iterations[iteration - 1].results[SELFPLAY]["network"]
        model = DUMMY if actor is None else str(iterations[actor - 1].model)
        settings = settings_id(self._config.selfplay, config.seed, self._config.inference)
        return Origin.of(self._game, model, config.game, settings)

    def _whose(self, who: str, iteration: int) -> int | None:
        if iteration == 1:
            return None
        return iteration - 1 if who == "newest" else self.run.manifest.champion
