"""Going through the doors, in this process or in one with other sources."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.fingerprint.defaults import AS_IN_0_1_0

ROOT = Path(__file__).resolve().parents[2]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
NEEDS = {"sampler": ["optuna"], "study file": ["click", "optuna"], "botorch": ["botorch"], "ax": ["ax"]}


@dataclass(frozen=True)
class Passage:
    """What came through a door: a row of tokens for each suggestion, or why there is none."""

    rows: list[list[str]]
    seconds: float = 0.0
    skipped: str = ""
    error: str = ""

    @property
    def hash(self) -> str:
        """16 hexadecimal digits, or a word."""
        if self.skipped:
            return "skipped"
        if self.error:
            return "raised"
        return hashlib.sha256(json.dumps(self.rows).encode()).hexdigest()[:16]


def run(only: Sequence[str], seed: int) -> dict[str, Passage]:
    """Go through the doors called `only` (all, where nothing is named) with the sources of this process."""
    from benchmarks.fingerprint import models, optimizers, studies

    doors = {**optimizers.DOORS, **studies.DOORS, **models.DOORS}
    unknown = [name for name in only if not any(_is_called(door, name) for door in doors)]
    if unknown:
        raise SystemExit(f"there is no door {unknown[0]!r}; choose among: {'; '.join(doors)}")
    chosen = [door for door in doors if not only or any(_is_called(door, name) for name in only)]
    found = {}
    for door in chosen:
        needs = NEEDS.get(door.partition(",")[0], [])
        absent = [need for need in needs if find_spec(need) is None]
        if absent:
            found[door] = Passage([], skipped=f"{absent[0]} is not installed")
            continue
        start = time.process_time()
        rows, error = [], ""
        try:
            rows = doors[door](seed)
        except Exception:
            error = traceback.format_exc()
        found[door] = Passage(rows, time.process_time() - start, error=error)
    return found


def _is_called(door: str, name: str) -> bool:
    """Whether `name` is the whole name of a door, or what stands before its comma."""
    return name in (door, door.partition(",")[0])


def write(only: Sequence[str], seed: int, out: Path) -> None:
    """Run, and write what came and which sources were at work."""
    import tumble

    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an old name may be deprecated in one of the two states
        found = run(only, seed)
    passages = {door: asdict(passage) for door, passage in found.items()}
    out.write_text(json.dumps({"sources": str(tumble.__file__), "passages": passages}))


def collect(
    checkout: Path, only: Sequence[str], seed: int, *, as_in_0_1_0: bool = False
) -> dict[str, Passage]:
    """Run in a process of its own with the sources of `checkout` and the doors of this one.

    as_in_0_1_0: whether "default" means the settings of 0.1.0.
    """
    sources = checkout.resolve() / "src"
    if not (sources / "tumble").is_dir():
        raise SystemExit(f"{checkout} is no checkout of tumble: there is no src/tumble in it")
    path = os.pathsep.join(map(str, (sources, ROOT, ROOT / "src")))
    environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREADS, "1")}
    if as_in_0_1_0:
        environment[AS_IN_0_1_0] = "1"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "numbers.json")
        words = ["--numbers", str(out), "--seed", str(seed), *(f"--only={name}" for name in only)]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.fingerprint", *words],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"the doors could not be run on {checkout}:\n{done.stderr}")
        written = json.loads(out.read_text())
    if not Path(written["sources"]).is_relative_to(sources):
        raise SystemExit(f"{written['sources']} was at work, not {sources}")
    return {name: Passage(**passage) for name, passage in written["passages"].items()}
