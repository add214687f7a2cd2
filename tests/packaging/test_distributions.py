"""The sdist is the whole tree, the metadata are complete, and a public page could show the README."""

import email
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

import tumble
from tests.packaging.repository import PROJECT, ROOT

NEEDED = (
    ".ci/run",
    "Makefile",
    "benchmarks/__init__.py",
    "docs/index.md",
    "examples/demo.py",
    "experiments/__init__.py",
    "mkdocs.yml",
    "packaging/optunahub/samplers/tumble/__init__.py",
    "pyproject.toml",
    "src/tumble/py.typed",
    "tests/conftest.py",
    "tests/saved/0.1.0/drill.db",
)


def python(*words):
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """An sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    python("build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return folder


@pytest.fixture(scope="module")
def sdist(dist):
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        return {name.partition("/")[2] for name in opened.getnames()}


@pytest.fixture(scope="module")
def metadata(dist):
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_string(opened.read(name).decode())


def test_the_sdist_has_what_its_tests_need(sdist):
    assert [name for name in NEEDED if name not in sdist] == []


def test_the_sdist_has_every_file_of_the_repository(sdist):
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no git repository here")
    listed = subprocess.run([git, "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    there = {name for name in listed.splitlines() if (ROOT / name).exists()}
    assert there - sdist == set()


def test_the_sdist_has_nothing_that_was_made_by_running(sdist):
    made = re.compile(r"__pycache__|\.pyc$|^(out|site|dist|build|\.venv|shared)/|\.(mypy|ruff|pytest)_cache")
    assert [name for name in sdist if made.search(name)] == []


def test_the_wheel_has_the_version_of_the_sources(metadata):
    assert metadata["Version"] == tumble.__version__


def test_the_metadata_have_every_address(metadata):
    assert dict(url.split(", ") for url in metadata.get_all("Project-URL")) == PROJECT["urls"]


def test_no_link_of_the_public_page_is_relative(metadata):
    targets = re.findall(r"\]\(([^)]+)\)", metadata.get_payload())
    assert targets
    assert [target for target in targets if not target.startswith("https://")] == []


def test_the_distributions_pass_the_checks_of_an_upload(dist):
    checked = python("twine", "--no-color", "check", "--strict", *map(str, dist.iterdir()))
    assert checked.count("PASSED") == 2
