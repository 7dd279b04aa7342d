"""From a reduced question to a tree of cliques that is ready to run; kept for the next question like it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pgm.config import Clock
from pgm.graphs.triangulation import Triangulation, triangulate
from pgm.inference.arrays import TreeArrays
from pgm.inference.reduction import Case
from pgm.inference.running import REDUCTION, TREES, code

_KEPT_BYTES = 256 * 2**20  # of trees that one model keeps
# Above this, sizes do not fit the integers that index entries; no machine holds such a table.
LARGEST_LOG2 = 45.0
_NO_TARGETS = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """How large a tree is: all that a plan needs, before any table exists."""

    triangulation: Triangulation
    log2_total: float
    log2_largest: float
    complete: bool  # False: too large to be worked out
    tables: float  # entries of the reduced tables
    messages: float  # entries that all cliques send
    lookup: float  # numbers that say where an entry of an operand is
    steps: float  # inner steps of one inward pass


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """A tree laid out for a question, and the sizes that its run needs."""

    arrays: TreeArrays
    shape: Shape
    maximising: np.ndarray  # uint8[C] cliques that take maxima
    entries: int
    largest_message: int
    longest_row: int
    steps: float  # inner steps of one inward pass

    @property
    def nbytes(self) -> int:
        """Memory that keeping the tree takes."""
        return sum(a.nbytes for a in self.arrays)


class TreeCache:
    """The trees of one model, least recently used ones forgotten first; safe to share between threads."""

    def __init__(self) -> None:
        """An empty cache."""
        self._lock = threading.Lock()
        self._trees: OrderedDict[object, Tree] = OrderedDict()
        self._bytes = 0

    def get(self, key: object, make: Callable[[], Tree]) -> Tree:
        """The tree of this key, made now if it is not there."""
        with self._lock:
            found = self._trees.get(key)
            if found is not None:
                self._trees.move_to_end(key)
                return found
        made = make()
        with self._lock:
            if key not in self._trees and made.nbytes <= _KEPT_BYTES:
                self._trees[key] = made
                self._bytes += made.nbytes
                while self._bytes > _KEPT_BYTES:
                    self._bytes -= self._trees.popitem(last=False)[1].nbytes
        return made

    def __reduce__(self) -> tuple[type[TreeCache], tuple[()]]:
        """A copy starts empty."""
        return TreeCache, ()


def shape_of(
    case: Case, clock: Clock, targets: np.ndarray = _NO_TARGETS, stage: np.ndarray | None = None
) -> Shape:
    """Triangulate what is left of the question; allocates no table."""
    r = case.reduced
    m = r.cards.size
    at, indices = code(20.0 * r.scopes.size, REDUCTION).neighbours(m, r.scope_at, r.scopes, targets)
    log2_cards = np.log2(r.cards.astype(np.float64))
    clock.check()
    mixed = None if stage is None or stage.all() or not stage.any() else stage
    found = triangulate(at, indices, log2_cards, limit_log2=LARGEST_LOG2, stage=mixed)
    clock.check()
    return measure(case, found, log2_cards)


def measure(case: Case, found: Triangulation, log2_cards: np.ndarray) -> Shape:
    """The sizes of a tree whose variables have so many states."""
    r = case.reduced
    total, largest, tables = float(found.log2_total), float(found.log2_largest), float(r.table_at[-1])
    if not found.complete or total > LARGEST_LOG2:
        return Shape(found, total, largest, False, tables, 0.0, 0.0, 2.0 ** min(total, 1000.0))
    n_cliques = len(found.parent)
    before = np.concatenate([[0.0], np.cumsum(log2_cards[found.clique_vars])])
    begins, ends = found.clique_ptr[:-1], found.clique_ptr[1:]
    sizes = np.exp2(before[ends] - before[begins])
    sent = np.exp2(before[ends] - before[begins + found.n_residual])
    # A table is multiplied where the first of its variables is summed out.
    inside = np.arange(found.clique_vars.size) - np.repeat(begins, ends - begins)
    own = inside < np.repeat(found.n_residual, ends - begins)
    clique_of = np.zeros(r.cards.size, np.int64)
    clique_of[found.clique_vars[own]] = np.repeat(np.arange(n_cliques), found.n_residual)
    uses = np.bincount(found.parent[found.parent >= 0], minlength=n_cliques)
    if r.factors.size:
        rank = np.empty(r.cards.size, np.int64)
        rank[found.order] = np.arange(r.cards.size)
        first = np.minimum.reduceat(rank[r.scopes], r.scope_at[:-1])
        uses = uses + np.bincount(clique_of[found.order[first]], minlength=n_cliques)
    rows = np.where(sizes < 4096, 32.0, np.where(sizes < 262144, 128.0, 512.0))  # as lay_out has them
    lookup = float((uses * (sizes / rows + 2.0 * rows)).sum())
    return Shape(
        found, total, largest, True, tables, float(sent.sum()), lookup, float((sizes * (uses + 2)).sum())
    )


def tree_of(
    case: Case,
    clock: Clock,
    cache: TreeCache,
    *,
    targets: np.ndarray = _NO_TARGETS,
    results: tuple[np.ndarray, np.ndarray] | None = None,
    stage: np.ndarray | None = None,
    check: Callable[[Shape], None],
) -> Tree:
    """The tree for a question, from the cache if one like it was asked before.

    Args:
        case: the reduced question.
        clock: its time.
        cache: the model's trees.
        targets: reduced variables that the last root keeps, in this order.
        results: scopes (flat, with their begins) whose marginals the way out reads.
        stage: 0 for variables that are summed out before those of stage 1, over which the run maximises.
        check: raises `TooLarge` for a shape that does not fit, before anything is laid out.
    """
    result_at, result_scopes = (np.zeros(1, np.int64), np.empty(0, np.int32)) if results is None else results
    stages = b"" if stage is None else stage.tobytes()
    key = (case.key, targets.tobytes(), result_at.tobytes(), result_scopes.tobytes(), stages)

    def make() -> Tree:
        shape = shape_of(case, clock, targets, stage)
        check(shape)
        return _lay_out(case, shape, targets, result_at, result_scopes, stage)

    tree = cache.get(key, make)
    check(tree.shape)  # the limit may have changed since the tree was kept
    return tree


def _lay_out(
    case: Case,
    shape: Shape,
    targets: np.ndarray,
    result_at: np.ndarray,
    result_scopes: np.ndarray,
    stage: np.ndarray | None,
) -> Tree:
    r, found = case.reduced, shape.triangulation
    k = code(40.0 * found.clique_vars.size + 2.0 ** min(shape.log2_largest, 40.0), TREES)
    cliques = (
        found.clique_ptr.astype(np.int64),
        found.clique_vars.astype(np.int32),
        found.n_residual.astype(np.int32),
        found.parent.astype(np.int32),
    )
    if stage is not None:
        cliques = k.split_stages(*cliques, stage)
    if targets.size:
        cliques = k.reroot(*cliques, targets)
    home = k.homes(r, *cliques)
    if stage is None:
        *cliques, home = k.gather_operands(r, *cliques, home)
    laid_out = k.lay_out(r, *cliques, home, targets, result_at, result_scopes)
    arrays = TreeArrays(r.cards, cliques[0], *laid_out)
    if stage is None:
        maximising = np.zeros(arrays.parent.size, np.uint8)
    else:
        maximising = (stage[arrays.axes[arrays.axis_at[:-1]]] != 0).astype(np.uint8)
    uses = np.diff(arrays.operand_at) + 2
    return Tree(
        arrays,
        shape,
        maximising,
        int(arrays.clique_at[-1]),
        int(arrays.sent.max(initial=1)),
        int(arrays.inner.max(initial=1)),
        float((arrays.size * uses).sum()),
    )
