"""The public search of one position, with its limits: simulations, time and Ctrl-C."""

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
from aleazero.search.driver import Backend, GroupDriver
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.result import SearchResult
from aleazero.search.root import make_request

PROGRESS_SECONDS = 0.25
"""Shortest time between two calls of ``progress``."""


class Search:
    """A tree search over a game.

    ``backend`` is ``compiled`` for kernel games and ``plain`` for object games unless it is named; ``implicit``
    is the plain search without chance nodes, for comparison only.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Any = "rollout",
        config: SearchConfig | None = None,
        backend: Backend = "auto",
    ) -> None:
        if not isinstance(game, Game):
            raise ConfigError(f"game is {game!r}, expected a Game: aleazero.load_game makes one")
        if config is not None and not isinstance(config, SearchConfig):
            raise ConfigError(f"config is {config!r}, expected a SearchConfig")
        self.game = game
        self.evaluator = resolve_evaluator(evaluator)
        self.config = config or SearchConfig()
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
    ) -> SearchResult:
        """Search from a state.

        Args:
            state: a running state of the game.
            actions: allowed actions at the root; None allows all.
            seed: replaces the configured seed, so that the plies of a game need not share their random streams.
            progress: called with the result so far, at most four times per second.

        Returns:
            The result. Ctrl-C ends the search early, with the result so far; a second one raises at once.
        """
        request = make_request(self.game, state, actions, self.config.seed if seed is None else seed)
        with self._alone(), _interrupts() as interrupted:
            self._driver.begin(0, request)
            stopped = self._grow(interrupted, progress)
            return self._driver.read(0, stopped)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Allow one run at a time: other threads wait; an evaluator that calls its own search gets an error."""
        if self._running_in == threading.get_ident():
            raise ConfigError("this search is already running: an evaluator that searches needs a Search of its own")
        with self._lock:
            self._running_in = threading.get_ident()
            try:
                yield
            finally:
                self._running_in = None

    def _grow(self, interrupted: threading.Event, progress: Callable[[SearchResult], None] | None = None) -> str | None:
        """Grow the tree to its target; return the reason if time or Ctrl-C ends it before."""
        started = reported = time.monotonic()
        self._driver.round()  # the root's evaluation, and a first chunk of simulations if the evaluator is built in
        while not self._driver.ended():
            self._driver.round()
            if progress is not None and time.monotonic() - reported >= PROGRESS_SECONDS:
                progress(self._driver.peek(0))
                reported = time.monotonic()
            late = self.config.max_seconds is not None and time.monotonic() - started >= self.config.max_seconds
            if (late or interrupted.is_set()) and not self._driver.ended():
                self._driver.finish_pending()
                return "interrupted" if interrupted.is_set() else "seconds"
        return None


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Turn a first Ctrl-C into a flag that is read between rounds; a second one raises as usual."""
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def handler(number: int, frame: Any) -> None:
        if flag.is_set():
            raise KeyboardInterrupt
        flag.set()

    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield flag
        return
    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous)
