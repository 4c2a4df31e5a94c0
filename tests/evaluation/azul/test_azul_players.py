"""The fixed players of Azul: greedy drafts worked out by hand, lookahead against plain minimax, and rollouts."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "search" / "plain"))  # for the comparison of searches
from test_plain_search import both

import aleazero
from aleazero import ConfigError, Rollout, Search, SearchConfig
from aleazero.games.azul import from_position
from aleazero.games.azul.board import BOARD, BOARDS, PLAYER, SCORE
from aleazero.games.azul.lookahead import lead
from aleazero.games.azul.policy import rank, worth
from aleazero.games.azul.tiling import tile
from aleazero.games.base import DECISION
from aleazero.native.random import stream_key, unit

EMPTY = [None, 0]
LATE = (
    "draft round 3 drafts 25 player 1 next 0 bag b7y3r11k9w10 lid b7y4rk6w centre by4rk factories - byr2 - - - / "
    "10 wall ...kw,..yr.,..by.,.....,..k.. lines r1,k2,w3,y3,- floor m / "
    "7 wall by...,wb...,..b..,.....,..... lines r1,y2,-,r2,w4 floor -"
)


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game("azul")


def draft(factories=(), centre="", lines=(), wall=(), floor=(), marker=True):
    """Return a draft of player 0, whose board is given; tiles are letters, lines by row, the wall by (row, column)."""
    board = {"score": 0, "wall": [[int((row, column) in wall) for column in range(5)] for row in range(5)],
             "lines": [list(dict(lines).get(row, EMPTY)) for row in range(5)], "floor": list(floor)}  # fmt: skip
    own = "marker" in floor
    other = {"score": 0, "wall": [[0] * 5 for _ in range(5)], "lines": [EMPTY] * 5,
             "floor": [] if marker or own else ["marker"]}  # fmt: skip
    display = [counts(tiles) for tiles in (*factories, *[""] * (5 - len(factories)))]
    used = np.sum(display, axis=0) + counts(centre)
    for colour, count in board["lines"]:
        if colour is not None:
            used[colour] += count
    for row, column in wall:
        used[(column - row) % 5] += 1
    for tile_ in floor:
        if tile_ != "marker":
            used[tile_] += 1
    starts = None if marker else 0 if own else 1
    return from_position({"players": 2, "to_move": 0, "next_start": starts, "marker": marker,
                          "factories": display, "centre": counts(centre), "bag": [20 - int(one) for one in used],
                          "lid": [0] * 5, "boards": [board, other]})  # fmt: skip


def counts(tiles):
    return [tiles.count(letter) for letter in "byrkw"]


def greedy(state):
    player = aleazero.make_player("greedy", state.game)
    return state.action_to_string(player.select(state, seed=0)).partition(" ")[2]


BLUE, YELLOW, RED, BLACK, WHITE = range(5)


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        # Four blue tiles fill line 4 for one point, as one yellow tile would fill line 1; more tiles decide.
        ({"factories": ["bbbb", "yrkw"]}, "blue 4"),
        # Line 3 is full at the cost of a tile on the floor (1 - 1), line 5 has room for all (0): the lowest id.
        ({"factories": ["bbbb"], "lines": {3: (RED, 3)}}, "blue 3"),
        # Line 2 next to two tiles of its row (3 points) is worth more than four tiles in line 4 (1 point).
        ({"factories": ["bbbb", "rryk"], "wall": {(1, 1), (1, 2)}}, "red 2"),
        # The full line 1 lies above: line 2 with white (column 0) gets two points, with black (column 4) one.
        ({"factories": ["wwkk"], "lines": {0: (BLUE, 1)}}, "white 2"),
        # A full line below gets a longer run: one point for line 1, and one more for line 2.
        ({"factories": ["yb", "rr"], "lines": {1: (WHITE, 2)}}, "blue 1"),
        # The marker costs a point: a single tile from a factory is better than three from the centre.
        ({"factories": ["rykw"], "centre": "bbb"}, "yellow 1"),
        # On a full floor tiles cost nothing, so lines 1 to 3 are worth one point: the lowest id.
        ({"factories": ["r"], "centre": "bbb", "floor": ["marker"] + [RED] * 6, "marker": False}, "blue 1"),
        # On a floor with two tiles, one more costs two points and two more cost four.
        ({"factories": ["bb"], "centre": "y", "lines": {r: (BLACK, r + 1) for r in range(5)}, "marker": False,
          "floor": [RED, RED]}, "yellow floor"),
    ],
)  # fmt: skip
def test_greedy_drafts_worked_out_by_hand(position, expected):
    assert greedy(draft(**position)) == expected


def test_ties_go_to_the_lowest_id():
    state = draft(factories=["brkw"])
    assert greedy(state) == "blue 1"
    player, legal = aleazero.make_player("greedy", state.game), state.legal_actions()
    without = [action for action in legal if action != legal[0]]
    assert state.action_to_string(player.select(state, 0, without)) == "F1 red 1"


def walk(players, seed, negative=False):
    """Yield the decisions of a random game."""
    game = aleazero.load_game("azul", players=players, negative_scores=negative)
    state, step = game.new_initial_state(), 0
    while not state.is_terminal():
        u = unit(stream_key(seed, step))
        step += 1
        if state.is_chance_node():
            state._apply(state.sample_outcome(u))
            continue
        yield state
        legal = state.legal_actions()
        state._apply(legal[int(u * len(legal))])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_worth_is_the_change_of_the_tiling(players):
    """Compare with two tilings of the whole board; the last draft of a round changes the board itself."""
    compared = 0
    for number, state in enumerate(walk(players, seed=players)):
        if number % 4:
            continue
        board = BOARDS + BOARD * state.vector[PLAYER]
        before = tile(state.vector, board, 1)[0]
        for action in state.legal_actions():
            after = state.child(action)
            if after.kind() == DECISION:
                assert worth(state.vector, action) == tile(after.vector, board, 1)[0] - before
                compared += 1
    assert compared > 200


def plain_minimax(state, depth, width, root):
    """Return the value and the action by recursion without pruning; the first of equal actions in the greedy order."""
    player, negative = state.vector[PLAYER], int(state.game.params["negative_scores"])

    def search(here, left, most):
        if left == 0 or here.kind() != DECISION:
            return int(lead(here.vector, player, negative)), None
        ordered = sorted(here.legal_actions(), key=lambda action: -rank(here.vector, action))[:most]
        values = [search(here.child(action), left - 1, width)[0] for action in ordered]
        best = max(values) if here.vector[PLAYER] == player else min(values)
        return best, ordered[values.index(best)]

    return search(state, depth, root)


@pytest.mark.parametrize(("players", "depth", "width", "root"), [(2, 3, 3, 4), (2, 5, 2, 3), (3, 4, 2, 3)])
def test_lookahead_is_minimax(players, depth, width, root, request):
    if players > 2:  # one compiled search is enough
        request.getfixturevalue("interpreted")
    chosen = set()
    for number, state in enumerate(walk(players, seed=1)):
        if number % 7 == 6 and len(state.legal_actions()) > 1:
            player = aleazero.make_player(f"lookahead:depth={depth},width={width},root={root}", state.game)
            value, action = plain_minimax(state, depth, width, root)
            assert player.select(state, 0) == action
            chosen.add((value, action))
    assert len(chosen) > 5


COLUMN, ROW = {(0, 0), (2, 0), (3, 0), (4, 0)}, {(1, column) for column in range(1, 5)}


@pytest.mark.parametrize(("wall", "expected"), [(COLUMN, 5), (ROW, 5 + 2)])
def test_bonuses_count_only_at_the_end(wall, expected):
    """White in line 2 completes a column, whose bonus comes later; or a row, which ends the game with a bonus of 2."""
    state = draft(factories=["ww"], wall=wall)
    action = aleazero.make_player("lookahead:depth=1", state.game).select(state, 0)
    assert state.action_to_string(action).endswith("white 2")
    assert (int(lead(state.vector, 0, 0)), int(lead(state.child(action).vector, 0, 0))) == (0, expected)


def test_the_lead_is_over_the_best_of_the_others():
    state = aleazero.load_game("azul", players=4).new_initial_state()
    for player, score in enumerate((10, 30, 20, 5)):
        state.vector[BOARDS + BOARD * player + SCORE] = score
    assert [int(lead(state.vector, player, 0)) for player in range(4)] == [-20, 10, -10, -25]


def test_settings_are_checked(game):
    for spec, message in [
        ("lookahead:depth=0", r"depth is '0', expected an integer from 1 to 40"),
        ("lookahead:width=x", r"width is 'x', expected an integer from 1 to 300"),
        ("lookahead:deep=3", r"lookahead has no setting 'deep'"),
        ("rollouts:sims=-1", r"sims is '-1', expected an integer from 1"),
        ("greedy:depth=1", r"no setting 'depth=1' of greedy"),
    ]:
        with pytest.raises(ConfigError, match=message):
            aleazero.make_player(spec, game)


def test_compiled_and_plain_searches_agree(game):
    for chance in ("sampling", "stratified"):  # one compiled loop
        both(game, Rollout(max_steps=12), LATE, num_simulations=15, chance=chance)


def test_rollouts_are_the_search_with_priors_and_playouts(game):
    state = game.state_from_text(LATE)
    player = aleazero.make_player("rollouts:sims=100", game)
    result = player.explain(state, seed=3)
    assert result.visits.sum() == 100
    assert player.select(state, seed=3) == player.select(state, seed=3) == result.best_action
    points = np.array([worth(state.vector, action) for action in result.actions])
    np.testing.assert_allclose(result.priors, np.exp(points / 2) / np.exp(points / 2).sum(), rtol=1e-12)
    again = Search(game, Rollout(), SearchConfig(num_simulations=100, seed=result.seed, chance="sampling")).run(state)
    np.testing.assert_array_equal(again.visits, result.visits)


def test_playouts_are_greedy_except_one_in_five(game):
    state = game.state_from_text(LATE)
    best = aleazero.make_player("greedy", game).select(state, 0)
    assert {state.playout_action(u) for u in (0.2, 0.5, 0.999)} == {best}
    assert {state.playout_action(u) for u in np.linspace(0.0, 0.1999, 100)} == set(state.legal_actions())
