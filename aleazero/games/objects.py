"""Object games: Python classes whose instances are states; and the games of OpenSpiel.

A class needs ``current_player()``, ``legal_actions()``, ``apply_action(a)`` and ``returns()``; a game with chance also
``chance_outcomes()``. It needs the attributes ``num_players`` and ``num_actions``. Everything else has defaults.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ContractError, GameError, IllegalActionError, PositionError, UnknownGameError, nearest
from aleazero.games.base import (
    CHANCE_PLAYER,
    TERMINAL_PLAYER,
    Game,
    GameInfo,
    State,
)
from aleazero.games.kernel import call_with_params, sample_listed, valid_outcomes
from aleazero.games.scene import Scene, call_draw

METHODS = ("current_player", "legal_actions", "apply_action", "returns")


def is_object_game(candidate: Any) -> bool:
    """Return whether a value is a class whose instances can be states."""
    return isinstance(candidate, type) and all(callable(getattr(candidate, name, None)) for name in METHODS)


class ObjectGame(Game):
    """A game whose states are Python objects.

    Args:
        make: returns the initial state, an object of the user's class.
        info: the description of the game.
        params: the parameters of the game.
    """

    def __init__(self, make: Callable[..., Any], info: GameInfo, params: Mapping[str, Any]) -> None:
        super().__init__(info, params)
        self._make = make
        self.state_class: type | None = None
        """The class of the states, if the game was made from a class."""

    @classmethod
    def from_class(cls, state_class: type, params: Mapping[str, Any]) -> ObjectGame:
        """Return the game of a class whose instances are states and whose attributes describe the game."""
        first, settled = call_with_params(state_class, params, state_class.__name__)
        info = GameInfo(
            name=getattr(state_class, "name", state_class.__name__),
            num_players=_size(first, "num_players"),
            num_actions=_size(first, "num_actions"),
            max_outcomes=getattr(first, "max_outcomes", 0),
            utility=getattr(first, "utility", None),
            levels=getattr(first, "levels", 1),
            observation_size=getattr(first, "observation_size", 0),
            observation_schema=getattr(first, "observation_schema", ""),
            version=getattr(first, "version", 1),
            decision_classes=tuple(getattr(first, "decision_classes", ("decision",))),
            phases=tuple(getattr(first, "phases", ("game",))),
        )
        game = cls(lambda: state_class(**params), info, settled)
        game.state_class = state_class
        return game

    def new_initial_state(self) -> ObjectState:
        return ObjectState(self, self._make(), [])

    def state_from_text(self, text: str) -> ObjectState:
        return self.deserialize(text)

    def deserialize(self, text: str) -> ObjectState:
        state = self.new_initial_state()
        try:
            history = [int(word) for word in text.split(",") if word.strip()]
        except ValueError:
            raise PositionError(f"{self.name}: cannot read {text!r}, expected action ids separated by commas") from None
        for action in history:
            try:
                state.apply_action(action)
            except IllegalActionError as error:
                raise PositionError(f"cannot replay {text!r}: {error}") from None
        return state


def _size(first: Any, name: str) -> int:
    value = getattr(first, name, None)
    if not isinstance(value, int) or value < 1:
        raise ContractError(f"{type(first).__name__}: {name} is {value!r}, expected an integer of at least 1")
    return value


class ObjectState(State):
    """A position of an object game.

    Attributes:
        wrapped: the user's object.
        history: the actions and outcomes that led to it.
    """

    game: ObjectGame

    def __init__(self, game: ObjectGame, wrapped: Any, history: list[int], last_player: int = 0) -> None:
        self.game = game
        self.wrapped = wrapped
        self.history = history
        self._last_player = last_player

    def current_player(self) -> int:
        wrapped = self.wrapped
        if getattr(wrapped, "is_terminal", None) is not None and wrapped.is_terminal():
            return TERMINAL_PLAYER
        player = int(wrapped.current_player())
        if player not in (CHANCE_PLAYER, TERMINAL_PLAYER) and not 0 <= player < self.game.num_players:
            raise ContractError(f"{self.game.name}: current_player() returned {player}, expected a player, -1 or -4")
        return player

    def legal_actions(self) -> list[int]:
        player = self.current_player()
        if player == TERMINAL_PLAYER:
            return []
        if player == CHANCE_PLAYER:
            return [outcome for outcome, _ in self.chance_outcomes()]
        return sorted(int(action) for action in self.wrapped.legal_actions())

    def outcomes_listed(self) -> bool:
        return True

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self.current_player() != CHANCE_PLAYER:
            return []
        return valid_outcomes(self, self.wrapped.chance_outcomes())

    def sample_outcome(self, u: float) -> int:
        return sample_listed(self.chance_outcomes(), u)

    def canonical_action(self, action: int) -> int:
        return action if action in self.legal_actions() else -1

    def _choose(self, legal: list[int], u: float) -> int:
        own = getattr(self.wrapped, "playout_action", None)
        return super()._choose(legal, u) if own is None else int(own(u))

    def _apply(self, action: int) -> None:
        player = self.current_player()
        self.wrapped.apply_action(action)
        self.history.append(action)
        if player >= 0:
            self._last_player = player

    def returns(self) -> list[float]:
        values = [float(value) for value in self.wrapped.returns()]
        if len(values) != self.game.num_players:
            raise ContractError(
                f"{self.game.name}: returns() returned {len(values)} numbers, expected {self.game.num_players}"
            )
        return values

    def clone(self) -> ObjectState:
        own = getattr(self.wrapped, "clone", None)
        wrapped = copy.deepcopy(self.wrapped) if own is None else own()
        return ObjectState(self.game, wrapped, list(self.history), self._last_player)

    def viewer(self) -> int:
        player = self.current_player()
        return player if player >= 0 else self._last_player

    def observation_tensor(self, player: int | None = None) -> NDArray[np.float32]:
        observe = getattr(self.wrapped, "observation_tensor", None)
        if observe is None:
            raise GameError(
                f"{self.game.name}: the class has no observation_tensor(), which networks and other evaluators need"
            )
        return np.asarray(observe(self.viewer() if player is None else player), np.float32)

    def decision_class(self) -> int:
        classify = getattr(self.wrapped, "decision_class", None)
        return 0 if classify is None else int(classify())

    def phase(self) -> int:
        if len(self.game.info.phases) < 2:
            return 0
        own = getattr(self.wrapped, "phase", None)
        if own is None:
            raise ContractError(f"{self.game.name}: the class has phases but no phase(), expected both or neither")
        return int(own())

    def action_to_string(self, action: int) -> str:
        name = getattr(self.wrapped, "action_to_string", None)
        return str(action) if name is None else str(name(action))

    def serialize(self) -> str:
        return ",".join(str(action) for action in self.history)

    def to_text(self) -> str:
        return self.serialize()

    def __str__(self) -> str:
        return str(self.wrapped)

    def draw(self, clicks: Sequence[str] = ()) -> Scene | None:
        draw = getattr(self.wrapped, "draw", None)
        return None if draw is None else call_draw(self.game.name, draw, (), clicks)

    def key(self) -> bytes:
        own = getattr(self.wrapped, "serialize", None)
        if own is not None:
            return str(own()).encode()
        # The default text of an object is its address, so the history identifies it instead.
        plain = all(getattr(type(self.wrapped), name) is getattr(object, name) for name in ("__str__", "__repr__"))
        return (self.serialize() if plain else str(self.wrapped)).encode()


def from_openspiel(name: str, **params: Any) -> ObjectGame:
    """Load a game of OpenSpiel.

    States with different histories are different states, even if they are the same position. Games with simultaneous
    moves, hidden information or chance that is sampled inside the game are not supported.

    Args:
        name: short name of the game in OpenSpiel, e.g. ``pig``.
        **params: parameters of the game in OpenSpiel, e.g. ``winscore=20``.

    Returns:
        The game.

    Raises:
        UnknownGameError: OpenSpiel has no game with this name.
        GameError: OpenSpiel is not installed, a parameter is invalid, or the game is not supported.
    """
    pyspiel = _import_pyspiel()
    # The name is checked here first, because the loader of pyspiel prints unknown names to stderr.
    types = {game_type.short_name: game_type for game_type in pyspiel.registered_games()}
    if name not in types:
        raise UnknownGameError(f"OpenSpiel has no game {name!r}, {nearest(name, types)}")
    known = types[name].parameter_specification
    for key in params:
        if key not in known:
            raise GameError(f"OpenSpiel's {name}: no parameter {key!r}, {nearest(key, known)}")
    _require_searchable(pyspiel, name, types[name])
    try:
        game = pyspiel.load_game(name, params)
    except Exception as error:
        raise GameError(f"OpenSpiel cannot load {name} with {params}: {_first_line(error)}") from error
    _require_searchable(pyspiel, name, game.get_type())
    return ObjectGame(game.new_initial_state, _describe(name, game), params)


def _import_pyspiel() -> Any:
    try:
        import pyspiel
    except ImportError as error:
        raise GameError("OpenSpiel is not installed, expected pyspiel: pip install aleazero[openspiel]") from error
    return pyspiel


def _require_searchable(pyspiel: Any, name: str, game_type: Any) -> None:
    kinds = pyspiel.GameType
    if game_type.dynamics != kinds.Dynamics.SEQUENTIAL:
        what, expected = f"{game_type.dynamics.name.lower()} moves", "one player to move at a time"
    elif game_type.information != kinds.Information.PERFECT_INFORMATION:
        what, expected = "hidden information", "perfect information"
    elif game_type.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
        what, expected = "chance sampled inside the game", "explicit chance nodes"
    else:
        return
    raise GameError(f"OpenSpiel's {name} is not supported: it has {what}, expected {expected}")


def _describe(name: str, game: Any) -> GameInfo:
    lowest, highest = float(game.min_utility()), float(game.max_utility())
    bounded = math.isfinite(lowest) and math.isfinite(highest) and lowest < highest
    observed = game.get_type().provides_observation_tensor
    return GameInfo(
        name=name,
        num_players=game.num_players(),
        num_actions=game.num_distinct_actions(),
        max_outcomes=game.max_chance_outcomes(),
        utility=(lowest, highest) if bounded else None,
        observation_size=game.observation_tensor_size() if observed else 0,
        observation_schema=f"openspiel-{name}",
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
