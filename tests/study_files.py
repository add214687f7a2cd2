"""Study files and rigs for the tests."""

from __future__ import annotations

import sys
from pathlib import Path

RIG = """\
import json, math, pathlib, sys, time
x, y, trial = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
with open("runs.log", "a") as log:
    print(trial, file=log)
if {crash}:
    sys.exit(1)
time.sleep({seconds})
print(json.dumps({{"cost": (x - 0.4) ** 2 + (y - 0.6) ** 2, "load": {load}}}))
"""


def write_study(
    folder: Path,
    *,
    trials: int = 8,
    failures: int | None = 3,
    extra: str = "",
    load: str = "x + y - 1.2",
    crash: str = "False",
    seconds: float = 0.0,
    command: str | None = None,
    storage: str = "",
    start: bool = True,
) -> Path:
    """A study of two floats with one limit, and its rig in Python."""
    (folder / "rig.py").write_text(RIG.format(load=load, crash=crash, seconds=seconds))
    rig = f'["{sys.executable}", "-S", "rig.py", "{{x}}", "{{y}}", "{{trial}}"]'
    chosen = rig if command is None else command
    lines = [
        'name = "bowl"',
        'objective = "cost"',
        f"trials = {trials}",
        "" if failures is None else f"failures = {failures}",
        f"command = {chosen}" if chosen else "",
        f'storage = "{storage}"' if storage else "",
        extra,
        "[parameters]",
        "x = { low = 0.0, high = 1.0 }",
        "y = { low = 0.0, high = 1.0 }",
        "[constraints]",
        'load = "<= 0"',
    ]
    if start:
        lines += ["[start]", "x = 0.2", "y = 0.3"]
    path = folder / "bowl.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


MILL = """name = "mill"
objective = "cost"
trials = 6
failures = 2
storage = "sqlite:///mill.db"
[parameters]
bit = {{ choices = [{choices}] }}
"""


def write_mill(folder: Path, choices: str) -> Path:
    """A study of one parameter, which has these choices."""
    file = folder / "mill.toml"
    file.write_text(MILL.format(choices=choices))
    return file
