"""Draws states and observations."""

from __future__ import annotations

import numpy as np

from .schedule import Schedule, factored


def simulated(
    schedule: Schedule,
    pushes: np.ndarray | None,
    shifts: np.ndarray | None,
    n_series: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """States (series, T, n) and observations (series, T, m) drawn from a system."""
    T, m, n = schedule.shape

    def roots(matrices: np.ndarray) -> np.ndarray:
        U, d = factored(matrices)
        return np.asarray(U * np.sqrt(d)[:, None, :])

    move_roots, look_roots = roots(schedule.Q), roots(schedule.R)
    x, y = np.empty((n_series, T, n)), np.empty((n_series, T, m))
    start = roots(schedule.covariance[None])[0]
    for t in range(T):
        if t == 0:
            x[:, 0] = schedule.mean + rng.standard_normal((n_series, n)) @ start.T
        else:
            k = schedule.move[t - 1]
            x[:, t] = x[:, t - 1] @ schedule.A[k].T + rng.standard_normal((n_series, n)) @ move_roots[k].T
            if pushes is not None:
                x[:, t] += pushes[t - 1]
        k = schedule.look[t]
        y[:, t] = x[:, t] @ schedule.C[k].T + rng.standard_normal((n_series, m)) @ look_roots[k].T
        if shifts is not None:
            y[:, t] += shifts[t]
    return x, y
