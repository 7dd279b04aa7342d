"""Continuous variables over time: a Gaussian for each step, of the state or of what is observed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from pgm.errors import InvalidArgument, UnknownVariable, shown
from pgm.printing import ROWS, Tabular, label
from pgm.results.base import Result, noted, pandas, put
from pgm.results.intervals import Intervals
from pgm.results.report import EXACT, Report

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


_ROUNDING = 1e-10


class Matrices(NamedTuple):
    """A covariance for each step, of which many are the same; with a diffuse start some are infinite."""

    distinct: np.ndarray  # (k, n, n), the finite part
    at: np.ndarray  # (T,) for each step the index of its matrix
    wide: np.ndarray | None = None  # (k, n, n), the diffuse part: multiplied by an infinite variance

    def whole(self) -> np.ndarray:
        """The distinct matrices, with infinite entries."""
        if self.wide is None:
            return self.distinct
        return np.where(self.wide == 0.0, self.distinct, np.copysign(np.inf, self.wide))

    def all(self) -> np.ndarray:
        """A matrix for each step, read-only."""
        found, steps = self.whole(), np.arange(len(self.at))
        if len(found) != len(steps):
            found = found[self.at]
        elif np.array_equal(self.at, steps[::-1]):  # with gaps hardly any two are the same: nothing is copied
            found = found[::-1]
        elif not np.array_equal(self.at, steps):
            found = found[self.at]
        found = found.view()
        found.flags.writeable = False
        return found

    def of(self, rows: np.ndarray, which: np.ndarray, noise: np.ndarray | None) -> Matrices:
        """The covariances of linear combinations; `which` has each step's index in `rows` and `noise`."""
        kinds, at = np.unique(np.column_stack([self.at, which]), axis=0, return_inverse=True)
        C, turned = rows[kinds[:, 1]], rows[kinds[:, 1]].transpose(0, 2, 1)
        found = C @ self.distinct[kinds[:, 0]] @ turned
        found = (found + found.transpose(0, 2, 1)) / 2
        if noise is not None:
            found = found + noise[kinds[:, 1]]
        wide = None
        if self.wide is not None:
            own = self.wide[kinds[:, 0]]
            wide = C @ own @ turned
            wide[np.abs(wide) <= _ROUNDING * (np.abs(C) @ np.abs(own) @ np.abs(turned))] = 0.0
        return Matrices(found, at.reshape(-1), wide)


class Output(NamedTuple):
    """The observation model: y[t] = C x[t] + shift + N(0, R)."""

    names: tuple[str, ...]
    C: np.ndarray  # (k, m, n)
    R: np.ndarray  # (k, m, m)
    look: np.ndarray  # (T,) for each step the index of its C and R
    shift: np.ndarray | None  # (T, m)

    def seen_in(self, path: GaussianPath, *, noise: bool) -> GaussianPath:
        """The distribution of observations, with their noise or without, given that of the states."""
        mean = (
            (self.C[self.look] @ path.mean[:, :, None])[:, :, 0]
            if len(self.C) > 1
            else path.mean @ self.C[0].T
        )
        mean = mean if self.shift is None else mean + self.shift
        matrices = path._matrices.of(self.C, self.look, self.R if noise else None)
        return GaussianPath(self.names, mean, matrices, path.steps, path.report)


class Seen:
    """An observation model with a function: moments of h(x), computed when first read."""

    __slots__ = ("R", "_find", "_found", "look", "names")

    def __init__(
        self,
        names: tuple[str, ...],
        R: np.ndarray,
        look: np.ndarray,
        find: Callable[[], tuple[np.ndarray, np.ndarray]] | tuple[np.ndarray, np.ndarray],
    ) -> None:
        """Take names, noise covariances (k, m, m), the index of each step's, and a function for moments."""
        self.names, self.R, self.look, self._find = names, R, look, find
        self._found: tuple[np.ndarray, np.ndarray] | None = None if callable(find) else find

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """The means and covariances of h(x), (T, m) and (T, m, m)."""
        if self._found is None:
            assert callable(self._find)
            self._found = self._find()
        return self._found

    def seen_in(self, path: GaussianPath, *, noise: bool) -> GaussianPath:
        """The distribution of observations, with their noise or without, given that of the states."""
        mean, spread = self.moments()
        made = spread + self.R[self.look] if noise else spread.copy()
        matrices = Matrices(made, np.arange(len(mean)))
        return GaussianPath(self.names, mean.copy(), matrices, path.steps, path.report)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the moments, not the function."""
        return Seen, (self.names, self.R, self.look, self.moments())


class GaussianPath(Result, Tabular):
    """A normal distribution for each step; the steps before and after are not independent of it.

    >>> same = Matrices(np.array([[[4.0]]]), np.zeros(2, int))
    >>> GaussianPath(("level",), np.array([[1.0], [2.0]]), same)
    step  level  sd
    0     1      2
    1     2      2
    """

    __slots__ = ("_covariance", "_matrices", "mean", "names", "report", "steps")
    names: tuple[str, ...]
    mean: np.ndarray  # (T, n)
    steps: np.ndarray  # (T,) their indices, or their times
    report: Report
    _matrices: Matrices
    _covariance: np.ndarray | None

    def __init__(
        self,
        names: tuple[str, ...],
        mean: np.ndarray,
        matrices: Matrices,
        steps: np.ndarray | None = None,
        report: Report = EXACT,
    ) -> None:
        """Take arrays, which become read-only."""
        steps = np.arange(len(mean)) if steps is None else steps
        for array in (mean, *matrices, steps):
            if array is not None:
                array.flags.writeable = False
        for name, value in (("names", names), ("mean", mean), ("steps", steps), ("report", report)):
            put(self, name, value)
        put(self, "_matrices", matrices)
        put(self, "_covariance", None)

    # --- values ---

    @property
    def values(self) -> np.ndarray:
        """The means, (steps, variables)."""
        return self.mean

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of each step, (steps, variables, variables)."""
        if self._covariance is None:
            put(self, "_covariance", self._matrices.all())
        assert self._covariance is not None
        return self._covariance

    @property
    def std(self) -> np.ndarray:
        """The standard deviations, (steps, variables)."""
        variances = np.diagonal(self._matrices.whole(), axis1=1, axis2=2)
        found: np.ndarray = np.sqrt(variances)[self._matrices.at]
        return found

    def interval(self, level: float = 0.95) -> Intervals:
        """The interval of each value with this probability; the tails on both sides are equal.

        Args:
            level: the probability, between 0 and 1.

        Raises:
            InvalidArgument: level is not between 0 and 1.

        >>> path = GaussianPath(("x",), np.zeros((1, 1)), Matrices(np.ones((1, 1, 1)), np.zeros(1, int)))
        >>> path.interval(0.95).high.round(6).tolist()
        [[1.959964]]
        """
        if not isinstance(level, float | int) or not 0.0 < level < 1.0:
            raise InvalidArgument(f"level= is a probability between 0 and 1, not {shown(level)}.")
        from scipy.special import ndtri

        off = float(ndtri(0.5 + level / 2)) * self.std
        return Intervals(self.mean - off, self.mean + off)

    def marginal(self, names: str | Sequence[str]) -> GaussianPath:
        """Some of the variables, in the order asked.

        Args:
            names: one name, or a list of names.

        Raises:
            UnknownVariable: a name is not one of the variables.
            InvalidArgument: no name is given.

        >>> two = Matrices(np.array([[[1.0, 0.5], [0.5, 4.0]]]), np.zeros(1, int))
        >>> GaussianPath(("x", "v"), np.zeros((1, 2)), two).marginal("v").std.tolist()
        [[2.0]]
        """
        at = self._places(names)
        distinct, index, wide = self._matrices
        some = Matrices(distinct[:, at][:, :, at], index, None if wide is None else wide[:, at][:, :, at])
        names = tuple(self.names[i] for i in at)
        return GaussianPath(names, self.mean[:, at], some, self.steps, self.report)

    def _places(self, names: str | Sequence[str]) -> list[int]:
        asked = [names] if isinstance(names, str) else list(names)
        for name in asked:
            if name not in self.names:
                raise UnknownVariable(name, self.names)
        if not asked:
            raise InvalidArgument(f"marginal needs at least one of the names {', '.join(self.names)}.")
        return [self.names.index(name) for name in asked]

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.mean)

    def __eq__(self, other: object) -> bool:
        """Equal when names, steps, means and covariances are."""
        if type(other) is not type(self):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.steps, other.steps)
            and np.array_equal(self.mean, other.mean)
            and np.array_equal(self.covariance, other.covariance)
        )

    def __hash__(self) -> int:
        """Hash of the names and means."""
        return hash((self.names, (self.mean + 0.0).tobytes()))

    def _parts(self) -> tuple[object, ...]:
        return self.names, self.mean, self._matrices, self.steps, self.report

    # --- elsewhere ---

    def to_dict(self) -> dict[str, Any]:
        """{"steps", "mean": {name: ...}, "sd": {name: ...}}, as lists."""
        return {
            "steps": self.steps.tolist(),
            "mean": dict(zip(self.names, self.mean.T.tolist(), strict=True)),
            "sd": dict(zip(self.names, self.std.T.tolist(), strict=True)),
        }

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each step: the mean of each variable, and its standard deviation."""
        columns: dict[str, Any] = {}
        for i, name in enumerate(self.names):
            columns[name], columns[f"{name} sd"] = self.mean[:, i], self.std[:, i]
        found: pd.DataFrame = pandas().DataFrame(columns, index=pandas().Index(self.steps, name="step"))
        return found

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: str | Sequence[str] | None = None,
        level: float = 0.95,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the means as lines, each in a band with this probability; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            names: which variables; the first four if left out.
            level: the probability of the bands.
            figsize: width and height of a new figure in inches.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.gaussian_path(self, ax, names=names, level=level, figsize=figsize, title=title)

    # --- in print ---

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header = ["step"]
        for name in self.names:
            header += [label(name), "sd" if len(self.names) == 1 else f"sd {label(name)}"]
        some = range(len(self)) if len(self) <= ROWS else [*range(ROWS - 1), len(self) - 1]
        sd = self.std
        rows = []
        for t in some:
            cells = [f"{self.steps[t]:.6g}"]
            for i in range(len(self.names)):
                cells += [f"{self.mean[t, i]:.6g}", f"{sd[t, i]:.6g}"]
            rows.append(cells)
        return header, rows, self._notes(len(rows))

    def _notes(self, printed: int) -> str:
        return noted(len(self), printed, "steps", self.report)


class StatesOverTime(GaussianPath):
    """Posterior states of a linear dynamical system, a normal distribution for each step."""

    __slots__ = ("_output", "_y", "step_scores")
    _kind: ClassVar[str]  # what a picture calls it
    step_scores: np.ndarray  # (observed steps,) the log density of each given those before
    _output: Output | Seen
    _y: np.ndarray  # (observed steps, m), NaN where nothing was observed

    def __init__(
        self,
        names: tuple[str, ...],
        mean: np.ndarray,
        matrices: Matrices,
        step_scores: np.ndarray,
        output: Output | Seen,
        y: np.ndarray,
        steps: np.ndarray | None = None,
        report: Report = EXACT,
    ) -> None:
        """Take arrays, which become read-only."""
        super().__init__(names, mean, matrices, steps, report)
        for name, array in (("step_scores", step_scores), ("_y", y)):
            array.flags.writeable = False
            put(self, name, array)
        put(self, "_output", output)

    @property
    def log_likelihood(self) -> float:
        """The log density of all observations."""
        return float(self.step_scores.sum())

    @property
    def observations(self) -> np.ndarray:
        """What was observed, (steps, entries); NaN where nothing was."""
        return self._y

    @property
    def signal(self) -> GaussianPath:
        """C x + D u + d: what is observed, without its noise."""
        return self._observed(noise=False)

    def _observed(self, *, noise: bool) -> GaussianPath:
        return self._output.seen_in(self, noise=noise)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        names: str | Sequence[str] | None = None,
        level: float = 0.95,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the observations as dots, and the signal in them as a line in a band.

        Args:
            ax: axes to draw on, such as those of another picture; a new figure if left out.
            names: which states or entries of the observations; all of these, four at most, if left out.
            level: the probability of the bands.
            figsize: width and height of a new figure in inches.
            title: the title; left out, it says what is shown.

        Raises:
            UnknownVariable: a name is neither that of a state nor of an entry.
        """
        from pgm import plot

        return plot.states_over_time(self, ax, names=names, level=level, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        return (
            *(self.names, self.mean, self._matrices, *self._own_parts()),
            *(self.step_scores, self._output, self._y, self.steps, self.report),
        )

    def _own_parts(self) -> tuple[object, ...]:
        """The further constructor arguments of this kind."""
        return ()


class Filtered(StatesOverTime):
    """The states given the observations up to each step: `mean`, `covariance`, `log_likelihood`.

    `predicted_mean` and `predicted_covariance` use only the observations before it.
    """

    __slots__ = ("_predicted", "predicted_mean")
    _kind = "filtered"
    predicted_mean: np.ndarray
    _predicted: Matrices | Callable[[], Matrices]

    def __init__(
        self,
        names: tuple[str, ...],
        mean: np.ndarray,
        matrices: Matrices,
        predicted_mean: np.ndarray,
        predicted: Matrices | Callable[[], Matrices],
        *others: Any,
    ) -> None:
        """Take arrays, which become read-only; `predicted` may be a function that lays them out when read.

        `others` are as for `StatesOverTime`.
        """
        super().__init__(names, mean, matrices, *others)
        predicted_mean.flags.writeable = False
        put(self, "predicted_mean", predicted_mean)
        put(self, "_predicted", predicted)

    @property
    def predicted_covariance(self) -> np.ndarray:
        """The covariance of each step given the observations before it."""
        return self._laid().all()

    def _laid(self) -> Matrices:
        if not isinstance(self._predicted, Matrices):
            put(self, "_predicted", self._predicted())
        assert isinstance(self._predicted, Matrices)
        return self._predicted

    def _own_parts(self) -> tuple[object, ...]:
        return self.predicted_mean, self._laid()

    def _notes(self, printed: int) -> str:
        more = super()._notes(printed)
        said = f"given what was observed until then; log-likelihood {self.log_likelihood:.6f}"
        return f"{more}\n{said}" if more else said


class Smoothed(StatesOverTime):
    """The states given all observations: `mean`, `covariance`, `log_likelihood`.

    `lag_one_covariance` has the covariance of each state (rows) with the next one (columns).
    """

    __slots__ = ("_regression",)
    _kind = "smoothed"
    _regression: Matrices | np.ndarray

    def __init__(
        self,
        names: tuple[str, ...],
        mean: np.ndarray,
        matrices: Matrices,
        regression: Matrices | np.ndarray,
        *others: Any,
    ) -> None:
        """Take arrays, which become read-only; `others` as for `StatesOverTime`.

        `regression` has, for each step but the last, the matrix that multiplies the covariance of the next
        state into the covariance of both; or these products themselves.
        """
        super().__init__(names, mean, matrices, *others)
        put(self, "_regression", regression)

    @property
    def lag_one_covariance(self) -> np.ndarray:
        """The covariance of each state (rows) with the next one (columns), (steps - 1, states, states)."""
        if not isinstance(self._regression, Matrices):
            return self._regression
        J, P = self._regression, self._matrices
        return np.asarray(J.distinct[J.at] @ P.distinct[P.at[1:]])

    def _own_parts(self) -> tuple[object, ...]:
        return (self._regression,)

    def _notes(self, printed: int) -> str:
        more = super()._notes(printed)
        said = f"given all observations; log-likelihood {self.log_likelihood:.6f}"
        return f"{more}\n{said}" if more else said


class Forecast(StatesOverTime):
    """The states of future steps: `mean`, `covariance`; `predicted` is the forecast of observations.

    >>> import pgm
    >>> lds = pgm.LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    >>> lds.forecast([1.0, 0.5, -0.3, 1.2, 2.0], steps=1).predicted.covariance.round(6).tolist()
    [[[1.629997]]]
    """

    __slots__ = ()
    _kind = "forecast"

    @property
    def predicted(self) -> GaussianPath:
        """The forecast of observations: the signal and its noise."""
        return self._observed(noise=True)

    def _notes(self, printed: int) -> str:
        more = super()._notes(printed)
        ends = self.predicted.std[-1].max()
        said = f"what will be observed: .predicted, with standard deviations up to {ends:.6g} at the end"
        return f"{more}\n{said}" if more else said
