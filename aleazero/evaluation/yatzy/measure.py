"""Measurements of Yatzy players: value networks at thousands of games/s, and scores of one-player games.

A value network plans each turn. In the one-player game it is measured by exact regret: the expected value of each
planned turn under the oracle, compared with that of optimal play. Dice matter only for the positions that occur. In the
two-player game it plays against the solo-optimal player, with the same dice twice and the seats swapped.

The score of a one-player game depends mostly on its dice. The difference from optimal play with the same dice varies
much less from game to game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, count_text
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
"""Games (or pairs of games) that a thread plays at the same time."""
SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Possible scores of a pair."""
PERCENTILES: Final = (1, 5, 25, 50, 75, 95, 99)
BIN: Final = 20
"""Width of a histogram bin, in points."""


def measure(values: NetValues, games: int, seed: int, threads: int) -> dict[str, Any]:
    """Measure a value network, see ``GameKit.measure``.

    One player: ``regret`` and ``score`` per game. Two players: share ``won`` against the solo-optimal player, and the
    scores of both.
    """
    if values.game.num_players == 1:
        solo = measure_solo(values, load_or_build(), games, seed=seed, threads=threads)
        return {"regret": solo.regret.to_dict(), "score": solo.score.to_dict()}
    pairs = measure_against_solo(values, load_or_build(), max(2, games // 2), seed=seed, threads=threads)
    won = {**pairs.won.to_dict(), "pair_table": pairs.table}
    return {"won": won, "score": pairs.score.to_dict(), "reference_score": pairs.solo_score.to_dict()}


@dataclass(frozen=True)
class SoloGames:
    """Means over one-player games: regret and score per game."""

    regret: Mean
    score: Mean


@dataclass(frozen=True)
class PairsAgainstSolo:
    """Two-player games against the solo-optimal player; two games with the same dice are one observation."""

    won: Mean
    """Share of games won; a tie counts half."""
    score: Mean
    solo_score: Mean
    table: Mapping[str, int]
    """Number of pairs with each score."""


def measure_solo(
    values: NetValues, oracle: YatzyOracle, games: int = 2000, *, seed: int = 0, threads: int = 1
) -> SoloGames:
    """Play games of one-player Yatzy, planning each turn with the network."""
    _require(values, 1)
    lanes = turn_player_of(values.game)

    def play(chunk: int, count: int) -> NDArray[np.float64]:
        states, regret = _first(values, count), np.zeros(count)
        for turn in range(NUM_CATEGORIES):
            leaves, starts, known = lanes.list_turn_ends(states)
            exact = _solo_values(leaves, 0, oracle)[:, None]
            draws = _draws(seed, chunk, turn, count, lanes.draws)
            _, _, got, chosen, _ = lanes.play_turns(
                states, starts, known, values.values_by_player(leaves, 0.0), exact, draws, 0.0
            )
            regret += _solo_values(states, 0, oracle) - got[:, 0]
            states = leaves[chosen]
        return np.stack((regret, states[:, BOARDS + TOTAL]), axis=1)

    found = _in_chunks(play, games, threads)
    return SoloGames(Mean.of(found[:, 0]), Mean.of(found[:, 1]))


def measure_against_solo(
    values: NetValues, oracle: YatzyOracle, pairs: int = 1000, *, seed: int = 0, threads: int = 1
) -> PairsAgainstSolo:
    """Play pairs of two-player games against the solo-optimal player, with the same dice and the seats swapped."""
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
            worth[~ours, player] = _solo_values(leaves[~ours], player, oracle)
            draws = np.repeat(_draws(seed, chunk, ply, count, lanes.draws), 2, axis=0)
            *_, chosen, _ = lanes.play_turns(states, starts, known, worth, np.zeros((len(leaves), 0)), draws, 0.0)
            states = leaves[chosen]
        totals = states[:, [BOARDS + TOTAL, BOARDS + BOARD + TOTAL]].astype(np.float64)
        mine, other = (totals[np.arange(2 * count), seat].reshape(count, 2) for seat in (seats, 1 - seats))
        won = ((mine > other) + 0.5 * (mine == other)).mean(axis=1)
        return np.stack((won, mine.mean(axis=1), other.mean(axis=1)), axis=1)

    found = _in_chunks(play, pairs, threads)
    table = {f"{share:g}": int((found[:, 0] == share).sum()) for share in SHARES}
    won, score, solo_score = (Mean.of(found[:, column]) for column in range(3))
    return PairsAgainstSolo(won, score, solo_score, table)


def _require(values: NetValues, players: int) -> None:
    if values.game.name != "yatzy" or values.game.num_players != players:
        raise ConfigError(f"the network is for {values.game!r}, expected Yatzy with {count_text(players, 'player')}")


def _first(values: NetValues, count: int) -> NDArray[np.int64]:
    return np.repeat(rows_of(values.game, [values.game.new_initial_state()]), count, axis=0)


def _solo_values(states: NDArray[np.int64], player: int, oracle: YatzyOracle) -> NDArray[np.float64]:
    """Return a player's expected final score under solo-optimal play."""
    board = BOARDS + BOARD * player
    rest: NDArray[np.float64] = oracle.table[states[:, board + AVAIL], states[:, board + UPPER]]
    return states[:, board + TOTAL] + rest


def _draws(seed: int, chunk: int, turn: int, count: int, numbers: int) -> NDArray[np.float64]:
    random = np.random.Generator(np.random.Philox(key=stream_key(MEASURED_DICE, seed, chunk, turn)))
    return random.random((count, numbers))


def _in_chunks(play: Callable[[int, int], NDArray[np.float64]], games: int, threads: int) -> NDArray[np.float64]:
    """Play chunks of a fixed size: more threads or more games do not change the first games."""
    if isinstance(games, bool) or not isinstance(games, int) or games < 2:
        raise ConfigError(f"games is {games!r}, expected an integer of at least 2")
    chunks = range(-(-games // CHUNK))
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(lambda chunk: play(chunk, CHUNK), chunks)))[:games]


@dataclass(frozen=True)
class Scores:
    """Final scores of one-player games."""

    totals: NDArray[np.int64]
    bonuses: NDArray[np.bool_]
    """Whether each game earned the bonus."""

    @property
    def mean(self) -> Mean:
        """The mean score."""
        return Mean.of(self.totals)

    @property
    def bonus_rate(self) -> float:
        """Share of games with the bonus."""
        return float(self.bonuses.mean())

    @property
    def percentiles(self) -> dict[int, float]:
        """Percentiles of the scores."""
        return {percent: float(np.percentile(self.totals, percent)) for percent in PERCENTILES}

    @property
    def histogram(self) -> dict[int, int]:
        """Number of games in each bin, by the lowest score of the bin."""
        bins = self.totals // BIN
        counts = np.bincount(bins - bins.min())
        return {int(bins.min() + place) * BIN: int(count) for place, count in enumerate(counts)}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
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
    """Scores of a player, and of optimal play with the same dice."""

    scores: Scores
    best: Scores

    @property
    def loss(self) -> Mean:
        """Mean loss of points per game compared with optimal play."""
        return Mean.of(self.best.totals - self.scores.totals)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        return {
            "scores": self.scores.to_dict(),
            "best_play": self.best.to_dict(),
            "loss": self.loss.to_dict(),
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
    """Play one-player games; ``seed`` is for the dice, ``player_seed`` for the player's own random numbers."""
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise ConfigError(f"games is {games!r}, expected an integer of at least 1")
    seeds = game_seeds(seed, games)
    played = play_match(solitaire(), [player], seeds, player_seed=player_seed, progress=progress)
    best = simulate(oracle, seeds)
    return SolitaireReport(_scores([game.state for game in played]), Scores(best.totals, best.bonuses))


def _scores(ends: Sequence[Any]) -> Scores:
    vectors = np.array([state.vector for state in ends if isinstance(state, KernelState)])
    return Scores(vectors[:, BOARDS + TOTAL], vectors[:, BOARDS + UPPER] >= BONUS_FROM)
