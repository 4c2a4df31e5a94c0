"""Matches: games with dice that depend only on the seed of the game, not on the players.

The random numbers of a player are derived from ``player_seed``, the number of the game and the seat. They are
independent of the dice, so no player can foresee a roll. Many games are played at the same time, so that searches of
many positions are batched; this does not change any game.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aleazero.errors import ConfigError, GameError, count_text, nearest
from aleazero.files import os_errors_as
from aleazero.games.base import CHANCE_PLAYER, TERMINAL_PLAYER, Game, State
from aleazero.games.game_dice import GameDice
from aleazero.native.random import GATE_SEEDS, MASK, MATCH_GAMES, MATCH_SEATS, NAMED_SETS, SEAT_ROTATION, stream_key
from aleazero.players.player import Player
from aleazero.untrusted import path_exists

PARALLEL_GAMES: Final = 64
"""Most games that are played at the same time."""
MOST_DECISIONS: Final = 100_000
"""A game with more decisions is considered endless."""
MOST_WITHOUT_CHANCE: Final = 5_000
"""A game with more decisions in a row is considered endless: players repeat their action if a position repeats."""
Progress = Callable[[int, int], None]
"""Called with the number of games (or pairs) played so far, and the total."""


@dataclass
class PlayedGame:
    """One game of a match."""

    number: int
    seed: int
    """Seed of the dice."""
    state: State
    """The current state; the terminal state once the game is over."""
    steps: list[tuple[int, int]] = field(default_factory=list)
    """(player, action) pairs; for chance the player is −1 and the action is the outcome."""

    @property
    def returns(self) -> list[float]:
        """Return of each player."""
        return self.state.returns()

    def to_dict(self) -> dict[str, Any]:
        """Return the game as JSON data."""
        return {
            "number": self.number,
            "seed": self.seed,
            "steps": [list(step) for step in self.steps],
            "returns": self.returns,
            "position": self.state.to_text(),
        }


def play_match(
    game: Game,
    players: Sequence[Player],
    seeds: Sequence[int],
    *,
    player_seed: int = 0,
    progress: Progress | None = None,
) -> list[PlayedGame]:
    """Play one game for each seed.

    Args:
        game: the game.
        players: one player for each seat.
        seeds: seeds of the dice, see ``game_seeds``.
        player_seed: seed of the players' own random numbers.
        progress: called with the games played so far and the total.

    Returns:
        The games, in the order of the seeds.

    Raises:
        ConfigError: if the number of players is not that of the game.
        GameError: if a game does not end.
    """
    _require_one_per_seat(players, game)
    played: list[PlayedGame] = []
    for first in range(0, len(seeds), PARALLEL_GAMES):
        batch = [
            PlayedGame(number, seed, game.new_initial_state())
            for number, seed in enumerate(seeds[first : first + PARALLEL_GAMES], start=first)
        ]
        play_in_parallel(batch, [players] * len(batch), [player_seed] * len(batch))
        played += batch
        if progress is not None:
            progress(len(played), len(seeds))
    return played


def game_seeds(seed: int, count: int) -> list[int]:
    """Return seeds for the dice of ``count`` games, derived from one seed; more games extend the list."""
    return [game_seed(seed, number) for number in range(count)]


def game_seed(seed: int, number: int) -> int:
    """Return the seed for the dice of game ``number``, see ``game_seeds``."""
    return stream_key(MATCH_GAMES, seed, number)


def seat_seed(player_seed: int, number: int, seat: int) -> int:
    """Return the seed of a player's own random numbers at a seat of a game."""
    return stream_key(MATCH_SEATS, player_seed, number, seat)


def play_in_parallel(
    games: Sequence[PlayedGame], seated: Sequence[Sequence[Player]], player_seeds: Sequence[int]
) -> None:
    """Play games to the end, each with its own players by seat; a player selects for all its games at once."""
    dice = [GameDice(game.seed) for game in games]
    running = list(range(len(games)))
    since_chance = [0] * len(games)
    decisions = 0
    while running:
        decisions += 1
        waiting: dict[int, tuple[Player, list[tuple[int, int]]]] = {}  # by player: (game, seat) of its decisions
        for row in running:
            state = games[row].state
            while (seat := state.current_player()) == CHANCE_PLAYER:
                outcome = dice[row].draw(state)
                state._apply(outcome)  # without the check that lists all outcomes, which would dominate the cost
                games[row].steps.append((CHANCE_PLAYER, int(outcome)))
                since_chance[row] = 0
            since_chance[row] += 1
            if since_chance[row] > MOST_WITHOUT_CHANCE or decisions > MOST_DECISIONS:
                raise GameError(
                    f"{state.game.name}: game {games[row].number} is not over after {decisions - 1} decisions, "
                    f"expected an end; players repeat their action whenever a position repeats"
                )
            if seat != TERMINAL_PLAYER:
                player = seated[row][seat]
                waiting.setdefault(id(player), (player, []))[1].append((row, seat))
        for player, turns in waiting.values():
            own_seeds = [seat_seed(player_seeds[row], games[row].number, seat) for row, seat in turns]
            actions = player.select_many([games[row].state for row, _ in turns], own_seeds)
            legal = getattr(player, "selects_canonical", False)
            for (row, seat), action in zip(turns, actions, strict=True):
                state = games[row].state
                (state._apply if legal else state.apply_action)(action)
                games[row].steps.append((seat, int(action)))
        running = sorted(row for _, turns in waiting.values() for row, _ in turns)


def _require_one_per_seat(players: Sequence[Player], game: Game) -> None:
    if len(players) != game.num_players:
        got = count_text(len(players), "player")
        raise ConfigError(f"got {got}, expected {game.num_players}, one for each seat of {game!r}")


@dataclass
class WinCounts:
    """Results of a player. A win is the highest return of all; a draw shares it with another player."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    total: float = 0.0
    """Sum of the returns."""

    def to_dict(self) -> dict[str, float]:
        """Return JSON data."""
        counts = {name: getattr(self, name) for name in ("games", "wins", "draws", "losses")}
        return {**counts, "mean_return": self.total / max(1, self.games)}

    def add(self, returns: Sequence[float], seat: int) -> None:
        """Add a game in which the player had this seat."""
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
    on_game: Callable[[PlayedGame, Sequence[int]], None] | None = None,
) -> list[WinCounts]:
    """Play at least ``games`` games, each seed once per rotation of the seats; return the counts by player.

    ``on_game`` is called with each game and the index of the player at each seat.
    """
    count = game.num_players
    _require_one_per_seat(players, game)
    if games < 1:
        raise ConfigError(f"games is {games}, expected at least 1")
    seeds = game_seeds(seed, -(-games // count))
    tallies = [WinCounts() for _ in players]
    for turn in range(count):
        order = [(seat + turn) % count for seat in range(count)]
        seated = [players[index] for index in order]

        def report(done: int, of: int, before: int = turn * len(seeds)) -> None:
            if progress is not None:
                progress(before + done, count * len(seeds))

        own_seed = stream_key(SEAT_ROTATION, player_seed, turn)
        for played in play_match(game, seated, seeds, player_seed=own_seed, progress=report):
            for seat, index in enumerate(order):
                tallies[index].add(played.returns, seat)
            if on_game is not None:
                on_game(played, order)
    return tallies


NAMED: Final = {"small": 100, "standard": 1000, "large": 10_000}
"""Named seed sets, with their numbers of seeds."""


def fresh_seeds(seed: int, iteration: int, count: int) -> list[int]:
    """Return seeds that no other seed or iteration of a run uses."""
    return game_seeds(stream_key(GATE_SEEDS, seed, iteration), count)


def load_seed_set(name: str) -> list[int]:
    """Return a seed set by name or from a file; each named set starts with the seeds of the smaller ones."""
    if name in NAMED:
        return game_seeds(NAMED_SETS, NAMED[name])
    if not path_exists(Path(name)) or not Path(name).is_file():
        raise ConfigError(f"no seed set {name!r}, {nearest(name, NAMED)} (or a file with one number per line)")
    return read_seeds(Path(name))


def read_seeds(file: Path) -> list[int]:
    """Read the seeds of a file; a repeated seed is an error because it would count twice."""
    try:
        with os_errors_as(ConfigError, f"cannot read {str(file)!r}"):
            text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file.name} is not a text file, expected one number per line") from None
    seeds: dict[int, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        seed = line.partition("#")[0].strip()
        if not seed:
            continue
        if not (seed.isascii() and seed.isdecimal() and len(seed) <= 20 and int(seed) <= MASK):
            raise ConfigError(f"{file.name}, line {number}: got {seed[:40]!r}, expected a number from 0 to 2^64 - 1")
        if int(seed) in seeds:
            raise ConfigError(
                f"{file.name}, line {number}: got {seed}, which is also on line {seeds[int(seed)]}, expected it once"
            )
        seeds[int(seed)] = number
    if not seeds:
        raise ConfigError(f"{file.name}: got no seeds, expected one number per line")
    return list(seeds)


def seeds_hash(seeds: Sequence[int]) -> str:
    """Return a hash of the seeds, for reports."""
    return hashlib.sha256("\n".join(map(str, seeds)).encode()).hexdigest()
