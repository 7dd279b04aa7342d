"""Draws states and observations from a system, or states from their posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pgm.runtime.clock import Clock

from .passes import run
from .schedule import Schedule, Series, factored

_FAR = 1e10  # in units of the noise: beyond, rounding would show in deviations from the mean


def simulated(
    schedule: Schedule,
    pushes: np.ndarray | None,
    shifts: np.ndarray | None,
    n_series: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """States (series, T, n) and observations (series, T, m) drawn from a system.

    Args:
        schedule: the matrices of each step.
        pushes: (T - 1, n), added to the state in each transition, or None.
        shifts: (T, m), added to the observations, or None.
        n_series: how many draws.
        rng: the generator of random values.
    """
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


class TooFar(Exception):
    """The system is unstable, and rounding would spoil what is drawn."""


def drawn_off(
    schedule: Schedule, seen: np.ndarray, n_series: int, rng: np.random.Generator, clock: Clock
) -> tuple[np.ndarray, np.ndarray]:
    """Draws of states less their posterior mean, (series, T, n), and of observation noise, (series, T, m).

    A system of mean zero is drawn, and its own smoothed mean subtracted: the difference depends on which
    entries are observed, not on their values (Durbin & Koopman 2002).

    Args:
        schedule: the matrices of each step.
        seen: (T, m) which entries are observed.
        n_series: how many draws.
        rng: the generator of random values.
        clock: the clock of the question.
    """
    centred = replace(schedule, mean=np.zeros_like(schedule.mean))
    with np.errstate(over="ignore", invalid="ignore"):
        x, y = simulated(centred, None, None, n_series, rng)
        sizes = [np.diagonal(each, axis1=1, axis2=2).max(initial=0.0) for each in (schedule.Q, schedule.R)]
        noise = max(*sizes, np.diagonal(schedule.covariance).max(initial=0.0))
        if not np.abs(x).max(initial=0.0) <= _FAR * np.sqrt(noise):
            raise TooFar
    off = y - (schedule.C[schedule.look] @ x[..., None])[..., 0]
    y[:, ~seen] = np.nan
    runs = run(
        [centred] * n_series, [Series(each) for each in y], covariances=False, smooth=True, clock=clock
    )
    for each, found in zip(x, runs, strict=True):
        each -= found.smoothed
    return x, off


def filled(schedule: Schedule, y: np.ndarray, x: np.ndarray, off: np.ndarray) -> np.ndarray:
    """Observations (series, T, m) with missing entries drawn, given states and noise.

    Args:
        schedule: the matrices of each step.
        y: (T, m) observations less their offsets, NaN where missing.
        x: (series, T, n) states.
        off: (series, T, m) drawn noise, independent of the states.
    """
    signal = (schedule.C[schedule.look] @ x[..., None])[..., 0]
    found = np.broadcast_to(y, signal.shape).copy()
    seen = ~np.isnan(y)
    kinds, which = np.unique(np.column_stack([schedule.look, seen]), axis=0, return_inverse=True)
    for k, (look, *some) in enumerate(kinds.tolist()):
        known = np.flatnonzero(some)
        missing = np.setdiff1d(np.arange(y.shape[1]), known)
        if not missing.size:
            continue
        at, R = np.flatnonzero(which.reshape(-1) == k), schedule.R[look]
        gain = R[np.ix_(missing, known)] @ np.linalg.pinv(R[np.ix_(known, known)], hermitian=True)
        left = (found - signal - off)[:, at][:, :, known]
        made = (signal + off)[:, at][:, :, missing] + left @ gain.T
        found[:, at[:, None], missing] = made
    return found
