"""Expected counts over the rows of a frame: the E-step, with what is kept from one step to the next."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.frames import Columns, among, columns, weights_of
from pgm.inference.asking import continuous_frames
from pgm.inference.asking.frame_queries import (
    DONE,
    IMPOSSIBLE,
    NARROW,
    CodedTable,
    blank,
    distinct,
    exclude,
    groups_of,
    hard_evidence,
    laid_out,
    refuse,
)
from pgm.inference.asking.soft_rows import Parts, extended
from pgm.inference.engines.gaussian.hybrid import HybridPosterior
from pgm.inference.engines.gaussian.row_statistics import RowStatistics
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program import Program
from pgm.inference.program.reduction import Known
from pgm.inference.trees.batching.lanes import Answers
from pgm.inference.trees.batching.layouts import Wanted
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible
from pgm.runtime.threads import run_all

ALLOW = 'Leave such rows out, or make them possible: with a prior, such as "bdeu", `fit` learns no zeros.'


def of_frame(
    compiled: ModelSnapshot, frame: Any, weights: Any, clock: Clock, parts: Parts
) -> tuple[Program, dict[int, np.ndarray], dict[int, GaussianStatistics]]:
    """The program, the expected counts of all its tables, and the statistics of all densities."""
    wanted = among(frame, compiled.by_name, compiled.position, frozenset())
    if compiled.gaussians is None:
        data = columns(frame, wanted, remedy="Leave such rows out", check=clock.check, soft=True)
        plain = SoftRows(compiled, data, weights_of(weights, data.n_rows, frame), parts)
        return *plain.counted(compiled, clock)[:2], {}
    table = continuous_frames.read(compiled, frame, (), "raise", clock)
    rows = HybridRows(compiled, table, weights_of(weights, table.bad.size, frame))
    return compiled.program, *rows.expected(compiled, clock)[:2]


class DiscreteRows:
    """Rows of codes, equal ones once, in groups that share a tree.

    Args:
        compiled: the model, or one of the same structure.
        data: the rows.
        weights: one for each row.
        written: the rows as the user wrote them, for messages; None: `data`.
    """

    def __init__(
        self, compiled: ModelSnapshot, data: Columns, weights: np.ndarray, written: Columns | None = None
    ) -> None:
        self.written = data if written is None else written
        self.table: CodedTable = distinct(compiled, data)
        n = self.table.codes.shape[0]
        self.weights = np.bincount(self.table.inverse, weights, minlength=n).astype(np.float64)
        self._groups: list[np.ndarray] | None = None
        self._for: object = None  # the support for which the groups were made

    def expected(self, compiled: ModelSnapshot, clock: Clock) -> tuple[dict[int, np.ndarray], float]:
        """The expected counts of each table of the program, flat, and the log-likelihood of all rows.

        The log-likelihood is that of the product of all factors, not normalised.

        Raises:
            ImpossibleEvidence: a row of positive weight is impossible.
        """
        program, table = compiled.program, self.table
        n = table.codes.shape[0]
        answers = Answers(np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64), np.zeros((n, 0)))
        begins = program.entries_at
        counts = np.zeros(int(begins[-1]))
        posterior = blank(compiled, clock)
        counting = self.weights > 0.0
        if not program.possible:
            answers.status[:] = IMPOSSIBLE
        else:
            exclude(compiled, table, answers.status)
            rows = np.flatnonzero((answers.status == DONE) & counting)
            if program.wide_exponents is not None:
                answers.status[rows] = NARROW
            elif rows.size:
                asked = Wanted(tuple(range(program.n)), True, True)
                stop = np.zeros(1, np.uint8)
                if self._groups is None or self._for is not program.support:
                    self._groups = groups_of(posterior, table, rows, asked, answers.status)
                    self._for = program.support
                tasks, parts = [], []
                for group in self._groups:
                    clock.check()
                    made = laid_out(posterior, table, group, asked, answers.status, stop)
                    if made is not None:
                        more, arrays = made.counting(table.codes, group, self.weights, answers, counts.size)
                        tasks += more
                        parts += arrays
                run_all(tasks, clock)
                for part in parts:
                    counts += part
        with np.errstate(divide="ignore"):
            logs = np.log(answers.tops) + answers.powers * math.log(2.0)
        for row in np.flatnonzero((answers.status == NARROW) & counting).tolist():
            clock.check()
            one = dataclasses.replace(posterior, known=Known(hard_evidence(table, row), {}))
            try:
                for f, found in one.expected_counts().items():
                    counts[begins[f] : begins[f + 1]] += self.weights[row] * found
                logs[row] = log_of(one.total())
                answers.status[row] = DONE
            except Impossible:
                answers.status[row] = IMPOSSIBLE
        status = np.where(counting, answers.status, DONE)
        if (status != DONE).any():
            refuse(compiled, self.written, np.take(status, table.inverse), clock, ALLOW)
        log = math.fsum((self.weights[counting] * logs[counting]).tolist())
        return {f: counts[begins[f] : begins[f + 1]] for f in range(begins.size - 1)}, log


class SoftRows:
    """Rows of codes, among which cells may weigh states.

    Args:
        compiled: the model, or one of the same structure.
        data: the rows.
        weights: one for each row.
        parts: gives the parts of the model.
    """

    def __init__(self, compiled: ModelSnapshot, data: Columns, weights: np.ndarray, parts: Parts) -> None:
        self.data, self.weights, self.parts = data, weights, parts
        self._plain = None if data.soft else DiscreteRows(compiled, data, weights)
        self._last: tuple[ModelSnapshot, DiscreteRows] | None = None  # with variables for such cells

    def counted(self, compiled: ModelSnapshot, clock: Clock) -> tuple[Program, dict[int, np.ndarray], float]:
        """The program, the expected counts of the model's own tables in it, and the log-likelihood."""
        if self._plain is not None:
            return compiled.program, *self._plain.expected(compiled, clock)
        made, coded, more = extended(compiled, self.data, self.parts)
        if self._last is None:
            rows = DiscreteRows(made, coded, self.weights, self.data)
        else:
            made, rows = made.with_trees_of(self._last[0]), self._last[1]
        self._last = made, rows
        counts, log = rows.expected(made, clock)
        own = made.program.factor_of <= made.program.factor_of.max() - len(self.data.soft)
        log += math.fsum((self.weights * more).tolist())
        return made.program, {f: found for f, found in counts.items() if own[f]}, log


class HybridRows:
    """Rows with continuous columns among them.

    Args:
        compiled: the model, or one of the same structure.
        table: the rows.
        weights: one for each row.
    """

    def __init__(
        self, compiled: ModelSnapshot, table: continuous_frames.MixedTable, weights: np.ndarray
    ) -> None:
        self.table, self.weights = table, weights

    def expected(
        self, compiled: ModelSnapshot, clock: Clock
    ) -> tuple[dict[int, np.ndarray], dict[int, GaussianStatistics], float]:
        """The expected counts of all tables, the statistics of all densities, and the log-likelihood."""
        table = dataclasses.replace(
            self.table, compiled=compiled, about=compiled.names, clock=clock, links={}
        )
        counts: dict[int, np.ndarray] = {}
        densities: dict[int, GaussianStatistics] = {}
        left = self.weights > 0.0
        log = 0.0
        if compiled.linked is None or not compiled.linked.curves:
            rows = self._in_batches(compiled, table, np.flatnonzero(left), clock)
            log = math.fsum((self.weights * np.where(rows.found.done, rows.found.logs, 0.0)).tolist())
            densities = rows.densities
            if rows.configurations:
                counts = _discrete(compiled, rows, clock)
            left &= ~rows.found.done

        def ask(posterior: HybridPosterior) -> Any:
            tables, moments = posterior.expected_statistics()
            if compiled.linked is not None:
                tables = _without_scores(tables, posterior.program, compiled)
            return (tables, moments), log_of(posterior.total())

        for row, ((tables, moments), one) in table.one_by_one(np.flatnonzero(left), ask, ALLOW):
            w = float(self.weights[row])
            log += w * (one + table.log_weight(row))
            for f, found in tables.items():
                counts[f] = counts[f] + w * found if f in counts else w * found
            for v, found in moments.items():
                part = GaussianStatistics(w * found.weight, found.mean, w * found.scatter)
                densities[v] = densities[v] + part if v in densities else part
        return counts, densities, log

    def _in_batches(
        self, compiled: ModelSnapshot, table: continuous_frames.MixedTable, some: np.ndarray, clock: Clock
    ) -> RowStatistics:
        g, position = compiled.gaussians, compiled.position
        assert g is not None
        rows = RowStatistics(
            blank(compiled, clock),
            g,
            {position[name]: column for name, column in table.codes.items()},
            {int(g.index_of[position[name]]): column for name, column in table.values.items()},
            self.weights,
            table.linked(),
            soft={position[name]: cells for name, cells in table.soft.items()},
        )
        rows.answer(some)
        return rows


def _without_scores(
    found: dict[int, np.ndarray], program: Program, compiled: ModelSnapshot
) -> dict[int, np.ndarray]:
    """The counts without those of states with continuous parents, whose tables differ from row to row."""
    assert compiled.linked is not None
    assert compiled.gaussians is not None
    place = np.cumsum(compiled.gaussians.index_of < 0) - 1
    those = {int(place[score.child]) for score in compiled.linked.scores}
    mine, theirs = compiled.program.factor_of, program.factor_of
    pairs = zip(np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable"), strict=True)
    return {int(f): found[int(g)] for f, g in pairs if int(g) in found and int(mine[f]) not in those}


def _discrete(compiled: ModelSnapshot, rows: RowStatistics, clock: Clock) -> dict[int, np.ndarray]:
    """Expected counts of all tables, given configurations of states and the weight of each."""
    codes = np.concatenate([c for c, _ in rows.configurations])
    weights = np.concatenate([w for _, w in rows.configurations])
    seen = np.flatnonzero((codes >= 0).any(axis=0)).tolist()
    columns_ = {compiled.names[v]: np.ascontiguousarray(codes[:, v]) for v in seen}
    data = Columns(len(codes), columns_, np.zeros(len(codes), bool))
    return DiscreteRows(compiled, data, weights).expected(compiled, clock)[0]
