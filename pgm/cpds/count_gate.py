"""Writes gates that only count how many inputs are on, by merging counts pairwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pgm.factors import Writer

Counts = npt.NDArray[np.int64]
Counted = tuple[int, Counts]  # a position in the gate, and how much each of its states counts


def count(
    writer: Writer, inputs: Sequence[Counted], fold: Callable[[Counts], Counts], parts: int = 1
) -> list[Counted]:
    """Write tables that count over the inputs, halves before wholes; return the last counts, not yet merged.

    Args:
        writer: takes the tables.
        inputs: in the order of the model.
        fold: maps sums to what matters of them, such as their parity.
        parts: the largest number of counts to merge the inputs into.
    """
    if len(inputs) <= parts:
        return [(position, fold(counts)) for position, counts in inputs]
    if parts > 1:
        half, left = len(inputs) // 2, parts // 2
        return count(writer, inputs[:half], fold, left) + count(writer, inputs[half:], fold, parts - left)
    (a, left_counts), (b, right_counts) = count(writer, inputs, fold, 2)
    sums = fold(np.add.outer(left_counts, right_counts))
    reached = np.unique(sums)
    merged = writer.new(reached.size)
    writer.put([a, b, merged], (sums[..., np.newaxis] == reached).astype(np.float64))
    return [(merged, reached)]


def cells(sizes: Sequence[int], most: Callable[[int], int], parts: int = 1) -> int:
    """Return how many entries these tables have; `most(n)` is the number of counts that n inputs can have."""
    n = len(sizes)
    if n <= parts:
        return 0
    half = n // 2
    if parts > 1:
        left = parts // 2
        return cells(sizes[:half], most, left) + cells(sizes[half:], most, parts - left)
    a, b = most(sum(sizes[:half])), most(sum(sizes[half:]))
    return cells(sizes[:half], most) + cells(sizes[half:], most) + a * b * most(sum(sizes))
