"""The tree search of one position. It ends after its simulations, by a time limit or by Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.driver import Backend, GroupDriver, check_arguments
from aleazero.search.result import SearchResult
from aleazero.search.root import make_request

PROGRESS_SECONDS = 0.25
"""Default of the shortest time between two calls of ``progress``."""
STOP_SECONDS = 0.02
"""Shortest time between two calls of ``stop``."""


class Search:
    """Tree search with chance nodes, from one position at a time.

    A search can be run any number of times. Each run builds a new tree.

    Args:
        game: the game, from ``load_game``.
        evaluator: values the leaves: ``"rollout"``, ``"rollout:N"`` (N playouts per leaf), ``"uniform"``, a network
            from ``load_net``, or any ``Evaluator``.
        config: settings of the search; None for the defaults.
        backend: ``"compiled"`` (kernel games only), ``"plain"`` for the reference implementation in Python, or
            ``"auto"`` for the fastest one that supports the game. ``"implicit"`` is a plain search without chance
            nodes, for comparisons.

    Raises:
        ConfigError: an argument is invalid, or the backend does not support the game.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Any = "rollout",
        config: SearchConfig | None = None,
        backend: Backend = "auto",
    ) -> None:
        self.game, self.evaluator, self.config = check_arguments(game, evaluator, config)
        rows = self.config.in_flight * largest_visit(chance_of(self.config, game, self.evaluator), game)
        self._driver = GroupDriver(game, self.evaluator, self.config, backend, count=1, places=rows, pad=False)
        self._lock = threading.Lock()
        self._running_in: int | None = None

    def run(
        self,
        state: State,
        actions: Sequence[int] | None = None,
        seed: int | None = None,
        *,
        progress: Callable[[SearchResult], None] | None = None,
        progress_seconds: float = PROGRESS_SECONDS,
        stop: Callable[[], bool] | None = None,
    ) -> SearchResult:
        """Search from a state.

        Ctrl-C ends the search early and returns the result so far. A second Ctrl-C raises ``KeyboardInterrupt``.

        Args:
            state: a decision or chance node of the game; it is not changed.
            actions: actions to consider at the root; None for all legal actions.
            seed: seed of this run; None for the configured seed. Use different seeds for the moves of one game.
            progress: called with the result so far. The result is valid during the call.
            progress_seconds: shortest time between two calls of ``progress``. Compiled searches pause about every
                0.05 s.
            stop: called whenever the search pauses, about every 0.05 s. If it returns True, the search ends, and
                ``stopped`` of its result is ``interrupted``.

        Returns:
            Visits, values and priors of the root's actions, and the searched tree.

        Raises:
            PositionError: the state is terminal, or belongs to another game.
            IllegalActionError: an entry of ``actions`` is not legal.
            EvaluatorError: the evaluator raised an error, or its output is invalid.
            ContractError: the rules of the game returned something invalid.
        """
        request = make_request(self.game, state, actions, self.config.seed if seed is None else seed)
        with self._exclusive(), Interrupts() as interrupts:
            self._driver.begin(0, request)
            stopped = self._grow(interrupts, progress, progress_seconds, stop)
            return self._driver.read(0, stopped)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Allow one run at a time. Other threads wait; an evaluator that runs its own search gets an error."""
        if self._running_in == threading.get_ident():
            raise ConfigError("this search is already running, expected an evaluator that uses another Search object")
        with self._lock:
            self._running_in = threading.get_ident()
            try:
                yield
            finally:
                self._running_in = None

    def _grow(
        self,
        interrupts: Interrupts,
        progress: Callable[[SearchResult], None] | None,
        progress_seconds: float,
        stop: Callable[[], bool] | None,
    ) -> str | None:
        """Run all simulations. Returns the reason if the time limit, Ctrl-C or ``stop`` ends the search early."""
        started = reported = asked = time.monotonic()
        self._driver.round()  # evaluates the root; with a built-in evaluator also runs the first simulations
        while not self._driver.ended():
            self._driver.round()
            now = time.monotonic()
            if progress is not None and self._driver.paused() and now - reported >= progress_seconds:
                progress(self._driver.peek(0))
                reported = now
            if stop is not None and now - asked >= STOP_SECONDS:
                interrupts.seen |= bool(stop())
                asked = now
            late = self.config.max_seconds is not None and time.monotonic() - started >= self.config.max_seconds
            if (late or interrupts.seen) and not self._driver.ended():
                self._driver.finish_pending()
                return "interrupted" if interrupts.seen else "seconds"
        return None


class Interrupts:
    """Context manager that turns the first Ctrl-C into a flag. A second one raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> Interrupts:
        self._in_main_thread = threading.current_thread() is threading.main_thread()
        if self._in_main_thread:
            self._previous = signal.signal(signal.SIGINT, self._handle)
            if self._previous is signal.SIG_IGN:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        return self

    def __exit__(self, *error: object) -> None:
        if self._in_main_thread and self._previous is not None:  # None: a handler that Python cannot set again
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, number: int, frame: Any) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
