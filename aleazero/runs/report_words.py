"""What a report says in words: the summary, what is missing, and what the words mean."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from aleazero.runs.directory import read_notes
from aleazero.runs.report_charts import Chart
from aleazero.runs.report_content import EVALUATE, GATE, PHASES, minutes_learnt, newest_ratings, opponents, seconds_of
from aleazero.runs.report_numbers import shown, shown_game, shown_text
from aleazero.runs.report_tables import champion_of, final_of, measured_networks
from aleazero.runs.told import RunFiles, Told, ratio, total

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
    """What the words mean; the notes of the game's kit come in place of the words that they explain, or last."""
    meanings = {**GLOSSARY, **read_notes(files.path)}
    words = "\n".join(f"<div><dt>{escape(word)}</dt><dd>{escape(said)}</dd></div>" for word, said in meanings.items())
    return f"<dl>\n{words}\n</dl>\n"


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
