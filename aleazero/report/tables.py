"""Numbers and tables of a report.

A number becomes ``<span data-from="PLACE">TEXT</span>``. The place names the event or file that it was read from, see
``source.py``. A table is data (:class:`Table`); ``page.html.j2`` turns it into HTML. Cells that are not ``Markup`` are
escaped there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote

from markupsafe import Markup

from aleazero.games.registry import title_of
from aleazero.report.charts import (
    EVALUATE,
    FINAL,
    GATE,
    PHASES,
    Chart,
    Line,
    Panel,
    Point,
    newest_ratings,
    seconds_of,
    verdict,
)
from aleazero.report.source import RunSource, Sourced, ratio, total

NOTHING: Final = "–"
"""Shown in place of a number that is missing or not finite."""
VERDICT_TEXTS: Final = {"promoted": "promoted", "kept": "champion kept", "undecided": "undecided: champion kept"}


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is its heading."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    kind: str = ""
    """Its class in style.css."""
    left: Sequence[int] = ()
    """Columns that are aligned left because they hold text."""
    title: str = ""


def final_table(run: RunSource, networks: dict[str, Sourced]) -> Table:
    """Return the strength of networks, by name; each network is the end of its phase ``evaluate``."""
    ratings = {str(one["name"].value): one for one in newest_ratings(run)}
    final = final_of(run)
    columns = [*networks.values(), *([final] if final else [])]
    opponents = list(dict.fromkeys(name for one in columns for name in one["results"]["opponents"].parts()))
    rows = []

    def add(name: str, cells: list[str]) -> None:
        if any(cell != NOTHING for cell in cells):
            rows.append([name, *cells])

    for name in opponents:
        add(f"against {name}", [_share(one["results"]["opponents"][name]) for one in columns])
    for name in opponents:
        add(f"points against {name}", [_points(one["results"]["points"][name]) for one in columns])
    counted = "pairs" if any(one["results"]["reference_score"] for one in columns) else "games"
    add("mean score", [_mean(one["results"]["score"], "score", counted) for one in columns])
    add(Markup("mean score of the opponent <small>in the same games</small>"),
        [_mean(one["results"]["reference_score"], "score", counted) for one in columns])  # fmt: skip
    add("regret per decision", [_mean(one["results"]["regret"], "plain", "decisions") for one in columns])
    add("optimal decisions", [_found(one["results"]["regret"]["optimal"], "percent") for one in columns])
    add("regret per game", [_mean(one["results"]["regret_per_game"], "plain", "games") for one in columns])
    for name in dict.fromkeys(name for one in columns for name in one["results"]["moves"].parts()):
        add(name, [_move_share(one["results"]["moves"][name]) for one in columns])
    anchor = next((one["name"] for one in ratings.values() if one["error"].value == 0.0), Sourced("", "events:"))
    add(Markup("Elo <small>relative to {}</small>").format(text_html(anchor)),
        [_elo(ratings.get(f"network {one.value['iteration']}")) for one in networks.values()]
        + [NOTHING] * (len(columns) - len(networks)))  # fmt: skip
    head = ["", *(_network(name, one["iteration"]) for name, one in networks.items())]
    if final:
        head.append(_network("at the end", final["results"]["network"]))
    return Table(head, rows, "final")


def regret_table(measured: Sourced) -> Table | None:
    """Return the regret of one network by kind of decision; None if it was not measured."""
    kinds = measured["results"]["regret"]["by_kind"].parts()
    rows = [[name_html(one), number_html(one["count"], "count"), mean_html(one),
             number_html(one["optimal"], "percent"), number_html(one["tied"], "count")]
            for one in kinds.values()]  # fmt: skip
    return Table(("kind of decision", "positions", "regret", "optimal", "several best actions"), rows) if rows else None


def ratings_table(run: RunSource) -> Table | None:
    """Return the Elo ratings of all players, the best first; None if there are none."""
    rows = [[text_html(one["name"]), number_html(one["rating"], "elo") if _bounded(one) else NOTHING,
             interval_html(one, "elo"), number_html(one["pairs"], "count")]
            for one in newest_ratings(run)]  # fmt: skip
    return Table(("player", "Elo", "95 % interval", "pairs"), rows, "compact") if rows else None


def gate_table(run: RunSource) -> Table | None:
    """Return each gate with its verdict; None if there was no gate."""
    rows, in_points = [], False
    for one in run.phases(GATE).values():
        results, decision = one["results"], verdict(one)
        name = Markup("network {}").format(number_html(one["iteration"], "exactly"))
        pairs = number_html(results["pairs"], "count")
        if not results["score"]:
            rows.append([name, "none", pairs, NOTHING, "first champion"])
            continue
        champion = Markup("network {}").format(number_html(results["against"], "exactly"))
        in_points = in_points or bool(results["gain"])
        score = mean_html(results["gain"]) if results["gain"] else mean_html(results["score"], "percent")
        text = Markup('<span class="{}">{}</span>').format(decision, VERDICT_TEXTS[decision])
        rows.append([name, champion, pairs, score, text])
    scored = "gain" if in_points else "games won"
    return Table(("candidate", "champion", "pairs", scored, "verdict"), rows, left=(1, 4)) if rows else None


def time_table(run: RunSource) -> Table | None:
    """Return the minutes of each phase and their shares; None if no phase is over."""
    spent = {name: [seconds_of(one) for one in run.phases(name).values()] for name in PHASES}
    everything = total([one for parts in spent.values() for one in parts])
    rows: list[list[str]] = []
    for name, parts in spent.items():
        if parts:
            own = total(parts)
            rows.append([name, number_html(ratio(own, 60), "minutes"), number_html(ratio(own, everything), "percent")])
    if rows:
        rows.append(["all phases", number_html(ratio(everything, 60), "minutes"), ""])
    return Table(("phase", "minutes", "share"), rows, "compact") if rows else None


def identity_table(run: RunSource) -> Table:
    """Return what identifies a run: version, seed and hashes."""
    manifest, champion = run.manifest, champion_number(run)
    rows: list[list[str]] = [
        ["AleaZero", text_html(manifest["version"])],
        ["seed", number_html(manifest["seed"], "exactly")],
        ["version of the rules", text_html(manifest["rules"])],
        ["hash of the settings", text_html(manifest["settings"])],
    ]
    for one in manifest["iterations"].rows():
        if one["model"] and one["number"].value == champion.value:
            rows.append(["hash of the champion's file", text_html(one["model"])])
    return Table(("name", "value"), rows, "compact", left=(1,))


def chart_tables(chart: Chart) -> list[Table]:
    """Return the numbers that a chart plots, one table per panel."""
    return [_panel_table(chart, panel) for panel in chart.panels]


def measured_networks(run: RunSource) -> dict[str, Sourced]:
    """Return the ends of the phase ``evaluate`` of the champion and of the newest network, if they were evaluated."""
    found = {number: one for number, one in run.phases(EVALUATE).items() if one["results"].value}
    champion = champion_number(run).whole
    networks = {}
    if champion in found:
        networks["champion"] = found[champion]
    if found and max(found) != champion:
        newest = max(found) == max(run.phases(GATE), default=0)
        networks["newest" if newest else "newest evaluated"] = found[max(found)]
    return networks


def final_of(run: RunSource) -> Sourced | None:
    """Return the evaluation of the champion at the end of the run; None if there was none."""
    found = run.phases(FINAL)
    last = found[max(found)] if found else None
    return last if last is not None and last["results"]["network"].whole == champion_number(run).whole else None


def champion_number(run: RunSource) -> Sourced:
    """Return the number of the champion's iteration."""
    known = [one["champion"] for one in run.manifest["iterations"].rows() if one["champion"]]
    return known[-1] if known else Sourced(None, "manifest:iterations")


def number_html(number: Sourced, way: str = "plain") -> Markup:
    """Return a number as HTML with its place; ``way`` is a key of ``WRITE``."""
    return Markup('<span data-from="{}">{}</span>').format(number.place, number_text(number, way))


def text_html(text: Sourced) -> Markup:
    """Return a text of the run's files as HTML with its place."""
    return Markup('<span data-from="{}" data-as="text">{}</span>').format(text.place, str(text.value))


def game_html(game: Sourced) -> Markup:
    """Return the title of a game as HTML with its place; its spec is the tooltip."""
    spec = str(game.value)
    return Markup('<span data-from="{}" data-as="game" title="{}">{}</span>').format(game.place, spec, title_of(spec))


def name_html(part: Sourced) -> Markup:
    """Return the key of a part of the run's files as HTML with its place."""
    return Markup('<span data-from="{}" data-as="name">{}</span>').format(
        part.place, unquote(part.place.rpartition("/")[2])
    )


def mean_html(estimate: Sourced, way: str = "plain") -> Markup:
    """Return a mean and its interval as HTML."""
    mean = number_html(estimate["mean"], way)
    return mean if estimate["low"].number is None else _ranged(mean, interval_html(estimate, way))


def interval_html(estimate: Sourced, way: str = "plain") -> Markup:
    """Return the ends of an interval as HTML; one end may be open."""
    low, high = estimate["low"], estimate["high"]
    if low.number is None and high.number is None:
        return Markup(NOTHING)
    if low.number is None:
        return Markup("{} or less").format(number_html(high, way))
    if high.number is None:
        return Markup("{} or more").format(number_html(low, way))
    return Markup("{} to {}").format(number_html(low, way), number_html(high, way))


def number_text(number: Sourced, way: str) -> str:
    """Return a number as text; ``way`` is a key of ``WRITE``."""
    if number.number is None:
        return NOTHING
    return WRITE[way](number.value).replace("-", "−" if way != "date" else "-")


def plain(value: float) -> str:
    """Write three significant digits, or all before the decimal point."""
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    return f"{value:#.3g}" if abs(value) >= 1e-4 else f"{value:.1e}"


def minutes(value: float) -> str:
    """Write minutes; small numbers have more decimals."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


WRITE: Final[dict[str, Callable[[float], str]]] = {
    "plain": plain,
    "minutes": minutes,
    "count": lambda value: f"{value:,.0f}",
    "percent": lambda value: f"{value:.1%}",
    "score": lambda value: f"{value:,.1f}",
    "loss": lambda value: f"{value:.4f}",
    "elo": lambda value: f"{value:+,.0f}" if round(value) else "0",
    "file": lambda value: f"{value:04.0f}",
    "exactly": lambda value: str(int(value)),
    "date": lambda value: f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M} UTC",
}
"""The ways to write a number, by name."""


def _panel_table(chart: Chart, panel: Panel) -> Table:
    by_x: dict[float | None, dict[str, Point]] = {}
    for line in panel.lines:
        for point in line.points:
            by_x.setdefault(point.x.number, {})[line.name] = point
    spent = chart.minutes if panel.x_name == "iteration" else {}
    head = [panel.x_name, *(["minutes of learning"] if spent else []), *(_heading(line) for line in panel.lines)]
    rows: list[list[str]] = []
    for x, points in by_x.items():
        row: list[str] = [number_html(next(iter(points.values())).x, panel.x_way)]
        if spent:
            until = spent.get(int(x or 0))
            row.append(NOTHING if until is None else number_html(until, "minutes"))
        rows.append(row + [_point(points.get(line.name), panel.way) for line in panel.lines])
    rows += [[name, number_html(level, panel.way)] for name, level in panel.levels.items()]
    title = panel.title
    if panel.named is not None:
        title = Markup("{}: {}").format(panel.title.partition(":")[0], name_html(panel.named))
    return Table(head, rows, title=title)


def _heading(line: Line) -> str:
    return line.name if line.named is None else name_html(line.named)


def _point(point: Point | None, way: str) -> str:
    if point is None:
        return NOTHING
    y = number_html(point.y, way)
    if point.low is None or point.high is None or None in (point.low.number, point.high.number):
        return y
    return _ranged(y, Markup("{} to {}").format(number_html(point.low, way), number_html(point.high, way)))


def _mean(estimate: Sourced, way: str, counted: str) -> str:
    if not estimate:
        return NOTHING
    below = Markup('<small class="below">{} {}</small>').format(number_html(estimate["count"], "count"), counted)
    return mean_html(estimate, way) + below


def _share(estimate: Sourced) -> str:
    return _mean(estimate, "percent", "pairs")


def _move_share(one: Sourced) -> str:
    if not one:
        return NOTHING
    above = Markup("above the limit of {}, ").format(number_html(one["limit"], "percent"))
    below = Markup('<small class="below">{}{} decisions</small>').format(
        above if one["warning"].value is True else "", number_html(one["decisions"], "count")
    )
    return number_html(one["share"], "percent") + below


def _points(both: Sourced) -> str:
    if not both:
        return NOTHING
    return Markup("{} to {}").format(number_html(both[0], "score"), number_html(both[1], "score"))


def _found(number: Sourced, way: str) -> str:
    return number_html(number, way) if number else NOTHING


def _elo(rating: Sourced | None) -> str:
    if rating is None:
        return NOTHING
    interval = interval_html(rating, "elo")
    return _ranged(number_html(rating["rating"], "elo"), interval) if _bounded(rating) else interval


def _bounded(rating: Sourced) -> bool:
    return rating["low"].number is not None and rating["high"].number is not None


def _network(name: str, number: Sourced) -> Markup:
    return Markup("{}: network {}").format(name, number_html(number, "exactly"))


def _ranged(number: Markup, interval: Markup) -> Markup:
    return Markup('{} <small class="range">({})</small>').format(number, interval)
