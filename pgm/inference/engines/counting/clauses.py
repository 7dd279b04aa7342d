"""A reduced question as clauses over weighted atoms, for weighted model counting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pgm.config import current
from pgm.inference.program.reduction import Case, wide_multiply
from pgm.runtime.running import SEARCH

Wide = tuple[float, int]
Clause = tuple[int, ...]  # of literals: 2a for atom a true, 2a + 1 for false
ONE: Wide = (0.5, 1)
_BYTES = 300  # per literal while clauses are simplified, with its share of all lists


@dataclass(eq=False, slots=True)
class Formula:
    """The sum of the product of the literals' weights over all assignments that satisfy all clauses."""

    clauses: list[Clause]
    mantissa: np.ndarray  # of the weight of each literal
    exponent: np.ndarray
    literal: np.ndarray  # of each state of each reduced variable: the literal that is true in that state
    constant: Wide  # a factor of the sum


def formula_of(case: Case) -> Formula | None:
    """The question as a formula; None if a table does more than allow or forbid, or clauses do not fit.

    A factor over several variables must have a single value besides zero; factors over one variable are
    weights. A variable with two states is an atom; one with more states has an atom for each.
    """
    r = case.reduced
    mantissas, exponents = case.wide_tables()
    exponents = np.where(mantissas > 0, exponents, 0)
    several = np.diff(r.scope_at) > 1
    if not _yes_or_no(r.table_at, several, mantissas, exponents):
        return None
    literal = _literals(r.cards, r.state_at)
    n = int(literal.max(initial=-1)) // 2 + 1
    formula = Formula([], np.full(2 * n, 0.5), np.ones(2 * n, np.int64), literal, ONE)
    if float((r.cards[r.cards > 2] ** 2).sum()) * _BYTES > current().memory_limit:
        return None
    for v in np.flatnonzero(r.cards > 2).tolist():
        mine = literal[r.state_at[v] : r.state_at[v + 1]].tolist()
        formula.clauses.append(tuple(mine))
        formula.clauses += [(a ^ 1, b ^ 1) for i, a in enumerate(mine) for b in mine[:i]]
    kind, _ = SEARCH.kinds(r.cards, r.scope_at, r.scopes, r.table_at, mantissas, exponents)
    forbidden: dict[int, list[list[np.ndarray]]] = {}
    most = current().memory_limit // (2 * _BYTES)
    size = sum(map(len, formula.clauses))
    for f, (begin, end) in enumerate(zip(r.scope_at[:-1].tolist(), r.scope_at[1:].tolist(), strict=True)):
        table = slice(int(r.table_at[f]), int(r.table_at[f + 1]))
        scope = r.scopes[begin:end].tolist()
        if end - begin == 1:
            _weigh(formula, literal[r.state_at[scope[0]] :], mantissas[table], exponents[table])
            continue
        k = int(kind[f])
        if k not in forbidden:
            zero = (mantissas[table] == 0.0).reshape(r.cards[scope])
            forbidden[k] = list(boxes(zero))
        some = int(r.table_at[f] + mantissas[table].argmax())
        formula.constant = wide_multiply(formula.constant, (float(mantissas[some]), int(exponents[some])))
        for box in forbidden[k]:
            clause = _outside(box, [literal[r.state_at[v] : r.state_at[v + 1]].tolist() for v in scope])
            formula.clauses.append(clause)
            size += len(clause)
        if size > most:
            return None
    return formula


def _yes_or_no(
    table_at: np.ndarray, several: np.ndarray, mantissas: np.ndarray, exponents: np.ndarray
) -> bool:
    """Whether each of the tables marked `several` has at most one value besides zero."""
    owner = np.repeat(np.arange(several.size), np.diff(table_at))
    some = np.flatnonzero((mantissas > 0.0) & several[owner])
    same = owner[some[1:]] == owner[some[:-1]]
    equal = (mantissas[some[1:]] == mantissas[some[:-1]]) & (exponents[some[1:]] == exponents[some[:-1]])
    return bool((equal | ~same).all())


def _literals(cards: np.ndarray, state_at: np.ndarray) -> np.ndarray:
    atoms = np.where(cards > 2, cards, 1)
    first = np.cumsum(atoms) - atoms
    state = np.arange(int(state_at[-1])) - np.repeat(state_at[:-1], cards)
    owner = np.repeat(np.arange(cards.size), cards)
    return np.asarray(np.where(cards[owner] > 2, 2 * (first[owner] + state), 2 * first[owner] + 1 - state))


def _weigh(formula: Formula, literal: np.ndarray, mantissas: np.ndarray, exponents: np.ndarray) -> None:
    for x, m, e in zip(literal.tolist(), mantissas.tolist(), exponents.tolist(), strict=False):
        if m == 0.0:
            formula.clauses.append((x ^ 1,))
            continue
        weight = wide_multiply((float(formula.mantissa[x]), int(formula.exponent[x])), (m, e))
        formula.mantissa[x], formula.exponent[x] = weight


def boxes(zero: np.ndarray) -> Iterator[list[np.ndarray]]:
    """Boxes that cover exactly the marked cells, each given by some states of every axis."""
    left = zero.copy()
    while left.any():
        cell = np.unravel_index(int(left.argmax()), zero.shape)
        box = [np.array([c]) for c in cell]
        for a in range(zero.ndim):
            box[a] = np.arange(zero.shape[a])
            others = tuple(i for i in range(zero.ndim) if i != a)
            box[a] = np.flatnonzero(zero[np.ix_(*box)].all(axis=others))
        left[np.ix_(*box)] = False
        yield box


def _outside(box: list[np.ndarray], literals: list[list[int]]) -> Clause:
    """The clause saying that some variable has a state outside the box."""
    clause: list[int] = []
    for states, mine in zip(box, literals, strict=True):
        if states.size == 1:
            clause.append(mine[int(states[0])] ^ 1)
        elif states.size < len(mine):
            inside = set(states.tolist())
            clause += [x for s, x in enumerate(mine) if s not in inside]
    return tuple(clause)
