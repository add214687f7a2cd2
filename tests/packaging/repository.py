"""Where the tests of the packaging look: the root of the tree, its metadata, its YAML files."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    """The text of a file of the tree."""
    return (ROOT / name).read_text(encoding="utf-8")


def read_yaml(name: str) -> Any:
    """What a YAML file says."""
    return yaml.safe_load(text(name))


def script(name: str) -> ModuleType:
    """A module of the folder packaging, which is no Python package (the library of that name is)."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
