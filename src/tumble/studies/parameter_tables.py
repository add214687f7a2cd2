"""The table ``[parameters]`` of a study file: what is searched, what is fixed, and what old trials had.

==============================================  ==============================================================
``speed = { low = 500.0, high = 4000.0 }``      a number; ``log`` and ``step`` may be there
``flutes = { low = 2, high = 6 }``              a whole number, because both bounds are written as such; from
                                                one to the next (0 to 1) it is any number between
``bit = { choices = ["hss", "carbide"] }``      a choice
``depth = 12.5``, ``depth = { value = 12.5 }``  fixed: passed on, told and exported, and not searched
``coolant = { ..., default = 0.2 }``            added to a study that runs: what it was in the trials before
==============================================  ==============================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numpy as np

from tumble import checks
from tumble.errors import InputError
from tumble.parameters import Categorical, Choice, Fixed, Float, Int, Parameter
from tumble.space import Space
from tumble.studies import schema
from tumble.studies.config import NAME
from tumble.studies.schema import Key, Wrong, list_of, one_of

Number = TypeVar("Number", Float, Int)
TABLE = {
    "type": Key(
        one_of("float", "int", "categorical"),
        None,
        type='"float", "int" or "categorical"',
        means="its kind, where bounds or choices do not say it",
        example='{ low = 0, high = 1, type = "int" }',
        left_out="as bounds or choices are written",
    ),
    "low": Key(
        schema.number,
        None,
        type="number",
        means="the lower bound",
        example="{ low = 500.0, high = 4000.0 }",
        left_out="must be there for a range",
    ),
    "high": Key(
        schema.number,
        None,
        type="number",
        means="the upper bound",
        example="{ low = 2, high = 6 }",
        left_out="must be there for a range",
    ),
    "log": Key(
        schema.truth,
        False,
        type="true or false",
        means="true: its logarithm is searched",
        example="{ low = 500.0, high = 4000.0, log = true }",
    ),
    "step": Key(
        schema.number,
        None,
        type="number",
        means="the distance of neighbours on a grid that begins at low; where no step meets high, the "
        "last one before it is the end, and `tumble status` says so",
        example="{ low = 0.0, high = 4.0, step = 0.5 }",
        left_out="every number between, or every whole one",
    ),
    "choices": Key(
        list_of(schema.choice),
        None,
        type="list of text, numbers, true or false",
        means="what a parameter without a range can be; upper and lower case of text count, and text may not "
        'look like another choice, as `"1"` does beside `1`',
        example='{ choices = ["hss", "carbide"] }',
        left_out="it has a range",
    ),
    "value": Key(
        schema.choice,
        None,
        type="text, number, true or false",
        means="fixed: passed on, told and exported, and not searched",
        example="{ value = 12.5 }",
        left_out="it is searched",
    ),
    "default": Key(
        schema.choice,
        None,
        type="text, number, true or false",
        means="what it was in the trials before it was added to the file",
        example="{ low = 0.0, high = 1.0, default = 0.2 }",
        left_out="it was there from the beginning",
    ),
}
RANGE = "{ low = 500.0, high = 4000.0 }"


@dataclass(frozen=True)
class Parameters:
    """What the table says.

    Parameters
    ----------
    space
        The parameters, fixed ones among them.
    defaults
        What a parameter was in trials that did not have it yet.
    implied
        The parameters that are whole numbers only because their bounds are written so.
    remarks
        Sentences about ranges that end before the `high` that is written.
    """

    space: Space
    defaults: dict[str, Choice]
    implied: frozenset[str]
    remarks: tuple[str, ...] = ()


def parameter(value: object) -> dict[str, Any]:
    """The table of a parameter; a value that stands alone is that of a fixed one."""
    if not isinstance(value, str | bool | int | float | Mapping):
        checks.refuse("", f"a table such as {RANGE}, or a fixed value such as 900", value)
    given = value if isinstance(value, Mapping) else {"value": value}
    return cast(dict[str, Any], schema.table(TABLE)(given))


def read_parameters(tables: Mapping[str, Mapping[str, Any]]) -> Parameters:
    """The parameters that these tables describe.

    Raises
    ------
    Wrong
        If one can't be used; `keys` is the way to it.
    """
    found: dict[str, Parameter] = {}
    defaults: dict[str, Choice] = {}
    for name, given in tables.items():
        table = SimpleNamespace(**given)
        with schema.under("parameters"), schema.under(name):
            _check_name(name)
            found[name] = _parameter(table)
            if table.default is not None:
                defaults[name] = _default(found[name], table.default)
    if all(isinstance(one, Fixed) for one in found.values()):
        wrong = "nothing is left to search, because every parameter is fixed"
        first = next(iter(tables))
        raise Wrong(f"{wrong}; give one of them a range, for example: {first} = {RANGE}", "parameters")
    implied = frozenset(name for name in found if _is_implied_int(SimpleNamespace(**tables[name])))
    remarks = [_early_end(name, one, tables[name]) for name, one in found.items()]
    return Parameters(Space(found), defaults, implied, tuple(filter(None, remarks)))


def exact(space: Space, setting: Mapping[str, Choice]) -> dict[str, Choice]:
    """A setting in the types of its parameters; numbers stay as they were written.

    Raises
    ------
    InputError
        If it is no setting of the space.
    """
    values = space.decode(space.encode(setting))
    for name, one in space.parameters.items():
        if isinstance(one, Float) and one.is_continuous:
            values[name] = float(setting[name])  # type: ignore[arg-type]
    return values


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name) or name == "trial":
        rule = (
            "a name has letters from a to z, digits and _ . - only, starts with a letter and is not 'trial'"
        )
        raise InputError(f"{rule}; rename it")


def _parameter(table: SimpleNamespace) -> Parameter:
    if table.value is None:
        return _categorical(table) if _is_categorical(table) else _numeric(table)
    others = [key for key in TABLE if key != "value" and getattr(table, key) not in (None, False)]
    if others:
        raise InputError(f"is fixed by value, and has {others[0]} too; keep one of them")
    return Fixed(table.value)


def _is_categorical(table: SimpleNamespace) -> bool:
    if table.choices is None and table.type == "categorical":
        raise InputError(f"needs choices; write for example: {TABLE['choices'].example}")
    if table.choices is not None and (table.low is not None or table.high is not None):
        raise InputError("has both choices and a range; keep one of them")
    return table.choices is not None


def _categorical(table: SimpleNamespace) -> Parameter:
    if table.type not in (None, "categorical") or table.log or table.step is not None:
        raise InputError("choices take no type, log or step; drop them")
    try:
        return Categorical(tuple(table.choices))
    except InputError as error:
        raise InputError(f"{error}; write for example: {TABLE['choices'].example}") from None


def _numeric(table: SimpleNamespace) -> Parameter:
    if table.low is None or table.high is None:
        missing = "low" if table.low is None else "high"
        raise InputError(f"{missing} is missing; write for example: {RANGE}")
    if table.type == "int" or _is_implied_int(table):
        step = 1 if table.step is None else table.step
        return _ending_at_a_step(Int(table.low, table.high, log=table.log, step=step))
    return _ending_at_a_step(Float(table.low, table.high, log=table.log, step=table.step))


def _ending_at_a_step(one: Number) -> Number:
    """The same values, with `high` as the last of them: Optuna warns of any other end."""
    return one if one.log or one.step is None else replace(one, high=one.decode(np.ones(1)))


def _early_end(name: str, one: Parameter, table: Mapping[str, Any]) -> str:
    """What is said of a range whose `high` no step meets; empty where one does."""
    if not isinstance(one, Float | Int) or math.isclose(one.high, table["high"]):
        return ""
    met = f"no step of {one.step:g} from {one.low:g} meets high = {table['high']:g}"
    return f"{name} ends at {one.high:g}, because {met}"


def _is_implied_int(table: SimpleNamespace) -> bool:
    """Whether bounds and step are written as whole numbers, and there is one between the bounds."""
    written = [table.low, table.high, 1 if table.step is None else table.step]
    whole = all(isinstance(number, int) and not isinstance(number, bool) for number in written)
    return table.type is None and table.choices is None and whole and table.high - table.low > 1


def _default(one: Parameter, value: Choice) -> Choice:
    try:
        return exact(Space({"default": one}), {"default": value})["default"]
    except InputError as error:
        raise InputError(f"{error}; give what it was before") from None
