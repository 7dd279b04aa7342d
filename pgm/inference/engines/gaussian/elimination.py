"""Elimination of continuous variables: tables over discrete ones, and rows for the outward pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pgm.distributions.normal import log_standard_normal
from pgm.errors import InvalidEvidence, listed
from pgm.inference.engines.gaussian.strong_tree import StrongTreeLayout
from pgm.inference.program.continuous import Densities, Gaussians
from pgm.runtime.clock import Clock
from pgm.runtime.running import GAUSSIAN, Impossible, run
from pgm.variables import Interval

REPEATED, _SOFT = 1 << 20, 1  # as in compiled.py
_LARGE = 1e7  # inner steps of the outward pass through a clique; those with more go in blocks of matrices
_BLOCK = 256  # columns of such a block


@dataclass(frozen=True, eq=False, slots=True)
class Eliminated:
    """The result of the inward pass: a table for each root clique, and the rows of every clique."""

    layout: StrongTreeLayout
    logs: np.ndarray  # one for each configuration of each clique
    orders: np.ndarray  # int64: how many exact values or repeated equations each has met
    rows: np.ndarray
    kinds: np.ndarray
    plain_logs: np.ndarray  # the same for densities with nothing hidden
    plain_orders: np.ndarray


@dataclass(frozen=True, eq=False, slots=True)
class Moments:
    """Means and covariances of cliques, for each configuration."""

    weight: np.ndarray
    mean: np.ndarray
    cov: np.ndarray


def eliminate(
    d: Densities,
    layout: StrongTreeLayout,
    digit: np.ndarray,
    seen: np.ndarray,
    value: np.ndarray,
    clock: Clock,
    *,
    maximise: bool = False,
) -> Eliminated:
    """Eliminate all continuous variables of the tree; `digit` has the states of observed discrete ones."""
    t = layout.tree
    n_confs = int(t.log_at[-1])
    made = Eliminated(
        layout,
        logs=np.empty(n_confs),
        orders=np.empty(n_confs, np.int64),
        rows=np.empty(int(t.row_at[-1])),
        kinds=np.zeros(int(t.kind_at[-1]), np.uint8),
        plain_logs=np.empty(int(layout.plain_log_at[-1])),
        plain_orders=np.empty(int(layout.plain_log_at[-1]), np.int64),
    )
    if layout.plain.size:
        GAUSSIAN.seen_logs(
            d, layout.plain, layout.plain_axis_at, layout.plain_axes, layout.cards, digit, value,
            layout.plain_log_at, made.plain_logs, made.plain_orders,
        )  # fmt: skip
    if layout.hidden.size:
        m, n = layout.most_rows, layout.most_columns
        room = (
            np.zeros((m, n + 1)),
            np.zeros(m, np.uint8),
            np.zeros(m),
            np.zeros(m),
            np.zeros(m),
            np.zeros(m, np.int64),
        )
        run(
            "inward", d, t, layout.cards, digit, seen, value, maximise, room,
            np.zeros(seen.size, np.int64), made.logs, made.orders, made.rows, made.kinds,
            np.empty(int(t.sent_at[-1])), np.zeros(int(t.sent_kind_at[-1]), np.uint8),
            steps=layout.steps, clock=clock, module=GAUSSIAN,
        )  # fmt: skip
    return made


def moments(
    made: Eliminated, which: np.ndarray, weights: Mapping[int, np.ndarray], clock: Clock, from_: int = 0
) -> Moments:
    """The first two moments of the cliques in `which`, parents first.

    Args:
        made: the result of the inward pass.
        which: the cliques.
        weights: of the configurations of each root clique.
        clock: the clock of the question.
        from_: only the variables from this index on, among those that each clique eliminates, are wanted: the
            last ones do not depend on those before.
    """
    layout, t = made.layout, made.layout.tree
    weight = np.zeros(made.logs.size)
    for c, w in weights.items():
        weight[t.log_at[c] : t.log_at[c + 1]] = w
    found = Moments(weight, np.zeros(int(t.mean_at[-1])), np.zeros(int(t.cov_at[-1])))
    begins = np.minimum(from_, t.own[which])
    sizes = np.diff(t.column_at)[which]
    large = (t.own[which] - begins) * sizes.astype(np.float64) ** 2 > _LARGE
    steps = layout.steps if not from_ else float(((t.own[which] - begins) * sizes**2).sum())
    last = 0
    for k in sorted({*large.nonzero()[0].tolist(), which.size - 1}):
        part = slice(last, k + 1)
        skip = np.where(large[part], t.own[which[part]], begins[part])
        run(
            "outward", t, which[part], skip, layout.cards, np.zeros(layout.cards.size, np.int64),
            np.zeros(int(t.columns.max(initial=0)) + 1, np.int64),
            np.zeros(layout.most_columns + 2, np.int64),
            made.rows, made.kinds, found.weight, found.mean, found.cov,
            steps=steps, clock=clock, module=GAUSSIAN,
        )  # fmt: skip
        if large[k]:
            _extend(made, int(which[k]), int(begins[k]), found, clock)
        last = k + 1
    return found


def _extend(made: Eliminated, c: int, begin: int, found: Moments, clock: Clock) -> None:
    """The same as compiled.extend, for a large clique, by matrix blocks.

    The rows say R x + S z = b + e of its own variables x and the separator's z, with noise e in soft rows. So
    x has the mean of R^-1 (b - S z), and the covariance of that plus N N', N being the soft columns of R^-1.
    """
    from scipy.linalg import solve_triangular

    t = made.layout.tree
    n, own = int(t.column_at[c + 1] - t.column_at[c]), int(t.own[c])
    for conf in range(int(t.log_at[c + 1] - t.log_at[c])):
        if found.weight[t.log_at[c] + conf] == 0.0:
            continue
        at = int(t.row_at[c]) + conf * own * (n + 1)
        rows = made.rows[at : at + own * (n + 1)].reshape(own, n + 1)[begin:]
        soft = made.kinds[int(t.kind_at[c]) + conf * own :][begin:own] == _SOFT
        at = int(t.mean_at[c]) + conf * n
        mean = found.mean[at : at + n][begin:]
        at = int(t.cov_at[c]) + conf * n * n
        cov = found.cov[at : at + n * n].reshape(n, n)[begin:, begin:]
        m = own - begin
        r, s = np.ascontiguousarray(rows[:, begin:own]), rows[:, own:n]
        mean[:m] = solve_triangular(r, rows[:, n] - s @ mean[m:], check_finite=False)
        gain = -solve_triangular(r, s, check_finite=False)
        cov[:m, m:] = gain @ cov[m:, m:]
        cov[m:, :m] = cov[:m, m:].T
        cov[:m, :m] = cov[:m, m:] @ gain.T
        for j in range(0, m, _BLOCK):
            clock.check()
            k = min(j + _BLOCK, m)
            unit = np.zeros((k, k - j))
            unit[j:k] = np.diag(soft[j:k].astype(np.float64))
            noise = solve_triangular(r[:k, :k], unit, check_finite=False)
            cov[:k, :k] += noise @ noise.T
        cov[:m, :m] += cov[:m, :m].T
        cov[:m, :m] *= 0.5


def ancestors(g: Gaussians, marked: np.ndarray) -> np.ndarray:
    """The marked variables with all continuous variables that they depend on, as flags."""
    flags = marked.astype(np.uint8)
    d = g.arrays
    GAUSSIAN.relevant(d.parent_at, d.parents, g.order, flags)
    return flags


def tables(
    made: Eliminated, extra: Mapping[int, np.ndarray]
) -> dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]]:
    """The tables that elimination leaves over the discrete variables.

    Returns for each set of them a table of logarithms, and another of how many exact values or repeated
    equations each entry has met. `extra` has logarithms to add at some root cliques.
    """
    layout, t = made.layout, made.layout.tree
    constant, constant_order = 0.0, 0
    found: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
    roots = (t.parent < 0).nonzero()[0]
    sources = (
        (roots, t.axis_at, t.axes, t.log_at, made.logs, made.orders),
        (
            np.arange(layout.plain.size),
            layout.plain_axis_at,
            layout.plain_axes,
            layout.plain_log_at,
            made.plain_logs,
            made.plain_orders,
        ),
    )
    for source, (which, axis_at, axes, log_at, logs, orders) in enumerate(sources):
        if not which.size:
            continue
        if source == 0 and extra:
            logs = logs.copy()
            for c, more in extra.items():
                logs[log_at[c] : log_at[c + 1]] += more
        lone = axis_at[which + 1] == axis_at[which]
        at = log_at[which[lone]]
        constant += float(logs[at].sum())
        constant_order += int(orders[at].sum())
        single = (axis_at[which + 1] - axis_at[which] == 1).nonzero()[0]
        for v in sorted(set(axes[axis_at[which[single]]].tolist())):
            mine = which[single][axes[axis_at[which[single]]] == v]
            places = log_at[mine][:, None] + np.arange(int(layout.cards[v]))
            _add(found, (v,), logs[places].sum(axis=0), orders[places].sum(axis=0))
        for c in which[axis_at[which + 1] - axis_at[which] > 1].tolist():
            own = axes[axis_at[c] : axis_at[c + 1]]
            order = np.argsort(own, kind="stable")
            shape = layout.cards[own]
            part = slice(int(log_at[c]), int(log_at[c + 1]))
            _add(
                found,
                tuple(own[order].tolist()),
                logs[part].reshape(shape).transpose(order),
                orders[part].reshape(shape).transpose(order),
            )
    if constant == -math.inf:
        raise Impossible
    found[()] = (np.array(constant), np.array(constant_order))
    return found


def _add(
    found: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]],
    key: tuple[int, ...],
    logs: np.ndarray,
    orders: np.ndarray,
) -> None:
    if key in found:
        before = found[key]
        found[key] = (before[0] + logs, before[1] + orders)
    else:
        found[key] = (logs, orders)


def log_inside(mean: np.ndarray, variance: np.ndarray, interval: Interval) -> np.ndarray:
    """Log probability that a normal variable lies in an interval, accurate for narrow ones and far tails."""
    from scipy.special import log_ndtr, ndtr

    sd = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (interval.lo - mean) / sd, (interval.hi - mean) / sd
        width = (interval.hi - interval.lo) / sd
        flip = a > 0  # the left tail has more digits
        a, b = np.where(flip, -b, a), np.where(flip, -a, b)
        low, high = log_ndtr(a), log_ndtr(b)
        near = np.log(np.maximum(ndtr(b) - ndtr(a), 0.0))
        far = high + np.log1p(-np.exp(np.minimum(low - high, 0.0)))
        found = np.where(b < -5.0, far, near)
        # If the two ends nearly coincide: the density at the midpoint, and its curvature.
        middle = 0.5 * (a + b)
        flat = np.log(width) + log_standard_normal(middle) + np.log1p((middle**2 - 1.0) * width**2 / 24.0)
        found = np.where(width * np.maximum(1.0, np.abs(middle)) < 1e-3, flat, found)
    inside = (mean >= interval.lo) & ((mean < interval.hi) | (interval.closed & (mean == interval.hi)))
    return np.where(sd > 0, found, np.where(inside, 0.0, -np.inf))


def refuse_repeats(names: Sequence[str]) -> InvalidEvidence:
    """The error where the evidence has no finite density."""
    return InvalidEvidence(
        f"What is given of {listed(names)} has no density: without noise (sd = 0) some of it follows from "
        "the rest. Leave that out, or give it a positive sd."
    )
