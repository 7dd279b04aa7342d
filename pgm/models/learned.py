"""Structures from data: `pgm.learn_structure` and its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods, guarded
from pgm.errors import InvalidArgument, OutOfTime, TooLarge, shown
from pgm.graphs import CPDAG
from pgm.graphs.cpdag import from_indices
from pgm.learning.scores import Score, find_score
from pgm.learning.searches import Search, find_search
from pgm.learning.searching.constraints import Constraints, constraints, without
from pgm.learning.searching.found import Found
from pgm.learning.searching.problem import StructureProblem
from pgm.learning.searching.resampling import average, directed, shares
from pgm.printing import ROWS, html_facts, html_table, label, text_facts, text_table
from pgm.randomness import generator
from pgm.results.base import Frozen, pandas
from pgm.results.search_trace import SearchStep, SearchTrace
from pgm.runtime.clock import start_clock

from .bayesian_network import BayesianNetwork
from .hidden_structure import hidden_variables, search_with_hidden
from .parameters import fitted
from .structure_data import read_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LearnedStructure(Frozen):
    """A network learned from data, and the course of the search.

    `network` is fitted; `score` is its score (None if the search uses tests), `trace` the steps. With
    `bootstrap=`, `confidence` has the share of the samples in which each arc was found, an edge that may
    point either way counting half for each, and `averaged` the fitted network of the arcs that are found more
    often than `threshold`. `cpdag` shows which arcs data can direct. `exact` tells whether no network scores
    higher; `stopped_by` what ended the search early.

    >>> import pgm
    >>> found = pgm.learn_structure({"rain": [0, 0, 1, 1] * 25, "wet": [0, 0, 1, 1] * 25})
    >>> found.network.edges, round(found.score, 3), len(found.trace)
    ((('rain', 'wet'),), -76.222, 2)
    """

    network: BayesianNetwork
    score: float | None
    search: Search
    scored_by: Score | None
    trace: SearchTrace
    cpdag: CPDAG
    confidence: Mapping[tuple[str, str], float] | None
    averaged: BayesianNetwork | None
    threshold: float | None
    samples: int
    exact: bool
    stopped_by: str
    n_rows: int
    notes: Mapping[str, str]

    def __init__(self, **parts: Any) -> None:
        """Take the parts by name."""
        self.__dict__.update(parts)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything."""
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        """As it was."""
        self.__dict__.update(state)

    def to_dict(self) -> dict[str, Any]:
        """All but the networks' tables, as plain Python objects."""
        return {
            "arcs": list(self.network.edges),
            "score": self.score,
            "scored_by": None if self.scored_by is None else self.scored_by.name,
            "search": self.search.name,
            "exact": self.exact,
            "stopped_by": self.stopped_by,
            "n_rows": self.n_rows,
            "confidence": None if self.confidence is None else dict(self.confidence),
            "trace": self.trace.to_dict(),
            **self.notes,
        }

    def to_pandas(self) -> Any:
        """A data frame with a row for each arc: whether data can direct it, and its confidence."""
        fixed = set(self.cpdag.directed)
        arcs = dict.fromkeys(self.network.edges)
        if self.confidence is not None:
            arcs.update(dict.fromkeys(self.confidence))
        there = set(self.network.edges)
        rows = [(a, b, (a, b) in there, (a, b) in fixed) for a, b in arcs]
        frame = pandas().DataFrame(rows, columns=["parent", "child", "in_network", "directed"])
        if self.confidence is not None:
            frame["confidence"] = [self.confidence.get(arc, 0.0) for arc in arcs]
        return frame

    def _facts(self) -> list[tuple[str, str]]:
        net = self.network
        facts = [("network", f"{len(net):,} nodes, {len(net.edges):,} arcs, from {self.n_rows:,} rows")]
        if self.score is not None and self.scored_by is not None:
            facts.append(("score", f"{self.score:,.3f} ({self.scored_by.name})"))
        facts.append(("search", repr(self.search)))
        facts.append(("steps", f"{max(len(self.trace) - 1, 0):,}"))
        if self.exact:
            facts.append(("exact", "yes: no network that is permitted scores higher"))
        if self.stopped_by:
            facts.append(("stopped by", f"{self.stopped_by}: the best so far"))
        if self.averaged is not None:
            facts.append(
                (
                    "averaged",
                    f"{len(self.averaged.edges):,} arcs of confidence above {self.threshold:.2f} (.averaged)"
                    + (f", of {self.samples:,} samples" if self.samples else ""),
                )
            )
        return [*facts, *self.notes.items()]

    def _arcs(self) -> tuple[list[str], list[list[str]], str]:
        fixed = set(self.cpdag.directed)
        edges = self.network.edges
        header = ["arc", "either way"] + ([] if self.confidence is None else ["confidence"])
        rows = []
        for a, b in edges[:ROWS]:
            row = [f"{label(a)} -> {label(b)}", "no" if (a, b) in fixed else "yes"]
            rows.append(row if self.confidence is None else [*row, f"{self.confidence.get((a, b), 0.0):.2f}"])
        more = len(edges) - len(rows)
        return header, rows, f"... {more:,} more of {len(edges):,} arcs" if more else ""

    def __repr__(self) -> str:
        """The facts, and the arcs as a table."""
        facts = text_facts(self._facts())
        return f"{facts}\n\n{text_table(*self._arcs())}" if self.network.edges else facts

    def _repr_html_(self) -> str:
        return html_facts(self._facts()) + html_table(*self._arcs())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the network, arcs as wide as their confidence, and the score's growth; returns the Axes.

        Args:
            ax: axes to draw on, the network alone; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.structure(self, ax, figsize=figsize, title=title)


@guarded
def learn_structure(
    frame: Any,
    *,
    score: str | Score | None = None,
    search: str | Search = "tabu",
    max_parents: int | Mapping[str, int] | None = None,
    require: Iterable[tuple[str, str]] = (),
    forbid: Iterable[tuple[str, str]] = (),
    tiers: Sequence[str | Sequence[str]] | None = None,
    start: Any = None,
    roots: str | Iterable[str] = (),
    leaves: str | Iterable[str] = (),
    bootstrap: int = 0,
    seed: int | np.random.Generator | None = None,
    weights: Any = None,
    latent: Mapping[str, Any] | None = None,
    states: Mapping[str, Any] | None = None,
    continuous: str | Iterable[str] = (),
    columns: Iterable[str] | None = None,
    name: str = "",
) -> LearnedStructure:
    """Learn the structure of a network, and its parameters, from a data frame.

    The result is the same whatever the order of columns and rows and the number of threads. At the time limit
    (`pgm.config`), or on Ctrl-C, it is the best network so far, marked as such.

    Args:
        frame: a frame of pandas, polars, pyarrow, duckdb or dask, a dict of columns, or an iterator of
            frames.
            Lazy frames count in their engine where few configurations occur, or where rows of states do not
            fit the memory limit: the search then asks for the counts of families.
        score: "bic" if left out; "aic", "bdeu", "bds", "k2", "log-likelihood", "fnml", "qnml", "bge", or an
            object with options such as pgm.scores.BDeu(5).
        search: how: "tabu", "hill-climb", "ges", "boss", "exact", "chow-liu", "tan", "k2", "pc", "mmhc",
            "iamb", "order-mcmc", "structure-mcmc", or an object with options: pgm.searches.PC(alpha=0.01).
        max_parents: the largest number of parents, of all nodes or {name: number}.
        require: arcs (parent, child) that the network has.
        forbid: arcs that it does not have.
        tiers: lists of names, earliest first: no arc leads to an earlier list.
        start: a network or a list of arcs to begin with.
        roots: names without parents.
        leaves: names without children.
        bootstrap: the number of bootstrap samples that are learned from as well, for `confidence`.
        seed: for everything random.
        weights: how much each row counts: a column's name, or an array.
        latent: hidden variables, {name: number of states, or list of states}: structural EM finds their
            arrows, and they stay if the score is higher with them than without.
        states: {name: states in order, or pgm.Bins} of columns whose states are not to be inferred.
        continuous: integer columns that are measurements.
        columns: the columns to read; all if left out.
        name: the name of the network.

    Raises:
        InvalidFrame: no rows, a column without a value, missing cells that the score does not allow.
        InvalidStructure: constraints that contradict each other.
        UnknownVariable: a name that is not a column.
        InvalidArgument: an option out of range, unknown, or without effect.

    >>> import pgm
    >>> rows = pgm.load_network("asia").sample(2000, seed=0)
    >>> found = pgm.learn_structure(rows, tiers=[["asia", "smoke"], ["tub", "lung", "bronc"]])
    >>> found.network.parents("bronc"), found.exact
    (('smoke',), False)
    """
    clock = start_clock()
    how = find_search(search)
    if score is not None and not how.scores:
        raise InvalidArgument(f'score= has no effect: search="{how.name}" uses tests of independence.')
    by = find_score("bic" if score is None else score)
    for option, given in (("max_parents", max_parents), ("start", start)):
        if given is not None and option not in how.heeds:
            raise InvalidArgument(f'{option}= has no effect on search="{how.name}".')
    if bootstrap and how.samples:
        raise InvalidArgument(
            f'bootstrap= has no effect on search="{how.name}": its confidence is the posterior of each arc.'
        )
    if isinstance(bootstrap, bool) or not isinstance(bootstrap, int | np.integer) or bootstrap < 0:
        raise InvalidArgument(f"bootstrap= is a whole number of samples, not {shown(bootstrap)}.")
    read = read_columns(
        frame, weights, columns=columns, states=states, continuous=continuous, check=clock.check, asking=True
    )
    hidden = {} if latent is None else hidden_variables(latent, read.variables)

    known = constraints(
        sorted([*read.variables, *hidden]),
        require=require,
        forbid=forbid,
        tiers=tiers,
        roots=roots,
        leaves=leaves,
        max_parents=max_parents,
        start=start,
        impossible=read.impossible(hidden),
    )
    rng = generator(seed)
    if hidden:
        if bootstrap:
            raise InvalidArgument("bootstrap= has no effect on a search with latent=: leave one of them out.")
        problem = read.problem(by, without(known, list(hidden)), clock, rng)
        problem.need_rows("latent=")
        found, network = search_with_hidden(problem, hidden, known, how)
        if network is not None:
            return _with_hidden(problem, how, found, network, known, name)
    else:
        problem = read.problem(by, known, clock, rng)
        if bootstrap:
            problem.need_rows("bootstrap=")
        found = how.find(problem)
    samples = shares(problem, how, int(bootstrap), found)
    return _result(problem, how, found, samples, list(read.variables), name)


def _result(
    problem: StructureProblem,
    how: Search,
    found: Found,
    samples: Sequence[Sequence[tuple[int, int, float]]],
    order: Sequence[str],
    name: str,
) -> LearnedStructure:
    names = problem.names
    averaged = threshold = None
    total = found.confidence
    if samples:
        total = {}
        for each in samples:
            for u, v, share in each:
                total[u, v] = total.get((u, v), 0.0) + share / len(samples)
    confidence = None
    clock = start_clock()  # the time of the search may be over: there is a network to be shown
    if total is not None:
        parents, threshold = average(total, problem.known)
        averaged = fitted(problem, parents, order, name, clock)
        ranked = sorted(total.items(), key=lambda item: (-item[1], item[0]))
        confidence = {(names[u], names[v]): min(share, 1.0) for (u, v), share in ranked}
        for u, v in Found.arcs(found.parents):
            confidence.setdefault((names[u], names[v]), 0.0)
    steps = [
        SearchStep(m.what, None if m.arc is None else (names[m.arc[0]], names[m.arc[1]]), m.score)
        for m in found.trace
    ]
    try:
        network = fitted(problem, found.parents, order, name, clock)
    except TooLarge as error:
        if not found.stopped_by:
            raise
        raise OutOfTime(f"The search was stopped too early to show a network: {error}") from None
    return LearnedStructure(
        network=network,
        score=found.score if how.scores else None,
        search=how,
        scored_by=problem.score if how.scores else None,
        trace=SearchTrace(steps),
        cpdag=from_indices(names, *directed(found.parents, problem.known)),
        confidence=confidence,
        averaged=averaged,
        threshold=threshold,
        samples=len(samples),
        exact=found.exact and not found.stopped_by,
        stopped_by=found.stopped_by,
        n_rows=problem.n_rows if problem.given is None else problem.given,
        notes=dict(found.notes),
    )


def _with_hidden(
    problem: StructureProblem,
    how: Search,
    found: Found,
    network: BayesianNetwork,
    known: Constraints,
    name: str,
) -> LearnedStructure:
    network.name = name
    steps = [
        SearchStep(
            m.what, None if m.arc is None else (problem.names[m.arc[0]], problem.names[m.arc[1]]), m.score
        )
        for m in found.trace
    ]
    return LearnedStructure(
        network=network,
        score=found.score,
        search=how,
        scored_by=problem.score,
        trace=SearchTrace(steps),
        cpdag=from_indices(known.names, *directed(found.parents, known)),
        confidence=None,
        averaged=None,
        threshold=None,
        samples=0,
        exact=False,
        stopped_by=found.stopped_by,
        n_rows=problem.n_rows if problem.given is None else problem.given,
        notes=dict(found.notes),
    )


guard_methods([LearnedStructure])
