"""A BoTorch model with known derivatives: the core's `process.gp`, `process.slopes` and `crossings` in torch.

Autograd through a GPyTorch posterior gives a wrong Var(∂f) for Matérn-5/2, so everything here is a closed
form that can be differentiated once by x. It is computed in float64 whatever the model's dtype, because ν² is
a difference of two numbers that are nearly equal.
Notation as in `tumble.core.process.gp`: M queries, N data, D dimensions, U levels.
"""

import math
from dataclasses import dataclass, fields
from typing import Any

import torch
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor
from torch.autograd.function import once_differentiable

from ...core.normal import LOG_SQRT_2PI, SQRT_2_OVER_PI, SQRT_HALF
from ...core.process.covariance import Hyper
from ...core.process.gp import GP, JITTER, condition
from ...core.process.kernels import Kernel
from ...core.process.outputs import Outputs
from .models import Reading, read

TINY = 1e-300
TENSORS = tuple(f.name for f in fields(Reading) if f.name != "kernel")


class _Known(torch.autograd.Function):
    """Values (M,) at x (M, D) whose gradients (M, D) are known; a second derivative is refused."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, value: Tensor, grad: Tensor) -> Tensor:
        ctx.save_for_backward(grad)
        return value.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor, None, None]:
        (grad,) = ctx.saved_tensors
        return outer[:, None] * grad, None, None


def _known(x: Tensor, value: Tensor, grad: Tensor) -> Tensor:
    result: Tensor = _Known.apply(x, value, grad)  # type: ignore[no-untyped-call]
    return result


def radial(kernel: Kernel, r2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """h0 = k, h1 = 2 dk/dr², h2 = 4 d²k/d(r²)² of the scaled squared distance, at unit variance."""
    if kernel == "se":
        h = torch.exp(-0.5 * r2)
        return h, -h, h
    r = torch.sqrt(5.0 * r2)
    e = torch.exp(-r)
    return (1.0 + r + r * r / 3.0) * e, (-5.0 / 3.0) * (1.0 + r) * e, (25.0 / 3.0) * e


@dataclass(frozen=True)
class _Rows:
    """Covariances of M queries with the data and what follows from one triangular solve."""

    s: Tensor  # (M, N, D)  (x - X) / ℓ²
    h1: Tensor  # (M, N)
    h2: Tensor  # (M, N)
    solved: Tensor  # (M, N)     B k
    solved_grad: Tensor  # (M, N, D)  B ∂k


@dataclass(frozen=True)
class _Slopes:
    """Posterior of (f, ∇f) at M points, as `core.process.slopes.Slopes`."""

    mean: Tensor  # (M,)
    var: Tensor  # (M,)
    grad_mean: Tensor  # (M, D)
    cov_f_grad: Tensor  # (M, D)
    var_grad: Tensor  # (M, D)


class Process(torch.nn.Module):
    """A snapshot of one single-output model, conditioned on its training data.

    x may be (..., D) in the model's own inputs; means, variances and levels are in the model's own outputs
    (what its posterior returns). Slopes are taken along the coordinates that the kernel sees, after
    `Normalize`, so that the units of the parameters do not weigh in.
    """

    X: Tensor
    y: Tensor  # NaN at points in flight
    noise: Tensor
    lengthscales: Tensor
    variance: Tensor
    prior_mean: Tensor
    gain: Tensor
    offset: Tensor
    shift: Tensor
    scale: Tensor
    eps: Tensor
    chol: Tensor
    weights: Tensor

    def __init__(self, reading: Reading, chol: Tensor, weights: Tensor) -> None:
        super().__init__()
        self.kernel = reading.kernel
        for name in TENSORS:
            self.register_buffer(name, getattr(reading, name))
        self.register_buffer("chol", chol)
        self.register_buffer("weights", weights)

    @classmethod
    @torch.no_grad()
    def of(cls, model: object) -> "Process":
        """The process that a BoTorch model describes; `UnsupportedModel` where no closed form is known."""
        r = read(model)
        chol = _factor(r)
        return cls(r, chol, torch.cholesky_solve((r.y - r.prior_mean)[:, None], chol)[:, 0])

    @property
    def inputs(self) -> Tensor:
        """(N, D) the training points in the model's own inputs."""
        return (self.X - self.offset) / self.gain

    @torch.no_grad()
    def excess(self, bound: float) -> Tensor:
        """(N,) by how much the outputs that were measured exceed `bound`; 0 where the scaling alone does."""
        over = self.shift + self.scale * self.y - bound
        rounding = 4.0 * self.eps * (self.shift.abs() + (self.scale * self.y).abs())
        return torch.where(over.abs() <= rounding, 0.0, over)

    @torch.no_grad()
    def with_pending(self, pending: Tensor | None) -> "Process":
        """The process that also saw its own mean at `pending` (P, D): only the uncertainty shrinks there."""
        if pending is None or pending.numel() == 0:
            return self
        extra = self._inputs(pending.detach())
        tensors = {name: getattr(self, name) for name in TENSORS}
        tensors["X"] = torch.cat([self.X, extra])
        tensors["y"] = torch.cat([self.y, self.y.new_full((len(extra),), math.nan)])
        tensors["noise"] = torch.cat([self.noise, self.noise.mean().expand(len(extra))])
        seen = Reading(self.kernel, **tensors)
        return Process(seen, _factor(seen), torch.cat([self.weights, self.weights.new_zeros(len(extra))]))

    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance (...,) at x (..., D), in the model's outputs; differentiable by x."""
        flat = self._inputs(x)
        at, _ = self._slopes(flat.detach())
        mean = _known(flat, at.mean, at.grad_mean)
        var = _known(flat, at.var, 2.0 * at.cov_f_grad)  # ∂σ² = 2c
        shape = x.shape[:-1]
        return self.shift + self.scale * mean.reshape(shape), self.scale**2 * var.reshape(shape)

    def log_crossings(self, x: Tensor, levels: Tensor) -> Tensor:
        """(...,) log of the mean intensity (8) of crossings of `levels` (U,) at x (..., D): (10)."""
        flat = self._inputs(x)
        value, grad = self._log_crossings(flat.detach(), levels, with_grad=flat.requires_grad)
        if grad is not None:
            value = _known(flat, value, grad)
        return value.reshape(x.shape[:-1])

    def to_core(self, bounds: Tensor, sign: float = 1.0, limit: float | None = None) -> GP:
        """The same process for `tumble.core`, in the unit cube of `bounds` (2, D).

        limit: None for an objective; else a constraint sign·(y - limit) <= 0, scaled but not shifted.
        """
        here = {name: getattr(self, name).double().cpu() for name in TENSORS}
        low, high = bounds.double().cpu() * here["gain"] + here["offset"]
        span = high - low
        shift, scale = float(self.shift), float(self.scale)
        lift = 0.0 if limit is None else (shift - limit) / scale
        hyper = Hyper(
            tuple((here["lengthscales"] / span).tolist()),
            float(self.variance),
            float(self.noise.mean().sqrt()),
        )
        return condition(
            self.kernel, hyper, ((here["X"] - low) / span).numpy(), sign * (here["y"].numpy() + lift),
            noise_var=here["noise"].numpy(), prior_mean=sign * (float(self.prior_mean) + lift),
            outputs=Outputs(sign * shift if limit is None else 0.0, scale),
        )  # fmt: skip

    def _inputs(self, x: Tensor) -> Tensor:
        """(M, D) in the coordinates that the kernel sees."""
        return x.to(self.gain).reshape(-1, x.shape[-1]) * self.gain + self.offset

    def _slopes(self, x: Tensor) -> tuple[_Slopes, _Rows]:
        """The joint law of f and its slopes at x (M, D), and the rows of the kernel that gradients need.

        With the rows k = h0(r²), ∂k = h1 s and K = L Lᵀ: var = k(x, x) - |L^-1 k|², c = -∂kᵀ K^-1 k.
        """
        r = (x[:, None, :] - self.X) / self.lengthscales
        h0, h1, h2 = (self.variance * h for h in radial(self.kernel, (r * r).sum(-1)))
        s = r / self.lengthscales
        grad_k = h1[:, :, None] * s
        M, N, D = s.shape
        right = torch.cat([h0[:, :, None], grad_k], dim=2).permute(1, 0, 2).reshape(N, M * (1 + D))
        half = torch.linalg.solve_triangular(self.chol, right, upper=False)
        squares = (half * half).sum(0).reshape(M, 1 + D)
        solved = (
            torch.linalg.solve_triangular(self.chol.T, half, upper=True).reshape(N, M, 1 + D).permute(1, 0, 2)
        )
        prior = self.variance * (1.0 if self.kernel == "se" else 5.0 / 3.0) / self.lengthscales**2
        slopes = _Slopes(
            mean=self.prior_mean + h0 @ self.weights,
            var=(self.variance - squares[:, 0]).clamp_min(float(JITTER * self.variance)),
            grad_mean=torch.einsum("mnd,n->md", grad_k, self.weights),
            cov_f_grad=-torch.einsum("mnd,mn->md", grad_k, solved[:, :, 0]),
            var_grad=prior - squares[:, 1:],
        )
        return slopes, _Rows(s, h1, h2, solved[:, :, 0], solved[:, :, 1:])

    @torch.no_grad()
    def _log_crossings(self, x: Tensor, levels: Tensor, *, with_grad: bool) -> tuple[Tensor, Tensor | None]:
        """log α (M,) and its gradient (M, D) in the kernel's coordinates; output units cancel in log α."""
        at, rows = self._slopes(x)
        u = (levels.to(at.mean) - self.shift) / self.scale
        value, grad = log_intensity(at, self._curvature(rows) if with_grad else None, u)
        total = torch.logsumexp(value, dim=1)
        log_alpha = total - math.log(len(u))  # (10)
        if grad is None:
            return log_alpha, None
        return log_alpha, torch.einsum("mu,mul->ml", torch.exp(value - total[:, None]), grad)

    def _curvature(self, rows: _Rows) -> "_Curvature":
        s, h1, h2 = rows.s, rows.h1, rows.h2
        inverse = self.lengthscales**-2.0

        def second(w: Tensor) -> Tensor:  # Σ_n w_n ∂_l ∂_j k_n
            return torch.einsum("mn,mnl,mnj->mlj", h2 * w, s, s) + torch.diag_embed(
                (h1 * w).sum(1)[:, None] * inverse
            )

        grad_k = h1[:, :, None] * s
        mixed = torch.einsum("mnl,mnj->mlj", s, h2[:, :, None] * s * rows.solved_grad)
        mixed = mixed + torch.diag_embed(torch.einsum("mn,mnj->mj", h1, rows.solved_grad) * inverse)
        d_cov = -torch.einsum("mnl,mnj->mlj", grad_k, rows.solved_grad) - second(rows.solved)
        return _Curvature(second(self.weights.expand_as(h1)), d_cov, -2.0 * mixed)


@dataclass(frozen=True)
class _Curvature:
    """Derivatives by x_l of what `_Slopes` holds, [m, l, j], as `core.process.slopes.Curvature`."""

    hess_mean: Tensor
    d_cov_f_grad: Tensor
    d_var_grad: Tensor


def log_intensity(at: _Slopes, bend: _Curvature | None, u: Tensor) -> tuple[Tensor, Tensor | None]:
    """(M, U) logarithm of (8), and its gradient (M, U, D) where `bend` is given.

    With z = (u - μ)/σ², m_j = ∂_j μ + c_j z, ν_j² = Var(∂_j f) - c_j²/σ² and γ_j = m_j/ν_j:
    (8) = N(u; μ, σ²) Σ_j [ν_j √(2/π) exp(-γ_j²/2) + m_j erf(γ_j/√2)].
    """
    c, var = at.cov_f_grad, at.var[:, None]
    z = (u - at.mean[:, None]) / var
    mean = at.grad_mean[:, None, :] + c[:, None, :] * z[:, :, None]
    nu2 = torch.maximum(at.var_grad - c**2 / var, 1e-12 * at.var_grad.clamp_min(TINY))
    std = torch.sqrt(nu2)[:, None, :]
    gamma = mean / std
    bell = SQRT_2_OVER_PI * torch.exp(-0.5 * gamma * gamma)
    sign = torch.erf(gamma * SQRT_HALF)
    norm = (std * bell + mean * sign).sum(2).clamp_min(TINY)
    value = -0.5 * z * z * var - 0.5 * torch.log(var) - LOG_SQRT_2PI + torch.log(norm)  # (8)
    if bend is None:
        return value, None
    d_z = -(at.grad_mean[:, None, :] + 2.0 * z[:, :, None] * c[:, None, :]) / var[:, :, None]
    pull = torch.einsum("muj,mlj->mul", sign, bend.hess_mean)
    pull = pull + z[:, :, None] * torch.einsum("muj,mlj->mul", sign, bend.d_cov_f_grad)
    pull = pull + torch.einsum("muj,mj->mu", sign, c)[:, :, None] * d_z
    ratio = c / var
    d_nu2 = bend.d_var_grad - 2.0 * bend.d_cov_f_grad * ratio[:, None, :]
    d_nu2 = d_nu2 + 2.0 * c[:, :, None] * (ratio**2)[:, None, :]
    pull = pull + torch.einsum("muj,mlj->mul", bell, d_nu2 / (2.0 * std))
    d_density = (
        z[:, :, None] * (at.grad_mean[:, None, :] + z[:, :, None] * c[:, None, :]) - (c / var)[:, None, :]
    )
    return value, d_density + pull / norm[:, :, None]


def _factor(r: Reading) -> Tensor:
    """Lower Cholesky factor (N, N) of the data's covariance, with jitter only where it fails without."""
    d = (r.X[:, None, :] - r.X[None, :, :]) / r.lengthscales
    K = r.variance * radial(r.kernel, (d * d).sum(-1))[0]
    factor: Tensor = psd_safe_cholesky(K + torch.diag(r.noise))
    return factor
