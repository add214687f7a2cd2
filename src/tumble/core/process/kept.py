"""Arrays that take long to compute and are needed again: what was used latest is kept between suggestions."""

from collections.abc import Hashable

from ..arrays import Array

MOST = 256  # arrays that are kept; more would take long to look through


class Kept:
    """Arrays that were used lately, the latest last.

    Threads may share them: each change puts a new dict in the place of the old one.

    Parameters
    ----------
    most_bytes
        Of all that is kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self._kept = most_bytes, dict[Hashable, Array]()

    def get(self, key: Hashable) -> Array | None:
        """An array that was kept; None where it was not."""
        found = self._kept.get(key)
        if found is not None:
            self._kept = {**{k: kept for k, kept in self._kept.items() if k != key}, key: found}
        return found

    def keep(self, key: Hashable, array: Array) -> None:
        """Keep an array, and forget those that were not used for longest where there are too many."""
        array.flags.writeable = False
        if array.nbytes > self._most:  # the others are worth more
            return
        kept = {**self._kept, key: array}
        size = sum(each.nbytes for each in kept.values())
        while kept and (size > self._most or len(kept) > MOST):
            size -= kept.pop(next(iter(kept))).nbytes
        self._kept = kept

    def forget(self, key: Hashable) -> None:
        """Keep an array no longer."""
        self._kept = {k: kept for k, kept in self._kept.items() if k != key}
