"""The flat arrays of a program, and of its reduction to one question.

Compiled loops take named tuples: one argument instead of twenty.
"""

from __future__ import annotations

from typing import NamedTuple

from pgm.runtime.kinds import Bytes, Ints, Ints32


class ProgramArrays(NamedTuple):
    """All factors of a model, structured ones decomposed; variables and factors are indices."""

    cards: Ints  # [n] the number of states of each variable
    state_at: Ints  # [n + 1] where its states begin in an array over all states
    scope_at: Ints  # [F + 1]
    scopes: Ints32  # variables of each factor, in the order of its table's axes
    table_at: Ints  # [F] where its table begins; scopes of one `Dense` share a table
    heads: Ints  # [F] over how many of its last variables it sums to one
    leader: Ints  # [F] the first of the tables whose product is one distribution; usually itself
    has_zero: Bytes  # [F]
    low: Ints  # [F] a lower bound on log2 of its smallest non-zero value, after scaling
    exponent: Ints  # [F] the power of two factored out of its table
    user_at: Ints  # [n + 1]
    users: Ints32  # the factors of each variable
    order: Ints32  # [n] how questions index the reduced variables, the user's first; neighbours side by side

    def scaled(self, low: Ints, exponent: Ints) -> ProgramArrays:
        """These arrays for values on another scale; `_replace` takes three times as long."""
        return ProgramArrays._make((*self[:_LOW], low, exponent, *self[_LOW + 2 :]))


_LOW = ProgramArrays._fields.index("low")


class ReducedArrays(NamedTuple):
    """A program reduced to one question: the variables still open, and tables over their open states."""

    variables: Ints32  # [m] their indices in the program
    cards: Ints  # [m] open states
    state_at: Ints  # [m + 1]
    states: Ints32  # the program's codes of the open states
    factors: Ints32  # [Fr] their indices in the program; from F on: virtual evidence
    scope_at: Ints  # [Fr + 1]
    scopes: Ints32  # indices into `variables`
    table_at: Ints  # [Fr + 1]
    scalars: Ints32  # factors reduced to a scalar
