"""MNIST from a folder or from the usual public download, checked by md5.

The files are never part of this project (their licence is CC BY-SA 3.0). A folder may hold the four idx files
as they are or gzipped.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tumble.errors import InputError

MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"
PATIENCE = 60.0  # seconds without a byte from there
VALIDATION = 5000
MD5 = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}


@dataclass(frozen=True, eq=False)
class Digits:
    """Images (n, 28, 28) float32 in [-½, ½], labels (n,) int64: first training, then validation, then test.

    n_train, n_validation: how many of them are the first two; the rest is the test set.
    """

    images: NDArray[np.float32]
    labels: NDArray[np.int64]
    n_train: int
    n_validation: int

    def subset(self, n_train: int, n_validation: int, n_test: int) -> Digits:
        """The first so many of each part; all of a part that has fewer."""
        first, second = self.n_train, self.n_train + self.n_validation
        n_train, n_validation = min(n_train, first), min(n_validation, self.n_validation)
        rows = np.r_[:n_train, first : first + n_validation, second : min(second + n_test, len(self.labels))]
        return Digits(self.images[rows], self.labels[rows], n_train, n_validation)


def data_folder() -> Path:
    """Where MNIST is kept unless a path is given: $TUMBLE_DATA/mnist, else the user's cache."""
    root = os.environ.get("TUMBLE_DATA")
    return (Path(root) if root else Path.home() / ".cache" / "tumble") / "mnist"


def load(folder: Path | str | None = None, *, check: bool = True) -> Digits:
    """Read the four files; the first 5000 training images are the validation set.

    ``check`` compares every file's md5 with MNIST's own, after decompression.
    """
    where = data_folder() if folder is None else Path(folder)
    train_images, train_labels, test_images, test_labels = (_read(where, name, check) for name in MD5)
    pixels = np.concatenate([train_images[VALIDATION:], train_images[:VALIDATION], test_images])
    labels = np.concatenate([train_labels[VALIDATION:], train_labels[:VALIDATION], test_labels])
    images = pixels.astype(np.float32) / np.float32(255.0) - np.float32(0.5)
    held_back = min(VALIDATION, len(train_labels))
    return Digits(images, labels.astype(np.int64), len(train_labels) - held_back, held_back)


def download(folder: Path | str | None = None) -> Path:
    """Fetch the four files, check them, and return their folder; files that are there stay."""
    where = data_folder() if folder is None else Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    for name in MD5:
        if not _find(where, name):
            content = _fetch(f"{MIRROR}{name}.gz", where)
            _verify(name, gzip.decompress(content), f"{MIRROR}{name}.gz")
            (where / f"{name}.gz").write_bytes(content)
    return where


def check_there(folder: Path | str | None = None) -> None:
    """Refuse a folder in which one of the four files is missing, before anything is started."""
    where = data_folder() if folder is None else Path(folder)
    for name in MD5:
        _there(where, name)


def _fetch(url: str, folder: Path) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return bytes(answer.read())
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise InputError(
            f"{url} could not be fetched ({reason}); try again, or put MNIST's four idx files into {folder} "
            "by hand"
        ) from None


def _find(folder: Path, name: str) -> Path | None:
    return next((p for p in (folder / name, folder / f"{name}.gz") if p.exists()), None)


def _there(folder: Path, name: str) -> Path:
    path = _find(folder, name)
    if path is None:
        raise InputError(
            f"no {name} (nor {name}.gz) in {folder}; fetch MNIST with python -m experiments.compression "
            "--download, or put its four idx files there"
        )
    return path


def _verify(name: str, content: bytes, source: str) -> None:
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != MD5[name]:
        raise InputError(
            f"{source} is not MNIST's {name}: expected md5 {MD5[name]}, got {found}; fetch it again"
        )


def _read(folder: Path, name: str, check: bool) -> NDArray[np.uint8]:
    path = _there(folder, name)
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    if check:
        _verify(name, content, str(path))
    n_axes = content[3]
    shape = [int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(n_axes)]
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)
