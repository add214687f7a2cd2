"""What a BoTorch model says: kernel, hyperparameters, data and transforms, or why it cannot be used.

Closed forms are known for exact, single-output processes with an RBF or a Matérn-5/2 kernel (with or without
`ScaleKernel`), a constant or zero mean, Gaussian noise, `Normalize` and `Standardize`. Everything else is
refused: an error is better than a wrong number.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms.input import Normalize
from botorch.models.transforms.outcome import Standardize
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood, GaussianLikelihood
from gpytorch.means import ConstantMean, ZeroMean
from gpytorch.models import ExactGP
from gpytorch.priors import LogNormalPrior
from torch import Tensor

from ...core.process.kernels import Kernel as KernelName
from ...core.process.priors import LogNormal
from ...core.settings import DEFAULT_PRIORS
from ...errors import InputError

USE = (
    "use SingleTaskGP with RBFKernel or MaternKernel(nu=2.5), with or without ScaleKernel, "
    "Normalize and Standardize"
)


class UnsupportedModel(InputError):
    """A model, or a part of one, for which no closed form is known."""


@dataclass(frozen=True)
class Reading:
    """One process, in float64: kernel coordinates x·gain + offset, outputs shift + scale·f."""

    kernel: KernelName
    X: Tensor  # (N, D) kernel coordinates
    y: Tensor  # (N,) model units
    noise: Tensor  # (N,) variances
    lengthscales: Tensor  # (D,)
    variance: Tensor  # ()
    prior_mean: Tensor  # ()
    gain: Tensor  # (D,)
    offset: Tensor  # (D,)
    shift: Tensor  # ()
    scale: Tensor  # ()
    eps: Tensor  # () what the model's dtype rounds by


def split(model: Any) -> list[Any]:
    """The single-output models of a `ModelListGP` or of one model with several independent outputs."""
    if isinstance(model, ModelListGP):
        return list(model.models)
    if not isinstance(model, SingleTaskGP) or model.num_outputs == 1:
        return [model]
    try:
        return [model.subset_output([index]) for index in range(model.num_outputs)]
    except NotImplementedError:
        raise UnsupportedModel(
            f"a model of {model.num_outputs} outputs can be split only with BoTorch's default kernel: "
            "put one model an output into a ModelListGP"
        ) from None


def read(model: Any) -> Reading:
    """The numbers of a single-output model."""
    if not isinstance(model, ExactGP) or isinstance(model, ModelListGP):
        raise UnsupportedModel(f"expected an exact single-output GP, but {type(model).__name__} came: {USE}")
    if model.num_outputs != 1 or len(model.batch_shape):
        raise UnsupportedModel(
            f"expected one output and no batch, but {model.num_outputs} outputs and batch shape "
            f"{tuple(model.batch_shape)} came: put one model an output into a ModelListGP"
        )
    model.eval()  # the kernel's coordinates become the training inputs
    X, y = model.train_inputs[0].detach().double(), model.train_targets.detach().double()
    if not bool(torch.isfinite(X).all() and torch.isfinite(y).all()):
        raise InputError(
            "the training data of the model hold values that are not finite: leave those trials out, and "
            "where they crashed give FailureAwareExcursionSearch their number as crashed"
        )
    gain, offset = _inputs(getattr(model, "input_transform", None), X)
    shift, scale = _outputs(getattr(model, "outcome_transform", None), X)
    kernel, lengthscale, variance = _kernel(model.covar_module, X)
    return Reading(
        kernel=kernel, X=X, y=y, noise=_noise(model.likelihood, len(X)),
        lengthscales=lengthscale.expand(X.shape[1]).clone(), variance=variance,
        prior_mean=_mean(model.mean_module, X), gain=gain, offset=offset, shift=shift, scale=scale,
        eps=X.new_tensor(torch.finfo(model.train_targets.dtype).eps),
    )  # fmt: skip


def _kernel(module: Any, X: Tensor) -> tuple[KernelName, Tensor, Tensor]:
    variance = X.new_ones(())
    inner = module
    if type(module) is ScaleKernel:
        variance, inner = module.outputscale.detach().double().reshape(()), module.base_kernel
    if type(inner) is RBFKernel:
        name: KernelName = "se"
    elif type(inner) is MaternKernel and inner.nu == 2.5:
        name = "matern52"
    else:
        nu = f" with nu = {inner.nu}" if isinstance(inner, MaternKernel) else ""
        raise UnsupportedModel(f"no closed form is known for the kernel {type(inner).__name__}{nu}: {USE}")
    for part in (module, inner):
        if isinstance(part, Kernel) and part.active_dims is not None:
            raise UnsupportedModel(
                "a kernel with active_dims sees only some inputs: give the model those alone"
            )
    return name, inner.lengthscale.detach().double().reshape(-1), variance


def _mean(module: Any, X: Tensor) -> Tensor:
    if type(module) is ZeroMean:
        return X.new_zeros(())
    if type(module) is ConstantMean:
        constant: Tensor = module.constant.detach().double().reshape(())
        return constant
    raise UnsupportedModel(f"the mean must be ConstantMean or ZeroMean, but {type(module).__name__} came")


def _noise(likelihood: Any, count: int) -> Tensor:
    if type(likelihood) not in (GaussianLikelihood, FixedNoiseGaussianLikelihood):
        raise UnsupportedModel(
            f"the likelihood must be GaussianLikelihood or FixedNoiseGaussianLikelihood, but "
            f"{type(likelihood).__name__} came"
        )
    noise: Tensor = likelihood.noise.detach().double().reshape(-1).expand(count).clone()
    return noise


def _inputs(transform: Any, X: Tensor) -> tuple[Tensor, Tensor]:
    """gain (D,) and offset (D,) of the input transform."""
    if transform is None:
        return X.new_ones(X.shape[1]), X.new_zeros(X.shape[1])
    if type(transform) is not Normalize or not transform.transform_on_eval:
        raise UnsupportedModel(
            f"the input transform must be Normalize, but {type(transform).__name__} came: {USE}"
        )
    ends = torch.stack([X.new_zeros(X.shape[1]), X.new_ones(X.shape[1])])
    zero, one = (
        transform.transform(ends.to(transform.offset)).detach().double()
    )  # affine, one input at a time
    return one - zero, zero


def _outputs(transform: Any, X: Tensor) -> tuple[Tensor, Tensor]:
    """shift () and scale () of the outcome transform."""
    if transform is None:
        return X.new_zeros(()), X.new_ones(())
    if type(transform) is not Standardize or transform._outputs not in (None, [0]):
        raise UnsupportedModel(
            f"the outcome transform must be Standardize, but {type(transform).__name__} came: {USE}"
        )
    return transform.means.detach().double().reshape(()), transform.stdvs.detach().double().reshape(())


def excursion_model(
    train_X: Tensor, train_Y: Tensor, bounds: Tensor, train_Yvar: Tensor | None = None
) -> SingleTaskGP:
    """A `SingleTaskGP` with tumble's own kernel, priors and starting values, ready for `fit_gpytorch_mll`.

    BoTorch's default expects longer lengthscales and more noise than the functions that tumble is tuned on.

    Parameters
    ----------
    train_X, train_Y
        (N, D) inputs and (N, 1) results.
    bounds
        (2, D) lowest and highest inputs.
    train_Yvar
        (N, 1) variances of the noise where they are known; None to learn one.

    Returns
    -------
    SingleTaskGP
        Not fitted yet.
    """
    dim = train_X.shape[1]
    length, variance, noise = DEFAULT_PRIORS.lengthscale, DEFAULT_PRIORS.variance, DEFAULT_PRIORS.noise
    assert isinstance(length, LogNormal)
    assert isinstance(variance, LogNormal)
    assert isinstance(noise, LogNormal)
    kernel = MaternKernel(
        nu=2.5, ard_num_dims=dim,  # GPyTorch's priors have no part in common
        lengthscale_prior=_prior(length.median, length.sigma),
        lengthscale_constraint=_above(1e-3, length.median),
    )  # fmt: skip
    covar = ScaleKernel(
        kernel, outputscale_prior=_prior(variance.median, variance.sigma),
        outputscale_constraint=_above(1e-4, variance.median),
    )  # fmt: skip
    likelihood = None
    if train_Yvar is None:
        likelihood = GaussianLikelihood(
            noise_prior=_prior(noise.median**2, 2.0 * noise.sigma),  # of the variance, not of its root
            noise_constraint=_above(1e-9, noise.median**2),
        )
    return SingleTaskGP(
        train_X, train_Y, train_Yvar, likelihood=likelihood, covar_module=covar,
        input_transform=Normalize(dim, bounds=bounds),
    )  # fmt: skip


def _prior(median: float, sigma: float) -> LogNormalPrior:
    return LogNormalPrior(math.log(median), sigma)


def _above(least: float, start: float) -> GreaterThan:
    return GreaterThan(least, transform=None, initial_value=start)
