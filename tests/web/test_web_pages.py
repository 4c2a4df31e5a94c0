"""All pages in a browser: lessons, comparison, review and runs; two widths; accessibility."""

from __future__ import annotations

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.web.live_web import session_of, start_game

PAGES = (
    "/",
    "/analysis?game=dice_game",
    "/compare?game=dice_game",
    "/lessons",
    "/lessons/chance-nodes",
    "/review",
    "/runs",
)
LESSONS = {
    "chance-nodes": ("Add 10 simulations", "10 simulations, value"),
    "widening": ("Add 10 simulations", "10 simulations, value"),
    "luck": ("Play the match", "40 games of pig"),
    "loops": ("Run", "10,000 simulations each"),
    "chance-modes": ("Run", "5,000 simulations each"),
    "afterstates": ("Plan the turn", "different afterstates"),
}
"""Button of each lesson's demo, and the status that follows."""
TOO_WIDE = """(width) => [...document.querySelectorAll('body *')].filter(
  one => one.getBoundingClientRect().right > width).map(one => `${one.tagName}.${one.getAttribute('class')}`)"""
SLOW = ("loops", "chance-modes", "afterstates")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in SLOW else ()) for name in LESSONS]
)
def test_the_demo_of_a_lesson_runs(page, name):
    button, status = LESSONS[name]
    page.goto(f"/lessons/{name}")
    page.get_by_role("button", name=button, exact=True).click()
    page.locator(".status").filter(has_text=status).wait_for()


def test_two_searches_are_compared_with_exact_values(page):
    page.goto("/compare?game=dice_game")
    page.get_by_label("simulations").fill("20")
    page.get_by_role("button", name="Run both").click()
    page.locator(".status").filter(has_text="20 simulations each").wait_for()
    rows = page.locator("table.numbers tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == ["A: sampling", "B: stratified", "exact"]
    exact = float(rows[2].split("\t")[1])
    for row in rows[:2]:
        _, value, _, _, error = row.split("\t")
        assert float(error) == pytest.approx(abs(float(value) - exact), abs=2e-4)


def test_a_played_game_is_reviewed(page, tmp_path):
    identity = start_game(page, "Coins", seed=1)
    page.get_by_role("button", name="keep").click()
    page.locator(".status").filter(has_text="is over").wait_for()
    saved = tmp_path / "game.json"
    saved.write_text(json.dumps(session_of(page, identity)), encoding="utf-8")
    page.goto("/review")
    page.locator("input[type=file]").set_input_files(saved)
    page.get_by_text("Judged by oracle").wait_for()
    page.get_by_role("button", name=re.compile(r"player 0: keep cost 0\.688")).click()
    page.locator(".coach").filter(has_text="Better: flip").wait_for()
    saved.write_text("{}", encoding="utf-8")
    page.goto("/review")
    page.locator("input[type=file]").set_input_files(saved)
    page.locator(".problem").filter(has_text="game.json has no kind").wait_for()


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_the_width_and_have_no_serious_barriers(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    found = {}
    for path in PAGES:
        page.goto(path)
        page.get_by_text("Loading …").wait_for(state="detached")
        if path == "/":
            page.get_by_role("button", name="Play Dice game").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, page.evaluate(TOO_WIDE, width))
        found[path] = serious(page)
    identity = start_game(page, "Tic tac toe", seats=("you", "you"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width, identity
    found["table"] = serious(page)
    assert {path: problems for path, problems in found.items() if problems} == {}


def serious(page):
    """Return what axe-core finds: rule and first element of each serious problem."""
    found = Axe().run(page).response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:160]) for one in found if one["impact"] in ("serious", "critical")]
