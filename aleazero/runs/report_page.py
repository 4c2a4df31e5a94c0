"""The page of a report: its parts in their order, in one file that asks nobody for anything."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files as resources

from aleazero.games.registry import title_of
from aleazero.runs.report_charts import Chart
from aleazero.runs.report_content import GATE
from aleazero.runs.report_numbers import shown, shown_text
from aleazero.runs.report_tables import (
    champion_of,
    chart_tables,
    final_table,
    gate_table,
    measured_networks,
    ratings_table,
    regret_table,
    table,
    time_table,
)
from aleazero.runs.report_words import game_in_words, glossary, missing, state_of, summary
from aleazero.runs.told import RunFiles, Told


def make_page(run: RunFiles, charts: Sequence[Chart], drawings: dict[str, str]) -> str:
    """The page, with the drawings of its charts by key."""
    by_key = {chart.key: chart for chart in charts}

    def figure(key: str) -> str:
        return _figure(by_key[key], drawings[key]) if key in by_key else ""

    networks = measured_networks(run)
    regret = regret_table(next(iter(networks.values()))) if networks else ""
    sections = {
        "Result": final_table(run, networks) if networks else "",
        "Strength over time": figure("strength"),
        "Regret": figure("regret") + (f"{_whose(run)}{regret}" if regret else ""),
        "Ratings": figure("ratings") + ratings_table(run),
        "Gates": figure("gates") + gate_table(run) + _error_rates(run),
        "Learning": "".join(f"<h3>{by_key[key].title}</h3>\n{figure(key)}"
                            for key in ("losses", "calibration", "entropy") if key in by_key),
        "Speed": figure("throughput"),
        "Where the time went": figure("time") + time_table(run),
        "What is missing": _list(missing(run, charts)),
        "Settings": "<p>All of them, as in <code>config.yaml</code>.</p>\n"
        f'<pre class="settings" data-from="config:" data-as="file">{escape(run.config_text)}</pre>',
        "How to reproduce": _reproduce(run),
        "Glossary": glossary(run),
    }  # fmt: skip
    sections = {title: inner for title, inner in sections.items() if inner}
    links = "\n".join(f'<a href="#{_anchor(title)}">{title}</a>' for title in sections)
    body = "\n".join(
        f'<section id="{_anchor(title)}">\n<h2>{title}</h2>\n{inner}\n</section>' for title, inner in sections.items()
    )
    state = state_of(run)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title_of(str(run.manifest["game"].value)))}: report of the run {escape(_name(run))}</title>
<style>
{resources("aleazero.runs").joinpath("report.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<header>
<h1>Learning {game_in_words(run)}</h1>
<p class="about">{_about(run)}</p>
{f'<p class="state">{state}</p>' if state else ""}
<p class="summary">{summary(run)}</p>
<nav>
{links}
</nav>
</header>
<main>
{body}
</main>
<footer><p>Made by <code>aleazero report</code> from the run's own files. Every number names the place it comes from,
in the page's source: <code>data-from</code>.</p></footer>
</body>
</html>
"""


def _figure(chart: Chart, drawing: str) -> str:
    return f"""<figure id="figure-{chart.key}"><div class="wide">
{drawing}</div>
<figcaption>{escape(chart.caption)}</figcaption></figure>
<details><summary>The numbers</summary>
{chart_tables(chart)}
</details>
"""


def _about(run: RunFiles) -> str:
    name = f'Run <b data-from="directory:name" data-as="text">{escape(_name(run))}</b>'
    when = f", {shown(run.first, 'date')} to {shown(run.last, 'date')}" if run.first else ""
    manifest = run.manifest
    return (f"{name}{when}, recipe {shown_text(manifest['recipe'])}, seed {shown(manifest['seed'], 'exactly')}, "
            f"AleaZero {shown_text(manifest['version'])}")  # fmt: skip


def _whose(run: RunFiles) -> str:
    called, one = next(iter(measured_networks(run).items()))
    return f'<p class="lead">By kind of decision, {called}: network {shown(one["iteration"], "exactly")}.</p>\n'


def _error_rates(run: RunFiles) -> str:
    """How often the gates err, in words; said once where it is the same for all."""
    said: dict[str, tuple[Told, list[Told]]] = {}
    for one in run.phases(GATE).values():
        words = one["results"]["error_rates"]["in_words"]
        if words:
            said.setdefault(str(words.value), (words, []))[1].append(one["iteration"])
    if not said:
        return ""
    if len(said) == 1:
        return f"<p>How often a gate errs: {shown_text(next(iter(said.values()))[0])}.</p>\n"
    items = []
    for words, whose in said.values():
        items.append(f"network {', '.join(shown(one, 'exactly') for one in whose)}: {shown_text(words)}.")
    return f"<p>How often the gates err:</p>\n{_list(items)}"


def _reproduce(run: RunFiles) -> str:
    """The commands that make the same networks, and play."""
    manifest, champion = run.manifest, champion_of(run)
    rounds = ""
    if run.config["minutes"] and manifest["rounds"]:
        rounds = f" --set minutes=null --set rounds={shown(manifest['rounds'], 'exactly')}"
    commands = [f"aleazero train config.yaml --run again{rounds}"]
    if champion:
        params = "".join(f" -p {escape(name)}={shown_text(one)}" for name, one in manifest["params"].parts().items())
        play = run.config["play"]
        options = f",{shown_text(play)}" if play.value else ""
        commands.append(f"aleazero play {shown_text(manifest['game'])}{params} "
                        f"--opponent net:again/models/{shown(champion, 'file')}.safetensors{options}")  # fmt: skip
    facts = [
        ["AleaZero", shown_text(manifest["version"])],
        ["seed", shown(manifest["seed"], "exactly")],
        ["rules of the game", shown_text(manifest["rules"])],
        ["settings, as a hash", shown_text(manifest["settings"])],
    ]
    for one in manifest["iterations"].rows():
        if one["model"] and one["number"].value == champion.value:
            facts.append(["the champion's file, as a hash", shown_text(one["model"])])
    lines = "\n".join(commands)
    measured = " The minutes gave this number of rounds; another machine would find another." if rounds else ""
    return ("<p>Save the settings above as <code>config.yaml</code>. The same settings, seed and version give the same "
            f"networks, gates and measurements, whatever the number of cores; only times differ.{measured}</p>\n"
            f"<pre>{lines}</pre>\n{table(('what', 'which'), facts, 'compact', words=(1,))}")  # fmt: skip


def _list(items: Sequence[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{one}</li>" for one in items) + "\n</ul>\n" if items else ""


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _name(run: RunFiles) -> str:
    return run.path.resolve().name
