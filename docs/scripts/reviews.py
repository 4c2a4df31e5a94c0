"""Review a game of every bundled game and of an example: text and picture of each for ``docs/guides/review.md``.

Usage: python docs/scripts/reviews.py [GAME ...]; without games, all of them (a few minutes). It needs Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console

from aleazero.cli.show_review import print_review
from aleazero.serving.judge import make_judge
from aleazero.serving.review import review_game
from aleazero.serving.review_page import write_page
from aleazero.serving.session_file import read_studied

ROOT = Path(__file__).resolve().parents[2]
IMAGES, PAGE = ROOT / "docs" / "images", ROOT / "docs" / "guides" / "review.md"
ROWS = 7
"""Rows of each game in the text."""
TOTALS = ("best decisions", "blunders", "regret per decision", "luck", "result", "luck-adjusted")
WIDTH, WIDTH_OF_TEXT = 720, 110
"""Pixels of a picture, and characters of the text."""


class Reviewed(NamedTuple):
    """A game to review."""

    game: str
    players: tuple[str, str]
    index: int = 0


GAMES = {
    "yatzy": Reviewed("yatzy", ("net:champion", "greedy")),
    "yatzy_solo": Reviewed("yatzy(players=1)", ("greedy", "random")),
    "backgammon": Reviewed("backgammon", ("heuristic", "net:champion"), 1),
    "azul": Reviewed("azul", ("greedy", "random")),
    "pig": Reviewed("pig(target=50)", ("greedy", "random")),
    "2048": Reviewed("2048", ("greedy", "random")),
    "tic_tac_toe": Reviewed("tic_tac_toe", ("greedy", "random")),
    "dice_game": Reviewed("dice_game", ("greedy", "random")),
    "shut_the_box": Reviewed("examples/shut_the_box.py", ("greedy", "random")),
}


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in names or list(GAMES):
            lines = review(GAMES[name], Path(folder))
            take(browser, Path(folder) / "game.html", IMAGES / f"review_{name}.png")
            fill(name, f"```text\n{excerpt(lines)}\n```\n\n{picture(name)}\n")
        browser.close()


def review(one: Reviewed, folder: Path) -> list[str]:
    """Play and review a game as the command line does; write its page, and return the lines of the text."""
    games = folder / "games.json"
    command = [sys.executable, "-m", "aleazero", "match", one.game, *one.players, "--pairs", "1", "--save", str(games)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    os.chdir(ROOT)  # the file of an example is recorded as it was given
    game = read_studied(games)[one.index]
    found = review_game(game, make_judge(game.game, threads=os.cpu_count() or 1))
    write_page(found, folder / "game.html")
    console = Console(width=WIDTH_OF_TEXT, file=StringIO())
    print_review(found, console)
    return [line.rstrip() for line in console.file.getvalue().splitlines() if line.strip()]


def fill(name: str, text: str) -> None:
    """Replace the block of a game in the page."""
    page = PAGE.read_text(encoding="utf-8")
    block = re.compile(f"(<!-- review {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    PAGE.write_text(block.sub(lambda found: f"{found[1]}{text}{found[2]}", page), encoding="utf-8")


def excerpt(lines: list[str]) -> str:
    """Return the judge, the first rows and some totals of a review."""
    worst = lines.index("worst decisions") if "worst decisions" in lines else None
    rules = [number for number, line in enumerate(lines) if set(line.strip()) == {"─"}]
    totals = rules[-1] - 1
    table = lines[2 : totals if worst is None else worst]
    kept = [line for line in lines[totals + 2 :] if re.split(r"\s{2,}", line.strip())[0] in TOTALS]
    more = ["…"] if len(table) > ROWS + 2 else []
    return "\n".join([lines[1], *table[: ROWS + 2], *more, lines[totals], lines[totals + 1], *kept])


def picture(name: str) -> str:
    """Return the Markdown of a picture."""
    return f"![The page of this game: the curve, and the first mark with the best plays](../images/review_{name}.png)"


def take(browser: Browser, page_file: Path, file: Path) -> None:
    """Take a picture of the curve and the viewer of a page, at its first mark."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
    page.goto(page_file.as_uri())
    marked = page.locator("details[data-mark]")
    if marked.count() and marked.first.get_attribute("id") != "r1":  # the page begins with the first row
        page.get_by_role("button", name="Next mark").click()
    top = page.locator("h2").first.bounding_box()
    end = page.locator("#viewer").bounding_box()
    assert top is not None
    assert end is not None
    height = end["y"] + end["height"] - top["y"] + 8
    page.screenshot(path=file, full_page=True, clip={"x": 0, "y": top["y"], "width": WIDTH, "height": height})
    page.close()
    image = Image.open(file).convert("RGB").quantize(96, Image.Quantize.MAXCOVERAGE)  # which keeps the few red dots
    image.save(file, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
