"""Inputs of Azul's value networks, compared with a plain implementation on positions as dicts."""

from __future__ import annotations

import random

import numpy as np
import pytest

import aleazero
from aleazero.games.azul import features as layout
from aleazero.games.azul import from_position, to_position

COSTS = [0, 1, 2, 4, 6, 8, 11, 14]


def inputs_of(state, player):
    out = np.full(state.game.info.features.size(state.game.num_players), np.nan, np.float32)
    state.game.kernels.features(state.vector, player, out)
    return out


def points_at(wall, row, column):
    """Return the points for a tile on a wall."""
    total = 0
    for step in ((0, 1), (1, 0)):
        run = 1
        for sign in (1, -1):
            r, c = row + sign * step[0], column + sign * step[1]
            while 0 <= r < 5 and 0 <= c < 5 and wall[r][c]:
                run += 1
                r, c = r + sign * step[0], c + sign * step[1]
        total += run if run > 1 else 0
    return max(1, total)


def tiled(board):
    """Return score and wall after tiling, without bonuses."""
    wall, score = [list(row) for row in board["wall"]], board["score"]
    for row, (colour, count) in enumerate(board["lines"]):
        if count == row + 1:
            score += points_at(wall, row, (colour + row) % 5)
            wall[row][(colour + row) % 5] = 1
    return max(0, score - COSTS[len(board["floor"])]), wall


def bonus(wall):
    rows, columns = sum(all(row) for row in wall), sum(all(wall[r][c] for r in range(5)) for c in range(5))
    return 2 * rows + 7 * columns + 10 * sum(all(wall[r][(c + r) % 5] for r in range(5)) for c in range(5))


def drafts_of(position):
    """List the drafts on display: colour, number of tiles, whether they come from the centre."""
    if position["phase"] == "refill":
        return []
    factories = [(c, n, False) for factory in position["factories"] for c, n in enumerate(factory) if n]
    return factories + [(c, n, True) for c, n in enumerate(position["centre"]) if n]


def block_of(position, who, bag):
    """Return the inputs of one player."""
    out = np.zeros(layout.BLOCK_SIZE)
    board = position["boards"][who]
    score, wall = tiled(board)
    floor, marker = len(board["floor"]), position["marker"]
    drafting = position["phase"] == "draft"
    fills = [sum(row) for row in wall] + [sum(wall[r][c] for r in range(5)) for c in range(5)]
    fills += [sum(wall[r][(c + r) % 5] for r in range(5)) for c in range(5)]
    out[0:25] = np.array(board["wall"]).ravel()
    for group, fill in enumerate(fills):
        if fill:
            out[107 + 5 * group + fill - 1] = 1
    if floor:
        out[100 + floor - 1] = 1
    out[182], out[183] = (score - board["score"]) / 10, (score + bonus(wall)) / 50
    out[184] = score == 0 and floor > 0
    out[185] = position["to_move"] == who
    for row, (colour, count) in enumerate(board["lines"]):
        if count:
            out[25 + 5 * sum(range(row + 1)) + colour * (row + 1) + count - 1] = 1
        if 0 < count <= row:
            out[199 + row], out[204 + row] = points_at(wall, row, (colour + row) % 5) / 10, bag[colour] / 20
    if not drafting:
        return out
    out[186], out[187] = position["next_start"] == who, marker
    out[188 + min(4, sum(any(factory) for factory in position["factories"]))] = 1
    out[193 + sum(n > 0 for n in position["centre"])] = 1
    rooms = {}  # by row and colour
    for row, (colour, count) in enumerate(board["lines"]):
        for c in range(5):
            if count <= row and (not count or colour == c) and not wall[row][(c + row) % 5]:
                rooms[row, c] = row + 1 - count
    drafts = drafts_of(position)
    worths = []
    for (row, c), room in rooms.items():
        own = [(n, middle) for colour, n, middle in drafts if colour == c]
        exact, more = [d for d in own if d[0] == room], [d for d in own if d[0] > room]
        points = points_at(wall, row, (c + row) % 5)
        if exact or more:
            extra = min(n - room + (middle and marker) for n, middle in exact + more)
            worths.append(points - COSTS[min(7, floor + extra)] + COSTS[floor])
        if board["lines"][row][1]:
            at = 209 + 5 * row
            out[at : at + 3] = min(2, len(exact)) / 2, min(2, len(more)) / 2, min(3, len(own) - len(exact + more)) / 3
            out[at + 3], out[at + 4] = (room, True) in own, points / 10 if exact else 0
        else:
            at = 234 + 5 * row
            counts = [len(exact), len(more), sum(n == room - 1 for n, _ in own)]
            out[at : at + 3] += counts
            out[at + 3] = max(out[at + 3], (room, True) in own)
            out[at + 4] = max(out[at + 4], points / 10 if exact else 0)
    for row in range(5):
        out[234 + 5 * row : 237 + 5 * row] = np.minimum(3, out[234 + 5 * row : 237 + 5 * row]) / 3
    widest = [max([room for (_, colour), room in rooms.items() if colour == c], default=0) for c in range(5)]
    out[259 + min(4, sum(n <= widest[c] for c, n, _ in drafts))] = 1
    out[264] = sum(not widest[c] for c, _, _ in drafts) / 4
    out[265] = min(7, *(max(0, n - widest[c]) + (middle and marker) for c, n, middle in drafts), 7) / 4
    if worths:
        best, *others = sorted(worths, reverse=True)
        out[266:268] = best / 10, max(0, *others, 0) / 10
    return out


def expected(state, player):
    position, players = to_position(state), state.game.num_players
    bag = np.array(position["bag"])
    if position["phase"] == "refill":
        bag = bag + np.sum(position["factories"], axis=0)
    blocks = [block_of(position, (player + seat) % players, bag) for seat in range(players)]
    common = np.zeros(layout.COMMON_SIZE)
    stands = [score + bonus(wall) for score, wall in map(tiled, position["boards"])]
    common[0] = (stands[player] - stands[(player + 1) % players]) / 50
    for c, n, middle in drafts_of(position):
        if not middle:
            common[1 + 4 * c + n - 1] += 0.5
    common[21:26] = np.array(position["centre"]) / 4
    common[26:31], common[31:36] = bag / 10, np.array(position["lid"]) / 10
    common[36 + min(8, int(state.vector[3])) - 1] = 1
    return np.concatenate([*blocks, common])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_inputs_equal_a_plain_implementation(players):
    game, rng = aleazero.load_game("azul", players=players), random.Random(players)
    seen = np.zeros(game.info.features.size(players), np.bool_)
    for episode in range(3):
        state = game.new_initial_state()
        while not state.is_terminal():
            for player in range(players):
                found = inputs_of(state, player)
                np.testing.assert_allclose(found, expected(state, player), rtol=0, atol=1e-6)
                seen |= found != 0
            legal = state.legal_actions()
            if not state.is_chance_node():  # two of three games avoid the floor, so that walls grow
                legal = [action for action in legal if episode == 0 or action % 6 != 5] or legal
            state.apply_action(state.sample_outcome(rng.random()) if state.is_chance_node() else rng.choice(legal))
    assert seen.mean() > 0.8


def test_states_during_a_refill_have_the_inputs_before_it():
    """The network values the edge of a round. A refill that is not complete says nothing to it."""
    state = aleazero.load_game("azul").new_initial_state()
    before = inputs_of(state, 0)
    for outcome in (5, 30):
        state = state.child(state.legal_actions()[outcome])
        assert state.is_chance_node()
        np.testing.assert_array_equal(inputs_of(state, 0), before)


def test_the_lead_is_the_difference_of_the_points():
    game = aleazero.load_game("azul")
    empty = {"score": 0, "wall": [[0] * 5] * 5, "lines": [[None, 0]] * 5, "floor": []}
    lined = {**empty, "score": 12, "lines": [[1, 1], *[[None, 0]] * 4], "floor": ["marker"]}
    position = {
        "players": 2, "to_move": 1, "next_start": 0, "marker": False, "factories": [[4, 0, 0, 0, 0], *[[0] * 5] * 4],
        "centre": [0] * 5, "bag": [16, 19, 20, 20, 20], "lid": [0] * 5, "boards": [lined, empty],
    }  # fmt: skip
    state = from_position(position)
    lead, features = 2 * layout.BLOCK_SIZE + layout.LEAD, game.info.features
    points = np.zeros(2)
    game.kernels.uncompiled["points"](state.vector, points)
    assert inputs_of(state, 0)[lead] * features.lead_unit == pytest.approx(12)
    assert (points[0] - points[1]) * features.point_unit == pytest.approx(12)
    assert inputs_of(state, 1)[lead] * features.lead_unit == pytest.approx(-12)
