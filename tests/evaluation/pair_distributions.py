"""Distributions of pairs of equal players: probabilities of the scores 0, ¼, ½, ¾ and 1."""

from __future__ import annotations

import numpy as np

from aleazero.evaluation.gate_rules import shifted

SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
PAIRS = {
    "independent games": [0.25, 0.0, 0.5, 0.0, 0.25],
    "with draws": [0.16, 0.08, 0.52, 0.08, 0.16],
    "few decisive": [0.1, 0.15, 0.5, 0.15, 0.1],
    "shared dice": [0.05, 0.02, 0.86, 0.02, 0.05],
    "nearly always split": [0.01, 0.0, 0.98, 0.0, 0.01],
}


def draw(name, mean, gates, pairs, seed=0):
    """Return (gates, pairs) scores with the shape of a distribution and a given mean."""
    like = np.repeat(SCORES, np.round(100 * np.array(PAIRS[name])).astype(int))
    values, chances = shifted(like, mean, (0.0, 1.0))
    rng = np.random.Generator(np.random.Philox(key=seed))
    return values[np.searchsorted(np.cumsum(chances)[:-1], rng.random((gates, pairs)), side="right")]
