"""Runs filters over series of a nonlinear system, and turns their results into answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.inference.engines import nonlinear as engine
from pgm.randomness import generator
from pgm.results import Filtered, Forecast, Intervals, Matrices, Report, Seen, Smoothed, SmoothedPaths
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.progress import report as report_progress
from pgm.runtime.room import check_room

from .filters import Extended, Filter, Particles, Unscented
from .linear_questions import Given
from .nonlinear_parameters import Noise, Parameters, at

_LEAST_SIZE = 100  # effective particles: fewer tell little about a variance


@dataclass(frozen=True, slots=True)
class Run:
    """The results of a filter on one series."""

    predicted: np.ndarray  # (T, n)
    predicted_covariance: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    log: np.ndarray  # (T,)
    signal: Any  # means and covariances of h(x), or a function that computes them
    report: Report
    # Means, covariances, and cross-covariances with the next step.
    smoothed: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    paths: np.ndarray | None = None
    signal_smoothed: Any = None


def answered(p: Parameters, given: Given, how: Filter, *, smooth: bool = False) -> list[Run]:
    """Filter every series, and smooth it if asked."""
    clock = start_clock()
    made: list[Any] = [None] * len(given.y)
    if isinstance(how, Particles):
        rngs = generator(how.seed).spawn(len(given.y))
        for i, y in enumerate(given.y):
            u, times = _of(given, i)
            made[i] = _by_particles(p, y, u, times, how, rngs[i], clock, smooth)
        return made
    groups: dict[tuple[int, bytes], list[int]] = {}
    for i, y in enumerate(given.y):
        times = _of(given, i)[1]
        groups.setdefault((len(y), b"" if times is None else times.tobytes()), []).append(i)
    for members in groups.values():
        some = _by_moments(p, given, members, how, clock, smooth)
        for i, run in zip(members, some, strict=True):
            made[i] = run
    return made


def _of(given: Given, i: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    return (
        None if given.inputs is None else given.inputs[i],
        None if given.times is None else given.times[i],
    )


def sigma_of(how: Filter) -> engine.Sigma | None:
    """The weights of sigma points; None for tangents."""
    return engine.Sigma(how.alpha, how.beta, how.kappa) if isinstance(how, Unscented) else None


def report_of(p: Parameters, how: Filter) -> Report:
    """The report of a filter that does not estimate its error."""
    if not isinstance(how, Extended):
        return Report(how.name, exact=False)
    given = [name for name, function in (("F", p.F), ("H", p.H)) if function is not None]
    said = (
        "as given"
        if len(given) == 2
        else "by differences"
        if not given
        else f"{given[0]} as given, the other by differences"
    )
    return Report(how.name, exact=False, derivatives=said)


def _by_moments(
    p: Parameters, given: Given, members: list[int], how: Filter, clock: Clock, smooth: bool
) -> list[Run]:
    """Series of one length and the same times, side by side."""
    y = np.stack([given.y[i] for i in members], axis=1)  # (T, S, m)
    times = _of(given, members[0])[1]
    u = (
        None if given.inputs is None else np.stack([given.inputs[i] for i in members], axis=2)
    )  # (T, inputs, S)
    T, S, _ = y.shape
    model, noise = p.model(), Noise(p, T)
    now = engine.Moments(model, sigma_of(how), S)
    steps, links = [], []
    for t in range(T):
        clock.check("filtering")
        own = None if u is None else u[t]
        if t:
            before = None if u is None else u[t - 1]
            move = at(t - 1, times, before, moves=True)
            link = now.advance(move, noise.move(t - 1, move.gap), link=smooth)
            if link is not None:
                links.append(link)
        steps.append(now.observe(y[t], noise.look(t), at(t, times, own)))
    predicted, before_roots, mean, root, log = (np.stack(each) for each in zip(*steps, strict=True))
    before_cov, cov = engine.covariance(before_roots), engine.covariance(root)
    back: Any = None
    if smooth:
        means, roots = (np.stack(each) for each in engine.back(links, mean[-1], root[-1], model.off))
        spread = engine.covariance(roots)
        J = np.stack([link.J for link in links]) if links else np.empty((0, S, p.n, p.n))
        back = means, roots, spread, J @ spread[1:]
    report = report_of(p, how)
    found = []
    for i in range(S):
        inputs = None if u is None else u[:, :, i]
        find = partial(_signal, p, how, inputs, times)
        run = Run(
            predicted[:, i],
            before_cov[:, i],
            mean[:, i],
            cov[:, i],
            log[:, i],
            partial(find, mean[:, i], root[:, i]),
            report,
            None if back is None else (back[0][:, i], back[2][:, i], back[3][:, i]),
            None,
            None if back is None else partial(find, back[0][:, i], back[1][:, i]),
        )
        found.append(run)
    return found


def _signal(
    p: Parameters,
    how: Filter,
    u: np.ndarray | None,
    times: np.ndarray | None,
    mean: np.ndarray,
    root: np.ndarray,
    first: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of h(x) of all steps of a series."""
    now = engine.Moments(p.model(), sigma_of(how), 1)
    if "t" not in p.wants[1]:  # all steps side by side
        return now.signal(mean, root, engine.At(0, 0.0, None, None if u is None else u.T))
    each = []
    for t in range(len(mean)):
        here = engine.At(
            first + t, first + t if times is None else float(times[t]), None, None if u is None else u[t]
        )
        each.append(now.signal(mean[t : t + 1], root[t : t + 1], here))
    means, spreads = zip(*each, strict=True)
    return np.concatenate(means), np.concatenate(spreads)


def sizes_of(how: Particles) -> engine.Sizes:
    """The sizes of groups."""
    return engine.Sizes(how.groups, how.samples // how.groups, how.threshold)


def check_noise(noise: Noise, T: int) -> None:
    """Refuse observations without noise, which give every particle the weight zero."""
    for t in range(T if noise.p.R.ndim == 3 else 1):
        if engine.singular(noise.look(t)):
            where = f" of step {t}" if noise.p.R.ndim == 3 else ""
            raise InvalidArgument(
                f"R={where} is singular: some combination of an observation has no noise, and no particle "
                'meets it. Give it some, or take engine="unscented".'
            )


def _by_particles(
    p: Parameters,
    y: np.ndarray,
    u: np.ndarray | None,
    times: np.ndarray | None,
    how: Particles,
    rng: np.random.Generator,
    clock: Clock,
    smooth: bool,
) -> Run:
    T = len(y)
    model, noise = p.model(), Noise(p, T)
    check_noise(noise, T)
    if smooth:
        _check_room(p, T, how)
    now = engine.Particles(model, sizes_of(how), rng)
    steps, kept = [], []
    for t in range(T):
        clock.check("filtering")
        report_progress(t, T, "particles")
        if t:
            move = at(t - 1, times, None if u is None else u[t - 1], moves=True)
            root = noise.move(t - 1, move.gap)
            if smooth and not np.diagonal(root).all():
                raise InvalidArgument(
                    "Q= is singular: no particle leads exactly to another, so no path goes backwards. Take "
                    'engine="unscented", or give the noise of every entry of the state some variance.'
                )
            one = now.advance(move, root, keep=smooth)
            if one is not None:
                kept.append(one)
        steps.append(now.observe(y[t], noise.look(t), at(t, times, None if u is None else u[t])))
    report_progress(T, T, "particles")
    run = _of_particles(how, now, steps)
    if not smooth:
        return run
    drawn = engine.paths([*kept, now.last()], how.paths // how.groups, model, rng, clock)
    size = np.array([step.size for step in steps])
    return _of_paths(p, model, how, drawn, u, times, size, run)


def _of_particles(how: Particles, now: engine.Particles, steps: Sequence[Any]) -> Run:
    predicted, before, mean, cov, error, log, size, signal, of_signal = (
        np.array(each) for each in zip(*steps, strict=True)
    )
    report = measured(how, mean, error, size, now.log_error(), now.model)
    return Run(predicted, before, mean, cov, log, (signal, of_signal), report)


def run_of(
    p: Parameters,
    how: Filter,
    now: Any,
    steps: Sequence[Any],
    u: np.ndarray | None,
    times: np.ndarray | None,
    first: int,
) -> Run:
    """The run of a stream over some steps of one series, the first of which has index `first`."""
    if isinstance(how, Particles):
        return _of_particles(how, now, steps)
    predicted, before, mean, root, log = (np.stack(each)[:, 0] for each in zip(*steps, strict=True))
    signal = partial(_signal, p, how, u, times, mean, root, first)
    covariances = engine.covariance(before), engine.covariance(root)
    return Run(predicted, covariances[0], mean, covariances[1], log, signal, report_of(p, how))


def _of_paths(
    p: Parameters,
    model: engine.Model,
    how: Particles,
    drawn: np.ndarray,
    u: np.ndarray | None,
    times: np.ndarray | None,
    size: np.ndarray,
    run: Run,
) -> Run:
    """The results of sampled paths, (groups, paths, T, n)."""
    groups, each, T, n = drawn.shape
    flat = drawn.reshape(groups * each, T, n)
    share = np.full(groups * each, 1.0 / (groups * each))
    means, spreads, errors, signals = np.empty((T, n)), np.empty((T, n, n)), np.empty((T, n)), []
    deviations = np.empty_like(flat)
    for t in range(T):
        x = flat[:, t].T
        means[t], spreads[t] = engine.moments(x, share, model.off)
        deviations[:, t] = model.off(x, means[t][:, None]).T
        values = model.h(np.ascontiguousarray(x), at(t, times, None if u is None else u[t]))
        signals.append(engine.moments(values, share, model.off_seen))
    of_groups = deviations.reshape(groups, each, T, n).mean(axis=1)
    errors = of_groups.std(axis=0, ddof=1) / np.sqrt(groups)
    cross = np.einsum("mti,mtj->tij", deviations[:, :-1], deviations[:, 1:]) / len(flat)
    report = measured(how, means, errors, np.minimum(size, len(flat)), run.report.log_error, model)
    signal = tuple(np.array(each) for each in zip(*signals, strict=True))
    return Run(
        *(run.predicted, run.predicted_covariance, run.mean, run.covariance, run.log, None, report),
        (means, spreads, cross),
        flat,
        signal,
    )


def measured(
    how: Particles,
    mean: np.ndarray,
    error: np.ndarray,
    size: np.ndarray,
    log_error: float,
    model: engine.Model,
) -> Report:
    """The report of particles: standard errors of means (T, n), and effective sizes (T,)."""
    from scipy.special import stdtrit

    off = float(stdtrit(how.groups - 1, 0.975)) * error
    sizes = np.broadcast_to(size[:, None], mean.shape).copy()
    advice = []
    if size.min() < _LEAST_SIZE:
        advice.append("few particles explain an observation: raise samples=")
    slow = [call.name for call in (model.f, model.h) if call.for_many is False]
    if slow:
        verb = "are" if len(slow) > 1 else "is"
        advice.append(
            f"{'= and '.join(slow)}= {verb} called for one state at a time, which is slow: "
            "let x[0] be an array"
        )
    return Report(
        how.name,
        exact=False,
        error=float(error.max()),
        advice="; ".join(advice),
        effective_sample_size=float(size.min()),
        samples=how.samples,
        log_error=log_error,
        intervals=Intervals(mean - off, mean + off, error.copy(), sizes),
    )


def _check_room(p: Parameters, T: int, how: Particles) -> None:
    """Smoothing keeps all particles."""
    size = 8 * T * (how.samples * (2 * p.n + 1) + 2 * how.paths * p.n)
    check_room(size, 'engine="particles" keeps all particles to smooth, which takes', "Take fewer samples=")


def _matrices(spread: np.ndarray) -> Matrices:
    return Matrices(np.ascontiguousarray(spread), np.arange(len(spread)))


def _seen(p: Parameters, names: tuple[str, ...], signal: Any, T: int) -> Seen:
    R = p.R[None] if p.R.ndim == 2 else p.R[:T]
    look = np.zeros(T, np.int64) if p.R.ndim == 2 else np.arange(T)
    return Seen(names, R, look, signal)


Names = Sequence[tuple[str, ...]]


def filtered(p: Parameters, names: Names, run: Run, y: np.ndarray, steps: np.ndarray) -> Filtered:
    """The answer of `filter`."""
    output = _seen(p, names[1], run.signal, len(y))
    before = _matrices(run.predicted_covariance)
    table, mean = _matrices(run.covariance), np.ascontiguousarray(run.mean)
    return Filtered(
        names[0],
        mean,
        table,
        np.ascontiguousarray(run.predicted),
        before,
        run.log.copy(),
        output,
        y,
        steps,
        run.report,
    )


def smoothed(p: Parameters, names: Names, run: Run, y: np.ndarray, steps: np.ndarray) -> Smoothed:
    """The answer of `smooth`."""
    assert run.smoothed is not None
    mean, spread, cross = (np.ascontiguousarray(each) for each in run.smoothed)
    output = _seen(p, names[1], run.signal_smoothed, len(y))
    cross.flags.writeable = False
    others = (names[0], mean, _matrices(spread), cross, run.log.copy(), output, y, steps, run.report)
    return Smoothed(*others) if run.paths is None else SmoothedPaths(run.paths, *others)


def forecast(p: Parameters, names: Names, run: Run, y: np.ndarray, steps: np.ndarray, more: int) -> Forecast:
    """The answer of `forecast`: the last steps of a filter that observes nothing there."""
    signal = tuple(each[-more:] for each in (run.signal() if callable(run.signal) else run.signal))
    T = len(y)
    R = p.R[None] if p.R.ndim == 2 else p.R[T - more : T]
    look = np.zeros(more, np.int64) if p.R.ndim == 2 else np.arange(more)
    report = run.report
    if report.intervals is not None:
        of_all = report.intervals
        some = [
            each[-more:].copy() for each in (of_all.low, of_all.high, of_all.errors, of_all.effective_sizes)
        ]
        report = report.changed(intervals=Intervals(*some), error=float(some[2].max()))
    mean, table = np.ascontiguousarray(run.mean[-more:]), _matrices(run.covariance[-more:])
    return Forecast(
        names[0],
        mean,
        table,
        run.log[:-more].copy(),
        Seen(names[1], R, look, signal),
        y[:-more],
        steps[-more:],
        report,
    )
