"""A study file that is edited while its trials run: read again between two trials.

Budget, limits, command and the rest of the file take effect from the next trial on.  Name, storage and
objective can't change, and parameters only as `tumble.studies.evolution` says.  A file that can't be used is
refused with its message, once, and the study goes on with the last good one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from tumble.errors import TumbleError
from tumble.space import Space
from tumble.studies import rig
from tumble.studies.config import StudyConfig
from tumble.studies.errors import NoCommand
from tumble.studies.ledger import Ledger
from tumble.studies.study_file import read_study_file

UNSHOWN = ("path", "name", "storage", "objective", "maximize")
NOT_COMPARED = ("space", "implied_integers")  # the parameters are compared one by one


class StudyFileWatch:
    """Looks whether the file of a study was edited, and makes its ledger follow.

    Parameters
    ----------
    ledger
        The study; it has read its file already.
    say
        Called with one line for each edit: what changed, or why it was refused.
    """

    def __init__(self, ledger: Ledger, say: Callable[[str], None] = lambda text: None) -> None:
        self.ledger, self.say = ledger, say
        self._refused = ""

    def look(self) -> bool:
        """Read the file again; True where the ledger follows an edit from now on."""
        now = self.ledger.written
        try:
            edited = _usable(now)
            changes = differences(now, edited)
            if changes:
                self.ledger.follow(edited)
        except TumbleError as error:
            if str(error) != self._refused:
                self.say(f"{error}; the study goes on with what the file said before")
            self._refused = str(error)
            return False
        self._refused = ""
        if changes:
            self.say(f"{now.path} was edited; from the next trial on: {'; '.join(changes)}")
        if edited.limits != now.limits:
            for remark in self.ledger.status().remarks:
                self.say(remark)
        return bool(changes)


def differences(old: StudyConfig, new: StudyConfig) -> list[str]:
    """What changed from what to what, in words; some are named without their values."""
    found = []
    for field in fields(StudyConfig):
        was, becomes = getattr(old, field.name), getattr(new, field.name)
        if was != becomes and field.name not in NOT_COMPARED:
            unshown = field.name in UNSHOWN
            found.append(field.name if unshown else f"{field.name} {_shown(was)} -> {_shown(becomes)}")
    return [*found, *_edited_parameters(old.space, new.space)]


def _edited_parameters(old: Space, new: Space) -> list[str]:
    """Each parameter that changed, by name."""
    was, becomes = old.parameters, new.parameters
    names = dict.fromkeys([*was, *becomes])
    edited = [f"parameters.{name}" for name in names if was.get(name) != becomes.get(name)]
    return [*edited, *(["known"] if old.known != new.known else [])]


def _usable(now: StudyConfig) -> StudyConfig:
    edited = read_study_file(now.path)
    if now.command is not None and edited.command is None:
        raise NoCommand(now.path)
    if edited.command != now.command:
        rig.check(edited)
    return edited


def _shown(value: object) -> str:
    """A value of a study file in one line."""
    if value is None or value == ():
        return "none"
    if isinstance(value, tuple):
        words = all(isinstance(one, str) for one in value)
        return " ".join(value) if words else ", ".join(map(_shown, value))
    if isinstance(value, dict):
        return " ".join(f"{name}={x}" for name, x in value.items())
    if isinstance(value, frozenset):
        return " ".join(map(str, sorted(value))) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
