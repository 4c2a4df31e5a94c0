"""The gate: play candidate against champion, pair by pair, until a test decides or no pairs are left.

The verdict comes with its error rates. The report contains no times, so the same gate gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError, count_text
from aleazero.evaluation.game_file import GameFile
from aleazero.evaluation.gate_rules import GateConfig, Verdict, judge_pairs, rates_at
from aleazero.evaluation.match import Progress, fresh_seeds, load_seed_set, seeds_hash
from aleazero.evaluation.pairs import PairTable, PlayedPair, open_pairs
from aleazero.files import write_atomic
from aleazero.games.base import Game
from aleazero.native.random import check_seed
from aleazero.processes import Pool

FORMAT: Final = 2
"""Version of the report's file."""


def run_gate(
    game: Game,
    candidate: str,
    champion: str,
    config: GateConfig | None = None,
    *,
    seed: int = 0,
    iteration: int = 0,
    workers: int | Pool = 1,
    threads: int = 1,
    source: str | None = None,
    names: tuple[str, str] | None = None,
    replays: int = 0,
    progress: Progress | None = None,
) -> GateReport:
    """Play a candidate against a champion until the gate decides.

    Args:
        game: the game.
        candidate: player spec of the candidate.
        champion: player spec of the champion.
        config: settings of the gate; None for the defaults.
        seed: seed of the dice and of the players' random streams.
        iteration: number that selects fresh dice for this seed.
        workers: number of processes, or an open pool; it does not change the result.
        threads: threads of each search; it does not change the result.
        source: text that ``load_game`` accepts, for other processes; by default the name of the game.
        names: names of the players in the report; by default their specs.
        replays: number of pairs whose games are kept in ``report.games``.
        progress: called with the pairs played so far and the most that may be played.

    Returns:
        The verdict, its error rates and the results.

    Raises:
        ConfigError: if a setting, a seed or a player spec is invalid.
    """
    config = config or GateConfig()
    check_seed(seed)
    check_seed(iteration, "iteration")
    seeds = gate_seeds(config, seed, iteration)
    config.hypotheses(game)  # reject invalid settings before any game is played
    pairs = open_pairs(
        game, candidate, champion, seeds, player_seed=seed, deterministic_chance=config.deterministic_chance,
        workers=workers, threads=threads, source=source,
    )  # fmt: skip
    with closing(pairs):
        played, verdict = _play_until_clear(game, pairs, seeds, config, progress)
    called = names or (candidate, champion)
    table = PairTable.of(played, game)
    rates = error_rates(table, config, game, len(seeds))
    test, settings = config.hypotheses(game), config.model_dump()
    settings["seed_set"] = None if config.seed_set is None else Path(config.seed_set).name
    data = {
        "format": FORMAT,
        "verdict": "promoted" if verdict.promoted else "kept",
        "decided": verdict.decided,
        "reason": verdict.reason,
        "error_rates": rates,
        "game": game.name,
        "params": game.params,
        "rules_version": game.info.version,
        "candidate": called[0],
        "champion": called[1],
        "seed": seed,
        "iteration": iteration,
        "seeds": {
            "from": settings["seed_set"] or "fresh",
            "count": len(played),
            "sha256": seeds_hash([pair.seed for pair in played]),
        },
        "settings": settings,
        "test": {"unit": config.unit_of(game), "low": test.low, "high": test.high},
        "results": table.to_dict(any_time=config.rule == "sprt"),
    }
    games = GameFile.of(game, source or game.name, called, played[:replays])
    return GateReport(verdict.promoted, verdict.decided, table, rates, data, games)


def gate_seeds(config: GateConfig, seed: int, iteration: int) -> list[int]:
    """Return the seeds of a gate's dice: those of its set, or fresh ones for this seed and iteration."""
    if config.seed_set is None:
        return fresh_seeds(seed, iteration, config.pairs)
    seeds = load_seed_set(config.seed_set)
    if config.rule == "fixed" and len(seeds) < config.pairs:
        found = count_text(len(seeds), "seed")
        raise ConfigError(f"seed_set {config.seed_set!r} has {found}, expected {config.pairs}, one per pair")
    return seeds[: config.pairs]


def _play_until_clear(
    game: Game, pairs: Iterator[PlayedPair], seeds: Sequence[int], config: GateConfig, progress: Progress | None
) -> tuple[list[PlayedPair], Verdict]:
    """Play pairs in order until the rule has a verdict."""
    played: list[PlayedPair] = []
    values = np.zeros(len(seeds))
    unit = config.unit_of(game)
    for pair in pairs:
        table = PairTable.of([pair])
        values[len(played)] = (table.scores if unit == "wins" else table.gains)[0]
        played.append(pair)
        if progress is not None:
            progress(len(played), len(seeds))
        verdict = judge_pairs(values[: len(played)], config, game, last=len(played) == len(seeds))
        if verdict is not None:
            return played, verdict
    raise AssertionError("the last pair has a verdict")


@dataclass(frozen=True)
class GateReport:
    """Verdict of a gate, with the results and error rates that it is based on."""

    promoted: bool
    decided: bool
    """False if the gate ran out of pairs; then the champion is kept."""
    table: PairTable
    error_rates: dict[str, Any]
    data: dict[str, Any]
    """The complete report as JSON data."""
    games: GameFile
    """The games of the first ``replays`` pairs."""

    def to_bytes(self) -> bytes:
        """Return the content of the report's file."""
        return (json.dumps(self.data, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()

    def write(self, path: Path) -> None:
        """Write the report to a file, atomically."""
        write_atomic(path, [self.to_bytes()])


def error_rates(table: PairTable, config: GateConfig, game: Game, most: int) -> dict[str, Any]:
    """Return the error rates of a gate: its guaranteed rates, and rates simulated with pairs like these."""
    test, wins = config.hypotheses(game), config.unit_of(game) == "wins"
    values, equal = (table.scores, 0.5) if wins else (table.gains, 0.0)
    at = {mean: rates_at(values, mean, config, test, most) for mean in (test.low, equal, test.high)}
    limit = "at most" if config.rule == "sprt" and test.bounds is not None else "about"
    clauses = [f"{_candidate_text(test.low, equal, wins)} is promoted in {limit} {config.alpha:.1%} of gates"]
    if test.low < equal < test.high:
        clauses.append(f"an equal candidate in about {at[equal]['promoted']:.1%}")
    missed, undecided = at[test.high]["kept"] + at[test.high]["undecided"], at[test.high]["undecided"]
    clauses.append(f"{_candidate_text(test.high, equal, wins)} is rejected in {missed:.1%}")
    if undecided > 0:
        clauses[-1] += f" ({undecided:.1%} undecided after {most:,} pairs, which keeps the champion)"
    return {"alpha": config.alpha, "beta": config.beta, "no_better": at[test.low], "equal": at[equal],
            "better": at[test.high], "in_words": "; ".join(clauses)}  # fmt: skip


def _candidate_text(mean: float, equal: float, wins: bool) -> str:
    unit = "score" if wins else "gain"
    return "an equal candidate" if mean == equal else f"a candidate with a {unit} of {mean:g}"
