"""A Kalman filter that takes observations as they come."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods
from pgm.errors import ImpossibleEvidence, InvalidArgument, shown
from pgm.inference.engines import kalman
from pgm.printing import html_text
from pgm.results import Filtered, Forecast, Matrices, Output, Report
from pgm.runtime.clock import start_clock

from .checks import check_steps
from .linear_questions import Given, Parameters, prepared, read, schedule

if TYPE_CHECKING:
    from .linear_dynamical_system import LinearDynamicalSystem

_REPORT = Report("kalman", exact=True)


@dataclass(frozen=True)
class _Step:
    """The last step that was filtered, from which later ones continue."""

    carried: kalman.Carried
    inputs: np.ndarray | None  # (1, inputs)
    time: np.ndarray | None  # (1,)


class LinearStream:
    """An online filter: `push` takes the next observation, `forecast` looks ahead.

    Results equal those of `filter` on all steps; memory does not grow. A stream can be copied and pickled.

    >>> import pgm
    >>> stream = pgm.components.level(Q=0.1, R=1.0).stream()
    >>> stream.push([5.0, 5.5]).mean.round(6).tolist()
    [[5.0], [5.261905]]
    >>> stream.forecast(1).predicted.mean.round(6).tolist()
    [[5.261905]]
    """

    def __init__(self, system: LinearDynamicalSystem) -> None:
        """Start before the first observation."""
        self._system = system.copy()
        self._last: _Step | None = None
        self._steps = 0
        self._log = 0.0
        self._mean, self._covariance = system.mean, system.covariance

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
        return self._steps

    def push(self, data: Any, *, inputs: Any = None, times: Any = None) -> Filtered:
        """Take the next observation, or several; returns the states of these steps, as `filter` does.

        If it raises, the stream is as it was.

        Args:
            data: a value or a row of values, NaN or None where nothing was observed; or many of these.
            inputs: a row for each of these steps.
            times: the time of each, where A or Q is a function of the gap.

        Raises:
            InvalidArgument: a row of the wrong width, no step, inputs or times that do not fit.
            ImpossibleEvidence: an observation without noise is not what the state determines.

        >>> import pgm
        >>> stream = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8).stream()
        >>> len(stream.push(1.0)), len(stream.push([0.5, None])), len(stream)
        (1, 2, 3)
        """
        p = self._system._p
        one = [None] if data is None else _as_rows(data, p.m)
        given = read(p, one, _as_rows(inputs, p.n_inputs), None if times is None else np.atleast_1d(times))
        if not given.data.lone:
            raise InvalidArgument("A stream is one series: push one observation, or rows of one series.")
        run, carried, lead, output, steps, window = self._run(given)
        if run.bad >= 0:
            raise ImpossibleEvidence(
                f"The observation of step {self._steps + run.bad - lead} (the first is 0) has no noise and "
                "is not what those before it determine: its probability is zero. Give R= some noise."
            )
        assert run.filtered_covariance is not None
        every = (run.log, run.filtered, run.filtered_covariance.distinct)
        if not all(np.isfinite(each).all() for each in every):
            raise InvalidArgument(
                "The series leaves the range of floating-point numbers: the system is unstable, or the "
                "values are too large. Choose other units."
            )
        assert run.predicted_covariance is not None
        table = _later(run.filtered_covariance, lead)
        made = Filtered(
            self._system.states,
            run.filtered[lead:],
            table,
            run.predicted[lead:],
            _later(run.predicted_covariance, lead),
            run.log[lead:],
            output,
            given.y[0],
            steps,
            _REPORT,
        )
        last_input = None if window.inputs is None else window.inputs[0][-1:]
        self._last = _Step(carried, last_input, None if window.times is None else window.times[0][-1:])
        self._steps += len(given.y[0])
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
        >>> stream = pgm.LinearDynamicalSystem(A=0.5, C=1.0, Q=0.75, R=1.0).stream()
        >>> _ = stream.push(1.0)
        >>> stream.forecast(2).mean[:, 0].tolist()
        [0.25, 0.125]
        """
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
        check_steps(int(steps))
        p = self._system._p
        nothing = np.full((int(steps), p.m) if p.m > 1 else int(steps), np.nan)
        given = read(
            p, nothing, _as_rows(inputs, p.n_inputs), None if times is None else np.atleast_1d(times)
        )
        run, _, lead, output, ahead, _ = self._run(given)
        assert run.filtered_covariance is not None
        table = _later(run.filtered_covariance, lead)
        so_far, seen = np.array([self._log]), np.empty((0, p.m))  # observations are not kept
        path = run.filtered[lead:]
        return Forecast(self._system.states, path, table, so_far, output, seen, ahead, _REPORT)

    def copy(self) -> LinearStream:
        """Return an independent copy, which goes on from here."""
        return copy.copy(self)

    def __repr__(self) -> str:
        """The steps and the log-likelihood so far."""
        return f"stream of a linear dynamical system: {self._steps:,} steps, log-likelihood {self._log:.6f}"

    def _repr_html_(self) -> str:
        return html_text(repr(self))

    def _run(self, given: Given) -> tuple[kalman.Run, kalman.Carried, int, Output, np.ndarray, Given]:
        """Run over more steps, after the last one, which is repeated without its observation."""
        p, last, count = self._system._p, self._last, len(given.y[0])
        y, inputs, times = given.y[0], given.inputs, given.times
        if p.varying and not p.timed:
            schedule(p, self._steps + count)  # raises where there are not enough matrices
        if last is not None:
            y = np.concatenate([np.full((1, p.m), np.nan), y])
            if inputs is not None and last.inputs is not None:
                inputs = [np.concatenate([last.inputs, inputs[0]])]
            if times is not None and last.time is not None:
                if times[0][0] <= last.time[0]:
                    raise InvalidArgument(
                        f"times= do not increase: the last step was at {last.time[0]:.6g}, and the next is "
                        f"at {times[0][0]:.6g}."
                    )
                times = [np.concatenate([last.time, times[0]])]
        lead = int(last is not None)
        window = Given([y], inputs, times, given.data)
        question = prepared(_since(p, self._steps - lead), window)
        own, shift = question.schedules[0], question.shifts[0]
        before = None if last is None else last.carried
        run, carried = kalman.run_on(own, question.series[0], before, start_clock())
        names = self._system.observations
        output = Output(names, own.C, own.R, own.look[lead:], None if shift is None else shift[lead:])
        steps = question.steps[0][lead:] + (0 if p.timed else self._steps - lead)
        return run, carried, lead, output, steps, window


def _since(p: Parameters, step: int) -> Parameters:
    """The same parameters from this step on."""
    own: dict[str, Any] = {name: getattr(p, name) for name in ("A", "Q", "C", "R")}
    changing: dict[str, Any] = {
        name: value[step:] for name, value in own.items() if isinstance(value, np.ndarray) and value.ndim == 3
    }
    return replace(p, **changing) if step and changing else p


def _later(table: Matrices, lead: int) -> Matrices:
    return Matrices(table.distinct, table.at[lead:], table.wide)


def _as_rows(value: Any, width: int) -> Any:
    """Rows of observations or inputs; one by itself becomes a list of one."""
    if value is None:
        return None
    if np.isscalar(value) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return [value]
    flat = isinstance(value, list | tuple | np.ndarray) and all(x is None or np.isscalar(x) for x in value)
    return [value] if width > 1 and flat and len(value) else value


guard_methods([LinearStream])
