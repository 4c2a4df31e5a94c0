"""Driver of a group of trees: advance all trees, evaluate their leaves in one batch, give the values to the trees.

``Search`` has one group of one tree. ``Forest`` has several groups of many trees.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, EvaluatorError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.search.compiled_searches import Searches
from aleazero.search.config import ChanceConfig, SearchConfig, chance_of
from aleazero.search.evaluator import (
    Rollout,
    Uniform,
    WithEnds,
    call_evaluator,
    call_exact,
    check_answer,
    evaluate_batch,
    logit_unit_of,
    resolve_evaluator,
    values_ends,
)
from aleazero.search.group import Group, LeafBatch
from aleazero.search.result import SearchResult
from aleazero.search.root import LIMIT_ACTIONS, NOISE_AT_ROOT, Request, noise_key, read_result
from aleazero.search.status import ANSWERED, DONE, EVALUATIONS_SPENT, FAILED, FULL, IDLE, PAUSED, READY, WAITING

Answer = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_] | None]
"""Logits, values, and whether values are exact, by row; None if the evaluator does not report this."""


Backend = Literal["auto", "compiled", "plain", "implicit"]


CHUNK_SECONDS = 0.05
"""Approximate duration of a call of compiled code, which reacts neither to Ctrl-C nor to time limits."""


FIRST_CHUNK, FIRST_CHUNK_SINGLE = 64, 1024
"""Simulations of the first chunk: in general, and for one compiled tree with a built-in evaluator and no time limit."""


STOPPED = {DONE: None, FULL: "nodes", EVALUATIONS_SPENT: "evaluations"}
"""``SearchResult.stopped`` by the status of the tree."""


ENDED = np.zeros(ANSWERED + 1, np.bool_)
"""Whether a tree with a status (0 or more) has ended."""


ENDED[[*STOPPED, FAILED]] = True


SOME_PAUSED, SOME_WAITING = 1 << PAUSED, 1 << WAITING


SOME_ENDED = sum(1 << status for status in (*STOPPED, FAILED))


def check_arguments(game: Any, evaluator: Any, config: Any) -> tuple[Game, Any, SearchConfig]:
    """Return game, evaluator and config of a search, with names and None replaced; raise ConfigError if invalid."""
    if not isinstance(game, Game):
        raise ConfigError(f"game is {game!r}, expected a Game, for example from aleazero.load_game")
    if config is not None and not isinstance(config, SearchConfig):
        raise ConfigError(f"config is {config!r}, expected a SearchConfig")
    return game, resolve_evaluator(evaluator), config or SearchConfig()


class GroupDriver:
    """A group of trees and the evaluator that they share."""

    def __init__(
        self, game: Game, evaluator: Any, config: SearchConfig, backend: Backend, count: int, places: int, *, pad: bool
    ) -> None:
        chance = ChanceConfig() if backend == "implicit" and not config.chance else chance_of(config, game, evaluator)
        if config.chance is not chance:
            config = config.model_copy(update={"chance": chance})  # results report what was used
        if hasattr(evaluator, "exact") and not getattr(evaluator, "sees_states", False):
            raise ConfigError("the evaluator has a function exact, expected sees_states = True as well")
        if hasattr(evaluator, "exact") and chance.loop == "open":
            raise ConfigError(
                "is open, expected a closed loop: the evaluator's values are exact for some states only, and a node of "
                "open loop stands for many states",
                field="chance",
            )
        if config.first_play == "logits":
            logit_unit_of(evaluator)  # raises an error if there is none
            if chance.loop == "open":
                raise ConfigError(
                    "is logits, expected parent or a number: in open loop actions appear whose logits are not known",
                    field="first_play",
                )
        self.evaluator, self.config = WithEnds(evaluator) if values_ends(evaluator) else evaluator, config
        self.group = _make_group(game, evaluator, config, backend, count, places)
        self._players = game.num_players
        self._pad = pad
        self._any_size = getattr(evaluator, "any_size", False)
        self._sees_states = getattr(evaluator, "sees_states", False)
        self._exact = getattr(evaluator, "exact", None)
        self._requests: list[Request | None] = [None] * count
        self.to_prepare = np.zeros(count, np.int8)
        """Changes of each root between its evaluation and the first simulation, as bits of ``search/root.py``."""
        self.noise_keys = np.zeros(count, np.uint64)
        """Key of the random stream of each root's Dirichlet noise."""
        built_in = hasattr(self.group, "arrays") and isinstance(evaluator, Uniform | Rollout)
        single = count == 1 and built_in and config.max_seconds is None
        self.chunk = FIRST_CHUNK_SINGLE if single else FIRST_CHUNK
        """Number of simulations after which a tree pauses."""
        self._last_pause = time.monotonic()

    def begin(self, place: int, request: Request) -> None:
        """Start a search at a free place."""
        self._requests[place] = request
        self.group.start_tree(place, request.state, request.seed)
        self._last_pause = time.monotonic()
        self.group.pauses[place] = self.chunk
        self.group.limits[place] = request.simulations or self.config.num_simulations
        noisy = request.noise and self.config.noise_alpha > 0
        self.to_prepare[place] = LIMIT_ACTIONS * (request.actions is not None) | NOISE_AT_ROOT * noisy
        if noisy:
            self.noise_keys[place] = noise_key(request.seed, request.position)
        if self.to_prepare[place]:
            self.group.pauses[place] = 0

    def round(self) -> None:
        """Advance every tree until it waits, ends or pauses, then evaluate all waiting leaves in one batch."""
        group = self.group
        self._resume_paused()
        group.advance()
        if self._prepare_roots():
            group.advance()
        if group.seen & SOME_PAUSED:
            now = time.monotonic()
            quick, self._last_pause = now - self._last_pause < CHUNK_SECONDS, now
            self.chunk = min(2**30, max(1, self.chunk * 2 if quick else self.chunk // 2))
        if group.seen & SOME_WAITING:
            self._evaluate()

    def _resume_paused(self) -> None:
        """Let paused trees continue for another chunk of simulations."""
        group = self.group
        if group.seen & SOME_PAUSED:
            for place in np.flatnonzero(group.statuses == PAUSED).tolist():
                group.pauses[place] = group.trees[place].simulations + self.chunk
                group.statuses[place] = READY

    def _prepare_roots(self) -> bool:
        """Limit actions and mix in noise at the roots that were just evaluated; return whether there were any."""
        group = self.group
        if not group.seen & SOME_PAUSED:
            return False
        ready = np.flatnonzero((self.to_prepare != 0) & (group.statuses == PAUSED))
        if not len(ready):
            return False
        for place in ready[(self.to_prepare[ready] & LIMIT_ACTIONS) != 0].tolist():
            request = self._requests[place]
            assert request is not None
            assert request.actions is not None
            group.trees[place].restrict(request.actions)
        noisy = ready[(self.to_prepare[ready] & NOISE_AT_ROOT) != 0]
        if len(noisy):
            group.mix_noise(noisy.tolist(), self.noise_keys[noisy].tolist())
        group.pauses[ready] = self.chunk
        group.statuses[ready] = READY
        self.to_prepare[ready] = 0
        return True

    def _evaluate(self) -> None:
        leaves, owners = self.group.waiting(with_states=self._sees_states)
        try:
            if self._pad and leaves.states is None:
                self._call_in_place(leaves, len(owners))
            else:
                self.group.absorb(*self._call(leaves, len(owners)))
        except EvaluatorError as error:
            self.group.absorb(*self._call_per_tree(leaves, owners, error))
        except BaseException as reason:  # Ctrl-C, for example: the leaves will not be evaluated
            for place in np.flatnonzero(self.group.statuses == WAITING):
                self.group.fail(int(place), EvaluatorError(f"the evaluator was interrupted by {type(reason).__name__}"))
            self.clear()
            raise

    def _call(self, leaves: LeafBatch, count: int) -> Answer:
        """Return the evaluations of ``count`` leaves. Padded batches have zeros after them."""
        padded = self._pad and leaves.states is None and not self._any_size
        size = len(leaves.observations) if padded else count
        observations, masks = leaves.observations[:size].copy(), leaves.legal_masks[:size].copy()
        observations[count:], masks[count:] = 0, False
        exact = None if self._exact is None else call_exact(self._exact, leaves.states)
        return *evaluate_batch(self.evaluator, observations, masks, leaves.states, self._players, count), exact

    def _call_in_place(self, leaves: LeafBatch, count: int) -> None:
        """Evaluate the leaves of all trees, in arrays that are reused, and give the values to the trees."""
        observations, masks = leaves.observations, leaves.legal_masks
        size = count if self._any_size else len(masks)
        observations[count:size], masks[count:size] = 0, False
        ours = sys.getrefcount(observations)
        try:
            answer = call_evaluator(self.evaluator, observations[:size], masks[:size])
        finally:
            if sys.getrefcount(observations) > ours:
                self.group.renew_observations()  # the evaluator kept a reference to them
        if not self.group.try_absorb(answer, size):
            self.group.absorb(*check_answer(answer, masks[:size], self._players, count))

    def _call_per_tree(self, leaves: LeafBatch, owners: NDArray[np.int32], error: EvaluatorError) -> Answer:
        """Evaluate each tree's leaves separately after an error, so that only trees whose leaves raise it fail."""
        logits = np.zeros(leaves.legal_masks.shape)
        values = np.zeros((len(logits), self._players))
        exact = np.zeros(len(logits), np.bool_)
        for owner in np.unique(owners):
            rows = np.flatnonzero(owners == owner)
            order = np.concatenate((rows, np.zeros(len(logits) - len(rows), np.int64)))
            states = None if leaves.states is None else [leaves.states[int(row)] for row in rows]
            batch = LeafBatch(leaves.observations[order], leaves.legal_masks[order], states)
            try:
                if len(rows) == len(owners):
                    raise error
                answer = self._call(batch, len(rows))
            except EvaluatorError as own:
                self.group.fail(int(owner), own)
            else:
                logits[rows], values[rows] = answer[0][: len(rows)], answer[1][: len(rows)]
                exact[rows] = False if answer[2] is None else answer[2][: len(rows)]
        return logits, values, exact

    def ended(self) -> list[int]:
        """Return the trees that have ended or failed and were not read yet."""
        if not self.group.seen & SOME_ENDED:
            return []
        places: list[int] = np.flatnonzero(ENDED[self.group.statuses]).tolist()
        return places

    def read(self, place: int, stopped: str | None = None) -> SearchResult:
        """Return the result of a tree, or raise its error. Its place is free then."""
        status = int(self.group.statuses[place])
        request = self._requests[place]
        assert request is not None
        self.group.statuses[place] = IDLE
        if status == FAILED:
            raise self.group.error(place)
        return read_result(self.group.trees[place], request, self.config, STOPPED.get(status, stopped))

    def paused(self) -> bool:
        """Return whether trees pause, so that they can be read in between."""
        return bool(self.group.seen & SOME_PAUSED)

    def peek(self, place: int) -> SearchResult:
        """Return the result so far of a tree that has paused. It is valid until the next round."""
        request = self._requests[place]
        assert request is not None
        return read_result(self.group.trees[place], request, self.config, None)

    def searches(self) -> Searches | None:
        """Return the searches as arrays, for compiled code that starts and reads them; None if trees are objects."""
        group: Any = self.group
        if not hasattr(group, "arrays"):
            return None
        return Searches(group.arrays, group.results, group.statuses, group.pauses, group.limits, self.to_prepare)

    def finish_pending(self) -> None:
        """Store the evaluations of the waiting leaves, and stop."""
        self.group.pauses[:] = 0
        self.group.advance()
        if self._prepare_roots():
            self.group.pauses[:] = 0
            self.group.advance()

    def clear(self) -> None:
        """Remove all trees."""
        self.group.clear()
        self.to_prepare[:] = 0


def _make_group(game: Game, evaluator: Any, config: SearchConfig, backend: str, count: int, places: int) -> Group:
    if backend not in ("auto", "compiled", "plain", "implicit"):
        raise ConfigError(f"backend is {backend!r}, expected auto, compiled, plain or implicit")
    if backend in ("auto", "compiled") and isinstance(game, KernelGame):
        from aleazero.search.tree.group import CompiledGroup

        return CompiledGroup(game, evaluator, config, count, places)
    if backend == "compiled":
        raise ConfigError(f"backend is compiled and {game.name} is an object game, expected backend plain or auto")
    from aleazero.search.plain.group import PlainGroup

    return PlainGroup(game, evaluator, config, count, places, implicit=backend == "implicit")
