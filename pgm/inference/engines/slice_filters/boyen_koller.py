"""The interface as a product of clusters, whose dependence is dropped after each step.

Boyen & Koller (1998): the error does not grow with time, because each step contracts earlier errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgm.inference.engines.interface.log_tables import Piece, Scope, logs_of, onto
from pgm.inference.engines.interface.observed_rows import ObservedRows
from pgm.inference.engines.interface.passes import ImpossibleRow, tree_beliefs
from pgm.inference.engines.interface.slice_layout import SliceLayout
from pgm.runtime.clock import Clock

_ROWS = 4096  # whose evidence is laid out at once


def assumed_density(
    layout: SliceLayout, data: ObservedRows, wanted: Sequence[int], clock: Clock
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate P(variable | rows up to this one), a column for each state, log P(row | rows before)."""
    places = [layout.template.at[v] for v in wanted]
    into = [_bucket(layout, scope) for scope, _ in layout.clusters]
    out = [_bucket(layout, scope) for _, scope in layout.clusters]
    needed = {*out, *(layout.bucket_of[p] for p in places)}
    values = np.empty((data.n, sum(layout.cards[p] for p in places)))
    shares = np.empty(data.n)
    tables: list[np.ndarray] = []
    for a in range(0, data.n, _ROWS):
        b = min(a + _ROWS, data.n)
        code, rows = data.patterns(layout.template, a, b)
        pieces = data.pieces(layout, rows)
        for t in range(a, b):
            clock.check("passing messages along steps")
            if data.begins[t]:
                tables = [_first(layout, scope) for scope, _ in layout.clusters]
            entering: dict[int, list[Piece]] = {}
            for bucket, (scope, _), table in zip(into, layout.clusters, tables, strict=True):
                entering.setdefault(bucket, []).append((scope, table))
            which = code[t - a : t - a + 1]
            own = [(s, p if p.shape[0] == 1 else p[which]) for s, p in pieces]
            beliefs = tree_beliefs(layout, own, entering, needed)
            total = float(beliefs[len(layout.buckets) - 1].reshape(-1)[0])
            if total == -np.inf:
                raise ImpossibleRow(t)
            shares[t] = total
            tables = [
                onto((layout.buckets[bucket].scope, beliefs[bucket]), scope) - total
                for bucket, (_, scope) in zip(out, layout.clusters, strict=True)
            ]
            at = 0
            for p in places:
                bucket = layout.bucket_of[p]
                own_share = np.exp(onto((layout.buckets[bucket].scope, beliefs[bucket]), (p,))[0] - total)
                values[t, at : at + own_share.size] = own_share / own_share.sum()
                at += own_share.size
    return values, shares


def _bucket(layout: SliceLayout, scope: Scope) -> int:
    """The bucket that contains a whole cluster: that of its first variable to be summed out."""
    return min(layout.bucket_of[p] for p in scope)


def _first(layout: SliceLayout, scope: Scope) -> np.ndarray:
    """A cluster before the first step: log 1 where all but static variables are in their first state."""
    template = layout.template
    found = np.zeros([layout.cards[p] for p in scope])
    fixed = {template.at[v] for v, static in enumerate(template.static) if static}
    found[tuple(slice(None) if p in fixed else 0 for p in scope)] = 1.0
    return logs_of(found)[np.newaxis]
