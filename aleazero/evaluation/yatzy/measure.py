"""Measurements of Yatzy players: value networks at thousands of games per second, and scores of one-player games.

A value network plans each turn. Alone it is measured by exact regret: the expectation of each turn as it is planned, by
the oracle's values, compared with the best there is. No luck of the dice is left in it except which boards are met. For
two players it plays against the solo player: the same dice twice, with seats swapped.

The score of a one-player game depends mostly on its dice. The difference to best play with the same dice varies much
less from game to game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.evaluation.match import Progress, game_seeds, play_match
from aleazero.evaluation.statistics import Mean
from aleazero.evaluation.yatzy.positions import solitaire
from aleazero.games.kernel import KernelState
from aleazero.games.states import rows_of
from aleazero.games.yatzy.card import AVAIL, BOARD, BOARDS, BONUS_FROM, NUM_CATEGORIES, TOTAL, UPPER
from aleazero.native.random import MEASURED_DICE, stream_key
from aleazero.nets.outcome import MARGIN
from aleazero.nets.values import NetValues
from aleazero.oracles.yatzy import YatzyOracle, load_or_build
from aleazero.oracles.yatzy_simulate import simulate
from aleazero.players.player import Player
from aleazero.training.turns_compiled import turn_player_of

CHUNK: Final = 250
"""Games (or pairs of them) that are played side by side by a thread."""
SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""What a pair of games can come to."""
PERCENTILES: Final = (1, 5, 25, 50, 75, 95, 99)
BIN: Final = 20
"""Points of a bin of the histogram."""


def measure(values: NetValues, games: int, seed: int, threads: int) -> dict[str, Any]:
    """Measure a value network, as ``GameKit.measure`` describes.

    One player: ``regret`` per game, and ``score``. Two players: share ``won`` against the solo player, and both scores.
    """
    if values.game.num_players == 1:
        alone = measure_solo(values, load_or_build(), games, seed=seed, threads=threads)
        return {"regret": alone.regret.to_dict(), "score": alone.score.to_dict()}
    duels = measure_duel(values, load_or_build(), max(2, games // 2), seed=seed, threads=threads)
    won = {**duels.won.to_dict(), "pair_table": duels.table}
    return {"won": won, "score": duels.score.to_dict(), "oracle_score": duels.oracle_score.to_dict()}


@dataclass(frozen=True)
class SolitaireTurns:
    """Means over one-player games: regret and score per game."""

    regret: Mean
    score: Mean


@dataclass(frozen=True)
class OracleDuels:
    """Duels against the player who is best alone; a pair of games with the same dice is one observation."""

    won: Mean
    """Share of games, a tie counting half."""
    score: Mean
    oracle_score: Mean
    table: Mapping[str, int]
    """How many pairs came to each share."""


def measure_solo(
    values: NetValues, oracle: YatzyOracle, games: int = 2000, *, seed: int = 0, threads: int = 1
) -> SolitaireTurns:
    """Games of one-player Yatzy, each turn planned over the network."""
    _require(values, 1)
    lanes = turn_player_of(values.game)

    def play(chunk: int, count: int) -> NDArray[np.float64]:
        states, regret = _first(values, count), np.zeros(count)
        for turn in range(NUM_CATEGORIES):
            leaves, starts, known = lanes.list_turn_ends(states)
            exact = _alone(leaves, 0, oracle)[:, None]
            draws = _draws(seed, chunk, turn, count, lanes.draws)
            _, _, got, chosen, _ = lanes.play_turns(
                states, starts, known, values.values_by_player(leaves, 0.0), exact, draws, 0.0
            )
            regret += _alone(states, 0, oracle) - got[:, 0]
            states = leaves[chosen]
        return np.stack((regret, states[:, BOARDS + TOTAL]), axis=1)

    found = _in_chunks(play, games, threads)
    return SolitaireTurns(Mean.of(found[:, 0]), Mean.of(found[:, 1]))


def measure_duel(
    values: NetValues, oracle: YatzyOracle, pairs: int = 1000, *, seed: int = 0, threads: int = 1
) -> OracleDuels:
    """Pairs of two-player games against the oracle's player, with the same dice and seats swapped."""
    _require(values, 2)
    lanes = turn_player_of(values.game)

    def play(chunk: int, count: int) -> NDArray[np.float64]:
        states = _first(values, 2 * count)
        seats = np.arange(2 * count) % 2  # the network's
        for ply in range(2 * NUM_CATEGORIES):
            player = ply % 2
            leaves, starts, known = lanes.list_turn_ends(states)
            ours = np.repeat(seats == player, np.diff(starts))
            worth = np.zeros((len(leaves), 2))
            worth[ours] = values.values_by_player(leaves[ours], MARGIN)
            worth[~ours, player] = _alone(leaves[~ours], player, oracle)
            draws = np.repeat(_draws(seed, chunk, ply, count, lanes.draws), 2, axis=0)
            *_, chosen, _ = lanes.play_turns(states, starts, known, worth, np.zeros((len(leaves), 0)), draws, 0.0)
            states = leaves[chosen]
        totals = states[:, [BOARDS + TOTAL, BOARDS + BOARD + TOTAL]].astype(np.float64)
        mine, other = (totals[np.arange(2 * count), seat].reshape(count, 2) for seat in (seats, 1 - seats))
        won = ((mine > other) + 0.5 * (mine == other)).mean(axis=1)
        return np.stack((won, mine.mean(axis=1), other.mean(axis=1)), axis=1)

    found = _in_chunks(play, pairs, threads)
    table = {f"{share:g}": int((found[:, 0] == share).sum()) for share in SHARES}
    won, score, oracle_score = (Mean.of(found[:, column]) for column in range(3))
    return OracleDuels(won, score, oracle_score, table)


def _require(values: NetValues, players: int) -> None:
    if values.game.name != "yatzy" or values.game.num_players != players:
        raise ConfigError(f"the network values {values.game!r}, expected Yatzy with {players} players")


def _first(values: NetValues, count: int) -> NDArray[np.int64]:
    return np.repeat(rows_of(values.game, [values.game.new_initial_state()]), count, axis=0)


def _alone(states: NDArray[np.int64], player: int, oracle: YatzyOracle) -> NDArray[np.float64]:
    """What a player's board comes to under best play alone."""
    board = BOARDS + BOARD * player
    rest: NDArray[np.float64] = oracle.table[states[:, board + AVAIL], states[:, board + UPPER]]
    return states[:, board + TOTAL] + rest


def _draws(seed: int, chunk: int, turn: int, count: int, numbers: int) -> NDArray[np.float64]:
    luck = np.random.Generator(np.random.Philox(key=stream_key(MEASURED_DICE, seed, chunk, turn)))
    return luck.random((count, numbers))


def _in_chunks(play: Callable[[int, int], NDArray[np.float64]], games: int, threads: int) -> NDArray[np.float64]:
    """Chunks of a fixed size, so that neither threads nor the number of games change what the first ones are."""
    if isinstance(games, bool) or not isinstance(games, int) or games < 2:
        raise ConfigError(f"games is {games!r}, expected a whole number of at least 2")
    chunks = range(-(-games // CHUNK))
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(lambda chunk: play(chunk, CHUNK), chunks)))[:games]


@dataclass(frozen=True)
class Scores:
    """Final scores, and which games took the bonus."""

    totals: NDArray[np.int64]
    bonuses: NDArray[np.bool_]

    @property
    def mean(self) -> Mean:
        """The mean score."""
        return Mean.of(self.totals)

    @property
    def bonus_rate(self) -> float:
        """The share of games with the bonus."""
        return float(self.bonuses.mean())

    @property
    def percentiles(self) -> dict[int, float]:
        """By percent, the score that so many games do not exceed."""
        return {percent: float(np.percentile(self.totals, percent)) for percent in PERCENTILES}

    @property
    def histogram(self) -> dict[int, int]:
        """By the lowest score of a bin, the games in it; from the first that has any to the last."""
        bins = self.totals // BIN
        counts = np.bincount(bins - bins.min())
        return {int(bins.min() + place) * BIN: int(count) for place, count in enumerate(counts)}

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            **self.mean.to_dict(),
            "bonus_rate": self.bonus_rate,
            "lowest": int(self.totals.min()),
            "highest": int(self.totals.max()),
            "percentiles": {str(percent): score for percent, score in self.percentiles.items()},
            "histogram": [{"from": low, "to": low + BIN - 1, "games": n} for low, n in self.histogram.items()],
        }


@dataclass(frozen=True)
class SolitaireReport:
    """The scores of a player, and of best play with the same dice."""

    scores: Scores
    best: Scores

    @property
    def behind(self) -> Mean:
        """How far the player is behind best play, game by game."""
        return Mean.of(self.best.totals - self.scores.totals)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "scores": self.scores.to_dict(),
            "best_play": self.best.to_dict(),
            "behind": self.behind.to_dict(),
            "totals": self.scores.totals.tolist(),
        }


def play_solitaire(
    player: Player,
    games: int,
    oracle: YatzyOracle,
    *,
    seed: int = 0,
    player_seed: int = 0,
    progress: Progress | None = None,
) -> SolitaireReport:
    """Play some games; ``seed`` is of the dice, ``player_seed`` of the player's own luck."""
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise ConfigError(f"games is {games!r}, expected a whole number of at least 1")
    seeds = game_seeds(seed, games)
    played = play_match(solitaire(), [player], seeds, player_seed=player_seed, progress=progress)
    best = simulate(oracle, seeds)
    return SolitaireReport(_scores([game.state for game in played]), Scores(best.totals, best.bonuses))


def _scores(ends: Sequence[Any]) -> Scores:
    vectors = np.array([state.vector for state in ends if isinstance(state, KernelState)])
    return Scores(vectors[:, BOARDS + TOTAL], vectors[:, BOARDS + UPPER] >= BONUS_FROM)
