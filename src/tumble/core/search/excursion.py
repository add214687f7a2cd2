"""Xs and XsF, built from what is known."""

from ..acquisition import ExcursionSearch
from .context import Context


def excursion_search(context: Context) -> ExcursionSearch:
    """log α_X (10) over samples of f*."""
    return ExcursionSearch(context.objective, context.minima.samples, context.settings.band)
