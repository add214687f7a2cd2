"""Methods by name -> searchers: tumble's own, listed by `tumble.methods`, and the peers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

import tumble.methods
from tumble import Optimizer, Settings
from tumble.errors import BudgetExhausted, InputError
from tumble.methods import METHODS, MethodName
from tumble.problems import Evaluation, Problem
from tumble.trials import OnExhausted

from ..peers.registry import PEERS, make_peer
from ..peers.settings import SETTINGS
from .searcher import NextTrial, Searcher
from .settings import paper_settings

if TYPE_CHECKING:
    from .records import Spec

__all__ = [
    "FREE",
    "LABELS",
    "PEERS",
    "TumbleSearcher",
    "make",
    "make_peer",
    "settings_of",
    "when_spent",
]

Array = NDArray[np.float64]

FREE = tuple(sorted(tumble.methods.FREE))  # in the order of the paper's tables
LABELS = {
    **{name: method.label for name, method in METHODS.items()},
    **{name: peer.label for name, peer in PEERS.items()},
}


def settings_of(method: str, block: str, problem: str) -> dict[str, Any]:
    """The settings in full, JSON-ready: a peer's own, else tumble's of that block ("paper" or "default")."""
    if method in PEERS:
        return SETTINGS[method]
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}; choose among {', '.join((*METHODS, *PEERS))}")
    if block == "paper":
        return paper_settings(problem).to_dict()
    if block == "default":
        return Settings().to_dict()
    raise InputError(f"unknown block of settings {block!r}; choose 'paper' or 'default'")


def when_spent(method: str) -> OnExhausted:
    """Once its failures are spent, a method with the controller goes on and any other stops (§5.2)."""
    return "safe" if method in METHODS and METHODS[method].controlled else "stop"


def make(spec: Spec, problem: Problem) -> Searcher:
    """The searcher of a spec."""
    if spec.method in PEERS:
        return make_peer(spec.method, problem, spec.seed)
    return TumbleSearcher(spec, problem)


class TumbleSearcher:
    """`tumble.Optimizer` as a searcher; `kind` is a subclass whose method is not one of tumble's own."""

    def __init__(self, spec: Spec, problem: Problem, kind: type[Optimizer] = Optimizer) -> None:
        self._problem = problem
        self._goes_on = spec.on_exhausted == "safe" and spec.settings["delta"] is None
        self._optimizer = kind(
            problem.bounds if problem.space is None else problem.space,
            trials=spec.trials,
            failures=spec.failures,
            constraints=list(problem.constraint_names),
            seed=spec.seed,
            method=cast(MethodName, spec.method if spec.method in METHODS else None),
            settings=Settings.from_dict(spec.settings),
            on_exhausted=spec.on_exhausted,
        )

    def ask(self) -> NextTrial:
        """As `Optimizer.ask`; by the paper's rule a run goes on beyond B."""
        try:
            suggestion = self._optimizer.ask()
        except BudgetExhausted:
            if not self._goes_on:
                raise
            suggestion = self._optimizer.suggest(len(self._optimizer.trials))
        x = suggestion.x if self._problem.space is None else self._problem.point(suggestion.x)
        return NextTrial(np.asarray(x), suggestion)

    def tell(self, trial: NextTrial, outcome: Evaluation | None) -> None:
        """As `Optimizer.tell`."""
        assert trial.suggestion is not None
        asked = trial.suggestion.number < len(self._optimizer.trials)
        where = trial.suggestion if asked else trial.suggestion.x
        if outcome is None:
            self._optimizer.tell(where, failed=True, reason="crashed")
        else:
            self._optimizer.tell(where, outcome.value, constraints=list(outcome.constraints))

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """As `Optimizer.tell` with ``billed=False``."""
        where = x if self._problem.space is None else self._problem.params(x)
        self._optimizer.tell(where, outcome.value, constraints=list(outcome.constraints), billed=False)
