"""The commands ``aleazero oracle bearoff …``."""

from __future__ import annotations

import pytest

from aleazero.cli.verbs.backgammon import moves_text, read_counts
from aleazero.errors import PositionError
from aleazero.oracles.bearoff import OneSided, Play, TwoSided
from aleazero.oracles.table_file import write_table


@pytest.fixture(scope="module", autouse=True)
def built():
    """Build the tables before the commands need them."""
    return TwoSided.load_or_build(), OneSided.load_or_build()


def test_a_table_is_built_once(run, run_json, tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    result = run("oracle", "bearoff", "build", "--points", "3", "--checkers", "4", "--threads", "1")
    assert result.exit_code == 0, result.output
    assert "35 per side, float64, 0.0 MB" in result.stdout
    assert [file.name for file in (tmp_path / "oracles").iterdir()] == ["bearoff_3x4.table"]
    data = run_json("oracle", "bearoff", "build", "--points", "3", "--checkers", "4")
    assert data["positions"] == 35
    assert data["bytes"] == 35 * 35 * 8


def test_estimates(run, run_json):
    assert (
        "6x10: 8,008² pairs, file 257 MB, memory up to"
        in run("oracle", "bearoff", "build", "--checkers", "10", "--estimate").stdout
    )
    data = run_json("oracle", "bearoff", "build", "--checkers", "10", "--estimate")
    assert data["file_bytes"] == 8008 * 8008 * 4


def test_a_position_shows_all_rolls(run, run_json):
    words = ("oracle", "bearoff", "show", "111102", "200030")
    data = run_json(*words)
    assert data["equity"] == pytest.approx(0.08158680, abs=1e-8)
    assert len(data["rolls"]) == 21
    mean = sum(row["equity"] * (1 if row["dice"][0] == row["dice"][1] else 2) for row in data["rolls"]) / 36
    assert mean == pytest.approx(data["equity"], abs=1e-12)
    text = run(*words).stdout
    assert "equity +0.081587, win 54.0793%" in text
    assert "11    6/5 2/1 1/off(2)" in text


def test_a_roll_shows_all_plays(run, run_json):
    words = ("oracle", "bearoff", "show", "1,1,1,1,0,2", "2 0 0 0 3 0", "--dice", "11")
    plays = run_json(*words)["plays"]
    assert len(plays) == 32
    assert plays[0] == {"moves": "6/5 2/1 1/off(2)", "after": [0, 0, 1, 1, 1, 1], "loss": 0.0} | {
        "equity": plays[0]["equity"]
    }
    losses = [play["loss"] for play in plays]
    assert losses == sorted(losses)
    assert "… 29 more plays" in run(*words, "--top", "3").stdout


def test_approximate_values_are_marked(run, run_json):
    words = ("oracle", "bearoff", "show", "022335", "033333", "--approximate")
    data = run_json(*words)
    assert not data["exact"]
    assert data["mean_rolls"][0] > data["mean_rolls"][1]
    assert ", approximate" in run(*words).stdout


def test_a_finished_game_has_no_rolls(run_json):
    data = run_json("oracle", "bearoff", "show", "000000", "100000")
    assert data == {"me": [0] * 6, "them": [1, 0, 0, 0, 0, 0], "exact": True, "equity": 1.0}


def test_a_stored_table_is_checked(run, run_json, refused, tmp_path, monkeypatch):
    assert run_json("oracle", "bearoff", "check", "--pairs", "20")["valid"]
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    words = ("oracle", "bearoff", "check", "--points", "3", "--checkers", "3")
    assert "does not exist: run aleazero oracle bearoff build --points 3 --checkers 3" in refused(*words)
    table = TwoSided.load_or_build(3, 3)
    assert "checksum  valid" in run(*words).stdout
    path, name = TwoSided.path(3, 3), TwoSided._name(3, 3)
    write_table(path, name, table.table * 0.99)
    assert run(*words).exit_code == 1
    path.write_bytes(path.read_bytes()[:-1])
    assert "is damaged or has another version" in refused(*words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "111103", "200030"), "got 7 checkers, expected at most 6 in this table"),
        (("show", "11110", "200030"), "ME has 5 points and THEM 6"),
        (("show", "11110x", "200030"), "ME is '11110x', expected one digit per point"),
        (("show", "", "200030"), "ME is '', expected one digit per point"),
        (("show", "111102", "1,0,0,0,0,-1"), "THEM is '1,0,0,0,0,-1', expected one digit per point"),
        (("show", "111102", "200030", "--dice", "17"), "--dice is '17', expected two numbers from 1 to 6"),
        (("show", "111102", "200030", "--dice", "3"), "--dice is '3', expected two numbers from 1 to 6"),
        (("show", "000000", "200030", "--dice", "31"), "the game is over"),
        (("show", "000000", "000000"), "got no checkers on either side"),
        (("build", "--checkers", "15"), "--checkers is 15, expected 1 to 14"),
        (("build", "--points", "0"), "--points is 0, expected 1 to 12"),
        (("build", "--points", "12", "--checkers", "14"), "12x14 needs up to 374,1"),
        (("check", "--checkers", "99"), "--checkers is 99, expected 1 to 14"),
    ],
)
def test_invalid_input_is_one_line(refused, words, message):
    assert message in refused("oracle", "bearoff", *words)


def test_notation():
    assert moves_text(Play(((6, 3), (3, 0), (6, 3), (3, 0)), (0,) * 6, 1.0)) == "6/3(2) 3/off(2)"
    assert read_counts("10,0,5", "ME") == [10, 0, 5]
    assert read_counts("3", "ME") == [3]
    with pytest.raises(PositionError, match="ME is '1,a'"):
        read_counts("1,a", "ME")
