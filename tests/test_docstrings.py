"""Every public name of the reference says what it takes; every example in a docstring gives what it shows."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tumble

REFERENCE = Path(__file__).parent.parent / "docs" / "reference.md"
LISTED = re.findall(r"^::: (\S+)$", REFERENCE.read_text(), flags=re.MULTILINE)
HEAVY = ("tumble.integrations.botorch", "tumble.integrations.ax")  # they need what they integrate
OLD = "tumble.policies"  # warns when it is imported


def resolve(path: str) -> Any:
    return pkgutil.resolve_name(path)


def public(path: str) -> Iterator[tuple[str, Any]]:
    """The classes and functions that a name of the reference shows, with the methods of the classes."""
    found = resolve(path)
    if isinstance(found, ModuleType):
        names = getattr(found, "__all__", None) or [
            name for name, member in vars(found).items()
            if not name.startswith("_") and getattr(member, "__module__", "") == found.__name__
        ]  # fmt: skip
        for name in names:
            yield from public(f"{path}.{name}")
    elif inspect.isclass(found):
        yield path, found
        for name, member in vars(found).items():
            inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if not name.startswith("_") and inspect.isfunction(inner) and not overrides(found, name):
                yield f"{path}.{name}", inner
    elif inspect.isfunction(found):
        yield path, found


def overrides(cls: type, name: str) -> bool:
    """Whether a method is another library's hook, which is documented there."""
    return any(name in vars(parent) for parent in cls.__mro__[1:])


def arguments(thing: Any) -> list[str]:
    if inspect.isclass(thing) and "__init__" not in vars(thing):
        return []
    found = inspect.signature(thing.__init__ if inspect.isclass(thing) else thing).parameters.values()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in found if p.name not in ("self", "cls") and p.kind not in kinds]


def documented(thing: Any) -> set[str]:
    """The names in the section Parameters."""
    text = inspect.getdoc(thing) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in section[1].splitlines() if line[:1].strip()] if section else []
    return {name.strip().lstrip("*") for line in lines for name in line.partition(" :")[0].split(",")}


@pytest.mark.parametrize("path", LISTED)
def test_a_public_name_says_what_it_takes(path: str) -> None:
    if path.startswith(HEAVY):
        pytest.importorskip(path.split(".")[2])
    for name, thing in public(path):
        assert inspect.getdoc(thing), name
        named = documented(thing)
        if not inspect.isclass(thing) and not named:  # a few arguments may stand in the sentence itself
            named = set(re.findall(r"\w+", inspect.getdoc(thing) or ""))
        needed = set(arguments(thing))
        assert needed <= named or (inspect.isfunction(thing) and len(needed) == 1), name


def test_every_public_name_of_the_package_is_in_the_reference() -> None:
    errors = {"BudgetExhausted", "BudgetReserved", "Failure", "InputError", "TrialsExhausted", "TumbleError"}
    shown = {path.rpartition(".")[2] for path in LISTED}
    assert set(tumble.__all__) - shown - errors == set()
    assert "tumble.errors" in LISTED


def modules() -> list[str]:
    found = pkgutil.walk_packages(tumble.__path__, "tumble.")
    return [m.name for m in found if not m.name.startswith((*HEAVY, OLD)) and not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_a_module_give_what_they_show(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("path", LISTED)
def test_names_that_share_a_line_share_their_default(path: str) -> None:
    """The table of parameters shows the default of the first name for all names of a line."""
    if path.startswith(HEAVY):
        pytest.importorskip(path.split(".")[2])
    for name, thing in public(path):
        found = inspect.signature(thing).parameters if arguments(thing) else {}
        text = inspect.getdoc(thing) or ""
        for line in re.findall(r"^(\w+(?:, \w+)+)(?: :.*)?$", text, flags=re.MULTILINE):
            given = [found[one].default for one in line.split(", ") if one in found]
            assert all(one is given[0] or one == given[0] for one in given), f"{name}: {line}"
