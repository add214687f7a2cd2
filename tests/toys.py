"""Small histories, contexts and processes that several tests of the methods start from."""

from typing import Any

import numpy as np

import tumble
from tests.oracles import cov_values
from tumble.core.history import History
from tumble.core.process.covariance import Hyper
from tumble.core.process.gp import GP, JITTER, condition
from tumble.core.process.models import fit_models
from tumble.core.search.context import Context
from tumble.core.settings import Settings
from tumble.space import Categorical, Float, Int, Space


def history(X: Any, y: Any, g: Any = None, *, crashed: Any = None, pending: Any = None) -> History:
    """A history without predictions; NaN in y or g where nothing was measured."""
    n, dim = X.shape
    table = np.zeros((n, 0)) if g is None else np.asarray(g, dtype=float).reshape(n, -1)
    nothing = np.full(table.shape, np.nan)
    return History(
        X, np.asarray(y, dtype=float), table,
        np.zeros(n, dtype=bool) if crashed is None else np.asarray(crashed),
        np.zeros((0, dim)) if pending is None else pending, nothing, nothing,
    )  # fmt: skip


def smooth_history(
    n: int, dim: int, constraints: int = 0, seed: int = 0, pending: int = 0, X: Any = None
) -> History:
    """n trials (at X, or at random points) of smooth functions, about half of them safe."""
    rng = np.random.default_rng([seed, n, dim])
    X = rng.random((n, dim)) if X is None else X
    y = np.sin(4.0 * X).sum(axis=1) + (X[:, 0] - 0.4) ** 2
    g = (
        np.stack([np.cos(3.0 * X[:, k % dim] + k) - 0.2 for k in range(constraints)], axis=1)
        if constraints
        else None
    )
    return history(X, y, g, pending=rng.random((pending, dim)))


def context_of(past: History, settings: Settings | None = None, seed: int = 0, **more: Any) -> Context:
    """What an acquisition is built from after `past`, as `propose` builds it."""
    chosen = settings or Settings()
    return Context.of(past, fit_models(past, chosen, None), chosen, np.random.default_rng(seed), **more)


def draw_process(
    dim: int, n: int, rng: np.random.Generator, *, scale: float, shift: float = 0.0, X: Any = None
) -> GP:
    """A process conditioned on a draw of itself at n points, moved by `shift`."""
    hyper = Hyper((scale,) * dim, 1.0, 0.1)
    X = rng.random((n, dim)) if X is None else X
    K = cov_values("matern52", hyper, X, X) + 1e-9 * np.eye(n)
    return condition("matern52", hyper, X, np.linalg.cholesky(K) @ rng.standard_normal(n) + shift)


def botorch_model(processes: list[GP], values: list[Any]) -> Any:
    """The same processes as a BoTorch model, one output each; `values` are what they were conditioned on."""
    import torch
    from botorch.models import ModelListGP, SingleTaskGP
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.means import ConstantMean

    models = []
    for gp, y in zip(processes, values, strict=True):
        base = MaternKernel(nu=2.5, ard_num_dims=gp.X.shape[1])
        base.lengthscale = torch.tensor([gp.hyper.lengthscales], dtype=torch.double)
        covariance = ScaleKernel(base)
        covariance.outputscale = gp.hyper.variance
        mean = ConstantMean()
        mean.constant = gp.prior_mean
        targets = torch.tensor(y)[:, None]
        nugget = gp.hyper.noise**2 + JITTER * gp.hyper.variance
        model = SingleTaskGP(
            torch.tensor(gp.X), targets, torch.full_like(targets, nugget), covar_module=covariance.double(),
            mean_module=mean.double(), outcome_transform=None,
        )  # fmt: skip
        models.append(model.double().eval())
    return models[0] if len(models) == 1 else ModelListGP(*models)


def small_optimizer() -> tumble.Optimizer:
    """A mixed space, and five trials: three safe ones, a violation and a crash."""
    space = Space({"x": Float(0, 1), "n": Int(1, 4), "c": Categorical(("a", "b"))})
    settings = Settings(restarts=2, raw_samples=32, grid=32, n_minima=4)
    opt = tumble.Optimizer(space, trials=10, failures=3, constraints=1, seed=0, settings=settings)
    for outcome in [(3.0, -1.0), (2.0, 1.0), (2.5, -0.5), None, (1.0, -0.1)]:
        suggestion = opt.ask()
        if outcome is None:
            opt.tell(suggestion, failed=True, reason="fell")
        else:
            opt.tell(suggestion, outcome[0], constraints=[outcome[1]])
    return opt
