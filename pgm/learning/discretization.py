"""Continuous values cut into states: by width, by quantiles, around means, or to separate classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidFrame, listed, nearest, shown
from pgm.frames import domains_of, is_rows, names_of, real_columns
from pgm.frames.reading import columns
from pgm.runtime.clock import in_one_time, start_clock
from pgm.variables import REAL, Bins, Variable

METHODS = ("quantile", "width", "k-means", "mdlp")
_STEPS = 300  # of k-means
_MANY = 1000  # bins that may be asked for even where there are fewer values


@guarded
@in_one_time
def discretize(
    data: Any,
    method: str = "quantile",
    bins: int | None = None,
    *,
    target: str | None = None,
    columns: Any = None,
) -> Any:
    """Return bins to discretise columns with: `pgm.Bins` of one column, or {name: Bins} of a frame.

    They are states like any other: `net.fit(frame, states=pgm.discretize(frame))` keeps them in the network,
    which then reads floats. The first and the last bin are unbounded, so that every value falls into one.

    Args:
        data: a list or array of floats, or a data frame, whose float columns are cut.
        method: "quantile", equal counts of rows; "width", equally wide; "k-means", around the means of
            clusters; "mdlp", where the target's states change, as long as a cut pays for its description
            (Fayyad & Irani 1993).
        bins: how many, 4 if left out; "mdlp" finds out by itself.
        target: for "mdlp" the column of the classes.
        columns: which columns of the frame; left out: those of floats.

    Raises:
        InvalidArgument: the method is unknown, or an option is out of range or has no effect.
        InvalidFrame: a column is missing, has no value, or has the same value in every row.
        OutOfTime: the time limit is reached.

    >>> discretize([1.0, 2.0, 3.0, 10.0], "width", 2)
    Bins(edges=(-inf, 5.5, inf))
    >>> discretize({"x": [0.5, 2.0, 3.0, 9.5], "c": ["a", "a", "b", "b"]}, bins=2)
    {'x': Bins(edges=(-inf, 2.5, inf))}
    """
    if method not in METHODS:
        raise InvalidArgument(
            f"method= is {' or '.join(map(repr, METHODS))}, not {shown(method)}.{nearest(method, METHODS)}"
        )
    if method == "mdlp":
        if bins is not None:
            raise InvalidArgument('bins= has no effect: "mdlp" finds out by itself how many to make.')
        if target is None:
            raise InvalidArgument('"mdlp" cuts where classes change: name their column, target="...".')
    elif target is not None:
        raise InvalidArgument('target= has no effect: only "mdlp" uses classes.')
    count = 4 if bins is None else bins
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
        raise InvalidArgument(f"bins= is a whole number of at least 2, not {shown(bins)}.")
    if not _is_frame(data):
        if target is not None or columns is not None:
            raise InvalidArgument("target= and columns= are for data frames; this is one column.")
        return _cut("the column", _columns({"x": data}, ["x"])["x"], method, int(count), None)
    names = _names(data, target, columns)
    values = _columns(data, names)
    classes = None if target is None else _classes(data, target)
    return {name: _cut(f"column {name!r}", values[name], method, int(count), classes) for name in names}


def _is_frame(data: Any) -> bool:
    if isinstance(data, Mapping):
        return True
    if isinstance(data, list | tuple):
        return bool(data) and isinstance(data[0], Mapping)
    if isinstance(data, np.ndarray):
        return data.dtype.names is not None
    return is_rows(data) and bool(list(names_of(data)))


def _names(data: Any, target: str | None, columns: Any) -> list[str]:
    there = [name for name in names_of(data) if isinstance(name, str)]
    if target is not None and target not in there:
        raise InvalidFrame(f"The frame has no column {shown(target)}.{nearest(target, there)}")
    if columns is None:
        found = []
        for name in there:
            if name == target:
                continue
            try:
                if domains_of(data, [name])[name] is REAL:
                    found.append(name)
            except InvalidFrame:  # whole numbers as floats, or nothing that has an order: not cut unasked
                continue
        if not found:
            raise InvalidFrame(
                f"No column holds floats: {listed(there)}. Name those to be cut, columns=[...]."
            )
        return found
    if isinstance(columns, Mapping) or not isinstance(columns, Iterable):
        raise InvalidArgument(f"columns= lists names of columns, not {shown(columns)}.")
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if name not in there:
            raise InvalidFrame(f"The frame has no column {shown(name)}.{nearest(name, there)}")
    return names


def _columns(data: Any, names: list[str]) -> dict[str, np.ndarray]:
    return real_columns(data, {name: Variable(name, REAL) for name in names}).values


def _classes(data: Any, target: str) -> np.ndarray:
    domain = domains_of(data, [target])[target]
    if domain is REAL:
        raise InvalidFrame(f"The target {target!r} is continuous, and classes are needed.")
    return columns(data, {target: Variable.of(target, domain)}).codes[target]


def bins_of(
    values: np.ndarray, method: str, count: int, classes: np.ndarray | None, weights: np.ndarray
) -> Bins:
    """Return bins for weighted values, NaN where missing; a single bin if all values are equal.

    >>> bins_of(np.array([1.0, 2.0, 8.0, 9.0]), "mdlp", 0, np.array([0, 0, 1, 1]), np.full(4, 5.0))
    Bins(edges=(-inf, 5.0, inf))
    """
    known = values[~np.isnan(values)]
    if known.min() == known.max():
        return Bins([-np.inf, np.inf])
    return _cut("the column", values, method, count, classes, weights)


def _cut(
    what: str,
    values: np.ndarray,
    method: str,
    count: int,
    classes: np.ndarray | None,
    weights: np.ndarray | None = None,
) -> Bins:
    there = ~np.isnan(values)
    if classes is not None:
        there &= classes >= 0
        classes = classes[there]
    known = values[there]
    shares = np.ones(known.size) if weights is None else weights[there]
    if known.size == 0:
        raise InvalidFrame(f"{what} has no value.")
    low, high = float(known.min()), float(known.max())
    if count > max(known.size, _MANY):
        raise InvalidArgument(f"bins= is {count:,}, and {what} has {known.size:,} values: ask for fewer.")
    if low == high:
        raise InvalidFrame(f"In {what} every value is {low:g}: there is nothing to cut.")
    if method == "width":
        cuts = np.linspace(low, high, count + 1)[1:-1]
    elif method == "quantile":
        cuts = np.unique(_quantiles(known, np.arange(1, count) / count, None if weights is None else shares))
        cuts = cuts[(cuts > low) & (cuts <= high)]
    elif method == "k-means":
        cuts = _between_means(known, count, shares)
    else:
        assert classes is not None
        cuts = _by_description_length(known, classes, shares)
    return Bins([-np.inf, *cuts.tolist(), np.inf])


def _quantiles(values: np.ndarray, at: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Quantiles at these shares.

    With weights: half-way between the first value whose cumulative weight reaches the share and the next.
    """
    if weights is None:
        return np.asarray(np.quantile(values, at))
    levels, places = np.unique(values, return_inverse=True)
    below = np.cumsum(np.bincount(places, weights)) / weights.sum()
    first = np.searchsorted(below, at - 1e-12)
    return np.asarray((levels[first] + levels[np.minimum(first + 1, levels.size - 1)]) / 2.0)


def _between_means(values: np.ndarray, count: int, shares: np.ndarray) -> np.ndarray:
    """Cut half-way between the means of clusters, which start at the centres of equally wide bins."""
    levels, places = np.unique(values, return_inverse=True)
    weights = np.bincount(places, shares)
    edges = np.linspace(levels[0], levels[-1], count + 1)
    means = (edges[1:] + edges[:-1]) / 2.0
    for _ in range(_STEPS):
        cuts = (means[1:] + means[:-1]) / 2.0
        which = np.searchsorted(cuts, levels, side="right")
        total = np.bincount(which, weights, minlength=means.size)
        sums = np.bincount(which, weights * levels, minlength=means.size)
        new = (sums / np.where(total > 0, total, 1.0))[total > 0]
        if new.size == means.size and np.array_equal(new, means):
            break
        means = new
    return np.asarray((means[1:] + means[:-1]) / 2.0)


def _by_description_length(values: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Cuts, each the best of its interval by entropy, that pay for their own description."""
    order = np.argsort(values, kind="stable")
    x, c = values[order], classes[order]
    hot = np.zeros((x.size + 1, int(c.max()) + 1))
    hot[1:][np.arange(x.size), c] = weights[order]
    sums = np.cumsum(hot, axis=0)
    total = sums.sum(axis=1)
    cuts: list[float] = []
    left = [(0, x.size)]
    clock = start_clock()
    while left:
        clock.check("cutting a column")
        begin, end = left.pop()
        places = begin + 1 + np.flatnonzero(x[begin + 1 : end] > x[begin : end - 1])
        if not places.size:
            continue
        n, whole = float(total[end] - total[begin]), sums[end] - sums[begin]
        below, above = sums[places] - sums[begin], sums[end] - sums[places]
        n1, n2 = total[places] - total[begin], total[end] - total[places]
        e1, e2, e = _entropy(below), _entropy(above), float(_entropy(whole[None])[0])
        gain = e - (n1 * e1 + n2 * e2) / n
        best = int(gain.argmax())
        k, k1, k2 = (int((part > 0).sum()) for part in (whole, below[best], above[best]))
        cost = math.log2(max(n - 1.0, 1.0)) + math.log2(3**k - 2) - (k * e - k1 * e1[best] - k2 * e2[best])
        if gain[best] <= cost / n:
            continue
        at = int(places[best])
        cuts.append(float((x[at - 1] + x[at]) / 2.0))
        left += [(begin, at), (at, end)]
    return np.unique(cuts)


def _entropy(counts: np.ndarray) -> np.ndarray:
    """The entropy of each row of counts, in bits."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-np.where(shares > 0.0, shares * np.log2(shares), 0.0).sum(axis=1))
