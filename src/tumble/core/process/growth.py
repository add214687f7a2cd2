"""What is known of a process whose data grow one by one, while its hyperparameters stay: kept, and extended.

Hyperparameters of many data are learned anew only when there are a quarter more. Until then, one more trial
adds a row to the factor L of their covariance, to L^-1, and to h = L^-1 k(X, P), where P are points that are
asked about each time. With k its covariances with the data before it:

    r = (L^-1 k)ᵀ,   s² = k(x, x) + nugget - r rᵀ
    rows:  (r, s) of L,   (-r L^-1, 1) / s of L^-1,   (k(x, P) - r h) / s of h

A row is worked out in the same way whether those before it were kept or not, so that what is kept changes no
bit of an answer. The rows of the data that the hyperparameters were learned from are worked out at once.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from .cholesky import cholesky, inverse, inverse_with_row, with_row
from .covariance import Covariance, Hyper
from .kept import Kept

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
        return self._factors[0]

    @property
    def inverse(self) -> Array:
        """(N, N) L^-1."""
        return self._factors[1]

    def asked(self, points: Array) -> tuple[Array, Array]:
        """(N, P) covariances of the data with `points` (P, D), and L^-1 times these."""
        key, first = self._key("asked", points.tobytes()), self._first
        known = self._followed(key)
        if known is None:
            k = self.covariance.between(self.X[:first], points)
            known = k, self.inverse[:first, :first] @ k
        elif len(known[0]) == len(self.X):
            return known
        k, half = (np.empty((len(self.X), len(points))) for _ in known)
        m = len(known[0])
        k[:m], half[:m] = known
        for i in range(m, len(k)):
            k[i] = self.covariance.row(self.X[i], points)
            half[i] = (k[i] - self.chol[i, :i] @ half[:i]) / self.chol[i, i]
        self.kept.keep(key, self.X[first:], k, half)
        return k, half

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        """(N, N) L and L^-1."""
        key, first = self._key("factors"), self._first
        known = self._followed(key)
        chol, inverted = self._begun() if known is None else known
        for i in range(len(chol), len(self.X)):
            k = self.covariance.row(self.X[i], self.X[: i + 1])
            k[i] += self.nugget
            chol = with_row(chol, k, self.nugget)
            inverted = inverse_with_row(inverted, chol[i])
        self.kept.keep(key, self.X[first:], chol, inverted)
        return chol, inverted

    def _begun(self) -> tuple[Array, Array]:
        """L and L^-1 of the data that are worked out at once."""
        X = self.X[: self._first]
        K = self.covariance.between(X, X)
        K.flat[:: len(K) + 1] += self.nugget
        chol = cholesky(K)
        return chol, inverse(chol)

    @property
    def _first(self) -> int:
        return begun_with(len(self.X), self.covariance.hyper)

    def _key(self, *about: Hashable) -> Hashable:
        """Of an entry about the data that are worked out at once."""
        hyper, first = self.covariance.hyper, self._first
        process = self.covariance.kernel, hyper.lengthscales, hyper.variance, hyper.additive, self.nugget
        return *about, *process, first, self.X[:first].tobytes()

    def _followed(self, key: Hashable) -> tuple[Array, Array] | None:
        """Two arrays of an entry, where the data that follow the first ones in it are the next ones of X."""
        entry = self.kept.get(key)
        if entry is None:
            return None
        later, one, other = entry
        same = np.array_equal(later, self.X[self._first : self._first + len(later)])
        return (one, other) if same else None
