"""What columns tell of each other given the class, and the parents that follow from it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from pgm.learning.counts import Counts
from pgm.runtime.clock import Clock

_ROUNDED = 9  # digits, in nats: what is as good as equal goes by the order of the columns


def information(table: np.ndarray) -> float:
    """I(a; b | class) in nats, of counts with the axes class, a, b (Cover & Thomas 2006, section 2.5).

    >>> round(information(np.array([[[2.0, 0.0], [0.0, 2.0]]])), 6)
    0.693147
    """
    total = table.sum()
    c, a, b = table.sum(axis=(1, 2)), table.sum(axis=2), table.sum(axis=1)
    there = table > 0.0
    expected = a[:, :, None] * b[:, None, :]
    ratio = np.divide(table * c[:, None, None], expected, out=np.ones_like(table), where=there)
    return float((table * np.log(ratio)).sum() / total)


def pair_tables(counts: Counts, n: int, clock: Clock) -> dict[tuple[int, int], np.ndarray]:
    """Counts of the class and each pair of columns i < j; column i of the rows is i + 1 of the counts."""
    pairs = list(itertools.combinations(range(n), 2))
    tables = counts.tables([[0, i + 1, j + 1] for i, j in pairs], clock)
    return dict(zip(pairs, tables, strict=True))


def tree(pairs: Mapping[tuple[int, int], np.ndarray], n: int) -> list[tuple[int, ...]]:
    """The parents of each column in the tree that tells most given the class (Friedman & al. 1997).

    The first column is its root.
    """
    weights = np.full((n, n), -np.inf)
    for (i, j), table in pairs.items():
        weights[i, j] = weights[j, i] = round(information(table), _ROUNDED)
    parents: list[tuple[int, ...]] = [()] * n
    best, nearest = weights[0].copy(), np.zeros(n, np.int64)
    left = set(range(1, n))
    while left:  # Prim's algorithm
        v = max(sorted(left), key=lambda i: best[i])
        parents[v] = (int(nearest[v]),)
        left.remove(v)
        closer = weights[v] > best
        best[closer], nearest[closer] = weights[v][closer], v
    return parents


def most_telling(
    pairs: Mapping[tuple[int, int], np.ndarray], singles: Sequence[np.ndarray], k: int
) -> list[tuple[int, ...]]:
    """The parents of each column: up to k of those that tell more of the class (Sahami 1996).

    Args:
        pairs: counts of the class and each pair of columns.
        singles: counts of the class and each column.
        k: how many parents besides the class.
    """
    n = len(singles)
    worth = [round(information(table.T[None]), _ROUNDED) for table in singles]
    order = sorted(range(n), key=lambda i: (-worth[i], i))
    parents: list[tuple[int, ...]] = [()] * n
    for at, v in enumerate(order):
        told = {u: round(information(pairs[min(u, v), max(u, v)]), _ROUNDED) for u in order[:at]}
        parents[v] = tuple(sorted(sorted(told, key=lambda u: (-told[u], order.index(u)))[:k]))
    return parents
