"""What is stored with a trial whose setting was not searched for: a start, the recommendation, one's own."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tumble.explanation import explain
from tumble.integrations.optuna.notes import ATTRIBUTE_LIMIT, LIMITS, MARK, to_note
from tumble.optimizer import Optimizer
from tumble.parameters import Choice
from tumble.shown import NOT_SEEN, safety
from tumble.studies.config import StudyConfig
from tumble.trials import Recommended, Suggestion


def is_part_of(setting: Mapping[str, Choice], whole: Mapping[str, Choice]) -> bool:
    """Whether `whole` has every value of `setting`; numbers are the same but for rounding."""
    return all(name in whole and _same(value, whole[name]) for name, value in setting.items())


def _same(one: Choice, other: Choice) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other


def start_note(number: int, setting: Mapping[str, Choice]) -> dict[str, Any]:
    """A setting that is tried first."""
    why = f"Trial {number}: the setting given under [start]."
    return {"mode": "start", "rho": None, "p_safe": None, "why": why, "params": dict(setting)}


def marks_of(config: StudyConfig) -> dict[str, str]:
    """What is kept with each decision, to know later whether it was made for the study as it is then."""
    return {MARK: config.mark, LIMITS: config.limits_mark}


def confirm_note(config: StudyConfig, optimizer: Optimizer, found: Recommended) -> dict[str, Any]:
    """The recommendation once more, with what the model predicts of it."""
    value = f"predicted {found.mean:.4g}" if found.mean == found.mean else NOT_SEEN
    why = f"confirms the recommendation: {safety(found.p_safe)}, {value}"
    judged = _judged(config, optimizer, found.x)
    said = replace(judged, mode="confirm", why=why, mean=found.mean, std=found.std, p_safe=found.p_safe)
    return _own_note(config, said, optimizer.constraint_names)


def try_note(config: StudyConfig, optimizer: Optimizer, setting: Mapping[str, Choice]) -> dict[str, Any]:
    """A setting of one's own, with what the model predicts of it."""
    judged = _judged(config, optimizer, setting)
    why = explain(judged, "").partition(": ")[2]  # the number of the trial is not known yet
    return _own_note(config, replace(judged, why=why[0].upper() + why[1:]), optimizer.constraint_names)


def _judged(config: StudyConfig, optimizer: Optimizer, setting: Mapping[str, Choice]) -> Suggestion:
    """What the model predicts of a setting, in the user's units."""
    searched = {name: setting[name] for name in optimizer.space.names}
    judged = optimizer.judge(searched, len(optimizer.trials))
    return replace(judged, mean=config.sign * judged.mean, x=dict(setting))


def _own_note(config: StudyConfig, said: Suggestion, names: Sequence[str]) -> dict[str, Any]:
    """What is stored of a setting that nobody searched for; the setting always is."""
    note = to_note(said, None, names) | {"params": dict(said.x), **marks_of(config)}
    if len(json.dumps(note)) > ATTRIBUTE_LIMIT:  # a prediction may be forgotten, a setting may not
        note = {key: value for key, value in note.items() if key != "constraints"}
    return note
