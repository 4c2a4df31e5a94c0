"""Pictures: the rules of scenes, selections by clicks, and their SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import permutations

import pytest

import aleazero
from aleazero.errors import ContractError, IllegalActionError
from aleazero.games.scene import (
    Button,
    Circle,
    Die,
    Group,
    Label,
    Line,
    Move,
    Piece,
    Polygon,
    Rect,
    Scene,
    Selection,
    Shape,
    Tile,
)
from aleazero.games.svg import PALETTE, contrast, to_svg

SVG = "{http://www.w3.org/2000/svg}"
PAGES = ("#ffffff", "#121212")


def parts(*names: str) -> list[Shape]:
    return [Rect(0, 0, 10, 10, part=name) for name in names]


# -- scenes ------------------------------------------------------------------------------------------------------------


def test_a_part_belongs_to_one_shape() -> None:
    with pytest.raises(ContractError, match="two shapes have the part 'a', expected one"):
        Scene(10, 10, [*parts("a"), Group(parts("a"))])


def test_every_part_of_a_move_has_a_shape() -> None:
    with pytest.raises(ContractError, match="action 3 has the part 'b', but no shape has it"):
        Scene(10, 10, parts("a"), [Move(3, (frozenset(("a", "b")),))])


def test_two_actions_cannot_have_the_same_clicks() -> None:
    Scene(10, 10, parts("a"), [Move(1, ("a",)), Move(1, (frozenset(), "a"))])
    with pytest.raises(ContractError, match="actions 1 and 2 have the same clicks"):
        Scene(10, 10, parts("a"), [Move(1, ("a",)), Move(2, (frozenset(), "a"))])


def test_a_game_without_a_drawing_has_no_picture() -> None:
    assert aleazero.load_game("examples/bust.py").new_initial_state().draw() is None


def test_a_drawing_of_another_type_is_reported() -> None:
    class Coin:
        name, num_players, num_actions = "coin", 1, 1

        def current_player(self) -> int:
            return 0

        def legal_actions(self) -> list[int]:
            return [0]

        def apply_action(self, action: int) -> None:
            pass

        def returns(self) -> list[float]:
            return [0.0]

        def draw(self) -> str:
            return "a coin"

    aleazero.register_game("coin_without_scene", Coin)
    with pytest.raises(ContractError, match=r"draw\(\) returned str, expected aleazero.games.scene.Scene"):
        aleazero.load_game("coin_without_scene").new_initial_state().draw()


# -- selections --------------------------------------------------------------------------------------------------------

DICE = [Move(mask, (frozenset(f"d{i}" for i in range(3) if mask >> i & 1), "roll")) for mask in range(8)]
"""Keep any of three dice, then roll."""
CHECKERS = [Move(1, ("p8", "p5", "p6", "p5")), Move(1, ("p6", "p5", "p8", "p5")), Move(2, ("p8", "p5", "p5", "p4"))]


def test_parts_of_a_set_are_clicked_in_any_order() -> None:
    for order in permutations(("d0", "d2")):
        selection = Selection(DICE)
        for part in order:
            selection = selection.click(part)
        assert selection.compatible == [5, 7]
        assert selection.clickable == ["d1", "roll"]
        assert selection.action is None
        finished = selection.click("roll")
        assert (finished.action, finished.finished) == (5, True)


def test_an_empty_set_needs_no_click() -> None:
    assert Selection(DICE).click("roll").action == 0


def test_a_second_click_removes_a_part() -> None:
    selection = Selection(DICE).click("d0").click("d1").click("d0")
    assert selection.clicks == ("d1",)
    assert selection.click("roll").action == 2


def test_parts_of_a_sequence_are_clicked_in_order_and_may_repeat() -> None:
    selection = Selection(CHECKERS)
    assert selection.clickable == ["p6", "p8"]
    selection = selection.click("p8")
    assert selection.clickable == ["p5"]
    selection = selection.click("p5")
    assert (selection.clickable, selection.compatible) == (["p5", "p6"], [1, 2])
    assert selection.click("p6").click("p5").action == 1
    assert selection.click("p5").click("p4").action == 2
    assert selection.back().clicks == ("p8",)
    assert selection.back().click("p8").clicks == ()


def test_another_first_part_starts_again() -> None:
    assert Selection(CHECKERS).click("p8").click("p6").clicks == ("p6",)


def test_an_action_that_can_grow_is_not_finished() -> None:
    moves = [Move(0, ("a",)), Move(1, ("a", "b"))]
    selection = Selection(moves).click("a")
    assert (selection.action, selection.finished, selection.clickable) == (0, False, ["b"])
    assert selection.click("b").finished


def test_a_part_that_cannot_be_clicked_is_reported() -> None:
    with pytest.raises(IllegalActionError, match="cannot select 'p5' here, did you mean"):
        Selection(CHECKERS).click("p5")
    with pytest.raises(IllegalActionError, match="cannot select 'a' here, known: none"):
        Selection([]).click("a")


# -- SVG ---------------------------------------------------------------------------------------------------------------

EVERY_SHAPE: list[Shape] = [
    Rect(1, 2, 30, 40, "field", 3, outline="line", part="<a & 'b'>", title='say "hi" & <go>', key="ArrowUp"),
    Circle(5, 5, 4, "none", part="circle"),
    Polygon([(0, 0), (4, 0), (2, 3.14159)], "dark", part="polygon"),
    Line(0, 0, 5, 5, part="line"),
    Label(5, 5, "a < b & c", bold=True, anchor="end", part="label"),
    Tile(0, 0, 20, 20, "1024", "scale9", part="tile"),
    Button(0, 0, 60, 20, "roll", part="on"),
    Button(0, 0, 60, 20, "hold", enabled=False, part="off"),
    Piece(9, 9, 5, "player1", "7", part="piece"),
    *(Die(0, 0, 20, face, part=f"die{face}") for face in (0, 1, 6, 20)),
    Group([Rect(0, 0, 9, 9), Group([Circle(1, 1, 1, part="inner")], title="named")], part="group"),
]
NAMES = [shape.part or "" for shape in Scene(360, 100, EVERY_SHAPE).parts()]


def buttons(root: ET.Element) -> dict[str, ET.Element]:
    return {found.attrib["data-part"]: found for found in root.iter(f"{SVG}g") if found.get("role") == "button"}


def test_svg_is_well_formed_and_text_is_escaped() -> None:
    scene = Scene(360, 100.5, EVERY_SHAPE, title="a & b")
    root = ET.fromstring(to_svg(scene, selected=NAMES[:3], clickable=NAMES))
    assert root.attrib["viewBox"] == "0 0 360 100.5"
    assert (root.attrib["role"], root.attrib["aria-label"]) == ("group", "a & b")
    assert [found.attrib["data-part"] for found in root.iter(f"{SVG}g") if "data-part" in found.attrib] == NAMES
    first = buttons(root)["<a & 'b'>"]
    assert first.attrib["aria-label"] == 'say "hi" & <go>'
    assert first.attrib["data-key"] == first.attrib["aria-keyshortcuts"] == "ArrowUp"
    assert "a < b & c" in [text.text for text in root.iter(f"{SVG}text")]


def test_only_selected_and_clickable_parts_are_buttons() -> None:
    scene = Scene(360, 100, EVERY_SHAPE)
    plain = ET.fromstring(to_svg(scene))
    assert buttons(plain) == {}
    assert plain.attrib["role"] == "img"
    found = buttons(ET.fromstring(to_svg(scene, selected=["tile"], clickable=["tile", "piece"])))
    assert {name: button.attrib["aria-pressed"] for name, button in found.items()} == {"tile": "true", "piece": "false"}
    assert found["tile"].attrib["class"] == "part selected clickable"
    assert all(button.attrib["tabindex"] == "0" for button in found.values())


def test_marked_parts_have_a_class_of_their_own() -> None:
    root = ET.fromstring(to_svg(Scene(360, 100, EVERY_SHAPE), clickable=["tile", "piece"], marked=["tile"]))
    assert {name: button.attrib["class"] for name, button in buttons(root).items()} == {
        "tile": "part clickable marked",
        "piece": "part clickable",
    }


def test_a_die_shows_its_pips() -> None:
    for face in range(1, 7):
        root = ET.fromstring(to_svg(Scene(20, 20, [Die(0, 0, 20, face)])))
        assert len(list(root.iter(f"{SVG}circle"))) == face


def test_an_unknown_color_is_reported() -> None:
    with pytest.raises(ContractError, match="no color 'gren', did you mean green"):
        to_svg(Scene(10, 10, [Rect(0, 0, 1, 1, "gren")]))


def test_contrast_by_known_values() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", [0, 1])
def test_texts_are_readable_in_both_themes(theme: int) -> None:
    surfaces = [PAGES[theme], *(PALETTE[name][theme] for name in ("board", "paper", "field"))]
    for surface in surfaces:
        for name in ("ink", "faint"):
            assert contrast(PALETTE[name][theme], surface) >= 4.5, (name, surface)
    for name in ("accent", "player0", "player1", "player2", "player3"):
        assert contrast(PALETTE[name][theme], PALETTE["board"][theme]) >= 3.0, name
        assert contrast(PALETTE[name][theme], PAGES[theme]) >= 3.0, name
    for name, colors in PALETTE.items():
        assert max(contrast(text, colors[theme]) for text in ("#000000", "#ffffff")) >= 4.5, name
