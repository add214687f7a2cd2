"""From what the command line asks for to the runs of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tumble.errors import InputError
from tumble.studies.schema import did_you_mean

from . import methods
from .records import Spec
from .settings import BUDGETS, problem_of_the_paper

BLOCKS = ("paper", "default")
NUMBERED = ("in-model", "cartpole", "compression")  # families whose draw or start is numbered by the seed


@dataclass(frozen=True)
class Options:
    """What can be asked of any experiment; None means the experiment's own."""

    seeds: int | None = None
    seed_base: int = 0
    methods: tuple[str, ...] | None = None
    blocks: tuple[str, ...] = BLOCKS
    trials: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers with which nothing could be run."""
        for name, value, least in (
            ("--seeds", self.seeds, 1),
            ("--seed-base", self.seed_base, 0),
            ("--trials", self.trials, 1),
        ):
            if value is not None and value < least:
                raise InputError(f"{name} must be at least {least}, not {value}")

    def seed_range(self, default: int) -> range:
        """The seeds to run, ``default`` of them unless asked otherwise."""
        return range(self.seed_base, self.seed_base + (default if self.seeds is None else self.seeds))

    def chosen(self, available: Sequence[str]) -> tuple[str, ...]:
        """Those of the available methods that were asked for, in their own order."""
        return tuple(m for m in available if self.methods is None or m in self.methods)


def names(text: str) -> tuple[str, ...]:
    """The names in a list that is separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def check_methods(asked: Iterable[str] | None, available: Iterable[str], where: str) -> None:
    """Refuse a method that was asked for and is none of those that are run there."""
    known = sorted(set(available))
    for name in asked or ():
        if name not in known:
            raise InputError(f"{where} has no method {name!r}; {did_you_mean(name, known, 'choose among')}")


def grid(
    families: Iterable[str], available: Sequence[str], options: Options, default: int = 20
) -> list[Spec]:
    """Problem × block × method × seed. Seeds are outermost, so that an unfinished experiment is balanced.

    There are ``default`` seeds unless asked otherwise. A family in `NUMBERED` has a problem for each seed.
    Methods without the controller stop when the budget is spent, as in §5.2.
    """
    return [
        one(family, method, block, seed, options.trials)
        for seed in options.seed_range(default)
        for family in families
        for method in options.chosen(available)
        for block in options.blocks
    ]


def one(family: str, method: str, block: str, seed: int, trials: int | None = None) -> Spec:
    """The run of one cell and seed, with the budgets of `experiments.runs.settings`."""
    problem = f"{family}:{seed}" if family.startswith(NUMBERED) else family
    budget_trials, failures = BUDGETS[problem_of_the_paper(family)].value
    return Spec(
        problem=problem,
        method=method,
        seed=seed,
        trials=trials or budget_trials,
        failures=failures if trials is None or failures is None else min(failures, trials),
        on_exhausted=methods.when_spent(method),
        block=block,
        settings=methods.settings_of(method, block, problem),
    )
