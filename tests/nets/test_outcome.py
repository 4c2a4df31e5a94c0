"""Output columns of value networks: points of view and values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tree_game
from object_copy import object_copy

import aleazero
from aleazero.errors import ConfigError, ContractError
from aleazero.games.base import Features
from aleazero.games.kernel import Kernels
from aleazero.games.states import rows_of
from aleazero.nets.outcome import Outcome, feature_schema, feature_shape
from aleazero.nets.values import NetValues, SeenStates

TAG = f"{Path(__file__).parents[2]}/examples/tag.py"


def outcome_of(name):
    games = {
        "two_player": aleazero.load_game("pig", target=20),
        "margin": aleazero.load_game("yatzy", players=2),
        "seats": aleazero.load_game("yatzy", players=3),
        "solo": aleazero.load_game("yatzy", players=1),
        "score": tree_game.tree_game(2, (0.0, 32.0)),
        "levels": aleazero.load_game(TAG),
    }
    return Outcome.of(games[name])


@pytest.mark.parametrize(
    ("name", "kind", "columns"),
    [
        ("two_player", "two_player", ["win"]),
        ("margin", "two_player", ["win", "margin"]),
        ("levels", "two_player", ["win", "win_2", "win_3", "lose_2", "lose_3"]),
        ("seats", "seats", ["win_0", "win_1", "win_2"]),
        ("solo", "score", ["score"]),
        ("score", "score", ["score_0", "score_1"]),
    ],
)
def test_conversion_between_viewers_and_players(name, kind, columns):
    outcome = outcome_of(name)
    assert outcome.kind == kind
    assert [column.name for column in outcome.columns] == columns
    rows = np.random.default_rng(1).normal(size=(12, len(columns)))
    viewers = np.arange(12) % outcome.players
    players = outcome.by_player(rows, viewers)
    np.testing.assert_array_equal(outcome.by_viewer(players, viewers), rows)
    np.testing.assert_array_equal(outcome.by_player(outcome.by_viewer(rows, viewers), viewers), rows)
    np.testing.assert_array_equal(players[viewers == 0], rows[viewers == 0])
    for row in range(12):
        for seat in range(outcome.players):
            who = (viewers[row] + seat) % outcome.players
            if name == "levels":
                swapped = [-rows[row, 0], *rows[row, 3:], *rows[row, 1:3]]
                assert players[row].tolist() == (swapped if viewers[row] else rows[row].tolist())
            elif kind == "two_player":
                assert (players[row] * (1, -1)[who] == rows[row] * (1, -1)[seat]).all()
            else:
                assert players[row, who] == rows[row, seat]


def test_values_of_two_players_sum_to_zero():
    outcome = outcome_of("margin")
    values = outcome.values_by_player(np.array([[0.5, 20.0], [-0.25, -3.0]]), 0.01)
    np.testing.assert_allclose(values, [[0.7, -0.7], [-0.28, 0.28]])
    np.testing.assert_array_equal(outcome_of("two_player").values_by_player(np.array([[0.5]]), 9.0), [[0.5, -0.5]])
    for name in ("seats", "score"):
        rows = np.random.default_rng(0).normal(size=(4, len(outcome_of(name).columns)))
        np.testing.assert_array_equal(outcome_of(name).values_by_player(rows, 9.0), rows)


def test_columns_of_terminal_states():
    outcome = outcome_of("margin")
    returns, points = np.array([[-1.0, 1.0]]), np.array([[100.0, 130.0]]) / outcome.point_unit
    np.testing.assert_allclose(outcome.at_end(returns, points), [[-1.0, -30.0]])
    np.testing.assert_array_equal(outcome_of("two_player").at_end(returns, points), [[-1.0]])
    three = np.array([[1.0, -0.5, -0.5]])
    np.testing.assert_array_equal(outcome_of("seats").at_end(three, np.zeros((1, 0))), three)


def test_columns_of_wins_with_several_points():
    outcome = outcome_of("levels")
    points = np.arange(-3.0, 4.0)
    columns = outcome.at_end(np.stack((points, -points), axis=1), np.zeros((7, 0)))
    assert columns[:, 0].tolist() == [-1, -1, -1, 0, 1, 1, 1]
    assert columns[:, 1:].tolist() == [
        [0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0],
    ]  # fmt: skip
    np.testing.assert_array_equal(outcome.values_by_player(columns, 9.0), np.stack((points, -points), axis=1))
    mixed = np.random.default_rng(0).random((9, 7))
    mixed /= mixed.sum(axis=1, keepdims=True)
    expected = outcome.values_by_player(mixed @ columns, 0.0)[:, 0]
    np.testing.assert_allclose(expected, mixed @ points)  # values are linear in the columns
    for invalid in (0.5, 4.0, -4.0):
        with pytest.raises(ContractError, match=r"a game ended with .*, expected integer points up to 3"):
            outcome.at_end(np.array([[invalid, -invalid]]), np.zeros((1, 0)))


def test_scores_are_scaled_by_their_range():
    assert outcome_of("score").columns[1].scale == 2.0
    with pytest.raises(ConfigError, match="tree has no bounds of its returns, expected GameInfo"):
        Outcome.of(tree_game.tree_game(2, None))
    with pytest.raises(ConfigError, match="2048 has no bounds of its returns"):
        Outcome.of(aleazero.load_game("2048"))


def test_an_object_game_has_the_same_inputs_as_its_kernel_game():
    game = aleazero.load_game(TAG, length=5)
    twin = object_copy(game)
    size = feature_shape(game).features
    assert (feature_shape(twin).features, twin.observation_size) == (size, size)
    state, other = game.new_initial_state(), twin.new_initial_state()
    states, others = [state], [other]
    for action in (1, 3, 1, 3, 1, 3):  # 3 squares forward each time, and on to the end
        state, other = state.child(action), other.child(action)
        states.append(state)
        others.append(other)
    ends, seen = (
        SeenStates(game, size, rows_of(game, states), False),
        SeenStates(twin, size, rows_of(twin, others), False),
    )
    for name in ("over", "viewers", "phases", "features", "returns"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(ends, name))
    assert ends.over.tolist() == [False] * 6 + [True]
    assert ends.phases.tolist() == [0, 0, 0, 0, 1, 1, 0]


def test_phases_out_of_range_raise_a_contract_error():
    game = aleazero.load_game(TAG)
    game.kernels.phase = two
    with pytest.raises(ContractError, match="tag: phases are 2 to 2, expected 0 to 1"):
        SeenStates(game, feature_shape(game).features, rows_of(game, [game.new_initial_state()]), False)


def two(state):
    return 2


def four_points(state, out):
    out[0], out[1] = (4.0, -4.0) if state[3] == 2 else (0.0, 0.0)


def test_returns_out_of_range_raise_a_contract_error():
    game = aleazero.load_game(TAG)
    game.kernels.returns = four_points
    end = game.state_from_vector([12, 5, 0, 2, 0])
    with pytest.raises(
        ContractError, match=r"a game ended with returns \[4.0, -4.0\], expected numbers within the utility"
    ):
        SeenStates(game, feature_shape(game).features, rows_of(game, [game.new_initial_state(), end]), False)


def test_features_that_write_past_their_end_raise_a_contract_error():
    # Compiled code would overwrite the memory after the last row.
    game = aleazero.load_game(TAG)
    game.info = replace(game.info, features=Features(schema="tag-squares-1", block=13, common=1))
    with pytest.raises(ContractError, match=r"check of features failed in tag .* expected at most 27 numbers"):
        SeenStates(game, 27, rows_of(game, [game.new_initial_state()]), False)


def test_declared_features_require_their_functions():
    info = tree_game.describe()
    names = {name: value for name, value in vars(tree_game).items() if callable(value)}
    declared = replace(info, features=Features("cards", block=1, common=1, lead=0))
    with pytest.raises(ContractError, match="tree: the game has no function features, points"):
        Kernels(names, declared)
    kernels = Kernels({**names, "features": tree_game.observe, "points": tree_game.returns}, declared)
    assert kernels.features is tree_game.observe
    helper = Kernels({**names, "features": len}, info)  # an unrelated function, because the game declares no features
    assert helper.features is tree_game.observe


@pytest.fixture(scope="module")
def between_turns():
    """Return states of a two-player game between turns; the last two are terminal."""
    game = aleazero.load_game("yatzy", players=2)
    state, rows = game.new_initial_state(), []
    draw = np.random.default_rng(3)
    while True:
        if state.is_terminal() or (state.is_chance_node() and state.vector[1] == 2):
            rows.append(state.vector.copy())
        if state.is_terminal():
            break
        if state.is_chance_node():
            state._apply(state.sample_outcome(draw.random()))
        else:
            state._apply(int(draw.choice(state.legal_actions())))
    return game, np.array([*rows, rows[-1]])


def test_inputs_are_from_the_point_of_view_of_the_viewer(between_turns):
    game, states = between_turns
    size = feature_shape(game).features
    ends = SeenStates(game, size, states, True)
    assert ends.over.tolist() == [False] * 30 + [True] * 2
    assert ends.viewers.tolist() == [0, *[0, 1] * 15, 1]
    for row, vector in enumerate(states):
        state, wanted = game.state_from_vector(vector), np.zeros(size, np.float32)
        if not ends.over[row]:
            game.kernels.features(vector, state.viewer(), wanted)
        np.testing.assert_array_equal(ends.features[row], wanted)
        np.testing.assert_array_equal(ends.returns[row], state.returns())
        lead = game.info.features.point_unit * (ends.points[row, 0] - ends.points[row, 1])
        assert lead == pytest.approx(vector[6] - vector[9] if ends.over[row] else 0.0)
    strided = SeenStates(game, size, states[::2], True)
    np.testing.assert_array_equal(strided.features, ends.features[::2])
    np.testing.assert_array_equal(SeenStates(game, size, states.astype(np.int32), True).features, ends.features)


class LeadNet:
    """A network that counts its rows and returns the lead of the viewer."""

    def __init__(self, shape, lead):
        self.shape, self.lead, self.rows = shape, lead, 0

    def forward(self, theta, features, phases):
        self.rows += len(features)
        lead = features[:, self.lead]
        return np.stack((np.tanh(lead), 100 * lead), axis=1).astype(np.float32)


def test_terminal_states_are_not_evaluated_and_signs_follow_the_lead(between_turns):
    game, states = between_turns
    shape = feature_shape(game)
    net = LeadNet(shape, shape.seats * shape.block + shape.lead)
    between = NetValues(game, net, np.zeros(1, np.float32))
    columns = between.columns(between.see(states))
    assert net.rows == 30
    points = np.zeros(2)
    for row, vector in enumerate(states):
        game.kernels.uncompiled["points"](vector, points)
        lead = (points[0] - points[1]) * game.info.features.point_unit
        assert columns[row, 1] == pytest.approx(lead, abs=1e-4)  # of player 0, independent of the viewer
        assert np.sign(columns[row, 0]) == np.sign(round(lead))
    values = between.values_by_player(states, 0.001)
    np.testing.assert_array_equal(values[:, 0], -values[:, 1])


def test_feature_schema():
    assert feature_schema(aleazero.load_game("yatzy", players=2)) == "yatzy-2p-cards-1"
    pig = aleazero.load_game("pig")
    assert feature_schema(pig) == "pig-1"
    assert feature_shape(pig).features == 5
