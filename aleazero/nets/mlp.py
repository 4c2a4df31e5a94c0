"""A small multilayer perceptron, compiled: features of afterstates to columns of the outcome."""

from __future__ import annotations

import numpy as np

from aleazero.nets.columns import Column, FeatureShape
from aleazero.nets.flat import FlatNet, Part, layer_parts
from aleazero.nets.value_config import ValueNetConfig
from aleazero.nets.value_kernels import mlp_forward, mlp_gradient


class Mlp(FlatNet):
    """Layers of ReLU from the features to the columns, and a straight line beside them."""

    def __init__(self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> None:
        sizes = (shape.features, *config.hidden)
        outs = len(columns)
        parts = [*layer_parts("layers", sizes), Part("heads.weight", (outs, sizes[-1])), Part("heads.bias", (outs,))]
        if config.skip:
            parts.append(Part("skip.weight", (outs, shape.features)))
        super().__init__(config, shape, columns, parts)
        self.settings = (np.array(sizes, np.int64), self.table, config.skip, config.sparse)
        self.kernels = mlp_forward, mlp_gradient
