"""What a method of §5 is: the acquisition it maximises, and what it knows of constraints and budgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .deprecation import renamed_fields

if TYPE_CHECKING:  # the list of methods is read where no process is ever fitted
    from .acquisition import Acquisition
    from .search.context import Context

    Build = Callable[[Context], Acquisition]


@renamed_fields(weighted="times_phi", keeps="own_level")
@dataclass(frozen=True)
class Method:
    """A method of §5.

    Parameters
    ----------
    name
        What a user calls it.
    build
        Builds the acquisition from what is known.
    constrained
        Whether it takes constraints.
    controlled
        Whether it obeys the controller of §4.2. A method that does not is bold while a failure is left.
    times_phi
        Whether (15) multiplies the acquisition by φ. False where the acquisition contains the constraints.
    own_level
        For a method that keeps to a P(safe) of its own, whatever the budget: that P(safe), for each
        constraint. Its acquisition is -inf where a constraint is less sure. It needs a safe trial to start
        from. None for all other methods.
    samples_minima
        Whether it is built on samples of f*: then the points where the mean is lowest under a P(safe) are
        among its candidates (`Settings.descend_safely`) even if there is one limit only.
    stones
        Whether a careful trial may be a stepping stone (core.search.stones). The acquisition must be EI.
    surveys
        Whether its first trials go where nothing was tried (core.search.survey).
    listed
        False for methods that serve ablations only.
    label
        What tables and figures call it.
    """

    name: str
    build: Build
    constrained: bool
    controlled: bool = False
    times_phi: bool = True
    own_level: float | None = None
    samples_minima: bool = False
    stones: bool = False
    surveys: bool = False
    listed: bool = True
    label: str = ""
