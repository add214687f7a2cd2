"""Threads may share an optimiser; they are let in one at a time."""

import copy
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import tumble
from tumble import plots
from tumble._threads import _LIMIT, Turn, one_blas_thread


def together(count, work):
    """Run `work` in so many threads at once; what each returned or raised."""
    barrier, found = threading.Barrier(count), []

    def run():
        barrier.wait()
        try:
            found.append(work())
        except tumble.TumbleError as error:
            found.append(type(error).__name__)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_hard_budget_holds_for_all_threads_together():
    for seed in range(5):
        opt = tumble.Optimizer([(0.0, 1.0)] * 2, 20, 1, constraints=1, seed=seed, on_exhausted="stop")
        opt.tell([0.5, 0.5], 1.0, [-1.0])
        found = together(4, opt.ask)
        assert sum(isinstance(f, tumble.Suggestion) for f in found) == 1
        assert found.count("BudgetReserved") == 3


def test_numbers_are_given_once_and_the_state_can_be_saved():
    opt = tumble.Optimizer([(0.0, 1.0)], 20, seed=0)

    def ask_and_tell():
        suggestion = opt.ask()
        opt.tell(suggestion, float(suggestion.x[0]))
        return suggestion.number

    numbers = together(6, ask_and_tell)
    assert sorted(numbers) == list(range(6))
    assert tumble.Optimizer.from_dict(opt.to_dict()).n_told == 6


def test_an_optimizer_is_copied_and_pickled_as_before():
    opt = tumble.Optimizer([(0.0, 1.0)], 20, seed=0)
    for other in (copy.copy(opt), copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        assert other.ask().x == opt.suggest(0).x
        assert (len(other.trials), len(opt.trials)) == (1, 0)
    with Turn() as turn:
        assert turn is None


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread_until_the_last_suggestion_is_worked_out_and_then_as_many_as_before():
    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert blas_threads() == {1}
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == {2}


def test_numpys_errors_of_the_caller_do_not_reach_a_suggestion_and_stay_as_they_were():
    with np.errstate(all="raise"):
        opt = tumble.Optimizer([(0.0, 1.0)] * 2, 20, 8, constraints=1, seed=0)
        for k in range(8):
            s = opt.ask()
            if k % 4 == 3:
                opt.tell(s, failed=True)
            else:
                opt.tell(s, float(s.x.sum()), [s.x[0] - 0.7])
        opt.recommend()
        plots.slices_data(opt)
        assert set(np.geterr().values()) == {"raise"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows knows no fork")
def test_a_forked_process_does_not_wait_for_a_thread_that_stayed_behind():
    opt = tumble.Optimizer([(0.0, 1.0)], 20, seed=0)
    holding, done = threading.Event(), threading.Event()

    def hold():
        with opt._turn, one_blas_thread(), _LIMIT._lock:
            holding.set()
            done.wait()

    with threadpool_limits(2, user_api="blas"):
        thread = threading.Thread(target=hold)
        thread.start()
        holding.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork beside threads
            child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(20)  # ends it where it waits
            opt.ask()
            os._exit(0 if blas_threads() == {2} else 1)
        assert os.waitpid(child, 0)[1] == 0
        done.set()
        thread.join()
