"""Columns as one matrix, without a copy where they already lie in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw


def side_by_side(columns: Sequence[np.ndarray], n_rows: int) -> np.ndarray:
    """A matrix (rows, columns) of floats, read-only where it shares the memory of the columns.

    >>> frame = np.arange(6.0).reshape(2, 3)
    >>> found = side_by_side([frame[:, 1], frame[:, 2]], 2)
    >>> found.tolist(), np.shares_memory(found, frame)
    ([[1.0, 2.0], [4.0, 5.0]], True)
    """
    step = _step(columns)
    if step is not None:
        first = columns[0]
        shape, strides = (n_rows, len(columns)), (first.strides[0], step)
        return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)
    made = np.empty((n_rows, len(columns)), order="F")
    for i, column in enumerate(columns):
        made[:, i] = column
    return made


def _step(columns: Sequence[np.ndarray]) -> int | None:
    """The distance of each column from the next in bytes, if all are equidistant columns of one array."""
    if not columns or any(column.dtype != np.float64 or column.ndim != 1 for column in columns):
        return None
    first, owner = columns[0], columns[0].base
    begins = [column.ctypes.data for column in columns]
    step = begins[1] - begins[0] if len(begins) > 1 else first.itemsize
    alike = all(
        column.strides == first.strides and column.base is owner and begin == begins[0] + i * step
        for i, (column, begin) in enumerate(zip(columns, begins, strict=True))
    )
    return step if alike and owner is not None else None


class Block(NamedTuple):
    """Columns of a frame that are columns of one array of floats."""

    names: list[str]
    values: np.ndarray  # (rows, columns)

    @property
    def columns(self) -> tuple[int, dict[str, Any]]:
        """The number of rows, and each column."""
        return len(self.values), dict(zip(self.names, self.values.T, strict=True))


def block(frame: Any, wanted: Iterable[str]) -> Block | None:
    """The wanted columns of a pandas frame, if they hold floats.

    None if this is not a pandas frame, a wanted column does not hold floats, or a name appears twice.

    >>> import pandas
    >>> block(pandas.DataFrame({"a": [1.0, 2.0], "note": ["x", "y"]}), ["a", "b"]).columns
    (2, {'a': array([1., 2.])})
    """
    if not nw.dependencies.is_pandas_dataframe(frame):
        return None
    places = {name: place for place, name in enumerate(frame.columns)}
    names = [name for name in wanted if name in places]
    at = [places[name] for name in names]
    if not at or len(places) < frame.shape[1] or any(k != np.float64 for k in frame.dtypes.to_numpy()[at]):
        return None
    run = at == list(range(at[0], at[0] + len(at)))
    some = (
        frame if len(at) == frame.shape[1] and run else frame.iloc[:, slice(at[0], at[-1] + 1) if run else at]
    )
    return Block(names, some.to_numpy())
