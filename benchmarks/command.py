"""What `benchmarks.acceptance` was asked for, and the runs that it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.runs import methods, settings
from experiments.runs.records import Line, Spec
from tumble import Settings, problems


@dataclass(frozen=True)
class Command:
    """What the command line asked for."""

    seeds: int | None
    seed_base: int
    changes: dict[str, Any]
    peers: tuple[str, ...]
    run: Callable[[Sequence[Spec]], list[Line]]

    def seed_range(self, default: int) -> range:
        """So many seeds, from the base."""
        return range(self.seed_base, self.seed_base + (self.seeds or default))

    def spec(self, family: str, method: str, seed: int, block: str = "default", **rules: Any) -> Spec:
        """One run with the problem's own T and B unless ``rules`` say otherwise."""
        is_drawn = family.startswith("in-model") or family.endswith("?")
        problem = f"{family}:{seed}" if is_drawn else family
        known = problems.get(problem)
        own = {"trials": known.trials, "failures": known.failures, "on_exhausted": "safe"}
        chosen = methods.settings_of(method, "default", problem)
        if block == "paper":
            chosen = settings.paper_settings(problem).to_dict()
        elif method not in methods.PEERS:
            chosen = Settings.from_dict({**chosen, **self.changes, **rules.pop("changes", {})}).to_dict()
        return Spec(problem, method, seed, block=block, settings=chosen, **{**own, **rules})

    def peer_specs(self, families: Sequence[str], count: int) -> list[Spec]:
        """The runs of the peers that were asked for, on the same problems and seeds."""
        return [
            self.spec(family, peer, seed, on_exhausted="stop")
            for seed in self.seed_range(count)
            for family in families
            for peer in self.peers
        ]
