"""One played game: its luck, and the searches' luck, which are never the same.

Played chance is keyed by (seed, viewer, that viewer's count). What players draw comes from another stream, by seat, and
from the position, so that no search can foresee a roll or repeat the draws of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aleazero.games.base import State
    from aleazero.games.luck import PlayedLuck
    from aleazero.search.result import SearchResult


@dataclass
class Episode:
    """A game being played: where it stands, and a record of how it got there."""

    state: State
    seed: int
    start: str = ""
    ply: int = 0
    """Decisions so far."""
    luck: PlayedLuck = field(init=False)
    record: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        from aleazero.games.luck import PlayedLuck

        self.start = self.state.to_text()
        self.luck = PlayedLuck(self.seed)

    def player_seed(self, stream: int) -> int:
        """The seed of the player to move, the same for all its moves; players derive one per position from it."""
        from aleazero.native.random import stream_key

        return stream_key(stream, self.seed, self.state.current_player())

    def draw(self) -> str:
        """Let chance move; the outcome's name."""
        viewer = self.state.viewer()
        outcome = self.luck.draw(self.state)
        count = self.luck.counts[viewer] - 1
        name = self.state.action_to_string(outcome)
        self.state.apply_action(outcome)
        self.record.append(
            {"kind": "chance", "viewer": viewer, "count": count, "outcome": outcome, "name": name}
            | {"position": self.state.to_text()}
        )
        return name

    def act(self, action: int, result: SearchResult | None) -> str:
        """Let the mover act, with the search behind it, if any; the action's name."""
        player, name = self.state.current_player(), self.state.action_to_string(action)
        self.state.apply_action(action)
        self.record.append(
            {"kind": "decision", "player": player, "action": action, "name": name}
            | {"value": None if result is None else [float(v) for v in result.value]}
            | {"simulations": 0 if result is None else result.stats.simulations}
            | {"position": self.state.to_text()}
        )
        self.ply += 1
        return name
