"""What changes a study: ask, tell, skip, void, amend, with the functions that the command line uses.

Each takes the ledger, the body and the request's mark, and gives the table that is answered.  A request with
a key that the study has seen already gets its first answer, and nothing is done.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias

from tumble.errors import InputError
from tumble.server import bodies
from tumble.studies import undo
from tumble.studies.batches import ask_for
from tumble.studies.ledger import Ledger
from tumble.studies.locking import lock_requests
from tumble.studies.records import Entry
from tumble.studies.requests import Request, marking, trials_of
from tumble.studies.results import check_names
from tumble.studies.surprise import doubts_about, warning
from tumble.studies.tables import entry_table, suggestion_table

Table: TypeAlias = dict[str, Any]
REMEMBERED = 1000  # answers that are kept word by word, until the server ends


class Surprising(InputError):
    """A value is far from its prediction, and the client wants to ask a person first."""

    def __init__(self, trial: int, doubts: list[str]) -> None:
        super().__init__(f"trial {trial}: {'; '.join(doubts)}; is it right?")


def ask(ledger: Ledger, body: bodies.Ask, known: list[int]) -> Table:
    """The next trial, or several."""
    handed = [ledger.suggestion(n) for n in known if _is_handed_out(ledger.entry(n))]
    if body.n is None:
        return suggestion_table(handed[0] if handed else ledger.ask())
    missing = body.n - len(handed)
    found, why = (handed, "") if handed and missing <= 0 else ask_for(ledger, missing)
    trials = found if found is handed else [*handed, *found]
    return {"trials": [suggestion_table(trial) for trial in trials], "why_fewer": why}


def try_(ledger: Ledger, body: bodies.Try, known: list[int]) -> Table:
    """A setting of one's own; one whose asking was interrupted is taken up again, as by the next asking."""
    handed = [n for n in known if _is_handed_out(ledger.entry(n))]
    if handed:
        return suggestion_table(ledger.suggestion(handed[0]))
    return suggestion_table(ledger.ask() if known else ledger.try_(body.parameters))


def tell(ledger: Ledger, body: bodies.Tell, known: list[int]) -> Table:
    """Results, or a failure."""
    check_names(ledger.config, body.results)
    if body.transient and body.failed is None:
        raise InputError('transient belongs to failed: send "failed": "why" as well')
    if known:
        return _told(ledger, ledger.entry(known[0]))
    doubts = doubts_about(ledger, body.trial, body.results)
    if doubts and body.if_surprising == "refuse":
        raise Surprising(body.trial, doubts)
    if body.failed is not None:
        entry = ledger.fail(body.trial, body.failed, body.results, body.transient)
    else:
        entry = ledger.tell(body.trial, body.results)
    return _told(ledger, entry, [warning(ledger.config, body.trial, doubts)] if doubts else [])


def skip(ledger: Ledger, body: bodies.Skip, known: list[int]) -> Table:
    """Withdraw a trial."""
    return _told(ledger, ledger.entry(known[0]) if known else _skip(ledger, body))


def void(ledger: Ledger, body: bodies.Void, known: list[int]) -> Table:
    """Take a told trial out."""
    return _told(ledger, ledger.entry(known[0]) if known else undo.void(ledger, body.trial, body.reason))


def amend(ledger: Ledger, body: bodies.Amend, known: list[int]) -> Table:
    """Give a told trial other results."""
    check_names(ledger.config, body.results)
    if known:
        return _told(ledger, ledger.entry(known[0]))
    doubts = doubts_about(ledger, body.trial, body.results, correcting=True)
    entry = undo.amend(ledger, body.trial, body.results, body.failed)
    return _told(ledger, entry, [warning(ledger.config, body.trial, doubts)] if doubts else [])


class Memory:
    """Carries requests out, once for each key.

    The last answers are remembered word by word.  After a restart, and at another server of the study, the
    answer is made anew from the trial that carries the mark of the request.  One server at a time carries out
    a request with a key: else two that get the same one would both look for its mark before either left it.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Request, Table] = OrderedDict()

    def carry_out(
        self, ledger: Ledger, door: Callable[[Ledger, Any, list[int]], Table], body: Any, key: str | None
    ) -> Table:
        """The answer to a request."""
        if key is None:
            return door(ledger, body, [])
        request = Request.of(key, door.__name__, body.model_dump())
        if request in self._answers:
            return self._answers[request]
        with lock_requests(ledger.storage, ledger.config.name), marking(ledger, request):
            answer = door(ledger, body, trials_of(ledger, request))
        self._answers[request] = answer
        if len(self._answers) > REMEMBERED:
            self._answers.popitem(last=False)
        return answer


def _skip(ledger: Ledger, body: bodies.Skip) -> Entry:
    return ledger.skip(body.trial, body.reason, kind="never" if body.never else "skipped")


def _is_handed_out(entry: Entry) -> bool:
    """Whether its asking came to its end; else it is taken up again."""
    return not entry.is_running or (entry.owner is not None and entry.owner.kind == "hand")


def _told(ledger: Ledger, entry: Entry, warnings: list[str] | None = None) -> Table:
    return {**entry_table(entry, ledger.config), "warnings": warnings or []}
