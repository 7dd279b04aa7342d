"""A classifier in scikit-learn's conventions: copy, rename, fill in. `->` says what else belongs to it.

-> pgm/adapters/bells.py: this file; a family of several gets a folder
-> pgm/adapters/__init__.py: its import and its name in the list: it is `pgm.adapters.Bells`, and not at the top of `pgm`
-> tests/adapters/test_bells.py: `check` of tests/adapters/estimators.py runs scikit-learn's whole battery, and asserts how
   long it was; and an oracle of its own
-> docs/reference/adapters.rst, CHANGELOG.md: a line each; docs/how-to/classifier-in-a-network.md shows what a network adds

Nothing is needed for the bridge: whatever keeps the conventions is the distribution of a node by
`pgm.EstimatorCPD(Bells().fit(X, y), parents=[...])`, and is fitted inside a network with `sample_weight`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pgm.adapters.rows import RowsClassifier
from pgm.errors import InvalidArgument, shown


class Bells(RowsClassifier):
    """A bell of one width around the mean of each class, and how frequent the class is.

    Args:
        width: the standard deviation of every column in every class.

    After `fit` there are `classes_`, `means_` and `prior_`.

    >>> found = Bells(1.0).fit([[0.0], [1.0], [4.0]], ["a", "a", "b"])
    >>> found.predict([[0.4], [3.5]]).tolist()
    ['a', 'b']
    """

    means_: np.ndarray  # what `fit` finds ends with an underscore
    prior_: np.ndarray

    def __init__(self, width: float = 1.0) -> None:
        self.width = width  # options are kept as they are, and checked by `fit`: grid search sets them

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows; returns the estimator itself.

        Args:
            X: rows: a data frame, or an array.
            y: the class of each row.
            sample_weight: how much each row counts; 1 if left out.

        Raises:
            InvalidArgument: an option is out of range; one class only, or not one for each row.
            InvalidFrame: a value is missing or not a number.

        >>> Bells(1.0).fit([[0.0], [1.0], [4.0]], ["a", "a", "b"]).means_.tolist()
        [[0.5], [4.0]]
        """
        if isinstance(self.width, bool) or not isinstance(self.width, int | float) or not self.width > 0.0:
            raise InvalidArgument(f"width= is a number above 0, not {shown(self.width)}.")
        rows, codes, weights, about = self._begin_classes(X, y, sample_weight)
        shares = weights[:, None] * (codes[:, None] == np.arange(len(about["classes_"])))
        total = shares.sum(axis=0)
        return self._keep(about, means_=shares.T @ rows / total[:, None], prior_=total / total.sum())

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return P(class | row), a column for each of `classes_`; logarithms first, so that none underflows.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: there was no `fit`.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> Bells(1.0).fit([[0.0], [4.0]], ["a", "b"]).predict_proba([[2.0]]).tolist()
        [[0.5, 0.5]]
        """
        rows = self._read(X)
        off = (rows**2).sum(axis=1)[:, None] - 2.0 * rows @ self.means_.T + (self.means_**2).sum(axis=1)
        logs = np.log(self.prior_) - 0.5 * off / self.width**2
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        """What is printed: header, rows, and a note below."""
        rows = [
            [str(c), f"{p:.6g}", *(f"{m:.6g}" for m in mean[:6])]
            for c, p, mean in zip(self.classes_, self.prior_, self.means_, strict=True)
        ]
        return ["class", "P(class)", *self._names[:6]], rows[:20], self._begun()
