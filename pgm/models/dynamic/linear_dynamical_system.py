"""Linear dynamical systems: a hidden state moves linearly with Gaussian noise and is observed with noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidArgument, shown
from pgm.inference.engines import kalman
from pgm.printing import Tabular
from pgm.randomness import draw_count, generator
from pgm.results import (
    Filtered,
    FitReport,
    Forecast,
    Matrices,
    Output,
    PerSequence,
    Report,
    SampledSeries,
    Smoothed,
)
from pgm.runtime.clock import Clock, start_clock

from . import linear_learning, linear_network
from .checks import check_by, check_steps, scores_by
from .linear_parameters import covariance as covariance_of
from .linear_parameters import matrix, names_of, numbers, plural, symmetric, vector
from .linear_questions import Parameters, Question, asked
from .linear_stream import LinearStream
from .linear_sums import parameters_of_sum

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models import BayesianNetwork

_REPORT = Report("kalman", exact=True)


class LinearDynamicalSystem(Tabular):
    """A linear Gaussian state-space model: linear dynamics and linear observations, both with normal noise.

    x[t+1] = A x[t] + B u[t] + b + N(0, Q) and y[t] = C x[t] + D u[t] + d + N(0, R), where u are inputs.
    Filter, smoother and log-likelihood are exact (Kalman 1960; Rauch, Tung & Striebel 1965), whichever
    entries are missing.

    Args:
        A: how a state leads to the next: a float or a matrix; one for each step (three axes); or a function
            of the gap between two times.
        C: how a state is observed: a float or a matrix, or one for each step.
        Q: the covariance of the noise of the state; as A, or a list of variances.
        R: the covariance of the noise of observations; as C, or a list of variances.
        mean: of the first state; left out, the stationary one, or 0 if `covariance` is given.
        covariance: of the first state; left out, the stationary one; "diffuse": infinite, exactly. An
            infinite variance on the diagonal makes one entry diffuse.
        B: what inputs add to the next state.
        D: what inputs add to observations.
        b: a constant added to the state in each step.
        d: a constant added to observations.
        states: names of the entries of a state.
        observations: names of the entries of an observation.

    Raises:
        InvalidArgument: sizes do not fit, a matrix is not a covariance, or there is no stationary start.

    >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    >>> round(lds.score([1.0, 0.5, -0.3, 1.2, 2.0]), 6)
    -7.346238
    """

    __slots__ = ("_fit_report", "_names", "_p", "_start")
    _p: Parameters
    _names: tuple[tuple[str, ...], tuple[str, ...]]
    _start: str  # "given", "stationary" or "diffuse", as asked for; "fitted"
    _fit_report: FitReport | None

    def __init__(
        self,
        A: Any,
        C: Any,
        Q: Any,
        R: Any,
        mean: Any = None,
        covariance: Any = None,
        *,
        B: Any = None,
        D: Any = None,
        b: Any = None,
        d: Any = None,
        states: Any = None,
        observations: Any = None,
    ) -> None:
        own_A = matrix("A", A, None, None, "")
        if isinstance(own_A, np.ndarray) and own_A.shape[-1] != own_A.shape[-2]:
            size = " x ".join(map(str, own_A.shape[-2:]))
            raise InvalidArgument(f"A= is {size}, but should be square: it leads from a state to the next.")
        own_C = matrix("C", C, None, None if callable(own_A) else own_A.shape[-1], _OF_STATE)
        if callable(own_C) or callable(R):
            raise InvalidArgument(
                "C= and R= are matrices, or one for each step; only A= and Q= may be functions."
            )
        m, n = own_C.shape[-2:]
        own_A = matrix("A", A, n, n, f"C= says that a state has {plural(n, 'dimension')}")
        own_Q = covariance_of("Q", Q, n, f"a state has {plural(n, 'dimension')}")
        own_R = covariance_of("R", R, m, f"an observation has {plural(m, 'dimension')}")
        assert isinstance(own_R, np.ndarray)
        if (callable(own_A) or callable(own_Q)) and any(
            isinstance(each, np.ndarray) and each.ndim == 3 for each in (own_A, own_Q)
        ):
            raise InvalidArgument("A= and Q= are functions of the gap, or matrices for each step, not both.")
        of_inputs = [
            None if each is None else matrix(name, each, size, None, f"{name} u is added to {what}")
            for name, each, size, what in (("B", B, n, "the state"), ("D", D, m, "observations"))
        ]
        if any(not isinstance(each, np.ndarray) or each.ndim == 3 for each in of_inputs if each is not None):
            raise InvalidArgument("B= and D= are the same in all steps: put what changes into inputs=.")
        own_B, own_D = (each if isinstance(each, np.ndarray) else None for each in of_inputs)
        widths = {each.shape[1] for each in (own_B, own_D) if each is not None}
        if len(widths) > 1:
            raise InvalidArgument(
                f"B= and D= take {' and '.join(map(str, sorted(widths)))} inputs: both take all."
            )
        own_b = None if b is None else vector("b", b, n, "they are added to the state")
        own_d = None if d is None else vector("d", d, m, "they are added to observations")
        parts = (own_A, own_C, own_Q, own_R, own_B, own_D, own_b, own_d)
        start, own_mean, own_covariance = _start(own_A, own_Q, own_b, mean, covariance, n)
        self._p = Parameters(*parts, own_mean, own_covariance, n, m, widths.pop() if widths else 0)
        self._start = start
        self._fit_report = None
        self._names = (names_of("states", states, n, "x"), names_of("observations", observations, m, "y"))

    # --- properties ---

    @property
    def A(self) -> Any:
        """How a state leads to the next."""
        return self._p.A

    @property
    def C(self) -> np.ndarray:
        """How a state is observed."""
        return self._p.C

    @property
    def Q(self) -> Any:
        """The covariance of the noise of the state."""
        return self._p.Q

    @property
    def R(self) -> np.ndarray:
        """The covariance of the noise of observations."""
        return self._p.R

    @property
    def B(self) -> np.ndarray | None:
        """What inputs add to the next state."""
        return self._p.B

    @property
    def D(self) -> np.ndarray | None:
        """What inputs add to observations."""
        return self._p.D

    @property
    def b(self) -> np.ndarray | None:
        """A constant added to the state in each step."""
        return self._p.b

    @property
    def d(self) -> np.ndarray | None:
        """A constant added to observations."""
        return self._p.d

    @property
    def mean(self) -> np.ndarray:
        """The mean of the first state."""
        return self._p.mean

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the first state; infinite on the diagonal where it is diffuse."""
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
        inputs: Any = None,
        times: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        by: str | None = None,
    ) -> Any:
        """Return the log density of what was observed; of several series, the sum.

        With a diffuse start it is the diffuse log-likelihood of Durbin & Koopman 2012, section 7.2.

        Args:
            data: a value or a row of values for each step, NaN or None where nothing was observed; or a list
                of such series, an array of three axes, or a data frame.
            inputs: a row for each step.
            times: the time of each step, where A or Q is a function of the gap.
            lengths: the number of steps of each series, if they are concatenated.
            sequence: the column of a data frame that says which series a row belongs to.
            by: "sequence" for an array with one entry for each series, "step" for the log density of each
                step given those before it; the total if left out.

        Raises:
            InvalidArgument: rows of the wrong width, a series without steps, inputs or times that do not fit.
            ImpossibleEvidence: an observation without noise is not what the state determines.

        >>> walk = LinearDynamicalSystem(A=1.0, C=1.0, Q=0.5, R=0.8, covariance="diffuse")
        >>> round(walk.score([1.0, None, 2.0]), 6)
        -2.50794
        """
        check_by(by)
        question = asked(self._p, data, inputs, times, lengths, sequence)
        shares = np.concatenate([run.log for run in self._runs(question)])
        return scores_by(by, shares, question.data.starts, question.lone, _REPORT)

    def filter(
        self, data: Any, *, inputs: Any = None, times: Any = None, lengths: Any = None, sequence: Any = None
    ) -> Any:
        """Return the state of each step given what was observed until then; for several series, one each.

        Args:
            data: as for `score`, as are the others.
            inputs: a row for each step.
            times: the time of each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, ImpossibleEvidence: as for `score`.

        >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> lds.filter([1.0, 0.5, -0.3])
        step  x         sd
        0     0.555556  0.666667
        1     0.5       0.643784
        2     0.066813  0.639322
        given what was observed until then; log-likelihood -3.999878
        """
        question = asked(self._p, data, inputs, times, lengths, sequence)
        found = []
        for i, run in enumerate(self._runs(question, covariances=True)):
            assert run.filtered_covariance is not None
            assert run.predicted_later is not None
            made = Filtered(
                self.states,
                run.filtered,
                run.filtered_covariance,
                run.predicted,
                run.predicted_later,
                run.log,
                self._output(question, i),
                question.y[i],
                question.steps[i],
                _REPORT,
            )
            found.append(made)
        return found[0] if question.lone else PerSequence(found, question.data.ids, _REPORT)

    def smooth(
        self, data: Any, *, inputs: Any = None, times: Any = None, lengths: Any = None, sequence: Any = None
    ) -> Any:
        """Return the state of each step given all observations; for several series, one each.

        Args:
            data: as for `score`, as are the others.
            inputs: a row for each step.
            times: the time of each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, ImpossibleEvidence: as for `score`.

        >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> lds.smooth([1.0, 0.5, -0.3, 1.2, 2.0]).mean[:, 0].round(6).tolist()
        [0.558805, 0.506987, 0.465653, 0.961197, 1.301586]
        """
        question = asked(self._p, data, inputs, times, lengths, sequence)
        found = []
        for i, run in enumerate(self._runs(question, smooth=True)):
            assert run.smoothed is not None
            assert run.smoothed_covariance is not None
            assert run.back is not None
            made = Smoothed(
                self.states,
                run.smoothed,
                run.smoothed_covariance,
                run.back if run.cross is None else run.cross,
                run.log,
                self._output(question, i),
                question.y[i],
                question.steps[i],
                _REPORT,
            )
            found.append(made)
        return found[0] if question.lone else PerSequence(found, question.data.ids, _REPORT)

    def forecast(
        self,
        data: Any,
        steps: int = 1,
        *,
        inputs: Any = None,
        times: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return states to come; `.predicted` is what will be observed. For several series, one each.

        Args:
            data: as for `score`.
            steps: how many.
            inputs: a row for each step, observed or to come.
            times: the time of each step, observed or to come.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, ImpossibleEvidence: as for `score`; or steps is not a whole number of at least 1.

        >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> lds.forecast([1.0, 0.5, -0.3, 1.2, 2.0], steps=2)
        step  x         sd
        5     1.17143   0.911042
        6     1.05428   1.08273
        what will be observed: .predicted, with standard deviations up to 1.40439 at the end
        """
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
        check_steps(int(steps))
        question = asked(self._p, data, inputs, times, lengths, sequence, int(steps))
        found = []
        for i, run in enumerate(self._runs(question, covariances=True)):
            assert run.filtered_covariance is not None
            distinct, at, wide = run.filtered_covariance
            names, C, R, look, shift = self._output(question, i)
            output = Output(names, C, R, look[-steps:], None if shift is None else shift[-steps:])
            made = Forecast(
                self.states,
                run.filtered[-steps:],
                Matrices(distinct, at[-steps:], wide),
                run.log[:-steps],
                output,
                question.y[i][:-steps],
                question.steps[i][-steps:],
                _REPORT,
            )
            found.append(made)
        return found[0] if question.lone else PerSequence(found, question.data.ids, _REPORT)

    def stream(self) -> LinearStream:
        """Return a filter that takes observations as they come, one or several at a time, in constant memory.

        >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> stream = lds.stream()
        >>> for y in [1.0, 0.5, -0.3]:
        ...     now = stream.push(y)
        >>> now.mean.round(6).tolist(), round(stream.log_likelihood, 6)
        ([[0.066813]], -3.999878)
        """
        return LinearStream(self)

    def sample(
        self,
        n: int,
        *,
        sequences: int | None = None,
        given: Any = None,
        inputs: Any = None,
        times: Any = None,
        seed: int | np.random.Generator | None = None,
    ) -> SampledSeries | Any:
        """Draw a series of n steps, its `.states` and `.observations`; or, given one, from the posterior.

        Args:
            n: how many steps; with `given`, how many draws.
            sequences: how many series, each of n steps, as a list; one by itself if left out.
            given: a series: its states are drawn, jointly in all steps, and its missing observations.
            inputs: a row for each step, the same for all series.
            times: the time of each step.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: the start is diffuse: there is nothing to draw it from, or what is given does not
                determine it; there is no step; the system is unstable and leaves the range of floats.
            ImpossibleEvidence: an observation without noise is not what the state determines.

        >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8)
        >>> drawn = lds.sample(100, seed=0)
        >>> drawn.states.shape, drawn.observations.shape
        ((100, 1), (100,))
        >>> [one.observations.round(2).tolist() for one in lds.sample(2, given=[1.0, None, -0.3], seed=0)]
        [[1.0, 1.46, -0.3], [1.0, 1.6, -0.3]]
        """
        if given is not None:
            if sequences is not None:
                raise InvalidArgument("With given=, n is how many series are drawn: leave out sequences=.")
            return self._drawn_given(draw_count(n), given, inputs, times, generator(seed))
        size, many = draw_count(n), 1 if sequences is None else draw_count(sequences)
        if size < 1 or many < 1:
            raise InvalidArgument("A series has at least one step.")
        check_steps(size, many)
        if np.isinf(self.covariance).any():
            raise InvalidArgument(
                "The start is diffuse, infinitely wide: nothing can be drawn from it. Give mean= and "
                "covariance=."
            )
        nothing = np.full((size, self._p.m) if self._p.m > 1 else size, np.nan)
        question = asked(self._p, nothing, inputs, times, None, None)
        one, steps = question.series[0], question.steps[0]
        with np.errstate(over="ignore", invalid="ignore"):
            x, y = kalman.simulated(
                question.schedules[0], one.pushes, question.shifts[0], many, generator(seed)
            )
        lost = ~np.isfinite(x).all(axis=(0, 2))
        if lost.any():
            raise InvalidArgument(
                f"The states leave the range of floating-point numbers at step {int(lost.argmax())}: the "
                "system is unstable."
            )
        y = y if self._p.m > 1 else y[:, :, 0]
        drawn = [
            SampledSeries(self.states, x[i], self.observations, y[i], steps, _REPORT) for i in range(many)
        ]
        return drawn[0] if sequences is None else PerSequence(drawn, report=_REPORT)

    def _drawn_given(
        self, many: int, given: Any, inputs: Any, times: Any, random: np.random.Generator
    ) -> PerSequence[SampledSeries]:
        if many < 1:
            raise InvalidArgument("n is how many series are drawn: at least 1, not 0.")
        question, clock = asked(self._p, given, inputs, times, None, None), start_clock()
        if not question.lone:
            raise InvalidArgument("given= is one series.")
        one, schedule, shift = question.series[0], question.schedules[0], question.shifts[0]
        check_steps(len(one.y), many * max(self._p.n, self._p.m))
        known = self._runs(question, smooth=True, clock=clock)[0]
        assert known.smoothed is not None
        assert known.smoothed_covariance is not None
        wide = known.smoothed_covariance.wide
        if wide is not None and wide.any():
            raise InvalidArgument(
                "The start is diffuse, and what is given does not determine it: the states are spread "
                "infinitely wide. Give mean= and covariance=, or more observations."
            )
        try:
            x, off = kalman.drawn_off(schedule, ~np.isnan(one.y), many, random, clock)
        except kalman.TooFar:
            raise InvalidArgument(
                "The system is unstable: it grows so far in these steps that rounding would spoil the draws. "
                "Draw given fewer steps."
            ) from None
        x += known.smoothed
        y = kalman.filled(schedule, one.y, x, off)
        y = y if shift is None else y + shift
        y = np.where(np.isnan(question.y[0]), y, question.y[0])
        y = y if self._p.m > 1 else y[:, :, 0]
        return PerSequence(
            [
                SampledSeries(self.states, a, self.observations, b, question.steps[0], _REPORT)
                for a, b in zip(x, y, strict=True)
            ],
            report=_REPORT,
        )

    def fit(
        self,
        data: Any,
        *,
        inputs: Any = None,
        times: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        weights: Any = None,
        fixed: Any = (),
        prior: Any = None,
        starts: int = 1,
        method: str = "em",
        max_iter: int = 100,
        tol: float = 1e-6,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Learn the matrices by EM (Shumway & Stoffer 1982), starting from those given; returns the system.

        The log-likelihood never falls; `fit_report` has the details. The mean and covariance of the first
        state are learned as well, from the stationary ones if none are given; a diffuse start stays.

        Args:
            data: as for `score`, as are the others.
            inputs: a row for each step.
            times: the time of each step, where A or Q is a function of the gap.
            lengths: the number of steps of each series.
            sequence: the column that names series.
            weights: how much each series counts; 1 if left out.
            fixed: what stays: names such as ["A", "R"], or a dict from these to arrays of booleans, true
                where an entry stays. The free entries of a covariance are blocks, such as its diagonal; a
                variance of zero stays. What changes from step to step must stay, with all of its equation.
            prior: how many steps the current parameters count for, one for all parts or a dict by name: as
                if that many more steps had been observed with this noise, or with these coefficients.
            starts: how many runs of EM, all but the first from parameters near those given; the best is kept.
            method: "em"; or "squarem", which extrapolates (Varadhan & Roland 2008) where steps are many.
            max_iter: the largest number of steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.
            seed: for the random starts.

        Raises:
            InvalidArgument: matrices change and are not fixed; an option is out of range; noise collapses.

        >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> found = lds.fit([1.0, 0.5, -0.3, 1.2, 2.0], max_iter=1)
        >>> float(found.A[0, 0].round(6)), [round(log, 6) for log in found.fit_report.log_likelihoods]
        (0.9478, [-7.346238, -6.537988])
        """
        fitting = linear_learning.LinearLearning(
            self,
            data,
            inputs,
            lengths,
            sequence,
            fixed,
            times=times,
            weights=weights,
            prior=prior,
            method=method,
        )
        self._p, self._fit_report = fitting.run(starts, max_iter, tol, generator(seed))
        if self._start == "stationary":
            self._start = "fitted"
        return self

    @property
    def fit_report(self) -> FitReport | None:
        """How the last fit went; None: the matrices are as given."""
        return self._fit_report

    @property
    def n_parameters(self) -> int:
        """How many parameters `fit` would learn; those of matrices that change are given."""
        return linear_learning.n_parameters(self._p)

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: variables x[0], y[0], x[1], ...

        Args:
            steps: how many.

        Raises:
            InvalidArgument: the start is diffuse, or there are inputs, or matrices depend on times.

        >>> lds = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> net = lds.to_network(2)
        >>> round(net.query("x[1]", {"y[0]": 1.0, "y[1]": 0.5}).mean, 6)
        0.5
        """
        return linear_network.of(self, steps)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw a step and the one before, an arrow for each nonzero entry of A, B, C, D; returns the Axes.

        Correlated noise is not drawn; where A is a function, it is that of a gap of 1.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the drawing needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.network(linear_network.picture(self), ax=ax, figsize=figsize, title=title)

    # --- internals ---

    def _runs(
        self,
        question: Question,
        *,
        covariances: bool = False,
        smooth: bool = False,
        clock: Clock | None = None,
    ) -> list[kalman.Run]:
        runs = kalman.run(
            question.schedules, question.series, covariances=covariances, smooth=smooth, clock=clock
        )
        for i, run in enumerate(runs):
            if run.bad >= 0:
                where = question.data.place(int(question.data.starts[i]) + run.bad)
                raise ImpossibleEvidence(
                    f"The observation of {where} has no noise and is not what those before it determine: its "
                    "probability is zero. Give R= some noise."
                )
            if run.finite:
                continue
            finite = np.isfinite(run.log) & np.isfinite(run.filtered).all(axis=1)
            table = run.filtered_covariance
            if table is not None:
                finite &= np.isfinite(table.distinct).all(axis=(1, 2))[table.at]
            where = "" if finite.all() else f" at step {int(finite.argmin())}"
            if where or (smooth and not np.isfinite(run.smoothed_covariance.distinct).all()):  # type: ignore[union-attr]
                raise InvalidArgument(
                    f"{question.data.title(i)} leaves the range of floating-point numbers{where}: the system "
                    "is unstable, or the values are too large. Choose other units."
                )
        return runs

    def _output(self, question: Question, i: int) -> Output:
        own = question.schedules[i]
        return Output(self.observations, own.C, own.R, own.look, question.shifts[i])

    # --- as a value ---

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        raise AttributeError(f".{name} cannot be set: only fit changes a linear dynamical system")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearDynamicalSystem):
            return NotImplemented
        mine, theirs = vars(self._p), vars(other._p)
        return self._names == other._names and all(
            value is theirs[name]
            or (not callable(value) and not callable(theirs[name]) and np.array_equal(value, theirs[name]))
            for name, value in mine.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: object) -> LinearDynamicalSystem:
        """The sum of both: of their signals, and of their noise; see `pgm.components`."""
        if not isinstance(other, LinearDynamicalSystem):
            return NotImplemented
        return LinearDynamicalSystem(**parameters_of_sum(self, other))

    def copy(self) -> LinearDynamicalSystem:
        """Return an independent copy."""
        made = LinearDynamicalSystem.__new__(LinearDynamicalSystem)
        made._p, made._names, made._start = self._p, self._names, self._start
        made._fit_report = self._fit_report
        return made

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        p = self._p
        rows = []
        for name in ("A", "C", "Q", "R", "B", "D", "b", "d", "mean", "covariance"):
            value = getattr(p, name)
            if value is not None:
                rows.append([name, _printed(value)])
        count = f"{plural(p.n, 'state')}, {p.m} observed"
        count += f", {plural(p.n_inputs, 'input')}" if p.n_inputs else ""
        return ["Linear dynamical system", count], rows, f"start: {self._start}"


_OF_STATE = "a row of C= has an entry for each entry of a state, as A= has"


def _start(
    A: Any, Q: Any, b: np.ndarray | None, mean: Any, covariance: Any, n: int
) -> tuple[str, np.ndarray, np.ndarray]:
    """What kind of start it is, and its mean and covariance."""
    for name, value, words in (
        ("mean", mean, ("stationary",)),
        ("covariance", covariance, ("stationary", "diffuse")),
    ):
        if isinstance(value, str) and value not in words:
            raise InvalidArgument(
                f"{name}= takes numbers or {' or '.join(map(repr, words))}, not {shown(value)}."
            )
    why = f"a state has {plural(n, 'dimension')}"
    if isinstance(covariance, str) and covariance == "diffuse":
        if isinstance(mean, str):
            raise InvalidArgument('mean="stationary" and covariance="diffuse" cannot be combined.')
        kind, own = "diffuse", np.diag(np.full(n, np.inf))
    elif covariance is None or isinstance(covariance, str):
        kind, own = "stationary", None
    else:
        own = _first(covariance, n, why)
        kind = "diffuse" if np.isinf(np.diagonal(own)).all() else "given"
    if own is not None and not isinstance(mean, str):
        return kind, np.zeros(n) if mean is None else vector("mean", mean, n, why), own
    if callable(A) or callable(Q) or A.ndim == 3 or Q.ndim == 3:
        raise InvalidArgument(
            "A= or Q= changes from step to step, so there is no stationary start: give mean= and "
            'covariance=, or covariance="diffuse".'
        )
    found = kalman.stationary(A, Q, np.zeros(n) if b is None else b)
    if found is None:
        size = float(np.abs(np.linalg.eigvals(A)).max())
        raise InvalidArgument(
            f"A= has an eigenvalue of size {size:.6g}, so there is no stationary start: give mean= and "
            'covariance= of the first state, or covariance="diffuse".'
        )
    given = mean is not None and not isinstance(mean, str)
    return kind, vector("mean", mean, n, why) if given else found[0], found[1] if own is None else own


def _first(value: Any, n: int, why: str) -> np.ndarray:
    """The covariance of the first state, which may have infinite variances."""
    found = numbers("covariance", value, infinite=True)
    found = np.diag(np.full(n, found)) if found.ndim == 0 else np.diag(found) if found.ndim == 1 else found
    if found.shape != (n, n):
        raise InvalidArgument(f"covariance= has shape {found.shape}, but should be {n} x {n}: {why}.")
    wide = np.diagonal(found) == np.inf
    known = found.copy()
    known[wide, wide] = 0.0
    if not np.isfinite(known).all() or known[wide].any() or known[:, wide].any():
        raise InvalidArgument(
            "covariance= has infinite entries: only variances may be, and then their covariances are zero."
        )
    known = symmetric("covariance", known)
    known[wide, wide] = np.inf
    return known


def _printed(value: Any) -> str:
    if callable(value):
        return "a function of the gap between two times"
    if value.ndim == 3:
        return f"{len(value):,} matrices of {value.shape[1]} x {value.shape[2]}, one for each step"
    if value.size > 16:
        return f"a matrix of {' x '.join(map(str, value.shape))}"
    rows = value if value.ndim == 2 else value[None]
    return "; ".join(" ".join(f"{x:.6g}" for x in row) for row in rows.tolist())
