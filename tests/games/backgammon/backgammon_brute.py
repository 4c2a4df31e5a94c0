"""A slow reference implementation of backgammon's moves, written from the rules alone, and positions for tests.

A board is (own, other): 26 counts each from the own view, index 0 is off, 1 to 24 are points, 25 is the bar.
"""

import random
from contextlib import suppress

from aleazero.errors import PositionError
from aleazero.games.backgammon import from_position, to_position

OFF, BAR = 0, 25


def board_of(state, player):
    """Return the board of a state from the view of a player."""
    points, bar, off = to_position(state, player)
    own = [off[0], *(max(0, n) for n in points), bar[0]]
    other = [off[1], *(max(0, -n) for n in reversed(points)), bar[1]]
    return tuple(own), tuple(other)


def half_moves(board, die):
    """Return all boards after one half-move with a die."""
    own, other = board
    found = []
    for start in range(1, BAR + 1):
        if own[start] == 0 or (own[BAR] > 0 and start != BAR):
            continue
        end = start - die
        if end >= 1:
            if other[25 - end] >= 2:
                continue
        elif sum(own[7:]) > 0 or (end < 0 and sum(own[start + 1 :]) > 0):
            continue
        mine, theirs = list(own), list(other)
        mine[start] -= 1
        mine[max(end, OFF)] += 1
        if end >= 1 and theirs[25 - end] == 1:
            theirs[25 - end] = 0
            theirs[BAR] += 1
        found.append((tuple(mine), tuple(theirs)))
    return found


def final_boards(board, dice):
    """Return the boards after all legal moves: as many dice as possible, and the higher one if only one is possible."""
    high, low = max(dice), min(dice)
    orders = [[high] * 4] if high == low else [[high, low], [low, high]]
    by_dice = {}  # number of dice used and the first die -> boards
    for order in orders:
        level = {board}
        by_dice.setdefault((0, 0), set()).add(board)
        for used, die in enumerate(order, 1):
            level = {after for before in level for after in half_moves(before, die)}
            by_dice.setdefault((used, order[0] if used == 1 else 0), set()).update(level)
    used, _ = max((key for key, boards in by_dice.items() if boards))
    if used == 1:
        die = max(die for (count, die), boards in by_dice.items() if count == 1 and boards)
        return by_dice[1, die]
    return by_dice[used, 0]


def our_final_boards(state):
    """Return the boards after all complete moves of our rules, from the view of the mover."""
    mover, found, waiting, seen = state.current_player(), set(), [state], set()
    while waiting:
        now = waiting.pop()
        for action in now.legal_actions():
            after = now.clone()
            after._apply(action)
            if after.current_player() != mover:
                found.add(board_of(after, mover))
            elif after.key() not in seen:
                seen.add(after.key())
                waiting.append(after)
    return found


def random_position(draw, checkers=15):
    """Return a random position with dice: crowded or spread out, with checkers on the bar and off, either seat."""
    own_off, other_off = (draw.choice((0, 0, 0, draw.randrange(checkers))) for _ in range(2))
    points, bar = [0] * 24, [0, 0]
    kind = draw.randrange(4)
    spans = {0: (24, 24), 1: (6, 24), 2: (6, 6), 3: (12, 20)}[kind]
    for sign, span, off in ((1, spans[0], own_off), (-1, spans[1], other_off)):
        for _ in range(checkers - off):
            while True:
                if draw.random() < 0.04:
                    bar[sign < 0] += 1
                    break
                place = draw.randint(1, span)
                at = place - 1 if sign > 0 else 24 - place
                if points[at] * sign >= 0:
                    points[at] += sign
                    break
    dice = (draw.randint(1, 6), draw.randint(1, 6))
    return from_position(points, bar, (own_off, other_off), dice, player=draw.randrange(2))


def play_positions(game, draw, games):
    """Yield the decisions of random games."""
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(state.sample_outcome(draw.random()))
                continue
            yield state.clone()
            state._apply(draw.choice(state.legal_actions()))


def make_positions(seed, count):
    """Return random positions with dice that the game accepts."""
    draw, found = random.Random(seed), []
    while len(found) < count:
        with suppress(PositionError):  # both players on the bar against closed boards
            found.append(random_position(draw))
    return found
