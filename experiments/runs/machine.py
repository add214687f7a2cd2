"""What a run ran on: versions, hardware, and a hash of the code, for every line."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

PACKAGES = (
    "numpy",
    "scipy",
    "torch",
    "gpytorch",
    "botorch",
    "optuna",
    "scikit-learn",
    "bayesian-optimization",
)
SOURCES = (
    "core/**/*.py",
    "baselines/**/*.py",
    "counting.py",
    "methods.py",
    "optimizer.py",
    "parameters.py",
    "space.py",
)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def gpu() -> bool:
    """Whether networks can be trained here (§5.3): PyTorch is installed and sees a GPU."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def one_thread_each() -> None:
    """One BLAS thread a process; takes effect in processes started from now on."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"


@lru_cache(maxsize=1)
def description() -> dict[str, Any]:
    """Versions of the packages, the processor, and the code."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "hardware": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()},
        "code": code_hash(),
        "commit": commit(),
    }


@lru_cache(maxsize=1)
def commit() -> str:
    """The commit of tumble's sources, with a "+" where files differ from it; "" outside of a checkout."""
    import tumble

    words = ["git", "-C", next(iter(tumble.__path__)), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


@lru_cache(maxsize=1)
def code_hash() -> str:
    """Hash of the sources that decide a suggestion: lines of one table should share it.

    It is no part of a key (a docstring would then repeat weeks of runs); the report says when it differs, and
    ``--fresh`` repeats the runs of other versions.
    """
    import tumble

    root = Path(next(iter(tumble.__path__)))
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for path in sorted(root.glob(pattern)):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
