"""Void and amend: a slip of the finger is taken back, and the search goes on as if it had never been."""

import json
import threading
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as effort
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import tumble
from tumble import plots

TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)
BOX = [(-5.0, 5.0), (0.0, 10.0)]


def optimizer(trials=20, failures: int | None = 5, constraints: Any = 1, **more: Any) -> tumble.Optimizer:
    return tumble.Optimizer(BOX, trials, failures, constraints, seed=0, settings=TINY, **more)


def bowl(x) -> float:
    return float((x[0] - 1.0) ** 2 + 0.1 * (x[1] - 3.0) ** 2)


def load(x) -> float:
    return float(x[0] + x[1] - 9.0)


def played(count: int = 6, **more: Any) -> tumble.Optimizer:
    opt = optimizer(**more)
    for _ in range(count):
        s = opt.ask()
        opt.tell(s, bowl(s.x), [load(s.x)])
    return opt


def rebuilt(opt: tumble.Optimizer, history: Any) -> tumble.Optimizer:
    """A study that has seen `history` and nothing else; its first fit starts afresh."""
    return tumble.Optimizer.from_trials(
        BOX, history, trials=opt.max_trials, failures=opt.max_failures, constraints=opt.constraint_names,
        seed=opt.seed, settings=TINY, on_exhausted=opt.on_exhausted,
    )  # fmt: skip


def same(a: tumble.Suggestion, b: tumble.Suggestion) -> bool:
    return bool(np.array_equal(a.x, b.x)) and replace(a, x=None) == replace(b, x=None)


# -- a plain model of the counts ---------------------------------------------------------------------------


@dataclass
class Plain:
    """What the model knows of one trial."""

    status: str
    failed: bool = False
    value: float | None = None
    billed: bool = True


class Undoing(RuleBasedStateMachine):
    """Asks, tells, skips, voids and amends in any order: the counts are those of a plain list."""

    @initialize(trials=st.integers(1, 10), failures=st.integers(0, 4))
    def begin(self, trials, failures):
        self.opt = optimizer(trials, min(failures, trials))
        self.model: list[Plain] = []
        self.bounds: list[float] = []  # of the gain, as they were said since the last correction

    def draw(self, data: Any, status: str) -> int:
        return int(data.draw(st.sampled_from([n for n, t in enumerate(self.model) if t.status == status])))

    def has(self, status: str) -> bool:
        return any(t.status == status for t in getattr(self, "model", []))

    @rule()
    def ask(self):
        used = sum(t.billed and t.status in ("told", "pending") for t in self.model)
        if used >= self.opt.max_trials:
            with pytest.raises(tumble.TrialsExhausted):
                self.opt.ask()
            return
        failed = sum(t.billed and t.failed and t.status == "told" for t in self.model)
        assert self.opt.max_failures is not None
        if failed > self.opt.max_failures:
            with pytest.raises(tumble.BudgetExhausted, match="P\\(safe\\) can't be trusted"):
                self.opt.ask()
            return
        try:
            asked = self.opt.ask()
        except tumble.BudgetExhausted:  # without a failure left, nothing may be safe enough
            if failed < self.opt.max_failures:
                raise
        else:
            assert asked.number == len(self.model)
            self.bounds += [] if asked.gain_bound is None else [asked.gain_bound]
            self.model.append(Plain("pending"))

    @rule(value=st.floats(-5, 5), g=st.floats(-1, 1))
    def tell_old_data(self, value, g):
        self.opt.tell([value, 5.0], value, [g], billed=False)
        self.model.append(Plain("told", g > 0, value, billed=False))

    @precondition(lambda self: self.has("pending"))
    @rule(data=st.data(), value=st.floats(-5, 5), g=st.floats(-1, 1), crash=st.booleans())
    def tell(self, data, value, g, crash):
        n = self.draw(data, "pending")
        if crash:
            self.opt.tell(n, failed=True)
        else:
            self.opt.tell(n, value, [g])
        self.model[n] = Plain("told", crash or g > 0, None if crash else value)

    @precondition(lambda self: self.has("pending"))
    @rule(data=st.data())
    def skip(self, data):
        n = self.draw(data, "pending")
        self.opt.skip(n)
        self.model[n].status = "skipped"

    @precondition(lambda self: self.has("told"))
    @rule(data=st.data())
    def void(self, data):
        n = self.draw(data, "told")
        self.opt.void(n, "slip")
        self.model[n].status = "voided"
        self.bounds = []

    @precondition(lambda self: self.has("told"))
    @rule(data=st.data(), value=st.floats(-5, 5), g=st.floats(-1, 1), crash=st.booleans())
    def amend(self, data, value, g, crash):
        n = self.draw(data, "told")
        if crash:
            self.opt.amend(n, failed=True, reason="broke")
        else:
            self.opt.amend(n, value, [g], failed=False)
        self.model[n] = Plain("told", crash or g > 0, None if crash else value, billed=self.model[n].billed)
        self.bounds = []

    @precondition(lambda self: self.has("told"))
    @rule(data=st.data(), g=st.floats(-1, 1))
    def amend_a_constraint(self, data, g):
        n = self.draw(data, "told")
        crashed = self.opt.trials[n].crashed
        self.opt.amend(n, constraints=[g])
        self.model[n] = replace(self.model[n], failed=crashed or g > 0)
        self.bounds = []

    @precondition(lambda self: self.has("pending") or self.has("voided") or self.has("skipped"))
    @rule(data=st.data())
    def refuse(self, data):
        n = data.draw(st.sampled_from([n for n, t in enumerate(self.model) if t.status != "told"]))
        before = self.opt.to_dict()
        with pytest.raises(tumble.InputError):
            self.opt.void(n)
        with pytest.raises(tumble.InputError):
            self.opt.amend(n, 1.0, [0.0])
        assert self.opt.to_dict() == before

    @rule()
    def save_and_restore(self):
        self.opt = tumble.Optimizer.from_dict(json.loads(json.dumps(self.opt.to_dict())))

    @invariant()
    def the_counts_are_those_of_the_model(self):
        if not hasattr(self, "opt"):
            return
        opt, model = self.opt, self.model
        told = [t for t in model if t.status == "told"]
        used = sum(t.billed and t.status in ("told", "pending") for t in model)
        failures = sum(t.billed and t.failed for t in told)
        assert [t.status for t in opt.trials] == [t.status for t in model]
        assert [t.number for t in opt.trials] == list(range(len(model)))
        assert (opt.n_told, opt.n_failures) == (len(told), failures)
        assert opt.trials_left == opt.max_trials - used
        assert opt.failures_left == max(opt.failures_allowed - failures, 0)
        safe = [t.value for t in told if not t.failed and t.value is not None]
        assert (None if opt.best is None else opt.best.value) == (min(safe) if safe else None)
        assert opt.reliability.claimed <= len(told)

    @invariant()
    def only_what_was_said_since_the_last_correction_says_what_can_be_gained(self):
        if hasattr(self, "opt"):
            gain = self.opt.gain
            assert (None if gain is None else gain.bound) == max(self.bounds[-5:], default=None)


TestUndoing = Undoing.TestCase
TestUndoing.settings = effort(
    max_examples=25, stateful_step_count=20, suppress_health_check=[HealthCheck.too_slow], deadline=None
)


# -- what a voided trial leaves behind ---------------------------------------------------------------------


def test_a_larger_budget_makes_an_earlier_gain_worthless():
    for more in ({"trials": 1}, {"failures": 1}):
        opt = played(6)
        assert opt.gain is not None
        opt.extend(**more)
        assert opt.gain is None
        assert rebuilt(opt, opt.trials).gain is None
        said = opt.ask().gain_bound
        assert opt.gain is not None
        assert opt.gain.bound == said


@pytest.mark.parametrize("number", [0, 3, 5])
@pytest.mark.parametrize("on_exhausted", ["safe", "stop"])
def test_a_study_with_a_voided_trial_suggests_what_one_that_never_had_it_suggests(number, on_exhausted):
    opt = played(on_exhausted=on_exhausted)
    opt.void(number, "typing error")
    never = rebuilt(opt, [t for t in opt.trials if t.number != number])
    for _ in range(3):
        n = opt.trials[-1].number + 1
        assert same(opt.suggest(n), never.suggest(n))
        s = opt.ask()
        if number == 5 and never.trials[-1].number < 5:  # a gap at the end is the caller's to keep
            break
        assert same(s, never.ask())
        for search in (opt, never):
            search.tell(s.number, bowl(s.x), [load(s.x)])
    assert opt.failures_left == never.failures_left
    assert opt.recommend() is not None


def test_an_amended_study_suggests_what_one_that_was_told_the_truth_suggests():
    opt = optimizer()
    for n in range(6):
        s = opt.ask()
        opt.tell(s, 100.0 * bowl(s.x) if n == 2 else bowl(s.x), [-load(s.x) if n == 2 else load(s.x)])
    x = opt.trials[2].x
    opt.amend(2, bowl(x), [load(x)])
    truth = rebuilt(opt, [replace(t, changes=()) for t in opt.trials])
    for _ in range(3):
        s = opt.ask()
        assert same(s, truth.ask())
        for search in (opt, truth):
            search.tell(s.number, bowl(s.x), [load(s.x)])


def test_amending_before_the_next_suggestion_is_as_good_as_telling_it_right_bit_for_bit():
    """No fit has seen the slip; only the warm start, which is forgotten, tells the two apart."""
    slipped, right = played(), played()
    s, t = slipped.ask(), right.ask()
    assert same(s, t)
    slipped.tell(s, 1e6, [5.0])
    slipped.amend(s, bowl(s.x), [load(s.x)])
    right.tell(t, bowl(t.x), [load(t.x)])
    fresh = rebuilt(right, right.trials)
    assert same(slipped.suggest(7), fresh.suggest(7))


def test_a_trial_may_be_amended_to_a_failure_and_back():
    opt = played(3)
    before = opt.trials[1]
    assert opt.amend(1, failed=True, reason="bit broke").failed
    assert (opt.trials[1].reason, opt.trials[1].value, opt.trials[1].crashed) == ("bit broke", None, True)
    back = opt.amend(1, before.value, before.constraints, failed=False, reason="it did not")
    assert (back.value, back.constraints, back.crashed) == (before.value, before.constraints, False)
    assert [(c.kind, c.crashed) for c in back.changes] == [("amended", False), ("amended", True)]


def test_results_that_are_not_named_stay_as_they_were_told():
    opt = optimizer(constraints=["load", "heat"])
    opt.tell([0.0, 5.0], 3.2, {"load": -1.0, "heat": -2.0})
    assert opt.amend(0, 2.3).constraints == (-1.0, -2.0)
    changed = opt.amend(0, constraints={"heat": 3.0})
    assert (changed.value, changed.constraints, changed.failed) == (2.3, (-1.0, 3.0), True)
    assert opt.amend(0, constraints=[-1.0, -1.0]).value == 2.3
    crashed = opt.amend(0, constraints={"load": 0.5}, failed=True)
    assert (crashed.value, crashed.constraints) == (None, (0.5, None))
    with pytest.raises(tumble.InputError, match="constraint heat is missing"):
        opt.amend(0, 2.3, failed=False)


def test_a_crash_whose_numbers_are_corrected_stays_a_crash_with_its_reason():
    opt = optimizer(constraints=["load", "heat"])
    opt.tell([0.0, 5.0], constraints={"load": -1.0}, failed=True, reason="bit broke")
    changed = opt.amend(0, constraints={"heat": -2.0}, reason="typing error")
    assert (changed.crashed, changed.reason, changed.constraints) == (True, "bit broke", (-1.0, -2.0))
    assert (opt.n_failures, opt.best, opt.changes[0].reason) == (1, None, "typing error")
    assert opt.amend(0, constraints=[-1.0, -3.0], failed=True).reason == "bit broke"
    before = opt.to_dict()
    for results in ((3.0,), (3.0, [-1.0, -1.0])):
        with pytest.raises(
            tumble.InputError, match="trial 0 failed, and a failed trial has no value; give fail"
        ):
            opt.amend(0, *results)
    with pytest.raises(tumble.InputError, match="nothing was told"):
        opt.amend(0, failed=False)
    assert opt.to_dict() == before
    freed = opt.amend(0, 3.0, failed=False)
    assert (freed.crashed, freed.reason, freed.safe, opt.n_failures) == (False, "", True, 0)


def test_a_crash_that_broke_a_limit_may_be_no_crash_after_all():
    opt = optimizer()
    opt.tell([0.0, 5.0], constraints=[0.5], failed=True)
    assert (opt.amend(0, failed=False).crashed, opt.trials[0].failed) == (False, True)
    with pytest.raises(tumble.InputError, match="nothing to amend"):
        opt.amend(0, failed=False)


def test_the_history_says_what_it_was_when_and_why():
    opt = played(2)
    told = opt.trials[0]
    opt.amend(told, 7.0, [0.5], reason="typing error")
    opt.void(0, "the sensor was loose")
    first, second = opt.changes
    assert (first.number, first.kind, first.reason) == (0, "amended", "typing error")
    assert (first.value, first.constraints) == (told.value, told.constraints)
    assert (second.kind, second.value, second.reason) == ("voided", 7.0, "the sensor was loose")
    assert first.at <= second.at
    assert opt.trials[0].amended
    again = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    assert again.changes == opt.changes
    assert again.trials[0].status == "voided"


def test_a_state_without_changes_is_written_as_before():
    assert all("changes" not in trial for trial in played(2).to_dict()["history"])


def test_an_amendment_above_the_budget_is_recorded_and_a_hard_cap_stops():
    opt = played(3, failures=1, on_exhausted="stop")
    for trial in opt.trials:
        opt.amend(trial, failed=True)
    assert (opt.n_failures, opt.failures_left) == (3, 0)
    with pytest.raises(tumble.BudgetExhausted):
        opt.ask()
    for number in (0, 1, 2):
        opt.void(number)
    assert opt.ask().failures_left == 1


def test_figures_and_results_leave_a_voided_trial_out():
    opt = played(5)
    opt.void(2)
    opt.void(4)
    assert plots.progress_data(opt).number == [0, 1, 3]
    assert plots.coordinates_data(opt).number == [0, 1, 3]
    assert len(opt.models()[0].X) == 3
    assert plots.budget_data(opt).number[-1] <= 5
    assert opt.best is None or opt.best.number in (0, 1, 3)


def test_voiding_everything_is_a_new_start():
    opt = played(2)
    opt.void(0)
    opt.void(1)
    assert (opt.best, opt.recommend(), opt.trials_left, opt.n_told) == (None, None, 20, 0)
    assert (opt.ask().mode, opt.trials[-1].number) == ("start", 2)


def test_open_constraints_are_learned_from_an_amendment_too():
    opt = optimizer(constraints=None)
    opt.tell(opt.ask(), failed=True)
    opt.amend(0, 1.0, {"load": -1.0}, failed=False)
    assert opt.constraint_names == ("load",)


# -- bad input ---------------------------------------------------------------------------------------------


def test_void_and_amend_refuse_what_is_not_told():
    opt = played(2)
    pending = opt.ask()
    opt.skip(opt.ask())
    opt.void(0)
    before = opt.to_dict()
    for call, message in [
        (lambda: opt.void(0), "trial 0 is voided already; only a trial that was told, or is never"),
        (lambda: opt.void(pending), "trial 2 is in flight: skip it"),
        (lambda: opt.void(3), "trial 3 is skipped already"),
        (lambda: opt.void(9), "there is no trial 9"),
        (lambda: opt.void(True), "named by its Suggestion or its number"),
        (lambda: opt.void("1"), "named by its Suggestion or its number"),  # type: ignore[arg-type]
        (lambda: opt.void(1, reason=3), "reason must be text"),  # type: ignore[arg-type]
        (lambda: opt.amend(pending, 1.0, [0.0]), "trial 2 is in flight: tell it"),
        (lambda: opt.amend(0, 1.0, [0.0]), "trial 0 is voided: it does not count"),
        (lambda: opt.amend(3, 1.0, [0.0]), "trial 3 is skipped: it does not count"),
        (lambda: opt.amend(1), "nothing to amend: give a value, a constraint, failed=True or failed=False"),
        (lambda: opt.amend(1, constraints={}), "nothing to amend"),
        (lambda: opt.amend(1, 1.0, [0.0, 0.0]), "expected 1 constraint "),
        (lambda: opt.amend(1, float("nan"), [0.0]), "value must be finite"),
        (lambda: opt.amend(1, 1.0, failed=True), "a failed trial has no value"),
        (lambda: opt.amend(1, 1.0, failed="no"), "failed must be true or false"),  # type: ignore[arg-type]
        (lambda: opt.tell(0, 1.0, [0.0]), "trial 0 is voided already"),
        (lambda: opt.skip(0), "trial 0 is voided already"),
    ]:
        with pytest.raises(tumble.InputError, match=message):
            call()
    assert opt.to_dict() == before


def test_a_trial_of_another_optimizer_is_refused():
    opt, other = played(2), played(2)
    other.tell([0.0, 0.0], 1.0, [-1.0])
    opt.tell([1.0, 0.0], 1.0, [-1.0])
    with pytest.raises(tumble.InputError, match="trial 2 is not one of this Optimizer"):
        opt.void(other.trials[2])


@pytest.mark.parametrize("damage", [{"kind": "lost"}, {"number": -1}, {"at": 3}, {"more": 1}])
def test_a_damaged_change_is_refused_when_it_is_read(damage):
    opt = played(1)
    opt.void(0)
    state = json.loads(json.dumps(opt.to_dict()))
    state["history"][0]["changes"][0].update(damage)
    with pytest.raises(tumble.InputError, match="the saved Optimizer is damaged"):
        tumble.Optimizer.from_dict(state)


def test_threads_may_void_and_amend_at_once():
    opt = optimizer(200)
    for k in range(40):
        opt.tell([k / 10, 5.0], float(k), [-1.0])

    def change(k: int) -> None:
        if k % 2:
            opt.void(k)
        else:
            opt.amend(k, -1.0 * k, [-1.0])

    threads = [threading.Thread(target=change, args=(k,)) for k in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (opt.n_told, opt.trials_left, len(opt.changes)) == (20, 180, 40)


def test_a_setting_that_was_never_to_be_tried_and_was_run_is_billed():
    opt = tumble.Optimizer([(0.0, 1.0)], 10, 2, constraints=["g"], seed=0)
    opt.tell(opt.ask(), 1.0, {"g": -1.0})
    vetoed = opt.ask()
    opt.skip(vetoed, never=True)
    assert (opt.trials_left, opt.n_failures) == (9, 0)
    assert opt.amend(vetoed, 3.0, {"g": 2.0}).billed
    assert (opt.trials_left, opt.n_failures) == (8, 1)
    old = opt.tell([0.5], failed=True, billed=False)
    assert not opt.amend(old, 2.0, {"g": 1.0}, failed=False).billed  # old data stays free
