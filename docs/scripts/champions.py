"""Bundle the champions of finished runs with their results: ``python docs/scripts/champions.py RUN[:PLAYER]…``.

``PLAYER`` is the player spec of the network without its path, e.g. ``plan:plies=2,keep=8,margin=0.16`` or
``search:sims=200``. By default a value network plans as in its training. The table of ``docs/benchmarks/training.md``
is written again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from aleazero.errors import RunError
from aleazero.evaluation.errors import judged_set, measure_on_set
from aleazero.evaluation.match import game_seeds
from aleazero.evaluation.pairs import play_pairs
from aleazero.evaluation.statistics import PairMean
from aleazero.files import file_hash, write_atomic
from aleazero.games.base import Game
from aleazero.games.kit import kit_of
from aleazero.nets.planned import PlannedEvaluator
from aleazero.players.champions import FOLDER, champions
from aleazero.players.make import make_player
from aleazero.players.search import read_any_net
from aleazero.runs.directory import read_manifest, read_own_config
from aleazero.runs.summary import strength_lines, summary_of

BEGIN, END = "<!-- table champions -->", "<!-- end -->"
LEFT_OUT = ("run", "state", "champion", "Elo")
MATCH_SEED, MATCH_PAIRS = 22, 1000
LARGEST = 3_000_000
"""Largest size of a bundled network in bytes."""
NAMES = {"oracle": "solo-optimal", "rollout": "search with 200 playouts"}


def ship(run: Path, player: str) -> Path:
    manifest, config, found = read_manifest(run), read_own_config(run), summary_of(run)
    if not manifest.finished:
        raise SystemExit(f"{run} is not finished, expected a run that is: aleazero resume {run}")
    model = run / "models" / f"{manifest.champion:04}.safetensors"
    if model.stat().st_size > LARGEST:
        raise SystemExit(f"{model} has {model.stat().st_size:,} bytes, expected at most {LARGEST:,}")
    game = config.load_game()
    net = read_any_net(str(model), game)
    plans = net.horizon() if isinstance(net, PlannedEvaluator) else {}
    name, horizon = next(iter(plans.items()), ("", None))
    figures = {
        "game": game.name, "params": game.params, "rules": manifest.rules, "recipe": manifest.recipe,
        "seed": manifest.seed, "rounds": manifest.rounds, "iterations": config.iterations,
        "network": manifest.champion, "hash": file_hash(model, RunError),
        "horizon": None if horizon is None else str(horizon),
        "player": (player or f"plan:{name}={horizon}") if plans else None,
        "minutes": round(found["seconds"] / 60, 1),
        "results": {name: part for name, part in found["results"].items() if name not in ("ratings", "network")},
        "lines": {f"alone, {name}" if player and name.startswith("against ") else name: text
                  for name, text in found["lines"].items() if name not in LEFT_OUT},
    }  # fmt: skip
    figures["lines"] |= error_rates(game, model, figures["player"])
    if player.startswith("search"):
        figures["lines"] |= match(game, model, player)
    values = [name if value is True else str(value) for name, value in game.params.items() if value is not False]
    target = FOLDER / f"{'_'.join([game.name, *values])}.safetensors"
    target.parent.mkdir(exist_ok=True)
    write_atomic(target, [model.read_bytes()])
    write_atomic(target.with_suffix(".json"), [json.dumps(figures, indent=1).encode() + b"\n"])
    return target


def error_rates(game: Game, model: Path, player: str | None) -> dict[str, str]:
    """Measure the network alone and with its plan or search on the game's sets of judged decisions."""
    players = {"alone": f"net:{model}"}
    if player is not None:
        players[f"with its {player.partition(':')[0]}"] = f"{player},net={model}"
    found = {}
    for name in kit_of(game).judged:
        rates = []
        for how, spec in players.items():
            rate = measure_on_set(make_player(spec, game, threads=2), judged_set(game, name)).overall.to_dict()
            rates.append(f"{rate['error_rate']['mean']:.2f} ± {rate['error_rate']['error']:.2f} {how}")
        found[f"error rate, set {name}"] = ", ".join(rates)
    return found


def match(game: Game, model: Path, player: str) -> dict[str, str]:
    """Let the network with its search play against the reference player of the game."""
    kit = kit_of(game)
    if kit.reference is None:
        return {}
    played = play_pairs(game, f"{player},net={model}", kit.reference, game_seeds(MATCH_SEED, MATCH_PAIRS), threads=2)
    score = {kit.reference_name or kit.reference: PairMean.of(played.scores).to_dict()}
    return {f"with its search, {name}": text for name, text in strength_lines({"opponents": score}, None).items()}


def table() -> str:
    """List the results of all bundled networks as a Markdown table."""
    rows = ["| network | training | against | result | pairs |", "|---|---|---|---:|---:|"]
    for one in champions():
        figures = one.figures
        training = f"seed {figures['seed']}, {figures['rounds']:,} rounds, {figures['minutes']} minutes"
        for name, found in figures["results"]["opponents"].items():
            score = f"{100 * found['mean']:.2f} % ({100 * found['low']:.2f} to {100 * found['high']:.2f})"
            rows.append(f"| {one.game} | {training} | {NAMES.get(name, name)} | {score} | {found['count']:,} |")
        rows += [f"| {one.game} | {training} | {name} | {text} | – |" for name, text in figures["lines"].items()
                 if name.startswith(("error rate", "with its "))]  # fmt: skip
    return "\n".join(rows)


def write_table(page: Path) -> None:
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["runs/yatzy"]:
        run, _, player = name.partition(":")
        shipped = ship(Path(run), player)
        sys.stdout.write(f"{shipped.name}: {shipped.stat().st_size:,} bytes, from {run}\n")
    write_table(Path(__file__).resolve().parents[1] / "benchmarks" / "training.md")
