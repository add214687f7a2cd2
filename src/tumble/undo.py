"""Undo: a told trial that is taken out, or whose results are replaced. What it was before is kept with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from . import checks, trial_checks
from .errors import InputError
from .trials import Change, ChangeKind, Trial

VOIDED = "only a trial that was told, or is never to be tried, is voided"


def voided(trial: Trial, reason: str) -> Trial:
    """A told trial, taken out; its results stay to be looked at.

    Raises
    ------
    InputError
        If it is not told.
    """
    check_may_void(trial.number, trial.status)
    return replace(trial, status="voided", changes=(*trial.changes, _before(trial, "voided", reason)))


def amended(
    trial: Trial,
    value: float | None,
    constraints: Any,
    failed: bool | None,
    reason: str,
    names: tuple[str, ...],
) -> Trial:
    """A told trial with other results. One that was never to be tried was run after all, and is billed now.

    A crash stays one, with its reason, unless `failed` is False.

    Raises
    ------
    InputError
        If it is not told, or its results can't be recorded.
    """
    check_may_amend(trial.number, trial.status)
    had_crashed = trial.crashed and not trial.is_forbidden
    crashed = had_crashed if failed is None else failed
    if crashed and failed is None and value is not None:
        raise InputError(
            f"trial {trial.number} failed, and a failed trial has no value; give failed=False with the value "
            "where it did not fail after all"
        )
    if not failed:
        may_be_bare = had_crashed and failed is False
        value, constraints = _completed(trial, value, constraints, names, may_be_bare)
    stays = crashed and had_crashed and (failed is None or not reason)
    results = trial_checks.outcome(value, constraints, crashed, trial.reason if stays else reason, names)
    return replace(
        trial, value=results.value, constraints=results.constraints, crashed=crashed, reason=results.reason,
        billed=trial.billed or trial.is_forbidden,
        changes=(*trial.changes, _before(trial, "amended", checks.text(reason, "reason"))),
    )  # fmt: skip


def _completed(
    trial: Trial, value: float | None, constraints: Any, names: Sequence[str], may_be_bare: bool
) -> tuple[float | None, Any]:
    """What an amended trial has: results that are named, and the others as they were told.

    Raises
    ------
    InputError
        If nothing is named, unless it `may_be_bare`.
    """
    is_bare = value is None and (
        constraints is None or (isinstance(constraints, Mapping) and not constraints)
    )
    if is_bare and not may_be_bare:
        raise InputError("nothing to amend: give a value, a constraint, failed=True or failed=False")
    value = trial.value if value is None else value
    if constraints is None:
        return value, trial.constraints or None
    if isinstance(constraints, Mapping):
        return value, {**dict(zip(names, trial.constraints, strict=False)), **constraints}
    return value, constraints


def check_may_void(number: int, status: str) -> None:
    """Refuse to void what is not told."""
    if status in ("pending", "running"):
        raise InputError(f"trial {number} is in flight: skip it; {VOIDED}")
    if status != "told":
        raise InputError(f"trial {number} is {status} already; {VOIDED}, and once")


def check_may_amend(number: int, status: str) -> None:
    """Refuse to amend what is not told."""
    if status in ("pending", "running"):
        raise InputError(f"trial {number} is in flight: tell it; only a told trial is amended")
    if status != "told":
        raise InputError(f"trial {number} is {status}: it does not count, so there is nothing to amend")


def now() -> str:
    """The time in UTC, to the second: 2026-01-31T12:00:00+00:00."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _before(trial: Trial, kind: ChangeKind, reason: str) -> Change:
    return Change(
        trial.number, kind, now(), reason, trial.value, trial.constraints, trial.crashed, trial.reason
    )
