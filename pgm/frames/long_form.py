"""Tables that users write as data frames: one cell per row, columns of states first, then the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidTable, listed

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw


@dataclass(frozen=True)
class LongForm:
    """A data frame with one cell per row: a column of states for each variable, and the values."""

    columns: dict[str, list[Any]]
    values: list[Any]


def is_frame(table: object) -> bool:
    """Tell whether narwhals takes `table` for a data frame, or for a series with an index of states."""
    if isinstance(table, np.ndarray | list | tuple | dict | float | int | Mapping):
        return False
    try:
        found: Any = nw.from_native(table, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:  # a frame, though one that `long_form` refuses
        return True
    if isinstance(found, nw.Series):
        if not found.implementation.is_pandas_like():
            return False  # a series of polars has no index: it is a list
        index = found.to_native().index  # 0, 1, ... is the default index of a series
        return type(index).__name__ != "RangeIndex" or index.start != 0 or index.step != 1
    return isinstance(found, nw.DataFrame | nw.LazyFrame)


def long_form(what: str, table: Any, last: Sequence[str], child: str) -> LongForm:
    """Read a data frame whose last column holds the values, or a series of values indexed by states.

    Args:
        what: whose table it is, for messages.
        table: the frame or series.
        last: what the column of values may be called.
        child: the variable of a one-level index, whatever its name.
    """
    try:
        frame = nw.from_native(table, allow_series=True)
    except nw.exceptions.DuplicateError:
        twice = list(map(str, getattr(table, "column_names", None) or table.columns))
        raise InvalidTable(f"{what}: a column appears twice in the frame, {listed(twice)}.") from None
    if isinstance(frame, nw.Series):
        index = table.index
        if index.nlevels > 1 and None in index.names:
            raise InvalidTable(
                f"{what}: the levels of the Series' index need names, those of the parents and {child!r}: "
                "set index.names."
            )
        levels = [index.get_level_values(i).tolist() for i in range(index.nlevels)]
        called = [child] if index.nlevels == 1 else [str(name) for name in index.names]
        return LongForm(dict(zip(called, levels, strict=True)), frame.to_list())
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    names = [str(name) for name in frame.columns]
    if not names or names[-1] not in last:
        raise InvalidTable(
            f"{what}: the last column of the frame must be {last[0]!r}; its columns are {listed(names)}."
        )
    if len(set(names)) < len(names):
        raise InvalidTable(f"{what}: a column appears twice in the frame, {listed(names)}.")
    *columns, values = (frame[name].to_list() for name in frame.columns)
    return LongForm(dict(zip(names[:-1], columns, strict=True)), values)
