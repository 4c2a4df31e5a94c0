"""Wrong numbers in a shard are detected; the error names the place, the value and the expected value."""

import numpy as np
import pytest
from played_episodes import GAMES, damage, game_of, make_shard

from aleazero.errors import ReplayError
from aleazero.replay.check import check_numbers
from aleazero.replay.shard import read_shard


@pytest.mark.parametrize("name", GAMES)
def test_recorded_games_are_valid(tmp_path, name):
    check_numbers(read_shard(make_shard(tmp_path, name, 0, 2)), game_of(name))


def at(where, column, value, place=None):
    """Return a function that writes a value to the first row that ``where`` selects."""

    def change(columns):
        row = int(np.flatnonzero(where(columns))[0])
        columns[column][row if place is None else (row, place)] = value

    return change


def decision(c):
    return ~c["afterstate"]


def afterstate(c):
    return c["afterstate"]


def target(c):
    return c["weights"] > 0


def untargeted(c):
    return decision(c) & (c["weights"] == 0)


def forced(c):
    return ~c["searched"]


def narrow(c):
    """Decisions with an illegal action after the legal ones."""
    return decision(c) & ~c["legal_masks"][:, 1]


def share_more(columns):
    row = int(np.flatnonzero(target(columns))[0])
    columns["policies"][row] *= np.float32(1.0001)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (at(decision, "observations", np.nan, 2), "observations has nan, expected finite numbers"),
        (at(target, "policies", np.inf, 0), "policies has inf, expected finite numbers"),
        (at(decision, "returns", np.nan, 1), "returns has nan, expected finite numbers"),
        (at(decision, "root_values", -np.inf, 0), "root_values has -inf, expected finite numbers"),
        (at(decision, "scores", np.nan, 0), "scores has nan, expected finite numbers"),
        (at(decision, "weights", np.nan), "weights has nan, expected finite numbers"),
        (at(decision, "legal_masks", False), "legal_masks has 0 actions at a decision, expected at least 1"),
        (at(afterstate, "legal_masks", True, 0), "legal_masks has 1 actions at an afterstate, expected none"),
        (at(decision, "weights", -1), "weights has -1, expected at least 0"),
        (at(afterstate, "weights", 1), "weights has 1 at an afterstate, expected 0"),
        (at(target, "policies", -0.25, 0), "policies has -0.25, expected at least 0"),
        (at(narrow, "policies", 0.25, 1), "policies has 0.25 for an illegal action, expected 0"),
        (share_more, r"policies sum to 1\.0001, expected 1"),
        (at(target, "policies", 0), "policies sum to 0, expected 1"),
        (at(untargeted, "policies", 0.5, 0), r"policies sum to 0\.5 where the weight is 0, expected 0"),
        (at(forced, "root_values", 0.5, 1), r"root_values has 0\.5 without a search, expected 0"),
        (at(decision, "viewers", 2), "viewers has 2, expected 0 to 1"),
        (at(decision, "viewers", -1), "viewers has -1, expected 0 to 1"),
        (at(decision, "returns", 0, 1), "returns has 0, expected the final returns"),
        (at(lambda c: np.arange(len(c["ply"])) == 3, "scores", 7, 1), "scores has 7, expected equal final scores"),
    ],
)
def test_each_check_of_samples(tmp_path, change, message):
    shard = damage(make_shard(tmp_path, "pig", 0, 2), change)
    with pytest.raises(ReplayError, match=rf"^game \d, step \d+: {message}"):
        check_numbers(read_shard(shard.path), game_of("pig"))


def test_the_error_names_the_game_and_step(tmp_path):
    def change(columns):
        columns["weights"][columns["sample_offsets"][1] + 4] = np.nan

    shard = damage(make_shard(tmp_path, "pig", 2, 4), change)
    step = shard.columns["step"][shard.columns["sample_offsets"][1] + 4]
    with pytest.raises(ReplayError, match=f"^game 3, step {step}: weights"):
        check_numbers(shard, game_of("pig"))


def set_returns(value):
    def change(columns):
        columns["game_returns"][:] = value
        columns["returns"][:] = value

    return change


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("pig", 1.5, r"game 0: the returns are \[1\.5, 1\.5\], expected numbers from -1 to 1"),
        ("solitaire", 375, r"game 0: the returns are \[375\.0\], expected numbers from 0 to 374"),
        ("2048", np.inf, r"returns has inf, expected finite"),
    ],
)
def test_returns_must_be_in_the_range_of_the_game(tmp_path, name, value, message):
    shard = damage(make_shard(tmp_path, name, 0, 1), set_returns(value))
    with pytest.raises(ReplayError, match=message):
        check_numbers(shard, game_of(name))


def test_returns_of_games_without_samples_are_checked(tmp_path):
    def change(columns):
        for name in columns:
            if name not in ("steps", "starts", "game_numbers", "game_seeds", "game_returns") and "offsets" not in name:
                columns[name] = columns[name][:0]
        columns["sample_offsets"][:] = 0
        columns["game_returns"][0] = np.nan

    shard = damage(make_shard(tmp_path, "2048", 0, 1), change, samples=0)
    with pytest.raises(ReplayError, match=r"game 0: the returns are \[nan\], expected numbers from -inf to inf"):
        check_numbers(read_shard(shard.path), game_of("2048"))


def test_the_dummy_network_has_no_values(tmp_path):
    shard = damage(make_shard(tmp_path, "pig", 0, 1), model="dummy")
    with pytest.raises(ReplayError, match=r"searched is 1 in a game of 'dummy', which has no values, expected 0"):
        check_numbers(shard, game_of("pig"))


def test_samples_of_other_sizes_are_found(tmp_path):
    shard = read_shard(make_shard(tmp_path, "pig", 0, 1))
    with pytest.raises(ReplayError, match=r"returns: 2 numbers per row, expected 1 in 2048\(\)"):
        check_numbers(shard, game_of("2048"))
    with pytest.raises(ReplayError, match=r"legal_masks: 2 numbers per row, expected 9 in tic_tac_toe\(\)"):
        check_numbers(shard, game_of("tic_tac_toe"))
