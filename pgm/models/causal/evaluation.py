"""The value of a formula: tables with an axis for each name, multiplied, divided and summed out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, InvalidFrame, UnknownVariable, listed
from pgm.graphs.formulas import Formula, P, Product, Ratio, Sum
from pgm.learning.counts import Counts
from pgm.models.bayesian_network import BayesianNetwork
from pgm.models.structure_data import read_columns
from pgm.variables import Variable


class Source(Protocol):
    """Where the probabilities of observed variables come from."""

    variables: Mapping[str, Variable]

    def joint(self, names: tuple[str, ...]) -> np.ndarray:
        """P(names), an axis for each."""
        ...


class NetworkSource:
    """A Bayesian network, which may have other, hidden variables too."""

    rows = 0

    def __init__(self, net: BayesianNetwork, names: Iterable[str]) -> None:
        for name in names:
            if name not in net:
                raise UnknownVariable(name, net.nodes, where="The network")
        self.net, self.variables = net, net.variables
        if real := [name for name in names if self.variables[name].continuous]:
            raise InvalidArgument(
                f"{listed(real)}: a formula is evaluated over states; `estimate` of the graph, with "
                "method='doubly-robust' or 'two-stage', takes continuous variables from a frame."
            )

    def joint(self, names: tuple[str, ...]) -> np.ndarray:
        """The marginal of these variables in the network."""
        found: np.ndarray = np.asarray(self.net.query(list(names)).values)
        return found


class FrameSource:
    """Rows of data, whose relative frequencies estimate the probabilities."""

    def __init__(self, frame: Any, names: Sequence[str], declared: Mapping[str, Variable] | None = None):
        read = read_columns(frame, columns=list(names), declared=declared)
        self.variables = read.variables
        self.names = list(names)
        if real := [name for name in names if self.variables[name].continuous]:
            raise InvalidArgument(
                f"{listed(real)}: a formula needs the frequencies of states; pgm.discretize cuts continuous "
                "columns into states, and `estimate` of the graph, with method='doubly-robust' or "
                "'two-stage', takes them as they are."
            )
        codes = [read.data[name] for name in names]
        if gaps := [name for name, column in zip(names, codes, strict=True) if (column < 0).any()]:
            raise InvalidFrame(
                f"{listed(gaps)}: cells are missing, and whether they are may depend on the causes. Fit a "
                "network (`fit` takes gaps) and evaluate the formula on that, or leave such rows out."
            )
        self.counts = Counts(codes, [self.variables[name].card for name in names])
        self.rows = self.counts.n_rows

    def joint(self, names: tuple[str, ...]) -> np.ndarray:
        """The share of the rows that have each combination."""
        return self.counts.table([self.names.index(name) for name in names]) / self.counts.total


class Labelled(NamedTuple):
    """Values with a name for each axis; NaN where a ratio is 0 / 0."""

    names: tuple[Any, ...]
    values: np.ndarray


def evaluate(formula: Formula, source: Source) -> Labelled:
    """The value of a formula for all states of its free variables."""
    return _Evaluation(source).of(formula)


class _Evaluation:
    """One formula, in which a part that occurs twice is evaluated once."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.known: dict[int, Labelled] = {}
        self.joints: dict[frozenset[str], Labelled] = {}

    def of(self, f: Formula) -> Labelled:
        found = self.known.get(id(f))
        if found is None:
            found = self.known[id(f)] = self._of(f)
        return found

    def _of(self, f: Formula) -> Labelled:
        if isinstance(f, P):
            both = self.joint(f.of + f.given)
            return both if not f.given else divided(both, self.joint(f.given))
        if isinstance(f, Ratio):
            return divided(self.of(f.top), self.of(f.bottom))
        parts = [self.of(part) for part in (f.parts if isinstance(f, Product) else _factors(f))]
        if isinstance(f, Sum):
            parts = self._summed(parts, f.over)
        return multiplied(parts)

    def _summed(self, parts: list[Labelled], over: Sequence[Any]) -> list[Labelled]:
        """Sum out the variables one by one, always the one that makes the smallest table."""
        left = list(over)

        def cells(v: Any) -> int:
            names = {
                w: n
                for part in parts
                if v in part.names
                for w, n in zip(part.names, part.values.shape, strict=False)
            }
            return math.prod(names.values())

        while left:
            v = min(left, key=cells)
            left.remove(v)
            with_v = multiplied([part for part in parts if v in part.names])
            axis = with_v.names.index(v)
            rest = tuple([w for w in with_v.names if w != v])
            parts = [part for part in parts if v not in part.names]
            parts.append(Labelled(rest, with_v.values.sum(axis=axis)))
        return parts

    def joint(self, names: tuple[str, ...]) -> Labelled:
        """P(names), asked of the source once for each set."""
        key = frozenset(names)
        if key not in self.joints:
            check_cells(
                [self.source.variables[name].card for name in names],
                f"The table of {listed(names)} in the formula",
                "identify less at a time, or use variables with fewer states",
            )
            self.joints[key] = Labelled(names, self.source.joint(names))
        return self.joints[key]


def _factors(f: Sum) -> Sequence[Formula]:
    return f.of.parts if isinstance(f.of, Product) else (f.of,)


def multiplied(parts: Sequence[Labelled]) -> Labelled:
    """The product; 0 times an undefined value is 0."""
    if not parts:
        return Labelled((), np.ones(()))
    found = parts[0]
    for part in parts[1:]:
        names = found.names + tuple([v for v in part.names if v not in found.names])
        a, b = spread(found, names), spread(part, names)
        check_cells(
            np.broadcast_shapes(a.shape, b.shape), "A table of the formula", "identify less at a time"
        )
        values = a * b
        values[np.isnan(values) & ((a == 0) | (b == 0))] = 0.0
        found = Labelled(names, values)
    return found


def divided(top: Labelled, bottom: Labelled) -> Labelled:
    """The quotient; NaN where the divisor is 0."""
    names = top.names + tuple([v for v in bottom.names if v not in top.names])
    a, b = np.broadcast_arrays(spread(top, names), spread(bottom, names))
    values = np.full(a.shape, np.nan)
    np.divide(a, b, out=values, where=b > 0.0)
    return Labelled(names, values)


def spread(part: Labelled, names: Sequence[Any]) -> np.ndarray:
    """The values with these axes, of length 1 where the part does not depend on a name."""
    order = [part.names.index(v) for v in names if v in part.names]
    shape = [part.values.shape[part.names.index(v)] if v in part.names else 1 for v in names]
    return part.values.transpose(order).reshape(shape)


def chosen(found: Labelled, y: Sequence[str], known: Mapping[str, int], source: Source) -> np.ndarray | None:
    """The distribution of y for some states; None where these never occur together.

    A formula may contain variables on which its value does not depend if the graph is right. Estimated from
    rows it does vary a little with their states: then the mean is taken, weighted by their probability.
    """
    index = tuple([known[v] if v in known else slice(None) for v in found.names])
    names = [v for v in found.names if v not in known]
    values = found.values[index]
    extra = tuple([v for v in names if v not in y])
    wanted = [*extra, *y]
    shape = [source.variables[v].card for v in wanted]
    full = np.broadcast_to(spread(Labelled(tuple(names), values), wanted), shape)
    width = math.prod(shape[: len(extra)])
    rows = full.reshape(width, *shape[len(extra) :])
    if not extra:
        return None if np.isnan(rows).any() else rows[0]
    weights = np.broadcast_to(source.joint(extra).reshape(width), width).copy()
    defined = ~np.isnan(rows.reshape(width, -1)).any(axis=1)
    weights[~defined] = 0.0
    if not weights.sum() > 0.0:
        return None
    mean: np.ndarray = np.tensordot(weights / weights.sum(), np.where(np.isnan(rows), 0.0, rows), 1)
    return mean
