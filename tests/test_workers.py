"""Trials in several processes, in any executor, on a Dask cluster."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

import tumble
from tumble.workers import Here, Workers, open_workers

TINY = tumble.Settings(raw_samples=16, restarts=2, grid=16, n_minima=4)


def bowl(x, centre=0.3):
    return float(((x - centre) ** 2).sum())


def breaks_beyond_half(x):
    if x[0] > 0.5:
        raise tumble.Failure(f"x = {x[0]:.2f} broke")
    return bowl(x), [x[1] - 0.9]


def where_it_ran(x):
    time.sleep(0.05)
    return float(os.getpid())


def unlucky(x):
    raise ZeroDivisionError("no")


class Unsendable(Exception):
    """Holds what no process can send."""

    def __init__(self, part, degrees):
        super().__init__(f"{part} at {degrees} degrees")
        self.sensor = threading.Lock()


def overheated(x):
    raise Unsendable("spindle", 90)


def run(fun, trials=8, **more):
    return tumble.minimize(fun, [(0.0, 1.0)] * 2, trials, seed=0, settings=TINY, **more)


class Counting(ThreadPoolExecutor):
    """Counts how many trials are in flight at once."""

    def __init__(self, workers):
        super().__init__(workers)
        self.flying: set[Future] = set()
        self.most = 0

    def submit(self, fn, /, *args, **kwargs) -> Future:
        def slowly():
            time.sleep(0.1)
            return fn(*args, **kwargs)

        future = super().submit(slowly)
        self.flying = {f for f in self.flying if not f.done()} | {future}
        self.most = max(self.most, len(self.flying))
        return future


def test_processes_run_trials_at_once():
    result = run(where_it_ran, workers=2)
    pids = {t.value for t in result.trials}
    assert result.n_told == 8
    assert len(pids) == 2
    assert os.getpid() not in pids


def test_a_failure_in_a_process_is_a_failure_with_its_reason():
    result = run(breaks_beyond_half, workers=2, failures=8)
    assert result.n_told == 8
    assert all(t.reason.endswith("broke") for t in result.trials if t.crashed)
    assert all(t.x[0] > 0.5 for t in result.trials if t.crashed)


@pytest.mark.parametrize(("parallel", "most"), [(1, 1), (3, 3)])
def test_an_executor_runs_as_many_trials_at_once_as_are_asked_for_and_is_left_open(parallel, most):
    with Counting(4) as pool:
        result = run(bowl, workers=pool, parallel=parallel)
        assert pool.most == most
        assert pool.submit(int, "3").result() == 3
    assert (result.n_told, result.nfev, result.status) == (8, 8, 0)


def test_settings_of_ones_own_run_one_by_one():
    with Counting(4) as pool:
        result = run(bowl, 4, workers=pool, parallel=3, x0=[[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
        assert pool.most == 1
    assert [t.suggestion is None for t in result.trials] == [True, True, True, False]
    assert (result.nfev, result.nit) == (4, 1)


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_hard_budget_holds_for_trials_at_once(failures):
    with Counting(4) as pool:
        result = run(
            lambda x: (bowl(x), [1.0]), 12, failures=failures, on_exhausted="stop", workers=pool, parallel=4
        )
        assert pool.most <= failures
    assert result.n_failures == failures
    assert result.status == 2


def test_an_error_in_one_trial_loses_nothing_of_the_others():
    begun = threading.Barrier(2, timeout=10)

    def fun(x):
        begun.wait()
        if threading.get_ident() == first.setdefault("thread", threading.get_ident()):
            raise ZeroDivisionError("no")
        time.sleep(0.1)
        return bowl(x)

    first: dict = {}
    with ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError) as raised:
        run(fun, workers=pool, parallel=2)
    result = raised.value.result  # type: ignore[attr-defined]
    assert sorted(t.status for t in result.trials) == ["skipped", "told"]
    assert result.status == 3


def test_a_trial_that_the_executor_refuses_is_not_left_pending():
    class Full(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs) -> Future:
            submitted.append(fn)
            if len(submitted) == 3:
                raise RuntimeError("the cluster takes no more jobs")
            return super().submit(fn, *args, **kwargs)

    submitted: list = []
    with Full(2) as pool, pytest.raises(RuntimeError, match="takes no more jobs") as raised:
        run(bowl, workers=pool, parallel=1)
    result = raised.value.result  # type: ignore[attr-defined]
    assert [t.status for t in result.trials] == ["told", "told", "skipped"]


def test_an_error_in_a_process_comes_through_with_the_result():
    with pytest.raises(ZeroDivisionError) as raised:
        run(unlucky, workers=2)
    assert raised.value.result.n_told == 0  # type: ignore[attr-defined]


def test_an_error_that_no_process_can_send_comes_through_in_words():
    with pytest.raises(RuntimeError, match="fun raised Unsendable: spindle at 90 degrees") as raised:
        run(overheated, workers=2)
    assert raised.value.__context__ is None
    with pytest.raises(Unsendable):
        run(overheated)


def test_a_callback_that_stops_waits_for_the_trials_that_run():
    def stop(intermediate_result):
        seen.append(intermediate_result.n_told)
        raise StopIteration

    seen: list = []
    with Counting(3) as pool:
        result = run(bowl, workers=pool, parallel=3, callback=stop)
    assert len(seen) == 1
    assert (result.message, result.status) == ("stopped by the callback", 1)
    assert all(t.status == "told" for t in result.trials)


def test_what_runs_here_passes_its_error_on():
    assert Here().submit(bowl, np.array([0.3])).result() == 0.0
    with pytest.raises(ZeroDivisionError):
        Here().submit(unlucky, 1).result()


def test_minus_one_is_every_cpu(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    with open_workers(-1, None) as workers:
        assert isinstance(workers, Workers)
        assert isinstance(workers.executor, Here)


@pytest.mark.parametrize("given", [0, -2, 1.5, True, "two", map, None, np.array([1, 2]), np.array([])])
def test_workers_that_can_not_be_used_are_refused_before_anything_runs(given):
    with pytest.raises(
        tumble.InputError, match=r"workers must be a number of processes.*or an executor such as"
    ):
        run(pytest.fail, workers=given)


def test_a_number_of_trials_at_once_that_can_not_be_used_is_refused():
    with pytest.raises(tumble.InputError, match="parallel must be a whole number from 1 to 1024, not 0"):
        run(pytest.fail, workers=2, parallel=0)


def test_a_dask_cluster_runs_the_trials(dask_cluster):
    from distributed import Client

    with Client(dask_cluster) as client:
        result = run(bowl, workers=client.get_executor(), parallel=2)
    assert (result.n_told, result.success) == (8, True)


def test_a_function_that_no_process_can_be_given_is_refused_before_anything_starts() -> None:
    with pytest.raises(tumble.InputError, match="fun must stand at the top of a module"):
        tumble.minimize(lambda x: 1.0, [(0.0, 1.0)], trials=3, workers=2)
