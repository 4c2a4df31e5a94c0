"""A value network of any kind, from its settings."""

from __future__ import annotations

from aleazero.errors import ConfigError
from aleazero.nets.columns import Column, FeatureShape
from aleazero.nets.flat import FlatNet
from aleazero.nets.mlp import Mlp
from aleazero.nets.towers import Towers
from aleazero.nets.value_config import ValueNetConfig
from aleazero.nets.value_torch import TorchNet

_KINDS: dict[str, type[Mlp] | type[Towers] | type[TorchNet]] = {"mlp": Mlp, "towers": Towers, "torch": TorchNet}


def make_value_net(config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> FlatNet:
    """The network that these settings describe."""
    if not columns:
        raise ConfigError("a value network has no columns, expected at least one")
    return _KINDS[config.kind](config, shape, columns)


def value_weight_shapes(
    config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]
) -> dict[str, tuple[int, ...]]:
    """Every weight of such a network, by name."""
    return make_value_net(config, shape, columns).shapes()
