"""The TOML of a study file as it comes, with one clear message for text that is no TOML."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from tumble.studies.errors import NoStudyFile, NotToml, StudyFileError

INVALID_VALUE = re.compile(r"Invalid value \(at line (\d+), column (\d+)\)")  # as `tomllib` says it
SAID_TWICE = re.compile(r"(?:Cannot overwrite a value|Duplicate inline table key '(.*)') \(at (.*)\)")
HEADED_TWICE = re.compile(r"Cannot declare \((.*?),?\) twice \(at (.*)\)")
LARGEST = 2**20  # bytes; what is larger is another file, and a device never ends
KEY = re.compile(r"\s*([\w.-]+)\s*=")


def read_toml(file: Path) -> dict[str, Any]:
    """What a file says.

    Raises
    ------
    StudyFileError
        If it is not there, can't be read or is no TOML.
    """
    text = ""
    try:
        with open(file, "rb", opener=_without_waiting) as handle:
            os.set_blocking(handle.fileno(), True)
            read = handle.read(LARGEST + 1)
            if not read and stat.S_ISFIFO(os.fstat(handle.fileno()).st_mode):
                raise StudyFileError(f"{file}: a pipe that nobody writes to; name the TOML file of the study")
        if len(read) > LARGEST:
            raise StudyFileError(
                f"{file}: no study file is larger than 1 MB; name the TOML file of the study"
            )
        text = read.decode("utf-8-sig")  # Windows may write a byte order mark
        return tomllib.loads(text)
    except StudyFileError:  # a ValueError, too
        raise
    except FileNotFoundError:
        raise NoStudyFile(file) from None
    except UnicodeDecodeError:
        raise StudyFileError(f"{file}: not a text file in UTF-8; save it as plain text") from None
    except OSError as error:
        raise StudyFileError(
            f"{file}: can't be read ({error.strerror}); check the path and its rights"
        ) from None
    except RecursionError:
        raise NotToml(f"{file}: not valid TOML: tables or lists are nested too deeply") from None
    except ValueError as error:  # a `TOMLDecodeError`, or a number of thousands of digits
        remedy = _remedy(text.replace("\r\n", "\n").split("\n"), str(error))
        if remedy:
            raise StudyFileError(f"{file}: not valid TOML: {remedy}") from None
        raise NotToml(f"{file}: not valid TOML: {error}") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a pipe although nobody may ever write to it."""
    return os.open(path, flags | os.O_NONBLOCK)


def _remedy(lines: list[str], error: str) -> str:
    """What is wrong and what helps, where that is known; no value is shown, as it may be a password."""
    if _lacks_quotes(lines, error):
        return (
            f'{error}; write text in quotes, such as objective = "cost", and true and false in small letters'
        )
    if twice := SAID_TWICE.fullmatch(error):
        key = twice[1] or _key_at(lines, twice[2])
        return f"{key} stands twice (the second is at {twice[2]}); keep one of them"
    if headed := HEADED_TWICE.fullmatch(error):
        name = ".".join(part.strip().strip("'\"") for part in headed[1].split(","))
        return f"the table {name} begins twice (the second is at {headed[2]}); put all under one [{name}]"
    return ""


def _key_at(lines: list[str], place: str) -> str:
    """The key of a line; "at end of document" is the last one."""
    line = re.match(r"line (\d+)", place)
    key = KEY.match(lines[int(line[1]) - 1 if line else -1])
    return key[1] if key else "a key"


def _lacks_quotes(lines: list[str], error: str) -> bool:
    """Whether a value that is not valid begins with a letter."""
    place = INVALID_VALUE.match(error)
    if place is None:
        return False
    line, column = (int(number) - 1 for number in place.groups())
    return lines[line][column : column + 1].isalpha()
