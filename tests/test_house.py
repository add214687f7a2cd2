"""The rules of the house: no circle, short functions, no private member of another, a mirrored test tree.

`CONTRIBUTING.md` states them; `pyproject.toml` has the direction of the imports. Every rule has a test that
it finds an offender.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import house
from tests.house import ROOT, Module

MODULES = house.modules()

# Private names of other libraries, each in one module of ours that says why it needs them.
FOREIGN = {
    "tumble.integrations.optuna.private": "Optuna has no public way to them",
    "tumble.integrations.optuna.reading": "the tables of Optuna, and the methods that read them",
    "benchmarks.fingerprint.models": "the public way to an experiment of Ax's Client came after 0.1.0",
}


# ------------------------------------------------------------------------------------------------- imports


def test_no_module_imports_itself_through_others():
    assert house.circles(house.graph(MODULES)) == []


def test_a_circle_is_found_inside_functions_and_relative_imports_too():
    sources = {
        "a": "from a import one",
        "a.one": "def f():\n    from . import two\n",
        "a.two": "from .three import x",
        "a.three": "import a.one",
        "a.four": "from a.one import f",
    }
    known = {name: Module.of(name, text, is_package=name == "a") for name, text in sources.items()}
    assert house.circles(house.graph(known)) == [["a.one", "a.three", "a.two"]]


PURE = {"collections.abc", "dataclasses", "functools", "math", "numpy", "numpy.typing", "typing", "warnings",
        "scipy.linalg", "scipy.linalg.blas", "scipy.linalg.lapack", "scipy.spatial.distance",
        "scipy.special"}  # fmt: skip


def impure(module):
    return {source for source, _ in house.imports(module)} - PURE - {"__future__"} - set(MODULES)


def test_the_core_is_numpy_and_closed_forms_of_scipy_with_no_file_log_or_clock():
    found = {m.name: impure(m) for m in MODULES.values() if m.name.startswith("tumble.core")}
    least_squares = {
        "tumble.core.search.quadratic": {"scipy.optimize"}
    }  # nnls, which ends after finitely many steps
    assert {name: names for name, names in found.items() if names} == least_squares
    taken = set(house.imports(MODULES["tumble.core.search.quadratic"]))
    assert {name for source, name in taken if source == "scipy.optimize"} == {"nnls"}


def test_an_optimiser_of_scipys_in_the_core_is_found():
    module = Module.of(
        "tumble.core.new", "from scipy.optimize import minimize\nfrom ..errors import InputError"
    )
    assert impure(module) == {"scipy.optimize"}


def lint_imports(folder: Path):
    code = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    paths = os.pathsep.join((str(folder / "src"), str(folder)))
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--config", str(folder / "pyproject.toml")],
        cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_an_import_against_the_arrows_is_found(tmp_path):
    for folder in ("src", "experiments", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "src/tumble/core/budget.py").open("a") as file:
        file.write("\n\ndef upwards():\n    from tumble import optimizer\n    import experiments.registry\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stderr
    assert "tumble.core.budget -> tumble.optimizer" in done.stdout
    assert "tumble.core.budget -> experiments.registry" in done.stdout


# ----------------------------------------------------------------------------------------------- functions


def test_no_function_is_longer_than_fifty_lines():
    found = {name: n for module in MODULES.values() for name, n in house.lengths(module).items() if n > 50}
    assert found == {}


@pytest.mark.parametrize(("statements", "long"), [(49, False), (50, True)])
def test_a_long_function_is_found_and_its_docstring_is_not_counted(statements, long):
    text = 'def f():\n    """One.\n\n    Two.\n    """\n' + "    pass\n" * statements
    assert (house.lengths(Module.of("m", text))["m.f"] > 50) is long


def test_no_module_is_longer_than_four_hundred_lines_and_most_are_half_as_long():
    lengths = {name: house.length(module) for name, module in MODULES.items()}
    assert {name: n for name, n in lengths.items() if n > 400} == {}
    assert sum(n > 200 for n in lengths.values()) < len(lengths) / 10


@pytest.mark.parametrize(("statements", "long"), [(400, False), (401, True)])
def test_a_long_module_is_found_and_its_docstrings_are_not_counted(statements, long):
    text = '"""One.\n\nTwo.\n"""\n' + "x = 1\n" * statements
    assert (house.length(Module.of("m", text)) > 400) is long


# -------------------------------------------------------------------------------------------- private names


def test_no_module_uses_a_private_name_of_another():
    found = {m.name: house.foreign_private_names(m) for m in MODULES.values() if m.name not in FOREIGN}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "text",
    [
        "from a.b import _x",
        "from tumble.problems._problem import Problem",
        "import optuna._x.y",
        "import a\na._x()",
        "def f(other):\n    return other._x",
        "def f(other):\n    other._x = 1",
        "class A(B):\n    def f(self):\n        return self._x",
        "def f(other):\n    return getattr(other, '_x', None)",
    ],
)
def test_a_private_name_of_another_module_is_found(text):
    assert house.foreign_private_names(Module.of("tumble.core.new", text)) <= {"_x", "_problem"}
    assert house.foreign_private_names(Module.of("tumble.core.new", text))


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def f(self, other):\n        self._x = other._x",
        "class A:\n    _x: int = 0\ndef f(a):\n    return a._x",
        "def _x(): ...\nclass A:\n    def _x(self): ...\nA()._x()",
        "from tumble._threads import one_thread",
        "from tumble import _threads",
        "row._replace(a=1), os._exit(1), thing.__dict__, a_, _",
    ],
)
def test_a_module_may_use_its_own_private_names_and_private_modules_of_its_package(text):
    assert house.foreign_private_names(Module.of("tumble.core.new", text)) == set()


# ------------------------------------------------------------------------------------------------ the tests

# tests/a/test_x.py tests the module a/x.py (or a/_x.py, or the package a/x); tests/a/test_a.py tests the
# whole room a. These test something else:
ACROSS = {
    "test_bad_input.py": "every door's checks",
    "test_docs.py": "README and docs",
    "test_noise.py": "a known noise at every door",
    "test_docstrings.py": "public docstrings and their examples",
    "test_house.py": "the rules of the house",
    "test_public_surface.py": "the public names",
    "test_saved.py": "files of earlier versions",
    "test_wheel.py": "what is installed",
    "cli/test_commands.py": "the commands, from the shell",
    "core/test_deprecation.py": "old names",
    "experiments/peers/test_mixed_spaces.py": "all peers on parameters that are no floats",
    "integrations/optuna/test_contract.py": "Optuna's own tests of a sampler",
    "packaging/test_distributions.py": "sdist and wheel",
    "packaging/test_workflows.py": "workflows, hooks and the image",
    "studies/test_ledger_machine.py": "the ledger against a model of it",
    "studies/test_passwords.py": "a server that asks for a password, through every command",
    "studies/test_pages.py": "report and dashboard in a browser",
}
ROOMS = ("experiments", "benchmarks", "docs", "examples", "packaging")  # beside src/tumble, with their tests


def stray(path):
    """What of a test file's path has no counterpart in the sources, or None."""
    folder, name = path.parent, path.stem.removeprefix("test_")
    rooms = ROOT if folder.parts[:1] and folder.parts[0] in ROOMS else ROOT / "src" / "tumble"
    room = rooms / folder
    if not room.is_dir():
        return f"no folder {room.relative_to(ROOT)}"
    ways = (room / f"{name}.py", room / f"_{name}.py", room / name)
    if path.as_posix() in ACROSS or name == folder.name or any(way.exists() for way in ways):
        return None
    return f"no module {name} in {room.relative_to(ROOT)}"


def test_the_test_tree_mirrors_the_source_tree():
    files = [path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")]
    assert {str(path): why for path in files if (why := stray(path))} == {}


def test_every_room_has_a_room_of_tests():
    rooms = {path.parent.relative_to(ROOT / "src" / "tumble") for path in (ROOT / "src").rglob("__init__.py")}
    tests = ROOT / "tests"
    tested = {room for room in rooms if (tests / room).is_dir() or _file_of(tests / room).exists()}
    assert {str(room) for room in rooms - tested} == set()


def _file_of(room: Path) -> Path:
    """The one file that tests a small room: tests/problems/test_designs.py for problems/designs."""
    return room.parent / f"test_{room.name}.py"


def test_what_is_tested_across_rooms_is_there():
    assert [name for name in ACROSS if not (ROOT / "tests" / name).exists()] == []


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("core/test_nothing.py", "no module nothing in src/tumble/core"),
        ("nowhere/test_space.py", "no folder src/tumble/nowhere"),
        ("core/test_budget.py", None),
        ("test_minimize.py", None),
        ("experiments/runs/test_runs.py", None),
    ],
)
def test_a_test_without_a_counterpart_is_found(path, why):
    assert stray(Path(path)) == why
