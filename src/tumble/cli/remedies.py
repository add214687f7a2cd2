"""What to type in a terminal when a study can't be used; added to the messages of `tumble.studies`."""

from __future__ import annotations

from tumble.errors import TumbleError
from tumble.shown import as_word
from tumble.studies import errors


def with_remedy(error: TumbleError) -> str:
    """The message of an error, with the command that helps where there is one."""
    remedy = _remedy(error)
    return f"{error}; {remedy}" if remedy else str(error)


def _remedy(error: TumbleError) -> str:
    match error:
        case errors.NoStudyFile():
            return f"write one with: tumble init {as_word(error.path)}"
        case errors.NotToml():
            return "for a file to compare it with, write an example: tumble init example.toml"
        case errors.NoStudy():
            return f"start the study with: tumble ask {as_word(error.path)}"
        case errors.NoCommand():
            return "or run the trials by hand with: tumble ask, tumble tell"
        case errors.ResultNotFinite():
            return "tell a crash with --failed"
        case errors.ResultMissing():
            given = " ".join(f"{name}=..." for name in error.names)
            return f"give {given}, or tell a trial that failed with --failed"
        case errors.TrialOver(is_told=True):
            study, trial = as_word(error.path), error.number
            return f"correct it with: tumble amend {study} {trial} name=value, or tumble void {study} {trial}"
        case errors.PortTaken():
            return "choose another with --port"
    return ""
