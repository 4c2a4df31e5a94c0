from __future__ import annotations

import pytest

import aleazero
from aleazero.native.random import HINTS, PLAYED_SEARCHES
from aleazero.serving.session import Session

PIG = aleazero.load_game("pig")


def fresh(seed=5):
    return Session(PIG.new_initial_state(), seed)


def test_dice_are_derived_from_the_viewer_and_its_count():
    session = fresh()
    counts = {0: 0, 1: 0}
    for _ in range(12):
        session.act(0)
        viewer = session.state.viewer()
        expected = aleazero.played_outcome(session.state, 5, counts[viewer])
        assert session.draw() == str(expected)
        assert session.history[-1]["count"] == counts[viewer]
        counts[viewer] += 1
    assert all(counts.values())


class Seen:
    """A player that records its seeds and explains nothing."""

    def __init__(self):
        self.seeds = []

    def explain(self, state, seed):
        self.seeds.append(seed)
        return None

    def select(self, state, seed, actions=None):
        return state.legal_actions()[0]


def test_every_seat_has_its_own_seed_different_from_the_dice():
    seeds = [5, 6]
    for seed in (5, 6):
        for text in ("10-20 turn 3 player 0", "10-20 turn 3 player 1"):
            player = Seen()
            session = Session(PIG.state_from_text(text), seed, {0: player, 1: player})
            assert session.choose() == (0, None)
            assert session.hint(player) is None
            seeds += player.seeds
    assert len(set(seeds)) == len(seeds) == 10


def test_the_seed_of_a_seat_stays_the_same():
    player = Seen()
    session = Session(PIG.new_initial_state(), 5, {0: player})
    while session.ply < 12:
        session.draw_all()
        mine = session.state.current_player() == 0
        session.act(session.choose()[0] if mine else 0)
    assert len(set(player.seeds)) == 1
    assert len(player.seeds) > 1
    assert PLAYED_SEARCHES != HINTS


def test_the_history_replays():
    session = fresh()
    for _ in range(6):
        session.act(0)
        session.draw_all()
    again = PIG.state_from_text(session.start)
    for step in session.history:
        again.apply_action(again.string_to_action(step["name"]))
        assert again.to_text() == step["position"]
    assert session.ply == 6


def test_a_forced_move_is_not_searched():
    player = Seen()
    session = Session(PIG.new_initial_state(), 1, {0: player})
    assert len(session.state.legal_actions()) == 1
    assert session.choose() == (0, None)
    assert player.seeds == []


def test_a_session_plays_to_the_end_and_keeps_the_searches():
    game = aleazero.load_game("dice_game")
    player = aleazero.make_player("search:sims=20", game)
    session = Session(game.new_initial_state(), 3, {0: player})
    while not session.state.is_terminal():
        session.act(*session.choose())
        session.draw_all()
    decisions = [step for step in session.history if step["kind"] == "decision"]
    assert {step["simulations"] for step in decisions} == {20}
    assert all(len(step["value"]) == 1 for step in decisions)


def test_a_seat_that_does_not_exist_is_rejected():
    with pytest.raises(aleazero.ConfigError, match="seat is 2, expected one from 0 to 1"):
        Session(PIG.new_initial_state(), 1, {2: Seen()})


MANY_CARDS = """
from aleazero import GameInfo, PositionError
def describe():
    return GameInfo("many_cards", num_players=1, num_actions=1, max_outcomes=1, lists_outcomes=False, utility=(0, 99),
                    state_size=2)
def kind(state): return (0, 1, 2)[state[0]]
def to_play(state): return 0
def legal(state, out):
    out[0] = 0
    return 1
def apply(state, action): state[0] = 1
def outcomes(state, ids, probabilities): return -1
def sample(state, u): return int(100 * u)
def apply_outcome(state, outcome):
    state[0] = 2
    state[1] = outcome
def returns(state, out): out[0] = state[1]
def check(state):
    if not 0 <= state[1] < 100:
        raise PositionError(f"card is {state[1]}, expected 0 to 99")
"""
"""A card is drawn from a hundred, which the rules do not list."""


def test_an_impossible_outcome_is_rejected_also_if_outcomes_are_not_listed(tmp_path):
    """Otherwise the session could not be read again."""
    (tmp_path / "many_cards.py").write_text(MANY_CARDS)
    session = Session(aleazero.load_game(str(tmp_path / "many_cards.py")).new_initial_state(), 5)
    session.act(0)
    data = session.to_dict()
    with pytest.raises(aleazero.PositionError, match="card is 100, expected 0 to 99"):
        session.set_outcome(100)
    assert session.to_dict() == data
    session.set_outcome(99)
    assert session.state.returns() == [99.0]
    assert session.undo() == (-1, 99)
    drawn = session.draw()
    again = Session(session.start_state(), 5)
    again.act(0)
    assert again.draw() == drawn


class Raising:
    """An object game whose rules fail in the middle of a move."""

    num_players, num_actions = 1, 3

    def __init__(self):
        self.moves = []

    def current_player(self):
        return -4 if len(self.moves) == 3 else 0

    def legal_actions(self):
        return [0, 1] if len(self.moves) < 3 else []

    def apply_action(self, action):
        self.moves.append(action)
        if action == 1:
            raise ValueError("no such move")

    def returns(self):
        return [float(len(self.moves))]

    def clone(self):
        other = Raising()
        other.moves = list(self.moves)
        return other


def test_rules_that_raise_leave_the_session_as_it_was():
    session = Session(aleazero.load_game(Raising).new_initial_state(), 1)
    session.act(0)
    with pytest.raises(ValueError, match="no such move"):
        session.act(1)
    assert session.state.returns() == [1.0]
    assert session.steps == ((0, 0),)
    session.act(0)
    assert session.undo() == (0, 0)
