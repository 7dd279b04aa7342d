"""The answer of identification: a formula of observed probabilities, to print and to evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods
from pgm.errors import ImpossibleEvidence, InvalidArgument, UnknownVariable, listed, shown
from pgm.graphs import formulas
from pgm.graphs.formulas import Formula
from pgm.printing import html_text, joined, label
from pgm.results import Distribution, Report
from pgm.results.base import Frozen, put

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .graph import CausalGraph


class Identified(Frozen):
    """The effect of an action, as a formula of the distribution without it.

    `evaluate` computes it from a network, or estimates it from rows of data. `latex` has it for a page, and a
    notebook shows it typeset.

    >>> import pgm
    >>> front_door = pgm.CausalGraph("smoking -> tar -> cancer; smoking <-> cancer")
    >>> front_door.identify("cancer", do="smoking")
    P(cancer | do(smoking)) = sum_tar P(tar | smoking) sum_{smoking'} P(smoking') P(cancer | smoking', tar)
    """

    __slots__ = ("do", "formula", "given", "graph", "values", "y")
    graph: CausalGraph
    formula: Formula
    y: tuple[str, ...]
    do: tuple[str, ...]
    given: tuple[str, ...]
    values: dict[str, Any]

    def __init__(
        self,
        graph: CausalGraph,
        formula: Formula,
        y: tuple[str, ...],
        do: tuple[str, ...],
        given: tuple[str, ...],
        values: Mapping[str, Any],
    ) -> None:
        """Take the formula, and the states that the question named, if any."""
        for name, value in (("graph", graph), ("formula", formula), ("y", y), ("do", do), ("given", given)):
            put(self, name, value)
        put(self, "values", dict(values))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return Identified, (self.graph, self.formula, self.y, self.do, self.given, self.values)

    @property
    def question(self) -> str:
        """What is asked: P(y | do(x), z)."""
        known = [f"do({joined(self.do, len(self.do))})"] * bool(self.do) + [label(z) for z in self.given]
        return f"P({joined(self.y, len(self.y))}{' | ' * bool(known)}{', '.join(known)})"

    @property
    def text(self) -> str:
        """The formula on one line."""
        return formulas.text(self.formula, [*self.y, *self.do, *self.given])

    @property
    def latex(self) -> str:
        r"""The question and the formula in LaTeX.

        >>> import pgm
        >>> print(pgm.CausalGraph("x -> y; z -> x; z -> y").identify("y", do="x").latex)
        P(y \mid do(x)) = \sum_{z} P(z) \, P(y \mid z, x)
        """
        y, do, given = ([formulas.quoted(v) for v in some] for some in (self.y, self.do, self.given))
        known = ", ".join([f"do({', '.join(do)})"] * bool(do) + given)
        bar = r" \mid " if known else ""
        right = formulas.latex(self.formula, [*self.y, *self.do, *self.given])
        return f"P({', '.join(y)}{bar}{known}) = {right}"

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that have to be observed."""
        needed = {v for p in formulas.probabilities(self.formula) for v in p.free}
        return tuple([name for name in self.graph.nodes if name in needed])

    def evaluate(
        self,
        source: Any,
        do: Mapping[str, Any] | None = None,
        given: Mapping[str, Any] | None = None,
    ) -> Distribution:
        """Return the distribution of y, exact from a network, or estimated from the frequencies in rows.

        Args:
            source: a Bayesian network that has these variables, or a data frame with a column for each.
            do: {name: state} of what is done; may be left out where the question named states.
            given: {name: state} of what is given, likewise.

        Raises:
            UnknownVariable, UnknownState: the source does not have a name or a state.
            InvalidArgument: a state that is missing.
            ImpossibleEvidence: what the formula needs never occurs.
            InvalidFrame: rows with missing cells.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("z", 0.5)
        >>> net.add("x", {True: 0.8, False: 0.2}, parents="z")
        >>> net.add("y", {(True, True): 0.9, (True, False): 0.5, (False, True): 0.6, (False, False): 0.1},
        ...         parents=["z", "x"])
        >>> done = net.causal_graph().identify("y", do="x").evaluate(net, {"x": True})
        >>> round(done[True], 6), round(net.query("y", {"x": True})[True], 6)
        (0.75, 0.84)
        """
        from .evaluation import FrameSource, NetworkSource, chosen, evaluate
        from .graph import values_of

        states = dict(self.values)
        for what, passed, own in (("do=", do, self.do), ("given=", given, self.given)):
            for name in values_of(passed, what):
                if name not in own:
                    raise UnknownVariable(name, own, where=f"{self.question}: in {what}")
            states |= values_of(passed, what)
        if missing := [name for name in (*self.do, *self.given) if name not in states]:
            raise InvalidArgument(f"{self.question} is evaluated for states: {listed(missing)} has none.")
        names = tuple(dict.fromkeys([*self.names, *self.y, *states]))
        on_network = hasattr(source, "query") and hasattr(source, "parents")
        if not on_network and (hasattr(source, "query") and hasattr(source, "potentials")):
            raise InvalidArgument(
                f"A formula is evaluated on a Bayesian network or a frame, not {shown(source)}."
            )
        found_in: Any = NetworkSource(source, names) if on_network else FrameSource(source, names)
        known = {name: found_in.variables[name].code(state) for name, state in states.items()}
        values = chosen(evaluate(self.formula, found_in), self.y, known, found_in)
        if values is None or not np.isclose(values.sum(), 1.0, rtol=0.0, atol=1e-6):
            raise ImpossibleEvidence(
                f"{self.question} = {self.text}: a probability in it is conditioned on what never occurs "
                f"{'in these rows' if not on_network else 'in this network'}, so it is undefined for "
                f"{', '.join(f'{name}={states[name]!r}' for name in states)}.",
                states,
            )
        asked = {f"do({name})" if name in self.do else name: state for name, state in states.items()}
        report = Report("formula", exact=True, given=asked)
        if not on_network:
            report = Report(
                "plug-in",
                exact=False,
                advice=f"frequencies in {found_in.rows:,} rows; `estimate` of the graph gives intervals",
                given=asked,
            )
        return Distribution(tuple(found_in.variables[name] for name in self.y), np.array(values), report)

    def to_dict(self) -> dict[str, Any]:
        """The question, the formula as text and as LaTeX, and what has to be observed.

        >>> import pgm
        >>> pgm.CausalGraph("x -> y").identify("y", do="x").to_dict()["formula"]
        'P(y | x)'
        """
        return {
            "question": self.question,
            "formula": self.text,
            "latex": self.latex,
            "observed": list(self.names),
        }

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the graph with the ends of the effect, the formula above; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; the formula if left out.
        """
        from pgm import plot

        return plot.causal_graph(
            self.graph,
            ax,
            x=self.do,
            y=self.y,
            given=self.given,
            figsize=figsize,
            title=repr(self) if title is None else title,
        )

    def __repr__(self) -> str:
        """The question and the formula on one line."""
        return f"{self.question} = {self.text}"

    def _repr_html_(self) -> str:
        return html_text(repr(self))

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"


guard_methods([Identified])
