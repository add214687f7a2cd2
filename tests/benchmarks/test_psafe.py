"""The proof of P(safe): its draws, its counts and its verdicts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import log_ndtr

from benchmarks import psafe
from tumble.core.process.covariance import Covariance, Hyper
from tumble.core.process.priors import ParetoTail
from tumble.core.settings import LIMIT_PRIORS, Settings

TINY = ["--draws", "2", "--queries", "12", "--sizes", "2,4"]


def test_a_draw_is_measured_at_trials_and_queries():
    drawn = psafe.draw(LIMIT_PRIORS, 6, 9, np.random.default_rng(0))
    again = psafe.draw(LIMIT_PRIORS, 6, 9, np.random.default_rng(0))
    assert drawn.X.shape[0] == len(drawn.g) == 6
    assert len(drawn.queries) == len(drawn.failed) == 9
    assert 2 <= drawn.X.shape[1] <= 6
    np.testing.assert_array_equal(drawn.g, again.g)


def test_lengthscales_are_drawn_by_their_law():
    """Against its density, integrated over the logarithm."""
    law = LIMIT_PRIORS.lengthscale
    assert isinstance(law, ParetoTail)
    drawn = np.log(psafe._drawn(law, 100_000, np.random.default_rng(0)))
    grid = np.linspace(-6.0, 12.0, 20_001)
    density = np.exp([law.log_density(np.array([z])).value for z in grid])
    below = np.cumsum(density) / density.sum()
    for share in (0.05, 0.5, 0.8, 0.95, 0.99):
        assert np.quantile(drawn, share) == pytest.approx(grid[np.searchsorted(below, share)], abs=0.06)


def test_with_the_true_hyperparameters_p_safe_is_that_of_the_joint_law():
    """Conditioned by hand: g of a trial and of a query have covariance k + mean_std²."""
    hyper = Hyper((0.5, 0.7), 1.3, 0.1, 0.2)
    X, q = np.array([[0.2, 0.4]]), np.array([[0.6, 0.5]])
    drawn = psafe.Draw(hyper, 1.0, X, np.array([-0.8]), q, np.array([False]))
    k = Covariance("matern52", hyper).between(X, q)[0, 0] + 1.0
    mean, var = -0.8 * k / 2.31, 2.31 - k * k / 2.31
    expected = log_ndtr(-mean / np.sqrt(var))
    assert psafe.log_safe_if_known(drawn, 1)[0] == pytest.approx(float(expected), rel=1e-6)


def test_trials_that_were_predicted_are_calibrated_and_imported_ones_are_not():
    drawn = psafe.draw(LIMIT_PRIORS, 4, 5, np.random.default_rng(1))
    trials = psafe.Trials(drawn, Settings())
    trials.predict(2, trials.fit(2, None))
    assert np.isfinite(trials.mean[2])
    assert np.isnan(trials.std[3])
    found = psafe.answers(drawn, (4,), Settings(integrate=True), imported=True)
    assert set(found[4]) == set(psafe.ROWS)
    assert all(np.isfinite(p).all() for p in found[4].values())


def test_what_is_kept_of_a_draw_are_counts():
    p, failed = np.array([0.9, 0.99, 0.9999, 0.2]), np.array([True, False, False, True])
    kept = psafe.counts(np.log(p), failed)
    np.testing.assert_allclose(kept[:9], [1, 0.1, 1, 1, 0.01, 0, 1, 1e-4, 0], rtol=1e-9)
    assert kept[9] == 2
    assert kept[10] == pytest.approx(np.log([0.1, 0.99, 0.9999, 0.8]).sum())


@pytest.mark.parametrize(("failures", "word"), [(10.0, "held"), (20.0, "MISSED")])
def test_the_interval_of_the_realised_risk_is_held_against_the_claimed_one(failures, word):
    counts = [100.0, 10.0, failures, 10.0, 0.1, 0.0, 0.0, 0.0, 0.0, 5.0, -20.0]
    rows = dict.fromkeys(psafe.ROWS, counts)
    answer = psafe.report([{"draw": i, "counts": {"20": rows}} for i in range(5)], 100)
    assert answer[1].startswith(f"{word}  n = 20, P(safe) 0.85-0.95" if word == "MISSED" else "held ")
    assert sum(line.startswith("MISSED") for line in answer) == (word == "MISSED")
    assert f"{failures:.3g} [{failures:.3g}, {failures:.3g}]" in answer[0]


def test_the_command_goes_on_where_it_was_stopped_and_keeps_its_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(psafe.store, "__defaults__", (tmp_path / "psafe.jsonl",))
    out = ["--out", str(tmp_path), "--imported", "--store"]
    psafe.main([*TINY, *out])
    first = capsys.readouterr().out
    monkeypatch.setattr(psafe, "one", lambda *_, **__: pytest.fail("nothing is left to be made"))
    psafe.main([*TINY, *out])
    assert capsys.readouterr().out == first
    kept = [json.loads(line) for line in (tmp_path / "psafe.jsonl").read_text().splitlines()]
    assert [line["command"].endswith("--imported") for line in kept] == [True]
    assert "n = 4" in kept[0]["answer"][1]
    shown = psafe.manual_part(tmp_path / "psafe.jsonl")
    assert shown.startswith(f"`{kept[0]['command']}`, sources `")
    assert all(part in shown for part in kept[0]["answer"])


def test_without_a_stored_answer_the_manual_says_how_to_get_one(tmp_path):
    assert "python -m benchmarks.psafe --store" in psafe.manual_part(tmp_path / "none.jsonl")


def test_reserved_seeds_are_refused(capsys):
    with pytest.raises(SystemExit):
        psafe.main(["--seed", "90000"])
    assert "reserved" in capsys.readouterr().err
