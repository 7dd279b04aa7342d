"""The continuous variables of a model as flat arrays: each has one linear Gaussian density."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pgm.factors import GaussianFactor, OwnDensity
from pgm.runtime.kinds import Floats, Ints, Ints32


class Densities(NamedTuple):
    """All continuous variables of a model, indexed in its order; each has one linear Gaussian density."""

    parent_at: Ints  # [n + 1]
    parents: Ints32  # continuous parents, by index
    switch_at: Ints  # [n + 1]
    switches: Ints32  # discrete parents, by index in the model
    row_at: Ints  # [n + 1] where its rows begin: one for each selection of the discrete parents
    weight_at: Ints  # [n + 1] where its weights begin, row after row
    weights: Floats
    bias: Floats  # one for each row
    sd: Floats  # one for each row


@dataclass(frozen=True, eq=False, slots=True)
class Gaussians:
    """A snapshot of the continuous part of a model."""

    arrays: Densities
    positions: np.ndarray  # int64[n] indices of the continuous variables in the model
    index_of: np.ndarray  # int64, one for each variable of the model: -1 for a discrete one
    order: np.ndarray  # int32[n] parents before children
    own: Mapping[int, OwnDensity] = field(default_factory=dict)  # by index, those with densities of their own

    @property
    def n(self) -> int:
        """The number of continuous variables."""
        return int(self.positions.size)


def collect(n_variables: int, found: Sequence[GaussianFactor]) -> Gaussians:
    """The linear Gaussian densities of a model as arrays, in the order of its variables."""
    positions = np.array([f.scope[-1] for f in found], dtype=np.int64)
    index_of = np.full(n_variables, -1, np.int64)
    index_of[positions] = np.arange(positions.size)
    parents = [index_of[f.scope[f.n_switches : -1]].tolist() for f in found]
    arrays = Densities(
        parent_at=starts([len(p) for p in parents]),
        parents=np.array([x for p in parents for x in p], dtype=np.int32),
        switch_at=starts([f.n_switches for f in found]),
        switches=_joined([f.scope[: f.n_switches] for f in found]).astype(np.int32),
        row_at=starts([f.bias.size for f in found]),
        weight_at=starts([f.weights.size for f in found]),
        weights=_joined([f.weights.ravel() for f in found]),
        bias=_joined([f.bias for f in found]),
        sd=_joined([f.sd for f in found]),
    )
    own = {x: f for x, f in enumerate(found) if isinstance(f, OwnDensity)}
    return Gaussians(arrays, positions, index_of, _sorted(parents), own)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0)


def same_scopes(a: Gaussians | None, b: Gaussians | None) -> bool:
    """Whether two models have the same continuous variables, with the same parents."""
    if a is None or b is None:
        return a is b
    fields = ("parent_at", "parents", "switch_at", "switches", "row_at")
    pairs = [(getattr(a.arrays, f), getattr(b.arrays, f)) for f in fields]
    alike = np.array_equal(a.index_of, b.index_of) and a.own.keys() == b.own.keys()
    return alike and all(np.array_equal(x, y) for x, y in pairs)


def starts(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """Offsets of consecutive segments of these lengths, including the end."""
    at = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=at[1:])
    return at


def _sorted(parents: list[list[int]]) -> np.ndarray:
    """Indices with parents before children; a model has no cycles."""
    children: list[list[int]] = [[] for _ in parents]
    waiting = [len(p) for p in parents]
    for x, those in enumerate(parents):
        for p in those:
            children[p].append(x)
    ready = deque(x for x, count in enumerate(waiting) if not count)
    order = []
    while ready:
        x = ready.popleft()
        order.append(x)
        for c in children[x]:
            waiting[c] -= 1
            if not waiting[c]:
                ready.append(c)
    return np.array(order, dtype=np.int32)
