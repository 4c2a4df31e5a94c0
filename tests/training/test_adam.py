"""Adam, compared with torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from aleazero.training import adam


@pytest.mark.parametrize("clip", [0.0, 1.5])
def test_it_equals_adam_of_torch(clip) -> None:
    rng = np.random.default_rng(1)
    theta = rng.normal(size=83).astype(np.float32)
    tensor = torch.from_numpy(theta.copy()).requires_grad_()
    optimizer = torch.optim.Adam([tensor], lr=0.03)
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for count in range(1, 21):
        grad = rng.normal(0, 0.1 * count, 83).astype(np.float32)
        tensor.grad = torch.from_numpy(grad / 4)
        if clip:
            torch.nn.utils.clip_grad_norm_([tensor], clip)
        optimizer.step()
        norm = adam.step(theta, grad, m, v, 0.03, count, clip=clip, shrink=0.25)
        assert math.isclose(norm, float(np.linalg.norm(grad / 4)), rel_tol=1e-6)
    np.testing.assert_allclose(theta, tensor.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_a_running_average() -> None:
    mean, theta = np.zeros(3, np.float32), np.array([1, 2, 4], np.float32)
    adam.average(mean, theta, 0.25)
    np.testing.assert_allclose(mean, theta / 4)
    adam.average(mean, theta, 1.0)
    np.testing.assert_allclose(mean, theta)
