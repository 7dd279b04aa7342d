"""Questions about every row of a data frame: predictions and likelihoods."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pgm.errors import (
    InvalidArgument,
    shown,
)
from pgm.evidence import observe
from pgm.frames import Alike
from pgm.inference.asking import session
from pgm.inference.asking.compiled_model import CompiledModel, total_of
from pgm.inference.engines import Exact
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.wide_numbers import log_of
from pgm.runtime.clock import Clock, start_clock

if TYPE_CHECKING:
    pass


_Arrays = Mapping[str, Any] | Sequence[Mapping[str, Any]]  # frames whose answers are arrays


class RowQuestions(CompiledModel):
    """The questions that take a frame; each of its rows is evidence on one case."""

    @overload
    def predict(self, frame: _Arrays, target: str, *, bad_rows: str = "raise") -> np.ndarray: ...
    @overload
    def predict(
        self, frame: Any, target: str | Iterable[str] | None = None, *, bad_rows: str = "raise"
    ) -> Any: ...
    def predict(
        self, frame: Any, target: str | Iterable[str] | None = None, *, bad_rows: str = "raise"
    ) -> Any:
        """Return the most probable state of the target in each row of a frame, given its other columns.

        A pandas frame gives a Series with its index, or for several targets a DataFrame; polars and pyarrow
        give their own kind, in which states of mixed types are text. A dict of columns gives an array or
        {name: array}, as do lists of rows and frames that are read in batches (lazy ones, databases).

        Args:
            frame: a data frame, or a dict of columns; columns that are not variables are ignored.
            target: one variable, or several; their columns are not read. None: all variables, and every
                column is read, so that this fills the gaps of a frame.
            bad_rows: what to do about a row that is impossible or has an unknown state: "raise" an error, or
                "missing", which answers None.

        Raises:
            UnknownVariable: the model has no such target.
            UnknownState: a value is not a state; the message names its row.
            ImpossibleEvidence: a row is impossible; the message gives a minimal contradiction.
            InvalidFrame: what was passed is not a frame, or its columns differ in length.
            TooLarge: the rows do not fit the memory limit.

        >>> from pgm import BayesianNetwork
        >>> net = BayesianNetwork()
        >>> net.add("rain", 0.2)
        >>> net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> net.predict({"wet": [True, False, None]}, "rain")
        array([ True, False, False])
        """
        clock = start_clock()
        compiled = self._compile_in(clock)
        names = None if target is None else self._asked(compiled, target, joint=False)
        found = _by_row(self, "predict", compiled, clock, bad_rows, frame, names)
        alike = Alike(frame, compiled.by_name)
        if names is not None and len(names) == 1:
            return alike.column(names[0], found[names[0]])
        return alike.columns(found)

    @overload
    def predict_proba(self, frame: _Arrays, target: str, *, bad_rows: str = "raise") -> np.ndarray: ...
    @overload
    def predict_proba(
        self, frame: Any, target: str | Iterable[str] | None = None, *, bad_rows: str = "raise"
    ) -> Any: ...
    def predict_proba(
        self, frame: Any, target: str | Iterable[str] | None = None, *, bad_rows: str = "raise"
    ) -> Any:
        """Return P(target | row) for each row of a frame: a column for each state, in order.

        A pandas frame gives a DataFrame with its index and the states as columns; polars and pyarrow give
        their own kind, its columns named by the states as text; a dict of columns gives an array. Several
        targets give {name: such a table}; None gives one for each variable, with a 1 at the state of a
        variable that the row observes.

        Args:
            frame: as for `predict`.
            target: one variable, several, or None for all.
            bad_rows: what to do about a row that is impossible or has an unknown state: "raise" an error, or
                "missing", which answers NaN.

        Raises:
            InvalidArgument: a target is continuous and has no states.
            UnknownVariable, UnknownState, ImpossibleEvidence, InvalidFrame, TooLarge: as for `predict`.

        >>> from pgm import BayesianNetwork
        >>> net = BayesianNetwork()
        >>> net.add("rain", 0.2)
        >>> net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> net.predict_proba({"wet": [True, False]}, "rain").round(6)
        array([[0.307692, 0.692308],
               [0.972973, 0.027027]])
        """
        clock = start_clock()
        compiled = self._compile_in(clock)
        names = None if target is None else self._asked(compiled, target, joint=False)
        alike = Alike(frame, compiled.by_name)
        each = _by_row(self, "predict_proba", compiled, clock, bad_rows, frame, names)
        found = {name: alike.shares(name, values) for name, values in each.items()}
        return found[names[0]] if names is not None and len(names) == 1 else found

    def log_likelihood(self, frame: Any, *, bad_rows: str = "raise") -> np.ndarray:
        """Return log P(row) for each row of a frame; missing cells and absent columns are summed out.

        Args:
            frame: a data frame of pandas, polars, pyarrow, duckdb or dask, a dict of columns, or a list of
                dicts.
            bad_rows: what to do about a row that is impossible or has an unknown state: "raise" an error, or
                "missing", which answers NaN.

        Raises:
            UnknownState, ImpossibleEvidence: a bad row, with its index.
            InvalidFrame: what was passed is not a frame.
            TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.log_likelihood({"smoke": ["yes", "no"], "lung": ["yes", None]}).round(6)
        array([-2.995732, -0.693147])
        """
        clock = start_clock()
        compiled = self._compile_in(clock)
        logs: np.ndarray = _by_row(self, "log_likelihood", compiled, clock, bad_rows, frame)
        if self._normalised():
            return logs
        nothing = observe(compiled.by_name, None)
        return logs - log_of(self._answer(compiled, nothing, Exact(), total_of, clock)[0])

    def score(self, frame: Any, *, bad_rows: str = "raise") -> float:
        """Return log P(frame): the sum of `log_likelihood` over the rows.

        Args:
            frame: as for `log_likelihood`.
            bad_rows: as for `log_likelihood`; with "missing", bad rows are left out of the sum.

        Raises:
            UnknownState, ImpossibleEvidence, InvalidFrame, TooLarge, OutOfTime: as for `log_likelihood`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> round(net.score({"smoke": ["yes", "no"], "lung": ["yes", None]}), 6)
        -3.688879
        """
        logs = self.log_likelihood(frame, bad_rows=bad_rows)
        return math.fsum(logs[~np.isnan(logs)].tolist())


def _by_row(
    model: CompiledModel, ask: str, compiled: ModelSnapshot, clock: Clock, bad_rows: str, *args: Any
) -> Any:
    """Ask about each row of a frame, by the module for this kind of model."""
    if bad_rows not in ("raise", "missing"):
        raise InvalidArgument(f'bad_rows is "raise" or "missing", not {shown(bad_rows)}.')
    if compiled.gaussians is None:
        from pgm.inference.asking import frame_queries as rows
    else:
        from pgm.inference.asking import continuous_frames as rows  # type: ignore[no-redef]
    work = functools.partial(getattr(rows, ask), compiled, *args, bad_rows, clock)
    if compiled.gaussians is None:  # there cells that weigh states need the parts of the model
        work = functools.partial(work, functools.partial(model._in_bulk, compiled.position))
    return session.answered(compiled, None, clock, work)
