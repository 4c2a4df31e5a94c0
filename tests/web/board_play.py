"""Games played on the table by clicks on the board, as a person does, and what must hold when they are over."""

from __future__ import annotations

import random
import re
from xml.etree import ElementTree

from aleazero import load_game
from aleazero.games.scene import Selection
from aleazero.games.svg import to_svg
from aleazero.serving.session import PERSON, Session
from tests.web.live_web import session_of

WAITS = re.compile("to move|is over")
"""Status of a table on which no player and no dice are moving."""
STEPS = "document.querySelectorAll('[aria-label=\"All moves and rolls\"] li').length"
"""JavaScript of the number of steps in the history."""
CLICKED = f"([clicks, steps]) => +document.querySelector('.board').dataset.clicks == clicks || {STEPS} > steps"
TEXTS = "() => [...document.querySelectorAll('.board svg text')].map(one => one.textContent)"
MOST_DECISIONS = 1000


def wait_for_turn(page):
    """Wait until a person is to move or the game is over; return whether it is over."""
    status = page.locator(".status").filter(has_text=WAITS)
    status.wait_for()
    return "is over" in status.inner_text()


def wait_for_steps(page, more_than=-1, fewer_than=10**9):
    """Wait until the history has this many steps, and the table waits."""
    page.wait_for_function(f"([low, high]) => low < {STEPS} && {STEPS} < high", arg=[more_than, fewer_than])
    wait_for_turn(page)


def click_action(page, state, action, rng):
    """Click the parts of an action, in one of its orders."""
    scene = state.draw()
    move = rng.choice([move for move in scene.moves if move.action == action])
    selection = Selection(scene.moves)
    steps = page.evaluate(STEPS)
    for step in move.steps:
        parts = [step] if isinstance(step, str) else sorted(step)
        rng.shuffle(parts)
        for part in parts:
            page.locator(f'.board [data-part="{part}"][role="button"]').click()
            selection = selection.click(part)
            page.wait_for_function(CLICKED, arg=[len(selection.clicks), steps])
    if not selection.finished:
        page.get_by_role("button", name="Play selection").click()


def play_to_the_end(page, identity, seed=0, choose=None):
    """Play a game by clicks until it is over; return its stored session.

    Args:
        page: the table.
        identity: id of its session.
        seed: seed of the choices.
        choose: returns an action of a state; None for random ones.
    """
    rng = random.Random(seed)
    data = session_of(page, identity)
    session = Session.from_dict(data)
    state, done, chosen = session.state, len(data["steps"]), []
    for _ in range(MOST_DECISIONS):
        if wait_for_turn(page):
            break
        data = session_of(page, identity)
        for _, action in data["steps"][done:]:
            state.apply_action(action)
        done = len(data["steps"])
        assert data["seats"][state.current_player()] == PERSON
        action = rng.choice(state.legal_actions()) if choose is None else choose(state)
        click_action(page, state, action, rng)
        wait_for_steps(page, more_than=done)
        chosen.append([state.current_player(), action])
    data = session_of(page, identity)
    persons = [number for number, seat in enumerate(data["seats"]) if seat == PERSON]
    assert [step for step in data["steps"] if step[0] in persons] == chosen
    check_end(page, data)
    return data


def check_end(page, data):
    """Check that the page shows the end of a stored session by the rules: result, board, and number of steps."""
    state = Session.from_dict(data).state
    assert state.is_terminal()
    status = page.locator(".status").inner_text()
    shown = [float(result.split()[-1]) for result in status.removeprefix("The game is over: ").split(", ")]
    assert shown == [float(f"{value:g}") for value in state.returns()]
    root = ElementTree.fromstring(to_svg(state.draw()))
    assert page.evaluate(TEXTS) == [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert page.locator(".board svg").get_attribute("aria-label") == root.get("aria-label")
    assert page.evaluate(STEPS) == len(data["steps"])
    again = load_game(data["game"], **data["params"]).state_from_text(data["start"])
    for _, action in data["steps"]:
        again.apply_action(action)
    assert again.to_text() == state.to_text()


def undo_to_the_start_and_redo(page, identity):
    """Take back a complete game and play it again, and check that nothing of it is lost."""
    ended = session_of(page, identity)
    for name, left, kept in (("Undo", "steps", "redo"), ("Redo", "redo", "steps")):
        button, data = page.get_by_role("button", name=name), session_of(page, identity)
        while data[left]:
            button.click()
            steps = len(data["steps"])
            wait_for_steps(page, **({"fewer_than": steps} if name == "Undo" else {"more_than": steps}))
            data = session_of(page, identity)
        assert button.is_disabled()
        assert data[kept] == ended["steps"]
    assert session_of(page, identity) == ended
    check_end(page, ended)
