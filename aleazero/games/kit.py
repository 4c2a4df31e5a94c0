"""What is known of a game beyond its rules: its ``GameKit``, and its board for tables over tuples of cells.

General code names no game. It asks ``kit_of(game)``, and has a default for each part that a kit leaves out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aleazero.errors import ContractError
from aleazero.games.base import Game, State

MOST_ENTRIES = 2**31 - 1
"""Entries of all tables together: they are numbered in 32 bits."""

Oracle = Any
"""An ``oracles.oracle.Oracle``: games import nothing from the layers above them."""
Player = Any
"""A ``players.player.Player``."""


@dataclass(frozen=True)
class Example:
    """A position worth looking at, or a game worth watching, for ``aleazero demo``."""

    caption: str
    """One sentence for the reader."""
    position: str | None = None
    """The position as text; None for a game from its start."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the game."""


@dataclass(frozen=True)
class GameKit:
    """Knowledge about a game beyond its rules: exact values, players, positions, measurements, texts.

    All parts are optional. A game's own file has a function ``kit(game) -> GameKit`` (an object game's class: a static
    method), or the kit is passed to ``register_game``. Functions that belong to the rules stay functions of the game.
    """

    oracle: Callable[[], Oracle] | None = None
    """Makes the game's oracle, an ``Oracle``. Without it a small game is solved completely."""
    reference: str | None = None
    """Spec of the player that stands in for an oracle if the game has none. Such a game is not solved."""
    reference_name: str = ""
    """Name of the reference player as an opponent, in results and reports; by default its spec."""
    players: Mapping[str, Callable[[Game, Mapping[str, str]], Player]] = field(default_factory=dict)
    """More kinds of players, by the first word of their spec. Each is made from the game and the settings given."""
    positions: Mapping[str, Callable[[], Sequence[State]]] = field(default_factory=dict)
    """Fixed sets of decisions by name, on which regret is measured; the first is the default."""
    positions_oracle: Callable[[], Oracle] | None = None
    """Makes what judges the fixed positions, if ``oracle`` cannot."""
    read_position: Callable[[Any], State] | None = None
    """Reads one entry of a file of positions (JSON); default: a text, read by ``Game.state_from_text``."""
    classify: Callable[[State], tuple[str, str]] | None = None
    """The kind of a decision and the stage of the game, for tables of regret."""
    measure: Callable[[Any, int, int, int], Mapping[str, Any]] | None = None
    """Measures a value network in a moment: ``measure(values, games, seed, threads)`` with the values between turns.

    It returns JSON data by name: means with intervals of the ``score`` and the ``regret`` per game. If there is a
    ``reference`` it returns instead of the regret ``won``, the share of games won against it with its ``pair_table``,
    and ``reference_score``, the score of the reference.
    """
    examples: Sequence[Example] = ()
    """Positions and games for ``aleazero demo``."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Sentences for the glossary of a report, by term; a term that the glossary has is explained by this instead."""


NOTHING: Final = GameKit()
_given: dict[Any, Any] = {}
"""By a game's source (a class, a module, or the name of a module): its kit, what makes it, or a module that has it."""


def give_kit(source: Any, kit: GameKit | Callable[[Game], GameKit] | str | None) -> None:
    """Give a game its kit: the kit, a function of the game, or the name of a module with ``kit``; None for its own."""
    _given[source] = kit


def kit_of(game: Game) -> GameKit:
    """Return what is known of a game beyond its rules.

    This is the first of: the kit that ``register_game`` was given, that of ``kit`` in the game's own module or class,
    that of a bundled game. A game without any has an empty kit. Kits are kept per game object.
    """
    if game._kit is None:
        game._kit = _make(game)
    kit: GameKit = game._kit
    return kit


def _make(game: Game) -> GameKit:
    source = getattr(game, "module", None) or getattr(game, "state_class", None)
    found = _given.get(source)
    if found is None:  # a kernel game's own is bound to its parameters, as its rules are
        found = game.kernels.kit if hasattr(game, "kernels") else getattr(source, "kit", None)
    if found is None:
        found = _given.get(getattr(source, "__name__", None))
    if isinstance(found, str):
        found = importlib.import_module(found).kit
    if found is None:
        return NOTHING
    made = found(game) if callable(found) else found
    if not isinstance(made, GameKit):
        raise ContractError(f"{game.name}: the kit is {made!r}, expected a GameKit, or a function of the game")
    return made


@dataclass(frozen=True)
class TupleShape:
    """A board of small numbers, the cells that are read together, and the ways in which boards are alike."""

    cells: int
    """The board is the first so many numbers of the state vector."""
    values: int
    """A cell counts as 0 to values − 1; what is beyond counts as the nearest."""
    tuples: tuple[tuple[int, ...], ...]
    """The cells of each table; the first varies slowest."""
    symmetries: tuple[tuple[int, ...], ...]
    """Boards that are worth the same: the cell that each cell's place is taken by. Also the board itself."""

    def __post_init__(self) -> None:
        if self.cells < 1 or self.values < 2 or not self.tuples or not self.symmetries:
            raise ContractError(f"{self} is empty, expected cells, at least 2 values, tuples and symmetries")
        for cells in self.tuples:
            if not cells or len(set(cells)) < len(cells) or not set(cells) <= set(range(self.cells)):
                raise ContractError(f"a tuple is {cells}, expected different cells of 0 to {self.cells - 1}")
        for places in self.symmetries:
            if sorted(places) != list(range(self.cells)):
                raise ContractError(f"a symmetry is {places}, expected each cell of 0 to {self.cells - 1} once")
        if self.entries > MOST_ENTRIES:
            raise ContractError(f"the tables have {self.entries} entries, expected at most {MOST_ENTRIES}")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Entries of each table."""
        return tuple(self.values ** len(cells) for cells in self.tuples)

    @property
    def entries(self) -> int:
        """Entries of all tables."""
        return sum(self.sizes)
