"""The lobby: a card per game with seats, parameters and seed; saved sessions."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any, Final

from nicegui import events, ui

from aleazero.errors import AleaZeroError, ConfigError
from aleazero.serving.api.store import Entry
from aleazero.untrusted import MOST_DIGITS, parse_json
from aleazero.web.parts.layout import (
    Problem,
    file_button,
    heading,
    loaded_page,
    panel,
    paragraph,
    problem,
    shows_errors,
    subheading,
)
from aleazero.web.parts.seats import default_seat, full_names, seat_options
from aleazero.web.playground import Playground, address_of, game_text, one_line

MOST_SAVED: Final = 8
"""Saved sessions that the lobby lists."""


def add_pages(playground: Playground) -> None:
    """Add the lobby."""

    @ui.page("/")
    async def lobby() -> None:
        async with loaded_page("Games", "/"):
            heading("Choose a game")
            paragraph("Play against a search or a network, take moves back, and see what each roll was worth.", "quiet")
            cards = ui.element("div").classes("cards")
            with panel("Saved games"):
                _saved(playground)
            with cards:
                for game in await playground.game_names():
                    card = await playground.card(game)
                    name = html.escape(card["title"])
                    with ui.element("section").classes("panel card").props(f'aria-label="{name}"'):
                        _card(playground, card)


def _card(playground: Playground, card: Mapping[str, Any]) -> None:
    subheading(card["title"])
    if card["error"]:
        problem(card["error"])
        return
    picture = card["picture"]
    ui.html(picture if picture.startswith("<svg") else f"<pre>{html.escape(picture)}</pre>", sanitize=False).classes(
        "picture tall" if card["tall"] else "picture"
    ).props('aria-hidden="true"')
    paragraph(card["about"], "quiet about")
    title = html.escape(card["title"])
    with ui.element("div").classes("row ends"):
        ui.button("Play", on_click=lambda: _new_game(playground, card)).props(
            f'unelevated aria-label="Play {title}"'
        ).classes("grow")
        ui.button("Analyse", on_click=lambda: ui.navigate.to(_analysis_of(card))).props(
            f'outline aria-label="Analyse {title}"'
        )


def _analysis_of(card: Mapping[str, Any]) -> str:
    """Return the address of the analysis of a game: of its first example if it has one."""
    if not card["examples"]:
        return address_of("/analysis", card["game"])
    one = card["examples"][0]
    return address_of("/analysis", game_text({"game": card["name"], "params": one["params"]}), one["position"])


def _new_game(playground: Playground, card: Mapping[str, Any]) -> None:
    """Open the form of a new game: parameters, seats and seed."""
    dialog = ui.dialog().props(f'aria-label="New game of {html.escape(card["title"])}"')
    with dialog, ui.element("div").classes("panel").style("width: min(94vw, 460px)"):
        subheading(f"New game of {card['title']}")
        params: dict[str, Any] = {}
        seats: list[ui.select] = []
        for name, value in card["params"].items():
            if name not in card["fixed"]:
                params[name] = _parameter(name, value)
                if name in card["help"]:
                    ui.label(card["help"][name]).classes("quiet")
        place = ui.element("div").classes("settings")
        options = seat_options(card)

        def show_seats() -> None:
            count = params["players"].value if "players" in params else card["players"]
            count = int(count) if isinstance(count, int | float) and 1 <= count <= 12 else card["players"]
            old = [seat.value for seat in seats]
            place.clear()
            seats.clear()
            with place:
                for number in range(count):
                    value = old[number] if number < len(old) else default_seat(options, number)
                    select = ui.select(options, value=value, label=f"Player {number}")
                    seats.append(select.props("outlined dense options-dense"))

        show_seats()
        if "players" in params:
            params["players"].on_value_change(show_seats)
        seed = ui.input("Seed of the dice", placeholder="random").props("outlined dense")
        failed = Problem()

        async def begin() -> None:
            failed.hide()
            try:
                given = {name: read_value(name, field.value, card["params"][name]) for name, field in params.items()}
                texts = [str(seat.value) for seat in seats]
                session = await playground.new_session(card["game"], given, texts, read_seed(seed.value))
            except AleaZeroError as error:
                failed.show(one_line(error))
                return
            ui.navigate.to(f"/table/{session}")

        with ui.element("div").classes("row"):
            ui.button("Start", on_click=begin).props("unelevated")
            ui.button("Cancel", on_click=dialog.close).props("flat")
    dialog.open()


def _parameter(name: str, value: Any) -> Any:
    label = name.replace("_", " ")
    if isinstance(value, bool):
        return ui.switch(label, value=value)
    if isinstance(value, int | float):
        return ui.number(label, value=value, step=1 if isinstance(value, int) else None).props("outlined dense")
    return ui.input(label, value=str(value)).props("outlined dense")


def read_value(name: str, given: Any, default: Any) -> Any:
    """Return a parameter in the type of its default.

    Raises:
        ConfigError: it is not such a value.
    """
    if isinstance(default, bool):
        return bool(given)
    try:
        if isinstance(default, int):
            if given is None or float(given) != int(given):
                raise ValueError
            return int(given)
        return float(given) if isinstance(default, float) else str(given)
    except (TypeError, ValueError):
        kind = "an integer" if isinstance(default, int) else "a number"
        raise ConfigError(f"{name} is {given!r}, expected {kind}") from None


def read_seed(text: str | None) -> int | None:
    """Return the seed of a form; None if the field is empty.

    Raises:
        ConfigError: it is not a seed.
    """
    digits = (text or "").strip()
    if not digits:
        return None
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS else 2**64
    if number >= 2**64:
        raise ConfigError(f"seed is {text!r}, expected an integer from 0 to 2**64 - 1")
    return number


def _saved(playground: Playground) -> None:
    subheading("Continue")
    rows = ui.element("div").classes("stack").style("gap: 0.3rem")

    def show() -> None:
        rows.clear()
        with rows:
            names = playground.api.store.entries()
            for entry in names[:MOST_SAVED]:
                _saved_row(playground, entry, show)
            if not names:
                ui.label("Games that you start are saved here.").classes("quiet")
            elif len(names) > MOST_SAVED:
                ui.label(f"{len(names) - MOST_SAVED} older games are not shown.").classes("quiet")

    show()

    async def load(event: events.UploadEventArguments) -> None:
        data = await shows_errors(lambda: _read_json(event))
        if data is not None:
            session = await shows_errors(lambda: playground.import_session(data))
            if session is not None:
                ui.navigate.to(f"/table/{session}")

    file_button("Open a saved file", ".json", load)


async def _read_json(event: events.UploadEventArguments) -> Any:
    try:
        return parse_json(await event.file.read())
    except ValueError as error:
        raise ConfigError(f"{event.file.name} is not a saved game: {str(error)[:100]}, expected JSON") from None


def _saved_row(playground: Playground, entry: Entry, again: Callable[[], None]) -> None:
    def remove() -> None:
        playground.api.store.remove(entry.id)
        again()

    params = ", ".join(f"{key} {value}" for key, value in entry.params.items())
    with ui.element("div").classes("row"):
        if entry.error is not None:
            problem(entry.error)
        else:
            ui.link(f"{entry.game}{f' ({params})' if params else ''}", f"/table/{entry.id}")
            steps = f"{entry.steps} {'step' if entry.steps == 1 else 'steps'}"
            ui.label(f"{', '.join(full_names(entry.names))} · {steps}").classes("quiet")
        ui.button("Delete", on_click=remove).props(
            f'flat dense size=sm aria-label="Delete this game of {html.escape(str(entry.game))}"'
        )
