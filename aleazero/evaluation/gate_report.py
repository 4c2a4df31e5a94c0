"""What a gate found, as ``gate_report.json``: no times, no places, the same bytes whoever plays it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aleazero.evaluation.game_file import GameFile
from aleazero.evaluation.gate_config import GateConfig
from aleazero.evaluation.pair_table import PairTable
from aleazero.evaluation.pairs import PlayedPair
from aleazero.evaluation.rules import Verdict, rates_at
from aleazero.evaluation.seed_sets import hash_of
from aleazero.files import write_whole
from aleazero.games.base import Game

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
                "sha256": hash_of([pair.seed for pair in played]),
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
        """Write ``gate_report.json``; it is there whole or not at all."""
        write_whole(path, [self.to_bytes()])


def error_rates(table: PairTable, config: GateConfig, game: Game, most: int) -> dict[str, Any]:
    """What a gate's rule does wrong, and how often: what is sure, and what pairs like these make likely."""
    test, wins = config.hypotheses(game), config.unit_of(game) == "wins"
    values, equal = (table.scores, 0.5) if wins else (table.gains, 0.0)
    at = {mean: rates_at(values, mean, config, test, most) for mean in (test.low, equal, test.high)}
    sure = "at most" if config.rule == "sprt" and test.bounds is not None else "about"
    words = [f"{_called(test.low, equal, wins)} passes {sure} {config.alpha:.1%} of gates"]
    if test.low < equal < test.high:
        words.append(f"an equal one passes about {at[equal]['promoted']:.1%}")
    missed, undecided = at[test.high]["kept"] + at[test.high]["undecided"], at[test.high]["undecided"]
    words.append(f"{_called(test.high, equal, wins)} is turned down in {missed:.1%}")
    if undecided > 0:
        words[-1] += f" ({undecided:.1%} undecided after {most:,} pairs, which keeps the champion)"
    return {"alpha": config.alpha, "beta": config.beta, "no_better": at[test.low], "equal": at[equal],
            "better": at[test.high], "in_words": "; ".join(words)}  # fmt: skip


def _called(mean: float, equal: float, wins: bool) -> str:
    """A candidate of this true score or gain, in words."""
    return "an equal candidate" if mean == equal else f"one with a {'score' if wins else 'gain'} of {mean:g}"
