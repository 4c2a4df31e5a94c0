"""Take the screenshots of the playground's guide: a real server, and Chromium in light, dark and phone width.

Usage: python docs/scripts/playground.py [PAGE ...]; without pages, all of them.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "images"
SIZES = {"light": (1280, 900), "dark": (1280, 900), "phone": (390, 844)}
CARD = "open sixes house upper 40 / player 0 dice 22266 rerolls 2"


def games(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Play Yatzy").wait_for()


def table(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Play Backgammon").click()
    page.get_by_label("Seed of the dice").fill("4")
    page.get_by_role("button", name="Start").click()
    for steps in (1, 4, 7):  # the roll of the start; then each press plays a move, and the answer and the dice follow
        page.wait_for_function("(n) => document.querySelectorAll('ol li').length >= n", arg=steps)
        page.locator(".status").filter(has_text="You (player 0) to move").wait_for()
        if steps < 7:
            page.keyboard.press("1")
    page.get_by_text("Judged by").wait_for()
    page.locator(".coach b").first.wait_for()
    page.get_by_role("button", name="Hint").click()
    page.locator(".news").filter(has_text="Hint: ").wait_for()


def analysis(page: Page) -> None:
    page.goto("/analysis?game=dice_game&position=16")
    page.get_by_label("levels").fill("3")
    page.get_by_role("button", name="Step by 1,000 simulations").click()
    page.locator(".status").filter(has_text="1,000 simulations").wait_for()
    page.get_by_role("button", name="Step by 1 simulations", exact=True).click()
    page.locator(".status").filter(has_text="1,001 simulations").wait_for()


def plan(page: Page) -> None:
    page.goto(f"/analysis?{urlencode({'game': 'yatzy(players=1)', 'position': CARD})}")
    page.get_by_role("button", name="Plan", exact=True).click()
    page.get_by_role("img", name="Plan of the turn").wait_for()


def compare(page: Page) -> None:
    page.goto("/compare?game=pig")
    page.get_by_label("simulations").fill("20000")
    page.get_by_role("button", name="Run both").click()
    page.locator(".status").filter(has_text="20,000 simulations").wait_for()


def lesson(page: Page) -> None:
    page.goto("/lessons/widening")
    page.get_by_role("button", name="Add 100 simulations").click()
    page.locator(".status").filter(has_text="100 simulations").wait_for()


def review(page: Page) -> None:
    made = page.request.post(
        "/api/v1/sessions", data={"game": "pig(target=20)", "seats": ["random", "greedy"], "seed": 2}
    ).json()
    page.request.post(f"/api/v1/sessions/{made['id']}/play", data={"all": True})
    page.goto(f"/review?session={made['id']}")
    page.get_by_text("Judged by").wait_for()
    page.get_by_role("button", name=re.compile("cost")).first.click()


def runs(page: Page) -> None:
    page.goto("/runs/pig")
    page.get_by_text("Judged by oracle").wait_for()
    for _ in range(6):
        page.get_by_role("button", name="Next").click()
    page.get_by_role("heading", name="Step 7").first.wait_for()


PAGES = {one.__name__: one for one in (games, table, analysis, plan, compare, lesson, review, runs)}
LOWER = ("plan", "runs")
"""Pages whose phone pictures show what is further down."""
RUN = ("minutes=0.1", "iterations=3", "params.target=20", "gate.pairs=40", "evaluate.pairs=20")
"""Settings of the run on the page of runs."""


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        aleazero, runs = [sys.executable, "-m", "aleazero"], f"{folder}/runs"
        Path(runs).mkdir()
        changed = [text for setting in RUN for text in ("--set", setting)]
        if "runs" in (names or PAGES):
            subprocess.run([*aleazero, "train", "configs/pig.yaml", "--out", f"{runs}/pig", *changed], check=True)
        command = [*aleazero, "web", "--no-open", "--sessions", f"{folder}/sessions", "--runs", runs]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http://[^/]+", server.stderr.readline())[0]
            take(address, names or list(PAGES))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


def take(address: str, names: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in names:
            for kind, (width, height) in SIZES.items():
                scheme = "dark" if kind == "dark" else "light"
                page = browser.new_page(
                    base_url=address, viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.set_default_timeout(180_000)
                PAGES[name](page)
                page.wait_for_timeout(800)
                if name not in LOWER:
                    page.evaluate("scrollTo(0, 0)")
                file = IMAGES / f"playground_{name}_{kind}.png"
                page.screenshot(path=file, full_page=kind != "phone" and name != "games")
                with_palette(Image.open(file).convert("RGB")).save(file, optimize=True)
                page.close()
        browser.close()


def with_palette(image: Image.Image) -> Image.Image:
    """Return a picture with 256 colors: the most frequent ones exactly, and others that cover the rest."""
    pixels = np.asarray(image, np.int32).reshape(-1, 3)
    colors, places, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    others = np.array(image.quantize(128, Image.Quantize.MAXCOVERAGE).getpalette()[:384], np.int32).reshape(-1, 3)
    palette = np.concatenate([colors[np.argsort(-counts)[:128]], others])
    nearest = np.abs(colors[:, None] - palette).sum(axis=2).argmin(axis=1)
    reduced = Image.fromarray(nearest[places].astype(np.uint8).reshape(image.height, image.width))
    reduced.putpalette(palette.astype(np.uint8).tobytes())
    return reduced


if __name__ == "__main__":
    main(sys.argv[1:])
