"""Sufficient statistics of normal distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.errors import InvalidArgument

from .normal import NORMALS, SINGULAR, grouped


@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """Sufficient statistics (weight, mean, scatter) for each component; `+` adds those of other rows."""

    weight: np.ndarray  # (k,)
    mean: np.ndarray  # (k, dim)
    scatter: np.ndarray  # (k, dim, dim) weighted sum of products of deviations from the mean

    def __add__(self, other: GaussianStatistics) -> GaussianStatistics:
        """The statistics of all rows (Chan, Golub & LeVeque 1979)."""
        weight = self.weight + other.weight
        part = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        off = other.mean - self.mean
        spread = (self.weight * part)[:, None, None] * off[:, :, None] * off[:, None, :]
        return GaussianStatistics(
            weight, self.mean + part[:, None] * off, self.scatter + other.scatter + spread
        )


FORMS = ("full", "diagonal", "spherical", "tied")


def restricted(scatter: np.ndarray, weight: np.ndarray, form: str) -> np.ndarray:
    """The maximum-likelihood covariances of this form for the scatter and the weight of each state.

    >>> restricted(np.array([[[2.0, 1.0], [1.0, 4.0]]]), np.array([2.0]), "diagonal").tolist()
    [[[1.0, 0.0], [0.0, 2.0]]]
    """
    dim = scatter.shape[-1]
    if form == "tied":
        return np.repeat((scatter.sum(axis=0) / weight.sum())[None], weight.size, axis=0)
    shares = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)
    found = scatter * shares[:, None, None]
    if form == "diagonal":
        return np.asarray(found * np.eye(dim))
    if form == "spherical":
        return np.asarray(np.trace(found, axis1=1, axis2=2)[:, None, None] / dim * np.eye(dim))
    return np.asarray(found)


def patterns(rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows by which of their entries were observed: (indices of rows, indices of entries).

    >>> [(at.tolist(), seen.tolist()) for at, seen in patterns(np.array([[1.0, np.nan], [1.0, 2.0]]))]
    [([1], [0, 1]), ([0], [0])]
    """
    found = grouped(rows)
    if found is None:
        return [(np.arange(len(rows)), np.arange(rows.shape[1]))]
    order, begins, seen = found
    return [
        (order[a:b], np.flatnonzero(which))
        for a, b, which in zip(begins[:-1].tolist(), begins[1:].tolist(), seen, strict=True)
    ]


def gathered(
    rows: np.ndarray,
    weights: np.ndarray,
    means: np.ndarray | None,
    covariances: np.ndarray | None,
    diagonal: bool = False,
) -> GaussianStatistics:
    """Sufficient statistics of weighted rows; missing entries are expected given the rest and each state.

    Args:
        rows: floats, NaN where missing.
        weights: a column for each state.
        means: the current ones of each state; needed where something is missing.
        covariances: the current ones of each state.
        diagonal: whether only squares are needed, and no products of different entries.
    """
    found = grouped(rows)
    if found is None:
        return complete_statistics(rows, weights, diagonal)
    order, begins, seen = found
    k, dim = weights.shape[1], rows.shape[1]
    if not seen[-1].any():  # rows in which nothing was observed carry no information
        order, begins, seen = order[: begins[-2]], begins[:-1], seen[:-1]
    if means is None or covariances is None:
        whole = int(begins[1]) if len(seen) and seen[0].all() else 0
        if weights[order[whole:]].any():
            raise InvalidArgument("Rows with gaps are fitted by EM, from a Gaussian that has parameters.")
        return complete_statistics(rows[order[:whole]], weights[order[:whole]], diagonal)
    total, mean, scatter = np.zeros(k), np.zeros((k, dim)), np.zeros((k, dim, dim))
    singular = NORMALS.partial_statistics(
        np.ascontiguousarray(rows, dtype=np.float64).reshape(-1),
        np.ascontiguousarray(weights, dtype=np.float64).reshape(-1),
        order, begins, seen.reshape(-1),
        np.ascontiguousarray(means).reshape(-1), np.ascontiguousarray(covariances).reshape(-1),
        dim, k, SINGULAR, total, mean.reshape(-1), scatter.reshape(-1),
    )  # fmt: skip
    if singular >= 0:
        raise InvalidArgument(
            f"The covariance of state {singular} is singular: missing entries cannot be inferred."
        )
    return GaussianStatistics(total, mean, scatter)


def complete_statistics(rows: np.ndarray, weights: np.ndarray, diagonal: bool = False) -> GaussianStatistics:
    """Sufficient statistics of rows without gaps, a column of weights for each state.

    >>> complete_statistics(np.array([[0.0], [2.0]]), np.ones((2, 1))).scatter.tolist()
    [[[2.0]]]
    """
    k, dim = weights.shape[1], rows.shape[1]
    flat = np.ascontiguousarray(rows, dtype=np.float64).reshape(-1)
    shares = np.ascontiguousarray(weights, dtype=np.float64).reshape(-1)
    weight, sums, products = np.zeros(k), np.zeros((dim, k)), np.zeros((dim, dim, k))
    NORMALS.weighted_sums(flat, shares, dim, weight, sums.reshape(-1))
    mean = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
    NORMALS.weighted_products(flat, shares, dim, k, mean.reshape(-1), int(diagonal), products.reshape(-1))
    lower = products.transpose(2, 0, 1)
    scatter = lower + np.tril(lower, -1).transpose(0, 2, 1)
    return GaussianStatistics(weight, np.ascontiguousarray(mean.T), scatter)


def near_centres(
    rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
) -> np.ndarray:
    """Weights of rows in clusters around centres that lie far apart; rows with gaps are in none of them."""
    there = ~np.isnan(rows).any(axis=1)
    x = rows[there]
    spread = x.std(axis=0) if len(x) else np.ones(rows.shape[1])
    x = x / np.where(spread > 0, spread, 1.0)
    weights = np.zeros((len(rows), n_states))
    weights[there] = 1.0 / n_states
    if len(x) >= n_states:
        centres = x[random.integers(len(x))][None]
        far = np.full(len(x), np.inf)
        for _ in range(1, n_states):
            far = np.minimum(far, ((x - centres[-1]) ** 2).sum(axis=1))
            p = far / far.sum() if far.sum() > 0 else np.full(len(x), 1.0 / len(x))
            centres = np.vstack([centres, x[random.choice(len(x), p=p)]])
        for _ in range(10):
            nearest = np.stack([((x - centre) ** 2).sum(axis=1) for centre in centres]).argmin(axis=0)
            for k in range(n_states):
                if (nearest == k).any():
                    centres[k] = x[nearest == k].mean(axis=0)
        weights[there] = 0.1 / n_states
        weights[np.flatnonzero(there), nearest] += 0.9
    return np.asarray(weights * counts[:, None])
