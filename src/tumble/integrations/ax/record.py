"""The trials of an Ax experiment as ours: where they lie, what was predicted of them, what came of them."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ax.core.base_trial import BaseTrial
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.trial_status import TrialStatus
from ax.core.types import TParameterization

from ... import serialize
from ...core.history import violated
from ...core.process.models import Fitted
from ...errors import InputError
from ...trials import Suggestion, Trial
from .problem import AxSpace, Measured, Objectives

KEY = "tumble"  # in the metadata of a candidate
IN_FLIGHT = (TrialStatus.CANDIDATE, TrialStatus.STAGED, TrialStatus.RUNNING)
ROUNDING = 1e-6  # of a coordinate of the unit cube that was worked out from a parameter


@dataclass(frozen=True)
class Record:
    """The trials of an experiment, in the order of their numbers.

    Parameters
    ----------
    trials
        Those that lie in the search space.
    outside
        Those that do not, without coordinates: they count, and nothing can be learned from them.
    fitted
        Where the next fit may start; None before the first suggestion in this search space.
    """

    trials: tuple[Trial, ...]
    outside: tuple[Trial, ...]
    fitted: Fitted | None

    @staticmethod
    def of(
        experiment: Experiment, data: Data, space: AxSpace, goals: Objectives, unbilled: Collection[int]
    ) -> "Record":
        """Read the trials of an experiment. `unbilled` has the numbers of old data."""
        measured = goals.measured(data)
        inside: list[Trial] = []
        outside: list[Trial] = []
        fitted = None
        for number in sorted(experiment.trials):
            trial = experiment.trials[number]
            parameters = _parameters(trial)
            u, outcome = space.coordinates(parameters), goals.outcome(measured.get(number, {}))
            billed = number not in unbilled
            if u is None:
                outside.append(_told(Trial(number, dict(parameters), (), billed=billed), trial, outcome))
                continue
            made, carried = None, metadata(trial)
            if carried is not None:
                before = tuple(carried["trial"]["u"])
                stays = len(before) == len(u) and np.allclose(before, u, rtol=0.0, atol=ROUNDING)
                u = before if stays else u
                fitted = serialize.fitted_from_json(carried["warm"]) if stays else None
                made = replace(suggested(carried, number), u=u)
                if len(made.constraint_means) > len(goals.names):  # a limit was taken away since
                    made = replace(made, constraint_means=(), constraint_stds=())
            inside.append(_told(Trial(number, None, u, billed=billed, suggestion=made), trial, outcome))
        return Record(tuple(inside), tuple(outside), fitted)


def metadata(trial: BaseTrial) -> dict[str, Any] | None:
    """What a suggestion of ours carried; None for trials of another origin."""
    for run in trial.generator_runs:
        for found in (run.candidate_metadata_by_arm_signature or {}).values():
            if found and KEY in found:
                return dict(found[KEY])
    return None


def suggested(carried: dict[str, Any], number: int) -> Suggestion:
    """The suggestion that a trial of this number carries.

    It was made under the number after the last trial in the search space: trials outside may lie between.
    """
    made = serialize.suggestion_from_json(carried["trial"]["suggestion"])
    why = made.why.replace(f"Trial {made.number}:", f"Trial {number}:", 1)
    return replace(made, number=number, why=why)


def _told(record: Trial, trial: BaseTrial, outcome: Measured) -> Trial:
    """The record of a trial with what came of it."""
    if trial.status in IN_FLIGHT:
        return record
    g = outcome.constraints
    whole = outcome.value is not None and None not in g
    if trial.status in (TrialStatus.COMPLETED, TrialStatus.EARLY_STOPPED) and (whole or violated(g)):
        return replace(record, status="told", value=outcome.value if whole else None, constraints=g)
    if trial.status in (TrialStatus.COMPLETED, TrialStatus.FAILED):
        reason = trial.status_reason or ("failed" if trial.status == TrialStatus.FAILED else "no data")
        return replace(record, status="told", constraints=g, crashed=True, reason=reason)
    return replace(record, status="skipped")


def _parameters(trial: BaseTrial) -> TParameterization:
    if len(trial.arms) != 1:
        raise InputError(
            f"tumble runs one setting a trial, but trial {trial.index} has {len(trial.arms)} arms: use n=1"
        )
    return trial.arms[0].parameters
