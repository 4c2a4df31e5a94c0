"""Evaluation of the networks of a run: fixed opponents, regret, score, calibration, and Elo ratings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from aleazero.errors import ConfigError, RunError, nearest
from aleazero.evaluation.ratings import PairResult, connected, rate_players
from aleazero.evaluation.strength import (
    ORACLE,
    StrengthReport,
    calibrate,
    can_measure,
    evaluate_player,
    fixed_opponents,
    measure_values,
    strongest_opponent,
)
from aleazero.files import os_errors_as
from aleazero.games.base import Game
from aleazero.games.kit import kit_of
from aleazero.native.random import EVALUATIONS, stream_key
from aleazero.nets.tables import has_board
from aleazero.nets.values import NetValues
from aleazero.processes import Pool
from aleazero.runs.directory import NOTES, RunDirectory
from aleazero.runs.recipes import PhaseProgress
from aleazero.untrusted import parse_json, read_regular

MOST_PAIRS: Final = 10_000_000
"""Most pairs in a table of a file."""
FINAL_DICE: Final = 0
"""Number of the dice of the final evaluation; an iteration has its own number, so no dice are used twice."""


def require_opponents(run: RunDirectory, game: Game) -> None:
    """Reject the oracle as opponent of a game that is not solved, before anything is trained."""
    against = run.config.evaluate.against or ()
    if ORACLE in against and ORACLE not in (known := fixed_opponents(game)):
        raise ConfigError(f"evaluate.against has {ORACLE!r}, {nearest(ORACLE, known)} in {game!r}")


def evaluate_network(
    run: RunDirectory, game: Game, iteration: int, player: str, pool: Pool, progress: PhaseProgress
) -> dict[str, Any]:
    """Evaluate the network of an iteration; write all results to ``evaluations/`` and return the main ones."""
    config = run.config.evaluate
    if config.regret:
        progress(0, None, "regret")
    games = config.reference_games
    strength = _play_opponents(
        run, game, iteration, player, config.pairs, iteration, pool, progress, games, config.regret
    )
    results = _opponent_scores(strength)
    if (regret := strength.regret) is not None:
        by_kind = {name: group.to_dict() for name, group in regret.by_kind.items()}
        results["regret"] = {**regret.overall.to_dict(), "by_kind": by_kind}
    _add_results(results, _measure_quickly(run, game, iteration, config.reference_games, iteration, pool, progress))
    if run.config.recipe == "afterstate" and config.calibration_games and not has_board(game):
        progress(0, None, "calibration")
        values = NetValues.load(run.checked_model(iteration), game)
        results["calibration"] = calibrate(values, config.calibration_games, seed=run.config.seed)
    everything = {**strength.to_dict(), "iteration": iteration, **results,
                  "pairs": {name: table.scores.tolist() for name, (_, table) in strength.against.items()}}  # fmt: skip
    run.write(run.path / "evaluations" / f"{iteration:04}.json", json.dumps(everything, indent=1) + "\n")
    kit = kit_of(game)
    if notes := {**{name: warning.meaning for name, warning in kit.move_warnings.items()}, **kit.notes}:
        run.write(run.path / NOTES, json.dumps(notes, indent=1) + "\n")
    results["ratings"] = ratings(run, game, iteration)
    return results


def evaluate_champion(
    run: RunDirectory, game: Game, player: str, pool: Pool, progress: PhaseProgress
) -> dict[str, Any]:
    """Evaluate the champion at the end of the run, with more games and dice that were not used before."""
    config, champion = run.config.evaluate, run.manifest.champion
    assert champion is not None
    results: dict[str, Any] = {"network": champion}
    games = config.final_reference_games
    if config.final_pairs:
        pairs = config.final_pairs
        strength = _play_opponents(run, game, champion, player, pairs, FINAL_DICE, pool, progress, games)
        results |= _opponent_scores(strength)
    _add_results(results, _measure_quickly(run, game, champion, games, FINAL_DICE, pool, progress))
    return results


def _play_opponents(run: RunDirectory, game: Game, network: int, player: str, pairs: int, dice: int, pool: Pool,
                    progress: PhaseProgress, reference_games: int, regret: bool = False) -> StrengthReport:  # fmt: skip
    """Play pairs against the fixed opponents, except a reference player whose games are measured by the kit."""
    config = run.config.evaluate
    against = list(fixed_opponents(game) if config.against is None else config.against)
    if _reference_is_measured(run, game, reference_games):
        against = [name for name in against if name != strongest_opponent(game)]
    return evaluate_player(
        player, game, pairs=pairs, against=against, regret=regret, seed=stream_key(EVALUATIONS, run.config.seed, dice),
        player_seed=run.config.seed, workers=pool, source=run.config.game, name=f"network {network}",
        progress=lambda name, done, of: progress(done, of, f"against {name}"),
    )  # fmt: skip


def _reference_is_measured(run: RunDirectory, game: Game, games: int) -> bool:
    kit = kit_of(game)  # with a reference player, the kit's measurement plays the games against it
    measured = kit.measure is not None and kit.reference is not None
    return run.config.recipe == "afterstate" and measured and games > 0


def _opponent_scores(strength: StrengthReport) -> dict[str, Any]:
    results: dict[str, Any] = {"opponents": {}}
    for name, (_, table) in strength.against.items():
        results["opponents"][name] = table.score().to_dict()
        if table.points is not None:
            results.setdefault("points", {})[name] = [float(part.mean()) for part in table.points]
    if strength.moves:
        results["moves"] = {name: share.to_dict() for name, share in strength.moves.items()}
    return results


def _measure_quickly(run: RunDirectory, game: Game, network: int, games: int, dice: int, pool: Pool,
                     progress: PhaseProgress) -> dict[str, Any]:  # fmt: skip
    """Run the game's fast measurement of value networks, if it has one."""
    if run.config.recipe != "afterstate" or not games or not can_measure(game):
        return {}
    progress(0, None, "fast measurement")
    seed = stream_key(EVALUATIONS, run.config.seed, dice)
    found = measure_values(run.checked_model(network), game, games=games, seed=seed, threads=pool.count)
    if "won" in found:
        found = {"opponents": {strongest_opponent(game): found.pop("won")}, **found}
    if "regret" in found:
        found["regret_per_game"] = found.pop("regret")
    return found


def _add_results(results: dict[str, Any], found: Mapping[str, Any]) -> None:
    """Add the results of the fast measurement; its opponent is added to the others."""
    opponents = {**results.get("opponents", {}), **found.get("opponents", {})}
    results |= {**found, "opponents": opponents} if opponents else found


def ratings(run: RunDirectory, game: Game, last: int) -> list[dict[str, Any]]:
    """Return the Elo ratings of all networks and fixed opponents so far.

    The oracle or reference player has rating 0. Without games against it, random play has: it is a poor anchor, because
    strong networks win every game against it.
    """
    results = []
    for number in range(1, last + 1):
        for folder, pairs_in in (("evaluations", _measured_pairs), ("gates", _gated_pairs)):
            file = run.path / folder / f"{number:04}.json"
            if not file.exists():
                continue
            with os_errors_as(RunError, f"{file} cannot be read"):
                content = read_regular(file)
            try:
                results += pairs_in(parse_json(content), f"network {number}")
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise RunError(f"{file} is damaged: {str(error)[:100]}; remove it to rate without it") from None
    opponents = {one.second for one in results}
    anchor = next((name for name in (strongest_opponent(game), "random") if name in opponents), None)
    if anchor is None:
        return []
    wanted = connected(results, anchor)
    return [one.to_dict() for one in rate_players([r for r in results if r.first in wanted], anchor)]


def _measured_pairs(evaluation: Any, network: str) -> list[PairResult]:
    found = {name: [float(one) for one in scores] for name, scores in evaluation["pairs"].items()}
    for name, score in evaluation["opponents"].items():
        if "pair_table" in score:  # from the fast measurement
            found[name] = _scores(score["pair_table"])
    return [PairResult(network, name, scores) for name, scores in found.items()]


def _gated_pairs(report: Any, network: str) -> list[PairResult]:
    return [PairResult(network, report["champion"], _scores(report["results"]["pair_table"]))]


def _scores(table: Mapping[str, int]) -> list[float]:
    if not sum(table.values()) <= MOST_PAIRS:
        raise ValueError(f"it has more than {MOST_PAIRS:,} pairs")
    return [float(score) for score, count in table.items() for _ in range(count)]
