"""Checks that distributions share: finite values, columns of them, and weights."""

from __future__ import annotations

import numpy as np

from pgm.errors import InvalidArgument, shown


def finite(what: str, values: object, axes: tuple[int, ...]) -> np.ndarray:
    """Return values as a read-only array with one of these numbers of axes."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{what} takes numbers, not {shown(values)}.") from None
    if isinstance(values, str | bool) or not np.isfinite(found).all():
        raise InvalidArgument(f"{what} takes finite numbers, not {shown(values)}.")
    if found.ndim not in axes:
        raise InvalidArgument(
            f"{what} has {found.ndim} axes; it takes {' or '.join(map(str, axes))}: {shown(values)}."
        )
    found.flags.writeable = False
    return found


def some(what: str, values: object, axes: tuple[int, ...]) -> np.ndarray:
    """Return values as `finite` does, at least one."""
    found = finite(what, values, axes)
    if not found.size:
        raise InvalidArgument(f"{what} is empty: {shown(values)}.")
    return found


def row_weights(weights: object, n: int) -> np.ndarray:
    """Return weights of n rows, one column for each component; 1 for all if None."""
    if weights is None:
        return np.ones((n, 1))
    found = finite("weights=", weights, (1, 2))
    if found.shape[0] != n or (found < 0).any():
        raise InvalidArgument(
            f"weights= has a non-negative number for each of {n} rows, not {shown(weights)}."
        )
    return found.reshape(n, -1)
