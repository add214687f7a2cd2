"""The version, the addresses, the bounds and the classifiers say the same everywhere."""

import re

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from trove_classifiers import classifiers

import tumble
from tests.packaging.repository import PROJECT, ROOT, read_yaml, text

EXTRAS = PROJECT["optional-dependencies"]
ADDRESS = PROJECT["urls"]["Source"]


def requirements(*extras):
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    return {need.name: need.specifier for need in map(Requirement, lines)}


def lowest(specifier):
    (bound,) = [Version(part.version) for part in specifier if part.operator == ">="]
    return bound


def test_the_folder_packaging_does_not_hide_the_library_of_that_name():
    assert not (ROOT / "packaging" / "__init__.py").exists()


# ---------------------------------------------------------------------------------------------- the version


def test_the_version_stands_in_the_sources_alone():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT


def test_the_citation_has_the_version():
    assert read_yaml("CITATION.cff")["version"] == tumble.__version__


def test_the_conda_recipe_has_the_version():
    assert read_yaml("packaging/conda/recipe.yaml")["context"]["version"] == tumble.__version__


def test_the_newest_heading_of_the_change_log_is_the_version_that_is_worked_on():
    newest = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == Version(tumble.__version__).base_version


def test_the_change_log_has_the_usual_sections():
    usual = {"Upgrading", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text("CHANGELOG.md"), re.MULTILINE)) <= usual


# ------------------------------------------------------------------------------------------ the classifiers


def test_every_classifier_is_known():
    assert set(PROJECT["classifiers"]) <= set(classifiers)


def test_the_classifiers_name_the_lowest_python():
    low = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {low}" in PROJECT["classifiers"]


def test_a_python_is_claimed_only_where_the_public_tests_may_not_fail_on_it():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert set(named) <= set(
        read_yaml(".github/workflows/ci.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"]
    )


# -------------------------------------------------------------------------------------------- the addresses


@pytest.mark.parametrize(
    "name",
    [
        ".github/ISSUE_TEMPLATE/config.yml",
        "CITATION.cff",
        "packaging/conda/recipe.yaml",
        "packaging/optunahub/samplers/tumble/README.md",
    ],
)
def test_the_repository_has_one_address(name):
    assert set(re.findall(r"https://github\.com/\w+/tumble", text(name))) == {ADDRESS}


def test_the_urls_lie_in_the_repository_or_lead_to_the_paper():
    assert [
        url for url in PROJECT["urls"].values() if not url.startswith((ADDRESS, "https://arxiv.org/"))
    ] == []


# ----------------------------------------------------------------------------------------------- the bounds


def pins():
    lines = (line.partition("#")[0].strip() for line in text("packaging/lowest.txt").splitlines())
    return dict(line.split("==") for line in lines if line)


def test_the_lowest_versions_that_are_tested_are_the_lower_bounds():
    bounds = requirements("plots", "study", "serve")
    del bounds["tumble"]  # `serve` is `study` and more
    tested = pins()
    assert {name: Version(tested[name]) for name in bounds} == {n: lowest(s) for n, s in bounds.items()}


def test_the_conda_recipe_has_the_bounds_of_the_package():
    search, study = read_yaml("packaging/conda/recipe.yaml")["outputs"]
    lines = [line for output in (search, study) for line in output["requirements"]["run"]]
    recipe = {line.split()[0]: line.partition(" ")[2] for line in lines if line[0].isalpha()}
    del recipe["python"]
    expected = requirements("study")
    assert set(recipe) == set(expected)
    assert {name: Requirement(f"x{bound}").specifier for name, bound in recipe.items()} == expected


@pytest.mark.parametrize(
    ("extra", "name"), [("study", "optuna"), ("botorch", "botorch"), ("ax", "ax-platform")]
)
def test_a_library_whose_private_names_are_used_has_an_upper_bound(extra, name):
    assert any(part.operator == "<" for part in requirements(extra)[name])


def test_every_extra_is_described_in_the_manual():
    assert re.findall(r"^\| `(\w+)` \|", text("docs/install.md"), re.MULTILINE) == list(EXTRAS)
