from __future__ import annotations

import json

import pytest

import aleazero
from aleazero.errors import ConfigError, ReplayError
from aleazero.evaluation.game_file import GameFile
from aleazero.evaluation.pairs import open_pairs

PIG = aleazero.load_game("pig", target=20)


@pytest.fixture
def games():
    return GameFile.of(PIG, "pig", ("greedy", "random"), list(open_pairs(PIG, "greedy", "random", [3, 4])))


def test_a_file_reads_back_and_replays(games, tmp_path):
    games.write(tmp_path / "games.json")
    again = GameFile.read(tmp_path / "games.json")
    assert again == games
    assert len(again.games) == 4
    for game in again.games:
        state = PIG.new_initial_state()
        for player, action in game.steps:
            assert player == state.current_player()
            state.apply_action(action)
        assert state.is_terminal()
        assert tuple(state.returns()) == game.returns


@pytest.fixture
def read(tmp_path):
    def call(data):
        (tmp_path / "changed.json").write_text(json.dumps(data))
        return GameFile.read(tmp_path / "changed.json")

    return call


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "other"}, "has no kind 'aleazero games'"),
        ({"format": 2}, "got format 2, expected 1"),
        ({"games": [{"pair": 0}]}, "damaged"),
        ({"games": 7}, "damaged"),
        ({"params": []}, "damaged"),
    ],
)
def test_damaged_files_are_rejected(games, read, change, message):
    with pytest.raises(ReplayError, match=message):
        read({**json.loads(games.to_bytes()), **change})


def test_missing_files_are_rejected(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        GameFile.read(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ReplayError, match="is not JSON"):
        GameFile.read(tmp_path / "bad.json")
