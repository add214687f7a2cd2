"""An Ax `Client` under a budget of failures (extra `ax`).

    client.set_generation_strategy(generation_strategy(trials=40, failures=5, seed=0))

`TumbleNode` is a pure function of the experiment: before every suggestion it rebuilds an `Optimizer` from the
search space, the optimisation config, the trials and their data, so nothing is lost when the client is saved,
loaded or copied. What a suggestion predicted travels with its generator run. Importing this module tells Ax
how to write and read the node, so that JSON files and SQL databases work; import it before loading, too.

How Ax's statuses are counted:

    COMPLETED       told; a violated outcome constraint is a failure
    FAILED          a crash: billed, and it teaches (what was measured before it is used)
    ABANDONED       withdrawn: nothing learned, nothing charged
    EARLY_STOPPED   told where every metric has data or a constraint was violated, else withdrawn
    others          in flight

Where a trial lies is read from its parameters, in the search space that the experiment has now. A trial
outside it teaches nothing, and counts all the same.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ax.core.base_trial import BaseTrial
from ax.core.data import Data
from ax.core.experiment import Experiment
from ax.core.generator_run import GeneratorRun
from ax.core.observation import ObservationFeatures
from ax.core.types import TCandidateMetadata, TParameterization
from ax.exceptions.generation_strategy import AxGenerationException, GenerationStrategyCompleted
from ax.generation_strategy.external_generation_node import ExternalGenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.storage.json_store.registry import CORE_DECODER_REGISTRY, CORE_ENCODER_REGISTRY

from ... import checks, counting, serialize, starting
from ...core.budget import beyond
from ...core.settings import Settings
from ...errors import BudgetExhausted, BudgetReserved, InputError, TrialsExhausted
from ...methods import MethodName
from ...optimizer import Optimizer
from ...shown import all_are
from ...trials import OnExhausted, Suggestion, Trial
from .problem import AxSpace, Objectives
from .record import KEY, Record, metadata, suggested

__all__ = [
    "StudyFinished",
    "TumbleNode",
    "WaitForResults",
    "generation_strategy",
    "optimizer",
    "suggestion",
]

REMEDY = "to go on, give client.set_generation_strategy a generation_strategy"


class StudyFinished(TrialsExhausted, BudgetExhausted, GenerationStrategyCompleted):
    """No trial is left, or no failure where `on_exhausted` is "stop". For Ax the strategy is completed.

    Parameters
    ----------
    message
        What is used up.
    """

    def __init__(self, message: str) -> None:
        GenerationStrategyCompleted.__init__(self, message)


class WaitForResults(BudgetReserved, AxGenerationException):
    """Trials in flight may use every failure that is left: complete one of them first."""


@dataclass(frozen=True)
class _Study:
    """What the experiment says: the optimiser of the trials in the search space, and the trials outside it.

    What the others spent is taken off the budget of the optimiser; in flight each holds one trial and one
    failure.
    """

    opt: Optimizer
    outside: tuple[Trial, ...]
    trials: int
    failures: int | None

    @staticmethod
    def of(opt: Optimizer, outside: tuple[Trial, ...]) -> "_Study":
        """Take what the trials outside spent off the budget of an optimiser."""
        study = _Study(opt, outside, opt.max_trials, opt.max_failures)
        opt.max_trials -= counting.used(outside)
        if opt.max_failures is not None:
            left = opt.max_failures - counting.failures(outside) - counting.in_flight(outside)
            opt.max_failures = max(min(left, opt.max_trials), 0)
        return study

    def check_may_start(self) -> None:
        """Raise what `Optimizer.ask` would raise if all trials were its own."""
        trials, failures, end = [*self.opt.trials, *self.outside], self.failures, self.opt.on_exhausted
        if failures is None and end == "stop":
            failures = self.trials
        starting.check_may_start(trials, self.trials, failures, end)

    def why_none(self, error: TrialsExhausted | BudgetExhausted) -> str:
        """Why there is no next trial, with what a user of Ax can do about it."""
        trials = [*self.opt.trials, *self.outside]
        failed, allowed = counting.failures(trials), self.failures
        if isinstance(error, TrialsExhausted):
            flying = len(counting.pending(trials))
            return f"{all_are(self.trials, 'trial')} used ({flying} in flight); {REMEDY} with more trials"
        if allowed is not None and failed > allowed:
            return f"{beyond(failed, allowed)}; {REMEDY} with more failures"
        return str(error).replace(starting.TO_GO_ON, f"{REMEDY} with more failures")


class TumbleNode(ExternalGenerationNode):
    """A node of Ax that suggests trials within `trials` trials and `failures` failures.

    Parameters
    ----------
    trials
        T, how many trials there are.
    failures
        B, how many of them may fail; None for no limit.
    seed
        A whole number; it is drawn once where none is given.
    method
        As for `tumble.Optimizer`.
    settings
        "default", "paper", a `tumble.Settings`, or what its `to_dict` gave.
    on_exhausted
        As for `tumble.Optimizer`.
    unbilled
        Indices of Ax trials that are old data: they teach, and charge neither a trial nor a failure.
    name
        What Ax calls the node.

    Raises
    ------
    InputError
        If an argument cannot be used.
    """

    def __init__(
        self, trials: int = 100, failures: int | None = None, seed: int | None = None,
        method: MethodName | None = None, settings: str | Settings | dict[str, Any] = "default",
        on_exhausted: OnExhausted = "safe", unbilled: Sequence[int] = (), name: str = "tumble",
    ) -> None:  # fmt: skip
        super().__init__(name=name, should_deduplicate=False)  # a setting is repeated only if none is new
        if isinstance(settings, dict):
            settings = Settings.from_dict(settings)
        if not isinstance(unbilled, Iterable):
            checks.refuse("unbilled", "a list of the numbers of trials", unbilled)
        self.unbilled = tuple(checks.whole(number, "a number in unbilled", 0) for number in unbilled)
        opened = Optimizer([(0.0, 1.0)], trials, failures, None, seed, method, settings, on_exhausted)
        self.options: dict[str, Any] = {
            "trials": trials, "failures": failures, "seed": opened.seed, "method": method,
            "settings": settings, "on_exhausted": on_exhausted,
        }  # fmt: skip
        self._study: _Study | None = None
        self._warned: set[int] = set()

    def update_generator_state(self, experiment: Experiment, data: Data) -> None:
        """Read the experiment; Ax calls it before it asks for candidates."""
        self._study = self._rebuild(experiment, data)

    def get_next_candidate(self, pending_parameters: list[TParameterization]) -> TParameterization:
        """The parameters of the next trial. Trials in flight are known from the experiment.

        Parameters
        ----------
        pending_parameters
            Not used: the experiment says the same, and more.

        Raises
        ------
        WaitForResults
            If trials in flight may use every failure that is left, and `on_exhausted` is "stop".
        StudyFinished
            If no trial is left, or no failure where `on_exhausted` is "stop".
        """
        assert self._study is not None
        try:
            self._study.check_may_start()
            return dict(self._study.opt.ask().x)
        except BudgetReserved as error:
            raise WaitForResults(str(error)) from error
        except (TrialsExhausted, BudgetExhausted) as error:
            raise StudyFinished(self._study.why_none(error)) from error

    def new_trial_limit(self, raise_generation_errors: bool = False) -> int:
        """How many trials may be asked for at once.

        Parameters
        ----------
        raise_generation_errors
            Not used: errors come with `get_next_candidate`.

        Returns
        -------
        int
            The trials that are left; with `on_exhausted="stop"` at most the failures that are left, else as
            many as are safe enough once no failure is left. At least 1, so that Ax asks and hears why there
            is none.
        """
        opt = self._rebuild(self.experiment, self.experiment.lookup_data()).opt
        if opt.on_exhausted == "safe":
            return max(opt.trials_left if opt.failures_left else _safe_enough(opt), 1)
        flying = sum(t.pending and t.billed for t in opt.trials)
        return max(min(opt.trials_left, opt.failures_left - flying), 1)

    def _gen(
        self, *args: Any, fixed_features: ObservationFeatures | None = None, **kwargs: Any
    ) -> GeneratorRun:
        """Candidates that carry what was predicted of them, and where the next fit may start."""
        assert self._study is not None
        opt = self._study.opt
        _check_held({} if fixed_features is None else fixed_features.parameters, opt.space.fixed)
        before = len(opt.trials)
        run = super()._gen(*args, **kwargs)  # its fit_time may be a whole 0, which a database of Ax refuses
        fitted = serialize.fitted_to_json(opt.fitted)
        metadata: dict[str, TCandidateMetadata] = {
            arm.signature: {KEY: {"trial": serialize.trial_to_json(asked), "warm": fitted}}
            for arm, asked in zip(run.arms, opt.trials[before:], strict=True)
        }
        return GeneratorRun(
            arms=run.arms, fit_time=float(run.fit_time or 0.0), gen_time=run.gen_time,
            generator_key=self.name, candidate_metadata_by_arm_signature=metadata,
        )  # fmt: skip

    def _rebuild(self, experiment: Experiment, data: Data) -> _Study:
        """The Optimizer that has seen what the experiment has seen."""
        space, goals = AxSpace.of(experiment.search_space), Objectives.of(experiment)
        record = Record.of(experiment, data, space, goals, self.unbilled)
        for trial in record.outside:
            self._warn_of(trial)
        opt = Optimizer.from_trials(
            space.space, record.trials, constraints=goals.names, fitted=record.fitted, **self.options
        )
        return _Study.of(opt, record.outside)

    def _warn_of(self, trial: Trial) -> None:
        """Say once that nothing is learned from a trial outside the search space."""
        if trial.status == "skipped" or trial.number in self._warned:
            return
        self._warned.add(trial.number)
        counts = "it counts, but " if trial.billed else ""
        warnings.warn(
            f"trial {trial.number} with {checks.show(trial.x)} lies outside the search space: {counts}"
            "nothing is learned from it; widen the ranges of the search space to learn from it",
            UserWarning,
            stacklevel=2,
        )


def _safe_enough(opt: Optimizer) -> int:
    """How many trials may start at once where no failure is left: one more, and Ax hands out none of them."""
    with suppress(TrialsExhausted, BudgetExhausted):
        return len(opt.ask(n=max(opt.trials_left, 1)))
    return 0


def _check_held(held: TParameterization, fixed: Mapping[str, object]) -> None:
    """Refuse to hold parameters that the search space does not fix at the same values."""
    searched = [name for name, value in held.items() if name not in fixed or fixed[name] != value]
    if searched:
        raise InputError(
            f"fixed_parameters names {', '.join(map(repr, searched))}, but tumble holds no parameter for a "
            "few trials alone: leave them out, or run a setting of your own with client.attach_trial"
        )


# -- front doors ---------------------------------------------------------------------------------------------


def generation_strategy(
    trials: int = 100, failures: int | None = None, *, seed: int | None = None,
    method: MethodName | None = None, settings: str | Settings = "default",
    on_exhausted: OnExhausted = "safe", unbilled: Sequence[int] = (),
) -> GenerationStrategy:  # fmt: skip
    """A strategy of one `TumbleNode`, for `client.set_generation_strategy`.

    Parameters
    ----------
    trials
        T, how many trials there are.
    failures
        B, how many of them may fail; None for no limit.
    seed
        As for `TumbleNode`.
    method
        As for `TumbleNode`.
    settings
        As for `TumbleNode`.
    on_exhausted
        As for `TumbleNode`.
    unbilled
        As for `TumbleNode`.

    Returns
    -------
    GenerationStrategy
        The client asks it for every trial.
    """
    node = TumbleNode(trials, failures, seed, method, settings, on_exhausted, unbilled)
    return GenerationStrategy(nodes=[node], name="tumble")


def optimizer(experiment: Experiment, strategy: GenerationStrategy) -> Optimizer:
    """The optimiser that has seen what an experiment has seen: for its best, recommendation and counts.

    Parameters
    ----------
    experiment
        The experiment of the client.
    strategy
        The strategy of the client.

    Returns
    -------
    Optimizer
        A copy: what is told to it does not reach the experiment. A trial outside the search space is not
        among its trials; what it spent is taken off `max_trials` and `max_failures`. In flight it holds one
        trial and one failure.

    Raises
    ------
    InputError
        If the strategy has no `TumbleNode`.
    """
    nodes = [node for node in strategy.nodes_by_name.values() if isinstance(node, TumbleNode)]
    if not nodes:
        raise InputError(
            f"the generation strategy {strategy.name!r} has no TumbleNode: see generation_strategy()"
        )
    return nodes[0]._rebuild(experiment, experiment.lookup_data()).opt


def suggestion(trial: BaseTrial) -> Suggestion | None:
    """What was predicted of a trial, and why it was chosen.

    Parameters
    ----------
    trial
        A trial of the experiment.

    Returns
    -------
    Suggestion | None
        None where tumble did not suggest it.
    """
    carried = metadata(trial)
    if carried is None:
        return None
    return replace(suggested(carried, trial.index), x=dict(trial.arms[0].parameters))


def _encode(node: TumbleNode) -> dict[str, Any]:
    settings = node.options["settings"]
    return {
        "__type": TumbleNode.__name__, **node.options, "unbilled": list(node.unbilled), "name": node.name,
        "settings": settings.to_dict() if isinstance(settings, Settings) else settings,
    }  # fmt: skip


CORE_ENCODER_REGISTRY[TumbleNode] = _encode
CORE_DECODER_REGISTRY[TumbleNode.__name__] = TumbleNode
