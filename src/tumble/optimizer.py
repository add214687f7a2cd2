"""Ask and tell: which trial comes next, and what came of it. No mathematics lives here."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from . import checks, counting, describing, naming, serialize, starting, trial_checks, undo
from ._threads import Turn, in_turn, own_numerics
from .core.alarm import Alarm
from .core.algorithm import judge, propose, recommend
from .core.arrays import Array
from .core.calibration import Reliability
from .core.deprecation import renamed_attributes
from .core.expectation import expected_best
from .core.gain import Gain
from .core.history import History
from .core.method import Method
from .core.process.models import Fitted, Models, fit_models
from .core.search.modes import Proposal
from .core.settings import Settings
from .errors import BudgetExhausted, TrialsExhausted
from .explanation import explain
from .known import Rule
from .methods import MethodName, check_takes, find_method, resolve_settings
from .space import Space
from .translating import to_suggestion
from .trials import Best, Change, Expected, OnExhausted, Recommended, Suggestion, Trial

ON_EXHAUSTED: tuple[OnExhausted, ...] = get_args(OnExhausted)
RECOMMEND_STREAM = 2**32 - 1  # the randomness of `recommend`, apart from every suggestion's


@renamed_attributes(n_trials="max_trials", n_failures_allowed="max_failures")
class Optimizer:
    """Minimise within `trials` trials and `failures` failures, one suggestion at a time.

    Threads may share an optimiser: they are let in one at a time, so that every promise about the budget
    holds for all of them together. A `tell` waits while another thread's `ask` is working. Processes can't
    share one; for those there are study files and `TumbleSampler`.

    Parameters
    ----------
    bounds
        The box to search, (D, 2): a lower and an upper bound for each dimension. Or a `tumble.space.Space`.
    trials
        T, how many trials there are.
    failures
        B, how many of them may fail; None for no limit.
    constraints
        How many constraints come with a trial, or their names; g <= 0 is safe. None: the first trial that is
        told says how many there are.
    seed
        A whole number: the same one gives the same search. None, or a `Generator`, draws one.
    method
        A key of `tumble.methods.METHODS`. None is "tumble" where there are constraints or a budget,
        else "ei"; with settings="paper" it is "xsf", or "xs".
    settings
        "default", "paper", or a `tumble.Settings`.
    on_exhausted
        What happens when no failure is left. "safe" goes on where P(safe) is high; "stop" ends, and never
        lets failures and trials in flight exceed B.
    known
        Constraints between parameters that are known beforehand and cost no trial, as text:
        ``["x0 + x1 <= 1"]``, beside those of a `Space`. Only settings that keep them are suggested; results
        of other settings may be told.
    noise
        Standard deviations of what is measured, where they are known, in the units that are told:
        ``{"value": 0.2, "torque": 0.05}``. "value" is the objective, other names are those of constraints
        ("g0", "g1", … where they have none). What is not named here is learned.
    boldness
        From 0, cautious, to 1: how much risk the search takes while failures are left. At 1 the first trial
        is asked for a P(safe) of 10 %, and later ones for down to 1 % while nothing fails; at 0 for 99 % and
        90 %. None is 1; but where B = 1 and every parameter is continuous, the first trial is asked for 99 %,
        as at 0. It does not go with settings="paper".

    Attributes
    ----------
    space : Space
        What is searched.
    max_trials : int
        T.
    max_failures : int | None
        B; None where failures are not limited.
    seed : int
        The seed, drawn or given.
    method : str | None
        As it was given; see `active_method`.
    settings : Settings
        Every constant of the method.
    on_exhausted : "safe" | "stop"
        As it was given.
    noise : dict
        As it was given; {} where none is known.

    Raises
    ------
    InputError
        If an argument cannot be used.

    Examples
    --------
    >>> opt = Optimizer([(0.0, 1.0)], trials=10, failures=2, seed=0)
    >>> suggestion = opt.ask()
    >>> trial = opt.tell(suggestion, (suggestion.x[0] - 0.3) ** 2)
    >>> opt.trials_left, opt.failures_left
    (9, 2)
    """

    def __init__(
        self, bounds: ArrayLike | Space, trials: int = 100, failures: int | None = None,
        constraints: int | Sequence[str] | None = 0, seed: int | np.random.Generator | None = None,
        method: MethodName | None = None, settings: str | Settings = "default",
        on_exhausted: OnExhausted = "safe", *, known: str | Sequence[str | Rule] = (),
        noise: Mapping[str, float] | None = None, boldness: float | None = None,
    ) -> None:  # fmt: skip
        self._boxed = not isinstance(bounds, Space)
        space = bounds if isinstance(bounds, Space) else Space.from_bounds(bounds)
        self.space = space.with_known(known)
        self.max_trials, self.max_failures = checks.budget(trials, failures)
        self._names = checks.constraint_names(constraints)
        self.seed = checks.seed(seed)
        self.method = method
        self.settings = self.space.suited(resolve_settings(settings, boldness))
        self.on_exhausted = checks.one_of(on_exhausted, "on_exhausted", ON_EXHAUSTED)
        self.noise = checks.noise(noise)
        checks.noise_names(self.noise, self._names)
        self._turn = Turn()
        self._trials: list[Trial] = []  # replaced, never changed: copy.copy(opt) goes on with the old one
        self._fitted: Fitted | None = None
        self._check_method(len(self._names or ()))

    @classmethod
    def from_trials(
        cls, bounds: ArrayLike | Space, history: Iterable[Trial], *, trials: int = 100,
        failures: int | None = None, constraints: int | Sequence[str] | None = 0,
        seed: int | np.random.Generator | None = None, method: MethodName | None = None,
        settings: str | Settings = "default", on_exhausted: OnExhausted = "safe",
        fitted: Fitted | None = None, known: str | Sequence[str | Rule] = (),
        noise: Mapping[str, float] | None = None, boldness: float | None = None,
    ) -> "Optimizer":  # fmt: skip
        """An optimiser that has seen trials which are kept elsewhere: in a file, a database, a study.

        Parameters
        ----------
        bounds
            The box to search, or a `tumble.space.Space`.
        history
            The trials, told, in flight, skipped or voided, in the order of their numbers, which may have
            gaps. Where the x of a trial is None it is worked out from u.
        trials
            T, how many trials there are; those of `history` count, unless they are not billed.
        failures
            B, how many of them may fail.
        constraints
            How many constraints come with a trial, or their names.
        seed
            As for the constructor.
        method
            As for the constructor.
        settings
            As for the constructor.
        on_exhausted
            As for the constructor.
        fitted
            `Optimizer.fitted` of an earlier moment: the next fit starts there.
        known
            As for the constructor.
        noise
            As for the constructor.
        boldness
            As for the constructor.

        Returns
        -------
        Optimizer
            It goes on as if it had asked for these trials itself.

        Raises
        ------
        InputError
            If the trials do not fit each other, the space or the constraints.

        Examples
        --------
        >>> from tumble import Trial
        >>> old = [Trial(0, None, (0.5,), "told", value=0.04), Trial(3, None, (0.2,))]
        >>> opt = Optimizer.from_trials([(0.0, 1.0)], old, trials=10, seed=0)
        >>> opt.ask().number, opt.trials_left
        (4, 7)
        """
        opt = cls(
            bounds, trials, failures, constraints, seed, method, settings, on_exhausted, known=known,
            boldness=boldness,
        )  # fmt: skip
        opt.noise = checks.noise(noise)
        checks.known_noise_names(opt.noise, opt._names)  # a study may have a limit on its "value"
        old = trial_checks.history(list(history), opt.space.dim, len(opt.constraint_names))
        opt._fitted = trial_checks.fitted(fitted, opt.space.dim)
        opt._trials = [t if t.x is not None else opt._with_x(t) for t in old]
        return opt

    # -- what is known -----------------------------------------------------------------------------------

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial, in the order of their numbers."""
        return tuple(self._trials)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What was voided and amended, in the order of the trials: when, why, and what it was before."""
        return tuple(change for trial in self._trials for change in trial.changes)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The names of the constraints, in order."""
        return self._names or ()

    @property
    def active_method(self) -> Method:
        """The method that searches now: the one called `method`, or what None stands for."""
        return find_method(self.method, limited=self._is_limited, search=self.settings.search)

    @property
    def takes_names(self) -> bool:
        """Whether a setting is a dict by name: the search has a `Space`, not bounds."""
        return not self._boxed

    @property
    def fitted(self) -> Fitted | None:
        """The hyperparameters of the last suggestion, where the next fit starts; None before the first."""
        return self._fitted

    @property
    def n_told(self) -> int:
        """How many trials were told, old data (`billed=False`) included."""
        return len(counting.told(self._trials))

    @property
    def n_failures(self) -> int:
        """How many billed trials failed so far."""
        return counting.failures(self._trials)

    @property
    def trials_left(self) -> int:
        """T less the billed trials that were told or are in flight."""
        return self.max_trials - counting.used(self._trials)

    @property
    def failures_allowed(self) -> int:
        """B as a number: `max_failures`, or `max_trials` where failures are not limited."""
        return self.max_trials if self.max_failures is None else self.max_failures

    @property
    def failures_left(self) -> int:
        """B less the billed failures."""
        return max(self.failures_allowed - self.n_failures, 0)

    @property
    def best(self) -> Best | None:
        """The best safe trial, old data included; None before there is one."""
        return counting.best(self._trials)

    @property
    def gain(self) -> Gain | None:
        """What the trials left can gain: what the latest suggestion expects, and the largest of five bounds.

        None where nothing can be said, and after a trial was voided or amended, or the budget extended, until
        the next suggestion.
        """
        return counting.latest_gain(self._trials, self.max_trials, self.failures_allowed)

    @property
    def reliability(self) -> Reliability:
        """Of the suggestions that claimed P(safe) >= rho_safe, how many turned out safe."""
        return counting.reliability_of(self._trials, self.settings.rho_safe)

    @property
    def alarm(self) -> Alarm:
        """Whether P(safe) can be trusted: a test that may be looked at after every trial.

        Returns
        -------
        Alarm
            Its `rings` is true in at most 5 % of all studies where P(safe) is true; `sentence` says why.
        """
        return counting.alarm_of(self._trials)

    @in_turn
    def recommend(self) -> Recommended | None:
        """Where the model is lowest among the settings that are safe with probability `rho_safe`.

        Returns
        -------
        Recommended | None
            A setting, which need not have been tried. None before any trial was told.
        """
        history = self._history()
        if len(history.X) == 0:
            return None
        rng = np.random.default_rng([self.seed, RECOMMEND_STREAM])
        with own_numerics():
            found = recommend(
                history, self.settings, rng, warm=self._fitted, domain=self.space.domain,
                known=self.space.limits,
            )  # fmt: skip
        seen = any(t.value is not None for t in counting.told(self._trials))
        mean, std = (found.mean, found.std) if seen else (np.nan, np.nan)
        return Recommended(self._decode(found.x), mean, std, found.p_safe, found.reached)

    @in_turn
    def expected_best(self) -> Expected | None:
        """The safe trial whose value is expected to be the lowest, where results are noisy.

        `best` is the luckiest observation. Under noise the model knows better: it averages over repeats and
        over neighbours.

        Returns
        -------
        Expected | None
            None before a trial was safe, and where no noise is known or was learned to be there.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, seed=0, noise={"value": 0.5})
        >>> for x, value in ((0.2, 1.0), (0.5, 0.1), (0.5, 0.9), (0.8, 0.4)):
        ...     trial = opt.tell([x], value)
        >>> opt.best.value, 0.3 < opt.expected_best().mean < 0.7
        (0.1, True)
        """
        history = self._history()
        if not history.safe.any():
            return None
        with own_numerics():
            found = expected_best(history, fit_models(history, self.settings, self._fitted))
        if found is None:
            return None
        trial = counting.told(self._trials)[found.row]
        return Expected(trial.number, counting.own(trial.x), found.mean, found.std, found.p_safe)

    @in_turn
    def models(self) -> tuple[History, Models]:
        """What the search learns from, and the processes that it fits.

        Returns
        -------
        History
            Everything that was told, in the unit cube of `space`.
        Models
            The processes of the objective, of each constraint, and of crashes.
        """
        history = self._history()
        with own_numerics():
            return history, fit_models(history, self.settings, self._fitted)

    # -- asking ------------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None) -> Suggestion: ...

    @overload
    def ask(self, n: int) -> list[Suggestion]: ...

    def ask(self, n: int | None = None) -> Suggestion | list[Suggestion]:
        """The next trial to run, or the next n. They are in flight until they are told or skipped.

        Parameters
        ----------
        n
            How many trials to start at once; None for one.

        Returns
        -------
        Suggestion or list[Suggestion]
            The setting, and why it was chosen; a list of them where n is given. The list is the same as if
            `ask` were called n times: each suggestion takes those in flight into account. It is shorter where
            fewer trials may start.

        Raises
        ------
        TrialsExhausted
            If every trial is told or in flight, or every setting that is left was skipped with never=True.
        BudgetExhausted
            If more trials failed than may; if no failure is left and `on_exhausted` is "stop"; or if none is
            left and every setting would take more risk than is left of `settings.delta`.
        BudgetReserved
            If trials in flight may use every failure that is left, and `on_exhausted` is "stop".
        InputError
            If n is not a whole number of at least 1, or `method` needs a safe trial to start from, and none
            is known.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=3, seed=0)
        >>> len(opt.ask(n=2)), len(opt.ask(n=2))
        (2, 1)
        """
        count = 1 if n is None else checks.whole(n, "n", 1)
        with self._turn:
            asked = [self._ask()]
            with suppress(TrialsExhausted, BudgetExhausted):  # what may start is handed out
                while len(asked) < count:
                    asked.append(self._ask())
        return asked[0] if n is None else asked

    def _ask(self) -> Suggestion:
        self.check_may_start()
        suggestion = self.suggest(counting.next_number(self._trials))
        if suggestion.fitted is not None:
            self._fitted = suggestion.fitted
        self._record(suggestion)
        return suggestion

    @in_turn
    def suggest(self, number: int, reserved: int = 0) -> Suggestion:
        """A suggestion for a caller that keeps the trials itself: nothing is recorded, no count is checked.

        Parameters
        ----------
        number
            The number that the trial will have. The randomness of the suggestion depends on it.
        reserved
            Trials in flight which are not among `trials`. Each is counted as one that fails.

        Returns
        -------
        Suggestion
            The same one however often it is asked for.

        Raises
        ------
        InputError
            If `number` or `reserved` is not a whole number of at least 0, or if `method` needs a safe trial
            to start from, and none is known.
        TrialsExhausted
            If every setting that is left was skipped with never=True.
        BudgetExhausted
            If no failure is left and every setting would take more risk than is left of `settings.delta`.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, seed=0)
        >>> opt.suggest(7).number, opt.trials_left
        (7, 10)
        """
        number, reserved = checks.whole(number, "number", 0), checks.whole(reserved, "reserved", 0)
        method, state = self.active_method, None
        if method.constrained or self.max_failures is not None:
            state = counting.controller(
                self._trials, self.max_trials, self.failures_allowed, self.settings, reserved
            )
        rng, alarm = np.random.default_rng([self.seed, number]), self.alarm if self.n_failures else Alarm()
        with own_numerics():
            proposal = propose(
                self._history(), state, method, self.settings, rng, warm=self._fitted,
                known=self.space.limits, domain=self.space.domain, trials_left=max(self.trials_left, 1),
                alarmed=self.settings.alarm and alarm.rings,
            )  # fmt: skip
        if state is not None and self.max_failures is not None and method.own_level is None:
            starting.check_risk(proposal, state, self.settings, self._trials)
        starting.check_not_forbidden(proposal.x, self._trials)
        suggestion = self._in_users_units(number, proposal, alarm)
        why = explain(suggestion, method.name, counting.safe_range(self._trials))
        return replace(suggestion, why=why)

    @in_turn
    def try_(self, params: ArrayLike | Mapping[str, object]) -> Suggestion:
        """A trial with a setting of one's own. It is in flight until it is told or skipped.

        It obeys the budget like any other trial: unlike a setting that is told afterwards, it is counted
        before it starts.

        Parameters
        ----------
        params
            The setting: an array where the search has bounds, values by name where it has a `Space`.

        Returns
        -------
        Suggestion
            With mode "try": its `p_safe` and what else is predicted there, NaN where nothing is known. Its
            `rho` is NaN, because none was asked for.

        Raises
        ------
        InputError
            If it is no setting of the space, or does not keep a known constraint; nothing is changed.
        TrialsExhausted
            If every trial is told or in flight.
        BudgetExhausted
            If no failure is left and `on_exhausted` is "stop".
        BudgetReserved
            If trials in flight may use every failure that is left, and `on_exhausted` is "stop".

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, failures=2, seed=0)
        >>> own = opt.try_([0.25])
        >>> own.mode, opt.tell(own, 1.5).value, opt.trials_left
        ('try', 1.5, 9)
        """
        suggestion = self.judge(params, counting.next_number(self._trials))
        self.check_may_start()
        self._record(suggestion)
        return suggestion

    @in_turn
    def judge(self, params: ArrayLike | Mapping[str, object], number: int) -> Suggestion:
        """What is predicted of a setting of one's own: nothing is recorded, no budget is checked.

        Parameters
        ----------
        params
            The setting.
        number
            The number that the trial would have.

        Returns
        -------
        Suggestion
            As `try_` would give it.

        Raises
        ------
        InputError
            If it is no setting of the space, or does not keep a known constraint.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, seed=0)
        >>> opt.judge([0.25], 0).why
        'Trial 0: a setting of your own; nothing is known of it yet.'
        """
        self.space.check_known(params)  # type: ignore[arg-type]
        u = self.space.encode(params)  # type: ignore[arg-type]
        rng = np.random.default_rng([self.seed, RECOMMEND_STREAM])
        with own_numerics():
            found = judge(
                self._history(), u, self.settings, rng, warm=self._fitted, may_fail=self.failures_left > 0
            )
        suggestion = replace(self._in_users_units(number, found, self.alarm), mode="try")
        return replace(suggestion, why=explain(suggestion, self.active_method.name))

    @in_turn
    def check_may_start(self) -> None:
        """Raise what `ask` would raise; return where a trial may start.

        Raises
        ------
        TrialsExhausted
            If every trial is told or in flight.
        BudgetExhausted
            If more trials failed than may, or if no failure is left and `on_exhausted` is "stop".
        BudgetReserved
            If trials in flight may use every failure that is left, and `on_exhausted` is "stop".
        """
        limit = self.failures_allowed if self.on_exhausted == "stop" else self.max_failures
        starting.check_may_start(self._trials, self.max_trials, limit, self.on_exhausted)

    # -- telling -----------------------------------------------------------------------------------------

    @in_turn
    def tell(
        self, trial: Suggestion | int | ArrayLike | Mapping[str, object], value: float | None = None,
        constraints: Sequence[float | None] | Mapping[str, float | None] | None = None, *,
        failed: bool = False, reason: str = "", billed: bool = True,
    ) -> Trial:  # fmt: skip
        """Record what came of a trial.

        Parameters
        ----------
        trial
            A suggestion, its number, or a setting of one's own.
        value
            The value to be minimised. None where the trial failed, or where a constraint above 0 left none.
        constraints
            The constraints, in order or by name; g <= 0 is safe.
        failed
            Whether the trial crashed. Then it has no value; constraints measured before the crash are used.
        reason
            Why it failed.
        billed
            False for old data: they teach, and charge neither a trial nor a failure.

        Returns
        -------
        Trial
            What was recorded.

        Raises
        ------
        InputError
            If what was told cannot be recorded; nothing is changed then.
        TrialsExhausted
            If a setting of one's own is told, and no trial is left.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, failures=2, constraints=["load"], seed=0)
        >>> opt.tell([0.5], 1.0, {"load": -0.2}).safe
        True
        >>> opt.tell([0.9], failed=True, reason="bit broke").failed
        True
        """
        failed, billed = checks.truth(failed, "failed"), checks.truth(billed, "billed")
        names = naming.constraint_names(self._names, constraints)
        outcome = trial_checks.outcome(value, constraints, failed, reason, names)
        record = self._find(trial, billed)
        self._take_names(names, outcome.value is not None)
        told = replace(
            record, status="told", value=outcome.value, crashed=failed, reason=outcome.reason,
            constraints=outcome.constraints, billed=record.billed and billed,
        )  # fmt: skip
        self._store(told)
        return told

    @in_turn
    def skip(self, trial: Suggestion | int, *, never: bool = False, reason: str = "") -> None:
        """Withdraw a suggestion: nothing is charged.

        Parameters
        ----------
        trial
            The suggestion, or its number.
        never
            Whether its setting must never be suggested again. The search then learns from it as from a crash
            that is not billed. Otherwise nothing is learned.
        reason
            Why, where `never` is True.

        Raises
        ------
        InputError
            If there is no such trial, or it is told or skipped already.
        """
        record = naming.pending(self._trials, trial)
        if checks.truth(never, "never"):
            self.tell(record.number, failed=True, reason=reason or "never to be tried", billed=False)
        else:
            self._store(replace(record, status="skipped"))

    # -- undoing -----------------------------------------------------------------------------------------

    @in_turn
    def void(self, trial: Suggestion | Trial | int, reason: str = "") -> Trial:
        """Take a told trial out: it teaches nothing, and gives back its trial and its failure.

        The search goes on as if the trial had never been, and the next fit starts afresh. Its number is never
        used again, its results stay in `trials`, and constraints that it named stay known.

        Parameters
        ----------
        trial
            The trial, its suggestion, or its number.
        reason
            Why it is taken out.

        Returns
        -------
        Trial
            The trial as it is kept.

        Raises
        ------
        InputError
            If there is no such trial, or it is in flight (skip it), skipped or voided; nothing is changed.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, failures=2, seed=0)
        >>> opt.void(opt.tell([0.9], failed=True), "the sensor was loose").status
        'voided'
        >>> opt.trials_left, opt.failures_left
        (10, 2)
        """
        changed = undo.voided(naming.named(self._trials, trial), checks.text(reason, "reason"))
        self._correct(changed)
        return changed

    @in_turn
    def amend(
        self, trial: Suggestion | Trial | int, value: float | None = None,
        constraints: Sequence[float | None] | Mapping[str, float | None] | None = None, *,
        failed: bool | None = None, reason: str = "",
    ) -> Trial:  # fmt: skip
        """Replace results of a told trial, or say that it failed, or that it did not.

        Results that are not named stay as they were, and so does a failure that was told. The search goes on
        as if this had been told in the first place, and the next fit starts afresh. What was told before
        stays in `changes`. Failures may rise above B: that is recorded.

        Parameters
        ----------
        trial
            The trial, its suggestion, or its number.
        value
            As for `tell`; None to keep the value that was told.
        constraints
            As for `tell`; None, or a name that is left out of a dict, keeps what was told.
        failed
            True says that it failed: it has no value then, and of its constraints only the named ones are
            kept. False says that it did not fail after all; it needs a value then, as in `tell`. None keeps
            what was told.
        reason
            Why it failed, where `failed` is True; else why it is amended.

        Returns
        -------
        Trial
            The trial as it is kept.

        Raises
        ------
        InputError
            If there is no such trial, it is in flight (tell it), skipped or voided, or its results can't be
            recorded; nothing is changed.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, failures=2, seed=0)
        >>> wrong = opt.tell([0.9], 32.0)
        >>> opt.amend(wrong, 3.2).value, opt.changes[0].value
        (3.2, 32.0)
        >>> opt.amend(opt.tell([0.8], failed=True), 3.5, failed=False).value
        3.5
        """
        failed = None if failed is None else checks.truth(failed, "failed")
        names = naming.constraint_names(self._names, constraints)
        record = naming.named(self._trials, trial)
        changed = undo.amended(record, value, constraints, failed, reason, names)
        self._take_names(names, changed.value is not None)
        self._correct(changed)
        return changed

    # -- the budget --------------------------------------------------------------------------------------

    @in_turn
    def extend(self, trials: int = 0, failures: int = 0) -> None:
        """Add to the budget. What was told stays, and the search goes on as if it had begun with this budget.

        Parameters
        ----------
        trials
            How many trials are added to T.
        failures
            How many failures are added to B.

        Raises
        ------
        InputError
            If neither is above 0, one is below 0, failures are not limited, or B would exceed T; nothing is
            changed.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, failures=2, seed=0)
        >>> opt.extend(trials=5, failures=1)
        >>> opt.max_trials, opt.max_failures
        (15, 3)
        """
        self.max_trials, self.max_failures = checks.more_budget(
            self.max_trials, self.max_failures, trials, failures
        )

    # -- saving ------------------------------------------------------------------------------------------

    @in_turn
    def to_dict(self) -> dict[str, Any]:
        """The whole state as a dict that `json` can write; `from_dict` reads it.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)], trials=10, seed=0)
        >>> again = Optimizer.from_dict(opt.to_dict())
        >>> bool(again.ask().x == opt.ask().x)
        True
        """
        state = serialize.State(
            space=self.space, boxed=self._boxed, trials=self.max_trials, failures=self.max_failures,
            constraints=self._names, seed=self.seed, method=self.method, settings=self.settings,
            on_exhausted=self.on_exhausted, history=self.trials, fitted=self._fitted, noise=self.noise,
        )  # fmt: skip
        return serialize.state_to_json(state)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Optimizer":
        """The optimiser that `to_dict` described. It goes on as if it had never stopped.

        Parameters
        ----------
        data
            What `to_dict` gave, in this version or an earlier one.

        Raises
        ------
        InputError
            If the state is damaged; the message says where.
        """
        with serialize.reading(data):
            state = serialize.state_from_json(data)
            return cls.from_trials(
                serialize.box(state.space) if state.boxed else state.space, state.history,
                trials=state.trials, failures=state.failures, constraints=state.constraints, seed=state.seed,
                method=state.method, settings=state.settings, on_exhausted=state.on_exhausted,
                fitted=state.fitted, noise=state.noise, known=state.space.known if state.boxed else (),
            )  # fmt: skip

    # -- showing -----------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """How far it is."""
        return f"<Optimizer: {describing.sentence(self._trials, self.max_trials, self.max_failures)}>"

    def _repr_html_(self) -> str:
        """How far it is, and a figure, for a notebook."""
        return describing.page(self._trials, [repr(self).strip("<>")])

    # -- inside ------------------------------------------------------------------------------------------

    @property
    def _is_limited(self) -> bool:
        """Whether a budget of failures or a constraint limits the search."""
        return self.max_failures is not None or bool(self._names)

    def _history(self) -> History:
        names = checks.noise_keys(self.constraint_names)
        noise = [self.noise.get(name, np.nan) for name in names] if self.noise else None
        return counting.history(self._trials, self.space.dim, len(names) - 1, noise, self.max_failures)

    def _decode(self, u: Array) -> Any:
        """The setting: a dict, or an array that can't be written to, because the record has the same one."""
        values = self.space.decode(u)
        if not self._boxed:
            return values
        x = np.array(list(values.values()), dtype=float)
        x.flags.writeable = False
        return x

    def _record(self, suggestion: Suggestion) -> None:
        """A new trial in flight. Its setting is its own: whoever has the suggestion may change the dict."""
        self._store(self._with_x(Trial(suggestion.number, None, suggestion.u, suggestion=suggestion)))

    def _with_x(self, trial: Trial) -> Trial:
        """A trial with its x, and that of its suggestion, worked out from u."""
        x = self._decode(np.array(trial.u))
        made = None if trial.suggestion is None else replace(trial.suggestion, x=x)
        return replace(trial, x=x, suggestion=made)

    def _in_users_units(self, number: int, proposal: Proposal, alarm: Alarm) -> Suggestion:
        return to_suggestion(
            number, self._decode(proposal.x), proposal, self._trials, self.constraint_names, self.space.names,
            self.settings, failures_left=self.failures_left, trials_left=self.trials_left - 1,
            budget=(self.max_trials, self.failures_allowed), alarm=alarm.sentence,
        )  # fmt: skip

    def _check_method(self, count: int) -> None:
        chosen = find_method(self.method, limited=self._is_limited or count > 0, search=self.settings.search)
        check_takes(chosen, count)

    def _take_names(self, names: tuple[str, ...], has_value: bool) -> None:
        """Keep the names of the constraints; the first trial that returns says them, where they are open."""
        self._check_method(len(names))
        if self._names is None and (names or has_value):
            checks.noise_names(self.noise, names)
            self._names = names

    def _find(self, trial: Any, billed: bool) -> Trial:
        """The trial that is told: one in flight, or a new one for a setting of the user's own."""
        if naming.is_name(trial):
            return naming.pending(self._trials, trial)
        u = self.space.encode(trial)
        if billed and self.trials_left <= 0:
            raise TrialsExhausted(
                f"all {self.max_trials} trials are used; tell old data with billed=False to add evidence only"
            )
        number = counting.next_number(self._trials)
        return Trial(number, self._decode(u), tuple(u.tolist()), billed=billed)

    def _correct(self, changed: Trial) -> None:
        """Replace a told trial; what was learned, and what was said of the gain, is forgotten."""
        self._store(changed)
        self._trials = counting.without_gain(self._trials, counting.next_number(self._trials))
        self._fitted = None

    def _store(self, record: Trial) -> None:
        k, trials = bisect_left(self._trials, record.number, key=lambda t: t.number), list(self._trials)
        trials[k:] = [record, *(t for t in trials[k:] if t.number != record.number)]
        self._trials = trials
