"""Compiled functions whose machine code numba keeps on disk, where it finds a place for it.

Only for code that depends on its own file alone: numba's cache looks at nothing else. Where neither the package's
folder nor a home can be written numba refuses; then the code is compiled anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compile_and_keep(**options: Any) -> Callable[[Any], Any]:
    """A decorator: ``numba.njit`` with these options, and with its cache if there can be one."""

    def decorate(function: Any) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no place that can be written
            return numba.njit(**options)(function)

    return decorate
