"""Matches: games on played luck, each seed of dice the same for whoever plays.

The dice come from the seeds of the games; what players draw comes from ``player_seed``, the number of the game and the
seat. The two never meet: no player can be handed the seed of the dice. Games go on side by side, so that searches of
many positions share their cost; who stands beside a game does not change it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aleazero.errors import ConfigError, GameError, nearest
from aleazero.files import os_errors_as
from aleazero.games.base import CHANCE_PLAYER, TERMINAL_PLAYER, Game, State
from aleazero.games.luck import PlayedLuck
from aleazero.native.random import GATE_SEEDS, MASK, MATCH_GAMES, MATCH_SEATS, NAMED_SETS, SEAT_ROTATION, stream_key
from aleazero.players.player import Player
from aleazero.untrusted import is_there

LANES: Final = 64
"""Games that are under way at once."""
MOST_DECISIONS: Final = 100_000
"""A game with more is taken not to end."""
MOST_WITHOUT_CHANCE: Final = 5_000
"""A game with more decisions in a row is taken not to end: players choose the same action if a position returns."""
Progress = Callable[[int, int], None]
"""Called with the number of games (or pairs, if pairs are played) done so far, and of all."""


@dataclass
class PlayedGame:
    """A game as it was played."""

    number: int
    seed: int
    """Of its dice."""
    state: State
    """Where it stands: in the end, the end."""
    steps: list[tuple[int, int]] = field(default_factory=list)
    """(player, action); the player is −1 for chance, and the action its outcome."""

    @property
    def returns(self) -> list[float]:
        """One number a player."""
        return self.state.returns()

    def to_dict(self) -> dict[str, Any]:
        """The game as plain data, for JSON."""
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
    """Play a game for each seed of dice; ``players`` has one for each seat."""
    if len(players) != game.num_players:
        raise ConfigError(f"got {len(players)} players, expected {game.num_players}, one a seat of {game!r}")
    played: list[PlayedGame] = []
    for first in range(0, len(seeds), LANES):
        lane = [
            PlayedGame(number, seed, game.new_initial_state())
            for number, seed in enumerate(seeds[first : first + LANES], start=first)
        ]
        play_side_by_side(lane, [players] * len(lane), [player_seed] * len(lane))
        played += lane
        if progress is not None:
            progress(len(played), len(seeds))
    return played


def game_seeds(seed: int, count: int) -> list[int]:
    """The seeds of the dice of some games, all from one seed."""
    return [game_seed(seed, number) for number in range(count)]


def game_seed(seed: int, number: int) -> int:
    """The seed of the dice of one of the games."""
    return stream_key(MATCH_GAMES, seed, number)


def seat_seed(player_seed: int, number: int, seat: int) -> int:
    """The seed of a player's own luck at a seat of a game: it knows nothing of the dice."""
    return stream_key(MATCH_SEATS, player_seed, number, seat)


def play_side_by_side(
    games: Sequence[PlayedGame], seated: Sequence[Sequence[Player]], player_seeds: Sequence[int]
) -> None:
    """Play games to the end, each with its own players by seat; whoever plays in several is asked about all at once."""
    lucks = [PlayedLuck(game.seed) for game in games]
    running = list(range(len(games)))
    since_chance = [0] * len(games)
    decisions = 0
    while running:
        decisions += 1
        waiting: dict[int, list[tuple[int, int]]] = {}
        asked: dict[int, Player] = {}
        for row in running:
            state = games[row].state
            while (seat := state.current_player()) == CHANCE_PLAYER:
                outcome = lucks[row].draw(state)
                state._apply(outcome)  # the game's own: to list all outcomes again would cost more than the rest
                games[row].steps.append((CHANCE_PLAYER, int(outcome)))
                since_chance[row] = 0
            since_chance[row] += 1
            if since_chance[row] > MOST_WITHOUT_CHANCE or decisions > MOST_DECISIONS:
                raise GameError(
                    f"{state.game.name}: game {games[row].number} is not over after {decisions - 1} decisions, "
                    f"expected an end; players choose the same action whenever a position returns"
                )
            if seat != TERMINAL_PLAYER:
                player = seated[row][seat]
                asked[id(player)] = player
                waiting.setdefault(id(player), []).append((row, seat))
        for name, some in waiting.items():
            own_seeds = [seat_seed(player_seeds[row], games[row].number, seat) for row, seat in some]
            player = asked[name]
            actions = player.select_many([games[row].state for row, _ in some], own_seeds)
            known = getattr(player, "selects_canonical", False)
            for (row, seat), action in zip(some, actions, strict=True):
                state = games[row].state
                (state._apply if known else state.apply_action)(action)
                games[row].steps.append((seat, int(action)))
        running = sorted(row for some in waiting.values() for row, _ in some)


@dataclass
class WinCounts:
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
) -> list[WinCounts]:
    """Play at least so many games, each seed of dice once for each turn of the seats; the counts, by player."""
    count = game.num_players
    if len(players) != count:
        raise ConfigError(f"got {len(players)} players, expected {count}, one a seat of {game!r}")
    if games < 1:
        raise ConfigError(f"games is {games}, expected at least 1")
    seeds = game_seeds(seed, -(-games // count))
    tallies = [WinCounts() for _ in players]
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


NAMED: Final = {"small": 100, "standard": 1000, "large": 10_000}
"""The sets that have names, and how many seeds they hold."""


def fresh_seeds(seed: int, iteration: int, count: int) -> list[int]:
    """Seeds that no other seed or iteration of a run has."""
    return game_seeds(stream_key(GATE_SEEDS, seed, iteration), count)


def load_seed_set(name: str) -> list[int]:
    """A set by name (``small``, ``standard``, ``large``: each begins with the smaller ones), or from a file."""
    if name in NAMED:
        return game_seeds(NAMED_SETS, NAMED[name])
    if not is_there(Path(name)) or not Path(name).is_file():
        raise ConfigError(f"no seed set {name!r}, {nearest(name, NAMED)} (or a file of one number a line)")
    return read_seeds(Path(name))


def read_seeds(file: Path) -> list[int]:
    """The seeds of a file, none twice: a seed played twice would count for two."""
    try:
        with os_errors_as(ConfigError, f"cannot read {str(file)!r}"):
            text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file.name}: got what is no text, expected one number a line") from None
    seeds: dict[int, int] = {}
    for line, words in enumerate(text.splitlines(), start=1):
        word = words.partition("#")[0].strip()
        if not word:
            continue
        if not (word.isascii() and word.isdecimal() and len(word) <= 20 and int(word) <= MASK):
            raise ConfigError(f"{file.name}, line {line}: got {word[:40]!r}, expected a number from 0 to 2^64 - 1")
        if int(word) in seeds:
            raise ConfigError(
                f"{file.name}, line {line}: got {word}, which is on line {seeds[int(word)]} too, expected it once"
            )
        seeds[int(word)] = line
    if not seeds:
        raise ConfigError(f"{file.name}: got no seeds, expected one number a line")
    return list(seeds)


def seeds_hash(seeds: Sequence[int]) -> str:
    """What tells seeds apart, in a few letters."""
    return hashlib.sha256("\n".join(map(str, seeds)).encode()).hexdigest()
