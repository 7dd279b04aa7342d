"""Logistic discrimination as an estimator: sigmoid or softmax of linear or quadratic functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.adapters.rows import RowsClassifier, positive, whole
from pgm.errors import ConvergenceWarning, InvalidArgument, listed, nearest, shown, warn
from pgm.printing import label
from pgm.randomness import generator
from pgm.runtime.room import check_room

from .objectives import Objective, named, sigmoid, softmax
from .optimisers import GLOBAL, LOCAL, OPTIMISERS, Found, Stopping, descend, minimise, search
from .quadrics import form_of, leading, products, weights_of_form
from .trace import LogisticTrace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOSSES = ("cross-entropy", "squares")
_NEAR_ZERO = 0.01  # the random start: between plus and minus this
_CELLS = 6  # weights that are printed


class LogisticDiscriminant(RowsClassifier):
    """P(class | row) as the sigmoid of a linear function; for three or more classes, the softmax.

    There is a choice of optimisers, and `trace_` records the steps. The error is not regularised:
    scikit-learn's LogisticRegression(C=np.inf) finds the same optimum.

    Args:
        loss: "cross-entropy", the likelihood of the classes; or "squares", half the squared errors of
            sigmoids, with three or more classes one for each: discrimination by regression, whose outputs
            need not sum to one (`outputs`).
        quadratic: whether to add products of two columns, for quadratic log odds.
        rank: how many leading eigenvectors of each quadratic form are kept, in the end; all if left out.
        optimizer: "newton", "bfgs" or "cg", which use the curvature; "gradient", batch gradient descent;
            "annealing" or "genetic", global search within bounds.
        rate: of "gradient": how much of the summed gradient is a step; left out, so much that the error
            never rises.
        max_iter: the maximum number of steps.
        tol: of the largest component of the mean gradient, at which a search has converged; None: "gradient"
            makes `max_iter` steps.
        patience: early stopping of "gradient": it ends when no row is misclassified, or when for so many
            steps not fewer were; the weights with the fewest are kept.
        validation: the share of rows that are not learned from, on which `patience` counts; 0: on those
            that are.
        init: the initial weights: "zero", "random" (uniform between -.01 and .01), or an array, a row for
            each output, the intercept last.
        bound: of "annealing" and "genetic": weights lie between minus this and this.
        seed: seed of the random draws.

    After `fit` there are `coef_` and `intercept_` (a row for each output, one for two classes), `quadratic_`
    (a symmetric matrix for each output), `n_iter_`, `converged_`, `loss_` (what is minimised) and `trace_`.

    >>> told = LogisticDiscriminant(optimizer="gradient", rate=0.1, max_iter=2, tol=None)
    >>> told = told.fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> told.coef_.round(6).tolist(), told.intercept_.round(6).tolist()
    ([[0.255592]], [-0.048415])
    """

    coef_: np.ndarray
    intercept_: np.ndarray
    quadratic_: np.ndarray
    n_iter_: int
    converged_: bool
    loss_: float
    trace_: LogisticTrace

    def __init__(
        self,
        *,
        loss: str = "cross-entropy",
        quadratic: bool = False,
        rank: int | None = None,
        optimizer: str = "newton",
        rate: float | None = None,
        max_iter: int = 1000,
        tol: float | None = 1e-4,
        patience: int | None = None,
        validation: float = 0.0,
        init: Any = "zero",
        bound: float = 20.0,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.loss, self.quadratic, self.rank, self.optimizer = loss, quadratic, rank, optimizer
        self.rate, self.max_iter, self.tol, self.patience = rate, max_iter, tol, patience
        self.validation, self.init, self.bound, self.seed = validation, init, bound, seed

    # --- learning ---

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the weights; returns the classifier itself.

        Args:
            X: rows: a data frame, or an array.
            y: the class of each row.
            sample_weight: the weight of each row; by default 1.

        Raises:
            InvalidArgument: an option is out of range or without effect; a rate at which weights explode.
            InvalidFrame: a value is missing or not a number.
            TooLarge: more products of columns than the memory has room for.
            OutOfTime: the time limit is reached.

        >>> told = LogisticDiscriminant().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"])
        >>> told.predict([[1.5], [3.5]]).tolist()
        ['a', 'b']
        """
        self._check()
        rows, codes, weights, about = self._begin_classes(X, y, sample_weight)
        k, (n, d) = len(about["classes_"]), rows.shape
        random = generator(self.seed)
        wide = self._wide(rows)
        targets = codes[None, :] if k == 2 else np.eye(k)[:, codes]
        squares = self.loss == "squares"
        watched = None
        if self.validation:
            held = np.zeros(n, bool)
            held[random.permutation(n)[: max(1, round(float(self.validation) * n))]] = True
            if held.all() or len(np.unique(codes[~held])) < k:
                raise InvalidArgument(
                    f"validation={self.validation:g} of {n:,} rows leaves a class without rows to learn from."
                )
            watched = Objective(wide[held], targets[:, held], weights[held], squares)
            wide, targets, weights = wide[~held], targets[:, ~held], weights[~held]
        target = Objective(wide, targets, weights, squares)
        stop = Stopping(
            whole("max_iter", self.max_iter),
            None if self.tol is None else positive("tol", self.tol),
            None if self.patience is None else whole("patience", self.patience),
            watched,
        )
        found = self._minimised(target, self._start(target.shape, random), stop, random)
        matrix = found.weights.reshape(target.shape)
        learned: dict[str, Any] = {"coef_": matrix[:, :d].copy(), "intercept_": matrix[:, -1].copy()}
        if self.quadratic:
            forms = np.array([form_of(own, d) for own in matrix[:, d:-1]])
            if self.rank is not None:
                forms = np.array([leading(form, int(self.rank)) for form in forms])
                kept = np.array([weights_of_form(form) for form in forms])
                matrix = np.column_stack([matrix[:, :d], kept, matrix[:, -1]])
            learned["quadratic_"] = forms
        if not found.converged and stop.patience is None and stop.tol is not None:
            warn(
                f"{found.steps:,} steps of {self.optimizer!r} did not reach tol={stop.tol:g}: raise "
                "max_iter=, scale the columns (StandardScaler), or pass tol=None if that many steps were "
                "intended. "
                "Classes that a line parts have no largest likelihood.",
                ConvergenceWarning,
            )
        vars(self).pop("quadratic_", None)
        return self._keep(
            about,
            **learned,
            n_iter_=found.steps,
            converged_=found.converged,
            loss_=target.value(matrix.reshape(-1)),
            trace_=found.trace,
        )

    def _check(self) -> None:
        for name, asked, known in (
            ("loss", self.loss, LOSSES),
            ("optimizer", self.optimizer, OPTIMISERS),
        ):
            if not isinstance(asked, str) or asked not in known:
                raise InvalidArgument(
                    f"{name}= is {listed(known)}, not {shown(asked)}.{nearest(asked, known)}"
                )
        if not isinstance(self.quadratic, bool | np.bool_):
            raise InvalidArgument(f"quadratic= is True or False, not {shown(self.quadratic)}.")
        if self.rank is not None:
            whole("rank", self.rank, 0)
            if not self.quadratic:
                raise InvalidArgument("rank= has no effect without quadratic=True.")
        if self.optimizer != "gradient":
            for name in ("rate", "patience"):
                if getattr(self, name) is not None:
                    raise InvalidArgument(f'{name}= is of optimizer="gradient", not of {self.optimizer!r}.')
        v = self.validation
        if isinstance(v, bool) or not isinstance(v, int | float) or not 0.0 <= v < 1.0:
            raise InvalidArgument(f"validation= is a share of the rows, 0 to less than 1, not {shown(v)}.")
        if v and self.patience is None:
            raise InvalidArgument("validation= has no effect without patience=, which counts on those rows.")

    def _minimised(
        self, target: Objective, start: np.ndarray, stop: Stopping, random: np.random.Generator
    ) -> Found:
        if self.optimizer == "gradient":
            return descend(
                target, start, target.rate if self.rate is None else positive("rate", self.rate), stop
            )
        if self.optimizer in LOCAL:
            return minimise(target, start, self.optimizer, stop)
        assert self.optimizer in GLOBAL
        return search(target, start, self.optimizer, positive("bound", self.bound), random, stop)

    def _start(self, shape: tuple[int, int], random: np.random.Generator) -> np.ndarray:
        if isinstance(self.init, str):
            if self.init not in ("zero", "random"):
                raise InvalidArgument(f"init= is 'zero', 'random' or weights, not {shown(self.init)}.")
            if self.init == "zero":
                return np.zeros(shape[0] * shape[1])
            return random.uniform(-_NEAR_ZERO, _NEAR_ZERO, shape[0] * shape[1])
        try:
            found = np.array(self.init, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.array(np.nan)
        if found.size != shape[0] * shape[1] or not np.isfinite(found).all():
            raise InvalidArgument(
                f"init= has {shape[0]} by {shape[1]} weights, outputs by columns, the intercept last, not "
                f"{shown(self.init)}."
            )
        return found.reshape(-1)

    def _wide(self, rows: np.ndarray) -> np.ndarray:
        """The columns, all products of two of them if those are wanted, and a column of ones."""
        n, d = rows.shape
        if not self.quadratic:
            return np.column_stack([rows, np.ones(n)])
        needed = 8 * n * (d * (d + 1) // 2 + d + 1) * 3
        check_room(needed, f"{d:,} columns have {d * (d + 1) // 2:,} products: in {n:,} rows they take")
        return np.column_stack([rows, products(rows), np.ones(n)])

    # --- questions ---

    def _scores(self, X: Any) -> np.ndarray:
        rows = self._read(X)
        found = rows @ self.coef_.T + self.intercept_
        if hasattr(self, "quadratic_"):
            found += np.einsum("nj,kjl,nl->nk", rows, self.quadratic_, rows, optimize=True)
        return np.asarray(found)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log odds of the second of two classes; of more, what each class is chosen by.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LogisticDiscriminant(optimizer="gradient", rate=0.1, max_iter=1, tol=None)
        >>> told = told.fit([[1.0], [2.0]], [0, 1])
        >>> told.decision_function([[2.0]]).round(6).tolist()
        [0.1]
        """
        found = self._scores(X)
        return found[:, 0] if found.shape[1] == 1 else found

    def outputs(self, X: Any) -> np.ndarray:
        """Return what each output says: sigmoids, which by squares need not sum to one, or the softmax.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LogisticDiscriminant(loss="squares", optimizer="gradient", rate=0.1, max_iter=1, tol=None)
        >>> told.fit([[0.0], [1.0], [2.0]], ["a", "b", "c"]).outputs([[1.0]]).round(6).tolist()
        [[0.487503, 0.49375, 0.5]]
        """
        found = self._scores(X)
        if self.loss == "squares" or found.shape[1] == 1:
            return sigmoid(found)
        return np.ascontiguousarray(softmax(np.ascontiguousarray(found.T)).T)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P(class | row), a row for each row, a column for each of `classes_`.

        Sigmoids of three or more classes, by squares, are divided by their sum.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LogisticDiscriminant(optimizer="gradient", rate=0.1, max_iter=1, tol=None)
        >>> told = told.fit([[1.0], [2.0]], [0, 1])
        >>> told.predict_proba([[0.0]]).tolist()
        [[0.5, 0.5]]
        """
        found = self.outputs(X)
        if found.shape[1] == 1:
            return np.column_stack([sigmoid(-self._scores(X)[:, 0]), found[:, 0]])
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row; of equals the one that comes first in `classes_`.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = LogisticDiscriminant().fit([[-1.0], [1.0]], [7, 9])
        >>> told.predict([[-3.0], [0.2]]).tolist()
        [7, 9]
        """
        scores = self._scores(X)
        return np.asarray(self.classes_[named(scores.T)])

    def plot(
        self,
        X: Any,
        y: Any = None,
        *,
        columns: Any = None,
        reject: float | None = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Return a plot of the regions of the classes in one column or two; see `pgm.evaluation.regions`.

        Args:
            X: rows, which say how far the picture reaches.
            y: their classes; given, the rows are drawn.
            columns: one or two columns; by default the first two.
            reject: what it costs to name no class.
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there is no such column.
        """
        from pgm import plot

        self._read(X)
        return plot.classifier_regions(
            self, X, y, columns=columns, reject=reject, ax=ax, figsize=figsize, title=title
        )

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names = self._names
        shows = names[:_CELLS]
        rows = []
        classes = self.classes_[1:] if len(self.coef_) == 1 else self.classes_
        for name, w, w0 in zip(classes.tolist(), self.coef_.tolist(), self.intercept_.tolist(), strict=True):
            rows.append([label(name), f"{w0:.6g}", *(f"{x:.6g}" for x in w[:_CELLS])])
        notes = [f"{self._begun()}: {self.loss} {self.loss_:.6g} after {self.n_iter_:,} steps"]
        if not self.converged_:
            notes.append("stopped before it converged")
        if hasattr(self, "quadratic_"):
            kept = "" if self.rank is None else f" of rank {self.rank}"
            notes.append(f"and a quadratic form{kept} of all columns for each: quadratic_")
        if len(names) > _CELLS:
            notes.append(f"{len(names) - _CELLS:,} more columns")
        return ["class", "1", *map(label, shows)], rows, "; ".join(notes)
