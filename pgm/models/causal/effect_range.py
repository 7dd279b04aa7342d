"""The range of an effect over an equivalence class: IDA (Maathuis, Kalisch & Bühlmann 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import ImpossibleEvidence, InvalidArgument, UnknownVariable, shown
from pgm.graphs import CPDAG
from pgm.graphs.class_adjustment import local_parents
from pgm.graphs.formulas import Formula, P, product, total
from pgm.models.bayesian_network import BayesianNetwork
from pgm.printing import Tabular, joined, label
from pgm.results.base import Frozen, pandas, put

from .effects import scores_of, two_states
from .evaluation import FrameSource, NetworkSource, chosen, evaluate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class EffectRange(Frozen, Tabular):
    """The average effect for each set of parents that x may have, and its range from `least` to `most`."""

    __slots__ = ("effects", "states", "x", "y")
    effects: tuple[tuple[tuple[str, ...], float], ...]
    states: tuple[Any, Any]
    x: str
    y: str

    def __init__(self, effects: Any, states: tuple[Any, Any], x: str, y: str) -> None:
        """Take pairs of parents and effect."""
        for name, value in (("effects", tuple(effects)), ("states", states), ("x", x), ("y", y)):
            put(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return EffectRange, (self.effects, self.states, self.x, self.y)

    @property
    def least(self) -> float:
        """The smallest effect."""
        return min(value for _, value in self.effects)

    @property
    def most(self) -> float:
        """The largest effect."""
        return max(value for _, value in self.effects)

    def to_dict(self) -> dict[tuple[str, ...], float]:
        """{parents of x: effect}."""
        return dict(self.effects)

    def to_pandas(self) -> Any:
        """A data frame with a row for each set of parents."""
        rows = [(", ".join(those), value) for those, value in self.effects]
        return pandas().DataFrame(rows, columns=["parents", "effect"])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the effect for each set of parents, and the range; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title; the range if left out.
        """
        from pgm import plot

        return plot.effect_range(self, ax, figsize=figsize, title=title)

    @property
    def question(self) -> str:
        """What is asked, in one line."""
        control, treated = self.states
        return f"setting {label(self.x)} from {label(control)} to {label(treated)} moves {label(self.y)}"

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [[joined(those, len(those), 80) or "none", f"{value:+.6f}"] for those, value in self.effects]
        return (
            [f"parents of {label(self.x)}", "effect"],
            rows,
            f"{self.question} by {self.least:+.6f} to {self.most:+.6f}",
        )


@guarded
def effect_range(
    graph: CPDAG, x: str, y: str, source: Any, *, states: Any = None, outcome: Any = None
) -> EffectRange:
    """Return the average effects of x on y that the graphs of a class imply (IDA).

    For each set of parents that x has in some graph of the class, the effect is computed by adjusting for
    them: exactly from a network, or from the relative frequencies in a frame.

    Args:
        graph: the class, as `net.cpdag()` or a search gives it.
        x: what is acted on.
        y: what it may influence.
        source: a Bayesian network of these variables, or a data frame.
        states: the two states of x, (control, treated); left out: its states if it has two.
        outcome: the state of y whose probability counts; left out: the last of two; the mean if continuous.

    Raises:
        UnknownVariable, UnknownState: a name or a state that does not exist.
        InvalidArgument: no CPDAG; states or an outcome that have to be said.
        ImpossibleEvidence: some states of x never occur together with some of its parents.
        TooLarge: too many edges either way at x.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("x", 0.5)
    >>> net.add("y", {True: 0.7, False: 0.4}, parents="x")
    >>> pgm.effect_range(net.cpdag(), "x", "y", net)
    parents of x  effect
    none          +0.300000
    y             +0.000000
    setting x from False to True moves y by +0.000000 to +0.300000
    """
    if not isinstance(graph, CPDAG):
        raise InvalidArgument(f"effect_range takes a CPDAG, such as net.cpdag(), not {shown(graph)}.")
    for name in (x, y):
        if name not in graph.nodes:
            raise UnknownVariable(name, graph.nodes)
    if x == y:
        raise InvalidArgument(f"{x!r} cannot be both what is acted on and what it influences.")
    every = local_parents(graph, x)
    names = [name for name in graph.nodes if name in {x, y, *(p for those in every for p in those)}]
    on_network = isinstance(source, BayesianNetwork)
    found_in: Any = NetworkSource(source, names) if on_network else FrameSource(source, names)
    cause, result = found_in.variables[x], found_in.variables[y]
    control, treated = two_states(cause, states)
    scores = scores_of(result, outcome)
    effects = []
    for those in every:
        if y in those:
            effects.append((those, 0.0))
            continue
        formula: Formula = total(those, product([P((y,), (x, *those)), *([P(those)] if those else [])]))
        value = evaluate(formula, found_in)
        ends = [chosen(value, [y], {x: cause.code(state)}, found_in) for state in (control, treated)]
        if ends[0] is None or ends[1] is None:
            raise ImpossibleEvidence(
                f"Adjusting for {', '.join(those)}: some of their states never occur with {x!r} at "
                f"{shown(control)} or at {shown(treated)}, so the effect on {y!r} cannot be computed there."
            )
        effects.append((those, float(np.dot(scores, ends[1] - ends[0]))))
    return EffectRange(effects, (control, treated), x, y)
