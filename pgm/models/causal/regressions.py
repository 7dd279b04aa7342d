"""Effects from rows by regression: inverse weights, doubly robust, and two-stage least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pgm.variables import Variable

_LEAST_SHARE = 1e-4  # the smallest fitted P(x | z) of a row that can still be weighted


def matrix(names: Sequence[str], variables: Any, data: Any) -> np.ndarray:
    """A column for each continuous variable, and an indicator for each state but the first."""
    columns: list[np.ndarray] = []
    n = len(next(iter(data.values())))
    for name in names:
        variable: Variable = variables[name]
        if variable.continuous:
            columns.append(np.asarray(data[name], float))
        else:
            codes = np.asarray(data[name])
            columns += [(codes == k).astype(float) for k in range(1, variable.card)]
    return np.column_stack(columns) if columns else np.zeros((n, 0))


def probability(target: np.ndarray, covariates: np.ndarray) -> np.ndarray:
    """P(target = 1 | covariates) of each row, by logistic regression with Newton's method."""
    a = np.column_stack([np.ones(len(target)), covariates])
    beta = np.zeros(a.shape[1])
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-np.clip(a @ beta, -30.0, 30.0)))
        step = np.linalg.lstsq((a * (p * (1 - p))[:, None]).T @ a, a.T @ (target - p), rcond=None)[0]
        beta = beta + step
        if np.abs(step).max() < 1e-11:
            break
    found: np.ndarray = 1.0 / (1.0 + np.exp(-np.clip(a @ beta, -30.0, 30.0)))
    return found


def weighted(x: Any, y: Any, z: Any, _: Any, ends: tuple[float, float]) -> float:
    """Inverse probability weighting: rows count 1 / P(x | z), with weights normalised within each arm."""
    means = []
    for end in ends:
        has = (x == end).astype(float)
        p = probability(has, z)
        if not has.any() or p.min() < _LEAST_SHARE:
            return math.nan
        means.append(float((has * y / p).sum() / (has / p).sum()))
    return means[1] - means[0]


def doubly_robust(x: Any, y: Any, z: Any, _: Any, ends: tuple[float, float]) -> float:
    """A linear regression in each arm, its residuals weighted by 1 / P(x | z) (Robins & al. 1994)."""
    a = np.column_stack([np.ones(len(y)), z])
    means = []
    for end in ends:
        has = x == end
        p = probability(has.astype(float), z)
        if not has.any() or p.min() < _LEAST_SHARE:
            return math.nan
        fitted = a @ np.linalg.lstsq(a[has], y[has], rcond=None)[0]
        means.append(float((fitted + has * (y - fitted) / p).mean()))
    return means[1] - means[0]


def two_stage(x: Any, y: Any, z: Any, first: Any, ends: tuple[float, float]) -> float:
    """Two-stage least squares: regress x on the instruments, then y on the fitted x."""
    one = np.column_stack([np.ones(len(y)), z])
    stage = np.column_stack([one, first])
    cause = np.asarray(x, float)
    explained = stage @ np.linalg.lstsq(stage, cause, rcond=None)[0]
    second = np.column_stack([one, explained])
    beta, _, rank, _ = np.linalg.lstsq(second, y, rcond=None)
    if rank < second.shape[1]:
        return math.nan
    return float(beta[-1]) * (ends[1] - ends[0])
