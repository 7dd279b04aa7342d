"""Extended and unscented Kalman filters and smoothers: the image of a normal is approximated by a normal.

Both replace the function by a linear one, the tangent or the best fit to sigma points, and work with square
roots of covariances: each step is a QR decomposition, and no covariance is subtracted. Many series are
filtered side by side.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pgm.distributions.normal import log_peak
from pgm.errors import ImpossibleEvidence, InvalidArgument
from pgm.inference.engines.kalman.schedule import factored

from .functions import At, Caller, check_range, derivatives, extras

_NEGATIVE = (
    "These sigma points give a variance that is not positive: the weight of the mean is negative. Take "
    "alpha=1 with kappa=0 or more."
)
_ROUNDING = 2.0**-43  # of a variance
_NOTHING = 1e-14  # a standard deviation this small relative to the largest is a rounding error


class Model(NamedTuple):
    """The functions of a system during one question, and how differences of their values are taken."""

    f: Caller
    h: Caller
    F: Callable[..., Any] | None  # the user's Jacobians
    H: Callable[..., Any] | None
    off: Callable[[np.ndarray, np.ndarray], np.ndarray]  # difference of states, (n, ...)
    off_seen: Callable[[np.ndarray, np.ndarray], np.ndarray]  # difference of observations, (m, ...)
    mean: np.ndarray  # of the first state
    root: np.ndarray  # a square root of its covariance


@dataclass(frozen=True, slots=True)
class Sigma:
    """Weights of sigma points (Julier & Uhlmann 1997; Wan & van der Merwe 2000); None: tangents are taken."""

    alpha: float = 1.0
    beta: float = 0.0
    kappa: float = 0.0


class Passed(NamedTuple):
    """A normal and its image: value = centre + out e, state = mean + own e, where e ~ N(0, I)."""

    centre: np.ndarray  # (S, size)
    out: np.ndarray  # (S, size, k)
    own: np.ndarray  # (S, n, k)
    less: np.ndarray | None = None  # (S, size), whose outer product is subtracted from the covariance


def lower(rows: np.ndarray) -> np.ndarray:
    """The lower triangular L with L L' = rows rows', for many matrices."""
    size, width = rows.shape[-2:]
    if width < size:
        rows = np.concatenate([rows, np.zeros((*rows.shape[:-1], size - width))], axis=-1)
    upper: Any = np.linalg.qr(rows.swapaxes(-1, -2), mode="r")
    return np.asarray(upper.swapaxes(-1, -2))


def tangent(
    call: Caller, jacobian: Callable[..., Any] | None, off: Any, mean: np.ndarray, root: np.ndarray, at: At
) -> Passed:
    """Linearise by the derivative at the mean."""
    x = mean.T.copy()
    centre = call(x, at)
    if jacobian is None:
        sd = np.sqrt((root**2).sum(axis=2)).T
        J = derivatives(call, x, centre, sd, at, off)
    else:
        J = np.stack([_given(call, jacobian, x[:, i], at, i) for i in range(x.shape[1])])
    return Passed(centre.T, J @ root, root)


def _given(call: Caller, jacobian: Callable[..., Any], x: np.ndarray, at: At, i: int) -> np.ndarray:
    u = at.u if at.u is None or at.u.ndim == 1 else at.u[:, i]
    every = {"u": u, "t": at.t, "gap": at.gap}
    name = "F" if call.name == "f" else "H"
    given = jacobian(x.copy(), **{each: every[each] for each in extras(name, jacobian)})
    try:
        found = np.asarray(given, dtype=np.float64)
        found = (
            found.reshape(call.size, x.size) if found.size == call.size * x.size and found.ndim < 2 else found
        )
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (call.size, x.size) or not np.isfinite(found).all():
        raise InvalidArgument(
            f"{name}= gives no matrix of {call.size} x {x.size} finite numbers at step {at.step}: the "
            f"derivative of each entry of {call.name}= (rows) by each entry of the state."
        )
    return found


def sigma_points(call: Caller, sigma: Sigma, off: Any, mean: np.ndarray, root: np.ndarray, at: At) -> Passed:
    """Linearise by sigma points."""
    S, n = mean.shape
    spread = sigma.alpha**2 * (n + sigma.kappa)
    if not spread > 0.0:
        raise InvalidArgument(
            f"alpha= and kappa= put the sigma points of {n} variables nowhere: "
            f"alpha**2 * (n + kappa) must be positive, not {spread:.6g}."
        )
    lead = spread - n
    middle = lead / spread
    of_covariance = middle + 1.0 - sigma.alpha**2 + sigma.beta
    width = np.sqrt(spread) * root
    points = np.concatenate([mean[:, :, None], mean[:, :, None] + width, mean[:, :, None] - width], axis=2)
    count = points.shape[2]
    u = at.u if at.u is None or at.u.ndim == 1 else np.repeat(at.u, count, axis=1)
    values = call(points.transpose(1, 0, 2).reshape(n, -1), At(at.step, at.t, at.gap, u)).reshape(
        -1, S, count
    )
    apart = off(values, values[:, :, :1])  # from the value of the mean
    shift = apart[:, :, 1:].sum(axis=2) / (2.0 * spread)
    centre = values[:, :, 0] + shift
    from_mean = (apart - shift[:, :, None]).transpose(1, 0, 2)
    scale = 1.0 / np.sqrt(2.0 * spread)
    zero = np.zeros((S, n, 1))
    own = np.concatenate([zero, scale * width, -scale * width], axis=2)
    out = from_mean * scale
    out[:, :, 0] = from_mean[:, :, 0] * np.sqrt(max(of_covariance, 0.0))
    less = None
    if of_covariance < 0.0:
        less = np.sqrt(-of_covariance) * from_mean[:, :, 0]
        lost = 64 * np.finfo(float).eps * np.sqrt(-of_covariance) / min(spread, 1.0)
        least = np.maximum(_ROUNDING * (out**2).sum(axis=2), (lost * np.abs(values).max(axis=2).T) ** 2)
        less[less**2 <= least] = 0.0  # for a linear function only rounding is left
    return Passed(centre.T, out, own, less)


def joint(passed: Passed, noise: np.ndarray, *, rest: bool = True) -> tuple[np.ndarray, ...]:
    """The blocks of a root of the joint covariance of value and state: L11, L21 and, with `rest`, L22."""
    size, n = passed.out.shape[1], passed.own.shape[1]
    noise = np.broadcast_to(noise, (len(passed.out), *noise.shape[-2:]))
    top = np.concatenate([passed.out, noise], axis=2)
    below = np.concatenate([passed.own, np.zeros((len(noise), n, noise.shape[2]))], axis=2)
    L = lower(np.concatenate([top, below], axis=1))
    L11, L21, L22 = L[:, :size, :size], L[:, size:, :size], L[:, size:, size:]
    if passed.less is None or not passed.less.any():
        return L11, L21, L22
    # Only the covariance of the value shrinks: the cross-covariance and that of the state stay.
    root, v = _less(L11, passed.less)
    left = 1.0 - (v**2).sum(axis=1)
    along = (L21 @ v[:, :, None])[:, :, 0]
    share = 1.0 / (left + np.sqrt(left))
    L21 = L21 + share[:, None, None] * along[:, :, None] * v[:, None, :]
    if rest:
        L22 = lower(_less(L22, along / np.sqrt(left)[:, None])[0])
    turned = lower(np.concatenate([root, L21], axis=1))
    return turned[:, :size, :size], turned[:, size:, :size], L22


def _less(L: np.ndarray, less: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A root of L L' - less less', which negative weights require, and v with L v = less."""
    v = over(less[:, None, :], L.swapaxes(1, 2))[:, 0]
    size = (v**2).sum(axis=1)
    if (size >= 1.0).any():
        raise InvalidArgument(_NEGATIVE)
    share = 1.0 / (1.0 + np.sqrt(1.0 - size))  # (I - share v v') is a root of I - v v'
    return L - share[:, None, None] * (L @ v[:, :, None]) * v[:, None, :], v


def covariance(root: np.ndarray) -> np.ndarray:
    """The covariance root root', exactly symmetric."""
    P = root @ root.swapaxes(-1, -2)
    return np.asarray((P + P.swapaxes(-1, -2)) / 2)


class MomentStep(NamedTuple):
    """One step of several series: means (S, n), roots of covariances, terms of the log density (S,)."""

    predicted: np.ndarray
    predicted_root: np.ndarray
    mean: np.ndarray
    root: np.ndarray
    log: np.ndarray


class Link(NamedTuple):
    """What the smoother needs to go from a state back to the one before it."""

    J: np.ndarray  # smoother gain
    root: np.ndarray  # of the covariance of a state given the next one
    mean: np.ndarray  # filtered
    predicted: np.ndarray  # of the next one


class Moments:
    """A filter at some step of its series: `observe` in each step, with `advance` in between."""

    def __init__(self, model: Model, sigma: Sigma | None, series: int) -> None:
        """Start at the distribution of the first state."""
        self.model, self.sigma = model, sigma
        self.mean = np.tile(model.mean, (series, 1))
        self.root = np.repeat(model.root[None], series, axis=0)

    def passed(self, which: str, mean: np.ndarray, root: np.ndarray, at: At) -> Passed:
        """The image of a normal distribution of states under f or h."""
        model = self.model
        call, jacobian, off = (
            (model.f, model.F, model.off) if which == "f" else (model.h, model.H, model.off_seen)
        )
        if self.sigma is None:
            return tangent(call, jacobian, off, mean, root, at)
        return sigma_points(call, self.sigma, off, mean, root, at)

    def advance(self, at: At, noise: np.ndarray, *, link: bool = False) -> Link | None:
        """Predict the next state; `noise` is a root of the covariance of its noise."""
        with np.errstate(over="ignore", invalid="ignore"):
            passed = self.passed("f", self.mean, self.root, at)
            made = None
            L11, L21, L22 = joint(passed, noise, rest=link)
            check_range(at.step + 1, passed.centre, L11 * L11)
            if link:
                made = Link(over(L21, L11), L22, self.mean, passed.centre)
        self.mean, self.root = passed.centre, L11
        return made

    def observe(self, y: np.ndarray, noise: np.ndarray, at: At) -> MomentStep:
        """Update by observations (S, m); `noise` is the covariance of their noise."""
        before, spread = self.mean, self.root
        seen = ~np.isnan(y)
        log = np.zeros(len(y))
        if seen.any():
            with np.errstate(over="ignore", invalid="ignore"):
                passed = self.passed("h", self.mean, self.root, at)
            check_range(at.step, passed.out * passed.out)
            here = seen[:, :, None] & seen[:, None, :]
            R = np.where(here, noise, np.eye(y.shape[1]))
            U, d = factored(R)
            less = None if passed.less is None else passed.less * seen
            masked = Passed(passed.centre, passed.out * seen[:, :, None], passed.own, less)
            L11, L21, L22 = joint(masked, U * np.sqrt(d)[:, None, :])
            innovation = self.model.off_seen(np.where(seen, y, passed.centre).T, passed.centre.T).T
            sizes = np.abs(np.diagonal(L11, axis1=1, axis2=2))
            if (sizes <= _NOTHING * sizes.max(axis=1, keepdims=True)).any():
                raise ImpossibleEvidence(
                    f"An observation of step {at.step} (the first is 0) has no noise and is what the state "
                    "determines: it has no density. Give R= some noise."
                )
            e = np.linalg.solve(L11, innovation[:, :, None])
            self.mean = self.mean + (L21 @ e)[:, :, 0]
            self.root = L22
            peak = log_peak(seen.sum(axis=1), 2.0 * np.log(sizes).sum(axis=1))
            log = peak - 0.5 * (e[:, :, 0] ** 2).sum(axis=1)
        return MomentStep(before, spread, self.mean, self.root, log)

    def copied(self) -> Moments:
        """A copy that continues independently."""
        return copy.copy(self)

    def signal(self, mean: np.ndarray, root: np.ndarray, at: At) -> tuple[np.ndarray, np.ndarray]:
        """The mean and covariance of h(x)."""
        passed = self.passed("h", mean, root, at)
        if passed.less is None:
            return passed.centre, covariance(passed.out)
        found = covariance(passed.out) - passed.less[:, :, None] * passed.less[:, None, :]
        if (np.diagonal(found, axis1=1, axis2=2) < 0.0).any():
            raise InvalidArgument(_NEGATIVE)
        return passed.centre, found


def over(numerator: np.ndarray, L: np.ndarray) -> np.ndarray:
    """The quotient numerator L^-1, where the triangle L may be singular."""
    sizes = np.abs(np.diagonal(L, axis1=1, axis2=2))
    if (sizes <= _NOTHING * sizes.max(axis=1, keepdims=True, initial=0.0)).any():
        return np.asarray(numerator @ np.linalg.pinv(L, rcond=1e-12))
    return np.asarray(np.linalg.solve(L.swapaxes(1, 2), numerator.swapaxes(1, 2)).swapaxes(1, 2))


def back(links: list[Link], mean: np.ndarray, root: np.ndarray, off: Any) -> tuple[list[Any], list[Any]]:
    """The smoother (Rauch, Tung & Striebel 1965; Sarkka 2008): means and roots in the order of steps."""
    means, roots = [mean], [root]
    for link in reversed(links):
        moved = off(mean.T, link.predicted.T).T
        mean = link.mean + (link.J @ moved[:, :, None])[:, :, 0]
        root = lower(np.concatenate([link.J @ root, link.root], axis=2))
        means.append(mean)
        roots.append(root)
    return means[::-1], roots[::-1]
