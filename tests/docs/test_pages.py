"""Links lead somewhere, the README's example stays short, and the tables are those of the figures."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for pages.py

from pages import FENCE, PAGES, ROOT, blocks, name_of

import aleazero
from aleazero.errors import AleaZeroError
from aleazero.search.config import ChanceConfig, SearchConfig
from benchmarks.chance.measure import measure_search
from benchmarks.yatzy import cases as yatzy_cases
from benchmarks.yatzy import measure as measure_yatzy
from benchmarks.yatzy import trees as measure_trees

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
MOST_LINES = 20


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(index.read_text("utf-8"))}
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs") and page != index} <= linked


def test_every_game_that_ships_has_a_page() -> None:
    assert {page.stem for page in (ROOT / "docs" / "games").glob("*.md")} == set(aleazero.game_names())


def test_the_gates_error_rates_come_out_again() -> None:
    assert load_script("gates").table() in (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")


def test_the_champions_figures_are_those_that_ship() -> None:
    assert load_script("champions").table() in (ROOT / "docs" / "champions.md").read_text(encoding="utf-8")


def test_the_readmes_example_is_short() -> None:
    game = next(block for block in blocks(ROOT / "README.md") if block.text.startswith("# file:"))
    assert len(game.text.splitlines()) - 1 <= MOST_LINES


def test_every_setting_is_explained() -> None:
    text = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    missing = [
        name for config in (SearchConfig, ChanceConfig) for name in config.model_fields if f"`{name}`" not in text
    ]
    assert missing == []


def test_every_error_is_explained() -> None:
    text = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    errors = [name for name in aleazero.__all__ if name.endswith("Error")]
    assert [name for name in errors if name not in text] == []
    assert all(issubclass(getattr(aleazero, name), AleaZeroError) for name in errors)


def load_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def load_figures():
    return load_script("figures")


def test_the_tables_of_loops_are_those_of_the_figures() -> None:
    figures = load_figures()
    page = (ROOT / "docs" / "loops.md").read_text(encoding="utf-8")
    for case in json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8")).values():
        assert figures.as_table(case) in page


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_the_figures_numbers_come_out_again(loop: str) -> None:
    figures = load_figures()
    kept = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))["reroll"]
    state, exact = figures.loop_cases()["reroll"]
    assert exact == pytest.approx(kept["exact"])
    for sims in (64, 1024):
        values = [figures.search_value(state, loop, sims, seed) for seed in figures.SEEDS]
        assert sum(values) / len(values) == pytest.approx(kept["values"][loop][str(sims)][0], abs=1e-9)


def test_the_game_of_loops_is_the_one_that_was_measured() -> None:
    game = next(block for block in blocks(ROOT / "docs" / "loops.md") if block.text.startswith("# file: reroll.py"))
    assert game.text.partition("\n")[2] == (ROOT / "docs" / "reroll.py").read_text(encoding="utf-8")


def test_the_tables_of_answers_are_those_that_were_measured() -> None:
    answers = load_script("answers")
    page = answers.PAGE.read_text(encoding="utf-8")
    assert {name for _, name, _ in answers.BLOCK.findall(page)} == set(answers.TABLES)
    assert answers.filled(page, json.loads(answers.KEPT.read_text(encoding="utf-8"))) == page


def test_the_tables_of_explicit_chance_are_those_that_were_measured() -> None:
    script = load_script("explicit_chance")
    page = script.PAGE.read_text(encoding="utf-8")
    assert {name for _, name, _ in script.BLOCK.findall(page)} == set(script.TABLES)
    assert script.filled(page, json.loads(script.KEPT.read_text(encoding="utf-8"))) == page


def test_the_tables_of_afterstates_are_those_that_were_measured() -> None:
    script = load_script("afterstates")
    rows = json.loads(script.OUT.read_text(encoding="utf-8"))
    pages = [page.read_text(encoding="utf-8") for page in script.PAGES]
    assert {name for page in pages for _, name, _ in script.BLOCK.findall(page)} == set(script.TABLES)
    assert [script.filled(page, rows) for page in pages] == pages


@pytest.mark.long  # compiles, or runs, for most of a minute
def test_explicit_chance_comes_out_again() -> None:
    kept = json.loads((ROOT / "docs" / "explicit-chance.json").read_text(encoding="utf-8"))
    states = yatzy_cases.positions(measure_trees.HEAVY, yatzy_cases.is_reroll_heavy)
    for setting in ("sampling", "narrow"):
        again = measure_trees.measure_nodes("rollout", setting, 500, states)
        assert again in kept["nodes"]["rows"], setting
    rolls = yatzy_cases.best_rolls(1, measure_yatzy.VARIANCE_POSITIONS)
    row = next(row for row in kept["variance"] if (row["setting"], row["budget"]) == ("exact-21", 50))
    again = measure_yatzy.measure_variance(1, "rollout", "exact-21", 50, row["seeds"], rolls)
    assert again["variance"] == pytest.approx(row["variance"], rel=1e-6)


@pytest.mark.parametrize(("game", "setting"), [("dice_game", "stratified"), ("five_dice", "full")])
def test_the_answers_come_out_again(game: str, setting: str) -> None:
    kept = json.loads((ROOT / "docs" / "answers.json").read_text(encoding="utf-8"))
    row = next(row for row in kept["search"] if (row["game"], row["setting"], row["budget"]) == (game, setting, 128))
    again = measure_search(game, "rollout", setting, 128, row["seeds"])
    for name in ("value_rmse", "value_variance", "best_q_bias", "regret", "simulations", "nodes"):
        assert again[name] == pytest.approx(row[name], rel=1e-6, abs=1e-9), name


def test_the_table_of_regret_is_the_one_that_was_measured() -> None:
    regret = load_script("regret")
    page = regret.PAGE.read_text(encoding="utf-8")
    assert regret.filled(page, json.loads(regret.KEPT.read_text(encoding="utf-8"))) == page


def test_the_regret_comes_out_again(oracle: object) -> None:
    regret = load_script("regret")
    kept = {row["player"]: row for row in json.loads(regret.KEPT.read_text(encoding="utf-8"))["standard"]}
    for spec in ("random", f"search:sims=50,{regret.SETTINGS[0]}"):
        again = regret.as_row(spec, regret.measure(spec, regret.load_set("standard")))
        assert again["overall"]["mean"] == pytest.approx(kept[spec]["overall"]["mean"], abs=1e-6)


@pytest.mark.long
def test_more_simulations_have_less_regret_on_fresh_positions(oracle: object) -> None:
    regret = load_script("regret")
    again = regret.measure_fresh()
    kept = json.loads(regret.KEPT.read_text(encoding="utf-8"))
    for row, before in zip(again["fresh"], kept["fresh"], strict=True):
        assert row["overall"]["mean"] == pytest.approx(before["overall"]["mean"], abs=1e-6)
    ours, by_lot = again["fresh_ratios"]
    assert ours["all"]["ratio_high"] < 0.5
    assert ours["all"]["ratio_high"] < by_lot["all"]["ratio_low"]
