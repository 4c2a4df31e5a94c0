"""Text of Yatzy: names of actions and rolls, a position in one line, and the score card.

A line has a part for every player and one for the turn, separated by slashes::

    filled ones pair upper 3 total 11 / filled sixes upper 18 total 18 / player 1 dice 11234 rerolls 2
"""

from __future__ import annotations

import re

from aleazero.errors import PositionError, nearest
from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.dice import DICE, HANDS, HISTOGRAMS, KEPT, SIZES, dice_of_histogram
from aleazero.games.yatzy.card import (
    ALL_OPEN,
    AVAIL,
    BOARD,
    BOARDS,
    BONUS_FROM,
    CATEGORIES,
    IN_HAND,
    KIND,
    MARKS,
    NUM_CATEGORIES,
    PLAYER,
    REROLLS,
    SCORES,
    TOTAL,
    UPPER,
    Board,
    Vector,
    categories_of,
    vector_of,
)

EXAMPLE = "filled ones pair upper 3 total 11 / player 0 dice 11234 rerolls 2"

DICE_TEXTS = tuple("".join(map(str, dice_of_histogram(row))) or "none" for row in HISTOGRAMS.tolist())
"""By multiset: ``11234``, or ``none``."""


def action_text(state: Vector, action: int) -> str:
    """``keep-44``, ``keep-none``, ``keep-all``, or the category to score."""
    if action >= MARKS:
        return CATEGORIES[action - MARKS]
    kept = int(KEPT[state[IN_HAND] - HANDS, action])
    return "keep-all" if kept >= HANDS else f"keep-{DICE_TEXTS[kept]}"


def outcome_text(state: Vector, outcome: int) -> str:
    """``roll-446``; ``roll-none`` if all dice were kept."""
    return f"roll-{DICE_TEXTS[outcome]}"


def text(state: Vector) -> str:
    """The position in one line."""
    return " / ".join([*map(_board_text, _boards(state)), _turn_text(state)])


def _boards(state: Vector) -> list[list[int]]:
    boards: list[list[int]] = state[BOARDS:].reshape(-1, BOARD).tolist()
    return boards


def _board_text(board: list[int]) -> str:
    """The open or the filled categories, whichever are fewer, and the totals."""
    free, filled = categories_of(board[AVAIL]), categories_of(ALL_OPEN & ~board[AVAIL])
    word, named = ("filled", filled) if len(filled) < len(free) else ("open", free)
    names = " ".join(CATEGORIES[category] for category in named) or "none"
    return f"{word} {names} upper {board[UPPER]} total {board[TOTAL]}"


def _turn_text(state: Vector) -> str:
    if state[KIND] == TERMINAL:
        return "over"
    if state[KIND] == CHANCE and state[REROLLS] == 2:
        return f"player {state[PLAYER]} to roll"
    word = "kept" if state[KIND] == CHANCE else "dice"
    return f"player {state[PLAYER]} {word} {DICE_TEXTS[state[IN_HAND]]} rerolls {state[REROLLS]}"


def parse(line: str, players: int) -> Vector:
    """Read a position with this number of players; a missing total is the lowest possible."""
    *boards, turn = (part.strip() for part in line.split("/"))
    if len(boards) != players:
        raise PositionError(
            f"yatzy: got {len(boards)} boards in {line!r}, expected {players} and the turn, {EXAMPLE!r}"
        )
    found = re.fullmatch(r"over|player ([0-3]) (?:to roll|(dice|kept) (none|[1-6]{1,5}) rerolls ([0-2]))", turn)
    if found is None:
        raise PositionError(
            f"yatzy: cannot read the turn {turn!r}, expected 'player 0 to roll', 'player 0 dice 11234 rerolls 2', "
            f"'player 0 kept 11 rerolls 1' or 'over'"
        )
    cards = [_parse_board(board) for board in boards]
    if (turn == "over") != all(card.avail_mask == 0 for card in cards):
        raise PositionError(
            f"yatzy: got {turn!r} in {line!r}, expected 'over' when all categories are filled, and only then"
        )
    dice = None if found[2] is None else [int(die) for die in found[3] if found[3] != "none"]
    return vector_of(
        cards, dice, int(found[4] or 2 if dice is None else found[4]), int(found[1] or 0), found[2] == "kept"
    )


def _parse_board(part: str) -> Board:
    found = re.fullmatch(r"(open|filled) ([a-z_ ]+) upper ([0-9]{1,3})(?: total ([0-9]{1,3}))?", part)
    if found is None:
        raise PositionError(f"yatzy: cannot read the board {part!r}, expected e.g. {EXAMPLE.partition(' / ')[0]!r}")
    mask = 0
    for name in found[2].split() if found[2].strip() != "none" else ():
        if name not in CATEGORIES:
            raise PositionError(f"yatzy: no category {name!r}, {nearest(name, CATEGORIES)}")
        bit = 1 << (NUM_CATEGORIES - 1 - CATEGORIES.index(name))
        if mask & bit:
            raise PositionError(f"yatzy: got {name} twice in {part!r}, expected each category once")
        mask |= bit
    avail = mask if found[1] == "open" else ALL_OPEN & ~mask
    return Board(avail, int(found[3]), None if found[4] is None else int(found[4]))


def render(state: Vector) -> str:
    """The score card: open (·) and filled (■) categories, the scores of the dice, the totals, and the dice."""
    boards, mover, has_hand = _boards(state), int(state[PLAYER]), state[IN_HAND] >= HANDS
    running = state[KIND] != TERMINAL
    names = [f"{'→' if running and who == mover else ' '}player {who}" for who in range(len(boards))]
    lines = [f"{'':15}{'now':>5}  {'  '.join(names)}"]
    for category, name in enumerate(CATEGORIES):
        free = [board[AVAIL] >> (NUM_CATEGORIES - 1 - category) & 1 for board in boards]
        now = str(SCORES[state[IN_HAND] - HANDS, category]) if running and has_hand and free[mover] else ""
        lines.append(
            f"{name:15}{now:>5}  {'  '.join(f'{chr(183) if is_free else chr(9632):>6}   ' for is_free in free)}"
        )
    lines.append(f"{'upper':15}{'':>5}  {'  '.join(f'{board[UPPER]:>4}/{BONUS_FROM}  ' for board in boards)}")
    lines.append(f"{'total':15}{'':>5}  {'  '.join(f'{board[TOTAL]:>6}   ' for board in boards)}")
    return "\n".join([*(line.rstrip() for line in lines), _dice_line(state)])


def _dice_line(state: Vector) -> str:
    if state[KIND] == TERMINAL:
        return "the game is over"
    in_hand, left = int(state[IN_HAND]), int(state[REROLLS])
    dice = " ".join(DICE_TEXTS[in_hand])
    if state[KIND] == DECISION:
        return f"dice {dice}, {left} reroll{'' if left == 1 else 's'} left" if left else f"dice {dice}, to be scored"
    missing = DICE - int(SIZES[in_hand])
    to_roll = f"{missing} {'die' if missing == 1 else 'dice'} to roll"
    return f"kept {dice}, {to_roll}" if in_hand else to_roll
