"""Rows of a frame as evidence, with continuous columns: in batches that observe the same, or one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pgm.errors import InvalidArgument, InvalidEvidence
from pgm.evidence import LARGEST, Observed, value_of
from pgm.factors import Dense, GaussianFactor
from pgm.frames import Columns, among, columns, real_columns
from pgm.frames.soft_cells import SoftCells
from pgm.inference.asking.best_states import best_states
from pgm.inference.asking.failures import impossible_row
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.exact.posterior import Posterior
from pgm.inference.engines.gaussian import scores
from pgm.inference.engines.gaussian.hybrid import HybridPosterior
from pgm.inference.engines.gaussian.linked_rows import CurveLink, Link
from pgm.inference.engines.gaussian.outward import densities
from pgm.inference.engines.gaussian.row_patterns import Answers, Linked, Rows
from pgm.inference.engines.wide_numbers import log_of
from pgm.inference.program.reduction import Known
from pgm.results import EXACT
from pgm.runtime.clock import Clock
from pgm.runtime.running import Impossible

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, eq=False, slots=True)
class MixedTable:
    """A frame as codes and values."""

    compiled: ModelSnapshot
    about: Sequence[str]  # the names asked about
    codes: dict[str, np.ndarray]  # -1 where missing
    values: dict[str, np.ndarray]  # NaN where missing
    bad: np.ndarray  # bool
    may_be_bad: bool
    clock: Clock
    soft: dict[str, SoftCells] = field(default_factory=dict)  # cells that weigh states
    links: dict[int, Link | CurveLink] = field(default_factory=dict)  # by the position of the child
    complete: frozenset[str] = frozenset()  # continuous columns without a missing cell

    def in_batches(self, targets: Sequence[int] = ()) -> Answers:
        """Answer the rows that can share the work of others with the same observed variables."""
        compiled, g = self.compiled, self.compiled.gaussians
        assert g is not None
        position, index_of = compiled.position, g.index_of
        posterior = Posterior(compiled.program, compiled.trees, Known({}, {}), self.clock, compiled.names)
        rows = Rows(
            posterior,
            g,
            {position[name]: column for name, column in self.codes.items()},
            {int(index_of[position[name]]): column for name, column in self.values.items()},
            self.bad.size,
            [v for v in targets if index_of[v] < 0],
            [int(index_of[v]) for v in targets if index_of[v] >= 0],
            self.linked(),
            {position[name]: cells for name, cells in self.soft.items()},
        )
        found = None if self.bad.any() else rows.at_once()
        return rows.answer(np.flatnonzero(~self.bad)) if found is None else found

    def linked(self) -> Linked | None:
        """What depends on continuous parents other than linearly, evaluated once for all rows."""
        compiled, position = self.compiled, self.compiled.position
        if compiled.linked is None:
            return None
        if not self.links:
            codes = {position[name]: column for name, column in self.codes.items()}
            values = {position[name]: column for name, column in self.values.items()}
            complete = frozenset(position[name] for name in self.complete)
            for score in compiled.linked.scores:
                self.links[score.child] = Link(score, codes, values, self.bad.size, complete)
            for curve in compiled.linked.curves:
                self.links[curve.child] = CurveLink(curve, codes, values, self.bad.size, complete)
        links = [one for one in self.links.values() if isinstance(one, Link)]
        curves = [one for one in self.links.values() if isinstance(one, CurveLink)]
        return Linked(links, curves, compiled.linked.parents, compiled.factors)

    def _written(self, row: int) -> scores.Written:
        def written(child: int) -> Dense | GaussianFactor | None:
            return self.links[child].table(row) if child in self.links else None

        return written

    def one_by_one(
        self, rows: np.ndarray, ask: Callable[[HybridPosterior], _Answer], *remedy: str
    ) -> Iterator[tuple[int, _Answer]]:
        """Answer each of these rows in order; impossible ones are left out if that is allowed."""
        for row in rows.tolist():
            self.clock.check()
            try:
                observed = self._observed(row)
                exactly = scores.exactly(self.compiled, observed, self.about, self._written(row))
                yield row, ask(_posterior(exactly, observed, self.clock))
            except (InvalidArgument, InvalidEvidence) as error:
                raise type(error)(f"Row {row}: {error}") from None
            except Impossible:
                if self.may_be_bad:
                    continue
                raise impossible_row(str(row), self.compiled, observed, self.clock, *remedy) from None

    def _observed(self, row: int) -> Observed:
        """A row as evidence."""
        hard: dict[str, int] = {}
        weights: dict[str, tuple[np.ndarray, ...]] = {}
        given: dict[str, object] = {}
        by_name, log_weight = self.compiled.by_name, 0.0
        for name, column in self.codes.items():
            if column[row] >= 0:
                hard[name] = int(column[row])
                given[name] = by_name[name].states[hard[name]]
        for name, cells in self.soft.items():
            if (at := int(cells.which[row])) >= 0:
                left, given[name] = np.flatnonzero(cells.weights[at]), cells.given(row)
                if left.size > 1:
                    weights[name] = (cells.weights[at],)
                else:
                    hard[name] = int(left[0])
                    log_weight += math.log(cells.weights[at, hard[name]])
        for name, column in self.values.items():
            if not math.isnan(column[row]):
                hard[name], given[name] = 0, value_of(by_name[name], float(column[row]))
        return Observed(hard, weights, {}, log_weight, given)

    def log_weight(self, row: int) -> float:
        """The log weight of cells that leave one state, which the row's total does not include."""
        return self._observed(row).log_weight if self.soft else 0.0


def log_likelihood(compiled: ModelSnapshot, frame: Any, bad_rows: str, clock: Clock) -> np.ndarray:
    """Log density of each row; NaN where a row is bad."""
    table = read(compiled, frame, (), bad_rows, clock)
    found = table.in_batches()
    values = np.where(found.done, found.logs, math.nan)
    left = np.flatnonzero(~found.done & ~table.bad)
    for row, log in table.one_by_one(left, lambda posterior: log_of(posterior.total())):
        values[row] = log + table.log_weight(row)
    values.flags.writeable = False
    return values


def predict_proba(
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str, clock: Clock
) -> dict[str, np.ndarray]:
    """P(target | row) of each discrete target for each row; NaN where a row is bad."""
    names = [name for name in compiled.names if targets is None or name in targets]
    if targets is None:
        names = [name for name in names if not compiled.by_name[name].continuous]
    for name in names:
        if compiled.by_name[name].continuous:
            raise InvalidArgument(
                f"{name!r} is continuous: it has no states to give probabilities for. `predict` gives its "
                "mean."
            )
    places = [compiled.position[name] for name in names]

    def ask(posterior: HybridPosterior) -> np.ndarray:
        return posterior.solve().discrete.marginals()

    table = read(compiled, frame, targets, bad_rows, clock)
    found = table.in_batches(places)
    answers = {name: found.shares[v] for name, v in zip(names, places, strict=True)}
    state_at, left = compiled.program.arrays.state_at, np.flatnonzero(~found.done)
    for shares in answers.values() if left.size else ():
        shares[left] = math.nan
    for row, flat in table.one_by_one(left[~table.bad[left]], ask):
        for name, v in zip(names, places, strict=True):
            answers[name][row] = flat[state_at[v] : state_at[v + 1]]
    for shares in answers.values():
        shares.flags.writeable = False
    return answers


def predict(
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str, clock: Clock
) -> dict[str, np.ndarray]:
    """The code of each target's most probable state in each row, or its mean if it is continuous.

    A bad row gets -1 or NaN.
    """
    names = compiled.names if targets is None else list(targets)
    places = [compiled.position[name] for name in names]
    state_at = compiled.program.arrays.state_at

    def ask(posterior: HybridPosterior) -> list[float]:
        # Unless a continuous target is hidden, only the discrete variables have to be summed.
        index_of = posterior.gaussians.index_of
        hidden = (v for v in places if index_of[v] >= 0 and not posterior.seen[index_of[v]])
        open_ = {v: compiled.variables[v] for v in hidden}
        flat = (posterior if open_ else posterior.solve().discrete).marginals()
        each = densities(posterior, open_, flat, EXACT) if open_ else None
        found = []
        for v in places:
            if index_of[v] < 0:
                found.append(float(best_states(flat[None, state_at[v] : state_at[v + 1]])[0]))
            elif each is not None and v in open_:
                found.append(float(each(compiled.names[v]).mean))
            else:
                found.append(float(posterior.value[index_of[v]]))
        return found

    table = read(compiled, frame, targets, bad_rows, clock)
    found = table.in_batches(places)
    left = np.flatnonzero(~found.done)
    answers: dict[str, np.ndarray] = {}
    for name, v in zip(names, places, strict=True):
        if compiled.variables[v].continuous:
            assert compiled.gaussians is not None
            answers[name] = found.means[int(compiled.gaussians.index_of[v])].copy()
            answers[name][left] = math.nan
        else:
            answers[name] = best_states(found.shares[v])
            answers[name][left] = -1
    for row, answer in table.one_by_one(left[~table.bad[left]], ask):
        for column, value in zip(answers.values(), answer, strict=True):
            column[row] = value
    return answers


def read(
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str, clock: Clock
) -> MixedTable:
    """The columns of a frame that are variables, without the targets."""
    wanted = among(frame, compiled.by_name, compiled.position, frozenset(targets or ()))
    states = {n: v for n, v in wanted.items() if not v.continuous}
    reals = {n: v for n, v in wanted.items() if v.continuous}
    found = real_columns(frame, reals, bad=bad_rows, largest=LARGEST, check=clock.check, copy=False)
    data = Columns(found.n_rows, {}, found.bad)
    if states:
        data = columns(frame, states, bad=bad_rows, check=clock.check, soft=True)
    bad = found.bad | data.bad
    about = compiled.names if targets is None else targets
    return MixedTable(
        compiled, about, data.codes, found.values, bad, bad_rows == "missing", clock, data.soft,
        complete=found.complete,
    )  # fmt: skip


def _posterior(compiled: ModelSnapshot, observed: Observed, clock: Clock) -> HybridPosterior:
    found = make_posterior(compiled, observed, clock)
    assert isinstance(found, HybridPosterior)
    return found
