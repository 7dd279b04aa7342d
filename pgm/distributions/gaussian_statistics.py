"""Sufficient statistics of normal distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.errors import InvalidArgument

from .normal import NORMALS


@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """Sufficient statistics (weight, mean, scatter) for each component; `+` adds those of other rows."""

    weight: np.ndarray  # (k,)
    mean: np.ndarray  # (k, dim)
    scatter: np.ndarray  # (k, dim, dim) sum of weighted products of what is off the mean

    def __add__(self, other: GaussianStatistics) -> GaussianStatistics:
        """Those of all rows (Chan, Golub & LeVeque 1979)."""
        weight = self.weight + other.weight
        part = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        off = other.mean - self.mean
        spread = (self.weight * part)[:, None, None] * off[:, :, None] * off[:, None, :]
        return GaussianStatistics(
            weight, self.mean + part[:, None] * off, self.scatter + other.scatter + spread
        )


FORMS = ("full", "diagonal", "spherical", "tied")


def restricted(scatter: np.ndarray, weight: np.ndarray, form: str) -> np.ndarray:
    """The most likely covariances of this form for sums of products and weights of several states.

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
    """Rows by which of their entries were observed: (row numbers, the entries' numbers).

    >>> [(at.tolist(), seen.tolist()) for at, seen in patterns(np.array([[1.0, np.nan], [1.0, 2.0]]))]
    [([1], [0, 1]), ([0], [0])]
    """
    there = ~np.isnan(rows)
    every = np.arange(rows.shape[1])
    if there.all():
        return [(np.arange(len(rows)), every)]
    full = there.all(axis=1)
    found = [(np.flatnonzero(full), every)] if full.any() else []
    gaps = np.flatnonzero(~full)
    distinct, which = np.unique(there[gaps], axis=0, return_inverse=True)
    which = which.reshape(-1)
    found += [(gaps[which == i], np.flatnonzero(seen)) for i, seen in enumerate(distinct)]
    return found


def gathered(
    rows: np.ndarray,
    weights: np.ndarray,
    means: np.ndarray | None,
    covariances: np.ndarray | None,
    diagonal: bool = False,
) -> GaussianStatistics:
    """Sufficient statistics of weighted rows; what is missing is expected, given the rest and each state.

    Args:
        rows: numbers, NaN where missing.
        weights: a column for each state.
        means: of each state now; needed where something is missing.
        covariances: of each state now.
        diagonal: of products only those of an entry with itself are needed.
    """
    total: GaussianStatistics | None = None
    for at, seen in patterns(rows):
        if seen.size == 0:
            continue  # nothing was observed: by itself such a row teaches nothing
        some, shares = (rows, weights) if len(at) == len(rows) else (rows[at], weights[at])
        if not shares.any():
            continue
        if seen.size == rows.shape[1]:
            part = complete_statistics(some, shares, diagonal)
        else:
            if means is None or covariances is None:
                raise InvalidArgument("Rows with gaps are fitted by EM, from a Gaussian that has numbers.")
            part = _partial(some, shares, seen, means, covariances)
        total = part if total is None else total + part
    k, dim = weights.shape[1], rows.shape[1]
    return total or GaussianStatistics(np.zeros(k), np.zeros((k, dim)), np.zeros((k, dim, dim)))


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


def _partial(
    rows: np.ndarray, weights: np.ndarray, seen: np.ndarray, means: np.ndarray, covariances: np.ndarray
) -> GaussianStatistics:
    """The same where the same entries are missing in all rows: their conditional means, and what is left."""
    k, dim = means.shape
    missing = np.setdiff1d(np.arange(dim), seen)
    weight = weights.sum(axis=0)
    mean, scatter = np.zeros((k, dim)), np.zeros((k, dim, dim))
    filled = np.array(rows)
    for s in range(k):
        cov = covariances[s]
        gain = np.linalg.solve(cov[np.ix_(seen, seen)], cov[np.ix_(seen, missing)]).T
        filled[:, missing] = means[s, missing] + (rows[:, seen] - means[s, seen]) @ gain.T
        one = complete_statistics(filled, weights[:, s : s + 1])
        mean[s], scatter[s] = one.mean[0], one.scatter[0]
        left = cov[np.ix_(missing, missing)] - gain @ cov[np.ix_(seen, missing)]
        scatter[s][np.ix_(missing, missing)] += weight[s] * (left + left.T) / 2
    return GaussianStatistics(weight, mean, scatter)


def near_centres(
    rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
) -> np.ndarray:
    """Weights of rows in clusters around centres that lie far apart; rows with gaps are in none."""
    there = ~np.isnan(rows).any(axis=1)
    x = rows[there]
    spread = x.std(axis=0) if len(x) else np.ones(rows.shape[1])
    x = x / np.where(spread > 0, spread, 1.0)
    weights = np.zeros((len(rows), n_states))
    weights[there] = 1.0 / n_states
    if len(x) >= n_states:
        centres = x[random.integers(len(x))][None]
        for _ in range(1, n_states):
            far = ((x[:, None, :] - centres) ** 2).sum(axis=2).min(axis=1)
            p = far / far.sum() if far.sum() > 0 else np.full(len(x), 1.0 / len(x))
            centres = np.vstack([centres, x[random.choice(len(x), p=p)]])
        for _ in range(10):
            nearest = ((x[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
            for k in range(n_states):
                if (nearest == k).any():
                    centres[k] = x[nearest == k].mean(axis=0)
        weights[there] = 0.1 / n_states
        weights[np.flatnonzero(there), nearest] += 0.9
    return np.asarray(weights * counts[:, None])
