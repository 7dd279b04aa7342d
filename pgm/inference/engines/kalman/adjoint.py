"""The way back where states hardly have noise: by what later surprises say, not from state to state.

`backward` finds x[t] from x[t+1]. Where little or no noise moves the state and it fades at several rates,
that undoes the fading, and multiplies rounding by it in each step. Here nothing is undone: a vector and a
matrix go back that say what all later surprises mean for the state (Durbin & Koopman 2012, section 6.4).
"""

from __future__ import annotations

import numpy as np

from pgm.runtime.clock import Clock

from .arrays import Steps

_GROWN = 1e4  # what rounding may be multiplied by on the way back
_NOISY = 1e-8  # of the largest standard deviation: what less noise leaves may have to be undone


def grows(steps: Steps, J: np.ndarray, at: np.ndarray) -> bool:
    """Whether the way back by these regressions multiplies what was rounded."""
    moves, n = len(steps.A), int(np.sqrt(steps.A.shape[1] + 0.5))
    spread = steps.G.reshape(moves, n, -1) * np.sqrt(steps.weights)[:, None, :]
    sizes = np.linalg.svd(spread, compute_uv=False)
    if not at.size or (sizes.shape[1] == n and (sizes[:, -1] > _NOISY * sizes[:, 0]).all()):
        return False
    made = np.concatenate([J, np.eye(n)[None]])
    with np.errstate(over="ignore", invalid="ignore"):
        while at.size > 1:  # products of two neighbours, of four, of eight: each kind once
            if at.size % 2:
                at = np.append(at, len(made) - 1)
            kinds, at = np.unique(at[::2] * len(made) + at[1::2], return_inverse=True)
            made = np.concatenate([made[kinds // len(made)] @ made[kinds % len(made)], made[-1:]])
            if not np.abs(made).max() <= _GROWN:
                return True
    return False


def smoothed(
    steps: Steps,
    slot: np.ndarray,
    factors: np.ndarray,
    filtered: np.ndarray,
    gains: np.ndarray,
    variances: np.ndarray,
    predicted: np.ndarray,
    surprises: np.ndarray,
    clock: Clock,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means of all series, and of their one pattern the covariances, and those of each state with the next.

    Args:
        steps: the pattern.
        slot: which row of `factors`, `filtered`, `gains` and `variances` each step has.
        factors: of the covariances before each step, U and D in one.
        filtered: the covariances after it.
        gains: of each observed entry.
        variances: of what surprises.
        predicted: means before each step, of all series.
        surprises: what each entry is off, of all series.
        clock: the time of the question.
    """
    T, m = steps.seen.shape
    n = predicted.shape[1]
    r, N = np.zeros((len(predicted) // T, n)), np.zeros((n, n))
    off, means = surprises.reshape(-1, T, m), predicted.reshape(-1, T, n).copy()
    table = factors.reshape(-1, n, n)
    D = np.einsum("sii->si", table)
    roots = (np.triu(table, 1) + np.eye(n)) * np.sqrt(D)[:, None, :]
    said, cross = np.empty((T, n, n)), np.empty((T - 1, n, n))
    for t in range(T - 1, -1, -1):
        clock.check("smoothing states that hardly have noise")
        now, C = slot[t], steps.C[steps.look[t]].reshape(m, n)
        for i in np.flatnonzero(steps.seen[t] & (variances[now] > 0.0))[::-1]:
            c, g, s = C[i], gains[now].reshape(m, n)[i], variances[now, i]
            r = r + (off[:, t, i] / s - r @ g)[:, None] * c
            left = N - np.outer(N @ g, c)
            N = left - np.outer(c, g @ left) + np.outer(c, c) / s
        P = roots[now] @ roots[now].T
        means[:, t] += r @ P
        said[t] = N
        if t:
            A = steps.A[steps.move[t - 1]].reshape(n, n)
            cross[t - 1] = filtered[slot[t - 1]] @ A.T @ (np.eye(n) - N @ P)
            r, N = r @ A, A.T @ N @ A
    W = roots[slot]
    values, vectors = np.linalg.eigh(np.eye(n) - W.transpose(0, 2, 1) @ said @ W)
    half = W @ (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
    return means.reshape(-1, n), half @ half.transpose(0, 2, 1), cross
