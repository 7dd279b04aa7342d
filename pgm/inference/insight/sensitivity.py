"""Sensitivity of an answer to the parameters: derivatives, sensitivity functions, admissible ranges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.errors import InvalidArgument, UnknownVariable, listed, shown
from pgm.inference.asking.questions import Questions
from pgm.inference.insight.aims import Aim, Given, aim
from pgm.inference.insight.curve import Curve, at_end
from pgm.inference.insight.slopes import Node, Parameters, SlopeLayout
from pgm.printing import ROWS, Tabular, label, number
from pgm.results.base import Result, pandas, put
from pgm.results.report import Report
from pgm.runtime.clock import start_clock
from pgm.variables import State

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class AnswerSensitivity(Result, Tabular):
    """The derivative of a posterior probability with respect to each parameter, largest first.

    A change of an entry changes the others of its row in proportion. `s["wet"]` has the shape of the table;
    `s.curve("wet", (True, False, True))` is the answer as a function of one entry, named by the states of the
    parents and of the child. `s.left_out` counts parameters that are 0 or 1, which proportional scaling
    cannot move; with `zeros=True` they are included.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
    >>> net.sensitivity("rain", {"wet": True})
    P(rain=True | wet=True) = 0.658537
    parameter              value     derivative  answer at 0 .. 1
    wet=True | rain=False  0.200000  -1.124331   1.000000 .. 0.278351
    rain=True              0.300000  1.070791    0.000000 .. 1.000000
    wet=True | rain=True   0.900000  0.249851    0.000000 .. 0.681818
    """

    __slots__ = ("_down", "_layout", "_order", "_others", "_slopes", "aim", "report")
    report: Report
    aim: Aim
    _layout: SlopeLayout
    _slopes: np.ndarray  # of the answer
    _down: np.ndarray  # of log P(given); NaN where P(given) is not linear in the parameter
    _others: np.ndarray | None  # (parameters, states): the slopes of P(each state, given) / P(given)
    _order: np.ndarray | None  # see `_live`

    def __init__(
        self,
        aim: Aim,
        layout: SlopeLayout,
        slopes: np.ndarray,
        down: np.ndarray,
        others: np.ndarray | None,
        report: Report,
    ) -> None:
        """Store the results of `sensitivity`."""
        put(self, "aim", aim)
        put(self, "_layout", layout)
        put(self, "_slopes", slopes)
        put(self, "_down", down)
        put(self, "_others", others)
        put(self, "_order", None)
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self.aim, self._layout, self._slopes, self._down, self._others, self.report

    @property
    def _values(self) -> np.ndarray:
        return self._layout.values

    @property
    def _live(self) -> np.ndarray:
        """The parameters to show, by decreasing derivative; sorted on first access."""
        if self._order is None:
            some = np.flatnonzero(~np.isnan(self._slopes) & self._layout.shown)
            put(self, "_order", some[np.argsort(-np.abs(self._slopes[some]), kind="stable")])
        assert self._order is not None
        return self._order

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.aim.name

    @property
    def state(self) -> State:
        """The state whose probability is differentiated."""
        return self.aim.state

    @property
    def probability(self) -> float:
        """Its current probability."""
        return self.aim.probability

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes whose parameters matter to this answer."""
        return tuple([node.name for node in self._layout.nodes])

    @property
    def left_out(self) -> int:
        """How many parameters have no derivative: they are 0 or 1, without `zeros=True`."""
        return int(np.isnan(self._slopes).sum())

    def __len__(self) -> int:
        """How many parameters have a derivative."""
        return int(self._slopes.size) - self.left_out

    def __iter__(self) -> Iterator[Curve]:
        """The curves, the largest derivative first; of a row with two states only that of the second."""
        return map(self._curve, self._live.tolist())

    def __getitem__(self, name: str) -> np.ndarray:
        """The derivatives for the parameters of a node, in the shape of its table; NaN if there is none."""
        node = self._node(name)
        found = self._slopes[node.begin : node.end].reshape(node.shape)
        found.setflags(write=False)
        return found

    def curve(self, name: str, key: Any) -> Curve:
        """Return the answer as a function of one parameter.

        Args:
            name: a node that matters to the answer.
            key: the states of the parents and of the child, in the order of the table, or {name: state}; the
                state alone if there are no parents; for gates and densities the parameter's printed name.

        Raises:
            UnknownVariable: the node is not in the network, or does not matter.
            InvalidArgument: there is no such parameter, or it is 0 or 1.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
        >>> curve = net.sensitivity("rain", {"wet": True}).curve("wet", (False, True))
        >>> round(curve(0.1), 6), round(curve.range[1], 6)
        (0.794118, 0.385714)
        """
        node = self._node(name)
        at = node.begin + index_of(node, key)
        if math.isnan(self._slopes[at]):
            raise InvalidArgument(
                f"{text_of(node, at - node.begin)}: this parameter is {self._values[at]:g}, and its row "
                "cannot change in proportion. sensitivity(..., zeros=True) includes such parameters."
            )
        return self._curve(at)

    def _node(self, name: str) -> Node:
        for node in self._layout.nodes:
            if node.name == name:
                return node
        raise UnknownVariable(name, self.nodes, where="The parameters that this answer depends on")

    def _owner(self, at: int) -> Node:
        return self._layout.nodes[
            int(np.searchsorted([node.end for node in self._layout.nodes], at, side="right"))
        ]

    def _curve(self, at: int) -> Curve:
        node, p, value = self._owner(at), self.probability, float(self._values[at])
        down, slope = float(self._down[at]), float(self._slopes[at])
        index = at - node.begin
        span = order = None
        if self._others is not None and not math.isnan(down):
            span = _range(self.aim.answer.values, self._others[at], value)
            order = _range(self.aim.answer.values, self._others[at], value, order=True)
        return Curve(node.name, node.key(index), text_of(node, index), value, p, slope, down, span, order)

    def to_dict(self) -> dict[str, np.ndarray]:
        """{node: the derivatives for its parameters, in the shape of its table}."""
        return {node.name: self[node.name] for node in self._layout.nodes}

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each of these parameters: node, parameter, value, derivative."""
        curves = list(self)
        frame: pd.DataFrame = pandas().DataFrame(
            {
                "node": [c.node for c in curves],
                "parameter": [c.text for c in curves],
                "value": [c.value for c in curves],
                "derivative": [c.derivative for c in curves],
            }
        )
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "tornado",
        count: int = 15,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the most influential parameters; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            kind: "tornado", the answer as each parameter moves a tenth of the way to 0 and to 1; or
                "curves", the answer over each parameter.
            count: the number of parameters to draw.
            figsize: width and height of a new figure in inches.
            title: the title.

        Raises:
            InvalidArgument: there is no such kind.
        """
        from pgm import plot

        if kind not in ("tornado", "curves"):
            raise InvalidArgument(f'kind is "tornado" or "curves", not {shown(kind)}.')
        curves = [c for c in islice(self, 4 * count) if not math.isnan(c.down)][:count]
        draw = plot.answer_tornado if kind == "tornado" else plot.answer_curves
        return draw(curves, self.aim.title, ax, figsize=figsize, title=title)

    def _heading(self) -> str:
        return f"{self.aim.title} = {number(self.probability)}"

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for curve in islice(self, ROWS):
            ends = "" if math.isnan(curve.down) else " .. ".join(map(at_end, (curve, curve), (0.0, 1.0)))
            rows.append([curve.text, number(curve.value), number(curve.derivative), ends])
        more = self._live.size - len(rows)
        notes = [f"... {more:,} more of {self._live.size:,} parameters"] if more > 0 else []
        if self.left_out:
            notes.append(
                f"{self.left_out:,} parameters that are 0 or 1 are left out: zeros=True includes them"
            )
        return ["parameter", "value", "derivative", "answer at 0 .. 1"], rows, "\n".join(notes)


def sensitivity(
    model: Questions,
    others: Mapping[str, CPD],
    target: object,
    given: Given,
    state: State | None,
    *,
    zeros: bool,
    ranges: bool,
) -> AnswerSensitivity:
    """See `BayesianNetwork.sensitivity`; `others` are the distributions other than tables."""
    clock = start_clock()
    asked = aim(model, target, given, state)
    if asked.probability == 0.0:
        raise InvalidArgument(
            f"{asked.title} is 0, and stays 0 under small changes of any parameter: ask about another state, "
            f"such as state={shown(asked.variable.states[int(asked.answer.values.argmax())])}."
        )
    parameters = Parameters(model, model._compile_in(clock), others, zeros, clock)
    counts = parameters.counts(asked.given, asked.name)
    layout = parameters.layout(counts)
    down = parameters.slopes(counts, layout)
    card = asked.variable.card
    every = ranges or card == 2
    ups: list[np.ndarray | None] = [None] * card
    for code in [asked.code, *(range(card) if card > 2 and ranges else ())]:
        p = float(asked.answer.values[code])
        if ups[code] is None and p > 0.0:
            event = {**asked.given, asked.name: asked.variable.states[code]}
            ups[code] = parameters.slopes(parameters.counts(event, asked.name), layout) * p
    own = ups[asked.code]
    assert own is not None
    slopes = own - asked.probability * down
    others_ = None
    if every:
        if card == 2:
            ups[1 - asked.code] = down - own
        others_ = np.stack([np.zeros_like(own) if up is None else up for up in ups], axis=1)
    down = down if layout.linear.all() else np.where(layout.linear, down, np.nan)
    return AnswerSensitivity(asked, layout, slopes, down, others_, asked.answer.report)


def _range(answer: np.ndarray, ups: np.ndarray, value: float, *, order: bool = False) -> tuple[float, float]:
    """The range of a parameter over which the most probable state, or the order of all, stays the same."""
    ranked = np.argsort(-answer, kind="stable")
    ahead = ranked[:-1] if order else np.repeat(ranked[:1], answer.size - 1)
    low, high = -value, 1.0 - value
    for i, j in zip(ahead.tolist(), ranked[1:].tolist(), strict=True):
        lead, slope = float(answer[i] - answer[j]), float(ups[i] - ups[j])
        if slope > 0.0:
            low = max(low, -lead / slope)
        elif slope < 0.0:
            high = min(high, -lead / slope)
    return value + low, value + high


def index_of(node: Node, key: Any) -> int:
    """The index of the parameter that this key names."""
    if not node.scope:
        if key in node.names:
            return node.names.index(key)
        raise InvalidArgument(f"{node.name!r} has no parameter {shown(key)}; it has {listed(node.names)}.")
    variables = [node.variables[i] for i in node.scope]
    if isinstance(key, Mapping):
        missing = [v.name for v in variables if v.name not in key]
        if missing or len(key) > len(variables):
            raise InvalidArgument(
                f"{node.name!r}: an entry is named by the states of {listed([v.name for v in variables])}, "
                f"not by {shown(key)}."
            )
        states = tuple(key[v.name] for v in variables)
    else:
        states = key if isinstance(key, tuple) else (key,)
    if len(states) != len(variables):
        raise InvalidArgument(
            f"{node.name!r}: an entry is named by the states of {listed([v.name for v in variables])}, in "
            f"this order, not by {shown(key)}."
        )
    codes = [v.code(state) for v, state in zip(variables, states, strict=True)]
    return int(np.ravel_multi_index(codes, node.shape))


def text_of(node: Node, index: int) -> str:
    """A parameter as printed, such as wet=True | rain=False."""
    key = node.key(index)
    if not node.scope:
        return f"{label(node.name)}: {key}"
    variables = [node.variables[i] for i in node.scope]
    *given, own = [f"{label(v.name)}={label(state)}" for v, state in zip(variables, key, strict=True)]
    return f"{own} | {', '.join(given)}" if given else own
