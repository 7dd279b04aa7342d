"""Windows (kernels): the weight of a row by its distance, for densities and smoothers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pgm.distributions.normal import log_peak
from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.runtime.clock import start_clock
from pgm.runtime.progress import report

_BLOCK = 1 << 17  # distances at once: they stay in the cache of the processor


def _epanechnikov(u2: np.ndarray) -> np.ndarray:
    return np.maximum(1.0 - u2, 0.0)


def _tricube(u2: np.ndarray) -> np.ndarray:
    found = np.minimum(u2, 1.0)
    found *= np.sqrt(found)
    np.subtract(1.0, found, out=found)
    found *= found * found
    return np.asarray(found)


# As functions of (distance / width)^2, with value 1 at the centre; a cube has the width as its edge, a box
# twice that.
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda u2: np.exp(-0.5 * u2),
    "epanechnikov": _epanechnikov,
    "tricube": _tricube,
    "box": lambda u2: (u2 < 1.0).astype(np.float64),
    "cube": lambda u2: (u2 <= 0.25).astype(np.float64),
}


def window_option(name: str, given: Any, known: Sequence[str]) -> str:
    """The name of a window, checked."""
    if not isinstance(given, str) or given not in known:
        raise InvalidArgument(f"{name}= is {listed(known)}, not {shown(given)}.{nearest(given, known)}")
    return given


def log_volume(window: str, dim: int) -> float:
    """The logarithm of the integral of a window of width 1 that is 1 in the middle.

    >>> round(math.exp(log_volume("epanechnikov", 1)), 6)  # 4/3
    1.333333
    """
    if window == "gaussian":
        return -float(log_peak(dim, 0.0))
    if window == "cube":
        return 0.0
    return log_ball(dim) + (math.log(2.0 / (dim + 2.0)) if window == "epanechnikov" else 0.0)


def log_ball(dim: int) -> float:
    """The logarithm of the volume of the ball of radius 1.

    >>> round(math.exp(log_ball(2)), 6)
    3.141593
    """
    return 0.5 * dim * math.log(math.pi) - math.lgamma(0.5 * dim + 1.0)


def distances(
    places: np.ndarray, rows: np.ndarray, window: str, doing: str, block: int = _BLOCK
) -> Iterator[tuple[slice, np.ndarray]]:
    """Squared distances from points to all rows, in blocks; for a cube the maximum over columns."""
    from scipy.spatial.distance import cdist

    clock, size = start_clock(), max(1, block // len(rows))
    for first in range(0, len(places), size):
        clock.check(doing)
        report(first, len(places), doing)
        part = slice(first, min(first + size, len(places)))
        if window == "cube":
            found = cdist(places[part], rows, "chebyshev")
            found *= found
        else:
            found = cdist(places[part], rows, "sqeuclidean")
        yield part, found
    report(len(places), len(places), doing)


def log_mean(
    far: np.ndarray, per_square: float | np.ndarray, shares: np.ndarray | None, window: str
) -> np.ndarray:
    """The log mean of windows with peak 1, from squared distances, which are overwritten.

    Args:
        far: a row for each place, a column for each window.
        per_square: 1 / the square of the width; one, or a column.
        shares: the weight of each window; None: all alike.
        window: its name.
    """
    far *= per_square
    if window == "gaussian":
        # Relative to the nearest row, which has the largest weight, so that nothing underflows.
        far *= -0.5
        if shares is not None:
            far += np.log(shares)
        best = far.max(axis=1, keepdims=True)
        far -= best
        np.exp(far, out=far)
        found = np.log(far.sum(axis=1)) + best[:, 0]
    else:
        reached = SHAPES[window](far)
        with np.errstate(divide="ignore"):
            found = np.log(reached.sum(axis=1) if shares is None else reached @ shares)
    return np.asarray(found if shares is not None else found - math.log(far.shape[1]))
