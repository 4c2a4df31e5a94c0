"""The search in C++: built with g++, called through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero import SearchConfig

SOURCE = Path(__file__).with_name("search.cpp")
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-std=c++17", "-shared", "-fPIC")
"""Flags that match numba: code for this processor, without fused operations, which would change results."""
NAMES = {"pig": "pig", "2048": "twenty48"}


class NoCompiler(Exception):
    """There is no g++, or it cannot compile the source."""


def build() -> ctypes.CDLL:
    """Compile the C++ search and load it."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise NoCompiler("g++ was not found on the path, so the C++ search cannot be built")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "search.so"
        built = subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(library)], capture_output=True, text=True)
        if built.returncode:
            raise NoCompiler(f"g++ cannot build {SOURCE.name}: {built.stderr.strip()[:2000]}")
        loaded = ctypes.CDLL(str(library))
    for name in NAMES.values():
        getattr(loaded, f"{name}_make").restype = ctypes.c_void_p
        getattr(loaded, f"{name}_delete").argtypes = [ctypes.c_void_p]
        getattr(loaded, f"{name}_search").argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_double,
            ctypes.c_uint64,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_void_p,
        ]
    return loaded


class CppSearch:
    """A reusable search in C++ with the interface of ``aleazero.Search``."""

    def __init__(self, library: ctypes.CDLL, game: Any, config: SearchConfig, playout_steps: int) -> None:
        self._library, self._config, self._playout_steps = library, config, playout_steps
        self._name = NAMES[game.name]
        self._dtype = game.info.state_dtype
        self._actions = game.num_actions
        self._tree = getattr(library, f"{self._name}_make")()

    def run(self, state: Any) -> tuple[NDArray[np.int32], int]:
        """Return the visits of the root's actions in ascending order, and the number of nodes."""
        root = np.ascontiguousarray(state.vector, self._dtype)
        visits = np.zeros(self._actions, np.int32)
        config = self._config
        nodes = getattr(self._library, f"{self._name}_search")(
            self._tree,
            root.ctypes.data,
            config.num_simulations,
            config.c,
            config.seed,
            config.max_depth,
            self._playout_steps,
            visits.ctypes.data,
        )
        return visits[: len(state.legal_actions())], nodes

    def close(self) -> None:
        """Free the tree."""
        getattr(self._library, f"{self._name}_delete")(self._tree)
