"""Scores of games played with tables."""

from __future__ import annotations

import aleazero
from aleazero.evaluation.match import game_seeds
from aleazero.evaluation.strength import measure_tables
from aleazero.nets.table_play import TuplePlay
from aleazero.nets.tables import TupleTables
from tests.tuple_boards import SMALL


def test_scores_and_shares_are_those_of_the_games() -> None:
    game, tuples = aleazero.load_game("2048"), TupleTables(SMALL)
    found = measure_tables(game, tuples, 30, seed=4)
    ends = [game.state_from_vector(end) for end in TuplePlay(game, tuples).play(game_seeds(4, 30))]
    assert all(end.is_terminal() for end in ends)
    assert found.scores.tolist() == [end.returns()[0] for end in ends]
    tops = [max(end.vector[:16]) for end in ends]
    top = max(tops)
    assert found.share(top) == tops.count(top) / 30 < found.share(min(tops)) == 1.0
    data = found.to_dict()
    assert data["score"]["mean"] == sum(found.scores) / 30
    assert data["share_with_cell"][str(top)] == found.share(top)
    assert measure_tables(game, tuples, 30, seed=5).scores.tolist() != found.scores.tolist()
