"""The sampler of a study file: what was measured is held against the limits of the file as it is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import optuna
from optuna.trial import FrozenTrial

from tumble.errors import BudgetReserved
from tumble.integrations.optuna.distributions import to_distributions
from tumble.integrations.optuna.gate import Gate, WhileWaiting
from tumble.integrations.optuna.sampler import TumbleSampler
from tumble.studies.config import StudyConfig
from tumble.studies.records import RESULTS


class StudySampler(TumbleSampler):
    """The sampler of a study file: what was measured is held against today's limits."""

    def __init__(self, config: StudyConfig) -> None:
        super().__init__(
            trials=config.trials,
            failures=config.failures,
            seed=config.seed,
            method=config.method,
            settings=config.settings,
            on_exhausted=config.on_exhausted,
            space=to_distributions(config.space),
        )
        self.config = config
        self.while_waiting: WhileWaiting = _nobody_waits

    def constraints_of(self, trial: FrozenTrial) -> Mapping[str, float]:
        """g by name, from the raw results and the limits of the file as it is now."""
        return self.config.excesses(trial.user_attrs.get(RESULTS, {}))

    def constraint_names(self) -> Sequence[str]:
        """Those of the file."""
        return [limit.name for limit in self.config.limits]

    def warn(self, study: optuna.Study, kind: str, text: str) -> None:
        """Nothing: the ledger shows it."""

    def gate(self, study: optuna.Study) -> Gate:
        """Also the number of trials is kept: the last one goes to one worker only."""
        failures = self.failures if self.on_exhausted == "stop" else None
        return Gate(failures, self.trials, self.reader(study), self.while_waiting)


def _nobody_waits(study: optuna.Study, waiting: FrozenTrial) -> bool:
    """A person at a keyboard is told at once; a runner waits in its own way."""
    raise BudgetReserved(
        "every failure left may be used by a trial in flight; tell or skip one of those first"
    )
