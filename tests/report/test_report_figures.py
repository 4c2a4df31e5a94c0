"""Drawings of a report: their numbers, and the colours of the page."""

from __future__ import annotations

import math
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runs"))  # for run_by_hand.py

from run_by_hand import run_by_hand

from aleazero.report.charts import Chart, Line, Panel, Point, charts_of
from aleazero.report.figures import COLOURS, make_figure
from aleazero.report.source import RunSource, Sourced


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Chart]:
    runs = [run_by_hand(tmp_path_factory.mktemp("runs") / name, name) for name in ("alphazero", "afterstate")]
    return {chart.key: chart for run in runs for chart in charts_of(RunSource(run))}


def chart_of(panel: Panel) -> Chart:
    return Chart("chart", "Chart", "A chart.", [panel])


def points(*numbers: float | None) -> list[Point]:
    return [Point(Sourced(x, "events:x"), Sourced(y, "events:y")) for x, y in enumerate(numbers, start=1)]


def test_lines_show_the_numbers_of_the_charts(charts: dict[str, Chart]) -> None:
    assert set(charts) == {
        "strength", "regret", "ratings", "gates", "losses", "calibration", "entropy", "throughput", "time"
    }  # fmt: skip
    for chart in charts.values():
        figure = make_figure(chart)
        axes = [ax for ax in figure.axes if ax.get_visible()]
        assert len(axes) == len(chart.panels)
        for ax, panel in zip(axes, chart.panels, strict=True):
            drawn = {line.get_label(): [(x, y) for x, y in line.get_xydata().tolist()] for line in ax.lines}
            ends = {tuple(map(tuple, line.get_xydata().tolist())) for line in ax.lines}
            for line in panel.lines:
                if line.mark != "bars":
                    assert drawn[line.name] == [(point.x.number, point.y.number) for point in line.points]
                for one in line.points:
                    if one.low is not None and one.high is not None:
                        assert ((one.x.number, one.low.number), (one.x.number, one.high.number)) in ends


def test_bars_are_stacked(charts: dict[str, Chart]) -> None:
    panel = charts["time"].panels[0]
    bars = make_figure(charts["time"]).axes[0].patches
    heights = [point.y.number for line in panel.lines for point in line.points]
    assert [bar.get_height() for bar in bars] == pytest.approx(heights)
    on_top = {round(bar.get_x() + bar.get_width() / 2): bar.get_y() + bar.get_height() for bar in bars}
    for x, top in on_top.items():
        parts = [point.y.number or 0.0 for line in panel.lines for point in line.points if point.x.number == x]
        assert top == pytest.approx(sum(parts))


def test_minutes_are_shown_above_the_iterations(charts: dict[str, Chart]) -> None:
    figure = make_figure(charts["strength"])
    figure.draw_without_rendering()
    above = figure.axes[0].child_axes[0].xaxis
    shown = {tick.get_loc(): tick.label1.get_text() or tick.label2.get_text() for tick in above.get_major_ticks()}
    assert shown == {1: "1.1", 2: "2.0", 3: "3.0", 4: "4.0"}


def test_every_colour_has_a_dark_variant() -> None:
    css = (Path(__file__).resolve().parents[2] / "aleazero" / "report" / "style.css").read_text(encoding="utf-8")
    for name in COLOURS:
        light, dark = re.findall(rf"--{name}: (#[0-9a-f]{{6}});", css)
        assert light != dark


def test_a_missing_number_is_a_gap() -> None:
    panel = Panel("p", "plain", [Line("a", "blue", points(1.0, None, 3.0))])
    ys = make_figure(chart_of(panel)).axes[0].lines[0].get_ydata()
    assert [None if math.isnan(y) else y for y in ys] == [1.0, None, 3.0]


@pytest.mark.parametrize("numbers", [(0.0,), (0.0, 0.0), (5.0,), (-3.0, 2.0), (None, 1e-7)])
def test_any_numbers_can_be_drawn(numbers: tuple[float | None, ...]) -> None:
    for way in ("plain", "percent", "elo", "loss"):
        ax = make_figure(chart_of(Panel("p", way, [Line("a", "blue", points(*numbers))]))).axes[0]
        low, high = ax.get_ylim()
        assert low < high
        if way != "percent":
            assert all(low <= number <= high for number in numbers if number is not None)


def test_names_of_levels_do_not_overlap() -> None:
    levels = {name: Sourced(number, "events:a") for name, number in (("a", 0.0), ("b", 1.0), ("c", 2.0), ("d", 300.0))}
    ax = make_figure(chart_of(Panel("Elo", "elo", [Line("n", "blue", points(5.0, 310.0))], levels))).axes[0]
    heights = {text.get_text(): text.xy[1] for text in ax.texts}
    assert sorted(heights, key=heights.__getitem__) == ["a", "b", "c", "d"]
    ordered = sorted(heights.values())
    assert min(b - a for a, b in pairwise(ordered)) >= 0.07
