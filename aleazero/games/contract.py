"""``check_game``: the laws of the game contract, tried on random episodes and, in small games, on every state.

A law that breaks is a ``ContractError`` of one line: the law, the state, what was got and what was expected.
"""

from __future__ import annotations

import math
import random
import types
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from aleazero.errors import AleaZeroError, ContractError
from aleazero.games.base import (
    CHANCE,
    DECISION,
    KIND_NAMES,
    MANY,
    PROBABILITY_TOLERANCE,
    TERMINAL,
    Game,
    State,
)
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.objects import ObjectState
from aleazero.games.registry import load_game
from aleazero.games.twins import UNITS, Difference, compare_twins

DRAWS = 2000
"""Numbers u drawn to compare ``sample`` with ``outcomes`` at one state."""
SAMPLED_STATES = 12
"""At how many chance states that comparison is made."""
SIGMAS = 6.0
"""How far off a sampler may be: once in a billion states a right one is farther."""
TWIN_STATES = 200
"""On how many states the compiled kernels are compared with plain Python."""
CHOICES = 40
"""How many of a state's actions or outcomes are tried, at random where there are more."""
SPARE = 64
"""Room behind the buffers of kernels that write too much."""


@dataclass(frozen=True)
class CheckReport:
    """What ``check_game`` saw of a game that keeps the laws."""

    game: str
    episodes: int
    capped: int
    """Episodes cut at the length limit: such a game may never end."""
    states: int
    """Different states that were checked."""
    mean_length: float
    """Mean number of actions and outcomes in an episode."""
    max_length: int
    max_legal: int
    max_outcomes: int
    census: dict[str, int] | None
    """How many decision, chance and terminal states there are; None where they are too many to visit."""
    laws: tuple[str, ...]


def check_game(
    game: Game | str | types.ModuleType | type,
    *,
    episodes: int = 10,
    seed: int = 0,
    max_states: int = 2_000,
    max_length: int = 10_000,
    compiled: bool = True,
) -> CheckReport:
    """Check the laws of the contract; raise ``ContractError`` at the first that is broken.

    Every state of a game with at most ``max_states`` of them is checked, else that many met in random episodes.
    With ``compiled`` the kernels are compiled too and compared with plain Python, which takes some seconds.
    """
    checked = game if isinstance(game, Game) else load_game(game)
    checker = _Checker(checked, seed)
    lengths, capped = [], 0
    for _ in range(episodes):
        length, ended = _play_episode(checker, max_states, max_length)
        lengths.append(length)
        capped += not ended
    small = _census(checker, max_states)
    for state in small or ():
        checker.visit(state)
    laws = [*STEPPING_LAWS, *LAWS]
    if isinstance(checked, KernelGame):
        laws += KERNEL_LAWS
        if compiled:
            laws.append("compiled twins")
            _check_twins(checked, checker)
    return CheckReport(
        game=repr(checked),
        episodes=episodes,
        capped=capped,
        states=len(checker.seen),
        mean_length=sum(lengths) / max(1, len(lengths)),
        max_length=max(lengths, default=0),
        max_legal=checker.max_legal,
        max_outcomes=checker.max_outcomes,
        census=None if small is None else _count_kinds(small),
        laws=tuple(laws),
    )


def broken(law: str, state: State | None, got: Any, expected: str) -> NoReturn:
    """Raise the one-line error of a broken law."""
    where = "" if state is None else f" in {_describe(state)}"
    raise ContractError(f"law of {law} broken{where}: got {got}, expected {expected}".replace("\n", " "))


def _describe(state: State) -> str:
    """The state's text; where that itself fails, what it is made of."""
    try:
        text = repr(state.to_text())
    except Exception:
        text = str(getattr(state, "vector", getattr(state, "wrapped", "a state")))
    return f"{state.game.name} {text}"


@contextmanager
def _running(what: str, state: State | None) -> Iterator[None]:
    """Rules that raise break a law too."""
    try:
        yield
    except ContractError as error:
        if str(error).startswith("law of"):
            raise
        broken(what, state, error, "no error")
    except AleaZeroError as error:
        broken(what, state, error, "no error")
    except Exception as error:
        broken(what, state, f"{type(error).__name__}: {error}", "no error")


class _Checker:
    """What the check has met so far, and the laws it tries on each new state."""

    def __init__(self, game: Game, seed: int) -> None:
        self.game = game
        self.random = random.Random(f"check_game {seed}")
        self.seen: dict[bytes, tuple[Any, ...]] = {}
        self.rows: list[Any] = []
        self.max_legal = 0
        self.max_outcomes = 0
        self.sampled = 0

    def visit(self, state: State) -> None:
        """Try every law on a state, once for each state there is."""
        with _running("stepping", state):
            key = state.key()
        if key in self.seen:
            facts = _facts(state)
            if self.seen[key] != facts:
                broken("equal keys", state, f"{facts} and {self.seen[key]} under one key", "one key, one state")
            return
        if isinstance(state, KernelState):
            with _running("state numbers", state):
                _state_numbers(self, state)
        for name, law in LAWS.items():
            with _running(name, state):
                law(self, state)
        self.seen[key] = _facts(state)
        if isinstance(state, KernelState):
            self.rows.append(state.vector.copy())
            for name, kernel_law in KERNEL_LAWS.items():
                with _running(name, state):
                    kernel_law(self, state)

    def some(self, choices: list[int]) -> list[int]:
        """All choices, or a random few of very many."""
        return choices if len(choices) <= CHOICES else sorted(self.random.sample(choices, CHOICES))

    def step(self, state: State) -> int:
        """A random action or outcome."""
        if state.kind() == CHANCE:
            return state.sample_outcome(self.random.random())
        return self.random.choice(state.legal_actions())


def _choices(state: State) -> list[int]:
    """Everything that can follow; nothing where outcomes cannot be listed."""
    if state.kind() == CHANCE and not state.outcomes_listed():
        return []
    return state.legal_actions()


def _census(checker: _Checker, most: int) -> list[State] | None:
    """All states in breadth-first order, or None where they are more than ``most`` or cannot be listed."""
    with _running("starting", None):
        start = checker.game.new_initial_state()
        found = {start.key(): start}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        with _running("stepping", state):
            if state.kind() == CHANCE and not state.outcomes_listed():
                return None
            for action in state.legal_actions():
                after = state.clone()
                after._apply(action)
                if after.key() not in found:
                    if len(found) >= most:
                        return None
                    found[after.key()] = after
                    queue.append(after)
    return list(found.values())


def _count_kinds(states: list[State]) -> dict[str, int]:
    counts = dict.fromkeys(KIND_NAMES, 0)
    for state in states:
        counts[KIND_NAMES[state.kind()]] += 1
    return counts


def _play_episode(checker: _Checker, max_states: int, max_length: int) -> tuple[int, bool]:
    """Play at random to the end, then again with the same actions; the length, and whether it ended."""
    with _running("starting", None):
        state = checker.game.new_initial_state()
    actions: list[int] = []
    while len(actions) < max_length:
        if len(checker.seen) < max_states:
            checker.visit(state)
        with _running("stepping", state):
            if state.is_terminal():
                break
            actions.append(checker.step(state))
            state._apply(actions[-1])
    again = checker.game.new_initial_state()
    for action in actions:
        again._apply(action)
    if again.key() != state.key():
        broken("determinism", state, again.to_text(), "the same state from the same actions")
    return len(actions), state.is_terminal()


def _kinds(checker: _Checker, state: State) -> None:
    if state.kind() not in (DECISION, CHANCE, TERMINAL):
        broken("kinds", state, state.kind(), "0 (decision), 1 (chance) or 2 (terminal)")
    if state.kind() == CHANCE and checker.game.info.max_outcomes < 1:
        broken("kinds", state, "a chance node", "max_outcomes of at least 1 in a game with chance")


def _players(checker: _Checker, state: State) -> None:
    players = checker.game.num_players
    if state.kind() == DECISION and not 0 <= state.current_player() < players:
        broken("players", state, f"player {state.current_player()} to move", f"0 to {players - 1}")
    if not 0 <= state.viewer() < players:
        broken("players", state, f"viewer {state.viewer()}", f"0 to {players - 1}")
    if state.kind() == DECISION and state.viewer() != state.current_player():
        broken("players", state, f"viewer {state.viewer()}", f"the mover, {state.current_player()}")


def _legal(checker: _Checker, state: State) -> None:
    if state.kind() != DECISION:
        return
    most = checker.game.num_actions
    if isinstance(state, KernelState):
        out = np.full(most + SPARE, -1, np.int64)
        count = int(state.game.kernels.legal(state.vector, out))
        actions = [int(action) for action in out[: max(count, 0)]]
        if count > most:
            broken("legal actions", state, f"{count} of them", f"at most num_actions, {most}")
    else:
        actions = state.legal_actions()
    if not actions:
        broken("legal actions", state, "none", "at least one at a decision")
    if actions != sorted(set(actions)):
        broken("legal actions", state, actions, "ascending, each once")
    if actions[0] < 0 or actions[-1] >= most:
        broken("legal actions", state, actions, f"ids from 0 to {most - 1}")
    checker.max_legal = max(checker.max_legal, len(actions))


def _playouts(checker: _Checker, state: State) -> None:
    if state.kind() != DECISION:
        return
    legal = state.legal_actions()
    for u in UNITS:
        action = state._choose(legal, u)
        if action not in legal:
            broken("playouts", state, f"action {action} for u = {u!r}", f"one of {legal}")


def _decision_classes(checker: _Checker, state: State) -> None:
    classes = len(checker.game.info.decision_classes)
    if state.kind() == DECISION and not 0 <= state.decision_class() < classes:
        broken("decision classes", state, state.decision_class(), f"0 to {classes - 1}")


def _phases(checker: _Checker, state: State) -> None:
    phases = len(checker.game.info.phases)
    if state.kind() != TERMINAL and not 0 <= state.phase() < phases:
        broken("phases", state, state.phase(), f"0 to {phases - 1}")


def _equivalent_actions(checker: _Checker, state: State) -> None:
    canonical = state.game.kernels.canonical if isinstance(state, KernelState) else None
    if state.kind() != DECISION or canonical is None or not isinstance(state, KernelState):
        return
    legal = state.legal_actions()
    for action in range(checker.game.num_actions):
        same = int(canonical(state.vector, action))
        if action in legal and same != action:
            broken("equivalent actions", state, f"{same} for legal action {action}", "legal actions to be canonical")
        if same < 0 or same == action:
            continue
        if same not in legal:
            broken("equivalent actions", state, f"{same} for action {action}", f"a legal action, one of {legal}")
        mine, canon = state.clone(), state.clone()
        mine._apply(action)
        canon._apply(same)
        if mine.key() != canon.key():
            broken("equivalent actions", state, f"{action} and {same} lead apart", "the same afterstate")


def _probabilities(checker: _Checker, state: State) -> None:
    if state.kind() != CHANCE:
        return
    most = checker.game.info.max_outcomes
    if isinstance(state, KernelState):
        ids, shares = np.full(most + SPARE, -1, np.int64), np.zeros(most + SPARE)
        count = int(state.game.kernels.outcomes(state.vector, ids, shares))
        if count == MANY:
            if state.game.kernels.sample is None:
                broken("probabilities", state, "MANY outcomes and no function sample", "a sample(state, u)")
            return
        outcomes = [(int(o), float(p)) for o, p in zip(ids[:count], shares[:count], strict=True)]
    elif isinstance(state, ObjectState):
        outcomes = [(int(o), float(p)) for o, p in state.wrapped.chance_outcomes()]
    else:
        outcomes = state.chance_outcomes()
    if not 1 <= len(outcomes) <= most:
        broken("probabilities", state, f"{len(outcomes)} outcomes", f"1 to max_outcomes, {most}")
    if len({o for o, _ in outcomes}) != len(outcomes):
        broken("probabilities", state, [o for o, _ in outcomes], "each outcome id once")
    if not all(0 <= o < 2**31 for o, _ in outcomes):
        broken("probabilities", state, [o for o, _ in outcomes], "outcome ids from 0 to 2^31 - 1")
    if not all(p > 0.0 and math.isfinite(p) for _, p in outcomes):
        broken("probabilities", state, [p for _, p in outcomes], "positive numbers")
    total = sum(p for _, p in outcomes)
    if abs(total - 1.0) > PROBABILITY_TOLERANCE:
        broken("probabilities", state, f"a sum of {total:.12g}", "1")
    checker.max_outcomes = max(checker.max_outcomes, len(outcomes))


def _sampling(checker: _Checker, state: State) -> None:
    if state.kind() != CHANCE or not state.outcomes_listed() or not isinstance(state, KernelState):
        return
    if checker.sampled >= SAMPLED_STATES or state.game.kernels.sample is None:
        return
    checker.sampled += 1
    shares = dict(state.chance_outcomes())
    counts = dict.fromkeys(shares, 0)
    for u in (0.0, 1.0 - 2.0**-53, *(checker.random.random() for _ in range(DRAWS))):
        outcome = state.sample_outcome(u)
        if outcome not in counts:
            broken("sampling", state, f"outcome {outcome} for u = {u!r}", f"one of {list(shares)}")
        counts[outcome] += 1
    off, bound = chi_square(list(counts.values()), list(shares.values()))
    if off > bound:
        broken("sampling", state, f"counts {list(counts.values())} (chi-square {off:.1f})", f"at most {bound:.1f}")


def chi_square(counts: list[int], shares: list[float]) -> tuple[float, float]:
    """How far counts are from their shares, and the bound that right ones pass once in a billion times.

    Bins that expect fewer than five are pooled, starting with the smallest; the bound is Wilson and Hilferty's.
    """
    total = sum(counts)
    bins: list[tuple[float, float]] = []
    expected, count = 0.0, 0.0
    for share, n in sorted(zip(shares, counts, strict=True)):
        expected, count = expected + share * total, count + n
        if expected >= 5.0:
            bins.append((expected, count))
            expected, count = 0.0, 0.0
    if expected and bins:
        bins[-1] = (bins[-1][0] + expected, bins[-1][1] + count)
    freedom = len(bins) - 1
    if freedom < 1:
        return 0.0, 0.0
    spread = 2.0 / (9.0 * freedom)
    return sum((n - e) ** 2 / e for e, n in bins), freedom * (1.0 - spread + SIGMAS * math.sqrt(spread)) ** 3


def _names(checker: _Checker, state: State) -> None:
    names = {action: state.action_to_string(action) for action in _choices(state)}
    if len({name.strip().casefold() for name in names.values()}) != len(names):
        broken("action names", state, list(names.values()), "a name of its own for each action")
    for action in checker.some(list(names)):
        got = state.string_to_action(names[action])
        if got != action:
            broken("action names", state, f"{got} for {names[action]!r}", str(action))


def _clones(checker: _Checker, state: State) -> None:
    for action in checker.some(_choices(state)):
        before = _portrait(state)
        other = state.clone()
        other._apply(action)
        if _portrait(state) != before:
            broken("clones", state, f"a change after action {action} on its clone", "the original untouched")
        after, bystander = state.clone(), state.clone()
        untouched = _portrait(bystander)
        after._apply(action)
        # What can follow them is not asked yet: they are checked when they are visited.
        if (after.key(), after.kind(), after.returns()) != (other.key(), other.kind(), other.returns()):
            broken("determinism", state, f"two states after action {action}", "one: all chance is explicit")
        if _portrait(bystander) != untouched:
            broken("clones", state, f"a change in one clone after action {action} on another", "independent copies")


def _facts(state: State) -> tuple[Any, ...]:
    return state.kind(), state.current_player(), tuple(_choices(state)), tuple(state.returns())


def _portrait(state: State) -> tuple[Any, ...]:
    return state.key(), *_facts(state)


def _serialisation(checker: _Checker, state: State) -> None:
    again = checker.game.deserialize(state.serialize())
    if _portrait(again) != _portrait(state):
        broken("serialisation", state, again.serialize(), "the same state back")


def _texts(checker: _Checker, state: State) -> None:
    text = state.to_text()
    if "\n" in text:
        broken("text", state, repr(text), "one line")
    again = checker.game.state_from_text(text)
    if _portrait(again) != _portrait(state):
        broken(
            "text", state, f"{again.to_text()!r} {again.serialize()!r}", f"the same state back, {state.serialize()!r}"
        )


def _returns(checker: _Checker, state: State) -> None:
    players, utility = checker.game.num_players, checker.game.info.utility
    if isinstance(state, KernelState):
        out = np.full(players, np.nan)
        state.game.kernels.returns(state.vector, out)
        values = [float(value) for value in out]
    else:
        values = state.returns()
    if len(values) != players or not all(map(math.isfinite, values)):
        broken("returns", state, values, f"{players} finite numbers, one a player")
    if utility is not None and state.is_terminal() and not all(utility[0] <= v <= utility[1] for v in values):
        broken("returns", state, values, f"numbers within the utility range, {utility[0]:g} to {utility[1]:g}")
    if checker.game.info.levels > 1 and state.is_terminal() and (values[0] != -values[1] or values[0] % 1):
        broken("returns", state, values, "whole points that one player wins and the other loses")


def _observations(checker: _Checker, state: State) -> None:
    for player in range(checker.game.num_players):
        if isinstance(state, KernelState):
            size = state.game.observation_size
            seen = np.full(size, np.nan, np.float32)
            state.game.kernels.observe(state.vector, player, seen)
        elif isinstance(state, ObjectState) and not hasattr(state.wrapped, "observation_tensor"):
            return
        else:
            seen = state.observation_tensor(player)
            size = checker.game.info.observation_size or len(seen)
        if seen.shape != (size,):
            broken("observations", state, f"shape {seen.shape}", f"({size},)")
        if not np.isfinite(seen).all():
            broken(
                "observations",
                state,
                f"{seen[~np.isfinite(seen)][0]} at {np.flatnonzero(~np.isfinite(seen))[0]}",
                "a finite number in every place",
            )


def _state_numbers(checker: _Checker, state: KernelState) -> None:
    bounds = np.iinfo(checker.game.info.state_dtype)
    lowest, highest = int(state.vector.min()), int(state.vector.max())
    if lowest < bounds.min or highest > bounds.max:
        got = lowest if lowest < bounds.min else highest
        broken("state numbers", state, got, f"numbers that fit {checker.game.info.state_dtype}")


def _reading(checker: _Checker, state: KernelState) -> None:
    before = state.vector.copy()
    state.viewer(), state.returns(), state.observation_tensor(), state.current_player()
    _choices(state)
    if state.kind() == CHANCE:
        state.sample_outcome(0.5)
    if state.kind() == DECISION:
        state.decision_class(), state.playout_action(0.5)
    if state.kind() != TERMINAL:
        state.phase()
    if not np.array_equal(state.vector, before):
        broken("reading", state, f"the vector {before} changed to {state.vector}", "questions that change nothing")


STEPPING_LAWS = ("starting", "stepping", "determinism", "equal keys")
"""Laws that hold between states."""

LAWS: dict[str, Callable[[_Checker, State], None]] = {
    "kinds": _kinds,
    "players": _players,
    "legal actions": _legal,
    "playouts": _playouts,
    "decision classes": _decision_classes,
    "phases": _phases,
    "probabilities": _probabilities,
    "returns": _returns,
    "clones": _clones,
    "serialisation": _serialisation,
    "text": _texts,
    "action names": _names,
    "observations": _observations,
}
"""Name of each law of a state, and what tries it."""

KERNEL_LAWS: dict[str, Callable[[_Checker, KernelState], None]] = {
    "state numbers": _state_numbers,
    "reading": _reading,
    "sampling": _sampling,
    "equivalent actions": _equivalent_actions,
}
"""Laws of kernel games only; last comes "compiled twins"."""


def _check_twins(game: KernelGame, checker: _Checker) -> None:
    stride = max(1, len(checker.rows) // TWIN_STATES)
    try:
        compare_twins(game, checker.rows[::stride])
    except Difference as error:
        state = None if error.row is None else game.state_from_vector(error.row)
        broken("compiled twins", state, f"{error.kernel}: {error.got}", str(error.expected))
