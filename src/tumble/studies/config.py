"""What a study is: its parameters, its objective, its limits, its budget and its command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tumble.core.history import violated
from tumble.methods import MethodName
from tumble.parameters import Choice
from tumble.space import Space

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")  # {name} in a word of the command
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")  # of a parameter or a result


@dataclass(frozen=True)
class Limit:
    """A limit of one result, ``torque = "<= 12"`` in the file, as a constraint g <= 0.

    Parameters
    ----------
    name
        The result that is limited.
    sense
        "<=" or ">=".
    bound
        The limit in the result's own units; the bound itself is safe.

    Examples
    --------
    >>> torque = Limit("torque", "<=", 12.0)
    >>> torque.excess(13.5), torque.excess(11.0)
    (1.5, -1.0)
    """

    name: str
    sense: Literal["<=", ">="]
    bound: float

    def excess(self, result: float) -> float:
        """g: by how much a result breaks the limit; at most 0 where it keeps it."""
        return result - self.bound if self.sense == "<=" else self.bound - result

    def __str__(self) -> str:
        """As in the file."""
        return f"{self.name} {self.sense} {self.bound:g}"


@dataclass(frozen=True)
class StudyConfig:
    """What a study file says; `read_study_file` makes it.

    Parameters
    ----------
    path
        The file itself.
    name
        The study's name in its storage.
    objective, maximize
        The result that is optimised, and which way.
    trials, failures
        How many trials there may be, and how many of them may fail; None for no limit.
    on_exhausted
        What happens when no failure is left: "safe" goes on very carefully, "stop" is a hard cap.
    storage
        The URL of the database; `tumble.studies.storage_url.shown` shows it without its secrets.
    command
        The words that run one trial; None where trials are run by hand.
    timeout
        Seconds after which a trial has failed; None for no limit.
    transient_exit_codes, retries
        Which exit codes mean that only the infrastructure failed, and how often that is tried again.
    seed, method, settings
        As for `tumble.Optimizer`.
    space
        The parameters.
    limits
        The limits; a trial that breaks one has failed.
    start
        The setting that is tried first; None for none.
    """

    path: Path
    name: str
    objective: str
    maximize: bool
    trials: int
    failures: int | None
    on_exhausted: Literal["safe", "stop"]
    storage: str = field(repr=False)  # it may hold a password
    command: tuple[str, ...] | None
    timeout: float | None
    transient_exit_codes: frozenset[int]
    retries: int
    seed: int
    method: MethodName | None
    settings: str
    space: Space
    limits: tuple[Limit, ...]
    start: dict[str, Choice] | None

    @property
    def result_names(self) -> tuple[str, ...]:
        """The results that a trial must measure: the objective, then each limited one."""
        return (self.objective, *self.limited_names)

    @property
    def limited_names(self) -> tuple[str, ...]:
        """The results that have a limit."""
        return tuple(limit.name for limit in self.limits)

    @property
    def sign(self) -> float:
        """1 where the objective is minimised, -1 where it is maximised."""
        return -1.0 if self.maximize else 1.0

    def excesses(self, results: Mapping[str, float]) -> dict[str, float]:
        """g by name, for every limited result that was measured."""
        return {
            limit.name: limit.excess(results[limit.name]) for limit in self.limits if limit.name in results
        }

    def is_violated(self, results: Mapping[str, float]) -> bool:
        """Whether a measured result breaks its limit."""
        return violated(self.excesses(results).values())

    def violations(self, results: Mapping[str, float]) -> list[str]:
        """The limits that were broken, and by how much, in words."""
        excesses = self.excesses(results)
        broken = [limit for limit in self.limits if excesses.get(limit.name, 0.0) > 0.0]
        return [f"breaks {limit} by {excesses[limit.name]:.3g}" for limit in broken]
