"""A study that is opened, or begun where there is none yet."""

from __future__ import annotations

from collections.abc import Callable

from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoStudy
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
    first(config)
    return Ledger(config)
