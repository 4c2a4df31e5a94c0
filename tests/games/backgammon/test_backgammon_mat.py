"""Match files: written files are read back, files of other programs are read, broken files name the line."""

import random

import pytest

from aleazero.errors import AleaZeroError, IllegalActionError, PositionError
from aleazero.games.backgammon import Match, MatchGame, Turn, read_mat, record_game, write_mat
from aleazero.games.registry import load_game

FILE = """ ; [Site "somewhere"]
 7 point match

 Game 1
 White : 0                       Black : 2
  1)                             31: 8/5 6/5
  2) 62: 24/18 13/11             44: 24/20(2) 13/9(2)
  3)  Doubles => 2                Takes
  4) 51: 13/8 24/23              21: 8/7* 6/4
  5) 66:                         Doubles => 4
  6)  Drops
                                  Wins 2 points

 Game 2
 White : 0                       Black : 4
  1) 43: 24/20 13/10
      Wins 1 point
"""


def random_game(seed):
    """Return the actions and outcomes of a random game, and its final state."""
    draw, state, played = random.Random(seed), load_game("backgammon").new_initial_state(), []
    while not state.is_terminal():
        chance = state.is_chance_node()
        played.append(state.sample_outcome(draw.random()) if chance else draw.choice(state.legal_actions()))
        state.apply_action(played[-1])
    return played, state


def test_random_games_are_written_and_read_back():
    games, finals, scores = [], [], (0, 0)
    for seed in range(6):
        played, final = random_game(seed)
        games.append(record_game(played, scores))
        finals.append((played, final))
        won = [max(0, int(value)) for value in final.returns()]
        assert (games[-1].winner, games[-1].points) == (int(won[1] > 0), max(won))
        scores = (scores[0] + won[0], scores[1] + won[1])
    match = Match(tuple(games), ("Alea", "Zero the Second"), 25)
    text = write_mat(match)
    again = read_mat(text)
    assert again == match
    assert write_mat(again) == text
    for game, (played, final) in zip(again.games, finals, strict=True):
        replayed = list(game.replay())
        state, actions = replayed[-1]
        for action in actions:
            state.apply_action(action)
        assert state.key() == final.key()
        decisions = sum(len(actions) for _, actions in replayed)
        assert decisions == len(played) - len(replayed)


def test_the_layout_is_that_of_gnu_backgammon():
    turns = (
        Turn(1, (3, 1), "8/5 6/5"),
        Turn(0, (6, 2), "24/18 13/11"),
        Turn(1, None, cube="double", value=2),
        Turn(0, None, cube="take"),
        Turn(1, (2, 1), "13/11 6/5"),
    )
    text = write_mat(Match((MatchGame(turns, (1, 0), 0, 2),), ("White", "Black"), 5))
    assert text.splitlines() == [
        " 5 point match",
        "",
        " Game 1",
        " White : 1                       Black : 0",
        "  1)                             31: 8/5 6/5",
        "  2) 62: 24/18 13/11              Doubles => 2",
        "  3)  Takes                      21: 13/11 6/5",
        "      Wins 2 points",
        "",
    ]


def test_files_with_a_cube_comments_joined_moves_and_resignations_are_read():
    match = read_mat(FILE)
    assert (match.length, match.players, len(match.games)) == (7, ("White", "Black"), 2)
    first, second = match.games
    assert first.scores == (0, 2)
    assert first.turns[0] == Turn(1, (3, 1), "8/5 6/5")
    assert [turn.cube for turn in first.turns if turn.cube] == ["double", "take", "double", "drop"]
    assert (first.winner, first.points) == (1, 2)
    assert (second.winner, second.points, second.scores) == (0, 1, (0, 4))
    positions = list(first.replay())
    assert [state.current_player() for state, _ in positions] == [1, 0, 1, 0, 1, 0]
    assert [len(actions) for _, actions in positions] == [1, 1, 2, 1, 1, 1]
    assert read_mat(write_mat(match)) == match
    assert read_mat(FILE.replace("\n", "\r\n")) == match


def test_an_unfinished_game_has_no_winner():
    played, _ = random_game(3)
    game = record_game(played[:20])
    assert game.winner is None
    assert read_mat(write_mat(Match((game,)))).games[0] == game


NUMBERED = "got .*, expected a numbered line"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" 7 point match", "seven points", "line 2: got 'seven points', expected the length of the match"),
        (" Game 1", " Game 2", "line 4: got 'Game 2', expected 'Game 1'"),
        ("Black : 2\n", "Black\n", "line 5: got .*, expected both names with their scores"),
        ("31: 8/5 6/5", "31: 8/4 6/5", "line 6: '8/4 6/5' is not legal with 3-1"),
        ("31: 8/5 6/5", "31: 8/5 6#5", "line 6: cannot read '6#5'"),
        ("31: 8/5 6/5", "33: 8/5 6/5", "line 6: the opening roll is 3-3"),
        ("62: 24/18 13/11 ", " " * 16, "line 7: player 1 moves, expected player 0"),
        ("31: 8/5 6/5", "31 8/5 6/5", f"line 6: {NUMBERED}"),
        ("  4) 51", "  four 51", f"line 9: {NUMBERED}"),
        ("  4) 51", "  4) fifty-one 51", f"line 9: {NUMBERED}"),
        ("=> 2   ", "=> 2 x ", "line 8: got 'x', expected nothing after"),
        (" " * 28 + "Wins 2 points\n", "7) 21: 6/4 6/5\n", "line 12: got .*, expected the points that were won"),
        ("Wins 1 point\n", "Wins 1 point\n 2) 21: 6/4\n", "line 18: got .*, expected the next game"),
        (" Game 2\n White : 0 ", " Game 2\n Green : 0 ", "line 15: got .*, expected the names of the first game"),
        ("44: 24/20(2) 13/9(2)", "77: 24/20(2)", "line 7: cannot read '77:'"),
    ],
)
def test_broken_files_name_the_line(old, new, message):
    assert old in FILE
    with pytest.raises(AleaZeroError, match=f"backgammon: match file, {message}") as error:
        read_mat(FILE.replace(old, new, 1))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "; only a comment\n", " 7 point match\n", "\x00\x01", "7 point match\n x"]
)
def test_files_without_a_game_are_rejected(text):
    with pytest.raises(PositionError, match="match file, line"):
        read_mat(text)


def test_a_file_that_is_cut_anywhere_is_read_or_rejected():
    read = 0
    for end in range(0, len(FILE), 7):
        try:
            read += len(read_mat(FILE[:end]).games) > 0
        except (PositionError, IllegalActionError):
            continue
    assert 0 < read < len(range(0, len(FILE), 7))


def test_the_winner_must_be_the_player_without_checkers():
    played, final = random_game(1)
    text = write_mat(Match((record_game(played),)))
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "Wins" in line)
    lines[at] = " " * (34 if final.returns()[0] > 0 else 6) + lines[at].strip()
    with pytest.raises(PositionError, match="named as the winner"):
        read_mat("\n".join(lines))


def test_names_and_turns_that_cannot_be_written():
    with pytest.raises(PositionError, match="without ' : '"):
        write_mat(Match((), ("a : 3", "b")))
    with pytest.raises(PositionError, match="cube action"):
        write_mat(Match((MatchGame((Turn(0, None),)),)))
