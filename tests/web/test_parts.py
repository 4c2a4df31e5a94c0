"""Texts and pictures that pages are built from."""

from __future__ import annotations

import re

import pytest

from aleazero import load_game
from aleazero.games.kit import kit_of
from aleazero.games.registry import game_names
from aleazero.serving.requests import Sources
from aleazero.web.parts.dice import PIPS, SYMBOLS, outcome_html
from aleazero.web.parts.judgement import luck_meters
from aleazero.web.parts.plots import numbers_table
from aleazero.web.parts.seats import full_names, judge_text, seat_names
from aleazero.web.tasks.rules import board
from tests.web.live_web import ROOT


@pytest.mark.parametrize(
    ("name", "faces"), [("5", "5"), ("5-3", "53"), ("roll-11256", "11256"), ("7", ""), ("2@a4", ""), ("heads", "")]
)
def test_rolls_of_dice_are_drawn_and_other_outcomes_are_text(name, faces):
    found = outcome_html(name, dice=True)
    assert found.count("<use") == len(faces)
    assert [found.count(f"#die-{face}") for face in "123456"] == [faces.count(face) for face in "123456"]
    if not faces:
        assert found == name
    assert outcome_html(name, dice=False) == name  # e.g. the sum of two dice


def test_games_say_whether_their_outcomes_are_dice():
    dice = {name: kit_of(load_game(name)).rolls_dice for name in game_names()}
    assert {name for name in dice if dice[name]} == {"backgammon", "dice_game", "pig", "yatzy"}
    assert not kit_of(load_game(str(ROOT / "examples" / "shut_the_box.py"))).rolls_dice


def test_meters_show_luck_to_the_left_or_right_of_the_middle():
    found = luck_meters([("You", -0.2, "-0.200"), ("<b>", 0.4, "+0.400")], 0.6)
    assert re.findall(r"left:([\d.]+)%;width:([\d.]+)%", found) == [("33.3", "16.7"), ("50", "33.3")]
    assert re.findall(r'"number">(.*?)<', found) == ["-0.200", "+0.400"]
    assert "&lt;b&gt;" in found
    assert "width:50.0%" in luck_meters([("You", 7.0, "+7.0")], 0.6)  # never more than the bar
    assert "width:0.0%" in luck_meters([("You", 0.0, "+0.0")], 0.0)


def test_every_face_has_its_pips():
    symbols = SYMBOLS.split("<symbol")[1:]
    assert [symbol.count("<circle") for symbol in symbols] == [1, 2, 3, 4, 5, 6]
    assert {face: len(places) for face, places in PIPS.items()} == {face: face for face in range(1, 7)}


def test_the_only_person_is_you():
    assert seat_names(["human", "random"]) == ["You", "Player 1"]
    assert full_names(["random", "human"]) == ["Player 0 (random moves)", "You (player 1)"]
    assert full_names(["human", "human"]) == ["Player 0", "Player 1"]
    assert full_names(["human"]) == ["You"]


def test_estimates_are_called_so():
    assert judge_text("oracle (exact values)", True) == "Judged by oracle (exact values)."
    assert judge_text("search:sims=200", False) == "Judged by a search of 200 simulations (estimates)."
    assert judge_text("plan:plies=2,keep=8 with the bundled network", False) == (
        "Judged by plans of 2 plies with the bundled network (estimates)."
    )


def test_shares_are_drawn_as_bars_and_texts_are_escaped():
    found = numbers_table(("action", "share"), [("<b>", "50.0%"), ("hold", "25.0%")], bars=1)
    assert "&lt;b&gt;" in found
    assert [part.split("em")[0] for part in found.split("width:")[1:]] == ["2.50", "1.25"]


class Work:
    """A worker's end of a task without a pool."""

    def preparing(self):
        pass

    def ready(self):
        pass


def test_a_hint_marks_one_of_equal_dice_and_keeps_the_selection():
    state = load_game("yatzy").new_initial_state()
    state.play("roll-22345")
    found = board(
        {"game": "yatzy", "params": {}, "sources": Sources(), "position": state.to_text(), "clicks": ["die-4"],
         "click": None, "active": True, "hint": state.string_to_action("keep-2345")}, Work(),
    )  # fmt: skip
    marked = [
        re.search(r'data-part="([^"]+)"', part)[1] for part in re.findall(r"<g [^>]*\bmarked\b[^>]*>", found["svg"])
    ]
    assert len([part for part in marked if part.startswith("die")]) == 4
    assert len(marked) == 5
    assert found["clicks"] == ["die-4"]
