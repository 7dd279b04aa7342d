"""Switching systems by paths of regimes: all of them, or a sample (Doucet & others 2000).

Given a path of regimes the system is linear and the Kalman filter exact: each particle holds a path and its
Gaussian (Rao-Blackwellised particles).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pgm.runtime.clock import Clock

from .expected import Expected
from .lanes import Gaussians, Mixture, Regimes, Steps, began, cross, mixture, moved, observed, returned


class Lane(NamedTuple):
    """All paths up to one step: last regimes, states before and after its observation, weights."""

    regime: np.ndarray  # (L,)
    parent: np.ndarray  # (L,) the path of the step before that each extends
    before: Gaussians
    after: Gaussians
    prior: np.ndarray  # (L,) log weights given the observations before; the weights add up to 1
    logs: np.ndarray  # (L,) log weights given also this observation
    log: float  # this step's term of the log density


def _total(logs: np.ndarray) -> float:
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).sum()))


def _first(r: Regimes, s: Steps) -> Lane:
    possible = np.flatnonzero(np.isfinite(r.log_initial))
    before = began(r).at(possible)
    after, own = observed(r, before, possible, s.y[0], s.shifts[0], 0)
    prior = r.log_initial[possible]
    total = _total(prior + own)
    return Lane(possible, np.zeros(possible.size, np.int64), before, after, prior, prior + own - total, total)


def _next(r: Regimes, s: Steps, lane: Lane, logs: np.ndarray, kept: np.ndarray, t: int) -> Lane:
    """Extend each kept path by every possible regime."""
    ways = logs[:, None] + r.log_transition[lane.regime[kept]]
    row, regime = np.nonzero(np.isfinite(ways))
    parent = kept[row]
    before, _ = moved(r, lane.after.at(parent), regime, s.pushes[t - 1])
    after, own = observed(r, before, regime, s.y[t], s.shifts[t], t)
    prior = ways[row, regime]
    total = _total(prior + own)
    return Lane(regime, parent, before, after, prior, prior + own - total, total)


def every_path(r: Regimes, s: Steps, clock: Clock) -> list[Lane]:
    """All possible paths, step by step."""
    lanes = [_first(r, s)]
    for t in range(1, len(s.y)):
        clock.check("following every path of regimes")
        lanes.append(_next(r, s, lanes[-1], lanes[-1].logs, np.arange(lanes[-1].logs.size), t))
    return lanes


def particles(r: Regimes, s: Steps, most: int, rng: np.random.Generator, clock: Clock) -> list[Lane]:
    """At most `most` paths after resampling: all while they are few, then a weighted sample."""
    lanes = [_first(r, s)]
    for t in range(1, len(s.y)):
        clock.check("filtering by particles")
        lane = lanes[-1]
        kept, logs = resampled(lane.logs, most, rng.random())
        lanes.append(_next(r, s, lane, logs, kept, t))
    return lanes


def resampled(logs: np.ndarray, most: int, start: float) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the particles that are kept, and their log weights (Fearnhead & Clifford 2003).

    Heavy particles are kept as they are; of the others some are drawn and get equal weights. None is kept
    twice.
    """
    if logs.size <= most:
        return np.arange(logs.size), logs
    weights = np.exp(logs)
    order = np.argsort(-weights, kind="stable")
    down = weights[order]
    rest = np.cumsum(down[::-1])[::-1]  # the weight of each and all lighter ones
    places = np.arange(most)
    each = rest[:most] / (most - places)  # the weight of each drawn one, if this many are heavy
    heavy = int((down[:most] < each).argmax()) if (down[:most] < each).any() else most - 1
    light = order[heavy:]
    sums = np.cumsum(weights[light])
    count = most - heavy
    chosen = np.searchsorted(sums, (np.arange(count) + start) / count * sums[-1], side="right")
    chosen = light[np.minimum(chosen, light.size - 1)]
    kept = np.concatenate([order[:heavy], chosen])
    return kept, np.concatenate([logs[order[:heavy]], np.full(count, np.log(each[heavy]))])


def histories(lanes: list[Lane]) -> np.ndarray:
    """The regimes of each path of the last step, (L, T)."""
    at = np.arange(lanes[-1].logs.size)
    found = np.empty((at.size, len(lanes)), np.int64)
    for t in range(len(lanes) - 1, -1, -1):
        found[:, t] = lanes[t].regime[at]
        at = lanes[t].parent[at]
    return found


def given_paths(
    r: Regimes, s: Steps, lanes: list[Lane], clock: Clock, expected: Expected | None = None
) -> tuple[list[Mixture], list[np.ndarray]]:
    """Smooth along the paths of the last step: the mixture of each step, and lag-one covariances."""
    at = [np.arange(lanes[-1].logs.size)]
    for lane in reversed(lanes[1:]):
        at.append(lane.parent[at[-1]])
    at = at[::-1]
    weights = np.exp(lanes[-1].logs)
    later, regime = lanes[-1].after, lanes[-1].regime
    found, crosses = [mixture(r, later, regime, weights, s.shifts[-1])], []
    if expected is not None:
        expected.see(len(lanes) - 1, later, regime, weights)
    for t in range(len(lanes) - 2, -1, -1):
        clock.check("smoothing along paths of regimes")
        g = lanes[t].after.at(at[t])
        _, link = moved(r, g, regime, s.pushes[t])
        own, after = returned(g, link, later), regime
        regime = lanes[t].regime[at[t]]
        if expected is not None:
            expected.see(t, own, regime, weights)
            expected.see_move(t, own, link, later, regime, after, weights)
        found.append(mixture(r, own, regime, weights, s.shifts[t]))
        crosses.append(cross(own, link, later, weights, found[-1].mean, found[-2].mean))
        later = own
    return found[::-1], crosses[::-1]
