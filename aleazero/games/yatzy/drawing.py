"""The picture of Yatzy: the dice, of which a click keeps one, the button to roll the others, and the score card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.dice import CANONICAL, DICE, HANDS, HISTOGRAMS, KEEP_ALL, dice_of_histogram
from aleazero.games.scene import Button, Circle, Die, Group, Label, Line, Move, Rect, Scene, Shape
from aleazero.games.yatzy.card import (
    AVAIL,
    BOARD,
    BOARDS,
    BONUS,
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
    UPPER_CATEGORIES,
    Vector,
)

WIDTH: Final = 360
DIE, DIE_STEP, DICE_TOP = 46, 52, 32
CARD_TOP, ROW = 120, 24
NOW, SEATS = 152, 176
"""Right end of the scores of the dice, and left end of the columns of the players."""
ROLL: Final = "roll"


def draw(state: Vector, clicks: Sequence[str] = ()) -> Scene:
    """The dice and the score card; ``clicks`` are the dice to keep so far."""
    dice = list(dice_of_histogram(HISTOGRAMS[state[IN_HAND]].tolist()))
    rerolling = bool(state[KIND] == DECISION and state[REROLLS] > 0)
    status = _status(state)
    shapes: list[Shape] = [Label(10, 16, status, 15, anchor="start", bold=True)]
    for place in range(DICE):
        left, face = 10 + DIE_STEP * place, dice[place] if place < len(dice) else 0
        what = f"die {place + 1}, {face}" if face else "a die before its roll"
        shapes.append(Die(left, DICE_TOP, DIE, face, part=_die(place), title=what, key=str(place + 1)))
    kept = sum(_die(place) in clicks for place in range(DICE))
    text = "keep all" if kept == DICE else f"roll {DICE - kept}" if rerolling else "roll"
    what = "keep all dice" if kept == DICE else f"roll the other {DICE - kept} dice"
    left = 10 + DIE_STEP * DICE
    shapes.append(Button(left, DICE_TOP, WIDTH - 10 - left, DIE, text, rerolling, part=ROLL, title=what, key="r"))
    hint = "Select the dice to keep, then roll." if rerolling else ""
    shapes.append(Label(10, DICE_TOP + DIE + 18, hint, 13, "faint", "start"))
    shapes += _card(state)
    return Scene(WIDTH, CARD_TOP + (NUM_CATEGORIES + 3) * ROW + 6, shapes, _moves(state), f"Yatzy, {status}")


def _die(place: int) -> str:
    return f"die{place + 1}"


def _status(state: Vector) -> str:
    player, left = int(state[PLAYER]), int(state[REROLLS])
    if state[KIND] == TERMINAL:
        totals = state[BOARDS + TOTAL :: BOARD].tolist()
        best = [str(who) for who, total in enumerate(totals) if total == max(totals)]
        won = f"player{'s' * (len(best) > 1)} {' and '.join(best)} won with {max(totals)}"
        return won if len(totals) > 1 else f"the game is over, {totals[0]} points"
    if state[KIND] == CHANCE:
        return f"player {player} rolls"
    return f"player {player}: {f'{left} reroll' + 's' * (left > 1) + ' left' if left else 'score a category'}"


def _moves(state: Vector) -> list[Move]:
    """Keep any of the 32 sets of dice and roll, or score an open category."""
    if state[KIND] != DECISION:
        return []
    if state[REROLLS] == 0:
        avail = int(state[BOARDS + BOARD * state[PLAYER] + AVAIL])
        return [Move(MARKS + category, (CATEGORIES[category],)) for category in _open_categories(avail)]
    moves = []
    for mask in range(KEEP_ALL + 1):  # sets that keep the same faces are the same action
        kept = frozenset(_die(place) for place in range(DICE) if mask >> (DICE - 1 - place) & 1)
        moves.append(Move(int(CANONICAL[state[IN_HAND] - HANDS, mask]), (kept, ROLL)))
    return moves


def _open_categories(avail: int) -> list[int]:
    return [category for category in range(NUM_CATEGORIES) if avail >> (NUM_CATEGORIES - 1 - category) & 1]


# -- the score card ----------------------------------------------------------------------------------------------------


def _card(state: Vector) -> list[Shape]:
    boards: list[list[int]] = state[BOARDS:].reshape(-1, BOARD).tolist()
    mover, running = int(state[PLAYER]), state[KIND] != TERMINAL
    width = (WIDTH - 10 - SEATS) / len(boards)
    middles = [SEATS + width * (who + 0.5) for who in range(len(boards))]
    last = CARD_TOP + (NUM_CATEGORIES + 3) * ROW
    shapes: list[Shape] = [Rect(10, CARD_TOP, WIDTH - 20, last - CARD_TOP, "board", 8)]
    if running:
        shapes.append(Rect(SEATS + width * mover, CARD_TOP, width, last - CARD_TOP, "field", 8))
    for who, middle in enumerate(middles):
        name = f"player {who}" if len(boards) < 3 else f"P{who}"
        shapes.append(Label(middle, _row(0), name, 14, bold=running and who == mover))
    for category, name in enumerate(CATEGORIES):
        shapes.append(_category(state, category, name, [board[AVAIL] for board in boards], middles))
    below = CARD_TOP + ROW * (UPPER_CATEGORIES + 1)
    shapes.append(Line(18, below, WIDTH - 18, below, "line", 1))
    below = CARD_TOP + ROW * (NUM_CATEGORIES + 1)
    shapes.append(Line(18, below, WIDTH - 18, below, "line", 1))
    upper, total = _row(NUM_CATEGORIES + 1), _row(NUM_CATEGORIES + 2)
    shapes.append(Label(18, upper, f"upper, +{BONUS} at {BONUS_FROM}", 14, anchor="start"))
    shapes.append(Label(18, total, "total", 15, anchor="start", bold=True))
    for board, middle in zip(boards, middles, strict=True):
        shapes.append(Label(middle, upper, f"{board[UPPER]}", 14))
        shapes.append(Label(middle, total, str(board[TOTAL]), 15, bold=True))
    return shapes


def _row(number: int) -> float:
    """The middle of a row of the card; 0 is the row of the names."""
    return CARD_TOP + ROW * (number + 0.5)


def _category(state: Vector, category: int, name: str, avails: list[int], middles: list[float]) -> Shape:
    """A row of the card: the name, the score of the dice, and whether each player has filled it."""
    shown, y = name.replace("_", " "), _row(category + 1)
    shapes: list[Shape] = [
        Rect(12, y - ROW / 2 + 1, WIDTH - 24, ROW - 2, "none", 5),
        Label(18, y, shown, 14, anchor="start"),
    ]
    filled = [category not in _open_categories(avail) for avail in avails]
    what = shown
    if state[KIND] == DECISION and not filled[state[PLAYER]]:
        points = int(SCORES[state[IN_HAND] - HANDS, category])
        shapes.append(Label(NOW, y, str(points), 15, "accent", "end", bold=True))
        what = f"{shown}, {points} points now"
    for who, middle in enumerate(middles):
        shapes.append(Circle(middle, y, 6, f"player{who}") if filled[who] else Circle(middle, y, 2, "line"))
    return Group(shapes, part=name, title=f"{what}, {'filled' if filled[state[PLAYER]] else 'open'}")
