"""The player who is a person at a terminal, and how a typed move is understood."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Final

from aleazero.errors import AleaZeroError, IllegalActionError
from aleazero.games.base import State
from aleazero.players.player import Allowed, Thinker
from aleazero.players.words import TYPED

SHOWN: Final = 20
"""Names of actions in a question, at most."""


class HumanPlayer(Thinker):
    """Asks on the terminal, on stderr, and asks again after nonsense; the end of input is an ``EOFError``."""

    selects_canonical = False

    def __init__(self, read: Callable[[], str] | None = None, write: Callable[[str], object] | None = None) -> None:
        self._read, self._write = read or input, write or _to_stderr

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """What the person says, one position after the other."""
        return [self._ask(state, some or state.legal_actions()) for state, some in zip(states, allowed, strict=True)]

    def _ask(self, state: State, allowed: Sequence[int]) -> int:
        self._write(f"\n{state}\n")
        while True:
            self._write(f"player {state.current_player()}, your move ({names_of(state, allowed)}):\n> ")
            word = self._read()
            try:
                return understood(state, word, allowed)
            except AleaZeroError as error:
                self._write(f"{error if word.strip() else TYPED}\n")


def names_of(state: State, actions: Sequence[int]) -> str:
    """The names of some actions, the first of many."""
    return ", ".join(map(state.action_to_string, actions[:SHOWN])) + (", …" if len(actions) > SHOWN else "")


def understood(state: State, word: str, allowed: Sequence[int] | None = None) -> int:
    """The action of a name, a name's last part or an id, equivalents too; an error where it may not be played.

    Names go before ids: in Yatzy, 5 is keep-5 where that can be played, not the action of that number.
    """
    typed = move_of(state, word)
    state.child(typed)  # raises where it is illegal
    action = state.canonical_action(typed)
    if allowed is not None and action not in allowed:
        raise IllegalActionError(
            f"{state.game.name}: {state.action_to_string(action)} is not allowed, expected {names_of(state, allowed)}"
        )
    return action


def move_of(state: State, word: str) -> int:
    """The action or outcome of a name, of a name's last part if only one name ends so, or of an id."""
    return state.string_to_action(_in_full(state, word.strip()))


def _in_full(state: State, word: str) -> str:
    names = [state.action_to_string(action) for action in state.legal_actions()]
    meant = [name for name in names if name.casefold().endswith(f"-{word.casefold()}")]
    return meant[0] if word and word not in names and len(meant) == 1 else word


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
