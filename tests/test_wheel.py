"""What is installed: the package, and nothing of the laboratory, the tests or the benchmarks."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

from tests.house import ROOT, modules


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The names of the files in a wheel built from a copy of the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("src", "experiments", "benchmarks", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (built,) = (folder / "dist").glob("tumble-*.whl")
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


def test_the_wheel_is_the_package_whole_and_nothing_else(wheel):
    source = ROOT / "src"
    package = {
        str(path.relative_to(source))
        for path in (source / "tumble").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    information = {name for name in wheel if name.partition("/")[0].endswith(".dist-info")}
    assert set(wheel) - information == package
    assert "tumble/py.typed" in package


def test_no_problem_of_the_package_needs_torch_or_triton():
    """The network of §5.3 and its kernels are an experiment: experiments/compression."""
    for module in modules().values():
        if module.name.startswith("tumble.problems"):
            text = (ROOT / "src" / module.name.replace(".", "/")).with_suffix(".py")
            content = (text if text.exists() else text.with_suffix("") / "__init__.py").read_text()
            assert not {word for word in ("torch", "triton", "mnist", "lenet") if word in content.lower()}


def test_triton_is_declared_by_the_extra_of_the_gpu_alone():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert [name for name, needs in extras.items() if any("triton" in need for need in needs)] == ["gpu"]
