"""The peers by name: what they are called in tables, and how a searcher of theirs is made."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tumble.errors import InputError

if TYPE_CHECKING:
    from experiments.runs.searcher import Searcher
    from tumble.problems import Problem


class MissingPackage(InputError, ModuleNotFoundError):
    """A peer's package is not installed."""


@dataclass(frozen=True)
class Peer:
    """A peer's label in tables, "module:callable" that makes a searcher, and the extra that brings it."""

    label: str
    maker: str
    extra: str | None


PEERS: dict[str, Peer] = {
    "botorch": Peer("BoTorch LogEI/LogCEI", "botorch:LogImprovement", "botorch"),
    "qlognei": Peer("BoTorch qLogNEI", "botorch:NoisyImprovement", "botorch"),
    "scbo": Peer("BoTorch SCBO", "scbo:ScalableConstrained", "botorch"),
    "optuna": Peer("Optuna GPSampler", "optuna:gaussian_process", "study"),
    "optuna-eager": Peer("Optuna GPSampler, no random start", "optuna:eager_gaussian_process", "study"),
    "tpe": Peer("Optuna TPE", "optuna:parzen", "study"),
    "bayesian-optimization": Peer("bayesian-optimization", "bayes_opt:MostUsed", "experiments"),
    "random": Peer("random search", "uniform:RandomSearch", None),
}


def make_peer(name: str, problem: Problem, seed: int) -> Searcher:
    """A peer at work on a problem; its package is imported here.

    Raises
    ------
    InputError
        Where there is no such peer; as `MissingPackage` where its package is not installed.
    """
    if name not in PEERS:
        raise InputError(f"unknown peer {name!r}; choose among {', '.join(PEERS)}")
    peer = PEERS[name]
    module, _, maker = peer.maker.partition(":")
    try:
        searcher: Searcher = getattr(importlib.import_module(f"{__package__}.{module}"), maker)(problem, seed)
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"the peer {name!r} needs {error.name}, which is not installed: "
            f"install tumble's extra {peer.extra!r}, or leave the peer out"
        ) from error
    return searcher
