"""A strong junction tree for a question: which variables matter, their elimination order, its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgm.config import current
from pgm.errors import TooLarge, listed
from pgm.graphs.triangulation import Triangulation, triangulate_in
from pgm.inference.engines.gaussian.gaussian_arrays import StrongTree
from pgm.inference.program.continuous import Gaussians, starts
from pgm.runtime.clock import TRIANGULATING, Clock
from pgm.runtime.room import check_room, size_of
from pgm.runtime.running import GAUSSIAN, REDUCTION

SCORE = "(score "  # prefix of the names of sums over a grid, see quadrature.py
_COST = 0.5  # of a continuous variable in a clique, as the log2 of an equivalent count of states
_MOST_LOG2 = 40.0  # of the configurations of a clique that are counted as integers
_MOST_BYTES = 2.0**45
_MOST_STEPS = 1e13
_LARGE = 1_000  # vertices
_MATRICES = 200  # variables of a clique that elimination.py may handle in blocks of matrices
_TABLE_BYTES = 120.0  # of a configuration of a root on its way to the discrete engine


@dataclass(frozen=True, eq=False, slots=True)
class StrongTreeLayout:
    """The strong tree of a question, and the densities with nothing hidden in them."""

    tree: StrongTree
    cards: np.ndarray  # int64, of all variables of the model
    hidden: np.ndarray  # int32 the continuous variables in the tree
    barren: np.ndarray  # int32 variables that do not matter, parents first
    plain: np.ndarray  # int32 observed variables with observed parents
    plain_axis_at: np.ndarray
    plain_axes: np.ndarray
    plain_log_at: np.ndarray
    most_rows: int
    most_columns: int
    log2_largest: float  # log2 of the configurations of the largest clique
    largest: tuple[int, ...]  # its discrete variables
    bytes_inward: float
    bytes_outward: float  # additional, for the outward pass
    steps: float

    @property
    def nbytes(self) -> int:
        """The bytes it takes in a cache."""
        return sum(a.nbytes for a in self.tree) + self.plain_axes.nbytes + 8 * self.hidden.size

    def roots(self) -> np.ndarray:
        """The clique without a parent above each clique."""
        return _roots(self.tree.parent)

    def described(self, names: Sequence[str]) -> str:
        """Its description in a plan."""
        text = f"{self.hidden.size:,} continuous variables in {self.tree.parent.size:,} cliques, "
        text += f"width {max(self.most_columns - 1, 0)}"
        if self.largest:
            text += f"; {combinations(self.log2_largest)} Gaussians for the states of "
            text += listed([names[v] for v in self.largest])
        return text

    def bytes(self, *, outward: bool) -> float:
        """The memory of a run, inward only or both passes."""
        return self.bytes_inward + (self.bytes_outward if outward else 0.0)

    def fits(self, *, outward: bool) -> bool:
        """Whether a run fits the current limit."""
        needed = self.bytes(outward=outward)
        counted = needed < _MOST_BYTES and self.log2_largest < _MOST_LOG2
        return counted and needed <= current().memory_limit and self.steps <= _MOST_STEPS

    def check(self, names: Sequence[str], *, outward: bool) -> None:
        """Raise `TooLarge` where a run does not fit."""
        if self.fits(outward=outward):
            return
        needed, allowed = self.bytes(outward=outward), current().memory_limit
        if self.largest:
            which = [names[v] for v in self.largest]
            why = (
                f"connected continuous variables depend on {len(which)} discrete ones, "
                f"{listed(which)}, and there is a Gaussian for each of their "
                f"{combinations(self.log2_largest)} combinations. {_remedy(which)}"
            )
        else:
            why = (
                f"the largest clique has {self.most_columns:,} continuous variables. Observe more variables, "
                "or ask for fewer targets at once."
            )
        what = f"{size_of(needed)} of memory, and {size_of(allowed)} are allowed"
        if needed <= allowed and needed < _MOST_BYTES and self.log2_largest < _MOST_LOG2:
            what = f"{self.steps:.2g} operations"
        raise TooLarge(f"An exact answer needs {what}: {why}")


def _remedy(which: Sequence[str]) -> str:
    if any(name.startswith(SCORE) for name in which):
        return (
            "The scores have a grid each: engine=pgm.engines.Quadrature(points=...) takes coarser ones. Or "
            "observe some of the continuous variables."
        )
    return (
        "Observe some of them, or observe continuous variables that connect the others. No engine "
        "approximates such mixtures."
    )


def make_layout(
    g: Gaussians,
    cards: np.ndarray,
    codes: np.ndarray,
    seen: np.ndarray,
    relevant: np.ndarray,
    targets: np.ndarray,
    last: np.ndarray,
    whole_bytes: float,
    names: Sequence[str],
    clock: Clock,
) -> StrongTreeLayout:
    """Lay out the elimination of the continuous variables that matter and are hidden.

    Args:
        g: the continuous part of the model.
        cards: how many states each variable of the model has.
        codes: the state of each discrete variable that is observed, else -1.
        seen: marks observed continuous variables.
        relevant: marks the continuous variables that matter, observed ones included.
        targets: indices of variables that must come last, in one clique.
        last: more variables that must come last, each in a root clique.
        whole_bytes: give every clique all discrete variables of its component, so that exact mixtures are
            kept, if that takes no more memory than this.
        names: of all variables of the model.
        clock: the clock of the question.
    """
    o = _scopes(g, cards, codes, (relevant != 0) & (seen == 0), relevant)
    _check_scopes(g, o, names)
    n_hidden, m = o.hidden.size, o.hidden.size + o.discrete.size
    vertex = np.full(g.n, -1, np.int64)
    vertex[o.hidden] = np.arange(n_hidden)
    together = vertex[targets].astype(np.int32)
    if together.size > 1 and o.discrete.size:
        together = np.concatenate([together, _tied(o, together)])
    at, indices = REDUCTION.neighbours(m, o.scope_at, o.scopes, together)
    stage = np.zeros(m, np.int64)
    stage[vertex[targets]] = 1
    stage[vertex[last]] = 1
    stage[n_hidden:] = 2
    log2_cards = np.full(m, _COST)
    log2_cards[n_hidden:] = np.log2(cards[o.discrete])
    found = _triangulated(clock, at, indices, log2_cards, stage)
    clock.lap(TRIANGULATING)

    k = _cliques(found, o)
    axis_at, axes, wide = k.axis_at, k.axes, np.diff(k.column_at)
    if whole_bytes and axes.size:
        lengths = np.diff(axis_at)[_roots(k.parent)]
        all_axes = _whole(k.parent, axis_at, axes)
        if _bytes_of(all_axes, starts(lengths), cards, wide) <= whole_bytes:
            axis_at, axes = starts(lengths), all_axes
    n_cliques, own = k.own.size, k.own
    by_home = np.argsort(k.home, kind="stable")
    below = np.flatnonzero(k.parent >= 0)
    by_parent = np.argsort(k.parent[below], kind="stable")

    log2_confs = _log2_sums(cards, axis_at, axes)
    sent = wide - own
    about = np.exp2(np.minimum(log2_confs, 1000.0))
    rows_in = np.bincount(k.home, minlength=n_cliques)
    rows_in = rows_in + np.bincount(k.parent[below], sent[below], minlength=n_cliques)
    each = np.where(k.parent < 0, _TABLE_BYTES, 16.0)
    bytes_inward = float((about * (8.0 * own * (wide + 1) + 9.0 * sent * (sent + 3) + each)).sum())
    top = int(np.argmax(log2_confs)) if n_cliques else -1
    counted = log2_confs.max(initial=0.0) < _MOST_LOG2 and bytes_inward < _MOST_BYTES
    confs = np.rint(about).astype(np.int64) if counted else np.zeros(n_cliques, np.int64)
    tree = StrongTree(
        parent=k.parent,
        own=own,
        column_at=k.column_at,
        columns=k.columns,
        axis_at=axis_at,
        axes=axes,
        density_at=starts(np.bincount(k.home, minlength=n_cliques)),
        densities=o.owners[by_home].astype(np.int32),
        child_at=starts(np.bincount(k.parent[below], minlength=n_cliques)),
        children=below[by_parent].astype(np.int32),
        log_at=starts(confs),
        row_at=starts(confs * own * (wide + 1)),
        kind_at=starts(confs * own),
        sent_at=starts(confs * sent * (sent + 3)),
        sent_kind_at=starts(confs * sent),
        mean_at=starts(confs * wide),
        cov_at=starts(confs * wide * wide),
    )
    plain_confs = np.rint(np.exp2(_log2_sums(cards, o.plain_axis_at, o.plain_axes)))
    return StrongTreeLayout(
        tree=tree,
        cards=cards,
        hidden=o.hidden,
        barren=g.order[relevant[g.order] == 0],
        plain=o.plain,
        plain_axis_at=o.plain_axis_at,
        plain_axes=o.plain_axes,
        plain_log_at=starts(plain_confs.astype(np.int64)),
        most_rows=int(rows_in.max(initial=0)),
        most_columns=int(wide.max(initial=0)),
        log2_largest=float(log2_confs[top]) if top >= 0 else 0.0,
        largest=tuple(axes[axis_at[top] : axis_at[top + 1]].tolist()) if top >= 0 else (),
        bytes_inward=bytes_inward,
        bytes_outward=float((about * 8.0 * wide * (wide + 2)).sum()) + _beside(int(wide.max(initial=0))),
        steps=float((about * wide * (wide + 1) * (rows_in + 1)).sum()),
    )


def _check_scopes(g: Gaussians, o: _Scopes, names: Sequence[str]) -> None:
    """Raise for a density over so many variables that its clique alone, or its edges, would be too large."""
    wide = np.diff(o.scope_at).astype(np.float64)
    needed = float((wide**2).max(initial=0.0) * 8.0 + (wide**2).sum() * 16.0)
    if needed > current().memory_limit:
        at = int(wide.argmax())
        name = names[int(g.positions[o.owners[at]])]
        check_room(
            needed,
            f"The density of {name!r} couples {int(wide[at]):,} unobserved variables, which takes",
            "Observe some of them, split its sum (add nodes with sd=0 for partial sums)",
        )


class _Scopes(NamedTuple):
    """The scope of each density that matters; vertices are hidden variables, then open discrete ones."""

    hidden: np.ndarray  # int32 continuous variables that are eliminated
    discrete: np.ndarray  # positions of the discrete ones that they depend on
    owners: np.ndarray  # the variable whose density has this scope
    scope_at: np.ndarray
    scopes: np.ndarray  # int32 vertices
    plain: np.ndarray  # int32 observed variables with nothing hidden in their density
    plain_axis_at: np.ndarray
    plain_axes: np.ndarray  # their open discrete parents, by position


def _scopes(
    g: Gaussians, cards: np.ndarray, codes: np.ndarray, hides: np.ndarray, relevant: np.ndarray
) -> _Scopes:
    d, n = g.arrays, g.n
    hidden = np.flatnonzero(hides).astype(np.int32)
    vertex = np.full(n, -1, np.int64)
    vertex[hidden] = np.arange(hidden.size)
    owner_p = np.repeat(np.arange(n), np.diff(d.parent_at))
    owner_s = np.repeat(np.arange(n), np.diff(d.switch_at))
    keep_p = (relevant[owner_p] != 0) & hides[d.parents]
    keep_s = (relevant[owner_s] != 0) & (codes[d.switches] < 0) & (cards[d.switches] > 1)
    discrete, place = np.unique(d.switches[keep_s], return_inverse=True)
    size = np.bincount(owner_p[keep_p], minlength=n) + hides  # hidden variables in each density
    tied = size[owner_s[keep_s]] > 0
    owners = np.concatenate([hidden, owner_p[keep_p], owner_s[keep_s][tied]]).astype(np.int64)
    members = np.concatenate([vertex[hidden], vertex[d.parents[keep_p]], hidden.size + place[tied]])
    used, counts = np.unique(owners, return_counts=True)
    scopes = members[np.argsort(owners, kind="stable")].astype(np.int32)
    plain = np.flatnonzero((relevant != 0) & (size == 0)).astype(np.int32)
    is_plain = np.zeros(n, bool)
    is_plain[plain] = True
    chosen = keep_s & is_plain[owner_s]
    plain_axis_at = starts(np.bincount(owner_s[chosen], minlength=n)[plain])
    return _Scopes(hidden, discrete, used, starts(counts), scopes, plain, plain_axis_at, d.switches[chosen])


def _tied(o: _Scopes, targets: np.ndarray) -> np.ndarray:
    """Discrete variables that components with a target depend on: the joint is a mixture over all of them."""
    n_hidden = o.hidden.size
    part = GAUSSIAN.parts(n_hidden, o.scope_at, o.scopes)
    ours = np.isin(part, part[targets])
    bound = o.scopes < n_hidden
    scope = np.repeat(np.arange(o.owners.size), np.diff(o.scope_at))
    touched = np.isin(scope, scope[bound & ours[np.minimum(o.scopes, n_hidden - 1)]])
    return np.unique(o.scopes[touched & ~bound])


class _Cliques(NamedTuple):
    """The cliques that eliminate something continuous; see StrongTree."""

    parent: np.ndarray
    own: np.ndarray
    column_at: np.ndarray
    columns: np.ndarray
    axis_at: np.ndarray
    axes: np.ndarray
    home: np.ndarray  # for each scope the clique that eliminates the first of its variables


def _cliques(found: Triangulation, o: _Scopes) -> _Cliques:
    n_hidden, count = o.hidden.size, found.n_cliques
    clique = np.repeat(np.arange(count), np.diff(found.clique_ptr))
    within = np.arange(found.clique_vars.size) - found.clique_ptr[:-1][clique]
    is_own = within < found.n_residual[clique]
    continuous = found.clique_vars < n_hidden
    own = np.bincount(clique[is_own & continuous], minlength=count)
    free = np.bincount(clique[~is_own & continuous], minlength=count)
    kept = own > 0
    renumber = np.cumsum(kept) - 1
    parent = np.where(free > 0, renumber[found.parent], -1)[kept].astype(np.int64)

    def gathered(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pick = kept[clique] & chosen
        at = starts(np.bincount(renumber[clique[pick]], minlength=parent.size))
        return at, found.clique_vars[pick]

    column_at, columns = gathered(continuous)
    axis_at, axes = gathered(~continuous)
    eliminates = np.full(n_hidden + o.discrete.size, parent.size)  # discrete ones: after all cliques
    mine = is_own & continuous
    eliminates[found.clique_vars[mine]] = renumber[clique[mine]]
    home = np.empty(0, np.int64)
    if o.owners.size:
        home = np.minimum.reduceat(eliminates[o.scopes], o.scope_at[:-1])
    return _Cliques(
        parent,
        own[kept].astype(np.int64),
        column_at,
        o.hidden[columns],
        axis_at,
        o.discrete[axes - n_hidden].astype(np.int32),
        home,
    )


def _log2_sums(cards: np.ndarray, axis_at: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The logarithm to base 2 of the count of configurations of each clique."""
    log2 = np.concatenate([[0.0], np.cumsum(np.log2(cards[axes]))])
    return np.asarray(log2[axis_at[1:]] - log2[axis_at[:-1]])


def _triangulated(
    clock: Clock, at: np.ndarray, indices: np.ndarray, log2_cards: np.ndarray, stage: np.ndarray
) -> Triangulation:
    """A tree of small cliques, stage after stage.

    On large graphs the search for staged orders may give up. An order without stages exists even then, and
    moving the last stages to its end enlarges cliques by no more than the variables of these.
    """
    found = triangulate_in(clock, at, indices, log2_cards, stage=stage, effort=0.0)
    if stage.any() and stage.size > _LARGE:
        free = triangulate_in(clock, at, indices, log2_cards, effort=0.0)
        order = free.order[np.argsort(stage[free.order], kind="stable")]
        moved = triangulate_in(clock, at, indices, log2_cards, order=order)
        if moved.log2_total < found.log2_total:
            return moved
    return found


def _beside(wide: int) -> float:
    """Additional memory of the outward pass through a large clique: matrices, see elimination.py."""
    return 24.0 * wide * (wide + 512) if wide > _MATRICES else 0.0


def combinations(log2: float) -> str:
    """The count as text."""
    return f"{2.0**log2:,.0f}" if log2 < 40.0 else f"about 10^{log2 * np.log10(2.0):.0f}"


def _roots(parent: np.ndarray) -> np.ndarray:
    """The root above each clique."""
    root = np.where(parent < 0, np.arange(parent.size), parent)
    while True:
        further = root[root]
        if np.array_equal(further, root):
            return root
        root = further


def _whole(parent: np.ndarray, axis_at: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The discrete variables of each clique's root instead of its own."""
    root = _roots(parent)
    lengths = np.diff(axis_at)[root]
    at = starts(lengths)
    if at[-1] > 1e8:
        return np.zeros(0, np.int32)
    return np.asarray(
        axes[np.arange(at[-1]) - np.repeat(at[:-1], lengths) + np.repeat(axis_at[:-1][root], lengths)]
    )


def _bytes_of(axes: np.ndarray, axis_at: np.ndarray, cards: np.ndarray, wide: np.ndarray) -> float:
    """Approximate memory of the rows and moments of all cliques."""
    if axes.size < axis_at[-1]:
        return np.inf
    about = np.exp2(np.minimum(_log2_sums(cards, axis_at, axes), 1000.0))
    return float((about * 16.0 * wide * (wide + 2)).sum())
