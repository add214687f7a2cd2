"""The old name of `tumble.methods`: it still works, and warns."""

import warnings

from .core.method import Method as Policy
from .core.settings import Settings
from .methods import METHODS as POLICIES
from .methods import find_method as policy
from .methods import resolve_settings

__all__ = ["POLICIES", "Policy", "Settings", "policy", "resolve_settings"]

warnings.warn(
    "tumble.policies is now called tumble.methods, with METHODS, Method and find_method",
    DeprecationWarning,
    stacklevel=2,
)
