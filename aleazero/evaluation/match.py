"""Matches: games on played luck, each seed of dice the same for whoever plays.

The dice come from the seeds of the games; what players draw comes from ``player_seed``, the number of the game and the
seat. The two never meet: no player can be handed the seed of the dice. Games go on side by side, so that searches of
many positions share their cost; who stands beside a game does not change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aleazero.errors import ConfigError, GameError
from aleazero.games.base import CHANCE_PLAYER, TERMINAL_PLAYER, Game, State
from aleazero.games.luck import PlayedLuck
from aleazero.native.random import MATCH_GAMES, MATCH_SEATS, stream_key
from aleazero.players.player import Player

LANES: Final = 64
"""Games that are under way at once."""
MOST_DECISIONS: Final = 100_000
"""A game with more is taken not to end."""
MOST_WITHOUT_CHANCE: Final = 5_000
"""A game with more decisions in a row is taken not to end: players choose the same action if a position returns."""
Progress = Callable[[int, int], None]
"""Called with the number of games done so far, and of all."""


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
