"""The flat arrays of a clique tree, laid out for one run.

Compiled loops take named tuples: one argument instead of twenty.
"""

from __future__ import annotations

from typing import NamedTuple

from pgm.runtime.kinds import Ints, Ints32


class TreeArrays(NamedTuple):
    """A clique tree laid out for one run. Children come before their parents.

    An *item* is a table or a message: items 0 .. Fr-1 are the reduced factors, item Fr + c is what clique c
    sends to its parent; some cliques sum out nothing and multiply a few operands for the next. Clique c is
    walked as `size / inner` rows of `inner` entries; its entry (row, j) is entry `lookup[outer + row] + x`
    of an operand, where x depends on the operand's kind: 0 for kind 0, j for kind 1; for kind 2
    `lookup[inner + j // run]`, constant along a run; for kind 3 that plus `j % run`.

    A clique nearly all of whose entries are zero for any question has a *list* of the others: its columns,
    one after another, give their indices in the message, in the operands and in the results read off it.
    """

    cards: Ints  # [m]
    axis_at: Ints  # [C + 1]
    axes: Ints32  # the variables of each clique: those it sums out, then those it sends on
    parent: Ints  # [C] -1 for a root
    size: Ints  # [C] entries
    sent: Ints  # [C] entries of its message
    inner: Ints  # [C] entries of a row
    clique_at: Ints  # [C + 1] where its entries begin when cliques are kept
    item_at: Ints  # [Fr + C + 1] where each item begins
    operand_at: Ints  # [C + 1]
    operand: Ints  # items multiplied in each clique
    kind: Ints  # how an operand moves along a row
    run: Ints
    short_at: Ints  # for messages: where lookup says which entries of a row each of theirs sums
    short: Ints  # how many that are; negative: not side by side in the row; 0: not in the message
    outer_at: Ints
    inner_at: Ints
    result_at: Ints  # [R + 1] where each wanted result begins
    wanted_at: Ints  # [C + 1] the results read off each clique
    wanted: Ints
    wanted_kind: Ints
    wanted_run: Ints
    wanted_short_at: Ints
    wanted_short: Ints
    wanted_outer: Ints
    wanted_inner: Ints
    passing_at: Ints  # [C + 1] the results read off the message of each clique
    passing: Ints
    passing_index: Ints
    lookup: Ints32
    clique_of: Ints  # [m] the clique that sums a variable out (or the root that keeps it)
    list_at: Ints  # [C + 1] where the list of a clique's entries begins; empty: no clique has one
    lists: Ints32  # where such entries are in the message, in each operand, in each wanted result
