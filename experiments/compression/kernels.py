# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc, operator"
"""Triton kernels that train many Bayesian LeNet-5 of different widths side by side.

One program id names the chain (the training); its padded widths and its offsets come from a small table, so
chains of any widths share a launch and each costs what its own size costs. Layouts (see `network`):

    patches of a map   [image][x][y][column of patch][channel]: a 5×5 patch is then 25·C *contiguous* entries,
                       rows overlap, and a convolution is a matrix product that copies nothing 25 times
    gradient of map 2  [image][x 8][y 4+8+4][channel], zeros around, so that its transpose is one, too

`table` is (chains, 9) int32: p1, p2, p3, then the offsets of W1, b1, W2, b2, W3, W4 in the flat vectors.
"""

from __future__ import annotations

import triton
import triton.language as tl

CONV1: tl.constexpr = tl.constexpr(1)
CONV2: tl.constexpr = tl.constexpr(2)
HIDDEN: tl.constexpr = tl.constexpr(3)
OUTPUT: tl.constexpr = tl.constexpr(4)


@triton.jit
def _width(table, chain, layer: tl.constexpr):
    return tl.multiple_of(tl.load(table + chain * 9 + layer), 8)


@triton.jit
def _offset(table, chain, slot: tl.constexpr):
    return tl.multiple_of(tl.load(table + chain * 9 + 3 + slot), 8)


@triton.jit
def _store_map(out, best, valid, image, px, py, n, n_out, LAYER: tl.constexpr):  # fmt: skip
    """Write a pooled map where the next layer reads it; CONV1's goes to each of the five patches it is in."""
    if LAYER == CONV1:
        for column in tl.static_range(5):
            left = px - column
            to = ((image * 8 + left) * 12 + py) * 5 + column
            ok = valid & ((left >= 0) & (left < 8))[:, None]
            tl.store(out + to[:, None] * n_out + n[None, :], best, mask=ok)
    else:
        to = image * (16 * n_out + 8) + (px * 4 + py) * n_out
        tl.store(out + to[:, None] + n[None, :], best, mask=valid)


@triton.jit
def conv_pool(
    x, rows, w, out, which, table, batch, x_stride, out_stride, which_stride,
    LAYER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """max-pool(ReLU(convolution)) and, for the way back, which of the four positions won (4: none)."""
    chain = tl.program_id(1)
    p1 = _width(table, chain, 0)
    side: tl.constexpr = 12 if LAYER == CONV1 else 4
    if LAYER == CONV1:
        n_out, depth, step_y, step_x = p1, 40, 8, 224
        weights, bias = _offset(table, chain, 0), _offset(table, chain, 1)
    else:
        n_out, depth, step_y, step_x = _width(table, chain, 1), 25 * p1, 5 * p1, 60 * p1
        weights, bias = _offset(table, chain, 2), _offset(table, chain, 3)
    position = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = position < batch * side * side
    image = position // (side * side)
    px = position % (side * side) // side
    py = position % side
    if LAYER == CONV1:
        start = tl.load(rows + chain * batch + image, mask=inside, other=0) * 5376
    else:
        start = chain * x_stride + image * (8 * step_x)
    n = tl.arange(0, BN)
    best = tl.full((BM, BN), float("-inf"), tl.float32)
    winner = tl.zeros((BM, BN), tl.int32)
    for corner in range(4):
        row = start + (2 * px + corner // 2) * step_x + (2 * py + corner % 2) * step_y
        total = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, depth, BK):
            k = k0 + tl.arange(0, BK)
            a = tl.load(x + row[:, None] + k[None, :], mask=inside[:, None] & (k < depth)[None, :], other=0.0)
            b = tl.load(
                w + weights + k[:, None] * n_out + n[None, :],
                mask=(k < depth)[:, None] & (n < n_out)[None, :],
                other=0.0,
            )
            total = tl.dot(a, b, total)
        winner = tl.where(total > best, corner, winner)
        best = tl.maximum(total, best)
    best += tl.load(w + bias + n, mask=n < n_out, other=0.0).to(tl.float32)[None, :]
    winner = tl.where(best > 0.0, winner, 4)
    best = tl.maximum(best, 0.0).to(out.dtype.element_ty)
    valid = inside[:, None] & (n < n_out)[None, :]
    tl.store(
        which + chain * which_stride + position[:, None] * n_out + n[None, :], winner.to(tl.int8), mask=valid
    )
    _store_map(out + chain * out_stride, best, valid, image, px, py, n, n_out, LAYER)


@triton.jit
def dense(
    a, rows, labels, w, out, hits, table, batch, a_stride, out_stride,
    LAYER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """HIDDEN: ReLU(a W). OUTPUT: d(sum of cross-entropies)/d(scores), and who is right."""
    chain = tl.program_id(2)
    p3 = _width(table, chain, 2)
    if LAYER == HIDDEN:
        depth, n_out, weights = 16 * _width(table, chain, 1) + 8, p3, _offset(table, chain, 4)
    else:
        depth, n_out, weights = p3 + 8, 16, _offset(table, chain, 5)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    if tl.program_id(1) * BN < n_out:
        total = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, depth, BK):
            k = k0 + tl.arange(0, BK)
            av = tl.load(
                a + chain * a_stride + m[:, None] * depth + k[None, :],
                mask=(m < batch)[:, None] & (k < depth)[None, :],
                other=0.0,
            )
            bv = tl.load(
                w + weights + k[:, None] * n_out + n[None, :],
                mask=(k < depth)[:, None] & (n < n_out)[None, :],
                other=0.0,
            )
            total = tl.dot(av, bv, total)
        valid = (m < batch)[:, None] & (n < n_out)[None, :]
        if LAYER == HIDDEN:
            to = m[:, None] * (p3 + 8) + n[None, :]
            total = tl.maximum(total, 0.0)
        else:
            to = m[:, None] * 16 + n[None, :]
            label = tl.load(labels + tl.load(rows + chain * batch + m, mask=m < batch, other=0))
            score = tl.where((n < 10)[None, :], total, float("-inf"))
            right = tl.argmax(score, 1) == label
            tl.store(hits + chain * batch + m, right.to(tl.int8), mask=m < batch)
            score = tl.exp(score - tl.max(score, 1)[:, None])
            share = score / tl.sum(score, 1)[:, None]
            total = share - tl.where(n[None, :] == label[:, None], 1.0, 0.0)
        tl.store(out + chain * out_stride + to, total.to(out.dtype.element_ty), mask=valid)


@triton.jit
def back(
    d, w, gate, out, table, batch, d_stride, gate_stride, out_stride,
    LAYER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Gradient by a layer's inputs, out = d Wᵀ; OUTPUT passes it through the hidden layer's ReLU (gate)."""
    chain = tl.program_id(2)
    p1, p2, p3 = _width(table, chain, 0), _width(table, chain, 1), _width(table, chain, 2)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    if LAYER == CONV2:
        taps, depth, n_out, n_rows, weights = 5, p2, 5 * p1, batch * 96, _offset(table, chain, 2)
        row = (m // 12) * (16 * p2) + (m % 12) * p2
    elif LAYER == HIDDEN:
        taps, depth, n_out, n_rows, weights = 1, p3, 16 * p2, batch, _offset(table, chain, 4)
        row = m * p3
    else:
        taps, depth, n_out, n_rows, weights = 1, 16, p3, batch, _offset(table, chain, 5)
        row = m * 16
    if tl.program_id(1) * BN < n_out:
        total = tl.zeros((BM, BN), tl.float32)
        blocks = tl.cdiv(depth, BK)
        for i in range(0, taps * blocks):
            tap = i // blocks
            k = (i % blocks) * BK + tl.arange(0, BK)
            dv = tl.load(
                d + chain * d_stride + row[:, None] + tap * depth + k[None, :],
                mask=(m < n_rows)[:, None] & (k < depth)[None, :],
                other=0.0,
            )
            wv = tl.load(
                w + weights + ((taps - 1 - tap) * n_out + n[:, None]) * depth + k[None, :],
                mask=(n < n_out)[:, None] & (k < depth)[None, :],
                other=0.0,
            )
            total = tl.dot(dv, tl.trans(wv), total)
        valid = (m < n_rows)[:, None] & (n < n_out)[None, :]
        if LAYER == OUTPUT:
            on = tl.load(
                gate + chain * gate_stride + m[:, None] * (p3 + 8) + n[None, :], mask=valid, other=0.0
            )
            total = tl.where(on > 0.0, total, 0.0)
        to = m[:, None] * n_out + n[None, :]
        tl.store(out + chain * out_stride + to, total.to(out.dtype.element_ty), mask=valid)


@triton.jit
def weight_gradient(
    a, rows, d, grad, table, batch, a_stride, d_stride, per_split,
    LAYER: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """Gradient by a layer's weights, aᵀ d; the convolutions' long sums are split and added atomically."""
    chain = tl.program_id(2)
    p1, p2, p3 = _width(table, chain, 0), _width(table, chain, 1), _width(table, chain, 2)
    if LAYER == CONV1:
        depth, n_out, n_rows, to = 40, p1, batch * 576, _offset(table, chain, 0)
    elif LAYER == CONV2:
        depth, n_out, n_rows, to = 25 * p1, p2, batch * 64, _offset(table, chain, 2)
    elif LAYER == HIDDEN:
        depth, n_out, n_rows, to = 16 * p2 + 8, p3, batch, _offset(table, chain, 4)
    else:
        depth, n_out, n_rows, to = p3 + 8, 16, batch, _offset(table, chain, 5)
    tiles_n = tl.cdiv(n_out, BN)
    tile_k = tl.program_id(0) // tiles_n
    k = tile_k * BK + tl.arange(0, BK)
    n = (tl.program_id(0) % tiles_n) * BN + tl.arange(0, BN)
    first = tl.program_id(1) * per_split
    if (tile_k * BK < depth) & (first < n_rows):
        total = tl.zeros((BK, BN), tl.float32)
        for m0 in range(first, tl.minimum(first + per_split, n_rows), BM):
            m = m0 + tl.arange(0, BM)
            inside = m < n_rows
            if LAYER == CONV1:
                image = tl.load(rows + chain * batch + m // 576, mask=inside, other=0)
                a_row = image * 5376 + m % 576 // 24 * 224 + m % 24 * 8
                d_row = chain * d_stride + m * n_out
            elif LAYER == CONV2:
                a_row = chain * a_stride + (m // 8 * 12 + m % 8) * (5 * p1)
                d_row = chain * d_stride + (m // 8 * 16 + m % 8 + 4) * n_out
            else:
                a_row = chain * a_stride + m * depth
                d_row = chain * d_stride + m * n_out
            av = tl.load(
                a + a_row[:, None] + k[None, :], mask=inside[:, None] & (k < depth)[None, :], other=0.0
            )
            dv = tl.load(
                d + d_row[:, None] + n[None, :], mask=inside[:, None] & (n < n_out)[None, :], other=0.0
            )
            total = tl.dot(tl.trans(av), dv, total)
        place = grad + to + k[:, None] * n_out + n[None, :]
        valid = (k < depth)[:, None] & (n < n_out)[None, :]
        if (LAYER == CONV1) | (LAYER == CONV2):
            tl.atomic_add(place, total, mask=valid, sem="relaxed")
        else:
            tl.store(place, total, mask=valid)


@triton.jit
def unpool(
    d, which, out, grad, table, batch, d_stride, which_stride, out_stride,
    LAYER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Gradient by a convolution's map from that by its pooled map; adds up the bias's gradient as well."""
    chain = tl.program_id(1)
    p1, p2 = _width(table, chain, 0), _width(table, chain, 1)
    n = tl.arange(0, BN)
    side: tl.constexpr = 12 if LAYER == CONV1 else 4
    if LAYER == CONV1:
        n_out, bias = p1, _offset(table, chain, 1)
    else:
        n_out, bias = p2, _offset(table, chain, 3)
    position = tl.program_id(0) * BM + tl.arange(0, BM)
    image = position // (side * side)
    px = position % (side * side) // side
    py = position % side
    valid = (position < batch * side * side)[:, None] & (n < n_out)[None, :]
    winner = tl.load(
        which + chain * which_stride + position[:, None] * n_out + n[None, :], mask=valid, other=4
    ).to(tl.int32)
    if LAYER == CONV1:
        value = tl.zeros((BM, BN), tl.float32)
        for column in tl.static_range(5):
            left = px - column
            at = ((image * 8 + left) * 12 + py) * 5 + column
            ok = valid & ((left >= 0) & (left < 8))[:, None]
            value += tl.load(d + chain * d_stride + at[:, None] * p1 + n[None, :], mask=ok, other=0.0).to(
                tl.float32
            )
    else:
        at = position * n_out
        value = tl.load(d + chain * d_stride + at[:, None] + n[None, :], mask=valid, other=0.0).to(tl.float32)
    value = tl.where(winner < 4, value, 0.0)
    tl.atomic_add(grad + bias + n, tl.sum(value, 0), mask=n < n_out, sem="relaxed")
    for corner in tl.static_range(4):
        x, y = 2 * px + corner // 2, 2 * py + corner % 2
        to = (image * 24 + x) * 24 + y if LAYER == CONV1 else (image * 8 + x) * 16 + y + 4
        part = tl.where(winner == corner, value, 0.0).to(out.dtype.element_ty)
        tl.store(out + chain * out_stride + to[:, None] * n_out + n[None, :], part, mask=valid)


@triton.jit
def _adam(value, grad, first, second, at, mask, rate, correction1, correction2):
    """One Adam step on the entries ``at``; returns the new values."""
    m = 0.9 * tl.load(first + at, mask=mask, other=0.0) + 0.1 * grad
    v = 0.999 * tl.load(second + at, mask=mask, other=0.0) + 0.001 * grad * grad
    tl.store(first + at, m, mask=mask)
    tl.store(second + at, v, mask=mask)
    return value - rate * (m / correction1) / (tl.sqrt(v / correction2) + 1e-8)


@triton.jit
def update(
    mu, rho, moments, grad, w, noise, blocks, segments, seeds, step, beta, chi, log_prior, prior_grad,
    length, batch,
    TRAIN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adam on μ and log σ (when TRAIN), then the next sample of the weights, w = μ + σ ε.

    Padding takes part, so that loads are wide: with μ = 0 and log σ = -inf it is and stays zero.
    """
    block = blocks + tl.program_id(0) * 2
    segment = tl.load(block)
    entry = tl.load(block + 1) * BLOCK + tl.arange(0, BLOCK)
    chain, tensor = segment // 8, segment % 8
    mask = entry < tl.multiple_of(tl.load(segments + segment * 2 + 1), 8)
    at = tl.multiple_of(tl.load(segments + segment * 2), 8) + entry
    mean = tl.load(mu + at, mask=mask, other=0.0)
    log_sigma = tl.load(rho + at, mask=mask, other=float("-inf"))
    now = tl.load(step)
    if TRAIN:
        now += 1
        b, rate = tl.load(beta + chain), tl.load(chi + chain)
        precision = tl.exp(-2.0 * tl.load(log_prior + segment))
        variance = tl.exp(2.0 * log_sigma)
        g = tl.load(grad + at, mask=mask, other=0.0) / batch
        if tensor < 4:
            tl.store(grad + at, tl.zeros((BLOCK,), tl.float32), mask=mask)
        noise_part = tl.load(noise + at, mask=mask, other=0.0).to(tl.float32) * tl.exp(log_sigma)
        used = log_sigma > float("-inf")
        excess = tl.where(used, 1.0 - (variance + mean * mean) * precision, 0.0)
        tl.atomic_add(prior_grad + segment, b * tl.sum(excess), sem="relaxed")
        t = now.to(tl.float32)
        c1, c2 = 1.0 - tl.exp(t * -0.105360515657826), 1.0 - tl.exp(t * -0.001000500333584)
        g_rho = g * noise_part + b * (variance * precision - 1.0)
        mean = _adam(mean, g + b * mean * precision, moments, moments + length, at, mask, rate, c1, c2)
        log_sigma = _adam(
            log_sigma, g_rho, moments + 2 * length, moments + 3 * length, at, mask, rate, c1, c2
        )
        tl.store(mu + at, mean, mask=mask)
        tl.store(rho + at, log_sigma, mask=mask)
    stream = tl.load(seeds + chain) * 4294967296 + now * 8 + tensor
    eps = tl.randn(stream, entry, n_rounds=7).to(noise.dtype.element_ty)
    tl.store(noise + at, eps, mask=mask)
    sample = mean + tl.exp(log_sigma) * eps.to(tl.float32)
    tl.store(w + at, sample.to(w.dtype.element_ty), mask=mask)


@triton.jit
def update_prior(log_prior, moments, prior_grad, chi, step, n, BLOCK: tl.constexpr):
    """Adam on every chain's eight log p, and the step counter."""
    at = tl.arange(0, BLOCK)
    mask = at < n
    now = tl.load(step) + 1
    g = tl.load(prior_grad + at, mask=mask, other=0.0)
    tl.store(prior_grad + at, tl.zeros((BLOCK,), tl.float32), mask=mask)
    t = now.to(tl.float32)
    c1, c2 = 1.0 - tl.exp(t * -0.105360515657826), 1.0 - tl.exp(t * -0.001000500333584)
    value = tl.load(log_prior + at, mask=mask, other=0.0)
    rate = tl.load(chi + at // 8, mask=mask, other=0.0)
    tl.store(log_prior + at, _adam(value, g, moments, moments + n, at, mask, rate, c1, c2), mask=mask)
    tl.debug_barrier()
    tl.store(step, now)
