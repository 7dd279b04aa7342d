"""Sufficient statistics of local distributions: those of parts of the data add up to those of the whole.

A table has an array of counts in its own shape, a density has `GaussianStatistics`; the kinds here serve all
others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pgm.errors import InvalidArgument

from .table_input import Array

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowCounts:
    """How often each state of the child came up in each of a distribution's own rows: (rows, states).

    Such a row is a leaf of a tree, a listed configuration, or the effect of one cause in one of its states.
    Counts of hidden events, such as which cause acted, are expected counts.

    >>> (RowCounts(np.eye(2)) + RowCounts(np.ones((2, 2)))).values.tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    values: Array

    def __add__(self, other: object) -> Any:
        """The statistics of all the data."""
        if isinstance(other, Configurations):
            return SeenAndCounted(other, self)
        if not isinstance(other, RowCounts):
            return NotImplemented
        if self.values.shape != other.values.shape:
            raise InvalidArgument(
                f"Counts of shapes {self.values.shape} and {other.values.shape} belong to two distributions."
            )
        return RowCounts(self.values + other.values)


@dataclass(frozen=True, eq=False)
class Configurations:
    """The configurations that were seen, a row of parents and child each, and the weight of each.

    Kinds whose likelihood has no smaller sufficient statistics are fitted to this. Codes of states are
    merged, so that each configuration appears once; values of continuous parents are kept as they are.

    >>> one = Configurations.of(np.array([[0, 1], [1, 1]]), np.ones(2), (2, 2))
    >>> (one + one).weights.tolist()
    [2.0, 2.0]
    """

    rows: npt.NDArray[Any]  # (configurations, parents and child)
    weights: Array
    cards: tuple[int, ...] | None  # of parents and child; None where some are continuous

    @classmethod
    def of(cls, rows: npt.NDArray[Any], weights: Array, cards: Sequence[int] | None) -> Configurations:
        """Gather rows, some of which may be equal; rows of weight zero are left out."""
        if not (weights > 0.0).all():
            rows, weights = rows[weights > 0.0], weights[weights > 0.0]
        if cards is None:
            return cls(rows, weights, None)
        return cls(*_distinct(rows, weights, cards), tuple(cards))

    def __add__(self, other: object) -> Any:
        """The statistics of all the data."""
        if isinstance(other, RowCounts):
            return SeenAndCounted(self, other)
        if not isinstance(other, Configurations):
            return NotImplemented
        if self.cards != other.cards or self.rows.shape[1] != other.rows.shape[1]:
            raise InvalidArgument("Configurations of different variables do not add up.")
        rows, weights = np.vstack([self.rows, other.rows]), np.concatenate([self.weights, other.weights])
        return Configurations.of(rows, weights, self.cards)


@dataclass(frozen=True, eq=False)
class SeenAndCounted:
    """Complete rows together with counts of a distribution's own rows: those of other data, or of a prior.

    >>> seen = Configurations.of(np.array([[0, 1]]), np.ones(1), (2, 2))
    >>> (seen + RowCounts(np.eye(2)) + seen).seen.weights.tolist()
    [2.0]
    """

    seen: Configurations
    counted: RowCounts

    def __add__(self, other: object) -> SeenAndCounted:
        """The statistics of all the data."""
        if isinstance(other, SeenAndCounted):
            return SeenAndCounted(self.seen + other.seen, self.counted + other.counted)
        if isinstance(other, Configurations):
            return SeenAndCounted(self.seen + other, self.counted)
        if isinstance(other, RowCounts):
            return SeenAndCounted(self.seen, self.counted + other)
        return NotImplemented

    def __radd__(self, other: object) -> SeenAndCounted:
        """The same sum, with the operands in the other order."""
        return self + other


def normalised(counts: Array, otherwise: Array | None = None) -> Array:
    """Divide each row by its sum; one without data is uniform, or taken from `otherwise`."""
    totals = counts.sum(axis=-1, keepdims=True)
    seen = totals > 0
    rest: Any = 1.0 / counts.shape[-1] if otherwise is None else otherwise
    return np.asarray(np.where(seen, counts / np.where(seen, totals, 1.0), rest))


def weighted_log(weights: Array, shares: Array) -> float:
    """The sum of weights times logarithms; where the weight is 0, the share may be 0 as well.

    >>> weighted_log(np.array([2.0, 0.0]), np.array([1.0, 0.0]))
    0.0
    """
    there = weights > 0.0
    with np.errstate(divide="ignore"):
        return float(weights[there] @ np.log(shares[there]))


def summed(places: Sequence[Any], weights: Array, shape: Sequence[int]) -> Array:
    """Sum weights by their indices in an array of this shape."""
    flat = np.ravel_multi_index(tuple(places), tuple(shape)) if len(weights) else np.empty(0, np.int64)
    return np.bincount(flat, weights, minlength=math.prod(shape)).astype(np.float64).reshape(shape)


def _distinct(codes: Codes, weights: Array, cards: Sequence[int]) -> tuple[Codes, Array]:
    """Return each row once, with the sum of its weights."""
    if math.prod(cards) < 2**62:
        keys: npt.NDArray[Any] = codes @ _steps(cards)
    else:
        narrow = np.ascontiguousarray(codes.astype(np.int32))
        keys = narrow.view(np.dtype((np.void, narrow.dtype.itemsize * narrow.shape[1]))).ravel()
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return codes[first], np.bincount(place.ravel(), weights, minlength=first.size).astype(np.float64)


def _steps(cards: Sequence[int]) -> Codes:
    steps = np.ones(len(cards), dtype=np.int64)
    for i in range(len(cards) - 2, -1, -1):
        steps[i] = steps[i + 1] * cards[i + 1]
    return steps
