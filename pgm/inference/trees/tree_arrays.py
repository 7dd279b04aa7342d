"""The flat arrays of a tree of cliques, laid out for one run.

Numba reads named tuples as they are, so a loop takes one argument where it would else take twenty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class TreeArrays(NamedTuple):
    """A tree of cliques laid out for one run. Children come before their parents.

    An *item* is a table or a message: items 0 .. Fr-1 are the reduced factors, item Fr + c is what clique c
    sends to its parent; some cliques sum out nothing and multiply a few operands for the next. Clique c is
    walked as `size / inner` rows of `inner` entries; its entry (row, j) is entry `lookup[outer + row] + x`
    of an operand, where x depends on the operand's kind: 0 for kind 0, j for kind 1; for kind 2
    `lookup[inner + j // run]`, constant along a run; for kind 3 that plus `j % run`.

    A clique nearly all of whose entries are zero whatever is asked has a *list* of the others: one column
    after the other says where each of them is in the message, in its operands and in the results read off it.
    """

    cards: np.ndarray  # int64[m]
    axis_at: np.ndarray  # int64[C + 1]
    axes: np.ndarray  # int32 the variables of each clique: those it sums out, then those it sends on
    parent: np.ndarray  # int64[C] -1 for a root
    size: np.ndarray  # int64[C] entries
    sent: np.ndarray  # int64[C] entries of its message
    inner: np.ndarray  # int64[C] entries of a row
    clique_at: np.ndarray  # int64[C + 1] where its entries begin when cliques are kept
    item_at: np.ndarray  # int64[Fr + C + 1] where each item begins
    operand_at: np.ndarray  # int64[C + 1]
    operand: np.ndarray  # int64 items multiplied in each clique
    kind: np.ndarray  # int64 how an operand moves along a row
    run: np.ndarray  # int64
    short_at: np.ndarray  # int64 for messages: where lookup says which entries of a row each of theirs sums
    short: np.ndarray  # int64 how many that are; negative: not side by side in the row; 0: not in the message
    outer_at: np.ndarray  # int64
    inner_at: np.ndarray  # int64
    result_at: np.ndarray  # int64[R + 1] where each wanted result begins
    wanted_at: np.ndarray  # int64[C + 1] the results read off each clique
    wanted: np.ndarray  # int64
    wanted_kind: np.ndarray  # int64
    wanted_run: np.ndarray  # int64
    wanted_short_at: np.ndarray  # int64
    wanted_short: np.ndarray  # int64
    wanted_outer: np.ndarray  # int64
    wanted_inner: np.ndarray  # int64
    passing_at: np.ndarray  # int64[C + 1] the results read off what each clique sends
    passing: np.ndarray  # int64
    passing_index: np.ndarray  # int64
    lookup: np.ndarray  # int32
    clique_of: np.ndarray  # int64[m] the clique that sums a variable out (or the root that keeps it)
    list_at: np.ndarray  # int64[C + 1] where the list of a clique's entries begins; empty: no clique has one
    lists: np.ndarray  # int32 where such entries are in the message, in each operand, in each wanted result
