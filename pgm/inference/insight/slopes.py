"""The slope of log P(known) in every parameter: entries of tables all at once, others by kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pgm.cpds import CPD
from pgm.cpds.own_parameters import OwnParameters
from pgm.evidence import observe
from pgm.inference.asking import session
from pgm.inference.asking.failures import refuse_soft
from pgm.inference.asking.questions import Questions
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.exact.expected_statistics import derivatives, flat_counts
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.program import Program
from pgm.runtime.clock import Clock
from pgm.variables import VariableList


@dataclass(frozen=True, slots=True)
class Node:
    """The parameters of one node: entries of a table, or the node's own parameters."""

    name: str
    begin: int
    end: int
    variables: VariableList  # of the model
    scope: tuple[int, ...]  # of a table: parents and child, by position; else empty
    names: tuple[str, ...]  # of other parameters

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table, or of the list of other parameters."""
        if self.scope:
            return tuple([self.variables[i].card for i in self.scope])
        return (len(self.names),)

    def key(self, index: int) -> Any:
        """The key of a parameter: the states of the parents and the child, or its own name."""
        if not self.scope:
            return self.names[index]
        codes = np.unravel_index(index, self.shape)
        return tuple([self.variables[i].states[int(c)] for i, c in zip(self.scope, codes, strict=True)])


@dataclass(frozen=True, eq=False)
class SlopeLayout:
    """The parameters that matter to a target and the evidence, concatenated: tables first."""

    variables: VariableList  # of the model
    tables: np.ndarray  # (tables, 5): index in `named`, begin, end, begin and end of its scope in `scopes`
    scopes: np.ndarray
    named: Sequence[str]  # the variables that tables belong to
    others: tuple[Node, ...]
    values: np.ndarray
    linear: np.ndarray  # whether P(known) is linear in it
    shown: np.ndarray  # False for the first entry of a row of two: the second says all
    entries: np.ndarray  # where each entry of the tables is among all entries of the program
    rows: np.ndarray  # where each row of the tables begins
    cards: np.ndarray  # how many states each row has

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that the parameters belong to, in order."""
        scopes = self.scopes.tolist()
        plain = [
            Node(self.named[i], begin, end, self.variables, tuple(scopes[first:last]), ())
            for i, begin, end, first, last in self.tables.tolist()
        ]
        return (*plain, *self.others)


@dataclass(frozen=True, eq=False, slots=True)
class Counts:
    """The expected count of each entry; derivatives and other statistics if they are needed."""

    flat: np.ndarray
    exact: Mapping[int, np.ndarray] | None
    own: Mapping[str, Any]


class Parameters:
    """The parameters of a network: entries of tables, and the parameters of other distributions.

    Args:
        model: the network.
        compiled: its snapshot.
        others: the distributions with parameters other than the entries of a table.
        zeros: whether entries that are 0 or 1 are included.
        clock: the clock of the question.
    """

    def __init__(
        self,
        model: Questions,
        compiled: ModelSnapshot,
        others: Mapping[str, CPD],
        zeros: bool,
        clock: Clock,
    ) -> None:
        self.model, self.compiled, self.others, self.zeros = model, compiled, others, zeros
        self.clock = clock

    def counts(self, known: Mapping[str, Any], target: str) -> Counts:
        """The expected counts given the evidence, in all tables that matter for it and for the target.

        Args:
            known: the evidence; no pgm.Soft.
            target: the variable whose parameters matter as well.
        """
        compiled = self.compiled
        observed = observe(compiled.by_name, known)
        refuse_soft(observed)

        def answer() -> Counts:
            at = make_posterior(compiled, observed, self.clock)
            if isinstance(at, Posterior):
                flat = flat_counts(at, [compiled.position[target]])
                exact = derivatives(at, zeros=True) if self.zeros else None
            else:
                flat = _flat(at.expected_statistics()[0], compiled.program.entries_at)
                exact = at.derivatives(zeros=True) if self.zeros else None
            return Counts(flat, exact, self.model.expected_counts(known) if self.others else {})

        found: Counts = session.answered(compiled, observed, self.clock, answer)
        return found

    def layout(self, at: Counts) -> SlopeLayout:
        """Which parameters matter: those of tables with expected counts, and those of `others`."""
        program = self.compiled.program
        p, begins = program.arrays, program.entries_at
        firsts, ends = begins[:-1], begins[1:]
        whose = program.factor_of
        matters = np.add.reduceat(at.flat, firsts) > 0.0 if firsts.size else np.zeros(0, bool)
        tables = np.flatnonzero(matters & self._plain()[whose])
        sizes = (ends - firsts)[tables]
        starts = np.cumsum(sizes) - sizes
        entries = np.arange(int(sizes.sum())) + np.repeat(firsts[tables] - starts, sizes)
        cards = p.cards[p.scopes[p.scope_at[1:][tables] - 1]]
        counts = sizes // cards
        each = np.repeat(cards, counts)
        rows = np.cumsum(each) - each
        theta = _values(program, tables, entries, sizes)
        shown = np.ones(entries.size, bool)
        shown[rows[each == 2]] = False
        at_scope = p.scope_at[tables], p.scope_at[tables + 1]
        listed = np.stack([whose[tables], starts, starts + sizes, *at_scope], axis=1)
        linear, others = np.ones(entries.size, bool), []
        for name, own in self._own(at):
            n = own.values.size
            others.append(Node(name, theta.size, theta.size + n, self.compiled.variables, (), own.names))
            theta = np.concatenate([theta, own.values])
            linear = np.concatenate([linear, np.full(n, own.linear)])
            shown = np.concatenate([shown, np.ones(n, bool)])
        return SlopeLayout(
            *(self.compiled.variables, listed, p.scopes, self._discrete, tuple(others)),
            *(theta, linear, shown, entries, rows, each),
        )

    def slopes(self, at: Counts, layout: SlopeLayout) -> np.ndarray:
        """The slope of log P(known) in each parameter, its row changing in proportion; NaN: it has none."""
        flat, cards = at.flat[layout.entries], layout.cards
        theta = layout.values[: flat.size]
        if cards.size:
            total = np.repeat(np.add.reduceat(flat, layout.rows), cards)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                rest = 1.0 - theta
                flat, found = flat / theta, total - flat
                found /= rest
                np.subtract(flat, found, out=found)
            certain = (theta <= 0.0) | (theta >= 1.0)
            if at.exact is None:
                found[certain] = np.nan
            else:
                free = _flat(at.exact, self.compiled.program.entries_at)[layout.entries]
                found[certain] = _certain_slopes(free, theta, layout.rows, cards)[certain]
        else:
            found = flat
        own = [parameters.slopes for _, parameters in self._own(at)]
        return np.concatenate([found, *own]) if own else np.asarray(found)

    def _own(self, at: Counts) -> Iterator[tuple[str, OwnParameters]]:
        for name, cpd in self.others.items():
            own = cpd.own_parameters(at.own[name]) if name in at.own else None
            if own is not None:
                yield name, own

    @cached_property
    def _discrete(self) -> Sequence[str]:
        """The variables that factors of the program belong to."""
        if self.compiled.gaussians is None:
            return self.compiled.names
        variables = self.compiled.by_name
        return [name for name in self.compiled.names if not variables[name].continuous]

    def _plain(self) -> np.ndarray:
        """Which of the discrete variables have a table whose entries are their parameters."""
        plain = np.ones(len(self._discrete), bool)
        if self.others:
            plain[[i for i, name in enumerate(self._discrete) if name in self.others]] = False
        return plain


def _values(program: Program, tables: np.ndarray, entries: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The values of these entries of the program."""
    p = program.arrays
    places = entries + np.repeat((p.table_at - program.entries_at[:-1])[tables], sizes)
    values, powers = program.values[places], np.repeat(p.exponent[tables], sizes)
    if program.wide_exponents is not None:
        powers = powers + program.wide_exponents[places]
    if powers.any():
        values = np.ldexp(values, np.clip(powers, -2000, 2000).astype(np.int32))
    return np.asarray(values)


def _flat(tables: Mapping[int, np.ndarray], begins: np.ndarray) -> np.ndarray:
    found = np.zeros(int(begins[-1]))
    for f, table in tables.items():
        found[begins[f] : begins[f + 1]] = table
    return found


def _certain_slopes(free: np.ndarray, theta: np.ndarray, rows: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Slopes from the derivatives of independent entries; what a 1 loses its row shares evenly."""
    weighted = np.where(theta > 0.0, theta * free, 0.0)
    total = np.repeat(np.add.reduceat(weighted, rows), cards) - weighted
    plain = np.repeat(np.add.reduceat(free, rows), cards) - free
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(theta < 1.0, total / (1.0 - theta), plain / (np.repeat(cards, cards) - 1))
    return np.asarray(free - rest)
