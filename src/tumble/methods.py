"""The methods by name, and settings by name. A method is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from .core.method import Method
from .errors import InputError

if TYPE_CHECKING:
    from .core.acquisition import Acquisition
    from .core.method import Build
    from .core.search.context import Context
    from .core.settings import DefaultSearch, Settings

__all__ = ["CONSTRAINED", "FREE", "METHODS", "Method", "MethodName", "find_method", "resolve_settings"]

MethodName = Literal["tumble", "xs", "xsf", "ei", "pi", "ucb", "mes", "eic", "pesc", "safe-set", "xsf-ei"]
TWO_SIGMA = 0.9772498680518208  # Φ(2): SafeOpt's β


def _from(module: str, name: str) -> Build:
    """Builds by the function `name` of `module`, which is imported then."""

    def build(context: Context) -> Acquisition:
        made: Acquisition = getattr(import_module(module, __package__), name)(context)
        return made

    return build


_EXCURSION = _from(".core.search.excursion", "excursion_search")
_DEFAULT = _from(".core.search.default", "best_measured")
_IMPROVEMENT = _from(".baselines.improvement", "constrained_improvement")
_EI = _from(".baselines.improvement", "expected_improvement")
_PI = _from(".baselines.improvement", "probability_of_improvement")
_UCB = _from(".baselines.improvement", "confidence_bound")
_MES = _from(".baselines.entropy", "max_value_entropy")
_PESC = _from(".baselines.pesc.acquisition", "predictive_entropy")
_SAFE_SET = _from(".baselines.safe_set", "safe_set")

METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(
            "tumble",
            _DEFAULT,
            constrained=True,
            controlled=True,
            stones=True,
            surveys=True,
            label="tumble",
        ),
        Method("xs", _EXCURSION, constrained=False, samples_minima=True, label="Xs"),
        Method("xsf", _EXCURSION, constrained=True, controlled=True, samples_minima=True, label="XsF"),
        Method("ei", _EI, constrained=False, label="EI"),
        Method("pi", _PI, constrained=False, label="PI"),
        Method("ucb", _UCB, constrained=False, label="UCB"),
        Method("mes", _MES, constrained=False, samples_minima=True, label="MES"),
        Method("eic", _IMPROVEMENT, constrained=True, label="EIC"),
        Method("pesc", _PESC, constrained=True, times_phi=False, samples_minima=True, label="PESC"),
        Method(
            "safe-set", _SAFE_SET, constrained=True, times_phi=False, own_level=TWO_SIGMA, label="safe set"
        ),
        Method("xsf-ei", _IMPROVEMENT, constrained=True, controlled=True, listed=False, label="XsF with EI"),
    )
}
DEFAULTS: Mapping[DefaultSearch, tuple[str, str]] = {  # without limits, with limits
    "improvement": ("ei", "tumble"),
    "excursion": ("xs", "xsf"),
}
FREE = tuple(name for name, method in METHODS.items() if method.listed and not method.constrained)
CONSTRAINED = tuple(name for name, method in METHODS.items() if method.listed and method.constrained)


def find_method(name: str | None, *, limited: bool, search: DefaultSearch = "improvement") -> Method:
    """The method called `name`.

    Parameters
    ----------
    name
        A key of `METHODS`; None for "tumble" where the search is limited, else for "ei".
    limited
        Whether a budget of failures or a constraint limits the search.
    search
        What None stands for, as in `Settings.search`. With "excursion" it is "xsf", or "xs".

    Raises
    ------
    InputError
        If there is no such method.

    Examples
    --------
    >>> find_method(None, limited=True).name, find_method(None, limited=True, search="excursion").name
    ('tumble', 'xsf')
    """
    if name is None:
        return METHODS[DEFAULTS[search][limited]]
    if not isinstance(name, str) or name not in METHODS:
        names = ", ".join(method.name for method in METHODS.values() if method.listed)
        raise InputError(f"method must be one of {names}, or None; not {name!r}")
    return METHODS[name]


def check_takes(method: Method, count: int) -> None:
    """Refuse so many constraints where a method takes none.

    Raises
    ------
    InputError
        If it takes none, and there are some.
    """
    if count > 0 and not method.constrained:
        takers = ", ".join(CONSTRAINED)
        raise InputError(f"method {method.name!r} takes no constraints; choose one of {takers}")


def resolve_settings(settings: str | Settings, boldness: float | None = None) -> Settings:
    """Settings by name ("default", "paper"), or as they are, with this `boldness` where it is given.

    Raises
    ------
    InputError
        If `settings` is neither, `boldness` does not lie from 0 to 1, or the settings are the paper's.
    """
    from .core.settings import Settings

    if boldness is not None:
        found = resolve_settings(settings)
        if found == Settings.paper():
            raise InputError(
                'boldness does not go with settings="paper", which has the paper\'s own constants; '
                "drop one of the two"
            )
        return replace(found, boldness=boldness)
    if isinstance(settings, Settings):
        return settings
    if isinstance(settings, str) and settings == "default":
        return Settings()
    if isinstance(settings, str) and settings == "paper":
        return Settings.paper()
    raise InputError(f'settings must be "default", "paper" or a tumble.Settings, not {settings!r}')
