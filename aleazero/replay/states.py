"""The states that samples were taken of: a game is played again from its record."""

from __future__ import annotations

from collections.abc import Iterator

from aleazero.errors import AleaZeroError, ReplayError
from aleazero.games.base import Game, State
from aleazero.selfplay.record import EpisodeRecord


def sampled_states(record: EpisodeRecord, game: Game) -> Iterator[State]:
    """The state of each sample, in order. It is one state that is played on: look before the next is asked for."""
    state = game.state_from_text(record.start)
    sampled = set(record.step.tolist())
    for index, (_, action) in enumerate(record.steps.tolist()):
        if index in sampled:
            yield state
        try:
            state.apply_action(action)
        except AleaZeroError as error:
            raise ReplayError(f"game {record.game_number}, step {index}: {error}") from None
