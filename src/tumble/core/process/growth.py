"""What is known of a process whose data grow one by one, while its hyperparameters stay: kept, and extended.

Hyperparameters of many data are learned anew only when there are 8 % more. Until then, one more trial adds

    a row to L and to L^-1:    L = [[L0, 0], [r, s]],    r = (L0^-1 k)ᵀ,    s² = k(x, x) + nugget - r rᵀ
    a row to h = L^-1 k(X, P): (k(x, P) - r h0) / s,     at points P that are asked about each time

A row is worked out in the same way whether those before it were kept or not, so that what is kept changes no
bit of an answer. The rows of the data that the hyperparameters were learned from are worked out at once.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from .cholesky import cholesky, inverse, solve
from .covariance import Covariance, Hyper
from .kept import Kept

FEWEST, MOST = 41, 256  # data of a process that grows row by row; with more, it grows by blocks
STEP = 32  # where hyperparameters were not learned, or from far fewer data: multiples of it are begun with
MOST_BYTES = 32 * 2**20  # of what is kept

GROWN = Kept(MOST_BYTES)


def begun_with(n: int, hyper: Hyper) -> int:
    """How many of n data are worked out at once."""
    return hyper.learned_from if n - STEP < hyper.learned_from <= n else n - n % STEP


@dataclass(frozen=True)
class Growth:
    """The data of a process, and what is kept of them.

    Parameters
    ----------
    covariance
        The covariance before any data.
    X : (N, D)
        The data.
    nugget
        What is added to the diagonal of their covariance: its noise, the same for all.
    kept
        What was worked out lately.
    """

    covariance: Covariance
    X: Array
    nugget: float
    kept: Kept = GROWN

    @property
    def chol(self) -> Array:
        """(N, N) L, the lower Cholesky factor."""
        return self._factor[:, :, 0]

    @property
    def inverse(self) -> Array:
        """(N, N) L^-1."""
        return self._factor[:, :, 1]

    def asked(self, points: Array) -> tuple[Array, Array]:
        """(N, P) covariances of the data with `points` (P, D), and L^-1 times these."""

        def begin(first: int) -> Array:
            k = self.covariance.between(self.X[:first], points)
            return np.array([k, self.inverse[:first, :first] @ k])

        def add(both: Array, i: int) -> None:
            k, half = both
            k[i] = self.covariance.row(self.X[i], points)
            half[i] = (k[i] - self.chol[i, :i] @ half[:i]) / self.chol[i, i]

        def extended(both: Array, n: int) -> Array:
            larger = np.empty((2, n, len(points)))
            larger[:, : both.shape[1]] = both
            return larger

        k, half = self._grown("asked", (points.tobytes(),), begin, add, extended)
        return k, half

    @cached_property
    def _factor(self) -> Array:
        """(N, N, 2) L and L^-1, each stored by columns."""

        def begin(first: int) -> Array:
            K = self.covariance.between(self.X[:first], self.X[:first])
            K.flat[:: first + 1] += self.nugget
            chol = cholesky(K)
            return np.asfortranarray(np.dstack([chol, inverse(chol)]))

        def add(both: Array, i: int) -> None:
            chol, inverted = both[:, :, 0], both[:, :, 1]
            k = self.covariance.row(self.X[i], self.X[: i + 1])
            row = solve(chol[:i, :i], k[:i])
            root = np.sqrt(max(k[i] + self.nugget - row @ row, self.nugget))  # smaller by rounding alone
            chol[i, :i], chol[i, i] = row, root
            inverted[i, :i], inverted[i, i] = (row @ inverted[:i, :i]) / -root, 1.0 / root

        def extended(both: Array, n: int) -> Array:
            larger = np.zeros((n, n, 2), order="F")
            larger[: len(both), : len(both)] = both
            return larger

        return self._grown("factor", (), begin, add, extended)

    def _grown(
        self, what: str, about: tuple[Hashable, ...], begin: Callable[[int], Array],
        add: Callable[[Array, int], None], extended: Callable[[Array, int], Array],
    ) -> Array:  # fmt: skip
        """What was kept of most of the data, with the rows that are missing; that is kept in its place."""
        n, hyper = len(self.X), self.covariance.hyper
        first = begun_with(n, hyper)
        process = self.covariance.kernel, hyper.lengthscales, hyper.variance, hyper.additive, self.nugget

        def key(m: int) -> tuple[Hashable, ...]:
            return what, *about, *process, first, self.X[:m].tobytes()

        for m in range(n, first - 1, -1):
            found = self.kept.get(key(m))
            if found is not None:
                break
        else:
            m, found = first, begin(first)
        if m < n:
            self.kept.forget(key(m))
            found = extended(found, n)
            for i in range(m, n):
                add(found, i)
        self.kept.keep(key(n), found)
        return found
