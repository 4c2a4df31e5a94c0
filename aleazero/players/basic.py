"""Players without a search: random, greedy, playout policy, oracle, user code, and a person at the terminal."""

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
from aleazero.games.base import DECISION, ESTIMATE, Game, State
from aleazero.games.kernel import KernelGame, points_of
from aleazero.games.kit import kit_of
from aleazero.games.registry import import_file
from aleazero.native.random import unit
from aleazero.oracles.oracle import Oracle, best_of
from aleazero.players.player import Allowed, BasePlayer, Player, own_seed
from aleazero.players.search import PlanPlayer


class RandomPlayer(BasePlayer):
    """Selects a legal action uniformly at random."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return random actions."""
        return [
            choose_uniformly(some or state.legal_actions(), own_seed(state, seed))
            for state, seed, some in zip(states, seeds, allowed, strict=True)
        ]


def choose_uniformly(actions: Sequence[int], key: int) -> int:
    """Return one of the actions uniformly at random; ``key`` is 64 random bits."""
    return actions[int(unit(key) * len(actions))]


class PlayoutPlayer(BasePlayer):
    """Samples actions from the game's own playout policy, as playouts of the evaluator ``rollout`` do."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return actions sampled from the playout policy."""
        rows = zip(states, seeds, allowed, strict=True)
        return [playout_action(state, unit(own_seed(state, seed)), some) for state, seed, some in rows]


def playout_action(state: State, u: float, allowed: Allowed) -> int:
    """Return the allowed action of the playout policy for a random number ``u`` in [0, 1)."""
    if allowed is None:
        return state.playout_action(u)
    action = state._choose(allowed, u)
    return action if action in allowed else allowed[int(u * len(allowed))]


def has_playout(game: Game) -> bool:
    """Return whether a game defines a playout policy."""
    if isinstance(game, KernelGame):
        return game.kernels.playout is not None
    return hasattr(getattr(game.new_initial_state(), "wrapped", None), "playout_action")


class UserPlayer(BasePlayer):
    """A player written by a user; its actions are checked, and its exceptions become ``ConfigError``."""

    selects_canonical = False

    def __init__(self, select: Callable[[State, int], Any], name: str) -> None:
        self._select, self._name = select, name

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Call the user's code for each state, with a seed derived from the position."""
        rows = zip(states, seeds, allowed, strict=True)
        return [self._choose(state, own_seed(state, seed), some or state.legal_actions()) for state, seed, some in rows]

    def _choose(self, state: State, seed: int, allowed: list[int]) -> int:
        action = _call_user_code(self._name, self._select, state.clone(), seed)
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
    """Read a player from a Python file: a function ``NAME(state, seed)``, or a class ``NAME(game)`` with ``select``.

    This executes the file.
    """
    called = f"{path}:{name}"
    try:
        module = import_file(Path(path).expanduser())
    except GameError as error:
        raise ConfigError(str(error)) from None
    except (OSError, ValueError, RuntimeError) as error:  # an invalid file name
        raise ConfigError(f"cannot read {path!r}: {error}") from None
    found = _call_user_code(called, getattr, module, name, None)
    if found is None:
        own = [
            known for known, value in vars(module).items() if callable(value) and value.__module__ == module.__name__
        ]
        raise ConfigError(f"no {name!r} in {path}, {nearest(name, own)}")
    if isclass(found):
        made = _call_user_code(called, found, game)
        found = _call_user_code(called, getattr, made, "select", None)
    if not callable(found):
        raise ConfigError(f"{called} is not a player, expected a function of (state, seed), or a class with select")
    return UserPlayer(found, called)


def player_of_kit(make: Callable[..., Any], *arguments: Any, name: str) -> Player:
    """Make a player of a game's kit: a ``Player``, or a function of (state, seed) that returns an action."""
    made = _call_user_code(name, make, *arguments)
    if hasattr(made, "select_many"):
        found: Player = made
        return found
    if not callable(made):
        raise ConfigError(f"{name} is {made!r}, expected a player, or a function of (state, seed)")
    return UserPlayer(made, name)


def _call_user_code(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's function; an exception becomes a ``ConfigError`` with its file and line."""
    try:
        return function(*arguments)
    except (AleaZeroError, KeyboardInterrupt):
        raise
    except BaseException as error:  # also SystemExit
        frames = traceback.extract_tb(error.__traceback__)[1:]
        where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        raise ConfigError(f"player {name} raised {type(error).__name__}: {error}{where}") from error


class OraclePlayer(BasePlayer):
    """Selects the action with the highest exact value; among ties the lowest id."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the best actions."""
        return [self._best(state, some) for state, some in zip(states, allowed, strict=True)]

    def play_values(self, state: State, plays: Sequence[Any], chosen: Sequence[int]) -> list[float]:
        """Return the exact values of plays for the mover, see ``evaluation.plays.Judge``."""
        mover = state.current_player()
        return [float(self._oracle.values(play.end)[mover]) for play in plays]

    def _best(self, state: State, allowed: Allowed) -> int:
        values = self._oracle.action_values(state)
        return best_of(values if allowed is None else {action: values[action] for action in allowed})[0]


def greedy_player(game: Game) -> PlanPlayer:
    """Return the player that maximizes the expected points of the current turn and ignores later turns."""
    return GreedyPlayer(game, Points(), {"horizon": "turn"})


class GreedyPlayer(PlanPlayer):
    """Plans a turn for points. It explains nothing, because its values are not in the unit of the game's returns."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the best actions of the plans."""
        try:
            return super().choose(states, seeds, allowed)
        except ContractError:
            raise
        except GameError as error:
            raise GameError(f"greedy cannot plan the turns of this game, use another player: {error}") from None

    def explain(self, state: State, seed: int) -> None:
        """Return None."""


class Points:
    """Evaluator that values a state by the return so far plus the margin in points, see ``value_in_points``."""

    sees_states = True
    afterstates = ESTIMATE
    """The points at an afterstate are its estimate."""

    def __call__(self, states: Sequence[State]) -> tuple[Any, Any]:
        """Return equal logits, and values by seat relative to the viewer."""
        game = states[0].game
        values = np.array([np.roll(value_in_points(state), -state.viewer()) for state in states])
        return np.zeros((len(states), game.num_actions)), values

    def ended(self, states: Sequence[State]) -> NDArray[np.float64]:
        """Return the values of terminal states, by player."""
        return np.array([value_in_points(state) for state in states])


def value_in_points(state: State) -> NDArray[np.float64]:
    """Return by player the return so far, plus the player's own points minus the mean points of the others.

    At a terminal state the player's own points are left out, because the return takes their place.
    """
    points = points_of(state)
    returns = np.array(state.returns())
    if points is None:
        return returns
    own = np.zeros_like(points) if state.is_terminal() else points
    others = (points.sum() - points) / max(1, len(points) - 1)
    found: NDArray[np.float64] = returns + own - others
    return found


TYPED: Final = "type a move by name, by the name's last part, or by id, e.g. #7"
"""Help text for an empty input."""
SHOWN: Final = 20
"""Most names of actions in a prompt."""


class HumanPlayer(BasePlayer):
    """Prompts a person on stderr until the input is valid; raises ``EOFError`` at the end of the input."""

    selects_canonical = False

    def __init__(self, read: Callable[[], str] | None = None, write: Callable[[str], object] | None = None) -> None:
        self._read, self._write = read or input, write or _to_stderr

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Prompt for an action in each state."""
        return [self._ask(state, some or state.legal_actions()) for state, some in zip(states, allowed, strict=True)]

    def _ask(self, state: State, allowed: Sequence[int]) -> int:
        self._write(f"\n{state}\n")
        while True:
            self._write(f"player {state.current_player()}, your move ({action_names(state, allowed)}):\n> ")
            typed = self._read()
            try:
                return read_move(state, typed, allowed)
            except AleaZeroError as error:
                self._write(f"{error if typed.strip() else TYPED}\n")


def action_names(state: State, actions: Sequence[int]) -> str:
    """Return the names of the first actions, separated by commas."""
    return ", ".join(map(state.action_to_string, actions[:SHOWN])) + (", …" if len(actions) > SHOWN else "")


def read_move(state: State, text: str, allowed: Sequence[int] | None = None) -> int:
    """Return the legal action with a name, with the last part of a name, or with an id such as 7 or #7.

    If the last parts of names are numbers, as in keep-55, a number is an id only with #. Else a mistyped name would
    be another action.
    """
    names = [state.action_to_string(action) for action in state.legal_actions()]
    numbered = any(name.rpartition("-")[2].isdigit() for name in names if "-" in name)
    if numbered and text.strip().isdigit() and sum(f"-{name}".endswith(f"-{text.strip()}") for name in names) != 1:
        raise IllegalActionError(
            f"{state.game.name}: no action {text.strip()!r} here, expected one of "
            f"{action_names(state, state.legal_actions())}, or #{text.strip()} for the action with this id"
        )
    typed = find_move(state, text)
    state.child(typed)  # raises an error if it is illegal
    action = state.canonical_action(typed)
    if allowed is not None and action not in allowed:
        name, expected = state.action_to_string(action), action_names(state, allowed)
        raise IllegalActionError(f"{state.game.name}: {name} is not allowed, expected {expected}")
    return action


def read_play(state: State, text: str) -> list[int]:
    """Return the actions of a complete play in the game's own form, if its kit reads plays; else one action."""
    parse = kit_of(state.game).parse_play
    if parse is None:
        return [read_move(state, text)]
    try:
        return list(parse(state, text))
    except AleaZeroError as error:
        try:  # the first action of the play, or an id
            return [read_move(state, text)]
        except AleaZeroError:
            raise error from None


def first_play(state: State) -> list[int]:
    """Return the play of the player to move whose actions have the lowest ids."""
    mover, here, actions = state.current_player(), state.clone(), []
    while here.kind() == DECISION and here.current_player() == mover:
        actions.append(here.legal_actions()[0])
        here.apply_action(actions[-1])
    return actions


def find_move(state: State, text: str) -> int:
    """Return the action or outcome with a name, with the last part of a name if it is unique, or with an id (7, #7)."""
    text = text.strip()
    if text[:1] == "#" and text[1:].isdigit():
        return state.string_to_action(text[1:])
    names = [state.action_to_string(action) for action in state.legal_actions()]
    endings = [name for name in names if name.casefold().endswith(f"-{text.casefold()}")]
    return state.string_to_action(endings[0] if text and text not in names and len(endings) == 1 else text)


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
