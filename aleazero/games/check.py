"""``check_game``: check the requirements of the game contract on random episodes and, in small games, on every state.

A requirement that is not met is a ``ContractError`` of one line: the check that failed, the state, what was got and
what was expected. The state numbers are checked first: most other failures would follow from them.
"""

from __future__ import annotations

import math
import random
import time
import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import (
    CHANCE,
    DECISION,
    KIND_NAMES,
    MANY,
    PROBABILITY_TOLERANCE,
    TERMINAL,
    Game,
    State,
    counts_wins,
    find_bad_end,
)
from aleazero.games.check_compiled import SPARE, UNITS, Difference, compare_with_plain, compile_kernels, play_compiled
from aleazero.games.kernel import KernelGame, KernelState, points_of
from aleazero.games.objects import ObjectState
from aleazero.games.registry import load_game
from aleazero.games.state_numbers import broken, check_state_numbers, random_step, require_fit, running

SECONDS: Final = 10.0
"""Default budget of a check, without the time to compile."""
SHARES: Final = {"start": 0.1, "states": 0.6, "compiled rules": 0.2, "compiled games": 0.2}
"""How the budget is divided; the start is part of the states."""
DRAWS = 2000
"""Numbers u drawn to compare ``sample`` with ``outcomes`` at one state."""
SAMPLED_STATES = 12
"""At how many chance states that comparison is made."""
SIGMAS = 6.0
"""How far off a sampler may be: once in a billion states a right one is farther."""
TWIN_STATES = 200
"""On how many states the compiled kernels are compared with plain Python."""
CHOICES, CHANCE_CHOICES = 40, 8
"""How many of a state's actions or outcomes are applied, at random if there are more."""
NAMES = 500
"""How many names of actions or outcomes, and how many equivalent actions, are checked at one state."""
COMPILED_GAMES = 10_000
"""Random games of the compiled rules whose ends are checked."""
RAISES = 20
"""How often the points of others must have risen before a game is suspected to count them for the wrong player."""

LARGE_SHARE = 3.0
"""Points above this are no shares of what a win takes."""

Progress = Callable[..., None]
"""Called with (states checked, most states, what is being done)."""


@dataclass(frozen=True)
class CheckReport:
    """What ``check_game`` examined in a game that passes all checks."""

    game: str
    episodes: int
    """Episodes played in plain Python."""
    capped: int
    """Episodes cut at the length limit: such a game may never end."""
    states: int
    """Different states that were checked."""
    mean_length: float
    """Mean number of actions and outcomes per episode."""
    max_length: int
    max_legal: int
    max_outcomes: int
    census: dict[str, int] | None
    """Number of decision, chance and terminal states of the game; None if there are too many to visit."""
    compiled_games: int
    """Random games played with the compiled rules, whose ends were checked."""
    out_of_time: bool
    """Whether the budget of seconds ended the check early."""
    checks: tuple[str, ...]
    warnings: tuple[str, ...]
    """What is allowed and looks like a mistake."""


def check_game(
    game: Game | str | types.ModuleType | type,
    *,
    episodes: int = 10,
    seed: int = 0,
    max_states: int = 2_000,
    max_length: int = 10_000,
    seconds: float | None = SECONDS,
    compiled: bool = True,
    progress: Progress | None = None,
) -> CheckReport:
    """Check the requirements of the game contract.

    Every state of a game with at most ``max_states`` of them is checked, else that many met in random episodes.
    The report is a function of the arguments, unless the budget of seconds ends the check early.

    Args:
        game: a game, or whatever ``load_game`` takes.
        episodes: random episodes to play in plain Python.
        seed: seed of the episodes.
        max_states: states to check at most.
        max_length: actions and outcomes after which an episode is cut.
        seconds: budget of wall time, without the time to compile; None for no limit.
        compiled: whether to compile the rules of a kernel game too, compare them with plain Python, and play random
            games with them.
        progress: called with (states checked, ``max_states``, phase) after each state.

    Raises:
        ContractError: the first requirement that is not met.
    """
    checked = game if isinstance(game, Game) else load_game(game)
    checker = _Checker(checked, seed, seconds, max_states, progress)
    checks = [*STEPPING_CHECKS, *CHECKS]
    if isinstance(checked, KernelGame):
        checks = ["state numbers", *checks, *KERNEL_CHECKS]
        checker.unused = check_state_numbers(checked, checker.is_over)
    lengths: list[int] = []
    capped = 0
    checker.begin("states")
    for _ in range(episodes):
        length, ended = _play_episode(checker, max_length)
        if lengths and checker.is_over():
            break
        lengths.append(length)
        capped += not ended and length == max_length
    small = _census(checker, max_states)
    for state in small or ():
        if checker.is_over():
            break
        checker.visit(state)
    games = 0
    if isinstance(checked, KernelGame) and compiled:
        checks += ["compiled rules", "ends"]
        games = _check_compiled(checked, checker, seed, max_length)
    return CheckReport(
        game=repr(checked),
        episodes=len(lengths),
        capped=capped,
        states=len(checker.seen),
        mean_length=sum(lengths) / max(1, len(lengths)),
        max_length=max(lengths, default=0),
        max_legal=checker.max_legal,
        max_outcomes=checker.max_outcomes,
        census=None if small is None else _count_kinds(small),
        compiled_games=games,
        out_of_time=checker.out_of_time,
        checks=tuple(checks),
        warnings=tuple(_warnings(checker)),
    )


class _Checker:
    """What the check has met so far, its budget, and the checks of each new state."""

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
        """Everything that can follow the state that is being checked; nothing if outcomes cannot be listed."""
        self.outcomes: tuple[bytes, list[int], NDArray[np.float64]] = (b"", [], np.zeros(0))
        """Key of the last chance node that was checked, its outcomes and their probabilities."""
        self.max_legal = 0
        self.max_outcomes = 0
        self.sampled = 0
        self.turn: int | None = None
        self.mover: int | None = None
        """Player that decided in this turn; None before any did."""
        self.turns = self.turn_episodes = self.turn_decisions = 0
        self.own_raised = self.others_raised = 0
        """Actions that raised the points of the mover, and those that raised another player's."""
        self.most_points = 0.0
        """The most points of a player before an action."""
        self.player_matters = False
        """Whether ``observe`` wrote different numbers for different players."""
        self.unused: list[int] = []
        """Places at the end of the state vector that nothing read or wrote."""
        self.phase = ""
        self.begin("start")

    def begin(self, phase: str) -> None:
        """Start the clock of a part of the check."""
        self.phase = phase
        self._began = time.monotonic()

    def is_over(self) -> bool:
        """Whether the budget of this part is spent."""
        if self.seconds is None or time.monotonic() - self._began < SHARES[self.phase] * self.seconds:
            return False
        self.out_of_time = self.out_of_time or self.phase != "start"
        return True

    def visit(self, state: State) -> None:
        """Run every check on a state, once for each different state."""
        with running("stepping", state):
            key = state.key()
        kernel = isinstance(state, KernelState)
        if key in self.seen:
            if not kernel and self.seen[key] != (facts := _facts(state)):
                broken("equal keys", state, f"{facts} and {self.seen[key]} under one key", "one key, one state")
            return
        if isinstance(state, KernelState):
            require_fit(state)
            before = state.vector.copy()
        for name, check in (CHECKS | KERNEL_CHECKS if kernel else CHECKS).items():
            with running(name, state):
                check(self, state)
            if isinstance(state, KernelState):
                _require_unchanged(state, before)
        self.seen[key] = () if kernel else _facts(state)
        if isinstance(state, KernelState):
            self.rows.append(before)
        if self.progress is not None:
            self.progress(len(self.seen), self.max_states, self.phase)

    def some(self, choices: list[int], most: int) -> list[int]:
        """All choices, or a random few of very many."""
        return choices if len(choices) <= most else sorted(self.random.sample(choices, most))

    def tried(self, state: State) -> list[int]:
        """The actions or outcomes to apply at the state that is being checked."""
        return self.some(self.choices, CHANCE_CHOICES if state.kind() == CHANCE else CHOICES)

    def step(self, state: State) -> int:
        """A random action or outcome."""
        if state.kind() != CHANCE:
            return self.random.choice(state.legal_actions())
        u = self.random.random()
        listed = not isinstance(state, KernelState) or state.game.kernels.sample is None
        if listed and self.outcomes[0] == state.key():
            _, ids, shares = self.outcomes
            return ids[min(int(np.searchsorted(np.cumsum(shares), u, side="right")), len(ids) - 1)]
        return state.sample_outcome(u)


def _choices(state: State) -> list[int]:
    """Everything that can follow; nothing if outcomes cannot be listed."""
    if state.kind() == CHANCE and not state.outcomes_listed():
        return []
    return state.legal_actions()


def _require_unchanged(state: KernelState, before: NDArray[np.int64]) -> None:
    if not np.array_equal(state.vector, before):
        broken("reading", state, f"the vector {before} changed to {state.vector}", "rules that change nothing")


def _census(checker: _Checker, most: int) -> list[State] | None:
    """All states in breadth-first order, or None if they are more than ``most`` or cannot be listed in time."""
    with running("starting", None):
        start = checker.game.new_initial_state()
        found = {start.key(): start}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if checker.is_over():
            return None
        with running("stepping", state):
            if state.kind() == CHANCE and not state.outcomes_listed():
                return None
            for action in state.legal_actions():
                if checker.is_over():
                    return None
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


def _play_episode(checker: _Checker, max_length: int) -> tuple[int, bool]:
    """Play at random to the end, then again with the same actions; the length, and whether it ended."""
    with running("starting", None):
        state = checker.game.new_initial_state()
    actions: list[int] = []
    checker.turn = checker.mover = None
    while len(actions) < max_length:
        if len(checker.seen) < checker.max_states:
            checker.visit(state)
        with running("turns", state):
            _watch_turns(checker, state)
        with running("stepping", state):
            if state.is_terminal() or checker.is_over():
                break
            actions.append(checker.step(state))
            before = points_of(state) if state.kind() == DECISION else None
            mover = state.current_player()
            state._apply(actions[-1])
            if isinstance(state, KernelState):
                require_fit(state)
            after = None if before is None else points_of(state)
            if before is not None and after is not None:
                checker.most_points = max(checker.most_points, float(before.max()))
                risen = after > before
                checker.own_raised += bool(risen[mover])
                checker.others_raised += bool(risen.sum() > risen[mover])
    again = checker.game.new_initial_state()
    for action in actions:
        again._apply(action)
    if again.key() != state.key():
        broken("determinism", state, again.to_text(), "the same state from the same actions")
    checker.turn_episodes += checker.turn is not None
    return len(actions), state.is_terminal()


def _watch_turns(checker: _Checker, state: State) -> None:
    """Follow the turns of an episode: within one, the same player decides."""
    if state.is_terminal():
        return
    if isinstance(state, KernelState):
        before = state.vector.copy()
        turn = None if state.game.kernels.turn is None else int(state.game.kernels.turn(state.vector))
        _require_unchanged(state, before)
    else:
        own = getattr(getattr(state, "wrapped", None), "turn", None)
        turn = int(own()) if callable(own) else None
    if turn is None:
        return
    if turn != checker.turn:
        checker.turn, checker.mover = turn, None
        checker.turns += 1
    if state.kind() == DECISION:
        mover = state.current_player()
        if checker.mover not in (None, mover):
            got = f"player {mover} to move in turn {turn}, in which player {checker.mover} decided before"
            broken("turns", state, got, "`turn` to change when another player moves")
        checker.mover = mover
        checker.turn_decisions += 1


def _warnings(checker: _Checker) -> Iterator[str]:
    """What is allowed and looks like a mistake."""
    game = checker.game
    if checker.others_raised >= RAISES and not checker.own_raised:
        yield (
            f"points: {checker.others_raised} actions raised the points of another player and none raised the mover's "
            "own; is `to_play` or `points` swapped?"
        )
    if counts_wins(game) and checker.most_points > LARGE_SHARE:
        yield (
            f"points: a player had {checker.most_points:g} of them before the end; they are shares of what a win "
            "takes, about 0 to 1, and `greedy` would rather have more of them than win"
        )
    if checker.turn_episodes and checker.turns == checker.turn_episodes and checker.turn_decisions > checker.turns:
        yield (
            f"turn: `turn` did not change within any of {checker.turn_episodes} episodes; a turn is then the complete "
            "game, and planning a turn plans all of it"
        )
    own_observe = isinstance(game, KernelGame) and game.info.observation_size > 0
    if own_observe and game.num_players > 1 and len(checker.seen) > 1 and not checker.player_matters:
        yield (
            "observe: the observation of every player was the same in every state; values are relative to the viewer, "
            "so numbers of the player come first, then those of the others"
        )
    if checker.unused:
        places = f"{checker.unused[0]} to {checker.unused[-1]}" if len(checker.unused) > 1 else f"{checker.unused[0]}"
        yield f"state: numbers {places} of the state were neither read nor written; state_size may be too large"


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


def _playouts(checker: _Checker, state: State) -> None:
    if state.kind() != DECISION:
        return
    legal = checker.choices
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
    legal = set(checker.choices)
    for action in checker.some(list(range(checker.game.num_actions)), NAMES):
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


def _sampling(checker: _Checker, state: State) -> None:
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
    names = {action: state.action_to_string(action) for action in checker.some(checker.choices, NAMES)}
    ids = {name.casefold(): action for action, name in names.items()}
    if len(ids) != len(names):
        broken("action names", state, list(names.values()), "a name of its own for each action")
    for action, name in names.items():
        if ids.get(name.strip().casefold()) != action:
            broken("action names", state, f"{name!r} for {action}", "a name without spaces at its ends")
    # It names all of them, so it is called for one name, in some states.
    for action in checker.some(list(names), 1 if max(len(checker.seen), len(checker.choices)) < NAMES else 0):
        got = state.string_to_action(names[action])
        if got != action:
            broken("action names", state, f"{got} for {names[action]!r}", str(action))


def _clones(checker: _Checker, state: State) -> None:
    before, bystander = _portrait(state), state.clone()
    for action in checker.tried(state):
        one, other = state.clone(), state.clone()
        for clone in (one, other):
            clone._apply(action)
            if isinstance(clone, KernelState):
                require_fit(clone)
        # What can follow them is not read yet: they are checked when they are visited.
        if (one.key(), one.kind(), one.returns()) != (other.key(), other.kind(), other.returns()):
            broken("determinism", state, f"two states after action {action}", "one: all chance is explicit")
        if state.key() != before[0]:
            broken("clones", state, f"a change after action {action} on its clone", "the original untouched")
        if bystander.key() != before[0]:
            broken("clones", state, f"a change in one clone after action {action} on another", "independent copies")
    if _portrait(state) != before or _portrait(bystander) != before:
        broken("clones", state, "a change after actions on its clones", "independent copies")


def _facts(state: State) -> tuple[Any, ...]:
    return state.kind(), state.current_player(), tuple(_choices(state)), tuple(state.returns())


def _portrait(state: State) -> tuple[Any, ...]:
    """All that tells a state from others: the vector of a kernel game, which its rules read and nothing else."""
    return (state.key(),) if isinstance(state, KernelState) else (state.key(), *_facts(state))


def _serialization(checker: _Checker, state: State) -> None:
    again = checker.game.deserialize(state.serialize())
    if _portrait(again) != _portrait(state):
        broken("serialization", state, again.serialize(), "the same state back")


def _texts(checker: _Checker, state: State) -> None:
    text = state.to_text()
    if "\n" in text:
        broken("text", state, repr(text), "one line")
    if text == state.serialize():
        return  # read back already
    if isinstance(state, KernelState) and "parse" not in state.game.kernels.words:
        broken("text", None, "a function text and no parse", "parse(line), which reads the text back, or neither")
    again = checker.game.state_from_text(text)
    if _portrait(again) != _portrait(state):
        broken(
            "text", state, f"{again.to_text()!r} {again.serialize()!r}", f"the same state back, {state.serialize()!r}"
        )


def _returns(checker: _Checker, state: State) -> None:
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


def _observations(checker: _Checker, state: State) -> None:
    seen = []
    for player in range(checker.game.num_players):
        if isinstance(state, KernelState):
            size = state.game.observation_size
            seen.append(_written("observations", state, size, partial(_observe, state, player)))
            continue
        if isinstance(state, ObjectState) and not hasattr(state.wrapped, "observation_tensor"):
            return
        seen.append(state.observation_tensor(player))
        size = checker.game.info.observation_size or len(seen[-1])
        if seen[-1].shape != (size,):
            broken("observations", state, f"shape {seen[-1].shape}", f"({size},)")
        _require_finite("observations", state, seen[-1])
    checker.player_matters |= any(not np.array_equal(seen[0], other) for other in seen[1:])


def _observe(state: KernelState, player: int, out: Any) -> None:
    state.game.kernels.observe(state.vector, player, out)


def _tell(state: KernelState, player: int, out: Any) -> None:
    state.game.kernels.features(state.vector, player, out)


def _written(
    check: str, state: KernelState, size: int, write: Callable[[Any], None], dtype: Any = np.float32
) -> NDArray[Any]:
    """What a rule writes into an array of its declared size; all of it, finite, and nothing after its end."""
    room = np.full(size + SPARE, np.nan, dtype)
    try:
        write(room[:size])
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


def _features(checker: _Checker, state: KernelState) -> None:
    features, players = state.game.info.features, state.game.num_players
    if features is None or state.is_terminal():
        return
    size, block = features.size(players), features.block
    seen = [_written("features", state, size, partial(_tell, state, player)) for player in range(players)]
    for player in range(players):
        for seat in range(1, players if block else 0):
            mine, other = seen[player][block * seat : block * (seat + 1)], (player + seat) % players
            if not np.array_equal(mine, seen[other][:block]):
                got = f"another block {seat} for player {player} than block 0 for player {other}"
                expected = f"blocks of {block} numbers, as declared, that are the same for a player whoever looks"
                broken("features", state, got, expected)


def _points(checker: _Checker, state: KernelState) -> None:
    points = state.game.kernels.words.get("points")
    if points is not None:
        _written("points", state, state.game.num_players, lambda out: points(state.vector, out), np.float64)


def _reading(checker: _Checker, state: KernelState) -> None:
    """Call what no other check calls in every state: each is followed by a look at the vector."""
    if state.kind() == CHANCE and state.game.kernels.sample is not None:
        state.sample_outcome(0.5)


def check_features(game: KernelGame, episodes: int = 3, steps: int = 300) -> None:
    """Check the features of a few random episodes, before compiled code without bounds checks writes them.

    Without features of its own, a game has its observations for them.
    """
    checker = _Checker(game, 0)
    name, check = ("observations", _observations) if game.info.features is None else ("features", _features)
    for _ in range(episodes):
        state = game.new_initial_state()
        for _ in range(steps):
            if state.is_terminal():
                break
            with running(name, state):
                check(checker, state)
            state._apply(random_step(state, checker.random))


STEPPING_CHECKS = ("starting", "stepping", "determinism", "equal keys", "turns")
"""Checks between states."""

CHECKS: dict[str, Callable[[_Checker, State], None]] = {
    "kinds": _kinds,
    "players": _players,
    "legal actions": _legal,
    "probabilities": _probabilities,
    "playouts": _playouts,
    "decision classes": _decision_classes,
    "phases": _phases,
    "returns": _returns,
    "clones": _clones,
    "serialization": _serialization,
    "text": _texts,
    "action names": _names,
    "observations": _observations,
}
"""Name of each check of a state, and the function."""

KERNEL_CHECKS: dict[str, Callable[[_Checker, Any], None]] = {
    "features": _features,
    "points": _points,
    "reading": _reading,
    "sampling": _sampling,
    "equivalent actions": _equivalent_actions,
}
"""Checks of kernel games only, after "state numbers"; last come "compiled rules" and "ends"."""


def _check_compiled(game: KernelGame, checker: _Checker, seed: int, max_length: int) -> int:
    """Compare compiled rules with plain Python, then play random games with them; how many."""
    kinds: dict[int, Any] = {}
    for row in checker.rows:
        kinds.setdefault(KernelState(game, row).kind(), row)
    rows = [*kinds.values(), *checker.rows[:: max(1, len(checker.rows) // TWIN_STATES)]]
    compiled = compile_kernels(game.kernels)
    games = 0
    try:
        for place in compare_with_plain(game, rows, compiled):
            if place + 1 == len(kinds):  # all is compiled now
                checker.begin("compiled rules")
            elif place >= len(kinds) and checker.is_over():
                break
        for ends, returns in play_compiled(game, compiled, seed, COMPILED_GAMES, max_length):
            if checker.phase != "compiled games":  # compiled with the first of them
                checker.begin("compiled games")
            bad = find_bad_end(game.info, returns)
            if bad is not None:
                broken("ends", KernelState(game, ends[bad[0]]), returns[bad[0]].tolist(), bad[1])
            games += len(ends)
            if checker.is_over():
                break
    except Difference as error:
        state = None if error.row is None else KernelState(game, error.row)
        broken("compiled rules", state, f"{error.kernel}: {error.got}", str(error.expected))
    return games
