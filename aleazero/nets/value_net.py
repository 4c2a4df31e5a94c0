"""A value network of any kind, from its settings."""

from __future__ import annotations

from aleazero.errors import ConfigError
from aleazero.nets.columns import Column, FeatureShape
from aleazero.nets.flat import FlatNet
from aleazero.nets.mlp import Mlp
from aleazero.nets.towers import Towers
from aleazero.nets.value_config import ValueNetConfig


def make_value_net(config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> FlatNet:
    """The network that these settings describe."""
    if config.kind == "mlp":
        return Mlp(config, shape, columns)
    if config.kind == "towers":
        return Towers(config, shape, columns)
    raise ConfigError(f"kind is {config.kind!r}, expected mlp or towers")
