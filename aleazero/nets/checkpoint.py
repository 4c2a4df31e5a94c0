"""Checkpoints: the weights of a network and its metadata, in one safetensors file that is written atomically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal

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
from aleazero.nets.value_net import FlatNet, Floats, make_value_net, value_weight_shapes
from aleazero.settings import Settings, config_error
from aleazero.untrusted import parse_json, read_regular
from aleazero.version import VERSION

FORMAT: Final = 2
"""Version of the file format."""
KEY: Final = "aleazero"
"""Where the metadata stands in the file's header."""
MOST_CELLS: Final = 4096
"""Most cells of a board, and most values of a cell: a file that names more is damaged."""
Weights = Mapping[str, NDArray[np.float32]]
_Row = Annotated[tuple[int, ...], Field(strict=False)]
_Rows = Annotated[tuple[_Row, ...], Field(strict=False)]


class CheckpointInfo(BaseModel):
    """What any checkpoint says of itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: int = FORMAT
    game: str
    params: dict[str, Any]
    rules_version: int
    observation_schema: str
    shape: NetShape
    step: int = Field(0, ge=0)
    """Training steps behind it."""
    code_version: str = ""
    training: dict[str, Any] = Field(default_factory=dict)
    """The settings it was trained with, and whatever else its maker notes."""


class PolicyValueInfo(CheckpointInfo):
    """What the checkpoint of a network of policy and value says of itself."""

    net: NetConfig
    values: ValueScale

    @classmethod
    def of(
        cls, game: Game, net: NetConfig, values: ValueScale, step: int = 0, training: Mapping[str, Any] | None = None
    ) -> PolicyValueInfo:
        """What there is to say of a network for this game."""
        return cls(net=net, values=values, step=step, training=dict(training or {}), **_about_game(game))

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Every weight that belongs to it, by name."""
        return weight_shapes(self.shape, self.net)


class ValueInfo(CheckpointInfo):
    """What the checkpoint of a value network says of itself."""

    net: ValueNetConfig
    features: FeatureShape
    feature_schema: str
    """The name of what the features mean."""
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
        """What there is to say of a value network for this game."""
        return cls(
            net=net,
            features=features,
            feature_schema=feature_schema,
            columns=columns,
            step=step,
            training=dict(training or {}),
            **_about_game(game),
        )

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        """Every weight that belongs to it, by name."""
        return value_weight_shapes(self.net, self.features, self.columns)


class TableConfig(Settings):
    """Tables over tuples of cells, as ``games.kit.TupleShape`` describes them."""

    kind: Literal["tuples"] = "tuples"
    cells: int = Field(ge=1, le=MOST_CELLS)
    values: int = Field(ge=2, le=MOST_CELLS)
    tuples: _Rows
    symmetries: _Rows

    def tuple_shape(self) -> TupleShape:
        """The same as a game would say it."""
        try:
            return TupleShape(self.cells, self.values, self.tuples, self.symmetries)
        except ContractError as error:
            raise CheckpointError(str(error)) from None


class TableInfo(CheckpointInfo):
    """What the checkpoint of tables over tuples of cells says of itself; only entries that are not zero are stored."""

    net: TableConfig

    @classmethod
    def of(cls, game: Game, shape: TupleShape, step: int = 0, training: Mapping[str, Any] | None = None) -> TableInfo:
        """What there is to say of tables for this game."""
        net = TableConfig(**asdict(shape))
        return cls(net=net, step=step, training=dict(training or {}), **_about_game(game))


def write_checkpoint(
    path: Path, weights: Mapping[str, NDArray[Any]], about: PolicyValueInfo | ValueInfo | TableInfo
) -> None:
    """Write weights and metadata; the same ones give the same bytes."""
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(weights[name]) for name in sorted(weights)}
    if not isinstance(about, TableInfo):
        tensors = {name: array.astype(np.float32, copy=False) for name, array in tensors.items()}
    for name, array in tensors.items():
        if not np.isfinite(array).all():
            raise CheckpointError(f"{name} has numbers that are not finite, expected weights: {path} is not written")
    data = save(tensors, metadata={KEY: about.model_dump_json()})
    write_file(path, data, CheckpointError)


def load_value_net(
    path: str | Path, game: Game, features: FeatureShape | None = None, feature_schema: str | None = None
) -> tuple[FlatNet, Floats, ValueInfo]:
    """The value network of a checkpoint and its parameters, if it was trained on this game and on these features."""
    weights, about = read_value_checkpoint(Path(path))
    require_match(about, game, str(path))
    if feature_schema is not None:
        require_same("feature_schema", about.feature_schema, feature_schema, f"{game!r}", str(path))
    if features is not None:
        require_same("features", about.features, features, f"{game!r}", str(path))
    net = make_value_net(about.net, about.features, about.columns)
    return net, net.flatten(weights), about


def load_tables(path: str | Path, game: Game) -> TupleTables:
    """The tables of a checkpoint, if they were taught this game."""
    tensors, about = read_table_checkpoint(Path(path))
    require_match(about, game, str(path))
    try:
        return TupleTables.from_tensors(about.net.tuple_shape(), tensors)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


def kind_of(path: Path) -> type[PolicyValueInfo] | type[ValueInfo] | type[TableInfo]:
    """What a checkpoint holds, by the kind of what it says of itself."""
    return type(read_any_checkpoint(path)[1])


def read_checkpoint(path: Path) -> tuple[dict[str, NDArray[np.float32]], PolicyValueInfo]:
    """Weights and metadata of a network of policy and value."""
    weights, about = read_any_checkpoint(path)
    if not isinstance(about, PolicyValueInfo):
        raise CheckpointError(f"{path} is {_kind(about)}, expected one of policy and value")
    return weights, about


def read_value_checkpoint(path: Path) -> tuple[dict[str, NDArray[np.float32]], ValueInfo]:
    """Weights and metadata of a value network."""
    weights, about = read_any_checkpoint(path)
    if not isinstance(about, ValueInfo):
        raise CheckpointError(f"{path} is {_kind(about)}, expected a value network")
    return weights, about


def read_table_checkpoint(path: Path) -> tuple[dict[str, NDArray[Any]], TableInfo]:
    """Entries and metadata of tables."""
    tensors, about = read_any_checkpoint(path)
    if not isinstance(about, TableInfo):
        raise CheckpointError(f"{path} is {_kind(about)}, expected tables over tuples of cells")
    return tensors, about


def read_any_checkpoint(path: Path) -> tuple[dict[str, NDArray[Any]], PolicyValueInfo | ValueInfo | TableInfo]:
    """Weights and metadata of a file that holds exactly what its metadata say."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    with os_errors_as(CheckpointError, f"{path} cannot be read", "a checkpoint"):
        data = read_regular(path)
    try:
        weights = load(data)
        header = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path} is damaged or no checkpoint: {str(error)[:200]}") from None
    written = header.get("__metadata__", {}).get(KEY)
    if written is None:
        raise CheckpointError(f"{path} is a safetensors file of something else, expected a checkpoint of aleazero")
    try:
        found = parse_json(written)
        if found.get("format") != FORMAT:
            raise CheckpointError(f"{path} has format {found.get('format')!r}, expected {FORMAT}")
        named = found["net"].get("kind")  # networks of policy and value name none
        kind = PolicyValueInfo if named is None else TableInfo if named == "tuples" else ValueInfo
        about = kind.model_validate(found)
    except ValidationError as error:
        raise CheckpointError(f"{path} has metadata that make no sense: {config_error(kind, error)}") from None
    except (ConfigError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} has metadata that make no sense: {str(error).splitlines()[0]}") from None
    if not isinstance(about, TableInfo):  # tables look at their entries themselves
        _require_weights(path, weights, about)
    return weights, about


def weight_shapes(shape: NetShape, net: NetConfig) -> dict[str, tuple[int, ...]]:
    """Every weight of such a network, by name."""
    return residual_shapes(shape.observation, net.width, net.blocks, net.layer_norm, num_outputs(shape, net))


def require_match(about: CheckpointInfo, game: Game, what: str) -> None:
    """Refuse a network of another game, of other rules or of another observation, by name."""
    mine = _about_game(game)
    for name in ("game", "params", "rules_version", "observation_schema", "shape"):
        require_same(name, getattr(about, name), mine[name], f"{game!r}", what)


def require_same(name: str, got: Any, wanted: Any, owner: str, what: str) -> None:
    """Refuse a network where what it says differs from what its owner needs, by name."""
    if got != wanted:
        raise CheckpointError(f"{what} has {name} {_said(got)}, expected {_said(wanted)} for {owner}")


def _about_game(game: Game) -> dict[str, Any]:
    """What ties a network to a game."""
    return {
        "game": game.name,
        "params": game.json_params(CheckpointError),
        "rules_version": game.info.version,
        "observation_schema": game.info.observation_schema,
        "shape": NetShape.of(game),
        "code_version": VERSION,
    }


def _kind(about: CheckpointInfo) -> str:
    if isinstance(about, ValueInfo):
        return f"a value network ({about.net.kind})"
    return "a network of policy and value" if isinstance(about, PolicyValueInfo) else "tables over tuples of cells"


def _require_weights(path: Path, weights: Weights, about: PolicyValueInfo | ValueInfo) -> None:
    wanted = about.weight_shapes()
    if set(weights) != set(wanted):
        odd = sorted(set(weights) ^ set(wanted))
        raise CheckpointError(f"{path} has other weights than its metadata say ({odd[0]}), expected {len(wanted)}")
    for name, shape in wanted.items():
        if weights[name].shape != shape or weights[name].dtype != np.float32:
            got = f"{weights[name].dtype} {weights[name].shape}"
            raise CheckpointError(f"{path}: {name} is {got}, expected float32 {shape}")
        if not np.isfinite(weights[name]).all():
            raise CheckpointError(f"{path}: {name} has numbers that are not finite")


def _said(value: Any) -> str:
    return str(value) if isinstance(value, Settings) else repr(value)
