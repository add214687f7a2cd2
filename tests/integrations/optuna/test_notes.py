"""What a trial of Optuna keeps of its suggestion."""

from __future__ import annotations

import optuna

from tumble.integrations.optuna.notes import DECISION, to_note, to_suggestion
from tumble.trials import Suggestion


def restored(suggestion: Suggestion) -> Suggestion:
    trial = optuna.trial.create_trial(value=1.0)
    trial.system_attrs = {DECISION: to_note(suggestion, None, ["load"])}
    found = to_suggestion(trial, suggestion.x, ["load"])
    assert found is not None
    return found


def test_a_suggestion_is_restored_with_its_promise_its_predictions_and_its_gain() -> None:
    asked = Suggestion(
        0, {"x": 1.0}, "bold", 0.4, 0.7, 3.0, 0.2, 2, 9,
        constraint_means=(-0.5,), constraint_stds=(0.25,), expected_gain=0.125, gain_bound=0.5,
    )  # fmt: skip
    found = restored(asked)
    for name in (
        "x", "mode", "rho", "p_safe", "failures_left", "constraint_means", "constraint_stds",
        "expected_gain", "gain_bound",
    ):  # fmt: skip
        assert getattr(found, name) == getattr(asked, name), name


def test_a_suggestion_without_a_gain_claims_none() -> None:
    found = restored(Suggestion(0, {"x": 1.0}, "bold", 0.4, 0.7, 3.0, 0.2, 2, 9, constraint_means=(0.0,)))
    assert (found.expected_gain, found.gain_bound) == (None, None)
