"""Every check of input, once: arguments, study files (TOML) and saved states (JSON) alike.

A check takes a value and its name, and gives the value back or raises `InputError`: what was expected, and
what came. Where the caller names the value itself, as a study file does with the key, `name` is empty.
This room imports nothing but the errors, so that every other room can use it. Whole trials are checked in
`trial_checks`.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NoReturn, TypeVar

import numpy as np

from .errors import InputError

LARGEST_CHOICE = 10**300  # beyond it no float64 is near
LARGEST = 2**53  # beyond it float64 can't tell neighbours apart
MOST_CONSTRAINTS = 1000  # each has a process of its own
CRASH = "crash"  # what failing without a measurement is called where P(safe) is named
OBJECTIVE = "value"  # what the objective is called where results are named
CALLED_VALUE = "value (constraint)"  # whose noise it is where a constraint is called as the objective
LONGEST = 60  # characters of a value in a message
T = TypeVar("T")


# -- single values -------------------------------------------------------------------------------------------


def refuse(name: str, expected: str, value: object, remedy: str = "") -> NoReturn:
    """Raise an `InputError` that says what was expected and what came."""
    raise InputError(f"{name} must be {expected}, not {show(value)}{remedy and f'; {remedy}'}".lstrip())


def show(value: object) -> str:
    """A value as it would be written, short."""
    try:
        shown = repr(value)
    except ValueError:  # Python writes no integer of more than 4300 digits
        shown = "a number of thousands of digits"
    except RecursionError:
        shown = "something nested too deep"
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 3] + "..."


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is nearest, as a question; empty where none is near.

    Upper and lower case are no distance. Letters that changed places are the likeliest slip.
    """
    words = {one.lower(): one for one in known}
    close = difflib.get_close_matches(word.lower(), words)
    turned = [one for one in close if sorted(one) == sorted(word.lower())]
    return f"did you mean {words[(turned or close)[0]]}?" if close else ""


def whole(value: object, name: str, low: int | None = None, high: int | None = None) -> int:
    """A whole number from `low` to `high`, at most 2^53 in size."""
    expected = "a whole number"
    if low is not None:
        expected += f" of at least {low}" if high is None else f" from {low} to {high}"
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer):
        refuse(name, expected, value)  # NumPy calls a span of time a whole number
    count = int(value)
    if (low is not None and count < low) or (high is not None and count > high):
        refuse(name, expected, value)
    if abs(count) > LARGEST:
        raise InputError(f"{name} must be at most 2^53 in size; write a smaller number".lstrip())
    return count


def number(value: object, name: str, remedy: str = "") -> float:
    """A finite number. `remedy` says what to do with one that is not finite."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        refuse(name, "a number", value, "a masked value was not measured")
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if not is_number(value):
        refuse(name, "a number", value)
    result = to_float(value)
    if not np.isfinite(result):
        refuse(name, "finite", result, remedy)
    return result


def to_float(value: Any) -> float:
    """A single number as a float: infinite where it is too large, NaN where it is one that signals."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    except ValueError:  # float() takes no sNaN of `decimal`
        return np.nan


def above_zero(value: object, name: str) -> float:
    """A number above 0."""
    result = number(value, name)
    if not result > 0.0:
        refuse(name, "above 0", value)
    return result


def at_least(value: object, name: str, low: float) -> float:
    """A number of at least `low`."""
    result = number(value, name)
    if not result >= low:
        refuse(name, f"at least {low:g}", value)
    return result


def within(value: object, name: str, low: float, high: float) -> float:
    """A number from `low` to `high`."""
    result = number(value, name)
    if not low <= result <= high:
        refuse(name, f"a number from {low:g} to {high:g}", value)
    return result


def between(value: object, name: str, low: float, high: float) -> float:
    """A number above `low` and below `high`."""
    result = number(value, name)
    if not low < result < high:
        refuse(name, f"a number between {low:g} and {high:g}", value)
    return result


def is_number(value: object) -> bool:
    """Whether it is a single number: NumPy's and `decimal`'s are, True, False and a span of time are none."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool | np.timedelta64)


def is_masked(values: object) -> bool:
    """Whether a value of an array, or of a list, is masked, which NumPy would turn into a number."""
    rows = values if isinstance(values, list | tuple) else [values]
    return any(bool(np.ma.is_masked(row)) for row in rows)


def by_label(value: Any) -> Any:
    """A pandas Series with text as labels as a dict, a DataFrame as a list of those; else the value itself.

    A DataFrame of polars is a list of dicts, too.

    Without this their values would be taken by position, whatever the labels say.
    """
    if hasattr(value, "to_dicts"):
        return value.to_dicts()
    columns = getattr(value, "columns", None)
    labels = getattr(value, "index", None) if columns is None else columns
    if not hasattr(value, "to_dict") or labels is None or not all(isinstance(label, str) for label in labels):
        return value
    if len(set(labels)) < len(labels):
        raise InputError(f"two values have the same label, of {', '.join(labels)}; give each its own")
    return value.to_dict() if columns is None else value.to_dict("records")


def truth(value: object, name: str) -> bool:
    """True or false, NumPy's too, as Python's own."""
    if not isinstance(value, bool | np.bool_):
        refuse(name, "true or false", value)
    return bool(value)


def text(value: object, name: str) -> str:
    """Text."""
    if not isinstance(value, str):
        refuse(name, "text", value)
    return value


def choice(value: object, name: str) -> str | bool | int | float:
    """What a parameter can be set to."""
    if not isinstance(value, str | int | float):
        refuse(name, "text, a number, true or false", value)
    if isinstance(value, int) and abs(value) > LARGEST_CHOICE:
        refuse(name, "a number that float64 can hold", value, "write it as text")
    return value


def one_of(value: object, name: str, choices: Sequence[T]) -> T:
    """One of a few words, and of the same type."""
    for expected in choices:
        if type(value) is type(expected) and value == expected:
            return expected
    words = [f'"{c}"' if isinstance(c, str) else str(c) for c in choices]
    refuse(name, f"{', '.join(words[:-1])} or {words[-1]}", value)


def items(value: object, name: str) -> list[Any]:
    """The items of a list."""
    if not isinstance(value, list | tuple):
        refuse(name, "a list", value)
    return list(value)


def table(value: object, name: str) -> dict[str, Any]:
    """A dict by name: a table of a TOML file, an object of a JSON file."""
    if not isinstance(value, Mapping):
        refuse(name, "a table of values by name", value)
    return dict(value)


def keys(value: object, name: str, expected: Iterable[str]) -> dict[str, Any]:
    """A dict with exactly these keys."""
    needed = sorted(expected)
    if not isinstance(value, Mapping) or set(value) != set(needed):
        raise InputError(f"{name} needs exactly {', '.join(needed)}")
    return dict(value)


# -- arguments of the front doors ----------------------------------------------------------------------------


def budget(
    trials: object, failures: object, remedy: str = "leave failures out where failing costs nothing"
) -> tuple[int, int | None]:
    """T and B; `remedy` is what to do where B is too large."""
    T = whole(trials, "trials", 1)
    if failures is None:
        return T, None
    B = whole(failures, "failures", 0)
    if B > T:
        raise InputError(f"failures ({B}) cannot exceed trials ({T}); {remedy}")
    return T, B


def more_budget(T: int, B: int | None, trials: object, failures: object) -> tuple[int, int | None]:
    """T and B after more trials and failures were added."""
    more, more_failures = whole(trials, "trials", 0), whole(failures, "failures", 0)
    if more == more_failures == 0:
        raise InputError("nothing is added; give trials, failures or both, for example extend(trials=10)")
    if B is None and more_failures:
        raise InputError("failures are not limited here, so that none can be added; drop failures")
    return budget(T + more, None if B is None else B + more_failures)


def seed(value: object) -> int:
    """A seed: a whole number, drawn where none is given."""
    if value is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**32))
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        refuse("seed", "a whole number of at least 0, a Generator or None", value)
    return int(value)


def noise(given: object) -> dict[str, float]:
    """Standard deviations of what is measured, by name; {} where none is known."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        refuse("noise", f'a dict of standard deviations by name, such as {{"{OBJECTIVE}": 0.2}}', given)
    return {name: at_least(std, f"the noise of {name!r}", 0.0) for name, std in given.items()}


def noise_names(given: Mapping[str, float], constraints: Sequence[str] | None) -> None:
    """Refuse a noise whose name is neither that of the objective nor that of a constraint, or is both."""
    if OBJECTIVE in given and OBJECTIVE in (constraints or ()):
        raise InputError(
            f"noise names {OBJECTIVE!r}, which is the objective, and a constraint is called {OBJECTIVE!r}, "
            "too; give the constraint another name"
        )
    known_noise_names(given, constraints)


def noise_keys(constraints: Iterable[str]) -> tuple[str, ...]:
    """Under which name the noise of the objective, and that of each constraint, is given."""
    return (OBJECTIVE, *(CALLED_VALUE if name == OBJECTIVE else name for name in constraints))


def known_noise_names(given: Iterable[str], constraints: Sequence[str] | None) -> None:
    """Refuse a noise whose name is neither that of the objective nor that of a constraint, once known."""
    if constraints is None:
        return
    known = noise_keys(constraints)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(
            f"noise names {', '.join(map(repr, unknown))}, which nothing measured is called; "
            f"known are {', '.join(map(repr, known))}, where {OBJECTIVE!r} is the objective"
        )


def constraint_names(constraints: object) -> tuple[str, ...] | None:
    """Names of the constraints from a count or a list of names; None: the first trial will say them."""
    if constraints is None:
        return None
    if isinstance(constraints, Sequence) and not isinstance(constraints, str):
        names = tuple(constraints)
        if not all(isinstance(n, str) and n for n in names) or len(set(names)) < len(names):
            refuse("constraints", "distinct names, or a count", constraints)
        if CRASH in names:
            raise InputError(
                "a constraint cannot be called 'crash': that is the name for trials with no measurement; "
                "give it another name"
            )
        return names
    counted = isinstance(constraints, int | np.integer) and not isinstance(constraints, bool)
    count = int(constraints) if counted else -1  # type: ignore[call-overload]
    if not 0 <= count <= MOST_CONSTRAINTS:
        refuse("constraints", f"a count from 0 to {MOST_CONSTRAINTS} or a list of names", constraints)
    return tuple(f"g{j}" for j in range(count))
