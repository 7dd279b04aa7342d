"""A strong tree for a question: which variables matter, in which order they go, what that takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgm.config import TRIANGULATING, Clock, current
from pgm.errors import TooLarge, listed
from pgm.graphs.triangulation import Triangulation, triangulate
from pgm.inference.engines.gaussian.arrays import Gaussians, StrongTree, starts
from pgm.inference.running import GAUSSIAN, REDUCTION, code

_COST = 0.5  # of a continuous variable in a clique, as the logarithm of a number of states
_MOST_LOG2 = 40.0  # of the configurations of a clique that are counted as whole numbers
_MOST_STEPS = 1e13
_LARGE = 1_000  # vertices
_TABLE_BYTES = 120.0  # that a configuration of a root takes on its way to the engine for tables


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """The strong tree of a question, and the densities with nothing hidden in them."""

    tree: StrongTree
    cards: np.ndarray  # int64, of all variables of the model
    hidden: np.ndarray  # int32 the continuous variables in the tree
    barren: np.ndarray  # int32 those that tell nothing, parents first
    plain: np.ndarray  # int32 observed variables with observed parents
    plain_axis_at: np.ndarray
    plain_axes: np.ndarray
    plain_log_at: np.ndarray
    most_rows: int
    most_columns: int
    log2_largest: float  # configurations of the largest clique
    largest: tuple[int, ...]  # its discrete variables
    bytes_inward: float
    bytes_outward: float  # more, for the way back
    steps: float

    @property
    def nbytes(self) -> int:
        """Memory that keeping it takes."""
        return sum(a.nbytes for a in self.tree) + self.plain_axes.nbytes + 8 * self.hidden.size

    def roots(self) -> np.ndarray:
        """The clique without a parent above each clique."""
        return _roots(self.tree.parent)

    def said(self, names: Sequence[str]) -> str:
        """What a plan says of it."""
        text = f"{self.hidden.size:,} continuous variables in {self.tree.parent.size:,} cliques, "
        text += f"width {max(self.most_columns - 1, 0)}"
        if self.largest:
            text += f"; {combinations(self.log2_largest)} Gaussians for the states of "
            text += listed([names[v] for v in self.largest])
        return text

    def bytes(self, *, outward: bool) -> float:
        """The memory of a run, one way or both."""
        return self.bytes_inward + (self.bytes_outward if outward else 0.0)

    def fits(self, *, outward: bool) -> bool:
        """Whether a run may begin under the limit of this moment."""
        return self.bytes(outward=outward) <= current().memory_limit and self.steps <= _MOST_STEPS

    def check(self, names: Sequence[str], *, outward: bool) -> None:
        """Raise `TooLarge` where this does not fit."""
        if self.fits(outward=outward):
            return
        needed, allowed = self.bytes(outward=outward), current().memory_limit
        if self.largest:
            which = [names[v] for v in self.largest]
            why = (
                f"continuous variables that hang together depend on {len(which)} discrete ones, "
                f"{listed(which)}, and there is a Gaussian for each of their "
                f"{combinations(self.log2_largest)} combinations. Observe some of them, or cut the links "
                "between the continuous variables by observing those. No engine that approximates them is "
                "built."
            )
        else:
            why = (
                f"the largest clique has {self.most_columns:,} continuous variables. Observe more, or ask "
                "for fewer targets at once."
            )
        what = f"{needed / 1e9:,.3g} GB of memory, and {allowed / 1e9:,.3g} GB are allowed"
        if needed <= allowed:
            what = f"{self.steps:.2g} operations"
        raise TooLarge(f"An exact answer needs {what}: {why}")


def make_layout(
    g: Gaussians,
    cards: np.ndarray,
    codes: np.ndarray,
    seen: np.ndarray,
    relevant: np.ndarray,
    targets: np.ndarray,
    last: np.ndarray,
    whole_bytes: float,
    clock: Clock,
) -> Layout:
    """Lay out the elimination of the continuous variables that matter and are hidden.

    Args:
        g: the continuous part of the model.
        cards: states of all variables of the model.
        codes: the state of each discrete variable that is observed, else -1.
        seen: marks observed continuous variables.
        relevant: marks those that matter, observed ones included.
        targets: numbers of variables that shall come last, in one clique.
        last: more variables that shall come last, each in a clique without a parent.
        whole_bytes: give every clique all discrete variables of its part, so that nothing need be mixed, if
            that takes no more memory than this.
        clock: the time of the question.
    """
    d = g.arrays
    n = g.n
    hides = (relevant != 0) & (seen == 0)
    hidden = np.flatnonzero(hides).astype(np.int32)
    vertex = np.full(n, -1, np.int64)
    vertex[hidden] = np.arange(hidden.size)
    # The scope of each density that matters: hidden continuous variables, and open discrete ones.
    owner_p = np.repeat(np.arange(n), np.diff(d.parent_at))
    owner_s = np.repeat(np.arange(n), np.diff(d.switch_at))
    keep_p = (relevant[owner_p] != 0) & hides[d.parents]
    keep_s = (relevant[owner_s] != 0) & (codes[d.switches] < 0) & (cards[d.switches] > 1)
    discrete, place = np.unique(d.switches[keep_s], return_inverse=True)
    # Links to discrete variables count only where something continuous is hidden.
    size = np.bincount(owner_p[keep_p], minlength=n) + hides
    tied = size[owner_s[keep_s]] > 0
    owners = np.concatenate([hidden, owner_p[keep_p], owner_s[keep_s][tied]]).astype(np.int64)
    members = np.concatenate([vertex[hidden], vertex[d.parents[keep_p]], hidden.size + place[tied]]).astype(
        np.int32
    )
    by_owner = np.argsort(owners, kind="stable")
    used, counts = np.unique(owners, return_counts=True)
    scope_at, scopes = starts(counts), members[by_owner]

    m = hidden.size + discrete.size
    together = vertex[targets].astype(np.int32)
    if together.size > 1 and discrete.size:
        # The joint of several is a mixture over all that any of them depends on.
        bound = scopes < hidden.size
        part = code(20.0 * scopes.size, GAUSSIAN).parts(hidden.size, scope_at, scopes)
        ours = np.isin(part, part[together])
        scope = np.repeat(np.arange(counts.size), counts)
        touched = np.isin(scope, scope[bound & ours[np.minimum(scopes, hidden.size - 1)]])
        together = np.concatenate([together, np.unique(scopes[touched & ~bound])])
    at, indices = code(20.0 * scopes.size + 1, REDUCTION).neighbours(m, scope_at, scopes, together)
    stage = np.zeros(m, np.int64)
    stage[vertex[targets]] = 1
    stage[vertex[last]] = 1
    stage[hidden.size :] = 2
    log2_cards = np.full(m, _COST)
    log2_cards[hidden.size :] = np.log2(cards[discrete])
    clock.check()
    found = _triangulated(at, indices, log2_cards, stage)
    clock.lap(TRIANGULATING)

    # Cliques that eliminate something continuous, and their parts.
    is_own = np.zeros(found.clique_vars.size, bool)
    widths = np.diff(found.clique_ptr)
    clique = np.repeat(np.arange(widths.size), widths)
    within = np.arange(found.clique_vars.size) - found.clique_ptr[:-1][clique]
    is_own = within < found.n_residual[clique]
    continuous = found.clique_vars < hidden.size
    own_all = np.bincount(clique[is_own & continuous], minlength=widths.size)
    kept = own_all > 0
    renumber = np.cumsum(kept) - 1
    free = np.bincount(clique[~is_own & continuous], minlength=widths.size)
    parent = np.where(free > 0, renumber[found.parent], -1)[kept].astype(np.int64)
    own = own_all[kept].astype(np.int64)
    n_cliques = own.size
    pick = kept[clique] & continuous
    columns = hidden[found.clique_vars[pick]]
    column_at = starts(np.bincount(renumber[clique[pick]], minlength=n_cliques))
    pick = kept[clique] & ~continuous
    axes = discrete[found.clique_vars[pick] - hidden.size].astype(np.int32)
    axis_at = starts(np.bincount(renumber[clique[pick]], minlength=n_cliques))
    if whole_bytes and axes.size:
        lengths = np.diff(axis_at)[_roots(parent)]
        all_axes = _whole(parent, axis_at, axes)
        if _bytes_of(all_axes, starts(lengths), cards, np.diff(column_at)) <= whole_bytes:
            axis_at, axes = starts(lengths), all_axes

    # Each density goes to the clique that eliminates the first of its variables.
    eliminates = np.empty(hidden.size, np.int64)
    mine = is_own & continuous
    eliminates[found.clique_vars[mine]] = renumber[clique[mine]]
    homes = np.where(scopes < hidden.size, eliminates[np.minimum(scopes, max(hidden.size - 1, 0))], n_cliques)
    home = np.minimum.reduceat(homes, scope_at[:-1]) if used.size else np.empty(0, np.int64)
    by_home = np.argsort(home, kind="stable")
    densities = used[by_home].astype(np.int32)
    density_at = starts(np.bincount(home, minlength=n_cliques))
    below = np.flatnonzero(parent >= 0)
    by_parent = np.argsort(parent[below], kind="stable")
    child_at = starts(np.bincount(parent[below], minlength=n_cliques))

    log2 = np.concatenate([[0.0], np.cumsum(np.log2(cards[axes]))])
    log2_confs = log2[axis_at[1:]] - log2[axis_at[:-1]]
    wide = np.diff(column_at)
    sent = wide - own
    about = np.exp2(np.minimum(log2_confs, 1000.0))
    rows_in = np.diff(density_at) + np.bincount(parent[below], sent[below], minlength=n_cliques)
    each = np.where(parent < 0, _TABLE_BYTES, 16.0)
    bytes_inward = float((about * (8.0 * own * (wide + 1) + 9.0 * sent * (sent + 3) + each)).sum())
    bytes_outward = float((about * 8.0 * wide * (wide + 2)).sum())
    steps = float((about * wide * (wide + 1) * (rows_in + 1)).sum())
    top = int(np.argmax(log2_confs)) if n_cliques else -1
    fits = log2_confs.max(initial=0.0) < _MOST_LOG2 and bytes_inward < 2.0**45
    confs = np.rint(about).astype(np.int64) if fits else np.zeros(n_cliques, np.int64)

    plain = np.flatnonzero((relevant != 0) & (size == 0)).astype(np.int32)
    is_plain = np.zeros(n, bool)
    is_plain[plain] = True
    chosen = keep_s & is_plain[owner_s]
    plain_axis_at = starts(np.bincount(owner_s[chosen], minlength=n)[plain])
    plain_axes = d.switches[chosen]
    plain_log2 = np.concatenate([[0.0], np.cumsum(np.log2(cards[plain_axes]))])
    plain_confs = np.rint(np.exp2(plain_log2[plain_axis_at[1:]] - plain_log2[plain_axis_at[:-1]]))
    tree = StrongTree(
        parent=parent,
        own=own,
        column_at=column_at,
        columns=columns,
        axis_at=axis_at,
        axes=axes,
        density_at=density_at,
        densities=densities,
        child_at=child_at,
        children=below[by_parent].astype(np.int32),
        log_at=starts(confs),
        row_at=starts(confs * own * (wide + 1)),
        kind_at=starts(confs * own),
        sent_at=starts(confs * sent * (sent + 3)),
        sent_kind_at=starts(confs * sent),
        mean_at=starts(confs * wide),
        cov_at=starts(confs * wide * wide),
    )
    return Layout(
        tree=tree,
        cards=cards,
        hidden=hidden,
        barren=g.order[relevant[g.order] == 0],
        plain=plain,
        plain_axis_at=plain_axis_at,
        plain_axes=plain_axes,
        plain_log_at=starts(plain_confs.astype(np.int64)),
        most_rows=int(rows_in.max(initial=0)),
        most_columns=int(wide.max(initial=0)),
        log2_largest=float(log2_confs[top]) if top >= 0 else 0.0,
        largest=tuple(axes[axis_at[top] : axis_at[top + 1]].tolist()) if top >= 0 else (),
        bytes_inward=bytes_inward if fits else np.inf,
        bytes_outward=bytes_outward,
        steps=steps,
    )


def _triangulated(
    at: np.ndarray, indices: np.ndarray, log2_cards: np.ndarray, stage: np.ndarray
) -> Triangulation:
    """A tree of small cliques, stage after stage.

    On large graphs the search for staged orders may give up. An order without stages is had even then, and
    moving the last ones to its end makes its cliques larger by no more than these.
    """
    found = triangulate(at, indices, log2_cards, stage=stage, effort=0.0)
    if stage.any() and stage.size > _LARGE:
        free = triangulate(at, indices, log2_cards, effort=0.0)
        order = free.order[np.argsort(stage[free.order], kind="stable")]
        moved = triangulate(at, indices, log2_cards, order=order)
        if moved.log2_total < found.log2_total:
            return moved
    return found


def combinations(log2: float) -> str:
    """How many there are, as people write it."""
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
    """About what the rows and moments of all cliques take."""
    if axes.size < axis_at[-1]:
        return np.inf
    log2 = np.concatenate([[0.0], np.cumsum(np.log2(cards[axes]))])
    about = np.exp2(np.minimum(log2[axis_at[1:]] - log2[axis_at[:-1]], 1000.0))
    return float((about * 16.0 * wide * (wide + 2)).sum())
