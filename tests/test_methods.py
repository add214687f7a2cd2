"""One contract for every method, and methods and settings by name."""

import importlib
import sys
from dataclasses import fields, replace
from typing import Any, cast, get_args

import numpy as np
import pytest

import tumble
from tests.oracles import central, close
from tests.toys import context_of, history, smooth_history
from tumble.core import budget
from tumble.core.algorithm import propose
from tumble.core.history import History
from tumble.core.settings import Settings
from tumble.methods import METHODS, Method, MethodName, find_method, resolve_settings

FAST = Settings(raw_samples=96, grid=64, restarts=4, draws=4)
BOUNDS = [(-2.0, 3.0), (10.0, 20.0)]
CONSTRAINED = [p for p in METHODS.values() if p.constrained]
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def count(method: Method) -> int:
    return 1 if method.constrained else 0


def fun(x):
    """A bowl, safe on one side of a line."""
    return float((x[0] - 1.0) ** 2 + (x[1] - 14.0) ** 2 / 25.0), float(x[0] + x[1] / 5.0 - 4.5)


def tell(opt, where, method: Method, billed=True):
    x = where.x if isinstance(where, tumble.Suggestion) else np.asarray(where)
    value, g = fun(x)
    opt.tell(where, value, [g] * count(method), billed=billed)


def started(method: Method, seed=3, settings=FAST, failures=None):
    """Six points told, four of them safe."""
    opt = tumble.Optimizer(
        BOUNDS, trials=30, failures=failures, constraints=count(method), seed=seed,
        method=cast(MethodName, method.name), settings=settings,
    )  # fmt: skip
    for x in ([-1.0, 12.0], [0.5, 11.0], [2.5, 19.0], [0.0, 18.0], [2.9, 15.0], [1.0, 11.5]):
        tell(opt, x, method, billed=False)
    return opt


def run(method: Method, past: History, seed: int = 0, settings=FAST):
    state = budget.start(30, 30, settings) if method.constrained else None
    return propose(past, state, method, settings, np.random.default_rng(seed))


def past_of(method: Method, n: int = 10, dim: int = 2, **more: Any) -> History:
    return smooth_history(n, dim, constraints=count(method), **more)


@every_method
def test_suggestions_are_finite_and_inside_the_bounds(method):
    opt = started(method)
    for _ in range(4):
        s = opt.ask()
        assert np.isfinite(s.x).all()
        assert np.isfinite([s.mean, s.std, s.p_safe, s.rho]).all()
        assert all(low <= v <= high for v, (low, high) in zip(s.x, BOUNDS, strict=True))
        tell(opt, s, method)


@every_method
@pytest.mark.parametrize("settings", ["default", "paper"])
def test_both_settings_by_name_run(method, settings):
    opt = started(method, settings=settings)
    assert np.isfinite(opt.ask().x).all()


@every_method
def test_the_seed_decides(method):
    def sequence(seed):
        opt = started(method, seed)
        out = []
        for _ in range(3):
            s = opt.ask()
            out.append(s.x)
            tell(opt, s, method)
        return np.array(out)

    np.testing.assert_array_equal(sequence(3), sequence(3))


@every_method
def test_a_saved_study_goes_on_as_if_never_stopped(method):
    opt = started(method)
    tell(opt, opt.ask(), method)
    again = tumble.Optimizer.from_dict(opt.to_dict())
    np.testing.assert_array_equal(opt.ask().x, again.ask().x)


@every_method
def test_what_is_in_flight_is_not_suggested_again(method):
    opt = started(method)
    asked = np.array([opt.ask().x for _ in range(4)])
    apart = np.abs(asked[:, None, :] - asked).max(axis=2)[np.triu_indices(4, 1)]
    assert (apart > 1e-6).all()


@every_method
def test_uncertainty_counts_what_is_in_flight(method):
    """The acquisition at a trial in flight is not what it is without it."""
    past = past_of(method)
    at = np.array([[0.31, 0.52]])
    values = []
    for pending in (at[:0], at):
        known = history(past.X, past.y, past.g, pending=pending)
        known = replace(known, g=past.g)
        values.append(method.build(context_of(known, FAST)).screen(at)[0])
    assert values[0] != values[1] or not np.isfinite(values[0])


@every_method
def test_proposing_is_pure(method):
    past = past_of(method, pending=1)
    parts = {f.name: getattr(past, f.name) for f in fields(past)}
    arrays = {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}
    before = {name: value.copy() for name, value in arrays.items()}
    for value in arrays.values():
        value.flags.writeable = False
    state = repr(np.random.get_state())
    first, second = run(method, past), run(method, past)
    np.testing.assert_array_equal(first.x, second.x)
    assert first.mode == second.mode
    assert repr(np.random.get_state()) == state
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(past, name), value)


@every_method
@pytest.mark.parametrize(
    "settings", [FAST, replace(Settings.paper(), raw_samples=96, grid=64)], ids=["default", "paper"]
)
def test_the_acquisition_keeps_the_protocol(method, settings):
    """Shapes, finite gradients equal to differences, x left alone, rows independent of one another."""
    acquisition = method.build(context_of(past_of(method), settings))
    x = np.random.default_rng(0).random((60, 2))
    x = x[np.isfinite(acquisition.screen(x))][:6]
    x.flags.writeable = False
    value, grad = acquisition.value_and_grad(x)
    assert value.shape == (len(x),)
    assert grad.shape == x.shape
    assert np.isfinite(value).all()
    assert np.isfinite(grad).all()
    close(grad, central(lambda p: acquisition.value_and_grad(p)[0], x, 1e-5), 1e-3)
    alone = np.concatenate([acquisition.value_and_grad(row[None, :])[0] for row in x])
    np.testing.assert_allclose(alone, value, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("method", "kind"),
    [(p, "crashed") for p in METHODS.values()] + [(p, k) for p in CONSTRAINED for k in ("violated", "both")],
    ids=lambda value: getattr(value, "name", value),
)
def test_histories_where_everything_failed_are_survived(method, kind):
    past = past_of(method)
    crashed = np.full(10, kind != "violated")
    if kind == "both":
        crashed[5:] = False
    y = np.where(crashed, np.nan, past.y)
    g = np.where(crashed[:, None], np.nan, np.abs(past.g) + 0.1)
    known = replace(
        history(past.X, y, crashed=crashed), g=g, predicted_mean=g * np.nan, predicted_std=g * np.nan
    )
    if method.own_level is not None:
        with pytest.raises(tumble.TumbleError, match="no safe trial is known"):
            run(method, known)
        return
    proposal = run(method, known)
    assert np.isfinite(proposal.x).all()
    assert np.isfinite(proposal.p_safe)


@every_method
@pytest.mark.parametrize("level", [0.0, 7.0, -1e6])
def test_constant_histories_are_survived(method, level):
    past = past_of(method)
    constant = replace(past, y=np.full(10, level), g=np.full_like(past.g, -1.0))
    proposal = run(method, constant)
    assert np.isfinite(proposal.x).all()
    assert np.isfinite([proposal.mean, proposal.std]).all()


@every_method
@pytest.mark.parametrize(("n", "dim"), [(1, 1), (1, 5), (3, 1), (25, 3)])
def test_any_number_of_trials_and_dimensions_will_do(method, n, dim):
    past = past_of(method, n, dim)
    past = replace(past, g=-np.abs(past.g) - 0.1)
    proposal = run(method, past)
    assert proposal.x.shape == (dim,)
    assert ((proposal.x >= 0.0) & (proposal.x <= 1.0)).all()


@every_method
def test_the_same_point_told_many_times_is_survived(method):
    past = past_of(method)
    same = replace(past, X=np.tile(past.X[:1], (10, 1)), g=np.full_like(past.g, -0.5))
    assert np.isfinite(run(method, same).x).all()


@every_method
def test_a_better_point_is_found(method):
    opt = started(method)
    first = opt.best.value
    for _ in range(12):
        tell(opt, opt.ask(), method)
    assert opt.best.value < first


@pytest.mark.parametrize("method", CONSTRAINED, ids=[p.name for p in CONSTRAINED])
def test_a_spent_budget_makes_every_method_careful(method):
    """At ΔB = 0 even a method without a controller searches where safety is likely."""
    opt = started(method, failures=0)
    s = opt.ask()
    assert s.mode in ("careful", "safest")
    assert s.mode == "safest" or s.p_safe >= 0.97


def test_methods_without_constraints_refuse_them_and_name_those_that_take_them():
    with pytest.raises(
        tumble.InputError, match="'ucb' takes no constraints; choose one of tumble, xsf, eic, pesc, safe-set"
    ):
        tumble.Optimizer([(0.0, 1.0)], constraints=1, method="ucb")


def test_an_unknown_method_is_told_the_listed_ones():
    with pytest.raises(tumble.InputError) as error:
        tumble.Optimizer([(0.0, 1.0)], method="simplex")  # type: ignore[arg-type]
    assert str(error.value) == (
        "method must be one of tumble, xs, xsf, ei, pi, ucb, mes, eic, pesc, safe-set, or None; not 'simplex'"
    )


def test_no_method_is_the_default_search_with_limits_and_without_them():
    assert find_method(None, limited=False).name == "ei"
    assert find_method(None, limited=True).name == "tumble"


def test_no_method_is_the_paper_s_with_its_settings():
    assert tumble.Optimizer([(0.0, 1.0)], settings="paper").active_method.name == "xs"
    assert tumble.Optimizer([(0.0, 1.0)], 9, 2, settings="paper").active_method.name == "xsf"


def test_settings_go_by_name_or_as_they_are():
    assert resolve_settings("default") == Settings()
    assert resolve_settings("paper") == Settings.paper()
    assert resolve_settings(FAST) is FAST
    with pytest.raises(tumble.InputError, match=r'settings must be "default", "paper" or a tumble\.Settings'):
        resolve_settings("fast")


def test_an_unknown_incumbent_is_refused():
    expected = r"""settings\.incumbent must be "mean", "observed" or "all", not 'best'"""
    with pytest.raises(tumble.InputError, match=expected):
        Settings(incumbent="best")  # type: ignore[arg-type]


def test_the_names_of_the_list_are_those_of_the_type():
    assert tuple(METHODS) == get_args(MethodName)
    assert {name: method.name for name, method in METHODS.items()} == dict(zip(METHODS, METHODS, strict=True))
    assert all(method.label for method in METHODS.values())


def test_policies_is_the_old_name_of_methods():
    sys.modules.pop("tumble.policies", None)
    with pytest.warns(DeprecationWarning, match=r"tumble.policies is now called tumble.methods"):
        old = importlib.import_module("tumble.policies")
    assert (old.POLICIES, old.Policy, old.policy) == (METHODS, Method, find_method)
    with pytest.warns(DeprecationWarning, match="Method.keeps is now called own_level"):
        assert METHODS["safe-set"].keeps == METHODS["safe-set"].own_level  # type: ignore[attr-defined]
    with pytest.warns(DeprecationWarning, match="Method.weighted is now called times_phi"):
        assert not METHODS["pesc"].weighted  # type: ignore[attr-defined]
