"""The parameters of a distribution as a user writes them, and the derivative of a log-likelihood by each.

By Fisher's identity the derivative of log P(known) by a parameter is the expected derivative of log P(child |
parents), which needs the expected statistics of the distribution and nothing else of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class OwnParameters:
    """Parameters of one distribution, with the derivative of log P(known) by each."""

    values: Array
    slopes: Array  # NaN where a parameter cannot be varied
    linear: bool  # whether P(known) is linear in each of them
    names: tuple[str, ...]


def row_slopes(counts: Array, rows: Array) -> Array:
    """The derivative of log P by each entry of rows that sum to one, the rest of its row in proportion.

    It is NaN for entries that are 0 or 1, where counts do not determine it.

    Args:
        counts: how often each entry is expected, (..., states).
        rows: the probabilities, in the same shape.

    >>> row_slopes(np.array([[1.0, 3.0]]), np.array([[0.5, 0.5]])).tolist()
    [[-4.0, 4.0]]
    """
    total = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = counts / rows - (total - counts) / (1.0 - rows)
    found[(rows <= 0.0) | (rows >= 1.0)] = np.nan
    return np.asarray(found)


def of_rows(counts: Array, rows: Array, texts: Iterable[str], states: Iterable[object]) -> OwnParameters:
    """The entries of rows that each sum to one.

    Args:
        counts: how often each entry is expected, (rows, states).
        rows: the probabilities, in the same shape.
        texts: what each row is called.
        states: the states.

    >>> of_rows(np.ones((1, 2)), np.full((1, 2), 0.5), ["leak"], [False, True]).names
    ('leak: False', 'leak: True')
    """
    names = tuple(f"{text}: {state}" for text in texts for state in states)
    return OwnParameters(rows.ravel().copy(), row_slopes(counts, rows).ravel(), True, names)
