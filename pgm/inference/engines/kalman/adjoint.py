"""The smoother where states have hardly any noise: back by the innovations, not from state to state.

`backward` finds x[t] from x[t+1]. Where little or no noise moves the state and its parts decay at several
rates, this inverts the decay, which multiplies rounding errors in each step. Here nothing is inverted: a
vector r and a matrix N go back that sum up what all later innovations say about the state (Durbin & Koopman
2012, section 6.4).
"""

from __future__ import annotations

import numpy as np

from pgm.runtime.clock import Clock

from .arrays import Steps

_GROWN = 1e4  # the factor by which rounding errors may grow on the way back
_NOISY = 1e-8  # of the largest standard deviation: with less noise, a decay may have to be inverted


def grows(steps: Steps, J: np.ndarray, at: np.ndarray) -> bool:
    """Whether going back by these gains J, in the order `at`, amplifies rounding errors."""
    moves, n = len(steps.A), int(np.sqrt(steps.A.shape[1] + 0.5))
    spread = steps.G.reshape(moves, n, -1) * np.sqrt(steps.weights)[:, None, :]
    sizes = np.linalg.svd(spread, compute_uv=False)
    if not at.size or (sizes.shape[1] == n and (sizes[:, -1] > _NOISY * sizes[:, 0]).all()):
        return False
    made = np.concatenate([J, np.eye(n)[None]])
    with np.errstate(over="ignore", invalid="ignore"):
        while at.size > 1:  # products of two neighbours, of four, of eight: each distinct one once
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
    innovations: np.ndarray,
    clock: Clock,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Smoothed means of all series, and the covariances they share: of each state, and with the next.

    Args:
        steps: the steps of the pattern.
        slot: the row of `factors`, `filtered`, `gains` and `variances` that each step uses.
        factors: of the predicted covariances, U and D in one matrix.
        filtered: the filtered covariances.
        gains: of each observed entry.
        variances: of the innovations.
        predicted: predicted means of all series.
        innovations: of each entry, in all series.
        clock: the clock of the question.
    """
    T, m = steps.seen.shape
    n = predicted.shape[1]
    r, N = np.zeros((len(predicted) // T, n)), np.zeros((n, n))
    off, means = innovations.reshape(-1, T, m), predicted.reshape(-1, T, n).copy()
    table = factors.reshape(-1, n, n)
    D = np.einsum("sii->si", table)
    roots = (np.triu(table, 1) + np.eye(n)) * np.sqrt(D)[:, None, :]
    information, cross = np.empty((T, n, n)), np.empty((T - 1, n, n))
    for t in range(T - 1, -1, -1):
        clock.check("smoothing states with hardly any noise")
        row, C = slot[t], steps.C[steps.look[t]].reshape(m, n)
        for i in np.flatnonzero(steps.seen[t] & (variances[row] > 0.0))[::-1]:
            c, g, s = C[i], gains[row].reshape(m, n)[i], variances[row, i]
            r = r + (off[:, t, i] / s - r @ g)[:, None] * c
            left = N - np.outer(N @ g, c)
            N = left - np.outer(c, g @ left) + np.outer(c, c) / s
        P = roots[row] @ roots[row].T
        means[:, t] += r @ P
        information[t] = N
        if t:
            A = steps.A[steps.move[t - 1]].reshape(n, n)
            cross[t - 1] = filtered[slot[t - 1]] @ A.T @ (np.eye(n) - N @ P)
            r, N = r @ A, A.T @ N @ A
    W = roots[slot]
    values, vectors = np.linalg.eigh(np.eye(n) - W.transpose(0, 2, 1) @ information @ W)
    half = W @ (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
    return means.reshape(-1, n), half @ half.transpose(0, 2, 1), cross
