"""Messages between forests: beliefs over small clusters of the variables that they share.

The clusters form a tree over the shared variables, so the product of their beliefs, divided by those over the
separators, is a distribution.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pgm.graphs.triangulation import Triangulation

Scope = tuple[int, ...]
_ROUNDING = 1e-9  # error of a sum of logarithms


@dataclass(frozen=True, eq=False, slots=True)
class Cluster:
    """A few variables, and a belief over them."""

    variables: Scope
    belief: np.ndarray  # one axis for each

    def without(self, *gone: int) -> Cluster:
        """Some variables summed out."""
        axes = tuple(self.variables.index(v) for v in gone)
        left = tuple(v for v in self.variables if v not in gone)
        return Cluster(left, np.asarray(self.belief.sum(axis=axes)))

    def over(self, variables: Iterable[int]) -> Cluster:
        """The belief over some of its variables."""
        kept = set(variables)
        return self.without(*(v for v in self.variables if v not in kept))

    def given(self, shared: Scope) -> np.ndarray:
        """The belief divided by that over the shared variables; 0 / 0 is 0."""
        if not shared:
            return self.belief
        return quotient(self.belief, aligned(self.over(shared).belief, shared, self.variables))


def aligned(table: np.ndarray, variables: Scope, among: Scope) -> np.ndarray:
    """A table over some variables, in their order, reshaped to multiply a table over more of them."""
    cards = dict(zip(variables, table.shape, strict=True))
    return table.reshape([cards.get(v, 1) for v in among])


def quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Divide a by b; where b is zero, so are a and the quotient."""
    a, b = np.broadcast_arrays(a, b)
    return np.asarray(np.divide(a, b, out=np.zeros(a.shape), where=b > 0.0))


def joined(
    found: Triangulation, inside: np.ndarray, log2_cards: np.ndarray, bound: float
) -> tuple[list[Scope], int]:
    """The cliques of a tree without the variables `inside`, and how many of those were merely dropped.

    A variable is summed out exactly, which joins all of its cliques, as long as the joined clique is within
    the bound, smallest join first. The others are dropped from each of their cliques separately. Either way
    the cliques remain those of a tree.
    """
    cliques = {c: set(found.clique(c).tolist()) for c in range(found.n_cliques)}
    where: list[set[int]] = [set() for _ in range(log2_cards.size)]
    for c, members in cliques.items():
        for v in members:
            where[v].add(c)
    logs = log2_cards.tolist()

    def union_with(v: int) -> tuple[float, set[int]]:
        members = set().union(*(cliques[c] for c in where[v]))
        return sum(logs[u] for u in members), members

    heap = [(union_with(v)[0], v) for v in np.flatnonzero(inside).tolist() if where[v]]
    heapq.heapify(heap)
    dropped: list[int] = []
    new = found.n_cliques
    while heap:
        before, v = heapq.heappop(heap)
        size, members = union_with(v)
        if size > before + _ROUNDING and heap and size > heap[0][0]:  # it has grown, so others come first now
            heapq.heappush(heap, (size, v))
        elif size > bound + _ROUNDING:
            dropped.append(v)
        else:
            for c in where[v]:
                for u in cliques.pop(c) - {v}:
                    where[u].discard(c)
            cliques[new] = members - {v}
            for u in cliques[new]:
                where[u].add(new)
            new += 1
    for v in dropped:
        for c in where[v]:
            cliques[c].discard(v)
    return _maximal(cliques.values()), len(dropped)


def _maximal(sets: Iterable[set[int]]) -> list[Scope]:
    """Those that are neither empty nor contained in another, each sorted."""
    kept: list[set[int]] = []
    holding: dict[int, list[int]] = {}
    for one in sorted(sets, key=len, reverse=True):
        if not one:
            continue
        rarest = min(one, key=lambda v: len(holding.get(v, ())))
        if any(one <= kept[i] for i in holding.get(rarest, ())):
            continue
        for v in one:
            holding.setdefault(v, []).append(len(kept))
        kept.append(one)
    return [tuple(sorted(one)) for one in kept]


def cut(clusters: list[Cluster], log2_cards: np.ndarray, bound: float) -> tuple[list[Cluster], float]:
    """Split clusters, where that loses least, until none exceeds the bound; also return the loss in nats.

    Separating two variables that occur together in only one cluster leaves a tree of clusters and loses their
    mutual information given the rest of the cluster (Kjaerulff 1994). A single variable is never split.
    """
    clusters, lost = list(clusters), 0.0

    def size(one: Cluster) -> float:
        return float(log2_cards[list(one.variables)].sum()) if len(one.variables) > 1 else 0.0

    while clusters and size(largest := max(clusters, key=size)) > bound + _ROUNDING:
        pairs = _only_here(clusters, largest)
        if not pairs:  # all pairs of this cluster also occur elsewhere: begin there
            near = sorted(clusters, key=lambda one: -len(set(one.variables) & set(largest.variables)))
            largest, pairs = next((one, found) for one in near if (found := _only_here(clusters, one)))
        loss, u, w = _least(largest, pairs)
        lost += max(0.0, loss)
        clusters = [one for one in clusters if one is not largest]
        for part in (largest.without(u), largest.without(w)):
            mine = set(part.variables)
            if not any(mine <= set(one.variables) for one in clusters):
                clusters.append(part)
    return clusters, lost


def _only_here(clusters: list[Cluster], one: Cluster) -> list[tuple[int, int]]:
    """The pairs of variables of a cluster that occur together in no other."""
    mine = set(one.variables)
    elsewhere: set[tuple[int, int]] = set()
    for other in clusters:
        if other is not one:
            elsewhere.update(combinations(sorted(mine & set(other.variables)), 2))
    return [pair for pair in combinations(one.variables, 2) if pair not in elsewhere]


def _least(one: Cluster, pairs: list[tuple[int, int]]) -> tuple[float, int, int]:
    """The pair with the least mutual information given the others, and its value in nats."""
    whole = _entropy(one)
    less = {v: one.without(v) for v in {v for pair in pairs for v in pair}}
    alone = {v: _entropy(part) for v, part in less.items()}
    return min((alone[u] + alone[w] - whole - _entropy(less[u].without(w)), u, w) for u, w in pairs)


def _entropy(one: Cluster) -> float:
    p = one.belief[one.belief > 0.0]
    return float(-(p * np.log(p)).sum())


def trees(clusters: list[Cluster]) -> list[list[tuple[Cluster, Scope]]]:
    """The clusters of each connected component, and what each shares with an earlier one."""
    left, found = list(range(len(clusters))), []
    sets = [set(one.variables) for one in clusters]
    while left:
        first = left.pop(0)
        part: list[tuple[Cluster, Scope]] = [(clusters[first], ())]
        near = {i: sets[i] & sets[first] for i in left}
        while near:
            best = max(near, key=lambda i: len(near[i]))
            if not near[best]:
                break
            part.append((clusters[best], tuple(sorted(near.pop(best)))))
            left.remove(best)
            for i in near:
                near[i] = max(near[i], sets[i] & sets[best], key=len)
        found.append(part)
    return found
