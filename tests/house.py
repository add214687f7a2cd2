"""The source tree read as syntax: modules, their imports, functions and private names.

`tests/test_house.py` states the rules of the house with it. Nothing here imports the code that it reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "tumble": ROOT / "src" / "tumble",
    "experiments": ROOT / "experiments",
    "benchmarks": ROOT / "benchmarks",
}

# Documented names of the standard library that begin with an underscore.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_make", "_replace"}


@dataclass(frozen=True)
class Module:
    """A module: its dotted name, whether it is a package, and its syntax tree."""

    name: str
    is_package: bool
    tree: ast.Module

    @classmethod
    def of(cls, name: str, source: str, *, is_package: bool = False) -> Module:
        """A module from its source."""
        return cls(name, is_package, ast.parse(source))

    @property
    def package(self) -> str:
        """The package that the module stands in; a package stands in itself."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def modules(packages: Mapping[str, Path] = PACKAGES) -> dict[str, Module]:
    """Every module of the packages, by dotted name."""
    found = {}
    for package, folder in packages.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            name = ".".join((package, *(parts[:-1] if is_package else parts)))
            found[name] = Module.of(name, path.read_text(encoding="utf-8"), is_package=is_package)
    return found


def imports(module: Module) -> Iterator[tuple[str, str | None]]:
    """What a module imports, in functions too: (module, name); the name is None for ``import module``."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(module, node)
            yield from ((source, alias.name) for alias in node.names)


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    here = parts[: len(parts) - (node.level - 1)]
    return ".".join([*here, *([node.module] if node.module else [])])


def graph(known: Mapping[str, Module]) -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports. ``from package import module`` counts as the module."""
    arrows: dict[str, set[str]] = {}
    for module in known.values():
        targets = set()
        for source, name in imports(module):
            inner = f"{source}.{name}"
            targets |= {target for target in (inner if inner in known else source,) if target in known}
        arrows[module.name] = targets - {module.name}
    return arrows


def circles(arrows: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that reach each other (Tarjan's strongly connected components of more than one)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(arrows.get(name, ())):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in arrows:
        if name not in index:
            visit(name)
    return sorted(found)


def lengths(module: Module) -> dict[str, int]:
    """Lines of every function from ``def`` to its end, less its docstring; inner functions count, too."""
    return {
        f"{module.name}.{node.name}": _lines(node)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def length(module: Module) -> int:
    """Lines of a module up to its last statement, less all of its docstrings."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    spared = sum(_docstring_lines(node) for node in ast.walk(module.tree) if isinstance(node, owners))
    return max((node.end_lineno or 0 for node in module.tree.body), default=0) - spared


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or 0) - node.lineno + 1 - _docstring_lines(node)


def _docstring_lines(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(node) is None:
        return 0
    return (node.body[0].end_lineno or 0) - node.body[0].lineno + 1


def is_private(name: str) -> bool:
    """One leading underscore, and no documented name of the standard library."""
    return (
        name.startswith("_")
        and name.strip("_") != ""
        and not name.startswith("__")
        and name not in DOCUMENTED
    )


def foreign_private_names(module: Module) -> set[str]:
    """The private names that a module uses and does not define: the private members of others.

    A name is used where it is imported, read as an attribute of anything (``self`` too, so that a subclass
    counts), or named in a string for `getattr`. It is defined by ``def``, ``class``, an assignment to the
    bare name, or one to an attribute of ``self`` or ``cls``. A module whose name is private may be imported
    from within its own package.
    """
    own, used = _defined(module), set()
    for source, name in imports(module):
        inner = source if name is None else f"{source}.{name}"
        used |= set(_private_parts(inner, module))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            used.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BY_NAME:
            names = (a.value for a in node.args[1:2] if isinstance(a, ast.Constant))
            used |= {name for name in names if isinstance(name, str) and is_private(name)}
    return used - own


_BY_NAME = ("getattr", "setattr", "hasattr", "delattr")


def _private_parts(dotted: str, module: Module) -> Iterator[str]:
    """The private parts of an imported name, except for modules of the importing module's own packages."""
    parts = dotted.split(".")
    for i, part in enumerate(parts):
        holder = ".".join(parts[:i])
        inside = module.package == holder or module.package.startswith(f"{holder}.")
        is_module = i < len(parts) - 1 or _is_module(dotted)
        if is_private(part) and not (inside and is_module):
            yield part


def _is_module(dotted: str) -> bool:
    package, _, rest = dotted.partition(".")
    path = PACKAGES.get(package, ROOT / package).joinpath(*rest.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def _defined(module: Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
            names.add(node.attr)
    return names


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")
