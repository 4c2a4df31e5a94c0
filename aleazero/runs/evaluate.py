"""Evaluate the networks of a run: fixed opponents, the oracle, regret, score, calibration, and ratings of all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from aleazero.errors import ConfigError, RunError, nearest
from aleazero.evaluation.ratings import PairResult, connected, rate_players
from aleazero.evaluation.regret import RegretReport
from aleazero.evaluation.strength import (
    NAMES,
    StrengthReport,
    calibrate,
    evaluate_player,
    fixed_opponents,
    measure_values,
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

ANCHORS: Final = ("oracle", "random")
"""Whose rating is 0: the first of them that was met. Where random play loses every game, it is no measure."""
MOST_PAIRS: Final = 10_000_000
"""Most pairs in a table of a file."""
LAST: Final = 0
"""Which luck: an iteration's own, by its number, and this one at the end. Pairs on the same luck would not be more."""


def require_opponents(run: RunDirectory, game: Game) -> None:
    """Refuse an opponent that the game has not, before anything is learnt."""
    known = fixed_opponents(game) if "oracle" in (run.config.evaluate.against or ()) else NAMES
    for word in run.config.evaluate.against or ():
        if word not in known:
            raise ConfigError(f"evaluate.against has {word!r}, {nearest(word, known)} in {game!r}")


def measure(
    run: RunDirectory, game: Game, iteration: int, player: str, pool: Pool, tell: PhaseProgress
) -> dict[str, Any]:
    """Measure an iteration's network; all of it goes into ``evaluations/``, the essence is told."""
    config = run.config.evaluate
    strength = _play_opponents(run, game, iteration, player, config.pairs, iteration, pool, tell, regret=config.regret)
    results = _opponent_scores(strength)
    regret = strength.regret
    tell(0, None, "games against the oracle and against itself")
    if regret is not None:
        results["regret"] = {**regret.overall.to_dict(), "by_kind": _by_kind(regret)}
    _add_results(results, _measure_quickly(run, game, iteration, config.reference_games, iteration, pool))
    if run.config.recipe == "afterstate" and config.calibration_games and not has_board(game):
        values = NetValues.load(run.checked_model(iteration), game)
        results["calibration"] = calibrate(values, config.calibration_games, seed=run.config.seed)
    everything = {**strength.to_dict(), "iteration": iteration, **results,
                  "pairs": {name: table.scores.tolist() for name, (_, table) in strength.against.items()}}  # fmt: skip
    run.write(run.path / "evaluations" / f"{iteration:04}.json", json.dumps(everything, indent=1) + "\n")
    if notes := kit_of(game).notes:
        run.write(run.path / NOTES, json.dumps(dict(notes), indent=1) + "\n")
    results["ratings"] = ratings(run, iteration)
    return results


def measure_champion(run: RunDirectory, game: Game, player: str, pool: Pool, tell: PhaseProgress) -> dict[str, Any]:
    """Measure the champion once more when the run is over: in more games, on luck that nothing was measured on."""
    config, champion = run.config.evaluate, run.manifest.champion
    assert champion is not None
    results: dict[str, Any] = {"network": champion}
    if config.final_pairs:
        results |= _opponent_scores(_play_opponents(run, game, champion, player, config.final_pairs, LAST, pool, tell))
    tell(0, None, "games against the oracle")
    _add_results(results, _measure_quickly(run, game, champion, config.final_reference_games, LAST, pool))
    return results


def _play_opponents(run: RunDirectory, game: Game, network: int, player: str, pairs: int, luck: int, pool: Pool,
          tell: PhaseProgress, *, regret: bool = False) -> StrengthReport:  # fmt: skip
    """Pairs of games against the fixed opponents."""
    config = run.config.evaluate
    against = [name for name in (fixed_opponents(game) if config.against is None else config.against)
               if name != "oracle" or not _reference_is_measured(run, game)]  # fmt: skip
    return evaluate_player(
        player, game, pairs=pairs, against=against, regret=regret, seed=stream_key(EVALUATIONS, run.config.seed, luck),
        player_seed=run.config.seed, workers=pool, source=run.config.game, name=f"network {network}",
        progress=lambda name, done, of: tell(done, of, f"against {name}"),
    )  # fmt: skip


def _reference_is_measured(run: RunDirectory, game: Game) -> bool:
    kit = kit_of(game)  # with a reference player the kit's measurement has the games against it
    measured = kit.measure is not None and kit.reference is not None
    return run.config.recipe == "afterstate" and measured and run.config.evaluate.reference_games > 0


def _opponent_scores(strength: StrengthReport) -> dict[str, Any]:
    results: dict[str, Any] = {"opponents": {}}
    for name, (_, table) in strength.against.items():
        results["opponents"][name] = table.score().to_dict()
        if table.points is not None:
            results.setdefault("points", {})[name] = [float(part.mean()) for part in table.points]
    return results


def _measure_quickly(run: RunDirectory, game: Game, network: int, games: int, luck: int, pool: Pool) -> dict[str, Any]:
    """What can be measured in native code: thousands of games a second."""
    if run.config.recipe != "afterstate" or not games:
        return {}
    seed = stream_key(EVALUATIONS, run.config.seed, luck)
    found = measure_values(run.checked_model(network), game, games=games, seed=seed, threads=pool.count)
    if "won" in found:
        found = {"opponents": {"oracle": found.pop("won")}, **found}
    if "regret" in found:
        found["regret_per_game"] = found.pop("regret")
    return found


def _add_results(results: dict[str, Any], found: Mapping[str, Any]) -> None:
    """Add what the game's own measurement found; its opponent joins those that were met in pairs."""
    met = {**results.get("opponents", {}), **found.get("opponents", {})}
    results |= {**found, "opponents": met} if met else found


def _by_kind(report: RegretReport) -> dict[str, Any]:
    return {name: group.to_dict() for name, group in report.by_kind.items()}


def ratings(run: RunDirectory, last: int) -> list[dict[str, Any]]:
    """Elo of all networks so far and the fixed opponents, from all their pairs; the oracle is 0, or random play."""
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
                raise RunError(f"{file} is damaged: {str(error)[:100]}; without it ratings do without it") from None
    anchor = next((name for name in ANCHORS if any(name == one.second for one in results)), None)
    if anchor is None:
        return []
    wanted = connected(results, anchor)
    return [one.to_dict() for one in rate_players([r for r in results if r.first in wanted], anchor)]


def _measured_pairs(evaluation: Any, network: str) -> list[PairResult]:
    found = {name: [float(one) for one in scores] for name, scores in evaluation["pairs"].items()}
    for name, score in evaluation["opponents"].items():
        if "pair_table" in score:  # of the game's own measurement
            found[name] = _scores(score["pair_table"])
    return [PairResult(network, name, scores) for name, scores in found.items()]


def _gated_pairs(report: Any, network: str) -> list[PairResult]:
    return [PairResult(network, report["champion"], _scores(report["results"]["pair_table"]))]


def _scores(table: Mapping[str, int]) -> list[float]:
    if not sum(table.values()) <= MOST_PAIRS:
        raise ValueError(f"its pairs are more than {MOST_PAIRS:,}")
    return [float(score) for score, count in table.items() for _ in range(count)]
