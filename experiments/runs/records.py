"""What one run is (`Spec`), and its key: the same key means the same run, whatever else changed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from tumble.trials import OnExhausted

FORMAT = 1  # of a line; part of every key, so that lines of another format are never taken for these

Line = dict[str, Any]


@dataclass(frozen=True)
class Spec:
    """One run to carry out.

    problem: a name `tumble.problems.get` knows. method: a name of `experiments.runs.methods`.
    block: a label for the settings ("paper", "default", …), for tables; not part of the key.
    settings: the method's settings in full, JSON-ready; part of the key.
    task: "module:function" that carries the run out and returns the line's content.
    """

    problem: str
    method: str
    seed: int
    trials: int
    failures: int | None = None
    on_exhausted: OnExhausted = "stop"
    block: str = "default"
    settings: dict[str, Any] = field(default_factory=dict)
    task: str = "experiments.runs.loop:carry_out"

    @property
    def key(self) -> str:
        """Hash of everything that decides the outcome, settings in full and format included."""
        content = {**asdict(self), "format": FORMAT}
        del content["block"]
        return hashlib.sha256(canonical(content).encode()).hexdigest()[:24]

    @property
    def settings_hash(self) -> str:
        """Hash of the settings alone: lines of one cell of a table share it."""
        rules = [self.settings, self.trials, self.failures, self.on_exhausted, self.task, FORMAT]
        return hashlib.sha256(canonical(rules).encode()).hexdigest()[:12]

    @property
    def family(self) -> str:
        """The problem without the number of a draw: "in-model:7" is one of "in-model"."""
        return self.problem.partition(":")[0]

    def describe(self) -> str:
        """A few words for a progress line."""
        return f"{self.problem} {self.method} ({self.block}) seed {self.seed}"


def canonical(content: Any) -> str:
    """JSON text that is the same for equal content."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
