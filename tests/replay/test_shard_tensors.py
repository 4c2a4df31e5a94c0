"""Mapping safetensors files: round trips, and errors in one line."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save

from aleazero.errors import ReplayError
from aleazero.replay.shard_format import DTYPES, map_tensors

SMALL = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
arrays = st.sampled_from(list(DTYPES.values())).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)


@SMALL
@given(tensors=st.dictionaries(st.text(min_size=1, max_size=5), arrays, max_size=5), text=st.text(max_size=20))
def test_mapped_tensors_equal_those_written_by_safetensors(tmp_path, tensors, text):
    tensors.pop("__metadata__", None)
    path = tmp_path / "file"
    path.write_bytes(save(tensors, {"message": text}))
    mapped, texts = map_tensors(path)
    assert texts == {"message": text}
    assert mapped.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert mapped[name].dtype == tensor.dtype
        assert mapped[name].shape == tensor.shape
        assert mapped[name].tobytes() == tensor.tobytes()


def test_tensors_are_read_only_views_of_the_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(save({"a": np.arange(6.0, dtype=np.float32).reshape(2, 3)}))
    mapped = map_tensors(path)[0]["a"]
    owner = mapped
    while isinstance(getattr(owner, "base", None), np.ndarray):
        owner = owner.base
    assert isinstance(owner, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        mapped[0, 0] = 1


def with_header(header, data=b"\0" * 8):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file has 0 bytes, expected a header"),
        (b"12345678", "the file has 8 bytes, expected a header"),
        (b"PK\x03\x04 a foreign file", "the header has .* bytes, expected at most 11 in this file"),
        (with_header(b"{}")[:9], "the header has 2 bytes, expected at most 1 in this file"),
        (with_header(b"{nothing"), "the header is not JSON"),
        (with_header(b"[" * 100_000), "the header is not JSON"),
        (with_header(b"\xff\xff"), "the header is not JSON"),
        (with_header([1]), "the header is a list, expected an object"),
        (with_header({"__metadata__": {"a": 1}}), "__metadata__ of the header is not an object of strings"),
        (with_header({"__metadata__": []}), "__metadata__ of the header is not an object of strings"),
        (with_header({"a": 3}), "a: got 3, expected dtype, shape and data_offsets"),
        (with_header({"a": entry(more=1)}), "expected dtype, shape and data_offsets"),
        (with_header({"a": entry("BF16")}), "a: dtype is 'BF16', expected one of F64"),
        (with_header({"a": entry(["F32"])}), r"a: dtype is \['F32'\], expected one of F64"),
        (with_header({"a": entry(shape=[-2])}), r"a: shape is \[-2\], expected nonnegative integers"),
        (with_header({"a": entry(shape=[True, 2])}), "expected nonnegative integers"),
        (with_header({"a": entry(shape=[2.0])}), "expected nonnegative integers"),
        (with_header({"a": entry(offsets=[8])}), r"a: data_offsets is \[8\], expected two nonnegative integers"),
        (with_header({"a": entry(offsets=[0, "8"])}), "expected two nonnegative integers"),
        (with_header({"a": entry(shape=[3])}), r"a: has 8 bytes, expected 12 for the shape \[3\]"),
        (with_header({"a": entry(shape=[2**62, 2**62])}), "a: has 8 bytes, expected "),
        (with_header({"a": entry(shape=[0, 2**70], offsets=[0, 0])}), r"an integer has 22 digits, expected at most 20"),
        (with_header({"a": entry(shape=[0, 2**60], offsets=[0, 0])}), r"shape is .*, which is too large"),
        (with_header({"a": entry(shape=[1] * 40 + [2])}), r"shape is .*, which is too large for an array"),
        (with_header({"a": entry(offsets=[8, 16])}, b"\0" * 16), "a tensor ends at byte 0 and the next begins at 8"),
        (with_header({"a": entry()}, b"\0" * 7), "a tensor ends at byte 8 and the next begins at 7"),
        (with_header({"a": entry()}, b"\0" * 9), "a tensor ends at byte 8 and the next begins at 9"),
        (with_header({"a": entry(), "b": entry()}), "a tensor ends at byte 8 and the next begins at 0"),
        (with_header({"a": entry("BOOL", [8])}, b"\0\1\1\0\2\0\0\0"), "a: a boolean is 2, expected 0 or 1"),
    ],
)
def test_errors_are_one_line(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ReplayError, match=message) as caught:
        map_tensors(path)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_an_unreadable_file_raises_a_replay_error(tmp_path):
    with pytest.raises(ReplayError, match="cannot be read: No such file"):
        map_tensors(tmp_path / "nowhere")
    with pytest.raises(ReplayError, match="cannot be read: Is a directory"):
        map_tensors(tmp_path)


def test_overlapping_tensors_are_rejected(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(with_header({"a": entry(), "b": entry(shape=[1], offsets=[4, 8])}))
    with pytest.raises(ReplayError, match="a tensor ends at byte 8 and the next begins at 4"):
        map_tensors(path)
