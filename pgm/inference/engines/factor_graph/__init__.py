"""A reduced question as a factor graph, on which approximate engines work.

Equal tables are stored once however many scopes they apply to, by their non-zero rows. Factors over one
variable are absorbed into that variable. Every open state has a supporting row in every factor (reduction
ensured that), so no message on the graph ever has a zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pgm.inference.program.reduction import Case, wide_multiply
from pgm.runtime.kinds import Bytes, Floats, Ints, Ints32
from pgm.runtime.loops import Loops
from pgm.runtime.room import check_room

GRAPHS = Loops("pgm.inference.engines.factor_graph.compiled")
_LN2 = math.log(2.0)
Wide = tuple[float, int]


class GraphArrays(NamedTuple):
    """The graph; its factors are over two variables or more. An *axis* is a variable's place in a scope."""

    cards: Ints  # [m]
    state_at: Ints  # [m + 1]
    local: Floats  # logarithms of the product of the factors over one variable
    scope_at: Ints  # [F + 1]
    scopes: Ints32
    owner: Ints32  # the factor of each axis
    message_at: Ints  # where the message along each axis begins
    table: Ints32  # [F]
    user_at: Ints  # [m + 1]
    users: Ints32  # the axes of each variable
    row_at: Ints  # [T + 1] where the non-zero rows of each table begin
    code_at: Ints  # [T + 1]
    codes: Ints32  # the state of each axis in each row
    values: Floats  # the largest value of a table is in [0.5, 1)
    logs: Floats
    low: Floats  # [T] the smallest of `logs`
    square: Bytes  # [T] a table over a pair without zeros, whose rows are in array order


@dataclass(frozen=True, eq=False, slots=True)
class Graph:
    """A reduced question, its graph as arrays, and the constant factor."""

    case: Case
    arrays: GraphArrays
    constant: Wide
    factors: np.ndarray  # which of the reduced factors each one is
    alone: np.ndarray  # the reduced factors over one variable
    tables: np.ndarray  # the table of each reduced factor

    steps: float  # inner steps of one pass over all factors
    most_of_a_factor: int  # the largest sum of the cards of a factor's variables

    @property
    def n_messages(self) -> int:
        """Entries of all messages from factors to variables."""
        return int(self.arrays.message_at[-1])


def make_graph(case: Case, engine: str, *, each_message: float) -> Graph:
    """The factor graph of a reduced question; raises `TooLarge` if it does not fit.

    Args:
        case: the question.
        engine: its name in messages.
        each_message: bytes that the engine keeps for each entry of a message.
    """
    p, r = case.program.arrays, case.reduced
    m, n_factors = r.cards.size, r.factors.size
    widths = np.diff(r.scope_at)
    owners = np.repeat(np.arange(n_factors), widths)
    entries = float(r.cards[r.scopes].sum())
    _check(engine, entries * each_message + 40.0 * (p.cards.size + r.scopes.size + r.state_at[-1]))
    kept, table = distinct_tables(case)
    sizes = np.diff(r.table_at)[kept]
    _check(engine, entries * each_message + float((sizes * (40.0 + 4.0 * widths[kept])).sum()))
    few = only_factors(case, kept)
    mantissas, exponents = few.wide_tables()
    begins = few.reduced.table_at[:-1]
    positive = mantissas != 0.0
    top = np.maximum.reduceat(np.where(positive, exponents, -(1 << 40)), begins) if kept.size else begins
    row_at = np.concatenate([[0], np.cumsum(np.add.reduceat(positive, begins) if kept.size else [])])
    row_at = row_at.astype(np.int64)
    code_at = np.concatenate([[0], np.cumsum(np.diff(row_at) * widths[kept])]).astype(np.int64)
    source, codes = np.empty(int(row_at[-1]), np.int64), np.empty(int(code_at[-1]), np.int32)
    GRAPHS.rows(few.reduced, mantissas, row_at, code_at, source, codes)
    shifted = (exponents - np.repeat(top, sizes))[source]
    values = np.ldexp(mantissas[source], np.maximum(shifted, -3000).astype(np.int32))
    logs = np.log(mantissas[source]) + shifted * _LN2
    low = np.minimum.reduceat(logs, row_at[:-1]) if kept.size else np.empty(0)

    single, several = np.flatnonzero(widths == 1), np.flatnonzero(widths > 1)
    constant = wide_multiply(case.constant(), (1.0, int(top[table].sum())))
    scope_at = np.concatenate([[0], np.cumsum(widths[several])]).astype(np.int64)
    scopes = r.scopes[widths[owners] > 1]
    message_at = np.concatenate([[0], np.cumsum(r.cards[scopes])]).astype(np.int64)
    local = np.zeros(int(r.state_at[-1]))
    # Every open state has a non-zero entry in a factor over one variable: its rows are its states.
    ends = np.arange(single.size + 1, dtype=np.int64)
    GRAPHS.fold(ends, r.scopes[r.scope_at[single]], table[single], r.state_at, r.cards, row_at, logs, local)
    order = np.argsort(scopes, kind="stable")
    arrays = GraphArrays(
        cards=r.cards,
        state_at=r.state_at,
        local=local,
        scope_at=scope_at,
        scopes=scopes,
        owner=np.repeat(np.arange(several.size, dtype=np.int32), widths[several]),
        message_at=message_at,
        table=table[several].astype(np.int32),
        user_at=np.concatenate([[0], np.cumsum(np.bincount(scopes, minlength=m))]).astype(np.int64),
        users=order.astype(np.int32),
        row_at=row_at,
        code_at=code_at,
        codes=codes,
        values=values,
        logs=logs,
        low=low,
        square=((widths[kept] == 2) & (np.diff(row_at) == sizes)).astype(np.uint8),
    )
    sums = np.add.reduceat(r.cards[scopes], scope_at[:-1]) if several.size else np.ones(1, np.int64)
    entries = np.diff(row_at) * widths[kept]
    steps = 2.0 * float(entries[table[several]].sum()) + 30.0 * float(message_at[-1]) + m
    return Graph(case, arrays, constant, several, single, table, steps, int(sums.max()))


def distinct_tables(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Reduced factors with distinct tables, and for each factor the one that has its table."""
    p, n_factors = case.program.arrays, case.reduced.factors.size
    class_of = np.empty(p.cards.size, np.int32)
    GRAPHS.classes(p, case.open_states, _slots(p.cards.size), class_of)
    first = np.empty(n_factors, np.int64)
    GRAPHS.share(p, case.reduced, class_of, _slots(n_factors), first)
    kept, table = np.unique(first, return_inverse=True)
    return kept, table


def only_factors(case: Case, kept: np.ndarray) -> Case:
    """The case with some of its reduced factors, and their tables concatenated."""
    r = case.reduced
    widths = np.diff(r.scope_at)[kept]
    ends = np.cumsum(widths)
    places = np.arange(int(widths.sum())) + np.repeat(r.scope_at[kept] - (ends - widths), widths)
    reduced = r._replace(
        factors=r.factors[kept],
        scope_at=np.concatenate([[0], ends]).astype(np.int64),
        scopes=r.scopes[places],
        table_at=np.concatenate([[0], np.cumsum(np.diff(r.table_at)[kept])]).astype(np.int64),
    )
    return replace(case, reduced=reduced)


def _slots(entries: int) -> np.ndarray:
    """An empty hash table, at most half full."""
    return np.full(1 << max(2, (2 * entries + 1).bit_length()), -1, np.int64)


def _check(engine: str, size: float) -> None:
    check_room(size, f'For tables and messages engine="{engine}" needs', "Observe more")
