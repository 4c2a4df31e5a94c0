"""The games under way: their states side by side, stepped and looked at in native code where the rules compile.

Through the facade, a step of Yatzy costs as much as a search of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, TERMINAL, Game, State
from aleazero.games.kernel import KernelGame, Kernels, KernelState
from aleazero.native.compile import loop_of

LOOK: Final = 0
START: Final = 1
ACT: Final = 2
DRAW: Final = 3
KIND, VIEWER, PLAYER, CLASS, COUNT, NUM_FACTS = range(6)


class Boards(Protocol):
    """States of one game, each at a row."""

    facts: NDArray[np.int64]
    """(rows, NUM_FACTS): kind, viewer, player to move, decision class, number of legal actions."""
    masks: NDArray[np.bool_]
    """(rows, actions), all false where nobody decides."""
    observations: NDArray[np.float32]
    """(rows, size), as the viewer sees it."""

    def start(self, row: int) -> None:
        """Put the first state of a game at a row."""

    def step(self, row: int, action: int) -> None:
        """Apply an action, or an outcome at a chance node, that the rules allow."""

    def state(self, row: int) -> State:
        """A copy of the state at a row."""


def make_boards(game: Game, rows: int) -> Boards:
    """Boards for a game."""
    return KernelBoards(game, rows) if isinstance(game, KernelGame) else PlainBoards(game, rows)


class _Looks:
    """What is seen of each row."""

    def __init__(self, game: Game, rows: int) -> None:
        self.facts = np.zeros((rows, NUM_FACTS), np.int64)
        self.masks = np.zeros((rows, game.num_actions), np.bool_)
        self.observations = np.zeros((rows, game.observation_size), np.float32)


class KernelBoards(_Looks):
    """States of a kernel game, in one array."""

    def __init__(self, game: KernelGame, rows: int) -> None:
        super().__init__(game, rows)
        self._game = game
        self._look = loop_of(game, "look", make_look)
        self._states = np.zeros((rows, game.info.state_size), np.int64)
        self._legal = np.zeros(game.num_actions, np.int64)

    def start(self, row: int) -> None:
        """Put the first state of a game at a row."""
        self._do(row, START, 0)

    def step(self, row: int, action: int) -> None:
        """Apply an action, or an outcome at a chance node, that the rules allow."""
        self._do(row, DRAW if self.facts[row, KIND] == CHANCE else ACT, action)

    def _do(self, row: int, command: int, number: int) -> None:
        self._look(self._states, row, command, number, self._legal, self.observations, self.masks, self.facts)

    def state(self, row: int) -> State:
        """A copy of the state at a row."""
        return KernelState(self._game, self._states[row].copy())


class PlainBoards(_Looks):
    """States of any game, as objects."""

    def __init__(self, game: Game, rows: int) -> None:
        super().__init__(game, rows)
        self._game = game
        self._states: list[State | None] = [None] * rows

    def start(self, row: int) -> None:
        """Put the first state of a game at a row."""
        self._states[row] = self._game.new_initial_state()
        self._see(row)

    def step(self, row: int, action: int) -> None:
        """Apply an action, or an outcome at a chance node, that the rules allow."""
        state = self._states[row]
        assert state is not None
        state.apply_action(action)
        self._see(row)

    def _see(self, row: int) -> None:
        state = self._states[row]
        assert state is not None
        kind = state.kind()
        self.masks[row] = state.legal_actions_mask()
        self.facts[row] = (
            kind,
            -1 if kind == TERMINAL else state.viewer(),
            state.current_player() if kind == DECISION else -1,
            state.decision_class() if kind == DECISION else 0,
            self.masks[row].sum(),
        )
        if kind != TERMINAL:
            self.observations[row] = state.observation_tensor()

    def state(self, row: int) -> State:
        """A copy of the state at a row."""
        state = self._states[row]
        assert state is not None
        return state.clone()


def make_look(kernels: Kernels) -> Callable[..., int]:
    """The look of one game: ``look(states, row, command, number, legal, observations, masks, facts)``."""
    init, kind_of, to_play, legal_actions = kernels.init, kernels.kind, kernels.to_play, kernels.legal
    act, draw, viewer_of, observe = kernels.apply, kernels.apply_outcome, kernels.viewer, kernels.observe
    class_of = kernels.decision_class

    def look(states: Any, row: int, command: int, number: int, legal: Any, observations: Any, masks: Any,
             facts: Any) -> int:  # fmt: skip
        """Do what is commanded, and note what there is to see then."""
        state = states[row]
        if command == START:
            state[:] = 0
            init(state)
        elif command == ACT:
            act(state, number)
        elif command == DRAW:
            draw(state, number)
        kind = kind_of(state)
        facts[row, KIND] = kind
        facts[row, VIEWER] = facts[row, PLAYER] = -1
        facts[row, CLASS] = facts[row, COUNT] = 0
        masks[row, :] = False
        if kind == DECISION:
            count = legal_actions(state, legal)
            for i in range(count):
                masks[row, legal[i]] = True
            facts[row, PLAYER] = to_play(state)
            facts[row, CLASS] = class_of(state)
            facts[row, COUNT] = count
        if kind != TERMINAL:
            viewer = viewer_of(state)
            facts[row, VIEWER] = viewer
            observations[row, :] = 0.0
            observe(state, viewer, observations[row])
        return int(kind)

    return look
