"""A study that is opened, or begun where there is none yet."""

from __future__ import annotations

from collections.abc import Callable

from tumble.integrations.optuna.distributions import obstacle, to_distribution
from tumble.parameters import Float
from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoStudy, StudyFileError
from tumble.studies.ledger import Ledger
from tumble.studies.values import check_told_apart


def open_or_begin(
    config: StudyConfig,
    *,
    reading: bool = False,
    creating: bool = True,
    first: Callable[[StudyConfig], object] = lambda config: None,
) -> Ledger:
    """The study of a file; where there is none yet, it is created, unless it is only read or not `creating`.

    What can't begin, or what `first` refuses, is refused before that, so that nothing is written.
    """
    try:
        return Ledger(config, reading=reading, creating=False)
    except NoStudy:
        if reading or not creating:
            raise
    check_told_apart(config.path, config.space)
    _check_steps(config)
    first(config)
    return Ledger(config)


def _check_steps(config: StudyConfig) -> None:
    """Refuse steps whose settings would be stored as others than were suggested."""
    for name, parameter in config.space.parameters.items():
        why = obstacle(to_distribution(parameter)) if isinstance(parameter, Float) else ""
        if why:
            raise StudyFileError(f"{config.path}: parameters.{name}: {why}")
