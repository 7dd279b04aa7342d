"""The flat arrays of a program, and of what is left of it for one question.

Numba reads named tuples as they are, so a loop takes one argument where it would else take twenty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ProgramArrays(NamedTuple):
    """All factors of a model, structured ones written out; variable and factor numbers are positions."""

    cards: np.ndarray  # int64[n] how many states each variable has
    state_at: np.ndarray  # int64[n + 1] where its states begin in an array over all states
    scope_at: np.ndarray  # int64[F + 1]
    scopes: np.ndarray  # int32 variables of each factor, in the order of its table's axes
    table_at: np.ndarray  # int64[F] where its table begins; scopes of one family share a table
    heads: np.ndarray  # int64[F] how many of its last variables it sums to one over
    leader: np.ndarray  # int64[F] the first of the tables whose product is one distribution; mostly itself
    has_zero: np.ndarray  # uint8[F]
    low: np.ndarray  # int64[F] a lower bound on log2 of its smallest non-zero value, after scaling
    exponent: np.ndarray  # int64[F] the power of two taken out of its table
    user_at: np.ndarray  # int64[n + 1]
    users: np.ndarray  # int32 the factors of each variable
    order: np.ndarray  # int32[n] how questions number what is left, the user's first; neighbours side by side


class ReducedArrays(NamedTuple):
    """What is left of a program for one question: variables still open, and tables over their open states."""

    variables: np.ndarray  # int32[m] their numbers in the program
    cards: np.ndarray  # int64[m] open states
    state_at: np.ndarray  # int64[m + 1]
    states: np.ndarray  # int32 the program's codes of the open states
    factors: np.ndarray  # int32[Fr] their numbers in the program; from F on: virtual evidence
    scope_at: np.ndarray  # int64[Fr + 1]
    scopes: np.ndarray  # int32 numbers among `variables`
    table_at: np.ndarray  # int64[Fr + 1]
    scalars: np.ndarray  # int32 factors of which a single number is left
