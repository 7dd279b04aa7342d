"""A reduced question as dense tables with constant-time lookup, for samplers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.inference.engines.factor_graph import Graph, make_graph
from pgm.inference.engines.problem import Problem
from pgm.runtime.kinds import Floats, Ints, Ints32
from pgm.runtime.loops import Loops
from pgm.runtime.room import check_room

SAMPLING = Loops("pgm.inference.engines.sampling.compiled")


class LookupArrays(NamedTuple):
    """Factors over two variables or more, as logarithms; an *axis* is one variable in one scope."""

    cards: Ints  # [m]
    state_at: Ints  # [m + 1]
    local: Floats  # logarithms of the product of the factors over one variable
    scope_at: Ints  # [F + 1]
    scopes: Ints32
    owner: Ints32  # the factor of each axis
    stride: Ints  # how far apart two states of an axis are in its table
    table_at: Ints  # [F] where the table of each factor begins
    logs: Floats  # all tables; minus infinity for zero


@dataclass(frozen=True, eq=False, slots=True)
class LookupLayout:
    """A reduced question, as a graph and as lookup tables."""

    problem: Problem
    graph: Graph
    arrays: LookupArrays
    alone: np.ndarray  # bool[m] in no factor with others: need not be sampled

    @property
    def steps(self) -> float:
        """Inner steps of drawing every variable once."""
        a = self.arrays
        return 10.0 * a.cards.size + 2.0 * float(a.state_at[-1]) + 4.0 * float(a.cards[a.scopes].sum())

    @property
    def states_type(self) -> type:
        """The smallest integer type that holds a state."""
        return np.uint8 if self.arrays.cards.max(initial=1) <= 256 else np.int32


def lay_out(problem: Problem, engine: str) -> LookupLayout:
    """Write out the tables of a reduced question; `TooLarge` if they do not fit."""
    graph = make_graph(problem.case, engine, each_message=16.0)
    g = graph.arrays
    cards = g.cards[g.scopes]
    stride = np.ones(g.scopes.size, np.int64)
    SAMPLING.strides(g.scope_at, cards, stride)
    ends = stride[g.scope_at[:-1]] * cards[g.scope_at[:-1]] if g.table.size else np.empty(0, np.int64)
    # The graph checked for five times the bytes of these entries, so there is room for them.
    of_table = np.zeros(g.row_at.size - 1, np.int64)
    of_table[g.table] = ends  # tables over one variable keep size 0: they are in `local`
    begins = np.concatenate([[0], np.cumsum(of_table)]).astype(np.int64)
    logs = np.full(int(begins[-1]), -np.inf)
    SAMPLING.write_out(g.scope_at, g.table, g.row_at, g.code_at, g.codes, g.logs, stride, begins, logs)
    arrays = LookupArrays(
        g.cards, g.state_at, g.local, g.scope_at, g.scopes, g.owner, stride, begins[g.table], logs
    )
    return LookupLayout(problem, graph, arrays, np.diff(g.user_at) == 0)


def check_samples(engine: str, size: float, what: str) -> None:
    """Raise `TooLarge` if this many bytes, about to be allocated, exceed the limit."""
    check_room(size, f'For {what} engine="{engine}" needs', "Take fewer samples=, observe more variables")
