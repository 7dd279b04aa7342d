"""Causal questions by brute force: joint tables of small models, hidden causes written out, and surgery."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np


class Surgery:
    """A random model of numbered vertices with positive tables; hidden causes of two are vertices too.

    Args:
        parents: of each observed vertex 0, 1, ..., which come in this order.
        common: pairs with a hidden common cause.
        cards: the number of states of each observed vertex; two if left out.
        seed: of the tables.
    """

    def __init__(
        self,
        parents: Sequence[Collection[int]],
        common: Sequence[tuple[int, int]] = (),
        *,
        cards: Sequence[int] | None = None,
        seed: int = 0,
    ) -> None:
        rng = np.random.default_rng(seed)
        self.n = len(parents)
        self.cards = [*(cards or [2] * self.n), *[2] * len(common)]
        self.families = [
            [*sorted(those), *(self.n + k for k, pair in enumerate(common) if v in pair)]
            for v, those in enumerate(parents)
        ]
        self.families += [[] for _ in common]
        self.tables = [
            rng.dirichlet(np.ones(self.cards[v]), size=[self.cards[u] for u in family]) * 0.9
            + 0.1 / self.cards[v]
            for v, family in enumerate(self.families)
        ]

    def joint(self, do: Mapping[int, int] | Collection[int] = ()) -> np.ndarray:
        """P of the observed vertices, those done left without their tables; axes in order."""
        axes: list[object] = []
        for v, (family, table) in enumerate(zip(self.families, self.tables, strict=True)):
            if v not in do:
                axes += [table, [*family, v]]
        axes += [np.ones([self.cards[v] for v in range(self.n)]), list(range(self.n))]
        return np.einsum(*axes, list(range(self.n)), optimize=True)

    def effect(self, y: Sequence[int], x: Sequence[int], given: Sequence[int] = ()) -> np.ndarray:
        """P(y | do(x), given), the axes x, given, y."""
        return conditional(self.joint(x), y, [*x, *given])


def conditional(joint: np.ndarray, y: Sequence[int], given: Sequence[int]) -> np.ndarray:
    """P(y | given) with the axes given, y; what was done has no table, so this is right for it too."""
    kept = [*given, *y]
    both = np.einsum(joint, list(range(joint.ndim)), kept)
    top = both.sum(axis=tuple(range(len(given), len(kept))), keepdims=True)
    return both / top


def adjusted(joint: np.ndarray, y: int, x: int, z: Sequence[int]) -> np.ndarray:
    """The sum of P(y | x, z) P(z) over z, the axes x, y."""
    given = conditional(joint, [y], [x, *z])
    weight = np.einsum(joint, list(range(joint.ndim)), list(z))
    return np.einsum(given, [x, *z, y], weight, list(z), [x, y])
