"""Values as people read them: win chances in percent, or returns with the decimals that suit their range."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Numbers and texts of the values of a game, see ``review.scale_of``. It contains no rules and can be pickled."""

    name: str
    """What values are called: ``win chance``, ``equity``, ``expected score``."""
    is_win_chance: bool
    low: float
    """Return that is shown as 0."""
    unit: float
    """Return that is shown as 1."""
    span: float | None
    """Width of the range of shown numbers; None if returns have no bounds."""
    digits: int
    """Decimals of texts."""
    has_luck: bool
    """Whether the game has chance events; otherwise rolls and luck are left out."""

    @property
    def symbol(self) -> str:
        """The end of texts."""
        return " %" if self.is_win_chance else ""

    def number(self, value: float) -> float:
        """Return a value in the units of its text: percent, or returns."""
        return (value - self.low) / self.unit

    def difference(self, value: float) -> float:
        """Return luck, a cost or another difference of values in the units of its text."""
        return value / self.unit

    def value(self, value: float | None) -> str:
        """Return the text of a value; a dash for None."""
        return "–" if value is None else self._text(self.number(value), "", self.digits)

    def luck(self, value: float | None) -> str:
        """Return the text of luck, or of another difference of values, with its sign; no text for None."""
        return "" if value is None else self._text(self.difference(value), "+", self.digits)

    def sign(self, value: float) -> int:
        """Return the sign of luck as its text shows it; 0 if that is rounded to zero."""
        rounded = round(self.difference(value), self.digits)
        return (rounded > 0) - (rounded < 0)

    def cost(self, value: float, digits: int = 0) -> str:
        """Return the text of a cost or of regret; ``digits`` are added to the usual number."""
        return self._text(self.difference(value), "", self.digits + digits)

    def _text(self, number: float, sign: str, digits: int) -> str:
        rounded = round(number, digits) + 0.0  # never −0
        return f"{rounded:{sign},.{digits}f}{self.symbol}"
