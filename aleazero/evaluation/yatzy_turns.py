"""Players of Yatzy that plan each turn over a value network, judged in native code: thousands of games a second.

Alone, by exact regret: what each turn, as it is planned, is expected to bring by the oracle's values, against the best
there is. No luck of the dice is left in it but which boards are met. In duels, against the player who is best alone:
the same dice twice, with seats swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.evaluation.estimate import Estimate
from aleazero.games.luck import stream_key
from aleazero.games.rows import rows_of
from aleazero.games.yatzy_card import AVAIL, BOARD, BOARDS, NUM_CATEGORIES, TOTAL, UPPER
from aleazero.nets.between import Between
from aleazero.nets.outcome import MARGIN
from aleazero.oracles.yatzy import YatzyOracle
from aleazero.training.turns_compiled import turn_player_of

DICE: Final = 0x64696365  # "dice": the stream of these games
CHUNK: Final = 250
"""Games (or pairs of them) that are played side by side by a thread."""
SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""What a pair of games can come to."""


@dataclass(frozen=True)
class SolitaireTurns:
    """Games alone: regret and score of each."""

    regret: Estimate
    score: Estimate


@dataclass(frozen=True)
class OracleDuels:
    """Duels against the player who is best alone; a pair of games with the same dice is one observation."""

    won: Estimate
    """Share of games, a tie counting half."""
    score: Estimate
    oracle_score: Estimate
    table: Mapping[str, int]
    """How many pairs came to each share."""


def judge_alone(
    values: Between, oracle: YatzyOracle, games: int = 2000, *, seed: int = 0, threads: int = 1
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
            _, _, got, chosen, _ = lanes.play_turns(states, starts, known, values.worth(leaves, 0.0), exact, draws, 0.0)
            regret += _alone(states, 0, oracle) - got[:, 0]
            states = leaves[chosen]
        return np.stack((regret, states[:, BOARDS + TOTAL]), axis=1)

    found = _in_chunks(play, games, threads)
    return SolitaireTurns(Estimate.of(found[:, 0]), Estimate.of(found[:, 1]))


def judge_duels(
    values: Between, oracle: YatzyOracle, pairs: int = 1000, *, seed: int = 0, threads: int = 1
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
            worth[ours] = values.worth(leaves[ours], MARGIN)
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
    won, score, oracle_score = (Estimate.of(found[:, column]) for column in range(3))
    return OracleDuels(won, score, oracle_score, table)


def _require(values: Between, players: int) -> None:
    if values.game.name != "yatzy" or values.game.num_players != players:
        raise ConfigError(f"the network values {values.game!r}, expected Yatzy with {players} players")


def _first(values: Between, count: int) -> NDArray[np.int64]:
    return np.repeat(rows_of(values.game, [values.game.new_initial_state()]), count, axis=0)


def _alone(states: NDArray[np.int64], player: int, oracle: YatzyOracle) -> NDArray[np.float64]:
    """What a player's board comes to under best play alone."""
    board = BOARDS + BOARD * player
    rest: NDArray[np.float64] = oracle.values[states[:, board + AVAIL], states[:, board + UPPER]]
    return states[:, board + TOTAL] + rest


def _draws(seed: int, chunk: int, turn: int, count: int, numbers: int) -> NDArray[np.float64]:
    luck = np.random.Generator(np.random.Philox(key=stream_key(DICE, seed, chunk, turn)))
    return luck.random((count, numbers))


def _in_chunks(play: Callable[[int, int], NDArray[np.float64]], games: int, threads: int) -> NDArray[np.float64]:
    """Chunks of a fixed size, so that neither threads nor the number of games change what the first ones are."""
    if isinstance(games, bool) or not isinstance(games, int) or games < 2:
        raise ConfigError(f"games is {games!r}, expected a whole number of at least 2")
    chunks = range(-(-games // CHUNK))
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(lambda chunk: play(chunk, CHUNK), chunks)))[:games]
