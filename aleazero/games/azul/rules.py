"""Azul for two to four players: draft tiles from factories, fill lines, tile a wall.

A refill is a chain of chance nodes, one per factory; its outcome is the content of the factory. Factories are sorted
during the refill, and of equal factories only the first is drafted from, so that equal situations are equal states.
Drafted factories stay empty in their place, so that sources keep their numbers during a round. The state vector is in
``board``, scores in ``tiling``, positions from outside in ``positions``, names and texts in ``text``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError
from aleazero.games.azul import positions
from aleazero.games.azul import text as texts
from aleazero.games.azul.board import (
    BAG,
    BOARD,
    BOARDS,
    CENTRE,
    CODES,
    COLUMN,
    COMBINATIONS,
    CONTENT_OF,
    CONTENTS,
    DESTINATIONS,
    DRAFTS,
    FACTORY,
    FACTORY_TILES,
    FIRST,
    FLOOR,
    FLOOR_SIZE,
    FLOOR_SLOTS,
    KIND,
    LID,
    LINE_COLOUR,
    LINE_SIZE,
    MARKER,
    MOST_DRAFTS,
    MOST_OUTCOMES,
    NUM_COLOURS,
    NUM_ROWS,
    PLAYER,
    PLAYER_COUNTS,
    POWERS,
    ROUND,
    SCORE,
    STARTER,
    TILES_PER_COLOUR,
    TO_FLOOR,
    WALL,
    Vector,
    num_actions,
    num_factories,
)
from aleazero.games.azul.drawing import draw as draw
from aleazero.games.azul.features import BLOCK_SIZE, COMMON_SIZE, LEAD, write_features
from aleazero.games.azul.features import LEAD_UNIT as FEATURE_LEAD_UNIT
from aleazero.games.azul.policy import PRIOR_POINTS, explore, worth
from aleazero.games.azul.tiling import PENALTIES, bonus, complete_rows, tile, tile_board, wall_of
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Features, GameInfo
from aleazero.native.random import GAME_DICE, extend_key_bits, stream_key, unit, unit_bits

PLAYERS = 2
FACTORIES = 5
NEGATIVE = 0
"""1 if scores may fall below 0, else 0."""

SEAT_SIZE, LEAD_SIZE = 54, 1
TILES_SIZE = 3 * NUM_COLOURS + 2
SCORE_UNIT, LEAD_UNIT, TILING_UNIT = 100.0, 50.0, 20.0
FIRST_KEY = np.uint64(stream_key(GAME_DICE))


def describe(players: int = 2, negative_scores: bool = False) -> GameInfo:
    """Describe the game.

    Args:
        players: 2, 3 or 4.
        negative_scores: whether a score may fall below 0 at the end of a round; by the rulebook it does not.
    """
    if isinstance(players, bool) or players not in PLAYER_COUNTS:
        raise GameError(f"azul: players is {players!r}, expected 2, 3 or 4")
    if not isinstance(negative_scores, bool):
        raise GameError(f"azul: negative_scores is {negative_scores!r}, expected true or false")
    factories = num_factories(players)
    return GameInfo(
        name="azul",
        num_players=players,
        num_actions=num_actions(players),
        max_outcomes=MOST_OUTCOMES,
        utility=(-1.0 / (players - 1), 1.0),
        state_size=BOARDS + BOARD * players,
        state_dtype="int16",
        observation_size=SEAT_SIZE * players + LEAD_SIZE * (players - 1) + NUM_COLOURS * factories + TILES_SIZE,
        observation_schema=f"azul-{players}p-1",
        features=Features(
            schema=f"azul-{players}p-value-1",
            block=BLOCK_SIZE,
            common=COMMON_SIZE,
            lead=LEAD if players == 2 else None,
            lead_unit=FEATURE_LEAD_UNIT,
            point_unit=SCORE_UNIT,
        ),
        phases=("draft", "refill"),
        constants={"PLAYERS": players, "FACTORIES": factories, "NEGATIVE": int(negative_scores)},
    )


def init(state: Vector) -> None:
    """All tiles are in the bag, before the first refill. Player 0 starts."""
    state[KIND] = CHANCE
    state[ROUND] = 1
    for colour in range(NUM_COLOURS):
        state[BAG + colour] = TILES_PER_COLOUR


def kind(state: Vector) -> int:
    """CHANCE during a refill, DECISION, or TERMINAL."""
    return state[KIND]


def to_play(state: Vector) -> int:
    """The player to move; during a refill and at the end, the player that starts the next round."""
    return state[PLAYER]


def turn(state: Vector) -> int:
    """The number of drafts: each draft is a turn, and a refill belongs to the turn after it."""
    return state[DRAFTS]


def phase(state: Vector) -> int:
    """0 in a draft, 1 in a refill."""
    return 1 if state[KIND] == CHANCE else 0


# -- drafts ------------------------------------------------------------------------------------------------------------


def open_lines(state: Vector, player: int) -> int:
    """The lines of a player that can take a tile, as bits 5 × colour + line."""
    board = BOARDS + BOARD * player
    found = 0
    for row in range(NUM_ROWS):
        size, held, wall = state[board + LINE_SIZE + row], state[board + LINE_COLOUR + row], state[board + WALL + row]
        if size == row + 1:
            continue
        for colour in range(NUM_COLOURS):
            if (held == 0 or held == colour + 1) and (wall >> COLUMN[row, colour]) & 1 == 0:
                found |= 1 << (5 * colour + row)
    return found


def tiles_at(state: Vector, source: int, colour: int) -> int:
    """The number of tiles of a colour at a source, a factory or the centre."""
    if source == FACTORIES:
        return state[CENTRE + colour]
    return CONTENTS[state[FACTORY + source], colour]


def first_equal(state: Vector, source: int) -> int:
    """The first factory with the same tiles as this one; the centre is its own."""
    if source < FACTORIES:
        for other in range(source):
            if state[FACTORY + other] == state[FACTORY + source]:
                return other
    return source


def legal(state: Vector, out: Vector) -> int:
    """All drafts: from the first of equal factories or the centre, one colour, to an open line or the floor."""
    lines = open_lines(state, state[PLAYER])
    count = 0
    for source in range(FACTORIES + 1):
        if source < FACTORIES and (state[FACTORY + source] == 0 or first_equal(state, source) != source):
            continue
        for colour in range(NUM_COLOURS):
            if tiles_at(state, source, colour) > 0:
                first = (source * NUM_COLOURS + colour) * DESTINATIONS
                for row in range(NUM_ROWS):
                    if (lines >> (5 * colour + row)) & 1:
                        out[count] = first + row
                        count += 1
                out[count] = first + TO_FLOOR
                count += 1
    return count


def canonical(state: Vector, action: int) -> int:
    """The same draft from the first of equal factories; −1 if it is illegal."""
    source, colour, to = split(action)
    if tiles_at(state, source, colour) == 0:
        return -1
    if to != TO_FLOOR and (open_lines(state, state[PLAYER]) >> (5 * colour + to)) & 1 == 0:
        return -1
    return (first_equal(state, source) * NUM_COLOURS + colour) * DESTINATIONS + to


def split(action: int) -> tuple[int, int, int]:
    """The source, the colour and the destination of an action."""
    return action // (NUM_COLOURS * DESTINATIONS), action // DESTINATIONS % NUM_COLOURS, action % DESTINATIONS


def apply(state: Vector, action: int) -> None:
    """Draft tiles. After the last ones, all boards are tiled, and a refill or the end follows."""
    source, colour, to = split(action)
    source = first_equal(state, source)
    player = state[PLAYER]
    board = BOARDS + BOARD * player
    count = tiles_at(state, source, colour)
    if source == FACTORIES:
        if state[STARTER] == 0:
            state[STARTER] = player + 1
            if state[board + FLOOR_SIZE] < FLOOR_SLOTS:
                state[board + FLOOR + state[board + FLOOR_SIZE]] = MARKER
                state[board + FLOOR_SIZE] += 1
        state[CENTRE + colour] = 0
    else:
        content = state[FACTORY + source]
        state[FACTORY + source] = 0
        for other in range(NUM_COLOURS):
            if other != colour:
                state[CENTRE + other] += CONTENTS[content, other]
    if to != TO_FLOOR:
        placed = min(count, to + 1 - state[board + LINE_SIZE + to])
        state[board + LINE_SIZE + to] += placed
        state[board + LINE_COLOUR + to] = colour + 1
        count -= placed
    _drop(state, board, colour, count)
    state[DRAFTS] += 1
    if display_size(state) > 0:
        state[PLAYER] = (player + 1) % PLAYERS
    else:
        _end_round(state)


def _drop(state: Vector, board: int, colour: int, count: int) -> None:
    """Put tiles on the floor; those beyond its seven slots go to the lid."""
    placed = min(count, FLOOR_SLOTS - state[board + FLOOR_SIZE])
    for _ in range(placed):
        state[board + FLOOR + state[board + FLOOR_SIZE]] = colour + 1
        state[board + FLOOR_SIZE] += 1
    state[LID + colour] += count - placed


def display_size(state: Vector) -> int:
    """The number of factories with tiles plus the number of tiles in the centre; 0 at the end of a round."""
    size = 0
    for factory in range(FACTORIES):
        if state[FACTORY + factory] > 0:
            size += 1
    for colour in range(NUM_COLOURS):
        size += state[CENTRE + colour]
    return size


def _end_round(state: Vector) -> None:
    """Tile all boards. The game ends with a complete row, at the cap on drafts, or if there is no tile to draw."""
    rows = 0
    for player in range(PLAYERS):
        board = BOARDS + BOARD * player
        tile_board(state, board, NEGATIVE)
        rows += complete_rows(wall_of(state, board))
    state[PLAYER] = state[STARTER] - 1 if state[STARTER] > 0 else (state[PLAYER] + 1) % PLAYERS
    state[STARTER] = 0
    if rows == 0 and state[DRAFTS] < MOST_DRAFTS and total(state, BAG) + total(state, LID) > 0:
        state[KIND] = CHANCE
        state[ROUND] += 1
        return
    state[KIND] = TERMINAL
    for player in range(PLAYERS):
        board = BOARDS + BOARD * player
        state[board + SCORE] += bonus(wall_of(state, board))


# -- the refill --------------------------------------------------------------------------------------------------------


def total(state: Vector, place: int) -> int:
    """The number of tiles in the bag, the lid or the centre."""
    count = 0
    for colour in range(NUM_COLOURS):
        count += state[place + colour]
    return count


def outcomes(state: Vector, ids: Vector, probabilities: NDArray[np.float64]) -> int:
    """The contents of the next factory, with hypergeometric probabilities.

    A bag with fewer than four tiles is emptied into the factory, and the other tiles are drawn from the lid.
    """
    left = total(state, BAG)
    if left >= FACTORY_TILES:
        return _list_draws(state, BAG, left, FACTORY_TILES, 0, ids, probabilities)
    code = 0
    for colour in range(NUM_COLOURS):
        code += POWERS[colour] * state[BAG + colour]
    left_in_lid = total(state, LID)
    wanted = min(FACTORY_TILES - left, left_in_lid)
    return _list_draws(state, LID, left_in_lid, wanted, code, ids, probabilities)


def _list_draws(
    state: Vector, place: int, size: int, wanted: int, code: int, ids: Vector, probabilities: NDArray[np.float64]
) -> int:
    """List the draws of ``wanted`` of ``size`` tiles at a place; ``code`` stands for tiles that are already drawn."""
    count = 0
    ways = COMBINATIONS[size, wanted]
    for content in range(FIRST[wanted], FIRST[wanted + 1]):
        share = 1.0
        for colour in range(NUM_COLOURS):
            share *= COMBINATIONS[state[place + colour], CONTENTS[content, colour]]
        if share > 0.0:
            ids[count] = CONTENT_OF[code + CODES[content]]
            probabilities[count] = share / ways
            count += 1
    return count


def sample(state: Vector, u: float) -> int:
    """A content of the next factory for a uniform number u in [0, 1): four tiles one after the other."""
    left = total(state, BAG)
    place, size, wanted, code = BAG, left, FACTORY_TILES, 0
    if left < FACTORY_TILES:
        place, size = LID, total(state, LID)
        wanted = min(FACTORY_TILES - left, size)
        for colour in range(NUM_COLOURS):
            code += POWERS[colour] * state[BAG + colour]
    drawn = 0
    for i in range(wanted):
        at = u * (size - i)  # the tile at this number in the bag, and its fraction for the next draw
        last = -1
        below = 0
        for colour in range(NUM_COLOURS):
            count = state[place + colour] - CONTENTS[CONTENT_OF[drawn], colour]
            if count > 0:
                last = colour
                if at < below + count:
                    break
                below += count
        u = min(1.0, max(0.0, (at - below) / (state[place + last] - CONTENTS[CONTENT_OF[drawn], last])))
        drawn += POWERS[last]
    return CONTENT_OF[code + drawn]


def apply_outcome(state: Vector, outcome: int) -> None:
    """Fill the next factory. After the last one, or without tiles, the round begins."""
    if total(state, BAG) < FACTORY_TILES:
        for colour in range(NUM_COLOURS):
            state[BAG + colour] += state[LID + colour]
            state[LID + colour] = 0
    for colour in range(NUM_COLOURS):
        state[BAG + colour] -= CONTENTS[outcome, colour]
    filled = 1
    held = outcome
    for factory in range(FACTORIES):  # insert it into the factories, which are in descending order
        if state[FACTORY + factory] > 0:
            filled += 1
        if state[FACTORY + factory] < held:
            held, state[FACTORY + factory] = state[FACTORY + factory], held
    if filled == FACTORIES or total(state, BAG) + total(state, LID) == 0:
        state[KIND] = DECISION


def played_outcome(state: Vector, seed: int, count: int) -> int:
    """The factory of a played game, derived from seed, round and factory; ``count`` is not used.

    While the bag of the start lasts, all games with the same seed therefore have the same refills.
    """
    return sample(state, unit(stream_key(GAME_DICE, seed, int(state[ROUND]), filled_factories(state))))


def played_outcome_bits(state: Vector, seed: Any, count: int) -> int:
    """``played_outcome`` for a seed of type uint64; compiled."""
    key = extend_key_bits(FIRST_KEY, seed)
    key = extend_key_bits(key, np.uint64(state[ROUND]))
    return sample(state, unit_bits(extend_key_bits(key, np.uint64(filled_factories(state)))))


def filled_factories(state: Vector) -> int:
    """The number of factories with tiles."""
    filled = 0
    for factory in range(FACTORIES):
        if state[FACTORY + factory] > 0:
            filled += 1
    return filled


# -- results -----------------------------------------------------------------------------------------------------------


def returns(state: Vector, out: NDArray[np.float64]) -> None:
    """0 before the end; then 1 for the winner, −1 shared by the others. Tied winners get the mean of their places.

    Equal scores are decided by the number of complete rows.
    """
    best, winners = 0, 0
    for player in range(PLAYERS):
        out[player] = 0.0
        rank = _rank(state, player)
        if winners == 0 or rank > best:
            best = rank
            winners = 0
        if rank == best:
            winners += 1
    if state[KIND] != TERMINAL:
        return
    lost = -1.0 / (PLAYERS - 1)
    won = (1.0 + (winners - 1) * lost) / winners
    for player in range(PLAYERS):
        out[player] = won if _rank(state, player) == best else lost


def _rank(state: Vector, player: int) -> int:
    """A number that is higher for the better of two final boards."""
    board = BOARDS + BOARD * player
    return (NUM_ROWS + 1) * state[board + SCORE] + complete_rows(wall_of(state, board))


def standing(state: Vector, player: int) -> int:
    """The score of a player if the game ended with this board: full lines are tiled, floor and bonuses count."""
    board = BOARDS + BOARD * player
    if state[KIND] == TERMINAL:
        return state[board + SCORE]
    score, wall = tile(state, board, NEGATIVE)
    return score + bonus(wall)


def points(state: Vector, out: NDArray[np.float64]) -> None:
    """The scores that the players would have if the game ended with these boards, in units of 100 points."""
    for player in range(PLAYERS):
        out[player] = standing(state, player) / SCORE_UNIT


# -- a fixed policy ----------------------------------------------------------------------------------------------------


def playout(state: Vector, actions: Vector, count: int, u: float) -> int:
    """The greedy action, or with probability 0.2 a random one; see ``policy``."""
    return explore(state, actions, count, u)


def prior_logit(state: Vector, action: int) -> float:
    """Half of the greedy worth of an action, in points; see ``policy``."""
    return worth(state, action) / PRIOR_POINTS


# -- observations ------------------------------------------------------------------------------------------------------


def observe(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """The boards, starting with the player's own, then the leads and the tiles on display; see docs/games/azul.md."""
    own_points = standing(state, player)
    at = 0
    for seat in range(PLAYERS):
        who = (player + seat) % PLAYERS
        board = BOARDS + BOARD * who
        for row in range(NUM_ROWS):
            wall, held = state[board + WALL + row], state[board + LINE_COLOUR + row]
            for column in range(NUM_ROWS):
                out[at + 5 * row + column] = (wall >> column) & 1
            for colour in range(NUM_COLOURS):
                out[at + 25 + 5 * row + colour] = 0.0
            if held > 0:
                out[at + 24 + 5 * row + held] = state[board + LINE_SIZE + row] / (row + 1.0)
        floor = state[board + FLOOR_SIZE]
        out[at + 50] = PENALTIES[floor] / 14.0
        out[at + 51] = 1.0 if state[STARTER] == who + 1 else 0.0
        out[at + 52] = state[board + SCORE] / SCORE_UNIT
        out[at + 53] = (standing(state, who) - state[board + SCORE]) / TILING_UNIT
        at += SEAT_SIZE
    for seat in range(1, PLAYERS):
        out[at] = (own_points - standing(state, (player + seat) % PLAYERS)) / LEAD_UNIT
        at += LEAD_SIZE
    for factory in range(FACTORIES):
        for colour in range(NUM_COLOURS):
            out[at + colour] = CONTENTS[state[FACTORY + factory], colour] / 4.0
        at += NUM_COLOURS
    for colour in range(NUM_COLOURS):
        out[at + colour] = state[CENTRE + colour] / 10.0
        out[at + 5 + colour] = state[BAG + colour] / float(TILES_PER_COLOUR)
        out[at + 10 + colour] = state[LID + colour] / float(TILES_PER_COLOUR)
    out[at + 15] = 1.0 if state[STARTER] == 0 else 0.0
    out[at + 16] = 1.0 if state[KIND] == CHANCE else 0.0


def features(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """Inputs of value networks: the boards and how the display fits them, then tiles and round."""
    write_features(state, player, PLAYERS, FACTORIES, NEGATIVE, out)


# -- texts and positions -----------------------------------------------------------------------------------------------


def check(state: Vector) -> None:
    """Reject numbers that break the rules, such as tiles that do not add up to 20 of each colour."""
    positions.check(state, PLAYERS, NEGATIVE == 1)


def action_text(state: Vector, action: int) -> str:
    """``F1 blue 3``: source, colour and line; ``centre red floor``."""
    return texts.action_text(action, FACTORIES)


def parse_action(state: Vector, line: str) -> int:
    """Read other spellings of a draft: ``f1 b 3``, ``F1-blue-3``, ``c r f``."""
    return texts.parse_action(line, FACTORIES)


def outcome_text(state: Vector, outcome: int) -> str:
    """The tiles of the factory: ``bbyk``."""
    return texts.outcome_text(outcome)


def text(state: Vector) -> str:
    """The position in one line."""
    return texts.text(state)


def parse(line: str) -> Vector:
    """Read what ``text`` writes."""
    return texts.parse(line, PLAYERS)


def render(state: Vector) -> str:
    """The tiles on display, and the boards side by side."""
    return texts.render(state)
