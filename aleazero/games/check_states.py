"""The checks of a state of a game, and ``Checker``, which runs them."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, MANY, PROBABILITY_TOLERANCE, TERMINAL, Game, State, find_bad_end
from aleazero.games.check_compiled import SPARE, UNITS
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.objects import ObjectState
from aleazero.games.state_numbers import broken, random_step, require_fit, running
from aleazero.games.svg import to_svg

SHARES: Final = {"start": 0.1, "states": 0.6, "compiled rules": 0.2, "compiled games": 0.2}
"""Fractions of the time limit; the start is part of the states."""
DRAWS = 2000
"""Samples per state to compare ``sample`` with ``outcomes``."""
SAMPLED_STATES = 12
"""Number of chance nodes at which they are compared."""
SIGMAS = 6.0
"""Tolerance of this comparison: a correct sampler exceeds it once in a billion states."""
CHOICES, CHANCE_CHOICES = 40, 8
"""Maximum number of actions and of outcomes that are applied per state; random ones if there are more."""
DRAWN_STATES = 60
"""Number of states whose drawings are checked."""
NAMES = 500
"""Maximum number of names, and of equivalent actions, that are checked per state."""

Progress = Callable[..., None]
"""Called with (states checked, maximum number of states, phase)."""


class Checker:
    """State of a running check: its time limit, what it has found so far, and the checks of each new state."""

    def __init__(
        self, game: Game, seed: int, seconds: float | None = None, max_states: int = 1, progress: Progress | None = None
    ) -> None:
        self.game = game
        self.random = random.Random(f"check_game {seed}")
        self.seconds, self.max_states, self.progress = seconds, max_states, progress
        self.out_of_time = False
        self.seen: dict[bytes, tuple[Any, ...]] = {}
        self.rows: list[Any] = []
        self.choices: list[int] = []
        """Legal actions or outcomes of the state that is being checked; [] if outcomes cannot be listed."""
        self.outcomes: tuple[bytes, list[int], NDArray[np.float64]] = (b"", [], np.zeros(0))
        """Key, outcomes and probabilities of the last chance node that was checked."""
        self.max_legal = 0
        self.max_outcomes = 0
        self.sampled = 0
        self.turn: int | None = None
        self.mover: int | None = None
        """Player who decided in this turn; None before the first decision."""
        self.turns = self.turn_episodes = self.turn_decisions = 0
        self.passing_rolls = 0
        """Outcomes after which another player rolls, without a decision in between."""
        self.own_raised = self.others_raised = 0
        """Number of actions that raised the points of the mover, and of another player."""
        self.most_points = 0.0
        """Highest number of points of a player before an action."""
        self.player_matters = False
        """Whether ``observe`` wrote different numbers for different players."""
        self.unused: list[int] = []
        """Indices at the end of the state vector that nothing read or wrote."""
        self.phase = ""
        self.begin("start")

    def begin(self, phase: str) -> None:
        """Begin a phase of the check and its time limit."""
        self.phase = phase
        self._began = time.monotonic()

    def is_over(self) -> bool:
        """Return whether the time limit of this phase is reached."""
        if self.seconds is None or time.monotonic() - self._began < SHARES[self.phase] * self.seconds:
            return False
        self.out_of_time = self.out_of_time or self.phase != "start"
        return True

    def visit(self, state: State) -> None:
        """Run all checks on a state, if it is new."""
        with running("stepping", state):
            key = state.key()
        kernel = isinstance(state, KernelState)
        if key in self.seen:
            if not kernel and self.seen[key] != (facts := _facts(state)):
                broken("equal keys", state, f"{facts} and {self.seen[key]} with the same key", "one state per key")
            return
        if isinstance(state, KernelState):
            require_fit(state)
            before = state.vector.copy()
        for name, check in (CHECKS | KERNEL_CHECKS if kernel else CHECKS).items():
            with running(name, state):
                check(self, state)
            if isinstance(state, KernelState):
                require_unchanged(state, before)
        self.seen[key] = () if kernel else _facts(state)
        if isinstance(state, KernelState):
            self.rows.append(before)
        if self.progress is not None:
            self.progress(len(self.seen), self.max_states, self.phase)

    def subset(self, choices: list[int], most: int) -> list[int]:
        """Return all choices, or a random subset if there are more than ``most``."""
        return choices if len(choices) <= most else sorted(self.random.sample(choices, most))

    def to_apply(self, state: State) -> list[int]:
        """Return the actions or outcomes to apply to the state that is being checked."""
        return self.subset(self.choices, CHANCE_CHOICES if state.kind() == CHANCE else CHOICES)

    def step(self, state: State) -> int:
        """Return a random action or outcome."""
        if state.kind() != CHANCE:
            return self.random.choice(state.legal_actions())
        u = self.random.random()
        listed = not isinstance(state, KernelState) or state.game.kernels.sample is None
        if listed and self.outcomes[0] == state.key():
            _, ids, shares = self.outcomes
            return ids[min(int(np.searchsorted(np.cumsum(shares), u, side="right")), len(ids) - 1)]
        return state.sample_outcome(u)


def _kinds(checker: Checker, state: State) -> None:
    if state.kind() not in (DECISION, CHANCE, TERMINAL):
        broken("kinds", state, state.kind(), "0 (decision), 1 (chance) or 2 (terminal)")
    if state.kind() == CHANCE and checker.game.info.max_outcomes < 1:
        broken("kinds", state, "a chance node", "max_outcomes of at least 1 in a game with chance")


def _players(checker: Checker, state: State) -> None:
    players = checker.game.num_players
    if state.kind() == DECISION and not 0 <= state.current_player() < players:
        broken("players", state, f"player {state.current_player()} to move", f"0 to {players - 1}")
    if not 0 <= state.viewer() < players:
        broken("players", state, f"viewer {state.viewer()}", f"0 to {players - 1}")
    if state.kind() == DECISION and state.viewer() != state.current_player():
        broken("players", state, f"viewer {state.viewer()}", f"the mover, {state.current_player()}")


def _legal(checker: Checker, state: State) -> None:
    checker.choices = []
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
    checker.choices = actions


def _playouts(checker: Checker, state: State) -> None:
    if state.kind() != DECISION:
        return
    legal = checker.choices
    for u in UNITS:
        action = state._choose(legal, u)
        if action not in legal:
            broken("playouts", state, f"action {action} for u = {u!r}", f"one of {legal}")


def _priors(checker: Checker, state: State) -> None:
    if state.kind() != DECISION:
        return
    for action, logit in zip(checker.choices, state._prior_logits(checker.choices) or (), strict=False):
        if not math.isfinite(logit):
            broken("priors", state, f"logit {logit} of action {action}", "a finite number")


def _decision_classes(checker: Checker, state: State) -> None:
    classes = len(checker.game.info.decision_classes)
    if state.kind() == DECISION and not 0 <= state.decision_class() < classes:
        broken("decision classes", state, state.decision_class(), f"0 to {classes - 1}")


def _phases(checker: Checker, state: State) -> None:
    phases = len(checker.game.info.phases)
    if state.kind() != TERMINAL and not 0 <= state.phase() < phases:
        broken("phases", state, state.phase(), f"0 to {phases - 1}")


def _equivalent_actions(checker: Checker, state: State) -> None:
    canonical = state.game.kernels.canonical if isinstance(state, KernelState) else None
    if state.kind() != DECISION or canonical is None or not isinstance(state, KernelState):
        return
    legal = set(checker.choices)
    for action in checker.subset(list(range(checker.game.num_actions)), NAMES):
        same = int(canonical(state.vector, action))
        if action in legal and same != action:
            broken("equivalent actions", state, f"{same} for legal action {action}", "legal actions to be canonical")
        if same < 0 or same == action:
            continue
        if same not in legal:
            broken(
                "equivalent actions", state, f"{same} for action {action}", f"a legal action, one of {checker.choices}"
            )
        mine, canon = state.clone(), state.clone()
        mine._apply(action)
        canon._apply(same)
        if mine.key() != canon.key():
            broken("equivalent actions", state, f"different states after {action} and {same}", "the same afterstate")


def _probabilities(checker: Checker, state: State) -> None:
    if state.kind() != CHANCE:
        return
    most = checker.game.info.max_outcomes
    if isinstance(state, KernelState):
        ids, shares = np.full(most + SPARE, -1, np.int64), np.zeros(most + SPARE)
        count = int(state.game.kernels.outcomes(state.vector, ids, shares))
        if count == MANY:
            if state.game.kernels.sample is None:
                broken("probabilities", state, "MANY outcomes and no function sample", "a function sample(state, u)")
            return
        ids, shares = ids[: max(0, count)], shares[: max(0, count)]
    else:
        listed = state.wrapped.chance_outcomes() if isinstance(state, ObjectState) else state.chance_outcomes()
        ids = np.array([int(outcome) for outcome, _ in listed], np.int64)
        shares = np.array([float(share) for _, share in listed])
    if not 1 <= len(ids) <= most:
        broken("probabilities", state, f"{len(ids)} outcomes", f"1 to max_outcomes, {most}")
    if len(np.unique(ids)) != len(ids):
        broken("probabilities", state, ids.tolist(), "each outcome id once")
    if ids.min() < 0 or ids.max() >= 2**31:
        broken("probabilities", state, ids.tolist(), "outcome ids from 0 to 2^31 - 1")
    if not (shares > 0.0).all() or not np.isfinite(shares).all():
        broken("probabilities", state, shares.tolist(), "positive numbers")
    total = float(shares.sum())
    if abs(total - 1.0) > PROBABILITY_TOLERANCE:
        broken("probabilities", state, f"a sum of {total:.12g}", "1")
    checker.max_outcomes = max(checker.max_outcomes, len(ids))
    checker.choices = ids.tolist()
    checker.outcomes = state.key(), checker.choices, shares


def _sampling(checker: Checker, state: State) -> None:
    if state.kind() != CHANCE or not checker.choices or not isinstance(state, KernelState):
        return
    if checker.sampled >= SAMPLED_STATES or state.game.kernels.sample is None:
        return
    checker.sampled += 1
    shares = dict(zip(checker.choices, checker.outcomes[2].tolist(), strict=True))
    counts = dict.fromkeys(shares, 0)
    for u in (0.0, 1.0 - 2.0**-53, *(checker.random.random() for _ in range(DRAWS))):
        if checker.is_over():
            return
        outcome = state.sample_outcome(u)
        if outcome not in counts:
            broken("sampling", state, f"outcome {outcome} for u = {u!r}", f"one of {list(shares)}")
        counts[outcome] += 1
    off, bound = chi_square(list(counts.values()), list(shares.values()))
    if off > bound:
        broken("sampling", state, f"counts {list(counts.values())} (chi-square {off:.1f})", f"at most {bound:.1f}")


def chi_square(counts: list[int], shares: list[float]) -> tuple[float, float]:
    """Return the chi-square statistic of counts, and a bound that correct counts exceed once in a billion times.

    Bins with an expectation below five are pooled, starting with the smallest. The bound is the approximation of Wilson
    and Hilferty.
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


def _names(checker: Checker, state: State) -> None:
    names = {action: state.action_to_string(action) for action in checker.subset(checker.choices, NAMES)}
    ids = {name.casefold(): action for action, name in names.items()}
    if len(ids) != len(names):
        broken("action names", state, list(names.values()), "different names for different actions")
    for action, name in names.items():
        if ids.get(name.strip().casefold()) != action:
            broken("action names", state, f"{name!r} for {action}", "a name without spaces at its ends")
    # string_to_action names all actions, so it is called for one name, and only in states with few actions.
    for action in checker.subset(list(names), 1 if max(len(checker.seen), len(checker.choices)) < NAMES else 0):
        got = state.string_to_action(names[action])
        if got != action:
            broken("action names", state, f"{got} for {names[action]!r}", str(action))


def _clones(checker: Checker, state: State) -> None:
    before, bystander = _portrait(state), state.clone()
    for action in checker.to_apply(state):
        one, other = state.clone(), state.clone()
        for clone in (one, other):
            clone._apply(action)
            if isinstance(clone, KernelState):
                require_fit(clone)
        # Their legal actions are not compared here; they are checked when the states are visited.
        if (one.key(), one.kind(), one.returns()) != (other.key(), other.kind(), other.returns()):
            broken("determinism", state, f"two states after action {action}", "one: all chance is explicit")
        if state.key() != before[0]:
            broken("clones", state, f"a change after action {action} on its clone", "an unchanged original")
        if bystander.key() != before[0]:
            broken("clones", state, f"a change in one clone after action {action} on another", "independent copies")
    if _portrait(state) != before or _portrait(bystander) != before:
        broken("clones", state, "a change after actions on its clones", "independent copies")


def _facts(state: State) -> tuple[Any, ...]:
    return state.kind(), state.current_player(), tuple(_choices(state)), tuple(state.returns())


def _portrait(state: State) -> tuple[Any, ...]:
    """Return everything that distinguishes a state from others; for a kernel game, that is its vector."""
    return (state.key(),) if isinstance(state, KernelState) else (state.key(), *_facts(state))


def _serialization(checker: Checker, state: State) -> None:
    again = checker.game.deserialize(state.serialize())
    if _portrait(again) != _portrait(state):
        broken("serialization", state, again.serialize(), "the same state back")


def _texts(checker: Checker, state: State) -> None:
    text = state.to_text()
    if "\n" in text:
        broken("text", state, repr(text), "one line")
    if text == state.serialize():
        return  # read back already
    if isinstance(state, KernelState) and "parse" not in state.game.kernels.uncompiled:
        broken("text", None, "a function text and no parse", "both or neither; parse(line) reads the text back")
    again = checker.game.state_from_text(text)
    if _portrait(again) != _portrait(state):
        broken(
            "text", state, f"{again.to_text()!r} {again.serialize()!r}", f"the same state back, {state.serialize()!r}"
        )


def _returns(checker: Checker, state: State) -> None:
    players = checker.game.num_players
    if isinstance(state, KernelState):
        out = np.full(players, np.nan)
        state.game.kernels.returns(state.vector, out)
        values = [float(value) for value in out]
    else:
        values = state.returns()
    if len(values) != players or not all(map(math.isfinite, values)):
        broken("returns", state, values, f"{players} finite numbers, one per player")
    bad = find_bad_end(checker.game.info, np.array([values])) if state.is_terminal() else None
    if bad is not None:
        broken("returns", state, values, bad[1])


def _observations(checker: Checker, state: State) -> None:
    seen = []
    for player in range(checker.game.num_players):
        if isinstance(state, KernelState):
            size = state.game.observation_size
            seen.append(_written("observations", state, size, state.game.kernels.observe, player))
            continue
        if isinstance(state, ObjectState) and not hasattr(state.wrapped, "observation_tensor"):
            return
        seen.append(state.observation_tensor(player))
        size = checker.game.info.observation_size or len(seen[-1])
        if seen[-1].shape != (size,):
            broken("observations", state, f"shape {seen[-1].shape}", f"({size},)")
        _require_finite("observations", state, seen[-1])
    checker.player_matters |= any(not np.array_equal(seen[0], other) for other in seen[1:])


def _written(
    check: str, state: KernelState, size: int, rule: Callable[..., None], *arguments: int, dtype: Any = np.float32
) -> NDArray[Any]:
    """Return what a rule writes into an array; raise unless it writes finite numbers to all of it and no more."""
    room = np.full(size + SPARE, np.nan, dtype)
    try:
        rule(state.vector, *arguments, room[:size])
    except IndexError as error:
        broken(check, state, f"IndexError: {error}", f"at most {size} numbers, as declared")
    if not np.isnan(room[size:]).all():
        broken(check, state, f"a number written after the end, at {size}", f"at most {size} numbers, as declared")
    _require_finite(check, state, room[:size])
    return room[:size]


def _require_finite(check: str, state: State, numbers: NDArray[Any]) -> None:
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        written = "nothing or nan" if np.isnan(numbers[wrong[0]]) else str(numbers[wrong[0]])
        broken(check, state, f"{written} written at {wrong[0]}", f"a finite number in each of {len(numbers)} places")


def _features(checker: Checker, state: KernelState) -> None:
    features, players = state.game.info.features, state.game.num_players
    if features is None or state.is_terminal():
        return
    size, block = features.size(players), features.block
    write = state.game.kernels.features
    seen = [_written("features", state, size, write, player) for player in range(players)]
    for player in range(players):
        for seat in range(1, players if block else 0):
            mine, other = seen[player][block * seat : block * (seat + 1)], (player + seat) % players
            if not np.array_equal(mine, seen[other][:block]):
                got = f"block {seat} for player {player} that differs from block 0 for player {other}"
                expected = f"blocks of {block} numbers, as declared, that do not depend on the player who observes"
                broken("features", state, got, expected)


def _points(checker: Checker, state: KernelState) -> None:
    points = state.game.kernels.uncompiled.get("points")
    if points is not None:
        _written("points", state, state.game.num_players, points, dtype=np.float64)


def _reading(checker: Checker, state: KernelState) -> None:
    """Call ``sample``, which no other check calls in every state; the vector is compared after each check."""
    if state.kind() == CHANCE and state.game.kernels.sample is not None:
        state.sample_outcome(0.5)


def check_features(game: KernelGame, episodes: int = 3, steps: int = 300) -> None:
    """Check the features of a few random episodes, before compiled code without bounds checks writes them.

    The features of a game without ``features`` are its observations.
    """
    checker = Checker(game, 0)
    name, check = ("observations", _observations) if game.info.features is None else ("features", _features)
    for _ in range(episodes):
        state = game.new_initial_state()
        for _ in range(steps):
            if state.is_terminal():
                break
            with running(name, state):
                check(checker, state)
            state._apply(random_step(state, checker.random))


def _drawings(checker: Checker, state: State) -> None:
    scene = state.draw() if len(checker.seen) < DRAWN_STATES else None
    if scene is None:
        return
    to_svg(scene)  # reports unknown colors
    offered = sorted({move.action for move in scene.moves})
    expected = state.legal_actions() if state.kind() == DECISION else []
    if offered != expected:
        broken("drawings", state, f"moves for the actions {offered}", f"moves for the legal actions {expected}")


CHECKS: dict[str, Callable[[Checker, State], None]] = {
    "kinds": _kinds,
    "players": _players,
    "legal actions": _legal,
    "probabilities": _probabilities,
    "playouts": _playouts,
    "priors": _priors,
    "decision classes": _decision_classes,
    "phases": _phases,
    "returns": _returns,
    "clones": _clones,
    "serialization": _serialization,
    "text": _texts,
    "action names": _names,
    "observations": _observations,
    "drawings": _drawings,
}
"""Checks of a state, by name."""

KERNEL_CHECKS: dict[str, Callable[[Checker, Any], None]] = {
    "features": _features,
    "points": _points,
    "reading": _reading,
    "sampling": _sampling,
    "equivalent actions": _equivalent_actions,
}
"""Checks of a state for kernel games only, by name."""


def _choices(state: State) -> list[int]:
    """Return the legal actions or outcomes; [] if outcomes cannot be listed."""
    if state.kind() == CHANCE and not state.outcomes_listed():
        return []
    return state.legal_actions()


def require_unchanged(state: KernelState, before: NDArray[np.int64]) -> None:
    """Raise ContractError if the rules changed the vector of a state while reading it."""
    if not np.array_equal(state.vector, before):
        broken("reading", state, f"the vector {before} changed to {state.vector}", "rules that change nothing")
