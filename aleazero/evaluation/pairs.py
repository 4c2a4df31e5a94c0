"""Paired play: two players play the same dice in each other's seats. Statistics count pairs, not games.

A *pair* consists of all games of one seed. In two-player games it has two games, with the seats swapped. In one-player
games each player plays one game. With n > 2 seats it has 2n games: the first player at each seat in turn against n − 1
copies of the second, then the second player against n − 1 copies of the first.
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
from aleazero.evaluation.match import PlayedGame, Progress, play_in_parallel
from aleazero.evaluation.statistics import PairMean
from aleazero.games.base import Game, State
from aleazero.games.kernel import points_of
from aleazero.games.registry import load_game_once
from aleazero.native.random import SEAT_ROTATION, UNSHARED_DICE, stream_key
from aleazero.players.make import make_player
from aleazero.players.player import Player
from aleazero.processes import Pool, open_pool

CHUNK: Final = 16
"""Number of pairs that are played at the same time."""
Chunk = tuple[int, tuple[int, ...]]
"""The number of the first pair, and the seeds."""
Seating = tuple[bool, ...]
"""For each seat, whether the first player has it."""
Values = NDArray[np.float64]


@dataclass(frozen=True)
class SeatedGame:
    """One game of a pair."""

    seating: Seating
    seed: int
    """Seed of the dice."""
    steps: tuple[tuple[int, int], ...]
    """(player, action) pairs; for chance the player is −1 and the action is the outcome."""
    returns: tuple[float, ...]
    points: tuple[float, ...] | None
    """Points of each seat; None if the game does not count points."""


@dataclass(frozen=True)
class PlayedPair:
    """All games of one seed."""

    number: int
    seed: int
    games: tuple[SeatedGame, ...] = field(repr=False)


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
    """Play one pair of games for each seed.

    Args:
        game: the game.
        first: first player, or its spec.
        second: second player, or its spec.
        seeds: seeds of the dice, see ``game_seeds``.
        player_seed: seed of the players' own random numbers.
        deterministic_chance: whether the games of a pair share their dice.
        workers: number of processes, or an open pool; more than one requires specs. It does not change the result.
        threads: threads of each search; it does not change the result.
        source: text that ``load_game`` accepts, for other processes; by default the name of the game.
        progress: called with the pairs played so far and the total.

    Returns:
        The pairs, in the order of the seeds.

    Raises:
        ConfigError: if there are no seeds, a spec is invalid, or players are passed to more than one worker.
    """
    return PairTable.of(
        collect_pairs(
            game, first, second, seeds, player_seed=player_seed, deterministic_chance=deterministic_chance,
            workers=workers, threads=threads, source=source, progress=progress,
        ),
        game,
    )  # fmt: skip


def collect_pairs(
    game: Game,
    first: str | Player,
    second: str | Player,
    seeds: Sequence[int],
    *,
    progress: Progress | None = None,
    **settings: Any,
) -> list[PlayedPair]:
    """Return all pairs with their games, in the order of the seeds. Arguments: see ``play_pairs``."""
    played = []
    with closing(open_pairs(game, first, second, seeds, **settings)) as pairs:
        for pair in pairs:
            played.append(pair)
            if progress is not None:
                progress(len(played), len(seeds))
    return played


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
    """Yield pairs in the order of the seeds; close the generator to stop early. Arguments: see ``play_pairs``."""
    if not seeds:
        raise ConfigError("got no seeds, expected at least one")
    chunks = [(start, tuple(seeds[start : start + CHUNK])) for start in range(0, len(seeds), CHUNK)]
    count = workers.count if isinstance(workers, Pool) else workers
    if count > 1:
        if not (isinstance(first, str) and isinstance(second, str)):
            raise ConfigError(f"workers is {count}, expected 1: pass players as specs to use more processes")
        contest = Contest(source or game.name, game.params, first, second, player_seed, deterministic_chance, threads)
        with open_pool(workers) as pool, closing(pool.run(play_contest, contest, chunks)) as played:
            yield from _in_order(played)
        return
    players = [make_player(one, game, threads=threads) if isinstance(one, str) else one for one in (first, second)]
    for start, chunk in chunks:
        yield from play_chunk(game, players, start, chunk, player_seed, deterministic_chance)


@dataclass(frozen=True)
class Contest:
    """A task for worker processes: a game and two players, as text."""

    game: str
    """Text that ``load_game`` accepts."""
    params: Mapping[str, Any]
    first: str
    second: str
    player_seed: int
    deterministic_chance: bool
    threads: int


def play_contest(contest: Contest, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, list[PlayedPair]]]:
    """Play chunks of pairs in a worker process."""
    game = load_game_once(contest.game, contest.params)
    players = [make_player(spec, game, threads=contest.threads) for spec in (contest.first, contest.second)]
    for start, seeds in chunks:
        pairs = play_chunk(game, players, start, seeds, contest.player_seed, contest.deterministic_chance)
        yield (start, seeds), pairs


def _in_order(played: Iterator[tuple[Chunk, list[PlayedPair]]]) -> Iterator[PlayedPair]:
    """Yield pairs by number, also if chunks arrive in another order."""
    waiting: dict[int, list[PlayedPair]] = {}
    following = 0
    for (start, _), pairs in played:
        waiting[start] = pairs
        while following in waiting:
            chunk = waiting.pop(following)
            following += len(chunk)
            yield from chunk


def play_chunk(
    game: Game, players: Sequence[Player], start: int, seeds: Sequence[int], player_seed: int, shared: bool
) -> list[PlayedPair]:
    """Play the pairs with numbers from ``start``, all their games at the same time."""
    all_seatings = seatings(game.num_players)
    games, seated, own = [], [], []
    for number, seed in enumerate(seeds, start=start):
        for turn, seating in enumerate(all_seatings):
            dice = seed if shared else stream_key(UNSHARED_DICE, seed, turn)
            games.append(PlayedGame(number, dice, game.new_initial_state()))
            seated.append([players[0 if is_first else 1] for is_first in seating])
            own.append(stream_key(SEAT_ROTATION, player_seed, turn))
    play_in_parallel(games, seated, own)
    played = iter(games)
    return [
        PlayedPair(number, seed, tuple(_seated_game(next(played), seating) for seating in all_seatings))
        for number, seed in enumerate(seeds, start=start)
    ]


def seatings(seats: int) -> list[Seating]:
    """Return the seatings of the two players in the games of a pair, in order."""
    single = [tuple(seat == place for seat in range(seats)) for place in range(seats)]
    mirrored = [tuple(not first for first in seating) for seating in single]
    return single if seats == 2 else single + mirrored


def points_by_player(state: State) -> list[float] | None:
    """Return the points of each player: returns in a one-player game, else the points of the features, if any."""
    game = state.game
    if game.num_players == 1:
        return state.returns()
    points, features = points_of(state), game.info.features
    return None if points is None or features is None else [float(one) * features.point_unit for one in points]


def _seated_game(game: PlayedGame, seating: Seating) -> SeatedGame:
    points = points_by_player(game.state)
    return SeatedGame(
        seating, game.seed, tuple(game.steps), tuple(game.returns), None if points is None else tuple(points)
    )


@dataclass(frozen=True)
class PairTable:
    """Results of pairs, in order. The two games of a pair of a one-player game are compared as if they were one."""

    scores: Values
    """(pairs,) Score of the first player, 0 to 1: the mean over the games of a pair of 1 if only the first player has
    the highest return, ½ if both players have it, 0 otherwise. With more than two seats the best seat of each player
    counts. Equal players have ½ on average, a player that wins every game has 1, and both scores sum to 1."""
    returns: tuple[Values, Values]
    """(pairs,) Mean return of each player."""
    points: tuple[Values, Values] | None
    """(pairs,) Mean points of each player; None if the game does not count points."""
    wins: int
    """Games in which only the first player has the highest return."""
    draws: int
    losses: int
    games: int
    utility: tuple[float, float] | None = None
    """Lowest and highest possible return; None if they are not known."""

    @classmethod
    def of(cls, pairs: Sequence[PlayedPair], game: Game | None = None) -> PairTable:
        """Make the table of at least one pair."""
        if not pairs:
            raise ConfigError("got no pairs, expected at least one")
        sides = [_returns_by_player(pair) for pair in pairs]
        signs = [[float(np.sign(max(mine) - max(other))) for mine, other in games] for games in sides]
        results = Counter(sign for row in signs for sign in row)
        first, second = np.array([[fmean(map(fmean, side)) for side in zip(*games, strict=True)] for games in sides]).T
        points = None
        if pairs[0].games[0].points is not None:
            mine, other = np.array([_mean_points(pair) for pair in pairs], np.float64).T
            points = (mine, other)
        return cls(
            np.array([fmean((1.0 + sign) / 2 for sign in row) for row in signs]),
            (first, second),
            points,
            results[1],
            results[0],
            results[-1],
            sum(len(pair.games) for pair in pairs),
            None if game is None else game.info.utility,
        )

    @property
    def gains(self) -> Values:
        """(pairs,) Mean return of the first player minus that of the second."""
        return self.returns[0] - self.returns[1]

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.scores)

    @property
    def table(self) -> dict[str, int]:
        """Number of pairs with each score, by ascending score."""
        values, counts = np.unique(np.round(self.scores, 6), return_counts=True)
        return {f"{value:g}": int(count) for value, count in zip(values, counts, strict=True)}

    def score(self, *, any_time: bool = False) -> PairMean:
        """Return the mean score; ``any_time`` if a sequential test chose the number of pairs."""
        return PairMean.of(self.scores, any_time=any_time)

    def gain(self, *, any_time: bool = False) -> PairMean:
        """Return the mean difference of returns."""
        widest = None if self.utility is None else self.utility[1] - self.utility[0]
        return PairMean.of_differences(self.gains, widest, any_time=any_time)

    def mean_return(self, *, any_time: bool = False) -> PairMean:
        """Return the mean return of the first player."""
        largest = None if self.utility is None else max(map(abs, self.utility))
        return PairMean.of_differences(self.returns[0], largest, any_time=any_time)

    def margin(self, *, any_time: bool = False) -> PairMean | None:
        """Return the mean difference of points; None if the game does not count points."""
        if self.points is None:
            return None
        return PairMean.of_differences(self.points[0] - self.points[1], None, any_time=any_time)

    def to_dict(self, *, any_time: bool = False) -> dict[str, Any]:
        """Return JSON data; ``any_time`` if a sequential test chose the number of pairs."""
        score, margin = self.score(any_time=any_time), self.margin(any_time=any_time)
        data = {
            "pairs": self.count,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "pair_table": self.table,
            "score": score.to_dict(),
            "elo": {name: elo(getattr(score, name)) for name in ("mean", "low", "high")},
            "mean_return": self.mean_return(any_time=any_time).to_dict(),
            "return_difference": self.gain(any_time=any_time).to_dict(),
        }
        if margin is not None and self.points is not None:
            means = {
                name: round(float(one.mean()), 6) for name, one in zip(("first", "second"), self.points, strict=True)
            }
            data["points"] = {**means, "difference": margin.to_dict()}
        return data


def _returns_by_player(pair: PlayedPair) -> list[list[list[float]]]:
    """Return for each game the returns of both players' seats; a pair of a one-player game counts as one game."""
    sides = [[_side(game, game.returns, first) for first in (True, False)] for game in pair.games]
    return [[sides[0][0], sides[1][1]]] if len(pair.games[0].seating) == 1 else sides


def _mean_points(pair: PlayedPair) -> list[float]:
    return [
        fmean(one for game in pair.games for one in _side(game, game.points or (), first)) for first in (True, False)
    ]


def _side(game: SeatedGame, numbers: Sequence[float], first: bool) -> list[float]:
    """Return the numbers of the seats of one of the two players."""
    return [number for number, is_first in zip(numbers, game.seating, strict=True) if is_first == first]


def elo(score: float | None) -> float | None:
    """Return the Elo difference of a score; None if it is infinite."""
    return None if score is None or not 0.0 < score < 1.0 else round(400.0 * log10(score / (1.0 - score)), 1) + 0.0
