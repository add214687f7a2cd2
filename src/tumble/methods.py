"""Methods by name, and settings by name. A baseline is loaded when it is first used."""

from dataclasses import dataclass
from importlib import import_module

from .core.acquisition import Acquisition
from .core.search.context import Build, Context, excursion_search
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


def _baseline(module: str, name: str) -> Build:
    def build(context: Context) -> Acquisition:
        made: Acquisition = getattr(import_module(f".baselines.{module}", __package__), name)(context)
        return made

    return build


TWO_SIGMA = 0.9772498680518208  # Φ(2): SafeOpt's β
_SAFE_SET = _baseline("safe_set", "safe_set")
_IMPROVEMENT = _baseline("improvement", "constrained_improvement")
POLICIES: dict[str, Policy] = {
    p.name: p
    for p in (
        Policy("xs", excursion_search, constrained=False),
        Policy("xsf", excursion_search, constrained=True, controlled=True),
        Policy("ei", _baseline("improvement", "expected_improvement"), constrained=False),
        Policy("pi", _baseline("improvement", "probability_of_improvement"), constrained=False),
        Policy("ucb", _baseline("improvement", "confidence_bound"), constrained=False),
        Policy("mes", _baseline("entropy", "max_value_entropy"), constrained=False),
        Policy("eic", _IMPROVEMENT, constrained=True),
        Policy("pesc", _baseline("pesc.acquisition", "predictive_entropy"), constrained=True, weighted=False),
        Policy(
            "safe-set", _baseline("safe_set", "safe_set"), constrained=True, weighted=False, keeps=TWO_SIGMA
        ),
        Policy("xsf-ei", _IMPROVEMENT, constrained=True, controlled=True, listed=False),
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
