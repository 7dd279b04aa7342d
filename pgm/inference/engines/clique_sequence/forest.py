"""A forest of cliques: tables of the model and messages of other forests, swept by the exact engine.

Messages go both ways over each cluster. Multiplied over the clusters of a tree they give the two forests'
beliefs, so each message is a belief divided by the message in the other direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pgm.factors import Dense
from pgm.inference.engines.clique_sequence.clusters import Cluster, Scope, aligned, quotient
from pgm.inference.engines.exact import tree_runs
from pgm.inference.program import compile_program
from pgm.inference.program.reduction import Case, Known, reduce_case
from pgm.inference.trees import Shape, Tree, lay_out_tree, shape_of
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible

# Raises if a tree with this many entries to read does not fit; True: check again, for wide numbers.
Check = Callable[[Shape, float, bool], None]
_LN2 = math.log(2.0)
_FLOOR = 2.0**-900  # the least non-zero entry of a message, so that others can be divided by it
_NO_TARGETS = np.empty(0, np.int32)


class Table(NamedTuple):
    """A factor of a forest."""

    scope: Scope
    values: np.ndarray
    log: bool = False  # whether the values are natural logarithms


@dataclass(eq=False, slots=True)
class Message:
    """The messages between two forests about the variables of a cluster."""

    variables: Scope
    shared: Scope  # with a cluster before this one
    source: Forest
    holder: int  # the cluster of the source that contains this one
    forward: np.ndarray
    back: np.ndarray
    target: Forest | None = None
    index: int = -1  # its index among those that arrive there
    log_scale: float = 0.0  # log of the divisor of the last message

    @property
    def sent(self) -> Cluster:
        """The belief of the source."""
        return Cluster(self.source.wide[self.holder], self.source.beliefs[self.holder]).over(self.variables)

    @property
    def arrived(self) -> Cluster:
        """The belief of the target."""
        assert self.target is not None
        return Cluster(self.variables, self.target.beliefs[len(self.target.wide) + self.index])

    @property
    def gap(self) -> float:
        """Their largest disagreement."""
        return float(np.abs(self.sent.belief - self.arrived.belief).max())

    def send(self, damping: float = 0.0) -> None:
        """Send the source's belief to the target."""
        assert self.target is not None
        new = quotient(self.sent.given(self.shared), self.back)
        self.forward, self.log_scale = _mixed(self.forward, new, damping)
        self.target.put(self.index, self.forward)

    def send_back(self, damping: float = 0.0) -> None:
        """Keep the target's belief for the source, which takes in all such messages together."""
        new = quotient(self.arrived.given(self.shared), self.forward)
        self.back, self.log_scale = _mixed(self.back, new, damping)


def _mixed(old: np.ndarray, new: np.ndarray, damping: float) -> tuple[np.ndarray, float]:
    """The two messages averaged in logarithms, scaled to a maximum of 1, and the log of the divisor."""
    if damping:
        new = old**damping * new ** (1.0 - damping)
    top = float(new.max())
    if not top > 0.0:
        raise Impossible
    return np.where(new > 0.0, np.maximum(new / top, _FLOOR), 0.0), math.log(top)


def _marginals(
    case: Case, tree: Tree, clock: Clock, *, wide: bool = False
) -> tuple[np.ndarray, tuple[float, int]]:
    """The exact engine's beliefs, but never 0 for anything possible: no later message could undo that."""
    if not wide:  # no product has left the range of doubles
        return tree_runs.marginals(case, tree, clock)
    mantissas, exponents, total = tree_runs.wide_results(case, tree, clock)
    at, possible = tree.arrays.result_at, mantissas > 0.0
    tops = np.maximum.reduceat(np.where(possible, exponents, -(1 << 60)), at[:-1])
    shifts = np.clip(exponents - np.repeat(tops, np.diff(at)), -2000, 0)
    values = np.where(possible, np.maximum(np.ldexp(mantissas, shifts.astype(np.int32)), _FLOOR), 0.0)
    return values / np.repeat(np.add.reduceat(values, at[:-1]), np.diff(at)), total


@dataclass(eq=False, slots=True)
class Forest:
    """A part of the model, laid out: its tables are arriving messages, returning messages, and its own."""

    case: Case
    tree: Tree
    wide: list[Scope]  # clusters over variables that other forests share
    inside: np.ndarray  # variables whose belief no other forest holds
    arriving: list[Message]
    leaving: list[Message] = field(default_factory=list)
    stale: bool = True  # whether a message has changed since the last sweep
    log_total: float = 0.0
    values: np.ndarray = field(default_factory=lambda: np.empty(0))  # all beliefs
    beliefs: list[np.ndarray] = field(default_factory=list)  # of the wide clusters, then of the arriving ones

    def put(self, place: int, table: np.ndarray, power: int = 0) -> None:
        """Replace the table at this place by `table` times 2**power."""
        p = self.case.program
        part = slice(int(p.arrays.table_at[place]), int(p.arrays.table_at[place]) + table.size)
        most = math.frexp(float(table.max()))[1]
        least = math.frexp(float(table[table > 0.0].min()))[1] - 1
        if p.wide_exponents is None:
            p.values[part] = np.ldexp(table.ravel(), -most)
        else:
            p.values[part], powers = np.frexp(table.ravel())
            p.wide_exponents[part] = powers - most
        p.arrays.low[place], p.arrays.exponent[place] = least - most, most + power
        self.stale = True

    def take_back(self) -> None:
        """Multiply the returning messages in."""
        tables = [np.ones_like(belief) for belief in self.beliefs[: len(self.wide)]]
        powers = [0] * len(tables)
        for m in self.leaving:
            h = m.holder
            back = aligned(m.back, m.variables, self.wide[h])
            possible = (tables[h] > 0.0) & (back > 0.0)
            if not possible.any():
                raise Impossible
            product = tables[h] * back
            power = math.frexp(float(product.max()))[1]
            tables[h] = np.where(possible, np.maximum(np.ldexp(product, -power), _FLOOR), 0.0)
            powers[h] += power
        for h, table in enumerate(tables):
            self.put(len(self.arriving) + h, table, powers[h])

    def sweep(self, clock: Clock, check: Check) -> None:
        """Sweep both ways if a message has changed."""
        if not self.stale:
            return

        def narrow(shape: Shape) -> None:
            check(shape, float(self.tree.arrays.result_at[-1]), True)

        found = tree_runs.in_doubles_or_wide(_marginals, self.case, self.tree, clock, check=narrow)
        self.values, (mantissa, exponent) = found
        self.log_total = math.log(mantissa) + exponent * _LN2
        self.stale = False
        at, cards = self.tree.arrays.result_at, self.case.program.arrays
        read = range(len(self.wide) + len(self.arriving))
        order = [*range(len(self.arriving), len(read)), *range(len(self.arriving))]  # their tables' places
        shapes = [cards.cards[cards.scopes[cards.scope_at[f] : cards.scope_at[f + 1]]] for f in order]
        self.beliefs = [self.values[at[i] : at[i + 1]].reshape(shapes[i]) for i in read]


def make_forest(
    variables: np.ndarray,
    cards: np.ndarray,
    own: Sequence[Table],
    arriving: list[Message],
    wide: list[Scope],
    inside: np.ndarray,
    read: Sequence[Scope],
    clock: Clock,
    check: Check,
) -> Forest:
    """Lay out the tree of a part of the model.

    Args:
        variables: its variables, ascending.
        cards: of all variables.
        own: tables of the model.
        arriving: messages of other forests.
        wide: clusters over the variables of messages to others.
        inside: variables whose marginals are read.
        read: other scopes whose beliefs are read.
        clock: the clock of the question.
        check: raises if the tree does not fit.
    """
    place = {v: i for i, v in enumerate(variables.tolist())}
    tables = [Table(m.variables, m.forward) for m in arriving]
    tables += [Table(scope, np.ones([int(cards[v]) for v in scope])) for scope in wide]
    tables += own
    factors = [
        Dense(
            np.array([[place[v] for v in t.scope]], np.int32),
            t.values.reshape([int(cards[v]) for v in t.scope]),
            log=t.log,
        )
        for t in tables
    ]
    program = compile_program(cards[variables].tolist(), factors, as_given=True)
    everything = np.arange(variables.size)
    case = reduce_case(program, Known(), everything, clock, prune=False, domains=False)
    shape = shape_of(case, clock, effort=0.0)
    scopes = [*wide, *(m.variables for m in arriving), *((v,) for v in inside.tolist()), *read]
    entries = math.fsum(math.prod(int(cards[v]) for v in scope) for scope in scopes)
    check(shape, entries, False)
    flat = np.array([place[v] for scope in scopes for v in scope], np.int32)
    ends = np.concatenate([[0], np.cumsum([len(scope) for scope in scopes])]).astype(np.int64)
    tree = lay_out_tree(case, shape, _NO_TARGETS, ends, flat, clock)
    found = Forest(case, tree, wide, inside, arriving)
    for i, m in enumerate(arriving):
        m.target, m.index = found, i
    return found
