"""Anomalous rows of a frame and their cells: the log-probability of each cell given the rest of its row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidArgument, shown
from pgm.frames import among, columns
from pgm.inference.asking.questions import Questions
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.insight.subsets import rows_of
from pgm.printing import ROWS, Tabular, label, number
from pgm.randomness import generator
from pgm.results.base import Result, pandas, put
from pgm.results.report import EXACT, Report
from pgm.runtime.clock import start_clock
from pgm.variables import State

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ODDEST = 100  # cells for which the most probable state is computed
_DRAWN, _BEYOND = 10_000, 100  # rows sampled for a threshold: in all, or beyond it


@dataclass(frozen=True, slots=True)
class OddCell:
    """A cell that is improbable given the rest of its row: `surprise` is -log P(cell | rest)."""

    row: int
    name: str
    value: object
    surprise: float
    likely: State | None  # the most probable state given the rest; None if continuous or all impossible


class Surprises(Result, Tabular):
    """How improbable rows are, and each of their cells given the rest of its row, in nats.

    `rows` is -log P(row), `cells[name]` is -log P(cell | rest of its row): infinite where the cell alone
    makes the row impossible, NaN where nothing was observed or the rest is already impossible. For continuous
    columns P is a density. `oddest` are the cells with the largest surprise. With a false alarm rate,
    `row_limit` and `cell_limit` are the thresholds that this share of complete rows sampled from the model
    exceeds, as a row or in the oddest cell.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("wet", {True: 0.99, False: 0.1}, parents=["rain"])
    >>> net.surprise({"rain": [True, True, False], "wet": [True, False, None]})
    row  cell  value  surprise  likely
    1    rain  True   5.351858  False
    1    wet   False  4.605170  True
    2    rain  False  0.356675  False
    0    rain  True   0.211630  True
    0    wet   True   0.010050  True
    """

    __slots__ = ("cell_limit", "cells", "oddest", "report", "row_limit", "rows")
    report: Report
    rows: np.ndarray
    cells: Mapping[str, np.ndarray]
    oddest: tuple[OddCell, ...]
    row_limit: float | None
    cell_limit: float | None

    def __init__(
        self,
        rows: np.ndarray,
        cells: Mapping[str, np.ndarray],
        oddest: tuple[OddCell, ...],
        row_limit: float | None = None,
        cell_limit: float | None = None,
        report: Report = EXACT,
    ) -> None:
        """Store the results of `surprise`."""
        for part in (rows, *cells.values()):
            part.setflags(write=False)
        put(self, "rows", rows)
        put(self, "cells", dict(cells))
        put(self, "oddest", oddest)
        put(self, "row_limit", row_limit)
        put(self, "cell_limit", cell_limit)
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self.rows, self.cells, self.oddest, self.row_limit, self.cell_limit, self.report

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.rows.size)

    @property
    def ranked(self) -> np.ndarray:
        """The indices of the rows, the most improbable first."""
        return np.asarray(np.argsort(-self.rows, kind="stable"))

    @property
    def alarms(self) -> np.ndarray:
        """The rows that exceed a threshold, or have a cell that does; none without a false alarm rate."""
        found = np.zeros(self.rows.size, dtype=bool)
        if self.row_limit is not None and self.cell_limit is not None:
            found |= self.rows > self.row_limit
            for values in self.cells.values():
                found |= values > self.cell_limit  # NaN is not
        return found

    def to_dict(self) -> dict[str, np.ndarray]:
        """{column: the surprise of its cells}."""
        return dict(self.cells)

    def to_pandas(self) -> pd.DataFrame:
        """A frame with the surprise of each cell, and a column "row" for that of the rows."""
        frame: pd.DataFrame = pandas().DataFrame({**self.cells, "row": self.rows})
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        count: int = 20,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the cells of the most improbable rows as a heat map; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            count: how many rows to draw.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.odd_cells(self, count, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for cell in islice(self.oddest, ROWS):
            likely = "" if cell.likely is None else label(cell.likely)
            rows.append([str(cell.row), label(cell.name), label(cell.value), number(cell.surprise), likely])
        total = sum(int((~np.isnan(values)).sum()) for values in self.cells.values())
        notes = [f"... {total - len(rows):,} more of {total:,} cells"] if total > len(rows) else []
        if self.row_limit is not None and self.cell_limit is not None:
            count = int(self.alarms.sum())
            limits = f"rows beyond {number(self.row_limit)}, cells beyond {number(self.cell_limit)}"
            notes.append(f"{count:,} of {len(self):,} rows are odd: {limits}")
        return ["row", "cell", "value", "surprise", "likely"], rows, "\n".join(notes)


def surprise(model: Questions, frame: Any, rate: float | None, seed: Any) -> Surprises:
    """See `BayesianNetwork.surprise`."""
    if rate is not None and not 0.0 < rate < 1.0:
        raise InvalidArgument(f"rate= is a share of false alarms, between 0 and 1, not {shown(rate)}.")
    clock = start_clock()
    compiled = model._compile_in(clock)
    if compiled.gaussians is not None:
        rows, cells, values = _by_columns(model, compiled, frame)
    else:
        wanted = among(frame, compiled.by_name, compiled.position, frozenset())
        data = columns(frame, wanted, bad="raise", check=clock.check)
        names = list(data.codes)
        codes = np.array(list(data.codes.values()), dtype=np.int32).reshape(len(names), data.n_rows).T
        rows, cells = _of_codes(model, compiled, names, codes)
        values = {}
        for name in names:
            clock.check("looking for odd cells")
            states = (*wanted[name].states, None)  # -1 is missing
            values[name] = [states[c] for c in data.codes[name].tolist()]
    limits: tuple[float | None, float | None] = (None, None)
    if rate is not None:
        limits = _limits(model, compiled, list(cells), rate, seed)
    return Surprises(rows, cells, _oddest(model, cells, values), *limits)


def _of_codes(
    model: Questions, compiled: ModelSnapshot, names: list[str], codes: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    program = compiled.program
    whole = len(names) == len(compiled.names) and bool((codes >= 0).all())
    if whole and program.n == program.n_named:
        return _by_blankets(compiled, names, codes)
    clock = start_clock()

    def logs(some: np.ndarray) -> np.ndarray:
        return rows_of(compiled, names, some, (), clock)[1]

    above = logs(codes)
    cells = {}
    for i, name in enumerate(names):
        rest = codes.copy()
        rest[:, i] = -1
        found = np.full(len(codes), np.nan)
        some = codes[:, i] >= 0
        if some.any():
            found[some] = _difference(logs(rest[some]), above[some])
        cells[name] = found
    return _unsigned(-(above - _total(model, compiled))), cells


def _total(model: Questions, compiled: ModelSnapshot) -> float:
    if model._normalised():
        return 0.0
    nothing = np.full((1, 0), -1, dtype=np.int32)
    return float(rows_of(compiled, [], nothing, (), start_clock())[1][0])


def _difference(rest: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """-log P(cell | rest); NaN where the rest is impossible."""
    with np.errstate(invalid="ignore"):
        return _unsigned(rest - whole)


def _unsigned(values: np.ndarray) -> np.ndarray:
    return np.asarray(values + 0.0)  # no minus zero


def _by_blankets(
    compiled: ModelSnapshot, names: list[str], codes: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """For complete rows: a cell given the rest depends only on the tables that its variable is in."""
    program = compiled.program
    p, begins = program.arrays, program.entries_at.tolist()
    values, powers = program.entries()
    with np.errstate(divide="ignore"):
        logs = np.log(values) + powers * math.log(2.0)
    column = {compiled.position[name]: i for i, name in enumerate(names)}
    turned = np.ascontiguousarray(codes.T).astype(np.int64)
    n = len(codes)
    cards = p.cards.tolist()
    weights = {v: np.zeros((cards[v], n)) for v in column}
    total = np.zeros(n)
    impossible, own_impossible = np.zeros(n, np.int64), {v: np.zeros(n, np.int64) for v in column}
    scopes, scope_at = p.scopes.tolist(), p.scope_at.tolist()
    for f in range(len(begins) - 1):
        scope = scopes[scope_at[f] : scope_at[f + 1]]
        table = logs[begins[f] : begins[f + 1]]
        strides = np.cumprod([1, *[cards[v] for v in reversed(scope)]])[:-1][::-1].tolist()
        at = np.zeros(n, np.int64)
        for v, stride in zip(scope, strides, strict=True):
            at += stride * turned[column[v]]
        here = table.take(at)
        total += here
        none = here == -math.inf
        impossible += none
        for v, stride in zip(scope, strides, strict=True):
            without = at - stride * turned[column[v]]
            own_impossible[v] += none
            for state in range(cards[v]):
                weights[v][state] += table.take(without + state * stride)
    cells = {}
    for name, i in zip(names, range(len(names)), strict=True):
        own = weights[compiled.position[name]]
        top = own.max(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = top + np.log(np.exp(own - top).sum(axis=0))
            found = _unsigned(rest - np.take_along_axis(own, turned[i][np.newaxis], axis=0)[0])
        found[impossible > own_impossible[compiled.position[name]]] = np.nan  # so is the rest
        cells[name] = found
    return _unsigned(-total), cells


def _by_columns(
    model: Questions, compiled: ModelSnapshot, frame: Any
) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, list[Any]]]:
    """For models with continuous variables: the rows with each column left out in turn."""
    wanted = among(frame, compiled.by_name, compiled.position, frozenset())
    held = {name: list(frame[name]) for name in wanted}

    def logs(some: Mapping[str, list[Any]]) -> np.ndarray:
        try:
            return np.asarray(model.log_likelihood(some))
        except ImpossibleEvidence:
            found = np.asarray(model.log_likelihood(some, bad_rows="missing")).copy()
            found[np.isnan(found)] = -math.inf
            return found

    above = logs(held)
    cells = {}
    for name, column in held.items():
        some = np.array([not _missing(value) for value in column])
        found = np.full(len(column), np.nan)
        if some.any():
            rest = {other: values for other, values in held.items() if other != name}
            rest[name] = [None] * len(column)
            found[some] = _difference(logs(rest), above)[some]
        cells[name] = found
    return _unsigned(-above), cells, held


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _limits(
    model: Questions, compiled: ModelSnapshot, names: list[str], rate: float, seed: Any
) -> tuple[float, float]:
    """The quantiles over rows sampled from the model: of the row, and of its oddest cell."""
    count = max(_DRAWN, math.ceil(_BEYOND / rate))
    drawn = model.sample(count, seed=generator(seed))
    frame = {name: drawn[name] for name in names}
    if compiled.gaussians is not None:
        rows, cells, _ = _by_columns(model, compiled, frame)
    else:
        variables = [compiled.by_name[name] for name in names]
        data = columns(frame, {v.name: v for v in variables})
        codes = np.array([data.codes[name] for name in names], dtype=np.int32).T
        rows, cells = _of_codes(model, compiled, names, codes)
    worst = np.max(list(cells.values()), axis=0)
    level = 1.0 - rate
    return float(np.quantile(rows, level, method="higher")), float(np.quantile(worst, level, method="higher"))


def _oddest(
    model: Questions, cells: Mapping[str, np.ndarray], values: Mapping[str, list[Any]]
) -> tuple[OddCell, ...]:
    names = list(cells)
    flat = np.array(list(cells.values())).reshape(len(names), -1).T
    there = np.flatnonzero(~np.isnan(flat.ravel()))
    if there.size > _ODDEST:  # few are left to be sorted, in the order of rows
        among = flat.ravel()[there]
        there = there[among >= np.partition(among, -_ODDEST)[-_ODDEST]]
    order = there[np.argsort(-flat.ravel()[there], kind="stable")][:_ODDEST]
    found = []
    for at in order.tolist():
        row, i = divmod(at, len(names))
        name, likely = names[i], None
        if not model.variables[name].continuous:
            rest = {n: values[n][row] for n in names if n != name}
            try:
                likely = model.query(name, rest).mode()
            except ImpossibleEvidence:
                likely = None
        found.append(OddCell(row, name, values[name][row], float(flat[row, i]), likely))
    return tuple(found)
