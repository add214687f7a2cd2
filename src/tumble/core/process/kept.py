"""Arrays that take long to compute and are needed again: what was used latest is kept between suggestions."""

from collections.abc import Hashable
from typing import NamedTuple

from ..arrays import Array

MOST = 256  # entries that are kept; more would take long to look through


class _Entry(NamedTuple):
    arrays: tuple[Array, ...]
    size: int  # in bytes


class Kept:
    """Arrays that were used lately, the latest last.

    What belongs together is kept together, as one entry. Threads may share the entries: each change puts a
    new dict in the place of the old one.

    Parameters
    ----------
    most_bytes
        Of all that is kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self._kept = most_bytes, dict[Hashable, _Entry]()

    def get(self, key: Hashable) -> tuple[Array, ...] | None:
        """The arrays of an entry; None where it was not kept."""
        kept = dict(self._kept)
        found = kept.pop(key, None)
        if found is None:
            return None
        kept[key] = found
        self._kept = kept
        return found.arrays

    def keep(self, key: Hashable, *arrays: Array) -> None:
        """Keep arrays as one entry, and forget what was not used for longest where there is too much."""
        for array in arrays:
            array.flags.writeable = False
        size = sum(array.nbytes for array in arrays)
        if size > self._most:  # the others are worth more
            return
        kept = {**self._kept, key: _Entry(arrays, size)}
        total = sum(entry.size for entry in kept.values())
        while kept and (total > self._most or len(kept) > MOST):
            total -= kept.pop(next(iter(kept))).size
        self._kept = kept
