"""A hint is marked on the board, and a position of a reviewed game can be tried again."""

from __future__ import annotations

import re

from tests.web.live_web import session_of, start_game


def test_a_hint_marks_the_best_move_on_the_board(page):
    identity = start_game(page, "Tic tac toe", seats=("you", "you"))
    for cell in ("a1", "c1", "b2", "c3"):  # o threatens c2
        page.locator(f'.board [data-part="{cell}"]').click()
        page.locator(".chip").first.filter(has_text=cell).wait_for()
    page.get_by_role("button", name="Hint").click()
    page.locator(".news").filter(has_text=re.compile("^Hint: c2")).wait_for()
    assert page.locator(".board .marked").evaluate_all("(found) => found.map(one => one.dataset.part)") == ["c2"]
    page.locator('.board [data-part="c2"]').click()
    page.locator(".chip").first.filter(has_text="c2").wait_for()
    assert page.locator(".news").inner_text() == ""  # the hint belongs to the position before
    assert len(session_of(page, identity)["steps"]) == 5


def test_a_position_of_a_reviewed_game_is_tried_again(page):
    identity = start_game(page, "Coins", seed=1)
    page.get_by_role("button", name="keep").click()
    page.locator(".status").filter(has_text="is over").wait_for()
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name=re.compile(r"player 0: keep cost")).click()
    page.get_by_role("button", name="Try again from here").click()
    page.wait_for_url("**/table/*")
    page.locator(".status").filter(has_text="You to move").wait_for()
    again = session_of(page, page.url.rpartition("/")[2])
    assert (again["start"], again["steps"]) == (session_of(page, identity)["start"], [])
