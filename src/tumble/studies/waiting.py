"""Who holds what is left of a hard budget, in words: nobody waits without knowing for whom."""

from __future__ import annotations

from collections.abc import Sequence

from tumble.studies.records import Entry

MOST = 5  # trials that are named


def holders(entries: Sequence[Entry]) -> str:
    """The trials in flight: who runs each of them, since when, and what to do about it."""
    running = [entry for entry in entries if entry.is_running]
    named = [_holder(entry) for entry in running[:MOST]]
    more = [f"and {len(running) - MOST} more"] if len(running) > MOST else []
    return "; ".join([*named, *more])


def _holder(entry: Entry) -> str:
    owner, start = entry.owner, entry.stored.datetime_start
    since = f" since {start:%Y-%m-%d %H:%M:%S}" if start else ""
    if owner is None or owner.kind == "hand":
        return f"trial {entry.trial}, by hand{since} (tell or skip it)"
    who = f"process {owner.pid} on {owner.host}"
    if owner.is_here() and not owner.is_alive_here():
        return f"trial {entry.trial}, by {who}{since}, which is dead (run the study, or skip the trial)"
    return f"trial {entry.trial}, by {who}{since}"
