"""Estimators with scikit-learn's conventions, one for each state, as an emission or as a gate."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.frames import Sequences
from pgm.variables import Domain, as_domain

from .gaussian_statistics import near_centres


class Estimators:
    """An estimator for each state: classifiers give probabilities, regressors a mean with normal noise.

    In each step of EM they are refitted, to rows weighted by their posteriors (`sample_weight`). A refit
    that would lower the expected log-likelihood is rejected, so the likelihood never falls.

    Args:
        estimators: a fitted estimator for each state; or one that is copied for each, yet to be fitted.
            As a gate, one for each previous state, whose classes are the next states 0, 1, ...
        symbols: what is emitted, if they are classifiers; their classes are positions in this list.
        variance: of the noise of each state, if they are fitted regressors.
        inputs: how many inputs there are.

    >>> from sklearn.tree import DecisionTreeRegressor
    >>> Estimators(DecisionTreeRegressor(max_depth=2), inputs=1)
    Estimators: DecisionTreeRegressor, yet to be fitted
    """

    kind, label = "estimators", "estimators"
    vector, dim = False, 1
    _log_prior = 0.0

    def __init__(
        self,
        estimators: Any,
        *,
        symbols: Iterable[Any] | None = None,
        variance: Any = None,
        inputs: int | None = None,
    ) -> None:
        fitted = isinstance(estimators, list | tuple)
        self.estimators: tuple[Any, ...] = tuple(estimators) if fitted else ()
        self._prototype = estimators[0] if fitted else estimators
        for one in (*self.estimators, self._prototype):
            if not hasattr(one, "fit") or not hasattr(one, "predict"):
                raise InvalidArgument(f"An estimator has `fit` and `predict`; {shown(one)} does not.")
        self._classifies = hasattr(self._prototype, "predict_proba")
        self.inputs = inputs
        self._domain: Domain | None = None if symbols is None else as_domain(list(symbols))
        if self._domain is not None and not self._classifies:
            raise InvalidArgument("Estimators with symbols= must be classifiers, which have `predict_proba`.")
        self._classes = None if self._domain is None else self._domain.card
        self.variance = np.ones(len(self.estimators))
        if variance is not None:
            self.variance = np.broadcast_to(np.array(variance, float), (len(self.estimators),))
            if not (self.variance > 0).all():
                raise InvalidArgument(f"variance= is positive, not {shown(variance)}.")
        elif fitted and not self._classifies:
            raise InvalidArgument("Fitted regressors need the variance= of their noise.")

    @property
    def has_parameters(self) -> bool:
        """Whether they are fitted."""
        return bool(self.estimators)

    @property
    def n_states(self) -> int | None:
        """How many there are."""
        return len(self.estimators) or None

    @property
    def domain(self) -> Any:
        """The symbols."""
        return self._domain

    @property
    def _n_free(self) -> int:
        return 0  # what an estimator learns cannot be counted

    def is_value(self, value: Any) -> bool:
        """Whether this is a symbol, even if it has a length."""
        return self._domain is not None and self._domain.find(value) >= 0

    def _shaped(self, states: int, classes: int) -> None:
        if not self._classifies:
            raise InvalidArgument("A gate takes classifiers, which have `predict_proba`.")
        if self.estimators and len(self.estimators) != states:
            raise InvalidArgument(f"There are {len(self.estimators)} estimators, but {states} are needed.")
        self._classes = classes

    def _with(self, estimators: list[Any], variance: np.ndarray) -> Self:
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.estimators, made.variance = tuple(estimators), variance
        return made

    def _logs(self, x: np.ndarray) -> np.ndarray:
        assert self._classes is not None
        found = np.zeros((len(x), len(self.estimators), self._classes))
        for i, one in enumerate(self.estimators):
            found[:, i, np.asarray(one.classes_, np.int64)] = one.predict_proba(x)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(found))

    def _fitted_counts(self, x: np.ndarray, counts: np.ndarray) -> Self:
        n, r, c = counts.shape
        rows, classes = np.repeat(x, c, axis=0), np.tile(np.arange(c), n)
        made = []
        for i in range(r):
            heavy = counts[:, i].reshape(-1)
            some = heavy > 0
            if not some.any() and self.estimators:
                made.append(self.estimators[i])
                continue
            made.append(
                copy.deepcopy(self._prototype).fit(rows[some], classes[some], sample_weight=heavy[some])
            )
        return self._better(made, self.variance, lambda new: _expected(new._logs(x), counts))

    def _better(self, made: list[Any], variance: np.ndarray, value: Any) -> Self:
        """The new estimators, but for states in which they lower the expected log-likelihood."""
        new = self._with(made, variance)
        if not self.estimators:
            return new
        keep = value(new) < value(self)
        both = zip(keep, self.estimators, made, strict=True)
        kept = [old if worse else one for worse, old, one in both]
        if self._classifies:
            return self._with(kept, self.variance)
        return self._with(kept, np.where(keep, self.variance, variance))

    # --- as an emission ---

    def _read(self, read: Sequences) -> np.ndarray:
        if self._classifies:
            if self._domain is None:
                raise InvalidArgument("Classifiers as an emission need symbols=.")
            return read.codes(self._domain).astype(np.int64)
        return read.floats(1, flat=True)

    def _log_given(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        if self._classifies:
            found = np.take_along_axis(self._logs(x), np.maximum(y, 0)[:, None, None], axis=2)[:, :, 0]
            found[y < 0] = 0.0
            return np.asarray(found)
        off = y - self._means(x)[:, :, 0]
        logs = -0.5 * (off**2 / self.variance + np.log(2.0 * math.pi * self.variance))
        logs[np.isnan(y[:, 0])] = 0.0
        return np.asarray(logs)

    def _means(self, x: np.ndarray) -> np.ndarray:
        return np.stack([np.asarray(one.predict(x), float) for one in self.estimators], axis=1)[:, :, None]

    @property
    def covariance(self) -> np.ndarray:
        """The variances of the noise, of shape (states, 1, 1)."""
        return self.variance[:, None, None]

    def _fitted_given(self, y: np.ndarray, x: np.ndarray, weights: np.ndarray) -> Self:
        there = y >= 0 if self._classifies else ~np.isnan(y[:, 0])
        y, x, weights = y[there], x[there], weights[there]
        target = y if self._classifies else y[:, 0]
        made, variance = [], np.ones(weights.shape[1])
        for i in range(weights.shape[1]):
            some = weights[:, i] > 0
            if not some.any() and self.estimators:
                made.append(self.estimators[i])
                variance[i] = self.variance[i]
                continue
            one = copy.deepcopy(self._prototype).fit(x[some], target[some], sample_weight=weights[some, i])
            made.append(one)
            if not self._classifies:
                off = target[some] - np.asarray(one.predict(x[some]), float)
                variance[i] = float(weights[some, i] @ off**2 / weights[some, i].sum())

        def value(new: Estimators) -> np.ndarray:
            logs = new._log_given(y, x)
            return np.asarray(np.where(weights > 0, weights * logs, 0.0).sum(axis=0))

        if not self._classifies and not (variance > 0).all():
            return self._with(made, variance)  # an unbounded density: the caller checks for it
        return self._better(made, variance, value)

    def _guess(self, y: np.ndarray, x: np.ndarray, k: int, random: np.random.Generator) -> np.ndarray:
        if self._classifies:
            return np.asarray(random.dirichlet(np.ones(k), len(y)))
        return near_centres(y, (~np.isnan(y[:, 0])).astype(float), k, random)

    def _collapsed(self, y: np.ndarray) -> int | None:
        if self._classifies:
            return None
        bad = ~(self.variance > 1e-10 * np.nanvar(y))
        return int(bad.argmax()) if bad.any() else None

    def _draw_given(self, states: np.ndarray, x: np.ndarray, random: np.random.Generator) -> np.ndarray:
        if not self._classifies:
            means = self._means(x)[np.arange(len(states)), states, 0]
            return np.asarray(means + np.sqrt(self.variance[states]) * random.normal(size=len(states)))
        assert self._domain is not None
        p = np.exp(self._logs(x))[np.arange(len(states)), states]
        codes = (random.random(len(p))[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
        return np.asarray(np.take(self._domain.array, codes))

    def _coordinates(self, y: np.ndarray) -> np.ndarray:
        """Past observations as inputs: values as they are, symbols as a column for each but the first."""
        if self._domain is None:
            return y
        found: np.ndarray = (y[:, None] == np.arange(1, self._domain.card)).astype(float)
        found[y < 0] = np.nan
        return found

    def __repr__(self) -> str:
        called = type(self._prototype).__name__
        many = f"{len(self.estimators)} states" if self.estimators else "yet to be fitted"
        return f"Estimators: {called}, {many}"


def _expected(logs: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The log-likelihood of counts (rows, states, classes), for each state."""
    return np.asarray(np.where(counts > 0, counts * logs, 0.0).sum(axis=(0, 2)))
