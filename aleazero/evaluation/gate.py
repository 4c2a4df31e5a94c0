"""The gate: candidate against champion, pair by pair, until it is clear who is better, or pairs are spent.

The verdict comes with its error rates, and the report has no time in it: the same gate gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError
from aleazero.evaluation.game_file import GameFile
from aleazero.evaluation.gate_rules import GateConfig, Verdict, judge_pairs, rates_at
from aleazero.evaluation.match import Progress, fresh_seeds, load_seed_set, seeds_hash
from aleazero.evaluation.pairs import PairTable, PlayedPair, open_pairs
from aleazero.files import write_whole
from aleazero.games.base import Game
from aleazero.native.random import check_seed
from aleazero.processes import Pool


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
    """Let a candidate challenge a champion, both given by text.

    ``seed`` and ``iteration`` choose fresh luck and the players' own; ``workers`` (a number of processes, or a
    pool) and ``threads`` change nothing.
    ``source`` is what ``load_game`` takes, by default the game's name; ``names`` is what the report calls the players,
    where their texts hold paths. The games of the first ``replays`` pairs are kept in ``report.games``.
    """
    config = config or GateConfig()
    check_seed(seed)
    check_seed(iteration, "iteration")
    seeds = gate_seeds(config, seed, iteration)
    config.hypotheses(game)  # refuse what does not go together before anybody plays
    pairs = open_pairs(
        game, candidate, champion, seeds, player_seed=seed, deterministic_chance=config.deterministic_chance,
        workers=workers, threads=threads, source=source,
    )  # fmt: skip
    with closing(pairs):
        played, verdict = _play_until_clear(game, pairs, seeds, config, progress)
    called = names or (candidate, champion)
    kept = GameFile.of(game, source or game.name, called, played[:replays])
    return GateReport.of(
        game, config, called, played, verdict, most=len(seeds), seed=seed, iteration=iteration, games=kept
    )


def gate_seeds(config: GateConfig, seed: int, iteration: int) -> list[int]:
    """The seeds of a gate's dice: of its set, or fresh ones of this seed and iteration."""
    if config.seed_set is None:
        return fresh_seeds(seed, iteration, config.pairs)
    seeds = load_seed_set(config.seed_set)
    if config.rule == "fixed" and len(seeds) < config.pairs:
        raise ConfigError(f"seed_set {config.seed_set!r} has {len(seeds)} seeds, expected {config.pairs}, one a pair")
    return seeds[: config.pairs]


def _play_until_clear(
    game: Game, pairs: Iterator[PlayedPair], seeds: Sequence[int], config: GateConfig, progress: Progress | None
) -> tuple[list[PlayedPair], Verdict]:
    """Pairs in order, up to the one at which the rule has its verdict."""
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


FORMAT: Final = 2


@dataclass(frozen=True)
class GateReport:
    """A gate's verdict, and all that it rests on."""

    promoted: bool
    decided: bool
    """False where pairs ran out first: then the champion is kept."""
    table: PairTable
    error_rates: dict[str, Any]
    data: dict[str, Any]
    """All of it, as plain data."""
    games: GameFile
    """The games of the first pairs, if any were asked for."""

    @classmethod
    def of(
        cls,
        game: Game,
        config: GateConfig,
        names: tuple[str, str],
        played: Sequence[PlayedPair],
        verdict: Verdict,
        *,
        most: int,
        seed: int,
        iteration: int,
        games: GameFile,
    ) -> GateReport:
        """The report on pairs that were played, of at most so many."""
        table = PairTable.of(played, game)
        rates = error_rates(table, config, game, most)
        test = config.hypotheses(game)
        settings = config.model_dump()
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
            "candidate": names[0],
            "champion": names[1],
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
        return cls(verdict.promoted, verdict.decided, table, rates, data, games)

    def to_bytes(self) -> bytes:
        """The report as its file has it."""
        return (json.dumps(self.data, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()

    def write(self, path: Path) -> None:
        """Write the report to a file, atomically."""
        write_whole(path, [self.to_bytes()])


def error_rates(table: PairTable, config: GateConfig, game: Game, most: int) -> dict[str, Any]:
    """What a gate's rule does wrong, and how often: what is sure, and what pairs like these make likely."""
    test, wins = config.hypotheses(game), config.unit_of(game) == "wins"
    values, equal = (table.scores, 0.5) if wins else (table.gains, 0.0)
    at = {mean: rates_at(values, mean, config, test, most) for mean in (test.low, equal, test.high)}
    sure = "at most" if config.rule == "sprt" and test.bounds is not None else "about"
    words = [f"{_candidate_text(test.low, equal, wins)} passes {sure} {config.alpha:.1%} of gates"]
    if test.low < equal < test.high:
        words.append(f"an equal one passes about {at[equal]['promoted']:.1%}")
    missed, undecided = at[test.high]["kept"] + at[test.high]["undecided"], at[test.high]["undecided"]
    words.append(f"{_candidate_text(test.high, equal, wins)} is turned down in {missed:.1%}")
    if undecided > 0:
        words[-1] += f" ({undecided:.1%} undecided after {most:,} pairs, which keeps the champion)"
    return {"alpha": config.alpha, "beta": config.beta, "no_better": at[test.low], "equal": at[equal],
            "better": at[test.high], "in_words": "; ".join(words)}  # fmt: skip


def _candidate_text(mean: float, equal: float, wins: bool) -> str:
    """A candidate of this true score or gain, in words."""
    return "an equal candidate" if mean == equal else f"one with a {'score' if wins else 'gain'} of {mean:g}"
