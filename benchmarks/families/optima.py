"""Optima that were searched for are kept in files: a search takes seconds, and every process would repeat it.

The folder is named by the environment variable `FOLDER`, so that worker processes know it too; without it
nothing is kept. A file's name holds the family, the seed and a hash of the sources that make a member: where
one of them changes, the optimum is searched for again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy

import tumble
from tumble.problems import Optimum

FOLDER = "TUMBLE_OPTIMA"
SOURCES = ("problems/**/*.py", "parameters.py", "space.py")  # of tumble; and every file beside this one


def remembered(family: str, seed: int, find: Callable[[], Optimum]) -> Optimum:
    """The optimum of a member: from its file, or by `find`, whose answer is then kept."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return find()
    path = Path(folder) / f"{family}-{seed}-{code_hash()}.json"
    return _read(path) or _kept(path, find())


@lru_cache(maxsize=1)
def code_hash() -> str:
    """A hash of everything that decides what a seed draws and where its optimum is found."""
    package = Path(next(iter(tumble.__path__)))
    own = sorted(Path(__file__).parent.glob("*.py"))
    theirs = [path for pattern in SOURCES for path in sorted(package.glob(pattern))]
    digest = hashlib.sha256(f"numpy {np.__version__}, scipy {scipy.__version__}".encode())
    for path in (*own, *theirs):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _read(path: Path) -> Optimum | None:
    """What a file says; None where there is none."""
    if not path.exists():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    return Optimum(data["value"], np.array(data["x"]), data["how"])


def _kept(path: Path, found: Optimum) -> Optimum:
    """Write a file at one stroke: another process sees the whole of it or nothing."""
    assert found.x is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    text = json.dumps({"value": found.value, "x": found.x.tolist(), "how": found.how})
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
    return found
