"""Programs of one structure: the same scopes with other values, so that what was laid out is reused."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pgm.inference.program import NARROWEST, Program
from pgm.runtime.running import REDUCTION


def same_structure(a: Program, b: Program) -> bool:
    """Whether two programs differ at most in values, so that one's trees serve the other."""
    arrays = ("cards", "scope_at", "scopes", "table_at", "heads", "leader", "order")
    own = ("kinds", "turns", "factor_of", "parts_of")
    pairs = [(getattr(a.arrays, f), getattr(b.arrays, f)) for f in arrays]
    pairs += [(getattr(a, f), getattr(b, f)) for f in own]
    return a.n_named == b.n_named and all(np.array_equal(x, y) for x, y in pairs)


def with_support_of(program: Program, old: Program) -> Program:
    """A program of the structure of an older one, with its `support` if the zeros are the same too."""
    same = (
        program.possible == old.possible
        and (program.wide_exponents is None) == (old.wide_exponents is None)
        and np.array_equal(program.values > 0.0, old.values > 0.0)
        # Of several tables that form one distribution, those that are all one are dropped: see `drop_ones`.
        and not (program.has_joined and not np.array_equal(_ones(program), _ones(old)))
    )
    if not same:
        return program
    new = ("arrays", "values", "wide_exponents", "gates")
    return _with(old, **{name: getattr(program, name) for name in new})


def with_tables(program: Program, tables: Mapping[int, np.ndarray]) -> Program | None:
    """The program with other tables for variables that have one of their own; None: it must be recompiled.

    Args:
        program: a program in which each of these variables has a dense table P(variable | parents).
        tables: by the variable's position, its axis last. They must be zero where the old ones are.
    """
    p = program.arrays
    if program.wide_exponents is not None or not program.possible:
        return None
    values, low, exponent = program.values.copy(), p.low, p.exponent
    for v, table in tables.items():
        f = int(program.own_tables[v])
        least, power = REDUCTION.replace_table(table.ravel(), int(p.table_at[f]), values, NARROWEST)
        if least > 0:
            return None
        if least != low[f] or power != exponent[f]:  # otherwise the old scales remain valid
            if low is p.low:
                low, exponent = low.copy(), exponent.copy()
            low[f], exponent[f] = least, power
    return _with(program, arrays=p if low is p.low else p.scaled(low, exponent), values=values)


def _with(program: Program, **fields: object) -> Program:
    """A program with the same structure, support and cached properties, and these fields replaced."""
    made = object.__new__(Program)
    made.__dict__.update(program.__dict__)
    made.__dict__.update(fields)
    return made


def _ones(program: Program) -> np.ndarray:
    """Which entries of the tables are one."""
    p = program.arrays
    begins, first = np.unique(p.table_at, return_index=True)
    powers = np.repeat(p.exponent[first], np.diff(begins, append=program.values.size))
    ones: np.ndarray = program.values == np.ldexp(1.0, -powers.astype(np.int32))
    return ones
