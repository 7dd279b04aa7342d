"""Assignments of states to variables: the most probable one, or several ranked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import TooLarge
from pgm.printing import ROWS, Share, Tabular, joined, label, number
from pgm.results.base import ByName, noted, pandas, put
from pgm.results.indexed import indexed
from pgm.results.report import EXACT, Report
from pgm.results.scalars import Probability
from pgm.variables import Variable, VariableList, typed_array

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Assignment(ByName, Mapping[str, Any]):
    """A state for each of some variables: {name: state}; an answer to "what is most probable?".

    `log_joint`, also called `value`, is log P(states, given), and `bound` is an upper bound on it for any
    states: equal to it when the answer is exact.

    >>> rain = Variable("rain", ["no", "yes"])
    >>> best = Assignment((rain,), [1], log_probability=math.log(0.8), log_joint=math.log(0.2))
    >>> best["rain"], round(best.probability, 6), best.gap
    ('yes', 0.8, 0.0)
    """

    __slots__ = ("_log_probability", "bound", "codes", "log_joint")
    codes: np.ndarray
    log_joint: float
    bound: float
    _log_probability: float | None

    def __init__(
        self,
        variables: Iterable[Variable],
        codes: Sequence[int] | np.ndarray,
        log_probability: float | None,
        log_joint: float,
        report: Report = EXACT,
        bound: float | None = None,
    ) -> None:
        """Take codes of states, log P(states | given) if known, log P(states, given) and its bound."""
        kept = np.array(codes, dtype=np.int32)
        kept.flags.writeable = False
        put(self, "_variables", VariableList.of(variables))
        put(self, "_places", None)
        put(self, "report", report)
        put(self, "codes", kept)
        put(self, "_log_probability", None if log_probability is None else float(log_probability))
        put(self, "log_joint", float(log_joint))
        put(self, "bound", float(log_joint if bound is None else bound))

    @property
    def value(self) -> float:
        """The objective that was maximised: log P(states, given)."""
        return self.log_joint

    @property
    def gap(self) -> float:
        """An upper bound on how much `value` can be improved; 0 if this is the best."""
        return self.bound - self.log_joint

    @property
    def log_probability(self) -> float:
        """Log P(states | given); `TooLarge` where log P(given) is too expensive, as for a large image."""
        if self._log_probability is None:
            raise TooLarge(
                "The probability of these states needs P(given), the sum over all states, which is too large "
                "a sum here. `log_joint` is known: log P(states, given), up to the constant of the model."
            )
        return self._log_probability

    @property
    def is_normalised(self) -> bool:
        """Whether `log_probability` is known: P(given) was not too expensive."""
        return self._log_probability is not None

    @property
    def probability(self) -> Probability:
        """The probability of these states, given what was known."""
        return Probability(math.exp(min(self.log_probability, 700.0)), self.report, log=self.log_probability)

    def __getitem__(self, name: str) -> Any:
        """The state of one variable."""
        i = self._place(name)
        return self._variables.domains[i].states[self.codes[i]]

    def to_dict(self) -> dict[str, Any]:
        """{name: state}."""
        found = self._variables
        states = [domain.states[c] for domain, c in zip(found.domains, self.codes.tolist(), strict=True)]
        return dict(zip(found.names, states, strict=True))

    def to_pandas(self) -> pd.Series:
        """A Series of states, its index the names."""
        states, names = (
            typed_array(list(self.to_dict().values())),
            pandas().Index(list(self), name="variable"),
        )
        series: pd.Series = pandas().Series(states, names, name="state")
        return series

    def _states(self, places: Sequence[int]) -> np.ndarray:
        """The states at some positions, as an array."""
        domains, codes = self._variables.take(places).domains, self.codes[places]
        if all(domain is domains[0] for domain in domains):
            return np.take(domains[0].array, codes)
        states = [domain.states[code] for domain, code in zip(domains, codes.tolist(), strict=True)]
        return typed_array(states)

    def to_array(self, prefix: str) -> np.ndarray:
        """The states of the variables "prefix[0]", "prefix[1]", ..., or "prefix[0,0]", ..., as an array.

        Args:
            prefix: the name before the brackets.

        Raises:
            InvalidArgument: no variable has such a name, or some are missing.

        >>> pixels = [Variable(f"pixel[{i},{j}]", [0, 1]) for i in range(2) for j in range(2)]
        >>> Assignment(pixels, [1, 0, 0, 1], 0.0, 0.0).to_array("pixel")
        array([[1, 0],
               [0, 1]])
        """
        places, index, shape = indexed(self, prefix, self.report)
        array = self._states(places)
        result = np.empty(shape, dtype=array.dtype)
        result[index] = array
        return result

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the states; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.assignment(self, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        log = self._log_probability
        return self._variables, self.codes, log, self.log_joint, self.report, self.bound

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[label(name), label(state)] for name, state in islice(self.items(), ROWS)]
        notes = noted(len(self), len(rows), "variables", self.report)
        log = self._log_probability
        if log is None:
            chance = f"log joint {self.log_joint:.10g}"
        elif log > -600:
            chance = f"probability {number(math.exp(log))}"
        else:
            chance = f"log probability {log:.6g}"
        if self.gap > 0.0:
            chance += f", at most {self.gap:.6g} (in logarithms) below the best"
        return ["variable", "state"], rows, "\n".join(note for note in (chance, notes) if note)


class RankedAssignments(Tabular, list[Assignment]):
    """Several assignments, the most probable first: a list that prints as one table of where they differ.

    >>> rain, wet = Variable("rain", ["no", "yes"]), Variable("wet", ["no", "yes"])
    >>> logs = {(1, 1): math.log(0.6), (0, 1): math.log(0.3)}
    >>> RankedAssignments(Assignment((rain, wet), codes, log, log) for codes, log in logs.items())
    P         rain
    0.600000  yes
    0.300000  no
    the same in all: wet=yes
    """

    def differing(self) -> list[str]:
        """The variables that do not have the same state in all."""
        if not self:
            return []
        differ = (np.array([one.codes for one in self]) != self[0].codes).any(axis=0)
        return [name for name, some in zip(self[0], differ.tolist(), strict=True) if some]

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw their probabilities as bars, next to the states in which they differ; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.ranked_assignments(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not self:
            return ["P"], [], "no states are possible"
        names = self.differing()
        some_names = names[:ROWS]
        in_logs = not all(one.is_normalised for one in self)
        rows = [
            [
                _digits(one.log_joint) if in_logs else Share(math.exp(one.log_probability)),
                *(label(one[name]) for name in some_names),
            ]
            for one in self[:ROWS]
        ]
        notes = (
            [f"... {len(self) - len(rows):,} more of {len(self):,} explanations"]
            if len(self) > len(rows)
            else []
        )
        if len(names) > len(some_names):
            notes.append(f"... {len(names) - len(some_names):,} more of {len(names):,} variables that differ")
        same = [name for name in islice(self[0], 1000) if name not in names]
        if same:
            some = (f"{label(name)}={label(self[0][name])}" for name in same)
            notes.append(f"the same in all: {joined(some, len(self[0]) - len(names), 80)}")
        notes.append(noted(0, 0, "", self[0].report))
        header = ["log joint" if in_logs else "P", *map(label, some_names)]
        return header, rows, "\n".join(note for note in notes if note)


def _digits(value: float) -> str:
    return f"{value:.10g}"
