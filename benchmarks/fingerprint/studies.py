"""Doors that need the extra `study`: the sampler for Optuna, and a study file by the command line."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import tumble
from benchmarks.fingerprint.defaults import named
from benchmarks.fingerprint.problems import MIXED, drill
from benchmarks.fingerprint.rows import Door, Row, recommended, row
from tumble.space import Categorical, Float, Int

DECISION = "tumble:decision"  # the attribute of an Optuna trial that holds the suggestion
STUDY = """\
name = "drill"
objective = "cost"
trials = 14
failures = 4
seed = {seed}

[parameters]
speed = {{ low = 0.2, high = 2.0 }}
rate = {{ low = 1e-4, high = 1.0, log = true }}
flutes = {{ low = 2, high = 7, type = "int" }}
bit = {{ choices = ["hss", "carbide", "cobalt"] }}

[constraints]
torque = "<= 1.5"
heat = ">= -0.5"

[start]
speed = 0.8
rate = 0.01
flutes = 4
bit = "hss"
"""
OLD = (
    "speed,rate,flutes,bit,cost,torque,heat,failed\n0.5,0.001,3,carbide,1.74,0.5,0.5,0\n1.9,0.9,7,hss,,,,1\n"
)


def stored(study: Any) -> list[Row]:
    """The row of each trial of an Optuna study."""
    keys = ("rho", "p_safe", "mean", "std")
    notes = [(trial.params, trial.system_attrs.get(DECISION) or {}) for trial in study.trials]
    return [row(dict(sorted(params.items())), *(note.get(key) for key in keys)) for params, note in notes]


# -- Optuna --------------------------------------------------------------------------------------------------


def drawn(trial: Any) -> dict[str, Any]:
    """A setting of the drill by Optuna's own calls."""
    setting: dict[str, Any] = {}
    for name, p in MIXED.items():
        if isinstance(p, Categorical):
            setting[name] = trial.suggest_categorical(name, list(p.choices))
        elif isinstance(p, Int):
            setting[name] = trial.suggest_int(name, p.low, p.high)
        elif isinstance(p, Float):
            setting[name] = trial.suggest_float(name, p.low, p.high, log=p.log)
    return setting


def sampler_with_constraints(seed: int) -> list[Row]:
    """A space that is learned from the trials, two constraints, a recommendation."""
    import optuna

    def objective(trial: Any) -> float:
        value, constraints = drill(drawn(trial))
        for name, g in zip(("torque", "heat"), constraints or (), strict=True):
            trial.set_constraint(name, g)
        assert value is not None
        return value

    sampler = tumble.TumbleSampler(trials=14, failures=4, seed=seed, settings=named())
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=12)
    return [*stored(study), *recommended(sampler.recommend(study))]


def sampler_with_failures(seed: int) -> list[Row]:
    """A known space, maximisation, trials that raise, trials asked for two at a time."""
    import optuna
    from optuna.distributions import BaseDistribution, FloatDistribution

    def objective(trial: Any) -> float:
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", -0.5, 1.5)
        if x + y > 1.2:
            raise tumble.Failure("stalled")
        return float(-((x - 0.6) ** 2) - (y - 0.5) ** 2)

    space: dict[str, BaseDistribution] = {"x": FloatDistribution(0.0, 1.0), "y": FloatDistribution(-0.5, 1.5)}
    sampler = tumble.TumbleSampler(trials=16, failures=5, seed=seed, space=space, settings=named())
    study = optuna.create_study(sampler=sampler, direction="maximize")
    study.optimize(objective, n_trials=8, catch=(tumble.Failure,))
    for _ in range(2):
        flying = [study.ask(space), study.ask(space)]
        study.tell(flying[0], -0.3)
        study.tell(flying[1], state=optuna.trial.TrialState.FAIL)
    return [*stored(study), *recommended(sampler.recommend(study))]


# -- a study file --------------------------------------------------------------------------------------------


def command(*words: object) -> str:
    """What a command prints."""
    from tumble.cli import main

    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            main([str(word) for word in words])
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"tumble {' '.join(map(str, words))} ended with {end.code}") from None
    return out.getvalue()


def told(file: Path, asked: Any) -> None:
    """Tell a trial of the study what the drill does; every fifth breaks."""
    number, (value, constraints) = asked["trial"], drill(asked["parameters"])
    assert constraints is not None
    if number % 5 == 4:
        command("tell", file, number, f"torque={1.5 + constraints[0]!r}", "--failed", "bit broke")
        return
    torque, heat = 1.5 + constraints[0], -0.5 - constraints[1]
    command("tell", file, number, f"cost={value!r}", f"torque={torque!r}", f"heat={heat!r}")


def study_file(seed: int) -> list[Row]:
    """init's kind of file, old trials, ask and tell, skip, confirm, best: by the command line."""
    import optuna

    with tempfile.TemporaryDirectory() as folder:
        file, old = Path(folder, "drill.toml"), Path(folder, "old.csv")
        file.write_text(STUDY.format(seed=seed))
        old.write_text(OLD)
        for _ in range(3):
            told(file, json.loads(command("ask", file, "--json")))
        command("import", file, old)
        for _ in range(4):
            told(file, json.loads(command("ask", file, "--json")))
        command("skip", file, json.loads(command("ask", file, "--json"))["trial"])
        told(file, json.loads(command("confirm", file, "--json")))
        command("ask", file)
        command("ask", file)
        best = json.loads(command("best", file, "--json"))["recommended"]
        rows = stored(optuna.load_study(study_name="drill", storage=f"sqlite:///{Path(folder, 'drill.db')}"))
        return [*rows, row(best["parameters"], None, best["p_safe"], best["mean"], best["std"])]


DOORS: dict[str, Door] = {
    "sampler, constraints": sampler_with_constraints,
    "sampler, failures": sampler_with_failures,
    "study file": study_file,
}
