"""The settings that keep every known constraint: which points of the unit cube they are, and some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tumble.errors import InputError
from tumble.inside import BATCH, find_inside
from tumble.known.nodes import Array, Columns
from tumble.known.parser import choices_of, is_number
from tumble.parameters import Choice, Fixed, Float, Parameter

Flags: TypeAlias = NDArray[np.bool_]
MOST = 100  # known constraints


class Rule(Protocol):
    """A known constraint: a text, or a function of one's own."""

    @property
    def text(self) -> str:
        """The constraint in words."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that it needs."""

    def excess(self, columns: Columns) -> Array:
        """By how much each setting misses it (M,); at most 0 where it holds."""


@dataclass(frozen=True)
class Held:
    """A known constraint that also names parameters which are fixed, and are not searched.

    Parameters
    ----------
    rule
        The constraint.
    fixed
        The parameters that are fixed, with their names.
    """

    rule: Rule
    fixed: tuple[tuple[str, Fixed], ...]

    @property
    def text(self) -> str:
        """The constraint in words."""
        return self.rule.text

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that it needs, without those that are fixed."""
        held = {name for name, _ in self.fixed}
        return tuple(name for name in self.rule.names if name not in held)

    def excess(self, columns: Columns) -> Array:
        """By how much each setting misses it (M,)."""
        count = len(next(iter(columns.values()))) if columns else 1
        values = {name: column(parameter, np.empty((count, 0))) for name, parameter in self.fixed}
        return self.rule.excess({**columns, **values})


class Region:
    """The settings that keep every known constraint.

    Parameters
    ----------
    parameters
        The parameters by name, in the order of their coordinates.
    rules
        The known constraints, at least one.
    """

    def __init__(self, parameters: Mapping[str, Parameter], rules: Sequence[Rule]) -> None:
        if len(rules) > MOST:
            raise InputError(f"there are at most {MOST} known constraints, but {len(rules)} came")
        self.rules, self.needed = tuple(rules), {name for rule in rules for name in rule.names}
        self.parameters, self.slices, self.dim = dict(parameters), {}, 0
        for name, parameter in parameters.items():
            self.slices[name] = slice(self.dim, self.dim + parameter.width)
            self.dim += parameter.width

    def excesses(self, U: Array) -> Array:
        """(C, M) by how much each point U (M, D) misses each constraint; at most 0 where it holds."""
        columns = {name: column(self.parameters[name], U[:, self.slices[name]]) for name in self.needed}
        return np.array([np.broadcast_to(rule.excess(columns), (len(U),)) for rule in self.rules])

    def allows(self, U: Array) -> Flags:
        """(M,) which points U (M, D) keep every constraint."""
        return np.asarray((self.excesses(U) <= 0.0).all(axis=0))

    @cached_property
    def inside(self) -> Array:
        """(K, D) points that keep every constraint.

        Raises
        ------
        InputError
            If none could be found.
        """
        drawn = self.excesses(np.random.default_rng(1).random((256, self.dim)))
        missed = np.where(np.isfinite(drawn) & (drawn > 0.0), drawn, 0.0)
        scales = np.where(missed.max(axis=1) > 0.0, missed.max(axis=1), 1.0)[:, None]

        def total(U: Array) -> Array:
            return np.asarray((np.maximum(self.excesses(U), 0.0) / scales).sum(axis=0))

        found = find_inside(total, self.dim)
        if len(found) == 0:
            raise InputError(self._nothing())
        return found

    def broken(self, u: Array) -> list[str]:
        """The constraints that the point u (D,) does not keep."""
        excesses = self.excesses(u[None, :])[:, 0]
        return [rule.text for rule, excess in zip(self.rules, excesses, strict=True) if not excess <= 0.0]

    def _nothing(self) -> str:
        """What to say where no setting was found."""
        kept = (self.excesses(np.random.default_rng(0).random((BATCH, self.dim))) <= 0.0).mean(axis=1)
        worst = self.rules[int(kept.argmin())].text
        texts = ", ".join(f'"{rule.text}"' for rule in self.rules)
        return (
            f"no setting was found that keeps what is known ({texts}); the hardest to keep is "
            f'"{worst}": check it against the ranges of the parameters, loosen it, or widen them'
        )


def column(parameter: Parameter, u: Array) -> Array:
    """(M,) the values that a parameter takes at its coordinates u (M, width), exactly as it decodes them.

    The choices of a categorical that are not all numbers are given by their place.
    """
    choices = choices_of(parameter)
    if choices is not None:
        places = np.zeros(len(u), dtype=int)
        if parameter.width:
            places = (u[:, 0] >= 0.5).astype(int) if parameter.width == 1 else u.argmax(axis=1)
        return _numbers(choices)[places]
    if isinstance(parameter, Float) and parameter.step is None:
        return parameter.decode_many(np.clip(u[:, 0], 0.0, 1.0))
    points, back = np.unique(parameter.snap(u)[:, 0], return_inverse=True)
    return np.array([float(parameter.decode(np.array([t]))) for t in points])[back]  # type: ignore[arg-type]


def _numbers(choices: Sequence[Choice]) -> Array:
    if all(map(is_number, choices)):
        return np.array(choices, dtype=float)
    return np.arange(float(len(choices)))
