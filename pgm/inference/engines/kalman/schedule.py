"""What the filter takes: the matrices of every step, and the observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Steps

_ROUNDING = 2.0**-43  # a pivot this much smaller than its diagonal entry is zero


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One series: the observations less their offsets, and the effect of inputs on the state."""

    y: np.ndarray  # (T, m), NaN where nothing was observed
    pushes: np.ndarray | None = None  # (T - 1, n), added to the state in each transition


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """The matrices of a system, and those that each step uses; Harvey 1989, section 3.1.

    x[t+1] = A x[t] + push + w, w ~ N(0, Q); y[t] = C x[t] + v, v ~ N(0, R); x[0] ~ N(mean, covariance),
    with infinite variance where `diffuse` is true.
    """

    A: np.ndarray  # (moves, n, n)
    Q: np.ndarray  # (moves, n, n)
    C: np.ndarray  # (looks, m, n)
    R: np.ndarray  # (looks, m, m)
    move: np.ndarray  # (T - 1,) int64 the row of A and Q
    look: np.ndarray  # (T,) int64 the row of C and R
    mean: np.ndarray  # (n,)
    covariance: np.ndarray  # (n, n), zero where diffuse
    diffuse: np.ndarray  # (n,) bool

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many steps, entries of an observation and entries of a state there are."""
        return self.look.size, self.C.shape[1], self.C.shape[2]

    def start(self) -> np.ndarray:
        """The covariance of the first state around the unknown centre of its diffuse entries.

        A state of infinite variance is a state of finite variance around an unknown centre, whatever that
        finite variance is; where it is positive, no observation of the state is certain.
        """
        made: np.ndarray = self.covariance.copy()
        if self.diffuse.any():
            sizes = [np.diagonal(each, axis1=1, axis2=2).max(initial=0.0) for each in (self.Q, self.R)]
            made[self.diffuse, self.diffuse] = max(sizes) or 1.0
        return made

    def steps(self, seen: np.ndarray) -> tuple[Steps, np.ndarray | None]:
        """The arrays of the loops where these entries are observed, and the transformation of observations.

        The second is a matrix for each row of C in the first, by which observations must be multiplied so
        that the noise of their entries is independent; None: it already is.
        """
        m = self.shape[1]
        U, d = factored(self.Q)
        first = np.argsort(d <= 0, axis=1, kind="stable")[:, : int((d > 0).sum(axis=1).max())]
        weights = np.take_along_axis(d, first, axis=1)
        G = np.take_along_axis(U, first[:, None, :], axis=2) * (weights > 0)[:, None, :]
        C, noise, look, decorrelation = self.C, np.diagonal(self.R, axis1=1, axis2=2), self.look, None
        if m > 1 and (self.R != noise[:, :, None] * np.eye(m)).any():
            kinds, look = np.unique(np.column_stack([self.look, seen]), axis=0, return_inverse=True)
            decorrelation = np.tile(np.eye(m), (len(kinds), 1, 1))
            noise = np.zeros((len(kinds), m))
            for k, (old, *some) in enumerate(kinds.tolist()):
                at = np.flatnonzero(some)
                U, d = factored(self.R[old][np.ix_(at[::-1], at[::-1])])
                decorrelation[k][np.ix_(at, at)] = np.linalg.inv(U)[::-1, ::-1]
                noise[k, at] = d[::-1]
            C = decorrelation @ self.C[kinds[:, 0]]
            look = look.reshape(-1)
        U, d = factored(self.start())
        start = U.copy()
        np.fill_diagonal(start, d)
        made = Steps(
            _table(self.A),
            _table(G),
            weights,
            _table(C),
            np.ascontiguousarray(noise),
            self.move,
            np.ascontiguousarray(look, dtype=np.int64),
            np.ascontiguousarray(seen, dtype=np.uint8),
            start.ravel(),
        )
        return made, decorrelation


def _table(matrices: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(matrices.reshape(len(matrices), -1))


def factored(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """U, unit upper triangular, and d with U diag(d) U' = covariance, which may be singular; one or many.

    >>> U, d = factored(np.array([[2.0, 1.0], [1.0, 1.0]]))
    >>> U.tolist(), d.tolist()
    ([[1.0, 1.0], [0.0, 1.0]], [1.0, 1.0])
    """
    left = np.array(covariance)
    n = left.shape[-1]
    U, d = np.zeros_like(left), np.zeros(left.shape[:-1])
    U[..., range(n), range(n)] = 1.0
    least = _ROUNDING * np.diagonal(left, axis1=-2, axis2=-1)
    for j in range(n - 1, -1, -1):
        pivot = left[..., j, j]
        kept = pivot > least[..., j]
        d[..., j] = np.where(kept, pivot, 0.0)
        column = np.where(kept[..., None], left[..., :j, j], 0.0) / np.where(kept, pivot, 1.0)[..., None]
        U[..., :j, j] = column
        left[..., :j, :j] -= d[..., j, None, None] * (column[..., :, None] * column[..., None, :])
    return U, d


def stationary(A: np.ndarray, Q: np.ndarray, push: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The stationary mean and covariance of x[t+1] = A x[t] + push + N(0, Q); None if A is not stable.

    >>> mean, covariance = stationary(np.array([[0.5]]), np.array([[3.0]]), np.array([1.0]))
    >>> float(mean[0]), float(covariance[0, 0])
    (2.0, 4.0)
    """
    if np.abs(np.linalg.eigvals(A)).max() >= 1.0:
        return None
    from scipy.linalg import solve_discrete_lyapunov

    found = solve_discrete_lyapunov(A, Q)
    return np.linalg.solve(np.eye(len(A)) - A, push), (found + found.T) / 2
