"""The comparison of two settings on one position, with the error against exact values if the game has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nicegui import ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.board import Board
from aleazero.web.parts.comparison import Comparison, Side
from aleazero.web.parts.layout import heading, loaded_page, panel, paragraph, problem, subheading
from aleazero.web.parts.search_form import SearchForm, evaluators_of
from aleazero.web.playground import Playground, address_of, game_text, one_line

PRESETS: Final = ("sampling", "open")
"""Chance handling of the two sides at first."""


def add_pages(playground: Playground) -> None:
    """Add the comparison."""

    @ui.page("/compare")
    async def compare(game: str = "", position: str = "") -> None:
        async with loaded_page("Compare", "/compare"):
            card = await playground.card(game or await playground.simplest_game())
            if card["error"]:
                heading("Compare")
                problem(card["error"])
                return
            params = card["params"]
            if not position and card["examples"]:
                position, params = card["examples"][0]["position"], params | card["examples"][0]["params"]
            form = await playground.rules("search_form")
            heading(f"Compare two searches of {card['title'].lower()}")
            paragraph(
                "Both searches start from the same position and grow together. If exact values are known, the plot "
                "shows how far each search is from them.",
                "quiet",
            )
            with ui.element("div").classes("two"):
                with panel("Comparison"):
                    with ui.element("div").classes("row"):
                        ui.button("Run both", on_click=lambda: run()).props("unelevated dense")
                        most = ui.number("simulations", value=5000, min=10, max=100_000, step=1000)
                        seed = ui.number("seed", value=0, min=0, step=1)
                        for control in (most, seed):
                            control.props("outlined dense").style("width: 9rem")
                    plot = Comparison(playground, card["name"], params, position or None)
                with panel("Position"):
                    subheading("The position")
                    await _show_position(playground, card, params, position or None)
            sides: list[tuple[Any, SearchForm]] = []
            with ui.element("div").classes("two even"):
                for number, preset in enumerate(PRESETS):
                    with panel(f"Search {'AB'[number]}"):
                        subheading(f"Search {'AB'[number]}")
                        names = evaluators_of(card)
                        evaluator = ui.select(names, value=names[0], label="evaluator").props("outlined dense")
                        settings = SearchForm(form, lambda: None)
                        settings.preset.value = preset
                        sides.append((evaluator, settings))
            with panel("Another game"):
                subheading("Another game")
                with ui.element("div").classes("row"):
                    for name in await playground.game_names():
                        ui.link(name, address_of("/compare", name))

            async def run() -> None:
                try:
                    found = [
                        Side(f"{'AB'[number]}: {form.preset.value}", form.values(), evaluator.value)
                        for number, (evaluator, form) in enumerate(sides)
                    ]
                except AleaZeroError as error:
                    ui.notify(one_line(error), type="negative")
                    return
                await plot.run(found, int(most.value or 10), int(seed.value or 0))


async def _show_position(
    playground: Playground, card: Mapping[str, Any], params: Mapping[str, Any], position: str | None
) -> None:
    """Show the board of a position, and links to the start and the examples of the game."""
    name = card["name"]
    at, start = [
        (await playground.rules("follow_path", name, game=name, params=dict(of), position=one, path=[]))["position"]
        for of, one in ((params, position), (card["params"], None))
    ]
    await Board(playground).show(name, params, at)
    ui.link("Start of the game", address_of("/compare", card["game"], start))
    for one in card["examples"]:
        of = game_text({"game": name, "params": one["params"]})
        ui.link(one["caption"], address_of("/compare", of, one["position"]))
