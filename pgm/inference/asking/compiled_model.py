"""A model as questions see it: compiled when the first is asked, and again when it has changed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from pgm.distributions.gaussian_statistics import GaussianStatistics
from pgm.errors import (
    ConvergenceWarning,
    InvalidArgument,
    UnknownVariable,
    shown,
    warn,
)
from pgm.evidence import Observed
from pgm.factors import ModelPart
from pgm.inference.asking import session
from pgm.inference.engines import Engine, prepare
from pgm.inference.engines.capabilities import Sums
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.program import COMPILING, Program
from pgm.inference.program.other_values import with_tables
from pgm.results import (
    Report,
)
from pgm.runtime.clock import WRAPPING, Clock, start_clock
from pgm.runtime.forks import Lock
from pgm.variables import Variable, VariableList, unordered

if TYPE_CHECKING:
    pass


_MOST_AXES = 64
_SHORT = 0.02  # seconds
_FEW_TABLES, _MANY_TABLES = 8, 0.1  # if more tables, and a larger share of them, have changed: recompile

_Answer = TypeVar("_Answer")
_Model = TypeVar("_Model", bound="CompiledModel")
_Arguments = ParamSpec("_Arguments")


def edit(
    method: Callable[Concatenate[_Model, _Arguments], _Answer],
) -> Callable[Concatenate[_Model, _Arguments], _Answer]:
    """Make edits of a model exclude each other, and wait while another thread compiles the model."""

    @functools.wraps(method)
    def locked(self: _Model, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        with self._lock:
            return method(self, *args, **kwargs)

    return locked


class CompiledModel:
    """A model's own parts, and its compiled form, which lasts until the model changes."""

    _compiled: ModelSnapshot | None
    _outdated: ModelSnapshot | None  # its trees are reused if only values changed
    _replaced: dict[str, np.ndarray] | None  # the tables that have changed since; None: more than tables has
    _lock: Lock

    def __init__(self) -> None:
        """Nothing is compiled yet."""
        self._compiled = None
        self._outdated = None
        self._replaced = None
        self._lock = Lock()

    # --- what a model provides ---

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables by name, in order."""
        raise NotImplementedError

    def factors(self) -> Sequence[ModelPart]:
        """The parts whose product is the model, one by one; scopes are positions in `variables`."""
        raise NotImplementedError

    def _in_bulk(self, position: Mapping[str, int]) -> Iterable[ModelPart]:
        """The `factors`, among which many tables may come as one part; `position`: of each variable."""
        return self.factors()

    def copy(self) -> Self:
        """Return an independent copy of the model."""
        raise NotImplementedError

    def _check_complete(self) -> None:
        """Raise `IncompleteModel` if anything is missing that every question needs."""

    def _normalised(self) -> bool:
        """Whether the product of the factors is normalised, so that without evidence the total is 1."""
        return False

    def _tables(self, program: Program, found: dict[int, np.ndarray]) -> dict[Any, np.ndarray]:
        """Give the program's tables their names and shapes in the user's model; gates have no table."""
        raise NotImplementedError

    # --- its compiled form ---

    def _changed(self) -> None:
        """Drop the compiled model: variables or factors were added or removed."""
        with self._lock:
            self._compiled = self._outdated = self._replaced = None

    def _values_changed(self, name: str, table: np.ndarray | None) -> None:
        """Drop the compiled values: the distribution of this variable has new ones.

        Args:
            name: the variable.
            table: the new table, if the distribution is and was a single table; else None.
        """
        with self._lock:
            if self._compiled is not None:
                self._outdated, self._compiled, self._replaced = self._compiled, None, {}
            if table is None:
                self._replaced = None
            elif self._replaced is not None:
                self._replaced[name] = table

    def _compile(self, check: Callable[[], None] = lambda: None) -> ModelSnapshot:
        found = self._compiled
        if found is not None:
            return found
        with self._lock.inner:
            if self._compiled is None:
                self._compiled = self._with_tables() or self._recompile(check)
                self._outdated = self._replaced = None
            return self._compiled

    def _with_tables(self) -> ModelSnapshot | None:
        """The outdated snapshot with the replaced tables; None if more has changed."""
        old, tables = self._outdated, self._replaced
        if old is None or tables is None or old.gaussians is not None:
            return None
        if len(tables) > _FEW_TABLES and len(tables) > _MANY_TABLES * len(old.names):
            return None
        program = with_tables(old.program, {old.position[name]: table for name, table in tables.items()})
        return None if program is None else old.with_program(program)

    def _recompile(self, check: Callable[[], None]) -> ModelSnapshot:
        self._check_complete()
        variables = VariableList.of_model(self.variables)
        position = variables.places()
        found = ModelSnapshot.of(variables, position, self._in_bulk(position), check)
        return found if self._outdated is None else found.with_trees_of(self._outdated)

    def _compile_in(self, clock: Clock) -> ModelSnapshot:
        """Compile under this clock; every engine needs this, so if time runs out none other is suggested."""
        found = self._compiled
        if found is None:
            before, clock.remedy = clock.remedy, COMPILING
            found = self._compile(_unless_short(clock))
            clock.remedy = " The time went into compiling the model, which is kept: ask again."
            clock.check("compiling the model")
            clock.remedy = before
        return found

    # --- one question ---

    def _expected(
        self, program: Program, found: dict[int, np.ndarray], densities: dict[int, GaussianStatistics]
    ) -> dict[Any, Any]:
        """Turn expected counts of the program's tables into statistics of the user's distributions."""
        return self._tables(program, found)

    def _total(
        self, compiled: ModelSnapshot, observed: Observed, engine: Engine, *, explain: bool = True
    ) -> tuple[tuple[float, int], Report]:
        return self._answer(compiled, observed, engine, total_of, start_clock(), explain=explain)

    def _asked(
        self, compiled: ModelSnapshot, targets: str | Iterable[str], *, joint: bool = True
    ) -> tuple[str, ...]:
        variables = compiled.position
        if isinstance(targets, str) and targets in variables:
            return (targets,)
        listing = (
            [targets]
            if isinstance(targets, str)
            else list(targets)
            if isinstance(targets, Iterable)
            else None
        )
        if listing is None or unordered(targets):
            why = "; a set has no order, and answers keep that of the targets" if listing else ""
            raise InvalidArgument(f"The targets are a name or a list of names, not {shown(targets)}{why}.")
        if not listing:
            raise InvalidArgument("The list of targets is empty; name at least one variable.")
        for name in listing:
            if not isinstance(name, str) or name not in variables:
                raise UnknownVariable(name, variables)
        if joint and len(listing) > _MOST_AXES:
            raise InvalidArgument(
                f"A joint distribution is an array with an axis for each target; numpy allows {_MOST_AXES}, "
                f"and there are {len(listing):,} targets. Ask for fewer at once, or for marginals."
            )
        if len(set(listing)) < len(listing):
            twice = next(name for i, name in enumerate(listing) if name in listing[:i])
            raise InvalidArgument(f"The target {twice!r} is named twice.")
        return tuple(listing)

    def _answer(
        self,
        compiled: ModelSnapshot,
        observed: Observed,
        engine: Engine,
        answer: Callable[[Any], _Answer],
        clock: Clock,
        *,
        explain: bool = True,
        fit: bool = True,
        about: Sequence[str] | None = None,
    ) -> _Answer:
        """Put the question, about these names (None: all), to the engine; report failures in user's terms."""

        def work() -> _Answer:
            prepared = prepare(engine, compiled, observed, about, clock, fit=fit)
            found = answer(prepared)
            if prepared.doubtful:
                _warn(prepared.report)
            clock.lap(WRAPPING)
            return found

        return session.answered(compiled, observed, clock, work, explain=explain)


def _unless_short(clock: Clock) -> Callable[[], None]:
    """A check of the clock that does nothing in the first moments: a model compiled by then is kept."""
    begin = time.perf_counter()

    def check() -> None:
        if time.perf_counter() - begin > _SHORT:
            clock.check("compiling the model")

    return check


def _warn(report: Report) -> None:
    """Warn the user that the engine has not converged."""
    text = f'engine="{report.engine}" has not converged: {report.advice}. The answer is what it had reached.'
    warn(text, ConvergenceWarning)


def total_of(prepared: Sums) -> tuple[tuple[float, int], Report]:
    """The total, and how it was found."""
    return prepared.total(), prepared.report
