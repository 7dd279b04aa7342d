"""From a reduced question to a clique tree that is ready to run, cached for similar questions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, cast

import numpy as np

from pgm.config import current
from pgm.graphs.triangulation import Triangulation, triangulate_in
from pgm.inference.program.reduction import Case, lows
from pgm.inference.trees.tree_arrays import TreeArrays
from pgm.runtime import threads
from pgm.runtime.clock import TRIANGULATING, Clock
from pgm.runtime.forks import Lock
from pgm.runtime.running import REDUCTION, TREES, beside

_STEPS_PER_ENTRY = 4.0
_LISTED_STEPS = 4.0  # cost of a listed entry relative to one in a row; measured
_WORTH_A_LOOK = 20.0  # log2 of the entries above which the plan checks whether doubles suffice
LEAST_OF_DOUBLES = 1000.0
_WORTH_BALANCE = 1e7  # inner steps; larger trees are rooted at their centre, so that threads can share them
_WIDE = 24.0  # log2 of the entries above which laying out a tree may take a while
# Operations that the search for a better tree may use per entry: about as long as the run itself. A tree that
# serves many questions is worth more.
_EFFORT = 0.2
EFFORT_FOR_MANY = 2.0
_KEPT_BYTES = 256 * 2**20  # of trees that one model caches, or this share of the memory limit:
_KEPT_SHARE = 1 / 8
# Above this, sizes do not fit the integers that index entries; no machine holds such a table.
LARGEST_LOG2 = 45.0
_NO_TARGETS = np.empty(0, np.int32)


@dataclass(frozen=True, eq=False, slots=True)
class Shape:
    """The size of a tree: all that a plan needs, before any table exists."""

    triangulation: Triangulation
    log2_total: float
    log2_largest: float
    complete: bool  # False: too large to be computed
    tables: float  # entries of the reduced tables
    messages: float  # entries of all messages
    layout: float  # bytes of the tree once it is laid out
    steps: float  # inner steps of one inward pass
    narrow: bool = False  # whether the products in a clique may leave the range of doubles
    # The cliques as they will be laid out, and where tables are multiplied.
    arranged: tuple[np.ndarray, ...] = ()
    # Where tables would be multiplied if none went together, for a tree large enough to check: see `narrow`.
    home: np.ndarray | None = None

    @property
    def nbytes(self) -> int:
        """Memory for caching it."""
        found = self.triangulation
        size = found.order.nbytes + 2 * found.clique_vars.nbytes + sum(a.nbytes for a in self.arranged)
        return size + (0 if self.home is None else self.home.nbytes)

    def leaves_doubles(self, low: np.ndarray) -> bool:
        """Whether the product of one clique's tables may underflow; `low` as from `lows`."""
        if self.home is None:
            return False
        return float(np.bincount(self.home, np.minimum(low, 0)).min()) < -LEAST_OF_DOUBLES

    def for_values_of(self, case: Case) -> Shape:
        """This shape for a question with other tables of the same scopes."""
        if self.home is None or self.leaves_doubles(lows(case)) == self.narrow:
            return self
        return replace(self, narrow=not self.narrow)


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """A tree laid out for a question, and the sizes that its run needs."""

    arrays: TreeArrays
    shape: Shape
    maximising: np.ndarray  # uint8[C] cliques that take maxima
    all_cliques: np.ndarray  # int64 their indices: the order of a sweep
    entries: int
    longest_row: int
    steps: float  # inner steps of one inward pass

    @property
    def nbytes(self) -> int:
        """Memory for caching the tree."""
        return sum(a.nbytes for a in self.arrays)

    def clique_steps(self) -> np.ndarray:
        """Inner steps of an inward pass in each clique."""
        t = self.arrays
        entries = t.size.astype(np.float64)
        if t.list_at.size:
            columns = 1 + np.diff(t.operand_at) + np.diff(t.wanted_at)
            listed = np.diff(t.list_at) / columns
            entries = np.where(listed > 0, _LISTED_STEPS * listed, entries)
        return entries * (np.diff(t.operand_at) + 2.0)


class Sized(Protocol):
    """Anything that reports how much memory it takes."""

    @property
    def nbytes(self) -> int:
        """Bytes."""


_Kept = TypeVar("_Kept", bound=Sized)


class TreeCache:
    """The trees of one model, evicted least recently used first; thread-safe."""

    def __init__(self) -> None:
        """An empty cache."""
        self._lock = Lock()
        self._trees: OrderedDict[tuple[object, ...], Sized] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[object, ...], make: Callable[[], _Kept]) -> _Kept:
        """The item for this key, made now if it is missing."""
        with self._lock.inner:
            found = self._trees.get(key)
            if found is not None:
                self._trees.move_to_end(key)
                return cast(_Kept, found)
        made = make()
        with self._lock:
            most, size = max(_KEPT_BYTES, _KEPT_SHARE * current().memory_limit), made.nbytes
            if key not in self._trees and size <= most:
                self._trees[key] = made
                self._bytes += size
                while self._bytes > most:
                    self._bytes -= self._trees.popitem(last=False)[1].nbytes
        return made

    def forget(self, support: object) -> None:
        """Drop the items that are only valid for the zeros of `support`, with which their keys begin."""
        with self._lock:
            for key in [key for key in self._trees if key[0] is support]:
                self._bytes -= self._trees.pop(key).nbytes

    def __reduce__(self) -> tuple[type[TreeCache], tuple[()]]:
        """A copy starts empty."""
        return TreeCache, ()


def shape_of(
    case: Case,
    clock: Clock,
    targets: np.ndarray = _NO_TARGETS,
    stage: np.ndarray | None = None,
    *,
    effort: float = _EFFORT,
) -> Shape:
    """Triangulate the reduced question; allocates no table."""
    r = case.reduced
    m = r.cards.size
    at, indices = REDUCTION.neighbours(m, r.scope_at, r.scopes, targets)
    log2_cards = np.log2(r.cards.astype(np.float64))
    mixed = None if stage is None or stage.all() or not stage.any() else stage
    own = case.program.turns[r.variables]
    options = {"limit_log2": LARGEST_LOG2, "stage": mixed, "own": own, "effort": effort}
    found = triangulate_in(clock, at, indices, log2_cards, **options)
    clock.check()
    if not found.complete or found.log2_total > LARGEST_LOG2:
        return _unknown(case, found)
    cliques = _cliques(found)
    if stage is not None:
        cliques = TREES.split_stages(*cliques, stage)
    if targets.size:
        cliques = TREES.reroot(m, *cliques, TREES.holder(m, *cliques[:2], targets))
    elif stage is None and m and _STEPS_PER_ENTRY * 2.0**found.log2_total > _WORTH_BALANCE:
        cliques = TREES.reroot(m, *cliques, TREES.centre(r.cards, *cliques[:2], cliques[3]))
    home = TREES.homes(r, *cliques)
    looked_at = home if home.size and found.log2_total > _WORTH_A_LOOK else None
    if stage is None:
        *cliques, home = TREES.gather_operands(r, *cliques, home)
    sent, layout, steps = TREES.measure(r.cards, *cliques, home)
    tables, arranged = float(r.table_at[-1]), (*cliques, home)
    total, largest = float(found.log2_total), float(found.log2_largest)
    made = Shape(found, total, largest, True, tables, sent, layout, steps, False, arranged, looked_at)
    return made.for_values_of(case)


def planned(
    case: Case,
    clock: Clock,
    cache: TreeCache,
    targets: np.ndarray = _NO_TARGETS,
    stage: np.ndarray | None = None,
) -> Shape:
    """`shape_of`, cached for the run that follows a plan."""
    key = ("shape", case.key, targets.tobytes(), b"" if stage is None else stage.tobytes())
    return cache.get(key, lambda: shape_of(case, clock, targets, stage)).for_values_of(case)


def measure(case: Case, found: Triangulation, cards: np.ndarray) -> Shape:
    """The sizes of a triangulation for variables with these cards; the shape cannot be laid out."""
    if not found.complete or found.log2_total > LARGEST_LOG2:
        return _unknown(case, found)
    r, cliques = case.reduced, _cliques(found)
    sent, layout, steps = TREES.measure(cards, *cliques, TREES.homes(r, *cliques))
    total, largest = float(found.log2_total), float(found.log2_largest)
    return Shape(found, total, largest, True, float(r.table_at[-1]), sent, layout, steps)


def _unknown(case: Case, found: Triangulation) -> Shape:
    total, tables = float(found.log2_total), float(case.reduced.table_at[-1])
    steps = 2.0 ** min(total, 1000.0)
    return Shape(found, total, float(found.log2_largest), False, tables, 0.0, 0.0, steps)


def _cliques(found: Triangulation) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a triangulation in the types that the compiled loops take."""
    return (
        found.clique_ptr.astype(np.int64, copy=False),
        found.clique_vars.astype(np.int32, copy=False),
        found.n_residual.astype(np.int32, copy=False),
        found.parent.astype(np.int32, copy=False),
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
    """The tree for a question, from the cache if a similar one was asked before.

    Args:
        case: the reduced question.
        clock: the clock of the question.
        cache: the model's trees.
        targets: reduced variables that the last root keeps, in this order.
        results: scopes (flat, with their offsets) whose marginals the outward pass reads.
        stage: 0 for variables that are summed out, 1 for those that are maximised after them.
        check: raises `TooLarge` for a shape that does not fit, before anything is laid out.
    """
    result_at, result_scopes = (np.zeros(1, np.int64), np.empty(0, np.int32)) if results is None else results
    stages = b"" if stage is None else stage.tobytes()
    key = (case.key, targets.tobytes(), result_at.tobytes(), result_scopes.tobytes(), stages)

    def make() -> Tree:
        shape = planned(case, clock, cache, targets, stage)
        check(shape)
        return lay_out_tree(case, shape, targets, result_at, result_scopes, clock, stage)

    tree = cache.get(key, make)
    check(tree.shape.for_values_of(case))  # the limit or the values may have changed since it was cached
    clock.lap(TRIANGULATING)
    return tree


def lay_out_tree(
    case: Case,
    shape: Shape,
    targets: np.ndarray,
    result_at: np.ndarray,
    result_scopes: np.ndarray,
    clock: Clock,
    stage: np.ndarray | None = None,
) -> Tree:
    """Lay out a tree for a question whose shape is known; the arguments are those of `tree_of`."""
    r = case.reduced
    clique_at, members, kept, parent, home = shape.arranged
    cliques = (clique_at, TREES.order_axes(r, clique_at, members, kept, parent, home, targets), kept, parent)
    args, stop = (r, *cliques, home, targets, result_at, result_scopes), np.zeros(1, np.uint8)
    if shape.log2_largest < _WIDE or threads.flag() is not None:
        laid_out = TREES.lay_out(*args, stop)
    else:
        laid_out = beside(TREES.lay_out, args, stop, clock, "laying out a tree")
    no_lists = np.empty(0, np.int64), np.empty(0, np.int32)
    arrays = TreeArrays(*(r.cards, cliques[0], *laid_out, *no_lists))
    if stage is None:
        maximising = np.zeros(arrays.parent.size, np.uint8)
    else:
        maximising = (stage[arrays.axes[arrays.axis_at[:-1]]] != 0).astype(np.uint8)
    uses = np.diff(arrays.operand_at) + 2
    return Tree(
        arrays,
        shape,
        maximising,
        np.arange(arrays.parent.size),
        int(arrays.clique_at[-1]),
        int(arrays.inner.max(initial=1)),
        float((arrays.size * uses).sum()),
    )
