"""The voted perceptron, with kernels: each weight vector votes once for each row that it survived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from pgm.adapters.rows import positive, whole
from pgm.errors import InvalidArgument, shown
from pgm.printing import label
from pgm.randomness import generator
from pgm.runtime.clock import Clock, start_clock

from .linear_classifier import ByScores, flag, machines, passes
from .loops import LINEAR

_BLOCK = 64  # rows whose kernel is computed at once
_CELLS = 1 << 22  # entries of a kernel that are held at once
_KERNELS = ("linear", "poly", "rbf")


class VotedPerceptron(ByScores):
    """The voted perceptron (Freund & Schapire 1999): all weight vectors vote, by the rows they survived.

    Weights start at zero; a misclassified row creates a new vector. The classes need not be separable,
    and few passes suffice. With a kernel the weights are sums of kernels of the misclassified rows.

    Args:
        kernel: "linear", 1 + x y; "poly", (1 + gamma x y)**degree; "rbf", exp(-gamma |x - y|**2); or a
            function of two arrays of rows that returns one of all their pairs.
        degree: of "poly".
        gamma: of "poly" and "rbf"; "scale": 1 / (columns * variance of all entries).
        max_iter: the number of passes.
        shuffle: whether each pass goes through the rows in a new random order.
        seed: seed of the random orders.

    After `fit` there are `classes_`, `mistaken_` ({class: the rows in turn}), `votes_` ({class: how many rows
    each weight survived}), `n_mistakes_` and `n_iter_`. There is no `coef_`: a vote is not a hyperplane.

    >>> rows = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    >>> found = VotedPerceptron("poly", gamma=1.0, max_iter=20).fit(rows, ["same", "same", "other", "other"])
    >>> found.predict([[0.1, 0.1], [0.9, 0.1]]).tolist()
    ['same', 'other']
    """

    mistaken_: dict[Any, np.ndarray]
    votes_: dict[Any, np.ndarray]
    n_mistakes_: np.ndarray
    gamma_: float
    _signs: dict[Any, np.ndarray]
    _known: np.ndarray
    _places: dict[Any, np.ndarray]

    def __init__(
        self,
        kernel: str | Callable[[np.ndarray, np.ndarray], Any] = "linear",
        *,
        degree: int = 2,
        gamma: float | str = "scale",
        max_iter: int = 3,
        shuffle: bool = False,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.kernel, self.degree, self.gamma = kernel, degree, gamma
        self.max_iter, self.shuffle, self.seed = max_iter, shuffle, seed

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows; returns the estimator itself.

        Args:
            X: numeric rows: a data frame, or an array.
            y: the class of each row.

        Raises:
            InvalidArgument: an option is out of range; there is one class only, or not one for each row.
            InvalidFrame: a value is missing or not a number.
            OutOfTime: the time limit is reached.

        >>> VotedPerceptron().fit([[0.0], [1.0], [3.0]], ["no", "no", "yes"]).predict([[3.5]]).tolist()
        ['yes']
        """
        self._check()
        rows, codes, _, about = self._begin_classes(X, y)
        gamma = self._gamma(rows)
        random, clock = generator(self.seed), start_clock()
        mistaken, votes, signs = {}, {}, {}
        for name, own in machines(about["classes_"].tolist(), codes):
            sign = np.where(own, 1.0, -1.0)
            mistaken[name], votes[name] = self._follow(rows, sign, gamma, random, clock)
            signs[name] = sign[mistaken[name]]
        known = np.unique(np.concatenate(list(mistaken.values())))
        return self._keep(
            about,
            mistaken_=mistaken,
            votes_=votes,
            n_mistakes_=np.array([len(found) for found in mistaken.values()]),
            n_iter_=int(self.max_iter),
            gamma_=gamma,
            _signs=signs,
            _known=rows[known],
            _places={name: np.searchsorted(known, found) for name, found in mistaken.items()},
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the votes for minus those against, as a fraction from -1 to 1.

        It is positive for the second of two classes; with more, there is one for each class against the rest.

        Args:
            X: rows, as for `fit`.

        Raises:
            IncompleteModel: it is not fitted.
            InvalidFrame: a value is missing or not a number; the columns are not those of `fit`.

        >>> found = VotedPerceptron().fit([[0.0], [1.0], [3.0]], ["no", "no", "yes"])
        >>> found.decision_function([[-1.0], [9.0]]).round(1).tolist()
        [-1.0, 0.6]
        """
        rows = self._read(X)
        found = np.empty((len(rows), len(self.votes_)))
        known = len(self._known)
        block = max(1, _CELLS // known)
        clock = start_clock()
        for begin in range(0, len(rows), block):
            clock.check("voting")
            part = rows[begin : begin + block]
            kernel = np.ascontiguousarray(self._kernel(part, self._known, self.gamma_)).reshape(-1)
            for m, (name, votes) in enumerate(self.votes_.items()):
                shares = np.zeros(len(part))
                LINEAR.add_votes(kernel, known, self._places[name], self._signs[name], votes, shares)
                found[begin : begin + block, m] = shares / votes.sum()
        return found[:, 0] if len(self.classes_) == 2 else found

    # --- implementation ---

    def _check(self) -> None:
        if not callable(self.kernel) and self.kernel not in _KERNELS:
            raise InvalidArgument(
                f"kernel= is {', '.join(map(repr, _KERNELS))} or a function of two arrays, not "
                f"{shown(self.kernel)}."
            )
        whole("degree", self.degree)
        whole("max_iter", self.max_iter)
        flag("shuffle", self.shuffle)
        if not (isinstance(self.gamma, str) and self.gamma == "scale"):
            positive("gamma", np.nan if isinstance(self.gamma, str) else self.gamma)

    def _gamma(self, rows: np.ndarray) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        spread = float(rows.var()) * rows.shape[1]
        return 1.0 / spread if spread > 0.0 else 1.0

    def _kernel(self, these: np.ndarray, those: np.ndarray, gamma: float) -> np.ndarray:
        if self.kernel == "linear":
            return np.asarray(1.0 + these @ those.T)
        if self.kernel == "poly":
            return np.asarray((1.0 + gamma * (these @ those.T)) ** int(self.degree))
        if self.kernel == "rbf":
            from scipy.spatial.distance import cdist

            return np.asarray(np.exp(-gamma * cdist(these, those, "sqeuclidean")))
        assert callable(self.kernel)
        found = np.asarray(self.kernel(these, those), dtype=np.float64)
        if found.shape != (len(these), len(those)) or not np.isfinite(found).all():
            raise InvalidArgument(
                f"kernel= has to return a finite number for each of {len(these)} by {len(those)} pairs, and "
                f"returned {shown(found)}."
            )
        return found

    def _follow(
        self, rows: np.ndarray, signs: np.ndarray, gamma: float, random: np.random.Generator, clock: Clock
    ) -> tuple[np.ndarray, np.ndarray]:
        """The misclassified rows, and how many rows the weights after each survived."""
        n, count = len(rows), 0
        alpha = np.zeros(n)  # how often each row was added, with its sign
        line = np.zeros(rows.shape[1] + 1)  # the resulting weights for a linear kernel, the intercept first
        order, linear = np.arange(n), isinstance(self.kernel, str) and self.kernel == "linear"
        mistaken, votes = np.zeros(_BLOCK, np.int64), np.zeros(_BLOCK, np.int64)
        for _ in passes(int(self.max_iter), "a voted perceptron", clock):
            if self.shuffle:
                order = random.permutation(n)
            for begin in range(0, n, _BLOCK):
                clock.check("a voted perceptron")
                part = order[begin : begin + _BLOCK]
                if count + len(part) > len(votes):
                    mistaken, votes = np.resize(mistaken, 2 * len(votes)), np.resize(votes, 2 * len(votes))
                mine = rows[part]
                gram = np.ascontiguousarray(self._kernel(mine, mine, gamma)).reshape(-1)
                sums = line[0] + mine @ line[1:] if linear else self._values(mine, rows, alpha, gamma)
                before = count
                count = LINEAR.follow_votes(gram, sums, part, signs[part], mistaken, votes, count)
                added = mistaken[before:count]
                alpha[added] += signs[added]
                line += np.concatenate([[signs[added].sum()], signs[added] @ rows[added]])
        return mistaken[:count].copy(), votes[:count].copy()

    def _values(self, these: np.ndarray, rows: np.ndarray, alpha: np.ndarray, gamma: float) -> np.ndarray:
        """The discriminant of the weights so far at some rows."""
        at = np.flatnonzero(alpha)
        found = np.zeros(len(these))
        size = _CELLS // _BLOCK
        for begin in range(0, at.size, size):
            some = at[begin : begin + size]
            found += self._kernel(these, rows[some], gamma) @ alpha[some]
        return found

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [label(name), f"{len(votes):,}", f"{int(votes.max()):,}", f"{int(votes.sum()):,}"]
            for name, votes in list(self.votes_.items())[:20]
        ]
        return ["class", "weights", "most votes", "votes"], rows, self._begun()
