"""The contents of a shard file: header, tensors, checksum.

A shard is a safetensors file that is mapped into memory, because the numpy loader of safetensors would copy every
tensor. The file consists of the length of the header (8 bytes), the header (JSON with the type, shape and offsets of
each tensor, and texts), and the data. All of it is checked before it is used.
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
"""Version of the file format."""
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
"""The types of columns, by their names in safetensors."""
LENGTH_SIZE: Final = 8
LONGEST_HEADER: Final = 100_000_000
MOST_NUMBERS: Final = 2**40
"""Maximum size of a tensor, with lengths of 0 counted as 1, because numpy rejects larger shapes."""
MOST_DIMENSIONS: Final = 8


class Origin(BaseModel):
    """The source of samples: a game with its rules, a model, and settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())

    game: str
    """First argument of ``load_game``: a name, or ``path/file.py:NAME``."""
    params: dict[str, Any]
    rules_version: int
    observation_schema: str
    model: str
    """Id of the model that played."""
    settings: str = ""
    """Hash of the seed and the settings of self-play."""
    code_version: str = VERSION

    @classmethod
    def of(cls, game: Game, model: str, spec: str | None = None, settings: str = "") -> Origin:
        """Return the origin of samples of a game; ``spec`` is the text that a user's own game was loaded from."""
        info = game.info
        if spec is None and game.name not in game_names():
            raise ReplayError(f"{game.name} is not a registered game, expected spec=path/file.py:NAME")
        return cls(
            game=parse_game_text(spec)[0] if spec else game.name,
            params=game.json_params(ReplayError),
            rules_version=info.version,
            observation_schema=info.observation_schema,
            model=model,
            settings=settings,
        )

    def same_game(self, other: Origin) -> bool:
        """Return whether samples of both origins can be used in one batch."""
        names = ("game", "params", "rules_version", "observation_schema")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def game_text(self) -> str:
        """Return the game, its parameters and its versions as text."""
        settings = ", ".join(f"{key}={value!r}" for key, value in sorted(self.params.items()))
        schema = f", observations {self.observation_schema}" if self.observation_schema else ""
        return f"{self.game}({settings}) version {self.rules_version}{schema}"


class ShardMeta(Origin):
    """Metadata of a shard: the origin and the range of its games."""

    format: int
    iteration: int = Field(ge=0)
    first_game: int = Field(ge=0)
    last_game: int = Field(ge=0)
    """Exclusive end of the range of games."""
    samples: int = Field(ge=0)
    checksum: str
    """SHA-256 of the other metadata and of the name, type, shape and bytes of each tensor."""

    def to_text(self) -> str:
        """Return JSON, which is equal for equal contents."""
        return json.dumps(self.model_dump(), sort_keys=True, allow_nan=False)


def parse_meta(text: str) -> ShardMeta:
    """Parse the result of ``ShardMeta.to_text``."""
    try:
        found = parse_json(text)["format"]
    except (ValueError, KeyError, TypeError):
        raise ReplayError(f"the metadata is {text!r:.80}, expected metadata of a shard") from None
    if found != FORMAT:
        raise ReplayError(f"the format is {found!r:.80}, expected {FORMAT}")
    try:
        return ShardMeta.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "all"
        raise ReplayError(f"{name} in the metadata is {first['input']!r:.80}: {first['msg']}") from None


def checksum_of(meta: ShardMeta, columns: Mapping[str, NDArray[Any]]) -> str:
    """Compute the checksum of a shard."""
    header = json.dumps(meta.model_dump(exclude={"checksum"}), sort_keys=True)
    digest = hashlib.sha256(header.encode())
    for name, column in sorted(columns.items()):
        digest.update(f"\0{name} {column.dtype.str} {column.shape}\0".encode())
        digest.update(np.ascontiguousarray(column).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def map_tensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    """Map a file into memory and return its tensors, as views of the file, and its texts."""
    with os_errors_as(ReplayError, "cannot be read"):
        size = path.stat().st_size
        if size <= LENGTH_SIZE:
            raise ReplayError(f"the file has {size} bytes, expected a header")
        mapped = np.asarray(np.memmap(path, np.uint8, "r"))
    length = int.from_bytes(mapped[:LENGTH_SIZE].tobytes(), "little")
    if not 2 <= length <= min(len(mapped) - LENGTH_SIZE, LONGEST_HEADER):
        raise ReplayError(f"the header has {length} bytes, expected at most {len(mapped) - LENGTH_SIZE} in this file")
    header = _parse_header(mapped[LENGTH_SIZE : LENGTH_SIZE + length].tobytes())
    texts = header.pop("__metadata__", {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ReplayError("__metadata__ of the header is not an object of strings")
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
    """Return type, shape, first byte and end of a tensor from its entry in the header."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ReplayError(f"{name}: got {entry!r:.80}, expected dtype, shape and data_offsets")
    dtype = DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        raise ReplayError(f"{name}: dtype is {entry['dtype']!r:.80}, expected one of {', '.join(DTYPES)}")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _are_sizes(shape):
        raise ReplayError(f"{name}: shape is {shape!r:.80}, expected nonnegative integers")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise ReplayError(f"{name}: data_offsets is {offsets!r:.80}, expected two nonnegative integers")
    begin, end = offsets
    needed = math.prod(shape) * dtype.itemsize
    if end - begin != needed:
        raise ReplayError(f"{name}: has {end - begin} bytes, expected {needed} for the shape {shape!r:.80}")
    if math.prod(max(1, size) for size in shape) > MOST_NUMBERS or len(shape) > MOST_DIMENSIONS:
        raise ReplayError(f"{name}: shape is {shape!r:.80}, which is too large for an array")
    return dtype, tuple(shape), begin, end


def _are_sizes(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers)


def _check_tiling(places: list[tuple[int, int]], size: int) -> None:
    """Raise an error unless every byte belongs to exactly one tensor."""
    edges = [(0, 0), *sorted(places), (size, size)]
    for (_, end), (begin, _) in pairwise(edges):
        if begin != end:
            raise ReplayError(f"a tensor ends at byte {end} and the next begins at {begin}, expected no gap or overlap")


def _view(
    name: str, data: NDArray[np.uint8], dtype: np.dtype[Any], shape: tuple[int, ...], begin: int, end: int
) -> NDArray[Any]:
    raw = data[begin:end]
    if dtype.kind == "b" and raw.size and raw.max() > 1:
        raise ReplayError(f"{name}: a boolean is {raw.max()}, expected 0 or 1")
    return raw.view(dtype).reshape(shape)
