"""What would be suggested next, in words, without asking for it."""

from __future__ import annotations

import math

from tumble.errors import BudgetExhausted
from tumble.shown import safety
from tumble.studies.ledger import Ledger


def next_setting(ledger: Ledger) -> str:
    """The setting that `ask` would hand out now and what it promises, or why there is none.

    Parameters
    ----------
    ledger
        The study; nothing is stored.
    """
    status, config = ledger.status(), ledger.config
    if status.trials_left <= 0:
        return "every trial is told or in flight"
    if config.on_exhausted == "stop" and status.failures_left <= status.pending:
        return "every failure is spent or held by a trial in flight"
    if status.trials + status.pending < len(config.starts):
        return "a setting given under [start]"
    try:
        found = ledger.optimizer().suggest(len(ledger.entries()))
    except BudgetExhausted as error:
        return f"none: {error}"
    setting = ", ".join(f"{name} = {_short(value)}" for name, value in config.completed(found.x).items())
    promise = "nothing is known yet" if found.mode == "start" else safety(found.p_safe)
    if math.isfinite(found.mean):
        promise += f", {config.objective} = {config.sign * found.mean:.5g} ± {found.std:.2g} predicted"
    return f"{setting} ({found.mode}: {promise})"


def _short(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
