"""Many searches in lock-step, so that a network evaluates hundreds of leaves in one batch.

Trees are divided into groups. A group has one batch of fixed shape and runs in one thread at a time. The result of a
search depends only on its state, its seed and the settings, not on other trees or the number of threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import count, repeat
from types import TracebackType
from typing import Any

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.driver import Backend, GroupDriver, check_arguments
from aleazero.search.result import SearchResult
from aleazero.search.root import Request, make_request


@dataclass(frozen=True)
class Finished:
    """A search of a forest that has ended, with a result or with an error."""

    ticket: int
    """Number that ``Forest.submit`` returned."""
    result: SearchResult | None
    """Result of the search; None if it failed."""
    error: Exception | None = None
    """Error with which the search failed; None if it has a result."""


class Forest:
    """Many tree searches in lock-step, with one evaluator batch for the leaves of many trees.

    Results are the same as those of ``Search`` with the same settings and seeds. Use it as a context manager, or call
    ``close`` at the end.

    Args:
        game: the game, from ``load_game``.
        evaluator: values the leaves: ``"rollout"``, ``"rollout:N"`` (N playouts per leaf), ``"uniform"``, a network
            from ``load_net``, or any ``Evaluator``.
        config: settings of every search; None for the defaults. ``max_seconds`` is not supported.
        trees: maximum number of searches at the same time. Further searches wait.
        batch_size: rows of every batch for the evaluator. Unused rows are zero. None: half of all trees fit.
        threads: number of threads. With more than one, the evaluator is called from several threads at the same time,
            unless it has an attribute ``one_at_a_time = True``.
        backend: ``"auto"``, ``"compiled"``, ``"plain"`` or ``"implicit"``, as for ``Search``.

    Raises:
        ConfigError: an argument is invalid, or the backend does not support the game.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Any = "rollout",
        config: SearchConfig | None = None,
        *,
        trees: int = 128,
        batch_size: int | None = None,
        threads: int = 1,
        backend: Backend = "auto",
    ) -> None:
        self.game, self.evaluator, self.config = check_arguments(game, evaluator, config)
        if self.config.max_seconds is not None:
            raise ConfigError("max_seconds is set, expected num_simulations or max_evaluations: trees of a forest "
                              "share their time")  # fmt: skip
        for name, number in (("trees", trees), ("threads", threads)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ConfigError(f"{name} is {number!r}, expected an integer of at least 1")
        self.trees, self.threads = trees, threads
        self.batch_size, sizes = self._divide(batch_size)
        locks = threads > 1 and getattr(self.evaluator, "one_at_a_time", False)
        shared = _Locked(self.evaluator) if locks else self.evaluator
        self._groups = [
            GroupDriver(game, shared, self.config, backend, size, self.batch_size, pad=True) for size in sizes
        ]
        self._free = [list(range(size))[::-1] for size in sizes]
        self._tickets: list[dict[int, int]] = [{} for _ in sizes]
        self._queue: deque[tuple[int, Request]] = deque()
        self._next_ticket = count()
        self._uncollected = 0
        self._workers = ThreadPoolExecutor(threads) if threads > 1 else None
        self._running: dict[Future[list[Finished]], int] = {}
        self._stop = threading.Event()
        self._closed = False

    def _divide(self, batch_size: int | None) -> tuple[int, list[int]]:
        """Return the rows of a batch, and the number of trees of each group."""
        in_flight = self.config.in_flight
        leaves = largest_visit(chance_of(self.config, self.game, self.evaluator), self.game)
        least = in_flight * leaves
        half, by_default = -(-self.trees // 2), batch_size is None
        if batch_size is None:
            batch_size = max(least, half * in_flight)
        elif isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < least:
            raise ConfigError(
                f"batch_size is {batch_size!r}, expected an integer of at least {least}: one tree may need this many "
                f"rows (in_flight {in_flight} with {leaves} leaves per visit)"
            )
        most = max(1, batch_size // in_flight)
        if by_default:  # always two groups: the rows of one large visit may be enough for all trees
            most = min(most, half)
        full, rest = divmod(self.trees, most)
        return batch_size, [most] * full + [rest] * (rest > 0)

    # -- many searches at once ---------------------------------------------------------------------------------

    def run(
        self,
        states: Sequence[State],
        *,
        seeds: Sequence[int] | None = None,
        actions: Sequence[Sequence[int] | None] | None = None,
        return_errors: bool = False,
    ) -> list[Any]:
        """Search from many states.

        If a search fails, the others continue to their end.

        Args:
            states: decision or chance nodes of the game.
            seeds: seed of each search; None for the configured seed.
            actions: for each search the actions to consider at the root, or None for all legal actions.
            return_errors: return errors in place of results, instead of raising the first one.

        Returns:
            One ``SearchResult`` per state, in the same order.

        Raises:
            ConfigError: an argument is invalid, or submitted searches are not collected yet.
            PositionError: a state is terminal, or belongs to another game.
            IllegalActionError: an entry of ``actions`` is not legal.
            EvaluatorError: the evaluator raised an error, or its output is invalid.
        """
        self._require_open()
        if self.pending:
            raise ConfigError(f"{self.pending} searches are submitted and not collected, expected none: collect first")
        for name, given in (("seeds", seeds), ("actions", actions)):
            if given is not None and len(given) != len(states):
                raise ConfigError(f"{name} has {len(given)} entries, expected {len(states)}, one per state")
        all_seeds: Any = repeat(self.config.seed) if seeds is None else seeds
        all_actions: Any = repeat(None) if actions is None else actions
        requests = [
            make_request(self.game, state, allowed, seed)
            for state, allowed, seed in zip(states, all_actions, all_seeds, strict=False)
        ]
        tickets = [self._enqueue(request) for request in requests]
        found: dict[int, Finished] = {}
        while len(found) < len(tickets):
            found.update((finished.ticket, finished) for finished in self.collect())
        errors = [found[ticket].error for ticket in tickets if found[ticket].error is not None]
        if errors and not return_errors:
            raise errors[0]  # type: ignore[misc]
        return [found[ticket].result or found[ticket].error for ticket in tickets]

    # -- one search after the other ----------------------------------------------------------------------------

    def submit(
        self,
        state: State,
        *,
        actions: Sequence[int] | None = None,
        seed: int | None = None,
        simulations: int | None = None,
        noise: bool = True,
    ) -> int:
        """Submit a search. It starts in ``collect``, as soon as a tree is free.

        Args:
            state: a decision or chance node of the game.
            actions: actions to consider at the root; None for all legal actions.
            seed: seed of this search; None for the configured seed.
            simulations: number of simulations of this search; None for the configured number.
            noise: False for no Dirichlet noise at the root, even if it is configured.

        Returns:
            A ticket, which identifies the search in the results of ``collect``.

        Raises:
            ConfigError: an argument is invalid, or the forest is closed.
            PositionError: the state belongs to another game.
            IllegalActionError: an entry of ``actions`` is not legal.
        """
        self._require_open()
        seed = self.config.seed if seed is None else seed
        return self._enqueue(make_request(self.game, state, actions, seed, simulations, noise))

    def _enqueue(self, request: Request) -> int:
        ticket = next(self._next_ticket)
        self._queue.append((ticket, request))
        self._uncollected += 1
        return ticket

    @property
    def pending(self) -> int:
        """Number of searches that were submitted and not collected yet."""
        return self._uncollected

    def collect(self) -> list[Finished]:
        """Run the submitted searches until at least one has ended.

        Ctrl-C raises ``KeyboardInterrupt`` and discards all searches.

        Returns:
            The searches that have ended; an empty list if none are pending.

        Raises:
            ConfigError: the forest is closed.
        """
        self._require_open()
        try:
            found = self._collect_here() if self._workers is None else self._collect_threaded(self._workers)
        except BaseException:
            self._discard_all()
            raise
        self._uncollected -= len(found)
        return found

    def _collect_here(self) -> list[Finished]:
        found: list[Finished] = []
        while self.pending and not found:
            for number in range(len(self._groups)):
                found += self._step(number)
        return found

    def _collect_threaded(self, workers: ThreadPoolExecutor) -> list[Finished]:
        """Give every group with searches to a thread, and wait for the first group in which a search ends."""
        busy = set(self._running.values())
        for number in range(len(self._groups)):
            if number not in busy and (self._tickets[number] or self._queue):
                self._running[workers.submit(self._work, number)] = number
        found: list[Finished] = []
        if self._running:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=self._running.__getitem__):
                del self._running[future]
                found += future.result()
        return found or (self._collect_threaded(workers) if self.pending else [])

    def _work(self, number: int) -> list[Finished]:
        found: list[Finished] = []
        while not found and not self._stop.is_set() and (self._tickets[number] or self._queue):
            found = self._step(number)
        return found

    def _step(self, number: int) -> list[Finished]:
        """Run one round of a group: start searches at free trees, advance all, and read those that have ended."""
        group, free, tickets = self._groups[number], self._free[number], self._tickets[number]
        while free and self._queue:
            try:
                ticket, request = self._queue.popleft()
            except IndexError:  # another thread took it
                break
            place = free.pop()
            tickets[place] = ticket
            group.begin(place, request)
        if not tickets:
            return []
        group.round()
        found = []
        for place in group.ended():
            ticket = tickets.pop(place)
            free.append(place)
            try:
                found.append(Finished(ticket, group.read(place)))
            except Exception as error:  # only this search fails
                found.append(Finished(ticket, None, error))
        return found

    def _discard_all(self) -> None:
        """Discard every search."""
        self._stop.set()
        wait(self._running)
        self._running.clear()
        self._stop.clear()
        self._queue.clear()
        self._uncollected = 0
        for group, free, tickets in zip(self._groups, self._free, self._tickets, strict=True):
            free += tickets
            tickets.clear()
            group.clear()

    def _require_open(self) -> None:
        if self._closed:
            raise ConfigError("the forest is closed, expected an open one: make a new Forest")

    def close(self) -> None:
        """Discard all searches and end the threads. The forest cannot be used afterwards."""
        self._closed = True
        self._discard_all()
        if self._workers is not None:
            self._workers.shutdown()

    def __enter__(self) -> Forest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Locked:
    """An evaluator that is called by one thread at a time."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator, self._lock = evaluator, threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            return self._evaluator(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._evaluator, name)
