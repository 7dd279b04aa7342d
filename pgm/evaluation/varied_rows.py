"""Rows in which one or two columns vary and the others are fixed, for plots of classifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, UnknownVariable, listed, shown
from pgm.frames import narwhals_later as nw
from pgm.frames.matrices import Features
from pgm.runtime.room import check_room
from pgm.variables import is_missing

_MARGIN = 0.08  # of the range of a column, on each side
_STATES = 30  # of a column that fit in a plot
_COPIES = 6  # of the rows that are passed to classifiers


@dataclass(frozen=True)
class Axis:
    """A column that varies: its name and its grid values."""

    name: str
    values: np.ndarray  # ascending values, or all states
    low: float  # the range of the axis; states are at 0, 1, ...
    high: float
    continuous: bool

    def places(self, column: np.ndarray) -> np.ndarray:
        """The positions of a column's values on the axis; NaN if there is none."""
        if self.continuous:
            return np.asarray(column, dtype=np.float64)
        place = {value: float(i) for i, value in enumerate(self.values.tolist())}
        return np.array([place.get(value, np.nan) for value in column.tolist()])


class VariedRows:
    """Rows like those of some data, with one or two columns that vary.

    >>> from pgm.frames.matrices import features
    >>> varied = VariedRows(features([[0.0, 5.0], [1.0, 7.0], [2.0, 6.0]]), [0], {}, cells=2)
    >>> varied.rows(np.array([3.0, 4.0])).tolist()
    [[3.0, 6.0], [4.0, 6.0]]
    """

    def __init__(self, given: Features, columns: Any, held: Mapping[str, Any], cells: int) -> None:
        """Choose the columns, and fix the others: at the median, or the most frequent state."""
        if not given.names:
            raise InvalidFrame("The rows have no columns.")
        self._named = given.named
        self._frame = given.frame
        self._names = given.names
        self._columns = {name: column_of(given.frame, name) for name in given.names}
        chosen = self._chosen(columns)
        for name in held:
            if name not in self._columns:
                raise UnknownVariable(name, list(self._names), where="given=")
            if name in chosen:
                raise InvalidArgument(f"given= holds {shown(name)}, which is one of the columns drawn.")
        size = cells ** len(chosen)
        needed = 8 * size * len(self._names) * _COPIES
        rows = f"cells={cells:,} asks about {size:,} rows of {len(self._names):,} columns, which take"
        check_room(needed, rows, "Ask for fewer")
        self.axes = tuple([self._axis(name, cells) for name in chosen])
        self.held = {
            name: held[name] if name in held else _typical(name, column)
            for name, column in self._columns.items()
            if name not in chosen
        }

    def _chosen(self, columns: Any) -> list[str]:
        if columns is None:
            return list(self._names[:2])
        given = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
        found = []
        for one in given:
            if isinstance(one, int | np.integer) and not isinstance(one, bool):
                if not 0 <= one < len(self._names):
                    raise InvalidArgument(
                        f"columns= has the index {one}; the columns are 0 to {len(self._names) - 1}."
                    )
                one = self._names[int(one)]
            if one not in self._columns:
                raise UnknownVariable(one, list(self._names), where="columns=")
            found.append(one)
        if not 1 <= len(found) <= 2 or len(set(found)) < len(found):
            raise InvalidArgument(f"A picture shows one column or two, not {listed(found)}.")
        return found

    def _axis(self, name: str, cells: int) -> Axis:
        column = self._columns[name]
        if _is_number(column):
            there = column[np.isfinite(column)].astype(np.float64)
            if not there.size:
                raise InvalidFrame(f"The column {shown(name)} has no value.")
            low, high = float(there.min()), float(there.max())
            off = _MARGIN * (high - low) or 1.0
            return Axis(name, np.linspace(low - off, high + off, cells), low - off, high + off, True)
        states = sorted({value for value in column.tolist() if not is_missing(value)}, key=str)
        if not 1 <= len(states) <= _STATES:
            raise InvalidArgument(
                f"The column {shown(name)} has {len(states):,} states; a picture shows 1 to {_STATES}."
            )
        values = np.empty(len(states), dtype=object)
        values[:] = states
        return Axis(name, values, -0.5, len(states) - 0.5, False)

    def column(self, name: str) -> np.ndarray:
        """A column of the data itself."""
        return self._columns[name]

    def rows(self, *varied: np.ndarray) -> Any:
        """Rows in which the drawn columns have these values: a frame or an array, like the data."""
        n = len(varied[0])
        mine = dict(zip((axis.name for axis in self.axes), varied, strict=True))
        if not self._named:
            each = [mine[name] if name in mine else np.full(n, self.held[name]) for name in self._names]
            return np.column_stack(each)
        frame = self._frame
        if isinstance(frame, list):  # of dicts
            frame = dict(self._columns)
        if isinstance(frame, Mapping):
            return {name: mine[name] if name in mine else [self.held[name]] * n for name in self._names}
        native = nw.from_native(frame, eager_only=True)
        found = {name: mine[name].tolist() if name in mine else [self.held[name]] * n for name in self._names}
        made = nw.from_dict(found, backend=native.implementation)
        schema = native.schema
        odd = [name for name in self._names if not (name in mine and schema[name].is_numeric())]
        return made.with_columns([nw.col(name).cast(schema[name]) for name in odd]).to_native()


def column_of(frame: Any, name: str) -> np.ndarray:
    """A column of a frame, a dict of columns or a list of dicts, as an array.

    >>> column_of([{"a": 1.5}, {"a": 2.5}], "a").tolist()
    [1.5, 2.5]
    """
    if isinstance(frame, list):
        found = np.asarray([row.get(name) for row in frame])
    elif isinstance(frame, Mapping):
        found = np.asarray(frame[name])
    else:
        found = nw.from_native(frame, eager_only=True)[name].to_numpy()
    if found.dtype.kind == "O":
        numbers = [value for value in found.tolist() if not is_missing(value)]
        if numbers and all(isinstance(v, int | float) and not isinstance(v, bool) for v in numbers):
            return np.array([np.nan if is_missing(v) else v for v in found.tolist()], dtype=np.float64)
    return found


def _is_number(column: np.ndarray) -> bool:
    return column.dtype.kind in "fiu"


def _typical(name: str, column: np.ndarray) -> Any:
    """The (lower) median of values, or the most frequent state."""
    if _is_number(column):
        there = np.sort(column[~np.isnan(column.astype(np.float64))])
        if there.size:
            if column.dtype.kind == "f":
                return float(np.median(there))
            return int(there[(len(there) - 1) // 2])
    else:
        states = [value for value in column.tolist() if not is_missing(value)]
        if states:
            return Counter(states).most_common(1)[0][0]
    raise InvalidFrame(f"The column {shown(name)} has no value: say what it is, given={{{name!r}: ...}}.")
