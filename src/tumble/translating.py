"""From a proposal of the core, in the unit cube, to a suggestion in the user's units."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import counting
from .core.search.modes import Proposal
from .core.settings import Settings
from .trials import Suggestion, Trial


def to_suggestion(
    number: int, x: Any, proposal: Proposal, trials: Sequence[Trial], names: Sequence[str],
    parameters: Sequence[str], settings: Settings, *, failures_left: int, trials_left: int,
    budget: tuple[int, int], alarm: str | None,
) -> Suggestion:  # fmt: skip
    """A proposal as a suggestion without its sentence.

    Parameters
    ----------
    number
        The number that the trial will have.
    x
        The setting, in the user's units.
    proposal
        What the search found.
    trials
        What is known; before a value was seen, none is predicted.
    names
        The constraints.
    parameters
        What is searched, in its order.
    settings
        The constants of the method.
    failures_left, trials_left
        What is left after it.
    budget
        T and B.
    alarm
        Why P(safe) can't be trusted; None where it can.
    """
    p_each = zip((*names, "crash"), proposal.p_each.tolist(), strict=False)
    seen = counting.has_value(trials)
    mean, std = (proposal.mean, proposal.std) if seen else (np.nan, np.nan)
    return Suggestion(
        number=number, x=x, mode=proposal.mode, rho=proposal.rho,
        p_safe=proposal.p_safe, mean=mean, std=std,
        failures_left=failures_left, trials_left=trials_left, p_each=dict(p_each),
        held_by=tuple(t.number for t in counting.holders(trials, settings.rho_safe)),
        constraint_means=tuple(proposal.g_mean.tolist()), constraint_stds=tuple(proposal.g_std.tolist()),
        expected_gain=None if proposal.gain is None else proposal.gain.expected,
        gain_bound=None if proposal.gain is None else proposal.gain.bound,
        budget=None if proposal.gain is None else budget,
        alarm=alarm, stone=proposal.stone, idle=proposal.idle, survey=proposal.survey,
        turned=None if proposal.turned is None else parameters[proposal.turned], nearer=proposal.nearer,
        u=tuple(proposal.x.tolist()), fitted=proposal.warm,
    )  # fmt: skip
