"""A slip of the finger: told trials that are taken out of a study, or given other results."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tumble import undo
from tumble.errors import InputError
from tumble.integrations.optuna.changes import StoredChange, store_change
from tumble.integrations.optuna.notes import storable
from tumble.studies.config import StudyConfig
from tumble.studies.ledger import Ledger
from tumble.studies.locking import lock_study
from tumble.studies.records import RESULTS, Entry
from tumble.studies.results import check_results, check_usable
from tumble.trials import ChangeKind


def void(ledger: Ledger, number: int, reason: str = "") -> Entry:
    """Take a told trial out: it teaches nothing, and gives back its trial and its failure.

    Parameters
    ----------
    ledger
        The study.
    number
        The trial; its number is never used again.
    reason
        Why.

    Returns
    -------
    Entry
        The trial as it stands now.

    Raises
    ------
    InputError
        If the trial is not told, or does not exist.  Nothing is stored then.
    """

    def change(entry: Entry) -> StoredChange:
        check_may_void(entry)
        return _change(ledger, entry, "voided", reason)

    return _store(ledger, number, change)


@dataclass(frozen=True)
class Amended:
    """What a trial would be: its results, why it crashed (None: it did not), and its outcome in a word."""

    results: dict[str, float]
    crash: str | None
    outcome: str


def amend(
    ledger: Ledger, number: int, results: Mapping[str, float], failed: str | Literal[False] | None = None
) -> Entry:
    """Replace results of a told trial, or say that it failed, or that it did not.

    Parameters
    ----------
    ledger
        The study.
    number
        The trial.
    results
        By name.  Those that are not named stay as they were told; where `failed` says why, only the named
        ones are kept.
    failed
        Why it failed.  False says that it did not fail after all.  None keeps what was told: a crash stays
        one, with its reason.

    Returns
    -------
    Entry
        The trial as it stands now.

    Raises
    ------
    InputError
        If the trial is not told, or does not exist, or the results can't be used.  Nothing is stored then.
    """

    def change(entry: Entry) -> StoredChange:
        now = amended(ledger, entry, results, failed)
        return _change(ledger, entry, "amended", now.crash or "", now.results, now.crash is not None)

    return _store(ledger, number, change)


def check_may_void(entry: Entry) -> None:
    """Refuse to void what is not told."""
    undo.check_may_void(entry.trial, _status(entry))


def amended(
    ledger: Ledger, entry: Entry, results: Mapping[str, float], failed: str | Literal[False] | None
) -> Amended:
    """What a trial would be, where it may be amended."""
    undo.check_may_amend(entry.trial, _status(entry))
    has_crashed = entry.reading.crashed and entry.outcome != "never"
    if isinstance(failed, str):
        check_usable(results)
        return Amended(dict(results), failed or (entry.reading.reason if has_crashed else ""), "failed")
    if not results and not (failed is False and has_crashed):
        raise _nothing_to_amend(ledger.config, entry, failed is False, has_crashed)
    merged = {**entry.results, **results}
    if failed is None and has_crashed:
        check_usable(results)
        return Amended(merged, entry.reading.reason, "failed")
    check_results(ledger.config, merged)
    return Amended(merged, None, "failed" if ledger.config.is_violated(merged) else "safe")


def _nothing_to_amend(config: StudyConfig, entry: Entry, not_failed: bool, has_crashed: bool) -> InputError:
    """What is said where nothing would change."""
    if not_failed and entry.outcome == "safe":
        return InputError(f"trial {entry.trial} did not fail: there is nothing to amend")
    if not_failed and entry.outcome == "failed":
        broken = "; ".join(config.violations(entry.results))
        return InputError(f"trial {entry.trial} {broken}: if that result is wrong, amend it")
    other = " or --not-failed" if has_crashed and entry.results else ""
    example = f"{config.objective}=3.2"
    return InputError(f'nothing to amend: name a result such as {example}, or give --failed "why"{other}')


def _status(entry: Entry) -> str:
    """As in `tumble.Trial.status`, or the word for why it is void."""
    return "told" if entry.reading.phase == "told" else entry.outcome


def _store(ledger: Ledger, number: int, change: Callable[[Entry], StoredChange]) -> Entry:
    """Store a change under the lock; it is also made without, so that most mistakes wait for nobody."""
    change(ledger.entry(number))
    with lock_study(ledger.storage, ledger.config.name):
        store_change(ledger.study, change(ledger.entry(number)))
    return ledger.entry(number)


def _change(
    ledger: Ledger, entry: Entry, kind: ChangeKind, reason: str,
    results: dict[str, float] | None = None, failed: bool = False,
) -> StoredChange:  # fmt: skip
    now = results or {}
    return StoredChange(
        trial=entry.trial,
        kind=kind,
        at=undo.now(),
        by=_who(),
        reason=storable(reason),
        was=entry.outcome,
        before=entry.results,
        value=None if failed else now.get(ledger.config.objective),
        constraints=ledger.config.excesses(now),
        failed=failed,
        user_attrs={} if results is None else {RESULTS: now},
        since=len(ledger.store.trials()),
        request=ledger.store.mark,
    )


def _who() -> str:
    """user@host; the number of the user where the system knows no name."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return storable(f"{user}@{socket.gethostname()}")
