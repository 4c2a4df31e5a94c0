"""Kernel games: a module of plain functions over a flat state vector, in the subset of Python that numba compiles.

The module itself is never changed. ``bind`` copies its functions into a namespace in which the game's parameters
replace its constants. The copies run as ordinary Python in ``KernelState`` and in the plain search, and the compiled
search compiles the same copies.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import (
    AleaZeroError,
    ContractError,
    GameError,
    IllegalActionError,
    PositionError,
    nearest,
    shortened,
)
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
from aleazero.games.scene import Scene, call_draw

Vector = NDArray[np.int64]
Kernel = Callable[..., Any]

LIST_SLACK: Final = 256
"""Extra length of the arrays that rules write lists into, so that rules that list too much can be rejected before they
write outside of an array."""


class KernelGame(Game):
    """A game whose rules can be compiled.

    Args:
        module: the module of the rules, with a function ``describe() -> GameInfo``.
        params: arguments of ``describe``.
        title: name of the game in errors of ``describe``; default: the last part of the module's name.
    """

    def __init__(self, module: types.ModuleType, params: Mapping[str, Any], title: str | None = None) -> None:
        if not callable(getattr(module, "describe", None)):
            raise ContractError(f"{module.__name__}: a kernel game needs a function describe() -> GameInfo")
        info, settled = call_with_params(module.describe, params, title or module.__name__.rpartition(".")[2])
        if not isinstance(info, GameInfo):
            raise ContractError(f"{module.__name__}: describe() returned {type(info).__name__}, expected GameInfo")
        _check_sizes(info)
        super().__init__(info, settled)
        self.kernels = Kernels(bind(module, info.constants), info)
        self.module = module

    @property
    def observation_size(self) -> int:
        return self.info.observation_size or self.info.state_size

    def new_initial_state(self) -> KernelState:
        vector = np.zeros(self.info.state_size, np.int64)
        self.kernels.init(vector)
        return KernelState(self, vector)

    def state_from_vector(self, vector: Sequence[int] | NDArray[Any]) -> KernelState:
        """Return the state of a vector.

        Args:
            vector: (state_size,) integers, which are copied.

        Raises:
            PositionError: the numbers do not fit ``state_dtype``, the game's ``check`` rejects them, or the rules fail
                on them.
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
            if "check" in self.kernels.uncompiled:
                self.kernels.uncompiled["check"](state.vector.copy())
            self._try_rules(state)
        except AleaZeroError:
            raise
        except Exception as error:  # compiled rules would access memory outside their arrays
            raise PositionError(
                f"{self.name}: the rules fail on the numbers {state.vector.tolist()} with "
                f"{type(error).__name__} ({error}), expected a position that play can reach"
            ) from error
        return state

    def _try_rules(self, state: KernelState) -> None:
        """Call in plain Python the rules that a search calls first: compiled rules have no bounds checks."""
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
        parse = self.kernels.uncompiled.get("parse")
        if parse is None:
            return self.deserialize(text)
        try:
            vector = parse(text)
        except AleaZeroError:
            raise
        except Exception as error:
            raise PositionError(
                f"{self.name}: cannot read position {_shorten(text)!r}: {type(error).__name__}: {_shorten(error)}"
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
                f"{self.info.state_size} integers"
            ) from None
        return self.state_from_vector(vector)

    def _stamp(self) -> str:
        return f"{self!r}@{self.info.version}"


def _shorten(text: object) -> str:
    return shortened(str(text), 200, 60)


def _check_sizes(info: GameInfo) -> None:
    for name in ("num_players", "num_actions", "state_size"):
        if getattr(info, name) < 1:
            raise ContractError(f"{info.name}: {name} is {getattr(info, name)}, expected at least 1")
    if np.dtype(info.state_dtype).kind != "i":
        raise ContractError(f"{info.name}: state_dtype is {info.state_dtype}, expected a signed integer type")


class KernelState(State):
    """A position of a kernel game.

    Attributes:
        vector: (state_size,) int64, which the game's functions read and write.
    """

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
        listed = slice(max(0, count))
        return valid_outcomes(self, zip(ids[listed].tolist(), probabilities[listed].tolist(), strict=True))

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
        equivalent = int(canonical(self.vector, action))
        return equivalent if equivalent in legal else -1

    def _choose(self, legal: list[int], u: float) -> int:
        playout = self.game.kernels.playout
        if playout is None:
            return super()._choose(legal, u)
        return int(playout(self.vector, np.array(legal, np.int64), len(legal), u))

    def _prior_logits(self, legal: list[int]) -> list[float] | None:
        prior_logit = self.game.kernels.prior_logit
        return None if prior_logit is None else [float(prior_logit(self.vector, action)) for action in legal]

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
        name = self.game.kernels.uncompiled.get("outcome_text" if self.kind() == CHANCE else "action_text")
        return str(action) if name is None else cast(str, name(self.vector, action))

    def string_to_action(self, text: str) -> int:
        parse = self.game.kernels.uncompiled.get("parse_action")
        try:
            return super().string_to_action(text)
        except IllegalActionError:
            action = -1 if parse is None or self.kind() != DECISION else int(parse(self.vector, text))
            if action < 0:
                raise
        return action

    def serialize(self) -> str:
        return f"{self.game._stamp()}:{','.join(str(int(x)) for x in self.vector)}"

    def to_text(self) -> str:
        text = self.game.kernels.uncompiled.get("text")
        return self.serialize() if text is None else cast(str, text(self.vector))

    def __str__(self) -> str:
        render = self.game.kernels.uncompiled.get("render")
        return self.to_text() if render is None else cast(str, render(self.vector))

    def draw(self, clicks: Sequence[str] = ()) -> Scene | None:
        draw = self.game.kernels.uncompiled.get("draw")
        return None if draw is None else call_draw(self.game.name, draw, (self.vector.copy(),), clicks)

    def key(self) -> bytes:
        return self.vector.tobytes()


REQUIRED = ("kind", "to_play", "legal", "apply", "returns")
CHANCE_REQUIRED = ("outcomes", "apply_outcome")
OPTIONAL = (
    *("sample", "canonical", "turn", "playout", "prior_logit", "played_outcome_bits", "turn_solver", "turn_lanes"),
    "kit",
)
UNCOMPILED = (
    *("text", "parse", "check", "render", "action_text", "parse_action", "outcome_text", "played_outcome", "points"),
    "draw",
)


class Kernels:
    """The functions of a kernel game, bound to its parameters. Missing optional functions have a default or are None.

    Raises:
        ContractError: a required function is missing.
    """

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
    features: Kernel
    """``features(state, player, out)`` writes the input of value networks, laid out as ``GameInfo.features``."""
    phase: Kernel
    """``phase(state) -> int`` returns an index of ``GameInfo.phases``; called at decisions and chance nodes."""
    sample: Kernel | None
    canonical: Kernel | None
    turn: Kernel | None
    """``turn(state) -> int`` returns any number that changes when a new turn begins; called at decisions and chance
    nodes. The planner uses it to find the end of a turn. Without it, a turn lasts until another player decides."""
    playout: Kernel | None
    """``playout(state, actions, count, u) -> action`` selects one of the first ``count`` actions, which are the legal
    ones, in playouts; u is uniform in [0, 1). Without it, all legal actions are equally likely."""
    prior_logit: Kernel | None
    """``prior_logit(state, action) -> float`` returns the logit of a legal action, a finite number. A search with
    playouts takes the softmax over the legal actions as priors; without this function its priors are equal."""
    played_outcome_bits: Kernel | None
    """``played_outcome_bits(state, seed, count) -> outcome`` is ``played_outcome`` for a seed of type uint64. Self-play
    compiles it; without it, ``played_outcome`` is called from Python."""
    turn_solver: Callable[..., Any] | None
    """Returns the game's own solver of turns (``search/plan/turn_solver.py``); not compiled."""
    turn_lanes: Callable[..., Any] | None
    """Returns the game's own player of turns in many games at once (``training/turns.py``); not compiled."""
    kit: Callable[..., Any] | None
    """Returns the game's kit (``games/kit.py``); not compiled."""
    uncompiled: dict[str, Callable[..., Any]]
    """Functions that are called in plain Python, by name.

    ``parse_action(state, text)`` reads other spellings of an action than its name; it returns −1 if there is none.
    ``check(state)`` raises a PositionError for a vector that no play reaches. It is called for every position that is
    read: by ``state_from_vector``, ``state_from_text`` and ``deserialize``. ``points(state, out)`` writes the points by
    player as a fraction of the points that a win takes, for games whose returns count wins only. The greedy player
    reads it."""

    def __init__(self, namespace: Mapping[str, Any], info: GameInfo) -> None:
        _require_functions(namespace, info)
        defaults = {
            "init": _leave,
            "outcomes": _no_outcomes,
            "apply_outcome": _ignore_outcome,
            "viewer": namespace["to_play"],
            "observe": _observe_vector,
            "decision_class": _zero,
        }
        for name in (*REQUIRED, *defaults):
            setattr(self, name, namespace.get(name, defaults.get(name)))
        for name in OPTIONAL:
            setattr(self, name, namespace.get(name))
        self.features = self.observe if info.features is None else namespace["features"]
        self.phase = _zero if len(info.phases) < 2 else namespace["phase"]
        self.reads_points = info.features is not None and info.features.lead is not None
        """Whether training reads ``points``, which is then compiled."""
        self.uncompiled = {name: namespace[name] for name in UNCOMPILED if name in namespace}


def _require_functions(namespace: Mapping[str, Any], info: GameInfo) -> None:
    required = [*REQUIRED]
    if info.max_outcomes:
        required += CHANCE_REQUIRED
    if info.features is not None:
        required += ["features"] if info.features.lead is None else ["features", "points"]
    if len(info.phases) > 1:
        required.append("phase")
    missing = [name for name in required if name not in namespace]
    if missing:
        raise ContractError(f"{info.name}: the game has no function {', '.join(missing)}")


def _leave(state: Vector) -> None:
    """Keep the zeros of a new state."""


def _no_outcomes(state: Vector, ids: Vector, probabilities: NDArray[np.float64]) -> int:
    return 0


def _ignore_outcome(state: Vector, outcome: int) -> None:
    pass


def _observe_vector(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    for i in range(len(state)):
        out[i] = state[i]


def _zero(state: Vector) -> int:
    return 0


def bind(module: types.ModuleType, constants: Mapping[str, Any]) -> dict[str, Any]:
    """Return the namespace of a module with some constants replaced, and copies of its functions that use them."""
    original = vars(module)
    unknown = [name for name in constants if name not in original]
    if unknown:
        raise ContractError(f"{module.__name__}: describe() sets {unknown[0]}, which is not a constant of the module")
    namespace: dict[str, Any] = {**original, **constants}
    for name, held in original.items():
        value = getattr(held, "py_func", held)  # functions with a user's own @njit are copied too
        if isinstance(value, types.FunctionType) and value.__globals__ is original:
            copy = types.FunctionType(value.__code__, namespace, value.__name__, value.__defaults__, value.__closure__)
            copy.__kwdefaults__ = value.__kwdefaults__
            copy.__module__ = value.__module__
            namespace[name] = copy
    return namespace


def call_with_params(describe: Callable[..., Any], params: Mapping[str, Any], name: str) -> tuple[Any, dict[str, Any]]:
    """Call ``describe`` or the class of an object game with the user's parameters.

    Returns:
        The result, and all parameters including defaults.

    Raises:
        GameError: a parameter is unknown, or the call raised an error.
    """
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


def valid_outcomes(state: State, listed: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the listed outcomes of a state; raise ContractError if an id, a probability or their sum is invalid."""
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
    """Return the outcome whose part of [0, 1) contains u; the last outcome if rounding leaves u above all parts."""
    below = 0.0
    for outcome, probability in outcomes:
        below += probability
        if u < below:
            return outcome
    return outcomes[-1][0]


def points_of(state: State) -> NDArray[np.float64] | None:
    """Return the points by player that the game's ``points`` writes; None if the game has no such function."""
    if not isinstance(state, KernelState) or "points" not in state.game.kernels.uncompiled:
        return None
    points = np.zeros(state.game.num_players)
    state.game.kernels.uncompiled["points"](state.vector, points)
    return points
