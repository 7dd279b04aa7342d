"""An answer for each of many variables with states: their distributions, or the maxima with each state."""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.printing import ROWS, Share, label, number
from pgm.results.base import ByName, new, noted, pandas, put
from pgm.results.discrete import Distribution, set_report, set_values, set_variables
from pgm.results.indexed import indexed
from pgm.results.intervals import farthest
from pgm.results.report import EXACT, Report
from pgm.results.scalars import Probability, exp
from pgm.variables import Variable, VariableList, typed_array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class _Values(ValuesView[Distribution | Any]):
    """The distributions, created on access: a million at once would keep the garbage collector busy."""

    _mapping: Marginals

    def __iter__(self) -> Iterator[Distribution | Any]:
        return self._mapping._all()


class _Items(ItemsView[str, Distribution | Any]):
    _mapping: Marginals

    def __iter__(self) -> Iterator[tuple[str, Distribution | Any]]:
        return zip(self._mapping, self._mapping._all(), strict=True)


def _then(p: Distribution, code: int) -> str:
    return f"{label(p.states[code])} {number(p.values[code])}"


def _of_part(report: Report, part: slice, values: np.ndarray) -> Report:
    """The report on one of several answers."""
    assert report.intervals is not None
    own = report.intervals.changed(lambda a, _: a[part])
    report = report.changed(intervals=own)
    if own.errors is None or own.effective_sizes is None:
        return report.changed(error=farthest(own, values))
    size = min(float(own.effective_sizes.min()), float(report.samples))
    hat = None if own.r_hat is None else float(own.r_hat.max())
    return report.changed(error=float(own.errors.max()), effective_sample_size=size, r_hat=hat)


class Marginals(ByName, Mapping[str, Distribution | Any]):
    """The distribution of each variable that is not observed: {name: Distribution}, in the model's order.

    >>> ab = [Variable("a", [0, 1]), Variable("b", ["x", "y", "z"])]
    >>> Marginals(ab, np.array([0.25, 0.75, 0.5, 0.125, 0.375]), [0, 2, 5])
    variable  most probable  P         next
    a         1              0.750000  0 0.250000
    b         x              0.500000  z 0.375000
    """

    __slots__ = ("_flat", "_offsets")
    _flat: np.ndarray
    _offsets: Sequence[int]

    def __init__(
        self,
        variables: Iterable[Variable],
        flat: np.ndarray,
        offsets: Sequence[int] | np.ndarray,
        report: Report = EXACT,
    ) -> None:
        """Take the probabilities of all variables in one array; those of the i-th begin at offsets[i]."""
        flat.flags.writeable = False
        put(self, "_variables", VariableList.of(variables))
        put(self, "_places", None)
        put(self, "report", report)
        put(self, "_flat", flat)
        put(self, "_offsets", offsets.tolist() if isinstance(offsets, np.ndarray) else list(offsets))

    def __getitem__(self, name: str) -> Distribution | Any:
        """The distribution of one variable."""
        i = self._place(name)
        return self._make(self._variables[i], self._offsets[i])

    def _all(self) -> Iterator[Distribution | Any]:
        return map(self._make, self._variables, self._offsets)

    def _make(self, variable: Variable, start: int) -> Distribution | Any:
        made = new(Distribution)  # read-only as the array that it is a part of
        part, report = slice(start, start + variable.domain.card), self.report
        values = self._flat[part]
        set_variables(made, (variable,))
        set_values(made, values)
        if report.facts and report.intervals is not None:
            report = _of_part(report, part, values)
        set_report(made, report)
        return made

    def items(self) -> ItemsView[str, Distribution | Any]:
        """Each name with its distribution."""
        return _Items(self)

    def values(self) -> ValuesView[Distribution | Any]:
        """The distributions."""
        return _Values(self)

    def to_dict(self) -> dict[str, dict[Any, float]]:
        """{name: {state: probability}}."""
        return {name: p.to_dict() for name, p in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A long frame with the columns variable, state, p."""
        cards = [domain.card for domain in self._variables.domains]
        states = [state for domain in self._variables.domains for state in domain.states]
        parts = [p.values for p in self.values()]
        columns = {
            "variable": np.repeat(np.array(list(self), dtype=object), cards),
            "state": typed_array(states),
            "p": np.concatenate(parts) if parts else np.zeros(0),
        }
        frame: pd.DataFrame = pandas().DataFrame(columns)
        return frame

    def to_array(self, prefix: str) -> np.ndarray:
        """The probabilities of the variables "prefix[0]", "prefix[1]", ..., or "prefix[0,0]", ....

        The last axis has the states, in order, which must be the same for all; the others are the indices.

        Args:
            prefix: the name before the brackets.

        Raises:
            InvalidArgument: no variable has such a name, some are missing, or they have different states.

        >>> pixels = [Variable(f"pixel[{i}]", ["black", "white"]) for i in range(2)]
        >>> Marginals(pixels, np.array([0.25, 0.75, 0.5, 0.5]), [0, 2]).to_array("pixel")
        array([[0.25, 0.75],
               [0.5 , 0.5 ]])
        """
        places, index, shape = indexed(self, prefix, self.report)
        first, *others = (self._variables.domains[i] for i in places)
        if any(other is not first and other != first for other in others):
            raise InvalidArgument(
                f"The variables '{prefix}[...]' do not all have the same states in the same order, so that "
                "their probabilities make no array. Take them one by one, by name."
            )
        begins = np.array(self._offsets)[places]
        result = np.empty((*shape, first.card))
        result[index] = self._flat[begins[:, np.newaxis] + np.arange(first.card)]
        return result

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the probabilities of every variable as bars; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.marginals(self, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        return self._variables, self._flat, self._offsets, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows, header = [], ["variable", "most probable", "P", "next"]
        if self.report.intervals is not None:
            header[3:3] = self.report.intervals.heads
        for name, p in islice(self.items(), ROWS):
            first, *rest = np.argsort(-p.values, kind="stable")[:2].tolist()
            then = Share(p.values[rest[0]], _then(p, rest[0])) if rest else ""
            ends = [] if p.report.intervals is None else p.report.intervals.cells(first)[0]
            rows.append([label(name), label(p.states[first]), Share(p.values[first]), *ends, then])
        notes = noted(len(self), len(rows), "variables", self.report)
        return header, rows, notes


class MaxMarginals(ByName, Mapping[str, Mapping[Any, "Probability"]]):
    """For each variable that is not observed {state: max P(all states, given) with it}, in the model's order.

    Each is a float with a `.log` that does not underflow. The largest of any variable is that of the
    most probable explanation, at its state there.

    >>> rain = Variable("rain", [False, True])
    >>> found = MaxMarginals([rain], np.log([0.14, 0.27]), [0])
    >>> found
    variable  state  P         next
    rain      True   0.270000  False 0.140000
    >>> round(found["rain"][False], 6)
    0.14
    """

    __slots__ = ("_flat", "_offsets")
    _flat: np.ndarray
    _offsets: list[int]

    def __init__(
        self,
        variables: Iterable[Variable],
        logs: np.ndarray,
        offsets: Sequence[int] | np.ndarray,
        report: Report = EXACT,
    ) -> None:
        """Take the logarithms of all in one array; those of the i-th variable begin at offsets[i]."""
        logs.flags.writeable = False
        put(self, "_variables", VariableList.of(variables))
        put(self, "_places", None)
        put(self, "report", report)
        put(self, "_flat", logs)
        put(self, "_offsets", [int(at) for at in offsets])

    def log_values(self, name: str) -> np.ndarray:
        """The logarithms of one variable's values, in the order of its states.

        Args:
            name: one of the variables.

        Raises:
            UnknownVariable: the name is not one of them.

        >>> import pgm
        >>> mrf = pgm.MarkovNetwork()
        >>> mrf.add_variable("a", states=["red", "blue"])
        >>> mrf.add_factor("a", [3.0, 1.0])
        >>> mrf.max_marginals().log_values("a").round(6).tolist()
        [1.098612, 0.0]
        """
        i = self._place(name)
        return self._flat[self._offsets[i] : self._offsets[i] + self._variables.domains[i].card]

    def __getitem__(self, name: str) -> Mapping[Any, Probability]:
        """The values of one variable, by its states."""
        logs = self.log_values(name)
        states = self._variables[self._place(name)].states
        made = {
            s: Probability(exp(x), self.report, log=x) for s, x in zip(states, logs.tolist(), strict=True)
        }
        return MappingProxyType(made)

    def to_dict(self) -> dict[str, dict[Any, float]]:
        """{name: {state: probability}}."""
        return {name: {state: float(p) for state, p in each.items()} for name, each in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A long frame with the columns variable, state, p and log_p."""
        cards = [domain.card for domain in self._variables.domains]
        logs = np.concatenate([self.log_values(name) for name in self]) if len(self) else np.zeros(0)
        columns = {
            "variable": np.repeat(np.array(list(self), dtype=object), cards),
            "state": typed_array([state for domain in self._variables.domains for state in domain.states]),
            "p": [exp(x) for x in logs.tolist()],
            "log_p": logs,
        }
        frame: pd.DataFrame = pandas().DataFrame(columns)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the best probability with each state, relative to the best of all; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.max_marginals(self, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        return self._variables, self._flat, self._offsets, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        top = float(self._flat.max(initial=0.0 if not len(self) else -math.inf))
        head = "P" if top <= 0.0 else "product"
        in_logs = not -600.0 < top < 600.0

        def value(log: float) -> str:
            return f"{log:.6f}" if in_logs else number(math.exp(log))

        rows = []
        for name in islice(self, ROWS):
            logs, states = self.log_values(name), self._variables[self._place(name)].states
            first, *rest = np.argsort(-logs, kind="stable")[:2].tolist()
            then = f"{label(states[rest[0]])} {value(float(logs[rest[0]]))}" if rest else ""
            rows.append([label(name), label(states[first]), value(float(logs[first])), then])
        notes = noted(len(self), len(rows), "variables", self.report)
        return ["variable", "state", f"log {head}" if in_logs else head, "next"], rows, notes
