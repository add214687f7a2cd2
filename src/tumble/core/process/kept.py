"""Arrays that take long to compute and are needed again: what was used latest is kept between suggestions."""

from collections.abc import Hashable
from typing import NamedTuple

from ..arrays import Array

MOST = 256  # entries that are kept; more would take long to look through


class _Entry(NamedTuple):
    arrays: tuple[Array, ...]
    size: int  # in bytes


class _All(NamedTuple):
    """All entries, the latest last, and their size in bytes."""

    entries: dict[Hashable, _Entry]
    size: int


class Kept:
    """Arrays that were used lately.

    What belongs together is kept together, as one entry. Threads may share the entries: each change puts new
    ones in the place of the old ones.

    Parameters
    ----------
    most_bytes
        Of all that is kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self._all = most_bytes, _All({}, 0)

    def get(self, key: Hashable) -> tuple[Array, ...] | None:
        """The arrays of an entry; None where it was not kept."""
        kept, size = self._all
        found = kept.get(key)
        if found is None:
            return None
        others = dict(kept)
        del others[key]
        others[key] = found
        self._all = _All(others, size)
        return found.arrays

    def keep(self, key: Hashable, *arrays: Array) -> None:
        """Keep arrays as one entry, and forget what was not used for longest where there is too much."""
        for array in arrays:
            array.flags.writeable = False
        size = sum(array.nbytes for array in arrays)
        if size > self._most:  # the others are worth more
            return
        entries, total = self._all
        kept, total = dict(entries), total + size
        before = kept.pop(key, None)
        if before is not None:
            total -= before.size
        kept[key] = _Entry(arrays, size)
        while total > self._most or len(kept) > MOST:
            total -= kept.pop(next(iter(kept))).size
        self._all = _All(kept, total)
