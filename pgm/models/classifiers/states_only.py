"""What classifiers of columns of states share: numbers are cut where classes change, tables are learned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.distributions.pseudo_counts import Laplace
from pgm.errors import InvalidArgument, shown
from pgm.frames.undeclared import Observations
from pgm.learning.counts import Counts
from pgm.learning.discretization import METHODS, bins_of
from pgm.learning.parameters import rules
from pgm.models import BayesianNetwork
from pgm.variables import Variable

from .conventions import CLASSES
from .row_classifier import RowClassifier
from .training import Training


class StatesOnly(RowClassifier):
    """A classifier whose columns have tables; columns of numbers are cut into states."""

    bins: Any
    prior: Any

    def __init__(
        self,
        *,
        states: Any = None,
        continuous: Any = (),
        bins: Any = "mdlp",
        prior: Any = 1.0,
        class_prior: Any = None,
        unknown: str = "raise",
    ) -> None:
        self.states, self.continuous, self.bins = states, continuous, bins
        self.prior, self.class_prior, self.unknown = prior, class_prior, unknown

    def _in_states(self, data: Training) -> Training:
        """The same rows, with bins in place of numbers."""
        method, count = self._cuts()
        variables, codes = dict(data.variables), dict(data.codes)
        for name, values in data.values.items():
            classes = data.labels if method == "mdlp" else None
            bins = bins_of(values, method, count, classes, data.weights)
            variables[name] = Variable(name, bins)
            found = np.searchsorted(np.array(bins.edges), values, side="right").astype(np.int32) - np.int32(1)
            found[np.isnan(values)] = -1
            codes[name] = found
        codes = {name: codes[name] for name in variables}
        return replace(data, variables=variables, codes=codes, values={})

    def _cuts(self) -> tuple[str, int]:
        """How numbers are cut: the method, and into how many."""
        if isinstance(self.bins, int | np.integer) and not isinstance(self.bins, bool) and self.bins >= 2:
            return "quantile", int(self.bins)
        if isinstance(self.bins, str) and self.bins in METHODS:
            return self.bins, 4
        raise InvalidArgument(
            f"bins= is {' or '.join(map(repr, METHODS))}, or how many quantiles, at least 2, not "
            f"{shown(self.bins)}."
        )

    def _counts(self, data: Training) -> Counts:
        """Counts of the class, which is column 0, and of the columns."""
        plain = bool((data.weights == 1.0).all())
        return Counts(
            [data.labels, *data.codes.values()],
            [data.target.card, *(v.card for v in data.variables.values())],
            None if plain else data.weights,
        )

    def _tables(
        self, data: Training, counts: Counts, families: Mapping[str, Iterable[str]]
    ) -> dict[str, CPD]:
        """The table of each column, given the class and others.

        Args:
            data: the rows.
            counts: of them.
            families: {column: its parents besides the class}.
        """
        place = {name: i + 1 for i, name in enumerate(data.variables)}
        blank: dict[str, CPD] = {}
        wanted = []
        for name, parents in families.items():
            given = (data.target, *(data.variables[p] for p in parents))
            child = data.variables[name]
            shape = tuple(v.card for v in (*given, child))
            check_cells(
                shape, f"{name!r}: its table", "let it have fewer parents, or cut numbers into fewer bins"
            )
            values = np.full(shape, 1.0 / child.card)
            values.flags.writeable = False
            blank[name] = TableCPD.trusted(child, given, values)
            wanted.append([0, *(place[p] for p in parents), place[name]])
        found = counts.tables(wanted, data.clock)
        how = rules(self._prior(), "mean", {}, blank)
        return {
            name: how[name].fitted(cpd, table)
            for (name, cpd), table in zip(blank.items(), found, strict=True)
        }

    def _prior(self) -> Any:
        """The prior, a number read as Laplace's rule."""
        if isinstance(self.prior, int | float | np.number) and not isinstance(self.prior, bool):
            if not 0.0 <= self.prior < np.inf:
                raise InvalidArgument(f"prior= is added to each count, 0 or more, not {shown(self.prior)}.")
            return Laplace(float(self.prior)) if self.prior > 0.0 else None
        return self.prior


class Sums:
    """Log P(class, row) of a network of tables, as sums over its columns, for rows without gaps."""

    def __init__(self, cpds: Mapping[str, CPD]) -> None:
        self.cpds = cpds
        begin, parts, at = [], [], 0
        self.families: list[list[tuple[str, int]]] = []
        for cpd in cpds.values():
            k = cpd.values.shape[0]
            with np.errstate(divide="ignore"):
                logs = np.log(cpd.values).reshape(k, -1).T
            parts.append(np.vstack([np.zeros(k), logs]))
            begin.append(at + 1)
            at += len(parts[-1])
            step, family = 1, []
            for v in (cpd.child, *cpd.given[:0:-1]):
                family.append((v.name, step))
                step *= v.card
            self.families.append(family)
        self.begin = np.array(begin, np.int64)
        self.logs = np.ascontiguousarray(np.vstack(parts)).reshape(-1)

    def add(self, codes: Mapping[str, np.ndarray], sums: np.ndarray) -> np.ndarray:
        """Add to each row what its columns say; where its child is missing a family says nothing.

        Args:
            codes: of the columns; parents are not missing.
            sums: a row for each row, a column for each class.
        """
        places = np.zeros((len(self.families), len(sums)), np.int32)
        for at, family in enumerate(self.families):
            for name, step in family:
                column = codes[name]
                places[at] += column if step == 1 else column * np.int32(step)
            child = codes[family[0][0]]
            places[at][child < 0] = -1
        CLASSES.add_logs(places, self.begin, self.logs, sums.shape[1], sums.reshape(-1))
        return sums


def with_codes(seen: Observations, variables: Mapping[str, Variable]) -> dict[str, np.ndarray]:
    """The codes of all columns; of one that is not there everything is missing."""
    nothing = np.full(seen.n_rows, -1, np.int32)
    return {name: seen.codes.get(name, nothing) for name in variables}


def in_whole_numbers(net: BayesianNetwork) -> BayesianNetwork:
    """The same network of tables with the codes for states: rows of codes are read fast."""
    named = {name: Variable(name, list(range(v.card))) for name, v in net.variables.items()}
    made = []
    for name in net.nodes:
        cpd = net.cpd(name)
        made.append(TableCPD.trusted(named[name], tuple([named[p.name] for p in cpd.given]), cpd.values))
    return BayesianNetwork._from_cpds(net.name, made)


def log_joint_of_codes(
    net: BayesianNetwork, target: str, k: int, codes: Mapping[str, np.ndarray], n: int
) -> np.ndarray:
    """Log P(class, row) for rows with gaps, which the engine sums out.

    Args:
        net: with whole numbers for states.
        target: the class.
        k: how many there are.
        codes: of the columns, -1 where missing.
        n: how many rows.
    """
    frame: dict[str, Any] = {}
    for name, column in codes.items():
        missing = column < 0
        frame[name] = np.where(missing, np.nan, column) if missing.any() else column
    found = np.empty((n, k))
    for c in range(k):
        found[:, c] = net.log_likelihood({**frame, target: np.full(n, c)}, bad_rows="missing")
    return np.asarray(np.where(np.isnan(found), -np.inf, found))
