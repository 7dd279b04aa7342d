"""Averaged one-dependence estimators: each column in turn is a parent of all others, and all are averaged."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.calls import guard_classes
from pgm.cpds import CPD, TableCPD
from pgm.errors import InvalidStructure
from pgm.frames.undeclared import Observations
from pgm.models import BayesianNetwork
from pgm.printing import label
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from .families import FamilyClassifier, Sums, counted_states, log_joint, some, with_all, with_integer_states
from .row_classifier import frozen
from .training import Training


class AODEClassifier(FamilyClassifier):
    """Averaged one-dependence estimators, in scikit-learn's conventions (Webb, Boughton & Wang 2005).

    For each column there is a network in which the class and that column are the parents of all others (with
    bins=None a continuous column is not a parent of discrete ones, which then have the class alone);
    P(class, row) is the mean over the networks. There is no structure search, and missing cells are summed
    out. It is no single network; `networks` has all of them.

    Args:
        states: {column: its states, or pgm.Bins}, for columns whose states are not to be read off the data.
        continuous: columns to treat as continuous although their values could be states, as whole floats.
        bins: how these are cut into states: "mdlp" (where classes change), "quantile", "width" or "k-means"
            (four states each), how many quantiles, or None: not at all; a column is then normal with a
            mean linear in its continuous parent.
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
    >>> AODEClassifier().fit(rows, "odd").predict({"a": [0, 1], "b": [1, 1]}).tolist()
    [True, False]
    """

    _cpds: dict[str, dict[str, CPD]]  # by the column that is the parent
    _sums: dict[str, Sums]
    _coded: dict[str, BayesianNetwork]  # where the parent is continuous

    def _learn(self, data: Training) -> dict[str, Any]:
        data = self._in_states(data)
        counts = self._counts(data)
        cpds = {f: self._learned(data, counts, families) for f, families in _families(data).items()}
        return {"_variables": data.variables} | self._ready(data.target, data.class_prior, cpds)

    def _learn_in_part(self, data: Training) -> dict[str, Any]:
        """EM for each network by itself; P(class), which they share, comes from the rows with a class."""
        data = self._in_states(data)
        known = data.known()
        counts, cpds, reports = self._counts(known), {}, []
        for first, families in _families(data).items():
            found = self._climbed(data, families, self._learned(known, counts, families), True)
            cpds[first] = {name: found.cpds[name] for name in families}
            reports.append(found.report)
        slowest = max(reports, key=lambda report: (not report.converged, report.iterations))
        made = self._ready(data.target, data.class_prior, cpds)
        return {"_variables": data.variables, "fit_report_": slowest} | made

    def _ready(self, target: Variable, shares: np.ndarray, cpds: dict[str, dict[str, CPD]]) -> dict[str, Any]:
        """The attributes that `fit` sets."""
        coded = {}
        for first, those in cpds.items():
            if those[first].continuous and (made := with_integer_states(_of(target, shares, first, those))):
                coded[first] = made
        return {"_cpds": cpds, "_sums": {n: Sums(those) for n, those in cpds.items()}, "_coded": coded}

    def _log_joint(self, seen: Observations) -> np.ndarray:
        codes, values = with_all(seen, self._variables)
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        total = np.full((seen.n_rows, len(prior)), -np.inf)
        clock = start_clock()
        for first, sums in self._sums.items():
            clock.check("averaging classifiers")
            real = first in values
            missing = np.isnan(values[first]) if real else codes[first] < 0
            whole = ~missing
            begun = np.tile(prior, (int(whole.sum()), 1))
            there = sums.add(some(codes, whole), some(values, whole), begun)
            total[whole] = np.logaddexp(total[whole], there)
            if not missing.any():
                continue
            rest, others, n = some(codes, missing), some(values, missing), int(missing.sum())
            if real:  # the columns that depend on it are jointly normal with it: the engine integrates it out
                each = log_joint(self._coded[first], self._target, rest, others, n)
            else:
                each = np.full((n, len(prior)), -np.inf)
                for code in range(self._variables[first].card):
                    rest[first] = np.full(n, code, np.int32)
                    each = np.logaddexp(each, sums.add(rest, others, np.tile(prior, (n, 1))))
            total[missing] = np.logaddexp(total[missing], each)
        return np.asarray(total - np.log(len(self._sums)))

    @property
    def networks(self) -> dict[str, BayesianNetwork]:
        """The network in which each column is the parent of all others."""
        if not hasattr(self, "classes_"):
            raise self._missing_fit("fit it to rows whose classes are known")
        return {name: _of(self._target, self.class_prior_, name, cpds) for name, cpds in self._cpds.items()}

    def _network(self) -> BayesianNetwork:
        raise InvalidStructure(
            f"This is the mean of {len(self._cpds):,} networks with different arrows: `.networks` has them, "
            "by the column that is the parent."
        )

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "classes_"):
            return [self._begun()], [], "not fitted yet"
        rows = [[label(name), counted_states(v)] for name, v in self._variables.items()]
        what = f"AODEClassifier of {label(self._target.name)!r}: {self._said_shares()}"
        return ["column", "states"], rows, f"{what}; the mean of {len(rows):,} networks"


def _families(data: Training) -> dict[str, dict[str, list[str]]]:
    """For each column that is the parent of all others: the parents of each besides the class."""
    return {
        first: {
            name: [] if name == first or (one.continuous and not v.continuous) else [first]
            for name, v in data.variables.items()
        }
        for first, one in data.variables.items()
    }


def _of(target: Variable, shares: np.ndarray, name: str, cpds: dict[str, CPD]) -> BayesianNetwork:
    return BayesianNetwork._from_cpds(
        f"parent {name}", [TableCPD.trusted(target, (), frozen(shares)), *cpds.values()]
    )


guard_classes([AODEClassifier])
