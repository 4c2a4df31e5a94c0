"""A game in progress without a user interface: position, seats, dice, history and explanations.

The dice of the game are derived from (seed, viewer, number of rolls of this viewer). The random numbers of players are
derived separately, from seat and position, so no search can foresee a roll. The history lists every action and outcome
since ``start``, so a session can be rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aleazero.errors import ConfigError, ReplayError
from aleazero.evaluation.game_file import RecordedGame
from aleazero.games.base import Game, State
from aleazero.games.game_dice import GameDice
from aleazero.native.random import HINTS, PLAYED_SEARCHES, stream_key
from aleazero.players.player import Player
from aleazero.search.result import SearchResult


class Session:
    """A game in progress.

    Args:
        state: the position to start from; the session modifies it.
        seed: seed of the dice and of the players' searches.
        players: the player of each seat; for a seat without player the caller plays the actions with ``act``.
        temperature: 0 selects the most visited action of a search, 1 samples in proportion to the visits.

    Raises:
        ConfigError: if a seat does not exist.
    """

    def __init__(
        self, state: State, seed: int, players: Mapping[int, Player] | None = None, *, temperature: float = 0.0
    ) -> None:
        for seat in players or {}:
            if not 0 <= seat < state.game.num_players:
                raise ConfigError(f"seat is {seat}, expected one from 0 to {state.game.num_players - 1}")
        self.state, self.seed, self.players, self.temperature = state, seed, dict(players or {}), temperature
        self.start = state.to_text()
        self.history: list[dict[str, Any]] = []
        self._dice = GameDice(seed)

    @property
    def ply(self) -> int:
        """Number of decisions so far."""
        return sum(step["kind"] == "decision" for step in self.history)

    def draw(self) -> str:
        """Draw one outcome at a chance node; return its name."""
        viewer = self.state.viewer()
        outcome = self._dice.draw(self.state)
        name = self.state.action_to_string(outcome)
        self.state.apply_action(outcome)
        self.history.append({
            "kind": "chance", "viewer": viewer, "count": self._dice.counts[viewer] - 1, "outcome": outcome,
            "name": name, "position": self.state.to_text(),
        })  # fmt: skip
        return name

    def draw_all(self) -> list[str]:
        """Draw outcomes until a player decides or the game is over; return their names."""
        drawn = []
        while self.state.is_chance_node():
            drawn.append(self.draw())
        return drawn

    def act(self, action: int, result: SearchResult | None = None) -> str:
        """Play an action of the player to move, with the search or plan that chose it; return its name."""
        player, name = self.state.current_player(), self.state.action_to_string(action)
        self.state.apply_action(action)
        self.history.append({
            "kind": "decision", "player": player, "action": action, "name": name,
            "value": None if result is None else [float(value) for value in result.value],
            "simulations": 0 if result is None else result.stats.simulations, "position": self.state.to_text(),
        })  # fmt: skip
        return name

    def choose(self) -> tuple[int, SearchResult | None]:
        """Let the player to move select an action; return it with the search or plan that selected it.

        Raises:
            KeyboardInterrupt: if Ctrl-C interrupts the search.
        """
        state, player = self.state, self.players[self.state.current_player()]
        legal = state.legal_actions()
        if len(legal) == 1:
            return legal[0], None
        seed = self._player_seed(PLAYED_SEARCHES)
        result = player.explain(state, seed)
        if result is None:
            return player.select(state, seed), None
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        return result.sample_action(self.temperature), result

    def hint(self, player: Player) -> SearchResult | None:
        """Return the search or plan of a player in this position; None if the player does neither."""
        return player.explain(self.state, self._player_seed(HINTS))

    def _player_seed(self, stream: int) -> int:
        """Return the seed of the player to move, from which it derives one per position."""
        return stream_key(stream, self.seed, self.state.current_player())


def recorded_steps(record: RecordedGame, game: Game) -> Iterator[dict[str, Any]]:
    """Yield the named steps of a recorded game with the resulting positions, after checking them against the rules."""
    before = None
    for number, (state, step) in enumerate(record.positions(game)):
        if step is None or before is None:
            yield {"step": 0, "player": None, "name": "", "position": state.to_text(), "board": str(state)}
        else:
            name = before.action_to_string(step[1])
            yield {"step": number, "player": step[0], "action": step[1], "name": name,
                   "position": state.to_text(), "board": str(state)}  # fmt: skip
        before = state
    if before is None or not before.is_terminal() or tuple(before.returns()) != record.returns:
        raise ReplayError(f"step {len(record.steps)}: the game does not end as recorded, {list(record.returns)}")
