"""Paired play: two players on the same played luck, each in the other's place too. The pair is what statistics count.

A *pair* is all games of one seed. With two seats: two games, seats swapped. Alone: a game each. With n > 2 seats, 2n
games: the first player at each seat in turn among n − 1 of the second, then the second among n − 1 of the first.
The dice come from the seed; the players' own luck from ``player_seed``, the pair's number, the seating and the seat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from math import log10
from statistics import fmean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.evaluation.match import PlayedGame, Progress, play_side_by_side
from aleazero.evaluation.statistics import PairMean
from aleazero.games.base import Game, State
from aleazero.games.kernel import points_of
from aleazero.games.registry import load_game_once
from aleazero.native.random import SEAT_ROTATION, UNSHARED_DICE, stream_key
from aleazero.players.make import make_player
from aleazero.players.player import Player
from aleazero.processes import Pool, open_pool

CHUNK: Final = 16
"""Pairs that are played side by side; who stands beside a game does not change it."""
Chunk = tuple[int, tuple[int, ...]]
"""The number of the first pair, and the seeds."""
Seating = tuple[bool, ...]
"""By seat, whether the first player sits there."""
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Contest:
    """Two players at a game, in words that another process understands."""

    game: str
    """What ``load_game`` takes."""
    params: Mapping[str, Any]
    first: str
    second: str
    player_seed: int = 0
    deterministic_chance: bool = True
    """Whether the games of a pair share their luck, keyed by the event."""
    threads: int = 1
    """Of searches; results do not change."""


@dataclass(frozen=True)
class SeatedGame:
    """A game of a pair, as it was played."""

    seating: Seating
    seed: int
    """Of its dice."""
    steps: tuple[tuple[int, int], ...]
    """(player, action); the player is −1 for chance, and the action its outcome."""
    returns: tuple[float, ...]
    points: tuple[float, ...] | None
    """By seat, where the game counts them."""


@dataclass(frozen=True)
class PlayedPair:
    """All games of one seed."""

    number: int
    seed: int
    games: tuple[SeatedGame, ...] = field(repr=False)


def seatings(seats: int) -> list[Seating]:
    """How two players are seated in the games of a pair, in order."""
    alone = [tuple(seat == place for seat in range(seats)) for place in range(seats)]
    mirrored = [tuple(not first for first in seating) for seating in alone]
    return alone if seats == 2 else alone + mirrored


def play_pairs(
    game: Game,
    first: str | Player,
    second: str | Player,
    seeds: Sequence[int],
    *,
    player_seed: int = 0,
    deterministic_chance: bool = True,
    workers: int | Pool = 1,
    threads: int = 1,
    source: str | None = None,
    progress: Progress | None = None,
) -> PairTable:
    """Play a pair for each seed; see ``open_pairs`` for the rest."""
    played = []
    pairs = open_pairs(
        game, first, second, seeds, player_seed=player_seed, deterministic_chance=deterministic_chance,
        workers=workers, threads=threads, source=source,
    )  # fmt: skip
    with closing(pairs):
        for pair in pairs:
            played.append(pair)
            if progress is not None:
                progress(len(played), len(seeds))
    return PairTable.of(played, game)


def open_pairs(
    game: Game,
    first: str | Player,
    second: str | Player,
    seeds: Sequence[int],
    *,
    player_seed: int = 0,
    deterministic_chance: bool = True,
    workers: int | Pool = 1,
    threads: int = 1,
    source: str | None = None,
) -> Generator[PlayedPair]:
    """Pairs in the order of the seeds, as they end; whoever has seen enough closes it.

    Players are texts, or players themselves, who cannot go to other processes. ``workers`` is a number of processes, or
    a pool that stays for the next call. One worker means this process; results are bit-identical for every number.
    Processes load the game by ``source``, what ``load_game`` takes: by default its name.
    """
    if not seeds:
        raise ConfigError("got no seeds, expected at least one")
    chunks = [(start, tuple(seeds[start : start + CHUNK])) for start in range(0, len(seeds), CHUNK)]
    count = workers.count if isinstance(workers, Pool) else workers
    if count > 1:
        if not (isinstance(first, str) and isinstance(second, str)):
            raise ConfigError(f"workers is {count}, expected 1: players that are no texts stay in their process")
        contest = Contest(source or game.name, game.params, first, second, player_seed, deterministic_chance, threads)
        with open_pool(workers) as pool, closing(pool.run(play_contest, contest, chunks)) as played:
            yield from _in_order(played)
        return
    players = [make_player(one, game, threads=threads) if isinstance(one, str) else one for one in (first, second)]
    for start, some in chunks:
        yield from play_chunk(game, players, start, some, player_seed, deterministic_chance)


def play_contest(contest: Contest, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, list[PlayedPair]]]:
    """Play chunks of pairs: the task of a worker process."""
    game = load_game_once(contest.game, contest.params)
    players = [make_player(spec, game, threads=contest.threads) for spec in (contest.first, contest.second)]
    for start, seeds in chunks:
        pairs = play_chunk(game, players, start, seeds, contest.player_seed, contest.deterministic_chance)
        yield (start, seeds), pairs


def _in_order(played: Iterator[tuple[Chunk, list[PlayedPair]]]) -> Iterator[PlayedPair]:
    """Pairs by number; a chunk that arrives before an earlier one waits for it."""
    waiting: dict[int, list[PlayedPair]] = {}
    following = 0
    for (start, _), pairs in played:
        waiting[start] = pairs
        while following in waiting:
            some = waiting.pop(following)
            following += len(some)
            yield from some


def play_chunk(
    game: Game, players: Sequence[Player], start: int, seeds: Sequence[int], player_seed: int, shared: bool
) -> list[PlayedPair]:
    """Play the pairs from number ``start`` on; all their games go on side by side."""
    tables = seatings(game.num_players)
    games, seated, own = [], [], []
    for number, seed in enumerate(seeds, start=start):
        for turn, seating in enumerate(tables):
            dice = seed if shared else stream_key(UNSHARED_DICE, seed, turn)
            games.append(PlayedGame(number, dice, game.new_initial_state()))
            seated.append([players[0 if is_first else 1] for is_first in seating])
            own.append(stream_key(SEAT_ROTATION, player_seed, turn))
    play_side_by_side(games, seated, own)
    pairs = []
    for place, seed in enumerate(seeds):
        some = games[place * len(tables) : (place + 1) * len(tables)]
        told = tuple(_told(played, seating) for played, seating in zip(some, tables, strict=True))
        pairs.append(PlayedPair(start + place, seed, told))
    return pairs


def points_by_player(state: State) -> list[float] | None:
    """The points on the board, where the game counts them: returns of one player, or what features call points."""
    game = state.game
    if game.num_players == 1:
        return state.returns()
    points, features = points_of(state), game.info.features
    return None if points is None or features is None else [float(one) * features.point_unit for one in points]


def _told(game: PlayedGame, seating: Seating) -> SeatedGame:
    points = points_by_player(game.state)
    return SeatedGame(
        seating, game.seed, tuple(game.steps), tuple(game.returns), None if points is None else tuple(points)
    )


@dataclass(frozen=True)
class PairTable:
    """Pairs in order. Alone, the two games of a pair are compared as if they were one."""

    scores: Values
    """(pairs,) the first player's score, 0 to 1: the mean over the games of a pair (one-player games: over the pair) of
    1 if the highest return belongs to one of its seats, ½ if both players have it, 0 if only the other has. With more
    than two seats each player sits alone among the other's seats as often as the other does, so equal players have ½ on
    average, a player that wins every game has 1, and the scores of the two players sum to 1."""
    returns: tuple[Values, Values]
    """(pairs,) mean return of either player."""
    points: tuple[Values, Values] | None
    """(pairs,) mean points of either, where the game counts them."""
    wins: int
    """Games in which the first player's seats alone have the highest return."""
    draws: int
    losses: int
    games: int
    widest: float | None = None
    """The largest difference of returns that the game allows, where it says."""

    @classmethod
    def of(cls, pairs: Sequence[PlayedPair], game: Game | None = None) -> PairTable:
        """What some pairs of a game came to."""
        if not pairs:
            raise ConfigError("got no pairs, expected at least one")
        rows = [compared(pair) for pair in pairs]
        results = Counter(np.sign(best[0] - best[1]) for row in rows for best in row.bests)
        points = None
        if rows[0].points is not None:
            mine, other = np.array([row.points for row in rows], np.float64).T
            points = (mine, other)
        return cls(
            np.array([row.score for row in rows]),
            (np.array([row.returns[0] for row in rows]), np.array([row.returns[1] for row in rows])),
            points,
            results[1],
            results[0],
            results[-1],
            sum(len(pair.games) for pair in pairs),
            None if game is None or game.info.utility is None else float(np.ptp(game.info.utility)),
        )

    @property
    def gains(self) -> Values:
        """(pairs,) mean return of the first player less that of the second."""
        return self.returns[0] - self.returns[1]

    @property
    def count(self) -> int:
        """Pairs."""
        return len(self.scores)

    @property
    def table(self) -> dict[str, int]:
        """How many pairs have each score, ascending."""
        values, counts = np.unique(np.round(self.scores, 6), return_counts=True)
        return {f"{value:g}": int(count) for value, count in zip(values, counts, strict=True)}

    def score(self, *, any_time: bool = False) -> PairMean:
        """The mean score."""
        return PairMean.of(self.scores, any_time=any_time)

    def gain(self, *, any_time: bool = False) -> PairMean:
        """The mean difference of returns."""
        return PairMean.of_differences(self.gains, self.widest, any_time=any_time)

    def margin(self, *, any_time: bool = False) -> PairMean | None:
        """The mean difference of points, where the game counts them."""
        if self.points is None:
            return None
        return PairMean.of_differences(self.points[0] - self.points[1], None, any_time=any_time)

    def to_dict(self, *, any_time: bool = False) -> dict[str, Any]:
        """As plain data, for JSON; ``any_time`` where the pairs themselves said when to stop."""
        score, margin = self.score(any_time=any_time), self.margin(any_time=any_time)
        told = {
            "pairs": self.count,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "pair_table": self.table,
            "score": score.to_dict(),
            "elo": {name: elo(getattr(score, name)) for name in ("mean", "low", "high")},
            "return_difference": self.gain(any_time=any_time).to_dict(),
        }
        if margin is not None and self.points is not None:
            means = {
                name: round(float(one.mean()), 6) for name, one in zip(("first", "second"), self.points, strict=True)
            }
            told["points"] = {**means, "difference": margin.to_dict()}
        return told


@dataclass(frozen=True)
class Compared:
    """A pair, told from the first player's side."""

    score: float
    returns: tuple[float, float]
    """Mean, by player."""
    points: tuple[float, float] | None
    bests: list[tuple[float, float]]
    """By game (alone: by pair) the highest return of either player."""


def compared(pair: PlayedPair) -> Compared:
    """Compare the players of a pair."""
    sides = [[_of(game, game.returns, first) for first in (True, False)] for game in pair.games]
    if len(pair.games[0].seating) == 1:
        sides = [[sides[0][0], sides[1][1]]]
    bests = [(max(mine), max(others)) for mine, others in sides]
    score = fmean((1.0 + np.sign(mine - other)) / 2 for mine, other in bests)
    returns = (fmean(fmean(mine) for mine, _ in sides), fmean(fmean(others) for _, others in sides))
    points = None
    if pair.games[0].points is not None:
        by_side = [
            fmean(one for game in pair.games for one in _of(game, game.points or (), first)) for first in (True, False)
        ]
        points = (by_side[0], by_side[1])
    return Compared(float(score), returns, points, bests)


def _of(game: SeatedGame, numbers: Sequence[float], first: bool) -> list[float]:
    """What belongs to one of the two players."""
    return [number for number, is_first in zip(numbers, game.seating, strict=True) if is_first == first]


def elo(score: float | None) -> float | None:
    """The difference of ratings that a score stands for; None where it has no end."""
    return None if score is None or not 0.0 < score < 1.0 else round(400.0 * log10(score / (1.0 - score)), 1) + 0.0
