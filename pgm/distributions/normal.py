"""The normal log density: the one place that has it, but for compiled loops, which can call nothing here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LOG_2PI = math.log(2.0 * math.pi)
_SINGULAR = 1e-7  # of a standard deviation that is left given the others: what is below is rounding


def log_standard_normal(z: Any) -> Any:
    """Log density of N(0, 1), at a float or at each element of an array.

    >>> round(log_standard_normal(1.0), 6)
    -1.418939
    """
    return -0.5 * (z**2 + LOG_2PI)


def log_peak(dim: int, log_determinant: float) -> float:
    """Log density at the mean of a normal in so many dimensions, its covariance of this determinant."""
    return -0.5 * (dim * LOG_2PI + log_determinant)


def log_normal(off: np.ndarray, covariance: np.ndarray) -> np.ndarray | None:
    """Log density at these distances from the mean, along the last axis; None if the covariance is singular.

    In one dimension a singular one is that of a constant: its density is infinite there, and zero elsewhere.

    >>> log_normal(np.array([[0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])).round(6)
    array([-1.837877])
    """
    dim = covariance.shape[0]
    if dim == 1:
        variance = float(covariance[0, 0])
        if variance == 0.0:
            return np.where(off[..., 0] == 0.0, np.inf, -np.inf)
        return np.asarray(-0.5 * off[..., 0] ** 2 / variance - 0.5 * math.log(2.0 * math.pi * variance))
    found = cholesky_of_correlations(covariance)
    if found is None:
        return None
    factor, scale = found
    solved = np.linalg.solve(factor, (off / scale).reshape(-1, dim).T)
    half = np.log(np.diag(factor)).sum() + np.log(scale).sum()
    logs = log_peak(dim, 2.0 * float(half)) - 0.5 * (solved**2).sum(axis=0)
    return np.asarray(logs.reshape(off.shape[:-1]))


def cholesky_of_correlations(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The Cholesky factor of the correlations, and the standard deviations; None where they are singular.

    >>> factor, scale = cholesky_of_correlations(np.array([[4.0, 0.0], [0.0, 9.0]]))
    >>> factor.tolist(), scale.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [2.0, 3.0])
    """
    scale = np.sqrt(np.diag(covariance))
    try:
        factor = np.linalg.cholesky(covariance / np.outer(scale, scale)) if (scale > 0).all() else None
    except np.linalg.LinAlgError:
        factor = None
    if factor is None or np.diag(factor).min(initial=1.0) < _SINGULAR:
        return None
    return factor, scale
