"""Networks with a hidden unit per row: probabilistic neural network, reduced Coulomb energy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.adapters.rows import RowsClassifier, positive, row_weights
from pgm.errors import InvalidArgument, shown
from pgm.evidence import Likelihood
from pgm.models.classifiers.conventions import labels_of
from pgm.runtime.clock import start_clock

from .searching import loop

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLOCK = 2**22  # activations that are held at once
REGIONS = ("class", "conflict", "none")


class ProbabilisticNeuralNetwork(RowsClassifier):
    """A probabilistic neural network: a unit for each row, w = x / |x|, with exp((x·w - 1) / sigma²).

    All rows are scaled to unit length, in prediction too, so the activation is exp(-|x - w|² / 2 sigma²), a
    Gaussian window. Each class sums the activations of its units; the largest sum wins. `partial_fit` adds
    units for new rows at any time. A row of zeros has no direction and is left as it is: x·w is 0.

    Args:
        sigma: the width of the window.

    After `fit` there are `weights_`, a row for each hidden unit, `codes_`, the places of the classes that
    they are linked to in `classes_`, and `row_weights_`, by which their activations are multiplied.

    >>> rows, classes = [[1, 0], [3, 4], [0, 1], [-1, 0]], [1, 1, 2, 2]
    >>> told = ProbabilisticNeuralNetwork().fit(rows, classes)
    >>> told.activations([[4, 3]]).round(6).tolist(), told.predict_proba([[4, 3]]).round(6).tolist()
    ([[1.77952, 0.835619]], [[0.680469, 0.319531]])
    """

    weights_: np.ndarray
    codes_: np.ndarray
    row_weights_: np.ndarray

    def __init__(self, sigma: float = 1.0) -> None:
        """Store the width; `fit` checks it."""
        self.sigma = sigma

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make a unit of each row; returns the network itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.
            sample_weight: the weight of each row, as if repeated; by default 1.

        Raises:
            InvalidArgument: sigma is not positive; one class only.
            InvalidFrame: a value is missing or not a number.

        >>> ProbabilisticNeuralNetwork().fit([[3, 4], [0, 2]], ["a", "b"]).weights_.tolist()
        [[0.6, 0.8], [0.0, 1.0]]
        """
        positive("sigma", self.sigma)
        rows, codes, weights, about = self._begin_classes(X, y, sample_weight)
        return self._keep(about, weights_=_of_length_one(rows), codes_=codes, row_weights_=weights)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add a unit for each of these rows; returns the network itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.
            classes: all classes that there may ever be; needed by the first call, unless `fit` came before.
            sample_weight: the weight of each row, as if repeated; by default 1.

        Raises:
            InvalidArgument: an unknown class; sigma is not positive.
            InvalidFrame: a value is missing or not a number.

        >>> told = ProbabilisticNeuralNetwork().partial_fit([[3, 4]], ["a"], classes=["a", "b"])
        >>> told.partial_fit([[0, 2]], ["b"]).weights_.shape
        (2, 2)
        """
        positive("sigma", self.sigma)
        if not self._fitted:
            if classes is None:
                raise InvalidArgument("The first call of partial_fit names all classes: classes=[...].")
            rows, about = self._begin(X)
            about["classes_"] = np.unique(np.asarray(classes))
            units, codes, mass = np.empty((0, rows.shape[1])), np.empty(0, np.int64), np.empty(0)
        else:
            rows, about = self._read(X), {}
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
                raise InvalidArgument(
                    f"classes={shown(classes)}, and the first call named {shown(self.classes_.tolist())}."
                )
            units, codes, mass = self.weights_, self.codes_, self.row_weights_
        known: np.ndarray = about["classes_"] if "classes_" in about else self.classes_
        labels = labels_of(y, len(rows))
        strange = ~np.isin(labels, known)
        if strange.any():
            raise InvalidArgument(
                f"y has the class {shown(labels[strange].tolist()[0])}, and the first call named "
                f"{shown(known.tolist())}."
            )
        weights = row_weights(sample_weight, len(rows))
        keep = weights > 0.0
        kept = {
            "weights_": np.concatenate([units, _of_length_one(rows[keep])]),
            "codes_": np.concatenate([codes, np.searchsorted(known, labels[keep])]),
            "row_weights_": np.concatenate([mass, weights[keep]]),
        }
        if self._fitted:
            vars(self).update(kept)
            return self
        return self._keep(about, **kept)

    def activations(self, X: Any) -> np.ndarray:
        """Return the sum of activations of each class, g.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = ProbabilisticNeuralNetwork().fit([[3, 4], [0, 2]], ["a", "b"])
        >>> told.activations([[0, 7]]).round(6).tolist()
        [[0.818731, 1.0]]
        """
        sums, best = self._sums(X)
        return np.asarray(sums * np.exp(best))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the share of each class in the activations.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = ProbabilisticNeuralNetwork().fit([[3, 4], [0, 2]], ["a", "b"])
        >>> told.predict_proba([[0, 7]]).round(6).tolist()
        [[0.450166, 0.549834]]
        """
        sums, _ = self._sums(X)
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))

    def _sums(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The outputs, each row divided by its strongest unit, and the logarithm of that: none underflow."""
        queries, clock = _of_length_one(self._read(X)), start_clock()
        order = np.argsort(self.codes_, kind="stable")
        weights, codes, mass = self.weights_[order], self.codes_[order], self.row_weights_[order]
        there = np.unique(codes)
        begins = np.searchsorted(codes, there)
        found, best = np.zeros((len(queries), len(self.classes_))), np.empty((len(queries), 1))
        size = max(1, _BLOCK // len(weights))
        for begin in range(0, len(queries), size):
            clock.check("units")
            z = queries[begin : begin + size] @ weights.T
            top = z.max(axis=1, keepdims=True)
            z -= top
            z /= self.sigma**2
            np.exp(z, out=z)
            z *= mass
            found[begin : begin + size, there] = np.add.reduceat(z, begins, axis=1)
            best[begin : begin + size] = (top - 1.0) / self.sigma**2
        return found, best

    def plot(
        self,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw columns, hidden units and classes in three layers, some of each if many; returns the Axes.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
        """
        from pgm import plot

        self._check_fitted()
        return plot.layers(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        counts = np.bincount(self.codes_, minlength=len(self.classes_)).tolist()
        rows = [[str(c), f"{n:,}"] for c, n in zip(self.classes_[:20].tolist(), counts, strict=False)]
        return ["class", "hidden units"], rows, f"{self._begun()}: {self.n_features_in_} inputs"


class RCENetwork(RowsClassifier):
    """Reduced Coulomb energy (RCE): about each row the largest disc without a row of another class.

    In discs of one class only, a query is of that class; in discs of several classes, there is
    a conflict; outside all discs nothing is known. `regions` tells which, and `evidence` turns it into
    likelihoods for a network.

    Args:
        largest: the largest radius; by default there is no limit.
        margin: how much smaller a radius is than the distance to the nearest row of another class. Discs are
            open: that row is outside also with margin 0.
        unit_length: whether rows are scaled to length one.

    After `fit` there are `centres_`, `codes_`, the places of their classes in `classes_`, and `radii_`.

    >>> told = RCENetwork().fit([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], list("aaabbb"))
    >>> told.radii_.tolist()
    [5.0, 4.0, 3.0, 3.0, 4.0, 5.0]
    >>> told.regions([[-1.0], [3.0], [11.0], [12.0]]).tolist()
    ['class', 'conflict', 'class', 'none']
    """

    centres_: np.ndarray
    codes_: np.ndarray
    radii_: np.ndarray
    _shares: np.ndarray

    def __init__(
        self, *, largest: float | None = None, margin: float = 0.0, unit_length: bool = False
    ) -> None:
        """Store the options; `fit` checks them."""
        self.largest, self.margin, self.unit_length = largest, margin, unit_length

    def fit(self, X: Any, y: Any) -> Self:
        """Find the radius of each row; returns the network itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument: an option is out of range; one class only.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> RCENetwork(largest=2.0).fit([[0.0], [9.0], [10.0]], ["a", "a", "b"]).radii_.tolist()
        [2.0, 1.0, 1.0]
        """
        largest = math.inf if self.largest is None else positive("largest", self.largest)
        margin = 0.0 if self.margin == 0 else positive("margin", self.margin)
        rows, codes, _, about = self._begin_classes(X, y)
        if self.unit_length:
            rows = _of_length_one(rows)
        n = len(rows)
        near, far = np.empty(n, np.int64), np.empty(n)
        loop(
            "nearest_stranger", np.ravel(rows, "F"), rows.shape[1], rows.reshape(-1), codes, near, far,
            steps=0.5 * n * rows.size, clock=start_clock(),
        )  # fmt: skip
        radii = np.clip(np.sqrt(far) - margin, 0.0, largest)
        # The square of a root may be beyond the square: no radius reaches a row of another class.
        radii = np.where(radii**2 > far, np.nextafter(radii, 0.0), radii)
        shares = np.bincount(codes) / n
        return self._keep(about, centres_=rows, codes_=codes, radii_=radii, _shares=shares)

    def counts(self, X: Any) -> np.ndarray:
        """Return how many discs of each class contain each row.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> RCENetwork().fit([[0.0], [9.0], [10.0]], ["a", "a", "b"]).counts([[9.5], [20.0]]).tolist()
        [[2, 1], [0, 0]]
        """
        queries, clock = self._read(X), start_clock()
        if self.unit_length:
            queries = _of_length_one(queries)
        m, classes = len(queries), len(self.classes_)
        found = np.zeros((m, classes), np.int64)
        loop(
            "discs", np.ravel(self.centres_, "F"), self.n_features_in_, self.codes_, self.radii_**2,
            queries.reshape(-1), classes, found.reshape(-1), steps=0.5 * m * self.centres_.size, clock=clock,
        )  # fmt: skip
        return found

    def regions(self, X: Any) -> np.ndarray:
        """Return for each row whether it lies in discs of one "class", in "conflict", or in "none".

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> RCENetwork().fit([[0.0], [9.0], [10.0]], ["a", "a", "b"]).regions([[9.5], [20.0]]).tolist()
        ['conflict', 'none']
        """
        classes = (self.counts(X) > 0).sum(axis=1)
        return np.asarray(np.array(["none", "class", "conflict"])[np.minimum(classes, 2)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the shares of the classes among the discs; where there is none, those of the rows of `fit`.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = RCENetwork().fit([[0.0], [9.0], [10.0]], ["a", "a", "b"])
        >>> told.predict_proba([[9.5], [20.0]]).round(6).tolist()
        [[0.666667, 0.333333], [0.666667, 0.333333]]
        """
        found = self.counts(X).astype(np.float64)
        whole = found.sum(axis=1, keepdims=True)
        return np.asarray(np.where(whole > 0.0, found / np.maximum(whole, 1.0), self._shares))

    def evidence(self, X: Any, *, error: float = 0.0) -> list[Likelihood | None]:
        """Return the evidence of each row about its class, for a node that has these classes as states.

        One class: that class. A conflict: the shares of the discs. No disc: None, nothing is known.

        Args:
            X: rows, as for `fit`.
            error: the error rate of the discs: this fraction is spread evenly over all classes.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: the error is not in [0, 1].
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> told = RCENetwork().fit([[0.0], [9.0], [10.0]], ["a", "a", "b"])
        >>> told.evidence([[-1.0], [9.5], [20.0]], error=0.5)[0]
        Likelihood({'a': 0.75, 'b': 0.25})
        """
        if isinstance(error, bool) or not isinstance(error, int | float) or not 0.0 <= error < 1.0:
            raise InvalidArgument(
                f"error= is a number from 0 up to, but not including, 1, not {shown(error)}."
            )
        found = self.counts(X)
        names, k = self.classes_.tolist(), len(self.classes_)
        whole = np.maximum(found.sum(axis=1, keepdims=True), 1)
        said = ((1.0 - error) * found / whole + error / k).tolist()
        there = found.sum(axis=1).tolist()
        return [
            Likelihood(dict(zip(names, row, strict=True))) if known else None
            for row, known in zip(said, there, strict=True)
        ]

    def plot(
        self,
        *,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the discs about the rows, in dark where they conflict; returns the Axes.

        Args:
            ax: axes to draw on; by default a new figure.
            figsize: width and height of a new figure in inches; by default as large as the content needs.
            title: the title; by default what is shown.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidArgument: there are not two columns.
        """
        from pgm import plot

        self._check_fitted()
        return plot.discs(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for c, name in enumerate(self.classes_[:20].tolist()):
            own = self.radii_[self.codes_ == c]
            rows.append([str(name), f"{len(own):,}", f"{own.min():.6g}", f"{own.max():.6g}"])
        return ["class", "discs", "smallest radius", "largest"], rows, self._begun()


def _of_length_one(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; those of zeros, which have no direction, as they are."""
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 0.0))
