"""The benchmarks' own arithmetic: tables, verdicts, specs and counts, on tiny or made-up runs."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks import acceptance, families, gain, speed
from benchmarks.cap import cap
from benchmarks.command import Command
from benchmarks.tables import table, verdict
from experiments.runs import pool
from experiments.runs.methods import make_peer
from experiments.runs.records import Spec
from tumble import Settings, problems


@pytest.fixture(autouse=True)
def small_draws(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("TUMBLE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setattr("tumble.problems.inmodel.N_POINTS", 60)
    monkeypatch.setattr("tumble.problems.in_model", _small_draw)


def _small_draw(seed, *, constrained=True, n_points=60):
    from tumble.problems.inmodel import in_model

    return replace(in_model(seed, constrained=constrained, n_points=60), name=f"in-model:{seed}")


def made_up(spec: Spec, regret: float = 1e-4, beyond: int = 0) -> dict[str, Any]:
    """A line as if the run had failed B times and then gone on."""
    failures = spec.failures or 0
    failed = [True] * (failures + beyond) + [False] * 4
    curve = np.linspace(1.0, regret, len(failed)).tolist()
    return {
        "key": spec.key, "problem": spec.problem, "method": spec.method, "seed": spec.seed,
        "block": spec.block, "trials": spec.trials, "failures": spec.failures,
        "on_exhausted": spec.on_exhausted, "family": spec.family, "settings_hash": spec.settings_hash,
        "started": "", "code": "c",
        "regret": regret, "regret_curve": curve, "omega": 97.0, "n_trials": len(failed),
        "n_failures": sum(failed), "beyond": beyond, "failed": failed, "p_safe": [0.5] * len(failed),
        "seconds_total": 1.0,
    }  # fmt: skip


def command(respond=made_up, **changes):
    known = {
        "seeds": 2,
        "seed_base": 1000,
        "changes": {},
        "peers": (),
        "run": lambda specs: [*map(respond, specs)],
    }
    return Command(**{**known, **changes})


def test_a_table_is_aligned_markdown():
    lines = table(("name", "n"), [["a", "10"], ["long name", "2"]]).splitlines()
    assert lines[1] == "|-----------|---:|"
    assert lines[3] == "| long name |  2 |"
    assert len({len(line) for line in lines}) == 1


def test_a_verdict_says_whether_the_promise_held():
    assert verdict("p", True).startswith("held")
    assert verdict("p", np.bool_(False)).startswith("MISSED")


@pytest.mark.parametrize("name", ["xs", "xsf", "inmodel"])
def test_promises_of_quality_hold_for_good_runs_and_are_missed_by_bad_ones(name):
    good = acceptance.SUBCOMMANDS[name](command())
    bad = acceptance.SUBCOMMANDS[name](command(lambda spec: {**made_up(spec, 0.9), "omega": 10.0}))
    assert not any(line.startswith("MISSED") for line in good)
    assert any(line.startswith("MISSED") for line in bad)


def test_each_run_from_a_start_of_its_own_is_a_problem_of_its_own():
    seen = []

    def respond(spec):
        seen.append((spec.problem, spec.method, spec.settings["survey"]))
        return made_up(spec)

    (answer,) = acceptance.starts(command(respond, seeds=2))
    assert "hartmann6-constrained?, tumble, no survey" in answer
    problem, known = "hartmann6-constrained?:1001", Settings().survey
    assert {one for one in seen if one[0] == problem} == {
        (problem, "tumble", known), (problem, "tumble", 0.0), (problem, "xsf", known),
    }  # fmt: skip


def test_draws_are_compared_with_the_peers_on_the_same_seeds():
    def respond(spec):
        return made_up(spec, 0.1 if spec.method == "xsf" else 0.5)

    answer = acceptance.inmodel(command(respond, peers=("optuna",), seeds=5))
    assert any("0.100 < 0.500 of Optuna GPSampler (n = 5" in line for line in answer)


def test_the_cap_is_counted_over_runs_that_reach_zero_and_stop_must_never_exceed(monkeypatch):
    spec = functools.cache(command().spec)  # the same hundreds of runs are asked for three times
    monkeypatch.setattr(Command, "spec", lambda self, *words, **rules: spec(*words, **rules))
    answer = cap(command(seeds=26))
    assert not any(line.startswith("MISSED") for line in answer)
    answer = cap(command(lambda s: made_up(s, beyond=2 if s.on_exhausted == "stop" else 0), seeds=26))
    assert answer[1].startswith('MISSED  "stop"')
    answer = cap(command(lambda s: made_up(s, beyond=2 if s.on_exhausted == "safe" else 0), seeds=26))
    assert sum(line.startswith("MISSED") for line in answer) == 5
    assert sum("by 2 (<= 1)" in line for line in answer) == 5  # four classes, and all together


def test_too_few_exhausted_runs_prove_nothing():
    assert sum(line.startswith("MISSED") for line in cap(command(seeds=1))) == 5


def test_claims_that_fail_too_often_are_a_missed_calibration():
    def respond(spec):
        line = made_up(spec)
        return {**line, "p_safe": [0.999] * len(line["failed"])}

    assert any("was safe in" in text and text.startswith("MISSED") for text in cap(command(respond)))


def test_the_foils_keep_rho_where_it_is_put():
    seen: list[Spec] = []

    def remember(specs):
        seen.extend(specs)
        return [made_up(spec) for spec in specs]

    acceptance.foils(command(seeds=1, run=remember))
    fixed = [s.settings for s in seen if s.block == "ρ = 0.5"]
    assert {(s["rho_0"], s["rho_risk"], s["rho_safe"]) for s in fixed} == {(0.5, 0.5, 0.5)}
    assert {"xsf", "xsf-ei", "eic"} == {s.method for s in seen}


def test_other_settings_can_be_tried_from_the_command_line():
    changes = dict(
        map(acceptance._change, ["grid=64", "delta=none", "rho_0=0.2", "kernel=se", "calibrate=false"])
    )
    spec = command(changes=changes).spec("gramacy", "xsf", 1)
    assert spec.settings["grid"] == 64
    assert spec.settings["delta"] is None
    assert (spec.settings["rho_0"], spec.settings["kernel"], spec.settings["calibrate"]) == (0.2, "se", False)


def test_acceptance_from_the_command_line_keeps_lines_and_answers_by_its_exit_status(
    tmp_path, monkeypatch, capsys
):
    def run_all(specs, store, **kwargs):
        for spec in specs:
            store.append(made_up(spec))
        return pool.Summary(len(specs), 0, ("one raised",))

    monkeypatch.setattr(pool, "run_all", run_all)
    assert acceptance.main(["xs", "--seeds", "1", "--out", str(tmp_path), "--peers", "optuna"]) == 0
    captured = capsys.readouterr()
    assert "hartmann6, Xs, default" in captured.out
    assert "hartmann6, Xs, paper" in captured.out
    assert "one raised" in captured.err


def test_asks_are_timed_after_one_new_observation_each():
    problem = speed.bowl(2, 1)
    searcher = speed.tumble_searcher(problem, "xsf", Settings(grid=32, restarts=2, raw_samples=16))
    times = speed.time_asks(problem, {"tumble": searcher}, np.random.default_rng(0).random((5, 2)), asks=2)
    assert times["tumble"].shape == (2,)
    assert np.all(times["tumble"] > 0.0)


def test_a_library_is_timed_after_its_own_trials(monkeypatch):
    problem = problems.get("figure1")
    searcher = speed.tumble_searcher(problem, "xs", Settings(grid=32, restarts=2, raw_samples=16))
    told, tell = [], searcher.tell

    def note(trial, outcome):
        told.append(trial)
        tell(trial, outcome)

    monkeypatch.setattr(searcher, "tell", note)
    times = speed.time_own(problem, {"tumble": searcher}, n=len(problem.initial) + 4, asks=2)
    assert times["tumble"].shape == (2,)
    assert len(told) == 4


def test_speed_tables_have_a_row_for_each_library_and_leave_out_what_is_not_installed(monkeypatch, capsys):
    def missing(name, problem, seed):
        if name == "optuna":
            raise ModuleNotFoundError("No module named 'optuna'")
        return make_peer(name, problem, seed)

    def fake(problem, searchers, history, asks):
        return {name: np.full(asks, 0.01 if name == "tumble" else 0.4) for name in searchers}

    monkeypatch.setattr(speed, "make_peer", missing)
    monkeypatch.setattr(speed, "time_asks", fake)
    monkeypatch.setattr(speed, "time_own", fake)
    monkeypatch.setattr(speed, "trajectory", lambda family, seed: np.zeros((100, 6)))
    answer = speed.headline(2)
    assert "40.0" in answer[0]
    assert "G = 0, own: BoTorch" in answer[0]
    assert "G = 1, uniform: BoTorch" in answer[0]
    assert all(line.startswith("held") for line in answer[1:])
    assert "left out: No module named 'optuna'" in capsys.readouterr().err
    assert any("restarts (App. C: linear)" in part for part in speed.growth(2))
    assert any("PESC" in part for part in speed.methods(2))


def test_a_history_is_tumbles_own_or_uniform():
    problem = problems.get("figure1")
    assert speed.trajectory("figure1", n=9).shape == (9, 1)
    uniform = speed.history_of("uniform", "branin-disk", 7)
    assert uniform.shape == (7, 2)
    assert uniform[:, 0].min() < 0.0
    np.testing.assert_array_equal(speed.trajectory("figure1", n=9)[:7], problem.initial)


def test_importing_tumble_loads_no_optional_package(monkeypatch):
    fresh = speed._fresh
    monkeypatch.setattr(speed, "_fresh", lambda code, bytecode: fresh(code, ""))  # it compiles nothing anew
    monkeypatch.setattr(speed, "_process_seconds", lambda code, bytecode: 0.5)
    answer = speed.imports(1)
    assert answer[-1] == "held    it loads no optional package (none)"
    assert "0 ms more" in answer[1]


def test_the_speed_command_prints_what_it_ran_on(monkeypatch, capsys):
    monkeypatch.setitem(speed.PARTS, "import", lambda asks: ["MISSED  made up"])
    assert speed.main(["import", "--asks", "1"]) == 1
    assert '"blas threads": 1' in capsys.readouterr().out


def test_gains_are_counted_below_their_bound_and_beside_what_was_expected():
    runs = [[gain.Claim(m, 1.0, bound, 0.9) for m in (0.1, 0.5, 0.75, 0.9)] for bound in (0.5, 2.0, 2.0)]
    text = "\n".join(gain.report(runs))
    assert "MISSED  T/2: below the bound in 67 % of the runs (at least 90 %)" in text
    assert "held    3T/4: mean expected gain is 1.11 times the realised one (1/3 to 3)" in text
    assert "ends no run early" in text
    assert "67 % (21 to 94)" in text
    assert "1.11 (1.11 to 1.11)" in text  # every run expects 1 and gains 0.9
    assert "2.2 |" in text.splitlines()[2]  # the median of 0.5, 2 and 2, beside 0.9


def test_min_gain_ends_a_run_once_the_latest_bounds_all_lie_below_it():
    early = [gain.Claim(0.25, 0.0, 1.0, 0.004)] + [gain.Claim(0.75, 0.0, 0.001, 0.002)] * 5
    assert gain.ends(early, 0.01) is early[-1]
    assert gain.ends(early[:-1], 0.01) is None  # five are looked at
    assert (
        "ends 1 of 1 runs early: it saves 25 % of their trials, and loses 0.0020" in gain.report([early])[-1]
    )


def test_a_run_claims_a_gain_from_the_fifth_value_on():
    design = families.draw("design", 0)
    found = gain.claims(replace(design, drawn=replace(design.drawn, trials=15)), 0)
    assert len(found) >= 10
    assert all(claim.bound > 0.0 and claim.realised >= 0.0 for claim in found)


def test_reserved_seeds_are_refused(capsys):
    with pytest.raises(SystemExit):
        gain.main(["--seeds", "89999:90001"])
    assert "reserved for judging" in capsys.readouterr().err
