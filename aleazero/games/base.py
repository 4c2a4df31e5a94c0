"""The game contract: what a game is, and the State that speaks OpenSpiel's words.

Two kinds of game stand behind one facade. A *kernel game* is a module of plain functions over a flat vector
of integers, which the search compiles (``kernel.py``). An *object game* is any Python class with the facade's
methods (``objects.py``), searched in plain Python.
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

from aleazero.errors import AleaZeroError, ContractError, IllegalActionError, PositionError

DECISION: Final = 0
CHANCE: Final = 1
TERMINAL: Final = 2
KIND_NAMES: Final = ("decision", "chance", "terminal")

MANY: Final = -1
"""What ``outcomes`` returns when there are too many to list."""

CHANCE_PLAYER: Final = -1
TERMINAL_PLAYER: Final = -4


class Trust(IntEnum):
    """How far an evaluator's value of a kind of node is trusted."""

    NONE = 0
    ESTIMATE = 1
    EXACT = 2


NONE, ESTIMATE, EXACT = Trust.NONE, Trust.ESTIMATE, Trust.EXACT

PROBABILITY_TOLERANCE: Final = 1e-9
"""How far the probabilities of a chance event may be from summing to 1."""

ZERO: Final = 1e-6
"""Returns of a win/loss game that sum to less than this sum to 0."""


@dataclass(frozen=True)
class Features:
    """What a value between turns looks at, as ``features(state, player, out)`` writes it: a block of numbers for each
    seat, from the player on, then what they have in common. Without it, values look at the observation.
    """

    schema: str
    """Name of the layout; values learnt on one layout refuse another."""
    block: int
    """Numbers that tell of one seat; 0 where nothing is told seat by seat."""
    common: int = 0
    lead: int | None = None
    """In a duel for points: the place, in the common part, of the points by which the player leads."""
    lead_unit: float = 1.0
    """Points that 1.0 of it stands for."""
    point_unit: float = 1.0
    """Points that 1.0 of the game's ``points`` stands for."""

    def size(self, players: int) -> int:
        """Numbers in all."""
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
    """Most outcomes of one chance event; 0 in a game without chance."""
    lists_outcomes: bool = True
    """False where ``outcomes`` may answer MANY."""
    utility: tuple[float, float] | None = None
    """Lowest and highest return of a player; None where there is no bound."""
    levels: int = 1
    """Points that a win of two players may count: 1 to so many, lost by the other (backgammon: 3). Where that is more
    than 1, the chances of each number are learnt apart."""
    state_size: int = 0
    """Length of a kernel game's state vector."""
    state_dtype: str = "int32"
    """The smallest integer type that holds every number of the state vector."""
    observation_size: int = 0
    """Length of an observation; 0 takes the state vector itself."""
    observation_schema: str = ""
    """Name of the observation's layout; nets trained on one layout refuse another."""
    features: Features | None = None
    """What a value between turns looks at; None takes the observation."""
    version: int = 1
    """Version of the rules: it changes when the same actions lead elsewhere."""
    decision_classes: tuple[str, ...] = ("decision",)
    phases: tuple[str, ...] = ("game",)
    """Parts of the game so unlike that values of each are learnt with weights of their own (backgammon: contact, race);
    ``phase(state)`` tells which one a state is in."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Module constants of a kernel game that parameters change, by name."""


def _check_returns(info: GameInfo) -> None:
    """Refuse what cannot be said of returns."""
    if info.utility is not None and not info.utility[0] < info.utility[1]:
        raise ContractError(f"{info.name}: utility is {info.utility}, expected lowest < highest")
    if info.levels < 1:
        raise ContractError(f"{info.name}: levels is {info.levels}, expected at least 1")
    if info.levels == 1:
        return
    if info.num_players != 2 or info.utility != (-info.levels, info.levels):
        said = f"{info.num_players} players and utility {info.utility}"
        expected = f"2 players and utility ({-info.levels:.1f}, {info.levels:.1f})"
        raise ContractError(f"{info.name}: levels is {info.levels} with {said}, expected {expected}")
    if info.features is not None and info.features.lead is not None:
        raise ContractError(f"{info.name}: levels is {info.levels} and features have a lead, expected one of the two")


def counts_wins(game: Game) -> bool:
    """Whether returns may be wins and losses: 1 for a sole winner, what the others lose shared among them.

    Only the range is known here. Training looks whether returns sum to 0, and takes them for scores where they do not.
    """
    others = game.num_players - 1
    return others > 0 and game.info.utility == (-1.0 / others, 1.0)


def find_bad_end(info: GameInfo, returns: NDArray[np.float64]) -> tuple[int, str] | None:
    """Find the first of some final returns (rows, players) that the game's description does not allow.

    Returns:
        Its row and what is expected there; None if all are allowed.
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
            (fits, "numbers that sum to 0: a range of −1 shared to 1 means wins and losses, scores need another")
        )
    for fits, expected in rules:
        if not fits.all():
            return int(np.argmin(fits)), expected
    return None


class Game(ABC):
    """A game with its parameters fixed. Make one with ``aleazero.load_game``."""

    _kit: Any = None
    """What ``games.kit.kit_of`` has found; the functions of a kit may hold the game, so it is kept nowhere else."""

    def __init__(self, info: GameInfo, params: Mapping[str, Any]) -> None:
        _check_returns(info)
        self.info = info
        self.params = dict(params)

    @property
    def name(self) -> str:
        """The game's name, without parameters."""
        return self.info.name

    @property
    def num_players(self) -> int:
        """How many players take part."""
        return self.info.num_players

    @property
    def num_actions(self) -> int:
        """Action ids are 0 to num_actions − 1."""
        return self.info.num_actions

    @property
    def observation_size(self) -> int:
        """Length of an observation."""
        return self.info.observation_size or len(self.new_initial_state().observation_tensor())

    @abstractmethod
    def new_initial_state(self) -> State:
        """The state a game starts from."""

    @abstractmethod
    def state_from_text(self, text: str) -> State:
        """Read a position as ``State.to_text`` writes it."""

    @abstractmethod
    def deserialize(self, text: str) -> State:
        """Read what ``State.serialize`` wrote."""

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
        """Return the parameters as they come back from a file; raise ``error_class`` if JSON cannot hold them."""
        try:
            params: dict[str, Any] = json.loads(json.dumps(self.params, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise error_class(f"{self!r}: parameters must be JSON to be stored, got one that is not: {error}") from None
        return params

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in sorted(self.params.items()))
        return f"{self.name}({settings})"


class State(ABC):
    """A position of a game, in OpenSpiel's words. Actions and outcomes are both applied by ``apply_action``."""

    game: Game

    @abstractmethod
    def current_player(self) -> int:
        """The player to move; −1 at a chance node, −4 at the end."""

    @abstractmethod
    def legal_actions(self) -> list[int]:
        """Canonical action ids, ascending; at a chance node the outcomes."""

    @abstractmethod
    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every outcome with its probability; an error where they are too many to list."""

    @abstractmethod
    def outcomes_listed(self) -> bool:
        """Whether ``chance_outcomes`` can list this chance event."""

    @abstractmethod
    def sample_outcome(self, u: float) -> int:
        """The outcome that a number u in [0, 1) stands for."""

    @abstractmethod
    def canonical_action(self, action: int) -> int:
        """The canonical one of the actions equivalent to this one; −1 where it is illegal."""

    @abstractmethod
    def returns(self) -> list[float]:
        """One number a player, defined at every state (the score so far; 0 before the end of a win/loss game)."""

    @abstractmethod
    def clone(self) -> State:
        """An independent copy."""

    @abstractmethod
    def viewer(self) -> int:
        """Whose view an observation takes: the mover; at an afterstate, who acted last."""

    @abstractmethod
    def observation_tensor(self, player: int | None = None) -> NDArray[np.float32]:
        """What a player (default: the viewer) sees, as numbers."""

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """Name an action, or an outcome at a chance node."""

    @abstractmethod
    def serialize(self) -> str:
        """Text from which ``Game.deserialize`` makes an equal state."""

    @abstractmethod
    def to_text(self) -> str:
        """The position in one line, as ``Game.state_from_text`` reads it."""

    @abstractmethod
    def key(self) -> bytes:
        """Bytes that are equal for equal states."""

    @abstractmethod
    def _apply(self, action: int) -> None:
        """Apply a canonical action or a possible outcome, unchecked."""

    def __repr__(self) -> str:
        return f"<{self.game.name}: {self.to_text()}>"

    def decision_class(self) -> int:
        """Which of the game's kinds of decision this is (Yatzy: reroll or mark)."""
        return 0

    def phase(self) -> int:
        """Which of the game's phases this is; not asked at the end."""
        return 0

    def playout_action(self, u: float) -> int:
        """The action of a playout that a number u in [0, 1) stands for."""
        legal = self.legal_actions()
        action = self._choose(legal, u)
        if action not in legal:
            raise ContractError(
                f"{self.game.name}: a playout takes action {action} in {self.to_text()!r}, expected one of "
                f"{_some(legal)}"
            )
        return action

    def _choose(self, legal: list[int], u: float) -> int:
        """What ``playout_action`` takes, unchecked: any legal action, all alike, where the game does not say."""
        return legal[int(u * len(legal))]

    def kind(self) -> int:
        """DECISION, CHANCE or TERMINAL."""
        player = self.current_player()
        return CHANCE if player == CHANCE_PLAYER else TERMINAL if player == TERMINAL_PLAYER else DECISION

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.kind() == TERMINAL

    def is_chance_node(self) -> bool:
        """Whether chance moves next."""
        return self.kind() == CHANCE

    def legal_actions_mask(self) -> NDArray[np.bool_]:
        """A truth value an action id; all false where nobody decides."""
        mask = np.zeros(self.game.num_actions, np.bool_)
        if self.kind() == DECISION:
            mask[self.legal_actions()] = True
        return mask

    def apply_action(self, action: int) -> None:
        """Apply an action (equivalents of a legal one too), or an outcome at a chance node."""
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
        """The state after an action or outcome; this one stays as it is."""
        after = self.clone()
        after.apply_action(action)
        return after

    def string_to_action(self, text: str) -> int:
        """The action or outcome of this name here; its id, written out, will do too."""
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
        """The legal actions (at a chance node: the outcomes), the first of many, each as ``ID (NAME)``."""

        def told(action: int) -> str:
            name = self.action_to_string(action)
            pair = (name, action) if names_first else (action, name)
            return name if name == str(action) else f"{pair[0]} ({pair[1]})"

        return _some(self.legal_actions(), told=told)

    def play(self, moves: str) -> None:
        """Apply several actions and outcomes by name, separated by commas (or spaces where names have none)."""
        for word in moves_of(moves):
            self.apply_action(self.string_to_action(word))

    def require_running(self) -> None:
        """Raise where the game is over."""
        if self.is_terminal():
            raise PositionError(f"{self.game.name}: the game is over in this position, expected one with a move left")


def moves_of(text: str) -> list[str]:
    """The moves that a text names, one after the other."""
    return [word for word in (text.split(",") if "," in text else text.split()) if word.strip()]


def _some(items: list[Any], most: int = 12, told: Callable[[Any], str] = str) -> str:
    shown = ", ".join(told(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)} in all)"
