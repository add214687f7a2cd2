"""The Bayesian LeNet-5 of §5.3: how its weights lie in one flat vector, and a plain PyTorch training of it.

A scale κ sets the widths (4κ, 10κ, 100κ) of two 5×5 convolutions (ReLU, 2×2 max-pool) and a hidden layer, so
κ = 5 is the usual LeNet-5 and κ = 10 has 1 712 150 weights. Each weight has a Gaussian posterior N(μ, σ²);
each of the eight tensors (four of weights, four of biases) has a prior N(0, p²) with a learned log p.

Flat layout. Matrices are (inputs, outputs), row-major, widths padded to multiples of 8 so that every row is
aligned for 16-byte loads. A convolution's inputs run (row of the patch, column of the patch, channel); the
first one's columns are padded from 5 to 8. The hidden layer's inputs run (column, row, channel) of the last
feature map. Padding holds zeros and is never trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

N_TENSORS = 8
N_CLASSES = 10
LOG_SIGMA_INIT = -10.0
LOG_PRIOR_INIT = -2.0
ADAM = (0.9, 0.999, 1e-8)
NATS_PER_KB = 8000.0 * math.log(2.0)


@dataclass(frozen=True)
class Segment:
    """One tensor's place in the flat vector.

    Entry (r, c) is at ``start + r * columns + c``; it is a weight where ``r % period < row_limit`` and
    ``c < column_limit``, else padding.
    """

    tensor: int
    start: int
    rows: int
    columns: int
    period: int
    row_limit: int
    column_limit: int
    fan_in: int

    @property
    def length(self) -> int:
        """Entries, padding included."""
        return self.rows * self.columns

    def places(self) -> Tensor:
        """The positions of its weights in the flat vector, (number of weights,) int64, in order."""
        rows, columns = torch.arange(self.rows), torch.arange(self.column_limit)
        rows = rows[rows % self.period < self.row_limit]
        return (self.start + rows[:, None] * self.columns + columns[None, :]).flatten()


def _round_up(n: int) -> int:
    return -(-n // 8) * 8


@dataclass(frozen=True)
class Network:
    """The shape of one network: ``widths`` of the two convolutions and of the hidden layer."""

    widths: tuple[int, int, int]

    @classmethod
    def scaled(cls, kappa: float) -> Network:
        """The network of scale κ: widths (4κ, 10κ, 100κ), rounded, at least 1 each."""
        a, b, c = (max(1, math.floor(unit * kappa + 0.5)) for unit in (4, 10, 100))
        return cls((a, b, c))

    @property
    def padded(self) -> tuple[int, int, int]:
        """The widths rounded up to multiples of 8."""
        a, b, c = self.widths
        return _round_up(a), _round_up(b), _round_up(c)

    @cached_property
    def n_weights(self) -> int:
        """The number of weights and biases, without padding."""
        return sum(len(p) for p in self.places)

    @property
    def length(self) -> int:
        """Entries of the flat vector, padding included."""
        last = self.segments[-1]
        return last.start + 8 * last.columns

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The eight tensors: weights and biases of the four layers, in order."""
        (w1, w2, w3), (p1, p2, p3) = self.widths, self.padded
        shapes = (
            # rows, columns, period, row limit, column limit, fan-in, rows that the layer occupies
            (40, p1, 8, 5, w1, 25, 40),
            (1, p1, 1, 1, w1, 25, 1),
            (25 * p1, p2, p1, w1, w2, 25 * w1, 25 * p1),
            (1, p2, 1, 1, w2, 25 * w1, 1),
            (16 * p2, p3, p2, w2, w3, 16 * w2, 16 * p2),
            (1, p3, 1, 1, w3, 16 * w2, 8),
            (p3, 16, p3, w3, N_CLASSES, w3, p3),
            (1, 16, 1, 1, N_CLASSES, w3, 8),
        )
        found, start = [], 0
        for tensor, (rows, columns, period, row_limit, column_limit, fan_in, occupied) in enumerate(shapes):
            found.append(Segment(tensor, start, rows, columns, period, row_limit, column_limit, fan_in))
            start += occupied * columns
        return tuple(found)

    @cached_property
    def places(self) -> tuple[Tensor, ...]:
        """The positions of each tensor's weights in the flat vector; the rest is padding."""
        return tuple(s.places() for s in self.segments)

    def initial_mean(self, generator: torch.Generator) -> Tensor:
        """μ drawn from N(0, 1/fan-in), (length,), zeros in the padding."""
        mean = torch.zeros(self.length)
        for s, places in zip(self.segments, self.places, strict=True):
            mean[places] = torch.randn(len(places), generator=generator) / math.sqrt(s.fan_in)
        return mean

    def initial_log_sigma(self, value: float) -> Tensor:
        """log σ at ``value``, (length,); -inf in the padding, whose weights are so exactly zero."""
        log_sigma = torch.full((self.length,), -math.inf)
        log_sigma[torch.cat(self.places)] = value
        return log_sigma

    def divergence(self, mu: Tensor, rho: Tensor, log_prior: Tensor) -> Tensor:
        """KL(q ‖ p) of the whole network in nats, from flat μ, log σ and the (8,) log p."""
        total = mu.new_zeros(())
        for places, log_p in zip(self.places, log_prior, strict=True):
            m, log_ratio = mu[places.to(mu.device)], rho[places.to(mu.device)] - log_p
            total = (
                total
                + (0.5 * (torch.exp(2 * log_ratio) + (m * torch.exp(-log_p)) ** 2 - 1) - log_ratio).sum()
            )
        return total

    def logits(self, w: Tensor, images: Tensor) -> Tensor:
        """Class scores (n, 10) of images (n, 28, 28) under one flat sample of the weights."""
        (w1, w2, w3), (p1, p2, p3) = self.widths, self.padded
        part = [w[s.start : s.start + s.length] for s in self.segments]
        kernel1 = part[0].view(5, 8, p1)[:, :5, :w1].permute(2, 0, 1)[:, None]
        kernel2 = part[2].view(5, 5, p1, p2)[:, :, :w1, :w2].permute(3, 2, 0, 1)
        h = functional.conv2d(images[:, None], kernel1, part[1][:w1])
        h = functional.max_pool2d(functional.relu(h), 2)
        h = functional.max_pool2d(functional.relu(functional.conv2d(h, kernel2, part[3][:w2])), 2)
        h = h.permute(0, 3, 2, 1).reshape(len(images), 16 * w2)
        hidden = part[4].view(16, p2, p3)[:, :w2, :w3].reshape(16 * w2, w3)
        h = functional.relu(h @ hidden + part[5][:w3])
        return h @ part[6].view(p3, 16)[:w3, :N_CLASSES] + part[7][:N_CLASSES]


@dataclass(frozen=True)
class Posterior:
    """A trained network: flat μ and log σ of shape (length,), and log p of shape (8,)."""

    network: Network
    mu: Tensor
    rho: Tensor
    log_prior: Tensor

    @property
    def size_kb(self) -> float:
        """Theoretical size in kB (1000 bytes): KL/(8 ln 2) bytes."""
        kl = self.network.divergence(self.mu.double(), self.rho.double(), self.log_prior.double())
        return float(kl) / NATS_PER_KB

    def sample(self, generator: torch.Generator) -> Tensor:
        """One flat sample of the weights."""
        noise = torch.zeros_like(self.mu)
        noise[torch.cat(self.network.places)] = torch.randn(self.network.n_weights, generator=generator)
        return self.mu + self.rho.exp() * noise

    @torch.no_grad()
    def error_percent(self, images: Tensor, labels: Tensor, generator: torch.Generator, n: int) -> float:
        """Classification error in %, averaged over n samples of the weights."""
        wrong = 0
        for _ in range(n):
            w = self.sample(generator)
            for x, y in zip(torch.split(images, 1000), torch.split(labels, 1000), strict=True):
                wrong += int((self.network.logits(w, x).argmax(1) != y).sum())
        return 100.0 * wrong / (n * len(labels))


def epochs(n: int, batch: int, generator: torch.Generator) -> Callable[[], Tensor]:
    """A source of mini-batches: each call gives (batch,) indices; each epoch is a fresh permutation of n."""
    order = torch.empty(0, dtype=torch.int64)
    used = 0

    def draw() -> Tensor:
        nonlocal order, used
        if used + batch > len(order):
            order, used = torch.randperm(n, generator=generator), 0
        used += batch
        return order[used - batch : used]

    return draw


def train_plain(
    network: Network,
    images: Tensor,
    labels: Tensor,
    *,
    beta: float,
    chi: float,
    iterations: int,
    batch: int,
    seed: int,
    log_sigma: float = LOG_SIGMA_INIT,
) -> Posterior:
    """Train one network with autograd in float32: the reference, and the way without a GPU.

    One weight sample a mini-batch; loss = mean cross-entropy + β·KL in nats; Adam at rate χ.
    """
    generator = torch.Generator().manual_seed(seed)
    mu = network.initial_mean(generator).requires_grad_()
    rho = network.initial_log_sigma(log_sigma).requires_grad_()
    log_prior = torch.full((N_TENSORS,), LOG_PRIOR_INIT).requires_grad_()
    adam = torch.optim.Adam([mu, rho, log_prior], lr=chi, betas=ADAM[:2], eps=ADAM[2])
    draw = epochs(len(labels), batch, generator)
    for _ in range(iterations):
        rows = draw()
        w = Posterior(network, mu, rho, log_prior).sample(generator)
        loss = functional.cross_entropy(network.logits(w, images[rows]), labels[rows])
        loss = loss + beta * network.divergence(mu, rho, log_prior)
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
    return Posterior(network, mu.detach(), rho.detach(), log_prior.detach())
