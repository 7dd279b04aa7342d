"""Orders the items within each layer so that few links between neighbouring layers cross.

Barycentre sweeps (Sugiyama, Tagawa & Toda 1981) from several starts, then sifting: an item goes where its
links cross least, until no move helps (Matuszewski, Schönfeld & Molitor 1999).
"""

from __future__ import annotations

import numpy as np

from pgm.runtime import progress

_SWEEPS = 8
_STARTS = 12
_PASSES = 30
_ROUNDS = 400
_PATIENCE = 120
_LARGEST = 600  # a layer with more items is not sifted: its matrix of crossings is quadratic
_WORK = 12_000_000  # operations allowed for further starts; thirty times as many for rounds of sifting
_FORCED = 1e6  # cost of being on the wrong side; below 2**24, integer counts of crossings stay exact


class Ordering:
    """The rows of a layered graph, whose order is to be found.

    Args:
        level: the layer of each item.
        links: pairs of items, the first one layer above the second.
        groups: for each item the groups that must stay together, from the outermost in.
    """

    def __init__(
        self, level: np.ndarray, links: np.ndarray, groups: list[tuple[int, ...]] | None = None
    ) -> None:
        self.level, self.n = level, len(level)
        self.depth = int(level.max(initial=-1)) + 1
        self.links = links
        by_gap = level[links[:, 0]] if len(links) else np.zeros(0, dtype=np.int64)
        self.gaps = [links[by_gap == i] for i in range(self.depth - 1)]
        self.groups = groups if groups is not None and any(groups) else None
        self.local = np.zeros(self.n, dtype=np.int64)  # the index of an item within its layer
        for i in range(self.depth):
            items = np.flatnonzero(level == i)
            self.local[items] = np.arange(len(items))
        self.pulse = progress.pulse()
        self.cost = 1 + sum(10_000 + size**3 for size in np.bincount(level).tolist())

    def best(self) -> list[np.ndarray]:
        """Return the rows in the best order found; deterministic."""
        rng = np.random.default_rng(0)
        best: list[np.ndarray] = []
        fewest = np.inf
        for start in range(max(1, min(_STARTS, _WORK // self.cost))):
            first = np.arange(self.n)
            if start == 1:
                first = first[::-1]
            elif start > 1:
                first = rng.permutation(self.n)
            rows = self._rows(self._walked(first))
            position = self._positions(rows)
            for _ in range(_SWEEPS):
                for i in range(1, self.depth):
                    self._by_barycentre(rows, i, -1, position)
                for i in range(self.depth - 2, -1, -1):
                    self._by_barycentre(rows, i, 1, position)
            self._sifted(rows, position, set(range(self.depth)))
            found = self.crossings(position)
            if found < fewest:
                best, fewest = rows, found
        if self.groups is not None:
            return self._gathered(best)
        idle = 0
        for _ in range(min(_ROUNDS, 30 * _WORK // self.cost)):
            if not fewest or idle >= min(_PATIENCE, 20 + self.n):
                break
            rows = list(best)
            position = self._positions(rows)
            self._shake(rows, position, rng)
            found = self.crossings(position)
            idle = 0 if found < fewest else idle + 1
            if found <= fewest:
                best, fewest = rows, found
        return best

    def _beat(self) -> None:
        if self.pulse is not None:
            self.pulse.beat("ordering nodes")

    def _shake(self, rows: list[np.ndarray], position: np.ndarray, rng: np.random.Generator) -> None:
        """Reorder a few rows, from one side and with some randomness, and let the others follow."""
        few = 2 + int(rng.integers(max(1, self.depth // 8)))
        start = int(rng.integers(self.depth))
        side = 1 - 2 * int(rng.integers(2))
        chosen = [i for i in range(start, start + side * few, side) if 0 <= i - side < self.depth > i >= 0]
        for i in chosen:
            self._by_barycentre(rows, i, -side, position, rng.normal(scale=0.4, size=len(rows[i])))
        self._sifted(rows, position, {j for i in chosen for j in (i - 1, i, i + 1)})

    def _rows(self, rank: np.ndarray) -> list[np.ndarray]:
        order = np.argsort(rank, kind="stable")
        levels = self.level[order]
        return [order[levels == i] for i in range(self.depth)]

    def _walked(self, first: np.ndarray) -> np.ndarray:
        """Rank the items depth first, so that linked items start side by side."""
        near: list[list[int]] = [[] for _ in range(self.n)]
        for upper, lower in self.links.tolist():
            near[upper].append(lower)
            near[lower].append(upper)
        preference = np.empty(self.n, dtype=np.int64)
        preference[first] = np.arange(self.n)
        rank = np.full(self.n, -1, dtype=np.int64)
        count = 0
        for start in sorted(first.tolist(), key=lambda item: self.level[item]):
            stack = [start]
            while stack:
                item = stack.pop()
                if rank[item] < 0:
                    rank[item] = count
                    count += 1
                    stack += sorted((o for o in near[item] if rank[o] < 0), key=lambda o: -preference[o])
        return rank

    def _positions(self, rows: list[np.ndarray]) -> np.ndarray:
        position = np.empty(self.n)
        for row in rows:
            position[row] = np.arange(len(row))
        return position

    def _sifted(self, rows: list[np.ndarray], position: np.ndarray, todo: set[int]) -> None:
        """Sift these rows, and those next to a row that changed, until nothing changes."""
        for attempt in range(_PASSES):
            again: set[int] = set()
            for i in sorted(todo, reverse=attempt % 2 == 1):
                if 0 <= i < self.depth and self._sift(rows, i, position):
                    again |= {i - 1, i, i + 1}
            if not again:
                return
            todo = again

    def _by_barycentre(
        self,
        rows: list[np.ndarray],
        i: int,
        side: int,
        position: np.ndarray,
        noise: np.ndarray | float = 0.0,
    ) -> None:
        self._beat()
        pairs = self.gaps[i - 1] if side < 0 else self.gaps[i]
        others, items = (pairs[:, 0], pairs[:, 1]) if side < 0 else (pairs[:, 1], pairs[:, 0])
        row = rows[i]
        at = self.local[items]
        count = np.bincount(at, minlength=len(row))[self.local[row]]
        total = np.bincount(at, weights=position[others], minlength=len(row))[self.local[row]]
        wanted = np.where(count > 0, total / np.maximum(count, 1), position[row])
        rows[i] = row[np.argsort(wanted + noise, kind="stable")]
        position[rows[i]] = np.arange(len(row))

    def _matrix(self, i: int, size: int, position: np.ndarray, rows: list[np.ndarray]) -> np.ndarray:
        """Return K[a, b]: how many links of a and b cross if a is left of b."""
        k = np.zeros((size, size), dtype=np.float32)
        for gap, mine, other in ((i - 1, 1, 0), (i, 0, 1)):
            if 0 <= gap < len(self.gaps) and len(self.gaps[gap]):
                pairs = self.gaps[gap]
                width = len(rows[i + other - mine])
                at = self.local[pairs[:, mine]] * width + position[pairs[:, other]].astype(np.int64)
                ends = np.bincount(at, minlength=size * width).reshape(size, width).astype(np.float32)
                k += ends @ (np.cumsum(ends, axis=1) - ends).T
        return k

    def _sift(
        self, rows: list[np.ndarray], i: int, position: np.ndarray, forced: np.ndarray | None = None
    ) -> bool:
        self._beat()
        row = rows[i]
        if not 1 < len(row) <= _LARGEST:
            return False
        local = self.local[row]
        k = self._matrix(i, len(row), position, rows)
        gain = (k - k.T)[np.ix_(local, local)]  # of being right of another, in the current order
        if forced is not None:
            gain += forced[np.ix_(local, local)]
        sums = np.cumsum(gain, axis=1)
        here = np.diagonal(sums)
        wanting = np.flatnonzero(np.maximum(sums.max(axis=1), 0.0) > here + 0.5)
        if not len(wanting):
            return False
        order = list(range(len(row)))
        for item in wanting.tolist():
            along = np.cumsum(gain[item].take(order))
            at = order.index(item)
            best = int(along.argmax())
            top = along[best]
            if top <= 0.0:
                best, top = -1, 0.0
            if top > along[at] + 0.5:  # after the item at `best`
                del order[at]
                order.insert(best + 1 if best < at else best, item)
        rows[i] = row[order]
        position[rows[i]] = np.arange(len(row))
        return True

    def crossings(self, position: np.ndarray) -> float:
        """Count the pairs of links that cross, given the position of each item in its row."""
        total = 0.0
        for pairs in self.gaps:
            upper, lower = position[pairs[:, 0]], position[pairs[:, 1]]
            order = np.lexsort((lower, upper))
            upper, lower = upper[order], lower[order]
            for start in range(0, len(pairs), 500):
                part = slice(start, start + 500)
                crossed = (upper[part, None] < upper) & (lower[part, None] > lower)
                total += float(crossed.sum())
        return total

    def _gathered(self, rows: list[np.ndarray]) -> list[np.ndarray]:
        """Move the items of each group next to each other, in one order for every row; sift within groups."""
        assert self.groups is not None
        position = self._positions(rows)
        share = np.empty(self.n)
        for row in rows:
            share[row] = (np.arange(len(row)) + 0.5) / len(row)
        members: dict[int, list[int]] = {}
        for item, path in enumerate(self.groups):
            for group in path:
                members.setdefault(group, []).append(item)
        middle = {group: float(np.mean(share[items])) for group, items in members.items()}

        def key(item: int) -> list[tuple[float, int, float]]:
            assert self.groups is not None
            return [*((middle[g], g + 1, 0.0) for g in self.groups[item]), (float(share[item]), 0, 0.0)]

        for i, row in enumerate(rows):
            rows[i] = np.array(sorted(row.tolist(), key=key), dtype=np.int64)
            position[rows[i]] = np.arange(len(row))
        forced: list[np.ndarray] = []
        for row in rows:
            apart = np.zeros((len(row), len(row)), dtype=np.float32)
            for a, left in enumerate(row.tolist()):
                for right in row[a + 1 :].tolist():
                    if self.groups[left] != self.groups[right]:
                        apart[self.local[left], self.local[right]] = -_FORCED
                        apart[self.local[right], self.local[left]] = _FORCED
            forced.append(apart)
        for _ in range(_PASSES):
            if not any([self._sift(rows, i, position, forced[i]) for i in range(self.depth)]):
                break
        return rows
