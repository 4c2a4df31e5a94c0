"""Workers: processes that play games of self-play. What a game is like does not depend on who plays it.

The parent hands out numbers of games, takes the records and writes the shards. A worker that dies is started again, and
the games it had under way are played anew; a game is only counted when its record has arrived.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Final

import aleazero.errors
from aleazero.errors import AleaZeroError, ConfigError, GameError
from aleazero.interrupts import deaf_children
from aleazero.selfplay.config import SelfplayConfig
from aleazero.selfplay.record import EpisodeRecord

CHUNK: Final = 8
"""Games that a worker is given at a time."""
MOST_DEATHS: Final = 3
"""Workers that may die with the same game in hand before it is given up."""
MOST_STILLBORN: Final = 6
"""Workers that may die one after another, without a game in hand, before all is given up."""
PLAY, MORE, RECORD, DONE, ERROR = "play", "more", "record", "done", "error"


@dataclass(frozen=True)
class Job:
    """What workers are to play."""

    game: str
    """What ``load_game`` takes."""
    params: Mapping[str, Any]
    net: str
    """A checkpoint's path, or ``dummy``."""
    config: SelfplayConfig
    seed: int
    iteration: int
    inference: str = "onnxruntime"


@dataclass(frozen=True)
class Taken:
    """A game that has ended, and what it cost."""

    record: EpisodeRecord
    decisions: int
    """Searched by the worker since the last game that it sent."""
    evaluations: int


@dataclass
class _Worker:
    process: Any
    connection: Connection
    given: set[int] = field(default_factory=set)
    """Games that it has and that have not come back."""
    busy: bool = False
    """Whether it has a job that it has not ended."""


class Workers:
    """A number of processes, kept from job to job."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ConfigError(f"workers is {count}, expected at least 1")
        self._context = multiprocessing.get_context("spawn")
        self._workers = [self._start() for _ in range(count)]

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(theirs,), daemon=True)
        with deaf_children():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    @property
    def process_ids(self) -> list[int]:
        """Of the processes, as they are now."""
        return [worker.process.pid for worker in self._workers]

    def play(self, job: Job, numbers: Iterable[int]) -> Generator[Taken]:
        """Play the games of these numbers; they come in the order in which they end."""
        for worker in self._workers:
            self._employ(worker, job)
        try:
            yield from self._listen(job, deque(numbers))
        finally:
            for place, worker in enumerate(self._workers):
                if worker.busy:  # the job was left in the middle
                    self._bury(worker)
                    self._workers[place] = self._start()

    def _listen(self, job: Job, queue: deque[int]) -> Iterator[Taken]:
        deaths: Counter[int] = Counter()
        stillborn = 0
        while any(worker.busy for worker in self._workers):
            for connection in wait([worker.connection for worker in self._workers]):
                place = next(i for i, worker in enumerate(self._workers) if worker.connection is connection)
                worker = self._workers[place]
                try:
                    kind, said = worker.connection.recv()
                except (EOFError, OSError):
                    self._bury(worker)
                    deaths.update(worker.given)
                    stillborn += not worker.given
                    if stillborn >= MOST_STILLBORN:
                        raise AleaZeroError(
                            f"{stillborn} workers died before they began (exit code {worker.process.exitcode}), "
                            'expected them to play; a script that starts workers needs `if __name__ == "__main__":`'
                        ) from None
                    if any(deaths[game] >= MOST_DEATHS for game in worker.given):
                        raise AleaZeroError(
                            f"{MOST_DEATHS} workers died with the same games in hand (exit code "
                            f"{worker.process.exitcode}), expected them to end; one of {sorted(worker.given)}"
                        ) from None
                    queue.extendleft(sorted(worker.given, reverse=True))
                    self._workers[place] = self._start()
                    self._employ(self._workers[place], job)
                    continue
                stillborn = 0
                if kind == MORE:
                    some = [queue.popleft() for _ in range(min(CHUNK, len(queue)))]
                    worker.given |= set(some)
                    self._tell(worker, some)
                elif kind == RECORD:
                    worker.given.discard(said.record.game_number)
                    yield said
                elif kind == DONE:
                    worker.busy = False
                else:
                    name, message = said
                    raise getattr(aleazero.errors, name, AleaZeroError)(message)

    def _employ(self, worker: _Worker, job: Job) -> None:
        worker.busy = True
        self._tell(worker, (PLAY, job))

    def _tell(self, worker: _Worker, message: Any) -> None:
        with contextlib.suppress(OSError):  # whoever is dead is found when it is listened to
            worker.connection.send(message)

    def _bury(self, worker: _Worker) -> None:
        worker.connection.close()
        worker.process.kill()
        worker.process.join()

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            self._bury(worker)
        self._workers = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def work(connection: Connection) -> None:
    """A worker's life: job after job, until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear
    with contextlib.suppress(_Gone):
        while True:
            _, job = _hear(connection)
            try:
                _play(connection, job)
                _say(connection, (DONE, None))
            except AleaZeroError as error:
                _say(connection, (ERROR, (type(error).__name__, str(error))))
            except _Gone:
                raise
            except Exception as error:  # the rules', most likely
                said = f"{job.game}: a game of self-play raised {type(error).__name__}: {error}"
                _say(connection, (ERROR, (GameError.__name__, said)))


class _Gone(BaseException):
    """The parent is not there any more."""


def _hear(connection: Connection) -> Any:
    try:
        return connection.recv()
    except (EOFError, OSError):
        raise _Gone from None


def _say(connection: Connection, message: Any) -> None:
    try:
        connection.send(message)
    except OSError:
        raise _Gone from None


def _play(connection: Connection, job: Job) -> None:
    from aleazero.games.registry import load_game
    from aleazero.players.search import DUMMY, read_net
    from aleazero.search.evaluator import Uniform
    from aleazero.selfplay.actor import Actor

    game = load_game(job.game, **job.params)
    blank = job.net == DUMMY
    # Zeros would say that in a game of points going on is worth nothing; the points so far are as blank, and fair.
    net = Uniform() if blank else read_net(job.net, game, job.inference)
    actor = Actor(game, net, job.config, seed=job.seed, iteration=job.iteration, values_known=not blank)
    before = (0, 0)
    for record in actor.play(_numbers(connection)):
        now = (actor.decisions, actor.evaluations)
        _say(connection, (RECORD, Taken(record, now[0] - before[0], now[1] - before[1])))
        before = now


def _numbers(connection: Connection) -> Iterator[int]:
    """The games to play, asked for when there is room."""
    while True:
        _say(connection, (MORE, None))
        some = _hear(connection)
        if not some:
            return
        yield from some
