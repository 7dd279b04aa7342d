"""What messages hold, measured, where the bounds that a sweep carries along have become too wide."""

from __future__ import annotations

import numpy as np

from pgm.inference.arrays import TreeArrays

_FAR = -400  # log2 of what a clique multiplies; with what comes from above this is still safe


def tighten(t: TreeArrays, pool: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Bound the messages of an inward sweep anew if those of some clique might not be multiplied safely.

    `low` and `high` bound log2 of what each item holds and are changed in place. What a hub's many neighbours
    send has bounds that add up to nothing of use, and the way out would be taken for too wide for doubles.
    """
    uses = np.diff(t.operand_at)
    if not uses.size or uses.max() < 4:  # each message is within 2**-300
        return
    taken = np.minimum(low, 0).take(t.operand)
    if np.add.reduceat(taken, t.operand_at[:-1][uses > 0]).min() > _FAR:
        return
    first = t.item_at.size - 1 - t.parent.size
    begins = t.item_at[first:-1] - t.item_at[first]
    messages = pool[t.item_at[first] : t.item_at[-1]]
    sent = np.flatnonzero(t.parent >= 0)
    least = np.minimum.reduceat(np.where(messages > 0.0, messages, np.inf), begins)[sent]
    most = np.maximum.reduceat(messages, begins)[sent]
    low[first + sent] = np.frexp(least)[1] - 1
    high[first + sent] = np.frexp(most)[1]
