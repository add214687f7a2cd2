"""What would be suggested next, in words, without asking for it."""

from __future__ import annotations

import math

from tumble.errors import BudgetExhausted
from tumble.shown import number, safety
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
    values = config.in_words(config.completed(found.x))
    setting = ", ".join(f"{name} = {value}" for name, value in values.items())
    promise = "nothing is known yet" if found.mode == "start" else safety(found.p_safe)
    if math.isfinite(found.mean):
        promise += f", {config.objective} = {number(config.sign * found.mean)} ± {found.std:.2g} predicted"
    return f"{setting} ({found.mode}: {promise})"
