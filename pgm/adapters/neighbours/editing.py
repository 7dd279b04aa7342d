"""Editing methods: reduced sets of rows for nearest-neighbour classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.adapters.rows import whole
from pgm.errors import InvalidArgument, shown
from pgm.randomness import generator
from pgm.runtime.clock import Clock

from .searching import loop, nearest, votes
from .voronoi import border_rows

ORDERS = ("random", "given")


@dataclass(frozen=True, slots=True)
class Edited:
    """What is kept."""

    rows: np.ndarray  # which, in the order in which they were chosen; twice, what counts twice
    passes: int = 1
    stable: bool = True  # False: it ended before convergence


@dataclass(frozen=True, kw_only=True)
class Condensing:
    """Condensed nearest neighbours: a row is stored if those stored so far misclassify it (Hart 1968).

    Passes repeat until nothing changes; then no row is misclassified, unless some coincide
    and have different classes. The result depends on the order.

    Args:
        order: "random", or "given".
        starts: the number of random orders; the result has the least E + penalty * copies (8.17), with E
            the fraction of misclassified rows.
        penalty: that of a stored copy.
        thin: whether rows that are no longer needed are removed at the end, oldest first.
        passes: the maximum number.
        seed: of random orders.

    >>> from pgm.adapters import EditedNeighbours
    >>> rows, classes = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], list("aaabbb")
    >>> EditedNeighbours(Condensing(order="given")).fit(rows, classes).indices_.tolist()
    [0, 3, 2]
    >>> EditedNeighbours(Condensing(order="given", thin=True)).fit(rows, classes).indices_.tolist()
    [3, 2]
    """

    order: str = "random"
    starts: int = 1
    penalty: float = 0.0
    thin: bool = False
    passes: int = 1000
    seed: Any = None

    def _choose(self, rows: np.ndarray, codes: np.ndarray, k: int, clock: Clock) -> Edited:
        if self.order not in ORDERS:
            raise InvalidArgument(f'order= is "random" or "given", not {shown(self.order)}.')
        if not isinstance(self.penalty, int | float) or not 0.0 <= self.penalty < np.inf:
            raise InvalidArgument(f"penalty= is a number, 0 or more, not {shown(self.penalty)}.")
        starts, passes = whole("starts", self.starts), whole("passes", self.passes)
        if self.order == "given" and starts > 1:
            raise InvalidArgument(
                'starts= is of order="random": in one order the same rows are kept each time.'
            )
        random, n = generator(self.seed), len(rows)
        best: tuple[float, Edited] | None = None
        for _ in range(starts):
            order = np.arange(n) if self.order == "given" else random.permutation(n)
            found = _stored(rows, codes, order, k, k, passes, clock)
            if self.thin:
                found = _thinned(rows, codes, found, k, clock)
            if starts == 1:
                return found
            worth = error_of(rows, codes, found.rows, k, clock) + self.penalty * len(found.rows)
            if best is None or worth < best[0]:
                best = worth, found
        assert best is not None
        return best[1]


@dataclass(frozen=True, kw_only=True)
class GrabBag:
    """Store and grab bag: rows that the store classifies correctly go to the bag, which is processed again.

    Like condensing in the order given, but each row is stored at most once.

    Args:
        passes: the maximum number.

    >>> from pgm.adapters import EditedNeighbours
    >>> rows = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> EditedNeighbours(GrabBag()).fit(rows, list("aaabbb")).indices_.tolist()
    [0, 3]
    """

    passes: int = 1000

    def _choose(self, rows: np.ndarray, codes: np.ndarray, k: int, clock: Clock) -> Edited:
        return _stored(rows, codes, np.arange(len(rows)), k, 1, whole("passes", self.passes), clock)


@dataclass(frozen=True, kw_only=True)
class VoronoiEditing:
    """Voronoi editing: keeps rows with a Voronoi neighbour of another class; the 1-nn rule is unchanged.

    Neighbours are rows whose cells share a facet. Up to four columns Qhull finds them; beyond, rays settle
    most rows and linear programs the rest; their number is checked first.

    Args:
        programs: how many linear programs may be solved.

    >>> from pgm.adapters import EditedNeighbours
    >>> rows = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> EditedNeighbours(VoronoiEditing()).fit(rows, list("aaabbb")).indices_.tolist()
    [2, 3]
    """

    programs: int = 100_000

    def _choose(self, rows: np.ndarray, codes: np.ndarray, k: int, clock: Clock) -> Edited:
        if k != 1:
            raise InvalidArgument(
                f"Voronoi editing keeps what the nearest row decides, k=1, and k={k} would vote."
            )
        return Edited(np.flatnonzero(border_rows(rows, codes, whole("programs", self.programs), clock)))


@dataclass(frozen=True, kw_only=True)
class SideEditing:
    """Removes rows on the wrong side of the boundary.

    Args:
        boundary: a classifier, of which a copy is fitted to all rows; by default the vote of the
            `neighbours` nearest other rows (Wilson 1972).
        neighbours: the number of voters, if there is no classifier.

    >>> from pgm.adapters import EditedNeighbours
    >>> rows = [[0.0], [1.0], [2.0], [2.5], [5.0], [6.0], [7.0]]
    >>> EditedNeighbours(SideEditing()).fit(rows, list("aaabbbb")).indices_.tolist()
    [0, 1, 2, 4, 5, 6]
    """

    boundary: Any = None
    neighbours: int = 3

    def _choose(self, rows: np.ndarray, codes: np.ndarray, k: int, clock: Clock) -> Edited:
        if self.boundary is None:
            count = min(whole("neighbours", self.neighbours), len(rows) - 1)
            found = nearest(rows, rows, count, clock, own=True)
            said = votes(found, codes, int(codes.max()) + 1, "uniform").argmax(axis=1)
        else:
            if not hasattr(self.boundary, "predict"):
                raise InvalidArgument(f"boundary= is a classifier, not {shown(self.boundary)}.")
            from sklearn.base import clone

            said = np.asarray(clone(self.boundary).fit(rows, codes).predict(rows))
        return Edited(np.flatnonzero(said == codes))


METHODS: dict[str, Any] = {
    "condensing": Condensing,
    "voronoi": VoronoiEditing,
    "side": SideEditing,
    "grab-bag": GrabBag,
}


def error_of(rows: np.ndarray, codes: np.ndarray, kept: np.ndarray, k: int, clock: Clock) -> float:
    """The fraction of rows that the k nearest kept rows misclassify."""
    found = nearest(rows[kept], rows, k, clock)
    said = votes(found, codes[kept], int(codes.max()) + 1, "uniform").argmax(axis=1)
    return float((said != codes).mean())


def _stored(
    rows: np.ndarray, codes: np.ndarray, order: np.ndarray, k: int, most: int, passes: int, clock: Clock
) -> Edited:
    n, d = rows.shape
    entries, made = np.zeros(n * most, np.int64), np.zeros(3, np.int64)
    classes = int(codes.max()) + 1
    loop(
        "condense", rows.reshape(-1), d, codes, classes, order, k, most, passes, entries, made,
        steps=float(n) * n * 2, clock=clock,
    )  # fmt: skip
    size, count, stable = made.tolist()
    return Edited(entries[:size].copy(), count, bool(stable))


def _thinned(rows: np.ndarray, codes: np.ndarray, found: Edited, k: int, clock: Clock) -> Edited:
    n, d = rows.shape
    left = np.ones(len(found.rows), np.int64)
    loop(
        "thin_out", rows.reshape(-1), d, codes, int(codes.max()) + 1, k, found.rows, left,
        steps=float(n) * len(found.rows) * (k + 4), clock=clock,
    )  # fmt: skip
    return Edited(found.rows[left > 0], found.passes, found.stable)
