"""What the search would risk with T trials and B failures, before anything is run."""

from __future__ import annotations

from dataclasses import dataclass

from tumble import checks
from tumble.core import budget
from tumble.core.settings import Settings
from tumble.errors import InputError
from tumble.methods import resolve_settings
from tumble.shown import count
from tumble.studies.config import StudyConfig

MOST = 100_000  # trials of a plan


@dataclass(frozen=True)
class Cost:
    """What one failure costs, where every bold trial fails and every careful one succeeds.

    Parameters
    ----------
    failure, trial
        Which failure it is, and in which trial it happens.
    rho_before, rho_after
        The P(safe) that is asked for before and after it.
    careful
        How many careful trials follow until risk is taken again; all that are left where it never is.
    """

    failure: int
    trial: int
    rho_before: float
    rho_after: float
    careful: int

    def __str__(self) -> str:
        """One line of the plan."""
        before, after = f"{self.rho_before:.3f}", f"{self.rho_after:.3f}"
        change = f"instead of {before}" if before != after else "as before"
        then = f", then {count(self.careful, 'careful trial')}" if self.careful else ""
        return f"  failure {self.failure} in trial {self.trial}: asks for P(safe) >= {after} {change}{then}"


@dataclass(frozen=True)
class Plan:
    """The plan for T trials and B failures: if nothing fails, and if every bold trial fails.

    Parameters
    ----------
    trials, failures
        T and B.
    rho_start, rho_end
        The P(safe) that is asked for in the first trial, and once no failure is left.
    risky_without_failures
        How many trials are bold if nothing fails. It is a key of `tumble plan --json`, which keeps its name.
    costs
        What each failure costs if every bold trial fails.
    surveyed
        How many trials look far away from the others, if nothing fails (`Settings.survey`).
    """

    trials: int
    failures: int
    rho_start: float
    risky_without_failures: int
    costs: tuple[Cost, ...]
    rho_end: float
    surveyed: int = 0

    def __str__(self) -> str:
        """For people."""
        lines = [
            f"{count(self.trials, 'trial')}, {count(self.failures, 'failure')}.",
            f"The first trial asks for P(safe) >= {_shown(self.rho_start)}. Below 0.5 the search goes where "
            "the gain is and weighs the risk; above, it stays where P(safe) reaches what is asked for.",
            f"If nothing fails: risk is taken in {self.risky_without_failures} of "
            f"{count(self.trials, 'trial')}{self._survey}.",
        ]
        if self.costs:
            lines += ["If every bold trial fails (trials are counted from 1 here):", *map(str, self.costs)]
        if len(self.costs) == self.failures > 0 and self.costs[-1].trial < self.trials:
            lines += [f"With none left after that, P(safe) >= {_shown(self.rho_end)} is asked for."]
        return "\n".join(lines)

    @property
    def _survey(self) -> str:
        """How many of the first trials follow no gain."""
        look = "one looks" if self.surveyed == 1 else "ones look"
        return f"; {self.surveyed} early {look} where nothing was tried" if self.surveyed else ""


def _shown(rho: float) -> str:
    """Two decimals; four where two would say 1."""
    return f"{rho:.2f}" if rho < 0.99 else f"{rho:.4f}"


def make_plan(trials: int, failures: int, settings: Settings | None = None) -> Plan:
    """The plan for T trials and B failures.

    Parameters
    ----------
    trials, failures
        T and B.
    settings
        As for `tumble.Optimizer`; None for the default where every parameter is continuous.

    Returns
    -------
    Plan
        `str(plan)` says it in a few lines.

    Raises
    ------
    InputError
        If T and B don't fit together, or T is above 100,000.

    Examples
    --------
    >>> make_plan(60, 6).risky_without_failures
    60
    """
    settings = settings or Settings().for_space(continuous=True, choices=False)
    total, allowed = checks.budget(trials, failures, "lower failures, or raise trials")
    if total > MOST:
        raise InputError(f"trials must be at most {MOST:,} for a plan, which looks at each one, not {total}")
    assert allowed is not None
    start = budget.start(total, allowed, settings)
    bold, surveyed, state = 0, 0, start
    for known in range(total):
        may = budget.is_bold(state, True, settings)
        bold += may
        surveyed += may and known > 0 and budget.surveys(state, known, settings)
        state = budget.step(state, False, settings)
    costs = _worst_case(start, settings)
    left = total - costs[-1].trial if costs else total
    end = budget.required(budget.BudgetState(0.0, max(left, 1), 0), settings)
    return Plan(total, allowed, budget.required(start, settings), bold, costs, end, surveyed)


def plan_of(config: StudyConfig, trials: int | None = None, failures: int | None = None) -> Plan:
    """The plan of a study; `trials` and `failures` replace its T and B where they are given.

    Raises
    ------
    InputError
        If the study limits no failures, and none are given, or as for `make_plan`.
    """
    allowed = config.failures if failures is None else failures
    if allowed is None:
        raise InputError(f"{config.path} limits no failures, so there is nothing to plan; give --failures")
    settings = config.space.suited(resolve_settings(config.settings, config.boldness))
    return make_plan(config.trials if trials is None else trials, allowed, settings)


def _worst_case(state: budget.BudgetState, settings: Settings) -> tuple[Cost, ...]:
    costs: list[Cost] = []
    trial = careful = 0
    pending: tuple[int, float, float] | None = None
    while state.trials_left > 0:
        trial += 1
        bold = budget.is_bold(state, True, settings)
        before = budget.required(state, settings)
        if bold and pending is not None:
            costs.append(Cost(len(costs) + 1, *pending, careful))
        state = budget.step(state, bold, settings)
        if bold:
            pending, careful = (trial, before, budget.required(state, settings)), 0
        else:
            careful += 1
    if pending is not None:
        costs.append(Cost(len(costs) + 1, *pending, careful))
    return tuple(costs)
