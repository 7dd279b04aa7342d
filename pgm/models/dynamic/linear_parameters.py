"""The matrices of a linear dynamical system, as a user writes them: checked, each named in errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, shown

_TOLERANCE = 1e-9  # by which a covariance may be off symmetry, or a variance below zero

Varying = np.ndarray | Callable[[float], Any]  # (n, n), (steps, n, n), or of the gap between two times


def numbers(name: str, value: Any, *, infinite: bool = False) -> np.ndarray:
    """Read floats, of any shape."""
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name}= takes numbers, not {shown(value)}.") from None
    if value is None or isinstance(value, str | bool):
        raise InvalidArgument(f"{name}= takes numbers, not {shown(value)}.")
    bad = np.isnan(found) if infinite else ~np.isfinite(found)
    if bad.any():
        at = np.argwhere(bad)[0].tolist()
        where = f"{name}{at}" if at else f"{name}="
        raise InvalidArgument(f"{where} is {float(found[tuple(at)])}: parameters are finite numbers.")
    return found


def plural(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def matrix(name: str, value: Any, rows: int | None, columns: int | None, why: str) -> Varying:
    """A matrix of this many rows and columns (None: any), one for each step, or a function of the gap."""
    if callable(value):
        return value  # type: ignore[no-any-return]
    found = numbers(name, value)
    if found.ndim == 0:
        found = found.reshape(1, 1)
    elif found.ndim == 1:
        lying = rows == 1 or (rows is None and columns in (None, found.size))
        found = found.reshape(1, -1) if lying else found[:, None]
    if found.ndim > 3 or found.size == 0:
        raise InvalidArgument(
            f"{name}= is a matrix, or one for each step, not an array of shape {found.shape}."
        )
    fits = all(
        size is None or size == own for size, own in zip((rows, columns), found.shape[-2:], strict=True)
    )
    if not fits:
        shape = " x ".join("any" if size is None else str(size) for size in (rows, columns))
        own = " x ".join(map(str, found.shape[-2:]))
        raise InvalidArgument(f"{name}= is {own}, but should be {shape}: {why}.")
    return found


def covariance(name: str, value: Any, n: int, why: str) -> Varying:
    """A covariance of n variables: a matrix, a list of variances, or one variance for all of them."""
    if callable(value):
        return value  # type: ignore[no-any-return]
    found = numbers(name, value)
    if found.ndim == 0:
        found = found * np.eye(n)
    elif found.ndim == 1 and found.size == n:
        found = np.diag(found)
    made = matrix(name, found, n, n, why)
    assert isinstance(made, np.ndarray)
    return symmetric(name, made)


def symmetric(name: str, found: np.ndarray) -> np.ndarray:
    """Refuse what is not a covariance, and say why; otherwise return it, symmetric to the last bit."""
    each = found.reshape(-1, *found.shape[-2:])
    turned, variances = each.swapaxes(1, 2), np.diagonal(each, axis1=1, axis2=2)
    size = np.abs(each).max(axis=(1, 2))
    off = np.abs(each - turned)
    least = np.linalg.eigvalsh(each)[:, 0] if each.shape[1] > 1 else np.zeros(len(each))
    crooked = off.max(axis=(1, 2)) > _TOLERANCE * size
    bad = crooked | (variances < 0).any(axis=1) | (least < -_TOLERANCE * size)
    if bad.any():
        t = int(bad.argmax())
        which = f"{name}= of step {t}" if found.ndim == 3 else f"{name}="
        if crooked[t]:
            i, j = np.argwhere(off[t] == off[t].max())[0].tolist()
            raise InvalidArgument(
                f"{which} is not symmetric, as a covariance must be: [{i}, {j}] is {each[t, i, j]:.6g}, "
                f"[{j}, {i}] is {each[t, j, i]:.6g}."
            )
        if (variances[t] < 0).any():
            i = int((variances[t] < 0).argmax())
            raise InvalidArgument(f"{which} has a negative variance: [{i}, {i}] is {variances[t, i]:.6g}.")
        raise InvalidArgument(
            f"{which} has a negative eigenvalue, {least[t]:.6g}: it would give some combination of the "
            "values a negative variance."
        )
    return np.asarray((found + found.swapaxes(-1, -2)) / 2)


def vector(name: str, value: Any, n: int, why: str) -> np.ndarray:
    """A vector of this length."""
    found = numbers(name, value)
    if found.ndim == 0 and n == 1:
        found = found.reshape(1)
    if found.shape != (n,):
        raise InvalidArgument(
            f"{name}= has shape {found.shape}, but should have {plural(n, 'value')}: {why}."
        )
    return found


def names_of(name: str, value: Any, n: int, default: str) -> tuple[str, ...]:
    """Names of the entries of a state, or of an observation."""
    if value is None:
        return (default,) if n == 1 else tuple(f"{default}{i}" for i in range(n))
    found = (value,) if isinstance(value, str) or not hasattr(value, "__iter__") else tuple(value)
    if len(found) != n or not all(isinstance(each, str) for each in found) or len(set(found)) < n:
        raise InvalidArgument(f"{name}= takes {n} different name{'s' * (n > 1)}, not {shown(value)}.")
    return found
