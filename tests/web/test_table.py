"""Games on the table, played in a browser by clicks and by keyboard."""

from __future__ import annotations

import re

import pytest

from tests.web.live_web import GAMES, Server, session_of, start_game


def wait_for_turn(page):
    page.locator(".status").filter(has_text=re.compile("to move|is over")).wait_for()


def is_over(page):
    return "is over" in page.locator(".status").inner_text()


def test_a_game_by_clicks_on_the_board_undo_to_the_start_and_redo(page):
    identity = start_game(page, "Tic tac toe", seats=("you", "you"))
    for number in range(9):
        if is_over(page):
            break
        page.locator('.board [data-part][role="button"]').first.click()
        page.wait_for_function(f"document.querySelectorAll('.rolls .chip').length >= {min(8, number + 1)}")
        wait_for_turn(page)
    assert is_over(page)
    ended = session_of(page, identity)
    assert len(ended["steps"]) >= 5
    while not page.get_by_role("button", name="Undo").is_disabled():
        before = len(session_of(page, identity)["steps"])
        page.get_by_role("button", name="Undo").click()
        page.wait_for_function("(n) => document.querySelectorAll('ol li').length < n", arg=before)
    back = session_of(page, identity)
    assert back["steps"] == []
    assert back["redo"] == ended["steps"]
    while not page.get_by_role("button", name="Redo").is_disabled():
        before = len(session_of(page, identity)["steps"])
        page.get_by_role("button", name="Redo").click()
        page.wait_for_function("(n) => document.querySelectorAll('ol li').length > n", arg=before)
    assert session_of(page, identity) == ended


def test_a_game_by_keyboard_with_dice_and_a_computer_player(page):
    identity = start_game(page, "Pig", seats=("you", "simple player"), seed=7)
    for _ in range(60):
        wait_for_turn(page)
        if is_over(page):
            break
        steps = len(session_of(page, identity)["steps"])
        page.keyboard.press("1")
        page.wait_for_function("(n) => document.querySelectorAll('ol li').length > n", arg=steps)
    else:
        pytest.fail("the game did not end")
    data = session_of(page, identity)
    assert {player for player, _ in data["steps"]} == {-1, 0, 1}
    page.keyboard.press("u")
    page.wait_for_function("(n) => document.querySelectorAll('ol li').length < n", arg=len(data["steps"]))
    page.keyboard.press("y")
    page.wait_for_function("(n) => document.querySelectorAll('ol li').length >= n", arg=len(data["steps"]))
    assert session_of(page, identity)["steps"] == data["steps"]


def test_moves_against_a_computer_player_are_in_the_history_again_after_redo(page):
    identity = start_game(page, "Tic tac toe", seats=("you", "random moves"))
    page.locator('.board [data-part][role="button"]').first.click()
    page.wait_for_function("document.querySelectorAll('ol li').length == 2")
    moves = page.locator("ol li").all_inner_texts()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("No moves yet.").wait_for()
    page.get_by_role("button", name="Redo").click()
    page.wait_for_function("document.querySelectorAll('ol li').length > 0")
    assert page.locator("ol li").all_inner_texts() == moves
    assert len(session_of(page, identity)["steps"]) == 2


def test_a_page_that_another_one_has_overtaken_shows_the_session_and_changes_nothing(page):
    identity = start_game(page, "Tic tac toe", seats=("you", "you"))
    other = page.context.new_page()
    other.goto(page.url)
    other.locator("ol, .scroll").filter(has_text="No moves yet.").wait_for()
    page.locator('.board [data-part][role="button"]').first.click()
    page.wait_for_function("document.querySelectorAll('ol li').length == 1")
    other.locator('.board [data-part][role="button"]').last.click()
    other.wait_for_function("document.querySelectorAll('ol li').length == 1")
    steps = session_of(page, identity)["steps"]
    assert len(steps) == 1
    assert other.locator("ol li").all_inner_texts() == page.locator("ol li").all_inner_texts()
    other.locator('.board [data-part][role="button"]').last.click()
    other.wait_for_function("document.querySelectorAll('ol li').length == 2")
    assert session_of(page, identity)["steps"][:1] == steps
    other.close()


def test_a_page_that_another_one_has_overtaken_judges_the_new_moves(page):
    def click(tab, cell, steps):
        tab.locator(f'.board [data-part="{cell}"]').click()
        tab.wait_for_function("(n) => document.querySelectorAll('ol li').length == n", arg=steps)

    start_game(page, "Tic tac toe", seats=("you", "you"))
    click(page, "a1", 1)
    click(page, "b1", 2)
    page.locator(".coach").filter(has_text=re.compile("b1 (was|cost)")).wait_for()
    other = page.context.new_page()
    other.goto(page.url)
    for left in (1, 0):
        other.get_by_role("button", name="Undo").click()
        other.wait_for_function("(n) => document.querySelectorAll('ol li').length == n", arg=left)
    click(other, "c3", 1)
    click(other, "c2", 2)
    page.locator('.board [data-part="a2"]').click()  # the session has changed
    page.locator("ol li").filter(has_text="c2").wait_for()
    page.locator(".coach").filter(has_text=re.compile("c2 (was|cost)")).wait_for()
    other.close()


def test_a_users_file_without_drawing_is_played_by_buttons_with_coach_and_curve(page):
    identity = start_game(page, "Coins", seed=1)
    assert page.locator(".board pre").inner_text() == "1 coins"
    page.get_by_role("button", name="flip").click()
    page.locator(".coach").filter(has_text="flip was the best move").wait_for()
    page.get_by_role("button", name="Hint").click()
    page.locator(".news").filter(has_text="Hint: ").wait_for()
    steps = session_of(page, identity)["steps"]
    assert steps[0] == [0, 0]
    assert steps[1][0] == -1
    luck = float(page.locator(".meter .number").inner_text())
    assert luck == (pytest.approx(0.6, abs=0.05) if steps[1][1] == 1 else pytest.approx(-1.7, abs=0.05))


def test_keys_work_after_a_click_on_a_button_and_those_of_the_board_take_precedence(page):
    identity = start_game(page, "Yatzy", seats=("you",), seed=1, players=1)
    wait_for_turn(page)
    page.get_by_role("button", name="Hint").click()  # the button keeps the focus
    page.locator(".news").filter(has_text="Hint: ").wait_for()
    for key in "12":
        page.keyboard.press(key)
        page.wait_for_function("(n) => +document.querySelector('.board').dataset.clicks == n", arg=int(key))
    selected = page.locator(".board .selected").evaluate_all("(all) => all.map(one => one.dataset.part)")
    assert selected == ["die1", "die2"]
    shown = page.locator("[data-digit]").evaluate_all("(all) => all.map(one => +one.dataset.digit)")
    assert shown == [6, 7, 8, 9]
    page.keyboard.press("Enter")  # belongs to the button
    page.keyboard.press("r")
    page.wait_for_function("document.querySelectorAll('ol li').length == 3")
    assert session_of(page, identity)["steps"][1][0] == 0


def test_arrow_keys_of_a_board_do_not_scroll_the_page(page):
    page.set_viewport_size({"width": 1280, "height": 500})
    identity = start_game(page, "2048", seed=1)
    wait_for_turn(page)
    for number in range(4):
        steps = len(session_of(page, identity)["steps"])
        page.keyboard.press(("ArrowDown", "ArrowLeft")[number % 2])
        page.wait_for_function("(n) => document.querySelectorAll('ol li').length > n", arg=steps)
        wait_for_turn(page)
    assert page.evaluate("window.scrollY") == 0


def test_a_game_without_chance_has_no_luck_and_no_outcomes_to_enter(page):
    start_game(page, "Tic tac toe", seats=("you", "you"))
    page.get_by_role("region", name="Value", exact=True).wait_for()
    assert page.locator(".meter .number").count() == 0
    assert page.get_by_role("switch", name="Enter outcomes by hand").count() == 0


@pytest.mark.long  # judged by plans with the bundled network
def test_luck_is_shown_in_the_unit_of_the_game(page):
    start_game(page, "Backgammon", seats=("you", "you"), seed=4)
    wait_for_turn(page)
    page.keyboard.press("1")
    page.wait_for_function("document.querySelectorAll('ol li').length == 3")
    page.get_by_text("Judged by").wait_for()
    page.wait_for_function("document.querySelector('.meter .number').innerText != '+0.000'")
    shown = page.locator(".meter .number").all_inner_texts()
    assert all(re.fullmatch(r"[+-]0\.\d\d\d", text) for text in shown), shown
    assert float(shown[0]) == -float(shown[1])


def test_outcomes_can_be_entered_by_hand(page):
    identity = start_game(page, "Pig", seats=("you", "you"))
    page.get_by_role("switch", name="Enter outcomes by hand").click()
    page.get_by_role("button", name="All moves as buttons").click()
    page.get_by_role("button", name="roll", exact=True).last.click()
    page.get_by_role("button", name=re.compile(r"^4\s+16.7%")).click()
    page.wait_for_function("document.querySelectorAll('ol li').length === 2")
    assert session_of(page, identity)["steps"] == [[0, 0], [-1, 4]]


def test_rules_that_raise_or_loop_show_an_error_and_the_server_lives_on(page):
    start_game(page, "Broken")
    page.get_by_role("button", name="raise").click()
    page.get_by_text("no such coin").wait_for()
    page.get_by_role("button", name="loop").click()
    page.get_by_text("longer than").wait_for()
    page.get_by_role("button", name="end", exact=True).click()
    page.locator(".status").filter(has_text="is over").wait_for()


def test_a_saved_game_opens_equal_in_a_new_server(browser, tmp_path):
    servers = [Server(tmp_path, games=GAMES[:1])]
    try:
        page = browser.new_page(base_url=servers[0].origin)
        identity = start_game(page, "Coins", seed=1)
        page.get_by_role("button", name="flip").click()
        page.wait_for_function("document.querySelectorAll('ol li').length === 2")
        saved, board = session_of(page, identity), page.locator(".board").inner_text()
        page.close()
        servers.pop().end()
        servers.append(Server(tmp_path, games=GAMES[:1]))
        page = browser.new_page(base_url=servers[0].origin)
        page.goto("/")
        page.locator(f'a[href="/table/{identity}"]').click()
        page.wait_for_function("document.querySelectorAll('ol li').length === 2")
        assert session_of(page, identity) == saved
        assert page.locator(".board").inner_text() == board
        page.close()
    finally:
        for server in servers:
            server.end()
