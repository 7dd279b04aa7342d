"""Mutual information between columns given the class, and the parents that are chosen by it."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.learning.counts import Counts

from .column_terms import moments
from .lines import rows_like
from .training import Training

_ROUNDED = 9  # digits, in nats: ties but for rounding go by the order of the columns


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


class Told(NamedTuple):
    """Mutual information of columns, in nats; a continuous one is normal given the class and a state."""

    of_class: np.ndarray  # I(column; class)
    of_each_other: np.ndarray  # I(a; b | class), -inf on the diagonal
    real: list[bool]  # which columns are continuous: a discrete column is not their child

    @classmethod
    def of(cls, data: Training, counts: Counts, belief: float) -> Told:
        """The information that these rows show, by counts of states and moments of continuous columns.

        Args:
            data: the rows.
            counts: of the class, which is column 0, and of the columns.
            belief: how many pseudo-rows each class gets, which vary as all rows do, and each state within a
                class, which vary as the class does.
        """
        names = list(data.variables)
        n = len(names)
        real = [v.continuous for v in data.variables.values()]
        alone, both = np.zeros(n), np.full((n, n), -np.inf)
        states = [i for i in range(n) if not real[i]]
        for i, table in zip(states, counts.tables([[0, i + 1] for i in states], data.clock), strict=True):
            alone[i] = information(table.T[None])
        pairs = list(itertools.combinations(states, 2))
        tables = counts.tables([[0, i + 1, j + 1] for i, j in pairs], data.clock)
        for (i, j), table in zip(pairs, tables, strict=True):
            both[i, j] = both[j, i] = information(table)
        for j in [i for i in range(n) if real[i]]:
            data.clock.check("learning a classifier")
            values = data.values[names[j]]
            alone[j] = _of_classes(values, data, belief)
            for i in range(n):
                if not real[i]:
                    codes, card = data.codes[names[i]], data.variables[names[i]].card
                    both[i, j] = both[j, i] = _of_states(codes, card, values, data, belief)
                elif i < j:
                    both[i, j] = both[j, i] = _of_continuous(data.values[names[i]], values, data)
        return cls(np.round(alone, _ROUNDED), np.round(both, _ROUNDED), real)


def _of_continuous(a: np.ndarray, b: np.ndarray, data: Training) -> float:
    """I(a; b | class) of columns that are jointly normal in each class (Cover & Thomas 2006, 8.5)."""
    there = ~(np.isnan(a) | np.isnan(b))
    a, b, labels, weights = a[there], b[there], data.labels[there], data.weights[there]
    k = data.target.card
    total = np.bincount(labels, weights, k)
    share = np.divide(1.0, total, out=np.zeros(k), where=total > 0.0)
    a = a - (np.bincount(labels, weights * a, k) * share)[labels]
    b = b - (np.bincount(labels, weights * b, k) * share)[labels]
    products = [np.bincount(labels, weights * x * y, k) for x, y in ((a, a), (b, b), (a, b))]
    spread = products[0] * products[1]
    square = np.divide(products[2] ** 2, spread, out=np.zeros(k), where=spread > 0.0)
    with np.errstate(divide="ignore"):
        logs = -0.5 * np.log1p(-np.minimum(square, 1.0))
    return float(np.where(total > 0.0, total * logs, 0.0).sum() / max(total.sum(), 1e-300))


def _of_states(codes: np.ndarray, card: int, values: np.ndarray, data: Training, belief: float) -> float:
    """I(state; value | class) of a column that is normal in each class and state."""
    there = (codes >= 0) & ~np.isnan(values)
    labels, weights, k = data.labels[there], data.weights[there], data.target.card
    alone = moments(values[there], labels, weights, k)
    cells = moments(values[there], labels * card + codes[there], weights, k * card)
    return _gain(alone, cells, np.repeat(np.arange(k), card), belief)


def _of_classes(values: np.ndarray, data: Training, belief: float) -> float:
    """I(class; value) of a column that is normal in each class."""
    k = data.target.card
    alone = moments(values, np.zeros(len(values), np.int64), data.weights, 1)
    return _gain(alone, moments(values, data.labels, data.weights, k), np.zeros(k, np.int64), belief)


def _gain(above: GaussianStatistics, cells: GaussianStatistics, of: np.ndarray, belief: float) -> float:
    """The mean of log(sd of the enclosing cell / sd of the cell), over rows."""
    wide = GaussianStatistics(above.weight[of], above.mean[of], above.scatter[of])
    made = cells + rows_like(wide, belief)
    some = (cells.weight > 0.0) & (wide.scatter[:, 0, 0] > 0.0)
    variances = wide.scatter[some, 0, 0] / wide.weight[some], made.scatter[some, 0, 0] / made.weight[some]
    with np.errstate(divide="ignore"):
        logs = 0.5 * (np.log(variances[0]) - np.log(variances[1]))
    return float(cells.weight[some] @ logs / max(cells.weight.sum(), 1e-300))


def tree(told: Told) -> list[tuple[int, ...]]:
    """The tree with the largest mutual information given the class (Friedman & al. 1997): parents of columns.

    The root is the first column or, where some are continuous, the first discrete one, for a continuous
    column is never the parent of a discrete one. Linking the discrete columns first gives the heaviest such
    tree, because their parents are all discrete.
    """
    n, weights = len(told.real), told.of_each_other
    root = told.real.index(False) if False in told.real else 0
    parents: list[tuple[int, ...]] = [()] * n
    best, nearest = weights[root].copy(), np.full(n, root)
    left = set(range(n)) - {root}
    while left:  # Prim's algorithm
        v = max(sorted(left), key=lambda i: (not told.real[i], best[i]))
        parents[v] = (int(nearest[v]),)
        left.remove(v)
        closer = weights[v] > best
        best[closer], nearest[closer] = weights[v][closer], v
    return parents


def most_telling(told: Told, k: int) -> list[tuple[int, ...]]:
    """The parents of each column: up to k of those more informative of the class (Sahami 1996).

    Args:
        told: the mutual information.
        k: how many parents besides the class; a discrete column has no continuous ones.
    """
    n = len(told.real)
    order = sorted(range(n), key=lambda i: (-told.of_class[i], i))
    parents: list[tuple[int, ...]] = [()] * n
    for at, v in enumerate(order):
        before = [u for u in order[:at] if told.real[v] or not told.real[u]]
        best = sorted(before, key=lambda u: (-told.of_each_other[u, v], order.index(u)))
        parents[v] = tuple(sorted(best[:k]))
    return parents
