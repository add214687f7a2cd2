"""The sampler of a study file: results are compared with the limits of the file as they are now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial

from tumble.errors import BudgetReserved, TrialsExhausted
from tumble.integrations.optuna.distributions import to_distributions
from tumble.integrations.optuna.gate import Gate, WhileWaiting
from tumble.integrations.optuna.notes import DECISION, outcome_of, setting
from tumble.integrations.optuna.sampler import TumbleSampler
from tumble.parameters import Choice
from tumble.studies.asking import marks_of
from tumble.studies.config import StudyConfig
from tumble.studies.records import RESULTS


class StudySampler(TumbleSampler):
    """A `TumbleSampler` with the budget, the parameters and the limits of a study file.

    Parameters
    ----------
    config
        What the study file says.

    Attributes
    ----------
    while_waiting
        Called while a trial waits for its place; a runner puts its own function here.
    """

    def __init__(self, config: StudyConfig) -> None:
        super().__init__(
            trials=config.trials,
            failures=config.failures,
            seed=config.seed,
            method=config.method,
            settings=config.settings,
            on_exhausted=config.on_exhausted,
            space=to_distributions(config.space),
            noise=config.model_noise,
            known=config.space.known,
            boldness=config.boldness,
        )
        self.config = config
        self._marks = marks_of(config)
        self.while_waiting: WhileWaiting = _nobody_waits

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next setting; never one that was skipped for ever, also where every other one was tried."""
        found = super().sample_relative(study, trial, search_space)
        if DECISION not in trial.system_attrs:
            skipped = [t for t in study.get_trials(deepcopy=False) if outcome_of(t).get("kind") == "never"]
            if any(found.items() <= setting(t).items() for t in skipped):
                why = "every setting that may be tried was tried, and the rest was skipped with --never"
                raise TrialsExhausted(f"{why}; widen a range in {self.config.path} to go on")
        return found

    def constraints_of(self, trial: FrozenTrial) -> Mapping[str, float]:
        """g by name, from what was measured and the limits of the file as they are now."""
        return self.config.excesses(trial.user_attrs.get(RESULTS, {}))

    def setting_of(self, trial: FrozenTrial) -> dict[str, Choice]:
        """The parameters of a trial; one that it did not have yet is taken as the file says."""
        return self.config.completed(setting(trial))

    def constraint_names(self) -> Sequence[str]:
        """Those of the file."""
        return self.config.constraint_names

    def warn(self, study: optuna.Study, kind: str, text: str) -> None:
        """Nothing: the ledger shows it."""

    def gate(self, study: optuna.Study) -> Gate:
        """The gate also keeps the number of trials: the last one goes to one worker only."""
        hard = self.on_exhausted == "stop"
        return Gate(
            self.failures, self.trials, self.reader(study), self.while_waiting,
            hard=hard, queued=False, withdraws=False,
        )  # fmt: skip


def _nobody_waits(study: optuna.Study, waiting: FrozenTrial) -> bool:
    """A person is told at once that there is no place; a runner waits in its own way."""
    raise BudgetReserved(
        "every failure left may be used by a trial in flight; tell or skip one of those first"
    )
