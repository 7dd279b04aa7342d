"""EM for linear dynamical systems (Shumway & Stoffer 1982): expected moments and the maximiser given them.

Both equations are regressions: x[t+1] on (x[t], u[t], 1) and y[t] on the same. Coefficients are found given
the noise covariance, then the covariance given the coefficients: the likelihood rises whichever parameters
are held fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.inference.engines.kalman import Run
from pgm.learning.em import Collapsed

_COLLAPSED = 1e-12  # relative to the observations' mean square: smaller noise counts as none


@dataclass(frozen=True)
class RegressionMoments:
    """Expected moments of outputs and regressors, added up over steps."""

    count: np.ndarray  # (rows,) the number of steps in which each output was observed
    zz: np.ndarray  # (rows or 1, k, k) of the regressors
    xz: np.ndarray  # (rows, k)
    xx: np.ndarray  # (rows, rows); only its diagonal where each output has steps of its own

    def __add__(self, other: RegressionMoments) -> RegressionMoments:
        """The moments of all steps."""
        mine = (self.count, self.zz, self.xz, self.xx)
        theirs = (other.count, other.zz, other.xz, other.xx)
        return RegressionMoments(*(a + b for a, b in zip(mine, theirs, strict=True)))

    def weighted(self, weight: float) -> RegressionMoments:
        """The moments of this many such steps."""
        return RegressionMoments(*(weight * part for part in (self.count, self.zz, self.xz, self.xx)))

    def residual(self, coefficients: np.ndarray) -> np.ndarray:
        """The mean square of the residuals."""
        if len(self.zz) == 1:
            whole = np.block([[self.xx, self.xz], [self.xz.T, self.zz[0]]])
            both = np.hstack([np.eye(len(self.xx)), -coefficients])
            found = both @ whole @ both.T / self.count[0]
            return np.asarray((found + found.T) / 2)
        own = np.diagonal(self.xx) - 2.0 * (coefficients * self.xz).sum(axis=1)
        own = own + np.einsum("ij,ijk,ik->i", coefficients, self.zz, coefficients)
        return np.diag(np.maximum(own, 0.0) / np.maximum(self.count, 1.0))


@dataclass(frozen=True)
class Moments:
    """The result of the E-step over all series."""

    start: RegressionMoments  # of the first state regressed on a constant
    state: RegressionMoments
    output: RegressionMoments

    def __add__(self, other: Moments) -> Moments:
        """These moments and those of other series, added up."""
        return Moments(self.start + other.start, self.state + other.state, self.output + other.output)

    def weighted(self, weight: float) -> Moments:
        """The moments of this many such series."""
        return Moments(*(part.weighted(weight) for part in (self.start, self.state, self.output)))


@dataclass(frozen=True)
class Prior:
    """Pseudo-steps of a prior: their likelihood is the prior density of the parameters.

    A normal distribution of coefficients given the noise, and an inverse Wishart one of the noise, have the
    density of such steps.
    """

    of: RegressionMoments

    def log_density(self, coefficients: np.ndarray, noise: np.ndarray) -> float:
        """The log density of these steps, up to a constant; variables without noise add nothing."""
        some = np.flatnonzero(np.diagonal(noise) > 0.0)
        if not some.size:
            return 0.0
        values, vectors = np.linalg.eigh(noise[np.ix_(some, some)])
        kept = values > 1e-13 * values[-1]
        turned = vectors[:, kept]
        r = self.of
        mixed = coefficients @ r.xz.T
        left = r.xx - mixed - mixed.T + coefficients @ r.zz[0] @ coefficients.T
        squares = (np.einsum("ij,ik,kj->j", turned, left[np.ix_(some, some)], turned) / values[kept]).sum()
        return float(-0.5 * (r.count[0] * np.log(values[kept]).sum() + squares))

    def added(self, r: RegressionMoments) -> RegressionMoments:
        """The moments of the data and of these steps."""
        if len(r.zz) == 1:
            return r + self.of
        alone = RegressionMoments(self.of.count, self.of.zz, self.of.xz, np.diag(np.diagonal(self.of.xx)))
        return r + alone  # outputs with independent noise


def pseudo_steps(now: np.ndarray, noise: np.ndarray, strength: np.ndarray, steps: float) -> Prior | None:
    """A prior around the current parameters; None: it is flat.

    Args:
        now: the coefficients, (rows, k).
        noise: the covariance.
        strength: for each regressor, the number of pseudo-steps in which it alone was 1, with the outputs of
            `now`.
        steps: the number of pseudo-steps in which the noise had this covariance.
    """
    if not strength.any() and not steps:
        return None
    xz = now * strength
    count = np.full(len(now), float(steps))
    return Prior(RegressionMoments(count, np.diag(strength)[None], xz, xz @ now.T + steps * noise))


def moments(
    run: Run, y: np.ndarray, u: np.ndarray | None, coefficients: np.ndarray, noise: np.ndarray
) -> Moments:
    """The expected moments of one series.

    Args:
        run: the smoothed states.
        y: the observations.
        u: inputs.
        coefficients: the current ones of the observations, (m, k).
        noise: its current covariance.
    """
    assert run.smoothed is not None
    assert run.smoothed_covariance is not None
    x, P = run.smoothed, run.smoothed_covariance.all()
    T, n = x.shape
    z = np.hstack([x, *([] if u is None else [u]), np.ones((T, 1))])
    k = z.shape[1]
    zz = z[:, :, None] * z[:, None, :]
    zz[:, :n, :n] += P
    cross = np.zeros((n, k))
    cross[:, :n] = run.lag_one().sum(axis=0).T
    later = x[1:].T @ x[1:] + P[1:].sum(axis=0)
    state = RegressionMoments(
        np.full(n, float(T - 1)), zz[:-1].sum(axis=0, keepdims=True), x[1:].T @ z[:-1] + cross, later
    )
    one = RegressionMoments(np.ones(n), np.ones((1, 1, 1)), x[:1].T.copy(), np.outer(x[0], x[0]) + P[0])
    return Moments(one, state, outputs(y, z, zz, np.ones(T), coefficients, noise))


def outputs(
    y: np.ndarray, z: np.ndarray, zz: np.ndarray, w: np.ndarray, coefficients: np.ndarray, noise: np.ndarray
) -> RegressionMoments:
    """The expected moments of outputs.

    Args:
        y: the observations, (T, m).
        z: the weighted means of the regressors, (T, k).
        zz: their weighted second moments, (T, k, k).
        w: the weights of the steps.
        coefficients: the current ones, (m, k).
        noise: its current covariance.
    """
    if (noise == np.diag(np.diag(noise))).all():
        return _alone(y, z, zz, w)
    return _filled(y, z, zz, w, coefficients, noise)


def _alone(y: np.ndarray, z: np.ndarray, zz: np.ndarray, w: np.ndarray) -> RegressionMoments:
    """Outputs with independent noise: each counts where it was observed."""
    there = ~np.isnan(y)
    known = np.where(there, y, 0.0)
    each = np.tensordot(there.T.astype(float), zz, axes=1)
    return RegressionMoments(w @ there, each, known.T @ z, np.diag(w @ known**2))


def _filled(
    y: np.ndarray, z: np.ndarray, zz: np.ndarray, w: np.ndarray, coefficients: np.ndarray, noise: np.ndarray
) -> RegressionMoments:
    """Correlated noise: missing outputs have their expectation given the other outputs and the state."""
    m, k = coefficients.shape
    found = RegressionMoments(np.zeros(m), np.zeros((1, k, k)), np.zeros((m, k)), np.zeros((m, m)))
    patterns, which = np.unique(~np.isnan(y), axis=0, return_inverse=True)
    for index, there in enumerate(patterns):
        if not there.any():
            continue
        at = np.flatnonzero(which.reshape(-1) == index)
        seen, gone = np.flatnonzero(there), np.flatnonzero(~there)
        by_seen = np.linalg.lstsq(noise[np.ix_(seen, seen)], noise[np.ix_(seen, gone)], rcond=None)[0].T
        slope = np.zeros((m, k))  # y = slope z + level, plus noise where missing
        slope[gone] = coefficients[gone] - by_seen @ coefficients[seen]
        level = np.zeros((len(at), m))
        level[:, seen] = y[np.ix_(at, seen)]
        level[:, gone] = level[:, seen] @ by_seen.T
        left = np.zeros((m, m))
        left[np.ix_(gone, gone)] = noise[np.ix_(gone, gone)] - by_seen @ noise[np.ix_(seen, gone)]
        square = zz[at].sum(axis=0)
        mixed = slope @ z[at].T @ level
        total = w[at].sum()
        xx = slope @ square @ slope.T + mixed + mixed.T + (level * w[at, None]).T @ level + total * left
        count = np.full(m, float(total))
        found += RegressionMoments(count, square[None], slope @ square + level.T @ z[at], xx)
    return found


def coefficients_of(r: RegressionMoments, now: np.ndarray, noise: np.ndarray, free: np.ndarray) -> np.ndarray:
    """The free coefficients that maximise the likelihood given the noise covariance; the rest do not change.

    Args:
        r: expected moments.
        now: the current coefficients, (rows, k).
        noise: the covariance; rows without noise are deterministic, and stay as they are.
        free: which entries may change.
    """
    if not free.any():
        return now
    some = np.flatnonzero(np.diagonal(noise))  # an inverse over all rows would have rounding for zeros
    weights = np.zeros_like(noise)
    weights[np.ix_(some, some)] = np.linalg.pinv(noise[np.ix_(some, some)], hermitian=True)
    zz = np.broadcast_to(r.zz, (len(now), *r.zz.shape[1:]))
    slopes = weights @ (r.xz - np.einsum("ijk,ik->ij", zz, now))
    row, column = np.nonzero(free)
    own = zz[row[:, None], column[:, None], column[None, :]]
    bend = weights[np.ix_(row, row)] * own
    size = np.sqrt(np.maximum(np.diagonal(bend), 0.0))
    size[size == 0.0] = np.inf  # no output depends on it
    step = np.linalg.lstsq(bend / size[:, None] / size, slopes[row, column] / size, rcond=1e-13)[0] / size
    made = now.copy()
    made[row, column] += step
    return made


def covariance_of(now: np.ndarray, found: np.ndarray, blocks: Sequence[np.ndarray]) -> np.ndarray:
    """The covariance with its free blocks replaced by those found; a variance of zero stays zero.

    Args:
        now: the current covariance.
        found: the mean square of the residuals.
        blocks: the groups of entries that are free together.
    """
    made = now.copy()
    for block in blocks:
        some = block[np.diagonal(now)[block] > 0]
        made[np.ix_(some, some)] = found[np.ix_(some, some)]
    return made


def check_noise(
    name: str,
    noise: np.ndarray,
    before: np.ndarray,
    sizes: np.ndarray,
    names: Sequence[str],
    iteration: int,
) -> None:
    """Refuse noise that vanishes: the likelihood is unbounded along this path.

    Args:
        name: the name of the covariance.
        noise: the new covariance.
        before: the previous covariance.
        sizes: the mean square of the observations.
        names: the names of its rows.
        iteration: the count of iterations so far.
    """
    gone = (np.diagonal(noise) <= _COLLAPSED * sizes) & (np.diagonal(before) > 0)
    if gone.any():
        which = names[int(gone.argmax())]
        raise Collapsed(
            f"{name}= collapses in iteration {iteration}: the noise of {which!r} shrinks to nothing, as if "
            f'states explained every value of it. Hold it, fixed=["{name}"], or take fewer states.'
        )


def blocks_of(free: np.ndarray) -> list[np.ndarray] | None:
    """The entries of a covariance that are free together; None if they are not blocks.

    >>> [block.tolist() for block in blocks_of(np.eye(2, dtype=bool))]
    [[0], [1]]
    """
    left, found = np.diagonal(free).copy(), []
    for i in range(len(free)):
        if left[i]:
            block = np.flatnonzero(free[i])
            if not free[np.ix_(block, block)].all() or free[block].sum() != block.size**2:
                return None
            found.append(block)
            left[block] = False
    return found if sum(block.size**2 for block in found) == free.sum() else None
