"""What the sampler writes to a trial of Optuna, and how it is read back.

==============  ============================================================================================
`DECISION`      what the sampler decided: mode, rho, p_safe, why, the setting, and the fitted hyperparameters
`OUTCOME`       kind (one of `Kind`), reason of a trial that is FAIL, or whose constraints are not known
`BILLED`        False on old data, which charge neither trials nor failures
`TICKET`        the turn of a trial that waited in Optuna's queue (of others it is their number)
`FIXED`         the values of parameters that are not searched
`BY_HAND`       True on a trial that sends no heartbeats, because a person or a script runs it
==============  ============================================================================================

All of these are system attributes.  The names are stored in people's databases, so they never change.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from optuna.trial import FrozenTrial

from tumble.core.process.covariance import Hyper
from tumble.core.process.models import Fitted
from tumble.core.process.outputs import Warp
from tumble.core.student import Law
from tumble.serialize import OLD_MODES, rounded
from tumble.trials import Suggestion

DECISION = "tumble:decision"
OUTCOME = "tumble:outcome"
BILLED = "tumble:billed"
TICKET = "tumble:ticket"
BY_HAND = "tumble:by-hand"
FIXED = "tumble:fixed"
CHANGED = "tumble:changed"  # never stored: what `changes.changed_trials` lays over a trial
REASON = "tumble:reason"  # a user attribute, to be set before a trial is told as failed
TRANSIENT = "tumble:transient"  # a user attribute, to be set where only the infrastructure failed
ATTRIBUTE_LIMIT = 60_000  # characters; MySQL's TEXT is the shortest with 65 535, and marks come to a note
REASON_LIMIT = 500  # characters
MARK = "problem"  # in a decision: the mark of the parameters and limits for which it was made
LIMITS = "limits"  # in a decision: the mark of the limits alone, by which its P(safe) is judged
DIGITS = 9  # of a number in a note

VoidKind = Literal["transient", "skipped", "unusable", "unstarted", "voided"]  # it neither counts nor teaches
Kind = Literal["failure", "never", "unmeasured"] | VoidKind


def decision(trial: FrozenTrial) -> dict[str, Any]:
    """What the sampler decided for a trial; empty where it decided nothing."""
    note = dict(trial.system_attrs.get(DECISION) or {})
    if note.get("mode") in OLD_MODES:
        note["mode"] = OLD_MODES[note["mode"]]
    return note


def setting(trial: FrozenTrial) -> dict[str, Any]:
    """The trial's parameters: as stored, or as decided where it has not asked for all of them yet.

    Fixed ones are among them; it is empty while nothing is decided.
    """
    values = {**decision(trial).get("params", {}), **trial.params}
    return {**values, **(trial.system_attrs.get(FIXED) or {})} if values else {}


def outcome(kind: Kind, reason: str) -> dict[str, str]:
    """What is stored under `OUTCOME`."""
    return {"kind": kind, "reason": storable(reason)}


def storable(reason: str) -> str:
    """The beginning of a reason, as text that every file, database and terminal takes."""
    text = reason[:REASON_LIMIT]
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)[:REASON_LIMIT]


def outcome_of(trial: FrozenTrial) -> dict[str, str]:
    """What was stored under `OUTCOME`; empty where nothing was."""
    return dict(trial.system_attrs.get(OUTCOME) or {})


def to_note(suggestion: Suggestion, fitted: Fitted | None, names: Sequence[str]) -> dict[str, Any]:
    """What is stored under `DECISION`; NaN becomes None, because not every database takes it."""
    predicted = zip(names, suggestion.constraint_means, suggestion.constraint_stds, strict=False)
    note: dict[str, Any] = {
        "mode": suggestion.mode,
        "rho": _rounded(suggestion.rho),
        "p_safe": _rounded(suggestion.p_safe),
        "why": suggestion.why,
        "mean": _rounded(suggestion.mean),
        "std": _rounded(suggestion.std),
        "failures_left": suggestion.failures_left,
        "constraints": {name: [_rounded(mean), _rounded(std)] for name, mean, std in predicted},
        "params": suggestion.x,
    }
    for name in ("expected_gain", "gain_bound"):
        value = getattr(suggestion, name)
        if value is not None:
            note[name] = _rounded(value)
            note["budget"] = suggestion.budget
    if suggestion.alarm is not None:
        note["alarm"] = suggestion.alarm
    if fitted is not None:
        hypers = [fitted.objective, *fitted.constraints]
        rows = [(*h.lengthscales, h.variance, h.noise, h.additive) for h in hypers]
        note["warm"] = [[*map(_rounded, row), h.learned_from] for row, h in zip(rows, hypers, strict=True)]
        if fitted.warps:
            note["warps"] = [[_rounded(w.centre), _rounded(w.knee), w.chosen_from] for w in fitted.warps]
        if fitted.laws:
            note["laws"] = [[_rounded(law.width), _rounded(law.freedom)] for law in fitted.laws]
    return shortened(note)


def shortened(note: dict[str, Any]) -> dict[str, Any]:
    """The note, without its largest parts where a storage would refuse the whole."""
    for droppable in ("params", "why", "alarm", "warps", "laws"):
        if len(json.dumps(note)) <= ATTRIBUTE_LIMIT:
            break
        note = {key: value for key, value in note.items() if key != droppable}
    return note


def to_suggestion(trial: FrozenTrial, x: dict[str, Any], names: Sequence[str]) -> Suggestion | None:
    """The suggestion that a trial came from, as far as controller, calibration and gain need it."""
    note = decision(trial)
    if note.get("p_safe") is None:
        return None
    predicted = [note.get("constraints", {}).get(name) or [None, None] for name in names]
    means, stds = ([np.nan if p[k] is None else p[k] for p in predicted] for k in (0, 1))
    budget = None if note.get("budget") is None else (note["budget"][0], note["budget"][1])
    return Suggestion(
        trial.number, x, note["mode"], note["rho"], note["p_safe"], np.nan, np.nan,
        note.get("failures_left", 0), 0,
        constraint_means=tuple(means), constraint_stds=tuple(stds),
        expected_gain=note.get("expected_gain"), gain_bound=note.get("gain_bound"),
        budget=budget,
    )  # fmt: skip


def has_other_limits(trial: FrozenTrial, limits: str | None) -> bool:
    """Whether a trial was decided for other limits than those of this mark: its P(safe) was about them."""
    return decision(trial).get(LIMITS, limits) != limits


def last_fit(trials: Sequence[FrozenTrial], names: Sequence[str], dim: int, since: int = 0) -> Fitted | None:
    """The hyperparameters of the latest decision from trial `since` on that fit space and constraints."""
    for trial in reversed([t for t in trials if t.number >= since]):
        note = decision(trial)
        rows = note.get("warm")
        if rows and len(rows) == 1 + len(names) and all(len(row) == dim + 4 for row in rows):
            hypers = [Hyper(tuple(row[:dim]), *row[dim:]) for row in rows]
            laws = _laws(note.get("laws") or [])
            return Fitted(hypers[0], tuple(hypers[1:]), _warps(note.get("warps") or []), laws)
    return None


def _laws(rows: list[list[Any]]) -> tuple[Law, ...]:
    """The laws of a note; degrees of freedom that are None are those of a normal law."""
    return tuple(Law(width, np.inf if freedom is None else freedom) for width, freedom in rows)


def _warps(rows: list[list[Any]]) -> tuple[Warp, ...]:
    """The warps of a note; a knee that is None lies at infinity."""
    return tuple(
        Warp(centre, np.inf if knee is None else knee, both=output > 0, chosen_from=chosen_from)
        for output, (centre, knee, chosen_from) in enumerate(rows)
    )


def _rounded(value: float) -> float | None:
    return rounded(value, DIGITS)
