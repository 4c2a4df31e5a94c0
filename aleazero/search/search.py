"""The public search of one position, with its limits: simulations, time and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.driver import Backend, GroupDriver
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.result import SearchResult
from aleazero.search.root import make_request


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

    def run(self, state: State, actions: Sequence[int] | None = None, seed: int | None = None) -> SearchResult:
        """Search from a state.

        Args:
            state: a running state of the game.
            actions: allowed actions at the root; None allows all.
            seed: replaces the configured seed, so that the plies of a game need not share their random streams.

        Returns:
            The result. Ctrl-C ends the search early, with the result so far; a second one raises at once.
        """
        request = make_request(self.game, state, actions, self.config.seed if seed is None else seed)
        with self._alone(), Interrupts() as interrupts:
            self._driver.begin(0, request)
            stopped = self._grow(interrupts)
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

    def _grow(self, interrupts: Interrupts) -> str | None:
        """Grow the tree to its target; return the reason if time or Ctrl-C ends it before."""
        started = time.monotonic()
        self._driver.round()  # the root's evaluation, and a first chunk of simulations if the evaluator is built in
        while not self._driver.ended():
            self._driver.round()
            late = self.config.max_seconds is not None and time.monotonic() - started >= self.config.max_seconds
            if (late or interrupts.seen) and not self._driver.ended():
                self._driver.finish_pending()
                return "interrupted" if interrupts.seen else "seconds"
        return None


class Interrupts:
    """Turns a first Ctrl-C into a flag that is read between rounds. A second one raises KeyboardInterrupt."""

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
        if self._in_main_thread:
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, number: int, frame: Any) -> None:
        if self.seen:
            raise KeyboardInterrupt
        self.seen = True
