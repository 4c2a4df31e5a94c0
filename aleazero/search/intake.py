"""Intake: an evaluator's answer, checked and copied in one go, without Python's lock.

numpy would take the lock up again after each of a dozen small steps, and threads that share it would queue there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aleazero.native.compile import cached_njit


@cached_njit(nogil=True)
def take_in(logits: Any, values: Any, masks: Any, rows: int, logits_out: Any, values_out: Any) -> bool:
    """Copy the first rows; whether their values are finite and the logits of their legal actions can be used."""
    usable = True
    for row in range(rows):
        for p in range(values.shape[1]):
            value = np.float64(values[row, p])
            values_out[row, p] = value
            usable = usable and np.isfinite(value)
        decides = False
        some_finite = False
        for action in range(logits.shape[1]):
            logit = np.float64(logits[row, action])
            logits_out[row, action] = logit
            if masks[row, action]:
                decides = True
                some_finite = some_finite or np.isfinite(logit)
                usable = usable and not np.isnan(logit) and logit != np.inf
        usable = usable and (some_finite or not decides)
    return usable


def is_answer(answer: Any, *shapes: tuple[int, ...]) -> bool:
    """Whether an answer is logits and values as they should be; one that is not may still be made so."""
    return (
        isinstance(answer, tuple)
        and len(answer) == len(shapes)
        and all(isinstance(part, np.ndarray) and part.dtype in (np.float32, np.float64) for part in answer)
        and tuple(part.shape for part in answer) == shapes
    )
