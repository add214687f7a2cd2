"""Several trials at a time, for a person or a program that runs them side by side."""

from __future__ import annotations

from tumble.errors import BudgetExhausted, TrialsExhausted
from tumble.studies.ledger import Ledger
from tumble.trials import Suggestion


def ask_for(ledger: Ledger, count: int) -> tuple[list[Suggestion], str]:
    """So many suggestions, and why there are fewer; what `Ledger.ask` raises where there is none.

    Parameters
    ----------
    ledger
        The study.
    count
        How many trials are wanted.
    """
    found = [ledger.ask()]
    while len(found) < count:
        try:
            found.append(ledger.ask())
        except (BudgetExhausted, TrialsExhausted) as end:
            return found, str(end)
    return found, ""
