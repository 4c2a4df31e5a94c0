"""How strong a player is: against fixed opponents on paired luck, and by regret where exact values are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aleazero.errors import ConfigError, nearest
from aleazero.evaluation.match import game_seeds
from aleazero.evaluation.opponents import fixed_opponents, fixed_positions, oracle_of
from aleazero.evaluation.pair_table import PairTable
from aleazero.evaluation.pairs import play_pairs
from aleazero.evaluation.regret import RegretReport, measure_regret
from aleazero.evaluation.yatzy_level import measure_level
from aleazero.evaluation.yatzy_sets import classify, load_set
from aleazero.games.base import Game
from aleazero.players.make import make_player
from aleazero.processes import Pool, open_pool

Progress = Callable[[str, int, int], None]
"""Called with the opponent's name, and pairs done and of all."""


@dataclass(frozen=True)
class StrengthReport:
    """What was measured of a player."""

    player: str
    game: Game
    seed: int
    against: dict[str, tuple[str, PairTable]]
    """By opponent's name: its text, and the pairs."""
    regret: RegretReport | None
    """On fixed positions; None where no exact values are known. Yatzy for two: at level cards, as if alone."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        regret = None if self.regret is None else self.regret.overall.to_dict()
        return {
            "player": self.player,
            "game": self.game.name,
            "params": self.game.params,
            "seed": self.seed,
            "against": {name: {"spec": spec, **table.to_dict()} for name, (spec, table) in self.against.items()},
            "regret": regret,
        }


def evaluate_player(
    player: str,
    game: Game,
    *,
    pairs: int = 100,
    against: Sequence[str] | None = None,
    regret: bool = True,
    seed: int = 0,
    player_seed: int = 0,
    workers: int | Pool = 1,
    threads: int = 1,
    source: str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> StrengthReport:
    """Measure a player, given by text, against the fixed opponents of a game (or some of them, by name).

    All meet the same dice, those of ``seed``. ``name`` is what the report calls the player. Without ``regret`` only
    games are played.
    """
    known = fixed_opponents(game)
    chosen = list(known) if against is None else list(against)
    for word in chosen:
        if word not in known:
            raise ConfigError(f"no opponent {word!r} in {game!r}, {nearest(word, known)}")
    judged = _judge(player, game, player_seed, threads) if regret else None
    met = {}
    with open_pool(workers) as pool:
        for word in chosen:

            def tell(done: int, of: int, word: str = word) -> None:
                if progress is not None:
                    progress(word, done, of)

            tell(0, pairs)
            met[word] = known[word], play_pairs(
                game, player, known[word], game_seeds(seed, pairs), player_seed=player_seed, workers=pool,
                threads=threads, source=source, progress=tell,
            )  # fmt: skip
    return StrengthReport(name or player, game, seed, met, judged)


def _judge(player: str, game: Game, seed: int, threads: int) -> RegretReport | None:
    """What decisions at fixed positions give away, where exact values are known, or nearly."""
    level, judge = game.name == "yatzy" and game.num_players == 2, oracle_of(game)
    if judge is None and not level:
        return None
    chooser = make_player(player, game, threads=threads)
    if judge is None:
        return measure_level(chooser, game, load_set("standard"), seed=seed)
    kinds = classify if game.name == "yatzy" else None
    return measure_regret(chooser, fixed_positions(game), judge, seed=seed, classify=kinds)
