"""Least squares classification: pseudoinverse, LMS, Widrow-Hoff, Ho-Kashyap."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.errors import InvalidArgument, listed, shown, warn

from .linear_classifier import SCHEDULES, LinearClassifier, Separation, Solved, chosen, flag, passes, real
from .loops import LINEAR
from .perceptrons import errors, rate_at
from .traces import Recorder

_SOLVERS = ("pseudoinverse", "batch", "sequential")
_TARGETS = ("ones", "fisher")
_METHODS = ("pseudoinverse", "gradient")


class LeastSquares(LinearClassifier):
    """The least squares classifier: weights a that minimise |Y a - b|**2 (Duda, Hart & Stork 2001, 5.8).

    Rows y are augmented by a leading 1, and negated in the other class; b are positive targets.
    With b = 1 it is the best linear approximation to P(class | x) - P(others | x); with "fisher" its
    weights have the direction of Fisher's discriminant. It need not separate classes that are linearly
    separable.

    Args:
        targets: "ones"; "fisher", n / n_class; or a positive number for each row.
        solver: "pseudoinverse" solves it directly, by the minimum-norm solution if there are several; "batch"
            follows the gradient (LMS); "sequential" corrects by each row in turn (Widrow and Hoff).
        rate: of the first correction; "auto": 1 / the largest eigenvalue of Y'Y for "batch", a tenth of 1 /
            the largest |y|**2 for "sequential", with which they do not diverge.
        schedule: how it decreases with the number k of corrections: "constant", "inverse" or "sqrt".
        tol: it has converged when no correction of a pass is longer.
        shuffle: whether each pass of "sequential" goes through the rows in a new random order.
        max_iter: the maximum number of passes.
        seed: seed of the random orders.

    After `fit` there are `classes_`, `coef_`, `intercept_`, `squares_` (|Y a - b|**2), `rank_` of Y,
    `n_iter_`, `converged_`, `hyperplanes_`, and `traces_` of the iterative solvers.

    >>> rows = [[1.0, 2.0], [2.0, 0.0], [3.0, 1.0], [2.0, 3.0]]
    >>> found = LeastSquares().fit(rows, ["yes", "yes", "no", "no"])
    >>> found.intercept_.round(4).tolist(), found.coef_.round(4).tolist()
    ([3.6667], [[-1.3333, -0.6667]])
    """

    squares_: np.ndarray
    rank_: np.ndarray

    def __init__(
        self,
        targets: Any = "ones",
        *,
        solver: str = "pseudoinverse",
        rate: float | str = "auto",
        schedule: str = "constant",
        tol: float = 1e-6,
        shuffle: bool = False,
        max_iter: int = 1000,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.targets, self.solver, self.rate, self.schedule = targets, solver, rate, schedule
        self.tol, self.shuffle, self.max_iter, self.seed = tol, shuffle, max_iter, seed

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn from rows; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.
            sample_weight: the weight of each row; by default 1. Not for "sequential".

        Raises:
            InvalidArgument: an option is out of range; there is one class only, or not one for each row; or
                the weights diverge.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> found = LeastSquares().fit([[0.0], [2.0]], ["no", "yes"], sample_weight=[1.0, 2.0])
        >>> found.predict([[0.5]]).tolist()
        ['no']
        """
        if sample_weight is not None and self.solver == "sequential":
            raise InvalidArgument(
                'sample_weight= is not for solver="sequential", where a row of weight 2 is not the row '
                'twice: take "batch" or "pseudoinverse".'
            )
        if sample_weight is not None and not isinstance(self.targets, str):
            kept = np.asarray(sample_weight, dtype=np.float64) != 0.0
            if kept.shape == np.shape(self.targets) and not kept.all():
                raise InvalidArgument("targets= has a number for each row: leave rows of weight zero out.")
        return self._fit(X, y, sample_weight)

    def _check(self) -> None:
        if isinstance(self.targets, str):
            chosen("targets", self.targets, _TARGETS)
        chosen("solver", self.solver, _SOLVERS)
        chosen("schedule", self.schedule, SCHEDULES)
        if not (isinstance(self.rate, str) and self.rate == "auto"):
            if isinstance(self.rate, str):
                raise InvalidArgument(f'rate= is "auto" or a number above 0, not {shown(self.rate)}.')
            positive("rate", self.rate)
        real("tol", self.tol, 0.0)
        flag("shuffle", self.shuffle)
        whole("max_iter", self.max_iter)

    def _solve(self, separation: Separation, columns: list[str]) -> Solved:
        b = targets_of_rows(self.targets, separation)
        root = np.sqrt(separation.weights)
        rows, aims = separation.rows * root[:, None], b * root
        rank = int(np.linalg.matrix_rank(rows))
        if self.solver == "pseudoinverse":
            a = np.linalg.lstsq(rows, aims, rcond=None)[0]
            return Solved(a, facts=self._facts(rows, aims, a, rank))
        recorder = Recorder(np.zeros(rows.shape[1]))
        solve = self._batch if self.solver == "batch" else self._sequential
        a, steps, converged = solve(separation, rows, aims, b, recorder)
        trace = recorder.trace(columns, separation.name, a)
        return Solved(a, trace, steps, converged, self._facts(rows, aims, a, rank))

    def _facts(self, rows: np.ndarray, aims: np.ndarray, a: np.ndarray, rank: int) -> dict[str, Any]:
        return {"squares_": float(((rows @ a - aims) ** 2).sum()), "rank_": rank}

    def _batch(
        self, separation: Separation, rows: np.ndarray, aims: np.ndarray, b: np.ndarray, recorder: Recorder
    ) -> tuple[np.ndarray, int, bool]:
        gram, moment = rows.T @ rows, rows.T @ aims
        rate = 1.0 / float(np.linalg.eigvalsh(gram)[-1]) if self.rate == "auto" else float(self.rate)
        a = np.zeros(len(moment))
        for i in passes(int(self.max_iter), "least squares", separation.clock):
            step = rate_at(rate, self.schedule, i + 1) * (moment - gram @ a)
            length = float(np.linalg.norm(step))
            if not np.isfinite(length):
                raise self._beyond(separation.name)
            if length < self.tol:
                return a, i, True
            a = a + step
            recorder.add(a)
        return a, int(self.max_iter), False

    def _sequential(
        self, separation: Separation, rows: np.ndarray, aims: np.ndarray, b: np.ndarray, recorder: Recorder
    ) -> tuple[np.ndarray, int, bool]:
        n, dim = separation.rows.shape
        a, flat, order = np.zeros(dim), separation.rows.reshape(-1), np.arange(n)
        auto = self.rate == "auto"
        rate = 0.1 / float((separation.rows**2).sum(axis=1).max()) if auto else float(self.rate)
        for i in passes(int(self.max_iter), "least squares", separation.clock):
            if self.shuffle:
                order = separation.random.permutation(n)
            largest = np.zeros(1)
            if LINEAR.follow_targets(
                flat, b, order, rate, SCHEDULES[self.schedule], a, largest, recorder.counts, recorder.steps,
                recorder.path,
            ) < 0:  # fmt: skip
                raise self._beyond(separation.name)
            if largest[0] < float(self.tol) ** 2:
                return a, i + 1, True
        return a, int(self.max_iter), False

    def _tell(self, unfinished: list[Any]) -> None:
        if unfinished:
            warn(
                f"Least squares have not converged for {listed(unfinished)} in "
                f"max_iter={int(self.max_iter):,} "
                'passes: raise max_iter= or tol=, let rates fall (schedule="inverse"), or take '
                'solver="pseudoinverse".'
            )

    def _summary(self) -> str:
        return f"{super()._summary()}, sum of squares {float(self.squares_.sum()):.6g}"


class HoKashyap(LinearClassifier):
    """The Ho-Kashyap procedure: least squares with adaptive targets (Duda, Hart & Stork 2001, section 5.9).

    Targets b stay positive and grow where Y a is larger. If a hyperplane can separate the classes, one is
    found; if none can, the errors Y a - b come to be nowhere positive, which proves it.

    Args:
        method: "pseudoinverse" takes the least squares weights for each b; "gradient", the modified form,
            moves them by increment * Y+ |e+|.
        increment: how far targets move, above 0 and below 1.
        targets: where they begin: a positive number, or one for each row.
        tol: errors that are smaller count as none.
        max_iter: the maximum number of steps.

    After `fit` there are `classes_`, `coef_`, `intercept_`, `targets_` (b, a row for each hyperplane),
    `separable_` (True, False, or None where it has not been found out), `n_iter_`, `converged_`, `traces_`
    and `hyperplanes_`.

    >>> found = HoKashyap().fit([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
    >>> found.separable_.tolist(), found.predict([[2.9]]).tolist()
    ([True], ['yes'])
    """

    targets_: np.ndarray
    separable_: np.ndarray

    def __init__(
        self,
        method: str = "pseudoinverse",
        *,
        increment: float = 0.9,
        targets: Any = 1.0,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.method, self.increment, self.targets = method, increment, targets
        self.tol, self.max_iter = tol, max_iter

    def _check(self) -> None:
        chosen("method", self.method, _METHODS)
        if not real("increment", self.increment, 0.0) < 1.0 or self.increment == 0.0:
            raise InvalidArgument(f"increment= is a number above 0 and below 1, not {self.increment:g}.")
        if isinstance(self.targets, int | float):
            positive("targets", self.targets)
        positive("tol", self.tol)
        whole("max_iter", self.max_iter)

    def _solve(self, separation: Separation, columns: list[str]) -> Solved:
        rows, tol, eta = separation.rows, float(self.tol), float(self.increment)
        b = targets_of_rows(self.targets, separation)
        inverse = np.linalg.pinv(rows)
        a = inverse @ b
        recorder = Recorder(a)
        separable: bool | None = None
        steps = int(self.max_iter)
        for i in passes(steps, "Ho and Kashyap", separation.clock):
            values = rows @ a
            e = values - b
            if (values > 0.0).all() and np.abs(e).max() <= tol:
                separable, steps = True, i
                break
            up = np.maximum(e, 0.0)
            if up.max() <= tol:  # nothing moves any more
                if (values > 0.0).all():
                    separable = True
                elif e.min() < -tol and np.abs(rows.T @ e).max() <= tol * np.abs(rows).sum(axis=0).max():
                    separable = False  # Y'e = 0 and e <= 0: no weights make all of Y a positive
                steps = i
                break
            b = b + 2.0 * eta * up
            a = inverse @ b if self.method == "pseudoinverse" else a + eta * (inverse @ np.abs(up))
            if not np.isfinite(a).all():
                raise self._beyond(separation.name)
            recorder.add(a)
        if separable is None and errors(rows, a) == 0:
            separable = True
        facts = {"targets_": b, "separable_": separable}
        return Solved(a, recorder.trace(columns, separation.name, a), steps, separable is not None, facts)

    def _summary(self) -> str:
        said = {True: "yes", False: "no", None: "not found out"}
        return f"{super()._summary()}; separable: {', '.join(said[one] for one in self.separable_.tolist())}"


def targets_of_rows(given: Any, separation: Separation) -> np.ndarray:
    """The positive target of each row."""
    n = len(separation.rows)
    if isinstance(given, str):
        if given == "ones":
            return np.ones(n)
        own = separation.signs > 0.0
        total = separation.weights.sum()
        return np.asarray(
            np.where(own, total / separation.weights[own].sum(), total / separation.weights[~own].sum())
        )
    try:
        found = np.array(np.broadcast_to(np.asarray(given, dtype=np.float64), (n,)))
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not ((found > 0.0) & (found < np.inf)).all():
        raise InvalidArgument(f"targets= has a positive number for each of {n:,} rows, not {shown(given)}.")
    return found
