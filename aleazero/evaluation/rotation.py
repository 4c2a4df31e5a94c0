"""Matches in which every player sits at every seat, with the same dice each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aleazero.errors import ConfigError
from aleazero.evaluation.match import Progress, game_seeds, play_match
from aleazero.games.base import Game
from aleazero.native.random import SEAT_ROTATION, stream_key
from aleazero.players.player import Player


@dataclass
class Tally:
    """What a player's games came to. To win is to have more than anyone else; to draw, as much as another best."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    total: float = 0.0
    """Sum of the returns."""

    def to_dict(self) -> dict[str, float]:
        """As plain data, for JSON."""
        counts = {name: getattr(self, name) for name in ("games", "wins", "draws", "losses")}
        return {**counts, "mean_return": self.total / max(1, self.games)}

    def add(self, returns: Sequence[float], seat: int) -> None:
        """Count a game in which the player sat at a seat."""
        best = max(returns)
        self.games += 1
        self.total += returns[seat]
        if returns[seat] < best:
            self.losses += 1
        elif list(returns).count(best) > 1:
            self.draws += 1
        else:
            self.wins += 1


def play_rotation(
    game: Game,
    players: Sequence[Player],
    games: int,
    *,
    seed: int = 0,
    player_seed: int = 0,
    progress: Progress | None = None,
) -> list[Tally]:
    """Play at least so many games, each seed of dice once for each turn of the seats; the counts, by player."""
    count = game.num_players
    if len(players) != count:
        raise ConfigError(f"got {len(players)} players, expected {count}, one a seat of {game!r}")
    if games < 1:
        raise ConfigError(f"games is {games}, expected at least 1")
    seeds = game_seeds(seed, -(-games // count))
    tallies = [Tally() for _ in players]
    for turn in range(count):
        seated = [players[(seat + turn) % count] for seat in range(count)]

        def tell(done: int, of: int, before: int = turn * len(seeds)) -> None:
            if progress is not None:
                progress(before + done, count * len(seeds))

        own_seed = stream_key(SEAT_ROTATION, player_seed, turn)
        for played in play_match(game, seated, seeds, player_seed=own_seed, progress=tell):
            for seat in range(count):
                tallies[(seat + turn) % count].add(played.returns, seat)
    return tallies
