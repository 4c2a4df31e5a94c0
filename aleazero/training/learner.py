"""What learns round by round, and its state in a file: all that is needed to resume, its owner, and a checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import CheckpointError
from aleazero.files import os_errors_as, write_whole
from aleazero.untrusted import read_regular

CHECKSUM: Final = "checksum"
SECONDS: Final = "seconds"
OWNER: Final = "owner"


@dataclass(frozen=True)
class Round:
    """What a round came to."""

    number: int
    """Rounds done, this one included."""
    turns: int
    games: int
    """That ended."""
    losses: Mapping[str, float]
    """By column, of the last step; none where tables learn."""
    learning_rate: float | None
    """None where steps adapt themselves."""
    mean_return: float | None
    """What player 0 got on average in the games that ended; None where none did."""
    evaluations: int | None = None
    """States that were valued; None where that is not counted."""


class Learner(Protocol):
    """What learns, round by round."""

    rounds: int
    """How many there will be in all."""
    rounds_done: int

    def round(self) -> Round:
        """Do a round, and tell what it came to."""

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on with the same result."""

    def restore(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` told."""

    def save(self, path: Path) -> None:
        """Write the checkpoint that plays."""


def write_state(path: Path, learner: Learner, seconds: float, owner: str) -> None:
    """Write down where a learner stands, how long it has learnt, and whose it is: a hash of seed and settings."""
    from safetensors.numpy import save

    held = {name: np.ascontiguousarray(array) for name, array in learner.state().items()}
    held |= {SECONDS: np.array([seconds]), OWNER: np.frombuffer(owner.encode(), np.uint8)}
    with os_errors_as(CheckpointError, f"{path} cannot be written"):
        write_whole(path, [save({**held, CHECKSUM: _checksum(held)})])


def read_state(path: Path, learner: Learner, owner: str) -> float | None:
    """Go on from what was written for this owner; for how long it has learnt, or None where nothing was."""
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
                f"{path} is of another seed, other settings or older code ({found or 'none'}, expected {owner}); "
                f"without it the run starts anew"
            )
        seconds = float(held.pop(SECONDS)[0])
        learner.restore(held)
    except (SafetensorError, KeyError, ValueError, IndexError) as error:
        raise CheckpointError(f"{path} is damaged: {str(error)[:200]}; without it the run starts anew") from None
    return seconds


def _checksum(held: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(held):
        digest.update(f"{name} {held[name].dtype} {held[name].shape}".encode())
        digest.update(held[name].tobytes())
    return np.frombuffer(digest.digest(), np.uint8)
