"""Naive Bayes with arrows among the columns: a tree, or up to k parents each."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.calls import guard_classes
from pgm.cpds import CPD, TableCPD
from pgm.errors import InvalidArgument, shown
from pgm.frames.undeclared import Observations
from pgm.models import BayesianNetwork
from pgm.printing import label
from pgm.variables import Variable

from .dependence import Told, most_telling, tree
from .families import FamilyClassifier, Sums, counted_states, log_joint, some, with_all, with_integer_states
from .row_classifier import frozen
from .training import Training


class _Augmented(FamilyClassifier):
    """A classifier in which the class is a parent of every column, with further arrows among the columns."""

    _cpds: dict[str, CPD]
    _sums: Sums
    _coded: BayesianNetwork | None

    def _parents(self, told: Told) -> list[tuple[int, ...]]:
        """The parents of each column besides the class."""
        raise NotImplementedError

    def _learn(self, data: Training) -> dict[str, Any]:
        data = self._in_states(data)
        cpds = self._begin(data)[1]
        return {"_variables": data.variables} | self._ready(data.target, data.class_prior, cpds)

    def _learn_in_part(self, data: Training) -> dict[str, Any]:
        data = self._in_states(data)
        families, cpds = self._begin(data.known())
        found = self._climbed(data, families, cpds, self.class_prior is not None)
        shares = found.cpds[data.target.name].values
        made = self._ready(data.target, shares, {name: found.cpds[name] for name in cpds})
        return {"_variables": data.variables, "class_prior_": shares, "fit_report_": found.report} | made

    def _begin(self, data: Training) -> tuple[dict[str, list[str]], dict[str, CPD]]:
        """The parents of each column besides the class, and its distribution."""
        counts, names = self._counts(data), list(data.variables)
        parents = self._parents(Told.of(data, counts, max(1.0, self._belief())))
        families = {name: [names[u] for u in those] for name, those in zip(names, parents, strict=True)}
        return families, self._learned(data, counts, families)

    def _ready(self, target: Variable, shares: np.ndarray, cpds: dict[str, CPD]) -> dict[str, Any]:
        """The attributes that `fit` sets."""
        net = _network(target, shares, cpds)
        return {"_cpds": cpds, "_sums": Sums(cpds), "_coded": with_integer_states(net)}

    def _log_joint(self, seen: Observations) -> np.ndarray:
        codes, values = with_all(seen, self._variables)
        with np.errstate(divide="ignore"):
            sums = np.tile(np.log(self.class_prior_), (seen.n_rows, 1))
        gaps = np.zeros(seen.n_rows, bool)
        for column in codes.values():
            gaps |= column < 0
        for column in values.values():
            gaps |= np.isnan(column)
        if not gaps.any():
            return self._sums.add(codes, values, sums)
        whole = ~gaps
        sums[whole] = self._sums.add(some(codes, whole), some(values, whole), sums[whole])
        assert self._coded is not None
        sums[gaps] = log_joint(
            self._coded, self._target, some(codes, gaps), some(values, gaps), int(gaps.sum())
        )
        return sums

    def _network(self) -> BayesianNetwork:
        return _network(self._target, self.class_prior_, self._cpds)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "classes_"):
            return [self._begun()], [], "not fitted yet"
        rows = [
            [
                label(name),
                counted_states(cpd.child),
                ", ".join(label(v.name) for v in cpd.given if v.name != self._target.name) or "-",
            ]
            for name, cpd in self._cpds.items()
        ]
        what = f"{type(self).__name__} of {label(self._target.name)!r}: {self._said_shares()}"
        return ["column", "states", f"parents besides {label(self._target.name)}"], rows, what


def _network(target: Variable, shares: np.ndarray, cpds: dict[str, CPD]) -> BayesianNetwork:
    first = TableCPD.trusted(target, (), frozen(shares))
    return BayesianNetwork._from_cpds("augmented naive Bayes", [first, *cpds.values()])


class TANClassifier(_Augmented):
    """Tree-augmented naive Bayes, in scikit-learn's conventions: given the class, the columns form a tree.

    Each column has the class and one other column as parents: those with the largest mutual information given
    the class (Friedman, Geiger & Goldszmidt 1997). Missing cells are summed out in predictions, and left out
    of the counts of their families in `fit`. `to_network()` returns the same model as a Bayesian network.

    Args:
        states: {column: its states, or pgm.Bins}, for columns whose states are not to be read off the data.
        continuous: columns to treat as continuous although their values could be states, as whole floats.
        bins: how these are cut into states: "mdlp" (where classes change), "quantile", "width" or "k-means"
            (four states each), how many quantiles, or None: not at all; a column is then normal with a
            mean linear in its continuous parents, and is no parent of a discrete column.
        prior: a float, added to each count (Laplace's rule with 1, none with 0); "bdeu", "laplace", "k2", an
            object of pgm.priors, or {column: one of these}, `...` for the rest. A continuous column
            gets that many pseudo-rows (1 for a named prior) in each class, which vary as all rows do.
        class_prior: P(class): "uniform", a dict, or a list in the order of `classes_`; left out: the
            frequencies of the classes.
        unknown: what to do with a value that `fit` never saw: "raise", or take it as "missing".

    After `fit` there are `classes_`, `class_prior_`, `n_features_in_` and, for a data frame,
    `feature_names_in_`.

    >>> import pgm
    >>> rows = {"a": [0, 0, 1, 1] * 4, "b": [0, 1, 0, 1] * 4, "odd": [False, True, True, False] * 4}
    >>> model = TANClassifier().fit(rows, "odd")  # naive Bayes could not tell
    >>> model.predict({"a": [0, 1], "b": [1, 1]}).tolist()
    [True, False]
    """

    def _parents(self, told: Told) -> list[tuple[int, ...]]:
        return tree(told)


class KDependenceClassifier(_Augmented):
    """Naive Bayes in which each column depends on up to k others; in scikit-learn's conventions.

    The columns are ordered by their mutual information with the class; the parents of each are the class and
    the k columns before it that have the largest mutual information with it given the class (Sahami 1996).
    With k = 0 it is naive Bayes.

    Args:
        k: how many parents a column has besides the class.
        states: {column: its states, or pgm.Bins}, for columns whose states are not to be read off the data.
        continuous: columns to treat as continuous although their values could be states, as whole floats.
        bins: how these are cut into states: "mdlp" (where classes change), "quantile", "width" or "k-means"
            (four states each), how many quantiles, or None: not at all; a column is then normal with a
            mean linear in its continuous parents, and is no parent of a discrete column.
        prior: a float, added to each count (Laplace's rule with 1, none with 0); "bdeu", "laplace", "k2", an
            object of pgm.priors, or {column: one of these}, `...` for the rest. A continuous column
            gets that many pseudo-rows (1 for a named prior) in each class, which vary as all rows do.
        class_prior: P(class): "uniform", a dict, or a list in the order of `classes_`; left out: the
            frequencies of the classes.
        unknown: what to do with a value that `fit` never saw: "raise", or take it as "missing".

    After `fit` there are `classes_`, `class_prior_`, `n_features_in_` and, for a data frame,
    `feature_names_in_`.

    >>> import pgm
    >>> rows = {"a": [0, 0, 1, 1] * 4, "b": [0, 1, 0, 1] * 4, "odd": [False, True, True, False] * 4}
    >>> KDependenceClassifier(k=1).fit(rows, "odd").network.edges
    (('odd', 'a'), ('odd', 'b'), ('a', 'b'))
    """

    def __init__(
        self,
        k: int = 2,
        *,
        states: Any = None,
        continuous: Any = (),
        bins: Any = "mdlp",
        prior: Any = 1.0,
        class_prior: Any = None,
        unknown: str = "raise",
    ) -> None:
        self.k, self.states, self.continuous, self.bins = k, states, continuous, bins
        self.prior, self.class_prior, self.unknown = prior, class_prior, unknown

    def _parents(self, told: Told) -> list[tuple[int, ...]]:
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 0:
            raise InvalidArgument(f"k= is a whole number of at least 0, not {shown(self.k)}.")
        return most_telling(told, int(self.k))


guard_classes([TANClassifier, KDependenceClassifier])
