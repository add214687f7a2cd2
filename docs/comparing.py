"""Whether an output is the one that a page shows.

Words must be the same, and numbers agree to a thousandth. Three dots stand for anything. Searches are
chaotic: another processor, another BLAS or another release of SciPy rounds otherwise and may end elsewhere,
so that there nothing is compared.
"""

from __future__ import annotations

import hashlib
import math
import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.linalg import blas, lapack, solve_triangular

from tumble._threads import one_blas_thread

COMPUTED_WITH = "bef45f511f6f"  # the arithmetic of the pages' outputs
TOLERANCE = 1e-3
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
PIECE = re.compile(rf"\.\.\.|\s+|{NUMBER.pattern}")


def is_shown(shown: str, printed: str) -> bool:
    """Whether a page that shows the one may stand above a block that printed the other."""
    if arithmetic() != COMPUTED_WITH:
        return True
    found = _pattern(shown.strip()).fullmatch(printed.strip())
    numbers = [float(text) for text in NUMBER.findall(shown)]
    return found is not None and all(map(_agree, numbers, map(float, found.groups())))


@lru_cache
def arithmetic() -> str:
    """A mark of how this machine rounds: processor, mathematical library and BLAS together.

    NumPy and SciPy may bring a BLAS each, and a new release of SciPy may bring another one. Two threads of a
    BLAS round otherwise than one, which is what a search uses.
    """
    with one_blas_thread():
        found = _sample()
    return hashlib.sha256(b"".join(part.tobytes() for part in found)).hexdigest()[:12]


def _sample() -> tuple[NDArray[np.floating], ...]:
    """Results of what a search is made of."""
    A = np.random.default_rng(0).random((60, 60))
    K = np.asfortranarray(A @ A.T + np.eye(60))
    L, _ = lapack.dpotrf(K, lower=1, clean=1)
    return (
        K, np.linalg.cholesky(K), np.linalg.solve(K, A), A @ A[0], np.exp(-5.0 * A),
        L, lapack.dpotri(L, lower=1)[0], lapack.dtrtri(L, lower=1)[0], lapack.dtrtrs(L, A, lower=1)[0],
        solve_triangular(L, A, lower=True), blas.dsymm(1.0, K, A), blas.dsymv(1.0, K, A[0]),
        special.log_ndtr(A - 3.0), special.ndtri_exp(-9.0 * A - 0.01), special.stdtr(5.0, A - 3.0),
        special.stdtrit(5.0, 0.9 * A + 0.05),
    )  # fmt: skip


def _agree(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-9)


def _pattern(shown: str) -> re.Pattern[str]:
    """What a printed text must match; each number is a group."""
    parts, at = [], 0
    for piece in PIECE.finditer(shown):
        parts.append(re.escape(shown[at : piece.start()]))
        parts.append(_piece(piece.group()))
        at = piece.end()
    return re.compile("".join(parts) + re.escape(shown[at:]), re.DOTALL)


def _piece(text: str) -> str:
    if text == "...":
        return ".*?"
    return r"\s+" if text.isspace() else rf"({NUMBER.pattern})"
