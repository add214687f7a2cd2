"""The folder for OptunaHub's registry: it is loaded as OptunaHub loads it, and its example runs."""

import re
import runpy
import sys

import optuna
import optunahub
import pytest
import yaml

import tumble
from tests.packaging.repository import ROOT, text

REGISTRY = ROOT / "packaging" / "optunahub"
FOLDER = "packaging/optunahub/samplers/tumble"
README = text(f"{FOLDER}/README.md")


@pytest.fixture
def module(monkeypatch):
    loaded = optunahub.load_local_module("samplers/tumble", registry_root=str(REGISTRY))
    yield loaded
    sys.modules.pop(loaded.__name__, None)


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(before)


def test_it_is_loaded_as_optunahub_does(module):
    assert module.__all__ == ["TumbleSampler"]
    assert module.TumbleSampler is tumble.TumbleSampler


def test_its_example_stays_within_the_budget(module, monkeypatch, capsys):
    monkeypatch.setattr(optunahub, "load_module", lambda package: module)
    monkeypatch.chdir(REGISTRY)
    names = runpy.run_path(str(REGISTRY / "samplers" / "tumble" / "example.py"), run_name="__main__")
    study, sampler = names["study"], names["sampler"]
    assert len(study.trials) == 25
    assert sampler.optimizer(study).n_failures <= 4
    assert "speed" in capsys.readouterr().out


def test_the_example_of_its_page_runs(module, monkeypatch):
    monkeypatch.setattr(optunahub, "load_module", lambda package: module)
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(code.replace("n_trials=25", "n_trials=3"), names)
    assert len(names["study"].trials) == 3  # type: ignore[attr-defined]


def test_its_page_has_the_front_matter_of_the_registry():
    header = yaml.safe_load(README.split("---\n")[1])
    assert sorted(header) == ["author", "description", "license", "optuna_versions", "tags", "title"]
    assert header["license"] == "MIT License"
    assert header["tags"][0] == "sampler"
    assert optuna.__version__ in header["optuna_versions"]


def test_its_page_has_the_sections_of_the_registry_and_no_html():
    assert re.findall(r"^## (.+)$", README, re.MULTILINE) == [
        "Abstract", "APIs", "Installation", "Example", "Others",
    ]  # fmt: skip
    assert not re.search(r"<\w+[ >/]", README)


def test_its_licence_is_ours():
    assert text(f"{FOLDER}/LICENSE") == text("LICENSE")
