"""Pairs that favour equal states, as random bonds (Edwards & Sokal 1988)."""

from __future__ import annotations

import numpy as np

from pgm.errors import InvalidArgument, listed
from pgm.inference.engines.sampling.lookup_arrays import LookupLayout

_ROUNDING = 1e-12  # of logarithms, relative to the largest


def find_bonds(layout: LookupLayout) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Split each pairwise table into fields of its two variables and a bond between them.

    A table over two variables with equally many states must be u(i) v(j) for unequal states and that times
    exp(J) for equal ones, with J at least 0; otherwise it is refused. J may depend on the state.

    Returns:
        The fields, as logarithms for each state of each variable; where the bond of each pair begins in the
        next two; the probability of a bond for each state, 1 - exp(-J); and log(exp(J) - 1).
    """
    a, graph = layout.arrays, layout.graph
    widths = np.diff(a.scope_at)
    pairs = a.scopes.reshape(-1, 2) if (widths == 2).all() else None
    if pairs is None:
        _refuse(layout, int(np.flatnonzero(widths != 2)[0]), "it is over more than two variables")
    assert pairs is not None
    fields = a.local.copy()
    table_of = graph.arrays.table
    bond_at = np.zeros(widths.size, np.int64)
    chances, gains, size = [np.empty(0)], [np.empty(0)], 0
    first_of, group_of = np.unique(table_of, return_index=True, return_inverse=True)[1:]
    for group, f in enumerate(first_of.tolist()):
        u, v = pairs[f].tolist()
        n = int(a.cards[u])
        if a.cards[v] != n:
            _refuse(layout, f, "its variables have different numbers of states")
        begin = int(a.table_at[f])
        table = a.logs[begin : begin + n * n].reshape(n, n)
        if not np.isfinite(table).all():
            _refuse(layout, f, "it has a zero")
        rows, columns, strength = _split(table)
        left = rows[:, None] + columns[None, :] + np.diag(strength) - table
        close = _ROUNDING * max(1.0, float(np.abs(table).max()))
        if np.abs(left).max() > close:
            _refuse(layout, f, "its entries for unequal states are not products of one value for each state")
        if strength.min() < -close:
            _refuse(layout, f, "it favours unequal states")
        strength = np.maximum(strength, 0.0)
        mine = np.flatnonzero(group_of == group)
        bond_at[mine] = size
        for side, field in ((0, rows), (1, columns)):
            at = a.state_at[pairs[mine, side]][:, None] + np.arange(n)
            np.add.at(fields, at.ravel(), np.tile(field, mine.size))
        chances.append(-np.expm1(-strength))
        with np.errstate(divide="ignore"):
            # log(exp(J) - 1), even if exp(J) overflows
            gains.append(strength + np.log(-np.expm1(-strength)))
        size += n
    return fields, bond_at, np.concatenate(chances), np.concatenate(gains)


def _split(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms of the rows, the columns and the diagonal that add up to a log table, if there are such."""
    n = len(table)
    if n == 1:
        return np.zeros(1), np.zeros(1), table[0].copy()
    if n == 2:  # one degree of freedom: the diagonal is taken to be constant
        strength = 0.5 * (table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0])
        rows = np.array([0.0, table[1, 0] - table[0, 0] + strength])
        columns = np.array([table[0, 0] - strength, table[0, 1]])
        return rows, columns, np.full(2, strength)
    # Off the diagonal the table is rows[i] + columns[j]: the column of a third state tells rows[i] - rows[0].
    columns = np.empty(n)
    rows = np.zeros(n)
    for i in range(1, n):
        k = next(k for k in range(n) if k not in (0, i))
        rows[i] = table[i, k] - table[0, k]
    columns[1:] = table[0, 1:]
    columns[0] = table[1, 0] - rows[1]
    return rows, columns, np.diag(table) - rows - columns


def _refuse(layout: LookupLayout, f: int, why: str) -> None:
    a, problem = layout.arrays, layout.problem
    scope = problem.case.reduced.variables[a.scopes[a.scope_at[f] : a.scope_at[f + 1]]].tolist()
    names = [problem.names[v] for v in scope if v < len(problem.names)]
    raise InvalidArgument(
        f'engine="swendsen-wang" is for pairs that favour equal states; the factor over {listed(names)} is '
        f'not one: {why}. Use engine="gibbs".'
    )
