"""The first check of ``check_game``, that of the state vector of a kernel game; and the errors of failed checks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from aleazero.errors import AleaZeroError, ContractError, shortened
from aleazero.games.base import CHANCE, DECISION, TERMINAL, State
from aleazero.games.kernel import KernelGame, KernelState


def broken(check: str, state: State | None, got: Any, expected: str) -> NoReturn:
    """Raise the error of a failed check."""
    where = "" if state is None else f" in {_describe(state)}"
    text = shortened(str(got), 400, 100)
    raise ContractError(f"check of {check} failed{where}: got {text}, expected {expected}".replace("\n", " "))


def _describe(state: State) -> str:
    """Return the text of a state; if that fails, its vector or object."""
    try:
        text = repr(state.to_text())
    except Exception:
        text = str(getattr(state, "vector", getattr(state, "wrapped", "a state")))
    return f"{state.game.name} {text}"


@contextmanager
def running(what: str, state: State | None) -> Iterator[None]:
    """Convert errors of the rules in this block into failed checks."""
    try:
        yield
    except ContractError as error:
        if str(error).startswith("check of"):
            raise
        broken(what, state, error, "no error")
    except AleaZeroError as error:
        broken(what, state, error, "no error")
    except Exception as error:
        broken(what, state, f"{type(error).__name__}: {error}", "no error")


def require_fit(state: KernelState) -> None:
    """Raise ContractError if a number of the state does not fit the declared type."""
    dtype = state.game.info.state_dtype
    bounds = np.iinfo(dtype)
    lowest, highest = int(state.vector.min()), int(state.vector.max())
    if lowest < bounds.min or highest > bounds.max:
        got = lowest if lowest < bounds.min else highest
        place = int(np.flatnonzero(state.vector == got)[0])
        fits = f"numbers that fit {dtype} ({bounds.min} to {bounds.max}), or a larger state_dtype"
        broken("state numbers", state, f"{got} at index {place}", fits)


class _OutsideState(IndexError):
    """An index that the state vector does not have."""


class _Watched(np.ndarray):
    """A state vector that records which of its numbers are used, and raises _OutsideState for an invalid index."""

    used: set[int] | None = None  # None in slices, which are not recorded

    def __getitem__(self, index: Any) -> Any:
        self._note(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._note(index)
        super().__setitem__(index, value)

    def _note(self, index: Any) -> None:
        if self.used is None:
            return
        if isinstance(index, slice):
            self.used.update(range(*index.indices(len(self))))
        elif isinstance(index, int | np.integer):
            if not -len(self) <= index < len(self):
                raise _OutsideState(int(index))
            self.used.add(int(index) % len(self))
        else:
            self.used.update(range(len(self)))


def check_state_numbers(
    game: KernelGame, is_over: Callable[[], bool], episodes: int = 2, steps: int = 200
) -> list[int]:
    """Check the size and the numbers of the state vector in a few random episodes.

    Other errors of the rules end this check silently, because later checks report them.

    Returns:
        The indices at the end of the vector that nothing read or wrote; [] if no episode ended.
    """
    size = game.info.state_size
    vector = np.zeros(size, np.int64).view(_Watched)
    vector.used = set()
    state, complete = KernelState(game, vector), 0
    draw = random.Random(f"check_game state numbers {episodes}")
    try:
        for _ in range(episodes):
            vector.fill(0)
            game.kernels.init(vector)
            for _ in range(steps):
                require_fit(state)
                _call_rules(state)
                if state.is_terminal() or is_over():
                    break
                state._apply(random_step(state, draw))
            complete += state.is_terminal()
    except _OutsideState as error:
        index = error.args[0]
        least = f", and this needs at least {index + 1}" if index >= size else ""
        got = f"{game.name} using index {index} of the state"
        broken("state numbers", None, got, f"0 to {size - 1}: state_size is {size}{least}")
    except ContractError as error:
        if str(error).startswith("check of"):
            raise
        return []
    except Exception:
        return []
    _check_parsed_size(game)
    return list(range(max(vector.used, default=-1) + 1, size)) if complete else []


def random_step(state: State, draw: random.Random) -> int:
    """Return a random action or outcome."""
    return state.sample_outcome(draw.random()) if state.kind() == CHANCE else draw.choice(state.legal_actions())


def _call_rules(state: KernelState) -> None:
    """Call every function that can be called in a state, except names and the default observation."""
    game, kernels, running = state.game, state.game.kernels, state.kind() != TERMINAL
    state.current_player(), state.viewer(), state.returns()
    if "points" in kernels.uncompiled:
        kernels.uncompiled["points"](state.vector, np.zeros(game.num_players))
    if game.info.observation_size:
        state.observation_tensor()
    if running:
        state.phase()
        if kernels.turn is not None:
            kernels.turn(state.vector)
        if game.info.features is not None:
            out = np.zeros(game.info.features.size(game.num_players), np.float32)
            kernels.features(state.vector, state.viewer(), out)
    if state.kind() == DECISION:
        state.decision_class(), state.playout_action(0.5), state._prior_logits(state.legal_actions())


def _check_parsed_size(game: KernelGame) -> None:
    functions = game.kernels.uncompiled
    if "text" not in functions or "parse" not in functions:
        return
    try:
        count = len(functions["parse"](functions["text"](game.new_initial_state().vector)))
    except Exception:  # the check of text reports it
        return
    if count != game.info.state_size:
        got = f"{count} numbers from {game.name}'s parse"
        broken("state numbers", None, got, f"state_size, {game.info.state_size}")
