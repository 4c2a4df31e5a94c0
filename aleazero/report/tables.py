"""Numbers and tables of a report as HTML: every number carries its place in the run's files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final
from urllib.parse import unquote

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
from aleazero.report.source import RunFiles, Told, ratio, total

NOTHING: Final = "–"
"""What is shown where a file says nothing, or not a number."""
VERDICTS = {"promoted": "promoted", "kept": "champion kept", "undecided": "undecided: champion kept"}


def plain(value: float) -> str:
    """Three digits, or all before the point."""
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    return f"{value:#.3g}" if abs(value) >= 1e-4 else f"{value:.1e}"


def minutes(value: float) -> str:
    """As exact as somebody who waits wants to know it."""
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
"""By name, the ways to write a number."""


def written(told: Told, way: str) -> str:
    """A number as text."""
    if told.number is None:
        return NOTHING
    return WRITE[way](told.value).replace("-", "−" if way != "date" else "-")  # a seed is too long for a float


def shown(told: Told, way: str = "plain") -> str:
    """A number as HTML, with its place."""
    return f'<span data-from="{escape(told.place)}">{written(told, way)}</span>'


def shown_text(told: Told) -> str:
    """A word or a sentence of the run's files as HTML, with its place."""
    return f'<span data-from="{escape(told.place)}" data-as="text">{escape(str(told.value))}</span>'


def shown_game(told: Told) -> str:
    """What people call a game, as HTML; the text that it is loaded by is its tooltip."""
    text = str(told.value)
    return (
        f'<span data-from="{escape(told.place)}" data-as="game" title="{escape(text)}">{escape(title_of(text))}</span>'
    )


def shown_name(told: Told) -> str:
    """What a part of the run's files is called there, as HTML."""
    name = unquote(told.place.rpartition("/")[2])
    return f'<span data-from="{escape(told.place)}" data-as="name">{escape(name)}</span>'


def between(told: Told, way: str = "plain", joined: str = " to ") -> str:
    """The ends of an interval; nothing where there are none."""
    low, high = told["low"], told["high"]
    if low.number is None:
        return NOTHING if high.number is None else f"{shown(high, way)} or less"
    return f"{shown(low, way)} or more" if high.number is None else f"{shown(low, way)}{joined}{shown(high, way)}"


def with_interval(told: Told, way: str = "plain") -> str:
    """A mean and its interval."""
    mean = shown(told["mean"], way)
    return mean if told["low"].number is None else f'{mean} <small class="range">({between(told, way)})</small>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "", words: Sequence[int] = ()) -> str:
    """Rows of HTML, the first cell of each its name; columns of words stand left."""

    def cells(tag: str, row: Sequence[str], first: int = 0) -> str:
        kinds = [' class="words"' if number in words else "" for number in range(first, first + len(row))]
        return "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, row, strict=True))

    top = cells("th", head)
    body = "\n".join(f'<tr><th scope="row">{row[0]}</th>{cells("td", row[1:], 1)}</tr>' for row in rows)
    return (f'<div class="wide"><table class="{kind}">\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>'
            "</table></div>")  # fmt: skip


def final_table(files: RunFiles, networks: dict[str, Told]) -> str:
    """How strong networks are, by what they are called: the ends of their evaluations."""
    ratings = {str(one["name"].value): one for one in newest_ratings(files)}
    final = final_of(files)
    columns = [*networks.values(), *([final] if final else [])]
    met = list(dict.fromkeys(name for one in columns for name in one["results"]["opponents"].parts()))
    rows = []

    def add(name: str, cells: list[str]) -> None:
        if any(cell != NOTHING for cell in cells):
            rows.append([name, *cells])

    for name in met:
        add(f"against {escape(name)}", [_share(one["results"]["opponents"][name]) for one in columns])
    if "oracle" not in met:
        add("against oracle", [_share(one["results"]["oracle"]) for one in columns])
    for name in met:
        add(f"points against {escape(name)}", [_points(one["results"]["points"][name]) for one in columns])
    counted = "pairs of games" if any(one["results"]["oracle_score"] for one in columns) else "games"
    add("mean score", [_mean(one["results"]["score"], "score", counted) for one in columns])
    add("mean score of the oracle <small>in the same games</small>",
        [_mean(one["results"]["oracle_score"], "score", counted) for one in columns])  # fmt: skip
    add("regret a decision", [_mean(one["results"]["regret"], "plain", "decisions") for one in columns])
    add("best decisions", [_found(one["results"]["regret"]["optimal"], "percent") for one in columns])
    add("regret a game", [_mean(one["results"]["regret_a_game"], "plain", "games") for one in columns])
    add("Elo <small>the oracle is zero, or random play</small>",
        [_elo(ratings.get(f"network {one.value['iteration']}")) for one in networks.values()]
        + [NOTHING] * (len(columns) - len(networks)))  # fmt: skip
    head = ["", *(f"{called}: network {shown(one['iteration'], 'exactly')}" for called, one in networks.items())]
    if final:
        head.append(f"at the end: network {shown(final['results']['network'], 'exactly')}")
    return table(head, rows, "final")


def regret_table(measured: Told) -> str:
    """What the decisions of one network give away, by kind; nothing where that was not measured."""
    kinds = measured["results"]["regret"]["by_kind"].parts()
    rows = [[shown_name(one), shown(one["count"], "count"), with_interval(one), shown(one["optimal"], "percent"),
             shown(one["tied"], "count")] for one in kinds.values()]  # fmt: skip
    return table(("kind of decision", "positions", "regret", "best chosen", "with several best"), rows) if rows else ""


def gate_table(files: RunFiles) -> str:
    """Each gate, and its verdict."""
    rows, in_points = [], False
    for one in files.phases(GATE).values():
        results, word = one["results"], verdict(one)
        name = f"network {shown(one['iteration'], 'exactly')}"
        if not results["score"]:
            rows.append([name, "nobody", shown(results["pairs"], "count"), NOTHING, "the first champion"])
            continue
        champion = f"network {shown(results['against'], 'exactly')}"
        said = f'<span class="{word}">{VERDICTS[word]}</span>'
        in_points = in_points or bool(results["gain"])
        score = with_interval(results["gain"]) if results["gain"] else with_interval(results["score"], "percent")
        rows.append([name, champion, shown(results["pairs"], "count"), score, said])
    scored = "points ahead" if in_points else "games won"
    return table(("candidate", "champion", "pairs", scored, "verdict"), rows, words=(1, 4)) if rows else ""


def ratings_table(files: RunFiles) -> str:
    """All who were rated, the best first."""
    rows = [[shown_text(one["name"]), shown(one["rating"], "elo") if _bounded(one) else NOTHING, between(one, "elo"),
             shown(one["pairs"], "count")] for one in newest_ratings(files)]  # fmt: skip
    return table(("player", "Elo", "interval", "pairs"), rows, "compact") if rows else ""


def time_table(files: RunFiles) -> str:
    """Minutes by phase, and their shares."""
    spent = {name: [seconds_of(one) for one in files.phases(name).values()] for name in PHASES}
    everything = total([one for parts in spent.values() for one in parts])
    rows = []
    for name, parts in spent.items():
        if parts:
            own = total(parts)
            rows.append([name, shown(ratio(own, 60), "minutes"), shown(ratio(own, everything), "percent")])
    if rows:
        rows.append(["all phases", shown(ratio(everything, 60), "minutes"), ""])
    return table(("phase", "minutes", "share"), rows, "compact") if rows else ""


def chart_tables(chart: Chart) -> str:
    """The numbers behind a chart."""
    return "\n".join(_panel_table(chart, panel) for panel in chart.panels)


def measured_networks(files: RunFiles) -> dict[str, Told]:
    """The champion and the newest network, as far as they were measured."""
    found = {number: one for number, one in files.phases(EVALUATE).items() if one["results"].value}
    champion = champion_of(files).whole
    networks = {}
    if champion in found:
        networks["champion"] = found[champion]
    if found and max(found) != champion:
        newest = max(found) == max(files.phases(GATE), default=0)
        networks["newest" if newest else "newest measured"] = found[max(found)]
    return networks


def final_of(files: RunFiles) -> Told | None:
    """The champion, as it was measured when the run was over; None where it was not."""
    found = files.phases(FINAL)
    last = found[max(found)] if found else None
    return last if last is not None and last["results"]["network"].whole == champion_of(files).whole else None


def champion_of(files: RunFiles) -> Told:
    """Whose network is the best so far, by iteration."""
    known = [one["champion"] for one in files.manifest["iterations"].rows() if one["champion"]]
    return known[-1] if known else Told(None, "manifest:iterations")


def _panel_table(chart: Chart, panel: Panel) -> str:
    by_x: dict[float | None, dict[str, Point]] = {}
    for line in panel.lines:
        for point in line.points:
            by_x.setdefault(point.x.number, {})[line.name] = point
    minutes = chart.minutes if panel.x_name == "iteration" else {}
    head = [panel.x_name, *(["minutes of learning"] if minutes else []), *(_heading(line) for line in panel.lines)]
    rows = []
    for x, points in by_x.items():
        row = [shown(next(iter(points.values())).x, panel.x_way)]
        if minutes:
            told = minutes.get(int(x or 0))
            row.append(NOTHING if told is None else shown(told, "minutes"))
        rows.append(row + [_point(points.get(line.name), panel.way) for line in panel.lines])
    rows += [[escape(name), shown(told, panel.way)] for name, told in panel.levels.items()]
    title = escape(panel.title)
    if panel.named is not None:
        title = f"{escape(panel.title.partition(':')[0])}: {shown_name(panel.named)}"
    return f"<h3>{title}</h3>\n" + table(head, rows)


def _heading(line: Line) -> str:
    return escape(line.name) if line.named is None else shown_name(line.named)


def _point(point: Point | None, way: str) -> str:
    if point is None:
        return NOTHING
    if point.low is None or point.high is None or None in (point.low.number, point.high.number):
        return shown(point.y, way)
    ends = f"{shown(point.low, way)} to {shown(point.high, way)}"
    return f'{shown(point.y, way)} <small class="range">({ends})</small>'


def _found(told: Told, way: str) -> str:
    return shown(told, way) if told else NOTHING


def _mean(told: Told, way: str, counted: str) -> str:
    if not told:
        return NOTHING
    return f'{with_interval(told, way)}<small class="below">{shown(told["count"], "count")} {counted}</small>'


def _share(told: Told) -> str:
    return _mean(told, "percent", "pairs of games")


def _points(told: Told) -> str:
    return f"{shown(told[0], 'score')} to {shown(told[1], 'score')}" if told else NOTHING


def _bounded(rating: Told) -> bool:
    return rating["low"].number is not None and rating["high"].number is not None


def _elo(told: Told | None) -> str:
    if told is None:
        return NOTHING
    if not _bounded(told):
        return between(told, "elo")
    return f'{shown(told["rating"], "elo")} <small class="range">({between(told, "elo")})</small>'
