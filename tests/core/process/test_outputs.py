"""Model units and warps: nothing is lost, whatever the size of the outputs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import ndtr

from tumble.core.process.outputs import Outputs, Warp

finite = st.floats(-1e200, 1e200, allow_subnormal=False)


@given(st.lists(finite, min_size=1, max_size=8), st.booleans())
def test_model_units_keep_every_value_and_are_of_unit_size(values, centre):
    y = np.array(values)
    outputs = Outputs.of(y, centre=centre)
    model = outputs.to_model(y)
    assert np.isfinite(model).all()
    assert np.abs(model).max() <= 1.0 + np.sqrt(len(y))
    size = np.abs(y).max() or 1.0
    np.testing.assert_allclose(outputs.to_user(model) / size, y / size, atol=1e-9)
    if not centre:
        assert outputs.shift == 0.0
        assert (model * np.sign(y) >= 0.0).all()


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_standardised_outputs_have_zero_mean_and_unit_variance(factor):
    y = factor * np.array([3.0, 4.0, 8.0, -1.0])
    model = Outputs.of(y, centre=True).to_model(y)
    assert model.mean() == pytest.approx(0.0, abs=1e-12)
    assert model.std() == pytest.approx(1.0)


WARPS = [
    Warp(),
    Warp(0.0, 1.5, both=True),
    Warp(0.0, 1e-3, both=True),
    Warp(-2.0, 0.7, both=False),
    Warp(1e3, 1e-2, both=False),
]
values_of_all_sizes = np.concatenate([[0.0], *(s * np.logspace(-8.0, 8.0, 65) for s in (-1.0, 1.0))])


@pytest.mark.parametrize("warp", WARPS)
def test_a_warp_rises_keeps_its_centre_and_is_undone_by_its_inverse(warp):
    y = np.sort(warp.centre + values_of_all_sizes)
    w = warp(y)
    assert (np.diff(w) > 0.0).all()
    assert warp(np.array([warp.centre])) == warp.centre
    np.testing.assert_allclose(warp.inverse(w), y, rtol=1e-9)
    near = np.abs(y - warp.centre) < warp.knee
    assert (w[near] == y[near]).all()


def test_the_good_side_of_an_objective_is_never_compressed():
    y = -np.logspace(-3.0, 9.0, 13)
    assert (Warp(0.0, 1.0, both=False)(y) == y).all()


@pytest.mark.parametrize("warp", WARPS)
def test_the_slope_is_the_derivative(warp):
    y = warp.centre + np.array([-30.0, -2.0, -0.3, 0.2, 2.0, 40.0]) * (1.0 if warp.is_linear else warp.knee)
    step = 1e-6 * np.maximum(np.abs(y - warp.centre), 1e-3 * np.abs(y))
    numeric = (warp(y + step) - warp(y - step)) / (2.0 * step)
    np.testing.assert_allclose(warp.slope(y), numeric, rtol=1e-3)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("mean", "std"), [(0.1, 0.3), (-1.0, 0.8), (4.0, 0.6)])
def test_the_warped_density_with_its_jacobian_integrates_to_one(both, mean, std):
    outputs = Outputs(0.2, 1.3, Warp(0.0, 0.9, both=both))

    def density(y: float) -> float:
        at = np.array([y])
        z = (outputs.to_model(at) - mean) / std
        jacobian = outputs.warp.slope(at) / outputs.scale
        return float((np.exp(-0.5 * z**2) / (std * np.sqrt(2.0 * np.pi)) * jacobian)[0])

    edges = outputs.to_user(mean + std * np.linspace(-9.0, 9.0, 37))
    total = sum(integrate.quad(density, low, high)[0] for low, high in itertools.pairwise(edges))
    assert total == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(("mean", "std"), [(0.1, 0.3), (-2.5, 0.8), (4.0, 0.6)])
def test_median_and_std_are_the_quantiles_of_samples(both, mean, std):
    rng = np.random.default_rng(0)
    outputs = Outputs(0.2, 1.3, Warp(0.0, 0.9, both=both))
    samples = outputs.to_user(mean + std * rng.standard_normal(400_000))
    low, median, high = np.quantile(samples, ndtr([-1.0, 0.0, 1.0]))
    at, spread = np.array([mean]), np.array([std])
    assert outputs.to_user(at)[0] == pytest.approx(median, rel=0.02, abs=0.01)
    assert outputs.std_to_user(at, spread)[0] == pytest.approx(0.5 * (high - low), rel=0.02)


@pytest.mark.parametrize("warp", WARPS)
def test_the_models_spread_is_found_again_from_what_the_user_sees(warp):
    rng = np.random.default_rng(0)
    outputs = Outputs(0.3, 0.7, warp)
    size = 1.0 if warp.is_linear else warp.knee
    mean = outputs.to_model(warp.centre + size * rng.normal(size=500) * np.exp(rng.normal(size=500)))
    std = size * np.exp(rng.normal(-2.0, 2.0, size=500)).clip(max=20.0)
    seen = outputs.std_to_user(mean, std)
    assert outputs.std_to_model(outputs.to_user(mean), seen) == pytest.approx(std, rel=1e-5)


def test_what_was_not_predicted_has_no_spread():
    missing = np.array([np.nan])
    assert np.isnan(Outputs(warp=Warp(0.0, 1.0, both=True)).std_to_model(missing, missing)).all()
