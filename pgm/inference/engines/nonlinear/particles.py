"""Particle filters (Gordon, Salmond & Smith 1993) and smoothers (Godsill, Doucet & West 2004).

Particles come in independent groups: how far the answers of the groups lie apart gives the standard error of
their mean.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.distributions.normal import log_peak
from pgm.inference.engines.kalman.schedule import factored
from pgm.runtime.clock import Clock

from .functions import At, check_range
from .moments import Model, covariance

_TRIES = 24  # proposals for each path before all weights of a step are computed
_ROOM = 2_000_000  # weights that are computed at once


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many particles there are in how many groups, and when a group is resampled."""

    groups: int
    each: int  # particles of a group
    threshold: float  # effective sample size relative to `each`, below which a group is resampled


class ParticleStep(NamedTuple):
    """One step of the filter."""

    predicted: np.ndarray  # (n,)
    predicted_covariance: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    error: np.ndarray  # (n,) standard errors of the mean
    log: float  # this step's term of the log density
    size: float  # effective sample size, of all groups together
    signal: np.ndarray  # (m,) the mean of h(x)
    signal_covariance: np.ndarray


class Kept(NamedTuple):
    """What the smoother needs of a step: particles, weights, and where each would move without noise."""

    x: np.ndarray  # (n, groups * each)
    weights: np.ndarray  # (groups, each)
    moved: np.ndarray | None = None
    noise: np.ndarray | None = None  # the root of the covariance of that move


class Particles:
    """A filter at some step of its series: `observe` in each step, with `advance` in between."""

    def __init__(self, model: Model, sizes: Sizes, rng: np.random.Generator) -> None:
        """Draw particles for the first state."""
        self.model, self.sizes, self.rng = model, sizes, rng
        n, count = model.mean.size, sizes.groups * sizes.each
        self.x = model.mean[:, None] + model.root @ rng.standard_normal((n, count))
        self.logs: np.ndarray = np.full((sizes.groups, sizes.each), -np.log(sizes.each))
        self.so_far = np.zeros(sizes.groups)  # each group's log density
        self.total = 0.0

    def advance(self, at: At, noise: np.ndarray, *, keep: bool = False) -> Kept | None:
        """Resample groups that need it, then move all particles.

        Args:
            at: the step that they leave.
            noise: a root of the covariance of the noise.
            keep: whether to return what the smoother needs.
        """
        weights = np.exp(self.logs)
        moved = self.model.f(self.x, at)
        kept = Kept(self.x, weights, moved, noise) if keep else None
        chosen = self._resampled(weights)
        with np.errstate(over="ignore", invalid="ignore"):
            check_range(at.step + 1, moved * moved)
        self.x = moved[:, chosen] + noise @ self.rng.standard_normal((noise.shape[1], moved.shape[1]))
        return kept

    def _resampled(self, weights: np.ndarray) -> np.ndarray:
        """The parent of each particle, after systematic resampling of the groups that need it."""
        groups, each = weights.shape
        starts = self.rng.random((groups, 1))  # as many draws in every step, needed or not
        few = np.asarray(1.0 / (weights**2).sum(axis=1)) < self.sizes.threshold * each
        chosen = np.arange(groups * each).reshape(groups, each)
        if few.any():
            at = np.flatnonzero(few)
            sums = np.cumsum(weights[at], axis=1)
            sums /= sums[:, -1:]
            row = np.arange(at.size)[:, None]
            places = (np.arange(each) + starts[at]) / each
            found = np.searchsorted((sums + row).ravel(), (places + row).ravel(), side="right").reshape(
                at.size, each
            )
            chosen[at] = np.clip(found - row * each, 0, each - 1) + at[:, None] * each
            self.logs = self.logs.copy()
            self.logs[at] = -np.log(each)
        return chosen.ravel()

    def observe(self, y: np.ndarray, noise: np.ndarray, at: At) -> ParticleStep:
        """Weight by an observation (m,); `noise` is the covariance of its noise."""
        groups, each = self.logs.shape
        predicted = self._moments(self.x, np.exp(self.logs))
        values = self.model.h(self.x, at)
        seen = ~np.isnan(y)
        before = self.total
        if seen.any():
            off = self.model.off_seen(np.where(seen, y, 0.0)[:, None], values)[seen]
            L = np.linalg.cholesky(noise[np.ix_(seen, seen)])
            squares = (np.linalg.solve(L, off) ** 2).sum(axis=0)
            own = log_peak(seen.sum(), 2.0 * np.log(np.diagonal(L)).sum()) - 0.5 * squares
            logs = self.logs + own.reshape(groups, each)
            top = logs.max(axis=1, keepdims=True)
            sums = top[:, 0] + np.log(np.exp(logs - top).sum(axis=1))
            self.logs = logs - sums[:, None]
            self.so_far = self.so_far + sums
            highest = self.so_far.max()
            self.total = float(highest + np.log(np.exp(self.so_far - highest).mean()))
        weights = np.exp(self.logs)
        mean, spread, error = self._moments(self.x, weights)
        size = float((1.0 / (weights**2).sum(axis=1)).sum())
        signal, of_signal = moments(values, weights / groups, self.model.off_seen)
        return ParticleStep(*predicted[:2], mean, spread, error, self.total - before, size, signal, of_signal)

    def _moments(self, x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, covariance, and the standard errors of the mean."""
        groups = len(weights)
        mean, spread = moments(x, weights / groups, self.model.off)
        apart = self.model.off(x, mean[:, None]).reshape(len(x), groups, -1)
        each = (apart * weights).sum(axis=2)
        return mean, spread, each.std(axis=1, ddof=1) / np.sqrt(groups)

    def copied(self) -> Particles:
        """A copy that continues independently, with its own generator."""
        made = copy.copy(self)
        made.rng = copy.deepcopy(self.rng)
        return made

    def last(self) -> Kept:
        """The particles and weights that the smoother starts from."""
        return Kept(self.x, np.exp(self.logs))

    def log_error(self) -> float:
        """The standard error of the log density."""
        off = np.exp(self.so_far - self.total)  # around 1
        return float(off.std(ddof=1) / np.sqrt(off.size))


def moments(x: np.ndarray, weights: np.ndarray, off: object) -> tuple[np.ndarray, np.ndarray]:
    """The mean and covariance of points (n, count) with weights that add up to 1.

    `off` is the difference of points, which takes the short way around for angles.
    """
    flat = weights.ravel()
    centre = x @ flat if off is np.subtract else x[:, flat.argmax()]
    apart = off(x, centre[:, None])  # type: ignore[operator]
    shift = apart @ flat
    apart = apart - shift[:, None]
    return centre + shift, covariance(apart * np.sqrt(flat))


def paths(kept: list[Kept], count: int, model: Model, rng: np.random.Generator, clock: Clock) -> np.ndarray:
    """Trajectories drawn from the smoother, (groups, count, T, n), back through each group's particles."""
    groups, each = kept[-1].weights.shape
    n, T = kept[-1].x.shape[0], len(kept)
    made = np.empty((groups, count, T, n))
    group = np.repeat(np.arange(groups), count)
    sums = np.cumsum(kept[-1].weights, axis=1)
    at = _drawn(sums, group, rng)
    state = kept[-1].x[:, at]
    made[:, :, -1] = state.T.reshape(groups, count, n)
    for t in range(T - 2, -1, -1):
        clock.check("smoothing by particles")
        step = kept[t]
        assert step.moved is not None
        assert step.noise is not None
        inverse = np.linalg.inv(step.noise)
        sums = np.cumsum(step.weights, axis=1)
        left = np.arange(group.size)
        at = np.empty(group.size, np.int64)
        # Rejection: a particle drawn by weight is accepted with the relative density of its move.
        for _ in range(_TRIES):
            tried = _drawn(sums, group[left], rng)
            off = inverse @ model.off(state[:, left], step.moved[:, tried])
            taken = np.log(rng.random(left.size)) <= -0.5 * (off**2).sum(axis=0)
            at[left[taken]] = tried[taken]
            left = left[~taken]
            if not left.size:
                break
        for some in np.array_split(left, -(-left.size * each // _ROOM)) if left.size else []:
            columns = group[some, None] * each + np.arange(each)
            moved = step.moved[:, columns]
            off = model.off(np.repeat(state[:, some, None], each, axis=2), moved).reshape(n, -1)
            squares = ((inverse @ off) ** 2).sum(axis=0).reshape(some.size, each)
            with np.errstate(divide="ignore"):
                logs = np.log(step.weights[group[some]]) - 0.5 * squares
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            own = np.cumsum(weights, axis=1)
            places = rng.random(some.size) * own[:, -1]
            at[some] = group[some] * each + np.minimum((own <= places[:, None]).sum(axis=1), each - 1)
        state = step.x[:, at]
        made[:, :, t] = state.T.reshape(groups, count, n)
    return made


def _drawn(sums: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The index of a particle for each entry of `group`, drawn from that group by weight."""
    each = sums.shape[1]
    row = np.arange(len(sums))[:, None]
    ladder = (sums / sums[:, -1:] + row).ravel()
    found = np.searchsorted(ladder, group + rng.random(group.size), side="right")
    return np.asarray(np.clip(found, group * each, group * each + each - 1))


def singular(Q: np.ndarray) -> bool:
    """Whether a covariance is singular: some linear combination has no noise."""
    return bool((factored(Q)[1] <= 0.0).any())
