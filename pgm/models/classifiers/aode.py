"""Averaged one-dependence estimators: each column in turn is a parent of all others, and all are averaged."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.calls import guard_constructors
from pgm.cpds import CPD, TableCPD
from pgm.errors import InvalidStructure
from pgm.frames.undeclared import Observations
from pgm.models import BayesianNetwork
from pgm.printing import label

from .states_only import StatesOnly, Sums, with_codes
from .training import Training


class AODEClassifier(StatesOnly):
    """Averaged one-dependence estimators, in scikit-learn's conventions (Webb, Boughton & Wang 2005).

    For each column there is a network in which the class and that column are the parents of all others;
    P(class, row) is the mean of what the networks say. Nothing is searched for, and missing cells are summed
    out. There is no one network of it, but `networks` has all of them.

    Args:
        states: {column: its states, or pgm.Bins}, of columns whose states the data should not decide.
        continuous: columns that hold numbers although they could be states, as floats that are all whole.
        bins: how numbers are cut into states: "mdlp" (where classes change), "quantile", "width" or "k-means"
            (four states each), or how many quantiles.
        prior: a number, added to each count (Laplace's rule with 1, none with 0); "bdeu", "laplace", "k2", an
            object of pgm.priors, or {column: one of these}, `...` for the rest.
        class_prior: P(class): "uniform", a dict, or a list in the order of `classes_`; left out: the shares
            of the rows.
        unknown: a value that no row of `fit` had: "raise", or "missing" takes it as a gap.

    After `fit` there are `classes_`, `class_prior_`, `n_features_in_` and, of a data frame,
    `feature_names_in_`.

    >>> import pgm
    >>> rows = {"a": [0, 0, 1, 1] * 4, "b": [0, 1, 0, 1] * 4, "odd": [False, True, True, False] * 4}
    >>> AODEClassifier().fit(rows, "odd").predict({"a": [0, 1], "b": [1, 1]}).tolist()
    [True, False]
    """

    _cpds: dict[str, dict[str, CPD]]  # by the column that is the parent
    _sums: dict[str, Sums]

    def _learn(self, data: Training) -> dict[str, Any]:
        data = self._in_states(data)
        counts = self._counts(data)
        cpds = {}
        for first in data.variables:
            families = {name: [] if name == first else [first] for name in data.variables}
            cpds[first] = self._tables(data, counts, families)
        return {
            "_variables": data.variables,
            "_cpds": cpds,
            "_sums": {first: Sums(tables) for first, tables in cpds.items()},
        }

    def _log_joint(self, seen: Observations) -> np.ndarray:
        codes = with_codes(seen, self._variables)
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        total = np.full((seen.n_rows, len(prior)), -np.inf)
        for first, sums in self._sums.items():
            missing = codes[first] < 0
            whole = ~missing
            there = {name: column[whole] for name, column in codes.items()}
            total[whole] = np.logaddexp(total[whole], sums.add(there, np.tile(prior, (int(whole.sum()), 1))))
            if not missing.any():
                continue
            rest = {name: column[missing] for name, column in codes.items()}
            each = np.full((int(missing.sum()), len(prior)), -np.inf)
            for code in range(self._variables[first].card):
                rest[first] = np.full(len(each), code, np.int32)
                each = np.logaddexp(each, sums.add(rest, np.tile(prior, (len(each), 1))))
            total[missing] = np.logaddexp(total[missing], each)
        return np.asarray(total - np.log(len(self._sums)))

    @property
    def networks(self) -> dict[str, BayesianNetwork]:
        """The network in which each column is the parent of all others."""
        if not hasattr(self, "classes_"):
            raise self._missing_fit("fit it to rows whose classes are known")
        root = np.array(self.class_prior_)
        root.flags.writeable = False
        first = TableCPD.trusted(self._target, (), root)
        return {
            name: BayesianNetwork._from_cpds(f"parent {name}", [first, *cpds.values()])
            for name, cpds in self._cpds.items()
        }

    def _network(self) -> BayesianNetwork:
        raise InvalidStructure(
            f"This is the mean of {len(self._cpds):,} networks, whose arrows point different ways: "
            "`.networks` has "
            "them by the column that is the parent."
        )

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "classes_"):
            return [self._begun()], [], "not fitted yet"
        rows = [[label(name), f"{v.card:,}"] for name, v in self._variables.items()]
        what = f"AODEClassifier of {label(self._target.name)!r}: {self._said_shares()}"
        return ["column", "states"], rows, f"{what}; the mean of {len(rows):,} networks"


guard_constructors([AODEClassifier])
