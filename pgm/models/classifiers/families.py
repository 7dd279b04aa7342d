"""The base of classifiers whose columns have the class and other columns as parents.

Continuous columns are cut into bins, or with bins=None are linear Gaussian given their parents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD
from pgm.cpds.table_input import check_cells
from pgm.distributions.pseudo_counts import Laplace
from pgm.errors import InvalidArgument, shown
from pgm.frames.undeclared import Observations
from pgm.learning.counts import Counts
from pgm.learning.discretization import METHODS, bins_of
from pgm.learning.parameters import Rule, rules
from pgm.models import BayesianNetwork
from pgm.models.fitting import Fit
from pgm.variables import Variable

from .conventions import CLASSES
from .in_part import climbed
from .lines import Lines, line_of
from .row_classifier import RowClassifier
from .training import Training


class FamilyClassifier(RowClassifier):
    """A classifier whose columns may have other columns as parents, beside the class."""

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
        """The same rows, with bins in place of continuous values; as they are if nothing is to be cut."""
        if self.bins is None:
            return data
        method, count = self._cuts()
        variables, codes = dict(data.variables), dict(data.codes)
        for name, values in data.values.items():
            if method == "mdlp":  # which needs the classes
                rows = data.labels >= 0
                bins = bins_of(values[rows], method, count, data.labels[rows], data.weights[rows])
            else:
                bins = bins_of(values, method, count, None, data.weights)
            variables[name] = Variable(name, bins)
            found = np.searchsorted(np.array(bins.edges), values, side="right").astype(np.int32) - np.int32(1)
            found[np.isnan(values)] = -1
            codes[name] = found
        codes = {name: codes[name] for name in variables}
        return replace(data, variables=variables, codes=codes, values={})

    def _cuts(self) -> tuple[str, int]:
        """How continuous columns are cut: the method, and into how many bins."""
        if isinstance(self.bins, int | np.integer) and not isinstance(self.bins, bool) and self.bins >= 2:
            return "quantile", int(self.bins)
        if isinstance(self.bins, str) and self.bins in METHODS:
            return self.bins, 4
        raise InvalidArgument(
            f"bins= is {' or '.join(map(repr, METHODS))}, how many quantiles, at least 2, or None, which "
            f"leaves continuous columns as they are; not {shown(self.bins)}."
        )

    def _counts(self, data: Training) -> Counts:
        """Counts of the class, which is column 0, and of the columns; continuous ones have one state."""
        plain = bool((data.weights == 1.0).all())
        none = np.zeros(len(data.labels), np.int32)
        return Counts(
            [data.labels, *(data.codes.get(name, none) for name in data.variables)],
            [data.target.card, *(1 if v.continuous else v.card for v in data.variables.values())],
            None if plain else data.weights,
        )

    def _learned(
        self, data: Training, counts: Counts, families: Mapping[str, Sequence[str]]
    ) -> dict[str, CPD]:
        """The distribution of each column, given the class and its other parents.

        Args:
            data: the rows.
            counts: their counts, of the class and all columns.
            families: {column: its parents besides the class}.
        """
        place = {name: i + 1 for i, name in enumerate(data.variables)}
        blank: dict[str, CPD] = {}
        wanted = []
        for name, parents in families.items():
            if (child := data.variables[name]).continuous:
                continue
            given = (data.target, *(data.variables[p] for p in parents))
            shape = tuple(v.card for v in (*given, child))
            check_cells(
                shape, f"{name!r}: its table", "let it have fewer parents, or cut columns into fewer bins"
            )
            values = np.full(shape, 1.0 / child.card)
            values.flags.writeable = False
            blank[name] = TableCPD.trusted(child, given, values)
            wanted.append([0, *(place[p] for p in parents), place[name]])
        tables = dict(zip(blank, counts.tables(wanted, data.clock), strict=True))
        how = self._rules(blank, data)
        made: dict[str, CPD] = {}
        for name, parents in families.items():
            if name in blank:
                made[name] = how[name].fitted(blank[name], tables[name])
            else:
                data.clock.check("learning a classifier")
                made[name] = line_of(data, name, parents, self._belief(name))[0]
        return made

    def _climbed(
        self, data: Training, families: Mapping[str, Sequence[str]], cpds: Mapping[str, CPD], keep: bool
    ) -> Fit:
        """Learn the same families by EM, from rows without a class too.

        Args:
            data: the rows.
            families: {column: its parents besides the class}.
            cpds: as learned from the rows with a class.
            keep: whether P(class) stays fixed.
        """
        made = self._rules({name: cpd for name, cpd in cpds.items() if cpd.tabular}, data)
        known = data.known()
        for name in cpds.keys() - made.keys():
            made[name] = Rule(line_of(known, name, families[name], self._belief(name))[2])
        return climbed(data, cpds.values(), made, keep_shares=keep)

    def _rules(self, blank: Mapping[str, CPD], data: Training) -> dict[str, Rule]:
        """How each table is learned."""
        said = dict(self.prior) if isinstance(self.prior, Mapping) else {...: self.prior}
        for name, one in list(said.items()):
            if name in data.values:
                del said[name]
            elif isinstance(one, int | float | np.number) and not isinstance(one, bool):
                said[name] = Laplace(self._belief(name)) if self._belief(name) > 0.0 else None
        prior = said if any(one is not None for one in said.values()) else None
        return rules(prior, "mean", {}, blank) if blank else {}

    def _belief(self, name: Any = ...) -> float:
        """How many pseudo-rows are added to each distribution of a continuous column."""
        said = self.prior.get(name, self.prior.get(...)) if isinstance(self.prior, Mapping) else self.prior
        if isinstance(said, int | float | np.number) and not isinstance(said, bool):
            if not 0.0 <= said < np.inf:
                raise InvalidArgument(f"prior= is added to each count, 0 or more, not {shown(said)}.")
            return float(said)
        return 0.0 if said is None else 1.0


class Sums:
    """Log P(class, row) of a network, as sums over its columns, for rows whose parents are all observed."""

    def __init__(self, cpds: Mapping[str, CPD]) -> None:
        self.cpds = cpds
        begin, parts, at = [], [], 0
        self.families: list[list[tuple[str, int]]] = []
        for cpd in cpds.values():
            if isinstance(cpd, LinearGaussian):
                continue
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
        self.logs = np.ascontiguousarray(np.vstack(parts)).reshape(-1) if parts else np.zeros(0)
        self.lines = Lines({name: cpd for name, cpd in cpds.items() if isinstance(cpd, LinearGaussian)})

    def add(
        self, codes: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray], sums: np.ndarray
    ) -> np.ndarray:
        """Add to each row the log probability of each column; a column that is missing adds nothing.

        Args:
            codes: of the discrete columns; parents are not missing.
            values: of the continuous columns; parents are not missing.
            sums: what to add to, a row for each row, a column for each class.
        """
        if self.families:
            places = np.zeros((len(self.families), len(sums)), np.int32)
            for at, family in enumerate(self.families):
                for name, step in family:
                    column = codes[name]
                    places[at] += column if step == 1 else column * np.int32(step)
                child = codes[family[0][0]]
                places[at][child < 0] = -1
            CLASSES.add_logs(places, self.begin, self.logs, sums.shape[1], sums.reshape(-1))
        return self.lines.add(codes, values, sums)


def with_all(
    seen: Observations, variables: Mapping[str, Variable]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The codes and values of all columns; an absent column is missing in every row."""
    nothing, nowhere = np.full(seen.n_rows, -1, np.int32), np.full(seen.n_rows, np.nan)
    codes = {n: seen.codes.get(n, nothing) for n, v in variables.items() if not v.continuous}
    return codes, {n: seen.values.get(n, nowhere) for n, v in variables.items() if v.continuous}


def some(columns: Mapping[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    """Some rows of columns."""
    return {name: column[rows] for name, column in columns.items()}


def with_integer_states(net: BayesianNetwork) -> BayesianNetwork | None:
    """The same network with codes as states, which are read fast; None if some node has another kind."""
    if not all(type(net.cpd(name)) in (TableCPD, LinearGaussian) for name in net.nodes):
        return None
    named = {
        name: v if v.continuous else Variable(name, list(range(v.card))) for name, v in net.variables.items()
    }
    made: list[CPD] = []
    for name in net.nodes:
        cpd, given = net.cpd(name), tuple([named[p.name] for p in net.cpd(name).given])
        if isinstance(cpd, LinearGaussian):
            made.append(cpd.bind(name, None, given))
        else:
            made.append(TableCPD.trusted(named[name], given, cpd.values))
    return BayesianNetwork._from_cpds(net.name, made)


def frame_of(codes: Mapping[str, np.ndarray], values: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Codes and values as a frame that such a network reads."""
    frame: dict[str, Any] = {}
    for name, column in codes.items():
        missing = column < 0
        frame[name] = np.where(missing, np.nan, column) if missing.any() else column
    return frame | dict(values)


def log_joint(
    net: BayesianNetwork,
    target: Variable,
    codes: Mapping[str, np.ndarray],
    values: Mapping[str, np.ndarray],
    n: int,
) -> np.ndarray:
    """Log P(class, row) for rows with gaps, which the engine sums out.

    Args:
        net: with codes as states.
        target: the class.
        codes: of the discrete columns, -1 where missing.
        values: of the continuous columns, NaN where missing.
        n: how many rows.
    """
    frame = frame_of(codes, values)
    found = np.empty((n, target.card))
    for c in range(target.card):
        found[:, c] = net.log_likelihood({**frame, target.name: np.full(n, c)}, bad_rows="missing")
    return np.asarray(np.where(np.isnan(found), -np.inf, found))


def counted_states(variable: Variable) -> str:
    """How many states a column has, as printed in tables."""
    return "continuous" if variable.continuous else f"{variable.card:,}"
