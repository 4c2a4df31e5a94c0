"""From a file to a network that answers."""

from __future__ import annotations

from pathlib import Path

from aleazero.errors import CheckpointError
from aleazero.games.base import Game
from aleazero.nets.checkpoint import (
    Metadata,
    TableMetadata,
    ValueMetadata,
    read_any_checkpoint,
    read_checkpoint,
    read_table_checkpoint,
    read_value_checkpoint,
    require_match,
    require_same,
)
from aleazero.nets.columns import FeatureShape
from aleazero.nets.flat import FlatNet, Floats
from aleazero.nets.inference import Net
from aleazero.nets.tuples import Tuples
from aleazero.nets.value_net import make_value_net


def load_net(path: str | Path, game: Game, inference: str = "onnxruntime") -> Net:
    """The network of a checkpoint, if it was trained on this game, by these rules, from these observations."""
    weights, about = read_checkpoint(Path(path))
    require_match(about, game, str(path))
    return Net(weights, about, inference)


def load_tables(path: str | Path, game: Game) -> Tuples:
    """The tables of a checkpoint, if they were taught this game."""
    tensors, about = read_table_checkpoint(Path(path))
    require_match(about, game, str(path))
    try:
        return Tuples.from_tensors(about.net.tuple_shape(), tensors)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None


def kind_of(path: Path) -> type[Metadata] | type[ValueMetadata] | type[TableMetadata]:
    """What a checkpoint holds, by the kind of what it says of itself."""
    return type(read_any_checkpoint(path)[1])


def load_value_net(
    path: str | Path, game: Game, features: FeatureShape | None = None, feature_schema: str | None = None
) -> tuple[FlatNet, Floats, ValueMetadata]:
    """The value network of a checkpoint and its parameters, if it was trained on this game and on these features."""
    weights, about = read_value_checkpoint(Path(path))
    require_match(about, game, str(path))
    if feature_schema is not None:
        require_same("feature_schema", about.feature_schema, feature_schema, f"{game!r}", str(path))
    if features is not None:
        require_same("features", about.features, features, f"{game!r}", str(path))
    net = make_value_net(about.net, about.features, about.columns)
    return net, net.flatten(weights), about
