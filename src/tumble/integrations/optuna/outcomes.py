"""What is written to a trial of Optuna when it is over: its constraints, and that a failure was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial

from tumble.errors import Failure, InputError
from tumble.integrations.optuna import private
from tumble.integrations.optuna.notes import OUTCOME, REASON, TRANSIENT, Kind, outcome


def store_constraints(
    study: Study, trial: FrozenTrial, constraints: Sequence[float] | Mapping[str, float]
) -> None:
    """Store constraints where Optuna keeps them; one that is None was not measured."""
    pairs = constraints.items() if isinstance(constraints, Mapping) else enumerate(constraints)
    for name, value in pairs:
        if value is None:
            continue
        if np.isnan(value):
            raise InputError(f"constraint {name} must be a number (<= 0 where safe), but it is nan")
        private.set_attribute(study, trial, f"{private.CONSTRAINT}{name}", float(value))


def mark_failure(study: Study, trial: FrozenTrial) -> None:
    """Note that this FAIL was told: a failure, unless it was called transient or came from Ctrl-C."""
    error = private.error_of_objective()
    if isinstance(error, KeyboardInterrupt):
        return
    if isinstance(error, Failure) and isinstance(error.constraints, (Mapping, Sequence)):
        store_constraints(study, trial, error.constraints)
    reason = trial.user_attrs.get(REASON) or (str(error) or repr(error) if error else "told as failed")
    kind: Kind = "transient" if trial.user_attrs.get(TRANSIENT) else "failure"
    private.set_attribute(study, trial, OUTCOME, outcome(kind, str(reason)))
