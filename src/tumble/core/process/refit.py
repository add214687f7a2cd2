"""When the hyperparameters of a process are learned again, and when the last ones still serve."""

from dataclasses import replace

import numpy as np

from ..arrays import Array
from .covariance import Hyper
from .fit import fit, relative_noise
from .gp import GP, condition
from .kernels import Kernel
from .outputs import Outputs
from .priors import LARGEST_NOISE, Priors

PER_PARAMETER = 10  # up to so many observations for each parameter, hyperparameters are learned after each,
SETTLED, LATEST = 40, 100  # and up to 40 in any case, but not beyond 100
GROWTH = 1.25  # then they are learned when there are a quarter more observations
FEW = 20  # below this many observations, a fit starts from the prior's centre as well as from the last fit
COLD_EVERY = 5  # while they are learned after each observation, a fit later does so at every fifth;
COLD_GROWTH = 1.5  # after that when data have doubled. It always does with 1.5 times those of the last fit


def refit(
    X: Array, y: Array, *, kernel: Kernel, priors: Priors, outputs: Outputs, last: Hyper | None,
    always: bool = False, anew: bool = False, noise: float | None = None, count: int | None = None,
) -> GP:  # fmt: skip
    """A process of X (N, D) and y (N,) in the user's units.

    last: the hyperparameters of the last fit. They are used again until `is_due`.
    always: whether to learn them anew after each observation.
    anew: whether to learn them anew in any case.
    noise: its standard deviation in the user's units, where it is known.
    count: how many observations there are in all, where X and y are some of them.
    """
    n = len(y) if count is None else count
    priors = priors_in_use(priors, X.shape[1], noise, outputs)
    if noise is not None and last is not None and isinstance(priors.noise, float):
        last = replace(last, noise=priors.noise)
    if len(y) == 0:
        return condition(kernel, priors.hyper_start(X.shape[1]), X, y)
    learned_from = 0 if last is None else last.learned_from
    if last is not None and not (always or anew) and not is_due(n, learned_from, X.shape[1]):
        target = outputs.to_model(y)
        relative = relative_noise(y, priors, outputs)
        noise_var = None if relative is None else last.noise**2 * relative
        return condition(
            kernel, last, X, target, noise_var=noise_var, mean_std=priors.mean_std, outputs=outputs
        )
    cold = starts_anew(n, learned_from, X.shape[1], always=always)
    found = fit(X, y, kernel=kernel, priors=priors, outputs=outputs, warm=last, cold=cold)
    return found if count is None else replace(found, hyper=replace(found.hyper, learned_from=count))


def priors_in_use(priors: Priors, dim: int, noise: float | None, outputs: Outputs) -> Priors:
    """The priors of a process in `dim` dimensions whose noise in the user's units is known, or None."""
    if dim == 1:
        priors = replace(priors, additive=None)  # one effect is the whole
    if noise is not None:  # where the warp is linear; elsewhere by its slope
        known = float(np.clip(noise / outputs.scale, 1.0 / LARGEST_NOISE, LARGEST_NOISE))
        priors = replace(priors, noise=known)
    return priors


def is_due(n: int, learned_from: int, dim: int) -> bool:
    """Whether hyperparameters learned from `learned_from` observations are to be learned again from n."""
    return n <= _settled(dim) or _generation(n) > _generation(max(learned_from, 1))


def starts_anew(n: int, learned_from: int, dim: int, *, always: bool = False) -> bool:
    """Whether a fit of n observations starts from the prior's centre too; the last fit had `learned_from`.

    That takes many evaluations, and the more observations there are, the more rarely it finds more.

    always: whether hyperparameters are learned after each observation, however many there are.
    """
    settled = _settled(dim)
    if n < FEW or n > COLD_GROWTH * learned_from:
        return True
    if always or n <= settled:
        return n % COLD_EVERY == 0
    return int(np.log2(n / settled)) > int(np.log2(max(learned_from, settled) / settled))


def _settled(dim: int) -> int:
    """Up to so many observations hyperparameters are learned after each."""
    return min(max(PER_PARAMETER * dim, SETTLED), LATEST)


def _generation(n: int) -> int:
    """Rises by 1 whenever n has grown by a factor GROWTH."""
    return int(np.log(n) / np.log(GROWTH))
