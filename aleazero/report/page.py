"""Text and page of a report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files as resources
from typing import Final

from aleazero.games.registry import title_of
from aleazero.report.charts import EVALUATE, GATE, PHASES, Chart, minutes_learnt, newest_ratings, opponents, seconds_of
from aleazero.report.source import RunFiles, Told, ratio, total
from aleazero.report.tables import (
    champion_of,
    chart_tables,
    final_of,
    final_table,
    gate_table,
    measured_networks,
    ratings_table,
    regret_table,
    shown,
    shown_game,
    shown_text,
    table,
    time_table,
)

RECIPES: Final = {
    "afterstate": "it learnt what positions are worth before the dice fall, and plans each turn exactly",
    "alphazero": "it learnt from games against itself, each move of which a search chose",
}
GLOSSARY: Final = {
    "network": "What is learnt. Each iteration ends with one, named by its number.",
    "champion": "The network that the gates have chosen: to follow it, a later one must pass a gate against it.",
    "minutes of learning": "What learning itself took, without gates and evaluations, and in the recipe afterstate "
    "without compiling.",
    "gate": "A test of the newest network against the champion. What it asks is a setting: whether the newest is "
    "better, or only not worse by so much. It says how often it errs.",
    "pair": "Two games on the same luck with seats swapped (alone: one game each on the same luck), so that luck "
    "favours nobody. Pairs are what all statistics count.",
    "interval of 95 %": "A range that holds the true number in nineteen of twenty such measurements.",
    "random": "A player who chooses by lot.",
    "rollout": "A search that values positions by playing them out, two hundred times a move; it has learnt nothing.",
    "oracle": "Exact play, computed and not learnt.",
    "regret": "What a decision gives away, in the game's own points (or wins), against the best one; known where exact "
    "values are.",
    "Elo": "A scale of strength: equal players have equal ratings, and four hundred more means ten wins for a loss.",
}
ALONE: Final = (
    "In Yatzy for several, the oracle is the player who is best alone: exact for points, blind to what the "
    "others have. A player who minds them can win more often than not against it. Regret is judged as if alone, at "
    "equal cards."
)


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
{resources("aleazero.report").joinpath("style.css").read_text(encoding="utf-8")}</style>
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
                        f"--engine net:again/models/{shown(champion, 'file')}.safetensors{options}")  # fmt: skip
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


def summary(files: RunFiles) -> str:
    """The run in two sentences."""
    config, manifest = files.config, files.manifest
    done = iterations_done(files)
    recipe = str(manifest["recipe"].value)
    spent = total([seconds_of(one) for name in PHASES for one in files.phases(name).values()])
    learnt = list(minutes_learnt(files).values())
    took = f" and {shown(learnt[-1], 'minutes')} minutes of learning" if learnt else ""
    in_all = f" ({shown(ratio(spent, 60), 'minutes')} with everything)" if learnt else ""
    iterations = f"{shown(done, 'exactly')} of {shown(config['iterations'], 'exactly')} iterations"
    first = (f"This run taught a network to play {game_in_words(files)} from nothing, in {iterations}{took}{in_all}: "
             f"{RECIPES.get(recipe, escape(recipe))}.")  # fmt: skip
    return f"{first} {_strength(files)}"


def game_in_words(files: RunFiles) -> str:
    """The game and its parameters."""
    params = [f"{escape(name)} {shown_text(one)}" for name, one in files.manifest["params"].parts().items()]
    return shown_game(files.manifest["game"]) + (f" ({', '.join(params)})" if params else "")


def iterations_done(files: RunFiles) -> Told:
    """How many iterations are over: the number of the last one that is."""
    over = [one["number"] for one in files.manifest["iterations"].rows() if EVALUATE in (one["done"].value or ())]
    return over[-1] if over else Told(0, "0")


def state_of(files: RunFiles) -> str:
    """Whether the run is over; nothing is said where it is."""
    if files.manifest["finished"].value:
        return ""
    halts = files.events("stopped", "resumed")
    why = ""
    if halts and halts[-1].value["event"] == "stopped" and halts[-1]["why"]:
        why = f" It was stopped: {shown_text(halts[-1]['why'])}."
    done = f"{shown(iterations_done(files), 'exactly')} of {shown(files.config['iterations'], 'exactly')} iterations"
    return f"<strong>This run is not finished:</strong> {done} are done.{why} What follows is how it stands."


def missing(files: RunFiles, charts: Sequence[Chart]) -> list[str]:
    """What a reader may look for in vain, and why."""
    drawn = {chart.key for chart in charts}
    measured = {number: one for number, one in files.phases(EVALUATE).items() if one["results"].value}
    found = []
    if not measured:
        found.append("No network was measured yet: there is no strength to show.")
    else:
        if "oracle" not in opponents(files) and not any(one["results"]["oracle"] for one in measured.values()):
            asked = files.config["evaluate"]["against"].value
            if asked:
                found.append("The oracle was not among the opponents that the settings ask for.")
            elif "regret" in drawn:
                found.append("The oracle was not met in games; regret tells how far perfect play is.")
            else:
                found.append("No oracle for this game: nobody knows how far perfect play is.")
        if "regret" not in drawn:
            off = files.config["evaluate"]["regret"].value is False
            found.append("Regret was not asked for in the settings." if off
                         else "No regret: the game has no exact values to judge decisions by.")  # fmt: skip
        if not newest_ratings(files):
            found.append("No ratings: neither the oracle nor random play, where they begin, was met.")
        left_out = [one["iteration"] for number, one in files.phases(GATE).items() if number not in measured]
        if left_out:
            numbers = ", ".join(shown(one, "exactly") for one in left_out)
            found.append(f"Networks that were not measured: {numbers}.")
    if "gates" not in drawn:
        found.append("No gate was played: the first network is champion without one.")
    if "losses" not in drawn:
        found.append("No losses were told: tables learn without them, or nothing is learnt yet.")
    if files.manifest["recipe"].value == "afterstate":
        found.append("The recipe afterstate has no policy: there is no entropy.")
        if "calibration" not in drawn:
            found.append("No calibration: no network was measured so, or tables value the boards.")
    elif "entropy" not in drawn:
        found.append("No fit is over yet: there is no calibration and no entropy.")
    if files.events("resumed"):
        found.append("The run was resumed: what a phase took before it was killed, not stopped, is not in its minutes.")
    return found


def glossary(files: RunFiles) -> str:
    """What the words mean."""
    words = "\n".join(f"<div><dt>{escape(word)}</dt><dd>{escape(said)}</dd></div>" for word, said in GLOSSARY.items())
    alone = f"<p>{escape(ALONE)}</p>\n" if files.manifest["game"].value == "yatzy" else ""
    return f"<dl>\n{words}\n</dl>\n{alone}"


def _strength(files: RunFiles) -> str:
    champion = champion_of(files)
    if not champion:
        return "It has no champion yet."
    networks, final = measured_networks(files), final_of(files)
    if not networks:
        return f"Its champion, network {shown(champion, 'exactly')}, was not measured."
    called, one = next(iter(networks.items()))
    number, results = one["iteration"], one["results"]
    if final is not None and called != "champion":
        called, number, results = "champion", final["results"]["network"], final["results"]
    best = results if final is None else final["results"]  # of the most games
    shares = {
        **results["opponents"].parts(),
        **best["opponents"].parts(),
        **({"oracle": best["oracle"]} if best["oracle"] else {}),
    }
    against = {"random": "random play", "rollout": "a search of two hundred playouts", "oracle": "the oracle"}
    parts: list[str] = []
    for name, score in shares.items():
        of = "" if parts else "of its games "
        parts.append(f"{shown(score['mean'], 'percent')} {of}against {escape(against.get(name, name))}")
    who = "Its champion" if called == "champion" else "The newest network that was measured"
    told = [f"wins {_listed(parts)}"] if parts else []
    if best["score"]:
        told.append(f"scores {shown(best['score']['mean'], 'score')} on average")
    if results["regret"]:
        told.append(f"gives away {shown(results['regret']['mean'])} a decision against exact play")
    return f"{who}, network {shown(number, 'exactly')}, {'; it '.join(told) or 'was measured'}."


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""
