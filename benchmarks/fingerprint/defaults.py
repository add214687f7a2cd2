"""Which settings the doors search with: the product's default, or that of 0.1.0 as a saved search has it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tumble import Settings

AS_IN_0_1_0 = "TUMBLE_FINGERPRINT_AS_IN_0_1_0"  # set in the environment of a process that runs the doors
SAVED = Path(__file__).resolve().parents[2] / "tests" / "saved" / "0.1.0" / "none-free.json"


def named(settings: str = "default") -> str | Settings:
    """Settings by name; "default" is that of 0.1.0 where the comparison asks for it."""
    if settings != "default" or AS_IN_0_1_0 not in os.environ:
        return settings
    return Settings.from_dict(json.loads(SAVED.read_text())["saved"]["settings"])
