"""A safetensors file, mapped into memory: nothing is read before it is used, nothing is trusted before it is checked.

The library's own loader for numpy copies every tensor. The format is small: the length of the header (8 bytes), the
header (JSON: type, shape and place of each tensor, and texts), then the numbers.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ReplayError
from aleazero.files import os_errors_as
from aleazero.untrusted import parse_json

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
