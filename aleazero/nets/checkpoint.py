"""Checkpoints: the weights of a network and their metadata in one safetensors file, which is written atomically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aleazero.errors import CheckpointError, ConfigError, ContractError
from aleazero.files import os_errors_as, write_file
from aleazero.games.base import Game
from aleazero.games.kit import TupleShape
from aleazero.nets.config import NetConfig, NetShape, ValueNetConfig, ValueScale, num_outputs, residual_shapes
from aleazero.nets.outcome import Column, FeatureShape
from aleazero.nets.tables import TupleTables
from aleazero.nets.value_net import FlatNet, Floats, make_value_net
from aleazero.settings import Settings, config_error
from aleazero.untrusted import parse_json, read_regular
from aleazero.version import VERSION

FORMAT: Final = 2
"""Version of the file format."""
KEY: Final = "aleazero"
"""Key of the metadata in the file's header."""
MOST_CELLS: Final = 4096
"""Maximum number of cells of a board and of values of a cell. A file with more is treated as damaged."""
Weights = Mapping[str, NDArray[np.float32]]
_Row = Annotated[tuple[int, ...], Field(strict=False)]
_Rows = Annotated[tuple[_Row, ...], Field(strict=False)]


class CheckpointInfo(BaseModel):
    """Metadata common to all checkpoints."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    content: ClassVar[str]
    """What the file contains, for error messages."""
    format: int = FORMAT
    game: str
    params: dict[str, Any]
    rules_version: int
    observation_schema: str
    shape: NetShape
    step: int = Field(0, ge=0)
    """Number of training steps."""
    code_version: str = ""
    training: dict[str, Any] = Field(default_factory=dict)
    """The training settings, and further notes of the program that wrote the file."""


class PolicyValueInfo(CheckpointInfo):
    """Metadata of a policy-value network."""

    content = "a policy-value network"
    net: NetConfig
    values: ValueScale

    @classmethod
    def of(
        cls, game: Game, net: NetConfig, values: ValueScale, step: int = 0, training: Mapping[str, Any] | None = None
    ) -> PolicyValueInfo:
        """Return the metadata of a network for this game."""
        return cls(net=net, values=values, step=step, training=dict(training or {}), **_game_info(game))

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight by name."""
        net, outputs = self.net, num_outputs(self.shape, self.net)
        return residual_shapes(self.shape.observation, net.width, net.blocks, net.layer_norm, outputs)


class ValueInfo(CheckpointInfo):
    """Metadata of a value network."""

    content = "a value network"
    net: ValueNetConfig
    features: FeatureShape
    feature_schema: str
    """Name of the layout of the features."""
    columns: tuple[Column, ...] = Field(strict=False)

    @classmethod
    def of(
        cls,
        game: Game,
        net: ValueNetConfig,
        features: FeatureShape,
        feature_schema: str,
        columns: tuple[Column, ...],
        step: int = 0,
        training: Mapping[str, Any] | None = None,
    ) -> ValueInfo:
        """Return the metadata of a value network for this game."""
        return cls(
            net=net,
            features=features,
            feature_schema=feature_schema,
            columns=columns,
            step=step,
            training=dict(training or {}),
            **_game_info(game),
        )

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight by name."""
        return make_value_net(self.net, self.features, self.columns).shapes()


class TableConfig(Settings):
    """Shape of n-tuple tables: the fields of ``games.kit.TupleShape``."""

    kind: Literal["tuples"] = "tuples"
    cells: int = Field(ge=1, le=MOST_CELLS)
    values: int = Field(ge=2, le=MOST_CELLS)
    tuples: _Rows
    symmetries: _Rows

    def tuple_shape(self) -> TupleShape:
        """Return the shape as games define it."""
        try:
            return TupleShape(self.cells, self.values, self.tuples, self.symmetries)
        except ContractError as error:
            raise CheckpointError(str(error)) from None


class TableInfo(CheckpointInfo):
    """Metadata of n-tuple tables. Only nonzero entries are stored."""

    content = "n-tuple tables"
    net: TableConfig

    @classmethod
    def of(cls, game: Game, shape: TupleShape, step: int = 0, training: Mapping[str, Any] | None = None) -> TableInfo:
        """Return the metadata of tables for this game."""
        net = TableConfig(**asdict(shape))
        return cls(net=net, step=step, training=dict(training or {}), **_game_info(game))


Info = TypeVar("Info", PolicyValueInfo, ValueInfo, TableInfo)


def write_checkpoint(
    path: Path, weights: Mapping[str, NDArray[Any]], about: PolicyValueInfo | ValueInfo | TableInfo
) -> None:
    """Write weights and metadata. Equal content gives a byte-identical file."""
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(weights[name]) for name in sorted(weights)}
    if not isinstance(about, TableInfo):
        tensors = {name: array.astype(np.float32, copy=False) for name, array in tensors.items()}
    for name, array in tensors.items():
        if not np.isfinite(array).all():
            raise CheckpointError(f"{name} has non-finite weights, {path} was not written")
    data = save(tensors, metadata={KEY: about.model_dump_json()})
    write_file(path, data, CheckpointError)


def load_value_net(
    path: str | Path, game: Game, features: FeatureShape | None = None, feature_schema: str | None = None
) -> tuple[FlatNet, Floats, ValueInfo]:
    """Load a value network, its parameter vector and its metadata; it must match the game and the given features."""
    weights, about = read_checkpoint(Path(path), ValueInfo)
    require_match(about, game, str(path))
    if feature_schema is not None:
        require_same("feature_schema", about.feature_schema, feature_schema, f"{game!r}", str(path))
    if features is not None:
        require_same("features", about.features, features, f"{game!r}", str(path))
    net = make_value_net(about.net, about.features, about.columns)
    return net, net.flatten(weights), about


def load_tables(path: str | Path, game: Game) -> TupleTables:
    """Load n-tuple tables that were trained on this game."""
    tensors, about = read_checkpoint(Path(path), TableInfo)
    require_match(about, game, str(path))
    try:
        return TupleTables.from_tensors(about.net.tuple_shape(), tensors)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


def kind_of(path: Path) -> type[PolicyValueInfo] | type[ValueInfo] | type[TableInfo]:
    """Return the metadata class of a checkpoint, which identifies its content."""
    return type(_read_any(path)[1])


def read_checkpoint(path: Path, kind: type[Info]) -> tuple[dict[str, NDArray[Any]], Info]:
    """Return the weights and the metadata of a checkpoint; raise an error if it has another kind of content."""
    weights, about = _read_any(path)
    if not isinstance(about, kind):
        raise CheckpointError(f"{path} contains {about.content}, expected {kind.content}")
    return weights, about


def _read_any(path: Path) -> tuple[dict[str, NDArray[Any]], PolicyValueInfo | ValueInfo | TableInfo]:
    """Read a file and check that it contains exactly the weights that its metadata describes."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    with os_errors_as(CheckpointError, f"{path} cannot be read", "a checkpoint"):
        data = read_regular(path)
    try:
        weights = load(data)
        header = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path} is damaged or not a checkpoint: {str(error)[:200]}") from None
    written = header.get("__metadata__", {}).get(KEY)
    if written is None:
        raise CheckpointError(f"{path} is a safetensors file of another program, expected an aleazero checkpoint")
    try:
        found = parse_json(written)
        if found.get("format") != FORMAT:
            raise CheckpointError(f"{path} has format {found.get('format')!r}, expected {FORMAT}")
        named = found["net"].get("kind")  # absent in policy-value networks
        kind = PolicyValueInfo if named is None else TableInfo if named == "tuples" else ValueInfo
        about = kind.model_validate(found)
    except ValidationError as error:
        raise CheckpointError(f"{path} has invalid metadata: {config_error(kind, error)}") from None
    except (ConfigError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} has invalid metadata: {str(error).splitlines()[0]}") from None
    if not isinstance(about, TableInfo):  # TupleTables.from_tensors checks the entries of tables
        _require_weights(path, weights, about)
    return weights, about


def require_match(about: CheckpointInfo, game: Game, what: str) -> None:
    """Raise an error if a network was trained on another game, other rules or another observation."""
    expected = _game_info(game)
    for name in ("game", "params", "rules_version", "observation_schema", "shape"):
        require_same(name, getattr(about, name), expected[name], f"{game!r}", what)


def require_same(name: str, got: Any, wanted: Any, owner: str, what: str) -> None:
    """Raise an error that names the field if its value differs from the one that ``owner`` needs."""
    if got != wanted:
        raise CheckpointError(f"{what} has {name} {_text(got)}, expected {_text(wanted)} for {owner}")


def _text(value: Any) -> str:
    return str(value) if isinstance(value, Settings) else repr(value)


def _game_info(game: Game) -> dict[str, Any]:
    """Return the metadata that binds a network to a game."""
    return {
        "game": game.name,
        "params": game.json_params(CheckpointError),
        "rules_version": game.info.version,
        "observation_schema": game.info.observation_schema,
        "shape": NetShape.of(game),
        "code_version": VERSION,
    }


def _require_weights(path: Path, weights: Weights, about: PolicyValueInfo | ValueInfo) -> None:
    wanted = about.weight_shapes()
    if set(weights) != set(wanted):
        odd = sorted(set(weights) ^ set(wanted))
        raise CheckpointError(f"{path} has weights that do not match its metadata ({odd[0]}), expected {len(wanted)}")
    for name, shape in wanted.items():
        if weights[name].shape != shape or weights[name].dtype != np.float32:
            got = f"{weights[name].dtype} {weights[name].shape}"
            raise CheckpointError(f"{path}: {name} is {got}, expected float32 {shape}")
        if not np.isfinite(weights[name]).all():
            raise CheckpointError(f"{path}: {name} has non-finite weights")
