"""Ask and tell: counting, pending trials, budgets that hold under every order of calls, explanations."""

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as effort
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import tumble
from tumble.explanation import explain
from tumble.space import Categorical, Float, Int, Space

TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)
BOX = [(-5.0, 5.0), (0.0, 10.0)]


def optimizer(trials=20, failures=None, **more) -> tumble.Optimizer:
    more.setdefault("seed", 0)
    more.setdefault("settings", TINY)
    return tumble.Optimizer(BOX, trials, failures, **more)


def bowl(x) -> float:
    return float((x[0] - 1.0) ** 2 + 0.1 * (x[1] - 3.0) ** 2)


# -- counting ---------------------------------------------------------------------------------------------


def test_a_trial_in_flight_counts_and_a_told_one_keeps_counting():
    opt = optimizer(5, 2, constraints=1)
    assert (opt.trials_left, opt.failures_left) == (5, 2)
    s = opt.ask()
    assert (opt.trials_left, s.trials_left, s.failures_left) == (4, 4, 2)
    opt.tell(s, 1.0, [1.0])
    assert (opt.trials_left, opt.failures_left) == (4, 1)


def test_a_skipped_trial_charges_and_teaches_nothing():
    opt = optimizer(5, 2)
    s = opt.ask()
    opt.skip(s)
    assert (opt.trials_left, opt.failures_left, opt.best, opt.recommend()) == (5, 2, None, None)
    assert opt.trials[0].status == "skipped"
    assert opt.ask().number == 1


def test_the_truths_of_numpy_are_taken_and_saved():
    opt = tumble.Optimizer([(0.0, 1.0)], 5, 2, seed=0, settings=TINY)
    yes: Any = np.True_
    no: Any = np.False_
    crashed = opt.tell([0.1], failed=yes, billed=no)
    amended = opt.amend(opt.tell([0.9], 1.0, failed=no), failed=yes)
    assert crashed.crashed is amended.crashed is True
    assert crashed.billed is False
    assert json.loads(json.dumps(opt.to_dict()))["history"][1]["crashed"] is True


def test_a_point_of_one_s_own_counts_as_a_trial():
    opt = optimizer(5, 2)
    opt.tell([1.0, 3.0], failed=True, reason="bit broke")
    assert (opt.trials_left, opt.failures_left) == (4, 1)
    assert opt.trials[0].reason == "bit broke"
    np.testing.assert_allclose(opt.trials[0].x, [1.0, 3.0])


def test_old_data_charge_neither_trials_nor_failures_but_teach():
    opt = optimizer(3, 1, constraints=1)
    for j in range(6):
        opt.tell([j - 3.0, 5.0], 1.0 * j, [1.0 if j % 2 else -1.0], billed=False)
    assert (opt.trials_left, opt.failures_left) == (3, 1)
    assert opt.best is not None
    assert opt.best.value == 0.0
    assert opt.ask().mode != "start"


def test_a_budget_left_out_is_as_many_failures_as_trials():
    opt = optimizer(4, constraints=1)
    assert opt.failures_left == 4
    opt.tell(opt.ask(), 1.0, [2.0])
    assert opt.failures_left == 3


def test_failures_left_never_fall_below_zero():
    opt = optimizer(6, 1, constraints=1)
    for x in ([0.0, 0.0], [1.0, 1.0], [2.0, 2.0]):
        opt.tell(x, 1.0, [1.0])
    assert opt.failures_left == 0


@pytest.mark.parametrize(
    ("value", "constraints", "failed", "counts", "safe"),
    [
        (1.0, [-1.0, 0.0], False, False, True),  # equality is safe
        (1.0, [-1.0, 1e-12], False, True, False),
        (None, [None, 3.0], False, True, False),  # an emergency stop: a violation without a value
        (None, [-1.0, None], True, True, False),  # a crash with a measurement
        (None, None, True, True, False),
    ],
)
def test_what_fails_and_what_is_safe(value, constraints, failed, counts, safe):
    opt = optimizer(5, 3, constraints=2)
    told = opt.tell(opt.ask(), value, constraints, failed=failed)
    assert (told.failed, told.safe) == (counts, safe)
    assert opt.failures_left == 3 - counts
    assert (opt.best is not None) == safe
    assert told.crashed == failed


def test_the_best_is_the_lowest_safe_value_whoever_proposed_it():
    opt = optimizer(10, 5, constraints=["load"])
    opt.tell([0.0, 0.0], 5.0, {"load": -1.0})
    opt.tell([1.0, 1.0], 1.0, {"load": 0.5})
    opt.tell([2.0, 2.0], 3.0, {"load": -0.1}, billed=False)
    opt.tell([3.0, 3.0], 3.0, {"load": -0.2})
    best = opt.best
    assert best is not None
    assert (best.number, best.value, best.constraints) == (2, 3.0, (-0.1,))
    np.testing.assert_allclose(best.x, [2.0, 2.0])


def test_no_trial_left_raises_until_one_is_skipped():
    opt = optimizer(2)
    a, _ = opt.ask(), opt.ask()
    with pytest.raises(tumble.TrialsExhausted, match=r"2 trials are used \(2 in flight\)"):
        opt.ask()
    with pytest.raises(tumble.TrialsExhausted, match="billed=False"):
        opt.tell([0.0, 0.0], 1.0)
    opt.tell([0.0, 0.0], 1.0, billed=False)
    opt.skip(a)
    assert opt.ask().number == 3


# -- the hard cap -----------------------------------------------------------------------------------------


def test_stop_reserves_a_failure_for_every_trial_in_flight():
    opt = optimizer(10, 2, on_exhausted="stop")
    a, b = opt.ask(), opt.ask()
    with pytest.raises(tumble.BudgetReserved, match="tell or skip one of those first"):
        opt.ask()
    opt.tell(a, 1.0)
    c = opt.ask()
    opt.tell(b, failed=True)
    with pytest.raises(tumble.BudgetReserved, match="1 of 2 failures"):
        opt.ask()
    opt.tell(c, failed=True)
    with pytest.raises(tumble.BudgetExhausted, match="2 of 2 failures are spent") as error:
        opt.ask()
    assert not isinstance(error.value, tumble.BudgetReserved)
    assert opt.recommend() is not None


def test_a_budget_of_zero_is_allowed():
    assert optimizer(5, 0).ask().mode == "start"
    with pytest.raises(tumble.BudgetExhausted):
        optimizer(5, 0, on_exhausted="stop").ask()


class HardCap(RuleBasedStateMachine):
    """Asks, tells and skips in any order, with the worst outcomes: failures never exceed B under "stop"."""

    outcomes: st.SearchStrategy = st.sampled_from(["crash", "violation", "emergency", "safe"])

    @initialize(trials=st.integers(1, 12), share=st.floats(0.0, 1.0), count=st.integers(0, 2))
    def begin(self, trials, share, count):
        self.B = round(share * trials)
        self.T, self.G = trials, count
        self.opt = tumble.Optimizer(BOX, trials, self.B, count, seed=1, settings=TINY, on_exhausted="stop")
        self.flying: list[tumble.Suggestion] = []

    @rule()
    def ask(self):
        failures = sum(t.failed for t in self.opt.trials)
        told = sum(t.status == "told" for t in self.opt.trials)
        if told + len(self.flying) >= self.T:
            expected: type[Exception] | None = tumble.TrialsExhausted
        elif failures >= self.B:
            expected = tumble.BudgetExhausted
        elif failures + len(self.flying) >= self.B:
            expected = tumble.BudgetReserved
        else:
            expected = None
        if expected is None:
            self.flying.append(self.opt.ask())
        else:
            before = self.opt.to_dict()
            with pytest.raises(expected) as error:
                self.opt.ask()
            assert type(error.value) is expected
            assert self.opt.to_dict() == before

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), outcome=outcomes)
    def tell(self, data, outcome):
        s = self.flying.pop(data.draw(st.integers(0, len(self.flying) - 1)))
        G = self.G
        if outcome == "crash" or (G == 0 and outcome != "safe"):
            self.opt.tell(s, failed=True)
        elif outcome == "safe":
            self.opt.tell(s.number, bowl(s.x), [-1.0] * G)
        else:
            value = bowl(s.x) if outcome == "violation" else None
            self.opt.tell(s, value, [2.0] * G)

    @precondition(lambda self: self.flying)
    @rule(data=st.data())
    def skip(self, data):
        self.opt.skip(self.flying.pop(data.draw(st.integers(0, len(self.flying) - 1))))

    @rule()
    def save_and_restore(self):
        self.opt = tumble.Optimizer.from_dict(self.opt.to_dict())

    @invariant()
    def failures_and_trials_in_flight_stay_within_the_budget(self):
        if not hasattr(self, "opt"):
            return
        failures = sum(t.failed for t in self.opt.trials)
        assert failures + len(self.flying) <= max(self.B, 0)
        assert self.opt.failures_left == self.B - failures
        told = sum(t.status == "told" for t in self.opt.trials)
        assert self.opt.trials_left == self.T - told - len(self.flying) >= 0
        assert sorted(t.number for t in self.opt.trials if t.pending) == sorted(s.number for s in self.flying)


TestHardCap = HardCap.TestCase
TestHardCap.settings = effort(
    max_examples=25, stateful_step_count=20, suppress_health_check=[HealthCheck.too_slow], deadline=None
)


@pytest.mark.parametrize("pattern", ["all fail", "none fails", "alternating", "crashes only", "first safe"])
@pytest.mark.parametrize("workers", [1, 3])
def test_stop_holds_for_every_pattern_of_outcomes(pattern, workers):
    opt = optimizer(12, 4, constraints=1, on_exhausted="stop", seed=3)
    flying: list[tumble.Suggestion] = []
    k = 0
    while True:
        try:
            while len(flying) < workers:
                flying.append(opt.ask())
        except (tumble.BudgetExhausted, tumble.TrialsExhausted):
            if not flying:
                break
        s, k = flying.pop(0), k + 1
        fails = {"all fail": True, "none fails": False, "alternating": k % 2 == 0, "crashes only": True,
                 "first safe": k > 1}[pattern]  # fmt: skip
        if pattern == "crashes only":
            opt.tell(s, failed=True)
        else:
            opt.tell(s, bowl(s.x), [1.0 if fails else -1.0])
        assert sum(t.failed for t in opt.trials) + len(flying) <= 4
    assert sum(t.failed for t in opt.trials) == (0 if pattern == "none fails" else 4)


def test_a_trial_beside_others_finds_no_failure_left_with_at_most_one_percent():
    """With something safe known, (1 - P(safe)) Pr(those in flight use all failures) <= 1 - rho_safe."""
    for seed in range(3):
        opt = optimizer(20, 2, constraints=1, seed=seed)
        for x in ([-4.0, 1.0], [-3.0, 5.0], [-2.0, 8.0], [-4.5, 4.0]):
            opt.tell(x, bowl(x), [x[0]], billed=False)
        p_failures: list[float] = []
        for s in opt.ask(n=6):
            law = np.ones(1)
            for p in p_failures:
                law = np.convolve(law, [1.0 - p, p])
            assert (1.0 - s.p_safe) * law[2:].sum() <= 0.01 + 1e-9 or s.mode == "safest"
            p_failures.append(1.0 - s.p_safe)


@pytest.mark.parametrize("pattern", ["all fail", "alternating", "crashes only", "as predicted"])
@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("end", ["safe", "stop"])
def test_failures_exceed_the_budget_by_no_more_than_the_trials_in_flight(pattern, workers, end):
    """Under "safe" by `workers` at most, under "stop" by none. Nobody asks once B is exceeded."""
    rng = np.random.default_rng(workers)
    opt = optimizer(16, 3, constraints=1, on_exhausted=end, seed=4)
    opt.tell([1.0, 3.0], bowl([1.0, 3.0]), [-1.0])
    flying: list[tumble.Suggestion] = []
    while opt.n_failures <= 3:
        try:
            flying += opt.ask(n=workers - len(flying)) if len(flying) < workers else []
        except (tumble.TrialsExhausted, tumble.BudgetExhausted):
            if not flying:
                break
        s = flying.pop(0)
        fails = pattern in ("all fail", "crashes only") or (pattern == "alternating" and s.number % 2 == 0)
        fails = rng.random() > s.p_safe if pattern == "as predicted" else fails
        if fails and pattern == "crashes only":
            opt.tell(s, failed=True)
        else:
            opt.tell(s, bowl(s.x), [1.0 if fails else -1.0])
    for s in flying:  # they are told all the same
        opt.tell(s, failed=True)
    assert opt.n_failures <= 3 + (workers if end == "safe" else 0)


def test_trials_in_flight_leave_the_rest_their_share_of_the_failures():
    """Where each held a whole failure, the third in a row was asked for 99.9 %."""

    def asked(share: bool) -> list[tumble.Suggestion]:
        opt = optimizer(20, 2, constraints=1, settings=tumble.Settings(share_failures=share))
        for x in ([-3.0, 3.0], [-2.0, 2.0], [-4.0, 5.0], [-1.0, 8.0]):
            opt.tell(x, bowl(x), [np.sin(2.0 * x[0]) - 0.9], billed=False)
        return opt.ask(n=5)

    whole, shared = asked(False), asked(True)
    assert [s.mode for s in whole[2:]] == ["careful"] * 3
    assert all(s.rho > 0.99 for s in whole[2:])
    assert shared[2].mode == "bold"
    assert all(s.rho < 0.99 and s.mode != "safest" for s in shared)
    assert "2 failures left to spend, shared with trials 4 and 5 in flight, 17 trials" in str(shared[2])


# -- boldness ---------------------------------------------------------------------------------------------


def test_a_cautious_search_asks_for_more_and_its_first_step_is_safer():
    def first(boldness: float | None) -> tumble.Suggestion:
        opt = optimizer(20, 3, constraints=1, settings="default", boldness=boldness)
        opt.tell([-4.0, 1.0], 5.0, [-0.5])
        return opt.ask()

    cautious, middle, bold = (first(b) for b in (0.0, 0.5, 1.0))
    assert cautious.rho > middle.rho > bold.rho
    assert cautious.mode == "careful"
    assert cautious.p_safe > bold.p_safe
    steps = [np.abs(np.array(s.u) - [0.1, 0.1]).max() for s in (cautious, bold)]
    assert steps[0] < steps[1]
    np.testing.assert_array_equal(first(None).x, bold.x)


@pytest.mark.parametrize("other", [Categorical(("wet", "dry")), Int(1, 3), Float(0.0, 1.0, step=0.1)])
def test_with_choices_or_steps_the_only_failure_is_spent_as_any_other(other):
    """What another choice does is only known once it was tried."""
    continuous, mixed = Space({"a": Float(0.0, 1.0)}), Space({"a": Float(0.0, 1.0), "b": other})
    assert tumble.Optimizer(continuous, 20, 1).settings.rho_only == 0.99
    opt = tumble.Optimizer(mixed, 20, 1)
    assert opt.settings.rho_only is None
    assert tumble.Optimizer(mixed, 20, 1, boldness=0.0).ask().rho == pytest.approx(0.99)
    assert opt.ask().rho == pytest.approx(0.1)


@pytest.mark.parametrize("other", [Float(0.0, 1.0), Int(1, 3), Float(0.0, 1.0, step=0.1)])
def test_with_choices_a_search_stays_bold_until_its_last_failure(other):
    """Careful trials go step by step, and no step leads to another choice."""

    def asked(parameter: Categorical | Float | Int, settings: tumble.Settings) -> list[float]:
        opt = tumble.Optimizer(Space({"a": Float(0.0, 1.0), "b": parameter}), 20, 3, ["g"], settings=settings)
        assert opt.settings.reserve == (settings.reserve if isinstance(parameter, Categorical) else None)
        opt.tell({"a": 0.5, "b": True if isinstance(parameter, Categorical) else 1.0}, 1.0, [-1.0])
        rho = []
        for g in (1.0, 1.0, -1.0):
            suggestion = opt.ask()
            rho.append(suggestion.rho)
            opt.tell(suggestion, 1.0, [g])
        return rho

    choices = Categorical((True, False))
    bold, by_14 = asked(choices, tumble.Settings()), asked(choices, tumble.Settings(reserve=None))
    assert bold[0] == by_14[0]
    assert bold[1] == pytest.approx(0.1)  # two failures are left
    assert by_14[1] > 0.2
    assert bold[2] == by_14[2] > 0.5  # one is
    assert asked(other, tumble.Settings()) == pytest.approx(by_14)


def test_boldness_is_kept_in_what_is_saved():
    opt = optimizer(20, 3, constraints=1, settings="default", boldness=0.25)
    opt.tell([-4.0, 1.0], 5.0, [-0.5])
    again = tumble.Optimizer.from_dict(opt.to_dict())
    assert again.settings.boldness == 0.25
    np.testing.assert_array_equal(again.ask().x, opt.ask().x)


@pytest.mark.parametrize("settings", ["paper", tumble.Settings.paper()])
def test_boldness_does_not_go_with_the_paper(settings):
    with pytest.raises(tumble.InputError, match=r'boldness does not go with settings="paper".*drop one'):
        optimizer(settings=settings, boldness=0.5)


# -- batches ----------------------------------------------------------------------------------------------


def test_a_batch_is_the_same_as_asking_one_after_the_other():
    one, many = optimizer(20, 3, constraints=1), optimizer(20, 3, constraints=1)
    for opt in (one, many):
        opt.tell([1.0, 3.0], 0.0, [-1.0])
    singly = [one.ask() for _ in range(3)]
    batch = many.ask(n=3)
    assert [s.number for s in batch] == [1, 2, 3]
    assert all(np.array_equal(a.x, b.x) for a, b in zip(singly, batch, strict=True))
    assert one.to_dict() == many.to_dict()


def test_a_batch_of_one_is_a_list():
    opt = optimizer(3)
    assert [s.number for s in opt.ask(n=1)] == [0]
    assert opt.ask().number == 1


def test_a_batch_is_shorter_where_fewer_trials_may_start():
    assert len(optimizer(3).ask(n=5)) == 3
    opt = optimizer(9, 2, on_exhausted="stop")
    assert len(opt.ask(n=5)) == 2
    with pytest.raises(tumble.BudgetReserved):
        opt.ask(n=5)
    used = optimizer(1)
    used.ask()
    with pytest.raises(tumble.TrialsExhausted):
        used.ask(n=2)


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_a_batch_of_no_whole_number_is_refused(n):
    with pytest.raises(tumble.InputError, match="n must be a whole number of at least 1, not"):
        optimizer(3).ask(n=n)


@pytest.mark.parametrize(
    ("left", "held_by", "expected"),
    [
        (3, (), "3 failures left to spend, 5 trials"),
        (0, (1,), "0 failures left to spend, 5 trials"),
        (1, (4,), "1 failure left to spend, shared with trial 4 in flight, 5 trials"),
        (3, (4, 6), "3 failures left to spend, shared with trials 4 and 6 in flight, 5 trials"),
        (2, (4, 6, 7), "2 failures left to spend, shared with trials 4, 6 and 7 in flight, 5 trials"),
        (9, tuple(range(6)), "9 failures left to spend, shared with 6 trials in flight, 5 trials"),
    ],
)
def test_the_sentence_says_who_shares_the_failures(left, held_by, expected):
    s = tumble.Suggestion(8, None, "bold", 0.1, 0.6, 1.0, 0.5, left, 5, held_by=held_by)
    assert expected in explain(s, "xsf")


@pytest.mark.parametrize("mode", ["free", "bold", "careful", "safest"])
def test_the_sentence_says_that_little_is_left(mode):
    s = tumble.Suggestion(8, None, mode, 0.1, 0.6, 1.0, 0.5, 2, 5, expected_gain=1e-4, gain_bound=0.0123)
    assert explain(s, "xsf", 20.0).endswith("; little is left to gain: at most 0.012.")
    assert "little is left" not in explain(s, "xsf", 10.0)
    assert "little is left" not in explain(replace(s, gain_bound=None), "xsf", 20.0)


# -- asking -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kwargs", [{}, {"failures": 3}, {"failures": 3, "constraints": 1}])
def test_asking_again_gives_another_suggestion_before_and_after_data(kwargs):
    opt = optimizer(**kwargs)
    first = [opt.ask() for _ in range(3)]
    for s in first:
        opt.tell(s, float(np.sin(3.0 * s.x[0]) + s.x[1]), [-1.0] if "constraints" in kwargs else None)
    second = [opt.ask() for _ in range(3)]
    for group in (first, second):
        points = np.array([s.x for s in group])
        gaps = np.abs(points[:, None, :] - points).max(axis=2) + 1e9 * np.eye(3)
        assert gaps.min() > 1e-5


def test_every_order_of_tells_gives_the_same_next_suggestion():
    """What is known counts, not when it became known."""
    suggestions = []
    for order in permutations(range(3)):
        opt = optimizer(10, 4, constraints=1)
        flying = [opt.ask() for _ in range(3)]
        for j in order:
            x = flying[j].x
            opt.tell(flying[j], bowl(x), [x[0]])
        suggestions.append(opt.ask())
    for s in suggestions[1:]:
        np.testing.assert_array_equal(s.x, suggestions[0].x)
        assert (s.mode, s.rho, s.p_safe) == (suggestions[0].mode, suggestions[0].rho, suggestions[0].p_safe)


def test_one_seed_gives_one_trajectory_and_another_seed_another():
    def run(seed):
        opt = optimizer(7, 3, constraints=1, seed=seed)
        for _ in range(7):
            s = opt.ask()
            opt.tell(s, bowl(s.x), [s.x[0] - 2.0])
        return np.array([t.x for t in opt.trials])

    np.testing.assert_array_equal(run(5), run(5))
    assert (run(5) != run(6)).any()


def test_suggestions_lie_in_the_box_in_the_user_s_units():
    opt = optimizer(8)
    for _ in range(8):
        s = opt.ask()
        assert (s.x >= [-5.0, 0.0]).all()
        assert (s.x <= [5.0, 10.0]).all()
        opt.tell(s, bowl(s.x))


def test_the_search_finds_the_bottom_of_a_bowl():
    opt = optimizer(25)
    for _ in range(25):
        s = opt.ask()
        opt.tell(s, bowl(s.x))
    assert opt.best is not None
    assert opt.best.value < 0.3
    recommended = opt.recommend()
    assert recommended is not None
    assert recommended.reached
    assert bowl(recommended.x) < 0.3
    assert recommended.p_safe == 1.0


def test_a_constrained_search_finds_the_best_of_what_is_safe():
    """x0 <= 0 is safe, the free minimum at x0 = 1 is not; the best safe value is 1."""
    opt = optimizer(30, 8, constraints=1)
    for _ in range(30):
        s = opt.ask()
        opt.tell(s, bowl(s.x), [s.x[0]])
    assert opt.best is not None
    assert 1.0 <= opt.best.value < 2.0
    recommended = opt.recommend()
    assert recommended is not None
    assert recommended.p_safe >= 0.99
    assert recommended.x[0] <= 0.0
    assert sum(t.failed for t in opt.trials) <= 10


def run_with_crashes(seed: int, crashes: Callable, trials: int, failures: int | None) -> tumble.Optimizer:
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials, failures, seed=seed, settings=TINY)
    while opt.trials_left:
        s = opt.ask()
        if crashes(s.x):
            opt.tell(s, failed=True, reason="fell over")
        else:
            opt.tell(s, float((s.x[0] - 0.8) ** 2 + (s.x[1] - 0.5) ** 2))
    return opt


@pytest.mark.parametrize("seed", range(3))
def test_crashes_teach_even_where_no_budget_was_given(seed):
    """The minimum lies where trials crash; a search that learns nothing would go on crashing there."""
    opt = run_with_crashes(seed, lambda x: np.hypot(x[0] - 0.8, x[1] - 0.5) < 0.2, 18, None)
    assert not all(t.crashed for t in opt.trials[-9:])


def crashes_near_one_of_two_minima(seed: int, radius: float) -> int:
    """How many of twenty trials crash: two minima are of equal depth, and around one every trial crashes."""
    bad, good = np.array([0.25, 0.3]), np.array([0.75, 0.7])
    settings = replace(tumble.Settings(), keep_last_failure=True)
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, 20, 3, seed=seed, settings=settings)
    while opt.trials_left:
        s = opt.ask()
        near, far = (float(((s.x - c) ** 2).sum()) for c in (bad, good))
        if np.sqrt(near) < radius:
            opt.tell(s, failed=True, reason="always here")
        else:
            opt.tell(s, -float(np.exp(-near / 0.05) + np.exp(-far / 0.05)))
    return opt.n_failures


def test_a_region_that_always_crashes_is_hardly_ever_entered_a_third_time_with_a_budget_of_three():
    """After two crashes 99 % is asked, a dozen times in a run: one run of four may fail again."""
    crashed = [crashes_near_one_of_two_minima(seed, r) for seed in (1, 7) for r in (0.08, 0.2)]
    assert max(crashed) <= 3
    assert sum(n > 2 for n in crashed) <= 1


def test_a_crash_appears_by_name_in_the_explanation():
    opt = optimizer(10, 3, constraints=["heat"])
    opt.tell([0.0, 0.0], 1.0, [-1.0])
    opt.tell([4.0, 9.0], failed=True, reason="seized")
    s = opt.ask()
    assert set(s.p_each) == {"heat", "crash"}
    assert s.p_safe == pytest.approx(s.p_each["heat"] * s.p_each["crash"])


# -- explaining -------------------------------------------------------------------------------------------


def test_every_suggestion_explains_itself():
    opt = optimizer(12, 3, constraints=1)
    seen = {}
    for k in range(12):
        s = opt.ask()
        seen[s.mode] = str(s)
        assert str(s).startswith(f"Trial {s.number}: ")
        assert str(s).endswith(".")
        opt.tell(s, bowl(s.x), [1.0 if k in (1, 5) else -1.0])
    assert "seeded point" in seen["start"]
    if "bold" in seen:
        assert "P(safe) = " in seen["bold"]
    if "careful" in seen:
        assert "must reach" in seen["careful"]
    opt = optimizer(12)
    opt.tell(opt.ask(), 1.0)
    s = opt.ask()
    assert s.mode == "free"
    assert "predicted" in str(s)


def test_the_safest_point_is_called_so():
    opt = optimizer(12, 2, constraints=1, settings=tumble.Settings(less_violation=False))
    opt.tell(opt.ask(), 1.0, [3.0])
    s = opt.ask()
    assert s.mode == "safest"
    assert "nothing new reaches P(safe)" in str(s)
    assert "1 failure left to spend, 10 trials after it" in str(s)
    assert "P(safe) below 0.01 %" in explain(replace(s, p_safe=1e-85), "xsf")
    surer = replace(s, p_safe=1.0)  # than was asked for, but nothing was safe yet
    assert "nothing was safe yet, so this is about the safest; P(safe) > 99.99 %" in explain(surer, "xsf")


def test_reliability_counts_the_claims_that_held():
    opt = optimizer(12, 12, constraints=1)
    for k in range(8):
        s = opt.ask()
        opt.tell(s, bowl(s.x), [-1.0 if k < 6 else 1.0])
    claims = [t for t in opt.trials if t.suggestion and t.suggestion.p_safe >= 0.99]
    found = opt.reliability
    assert (found.level, found.claimed) == (0.99, len(claims))
    assert found.held == sum(not t.failed for t in claims)


# -- spaces -----------------------------------------------------------------------------------------------


def mixed() -> Space:
    return Space(
        {"rate": Float(1e-4, 1.0, log=True), "teeth": Int(3, 6), "oil": Categorical(("a", "b", "c"))}
    )


def test_a_space_gives_and_takes_values_by_name():
    opt = tumble.Optimizer(mixed(), 8, 3, seed=0, settings=TINY)
    for _ in range(6):
        s = opt.ask()
        assert set(s.x) == {"rate", "teeth", "oil"}
        assert s.x["teeth"] in (3, 4, 5, 6)
        assert s.x["oil"] in ("a", "b", "c")
        opt.tell(s, s.x["teeth"] + s.x["rate"] + (s.x["oil"] != "b"))
    opt.tell({"rate": 0.1, "teeth": 3, "oil": "b"}, -1.0)
    assert opt.best is not None
    assert opt.best.x == {"rate": pytest.approx(0.1), "teeth": 3, "oil": "b"}
    recommended = opt.recommend()
    assert recommended is not None
    assert recommended.x["oil"] in ("a", "b", "c")


def test_a_small_space_is_not_asked_twice_for_one_setting_before_it_is_used_up():
    opt = tumble.Optimizer(Space({"n": Int(0, 4)}), 20, seed=0, settings=TINY)
    flying = [opt.ask() for _ in range(5)]
    assert {s.x["n"] for s in flying} == {0, 1, 2, 3, 4}
    for s in flying:
        opt.tell(s, float(s.x["n"]))
    assert opt.ask().x["n"] in range(5)  # all were tried: again one of them


def test_constraints_may_be_told_by_name_and_are_kept_in_order():
    opt = optimizer(5, 3, constraints=["heat", "load"])
    told = opt.tell(opt.ask(), 1.0, {"load": 2.0, "heat": -1.0})
    assert told.constraints == (-1.0, 2.0)
    assert opt.constraint_names == ("heat", "load")


def test_a_count_left_open_is_learned_from_the_first_trial_that_returns():
    opt = optimizer(9, 3, constraints=None)
    opt.tell(opt.ask(), failed=True)
    opt.tell(opt.ask(), 1.0, {"heat": -1.0})
    assert opt.constraint_names == ("heat",)
    assert opt.ask().p_each.keys() == {"heat", "crash"}
    plain = optimizer(9, 3, constraints=None)
    plain.tell(plain.ask(), 1.0)
    with pytest.raises(tumble.InputError, match="expected 0 constraints"):
        plain.tell(plain.ask(), 1.0, [2.0])


def test_without_a_seed_two_studies_differ():
    a, b = (tumble.Optimizer(BOX, seed=None, settings=TINY).ask() for _ in range(2))
    assert (a.x != b.x).any()


def test_a_generator_may_seed():
    a, b = (tumble.Optimizer(BOX, seed=np.random.default_rng(3), settings=TINY).ask() for _ in range(2))
    np.testing.assert_array_equal(a.x, b.x)


def test_a_value_without_its_constraint_is_never_the_best_nor_a_safe_trial():
    told = tumble.Trial(0, np.zeros(1), (0.0,), status="told", value=-100.0, constraints=(None,))
    assert not told.safe
    assert not told.failed


def test_models_are_those_of_all_that_was_told():
    opt = tumble.Optimizer([(-1.0, 1.0), (0.0, 2.0)], trials=20, failures=3, constraints=1, seed=0)
    rng = np.random.default_rng(0)
    for x in rng.uniform([-1.0, 0.0], [1.0, 2.0], (8, 2)):
        opt.tell(x, float(np.sum(x**2)), constraints=[x[0] - 0.5])
    history, models = opt.models()
    assert len(history.X) == 8
    np.testing.assert_allclose(
        models.objective.outputs.to_user(models.objective.mean(history.X)), history.y, atol=0.05
    )
    assert (models.feasibility.each(history.X)[:, 0] > 0.5).tolist() == (history.g[:, 0] <= 0.0).tolist()


@pytest.mark.parametrize("delta", [1e-15, 1e-300])
def test_a_risk_that_nothing_can_keep_ends_the_search_in_words(delta: float) -> None:
    opt = optimizer(20, 0, constraints=2, settings=replace(TINY, delta=delta))
    for x in np.random.default_rng(0).uniform(0.0, 3.0, (6, 2)):
        opt.tell(x, float(np.sum(x)), [-1.0, -1.0])
    with pytest.raises(tumble.BudgetExhausted, match="no failure is left, and no new setting is safe enough"):
        opt.ask()


@pytest.mark.parametrize("size", [1e15, 1e20])
def test_values_of_any_size_are_searched_in_the_users_units(size: float) -> None:
    rng = np.random.default_rng(0)
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, 20, seed=0, settings="paper", noise={"value": 0.0})
    for x in rng.random((8, 2)):
        opt.tell(x, size * rng.standard_normal())
    assert np.isfinite(opt.ask().mean)


# -- trials that are kept elsewhere --------------------------------------------------------------------------


def some_trials() -> tumble.Optimizer:
    opt = tumble.Optimizer([(0.0, 1.0), (-2.0, 3.0)], 9, 3, 1, seed=4, settings=TINY)
    opt.tell(opt.ask(), 1.0, [-1.0])
    opt.tell(opt.ask(), failed=True)
    opt.skip(opt.ask())
    opt.tell(opt.ask(), 0.5, [-0.5])
    opt.ask()
    return opt


def rebuilt(opt: tumble.Optimizer, history: Any, **changes: Any) -> tumble.Optimizer:
    options: dict[str, Any] = {
        "trials": 9, "failures": 3, "constraints": 1, "seed": 4, "settings": TINY, "fitted": opt.fitted,
    }  # fmt: skip
    return tumble.Optimizer.from_trials([(0.0, 1.0), (-2.0, 3.0)], history, **{**options, **changes})


def test_from_trials_goes_on_where_the_trials_came_from():
    opt = some_trials()
    again = rebuilt(opt, opt.trials)
    assert again.to_dict() == opt.to_dict()
    assert repr(again.ask()) == repr(opt.ask())


def test_from_trials_works_out_an_x_that_is_not_given():
    opt = some_trials()
    bare = [replace(t, x=None) for t in opt.trials]
    again = rebuilt(opt, bare)
    for found, expected in zip(again.trials, opt.trials, strict=True):
        np.testing.assert_array_equal(found.x, expected.x)
        assert found.suggestion is not None
        np.testing.assert_array_equal(found.suggestion.x, found.x)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"number": -1}, "the number of a trial must be a whole number of at least 0, not -1"),
        ({"u": (0.5,)}, "the coordinates of trial 0 .* there must be 2 of them"),
        ({"u": (0.5, np.nan)}, "the coordinates of trial 0 must lie in"),
        ({"constraints": (0.0, 1.0)}, "trial 0 has 2 constraints, not 1"),
        ({"crashed": True}, "trial 0 failed and has a value; drop one of them"),
        ({"number": 1}, "the suggestion of trial 1 is called 0"),
        ({"value": np.nan}, "the value of trial 0 must be finite, not nan; give None where nothing was"),
        ({"value": -np.inf}, "the value of trial 0 must be finite, not -inf"),
        ({"value": "a"}, "the value of trial 0 must be a number, not 'a'"),
        ({"constraints": (np.nan,)}, "a constraint of trial 0 must be finite, not nan"),
        ({"status": "failed"}, 'the status of trial 0 must be "pending", .* or "voided", not \'failed\''),
        ({"status": "TOLD"}, "the status of trial 0"),
        ({"status": None}, "the status of trial 0"),
        ({"value": None, "crashed": "yes"}, "'crashed' of trial 0 must be true or false, not 'yes'"),
        ({"billed": 1}, "'billed' of trial 0 must be true or false, not 1"),
        ({"reason": None}, "the reason of trial 0 must be text, not None"),
    ],
)
def test_from_trials_refuses_a_trial_that_does_not_fit(changes, message):
    opt = some_trials()
    with pytest.raises(tumble.InputError, match=message):
        rebuilt(opt, [replace(opt.trials[0], **changes)])


def test_from_trials_takes_results_of_other_kinds_of_numbers_and_those_that_are_missing():
    T = tumble.Trial
    old = [
        T(0, None, (0.5, 0.5), "told", value=np.float64(1.0), constraints=(-1,)),
        T(1, None, (0.2, 0.5), "told", constraints=(0.5,)),
        T(2, None, (0.3, 0.5), "told", constraints=(None,), crashed=True),
        T(3, None, (0.4, 0.5), "voided", value=2, constraints=(-1.0,)),
    ]
    opt = rebuilt(some_trials(), old, fitted=None)
    assert (opt.n_told, opt.n_failures) == (3, 2)
    assert opt.best is not None
    assert opt.best.number == 0


@pytest.mark.parametrize("number", [2, np.float32(2.0), np.int64(2), Decimal(2), np.array([2.0])])
def test_from_trials_goes_on_with_the_numbers_of_databases_and_arrays(number: Any) -> None:
    other: Any = {"number": np.int64(0), "u": (np.float32(0.5), 0), "crashed": np.False_, "billed": np.True_}
    first = tumble.Trial(x=None, status="told", value=number, constraints=(-number,), **other)
    second = tumble.Trial(1, None, (0.2, 0.5), "told", value=1.0, constraints=(-1.0,))
    opt = rebuilt(some_trials(), [first, second], fitted=None)
    assert opt.ask().number == 2
    plain = opt.trials[0]
    kinds = {type(v) for v in (*plain.u, plain.value, *plain.constraints)}
    assert kinds == {float}
    again = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    assert again.trials[0].value == 2.0


@pytest.mark.parametrize("kind", [np.array, list, tuple])
def test_from_trials_keeps_what_an_array_or_a_list_of_constraints_holds(kind: Any) -> None:
    measured: Any = kind([0.0])
    old = [
        tumble.Trial(0, None, (0.5, 0.5), "told", value=1.0, constraints=measured),
        tumble.Trial(1, None, (0.2, 0.5), "told", constraints=measured, crashed=True),
    ]
    opt = rebuilt(some_trials(), old, fitted=None)
    assert [t.constraints for t in opt.trials] == [(0.0,), (0.0,)]
    assert opt.trials[0].safe


def test_from_trials_counts_no_trial_as_safe_whose_limits_were_not_measured() -> None:
    bare = tumble.Trial(0, None, (0.5, 0.5), "told", value=1.0)
    opt = rebuilt(some_trials(), [bare], fitted=None)
    assert (opt.best, opt.trials[0].constraints, opt.trials[0].safe) == (None, (None,), False)
    assert opt.models()[0].safe.tolist() == [False]


def test_from_trials_refuses_what_is_no_trial_and_numbers_that_do_not_rise():
    opt = some_trials()
    with pytest.raises(tumble.InputError, match=r"history must hold objects of tumble\.Trial, not 3"):
        rebuilt(opt, [3])
    with pytest.raises(tumble.InputError, match=r"the numbers of the trials must rise, not \[1, 0\]"):
        rebuilt(opt, [opt.trials[1], opt.trials[0]])
    first = opt.trials[0]
    assert first.suggestion is not None
    wide = replace(first.suggestion, constraint_means=(0.0, 0.0))
    with pytest.raises(tumble.InputError, match="the suggestion of trial 0 predicts more than 1 constraints"):
        rebuilt(opt, [replace(first, suggestion=wide)])
    other = tumble.Optimizer([(0.0, 1.0)], seed=0, settings=TINY)
    other.tell(other.ask(), 1.0)
    other.ask()
    with pytest.raises(tumble.InputError, match="2 lengthscales are expected, not 1"):
        rebuilt(opt, opt.trials, fitted=other.fitted)


def test_suggest_changes_nothing_and_gives_the_same_again():
    opt = some_trials()
    before = opt.to_dict()
    first, second = opt.suggest(5), opt.suggest(5)
    assert repr(first) == repr(second)
    assert opt.to_dict() == before
    assert repr(opt.ask()) == repr(first)
    assert opt.fitted == first.fitted


def test_suggest_keeps_reserved_failures_for_trials_that_are_not_known_here():
    opt = some_trials()
    assert opt.suggest(5, reserved=2).rho > opt.suggest(5).rho
    with pytest.raises(tumble.InputError, match="reserved must be a whole number of at least 0, not -1"):
        opt.suggest(5, reserved=-1)
    with pytest.raises(tumble.InputError, match=r"number must be a whole number of at least 0, not 1\.5"):
        opt.suggest(1.5)  # type: ignore[arg-type]


def test_check_may_start_raises_what_ask_raises():
    opt = tumble.Optimizer([(0.0, 1.0)], 1, seed=0)
    opt.check_may_start()
    opt.ask()
    with pytest.raises(tumble.TrialsExhausted, match="the only trial is used"):
        opt.check_may_start()


# -- more budget ------------------------------------------------------------------------------------------


def test_an_extended_budget_is_as_if_the_search_had_begun_with_it():
    opt, longer = optimizer(4, 1, constraints=1), optimizer(9, 3, constraints=1)
    for x, g in (([0.0, 3.0], -1.0), ([4.0, 3.0], 1.0), ([1.0, 4.0], -0.5)):
        for each in (opt, longer):
            each.tell(x, bowl(x), [g])
    opt.extend(trials=5, failures=2)
    assert (opt.max_trials, opt.max_failures, opt.trials_left, opt.failures_left) == (9, 3, 6, 2)
    assert repr(opt.ask()) == repr(longer.ask())


def test_an_extended_budget_is_saved_and_lifts_what_stopped_the_search():
    opt = optimizer(2, 1, constraints=1, on_exhausted="stop")
    opt.tell([0.0, 3.0], bowl([0.0, 3.0]), [-1.0])
    opt.tell([4.0, 3.0], failed=True)
    with pytest.raises(tumble.TrialsExhausted, match=r"opt\.extend\(trials=\.\.\.\) adds more"):
        opt.ask()
    opt.extend(trials=3)
    with pytest.raises(tumble.BudgetExhausted):
        opt.ask()
    opt.extend(failures=1)
    again = tumble.Optimizer.from_dict(opt.to_dict())
    assert (again.max_trials, again.max_failures) == (5, 2)
    assert again.ask().number == opt.ask().number == 2


@pytest.mark.parametrize(
    ("failures", "more", "message"),
    [
        (2, {}, "nothing is added; give trials, failures or both"),
        (2, {"trials": -1}, "trials must be a whole number of at least 0, not -1"),
        (2, {"failures": 1.5}, "failures must be a whole number of at least 0, not 1.5"),
        (2, {"failures": 9}, r"failures \(11\) cannot exceed trials \(10\)"),
        (None, {"failures": 1}, "failures are not limited here, so that none can be added"),
    ],
)
def test_a_budget_that_can_not_be_extended_stays_as_it_is(failures, more, message):
    opt = optimizer(10, failures)
    with pytest.raises(tumble.InputError, match=message):
        opt.extend(**more)
    assert (opt.max_trials, opt.max_failures) == (10, failures)


def test_a_setting_of_ones_own_is_in_flight_like_any_other() -> None:
    opt = tumble.Optimizer([(0.0, 1.0)], trials=4, failures=2, constraints=["load"], seed=0)
    first = opt.try_([0.25])
    assert (first.mode, first.number, np.isnan(first.rho), np.isnan(first.p_safe)) == ("try", 0, True, True)
    assert (opt.trials_left, opt.trials[0].pending) == (3, True)
    opt.tell(first, 1.0, [-0.5])
    second = opt.try_([0.3])
    assert 0.0 < second.p_safe <= 1.0
    assert second.why.startswith("Trial 1: a setting of your own; P(safe) = 96.9 %, predicted")
    again = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    again.tell(second, 1.1, [-0.4])
    assert again.trials[1].suggestion is not None
    assert again.trials[1].suggestion.mode == "try"


def test_a_setting_of_ones_own_obeys_the_budget_and_the_space() -> None:
    opt = tumble.Optimizer([(0.0, 1.0)], trials=4, failures=1, on_exhausted="stop", seed=0)
    for wrong in ([1.5], [0.1, 0.2], ["fast"]):
        with pytest.raises(tumble.InputError):
            opt.try_(wrong)
    opt.try_([0.5])
    with pytest.raises(tumble.BudgetReserved):
        opt.try_([0.6])
    assert len(opt.trials) == 1
    known = tumble.Optimizer(
        Space({"x": Float(0, 1), "y": Float(0, 1)}, known=["x + y <= 1"]), trials=3, seed=0
    )
    with pytest.raises(tumble.InputError, match=r'does not keep "x \+ y <= 1"'):
        known.try_({"x": 0.7, "y": 0.6})


def test_never_is_an_unbilled_crash() -> None:
    opt = tumble.Optimizer([(0.0, 1.0)], trials=4, failures=2, seed=0)
    opt.skip(opt.ask(), never=True, reason="it would boil")
    never = opt.trials[0]
    assert (never.crashed, never.billed, never.reason) == (True, False, "it would boil")
    assert (opt.trials_left, opt.n_failures) == (4, 0)


def test_nothing_is_predicted_before_a_value_was_seen() -> None:
    opt = tumble.Optimizer([(0.0, 1.0)], trials=4, failures=2, seed=0)
    opt.tell(opt.ask(), failed=True)
    suggestion = opt.ask()
    assert np.isnan(suggestion.mean)
    assert f"P(safe) = {100.0 * suggestion.p_safe:.3g} %" in suggestion.why
    assert "no value was seen yet" in suggestion.why


# -- known constraints ------------------------------------------------------------------------------------

THIN = "x0**2 + 0.25 * (x1 - 5)**2 <= 0.04"  # a share of 2.5e-3


@pytest.mark.parametrize(
    ("method", "settings"), [*((method, TINY) for method in sorted(tumble.methods.METHODS)), ("xsf", "paper")]
)
def test_no_method_suggests_what_known_constraints_forbid(method, settings):
    opt = tumble.Optimizer(
        BOX, 8, 3, constraints=None, seed=1, method=method, settings=settings, known=["x0 + x1 <= 4.9", THIN]
    )
    opt.tell([0.0, 4.8], 1.0, [-1.0] if tumble.methods.METHODS[method].constrained else None)
    for _ in range(3):
        s = opt.ask()
        assert opt.space.broken(s.x) == []
        opt.tell(s, bowl(s.x), [s.x[0] - 0.1] if opt.constraint_names else None)
    found = opt.recommend()
    assert found is not None
    assert opt.space.broken(found.x) == []


def test_the_first_suggestions_keep_what_is_known_and_differ():
    opt = tumble.Optimizer(BOX, 6, seed=0, known=THIN)
    first, second = opt.ask(), opt.ask()
    assert opt.space.broken(first.x) == opt.space.broken(second.x) == []
    assert not np.array_equal(first.x, second.x)


def test_known_constraints_hold_in_a_mixed_space_with_few_settings_and_with_many():
    for high in (4, 400):
        parameters: dict = {"n": Int(1, high), "m": Int(1, high), "kind": Categorical(("a", "b", "c"))}
        space = Space(parameters, known=["n * m <= 2 * n + 4", 'kind != "a" or n == 1'])
        opt = tumble.Optimizer(space, 8, seed=0, settings=TINY)
        for _ in range(6):
            s = opt.ask()
            assert space.broken(s.x) == []
            opt.tell(s, float(s.x["n"] - s.x["m"]))
        assert len({tuple(t.x.items()) for t in opt.trials}) == 6


def test_results_of_settings_that_break_what_is_known_may_be_told_and_teach():
    opt = tumble.Optimizer(BOX, 6, 2, constraints=1, seed=0, settings=TINY, known="x0 <= 0")
    opt.tell([4.0, 5.0], 3.0, [-1.0], billed=False)
    opt.tell([3.0, 5.0], 3.0, [1.0])
    for _ in range(2):
        s = opt.ask()
        assert s.x[0] <= 0.0
        opt.tell(s, bowl(s.x), [-1.0])
    assert opt.n_told == 4


@pytest.mark.parametrize("space", [BOX, Space({"x0": Float(-5.0, 5.0), "x1": Int(0, 10)})])
def test_known_constraints_are_saved(space):
    opt = tumble.Optimizer(space, 6, seed=0, settings=TINY, known=["x0 + x1 <= 4", "x0 >= -4"])
    opt.tell([0.0, 3.0], 1.0)
    again = tumble.Optimizer.from_dict(opt.to_dict())
    assert again.space == opt.space
    assert again.space.known == ("x0 + x1 <= 4", "x0 >= -4")
    assert repr(again.ask()) == repr(opt.ask())


def test_a_damaged_known_constraint_in_a_save_is_refused():
    saved = tumble.Optimizer(BOX, 6, seed=0, known=["x0 + x1 <= 4"]).to_dict()
    saved["space"]["known"] = ["x0 + x9 <= 4"]
    with pytest.raises(tumble.InputError, match=r"damaged .*there is no parameter 'x9'"):
        tumble.Optimizer.from_dict(saved)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ("x + y <= 1", "known: there is no parameter 'x'"),
        (["x0 >= 9"], "no setting was found that keeps what is known"),
        ({"x0": 3}, "known must be a list of texts"),
    ],
)
def test_known_constraints_that_can_not_be_used_are_refused_at_once(known, message):
    with pytest.raises(tumble.InputError, match=message):
        tumble.Optimizer(BOX, 6, known=known)


# -- the end of the budget --------------------------------------------------------------------------------


def test_beyond_b_every_ask_is_refused_and_says_how_to_go_on():
    opt = optimizer(20, 1, constraints=1)
    opt.tell([0.0, 5.0], 1.0, [-1.0])
    for x in ([3.0, 1.0], [4.0, 1.0]):
        opt.tell(x, 1.0, [1.0])
    with pytest.raises(
        tumble.BudgetExhausted, match=r"2 trials failed where 1 may.*opt\.extend\(failures=\.\.\.\)"
    ) as e:
        opt.ask()
    assert "opt.void and opt.amend" in str(e.value)
    opt.void(2, "the sensor was loose")
    opt.check_may_start()


def test_where_no_failure_is_left_and_nothing_was_safe_no_trial_starts():
    opt = optimizer(12, 1, constraints=1)
    opt.tell(opt.ask(), 1.0, [3.0])
    with pytest.raises(
        tumble.BudgetExhausted, match="nothing safe was seen, and no new setting is safe enough"
    ):
        opt.ask()
    opt.tell([-4.0, 5.0], 1.0, [-50.0], billed=False)
    assert opt.ask(n=1)[0].p_safe > 0.99


def test_by_the_paper_s_rule_the_search_goes_on_where_it_is_safest():
    opt = optimizer(12, 1, constraints=1, settings=replace(TINY, delta=None))
    opt.tell(opt.ask(), 1.0, [3.0])
    assert opt.ask().mode == "safest"


@pytest.mark.parametrize("crashes", [False, True])
@pytest.mark.parametrize("workers", [1, 3])
def test_safe_exceeds_b_by_no_more_than_the_trials_in_flight(workers, crashes):
    """Whatever comes out, and although every claim of P(safe) may be wrong."""
    rng = np.random.default_rng([workers, crashes])
    for seed in range(3):
        opt = optimizer(14, 2, constraints=1, seed=seed)
        flying: list[tumble.Suggestion] = []
        while True:
            try:
                while len(flying) < workers:
                    flying.append(opt.ask())
            except (tumble.BudgetExhausted, tumble.TrialsExhausted):
                if not flying:
                    break
            s = flying.pop(int(rng.integers(len(flying))))
            fails = rng.random() < 0.5 and s.number > 0
            if fails and crashes:
                opt.tell(s, failed=True)
            else:
                opt.tell(s, bowl(s.x), [1.0 if fails else -1.0])
            assert opt.n_failures <= 2 + workers
        said = [t.suggestion for t in opt.trials if t.suggestion is not None]
        assert opt.settings.delta is not None
        assert sum(1.0 - s.p_safe for s in said if s.failures_left == 0) <= opt.settings.delta + 1e-9


# -- the alarm --------------------------------------------------------------------------------------------


def alarmed(**more) -> tumble.Optimizer:
    """A search whose last trials failed although P(safe) was claimed to be high."""
    opt = optimizer(30, 6, constraints=1, **more)
    for x in ([-4.0, 2.0], [-3.0, 6.0], [-2.0, 4.0], [-1.0, 8.0], [-3.5, 9.0]):
        opt.tell(x, bowl(x), [x[0]], billed=False)
    failing = [replace(opt.suggest(k), number=k, p_safe=0.995) for k in range(5, 8)]
    told = [
        tumble.Trial(s.number, s.x, s.u, "told", value=1.0, constraints=(0.1,), suggestion=s) for s in failing
    ]
    return tumble.Optimizer.from_trials(
        BOX, [*opt.trials, *told], trials=30, failures=3, constraints=1, seed=0,
        settings=more.get("settings", TINY),
    )  # fmt: skip


def test_the_alarm_rings_is_told_and_saved_and_the_careful_search_stays_near_what_was_safe():
    opt = alarmed()
    assert opt.alarm.rings
    assert (opt.alarm.claims, opt.alarm.failures) == (3, 3)
    try:
        s = opt.ask()
    except tumble.BudgetExhausted:  # near what was safe nothing new may be safe enough
        return
    assert s.alarm == opt.alarm.sentence
    safe = np.array([t.u for t in opt.trials if t.safe])
    assert (np.abs(safe - np.array(s.u)).max(axis=1) <= 0.1 + 1e-12).any()
    again = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict())))
    assert again.trials[-1].suggestion is not None
    assert again.trials[-1].suggestion.alarm == s.alarm


def test_where_claims_hold_nothing_rings():
    opt = optimizer(12, 3, constraints=1)
    for _ in range(4):
        s = opt.ask()
        opt.tell(s, bowl(s.x), [-1.0])
        assert s.alarm is None
    assert not opt.alarm.rings


def test_a_setting_by_name_may_be_changed_and_the_record_stays_right():
    space = Space({"lr": Float(0.0, 1.0), "n": Int(1, 9)})
    opt = tumble.Optimizer(space, 4, seed=0)
    suggestion = opt.ask()
    asked = dict(suggestion.x)
    suggestion.x["lr"] *= 1e-3
    with pytest.raises(tumble.InputError, match=r"or its x was changed; .* name it by its number"):
        opt.tell(suggestion, 1.0)
    trial = opt.tell(suggestion.number, 1.0)
    assert opt.best is not None
    assert trial.suggestion is not None
    opt.best.x["lr"] = 7.0
    assert trial.x == trial.suggestion.x == opt.best.x == asked
    assert opt.best == tumble.Optimizer.from_dict(opt.to_dict()).best


def test_a_suggested_array_is_read_only_so_that_the_record_stays_right():
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, trials=5, seed=0)
    s = opt.ask()
    x = s.x
    with pytest.raises(ValueError, match="read-only"):
        x *= 1000
    told = opt.tell(s, 1.0)
    assert opt.best is not None
    assert opt.best.x is told.x
    again = tumble.Optimizer.from_dict(opt.to_dict())
    for one in (opt.best.x, opt.try_([0.5, 0.5]).x, opt.tell([0.1, 0.2], 0.5).x, again.trials[0].x):
        assert not one.flags.writeable


def test_no_value_is_predicted_before_one_was_seen():
    opt = tumble.Optimizer([(0.0, 1.0)], trials=5, failures=5, seed=0)
    opt.tell([0.5], failed=True)
    found = opt.recommend()
    assert found is not None
    assert np.isnan([found.mean, found.std]).all()
    opt.tell([0.1], 2.0)
    found = opt.recommend()
    assert found is not None
    assert np.isfinite(found.mean)


@pytest.mark.parametrize("constraints", [[], [-0.5]])
def test_with_no_failure_to_spend_a_safe_start_is_no_risk_taken(constraints):
    """The first trial is a seeded point that nobody can judge: it takes nothing from `delta`."""
    res = tumble.minimize(lambda x: (float(x @ x), constraints), [(0.0, 1.0)] * 2, 6, 0, seed=0)
    assert (res.n_told, res.n_failures) == (6, 0)


def test_a_setting_without_noise_is_not_tried_twice_while_another_is_left():
    space = Space({"a": Int(0, 5), "b": Categorical(("x", "y"))})
    opt = tumble.Optimizer(space, 8, 4, seed=0)
    seen = []
    while opt.trials_left:
        suggestion = opt.ask()
        assert suggestion.x not in seen
        seen.append(suggestion.x)
        a, b = suggestion.x["a"], suggestion.x["b"]
        crashes = a >= 4 and b == "x"
        opt.tell(suggestion, None if crashes else float((a - 4) ** 2 - 10 * (b == "x")), failed=crashes)
    assert len(seen) == 8


def test_after_one_crash_of_one_the_sentence_says_how_safe_the_next_trial_is():
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, 12, 2, seed=0)
    opt.tell([0.3, 0.3], failed=True)
    suggestion = opt.ask()
    assert 0.3 < suggestion.p_safe < 0.8
    assert f"P(safe) = {100 * suggestion.p_safe:.1f}"[:12] in suggestion.why
    assert "no value was seen yet" in suggestion.why


def test_with_no_failure_left_the_gain_counts_that_what_is_allowed_grows():
    """The way down is longer than what is allowed now: each safe trial allows the next step."""
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, 15, 0, seed=0)
    opt.tell([0.2, 0.2], 0.74, billed=False)
    held = []
    best = [0.74]
    while opt.trials_left:
        try:
            suggestion = opt.ask()
        except tumble.BudgetExhausted:
            break
        if suggestion.gain_bound is not None:  # one value says nothing
            held.append((best[-1], suggestion.gain_bound))
        value = float((suggestion.x[0] - 0.9) ** 2 + (suggestion.x[1] - 0.7) ** 2)
        opt.tell(suggestion, value)
        best.append(min(best[-1], value))
    assert len(held) > 5
    assert np.mean([now - best[-1] <= bound for now, bound in held]) > 0.8


@pytest.mark.parametrize(("there", "known"), [(0.44, False), (0.46, True)])
def test_trials_that_lie_close_together_say_nothing_of_what_can_be_gained(there, known):
    opt = tumble.Optimizer([(0.0, 1.0)] * 2, 20, 2, seed=0)
    for x in ([0.2, 0.5], [there, 0.6], [0.3, 0.7], [0.25, 0.55], [0.25, 0.65]):
        opt.tell(x, sum(x))
    assert (opt.ask().gain_bound is not None) == known


def times_of_b(opt: tumble.Optimizer, count: int, refuse: Callable[[tumble.Suggestion], object]) -> int:
    """How often "b" is suggested in `count` trials, where it is refused each time."""
    asked = 0
    for _ in range(count):
        found = opt.ask()
        if found.x["bit"] == "b":
            refuse(found)
            asked += 1
        else:
            opt.tell(found, 1.0 if found.x["bit"] == "a" else 2.0)
    return asked


@pytest.mark.parametrize("failures", [None, 3])
@pytest.mark.parametrize("method", [None, "ei", "xs", "xsf", "eic"])
def test_what_is_never_to_be_tried_is_not_suggested_again(failures, method):
    opt = tumble.Optimizer(Space({"bit": Categorical(("a", "b", "c"))}), 12, failures, method=method, seed=0)
    assert times_of_b(opt, 10, lambda found: opt.skip(found, never=True)) == 1


def test_where_all_that_is_left_is_never_to_be_tried_nothing_is_suggested():
    opt = tumble.Optimizer(Space({"bit": Categorical(("a", "b"))}), 12, 3, seed=0)
    for _ in range(2):
        opt.skip(opt.ask(), never=True)
    with pytest.raises(tumble.TrialsExhausted, match="the rest was skipped with never=True"):
        opt.ask()


def test_a_setting_that_crashed_is_not_tried_again_where_all_were_tried():
    opt = tumble.Optimizer(Space({"bit": Categorical(("a", "b", "c"))}), 15, seed=0)
    assert times_of_b(opt, 15, lambda found: opt.tell(found, failed=True, reason="it broke")) == 1
