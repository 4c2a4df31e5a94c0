"""The report of a run: pages of all kinds of runs, and errors for damaged directories."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runs"))  # for run_by_hand.py and page_trace.py

from page_trace import Page, Truth, agrees, wrong
from run_by_hand import estimate, phase, read_lines, run_by_hand, write_events

from aleazero import report
from aleazero.errors import ConfigError, RunError
from aleazero.report.charts import charts_of
from aleazero.report.figures import COLOURS
from aleazero.report.page import make_page
from aleazero.report.source import RunSource, Sourced
from aleazero.report.tables import number_text
from aleazero.runs.summary import summary_of


def page_of(path: Path) -> str:
    """Return the page without its drawings, which are slow."""
    files = RunSource(path)
    charts = charts_of(files)
    return make_page(files, charts, {chart.key: "" for chart in charts})


def text_of(page: str) -> str:
    page = re.sub(r"</?(t[dhr]|p|li|small|pre|h\d)\b", r" \g<0>", page)
    return " ".join(re.sub(r"<style.*?</style>|<[^>]*>", "", page, flags=re.DOTALL).split())


@pytest.fixture(scope="module", params=["afterstate", "alphazero"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run with its report."""
    path = run_by_hand(tmp_path_factory.mktemp("runs") / f"my {request.param} <run>", request.param)
    assert report.write_report(path) == path / "report.html"
    return path


def test_every_number_on_the_page_matches_its_source(written: Path) -> None:
    page = Page((written / "report.html").read_text(encoding="utf-8"))
    assert wrong(page, Truth(written)) == []
    assert len(page.traced) > 200


def test_the_final_evaluation_is_in_the_table_and_the_summary(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run", final=True)
    page = page_of(path)
    assert "at the end: network 4" in text_of(page)
    assert "wins 93.8% of its games against random play" in text_of(page)
    assert "it scores 31.5 on average" in text_of(page)
    assert wrong(Page(page), Truth(path)) == []


def test_every_plotted_number_is_on_the_page(written: Path) -> None:
    page = Page((written / "report.html").read_text(encoding="utf-8"))
    places = {place for place, _, _ in page.traced}
    for chart in charts_of(RunSource(written)):
        for panel in chart.panels:
            for point in (point for line in panel.lines for point in line.points):
                assert {one.place for one in (point.y, point.low, point.high) if one is not None} <= places
            assert {one.place for one in panel.levels.values()} <= places
        assert {one.place for one in chart.minutes.values()} <= places


def test_a_wrong_number_is_detected(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    truth = Truth(written)
    place = "events:phase/4/evaluate/results/opponents/random/mean"
    shown = f'<span data-from="{place}">85.0%</span>'
    assert shown in text
    assert wrong(Page(text.replace(shown, shown.replace("85.0", "85.1"), 1)), truth) == [f"{place}: '85.1%'"]
    assert wrong(Page(text.replace(shown, "85.0%", 1)), truth) == [
        "no place: ', wins 85.0% of its games against random play,'"
    ]
    assert wrong(Page(text.replace("36fc8c6845480004", "36fc8c6845480005")), truth) != []


@pytest.mark.parametrize(
    ("way", "value", "text"),
    [
        ("plain", 0.0, "0"), ("plain", 60.0, "60.0"), ("plain", -0.1, "−0.100"), ("plain", 1234.56, "1,235"),
        ("plain", 3.21e-6, "3.2e−06"), ("plain", 99.96, "100"), ("elo", -0.3, "0"), ("elo", 1011.2, "+1,011"),
        ("percent", 0.12345, "12.3%"), ("exactly", 2**62 + 1, "4611686018427387905"), ("file", 7, "0007"),
        ("minutes", 0.066, "0.07"), ("minutes", 7.84, "7.8"), ("date", 1790000000.0, "2026-09-21 14:13 UTC"),
        ("plain", None, "–"), ("plain", float("inf"), "–"),
    ],
)  # fmt: skip
def test_number_formats(way: str, value: float | None, text: str) -> None:
    assert number_text(Sourced(value, "events:a"), way) == text


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [
        ("87.5%", 0.8749, True), ("87.5%", 0.8756, False), ("1,235", 1234.5, True), ("−0.5", -0.5, True),
        ("0.5", -0.5, False), ("3.2e-06", 3.21e-6, True), ("–", None, True), ("–", 0.0, False), ("0", None, False),
        ("0", 0.4, True), ("4611686018427387905", 2**62 + 1, True), ("4611686018427387905", 2**62, False),
        ("2026-09-21 14:13 UTC", 1790000000.0, True), ("2026-09-21 14:14 UTC", 1790000000.0, False),
    ],
)  # fmt: skip
def test_numbers_are_compared_with_the_shown_precision(text: str, value: float | None, same: bool) -> None:
    assert agrees(text, value) is same


def test_the_page_loads_nothing(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    for tag, attributes in Page(text).tags:
        assert tag not in ("script", "link", "iframe", "object", "img", "image")
        for name, value in attributes.items():
            if name in ("src", "href", "xlink:href", "action"):
                assert str(value).startswith("#"), (tag, name, value)
    assert re.findall(r"@import|url\((?!#)", text) == []


def test_drawings_use_the_colours_and_fonts_of_the_page(written: Path) -> None:
    drawings = re.findall(r"<svg.*?</svg>", (written / "report.html").read_text(encoding="utf-8"), re.DOTALL)
    assert len(drawings) == len(charts_of(RunSource(written)))
    for svg in drawings:
        assert re.findall(r"#[0-9a-f]{6}\b|<style|font-family", svg) == []
        assert set(re.findall(r"var\(--(\w+)\)", svg)) <= set(COLOURS)
    assert all(image.read_bytes().startswith(b"\x89PNG") for image in report.images_of(written))


def test_ids_are_unique_and_links_have_targets(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert (
        set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text))
        - {(one, "") for one in ids}
        - {("", one) for one in ids}
        == set()
    )


@pytest.mark.parametrize("written", ["afterstate"], indirect=True)  # one is enough, because drawing is slow
def test_the_same_directory_gives_the_same_bytes(written: Path, tmp_path: Path) -> None:
    page, images = (written / "report.html").read_bytes(), report.images_of(written)
    before = [image.read_bytes() for image in images]
    assert report.write_report(written, tmp_path / "again.html").read_bytes() == page
    assert [image.read_bytes() for image in images] == before
    assert {image.stem for image in images} == {chart.key for chart in charts_of(RunSource(written))}


def test_main_sentences_of_the_page(written: Path) -> None:
    text = text_of((written / "report.html").read_text(encoding="utf-8"))
    recipe = "afterstate" if "afterstate" in written.name else "alphazero"
    assert "The champion, network 4, wins 85.0% of its games against random play" in text
    assert "This run is not finished" not in text
    assert "Error rates of the gates: an equal candidate is promoted in at most 5.0% of gates" in text
    assert "undecided: champion kept" in text
    assert ("Policy entropy" in text) is (recipe == "alphazero")
    assert ("No policy entropy" in text) is (recipe == "afterstate")
    rounds = " --set minutes=null --set rounds=43"
    train = f"aleazero train config.yaml --out again{rounds if recipe == 'afterstate' else ''}"
    assert f"{train} aleazero play pig -p target=30" in text
    assert "--opponent net:again/models/0004.safetensors" in text


def change(path: Path, name: str, **results: Any) -> None:
    """Change results of all phases with a name."""
    events = read_lines(path)
    for event in events:
        if event.get("phase") == name:
            event["results"] = {**event["results"], **results}
    write_events(path, events)


def checked_text(path: Path) -> str:
    """Return the text of a page after comparing all numbers with their sources."""
    text = page_of(path)
    assert wrong(Page(text), Truth(path)) == []
    return text_of(text)


def test_an_unfinished_run(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run", done=2)
    write_events(path, [*read_lines(path), {"event": "stopped", "time": 1790000900.0, "why": "KeyboardInterrupt"}])
    text = checked_text(path)
    assert "This run is not finished: 2 of 4 iterations are done. It was stopped: KeyboardInterrupt." in text
    resumed = {"event": "resumed", "time": 1790000001.0, "iterations": 4}
    write_events(path, [*read_lines(path), resumed])
    text = checked_text(path)  # the clock may have been set back
    assert "It was stopped" not in text
    assert "before a kill" not in text
    write_events(path, [*read_lines(path), resumed])
    assert "No time before a kill: the run was killed and resumed" in checked_text(path)


def test_an_extended_run_was_not_killed(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run")
    write_events(path, [*read_lines(path), {"event": "resumed", "time": 1790009000.0, "iterations": 4}])
    assert "before a kill" not in checked_text(path)


def test_a_run_without_finished_iteration(tmp_path: Path) -> None:
    text = checked_text(run_by_hand(tmp_path / "run", done=0))
    assert "0 of 4 iterations are done" in text
    assert "There is no champion yet." in text
    assert "no network was evaluated yet" in text


def test_a_run_without_any_event(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run", done=0)
    (path / "events.ndjson").unlink()
    assert "There is no champion yet." in text_of(page_of(path))


def test_gates_that_compare_returns_show_gains(tmp_path: Path) -> None:
    text = checked_text(run_by_hand(tmp_path / "run", in_points=True))
    assert "pairs gain verdict" in text
    assert "games won verdict" not in text
    assert "1.25 (" in text
    assert "Share of games that each candidate won" not in text


def test_one_iteration_has_no_gate(tmp_path: Path) -> None:
    text = checked_text(run_by_hand(tmp_path / "run", iterations=1))
    assert "No gates: the first network" in text
    assert "The champion, network 1, wins 82.0%" in text
    assert "newest" not in text.partition("Glossary")[0]


def test_networks_that_were_not_evaluated_are_listed(tmp_path: Path) -> None:
    text = checked_text(run_by_hand(tmp_path / "run", iterations=5, every=2))
    assert "Networks that were not evaluated: 1, 3." in text
    assert "champion: network 4 newest: network 5" in text


@pytest.mark.parametrize(("every", "network"), [(1, 2), (3, 2)])
def test_the_summary_uses_the_final_evaluation_of_the_champion(tmp_path: Path, every: int, network: int) -> None:
    path = run_by_hand(tmp_path / "run", iterations=3, every=every)
    found = {"network": 2, "opponents": {"random": estimate(0.7654, 0.0111, 5000)}}
    write_events(path, [*read_lines(path), phase(3, "final", 33.3, found)])
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["iterations"][-1]["results"]["final"] = found
    manifest["iterations"][-1]["done"].append("final")
    (path / "manifest.json").write_text(json.dumps(manifest))
    text = checked_text(path)
    assert f"The champion, network {network}, wins 76.5% of its games against random play" in text
    summary = summary_of(path)
    assert (summary["measured"], summary["results"]["opponents"]["random"]["count"]) == (network, 5000)


def test_minutes_before_a_stop_are_counted(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run", iterations=1)
    before = summary_of(path)["seconds"]
    events = [{**one, "interrupted": 600.0} if one.get("phase") == "gate" else one for one in read_lines(path)]
    write_events(path, events)
    assert "gate 10.2 88.2%" in checked_text(path)
    assert summary_of(path)["seconds"] == pytest.approx(before + 600)


def test_missing_numbers_are_shown_as_a_dash(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run")
    events = read_lines(path)
    for event in events:
        if event["event"] == "learning":
            event["losses"] = {"win": None, "win_2": float("nan")}
    write_events(path, events)
    nothing = {"count": 2, "mean": 0.5, "error": None, "low": None, "high": None}
    change(path, "evaluate", opponents={"random": nothing}, regret={**nothing, "mean": None, "by_kind": {}})
    text = checked_text(path)
    assert "against random 50.0% 2 pairs" in text
    assert "it loses – per decision" in text
    assert "No losses: tables" in text


def test_a_game_without_an_oracle(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run")
    events = read_lines(path)
    for event in events:
        if event.get("phase") == "evaluate":
            event["results"] = {"opponents": {"random": event["results"]["opponents"]["random"]}, "ratings": []}
    write_events(path, events)
    text = checked_text(path)
    assert "No games against an oracle: the exact values" in text
    assert "No regret: the exact values of this game are not known" in text
    assert "No Elo ratings" in text


def test_an_oracle_that_only_measures_regret(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run")
    change(path, "evaluate", opponents={"random": {"count": 2, "mean": 0.5}})
    text = checked_text(path)
    assert "No games against an oracle: regret shows" in text
    assert "are not known" not in text


def test_parts_that_the_settings_disable_are_listed_as_such(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run", evaluate={"every": 1, "against": ["random"], "regret": False})
    change(path, "evaluate", opponents={}, regret=None)
    text = checked_text(path)
    assert "No games against an oracle or reference player: the settings do not list one." in text
    assert "No regret: it is disabled in the settings." in text


def test_events_that_were_logged_twice_change_nothing(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run")
    before = page_of(path)
    events = read_lines(path)
    write_events(path, [*events[:9], *events[3:9], *events[9:]])
    assert page_of(path) == before


def test_texts_of_the_run_are_escaped(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run", done=1)
    write_events(path, [*read_lines(path), {"event": "stopped", "time": 1790000900.0, "why": "<b>&amp;</b>"}])
    assert "&lt;b&gt;&amp;amp;&lt;/b&gt;" in page_of(path)
    checked_text(path)


@pytest.mark.parametrize(
    ("file", "text"),
    [("manifest.json", "{"), ("manifest.json", "[]"), ("events.ndjson", "{\n"), ("events.ndjson", "3\n"),
     ("config.yaml", "game: [\n"), ("config.yaml", "- 1\n"),
     ("events.ndjson", '{"event": "phase", "iteration": 1, "phase": "evaluate", "time": 1, "results": "all"}\n'),
     ("events.ndjson", '{"event": "phase", "iteration": 1, "phase": "gate", "time": 1, "seconds": "long"}\n'),
     ("events.ndjson", '{"event": "started", "time": "noon"}\n')],
)  # fmt: skip
def test_damage_is_reported_in_one_line(tmp_path: Path, file: str, text: str) -> None:
    path = run_by_hand(tmp_path / "run")
    (path / file).write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=r"^[^\n]+$"):
        page_of(path)


def test_a_directory_without_run_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a run"):
        report.write_report(tmp_path)
    path = run_by_hand(tmp_path / "run")
    (path / "config.yaml").unlink()
    with pytest.raises(RunError, match=r"config\.yaml cannot be read: No such file"):
        report.write_report(path)


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_missing_package_is_named_with_the_command_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert report.why_no_report() is not None
    with pytest.raises(ConfigError, match=rf"^[^\n]* {package}, which is missing: pip install 'aleazero\[report\]' \("):
        report.write_report(run_by_hand(tmp_path / "run"))
