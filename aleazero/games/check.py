"""``check_game``: check the game contract in random episodes and, in small games, in every state.

A failed check raises a ``ContractError`` with one line: the name of the check, the state, what was found and what is
expected. The state numbers are checked first, because they cause most other failures.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from aleazero.games.base import CHANCE, DECISION, KIND_NAMES, Game, State, counts_wins, find_bad_end
from aleazero.games.check_compiled import Difference, compare_with_plain, compile_kernels, play_compiled
from aleazero.games.check_states import CHECKS, KERNEL_CHECKS, Checker, Progress, require_unchanged
from aleazero.games.game_dice import roller_of
from aleazero.games.kernel import KernelGame, KernelState, points_of
from aleazero.games.registry import load_game
from aleazero.games.state_numbers import broken, check_state_numbers, require_fit, running

SECONDS: Final = 10.0
"""Default time limit of a check, without the time to compile."""
COMPARED_STATES = 200
"""Number of states on which the compiled kernels are compared with plain Python."""
COMPILED_GAMES = 10_000
"""Number of random games with compiled rules whose ends are checked."""
RAISES = 20
"""Minimum number of actions that raise another player's points for the warning about swapped players."""
LARGE_SHARE = 3.0
"""Points above this are not fractions of the points that a win takes."""
STEPPING_CHECKS = ("starting", "stepping", "determinism", "equal keys", "turns")
"""Names of the checks between states."""


@dataclass(frozen=True)
class CheckReport:
    """Statistics of ``check_game`` for a game that passes all checks."""

    game: str
    """The game with its parameters."""
    episodes: int
    """Episodes played in plain Python."""
    capped: int
    """Episodes that were cut at the length limit. Such a game may never end."""
    states: int
    """Number of different states that were checked."""
    mean_length: float
    """Mean number of actions and outcomes per episode."""
    max_length: int
    """Highest number of actions and outcomes of an episode."""
    max_legal: int
    """Highest number of legal actions in a state."""
    max_outcomes: int
    """Highest number of listed outcomes at a chance node."""
    census: dict[str, int] | None
    """Number of decision, chance and terminal states of the game; None if there are too many to visit."""
    compiled_games: int
    """Number of random games that were played with the compiled rules."""
    out_of_time: bool
    """Whether the time limit ended the check early."""
    checks: tuple[str, ...]
    """Names of the checks."""
    warnings: tuple[str, ...]
    """Descriptions of rules that are allowed but look like mistakes."""


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
    """Check that a game meets the game contract.

    If the game has at most ``max_states`` states, all of them are checked, else that many states of random episodes.
    The result depends on the arguments only, unless the time limit ends the check early.

    Args:
        game: a game, or an argument of ``load_game``.
        episodes: number of random episodes in plain Python.
        seed: seed of the episodes.
        max_states: maximum number of states to check.
        max_length: maximum number of actions and outcomes per episode.
        seconds: limit of wall time, without the time to compile; None for no limit.
        compiled: whether to also compile the rules of a kernel game, compare them with plain Python, and play random
            games with them.
        progress: called with (states checked, ``max_states``, phase) after each state.

    Returns:
        Statistics and warnings.

    Raises:
        ContractError: a check failed.
        GameError: the game cannot be loaded.
    """
    checked = game if isinstance(game, Game) else load_game(game)
    checker = Checker(checked, seed, seconds, max_states, progress)
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


def _census(checker: Checker, most: int) -> list[State] | None:
    """Return all states in breadth-first order; None if there are more than ``most``, or the time is over."""
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
    kinds = [state.kind() for state in states]
    return {name: kinds.count(kind) for kind, name in enumerate(KIND_NAMES)}


def _play_episode(checker: Checker, max_length: int) -> tuple[int, bool]:
    """Play a random episode, then the same actions again; return its length and whether it ended."""
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
            roller = roller_of(state)
            state._apply(actions[-1])
            checker.passing_rolls += roller is not None and roller_of(state) not in (None, roller)
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


def _watch_turns(checker: Checker, state: State) -> None:
    """Check that one player makes all decisions of a turn."""
    if state.is_terminal():
        return
    if isinstance(state, KernelState):
        before = state.vector.copy()
        turn = None if state.game.kernels.turn is None else int(state.game.kernels.turn(state.vector))
        require_unchanged(state, before)
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


def _warnings(checker: Checker) -> Iterator[str]:
    """Yield descriptions of rules that are allowed but look like mistakes."""
    game = checker.game
    if checker.others_raised >= RAISES and not checker.own_raised:
        yield (
            f"points: {checker.others_raised} actions raised the points of another player and none raised the mover's "
            "own; is `to_play` or `points` swapped?"
        )
    if counts_wins(game) and checker.most_points > LARGE_SHARE:
        yield (
            f"points: a player had {checker.most_points:g} points before the end; expected fractions of the points "
            "that a win takes, about 0 to 1, or `greedy` prefers points to winning"
        )
    if checker.turn_episodes and checker.turns == checker.turn_episodes and checker.turn_decisions > checker.turns:
        yield (
            f"turn: `turn` did not change in any of {checker.turn_episodes} episodes, so that planning a turn plans "
            "the complete game"
        )
    if checker.passing_rolls and not checker.turn_episodes:
        yield (
            f"turn: {checker.passing_rolls} rolls were followed by a roll of another player, so a turn can end by "
            "chance; define `turn`, for example `def turn(state): return state[PLAYER]`, to plan turns and to train"
        )
    own_observe = isinstance(game, KernelGame) and game.info.observation_size > 0
    if own_observe and game.num_players > 1 and len(checker.seen) > 1 and not checker.player_matters:
        yield (
            "observe: the observations of all players were the same in every state; expected the numbers of the player "
            "first, then those of the others, because values are relative to the player"
        )
    if checker.unused:
        places = f"{checker.unused[0]} to {checker.unused[-1]}" if len(checker.unused) > 1 else f"{checker.unused[0]}"
        yield f"state: indices {places} of the state were neither read nor written; state_size may be too large"


def _check_compiled(game: KernelGame, checker: Checker, seed: int, max_length: int) -> int:
    """Compare compiled rules with plain Python, then play random games with them; return the number of games."""
    kinds: dict[int, Any] = {}
    for row in checker.rows:
        kinds.setdefault(KernelState(game, row).kind(), row)
    rows = [*kinds.values(), *checker.rows[:: max(1, len(checker.rows) // COMPARED_STATES)]]
    compiled = compile_kernels(game.kernels)
    games = 0
    try:
        for place in compare_with_plain(game, rows, compiled):
            if place + 1 == len(kinds):  # everything is compiled now
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
