"""Classes of sequences: a hidden Markov model for each, and Bayes' rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from pgm.calls import guard_classes
from pgm.errors import InvalidArgument, listed, shown
from pgm.frames import Sequences
from pgm.inference.engines import chain as engine
from pgm.models.classifiers.conventions import (
    Estimator,
    at_least_two,
    class_prior_of,
    classes_of,
    labels_of,
    posterior,
)
from pgm.printing import label
from pgm.randomness import generator
from pgm.results import FitReport
from pgm.runtime.clock import in_one_time, start_clock

from . import hmm_conditional
from .checks import weights_of
from .hmm import HMM
from .hmm_learning import METHODS


class HMMClassifier(Estimator):
    """A classifier of sequences, in scikit-learn's conventions, with a hidden Markov model for each class.

    P(class | sequence) is P(sequence | class) P(class), divided by their sum over the classes.

    Args:
        model: the model that each class starts from, `pgm.HMM(n_states=3, emission=pgm.Gaussian(dim=2))`; or
            a dict of models by class. It is not changed.
        class_prior: P(class): a dict, or a list in the order of `classes_`; "uniform"; if left out, the
            classes' shares of the sequences.
        method: how models learn, as in `HMM.fit`; "conditional" continues from there to maximise
            P(class | sequence) over all sequences.
        prior: pseudo-counts, as in `HMM.fit`.
        starts: how many runs of EM for each model; the best is kept.
        max_iter: the largest number of steps.
        tol: it has converged when the relative gain in log-likelihood is at most this.
        seed: for the random guesses.

    After `fit` there are `classes_`, `models_` and `fit_reports_` by class, and `class_prior_`.

    >>> import pgm
    >>> coin = pgm.HMM(n_states=1, emission=pgm.Categorical(symbols=["head", "tail"]))
    >>> told = HMMClassifier(coin).fit([["head", "head", "tail"], ["tail", "tail", "head"]], ["fair", "odd"])
    >>> told.predict([["head", "head"]]).tolist(), told.predict_proba([["head", "head"]]).round(6).tolist()
    (['fair'], [[0.8, 0.2]])
    """

    classes_: np.ndarray
    models_: dict[Any, HMM]
    class_prior_: np.ndarray
    fit_reports_: dict[Any, FitReport | None]
    conditional_report_: FitReport

    def __init__(
        self,
        model: Any = None,
        *,
        class_prior: Any = None,
        method: str = "em",
        prior: Any = None,
        starts: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        seed: int | np.random.Generator | None = None,
    ) -> None:
        self.model, self.class_prior, self.method, self.prior = model, class_prior, method, prior
        self.starts, self.max_iter, self.tol, self.seed = starts, max_iter, tol, seed

    # --- learning ---

    @in_one_time
    def fit(
        self, X: Any, y: Any, *, lengths: Any = None, sequence: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn a model for each class; returns the classifier itself.

        Args:
            X: sequences: a list of them, one array with `lengths`, or a data frame with `sequence`.
            y: the class of each sequence.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            sample_weight: how much each sequence counts; 1 if left out.

        Raises:
            InvalidArgument: there are not as many labels as sequences, or one class; an option is out of
                range; a value is not a symbol.

        >>> import pgm
        >>> noise = pgm.HMM(n_states=1, emission=pgm.Gaussian())
        >>> found = HMMClassifier(noise).fit([[0.0, 1.0], [5.0, 6.0], [0.2, 0.9]], ["low", "high", "low"])
        >>> found.classes_.tolist(), found.class_prior_.round(3).tolist()
        (['high', 'low'], [0.333, 0.667])
        """
        if not isinstance(self.method, str) or self.method not in (*METHODS, "conditional"):
            raise InvalidArgument(
                f"method= is {listed((*METHODS, 'conditional'))}, not {shown(self.method)}."
            )
        templates = self.model.values() if isinstance(self.model, Mapping) else [self.model]
        if not templates or not all(isinstance(one, HMM) for one in templates):
            raise InvalidArgument(
                f"model= is the pgm.HMM that each class starts from, or a dict of them by class, not "
                f"{shown(self.model)}."
            )
        first = next(iter(templates))
        read = first._read(X, lengths, sequence)
        weight = weights_of(sample_weight, len(read))
        classes, codes = classes_of(labels_of(y, len(read), "sequences"))
        at_least_two(classes)
        begin = self._models(classes.tolist())
        shares = class_prior_of(self.class_prior, classes.tolist(), np.bincount(codes, weight, len(classes)))
        random = generator(self.seed)
        made, own = {}, "em" if self.method == "conditional" else self.method
        for code, (name, model) in enumerate(begin.items()):
            mine = np.flatnonzero(codes == code)
            part = some_sequences(read, mine)
            made[name] = model.copy()
            made[name]._learn(
                part, None, self.starts, self.max_iter, self.tol, random.spawn(1)[0],
                weights=weight[mine], prior=self.prior, method=own,
            )  # fmt: skip
        if self.method == "conditional":
            self.conditional_report_ = hmm_conditional.fit(
                list(made.values()), read, codes, weight, shares, self.max_iter, self.tol
            )
        self.classes_, self.models_, self.class_prior_ = classes, made, shares
        self.fit_reports_ = {name: model.fit_report for name, model in made.items()}
        return self

    def _models(self, classes: list[Any]) -> dict[Any, HMM]:
        if not isinstance(self.model, Mapping):
            return dict.fromkeys(classes, self.model)
        for name in classes:
            if name not in self.model:
                raise InvalidArgument(f"model= has no model for the class {shown(name)}.")
        return {name: self.model[name] for name in classes}

    @classmethod
    def of(cls, models: Mapping[Any, HMM], class_prior: Any = "uniform") -> Self:
        """Return a classifier made of given models by class; nothing is learned.

        Args:
            models: a model with parameters for each class.
            class_prior: P(class), as for the constructor.

        Raises:
            InvalidArgument: there are fewer than two models, or one is not a pgm.HMM.

        >>> import pgm
        >>> odd = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.9, 0.1]]))
        >>> fair = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.5, 0.5]]))
        >>> HMMClassifier.of({"odd": odd, "fair": fair}).predict([[0, 0, 0], [1, 0, 1]]).tolist()
        ['odd', 'fair']
        """
        if (
            not isinstance(models, Mapping)
            or len(models) < 2
            or not all(isinstance(model, HMM) for model in models.values())
        ):
            raise InvalidArgument(f"models is a dict by class of at least two pgm.HMM, not {shown(models)}.")
        made = cls(dict(models), class_prior=class_prior)
        made.classes_ = np.array(sorted(models))
        made.models_ = {name: models[name].copy() for name in made.classes_.tolist()}
        made.class_prior_ = class_prior_of(class_prior, made.classes_.tolist(), np.ones(len(models)))
        made.fit_reports_ = {name: model.fit_report for name, model in made.models_.items()}
        return made

    # --- questions ---

    def predict_log_proba(self, X: Any, *, lengths: Any = None, sequence: Any = None) -> np.ndarray:
        """Return log P(class | sequence), a row for each sequence, a column for each of `classes_`.

        Args:
            X: sequences, as for `fit`.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            IncompleteModel: the classifier was not fitted yet.
            ImpossibleEvidence: no class emits a sequence.

        >>> import pgm
        >>> odd = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.9, 0.1]]))
        >>> fair = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.5, 0.5]]))
        >>> told = HMMClassifier.of({"odd": odd, "fair": fair})
        >>> told.predict_log_proba([[0, 0]]).round(6).tolist()
        [[-1.444563, -0.26899]]
        """
        if not hasattr(self, "models_"):
            raise self._missing_fit("fit it to sequences")
        models = list(self.models_.values())
        read = models[0]._read(X, lengths, sequence)
        logs = np.column_stack([log_likelihoods(model, read) for model in models])
        with np.errstate(divide="ignore"):
            logs += np.log(self.class_prior_)
        return posterior(logs, read.title, log=True)

    def predict_proba(self, X: Any, *, lengths: Any = None, sequence: Any = None) -> np.ndarray:
        """Return P(class | sequence), a row for each sequence, a column for each of `classes_`.

        Args:
            X: sequences, as for `fit`.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            IncompleteModel: the classifier was not fitted yet.
            ImpossibleEvidence: no class emits a sequence.

        >>> import pgm
        >>> odd = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.9, 0.1]]))
        >>> fair = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.5, 0.5]]))
        >>> told = HMMClassifier.of({"odd": odd, "fair": fair})
        >>> told.predict_proba([[0, 0]]).round(6).tolist()
        [[0.235849, 0.764151]]
        """
        return np.asarray(np.exp(self.predict_log_proba(X, lengths=lengths, sequence=sequence)))

    def predict(self, X: Any, *, lengths: Any = None, sequence: Any = None) -> np.ndarray:
        """Return the most probable class of each sequence.

        Args:
            X: sequences, as for `fit`.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            IncompleteModel: the classifier was not fitted yet.
            ImpossibleEvidence: no class emits a sequence.

        >>> import pgm
        >>> odd = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.9, 0.1]]))
        >>> fair = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.5, 0.5]]))
        >>> told = HMMClassifier.of({"odd": odd, "fair": fair})
        >>> told.predict([[0, 0], [1, 1]]).tolist()
        ['odd', 'fair']
        """
        found = self.predict_log_proba(X, lengths=lengths, sequence=sequence)
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def score(
        self, X: Any, y: Any, *, lengths: Any = None, sequence: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the accuracy: the share of sequences whose class is predicted correctly.

        Args:
            X: sequences, as for `fit`.
            y: the class of each sequence.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            sample_weight: how much each sequence counts; 1 if left out.

        Raises:
            InvalidArgument: there are not as many labels as sequences.

        >>> import pgm
        >>> odd = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.9, 0.1]]))
        >>> fair = pgm.HMM([1.0], [[1.0]], pgm.Categorical([[0.5, 0.5]]))
        >>> told = HMMClassifier.of({"odd": odd, "fair": fair})
        >>> told.score([[0, 0], [1, 1]], ["odd", "odd"])
        0.5
        """
        found = self.predict(X, lengths=lengths, sequence=sequence)
        right = found == labels_of(y, len(found), "sequences")
        return float(np.average(right, weights=weights_of(sample_weight, len(found))))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header = ["class", "prior", "states", "parameters"]
        if not hasattr(self, "models_"):
            return header, [], "HMMClassifier, not fitted yet"
        rows = [
            [label(name), f"{p:.6g}", f"{model.n_states:,}", f"{model.n_parameters:,}"]
            for (name, model), p in zip(self.models_.items(), self.class_prior_.tolist(), strict=True)
        ]
        return header, rows, f"HMMClassifier, method {self.method!r}"


def log_likelihoods(model: HMM, read: Sequences) -> np.ndarray:
    """Log P of each sequence; minus infinity where it is impossible."""
    chain, rows, clock = model._chain(), model._rows(read), start_clock()
    try:
        return engine.log_likelihoods(chain, rows, clock)
    except engine.ImpossibleStep:
        found = np.full(len(read), -np.inf)
        for i in range(len(read)):
            try:
                found[i] = engine.log_likelihoods(chain, rows.part(i, i + 1), clock)[0]
            except engine.ImpossibleStep:
                continue
        return found


def some_sequences(read: Sequences, which: np.ndarray) -> Sequences:
    """These of the sequences, concatenated."""
    lengths = read.lengths[which]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    at = np.repeat(read.starts[which] - starts[:-1], lengths) + np.arange(starts[-1])
    ids = tuple(which.tolist()) if read.ids is None else tuple(read.ids[i] for i in which.tolist())

    def taken(rows: Any) -> Any:
        if isinstance(rows, dict):
            return {name: taken(column) for name, column in rows.items()}
        return [rows[i] for i in at.tolist()] if isinstance(rows, list) else rows[at]

    return Sequences(taken(read.rows), starts, False, ids)


guard_classes([HMMClassifier])
