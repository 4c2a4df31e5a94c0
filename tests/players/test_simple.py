from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero.oracles.oracle import require_oracle
from aleazero.players.simple import OraclePlayer, Points, RandomPlayer, greedy_player, worth


def test_the_random_player_takes_each_action_alike():
    game = aleazero.load_game("tic_tac_toe")
    start = game.new_initial_state()
    chosen = RandomPlayer().select_many([start] * 9000, range(9000))
    counts = np.bincount(chosen, minlength=9)
    assert (abs(counts - 1000) < 5 * np.sqrt(1000 * 8 / 9)).all()
    assert RandomPlayer().select(start, 7) == RandomPlayer().select(start, 7)


def test_the_oracle_player_takes_the_lowest_of_the_best():
    game = aleazero.load_game("tic_tac_toe")
    player = OraclePlayer(require_oracle(game))
    assert player.select(game.new_initial_state(), 0) == 0  # all nine draw
    assert player.select(game.state_from_text("x.o/.x./..o"), 0) == 5  # only this does not lose


def test_greed_in_pig_holds_at_twenty():
    pig = aleazero.load_game("pig")
    player = greedy_player(pig)
    turns = (15, 16, 17, 18, 19, 21, 22, 23, 24)  # at 20 rolling and holding bring the same
    chosen = [player.select(pig.state_from_text(f"10-30 turn {turn}"), 0) for turn in turns]
    assert chosen == [0] * 5 + [1] * 4


def test_greed_in_tic_tac_toe_completes_a_row():
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("xx./oo./...")
    assert state.action_to_string(greedy_player(game).select(state, 0)) == state.action_to_string(2)


@pytest.mark.parametrize("players", [1, 2])
def test_greed_in_yatzy_takes_the_most_points(players):
    game = aleazero.load_game("yatzy", players=players)
    boards = " / ".join(["filled none upper 0 total 0"] * players)
    player = greedy_player(game)

    def said(turn):
        state = game.state_from_text(f"{boards} / player 0 {turn}")
        return state.action_to_string(player.select(state, 0))

    assert said("dice 33366 rerolls 0") == "house"
    assert said("dice 55555 rerolls 0") == "yatzy"
    assert said("dice 55556 rerolls 1") == "keep-5555"


def test_greed_in_2048_takes_the_largest_merge():
    game = aleazero.load_game("2048")
    state = game.state_from_text("2 2 . ./64 . . ./64 . . ./4 . . . score 0")
    assert state.action_to_string(greedy_player(game).select(state, 0)) in ("up", "down")


def test_points_count_where_returns_do_not():
    assert worth(aleazero.load_game("pig").state_from_text("60-25 turn 9")).tolist() == [0.35, -0.35]
    alone = aleazero.load_game("yatzy", players=1).state_from_text("filled chance upper 0 total 22 / player 0 to roll")
    assert worth(alone).tolist() == [22.0]


def test_greed_counts_what_it_takes_from_the_other(tmp_path):
    tag = (Path(__file__).parents[2] / "examples/tag.py").read_text(encoding="utf-8")
    file = tmp_path / "tag.py"
    file.write_text(tag + "\n\ndef points(state, out):\n    out[0], out[1] = state[0] / LENGTH, state[1] / LENGTH\n")
    game = aleazero.load_game(str(file))
    state = game.state_from_vector([3, 7, 0, aleazero.DECISION, 0])  # two squares on stands the other
    # To dash brings 17/6 squares and takes 7/6; to walk brings 2 and takes 7/3.
    values = aleazero.Planner(game, Points(), backend="plain").plan(state).action_values(state)
    assert {game_action: value[0] * 12 for game_action, value in values.items()} == pytest.approx(
        {0: 3 + 2 - 7 + 7 / 3, 1: 3 + 17 / 6 - 7 + 7 / 6}
    )
    assert greedy_player(game).select(state, 0) == 0


def test_the_return_stands_in_for_points_at_the_end():
    pig = aleazero.load_game("pig")
    won = pig.state_from_text("94-25 turn 0 player 0")
    won.play("roll 6")
    won.play("hold")
    assert won.is_terminal()
    assert worth(won).tolist() == [0.75, -2.0]


def test_the_random_player_draws_among_what_is_allowed():
    start = aleazero.load_game("tic_tac_toe").new_initial_state()
    chosen = RandomPlayer().select_many([start] * 900, range(900), [[1, 4, 7]] * 900)
    counts = np.bincount(chosen, minlength=9)[[1, 4, 7]]
    assert counts.sum() == 900
    assert (abs(counts - 300) < 5 * np.sqrt(300 * 2 / 3)).all()


def test_the_oracle_player_takes_the_best_of_what_is_allowed():
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("xx./oo./...")  # 2 wins, 5 stops the other, the rest loses
    player = OraclePlayer(require_oracle(game))
    assert [player.select(state, 0, some) for some in (None, [5, 6, 8], [6, 8])] == [2, 5, 6]
