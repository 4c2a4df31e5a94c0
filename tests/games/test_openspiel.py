"""Games of OpenSpiel, and games that are not supported."""

import sys

import pyspiel
import pytest

from aleazero.errors import GameError, UnknownGameError
from aleazero.games.check import check_game
from aleazero.games.objects import from_openspiel


@pytest.mark.parametrize("name", ["pig", "tic_tac_toe", "catch", "backgammon"])
def test_games_pass_the_checks(name):
    report = check_game(from_openspiel(name), episodes=1, max_states=60)
    assert report.capped == 0


def test_sizes_come_from_openspiel():
    game, theirs = from_openspiel("pig", winscore=30), pyspiel.load_game("pig", {"winscore": 30})
    assert (game.num_players, game.num_actions, game.info.max_outcomes) == (2, 2, 6)
    assert game.info.utility == (-1.0, 1.0)
    assert game.info.observation_size == theirs.observation_tensor_size()
    assert repr(game) == "pig(winscore=30)"


def test_states_agree_with_openspiel():
    state = from_openspiel("pig").new_initial_state()
    assert state.action_to_string(0) == "roll"
    state.play("roll")
    assert state.is_chance_node()
    assert state.viewer() == 0
    assert len(state.chance_outcomes()) == 6
    state.apply_action(3)
    assert state.observation_tensor().shape == (303,)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kuhn_poker", "hidden information"),
        ("phantom_ttt", "hidden information"),
        ("matrix_rps", "simultaneous moves"),
        ("goofspiel", "simultaneous moves"),
        ("mfg_garnet", "mean_field moves"),
        ("stones_and_gems", "chance sampled inside"),
    ],
)
def test_unsupported_games_are_rejected(name, reason):
    with pytest.raises(GameError, match=f"{name} is not supported: it has {reason}"):
        from_openspiel(name)


def test_unknown_names_and_parameters(capfd):
    with pytest.raises(UnknownGameError, match="did you mean backgammon"):
        from_openspiel("backgamon")
    with pytest.raises(GameError, match="no parameter 'winscor', did you mean winscore"):
        from_openspiel("pig", winscor=3)
    assert capfd.readouterr().err == ""
    with pytest.raises(GameError, match="cannot load pig"):
        from_openspiel("pig", winscore="many")


def test_without_pyspiel_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(GameError, match=r"pip install aleazero\[openspiel\]"):
        from_openspiel("pig")
