"""What a study says when it is looked at."""

from __future__ import annotations

from typing import Any, TypeAlias

from tumble import __version__
from tumble.studies.ledger import Ledger
from tumble.studies.tables import best_table, entry_table, status_table

Table: TypeAlias = dict[str, Any]


def study(ledger: Ledger) -> Table:
    """What the study file says, as far as a page needs it."""
    config = ledger.config
    return {
        "name": config.name,
        "objective": config.objective,
        "maximize": config.maximize,
        "trials": config.trials,
        "failures": config.failures,
        "on_exhausted": config.on_exhausted,
        "parameters": config.space.to_dict(),
        "limits": [{"name": x.name, "sense": x.sense, "bound": x.bound} for x in config.limits],
        "has_command": config.command is not None,
        "seed": config.seed,
        "version": __version__,
    }


def status(ledger: Ledger) -> Table:
    """Where the study stands."""
    return status_table(ledger.status())


def best(ledger: Ledger) -> Table:
    """The best safe trial, and the setting that is recommended."""
    return best_table(ledger.status().best, ledger.recommend())


def trials(ledger: Ledger) -> list[Table]:
    """Every trial."""
    return [entry_table(entry, ledger.config) for entry in ledger.entries()]
