"""Runs in lockstep with a stand-in for the trainings: batching, lines, and going on after a stop."""

from __future__ import annotations

import dataclasses
import io
import math
import multiprocessing

import pytest

from experiments.compression import experiment as compression
from experiments.compression import lockstep
from experiments.compression.problem import Setting, Training
from experiments.runs.plans import Options
from experiments.runs.store import Store

SMALL = {"restarts": 2, "raw_samples": 32, "grid": 32, "n_minima": 4}  # what is found is not looked at
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


class Trainings:
    """A smooth stand-in for the trainings that counts its calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, settings):
        self.calls.append(list(settings))
        return [self.one(s) for s in settings]

    @staticmethod
    def one(s):
        error = 1.0 + (math.log10(s.chi) + 3.0) ** 2 + 1.0 / s.kappa
        size = 4.0 * s.kappa * (1.0 + (math.log10(s.beta) + 5.0) ** 2)
        return Training(s, "reduced", error, error, size, 0.1, 1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lockstep")
    specs = plan(seeds=2, trials=3, methods=("eic", "xsf"))
    return folder, specs, run(folder, specs)


def plan(**options):
    return [
        dataclasses.replace(spec, settings={**spec.settings, **SMALL})
        for spec in compression.plan(Options(**options))
    ]


def run(folder, specs, minutes=None, start="fork"):
    """All of it; a process that is forked has imported what one that is spawned takes seconds to import."""
    trainings = Trainings()
    kept = lockstep.Kept(folder / "trainings" / "compression.jsonl", "reduced")
    store = Store(folder, "compression")
    context = multiprocessing.get_context(start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiprocessing, "get_context", lambda method: context)
        summary = lockstep.run_all(specs, store, kept, trainings, minutes=minutes, out=io.StringIO())
    return summary, trainings, list(store.lines())


def test_every_run_leaves_a_line_and_trials_are_carried_out_together(finished):
    _, specs, (summary, trainings, lines) = finished
    assert not summary.errors
    assert summary.done == len(specs) == 4
    assert {line["key"] for line in lines} == {s.key for s in specs}
    assert len(trainings.calls) == 3
    assert len({s.seed for s in trainings.calls[0]}) == 2  # the methods of a repetition begin alike
    for line in lines:
        assert line["n_trials"] == len(line["trainings"]) == 3
        assert line["y"][0] == pytest.approx(math.log10(line["trainings"][0]["error"]), rel=1e-9)
        assert line["family"] == "compression-reduced"


def test_finished_runs_are_not_carried_out_again(finished):
    folder, specs, _ = finished
    summary, trainings, _ = run(folder, specs)
    assert (summary.done, summary.already, trainings.calls) == (0, 4, [])


def test_an_interrupted_experiment_goes_on_from_the_trainings_that_are_kept(finished):
    folder, specs, (_, _, lines) = finished
    (folder / "compression.jsonl").unlink()
    with (folder / "trainings" / "compression.jsonl").open("a") as file:
        file.write('{"setting": {"beta": 1e-')  # a kill in the middle of a line
    summary, trainings, again = run(folder, specs)
    assert summary.done == 4
    assert trainings.calls == []
    assert {line["key"]: line["y"] for line in again} == {line["key"]: line["y"] for line in lines}


def test_out_of_time_stops_before_the_next_lockstep(tmp_path):
    specs = plan(seeds=1, trials=3, methods=("xsf",))
    summary, trainings, lines = run(tmp_path, specs, minutes=0.0)
    assert (summary.done, trainings.calls, lines) == (0, [], [])


def test_what_a_run_raises_is_reported_and_the_others_go_on(tmp_path):
    specs = plan(seeds=1, trials=2, methods=("eic", "xsf"))
    broken = dataclasses.replace(specs[0], task="experiments.runs.loop:nothing")
    summary, _, lines = run(tmp_path, [broken, specs[1]], start="spawn")
    assert summary.done == len(lines) == 1
    assert "has no attribute 'nothing'" in summary.errors[0]


def test_the_best_network_is_the_most_accurate_that_is_small_enough():
    settings = [Setting(1e-6, 1e-3, float(k)) for k in (1, 2, 3, 4)]
    errors, sizes = (1.2, 0.9, 0.7, 0.8), (10.0, 15.0, 15.1, math.nan)
    trained = [Training(s, "full", e, e, z, 1.0, 4) for s, e, z in zip(settings, errors, sizes, strict=True)]
    best = compression._best(trained)
    assert best is not None
    assert best["error"] == 0.9
    assert compression._best(trained[2:]) is None
    assert compression._plain(trained[3])["size_kb"] is None
