"""Trials, hyperparameters and the whole state of a search as JSON, and back.

This room knows trials, settings and spaces, and no `Optimizer`: what is read here goes through
`Optimizer.from_trials`, which checks that the parts fit each other.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from . import checks
from .core.process.covariance import Hyper
from .core.process.models import Fitted
from .core.process.outputs import Warp
from .core.settings import Settings
from .core.student import Law
from .errors import InputError
from .explanation import FIRST_TIME, IDLE, NEARER, STONE, SURVEY
from .methods import MethodName
from .space import Float, Space
from .trial_checks import STATUSES
from .trials import Change, ChangeKind, Mode, OnExhausted, Suggestion, Trial

FORMAT = 1
KEYS = {
    "format", "space", "boxed", "trials", "failures", "constraints", "seed", "method", "settings",
    "on_exhausted", "history", "warm",
}  # of a state, beside "noise" where one is known  # fmt: skip
MODES: tuple[Mode, ...] = get_args(Mode)
CHANGES: tuple[ChangeKind, ...] = get_args(ChangeKind)
OLD_MODES: Mapping[str, Mode] = {"risky": "bold", "safe": "careful"}  # what 0.1.0 called them
# Of a suggestion: they are kept elsewhere.
NOT_SAVED = {"u", "fitted", "stone", "idle", "survey", "turned", "nearer"}
ADDED = {"held_by", "expected_gain", "gain_bound", "budget", "alarm"}  # of a suggestion: not in 0.1.0


@dataclass(frozen=True)
class State:
    """All that a search remembers: the arguments of `Optimizer.from_trials`."""

    space: Space
    boxed: bool  # whether the user gave bounds, and x is an array
    trials: int
    failures: int | None
    constraints: tuple[str, ...] | None
    seed: int
    method: MethodName | None
    settings: Settings
    on_exhausted: OnExhausted
    history: tuple[Trial, ...]
    fitted: Fitted | None
    noise: Mapping[str, float]


def state_to_json(state: State) -> dict[str, Any]:
    """A state as a dict that `json` can write."""
    saved = {
        "format": FORMAT,
        "space": state.space.to_dict(),
        "boxed": state.boxed,
        "trials": state.trials,
        "failures": state.failures,
        "constraints": None if state.constraints is None else list(state.constraints),
        "seed": state.seed,
        "method": state.method,
        "settings": state.settings.to_dict(),
        "on_exhausted": state.on_exhausted,
        "history": [trial_to_json(t) for t in state.history],
        "warm": fitted_to_json(state.fitted),
    }
    return {**saved, "noise": dict(state.noise)} if state.noise else saved


def state_from_json(data: Mapping[str, Any]) -> State:
    """The state that `state_to_json` wrote."""
    checks.keys(data, "the state", KEYS | ({"noise"} & set(data)))
    return State(
        space=Space.from_dict(data["space"]),
        boxed=checks.truth(data["boxed"], "boxed"),
        trials=data["trials"],
        failures=data["failures"],
        constraints=data["constraints"],
        seed=data["seed"],
        method=data["method"],
        settings=Settings.from_dict(data["settings"]),
        on_exhausted=data["on_exhausted"],
        history=tuple(trial_from_json(t) for t in data["history"]),
        fitted=fitted_from_json(data["warm"]),
        noise=checks.noise(data.get("noise")),
    )


@contextmanager
def reading(data: Any) -> Iterator[None]:
    """Say of whatever goes wrong inside that the saved state is damaged, and where."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
        raise InputError(
            f"expected the dict of Optimizer.to_dict() in format {FORMAT}, found {checks.show(found)}"
        )
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"the saved Optimizer is damaged ({what}); pass what to_dict gave") from error


def box(space: Space) -> list[tuple[float, float]]:
    """The bounds of a space of plain floats."""
    parameters = space.parameters.values()
    bounds = [(p.low, p.high) for p in parameters if isinstance(p, Float)]
    if len(bounds) < len(parameters) or Space.from_bounds(bounds).with_known(space.known) != space:
        raise InputError('"boxed" is true, but the parameters are not the plain floats x0, x1, … of a box')
    return bounds


def trial_to_json(trial: Trial) -> dict[str, Any]:
    """A trial as a dict that `json` can write; x is left out, because it is u decoded."""
    record = asdict(replace(trial, x=None, suggestion=None))
    if not trial.changes:
        del record["changes"]  # as earlier versions wrote it
    if trial.suggestion is not None:
        suggestion = asdict(replace(trial.suggestion, x=None, fitted=None))
        record["suggestion"] = {k: v for k, v in suggestion.items() if k not in NOT_SAVED}
    return dict(plain(record))


def trial_from_json(data: Mapping[str, Any]) -> Trial:
    """The trial that `trial_to_json` wrote, without its x: `Optimizer.from_trials` decodes u."""
    known = {field.name for field in fields(Trial)}
    checks.keys(data, "a trial", known if "changes" in data else known - {"changes"})
    number = checks.whole(data["number"], "number", 0)
    u = tuple(checks.number(v, "a coordinate") for v in _items(data, "u"))
    return Trial(
        number=number,
        x=None,
        u=u,
        status=checks.one_of(data["status"], "status", STATUSES),
        value=_maybe(data["value"], "value"),
        constraints=tuple(_maybe(g, "a constraint") for g in _items(data, "constraints")),
        crashed=checks.truth(data["crashed"], "crashed"),
        reason=checks.text(data["reason"], "reason"),
        billed=checks.truth(data["billed"], "billed"),
        suggestion=None
        if data["suggestion"] is None
        else replace(suggestion_from_json(data["suggestion"]), u=u),
        changes=tuple(change_from_json(c) for c in checks.items(data.get("changes", []), "changes")),
    )


def change_from_json(data: Mapping[str, Any]) -> Change:
    """What a trial was before a change, as `trial_to_json` wrote it."""
    checks.keys(data, "a change", (field.name for field in fields(Change)))
    return Change(
        number=checks.whole(data["number"], "number", 0),
        kind=checks.one_of(data["kind"], "kind", CHANGES),
        at=checks.text(data["at"], "at"),
        reason=checks.text(data["reason"], "reason"),
        value=_maybe(data["value"], "value"),
        constraints=tuple(_maybe(g, "a constraint") for g in _items(data, "constraints")),
        crashed=checks.truth(data["crashed"], "crashed"),
        failure=checks.text(data["failure"], "failure"),
    )


def suggestion_from_json(data: Mapping[str, Any]) -> Suggestion:
    """The suggestion of a trial that `trial_to_json` wrote, without its x."""
    data = checks.table(data, "a suggestion")
    missing = ADDED - set(data)
    checks.keys(data, "a suggestion", {field.name for field in fields(Suggestion)} - NOT_SAVED - missing)

    def known(value: Any, key: str) -> float:
        number = _maybe(value, key)
        return np.nan if number is None else number

    why = checks.text(data["why"], "why")
    return Suggestion(
        number=checks.whole(data["number"], "number", 0),
        x=None,
        mode=mode_of(data["mode"]),
        rho=known(data["rho"], "rho"),
        p_safe=known(data["p_safe"], "p_safe"),
        mean=known(data["mean"], "mean"),
        std=known(data["std"], "std"),
        failures_left=checks.whole(data["failures_left"], "failures_left", 0),
        trials_left=checks.whole(data["trials_left"], "trials_left", 0),
        p_each={checks.text(k, "p_each"): checks.number(p, "p_each") for k, p in data["p_each"].items()},
        constraint_means=tuple(known(v, "constraint_means") for v in _items(data, "constraint_means")),
        constraint_stds=tuple(known(v, "constraint_stds") for v in _items(data, "constraint_stds")),
        why=why,
        held_by=tuple(
            checks.whole(v, "held_by", 0) for v in checks.items(data.get("held_by", []), "held_by")
        ),
        expected_gain=_maybe(data.get("expected_gain"), "expected_gain"),
        gain_bound=_maybe(data.get("gain_bound"), "gain_bound"),
        budget=None if data.get("budget") is None else _budget(data["budget"]),
        alarm=None if data.get("alarm") is None else checks.text(data["alarm"], "alarm"),
        stone=STONE in why,
        idle=IDLE in why,
        survey=SURVEY in why or FIRST_TIME in why,
        nearer=NEARER in why,
    )


def _budget(data: Any) -> tuple[int, int]:
    trials, failures = (checks.whole(v, "budget", 0) for v in checks.items(data, "budget"))
    return trials, failures


def mode_of(word: Any) -> Mode:
    """The mode that a saved `word` means; what 0.1.0 wrote is translated."""
    return checks.one_of(OLD_MODES.get(word, word) if isinstance(word, str) else word, "mode", MODES)


def fitted_to_json(fitted: Fitted | None) -> dict[str, Any] | None:
    """Hyperparameters as a dict that `json` can write."""
    if fitted is None:
        return None
    limits = [_hyper_to_json(hyper) for hyper in fitted.constraints]
    saved: dict[str, Any] = {"objective": _hyper_to_json(fitted.objective), "constraints": limits}
    if fitted.warps:
        saved["warps"] = [plain(asdict(warp)) for warp in fitted.warps]  # knee None: at infinity
    if fitted.laws:
        saved["laws"] = [plain(asdict(law)) for law in fitted.laws]  # freedom None: a normal law
    return saved


def fitted_from_json(data: Any) -> Fitted | None:
    """The hyperparameters that `fitted_to_json` wrote."""
    if data is None:
        return None
    warps = tuple(_warp(w) for w in checks.items(data.get("warps", []), "warps"))
    laws = tuple(_law(law) for law in checks.items(data.get("laws", []), "laws"))
    limits = tuple(_hyper(h) for h in _items(data, "constraints"))
    if len(laws) > len(limits):
        raise InputError(f"there are {len(laws)} laws, and hyperparameters of {len(limits)} constraints")
    return Fitted(_hyper(data["objective"]), limits, warps, laws)


def _items(data: Mapping[str, Any], key: str) -> list[Any]:
    return checks.items(data[key], key)


def _maybe(value: Any, name: str) -> float | None:
    return None if value is None else checks.number(value, name)


def plain(value: Any) -> Any:
    """Lists for tuples, None for what is not finite and Python's numbers for others: JSON knows no more."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Decimal | Fraction):
        return plain(checks.to_float(value))
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _hyper_to_json(hyper: Hyper) -> dict[str, Any]:
    saved = dict(plain(asdict(hyper)))
    saved["learned"] = saved.pop("learned_from")
    return saved


def _hyper(data: Mapping[str, Any]) -> Hyper:
    lengthscales = tuple(checks.above_zero(v, "lengthscale") for v in _items(data, "lengthscales"))
    share = checks.within(data["additive"], "additive", 0.0, 1.0)
    variance, noise = (checks.above_zero(data[key], key) for key in ("variance", "noise"))
    return Hyper(lengthscales, variance, noise, share, checks.whole(data.get("learned", 0), "learned", 0))


def _warp(data: Mapping[str, Any]) -> Warp:
    return Warp(
        centre=checks.number(data["centre"], "centre"),
        knee=np.inf if data["knee"] is None else checks.above_zero(data["knee"], "knee"),
        both=checks.truth(data["both"], "both"),
        chosen_from=checks.whole(data["chosen_from"], "chosen_from", 0),
    )


def _law(data: Mapping[str, Any]) -> Law:
    freedom = data["freedom"]
    return Law(
        width=checks.above_zero(data["width"], "width"),
        freedom=np.inf if freedom is None else checks.above_zero(freedom, "freedom"),
    )


def rounded(value: float | None, digits: int) -> float | None:
    """A number with so many significant digits; None where it is not finite, or missing."""
    return None if value is None or not np.isfinite(value) else float(f"{value:.{digits}g}")
