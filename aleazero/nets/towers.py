"""Towers, compiled: for duels decided by score, one tower that values each seat's block, and a small joint layer.

A tower says what its seat is expected to score from here on, m. The joint layer corrects that (y₁) and says how a
margin turns into wins (y₂, y₀). With the margin column's scale s, and the mean of the others where there are several:

    margin = lead + (m_own - m_other + y₁) · s
    win = tanh(margin / 2s · exp(y₂) + y₀)

The margin's target is the margin at the end.
"""

from __future__ import annotations

import math

import numpy as np

from aleazero.errors import ConfigError
from aleazero.nets.columns import Column, FeatureShape
from aleazero.nets.flat import FlatNet, Part, layer_parts
from aleazero.nets.value_config import ValueNetConfig
from aleazero.nets.value_kernels import towers_forward, towers_gradient


class Towers(FlatNet):
    """A shared tower over each seat's block, and a joint layer."""

    def __init__(self, config: ValueNetConfig, shape: FeatureShape, columns: tuple[Column, ...]) -> None:
        if tuple(column.link for column in columns) != ("tanh", "linear"):
            said = ", ".join(f"{column.name} ({column.link})" for column in columns) or "none"
            raise ConfigError(f"columns of towers are {said}, expected a win (tanh) and a margin (linear)")
        if shape.seats < 2 or shape.block < 1 or shape.lead is None:
            raise ConfigError(f"features of towers are {shape}, expected blocks of at least 2 seats and a lead")
        sizes, joint = (shape.block, *config.hidden), config.joint
        last = sizes[-1]
        spread = 1.0 / math.sqrt(last)
        parts = [
            *layer_parts("tower", sizes),
            Part("margin.weight", (1, last)),
            Part("margin.bias", (1,)),
            *([Part("skip.weight", (1, shape.block))] if config.skip else []),
            Part("own.weight", (joint, last), turned=True, spread=spread),
            Part("others.weight", (joint, last), turned=True, spread=spread),
            Part("common.weight", (joint, shape.common), turned=True, spread=1.0 / math.sqrt(shape.common)),
            Part("common.bias", (joint,), spread=spread),
            Part("heads.weight", (3, joint)),
            Part("heads.bias", (3,)),
        ]
        super().__init__(config, shape, columns, parts)
        lead = shape.seats * shape.block + shape.lead
        told = (config.skip, config.sparse, shape.seats, joint, lead, shape.lead_unit)
        self.settings = (np.array(sizes, np.int64), self.table, *told)
        self.kernels = towers_forward, towers_gradient
