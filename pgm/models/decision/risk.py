"""Risk profiles: the distribution of the total utility."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.cpds.table_input import is_number
from pgm.errors import InvalidArgument, TooLarge, shown
from pgm.printing import Share, Tabular, number
from pgm.randomness import generator
from pgm.results.base import Result, pandas, put
from pgm.results.report import EXACT, Report

from . import utilities as worth
from .tables import sinks, used_terms

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .alternatives import Alternatives
    from .policy import Policy

_VALUES = 5_000  # distinct partial totals, at most
_CELLS = 2_000_000  # entries of one joint distribution, at most
_DRAWS = 100_000
_ROUNDING = 1e-9  # totals that differ by less, relative to the largest, count as one
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class RiskProfile(Result, Tabular):
    """The distribution of the total utility under a policy; exact, or simulated: see `.exact`.

    `values` are the possible totals in ascending order, `probabilities` their probabilities.

    >>> profile = RiskProfile(np.array([-10.0, 0.0, 50.0]), np.array([0.2, 0.3, 0.5]))
    >>> profile.mean, profile.probability_below(0), profile.quantile(0.25), profile.expected_shortfall(0.4)
    (23.0, 0.2, 0.0, -5.0)
    """

    __slots__ = ("probabilities", "report", "values")
    report: Report
    values: np.ndarray
    probabilities: np.ndarray

    def __init__(self, values: np.ndarray, probabilities: np.ndarray, report: Report = EXACT) -> None:
        """Take totals in ascending order and their probabilities."""
        for array in (values, probabilities):
            array.flags.writeable = False
        put(self, "values", values)
        put(self, "probabilities", probabilities)
        put(self, "report", report)

    @property
    def mean(self) -> float:
        """The expected utility."""
        return math.fsum(self.values * self.probabilities)

    @property
    def variance(self) -> float:
        """The variance of the total utility."""
        return math.fsum((self.values - self.mean) ** 2 * self.probabilities)

    @property
    def std(self) -> float:
        """The standard deviation of the total utility."""
        return math.sqrt(self.variance)

    def probability_below(self, limit: float = 0.0) -> float:
        """Return the probability of a total below a limit; by default that of a loss.

        Args:
            limit: a total.

        Raises:
            InvalidArgument: it is not a number.

        >>> RiskProfile(np.array([-10.0, 0.0]), np.array([0.2, 0.8])).probability_below()
        0.2
        """
        if not is_number(limit) or math.isnan(limit):
            raise InvalidArgument(f"limit= is a number, not {shown(limit)}.")
        return math.fsum(self.probabilities[self.values < limit])

    def quantile(self, q: float) -> float:
        """Return the smallest total that is not exceeded with at least this probability.

        Args:
            q: a probability.

        Raises:
            InvalidArgument: it is not between 0 and 1.

        >>> RiskProfile(np.array([-10.0, 0.0]), np.array([0.2, 0.8])).quantile(0.1)
        -10.0
        """
        self._check(q)
        place = int(np.searchsorted(np.cumsum(self.probabilities), q - 1e-12))
        return float(self.values[min(place, len(self.values) - 1)])

    def expected_shortfall(self, level: float = 0.05) -> float:
        """Return the mean of the worst cases (conditional value at risk).

        Args:
            level: the fraction of cases.

        Raises:
            InvalidArgument: it is not between 0 and 1.

        >>> RiskProfile(np.array([-10.0, 0.0]), np.array([0.2, 0.8])).expected_shortfall(0.4)
        -5.0
        """
        self._check(level)
        if level == 0.0:
            return float(self.values[0])
        before = np.concatenate([[0.0], np.cumsum(self.probabilities)[:-1]])
        weights = np.clip(level - before, 0.0, self.probabilities)
        return math.fsum(weights * self.values) / math.fsum(weights)

    def dominates(self, other: RiskProfile, order: int = 1) -> bool:
        """Tell whether this dominates another profile stochastically, of first or second order.

        Args:
            other: another profile.
            order: 1 or 2, of stochastic dominance.

        Raises:
            InvalidArgument: another order, or something other than a profile.

        >>> a = RiskProfile(np.array([1.0, 2.0]), np.array([0.5, 0.5]))
        >>> b = RiskProfile(np.array([0.0, 3.0]), np.array([0.5, 0.5]))
        >>> a.dominates(b), a.dominates(b, order=2)
        (False, True)
        """
        if not isinstance(other, RiskProfile):
            raise InvalidArgument(f"A risk profile is compared with another one, not with {shown(other)}.")
        if order not in (1, 2):
            raise InvalidArgument(f"order= is 1 or 2, not {shown(order)}.")
        at = np.union1d(self.values, other.values)
        mine, theirs = (
            np.cumsum(p.probabilities)[np.searchsorted(p.values, at, side="right") - 1] * (at >= p.values[0])
            for p in (self, other)
        )
        if order == 2:
            steps = np.diff(at, append=at[-1])
            mine, theirs = np.cumsum(mine * steps), np.cumsum(theirs * steps)
        scale = 1e-12 * max(1.0, float(np.abs(theirs).max()))
        return bool((mine <= theirs + scale).all() and (mine < theirs - scale).any())

    def compared(self, others: Mapping[str, RiskProfile], label: str = "this policy") -> Alternatives:
        """Return a comparison with other profiles, and which are dominated.

        Args:
            others: the others, by name.
            label: the name of this one.

        Raises:
            InvalidArgument: something other than a profile.

        >>> sure = RiskProfile(np.array([1.0]), np.array([1.0]))
        >>> bold = RiskProfile(np.array([0.0, 2.0]), np.array([0.5, 0.5]))
        >>> sure.compared({"bold": bold}, "sure").dominated()
        {'bold': ('sure', 2)}
        """
        from .alternatives import Alternatives

        if not isinstance(others, Mapping):
            raise InvalidArgument(f"A dict {{name: risk profile}} is expected, not {shown(others)}.")
        return Alternatives({label: self, **others})

    def to_dict(self) -> dict[float, float]:
        """{total: probability}."""
        return dict(zip(self.values.tolist(), self.probabilities.tolist(), strict=True))

    def to_pandas(self) -> pd.Series:
        """A Series of probabilities whose index holds the totals."""
        index = pandas().Index(self.values, name="total")
        series: pd.Series = pandas().Series(self.probabilities, index=index, name="p")
        return series

    def plot(
        self,
        others: Mapping[str, RiskProfile] | None = None,
        *,
        label: str = "this policy",
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the cumulative distribution function; returns the Axes.

        Args:
            others: other profiles to draw next to it, by name.
            label: the name of this one.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.risk({label: self, **(others or {})}, ax, figsize=figsize, title=title)

    def __eq__(self, other: object) -> bool:
        """Equal when totals and probabilities are."""
        if not isinstance(other, RiskProfile):
            return NotImplemented
        return np.array_equal(self.values, other.values) and np.array_equal(
            self.probabilities, other.probabilities
        )

    def __hash__(self) -> int:
        return hash((self.values.tobytes(), self.probabilities.tobytes()))

    def _check(self, q: float) -> None:
        if isinstance(q, bool) or not isinstance(q, int | float | np.floating) or not 0.0 <= q <= 1.0:
            raise InvalidArgument(f"A probability from 0 to 1 is expected, not {shown(q)}.")

    def _parts(self) -> tuple[object, ...]:
        return self.values, self.probabilities, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        if len(self.values) <= 12:
            header = ["total", "P"]
            for value, p in zip(self.values.tolist(), self.probabilities.tolist(), strict=True):
                rows.append([f"{value:.6g}", Share(p)])
        else:
            header = ["quantile", "total"]
            rows = [[f"{q:g}", f"{self.quantile(q):.6g}"] for q in _QUANTILES]
        notes = f"mean {self.mean:.6g}, sd {self.std:.6g}, P(loss) {number(self.probability_below())}"
        notes += f", mean of the worst 5 % {self.expected_shortfall():.6g}"
        return header, rows, notes if self.exact else f"{notes}\n{self.report.summary}"


def risk_of(policy: Policy, seed: Any) -> RiskProfile:
    """Return the distribution of the total utility under a policy; see `Policy.risk`."""
    generator(seed)  # an invalid seed is refused, even if it is not needed
    found = _by_sums(policy)
    if found is not None:
        return found
    total = policy.simulate(_DRAWS, seed=seed)
    diagram = policy._diagram
    tops = sinks(diagram)
    each = np.array([total[u] for u in tops])
    drawn = each.prod(axis=0) if diagram.combine == "product" else each.sum(axis=0)
    values, counts = np.unique(drawn, return_counts=True)
    error = float(np.std(drawn)) / math.sqrt(_DRAWS)
    report = Report("simulation", exact=False, error=error, samples=_DRAWS, given=policy.report.given)
    return RiskProfile(values, counts / _DRAWS, report)


def _by_sums(policy: Policy) -> RiskProfile | None:
    """The exact distribution, from all terms added up; None where there are too many totals."""
    diagram = policy._diagram
    net = policy.network()
    chances = {name: value for name, value in policy.given.items() if name not in diagram.decisions}
    terms = used_terms(diagram)
    cards = {name: v.card for name, v in diagram.variables.items()}
    scope = tuple(dict.fromkeys(name for names, _ in terms for name in names))
    if math.prod([float(cards[name]) for name in scope]) <= _CELLS:
        shape = [cards[name] for name in scope]
        if diagram.combine == "product":
            total = np.ones(shape)
            for term in terms:
                total = total * worth.sum_of([term], scope, shape)
        else:
            total = worth.sum_of(terms, scope, shape)
        try:
            joint = net.query(list(scope), chances).values if scope else np.ones(())
        except TooLarge:
            return None
        return RiskProfile(*_merged(total.ravel(), np.asarray(joint).ravel()), _as(policy))
    if diagram.combine == "product":
        return None
    return _in_a_chain(policy, net, terms, chances)


def _in_a_chain(policy: Policy, net: Any, terms: Any, chances: Mapping[str, Any]) -> RiskProfile | None:
    """The same where all variables together are too many: each partial sum is a node of the network."""
    before, totals = "", np.zeros(1)
    for i, (names, values) in enumerate(terms):
        sums = _rounded(np.unique(np.add.outer(totals, np.unique(values)).ravel()))
        if len(sums) > _VALUES or values.size * len(totals) * len(sums) > current().memory_limit / 64:
            return None
        near = 2.0 * _ROUNDING * float(np.abs(sums).max(initial=0.0))
        places = np.searchsorted(sums, np.add.outer(totals, values) - near)
        table = np.zeros((*places.shape, len(sums)))
        np.put_along_axis(table, np.clip(places, 0, len(sums) - 1)[..., np.newaxis], 1.0, axis=-1)
        name = f"total {i}"
        while name in net:
            name += "'"
        parents = [*([before] if before else []), *names]
        net.add(name, table if before else table[0], parents=parents, states=range(len(sums)))
        before, totals = name, sums
    try:
        p = net.query(before, chances).values
    except TooLarge:
        return None
    return RiskProfile(*_merged(totals, np.asarray(p)), _as(policy))


def _as(policy: Policy) -> Report:
    return EXACT.changed(given=policy.report.given) if policy.report.given else EXACT


def _rounded(values: np.ndarray) -> np.ndarray:
    """Sorted values, without those that differ from the one before by rounding only."""
    gap = _ROUNDING * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    return np.asarray(values[np.concatenate([[True], np.diff(values) > gap])])


def _merged(values: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each possible total once, in ascending order, with its probability."""
    kept = probabilities > 0.0
    values, probabilities = values[kept], probabilities[kept]
    order = np.argsort(values, kind="stable")
    values, probabilities = values[order], probabilities[order]
    gap = _ROUNDING * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    first = np.concatenate([[True], np.diff(values) > gap])
    return values[first], np.add.reduceat(probabilities, np.flatnonzero(first))
