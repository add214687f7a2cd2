"""Who runs a trial, and whether that process is still alive.

A process that is killed can't say so.  Every trial therefore carries its owner from the moment it exists.  On
the owner's own machine the operating system says whether the process lives; from another machine its
heartbeat does.
"""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

OWNER = "tumble:owner"  # the system attribute of a trial


@dataclass(frozen=True)
class Owner:
    """A process on a machine ("run"), or a person ("hand").

    Parameters
    ----------
    kind
        "run" or "hand".
    host, pid
        The machine and the number of the process; empty for a person.
    born
        When the process was started, in a form that no later process with the same number shares.
    """

    kind: Literal["run", "hand"]
    host: str = ""
    pid: int = 0
    born: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    def is_here(self) -> bool:
        """Whether the owner is or was a process of this machine."""
        return self.host == socket.gethostname()

    def is_alive_here(self) -> bool:
        """Whether that process is still running on this machine."""
        return self.is_here() and _start_of(self.pid) == self.born


BY_HAND = Owner("hand")


def this_process() -> Owner:
    """The process that asks."""
    return Owner("run", socket.gethostname(), os.getpid(), _start_of(os.getpid()) or "")


def _start_of(pid: int) -> str | None:
    """When a process was started; None where it is gone."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self").exists() else _start_without_proc(pid)
    return None if fields[0] in "ZX" else f"{boot[:8]}:{fields[19]}"


def _start_without_proc(pid: int) -> str | None:
    """Without /proc only the number of the process is known, not its start."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return ""
    return ""
