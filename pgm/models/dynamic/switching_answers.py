"""Runs filters of switching linear systems over series, and turns their results into answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.config import current
from pgm.errors import InvalidArgument, TooLarge, nearest, shown
from pgm.inference.engines import switching as engine
from pgm.randomness import generator
from pgm.results import Intervals, Report
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.room import size_of

from .filters import RaoBlackwellised

MERGED = ("gpb2", "imm", "gpb1")
_MOST_PATHS = 1 << 16  # paths that "auto" follows
_EXACT = Report("exact", exact=True)


@dataclass(frozen=True, slots=True)
class Run:
    """The results of a filter on one series, for each step."""

    before: list[engine.Mixture]  # given what was observed before
    after: list[engine.Mixture]
    log: np.ndarray  # (T,)
    report: Report
    smoothed: list[engine.Mixture] | None = None
    crosses: list[np.ndarray] | None = None
    best: tuple[np.ndarray, float] | None = None  # the most probable path, and log P(path | observations)


def engine_of(asked: object) -> str | RaoBlackwellised:
    """The engine asked for: "auto" or "exact", the name of a filter that merges, or particles."""
    if isinstance(asked, RaoBlackwellised):
        return asked
    if asked in ("rao-blackwellised", "particles"):
        return RaoBlackwellised()
    names = ("auto", "exact", *MERGED, "rao-blackwellised")
    if isinstance(asked, str) and asked in names:
        return asked
    if asked is RaoBlackwellised:
        raise InvalidArgument("engine= takes an engine: write pgm.filters.RaoBlackwellised().")
    listed = ", ".join(map(repr, names))
    raise InvalidArgument(f"engine={shown(asked)} is not one of {listed}.{nearest(asked, names)}")


def _paths(r: engine.Regimes, T: int) -> float:
    """How many paths of regimes are possible."""
    ways = np.isfinite(r.log_transition).astype(float)
    count = np.isfinite(r.log_initial).astype(float)
    for _ in range(T - 1):
        count = count @ ways
        if count.sum() > 1e300:
            return float("inf")
    return float(count.sum())


def _check_paths(r: engine.Regimes, T: int, asked: str) -> None:
    count, n = _paths(r, T), r.size
    size, limit = count * 8.0 * (4 * n * n + 4 * n + 8), current().memory_limit
    if count > _MOST_PATHS if asked == "auto" else size > limit:
        many = f"{count:,.0f}" if count < 1e15 else f"{count:.1e}"
        why = (
            f"at most {_MOST_PATHS:,} are followed unasked"
            if asked == "auto"
            else f"they take about {size_of(size)}, and {size_of(limit)} are allowed"
        )
        more = ', and "exact" all that fit into the memory' if asked == "auto" and size <= limit else ""
        raise TooLarge(
            f"An exact answer needs a Kalman filter for each of {many} paths of regimes over {T:,} steps; "
            f"{why}. "
            'engine="gpb2" or "imm" merges Gaussians in every step, "rao-blackwellised" follows some paths '
            f"and estimates its error{more}."
        )


def answered(
    r: engine.Regimes, series: Sequence[engine.Steps], how: str | RaoBlackwellised, *, smooth: bool = False
) -> list[Run]:
    """Filter every series, and smooth it if asked."""
    if isinstance(how, RaoBlackwellised):
        rngs = generator(how.seed).spawn(len(series))
        return [_by_particles(r, s, how, rng, smooth) for s, rng in zip(series, rngs, strict=True)]
    if smooth and how in ("imm", "gpb1"):
        raise InvalidArgument(
            f'engine="{how}" filters but cannot smooth: "gpb2" smooths as Kim (1994) does, '
            '"rao-blackwellised" along sampled paths, and "exact" along all of them.'
        )
    return [
        _by_paths(r, s, how, smooth) if how in ("auto", "exact") else _by_merging(r, s, how, smooth)
        for s in series
    ]


def _of_lane(
    r: engine.Regimes, s: engine.Steps, lane: engine.Lane, t: int
) -> tuple[engine.Mixture, engine.Mixture]:
    before = engine.mixture(r, lane.before, lane.regime, np.exp(lane.prior), s.shifts[t])
    return before, engine.mixture(r, lane.after, lane.regime, np.exp(lane.logs), s.shifts[t])


def _by_paths(r: engine.Regimes, s: engine.Steps, how: str, smooth: bool) -> Run:
    _check_paths(r, len(s.y), how)
    clock = start_clock()
    lanes = engine.every_path(r, s, clock)
    pairs = [_of_lane(r, s, lane, t) for t, lane in enumerate(lanes)]
    before, after = ([pair[i] for pair in pairs] for i in range(2))
    log = np.array([lane.log for lane in lanes])
    if not smooth:
        return Run(before, after, log, _EXACT)
    smoothed, crosses = engine.given_paths(r, s, lanes, clock)
    top = int(lanes[-1].logs.argmax())
    best = engine.histories(lanes)[top], float(lanes[-1].logs[top])
    return Run(before, after, log, _EXACT, smoothed, crosses, best)


def expect(
    r: engine.Regimes, s: engine.Steps, how: str, expected: engine.Expected, clock: Clock
) -> np.ndarray:
    """The log density of each step given those before; statistics for learning go into `expected`."""
    if how == "gpb2":
        steps = _merging(r, s, how, clock)
        engine.back(r, s, steps, expected)
        return np.array([step.log for step in steps])
    _check_paths(r, len(s.y), how)
    lanes = engine.every_path(r, s, clock)
    engine.given_paths(r, s, lanes, clock, expected)
    return np.array([lane.log for lane in lanes])


def _merging(r: engine.Regimes, s: engine.Steps, how: str, clock: Clock) -> list[engine.MergedStep]:
    steps = [engine.begun(r, s.y[0], s.shifts[0], how)]
    for t in range(1, len(s.y)):
        clock.check("filtering")
        steps.append(engine.advanced(r, steps[-1].after, s.y[t], s.pushes[t - 1], s.shifts[t], t, how))
    return steps


def _by_merging(r: engine.Regimes, s: engine.Steps, how: str, smooth: bool) -> Run:
    steps = _merging(r, s, how, start_clock())
    own = np.arange(r.count)

    def of(now: engine.RegimeBelief, t: int) -> engine.Mixture:
        return engine.mixture(r, now.each, own, np.exp(now.logs), s.shifts[t])

    before = [of(step.before, t) for t, step in enumerate(steps)]
    after = [of(step.after, t) for t, step in enumerate(steps)]
    log, report = np.array([step.log for step in steps]), Report(how, exact=False)
    if not smooth:
        return Run(before, after, log, report)
    return Run(before, after, log, report, *engine.back(r, s, steps))


def _by_particles(
    r: engine.Regimes, s: engine.Steps, how: RaoBlackwellised, rng: np.random.Generator, smooth: bool
) -> Run:
    """Independent groups of particles."""
    clock, T, most = start_clock(), len(s.y), how.samples // how.groups
    groups, sizes, logs = [], [], []
    for _ in range(how.groups):
        lanes = engine.particles(r, s, most, rng, clock)
        logs.append([lane.log for lane in lanes])
        sizes.append([1.0 / (np.exp(lane.logs) ** 2).sum() for lane in lanes])
        pairs = [_of_lane(r, s, lane, t) for t, lane in enumerate(lanes)]
        back = engine.given_paths(r, s, lanes, clock) if smooth else (None, None)
        groups.append((pairs, *back))
    sums = np.cumsum(np.array(logs), axis=1)  # (groups, T)
    top = sums.max(axis=0)
    total = top + np.log(np.exp(sums - top).mean(axis=0))
    off = np.exp(sums[:, -1] - total[-1])
    before, _ = _averaged([[pair[0] for pair in own[0]] for own in groups])
    after, error = _averaged([[pair[1] for pair in own[0]] for own in groups])
    smoothed, crosses = None, None
    if smooth:
        smoothed, error = _averaged([own[1] for own in groups])
        centre = np.array([one.mean for one in smoothed])
        crosses = []
        for t in range(T - 1):
            parts = [
                own[2][t] + np.outer(own[1][t].mean - centre[t], own[1][t + 1].mean - centre[t + 1])
                for own in groups
            ]
            crosses.append(np.mean(parts, axis=0))
    from scipy.special import stdtrit

    mean = np.array([one.mean for one in (after if smoothed is None else smoothed)])
    width = float(stdtrit(how.groups - 1, 0.975)) * error
    effective = np.sum(sizes, axis=0)
    report = Report(
        "rao-blackwellised",
        exact=False,
        error=float(error.max()),
        effective_sample_size=float(effective.min()),
        samples=how.samples,
        log_error=float(off.std(ddof=1) / np.sqrt(how.groups)),
        intervals=Intervals(
            mean - width, mean + width, error, np.broadcast_to(effective[:, None], mean.shape).copy()
        ),
    )
    return Run(before, after, np.diff(total, prepend=0.0), report, smoothed, crosses)


def _averaged(groups: list[list[engine.Mixture]]) -> tuple[list[engine.Mixture], np.ndarray]:
    """The mixtures of several groups merged into one in each step, and the standard errors of means."""
    found, errors = [], []
    for own in zip(*groups, strict=True):
        means, signals = np.array([one.mean for one in own]), np.array([one.signal for one in own])
        mean, signal = means.mean(axis=0), signals.mean(axis=0)
        spread = np.mean([one.covariance for one in own], axis=0) + np.cov(means.T, bias=True).reshape(
            mean.size, -1
        )
        of_signal = np.mean([one.of_signal for one in own], axis=0)
        of_signal = of_signal + np.cov(signals.T, bias=True).reshape(signal.size, -1)
        regimes, noise = (
            np.mean([getattr(one, name) for one in own], axis=0) for name in ("regimes", "noise")
        )
        found.append(engine.Mixture(mean, spread, regimes, signal, of_signal, noise))
        errors.append(means.std(axis=0, ddof=1) / np.sqrt(len(own)))
    return found, np.array(errors)
