"""Rolls of dice as pictures, for games whose kit has ``rolls_dice``: the digits of an outcome's name are faces."""

from __future__ import annotations

import html
import re
from typing import Final

from aleazero.games.svg import PIPS

ROLLED: Final = re.compile(r"(?:roll-)?([1-6](?:-?[1-6]){0,5})")
"""Names of rolls: digits from 1 to 6."""


def _symbol(face: int) -> str:
    pips = "".join(f'<circle cx="{12 + 6 * across}" cy="{12 + 6 * down}" r="2"/>' for across, down in PIPS[face])
    return (
        f'<symbol id="die-{face}" viewBox="0 0 24 24"><rect x="1" y="1" width="22" height="22" rx="5"/>{pips}</symbol>'
    )


SYMBOLS: Final = f'<svg width="0" height="0" aria-hidden="true">{"".join(map(_symbol, PIPS))}</svg>'
"""The faces, which every page contains once."""


def outcome_html(name: str, dice: bool) -> str:
    """Return the name of an outcome as HTML; ``dice`` draws a roll with the faces of ``SYMBOLS``."""
    found = ROLLED.fullmatch(name) if dice else None
    if found is None:
        return html.escape(name)
    faces = found[1].replace("-", "")
    drawn = "".join(f'<svg class="die"><use href="#die-{face}"/></svg>' for face in faces)
    return f'<span class="dice" role="img" aria-label="roll {found[1]}">{drawn}</span>'
