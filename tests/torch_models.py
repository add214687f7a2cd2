"""BoTorch models that say what the core's processes say, and small problems to search with them."""

import gpytorch
import numpy as np
import torch
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from gpytorch.kernels import MaternKernel, RBFKernel, ScaleKernel

from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import JITTER, condition
from tumble.integrations.botorch import excursion_model


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def rand(rows, columns, seed=0):
    return torch.rand(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


UNIT2 = tensor([[0.0, 0.0], [1.0, 1.0]])


def torch_model(
    kernel, hyper, X, y, prior_mean=0.0, *, scaled=True, bounds=None, standardize=False, noise=None
):
    """The BoTorch model that says what the core's hyperparameters say."""
    dim = X.shape[1]
    inner = RBFKernel(ard_num_dims=dim) if kernel == "se" else MaternKernel(nu=2.5, ard_num_dims=dim)
    covar = ScaleKernel(inner) if scaled else inner
    likelihood = gpytorch.likelihoods.GaussianLikelihood(
        noise_constraint=gpytorch.constraints.GreaterThan(1e-12, transform=None, initial_value=hyper.noise**2)
    )
    model = SingleTaskGP(
        torch.tensor(X), torch.tensor(y)[:, None], None if noise is None else torch.tensor(noise)[:, None],
        likelihood=None if noise is not None else likelihood, covar_module=covar,
        input_transform=None if bounds is None else Normalize(dim, bounds=bounds),
        outcome_transform=Standardize(1) if standardize else None,
    )  # fmt: skip
    inner.lengthscale = tensor(hyper.lengthscales)
    if noise is None:
        likelihood.noise = tensor(hyper.noise**2)
    if scaled:
        covar.outputscale = tensor(hyper.variance)
    model.mean_module.constant.data.fill_(prior_mean)
    return model


def random_problem(seed, *, unit_variance=False):
    rng = np.random.default_rng(seed)
    dim, count = int(rng.integers(1, 9)), int(rng.integers(1, 25))
    variance = 1.0 if unit_variance else rng.uniform(0.2, 4.0)
    hyper = Hyper(tuple(rng.uniform(0.1, 1.5, dim).tolist()), variance, float(10 ** rng.uniform(-2.0, -0.5)))
    X, y = rng.random((count, dim)), rng.standard_normal(count)
    return rng, hyper, X, y


def core_gp(kernel, hyper, X, y, prior_mean=0.0):
    """The core's process without the jitter that BoTorch does not add."""
    noise = np.full(len(X), hyper.noise**2 - JITTER * hyper.variance)
    return condition(kernel, hyper, X, y, noise_var=noise, prior_mean=prior_mean)


def value_and_grad(acqf, x):
    points = torch.tensor(x, requires_grad=True)
    value = acqf(points[:, None, :])
    (grad,) = torch.autograd.grad(value.sum(), points)
    return value.detach().numpy(), grad.numpy()


def bowl(x):
    return ((x - 0.6) ** 2).sum(-1, keepdim=True)


def edge(x):
    """Safe to the left of x0 = 0.5."""
    return x[:, :1] - 0.5


def pair(count=12, seed=0):
    X = rand(count, 2, seed)
    models = [excursion_model(X, y(X), UNIT2) for y in (bowl, edge)]
    return X, ModelListGP(*models)
