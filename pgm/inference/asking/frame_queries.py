"""Rows of a frame as evidence: equal rows once, those that observe the same variables side by side."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.errors import TooLarge
from pgm.evidence import observe
from pgm.frames import Columns, among, columns
from pgm.inference.asking.failures import impossible_row
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program.reduction import Known
from pgm.inference.trees.batching.lanes import Answers, Wanted, cost, group_of
from pgm.runtime.clock import Clock
from pgm.runtime.running import LANES, Impossible, Narrow
from pgm.runtime.threads import Task, run_all
from pgm.variables import states_array

if TYPE_CHECKING:
    pass

_DONE, _NARROW, _IMPOSSIBLE, _BAD = 0, 2, 3, 4
# Seconds that it costs to make a tree for the rows that observe the same variables: at least, and per factor.
_OWN_TREE, _OWN_TREE_FACTOR = 3e-4, 2e-6


def _blank(compiled: ModelSnapshot, clock: Clock) -> Posterior:
    return Posterior(compiled.program, compiled.trees, Known({}, {}), clock, compiled.names)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Table:
    """A frame as codes, with equal rows once."""

    data: Columns
    column: np.ndarray  # int64, the column of each variable of the program, or -1
    codes: np.ndarray  # int32 (distinct rows, columns), -1 where missing
    inverse: np.ndarray  # for each row of the frame, which of the distinct rows it is
    pattern: np.ndarray  # for each distinct row, an index for its set of observed cells


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Found:
    """What was found for the rows of a frame."""

    table: _Table
    status: np.ndarray  # int64, of the frame's rows
    logs: np.ndarray  # log P(row), not normalised over all possible rows
    shares: np.ndarray  # (distinct rows, states of all targets)


def predict(
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str, clock: Clock
) -> dict[str, np.ndarray]:
    """The most probable state of each target in each row, None where a row is bad."""
    found = _answer(compiled, frame, targets, bad_rows, clock)
    failed = np.flatnonzero(found.status != _DONE)
    answers = {}
    for name, shares in _parts(compiled, targets, found):
        # Rounding must not decide between equals: the state declared first wins.
        best = shares.max(axis=1, keepdims=True, initial=0.0)
        codes = np.take(np.argmax(shares >= best * (1 - 1e-13), axis=1), found.table.inverse)
        codes[failed] = -1
        answers[name] = states_array(compiled.by_name[name], codes)
    return answers


def predict_proba(
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str, clock: Clock
) -> dict[str, np.ndarray]:
    """P(target | row) of each target for each row; NaN where a row is bad."""
    found = _answer(compiled, frame, targets, bad_rows, clock)
    failed = np.flatnonzero(found.status != _DONE)
    answers = {}
    for name, shares in _parts(compiled, targets, found):
        values = np.take(shares, found.table.inverse, axis=0)
        values[failed] = math.nan
        values.flags.writeable = False
        answers[name] = values
    return answers


def log_likelihood(compiled: ModelSnapshot, frame: Any, bad_rows: str, clock: Clock) -> np.ndarray:
    """The log of the sum of the product of all factors, for each row; NaN where a row is bad."""
    found = _answer(compiled, frame, (), bad_rows, clock)
    values = np.take(found.logs, found.table.inverse)
    values[found.status != _DONE] = math.nan
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
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str, clock: Clock
) -> _Found:
    """Answer every row; targets None: all variables, observed ones included; no targets: P(row) alone."""
    wanted = among(frame, compiled.by_name, compiled.position, frozenset(targets or ()))
    data = columns(frame, wanted, bad=bad_rows, check=clock.check)
    table = _distinct(compiled, data)
    everything = range(len(compiled.names))
    places = tuple(everything if targets is None else [compiled.position[name] for name in targets])
    asked = Wanted(places, targets is None or len(targets) > 1)
    n = table.codes.shape[0]
    width = int(compiled.program.arrays.cards[list(places)].sum())
    if 16.0 * data.n_rows * width > current().memory_limit:
        raise TooLarge(
            f"The answer alone has {data.n_rows * width:,} numbers, more than the memory limit allows: "
            "ask for fewer rows or fewer variables at once."
        )
    answers = Answers(np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64), np.zeros((n, width)))
    posterior = _blank(compiled, clock)
    if compiled.program.possible:
        _exclude(compiled, table, answers.status)
        rows = np.flatnonzero(answers.status == _DONE)
        if compiled.program.wide_exponents is not None:
            answers.status[rows] = _NARROW
        else:
            _run(posterior, table, rows, asked, answers)
    else:
        answers.status[:] = _IMPOSSIBLE
    with np.errstate(divide="ignore"):
        logs = np.log(answers.tops) + answers.powers * math.log(2.0)
    for row in np.flatnonzero(answers.status == _NARROW).tolist():
        clock.check()
        _one_row(posterior, table, row, asked, answers, logs)
    status = np.take(answers.status, table.inverse)
    if data.bad is not None:
        status[data.bad] = _BAD
    if bad_rows == "raise":
        _refuse(compiled, data, status, clock)
    return _Found(table, status, logs, answers.shares)


def _refuse(compiled: ModelSnapshot, data: Columns, status: np.ndarray, clock: Clock) -> None:
    failed = np.flatnonzero(status != _DONE)
    if failed.size == 0:
        return
    row = int(failed[0])
    given = {
        name: compiled.by_name[name].states[int(codes[row])]
        for name, codes in data.codes.items()
        if codes[row] >= 0
    }
    more = f" ({failed.size:,} rows in all)" if failed.size > 1 else ""
    raise impossible_row(f"{row}{more}", compiled, observe(compiled.by_name, given), clock)


def _distinct(compiled: ModelSnapshot, data: Columns) -> _Table:
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
    return _Table(data, places, rows, inverse, pattern)


def _exclude(compiled: ModelSnapshot, table: _Table, status: np.ndarray) -> None:
    """Mark rows with a state that no assignment has."""
    p, open_states = compiled.program.arrays, compiled.program.open_states
    for i, name in enumerate(table.data.codes):
        v = compiled.position[name]
        mine = open_states[p.state_at[v] : p.state_at[v + 1]]
        if not mine.all():
            codes = table.codes[:, i]
            status[(codes >= 0) & (np.take(mine, np.maximum(codes, 0)) == 0)] = _IMPOSSIBLE


def _run(posterior: Posterior, table: _Table, rows: np.ndarray, asked: Wanted, answers: Answers) -> None:
    """Run rows that observe the same variables on their own tree where that pays, others on a common one.

    A dedicated tree has the observed variables sliced away, but must be made first; on the common tree
    evidence only rules out states. So rows that observe the same variables get a tree of their own if
    answering them on the common tree would take longer than making it. If the common tree does not fit, each
    group of rows gets its own.
    """
    if rows.size == 0:
        return
    counts = np.bincount(table.pattern[rows])
    p = posterior.program.arrays
    alone = np.ones(counts.size, bool)
    if np.count_nonzero(counts) > 1:
        try:
            seconds = cost(posterior, *_observed(table, rows)[:2], asked)
        except TooLarge:
            pass
        except Impossible:
            answers.status[rows] = _IMPOSSIBLE
            return
        else:
            alone = counts * seconds > _OWN_TREE + _OWN_TREE_FACTOR * p.heads.size
    own = alone[table.pattern[rows]]
    groups = [rows[~own]] if not own.all() else []
    mine = rows[own]
    in_order = mine[np.argsort(table.pattern[mine], kind="stable")]
    if in_order.size:
        groups += np.split(in_order, np.flatnonzero(np.diff(table.pattern[in_order])) + 1)

    def lay_out(group: np.ndarray, stop: np.ndarray) -> list[Task]:
        observed, sometimes, share = _observed(table, group)
        try:
            made = group_of(posterior, table.column, observed, sometimes, share, asked, group.size, stop)
        except Narrow:
            answers.status[group] = _NARROW
        except Impossible:
            answers.status[group] = _IMPOSSIBLE
        else:
            return made.pieces(table.codes, group, answers)
        return []

    run_all([Task(partial(lay_out, group), _OWN_TREE) for group in groups], posterior.clock)


def _observed(table: _Table, rows: np.ndarray) -> tuple[list[int], list[int], np.ndarray]:
    """The variables that all of these rows observe, those that some do, and what share of the rows."""
    share = (table.codes[rows] >= 0).mean(axis=0)
    variables = np.flatnonzero(table.column >= 0)
    share = share[table.column[variables]]
    some = (share > 0.0) & (share < 1.0)
    return variables[share == 1.0].tolist(), variables[some].tolist(), share[some]


def _one_row(
    posterior: Posterior, table: _Table, row: int, asked: Wanted, answers: Answers, logs: np.ndarray
) -> None:
    """Answer a row on its own where doubles in lanes are not safe."""
    column = table.column
    hard = {
        int(v): int(table.codes[row, column[v]])
        for v in np.flatnonzero(column >= 0)
        if table.codes[row, column[v]] >= 0
    }
    one = dataclasses.replace(posterior, known=Known(hard, {}))
    try:
        if asked.whole:
            flat, begins = one.marginals(), posterior.program.arrays.state_at
            parts = [flat[begins[v] : begins[v + 1]] for v in asked.targets]
            answers.shares[row] = np.concatenate(parts)
        elif asked.targets:
            answers.shares[row] = one.joint(asked.targets)
        else:
            logs[row] = log_of(one.total())
        answers.status[row] = _DONE
    except Impossible:
        answers.status[row] = _IMPOSSIBLE
