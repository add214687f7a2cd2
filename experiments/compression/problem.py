"""Compressing a network, §5.3: a Bayesian LeNet-5 on MNIST, as accurate as can be in less than 15 kB.

Three numbers decide: β, the price of a nat of KL in the loss; χ, Adam's learning rate; κ, a scale on all
widths. A trial trains the network and reports

    objective     log10 of the validation error in %
    constraint    5 log10(size / 15 kB), with size = KL(q ‖ p) / (8 ln 2) bytes (Havasi et al. 2018)

`FULL` is the paper's protocol: 20 000 iterations, κ up to 10. On a GPU `train` runs many trainings side by
side; on a CPU one takes hours, so `REDUCED` is a protocol of well under a minute with fewer images and
iterations, a smaller κ and a wider initial posterior. Its numbers are not the paper's, and it says so.

>>> problem = compression(load("path/to/mnist"))  # doctest: +SKIP
>>> train([Setting(6.56e-7, 1.35e-3, 10.0)], load("path/to/mnist"))  # doctest: +SKIP
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tumble.errors import Failure, InputError
from tumble.problems import Problem

from .mnist import Digits, check_there, download, load

__all__ = [
    "FULL",
    "REDUCED",
    "Digits",
    "Protocol",
    "Setting",
    "Trainer",
    "Training",
    "check_there",
    "compression",
    "download",
    "load",
    "problem_of",
    "train",
]

Array = NDArray[np.float64]

LIMIT_KB = 15.0
TRIALS, FAILURES = 20, 5
PARAMETER_NAMES = ("log10 beta", "log10 chi", "kappa")
LOG_BETA, LOG_CHI = (-8.0, -5.0), (-4.0, -2.0)
BEST_SEEN = math.log10(0.6)  # just below the best validation error seen under the full protocol


@dataclass(frozen=True)
class Protocol:
    """How a trial is carried out.

    n_train, n_validation, n_test: at most so many images. samples: draws of the weights that an error is
    averaged over. log_sigma: log σ at the start. kappa_max: the upper bound of κ.
    """

    name: str
    iterations: int
    batch: int
    n_train: int
    n_validation: int
    n_test: int
    samples: int
    log_sigma: float
    kappa_max: float

    @property
    def bounds(self) -> Array:
        """(3, 2) bounds of log10 β, log10 χ and κ."""
        return np.array([LOG_BETA, LOG_CHI, (1.0, self.kappa_max)])


FULL = Protocol("full", 20_000, 256, 55_000, 5_000, 10_000, 20, -10.0, 10.0)
REDUCED = Protocol("reduced", 400, 64, 4_000, 1_000, 1_000, 5, -4.0, 3.0)


@dataclass(frozen=True)
class Setting:
    """What is tuned, β, χ and κ, and the seed of the training's randomness."""

    beta: float
    chi: float
    kappa: float
    seed: int = 0

    @classmethod
    def at(cls, x: Array, seed: int = 0) -> Setting:
        """The setting at a point (log10 β, log10 χ, κ) of the search."""
        log_beta, log_chi, kappa = (float(v) for v in x)
        return cls(10.0**log_beta, 10.0**log_chi, kappa, seed)


@dataclass(frozen=True)
class Training:
    """What came of one training: errors in %, averaged over samples of the weights, and the size in kB.

    seconds: of the whole batch of trainings that it was part of; together: how many they were.
    """

    setting: Setting
    protocol: str
    error: float
    test_error: float
    size_kb: float
    seconds: float
    together: int

    @property
    def diverged(self) -> bool:
        """Whether the training left the finite numbers."""
        return not (math.isfinite(self.size_kb) and self.size_kb > 0.0)

    @property
    def value(self) -> float:
        """The objective, log10 of the validation error in % (of at least 0.01 %)."""
        return math.log10(max(self.error, 0.01))

    @property
    def constraint(self) -> float:
        """5 log10(size / 15 kB): at or below zero where the network is small enough."""
        return 5.0 * math.log10(self.size_kb / LIMIT_KB)


def train(
    settings: Sequence[Setting], data: Digits, protocol: Protocol = FULL, device: str | None = None
) -> list[Training]:
    """Carry out the trainings once; see `Trainer`."""
    return Trainer(data, protocol, device)(settings)


class Trainer:
    """Carries out trainings: on a GPU side by side in lockstep, on a CPU one after the other.

    ``device`` is "cuda" or "cpu"; None takes a GPU where PyTorch sees one. The images are prepared once.
    """

    def __init__(self, data: Digits, protocol: Protocol = FULL, device: str | None = None) -> None:
        import torch

        self.protocol = protocol
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        used = data.subset(protocol.n_train, protocol.n_validation, protocol.n_test)
        if used.n_train < protocol.batch:
            raise InputError(
                f"{used.n_train} training images are fewer than a mini-batch of {protocol.batch}"
            )
        self._parts = (used.n_train, used.n_train + used.n_validation)
        self._images = torch.from_numpy(used.images).to(self.device)
        self._labels = torch.from_numpy(used.labels).to(self.device)
        if self.device != "cpu":
            from .fused import patches

            self._images = patches(self._images, torch.bfloat16)
            self._labels = self._labels.to(torch.int32)

    def __call__(self, settings: Sequence[Setting]) -> list[Training]:
        """What comes of each of the trainings, in their order."""
        for s in settings:
            if not (s.beta > 0 and s.chi > 0 and 1.0 <= s.kappa <= 10.0 and s.seed >= 0):
                raise InputError(f"expected beta > 0, chi > 0, 1 <= kappa <= 10 and seed >= 0; got {s}")
        if self.device == "cpu":
            return [self._plain(setting) for setting in settings]
        return self._lockstep(settings)

    def _plain(self, setting: Setting) -> Training:
        import torch

        from .network import Network, train_plain

        begun = time.perf_counter()
        (a, b), protocol, images, labels = self._parts, self.protocol, self._images, self._labels
        posterior = train_plain(
            Network.scaled(setting.kappa),
            images[:a],
            labels[:a],
            beta=setting.beta,
            chi=setting.chi,
            iterations=protocol.iterations,
            batch=protocol.batch,
            seed=setting.seed,
            log_sigma=protocol.log_sigma,
        )
        generator = torch.Generator().manual_seed(setting.seed)
        error, test_error = (
            posterior.error_percent(images[part], labels[part], generator, protocol.samples)
            for part in (slice(a, b), slice(b, None))
        )
        seconds = time.perf_counter() - begun
        return Training(setting, protocol.name, error, test_error, posterior.size_kb, seconds, 1)

    def _lockstep(self, settings: Sequence[Setting]) -> list[Training]:
        import torch

        from .fused import Chain, Lockstep
        from .network import Network

        begun = time.perf_counter()
        (a, b), protocol = self._parts, self.protocol
        chains = [Chain(Network.scaled(s.kappa), s.beta, s.chi, s.seed) for s in settings]
        state = Lockstep(
            chains, self._images, self._labels, protocol.batch, self._images.dtype, protocol.log_sigma
        )
        state.train(protocol.iterations, a)
        rows = torch.arange(len(self._labels), device=self.device)
        errors = state.errors(rows[a:b], protocol.samples)
        test_errors = state.errors(rows[b:], protocol.samples)
        sizes = [state.posterior(i).size_kb for i in range(len(settings))]
        seconds = time.perf_counter() - begun
        return [
            Training(setting, protocol.name, error, test_error, size, seconds, len(settings))
            for setting, error, test_error, size in zip(settings, errors, test_errors, sizes, strict=True)
        ]


def problem_of(trainer: Callable[[Setting], Training], protocol: Protocol = FULL, seed: int = 0) -> Problem:
    """The problem of §5.3 around any way to carry out a training; one that diverges is a crash."""

    @lru_cache(maxsize=2)
    def run(x: tuple[float, ...]) -> Training:
        outcome = trainer(Setting.at(np.array(x), seed))
        if outcome.diverged:
            raise Failure("the training diverged")
        return outcome

    return Problem(
        name=f"compression:{seed}" if protocol == FULL else f"compression-{protocol.name}:{seed}",
        bounds=protocol.bounds,
        objective=lambda x: run(tuple(x.tolist())).value,
        constraints=lambda x: np.array([run(tuple(x.tolist())).constraint]),
        constraint_names=("size",),
        parameter_names=PARAMETER_NAMES,
        f_min=BEST_SEEN,
        trials=TRIALS,
        failures=FAILURES,
        note=f"Protocol {protocol.name}: {protocol.iterations} iterations, κ up to {protocol.kappa_max:g}.",
    )


def compression(
    data: Digits, protocol: Protocol = FULL, *, seed: int = 0, device: str | None = None
) -> Problem:
    """The problem of §5.3 on these images: T = 20, B = 5, size below 15 kB.

    Each trial trains one network; `experiments.compression.lockstep` trains those of many runs at once.
    ``seed`` fixes the randomness of every training.
    """
    trainer = Trainer(data, protocol, device)
    return problem_of(lambda setting: trainer([setting])[0], protocol, seed)
