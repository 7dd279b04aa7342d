"""Answers about the steps of a dynamic network: beliefs about its variables, courses, draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import UnknownVariable
from pgm.printing import ROWS, Share, label, number
from pgm.results.base import noted, pandas, put
from pgm.results.discrete import Distribution
from pgm.results.report import Report
from pgm.results.scalars import Probability
from pgm.results.steps import Drawn, StateBeliefs, StatePath, _OfSteps
from pgm.variables import Variable

if TYPE_CHECKING:
    import pandas as pd

INTERFACE = Report("interface", exact=True)


def _known(name: Any, names: Sequence[str]) -> int:
    if name not in names:
        raise UnknownVariable(name, names)
    return names.index(name)


class NetworkBeliefs(_OfSteps):
    """The distribution of a dynamic network's variables in each step, and the likelihood of the sequence.

    `values` has a row for each step and a column for each state of each variable, one variable after
    another; `marginal(name)` has those of one. `step_scores` is the logarithm of each step's share of the
    probability of all observations.

    >>> import pgm
    >>> dbn = pgm.DynamicBayesianNetwork()
    >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> dbn.filter({"wet": [True, True, False]}).marginal("rain").values[:, 1].round(6).tolist()
    [0.857143, 0.938389, 0.18352]
    """

    __slots__ = ("about", "log_likelihood", "report", "start", "step_scores", "values", "variables")
    variables: tuple[Variable, ...]
    values: np.ndarray  # (steps, states of all variables)
    step_scores: np.ndarray
    log_likelihood: float
    about: str  # "filtered", "smoothed", "forecast"
    start: int  # the index of the first step

    def __init__(
        self,
        variables: tuple[Variable, ...],
        values: np.ndarray,
        step_scores: np.ndarray,
        about: str,
        start: int = 0,
        report: Report = INTERFACE,
    ) -> None:
        """Take the beliefs, the logarithm of each step's share, and the kind of beliefs."""
        for name, value in (("values", values), ("step_scores", step_scores)):
            value.flags.writeable = False
            put(self, name, value)
        for name, other in (("variables", tuple(variables)), ("about", about), ("start", start)):
            put(self, name, other)
        put(self, "log_likelihood", float(step_scores.sum()))
        put(self, "report", report)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in order."""
        return tuple(v.name for v in self.variables)

    def marginal(self, name: str) -> StateBeliefs:
        """Return the distribution of one variable, step by step.

        Args:
            name: the variable.

        Raises:
            UnknownVariable: it is not one of those that were asked about.

        >>> import pgm
        >>> dbn = pgm.DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> round(dbn.filter({"wet": [True, True, False]}).marginal("rain")[-1][True], 6)
        0.18352
        """
        at = _known(name, self.names)
        own = np.array(self.values[:, self._at(at)])
        return StateBeliefs(
            self.variables[at], own, np.array(self.step_scores), self.about, report=self.report
        )

    def _at(self, i: int) -> slice:
        begin = sum(v.card for v in self.variables[:i])
        return slice(begin, begin + self.variables[i].card)

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.values)

    def __getitem__(self, step: int) -> dict[str, Distribution]:
        """The distribution of each variable in one step; -1 is the last."""
        row = self.values[step]
        return {
            v.name: Distribution((v,), np.array(row[self._at(i)]), self.report)
            for i, v in enumerate(self.variables)
        }

    def __eq__(self, other: object) -> bool:
        """Equal when variables and beliefs are."""
        if not isinstance(other, NetworkBeliefs):
            return NotImplemented
        same = (self.variables, self.about, self.start) == (other.variables, other.about, other.start)
        return (
            same
            and np.array_equal(self.values, other.values)
            and np.array_equal(self.step_scores, other.step_scores)
        )

    __hash__ = None

    def to_dict(self) -> dict[str, Any]:
        """The beliefs by variable and state, and the log-likelihood, as plain Python objects."""
        found = {}
        for i, v in enumerate(self.variables):
            own = self.values[:, self._at(i)]
            found[v.name] = {state: own[:, k].tolist() for k, state in enumerate(v.states)}
        return {"variables": found, "log_likelihood": self.log_likelihood}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each step and a column for each (variable, state)."""
        pairs = [(v.name, state) for v in self.variables for state in v.states]
        columns = pandas().MultiIndex.from_tuples(pairs, names=["variable", "state"])
        index = pandas().RangeIndex(self.start, self.start + len(self), name="step")
        frame: pd.DataFrame = pandas().DataFrame(self.values, index, columns, copy=True)
        return frame

    def _parts(self) -> tuple[object, ...]:
        return self.variables, self.values, self.step_scores, self.about, self.start, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header, columns = ["step"], []
        for i, v in enumerate(self.variables):
            own = self.values[:, self._at(i)]
            two = v.card == 2
            for k in range(1 if two else 0, v.card):
                header.append(f"{label(v.name)}={label(v.states[k])}")
                columns.append(own[:ROWS, k])
        rows = [
            [str(self.start + t), *(Share(column[t]) for column in columns)]
            for t in range(min(ROWS, len(self)))
        ]
        said = f"{self.about}; log-likelihood {self.log_likelihood:.6f}"
        notes = noted(len(self), len(rows), "steps", self.report)
        return header, rows, f"{notes}\n{said}".strip()


class NetworkCourse(_OfSteps):
    """A state for each variable in each step: the most probable course of a dynamic network.

    `log_joint` is log P(course, observations), and `probability` P(course | observations).

    >>> import pgm
    >>> dbn = pgm.DynamicBayesianNetwork()
    >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> dbn.map({"wet": [True, True, False]}).path("rain").path
    (True, True, False)
    """

    __slots__ = ("_log_likelihood", "codes", "log_joint", "report", "variables")
    variables: tuple[Variable, ...]
    codes: np.ndarray  # (steps, variables)
    log_joint: float
    _log_likelihood: float | Callable[[], float]

    def __init__(
        self,
        variables: tuple[Variable, ...],
        codes: np.ndarray,
        log_joint: float,
        log_likelihood: float | Callable[[], float],
        report: Report = INTERFACE,
    ) -> None:
        """Take codes of states, log P(course, observations), and log P(observations) or a function for it."""
        kept = np.array(codes, dtype=np.int32)
        kept.flags.writeable = False
        for name, value in (("variables", tuple(variables)), ("codes", kept), ("report", report)):
            put(self, name, value)
        put(self, "log_joint", float(log_joint))
        put(self, "_log_likelihood", log_likelihood if callable(log_likelihood) else float(log_likelihood))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in order."""
        return tuple(v.name for v in self.variables)

    @property
    def log_likelihood(self) -> float:
        """Log P(observations): computed on first access."""
        if callable(self._log_likelihood):
            put(self, "_log_likelihood", float(self._log_likelihood()))
        return self._log_likelihood  # type: ignore[return-value]

    @property
    def log_probability(self) -> float:
        """Log P(course | observations)."""
        return self.log_joint - self.log_likelihood

    @property
    def probability(self) -> Probability:
        """P(course | observations)."""
        log = self.log_probability
        return Probability(math.exp(min(log, 0.0)), self.report, log=log)

    def path(self, name: str) -> StatePath:
        """Return the states of one variable, step by step; its probability is that of the whole course.

        Args:
            name: the variable.

        Raises:
            UnknownVariable: there is no such variable.

        >>> import pgm
        >>> dbn = pgm.DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.map({"rain": [True, None]}).path("rain").path
        (True, True)
        """
        at = _known(name, self.names)
        return StatePath(
            self.variables[at], self.codes[:, at], self.log_joint, self.log_likelihood, self.report
        )

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.codes)

    def __getitem__(self, step: int) -> dict[str, Any]:
        """The state of each variable in one step; -1 is the last."""
        return {v.name: v.states[c] for v, c in zip(self.variables, self.codes[step].tolist(), strict=True)}

    def __eq__(self, other: object) -> bool:
        """Equal when states and probabilities are."""
        if not isinstance(other, NetworkCourse):
            return NotImplemented
        same = self.variables == other.variables and np.array_equal(self.codes, other.codes)
        return same and self.log_joint == other.log_joint

    __hash__ = None

    def to_dict(self) -> dict[str, Any]:
        """The states by variable, and the logarithms, as plain Python objects."""
        courses = {v.name: self._states(i).tolist() for i, v in enumerate(self.variables)}
        return {"course": courses, "log_joint": self.log_joint, "log_probability": self.log_probability}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each step and a column for each variable."""
        index = pandas().RangeIndex(len(self), name="step")
        columns = {v.name: self._states(i) for i, v in enumerate(self.variables)}
        frame: pd.DataFrame = pandas().DataFrame(columns, index)
        return frame

    def _states(self, i: int) -> np.ndarray:
        return np.take(self.variables[i].domain.array, self.codes[:, i])

    def _parts(self) -> tuple[object, ...]:
        return self.variables, self.codes, self.log_joint, self.log_likelihood, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [str(t), *(label(v.states[c]) for v, c in zip(self.variables, row, strict=True))]
            for t, row in enumerate(self.codes[:ROWS].tolist())
        ]
        notes = noted(len(self), len(rows), "steps", self.report)
        said = f"probability {number(self.probability)}, log joint {self.log_joint:.6f}"
        return ["step", *map(label, self.names)], rows, f"{notes}\n{said}".strip()


class SampledSteps(Drawn):
    """Draws of a dynamic network's variables, step by step; columns are what `filter` takes.

    >>> import pgm
    >>> dbn = pgm.DynamicBayesianNetwork()
    >>> dbn.add("lamp", {True: [1.0, 0.0], False: [0.0, 1.0]}, parents=["lamp[-1]"], initial=1.0)
    >>> dbn.sample(3, seed=0)["lamp"].tolist()
    [True, False, True]
    """

    __slots__ = ("columns", "names", "report")
    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]

    def __init__(
        self, names: tuple[str, ...], columns: Sequence[np.ndarray], report: Report = INTERFACE
    ) -> None:
        """Take a column for each variable."""
        for column in columns:
            column.flags.writeable = False
        for key, value in (("names", tuple(names)), ("columns", tuple(columns)), ("report", report)):
            put(self, key, value)

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.columns[0])

    def __getitem__(self, name: str) -> np.ndarray:
        """The values of one variable."""
        return self.columns[_known(name, self.names)]

    def keys(self) -> tuple[str, ...]:
        """The names of the variables, so that `dict(drawn)` can be passed to a question."""
        return self.names

    def to_dict(self) -> dict[str, Any]:
        """The values by variable, as lists."""
        return {name: column.tolist() for name, column in self._columns().items()}

    def _columns(self) -> dict[str, np.ndarray]:
        return dict(zip(self.names, self.columns, strict=True))

    def _parts(self) -> tuple[object, ...]:
        return self.names, self.columns, self.report
