"""The inner search against SciPy, a grid, and itself one start at a time."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import ndtri

from tests.oracles import KERNELS, problem
from tumble.core.acquisition import ExcursionSearch
from tumble.core.feasibility import Feasibility
from tumble.core.improvement import ExpectedImprovement
from tumble.core.search.maximize import (
    A_PART,
    ARMIJO,
    EXACT,
    LARGEST_SHARE,
    LEAST_SHARE,
    QUICK,
    Pace,
    maximize,
    maximize_above,
    shortened,
)


def bowl(centre, weights):
    """A concave quadratic with its top at `centre`."""

    def fun(x):
        d = x - centre
        return -(weights * d * d).sum(axis=1), -2.0 * weights * d

    return fun


def by_scipy(fun, starts):
    def single(x):
        value, grad = fun(x[None, :])
        return -float(value[0]), -grad[0]

    bounds = [(0.0, 1.0)] * starts.shape[1]
    return max(-minimize(single, s, jac=True, method="L-BFGS-B", bounds=bounds).fun for s in starts)


def test_known_scales_spare_evaluations_and_leave_the_tops_where_they_are():
    scales = np.array([1.0, 0.1, 0.02, 0.5])
    rng = np.random.default_rng(0)
    centre, starts = rng.uniform(0.2, 1.2, 4), rng.random((6, 4))
    fun, calls = bowl(centre, scales**-2.0), []

    def counted(x):
        calls.append(len(x))
        assert ((x >= 0.0) & (x <= 1.0)).all()
        return fun(x)

    plain = maximize(counted, starts, pace=Pace(1e-9))
    many = len(calls)
    found = maximize(counted, starts, scales=scales, pace=Pace(1e-9))
    assert len(calls) - many < 0.7 * many
    np.testing.assert_allclose(found.points[0], np.clip(centre, 0.0, 1.0), atol=1e-4)
    assert found.values[0] >= plain.values[0] - 1e-6


def test_a_point_that_does_not_move_is_returned_bit_for_bit_and_a_corner_exactly():
    starts = np.random.default_rng(0).random((50, 3))
    scales = np.array([0.3, 0.7, 0.11])
    still = maximize(lambda x: (np.zeros(len(x)), np.zeros_like(x)), starts, scales=scales)
    np.testing.assert_array_equal(still.points, starts)
    up = maximize(lambda x: (x.sum(axis=1), np.ones_like(x)), starts, scales=scales)
    assert (up.points[0] == 1.0).all()


@pytest.mark.parametrize("dim", [1, 2, 6, 10])
def test_a_quadratic_s_top_is_found_inside_and_on_the_boundary(dim):
    rng = np.random.default_rng(dim)
    centre = rng.uniform(-0.3, 1.3, dim)  # some coordinates lie outside the cube
    found = maximize(bowl(centre, 10.0 ** rng.uniform(0.0, 1.5, dim)), rng.random((5, dim)), pace=EXACT)
    np.testing.assert_allclose(found.points[0], np.clip(centre, 0.0, 1.0), atol=2e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dim", [1, 2, 4, 6])
def test_the_batch_is_as_good_as_l_bfgs_b_from_the_same_starts(kernel, dim):
    """The two may climb to different tops from one start, so they are compared over several problems."""
    lead = []
    for seed in range(5):
        gp, _ = problem(kernel, dim, 6 * dim, seed, noise=0.05)
        acquisition = ExcursionSearch(gp, np.linspace(-3.0, -1.5, 5)).value_and_grad
        raw = np.random.default_rng([seed, dim]).random((200, dim))
        starts = raw[np.argsort(-acquisition(raw)[0])[:10]]
        lead.append(maximize(acquisition, starts).values[0] - by_scipy(acquisition, starts))
    assert np.median(lead) > -0.05  # of a logarithm


def test_a_step_that_is_far_too_long_ends_at_the_top_with_the_next_ones():
    """A cubic is known by its slopes at both ends: no step is shortened again and again."""
    calls = []

    def narrow(x):
        """A bowl so narrow that the first step leads far over its top."""
        calls.append(len(x))
        return bowl(np.array([0.5, 0.5]), np.full(2, 1e4))(x)

    found = maximize(narrow, np.array([[0.503, 0.499]]), pace=Pace(1e-6, by_slopes=True))
    assert found.values[0] > -1e-6
    assert len(calls) <= 6


@given(st.floats(1e-3, 1e3), st.floats(-1e4, 1e4), st.floats(-1e4, 0.99 * ARMIJO))
def test_a_cut_step_ends_at_the_top_of_the_cubic_that_has_its_slopes(slope, end, relative_rise):
    rise = slope * relative_rise
    a, b = slope + end - 2.0 * rise, 3.0 * rise - 2.0 * slope - end
    t = np.linspace(0.0, 1.0, 20001)
    values = t * (slope + t * (b + t * a))
    assert values[-1] == pytest.approx(rise, abs=1e-9 * max(1.0, abs(end), abs(rise)))
    first_top = int(np.flatnonzero(np.diff(values) < 0.0)[0])  # it begins uphill and ends hardly higher
    found = shortened(slope, end, rise)
    assert found.share == pytest.approx(np.clip(t[first_top], LEAST_SHARE, LARGEST_SHARE), abs=2e-4)
    size = max(slope, abs(end), abs(rise))
    assert found.gain == pytest.approx(values[first_top], rel=1e-3, abs=1e-4 * size)


numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(numbers, numbers, numbers)
def test_whatever_the_slopes_say_a_part_of_a_step_is_left(slope, end_slope, rise):
    found = shortened(slope, end_slope, rise)
    assert LEAST_SHARE <= found.share <= LARGEST_SHARE
    assert not np.isnan(found.gain)


def test_no_digits_are_lost_before_a_cliff():
    """With a slope of 1 and a fall of 1e12 behind it, c(t) is t - 1e12 t³ to twelve digits."""
    found = shortened(1.0, -3e12, -1e12)
    assert found.gain == pytest.approx(2.0 / 3.0 / np.sqrt(3e12), rel=1e-6)
    bent = shortened(1e-9, -1e9, 0.0)  # t + 1e18 (t² - t³): its top is at 2/3
    assert bent.share == LARGEST_SHARE
    assert bent.gain == pytest.approx(4.0 / 27.0 * 1e9)


@pytest.mark.parametrize(
    ("slope", "end_slope", "rise"),
    [
        *((1.0, 0.0, -np.inf), (1.0, np.nan, -np.inf), (1.0, 1.0, np.nan), (1.0, np.inf, -5.0)),
        *((1.0, -np.inf, -np.inf), (-1.0, 1.0, -1.0), (0.0, 1.0, -1.0)),
    ],
)
def test_where_a_step_leads_to_a_forbidden_point_or_begins_downhill_a_part_of_it_is_left(
    slope, end_slope, rise
):
    assert shortened(slope, end_slope, rise) == (A_PART, np.inf)  # a start does not end because of it


@pytest.mark.parametrize("by_slopes", [True, False])
def test_a_start_before_a_cliff_climbs_to_its_edge(by_slopes):
    def cliff(x):
        beyond = np.maximum(x[:, 0] - 0.53, 0.0)
        return 20.0 * x[:, 0] - 1e5 * beyond, (20.0 - 1e5 * (beyond > 0.0))[:, None]

    found = maximize(cliff, np.array([[0.5]]), pace=replace(QUICK, by_slopes=by_slopes))
    assert found.values[0] > 10.4


def test_beside_the_best_trial_a_climb_by_slopes_ends_in_the_same_place_after_half_of_the_evaluations():
    lead, spent = [], np.zeros(2)
    for seed in range(5):
        gp, rng = problem("matern52", 4, 60, seed, noise=0.01)[0], np.random.default_rng(seed)
        gain = ExpectedImprovement(gp, float(gp.fitted().min()))
        top = maximize(gain.value_and_grad, rng.random((8, 4)), pace=EXACT).points[0]
        starts = np.clip(top + 1e-4 * rng.standard_normal((8, 4)), 0.0, 1.0)
        ends = []
        for k, pace in enumerate((QUICK, replace(QUICK, by_slopes=False))):

            def counted(x, k=k, gain=gain):
                spent[k] += 1
                return gain.value_and_grad(x)

            ends.append(
                maximize(counted, starts, pace=pace, scales=np.array(gp.hyper.lengthscales)).values[0]
            )
        lead.append(ends[0] - ends[1])
    assert min(lead) > -0.01
    assert spent[0] <= 0.6 * spent[1]


def test_a_start_ends_where_a_shorter_step_promises_next_to_nothing():
    """It lies at the top but for rounding, and its first step is too long: after a cut no other is tried."""
    calls = []

    def counted(x):
        calls.append(len(x))
        return bowl(np.array([0.5]), np.array([1e6]))(x)

    found = maximize(counted, np.array([[0.500001]]), pace=Pace(1e-2, by_slopes=True))
    assert len(calls) == 3
    assert found.values[0] >= -1.001e-6


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_time_enough_every_start_ends_on_a_top(kernel):
    gp, _ = problem(kernel, 3, 20, noise=0.05)
    acquisition = ExcursionSearch(gp, np.linspace(-3.0, -1.5, 5)).value_and_grad
    starts = np.random.default_rng(0).random((5, 3))
    for start in starts:
        found = maximize(acquisition, start[None, :], max_evaluations=500, gtol=1e-6, pace=Pace(0.0))
        assert by_scipy(acquisition, found.points) == pytest.approx(found.values[0], abs=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_grid_point_is_better_than_what_is_found(kernel):
    gp, _ = problem(kernel, 2, 12, noise=0.1)
    acquisition = ExcursionSearch(gp, np.linspace(-3.0, -1.5, 5)).value_and_grad
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 101)] * 2), axis=-1).reshape(-1, 2)
    values = acquisition(grid)[0]
    coarse = grid[::53]
    starts = coarse[np.argsort(-acquisition(coarse)[0])[:10]]
    assert maximize(acquisition, starts).values[0] >= values.max() - 0.02


@given(st.integers(0, 1000))
@effort(max_examples=20)
def test_no_start_leaves_the_cube_or_ends_lower_than_it_began(seed):
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(1, 5))
    gp, _ = problem("matern52", dim, 8, seed)
    acquisition = ExcursionSearch(gp, np.array([-2.0, -1.0])).value_and_grad
    starts = rng.uniform(-0.1, 1.1, (4, dim))
    together = maximize(acquisition, starts)
    assert ((together.points >= 0.0) & (together.points <= 1.0)).all()
    assert (np.diff(together.values) <= 0.0).all()
    np.testing.assert_allclose(acquisition(together.points)[0], together.values, rtol=1e-9)
    began = acquisition(np.clip(starts, 0.0, 1.0))[0]
    assert (np.sort(together.values) >= np.sort(began) - 1e-12).all()


def test_points_of_minus_infinity_are_never_entered():
    def fun(x):
        value, grad = bowl(np.array([0.9, 0.9]), np.ones(2))(x)
        out = x.sum(axis=1) > 1.0
        return np.where(out, -np.inf, value), grad

    found = maximize(fun, np.array([[0.1, 0.2], [0.8, 0.8]]))
    assert found.points[0].sum() <= 1.0
    assert np.isfinite(found.values[0])
    assert found.values[1] == -np.inf  # it could not start, and comes last
    np.testing.assert_allclose(found.points[1], [0.8, 0.8])


def valley(x):
    """Rosenbrock's, upside down with its top of 0 at (0.75, 0.5): a long way up."""
    a, b = 4.0 * x[:, 0] - 2.0, 4.0 * x[:, 1] - 1.0
    bend = b - a * a
    slopes = 4.0 * np.column_stack([40.0 * a * bend + 2.0 * (1.0 - a), -20.0 * bend])
    return -10.0 * bend**2 - (1.0 - a) ** 2, slopes


def test_a_start_that_promises_less_than_was_found_gives_up_and_one_that_promises_more_does_not():
    def beside(top):
        """From the valley's far end, beside a start next to a bowl's top."""

        def fun(x):
            calls.append(len(x))
            left = x[:, 2] < 0.5
            value, grad = valley(x)
            bowl_value, bowl_grad = bowl(np.array([0.5, 0.5, 0.9]), np.ones(3))(x)
            grad = np.column_stack([grad, np.zeros(len(x))])
            return np.where(left, value, bowl_value + top), np.where(left[:, None], grad, bowl_grad)

        calls: list[int] = []
        return maximize(fun, np.array([[0.2, 0.4, 0.2], [0.5, 0.5, 0.8]])), len(calls)

    won, alone = beside(-6.0)  # the valley's top is higher, and it is climbed to its end
    lost, together = beside(10.0)
    assert won.values[0] > -0.01
    assert lost.values[0] > 10.0 - 0.01
    assert together < 0.6 * alone


def test_a_start_at_the_top_stays_there():
    top = np.array([[0.3, 0.7]])
    np.testing.assert_allclose(maximize(bowl(top[0], np.ones(2)), top).points, top)


def disc(x):
    """Room inside a disc of radius 0.3 around the middle."""
    d = x - 0.5
    return 0.09 - (d * d).sum(axis=1), -2.0 * d


@pytest.mark.parametrize("centre", [(0.9, 0.9), (0.5, 0.1), (0.45, 0.55)])
def test_under_a_constraint_the_result_equals_a_brute_force_grid_and_never_violates(centre):
    fun = bowl(np.array(centre), np.ones(2))
    rng = np.random.default_rng(0)
    starts = 0.5 + rng.uniform(-0.15, 0.15, (6, 2))
    found = maximize_above(fun, disc, 0.0, starts)
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 401)] * 2), axis=-1).reshape(-1, 2)
    best = fun(grid[disc(grid)[0] > 0.0])[0].max()
    assert found.values[0] >= best - 0.02
    assert (disc(found.points)[0] > 0.0).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rho", [0.5, 0.9, 0.99])
def test_the_constrained_search_equals_a_brute_force_grid_of_the_process(kernel, rho):
    """(13): argmax α subject to φ >= ρ."""
    gp, _ = problem(kernel, 2, 14, seed=1, noise=0.05)
    one, _ = problem(kernel, 2, 14, seed=2, noise=0.05)
    feasibility = Feasibility((one,))
    acquisition = ExcursionSearch(gp, np.linspace(-2.5, -1.5, 5)).value_and_grad
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 121)] * 2), axis=-1).reshape(-1, 2)
    allowed = grid[feasibility.log_prob(grid) >= np.log(rho)]
    assert 10 < len(allowed) < len(grid)
    level = float(ndtri(rho))
    inner = allowed[feasibility.margin_and_grad(allowed)[0] > level]
    coarse = inner[:: max(1, len(inner) // 150)]
    starts = coarse[np.argsort(-acquisition(coarse)[0])[:10]]
    found = maximize_above(acquisition, feasibility.margin_and_grad, level, starts)
    assert (feasibility.log_prob(found.points) >= np.log(rho)).all()
    values = acquisition(allowed)[0]
    assert found.values[0] >= values.max() - 0.05 * np.ptp(values)
