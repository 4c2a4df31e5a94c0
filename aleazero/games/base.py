"""The game contract: ``Game``, ``State`` with the method names of OpenSpiel, and ``GameInfo``.

There are two kinds of games with the same interface. A *kernel game* is a module of plain functions over a flat vector
of integers, which the search compiles (``kernel.py``). An *object game* is a Python class with the methods of ``State``
(``objects.py``), which is searched in plain Python.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import AleaZeroError, ContractError, IllegalActionError, PositionError, count_text
from aleazero.games.scene import Scene

DECISION: Final = 0
CHANCE: Final = 1
TERMINAL: Final = 2
KIND_NAMES: Final = ("decision", "chance", "terminal")

MANY: Final = -1
"""Return value of ``outcomes`` if there are too many to list."""

CHANCE_PLAYER: Final = -1
TERMINAL_PLAYER: Final = -4


class Trust(IntEnum):
    """How a search uses an evaluator's values of a kind of node: not at all, as estimates, or as exact values."""

    NONE = 0
    ESTIMATE = 1
    EXACT = 2


NONE, ESTIMATE, EXACT = Trust.NONE, Trust.ESTIMATE, Trust.EXACT

PROBABILITY_TOLERANCE: Final = 1e-9
"""Maximum difference between 1 and the sum of the probabilities of a chance event."""

ZERO: Final = 1e-6
"""Tolerance for returns of a win/loss game, which sum to 0."""


@dataclass(frozen=True)
class Features:
    """Layout of the input of value networks, which ``features(state, player, out)`` writes.

    A block of numbers for each seat, starting with the player's own, is followed by the common part. Without features,
    value networks use the observation.
    """

    schema: str
    """Name of the layout. Networks trained on one layout reject another."""
    block: int
    """Numbers per seat; 0 if all numbers are in the common part."""
    common: int = 0
    """Numbers in the common part."""
    lead: int | None = None
    """Index in the common part of the points by which the player leads, for two-player games decided by points."""
    lead_unit: float = 1.0
    """Points that 1.0 of the lead stands for."""
    point_unit: float = 1.0
    """Points that 1.0 of the game's ``points`` stands for."""

    def size(self, players: int) -> int:
        """Return the length of the features for this number of players."""
        return self.block * players + self.common


@dataclass(frozen=True)
class GameInfo:
    """The description of a game: its name and its sizes."""

    name: str
    _: KW_ONLY
    num_players: int
    num_actions: int
    """Action ids are 0 to num_actions − 1."""
    max_outcomes: int = 0
    """Maximum number of outcomes of a chance event; 0 in a game without chance."""
    lists_outcomes: bool = True
    """False if ``outcomes`` may return MANY."""
    utility: tuple[float, float] | None = None
    """Lowest and highest return of a player; None if returns are not bounded."""
    levels: int = 1
    """Maximum number of points that a win of a two-player game counts, and a loss costs (backgammon: 3). If it is more
    than 1, networks predict the probability of each number."""
    state_size: int = 0
    """Length of a kernel game's state vector."""
    state_dtype: str = "int32"
    """The smallest integer type that holds every number of the state vector."""
    observation_size: int = 0
    """Length of an observation; 0 to observe the state vector itself."""
    observation_schema: str = ""
    """Name of the observation's layout. Networks trained on one layout reject another."""
    features: Features | None = None
    """Layout of the input of value networks; None to use the observation."""
    version: int = 1
    """Version of the rules. Increase it if the same actions lead to other states."""
    decision_classes: tuple[str, ...] = ("decision",)
    """Names of the kinds of decisions; ``decision_class(state)`` returns an index."""
    phases: tuple[str, ...] = ("game",)
    """Names of parts of the game for which value networks have separate weights (backgammon: contact, race);
    ``phase(state)`` returns an index."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Module constants of a kernel game that its parameters change, by name."""


def _check_returns(info: GameInfo) -> None:
    """Raise ContractError if the description of the returns is contradictory."""
    if info.utility is not None and not info.utility[0] < info.utility[1]:
        raise ContractError(f"{info.name}: utility is {info.utility}, expected lowest < highest")
    if info.levels < 1:
        raise ContractError(f"{info.name}: levels is {info.levels}, expected at least 1")
    if info.levels == 1:
        return
    if info.num_players != 2 or info.utility != (-info.levels, info.levels):
        players = count_text(info.num_players, "player")
        raise ContractError(
            f"{info.name}: levels is {info.levels} with {players} and utility {info.utility}, "
            f"expected 2 players and utility ({-info.levels:.1f}, {info.levels:.1f})"
        )
    if info.features is not None and info.features.lead is not None:
        raise ContractError(f"{info.name}: levels is {info.levels} and features have a lead, expected one of the two")


def counts_wins(game: Game) -> bool:
    """Return whether returns may be wins and losses: 1 for a sole winner, −1 shared among the others.

    This looks at the range only. Training checks whether returns sum to 0, and treats them as scores if they do not.
    """
    others = game.num_players - 1
    return others > 0 and game.info.utility == (-1.0 / others, 1.0)


def find_bad_end(info: GameInfo, returns: NDArray[np.float64]) -> tuple[int, str] | None:
    """Find the first row of final returns (rows, players) that the game's description does not allow.

    Returns:
        The row and what is expected there; None if all rows are allowed.
    """
    finite = np.isfinite(returns).all(axis=1)
    if not finite.all():
        return int(np.argmin(finite)), "finite numbers"
    rules = []
    if info.utility is not None:
        lowest, highest = info.utility
        within = ((returns >= lowest) & (returns <= highest)).all(axis=1)
        rules.append((within, f"numbers within the utility range, {lowest:g} to {highest:g}"))
    if info.levels > 1:
        fits = (returns[:, 0] == -returns[:, 1]) & (returns[:, 0] % 1 == 0)
        rules.append((fits, "integer points that one player wins and the other loses"))
    elif info.num_players > 1 and info.utility == (-1.0 / (info.num_players - 1), 1.0):
        fits = np.abs(returns.sum(axis=1)) < ZERO
        rules.append(
            (fits, "numbers that sum to 0, as this utility range means wins and losses; scores need another range")
        )
    for fits, expected in rules:
        if not fits.all():
            return int(np.argmin(fits)), expected
    return None


class Game(ABC):
    """A game with its parameters fixed. ``aleazero.load_game`` loads one.

    Attributes:
        info: the description of the game.
        params: the parameters by name, including defaults.
    """

    _kit: Any = None
    """Result of ``games.kit.kit_of``. It is stored here because a kit may refer to its game."""

    def __init__(self, info: GameInfo, params: Mapping[str, Any]) -> None:
        _check_returns(info)
        self.info = info
        self.params = dict(params)

    @property
    def name(self) -> str:
        """Name of the game, without parameters."""
        return self.info.name

    @property
    def num_players(self) -> int:
        """Number of players."""
        return self.info.num_players

    @property
    def num_actions(self) -> int:
        """Number of action ids, which are 0 to num_actions − 1."""
        return self.info.num_actions

    @property
    def observation_size(self) -> int:
        """Length of an observation."""
        return self.info.observation_size or len(self.new_initial_state().observation_tensor())

    @abstractmethod
    def new_initial_state(self) -> State:
        """Return the state that a game starts from."""

    @abstractmethod
    def state_from_text(self, text: str) -> State:
        """Read a position that ``State.to_text`` or a person wrote.

        Args:
            text: the position in one line.

        Returns:
            A new state.

        Raises:
            PositionError: the text cannot be read, or no play reaches the position.
        """

    @abstractmethod
    def deserialize(self, text: str) -> State:
        """Read a state that ``State.serialize`` wrote.

        Args:
            text: the serialized state.

        Returns:
            A new state that is equal to the serialized one.

        Raises:
            PositionError: the text cannot be read, or belongs to another game.
        """

    def state_from_vector(self, vector: Sequence[int] | NDArray[Any]) -> State:
        """Make a state from a state vector; object games have none.

        Args:
            vector: ``state_size`` integers, which are copied.

        Returns:
            The state.

        Raises:
            PositionError: the numbers do not fit, the game's ``check`` rejects them, or this is an object game.
        """
        raise PositionError(f"{self.name}: object games have no state vector, use state_from_text")

    def json_params(self, error_class: type[AleaZeroError]) -> dict[str, Any]:
        """Return the parameters as JSON data; raise ``error_class`` if JSON cannot store them."""
        try:
            params: dict[str, Any] = json.loads(json.dumps(self.params, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise error_class(f"{self!r}: parameters must be JSON to be stored, got one that is not: {error}") from None
        return params

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in sorted(self.params.items()))
        return f"{self.name}({settings})"


class State(ABC):
    """A position of a game, with the method names of OpenSpiel. ``apply_action`` applies both actions and outcomes.

    Attributes:
        game: the game of the state.
    """

    game: Game

    @abstractmethod
    def current_player(self) -> int:
        """Return the player to move; −1 at a chance node, −4 in a terminal state."""

    @abstractmethod
    def legal_actions(self) -> list[int]:
        """Return the legal actions in ascending order; at a chance node, the outcomes; [] in a terminal state."""

    @abstractmethod
    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return all outcomes of a chance node with their probabilities; [] in other states.

        Raises:
            ContractError: the outcomes are too many to list, or the rules list invalid ones.
        """

    @abstractmethod
    def outcomes_listed(self) -> bool:
        """Return whether ``chance_outcomes`` can list the outcomes of this chance node."""

    @abstractmethod
    def sample_outcome(self, u: float) -> int:
        """Return a random outcome of this chance node, determined by a uniform number u in [0, 1)."""

    @abstractmethod
    def canonical_action(self, action: int) -> int:
        """Return the legal action that is equivalent to this action; −1 if there is none."""

    @abstractmethod
    def returns(self) -> list[float]:
        """Return one number per player. Before the end it is the score so far, or 0 in a win/loss game."""

    @abstractmethod
    def clone(self) -> State:
        """Return an independent copy."""

    @abstractmethod
    def viewer(self) -> int:
        """Return the player whose point of view is observed: the mover; at an afterstate, the player who acted last."""

    @abstractmethod
    def observation_tensor(self, player: int | None = None) -> NDArray[np.float32]:
        """Return the observation (observation_size,) of a player; default: of the viewer."""

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """Return the name of an action; at a chance node, of an outcome."""

    @abstractmethod
    def serialize(self) -> str:
        """Return a text from which ``Game.deserialize`` makes an equal state."""

    @abstractmethod
    def to_text(self) -> str:
        """Return the position in one line, which ``Game.state_from_text`` reads."""

    def draw(self, clicks: Sequence[str] = ()) -> Scene | None:
        """Return the picture of the position, as the game's ``draw`` draws it; None if the game has no drawing.

        Args:
            clicks: the parts that have been clicked so far, for drawings that show them.

        Raises:
            ContractError: the game's ``draw`` returned something else than a Scene.
        """
        return None

    @abstractmethod
    def key(self) -> bytes:
        """Return bytes that are equal for equal states and different for different ones."""

    @abstractmethod
    def _apply(self, action: int) -> None:
        """Apply a legal action or a possible outcome without checks."""

    def __repr__(self) -> str:
        return f"<{self.game.name}: {self.to_text()}>"

    def decision_class(self) -> int:
        """Return the kind of this decision, an index of ``GameInfo.decision_classes`` (Yatzy: reroll or mark)."""
        return 0

    def phase(self) -> int:
        """Return the phase, an index of ``GameInfo.phases``; not called in terminal states."""
        return 0

    def playout_action(self, u: float) -> int:
        """Return the action of a playout, determined by a uniform number u in [0, 1)."""
        legal = self.legal_actions()
        action = self._choose(legal, u)
        if action not in legal:
            raise ContractError(
                f"{self.game.name}: a playout takes action {action} in {self.to_text()!r}, expected one of "
                f"{_shortened(legal)}"
            )
        return action

    def _choose(self, legal: list[int], u: float) -> int:
        """Return the action of a playout without checks; default: all legal actions are equally likely."""
        return legal[int(u * len(legal))]

    def _prior_logits(self, legal: list[int]) -> list[float] | None:
        """Return the logits of the priors in a search with playouts; None, the default, if all are equal."""
        return None

    def kind(self) -> int:
        """Return DECISION, CHANCE or TERMINAL."""
        player = self.current_player()
        return CHANCE if player == CHANCE_PLAYER else TERMINAL if player == TERMINAL_PLAYER else DECISION

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.kind() == TERMINAL

    def is_chance_node(self) -> bool:
        """Return whether this is a chance node."""
        return self.kind() == CHANCE

    def legal_actions_mask(self) -> NDArray[np.bool_]:
        """Return a mask (num_actions,) of the legal actions; all False except at decisions."""
        mask = np.zeros(self.game.num_actions, np.bool_)
        if self.kind() == DECISION:
            mask[self.legal_actions()] = True
        return mask

    def apply_action(self, action: int) -> None:
        """Apply an action to this state; at a chance node, an outcome.

        Args:
            action: a legal action or one that is equivalent to it; at a chance node, an outcome.

        Raises:
            IllegalActionError: the action is illegal, the outcome is impossible, or the game is over.
        """
        kind = self.kind()
        if kind == TERMINAL:
            raise IllegalActionError(f"{self.game.name}: the game is over, got action {action}")
        if kind == CHANCE:
            if self.outcomes_listed() and action not in (o for o, _ in self.chance_outcomes()):
                raise IllegalActionError(
                    f"{self.game.name}: outcome {action} cannot happen here, expected one of {self._choices()}"
                )
            self._apply(action)
            return
        canonical = self.canonical_action(action)
        if canonical < 0:
            raise IllegalActionError(
                f"{self.game.name}: action {action} is illegal here, expected one of {self._choices()}"
            )
        self._apply(canonical)

    def child(self, action: int) -> State:
        """Return the state after an action or outcome; this state does not change.

        Raises:
            IllegalActionError: the action is illegal, the outcome is impossible, or the game is over.
        """
        after = self.clone()
        after.apply_action(action)
        return after

    def string_to_action(self, text: str) -> int:
        """Return the action (at a chance node: the outcome) with this name or id.

        Args:
            text: a name as ``action_to_string`` returns it, in upper or lower case, or an id.

        Raises:
            IllegalActionError: no legal action has this name.
        """
        wanted = text.strip().casefold()
        choices = self.legal_actions()
        names = {self.action_to_string(a).casefold(): a for a in choices}
        if wanted in names:
            return names[wanted]
        if re.fullmatch(r"-?[0-9]{1,18}", wanted):
            return int(wanted)
        raise IllegalActionError(
            f"{self.game.name}: no action {text.strip()!r} here, expected one of {self._choices(names_first=True)}"
        )

    def _choices(self, names_first: bool = False) -> str:
        """Return the legal actions (at a chance node: the outcomes) as text, each as ``ID (NAME)``."""

        def describe(action: int) -> str:
            name = self.action_to_string(action)
            pair = (name, action) if names_first else (action, name)
            return name if name == str(action) else f"{pair[0]} ({pair[1]})"

        return _shortened(self.legal_actions(), describe)

    def play(self, moves: str) -> None:
        """Apply several actions and outcomes.

        Args:
            moves: names or ids, separated by commas; or by spaces, if there is no comma.

        Raises:
            IllegalActionError: a move is illegal; the moves before it have been applied.
        """
        for word in moves_of(moves):
            self.apply_action(self.string_to_action(word))

    def require_running(self) -> None:
        """Raise PositionError if the game is over."""
        if self.is_terminal():
            raise PositionError(f"{self.game.name}: the game is over in this position, expected one with a move left")


def moves_of(text: str) -> list[str]:
    """Return the moves in a text, which are separated by commas; or by spaces, if there is no comma."""
    return [word for word in (text.split(",") if "," in text else text.split()) if word.strip()]


def _shortened(items: list[int], describe: Callable[[int], str] = str, most: int = 12) -> str:
    shown = ", ".join(describe(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)} in all)"
