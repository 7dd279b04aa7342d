"""Switching linear systems: a Markov chain of regimes, each with its own linear dynamics."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.inference.engines import switching as engine
from pgm.inference.engines.kalman.schedule import factored
from pgm.printing import Tabular, label
from pgm.randomness import draw_count, generator
from pgm.results import (
    FitReport,
    Matrices,
    PerSequence,
    Report,
    SampledRegimes,
    Seen,
    StateBeliefs,
    StatePath,
    SwitchingFiltered,
    SwitchingForecast,
    SwitchingSmoothed,
)
from pgm.variables import Variable

from . import linear_network, switching_learning
from . import switching_answers as answers
from .checks import check_by, check_steps, distribution, domain_of, scores_by, transitions
from .linear_dynamical_system import LinearDynamicalSystem
from .linear_questions import Given, added, read
from .markov_chain import MarkovChain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models import BayesianNetwork

_DRAWN = Report("forward", exact=True)


class SwitchingLinearDynamicalSystem(Tabular):
    """Switching linear systems: a hidden regime, a Markov chain, selects the system that moves the state.

    In step t the regime s[t] says which system leads from x[t-1] to x[t], and how x[t] is observed; the first
    state is that of the first regime's system. Given the path of regimes all is linear: "exact" follows every
    path, as "auto" does while they are few. Where they are many, name an engine that approximates: "gpb2",
    "imm" and "gpb1" merge Gaussians in every step, and "rao-blackwellised" follows some paths and estimates
    its error.

    Args:
        initial: the probabilities of the regimes in the first step; a list, or a dict by regime.
        transition: for each regime the probabilities of the next one: rows are "from".
        systems: a dict from regimes to `LinearDynamicalSystem`, or a list of these. They have states and
            observations of one size, and matrices that are the same in all steps.

    Raises:
        InvalidArgument: systems that do not fit together, a diffuse start.
        InvalidTable: probabilities are negative, or do not sum to one.

    >>> calm = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.1, R=0.8, mean=0.0, covariance=1.0)
    >>> wild = LinearDynamicalSystem(A=-0.5, C=1.0, Q=1.0, R=0.8, mean=0.0, covariance=1.0)
    >>> both = SwitchingLinearDynamicalSystem(
    ...     [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], {"calm": calm, "wild": wild}
    ... )
    >>> round(both.score([1.0, 0.5, -0.3, 1.2, 2.0]), 6)
    -7.655903
    """

    __slots__ = ("_fit_report", "_initial", "_regimes", "_systems", "_transition", "variable")
    variable: Variable
    _systems: tuple[LinearDynamicalSystem, ...]
    _initial: np.ndarray
    _transition: np.ndarray
    _regimes: engine.Regimes
    _fit_report: FitReport | None

    def __init__(self, initial: Any, transition: Any, systems: Any) -> None:
        if isinstance(systems, Mapping):
            names, own = list(systems), list(systems.values())
        elif isinstance(systems, Sequence) and not isinstance(systems, str):
            names, own = None, list(systems)
        else:
            raise InvalidArgument(
                f"systems= is a dict from regimes to systems, or a list of these, not {shown(systems)}."
            )
        if not own or not all(isinstance(each, LinearDynamicalSystem) for each in own):
            bad = next((each for each in own if not isinstance(each, LinearDynamicalSystem)), own)
            raise InvalidArgument(f"systems= are each a pgm.LinearDynamicalSystem, not {shown(bad)}.")
        domain = domain_of(names, None, {"systems=": len(own)}, transition)
        variable = Variable.of("regime", domain)
        put = object.__setattr__
        put(self, "variable", variable)
        put(self, "_initial", distribution(initial, variable, "initial="))
        put(self, "_transition", transitions(transition, variable))
        put(self, "_systems", tuple(each.copy() for each in own))
        put(self, "_regimes", _checked(variable.states, own, self._initial, self._transition))
        put(self, "_fit_report", None)

    # --- properties ---

    @property
    def regimes(self) -> tuple[Any, ...]:
        """The regimes, in order."""
        return self.variable.states

    @property
    def systems(self) -> dict[Any, LinearDynamicalSystem]:
        """The linear system of each regime."""
        return {name: each.copy() for name, each in zip(self.regimes, self._systems, strict=True)}

    @property
    def initial(self) -> np.ndarray:
        """The probabilities of the regimes in the first step."""
        return self._initial

    @property
    def transition(self) -> np.ndarray:
        """P(next regime | regime): rows are "from"."""
        return self._transition

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the entries of a state."""
        return self._systems[0].states

    @property
    def observations(self) -> tuple[str, ...]:
        """The names of the entries of an observation."""
        return self._systems[0].observations

    # --- questions ---

    def score(
        self,
        data: Any,
        *,
        engine: Any = "auto",
        inputs: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        by: str | None = None,
    ) -> Any:
        """Return the log density of what was observed; of several series, the sum.

        Args:
            data: a value or a row of values for each step, NaN or None where nothing was observed; or a list
                of such series, an array of three axes, or a data frame.
            engine: "auto", "exact", "gpb2", "imm", "gpb1", "rao-blackwellised", or a `pgm.filters` object.
            inputs: a row for each step.
            lengths: the number of steps of each series, if they are concatenated.
            sequence: the column of a data frame that says which series a row belongs to.
            by: "sequence" for an array with one entry for each series, "step" for the log density of each
                step given those before it; the total if left out.

        Raises:
            InvalidArgument: rows of the wrong width, a series without steps, inputs that do not fit.
            TooLarge: there are too many paths of regimes for an exact answer.
            ImpossibleEvidence: an observation has no noise.

        >>> still = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [still])
        >>> round(one.score([1.0, 0.5, -0.3, 1.2, 2.0]), 6)  # that of the system alone
        -7.346238
        """
        check_by(by)
        given, runs = self._asked(data, engine, inputs, lengths, sequence)
        report = next((run.report for run in runs if not run.report.exact), runs[0].report)
        shares = np.concatenate([run.log for run in runs])
        return scores_by(by, shares, given.data.starts, given.data.lone, report)

    def filter(
        self,
        data: Any,
        *,
        engine: Any = "auto",
        inputs: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return state and regime of each step given observations until then; for several series, one each.

        Args:
            data: as for `score`, as are the others.
            engine: "auto", "exact", "gpb2", "imm", "gpb1", "rao-blackwellised", or a `pgm.filters` object.
            inputs: a row for each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, TooLarge, ImpossibleEvidence: as for `score`.

        >>> still = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [still])
        >>> one.filter([1.0, 0.5]).mean.round(6).tolist()
        [[0.555556], [0.5]]
        """
        given, runs = self._asked(data, engine, inputs, lengths, sequence)
        found = []
        for row, run in zip(given.y, runs, strict=True):
            beliefs, mean, table, output = self._of(run.after, run, "filtered")
            before = np.array([one.mean for one in run.before])
            ahead = _matrices([one.covariance for one in run.before])
            found.append(
                SwitchingFiltered(
                    *(beliefs, self.states, mean, table, before, ahead, run.log.copy(), output, row),
                    *(np.arange(len(row)), run.report),
                )
            )
        return self._one(given, found, runs)

    def smooth(
        self,
        data: Any,
        *,
        engine: Any = "auto",
        inputs: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return state and regime of each step given all observations; for several series, one each.

        Args:
            data: as for `score`, as are the others.
            engine: "auto", "exact", "gpb2", "rao-blackwellised", or an object from `pgm.filters`.
            inputs: a row for each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, TooLarge, ImpossibleEvidence: as for `score`; or this engine cannot smooth.

        >>> still = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [still])
        >>> one.smooth([1.0, 0.5]).regimes.values.tolist()
        [[1.0], [1.0]]
        """
        given, runs = self._asked(data, engine, inputs, lengths, sequence, smooth=True)
        found = []
        for row, run in zip(given.y, runs, strict=True):
            assert run.smoothed is not None
            assert run.crosses is not None
            beliefs, mean, table, output = self._of(run.smoothed, run, "smoothed")
            n = mean.shape[1]
            cross = np.array(run.crosses).reshape(-1, n, n)
            cross.flags.writeable = False
            found.append(
                SwitchingSmoothed(
                    *(beliefs, self.states, mean, table, cross, run.log.copy(), output, row),
                    *(np.arange(len(row)), run.report),
                )
            )
        return self._one(given, found, runs)

    def forecast(
        self,
        data: Any,
        steps: int = 1,
        *,
        engine: Any = "auto",
        inputs: Any = None,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return states and regimes of steps to come; `.predicted` is what will be observed.

        Args:
            data: as for `score`.
            steps: how many.
            engine: "auto", "exact", "gpb2", "imm", "gpb1", "rao-blackwellised", or a `pgm.filters` object.
            inputs: a row for each step, observed or to come.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, TooLarge, ImpossibleEvidence: as for `score`; or steps is not a whole number of
                at least 1.

        >>> still = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [still])
        >>> one.forecast([1.0, 0.5], steps=2).predicted.mean.round(6).tolist()
        [[0.45], [0.405]]
        """
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
        more = int(steps)
        given, runs = self._asked(data, engine, inputs, lengths, sequence, more=more)
        found = []
        for row, run in zip(given.y, runs, strict=True):
            beliefs, mean, table, output = self._of(run.after[-more:], run, "forecast")
            T = len(row) - more
            seen, at = row[:-more], np.arange(T, T + more)
            found.append(
                SwitchingForecast(
                    beliefs, self.states, mean, table, run.log[:-more].copy(), output, seen, at, run.report
                )
            )
        return self._one(given, found, runs)

    def decode(self, data: Any, *, inputs: Any = None, lengths: Any = None, sequence: Any = None) -> Any:
        """Return the most probable path of regimes, exactly; for several series, one each.

        Args:
            data: as for `score`, as are the others.
            inputs: a row for each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.

        Raises:
            InvalidArgument, TooLarge, ImpossibleEvidence: as for `score`.

        >>> slow = LinearDynamicalSystem(A=1.0, C=1.0, Q=0.01, R=0.01, mean=0.0, covariance=1.0)
        >>> fast = LinearDynamicalSystem(A=1.0, C=1.0, Q=9.0, R=0.01, mean=0.0, covariance=1.0)
        >>> both = SwitchingLinearDynamicalSystem(
        ...     [0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], {"slow": slow, "fast": fast}
        ... )
        >>> both.decode([0.1, 0.2, 4.0, 9.0, 8.9]).path
        ('slow', 'slow', 'fast', 'fast', 'slow')
        """
        given, runs = self._asked(data, "auto", inputs, lengths, sequence, smooth=True)
        found = []
        for run in runs:
            assert run.best is not None
            codes, log = run.best
            total = float(run.log.sum())
            found.append(StatePath(self.variable, codes, log + total, total, run.report))
        return found[0] if given.data.lone else PerSequence(found, given.data.ids, runs[0].report)

    def sample(
        self,
        n: int,
        *,
        sequences: int | None = None,
        inputs: Any = None,
        seed: int | np.random.Generator | None = None,
    ) -> Any:
        """Draw a series of n steps: its `.regimes`, `.states` and `.observations`.

        Args:
            n: how many steps.
            sequences: how many series, each of n steps, as a list; one by itself if left out.
            inputs: a row for each step, the same for all series.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: there is no step; a system is unstable and leaves the range of floats.

        >>> still = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [still])
        >>> one.sample(100, seed=0).states.shape
        (100, 1)
        """
        T, many = draw_count(n), 1 if sequences is None else draw_count(sequences)
        if T < 1 or many < 1:
            raise InvalidArgument("A series has at least one step.")
        check_steps(T, many)
        p, r, rng = self._systems[0]._p, self._regimes, generator(seed)
        given = read(p, np.full((T, p.m) if p.m > 1 else T, np.nan), inputs, None)
        s = self._steps(given, 0)
        U, d = factored(r.R)
        noise = U * np.sqrt(d)[:, None, :]
        rows = np.cumsum(self._transition, axis=1)
        at = np.minimum(
            np.searchsorted(np.cumsum(self._initial), rng.random(many), side="right"), r.count - 1
        )
        x = r.mean[at] + (r.root[at] @ rng.standard_normal((many, p.n, 1)))[:, :, 0]
        regimes, states, seen = np.empty((many, T), int), np.empty((many, T, p.n)), np.empty((many, T, p.m))
        for t in range(T):
            if t:
                at = np.minimum((rows[at] <= rng.random((many, 1))).sum(axis=1), r.count - 1)
                with np.errstate(over="ignore", invalid="ignore"):
                    x = (r.A[at] @ x[:, :, None])[:, :, 0] + s.pushes[t - 1][at]
                x = x + (r.G[at] @ rng.standard_normal((many, p.n, 1)))[:, :, 0]
                if not np.isfinite(x).all():
                    raise InvalidArgument(
                        f"The states leave the range of floating-point numbers at step {t}: a system is "
                        "unstable."
                    )
            regimes[:, t], states[:, t] = at, x
            y = (r.C[at] @ x[:, :, None])[:, :, 0] + s.shifts[t][at]
            seen[:, t] = y + (noise[at] @ rng.standard_normal((many, p.m, 1)))[:, :, 0]
        drawn = []
        for i in range(many):
            names = tuple(self.regimes[k] for k in regimes[i].tolist())
            y = seen[i] if p.m > 1 else seen[i, :, 0]
            parts = (self.states, states[i], self.observations, y.copy(), np.arange(T), _DRAWN)
            drawn.append(SampledRegimes(names, *parts))
        return drawn[0] if sequences is None else PerSequence(drawn, report=_DRAWN)

    def fit(
        self,
        data: Any,
        *,
        engine: str = "auto",
        inputs: Any = None,
        lengths: Any = None,
        sequence: Any = None,
        weights: Any = None,
        fixed: Any = (),
        max_iter: int = 100,
        tol: float = 1e-6,
    ) -> Self:
        """Learn regimes and systems by EM, starting from those given; returns the model.

        Over every path of regimes the log-likelihood never falls. "gpb2" uses Kim's smoother (1994) instead:
        its log-likelihoods are approximate, `fit_report` says so, and the highest is kept.

        Args:
            data: as for `score`, as are the others.
            engine: "auto", "exact" or "gpb2".
            inputs: a row for each step.
            lengths: the number of steps of each series.
            sequence: the column that names series.
            weights: how much each series counts; 1 if left out.
            fixed: what stays in all regimes: names such as ["transition", "C", "R"].
            max_iter: the largest number of steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.

        Raises:
            InvalidArgument: an option is out of range; noise collapses.
            TooLarge: there are too many paths of regimes.

        >>> still = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
        >>> one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [still])
        >>> found = one.fit([1.0, 0.5, -0.3, 1.2, 2.0], max_iter=1)
        >>> [round(log, 6) for log in found.fit_report.log_likelihoods]
        [-7.346238, -6.537988]
        """
        given = read(self._systems[0]._p, data, inputs, None, lengths, sequence)
        fitting = switching_learning.SwitchingLearning(self, given, engine, fixed, weights)
        found, report = fitting.run(max_iter, tol)
        self._take(found)
        object.__setattr__(self, "_fit_report", report)
        return self

    @property
    def fit_report(self) -> FitReport | None:
        """How the last fit went; None: the parameters are as given."""
        return self._fit_report

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: variables regime[0], x[0], y[0], ...

        Args:
            steps: how many.

        Raises:
            InvalidArgument: steps is not a whole number of at least 1, a start is diffuse, or there are
                inputs.

        >>> import pgm
        >>> calm = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.1, R=0.8, mean=0.0, covariance=1.0)
        >>> wild = pgm.LinearDynamicalSystem(A=-0.5, C=1.0, Q=1.0, R=0.8, mean=0.0, covariance=1.0)
        >>> both = SwitchingLinearDynamicalSystem([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [calm, wild])
        >>> round(both.to_network(2).query("regime[1]", {"y[0]": 1.0, "y[1]": 0.5})[0], 6)
        0.638123
        """
        return linear_network.of_switching(
            self.variable, self._initial, self._transition, self._systems, steps
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the regimes and the transitions between them; returns the Axes.

        `system.plot()` draws what each system moves.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        regimes = MarkovChain(self._initial, self._transition, states=self.variable.states)
        return regimes.plot(ax, figsize=figsize, title="Regimes" if title is None else title)

    def copy(self) -> SwitchingLinearDynamicalSystem:
        """Return an independent copy."""
        made = copy.copy(self)
        object.__setattr__(made, "_fit_report", self._fit_report)
        return made

    # --- internals ---

    def _with_parameters(
        self, found: switching_learning.SwitchingParameters
    ) -> SwitchingLinearDynamicalSystem:
        """The same model with other parameters."""
        made = copy.copy(self)
        made._take(found)
        return made

    def _take(self, found: switching_learning.SwitchingParameters) -> None:
        put = object.__setattr__
        systems = []
        for own, p in zip(self._systems, found.systems, strict=True):
            made = own.copy()
            made._p = p
            if made._start == "stationary":
                made._start = "fitted"
            systems.append(made)
        put(self, "_initial", found.initial)
        put(self, "_transition", found.transition)
        put(self, "_systems", tuple(systems))
        put(self, "_regimes", _checked(self.regimes, systems, found.initial, found.transition))

    def _asked(
        self,
        data: Any,
        asked: Any,
        inputs: Any,
        lengths: Any,
        sequence: Any,
        *,
        smooth: bool = False,
        more: int = 0,
    ) -> tuple[Given, list[answers.Run]]:
        how = answers.engine_of(asked)
        given = read(self._systems[0]._p, data, inputs, None, lengths, sequence, more)
        series = [self._steps(given, i) for i in range(len(given.y))]
        return given, answers.answered(self._regimes, series, how, smooth=smooth)

    def _steps(self, given: Given, i: int) -> engine.Steps:
        """One series, with what each regime adds to states and observations."""
        T, u = len(given.y[i]), None if given.inputs is None else given.inputs[i]
        n, m = len(self.states), len(self.observations)

        def every(T: int, names: str, size: int) -> np.ndarray:
            rows = [
                added(T, getattr(each._p, names[0]), getattr(each._p, names[1]), u) for each in self._systems
            ]
            return np.stack([np.zeros((T, size)) if row is None else row for row in rows], axis=1)

        return engine.Steps(given.y[i], every(T - 1, "bB", n), every(T, "dD", m))

    def _of(self, steps: list[engine.Mixture], run: answers.Run, about: str) -> tuple[Any, ...]:
        """Beliefs about regimes, means, covariances, and the observations that they predict."""
        values = np.array([one.regimes for one in steps])
        beliefs = StateBeliefs(self.variable, values, run.log.copy(), about, report=run.report)
        noise = np.array([one.noise for one in steps])
        signal = np.array([one.signal for one in steps]), np.array([one.of_signal for one in steps])
        output = Seen(self.observations, noise, np.arange(len(steps)), signal)
        mean = np.array([one.mean for one in steps])
        return beliefs, mean, _matrices([one.covariance for one in steps]), output

    def _one(self, given: Given, found: list[Any], runs: list[answers.Run]) -> Any:
        return found[0] if given.data.lone else PerSequence(found, given.data.ids, runs[0].report)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f".{name} cannot be set: only fit changes a switching linear dynamical system")

    def __getstate__(self) -> tuple[object, ...]:
        return self._initial, self._transition, dict(zip(self.regimes, self._systems, strict=True))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        """Equal when regimes, their probabilities and systems are."""
        if not isinstance(other, SwitchingLinearDynamicalSystem):
            return NotImplemented
        return (
            self.regimes == other.regimes
            and self._systems == other._systems
            and np.array_equal(self._initial, other._initial)
            and np.array_equal(self._transition, other._transition)
        )

    __hash__ = None  # type: ignore[assignment]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        from .linear_dynamical_system import _printed

        shown_names = [
            name
            for name in ("A", "C", "Q", "R", "b", "d")
            if any(getattr(s, name) is not None for s in self._systems)
        ]
        header = ["regime", "initial", *(f"to {label(name)}" for name in self.regimes), *shown_names]
        rows = []
        for k, (name, system) in enumerate(zip(self.regimes, self._systems, strict=True)):
            probabilities = [f"{x:.6g}" for x in (self._initial[k], *self._transition[k])]
            parts = [getattr(system, each) for each in shown_names]
            rows.append(
                [label(name), *probabilities, *("" if part is None else _printed(part) for part in parts)]
            )
        count = f"{len(self.states)} dimensions of the state, {len(self.observations)} observed"
        return header, rows, f"Switching linear dynamical system: {count}"


def _matrices(covariances: list[np.ndarray]) -> Matrices:
    return Matrices(np.array(covariances), np.arange(len(covariances)))


def _checked(
    names: tuple[Any, ...],
    systems: Sequence[LinearDynamicalSystem],
    initial: np.ndarray,
    transition: np.ndarray,
) -> engine.Regimes:
    """The matrices of all regimes, which must fit together."""
    first = systems[0]
    for name, each in zip(names, systems, strict=True):
        p = each._p
        sizes = (p.n, p.m, p.n_inputs)
        if sizes != (first._p.n, first._p.m, first._p.n_inputs):
            raise InvalidArgument(
                f"The system of {shown(name)} has {p.n} dimensions of the state, {p.m} of an observation and "
                f"{p.n_inputs} of an input, but that of {shown(names[0])} has {first._p.n}, {first._p.m} and "
                f"{first._p.n_inputs}: all systems need the same sizes."
            )
        if p.varying:
            raise InvalidArgument(
                f"The system of {shown(name)} has matrices that change from step to step: only regimes may."
            )
        if np.isinf(p.covariance).any():
            raise InvalidArgument(
                f"The system of {shown(name)} has a diffuse start, but regimes are compared by "
                "densities: give mean= and covariance=."
            )
    ps = [each._p for each in systems]
    A, C, Q, R, covariance = (
        np.stack([getattr(p, name) for p in ps]) for name in ("A", "C", "Q", "R", "covariance")
    )
    (U, d), (V, e) = factored(Q), factored(covariance)
    with np.errstate(divide="ignore"):
        logs = np.log(initial), np.log(transition)
    mean = np.stack([p.mean for p in ps])
    return engine.Regimes(*logs, A, C, U * np.sqrt(d)[:, None, :], R, mean, V * np.sqrt(e)[:, None, :])
