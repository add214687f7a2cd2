"""Under noise the best trial is that of the lowest mean, not the luckiest one."""

import numpy as np
import pytest

from tumble.core.expectation import expected_best, is_noisy
from tumble.core.history import History
from tumble.core.process.models import fit_models
from tumble.core.settings import Settings


def history(X, y, g=None, noise=None):
    n = len(X)
    g = np.zeros((n, 0)) if g is None else g
    unknown = np.full_like(g, np.nan)
    return History(X, y, g, np.zeros(n, bool), X[:0], unknown, unknown, noise)


def repeated(noise):
    """Four settings, ten repeats each; the luckiest single value lies at the second best setting."""
    rng = np.random.default_rng(1)
    X = np.repeat(np.linspace(0.1, 0.9, 4)[:, None], 10, axis=0)
    truth = np.repeat([1.0, 0.0, 0.1, 2.0], 10)
    y = truth + noise * rng.standard_normal(40)
    y[25] = truth[25] - 3.0 * noise - 0.2
    return X, y, truth


def test_the_lowest_mean_beats_the_luckiest_value():
    X, y, truth = repeated(0.1)
    past = history(X, y, noise=np.array([0.1]))
    found = expected_best(past, fit_models(past, Settings(), None))
    assert found is not None
    assert np.argmin(y) == 25
    assert truth[found.row] == 0.0
    assert found.mean == pytest.approx(0.0, abs=4.0 * found.std)
    assert 0.02 < found.std < 0.06  # 0.1 / √10 is 0.032
    assert found.p_safe == 1.0


def test_noise_that_was_learned_counts_and_exact_results_do_not():
    X, y, truth = repeated(0.1)
    noisy, exact = history(X, y), history(X + 1e-3 * np.arange(40)[:, None] / 40, truth)
    settings = Settings(warp=False)
    assert is_noisy(noisy, fit_models(noisy, settings, None))
    assert expected_best(exact, fit_models(exact, settings, None)) is None
    none = history(X, y, noise=np.array([0.0]))
    assert not is_noisy(none, fit_models(none, settings, None))


def test_a_trial_that_was_safe_by_luck_gives_way_to_one_that_is_likely_safe():
    X, y, _ = repeated(0.1)
    g = np.where(X[:, 0] < 0.5, 1.0, -1.0)[:, None]
    g[12] = -0.1  # one of ten repeats of the best setting
    past = history(X, y, g, noise=np.array([0.1, 0.5]))
    models = fit_models(past, Settings(), None)
    assert past.safe[12]
    found = expected_best(past, models)
    assert found is not None
    assert X[found.row, 0] > 0.5


def test_nothing_is_expected_of_what_failed():
    X, y, _ = repeated(0.1)
    past = history(X, y, np.ones((40, 1)), noise=np.array([0.1, np.nan]))
    assert expected_best(past, fit_models(past, Settings(), None)) is None


def test_each_output_has_a_noise_of_its_own():
    X, y, truth = repeated(0.2)
    past = history(X, y, truth[:, None] - 1.5)  # a noisy objective under an exact limit
    models = fit_models(past, Settings(warp=False), None)
    noise = models.objective.hyper.noise * models.objective.outputs.scale
    assert noise == pytest.approx(0.2, rel=0.3)
    limit = models.feasibility.constraints[0]
    assert limit.hyper.noise * limit.outputs.scale < 0.01
    known = history(X, y, truth[:, None] - 1.5, noise=np.array([np.nan, 0.3]))
    limit = fit_models(known, Settings(warp=False), None).feasibility.constraints[0]
    assert limit.hyper.noise * limit.outputs.scale == pytest.approx(0.3)


def test_a_noisy_limit_keeps_its_distance():
    X = np.linspace(0.0, 1.0, 12)[:, None]
    at = np.array([[0.42]])
    p = [
        float(np.exp(fit_models(history(X, X[:, 0], X - 0.5, noise=np.array([0.0, std])), Settings(), None)
                     .feasibility.log_prob(at)[0]))
        for std in (0.01, 0.2)
    ]  # fmt: skip
    assert p[0] > 0.999
    assert p[1] < 0.8
