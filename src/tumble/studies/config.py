"""What a study is: its parameters, its objective, its limits, its budget and its command."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tumble.checks import noise_keys
from tumble.core.history import violated
from tumble.methods import MethodName
from tumble.parameters import Choice
from tumble.space import Space
from tumble.studies.limits import Limit
from tumble.studies.values import in_words

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")  # {name} in a word of the command
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")  # of a parameter or a result


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
    boldness
        How much risk is taken while failures are left, from 0 to 1; None for the default.
    min_gain
        No trial starts once the trials left improve the objective by less than this, in its own units; None
        for no such end.
    space
        The parameters, fixed ones among them.
    limits
        The limits; a trial that breaks one has failed.
    starts
        The settings that are tried first, in this order.
    defaults
        What a parameter was in trials that did not have it yet.
    implied_integers
        The parameters that are whole numbers only because their bounds are written so.
    noise
        Standard deviations of results, where they are known.
    remarks
        Sentences about what is not used as it is written.
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
    starts: tuple[dict[str, Choice], ...] = ()
    defaults: dict[str, Choice] = field(default_factory=dict)
    implied_integers: frozenset[str] = frozenset()
    min_gain: float | None = None
    boldness: float | None = None
    noise: dict[str, float] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def fixed(self) -> dict[str, Choice]:
        """The values of the parameters that are not searched."""
        return self.space.fixed

    def completed(self, setting: Mapping[str, Choice]) -> dict[str, Choice]:
        """A setting with every parameter, in the order of the file; empty where it is."""
        if not setting:
            return {}
        values = {**self.defaults, **self.fixed, **setting}
        known = {name: values[name] for name in self.space.names if name in values}
        return {**known, **values}

    def in_words(self, setting: Mapping[str, object]) -> dict[str, str]:
        """The values of a setting as a person reads them, and sets them at a machine."""
        return {name: in_words(self.space.parameters.get(name), value) for name, value in setting.items()}

    @property
    def result_names(self) -> tuple[str, ...]:
        """The results that a trial must measure: the objective, then each limited one."""
        return (self.objective, *self.limited_names)

    @property
    def limited_names(self) -> tuple[str, ...]:
        """The results that have a limit."""
        return tuple(limit.name for limit in self.limits)

    @property
    def mark(self) -> str:
        """A word that changes with the parameters and the limits: what can be gained depends on both."""
        return _mark([self.space.to_dict(), self._limits])

    @property
    def limits_mark(self) -> str:
        """A word that changes with the limits: what P(safe) claims depends on them."""
        return _mark(self._limits)

    @property
    def _limits(self) -> list[tuple[str, float | None, float | None]]:
        return [(limit.name, limit.low, limit.high) for limit in self.limits]

    @property
    def sign(self) -> float:
        """1 where the objective is minimised, -1 where it is maximised."""
        return -1.0 if self.maximize else 1.0

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What the model calls the limits: one name for each side."""
        return tuple(name for limit in self.limits for name in limit.constraint_names)

    @property
    def model_noise(self) -> dict[str, float]:
        """The noise by the names of the model: both sides of a limit have that of their result."""
        measured = (self.objective, *(limit.name for limit in self.limits for _ in limit.constraint_names))
        named = zip(noise_keys(self.constraint_names), measured, strict=True)
        return {key: self.noise[name] for key, name in named if name in self.noise}

    def excesses(self, results: Mapping[str, float]) -> dict[str, float]:
        """g by the model's name, for every limited result that was measured."""
        measured = [limit for limit in self.limits if limit.name in results]
        return {name: g for limit in measured for name, g in limit.excesses(results[limit.name]).items()}

    def is_violated(self, results: Mapping[str, float]) -> bool:
        """Whether a measured result breaks its limit."""
        return violated(self.excesses(results).values())

    def violations(self, results: Mapping[str, float]) -> list[str]:
        """The limits that were broken, and by how much, in words."""
        measured = [limit for limit in self.limits if limit.name in results]
        excesses = {limit: limit.excess(results[limit.name]) for limit in measured}
        return [f"breaks {limit} by {excess:.3g}" for limit, excess in excesses.items() if excess > 0.0]


def _mark(said: object) -> str:
    return f"{zlib.crc32(json.dumps(said, sort_keys=True).encode()):08x}"
