"""Links and anchors exist, all names are documented, tables equal their data, and the site builds without warnings."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for pages.py
sys.path.append(str(Path(__file__).resolve().parents[2] / "docs" / "scripts"))  # for page_tables.py

from page_tables import BLOCK, filled
from pages import FENCE, PAGES, ROOT, blocks, name_of

import aleazero
from aleazero.cli.main import COMMANDS
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
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    headings = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_anchors_exist(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def nav_pages(entry: object) -> set[str]:
    if isinstance(entry, str):
        return {entry}
    parts = entry.values() if isinstance(entry, dict) else entry
    return set().union(*(nav_pages(part) for part in parts))


def test_every_page_is_in_the_navigation() -> None:
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert nav_pages(nav) == {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}


def test_the_pages_that_help_texts_name_exist() -> None:
    pages = [page for commands in COMMANDS.values() for _, page in commands.values()]
    assert [page for page in ["index.md", *pages] if not (ROOT / "docs" / page).is_file()] == []


def test_every_bundled_game_has_a_page_and_a_picture() -> None:
    pages = {page.stem for page in (ROOT / "docs" / "games").glob("*.md")} - {"index"}
    assert pages == set(aleazero.game_names())
    assert all("![" in (ROOT / "docs" / "games" / f"{name}.md").read_text(encoding="utf-8") for name in pages)


def test_every_public_name_is_in_the_api_reference() -> None:
    api = load_script("site").API
    names = [name for sections in api.values() for text in sections.values() for name in text.split()]
    assert len(names) == len(set(names))
    assert set(names) == set(aleazero.__all__) - {"__version__"}
    assert {page.stem for page in (ROOT / "docs" / "reference" / "api").glob("*.md")} == {"index", *api}


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    site = load_script("site")
    site.build(tmp_path)
    text = (tmp_path / "site" / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    assert "aleazero analyse" in text
    assert "<!-- generated" not in text
    assert 'id="aleazero.Search.run"' in (tmp_path / "site/reference/api/search/index.html").read_text(encoding="utf-8")


def test_a_broken_link_fails_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = load_script("site")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[nowhere](missing.md)\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: test\nnav: [index.md]\ndocs_dir: build/docs\n", encoding="utf-8")
    monkeypatch.setattr(site, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        site.build(tmp_path)


def test_the_simulated_error_rates_of_gates_are_those_of_the_page() -> None:
    assert load_script("gates").table() in (ROOT / "docs" / "benchmarks" / "gates.md").read_text(encoding="utf-8")


def test_the_results_of_bundled_networks_are_those_of_the_package() -> None:
    page = (ROOT / "docs" / "benchmarks" / "training.md").read_text(encoding="utf-8")
    assert load_script("champions").table() in page


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    game = next(block for block in blocks(ROOT / "README.md") if block.text.startswith("# file:"))
    assert len(game.text.splitlines()) - 1 <= MOST_LINES


def test_every_search_setting_is_explained() -> None:
    text = (ROOT / "docs" / "guides" / "search.md").read_text(encoding="utf-8")
    missing = [
        name for config in (SearchConfig, ChanceConfig) for name in config.model_fields if f"`{name}`" not in text
    ]
    assert missing == []


def test_every_error_is_explained() -> None:
    text = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    errors = [name for name in aleazero.__all__ if name.endswith("Error")]
    assert [name for name in errors if name not in text] == []
    assert all(issubclass(getattr(aleazero, name), AleaZeroError) for name in errors)


def load_script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "scripts" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def load_figures():
    return load_script("figures")


def test_the_tables_of_loops_equal_their_data() -> None:
    figures = load_figures()
    page = (ROOT / "docs" / "benchmarks" / "loops.md").read_text(encoding="utf-8")
    for case in json.loads((ROOT / "docs" / "scripts" / "figures.json").read_text(encoding="utf-8")).values():
        assert figures.as_table(case) in page


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_the_numbers_of_loops_are_reproduced(loop: str) -> None:
    figures = load_figures()
    kept = json.loads((ROOT / "docs" / "scripts" / "figures.json").read_text(encoding="utf-8"))["reroll"]
    state, exact = figures.loop_cases()["reroll"]
    assert exact == pytest.approx(kept["exact"])
    for sims in (64, 1024):
        values = [figures.search_value(state, loop, sims, seed) for seed in figures.SEEDS]
        assert sum(values) / len(values) == pytest.approx(kept["values"][loop][str(sims)][0], abs=1e-9)


def test_the_game_of_loops_is_the_measured_one() -> None:
    game = next(
        block
        for block in blocks(ROOT / "docs" / "benchmarks" / "loops.md")
        if block.text.startswith("# file: reroll.py")
    )
    assert game.text.partition("\n")[2] == (ROOT / "docs" / "scripts" / "reroll.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["chance", "speed", "yatzy"])
def test_the_tables_of_benchmarks_equal_their_data(name: str) -> None:
    script = load_script(name)
    page = script.PAGE.read_text(encoding="utf-8")
    assert {name for _, name, _ in BLOCK.findall(page)} == set(script.TABLES)
    assert filled(page, script.TABLES, json.loads(script.KEPT.read_text(encoding="utf-8"))) == page


def test_the_tables_of_training_equal_their_data() -> None:
    script = load_script("afterstates")
    rows = json.loads(script.OUT.read_text(encoding="utf-8"))
    pages = [page.read_text(encoding="utf-8") for page in script.PAGES]
    names = {name for page in pages for _, name, _ in BLOCK.findall(page)}
    assert names == {*script.TABLES, "champions"}
    assert [filled(page, script.TABLES, rows) for page in pages] == pages


@pytest.mark.long  # compiles, or runs, for most of a minute
def test_the_numbers_of_yatzy_are_reproduced() -> None:
    kept = json.loads((ROOT / "docs" / "scripts" / "yatzy.json").read_text(encoding="utf-8"))
    states = yatzy_cases.positions(measure_trees.HEAVY, yatzy_cases.is_reroll_heavy)
    for setting in ("sampling", "narrow"):
        again = measure_trees.measure_nodes("rollout", setting, 500, states)
        assert again in kept["nodes"]["rows"], setting
    rolls = yatzy_cases.best_rolls(1, measure_yatzy.VARIANCE_POSITIONS)
    row = next(row for row in kept["variance"] if (row["setting"], row["budget"]) == ("exact-21", 50))
    again = measure_yatzy.measure_variance(1, "rollout", "exact-21", 50, row["seeds"], rolls)
    assert again["variance"] == pytest.approx(row["variance"], rel=1e-6)


@pytest.mark.parametrize(("game", "setting"), [("dice_game", "stratified"), ("five_dice", "full")])
def test_the_numbers_of_chance_modes_are_reproduced(game: str, setting: str) -> None:
    kept = json.loads((ROOT / "docs" / "scripts" / "chance.json").read_text(encoding="utf-8"))
    row = next(row for row in kept["search"] if (row["game"], row["setting"], row["budget"]) == (game, setting, 128))
    again = measure_search(game, "rollout", setting, 128, row["seeds"])
    for name in ("value_rmse", "value_variance", "best_q_bias", "regret", "simulations", "nodes"):
        assert again[name] == pytest.approx(row[name], rel=1e-6, abs=1e-9), name


def test_the_tables_of_regret_equal_their_data() -> None:
    regret = load_script("regret")
    page = regret.PAGE.read_text(encoding="utf-8")
    assert regret.filled(page, json.loads(regret.KEPT.read_text(encoding="utf-8"))) == page


def test_the_numbers_of_regret_are_reproduced(oracle: object) -> None:
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
    ours, uniform = again["fresh_ratios"]
    assert ours["all"]["ratio_high"] < 0.5
    assert ours["all"]["ratio_high"] < uniform["all"]["ratio_low"]


def test_the_tables_of_the_http_api_equal_its_description() -> None:
    script = load_script("api_tables")
    page = script.PAGE.read_text(encoding="utf-8")
    assert {name for _, name, _ in BLOCK.findall(page)} == set(script.TABLES)
    assert filled(page, script.TABLES, script.description()) == page
