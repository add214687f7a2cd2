"""Kernels and their derivatives by r² against mpmath; sums of effects against their own exponentials."""

import mpmath
import numpy as np
import pytest

from tests import oracles
from tests.oracles import KERNELS
from tumble.core.process.covariance import Hyper
from tumble.core.process.kernels import ADD_EFFECTS
from tumble.core.process.kernels import KERNELS as RADIAL


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("r2", [1e-4, 0.3, 2.0, 50.0])
def test_kernels_are_the_textbook_s_and_derivatives_of_each_other(kernel, r2):
    def textbook(t):
        return oracles.value_mp(kernel, 1.7, [1.0], [mpmath.sqrt(t)], [0.0])

    expected = [float(2**order * mpmath.diff(textbook, r2, order)) for order in range(3)]
    for order in range(3):
        found = [float(h[0]) for h in RADIAL[kernel](np.array([r2]), order, 1.7)]
        assert found == pytest.approx(expected[: order + 1], rel=1e-9)


def test_a_kernel_writes_into_the_memory_it_is_given():
    r2, memory = np.array([0.3, 2.0]), np.empty((3, 2))
    for kernel in KERNELS:
        h0 = RADIAL[kernel](r2, 0, 1.7, tuple(memory))[0]
        assert np.shares_memory(h0, memory[2])
        np.testing.assert_array_equal(h0, RADIAL[kernel](r2, 0, 1.7)[0])


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_oracle_s_kernel_derivatives_are_derivatives_of_its_kernel(kernel):
    scales, a, b = [0.3, 0.7], [0.2, 0.9], [0.45, 0.3]
    hyper = Hyper(tuple(scales), 1.7, 0.1)
    for j in range(2):

        def moved(t, j=j):
            point = [mpmath.mpf(v) for v in b]
            point[j] += t
            return oracles.value_mp(kernel, 1.7, scales, a, point)

        expected = float(mpmath.diff(moved, 0))
        assert float(oracles.slope_mp(kernel, 1.7, scales, a, b, j)) == pytest.approx(expected, rel=1e-12)
        row = oracles.cov_value_slope(kernel, hyper, np.array([a]), np.array(b))
        assert row[0, j] == pytest.approx(expected, rel=1e-12)

        def both(s, t, j=j):  # ∂_j ∂_j' of k(b + s e_j, b + t e_j)
            p, q = [mpmath.mpf(v) for v in b], [mpmath.mpf(v) for v in b]
            p[j] += s
            q[j] += t
            return oracles.value_mp(kernel, 1.7, scales, p, q)

        h = mpmath.mpf("1e-5")
        mixed = (both(h, h) - both(h, -h) - both(-h, h) + both(-h, -h)) / (4 * h * h)
        assert oracles.cov_slopes(kernel, hyper)[j, j] == pytest.approx(float(mixed), rel=1e-4)


@pytest.mark.parametrize("scale", [3e-3, 0.03, 0.07, 0.08, 0.3, 1.0, 30.0])
def test_one_dimensional_effects_as_products_equal_their_own_exponentials(scale):
    rng = np.random.default_rng(0)
    A, B = rng.random((70, 3)), rng.random((40, 3))
    A[:20, 0] = B[:20, 0] + 1e-9 * rng.standard_normal(20)  # where the two products meet
    r = np.sqrt(5.0) * np.abs(A[:, None, :] - B) / scale
    expected = 2.0 + 0.7 * ((1.0 + r + r * r / 3.0) * np.exp(-r)).sum(axis=2)
    k = np.full((70, 40), 2.0)
    ADD_EFFECTS["matern52"](k, A / scale, B / scale, 0.7, np.empty((2, *k.shape)))
    np.testing.assert_allclose(k, expected, atol=1e-12)
