"""The E-step of EM: expected statistics of every distribution, given rows and the current parameters."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD
from pgm.errors import ImpossibleEvidence, InvalidArgument, listed
from pgm.frames import Columns
from pgm.learning.counts import distinct
from pgm.runtime.clock import Clock

from .expected_rows import expected_rows

if TYPE_CHECKING:
    from .fitting import NetworkFitting


class Expectation:
    """Rows laid out once, and evaluated repeatedly with different parameters.

    Args:
        task: rows, and the nodes that learn from them.
        hard: count the most probable completion of each row, not expected counts.
    """

    def __init__(self, fitting: NetworkFitting, hard: bool) -> None:
        from .bayesian_network import BayesianNetwork

        self.fitting, self.hard = fitting, hard
        self._network = BayesianNetwork._from_cpds(fitting.net.name, fitting.kinds.values())
        self._rows: Any = None
        self._last: tuple[dict[str, CPD], float, dict[str, Any]] | None = None
        rows = fitting.rows
        if hard and any(cpd.continuous or cpd.takes_continuous for cpd in fitting.kinds.values()):
            raise InvalidArgument(
                'method="hard" is for discrete networks; with continuous variables EM is soft.'
            )
        if hard and rows.soft:
            raise InvalidArgument(
                f'method="hard" completes rows by states, and cells of {listed(list(rows.soft))} weigh them: '
                "leave it out, for soft EM."
            )
        seen = {name for name, c in rows.codes.items() if not (c < 0).any()}
        seen |= {name for name, x in rows.values.items() if not np.isnan(x).any()}
        whole = [n for n, cpd in fitting.kinds.items() if n in seen and seen.issuperset(cpd.parents)]
        apart = {name for group in fitting.groups for name in group if not set(group) <= set(whole)}
        self._whole = fitting.statistics([name for name in whole if name not in apart])

    def of(self, now: dict[str, CPD]) -> tuple[float, dict[str, Any]]:
        """The log-likelihood, and the expected statistics of each node."""
        log, found = (self._completed if self.hard else self._expected)(now)
        statistics = {}
        for name in now:
            one = self._whole.get(name, found.get(name))
            if name not in self._whole and now[name].rowwise and self.fitting.rules[name].fixed is not True:
                one = expected_rows(self.fitting, self._network, name, now[name])
            if isinstance(one, np.ndarray) and not now[name].tabular:
                one = now[name].statistics(one)
            if one is None and self.fitting.rules[name].fixed is not True:
                raise InvalidArgument(
                    f"{name!r}: a {type(now[name]).__name__} whose family has gaps has no expected "
                    "statistics of a "
                    f"size that fits. Leave rows without {name!r} or its parents out, or keep it, "
                    f"fixed=[{name!r}]."
                )
            if one is not None:
                statistics[name] = one
        self._last = now, log, statistics
        return log, statistics

    def last(self, now: dict[str, CPD]) -> tuple[float, dict[str, Any]]:
        """The same, cached if these were the last parameters; even after the time limit."""
        if self._last is None or self._last[0] is not now:
            self.fitting.clock = Clock(None, None)
            self.of(now)
        assert self._last is not None
        return self._last[1:]

    def _compiled(self, now: dict[str, CPD]) -> Any:
        network = self._network
        for name, cpd in now.items():
            network._cpds[name] = cpd
        network._values_changed("", None)
        return network._compile_in(self.fitting.clock)

    def _expected(self, now: dict[str, CPD]) -> tuple[float, dict[str, Any]]:
        compiled, fitting = self._compiled(now), self.fitting
        if compiled.gaussians is None:
            if self._rows is None:
                from pgm.inference.asking.frame_statistics import SoftRows

                codes = {name: c.astype(np.int32, copy=False) for name, c in fitting.rows.codes.items()}
                data = Columns(
                    fitting.rows.n_rows, codes, np.zeros(fitting.rows.n_rows, bool), fitting.rows.soft
                )
                parts = partial(self._network._in_bulk, compiled.position)
                self._rows = SoftRows(compiled, data, fitting.rows.weights, parts)
            program, tables, log = self._rows.counted(compiled, fitting.clock)
            return log, self._network._expected(program, tables, {})
        if self._rows is None:
            from pgm.inference.asking.continuous_frames import MixedTable
            from pgm.inference.asking.frame_statistics import HybridRows

            rows, bad = fitting.rows, np.zeros(fitting.rows.n_rows, bool)
            codes = {name: c.astype(np.int32, copy=False) for name, c in rows.codes.items()}
            table = MixedTable(
                compiled, compiled.names, codes, rows.values, bad, False, fitting.clock, rows.soft
            )
            self._rows = HybridRows(compiled, table, rows.weights)
        tables, densities, log = self._rows.expected(compiled, fitting.clock)
        return log, self._network._expected(compiled.program, tables, densities)

    def _completed(self, now: dict[str, CPD]) -> tuple[float, dict[str, Any]]:
        """Counts of the most probable completion of each row, and the logarithm of its probability."""
        compiled, fitting = self._compiled(now), self.fitting
        names = list(compiled.names)
        codes = np.full((len(names), fitting.rows.n_rows), -1, np.int32)
        for name, column in fitting.rows.codes.items():
            codes[names.index(name)] = column
        cards = np.array([compiled.by_name[name].card for name in names], np.int64)
        rows, inverse = distinct(codes, cards)
        weights = np.bincount(inverse, fitting.rows.weights, minlength=len(rows)).astype(np.float64)
        logs = np.zeros(len(rows))
        full = rows.astype(np.int64)
        for i, row in enumerate(rows):
            if weights[i] == 0.0:
                continue
            fitting.clock.check("EM")
            given = {
                n: compiled.by_name[n].states[c] for n, c in zip(names, row.tolist(), strict=True) if c >= 0
            }
            try:
                best = self._network.map(given)
            except ImpossibleEvidence as error:
                at = int((inverse == i).argmax())
                raise ImpossibleEvidence(f"Row {at:,} (the first is 0): {error}") from None
            logs[i] = float(best.log_joint)
            for k, name in enumerate(names):
                if row[k] < 0:
                    full[i, k] = compiled.by_name[name].code(best[name])
        there = weights > 0.0
        full, shares = full[there], weights[there]
        found = {
            name: cpd.gathered(
                full[:, [names.index(v) for v in (*cpd.parents, name)]], np.empty((len(full), 0)), shares
            )
            for name, cpd in now.items()
        }
        return math.fsum((weights * logs).tolist()), found
