"""Moves in standard notation, such as ``8/5 6/5``, ``bar/22*``, ``13/7(2)``, ``24/20*/14`` and ``6/off``.

Points are those of the mover, ``*`` marks a hit, and ``(2)`` repeats a move. A move of one checker with several dice
is one path, which names the points between only if a checker is hit there. The name of a double's action has its two
half-moves. ``format_move`` and ``parse_move`` take complete moves, which are up to two actions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aleazero.errors import IllegalActionError, shortened
from aleazero.games.backgammon.board import (
    BAR,
    HIGH,
    LOW,
    NUM_ACTIONS,
    NUM_POINTS,
    PASS,
    PLACES,
    PLAYER,
    SECOND,
    Vector,
)
from aleazero.games.backgammon.moves import is_at, legal, move
from aleazero.games.base import DECISION

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelState

FROM_BAR, TO_OFF = NUM_POINTS + 1, 0
"""Numbers of the bar and of borne-off checkers in moves."""
PASSES = ("", "pass", "cannot move", "no move", "(no move)", "dance")
"""Texts of a move without half-moves."""
SHOWN_MOVES = 6
"""Legal moves that an error lists."""


class Step(NamedTuple):
    """A half-move of one checker."""

    start: int
    """Point, or 25 for the bar."""
    end: int
    """Point, or 0 for off."""
    hits: bool


def steps_of(state: Vector, action: int) -> list[Step]:
    """Return the half-moves of an action in the order in which they are played. The state does not change."""
    player, board = int(state[PLAYER]), state.copy()
    first, second = divmod(int(action), PLACES)
    halves = [(first, int(state[HIGH])), (second, int(state[LOW]))]
    if first != PASS and not is_at(board, player, first):
        halves.reverse()
    steps = []
    for place, die in halves:
        if place == PASS:
            continue
        start = place or FROM_BAR
        before = int(board[BAR + 1 - player])
        move(board, player, place, die)
        steps.append(Step(start, max(TO_OFF, start - die), int(board[BAR + 1 - player]) > before))
    return steps


def action_text(state: Vector, action: int) -> str:
    """Return the name of an action in standard notation; ``pass`` if no die is played."""
    return join_steps(steps_of(state, action))


def join_steps(steps: Sequence[Step]) -> str:
    """Return half-moves in standard notation: one path per checker, the furthest back first."""
    if not steps:
        return "pass"
    left = sorted(steps, key=lambda step: (-step.start, not step.hits))
    paths: list[tuple[tuple[int, bool], ...]] = []
    while left:
        step = left.pop(0)
        path = [(step.start, False), (step.end, step.hits)]
        while (after := next((one for one in left if one.start == path[-1][0]), None)) is not None:
            left.remove(after)
            if not path[-1][1]:
                path.pop()  # a point between, without a hit
            path.append((after.end, after.hits))
        paths.append(tuple(path))
    words = []
    for path_of_checker, count in Counter(sorted(paths, key=lambda path: [-point for point, _ in path])).items():
        word = "/".join(_point_text(point) + "*" * hits for point, hits in path_of_checker)
        words.append(word + (f"({count})" if count > 1 else ""))
    return " ".join(words)


def _point_text(point: int) -> str:
    return {FROM_BAR: "bar", TO_OFF: "off"}.get(point, str(point))


def format_move(state: KernelState, actions: Sequence[int]) -> str:
    """Return a complete move in standard notation.

    Args:
        state: the decision at which the move begins.
        actions: the actions of the move: one, or two for a double.

    Returns:
        The move, e.g. ``8/5 6/5``; ``pass`` if no die is played.

    Raises:
        IllegalActionError: an action is illegal.
    """
    return join_steps(steps_of_move(state, actions))


def steps_of_move(state: KernelState, actions: Sequence[int]) -> list[Step]:
    """Return the half-moves of a complete move."""
    after, steps = state.clone(), []
    for action in actions:
        steps += steps_of(after.vector, action)
        after.apply_action(action)
    return steps


class _Wanted(NamedTuple):
    """What a move in notation asks for."""

    change: Counter[int]
    """Checkers that arrive at each place minus those that leave it."""
    hits: frozenset[int]
    """Points with a star."""


class _Move(NamedTuple):
    """A legal move."""

    actions: list[int]
    change: Counter[int]
    hits: frozenset[int]


_PLACE = r"(?:bar|off|[0-9]{1,2})"
_WORD = re.compile(rf"({_PLACE}(?:/{_PLACE}\*?)+)(?:\(([1-4])\))?", re.IGNORECASE)


def parse_move(state: KernelState, text: str) -> list[int]:
    """Return the actions of a complete move in standard notation.

    The bar is ``bar`` or 25, and off is ``off`` or 0. Half-moves may be in any order and may be joined. Stars may be
    missing if the move is unambiguous without them.

    Args:
        state: the decision at which the move begins.
        text: the move; ``pass`` or an empty text if no die can be played.

    Returns:
        The actions: one, or two for a double.

    Raises:
        IllegalActionError: the text cannot be read, or the move is illegal.
    """
    if state.kind() != DECISION:
        raise IllegalActionError(f"backgammon: got the move {text!r} before a roll, expected a decision")
    wanted = _parse(text)
    moves = [one for one in _moves(state, _starts(wanted.change, state)) if one.change == wanted.change]
    fitting = _fitting(moves, wanted)
    if len(fitting) == 1:
        return fitting[0]
    if not moves:
        dice = f"{state.vector[HIGH]}-{state.vector[LOW]}"
        raise IllegalActionError(f"backgammon: {text!r} is not legal with {dice}, expected {_choices(state)}")
    if not fitting:
        marked = ", ".join(map(str, sorted(wanted.hits, reverse=True)))
        raise IllegalActionError(f"backgammon: {text!r} has a star at {marked}, expected one only where a blot is hit")
    names = sorted(format_move(state, actions) for actions in fitting)
    raise IllegalActionError(f"backgammon: {text!r} can be played in several ways, expected {' or '.join(names)}")


def parse_action(state: Vector, text: str) -> int:
    """Return the legal action that a text describes, with its half-moves in any form that ``parse_move`` reads.

    Returns:
        The action; −1 if there is none, or more than one.
    """
    try:
        wanted = _parse(text)
    except IllegalActionError:
        return -1
    out = np.zeros(NUM_ACTIONS, np.int64)
    moves = [_Move([int(action)], *_effect(steps_of(state, action))) for action in out[: legal(state, out)]]
    fitting = _fitting([one for one in moves if one.change == wanted.change], wanted)
    return fitting[0][0] if len(fitting) == 1 else -1


def _fitting(moves: Sequence[_Move], wanted: _Wanted) -> list[list[int]]:
    """Return the actions of one move for each set of points where it hits: the marked ones, else with more hits."""
    different = {one.hits: one.actions for one in reversed(moves)}
    if wanted.hits in different:
        return [different[wanted.hits]]
    return [actions for hits, actions in different.items() if wanted.hits <= hits]


def _parse(text: str) -> _Wanted:
    change: Counter[int] = Counter()
    hits = set()
    words = [] if text.strip().casefold() in PASSES else text.split()
    for word in words:
        read = _WORD.fullmatch(word)
        points = [] if read is None else [_point(part) for part in read[1].split("/")]
        if read is None or not all(a > b for a, b in pairwise(points)) or points[0] > FROM_BAR:
            raise IllegalActionError(
                f"backgammon: cannot read {shortened(word, 80, 20)!r} in the move {shortened(text, 120, 40)!r}, "
                f"expected half-moves such as 8/5, bar/22*, 13/7(2) or 6/off"
            )
        count = int(read[2] or 1)
        change[points[0]] -= count
        change[points[-1]] += count
        hits |= {point for point, part in zip(points, read[1].split("/"), strict=True) if part.endswith("*")}
    return _Wanted(_net(change), frozenset(hits))


def _point(part: str) -> int:
    part = part.rstrip("*").casefold()
    return {"bar": FROM_BAR, "off": TO_OFF}[part] if part in ("bar", "off") else int(part)


def _starts(change: Counter[int], state: KernelState) -> Counter[int] | None:
    """Return how many half-moves of a double start from each place; None for other rolls, which have few moves.

    The pips of a double's half-moves are equal, so the paths of all checkers consist of them in one way only.
    """
    die = int(state.vector[HIGH])
    if die != state.vector[LOW]:
        return None
    starts: Counter[int] = Counter()
    for remainder in range(die):
        flow = 0  # checkers that come from further back
        for place in range(FROM_BAR - (FROM_BAR - remainder) % die, 0, -die):
            flow -= change[place]
            starts[place] = max(0, flow)
    return starts


def _moves(state: KernelState, starts: Counter[int] | None) -> list[_Move]:
    """Return complete moves; of a double only those whose half-moves begin at ``starts``."""
    found = []
    mover = state.current_player()
    waiting: list[tuple[KernelState, list[int], list[Step]]] = [(state, [], [])]
    while waiting:
        now, actions, before = waiting.pop()
        for action in now.legal_actions():
            steps = before + steps_of(now.vector, action)
            used = Counter(step.start for step in steps)
            if starts is not None and any(count > starts[place] for place, count in used.items()):
                continue
            after = now.clone()
            after._apply(action)
            if after.kind() == DECISION and after.current_player() == mover:
                waiting.append((after, [*actions, action], steps))
            else:
                found.append(_Move([*actions, action], *_effect(steps)))
    return found


def _effect(steps: Sequence[Step]) -> tuple[Counter[int], frozenset[int]]:
    """Return the change and the hits of half-moves."""
    change: Counter[int] = Counter()
    for step in steps:
        change[step.start] -= 1
        change[step.end] += 1
    return _net(change), frozenset(step.end for step in steps if step.hits)


def _net(change: Counter[int]) -> Counter[int]:
    return Counter({place: count for place, count in change.items() if count})


def _choices(state: KernelState) -> str:
    """Return some legal actions as text."""
    names = [state.action_to_string(action) for action in state.legal_actions()]
    listed = ", ".join(names[:SHOWN_MOVES])
    more = f", … ({len(names)} in all)" if len(names) > SHOWN_MOVES else ""
    double = state.vector[HIGH] == state.vector[LOW] and not state.vector[SECOND]
    first = "a move that begins with " if double else ""
    return f"{first}{'one of ' if len(names) > 1 and not first else ''}{listed}{more}"
