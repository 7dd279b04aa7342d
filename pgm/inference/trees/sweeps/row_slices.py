"""How threads share the rows of one huge clique: by the states of a few axes.

The axes are chosen so that slabs add to disjoint entries of everything, and each entry is summed in the order
in which one thread would sum it: the results are the same to the last bit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from pgm.inference.trees.tree_arrays import TreeArrays

_LEAST_ENTRIES = 2**20  # of a clique that is shared: about a millisecond
_OPEN, _ROWS, _CLOSE = 0, 1, 2  # as in pgm/inference/trees/sweeps/compiled.py
OPEN, CLOSE = np.array([_OPEN, 1, 0, 0]), np.array([_CLOSE, 1, 0, 0])
WHOLE = np.empty(0, np.int64)


def huge(t: TreeArrays) -> np.ndarray:
    """Which cliques may be worth splitting; never those that have a list."""
    many: np.ndarray = t.size >= _LEAST_ENTRIES
    return many & (np.diff(t.list_at) == 0) if t.list_at.size else many


def slabs_in(t: TreeArrays, c: int, count: int) -> list[np.ndarray]:
    """At most this many slabs for the inward sweep, as `inward` takes them; empty if it cannot be split."""
    return _slabs(t, c, count, [_sent_axes(t, c)])


def slabs_out(t: TreeArrays, c: int, count: int) -> list[np.ndarray]:
    """At most this many slabs for the outward sweep; empty if it cannot be split."""
    n_tables = t.item_at.size - 1 - t.parent.size
    operands = t.operand[t.operand_at[c] : t.operand_at[c + 1]].tolist()
    if t.wanted_at[c] < t.wanted_at[c + 1]:  # results have one axis, seldom a suitable one
        return []
    return _slabs(t, c, count, [_sent_axes(t, o - n_tables) for o in operands if o >= n_tables])


def _slabs(t: TreeArrays, c: int, count: int, scopes: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Slabs by neighbouring axes common to all of the scopes."""
    if not scopes:
        return []
    outer = _outer_axes(t, c)
    cards = [int(t.cards[v]) for v in outer]
    common = set(scopes[0]).intersection(*scopes[1:])
    # As many states as needed; then axes as far out as possible, so that a slab is walked like the whole.
    enough, below, states = 1, 1, 1
    for i in range(len(outer)):
        for j in range(i + 1, len(outer) + 1):
            if outer[j - 1] not in common:
                break
            mine, rows = math.prod(cards[i:j]), math.prod(cards[j:])
            enough, below, states = max((enough, below, states), (min(mine, count), rows, mine))
    cuts = [states * k // enough * below for k in range(enough + 1)]
    if enough < 2:
        return []
    return [np.array([_ROWS, states * below, *ends]) for ends in itertools.pairwise(cuts)]


def _outer_axes(t: TreeArrays, c: int) -> list[int]:
    """The axes of a clique that index its rows."""
    axes = _axes(t, c)
    return axes[: len(axes) - _last(t, axes, int(t.inner[c]))]


def _sent_axes(t: TreeArrays, c: int) -> list[int]:
    """The axes of the message that a clique sends."""
    axes = _axes(t, c)
    return axes[len(axes) - _last(t, axes, int(t.sent[c])) :]


def _axes(t: TreeArrays, c: int) -> list[int]:
    axes: list[int] = t.axes[t.axis_at[c] : t.axis_at[c + 1]].tolist()
    return axes


def _last(t: TreeArrays, axes: list[int], entries: int) -> int:
    """How many of the last axes together have this many entries."""
    count, found = 0, 1
    while found < entries:
        count += 1
        found *= int(t.cards[axes[-count]])
    return count
