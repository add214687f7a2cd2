"""Arrays that take long to compute and are needed again: what was used latest is kept between suggestions."""

from collections.abc import Hashable

from ..arrays import Array

MOST = 256  # entries that are kept; more would take long to look through


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
        self._most, self._kept = most_bytes, dict[Hashable, tuple[Array, ...]]()

    def get(self, key: Hashable) -> tuple[Array, ...] | None:
        """The arrays of an entry; None where it was not kept."""
        found = self._kept.get(key)
        if found is not None:
            self._kept = {**{k: entry for k, entry in self._kept.items() if k != key}, key: found}
        return found

    def keep(self, key: Hashable, *arrays: Array) -> None:
        """Keep arrays as one entry, and forget what was not used for longest where there is too much."""
        for array in arrays:
            array.flags.writeable = False
        if _bytes(arrays) > self._most:  # the others are worth more
            return
        kept = {**self._kept, key: arrays}
        size = sum(_bytes(entry) for entry in kept.values())
        while kept and (size > self._most or len(kept) > MOST):
            size -= _bytes(kept.pop(next(iter(kept))))
        self._kept = kept


def _bytes(arrays: tuple[Array, ...]) -> int:
    return sum(array.nbytes for array in arrays)
