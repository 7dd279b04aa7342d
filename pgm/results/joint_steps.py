"""Answers about several hidden chains: jointly, with a marginal for each, or chain by chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.printing import ROWS, Share, label
from pgm.results.base import noted, pandas, put
from pgm.results.intervals import Intervals
from pgm.results.report import Report
from pgm.results.steps import CHAIN, StateBeliefs, StatePath, _OfSteps
from pgm.variables import Variable

if TYPE_CHECKING:
    import pandas as pd


class JointBeliefs(StateBeliefs):
    """The distribution, in each step, of the states of several chains, whose names are in `variables`.

    `values` has a row for each step and a column for each tuple of states; `marginal` has that of one chain.

    >>> import pgm
    >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0, 1]]))
    >>> found = both.smooth([0, 1, 1])
    >>> found.states, found.marginal("chain0").values[0].round(6).tolist()
    (((0, 0), (0, 1), (1, 0), (1, 1)), [0.588338, 0.411662])
    """

    __slots__ = ("variables",)
    variables: tuple[Variable, ...]

    def __init__(
        self,
        variable: Variable,
        values: np.ndarray,
        step_scores: np.ndarray,
        about: str,
        variables: tuple[Variable, ...],
        report: Report = CHAIN,
    ) -> None:
        """Take the beliefs about tuples of states, and the chains that these states belong to."""
        super().__init__(variable, values, step_scores, about, None, report)
        put(self, "variables", variables)

    def marginal(self, name: str) -> StateBeliefs:
        """The distribution of one chain.

        Args:
            name: the chain.

        Raises:
            InvalidArgument: there is no such chain.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]]))
        >>> both.filter([0]).marginal("chain1").values.tolist()
        [[0.75, 0.25]]
        """
        m = which(self.variables, name)
        shape = [len(self), *(v.card for v in self.variables)]
        axes = tuple(i + 1 for i in range(len(self.variables)) if i != m)
        found = self.values.reshape(shape).sum(axis=axes)
        return StateBeliefs(
            self.variables[m], found, np.array(self.step_scores), self.about, None, self.report
        )

    def _parts(self) -> tuple[object, ...]:
        return self.variable, self.values, self.step_scores, self.about, self.variables, self.report


class ChainBeliefs(_OfSteps):
    """The distribution, in each step, of each of several chains separately, found by an approximation.

    `values` has a row for each step and a column for each state of each chain, those of the first chain
    first. `log_likelihood` is a lower bound where `report.log_bounds` says so, and NaN where it is
    unknown. `report.intervals` has standard errors of sampled answers, in the shape of `values`.

    >>> import pgm
    >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0, 1]]))
    >>> found = both.smooth([0, 1, 1], engine="mean-field")
    >>> found.exact, found.marginal("chain1").values.shape
    (False, (3, 2))
    """

    __slots__ = ("about", "log_likelihood", "report", "step_scores", "values", "variables")
    variables: tuple[Variable, ...]
    values: np.ndarray  # (steps, states of all chains)
    log_likelihood: float
    step_scores: np.ndarray  # what each step adds to it; empty for sampled answers
    about: str

    def __init__(
        self,
        variables: tuple[Variable, ...],
        values: np.ndarray,
        step_scores: np.ndarray,
        about: str,
        report: Report,
    ) -> None:
        """Take the beliefs about each chain, side by side, and what each step contributes to the bound."""
        for name, value in (("values", values), ("step_scores", step_scores)):
            value.flags.writeable = False
            put(self, name, value)
        put(self, "log_likelihood", float(step_scores.sum()))
        put(self, "variables", variables)
        put(self, "about", about)
        put(self, "report", report)

    def marginal(self, name: str) -> StateBeliefs:
        """The distribution of one chain.

        Args:
            name: the chain.

        Raises:
            InvalidArgument: there is no such chain.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[1, 0], [1, 0], [0, 1], [0, 1]]))
        >>> both.smooth([0], engine="mean-field").marginal("chain1").values.tolist()
        [[0.5, 0.5]]
        """
        m = which(self.variables, name)
        begin = sum(v.card for v in self.variables[:m])
        part = slice(begin, begin + self.variables[m].card)

        def change(array: np.ndarray, known: Any) -> np.ndarray:
            return array[:, part].copy()

        report, intervals = self.report, self.report.intervals
        if isinstance(intervals, Intervals):
            report = report.changed(intervals=intervals.changed(change))
        values, scores = self.values[:, part].copy(), np.array(self.step_scores)
        return StateBeliefs(self.variables[m], values, scores, self.about, None, report)

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.values)

    def to_dict(self) -> dict[str, Any]:
        """The beliefs by chain and state, and the log-likelihood, as plain Python objects."""
        chains = {v.name: self.marginal(v.name).to_dict()["states"] for v in self.variables}
        known = None if np.isnan(self.log_likelihood) else self.log_likelihood
        return {"chains": chains, "log_likelihood": known, "exact": self.exact}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each step and a column for each state of each chain."""
        index = pandas().RangeIndex(len(self), name="step")
        pairs = [(v.name, state) for v in self.variables for state in v.states]
        columns = pandas().MultiIndex.from_tuples(pairs, names=["chain", "state"])
        frame: pd.DataFrame = pandas().DataFrame(self.values, index, columns, copy=True)
        return frame

    def _parts(self) -> tuple[object, ...]:
        return self.variables, self.values, self.step_scores, self.about, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[str(t), *map(Share, row)] for t, row in enumerate(self.values[:ROWS].tolist())]
        notes = noted(len(self), len(rows), "steps", self.report)
        said = self.about
        if not np.isnan(self.log_likelihood):
            said += f"; log-likelihood at least {self.log_likelihood:.6f}"
        header = ["step", *(f"{v.name}={label(state)}" for v in self.variables for state in v.states)]
        return header, rows, f"{notes}\n{said}".strip()


class JointPath(StatePath):
    """A tuple of states for each step, one of each chain.

    >>> import pgm
    >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0, 1]]))
    >>> path = both.decode([0, 1, 1])
    >>> path.path, path.chain("chain1")
    (((0, 1), (0, 1), (0, 1)), (1, 1, 1))
    """

    __slots__ = ("variables",)
    variables: tuple[Variable, ...]

    def __init__(
        self,
        variable: Variable,
        codes: np.ndarray,
        log_joint: float,
        log_likelihood: float | Callable[[], float],
        variables: tuple[Variable, ...],
        report: Report = CHAIN,
    ) -> None:
        """Take codes of tuples of states, and the chains that these states belong to."""
        super().__init__(variable, codes, log_joint, log_likelihood, report)
        put(self, "variables", variables)

    def chain(self, name: str) -> tuple[Any, ...]:
        """The states of one chain.

        Args:
            name: the chain.

        Raises:
            InvalidArgument: there is no such chain.

        >>> import pgm
        >>> coin = pgm.MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
        >>> both = pgm.FactorialHMM([coin, coin], pgm.Categorical([[1, 0], [0, 1], [0, 1], [0, 1]]))
        >>> both.decode([0, 0]).chain("chain0")
        (0, 0)
        """
        m = which(self.variables, name)
        return tuple([states[m] for states in self.path])

    def _parts(self) -> tuple[object, ...]:
        return self.variable, self.codes, self.log_joint, self.log_likelihood, self.variables, self.report


def which(variables: tuple[Variable, ...], name: str) -> int:
    """The index of a chain."""
    names = [variable.name for variable in variables]
    if name not in names:
        raise InvalidArgument(
            f"There is no chain {shown(name)}; there are {listed(names)}.{nearest(name, names)}"
        )
    return names.index(name)
