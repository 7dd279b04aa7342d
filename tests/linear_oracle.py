"""Linear dynamical systems by brute force: the joint normal of all states and observations, conditioned.

Nothing of it knows of filters. In floats, or, where the start is diffuse, in decimals of 120 digits with a
variance of 1e40: what is left of that in the answers is far below what a float can show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal, getcontext
from typing import Any

import numpy as np

getcontext().prec = 120
WIDE = Decimal(10) ** 40


@dataclass
class Linear:
    """x[t+1] = A[t] x[t] + push[t] + N(0, Q[t]), y[t] = C[t] x[t] + shift[t] + N(0, R[t])."""

    A: list[np.ndarray]
    Q: list[np.ndarray]
    C: list[np.ndarray]
    R: list[np.ndarray]
    mean: np.ndarray
    covariance: np.ndarray
    push: list[np.ndarray]
    shift: list[np.ndarray]
    diffuse: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def T(self) -> int:
        return len(self.C)

    def joint(self, number: Any = float) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of all states, then all observations, one after the other."""
        kind = object if number is Decimal else float

        def of(array: np.ndarray) -> np.ndarray:
            return np.array([number(float(x)) for x in array.ravel()], dtype=kind).reshape(array.shape)

        n, m, T = len(self.mean), len(self.shift[0]), self.T
        start = of(self.covariance)
        for i in np.flatnonzero(self.diffuse):
            start[i, i] = number(WIDE)
        means, states = [of(self.mean)], np.full((T * n, T * n), number(0), dtype=kind)
        states[:n, :n] = start
        for t in range(1, T):
            A, own = of(self.A[t - 1]), slice(t * n, (t + 1) * n)
            means.append(A @ means[-1] + of(self.push[t - 1]))
            states[own, : t * n] = A @ states[(t - 1) * n : t * n, : t * n]
            states[: t * n, own] = states[own, : t * n].T
            states[own, own] = A @ states[(t - 1) * n : t * n, (t - 1) * n : t * n] @ A.T + of(self.Q[t - 1])
        look = np.full((T * m, T * n), number(0), dtype=kind)
        noise = np.full((T * m, T * m), number(0), dtype=kind)
        for t in range(T):
            look[t * m : (t + 1) * m, t * n : (t + 1) * n] = of(self.C[t])
            noise[t * m : (t + 1) * m, t * m : (t + 1) * m] = of(self.R[t])
        mean = np.concatenate(means)
        shift = np.concatenate([of(each) for each in self.shift])
        mean = np.concatenate([mean, look @ mean + shift])
        cross = look @ states
        return mean, np.block([[states, cross.T], [cross, cross @ look.T + noise]])

    def given(self, y: np.ndarray, until: int | None = None, number: Any = float) -> Answer:
        """The states given the entries of y up to a step (all), and the log density of these entries."""
        n, m = len(self.mean), y.shape[1]
        mean, cov = self.joint(number)
        flat = y.ravel().copy()
        if until is not None:
            flat[until * m :] = np.nan
        seen = np.flatnonzero(~np.isnan(flat)) + self.T * n
        states = np.arange(self.T * n)
        values = [number(float(x)) for x in flat[~np.isnan(flat)]]
        off = np.array(values, dtype=cov.dtype) - mean[seen]
        S = cov[np.ix_(seen, seen)]
        solved, log_det = _solved(S, np.column_stack([off, cov[np.ix_(seen, states)]]))
        squares = off @ solved[:, 0] if len(seen) else 0.0
        gain = solved[:, 1:].T
        wide = int(self.diffuse.sum()) if number is Decimal else 0
        log = -0.5 * (float(squares) + log_det + len(seen) * math.log(2 * math.pi))
        log += 0.5 * wide * math.log(float(WIDE))
        conditioned = cov[np.ix_(states, states)] - gain @ cov[np.ix_(seen, states)]
        centre = mean[states] + gain @ off
        return Answer(centre.astype(float).reshape(-1, n), conditioned.astype(float), log, n)


@dataclass
class Answer:
    mean: np.ndarray  # (T, n)
    every: np.ndarray  # (T n, T n)
    log: float
    n: int

    def covariance(self, t: int, u: int | None = None) -> np.ndarray:
        u = t if u is None else u
        return self.every[t * self.n : (t + 1) * self.n, u * self.n : (u + 1) * self.n]


def _solved(S: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """S^-1 right and log det S, by elimination; S is positive definite."""
    if S.dtype != object:
        return np.linalg.solve(S, right), float(np.linalg.slogdet(S)[1])
    S, right, log = S.copy(), right.copy(), 0.0
    for k in range(len(S)):
        log += float(S[k, k].ln())
        for i in range(k + 1, len(S)):
            f = S[i, k] / S[k, k]
            S[i, k:] = S[i, k:] - f * S[k, k:]
            right[i] = right[i] - f * right[k]
    for k in range(len(S) - 1, -1, -1):
        right[k] = (right[k] - S[k, k + 1 :] @ right[k + 1 :]) / S[k, k]
    return right, log


def random_linear(
    rng: np.random.Generator, n: int, m: int, T: int, *, diffuse: bool = False, changing: bool = False
) -> Linear:
    """A random system: some of its noise singular, some of its observation noise correlated."""

    def spread(size: int, rank: int) -> np.ndarray:
        root = rng.normal(size=(size, rank)).round(2)
        return root @ root.T

    kinds = T if changing else 1
    A = [rng.normal(size=(n, n)).round(2) * 0.7 for _ in range(kinds)]
    rank_q = int(rng.integers(0, n + 1))
    Q = [spread(n, rank_q) for _ in range(kinds)]
    C = [rng.normal(size=(m, n)).round(2) for _ in range(kinds)]
    correlated = rng.random() < 0.5
    R = [spread(m, m) + 0.1 * np.eye(m) for _ in range(kinds)]
    if not correlated:
        R = [np.diag(np.diag(each)) for each in R]
    wide = rng.random(n) < 0.6 if diffuse else np.zeros(n, bool)
    start = spread(n, n)
    start[wide], start[:, wide] = 0.0, 0.0
    return Linear(
        *(each * (T // kinds) for each in (A, Q, C, R)),
        mean=rng.normal(size=n).round(2),
        covariance=start,
        push=[rng.normal(size=n).round(2) for _ in range(T)],
        shift=[rng.normal(size=m).round(2) for _ in range(T)],
        diffuse=wide,
    )
