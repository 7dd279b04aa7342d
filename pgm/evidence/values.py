"""Evidence on a variable other than its state: several states, weights over them, a marginal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pgm.errors import InvalidEvidence, listed, shown
from pgm.printing import html_table, label, text_table
from pgm.variables import State

ROWS_SHOWN = 20  # of Likelihoods in print


class StatesGiven:
    """Some states, in the order given."""

    __slots__ = ("states",)
    states: tuple[State, ...]

    def __init__(self, *states: State) -> None:
        """Take states, or one list of them."""
        if len(states) == 1 and isinstance(states[0], list | set | np.ndarray):
            several = states[0]  # unhashable, so not a state: it is the list of states
            states = tuple(sorted(several, key=shown) if isinstance(several, set) else several)
        object.__setattr__(self, "states", states)

    def __setattr__(self, name: str, value: object) -> None:
        """Raise: evidence is immutable."""
        raise AttributeError(f"{type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        """Equal when of the same kind with the same states."""
        return type(other) is type(self) and self.states == other.states

    def __hash__(self) -> int:
        """Hash of the states."""
        return hash((type(self), self.states))

    def __repr__(self) -> str:
        """As it would be written, shortened if long."""
        return f"{type(self).__name__}({listed(self.states)})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the states."""
        return type(self), self.states


class OneOf(StatesGiven):
    """One of these states, without saying which.

    Args:
        states: one or several.

    Raises:
        InvalidEvidence: it is used as evidence without any states, or with a value that is not a state.

    >>> OneOf("fair", "good")
    OneOf('fair', 'good')
    """

    __slots__ = ()


class Not(StatesGiven):
    """None of these states.

    Args:
        states: one or several.

    Raises:
        InvalidEvidence: it is used as evidence without any states, or with all of them.

    >>> Not("bad")
    Not('bad')
    """

    __slots__ = ()


class Weighted:
    """A weight for each of some states."""

    __slots__ = ("items",)
    items: tuple[tuple[State, Any], ...]

    def __init__(self, weights: Mapping[State, float]) -> None:
        """Store the weights; they are checked against the variable once it is known."""
        if not isinstance(weights, Mapping):
            raise InvalidEvidence(
                f"{type(self).__name__} takes a weight for each state, such as "
                f"{type(self).__name__}({{'yes': 0.8, 'no': 0.2}}), not {shown(weights)}."
            )
        object.__setattr__(self, "items", tuple(weights.items()))

    def __setattr__(self, name: str, value: object) -> None:
        """Raise: evidence is immutable."""
        raise AttributeError(f"{type(self).__name__} does not change")

    def __eq__(self, other: object) -> bool:
        """Equal when of the same kind with the same weights for the same states."""
        return type(other) is type(self) and dict(self.items) == dict(other.items)

    def __hash__(self) -> int:
        """Hash of the states and weights, in any order."""
        return hash((type(self), frozenset(self.items)))

    def __repr__(self) -> str:
        """As it would be written, shortened if long."""
        return f"{type(self).__name__}({shown(dict(self.items))})"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the weights."""
        return type(self), (dict(self.items),)


class Likelihood(Weighted):
    """Virtual evidence: the probability of what was observed under each state; every state needs a weight.

    Only the ratios matter for the states; the weights themselves count in the probability of the evidence.

    Args:
        weights: {state: weight} for all states; non-negative, and not all zero.

    Raises:
        InvalidEvidence: it is used as evidence, and a state has no weight, or an invalid one.

    >>> Likelihood({"yes": 0.8, "no": 0.1})
    Likelihood({'yes': 0.8, 'no': 0.1})
    """

    __slots__ = ()

    @classmethod
    def from_classifier(cls, estimator: Any, row: Any, prior: Any = None) -> Any:
        """Return a fitted classifier's prediction for a row, divided by the prior that it was trained with.

        A classifier returns P(class | row), which includes the class shares of its training data as a
        prior. Dividing by these gives the likelihood of the row, up to a factor, and the network
        supplies the prior that holds where it is used.

        Args:
            estimator: with `predict_proba` and `classes_`, which are the states of the variable.
            row: its features: a list or array in the order of its columns, or a dict by the names that it was
                fitted on. A frame or a two-dimensional array gives one per row: pgm.Likelihoods, a column
                of a frame.
            prior: P(class) in the data that it was trained with: a dict {class: p}, or a list in the order of
                `classes_`. Left out, it is read from the estimator (`class_prior_`, `priors_`,
                `class_log_prior_`, the root of a tree, class_weight="balanced"), in a pipeline from its last
                step; it is required if the estimator does not keep it.

        Raises:
            InvalidArgument: the estimator is not fitted, or returns no probabilities; the prior is missing,
                or is zero for a class that the estimator finds possible.

        >>> import pgm
        >>> from sklearn.naive_bayes import GaussianNB
        >>> ill = GaussianNB().fit([[36.5], [36.9], [37.2], [39.1], [38.2]], ["no", "no", "no", "yes", "yes"])
        >>> said = pgm.Likelihood.from_classifier(ill, [37.6])
        >>> net = pgm.BayesianNetwork()
        >>> net.add("ill", {"no": 0.6, "yes": 0.4})  # as in its training data: its own answer
        >>> same = abs(net.query("ill", {"ill": said})["yes"] - ill.predict_proba([[37.6]])[0, 1])
        >>> bool(same < 1e-12)
        True
        """
        from .from_classifier import likelihoods

        classes, weights, one = likelihoods(estimator, row, prior)
        if one:
            return cls(dict(zip(classes, weights[0].tolist(), strict=True)))
        return Likelihoods(weights, classes)


class Likelihoods(Sequence[Likelihood]):
    """A pgm.Likelihood for each row: a column of virtual evidence in a frame.

    Args:
        weights: array (rows, states), non-negative; a row of NaN is no evidence.
        states: the states, in the order of the columns.

    Raises:
        InvalidEvidence: the weights are not such an array.

    >>> seen = Likelihoods([[0.8, 0.1], [0.5, 0.5]], ["yes", "no"])
    >>> len(seen), seen[0]
    (2, Likelihood({'yes': 0.8, 'no': 0.1}))
    """

    __slots__ = ("states", "weights")
    weights: np.ndarray
    states: tuple[State, ...]

    def __init__(self, weights: Any, states: Sequence[State]) -> None:
        """Take the weights, which become read-only."""
        try:
            found = np.array(weights, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.empty(0)
        if found.ndim != 2 or found.shape[1] != len(states):
            raise InvalidEvidence(
                f"Likelihoods take an array: a row for each case, and a column for each of {listed(states)}, "
                f"not {shown(weights) if found.ndim != 2 else f'one of shape {found.shape}'}."
            )
        found.flags.writeable = False
        object.__setattr__(self, "weights", found)
        object.__setattr__(self, "states", tuple(states))

    def __setattr__(self, name: str, value: object) -> None:
        """Raise: evidence is immutable."""
        raise AttributeError("Likelihoods do not change")

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.weights)

    def __getitem__(self, row: Any) -> Any:
        """The Likelihood of a row, or the Likelihoods of a slice."""
        if isinstance(row, slice | np.ndarray | list):
            return Likelihoods(self.weights[row], self.states)
        return Likelihood(dict(zip(self.states, self.weights[row].tolist(), strict=True)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """A Likelihood in each cell, as a column of pandas holds them; None where a row is no evidence."""
        found = np.empty(len(self), dtype=object)
        found[:] = [None if np.isnan(row).all() else self[i] for i, row in enumerate(self.weights)]
        return found

    def __eq__(self, other: object) -> bool:
        """Equal with the same weights for the same states, in the same order."""
        if not isinstance(other, Likelihoods):
            return NotImplemented
        return self.states == other.states and np.array_equal(self.weights, other.weights, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the weights and the states."""
        return Likelihoods, (self.weights, self.states)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [str(i), *(f"{w:.6g}" for w in self.weights[i].tolist())]
            for i in range(min(len(self), ROWS_SHOWN))
        ]
        more = len(self) - len(rows)
        return ["row", *map(label, self.states)], rows, f"... {more:,} more rows" if more else ""

    def __repr__(self) -> str:
        """As a table, shortened if long."""
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


class Soft(Weighted):
    """Soft evidence: the marginal that the variable must have afterwards (Jeffrey's rule); it sums to one.

    Args:
        weights: {state: probability}; a state left out has probability 0.

    Raises:
        InvalidEvidence: it is used as evidence, and the probabilities do not sum to one.

    >>> Soft({"yes": 0.7, "no": 0.3})
    Soft({'yes': 0.7, 'no': 0.3})
    """

    __slots__ = ()
