from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aleazero.errors import ConfigError
from aleazero.evaluation.pairs import PairTable, PlayedPair, SeatedGame, elo, seatings


def pair(*returns, points=None):
    tables = seatings(len(returns[0]))
    games = tuple(
        SeatedGame(seating, 0, (), tuple(map(float, row)), None if points is None else points[place])
        for place, (seating, row) in enumerate(zip(tables, returns, strict=True))
    )
    return PlayedPair(0, 0, games)


def test_two_players_by_hand():
    pairs = [((1, -1), (-1, 1)), ((1, -1), (0, 0)), ((-1, 1), (1, -1)), ((1, -1), (1, -1))]
    table = PairTable.of([pair(*games) for games in pairs])
    assert table.scores.tolist() == [1.0, 0.75, 0.0, 0.5]
    assert table.gains.tolist() == [2.0, 1.0, -2.0, 0.0]
    assert (table.wins, table.draws, table.losses, table.games, table.count) == (4, 1, 3, 8, 4)
    assert table.table == {"0": 1, "0.5": 1, "0.75": 1, "1": 1}


def test_three_players_by_hand():
    """One of three seats wins; the others have equal returns."""
    won = [tuple(1.0 if seat == place else -0.5 for seat in range(3)) for place in range(3)]
    # Three games with one seat of the first player, at 0, 1, 2: seat 0 wins. Then three with two seats: seat 1 wins.
    table = PairTable.of([pair(won[0], won[0], won[0], won[1], won[1], won[1])])
    assert table.scores[0] == 0.5  # the first player has the best seat in games 0, 3 and 5
    assert (table.wins, table.losses) == (3, 3)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_player_that_wins_every_game_has_score_one(seats):
    others = -1.0 / (seats - 1)

    def winner_at(seat):
        return tuple(1.0 if other == seat else others for other in range(seats))

    won = pair(*(winner_at(seating.index(True)) for seating in seatings(seats)))
    lost = pair(*(winner_at(seating.index(False)) for seating in seatings(seats)))
    drawn = pair(*((0.0,) * seats for _ in seatings(seats)))
    table = PairTable.of([won, lost, drawn])
    assert table.scores.tolist() == [1.0, 0.0, 0.5]
    games = len(seatings(seats))
    assert (table.wins, table.draws, table.losses) == (games,) * 3


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_scores_of_the_two_players_sum_to_one(seats):
    rng = np.random.default_rng(3)
    tables = seatings(seats)
    for _ in range(50):
        returns = rng.integers(0, 3, (len(tables), seats))
        games = tuple(
            SeatedGame(one, 0, (), tuple(map(float, row)), None) for one, row in zip(tables, returns, strict=True)
        )
        swapped = tuple(replace(game, seating=tuple(not first for first in game.seating)) for game in games)
        table = PairTable.of([PlayedPair(0, 0, games), PlayedPair(0, 0, swapped)])
        assert table.scores.sum() == pytest.approx(1.0)
        assert table.score().mean == pytest.approx(0.5)


def test_one_player_by_hand():
    table = PairTable.of([pair((30,), (20,), points=[(30.0,), (20.0,)]), pair((5,), (5,), points=[(5.0,), (5.0,)])])
    assert table.scores.tolist() == [1.0, 0.5]
    assert (table.wins, table.draws, table.losses, table.games) == (1, 1, 0, 4)
    data = table.to_dict()
    assert data["points"]["first"] == 17.5
    assert data["points"]["difference"]["mean"] == 5.0
    assert data["score"]["mean"] == 0.75


def test_elo():
    assert elo(0.5) == 0.0
    assert elo(10 / 11) == pytest.approx(400.0)
    assert elo(1.0) is None
    assert elo(0.0) is None
    assert elo(None) is None


def test_no_pairs():
    with pytest.raises(ConfigError, match="got no pairs"):
        PairTable.of([])
