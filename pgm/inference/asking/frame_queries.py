"""Rows of a frame as evidence: equal rows once, rows that observe the same variables side by side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from pgm.errors import TooLarge
from pgm.evidence import observe
from pgm.frames import Columns, among, columns
from pgm.inference.asking.best_states import best_states
from pgm.inference.asking.failures import impossible_row
from pgm.inference.asking.soft_rows import Parts, extended
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program.reduction import Known
from pgm.inference.trees.batching.lanes import Answers, Group, group_of
from pgm.inference.trees.batching.layouts import Pattern, Wanted, cost
from pgm.runtime.clock import Clock
from pgm.runtime.room import check_room
from pgm.runtime.running import LANES, Impossible, Narrow
from pgm.runtime.threads import Task, run_all

DONE, NARROW, IMPOSSIBLE, BAD = 0, 2, 3, 4
# Seconds to build a tree for the rows that observe the same variables: at least, and per factor.
_OWN_TREE, _OWN_TREE_FACTOR = 3e-4, 2e-6


def blank(compiled: ModelSnapshot, clock: Clock) -> Posterior:
    """The model without evidence."""
    return Posterior(compiled.program, compiled.trees, Known({}, {}), clock, compiled.names)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class CodedTable:
    """A frame as codes, with equal rows once."""

    data: Columns
    column: np.ndarray  # int64, the column of each variable of the program, or -1
    codes: np.ndarray  # int32 (distinct rows, columns), -1 where missing
    inverse: np.ndarray  # for each row of the frame, which of the distinct rows it is
    pattern: np.ndarray  # for each distinct row, an index for its set of observed cells


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Found:
    """The answers for the rows of a frame."""

    table: CodedTable
    status: np.ndarray  # int64, of the frame's rows
    logs: np.ndarray  # log P(row) of the distinct rows, not normalised over all possible rows
    shares: np.ndarray  # (distinct rows, states of all targets)
    more: np.ndarray  # of the frame's rows, what to add to the logs


def predict(
    compiled: ModelSnapshot,
    frame: Any,
    targets: Sequence[str] | None,
    bad_rows: str,
    clock: Clock,
    parts: Parts,
) -> dict[str, np.ndarray]:
    """The code of the most probable state of each target in each row, -1 where a row is bad."""
    found = _answer(compiled, frame, targets, bad_rows, clock, parts)
    failed = np.flatnonzero(found.status != DONE)
    answers = {}
    for name, shares in _parts(compiled, targets, found):
        answers[name] = np.take(best_states(shares), found.table.inverse)
        answers[name][failed] = -1
    return answers


def predict_proba(
    compiled: ModelSnapshot,
    frame: Any,
    targets: Sequence[str] | None,
    bad_rows: str,
    clock: Clock,
    parts: Parts,
) -> dict[str, np.ndarray]:
    """P(target | row) of each target for each row; NaN where a row is bad."""
    found = _answer(compiled, frame, targets, bad_rows, clock, parts)
    failed = np.flatnonzero(found.status != DONE)
    answers = {}
    for name, shares in _parts(compiled, targets, found):
        values = np.take(shares, found.table.inverse, axis=0)
        values[failed] = math.nan
        values.flags.writeable = False
        answers[name] = values
    return answers


def log_likelihood(
    compiled: ModelSnapshot, frame: Any, bad_rows: str, clock: Clock, parts: Parts
) -> np.ndarray:
    """The log of the sum of the product of all factors, for each row; NaN where a row is bad."""
    found = _answer(compiled, frame, (), bad_rows, clock, parts)
    values: np.ndarray = np.take(found.logs, found.table.inverse) + found.more
    values[found.status != DONE] = math.nan
    values.flags.writeable = False
    return values


def _parts(
    compiled: ModelSnapshot, targets: Sequence[str] | None, found: _Found
) -> Iterator[tuple[str, np.ndarray]]:
    """The columns of each target."""
    begin = 0
    for name in compiled.names if targets is None else targets:
        card = compiled.by_name[name].card
        yield name, found.shares[:, begin : begin + card]
        begin += card


def _answer(
    compiled: ModelSnapshot,
    frame: Any,
    targets: Sequence[str] | None,
    bad_rows: str,
    clock: Clock,
    parts: Parts,
) -> _Found:
    """Answer every row; targets None: all variables, observed ones included; no targets: P(row) alone."""
    wanted = among(frame, compiled.by_name, compiled.position, frozenset(targets or ()))
    data = columns(frame, wanted, bad=bad_rows, check=clock.check, soft=True)
    asking, coded, more = extended(compiled, data, parts)
    table = distinct(asking, coded)
    everything = range(len(compiled.names))
    places = tuple(everything if targets is None else [compiled.position[name] for name in targets])
    asked = Wanted(places, targets is None or len(targets) > 1)
    n = table.codes.shape[0]
    width = int(compiled.program.arrays.cards[list(places)].sum())
    entries = data.n_rows * width
    answer = f"The answer alone has {entries:,} entries, which take"
    check_room(16.0 * entries, answer, "Ask for fewer rows or fewer variables at once")
    answers = Answers(np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64), np.zeros((n, width)))
    logs = fill(asking, table, asked, answers, clock)
    status = np.take(answers.status, table.inverse)
    if data.bad is not None:
        status[data.bad] = BAD
    if bad_rows == "raise":
        refuse(compiled, data, status, clock)
    return _Found(table, status, logs, answers.shares, more)


def fill(
    compiled: ModelSnapshot,
    table: CodedTable,
    asked: Wanted,
    answers: Answers,
    clock: Clock,
    *,
    totals: bool = False,
) -> np.ndarray:
    """Answer distinct rows, and return the log of the sum over everything for each.

    Args:
        compiled: the model.
        table: the rows.
        asked: what is asked of each.
        answers: where the answers go.
        clock: the clock of the question.
        totals: whether the sums are wanted also of rows that are answered on their own.
    """
    posterior = blank(compiled, clock)
    if compiled.program.possible:
        exclude(compiled, table, answers.status)
        rows = np.flatnonzero(answers.status == DONE)
        if compiled.program.wide_exponents is not None:
            answers.status[rows] = NARROW
        else:
            _run(posterior, table, rows, asked, answers)
    else:
        answers.status[:] = IMPOSSIBLE
    with np.errstate(divide="ignore"):
        logs: np.ndarray = np.log(answers.tops) + answers.powers * math.log(2.0)
    for row in np.flatnonzero(answers.status == NARROW).tolist():
        clock.check()
        _one_row(posterior, table, row, asked, answers, logs, totals=totals)
    return logs


def refuse(compiled: ModelSnapshot, data: Columns, status: np.ndarray, clock: Clock, *remedy: str) -> None:
    """Raise for the first row that could not be answered."""
    failed = np.flatnonzero(status != DONE)
    if failed.size == 0:
        return
    row = int(failed[0])
    given: dict[str, Any] = {
        name: compiled.by_name[name].states[int(codes[row])]
        for name, codes in data.codes.items()
        if codes[row] >= 0
    }
    given |= {name: said for name, cells in data.soft.items() if (said := cells.given(row)) is not None}
    more = f" ({failed.size:,} rows in all)" if failed.size > 1 else ""
    raise impossible_row(f"{row}{more}", compiled, observe(compiled.by_name, given), clock, *remedy)


def distinct(compiled: ModelSnapshot, data: Columns) -> CodedTable:
    """Find equal rows, and rows that observe the same variables."""
    m, n = len(data.codes), data.n_rows
    codes = np.empty((m, n), np.int32)
    for i, column in enumerate(data.codes.values()):
        codes[i] = column
    radix = np.array([compiled.by_name[name].card for name in data.codes], dtype=np.int64)
    places = np.full(compiled.program.n, -1, np.int64)
    places[[compiled.position[name] for name in data.codes]] = np.arange(m)
    words = np.zeros((1 + m, n), np.int64)
    first, inverse = np.empty(n, np.int64), np.empty(n, np.int64)
    slots = np.full(1 << max(1, (2 * n - 1).bit_length()), -1, np.int32)
    count = LANES.distinct(words, LANES.pack(codes, radix, False, words), slots, first, inverse)
    rows = np.empty((count, m), np.int32)
    LANES.gather_rows(codes, first[:count], rows)
    words = np.zeros((1 + m, count), np.int64)
    n_words = LANES.pack(np.ascontiguousarray(rows.T), radix, True, words)
    slots[:] = -1
    pattern = np.empty(count, np.int64)
    LANES.distinct(words, n_words, slots, np.empty(count, np.int64), pattern)
    return CodedTable(data, places, rows, inverse, pattern)


def exclude(compiled: ModelSnapshot, table: CodedTable, status: np.ndarray) -> None:
    """Mark rows with a state that no assignment has."""
    p, open_states = compiled.program.arrays, compiled.program.open_states
    for i, name in enumerate(table.data.codes):
        v = compiled.position[name]
        mine = open_states[p.state_at[v] : p.state_at[v + 1]]
        if not mine.all():
            codes = table.codes[:, i]
            status[(codes >= 0) & (np.take(mine, np.maximum(codes, 0)) == 0)] = IMPOSSIBLE


def _run(posterior: Posterior, table: CodedTable, rows: np.ndarray, asked: Wanted, answers: Answers) -> None:
    """Run the rows in groups that share a tree."""

    def lay_out(group: np.ndarray, stop: np.ndarray) -> list[Task]:
        made = laid_out(posterior, table, group, asked, answers.status, stop)
        return [] if made is None else made.pieces(table.codes, group, answers)

    groups = groups_of(posterior, table, rows, asked, answers.status)
    run_all([Task(partial(lay_out, group), _OWN_TREE) for group in groups], posterior.clock)


def groups_of(
    posterior: Posterior, table: CodedTable, rows: np.ndarray, asked: Wanted, status: np.ndarray
) -> list[np.ndarray]:
    """Put rows that observe the same variables on a tree of their own if that pays, others on a common one.

    A dedicated tree has the observed variables sliced away, but must be built first; on the common tree
    evidence only rules out states. So rows that observe the same variables get a tree of their own if
    answering them on the common tree would take longer than building it. If the common tree does not fit,
    each group of rows gets its own.
    """
    if rows.size == 0:
        return []
    counts = np.bincount(table.pattern[rows])
    p = posterior.program.arrays
    alone = np.ones(counts.size, bool)
    if np.count_nonzero(counts) > 1:
        try:
            seconds = cost(posterior, _observed(table, rows), asked)
        except TooLarge:
            pass
        except Impossible:
            status[rows] = IMPOSSIBLE
            return []
        else:
            alone = counts * seconds > _OWN_TREE + _OWN_TREE_FACTOR * p.heads.size
    own = alone[table.pattern[rows]]
    groups = [rows[~own]] if not own.all() else []
    mine = rows[own]
    in_order = mine[np.argsort(table.pattern[mine], kind="stable")]
    if in_order.size:
        groups += np.split(in_order, np.flatnonzero(np.diff(table.pattern[in_order])) + 1)
    return groups


def laid_out(
    posterior: Posterior,
    table: CodedTable,
    group: np.ndarray,
    asked: Wanted,
    status: np.ndarray,
    stop: np.ndarray,
) -> Group | None:
    """A tree for the rows of a group, ready to run; None if there can be none: `status` then says why."""
    try:
        return group_of(posterior, _observed(table, group), asked, group.size, stop)
    except Narrow:
        status[group] = NARROW
    except Impossible:
        status[group] = IMPOSSIBLE
    return None


def _observed(table: CodedTable, rows: np.ndarray) -> Pattern:
    """The variables that all of these rows observe, those that some do, and the share of rows that do."""
    share = (table.codes[rows] >= 0).mean(axis=0)
    variables = np.flatnonzero(table.column >= 0)
    share = share[table.column[variables]]
    some = (share > 0.0) & (share < 1.0)
    return Pattern(table.column, variables[share == 1.0].tolist(), variables[some].tolist(), share[some])


def hard_evidence(table: CodedTable, row: int) -> dict[int, int]:
    """What a row observes: {position: code}."""
    column = table.column
    return {
        int(v): int(table.codes[row, column[v]])
        for v in np.flatnonzero(column >= 0)
        if table.codes[row, column[v]] >= 0
    }


def _one_row(
    posterior: Posterior,
    table: CodedTable,
    row: int,
    asked: Wanted,
    answers: Answers,
    logs: np.ndarray,
    *,
    totals: bool,
) -> None:
    """Answer a row on its own, because doubles in lanes are not safe for it."""
    one = dataclasses.replace(posterior, known=Known(hard_evidence(table, row), {}))
    try:
        if asked.whole:
            flat, begins = one.marginals(), posterior.program.arrays.state_at
            parts = [flat[begins[v] : begins[v + 1]] for v in asked.targets]
            answers.shares[row] = np.concatenate(parts)
        elif asked.targets:
            answers.shares[row] = one.joint(asked.targets)
        if totals or not asked.targets:
            logs[row] = log_of(one.total())
        answers.status[row] = DONE
    except Impossible:
        answers.status[row] = IMPOSSIBLE
