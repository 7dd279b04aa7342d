"""Quadratic forms as weights of products of columns, and their leading eigenvectors."""

from __future__ import annotations

import numpy as np


def products(rows: np.ndarray) -> np.ndarray:
    """All products of two columns, those of different ones times the square root of 2.

    So the weights of x_j x_l and x_l x_j, which are equal, are one, and the squared length of all is theirs.

    >>> products(np.array([[1.0, 3.0]])).round(6).tolist()
    [[1.0, 4.242641, 9.0]]
    """
    j, k = np.triu_indices(rows.shape[1])
    return np.asarray(rows[:, j] * rows[:, k] * np.where(j == k, 1.0, np.sqrt(2.0)))


def form_of(weights: np.ndarray, d: int) -> np.ndarray:
    """The symmetric matrix of the weights of products.

    >>> form_of(np.array([1.0, np.sqrt(2.0), 3.0]), 2).round(6).tolist()
    [[1.0, 1.0], [1.0, 3.0]]
    """
    j, k = np.triu_indices(d)
    found = np.zeros((d, d))
    found[j, k] = found[k, j] = weights / np.where(j == k, 1.0, np.sqrt(2.0))
    return found


def weights_of_form(form: np.ndarray) -> np.ndarray:
    """The weights of products that a symmetric matrix is of.

    >>> weights_of_form(np.array([[1.0, 1.0], [1.0, 3.0]])).round(6).tolist()
    [1.0, 1.414214, 3.0]
    """
    j, k = np.triu_indices(len(form))
    return np.asarray(form[j, k] * np.where(j == k, 1.0, np.sqrt(2.0)))


def leading(form: np.ndarray, rank: int) -> np.ndarray:
    """A symmetric matrix by its eigenvectors of the largest eigenvalues, whatever their sign.

    >>> leading(np.diag([1.0, -3.0]), 1).round(6).tolist()
    [[0.0, 0.0], [0.0, -3.0]]
    """
    values, vectors = np.linalg.eigh(form)
    keep = np.argsort(-np.abs(values), kind="stable")[:rank]
    return np.asarray((vectors[:, keep] * values[keep]) @ vectors[:, keep].T + 0.0)
