"""Rows of a frame as evidence, where some columns are numbers: one question for each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidArgument, InvalidEvidence, shown
from pgm.evidence import LARGEST, Observed, number_of
from pgm.frames import among, columns, numbers
from pgm.inference.asking.failures import contradiction
from pgm.inference.engines.gaussian import scores
from pgm.inference.engines.gaussian.hybrid import HybridPosterior
from pgm.inference.engines.gaussian.outward import densities
from pgm.inference.engines.prepared import make_posterior
from pgm.inference.engines.wide import log_of
from pgm.results import EXACT
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.running import Impossible
from pgm.variables import states_array

if TYPE_CHECKING:
    from pgm.inference.engines.model_snapshot import ModelSnapshot

_Answer = TypeVar("_Answer")


def log_likelihood(compiled: ModelSnapshot, frame: Any, bad_rows: str) -> np.ndarray:
    """Log density of each row; NaN where a row is bad."""
    found = list(_answers(compiled, frame, (), bad_rows, lambda posterior: log_of(posterior.total())))
    values = np.array([math.nan if log is None else log for log in found], dtype=np.float64)
    values.flags.writeable = False
    return values


def predict_proba(
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str
) -> dict[str, np.ndarray]:
    """P(target | row) of each target with states for each row; NaN where a row is bad."""
    names = [name for name in compiled.names if targets is None or name in targets]
    if targets is None:
        names = [name for name in names if not compiled.by_name[name].continuous]
    for name in names:
        if compiled.by_name[name].continuous:
            raise InvalidArgument(
                f"{name!r} is continuous: it has no states to give probabilities to. `predict` gives its "
                "mean."
            )
    places = [compiled.position[name] for name in names]

    def ask(posterior: HybridPosterior) -> np.ndarray:
        return posterior.solve().discrete.marginals()

    found = list(_answers(compiled, frame, targets, bad_rows, ask))
    answers = {}
    state_at = compiled.program.arrays.state_at
    for name, v in zip(names, places, strict=True):
        part = slice(int(state_at[v]), int(state_at[v + 1]))
        blank = np.full(part.stop - part.start, math.nan)
        values = np.array([blank if flat is None else flat[part] for flat in found])
        answers[name] = values.reshape(len(found), part.stop - part.start)
        answers[name].flags.writeable = False
    return answers


def predict(
    compiled: ModelSnapshot, frame: Any, targets: Sequence[str] | None, bad_rows: str
) -> dict[str, np.ndarray]:
    """The most probable state of each target in each row, and the mean of each that is continuous."""
    names = compiled.names if targets is None else list(targets)
    places = [compiled.position[name] for name in names]
    state_at = compiled.program.arrays.state_at

    def ask(posterior: HybridPosterior) -> list[float]:
        # Without continuous targets only those matter that tell about the others.
        number = posterior.gaussians.number
        open_ = {v: compiled.variables[v] for v in places if number[v] >= 0 and not posterior.seen[number[v]]}
        flat = (posterior if open_ else posterior.solve().discrete).marginals()
        each = densities(posterior, open_, flat, EXACT) if open_ else None
        found = []
        for v in places:
            if number[v] < 0:
                shares = flat[state_at[v] : state_at[v + 1]]
                found.append(float(np.argmax(shares >= shares.max() * (1 - 1e-13))))
            elif each is not None and v in open_:
                found.append(float(each(compiled.names[v]).mean))
            else:
                found.append(float(posterior.value[number[v]]))
        return found

    found = list(_answers(compiled, frame, targets, bad_rows, ask))
    answers = {}
    for i, (name, v) in enumerate(zip(names, places, strict=True)):
        variable = compiled.variables[v]
        if variable.continuous:
            answers[name] = np.array([math.nan if row is None else row[i] for row in found])
        else:
            codes = np.array([-1 if row is None else int(row[i]) for row in found], dtype=np.int64)
            answers[name] = states_array(variable, codes)
    return answers


def _answers(
    compiled: ModelSnapshot,
    frame: Any,
    targets: Sequence[str] | None,
    bad_rows: str,
    ask: Callable[[HybridPosterior], _Answer],
) -> Iterator[_Answer | None]:
    """Ask each row; None where it is bad and may be left out."""
    if bad_rows not in ("raise", "missing"):
        raise InvalidArgument(f'bad_rows is "raise" or "missing", not {shown(bad_rows)}.')
    clock = start_clock()
    wanted = among(frame, compiled.by_name, compiled.position, frozenset(targets or ()))
    states = {n: v for n, v in wanted.items() if not v.continuous}
    reals = {n: v for n, v in wanted.items() if v.continuous}
    data = columns(frame, states, bad=bad_rows, check=clock.check)
    found = numbers(frame, reals, bad=bad_rows, largest=LARGEST, check=clock.check)
    values = found.values
    for row in range(found.n_rows):
        clock.check()
        if data.bad[row] or found.bad[row]:
            yield None
            continue
        try:
            observed = _observed(compiled, data.codes, values, row)
            about = compiled.names if targets is None else targets
            yield ask(_posterior(scores.exactly(compiled, observed, about), observed, clock))
        except (InvalidArgument, InvalidEvidence) as error:
            raise type(error)(f"Row {row}: {error}") from None
        except Impossible:
            if bad_rows == "missing":
                yield None
                continue
            cause = contradiction(compiled, observed, clock)
            raise ImpossibleEvidence(
                f'Row {row}: {cause} Leave such rows out, or pass bad_rows="missing".',
                cause.contradiction,
                smallest=cause.smallest,
            ) from None


def _observed(
    compiled: ModelSnapshot, codes: dict[str, np.ndarray], values: dict[str, np.ndarray], row: int
) -> Observed:
    hard: dict[str, int] = {}
    given: dict[str, object] = {}
    for name, column in codes.items():
        if column[row] >= 0:
            hard[name] = int(column[row])
            given[name] = compiled.by_name[name].states[hard[name]]
    for name, numbers_ in values.items():
        if not math.isnan(numbers_[row]):
            hard[name], given[name] = 0, number_of(compiled.by_name[name], float(numbers_[row]))
    return Observed(hard, {}, {}, 0.0, given)


def _posterior(compiled: ModelSnapshot, observed: Observed, clock: Clock) -> HybridPosterior:
    found = make_posterior(compiled, observed, clock)
    assert isinstance(found, HybridPosterior)
    return found
