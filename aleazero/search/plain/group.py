"""Plain trees side by side, as the compiled ones are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import DECISION, Game, State
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.group import Leaves
from aleazero.search.plain.search import PlainTree
from aleazero.search.root import dirichlet_noise
from aleazero.search.status import FAILED, IDLE, PAUSED, PLANTED, READY, WAITING


class PlainGroup:
    """Trees of Python objects."""

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
        self._asked: list[tuple[int, State]] = []
        self._errors: dict[int, Exception] = {}
        self._first = 0

    def plant(self, place: int, state: State, seed: int) -> None:
        """Forget the tree at a place and begin one at a state, with the luck of a seed."""
        self.statuses[place] = PLANTED
        try:
            if state.is_terminal():
                name = self.game.name
                raise PositionError(f"{name}: the game is over in this position, expected one with a move left")
            self.trees[place].reset(state, seed)
        except Exception as error:  # whatever is wrong with it, the other trees stand
            self.fail(place, error)

    def advance(self) -> None:
        """Let each tree that may go on do so, until its leaves wait, or it ends, pauses or fails."""
        for turn in range(len(self.trees)):
            place = (self._first + turn) % len(self.trees)
            room = len(self._asked) + self._most <= self._places
            if self.statuses[place] in (PLANTED, READY) and room:
                tree = self.trees[place]
                try:
                    self.statuses[place] = tree.advance(int(self.pauses[place]), int(self.limits[place]))
                except Exception as error:  # whatever is wrong with it, the other trees stand
                    self.fail(place, error)
                if self.statuses[place] == WAITING:
                    self._asked += [(place, state) for state in tree.asked()]
        self.seen = sum(1 << int(status) for status in np.unique(self.statuses))

    def waiting(self, with_states: bool) -> tuple[Leaves, NDArray[np.int32]]:
        """What the evaluator is to be asked, and which tree asks, by row; rows behind those fill the batch."""
        states = [state for _, state in self._asked]
        masks = np.zeros((self._places, self.game.num_actions), np.bool_)
        masks[: len(states)] = [state.legal_actions_mask() for state in states]
        owners = np.array([place for place, _ in self._asked], np.int32)
        if with_states:
            return Leaves(np.zeros((self._places, 0), np.float32), masks, [state.clone() for state in states]), owners
        shown = [state.observation_tensor() for state in states]
        observations = np.zeros((self._places, len(shown[0])), np.float32)
        observations[: len(states)] = shown
        return Leaves(observations, masks, None), owners

    def absorb(self, logits: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Answer the leaves of the trees that still wait, row by row."""
        owners = np.array([place for place, _ in self._asked], np.int32)
        self._asked = []
        for place in np.flatnonzero(self.statuses == WAITING):
            rows = np.flatnonzero(owners == place)
            try:
                self.trees[place].absorb(logits[rows], values[rows])
                self.statuses[place] = READY
            except Exception as error:  # whatever is wrong with it, the other trees stand
                self.fail(int(place), error)
        self._first = (self._first + 1) % len(self.trees)

    def take_in(self, answer: Any, rows: int) -> bool:
        """Never: answers are checked first, in Python."""
        return False

    def renew_observations(self) -> None:
        """Nothing to do: every batch has its own."""

    def mix_noise(self, places: list[int], keys: list[int]) -> None:
        """Blend noise into the priors at these roots, drawn by a key each."""
        for place, key in zip(places, keys, strict=True):
            tree = self.trees[place]
            if tree.kind() == DECISION:
                tree.mix_noise(dirichlet_noise(key, tree.config.noise_alpha, len(tree.root.edges or [])))

    def fail(self, place: int, error: Exception) -> None:
        """End a tree with an error; its waiting leaves are let go of, as if their descents had not been."""
        if self.statuses[place] in (WAITING, READY, PAUSED):
            self.trees[place].abandon()
        self.statuses[place] = FAILED
        self.seen |= 1 << FAILED
        self._errors[place] = error

    def clear(self) -> None:
        """Forget every tree, and what was asked."""
        self.statuses[:] = IDLE
        self._asked = []

    def error(self, place: int) -> Exception:
        """Why a tree failed."""
        return self._errors[place]
