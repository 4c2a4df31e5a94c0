"""Compiled forward and backward passes of ``mlp`` and ``towers``.

Everything is built on ``_accumulate``: weighted sums of the rows of a matrix, over the rows whose weight is not 0.
Weights are stored (in, out), so a forward pass adds rows of weights, a backward pass adds rows of the transposed
weights, and a gradient adds rows of slopes. The order of the additions for one row does not depend on the other rows.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from aleazero.native.compile import cached_njit

CHUNK: Final = 32
"""Rows that pass through a layer together, while its weights are in the processor cache."""
SLAB: Final = 256
"""Rows that pass through the towers before their results are joined."""
ZERO: Final = np.float32(0)
"""A plain 0 would turn comparisons into float64 comparisons."""
SIBLINGS: Final = 4
"""Rows whose first layer is computed together, if they are similar."""
HALF, ONE = np.float32(0.5), np.float32(1)
TANH, SIGMOID = np.float32(1), np.float32(2)
"""Links of columns, as in ``outcome.as_table``."""
_compile = cached_njit(stands_alone=True, nogil=True, error_model="numpy", boundscheck=False, fastmath={"contract"})


@_compile
def _pick(matrix: Any, row: int, size: int, every: bool, picked: Any) -> Any:
    """List the nonzero columns of a row and return their number, unsigned because numba checks the sign of an index."""
    count = np.uint64(0)
    for i in range(size):
        picked[count] = i
        count += np.uint64(every or matrix[row, i] != ZERO)
    return count


@_compile
def _pick_any(matrix: Any, row: int, size: int, picked: Any) -> Any:
    """List the columns that are not 0 in any of ``SIBLINGS`` rows, and return their number."""
    count = np.uint64(0)
    for i in range(size):
        picked[count] = i
        used = (matrix[row, i] != ZERO) | (matrix[row + 1, i] != ZERO)
        used |= (matrix[row + 2, i] != ZERO) | (matrix[row + 3, i] != ZERO)
        count += np.uint64(used)
    return count


def _add_rows(out: Any, row: int, width: int, inputs: Any, picked: Any, count: Any, weights: Any) -> None:
    """Add the picked rows of weights, each multiplied by its input, to a row of ``out``."""
    for n in range(count):
        out[row, :width] += inputs[row, picked[n]] * weights[picked[n], :width]


@overload(_add_rows)  # type: ignore[untyped-decorator]
def _add_rows_compiled(out: Any, row: int, width: int, inputs: Any, picked: Any, count: Any, weights: Any) -> Any:
    def add(out: Any, row: int, width: int, inputs: Any, picked: Any, count: Any, weights: Any) -> None:
        wide, half, eights = width // 64 * 64, width // 32 * 32, width // 8 * 8
        _add_tiles(out, row, 0, wide, 64, inputs, picked, count, weights)
        _add_tiles(out, row, wide, half, 32, inputs, picked, count, weights)
        _add_tiles(out, row, half, eights, 8, inputs, picked, count, weights)
        _add_tiles(out, row, eights, width, 1, inputs, picked, count, weights)

    return add


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def _add_tiles(context: Any, out: Any, row: Any, first: Any, end: Any, tile: Any, inputs: Any, picked: Any, count: Any,
               weights: Any) -> Any:  # fmt: skip
    """Do ``_add_rows`` for columns first to end, ``tile`` at a time, so that their sums stay in registers.

    Loops compiled by numba would load and store the sums for each row, and check each time whether arrays overlap.
    """
    return _tiles(1, out, row, first, end, tile, inputs, picked, count, weights)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def _add_sibling_tiles(context: Any, out: Any, row: Any, first: Any, end: Any, tile: Any, inputs: Any, picked: Any,
                       count: Any, weights: Any) -> Any:  # fmt: skip
    """Do ``_add_tiles`` for ``SIBLINGS`` rows at once, so that each weight is loaded once for all of them."""
    return _tiles(SIBLINGS, out, row, first, end, tile, inputs, picked, count, weights)


def _tiles(rows: int, out: Any, row: Any, first: Any, end: Any, tile: Any, inputs: Any, picked: Any, count: Any,
           weights: Any) -> Any:  # fmt: skip
    """Return signature and code generator of ``_add_tiles`` for this number of rows."""
    lanes = min(8, tile.literal_value)
    word, number = ir.IntType(64), ir.FloatType()
    vector = ir.VectorType(number, lanes) if lanes > 1 else number

    def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        def row_of(which: int, index: Any, column: Any) -> Any:
            array = target.make_array(signature.args[which])(target, builder, values[which])
            size = cgutils.unpack_tuple(builder, array.shape)[1]
            return builder.gep(array.data, [builder.add(builder.mul(index, size), column)])

        def spread(x: Any) -> Any:
            if lanes == 1:
                return x
            nothing = ir.Constant(vector, ir.Undefined)
            first_lane = builder.insert_element(nothing, x, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(
                first_lane, nothing, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
            )

        list_of_rows = target.make_array(signature.args[6])(target, builder, values[6]).data
        zero, step = ir.Constant(word, 0), ir.Constant(word, tile.literal_value)
        parts = range(tile.literal_value // lanes)
        places = [builder.add(values[1], ir.Constant(word, offset)) for offset in range(rows)]
        numbers = [row_of(5, place, zero) for place in places]
        with cgutils.for_range_slice(builder, values[2], values[3], step, word) as (column, _):
            to = [builder.bitcast(row_of(0, place, column), vector.as_pointer()) for place in places]
            sums = [[cgutils.alloca_once(builder, vector) for _ in parts] for _ in places]
            for own, start in zip(sums, to, strict=True):
                for part in parts:
                    builder.store(builder.load(builder.gep(start, [ir.Constant(word, part)]), align=4), own[part])
            with cgutils.for_range(builder, values[7], intp=word) as loop:
                picked_row = builder.load(builder.gep(list_of_rows, [loop.index]))
                source = builder.bitcast(row_of(8, picked_row, column), vector.as_pointer())
                loaded = [builder.load(builder.gep(source, [ir.Constant(word, part)]), align=4) for part in parts]
                for own, inputs_of_row in zip(sums, numbers, strict=True):
                    x = spread(builder.load(builder.gep(inputs_of_row, [picked_row])))
                    for part in parts:
                        product = builder.fmul(x, loaded[part], flags=("contract",))
                        total = builder.fadd(builder.load(own[part]), product, flags=("contract",))
                        builder.store(total, own[part])
            for own, start in zip(sums, to, strict=True):
                for part in parts:
                    builder.store(builder.load(own[part]), builder.gep(start, [ir.Constant(word, part)]), align=4)
        return target.get_dummy_value()

    return types.void(out, row, first, end, tile, inputs, picked, count, weights), generate


def _add_to_siblings(out: Any, row: int, width: int, inputs: Any, picked: Any, count: Any, weights: Any) -> None:
    """Do ``_add_rows`` for ``SIBLINGS`` rows, which share the picked rows of weights."""
    for sibling in range(row, row + SIBLINGS):
        _add_rows(out, sibling, width, inputs, picked, count, weights)


@overload(_add_to_siblings)  # type: ignore[untyped-decorator]
def _add_to_siblings_compiled(
    out: Any, row: int, width: int, inputs: Any, picked: Any, count: Any, weights: Any
) -> Any:
    def add(out: Any, row: int, width: int, inputs: Any, picked: Any, count: Any, weights: Any) -> None:
        wide, eights = width // 16 * 16, width // 8 * 8
        _add_sibling_tiles(out, row, 0, wide, 16, inputs, picked, count, weights)
        _add_sibling_tiles(out, row, wide, eights, 8, inputs, picked, count, weights)
        _add_sibling_tiles(out, row, eights, width, 1, inputs, picked, count, weights)

    return add


@_compile
def _accumulate(inputs: Any, rows: int, size: int, every: bool, weights: Any, out: Any, width: int,
                picked: Any) -> None:  # fmt: skip
    """Add to each row of ``out`` the rows of ``weights``, each multiplied by its input; inputs are (rows, size)."""
    for row in range(rows):
        count = _pick(inputs, row, size, every, picked)
        _add_rows(out, row, width, inputs, picked, np.int64(count), weights)


@_compile
def _accumulate_siblings(inputs: Any, rows: int, size: int, weights: Any, out: Any, width: int,
                         picked: Any) -> None:  # fmt: skip
    """Do ``_accumulate`` for rows whose neighbours have similar inputs: products with 0 do not change a sum."""
    groups = rows // SIBLINGS * SIBLINGS
    for row in range(0, groups, SIBLINGS):
        count = _pick_any(inputs, row, size, picked)
        _add_to_siblings(out, row, width, inputs, picked, np.int64(count), weights)
    for row in range(groups, rows):
        count = _pick(inputs, row, size, False, picked)
        _add_rows(out, row, width, inputs, picked, np.int64(count), weights)


@cached_njit(stands_alone=True, nogil=True, boundscheck=False, fastmath={"contract", "reassoc"})
def _dot(one: Any, a: int, other: Any, b: int, width: int) -> Any:
    """Return the dot product of two rows. The order of the sum depends only on the width."""
    total = ZERO
    for j in range(width):
        total += one[a, j] * other[b, j]
    return total


@_compile
def _matrix(theta: Any, start: int, rows: int, width: int) -> Any:
    return theta[start : start + rows * width].reshape((rows, width))


@_compile
def _layers_size(sizes: Any) -> Any:
    total = 0
    for layer in range(len(sizes) - 1):
        total += (sizes[layer] + 1) * sizes[layer + 1]
    return total


@_compile
def _layers_forward(theta: Any, sizes: Any, sparse: bool, siblings: bool, acts: Any, count: int, picked: Any) -> None:
    """Pass ``acts[0]`` (rows, in) through all ReLU layers; the output of a layer is in ``acts[layer + 1]``.

    With ``siblings``, rows next to each other have similar inputs. The results are the same.
    """
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
        if siblings and layer == 0 and sparse:
            _accumulate_siblings(inputs, count, size, weights, out, width, picked)
        else:
            _accumulate(inputs, count, size, every, weights, out, width, picked)
        for row in range(count):
            for j in range(width):
                out[row, j] *= out[row, j] > ZERO  # vectorizes, unlike a branch; NaN stays NaN


@_compile
def _turn(weights: Any, turned: Any) -> None:
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            turned[j, i] = weights[i, j]


@_compile
def _turn_layers(theta: Any, sizes: Any) -> Any:
    """Return the weights of all layers but the first, each transposed, at the same positions as in theta."""
    turned = np.empty(len(theta), np.float32)
    start = (sizes[0] + 1) * sizes[1]
    for layer in range(1, len(sizes) - 1):
        size, width = sizes[layer], sizes[layer + 1]
        _turn(_matrix(theta, start, size, width), _matrix(turned, start, width, size))
        start += (size + 1) * width
    return turned


@_compile
def _add_products(grad: Any, inputs: Any, slopes: Any, count: int, turned: Any, picked: Any) -> None:
    """Add inputs (rows, in) times slopes (rows, out), summed over rows, to a matrix (in, out)."""
    for row in range(count):
        for i in range(grad.shape[0]):
            turned[i, row] = inputs[row, i]
    _accumulate(turned, grad.shape[0], count, False, slopes, grad, grad.shape[1], picked)


@_compile
def _multiply(inputs: Any, weights: Any, out: Any, count: int, picked: Any) -> None:
    """Multiply inputs (rows, in) by weights (in, out); arrays may have more columns."""
    for row in range(count):
        for j in range(weights.shape[1]):
            out[row, j] = ZERO
    _accumulate(inputs, count, weights.shape[0], False, weights, out, weights.shape[1], picked)


@_compile
def _layers_backward(turned: Any, sizes: Any, acts: Any, slopes: Any, count: int, grad: Any, scratch: Any,
                     picked: Any) -> None:  # fmt: skip
    """Propagate ``slopes[last]`` (rows, out) back through all layers and add to their gradient."""
    start = _layers_size(sizes)
    for layer in range(len(sizes) - 2, -1, -1):
        size, width = sizes[layer], sizes[layer + 1]
        start -= (size + 1) * width
        outputs, above = acts[layer + 1], slopes[layer + 1]
        bias = grad[start + size * width : start + size * width + width]
        for row in range(count):
            for j in range(width):
                above[row, j] *= outputs[row, j] != ZERO
                bias[j] += above[row, j]
        _add_products(_matrix(grad, start, size, width), acts[layer], above, count, scratch, picked)
        if layer > 0:
            _multiply(above, _matrix(turned, start, width, size), slopes[layer], count, picked)


@_compile
def _huber(off: Any, delta: Any) -> Any:
    """Return the Huber loss and its slope."""
    if abs(off) <= delta:
        return np.float64(0.5) * off * off, off
    return np.float64(delta) * (abs(off) - 0.5 * delta), delta if off > 0 else -delta


@_compile
def _cross_entropy(z: Any, target: Any) -> Any:
    """Return the binary cross-entropy of the logit 2z against (target + 1) / 2, and its slope by z."""
    twice = 2.0 * np.float64(z)
    loss = max(twice, 0.0) + math.log1p(math.exp(-abs(twice))) - 0.5 * (np.float64(target) + 1.0) * twice
    return loss, np.float32(math.tanh(z)) - target


@_compile
def _column_loss(z: Any, target: Any, columns: Any, k: int) -> Any:
    """Return the loss of column k for the network output z, and its slope by z."""
    link, scale, weight, delta = columns[k, 0], columns[k, 1], columns[k, 2], columns[k, 3]
    if link == TANH:
        loss, slope = _cross_entropy(z, target)
        return weight * loss, weight * slope
    if link == SIGMOID:
        loss, slope = _cross_entropy(HALF * z, target + target - ONE)
        return weight * loss, weight * (HALF * slope)
    loss, slope = _huber(scale * z - target, delta)  # divided by the scale below, so that the slope has no factor
    return weight * loss / scale, weight * slope


@_compile
def link_columns(z: Any, columns: Any) -> None:
    """Convert network outputs to columns of the outcome, in place."""
    for row in range(len(z)):
        for k in range(len(columns)):
            if columns[k, 0] == TANH:
                z[row, k] = np.float32(math.tanh(z[row, k]))
            elif columns[k, 0] == SIGMOID:
                z[row, k] = HALF + HALF * np.float32(math.tanh(HALF * z[row, k]))
            else:
                z[row, k] = columns[k, 1] * z[row, k]


@_compile
def _rows_of(phases: Any, phase: int, rows: int) -> Any:
    """Return the rows of a phase; without phases all rows belong to the first."""
    found = np.empty(rows, np.int64)
    count = 0
    for row in range(rows):
        if len(phases) == 0 or phases[row] == phase:
            found[count] = row
            count += 1
    return found[:count]


@_compile
def _differs(features: Any, row: int, other: int, start: int, end: int) -> bool:
    """Return whether two rows differ in these columns; NaN differs from itself."""
    for i in range(start, end):  # noqa: SIM110 (numba has no all())
        if features[row, i] != features[other, i]:
            return True
    return False


@_compile
def mlp_forward(theta: Any, sizes: Any, columns: Any, skip: bool, sparse: bool, features: Any, phases: Any,
                out: Any) -> None:  # fmt: skip
    """Write the columns (rows, K) for features (rows, F) to ``out``; ``theta`` has one row of parameters per phase."""
    widest, size, layers, outs = sizes.max(), sizes[0], len(sizes) - 1, len(columns)
    width = sizes[layers]
    acts = np.empty((layers + 1, CHUNK, widest), np.float32)
    picked = np.empty(widest + 1, np.uintp)
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
            _layers_forward(own, sizes, sparse, True, acts, count, picked)
            inputs, last = acts[0], acts[layers]
            for c in range(count):
                for k in range(outs):
                    z = bias[k] + _dot(heads, k, last, c, width)
                    if skip:
                        z += _dot(line, k, inputs, c, size)
                    out[held[c], k] = z
        for n in range(1, len(rows)):
            if not _differs(features, rows[n], rows[n - 1], 0, size):
                for k in range(outs):
                    out[rows[n], k] = out[rows[n - 1], k]
    link_columns(out, columns)


@_compile
def _mlp_heads(theta: Any, start: int, outs: int, width: int, size: int, skip: bool) -> Any:
    """Return the weights (K, in) and the bias of the output layer, and the skip weights (K, F)."""
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
    scratch = np.empty((max(widest, outs), CHUNK), np.float32)
    picked = np.empty(max(widest, CHUNK, outs) + 1, np.uintp)
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
            _layers_forward(own, sizes, sparse, False, acts, count, picked)
            for c in range(count):
                for k in range(outs):
                    z = bias[k] + _dot(heads, k, last, c, width)
                    if skip:
                        z += _dot(line, k, inputs, c, size)
                    loss, slope = _column_loss(z, targets[rows[first + c], k], columns, k)
                    losses[k] += loss
                    back[c, k] = slope
                    bias_grad[k] += slope
            _add_products(heads_grad, back, last, count, scratch, picked)
            _add_products(line_grad, back, inputs, count, scratch, picked)
            _multiply(back, heads, slopes[layers], count, picked)
            _layers_backward(turned, sizes, acts, slopes, count, out, scratch, picked)


@_compile
def _tower_parts(theta: Any, sizes: Any, common: int, joint: int, skip: bool) -> Any:
    """Return the parts after the layers: margin (1, in), its bias, its skip weights (1, block); own and others
    (in, joint), common, bias of the joint layer; heads (3, joint), their bias."""
    width = sizes[len(sizes) - 1]
    bias = _layers_size(sizes) + width
    own = bias + 1 + (sizes[0] if skip else 0)
    others = own + width * joint
    shared = others + width * joint
    base = shared + common * joint
    heads = base + joint
    return (
        _matrix(theta, bias - width, 1, width),
        theta[bias : bias + 1],
        _matrix(theta, bias + 1, 1 if skip else 0, sizes[0]),
        _matrix(theta, own, width, joint),
        _matrix(theta, others, width, joint),
        _matrix(theta, shared, common, joint),
        theta[base : base + joint],
        _matrix(theta, heads, 3, joint),
        theta[heads + 3 * joint : heads + 3 * joint + 3],
    )


@_compile
def _expect_points(parts: Any, skip: bool, inputs: Any, last: Any, count: int, points: Any) -> None:
    """Compute the points that each tower expects its own seat to score."""
    margin, bias, line = parts[0], parts[1], parts[2]
    for row in range(count):
        points[row] = bias[0] + _dot(margin, 0, last, row, margin.shape[1])
        if skip:
            points[row] += _dot(line, 0, inputs, row, line.shape[1])


@_compile
def _join(parts: Any, commons: Any, count: int, hidden: Any, y: Any, picked: Any) -> None:
    """Add the common features to the outputs of the towers in ``hidden``, then apply the joint layer and its heads."""
    shared, base, heads, bias = parts[5], parts[6], parts[7], parts[8]
    joint = len(base)
    _accumulate(commons, count, shared.shape[0], False, shared, hidden, joint, picked)
    for row in range(count):
        for j in range(joint):
            hidden[row, j] += base[j]
            hidden[row, j] *= hidden[row, j] > ZERO
        for k in range(3):
            y[row, k] = bias[k] + _dot(heads, k, hidden, row, joint)


@_compile
def _steepness(y: Any) -> Any:
    """Return the slope of the win by the margin: e^y, with y clipped to -4 to 4."""
    most = np.float32(4)
    if y > most:
        y = most
    elif y < -most:
        y = -most
    return np.float32(math.exp(y))


@_compile
def towers_forward(theta: Any, sizes: Any, columns: Any, skip: bool, sparse: bool, seats: int, joint: int, lead: int,
                   unit: float, features: Any, phases: Any, out: Any) -> None:  # fmt: skip
    """Write win and margin (rows, 2) for features (rows, F) to ``out``: a block per seat, then the common features.

    ``lead`` is the column with the lead of the viewer in units of ``unit`` points. A block that equals the one in the
    row above is not passed through the tower again.
    """
    widest, block, layers = sizes.max(), sizes[0], len(sizes) - 1
    shared = seats * block
    common = features.shape[1] - shared
    acts = np.empty((layers + 1, CHUNK, widest), np.float32)
    picked = np.empty(max(widest, common) + 1, np.uintp)
    slots = np.empty((seats, SLAB), np.int64)
    outputs = np.empty((seats * SLAB, joint), np.float32)
    points = np.empty(seats * SLAB, np.float32)
    commons, ahead = np.empty((SLAB, common), np.float32), np.empty(SLAB, np.float32)
    hidden, y = np.empty((SLAB, joint), np.float32), np.empty((SLAB, 3), np.float32)
    inputs, last = acts[0], acts[layers]
    scale = columns[1, 1]
    for phase in range(len(theta)):
        own = theta[phase]
        parts = _tower_parts(own, sizes, common, joint, skip)
        rows = _rows_of(phases, phase, len(features))
        for first in range(0, len(rows), SLAB):
            count = min(SLAB, len(rows) - first)
            used = 0
            for seat in range(seats):
                filled = 0
                for n in range(count):
                    row = rows[first + n]
                    if n == 0 or _differs(features, row, rows[first + n - 1], seat * block, (seat + 1) * block):
                        for i in range(block):
                            inputs[filled, i] = features[row, seat * block + i]
                        filled += 1
                    slots[seat, n] = used + filled - 1
                    ends = n == count - 1
                    if filled == CHUNK or ends:
                        _layers_forward(own, sizes, sparse, False, acts, filled, picked)
                        _multiply(last, parts[3] if seat == 0 else parts[4], outputs[used:], filled, picked)
                        _expect_points(parts, skip, inputs, last, filled, points[used:])
                        used += filled
                        filled = 0
            for n in range(count):
                for i in range(common):
                    commons[n, i] = features[rows[first + n], shared + i]
                ahead[n] = points[slots[0, n]]
                for j in range(joint):
                    hidden[n, j] = outputs[slots[0, n], j]
                for seat in range(1, seats):
                    slot = slots[seat, n]
                    ahead[n] -= points[slot] / np.float32(seats - 1)
                    for j in range(joint):
                        hidden[n, j] += outputs[slot, j]
            _join(parts, commons, count, hidden, y, picked)
            for n in range(count):
                row = rows[first + n]
                margin = features[row, lead] * np.float32(unit) + (ahead[n] + y[n, 1]) * scale
                z = margin / (np.float32(2) * scale) * _steepness(y[n, 2]) + y[n, 0]
                out[row, 0] = math.tanh(z)
                out[row, 1] = margin


@_compile
def towers_gradient(theta: Any, sizes: Any, columns: Any, skip: bool, sparse: bool, seats: int, joint: int, lead: int,
                    unit: float, features: Any, phases: Any, targets: Any, grad: Any, losses: Any) -> None:  # fmt: skip
    """Add the gradient of the summed loss to ``grad``, shaped as theta, and the losses to ``losses`` (2,)."""
    widest, block, layers = sizes.max(), sizes[0], len(sizes) - 1
    shared = seats * block
    common, width, others = features.shape[1] - shared, sizes[layers], np.float32(seats - 1)
    acts = np.empty((layers + 1, seats * CHUNK, widest), np.float32)
    slopes = np.empty((layers + 1, seats * CHUNK, widest), np.float32)
    widest_of_all = max(widest, common, joint, 3)
    scratch = np.empty((widest_of_all, seats * CHUNK), np.float32)
    picked = np.empty(max(widest_of_all, seats * CHUNK) + 1, np.uintp)
    outputs = np.empty((seats * CHUNK, joint), np.float32)
    points, points_back = np.empty(seats * CHUNK, np.float32), np.empty((seats * CHUNK, 1), np.float32)
    commons, ahead = np.empty((CHUNK, common), np.float32), np.empty(CHUNK, np.float32)
    hidden, hidden_back = np.empty((CHUNK, joint), np.float32), np.empty((CHUNK, joint), np.float32)
    y, back = np.empty((CHUNK, 3), np.float32), np.empty((CHUNK, 3), np.float32)
    inputs, last, above = acts[0], acts[layers], slopes[layers]
    scale, wins, weight = columns[1, 1], columns[0, 2], columns[1, 2] / columns[1, 1]
    half = np.float32(2) * scale
    for phase in range(len(theta)):
        rows = _rows_of(phases, phase, len(features))
        if len(rows) == 0:
            continue
        own, out = theta[phase], grad[phase]
        parts, grads = _tower_parts(own, sizes, common, joint, skip), _tower_parts(out, sizes, common, joint, skip)
        turned = _turn_layers(own, sizes)
        own_turned, others_turned = np.empty((joint, width), np.float32), np.empty((joint, width), np.float32)
        _turn(parts[3], own_turned)
        _turn(parts[4], others_turned)
        for first in range(0, len(rows), CHUNK):
            count = min(CHUNK, len(rows) - first)
            for seat in range(seats):
                for c in range(count):
                    for i in range(block):
                        inputs[seat * count + c, i] = features[rows[first + c], seat * block + i]
            _layers_forward(own, sizes, sparse, False, acts, seats * count, picked)
            _expect_points(parts, skip, inputs, last, seats * count, points)
            for seat in range(seats):
                start = seat * count
                _multiply(last[start:], parts[3] if seat == 0 else parts[4], outputs[start:], count, picked)
            for c in range(count):
                ahead[c] = points[c]
                for j in range(joint):
                    hidden[c, j] = outputs[c, j]
                for seat in range(1, seats):
                    ahead[c] -= points[seat * count + c] / others
                    for j in range(joint):
                        hidden[c, j] += outputs[seat * count + c, j]
                for i in range(common):
                    commons[c, i] = features[rows[first + c], shared + i]
            _join(parts, commons, count, hidden, y, picked)
            for c in range(count):
                row = rows[first + c]
                margin = features[row, lead] * np.float32(unit) + (ahead[c] + y[c, 1]) * scale
                steep = _steepness(y[c, 2])
                loss, slope = _cross_entropy(margin / half * steep + y[c, 0], targets[row, 0])
                losses[0] += wins * loss
                back[c, 0] = wins * slope
                bends = wins * slope * steep / half
                loss, slope = _huber(margin - targets[row, 1], columns[1, 3])
                losses[1] += weight * loss
                back[c, 1] = (bends + weight * slope) * scale
                back[c, 2] = bends * margin if abs(y[c, 2]) <= 4 else ZERO
                points_back[c, 0] = back[c, 1]
                for seat in range(1, seats):
                    points_back[seat * count + c, 0] = -back[c, 1] / others
                for k in range(3):
                    grads[8][k] += back[c, k]
            _add_products(grads[7], back, hidden, count, scratch, picked)
            _multiply(back, parts[7], hidden_back, count, picked)
            for c in range(count):
                for j in range(joint):
                    hidden_back[c, j] *= hidden[c, j] != ZERO
                    grads[6][j] += hidden_back[c, j]
            _add_products(grads[5], commons, hidden_back, count, scratch, picked)
            for seat in range(seats):
                start = seat * count
                _add_products(grads[3] if seat == 0 else grads[4], last[start:], hidden_back, count, scratch, picked)
                weights = own_turned if seat == 0 else others_turned
                _multiply(hidden_back, weights, above[start:], count, picked)
            for row in range(seats * count):
                grads[1][0] += points_back[row, 0]
                for j in range(width):
                    above[row, j] += points_back[row, 0] * parts[0][0, j]
            _add_products(grads[0], points_back, last, seats * count, scratch, picked)
            _add_products(grads[2], points_back, inputs, seats * count, scratch, picked)
            _layers_backward(turned, sizes, acts, slopes, seats * count, out, scratch, picked)
