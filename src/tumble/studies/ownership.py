"""Who runs a trial, and whether that process is still alive.

A process that is killed can't say so.  Every trial therefore carries its owner from the moment it exists.  On
the owner's own machine the operating system says whether the process lives; from another machine its
heartbeat does.

Two processes are on one machine where host, boot and PID namespace are the same.  The name of the host is not
enough: containers and cloned machines share it, and the number of a process means nothing outside of its
namespace.
"""

from __future__ import annotations

import os
import secrets
import socket
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

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
    machine
        The boot and the PID namespace of the process; empty where they are not known.
    token
        Tells two runners of one process apart; empty where there is one.
    """

    kind: Literal["run", "hand"]
    host: str = ""
    pid: int = 0
    born: str = ""
    machine: str = ""
    token: str = ""

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """As it was stored, by this version or another one: keys that are not known are passed over."""
        known = {field.name for field in fields(cls)}
        return cls(**{key: value for key, value in stored.items() if key in known})

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    def is_process_of(self, other: Owner) -> bool:
        """Whether the two are one process, or both a person."""
        return replace(self, token="") == replace(other, token="")

    def is_here(self) -> bool:
        """Whether the owner is or was a process of this machine."""
        return bool(self.machine) and (self.host, self.machine) == (socket.gethostname(), this_machine())

    def is_alive_here(self) -> bool:
        """Whether that process is still running on this machine."""
        return self.is_here() and start_of(self.pid) == self.born


BY_HAND = Owner("hand")


def this_process() -> Owner:
    """The process that asks."""
    return Owner("run", socket.gethostname(), os.getpid(), start_of(os.getpid()) or "", this_machine())


def this_runner() -> Owner:
    """A runner of the process that asks: no other runner has the same."""
    return replace(this_process(), token=secrets.token_hex(4))


def this_machine() -> str:
    """The boot and the PID namespace of this process; empty where /proc shows another namespace.

    Without /proc there are no PID namespaces, and the address of the network card stands for the machine.
    """
    return _machine_of(os.getpid())


@lru_cache(maxsize=1)
def _machine_of(pid: int) -> str:
    """`this_machine` of the process with this number, which is asking: it never changes for a process."""
    if not Path("/proc/self").exists():
        return f"{uuid.getnode():x}"
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.stat("/proc/self/ns/pid").st_ino
        seen_as = int(os.readlink("/proc/self"))
    except OSError:
        return ""
    return f"{boot}:{namespace}" if seen_as == pid else ""


def start_of(pid: int) -> str | None:
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
