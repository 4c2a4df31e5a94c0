"""Bundled networks: their figures match their play."""

from __future__ import annotations

import shutil
import sys

import pytest

import aleazero
from aleazero.errors import CheckpointError, ConfigError
from aleazero.evaluation.strength import measure_values
from aleazero.files import file_hash
from aleazero.games.registry import is_bundled
from aleazero.players.champions import Champion, champion_of, champions
from aleazero.players.make import make_player

ALL = [pytest.param(one, id=one.game) for one in champions()]


@pytest.fixture(scope="module")
def yatzy():
    return aleazero.load_game("yatzy")


def game_of(one: Champion):
    return aleazero.load_game(one.figures["game"], **one.figures["params"])


@pytest.mark.parametrize("one", ALL)
def test_the_file_has_the_hash_of_its_run_and_is_small(one):
    assert file_hash(one.path, aleazero.CheckpointError) == one.figures["hash"]
    assert one.path.stat().st_size <= 3_000_000
    assert champion_of(game_of(one)) == one


@pytest.mark.parametrize("one", ALL)
def test_both_specs_of_the_network_select_the_same_actions(one):
    game = game_of(one)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    assert make_player("net:champion", game).select(state, 1) == make_player(one.engine, game).select(state, 1)


def test_two_player_yatzy_has_a_bundled_network(yatzy):
    """Compare 2,000 games with the figures of 100,000 games, within four standard errors."""
    found = champion_of(yatzy)
    won = measure_values(found.path, yatzy, games=2000, seed=5, threads=2)["won"]
    expected = found.figures["results"]["opponents"]["solo-optimal"]
    assert won["mean"] == pytest.approx(expected["mean"], abs=4 * won["error"])
    assert expected["low"] > 0.5
    for name, least in (("random", 0.98), ("rollout", 0.6)):
        assert found.figures["results"]["opponents"][name]["low"] >= least


def test_other_parameters_and_user_games_have_no_bundled_network(tmp_path, yatzy):
    assert champion_of(aleazero.load_game("yatzy", players=3)) is None
    source = sys.modules["aleazero.games.yatzy.rules"].__file__
    shutil.copy(source, tmp_path / "yatzy.py")
    own = aleazero.load_game(str(tmp_path / "yatzy.py"))
    assert own.name == yatzy.name
    assert is_bundled(yatzy)
    assert not is_bundled(own)
    assert champion_of(own) is None


@pytest.mark.parametrize("text", ["net:champion", "plan:horizon=turn,net=champion", "search:net=champion,sims=4"])
def test_a_game_without_bundled_network_is_an_error(text):
    with pytest.raises(ConfigError, match=r"no bundled network for pig\(target=20\), expected .*yatzy\(players=2\)"):
        make_player(text, aleazero.load_game("pig", target=20))


@pytest.mark.parametrize(
    ("figures", "network", "message"),
    [("{", b"x", "is damaged"), ("[]", b"x", "everything is missing"),
     ("{}", b"x", "game, horizon, params, plan is missing"),
     ('{"game": "pig", "params": {}, "horizon": null, "plan": null}', b"", "its network is missing"),
     ('{"game": "pig", "params": {}, "horizon": null, "plan": null}', None, "No such file")],
)  # fmt: skip
def test_a_damaged_bundled_network_is_reported(tmp_path, figures, network, message):
    (tmp_path / "pig.json").write_text(figures, encoding="utf-8")
    if network is not None:
        (tmp_path / "pig.safetensors").write_bytes(network)
    with pytest.raises(CheckpointError, match=message) as caught:
        champions(tmp_path)
    assert "reinstall aleazero" in str(caught.value)
