"""The engines (extra ``judges``) through our harness: their moves, their evaluations, and games against themselves."""

from __future__ import annotations

import subprocess
import sys

import bgsage
import gnubg
import gnubg_nn
import numpy as np
import pytest

import aleazero
from aleazero import ConfigError, GameError
from aleazero.evaluation.backgammon.engines import Bgsage, Board, Gnubg, Pubeval, board_of
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.pairs import play_pairs
from aleazero.evaluation.plays import plays_of
from aleazero.games.backgammon import from_position, position_id
from aleazero.games.backgammon.board import HIGH, LOW, SECOND
from aleazero.players.make import make_player

ENGINES = ("gnubg:ply=0", "gnubg:ply=1", "gnubg:ply=2", "bgsage:ply=1", "bgsage:ply=2", "bgsage:ply=3", "pubeval")


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game("backgammon")


def decisions(game, spec, games):
    """Return the decisions of games of a player against itself, without second actions of doubles."""
    players = [make_player(spec, game)] * 2
    for played in play_match(game, players, game_seeds(3, games)):
        state = game.new_initial_state()
        for mover, action in played.steps:
            if mover >= 0 and not state.vector[SECOND]:
                yield state.clone()
            state.apply_action(action)


def dice_of(state):
    return int(state.vector[HIGH]), int(state.vector[LOW])


def play(player, state):
    """Return the state after a player's complete move."""
    after, mover = state.clone(), state.current_player()
    while after.current_player() == mover:
        after.apply_action(player.select(after, 0))
    return after


def gnubg_boards(board: Board, dice):
    """Return all boards after a move, listed by gnubg."""
    listed = gnubg_nn.moves([list(board[1]), list(board[0])], *dice)
    found = [gnubg_nn.board_from_position_key(key) for key in listed]
    return {(tuple(own), tuple(other)) for other, own in found} or {board}


def sage_boards(board: Board, dice):
    """Return all boards after a move, listed by bgsage; a board is made without the conversion that is tested."""
    own, other = board
    points = [0] * 26
    points[25], points[0] = own[24], other[24]
    for place in range(24):
        points[place + 1] += own[place]
        points[24 - place] -= other[place]
    boards = set()
    for found in bgsage.possible_moves(points, *dice):
        mine = tuple(max(0, found[place]) for place in range(1, 25))
        theirs = tuple(max(0, -found[25 - place]) for place in range(1, 25))
        boards.add(((*mine, found[25]), (*theirs, found[0])))
    return boards or {board}


def check_moves(states):
    for state in states:
        mover = state.current_player()
        board = board_of(state, mover)
        ours = {board_of(one.end, mover) for one in plays_of(state)}
        assert ours == gnubg_boards(board, dice_of(state)), state.to_text()
        assert ours == sage_boards(board, dice_of(state)), state.to_text()


def test_both_engines_list_our_moves(game):
    states = [*decisions(game, "random", 2), *decisions(game, "gnubg", 3)]
    assert len(states) > 300
    check_moves(states)


@pytest.mark.long
def test_both_engines_list_our_moves_in_many_games(game):
    check_moves(decisions(game, "random", 60))
    check_moves(decisions(game, "bgsage", 60))


def check_evaluations(game, states, plies):
    """Compare evaluations of converted boards with those of boards that gnubg makes from our position ids."""
    engines = {n: (Gnubg(n), Bgsage(n + 1)) for n in plies}
    differences = []
    for state in states:
        mover = state.current_player()
        end = plays_of(state)[-1].end
        if end.is_terminal():
            continue
        board, text = board_of(end, mover), position_id(end)
        other, own = (tuple(side) for side in gnubg_nn.board_from_position_id(text))  # the other player is on roll
        assert (other, own) == board
        assert gnubg_nn.position_id([list(board[0]), list(board[1])]) == text
        assert [tuple(side) for side in gnubg.position_from_id(text)] == [*board]
        for n, (gnu, sage) in engines.items():
            win, gammon, backgammon, lost, lost_backgammon = gnubg_nn.probabilities(
                gnubg_nn.board_from_position_id(text), n
            )
            theirs = 2 * win - 1 + gammon + backgammon - lost - lost_backgammon
            assert gnu.value(board) == pytest.approx(-theirs, abs=1e-6)
            differences.append(abs(gnu.value(board) - sage.value(board)))
    # Two independent engines agree on positions of good play; after a wrong conversion they would not.
    assert len(differences) > 50
    assert np.mean(differences) < 0.05
    assert np.quantile(differences, 0.9) < 0.12


def test_evaluations_by_board_and_by_position_id(game):
    check_evaluations(game, [*decisions(game, "gnubg", 3)], (0,))


@pytest.mark.long
def test_evaluations_of_many_games_with_more_plies(game):
    check_evaluations(game, [*decisions(game, "gnubg", 4)], (0, 1))


def test_the_package_gnubg_has_the_same_evaluation(game):
    for state in [*decisions(game, "gnubg", 1)][::5]:
        board = gnubg.position_from_id(position_id(state))
        context = gnubg.eval_context(0, 0, 1, 0, 0.0)
        theirs = gnubg.evaluate(board, gnubg.cube_info(), context)[:5]
        ours = gnubg_nn.probabilities([list(side) for side in board], 0)
        assert np.allclose(theirs, ours, atol=0.05), state.to_text()  # their networks differ a little


def test_the_best_move_of_gnubg_has_the_highest_value_of_our_plays(game):
    engine, doubles = Gnubg(0), 0
    player = make_player("gnubg:ply=0", game)
    for state in decisions(game, "gnubg", 2):
        mover = state.current_player()
        values = [player.value(one.end, mover) for one in plays_of(state)]
        end = play(player, state)
        assert player.value(end, mover) == pytest.approx(max(values), abs=1e-6)
        assert len(values) == 1 or board_of(end, mover) == engine.best(board_of(state, mover), dice_of(state))
        doubles += dice_of(state)[0] == dice_of(state)[1]
    assert doubles > 5


@pytest.mark.parametrize("spec", ["gnubg:ply=0", "bgsage:ply=1", "bgsage:ply=2", "pubeval"])
def test_the_second_action_of_a_double_continues_the_move(game, spec):
    player, compared = make_player(spec, game), 0
    for state in doubles_of(game, 3):
        end, mover = play(player, state), state.current_player()
        assert board_of(end, mover) == player.engine.best(board_of(state, mover), dice_of(state))
        compared += 1
    assert compared > 10


def test_the_second_action_is_found_without_the_first_one(game):
    player, compared = make_player("gnubg:ply=0", game), 0
    for state in doubles_of(game, 2):
        end, first = play(player, state), state.clone()
        first.apply_action(player.select(state, 0))
        if first.current_player() == state.current_player():
            compared += 1
            assert play(make_player("gnubg:ply=0", game), first).key() == end.key()
    assert compared > 5


def doubles_of(game, games):
    for state in decisions(game, "gnubg", games):
        if dice_of(state)[0] == dice_of(state)[1] and len(plays_of(state)) > 1:
            yield state


@pytest.mark.parametrize("spec", ["gnubg:ply=0", "bgsage:ply=1", "pubeval"])
def test_an_engine_against_itself_scores_0(game, spec):
    shared = play_pairs(game, spec, spec, game_seeds(1, 3))
    assert (shared.gains == 0.0).all()
    own_dice = play_pairs(game, spec, spec, game_seeds(2, 12), deterministic_chance=False)
    assert own_dice.gain().low < 0.0 < own_dice.gain().high


@pytest.mark.long
@pytest.mark.parametrize("spec", ENGINES)
def test_an_engine_against_itself_scores_0_in_many_games(game, spec):
    pairs = {"gnubg:ply=2": 2, "bgsage:ply=3": 2, "gnubg:ply=1": 10, "bgsage:ply=2": 40}.get(spec, 500)
    table = play_pairs(game, spec, spec, game_seeds(4, pairs), deterministic_chance=False)
    assert table.games == 2 * pairs  # every move was legal
    if pairs == 500:  # the slow levels play too few games for a mean
        assert abs(table.gain().mean) < 4.0 * table.gain().error < 0.6


@pytest.mark.long
def test_points_of_engines_against_each_other(game):
    pubeval = play_pairs(game, "gnubg:ply=0", "pubeval", game_seeds(5, 500)).mean_return()
    assert pubeval.mean == pytest.approx(0.63, abs=4 * pubeval.error)  # published anchor
    sage = play_pairs(game, "bgsage:ply=1", "gnubg:ply=0", game_seeds(6, 500)).mean_return()
    assert sage.mean == pytest.approx(0.011, abs=4 * sage.error)


def test_allowed_actions(game):
    state = from_position(
        (-2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2), dice=(3, 1), game=game
    )
    names = {state.action_to_string(action): action for action in state.legal_actions()}
    for spec in ("gnubg", "bgsage", "pubeval"):
        player = make_player(spec, game)
        assert state.action_to_string(player.select(state, 0)) == "8/5 6/5"
        some = [names["24/23 13/10"], names["13/10 6/5"]]
        assert player.select(state, 0, some) in some
    assert make_player("gnubg", game).select(state, 0, some) == names["24/23 13/10"]


def test_a_wrong_board_is_an_error(game, monkeypatch):
    player = make_player("gnubg", game)
    state = next(decisions(game, "gnubg", 1))
    monkeypatch.setattr(player.engine, "best", lambda board, dice: (board[1], board[0]))
    with pytest.raises(GameError, match=r"gnubg:ply=0 moved to .*, expected a legal move"):
        player.select(state, 0)
    judge = make_player("bgsage:ply=1", game)
    monkeypatch.setattr(judge.engine, "move_values", lambda board, dice, full: {board: (0.0, True)})
    with pytest.raises(GameError, match=r"bgsage:ply=1 lists 1 moves in .*, expected \d+"):
        judge.play_values(state, plays_of(state), [])


@pytest.mark.parametrize("spec", ["gnubg:ply=0", "gnubg:ply=1", "bgsage:ply=1", "bgsage:ply=2"])
def test_values_of_a_judge(game, spec):
    judge = make_player(spec, game)
    states = [*decisions(game, "gnubg", 2)]
    for state in [*states[10:90:20], *states[-6:]]:
        plays, mover = plays_of(state), state.current_player()
        values = judge.play_values(state, plays, range(len(plays)))
        assert len(values) == len(plays)
        quick = judge.play_values(state, plays, [])
        best = int(np.argmax(values))
        assert quick[best] == pytest.approx(values[best], abs=0.02)
        assert max(quick) == pytest.approx(max(values), abs=0.02)
        for one, value in zip(plays, values, strict=True):
            if one.end.is_terminal():
                assert value == one.end.returns()[mover]
        if spec in ("gnubg:ply=0", "bgsage:ply=1"):
            assert values == quick
            assert board_of(play(judge, state), mover) in [
                board_of(one.end, mover) for one, value in zip(plays, values, strict=True) if value > max(values) - 1e-6
            ]


def test_a_chosen_play_has_all_plies(game):
    judge = make_player("gnubg:ply=1", game)
    state = next(decisions(game, "gnubg", 1))
    plays = plays_of(state)
    worst = int(np.argmin(judge.play_values(state, plays, [])))
    assert judge.play_values(state, plays, [worst])[worst] == judge.value(plays[worst].end, state.current_player())
    assert judge.play_values(state, plays, [])[worst] == pytest.approx(
        judge.engine.quick_value(board_of(plays[worst].end, state.current_player()))
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gnubg:ply=7", "player 'gnubg:ply=7': ply is '7', expected 0, 1 or 2"),
        ("bgsage:ply=0", "player 'bgsage:ply=0': ply is '0', expected 1, 2 or 3"),
        ("gnubg:ply=01", "ply is '01', expected 0, 1 or 2"),
        ("gnubg:foo=1", "gnubg has no setting 'foo', expected ply=0|1|2"),
        ("pubeval:ply=1", "pubeval has no setting 'ply', expected none"),
        ("gnubgg", "player is 'gnubgg', did you mean gnubg or bgsage?"),
    ],
)
def test_invalid_specs(game, spec, message):
    with pytest.raises(ConfigError) as error:
        make_player(spec, game)
    assert message in str(error.value)


def test_engines_need_15_checkers():
    small = aleazero.load_game("backgammon", checkers=3)
    with pytest.raises(ConfigError, match=r"gnubg plays with 15 checkers, got backgammon\(checkers=3"):
        make_player("gnubg", small)
    race = aleazero.load_game("backgammon", start="race")
    assert play_pairs(race, "gnubg", "pubeval", game_seeds(1, 2)).games == 4


@pytest.mark.parametrize(
    ("spec", "module", "package"),
    [("gnubg", "gnubg_nn", "gnubg-nn"), ("pubeval", "gnubg_nn", "gnubg-nn"), ("bgsage", "bgsage", "bgsage")],
)
def test_an_engine_that_is_not_installed(game, monkeypatch, spec, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError) as error:
        make_player(spec, game)
    expected = f"{spec} requires {package}, which is not installed, install it with: pip install 'aleazero[judges]'"
    assert str(error.value) == f"player {spec!r}: {expected}"


def test_engines_are_imported_on_use_only():
    code = (
        "import sys, aleazero; from aleazero.games.kit import kit_of; import aleazero.evaluation.backgammon.engines\n"
        "print({'gnubg', 'bgsage', 'pubeval'} <= {*kit_of(aleazero.load_game('backgammon')).players})\n"
        "print({'gnubg_nn', 'gnubg', 'bgsage'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\nset()\n"


def test_pubeval_is_an_ordering_only():
    assert not hasattr(make_player("pubeval", aleazero.load_game("backgammon")), "play_values")
    start = from_position((-2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2))
    assert abs(Pubeval().value(board_of(start, 0))) > 1.0
