"""Kernel games: a module of plain functions over one flat state vector, in the subset that numba compiles.

The module itself is never changed: binding copies its functions over a namespace in which the game's
parameters stand for its constants. The copies run as ordinary Python (this facade, the plain search) and are
what the compiled search compiles, so both follow the same text.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import AleaZeroError, ContractError, GameError, PositionError, nearest
from aleazero.games.base import (
    CHANCE,
    CHANCE_PLAYER,
    DECISION,
    MANY,
    PROBABILITY_TOLERANCE,
    TERMINAL,
    TERMINAL_PLAYER,
    Game,
    GameInfo,
    State,
)

Vector = NDArray[np.int64]
Kernel = Callable[..., Any]

LIST_SLACK: Final = 256
"""Length of the arrays that rules write lists into, beyond the longest valid list. Rules that list too much are then
rejected before they write outside of an array."""

REQUIRED = ("kind", "to_play", "legal", "apply", "returns")
CHANCE_REQUIRED = ("outcomes", "apply_outcome")
OPTIONAL = ("init", "sample", "viewer", "observe", "decision_class", "canonical", "turn", "playout", "features",
            "phase", "played_outcome_bits")  # fmt: skip
"""``turn(state) -> int``, any number that changes when a new turn begins, tells the planner where a turn ends; it is
read at decisions and chance nodes. Without it, a turn lasts until another player decides.
``playout(state, actions, count, u) -> action``, one of the first ``count`` actions, which are the legal ones, for a
number u in [0, 1), tells how playouts decide. Without it, all legal actions are alike.
``features(state, player, out)`` writes what a value between turns looks at, laid out as ``GameInfo.features`` says.
``phase(state) -> int`` tells which of ``GameInfo.phases`` a state is in; it is read at decisions and chance nodes.
``played_outcome_bits(state, seed, count) -> outcome`` returns the same as ``played_outcome`` for a seed of type uint64.
Self-play compiles it; without it, ``played_outcome`` is called from Python."""
TEXT = ("text", "parse", "check", "render", "action_text", "outcome_text", "played_outcome", "points")
"""``check(state)`` raises a PositionError for a vector that no play reaches. It is called in plain Python for every
position that enters: ``state_from_vector``, ``state_from_text`` and ``deserialize``.
``points(state, out)`` tells the points on the board by player, as a share of what a win takes, where returns count wins
only: for the greedy player."""


class Kernels:
    """A kernel game's functions, bound to its parameters; what the module leaves out has a default."""

    def __init__(self, namespace: Mapping[str, Any], info: GameInfo) -> None:
        missing = [name for name in REQUIRED if name not in namespace]
        if info.max_outcomes:
            missing += [name for name in CHANCE_REQUIRED if name not in namespace]
        if info.features is not None:
            told = ("features",) if info.features.lead is None else ("features", "points")
            missing += [name for name in told if name not in namespace]
        if len(info.phases) > 1 and "phase" not in namespace:
            missing.append("phase")
        if missing:
            raise ContractError(f"{info.name}: the game has no function {', '.join(missing)}")
        defaults = {
            "init": _leave,
            "outcomes": _no_outcomes,
            "apply_outcome": _ignore_outcome,
            "viewer": namespace["to_play"],
            "observe": _observe_vector,
            "decision_class": _first_class,
        }
        for name in (*REQUIRED, *CHANCE_REQUIRED, "init", "viewer", "observe", "decision_class"):
            setattr(self, name, namespace.get(name, defaults.get(name)))
        self.sample: Kernel | None = namespace.get("sample")
        self.canonical: Kernel | None = namespace.get("canonical")
        self.turn: Kernel | None = namespace.get("turn")
        self.playout: Kernel | None = namespace.get("playout")
        self.turn_solver: Callable[..., Any] | None = namespace.get("turn_solver")
        """A game's own solver of turns (``search/plan/turn_solver.py``); not a kernel."""
        self.features: Kernel = self.observe if info.features is None else namespace["features"]
        self.reads_points = info.features is not None and info.features.lead is not None
        """Whether training reads ``points`` too, compiled."""
        self.played_outcome_bits: Kernel | None = namespace.get("played_outcome_bits")
        self.phase: Kernel = _first_phase if len(info.phases) < 2 else namespace["phase"]
        self.turn_lanes: Callable[..., Any] | None = namespace.get("turn_lanes")
        """A game's own turns of many games at once (``training/turns.py``); not a kernel."""
        self.kit: Callable[..., Any] | None = namespace.get("kit")
        """What is known of the game beyond its rules (``games/kit.py``); not a kernel."""
        self.words: dict[str, Callable[..., Any]] = {name: namespace[name] for name in TEXT if name in namespace}

    init: Kernel
    kind: Kernel
    to_play: Kernel
    legal: Kernel
    apply: Kernel
    outcomes: Kernel
    apply_outcome: Kernel
    returns: Kernel
    viewer: Kernel
    observe: Kernel
    decision_class: Kernel


def _leave(state: Vector) -> None:
    """A state starts as zeros."""


def _no_outcomes(state: Vector, ids: Vector, probabilities: NDArray[np.float64]) -> int:
    return 0


def _ignore_outcome(state: Vector, outcome: int) -> None:
    pass


def _first_class(state: Vector) -> int:
    return 0


def _first_phase(state: Vector) -> int:
    return 0


def _observe_vector(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    for i in range(len(state)):
        out[i] = state[i]


def bind(module: types.ModuleType, constants: Mapping[str, Any]) -> dict[str, Any]:
    """The module's namespace with some constants replaced, and its functions copied to see the replacements."""
    original = vars(module)
    unknown = [name for name in constants if name not in original]
    if unknown:
        raise ContractError(f"{module.__name__}: describe() sets {unknown[0]}, which is no constant of the module")
    namespace: dict[str, Any] = {**original, **constants}
    for name, held in original.items():
        value = getattr(held, "py_func", held)  # a user's own @njit is looked through
        if isinstance(value, types.FunctionType) and value.__globals__ is original:
            copy = types.FunctionType(value.__code__, namespace, value.__name__, value.__defaults__, value.__closure__)
            copy.__kwdefaults__ = value.__kwdefaults__
            copy.__module__ = value.__module__
            namespace[name] = copy
    return namespace


def call_with_params(describe: Callable[..., Any], params: Mapping[str, Any], name: str) -> tuple[Any, dict[str, Any]]:
    """Call a game's maker with the user's parameters; an unknown one is an error that names the nearest."""
    signature = inspect.signature(describe)
    for key in params:
        if key not in signature.parameters:
            raise GameError(f"{name}: no parameter {key!r}, {nearest(key, signature.parameters)}")
    bound = signature.bind_partial(**params)
    bound.apply_defaults()
    try:
        return describe(**params), dict(bound.arguments)
    except AleaZeroError:
        raise
    except Exception as error:
        raise GameError(f"{name}: describing the game raised {type(error).__name__}: {error}") from error


class KernelGame(Game):
    """A game whose rules compile."""

    def __init__(self, module: types.ModuleType, params: Mapping[str, Any], title: str | None = None) -> None:
        """``title`` is what errors call the game until its own name is known; default: the module's last part."""
        if not callable(getattr(module, "describe", None)):
            raise ContractError(f"{module.__name__}: a kernel game needs a function describe() -> GameInfo")
        info, settled = call_with_params(module.describe, params, title or module.__name__.rpartition(".")[2])
        if not isinstance(info, GameInfo):
            raise ContractError(f"{module.__name__}: describe() gave {type(info).__name__}, expected GameInfo")
        _check_sizes(info)
        super().__init__(info, settled)
        self.kernels = Kernels(bind(module, info.constants), info)
        self.module = module

    @property
    def observation_size(self) -> int:
        """Length of an observation."""
        return self.info.observation_size or self.info.state_size

    def new_initial_state(self) -> KernelState:
        vector = np.zeros(self.info.state_size, np.int64)
        self.kernels.init(vector)
        return KernelState(self, vector)

    def state_from_vector(self, vector: Sequence[int] | NDArray[Any]) -> KernelState:
        """Make a state of a vector, which is copied.

        Raises:
            PositionError: the numbers do not fit, the game's ``check`` rejects them, or its rules fail on them.
        """
        if len(vector) != self.info.state_size:
            raise PositionError(f"{self.name}: got {len(vector)} numbers, expected {self.info.state_size}")
        limits = np.iinfo(self.info.state_dtype)
        try:
            state = KernelState(self, np.array(vector, np.int64))
        except (OverflowError, TypeError, ValueError):
            raise PositionError(f"{self.name}: got numbers that are not integers of 64 bits") from None
        if state.vector.min() < limits.min or state.vector.max() > limits.max:
            raise PositionError(f"{self.name}: got a number that does not fit {self.info.state_dtype}")
        try:
            if "check" in self.kernels.words:
                self.kernels.words["check"](state.vector.copy())
            self._try_rules(state)
        except AleaZeroError:
            raise
        except Exception as error:  # compiled rules would read or write outside their arrays
            raise PositionError(
                f"{self.name}: the rules fail on the numbers {state.vector.tolist()} with "
                f"{type(error).__name__} ({error}), expected a position that play can reach"
            ) from error
        return state

    def _try_rules(self, state: KernelState) -> None:
        """Call once, in plain Python, what a search calls first; compiled rules have no bounds checks."""
        kind = state.kind()
        if kind not in (DECISION, CHANCE, TERMINAL):
            raise PositionError(f"{self.name}: got a state of kind {kind}, expected 0, 1 or 2")
        if kind == DECISION and not 0 <= state.current_player() < self.num_players:
            raise PositionError(
                f"{self.name}: got player {state.current_player()} to move, expected 0 to {self.num_players - 1}"
            )
        if not 0 <= state.viewer() < self.num_players:
            raise PositionError(f"{self.name}: got viewer {state.viewer()}, expected 0 to {self.num_players - 1}")
        state.returns()
        if kind == DECISION:
            legal = state.legal_actions()
            if not legal or min(legal) < 0 or max(legal) >= self.num_actions:
                raise PositionError(
                    f"{self.name}: got the legal actions {legal[:12]} at a decision, expected at least one, "
                    f"from 0 to {self.num_actions - 1}"
                )
        if kind == CHANCE:
            count, _, probabilities = state._outcomes()
            if count != MANY and not abs(float(probabilities[:count].sum()) - 1.0) <= PROBABILITY_TOLERANCE:
                raise PositionError(f"{self.name}: got a chance node whose probabilities do not sum to 1, expected 1")

    def state_from_text(self, text: str) -> KernelState:
        parse = self.kernels.words.get("parse")
        if parse is None:
            return self.deserialize(text)
        try:
            vector = parse(text)
        except AleaZeroError:
            raise
        except Exception as error:
            raise PositionError(
                f"{self.name}: cannot read position {_shorten(text)!r}: {type(error).__name__}: {_shorten(str(error))}"
            ) from error
        return self.state_from_vector(vector)

    def deserialize(self, text: str) -> KernelState:
        name, _, numbers = text.strip().rpartition(":")
        try:
            if name not in ("", self._stamp()):
                raise ValueError
            vector = np.array([int(word) for word in numbers.split(",")], np.int64)
        except (ValueError, OverflowError):
            raise PositionError(
                f"{self.name}: cannot read state {_shorten(text)!r}, expected {self._stamp()}: and "
                f"{self.info.state_size} numbers"
            ) from None
        return self.state_from_vector(vector)

    def _stamp(self) -> str:
        return f"{self!r}@{self.info.version}"


def _shorten(text: str, most: int = 200) -> str:
    """The beginning of a text that would fill the screen."""
    return text if len(text) <= most else f"{text[:most]}…"


def _check_sizes(info: GameInfo) -> None:
    for name in ("num_players", "num_actions", "state_size"):
        if getattr(info, name) < 1:
            raise ContractError(f"{info.name}: {name} is {getattr(info, name)}, expected at least 1")
    if np.dtype(info.state_dtype).kind != "i":
        raise ContractError(f"{info.name}: state_dtype is {info.state_dtype}, expected a signed integer type")


class KernelState(State):
    """A position of a kernel game: its vector, in 64-bit integers, seen through the game's functions."""

    game: KernelGame

    def __init__(self, game: KernelGame, vector: Vector) -> None:
        self.game = game
        self.vector = vector

    def kind(self) -> int:
        return int(self.game.kernels.kind(self.vector))

    def current_player(self) -> int:
        kind = self.kind()
        if kind == CHANCE:
            return CHANCE_PLAYER
        return TERMINAL_PLAYER if kind == TERMINAL else int(self.game.kernels.to_play(self.vector))

    def legal_actions(self) -> list[int]:
        kind = self.kind()
        if kind == TERMINAL:
            return []
        if kind == CHANCE:
            return [outcome for outcome, _ in self.chance_outcomes()]
        out = np.zeros(self.game.num_actions, np.int64)
        count = self.game.kernels.legal(self.vector, out)
        legal: list[int] = out[:count].tolist()
        return legal

    def _outcomes(self) -> tuple[int, Vector, NDArray[np.float64]]:
        most = self.game.info.max_outcomes
        ids = np.zeros(most, np.int64)
        probabilities = np.zeros(most, np.float64)
        return int(self.game.kernels.outcomes(self.vector, ids, probabilities)), ids, probabilities

    def outcomes_listed(self) -> bool:
        return self._outcomes()[0] != MANY

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if self.kind() != CHANCE:
            return []
        count, ids, probabilities = self._outcomes()
        if count == MANY:
            raise ContractError(f"{self.game.name}: the outcomes here are too many to list")
        if count > len(ids):
            raise ContractError(
                f"{self.game.name}: {count} outcomes, expected at most max_outcomes ({len(ids)}), in {self.to_text()}"
            )
        shown = slice(max(0, count))
        return valid_outcomes(self, zip(ids[shown].tolist(), probabilities[shown].tolist(), strict=True))

    def sample_outcome(self, u: float) -> int:
        if self.game.kernels.sample is not None:
            return int(self.game.kernels.sample(self.vector, u))
        return sample_listed(self.chance_outcomes(), u)

    def canonical_action(self, action: int) -> int:
        legal = self.legal_actions()
        if action in legal:
            return action
        canonical = self.game.kernels.canonical
        if canonical is None or not 0 <= action < self.game.num_actions:
            return -1
        same = int(canonical(self.vector, action))
        return same if same in legal else -1

    def _choose(self, legal: list[int], u: float) -> int:
        playout = self.game.kernels.playout
        if playout is None:
            return super()._choose(legal, u)
        return int(playout(self.vector, np.array(legal, np.int64), len(legal), u))

    def _apply(self, action: int) -> None:
        if self.kind() == CHANCE:
            self.game.kernels.apply_outcome(self.vector, action)
        else:
            self.game.kernels.apply(self.vector, action)

    def returns(self) -> list[float]:
        out = np.zeros(self.game.num_players, np.float64)
        self.game.kernels.returns(self.vector, out)
        return [float(value) for value in out]

    def clone(self) -> KernelState:
        return KernelState(self.game, self.vector.copy())

    def viewer(self) -> int:
        return int(self.game.kernels.viewer(self.vector))

    def decision_class(self) -> int:
        return int(self.game.kernels.decision_class(self.vector))

    def phase(self) -> int:
        return int(self.game.kernels.phase(self.vector))

    def observation_tensor(self, player: int | None = None) -> NDArray[np.float32]:
        out = np.zeros(self.game.observation_size, np.float32)
        self.game.kernels.observe(self.vector, self.viewer() if player is None else player, out)
        return out

    def action_to_string(self, action: int) -> str:
        words = self.game.kernels.words.get("outcome_text" if self.kind() == CHANCE else "action_text")
        return str(action) if words is None else cast(str, words(self.vector, action))

    def serialize(self) -> str:
        return f"{self.game._stamp()}:{','.join(str(int(x)) for x in self.vector)}"

    def to_text(self) -> str:
        text = self.game.kernels.words.get("text")
        return self.serialize() if text is None else cast(str, text(self.vector))

    def __str__(self) -> str:
        render = self.game.kernels.words.get("render")
        return self.to_text() if render is None else cast(str, render(self.vector))

    def key(self) -> bytes:
        return self.vector.tobytes()


def valid_outcomes(state: State, listed: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """The outcomes listed in a state; a ContractError if an id or a probability is invalid, or their sum is not 1."""
    outcomes = [(int(outcome), float(probability)) for outcome, probability in listed]
    for outcome, probability in outcomes:
        if outcome < 0 or not probability >= 0.0:
            raise ContractError(
                f"{state.game.name}: outcome {outcome} has probability {probability:.12g}, expected an id and a "
                f"probability of at least 0, in {state.to_text()}"
            )
    total = sum(probability for _, probability in outcomes)
    if not abs(total - 1.0) <= PROBABILITY_TOLERANCE:
        raise ContractError(f"{state.game.name}: probabilities sum to {total:.12g}, expected 1, in {state.to_text()}")
    return outcomes


def sample_listed(outcomes: list[tuple[int, float]], u: float) -> int:
    """The outcome whose share of [0, 1) holds u; rounding at the very end falls to the last."""
    below = 0.0
    for outcome, probability in outcomes:
        below += probability
        if u < below:
            return outcome
    return outcomes[-1][0]


def points_of(state: State) -> NDArray[np.float64] | None:
    """Return the points by player that the rules' ``points`` writes; None if the game has none."""
    if not isinstance(state, KernelState) or "points" not in state.game.kernels.words:
        return None
    points = np.zeros(state.game.num_players)
    state.game.kernels.words["points"](state.vector, points)
    return points
