"""The cases behind a nearest-neighbour answer: which rows voted, and their outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import InvalidArgument, InvalidFrame, shown
from pgm.frames.matrices import features
from pgm.printing import Tabular, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS, _COLUMNS = 20, 6


class SimilarCases(Tabular):
    """The cases behind an answer, nearest first; see `similar_cases`.

    >>> from pgm.adapters import NearestNeighbours
    >>> rows, classes = [[0.0], [1.0], [9.0]], ["a", "a", "b"]
    >>> told = NearestNeighbours(2).fit(rows, classes)
    >>> found = similar_cases(told, [[2.0]], rows, classes)
    >>> found.rows, found.distances, found.outcomes, found.answer
    ([1, 0], [1.0, 2.0], ['a', 'a'], 'a')
    """

    def __init__(self, **facts: Any) -> None:
        """Store the results."""
        self.rows: list[int] = facts["rows"]  # which of the cases, from 0
        self.distances: list[float] = facts["distances"]
        self.shares: list[float] = facts["shares"]  # of the vote
        self.outcomes: list[Any] = facts["outcomes"]
        self.values: dict[str, list[Any]] = facts["values"]  # a list for each column
        self.query: dict[str, Any] = facts["query"]
        self.answer: Any = facts["answer"]

    def to_dict(self) -> dict[str, Any]:
        """A list for each column of the table, and the answer."""
        return {
            "case": self.rows,
            "distance": self.distances,
            "share": self.shares,
            "outcome": self.outcomes,
            "values": self.values,
            "query": self.query,
            "answer": self.answer,
        }

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each case."""
        from pgm.results.base import pandas

        facts = {"distance": self.distances, "share": self.shares, "outcome": self.outcomes}
        return pandas().DataFrame({**facts, **self.values}, index=pandas().Index(self.rows, name="case"))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the distances of the cases, and their outcomes; returns the Axes.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.
        """
        from pgm import plot

        return plot.similar_cases(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names = list(self.values)[:_COLUMNS]
        asked = ["asked", "", "", label(self.answer), *(_cell(self.query[name]) for name in names)]
        rows = [
            [
                f"case {row:,}",
                f"{far:.6g}",
                f"{share:.4g}",
                label(outcome),
                *(_cell(self.values[name][i]) for name in names),
            ]
            for i, (row, far, share, outcome) in enumerate(
                zip(self.rows, self.distances, self.shares, self.outcomes, strict=True)
            )
        ][:_ROWS]
        more = len(self.values) - len(names)
        said = f"{label(self.answer)}, because of {len(self.rows):,} similar cases"
        return (
            ["", "distance", "share", "outcome", *names],
            [asked, *rows],
            f"{said}; {more:,} more columns" if more > 0 else said,
        )


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else label(value)


@guarded
def similar_cases(estimator: Any, row: Any, X: Any, y: Any) -> SimilarCases:
    """Return the cases behind a nearest-neighbour answer, to explain it by precedent.

    Args:
        estimator: fitted: scikit-learn's `KNeighborsClassifier` or `KNeighborsRegressor`, our
            `NearestNeighbours`, or a pipeline that ends in one.
        row: one row, as the estimator takes it.
        X: the cases that it was fitted to, in the same order.
        y: their outcomes.

    Raises:
        InvalidArgument: the estimator has no neighbours to show; X and y are not what it was fitted to.
        InvalidFrame: there is not one row.

    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> rows, prices = [[50.0], [60.0], [100.0]], [100.0, 130.0, 300.0]
    >>> told = KNeighborsRegressor(2).fit(rows, prices)
    >>> found = similar_cases(told, [[55.0]], rows, prices)
    >>> found.answer, found.rows, found.outcomes
    (115.0, [0, 1], [100.0, 130.0])
    """
    last, passed = estimator, row
    if hasattr(estimator, "steps"):
        last = estimator.steps[-1][1]
        passed = estimator[:-1].transform(row) if len(estimator.steps) > 1 else row
    if not hasattr(last, "kneighbors"):
        raise InvalidArgument(
            f"{type(last).__name__} has no neighbours to show: similar cases are those of a classifier or "
            "regressor by neighbours, or of a pipeline that ends in one."
        )
    found = [np.asarray(each) for each in last.kneighbors(passed)]
    if len(found[0]) != 1:
        raise InvalidFrame(f"There are {len(found[0]):,} rows: cases justify the answer about one.")
    far, near = found[0][0], found[1][0].astype(np.int64)
    there = near >= 0
    far, near = far[there], near[there]
    cases, outcomes = features(X), np.asarray(y)
    values = {name: np.asarray(cases.frame[name]) for name in cases.names}
    count = len(next(iter(values.values())))
    known = getattr(last, "n_samples_fit_", len(getattr(last, "rows_", outcomes)))
    if outcomes.shape != (count,) or count != known:
        raise InvalidArgument(
            f"The estimator was fitted to {known:,} cases; X has {count:,} and y {shown(outcomes.shape)}."
        )
    asked = features(row)
    weights = _weights(getattr(last, "weights", "uniform"), far)
    return SimilarCases(
        rows=near.tolist(),
        distances=far.tolist(),
        shares=(weights / weights.sum()).tolist(),
        outcomes=outcomes[near].tolist(),
        values={name: column[near].tolist() for name, column in values.items()},
        query={name: np.asarray(asked.frame[name]).tolist()[0] for name in asked.names},
        answer=np.asarray(estimator.predict(row)).tolist()[0],
    )


def _weights(kind: Any, far: np.ndarray) -> np.ndarray:
    """How much each neighbour counts, as scikit-learn has it."""
    if callable(kind):
        return np.asarray(np.asarray(kind(far[None]), np.float64)[0])
    if kind == "distance":
        on_it = far == 0.0
        return np.asarray(on_it.astype(np.float64) if on_it.any() else 1.0 / far)
    return np.asarray(np.ones(len(far)))
