"""Ask and tell: the state of one optimisation, its counting and its checks. No mathematics lives here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from . import checks, serialize, trial_checks
from ._threads import one_blas_thread
from .core import budget
from .core.algorithm import propose, recommend
from .core.arrays import Array
from .core.calibration import Reliability, reliability
from .core.deprecation import renamed_attributes
from .core.history import History
from .core.method import Method
from .core.process.models import Models, fit_models
from .core.search.modes import Snap
from .core.settings import Settings
from .errors import BudgetExhausted, BudgetReserved, InputError, TrialsExhausted
from .methods import METHODS, find_method, resolve_settings
from .space import Space
from .trials import Best, Fitted, OnExhausted, Recommended, Suggestion, Trial, explain

ON_EXHAUSTED: tuple[OnExhausted, ...] = get_args(OnExhausted)
NO_TRIAL = (
    'failures=0 with on_exhausted="stop" lets no trial start, because any might fail; '
    'use on_exhausted="safe" to go on where P(safe) is high, or allow at least one failure'
)
RECOMMEND_STREAM = 2**32 - 1  # the randomness of `recommend`, apart from every suggestion's


@renamed_attributes(n_trials="max_trials", n_failures_allowed="max_failures")
class Optimizer:
    """Minimise within `trials` trials and `failures` failures, one suggestion at a time.

    bounds: (D, 2) lower and upper bounds, or a `tumble.space.Space`.
    failures: how many trials may fail; None for no limit (with constraints: as many as there are trials).
    constraints: how many values g <= 0 (safe) come with a trial, or their names.
    method: None for "xs" (neither budget nor constraint) or "xsf"; see `tumble.methods.METHODS`.
    on_exhausted: "safe" goes on, very carefully, when no failure is left; "stop" is a hard cap.
    """

    def __init__(
        self, bounds: ArrayLike | Space, trials: int = 100, failures: int | None = None,
        constraints: int | Sequence[str] | None = 0, seed: int | np.random.Generator | None = None,
        method: str | None = None, settings: str | Settings = "default", on_exhausted: OnExhausted = "safe",
    ) -> None:  # fmt: skip
        self._boxed = not isinstance(bounds, Space)
        self.space = bounds if isinstance(bounds, Space) else Space.from_bounds(bounds)
        self.max_trials, self.max_failures = checks.budget(trials, failures)
        self._names = checks.constraint_names(constraints)
        self.seed = checks.seed(seed)
        self.method = method
        self.settings = resolve_settings(settings)
        self.on_exhausted = checks.one_of(on_exhausted, "on_exhausted", ON_EXHAUSTED)
        self._trials: list[Trial] = []
        self._fitted: Fitted | None = None
        self._check_method(len(self._names or ()))

    @classmethod
    def from_trials(
        cls, bounds: ArrayLike | Space, history: Iterable[Trial], *, trials: int = 100,
        failures: int | None = None, constraints: int | Sequence[str] | None = 0,
        seed: int | np.random.Generator | None = None, method: str | None = None,
        settings: str | Settings = "default", on_exhausted: OnExhausted = "safe",
        fitted: Fitted | None = None,
    ) -> "Optimizer":  # fmt: skip
        """An optimiser that has seen trials which are kept elsewhere: in a file, a database, a study.

        Parameters
        ----------
        bounds, trials, failures, constraints, seed, method, settings, on_exhausted
            As for the constructor.
        history
            The trials, told, in flight or skipped, in the order of their numbers, which may have gaps. Where
            x is None it is worked out from u.
        fitted
            `Optimizer.fitted` of an earlier moment: the next fit starts there.

        Returns
        -------
        Optimizer
            It goes on as if it had asked for these trials itself.

        Raises
        ------
        InputError
            If the trials fit neither each other nor the space.
        """
        opt = cls(bounds, trials, failures, constraints, seed, method, settings, on_exhausted)
        known = list(history)
        trial_checks.history(known, opt.space.dim, len(opt.constraint_names))
        opt._fitted = trial_checks.fitted(fitted, opt.space.dim)
        opt._trials = [t if t.x is not None else opt._with_x(t) for t in known]
        return opt

    # -- what is known -----------------------------------------------------------------------------------

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial, in the order of their numbers."""
        return tuple(self._trials)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints, in order."""
        return self._names or ()

    @property
    def fitted(self) -> Fitted | None:
        """The hyperparameters of the last suggestion, where the next fit starts; None before the first."""
        return self._fitted

    @property
    def active_method(self) -> Method:
        """The method that searches now: the one called `method`, or what None stands for."""
        return find_method(self.method, limited=self._budgeted)

    @property
    def n_told(self) -> int:
        """How many trials were told, old data (`billed=False`) included."""
        return sum(t.status == "told" for t in self._trials)

    @property
    def n_failures(self) -> int:
        """How many billed trials failed so far."""
        return sum(t.billed and t.failed for t in self._trials)

    @property
    def trials_left(self) -> int:
        """T less the billed trials told or in flight."""
        return self.max_trials - sum(t.billed and t.status != "skipped" for t in self._trials)

    @property
    def failures_left(self) -> int:
        """B less the billed failures; B is T where no budget was given."""
        return max(self.failures_allowed - self.n_failures, 0)

    @property
    def best(self) -> Best | None:
        """The best safe observation, billed or not."""
        safe = [t for t in self._trials if t.safe]
        if not safe:
            return None
        t = min(safe, key=lambda t: (t.value, t.number))
        assert t.value is not None
        return Best(t.number, t.x, t.value, t.constraints)

    @property
    def reliability(self) -> Reliability:
        """Of the suggestions that claimed P(safe) >= rho_safe, how many held."""
        told = [t for t in self._trials if t.status == "told" and t.suggestion is not None]
        p = np.array([t.suggestion.p_safe for t in told if t.suggestion is not None])
        return reliability(p, np.array([t.failed for t in told], dtype=bool), self.settings.rho_safe)

    def recommend(self) -> Recommended | None:
        """Where the process is lowest among the points that are safe with probability rho_safe."""
        history = self._history()
        if len(history.X) == 0:
            return None
        rng = np.random.default_rng([self.seed, RECOMMEND_STREAM])
        with one_blas_thread():
            found = recommend(history, self.settings, rng, warm=self._fitted, snap=self._snap)
        return Recommended(self._decode(found.x), found.mean, found.std, found.p_safe, found.reached)

    def models(self) -> tuple[History, Models]:
        """All that was told, and the processes fitted to it, both in the unit cube of `space`."""
        history = self._history()
        with one_blas_thread():
            return history, fit_models(history, self.settings, self._fitted)

    # -- asking ------------------------------------------------------------------------------------------

    def ask(self) -> Suggestion:
        """The next trial to run. It is in flight until told or skipped."""
        self.check_may_start()
        suggestion = self.suggest(self._next_number)
        if suggestion.fitted is not None:
            self._fitted = suggestion.fitted
        self._trials.append(Trial(suggestion.number, suggestion.x, suggestion.u, suggestion=suggestion))
        return suggestion

    def suggest(self, number: int, reserved: int = 0) -> Suggestion:
        """Suggestion `number`, for a caller that keeps the trials; nothing is recorded, nothing is checked.

        Parameters
        ----------
        number
            The number that the trial will have. It seeds the randomness of the suggestion.
        reserved
            Failures that are kept for trials in flight whose settings are not known here.

        Returns
        -------
        Suggestion
            The same one however often it is asked for.
        """
        number, reserved = checks.whole(number, "number", 0), checks.whole(reserved, "reserved", 0)
        method = self.active_method
        state = self._controller(reserved) if method.constrained or self.max_failures is not None else None
        with one_blas_thread():
            proposal = propose(
                self._history(), state, method, self.settings, np.random.default_rng([self.seed, number]),
                warm=self._fitted, snap=self._snap,
            )  # fmt: skip
        suggestion = Suggestion(
            number=number, x=self._decode(proposal.x), mode=proposal.mode, rho=proposal.rho,
            p_safe=proposal.p_safe, mean=proposal.mean, std=proposal.std,
            failures_left=self.failures_left, trials_left=self.trials_left - 1,
            p_each=dict(zip((*self.constraint_names, "crash"), proposal.p_each.tolist(), strict=False)),
            constraint_means=tuple(proposal.g_mean.tolist()), constraint_stds=tuple(proposal.g_std.tolist()),
            u=tuple(proposal.x.tolist()), fitted=proposal.warm,
        )  # fmt: skip
        return replace(suggestion, why=explain(suggestion, method.name))

    def check_may_start(self) -> None:
        """Raise what `ask` would raise; return where a trial may start.

        Raises
        ------
        TrialsExhausted
            If every trial is told or in flight.
        BudgetExhausted
            If no failure is left and `on_exhausted` is "stop".
        BudgetReserved
            If trials in flight may use every failure that is left, and `on_exhausted` is "stop".
        """
        if self.trials_left <= 0:
            flying = sum(t.pending for t in self._trials)
            raise TrialsExhausted(
                f"all {self.max_trials} trials are used ({flying} in flight); "
                "build a new Optimizer with more trials to go on"
            )
        if self.on_exhausted != "stop":
            return
        failed, allowed = self.n_failures, self.failures_allowed
        if allowed == 0:
            raise BudgetExhausted(NO_TRIAL)
        if failed >= allowed:
            raise BudgetExhausted(
                f"{failed} of {allowed} failures are spent; on_exhausted='stop' ends here. "
                "opt.best and opt.recommend() hold the result"
            )
        flying = sum(t.pending and t.billed for t in self._trials)
        if failed + flying >= allowed:
            raise BudgetReserved(
                f"{self.failures_left} of {allowed} failures are left and {flying} trials in flight may "
                "use them; tell or skip one of those first"
            )

    # -- telling -----------------------------------------------------------------------------------------

    def tell(
        self, trial: Suggestion | int | ArrayLike | Mapping[str, object], value: float | None = None,
        constraints: Sequence[float | None] | Mapping[str, float | None] | None = None, *,
        failed: bool = False, reason: str = "", billed: bool = True,
    ) -> Trial:  # fmt: skip
        """Record what came of a suggestion (or its number), or of a point of one's own.

        failed: a crash: no value; constraints measured before it are used.
        billed: False for old data: evidence that charges neither trials nor failures.
        """
        names = self._names_for(constraints)
        outcome = trial_checks.outcome(value, constraints, failed, reason, names)
        record = self._find(trial, checks.truth(billed, "billed"))
        self._check_method(len(names))
        if names or outcome.value is not None:  # the first trial that returns says how many there are
            self._names = names
        told = replace(
            record, status="told", value=outcome.value, crashed=failed, reason=outcome.reason,
            constraints=outcome.constraints, billed=record.billed and billed,
        )  # fmt: skip
        self._store(told)
        return told

    def skip(self, trial: Suggestion | int) -> None:
        """Withdraw a suggestion: nothing is learned, nothing is charged."""
        self._store(replace(self._pending(trial), status="skipped"))

    # -- saving ------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready state; `from_dict` goes on as if it had never stopped."""
        state = serialize.State(
            space=self.space, boxed=self._boxed, trials=self.max_trials, failures=self.max_failures,
            constraints=self._names, seed=self.seed, method=self.method, settings=self.settings,
            on_exhausted=self.on_exhausted, history=self.trials, fitted=self._fitted,
        )  # fmt: skip
        return serialize.state_to_json(state)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Optimizer":
        """Inverse of `to_dict`."""
        with serialize.reading(data):
            state = serialize.state_from_json(data)
            return cls.from_trials(
                serialize.box(state.space) if state.boxed else state.space, state.history,
                trials=state.trials, failures=state.failures, constraints=state.constraints, seed=state.seed,
                method=state.method, settings=state.settings, on_exhausted=state.on_exhausted,
                fitted=state.fitted,
            )  # fmt: skip

    # -- inside ------------------------------------------------------------------------------------------

    @property
    def _next_number(self) -> int:
        """One more than the last: the numbers rise, with gaps where a study passed over a trial."""
        return self._trials[-1].number + 1 if self._trials else 0

    @property
    def failures_allowed(self) -> int:
        """B as a number: `max_failures`, or `max_trials` where failures are not limited."""
        return self.max_trials if self.max_failures is None else self.max_failures

    @property
    def _budgeted(self) -> bool:
        return self.max_failures is not None or bool(self._names)

    @property
    def _snap(self) -> Snap | None:
        return None if self.space.is_continuous else self.space.snap

    def _decode(self, u: Array) -> Any:
        values = self.space.decode(u)
        return np.array(list(values.values()), dtype=float) if self._boxed else values

    def _with_x(self, trial: Trial) -> Trial:
        """A trial with its x, and that of its suggestion, worked out from u."""
        x = self._decode(np.array(trial.u))
        made = None if trial.suggestion is None else replace(trial.suggestion, x=x)
        return replace(trial, x=x, suggestion=made)

    def _check_method(self, count: int) -> None:
        chosen = find_method(self.method, limited=self._budgeted or count > 0)
        if count > 0 and not chosen.constrained:
            takers = ", ".join(p.name for p in _constrained())
            raise InputError(f"method {chosen.name!r} takes no constraints; choose one of {takers}")

    def _controller(self, reserved: int = 0) -> budget.BudgetState:
        """The controller's state; a trial in flight that may well fail holds one of the failures left."""
        told = [t.failed for t in self._trials if t.status == "told" and t.billed]
        state = budget.replay(self.max_trials, self.failures_allowed, told, self.settings)
        risky = sum(
            t.pending and t.billed and (t.suggestion is None or t.suggestion.p_safe < self.settings.rho_safe)
            for t in self._trials
        )
        return replace(state, failures_left=max(state.failures_left - risky - reserved, 0))

    def _history(self) -> History:
        told = [t for t in self._trials if t.status == "told"]
        G, D = len(self.constraint_names), self.space.dim

        def table(rows: list[Sequence[float | None]], width: int) -> Array:
            if width == 0:
                return np.zeros((len(rows), 0))
            if any(len(row) != width for row in rows):
                rows = [(*row, *[None] * (width - len(row))) for row in rows]
            return np.array(rows, dtype=float).reshape(len(rows), width)  # None becomes NaN

        made = [t.suggestion for t in told]
        return History(
            X=table([t.u for t in told], D),
            y=np.array([t.value for t in told], dtype=float),  # None becomes NaN
            g=table([t.constraints for t in told], G),
            crashed=np.array([t.crashed for t in told], dtype=bool),
            pending=table([t.u for t in self._trials if t.pending], D),
            predicted_mean=table([s.constraint_means if s else () for s in made], G),
            predicted_std=table([s.constraint_stds if s else () for s in made], G),
        )

    def _names_for(self, constraints: object) -> tuple[str, ...]:
        """The names in force; learned from the first told constraints where they were left open."""
        if self._names is not None:
            return self._names
        if constraints is None:
            return ()
        if isinstance(constraints, Mapping):
            return checks.constraint_names(list(constraints)) or ()
        return checks.constraint_names(len(np.atleast_1d(np.asarray(constraints, dtype=object)))) or ()

    def _find(self, trial: Any, billed: bool) -> Trial:
        if isinstance(trial, Suggestion) or (
            isinstance(trial, int | np.integer) and not isinstance(trial, bool)
        ):
            return self._pending(trial if isinstance(trial, Suggestion) else int(trial))
        u = self.space.encode(trial)
        if billed and self.trials_left <= 0:
            raise TrialsExhausted(
                f"all {self.max_trials} trials are used; tell old data with billed=False to add evidence only"
            )
        return Trial(self._next_number, self._decode(u), tuple(u.tolist()), billed=billed)

    def _pending(self, trial: Suggestion | int) -> Trial:
        number = trial.number if isinstance(trial, Suggestion) else trial
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise InputError(f"a trial is named by its Suggestion or its number, not {trial!r}")
        record = next((t for t in self._trials if t.number == number), None)
        if record is None:
            raise InputError(f"there is no trial {number}; {len(self._trials)} were asked or told so far")
        if isinstance(trial, Suggestion) and not _same(trial.x, record.x):
            raise InputError(f"suggestion {number} is not one of this Optimizer: its x is another one")
        if record.status != "pending":
            raise InputError(f"trial {number} is {record.status} already; each trial is told or skipped once")
        return record

    def _store(self, record: Trial) -> None:
        if record.number == self._next_number:
            self._trials.append(record)
        else:
            self._trials = [record if t.number == record.number else t for t in self._trials]


def _same(a: Any, b: Any) -> bool:
    """Whether two settings (arrays or dicts) are one."""
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        return bool(a == b)
    return np.array_equal(a, b)


def _constrained() -> list[Method]:
    return [m for m in METHODS.values() if m.constrained and m.listed]
