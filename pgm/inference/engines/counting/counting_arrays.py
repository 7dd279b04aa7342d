"""The flat arrays that counting works on; compiled.py has the algorithm.

An atom is a statement that is true or false; literal 2a says that atom a is true, 2a + 1 that it is false.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pgm.runtime.kinds import Bytes, Floats, Ints, Ints8, Ints32


class CountingProblem(NamedTuple):
    """The formula: the clauses as given. Clauses of two literals are lists of implications."""

    follow_at: Ints  # [2n + 1]
    follows: Ints32  # the literals that must be true where a literal is
    occur_at: Ints  # [n + 1]
    occurs: Ints32  # the longer clauses that an atom is in
    mantissa: Floats  # [2n] the weight of each literal, in [0.5, 1)
    exponent: Ints  # [2n]
    free_mantissa: Floats  # [n] the sum of the weights of both
    free_exponent: Ints  # [n]
    score: Floats  # [n] larger for atoms that should be tried earlier


class Clauses(NamedTuple):
    """The clauses of three or more literals as given, then those that were learned."""

    at: Ints  # where its literals begin; the first two are watched
    literals: Ints32
    watch: Ints32  # [2n] the first clause that watches a literal, as 2 * clause + which of the two
    next_watch: Ints32  # the next clause that watches the same literal
    levels: Ints32  # the number of decision levels in a learned clause: the fewer the better


class Cache(NamedTuple):
    """The cache of components whose sum is known."""

    slots: Ints
    at: Ints  # where its key begins
    length: Ints32
    hash: Ints
    used: Bytes  # whether used since the last sweep
    mantissa: Floats
    exponent: Ints
    node: Ints32  # in the record
    keys: Bytes


class CountingState(NamedTuple):
    """The state of the search, and its work space."""

    value: Ints8  # [2n] 1 true, -1 false, 0 open
    reason: Ints  # [n] what implied it; see compiled.py
    level: Ints32  # [n] the decision level
    trail: Ints32  # [n] literals in the order in which they became true
    activity: Floats  # [n]
    seen: Bytes  # [n]
    marked: Ints32  # [n] the atoms that are seen
    learned: Ints32  # [n + 1] the literals of a new clause
    level_seen: Ints  # [n + 2]
    facts: Ints32  # [2n + 1] learned clauses of one literal
    late: Ints32  # learned clauses that may be implied at an earlier level than where they were used
    label: Ints  # [n] the component that an atom is in
    degree: Ints32  # [n] how many open clauses it is in
    clause_label: Ints
    clause_stamp: Ints
    whole: Bytes  # whether no literal of a clause is false
    reached: Ints32  # [n]
    part: Ints  # [n + 1]


class Record(NamedTuple):
    """The search as a graph: nodes are components; branches are values tried, with what follows from them."""

    node_branch: Ints  # the last of its branches
    node_mantissa: Floats
    node_exponent: Ints
    branch_next: Ints
    branch_mantissa: Floats
    branch_exponent: Ints
    branch_lit: Ints
    branch_lit_end: Ints
    branch_child: Ints
    lit: Ints32
    lit_share: Floats
    child_node: Ints32
    child_next: Ints


def slots_of(entries: int) -> np.ndarray:
    """An empty hash table for this many entries, at most half full."""
    return np.full(1 << max(2, (2 * entries + 1).bit_length()), -1, np.int64)


def empty_cache(entries: int, keys: int) -> Cache:
    """Allocate the arrays."""
    return Cache(
        slots=slots_of(entries),
        at=np.zeros(entries, np.int64),
        length=np.zeros(entries, np.int32),
        hash=np.zeros(entries, np.int64),
        used=np.zeros(entries, np.uint8),
        mantissa=np.zeros(entries),
        exponent=np.zeros(entries, np.int64),
        node=np.zeros(entries, np.int32),
        keys=np.zeros(keys, np.uint8),
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
        lit=np.zeros(literals, np.int32),
        lit_share=np.zeros(literals),
        child_node=np.zeros(children, np.int32),
        child_next=np.zeros(children, np.int64),
    )


def empty_state(n: int, n_long: int, late: int) -> CountingState:
    """The state for this many open atoms and this many clauses of three or more literals."""
    return CountingState(
        value=np.zeros(2 * n, np.int8),
        reason=np.zeros(n, np.int64),
        level=np.zeros(n, np.int32),
        trail=np.zeros(n + 1, np.int32),
        activity=np.zeros(n),
        seen=np.zeros(n, np.uint8),
        marked=np.zeros(n + 1, np.int32),
        learned=np.zeros(n + 1, np.int32),
        level_seen=np.zeros(n + 3, np.int64),
        facts=np.zeros(2 * n + 1, np.int32),
        late=np.zeros(late, np.int32),
        label=np.full(n, -1, np.int64),
        degree=np.zeros(n, np.int32),
        clause_label=np.zeros(n_long, np.int64),
        clause_stamp=np.zeros(n_long, np.int64),
        whole=np.zeros(n_long, np.uint8),
        reached=np.zeros(n + 1, np.int32),
        part=np.zeros(n + 1, np.int64),
    )
