"""What linear classifiers share: two classes are a hyperplane, more are each told from all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from pgm.adapters.rows import RowsClassifier
from pgm.errors import InvalidArgument, listed, shown, warn
from pgm.printing import label
from pgm.randomness import generator
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.progress import report as report_progress

from .geometry import Hyperplane, effect
from .traces import WeightTrace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 20  # columns whose weights are printed
_CELLS = 6  # classes whose weights are printed
SCHEDULES = {"constant": 0, "inverse": 1, "sqrt": 2}


class Separation(NamedTuple):
    """What one hyperplane is to separate: `rows` times the weights shall be positive, each of them."""

    rows: np.ndarray  # a one first; negated where the row is of another class
    weights: np.ndarray
    signs: np.ndarray  # 1 for rows of the class, -1 for the others
    random: np.random.Generator
    name: Any  # the class
    clock: Clock


class Solved(NamedTuple):
    """The weights of one hyperplane, and what else is known of it."""

    a: np.ndarray
    trace: WeightTrace | None = None
    steps: int = 1  # passes over the rows
    converged: bool = True
    facts: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class ByScores(RowsClassifier):
    """Tells classes apart by a score for each, or by the sign of one where there are two.

    What a subclass adds: `fit`, and `decision_function`.
    """

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row: positive for the second class of two; of more classes, one for each.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> import pgm
        >>> rows = [[0.0], [4.0]]
        >>> told = pgm.adapters.LeastSquares().fit(rows, ["a", "b"])
        >>> told.decision_function([[1.0], [3.0]]).round(6).tolist()
        [-0.5, 0.5]
        """
        raise NotImplementedError

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row, that whose g(x) is largest; of equals the first.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> import pgm
        >>> rows = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]
        >>> pgm.adapters.LeastSquares().fit(rows, ["a", "b", "c"]).predict([[3.0, 0.5]]).tolist()
        ['b']
        """
        found = self.decision_function(X)
        codes = (found > 0.0).astype(np.int64) if found.ndim == 1 else found.argmax(axis=1)
        return np.asarray(self.classes_[codes])


class LinearClassifier(ByScores):
    """Classes of rows, separated by hyperplanes.

    What a subclass adds: `_check`, which reads the options, and `_solve`, which finds one hyperplane.
    """

    coef_: np.ndarray
    intercept_: np.ndarray
    n_iter_: int
    converged_: bool
    traces_: dict[Any, WeightTrace]
    seed: Any = None

    def _check(self) -> None:
        """Refuse options that are wrong."""
        raise NotImplementedError

    def _solve(self, separation: Separation, columns: list[str]) -> Solved:
        """Find a hyperplane."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument: an option is out of range; there is one class only, or not one for each row; or
                the weights diverge.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> import pgm
        >>> pgm.adapters.LeastSquares().fit([[0.0], [2.0]], ["no", "yes"]).predict([[1.5]]).tolist()
        ['yes']
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self._check()
        rows, codes, weights, about = self._begin_classes(X, y, sample_weight)
        classes = about["classes_"].tolist()
        names = about.get("feature_names_in_", [f"x{i}" for i in range(rows.shape[1])])
        random, clock, solved = generator(self.seed), start_clock(), []
        for name, own in machines(classes, codes):
            signs = np.where(own, 1.0, -1.0)
            separation = Separation(normalised_rows(rows, signs), weights, signs, random, name, clock)
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below, and in each loop
                found = self._solve(separation, ["1", *map(str, names)])
            if not np.isfinite(found.a).all():
                raise self._beyond(name)
            solved.append((name, found))
        facts = {key: np.array([one.facts[key] for _, one in solved]) for key in solved[0][1].facts}
        self._keep(
            about,
            coef_=np.array([one.a[1:] for _, one in solved]),
            intercept_=np.array([one.a[0] for _, one in solved]),
            n_iter_=max(one.steps for _, one in solved),
            converged_=all(one.converged for _, one in solved),
            traces_={name: one.trace for name, one in solved if one.trace is not None},
            **facts,
        )
        self._tell([name for name, one in solved if not one.converged])
        return self

    def _tell(self, unfinished: list[Any]) -> None:
        """Warn where it has not converged."""
        if unfinished:
            warn(
                f"{type(self).__name__} has not converged for {listed(unfinished)} in {self.n_iter_:,} "
                "steps: raise max_iter=. converged_ is False."
            )

    def _beyond(self, name: Any) -> InvalidArgument:
        return InvalidArgument(
            f"The weights for {shown(name)} diverge: use smaller steps, or put the columns in "
            "units in which they are about 1 (sklearn.preprocessing.StandardScaler)."
        )

    # --- questions ---

    def decision_function(self, X: Any) -> np.ndarray:
        """Return g(x) = w x + w0 of each row: positive for the second class of two; of more, one for each.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> import pgm
        >>> found = pgm.adapters.LeastSquares().fit([[0.0], [2.0]], ["no", "yes"])
        >>> found.decision_function([[0.0], [1.5]]).round(6).tolist()
        [-1.0, 0.5]
        """
        rows = self._read(X)
        found = np.asarray(rows @ self.coef_.T + self.intercept_)
        return found[:, 0] if len(self.classes_) == 2 else found

    @property
    def hyperplanes_(self) -> dict[Any, Hyperplane]:
        """The hyperplane of each class: distances, projections, its table of weights.

        >>> import pgm
        >>> found = pgm.adapters.LeastSquares().fit([[0.0], [2.0]], ["no", "yes"])
        >>> round(float(found.hyperplanes_["yes"].distance([[1.5]])[0]), 6)
        0.5
        """
        return Hyperplane.of(self)

    def plot(
        self,
        columns: Any = None,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the weights by step, or those at the end where there were no steps; returns the Axes.

        Args:
            columns: the names of those to draw; "1" is the intercept; by default the largest.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there is no such column.
        """
        from pgm import plot

        self._check_fitted()
        traces = self.traces_ or {
            name: WeightTrace(["1", *self._names], np.zeros(1, np.int64), plane.augmented[None], 1, name)
            for name, plane in self.hyperplanes_.items()
        }
        return plot.weight_traces(list(traces.values()), columns, ax, figsize=figsize, title=title)

    # --- implementation ---

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names = ["1", *self._names]
        every = np.column_stack([self.intercept_, self.coef_])
        planes = list(self.hyperplanes_)
        note = self._begun() + ": " + self._summary()
        if len(planes) == 1:
            order = np.argsort(-np.abs(every[0, 1:]), kind="stable")[: _ROWS - 1] + 1
            rows = [[label(names[j]), *effect(every[0, j], label(planes[0]))] for j in (0, *order.tolist())]
            header = ["column", "weight", "effect"]
        else:
            header = ["column", *map(label, planes[:_CELLS])]
            rows = [[label(n), *(f"{x:.6g}" for x in every[:_CELLS, j])] for j, n in enumerate(names[:_ROWS])]
        more = len(names) - len(rows)
        return header, rows, note + (f"; {more:,} more columns" if more else "")

    def _summary(self) -> str:
        state = "converged" if self.converged_ else "not converged"
        return f"{state} after {self.n_iter_:,} step{'s' * (self.n_iter_ != 1)}"


def machines(classes: list[Any], codes: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
    """Each hyperplane that is needed: its class, and which rows are of it."""
    for c, name in enumerate(classes):
        if len(classes) > 2 or c == 1:
            yield name, codes == c


def normalised_rows(rows: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """A one before each row, and the rows of the other class negated."""
    found = np.empty((len(rows), rows.shape[1] + 1))
    found[:, 0] = signs
    found[:, 1:] = rows * signs[:, None]
    return found


# --- the way of all that goes step by step ---


def passes(count: int, what: str, clock: Clock) -> Iterator[int]:
    """Numbers of passes; stops at the time limit with an error."""
    for i in range(count):
        clock.check(what)
        report_progress(i, count, what)
        yield i
    report_progress(count, count, what)


def chosen(name: str, value: Any, known: Any) -> Any:
    """An option that is one of some words."""
    if not isinstance(value, str) or value not in known:
        raise InvalidArgument(f"{name}= is {listed(known)}, not {shown(value)}.")
    return value


def flag(name: str, value: Any) -> bool:
    """An option that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidArgument(f"{name}= is True or False, not {shown(value)}.")
    return bool(value)


def real(name: str, value: Any, least: float = -np.inf) -> float:
    """An option that is a finite number, not below `least`."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        value = np.nan
    if not (least <= value < np.inf):
        text = "a finite number" if least == -np.inf else f"a finite number of at least {least:g}"
        raise InvalidArgument(f"{name}= is {text}, not {shown(value)}.")
    return float(value)
