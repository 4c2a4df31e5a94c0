"""Checkpoints: a network's weights and what they belong to, in one safetensors file that is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aleazero.errors import CheckpointError, ConfigError
from aleazero.files import write_whole
from aleazero.games.base import Game
from aleazero.nets.config import NetConfig, NetShape, ValueScale, num_outputs
from aleazero.version import VERSION

FORMAT: Final = 1
"""Version of the file format."""
KEY: Final = "aleazero"
"""Where the metadata stands in the file's header."""
Weights = Mapping[str, NDArray[np.float32]]


class Metadata(BaseModel):
    """What a checkpoint says of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: int = FORMAT
    game: str
    params: dict[str, Any]
    rules_version: int
    observation_schema: str
    shape: NetShape
    net: NetConfig
    values: ValueScale
    step: int = Field(0, ge=0)
    """Training steps behind it."""
    code_version: str = ""
    training: dict[str, Any] = Field(default_factory=dict)
    """The settings it was trained with, and whatever else its maker notes."""

    @classmethod
    def of(
        cls, game: Game, net: NetConfig, values: ValueScale, step: int = 0, training: Mapping[str, Any] | None = None
    ) -> Metadata:
        """What there is to say of a network for this game."""
        return cls(
            game=game.name,
            params=_as_json(game),
            rules_version=game.info.version,
            observation_schema=game.info.observation_schema,
            shape=NetShape.of(game),
            net=net,
            values=values,
            step=step,
            code_version=VERSION,
            training=dict(training or {}),
        )


def _as_json(game: Game) -> dict[str, Any]:
    """The game's parameters as they come back from a file."""
    try:
        params: dict[str, Any] = json.loads(json.dumps(game.params, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{game!r}: parameters must be JSON to be stored, got one that is not: {error}") from None
    return params


def write_checkpoint(path: Path, weights: Weights, about: Metadata) -> None:
    """Write weights and metadata; the same ones give the same bytes."""
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(weights[name], np.float32) for name in sorted(weights)}
    for name, array in tensors.items():
        if not np.isfinite(array).all():
            raise CheckpointError(f"{name} has numbers that are not finite, expected weights: {path} is not written")
    data = save(tensors, metadata={KEY: about.model_dump_json()})
    try:
        write_whole(path, [data])
    except OSError as error:
        raise CheckpointError(f"{path} cannot be written: {error.strerror or error}") from None


def read_checkpoint(path: Path) -> tuple[dict[str, NDArray[np.float32]], Metadata]:
    """Weights and metadata of a file that holds exactly what its metadata say."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}, expected a checkpoint") from None
    try:
        weights = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path} is damaged or no checkpoint: {str(error)[:200]}") from None
    written = header.get("__metadata__", {}).get(KEY)
    if written is None:
        raise CheckpointError(f"{path} is a safetensors file of something else, expected a checkpoint of aleazero")
    try:
        found = json.loads(written)
        if found.get("format") != FORMAT:
            raise CheckpointError(f"{path} has format {found.get('format')!r}, expected {FORMAT}")
        about = Metadata.model_validate(found)
    except (ConfigError, ValidationError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{path} has metadata that make no sense: {str(error).splitlines()[0]}") from None
    _require_weights(path, weights, about)
    return weights, about


def _require_weights(path: Path, weights: Weights, about: Metadata) -> None:
    wanted = weight_shapes(about.shape, about.net)
    if set(weights) != set(wanted):
        odd = sorted(set(weights) ^ set(wanted))
        raise CheckpointError(f"{path} has other weights than its metadata say ({odd[0]}), expected {len(wanted)}")
    for name, shape in wanted.items():
        if weights[name].shape != shape or weights[name].dtype != np.float32:
            got = f"{weights[name].dtype} {weights[name].shape}"
            raise CheckpointError(f"{path}: {name} is {got}, expected float32 {shape}")
        if not np.isfinite(weights[name]).all():
            raise CheckpointError(f"{path}: {name} has numbers that are not finite")


def weight_shapes(shape: NetShape, net: NetConfig) -> dict[str, tuple[int, ...]]:
    """Every weight of such a network, by name: the names of torch's modules, rows are outputs."""
    found: dict[str, tuple[int, ...]] = {
        "input.weight": (net.width, shape.observation),
        "input.bias": (net.width,),
        "heads.weight": (num_outputs(shape, net), net.width),
        "heads.bias": (num_outputs(shape, net),),
    }
    for b in range(net.blocks):
        for layer in ("first", "second"):
            found[f"blocks.{b}.{layer}.weight"] = (net.width, net.width)
            found[f"blocks.{b}.{layer}.bias"] = (net.width,)
    if net.layer_norm:
        for norm in (*(f"blocks.{b}.norm" for b in range(net.blocks)), "norm"):
            found[f"{norm}.weight"] = found[f"{norm}.bias"] = (net.width,)
    return found


def require_match(about: Metadata, game: Game, what: str) -> None:
    """Refuse a network of another game, of other rules or of another observation, by name."""
    mine = Metadata.of(game, about.net, about.values)
    for name, wanted in (
        ("game", mine.game),
        ("params", mine.params),
        ("rules_version", mine.rules_version),
        ("observation_schema", mine.observation_schema),
        ("shape", mine.shape),
    ):
        got = getattr(about, name)
        if got != wanted:
            raise CheckpointError(f"{what} has {name} {_said(got)}, expected {_said(wanted)} for {game!r}")


def _said(value: Any) -> str:
    return str(value) if isinstance(value, NetShape) else repr(value)
