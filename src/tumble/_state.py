"""An Optimizer as JSON, and back."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .core.algorithm import Warm
from .core.gp import Hyper
from .core.settings import Settings
from .errors import InputError
from .space import Space
from .trials import Suggestion, Trial

if TYPE_CHECKING:
    from .optimizer import Optimizer

FORMAT = 1


def dump(opt: "Optimizer") -> dict[str, Any]:
    """JSON-ready state of `opt`."""
    return {
        "format": FORMAT,
        "space": opt.space.to_dict(),
        "boxed": opt._boxed,
        "trials": opt.n_trials,
        "failures": opt.n_failures_allowed,
        "constraints": None if opt._names is None else list(opt._names),
        "seed": opt.seed,
        "method": opt.method,
        "settings": opt.settings.to_dict(),
        "on_exhausted": opt.on_exhausted,
        "history": [_dump_trial(t) for t in opt.trials],
        "warm": None if opt._warm is None else _plain(asdict(opt._warm)),
    }


def load(cls: "type[Optimizer]", data: Mapping[str, Any]) -> "Optimizer":
    """The Optimizer that `dump` wrote."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
        raise InputError(f"expected the dict of Optimizer.to_dict() in format {FORMAT}, found {found!r}")
    try:
        return _load(cls, data)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise InputError(
            f"the saved Optimizer is damaged ({type(error).__name__}: {error}); pass what to_dict gave"
        ) from error


def _load(cls: "type[Optimizer]", data: Mapping[str, Any]) -> "Optimizer":
    opt = cls(
        Space.from_dict(data["space"]), trials=data["trials"], failures=data["failures"],
        constraints=data["constraints"], seed=data["seed"], method=data["method"],
        settings=Settings.from_dict(data["settings"]), on_exhausted=data["on_exhausted"],
    )  # fmt: skip
    opt._boxed = data["boxed"]
    opt._trials = [_load_trial(opt, t) for t in data["history"]]
    if data["warm"] is not None:
        warm = data["warm"]
        opt._warm = Warm(_hyper(warm["objective"]), tuple(_hyper(h) for h in warm["constraints"]))
    return opt


def _dump_trial(trial: Trial) -> dict[str, Any]:
    """x is left out: it is u decoded."""
    record = asdict(
        replace(trial, x=None, suggestion=replace(trial.suggestion, x=None) if trial.suggestion else None)
    )
    return dict(_plain(record))


def _load_trial(opt: "Optimizer", data: dict[str, Any]) -> Trial:
    x = opt._decode(np.array(data["u"]))
    suggestion = data["suggestion"]
    if suggestion is not None:
        numbers = {k: np.nan if suggestion[k] is None else suggestion[k] for k in ("mean", "std")}
        predicted = {
            k: tuple(np.nan if v is None else v for v in suggestion[k])
            for k in ("constraint_means", "constraint_stds")
        }
        suggestion = Suggestion(**{**suggestion, **numbers, **predicted, "x": x})
    fields = {**data, "x": x, "u": tuple(data["u"]), "constraints": tuple(data["constraints"])}
    return Trial(**{**fields, "suggestion": suggestion})


def _hyper(data: dict[str, Any]) -> Hyper:
    return Hyper(tuple(data["lengthscales"]), data["variance"], data["noise"], data["additive"])


def _plain(value: Any) -> Any:
    """Lists for tuples and None for NaN, all the way down."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
