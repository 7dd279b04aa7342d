"""The objectives of logistic discrimination: cross-entropy or squared error, with derivatives.

Weights have a row for each output, the intercept last; two classes have one output. The equations are those
of Alpaydin (2014), chapter 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_STEEPEST = 0.0771  # the most that the second derivative of (r - sigmoid(a))**2 / 2 can be, rounded up


@dataclass(frozen=True)
class Seen:
    """What weights come to on some rows."""

    error: float
    gradient: np.ndarray
    misclassified: float  # misclassified rows, by weight


class Objective:
    """The error of weights on some rows, its gradient and its curvature.

    Outputs and targets have a row for each output here, and a column for each row of data: sums over outputs
    are then sums of long vectors.

    >>> two = Objective(np.array([[1.0, 1.0], [2.0, 1.0]]), np.array([[0.0, 1.0]]), np.ones(2), False)
    >>> round(two.value(np.zeros(2)), 6), two.gradient(np.zeros(2)).tolist()
    (1.386294, [-0.5, 0.0])
    """

    def __init__(self, rows: np.ndarray, targets: np.ndarray, weights: np.ndarray, squares: bool) -> None:
        """Take what the error is of.

        Args:
            rows: with a last column of ones.
            targets: 1 where a row is of the class of the output, else 0.
            weights: of each row.
            squares: half the squared errors of sigmoids, not cross-entropy.
        """
        self.rows = rows
        self.columns = np.ascontiguousarray(rows.T)
        self.targets = np.ascontiguousarray(targets, dtype=np.float64)
        self.weights = weights
        self.squares = squares
        self.true = named(self.targets - 0.5)
        self.signs = 1.0 - 2.0 * self.targets[0]  # -1 where a row is of the class of the first output
        self.shape = (len(targets), rows.shape[1])  # of the weights

    def _scores(self, flat: np.ndarray) -> np.ndarray:
        return np.asarray(flat.reshape(self.shape) @ self.columns)

    def _outputs(self, scores: np.ndarray) -> np.ndarray:
        return sigmoid(scores) if self.squares or len(scores) == 1 else softmax(scores)

    def _value(self, scores: np.ndarray, outputs: np.ndarray) -> float:
        """The error: (10.23) and (10.31), or (10.38) and (10.43)."""
        if self.squares:
            off = self.targets - outputs
            return 0.5 * float(self.weights @ (off * off).sum(axis=0))
        if len(scores) == 1:
            a = self.signs * scores[0]
            # log(1 + exp(a)), in a fifth of the time that np.logaddexp takes
            return float(self.weights @ (np.maximum(a, 0.0) + np.log1p(np.exp(-np.abs(a)))))
        return float(self.weights @ (log_sum(scores) - (self.targets * scores).sum(axis=0)))

    def _gradient(self, outputs: np.ndarray) -> np.ndarray:
        """Its derivatives: minus (10.24), (10.33), (10.40) or (10.45) divided by the rate."""
        off = outputs - self.targets
        if self.squares:
            off = off * outputs * (1.0 - outputs)
        return np.asarray(((off * self.weights) @ self.rows).reshape(-1))

    def _wrong(self, scores: np.ndarray) -> float:
        return float(self.weights @ (named(scores) != self.true))

    def look(self, flat: np.ndarray) -> Seen:
        """Everything about some weights, in one pass."""
        scores = self._scores(flat)
        outputs = self._outputs(scores)
        return Seen(self._value(scores, outputs), self._gradient(outputs), self._wrong(scores))

    def value(self, flat: np.ndarray) -> float:
        """The error."""
        scores = self._scores(flat)
        return self._value(scores, self._outputs(scores) if self.squares else scores)

    def gradient(self, flat: np.ndarray) -> np.ndarray:
        """Its derivatives."""
        return self._gradient(self._outputs(self._scores(flat)))

    def misclassified(self, flat: np.ndarray) -> float:
        """The misclassified rows, by weight."""
        return self._wrong(self._scores(flat))

    def curved(self, flat: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The Hessian times a direction."""
        y = self._outputs(self._scores(flat))
        turned = self._scores(along)
        if self.squares:
            slope = y * (1.0 - y)
            bent = slope * (slope + (y - self.targets) * (1.0 - 2.0 * y)) * turned
        elif len(y) == 1:
            bent = y * (1.0 - y) * turned
        else:
            bent = y * (turned - (y * turned).sum(axis=0))
        return np.asarray(((bent * self.weights) @ self.rows).reshape(-1))

    @property
    def rate(self) -> float:
        """A rate at which no step of gradient descent raises the error: one by the largest curvature."""
        gram = (self.columns * self.weights) @ self.rows
        largest = float(np.linalg.eigvalsh(gram)[-1])
        bend = _STEEPEST if self.squares else 0.25 if len(self.targets) == 1 else 0.5
        return 1.0 / (bend * largest)


def named(scores: np.ndarray) -> np.ndarray:
    """The index of the predicted class, from scores with a row for each output; the first of ties.

    >>> named(np.array([[-1.0, 2.0]])).tolist(), named(np.array([[1.0], [3.0], [3.0]])).tolist()
    ([0, 1], [1])
    """
    return np.asarray((scores[0] > 0.0).astype(np.int64) if len(scores) == 1 else scores.argmax(axis=0))


def sigmoid(a: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-a)), without overflow.

    >>> sigmoid(np.array([0.0, -800.0, 800.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    from scipy.special import expit

    return np.asarray(expit(a))


def softmax(a: np.ndarray) -> np.ndarray:
    """Shares of exp(a) in each column.

    >>> softmax(np.array([[800.0], [800.0]])).tolist()
    [[0.5], [0.5]]
    """
    shares = np.exp(a - a.max(axis=0))
    return np.asarray(shares / shares.sum(axis=0))


def log_sum(a: np.ndarray) -> np.ndarray:
    """Log of the sum of exp(a) in each column.

    >>> log_sum(np.array([[800.0], [800.0]])).round(6).tolist()
    [800.693147]
    """
    most = a.max(axis=0)
    return np.asarray(most + np.log(np.exp(a - most).sum(axis=0)))
