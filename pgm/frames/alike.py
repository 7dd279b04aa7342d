"""Answers in the form of the frame that was asked about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidFrame
from pgm.variables import Variable, states_array

from .reading import _as_table

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw


class Alike:
    """Converts the results for the rows of a frame to the same kind of frame.

    A pandas frame gives pandas, with its index; polars and pyarrow give their own kind. Anything else gives
    arrays: dicts, lists of rows, and lazy frames or databases.
    """

    def __init__(self, frame: Any, variables: Mapping[str, Variable]) -> None:
        """Inspect the frame; its rows are read elsewhere."""
        self._variables = variables
        frame = _as_table(frame)
        self._library: Any = None
        if nw.dependencies.is_pandas_dataframe(frame):
            self._library = nw.dependencies.get_pandas()
        elif (
            nw.dependencies.is_pandas_like_dataframe(frame)
            or nw.dependencies.is_polars_dataframe(frame)
            or nw.dependencies.is_pyarrow_table(frame)
        ):
            self._library = nw.get_native_namespace(frame)
        self._index = getattr(frame, "index", None) if hasattr(self._library, "Index") else None

    def column(self, name: str, values: np.ndarray) -> Any:
        """A column, given as codes of states (-1: none) or as floats, as a series or an array."""
        if self._library is None:
            return self._cells(name, values)
        if self._index is not None:
            return self._library.Series(self._cells(name, values), index=self._index, name=name, copy=True)
        return self._series(name, values).to_native()

    def columns(self, values: dict[str, np.ndarray]) -> Any:
        """Several columns, given in the same way, as a frame or as arrays."""
        if self._library is None or self._index is not None:
            cells = {name: self._cells(name, column) for name, column in values.items()}
            if self._library is None:
                return cells
            return self._library.DataFrame(cells, index=self._index, copy=True)
        made = {name: self._series(name, column).to_native() for name, column in values.items()}
        return nw.from_dict(made, backend=self._library).to_native()

    def replaced(self, frame: Any, values: dict[str, np.ndarray]) -> Any:
        """The frame with these columns replaced; a list of rows becomes a dict of columns."""
        if self._library is None:
            return {**(frame if isinstance(frame, Mapping) else {}), **self.columns(values)}
        if self._index is not None:
            made = frame.copy()
            for name, column in values.items():
                made[name] = self._cells(name, column)
            return made
        series = [self._series(name, column) for name, column in values.items()]
        return nw.from_native(_as_table(frame), eager_only=True).with_columns(*series).to_native()

    def shares(self, name: str, values: np.ndarray) -> Any:
        """An array of shape (rows, states) as a frame with a column for each state, or as it is.

        Names of columns are text in polars and pyarrow: there False is "False".
        """
        if self._library is None:
            return values
        variable = self._variables[name]
        if self._index is not None:
            states = self._library.Index(variable.states, name=name, tupleize_cols=False)
            return self._library.DataFrame(values.copy(), index=self._index, columns=states, copy=False)
        parts = {str(state): values[:, code].copy() for code, state in enumerate(variable.states)}
        if len(parts) < variable.card:
            raise InvalidFrame(
                f"{name!r} has states that are written alike and cannot all name a column: pass a pandas "
                "frame, or a dict of columns."
            )
        return nw.from_dict(parts, backend=self._library).to_native()

    def _cells(self, name: str, values: np.ndarray) -> Any:
        """Floats as they are, codes as an array of states."""
        if values.dtype.kind == "f":
            return values
        variable = self._variables[name]
        if self._index is not None and _all_text(variable, values):
            return self._library.Series(variable.domain.array).array.take(values)
        return states_array(variable, values)

    def _series(self, name: str, values: np.ndarray) -> nw.Series[Any]:
        """A column for polars or pyarrow; states of several types become text."""
        if values.dtype.kind == "f":
            return nw.new_series(name, values.copy(), backend=self._library)  # the caller owns the copy
        variable = self._variables[name]
        if _all_text(variable, values):
            return nw.new_series(name, list(variable.states), backend=self._library)[values]
        cells = states_array(variable, values)
        if cells.dtype.kind in "biuf":
            return nw.new_series(name, cells, backend=self._library)
        kinds = set(map(type, variable.states))
        plain: list[Any] = cells.tolist()
        if len(kinds) > 1 or not kinds <= {bool, int, float, str, date, datetime}:
            plain = [None if state is None else str(state) for state in plain]
        return nw.new_series(name, plain, backend=self._library)


def _all_text(variable: Variable, codes: np.ndarray) -> bool:
    """Whether all cells are text, so that a library need convert each state only once, not in each row."""
    return codes.size > 0 and codes.min() >= 0 and all(type(state) is str for state in variable.states)
