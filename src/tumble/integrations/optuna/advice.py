"""What a user of Optuna may not expect of the sampler, as sentences that say what to do."""

from collections.abc import Iterator, Mapping, Sequence

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from tumble.core.budget import beyond
from tumble.integrations.optuna import distributions
from tumble.integrations.optuna.trials import is_too_large
from tumble.optimizer import Optimizer


def why_at_random(
    name: str, distribution: BaseDistribution, space: dict[str, BaseDistribution] | None,
    learned_from: Sequence[FrozenTrial],
) -> str:  # fmt: skip
    """Why a parameter is drawn at random; empty while the parameters are being learned.

    Parameters
    ----------
    name
        The name of the parameter.
    distribution
        What the trial asks for.
    space
        The parameters that the sampler was given, or None.
    learned_from
        The trials from which the parameters are learned where none were given.
    """
    obstacle, remedy = distributions.obstacle(distribution), _as_space(name, distribution)
    if obstacle:
        return f"it can't be searched: {obstacle}"
    if space is None:
        if not learned_from or name in distributions.common(learned_from):
            return ""
        return (
            "not every trial has it with the same range or choices; where those never change, give the "
            f"sampler {remedy}"
        )
    if name not in space:
        return f"the space of the TumbleSampler lacks it; add its distribution: {remedy}"
    if space[name] != distribution:
        return _differing(distribution, space[name])
    return ""


def unexpected_ranges(
    trial: FrozenTrial, space: Mapping[str, BaseDistribution] | None
) -> Iterator[tuple[str, str]]:
    """The parameters of a trial of which the given space has another range: a kind and a sentence each."""
    for name, asked in trial.distributions.items():
        if space is not None and name in space and space[name] != asked:
            why = _differing(asked, space[name])
            yield kind_of(name), f"the parameter {name!r} is searched as the space has it, because {why}"


def kind_of(name: str) -> str:
    """The kind of a warning about a parameter: there is one of each, whatever it says."""
    return f"parameter {name}"


def _differing(asked: BaseDistribution, given: BaseDistribution) -> str:
    """What a trial and the space have of one parameter, and what to do."""
    return (
        f"the trial asks for {asked!r}, and the space of the TumbleSampler has {given!r}; make them the same"
    )


def at_random(name: str, why: str) -> str:
    """That a parameter is drawn at random, because of what `why_at_random` says."""
    return (
        f"the parameter {name!r} is drawn at random, because {why}; P(safe) is not known for such a trial, "
        "so none starts once no failure is left"
    )


def refusal(name: str, distribution: BaseDistribution, why: str) -> str:
    """Why a parameter is not drawn at random where no failure is left."""
    why = why or (
        f"no trial was told with it when this one began; give the sampler {_as_space(name, distribution)}"
    )
    return (
        f"no failure is left, and the parameter {name!r} would be drawn at random, where P(safe) is not "
        f"known, because {why}; or raise failures to go on with it as it is"
    )


def _as_space(name: str, distribution: BaseDistribution) -> str:
    """What to give the sampler, so that it searches a parameter."""
    return f"space={{..., {name!r}: {distribution!r}}}"


def spent(failures: int, allowed: int) -> str:
    """Why `study.optimize` ends where the budget of failures is spent, or exceeded."""
    why = beyond(failures, allowed) if failures > allowed else f"the budget of {allowed} failures is spent"
    return (
        f"{why}: optimize ends here; look at the trials that failed, and to go on, give the study a sampler "
        "with more failures: study.sampler = tumble.TumbleSampler(..., failures=...)"
    )


def unexpected_result(trial: FrozenTrial) -> Iterator[tuple[str, str]]:
    """What may surprise in a trial that ended: a kind and a sentence each."""
    for name, g in trial.constraints.items():
        if g < 0.0 and is_too_large(g) and trial.state != TrialState.FAIL:
            yield (
                "infinite",
                f"trial {trial.number} counts as a failure, because constraint {name} is {g:g}, from which "
                "nothing can be learned; give a finite number where it is safe",
            )


def unexpected(optimizer: Optimizer, trials: int) -> Iterator[tuple[str, str]]:
    """What may surprise in a search with so many `trials`: a kind and a sentence each."""
    if optimizer.trials_left <= 0:
        yield (
            "past",
            f"all {trials} trials of the TumbleSampler are used, and the study goes on: the "
            "budget of failures was planned for those; give the sampler as many trials as the study will run",
        )
    for trial in optimizer.trials:
        if trial.value is not None and None in trial.constraints and not trial.failed:
            measured = zip(optimizer.constraint_names, trial.constraints, strict=True)
            names = ", ".join(name for name, g in measured if g is None)
            yield (
                "unmeasured",
                f"trial {trial.number} is complete without {names}: what was not measured is missing, never "
                "safe, so this trial can't be the best; set every constraint with trial.set_constraint",
            )
