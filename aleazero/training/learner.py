"""The interface of learners that train in rounds, and the file from which their training is resumed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import CheckpointError
from aleazero.files import os_errors_as, write_atomic
from aleazero.untrusted import read_regular

CHECKSUM: Final = "checksum"
SECONDS: Final = "seconds"
OWNER: Final = "owner"


@dataclass(frozen=True)
class Round:
    """Statistics of one round."""

    number: int
    """Rounds done, including this one."""
    turns: int
    games: int
    """Games that ended."""
    losses: Mapping[str, float]
    """Losses of the last training step by column; empty for tables."""
    learning_rate: float | None
    """None if step sizes are adaptive."""
    mean_return: float | None
    """Mean return of player 0 in the games that ended; None if none did."""
    evaluations: int | None = None
    """Number of evaluated states; None if it is not counted."""


class Learner(Protocol):
    """Trains in rounds."""

    rounds: int
    """Total number of rounds."""
    rounds_done: int

    def round(self) -> Round:
        """Train for one round."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the complete state of training, from which it resumes with bit-identical results."""

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the result of ``state``."""

    def save(self, path: Path) -> None:
        """Write the checkpoint used for play."""


def write_state(path: Path, learner: Learner, seconds: float, owner: str) -> None:
    """Write the state of a learner, its training time, and ``owner``, a hash of seed and settings."""
    from safetensors.numpy import save

    held = {name: np.ascontiguousarray(array) for name, array in learner.state().items()}
    held |= {SECONDS: np.array([seconds]), OWNER: np.frombuffer(owner.encode(), np.uint8)}
    with os_errors_as(CheckpointError, f"{path} cannot be written"):
        write_atomic(path, [save({**held, CHECKSUM: _checksum(held)})])


def read_state(path: Path, learner: Learner, owner: str) -> float | None:
    """Resume a learner from its file and return the training time in seconds; None if there is no file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    with os_errors_as(CheckpointError, f"{path} cannot be read"):
        try:
            data = read_regular(path)
        except FileNotFoundError:
            return None
    try:
        held = load(data)
        if held.pop(CHECKSUM).tolist() != _checksum(held).tolist():
            raise ValueError("its checksum differs")
        found = held.pop(OWNER, np.zeros(0, np.uint8)).tobytes().decode()
        if found != owner:
            raise CheckpointError(
                f"{path} belongs to another seed, other settings or another version ({found or 'none'}, expected "
                f"{owner}); delete it to start the training again"
            )
        seconds = float(held.pop(SECONDS)[0])
        learner.restore(held)
    except (SafetensorError, KeyError, ValueError, IndexError) as error:
        raise CheckpointError(f"{path} is damaged: {str(error)[:200]}; delete it to start the training again") from None
    return seconds


def _checksum(held: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(held):
        digest.update(f"{name} {held[name].dtype} {held[name].shape}".encode())
        digest.update(held[name].tobytes())
    return np.frombuffer(digest.digest(), np.uint8)
