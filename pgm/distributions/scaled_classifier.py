"""A classifier as an emission: its posterior, divided by the prior, is the likelihood up to a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Self

import numpy as np

from pgm.errors import InvalidArgument, listed, shown
from pgm.frames import Sequences
from pgm.printing import html_text, label

from .emission import Observed

_ROUNDING = 1e-6


class ClassifierEmission:
    """The probabilities of a fitted classifier, given a row of features, as the emission of hidden states.

    P(features | state) is P(state | features) / P(state), up to a factor that is the same for all states:
    scores compare states and paths of one model, but are not densities of the features (Morgan & Bourlard
    1995). It does not learn: `fit` leaves it as it is.

    Args:
        classifier: fitted as in scikit-learn: it has `predict_proba` and `classes_`, which name the states.
        prior: P(state) in the data that the classifier was fitted to: a dict by class, or a list in the order
            of `classes_`; left out, its `class_prior_` if it has one.
        dim: how many features a row has; left out, its `n_features_in_`.

    >>> import pgm
    >>> class Threshold:
    ...     classes_, n_features_in_ = ["low", "high"], 1
    ...     def predict_proba(self, rows):
    ...         return np.where(np.asarray(rows) > 1.0, [[0.2, 0.8]], [[0.9, 0.1]])
    >>> emission = ClassifierEmission(Threshold(), prior=[0.5, 0.5])
    >>> hmm = pgm.HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], emission, states=["low", "high"])
    >>> hmm.decode([[0.3], [0.2], [4.0], [3.0]]).path
    ('low', 'low', 'high', 'high')
    """

    kind, label = "classifier", "classifier"
    learns = False
    vector = True
    has_parameters = True
    domain = None

    def __init__(self, classifier: Any, prior: Any = None, *, dim: int | None = None) -> None:
        if not hasattr(classifier, "predict_proba") or not hasattr(classifier, "classes_"):
            raise InvalidArgument(
                f"A ClassifierEmission takes a fitted classifier with predict_proba, not {shown(classifier)}."
            )
        classes = tuple(np.asarray(classifier.classes_).tolist())
        if prior is None:
            prior = getattr(classifier, "class_prior_", None)
        if prior is None:
            raise InvalidArgument(
                "prior= is needed: the share of each class in the data that the classifier was fitted to."
            )
        if isinstance(prior, Mapping):
            prior = [prior.get(name, np.nan) for name in classes]
        try:
            shares = np.array(prior, dtype=np.float64)
        except (TypeError, ValueError):
            shares = np.array(np.nan)
        if shares.shape != (len(classes),) or not (shares > 0.0).all() or abs(shares.sum() - 1.0) > _ROUNDING:
            raise InvalidArgument(
                f"prior= has a positive probability for each of {listed(classes)}, which sum to one; not "
                f"{shown(prior)}."
            )
        size = getattr(classifier, "n_features_in_", None) if dim is None else dim
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise InvalidArgument(f"dim= is how many features a row has, at least 1, not {shown(size)}.")
        self._fill(classifier, classes, shares, int(size), np.arange(len(classes)))

    def _fill(self, classifier: Any, classes: Any, prior: np.ndarray, dim: int, order: np.ndarray) -> None:
        prior = np.array(prior)
        prior.flags.writeable = False
        for name, value in (("classifier", classifier), ("classes", classes), ("prior", prior), ("dim", dim)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_order", order)

    classifier: Any
    classes: tuple[Any, ...]  # in the order of the states
    prior: np.ndarray  # in the same order
    dim: int
    _order: np.ndarray  # of each state the column of predict_proba

    @property
    def n_states(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def of_states(self, states: Sequence[Any]) -> Self:
        """Return the same emission in the order of these states.

        Args:
            states: the classes, in another order.

        Raises:
            InvalidArgument: they are not the classes.

        >>> class Coin:
        ...     classes_, n_features_in_, class_prior_ = [0, 1], 1, [0.25, 0.75]
        ...     def predict_proba(self, rows): ...
        >>> ClassifierEmission(Coin()).of_states([1, 0]).prior.tolist()
        [0.75, 0.25]
        """
        if set(states) != set(self.classes) or len(states) != len(self.classes):
            raise InvalidArgument(
                f"The classifier distinguishes {listed(self.classes)}, but the states are {listed(states)}: "
                "they need the same names."
            )
        at = [self.classes.index(state) for state in states]
        made = self.__new__(type(self))
        made._fill(self.classifier, tuple(states), self.prior[at], self.dim, self._order[at])
        return made

    def normals(self) -> None:
        """It is not Gaussian."""

    def n_free(self, states: np.ndarray) -> int:
        """Nothing is learned."""
        return 0

    def read(self, sequences: Sequences) -> Observed:
        """Read rows of features; one is observed as a whole or not at all."""
        rows = sequences.floats(self.dim)
        gaps = np.isnan(rows)
        partly = gaps.any(axis=1) & ~gaps.all(axis=1)
        if partly.any():
            row = int(partly.argmax())
            place = sequences.place(row)
            raise InvalidArgument(
                f"{place[0].upper()}{place[1:]}: feature {int(gaps[row].argmax())} is missing: "
                "a classifier needs all features of a row, or None for the row."
            )
        return Observed(rows)

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log of posterior over prior, a column for each state; zero where nothing was observed."""
        found = np.zeros((len(rows), len(self.classes)))
        there = ~np.isnan(rows[:, 0])
        if there.any():
            p = np.asarray(self.classifier.predict_proba(rows[there]), dtype=np.float64)
            if p.shape != (int(there.sum()), len(self.classes)) or not (p >= 0.0).all():
                raise InvalidArgument(
                    f"predict_proba of the classifier must return a probability for each of "
                    f"{len(self.classes)} classes: its shape is {p.shape}."
                )
            with np.errstate(divide="ignore"):
                found[there] = np.log(p[:, self._order] / self.prior)
        return found

    def draw(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Refuse: a classifier does not model its features."""
        raise InvalidArgument(
            "A classifier predicts states from features, and does not model these: they cannot be sampled."
        )

    def filled(self, observed: Observed, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The observations; gaps cannot be filled."""
        if np.isnan(observed.rows).any():
            self.draw(states, random)
        return observed.rows.copy()

    def collapsed(self, rows: np.ndarray) -> None:
        """None: nothing is learned, so nothing collapses."""

    def gathered(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Nothing is learned."""
        return np.zeros(0)

    def fitted(self, statistics: Any, prior: Any = None) -> Self:
        """The same emission: nothing is learned."""
        return self

    def expected_log(self, statistics: Any) -> float:
        """Zero: there are no parameters."""
        return 0.0

    def pseudo(self, weight: float, n_states: int, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Nothing is learned."""
        return np.zeros(0)

    def first_guess(
        self, rows: np.ndarray, counts: np.ndarray, n_states: int, random: np.random.Generator
    ) -> np.ndarray:
        """Nothing has to be guessed."""
        return np.asarray(np.ones((len(rows), n_states)) * counts[:, None])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a ClassifierEmission does not change; .{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassifierEmission):
            return NotImplemented
        same = self.classifier is other.classifier and self.classes == other.classes
        return same and np.array_equal(self.prior, other.prior)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> tuple[Any, ...]:
        return self.classifier, self.classes, self.prior, self.dim, self._order

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._fill(*state)

    def __repr__(self) -> str:
        shares = ", ".join(
            f"{label(c)}: {p:.6g}" for c, p in zip(self.classes, self.prior.tolist(), strict=True)
        )
        return f"ClassifierEmission({type(self.classifier).__name__}, prior={{{shares}}})"

    def _repr_html_(self) -> str:
        return html_text(repr(self))
