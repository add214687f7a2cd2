"""What can go wrong with a study file and its study.

The messages name the file, the key and what is wrong.  The command line adds what to type in a terminal, and
knows these types for that (`tumble.cli.remedies`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tumble.errors import InputError
from tumble.trial_checks import LARGEST


class StudyFileError(InputError):
    """A study file that can't be used: which file, which key, what to write instead."""


class NoStudyFile(StudyFileError):
    """There is no study file at the path."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: there is no such file")
        self.path = path


class NotToml(StudyFileError):
    """The study file is not valid TOML."""


class NoStudy(StudyFileError):
    """The storage has no such study yet, or no longer."""

    def __init__(self, path: Path, where: str) -> None:
        super().__init__(f"{path}: storage: {where}: nothing was asked yet, or it was moved or deleted")
        self.path = path


class StartedOtherwise(StudyFileError):
    """The objective of the file is not that of the study's trials; `was` is the line that they had."""

    def __init__(self, path: Path, study: str, what: str, was: str) -> None:
        super().__init__(
            f"{path}: {what}: study {study!r} was started with {was}; "
            "change it back, or give the study another name and import the old trials"
        )


class NoCommand(StudyFileError):
    """The study file has no command, so that no trial can be run."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: command: is missing; add the command that runs one trial")
        self.path = path


class NoSafeTrial(StudyFileError):
    """The method starts from a safe trial, and the study has none."""

    def __init__(self, path: Path, method: str) -> None:
        super().__init__(
            f"{path}: method: {method!r} never leaves what is known to be safe, and no safe trial is known; "
            "name a safe setting under [start], try one (tumble try), import old trials, or write "
            'method = "tumble"'
        )


class ResultNotFinite(InputError):
    """A result that was told is not a finite number, or is too large to learn from."""

    def __init__(self, name: str, value: float) -> None:
        expected = f"at most {LARGEST:g} in size" if math.isfinite(value) else "a finite number"
        super().__init__(f"{name} must be {expected}, but {value} came")


class ResultMissing(InputError):
    """A result that the study needs was not told; `names` are all that it needs."""

    def __init__(self, missing: str, names: Sequence[str]) -> None:
        super().__init__(f"{missing} is missing; a trial that kept its limits needs {', '.join(names)}")
        self.names = tuple(names)


class TrialOver(InputError):
    """A trial that is over already; `is_told` where it can be amended or voided."""

    def __init__(self, path: Path, number: int, outcome: str, is_told: bool) -> None:
        super().__init__(f"trial {number} is over already ({outcome}); each trial is told or skipped once")
        self.path, self.number, self.is_told = path, number, is_told


class PortTaken(InputError):
    """A page can't be served on this port."""

    def __init__(self, port: int, why: str) -> None:
        super().__init__(f"port {port} can't be used ({why})")
