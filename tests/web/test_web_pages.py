"""All pages in a browser: lessons, comparison, review and runs; two widths; accessibility."""

from __future__ import annotations

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.web.live_web import session_of, start_game

PAGES = ("/", "/analysis?game=dice_game", "/lessons", "/lessons/chance-nodes", "/review", "/runs", "/runs/first")
TABLES = ("2048", "azul", "backgammon", "coins", "dice_game", "pig(target=20)", "tic_tac_toe", "yatzy")
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
LONG_LOOKS = ((1280, "dark"), (390, "light"))
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
    assert page.locator(".board svg").get_attribute("aria-label") == "dice game, 16 points, roll or stop"
    rows = page.locator("table.numbers tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == ["A: sampling", "B: open", "exact"]
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
    page.locator(".replay-note").filter(has_text="Better: flip").wait_for()
    saved.write_text("{}", encoding="utf-8")
    page.goto("/review")
    page.locator("input[type=file]").set_input_files(saved)
    page.locator(".problem").filter(has_text="game.json has no kind").wait_for()


def open_page(page, path):
    """Open a page and wait until all of it is there."""
    page.goto(path)
    page.get_by_text("Loading …").wait_for(state="detached")
    if path == "/":
        page.get_by_role("button", name="Play Dice game").wait_for()
    elif path.startswith("/table"):
        page.locator(".status").filter(has_text="to move").wait_for()


def new_session(page, **given):
    answer = page.request.post("/api/v1/sessions", data={"draw": True, **given})
    assert answer.ok, answer.text()
    return answer.json()["id"]


def all_pages(page):
    """Open all pages one after another, and tables, plots and graphs with content; yield the name of each."""
    for path in PAGES:
        open_page(page, path)
        yield path
    for game in TABLES:
        open_page(page, f"/table/{new_session(page, game=game)}")
        yield game
    open_page(page, "/analysis?game=pig(target=20)")
    page.get_by_role("button", name="Step by 100 simulations", exact=True).click()
    page.locator(".tree .node").first.wait_for()
    page.get_by_role("button", name="Plan", exact=True).click()
    page.get_by_role("img", name="Plan of the turn").wait_for()
    yield "tree and plan"
    open_page(page, "/compare?game=dice_game")
    page.get_by_label("simulations").fill("20")
    page.get_by_role("button", name="Run both").click()
    page.locator(".status").filter(has_text="20 simulations each").wait_for()
    yield "comparison"
    page.goto(f"/review?session={new_session(page, game='coins', moves=['keep'])}")
    page.get_by_text("Judged by").wait_for()
    yield "review"


@pytest.mark.parametrize(
    ("width", "theme"),
    [(1280, "light"), (390, "dark"), *(pytest.param(*both, marks=pytest.mark.long) for both in LONG_LOOKS)],
)
def test_pages_fit_the_width_and_have_no_serious_barriers(page, width, theme):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=theme)
    found = {}
    for name in all_pages(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, page.evaluate(TOO_WIDE, width))
        found[name] = serious(page)
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_a_page_fits_a_phone_before_its_icons_are_loaded(page):
    page.set_viewport_size({"width": 390, "height": 844})
    waiting = []
    page.route("**/*.woff2", lambda route: waiting.append(route))
    page.goto("/analysis?game=dice_game", wait_until="commit")
    page.locator(".q-icon").last.wait_for(state="attached")
    page.locator("table.numbers, .board svg").first.wait_for()
    assert waiting
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for route in waiting:
        route.continue_()


def serious(page):
    """Return what axe-core finds: rule, first element and reason of each serious problem."""
    page.wait_for_function("!document.querySelector('.q-ripple__inner')")  # of a click; axe-core ignores its clipping
    found = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    return [(one["id"], one["nodes"][0]["html"][:160], one["nodes"][0]["failureSummary"]) for one in found]
