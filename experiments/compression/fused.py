"""Many Bayesian LeNet-5 trained in lockstep on a GPU: flat parameters, fused kernels, a CUDA graph.

The chains (trainings) are independent: each has its own widths, β, χ, seed, mini-batches and noise, and what
it learns does not depend on its neighbours (but for the order of float additions). A step of all chains is
fifteen kernels, captured `UNROLL` steps to a graph. Weights and activations are bfloat16, sums, gradients and
the posterior's parameters float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from . import kernels
from .network import LOG_PRIOR_INIT, LOG_SIGMA_INIT, N_TENSORS, Network, Posterior

UNROLL = 10
UPDATE_BLOCK = 1024
CONV1, CONV2, HIDDEN, OUTPUT = 1, 2, 3, 4
EVALUATION_STREAM = 1 << 27  # above any step, so that no evaluation repeats a training's noise


class Tile(NamedTuple):
    """How a kernel cuts a product (m, k) × (k, n) into blocks, and with how many warps and stages."""

    m: int
    n: int
    k: int
    warps: int = 4
    stages: int = 3
    splits: int = 1


# Chosen by timing fifteen networks of κ = 10 on an H200.
TILES: dict[tuple[str, int], Tile] = {
    ("conv_pool", CONV1): Tile(128, 64, 64),
    ("conv_pool", CONV2): Tile(128, 128, 64, warps=8),
    ("dense", HIDDEN): Tile(128, 128, 64),
    ("dense", OUTPUT): Tile(32, 16, 64),
    ("back", OUTPUT): Tile(64, 128, 16),
    ("back", HIDDEN): Tile(128, 128, 64),
    ("back", CONV2): Tile(128, 256, 64, warps=8),
    ("weight_gradient", OUTPUT): Tile(64, 16, 64),
    ("weight_gradient", HIDDEN): Tile(64, 128, 128),
    ("weight_gradient", CONV2): Tile(64, 128, 256, warps=8, splits=4),
    ("weight_gradient", CONV1): Tile(64, 64, 64, stages=4, splits=32),
    ("unpool", CONV2): Tile(32, 128, 0),
    ("unpool", CONV1): Tile(64, 64, 0, warps=8),
}


@dataclass(frozen=True)
class Chain:
    """One training: a network's shape, β, the learning rate χ and the seed of all its randomness."""

    network: Network
    beta: float
    chi: float
    seed: int


def patches(images: Tensor, dtype: torch.dtype) -> Tensor:
    """Lay images (n, 28, 28) out as [image][x 24][y 28][column of patch 5, padded to 8], flat."""
    columns = images.unfold(2, 5, 1)  # (n, y, x, column)
    laid = torch.zeros(len(images), 24, 28, 8, dtype=dtype, device=images.device)
    laid[..., :5] = columns.permute(0, 2, 1, 3)
    return laid.flatten()


def _chain_stride(x: Tensor) -> int:
    """Entries from one chain's part to the next; 0 for the images, which all chains share."""
    return x.stride(0) if x.dim() == 2 else 0


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


def _power_of_two(n: int) -> int:
    return max(16, 1 << (n - 1).bit_length())


class Lockstep:
    """The state of the chains and one training step of all of them.

    images_laid: `patches` of all images, training and evaluation, on the device.
    labels: (n,) int32 on the device.
    """

    def __init__(
        self,
        chains: Sequence[Chain],
        images_laid: Tensor,
        labels: Tensor,
        batch: int,
        dtype: torch.dtype = torch.bfloat16,
        log_sigma: float = LOG_SIGMA_INIT,
    ) -> None:
        self.chains = tuple(chains)
        self.batch, self.log_sigma = batch, log_sigma
        self.images, self.labels = images_laid, labels
        self.device = labels.device
        self._offsets = [0]
        for chain in self.chains:
            self._offsets.append(self._offsets[-1] + chain.network.length)
        self._allocate(dtype)
        self._tables()
        self._reset()

    def _allocate(self, dtype: torch.dtype) -> None:
        p1, p2, p3 = (max(c.network.padded[i] for c in self.chains) for i in range(3))
        n, b, total = len(self.chains), self.batch, self._offsets[-1]
        assert n * b * 576 * p1 < 2**31, "offsets are 32-bit"

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros(*shape, dtype=dtype, device=self.device)

        self.widest = (p1, p2, p3)
        self.mu, self.rho, self.grad = zeros(total), zeros(total), zeros(total)
        self.moments = zeros(4 * total)
        self.w, self.noise = zeros(total, dtype=dtype), zeros(total, dtype=dtype)
        self.log_prior, self.prior_grad = zeros(n * N_TENSORS), zeros(n * N_TENSORS)
        self.prior_moments = zeros(2 * n * N_TENSORS)
        self.step_count = zeros(1, dtype=torch.int64)
        self.rows = zeros(UNROLL, n, b, dtype=torch.int32)
        self.hits = zeros(n, b, dtype=torch.int8)
        self.x2, self.which1 = zeros(n, b * 480 * p1, dtype=dtype), zeros(n, b * 144 * p1, dtype=torch.int8)
        self.x3 = zeros(n, b * (16 * p2 + 8), dtype=dtype)
        self.which2 = zeros(n, b * 16 * p2, dtype=torch.int8)
        self.h, self.d_scores = zeros(n, b * (p3 + 8), dtype=dtype), zeros(n, b * 16, dtype=dtype)
        self.d_h, self.d_x3 = zeros(n, b * p3, dtype=dtype), zeros(n, b * 16 * p2, dtype=dtype)
        self.d_map2, self.d_x2 = zeros(n, b * 128 * p2, dtype=dtype), zeros(n, b * 480 * p1, dtype=dtype)
        self.d_map1 = zeros(n, b * 576 * p1, dtype=dtype)

    def _tables(self) -> None:
        """What the kernels read about the chains: widths, offsets, segments, blocks of the flat vector."""
        table, segments, blocks = [], [], []
        for c, (chain, base) in enumerate(zip(self.chains, self._offsets, strict=False)):
            parts = chain.network.segments
            table.append([*chain.network.padded, *(base + parts[i].start for i in (0, 1, 2, 3, 4, 6))])
            for s in parts:
                segments.append([base + s.start, s.length])
                number = c * N_TENSORS + s.tensor
                blocks += [[number, i] for i in range(_cdiv(s.length, UPDATE_BLOCK))]
            _, p2, p3 = chain.network.padded
            self.x3[c, : self.batch * (16 * p2 + 8)].view(self.batch, -1)[:, 16 * p2] = 1.0  # for the biases
            self.h[c, : self.batch * (p3 + 8)].view(self.batch, -1)[:, p3] = 1.0

        def ints(values: list[list[int]]) -> Tensor:
            return torch.tensor(values, dtype=torch.int32, device=self.device)

        self.table, self.segments, self.blocks = ints(table), ints(segments), ints(blocks)
        self.seeds = torch.tensor([c.seed for c in self.chains], dtype=torch.int64, device=self.device)
        self.beta = torch.tensor([c.beta for c in self.chains], dtype=torch.float32, device=self.device)
        self.chi = torch.tensor([c.chi for c in self.chains], dtype=torch.float32, device=self.device)

    def _reset(self) -> None:
        """Put every chain at its start."""
        for chain, base in zip(self.chains, self._offsets, strict=False):
            generator = torch.Generator().manual_seed(chain.seed)
            part, network = slice(base, base + chain.network.length), chain.network
            self.mu[part] = network.initial_mean(generator).to(self.device)
            self.rho[part] = network.initial_log_sigma(self.log_sigma).to(self.device)
        self.log_prior.fill_(LOG_PRIOR_INIT)
        for state in (self.grad, self.moments, self.prior_grad, self.prior_moments, self.step_count):
            state.zero_()
        self.sample()

    def sample(self) -> None:
        """Draw every chain's weights from its posterior, with the noise of the current step."""
        self._update(train=False)

    def _update(self, train: bool) -> None:
        kernels.update[(len(self.blocks),)](
            self.mu, self.rho, self.moments, self.grad, self.w, self.noise, self.blocks, self.segments,
            self.seeds, self.step_count, self.beta, self.chi, self.log_prior, self.prior_grad,
            len(self.mu), self.batch,
            TRAIN=train, BLOCK=UPDATE_BLOCK, num_warps=8,
        )  # fmt: skip

    def forward(self, rows: Tensor) -> None:
        """Scores of the images ``rows`` (chains, batch): fills ``hits`` and the gradient by the scores."""
        self._conv_pool(CONV1, self.images, rows, self.x2, self.which1)
        self._conv_pool(CONV2, self.x2, rows, self.x3, self.which2)
        self._dense(HIDDEN, self.x3, rows, self.h)
        self._dense(OUTPUT, self.h, rows, self.d_scores)

    def backward(self, rows: Tensor) -> None:
        """Gradient of the summed cross-entropy by the sampled weights: ``grad``."""
        self._weight_gradient(OUTPUT, self.h, rows, self.d_scores)
        self._back(OUTPUT, self.d_scores, self.d_h)
        self._weight_gradient(HIDDEN, self.x3, rows, self.d_h)
        self._back(HIDDEN, self.d_h, self.d_x3)
        self._unpool(CONV2, self.d_x3, self.which2, self.d_map2)
        self._weight_gradient(CONV2, self.x2, rows, self.d_map2)
        self._back(CONV2, self.d_map2, self.d_x2)
        self._unpool(CONV1, self.d_x2, self.which1, self.d_map1)
        self._weight_gradient(CONV1, self.images, rows, self.d_map1)

    def _conv_pool(self, layer: int, x: Tensor, rows: Tensor, out: Tensor, which: Tensor) -> None:
        tile, positions = TILES["conv_pool", layer], self.batch * (144 if layer == CONV1 else 16)
        kernels.conv_pool[(_cdiv(positions, tile.m), len(self.chains))](
            x, rows, self.w, out, which, self.table, self.batch,
            _chain_stride(x), out.stride(0), which.stride(0),
            LAYER=layer, BM=tile.m, BN=_power_of_two(self.widest[layer - 1]), BK=tile.k,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip

    def _dense(self, layer: int, a: Tensor, rows: Tensor, out: Tensor) -> None:
        tile, width = TILES["dense", layer], 16 if layer == OUTPUT else self.widest[2]
        kernels.dense[(_cdiv(self.batch, tile.m), _cdiv(width, tile.n), len(self.chains))](
            a, rows, self.labels, self.w, out, self.hits, self.table, self.batch, a.stride(0), out.stride(0),
            LAYER=layer, BM=tile.m, BN=tile.n, BK=tile.k, num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip

    def _back(self, layer: int, d: Tensor, out: Tensor) -> None:
        p1, p2, p3 = self.widest
        tile, m = TILES["back", layer], self.batch * (96 if layer == CONV2 else 1)
        n = {CONV2: 5 * p1, HIDDEN: 16 * p2, OUTPUT: p3}[layer]
        kernels.back[(_cdiv(m, tile.m), _cdiv(n, tile.n), len(self.chains))](
            d, self.w, self.h, out, self.table, self.batch, d.stride(0), self.h.stride(0), out.stride(0),
            LAYER=layer, BM=tile.m, BN=tile.n, BK=tile.k, num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip

    def _weight_gradient(self, layer: int, a: Tensor, rows: Tensor, d: Tensor) -> None:
        p1, p2, p3 = self.widest
        k, n, per_image = {
            CONV1: (40, p1, 576),
            CONV2: (25 * p1, p2, 64),
            HIDDEN: (16 * p2 + 8, p3, 1),
            OUTPUT: (p3 + 8, 16, 1),
        }[layer]
        tile = TILES["weight_gradient", layer]
        bn = min(tile.n, _power_of_two(n))
        per_split = _cdiv(_cdiv(self.batch * per_image, tile.splits), tile.m) * tile.m
        kernels.weight_gradient[(_cdiv(k, tile.k) * _cdiv(n, bn), tile.splits, len(self.chains))](
            a, rows, d, self.grad, self.table, self.batch, _chain_stride(a), d.stride(0), per_split,
            LAYER=layer, BM=tile.m, BN=bn, BK=tile.k, num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip

    def _unpool(self, layer: int, d: Tensor, which: Tensor, out: Tensor) -> None:
        tile, positions = TILES["unpool", layer], self.batch * (144 if layer == CONV1 else 16)
        kernels.unpool[(_cdiv(positions, tile.m), len(self.chains))](
            d, which, out, self.grad, self.table, self.batch, d.stride(0), which.stride(0), out.stride(0),
            LAYER=layer, BM=tile.m, BN=_power_of_two(self.widest[layer - 1]), num_warps=tile.warps,
        )  # fmt: skip

    def step(self, rows: Tensor) -> None:
        """One iteration of every chain on the images ``rows``, (chains, batch) int32."""
        self.forward(rows)
        self.backward(rows)
        self._update(train=True)
        n = len(self.log_prior)
        kernels.update_prior[(1,)](
            self.log_prior, self.prior_moments, self.prior_grad, self.chi, self.step_count, n,
            BLOCK=_power_of_two(n),
        )  # fmt: skip

    def train(self, iterations: int, n_images: int) -> None:
        """Train on the first ``n_images`` images, an epoch a fresh permutation for each chain."""
        replay = self._capture() if self.device.type == "cuda" else None
        generators = [torch.Generator(self.device).manual_seed(c.seed) for c in self.chains]
        per_epoch = n_images // self.batch
        per_epoch -= per_epoch % UNROLL if per_epoch > UNROLL else 0
        done = 0
        while done < iterations:
            order = torch.stack([
                torch.randperm(n_images, generator=g, device=self.device)[: per_epoch * self.batch]
                for g in generators
            ]).to(torch.int32).view(len(self.chains), per_epoch, self.batch).transpose(0, 1)  # fmt: skip
            for first in range(0, min(per_epoch, iterations - done), UNROLL):
                rows = order[first : min(first + UNROLL, iterations - done)]
                self.rows[: len(rows)].copy_(rows)
                if replay is not None and len(rows) == UNROLL:
                    replay.replay()
                else:
                    for i in range(len(rows)):
                        self.step(self.rows[i])
            done += per_epoch

    def _capture(self) -> torch.cuda.CUDAGraph:
        self.step(self.rows[0])  # compiles the kernels
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(UNROLL):
                self.step(self.rows[i])
        self._reset()
        return graph

    def errors(self, images: Tensor, samples: int) -> list[float]:
        """Each chain's error in % on the images of those indices, averaged over samples of the weights."""
        wrong = torch.zeros(len(self.chains), device=self.device)
        for i in range(samples):
            self.step_count.fill_(EVALUATION_STREAM + i)
            self.sample()
            for rows in torch.split(images.to(torch.int32), self.batch):
                self.rows[0].zero_()
                self.rows[0, :, : len(rows)] = rows
                self.forward(self.rows[0])
                wrong += (self.hits[:, : len(rows)] == 0).sum(1)
        return [100.0 * float(w) / (samples * len(images)) for w in wrong]

    def posterior(self, index: int) -> Posterior:
        """What one chain has learned."""
        base, network = self._offsets[index], self.chains[index].network
        part = slice(base, base + network.length)
        prior = self.log_prior[index * N_TENSORS : (index + 1) * N_TENSORS]
        return Posterior(network, self.mu[part], self.rho[part], prior)
