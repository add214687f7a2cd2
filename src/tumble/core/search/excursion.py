"""Xs and XsF, built from what is known."""

from ..acquisition import ExcursionSearch
from .context import Context


def excursion_search(context: Context) -> ExcursionSearch:
    """log α_X (10) over samples of f*."""
    samples = context.sample_minima().samples
    return ExcursionSearch(context.objective, samples, context.settings.band)
