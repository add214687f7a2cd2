"""Parameters ⇄ the unit cube: encode, decode, and snap to what can really be run.

The search lives in ``[0, 1]^D``.  A :class:`Space` is an ordered set of named parameters, each of which has
a few coordinates of that cube:

==========================  ===========  =================================================================
parameter                   coordinates  admissible coordinates
==========================  ===========  =================================================================
``Float(low, high)``        1            all of [0, 1]; linear in the value, or in its logarithm
``Float(..., step=s)``      1            k/(n-1), k = 0 … n-1, for the n values low, low + s, …
``Int(low, high, step)``    1            k/(n-1); with ``log`` log(v/low)/log(high/low) for every integer v
``Categorical``, 2 choices  1            0 or 1
``Categorical``, n > 2      n            the n corners with a single 1 (one-hot)
``Fixed(value)``            0            none: every setting has this value
==========================  ===========  =================================================================

``snap`` maps any point to the nearest admissible one, for many points at once.  The search calls it *before*
it judges a candidate, so that φ, P(safe) and what is pending refer to the point that will be run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tumble import checks
from tumble.core.search.domain import Domain
from tumble.core.search.known import Known
from tumble.core.settings import Settings
from tumble.errors import InputError
from tumble.known import KnownConstraint, Region, Rule, read_known
from tumble.parameters import Array, Categorical, Choice, Fixed, Float, Int, Parameter

__all__ = ["Categorical", "Choice", "Fixed", "Float", "Int", "Parameter", "Space"]

MOST_POINTS = 1024  # up to this many admissible points, the search looks at every one
_KINDS: dict[str, type[Parameter]] = {"float": Float, "int": Int, "categorical": Categorical, "fixed": Fixed}


class Space:
    """An ordered set of named parameters and its map to the unit cube, with what is known beforehand.

    Parameters
    ----------
    parameters
        `Float`, `Int`, `Categorical` or `Fixed` by name. The order of the names is the order of the
        coordinates.
    known
        Constraints between parameters that are known beforehand and cost no trial, as text:
        ``["speed * feed <= 900"]``. A search proposes only settings that keep all of them. They take names
        (in backticks where a name has other characters than letters, digits and _), numbers,
        ``+ - * / **``, brackets, the functions of `tumble.known.FUNCTIONS`, ``<= >= < >`` and chains of them,
        ``==`` and ``!=`` for choices and whole numbers, ``and`` and ``or``. Where a constraint can't be
        computed it does not hold.

    Raises
    ------
    InputError
        If a name is empty, something else stands for a parameter, every parameter is fixed, a known
        constraint can't be read, or no setting was found that keeps all of them.

    Examples
    --------
    >>> space = Space({"speed": Float(500.0, 4000.0), "bit": Categorical(("hss", "carbide"))})
    >>> space.encode({"speed": 2250.0, "bit": "carbide"})
    array([0.5, 1. ])
    >>> space.decode([0.5, 1.0])
    {'speed': 2250.0, 'bit': 'carbide'}
    >>> slow = Space({"x": Float(0, 1), "y": Float(0, 1)}, known=["x + y <= 1"])
    >>> slow.broken({"x": 0.7, "y": 0.6})
    ['x + y <= 1']
    """

    def __init__(self, parameters: Mapping[str, Parameter], known: str | Sequence[str] = ()) -> None:
        given: object = parameters
        if not isinstance(given, Mapping) or not given:
            raise InputError(
                f"a space needs a dict of at least one parameter by name, but {parameters!r} came"
            )
        self._parameters = dict(parameters)
        self._slices: dict[str, slice] = {}
        self._dim = 0
        for name, parameter in self._parameters.items():
            if not _is_name(name):
                raise InputError(f"a parameter's name must be a non-empty string, but {name!r} came")
            if not isinstance(parameter, (Float, Int, Categorical, Fixed)):
                raise InputError(
                    f"parameter {name!r} must be a Float, Int, Categorical or Fixed, but {parameter!r} came"
                )
            self._slices[name] = slice(self._dim, self._dim + parameter.width)
            self._dim += parameter.width
        if self._dim == 0:
            raise InputError("every parameter is fixed, so that there is nothing to search: free one of them")
        self._region = _region(self._parameters, self._read(known))

    @classmethod
    def from_bounds(cls, bounds: ArrayLike) -> Space:
        """The space of a box.

        Parameters
        ----------
        bounds
            Shape (D, 2): a lower and an upper bound for each dimension.

        Returns
        -------
        Space
            Its parameters are floats called x0, x1, …

        Raises
        ------
        InputError
            If the bounds are no box.
        """
        box = _box(bounds)
        parameters: dict[str, Parameter] = {}
        for j, (low, high) in enumerate(box):
            with _about(f"bounds of dimension {j}"):
                parameters[f"x{j}"] = Float(float(low), float(high))
        return cls(parameters)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters by name, in order (a copy)."""
        return dict(self._parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._parameters)

    @property
    def fixed(self) -> dict[str, Choice]:
        """The values of the parameters that are fixed, by name."""
        return {name: p.value for name, p in self._parameters.items() if isinstance(p, Fixed)}

    @property
    def dim(self) -> int:
        """D, the number of coordinates of the unit cube."""
        return self._dim

    @property
    def known(self) -> tuple[str, ...]:
        """The known constraints, as they were written."""
        return () if self._region is None else tuple(rule.text for rule in self._region.rules)

    @property
    def region(self) -> Region | None:
        """The settings that keep the known constraints; None where there are none."""
        return self._region

    @cached_property
    def limits(self) -> Known | None:
        """What the search must know of the known constraints; None where there are none."""
        return None if self._region is None else Known(self._region.allows, self._region.inside)

    @property
    def is_continuous(self) -> bool:
        """Whether every point of the unit cube is admissible, so that `snap` changes nothing."""
        return all(parameter.is_continuous for parameter in self._parameters.values())

    def suited(self, settings: Settings) -> Settings:
        """`settings` without the rules that are made for other spaces (`Settings.for_space`)."""
        choices = any(isinstance(parameter, Categorical) for parameter in self._parameters.values())
        return settings.for_space(continuous=self.domain is None, choices=choices)

    def encode(self, params: Mapping[str, object] | Sequence[object] | Array) -> Array:
        """The point of the unit cube for a setting.

        Parameters
        ----------
        params
            Values by name, or in the order of the names.

        Returns
        -------
        Array
            Shape (D,).

        Raises
        ------
        InputError
            If a value is missing, unknown or not admissible.
        """
        values = self._by_name(params)
        u = np.empty(self._dim)
        for name, parameter in self._parameters.items():
            with _about(f"parameter {name!r}"):
                u[self._slices[name]] = parameter.encode(values[name])
        return u

    def decode(self, u: ArrayLike) -> dict[str, Choice]:
        """The setting nearest to a point of the unit cube.

        Parameters
        ----------
        u
            Shape (D,).

        Returns
        -------
        dict
            Values by name, all of them admissible.

        Raises
        ------
        InputError
            If u has another shape or is not finite.
        """
        point = np.asarray(u, dtype=float)
        if point.shape != (self._dim,) or not np.isfinite(point).all():
            raise InputError(f"expected {self._dim} finite coordinates of the unit cube, but {u!r} came")
        return {name: p.decode(point[self._slices[name]]) for name, p in self._parameters.items()}

    def snap(self, U: ArrayLike) -> Array:
        """The admissible points nearest to some points of the unit cube.

        Parameters
        ----------
        U
            Shape (M, D).

        Returns
        -------
        Array
            Shape (M, D). Snapping again changes nothing.

        Raises
        ------
        InputError
            If U has another shape.
        """
        points = np.asarray(U, dtype=float)
        if points.ndim != 2 or points.shape[1] != self._dim:
            raise InputError(f"expected points of shape (M, {self._dim}), but {points.shape} came")
        out = np.empty_like(points)
        for name, parameter in self._parameters.items():
            where = self._slices[name]
            out[:, where] = parameter.snap(np.ascontiguousarray(points[:, where]))
        return out

    def broken(self, params: Mapping[str, object] | Sequence[object] | Array) -> list[str]:
        """The known constraints that a setting does not keep.

        Parameters
        ----------
        params
            Values by name, or in the order of the names.

        Returns
        -------
        list[str]
            As they were written; empty where the setting keeps all of them.

        Raises
        ------
        InputError
            If a value is missing, unknown or not admissible.
        """
        u = self.encode(params)
        return [] if self._region is None else self._region.broken(u)

    def check_known(self, params: Mapping[str, object] | Sequence[object] | Array) -> None:
        """Refuse a setting that does not keep every known constraint.

        Parameters
        ----------
        params
            Values by name, or in the order of the names.

        Raises
        ------
        InputError
            If a value can't be used, or a known constraint does not hold; the message names it.
        """
        broken = self.broken(params)
        if broken:
            values = self._by_name(params)
            shown = ", ".join(f"{name} = {_short(value)}" for name, value in values.items())
            raise InputError(
                f'{shown} does not keep "{broken[0]}", which is known: choose a setting that does, or change '
                "the known constraint"
            )

    def with_known(self, known: str | Sequence[str | Rule]) -> Space:
        """The same space with further known constraints.

        Parameters
        ----------
        known
            Texts, as for the constructor, or functions, which no file can hold: `to_dict` refuses them.

        Returns
        -------
        Space
            This space itself where nothing is added.

        Raises
        ------
        InputError
            If a text can't be read, or no setting was found that keeps all of them.
        """
        rules = self._read(known)
        if not rules:
            return self
        space = Space(self._parameters)
        earlier = () if self._region is None else self._region.rules
        space._region = _region(self._parameters, [*earlier, *rules])
        return space

    @cached_property
    def domain(self) -> Domain | None:
        """What the search must know of the admissible points; None where all of the unit cube is."""
        if self.is_continuous:
            return None
        parameters = self._parameters.values()
        owners = np.repeat(np.arange(len(parameters)), [p.width for p in parameters])
        moves = np.array([p.is_continuous for p in parameters])[owners]
        return Domain(self.snap, moves, self._neighbours, owners, self._all_points())

    def _neighbours(self, u: Array) -> Array:
        """(K, D) the admissible points that differ from u (D,) by one step or one choice."""
        found = []
        for name, parameter in self._parameters.items():
            steps = parameter.neighbours(u[self._slices[name]])
            rows = np.tile(u, (len(steps), 1))
            rows[:, self._slices[name]] = steps
            found.append(rows)
        return self._allowed(np.vstack(found))

    def _all_points(self) -> Array | None:
        """(P, D) every admissible point; None where there are more than MOST_POINTS."""
        counts = [p.count for p in self._parameters.values()]
        if any(n is None for n in counts) or math.prod(n for n in counts if n) > MOST_POINTS:
            return None
        each = [_values(parameter) for parameter in self._parameters.values()]
        return self._allowed(
            np.array([np.concatenate(combination) for combination in itertools.product(*each)])
        )

    def _allowed(self, points: Array) -> Array:
        """Those of `points` (M, D) that keep the known constraints."""
        return points if self._region is None else np.asarray(points[self._region.allows(points)])

    def to_dict(self) -> dict[str, Any]:
        """The space as a dict that `json` can write; `from_dict` reads it.

        Raises
        ------
        InputError
            If a known constraint is a function.
        """
        parameters = {name: parameter.to_dict() for name, parameter in self._parameters.items()}
        if self._region is None:
            return parameters
        for rule in self._region.rules:
            if not isinstance(rule, KnownConstraint):
                raise InputError(
                    f"{rule.text} is a function, which can't be saved: write it as text in known"
                )
        return {"parameters": parameters, "known": list(self.known)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Space:
        """The space that `to_dict` described.

        Parameters
        ----------
        data
            What `to_dict` gave.

        Raises
        ------
        InputError
            If it describes no space.
        """
        if not isinstance(data, Mapping):
            raise InputError(f"a space is described by a dict of parameters by name, but {data!r} came")
        known: Sequence[str] = ()
        if set(data) == {"parameters", "known"} and isinstance(data["known"], list):
            data, known = data["parameters"], data["known"]
        parameters: dict[str, Parameter] = {}
        for name, description in data.items():
            with _about(f"parameter {name!r}"):
                parameters[name] = _parameter(description)
        return cls(parameters, known)

    def __eq__(self, other: object) -> bool:
        """Equal where names, order, parameters and known constraints are."""
        return isinstance(other, Space) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self._identity())

    def __repr__(self) -> str:
        """As it would be written."""
        known = f", known={list(self.known)!r}" if self.known else ""
        return f"Space({self._parameters!r}{known})"

    def _identity(self) -> tuple[object, ...]:
        rules = () if self._region is None else self._region.rules
        return tuple(self._parameters.items()), rules

    def _read(self, known: str | Sequence[str | Rule]) -> list[Rule]:
        items = [known] if isinstance(known, str) else _items(known)
        rules: list[Rule] = []
        for k, item in enumerate(items):
            with _about(f"known constraint {k + 1}" if len(items) > 1 else "known"):
                is_rule = hasattr(item, "excess")
                rules.append(item if is_rule else read_known(item, self._parameters))
        return rules

    def _by_name(self, params: Mapping[str, object] | Sequence[object] | Array) -> dict[str, object]:
        expected = ", ".join(self.names)
        if isinstance(params, Mapping):
            self._check_names(params)
            return dict(params)
        if isinstance(params, str) or not isinstance(params, (Sequence, np.ndarray)):
            raise InputError(f"expected values for {expected}, by name or in this order, but {params!r} came")
        if len(params) != len(self.names):
            raise InputError(f"expected {len(self.names)} values ({expected}), but {len(params)} came")
        return dict(zip(self.names, params, strict=True))

    def _check_names(self, params: Mapping[str, object]) -> None:
        unknown = [name for name in params if name not in self._parameters]
        if unknown:
            hint = checks.nearest(str(unknown[0]), self.names) or f"known are {', '.join(self.names)}"
            raise InputError(f"there is no parameter {unknown[0]!r}; {hint}")
        missing = [name for name in self.names if name not in params]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise InputError(f"{', '.join(missing)} {verb} missing; give every parameter a value")


@contextmanager
def _about(subject: str) -> Iterator[None]:
    """Put the name of a parameter in front of an `InputError` raised inside."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{subject}: {error}") from None


def _items(known: object) -> list[Any]:
    if not isinstance(known, (list, tuple)):
        raise InputError(f'known must be a list of texts such as ["x + y <= 1"], not {checks.show(known)}')
    return list(known)


def _region(parameters: Mapping[str, Parameter], rules: Sequence[Rule]) -> Region | None:
    """The region that keeps the rules, which is not empty; None without rules."""
    if not rules:
        return None
    region = Region(parameters, rules)
    assert len(region.inside)
    return region


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _values(parameter: Parameter) -> list[Array]:
    """The coordinates of every value of a parameter with finitely many."""
    if isinstance(parameter, Categorical):
        return [parameter.encode(choice) for choice in parameter.choices]
    if isinstance(parameter, Fixed):
        return [np.empty(0)]
    if isinstance(parameter, Int):
        return [parameter.encode(v) for v in range(parameter.low, parameter.high + 1, parameter.step)]
    assert parameter.count is not None
    return [np.array([k / (parameter.count - 1)]) for k in range(parameter.count)]


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)


def _parameter(description: object) -> Parameter:
    if not isinstance(description, Mapping) or description.get("type") not in _KINDS:
        raise InputError(f'expected a dict with "type" one of {", ".join(_KINDS)}, but {description!r} came')
    arguments = {key: value for key, value in description.items() if key != "type"}
    try:
        return _KINDS[description["type"]](**arguments)
    except TypeError:
        raise InputError(
            f"unknown or missing keys in {dict(description)!r}: write it as to_dict does"
        ) from None


def _box(bounds: ArrayLike) -> Array:
    remedy = "write for example [(0.0, 1.0), (-5.0, 5.0)], a pair (low, high) for each dimension"
    if checks.is_masked(bounds):
        checks.refuse("bounds", "numbers", bounds, "a masked value is none")
    try:
        box = np.asarray(bounds, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"bounds must be pairs of numbers (low, high), but {bounds!r} came; {remedy}"
        ) from None
    if box.ndim != 2 or box.shape[1] != 2 or not len(box):
        came = f"shape {box.shape}" if box.ndim else repr(bounds)
        raise InputError(f"expected bounds of shape (D, 2), but {came} came; {remedy}")
    for j, pair in enumerate(np.asarray(bounds, dtype=object)):
        if None in pair.tolist():
            raise InputError(
                f"bounds of dimension {j}: expected two numbers, but None came; where nothing bounds it, "
                "write a number that is large enough"
            )
    return box
