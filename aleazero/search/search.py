"""The public search: it drives a tree, asks the evaluator, minds the limits, and tells what was found."""

from __future__ import annotations

import hashlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from aleazero.errors import ConfigError, IllegalActionError, PositionError
from aleazero.games.base import CHANCE, DECISION, Game, State
from aleazero.games.kernel import KernelGame
from aleazero.games.luck import stream_key
from aleazero.search.config import SearchConfig
from aleazero.search.engine import DONE, EVALUATIONS_SPENT, FULL, PAUSED, WAITING, Engine
from aleazero.search.evaluator import evaluate_batch, resolve_evaluator
from aleazero.search.result import OutcomeStats, SearchResult, SearchStats
from aleazero.search.streams import NOISE

Backend = Literal["auto", "compiled", "plain", "implicit"]

CHUNK_SECONDS = 0.05
"""Native code runs about this long at a time, so that Ctrl-C and the clock are heard."""


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
        self._engine = _make_engine(game, self.evaluator, self.config, backend)
        self._lock = threading.Lock()
        self._running_in: int | None = None

    def run(self, state: State, actions: Sequence[int] | None = None, seed: int | None = None) -> SearchResult:
        """Search from a state; ``actions`` may narrow what is considered there.

        ``seed`` stands in for the configured one, so that the plies of a game need not share their luck.

        Ctrl-C ends the search early, with what was found; a second one raises at once.
        """
        if not isinstance(state, State):
            raise PositionError(f"state is {state!r}, expected a State: game.state_from_text reads a position")
        if seed is not None and not 0 <= seed < 2**64:
            raise ConfigError(f"seed is {seed}, expected 0 to 2^64 - 1")
        if not _same_game(state.game, self.game):
            raise PositionError(f"the state is of {state.game!r}, expected one of {self.game!r}")
        state.require_running()
        if actions is not None:
            actions = narrowed(state, actions)
        with self._alone(), _interrupts() as interrupted:
            used = self.config.seed if seed is None else seed
            stopped = self._grow(state, actions, used, interrupted)
            return self._result(state, used, stopped)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One run at a time: other threads wait; an evaluator that calls its own search is told so."""
        if self._running_in == threading.get_ident():
            raise ConfigError("this search is already running: an evaluator that searches needs a Search of its own")
        with self._lock:
            self._running_in = threading.get_ident()
            try:
                yield
            finally:
                self._running_in = None

    def _grow(self, state: State, actions: Sequence[int] | None, seed: int, interrupted: threading.Event) -> str | None:
        """Grow the tree to its target; the reason, where it ends before."""
        engine, config = self._engine, self.config
        started = time.monotonic()
        engine.reset(state, seed)
        self._evaluate_waiting(engine, engine.advance(0))
        if actions is not None:
            engine.restrict(list(actions))
        if config.noise_alpha > 0 and state.kind() == DECISION:
            generator = np.random.Generator(np.random.Philox(key=stream_key(NOISE, seed, position_digest(state))))
            considered = len(state.legal_actions() if actions is None else actions)
            engine.mix_noise(generator.dirichlet(np.full(considered, config.noise_alpha)))
        chunk = 64
        while True:
            before = time.monotonic()
            status = engine.advance(engine.simulations + chunk)
            self._evaluate_waiting(engine, status)
            now = time.monotonic()
            if status == PAUSED:
                chunk = max(1, chunk * 2 if now - before < CHUNK_SECONDS else chunk // 2)
            if status == DONE:
                return None
            if status == FULL:
                return "nodes"
            if status == EVALUATIONS_SPENT:
                return "evaluations"
            if interrupted.is_set():
                return "interrupted"
            if config.max_seconds is not None and now - started >= config.max_seconds:
                return "seconds"

    def _evaluate_waiting(self, engine: Engine, status: int) -> None:
        """Ask the evaluator about the waiting leaves; on an error the tree forgets that they waited."""
        if status != WAITING:
            return
        try:
            leaves = engine.waiting(with_states=getattr(self.evaluator, "sees_states", False))
            answer = evaluate_batch(
                self.evaluator, leaves.observations, leaves.legal_masks, leaves.states, self.game.num_players
            )
        except BaseException:
            engine.abandon()
            raise
        engine.absorb(*answer)

    def _result(self, state: State, seed: int, stopped: str | None) -> SearchResult:
        engine = self._engine
        actions, visits, totals, priors = engine.root_edges()
        visited = np.asarray(visits, np.int64)
        with np.errstate(invalid="ignore"):
            q = np.where(visited > 0, np.asarray(totals, np.float64) / np.maximum(visited, 1), np.nan)
        counts = engine.counts()
        return SearchResult(
            actions=np.asarray(actions, np.int64),
            visits=visited,
            q=q,
            priors=np.asarray(priors, np.float64),
            value=engine.root_value(),
            outcomes=_outcomes(state, engine) if state.kind() == CHANCE else [],
            stats=SearchStats(simulations=engine.simulations, evaluations=engine.evaluations, **vars(counts)),
            stopped=stopped,
            config=self.config,
            seed=seed,
            position=position_digest(state),
            view=engine.view(),
        )


def position_digest(state: State) -> int:
    """Sixty-four bits that stand for a state, in every process the same."""
    return int.from_bytes(hashlib.blake2b(state.key(), digest_size=8).digest(), "little")


def _same_game(one: Game, other: Game) -> bool:
    if one is other:
        return True
    homes = [getattr(getattr(game, "module", None), "__name__", None) for game in (one, other)]
    return type(one) is type(other) and repr(one) == repr(other) and homes[0] == homes[1]


def narrowed(state: State, actions: Sequence[int]) -> list[int]:
    """The actions to consider, ascending; each must be legal."""
    legal = state.legal_actions()
    if state.kind() != DECISION:
        raise IllegalActionError(f"actions is {list(actions)}, expected None at a chance node")
    wrong = [action for action in actions if action not in legal]
    if wrong or not len(actions):
        got = f"action {wrong[0]}" if wrong else "no action"
        raise IllegalActionError(f"{state.game.name}: {got} to consider, expected some of {legal}")
    return sorted({int(action) for action in actions})


def _make_engine(game: Game, evaluator: Any, config: SearchConfig, backend: str) -> Engine:
    if backend not in ("auto", "compiled", "plain", "implicit"):
        raise ConfigError(f"backend is {backend!r}, expected auto, compiled, plain or implicit")
    if backend in ("auto", "compiled") and isinstance(game, KernelGame):
        from aleazero.search.compiled import CompiledEngine

        return CompiledEngine(game, evaluator, config)
    if backend == "compiled":
        raise ConfigError(f"{game.name} is an object game: expected backend plain, only kernel games compile")
    from aleazero.search.plain import PlainEngine

    return PlainEngine(game, evaluator, config, implicit=backend == "implicit")


def _outcomes(state: State, engine: Engine) -> list[OutcomeStats]:
    """Every outcome of a chance root; where they cannot be listed, those that were drawn."""
    found = engine.root_outcomes()
    chances: dict[int, float] = dict(state.chance_outcomes()) if state.outcomes_listed() else {}
    stats = []
    for outcome in chances or sorted(found):
        visits, total = found.get(outcome, (0, None))
        value = None if total is None or not visits else total / visits
        stats.append(OutcomeStats(outcome, chances.get(outcome), visits, value))
    return stats


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """Turn a first Ctrl-C into a flag that is read between steps; a second raises as usual."""
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
