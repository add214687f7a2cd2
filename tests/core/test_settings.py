"""The switches: each departs from the paper by itself, and files of 0.1.0 keep what they meant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.toys import context_of, history, smooth_history
from tumble.baselines.improvement import constrained_improvement
from tumble.core.process.models import fit_models
from tumble.core.search.candidates import low_discrepancy
from tumble.core.search.excursion import excursion_search
from tumble.core.search.modes import Search
from tumble.core.settings import EARLY, MANY, Settings
from tumble.errors import InputError

NEW = (
    "relearn", "cap_minima", "gap", "optimism", "band", "descend", "keep_last_failure", "safest_odds",
    "surprise", "crash_draws", "alarm", "bound_risk", "doubt_safety", "integrate", "search", "warp",
    "descend_safely", "allowed_minima", "keep_rho", "admissible", "share_failures",
    "boldness", "widen_at_end", "stepping_stones", "survey", "weigh_noise",
    "rho_only", "reserve", "less_violation",
)  # fmt: skip


def saved_by_0_1_0(settings):
    return {name: value for name, value in settings.to_dict().items() if name not in NEW}


# What 0.1.0 did, where it differs from the default.
OTHERWISE: dict[str, Any] = {
    "keep_last_failure": True,
    "crash_draws": 0,
    "alarm": False,
    "bound_risk": False,
    "doubt_safety": False,
    "integrate": False,
    "search": "excursion",
    "warp": False,
    "descend_safely": False,
    "allowed_minima": False,
    "keep_rho": False,
    "admissible": False,
    "share_failures": False,
    "widen_at_end": False,
    "stepping_stones": False,
    "survey": 0.0,
    "weigh_noise": False,
    "rho_only": None,
    "reserve": None,
    "less_violation": False,
}


def test_a_key_that_no_setting_has_any_more_is_passed_over():
    assert Settings.from_dict({**Settings().to_dict(), "look_elsewhere": True}) == Settings()


def test_a_file_of_0_1_0_means_what_it_meant():
    assert Settings.from_dict(saved_by_0_1_0(Settings())) == replace(Settings(), **OTHERWISE)
    kept = {name: getattr(Settings(), name) for name in NEW if name not in ("band", "gap", "optimism")}
    old = replace(Settings.paper(), **{**kept, **OTHERWISE}, incumbent="observed")
    assert Settings.from_dict(saved_by_0_1_0(old)) == old


def test_the_paper_s_settings_are_as_printed():
    paper = Settings.paper()
    assert (paper.relearn, paper.incumbent, paper.kernel, paper.minima) == ("always", "all", "se", "frechet")
    off = (
        "standardize", "cap_minima", "band", "descend", "safety_first", "keep_last_failure", "soften_phi",
        "calibrate", "optimism", "gap", "delta", "safest_odds", "surprise", "alarm",
        "integrate",
    )  # fmt: skip
    assert not any(getattr(paper, name) for name in off)
    assert {paper.objective.additive, paper.objective.mean_std} == {None}


def test_as_printed_hyperparameters_are_learned_after_every_trial():
    settings, later = Settings.paper(), smooth_history(52, 2)
    first = fit_models(history(later.X[:51], later.y[:51]), settings, None)
    always, settled = (
        fit_models(later, replace(settings, relearn=when), first.fitted).objective.hyper
        for when in ("always", "settled")
    )
    assert (settled.learned_from, always.learned_from) == (51, 52)


def test_as_printed_the_safest_point_is_where_phi_is_largest():
    past = smooth_history(12, 2, 1)
    context = context_of(past, Settings.paper())
    search = Search(context, excursion_search(context))
    x = search.nearly_safest()
    grid = low_discrepancy(4000, 2, np.random.default_rng(3))
    margin = context.models.feasibility.margin
    assert margin(x[None])[0] >= margin(grid).max() - 1e-6


def test_units_of_its_own_change_no_other_switch():
    plain = replace(Settings(), standardize=False)
    assert (plain.band, plain.gap, plain.optimism) == (True, 1e-3, 0.3)
    assert Settings.from_dict(plain.to_dict()) == plain


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"band": 1}, "settings.band must be true or false, not 1"),
        ({"gap": -1.0}, "settings.gap must be at least 0, not -1.0"),
        ({"optimism": 2.0}, "settings.optimism must be a number from 0 to 1, not 2.0"),
        ({"safest_odds": 0.5}, "settings.safest_odds must be at least 1, not 0.5"),
        ({"reserve": -1}, "settings.reserve must be a whole number from 0 to 100000, not -1"),
        ({"crash_draws": -1}, "settings.crash_draws must be a whole number from 0 to 100000, not -1"),
        ({"surprise": -6.0}, "settings.surprise must be at least 0, not -6.0"),
        ({"relearn": "never"}, 'settings.relearn must be "settled" or "always", not \'never\''),
    ],
)
def test_a_switch_out_of_its_range_is_refused(changes, message):
    with pytest.raises(InputError) as error:
        Settings(**changes)
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["objective", "constraint"])
@pytest.mark.parametrize("key", ["mean", "mean_std"])
@pytest.mark.parametrize("wrong", [1e9, "much", True])
def test_a_wrong_mean_is_called_as_the_saved_settings_call_it(name, key, wrong):
    saved = Settings().to_dict()
    del saved[name]["mean"]
    saved[name][key] = wrong
    message = f"settings.{name}: {key} must lie from 1e-6 to 1e6, or be None, not {wrong!r}"
    with pytest.raises(InputError) as error:
        Settings.from_dict(saved)
    assert str(error.value) == message


def test_samples_of_the_minimum_keep_the_gap_and_the_optimism_that_are_set():
    past = smooth_history(8, 2)
    plain = replace(Settings(), gap=None, optimism=0.0)
    drawn = context_of(past, plain).sample_minima().samples
    eta = context_of(past, plain).eta
    for gap, optimism in ((0.1, 0.0), (0.0, 0.5), (0.2, 0.9)):
        found = context_of(past, replace(plain, gap=gap, optimism=optimism)).sample_minima().samples
        below = np.minimum(drawn, eta - gap)
        assert found == pytest.approx(np.minimum(below, eta - optimism * np.mean(eta - below)))


def test_the_incumbent_is_over_the_safe_or_over_all():
    X = np.array([[0.1], [0.5], [0.9]])
    past = history(X, [3.0, 1.0, 2.0], np.array([[-1.0], [1.0], [-1.0]]))
    eta = {kind: context_of(past, replace(Settings(), incumbent=kind)).eta for kind in ("observed", "all")}
    outputs = context_of(past).objective.outputs
    assert outputs.to_user(np.array([eta["observed"], eta["all"]])) == pytest.approx([2.0, 1.0])


def test_an_improvement_is_measured_from_the_best_safe_value():
    X = np.array([[0.1], [0.5], [0.9]])
    past = history(X, [3.0, 1.0, 2.0], np.array([[-1.0], [1.0], [-1.0]]))
    paper = context_of(past, Settings.paper())
    assert (paper.eta, paper.safe_eta) == (1.0, 2.0)
    assert constrained_improvement(paper).target == 2.0  # type: ignore[attr-defined]
    assert context_of(past).safe_eta == context_of(past).eta


def test_without_descents_fewer_points_are_looked_at():
    past = smooth_history(8, 2)
    many, few = (len(context_of(past, replace(Settings(), descend=d)).candidates) for d in (True, False))
    assert many - few == 5


# -- boldness ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("boldness", "rho_0", "rho_risk"), [(0.0, 0.99, 0.9), (0.5, 0.69930, 0.30070), (1.0, 0.1, 0.01)]
)
def test_boldness_sets_what_is_asked_of_the_first_trial_and_of_later_ones(boldness, rho_0, rho_risk):
    found = Settings(boldness=boldness)
    assert (found.rho_0, found.rho_risk) == pytest.approx((rho_0, rho_risk), abs=1e-5)
    assert Settings.from_dict(found.to_dict()) == found


def test_boldness_never_asks_for_more_than_rho_safe():
    found = Settings(boldness=0.0, rho_safe=0.95)
    assert (found.rho_0, found.rho_risk) == pytest.approx((0.95, 0.9))


@pytest.mark.parametrize("boldness", [-0.1, 1.5])
def test_a_boldness_that_does_not_lie_from_zero_to_one_is_refused(boldness):
    with pytest.raises(InputError, match=f"boldness must be a number from 0 to 1, not {boldness}"):
        Settings(boldness=boldness)


def test_a_large_history_is_searched_at_fewer_points():
    plain = Settings()
    assert plain.for_history(MANY, samples_minima=True) is plain
    for samples_minima in (True, False):
        lighter = plain.for_history(MANY + 1, samples_minima=samples_minima)
        assert (lighter.raw_samples, lighter.restarts, lighter.descend_safely) == (43, 3, False)


def test_once_a_search_has_settled_it_makes_half_of_the_climbs_unless_f_star_is_drawn():
    plain = Settings()
    assert plain.for_history(EARLY, samples_minima=False) is plain
    lighter = plain.for_history(EARLY + 1, samples_minima=False)
    assert lighter == replace(plain, restarts=4)
    assert plain.for_history(EARLY + 1, samples_minima=True) is plain
    assert replace(plain, restarts=1).for_history(EARLY + 1, samples_minima=False).restarts == 1


@pytest.mark.parametrize("n", [1, EARLY + 1, MANY])
def test_as_printed_nothing_is_left_out(n):
    printed = Settings.paper()
    assert printed.for_history(n, samples_minima=False) is printed
