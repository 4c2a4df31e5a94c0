"""The page of a training run: curves, gates, two games on the same dice side by side, and the report."""

from __future__ import annotations

import json

import pytest

from aleazero.web.tasks import runs
from tests.runs.small_runs import AFTERSTATE, run
from tests.web.conftest import Problems
from tests.web.live_web import Server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("runs")
    run(found / "small", AFTERSTATE)
    return found


def ask(folder, task, **more):
    return task({"folder": folder, "name": "small", **more}, None)


def test_gates_are_listed_with_the_games_of_a_pair_side_by_side(folder):
    gates = ask(folder, runs.gates)
    assert [one["gate"] for one in gates] == ["0003", "0002"]
    stored = json.loads((folder / "small" / "gates" / "0003.json").read_bytes())
    assert (gates[0]["verdict"], gates[0]["pairs"]) == (stored["verdict"], stored["results"]["pairs"])
    games = ask(folder, runs.gate_games, gate="0003")
    recorded = json.loads(games["text"])["games"]
    for side in games["sides"]:
        first, second = (recorded[one["number"]] for one in side["games"])
        assert first["pair"] == second["pair"] == side["pair"]
        assert first["seed"] == second["seed"] == side["seed"]
        assert first["players"] == second["players"][::-1]
    assert sorted(one["number"] for side in games["sides"] for one in side["games"]) == list(range(len(recorded)))


@pytest.mark.parametrize("gate", ["0001", "../gates/0003", "0003_games", ""])
def test_a_gate_that_is_not_in_the_folder_has_no_games(folder, gate):
    assert ask(folder, runs.gate_games, gate=gate) is None
    assert runs.gates({"folder": folder, "name": "../small"}, None) is None


def test_a_mean_and_its_interval_are_one_plot(folder):
    plots = ask(folder, runs.curves)["plots"]
    found = plots["evaluate/opponents/random"]
    assert set(found) == {"mean", "low", "high"}
    for (_, low), (_, mean), (_, high) in zip(found["low"], found["mean"], found["high"], strict=True):
        assert low <= mean <= high


def test_a_curve_keeps_its_ends_and_has_a_limit():
    values = {float(at): at * 2.0 for at in range(1, 10_001)}
    points = runs._thinned(values)
    assert points[0] == [1.0, 2.0]
    assert points[-1] == [10_000.0, 20_000.0]
    assert len(points) <= runs.MOST_POINTS + 1
    assert runs._thinned({1.0: 5.0, 2.0: 6.0}) == [[1.0, 5.0], [2.0, 6.0]]


def test_a_pair_is_stepped_together_and_the_report_runs_no_script(folder, browser, tmp_path):
    server = Server(tmp_path, "--runs", str(folder), games=("pig(target=10)",))
    try:
        page = browser.new_page(base_url=server.origin)
        page.set_default_timeout(90_000)
        problems = Problems()
        problems.watch(page)
        page.goto("/runs/small")
        page.get_by_text("Judged by oracle").wait_for()
        games = page.get_by_role("region", name="Games of a gate")
        assert games.locator(".board svg").count() == 2
        games.get_by_role("button", name="Next").click()
        page.wait_for_function("[...document.querySelectorAll('h3')].every(one => one.innerText === 'Step 2')")
        notes = games.locator(".replay-note").all_inner_texts()
        assert notes[0] == notes[1]  # the same dice: the first roll is the same
        assert notes[0].startswith("Roll: ")
        answer = page.goto("/runs/small/report")
        assert answer.headers["content-security-policy"].startswith("sandbox")
        assert page.title() != ""
        assert page.request.get("/runs/missing/report").status == 404
        assert problems == []
    finally:
        assert "Traceback" not in server.end()
