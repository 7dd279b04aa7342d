"""The slope of log P(known) in every number of a network: entries of tables all at once, others by kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.cpds import CPD
from pgm.evidence import observe
from pgm.inference.asking import session
from pgm.inference.asking.failures import refuse_soft
from pgm.inference.asking.questions import Questions
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.exact.expected_statistics import derivatives, flat_counts
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.runtime.clock import Clock
from pgm.variables import VariableList


@dataclass(frozen=True, slots=True)
class Node:
    """The numbers of one node among all: those of a table, or those it is written with."""

    name: str
    begin: int
    end: int
    variables: VariableList  # of the model
    scope: tuple[int, ...]  # of a table: parents and child, by position; else empty
    names: tuple[str, ...]  # of other numbers

    @property
    def shape(self) -> tuple[int, ...]:
        """As which the numbers are indexed."""
        if self.scope:
            return tuple([self.variables[i].card for i in self.scope])
        return (len(self.names),)

    def key(self, index: int) -> Any:
        """What a number of this node is called: the states of the parents and the child, or its name."""
        if not self.scope:
            return self.names[index]
        codes = np.unravel_index(index, self.shape)
        return tuple([self.variables[i].states[int(c)] for i, c in zip(self.scope, codes, strict=True)])


@dataclass(frozen=True, eq=False, slots=True)
class Slopes:
    """The slope of log P(known) in each number, the other entries of its row in proportion."""

    nodes: tuple[Node, ...]
    values: np.ndarray
    slopes: np.ndarray  # NaN where a number cannot be varied
    linear: np.ndarray  # whether P(known) is linear in it
    card: np.ndarray  # states of the row that a number belongs to; 0: of none
    last: np.ndarray  # whether it is the last of its row: of two it says all


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the slopes of a network belong to: which of its tables are its own numbers, and which are not.

    Args:
        model: the network.
        compiled: its snapshot.
        others: the distributions that are written with other numbers than those of a table.
        zeros: whether entries that are 0 or 1 are asked for.
        clock: the clock of the question.
    """

    model: Questions
    compiled: ModelSnapshot
    others: Mapping[str, CPD]
    zeros: bool
    clock: Clock

    def slopes(self, known: Mapping[str, Any], target: str) -> Slopes:
        """The slopes of log P(known), in all numbers that matter for this target and what is known.

        Args:
            known: the evidence; no pgm.Soft.
            target: the variable whose numbers matter as well.
        """
        compiled = self.compiled
        observed = observe(compiled.by_name, known)
        refuse_soft(observed)

        def answer() -> Slopes:
            at = make_posterior(compiled, observed, self.clock)
            if isinstance(at, Posterior):
                keep = [compiled.position[target]]
                flat = flat_counts(at, keep)
                exact = derivatives(at, zeros=True) if self.zeros else None
            else:
                flat = _flat(at.expected_statistics()[0], compiled.program.entries_at)
                exact = at.derivatives(zeros=True) if self.zeros else None
            own = self.model.expected_counts(known) if self.others else {}
            return self._gathered(flat, exact, own)

        found: Slopes = session.answered(compiled, observed, self.clock, answer)
        return found

    def _gathered(
        self, flat: np.ndarray, exact: Mapping[int, np.ndarray] | None, own: Mapping[str, Any]
    ) -> Slopes:
        program = self.compiled.program
        p, begins = program.arrays, program.entries_at
        values, powers = program.entries()
        theta = np.ldexp(values, np.clip(powers, -2000, 2000).astype(np.int32)) if powers.any() else values
        cards = p.cards[p.scopes[p.scope_at[1:] - 1]] if p.scopes.size else np.ones(0, np.int64)
        each = np.repeat(cards, np.diff(begins))
        rows = np.flatnonzero(_offset(begins) % each == 0)
        total = np.repeat(np.add.reduceat(flat, rows), each[rows]) if rows.size else flat
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = flat / theta - (total - flat) / (1.0 - theta)
        certain = (theta <= 0.0) | (theta >= 1.0)
        if exact is None:
            found[certain] = np.nan
        else:
            free = _flat(exact, begins)
            found[certain] = _of_certain(free, theta, rows, each)[certain]
        plain = self._tables()
        nodes, parts = [], []
        at = 0
        scopes, scope_at = p.scopes.tolist(), p.scope_at.tolist()
        sums = np.add.reduceat(flat, begins[:-1]) > 0.0 if begins.size > 1 else np.zeros(0, bool)
        matters, edges = sums.tolist(), begins.tolist()
        for f, name in plain.items():
            if matters[f]:
                size = edges[f + 1] - edges[f]
                scope = tuple(scopes[scope_at[f] : scope_at[f + 1]])
                nodes.append(Node(name, at, at + size, self.compiled.variables, scope, ()))
                parts.append(np.arange(edges[f], edges[f + 1]))
                at += size
        which = np.concatenate(parts) if parts else np.empty(0, np.int64)
        in_row = _offset(begins) % each
        arrays = [theta[which], found[which], np.ones(which.size, bool), each[which]]
        arrays.append((in_row == each - 1)[which])
        for name, cpd in self.others.items():
            numbers = cpd.own_numbers(own[name]) if name in own else None
            if numbers is None:
                continue
            n = numbers.values.size
            nodes.append(Node(name, at, at + n, self.compiled.variables, (), numbers.names))
            at += n
            extra = [numbers.values, numbers.slopes, np.full(n, numbers.linear), np.zeros(n, np.int64)]
            arrays = [np.concatenate([a, b]) for a, b in zip(arrays, [*extra, np.ones(n, bool)], strict=True)]
        return Slopes(tuple(nodes), *arrays)

    def _tables(self) -> dict[int, str]:
        """The node of each factor that is a table written as such."""
        program, names = self.compiled.program, self.compiled.names
        discrete = [name for name in names if not self.compiled.by_name[name].continuous]
        whose = program.factor_of.tolist()
        return {f: discrete[i] for f, i in enumerate(whose) if discrete[i] not in self.others}


def _offset(begins: np.ndarray) -> np.ndarray:
    """The index of each entry within its table."""
    return np.asarray(np.arange(begins[-1]) - np.repeat(begins[:-1], np.diff(begins)))


def _flat(tables: Mapping[int, np.ndarray], begins: np.ndarray) -> np.ndarray:
    found = np.zeros(int(begins[-1]))
    for f, table in tables.items():
        found[begins[f] : begins[f + 1]] = table
    return found


def _of_certain(free: np.ndarray, theta: np.ndarray, rows: np.ndarray, each: np.ndarray) -> np.ndarray:
    """The slopes from derivatives by independent entries; those beside a 1 grow evenly when it falls."""
    card = each[rows]
    weighted = np.where(theta > 0.0, theta * free, 0.0)
    total = np.repeat(np.add.reduceat(weighted, rows), card) - weighted
    plain = np.repeat(np.add.reduceat(free, rows), card) - free
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(theta < 1.0, total / (1.0 - theta), plain / (each - 1))
    return np.asarray(free - rest)
