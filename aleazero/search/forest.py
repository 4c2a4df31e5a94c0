"""Many searches at once: trees in lock-step, so that a network is asked about hundreds of leaves in one batch.

Trees stand in groups; a group has one batch, of one shape, and one thread at a time. What a search finds depends on
its state, its seed and the settings, never on the trees beside it or on the number of threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, repeat
from types import TracebackType
from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame
from aleazero.games.luck import PlayedLuck
from aleazero.native.random import BRANCHING_GAMES, stream_key, unit
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.driver import Backend, GroupDriver
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.result import SearchResult
from aleazero.search.root import Request, make_request
from aleazero.search.tree.arrays import EDGE, ENTRIES_PER_NODE, FIRST_OUTCOMES, node_dtype


@dataclass(frozen=True)
class Finished:
    """A search that has ended: with a result, or with an error."""

    ticket: int
    """What ``submit`` gave for it."""
    result: SearchResult | None
    error: Exception | None = None


class Forest:
    """Many tree searches over a game, in lock-step.

    ``trees`` searches are under way at once, others wait their turn. ``batch_size`` is the number of rows of every
    batch that the evaluator sees; rows that nobody needs are zero. By default it makes two groups of trees, one for
    each of two threads. With ``threads`` above 1 the evaluator is called by several threads at once, unless it has an
    attribute ``one_at_a_time = True``.
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
        if not isinstance(game, Game):
            raise ConfigError(f"game is {game!r}, expected a Game: aleazero.load_game makes one")
        if config is not None and not isinstance(config, SearchConfig):
            raise ConfigError(f"config is {config!r}, expected a SearchConfig")
        self.game, self.evaluator, self.config = game, resolve_evaluator(evaluator), config or SearchConfig()
        if self.config.max_seconds is not None:
            raise ConfigError("max_seconds does not go with a forest, whose trees share their time: "
                              "expected num_simulations or max_evaluations")  # fmt: skip
        for name, number in (("trees", trees), ("threads", threads)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ConfigError(f"{name} is {number!r}, expected a whole number of at least 1")
        self.trees, self.threads = trees, threads
        self.batch_size, sizes = self._divide(batch_size)
        asked = one_at_a_time(self.evaluator) if threads > 1 else self.evaluator
        self._groups = [
            GroupDriver(game, asked, self.config, backend, size, self.batch_size, pad=True) for size in sizes
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
        """The batch's rows, and the sizes of the groups that fill such a batch."""
        in_flight = self.config.in_flight
        leaves = largest_visit(chance_of(self.config, self.game, self.evaluator), self.game)
        least = in_flight * leaves
        half, by_default = -(-self.trees // 2), batch_size is None
        if batch_size is None:
            batch_size = max(least, half * in_flight)
        elif isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < least:
            raise ConfigError(
                f"batch_size is {batch_size!r}, expected at least {least}: what one tree may ask at once "
                f"(in_flight {in_flight}, {leaves} leaves a visit)"
            )
        most = max(1, batch_size // in_flight)
        if by_default:  # two groups, though one visit may ask so much that a batch has room for all trees
            most = min(most, half)
        whole, rest = divmod(self.trees, most)
        return batch_size, [most] * whole + [rest] * (rest > 0)

    # -- many searches at once ---------------------------------------------------------------------------------

    def run(
        self,
        states: Sequence[State],
        *,
        seeds: Sequence[int] | None = None,
        actions: Sequence[Sequence[int] | None] | None = None,
        return_errors: bool = False,
    ) -> list[Any]:
        """Search all of these states; the results are in their order.

        ``seeds`` gives each its own luck; without it all have the configured seed, as ``Search.run`` has. Where a
        search fails, the others go on to their end; then the first error is raised, or with ``return_errors`` each
        error stands in its search's place.
        """
        self._require_open()
        if self.pending:
            raise ConfigError(f"{self.pending} submitted searches are under way, expected none: collect them first")
        for name, given in (("seeds", seeds), ("actions", actions)):
            if given is not None and len(given) != len(states):
                raise ConfigError(f"{name} has {len(given)} entries, expected {len(states)}, one a state")
        all_seeds: Any = repeat(self.config.seed) if seeds is None else seeds
        all_actions: Any = repeat(None) if actions is None else actions
        requests = [
            make_request(self.game, state, considered, seed)
            for state, considered, seed in zip(states, all_actions, all_seeds, strict=False)
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
        """Ask for a search; its ticket. It begins when a tree is free and ``collect`` is called.

        ``simulations`` and ``noise`` may differ from search to search: fewer simulations than configured (or more), and
        no noise at the root though it is configured.
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
        """Searches that were submitted and are not collected yet."""
        return self._uncollected

    def collect(self) -> list[Finished]:
        """Search until at least one search has ended; those that have. Empty where nothing was submitted.

        Ctrl-C ends it, and lets go of every search.
        """
        self._require_open()
        try:
            found = self._collect_alone() if self._workers is None else self._collect_together(self._workers)
        except BaseException:
            self._let_go()
            raise
        self._uncollected -= len(found)
        return found

    def _collect_alone(self) -> list[Finished]:
        found: list[Finished] = []
        while self.pending and not found:
            for number in range(len(self._groups)):
                found += self._step(number)
        return found

    def _collect_together(self, workers: ThreadPoolExecutor) -> list[Finished]:
        """Every group that has work is given to a thread; the first that has something to show is waited for."""
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
        return found or (self._collect_together(workers) if self.pending else [])

    def _work(self, number: int) -> list[Finished]:
        found: list[Finished] = []
        while not found and not self._stop.is_set() and (self._tickets[number] or self._queue):
            found = self._step(number)
        return found

    def _step(self, number: int) -> list[Finished]:
        """Run one round of a group: start waiting searches at free trees, let all continue, read those that ended."""
        group, free, tickets = self._groups[number], self._free[number], self._tickets[number]
        while free and self._queue:
            try:
                ticket, request = self._queue.popleft()
            except IndexError:  # another group was quicker
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
            except Exception as error:  # it belongs to this search alone
                found.append(Finished(ticket, None, error))
        return found

    def _let_go(self) -> None:
        """Forget every search, whatever was under way."""
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
            raise ConfigError("the forest is closed, expected one that is open: make a new one")

    def close(self) -> None:
        """End the threads; searches that are under way are forgotten, and no more are taken."""
        self._closed = True
        self._let_go()
        if self._workers is not None:
            self._workers.shutdown()

    def __enter__(self) -> Forest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def one_at_a_time(evaluator: Any) -> Any:
    """The evaluator; where it must not be called by two threads at once, behind a lock."""
    if not getattr(evaluator, "one_at_a_time", False):
        return evaluator
    return _Locked(evaluator)


class _Locked:
    """An evaluator behind a lock; what it says of itself stays visible."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator, self._lock = evaluator, threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            return self._evaluator(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._evaluator, name)


# -- the memory of a tree ----------------------------------------------------------------------------------------------

RANDOM_GAMES: Final = 4
RANDOM_STEPS: Final = 500
"""Random games that are looked at, and the most steps of each."""
TABLE_ENTRY: Final = 4
OBJECT_NODE: Final = 2048
"""Bytes of a node of an object game, with its edges and state; 1.1 to 1.4 kB were measured with small states."""


def tree_size(game: Game, evaluator: Any, search: SearchConfig) -> int:
    """About how many bytes a tree of a search has.

    The nodes that a simulation adds follow from the settings, and from how many actions and outcomes the game has on
    average, which a few random games tell. It is a rough guess: 0.4 to 4 times what was measured in six settings.
    """
    chance = chance_of(search, game, evaluator)
    actions, outcomes = mean_branches(game)
    expanded = outcomes if 1 < outcomes <= chance.exact_up_to else 1.0
    nodes = min(search.max_nodes, 1 + round(search.num_simulations * (1 + expanded)))
    listed = max(expanded, min(outcomes, FIRST_OUTCOMES)) if chance.lists_outcomes else 0.0  # those picked have edges
    edges = search.num_simulations * (expanded * actions + listed)
    if not isinstance(game, KernelGame):
        return nodes * OBJECT_NODE
    info = game.info
    state = info.state_size * np.dtype(info.state_dtype).itemsize
    per_node = node_dtype(info.num_players).itemsize + state + 8 * info.num_players + ENTRIES_PER_NODE * TABLE_ENTRY
    return nodes * per_node + round(edges) * EDGE.itemsize


def mean_branches(game: Game) -> tuple[float, float]:
    """Actions of a decision and outcomes of a chance event, on average in random play; those listed only."""
    actions, outcomes = [1], [1]
    for number in range(RANDOM_GAMES):
        with suppress(Exception):  # rules that raise are told by whoever plays them
            _count_branches(game, number, actions, outcomes)
    return sum(actions) / len(actions), sum(outcomes) / len(outcomes)


def _count_branches(game: Game, number: int, actions: list[int], outcomes: list[int]) -> None:
    """Play a random game, and note how many actions and outcomes there are."""
    state, luck = game.new_initial_state(), PlayedLuck(stream_key(BRANCHING_GAMES, number))
    for step in range(RANDOM_STEPS):
        if state.is_terminal():
            return
        if state.is_chance_node():
            if state.outcomes_listed():
                outcomes.append(len(state.chance_outcomes()))
            state.apply_action(luck.draw(state))
        else:
            legal = state.legal_actions()
            actions.append(len(legal))
            state.apply_action(legal[int(unit(stream_key(BRANCHING_GAMES, number, step)) * len(legal))])
