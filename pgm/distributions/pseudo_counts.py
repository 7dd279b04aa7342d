"""Priors that are pseudo-counts, and what every prior of a node can do."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from pgm.errors import InvalidArgument, InvalidStructure, listed, shown
from pgm.printing import html_text


class Printed:
    """Named parameters, as printing, comparison and files use them."""

    fields: ClassVar[tuple[str, ...]]  # its parameters, as its constructor names them

    def to_dict(self) -> dict[str, Any]:
        """Its parameters by name, as plain Python objects."""
        return {name: np.asarray(getattr(self, name)).tolist() for name in self.fields}

    def _repr_html_(self) -> str:
        return html_text(repr(self))

    def __eq__(self, other: object) -> bool:
        """Whether all parameters are equal, up to rounding in the last digits."""
        if type(self) is not type(other):
            return NotImplemented
        pairs = [(np.asarray(getattr(self, f)), np.asarray(getattr(other, f))) for f in self.fields]
        return all(a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=1e-300) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


class Prior(Printed):
    """A prior distribution of parameters."""

    kind: ClassVar[str]  # its name in files


class PseudoCounts(Prior):
    """A prior given as pseudo-counts: how many rows it is worth for each configuration."""

    def pseudo(self, node: str, cpd: Any) -> Any:
        """Return statistics of such rows for a local distribution; None if it says nothing about it."""
        raise NotImplementedError


class Conjugate:
    """A prior of a density, whose posterior is of the same form."""

    def takes(self, cpd: Any) -> bool:
        """Whether it is a prior of this local distribution."""
        raise NotImplementedError

    def fitted(self, cpd: Any, statistics: Any, mode: bool) -> Any:
        """Return the local distribution at the mean or the mode of the posterior."""
        raise NotImplementedError

    def log_prior(self, cpd: Any) -> float:
        """Return the logarithm of the density of these parameters."""
        raise NotImplementedError

    def rows_of(self, statistics: Any) -> Any:
        """Return the posterior of each row of the density."""
        raise NotImplementedError


class BDeu(PseudoCounts):
    """Dirichlet priors worth `rows` rows in all, spread evenly over each table (Heckerman & al. 1995).

    Equivalent networks then have equal scores. For a table with q rows of r states each entry gets
    rows / (q r).

    Args:
        rows: the equivalent sample size.

    Raises:
        InvalidArgument: it is not a number greater than 0.

    >>> BDeu(8)
    BDeu(8)
    """

    kind = "bdeu"
    fields = ("rows",)

    def __init__(self, rows: float = 1.0) -> None:
        """Take a positive number."""
        self.rows = positive("rows", rows)

    def pseudo(self, node: str, cpd: Any) -> Any:
        """Return the same pseudo-count for each entry of a table."""
        if not cpd.tabular:
            return None
        return np.full(cpd.values.shape, self.rows / cpd.values.size)

    def __repr__(self) -> str:
        return f"BDeu({self.rows:g})"


class Laplace(PseudoCounts):
    """A row added for each entry of a table: with 1 the uniform prior over each row (Laplace, K2).

    Args:
        count: how many rows; 0.5 is the prior of Jeffreys for a row.

    Raises:
        InvalidArgument: it is not a number greater than 0.

    >>> Laplace()
    Laplace(1)
    """

    kind = "laplace"
    fields = ("count",)

    def __init__(self, count: float = 1.0) -> None:
        """Take a positive number."""
        self.count = positive("count", count)

    def pseudo(self, node: str, cpd: Any) -> Any:
        """Return the same pseudo-count for each entry of a table."""
        if cpd.tabular:
            return np.full(cpd.values.shape, self.count)
        return None

    def __repr__(self) -> str:
        return f"Laplace({self.count:g})"


class Expert(PseudoCounts):
    """The parameters of an expert's network as a prior that is worth this many rows.

    Each table of the network becomes Dirichlet priors, whose pseudo-counts are `rows` times the joint
    probability of an entry's configuration: where the network finds it likely, the prior is stronger.

    Args:
        network: a network with these variables and arrows, with all its parameters.
        rows: how many rows the network is worth.

    Raises:
        InvalidArgument: it is not a network, or the rows are not a number greater than 0.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.2)
    >>> Expert(net, rows=10)
    Expert(a network of 1 node, rows=10)
    """

    kind = "expert"
    fields = ("rows",)

    def __init__(self, network: Any, rows: float = 1.0) -> None:
        """Take a network and a positive number."""
        if not hasattr(network, "expected_counts"):
            raise InvalidArgument(f"A prior network is a pgm.BayesianNetwork, not {shown(network)}.")
        self.network, self.rows = network, positive("rows", rows)
        self._counts: dict[str, Any] | None = None

    def pseudo(self, node: str, cpd: Any) -> Any:
        """Return expected statistics of this many rows of the network."""
        if self._counts is None:
            self._counts = self.network.expected_counts()
        other = self.network.cpd(node) if node in self._counts else None
        if other is None:
            raise InvalidArgument(f"The prior network says nothing about {node!r}.")
        mine, theirs = (*cpd.given, cpd.child), (*other.given, other.child)
        if set(cpd.parents) != set(other.parents):
            raise InvalidStructure(
                f"{node!r} has other parents in the prior network, {listed(other.parents) or 'none'}, than "
                f"in the one being fitted, {listed(cpd.parents) or 'none'}."
            )
        by_name = {v.name: v for v in theirs}
        for v in mine:
            if v.continuous != by_name[v.name].continuous or set(v.states) != set(by_name[v.name].states):
                raise InvalidStructure(
                    f"{v.name!r} has other states in the prior network, {listed(by_name[v.name].states)}, "
                    f"than in the one being fitted, {listed(v.states)}."
                )
        counts = self._counts[node]
        if isinstance(counts, np.ndarray) and cpd.tabular:
            order = [[v.name for v in theirs].index(v.name) for v in mine]
            places = [[by_name[v.name].code(state) for state in v.states] for v in mine]
            return self.rows * counts.transpose(order)[np.ix_(*places)]
        if type(other) is not type(cpd) or mine != theirs:
            raise InvalidStructure(
                f"{node!r} has another kind of distribution in the prior network, or its parents or states "
                "in another order."
            )
        if isinstance(counts, np.ndarray):  # of a distribution that is stored as one table
            counts = other.statistics(counts)
        return times(counts, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The network, and how many rows it is worth."""
        return {"network": self.network, "rows": self.rows}

    def __eq__(self, other: object) -> bool:
        """Whether the networks and the rows are equal."""
        return super().__eq__(other) and self.network == getattr(other, "network", None)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        count = len(self.network)
        return f"Expert(a network of {count:,} node{'s' * (count != 1)}, rows={self.rows:g})"


def times(statistics: Any, factor: float) -> Any:
    """Statistics of rows, each of which counts this many times.

    >>> times(np.ones(2), 0.5).tolist()
    [0.5, 0.5]
    """
    if isinstance(statistics, np.ndarray):
        return statistics * factor
    if hasattr(statistics, "seen"):
        return times(statistics.seen, factor) + times(statistics.counted, factor)
    scaled = {
        name: value * factor if name in ("weight", "weights", "scatter", "values") else value
        for name, value in ((f, getattr(statistics, f)) for f in statistics.__dataclass_fields__)
    }
    return type(statistics)(**scaled)


def positive(name: str, number: Any) -> float:
    """The value, if it is finite and greater than zero.

    >>> positive("rows", 2)
    2.0
    """
    if isinstance(number, bool) or not isinstance(number, int | float | np.number):
        raise InvalidArgument(f"{name}= is a number greater than 0, not {shown(number)}.")
    found = float(number)
    if not 0.0 < found < np.inf:
        raise InvalidArgument(f"{name}= is a number greater than 0, not {shown(number)}.")
    return found


def tail_of(level: float) -> float:
    """The probability on each side of an interval of this level.

    >>> tail_of(0.5)
    0.25
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0.0 < level < 1.0:
        raise InvalidArgument(f"The level of an interval is between 0 and 1, not {shown(level)}.")
    return (1.0 - level) / 2.0


def short(values: Any) -> str:
    """Values as text for print, as a list.

    >>> short([1, 0.5])
    '[1, 0.5]'
    """
    array = np.asarray(values)
    if array.ndim == 0:
        return f"{float(array):.12g}"
    return "[" + ", ".join(map(short, array)) + "]"


NAMED: dict[str, Any] = {"bdeu": BDeu, "laplace": Laplace, "k2": Laplace}
