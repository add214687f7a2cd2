"""Names of methods -> searchers: tumble's own policies, and the peers of `experiments.peers`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tumble.errors import InputError
from tumble.problems import Evaluation, Problem

from .settings import paper_settings

if TYPE_CHECKING:
    from .records import Spec
    from .searcher import Proposal, Searcher

Array = NDArray[np.float64]

FREE = ("ei", "mes", "pi", "ucb", "xs")
CONSTRAINED = ("eic", "pesc", "safe-set", "xsf", "xsf-ei")
PEERS = {
    "botorch": "experiments.peers:make_botorch",  # LogEI, or LogCEI under constraints
    "scbo": "experiments.peers:make_scbo",
    "optuna": "experiments.peers:make_optuna",
}
LABELS = {
    "ei": "EI",
    "mes": "MES",
    "pi": "PI",
    "ucb": "UCB",
    "xs": "Xs",
    "eic": "EIC",
    "pesc": "PESC",
    "safe-set": "safe set",
    "xsf": "XsF",
    "xsf-ei": "XsF with EI",
    "botorch": "BoTorch LogEI/LogCEI",
    "scbo": "BoTorch SCBO",
    "optuna": "Optuna GPSampler",
}


def settings_of(method: str, block: str, problem: str) -> dict[str, Any]:
    """The settings in full, JSON-ready: a peer's own, else tumble's of that block ("paper" or "default")."""
    if method in PEERS:
        settings: dict[str, Any] = importlib.import_module("experiments.peers").SETTINGS[method]
        return settings
    if method not in FREE + CONSTRAINED:
        raise InputError(
            f"unknown method {method!r}; choose among {', '.join((*FREE, *CONSTRAINED, *PEERS))}"
        )
    if block == "paper":
        return paper_settings(problem).to_dict()
    if block == "default":
        from tumble import Settings

        return Settings().to_dict()
    raise InputError(f"unknown block of settings {block!r}; choose 'paper' or 'default'")


def make(spec: Spec, problem: Problem) -> Searcher:
    """The searcher of a spec."""
    if spec.method in PEERS:
        module, _, function = PEERS[spec.method].partition(":")
        searcher: Searcher = getattr(importlib.import_module(module), function)(problem, spec.seed)
        return searcher
    return TumbleSearcher(spec, problem)


class TumbleSearcher:
    """`tumble.Optimizer` as a searcher."""

    def __init__(self, spec: Spec, problem: Problem) -> None:
        from tumble import Optimizer, Settings

        self._optimizer = Optimizer(
            problem.bounds,
            trials=spec.trials,
            failures=spec.failures,
            constraints=list(problem.constraint_names),
            seed=spec.seed,
            method=spec.method,
            settings=Settings.from_dict(spec.settings),
            on_exhausted=spec.on_exhausted,
        )

    def ask(self) -> Proposal:
        """As `Optimizer.ask`."""
        from .searcher import Proposal

        s = self._optimizer.ask()
        return Proposal(np.asarray(s.x), s.mode, s.rho, s.p_safe, handle=s)

    def tell(self, proposal: Proposal, outcome: Evaluation | None) -> None:
        """As `Optimizer.tell`."""
        if outcome is None:
            self._optimizer.tell(proposal.handle, failed=True, reason="crashed")
        else:
            self._optimizer.tell(proposal.handle, outcome.value, constraints=list(outcome.constraints))

    def inform(self, x: Array, outcome: Evaluation) -> None:
        """As `Optimizer.tell` with ``billed=False``."""
        self._optimizer.tell(x, outcome.value, constraints=list(outcome.constraints), billed=False)
