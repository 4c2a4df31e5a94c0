"""A run of a game whose file has an oracle, a player and fixed positions."""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for small_runs.py and page_trace.py

from page_trace import Page, Truth, wrong
from small_runs import run

import aleazero
from aleazero.evaluation.strength import evaluate_player, fixed_opponents, fixed_positions
from aleazero.oracles.oracle import best_of, evaluator_of
from aleazero.report import write_report

OFFERS = Path(__file__).resolve().parents[2] / "examples" / "offers.py"
PARAMS = {"houses": 2, "offers": 3}
SETTINGS = {
    "game": str(OFFERS),
    "params": PARAMS,
    "rounds": 40,
    "iterations": 2,
    "afterstate": {"lanes": 8, "lane_groups": 2, "batch_size": 32, "replay": 400, "net": {"hidden": [8]}},
    "gate": {"pairs": 10},
    "evaluate": {"pairs": 20, "against": ["random", "oracle"], "calibration_games": 10},
}


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game(str(OFFERS), **PARAMS)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "offers"
    run(path, SETTINGS)
    write_report(path)
    return path


def test_the_kits_oracle_is_exact_and_replaces_the_solver(game):
    solved, oracle = aleazero.solve(game), aleazero.oracle_of(game)
    assert type(oracle).__name__ == "BestPrices"
    for state in fixed_positions(game, "first") + fixed_positions(game, "last"):
        exact = {action: value[0] for action, value in solved.action_values(state).items()}
        assert oracle.action_values(state) == pytest.approx(exact)
        after = state.child(0)
        assert oracle.values(after) == pytest.approx(solved.value(after))
    planned = aleazero.Planner(game, evaluator_of(oracle), backend="plain").run(state)
    assert planned.best_action in best_of(oracle.action_values(state))


def test_a_game_too_large_to_solve_has_the_kits_oracle():
    large = aleazero.load_game(str(OFFERS))
    assert fixed_opponents(large)["oracle"] == "oracle"
    assert len(fixed_positions(large)) == 44


def test_the_kits_player_plays_and_has_regret(game):
    found = evaluate_player("patient:least=9", game, pairs=10, against=["random"])
    assert found.against["random"][1].score().mean > 0.5
    by_chance = evaluate_player("random", game, pairs=2, against=["random"])
    assert 0.0 < found.regret.overall.regret.mean < by_chance.regret.overall.regret.mean
    assert list(found.regret.by_kind) == ["1 to come", "2 to come"]
    with pytest.raises(aleazero.ConfigError, match=r"player 'patient:most=9': patient has .*, expected least=N"):
        aleazero.make_player("patient:most=9", game)


def test_a_run_evaluates_its_networks_with_the_kit(trained):
    measured = json.loads((trained / "evaluations" / "0002.json").read_text())
    assert measured["against"]["oracle"]["spec"] == "oracle"
    assert measured["regret"]["count"] == 22  # decisions of the first fixed set
    assert list(measured["regret"]["by_kind"]) == ["1 to come", "2 to come"]


def test_the_report_shows_the_kits_results(trained):
    page = (trained / "report.html").read_text(encoding="utf-8")
    assert wrong(Page(page), Truth(trained)) == []
    text = " ".join(re.sub(r"<style.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL).split())
    assert "against the oracle" in text
    assert "1 to come" in text
    assert "Accepts an offer that is above the expected price of waiting." in text
    assert "Optimal play by exact values." not in text  # replaced by the kit's note


def test_the_report_shows_the_shares_of_warning_moves(tmp_path):
    path, small = tmp_path / "azul", {"lanes": 4, "lane_groups": 2, "batch_size": 16, "replay": 400, "target": "td"}
    run(path, {
        "game": "azul", "rounds": 2, "iterations": 1, "afterstate": {**small, "net": {"kind": "mlp", "hidden": [4]}},
        "evaluate": {"pairs": 2, "against": ["random"], "calibration_games": 0},
    })  # fmt: skip
    write_report(path)
    page = (path / "report.html").read_text(encoding="utf-8")
    assert wrong(Page(page), Truth(path)) == []
    text = " ".join(re.sub(r"<style.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL).split())
    assert "Drafts that put all tiles on the floor, as a share of the player's decisions." in html.unescape(text)
    for name in ("(?<!dominated) floor moves", "dominated floor moves"):
        assert re.search(rf"{name} [0-9.]+% (above the limit of [0-9.]+% , )?[0-9]+ decisions", text)


def test_notes_are_read_from_the_run_and_checked(trained, tmp_path):
    from aleazero.runs.directory import NOTES, read_notes

    assert read_notes(tmp_path) == {}
    assert list(read_notes(trained)) == ["oracle"]
    (tmp_path / NOTES).parent.mkdir()
    for damaged in ("{", "[]", '{"oracle": 3}'):
        (tmp_path / NOTES).write_text(damaged)
        with pytest.raises(aleazero.RunError, match="is damaged"):
            read_notes(tmp_path)
