"""An Optimizer as JSON, and back."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from . import checks
from .core.process.gp import Hyper
from .core.process.models import Warm
from .core.settings import Settings
from .errors import InputError
from .space import Float, Space
from .trials import Mode, Status, Suggestion, Trial

if TYPE_CHECKING:
    from .optimizer import Optimizer

FORMAT = 1
MODES: tuple[Mode, ...] = get_args(Mode)
STATUSES: tuple[Status, ...] = get_args(Status)
OLD_MODES: Mapping[str, Mode] = {"risky": "bold", "safe": "careful"}  # what 0.1.0 called them
T = TypeVar("T")


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
    """The Optimizer that `dump` wrote; `InputError` where it is damaged, however deep inside."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
        raise InputError(f"expected the dict of Optimizer.to_dict() in format {FORMAT}, found {found!r}")
    try:
        return _load(cls, data)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"the saved Optimizer is damaged ({what}); pass what to_dict gave") from error


def _load(cls: "type[Optimizer]", data: Mapping[str, Any]) -> "Optimizer":
    opt = cls(
        Space.from_dict(data["space"]), trials=data["trials"], failures=data["failures"],
        constraints=data["constraints"], seed=data["seed"], method=data["method"],
        settings=Settings.from_dict(data["settings"]), on_exhausted=data["on_exhausted"],
    )  # fmt: skip
    opt._boxed = _one_of((True, False), data["boxed"], "boxed")
    if opt._boxed and not all(isinstance(p, Float) for p in opt.space.parameters.values()):
        raise InputError("a box has floats only")
    opt._trials = [_load_trial(opt, t) for t in data["history"]]
    numbers = [t.number for t in opt._trials]
    if any(after <= before for before, after in pairwise(numbers)):
        raise InputError(f"the numbers of the trials must rise, not {numbers}")
    opt._warm = _load_warm(opt, data["warm"])
    return opt


def _dump_trial(trial: Trial) -> dict[str, Any]:
    """x is left out: it is u decoded."""
    record = asdict(
        replace(trial, x=None, suggestion=replace(trial.suggestion, x=None) if trial.suggestion else None)
    )
    return dict(_plain(record))


def _load_trial(opt: "Optimizer", data: Mapping[str, Any]) -> Trial:
    _fields(data, Trial, "a trial")
    number = checks.whole(data["number"], "number", 0)
    u = tuple(checks.number(v, "a coordinate") for v in _list(data["u"], "u"))
    if not all(0.0 <= v <= 1.0 for v in u):
        raise InputError(f"the coordinates of trial {number} must lie in [0, 1]")
    x = opt._decode(np.array(u))
    constraints = tuple(_maybe(g, "a constraint") for g in _list(data["constraints"], "constraints"))
    if len(constraints) not in (0, len(opt.constraint_names)):
        raise InputError(f"trial {number} has {len(constraints)} constraints")
    crashed = _one_of((True, False), data["crashed"], "crashed")
    value = _maybe(data["value"], "value")
    if crashed and value is not None:
        raise InputError(f"trial {number} failed and has a value")
    return Trial(
        number=number,
        x=x,
        u=u,
        status=_one_of(STATUSES, data["status"], "status"),
        value=value,
        constraints=constraints,
        crashed=crashed,
        reason=_text(data["reason"], "reason"),
        billed=_one_of((True, False), data["billed"], "billed"),
        suggestion=None
        if data["suggestion"] is None
        else _load_suggestion(opt, number, x, data["suggestion"]),
    )


def _load_suggestion(opt: "Optimizer", number: int, x: Any, data: Mapping[str, Any]) -> Suggestion:
    _fields(data, Suggestion, "a suggestion")
    if data["number"] != number:
        raise InputError(f"the suggestion of trial {number} is called {data['number']}")

    def known(key: str) -> float:
        value = _maybe(data[key], key)
        return np.nan if value is None else value

    def known_all(key: str) -> tuple[float, ...]:
        values = [_maybe(v, key) for v in _list(data[key], key)]
        if len(values) > len(opt.constraint_names):
            raise InputError(f"the suggestion of trial {number} has {len(values)} {key}")
        return tuple(np.nan if v is None else v for v in values)

    return Suggestion(
        number=number,
        x=x,
        mode=mode_of(data["mode"]),
        rho=known("rho"),
        p_safe=known("p_safe"),
        mean=known("mean"),
        std=known("std"),
        failures_left=checks.whole(data["failures_left"], "failures_left", 0),
        trials_left=checks.whole(data["trials_left"], "trials_left", 0),
        p_each={_text(k, "p_each"): checks.number(p, "p_each") for k, p in data["p_each"].items()},
        constraint_means=known_all("constraint_means"),
        constraint_stds=known_all("constraint_stds"),
        why=_text(data["why"], "why"),
    )


def mode_of(word: Any) -> Mode:
    """The mode that a saved `word` means; what 0.1.0 wrote is translated."""
    return _one_of(MODES, OLD_MODES.get(word, word) if isinstance(word, str) else word, "mode")


def _load_warm(opt: "Optimizer", data: Any) -> Warm | None:
    """Where the next fit starts; `fit` leaves aside what is not of its size."""
    if data is None:
        return None
    return Warm(_hyper(opt, data["objective"]), tuple(_hyper(opt, h) for h in data["constraints"]))


def _hyper(opt: "Optimizer", data: Mapping[str, Any]) -> Hyper:
    lengthscales = tuple(_above_zero(v, "lengthscale") for v in _list(data["lengthscales"], "lengthscales"))
    if len(lengthscales) != opt.space.dim:
        raise InputError(f"{opt.space.dim} lengthscales are expected, not {len(lengthscales)}")
    share = checks.number(data["additive"], "additive")
    if not 0.0 <= share <= 1.0:
        raise InputError(f"additive must lie in [0, 1], not {share}")
    variance, noise = (_above_zero(data[key], key) for key in ("variance", "noise"))
    return Hyper(lengthscales, variance, noise, share, checks.whole(data.get("learned", 0), "learned", 0))


def _fields(data: Any, of: type, name: str) -> None:
    expected = {field.name for field in fields(of)}
    if not isinstance(data, Mapping) or set(data) != expected:
        raise InputError(f"{name} needs exactly {', '.join(sorted(expected))}")


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{name} must be a list, not {value!r}")
    return list(value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string, not {value!r}")
    return value


def _one_of(choices: tuple[T, ...], value: Any, name: str) -> T:
    for choice in choices:
        if type(value) is type(choice) and value == choice:
            return choice
    raise InputError(f"{name} must be one of {', '.join(map(str, choices))}, not {value!r}")


def _maybe(value: Any, name: str) -> float | None:
    return None if value is None else checks.number(value, name)


def _above_zero(value: Any, name: str) -> float:
    number = checks.number(value, name)
    if not number > 0.0:
        raise InputError(f"{name} must be above 0, not {number}")
    return number


def _plain(value: Any) -> Any:
    """Lists for tuples and None for NaN, all the way down."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
