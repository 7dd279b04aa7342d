"""Columns as indices of their distinct values, to which chunks of a frame are appended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidFrame, listed, shown
from pgm.runtime.room import check_room
from pgm.variables import is_missing

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw

_WIDTHS = (np.int8, np.int16, np.int32)  # of codes, chosen by the number of values


class Coded:
    """A column with few distinct values: these, and the index of each row's value, -1 where missing.

    >>> column = Coded(np.array([0, -1, 1], np.int8), ["no", "yes"])
    >>> list(column)
    ['no', None, 'yes']
    """

    __slots__ = ("codes", "values")

    def __init__(self, codes: np.ndarray, values: list[Any]) -> None:
        self.codes, self.values = codes, values

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Any:
        code = int(self.codes[row])
        return None if code < 0 else self.values[code]

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def looked_up(self, table: np.ndarray) -> np.ndarray:
        """The entry of each row's value in a table, of which the last one is for missing values."""
        return np.take(table, self.codes)  # -1 indexes the last entry


def narrow(most: int) -> type:
    """The narrowest integer type that holds -1 and indices up to this one.

    >>> narrow(100).__name__, narrow(1000).__name__
    ('int8', 'int16')
    """
    return next((width for width in _WIDTHS if most <= np.iinfo(width).max), np.int64)


class Growing:
    """A column that grows by chunks."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[np.ndarray] = []
        self._index: dict[tuple[type, Any], int] = {}  # by type, since True == 1 but they are two values
        self._real: bool | None = None

    def add(self, column: Any) -> int:
        """Append a chunk; return the number of bytes that this took."""
        real = column.dtype.is_float()
        if self._real is not None and real != self._real:
            raise InvalidFrame(f"The column {shown(self.name)} has floats in some chunks but not in others.")
        self._real = real
        if real:
            self.parts.append(column.to_numpy().astype(np.float64))
        else:
            indices, values = _indexed(column)
            table = np.empty(len(values) + 1, np.int64)
            table[-1] = -1
            for i, value in enumerate(values):
                key = type(value), value
                table[i] = -1 if is_missing(value) else self._index.setdefault(key, len(self._index))
            self.parts.append(table.astype(narrow(len(self._index)))[indices])
        return self.parts[-1].nbytes

    def whole(self) -> Coded | np.ndarray:
        """All chunks as one column."""
        if self._real:
            return np.concatenate(self.parts)
        width = narrow(len(self._index))
        codes: np.ndarray = np.empty(sum(map(len, self.parts)), width)
        at = 0
        for part in self.parts:
            codes[at : at + len(part)] = part
            at += len(part)
        self.parts = []
        return Coded(codes, [value for _, value in self._index])


def _indexed(column: nw.Series[Any]) -> tuple[np.ndarray, list[Any]]:
    """The index of each row's value among the distinct ones, -1 where missing."""
    native = column.to_native()
    if column.implementation.is_pandas():
        if hasattr(native, "cat"):
            return np.asarray(native.cat.codes, np.int64), native.cat.categories.tolist()
        indices, distinct = native.factorize()
        return np.asarray(indices, np.int64), list(distinct.tolist())
    arrow = column.to_arrow()
    whole = arrow.combine_chunks() if hasattr(arrow, "combine_chunks") else arrow
    if not hasattr(whole, "dictionary"):
        whole = whole.dictionary_encode()
    indices = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return indices.astype(np.int64), whole.dictionary.to_pylist()


def in_chunks(
    chunks: Iterable[Any], names: Iterable[str] | None, check: Callable[[], None] = lambda: None
) -> dict[str, Coded | np.ndarray]:
    """The columns of all chunks together, with one or two bytes per cell where there are few distinct values.

    Args:
        chunks: frames that have the same columns.
        names: the columns to read, if present; None: all of the first chunk's.
        check: called before each chunk; raises when the time limit has passed.

    Raises:
        InvalidFrame: there is no chunk, or a column is missing in one of them.
        TooLarge: they would not fit the memory limit.
    """
    wanted = None if names is None else list(names)
    grown: dict[str, Growing] = {}
    taken, first = 0, True
    for index, chunk in enumerate(chunks):
        check()
        frame = _eager(chunk, index)
        there = frame.columns
        if first:
            kept = there if wanted is None else [name for name in wanted if name in there]
            grown = {name: Growing(name) for name in kept}
            first = False
        if absent := [name for name in grown if name not in there]:
            raise InvalidFrame(f"Chunk {index:,} (the first is 0) has no column {listed(absent)}.")
        taken += sum(column.add(frame[name]) for name, column in grown.items())
        check_room(
            2.0 * taken,
            f"The first {index + 1:,} chunks, once joined, take",
            "`fit` to the first of them and `partial_fit` to the others; take a lazy frame of polars or "
            "duckdb if only counts are needed",
        )
    if first:
        raise InvalidFrame("There are no chunks: there is nothing to learn from.")
    return {name: column.whole() for name, column in grown.items()}


def _eager(chunk: Any, index: int) -> nw.DataFrame[Any]:
    if isinstance(chunk, Mapping):
        if not chunk:
            raise InvalidFrame(f"Chunk {index:,} (the first is 0) is empty.")
        import pyarrow  # type: ignore[import-untyped]

        chunk = pyarrow.table(dict(chunk))
    elif hasattr(chunk, "__arrow_c_array__") and hasattr(chunk, "schema"):
        import pyarrow

        chunk = pyarrow.table(chunk)
    try:
        table = nw.from_native(chunk)
    except TypeError:
        raise InvalidFrame(f"Chunk {index:,} (the first is 0) is {shown(chunk)}, not a data frame.") from None
    return table.collect() if isinstance(table, nw.LazyFrame) else table
