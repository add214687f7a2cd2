"""Why a suggestion was made, in one plain sentence."""

from collections.abc import Sequence

import numpy as np

from . import shown
from .trials import Suggestion

REASONS = {
    "xs": "where the process is most likely to cross its own minimum",
    "ei": "where the best value is expected to fall the most",
}
STONE = "for a stepping stone, which teaches whether a better setting is safe"
IDLE = "for what is known least, because nothing that is allowed can gain"
SURVEY = "where nothing was tried yet"
FIRST_TIME = "for the first time"
BETTER = "for a better safe area"
NEARER = "is where the worst violation is expected to shrink the most"
LITTLE = 1e-3  # of the range of the safe values: a gain below it is called little
MOST_NAMED = 5  # trials that are named in a sentence; more are counted


def explain(s: Suggestion, method: str, safe_range: float = 0.0) -> str:
    """Say in one plain sentence why a trial was chosen.

    Parameters
    ----------
    s
        The suggestion.
    method
        The name of the method that chose it.
    safe_range
        From the lowest to the largest safe value so far. Where the trials left can gain little of it, the
        sentence says so.

    Returns
    -------
    str
        A sentence that begins with the trial's number.
    """
    little = s.gain_bound is not None and s.gain_bound < LITTLE * safe_range
    gain = f"; little is left to gain: at most {s.gain_bound:.2g}" if little else ""
    left = f"{_failures(s)}, {shown.count(s.trials_left, 'trial')} after it{gain}"
    value = f"predicted {s.mean:.4g} ± {s.std:.2g}" if s.mean == s.mean else shown.NOT_SEEN
    p = _safety(s)
    if s.mode == "try":
        known = "nothing is known of it yet" if s.p_safe != s.p_safe else f"{p}, {value}, {left}"
        return f"Trial {s.number}: a setting of your own; {known}."
    if s.mode == "start":
        return f"Trial {s.number}: nothing is known yet, so this is a seeded point of the box."
    if s.mode == "free":
        return f"Trial {s.number}: {REASONS.get(method, f'the best by {method}')}; {value}{gain}."
    look = SURVEY if s.turned is None else f"that changes {s.turned!r} {FIRST_TIME}"
    if s.mode == "bold":
        return f"Trial {s.number}: bold search {look if s.survey else BETTER}; {p}, {value}, {left}."
    if s.mode == "careful":
        where = f" {STONE}" if s.stone else f" {IDLE}" if s.idle else f" {look}" if s.survey else ""
        asked = f"where P(safe) must reach {_percent(s.rho)}"
        return f"Trial {s.number}: careful search{where}, {asked}; {p}, {value}, {left}."
    if s.nearer:
        return f"Trial {s.number}: nothing was safe yet, so this {NEARER}; {p}, {value}, {left}."
    short = f"nothing new reaches P(safe) = {_percent(s.rho)}" if s.p_safe < s.rho else "nothing was safe yet"
    return f"Trial {s.number}: {short}, so this is about the safest; {p}, {value}, {left}."


def _safety(s: Suggestion) -> str:
    """P(safe), where it is known."""
    if s.p_safe != s.p_safe:
        return "P(safe) is not known"
    if s.p_safe >= 1.0:  # by rounding: no model is certain
        return shown.safety(s.p_safe)
    return f"P(safe) = {_percent(s.p_safe)}" if s.p_safe >= 1e-4 else "P(safe) below 0.01 %"


def _failures(s: Suggestion) -> str:
    """How many failures are left, and which trials in flight may use them."""
    left = f"{shown.count(s.failures_left, 'failure')} left to spend"
    if not s.held_by or not s.failures_left:
        return left
    return f"{left}, shared with {_trials(s.held_by)} in flight"


def _trials(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"trial {numbers[0]}"
    if len(numbers) > MOST_NAMED:
        return f"{len(numbers)} trials"
    return f"trials {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _percent(p: float) -> str:
    """Enough digits to tell 0.999 from 1."""
    if not 0.99 < p < 1.0:
        return f"{100.0 * p:.3g} %"
    digits = min(8, max(1, int(np.ceil(-np.log10(1.0 - p))) - 1))
    return f"{np.floor(10.0 ** (digits + 2) * p) / 10.0**digits:.{digits}f} %"
