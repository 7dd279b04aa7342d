"""Unconstrained coordinates of parameters, for searches along a gradient."""

from __future__ import annotations

import numpy as np


def of_shares(p: np.ndarray) -> np.ndarray:
    """Logarithms of rows of probabilities, without the zeros, which stay zero.

    >>> of_shares(np.array([[1.0, 0.0]])).tolist()
    [0.0]
    """
    return np.asarray(np.log(p[p > 0.0]))


def shares_at(coordinates: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The rows of probabilities at these coordinates, zero where `like` is.

    >>> shares_at(np.log([1.0, 3.0]), np.array([[0.5, 0.0, 0.5]])).tolist()
    [[0.25, 0.0, 0.75]]
    """
    logs = np.full(like.shape, -np.inf)
    logs[like > 0.0] = coordinates
    found = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def of_covariances(matrices: np.ndarray, form: str) -> np.ndarray:
    """The lower Cholesky factors of covariances of this form, their diagonals as logarithms.

    >>> of_covariances(np.array([[[1.0, 0.0], [0.0, 1.0]]]), "full").tolist()
    [0.0, 0.0, 0.0]
    """
    if form in ("diagonal", "spherical"):
        logs = 0.5 * np.log(np.einsum("kii->ki", matrices))
        return np.asarray((logs[:, :1] if form == "spherical" else logs).reshape(-1))
    factors = np.linalg.cholesky(matrices[:1] if form == "tied" else matrices)
    diagonal = np.arange(matrices.shape[1])
    factors[:, diagonal, diagonal] = np.log(factors[:, diagonal, diagonal])
    below = np.tril_indices(matrices.shape[1])
    return np.asarray(factors[:, below[0], below[1]].reshape(-1))


def covariances_at(coordinates: np.ndarray, form: str, shape: tuple[int, ...]) -> np.ndarray:
    """The covariances at these coordinates, of this shape.

    >>> covariances_at(np.zeros(3), "full", (1, 2, 2)).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    k, dim, _ = shape
    if form in ("diagonal", "spherical"):
        variances = np.exp(2.0 * coordinates).reshape(k, -1)
        return np.asarray(variances[:, None, :] * np.eye(dim))
    below = np.tril_indices(dim)
    count = 1 if form == "tied" else k
    factors = np.zeros((count, dim, dim))
    factors[:, below[0], below[1]] = coordinates.reshape(count, -1)
    diagonal = np.arange(dim)
    factors[:, diagonal, diagonal] = np.exp(factors[:, diagonal, diagonal])
    found = factors @ factors.transpose(0, 2, 1)
    return np.repeat(found, k, axis=0) if form == "tied" else np.asarray(found)
