"""The network in torch: what is trained."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from aleazero.nets.config import NetConfig, NetShape, num_outputs
from aleazero.nets.graph import EPSILON


class Block(nn.Module):
    """Two layers beside the trunk."""

    def __init__(self, width: int, layer_norm: bool) -> None:
        super().__init__()
        self.norm = _norm(width, layer_norm)
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, trunk: Tensor) -> Tensor:
        """The trunk, with what the block adds."""
        added: Tensor = self.second(torch.relu(self.first(self.norm(trunk))))
        return trunk + added


class Body(nn.Module):
    """A residual multilayer perceptron; all heads are one layer."""

    def __init__(self, shape: NetShape, config: NetConfig) -> None:
        super().__init__()
        self.shape, self.config = shape, config
        self.input = nn.Linear(shape.observation, config.width)
        self.blocks = nn.ModuleList(Block(config.width, config.layer_norm) for _ in range(config.blocks))
        self.norm = _norm(config.width, config.layer_norm)
        self.heads = nn.Linear(config.width, num_outputs(shape, config))

    def forward(self, observations: Tensor) -> Tensor:
        """All heads, side by side."""
        trunk = self.input(observations)
        for block in self.blocks:
            trunk = block(trunk)
        heads: Tensor = self.heads(torch.relu(self.norm(trunk)))
        return heads


def _norm(width: int, wanted: bool) -> nn.Module:
    return nn.LayerNorm(width, eps=EPSILON) if wanted else nn.Identity()


def make_body(shape: NetShape, config: NetConfig, seed: int) -> Body:
    """A body with first weights: no action is preferred and values are near the middle, whatever the seed."""
    state = torch.random.get_rng_state()
    try:
        torch.manual_seed(seed)
        body = Body(shape, config)
        with torch.no_grad():
            body.heads.weight.mul_(0.1)
            body.heads.bias.zero_()
    finally:
        torch.random.set_rng_state(state)
    return body


def weights_of(body: nn.Module) -> dict[str, NDArray[np.float32]]:
    """A copy of the weights, by name."""
    return {name: np.array(tensor.detach().cpu().numpy()) for name, tensor in body.state_dict().items()}
