"""Yatzy: up to three rolls per turn, then one of fifteen categories is scored; the highest total wins.

These are the Scandinavian rules for one to four players. In the one-player game the return is the score. Every roll is
a chance node, including the first of a turn. A turn has two keep decisions; if all dice are kept, the roll after it has
one outcome. Scores and positions are in ``card``, names and texts in ``text``, and solved turns in ``turn``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Features, GameInfo
from aleazero.games.dice import (
    ADD,
    CANONICAL,
    CHANCES,
    DICE,
    FACES,
    FIRST,
    HAND_AFTER,
    HANDS,
    HISTOGRAMS,
    KEEPS,
    KEPT,
    NUM_KEEPS,
    NUMBERS,
    ROLLS_FROM,
    SIZES,
    draw_roll,
)
from aleazero.games.yatzy.card import (
    ABOVE_PAR,
    AIM,
    ALL_OPEN,
    AVAIL,
    BOARD,
    BOARDS,
    BONUS,
    BONUS_FROM,
    HIGHEST_TOTAL,
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
    Board,
    vector_of,
)
from aleazero.games.yatzy.card import check as check
from aleazero.games.yatzy.card import multiset as multiset
from aleazero.games.yatzy.drawing import draw as draw
from aleazero.games.yatzy.text import action_text as action_text
from aleazero.games.yatzy.text import outcome_text as outcome_text
from aleazero.games.yatzy.text import parse as parse_line
from aleazero.games.yatzy.text import render as render
from aleazero.games.yatzy.text import text as text
from aleazero.native.random import GOLDEN, GOLDEN_BITS, MASK, mix, mix_bits

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

Vector = NDArray[np.int64]

PLAYERS = 2

NUM_ACTIONS = MARKS + NUM_CATEGORIES
MOST_REROLLS = 2

SEAT_SIZE = 2 * NUM_CATEGORIES + 8
"""Numbers of an observation per player; the numbers of the dice follow after all players."""
SCORE_UNIT = 50.0
LOWER_CATEGORIES = NUM_CATEGORIES - UPPER_CATEGORIES
DICE_SIZE = FACES + 1 + MOST_REROLLS + 1 + 1
UPPER_STEP = 3
CARD_SIZE = NUM_CATEGORIES + 1 + BONUS_FROM // UPPER_STEP
"""Features of one player's card; the leads over the other players follow after all cards."""
LEAD_SIZE, LEAD_UNIT = 4, 100.0

ROLL_NUMBERS = np.zeros((DICE + 1, FIRST[DICE + 1] - FIRST[DICE]), np.int64)
"""(6, 252) the rolls of 0, 1, … 5 dice."""
ROLL_CHANCES = np.zeros(ROLL_NUMBERS.shape)
"""(6, 252) their probabilities."""
for _dice in range(DICE + 1):
    _rolls = slice(FIRST[_dice], FIRST[_dice + 1])
    ROLL_NUMBERS[_dice, : _rolls.stop - _rolls.start] = NUMBERS[_rolls]
    ROLL_CHANCES[_dice, : _rolls.stop - _rolls.start] = CHANCES[_rolls]

# Tables of numbers in observations, which save a division each.
SHOWN_SCORES = (SCORES / SCORE_UNIT).astype(np.float32)
"""(252, 15) by hand and category."""
SHOWN_WITH_BONUS = ((SCORES + float(BONUS)) / SCORE_UNIT).astype(np.float32)
"""(252, 15) with the bonus."""
SHOWN_FACES = (HISTOGRAMS / DICE).astype(np.float32)
"""(462, 6) by multiset and face."""
NUM_OPEN = np.array([mask.bit_count() for mask in range(1 << LOWER_CATEGORIES)], np.int64)
"""(512,) number of open categories in a part of an availability mask."""
OPEN_FACES = np.array([sum(6 - bit for bit in range(6) if mask >> bit & 1) for mask in range(64)], np.int64)
"""(64,) sum of the faces whose upper categories are open, by the first six bits of an availability mask."""


def describe(players: int = 2) -> GameInfo:
    """Describe the game for 1 to 4 ``players``."""
    if isinstance(players, bool) or not isinstance(players, int) or not 1 <= players <= 4:
        raise GameError(f"yatzy: players is {players!r}, expected an integer from 1 to 4")
    return GameInfo(
        name="yatzy",
        num_players=players,
        num_actions=NUM_ACTIONS,
        max_outcomes=FIRST[DICE + 1] - FIRST[DICE],
        utility=(0.0, float(HIGHEST_TOTAL)) if players == 1 else (-1.0 / (players - 1), 1.0),
        state_size=BOARDS + BOARD * players,
        state_dtype="int16",
        observation_size=SEAT_SIZE * players + DICE_SIZE,
        observation_schema=f"yatzy-{players}p-1",
        decision_classes=("reroll", "mark"),
        features=Features(
            schema=f"yatzy-{players}p-cards-1",
            block=CARD_SIZE,
            common=LEAD_SIZE * (players - 1),
            lead=0 if players == 2 else None,
            lead_unit=LEAD_UNIT,
            point_unit=float(HIGHEST_TOTAL),
        ),
        constants={"PLAYERS": players},
    )


def init(state: Vector) -> None:
    """All categories are open, before the first roll of player 0."""
    for player in range(PLAYERS):
        state[BOARDS + BOARD * player + AVAIL] = ALL_OPEN
    state[REROLLS] = MOST_REROLLS
    state[KIND] = CHANCE


def kind(state: Vector) -> int:
    """CHANCE before a roll, DECISION, or TERMINAL."""
    return state[KIND]


def to_play(state: Vector) -> int:
    """The player whose turn it is, also at chance nodes; player 0 at the end."""
    return state[PLAYER]


def viewer(state: Vector) -> int:
    """The player who acted last: the player to move, but between turns the player before."""
    player = state[PLAYER]
    between_turns = state[KIND] == TERMINAL or (state[KIND] == CHANCE and state[REROLLS] == MOST_REROLLS)
    if between_turns and state[BOARDS + AVAIL] != ALL_OPEN:
        return (player + PLAYERS - 1) % PLAYERS
    return player


def decision_class(state: Vector) -> int:
    """0 if dice are kept, 1 if a category is scored."""
    return 1 if state[REROLLS] == 0 else 0


def turn(state: Vector) -> int:
    """A unique number for every turn, from the mover and the mover's open categories."""
    player = state[PLAYER]
    return state[BOARDS + BOARD * player + AVAIL] * PLAYERS + player


def legal(state: Vector, out: Vector) -> int:
    """The canonical keep masks while rerolls are left; then the open categories."""
    if state[REROLLS] > 0:
        hand = state[IN_HAND] - HANDS
        for i in range(NUM_KEEPS[hand]):
            out[i] = KEEPS[hand, i]
        return NUM_KEEPS[hand]
    avail = state[BOARDS + BOARD * state[PLAYER] + AVAIL]
    count = 0
    for category in range(NUM_CATEGORIES):
        if is_open(avail, category):
            out[count] = MARKS + category
            count += 1
    return count


def canonical(state: Vector, action: int) -> int:
    """The smallest mask that keeps the same dice; scoring an open category is its own canonical action."""
    if state[REROLLS] > 0:
        return CANONICAL[state[IN_HAND] - HANDS, action] if action < MARKS else -1
    if action >= MARKS and is_open(state[BOARDS + BOARD * state[PLAYER] + AVAIL], action - MARKS):
        return action
    return -1


def is_open(avail: int, category: int) -> bool:
    """Whether an availability mask has a category open."""
    return (avail >> (NUM_CATEGORIES - 1 - category)) & 1 == 1


def gain(category: int, score: int, upper: int) -> int:
    """The points of scoring a category: the score, plus the bonus if the upper total reaches 63 with it."""
    if category < UPPER_CATEGORIES and upper < BONUS_FROM and upper + score >= BONUS_FROM:
        return score + BONUS
    return score


def apply(state: Vector, action: int) -> None:
    """Keeping dice leads to a chance node; scoring a category passes the turn or ends the game."""
    hand = state[IN_HAND] - HANDS
    if action < MARKS:
        state[IN_HAND] = KEPT[hand, action]
        state[REROLLS] -= 1
        state[KIND] = CHANCE
        return
    category = action - MARKS
    score = SCORES[hand, category]
    board = BOARDS + BOARD * state[PLAYER]
    state[board + TOTAL] += gain(category, score, state[board + UPPER])
    if category < UPPER_CATEGORIES:
        state[board + UPPER] = min(BONUS_FROM, state[board + UPPER] + score)
    state[board + AVAIL] -= 1 << (NUM_CATEGORIES - 1 - category)
    state[IN_HAND] = 0
    state[REROLLS] = MOST_REROLLS
    state[PLAYER] = (state[PLAYER] + 1) % PLAYERS
    # The last player is the last to fill the card.
    state[KIND] = TERMINAL if state[BOARDS + BOARD * (PLAYERS - 1) + AVAIL] == 0 else CHANCE


def outcomes(state: Vector, ids: Vector, probabilities: NDArray[np.float64]) -> int:
    """All rolls of the missing dice; the empty roll if none is missing."""
    missing = DICE - SIZES[state[IN_HAND]]
    first = FIRST[missing]
    count = FIRST[missing + 1] - first
    numbers, chances = ROLL_NUMBERS[missing], ROLL_CHANCES[missing]
    for i in range(count):  # compiled, this copies several numbers at a time, unlike a slice
        ids[i] = numbers[i]
        probabilities[i] = chances[i]
    return count


def sample(state: Vector, u: float) -> int:
    """A roll for a uniform number u in [0, 1)."""
    return draw_roll(DICE - SIZES[state[IN_HAND]], u)


def apply_outcome(state: Vector, outcome: int) -> None:
    """Add the rolled dice to those that were kept."""
    kept = state[IN_HAND]
    state[IN_HAND] = HAND_AFTER[ROLLS_FROM[kept] + outcome - FIRST[DICE - SIZES[kept]]]
    state[KIND] = DECISION


def returns(state: Vector, out: NDArray[np.float64]) -> None:
    """One player: the score so far. Else 0 before the end; then 1 for the winner, −1 shared by the others.

    Tied winners get the mean of their places.
    """
    if PLAYERS == 1:
        out[0] = state[BOARDS + TOTAL]
        return
    best = 0
    winners = 0
    for player in range(PLAYERS):
        out[player] = 0.0
        total = state[BOARDS + BOARD * player + TOTAL]
        if total > best:
            best = total
            winners = 0
        if total == best:
            winners += 1
    if state[KIND] != TERMINAL:
        return
    lost = -1.0 / (PLAYERS - 1)
    won = (1.0 + (winners - 1) * lost) / winners
    for player in range(PLAYERS):
        out[player] = won if state[BOARDS + BOARD * player + TOTAL] == best else lost


def points(state: Vector, out: NDArray[np.float64]) -> None:
    """The totals as fractions of the highest total; 0 in the one-player game, whose return is the total."""
    for player in range(PLAYERS):
        out[player] = state[BOARDS + BOARD * player + TOTAL] / HIGHEST_TOTAL if PLAYERS > 1 else 0.0


def playout(state: Vector, actions: Vector, count: int, u: float) -> int:
    """Aim at the open category with the highest expected score above par: keep dice for it, then score it."""
    rerolls, hand = state[REROLLS], state[IN_HAND] - HANDS
    avail = state[BOARDS + BOARD * state[PLAYER] + AVAIL]
    aim = -1
    for category in range(NUM_CATEGORIES):
        if is_open(avail, category) and (aim < 0 or ABOVE_PAR[rerolls, hand, category] > ABOVE_PAR[rerolls, hand, aim]):
            aim = category
    return MARKS + aim if rerolls == 0 else AIM[rerolls - 1, hand, aim]


def observe(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """The cards, starting with the player's own, then the dice; the layout is in docs/games/yatzy.md."""
    in_hand = state[IN_HAND]
    own_total = state[BOARDS + BOARD * player + TOTAL]
    at = 0
    for seat in range(PLAYERS):
        who = (player + seat) % PLAYERS
        board = BOARDS + BOARD * who
        avail, upper, total = state[board + AVAIL], state[board + UPPER], state[board + TOTAL]
        upper_open, lower_open = avail >> LOWER_CATEGORIES, avail & ((1 << LOWER_CATEGORIES) - 1)
        open_count = NUM_OPEN[upper_open] + NUM_OPEN[lower_open]
        open_faces = OPEN_FACES[upper_open]
        for category in range(NUM_CATEGORIES):
            out[at + category] = (avail >> (NUM_CATEGORIES - 1 - category)) & 1
            out[at + NUM_CATEGORIES + category] = 0.0
        if in_hand >= HANDS:
            hand = in_hand - HANDS
            for category in range(NUM_CATEGORIES):
                out[at + NUM_CATEGORIES + category] = SHOWN_SCORES[hand, category] * out[at + category]
            if upper < BONUS_FROM and upper + DICE * FACES >= BONUS_FROM:
                for category in range(UPPER_CATEGORIES):
                    if is_open(avail, category) and upper + SCORES[hand, category] >= BONUS_FROM:
                        out[at + NUM_CATEGORIES + category] = SHOWN_WITH_BONUS[hand, category]
        at += 2 * NUM_CATEGORIES
        out[at] = upper / BONUS_FROM
        out[at + 1] = (BONUS_FROM - upper) / BONUS_FROM
        out[at + 2] = (upper + 3 * open_faces - BONUS_FROM) / BONUS_FROM
        out[at + 3] = 1.0 if upper + DICE * open_faces >= BONUS_FROM else 0.0
        out[at + 4] = total / HIGHEST_TOTAL
        out[at + 5] = (own_total - total) / 100.0
        out[at + 6] = open_count / NUM_CATEGORIES
        out[at + 7] = 1.0 if who == state[PLAYER] else 0.0
        at += 8
    for face in range(FACES):
        out[at + face] = SHOWN_FACES[in_hand, face]
    out[at + FACES] = (DICE - SIZES[in_hand]) / DICE
    for rerolls in range(MOST_REROLLS + 1):
        out[at + FACES + 1 + rerolls] = 1.0 if state[REROLLS] == rerolls else 0.0
    out[at + DICE_SIZE - 1] = 1.0 if state[KIND] == CHANCE else 0.0


def features(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """Open categories and progress to the bonus of each card, then the leads in points."""
    own_total = state[BOARDS + BOARD * player + TOTAL]
    leads = CARD_SIZE * PLAYERS
    for seat in range(PLAYERS):
        board = BOARDS + BOARD * ((player + seat) % PLAYERS)
        avail, upper = state[board + AVAIL], state[board + UPPER]
        at = CARD_SIZE * seat
        for category in range(NUM_CATEGORIES):
            out[at + category] = 1.0 if is_open(avail, category) else 0.0
        out[at + NUM_CATEGORIES] = upper / BONUS_FROM
        for step in range(BONUS_FROM // UPPER_STEP):
            out[at + NUM_CATEGORIES + 1 + step] = 1.0 if upper >= UPPER_STEP * (step + 1) else 0.0
        if seat > 0:
            lead = float(own_total - state[board + TOTAL])
            at = leads + LEAD_SIZE * (seat - 1)
            out[at] = lead / LEAD_UNIT
            out[at + 1] = math.tanh(lead / 10.0)
            out[at + 2] = math.tanh(lead / 30.0)
            out[at + 3] = math.tanh(lead / 80.0)


PLAYER_KEY, FILLED_KEY, ROLL_KEY = 0xD6E8FEB86659FD93, 0xA5A35625E4F7C1AD, 0x9E3779B97F4A7C15
PLAYER_BITS, FILLED_BITS, ROLL_BITS = np.uint64(PLAYER_KEY), np.uint64(FILLED_KEY), np.uint64(ROLL_KEY)


def event_dice(seed: int, player: int, filled: int, roll: int, dice: int = DICE) -> list[int]:
    """Return the game dice of one roll, which depend on the seed and the event only.

    The key of the event is mixed once into the start of a SplitMix64 stream, whose first draws modulo 6 are the dice.
    A reroll of k dice takes the first k.

    Args:
        seed: seed of the game.
        player: the player who rolls.
        filled: number of categories that the player has filled.
        roll: 0, 1 or 2, the number of the roll in the turn.
        dice: number of dice to return.

    Returns:
        Faces from 1 to 6.
    """
    key = (seed ^ player * PLAYER_KEY ^ filled * FILLED_KEY ^ roll * ROLL_KEY) & MASK
    start = mix((key + GOLDEN) & MASK)
    return [mix((start + draw * GOLDEN) & MASK) % FACES + 1 for draw in range(1, dice + 1)]


def played_outcome(state: Vector, seed: int, count: int) -> int:
    """The roll of a played game, derived from seed, player, turn and roll; ``count`` is not used."""
    numbers = state.tolist()  # reading single numbers of an array is slow
    player = numbers[PLAYER]
    filled = NUM_CATEGORIES - numbers[BOARDS + BOARD * player + AVAIL].bit_count()
    missing = DICE - _SIZES[numbers[IN_HAND]]
    rolled = 0
    for face in event_dice(seed, player, filled, MOST_REROLLS - numbers[REROLLS], missing):
        rolled = _ADD[rolled][face - 1]
    return rolled


_SIZES, _ADD = SIZES.tolist(), ADD.tolist()


def played_outcome_bits(state: Vector, seed: Any, count: int) -> int:
    """``played_outcome`` for a seed of type uint64; compiled."""
    player = np.uint64(state[PLAYER])
    avail = state[BOARDS + BOARD * state[PLAYER] + AVAIL]
    open_count = NUM_OPEN[avail >> LOWER_CATEGORIES] + NUM_OPEN[avail & ((1 << LOWER_CATEGORIES) - 1)]
    filled, roll = np.uint64(NUM_CATEGORIES - open_count), np.uint64(MOST_REROLLS - state[REROLLS])
    key = seed ^ player * PLAYER_BITS ^ filled * FILLED_BITS ^ roll * ROLL_BITS
    start = mix_bits(key + GOLDEN_BITS)
    rolled = 0
    for number in range(1, DICE - SIZES[state[IN_HAND]] + 1):
        rolled = ADD[rolled, mix_bits(start + np.uint64(number) * GOLDEN_BITS) % np.uint64(FACES)]
    return rolled


def parse(line: str) -> Vector:
    """Read what ``text`` writes."""
    return parse_line(line, PLAYERS)


def from_position(
    boards: Sequence[Board | tuple[int, ...]],
    *,
    dice: Sequence[int] | None = None,
    rerolls_left: int = MOST_REROLLS,
    player: int = 0,
    rolling: bool = False,
) -> KernelState:
    """Return a state from boards and dice.

    Args:
        boards: one per player, as ``Board`` or (avail_mask, upper_total, total). A missing total is the lowest one
            possible.
        dice: five dice at a decision; the kept dice (0 to 5) with ``rolling``; None before the first roll of a turn and
            at the end.
        rerolls_left: 0, 1 or 2; with ``rolling``, the rerolls left after this roll.
        player: the player whose turn it is.
        rolling: whether the other dice are about to be rolled.

    Returns:
        The state of Yatzy for this number of players.

    Raises:
        PositionError: no play reaches the position.
    """
    from aleazero.games.registry import load_game

    vector = vector_of(boards, dice, rerolls_left, player, rolling)
    return cast("KernelGame", load_game("yatzy", players=len(boards))).state_from_vector(vector)


def turn_solver(game: KernelGame) -> Any:
    """Solver of turns for the planner."""
    from aleazero.games.yatzy.turn import YatzyTurns

    return YatzyTurns(game)


def turn_lanes(game: KernelGame) -> Any:
    """Player of turns in many games at once, for training."""
    from aleazero.games.yatzy.lanes import YatzyLanes

    return YatzyLanes(game)
