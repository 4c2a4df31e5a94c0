"""Text and page of a report.

``page.html.j2`` holds the HTML, section by section, and calls the functions of ``tables.py``. This module holds the
sentences that depend on the run, and the glossary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from itertools import pairwise
from typing import Final

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from aleazero.games.registry import title_of
from aleazero.report import tables
from aleazero.report.charts import (
    EVALUATE,
    GATE,
    PHASES,
    WEAK_OPPONENTS,
    Chart,
    minutes_of_learning,
    newest_ratings,
    opponents,
    seconds_of,
)
from aleazero.report.source import RunSource, Sourced, ratio, total
from aleazero.report.tables import champion_number, final_of, game_html, measured_networks, number_html, text_html
from aleazero.runs.directory import read_notes

RECIPES: Final = {
    "afterstate": "The network values positions between turns, and each turn is planned exactly.",
    "alphazero": "The network was trained on games against itself, in which a search selected each action.",
}
GLOSSARY: Final = {
    "network": "The result of an iteration, named by the number of the iteration.",
    "champion": "The best network so far. A later network becomes champion if it passes a gate.",
    "minutes of learning": "Time of learning without gates and evaluations. The recipe afterstate also leaves out "
    "compilation.",
    "gate": "A statistical test of the newest network against the champion. Its settings define whether the network "
    "must be better, or must not be worse by more than a margin.",
    "pair": "Two games with the same dice and the seats swapped, or in a one-player game one game per player with the "
    "same dice. Statistics count pairs, not games.",
    "95 % confidence interval": "An interval that contains the true value in 95 % of such measurements.",
    "random": "A player that selects actions at random.",
    "rollout": "A search that values positions by random playouts, with 200 playouts for each move. It is not trained.",
    "oracle": "Optimal play by exact values.",
    "regret": "The value that a decision loses compared with the best decision, in the unit of the game's returns. It "
    "requires exact values.",
    "Elo": "A scale of strength. Equal players have equal ratings; 400 points more mean ten wins per loss.",
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
        glossary=glossary(run),
    )
    return page.lstrip()


def glossary(run: RunSource) -> dict[str, str]:
    """Return the glossary: notes of the game's kit replace entries; opponents that did not play are left out."""
    met = opponents(run)
    known = {term: text for term, text in GLOSSARY.items() if term not in (*WEAK_OPPONENTS, "oracle") or term in met}
    return {**known, **read_notes(run.path)}


def summary(run: RunSource) -> Markup:
    """Describe the run in three sentences."""
    recipe = str(run.manifest["recipe"].value)
    spent = total([seconds_of(one) for name in PHASES for one in run.phases(name).values()])
    minutes = list(minutes_of_learning(run).values())
    took = Markup()
    if minutes:
        took = Markup(" and {} minutes of learning ({} minutes in total)").format(
            number_html(minutes[-1], "minutes"), number_html(ratio(spent, 60), "minutes")
        )
    return Markup("This run trained a network for {} from scratch, in {}{}. {} {}").format(
        game_in_words(run), progress(run), took, RECIPES.get(recipe, recipe), _strength(run)
    )


def game_in_words(run: RunSource) -> Markup:
    """Return the title of the game with its parameters."""
    game = game_html(run.manifest["game"])
    params = [Markup("{} {}").format(name, text_html(one)) for name, one in run.manifest["params"].parts().items()]
    return Markup("{} ({})").format(game, Markup(", ").join(params)) if params else game


def progress(run: RunSource) -> Markup:
    """Return the number of finished iterations as text."""
    over = [one["number"] for one in run.manifest["iterations"].rows() if EVALUATE in (one["done"].value or ())]
    done = over[-1] if over else Sourced(0, "0")
    of = run.config["iterations"]
    return Markup("{} of {} iterations").format(number_html(done, "exactly"), number_html(of, "exactly"))


def why_stopped(run: RunSource) -> Sourced | None:
    """Return the reason of the last stop; None if the run was resumed since, or never stopped."""
    halts = run.events("stopped", "resumed")
    return halts[-1]["why"] if halts and halts[-1].value["event"] == "stopped" else None


def _was_killed(run: RunSource) -> bool:
    """Return whether a process of the run ended without an event: killed processes cannot log one."""
    names = [one.value["event"] for one in run.events("started", "resumed", "stopped", "finished")]
    return any(name == "resumed" and last in ("started", "resumed") for last, name in pairwise(names))


@dataclass(frozen=True)
class ErrorRates:
    """Error rates of a gate as a sentence, and the networks whose gates have them."""

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
    """List the parts that the report does not have, each with the reason."""
    drawn = {chart.key for chart in charts}
    evaluated = {number: one for number, one in run.phases(EVALUATE).items() if one["results"].value}
    found: list[str] = []
    if not evaluated:
        found.append("No strength: no network was evaluated yet.")
    else:
        if not set(opponents(run)) - WEAK_OPPONENTS.keys():
            if run.config["evaluate"]["against"].value:
                found.append("No games against an oracle or reference player: the settings do not list one.")
            elif "regret" in drawn:
                found.append("No games against an oracle: regret shows the distance from optimal play.")
            else:
                found.append("No games against an oracle: the exact values of this game are not known.")
        if "regret" not in drawn:
            off = run.config["evaluate"]["regret"].value is False
            found.append("No regret: it is disabled in the settings." if off
                         else "No regret: the exact values of this game are not known.")  # fmt: skip
        if not newest_ratings(run):
            found.append("No Elo ratings: the run has no games against an oracle, a reference player or random play.")
        left_out = [one["iteration"] for number, one in run.phases(GATE).items() if number not in evaluated]
        if left_out:
            numbers = Markup(", ").join(number_html(one, "exactly") for one in left_out)
            found.append(Markup("Networks that were not evaluated: {}.").format(numbers))
    if "gates" not in drawn:
        found.append("No gates: the first network is champion without a gate.")
    if "losses" not in drawn:
        found.append("No losses: tables are trained without them, or no network was trained yet.")
    if run.manifest["recipe"].value == "afterstate":
        found.append("No policy entropy: networks of the recipe afterstate have no policy.")
        if "calibration" not in drawn:
            found.append("No calibration: it is disabled in the settings, or the network consists of tables.")
    elif "entropy" not in drawn:
        found.append("No calibration and no policy entropy: no network was fitted yet.")
    if _was_killed(run):
        found.append("No time before a kill: the run was killed and resumed, and a killed phase cannot log its time.")
    return found


def _strength(run: RunSource) -> Markup:
    champion = champion_number(run)
    if not champion:
        return Markup("There is no champion yet.")
    networks, final = measured_networks(run), final_of(run)
    if not networks:
        return Markup("The champion, network {}, was not evaluated.").format(number_html(champion, "exactly"))
    name, one = next(iter(networks.items()))
    number, results = one["iteration"], one["results"]
    if final is not None and name != "champion":
        name, number, results = "champion", final["results"]["network"], final["results"]
    best = results if final is None else final["results"]  # it has the most games
    shares = {**results["opponents"].parts(), **best["opponents"].parts()}
    against = {
        "random": "random play",
        "rollout": "a search with 200 playouts",
        "oracle": "the oracle",
        "solo-optimal": "the solo-optimal player",
    }
    wins: list[Markup] = []
    for opponent, score in shares.items():
        mean, of = number_html(score["mean"], "percent"), "" if wins else "of its games "
        wins.append(Markup("{} {}against {}").format(mean, of, against.get(opponent, opponent)))
    clauses = [Markup("wins {}").format(_listed(wins))] if wins else []
    if best["score"]:
        clauses.append(Markup("scores {} on average").format(number_html(best["score"]["mean"], "score")))
    if results["regret"]:
        clauses.append(Markup("loses {} per decision (regret)").format(number_html(results["regret"]["mean"])))
    return Markup("{}, network {}, {}.").format(
        "The champion" if name == "champion" else "The newest evaluated network",
        number_html(number, "exactly"),
        Markup("; it ").join(clauses) or "was evaluated",
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
