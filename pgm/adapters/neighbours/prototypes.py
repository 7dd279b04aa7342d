"""The nearest mean, or the nearest of several prototypes of each class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.adapters.kmeans import KMeans
from pgm.adapters.rows import RowsClassifier, whole
from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.randomness import generator
from pgm.runtime.clock import in_one_time

DISTANCES = ("euclidean", "shared", "mahalanobis")


class PrototypeClassifier(RowsClassifier):
    """The nearest-prototype classifier; with one prototype per class, the nearest-mean classifier.

    Prototypes are the centres that k-means finds among the rows of a class. scikit-learn's `NearestCentroid`
    has one for each class, and no covariances.

    Args:
        prototypes: the number for each class.
        distance: "euclidean"; "shared" takes the Mahalanobis distance by the covariance within classes;
            "mahalanobis" that of each class. These two are squares, without a root and without the
            determinants that a normal density also has.
        starts: the number of starts of k-means; the best is kept.
        seed: seed of the starts.

    After `fit` there are `prototypes_`, a row for each; `codes_`, the places of their classes in `classes_`;
    and `covariances_`, for each class, if a distance takes them.

    >>> told = PrototypeClassifier().fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    >>> told.prototypes_.tolist(), told.predict([[2.0], [3.0]]).tolist()
    ([[0.5], [5.0]], ['a', 'b'])
    """

    prototypes_: np.ndarray
    codes_: np.ndarray
    covariances_: np.ndarray | None
    _roots: np.ndarray | None

    def __init__(
        self,
        prototypes: int = 1,
        *,
        distance: str = "euclidean",
        starts: int = 1,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Store the options; `fit` checks them."""
        self.prototypes, self.distance = prototypes, distance
        self.starts, self.seed = starts, seed

    @in_one_time
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the prototypes of each class; returns the classifier itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.
            sample_weight: the weight of each row, as if repeated; by default 1.

        Raises:
            InvalidArgument: an option is out of range; one class only; a class with fewer rows than
                prototypes, or whose covariance is singular.
            InvalidFrame: a value is missing or not a number.

        >>> PrototypeClassifier().fit([[0.0], [1.0], [9.0]], [0, 0, 1]).prototypes_.tolist()
        [[0.5], [9.0]]
        """
        if not isinstance(self.distance, str) or self.distance not in DISTANCES:
            raise InvalidArgument(
                f"distance= is {listed(DISTANCES)}, not {shown(self.distance)}."
                f"{nearest(self.distance, DISTANCES)}"
            )
        rows, codes, weights, about = self._begin_classes(X, y, sample_weight)
        k, starts = whole("prototypes", self.prototypes), whole("starts", self.starts)
        classes = about["classes_"]
        mass = np.bincount(codes, weights)
        if mass.min() < k * (1.0 - 1e-12):
            raise InvalidArgument(
                f"prototypes={k}, and the class {shown(classes.tolist()[int(mass.argmin())])} has "
                f"{mass.min():g} rows: take fewer."
            )
        random = generator(self.seed)
        found = [
            _centres(rows[codes == c], weights[codes == c], k, starts, random) for c in range(len(classes))
        ]
        covariances = roots = None
        if self.distance != "euclidean":
            means = np.column_stack([np.bincount(codes, column * weights) / mass for column in rows.T])
            off = (rows - means[codes]) * np.sqrt(weights)[:, None]
            each = np.array([off[codes == c].T @ off[codes == c] for c in range(len(classes))])
            shared = self.distance == "shared"
            covariances = each.sum(axis=0)[None] / mass.sum() if shared else each / mass[:, None, None]
            roots = np.array(
                [
                    _root(one, None if shared else classes.tolist()[c], self.distance)
                    for c, one in enumerate(covariances)
                ]
            )
        return self._keep(
            about,
            prototypes_=np.concatenate(found),
            codes_=np.repeat(np.arange(len(classes)), k),
            covariances_=covariances,
            _roots=roots,
        )

    def distances(self, X: Any) -> np.ndarray:
        """Return how far each row is from the nearest prototype of each class.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> PrototypeClassifier().fit([[0.0], [1.0], [9.0]], [0, 0, 1]).distances([[2.0]]).tolist()
        [[1.5, 7.0]]
        """
        from scipy.spatial.distance import cdist

        rows = self._read(X)
        if self._roots is None:
            far = cdist(rows, self.prototypes_)
        elif len(self._roots) == 1:
            far = cdist(rows @ self._roots[0], self.prototypes_ @ self._roots[0], "sqeuclidean")
        else:
            far = np.column_stack(
                [
                    cdist(rows @ root, self.prototypes_[self.codes_ == c] @ root, "sqeuclidean")
                    for c, root in enumerate(self._roots)
                ]
            )
        return np.asarray(np.minimum.reduceat(far, np.searchsorted(self.codes_, self._places()), axis=1))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return minus the distance to each class; for two classes, how much nearer the second is.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> PrototypeClassifier().fit([[0.0], [1.0], [9.0]], [0, 0, 1]).decision_function([[2.0]]).tolist()
        [-5.5]
        """
        far = self.distances(X)
        return np.asarray(far[:, 0] - far[:, 1] if far.shape[1] == 2 else -far)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the nearest prototype; ties go to the first in `classes_`.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> PrototypeClassifier().fit([[0.0], [1.0], [9.0]], [0, 0, 1]).predict([[2.0]]).tolist()
        [0]
        """
        best = self.distances(X).argmin(axis=1)
        return np.asarray(self.classes_[best])

    def _places(self) -> np.ndarray:
        return np.arange(len(self.classes_))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        names = self._names
        rows = [
            [str(self.classes_[c]), *(f"{x:.6g}" for x in place[:6])]
            for c, place in zip(self.codes_[:20].tolist(), self.prototypes_[:20].tolist(), strict=True)
        ]
        return ["class", *names[:6]], rows, self._begun()


def _centres(
    rows: np.ndarray, weights: np.ndarray, k: int, starts: int, random: np.random.Generator
) -> np.ndarray:
    """The prototypes of a class."""
    if k == 1:
        return np.average(rows, axis=0, weights=weights)[None]
    times = -(-k // len(rows))  # a row of weight 2 is two rows, which may be two prototypes
    rows, weights = np.tile(rows, (times, 1)), np.tile(weights, times) / times
    found = KMeans(k, starts=starts, seed=random).fit(rows, sample_weight=weights)
    return np.asarray(found.cluster_centers_)


def _root(covariance: np.ndarray, name: Any, distance: str) -> np.ndarray:
    """A matrix R with R Rᵀ the inverse of a covariance: distances of rows times it are Mahalanobis'."""
    whose = "within the classes" if name is None else f"of the class {shown(name)}"
    values, vectors = np.linalg.eigh(covariance)
    if values[0] <= 1e-12 * values[-1]:
        raise InvalidArgument(
            f'distance="{distance}" takes the inverse of the covariance {whose}, which is singular: take '
            'distance="euclidean", more rows, or leave out columns that follow from others.'
        )
    return np.asarray(vectors / np.sqrt(values))
