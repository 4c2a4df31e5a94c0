"""Text and page of a report.

``page.html.j2`` holds the HTML, section by section, and calls the functions of ``tables.py``. This module holds the
sentences that depend on the run, and the glossary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from typing import Final

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from aleazero.games.registry import title_of
from aleazero.report import tables
from aleazero.report.charts import (
    EVALUATE,
    GATE,
    ORACLE,
    PHASES,
    Chart,
    minutes_learnt,
    newest_ratings,
    opponents,
    seconds_of,
)
from aleazero.report.source import RunSource, Sourced, ratio, total
from aleazero.report.tables import champion_number, final_of, game_html, measured_networks, number_html, text_html
from aleazero.runs.directory import read_notes

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


def make_page(run: RunSource, charts: Sequence[Chart], drawings: dict[str, str]) -> str:
    """Return the page.

    Args:
        run: the numbers of the run, each with its place.
        charts: the charts to show, in any order.
        drawings: the SVG of each chart, by key.
    """
    game = run.manifest["game"]
    page = _template().render(
        run=run,
        run_name=run.path.resolve().name,
        game=game_in_words(run),
        game_title=title_of(str(game.value)),
        style=_resource("style.css"),
        summary=summary(run),
        progress=progress(run),
        stopped=why_stopped(run),
        networks=measured_networks(run),
        champion=champion_number(run),
        charts={chart.key: chart for chart in charts},
        drawings=drawings,
        error_rates=gate_error_rates(run),
        missing=missing(run, charts),
        glossary={**GLOSSARY, **read_notes(run.path)},  # notes of the game's kit replace the terms they explain
    )
    return page.lstrip()


def summary(run: RunSource) -> Markup:
    """Describe the run in two sentences."""
    recipe = str(run.manifest["recipe"].value)
    spent = total([seconds_of(one) for name in PHASES for one in run.phases(name).values()])
    learnt = list(minutes_learnt(run).values())
    took = Markup()
    if learnt:
        took = Markup(" and {} minutes of learning ({} with everything)").format(
            number_html(learnt[-1], "minutes"), number_html(ratio(spent, 60), "minutes")
        )
    return Markup("This run taught a network to play {} from nothing, in {}{}: {}. {}").format(
        game_in_words(run), progress(run), took, RECIPES.get(recipe, recipe), _strength(run)
    )


def game_in_words(run: RunSource) -> Markup:
    """Return the title of the game with its parameters."""
    game = game_html(run.manifest["game"])
    params = [Markup("{} {}").format(name, text_html(one)) for name, one in run.manifest["params"].parts().items()]
    return Markup("{} ({})").format(game, Markup(", ").join(params)) if params else game


def progress(run: RunSource) -> Markup:
    """Return how many iterations are over: the number of the last finished one."""
    over = [one["number"] for one in run.manifest["iterations"].rows() if EVALUATE in (one["done"].value or ())]
    done = over[-1] if over else Sourced(0, "0")
    of = run.config["iterations"]
    return Markup("{} of {} iterations").format(number_html(done, "exactly"), number_html(of, "exactly"))


def why_stopped(run: RunSource) -> Sourced | None:
    """Return the reason of the last stop; None if the run was resumed since, or never stopped."""
    halts = run.events("stopped", "resumed")
    return halts[-1]["why"] if halts and halts[-1].value["event"] == "stopped" else None


@dataclass(frozen=True)
class ErrorRates:
    """How often a gate errs, as a sentence, and the networks whose gates have it."""

    words: Sourced
    networks: list[Sourced]


def gate_error_rates(run: RunSource) -> list[ErrorRates]:
    """Return the error rates of all gates; gates with equal rates share an entry."""
    found: dict[str, ErrorRates] = {}
    for one in run.phases(GATE).values():
        words = one["results"]["error_rates"]["in_words"]
        if words:
            found.setdefault(str(words.value), ErrorRates(words, [])).networks.append(one["iteration"])
    return list(found.values())


def missing(run: RunSource, charts: Sequence[Chart]) -> list[str]:
    """List the parts that a reader may look for in vain, each with the reason."""
    drawn = {chart.key for chart in charts}
    measured = {number: one for number, one in run.phases(EVALUATE).items() if one["results"].value}
    found: list[str] = []
    if not measured:
        found.append("No network was measured yet: there is no strength to show.")
    else:
        if ORACLE not in opponents(run):
            listed = run.config["evaluate"]["against"].value
            if listed:
                found.append("The oracle was not among the opponents that the settings ask for.")
            elif "regret" in drawn:
                found.append("The oracle was not met in games; regret tells how far perfect play is.")
            else:
                found.append("No oracle for this game: nobody knows how far perfect play is.")
        if "regret" not in drawn:
            off = run.config["evaluate"]["regret"].value is False
            found.append("Regret was not asked for in the settings." if off
                         else "No regret: the game has no exact values to judge decisions by.")  # fmt: skip
        if not newest_ratings(run):
            found.append("No ratings: neither the oracle nor random play, where they begin, was met.")
        left_out = [one["iteration"] for number, one in run.phases(GATE).items() if number not in measured]
        if left_out:
            numbers = Markup(", ").join(number_html(one, "exactly") for one in left_out)
            found.append(Markup("Networks that were not measured: {}.").format(numbers))
    if "gates" not in drawn:
        found.append("No gate was played: the first network is champion without one.")
    if "losses" not in drawn:
        found.append("No losses were told: tables learn without them, or nothing is learnt yet.")
    if run.manifest["recipe"].value == "afterstate":
        found.append("The recipe afterstate has no policy: there is no entropy.")
        if "calibration" not in drawn:
            found.append("No calibration: no network was measured so, or tables value the boards.")
    elif "entropy" not in drawn:
        found.append("No fit is over yet: there is no calibration and no entropy.")
    if run.events("resumed"):
        found.append("The run was resumed: what a phase took before it was killed, not stopped, is not in its minutes.")
    return found


def _strength(run: RunSource) -> Markup:
    champion = champion_number(run)
    if not champion:
        return Markup("It has no champion yet.")
    networks, final = measured_networks(run), final_of(run)
    if not networks:
        return Markup("Its champion, network {}, was not measured.").format(number_html(champion, "exactly"))
    name, one = next(iter(networks.items()))
    number, results = one["iteration"], one["results"]
    if final is not None and name != "champion":
        name, number, results = "champion", final["results"]["network"], final["results"]
    best = results if final is None else final["results"]  # of the most games
    shares = {**results["opponents"].parts(), **best["opponents"].parts()}
    against = {"random": "random play", "rollout": "a search of two hundred playouts", "oracle": "the oracle"}
    wins: list[Markup] = []
    for opponent, score in shares.items():
        mean, of = number_html(score["mean"], "percent"), "" if wins else "of its games "
        wins.append(Markup("{} {}against {}").format(mean, of, against.get(opponent, opponent)))
    clauses = [Markup("wins {}").format(_listed(wins))] if wins else []
    if best["score"]:
        clauses.append(Markup("scores {} on average").format(number_html(best["score"]["mean"], "score")))
    if results["regret"]:
        regret = number_html(results["regret"]["mean"])
        clauses.append(Markup("gives away {} a decision against exact play").format(regret))
    return Markup("{}, network {}, {}.").format(
        "Its champion" if name == "champion" else "The newest network that was measured",
        number_html(number, "exactly"),
        Markup("; it ").join(clauses) or "was measured",
    )


def _listed(parts: Sequence[Markup]) -> Markup:
    return Markup(" and ").join(filter(None, (Markup(", ").join(parts[:-1]), parts[-1])))


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
                              keep_trailing_newline=True)  # fmt: skip
    called = (tables.number_html, tables.text_html, tables.final_table, tables.regret_table, tables.ratings_table,
              tables.gate_table, tables.time_table, tables.identity_table, tables.chart_tables)  # fmt: skip
    environment.globals.update({function.__name__: function for function in called})
    return environment.from_string(_resource("page.html.j2"))


def _resource(name: str) -> str:
    return resources("aleazero.report").joinpath(name).read_text(encoding="utf-8")
