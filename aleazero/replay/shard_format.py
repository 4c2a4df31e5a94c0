"""The contents of a shard file: header, tensors, checksum.

A shard is a safetensors file that is mapped into memory: nothing is read before it is used, and nothing is trusted
before it is checked. The library's own loader for numpy copies every tensor. A file has the length of the header (8
bytes), the header (JSON: type, shape and place of each tensor, and texts), then the numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aleazero.errors import ReplayError
from aleazero.files import os_errors_as
from aleazero.games.base import Game
from aleazero.games.registry import game_names, parse_game_text
from aleazero.untrusted import parse_json
from aleazero.version import VERSION

FORMAT: Final = 1
"""Version of the shards' columns and of their meaning."""
Tensors = dict[str, NDArray[Any]]
DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
    "I32": np.dtype("<i4"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
"""The types that samples have, by their names in the format."""
LENGTH_SIZE: Final = 8
LONGEST_HEADER: Final = 100_000_000
MOST_NUMBERS: Final = 2**40
"""Most numbers of a tensor, a length of 0 counted as 1: numpy makes no array of any shape."""
MOST_DIMENSIONS: Final = 8


class Origin(BaseModel):
    """What made the samples: a game with its rules, and a model."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())

    game: str
    """What ``load_game`` takes: a name, or ``path/file.py:NAME``."""
    params: dict[str, Any]
    rules_version: int
    observation_schema: str
    model: str
    """Who played: the id of a model."""
    settings: str = ""
    """A digest of the seed and the settings of self-play: games of the same model and number differ by them."""
    code_version: str = VERSION

    @classmethod
    def of(cls, game: Game, model: str, spec: str | None = None, settings: str = "") -> Origin:
        """The origin of a game's samples; ``spec`` is what a user's own game was loaded by."""
        info = game.info
        if spec is None and game.name not in game_names():
            raise ReplayError(f"{game.name} is not known by name, expected what it was loaded by, path/file.py:NAME")
        return cls(
            game=parse_game_text(spec)[0] if spec else game.name,
            params=game.json_params(ReplayError),
            rules_version=info.version,
            observation_schema=info.observation_schema,
            model=model,
            settings=settings,
        )

    def same_game(self, other: Origin) -> bool:
        """Whether samples of both may stand in one batch."""
        return self._of_the_game() == other._of_the_game()

    def game_text(self) -> str:
        """The game, its parameters and the versions in a few words."""
        settings = ", ".join(f"{key}={value!r}" for key, value in sorted(self.params.items()))
        schema = f", observations {self.observation_schema}" if self.observation_schema else ""
        return f"{self.game}({settings}) version {self.rules_version}{schema}"

    def _of_the_game(self) -> tuple[Any, ...]:
        return self.game, self.params, self.rules_version, self.observation_schema


class ShardMeta(Origin):
    """An origin, and which samples these are."""

    format: int
    iteration: int = Field(ge=0)
    first_game: int = Field(ge=0)
    last_game: int = Field(ge=0)
    """One behind the last."""
    samples: int = Field(ge=0)
    checksum: str
    """SHA-256 of all that a shard holds: what is said here, and of each tensor its name, type, shape and bytes."""

    def to_text(self) -> str:
        """JSON, the same for the same contents."""
        return json.dumps(self.model_dump(), sort_keys=True, allow_nan=False)


def parse_meta(text: str) -> ShardMeta:
    """Read what ``to_text`` wrote."""
    try:
        found = parse_json(text)["format"]
    except (ValueError, KeyError, TypeError):
        raise ReplayError(f"the metadata is {text!r:.80}, expected that of a shard") from None
    if found != FORMAT:
        raise ReplayError(f"the format is {found!r:.80}, expected {FORMAT}")
    try:
        return ShardMeta.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "all"
        raise ReplayError(f"the metadata's {name} is {first['input']!r:.80}: {first['msg']}") from None


def checksum_of(meta: ShardMeta, columns: Mapping[str, NDArray[Any]]) -> str:
    """The checksum that a shard of these contents has."""
    said = json.dumps(meta.model_dump(exclude={"checksum"}), sort_keys=True)
    digest = hashlib.sha256(said.encode())
    for name, column in sorted(columns.items()):
        digest.update(f"\0{name} {column.dtype.str} {column.shape}\0".encode())
        digest.update(np.ascontiguousarray(column).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def map_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """The tensors of a file as views of the mapped file, and its texts; a ReplayError says what is wrong with it."""
    with os_errors_as(ReplayError, "cannot be read"):
        size = path.stat().st_size
        if size <= LENGTH_SIZE:
            raise ReplayError(f"the file has {size} bytes, expected a header")
        mapped = np.asarray(np.memmap(path, np.uint8, "r"))
    length = int.from_bytes(mapped[:LENGTH_SIZE].tobytes(), "little")
    if not 2 <= length <= min(len(mapped) - LENGTH_SIZE, LONGEST_HEADER):
        raise ReplayError(
            f"the header has {length} bytes, expected at most the {len(mapped) - LENGTH_SIZE} of the file"
        )
    header = _parse_header(mapped[LENGTH_SIZE : LENGTH_SIZE + length].tobytes())
    texts = header.pop("__metadata__", {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ReplayError("__metadata__ of the header is not a table of texts")
    data = mapped[LENGTH_SIZE + length :]
    places = {name: _place(name, entry) for name, entry in header.items()}
    _check_tiling([(begin, end) for _, _, begin, end in places.values()], len(data))
    return {name: _view(name, data, *place) for name, place in places.items()}, texts


def _parse_header(text: bytes) -> dict[str, Any]:
    try:
        header = parse_json(text)
    except ValueError as error:
        raise ReplayError(f"the header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise ReplayError(f"the header is a {type(header).__name__}, expected an object")
    return header


def _place(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Type, shape, first byte and end of a tensor, as the header tells them."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ReplayError(f"{name}: got {entry!r:.80}, expected dtype, shape and data_offsets")
    dtype = DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        raise ReplayError(f"{name}: dtype is {entry['dtype']!r:.80}, expected one of {', '.join(DTYPES)}")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _are_sizes(shape):
        raise ReplayError(f"{name}: shape is {shape!r:.80}, expected whole numbers")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise ReplayError(f"{name}: data_offsets is {offsets!r:.80}, expected two whole numbers")
    begin, end = offsets
    needed = math.prod(shape) * dtype.itemsize
    if end - begin != needed:
        raise ReplayError(f"{name}: holds {end - begin} bytes, expected {needed} for the shape {shape!r:.80}")
    if math.prod(max(1, size) for size in shape) > MOST_NUMBERS or len(shape) > MOST_DIMENSIONS:
        raise ReplayError(f"{name}: shape is {shape!r:.80}, expected lengths that an array can have")
    return dtype, tuple(shape), begin, end


def _are_sizes(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers)


def _check_tiling(places: list[tuple[int, int]], size: int) -> None:
    """Every byte belongs to one tensor."""
    edges = [(0, 0), *sorted(places), (size, size)]
    for (_, end), (begin, _) in pairwise(edges):
        if begin != end:
            raise ReplayError(
                f"a tensor ends at byte {end} and the next begins at {begin}, expected neither gap nor more"
            )


def _view(
    name: str, data: NDArray[np.uint8], dtype: np.dtype[Any], shape: tuple[int, ...], begin: int, end: int
) -> NDArray[Any]:
    raw = data[begin:end]
    if dtype.kind == "b" and raw.size and raw.max() > 1:
        raise ReplayError(f"{name}: a truth value is {raw.max()}, expected 0 or 1")
    return raw.view(dtype).reshape(shape)
