"""A group of plain trees, with the same interface as a compiled one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import DECISION, Game, State
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.group import LeafBatch
from aleazero.search.plain.search import PlainTree
from aleazero.search.root import dirichlet_noise
from aleazero.search.status import FAILED, GAME_OVER, IDLE, PAUSED, READY, TO_START, WAITING, error_for


class PlainGroup:
    """A group of plain trees that share batches of ``places`` rows; implements ``search.group.Group``."""

    def __init__(
        self, game: Game, evaluator: Any, config: SearchConfig, count: int, places: int, *, implicit: bool = False
    ) -> None:
        self.game = game
        self.trees = [PlainTree(game, evaluator, config, implicit=implicit) for _ in range(count)]
        self.statuses = np.full(count, IDLE, np.int64)
        self.seen = 1 << IDLE
        self.pauses = np.zeros(count, np.int64)
        self.limits = np.zeros(count, np.int64)
        self._places = places
        self._most = config.in_flight * largest_visit(chance_of(config, game, evaluator), game)
        self._requested: list[tuple[int, State]] = []
        self._errors: dict[int, Exception] = {}
        self._first = 0

    def start_tree(self, place: int, state: State, seed: int) -> None:
        """Replace the tree at a place by one that starts at a state, with the random streams of a seed."""
        self.statuses[place] = TO_START
        try:
            if state.is_terminal():
                raise error_for(GAME_OVER, self.game.name)
            self.trees[place].reset(state, seed)
        except Exception as error:  # only this tree fails
            self.fail(place, error)

    def advance(self) -> None:
        """Let each tree that may continue do so, until its leaves wait, or it ends, pauses or fails."""
        for turn in range(len(self.trees)):
            place = (self._first + turn) % len(self.trees)
            room = len(self._requested) + self._most <= self._places
            if self.statuses[place] in (TO_START, READY) and room:
                tree = self.trees[place]
                try:
                    self.statuses[place] = tree.advance(int(self.pauses[place]), int(self.limits[place]))
                except Exception as error:  # only this tree fails
                    self.fail(place, error)
                if self.statuses[place] == WAITING:
                    self._requested += [(place, state) for state in tree.requested()]
        self.seen = sum(1 << int(status) for status in np.unique(self.statuses))

    def waiting(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int32]]:
        """Return the leaves to evaluate, and the tree of each row. Rows after those fill the batch."""
        states = [state for _, state in self._requested]
        masks = np.zeros((self._places, self.game.num_actions), np.bool_)
        masks[: len(states)] = [state.legal_actions_mask() for state in states]
        owners = np.array([place for place, _ in self._requested], np.int32)
        if with_states:
            no_observations = np.zeros((self._places, 0), np.float32)
            return LeafBatch(no_observations, masks, [state.clone() for state in states]), owners
        shown = [state.observation_tensor() for state in states]
        observations = np.zeros((self._places, len(shown[0])), np.float32)
        observations[: len(states)] = shown
        return LeafBatch(observations, masks, None), owners

    def absorb(
        self, logits: NDArray[np.float64], values: NDArray[np.float64], exact: NDArray[np.bool_] | None = None
    ) -> None:
        """Give the evaluations, by row, to the trees that still wait."""
        exact = np.zeros(len(values), np.bool_) if exact is None else exact
        owners = np.array([place for place, _ in self._requested], np.int32)
        self._requested = []
        for place in np.flatnonzero(self.statuses == WAITING):
            rows = np.flatnonzero(owners == place)
            try:
                self.trees[place].absorb(logits[rows], values[rows], exact[rows])
                self.statuses[place] = READY
            except Exception as error:  # only this tree fails
                self.fail(int(place), error)
        self._first = (self._first + 1) % len(self.trees)

    def try_absorb(self, answer: Any, rows: int) -> bool:
        """Return False: answers are always checked first, in Python."""
        return False

    def renew_observations(self) -> None:
        """Do nothing: every batch has observations of its own."""

    def mix_noise(self, places: list[int], keys: list[int]) -> None:
        """Mix noise into the priors at these roots, each drawn from the stream with its key."""
        for place, key in zip(places, keys, strict=True):
            tree = self.trees[place]
            if tree.kind() == DECISION:
                tree.mix_noise(dirichlet_noise(key, tree.config.noise_alpha, len(tree.root.edges or [])))

    def fail(self, place: int, error: Exception) -> None:
        """End a tree with an error. Its waiting visits are removed, as if they had not started."""
        if self.statuses[place] in (WAITING, READY, PAUSED):
            self.trees[place].abandon()
        self.statuses[place] = FAILED
        self.seen |= 1 << FAILED
        self._errors[place] = error

    def clear(self) -> None:
        """Remove all trees and all requests to the evaluator."""
        self.statuses[:] = IDLE
        self._requested = []

    def error(self, place: int) -> Exception:
        """Return the error with which a tree ended."""
        return self._errors[place]
