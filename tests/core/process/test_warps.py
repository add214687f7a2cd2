"""The choice of a warp: linear where linear is right, and the limit stays in sight where it is not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import log_ndtr

from tumble.core.process.fit import fit
from tumble.core.process.outputs import Warp
from tumble.core.process.refit import refit
from tumble.core.process.warps import (
    FEWEST,
    GAIN,
    MANY,
    Measured,
    candidates,
    is_choice_due,
    refit_warped,
    score,
)
from tumble.core.settings import DEFAULT_PRIORS, Settings

SETTINGS = Settings()


def limit_of(X, y, noise=None):
    return Measured(X, y, 0.0, limit=True, noise=noise)


def fitted(data, warp=None, last=None, **options):
    priors = SETTINGS.constraint if data.limit else SETTINGS.objective
    return refit_warped(
        data, kernel="matern52", priors=priors, last=last, warp=warp or Warp(both=data.limit), **options
    )


def steep(X):
    """Between -1 and 0 where it is safe, up to several hundreds beyond: a load over the fourth power."""
    return (0.6 + 0.8 * X[:, 1]) * (0.4 / (0.08 + 0.92 * X[:, 0])) ** 4 - 1.0


def test_a_limit_that_jumps_to_hundreds_does_not_hide_what_lies_near_it():
    rng = np.random.default_rng(0)
    X = rng.random((24, 2))
    data = limit_of(X, steep(X))
    warped = fitted(data)
    plain = fitted(data, choose=False)
    assert not warped.outputs.warp.is_linear
    assert plain.outputs.warp.is_linear
    where = rng.random((400, 2))
    where = where[np.abs(steep(where)) < 0.5]
    sign = np.where(steep(where) > 0.0, 1.0, -1.0)
    kept = []
    for gp in (warped, plain):
        mean, var = gp.predict(where)
        kept.append(log_ndtr(sign * mean / np.sqrt(var)).mean())
    assert kept[0] > kept[1] + 0.1
    assert kept[0] > -0.25


@pytest.mark.parametrize("seed", range(4))
def test_a_linear_limit_and_a_bowl_stay_as_they_are(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((25, 3))
    line = limit_of(X, X @ np.array([3.0, -2.0, 1.0]) - 0.4)
    bowl = Measured(X, ((X - 0.4) ** 2).sum(axis=1), float(((X - 0.4) ** 2).sum(axis=1).min()), limit=False)
    assert fitted(line).outputs.warp.is_linear
    assert fitted(bowl).outputs.warp.is_linear


def test_an_objective_over_six_decades_is_compressed_above_the_best_alone():
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    y = 10.0 ** (6.0 * X[:, 0]) + X[:, 1]
    gp = fitted(Measured(X, y, float(y.min()), limit=False))
    warp = gp.outputs.warp
    assert not warp.is_linear
    assert not warp.both
    assert warp.centre == y.min()


@pytest.mark.parametrize("limit", [False, True])
def test_the_score_is_the_density_of_each_observation_given_the_others_in_the_users_units(limit):
    rng = np.random.default_rng(0)
    X = rng.random((9, 2))
    y = np.exp(3.0 * X[:, 0]) - 3.0
    data = Measured(X, y, 0.0 if limit else float(y.min()), limit=limit)
    warp = Warp(data.best, 2.0, both=limit)
    priors = replace(SETTINGS.constraint, mean_std=None)
    units = data.outputs(warp)
    gp = refit(X, y, kernel="matern52", priors=priors, outputs=units, last=None)
    each = []
    for i in range(len(y)):
        others = np.delete(np.arange(len(y)), i)
        part = type(gp)(gp.kernel, gp.hyper, X[others], *_conditioned(gp, X[others], y[others]))
        mean, var = part.predict(X[[i]])
        var = var + gp.hyper.noise**2

        def cdf(at, mean=mean, var=var):
            return np.exp(log_ndtr((units.to_model(np.array([at])) - mean) / np.sqrt(var)))[0]

        step = 1e-5 * units.scale
        each.append(np.log((cdf(y[i] + step) - cdf(y[i] - step)) / (2.0 * step)))
    expected = sum(each) + sum(np.array(each)[data.nearest])
    assert score(data, gp) == pytest.approx(expected, rel=1e-3, abs=1e-3)


def _conditioned(gp, X, y):
    K = gp.covariance(X, X) + (gp.hyper.noise**2 + gp.floor) * np.eye(len(X))
    chol = np.linalg.cholesky(K)
    target = gp.outputs.to_model(y)
    return chol, np.linalg.solve(K, target - gp.prior_mean), gp.prior_mean, gp.outputs


def test_with_few_observations_there_is_no_warp():
    rng = np.random.default_rng(0)
    X = rng.random((FEWEST - 1, 2))
    gp = fitted(limit_of(X, steep(X)))
    assert gp.outputs.warp.is_linear
    assert gp.outputs.warp.chosen_from == 0


def test_the_choice_is_kept_until_there_is_much_more_to_see():
    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    y = steep(X)
    first = fitted(limit_of(X[:20], y[:20]))
    warp = first.outputs.warp
    assert warp.chosen_from == 20
    again = fitted(limit_of(X[:21], y[:21]), warp, first.hyper)
    assert again.outputs.warp == warp
    later = fitted(limit_of(X[:25], y[:25]), warp, first.hyper)
    assert later.outputs.warp.chosen_from == 25


@pytest.mark.parametrize(("before", "due"), [(24, 30), (32, 40), (36, 54), (60, 90)])
def test_beyond_forty_trials_the_choice_is_kept_for_longer(before, due):
    X = np.random.default_rng(0).random((due, 2))
    y, warp = np.resize([-1.0, -0.5], due), Warp(both=True, chosen_from=before)
    assert [n for n in range(before, due + 1) if is_choice_due(limit_of(X[:n], y[:n]), warp)] == [due]


def test_a_value_far_beyond_all_others_makes_the_choice_due_at_once():
    rng = np.random.default_rng(0)
    X = rng.random((11, 2))
    y = rng.uniform(-1.0, 0.0, 11)
    warp = Warp(both=True, chosen_from=10)
    assert not is_choice_due(limit_of(X, y), warp)
    y[-1] = 600.0
    assert is_choice_due(limit_of(X, y), warp)


def test_a_warp_changes_only_where_another_gains_enough():
    rng = np.random.default_rng(0)
    X = rng.random((25, 2))
    data = limit_of(X, steep(X))
    best = fitted(data)
    near = replace(best.outputs.warp, knee=1.05 * best.outputs.warp.knee, chosen_from=1)
    kept = fitted(data, near)
    assert kept.outputs.warp.knee == near.knee
    assert score(data, best) < score(data, kept) + GAIN


def test_no_knee_lies_within_the_noise_that_is_known():
    rng = np.random.default_rng(0)
    X = rng.random((25, 2))
    quiet, loud = (candidates(limit_of(X, steep(X), noise)) for noise in (None, 0.5))
    assert min(w.knee for w in quiet) < 2.0
    assert all(w.knee > 2.0 for w in loud)


def test_without_spread_there_is_nothing_to_choose():
    X = np.linspace(0.0, 1.0, 6)[:, None]
    assert fitted(limit_of(X, np.zeros(6))).outputs.warp.is_linear
    constant = Measured(X, np.full(6, 3.0), 3.0, limit=False)
    assert fitted(constant).outputs.warp.is_linear


# -- many observations ------------------------------------------------------------------------------------


def plenty(n: int = 480, limit: bool = False) -> Measured:
    rng = np.random.default_rng(3)
    X = rng.random((n, 3))
    y = np.sin(4.0 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * X[:, 2] + 1e-3 * rng.standard_normal(n)
    return Measured(X, y, 0.0 if limit else float(y.min()), limit=limit)


def test_some_of_the_observations_are_the_nearest_and_others_far_apart():
    data = plenty()
    some = data.some(90)
    assert some.X.shape == (90, 3)
    assert len(np.unique(some.X, axis=0)) == 90
    kept = {tuple(x) for x in some.X}
    assert all(tuple(data.X[i]) in kept for i in np.argsort(data.y)[:30])
    gaps = cdist(data.X, some.X).min(axis=1)
    uniform = cdist(data.X, data.X[:90]).min(axis=1)
    assert gaps.max() < uniform.max()
    assert some.outputs(Warp()) == data.outputs(Warp())  # the units are those of all of them


@pytest.mark.parametrize("limit", [False, True])
def test_many_observations_teach_nearly_what_all_of_them_teach(limit):
    data = plenty(limit=limit)
    found = refit_warped(data, kernel="matern52", priors=DEFAULT_PRIORS, last=None, warp=Warp(both=limit))
    assert found.X.shape == data.X.shape
    assert found.hyper.learned_from == found.outputs.warp.chosen_from == len(data.y)
    x = np.random.default_rng(4).random((60, 3))
    all_of_them = fit(
        data.X, data.y, kernel="matern52", priors=DEFAULT_PRIORS, outputs=data.outputs(Warp()), warm=None
    )
    mean, wanted = found.outputs.to_user(found.mean(x)), all_of_them.outputs.to_user(all_of_them.mean(x))
    assert np.abs(mean - wanted).max() < 0.02
    again = refit_warped(
        data, kernel="matern52", priors=DEFAULT_PRIORS, last=found.hyper, warp=found.outputs.warp
    )
    assert again.hyper == found.hyper
    np.testing.assert_array_equal(again.weights, found.weights)


def test_up_to_many_observations_all_of_them_teach():
    data = plenty(MANY)
    found = refit_warped(data, kernel="matern52", priors=DEFAULT_PRIORS, last=None, warp=Warp(), choose=False)
    wanted = fit(
        data.X, data.y, kernel="matern52", priors=DEFAULT_PRIORS, outputs=data.outputs(Warp()), warm=None
    )
    assert found.hyper == wanted.hyper
