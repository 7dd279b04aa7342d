"""The flat arrays that the search works on; compiled.py has the algorithm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import Bytes, Floats, Ints, Ints32, IntTable


class SearchProblem(NamedTuple):
    """The problem; equal tables are stored once, as a *kind*."""

    cards: Ints  # [m]
    state_at: Ints  # [m + 1]
    word_at: Ints  # [m + 1] where the words of a variable's set of states begin
    full: Ints  # the sets of all states
    scope_at: Ints  # [F + 1]
    scopes: Ints32
    kind: Ints32  # [F]
    axis_at: Ints  # [K + 1] where the axes of each kind begin
    axis_cards: Ints
    axis_word: Ints  # where the words of an axis begin among those of its kind
    axis_stride: Ints
    kind_words: Ints  # [K]
    kind_table: Ints  # [K]
    mantissas: Floats
    exponents: Ints
    user_at: Ints  # [m + 1]
    users: Ints32
    user_axis: Ints32
    score: Floats  # [m] larger for variables that should be tried earlier


class Memo(NamedTuple):
    """Tables narrowed to some states, each examined once."""

    slots: Ints  # entries by their hash, -1 where empty
    class_slots: Ints
    kind: Ints32
    at: Ints  # where the entry's words begin: the given states, then those with support
    final: Ints  # the entry that represents it
    dead: Bytes  # whether no entry of the table is left
    relevant: Ints  # the axes that matter, as bits
    group: Ints32  # equal for entries that are the same function
    mantissa: Floats  # the value at the first entry
    exponent: Ints
    words: Ints


class Cache(NamedTuple):
    """The cache of components whose sum is known."""

    slots: Ints
    at: Ints  # where its key begins
    length: Ints32
    hash: Ints32
    used: Bytes  # whether used since the last sweep
    mantissa: Floats
    exponent: Ints
    node: Ints32  # in the record
    keys: Ints32


class SearchState(NamedTuple):
    """The state of the search, and its work space."""

    domain: Ints  # the sets of open states
    n_open: Ints  # [m]
    current: Ints  # [F] entries of the memo
    queued: Bytes  # [F]
    queue: Ints32  # [F]
    domain_trail: IntTable  # [., 4]
    current_trail: IntTable  # [., 2]
    activity: Floats  # [m]
    label: Ints  # [m] the component that a variable is in
    factor_label: Ints  # [F]
    stamp: Ints  # [F]
    reached: Ints32  # [m] the variables of a component
    between: Ints32  # [F] its factors
    part: Ints  # [m]
    mask: Ints
    begins: Ints
    codes: Ints
    seen: Bytes
    position: Ints
    offset: Ints  # [F] the entry that each factor is at
    last: Ints  # [F] the depth at which its last variable is assigned
    small_depth: Ints  # [m] the depth of each variable of a small component
    small_at: Ints  # where the states of each begin in small_codes
    small_codes: Ints
    small_ready: Ints  # how many of these states have been tried
    small_mantissa: Floats  # the product so far
    small_exponent: Ints


class Record(NamedTuple):
    """The search as a graph: nodes are components; branches are states tried, with what follows from them."""

    node_branch: Ints  # the last of its branches
    node_mantissa: Floats
    node_exponent: Ints
    branch_next: Ints
    branch_mantissa: Floats
    branch_exponent: Ints
    branch_lit: Ints
    branch_lit_end: Ints
    branch_child: Ints
    lit_state: Ints32
    lit_share: Floats
    lit_power: Ints
    child_node: Ints32
    child_next: Ints


def slots_of(entries: int) -> np.ndarray:
    """An empty hash table for this many entries, at most half full."""
    return np.full(1 << max(2, (2 * entries + 1).bit_length()), -1, np.int64)


def empty_memo(entries: int, words: int) -> Memo:
    """Allocate the arrays."""
    return Memo(
        slots=slots_of(entries),
        class_slots=slots_of(entries),
        kind=np.zeros(entries, np.int32),
        at=np.zeros(entries, np.int64),
        final=np.zeros(entries, np.int64),
        dead=np.zeros(entries, np.uint8),
        relevant=np.zeros(entries, np.int64),
        group=np.zeros(entries, np.int32),
        mantissa=np.zeros(entries),
        exponent=np.zeros(entries, np.int64),
        words=np.zeros(words, np.int64),
    )


def empty_cache(entries: int, keys: int) -> Cache:
    """Allocate the arrays."""
    return Cache(
        slots=slots_of(entries),
        at=np.zeros(entries, np.int64),
        length=np.zeros(entries, np.int32),
        hash=np.zeros(entries, np.int32),
        used=np.zeros(entries, np.uint8),
        mantissa=np.zeros(entries),
        exponent=np.zeros(entries, np.int64),
        node=np.zeros(entries, np.int32),
        keys=np.zeros(keys, np.int32),
    )


def empty_record(nodes: int, branches: int, literals: int, children: int) -> Record:
    """Allocate the arrays."""
    return Record(
        node_branch=np.zeros(nodes, np.int64),
        node_mantissa=np.zeros(nodes),
        node_exponent=np.zeros(nodes, np.int64),
        branch_next=np.zeros(branches, np.int64),
        branch_mantissa=np.zeros(branches),
        branch_exponent=np.zeros(branches, np.int64),
        branch_lit=np.zeros(branches, np.int64),
        branch_lit_end=np.zeros(branches, np.int64),
        branch_child=np.zeros(branches, np.int64),
        lit_state=np.zeros(literals, np.int32),
        lit_share=np.zeros(literals),
        lit_power=np.zeros(literals, np.int64),
        child_node=np.zeros(children, np.int32),
        child_next=np.zeros(children, np.int64),
    )
