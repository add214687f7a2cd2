"""Safe-set expansion against brute force on a grid, and from a safe start only."""

import numpy as np
import pytest
from scipy.special import ndtr

import tumble
from tests.oracles import central, close
from tests.toys import context_of, history, smooth_history
from tumble.baselines.safe_set import BETA, Frontier, SafeSet, in_safe_set, safe_set
from tumble.core.feasibility import Feasibility
from tumble.core.process.gp import condition
from tumble.methods import TWO_SIGMA

GRID = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 13)] * 2), axis=-1).reshape(-1, 2)


def refitted(gp, y, x, seen):
    """The process conditioned on one more observation, from nothing."""
    return condition(gp.kernel, gp.hyper, np.vstack([gp.X, x]), np.append(y, seen), prior_mean=gp.prior_mean)


def brute_force(context, targets):
    """S, M and G on GRID by their definitions, refitting for every point of S."""
    f, limits = context.models.objective, context.models.feasibility.constraints
    mean, var = f.predict(GRID)
    S = np.ones(len(GRID), dtype=bool)
    for gp in limits:
        m, v = gp.predict(GRID)
        S &= m + BETA * np.sqrt(v) <= 0.0
    M = S & (mean - BETA * np.sqrt(var) <= np.min((mean + BETA * np.sqrt(var))[S]))
    G = np.zeros(len(GRID), dtype=bool)
    for i in np.flatnonzero(S):
        after = []
        for gp, y in zip(limits, targets, strict=True):
            m, v = gp.predict(GRID[i : i + 1])
            more = refitted(gp, y, GRID[i], m[0] - BETA * np.sqrt(v[0]))
            m, v = more.predict(GRID[~S])
            after.append(m + BETA * np.sqrt(v) <= 0.0)
        G[i] = np.all(after, axis=0).any()
    return S, M, G


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_rule_equals_brute_force_on_a_grid(count, seed):
    past = smooth_history(14, 2, constraints=count, seed=seed)
    assert past.safe.any()
    context = context_of(past)
    f, feasibility = context.models.objective, context.models.feasibility
    targets = [gp.outputs.to_model(past.g[:, k]) for k, gp in enumerate(feasibility.constraints)]
    S, M, G = brute_force(context, targets)
    mean, var = f.predict(GRID)
    acquisition = SafeSet(
        (f, *feasibility.constraints), f, feasibility,
        float((mean + BETA * np.sqrt(var))[S].min()), GRID[~S],
    )  # fmt: skip
    np.testing.assert_array_equal(in_safe_set(feasibility, GRID), S)
    np.testing.assert_array_equal(acquisition.may_be_minimum(GRID[S]), M[S])
    np.testing.assert_array_equal(acquisition.may_enlarge(GRID[S]), G[S])
    widths = [np.sqrt(gp.predict(GRID)[1] / gp.hyper.variance) for gp in (f, *feasibility.constraints)]
    widest = np.where(M | G, np.max(widths, axis=0), 0.0)
    value = acquisition.value_and_grad(GRID)[0]
    np.testing.assert_allclose(np.exp(value), widest, rtol=1e-9)
    assert np.argmax(value) == np.argmax(widest)


def test_the_optimistic_bound_is_that_of_a_refit():
    past = smooth_history(10, 2, constraints=1)
    gp = context_of(past).models.feasibility.constraints[0]
    y = gp.outputs.to_model(past.g[:, 0])
    x, others = np.array([[0.3, 0.6]]), np.random.default_rng(0).random((5, 2))
    m, v = gp.predict(x)
    mean, var = refitted(gp, y, x, m[0] - 2.0 * np.sqrt(v[0])).predict(others)
    close(Frontier.of(gp, others, 0.0).optimistic_upper(x, 2.0)[0], mean + 2.0 * np.sqrt(var), 1e-6)


def test_the_gradient_is_that_of_the_widest_interval():
    acquisition = safe_set(context_of(smooth_history(14, 2, constraints=1)))
    x = np.random.default_rng(0).random((200, 2))
    x = x[np.isfinite(acquisition.screen(x))][:5]
    value, grad = acquisition.value_and_grad(x)
    assert np.isfinite(value).all()
    close(grad, central(lambda p: acquisition.value_and_grad(p)[0], x, 1e-6), 1e-4)


def test_suggestions_stay_in_the_safe_set_and_it_grows():
    """The constraint |x| <= 0.3 around the middle of a box; the true safe set is a tenth of it."""

    def fun(x):
        return float(np.sum((x - 0.15) ** 2)), [float(np.hypot(*x)) - 0.3]

    opt = tumble.Optimizer([(-0.5, 0.5)] * 2, trials=20, failures=2, constraints=1, seed=0, method="safe-set")
    for start in ([0.0, 0.0], [0.05, 0.0]):
        opt.tell(start, *fun(np.array(start)), billed=False)
    modes = set()
    reach = []
    for _ in range(20):
        s = opt.ask()
        modes.add(s.mode)
        if s.mode == "careful":
            assert s.p_safe >= TWO_SIGMA - 1e-9
            assert s.rho == pytest.approx(float(ndtr(2.0)))
        reach.append(float(np.hypot(*s.x)))
        opt.tell(s, *fun(s.x))
    assert "careful" in modes
    assert sum(t.failed for t in opt.trials) <= 1
    assert max(reach) > 0.2
    assert opt.best is not None
    assert opt.best.value < 0.01


def test_it_asks_for_a_safe_start():
    opt = tumble.Optimizer([(0.0, 1.0)], trials=5, constraints=1, method="safe-set")
    with pytest.raises(tumble.TumbleError, match=r"no safe trial is known; tell one first .*x0.*tumble"):
        opt.ask()
    opt.tell([0.5], 1.0, [0.2], billed=False)
    with pytest.raises(tumble.InputError, match="no safe trial is known"):
        opt.ask()
    opt.tell([0.4], 1.0, [-0.2], billed=False)
    assert 0.0 <= opt.ask().x[0] <= 1.0


def test_where_nothing_is_surely_safe_it_takes_the_safest_point():
    """One trial that is safe by less than its noise: S is empty."""
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials=5, constraints=1, seed=0, method="safe-set")
    opt.tell([0.5, 0.5], 1.0, [-1e-6], billed=False)
    opt.tell([0.6, 0.5], 1.0, [2.0], billed=False)
    opt.tell([0.4, 0.5], 1.0, [2.0], billed=False)
    assert opt.ask().mode == "safest"


def test_what_would_crash_cannot_enlarge_the_safe_set():
    past = smooth_history(14, 2, constraints=1)
    crashed = past.X[:, 1] > 0.6
    y, g = np.where(crashed, np.nan, past.y), np.where(crashed[:, None], np.nan, past.g)
    context = context_of(history(past.X, y, g, crashed=crashed))
    full = context.models.feasibility
    assert full.crash is not None
    acquisition = safe_set(context)
    bare = SafeSet(
        acquisition.processes, acquisition.objective, Feasibility(full.constraints, None, full.widening),
        acquisition.least_upper, acquisition.outside,
    )  # fmt: skip
    x = np.random.default_rng(0).random((300, 2))
    assert (acquisition.may_enlarge(x) <= bare.may_enlarge(x)).all()


def test_without_constraints_everything_is_safe_and_nothing_enlarges_it():
    context = context_of(smooth_history(10, 2))
    acquisition = safe_set(context)
    x = np.random.default_rng(0).random((50, 2))
    assert len(acquisition.outside) == 0
    np.testing.assert_array_equal(np.isfinite(acquisition.screen(x)), acquisition.may_be_minimum(x))
