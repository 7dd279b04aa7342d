"""Chains made of tables: the probabilities of starts and arcs are products of entries of tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pgm.inference.engines.staged import Stage, Steps, stage

Key = tuple[str, str]  # a part, such as "transition", and the chain that it belongs to
Tables = Mapping[Key, np.ndarray]
CERTAIN, IMPOSSIBLE = -1, -2  # in place of the index of an entry: probability one, and zero


@dataclass(frozen=True, eq=False)
class Entries:
    """Which entry of a table each state, or each arc, takes; entries are indexed row after row."""

    table: Key
    index: np.ndarray  # int64

    def of(self, tables: Tables) -> np.ndarray:
        """The values of these entries."""
        if self.index.min(initial=0) >= 0:
            return np.asarray(tables[self.table].reshape(-1)[self.index])
        entries = tables[self.table].reshape(-1)[np.maximum(self.index, 0)]
        return np.asarray(np.where(self.index < 0, (self.index == CERTAIN) * 1.0, entries))

    def counted(self, counts: np.ndarray, size: int) -> np.ndarray:
        """How often each entry of the table was taken."""
        taken = self.index >= 0
        return np.bincount(self.index[taken], counts[taken], size)


@dataclass(frozen=True, eq=False)
class KnownEntries(Entries):
    """Known probabilities, which are not learned."""

    shares: np.ndarray

    def of(self, tables: Tables) -> np.ndarray:
        """The probabilities themselves."""
        return self.shares

    def counted(self, counts: np.ndarray, size: int) -> np.ndarray:
        """Nothing is counted."""
        return np.zeros(size)


@dataclass(frozen=True, eq=False)
class ChainLayout:
    """A chain whose parameters are entries of tables; a table may be used in many places."""

    start: tuple[Entries, ...]
    stages: tuple[tuple[Stage, tuple[Entries, ...]], ...]
    end: tuple[Entries, ...] = ()  # P(the sequence ends after this state), where that is part of it

    def steps(self, tables: Tables) -> tuple[Steps, np.ndarray]:
        """The chain with these parameters, without impossible arcs; and a mask of the arcs that are kept."""
        start = _product(self.start, tables)
        kept, values, stages = [], [], []
        for one, factors in self.stages:
            shares = _product(factors, tables) if factors else np.ones(one.to.size)
            there = shares > 0.0
            kept.append(there)
            values.append(shares[there])
            stages.append(one if there.all() else one.kept(there))
        return Steps(start[None], tuple(stages), np.concatenate(values)[None]), np.concatenate(kept)

    def ending(self, tables: Tables) -> np.ndarray:
        """P(the sequence ends after the state), for each state."""
        return _product(self.end, tables)

    def counts(
        self, tables: Tables, begun: np.ndarray, arcs: np.ndarray, ended: np.ndarray
    ) -> dict[Key, np.ndarray]:
        """Expected counts of all entries, from those of first states, of last states and of all arcs."""
        found = {key: np.zeros(table.size) for key, table in tables.items()}
        for taken, some in ((self.start, begun), (self.end, ended)):
            for entries in taken:
                found[entries.table] += entries.counted(some, found[entries.table].size)
        at = 0
        for one, factors in self.stages:
            some = arcs[at : at + one.to.size]
            at += one.to.size
            for entries in factors:
                found[entries.table] += entries.counted(some, found[entries.table].size)
        return {key: counts.reshape(tables[key].shape) for key, counts in found.items()}


def _product(factors: tuple[Entries, ...], tables: Tables) -> np.ndarray:
    found: Any = 1.0
    for entries in factors:
        found = found * entries.of(tables)
    return np.asarray(found)


@dataclass(frozen=True)
class Link:
    """One of several chains: its next state depends on its previous one and on those of other chains.

    `above` lists the chains whose new states it depends on; they come before it.
    """

    name: str
    card: int
    above: tuple[int, ...] = ()


def side_by_side(chains: tuple[Link, ...]) -> ChainLayout:
    """Chains that move one after the other, each by a matrix of its own: K^(M+1) arcs for each.

    Tables have the axes (chains above..., previous state, state); those of starts (chains above..., state).
    """
    shape = tuple(chain.card for chain in chains)
    k = prod(shape)
    joint = np.stack(np.unravel_index(np.arange(k), shape)) if chains else np.empty((0, k), np.int64)
    start, stages = [], []
    for m, chain in enumerate(chains):
        over = [shape[i] for i in chain.above]
        begin = np.ravel_multi_index((*joint[list(chain.above)], joint[m]), (*over, chain.card))
        start.append(Entries(("initial", chain.name), begin.astype(np.int64)))
        stride = prod(shape[m + 1 :])
        source = np.repeat(np.arange(k), chain.card)
        new = np.tile(np.arange(chain.card), k)
        old = np.repeat(joint[m], chain.card)
        one, order = stage(k, k, source, source + (new - old) * stride)
        above = [np.repeat(joint[i], chain.card) for i in chain.above]
        index = np.ravel_multi_index((*above, old, new), (*over, chain.card, chain.card))[order]
        stages.append((one, (Entries(("transition", chain.name), index.astype(np.int64)),)))
    return ChainLayout(tuple(start), tuple(stages))


def coupled_stages(chains: tuple[Link, ...]) -> ChainLayout:
    """Chains that each depend on the previous states of all: K^(2M) arcs.

    Tables of transitions have the axes (previous states of all chains..., state).
    """
    shape = tuple(chain.card for chain in chains)
    k = prod(shape)
    joint = np.stack(np.unravel_index(np.arange(k), shape))
    start = [Entries(("initial", chain.name), joint[m].astype(np.int64)) for m, chain in enumerate(chains)]
    old, new = np.repeat(np.arange(k), k), np.tile(np.arange(k), k)
    one, _ = stage(k, k, old, new)
    factors = [
        Entries(("transition", chain.name), (old * chain.card + joint[m][new]).astype(np.int64))
        for m, chain in enumerate(chains)
    ]
    return ChainLayout(tuple(start), ((one, tuple(factors)),))
