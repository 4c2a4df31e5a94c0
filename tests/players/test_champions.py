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
def test_both_specs_of_the_network_select_almost_the_same_actions(one):
    """A longer plan or a search selects another action only if the network alone gives it almost the same value."""
    game = game_of(one)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    alone, engine = (make_player(spec, game) for spec in ("net:champion", one.engine))
    result, action = alone.explain(state, 1), engine.select(state, 1)
    mover, low_high = state.current_player(), game.info.utility
    values = dict(zip(result.actions.tolist(), result.q.tolist(), strict=True))
    assert alone.select(state, 1) == result.best_action
    assert values[action] > values[result.best_action] - 0.05 * (low_high[1] - low_high[0])
    assert result.value[mover] == pytest.approx(values[result.best_action])


def test_the_engine_is_the_player_of_the_figures(tmp_path):
    def engine(player):
        return Champion(tmp_path, {"player": player}).engine

    assert engine("plan:plies=2,keep=8") == "plan:plies=2,keep=8,net=champion"
    assert engine("search:sims=200") == "search:sims=200,net=champion"
    assert engine(None) == "net:champion"


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
     ("{}", b"x", "game, horizon, params, player is missing"),
     ('{"game": "pig", "params": {}, "horizon": null, "player": null}', b"", "its network is missing"),
     ('{"game": "pig", "params": {}, "horizon": null, "player": null}', None, "No such file")],
)  # fmt: skip
def test_a_damaged_bundled_network_is_reported(tmp_path, figures, network, message):
    (tmp_path / "pig.json").write_text(figures, encoding="utf-8")
    if network is not None:
        (tmp_path / "pig.safetensors").write_bytes(network)
    with pytest.raises(CheckpointError, match=message) as caught:
        champions(tmp_path)
    assert "reinstall aleazero" in str(caught.value)
