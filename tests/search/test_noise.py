"""The noise at the root has a Dirichlet distribution, and depends only on the key."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aleazero.games.base import CHANCE, DECISION
from aleazero.search.root import dirichlet_noise, mix_root_noise
from aleazero.search.tree.arrays import make_trees


@pytest.mark.parametrize("alpha", [0.1, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("count", [2, 7])
def test_marginals_are_beta(alpha: float, count: int) -> None:
    drawn = np.array([dirichlet_noise(1000 + key, alpha, count) for key in range(4000)])
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0, atol=1e-12)
    assert (drawn >= 0).all()
    for column in (0, count - 1):
        # One of 16 tests at 1e-4 each; seeded, so it holds or it does not.
        assert stats.kstest(drawn[:, column], stats.beta(alpha, alpha * (count - 1)).cdf).pvalue > 1e-4
    wanted = -1.0 / (count - 1)
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(wanted, abs=0.08)


def test_noise_depends_on_the_key_only() -> None:
    one = dirichlet_noise(5, 0.3, 20)
    np.testing.assert_array_equal(one, dirichlet_noise(5, 0.3, 20))
    assert not np.array_equal(one, dirichlet_noise(6, 0.3, 20))
    np.testing.assert_array_equal(dirichlet_noise(2**64 - 1, 0.3, 1), [1.0])


def test_noise_with_tiny_concentration_does_not_underflow() -> None:
    for key in range(50):
        shares = dirichlet_noise(key, 1e-4, 5)
        assert shares.sum() == pytest.approx(1.0)
        assert np.isfinite(shares).all()


@pytest.mark.parametrize("closed", [True, False])
def test_each_root_has_noise_by_its_own_key(closed: bool) -> None:
    trees = make_trees(3, 2, 8, 1, "int32", 1)
    trees.nodes.kind[:, 0] = DECISION, DECISION, CHANCE
    trees.nodes.num_edges[:, 0], trees.nodes.first_edge[:, 0] = (2, 5, 4), (0, 1, 0)
    trees.edges.prior[:] = 0.125
    mix_root_noise(trees.nodes, trees.edges, [1, 0, 2], [8, 9, 10], 0.3, 0.25, closed)
    for place, key, first, count in ((1, 8, 1, 5), (0, 9, 0, 2), (2, 10, 0, 0)):
        wanted = np.full(8, 0.125)
        if count:
            scale = 1.0 if closed else float(count)
            wanted[first : first + count] = 0.75 * 0.125 + 0.25 * dirichlet_noise(key, 0.3, count) * scale
        np.testing.assert_array_equal(trees.edges.prior[place], wanted)
