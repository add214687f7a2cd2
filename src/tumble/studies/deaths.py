"""Which trials in flight have lost their process.

The operating system answers for this machine, at once.  For another machine silence does: a heartbeat that
has expired, or a first one that never came.  Silence is believed only after a second look, because the
heartbeats of all machines are old at the moment when a storage comes back.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from tumble.studies.ownership import Owner
from tumble.studies.records import Entry
from tumble.studies.storage import GRACE, HEARTBEAT
from tumble.studies.store import TrialStore

SECOND_LOOK = 2.0 * HEARTBEAT  # seconds from the first look that finds a trial silent


class DeathWatch:
    """Looks for the trials of dead processes, and remembers since when it found them silent.

    Parameters
    ----------
    store
        The trials in their storage.
    """

    def __init__(self, store: TrialStore) -> None:
        self._store = store
        self._silent_since: dict[int, float] = {}  # by the id of a trial

    def abandoned(
        self, entries: Sequence[Entry], asking: Owner | None = None, before: float = math.inf
    ) -> list[Entry]:
        """The trials in flight whose process is dead, the earliest first.

        Parameters
        ----------
        entries
            The trials.
        asking
            A runner that runs no trial at the moment: those in its name were lost to a fault of the storage.
        before
            Only trials with a lower number.
        """
        owned = [(e, e.owner) for e in entries if e.is_running and e.owner and e.owner.kind == "run"]
        elsewhere = [e for e, owner in owned if not owner.is_here()]
        silent = self._silent(elsewhere)
        dead = [
            e
            for e, owner in owned
            if _is_lost(owner, asking)
            or (owner.is_here() and not owner.is_alive_here())
            or e.trial_id in silent
        ]
        return [e for e in dead if e.trial < before]

    def _silent(self, entries: Sequence[Entry]) -> set[int]:
        """The ids of the trials that have been silent for long enough."""
        if not entries:
            return set()
        expired = self._store.silent_ids()
        unheard = {e.trial_id for e in entries if not self._store.has_heartbeat(e.trial_id)} - expired
        now = time.monotonic()
        self._silent_since = {i: self._silent_since.get(i, now) for i in expired | unheard}
        waits = {i: GRACE if i in unheard else SECOND_LOOK for i in self._silent_since}
        return {i for i, since in self._silent_since.items() if now - since >= waits[i]}


def _is_lost(owner: Owner, asking: Owner | None) -> bool:
    return asking is not None and bool(asking.token) and owner == asking
