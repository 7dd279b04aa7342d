"""Components of time series, which add up: level, trend, season and more (Harvey 1989).

>>> flow = trend(Q=(0.1, 0.01)) + season(4, Q=0.05, R=0.5)
>>> flow.states
('level', 'slope', 'season0', 'season1', 'season2')
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, shown

from .linear_dynamical_system import LinearDynamicalSystem
from .linear_parameters import numbers

__all__ = ["autoregression", "constant_velocity", "level", "season", "trend"]


@guarded
def level(Q: float = 1.0, R: float = 0.0) -> LinearDynamicalSystem:
    """A level that wanders: a random walk, with a diffuse start.

    Args:
        Q: the variance of its steps; 0: a constant.
        R: the variance of the observation noise.

    Raises:
        InvalidArgument: a variance is negative.

    >>> level(Q=0.1, R=1.0).filter([5.0]).mean.tolist()
    [[5.0]]
    """
    return LinearDynamicalSystem(A=1.0, C=1.0, Q=Q, R=R, covariance="diffuse", states="level")


@guarded
def trend(Q: tuple[float, float] = (1.0, 1.0), R: float = 0.0) -> LinearDynamicalSystem:
    """A level with a slope, both of which wander, with a diffuse start.

    Args:
        Q: the variances of the steps of level and slope; (0, 0): a straight line.
        R: the variance of the observation noise.

    Raises:
        InvalidArgument: these are not two variances.

    >>> trend(Q=(0.0, 0.0), R=1.0).forecast([1.0, 2.0, 3.0], steps=1).mean.round(6).tolist()
    [[4.0, 1.0]]
    """
    found = numbers("Q", Q)
    if found.shape != (2,):
        raise InvalidArgument(f"Q= takes two variances, of level and slope, not {shown(Q)}.")
    A = [[1.0, 1.0], [0.0, 1.0]]
    names = ["level", "slope"]
    return LinearDynamicalSystem(A, [[1.0, 0.0]], found, R, covariance="diffuse", states=names)


@guarded
def season(period: int, Q: float = 1.0, R: float = 0.0) -> LinearDynamicalSystem:
    """A pattern that repeats every `period` steps and sums to zero over them, but for noise; a diffuse start.

    Args:
        period: how many steps a season has.
        Q: the variance of the noise of that sum; 0: the pattern never changes.
        R: the variance of the observation noise.

    Raises:
        InvalidArgument: period is not a whole number of at least 2, or a variance is negative.

    >>> season(2, Q=0.0, R=0.1).forecast([1.0, -1.0, 1.0], steps=2).signal.mean[:, 0].round(6).tolist()
    [-1.0, 1.0]
    """
    if isinstance(period, bool) or not isinstance(period, int | np.integer) or period < 2:
        raise InvalidArgument(f"period is a whole number of at least 2 steps, not {shown(period)}.")
    n = int(period) - 1
    A, C = np.eye(n, k=-1), np.eye(1, n)
    A[0] = -1.0
    names = [f"season{i}" for i in range(n)]
    return LinearDynamicalSystem(
        A, C, [_variance(Q)] + [0.0] * (n - 1), R, covariance="diffuse", states=names
    )


@guarded
def autoregression(coefficients: Any, Q: float = 1.0, R: float = 0.0) -> LinearDynamicalSystem:
    """A process around zero that depends on its own past values, with a stationary start.

    Args:
        coefficients: of the previous value, the one before it, and so on.
        Q: the variance of the noise.
        R: the variance of the observation noise.

    Raises:
        InvalidArgument: the process is not stationary.

    >>> autoregression([0.5]).covariance.round(6).tolist()
    [[1.333333]]
    """
    found = np.atleast_1d(numbers("coefficients", coefficients))
    if found.ndim != 1 or found.size == 0:
        raise InvalidArgument(f"coefficients are numbers, one for each lag, not {shown(coefficients)}.")
    A, C = np.eye(found.size, k=-1), np.eye(1, found.size)
    A[0] = found
    size = float(np.abs(np.linalg.eigvals(A)).max())
    if size >= 1.0:
        raise InvalidArgument(
            f"An autoregression with the coefficients {shown(coefficients)} is not stationary: it grows by "
            f"the factor {size:.6g} in a step. Use level() or trend(), or matrices with a start of its own."
        )
    names = [f"ar{i}" for i in range(found.size)]
    return LinearDynamicalSystem(A, C, [_variance(Q)] + [0.0] * (found.size - 1), R, states=names)


@guarded
def constant_velocity(
    dimensions: int = 1, Q: float = 1.0, R: float = 1.0, gap: float = 1.0
) -> LinearDynamicalSystem:
    """Something that moves through one dimension or several, pushed by white noise, with a diffuse start.

    Args:
        dimensions: how many dimensions it moves in.
        Q: the spectral density of its acceleration, which is white noise (Bar-Shalom 2001, section 6.2.2).
        R: the variance of the noise of its observed place.
        gap: the time between two steps.

    Raises:
        InvalidArgument: dimensions is not a whole number of at least 1, or gap is not positive.

    >>> constant_velocity(2).states
    ('place0', 'velocity0', 'place1', 'velocity1')
    """
    if isinstance(dimensions, bool) or not isinstance(dimensions, int | np.integer) or dimensions < 1:
        raise InvalidArgument(f"dimensions is a whole number of at least 1, not {shown(dimensions)}.")
    found = numbers("gap", gap)
    if found.ndim or found <= 0.0:
        raise InvalidArgument(f"gap= is a positive number, not {shown(gap)}.")
    g, identity = float(found), np.eye(int(dimensions))
    A = np.kron(identity, [[1.0, g], [0.0, 1.0]])
    noise = np.kron(identity, _variance(Q) * np.array([[g**3 / 3, g**2 / 2], [g**2 / 2, g]]))
    C = np.kron(identity, [[1.0, 0.0]])
    suffixes = [""] if dimensions == 1 else [str(i) for i in range(int(dimensions))]
    names = [f"{what}{suffix}" for suffix in suffixes for what in ("place", "velocity")]
    seen = [f"y{suffix}" for suffix in suffixes]
    return LinearDynamicalSystem(A, C, noise, R, covariance="diffuse", states=names, observations=seen)


def _variance(Q: Any) -> float:
    found = numbers("Q", Q)
    if found.ndim or found < 0:
        raise InvalidArgument(f"Q= is a variance, one number that is not negative, not {shown(Q)}.")
    return float(found)
