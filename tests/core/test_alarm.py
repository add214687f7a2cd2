"""The alarm: Ville's inequality by simulation, power against claims that are too high, and its fallback."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toys import smooth_history
from tumble.core.alarm import ODDS, RINGS_AT, Alarm, alarm
from tumble.core.arrays import Array
from tumble.core.process.models import REACH, fit_models
from tumble.core.settings import Settings

Claims = Callable[[np.random.Generator], Array]
CLAIMS: dict[str, Claims] = {
    "all the same": lambda rng: np.full(60, 0.99),
    "nearly sure": lambda rng: np.full(200, 0.9995),
    "of every size": lambda rng: rng.uniform(0.2, 1.0, 60),
    "bold, then careful": lambda rng: np.append(rng.uniform(0.1, 0.7, 15), np.full(45, 0.998)),
}


def share_that_rings(claims: Claims, times: float, studies: int, seed: int) -> float:
    """In how many studies the alarm rings, where the risk is so many times what was claimed."""
    rng = np.random.default_rng(seed)
    rings = 0
    for _ in range(studies):
        p_safe = claims(rng)
        rings += alarm(p_safe, rng.random(len(p_safe)) < np.minimum(times * (1.0 - p_safe), 1.0)).rings
    return rings / studies


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("times", [1.0, 0.5])
def test_where_the_claims_are_true_or_too_low_it_rings_in_at_most_one_study_of_twenty(name, times):
    assert share_that_rings(CLAIMS[name], times, 1000, 1) <= 0.05


@pytest.mark.parametrize(
    ("name", "times", "least"),
    [("all the same", 10.0, 0.8), ("of every size", 2.0, 0.7), ("bold, then careful", 3.0, 0.8)],
)
def test_where_the_claims_are_too_high_it_rings(name, times, least):
    assert share_that_rings(CLAIMS[name], times, 200, 2) >= least


@given(st.floats(1e-3, 0.999), st.sampled_from(ODDS))
def test_each_bet_is_fair_at_the_claimed_risk(q, odds):
    """E[1 + λ (Γ - q)] = 1, in the two forms of the module's docstring."""
    bet = odds * q / (1.0 - q + odds * q)
    stake = (bet - q) / (q * (1.0 - q))
    assert 1.0 + stake * (1.0 - q) == pytest.approx(bet / q)
    assert 1.0 - stake * q == pytest.approx((1.0 - bet) / (1.0 - q))
    assert q * (bet / q) + (1.0 - q) * (1.0 - bet) / (1.0 - q) == pytest.approx(1.0)


def test_the_capital_is_the_mean_of_the_bets():
    p_safe, failed = np.array([0.9, 0.8, 0.99]), np.array([False, True, True])
    capitals = []
    for odds in ODDS:
        capital = 1.0
        for p, fell in zip(p_safe, failed, strict=True):
            bet = odds * (1.0 - p) / (p + odds * (1.0 - p))
            capital *= bet / (1.0 - p) if fell else (1.0 - bet) / p
        capitals.append(capital)
    found = alarm(p_safe, failed)
    assert found.capital == pytest.approx(np.mean(capitals))
    assert (found.claims, found.failures) == (3, 2)
    assert found.expected == pytest.approx(0.31)


def test_without_a_failure_nothing_is_won():
    found = alarm(np.array([0.9, np.nan, 0.5]), np.zeros(3, dtype=bool))
    assert (found.capital, found.claims, found.failures) == (1.0, 2, 0)
    assert found.expected == pytest.approx(0.6)


def test_once_it_rang_it_goes_on_ringing():
    failed = np.arange(400) < 3
    p_safe = np.full(400, 0.99)
    assert alarm(p_safe[:3], failed[:3]).rings
    assert alarm(p_safe, failed).capital == alarm(p_safe[:3], failed[:3]).capital


def test_claims_that_were_not_made_and_certainty_are_no_trouble():
    assert alarm(np.zeros(0), np.zeros(0, dtype=bool)) == Alarm()
    assert alarm(np.array([np.nan, 0.5]), np.array([True, False])).claims == 1
    assert alarm(np.array([1.0]), np.array([True])).rings
    assert np.isfinite(alarm(np.full(99, 1.0), np.ones(99, dtype=bool)).capital)


def test_the_sentence_says_what_was_expected_and_how_rare_it_is():
    assert Alarm(RINGS_AT - 0.1, 9, 3, 0.2).sentence is None
    assert Alarm(50.0, 9, 3, 0.2).sentence == (
        "P(safe) claims too much here: 3 of 9 trials failed where 0.2 should have; if it were true, that "
        "would happen in at most 2 % of all studies"
    )


def test_near_what_was_safe_nothing_else_counts():
    past = smooth_history(12, 2, 1)
    models = fit_models(past, Settings(), None)
    near = models.near_safe(past).feasibility
    reach = REACH * np.minimum(models.feasibility.constraints[0].hyper.lengthscales, 1.0)
    safe = past.X[past.safe]
    x = np.vstack([np.clip(safe + 0.99 * reach, 0.0, 1.0), np.random.default_rng(0).random((50, 2))])
    inside = np.array([any((np.abs(p - s) <= reach).all() for s in safe) for p in x])
    assert inside.any()
    assert not inside.all()
    plain = models.feasibility.log_prob(x)
    np.testing.assert_allclose(near.log_prob(x), np.where(inside, plain, -np.inf))
    value, grad = near.margin_and_grad(x)
    expected, slope = models.feasibility.margin_and_grad(x)
    np.testing.assert_allclose(value, np.where(inside, expected, -np.inf))
    np.testing.assert_allclose(grad, np.where(inside[:, None], slope, 0.0))
    np.testing.assert_allclose(near.log_prob_and_grad(x)[0], near.log_prob(x))
