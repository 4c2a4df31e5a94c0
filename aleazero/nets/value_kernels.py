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
_compile = compile_and_keep(nogil=True, error_model="numpy", boundscheck=False, fastmath={"contract"})


@_compile
def _pick(values: Any, every: bool, picked: Any, kept: Any) -> int:
    """List where values are not 0, and those values; returns how many."""
    count = 0
    for i in range(len(values)):
        picked[count] = i
        kept[count] = values[i]
        count += every or values[i] != 0
    return count


@_compile
def _add_rows(out: Any, width: int, picked: Any, kept: Any, count: int, matrix: Any) -> None:
    """Add the picked rows of a matrix, each times what was kept of it."""
    fours = count // 4 * 4
    for n in range(0, fours, 4):
        i0, i1, i2, i3 = picked[n], picked[n + 1], picked[n + 2], picked[n + 3]
        x0, x1, x2, x3 = kept[n], kept[n + 1], kept[n + 2], kept[n + 3]
        for j in range(width):
            total = out[j] + x0 * matrix[i0, j]
            total += x1 * matrix[i1, j]
            total += x2 * matrix[i2, j]
            out[j] = total + x3 * matrix[i3, j]
    for n in range(fours, count):
        i0, x0 = picked[n], kept[n]
        for j in range(width):
            out[j] += x0 * matrix[i0, j]


@_compile
def _dot(one: Any, other: Any, width: int) -> Any:
    """The sum of products, in eight lanes."""
    zero = np.float32(0)
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    eights = width // 8 * 8
    for j in range(0, eights, 8):
        s0 += one[j] * other[j]
        s1 += one[j + 1] * other[j + 1]
        s2 += one[j + 2] * other[j + 2]
        s3 += one[j + 3] * other[j + 3]
        s4 += one[j + 4] * other[j + 4]
        s5 += one[j + 5] * other[j + 5]
        s6 += one[j + 6] * other[j + 6]
        s7 += one[j + 7] * other[j + 7]
    for j in range(eights, width):
        s0 += one[j] * other[j]
    return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))


@_compile
def _matrix(theta: Any, start: int, rows: int, width: int) -> Any:
    return theta[start : start + rows * width].reshape((rows, width))


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
        for row in range(count):
            out = acts[layer + 1, row]
            found = _pick(acts[layer, row, :size], every, picked, kept)
            for j in range(width):
                out[j] = bias[j]
            _add_rows(out, width, picked, kept, found, weights)
            for j in range(width):
                out[j] = np.float32(0) if out[j] <= 0 else out[j]  # not-a-number stays


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
def _add_products(
    grad: Any, size: int, width: int, inputs: Any, slopes: Any, count: int, picked: Any, kept: Any
) -> None:
    """Add to a matrix (in, out) the inputs (rows, in) times the slopes (rows, out), summed over rows."""
    for i in range(size):
        found = _pick(inputs[:count, i], False, picked, kept)
        _add_rows(grad[i], width, picked, kept, found, slopes)


@_compile
def _layers_backward(
    turned: Any, sizes: Any, acts: Any, slopes: Any, count: int, grad: Any, picked: Any, kept: Any
) -> None:
    """From ``slopes[last]`` (rows, out) back through all layers, adding to their gradient."""
    start = 0
    for layer in range(len(sizes) - 1):
        start += (sizes[layer] + 1) * sizes[layer + 1]
    for layer in range(len(sizes) - 2, -1, -1):
        size, width = sizes[layer], sizes[layer + 1]
        start -= (size + 1) * width
        above = slopes[layer + 1]
        bias = grad[start + size * width : start + size * width + width]
        for row in range(count):
            for j in range(width):
                above[row, j] = np.float32(0) if acts[layer + 1, row, j] == 0 else above[row, j]
                bias[j] += above[row, j]
        _add_products(_matrix(grad, start, size, width), size, width, acts[layer], above, count, picked, kept)
        if layer == 0:
            return
        weights = _matrix(turned, start, width, size)
        for row in range(count):
            below = slopes[layer, row]
            below[:size] = 0
            found = _pick(above[row, :width], False, picked, kept)
            _add_rows(below, size, picked, kept, found, weights)


@_compile
def _column_loss(z: Any, value: Any, target: Any, column: Any) -> Any:
    """The loss of a column whose link said ``value`` of z, and its slope: by z of a tanh, by the value of a line."""
    wins, scale, weight, delta = column
    if wins:
        twice = 2.0 * np.float64(z)
        loss = max(twice, 0.0) + math.log1p(math.exp(-abs(twice))) - 0.5 * (np.float64(target) + 1.0) * twice
        return weight * loss, weight * (value - target)
    off = value - target
    if abs(off) <= delta:
        return np.float64(weight / scale) * 0.5 * off * off, weight / scale * off
    slope = weight / scale * (delta if off > 0 else -delta)
    return np.float64(abs(slope)) * (abs(off) - 0.5 * delta), slope


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
def _same(one: Any, other: Any) -> bool:
    for i in range(len(one)):
        if one[i] != other[i]:
            return False
    return True


@_compile
def _mlp_heads(theta: Any, start: int, x: Any, last: Any, columns: Any, skip: bool, z: Any) -> None:
    """The output layer and the line beside the layers, for one row."""
    outs, width, size = len(z), len(last), len(x)
    line = start + outs * (width + 1)
    for k in range(outs):
        z[k] = theta[start + outs * width + k] + _dot(theta[start + k * width :], last, width)
        if skip:
            z[k] += _dot(theta[line + k * size :], x, size)


@_compile
def _layers_size(sizes: Any) -> int:
    total = 0
    for layer in range(len(sizes) - 1):
        total += (sizes[layer] + 1) * sizes[layer + 1]
    return total


@_compile
def mlp_forward(
    theta: Any, sizes: Any, columns: Any, skip: bool, sparse: bool, features: Any, phases: Any, out: Any
) -> None:
    """The columns (rows, K) of features (rows, F); ``theta`` has one row of parameters for each phase."""
    widest, size, layers = sizes.max(), sizes[0], len(sizes) - 1
    acts = np.empty((layers + 1, CHUNK, widest), np.float32)
    picked, kept = np.empty(widest + 1, np.uintp), np.empty(widest + 1, np.float32)
    z = np.empty(len(columns), np.float32)
    held = np.empty(CHUNK, np.int64)
    start = _layers_size(sizes)
    for phase in range(len(theta)):
        own = theta[phase]
        rows = _rows_of(phases, phase, len(features))
        n = 0
        while n < len(rows):
            count = 0
            while n < len(rows):
                row = rows[n]
                if n == 0 or not _same(features[row], features[rows[n - 1]]):
                    if count == CHUNK:
                        break
                    acts[0, count, :size] = features[row]
                    held[count] = row
                    count += 1
                n += 1
            _layers_forward(own, sizes, sparse, acts, count, picked, kept)
            for c in range(count):
                row = held[c]
                _mlp_heads(own, start, features[row], acts[layers, c, : sizes[layers]], columns, skip, z)
                for k in range(len(z)):
                    out[row, k] = math.tanh(z[k]) if columns[k, 0] else columns[k, 1] * z[k]
        for n in range(1, len(rows)):
            if _same(features[rows[n]], features[rows[n - 1]]):
                out[rows[n]] = out[rows[n - 1]]


@_compile
def mlp_gradient(theta: Any, sizes: Any, columns: Any, skip: bool, sparse: bool, features: Any, phases: Any, targets: Any,
                 grad: Any, losses: Any) -> None:  # fmt: skip
    """Add the gradient of the summed loss to ``grad``, shaped as theta, and the losses to ``losses`` (K,)."""
    widest, size, layers, outs = sizes.max(), sizes[0], len(sizes) - 1, len(columns)
    width = sizes[layers]
    acts = np.empty((layers + 1, CHUNK, widest), np.float32)
    slopes = np.empty((layers + 1, CHUNK, widest), np.float32)
    room = max(widest, CHUNK, outs) + 1
    picked, kept = np.empty(room, np.uintp), np.empty(room, np.float32)
    z = np.empty(outs, np.float32)
    back = np.empty((CHUNK, outs), np.float32)
    start = _layers_size(sizes)
    for phase in range(len(theta)):
        rows = _rows_of(phases, phase, len(features))
        if len(rows) == 0:
            continue
        own, out = theta[phase], grad[phase]
        turned = _turn_layers(own, sizes)
        heads = _matrix(own, start, outs, width)
        bias = start + outs * width
        for first in range(0, len(rows), CHUNK):
            count = min(CHUNK, len(rows) - first)
            for c in range(count):
                acts[0, c, :size] = features[rows[first + c]]
            _layers_forward(own, sizes, sparse, acts, count, picked, kept)
            for c in range(count):
                row = rows[first + c]
                _mlp_heads(own, start, features[row], acts[layers, c, :width], columns, skip, z)
                for k in range(outs):
                    scale = np.float32(1) if columns[k, 0] else columns[k, 1]
                    value = np.float32(math.tanh(z[k])) if columns[k, 0] else scale * z[k]
                    loss, slope = _column_loss(z[k], value, targets[row, k], columns[k])
                    losses[k] += loss
                    back[c, k] = slope * scale
                    out[bias + k] += back[c, k]
                slopes[layers, c, :width] = 0
                found = _pick(back[c], False, picked, kept)
                _add_rows(slopes[layers, c], width, picked, kept, found, heads)
            _add_products(_matrix(out, start, outs, width), outs, width, back, acts[layers], count, picked, kept)
            if skip:
                _add_products(_matrix(out, bias + outs, outs, size), outs, size, back, acts[0], count, picked, kept)
            _layers_backward(turned, sizes, acts, slopes, count, out, picked, kept)
