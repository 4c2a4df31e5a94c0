"""The gate: candidate against champion, pair by pair, until it is clear who is better, or pairs are spent.

The verdict comes with its error rates, and the report has no time in it: the same gate gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np

from aleazero.errors import ConfigError
from aleazero.evaluation.game_file import GameFile
from aleazero.evaluation.gate_config import GateConfig
from aleazero.evaluation.gate_report import GateReport
from aleazero.evaluation.match import Progress
from aleazero.evaluation.pair_table import PairTable
from aleazero.evaluation.pairs import PlayedPair, open_pairs
from aleazero.evaluation.rules import Verdict, judge_pairs
from aleazero.evaluation.seed_sets import fresh_seeds, load_seed_set
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
