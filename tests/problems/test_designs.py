"""The engineering designs: published optima found again by a search, feasible shares, decades, starts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.problems.searching import global_search, stretch
from tumble import problems
from tumble.errors import InputError
from tumble.problems.designs import DESIGNS

NAMES = list(DESIGNS)
SHARES = {  # of points uniform in the space (logarithmic where a parameter is)
    "three-bar-truss": 0.22,
    "ten-bar-truss": 0.11,
    "tubular-column": 0.76,
    "corrugated-bulkhead": 0.23,
    "i-beam": 0.50,
    "car-side-impact": 0.12,
    "piston-lever": 0.36,
    "disc-clutch-brake": 0.76,
    "robot-gripper": 0.0014,
    "thrust-bearing": 0.00088,
    "ball-bearing": 0.0078,
    "gas-compressor": 0.52,
    "alkylation": 1.8e-5,
    "refrigeration": 1.3e-6,
    "car-sheets": 0.19,
}
LOOSE = {"robot-gripper": 0.03, "refrigeration": 0.01}  # a corner of poles; fourteen parameters
CONTRADICTED = {"robot-gripper": 0.0098}  # our optimum lies so far above the published one


def outcomes(design, n, seed=0):
    x = design_points(design, np.random.default_rng(seed).random((n, len(design.bounds))))
    return design.objective(x), design.limits(x)


def design_points(design, u):
    """Uniform in the space's own coordinates: linear, or logarithmic where the parameter says so."""
    x = stretch(design.space)(u)
    linear = [not getattr(p, "log", False) and not getattr(p, "step", None) for p in _parameters(design)]
    low, high = design.bounds.T
    plain = [k for k, p in enumerate(_parameters(design)) if linear[k] and hasattr(p, "low")]
    x[:, plain] = low[plain] + (high - low)[plain] * u[:, plain]
    return x


def _parameters(design):
    return design.space.parameters.values()


@pytest.mark.parametrize("name", NAMES)
def test_a_global_search_finds_the_stated_optimum_and_nothing_better(name):
    design = DESIGNS[name]
    generations = {"ten-bar-truss": 400, "refrigeration": 500, "robot-gripper": 400}.get(name, 250)
    most = design.f_min + LOOSE.get(name, 0.001) * abs(design.f_min)
    for seed in (0, 1):  # the second where the first ends elsewhere
        found = global_search(
            design.objective, design.limits, design.space, seeds=(seed,), generations=generations
        )
        assert found.value >= design.f_min - 1e-6 * abs(design.f_min)
        if found.value <= most:
            return
    raise AssertionError("no search found it")


@pytest.mark.parametrize("name", NAMES)
def test_the_optimum_is_the_published_one(name):
    design = DESIGNS[name]
    excess = (design.f_min - design.published) / abs(design.published)
    assert excess == pytest.approx(CONTRADICTED.get(name, 0.0), abs=1e-4 if name in CONTRADICTED else 1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_start_is_safe_but_poor(name):
    design = DESIGNS[name]
    start = np.array(design.start)
    assert np.all(design.limits(start) <= 0.0)
    assert design.objective(start) > design.f_min + 0.1 * abs(design.f_min)
    params = problems.get(name).params(start)
    np.testing.assert_allclose(problems.get(name).point(params), start)
    design.space.encode(params)  # raises where a value is not admissible


@pytest.mark.parametrize("name", NAMES)
def test_the_feasible_share_is_the_stated_one(name):
    design = DESIGNS[name]
    n = 20_000
    _, limits = outcomes(design, n)
    share = np.mean(np.all(limits <= 0.0, axis=1))
    expected = SHARES[name]
    assert share == pytest.approx(expected, abs=4.0 * np.sqrt(expected / n) + 1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_many_points_are_those_of_one_and_always_finite(name):
    design, problem = DESIGNS[name], problems.get(name)
    x = design_points(design, np.random.default_rng(3).random((50, len(design.bounds))))
    low, high = design.bounds.T
    corners = np.where(np.random.default_rng(4).random(x.shape) < 0.5, low, high)
    with np.errstate(all="ignore"):
        for points in (x, corners):
            values, limits = design.objective(points), design.limits(points)
            for i in range(0, 50, 7):
                outcome = problem.evaluate(points[i])
                np.testing.assert_allclose(outcome.value, values[i], rtol=1e-9)
                np.testing.assert_allclose(outcome.constraints, limits[i], rtol=1e-7, atol=1e-12)
    for points in (x, corners):
        assert np.all(np.isfinite(design.objective(points)))
        assert np.all(np.isfinite(design.limits(points)))


@pytest.mark.parametrize("name", NAMES)
def test_every_limit_may_be_tightened_by_the_slack_and_leaves_a_safe_design(name):
    design = DESIGNS[name]

    def worst(x):
        return design.limits(x).max(axis=-1)

    found = global_search(worst, lambda x: np.full((*x.shape[:-1], 1), -1.0), design.space, generations=25)
    assert found.value < -design.slack


def test_there_are_enough_designs_large_ones_and_ones_that_span_decades():
    large = [d for d in DESIGNS.values() if len(d.bounds) >= 7 and len(d.limit_names) >= 10]
    assert len(DESIGNS) >= 10
    assert len(large) >= 2
    wide = []
    for design in DESIGNS.values():
        values, limits = outcomes(design, 4000)
        decades = [np.ptp(np.log10(np.abs(column[column != 0.0]))) for column in (values, *limits.T)]
        positive = [np.log10(column.max()) for column in limits.T if column.max() > 0.0]
        if np.median(decades) > 3.0 and max(positive) > 2.0:
            wide.append(design.name)
    assert len(wide) >= 3


def test_a_choice_stands_in_a_point_as_its_index():
    problem = problems.get("car-side-impact")
    x = problem.optimum.x
    assert x is not None
    params = problem.params(x)
    assert (params["b-pillar-steel"], params["floor-steel"]) == ("high-strength", "mild")
    np.testing.assert_array_equal(problem.point(params), x)
    with pytest.raises(InputError, match=r"expected one of \['mild', 'high-strength'\], but 'tin' came"):
        problem.point({**params, "floor-steel": "tin"})


def test_a_box_has_no_space_and_its_points_are_named():
    problem = problems.get("three-bar-truss")
    assert problem.space is None
    assert problem.params([0.5, 0.25]) == {"outer": 0.5, "inner": 0.25}
    np.testing.assert_array_equal(problem.point({"inner": 0.25, "outer": 0.5}), [0.5, 0.25])
    assert problem.noise_free is problem
    assert problem.optimum.value == problem.f_min


def test_the_sheets_of_the_car_are_those_of_the_whole_car_with_the_rest_of_it_fixed():
    whole, sheets = DESIGNS["car-side-impact"], DESIGNS["car-sheets"]
    x = sheets.bounds[:, 0] + np.ptp(sheets.bounds, axis=1) * np.random.default_rng(0).random((5, 7))
    same = np.array([[*point, 1.0, 0.0, 0.0, 0.0] for point in x])  # which steels, and where the barrier is
    np.testing.assert_array_equal(sheets.limits(x), whole.limits(same))
    np.testing.assert_array_equal(sheets.objective(x), whole.objective(same))
