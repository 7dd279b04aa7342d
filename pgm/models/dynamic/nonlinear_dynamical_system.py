"""Nonlinear dynamical systems: functions move the hidden state and observe it, with Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.printing import Tabular
from pgm.randomness import draw_count, generator
from pgm.results import PerSequence, Report, SampledSeries

from . import nonlinear_answers as answers
from .checks import check_by, check_steps, scores_by
from .filters import filter_of
from .linear_parameters import names_of, plural
from .linear_questions import read
from .nonlinear_parameters import Noise, Parameters, at, checked, periods_of, root_of
from .nonlinear_stream import NonlinearStream

_DRAWN = Report("forward", exact=True)


class NonlinearDynamicalSystem(Tabular):
    """A nonlinear state-space model: dynamics and observations are functions, both with normal noise.

    x[t+1] = f(x[t]) + N(0, Q) and y[t] = h(x[t]) + N(0, R). No filter of it is exact: questions name one by
    `engine=`: "extended", "unscented" or "particles", or an object from `pgm.filters` with options.

    Functions take a state, an array of its n values, and return an array, a list or a float. They are also
    called with many states at once, as columns: functions that allow for it, such as
    `lambda x: numpy.sin(x[0])`, are quick; others are called for one state at a time. Functions may have
    more parameters, by these names: `u`, the input of the step; `t`, its index, or its time where times are
    given; and for f `gap`, the time to the next step.

    Args:
        f: the next state, given a state.
        h: the observation, given a state.
        Q: the covariance of the noise of the state: a float, a list of variances, a matrix, one for each
            step (three axes), or a function of the gap between two times.
        R: the covariance of the noise of observations, or one for each step.
        mean: of the first state.
        covariance: of the first state.
        F: the derivatives of f, a matrix; if left out, "extended" takes finite differences.
        H: the derivatives of h.
        periods: the periods of angles and the like, by name: {"bearing": 2 * numpy.pi}.
        n_inputs: how many values an input has, where f or h take `u`; 1 if left out.
        states: names of the entries of a state.
        observations: names of the entries of an observation.

    Raises:
        InvalidArgument: sizes do not fit, a matrix is not a covariance, a function has other parameters.

    >>> growth = NonlinearDynamicalSystem(
    ...     lambda x: x / 2 + 25 * x / (1 + x**2), lambda x: x**2 / 20, Q=10.0, R=1.0, mean=0, covariance=5.0
    ... )
    >>> found = growth.filter([3.0, 8.0, None], engine="unscented")
    >>> found.mean.shape, found.exact
    ((3, 1), False)
    """

    __slots__ = ("_names", "_p")
    _p: Parameters
    _names: tuple[tuple[str, ...], tuple[str, ...]]

    def __init__(
        self,
        f: Callable[..., Any],
        h: Callable[..., Any],
        Q: Any,
        R: Any,
        mean: Any,
        covariance: Any,
        *,
        F: Callable[..., Any] | None = None,
        H: Callable[..., Any] | None = None,
        periods: Any = None,
        n_inputs: int | None = None,
        states: Any = None,
        observations: Any = None,
    ) -> None:
        made = checked(f, h, Q, R, mean, covariance, F, H, n_inputs, observations)
        n, m = made["mean"].size, made["R"].shape[-1]
        self._names = (names_of("states", states, n, "x"), names_of("observations", observations, m, "y"))
        own, seen = periods_of(periods, *self._names)
        self._p = Parameters(**made, periods=own, periods_seen=seen)

    # --- properties ---

    @property
    def f(self) -> Callable[..., Any]:
        """The function from a state to the next."""
        return self._p.f

    @property
    def h(self) -> Callable[..., Any]:
        """The function from a state to its observation."""
        return self._p.h

    @property
    def Q(self) -> Any:
        """The covariance of the noise of the state."""
        return self._p.Q

    @property
    def R(self) -> np.ndarray:
        """The covariance of the noise of observations."""
        return self._p.R

    @property
    def mean(self) -> np.ndarray:
        """The mean of the first state."""
        return self._p.mean

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the first state."""
        return self._p.covariance

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the entries of a state."""
        return self._names[0]

    @property
    def observations(self) -> tuple[str, ...]:
        """The names of the entries of an observation."""
        return self._names[1]

    # --- questions ---

    def score(
        self,
        data: Any,
        *,
        engine: Any = None,
        inputs: Any = None,
        times: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        by: str | None = None,
    ) -> Any:
        """Return the log density of what was observed, approximately; of several series, the sum.

        Args:
            data: a value or a row of values for each step, NaN or None where nothing was observed; or a list
                of such series, an array of three axes, or a data frame.
            engine: "extended", "unscented", "particles", or an object from `pgm.filters`.
            inputs: a row for each step.
            times: the time of each step, where f or Q depends on the gap.
            lengths: the number of steps of each series, if they are concatenated.
            sequence: the column of a data frame that says which series a row belongs to.
            by: "sequence" for an array with one entry for each series, "step" for the log density of each
                step given those before it; the total if left out.

        Raises:
            InvalidArgument: no engine is named, rows have the wrong width, a function returns something that
                is not a number.
            ImpossibleEvidence: an observation has no noise.

        >>> walk = NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> round(walk.score([1.0, None, 2.0], engine="extended"), 6)
        -3.278574
        """
        check_by(by)
        how = filter_of(engine)
        given = read(self._p, data, inputs, times, lengths, sequence)
        runs = answers.answered(self._p, given, how)
        report = runs[0].report if given.data.lone else Report(how.name, exact=False)
        shares = np.concatenate([run.log for run in runs])
        return scores_by(by, shares, given.data.starts, given.data.lone, report)

    def filter(
        self,
        data: Any,
        *,
        engine: Any = None,
        inputs: Any = None,
        times: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return the state of each step given what was observed until then; for several series, one each.

        Args:
            data: as for `score`, as are the others.
            engine: "extended", "unscented", "particles", or an object from `pgm.filters`.
            inputs: a row for each step.
            times: the time of each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, ImpossibleEvidence: as for `score`.

        >>> walk = NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> walk.filter([1.0, 0.5], engine="unscented")
        step  x         sd
        0     0.555556  0.666667
        1     0.525478  0.658119
        APPROXIMATE (unscented): error not measured
        given what was observed until then; log-likelihood -2.688651
        """
        return self._each(answers.filtered, data, engine, inputs, times, lengths, sequence)

    def smooth(
        self,
        data: Any,
        *,
        engine: Any = None,
        inputs: Any = None,
        times: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return the state of each step given all observations; for several series, one each.

        "particles" samples paths backwards through the filter; `.paths` has them.

        Args:
            data: as for `score`, as are the others.
            engine: "extended", "unscented", "particles", or an object from `pgm.filters`.
            inputs: a row for each step.
            times: the time of each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, ImpossibleEvidence: as for `score`.
            TooLarge: the particles of all steps do not fit into the memory limit.

        >>> walk = NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> walk.smooth([1.0, 0.5], engine="extended").mean.round(6).tolist()
        [[0.541401], [0.525478]]
        """
        return self._each(answers.smoothed, data, engine, inputs, times, lengths, sequence, smooth=True)

    def forecast(
        self,
        data: Any,
        steps: int = 1,
        *,
        engine: Any = None,
        inputs: Any = None,
        times: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return states to come; `.predicted` is what will be observed. For several series, one each.

        Args:
            data: as for `score`.
            steps: how many.
            engine: "extended", "unscented", "particles", or an object from `pgm.filters`.
            inputs: a row for each step, observed or to come.
            times: the time of each step, observed or to come.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, ImpossibleEvidence: as for `score`; or steps is not a whole number of at least 1.

        >>> walk = NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> walk.forecast([1.0, 0.5], steps=2, engine="unscented").predicted.std.round(6).tolist()
        [[1.316481], [1.494363]]
        """
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
        check_steps(int(steps))
        return self._each(answers.forecast, data, engine, inputs, times, lengths, sequence, more=int(steps))

    def stream(self, *, engine: Any = None) -> NonlinearStream:
        """Return a filter that takes observations as they come, one or several at a time, in constant memory.

        Args:
            engine: "extended", "unscented", "particles", or an object from `pgm.filters`.

        Raises:
            InvalidArgument: no engine is named.

        >>> walk = NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> stream = walk.stream(engine="extended")
        >>> for y in [1.0, 0.5]:
        ...     now = stream.push(y)
        >>> now.mean.round(6).tolist()
        [[0.525478]]
        """
        return NonlinearStream(self._p, self._names, filter_of(engine))

    def sample(
        self,
        n: int,
        *,
        sequences: int | None = None,
        inputs: Any = None,
        times: Any = None,
        seed: int | np.random.Generator | None = None,
    ) -> SampledSeries | Any:
        """Draw a series of n steps: its `.states` and `.observations`.

        Args:
            n: how many steps.
            sequences: how many series, each of n steps, as a list; one by itself if left out.
            inputs: a row for each step, the same for all series.
            times: the time of each step.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: there is no step; a function does not return finite floats.

        >>> walk = NonlinearDynamicalSystem(lambda x: x, lambda x: x, Q=0.5, R=0.8, mean=0, covariance=1)
        >>> walk.sample(100, seed=0).observations.shape
        (100,)
        """
        p = self._p
        T, many = draw_count(n), 1 if sequences is None else draw_count(sequences)
        if T < 1 or many < 1:
            raise InvalidArgument("A series has at least one step.")
        check_steps(T, many)
        nothing = np.full((T, p.m) if p.m > 1 else T, np.nan)
        given = read(p, nothing, inputs, times)
        u = None if given.inputs is None else given.inputs[0]
        when = None if given.times is None else given.times[0]
        model, noise, rng = p.model(), Noise(p, T), generator(seed)
        x = p.mean[:, None] + model.root @ rng.standard_normal((p.n, many))
        states, seen = np.empty((many, T, p.n)), np.empty((many, T, p.m))
        for t in range(T):
            if t:
                move = at(t - 1, when, None if u is None else u[t - 1], moves=True)
                x = model.f(x, move) + noise.move(t - 1, move.gap) @ rng.standard_normal((p.n, many))
            states[:, t] = x.T
            values = model.h(x, at(t, when, None if u is None else u[t]))
            seen[:, t] = (values + root_of(noise.look(t)) @ rng.standard_normal((p.m, many))).T
        y = seen if p.m > 1 else seen[:, :, 0]
        steps = np.arange(T) if when is None else when
        drawn = [
            SampledSeries(self.states, states[i], self.observations, y[i].copy(), steps, _DRAWN)
            for i in range(many)
        ]
        return drawn[0] if sequences is None else PerSequence(drawn, report=_DRAWN)

    # --- internals ---

    def _each(
        self,
        make: Any,
        data: Any,
        engine: Any,
        inputs: Any,
        times: Any,
        lengths: Any,
        sequence: Any,
        *,
        smooth: bool = False,
        more: int = 0,
    ) -> Any:
        how = filter_of(engine)
        given = read(self._p, data, inputs, times, lengths, sequence, more)
        found = []
        for i, run in enumerate(answers.answered(self._p, given, how, smooth=smooth)):
            steps = np.arange(len(given.y[i])) if given.times is None else given.times[i]
            args = (self._p, self._names, run, given.y[i], steps)
            found.append(make(*args, more) if more else make(*args))
        return (
            found[0] if given.data.lone else PerSequence(found, given.data.ids, Report(how.name, exact=False))
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        raise AttributeError(f".{name} cannot be set: a nonlinear dynamical system does not change")

    def __eq__(self, other: object) -> bool:
        """Equal when the functions are the same and the parameters equal."""
        if not isinstance(other, NonlinearDynamicalSystem):
            return NotImplemented
        mine, theirs = vars(self._p), vars(other._p)
        return self._names == other._names and all(
            np.array_equal(value, theirs[name]) if isinstance(value, np.ndarray) else value == theirs[name]
            for name, value in mine.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        from .linear_dynamical_system import _printed

        p = self._p
        rows = [[name, _called(getattr(p, name))] for name in ("f", "h")]
        for name in ("F", "H"):
            function = getattr(p, name)
            rows.append([name, "by differences" if function is None else _called(function)])
        rows += [[name, _printed(getattr(p, name))] for name in ("Q", "R", "mean", "covariance")]
        for names, periods in ((self.states, p.periods), (self.observations, p.periods_seen)):
            around = [
                f"{name}: {period:.6g}"
                for name, period in zip(names, periods, strict=True)
                if period < np.inf
            ]
            if around:
                rows.append(["periods", ", ".join(around)])
        count = f"{plural(p.n, 'state')}, {p.m} observed"
        count += f", {plural(p.n_inputs, 'input')}" if p.n_inputs else ""
        return (
            ["Nonlinear dynamical system", count],
            rows,
            'no filter is exact: engine="extended", "unscented" or "particles"',
        )


def _called(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "a function" if name == "<lambda>" else str(name)
