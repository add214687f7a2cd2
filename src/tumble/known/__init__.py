"""Constraints between parameters that are known beforehand, written as text: `speed * feed <= 900`."""

from tumble.known.parser import FUNCTIONS, KnownConstraint, choices_of, is_number, read_known
from tumble.known.region import Held, Region, Rule

__all__ = ["FUNCTIONS", "Held", "KnownConstraint", "Region", "Rule", "choices_of", "is_number", "read_known"]
