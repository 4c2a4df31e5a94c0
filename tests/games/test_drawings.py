"""The drawings of the bundled games: every legal action can be clicked, and every state can be drawn."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

import aleazero
from aleazero.games.base import DECISION, State
from aleazero.games.scene import Group, Label, Move, Scene, Selection
from aleazero.games.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
GAMES = [
    "tic_tac_toe",
    "pig(target=20)",
    "dice_game",
    "2048",
    "yatzy(players=1)",
    "yatzy(players=4)",
    "backgammon",
    "backgammon(checkers=3)",
    "backgammon(start='bearoff',checkers=6)",
    "azul",
    "azul(players=3)",
    "azul(players=4)",
    "examples/shut_the_box.py(tiles=12)",
    "examples/coins.py",
]
STATES = 120
"""States of a random game that are drawn."""


def load(text: str) -> aleazero.Game:
    from aleazero.games.registry import parse_game_text

    name, params = parse_game_text(text)
    return aleazero.load_game(name, **params)


def states(game: aleazero.Game, seed: int, most: int = STATES) -> Iterator[State]:
    """Yield the states of a game of random actions."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    for _ in range(most):
        yield state.clone()
        if state.is_terminal():
            return
        chance = state.is_chance_node()
        state.apply_action(state.sample_outcome(rng.random()) if chance else rng.choice(state.legal_actions()))


def scene_of(state: State, clicks: tuple[str, ...] = ()) -> Scene:
    scene = state.draw(clicks)
    assert scene is not None
    return scene


def click_through(state: State, move: Move, scene: Scene) -> Selection:
    """Click the parts of a move, each of which must be offered, and draw the picture after each click."""
    selection = Selection(scene.moves)
    for step in move.steps:
        for part in (step,) if isinstance(step, str) else sorted(step, reverse=True):
            assert part in selection.clickable, (state.to_text(), move)
            assert not selection.finished
            selection = selection.click(part)
            scene_of(state, selection.clicks)
    return selection


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_action_can_be_clicked(name: str) -> None:
    decisions, rng = 0, random.Random(5)
    for state in states(load(name), seed=7):
        scene = scene_of(state)
        if state.kind() != DECISION:
            assert list(scene.moves) == []
            continue
        assert {move.action for move in scene.moves} == set(state.legal_actions()), state.to_text()
        decisions += 1
        if decisions % 8 == 1:
            for move in rng.sample(scene.moves, min(len(scene.moves), 12)):
                selection = click_through(state, move, scene)
                assert selection.finished, (state.to_text(), move)
                assert selection.action == move.action
    assert decisions > 0


@pytest.mark.parametrize("name", GAMES)
def test_all_states_are_drawn_within_the_picture(name: str) -> None:
    for number, state in enumerate(states(load(name), seed=3, most=3000)):
        scene = scene_of(state)
        assert scene.title
        assert all(shape.title for shape in scene.parts())
        if number % 10 == 0 or state.is_terminal():
            _check_svg(scene)


def _check_svg(scene: Scene) -> None:
    clickable = Selection(scene.moves).clickable
    root = ET.fromstring(to_svg(scene, selected=clickable[:1], clickable=clickable))
    for found in root.iter(f"{SVG}rect"):
        x, y, width, height = (float(found.attrib[side]) for side in ("x", "y", "width", "height"))
        assert min(x, y, width, height) >= 0, ET.tostring(found)
        assert x + width <= scene.width, ET.tostring(found)
        assert y + height <= scene.height, ET.tostring(found)
    for found in root.iter(f"{SVG}circle"):
        x, y, radius = (float(found.attrib[name]) for name in ("cx", "cy", "r"))
        assert radius <= min(x, y, scene.width - x, scene.height - y) + 1e-9, ET.tostring(found)


def test_a_random_game_is_played_by_clicks() -> None:
    for name in ("yatzy(players=2)", "backgammon", "azul"):
        rng = random.Random(11)
        state = load(name).new_initial_state()
        for _ in range(120):
            if state.is_terminal():
                break
            if state.is_chance_node():
                state.apply_action(state.sample_outcome(rng.random()))
                continue
            selection = Selection(scene_of(state).moves)
            while not selection.finished:
                selection = selection.click(rng.choice(selection.clickable))
            assert selection.action is not None
            state.apply_action(selection.action)


def test_a_drawing_uses_the_parameters_of_the_game() -> None:
    labels = [
        shape.text for shape in scene_of(load("pig(target=20)").new_initial_state()).shapes if isinstance(shape, Label)
    ]
    assert labels.count("0 / 20") == 2


def test_a_yatzy_selection_keeps_equal_dice_as_one_action() -> None:
    state = load("yatzy(players=1)").state_from_text("filled none upper 0 / player 0 dice 13336 rerolls 2")
    scene = scene_of(state)
    chosen = {
        Selection(scene.moves).click(first).click(second).click("roll").action
        for first, second in (("die2", "die3"), ("die4", "die2"), ("die3", "die4"))
    }
    assert [state.action_to_string(action or 0) for action in chosen] == ["keep-33"]


def test_a_checker_that_was_clicked_is_drawn_at_its_new_place() -> None:
    state = load("backgammon").state_from_text("4HPwATDgc/ABMA player 0 dice 3-1")
    titles = {shape.part: shape.title for shape in scene_of(state, ("point8", "point5")).parts()}
    assert titles["point8"] == "point 8, 2 of player 0"
    assert titles["point5"] == "point 5, 1 of player 0"
    selection = Selection(scene_of(state).moves)
    for part in ("point8", "point5", "point6", "point5"):
        selection = selection.click(part)
    assert selection.action is not None
    assert state.action_to_string(selection.action) == "8/5 6/5"
    direct = Selection(scene_of(state).moves).click("point24").click("point20")
    assert direct.finished
    assert direct.action is not None
    assert state.action_to_string(direct.action) == "24/20"


def test_every_colour_of_azul_has_its_own_mark() -> None:
    state = aleazero.load_game("azul").new_initial_state()
    state.play("bbbb, yyyy, rrrr, kkkk, wwww")
    scene = state.draw()
    assert scene is not None
    drafts = [shape for shape in scene.shapes if isinstance(shape, Group) and (shape.part or "").startswith("F")]
    assert len(drafts) == len({tuple(type(one) for one in draft.shapes) for draft in drafts}) == 5
