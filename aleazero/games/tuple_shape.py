"""What a game says of its board to those who learn tables over tuples of cells."""

from __future__ import annotations

from dataclasses import dataclass

from aleazero.errors import ContractError

MOST_ENTRIES = 2**31 - 1
"""Entries of all tables together: they are numbered in 32 bits."""


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
