"""The files that only a host can run: their syntax, and that what they name is there."""

import re
import shlex
from pathlib import Path

import pytest

from tests.packaging.repository import PROJECT, ROOT, read_yaml, text

WORKFLOWS = sorted(
    path.relative_to(ROOT).as_posix() for path in (ROOT / ".github" / "workflows").glob("*.yml")
)
OTHERS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / ".github").rglob("*.yml"))
JOBS = [(name, job) for name in WORKFLOWS for job in read_yaml(name)["jobs"]]
CODE = ("tests/", "packaging/", "src/", "docs/")


def steps(name, job):
    return read_yaml(name)["jobs"][job]["steps"]


@pytest.mark.parametrize(
    "name", [*OTHERS, ".pre-commit-config.yaml", "CITATION.cff", "packaging/conda/recipe.yaml"]
)
def test_it_is_yaml(name):
    assert isinstance(read_yaml(name), dict)


def test_the_jobs_that_were_promised_are_there():
    promised = {"lint", "types", "tests", "lowest", "newest", "macos", "docs", "build", "image"}
    assert set(read_yaml(".github/workflows/ci.yml")["jobs"]) == promised


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_only_read_unless_a_job_says_more(name):
    assert read_yaml(name)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_every_job_ends_and_every_action_has_a_version(name, job):
    assert read_yaml(name)["jobs"][job]["timeout-minutes"] <= 60
    used = [step["uses"] for step in steps(name, job) if "uses" in step]
    assert [action for action in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[\w./-]+", action)] == []


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_every_path_and_target_that_a_job_names_is_there(name, job):
    lines = [line for step in steps(name, job) for line in step.get("run", "").splitlines()]
    words = [word.removeprefix("$GITHUB_WORKSPACE/") for line in lines for word in shlex.split(line)]
    assert [word for word in words if word.startswith(CODE) and not (ROOT / word).exists()] == []
    targets = [line.split()[1] for line in lines if line.startswith("make ")]
    assert [target for target in targets if f"\n{target}: " not in text("Makefile")] == []


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_every_extra_that_a_job_installs_is_there(name, job):
    lines = "\n".join(step.get("run", "") for step in steps(name, job))
    named = {extra for found in re.findall(r"'\.\[([\w,]+)\]'", lines) for extra in found.split(",")}
    assert named <= set(PROJECT["optional-dependencies"])


def test_only_the_job_that_publishes_can_prove_who_it_is():
    jobs = read_yaml(".github/workflows/release.yml")["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert jobs["publish"]["environment"] == "release"
    assert jobs["publish"]["needs"] == "build"
    assert not any("secrets." in text(name) for name in WORKFLOWS)


def test_the_hooks_use_the_formatter_that_the_tests_use():
    (ruff,) = [r for r in read_yaml(".pre-commit-config.yaml")["repos"] if "ruff" in r["repo"]]
    (need,) = [line for line in PROJECT["optional-dependencies"]["dev"] if line.startswith("ruff")]
    assert need.startswith(f"ruff>={ruff['rev'].removeprefix('v')},")


# ------------------------------------------------------------------------------------------------ the image

INSTRUCTIONS = [line.split(maxsplit=1) for line in text("Dockerfile").splitlines() if line[:1].isalpha()]


def test_the_image_ends_as_a_user_without_rights():
    users = [rest for word, rest in INSTRUCTIONS if word == "USER"]
    assert users == ["tumble"]
    words = [word for word, _ in INSTRUCTIONS]
    assert words.index("USER") < words.index("ENTRYPOINT")


def test_what_the_image_copies_is_there_and_is_sent():
    sent = {line[1:] for line in text(".dockerignore").splitlines() if line.startswith("!")}
    copied = [rest.split()[:-1] for word, rest in INSTRUCTIONS if word == "COPY" and "--from" not in rest]
    names = {name for names in copied for name in names}
    assert names == sent
    assert all((ROOT / name).exists() for name in names)


def test_the_image_has_a_python_that_is_claimed():
    images = {rest.split()[0] for word, rest in INSTRUCTIONS if word == "FROM"}
    assert len(images) == 1
    (version,) = re.findall(r"^python:(3\.\d+)-slim$", images.pop())
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", ".github/pull_request_template.md"])
def test_the_texts_that_a_host_looks_for_are_there(name):
    assert Path(ROOT / name).stat().st_size > 300
