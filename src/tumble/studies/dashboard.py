"""optuna-dashboard for a study, on this machine only, with our figures beside its own.

The pages are served through a view of the storage that can only be read.  The view adds two things that the
dashboard shows and that are not stored: the constraints as a list, by the limits of the file as they are now,
and the figures of `tumble.studies.plotly_figures`, drawn when they are looked at.  Where the study can't be
used, or a page wants to change it, the page is told so in a sentence, which it shows.
"""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable, Container, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import optuna_dashboard
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from tumble.errors import InputError, TumbleError
from tumble.integrations.optuna.notes import outcome_of
from tumble.integrations.optuna.private import FrozenStudy
from tumble.serialize import plain
from tumble.studies import plotly_figures
from tumble.studies.errors import PortTaken
from tumble.studies.ledger import Ledger
from tumble.studies.outages import sentence_for
from tumble.studies.study_file import read_study_file
from tumble.studies.tables import entry_table

LOOPBACK = "127.0.0.1"
OWN_NAMES = (LOOPBACK, "localhost", "[::1]")
PLOT, CHUNK = "dashboard:plot_data:", 2045  # where, and in what pieces, the dashboard looks for figures
READS = (
    "get_study_id_from_name",
    "get_study_name_from_id",
    "get_study_directions",
    "get_study_user_attrs",
    "get_trial_id_from_study_id_trial_number",
)
WRITES = (
    "create_new_study",
    "delete_study",
    "set_study_user_attr",
    "set_study_system_attr",
    "create_new_trial",
    "set_trial_param",
    "set_trial_state_values",
    "set_trial_intermediate_value",
    "set_trial_user_attr",
    "set_trial_system_attr",
)


class ReadOnly(InputError):
    """The dashboard tried to change a study."""


def _delegated(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(self.ledger.storage, name)(*args, **kwargs)


def _refused(name: str) -> Callable[..., Any]:
    def refuse(self: object, *args: object, **kwargs: object) -> Any:
        raise ReadOnly(f"the dashboard only shows the study, so it can't carry out {name}")

    return refuse


_Delegating: Any = type(
    "_Delegating",
    (BaseStorage,),
    {name: _delegated(name) for name in READS} | {name: _refused(name) for name in WRITES},
)


class StudyView(_Delegating):  # type: ignore[misc]
    """A study's storage, to be read only."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._drawn: tuple[object, dict[str, str]] = (None, {})
        self._drawing = threading.Lock()  # a page asks for the figures several times at once

    def look(self) -> None:
        """Read the study file, and follow an edit; raises where the study can't be used now."""
        config = read_study_file(self.ledger.written.path)
        if config != self.ledger.written:
            self.ledger = Ledger(config, reading=True)
        self.ledger.storage.get_study_name_from_id(self.ledger.store.study_id)

    def get_all_studies(self) -> list[FrozenStudy]:
        """The study of this file, and no other of the same storage."""
        studies = self.ledger.storage.get_all_studies()
        shown = [copy.deepcopy(s) for s in studies if s.study_name == self.ledger.config.name]
        for study in shown:
            study.system_attrs = {**study.system_attrs, **self._figures()}
        return shown

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        """With the figures."""
        return {**self.ledger.storage.get_study_system_attrs(study_id), **self._figures()}

    def get_trial(self, trial_id: int) -> FrozenTrial:
        """With the list of constraints."""
        return self._with_list(self.ledger.store.get(trial_id))

    def get_all_trials(
        self, study_id: int, deepcopy: bool = True, states: Container[TrialState] | None = None
    ) -> list[FrozenTrial]:
        """With the list of constraints."""
        chosen = [t for t in self.ledger.store.trials() if states is None or t.state in states]
        return [self._with_list(trial) for trial in chosen]

    def get_best_trial(self, study_id: int) -> FrozenTrial:
        """The best safe one, as soon as there is one: a better value that failed is none."""
        best = self.ledger.status().best
        if best is None:
            return BaseStorage.get_best_trial(self, study_id)
        return self._with_list(self.ledger.entry(best.trial).stored)

    def _with_list(self, trial: FrozenTrial) -> FrozenTrial:
        shown = copy.deepcopy(trial)
        measured = dict(self.ledger.sampler.constraints_of(trial))
        kept = {k: v for k, v in trial.system_attrs.items() if not k.startswith("constraints")}
        shown.system_attrs = {**kept, "constraints": list(measured.values())} if measured else kept
        kind = outcome_of(trial).get("kind")
        if trial.state == TrialState.FAIL and kind != "failure":  # skipped and its like: not red as a failure
            shown.state = TrialState.PRUNED
            shown.user_attrs = {**shown.user_attrs, "tumble": kind or "lost"}
        return shown

    def _figures(self) -> dict[str, str]:
        """The figures in the dashboard's pieces; drawn again when a trial or the file has changed."""
        with self._drawing:
            ledger = self.ledger
            told = [entry_table(entry, ledger.config) for entry in ledger.entries() if not entry.is_running]
            now = (ledger.written, plain(told))
            if self._drawn[0] != now:
                self._drawn = (now, _pieces(ledger))
            return self._drawn[1]


def _pieces(ledger: Ledger) -> dict[str, str]:
    pieces = {}
    for name, figure in plotly_figures.figures(ledger).items():
        text = figure.to_json()
        for i in range(0, len(text), CHUNK):
            pieces[f"{PLOT}{name}:{i // CHUNK}"] = text[i : i + CHUNK]
    return pieces


def for_this_machine(pages: WSGIApplication) -> WSGIApplication:
    """The pages, unless they are asked for under a name that is not this machine's.

    A page from elsewhere can make its own name point to 127.0.0.1 and read what is served there; the browser
    then still sends that name.
    """

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        host = str(environ.get("HTTP_HOST", "")).lower()
        if re.sub(r":\d+$", "", host) in OWN_NAMES:
            return pages(environ, start)
        start("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"these pages are served to this machine only; open http://{LOOPBACK}/\n".encode()]

    return answer


def that_only_show(view: StudyView, pages: WSGIApplication) -> WSGIApplication:
    """The pages; a sentence, which they show, where something is to be changed or the study can't be used."""

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            reason = "the dashboard only shows the study; change it at the command line or over HTTP"
            return _refusal(start, "403 Forbidden", reason)
        try:
            if environ["PATH_INFO"].startswith("/api/"):
                view.look()
        except Exception as error:
            sentence = str(error) if isinstance(error, TumbleError) else sentence_for(error)
            if sentence is None:
                raise
            return _refusal(start, "503 Service Unavailable", sentence)
        return pages(environ, start)

    return answer


def _refusal(start: StartResponse, status: str, reason: str) -> list[bytes]:
    start(status, [("Content-Type", "application/json")])
    return [json.dumps({"reason": reason}).encode()]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """One request is not worth a line."""


def make(ledger: Ledger, port: int = 0) -> WSGIServer:
    """A server for the study's pages, bound to the loopback address."""
    view = StudyView(ledger)
    try:
        return make_server(
            LOOPBACK,
            port,
            for_this_machine(that_only_show(view, optuna_dashboard.wsgi(view))),
            server_class=_Server,
            handler_class=_Quiet,
        )
    except OSError as error:
        raise PortTaken(port, str(error.strerror)) from None


def serve(ledger: Ledger, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; `ready` gets the address."""
    with make(ledger, port) as server:
        ready(f"http://{LOOPBACK}:{server.server_port}/dashboard/studies/{ledger.store.study_id}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
