"""A filter of a nonlinear system that takes observations as they come."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.calls import guard_methods
from pgm.errors import InvalidArgument, shown
from pgm.inference.engines import nonlinear as engine
from pgm.printing import html_text
from pgm.randomness import generator
from pgm.results import Filtered, Forecast
from pgm.runtime.clock import start_clock

from . import nonlinear_answers as answers
from .checks import check_steps
from .filters import Filter, Particles
from .linear_questions import Given, read
from .linear_stream import _as_rows
from .nonlinear_parameters import Noise, Parameters


@dataclass(frozen=True)
class _Last:
    """The last step."""

    step: int
    time: float | None
    u: np.ndarray | None


class NonlinearStream:
    """An online filter: `push` takes the next observation, `forecast` looks ahead.

    Results equal those of `filter` on all steps; memory does not grow. A stream can be copied, and pickled if
    its functions can.

    >>> import pgm
    >>> walk = pgm.NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
    >>> stream = walk.stream(engine="unscented")
    >>> len(stream.push([1.0, 0.5])), len(stream)
    (2, 2)
    """

    def __init__(self, p: Parameters, names: tuple[tuple[str, ...], tuple[str, ...]], how: Filter) -> None:
        """Start before the first observation."""
        self._p, self._names, self._how = p, names, how
        self._now = begun(p, how)
        self._last: _Last | None = None
        self._log = 0.0
        self._mean, self._covariance = p.mean, p.covariance

    @property
    def mean(self) -> np.ndarray:
        """The mean of the latest state given all observations; before any, that of the first state."""
        return self._mean

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of that state."""
        return self._covariance

    @property
    def log_likelihood(self) -> float:
        """The log density of all observations so far."""
        return self._log

    def __len__(self) -> int:
        """The number of steps so far."""
        return 0 if self._last is None else self._last.step + 1

    def push(self, data: Any, *, inputs: Any = None, times: Any = None) -> Filtered:
        """Take the next observation, or several; returns the states of these steps, as `filter` does.

        If it raises, the stream is as it was.

        Args:
            data: a value or a row of values, NaN or None where nothing was observed; or many of these.
            inputs: a row for each of these steps.
            times: the time of each, where f or Q depends on the gap.

        Raises:
            InvalidArgument: a row of the wrong width, no step, inputs or times that do not fit.
            ImpossibleEvidence: an observation has no noise.

        >>> import pgm
        >>> walk = pgm.NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> walk.stream(engine="extended").push(1.0).mean.round(6).tolist()
        [[0.555556]]
        """
        one = [None] if data is None else _as_rows(data, self._p.m)
        given = self._read(one, inputs, times)
        run, now, last, steps = self._run(given)
        made = answers.filtered(self._p, self._names, run, given.y[0], steps)
        self._now, self._last = now, last
        self._log += made.log_likelihood
        self._mean, self._covariance = made.mean[-1], made.covariance[-1]
        return made

    def forecast(self, steps: int, *, inputs: Any = None, times: Any = None) -> Forecast:
        """Return the states of the steps to come; `.predicted` is what will be observed.

        Args:
            steps: how many.
            inputs: a row for each of them.
            times: the time of each of them.

        Raises:
            InvalidArgument: steps is not a whole number of at least 1; inputs or times do not fit.

        >>> import pgm
        >>> walk = pgm.NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> walk.stream(engine="extended").forecast(2).std.round(6).tolist()
        [[1.0], [1.224745]]
        """
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
        check_steps(int(steps))
        p = self._p
        nothing = np.full((int(steps), p.m) if p.m > 1 else int(steps), np.nan)
        given = self._read(nothing, inputs, times)
        run, _, _, ahead = self._run(given)
        made = answers.forecast(p, self._names, run, given.y[0], ahead, int(steps))
        names, mean, matrices, _, output, y, at, report = made._parts()
        so_far: list[Any] = [names, mean, matrices, np.array([self._log]), output, y, at, report]
        return Forecast(*so_far)

    def copy(self) -> NonlinearStream:
        """Return an independent copy, which goes on from here."""
        made = copy.copy(self)
        made._now = self._now.copied()
        return made

    def __repr__(self) -> str:
        """The steps and the log-likelihood so far."""
        return (
            f"stream of a nonlinear dynamical system: {len(self):,} steps, log-likelihood {self._log:.6f}, "
            f"APPROXIMATE ({self._how.name})"
        )

    def _repr_html_(self) -> str:
        return html_text(repr(self))

    def _read(self, y: Any, inputs: Any, times: Any) -> Given:
        p = self._p
        given = read(p, y, _as_rows(inputs, p.n_inputs), None if times is None else np.atleast_1d(times))
        if not given.data.lone:
            raise InvalidArgument("A stream is one series: push one observation, or rows of one series.")
        last = self._last
        if (
            last is not None
            and last.time is not None
            and given.times is not None
            and given.times[0][0] <= last.time
        ):
            raise InvalidArgument(
                f"times= do not increase: the last step was at {last.time:.6g}, and the next is at "
                f"{given.times[0][0]:.6g}."
            )
        return given

    def _run(self, given: Given) -> tuple[answers.Run, Any, _Last, np.ndarray]:
        """Filter more steps, on a copy of the filter."""
        y, first = given.y[0], len(self)
        u = None if given.inputs is None else given.inputs[0]
        times = None if given.times is None else given.times[0]
        p, now, last = self._p, self._now.copied(), self._last
        noise, clock, found = Noise(p, first + len(y)), start_clock(), []
        if isinstance(self._how, Particles):
            answers.check_noise(noise, first + len(y))
        for i in range(len(y)):
            clock.check("filtering")
            step = first + i
            time = None if times is None else float(times[i])
            if last is not None:
                gap = None if time is None or last.time is None else time - last.time
                move = engine.At(
                    last.step, last.step if last.time is None else last.time, gap, _column(last.u, now)
                )
                now.advance(move, noise.move(last.step, gap))
            last = _Last(step, time, None if u is None else u[i])
            here = engine.At(step, step if time is None else time, None, _column(last.u, now))
            row = y[i] if isinstance(now, engine.Particles) else y[i][None]
            found.append(now.observe(row, noise.look(step), here))
        assert last is not None
        steps = np.arange(first, first + len(y)) if times is None else times
        return answers.run_of(p, self._how, now, found, u, times, first), now, last, steps


def begun(p: Parameters, how: Filter) -> Any:
    """A filter before the first step."""
    if isinstance(how, Particles):
        return engine.Particles(p.model(), answers.sizes_of(how), generator(how.seed).spawn(1)[0])
    return engine.Moments(p.model(), answers.sigma_of(how), 1)


def _column(u: np.ndarray | None, now: Any) -> np.ndarray | None:
    return u if u is None or isinstance(now, engine.Particles) else u[:, None]


guard_methods([NonlinearStream])
