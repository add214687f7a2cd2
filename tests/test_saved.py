"""Files that earlier versions saved: each of them is read, and the search goes on from it.

`saved/VERSION/` holds what that version wrote: an Optimizer as JSON with what it knew (`NAME.json`), a study
file with its database (`drill.*`), and a study of Optuna under the sampler (`sampler.*`). They are never
written again.
"""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import tumble
from tumble.cli import main

SAVED = Path(__file__).parent / "saved"
VERSIONS = sorted(folder for folder in SAVED.iterdir() if folder.is_dir())


def optimizers(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.json")) if not path.stem.endswith(".expected")]


OPTIMIZERS = [
    pytest.param(path, id=f"{folder.name}-{path.stem}") for folder in VERSIONS for path in optimizers(folder)
]
STUDIES = [pytest.param(folder, id=folder.name) for folder in VERSIONS]

# A name may have a new spelling by now, and the old one a warning.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
optuna.logging.set_verbosity(optuna.logging.WARNING)


def number(value: float | None) -> float:
    """What is not known is None in a file and NaN in a suggestion."""
    return math.nan if value is None else value


def to_twelve_digits(x: Any) -> Any:
    """A setting; 0.1.0 gave values back with a rounding error."""
    values = x.items() if isinstance(x, dict) else enumerate(x)
    return {name: float(f"{v:.12g}") if isinstance(v, float) else v for name, v in values}


def cli(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    """What a command prints as JSON."""
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in (*words, "--json")])
    out, err = capsys.readouterr()
    assert not caught.value.code, err
    return json.loads(out)


def check_stored(trial: Any, stored: dict[str, Any]) -> None:
    """Optuna's trial has the numbers it was stored with."""
    note = trial.system_attrs.get("tumble:decision", {})
    assert (trial.number, trial.state.name) == (stored["number"], stored["state"])
    assert (trial.params, trial.values) == (stored["params"], stored["values"])
    assert (note.get("rho"), note.get("p_safe")) == (stored["rho"], stored["p_safe"])


# -- an Optimizer --------------------------------------------------------------------------------------------


def test_the_saved_optimizers_cover_what_0_1_0_could_write():
    saved = [json.loads(path.read_text())["saved"] for path in optimizers(SAVED / "0.1.0")]
    trials = [trial for state in saved for trial in state["history"]]
    modes = {trial["suggestion"]["mode"] for trial in trials if trial["suggestion"]}
    assert modes == {"start", "free", "risky", "safe", "safest"}
    assert {state["method"] for state in saved} == {
        None, "xs", "xsf", "ei", "pi", "ucb", "mes", "eic", "pesc", "safe-set",
    }  # fmt: skip
    assert {trial["status"] for trial in trials} == {"told", "pending", "skipped"}
    assert {trial["billed"] for trial in trials} == {trial["crashed"] for trial in trials} == {True, False}
    assert (
        {state["boxed"] for state in saved}
        == {state["settings"]["standardize"] for state in saved}
        == {True, False}
    )
    assert {len(state["constraints"] or ()) for state in saved} == {0, 1, 2, 3}


@pytest.mark.parametrize("path", OPTIMIZERS)
def test_a_saved_optimizer_has_its_numbers_again(path):
    file = json.loads(path.read_text())
    history, expected = file["saved"]["history"], file["expected"]
    opt = tumble.Optimizer.from_dict(file["saved"])
    assert (opt.trials_left, opt.failures_left) == (expected["trials_left"], expected["failures_left"])
    assert len(opt.trials) == len(history)
    for trial, stored, x in zip(opt.trials, history, expected["x"], strict=True):
        assert (trial.number, trial.value) == (stored["number"], stored["value"])
        assert to_twelve_digits(trial.x) == to_twelve_digits(x)
        assert (list(trial.u), list(trial.constraints)) == (stored["u"], stored["constraints"])
        assert (trial.crashed, trial.reason, trial.billed) == (
            stored["crashed"],
            stored["reason"],
            stored["billed"],
        )
        assert (trial.suggestion is None) == (stored["suggestion"] is None)
        if trial.suggestion is not None:
            old = stored["suggestion"]["mode"]
            assert trial.suggestion.mode == {"risky": "bold", "safe": "careful"}.get(old, old)
            for key in ("rho", "p_safe", "mean", "std"):
                np.testing.assert_equal(getattr(trial.suggestion, key), number(stored["suggestion"][key]))
    assert [trial.failed for trial in opt.trials] == expected["failed"]
    assert [trial.safe for trial in opt.trials] == expected["safe"]


@pytest.mark.parametrize("path", OPTIMIZERS)
def test_a_saved_optimizer_goes_on(path):
    file = json.loads(path.read_text())
    opt, expected = tumble.Optimizer.from_dict(file["saved"]), file["expected"]
    assert (opt.best is None) == (expected["best"] is None)
    if opt.best is not None:
        best = expected["best"]
        assert (opt.best.number, opt.best.value) == (best["number"], best["value"])
        assert to_twelve_digits(opt.best.x) == to_twelve_digits(best["x"])
    if expected["ask"] != "suggestion":
        with pytest.raises(getattr(tumble, expected["ask"])):
            opt.ask()
        return
    asked = opt.ask()
    assert asked.number == file["saved"]["history"][-1]["number"] + 1
    assert opt.trials_left == expected["trials_left"] - 1
    opt.tell(asked, 0.5, [-0.1] * len(opt.constraint_names))
    again = tumble.Optimizer.from_dict(json.loads(json.dumps(opt.to_dict(), allow_nan=False)))
    assert again.trials_left == opt.trials_left


# -- a study file --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", STUDIES)
def test_a_saved_study_can_be_looked_at_and_goes_on(folder, tmp_path, capsys):
    for name in ("drill.toml", "drill.db"):
        shutil.copy(folder / name, tmp_path)
    file, expected = tmp_path / "drill.toml", json.loads((folder / "drill.expected.json").read_text())
    status = cli(capsys, "status", file)
    assert {key: status[key] for key in expected["status"]} == expected["status"]
    best = cli(capsys, "best", file)
    assert best["best"] == expected["best"]["best"]
    assert set(best["recommended"]["parameters"]) == {"speed", "flutes", "bit", "feed"}
    asked = cli(capsys, "ask", file)
    assert asked["trial"] == len(expected["trials"])
    assert cli(capsys, "status", file)["pending"] == expected["status"]["pending"] + 1


@pytest.mark.parametrize("folder", STUDIES)
def test_a_saved_study_can_be_told_what_came_of_its_trials_in_flight(folder, tmp_path, capsys):
    for name in ("drill.toml", "drill.db"):
        shutil.copy(folder / name, tmp_path)
    expected = json.loads((folder / "drill.expected.json").read_text())
    flying = [stored["number"] for stored in expected["trials"] if stored["state"] == "RUNNING"]
    with pytest.raises(SystemExit) as caught:
        main(
            [
                "tell",
                str(tmp_path / "drill.toml"),
                str(flying[0]),
                "cost=3.0",
                "torque=9.0",
                "temperature=60.0",
            ]
        )
    assert not caught.value.code
    capsys.readouterr()
    status = cli(capsys, "status", tmp_path / "drill.toml")
    assert (status["trials"], status["pending"]) == (expected["status"]["trials"] + 1, len(flying) - 1)
    assert status["best"]["trial"] == flying[0]


@pytest.mark.parametrize("folder", STUDIES)
def test_optuna_reads_the_database_of_a_saved_study(folder, tmp_path):
    shutil.copy(folder / "drill.db", tmp_path)
    stored = json.loads((folder / "drill.expected.json").read_text())["trials"]
    database = optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'drill.db'}")
    trials = optuna.load_study(study_name="drill", storage=database).trials
    database.engine.dispose()
    assert len(trials) == len(stored)
    for trial, expected in zip(trials, stored, strict=True):
        check_stored(trial, expected)
        assert trial.user_attrs.get("results") == expected["results"]


# -- a study of Optuna ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", STUDIES)
def test_a_saved_study_of_optuna_goes_on_under_the_sampler(folder, tmp_path):
    shutil.copy(folder / "sampler.log", tmp_path)
    expected = json.loads((folder / "sampler.expected.json").read_text())
    backend = JournalFileBackend(str(tmp_path / "sampler.log"))
    storage = JournalStorage(backend)
    sampler = tumble.TumbleSampler(trials=14, failures=6, seed=2)
    study = optuna.load_study(study_name="bowl", storage=storage, sampler=sampler)
    assert len(study.trials) == len(expected["trials"])
    for trial, stored in zip(study.trials, expected["trials"], strict=True):
        check_stored(trial, stored)
    opt = sampler.optimizer(study)
    assert opt is not None
    modes = {trial.suggestion.mode for trial in opt.trials if trial.suggestion}
    assert modes <= {"start", "free", "bold", "careful", "safest"}
    assert {"bold", "careful"} <= modes
    assert opt.best is not None
    assert {"number": opt.best.number, "value": opt.best.value} == expected["best"]
    assert (opt.trials_left, opt.failures_left) == (expected["trials_left"], expected["failures_left"])
    study.ask().suggest_float("x", 0, 1)
    assert set(study.trials[-1].system_attrs["tumble:decision"]["params"]) == {"x", "rate", "n", "kind"}
