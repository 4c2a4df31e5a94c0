"""Players without a search: random, greedy, the game's playout policy, exact values, a user's code, a person."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from inspect import isclass
from operator import index
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import AleaZeroError, ConfigError, ContractError, GameError, IllegalActionError, nearest
from aleazero.games.base import ESTIMATE, Game, State
from aleazero.games.kernel import KernelGame, points_of
from aleazero.games.registry import import_file
from aleazero.native.random import unit
from aleazero.oracles.oracle import Oracle, best_of
from aleazero.players.player import Allowed, BasePlayer, Player, own_seed
from aleazero.players.search import PlanPlayer


class RandomPlayer(BasePlayer):
    """Any legal action, each with the same chance."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """An action by lot."""
        return [
            choose_uniformly(some or state.legal_actions(), own_seed(state, seed))
            for state, seed, some in zip(states, seeds, allowed, strict=True)
        ]


def choose_uniformly(actions: Sequence[int], key: int) -> int:
    """One of some actions, each with the same chance; ``key`` is 64 random bits."""
    return actions[int(unit(key) * len(actions))]


class PlayoutPlayer(BasePlayer):
    """Draws from the game's own playout policy, as the playouts of ``rollout`` do."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """The action of a playout."""
        rows = zip(states, seeds, allowed, strict=True)
        return [playout_action(state, unit(own_seed(state, seed)), some) for state, seed, some in rows]


def playout_action(state: State, u: float, allowed: Allowed) -> int:
    """The action of a playout for a number u in [0, 1), among those that are allowed."""
    if allowed is None:
        return state.playout_action(u)
    action = state._choose(allowed, u)
    return action if action in allowed else allowed[int(u * len(allowed))]


def has_playout(game: Game) -> bool:
    """Whether a game has a playout policy of its own, instead of random actions."""
    if isinstance(game, KernelGame):
        return game.kernels.playout is not None
    return hasattr(getattr(game.new_initial_state(), "wrapped", None), "playout_action")


class UserPlayer(BasePlayer):
    """A player that a user wrote: its actions are checked, and its errors are one line."""

    selects_canonical = False

    def __init__(self, select: Callable[[State, int], Any], name: str) -> None:
        self._select, self._name = select, name

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """What the user's code selects, one position after the other; its seed is derived from the position."""
        rows = zip(states, seeds, allowed, strict=True)
        return [self._choose(state, own_seed(state, seed), some or state.legal_actions()) for state, seed, some in rows]

    def _choose(self, state: State, seed: int, allowed: list[int]) -> int:
        action = _called(self._name, self._select, state.clone(), seed)
        try:
            chosen = state.string_to_action(action) if isinstance(action, str) else index(action)
            found = state.canonical_action(chosen)
        except (IllegalActionError, TypeError):
            found = -1
        if found not in allowed:
            legal = ", ".join(f"{one} ({state.action_to_string(one)})" for one in allowed[:12])
            raise IllegalActionError(
                f"player {self._name} selected {action!r} in {state.to_text()!r}, expected one of {legal}"
            )
        return found


def read_player(path: str, name: str, game: Game) -> Player:
    """A player from a user's Python file: a function ``NAME(state, seed)``, or a class ``NAME(game)`` with ``select``.

    This runs the file.
    """
    called = f"{path}:{name}"
    try:
        module = import_file(Path(path).expanduser())
    except GameError as error:
        raise ConfigError(str(error)) from None
    except (OSError, ValueError, RuntimeError) as error:  # a name that no file can have
        raise ConfigError(f"cannot read {path!r}: {error}") from None
    found = _called(called, getattr, module, name, None)
    if found is None:
        own = [word for word, value in vars(module).items() if callable(value) and value.__module__ == module.__name__]
        raise ConfigError(f"no {name!r} in {path}, {nearest(name, own)}")
    if isclass(found):
        made = _called(called, found, game)
        found = _called(called, getattr, made, "select", None)
    if not callable(found):
        raise ConfigError(f"{called} is no player, expected a function of (state, seed), or a class with select")
    return UserPlayer(found, called)


def player_of_kit(make: Callable[..., Any], *arguments: Any, name: str) -> Player:
    """A player that a game's kit makes: a ``Player``, or a function of (state, seed) that returns an action."""
    made = _called(name, make, *arguments)
    if hasattr(made, "select_many"):
        found: Player = made
        return found
    if not callable(made):
        raise ConfigError(f"the kit made {made!r} of {name}, expected a player, or a function of (state, seed)")
    return UserPlayer(made, name)


def _called(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a user's function returns; what it raises is an error that names the line."""
    try:
        return function(*arguments)
    except (AleaZeroError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit among others: the file is the user's
        frames = traceback.extract_tb(error.__traceback__)[1:]
        where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        raise ConfigError(f"player {name} raised {type(error).__name__}: {error}{where}") from error


class OraclePlayer(BasePlayer):
    """The action of the highest exact value among those allowed; of those that tie, the lowest id."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """The best actions."""
        return [self._best(state, some) for state, some in zip(states, allowed, strict=True)]

    def _best(self, state: State, allowed: Allowed) -> int:
        values = self._oracle.action_values(state)
        return best_of(values if allowed is None else {action: values[action] for action in allowed})[0]


def greedy_player(game: Game) -> PlanPlayer:
    """The most that this turn can bring, expected exactly, with no thought of the next."""
    return GreedyPlayer(game, Points(), {"horizon": "turn"})


class GreedyPlayer(PlanPlayer):
    """Plans a turn over points, whose values are in no unit that a game's returns have: it explains nothing."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """The actions of the plans; a game whose turns cannot be planned is an error that names the player."""
        try:
            return super().choose(states, seeds, allowed)
        except ContractError:
            raise
        except GameError as error:
            raise GameError(f"greedy plans whole turns, expected another player for this game: {error}") from None

    def explain(self, state: State, seed: int) -> None:
        """Return None."""


class Points:
    """Values a state by the return so far, and by the margin in points if the game's returns count wins only.

    The margin is the player's own points minus the mean of the others', so that points taken from another player count.
    """

    sees_states = True
    afterstates = ESTIMATE
    """The points at an afterstate count as they are."""

    def __call__(self, states: Sequence[State]) -> tuple[Any, Any]:
        """Equal logits; values in seats relative to the viewer."""
        game = states[0].game
        values = np.array([np.roll(value_in_points(state), -state.viewer()) for state in states])
        return np.zeros((len(states), game.num_actions)), values

    def ended(self, states: Sequence[State]) -> NDArray[np.float64]:
        """Values of the ends of a game, by player."""
        return np.array([value_in_points(state) for state in states])


def value_in_points(state: State) -> NDArray[np.float64]:
    """The return so far, by player, plus the player's own points minus the mean of the others'.

    At an end the return stands in for the player's own points: a win is worth as much as the points that it takes.
    """
    points = points_of(state)
    returns = np.array(state.returns())
    if points is None:
        return returns
    own = np.zeros_like(points) if state.is_terminal() else points
    others = (points.sum() - points) / max(1, len(points) - 1)
    found: NDArray[np.float64] = returns + own - others
    return found


TYPED: Final = "type a move by name, by the name's last part, or by id"
"""What a person is asked for."""
SHOWN: Final = 20
"""Names of actions in a question, at most."""


class HumanPlayer(BasePlayer):
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
            self._write(f"player {state.current_player()}, your move ({action_names(state, allowed)}):\n> ")
            word = self._read()
            try:
                return read_move(state, word, allowed)
            except AleaZeroError as error:
                self._write(f"{error if word.strip() else TYPED}\n")


def action_names(state: State, actions: Sequence[int]) -> str:
    """The names of some actions, the first of many."""
    return ", ".join(map(state.action_to_string, actions[:SHOWN])) + (", …" if len(actions) > SHOWN else "")


def read_move(state: State, word: str, allowed: Sequence[int] | None = None) -> int:
    """The action of a name, a name's last part or an id, equivalents too; an error where it may not be played.

    Names go before ids: in Yatzy, 5 is keep-5 where that can be played, not the action of that number.
    """
    typed = find_move(state, word)
    state.child(typed)  # raises where it is illegal
    action = state.canonical_action(typed)
    if allowed is not None and action not in allowed:
        name, expected = state.action_to_string(action), action_names(state, allowed)
        raise IllegalActionError(f"{state.game.name}: {name} is not allowed, expected {expected}")
    return action


def find_move(state: State, word: str) -> int:
    """The action or outcome of a name, of a name's last part if only one name ends so, or of an id."""
    return state.string_to_action(_in_full(state, word.strip()))


def _in_full(state: State, word: str) -> str:
    names = [state.action_to_string(action) for action in state.legal_actions()]
    meant = [name for name in names if name.casefold().endswith(f"-{word.casefold()}")]
    return meant[0] if word and word not in names and len(meant) == 1 else word


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
