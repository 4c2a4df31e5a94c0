from __future__ import annotations

import pytest

import aleazero
from aleazero.oracles.yatzy import decision_of

POSITION = "open sixes house yatzy upper 40 / player 0 dice 22266 rerolls 1"
TIED = "open large_straight yatzy upper 40 / player 0 dice 11223 rerolls 0"


@pytest.fixture(autouse=True)
def built(oracle):
    """Build the table before the command needs it."""


def test_the_expected_score(run, run_json):
    assert run("oracle", "yatzy", "expected").stdout == "248.4399893779\n"
    assert run_json("oracle", "yatzy", "expected")["expected"] == pytest.approx(248.4399893779, abs=1e-9)


def test_a_position_shows_its_card_and_every_action(run, run_json, oracle):
    state = aleazero.load_game("yatzy", players=1).state_from_text(POSITION)
    exact = state.returns()[0] + oracle.hand_values(*decision_of(state))
    data = run_json("oracle", "yatzy", "show", POSITION)
    assert sorted(row["action"] for row in data["actions"]) == state.legal_actions()
    assert [row["value"] for row in data["actions"]] == sorted(
        (float(exact[a]) for a in state.legal_actions()), reverse=True
    )
    assert [row["name"] for row in data["actions"] if row["best"]] == ["keep-all"]
    text = run("oracle", "yatzy", "show", POSITION).stdout
    assert "sixes             12       ·" in text
    assert "*  keep-all   88.2367" in text
    assert text.count("keep-") == len(data["actions"])
    assert "… 9 more actions" in run("oracle", "yatzy", "show", POSITION, "--top", "3").stdout


def test_all_optimal_actions_are_marked(run, run_json):
    rows = run_json("oracle", "yatzy", "show", "open large_straight upper 40 / player 0 dice 11111 rerolls 1")[
        "actions"
    ]
    assert [row["best"] for row in rows] == [row["loss"] == 0.0 for row in rows]
    assert "*" in run("oracle", "yatzy", "show", TIED).stdout


def test_a_position_before_a_roll_has_a_value(run, run_json, oracle):
    assert run_json("oracle", "yatzy", "show", "filled none upper 0 / player 0 to roll")["value"] == oracle.expected()
    assert "248.4400" in run("oracle", "yatzy", "show", "filled none upper 0 / player 0 to roll").stdout


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("open none upper 40 / over", "the game is over"),
        ("filled none upper 5 / player 0 to roll", "got the upper total 5"),
        ("filled nones upper 0 / player 0 to roll", "no category 'nones', did you mean ones"),
        ("filled none upper 0 / player 0 dice 1234 rerolls 1", "got the dice [1, 2, 3, 4], expected 5"),
        ("open sixes sixes upper 40 / player 0 to roll", "got sixes twice in 'open sixes sixes upper 40'"),
        ("open sixes upper 40 / over", "expected 'over' when all categories are filled, and only then"),
        ("filled none upper 0 / filled none upper 0 / player 0 to roll", "got 2 boards"),
    ],
)
def test_invalid_positions_are_one_line(refused, position, expected):
    assert expected in refused("oracle", "yatzy", "show", position)


def test_a_simulation_shows_mean_bonus_and_histogram(run, run_json):
    words = ("oracle", "yatzy", "simulate", "--games", "500", "--seed", "4")
    data = run_json(*words)
    assert abs(data["errors_off"]) < 4
    assert data["bonus_rate"] == pytest.approx(0.89, abs=0.07)
    assert sum(row["games"] for row in data["histogram"]) == data["count"] == 500
    text = run(*words).stdout
    assert f"mean         {data['mean']:.2f}" in text
    assert "percentiles  1%: " in text
    assert "█" in text
    assert run_json(*words) == data
    assert run_json(*words[:-1], "5")["mean"] != data["mean"]


def test_one_game_has_no_error(run, run_json):
    assert run_json("oracle", "yatzy", "simulate", "--games", "1")["errors_off"] is None
    assert "standard errors" not in run("oracle", "yatzy", "simulate", "--games", "1").stdout


def test_a_plot_is_drawn(run, tmp_path):
    file = tmp_path / "scores.png"
    result = run("oracle", "yatzy", "simulate", "--games", "100", "--plot", str(file))
    assert result.exit_code == 0, result.output
    assert file.read_bytes().startswith(b"\x89PNG")
    assert [one.name for one in tmp_path.iterdir()] == ["scores.png"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--plot", "scores.jpg"), "--plot is 'scores.jpg', expected a name ending in .png"),
        (("--plot", "nowhere/scores.png"), "expected a file in a folder that exists"),
    ],
)
def test_invalid_plots_are_one_line(refused, words, expected):
    assert expected in refused("oracle", "yatzy", "simulate", *words)


def test_zero_games_are_rejected(run):
    assert run("oracle", "yatzy", "simulate", "--games", "0").exit_code == 2
