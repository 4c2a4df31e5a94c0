"""Two iterations of self-play and fit, for every game and with killed workers."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from played_episodes import damage, game_of, make_shard

import aleazero
from aleazero import AleaZeroError, CheckpointError, ReplayError
from aleazero.nets.config import NetConfig
from aleazero.processes import Pool
from aleazero.replay.check import check_replay
from aleazero.replay.window import Window
from aleazero.selfplay.config import SelfplayConfig
from aleazero.training.alphazero import fit, play_games
from aleazero.training.config import TrainConfig

GAMES = {
    "pig": {"target": 20},
    "tic_tac_toe": {},
    "dice_game": {},
    "yatzy": {"players": 1},
    "2048": {},
    "backgammon": {"checkers": 3},
    "examples/race.py": {},
}
SELFPLAY = SelfplayConfig(simulations=4, parallel=4, games_per_shard=3)
TRAIN = TrainConfig(net=NetConfig(width=8, blocks=1), steps=3, batch_size=16)


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as workers:
        yield workers


def cycle(pool, folder, name, params, games=4, config=SELFPLAY):
    """Run two iterations and return all files that they write."""
    game = aleazero.load_game(name, **params)
    first, second = folder / "net_0.safetensors", folder / "net_1.safetensors"
    play_games(pool, game, "dummy", games, folder / "replay", config, spec=name, seed=1)
    fit(game, Window(folder / "replay", TRAIN.window), first, TRAIN)
    play_games(pool, game, str(first), games, folder / "replay", config, spec=name, seed=1, iteration=1)
    fit(game, Window(folder / "replay", TRAIN.window), second, TRAIN, start=first)
    return {file.name: file.read_bytes() for file in sorted(folder.rglob("*.safetensors"))}


SLOW = ("tic_tac_toe", "dice_game", "2048", "backgammon")
"""Games that only this test compiles, which is slow; `make test-long` runs them."""
MARKED = [pytest.param(name, marks=[pytest.mark.long] if name in SLOW else []) for name in GAMES]


@pytest.mark.parametrize("name", MARKED)
def test_two_rounds(name: str, pool, tmp_path) -> None:
    files = cycle(pool, tmp_path, name, GAMES[name])
    assert len(files) == 4 + 4  # two shards per iteration; two networks, each with the state of training
    report = check_replay(tmp_path / "replay")
    assert (report.shards, report.games, report.broken) == (4, 8, [])


@pytest.mark.parametrize("names", [["observations"], ["legal_masks", "policies"], ["returns", "root_values", "scores"]])
def test_samples_of_another_width_are_rejected_despite_a_valid_checksum(names, tmp_path) -> None:
    def cut(columns):
        columns |= {name: np.ascontiguousarray(columns[name][:, :0]) for name in names}
        if "returns" in names:
            columns["game_returns"] = np.ascontiguousarray(columns["game_returns"][:, :0])

    damage(make_shard(tmp_path, "pig", 0, 2), cut)
    with pytest.raises(
        ReplayError, match=f"shard_00000_00000.safetensors: {'|'.join(names)}: 0 numbers per row, expected"
    ):
        fit(game_of("pig"), Window(tmp_path, 1000), tmp_path / "net.safetensors", TRAIN)


def test_values_of_the_dummy_network_are_not_targets(pool, tmp_path) -> None:
    game = aleazero.load_game("pig", **GAMES["pig"])
    play_games(pool, game, "dummy", 3, tmp_path / "replay", SELFPLAY, spec="pig")
    assert not Window(tmp_path / "replay", 10**6).take(["searched"], range(50))["searched"].any()
    fit(game, Window(tmp_path / "replay", 10**6), tmp_path / "net.safetensors", TRAIN)
    play_games(pool, game, str(tmp_path / "net.safetensors"), 3, tmp_path / "next", SELFPLAY, spec="pig")
    assert Window(tmp_path / "next", 10**6).take(["searched"], range(50))["searched"].any()


@pytest.mark.long
def test_three_players(pool, tmp_path) -> None:
    cycle(pool, tmp_path, "yatzy", {"players": 3}, games=2)
    assert check_replay(tmp_path / "replay").broken == []


def test_files_do_not_depend_on_the_number_of_workers_or_on_killed_workers(pool, tmp_path) -> None:
    wanted = cycle(pool, tmp_path / "two", "pig", GAMES["pig"], games=20)
    with Pool(1) as single:
        assert cycle(single, tmp_path / "one", "pig", GAMES["pig"], games=20) == wanted
    game = aleazero.load_game("pig", **GAMES["pig"])
    killed = []

    def kill_one(finished, done, of) -> None:
        if done in (3, 8):
            victim = pool.process_ids[done % len(pool.process_ids)]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    folder = tmp_path / "killed"
    play_games(pool, game, "dummy", 20, folder, SELFPLAY, spec="pig", seed=1, on_game=kill_one)
    assert len(killed) == 2
    assert not set(killed) & set(pool.process_ids)
    found = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert found == {name: data for name, data in wanted.items() if name.startswith("shard_00000")}


def test_interrupted_self_play_resumes(pool, tmp_path) -> None:
    game = aleazero.load_game("pig", **GAMES["pig"])
    wanted = tmp_path / "wanted"
    play_games(pool, game, "dummy", 12, wanted, SELFPLAY, spec="pig", seed=1)

    def leave(finished, done, of) -> None:
        if done == 9:  # with 3 of 12 games missing, at least one of the four shards is complete
            raise KeyboardInterrupt

    folder = tmp_path / "left"
    with pytest.raises(KeyboardInterrupt):
        play_games(pool, game, "dummy", 12, folder, SELFPLAY, spec="pig", seed=1, on_game=leave)
    before = {file.name: file.stat().st_mtime_ns for file in folder.glob("*.safetensors")}
    assert len(before) >= 1
    played = []
    play_games(
        pool, game, "dummy", 12, folder, SELFPLAY, spec="pig", seed=1, on_game=lambda *finished: played.append(finished)
    )
    assert len(played) == 12 - 3 * len(before)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {
        file.name: file.read_bytes() for file in wanted.iterdir()
    }
    assert all((folder / name).stat().st_mtime_ns == time for name, time in before.items())


def test_games_of_another_seed_or_other_settings_are_not_mixed(pool, tmp_path) -> None:
    game = aleazero.load_game("pig", **GAMES["pig"])
    play_games(pool, game, "dummy", 3, tmp_path, SELFPLAY, spec="pig", seed=1)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for seed, config in ((2, SELFPLAY), (1, SELFPLAY.model_copy(update={"simulations": 5}))):
        with pytest.raises(ReplayError, match="belongs to another seed and settings"):
            play_games(pool, game, "dummy", 6, tmp_path, config, spec="pig", seed=seed)
    play_games(pool, game, "dummy", 3, tmp_path, SELFPLAY.model_copy(update={"parallel": 1}), spec="pig", seed=1)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


BROKEN = """
from aleazero import DECISION, TERMINAL, GameInfo

class Fragile:
    num_players, num_actions, max_outcomes, observation_size = 1, 2, 0, 1
    utility = (0, 1)
    name = "fragile"

    def __init__(self): self.moves = []
    def current_player(self): return -4 if len(self.moves) == 3 else 0
    def legal_actions(self): return [0, 1]
    def is_chance_node(self): return False
    def is_terminal(self): return len(self.moves) == 3
    def apply_action(self, action):
        self.moves.append(action)
        if len(self.moves) == 3: raise KeyError("the third move")
    def returns(self): return [0.0]
    def clone(self):
        other = Fragile()
        other.moves = list(self.moves)
        return other
    def observation_tensor(self, player=0): return [0.0]
    def serialize(self): return str(self.moves)
    def action_to_string(self, action): return str(action)
"""


def test_errors_of_the_rules_name_the_game(pool, tmp_path) -> None:
    (tmp_path / "fragile.py").write_text(BROKEN, encoding="utf-8")
    spec = f"{tmp_path}/fragile.py:Fragile"
    game = aleazero.load_game(spec)
    with pytest.raises(AleaZeroError, match="KeyError"):
        play_games(pool, game, "dummy", 2, tmp_path / "replay", SELFPLAY, spec=spec)


def test_an_error_in_a_worker_is_raised_and_the_pool_stays_usable(pool, tmp_path) -> None:
    game = aleazero.load_game("pig", **GAMES["pig"])
    (tmp_path / "net.safetensors").write_bytes(b"not a network")
    with pytest.raises(CheckpointError, match="damaged or not a checkpoint"):
        play_games(pool, game, str(tmp_path / "net.safetensors"), 4, tmp_path / "a", SELFPLAY, spec="pig")
    play_games(pool, game, "dummy", 3, tmp_path / "b", SELFPLAY, spec="pig")
    assert check_replay(tmp_path / "b").games == 3
