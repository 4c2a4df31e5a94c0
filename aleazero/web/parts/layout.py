"""The frame of every page: navigation, light and dark, errors in one line."""

from __future__ import annotations

import html
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from nicegui import events, ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.dice import SYMBOLS
from aleazero.web.playground import one_line

THEME_COOKIE: Final = "aleazero_theme"
CONNECT_SECONDS: Final = 60.0
"""Seconds that a page waits for its browser's websocket."""
THEMES: Final = {"light": False, "dark": True}
NAVIGATION: Final = {
    "/": "Games",
    "/analysis": "Analysis",
    "/compare": "Compare",
    "/lessons": "Lessons",
    "/review": "Review",
    "/runs": "Runs",
}
"""Pages of the navigation by address."""


@cache
def _css() -> str:
    return files("aleazero.web.parts").joinpath("theme.css").read_text(encoding="utf-8")


@contextmanager
def frame(title: str, path: str) -> Iterator[None]:
    """Build the frame of a page; its content goes inside.

    Args:
        title: title in the browser's tab.
        path: address in the navigation that is marked as current.
    """
    ui.page_title(f"{title} · AleaZero")
    ui.add_css(_css())
    request = ui.context.client.request
    theme = request.cookies.get(THEME_COOKIE, "auto") if request is not None else "auto"
    dark = ui.dark_mode(THEMES.get(theme))
    ui.html(SYMBOLS, sanitize=False).classes("symbols")
    with ui.element("header").classes("top"):
        ui.link("AleaZero", "/").classes("brand")
        with ui.element("nav").props('aria-label="Pages"').classes("row"):
            for address, name in NAVIGATION.items():
                link = ui.link(name, address)
                if address == path:
                    link.props('aria-current="page"')
        _theme_button(dark, theme)
    with ui.element("div").classes("page"):
        yield


def _theme_button(dark: ui.dark_mode, theme: str) -> None:
    names = {"auto": "System colors", "light": "Light", "dark": "Dark"}
    following = {"auto": "light", "light": "dark", "dark": "auto"}
    now = {"theme": theme if theme in names else "auto"}

    def change() -> None:
        now["theme"] = following[now["theme"]]
        dark.value = THEMES.get(now["theme"])
        button.text = names[now["theme"]]
        cookie = f"{THEME_COOKIE}={now['theme']};path=/;max-age=31536000;samesite=strict"
        ui.run_javascript(f"document.cookie = {cookie!r}")

    button = ui.button(names[now["theme"]], on_click=change).props("flat dense no-caps").classes("end")


@asynccontextmanager
async def loaded_page(title: str, path: str) -> AsyncIterator[None]:
    """Build the frame of a page at once, and its content when the browser is connected.

    The content may then wait for worker processes. An error of a user or of rules is shown in place of the content.
    """
    with frame(title, path):
        place = ui.element("div").classes("stack")
        with place:
            waiting = ui.label("Loading …").classes("quiet")
    await ui.context.client.connected(timeout=CONNECT_SECONDS)
    with place:
        try:
            yield
        except AleaZeroError as error:
            heading(title)
            problem(one_line(error))
        waiting.delete()


def is_open() -> bool:
    """Return whether the browser still shows the page of this call, which may have waited."""
    return not ui.context.client.is_deleted


def heading(text: str) -> None:
    """Add the heading of a page."""
    ui.html(f"<h1>{html.escape(text)}</h1>", sanitize=False)


def subheading(text: str) -> None:
    """Add the heading of a part of a page."""
    ui.html(f"<h2>{html.escape(text)}</h2>", sanitize=False)


def paragraph(text: str, classes: str = "") -> ui.html:
    """Add a paragraph of plain text."""
    return ui.html(html.escape(text), sanitize=False, tag="p").classes(classes)


def problem(text: str) -> ui.label:
    """Show an error as one line."""
    return ui.label(text).classes("problem").props('role="alert"')


class Problem(ui.label):
    """An error as one line, hidden until there is one."""

    def __init__(self) -> None:
        super().__init__("")
        self.classes("problem").props('role="alert"').set_visibility(False)

    def show(self, text: str) -> None:
        """Show an error."""
        self.text = text
        self.set_visibility(True)

    def hide(self) -> None:
        """Hide the error."""
        self.set_visibility(False)


def panel(name: str) -> ui.element:
    """Add a part of a page with a frame and a name for screen readers."""
    return ui.element("section").classes("panel").props(f'aria-label="{html.escape(name)}"')


def scroll_region(name: str, content: str = "", classes: str = "scroll") -> ui.html:
    """Add HTML that scrolls, has a name, and can be reached by keyboard."""
    found = ui.html(content, sanitize=False).classes(classes)
    return found.props(f'tabindex="0" role="region" aria-label="{html.escape(name)}"')


def on_keys(handle: Callable[[str], Awaitable[None]], repeating: bool = False, buttons: bool = True) -> None:
    """Call a function with the name of each key that is pressed outside of text fields, without Ctrl, Alt or Meta.

    Args:
        handle: the function.
        repeating: call it repeatedly while a key is held.
        buttons: call it also while a button has the focus, which handles Enter and the space bar itself.
    """

    async def pressed(event: events.KeyEventArguments) -> None:
        modifiers = event.modifiers
        if event.action.keydown and not (modifiers.ctrl or modifiers.alt or modifiers.meta):
            await handle(str(event.key.name))

    typed: list[Literal["input", "select", "button", "textarea"]] = ["input", "select", "textarea"]
    ui.keyboard(pressed, repeating=repeating, ignore=typed if buttons else [*typed, "button"])


async def shows_errors(call: Callable[[], Awaitable[Any]]) -> Any:
    """Await a call; show an error of a user or of rules as a notification, and return None."""
    try:
        return await call()
    except AleaZeroError as error:
        ui.notify(one_line(error), type="negative", multi_line=True, close_button="Close", timeout=10_000)
        return None


def file_button(text: str, accept: str, on_upload: Callable[[events.UploadEventArguments], Any]) -> None:
    """Add a button that lets the user choose a file, and uploads it."""
    upload = ui.upload(on_upload=on_upload, auto_upload=True).props(f"accept={accept}").style("display: none")
    ui.button(text, on_click=lambda: upload.run_method("pickFiles")).props("outline dense").style(
        "align-self: flex-start"
    )
