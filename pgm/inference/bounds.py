"""What messages hold, measured, where the bounds that a sweep carries along have become too wide."""

from __future__ import annotations

import numpy as np

from pgm.inference.arrays import TreeArrays

_FAR = -690  # log2 of what a clique multiplies; with 2**-300 from above this is still a double


def tighten(t: TreeArrays, pool: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Bound anew what cliques take in after an inward sweep, where it might not be safe to multiply again.

    `low` and `high` bound log2 of what each item holds and are changed in place. What a hub's many neighbours
    send has bounds that add up to nothing of use, and the way out would be taken for too wide for doubles.
    """
    uses = np.diff(t.operand_at)
    if not uses.size or uses.max() < 3:  # each message is bounded by 2**-300
        return
    sums = np.zeros(uses.size, np.int64)
    lows = np.minimum(low, 0).take(t.operand)
    sums[uses > 0] = np.add.reduceat(lows, t.operand_at[:-1][uses > 0])
    items = t.operand[np.repeat(sums < _FAR, uses)]
    items = items[items >= t.item_at.size - 1 - t.parent.size]  # messages, not tables
    if not items.size:
        return
    begins, lengths = t.item_at[items], t.item_at[items + 1] - t.item_at[items]
    parts = np.cumsum(lengths) - lengths
    held = pool[np.arange(lengths.sum()) + np.repeat(begins - parts, lengths)]
    low[items] = np.frexp(np.minimum.reduceat(np.where(held > 0.0, held, np.inf), parts))[1] - 1
    high[items] = np.frexp(np.maximum.reduceat(held, parts))[1]
