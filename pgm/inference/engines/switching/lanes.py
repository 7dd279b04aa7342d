"""Many Gaussians side by side, each moved by the matrices of its own regime, as square roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.distributions.normal import LOG_2PI
from pgm.errors import ImpossibleEvidence, InvalidArgument
from pgm.inference.engines.kalman.schedule import factored
from pgm.inference.engines.nonlinear.moments import Passed, joint, lower, over

_NOTHING = 1e-14  # a standard deviation this small relative to the largest is a rounding error


@dataclass(frozen=True, slots=True, eq=False)
class Regimes:
    """The matrices of all regimes, and the transition probabilities between them."""

    log_initial: np.ndarray  # (K,)
    log_transition: np.ndarray  # (K, K), rows: from
    A: np.ndarray  # (K, n, n): of the move into a step in this regime
    C: np.ndarray  # (K, m, n)
    G: np.ndarray  # (K, n, n), roots of the covariances of noise
    R: np.ndarray  # (K, m, m)
    mean: np.ndarray  # (K, n) of the first state
    root: np.ndarray  # (K, n, n)

    @property
    def count(self) -> int:
        """How many regimes there are."""
        return len(self.log_initial)

    @property
    def size(self) -> int:
        """How many entries a state has."""
        return int(self.mean.shape[1])


class Steps(NamedTuple):
    """One series: observations, and what each regime adds to states and observations."""

    y: np.ndarray  # (T, m), NaN where nothing was observed
    pushes: np.ndarray  # (T - 1, K, n)
    shifts: np.ndarray  # (T, K, m)


class Gaussians(NamedTuple):
    """Normal distributions side by side."""

    mean: np.ndarray  # (L, n)
    root: np.ndarray  # (L, n, n)

    def at(self, which: np.ndarray) -> Gaussians:
        """Those at these indices."""
        return Gaussians(self.mean[which], self.root[which])


class Link(NamedTuple):
    """What the smoother needs to go from each Gaussian back to the one before it."""

    J: np.ndarray  # smoother gains
    root: np.ndarray  # of the covariance of a state given the next one
    predicted: np.ndarray  # the mean of the next one


def began(r: Regimes) -> Gaussians:
    """The distribution of the first state in each regime."""
    return Gaussians(r.mean.copy(), r.root.copy())


def moved(r: Regimes, g: Gaussians, regime: np.ndarray, push: np.ndarray) -> tuple[Gaussians, Link]:
    """Predict each into its regime; `push` (K, n) is what each regime adds."""
    A = r.A[regime]
    centre = (A @ g.mean[:, :, None])[:, :, 0] + push[regime]
    L11, L21, L22 = joint(Passed(centre, A @ g.root, g.root), r.G[regime])
    return Gaussians(centre, L11), Link(over(L21, L11), L22, centre)


def observed(
    r: Regimes, g: Gaussians, regime: np.ndarray, y: np.ndarray, shift: np.ndarray, step: int
) -> tuple[Gaussians, np.ndarray]:
    """Update each by an observation (m,); also the log densities of that."""
    seen = ~np.isnan(y)
    if not seen.any():
        return g, np.zeros(len(g.mean))
    C = r.C[:, seen]
    U, d = factored(r.R[:, seen][:, :, seen])
    noise = U * np.sqrt(d)[:, None, :]
    own = C[regime]
    centre = (own @ g.mean[:, :, None])[:, :, 0] + shift[regime][:, seen]
    L11, L21, L22 = joint(Passed(centre, own @ g.root, g.root), noise[regime])
    sizes = np.abs(np.diagonal(L11, axis1=1, axis2=2))
    if (sizes <= _NOTHING * sizes.max(axis=1, keepdims=True)).any():
        raise ImpossibleEvidence(
            f"An observation of step {step} (the first is 0) has no noise and is what the state determines: "
            "it has no density. Give R= of every regime some noise."
        )
    e = np.linalg.solve(L11, (y[seen] - centre)[:, :, None])
    mean = g.mean + (L21 @ e)[:, :, 0]
    with np.errstate(over="ignore"):
        squares = (e[:, :, 0] ** 2).sum(axis=1)
    log = -0.5 * (squares + seen.sum() * LOG_2PI) - np.log(sizes).sum(axis=1)
    if np.isnan(log).any() or not np.isfinite(log).any():
        raise InvalidArgument(
            f"The observation of step {step} (the first is 0) leaves the range of floating-point numbers: a "
            "system is unstable, or the values are too large. Choose other units."
        )
    return Gaussians(mean, L22), log


def returned(g: Gaussians, link: Link, later: Gaussians) -> Gaussians:
    """Each filtered Gaussian given the smoothed one of the next state."""
    mean = g.mean + (link.J @ (later.mean - link.predicted)[:, :, None])[:, :, 0]
    return Gaussians(mean, lower(np.concatenate([link.J @ later.root, link.root], axis=2)))


class Mixture(NamedTuple):
    """The moments of a mixture of Gaussians of several regimes."""

    mean: np.ndarray  # (n,)
    covariance: np.ndarray
    regimes: np.ndarray  # (K,) their probabilities
    signal: np.ndarray  # (m,) the mean of C x plus what is added
    of_signal: np.ndarray  # its covariance
    noise: np.ndarray  # (m, m) the mean covariance of the noise of observations


def mixture(r: Regimes, g: Gaussians, regime: np.ndarray, weights: np.ndarray, shift: np.ndarray) -> Mixture:
    """The moments of Gaussians with weights that add up to 1."""
    C = r.C[regime]
    seen = (C @ g.mean[:, :, None])[:, :, 0] + shift[regime]
    shares_of = np.bincount(regime, weights, minlength=r.count)
    return Mixture(
        *_moments(g.mean, g.root, weights),
        shares_of,
        *_moments(seen, C @ g.root, weights),
        np.tensordot(shares_of, r.R, axes=1),
    )


def _moments(means: np.ndarray, roots: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = weights @ means
    apart = (means - mean) * np.sqrt(weights)[:, None]
    rows = (roots * np.sqrt(weights)[:, None, None]).transpose(1, 0, 2).reshape(means.shape[1], -1)
    found = rows @ rows.T + apart.T @ apart
    return mean, (found + found.T) / 2


def cross(
    g: Gaussians, link: Link, later: Gaussians, weights: np.ndarray, mean: np.ndarray, next_mean: np.ndarray
) -> np.ndarray:
    """The covariance of a state (rows) with the next (columns) in a mixture."""
    own = link.J @ later.root @ later.root.transpose(0, 2, 1)
    apart = (g.mean - mean)[:, :, None] * (later.mean - next_mean)[:, None, :]
    return np.asarray(np.tensordot(weights, own + apart, axes=1))


def merged(g: Gaussians, weights: np.ndarray) -> Gaussians:
    """One Gaussian for each group, with its mean and covariance; weights (groups, each) add up to 1."""
    groups, each = weights.shape
    n = g.mean.shape[1]
    means = g.mean.reshape(groups, each, n)
    mean = (weights[:, :, None] * means).sum(axis=1)
    half = np.sqrt(weights)
    roots = g.root.reshape(groups, each, n, n) * half[:, :, None, None]
    apart = (means - mean[:, None]) * half[:, :, None]
    rows = [roots.transpose(0, 2, 1, 3).reshape(groups, n, each * n), apart.transpose(0, 2, 1)]
    return Gaussians(mean, lower(np.concatenate(rows, axis=2)))


def log_sum(logs: np.ndarray, axis: int) -> np.ndarray:
    """The logarithm of a sum of exponentials; -inf where all terms are."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.squeeze(top, axis) + np.log(np.exp(logs - top).sum(axis=axis)))


def shares(logs: np.ndarray, axis: int) -> np.ndarray:
    """Weights that add up to 1, from their logarithms; equal ones where all are -inf."""
    total = np.expand_dims(log_sum(logs, axis), axis)
    possible = np.isfinite(total)
    found = np.exp(logs - np.where(possible, total, 0.0))
    return np.asarray(np.where(possible, found, 1.0 / logs.shape[axis]))
