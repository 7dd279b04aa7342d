"""The flat arrays that the search works on; see compiled.py for what is done with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """What is searched; tables that are equal are kept once, as a *kind*."""

    cards: np.ndarray  # int64[m]
    state_at: np.ndarray  # int64[m + 1]
    word_at: np.ndarray  # int64[m + 1] where the words of a variable's set of states begin
    full: np.ndarray  # int64 the sets of all states
    scope_at: np.ndarray  # int64[F + 1]
    scopes: np.ndarray  # int32
    kind: np.ndarray  # int32[F]
    axis_at: np.ndarray  # int64[K + 1] where the axes of each kind begin
    axis_cards: np.ndarray  # int64
    axis_word: np.ndarray  # int64 where the words of an axis begin among those of its kind
    axis_stride: np.ndarray  # int64
    kind_words: np.ndarray  # int64[K]
    kind_table: np.ndarray  # int64[K]
    mantissas: np.ndarray  # float64
    exponents: np.ndarray  # int64
    user_at: np.ndarray  # int64[m + 1]
    users: np.ndarray  # int32
    user_axis: np.ndarray  # int32
    score: np.ndarray  # float64[m] the earlier a variable should be tried, the larger


class Memo(NamedTuple):
    """Tables narrowed to some states, each examined once."""

    slots: np.ndarray  # int64 entries by their hash, -1 where empty
    class_slots: np.ndarray  # int64
    kind: np.ndarray  # int32
    at: np.ndarray  # int64 where the entry's words begin: the states asked about, then those with support
    final: np.ndarray  # int64 the entry that stands for it
    dead: np.ndarray  # uint8 no entry of the table is left
    relevant: np.ndarray  # int64 the axes that matter, as bits
    group: np.ndarray  # int32 equal for entries that are the same function
    mantissa: np.ndarray  # float64 the value at the first entry
    exponent: np.ndarray  # int64
    words: np.ndarray  # int64


class Cache(NamedTuple):
    """Parts whose sum is known."""

    slots: np.ndarray  # int64
    at: np.ndarray  # int64 where its key begins
    length: np.ndarray  # int32
    hash: np.ndarray  # int32
    used: np.ndarray  # uint8 since the last sweep
    mantissa: np.ndarray  # float64
    exponent: np.ndarray  # int64
    node: np.ndarray  # int32 in the record
    keys: np.ndarray  # int32


class State(NamedTuple):
    """Where the search stands, and room to work in."""

    domain: np.ndarray  # int64 the sets of open states
    n_open: np.ndarray  # int64[m]
    current: np.ndarray  # int64[F] entries of the memo
    queued: np.ndarray  # uint8[F]
    queue: np.ndarray  # int32[F]
    domain_trail: np.ndarray  # int64[., 4]
    current_trail: np.ndarray  # int64[., 2]
    activity: np.ndarray  # float64[m]
    label: np.ndarray  # int64[m] the part that a variable is in
    factor_label: np.ndarray  # int64[F]
    stamp: np.ndarray  # int64[F]
    reached: np.ndarray  # int32[m] the variables of a part
    between: np.ndarray  # int32[F] its factors
    part: np.ndarray  # int64[m]
    mask: np.ndarray  # int64
    begins: np.ndarray  # int64
    codes: np.ndarray  # int64
    seen: np.ndarray  # uint8
    position: np.ndarray  # int64
    offset: np.ndarray  # int64[F] the entry that each factor is at
    last: np.ndarray  # int64[F] at which depth its last variable has a state
    small_depth: np.ndarray  # int64[m] the place of each variable of a small part
    small_at: np.ndarray  # int64 where the states of each begin in small_codes
    small_codes: np.ndarray  # int64
    small_ready: np.ndarray  # int64 how many of them were tried
    small_mantissa: np.ndarray  # float64 the product so far
    small_exponent: np.ndarray  # int64


class Record(NamedTuple):
    """The search as a graph: nodes are parts, branches are states tried; a branch has literals and parts."""

    node_branch: np.ndarray  # int64 the last of its branches
    node_mantissa: np.ndarray  # float64
    node_exponent: np.ndarray  # int64
    branch_next: np.ndarray  # int64
    branch_mantissa: np.ndarray  # float64
    branch_exponent: np.ndarray  # int64
    branch_lit: np.ndarray  # int64
    branch_lit_end: np.ndarray  # int64
    branch_child: np.ndarray  # int64
    lit_state: np.ndarray  # int32
    lit_share: np.ndarray  # float64
    lit_power: np.ndarray  # int64
    child_node: np.ndarray  # int32
    child_next: np.ndarray  # int64


def slots_of(entries: int) -> np.ndarray:
    """Empty places for so many entries, at most half of them taken."""
    return np.full(1 << max(2, (2 * entries + 1).bit_length()), -1, np.int64)


def empty_memo(entries: int, words: int) -> Memo:
    """Room for so much."""
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
    """Room for so much."""
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
    """Room for so much."""
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
