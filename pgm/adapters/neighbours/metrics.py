"""Metric learning and the empirical kernel map: representations for nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import whole
from pgm.adapters.transforming import Transformer
from pgm.errors import InvalidArgument, listed, shown, warn
from pgm.errors import nearest as nearest_word
from pgm.models.classifiers.conventions import at_least_two, classes_of, labels_of
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.room import check_room

from .searching import enough, nearest

FORMS = ("full", "diagonal")
_NOTHING = 1e-9  # of the start: a metric so small says nothing
_SOFT = (0.3, 1e-2, 1e-4)  # up to which slack the error is round, one after the other


class LargeMarginMetric(Transformer):
    """Large-margin metric learning: rows of other classes are farther than neighbours, by a margin.

    It is D(x, x') = (x - x')ᵀ M (x - x') = |L x - L x'|², and `transform` returns L x: a pipeline with any
    classifier by neighbours takes the metric. With w = `margin_weight`, what is minimised is
    (1 - w) Σ D(x_i, x_j) + w Σ [1 + D(x_i, x_j) - D(x_i, x_l)]₊, where j and l are among the k nearest rows
    of i by Euclid, j of its class and l of another (Weinberger & Saul 2009; Alpaydin 2014, 13.63).

    Args:
        k: the number of neighbours of each row.
        margin_weight: the weight of violated margins against distances within classes; below 1.
        dim: the number of columns of L x; by default that of x. With fewer, the error has local minima.
        form: of M: "full", or "diagonal", a weight for each column.
        sparsity: with "diagonal", an L1 penalty on the weights, which sets some to zero.
        max_iter: the maximum number of steps.

    After `fit` there are `metric_`, M; `components_`, L; `error_`, the error; `errors_`, from that of the
    start on (Euclid's metric; with `dim` that of the main axes); `n_iter_`; and `converged_`. For 10,000 rows
    it takes seconds.

    >>> rows, classes = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], ["a", "a", "b"]
    >>> told = LargeMarginMetric(2, form="diagonal").fit(rows, classes)
    >>> told.error_ < 0.01  # diag(0, 1/4) and more have none
    True
    """

    _estimator_type = "transformer"
    metric_: np.ndarray
    components_: np.ndarray
    error_: float
    errors_: np.ndarray
    n_iter_: int
    converged_: bool

    def __init__(
        self,
        k: int = 3,
        *,
        margin_weight: float = 0.5,
        dim: int | None = None,
        form: str = "full",
        sparsity: float = 0.0,
        max_iter: int = 500,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.k, self.margin_weight, self.dim = k, margin_weight, dim
        self.form, self.sparsity, self.max_iter = form, sparsity, max_iter

    def __sklearn_tags__(self) -> Any:
        """The tags that scikit-learn's validation reads: classes are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument: an option is out of range; one class only; fewer rows than neighbours.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> rows, classes = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], ["a", "a", "b"]
        >>> LargeMarginMetric(2).fit(rows, classes).metric_.shape
        (2, 2)
        """
        rows, about = self._begin(X)
        classes, codes = classes_of(labels_of(y, len(rows)))
        at_least_two(classes)
        d = rows.shape[1]
        dim = d if self.dim is None else whole("dim", self.dim)
        if not isinstance(self.form, str) or self.form not in FORMS:
            raise InvalidArgument(
                f"form= is {listed(FORMS)}, not {shown(self.form)}.{nearest_word(self.form, FORMS)}"
            )
        diagonal = self.form == "diagonal"
        if self.dim is not None and (diagonal or dim > d):
            raise InvalidArgument(f'dim={dim} is for form="full", and at most the number of columns, {d}.')
        options = (("margin_weight", self.margin_weight, 1.0), ("sparsity", self.sparsity, np.inf))
        for name, value, most in options:
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < most:
                raise InvalidArgument(f"{name}= is a number from 0 up to {most:g}, not {shown(value)}.")
        if self.sparsity and not diagonal:
            raise InvalidArgument('sparsity= is for form="diagonal": it makes weights of columns zero.')
        clock = start_clock()
        enough(whole("k", self.k) + 1, len(rows))
        error = _Error(rows, codes, self.k, self.margin_weight, clock)
        steps = whole("max_iter", self.max_iter)
        if diagonal:
            start: np.ndarray = np.ones(d)
        elif dim == d:
            start = np.eye(d)
        else:  # the directions in which rows vary most
            start = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=len(rows) < d)[2][:dim]
        found, errors, count, converged = _least(error, start, float(self.sparsity), steps, clock)
        components = np.diag(np.sqrt(found)) if diagonal else found
        if (components**2).sum() < _NOTHING * (start**2).sum():
            warn(
                "The error is least where all rows are in one place, M = 0: neighbours of the same class "
                f"weigh more than margins. Raise margin_weight={self.margin_weight} or k={self.k}."
            )
        return self._keep(
            about,
            metric_=components.T @ components,
            components_=np.ascontiguousarray(components),
            error_=errors[-1],
            errors_=np.array(errors),
            n_iter_=max(count, 1),
            converged_=converged,
        )

    @property
    def _n_outputs(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Any:
        """Return L x of each row: Euclid's distances of these are the metric's.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> rows, classes = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], ["a", "a", "b"]
        >>> LargeMarginMetric(2).fit(rows, classes).transform([[2.0, 0.0]]).shape
        (1, 2)
        """
        return self._as_asked(X, np.asarray(self._read(X) @ self.components_.T))

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Learn the metric, and return L x of each row.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument, InvalidFrame, OutOfTime: as for `fit`.

        >>> rows, classes = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], ["a", "a", "b"]
        >>> LargeMarginMetric(2).fit_transform(rows, classes).shape
        (3, 2)
        """
        return self.fit(X, y).transform(X)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names = self._names
        rows = [
            [name, *(f"{x:.6g}" for x in row[:6])]
            for name, row in zip(names[:20], self.metric_[:20].tolist(), strict=True)
        ]
        said = f"{self._begun()}: error {self.error_:.6g}, {self.errors_[0]:.6g} at the start"
        return ["metric", *names[:6]], rows, said if self.converged_ else f"{said}; it had not converged"


class _Error:
    """What is minimised: pairs of one class, and of each such pair who must be farther."""

    def __init__(self, rows: np.ndarray, codes: np.ndarray, k: int, weight: float, clock: Clock) -> None:
        near = nearest(rows, rows, k, clock, own=True).near
        same = codes[near] == codes[:, None]
        row, place = np.nonzero(same)
        self.pairs = rows[row] - rows[near[row, place]]  # x_i - x_j
        i, j, s = np.nonzero(same[:, :, None] & ~same[:, None, :])
        self.rows, self.weight = rows, weight
        self.at = np.zeros(same.shape, np.int64)
        self.at[row, place] = np.arange(len(row))
        self.target = self.at[i, j]
        other, where = np.nonzero(~same)
        self.strangers = rows[other] - rows[near[other, where]]  # x_i - x_l
        self.at[other, where] = np.arange(len(other))
        self.stranger = self.at[i, s]

    def __call__(self, factor: np.ndarray, soft: float = 0.0) -> tuple[float, np.ndarray]:
        """The error of L, and its derivative by M = Lᵀ L.

        With `soft` above 0 a slack counts by its square up to there, which rounds the error's corners off: it
        is then smaller, by soft / 2 for each slack at most.
        """
        pull = ((self.pairs @ factor.T) ** 2).sum(axis=1)
        push = ((self.strangers @ factor.T) ** 2).sum(axis=1)
        slack = np.maximum(1.0 + pull[self.target] - push[self.stranger], 0.0)
        if soft > 0.0:
            steep = np.minimum(slack / soft, 1.0)
            slack = np.where(steep < 1.0, 0.5 * slack * steep, slack - 0.5 * soft)
        else:
            steep = (slack > 0.0).astype(np.float64)
        w = self.weight
        near = (1.0 - w) + w * np.bincount(self.target, steep, len(self.pairs))
        far = w * np.bincount(self.stranger, steep, len(self.strangers))
        slope = (self.pairs * near[:, None]).T @ self.pairs
        slope -= (self.strangers * far[:, None]).T @ self.strangers
        return (1.0 - w) * float(pull.sum()) + w * float(slack.sum()), slope


def _least(
    error: _Error, start: np.ndarray, sparsity: float, steps: int, clock: Clock
) -> tuple[np.ndarray, list[float], int, bool]:
    """L where the error is least, with corners that get sharper; a vector is the weights of a diagonal M."""
    from scipy.optimize import minimize
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    d = error.rows.shape[1]
    diagonal = start.ndim == 1

    def worth(flat: np.ndarray, soft: float) -> tuple[float, np.ndarray]:
        clock.check("learning a metric")
        if diagonal:
            value, slope = error(np.diag(np.sqrt(flat)), soft)
            return value + sparsity * float(flat.sum()), np.diag(slope) + sparsity
        factor = flat.reshape(-1, d)
        value, slope = error(factor, soft)
        return value, (2.0 * factor @ slope).reshape(-1)

    best = now = start.reshape(-1)
    values = [worth(now, 0.0)[0]]
    left, converged = steps, False
    for soft in _SOFT:
        with threadpool_limits(1, "blas"):  # steps of few floats: threads would wait for each other
            found: Any = minimize(
                worth,
                now,
                args=(soft,),
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, None)] * d if diagonal else None,
                options={"maxiter": left, "maxfun": 20 * left, "maxcor": 20},
            )
        now, left = found.x, left - int(found.nit)
        value = worth(now, 0.0)[0]
        if value < values[-1]:
            best = now
            values.append(value)
        converged = bool(left > 0)
        if not converged:
            break
    return best if diagonal else best.reshape(-1, d), values, steps - left, converged


class SimilarityMap(Transformer):
    """The empirical kernel map: represents a row by its similarities to all training rows, for any learner.

    Args:
        similarity: a function of two rows that returns a float; or the name of one of scikit-learn's
            pairwise kernels: "linear", "rbf", "polynomial", "cosine", ...
        gamma: that of the kernel, where it has one; left out: scikit-learn's choice.

    >>> SimilarityMap("linear").fit([[1.0, 2.0], [0.0, 1.0]]).transform([[3.0, 1.0]]).tolist()
    [[5.0, 1.0]]
    """

    _estimator_type = "transformer"
    rows_: np.ndarray

    def __init__(self, similarity: str | Callable[..., float] = "rbf", *, gamma: float | None = None) -> None:
        """Store the similarity; `fit` checks it."""
        self.similarity, self.gamma = similarity, gamma

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember rows; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument: there is no such similarity.
            InvalidFrame: a value is missing or not a number.

        >>> SimilarityMap("linear").fit([[1.0], [2.0]]).rows_.tolist()
        [[1.0], [2.0]]
        """
        if not callable(self.similarity):
            from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS as KNOWN

            if not isinstance(self.similarity, str) or self.similarity not in KNOWN:
                raise InvalidArgument(
                    f"similarity= is a function of two rows, or {listed(sorted(KNOWN))}, not "
                    f"{shown(self.similarity)}.{nearest_word(self.similarity, sorted(KNOWN))}"
                )
        rows, about = self._begin(X)
        return self._keep(about, rows_=rows)

    @property
    def _n_outputs(self) -> int:
        return len(self.rows_)

    def transform(self, X: Any) -> Any:
        """Return the similarity of each row to each row of `fit`, a column for each of these.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.
            TooLarge: the table would not fit into the memory limit.

        >>> SimilarityMap(lambda a, b: abs(a - b).sum()).fit([[1.0], [4.0]]).transform([[2.0]]).tolist()
        [[1.0, 2.0]]
        """
        from sklearn.metrics.pairwise import pairwise_kernels

        rows = self._read(X)
        plan_table(len(rows), len(self.rows_), "similarities")
        more = {} if self.gamma is None else {"gamma": self.gamma}
        found = pairwise_kernels(rows, self.rows_, metric=self.similarity, **more)
        return self._as_asked(X, np.asarray(found, np.float64))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Remember rows, and return the similarity of each to each.

        Args:
            X: numeric rows: a data frame, or an array.
            y: ignored; present for pipelines.

        Raises:
            InvalidArgument, InvalidFrame, TooLarge: as for `fit` and `transform`.

        >>> SimilarityMap("linear").fit_transform([[1.0], [2.0]]).tolist()
        [[1.0, 2.0], [2.0, 4.0]]
        """
        return self.fit(X, y).transform(X)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        said = f", {len(self.rows_):,} rows" if self._fitted else ", not fitted yet"
        return (
            ["column"],
            [[name] for name in (self._names[:20] if self._fitted else [])],
            self._begun() + said,
        )


def plan_table(rows: int, columns: int, what: str) -> None:
    """Refuse a matrix that would not fit into memory."""
    table = f"A table of {rows:,} times {columns:,} {what} takes"
    check_room(8 * rows * columns, table, "Ask about fewer rows at a time")
