"""States as rows of an array, for both kinds of games."""

from __future__ import annotations

import numpy as np
import pytest
from object_copy import object_copy

import aleazero
from aleazero.games.states import pack, rows_of, state_of, states_of, unpack

PIG = aleazero.load_game("pig", target=20)


@pytest.fixture(params=[PIG, object_copy(PIG)], ids=["kernel", "object"])
def some(request):
    """A game and several of its states, the first of them the initial state."""
    game = request.param
    states = [game.new_initial_state()]
    for action in (0, 5, 0, 1, 0, 6, 1, 0):
        states.append(states[-1].child(action))
    return game, states


def test_rows_and_states_are_equal(some):
    game, states = some
    rows = rows_of(game, states)
    assert [state.key() for state in states_of(game, rows)] == [state.key() for state in states]
    assert state_of(game, rows[3]).key() == states[3].key()
    assert [state.key() for state in states_of(game, rows[[2, 2, 0]])] == [states[n].key() for n in (2, 2, 0)]
    changed = rows.copy()
    changed[np.arange(len(rows)) > 1] = rows[0]
    assert {state.key() for state in states_of(game, changed[2:])} == {states[0].key()}
    assert state_of(game, rows[2]).key() == states[2].key()


def test_packed_rows_are_numbers_and_are_restored(some):
    game, states = some
    for few in (states, states[:1], states[-1:]):
        packed = pack(game, rows_of(game, few))
        assert packed.dtype.kind in "iu"
        back = states_of(game, unpack(game, packed))
        assert [state.key() for state in back] == [state.key() for state in few]
        assert [state.viewer() for state in back] == [state.viewer() for state in few]
