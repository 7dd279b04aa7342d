"""Shapley values: attribution of an answer to the findings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, listed, shown
from pgm.evidence import observe
from pgm.frames import Alike, among, columns
from pgm.inference.asking.failures import impossible_row
from pgm.inference.insight.aims import Aim, Given, aim, target_of
from pgm.inference.insight.subsets import Parts, rows_of
from pgm.printing import ROWS, Tabular, number
from pgm.randomness import generator
from pgm.results.base import Result, condition, pandas, put
from pgm.results.report import Report
from pgm.runtime.clock import start_clock
from pgm.variables import State

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST_EXACT = 20  # findings for which every subset is evaluated
_AT_ONCE = 1 << 18  # rows evaluated at once, counting each subset of each
_ORDERS = 1_000  # pairs of orders sampled if there are more findings


class ShapleyValues(Result, Tabular, Mapping[str, float]):
    """The contribution of each finding to P(state | given): {finding: value}; they sum to the total change.

    The worth of a set of findings is the answer given it alone; the value of a finding is what it adds,
    averaged over all orders of the findings (Shapley 1953). Beyond 20 findings, orders are sampled, and
    `errors` has the standard error of each value.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("sprinkler", 0.2)
    >>> net.add("wet", {(False, False): 0.1, ...: 0.9}, parents=["rain", "sprinkler"])
    >>> net.shapley("rain", {"wet": True, "sprinkler": True})
    P(rain=True | wet=True, sprinkler=True) = 0.300000, 0.300000 before
    finding         value
    wet=True        0.148673
    sprinkler=True  -0.148673
    """

    __slots__ = ("_values", "aim", "before", "errors", "report")
    report: Report
    aim: Aim
    before: float
    errors: Mapping[str, float]  # standard errors; empty if the values are exact
    _values: dict[str, float]

    def __init__(
        self,
        aim: Aim,
        before: float,
        values: Mapping[str, float],
        errors: Mapping[str, float],
        report: Report,
    ) -> None:
        """Store the results of `shapley`."""
        put(self, "aim", aim)
        put(self, "before", before)
        put(self, "_values", dict(sorted(values.items(), key=lambda item: -abs(item[1]))))
        put(self, "errors", dict(errors))
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self.aim, self.before, self._values, self.errors, self.report

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_dict(self) -> dict[str, float]:
        """{finding: value}."""
        return dict(self._values)

    def to_pandas(self) -> pd.Series:
        """A Series by finding."""
        series: pd.Series = pandas().Series(self._values, name="value").rename_axis("finding")
        return series

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the values as bars to both sides, the largest first; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        texts = [condition({name: self.aim.given[name]}) for name in islice(self, ROWS)]
        values = list(islice(self._values.values(), ROWS))
        errors = [self.errors.get(name, 0.0) for name in islice(self, ROWS)]
        head = self._heading()
        return plot.contributions(texts, values, errors, head, ax, figsize=figsize, title=title)

    def _heading(self) -> str:
        return f"{self.aim.title} = {number(self.aim.probability)}, {number(self.before)} before"

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header, rows = ["finding", "value"], []
        for name, value in islice(self.items(), ROWS):
            row = [condition({name: self.aim.given[name]}), number(value)]
            rows.append([*row, number(self.errors[name])] if self.errors else row)
        if self.errors:
            header = [*header, "standard error"]
        notes = [f"... {len(self) - ROWS:,} more"] if len(self) > ROWS else []
        return header, rows, "\n".join(notes if self.exact else [*notes, self.report.summary])


def shapley(
    model: Any, target: object, given: Given, state: State | None, orders: int | None, seed: Any
) -> ShapleyValues:
    """See `BayesianNetwork.shapley`."""
    clock = start_clock()
    asked = aim(model, target, given, state)
    names = list(asked.given)
    parts = Parts(model, asked.variable, asked.given, clock)
    n = len(names)
    if n <= MOST_EXACT and orders is None:
        worth = parts.answers(every_set(n))[0][:, asked.code]
        values = of_every_set(worth[:, np.newaxis], n)[:, 0]
        found = dict(zip(names, values.tolist(), strict=True))
        return ShapleyValues(asked, float(worth[0]), found, {}, asked.answer.report)
    count = _ORDERS if orders is None else orders
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise InvalidArgument(f"orders= is a whole number of at least 2, not {shown(orders)}.")
    each = _drawn(parts, asked, n, count, generator(seed))
    means = each.mean(axis=0)
    sds = each.std(axis=0, ddof=1) / math.sqrt(count)
    advice = f"{count:,} orders of {n} findings were drawn, each also in reverse"
    worst = float(sds.max())
    report = Report("orders", exact=False, error=worst, advice=advice)
    before = float(parts.answers(np.zeros((1, n), dtype=bool))[0][0, asked.code])
    found = dict(zip(names, means.tolist(), strict=True))
    return ShapleyValues(asked, before, found, dict(zip(names, sds.tolist(), strict=True)), report)


def shapley_of_rows(model: Any, target: object, frame: Any, state: State | None) -> Any:
    """See `BayesianNetwork.shapley`; for every row of a frame."""
    clock = start_clock()
    variable, _ = target_of(model, target, None)
    if state is None and variable.states != (False, True):
        raise InvalidArgument(
            f"Which state of {variable.name!r} do the rows contribute to? Name one of "
            f"{listed(variable.states)} as state=."
        )
    code = 1 if state is None else variable.code(state)
    compiled = model._compile_in(clock)
    if compiled.gaussians is not None:
        raise InvalidArgument("frame= is for discrete networks: ask row by row, with given=.")
    wanted = among(frame, compiled.by_name, compiled.position, frozenset([variable.name]))
    data = columns(frame, wanted, bad="raise", check=clock.check)
    names, n = list(data.codes), len(data.codes)
    if n > MOST_EXACT:
        raise InvalidArgument(
            f"The frame has {n} columns of findings; frame= evaluates every subset, of at most {MOST_EXACT}: "
            "leave some out, or ask row by row with orders=."
        )
    codes = np.array(list(data.codes.values()), dtype=np.int32).reshape(n, data.n_rows).T
    different, back = np.unique(codes, axis=0, return_inverse=True)
    sets = every_set(n)
    values = np.empty((n, len(different)))
    chunk = max(1, _AT_ONCE >> n)
    for begin in range(0, len(different), chunk):
        some = different[begin : begin + chunk]
        rows = np.where(sets[:, np.newaxis, :], some, -1).reshape(-1, n).astype(np.int32)
        worth = rows_of(compiled, names, rows, (variable.name,), clock)[0][:, code]
        values[:, begin : begin + chunk] = of_every_set(worth.reshape(len(sets), len(some)), n)
    bad = np.flatnonzero(np.isnan(values).any(axis=0))
    if bad.size:
        row = int(np.flatnonzero(back.ravel() == bad[0])[0])
        given = {m: wanted[m].states[c] for m, c in zip(names, codes[row].tolist(), strict=True) if c >= 0}
        raise impossible_row(str(row), compiled, observe(compiled.by_name, given), clock)
    return Alike(frame, compiled.by_name).columns(
        {name: values[i, back.ravel()] for i, name in enumerate(names)}
    )


def every_set(n: int) -> np.ndarray:
    """All subsets of n things: (2**n, n); thing i belongs to the sets whose index has bit i.

    Args:
        n: how many things.

    >>> every_set(2).tolist()
    [[False, False], [True, False], [False, True], [True, True]]
    """
    return np.asarray((np.arange(1 << n)[:, np.newaxis] >> np.arange(n)) & 1, dtype=bool)


def of_every_set(worth: np.ndarray, n: int) -> np.ndarray:
    """Shapley values from the worth of every set, in the order of `every_set`: (n, columns).

    Args:
        worth: (2**n, columns), one column for each game.
        n: how many things.

    >>> of_every_set(np.array([[0.0], [1.0], [2.0], [4.0]]), 2).tolist()
    [[1.5], [2.5]]
    """
    if not n:
        return np.zeros((0, worth.shape[1]))
    sizes = np.zeros(1, np.int64)
    for _ in range(n - 1):
        sizes = np.concatenate([sizes, sizes + 1])
    shares = np.array([1.0 / (n * math.comb(n - 1, size)) for size in range(n)])[sizes]
    found = np.empty((n, worth.shape[1]))
    for i in range(n):
        cut = worth.reshape(1 << (n - 1 - i), 2, 1 << i, -1)
        added = (cut[:, 1] - cut[:, 0]).reshape(1 << (n - 1), -1)
        found[i] = shares @ added
    return found


def _drawn(parts: Parts, asked: Aim, n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """The marginal contributions in sampled orders, each forwards and backwards: (orders, findings)."""
    found = np.zeros((count, n))
    chunk = max(1, (1 << 16) // (2 * (n + 1)))
    for begin in range(0, count, chunk):
        orders = np.argsort(rng.random((min(chunk, count - begin), n)), axis=1)
        both = np.concatenate([orders, orders[:, ::-1]])
        place = np.argsort(both, axis=1)
        sets = place[:, np.newaxis, :] < np.arange(n + 1)[np.newaxis, :, np.newaxis]
        worth = parts.answers(sets.reshape(-1, n))[0][:, asked.code].reshape(len(both), n + 1)
        added = np.take_along_axis(np.diff(worth, axis=1), place, axis=1)
        half = len(orders)
        found[begin : begin + half] = 0.5 * (added[:half] + added[half:])
    return found
