"""The arrays of the loops over lanes: a tree, the evidence of rows, and where expected counts go."""

from __future__ import annotations

from typing import NamedTuple

from pgm.runtime.kinds import Bytes, Floats, Ints, Ints32


class Lanes(NamedTuple):
    """A tree laid out for lanes: a row of the pool is one entry of a table or message, for all lanes.

    Entry (k, s) of a clique, s what it sends, is entry `k * sent + s` of its constants, and of an operand the
    row `pool + lookup[outer + k] + lookup[inner + s]`.
    """

    scaled: Bytes  # [C] messages to be scaled by powers of two
    constants: Floats  # the product of a clique's operands that are the same for all rows
    fixed: Floats  # messages that are the same for all rows
    # From here on the arrays are the same for all values of the tables.
    parent: Ints  # [C] -1 for a root; children come first
    lane: Bytes  # [C] cliques whose messages differ between rows
    size: Ints  # [C]
    sent: Ints  # [C]
    constant_at: Ints  # [C] -1 where none are kept
    message_at: Ints  # [C] where in the pool, -1 where it is a constant
    fixed_at: Ints  # [C]
    lane_begin: Ints  # [C + 1] operands that differ from row to row
    lane_pool: Ints
    lane_outer: Ints
    lane_inner: Ints
    lane_child: Ints  # the clique whose message it is, or -1
    unary_at: Ints  # [W] for each variable that some rows observe: its own vector, or -1
    mask_begin: Ints  # [C + 1] the variables that are masked in a message instead
    masks: Ints
    mask_after: Ints  # entries of the message for one state of the variable
    result_at: Ints  # [R + 1]
    read_begin: Ints  # [C + 1] results read off cliques
    reads: Ints
    read_outer: Ints
    read_inner: Ints
    pass_begin: Ints  # [C + 1] results read off the messages that cliques receive
    passes: Ints
    pass_inner: Ints
    lookup: Ints32


class RowEvidence(NamedTuple):
    """How the codes of a row change the values in its lane."""

    values: Floats  # the program's tables
    mask_column: Ints  # [W] columns that some rows observe
    mask_card: Ints  # [W]
    mask_state_at: Ints  # [W]
    mask_state: Ints  # the index among the open states of each code
    table_pool: Ints  # [T] where each table that variables observed in all rows slice is in the pool
    table_entry_at: Ints  # [T + 1]
    table_entry: Ints  # where in `values` an entry is when all codes are 0
    table_step_at: Ints  # [T + 1]
    table_column: Ints
    table_step: Ints  # what a code adds to that index
    scalar_at: Ints  # [H] the same for tables reduced to a scalar
    scalar_step_at: Ints  # [H + 1]
    scalar_column: Ints
    scalar_step: Ints


class Reads(NamedTuple):
    """Where the expected counts of tables go in one array that holds those of all tables, concatenated."""

    entry: Ints  # of each entry of the results, when all codes are 0
    step_at: Ints  # [R + 1]
    column: Ints  # columns of the frame that slice a table
    step: Ints  # what each code adds to the entry
    scalar_at: Ints  # [H] of each table that is reduced to a scalar
