"""Lists of the non-zero entries of a large clique, for cliques that have few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pgm.inference.trees import Tree
from pgm.runtime.clock import Clock
from pgm.runtime.running import TABLES, run

_SHARE = 0.2  # below this share of non-zero entries a list pays off; measured
_LEAST_ENTRIES = 4096
_FULL = 0.5  # share of entries that the inward sweep leaves, above which hardly any clique gets a list
_LARGEST_LISTS = 32 * 2**20  # bytes, or this share of what the question takes without them:
_LISTS_SHARE = 0.1


def with_lists(tree: Tree, bits: np.ndarray, question_bytes: float, clock: Clock) -> Tree:
    """The same tree, with lists for cliques that are nearly all zero.

    Zeros are determined for the tree as a whole: by one inward and one outward sweep over bits.

    Args:
        tree: a tree that will be used often.
        bits: which entries of its tables may ever be non-zero.
        question_bytes: what a question on the tree takes without lists.
        clock: the clock of the question.
    """
    t = tree.arrays
    large = (t.size >= _LEAST_ENTRIES) & (t.sent < t.size)
    if bits.all() or not large.any():
        return tree
    n_tables = t.item_at.size - 1 - t.parent.size
    all_bits = np.zeros(int(t.item_at[-1]), np.uint8)
    all_bits[: bits.size] = bits
    down = np.empty(int(t.item_at[-1] - t.item_at[n_tables]), np.uint8)
    counts = np.zeros(t.parent.size, np.int64)
    run("support", t, all_bits, down, counts, _FULL * tree.entries, steps=tree.steps, clock=clock)
    columns = 1 + np.diff(t.operand_at) + np.diff(t.wanted_at)
    if counts.sum() > _FULL * tree.entries:
        return tree
    lengths = np.where(large & (counts > 0) & (counts < _SHARE * t.size), counts * columns, 0)
    # If not all lists fit, keep those that save most.
    most = max(_LARGEST_LISTS, _LISTS_SHARE * question_bytes) / np.dtype(np.int32).itemsize
    order = np.argsort(counts / t.size, kind="stable")
    lengths[order[np.cumsum(lengths[order]) > most]] = 0
    if not lengths.any():
        return tree
    at = np.concatenate([[0], np.cumsum(lengths)])
    arrays = t._replace(list_at=at, lists=np.empty(int(at[-1]), np.int32))
    run("list_entries", arrays, all_bits, down, steps=tree.steps, clock=clock)
    listed = replace(tree, arrays=arrays, longest_row=max(tree.longest_row, TABLES.BLOCK))
    return replace(listed, steps=float(listed.clique_steps().sum()))
