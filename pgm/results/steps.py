"""Answers about steps of sequences: beliefs about states, paths, draws and forecasts, for one or for many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from pgm.errors import InvalidArgument, listed, shown
from pgm.printing import ROWS, Share, Tabular, label, number
from pgm.results.base import Result, noted, pandas, put
from pgm.results.density import Density
from pgm.results.discrete import Distribution
from pgm.results.emitted import Emitted
from pgm.results.outlook import EachStep, Outlook, column
from pgm.results.report import Report
from pgm.results.scalars import Probability
from pgm.variables import Variable, typed_array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pgm.results.gaussian_path import StatesOverTime

CHAIN = Report("chain", exact=True)
_Step = TypeVar("_Step", bound="_OfSteps | StatesOverTime")


class _OfSteps(Result, Tabular):
    """An answer for each step of one sequence."""

    __slots__ = ()

    @property
    def log_likelihood(self) -> float:
        """Log P(observations)."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Equal when the answers for all steps are, however they were found."""
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, _OfSteps)
        pairs = zip(self._parts(), other._parts(), strict=True)
        return all(_same(mine, theirs) for mine, theirs in pairs if not isinstance(mine, Report))

    __hash__ = None  # type: ignore[assignment]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the steps from left to right; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.steps(self, ax, figsize=figsize, title=title)


class StateBeliefs(_OfSteps):
    """The distribution of the hidden state in each step of a sequence, and the likelihood of the sequence.

    `values` has a row for each step and a column for each state; `log_likelihood` is the logarithm of the
    probability, or density, of all observations, and `step_scores` each step's share of it.

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> found = coin.filter([0, 0, 1])
    >>> found.values[-1].round(6).tolist(), round(found.log_likelihood, 6)
    ([0.688854, 0.311146], -2.151754)
    """

    __slots__ = ("_pairs", "about", "log_likelihood", "report", "step_scores", "values", "variable")
    variable: Variable
    values: np.ndarray  # (steps, states)
    log_likelihood: float
    step_scores: np.ndarray
    about: str  # "filtered", "smoothed", ...
    _pairs: np.ndarray | None

    def __init__(
        self,
        variable: Variable,
        values: np.ndarray,
        step_scores: np.ndarray,
        about: str,
        pairs: np.ndarray | None = None,
        report: Report = CHAIN,
    ) -> None:
        """Take the beliefs, the logarithm of each step's share, and the kind of beliefs."""
        for name, value in (("values", values), ("step_scores", step_scores), ("_pairs", pairs)):
            if value is not None:
                value.flags.writeable = False
            put(self, name, value)
        put(self, "variable", variable)
        put(self, "log_likelihood", float(step_scores.sum()))
        put(self, "about", about)
        put(self, "report", report)

    @property
    def states(self) -> tuple[Any, ...]:
        """The states, in the order of the columns."""
        return self.variable.states

    @property
    def pairs(self) -> np.ndarray:
        """P(state, next state) of each step but the last, (steps - 1, states, states); see `HMM.smooth`."""
        if self._pairs is None:
            raise InvalidArgument("Pairs of states are found on request: hmm.smooth(sequence, pairs=True).")
        return self._pairs

    @property
    def path(self) -> tuple[Any, ...]:
        """The most probable state of each step on its own; together they may be impossible."""
        return tuple([self.states[code] for code in self.values.argmax(axis=1).tolist()])

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.values)

    def __getitem__(self, step: int) -> Distribution:
        """The distribution over states in one step; -1 is the last."""
        return Distribution((self.variable,), self.values[of_steps(step, len(self))], self.report)

    def to_dict(self) -> dict[str, Any]:
        """The beliefs by state, the log-likelihood and the scores of the steps, as plain Python objects."""
        columns = {state: self.values[:, k].tolist() for k, state in enumerate(self.states)}
        scores = self.step_scores.tolist()
        return {"states": columns, "log_likelihood": self.log_likelihood, "step_scores": scores}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each step and a column for each state."""
        index = pandas().RangeIndex(len(self), name="step")
        columns = pandas().Index(self.states, name=self.variable.name, tupleize_cols=False)
        frame: pd.DataFrame = pandas().DataFrame(self.values, index, columns, copy=True)
        return frame

    def _parts(self) -> tuple[object, ...]:
        scores = self.step_scores
        return self.variable, self.values, scores, self.about, self._pairs, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        some = self.values[:ROWS].tolist()
        rows = [[str(t), *map(Share, row)] for t, row in enumerate(some)]
        notes = noted(len(self), len(rows), "steps", self.report)
        said = self.about
        if not math.isnan(self.log_likelihood):  # of draws it is not known
            least = "at least " if self.report.log_bounds is not None else ""
            said += f"; log-likelihood {least}{self.log_likelihood:.6f}"
        return ["step", *map(label, self.states)], rows, f"{notes}\n{said}".strip()


class StatePath(_OfSteps):
    """A state for each step of a sequence: the most probable path, or another.

    `log_joint` is log P(path, observations), and `probability` P(path | observations).

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> coin.decode([0, 0, 0, 0, 1, 1]).path
    (1, 1, 1, 1, 0, 0)
    """

    __slots__ = ("_log_likelihood", "codes", "log_joint", "report", "variable")
    variable: Variable
    codes: np.ndarray
    log_joint: float
    _log_likelihood: float | Callable[[], float]

    def __init__(
        self,
        variable: Variable,
        codes: np.ndarray,
        log_joint: float,
        log_likelihood: float | Callable[[], float],
        report: Report = CHAIN,
    ) -> None:
        """Take codes of states, log P(path, observations), and log P(observations) or a function for it."""
        kept = np.array(codes, dtype=np.int32)
        kept.flags.writeable = False
        for name, value in (("variable", variable), ("codes", kept), ("report", report)):
            put(self, name, value)
        put(self, "log_joint", float(log_joint))
        put(self, "_log_likelihood", log_likelihood if callable(log_likelihood) else float(log_likelihood))

    @property
    def log_likelihood(self) -> float:
        """Log P(observations): computed on first access, as the best path does not need it."""
        if callable(self._log_likelihood):
            put(self, "_log_likelihood", float(self._log_likelihood()))
        return self._log_likelihood  # type: ignore[return-value]

    @property
    def states(self) -> tuple[Any, ...]:
        """All states, in order."""
        return self.variable.states

    @property
    def path(self) -> tuple[Any, ...]:
        """The state of each step."""
        return tuple([self.states[code] for code in self.codes.tolist()])

    @property
    def log_probability(self) -> float:
        """Log P(path | observations)."""
        return self.log_joint - self.log_likelihood

    @property
    def probability(self) -> Probability:
        """P(path | observations)."""
        log = self.log_probability
        return Probability(math.exp(min(log, 0.0)), self.report, log=log)

    def __len__(self) -> int:
        """The number of steps."""
        return int(self.codes.size)

    def __iter__(self) -> Iterator[Any]:
        """The states, step by step."""
        return iter(self.path)

    def __eq__(self, other: object) -> bool:
        """Equal when states and probabilities are."""
        if not isinstance(other, StatePath):
            return NotImplemented
        same = self.variable == other.variable and np.array_equal(self.codes, other.codes)
        return same and (self.log_joint, self.log_likelihood) == (other.log_joint, other.log_likelihood)

    __hash__ = None

    def to_dict(self) -> dict[str, Any]:
        """The path and its logarithms, as plain Python objects."""
        logs = {"log_joint": self.log_joint, "log_probability": self.log_probability}
        return {"path": list(self.path), **logs}

    def to_pandas(self) -> pd.Series:
        """A Series of states, its index the steps."""
        index = pandas().RangeIndex(len(self), name="step")
        series: pd.Series = pandas().Series(typed_array(self.path), index, name=self.variable.name)
        return series

    def _parts(self) -> tuple[object, ...]:
        return self.variable, self.codes, self.log_joint, self.log_likelihood, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        """A line for each run of the same state."""
        ends = [*(np.flatnonzero(np.diff(self.codes)) + 1).tolist(), len(self)]
        runs = list(zip([0, *ends[:-1]], ends, strict=True))
        rows = [
            [str(a) if b == a + 1 else f"{a} to {b - 1}", label(self.states[self.codes[a]])]
            for a, b in runs[:ROWS]
        ]
        notes = noted(len(runs), len(rows), "runs", self.report)
        said = f"probability {number(self.probability)}, log joint {self.log_joint:.6f}"
        return ["step", "state"], rows, f"{notes}\n{said}".strip()


class Drawn(_OfSteps):
    """Sampled states and observations of one sequence: a column for each value of a step."""

    __slots__ = ()
    observations: np.ndarray

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.observations)

    def _index(self) -> Sequence[int] | np.ndarray:
        """What the steps are called."""
        return range(len(self))

    def _columns(self) -> dict[str, np.ndarray]:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """States and observations as lists."""
        states: np.ndarray = self.states  # type: ignore[attr-defined]
        return {"states": states.tolist(), "observations": self.observations.tolist()}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each step."""
        index = pandas().Index(self._index(), name="step")
        frame: pd.DataFrame = pandas().DataFrame(self._columns(), index)
        return frame

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        columns, index = self._columns(), self._index()
        rows = [
            [_cell(index[t]), *(_cell(column[t]) for column in columns.values())]
            for t in range(min(ROWS, len(self)))
        ]
        return ["step", *map(label, columns)], rows, noted(len(self), len(rows), "steps", self.report)


class SampledSequence(Drawn):
    """Sampled states and observations, step by step.

    >>> import pgm
    >>> coin = pgm.HMM([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], pgm.Categorical([[1.0, 0.0], [0.0, 1.0]]))
    >>> coin.sample(4, seed=0).observations.tolist()
    [0, 1, 0, 1]
    """

    __slots__ = ("codes", "log_likelihood", "observations", "report", "variable")
    variable: Variable
    codes: np.ndarray

    def __init__(
        self, variable: Variable, codes: np.ndarray, observations: np.ndarray, report: Report = CHAIN
    ) -> None:
        """Take codes of states and the observations of each step."""
        for name, value in (("codes", codes), ("observations", observations)):
            value.flags.writeable = False
            put(self, name, value)
        put(self, "variable", variable)
        put(self, "report", report)

    @property
    def states(self) -> np.ndarray:
        """The state of each step."""
        return np.take(self.variable.domain.array, self.codes)

    def _columns(self) -> dict[str, np.ndarray]:
        if self.observations.ndim == 1:
            observed = {"observation": self.observations}
        else:
            observed = {f"observation[{d}]": column for d, column in enumerate(self.observations.T)}
        return {self.variable.name: self.states, **observed}

    def _parts(self) -> tuple[object, ...]:
        return self.variable, self.codes, self.observations, self.report


def _same(mine: Any, theirs: Any) -> bool:
    """Whether two parts of results are equal; NaN is equal to NaN."""
    if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray):
        floats = mine.dtype.kind == "f" and theirs.dtype.kind == "f"
        return np.array_equal(mine, theirs, equal_nan=floats)
    if isinstance(mine, tuple) and isinstance(theirs, tuple):
        return len(mine) == len(theirs) and all(map(_same, mine, theirs))
    return bool(mine == theirs)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else label(value)


class SequenceForecast(_OfSteps):
    """The forecast of the steps that follow: `values` of the states, and `observations` step by step.

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> coin.forecast([0, 0, 1], steps=2).observations.round(6).tolist()
    [[0.639567, 0.360433], [0.651653, 0.348347]]
    """

    __slots__ = ("_observed", "log_likelihood", "report", "values", "variable")
    variable: Variable
    values: np.ndarray  # (steps, states)
    log_likelihood: float
    _observed: Outlook | EachStep

    def __init__(
        self,
        variable: Variable,
        values: np.ndarray,
        observed: Outlook | EachStep,
        log_likelihood: float,
        report: Report = CHAIN,
    ) -> None:
        """Take the states and the forecast observations of each step."""
        values.flags.writeable = False
        for name, value in (("variable", variable), ("values", values), ("_observed", observed)):
            put(self, name, value)
        put(self, "log_likelihood", float(log_likelihood))
        put(self, "report", report)

    @property
    def states(self) -> tuple[Any, ...]:
        """The states, in the order of the columns of `values`."""
        return self.variable.states

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.values)

    def __getitem__(self, step: int) -> Distribution | Density | Emitted | Any:
        """The forecast observation of one of the steps, the first is 0; by column where kinds differ."""
        return self._observed[of_steps(step, len(self))]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of columns of mixed kinds, which `column` returns one by one; none: there is one kind."""
        return tuple(self._observed.columns or ())

    @property
    def unknown(self) -> str | None:
        """Why future observations are not forecast; None: they are."""
        return self._observed.unknown

    def column(self, name: str) -> SequenceForecast:
        """The same forecast of one column, where the observed columns are of mixed kinds.

        Args:
            name: the name of the column.

        Raises:
            InvalidArgument: there is no such column, or there are none.

        >>> import pgm
        >>> both = pgm.Product({"visits": pgm.Poisson([1.0]), "sky": pgm.Categorical([[0.9, 0.1]])})
        >>> ahead = pgm.HMM([1.0], [[1.0]], both).forecast({"visits": [2], "sky": [0]}, steps=1)
        >>> ahead.column("visits").mean.round(6).tolist(), ahead.column("sky").observations.round(6).tolist()
        ([1.0], [[0.9, 0.1]])
        """
        some = column(self._observed, name)
        return SequenceForecast(self.variable, self.values, some, self.log_likelihood, self.report)

    @property
    def observations(self) -> np.ndarray:
        """Probabilities of the symbols, (steps, symbols), or means of continuous observations."""
        if self._observed.unknown is None and isinstance(self._observed[0], Distribution):
            return self._observed.probabilities
        return self.mean

    @property
    def mean(self) -> np.ndarray:
        """The mean of future observations, continuous ones or numeric symbols."""
        return self._observed.mean

    @property
    def std(self) -> np.ndarray:
        """The standard deviation of future observations."""
        return self._observed.std

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper ends of an interval with this probability for the observation of each step.

        Args:
            level: the probability, between 0 and 1; the tails on both sides are equal.

        Raises:
            InvalidArgument: level is not a probability, or observations are not continuous.

        >>> import pgm
        >>> noise = pgm.HMM([1.0], [[1.0]], pgm.Gaussian([0.0], sd=1.0))
        >>> [ends.round(3).tolist() for ends in noise.forecast([0.3], steps=1).interval(0.95)]
        [[-1.96], [1.96]]
        """
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0.0 < level < 1.0:
            raise InvalidArgument(f"level= is a probability between 0 and 1, not {shown(level)}.")
        if self._observed.columns is not None:
            raise InvalidArgument(
                f"Intervals are of one column: .column(name), of {listed(self._observed.columns)}."
            )
        if isinstance(self._observed[0], Distribution):
            raise InvalidArgument("Intervals are of continuous observations; symbols have .observations.")
        tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
        ends = np.array([[_ends(p, entry, tails) for entry in range(len(p.names))] for p in self._observed])
        low, high = ends[..., 0], ends[..., 1]
        return (low[:, 0], high[:, 0]) if low.shape[1] == 1 else (low, high)

    def to_dict(self) -> dict[str, Any]:
        """States and observations as lists."""
        columns = {state: self.values[:, k].tolist() for k, state in enumerate(self.states)}
        if self._observed.columns is not None or self._observed.unknown is not None:
            return {"states": columns, **{name: c.tolist() for name, c in _seen(self._observed).items()}}
        return {"states": columns, "observations": self.observations.tolist()}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each step: the states, then the observations."""
        columns = dict(zip([f"P({label(s)})" for s in self.states], self.values.T, strict=True))
        index = pandas().RangeIndex(1, len(self) + 1, name="steps ahead")
        frame: pd.DataFrame = pandas().DataFrame(columns | _seen(self._observed), index)
        return frame

    def _parts(self) -> tuple[object, ...]:
        return self.variable, np.array(self.values), self._observed, self.log_likelihood, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        seen = _seen(self._observed[:ROWS])
        rows = [
            [str(t + 1), *map(Share, self.values[t].tolist()), *(number(c[t]) for c in seen.values())]
            for t in range(min(ROWS, len(self)))
        ]
        header = ["ahead", *map(label, self.states), *seen]
        notes = noted(len(self), len(rows), "steps", self.report)
        return header, rows, f"{notes}\n{self._observed.unknown or ''}".strip()


def _seen(observed: Any) -> dict[str, np.ndarray]:
    """The forecast observations as columns of a table; several of them for several observed columns."""
    if observed.unknown is not None:
        return {}
    if (parts := observed.columns) is not None:
        return {name: values for one in parts.values() for name, values in _seen(one).items()}
    first = observed[0]
    if isinstance(first, Distribution):
        called = first.names[0]
        names = [f"{called}: P({label(s)})" for s in first.variables[0].states]
        return dict(zip(names, observed.probabilities.T, strict=True))
    mean, std = (part.reshape(len(observed), -1) for part in (observed.mean, observed.std))
    found: dict[str, np.ndarray] = {}
    for d, name in enumerate(first.names):
        found |= {f"{name} mean": mean[:, d], f"{name} sd": std[:, d]}
    return found


def of_steps(step: Any, count: int) -> int:
    """The index of one of so many steps, checked and non-negative.

    >>> of_steps(-1, 3)
    2
    """
    if isinstance(step, bool) or not isinstance(step, int | np.integer):
        raise InvalidArgument(f"A step is found by its index, counted from 0, not by {shown(step)}.")
    if not -count <= step < count:
        raise InvalidArgument(f"There is no step {step:,}: there are {count:,}, and the first is 0.")
    return int(step) % count


def _ends(p: Any, entry: int, tails: list[float]) -> Any:
    if isinstance(p, Emitted):
        return [p.quantile(tail, entry) for tail in tails]
    return p.marginal(p.names[entry]).quantile(tails)


class PerSequence(Result, Tabular, Sequence[_Step], Generic[_Step]):
    """An answer for each of several sequences: by index, or by the name in the frame.

    >>> import pgm
    >>> coin = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], pgm.Categorical([[0.5, 0.5], [0.9, 0.1]]))
    >>> found = coin.filter([[0, 0, 1], [1]])
    >>> len(found), found[1].values.round(6).tolist(), found.values.shape
    (2, [[0.833333, 0.166667]], (4, 2))
    """

    __slots__ = ("_ids", "_items", "report")
    _items: tuple[_Step, ...]
    _ids: tuple[Any, ...] | None

    def __init__(
        self, items: Sequence[_Step], ids: Sequence[Any] | None = None, report: Report = CHAIN
    ) -> None:
        """Take the answers and the names of the sequences."""
        put(self, "_items", tuple(items))
        put(self, "_ids", None if ids is None else tuple(ids))
        put(self, "report", report)

    @property
    def ids(self) -> tuple[Any, ...]:
        """The names of the sequences: as in the frame, else 0, 1, ..."""
        return tuple(range(len(self))) if self._ids is None else self._ids

    @property
    def log_likelihood(self) -> float:
        """The logarithm of the probability of all sequences."""
        return math.fsum(one.log_likelihood for one in self._items)

    @property
    def values(self) -> np.ndarray:
        """The rows of all sequences, concatenated."""
        return np.concatenate([one.values for one in self._items])  # type: ignore[union-attr]

    @property
    def path(self) -> tuple[tuple[Any, ...], ...]:
        """The path of each sequence."""
        return tuple([one.path for one in self._items])  # type: ignore[union-attr]

    @overload
    def __getitem__(self, which: int) -> _Step: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[_Step]: ...
    def __getitem__(self, which: Any) -> Any:
        """The answer for one sequence."""
        if self._ids is not None and not isinstance(which, slice):
            if which not in self._ids:
                raise InvalidArgument(f"There is no sequence {shown(which)}; there are {listed(self._ids)}.")
            return self._items[self._ids.index(which)]
        if isinstance(which, slice):
            return self._items[which]
        if isinstance(which, bool) or not isinstance(which, int | np.integer):
            raise InvalidArgument(f"A sequence is found by its index, counted from 0, not by {shown(which)}.")
        if not -len(self) <= which < len(self):
            raise InvalidArgument(
                f"There is no sequence {which:,}: there are {len(self):,}, and the first is 0."
            )
        return self._items[which]

    def __len__(self) -> int:
        """The number of sequences."""
        return len(self._items)

    def __iter__(self) -> Iterator[_Step]:
        """The answers, sequence by sequence."""
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        """Equal when the answers are, and the names of their sequences."""
        if not isinstance(other, PerSequence):
            return NotImplemented
        return self.ids == other.ids and self._items == other._items

    __hash__ = None  # type: ignore[assignment]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw all of them: a strip of the states of each, or a line of its values; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.

        Raises:
            InvalidArgument: there is no picture of several such answers: draw one of them.
        """
        from pgm import plot

        return plot.several(self, ax, figsize=figsize, title=title)

    def to_dict(self) -> dict[Any, Any]:
        """Each answer as plain Python objects, by the name of its sequence."""
        return {name: one.to_dict() for name, one in zip(self.ids, self._items, strict=True)}  # type: ignore[union-attr]

    def to_pandas(self) -> Any:
        """All answers concatenated, indexed by sequence and step."""
        frames = [one.to_pandas() for one in self._items]  # type: ignore[union-attr]
        return pandas().concat(frames, keys=self.ids, names=["sequence"])

    def _parts(self) -> tuple[object, ...]:
        return self._items, self._ids, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        first = self._items[0]
        scored = not isinstance(first, Drawn) and not math.isnan(first.log_likelihood)
        rows = []
        for name, one in list(zip(self.ids, self._items, strict=True))[:ROWS]:
            rows.append([label(name), f"{len(one):,}", *([f"{one.log_likelihood:.6f}"] if scored else [])])
        header = ["sequence", "steps", *(["log-likelihood"] if scored else [])]
        return header, rows, noted(len(self), len(rows), "sequences", self.report)
