"""EM for dynamic networks: expected counts of all steps, for tables that the steps share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.cpds import CPD, TableCPD
from pgm.cpds.statistics import Configurations
from pgm.distributions.gaussian_statistics import gathered
from pgm.errors import ImpossibleEvidence, InvalidArgument, UnknownVariable, shown
from pgm.factors import Gate, GaussianFactor, OwnDensity, RowNormal, RowTable, Score
from pgm.inference.engines import interface as engine
from pgm.learning import EStep, climb
from pgm.learning.parameters import fixed_rows, maximise, rules
from pgm.results import FitReport
from pgm.runtime.clock import start_clock

from .checks import MOST_STARTS, weights_of
from .network_rows import Read
from .network_slices import Node, back_of, of_cpds, template

_Nodes = dict[str, Node]


def cpds_of(nodes: Mapping[str, Node]) -> dict[str, CPD]:
    """All distributions: "rain" is that of later steps, "rain[0]" that of the first."""
    found = {}
    for name, node in nodes.items():
        for step, cpd in enumerate(node.cpds[:-1]):
            found[f"{name}[{step}]"] = cpd
        found[name] = node.cpds[-1]
    return found


def with_cpds(nodes: Mapping[str, Node], cpds: Mapping[str, CPD]) -> _Nodes:
    """The same nodes with these distributions."""
    made = {}
    for name, node in nodes.items():
        own = [*(cpds[f"{name}[{step}]"] for step in range(len(node.cpds) - 1)), cpds[name]]
        made[name] = of_cpds(name, node.parents, node.domain, node.static, own)
    return made


class DynamicNetworkLearning:
    """One call of `fit`: the network, the data, the priors, and what stays fixed."""

    def __init__(
        self,
        nodes: _Nodes,
        read: Read,
        layout: engine.SliceLayout,
        weights: Any,
        fixed: Any,
        prior: Any,
        estimate: str,
    ) -> None:
        """Check what was asked for."""
        self.nodes, self.read, self.layout = nodes, read, layout
        sequences = self.read.sequences
        self.weight = np.repeat(weights_of(weights, len(sequences)), sequences.lengths)
        self.clock = start_clock()
        cpds = cpds_of(self.nodes)
        stays = fixed_rows(_spread(fixed, self.nodes, cpds), cpds, cpds)
        if isinstance(prior, Mapping):
            for name in prior:
                if name is not ... and name not in cpds:
                    raise UnknownVariable(name, self.nodes, where="prior=")
            prior = {
                key: prior[name]
                for name in prior
                for key in ([name] if name is ... else _names(name, self.nodes))
            }
        self.rules = rules(prior, estimate, stays, cpds)

    def run(
        self, starts: Any, max_iter: int, tol: float, random: np.random.Generator
    ) -> tuple[_Nodes, FitReport]:
        """Run EM from each start, and keep the best."""
        if (
            isinstance(starts, bool)
            or not isinstance(starts, int | np.integer)
            or not 1 <= starts <= MOST_STARTS
        ):
            raise InvalidArgument(
                f"starts= is a whole number from 1 to {MOST_STARTS:,}, not {shown(starts)}."
            )
        seeds = random.spawn(int(starts))
        begin = [lambda: dict(self.nodes)]
        begin += [lambda seed=seed: self.guess(seed) for seed in seeds[1:]]  # type: ignore[misc]
        best, reports, winner = climb(
            begin, self.expect, self.maximise, max_iter=max_iter, tol=tol, clock=self.clock, what="EM"
        )
        cpds = cpds_of(best)
        free = sum(cpd.n_parameters for name, cpd in cpds.items() if self.rules[name].fixed is not True)
        logs = tuple(report.log_likelihoods for report in reports)
        made = reports[winner].changed(n_parameters=free, n_rows=self.read.sequences.n_rows, starts=logs)
        return best, made

    def guess(self, random: np.random.Generator) -> _Nodes:
        """Random tables, whose zeros stay; everything else unchanged."""
        cpds = cpds_of(self.nodes)
        for name, cpd in cpds.items():
            if isinstance(cpd, TableCPD) and self.rules[name].fixed is False:
                values = np.where(cpd.values > 0.0, random.exponential(size=cpd.values.shape) + 0.1, 0.0)
                cpds[name] = cpd.fitted(values)
        return with_cpds(self.nodes, cpds)

    def expect(self, nodes: _Nodes) -> EStep[dict[str, Any]]:
        """Expected statistics of all distributions."""
        layout = self.layout.renewed(template(nodes), self.clock)
        try:
            found = engine.expected(layout, self.read.rows, self.weight, self.clock)
        except engine.ImpossibleRow as error:
            place = self.read.sequences.place(error.row)
            raise ImpossibleEvidence(
                f"{place[0].upper()}{place[1:]}: what is observed here is impossible after what was observed "
                "before, under the parameters that learning starts from. Zeros stay zero: start from others."
            ) from None
        log = float(self.weight @ found.logs)
        cpds = cpds_of(nodes)
        prior = sum(self.rules[name].log_prior(cpd) for name, cpd in cpds.items())
        return EStep(log, log + prior, self._statistics(nodes, layout, found))

    def maximise(self, nodes: _Nodes, statistics: dict[str, Any], iteration: int) -> _Nodes:
        """The most likely distributions; a row of a table that was never used keeps its values."""
        cpds = cpds_of(nodes)
        used = {name: cpd for name, cpd in cpds.items() if statistics[name] is not None}
        made = maximise(self.rules, (), used, statistics)
        for name, cpd in made.items():
            if cpd.tabular and self.rules[name].pseudo is None and cpd is not cpds[name]:
                unused = statistics[name].sum(axis=-1) <= 0.0
                if unused.any():
                    made[name] = cpd.fitted(np.where(unused[..., None], cpds[name].values, cpd.values))
        return with_cpds(nodes, cpds | made)

    # --- from counts of tables to statistics of distributions ---

    def _statistics(
        self, nodes: _Nodes, layout: engine.SliceLayout, found: engine.Expected
    ) -> dict[str, Any]:
        statistics: dict[str, Any] = {}
        for v, (name, node) in enumerate(nodes.items()):
            parts = layout.template.parts[v]
            for step, cpd in enumerate(node.cpds):
                last = step == len(node.cpds) - 1
                key = name if last else f"{name}[{step}]"
                kinds = range(step, len(parts)) if last and not node.static else [step]
                statistics[key] = self._of(layout, found, v, cpd, parts[step], kinds)
        return statistics

    def _of(
        self, layout: engine.SliceLayout, found: engine.Expected, v: int, cpd: CPD, part: Any, kinds: Any
    ) -> Any:
        for own, shares in zip(layout.of_rows, found.of_rows, strict=True):
            if own.variable == v:
                return self._of_continuous(layout, shares, own.scope, v, cpd, part, list(kinds))
        mine = [
            (one, counts)
            for one, counts in zip(layout.fixed, found.fixed, strict=True)
            if one.variable == v and one.part >= 0 and kinds[0] in one.kinds
        ]
        mine.sort(key=lambda pair: pair[0].part)
        if isinstance(part, Gate):
            tables = []
            for one, counts in mine:
                total = sum(counts[kind] for kind in kinds)
                tables.append(np.asarray(total).transpose(one.turned))
            return cpd.statistics(cpd.expected(part, tables)) if tables[-1].any() else None
        (one, counts) = mine[0]
        total = np.asarray(sum(counts[kind] for kind in kinds))
        return self._of_table(self._as_table(layout, total, one.scope, v, cpd), cpd)

    def _of_table(self, counts: np.ndarray, cpd: CPD) -> Any:
        """Statistics of a distribution that is a table for the engine; None if it was never used."""
        if cpd.tabular:
            return counts
        return cpd.statistics(counts) if counts.any() else None

    def _as_table(
        self, layout: engine.SliceLayout, total: np.ndarray, scope: tuple[int, ...], v: int, cpd: CPD
    ) -> np.ndarray:
        """Counts over the scope of a table, summed and transposed to the distribution's own axes."""
        places = self._places(layout, v, cpd)
        gone = tuple(i for i, p in enumerate(scope) if p not in places)
        left = [p for p in scope if p in places]
        return np.ascontiguousarray(total.sum(axis=gone).transpose([left.index(p) for p in places]))

    def _places(self, layout: engine.SliceLayout, v: int, cpd: CPD) -> list[int]:
        names = list(self.nodes)
        at = layout.template.at
        return [*(at[names.index(u)] + back for u, back in map(back_of, cpd.parents)), at[v]]

    def _of_continuous(
        self,
        layout: engine.SliceLayout,
        shares: np.ndarray,
        scope: tuple[int, ...],
        v: int,
        cpd: CPD,
        part: Any,
        kinds: list[int],
    ) -> Any:
        """Statistics of densities, and of states with continuous parents."""
        data = self.read.rows
        rows = np.flatnonzero(np.isin(data.kind, kinds))
        if isinstance(part, GaussianFactor) and not isinstance(part, OwnDensity):
            places = part.scope.tolist()
            rows = rows[~np.isnan(data.values[v][rows])]
            columns = [*(self._values(layout, p, rows) for p in places[part.n_switches : -1])]
            columns.append(data.values[v][rows])
            switches = places[: part.n_switches]
            weights = self._turned(shares[rows], scope, switches).reshape(rows.size, -1)
            weights = weights * self.weight[rows][:, None]
            return gathered(np.column_stack(columns), np.ascontiguousarray(weights), None, None)
        if isinstance(part, Score | RowTable | RowNormal | OwnDensity):
            places = self._places(layout, v, cpd)
            if cpd.continuous:
                rows = rows[~np.isnan(data.values[v][rows])]
            discrete = [p for p in places if p in scope]
            weights = self._turned(shares[rows], scope, discrete) * self.weight[rows].reshape(
                -1, *[1] * len(discrete)
            )
            codes = np.indices(weights.shape[1:]).reshape(len(discrete), -1).T
            columns = []
            for p in places:
                if p in discrete:
                    columns.append(np.tile(codes[:, discrete.index(p)], rows.size).astype(float))
                else:
                    columns.append(np.repeat(self._values(layout, p, rows), len(codes)))
            flat = weights.reshape(-1)
            some = flat > 0.0
            return Configurations.of(np.column_stack(columns)[some], flat[some], None)
        total = (shares[rows] * self.weight[rows].reshape(-1, *[1] * len(scope))).sum(axis=0)
        return self._of_table(self._as_table(layout, total, scope, v, cpd), cpd)

    def _turned(self, shares: np.ndarray, scope: tuple[int, ...], wanted: list[int]) -> np.ndarray:
        gone = tuple(i + 1 for i, p in enumerate(scope) if p not in wanted)
        left = [p for p in scope if p in wanted]
        return np.asarray(shares.sum(axis=gone).transpose([0, *(left.index(p) + 1 for p in wanted)]))

    def _values(self, layout: engine.SliceLayout, place: int, rows: np.ndarray) -> np.ndarray:
        u, back = layout.template.owner(place)
        return np.asarray(self.read.rows.values[u][rows - back])


def _names(name: str, nodes: Mapping[str, Node]) -> list[str]:
    """The names of all distributions of a variable."""
    if name not in nodes:
        return [name]
    return [*(f"{name}[{step}]" for step in range(len(nodes[name].cpds) - 1)), name]


def _spread(fixed: Any, nodes: Mapping[str, Node], cpds: Mapping[str, CPD]) -> Any:
    if isinstance(fixed, str):
        fixed = [fixed]
    if isinstance(fixed, Mapping):
        return {
            key: rows
            for name, rows in fixed.items()
            for key in (_names(name, nodes) if rows is True else [name])
        }
    if isinstance(fixed, list | tuple | set | frozenset):
        for name in fixed:
            if name not in cpds:
                raise UnknownVariable(name, cpds, where="fixed=")
        return [key for name in fixed for key in _names(name, nodes)]
    return fixed
