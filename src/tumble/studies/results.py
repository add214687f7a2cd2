"""What was measured in a trial, checked before it is stored."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tumble import checks
from tumble.errors import InputError
from tumble.studies.config import StudyConfig
from tumble.studies.errors import ResultMissing, ResultNotFinite
from tumble.trial_checks import LARGEST


def is_usable(value: float) -> bool:
    """Whether a search can learn from a result: it is finite, and so is its difference from another."""
    return math.isfinite(value) and abs(value) <= LARGEST


def check_usable(results: Mapping[str, float]) -> None:
    """Refuse results that are not finite, or too large."""
    for name, value in results.items():
        if not is_usable(value):
            raise ResultNotFinite(name, value)


def missing_results(config: StudyConfig, results: Mapping[str, float]) -> list[str]:
    """The results that a trial lacks; one that broke a limit lacks none."""
    wanted = (*config.limited_names, config.objective)
    return [] if config.is_violated(results) else [name for name in wanted if name not in results]


def check_results(config: StudyConfig, results: Mapping[str, float]) -> None:
    """Refuse results that are not finite, too large, or not complete although no limit was broken."""
    check_usable(results)
    missing = missing_results(config, results)
    if missing:
        raise ResultMissing(missing[0], (*config.limited_names, config.objective))


def check_names(config: StudyConfig, results: Mapping[str, float]) -> None:
    """Refuse a result that the study file does not know: typed by hand it is a slip."""
    known = config.result_names
    for name in results:
        if name not in known:
            hint = " ".join(filter(None, (checks.nearest(name, known), "known are")))
            raise InputError(f"unknown result {name!r}; {hint} {', '.join(known)}")
