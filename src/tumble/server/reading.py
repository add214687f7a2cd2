"""What a study says when it is looked at."""

from __future__ import annotations

from typing import Any, TypeAlias

from tumble import __version__
from tumble.studies import figures
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
        "parameters": {name: p.to_dict() for name, p in config.space.parameters.items()},
        "known": list(config.space.known),
        "results": list(config.result_names),
        "limits": [str(limit) for limit in config.limits],
        "has_command": config.command is not None,
        "seed": config.seed,
        "version": __version__,
    }


def status(ledger: Ledger) -> Table:
    """Where the study stands."""
    return status_table(ledger.status())


def best(ledger: Ledger) -> Table:
    """The best safe trial, and the setting that is recommended."""
    return best_table(ledger.status().best, ledger.recommend(), ledger.expected_best())


def trials(ledger: Ledger) -> list[Table]:
    """Every trial."""
    return [entry_table(entry, ledger.config) for entry in ledger.entries()]


def numbers(ledger: Ledger) -> Table:
    """The numbers of every figure; empty before anything was told."""
    found = figures.numbers(ledger)
    return {} if found is None else found.to_dict()
