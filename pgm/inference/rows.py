"""Questions asked many times over: a compiled query, and the rows of a frame."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import Clock, start_clock
from pgm.errors import ImpossibleEvidence, InvalidArgument, InvalidEvidence, TooLarge, listed, shown
from pgm.evidence import observe
from pgm.frames import Columns, columns
from pgm.inference.compiled_model import CompiledModel, make_posterior
from pgm.inference.engines import exact
from pgm.inference.failures import contradiction, no_fit
from pgm.inference.posterior import NoFit, Posterior, log_of, tree_for_rows
from pgm.inference.reduction import Known, lows, open_targets, spread
from pgm.inference.running import Impossible, run
from pgm.results import Distribution

if TYPE_CHECKING:
    from pgm.inference.questions import Questions

_ROWS_PER_PATTERN = 8  # fewer than this many rows of a kind share one tree with the others
_CHUNK = 65_536
_DONE, _NARROW, _IMPOSSIBLE, _BAD = 0, 2, 3, 4


class CompiledQuery:
    """P(targets | evidence on some names), with the tables of when it was compiled; call it with evidence."""

    def __init__(
        self, model: Questions, compiled: CompiledModel, targets: tuple[str, ...], given: tuple[str, ...]
    ) -> None:
        """Make the tree that every call runs on, if the question is of a kind that one tree serves."""
        self.targets = targets
        self.given = given
        self._model = model.copy()  # for pickling: the question goes with the tables of now
        self._compiled = compiled
        self._tree = None
        if not set(targets) & set(given):
            clock = start_clock()
            observed = [compiled.position[name] for name in given]
            wanted = [compiled.position[name] for name in targets]
            try:
                self._tree = tree_for_rows(_blank(compiled, clock), observed, wanted, [])
            except Impossible:
                raise contradiction(compiled, observe(compiled.by_name, None), clock) from None

    def __call__(self, given: Mapping[str, Any] | None = None) -> Distribution:
        """Return P(targets | given)."""
        compiled = self._compiled
        observed = observe(compiled.by_name, given)
        for name in observed.given:
            if name not in self.given:
                raise InvalidEvidence(
                    f"{name!r} is not among the names that this was compiled for ({listed(self.given)}); "
                    "compile it with all of them: compile(target, given=[...])."
                )
        targets = [compiled.position[name] for name in self.targets]
        clock = start_clock()
        try:
            if self._tree is None or len(observed.hard) < len(self.given):
                posterior = make_posterior(compiled, observed, clock)
                values = posterior.joint(targets)
            else:
                values = self._run(observed.hard, targets, clock)
        except NoFit as failed:
            raise no_fit(compiled, observed, clock, failed) from None
        except Impossible:
            raise contradiction(compiled, observed, clock) from None
        return Distribution(tuple(compiled.variables[t] for t in targets), values)

    def _run(self, hard: dict[str, int], targets: list[int], clock: Clock) -> np.ndarray:
        compiled = self._compiled
        p = compiled.program.arrays
        assert self._tree is not None
        case, tree = self._tree
        codes = case.codes.copy()
        for name, code in hard.items():
            v = compiled.position[name]
            if not compiled.program.open_states[p.state_at[v] + code]:
                raise Impossible
            codes[v] = code
        case = dataclasses.replace(case, codes=codes)
        n_open = open_targets(case, targets).size
        if n_open == 0:
            exact.total(case, tree, clock)
            compact = np.ones(1)
        else:
            compact = exact.relative_values(*exact.joint(case, tree, clock, n_open)[:2])
        full = spread(case, targets, compact)
        return np.asarray(full / full.sum())

    def __repr__(self) -> str:
        """The question as written."""
        return f"P({', '.join(self.targets)} | {listed(self.given)}), compiled"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the model and the question; the copy compiles anew."""
        return _recompiled, (self._model, self.targets, self.given)


def _recompiled(model: Questions, targets: tuple[str, ...], given: tuple[str, ...]) -> CompiledQuery:
    return model.compile(targets, given)


def _blank(compiled: CompiledModel, clock: Clock) -> Posterior:
    return Posterior(compiled.program, compiled.trees, Known({}, {}), clock, compiled.names)


@dataclasses.dataclass(eq=False, slots=True)
class _Answers:
    """What the rows of a frame gave."""

    status: np.ndarray  # int64
    logs: np.ndarray  # log P(row), not divided by the sum over all rows that could be
    shares: np.ndarray  # P(target | row), (n, states), or (n, 0)


def predict(compiled: CompiledModel, frame: Any, target: str, bad_rows: str) -> np.ndarray:
    """The code of the most probable state of the target in each row, -1 where a row is bad."""
    shares = predict_proba(compiled, frame, target, bad_rows)
    codes = np.full(len(shares), -1, np.int64)
    good = ~np.isnan(shares[:, 0])
    # Rounding must not choose between equals: the state declared first.
    best = shares[good].max(axis=1, keepdims=True)
    codes[good] = np.argmax(shares[good] >= best * (1 - 1e-13), axis=1)
    return codes


def predict_proba(compiled: CompiledModel, frame: Any, target: str, bad_rows: str) -> np.ndarray:
    """P(target | row) for each row; NaN where a row is bad."""
    answers, data = _answer(compiled, frame, target, bad_rows)
    return _checked(compiled, answers, data, bad_rows, answers.shares)


def log_likelihood(compiled: CompiledModel, frame: Any, bad_rows: str) -> np.ndarray:
    """The log of the sum of the product of all factors, for each row; NaN where a row is bad."""
    answers, data = _answer(compiled, frame, None, bad_rows)
    return _checked(compiled, answers, data, bad_rows, answers.logs)


def _checked(
    compiled: CompiledModel, answers: _Answers, data: Columns, bad_rows: str, values: np.ndarray
) -> np.ndarray:
    failed = np.flatnonzero(answers.status != _DONE)
    if failed.size:
        if bad_rows == "raise":
            row = int(failed[0])
            given = {
                name: compiled.by_name[name].states[int(codes[row])]
                for name, codes in data.codes.items()
                if codes[row] >= 0
            }
            cause = contradiction(compiled, observe(compiled.by_name, given), start_clock())
            more = f" ({failed.size:,} rows in all)" if failed.size > 1 else ""
            raise ImpossibleEvidence(
                f'Row {row}{more}: {cause} Leave such rows out, or pass bad_rows="missing".',
                cause.contradiction,
            )
        values[failed] = math.nan
    values.flags.writeable = False
    return values


def _answer(
    compiled: CompiledModel, frame: Any, target: str | None, bad_rows: str
) -> tuple[_Answers, Columns]:
    if bad_rows not in ("raise", "missing"):
        raise InvalidArgument(f'bad_rows is "raise" or "missing", not {shown(bad_rows)}.')
    wanted = {name: v for name, v in compiled.by_name.items() if name != target}
    data = columns(frame, wanted, bad=bad_rows)
    n, clock = data.n_rows, start_clock()
    card = 0 if target is None else compiled.by_name[target].card
    answers = _Answers(np.zeros(n, np.int64), np.zeros(n), np.zeros((n, card)))
    if data.bad is not None:
        answers.status[data.bad] = _BAD
    names = list(data.codes)
    positions = [compiled.position[name] for name in names]
    codes = np.empty((n, len(names)), np.int32)
    for i, name in enumerate(names):
        codes[:, i] = data.codes[name]
    p = compiled.program.arrays
    for i, v in enumerate(positions):
        seen = codes[:, i] >= 0
        dead = compiled.program.open_states[p.state_at[v] + np.maximum(codes[:, i], 0)] == 0
        answers.status[seen & dead & (answers.status == _DONE)] = _IMPOSSIBLE
    targets = [] if target is None else [compiled.position[target]]
    if not compiled.program.possible:
        answers.status[answers.status == _DONE] = _IMPOSSIBLE
        return answers, data
    rows = np.flatnonzero(answers.status == _DONE)
    if compiled.program.wide_exponents is not None:
        answers.status[rows] = _NARROW
    else:
        _by_pattern(compiled, clock, positions, codes, rows, targets, answers)
    for row in np.flatnonzero(answers.status == _NARROW):
        clock.check()
        _one_row(compiled, clock, positions, codes[row], targets, answers, int(row))
    return answers, data


def _by_pattern(
    compiled: CompiledModel,
    clock: Clock,
    positions: list[int],
    codes: np.ndarray,
    rows: np.ndarray,
    targets: list[int],
    answers: _Answers,
) -> None:
    """Give rows that observe the same variables one tree; kinds of rows that are rare share one."""
    if rows.size == 0:
        return
    patterns, which, counts = np.unique(
        np.packbits(codes[rows] >= 0, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    which = which.ravel()
    rare = np.flatnonzero(counts < _ROWS_PER_PATTERN)
    if rare.size > 1:
        together = rows[np.isin(which, rare)]
        try:
            _group(compiled, clock, positions, codes, together, targets, answers)
        except TooLarge:  # what is observed in each row makes each of them smaller
            rare = rare[:0]
    else:
        rare = rare[:0]
    done = np.zeros(len(patterns), bool)
    done[rare] = True
    in_order = rows[np.argsort(which, kind="stable")]
    ends = np.cumsum(counts)
    for i in np.flatnonzero(~done):
        clock.check()
        _group(compiled, clock, positions, codes, in_order[ends[i] - counts[i] : ends[i]], targets, answers)


def _group(
    compiled: CompiledModel,
    clock: Clock,
    positions: list[int],
    codes: np.ndarray,
    rows: np.ndarray,
    targets: list[int],
    answers: _Answers,
) -> None:
    seen = codes[rows] >= 0
    always, ever = seen.all(axis=0), seen.any(axis=0)
    observed = [i for i in range(len(positions)) if always[i]]
    sometimes = [i for i in range(len(positions)) if ever[i] and not always[i]]
    posterior = _blank(compiled, clock)
    try:
        case, tree = tree_for_rows(
            posterior, [positions[i] for i in observed], targets, [positions[i] for i in sometimes]
        )
    except Impossible:
        answers.status[rows] = _IMPOSSIBLE
        return
    p, r = compiled.program.arrays, case.reduced
    n_factors = p.heads.size
    own = r.factors[r.factors < n_factors]
    base = int(p.exponent[own].sum()) + int(p.exponent[r.scalars].sum())
    virtual = {int(r.variables[r.scopes[r.scope_at[g]]]): g for g in range(own.size, r.factors.size)}
    weighted = [i for i in sometimes if positions[i] in virtual]
    items = np.array([virtual[positions[i]] for i in weighted], dtype=np.int64)
    low = np.zeros(tree.arrays.item_at.size - 1, np.int64)
    low[: r.factors.size] = lows(case)
    inside = open_targets(case, targets)
    width = int(r.cards[inside].prod()) if inside.size else 0
    work = np.empty(tree.longest_row)
    for begin in range(0, rows.size, _CHUNK):
        part = rows[begin : begin + _CHUNK]
        shares = np.empty((part.size, width))
        tops, powers = np.ones(part.size), np.zeros(part.size, np.int64)
        status = np.zeros(part.size, np.int64)
        run(
            "run_rows",
            p,
            r,
            tree.arrays,
            compiled.program.values,
            case.codes.copy(),
            np.array([positions[i] for i in observed], dtype=np.int64),
            np.ascontiguousarray(codes[part][:, observed]),
            items,
            np.ascontiguousarray(codes[part][:, weighted]),
            work,
            low,
            np.zeros_like(low),
            shares,
            tops,
            powers,
            status,
            steps=(tree.steps + 2.0 * r.table_at[-1] + 8.0 * p.scopes.size) * part.size,
            clock=clock,
        )
        answers.status[part] = status
        with np.errstate(divide="ignore"):
            answers.logs[part] = np.log(tops) + (powers + base) * math.log(2.0)
        for t in targets:
            states = np.flatnonzero(case.open_states[p.state_at[t] : p.state_at[t + 1]])
            answers.shares[part[:, None], states] = shares if inside.size else 1.0


def _one_row(
    compiled: CompiledModel,
    clock: Clock,
    positions: list[int],
    codes: np.ndarray,
    targets: Sequence[int],
    answers: _Answers,
    row: int,
) -> None:
    hard = {v: int(code) for v, code in zip(positions, codes, strict=True) if code >= 0}
    posterior = Posterior(compiled.program, compiled.trees, Known(hard, {}), clock, compiled.names)
    try:
        if targets:
            answers.shares[row] = posterior.joint(targets)
        else:
            answers.logs[row] = log_of(posterior.total())
        answers.status[row] = _DONE
    except Impossible:
        answers.status[row] = _IMPOSSIBLE
