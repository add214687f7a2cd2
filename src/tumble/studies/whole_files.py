"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from tumble.errors import InputError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A text file in UTF-8 that takes the place of `path` at the end, and only if nothing went wrong.

    A link is followed, and what is no plain file (a terminal, a pipe) is written to as it is.

    Raises
    ------
    InputError
        If the file can't be written: no right, no folder, no space.  What was there is still there then.
    """
    target = path.resolve() if path.is_symlink() else path
    try:
        if target.exists() and not target.is_file():
            with target.open("w", newline="", encoding="utf-8") as handle:
                yield handle
            return
        with _beside(target) as handle:
            yield handle
    except OSError as error:
        raise not_written(path, error) from None


def write_whole(path: Path, text: str) -> None:
    """Write a text file whole or not at all; see `replacing`."""
    with replacing(path) as handle:
        handle.write(text)


def not_written(path: Path, error: OSError) -> InputError:
    """The error for a file that can't be written."""
    remedy = "free some space" if error.errno in (28, 122) else "check the folder, or choose another path"
    return InputError(f"{path}: can't be written ({error.strerror or error}); {remedy}")


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[TextIO]:
    """A file of another name in the same folder, renamed at the end; the rights stay what they were."""
    rights = target.stat().st_mode & 0o777 if target.exists() else None
    draft = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "w", newline="", encoding="utf-8") as handle:
            if rights is not None:
                os.fchmod(handle.fileno(), rights)  # the umask has no say in them
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
