"""Results of sensitivity analyses of influence diagrams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pgm.calls import guard_methods
from pgm.cpds.table_input import is_number
from pgm.errors import InvalidArgument, shown
from pgm.printing import ROWS, Tabular, label
from pgm.results.base import Result, pandas, put
from pgm.results.report import EXACT, Report

from .parameters import Parameter
from .varying import Changes, Line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Segment:
    """A range of a parameter over which one policy is optimal.

    >>> Segment(0.0, 0.5, Line(1.0, 2.0), {}).expected_utility(0.25)
    1.5
    """

    low: float
    high: float
    line: Line
    changes: Changes  # its differences from the current policy, {decision: {what is known: action}}
    otherwise: str = ""  # the same in words

    def expected_utility(self, x: float) -> float:
        """The expected utility of the optimal policy there.

        Args:
            x: a value of the parameter.

        Raises:
            InvalidArgument: it lies outside.

        >>> Segment(0.0, 0.5, Line(1.0, 2.0), {}).expected_utility(0.25)
        1.5
        """
        if not is_number(x) or not self.low <= x <= self.high:
            raise InvalidArgument(f"x is a number from {self.low:g} to {self.high:g}, not {shown(x)}.")
        return float(self.line(x))


@dataclass(frozen=True)
class Effect:
    """The effect of one parameter: the expected utility at two values, and where the policy stays."""

    parameter: Parameter
    low: float
    high: float
    at_low: float  # the expected utility of the best policy there
    at_high: float
    stays: tuple[float, float]  # the range over which the current policy is optimal
    below: Changes  # what the best policy does otherwise just below, and above
    above: Changes

    @property
    def size(self) -> float:
        """By how much the two expected utilities differ."""
        return abs(self.at_high - self.at_low)


class Sensitivities(Result, Tabular, Mapping[str, Effect]):
    """The effect of each parameter on the expected utility, the largest first.

    >>> import pgm
    >>> d = pgm.InfluenceDiagram()
    >>> d.add_chance("rain", 0.3)
    >>> d.add_decision("umbrella", [False, True])
    >>> comfort = {(True, False): -10, (True, True): 2, (False, True): 5, (False, False): 8}
    >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
    >>> d.sensitivity("rain")
    parameter     now       utility if lower  if higher  policy stays from  to
    P(rain=True)  0.300000  4.4               3.8        0.2                1
    utility now 4.1
    """

    __slots__ = ("_effects", "expected_utility", "report")
    report: Report
    expected_utility: float  # now
    _effects: dict[str, Effect]

    def __init__(
        self, effects: Mapping[str, Effect], expected_utility: float, report: Report = EXACT
    ) -> None:
        """Store the effects by the names of parameters."""
        ranked = sorted(effects, key=lambda name: -effects[name].size)
        put(self, "_effects", {name: effects[name] for name in ranked})
        put(self, "expected_utility", float(expected_utility))
        put(self, "report", report)

    def __getitem__(self, name: str) -> Effect:
        return self._effects[str(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._effects)

    def __len__(self) -> int:
        return len(self._effects)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """{parameter: {"now", "from", "to", "utility from", "utility to", "stays from", "stays to"}}."""
        return {name: dict(zip(_COLUMNS, _cells(one), strict=True)) for name, one in self.items()}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each parameter."""
        rows = [_cells(one) for one in self.values()]
        frame: pd.DataFrame = pandas().DataFrame(rows, columns=_COLUMNS, index=list(self))
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw a tornado chart: for each parameter the range of expected utilities; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.tornado(self, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        return self._effects, self.expected_utility, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for name, one in islice(self.items(), ROWS):
            now, _, _, *rest = _cells(one)
            now_ = f"{now:.6g}" if one.parameter.is_utility else f"{now:.6f}"
            rows.append([label(name), now_, *[f"{x:.6g}" for x in rest]])
        more = len(self) - len(rows)
        notes = [f"... {more:,} more"] if more else []
        notes.append(f"utility now {self.expected_utility:.6g}")
        return _HEADER, rows, "\n".join(notes if self.exact else [*notes, self.report.summary])


_COLUMNS = ["now", "from", "to", "utility from", "utility to", "stays from", "stays to"]
_HEADER = ["parameter", "now", "utility if lower", "if higher", "policy stays from", "to"]


def _cells(one: Effect) -> list[float]:
    return [one.parameter.value, one.low, one.high, one.at_low, one.at_high, *one.stays]


class Sensitivity(Result, Tabular):
    """The expected utility as a function of one parameter, optimal and for each action of a decision.

    `segments` are the ranges in which one policy is optimal; `stays` that of the current policy.

    >>> import pgm
    >>> d = pgm.InfluenceDiagram()
    >>> d.add_chance("rain", 0.3)
    >>> d.add_decision("umbrella", [False, True])
    >>> comfort = {(True, False): -10, (True, True): 2, (False, True): 5, (False, False): 8}
    >>> d.add_utility("comfort", comfort, parents=["rain", "umbrella"])
    >>> found = d.sensitivity(("rain", {"rain": True}))
    >>> found
    P(rain=True)  to   utility from  utility to  otherwise than now
    0             0.2  8             4.4         umbrella: False
    0.2           1    4.4           2           -
    now 0.3: utility 4.1; the policy stays from 0.2 to 1
    >>> found.actions(0.5)
    {False: -1.0, True: 3.5}
    """

    __slots__ = ("_actions", "decision", "parameter", "report", "segments", "stays")
    report: Report
    parameter: Parameter
    segments: tuple[Segment, ...]
    stays: tuple[float, float]
    decision: str  # whose actions are compared; "": there is none
    _actions: dict[Any, tuple[Segment, ...]]

    def __init__(
        self,
        parameter: Parameter,
        segments: tuple[Segment, ...],
        stays: tuple[float, float],
        decision: str,
        actions: Mapping[Any, tuple[Segment, ...]],
        report: Report = EXACT,
    ) -> None:
        """Store the segments of the optimal policy, and those of each action."""
        put(self, "parameter", parameter)
        put(self, "segments", tuple(segments))
        put(self, "stays", stays)
        put(self, "decision", decision)
        put(self, "_actions", dict(actions))
        put(self, "report", report)

    @property
    def low(self) -> float:
        """The smallest value of the parameter that was examined."""
        return self.segments[0].low

    @property
    def high(self) -> float:
        """The largest value of the parameter that was examined."""
        return self.segments[-1].high

    def expected_utility(self, x: float) -> float:
        """Return the expected utility of the optimal policy at x.

        Args:
            x: a value of the parameter.

        Raises:
            InvalidArgument: it lies outside the range that was examined.

        >>> Sensitivity(Parameter("p", {}, True, 0.5), (Segment(0.0, 1.0, Line(2.0, 4.0), {}),), (0.0, 1.0),
        ...     "", {}).expected_utility(0.25)
        3.0
        """
        return _at(self.segments, self._checked(x))

    def actions(self, x: float) -> dict[Any, float]:
        """Return the expected utility of each action at x, {action: expected utility}.

        An action is taken whatever is observed; later decisions are optimal.

        Args:
            x: a value of the parameter.

        Raises:
            InvalidArgument: it lies outside the range that was examined.

        >>> lines = {"go": (Segment(0.0, 1.0, Line(2.0, 4.0), {}),)}
        >>> Sensitivity(Parameter("p", {}, True, 0.5), lines["go"], (0.0, 1.0), "act", lines).actions(0.5)
        {'go': 4.0}
        """
        x = self._checked(x)
        return {action: _at(segments, x) for action, segments in self._actions.items()}

    def _checked(self, x: float) -> float:
        if not is_number(x) or not self.low <= x <= self.high:
            raise InvalidArgument(f"x is a number from {self.low:g} to {self.high:g}, not {shown(x)}.")
        return float(x)

    def to_dict(self) -> dict[str, Any]:
        """The parameter, its value, where the policy stays, and a list of the segments."""
        segments = [
            {
                "from": s.low,
                "to": s.high,
                "utility from": s.expected_utility(s.low),
                "utility to": s.expected_utility(s.high),
                "changes": {name: dict(own) for name, own in s.changes.items()},
            }
            for s in self.segments
        ]
        name = str(self.parameter)
        return {"parameter": name, "now": self.parameter.value, "stays": self.stays, "segments": segments}

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each segment."""
        columns = ["from", "to", "utility from", "utility to", "otherwise than now"]
        frame: pd.DataFrame = pandas().DataFrame([_row(s) for s in self.segments], columns=columns)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the expected utility of each action, and of the best policy; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.sensitivity(self, ax, figsize=figsize, title=title)

    def _parts(self) -> tuple[object, ...]:
        return self.parameter, self.segments, self.stays, self.decision, self._actions, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for segment in self.segments[:ROWS]:
            *values, otherwise = _row(segment)
            rows.append([*[f"{x:.6g}" for x in values], otherwise or "-"])
        more = len(self.segments) - len(rows)
        notes = [f"... {more:,} more"] if more else []
        now, (low, high) = self.parameter.value, self.stays
        worth = _at(self.segments, min(max(now, self.low), self.high))
        notes.append(f"now {now:.6g}: utility {worth:.6g}; the policy stays from {low:.6g} to {high:.6g}")
        header = [label(str(self.parameter)), "to", "utility from", "utility to", "otherwise than now"]
        return header, rows, "\n".join(notes if self.exact else [*notes, self.report.summary])


def _at(segments: tuple[Segment, ...], x: float) -> float:
    return next((s for s in segments if x <= s.high), segments[-1]).expected_utility(x)


def _row(segment: Segment) -> list[Any]:
    ends = [segment.low, segment.high]
    return [*ends, *[segment.expected_utility(x) for x in ends], segment.otherwise]


guard_methods([Segment])
