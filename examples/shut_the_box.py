"""Shut the box: roll two dice and shut tiles that sum to the roll, until no tiles fit. The score is their sum.

The tutorial `docs/start/train.md` trains a nearly perfect player of this game.
"""

import numpy as np

from aleazero import CHANCE, DECISION, TERMINAL, GameError, GameInfo, PositionError
from aleazero.games.scene import Label, Move, Scene, Tile

TILES = 9  # the parameter `tiles` changes it; some sets have 12
SUMS = np.array([sum(tile + 1 for tile in range(12) if tiles >> tile & 1) for tiles in range(2**12)])

# The state vector: the shut tiles as bits, their sum, the roll, and the kind of state.
SHUT, SUM, ROLL, KIND = 0, 1, 2, 3


def describe(tiles: int = 9) -> GameInfo:
    """Name and sizes of the game."""
    if not 2 <= tiles <= 12:
        raise GameError(f"shut_the_box: tiles is {tiles}, expected 2 to 12")
    return GameInfo(
        name="shut_the_box",
        num_players=1,
        num_actions=2**tiles,
        max_outcomes=11,
        utility=(0.0, tiles * (tiles + 1) / 2),
        state_size=4,
        observation_size=tiles + 1,
        constants={"TILES": tiles},
    )


def init(state):
    state[KIND] = CHANCE  # the game starts with a roll


def kind(state):
    return state[KIND]


def to_play(state):
    return 0


def legal(state, out):
    """An action is a set of open tiles, as bits, that sum to the roll."""
    count = 0
    for tiles in range(1, 1 << TILES):
        if tiles & state[SHUT] == 0 and SUMS[tiles] == state[ROLL]:
            out[count] = tiles
            count += 1
    return count


def apply(state, action):
    state[SHUT] |= action
    state[SUM] += state[ROLL]
    state[ROLL] = 0  # boards that differ only in earlier rolls are the same state
    state[KIND] = CHANCE if state[SHUT] != (1 << TILES) - 1 else TERMINAL


def outcomes(state, ids, probabilities):
    for roll in range(2, 13):
        ids[roll - 2] = roll
        probabilities[roll - 2] = (6 - abs(roll - 7)) / 36
    return 11


def apply_outcome(state, outcome):
    state[ROLL] = outcome
    state[KIND] = DECISION if _fits(state) else TERMINAL


def _fits(state):
    """Whether a set of open tiles sums to the roll."""
    found = False
    for tiles in range(1, 1 << TILES):
        if tiles & state[SHUT] == 0 and SUMS[tiles] == state[ROLL]:
            found = True
    return found


def returns(state, out):
    out[0] = state[SUM]


def observe(state, player, out):
    """The input of networks: the shut tiles, and the roll."""
    for tile in range(TILES):
        out[tile] = state[SHUT] >> tile & 1
    out[TILES] = state[ROLL] / 12


def action_text(state, action):
    return "-".join(str(tile + 1) for tile in range(TILES) if action >> tile & 1)


def draw(state):
    """The picture. A click shuts a tile; an action is a set of tiles, which are clicked in any order."""
    roll = f"roll {state[ROLL]}" if state[ROLL] else "to roll"
    shapes = [Label(10, 20, roll, 20, anchor="start"), Label(350, 20, f"sum {state[SUM]}", 20, anchor="end")]
    width = 340 / TILES
    for tile in range(TILES):
        name, color = str(tile + 1), "field" if state[SHUT] >> tile & 1 else "paper"
        shapes.append(Tile(10 + width * tile, 44, width - 3, 60, name, color, 16, part=name, title=f"tile {name}"))
    actions = np.zeros(2**TILES, np.int64)
    count = legal(state, actions) if state[KIND] == DECISION else 0
    moves = [Move(int(action), (frozenset(action_text(state, action).split("-")),)) for action in actions[:count]]
    return Scene(360, 114, shapes, moves, f"shut the box, {roll}, sum {state[SUM]}")


def check(state):
    """Reject numbers that no play reaches. It is called for every position that is read."""
    shut, total, roll, kind_of = state.tolist()
    if not 0 <= shut < 1 << TILES or total != SUMS[shut]:
        raise PositionError(f"shut_the_box: got the tiles {shut} with sum {total}, expected bits of {TILES} tiles")
    if shut == (1 << TILES) - 1 or roll == 0:
        expected = (0, CHANCE) if shut != (1 << TILES) - 1 else (0, TERMINAL)
    else:
        expected = (min(max(roll, 2), 12), DECISION if _fits(state) else TERMINAL)
    if (roll, kind_of) != expected:
        raise PositionError(f"shut_the_box: got roll and kind {(roll, kind_of)}, expected {expected}")
