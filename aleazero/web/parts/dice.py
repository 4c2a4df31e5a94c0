"""Rolls of dice as pictures: the names of outcomes whose digits are faces of dice."""

from __future__ import annotations

import html
import re
from typing import Final

ROLLED: Final = re.compile(r"(?:roll-)?([1-6](?:-?[1-6]){0,5})")
"""Names of outcomes that are shown as dice: digits from 1 to 6."""
PIPS: Final = {1: "e", 2: "ai", 3: "aei", 4: "acgi", 5: "acegi", 6: "acdfgi"}
"""Places of the pips of each face in a square of three rows, from a to i."""


def _symbol(face: int) -> str:
    pips = "".join(
        f'<circle cx="{6 + 6 * (ord(place) - ord("a") - 3 * row)}" cy="{6 + 6 * row}" r="2"/>'
        for place in PIPS[face]
        for row in [(ord(place) - ord("a")) // 3]
    )
    return (
        f'<symbol id="die-{face}" viewBox="0 0 24 24"><rect x="1" y="1" width="22" height="22" rx="5"/>{pips}</symbol>'
    )


SYMBOLS: Final = f'<svg width="0" height="0" aria-hidden="true">{"".join(map(_symbol, PIPS))}</svg>'
"""The faces, which every page contains once."""


def outcome_html(name: str) -> str:
    """Return the name of an outcome as HTML; a roll of dice is drawn with the faces of ``SYMBOLS``."""
    found = ROLLED.fullmatch(name)
    if found is None:
        return html.escape(name)
    faces = found[1].replace("-", "")
    dice = "".join(f'<svg class="die"><use href="#die-{face}"/></svg>' for face in faces)
    return f'<span class="dice" role="img" aria-label="roll {found[1]}">{dice}</span>'
