"""Writing what a trial came to, before Optuna ends it.

Optuna ends a trial also where its sampler could not write to it.  A failure that is not marked as one would
then count as none.  So the write is tried again until the storage answers.  Where it does not for a minute,
the error is raised; Optuna can't end the trial either then, and it may be told again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import optuna
from optuna.exceptions import UpdateFinishedTrialError

from tumble.errors import InputError

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds before the storage is tried again
PATIENCE = 60.0  # seconds until the error is raised
FINAL = (InputError, UpdateFinishedTrialError, KeyError, TypeError, ValueError)  # the same at every try

_logger = optuna.logging.get_logger(__name__)


def insist(write: Callable[[], None], number: int) -> None:
    """Do `write`, again and again while the storage fails; it must be one that may be repeated.

    Parameters
    ----------
    write
        Writes to the storage.
    number
        The trial that it is about, for the message.
    """
    pause, end = FIRST_PAUSE, time.monotonic() + PATIENCE
    while True:
        try:
            write()
        except FINAL:
            raise
        except Exception as error:  # a storage may fail in any way of its own
            if time.monotonic() + pause > end:
                raise
            if pause == FIRST_PAUSE:
                why = str(error.__cause__ or error).partition("\n")[0]
                _logger.warning(
                    f"trial {number} is over, and the storage does not answer ({why}); it is tried again for "
                    f"{PATIENCE:g} seconds"
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        else:
            return
