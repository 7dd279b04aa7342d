"""Exact answers by eliminating one variable after the other, in logarithms: slow, small, and easy to check."""

from __future__ import annotations

import math

import numpy as np

from pgm.config import Clock
from pgm.inference.reduction import Case, wide_multiply
from pgm.inference.running import Impossible

_Table = tuple[tuple[int, ...], np.ndarray]  # a scope in ascending order, and logarithms


def joint(case: Case, targets: np.ndarray, clock: Clock) -> tuple[np.ndarray, tuple[float, int]]:
    """The table over the reduced variables `targets`, divided by its largest entry, and the total."""
    r = case.reduced
    mantissas, exponents = case.wide_tables()
    with np.errstate(divide="ignore"):
        logs = np.log(mantissas) + exponents * math.log(2.0)
    tables: list[_Table] = []
    for g in range(r.factors.size):
        scope = r.scopes[r.scope_at[g] : r.scope_at[g + 1]].tolist()
        table = logs[r.table_at[g] : r.table_at[g + 1]].reshape([int(r.cards[v]) for v in scope])
        tables.append((tuple(sorted(scope)), table.transpose(np.argsort(scope, kind="stable"))))
    kept = set(targets.tolist())
    left = [v for v in range(r.cards.size) if v not in kept]
    while left:
        clock.check()
        v = min(left, key=lambda u: (_size_without(tables, u, r.cards), u))
        left.remove(v)
        touched = [t for t in tables if v in t[0]]
        tables = [t for t in tables if v not in t[0]]
        scope, product = _multiply(touched, [v], r.cards)
        summed = np.logaddexp.reduce(product, axis=scope.index(v))
        tables.append((tuple(u for u in scope if u != v), summed))
    wanted = sorted(kept)
    _, table = _multiply(tables, wanted, r.cards)
    table = table.transpose([wanted.index(t) for t in targets.tolist()])
    top = float(table.max())
    if top == -math.inf:
        raise Impossible
    relative = np.exp(table - top)
    exponent = math.floor(top / math.log(2.0))
    mantissa = math.exp(top - exponent * math.log(2.0)) * math.fsum(relative.ravel().tolist())
    return relative, wide_multiply(case.constant(), (mantissa, exponent))


def _size_without(tables: list[_Table], v: int, cards: np.ndarray) -> int:
    scope = {u for t in tables if v in t[0] for u in t[0]}
    return math.prod(int(cards[u]) for u in scope)


def _multiply(
    tables: list[_Table], extra: list[int], cards: np.ndarray
) -> tuple[tuple[int, ...], np.ndarray]:
    scope = tuple(sorted({u for t in tables for u in t[0]} | set(extra)))
    product = np.zeros([int(cards[u]) for u in scope])
    for own, table in tables:
        product = product + table.reshape([int(cards[u]) if u in own else 1 for u in scope])
    return scope, product
