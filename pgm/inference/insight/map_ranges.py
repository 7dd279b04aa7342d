"""How far each parameter of a network may move before another explanation is the most probable.

When an entry of a table changes, the other entries of its row change in proportion. So explanations that use
the entry, those that use another entry of its row, and those that use another row each change by a common
factor: the best one stays the best until the best of another kind overtakes it (Chan & Darwiche 2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.errors import InvalidArgument, UnknownVariable
from pgm.evidence import observe
from pgm.inference.asking import session
from pgm.inference.asking.failures import refuse_soft
from pgm.inference.asking.questions import Questions
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.exact.expected_statistics import largest_entries
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.insight.aims import Given, log_odds
from pgm.inference.insight.sensitivity import index_of, text_of
from pgm.inference.insight.slopes import Counts, Node, Parameters, SlopeLayout
from pgm.printing import ROWS, Tabular, number
from pgm.results import Assignment
from pgm.results.base import Result, condition, pandas, put
from pgm.results.report import Report
from pgm.runtime.clock import start_clock

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class MapRange:
    """One entry of a table, and the range over which the best explanation stays the same."""

    node: str
    key: Any  # the states of the parents and the child
    text: str
    value: float  # the current value
    range: tuple[float, float]

    @property
    def room(self) -> float:
        """How far the entry is from the nearest end beyond which another explanation wins; inf: none does."""
        low, high = self.range
        ends = [self.value - low] * (low > 0.0) + [high - self.value] * (high < 1.0)
        return min(ends, default=float("inf"))

    @property
    def log_odds_room(self) -> float:
        """How far the entry's log-odds are from the nearest such end."""
        low, high = self.range
        ends = [end for end, inside in ((low, low > 0.0), (high, high < 1.0)) if inside]
        return min((abs(log_odds(end) - log_odds(self.value)) for end in ends), default=float("inf"))


class MapSensitivity(Result, Tabular, Sequence[MapRange]):
    """How far each parameter may move before another explanation is the most probable, closest first.

    The list has the parameters that can change it; `stays` counts those that cannot, `left_out` those at 0 or
    1. Parameters of distributions other than tables are not included. `s.range("wet", (True, False, True))`
    gives the range of any entry.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
    >>> net.map_sensitivity({"wet": True})
    parameter              value     stays from  to
    rain=True              0.300000  0.181818    1.000000
    wet=True | rain=False  0.200000  0.000000    0.385714
    wet=True | rain=True   0.900000  0.466667    1.000000
    rain=True given wet=True stays the most probable explanation
    """

    __slots__ = ("_high", "_layout", "_low", "_order", "best", "report")
    report: Report
    best: Assignment
    _layout: SlopeLayout
    _low: np.ndarray  # NaN: left out
    _high: np.ndarray
    _order: np.ndarray  # of the parameters that can change it

    def __init__(
        self, best: Assignment, layout: SlopeLayout, low: np.ndarray, high: np.ndarray, report: Report
    ) -> None:
        """Store the best explanation, and the ends of every range."""
        put(self, "best", best)
        put(self, "_layout", layout)
        put(self, "_low", low)
        put(self, "_high", high)
        put(self, "report", report)
        with np.errstate(invalid="ignore"):
            below = np.where(low > 0.0, layout.values - low, np.inf)
            room = np.minimum(below, np.where(high < 1.0, high - layout.values, np.inf))
        some = np.flatnonzero(layout.shown & np.isfinite(room))
        put(self, "_order", some[np.argsort(room[some], kind="stable")])

    def _parts(self) -> tuple[object, ...]:
        return self.best, self._layout, self._low, self._high, self.report

    @property
    def left_out(self) -> int:
        """How many parameters have no range."""
        return int(np.isnan(self._low).sum())

    @property
    def stays(self) -> int:
        """How many parameters cannot change the best explanation, whatever their values."""
        return int((self._layout.shown & ~np.isnan(self._low)).sum()) - len(self)

    def __len__(self) -> int:
        return self._order.size

    def __getitem__(self, index: Any) -> Any:
        found = self._order[index]
        return [self._one(int(at)) for at in found] if isinstance(index, slice) else self._one(int(found))

    def __iter__(self) -> Iterator[MapRange]:
        return map(self._one, self._order.tolist())

    def range(self, name: str, key: Any) -> MapRange:
        """Return the range of any entry.

        Args:
            name: a node.
            key: the states of its parents and its own, as for `sensitivity(...).curve`.

        Raises:
            UnknownVariable: the node does not exist or has no parameters here.
            InvalidArgument: there is no such parameter, or it is 0 or 1.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
        >>> net.map_sensitivity({"wet": True}).range("rain", False).range
        (0.0, 0.8181818181818181)
        """
        nodes = {node.name: node for node in self._layout.nodes}
        if name not in nodes:
            raise UnknownVariable(name, nodes, where="The tables of this network")
        at = nodes[name].begin + index_of(nodes[name], key)
        if np.isnan(self._low[at]):
            text, value = text_of(nodes[name], at - nodes[name].begin), self._layout.values[at]
            raise InvalidArgument(
                f"{text} is {value:g}: the other entries of its row cannot change in proportion."
            )
        return self._one(at)

    def _one(self, at: int) -> MapRange:
        node = self._owner(at)
        index = at - node.begin
        ends = float(self._low[at]), float(self._high[at])
        return MapRange(
            node.name, node.key(index), text_of(node, index), float(self._layout.values[at]), ends
        )

    def _owner(self, at: int) -> Node:
        nodes = self._layout.nodes
        return nodes[int(np.searchsorted([node.end for node in nodes], at, side="right"))]

    def to_dict(self) -> dict[str, tuple[float, float]]:
        """{parameter: the range over which the best explanation stays the same}."""
        return {one.text: one.range for one in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each parameter that can change it: node, parameter, value, from, to."""
        rows = [(one.node, one.text, one.value, *one.range) for one in self]
        frame: pd.DataFrame = pandas().DataFrame(rows, columns=["node", "parameter", "value", "from", "to"])
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        count: int = 15,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the narrowest ranges, with the current values marked; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            count: the number of parameters to draw.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        some = {one.text: (one.value, *one.range) for one in islice(self, count)}
        head = "where the most probable explanation stays"
        return plot.ranges(some, head, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[one.text, number(one.value), *map(number, one.range)] for one in islice(self, ROWS)]
        notes = [f"... {len(self) - len(rows):,} more of {len(self):,} parameters"] * (len(self) > len(rows))
        shown = condition(dict(self.best.items()))
        known = f" given {condition(self.given)}" if self.given else ""
        notes.append(f"{shown}{known} stays the most probable explanation")
        if self.stays:
            notes.append(f"{self.stays:,} parameters cannot change it at any value")
        if self.left_out:
            notes.append(f"{self.left_out:,} parameters that are 0 or 1 are left out")
        return ["parameter", "value", "stays from", "to"], rows, "\n".join(notes)


def map_sensitivity(model: Questions, others: Mapping[str, CPD], given: Given) -> MapSensitivity:
    """See `BayesianNetwork.map_sensitivity`; `others` are the distributions other than tables."""
    clock = start_clock()
    compiled = model._compile_in(clock)
    observed = observe(compiled.by_name, given)
    refuse_soft(observed)
    if compiled.gaussians is not None:
        raise InvalidArgument(
            "The network has continuous variables: there are ranges only for explanations by states alone."
        )
    best = model.map(observed.given)
    assert isinstance(best, Assignment)

    def answer() -> np.ndarray:
        at = make_posterior(compiled, observed, clock)
        assert isinstance(at, Posterior)
        return largest_entries(at)

    flat = session.answered(compiled, observed, clock, answer)
    everything = np.ones_like(flat)  # every table matters to an explanation of everything
    layout = Parameters(model, compiled, others, zeros=False, clock=clock).layout(
        Counts(everything, None, {})
    )
    low, high = _ends(np.exp(flat[layout.entries]), layout)
    return MapSensitivity(best, layout, low, high, best.report)


def _ends(share: np.ndarray, layout: SlopeLayout) -> tuple[np.ndarray, np.ndarray]:
    """The ends of each range, from the best explanations with each entry, as shares of the best of all."""
    theta, rows, cards = layout.values, layout.rows, layout.cards
    if not rows.size:
        return np.empty(0), np.empty(0)
    row_of = np.repeat(np.arange(rows.size), cards)
    mine = np.maximum.reduceat(share, rows)
    table_of = np.repeat(np.arange(len(layout.tables)), layout.tables[:, 2] - layout.tables[:, 1])
    elsewhere = _largest_other(mine, table_of[rows])[row_of]  # the best in other rows of the table
    beside = _largest_other(share, row_of)  # the best among the other entries of the row
    with np.errstate(divide="ignore", invalid="ignore"):
        # Explanations with the entry change by t / theta, those beside it by (1 - t) / (1 - theta).
        ratio = beside / share * theta / (1.0 - theta)
        has = (share >= beside) & (share >= elsewhere)
        low_if = np.maximum(ratio / (1.0 + ratio), theta * elsewhere / share)
        turn = share / beside * (1.0 - theta) / theta  # (1 - t) / t where both are the same
        high_beside = np.minimum(1.0 / (1.0 + turn), 1.0 - (1.0 - theta) * elsewhere / beside)
        is_beside = ~has & (beside >= elsewhere)
        high_else, low_else = theta * elsewhere / share, 1.0 - (1.0 - theta) * elsewhere / beside
    low = np.where(has, low_if, np.where(is_beside, 0.0, np.fmax(low_else, 0.0)))
    high = np.where(has, 1.0, np.where(is_beside, high_beside, np.fmin(high_else, 1.0)))
    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    out = (theta <= 0.0) | (theta >= 1.0) | np.isnan(share)
    low[out] = high[out] = np.nan
    return low, high


def _largest_other(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """For each value, the largest other value of its group, 0 if there is none; groups are contiguous."""
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    first = np.maximum.reduceat(values, begins)
    place = np.cumsum(np.diff(group, prepend=-1) != 0) - 1
    is_first = values == first[place]
    alone = np.add.reduceat(is_first, begins) == 1
    rest = np.where(is_first & alone[place], 0.0, values)
    second = np.maximum.reduceat(rest, begins)
    return np.asarray(np.where(is_first & alone[place], second[place], first[place]))
