"""Compiled passes of ``mlp`` and ``towers``, forward and backward. One file: numba's cache looks at no other.

Everything is one step, ``_add_rows``: a weighted sum of a matrix's rows, over those whose weight is not 0. Layers stand
(in, out), so a layer adds rows of weights; what comes back adds rows of the turned weights; a gradient adds rows of
what came back. Numbers of a row are added in an order of its own, whatever its neighbours.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from aleazero.jit import compile_and_keep

CHUNK: Final = 32
"""Rows that pass through a layer together, while its weights are at hand."""
ZERO: Final = np.float32(0)
"""A plain 0 would make every comparison one of float64."""
_compile = compile_and_keep(nogil=True, error_model="numpy", boundscheck=False, fastmath={"contract"})


@_compile
def _pick(matrix: Any, row: int, size: int, every: bool, picked: Any, kept: Any) -> int:
    """List where a row is not 0, and what stands there; returns how many."""
    count = 0
    for i in range(size):
        picked[count] = i
        kept[count] = matrix[row, i]
        count += 1 if every or matrix[row, i] != ZERO else 0
    return count


@_compile
def _add_rows(out: Any, to: int, width: int, picked: Any, kept: Any, count: int, matrix: Any) -> None:
    """Add the picked rows of a matrix, each times what was kept of it, to a row of ``out``."""
    fours = count // 4 * 4
    for n in range(0, fours, 4):
        i0, i1, i2, i3 = picked[n], picked[n + 1], picked[n + 2], picked[n + 3]
        x0, x1, x2, x3 = kept[n], kept[n + 1], kept[n + 2], kept[n + 3]
        for j in range(width):
            total = out[to, j] + x0 * matrix[i0, j]
            total += x1 * matrix[i1, j]
            total += x2 * matrix[i2, j]
            out[to, j] = total + x3 * matrix[i3, j]
    for n in range(fours, count):
        i0, x0 = picked[n], kept[n]
        for j in range(width):
            out[to, j] += x0 * matrix[i0, j]


@compile_and_keep(nogil=True, boundscheck=False, fastmath={"contract", "reassoc"})
def _dot(one: Any, a: int, other: Any, b: int, width: int) -> Any:
    """The product of two rows. It is summed in lanes, in an order that only the width decides."""
    total = ZERO
    for j in range(width):
        total += one[a, j] * other[b, j]
    return total


@_compile
def _matrix(theta: Any, start: int, rows: int, width: int) -> Any:
    return theta[start : start + rows * width].reshape((rows, width))


@_compile
def _layers_size(sizes: Any) -> int:
    total = 0
    for layer in range(len(sizes) - 1):
        total += (sizes[layer] + 1) * sizes[layer + 1]
    return total


@_compile
def _layers_forward(theta: Any, sizes: Any, sparse: bool, acts: Any, count: int, picked: Any, kept: Any) -> None:
    """From ``acts[0]`` (rows, in) through all layers of ReLU; what each says stands in ``acts[layer + 1]``."""
    start = 0
    for layer in range(len(sizes) - 1):
        size, width = sizes[layer], sizes[layer + 1]
        weights = _matrix(theta, start, size, width)
        bias = theta[start + size * width : start + size * width + width]
        start += (size + 1) * width
        every = layer == 0 and not sparse
        inputs, out = acts[layer], acts[layer + 1]
        for row in range(count):
            for j in range(width):
                out[row, j] = bias[j]
            _add_rows(out, row, width, picked, kept, _pick(inputs, row, size, every, picked, kept), weights)
            for j in range(width):
                out[row, j] *= out[row, j] > ZERO  # a branch would be one number at a time; not-a-number stays


@_compile
def _turn(weights: Any, turned: Any) -> None:
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            turned[j, i] = weights[i, j]


@_compile
def _turn_layers(theta: Any, sizes: Any) -> Any:
    """The weights of all layers, each turned, where they stand in theta."""
    turned = np.zeros(len(theta), np.float32)
    start = 0
    for layer in range(len(sizes) - 1):
        size, width = sizes[layer], sizes[layer + 1]
        _turn(_matrix(theta, start, size, width), _matrix(turned, start, width, size))
        start += (size + 1) * width
    return turned


@_compile
def _add_products(grad: Any, inputs: Any, slopes: Any, count: int, picked: Any, kept: Any) -> None:
    """Add to a matrix (in, out) the inputs (rows, in) times the slopes (rows, out), summed over rows."""
    for i in range(grad.shape[0]):
        found = 0
        for row in range(count):
            picked[found] = row
            kept[found] = inputs[row, i]
            found += 1 if inputs[row, i] != ZERO else 0
        _add_rows(grad, i, grad.shape[1], picked, kept, found, slopes)


@_compile
def _multiply(inputs: Any, weights: Any, out: Any, count: int, picked: Any, kept: Any) -> None:
    """Inputs (rows, in) times weights (in, out); rows may be longer than that."""
    for row in range(count):
        for j in range(weights.shape[1]):
            out[row, j] = 0
        found = _pick(inputs, row, weights.shape[0], False, picked, kept)
        _add_rows(out, row, weights.shape[1], picked, kept, found, weights)


@_compile
def _layers_backward(turned: Any, sizes: Any, acts: Any, slopes: Any, count: int, grad: Any, picked: Any,
                     kept: Any) -> None:  # fmt: skip
    """From ``slopes[last]`` (rows, out) back through all layers, adding to their gradient."""
    start = _layers_size(sizes)
    for layer in range(len(sizes) - 2, -1, -1):
        size, width = sizes[layer], sizes[layer + 1]
        start -= (size + 1) * width
        said, above = acts[layer + 1], slopes[layer + 1]
        bias = grad[start + size * width : start + size * width + width]
        for row in range(count):
            for j in range(width):
                above[row, j] *= said[row, j] != ZERO
                bias[j] += above[row, j]
        _add_products(_matrix(grad, start, size, width), acts[layer], above, count, picked, kept)
        if layer > 0:
            _multiply(above, _matrix(turned, start, width, size), slopes[layer], count, picked, kept)


@_compile
def _huber(off: Any, delta: Any) -> Any:
    """Huber's loss, and its slope."""
    if abs(off) <= delta:
        return np.float64(0.5) * off * off, off
    return np.float64(delta) * (abs(off) - 0.5 * delta), delta if off > 0 else -delta


@_compile
def _cross_entropy(z: Any, target: Any) -> Any:
    """Of the logit 2z against (target + 1) / 2; and its slope by z."""
    twice = 2.0 * np.float64(z)
    loss = max(twice, 0.0) + math.log1p(math.exp(-abs(twice))) - 0.5 * (np.float64(target) + 1.0) * twice
    return loss, np.float32(math.tanh(z)) - target


@_compile
def _column_loss(z: Any, target: Any, columns: Any, k: int) -> Any:
    """The loss of column k where the network says z, and its slope by z."""
    wins, scale, weight, delta = columns[k, 0], columns[k, 1], columns[k, 2], columns[k, 3]
    if wins:
        loss, slope = _cross_entropy(z, target)
        return weight * loss, weight * slope
    loss, slope = _huber(scale * z - target, delta)  # by its own unit: the scale of the slope cancels
    return weight * loss / scale, weight * slope


@_compile
def _rows_of(phases: Any, phase: int, rows: int) -> Any:
    """The rows of a phase; without phases all are of the first."""
    found = np.empty(rows, np.int64)
    count = 0
    for row in range(rows):
        if len(phases) == 0 or phases[row] == phase:
            found[count] = row
            count += 1
    return found[:count]


@_compile
def _differs(features: Any, row: int, other: int, start: int, end: int) -> bool:
    """Whether two rows differ in these columns; not-a-number differs from itself."""
    for i in range(start, end):
        if features[row, i] != features[other, i]:
            return True
    return False


@_compile
def mlp_forward(theta: Any, sizes: Any, columns: Any, skip: bool, sparse: bool, features: Any, phases: Any,
                out: Any) -> None:  # fmt: skip
    """The columns (rows, K) of features (rows, F); ``theta`` has one row of parameters for each phase."""
    widest, size, layers, outs = sizes.max(), sizes[0], len(sizes) - 1, len(columns)
    width = sizes[layers]
    acts = np.empty((layers + 1, CHUNK, widest), np.float32)
    picked, kept = np.empty(widest + 1, np.uintp), np.empty(widest + 1, np.float32)
    held = np.empty(CHUNK, np.int64)
    start = _layers_size(sizes)
    for phase in range(len(theta)):
        own = theta[phase]
        heads, bias, line = _mlp_heads(own, start, outs, width, size, skip)
        rows = _rows_of(phases, phase, len(features))
        n = 0
        while n < len(rows):
            count = 0
            while n < len(rows):
                row = rows[n]
                if n == 0 or _differs(features, row, rows[n - 1], 0, size):
                    if count == CHUNK:
                        break
                    for i in range(size):
                        acts[0, count, i] = features[row, i]
                    held[count] = row
                    count += 1
                n += 1
            _layers_forward(own, sizes, sparse, acts, count, picked, kept)
            inputs, last = acts[0], acts[layers]
            for c in range(count):
                for k in range(outs):
                    z = bias[k] + _dot(heads, k, last, c, width)
                    if skip:
                        z += _dot(line, k, inputs, c, size)
                    out[held[c], k] = np.float32(math.tanh(z)) if columns[k, 0] else columns[k, 1] * z
        for n in range(1, len(rows)):
            if not _differs(features, rows[n], rows[n - 1], 0, size):
                for k in range(outs):
                    out[rows[n], k] = out[rows[n - 1], k]


@_compile
def _mlp_heads(theta: Any, start: int, outs: int, width: int, size: int, skip: bool) -> Any:
    """The weights (K, in) and bias of the output layer, and the line (K, F) beside the layers."""
    bias = start + outs * width
    line = bias + outs
    return _matrix(theta, start, outs, width), theta[bias:line], _matrix(theta, line, outs if skip else 0, size)


@_compile
def mlp_gradient(theta: Any, sizes: Any, columns: Any, skip: bool, sparse: bool, features: Any, phases: Any,
                 targets: Any, grad: Any, losses: Any) -> None:  # fmt: skip
    """Add the gradient of the summed loss to ``grad``, shaped as theta, and the losses to ``losses`` (K,)."""
    widest, size, layers, outs = sizes.max(), sizes[0], len(sizes) - 1, len(columns)
    width = sizes[layers]
    acts = np.empty((layers + 1, CHUNK, widest), np.float32)
    slopes = np.empty((layers + 1, CHUNK, widest), np.float32)
    room = max(widest, CHUNK, outs) + 1
    picked, kept = np.empty(room, np.uintp), np.empty(room, np.float32)
    back = np.empty((CHUNK, outs), np.float32)
    start = _layers_size(sizes)
    inputs, last = acts[0], acts[layers]
    for phase in range(len(theta)):
        rows = _rows_of(phases, phase, len(features))
        if len(rows) == 0:
            continue
        own, out = theta[phase], grad[phase]
        turned = _turn_layers(own, sizes)
        heads, bias, line = _mlp_heads(own, start, outs, width, size, skip)
        heads_grad, bias_grad, line_grad = _mlp_heads(out, start, outs, width, size, skip)
        for first in range(0, len(rows), CHUNK):
            count = min(CHUNK, len(rows) - first)
            for c in range(count):
                for i in range(size):
                    inputs[c, i] = features[rows[first + c], i]
            _layers_forward(own, sizes, sparse, acts, count, picked, kept)
            for c in range(count):
                for k in range(outs):
                    z = bias[k] + _dot(heads, k, last, c, width)
                    if skip:
                        z += _dot(line, k, inputs, c, size)
                    loss, slope = _column_loss(z, targets[rows[first + c], k], columns, k)
                    losses[k] += loss
                    back[c, k] = slope
                    bias_grad[k] += slope
            _add_products(heads_grad, back, last, count, picked, kept)
            _add_products(line_grad, back, inputs, count, picked, kept)
            _multiply(back, heads, slopes[layers], count, picked, kept)
            _layers_backward(turned, sizes, acts, slopes, count, out, picked, kept)
