"""The normal log density, in one place for all but compiled loops, which cannot call it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pgm.runtime.loops import Loops

NORMALS = Loops("pgm.distributions.compiled", "adding up rows of values")
LOG_2PI = math.log(2.0 * math.pi)
_BITS = 52  # entries whose pattern of gaps fits a double as an integer
SINGULAR = (
    1e-7  # the least share of a standard deviation that is left given the other entries: less is rounding
)


def log_standard_normal(z: Any) -> Any:
    """Log density of N(0, 1), at a float or at each element of an array.

    >>> round(log_standard_normal(1.0), 6)
    -1.418939
    """
    return -0.5 * (z**2 + LOG_2PI)


def log_peak(dim: Any, log_determinant: Any) -> Any:
    """Log density of a normal at its mean, from its dimension and the log determinant of its covariance.

    >>> round(log_peak(2, 0.0), 6)
    -1.837877
    """
    return -0.5 * (dim * LOG_2PI + log_determinant)


def log_normal(off: np.ndarray, covariance: np.ndarray) -> np.ndarray | None:
    """Log density at these deviations from the mean (last axis); None if the covariance is singular.

    In one dimension a singular one is that of a constant: its density is infinite there, and zero elsewhere.

    >>> log_normal(np.array([[0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])).round(6)
    array([-1.837877])
    """
    dim = covariance.shape[0]
    if dim == 1:
        variance = float(covariance[0, 0])
        if variance == 0.0:
            return np.where(off[..., 0] == 0.0, np.inf, -np.inf)
        with np.errstate(over="ignore"):  # so far off that its density is zero
            return np.asarray(-0.5 * off[..., 0] ** 2 / variance - 0.5 * math.log(2.0 * math.pi * variance))
    found = cholesky_of_correlations(covariance)
    if found is None:
        return None
    factor, scale = found
    solved = np.linalg.solve(factor, (off / scale).reshape(-1, dim).T)
    half = np.log(np.diag(factor)).sum() + np.log(scale).sum()
    with np.errstate(over="ignore"):
        logs = log_peak(dim, 2.0 * float(half)) - 0.5 * (solved**2).sum(axis=0)
    return np.asarray(logs.reshape(off.shape[:-1]))


def log_normals(rows: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray | int:
    """Log density of each row, a column for each of several normals; or the index of one that is singular.

    Entries that are NaN were not observed; a row of nothing else has the log density zero.

    >>> log_normals(np.array([[0.0, 0.0]]), np.zeros((1, 2)), np.eye(2)[None]).round(6)
    array([[-1.837877]])
    """
    k, dim = means.shape
    logs = np.empty((len(rows), k))
    flat = np.ascontiguousarray(rows, dtype=np.float64).reshape(-1)
    if (gaps := grouped(rows)) is not None:
        order, begins, seen = gaps
        if seen[0].all():  # complete rows get the same bits whether or not others have gaps
            found = log_normals(rows[order[: begins[1]]], means, covariances)
            if isinstance(found, int):
                return found
            logs[order[: begins[1]]] = found
            order, begins, seen = order[begins[1] :], begins[1:] - begins[1], seen[1:]
        singular = NORMALS.log_partial_normals(
            flat, order, begins, seen.reshape(-1), np.ascontiguousarray(means).reshape(-1),
            np.ascontiguousarray(covariances).reshape(-1), dim, k, LOG_2PI, SINGULAR, logs.reshape(-1),
        )  # fmt: skip
        return logs if singular < 0 else int(singular)
    scales, factors, peaks = np.empty((k, dim)), np.empty((k, dim, dim)), np.empty(k)
    for s, covariance in enumerate(covariances):
        factored = cholesky_of_correlations(covariance)
        if factored is None:
            return s
        factors[s], scales[s] = factored
        half = np.log(np.diag(factors[s])).sum() + np.log(scales[s]).sum()
        peaks[s] = log_peak(dim, 2.0 * float(half))
    of_states = (np.ascontiguousarray(means).reshape(-1), scales.reshape(-1), factors.reshape(-1), peaks)
    NORMALS.log_normals(flat, *of_states, dim, logs.reshape(-1))
    return logs


def grouped(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Rows by which of their entries were observed, complete ones first; None: all rows are complete.

    Returns their indices, where each pattern begins in these, and its entries as ones and zeros.

    >>> order, begins, seen = grouped(np.array([[1.0, np.nan], [1.0, 2.0]]))
    >>> order.tolist(), begins.tolist(), seen.tolist()
    ([1, 0], [0, 1, 2], [[1, 1], [1, 0]])
    """
    gone = np.isnan(rows)
    if not gone.any():
        return None
    if rows.shape[1] <= _BITS:
        key = gone @ (2.0 ** np.arange(rows.shape[1]))
    else:
        packed = np.packbits(gone, axis=1)
        key = np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1)
    if key.size and key.max() < 2**16:
        key = key.astype(np.uint16)  # a stable sort of so few bits is a radix sort
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    seen = np.ascontiguousarray(~gone[order[begins]]).view(np.uint8)
    return order, np.append(begins, len(rows)), seen


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
    if factor is None or np.diag(factor).min(initial=1.0) < SINGULAR:
        return None
    return factor, scale


def are_covariances(matrices: np.ndarray) -> bool:
    """Whether all of these are positive definite covariances.

    >>> are_covariances(np.eye(2)[None]), are_covariances(np.array([[[1.0, 2.0], [2.0, 1.0]]]))
    (True, False)
    """
    there = (np.einsum("kii->ki", matrices) > 0.0).all() and bool(np.isfinite(matrices).all())
    return there and all(cholesky_of_correlations(matrix) is not None for matrix in matrices)
