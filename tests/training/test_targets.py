"""Value targets, computed by hand for one small game."""

from __future__ import annotations

import numpy as np
import pytest

from aleazero import ConfigError
from aleazero.training.targets import value_targets


class Window:
    """Two two-player games: one with decisions and afterstates, of which one is forced; one with a single sample."""

    returns = np.array([[1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [-1, 1]], np.float32)
    root_values = np.array([[0.2, -0.2], [0.4, -0.4], [0.0, 0.0], [-0.6, 0.6], [0.8, -0.8], [0.5, -0.5]], np.float32)
    searched = np.array([True, True, False, True, True, True])
    afterstate = np.array([False, True, False, False, True, False])
    viewers = np.array([0, 0, 1, 1, 0, 1], np.int8)

    def columns(self, name):
        column = getattr(self, name)
        return [column[:3], column[3:]]

    def game_spans(self):
        return np.array([[0, 5], [5, 6]], np.int64)


def first_seat(name: str, **settings) -> list[float]:
    found = value_targets(Window(), name, **settings)
    np.testing.assert_allclose(found[:, 0], -found[:, 1])
    return found[:, 0].tolist()


def test_outcome_root_and_mix() -> None:
    assert first_seat("outcome") == [1, 1, -1, -1, 1, -1]
    # The forced third sample takes the target of the fourth; both have the view of player 1.
    assert first_seat("root") == pytest.approx([0.2, 0.4, -0.6, -0.6, 0.8, 0.5])
    assert first_seat("mix", share=0.25) == pytest.approx([0.8, 0.85, -1, -0.9, 0.95, -0.625])


def test_td_is_computed_backwards_by_player() -> None:
    # From the view of player 0, backwards from the final return 1.
    last = 0.5 * 0.8 + 0.5 * 1.0
    fourth = 0.5 * 0.6 + 0.5 * last
    third = fourth  # forced, without a search
    second = 0.5 * 0.4 + 0.5 * third
    first = 0.5 * 0.2 + 0.5 * second
    assert first_seat("td", decay=0.5) == pytest.approx([first, second, -third, -fourth, last, -0.25])
    assert first_seat("td", decay=1.0) == first_seat("outcome")
    assert first_seat("td", decay=0.0) == pytest.approx(first_seat("root"))


def test_expectation_is_the_value_of_the_next_afterstate() -> None:
    # The first sample is followed by a searched afterstate; the afterstate of the fourth has the other player's view.
    assert first_seat("expectation") == pytest.approx([0.4, 0.4, -0.8, -0.8, 0.8, 0.5])


class ThreeSeats:
    """Two samples of three players, because two players cannot show a wrong rotation of seats."""

    returns = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], np.float32)  # by player: 1, 2, 3
    root_values = np.array([[0.1, 0.2, 0.3], [0.6, 0.4, 0.5]], np.float32)  # by player: 0.1 0.2 0.3, then 0.4 0.5 0.6
    searched = np.array([True, True])
    afterstate = np.array([False, False])
    viewers = np.array([0, 2], np.int8)

    def columns(self, name):
        return [getattr(self, name)]

    def game_spans(self):
        return np.array([[0, 2]], np.int64)


def test_seats_of_three_players_are_relative_to_the_viewer() -> None:
    last = 0.5 * np.array([0.4, 0.5, 0.6]) + 0.5 * np.array([1.0, 2.0, 3.0])
    first = 0.5 * np.array([0.1, 0.2, 0.3]) + 0.5 * last
    found = value_targets(ThreeSeats(), "td", decay=0.5)
    np.testing.assert_allclose(found[0], first, rtol=1e-6)
    np.testing.assert_allclose(found[1], last[[2, 0, 1]], rtol=1e-6)


def test_an_unknown_target_is_rejected() -> None:
    with pytest.raises(ConfigError, match="value target is 'outcomes', did you mean outcome"):
        value_targets(Window(), "outcomes")
