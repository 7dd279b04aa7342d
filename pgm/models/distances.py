"""How far one network is from another: as distributions, as structures, and in their causal claims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.cpds.table_input import check_cells
from pgm.errors import InvalidArgument, InvalidStructure, listed, shown
from pgm.graphs import compare
from pgm.graphs.members import intervention_distance, is_independence_map
from pgm.printing import ROWS, Tabular, html_table, joined, label, text_table
from pgm.results.base import Frozen, pandas, put
from pgm.runtime.clock import start_clock

from .bayesian_network import BayesianNetwork

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CELLS = 1 << 20  # of the joint: up to here it is enumerated


class Distance(Frozen, Tabular):
    """How far network a is from network b.

    `kl` is KL(a || b) in nats, `kl_back` KL(b || a); `by_node` has the contribution of each node to the
    first, which may be negative where parents differ. `hellinger` and `total_variation` are pairs (least,
    most), the same number twice where the joint is small enough to be enumerated (`exact`). `shd` counts arcs
    that differ, `shd_cpdag` those of the CPDAGs; `sid` pairs (x, y) for which the parents that a claims of x
    give a wrong P(y | do(x)) if b is right (`pgm.compare` has it for CPDAGs too); `i_map` says whether all
    independences that a claims hold in b.
    """

    __slots__ = (
        "by_node",
        "exact",
        "hellinger",
        "i_map",
        "kl",
        "kl_back",
        "shd",
        "shd_cpdag",
        "sid",
        "total_variation",
    )
    kl: float
    kl_back: float
    by_node: dict[str, float]
    hellinger: tuple[float, float]
    total_variation: tuple[float, float]
    exact: bool
    shd: int
    shd_cpdag: int
    sid: int
    i_map: bool

    def __init__(self, **parts: Any) -> None:
        """Take what was found."""
        for name in Distance.__slots__:
            put(self, name, parts[name])

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts."""
        return _again, ({name: getattr(self, name) for name in Distance.__slots__},)

    def to_dict(self) -> dict[str, Any]:
        """All of it by name."""
        return {name: getattr(self, name) for name in Distance.__slots__}

    def to_pandas(self) -> Any:
        """A data frame with the contribution of each node to KL(a || b)."""
        return pandas().DataFrame(list(self.by_node.items()), columns=["node", "kl"])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the contribution of each node to KL(a || b), the largest first; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title; the divergence if left out.
        """
        from pgm import plot

        most = [item for item in self._ranked() if item[1] and math.isfinite(item[1])][:ROWS]
        labels, values = [name for name, _ in most], [value for _, value in most]
        head = f"KL(a || b) = {self.kl:.6g} nats: what each node adds"
        if without := [name for name, value in self.by_node.items() if not math.isfinite(value)]:
            head += f", {joined(without, len(without), 60)} without end"
        return plot.contributions(labels, values, [0.0] * len(most), head, ax, figsize=figsize, title=title)

    def _ranked(self) -> list[tuple[str, float]]:
        return sorted(self.by_node.items(), key=lambda item: -abs(item[1]))

    def _lines(self) -> list[list[str]]:
        def ends(pair: tuple[float, float]) -> str:
            low, high = pair
            return f"{low:.6f}" if low == high else f"between {low:.6f} and {high:.6f}"

        return [
            ["KL(a || b)", f"{self.kl:.6f} nats"],
            ["KL(b || a)", f"{self.kl_back:.6f} nats"],
            ["Hellinger", ends(self.hellinger)],
            ["total variation", ends(self.total_variation)],
            ["arcs that differ", f"{self.shd:,} (SHD), {self.shd_cpdag:,} of the CPDAGs"],
            ["wrong effects", f"{self.sid:,} (SID)"],
            [
                "I-map",
                "a claims no independence that b has not" if self.i_map else "a claims more than b has",
            ],
        ]

    def _nodes(self) -> list[list[str]]:
        return [[label(name), f"{value:+.6f}"] for name, value in self._ranked()[:ROWS] if value]

    def __repr__(self) -> str:
        """As a table, and below it the nodes that contribute most."""
        text = text_table(["distance", ""], self._lines())
        nodes = self._nodes()
        return text if not nodes else f"{text}\n\n{text_table(['node', 'adds to KL(a || b)'], nodes)}"

    def _repr_html_(self) -> str:
        text = html_table(["distance", ""], self._lines())
        nodes = self._nodes()
        return text if not nodes else text + html_table(["node", "adds to KL(a || b)"], nodes)


def _again(parts: dict[str, Any]) -> Distance:
    return Distance(**parts)


@guarded
def distance(a: BayesianNetwork, b: BayesianNetwork) -> Distance:
    """Measure how far network a is from network b.

    Divergences come from the posteriors of families, so they are exact for networks of any size that exact
    inference fits. Hellinger and total variation are exact where the joint has at most 2**20 entries, else
    bounds: from below by families, from above by the divergences (Bretagnolle & Huber 1979).

    Args:
        a: a Bayesian network.
        b: another one of the same variables and states.

    Raises:
        InvalidStructure: other variables, or other states.
        InvalidArgument: one of them is not a Bayesian network, or has continuous variables.

    >>> import pgm
    >>> a, b = pgm.BayesianNetwork(), pgm.BayesianNetwork()
    >>> for net, p in ((a, 0.5), (b, 0.25)):
    ...     net.add("rain", p)
    >>> pgm.distance(a, b)
    distance
    KL(a || b)        0.143841 nats
    KL(b || a)        0.130812 nats
    Hellinger         0.184592
    total variation   0.250000
    arcs that differ  0 (SHD), 0 of the CPDAGs
    wrong effects     0 (SID)
    I-map             a claims no independence that b has not
    <BLANKLINE>
    node  adds to KL(a || b)
    rain  +0.143841
    """
    for net, which in ((a, "first"), (b, "second")):
        if not isinstance(net, BayesianNetwork):
            raise InvalidArgument(f"distance takes two Bayesian networks; the {which} is {shown(net)}.")
        if real := [name for name, v in net.variables.items() if v.continuous]:
            raise InvalidArgument(
                f"distance is between discrete distributions; {listed(real)} is continuous."
            )
    found = compare(a, b)  # raises if they have other nodes
    for name, variable in a.variables.items():
        if variable.states != b.variables[name].states:
            raise InvalidStructure(
                f"{name!r} has the states {listed(variable.states)} in the first network and "
                f"{listed(b.variables[name].states)} in the second."
            )
    ahead, marginal_a = _divergence(a, b)
    back, _ = _divergence(b, a)
    kl, kl_back = max(0.0, math.fsum(ahead.values())), max(0.0, math.fsum(back.values()))
    names = list(a.variables)
    exact = math.prod(v.card for v in a.variables.values()) <= MOST_CELLS
    if exact:
        p, q = np.asarray(a.query(names).values), np.asarray(b.query(names).values)
        hellinger, variation = ((value, value) for value in _apart(p, q))
    else:
        least = [0.0, 0.0]
        for family, p in marginal_a.items():
            q = np.asarray(b.query(list(family)).values)
            least = [max(old, new) for old, new in zip(least, _apart(p, q), strict=True)]
        smaller = min(kl, kl_back)
        hellinger = least[0], math.sqrt(-math.expm1(-smaller / 2.0))
        variation = least[1], min(math.sqrt(smaller / 2.0), math.sqrt(-math.expm1(-smaller)))
    place = {name: i for i, name in enumerate(names)}
    mine, theirs = ([{place[p] for p in net.parents(name)} for name in names] for net in (a, b))
    return Distance(
        kl=kl,
        kl_back=kl_back,
        by_node=ahead,
        hellinger=hellinger,
        total_variation=variation,
        exact=exact,
        shd=found.shd,
        shd_cpdag=found.shd_cpdag,
        sid=intervention_distance(mine, theirs),
        i_map=is_independence_map(mine, theirs),
    )


def _divergence(
    a: BayesianNetwork, b: BayesianNetwork
) -> tuple[dict[str, float], dict[tuple[str, ...], np.ndarray]]:
    """The contribution of each node to KL(a || b), and the requested marginals of a."""
    clock = start_clock()
    marginals: dict[tuple[str, ...], np.ndarray] = {}

    def expected_log(net: BayesianNetwork, name: str) -> float:
        family = (*net.parents(name), name)
        if family not in marginals:
            clock.check("comparing families")
            cards = [a.variables[v].card for v in family]
            check_cells(cards, f"The table of {name!r} and its parents", "compare smaller networks")
            marginals[family] = np.asarray(a.query(list(family)).values)
        weight, table = marginals[family], net.cpd(name).table()
        used = weight > 0.0
        if (table[used] == 0.0).any():
            return -math.inf
        return float((weight[used] * np.log(table[used])).sum())

    return {name: expected_log(a, name) - expected_log(b, name) for name in a.variables}, marginals


def _apart(p: np.ndarray, q: np.ndarray) -> tuple[float, float]:
    """Hellinger distance and total variation of two arrays."""
    hellinger = math.sqrt(0.5 * float(((np.sqrt(p) - np.sqrt(q)) ** 2).sum()))
    return min(1.0, hellinger), min(1.0, 0.5 * float(np.abs(p - q).sum()))
