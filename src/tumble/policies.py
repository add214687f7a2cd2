"""Methods by name, and settings by name."""

from dataclasses import dataclass

from .baselines.entropy import max_value_entropy
from .baselines.improvement import (
    confidence_bound,
    constrained_improvement,
    expected_improvement,
    probability_of_improvement,
)
from .baselines.pesc import predictive_entropy
from .baselines.safe_set import KEEPS, safe_set
from .core.algorithm import Build, excursion_search
from .core.settings import Settings
from .errors import InputError

__all__ = ["POLICIES", "Policy", "Settings", "policy", "resolve_settings"]


@dataclass(frozen=True)
class Policy:
    """A method of §5: which acquisition it maximises, and what it knows of constraints and budgets."""

    name: str
    build: Build
    constrained: bool  # takes constraints
    controlled: bool = False  # obeys the controller of §4.2
    weighted: bool = True  # (15) multiplies the acquisition by φ
    keeps: float | None = None  # P(safe) of each constraint to which the acquisition keeps by itself
    listed: bool = True  # False: only for ablations


POLICIES: dict[str, Policy] = {
    p.name: p
    for p in (
        Policy("xs", excursion_search, constrained=False),
        Policy("xsf", excursion_search, constrained=True, controlled=True),
        Policy("ei", expected_improvement, constrained=False),
        Policy("pi", probability_of_improvement, constrained=False),
        Policy("ucb", confidence_bound, constrained=False),
        Policy("mes", max_value_entropy, constrained=False),
        Policy("eic", constrained_improvement, constrained=True),
        Policy("pesc", predictive_entropy, constrained=True, weighted=False),
        Policy("safe-set", safe_set, constrained=True, weighted=False, keeps=KEEPS),
        Policy("xsf-ei", constrained_improvement, constrained=True, controlled=True, listed=False),
    )
}


def policy(name: str | None, *, limited: bool) -> Policy:
    """The method called `name`; None is "xsf" where a budget or constraint limits the search, else "xs"."""
    if name is None:
        return POLICIES["xsf" if limited else "xs"]
    if not isinstance(name, str) or name not in POLICIES:
        names = ", ".join(p.name for p in POLICIES.values() if p.listed)
        raise InputError(f"method must be one of {names}, or None; not {name!r}")
    return POLICIES[name]


def resolve_settings(settings: str | Settings) -> Settings:
    """Settings by name ("default", "paper"), or as they are."""
    if isinstance(settings, Settings):
        return settings
    if settings == "default":
        return Settings()
    if settings == "paper":
        return Settings.paper()
    raise InputError(f'settings must be "default", "paper" or a tumble.Settings, not {settings!r}')
