"""What a runner keeps beside the study file, for itself and for the runner after it.

The folder `drill.toml.pending` has three kinds of files, each written whole or not at all:

=================  =========================================================================================
`result-7.json`    what came of trial 7, from its end until the storage has it
`refused-7.json`   the same where it can't be told, until a person removes it; a second one is `-7-2`
`rig-7.json`       the mark of the processes of trial 7, from their start to their end
=================  =========================================================================================

Where the folder can't be written to, nothing is kept, and the runner goes on without.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from tumble.errors import InputError
from tumble.parameters import Choice
from tumble.studies import storage_url
from tumble.studies.config import StudyConfig
from tumble.studies.ownership import Owner
from tumble.studies.processes import end_marked
from tumble.studies.whole_files import write_whole

T = TypeVar("T")
ATTEMPTS = 10  # at writing into a folder that other runners remove where it is empty


@dataclass(frozen=True)
class KeptResult:
    """What came of a trial that the storage does not know yet.

    Parameters
    ----------
    trial, parameters
        The trial and its setting.
    results
        What was measured.
    reason
        Why it failed; None where it did not crash.
    owner
        Who ran it.
    """

    trial: int
    parameters: dict[str, Choice]
    results: dict[str, float]
    reason: str | None
    owner: Owner


@dataclass(frozen=True)
class _LeftOver:
    """Processes of a trial, by the mark that they carry, and who started them."""

    trial: int
    mark: str
    owner: Owner


class KeptFiles:
    """The files beside one study file.

    Parameters
    ----------
    config
        The study; files of another study or storage are passed over.
    say
        Called with a sentence where nothing can be kept.
    """

    def __init__(self, config: StudyConfig, say: Callable[[str], None] = lambda text: None) -> None:
        self.folder = config.path.absolute().with_name(config.path.name + ".pending")
        self.say = say
        self._study = [config.name, storage_url.shown(config.storage)]

    def keep(self, result: KeptResult) -> None:
        """Keep a result until `forget`."""
        table = asdict(result) | {"owner": result.owner.to_dict()}
        self._write(f"result-{result.trial}.json", table)

    def results(self) -> list[KeptResult]:
        """Every result that is kept, in the order of the trials."""
        return sorted(self._read("result-*.json", _result_of), key=lambda result: result.trial)

    def forget(self, trial: int) -> None:
        """The storage has the result of this trial."""
        self._remove(f"result-{trial}.json")

    def set_aside(self, trial: int) -> Path:
        """Keep a result that can't be told for a person to look at; where it is now."""
        kept = self.folder / f"result-{trial}.json"
        aside = self.folder / f"refused-{trial}.json"
        again = count(2)
        while aside.exists():
            aside = self.folder / f"refused-{trial}-{next(again)}.json"
        try:
            return kept.replace(aside)
        except OSError:  # no right to: it stays where it is
            return kept

    @contextlib.contextmanager
    def running(self, trial: int, owner: Owner) -> Iterator[str]:
        """Keep the mark of the processes that are started inside; gives the mark."""
        mark, name = secrets.token_hex(16), f"rig-{trial}.json"
        self._write(name, {"trial": trial, "mark": mark, "owner": owner.to_dict()})
        try:
            yield mark
        finally:
            self._remove(name)

    def end_left_overs(self) -> None:
        """End the processes of runners of this machine that were killed."""
        for left in self._read("rig-*.json", _left_over_of):
            if left.owner.is_here() and not left.owner.is_alive_here():
                count = end_marked(left.mark)
                if count:
                    self.say(f"ended {count} processes that a killed runner left of trial {left.trial}")
                self._remove(f"rig-{left.trial}.json")

    def _write(self, name: str, table: dict[str, Any]) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self.folder.mkdir(exist_ok=True)
                write_whole(self.folder / name, json.dumps({"study": self._study} | table))
            except (OSError, InputError) as error:
                if attempt < ATTEMPTS:
                    continue  # perhaps another runner removed the folder, which was empty
                self.say(f"nothing can be kept in {self.folder} ({error}); a kill may cost a result")
            return

    def _read(self, pattern: str, build: Callable[[dict[str, Any]], T]) -> list[T]:
        """What is built of the tables of this study; what is no such table is passed over."""
        found, paths = list[T](), list[Path]()
        with contextlib.suppress(FileNotFoundError):  # another runner removed the folder, which was empty
            paths = sorted(self.folder.glob(pattern))
        for path in paths:
            with contextlib.suppress(
                OSError, ValueError, OverflowError, RecursionError
            ):  # too large, too deep
                table = json.loads(path.read_text(encoding="utf-8"))
                if isinstance(table, dict) and table.get("study") == self._study:
                    found.append(build(table))
        return found

    def _remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            (self.folder / name).unlink(missing_ok=True)
            self.folder.rmdir()  # where it is empty


def _result_of(table: dict[str, Any]) -> KeptResult:
    """The result in a table; keys that a later version wrote are passed over.

    Raises
    ------
    ValueError
        If it is no such table.
    """
    parameters, results = _part(table, "parameters", dict), _part(table, "results", dict)
    if any(isinstance(value, list | dict) for value in parameters.values()):
        raise ValueError("a parameter is no number and no choice")
    measured = {name: float(_part(results, name, (int, float))) for name in results}
    reason = _part(table, "reason", (str, type(None)))
    return KeptResult(_part(table, "trial", int), parameters, measured, reason, _owner_in(table))


def _left_over_of(table: dict[str, Any]) -> _LeftOver:
    """The processes in a table; `ValueError` if it is no such table."""
    return _LeftOver(_part(table, "trial", int), _part(table, "mark", str), _owner_in(table))


def _owner_in(table: dict[str, Any]) -> Owner:
    stored, known = _part(table, "owner", dict), Owner("run").to_dict()
    for key in known.keys() & (stored.keys() | {"kind"}):
        _part(stored, key, type(known[key]))
    return Owner.from_dict(stored)


def _part(table: dict[str, Any], key: str, kind: type | tuple[type, ...]) -> Any:
    """What a table has under a key; `ValueError` where it is of another kind, or not there."""
    if key not in table or isinstance(table[key], bool) or not isinstance(table[key], kind):
        raise ValueError(f"{key} is not what a runner writes")
    return table[key]
