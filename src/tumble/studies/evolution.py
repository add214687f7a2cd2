"""A study file whose parameters are edited after the study began.

=====================================  =======================================================================
a range becomes wider, a choice more   yes
a range becomes narrower               yes, unless a trial lies outside
a parameter is fixed, or is no longer  yes, unless a trial had another value
a parameter is added                   yes, with `default`, its value in the trials so far, or as a fixed one
a parameter or a choice is dropped     no
its kind or `log` changes              no
the objective changes                  no
=====================================  =======================================================================

What the parameters were is an attribute of the study, which is written again where they change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial

from tumble.errors import InputError
from tumble.integrations.optuna import private
from tumble.integrations.optuna.changes import changed_trials
from tumble.integrations.optuna.notes import setting
from tumble.integrations.optuna.trials import read
from tumble.parameters import Categorical, Choice, Fixed, Float, Int, Parameter
from tumble.space import Space
from tumble.studies.config import StudyConfig
from tumble.studies.errors import StartedOtherwise, StudyFileError

PARAMETERS = "tumble:parameters"  # system attributes of the study
OBJECTIVE = "tumble:objective"
OTHERWISE = "or give the study another name and import the old trials"


def fit_to_study(
    config: StudyConfig, study: optuna.Study, database: RDBStorage, *, reading: bool
) -> StudyConfig:
    """The study file as it goes on with the study: kinds and the order of choices are those of its trials.

    Parameters
    ----------
    config
        What the file says.
    study, database
        The study, and the database behind it.
    reading
        Whether nothing may be written.

    Raises
    ------
    StudyFileError
        If the file does not fit the study; the message says what it was, and what to write.
    """
    study_id = private.study_id_of(study)
    stored = private.storage_of(study).get_study_system_attrs(study_id)
    objective = [config.objective, config.maximize]
    started_with, maximized = stored.get(OBJECTIVE, objective)
    if started_with != config.objective:
        raise StartedOtherwise(config.path, config.name, "objective", f'objective = "{started_with}"')
    if maximized != config.maximize:
        raise StartedOtherwise(config.path, config.name, "maximize", f"maximize = {_shown(maximized)}")
    then: dict[str, Any] | None = stored.get(PARAMETERS)
    fitted = config if then is None else replace(config, space=_as_stored(config, then))
    now = describe(fitted)
    if then is not None and then != now:
        _check_changes(fitted, then)
        _check_trials(fitted, changed_trials(study))
    if reading:
        return fitted
    if then is not None and then != now:
        _widen_choices(fitted, then, study, database)
    values: dict[str, Any] = {PARAMETERS: now, OBJECTIVE: objective}
    for key, value in values.items():
        if stored.get(key) != value:
            private.storage_of(study).set_study_system_attr(study_id, key, value)
    return fitted


def describe(config: StudyConfig) -> dict[str, Any]:
    """The parameters as they are stored with the study."""
    found = {name: one.to_dict() for name, one in config.space.parameters.items()}
    for name, value in config.defaults.items():
        found[name] = found[name] | {"default": value}
    return found


def _as_stored(config: StudyConfig, then: dict[str, Any]) -> Space:
    """The space, with numbers and choices as the study has them."""
    space: dict[str, Parameter] = {}
    for name, one in config.space.parameters.items():
        was = then.get(name, {})
        if isinstance(one, Int) and name in config.implied_integers and was.get("type") == "float":
            step = was["step"] if one.step == 1 else one.step
            space[name] = Float(one.low, one.high, log=one.log, step=step)  # from before whole numbers stayed
        elif isinstance(one, Categorical) and was.get("type") == "categorical":
            known = [choice for choice in was["choices"] if choice in one.choices]
            space[name] = Categorical((*known, *(c for c in one.choices if c not in known)))
        else:
            space[name] = one
    return Space(space, config.space.known)


def _check_changes(config: StudyConfig, then: dict[str, Any]) -> None:
    """Refuse what no trial can be read with."""
    for name, was in then.items():
        now = describe(config).get(name)
        if now is None and was["type"] != "fixed":
            remedy = f"write it again, or fix it at one value ({name} = ...)"
            raise _refused(config, name, f"is missing; {remedy}")
        if now is None or "fixed" in (now["type"], was["type"]):
            continue
        for key in ("type", "log"):
            if was.get(key) != now.get(key):
                raise _refused(
                    config, name, f"{key} was {_shown(was.get(key))}, and can't change; change it back"
                )
        if was.get("default", now.get("default")) != now.get("default"):
            before = f"default was {_shown(was['default'])} for the trials before it was added"
            raise _refused(config, name, f"{before}, and can't change; change it back")
        dropped = [c for c in was.get("choices", ()) if c not in now["choices"]]
        if dropped:
            which = f"the choice {_shown(dropped[0])} was dropped"
            raise _refused(config, name, f"{which}; write it again: choices are only added")


def _check_trials(config: StudyConfig, trials: list[FrozenTrial]) -> None:
    """Refuse parameters that a trial, told or in flight, does not fit."""
    for trial in trials:
        values = setting(trial)
        if not values or read(trial, 1.0).phase == "void":
            continue
        for name, value in config.fixed.items():
            if values.get(name, value) != value:
                was = f"trial {trial.number} had {_shown(values[name])}, and it is fixed at {_shown(value)}"
                raise _refused(config, name, f"{was}; change it back, or give it a range that holds both")
        searched = {n: p for n, p in config.space.parameters.items() if not isinstance(p, Fixed)}
        for name, one in searched.items():
            _check_value(config, name, one, {**config.defaults, **values}, trial.number)


def _check_value(
    config: StudyConfig, name: str, one: Parameter, values: dict[str, Choice], number: int
) -> None:
    if name not in values:
        raise _refused(
            config, name, f"is new: trial {number} was run without it; say what it was then: default = ..."
        )
    try:
        one.encode(values[name])
    except InputError:
        was = f"trial {number} had {_shown(values[name])}, which lies outside now"
        raise _refused(config, name, f"{was}; a range is widened, or cut where no trial was") from None


def _widen_choices(
    config: StudyConfig, then: dict[str, Any], study: optuna.Study, database: RDBStorage
) -> None:
    """Let Optuna's storage know the choices that are new."""
    for name, one in config.space.parameters.items():
        choices = then.get(name, {}).get("choices")
        if isinstance(one, Categorical) and choices is not None and list(one.choices) != choices:
            private.widen_choices(database, private.study_id_of(study), name, one.choices)
    private.forget_distributions(study)


def _refused(config: StudyConfig, name: str, why: str) -> StudyFileError:
    return StudyFileError(f"{config.path}: parameters.{name}: {why}; {OTHERWISE}")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
