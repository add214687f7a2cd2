"""The ledger against a plain model of it, through any order of asking, telling, dying and editing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import hypothesis
import optuna
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tumble.errors import BudgetExhausted, BudgetReserved, InputError, TrialsExhausted, TumbleError
from tumble.studies import undo
from tumble.studies.config import StudyConfig
from tumble.studies.csv_io import import_csv
from tumble.studies.ledger import Ledger
from tumble.studies.ownership import BY_HAND, Owner, this_process
from tumble.studies.records import Entry, to_status
from tumble.studies.study_file import read_study_file
from tumble.trials import Suggestion

FILE = """\
name = "slope"
objective = "cost"
trials = {trials}
failures = {failures}
on_exhausted = "{rule}"
[parameters]
x = {{ low = 0.0, high = 1.0 }}
[constraints]
load = "<= {limit}"
"""
DEAD = replace(this_process(), pid=2**22 + 1, born="gone")  # a process of this machine that is gone
LOADS = st.sampled_from([-1.0, 0.0, 0.3, 2.0])


@dataclass
class Kept:
    """One trial of the model."""

    phase: Literal["running", "told", "void"] = "running"
    owner: Owner = BY_HAND
    results: dict[str, float] = field(default_factory=dict)
    crashed: bool = False
    billed: bool = True


@dataclass
class Model:
    """What a ledger should say, by counting."""

    trials: int = 6
    failures: int = 2
    rule: str = "stop"
    limit: float = 0.0
    kept: list[Kept] = field(default_factory=list)

    def failed(self, kept: Kept) -> bool:
        return kept.crashed or kept.results.get("load", -9.0) > self.limit

    def in_flight(self, up_to: int | None = None) -> int:
        return sum(k.phase == "running" for k in self.kept[: None if up_to is None else up_to + 1])

    @property
    def told(self) -> list[Kept]:
        return [k for k in self.kept if k.phase == "told" and k.billed]

    @property
    def failures_so_far(self) -> int:
        return sum(map(self.failed, self.told))

    @property
    def best(self) -> float | None:
        safe = [k for k in self.kept if k.phase == "told" and "cost" in k.results and not self.failed(k)]
        return min((k.results["cost"] for k in safe), default=None)

    @property
    def dead(self) -> list[int]:
        return [i for i, k in enumerate(self.kept) if k.phase == "running" and k.owner == DEAD]

    def refusal(self, number: int | None) -> type[TumbleError] | None:
        """Why the trial with this number may not start, or a new one where it is None."""
        ahead = self.in_flight() + 1 if number is None else self.in_flight(number)
        if len(self.told) + ahead > self.trials:
            return TrialsExhausted
        if self.failures_so_far >= self.failures + (self.rule == "safe"):
            return BudgetExhausted
        if self.rule == "stop" and self.failures_so_far + ahead > self.failures:
            return BudgetReserved
        return None


class LedgerMachine(RuleBasedStateMachine):
    """Every rule does the same to a ledger on SQLite and to the model."""

    template: Path

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shutil.copytree(self.template, self.folder, dirs_exist_ok=True)
        self.model = Model()
        self.ledger = Ledger(self.file())
        self.imported = 0

    def file(self) -> StudyConfig:
        """The study file as the model has it."""
        model, file = self.model, self.folder / "slope.toml"
        values = {"trials": model.trials, "failures": model.failures, "rule": model.rule}
        file.write_text(FILE.format(**values, limit=model.limit))
        return read_study_file(file)

    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger(self.file())

    def teardown(self) -> None:
        self.ledger.close()
        shutil.rmtree(self.folder)

    # -- asking

    def start(self, ask: Callable[[], Suggestion], owner: Owner, adopted: int | None) -> None:
        """Ask, where the model knows which trial it must be, or why there can be none."""
        model, before = self.model, len(self.ledger.entries())
        why, number = model.refusal(adopted), -1
        if why is None:
            try:
                number = ask().number
            except BudgetExhausted:  # no failure is left, and nothing is safe enough
                assert model.rule == "safe"
                assert model.failures_so_far == model.failures
                why = BudgetExhausted
        else:
            with pytest.raises(why):
                ask()
        if why is None:
            if adopted is None:
                model.kept.append(Kept())
            model.kept[number].owner = owner
            assert number == (len(model.kept) - 1 if adopted is None else adopted)
            if adopted is None and model.rule == "stop":
                assert model.failures_so_far + model.in_flight() <= model.failures
            assert adopted is not None or len(model.told) + model.in_flight() <= model.trials
            return
        if adopted is not None:
            model.kept[adopted].phase = "void"
        for _ in range(len(self.ledger.entries()) - before):  # created, and withdrawn at the gate
            model.kept.append(Kept("void"))

    @rule()
    def ask_by_hand(self) -> None:
        dead = self.model.dead
        self.start(self.ledger.ask, BY_HAND, dead[0] if dead else None)

    @rule(times=st.integers(1, 3), reopen=st.booleans())
    def ask_and_die(self, times: int, reopen: bool) -> None:
        for _ in range(times):
            self.start(lambda: self.ledger.ask(DEAD), DEAD, None)
        if reopen:
            self.reopen()

    @precondition(lambda self: self.model.dead)
    @rule(again=st.booleans())
    def adopt(self, again: bool) -> None:
        """Another process takes a dead one's trial over, and may die as well."""
        owner = DEAD if again else this_process()
        found: list[Suggestion | None] = []

        def ask() -> Suggestion:
            found.append(self.ledger.adopt(owner))
            assert found[0] is not None
            return found[0]

        self.start(ask, owner, self.model.dead[0])

    @precondition(lambda self: any(k.phase == "told" for k in self.model.kept))
    @rule()
    def confirm(self) -> None:
        self.start(self.ledger.confirm, BY_HAND, None)

    @precondition(lambda self: not any(k.phase == "told" for k in self.model.kept))
    @rule()
    def confirm_nothing(self) -> None:
        with pytest.raises(InputError, match="nothing to confirm"):
            self.ledger.confirm()

    # -- ending a trial

    def end(self, pick: int, act: Callable[[int, Owner], object], after: Kept) -> None:
        """End a trial; one that is over, or was never asked, can't be."""
        running = [i for i, kept in enumerate(self.model.kept) if kept.phase == "running"]
        mostly = pick < 16 and running
        number = running[pick % len(running)] if mostly else pick % (len(self.model.kept) + 1)
        known = self.model.kept[number : number + 1]
        owner = known[0].owner if known and known[0].owner == this_process() else BY_HAND
        if known and known[0].phase == "running":
            act(number, owner)
            self.model.kept[number] = replace(after, owner=owner)
        else:
            with pytest.raises(InputError):
                act(number, owner)

    @rule(pick=st.integers(0, 20), load=LOADS, cost=st.integers(-3, 3).map(float))
    def tell(self, pick: int, load: float, cost: float) -> None:
        results = {"cost": cost, "load": load}
        self.end(pick, lambda n, owner: self.ledger.tell(n, results, owner), Kept("told", results=results))

    @rule(pick=st.integers(0, 20), load=LOADS)
    def tell_without_objective(self, pick: int, load: float) -> None:
        results = {"load": load}
        if load > self.model.limit:
            after = Kept("told", results=results)
            self.end(pick, lambda n, owner: self.ledger.tell(n, results, owner), after)
        elif self.model.kept:
            with pytest.raises(InputError):
                self.ledger.tell(pick % len(self.model.kept), results)

    @rule(pick=st.integers(0, 20), load=st.none() | LOADS)
    def fail(self, pick: int, load: float | None) -> None:
        results = {} if load is None else {"load": load}
        after = Kept("told", results=results, crashed=True)
        self.end(pick, lambda n, owner: self.ledger.fail(n, "fell", results, owner=owner), after)

    @rule(pick=st.integers(0, 20), transient=st.booleans())
    def withdraw(self, pick: int, transient: bool) -> None:
        def act(number: int, owner: Owner) -> object:
            if transient:
                return self.ledger.fail(number, "network", transient=True, owner=owner)
            return self.ledger.skip(number, owner=owner)

        self.end(pick, act, Kept("void"))

    # -- taking back

    def change(self, pick: int, act: Callable[[int], object], after: Callable[[Kept], Kept]) -> None:
        """Change a told trial; one that is in flight or void, or was never asked, can't be."""
        told = [i for i, kept in enumerate(self.model.kept) if kept.phase == "told"]
        number = told[pick % len(told)] if pick < 16 and told else pick % (len(self.model.kept) + 1)
        known = self.model.kept[number : number + 1]
        if known and known[0].phase == "told":
            act(number)
            self.model.kept[number] = after(known[0])
        else:
            with pytest.raises(InputError):
                act(number)

    @rule(pick=st.integers(0, 20))
    def void(self, pick: int) -> None:
        self.change(
            pick, lambda n: undo.void(self.ledger, n, "slip"), lambda kept: replace(kept, phase="void")
        )

    @rule(pick=st.integers(0, 20), load=LOADS, cost=st.integers(-3, 3).map(float))
    def amend(self, pick: int, load: float, cost: float) -> None:
        results = {"cost": cost, "load": load}
        self.change(
            pick,
            lambda n: undo.amend(self.ledger, n, results, failed=False),
            lambda kept: replace(kept, results=results, crashed=False),
        )

    @rule(pick=st.integers(0, 20), load=LOADS, cost=st.integers(-3, 3).map(float))
    def amend_the_numbers(self, pick: int, load: float, cost: float) -> None:
        results = {"cost": cost, "load": load}
        self.change(
            pick, lambda n: undo.amend(self.ledger, n, results), lambda kept: replace(kept, results=results)
        )

    @rule(pick=st.integers(0, 20), load=st.none() | LOADS)
    def amend_to_a_failure(self, pick: int, load: float | None) -> None:
        results = {} if load is None else {"load": load}
        self.change(
            pick,
            lambda n: undo.amend(self.ledger, n, results, "fell"),
            lambda kept: replace(kept, results=results, crashed=True),
        )

    # -- from outside

    @rule(load=LOADS, crashed=st.booleans())
    def import_one(self, load: float, crashed: bool) -> None:
        self.imported += 1
        table = self.folder / "old.csv"
        table.write_text(f"x,cost,load,failed\n{self.imported / 100},1.5,{load},{int(crashed)}\n")
        assert import_csv(self.ledger, table).read == 1
        results = {"cost": 1.5, "load": load}  # a crash keeps what is written of it
        self.model.kept.append(Kept("told", results=results, crashed=crashed, billed=False))

    @rule(
        trials=st.integers(1, 8),
        failures=st.integers(1, 4),
        rule=st.sampled_from(["stop", "safe"]),
        limit=st.sampled_from([0.0, 0.5]),
        follow=st.booleans(),
    )
    def edit(self, trials: int, failures: int, rule: str, limit: float, follow: bool) -> None:
        failures = min(failures, trials)
        self.model = replace(self.model, trials=trials, failures=failures, rule=rule, limit=limit)
        if follow:
            self.ledger.follow(self.file())
        else:
            self.reopen()

    # -- what always holds

    @invariant()
    def counts_are_those_of_the_model(self) -> None:
        model, entries = self.model, self.ledger.entries()
        found = to_status(entries, self.ledger.config)
        assert found.trials == len(model.told)
        assert found.failures == model.failures_so_far
        assert found.pending == model.in_flight()
        assert found.trials_left == max(model.trials - len(model.told) - model.in_flight(), 0)
        assert found.failures_left == max(model.failures - model.failures_so_far, 0)
        assert (found.best and found.best.value) == model.best
        self.numbers_rise_and_nothing_told_is_lost(entries)

    def numbers_rise_and_nothing_told_is_lost(self, entries: list[Entry]) -> None:
        assert [entry.trial for entry in entries] == list(range(len(self.model.kept)))
        for entry, kept in zip(entries, self.model.kept, strict=True):
            assert entry.reading.phase == kept.phase
            if kept.phase == "told":
                assert entry.results == kept.results
                assert (entry.reading.crashed, entry.reading.billed) == (kept.crashed, kept.billed)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study without a trial: its tables take longer to make than the steps of an example."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder = tmp_path_factory.mktemp("template")
    (folder / "slope.toml").write_text(FILE.format(trials=6, failures=2, rule="stop", limit=0.0))
    Ledger(read_study_file(folder / "slope.toml")).close()
    return folder


def test_a_ledger_agrees_with_a_plain_model_of_it(template: Path) -> None:
    LedgerMachine.template = template
    effort = hypothesis.settings(
        max_examples=max(6, hypothesis.settings().max_examples // 8),
        stateful_step_count=16,
        suppress_health_check=list(HealthCheck),
    )
    hypothesis.stateful.run_state_machine_as_test(LedgerMachine, settings=effort)
