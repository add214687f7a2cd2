"""Families of problems on which the search is decided: a seed draws function, limits, start, T and B.

``draw(family, seed)`` is the one door; ``FAMILIES`` are the names (cart-pole where MuJoCo is installed).
Everything is deterministic in (family, seed). A member is a `tumble.problems.Problem` that also knows its
optimum (found by a search when it is asked for, then kept), its feasible share and the objective's spread.

The generators live beside the benchmarks and not in `tumble.problems`, because they serve to judge the
search, and no user minimises a random function. Seeds 90,000 to 99,999 are reserved for judging: nothing here
draws them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from tumble.errors import InputError

from . import cartpole, classic, crash, design, mixed, noise, process, start
from .member import Drawn, Member, problem_of

__all__ = ["FAMILIES", "Member", "draw"]

_DRAWS: dict[str, Callable[[int], Drawn]] = {
    process.NAME: process.draw,
    classic.NAME: classic.draw,
    design.NAME: design.draw,
    mixed.NAME: mixed.draw,
    crash.NAME: crash.draw,
    noise.NAME: noise.draw,
    start.NAME: start.draw,
    cartpole.NAME: cartpole.draw,
}
FAMILIES = tuple(name for name in _DRAWS if name != cartpole.NAME or cartpole.is_installed())


def draw(family: str, seed: int) -> Member:
    """The member of a family that a seed draws.

    Parameters
    ----------
    family
        One of `FAMILIES`.
    seed
        An integer >= 0. It draws the function, the limits, the start, T and B.

    Returns
    -------
    Member
        A fresh problem: its stream of noise begins anew. What was searched for before in this process, such
        as its optimum, is kept.

    Raises
    ------
    InputError
        Where there is no such family, or the seed is negative.

    Examples
    --------
    >>> from benchmarks import families
    >>> problem = families.draw("classic", 0)
    >>> problem.name
    'classic:0'
    """
    if family not in _DRAWS:
        raise InputError(f"unknown family {family!r}; choose one of {', '.join(FAMILIES)}")
    if seed < 0:
        raise InputError(f"the seed of a family is an integer >= 0, but {seed} came")
    return problem_of(_drawn(family, seed))


@lru_cache(maxsize=1024)
def _drawn(family: str, seed: int) -> Drawn:
    return _DRAWS[family](seed)
