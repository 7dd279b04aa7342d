"""Frames whose rows stay in their engine (polars' LazyFrame, duckdb, dask), and frames that come in chunks.

Learning needs only counts of such rows. Where few configurations can occur, the engine counts them all,
in one group-by; where the families of a network are small, it counts those, several in each group-by; else
the rows are read in chunks, with a byte or two per cell. The result is a frame like any other, with weights.
A search, which does not know in advance which families it needs, queries them one by one where the
chunks would not fit in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.errors import InvalidArgument, InvalidFrame, TooLarge, listed, nearest, shown

from .coded import in_chunks

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw

_FIRST = 20_000  # rows that are looked at first; a frame with no more is simply read
_GROUPS = 1 << 20  # configurations that one group-by may have
_SMALL = 1 << 14  # configurations; a group-by with this many takes little longer than one with two
_CHUNK = 1 << 17  # rows
_BYTE = 255  # distinct values of a column; with fewer, a code takes a byte


@dataclass(frozen=True, eq=False)
class Groups:
    """Configurations of some columns, sorted, and the weight of the rows with each."""

    frame: dict[str, Any]
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class EngineRows:
    """Rows that stay in their engine, which groups them by any columns."""

    table: Any
    named: str | None  # the column of weights
    n_rows: int

    def grouped(self, names: Sequence[str]) -> Groups:
        """The configurations of these columns that occur, and the weight of the rows with each.

        Raises:
            TooLarge: there are too many.
        """
        found = _grouped(self.table, names, self.named)
        if found is None:
            raise TooLarge(
                f"{listed(names)} have more than {_GROUPS:,} configurations in {self.n_rows:,} rows: allow "
                "fewer parents, max_parents=2, or take fewer columns, or columns with fewer states."
            )
        return found[0]


@dataclass(frozen=True, eq=False)
class Held:
    """A frame in memory that is equivalent to the given one."""

    frame: Any
    weights: Any
    n_rows: int | None = None  # of the frame that was given; None: as many as this one has
    families: tuple[Groups, ...] = ()  # counted separately; the frame then only has the distinct values
    engine: EngineRows | None = None  # to be queried; the frame then only has the distinct values


def hold(
    frame: Any,
    names: Iterable[str] | None,
    weights: Any = None,
    families: Sequence[Sequence[str]] = (),
    check: Callable[[], None] = lambda: None,
    asking: bool = False,
) -> Held:
    """The frame itself if it is in memory; else the part of it that is needed.

    Args:
        frame: any frame, or an iterator of frames.
        names: the columns that matter, if present; None: all but the column of weights.
        weights: an array, or the name of a column.
        families: sets of columns; if given, nothing else will be counted.
        check: called now and then; raises when the time limit has passed.
        asking: whether the engine may be queried for counts later, if the rows would not fit in memory.

    >>> hold({"a": [1]}, ["a"]).frame
    {'a': [1]}
    >>> import pandas as pd
    >>> parts = [pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [2]})]
    >>> list(hold(iter(parts), None).frame["a"])
    [1, 2, 2]
    """
    if isinstance(frame, Mapping | list | tuple | np.ndarray):
        return Held(frame, weights)
    named = weights if isinstance(weights, str) else None
    wanted = None if names is None else list(dict.fromkeys(names))
    if hasattr(frame, "__next__"):
        return Held(in_chunks(frame, _besides(wanted, named), check), weights)
    try:
        table = nw.from_native(frame)
    except (TypeError, nw.exceptions.DuplicateError):
        return Held(frame, weights)  # its reader says what is wrong
    if not isinstance(table, nw.LazyFrame):
        return Held(frame, weights)
    return _of_engine(table, wanted, weights, named, families, check, asking)


def _besides(wanted: list[str] | None, named: str | None) -> list[str] | None:
    return wanted if wanted is None or named is None else [*wanted, named]


def _of_engine(
    table: nw.LazyFrame[Any],
    wanted: list[str] | None,
    weights: Any,
    named: str | None,
    families: Sequence[Sequence[str]],
    check: Callable[[], None],
    asking: bool,
) -> Held:
    there = table.collect_schema().names()
    if named is not None and named not in there:
        raise InvalidArgument(
            f"weights= are numbers, one for each row, or a column's name, not {shown(named)}; the columns "
            f"are {listed(there)}.{nearest(named, there)}"
        )
    names = [name for name in there if name != named] if wanted is None else wanted
    names = [name for name in names if name in there]
    every = [*names, named] if named is not None and named not in names else names
    if not names:
        return Held(table.to_native(), weights)
    table = table.select(*every)
    if weights is not None and named is None:  # numbers in the order of the rows
        return Held(table.collect().to_native(), weights)
    first = table.head(_FIRST + 1).collect()
    if len(first) <= _FIRST:
        return Held(first.to_native(), weights)
    schema = table.collect_schema()
    if not any(schema[name].is_float() or schema[name].is_decimal() for name in names):
        sizes = {name: first[name].n_unique() for name in names}
        several = math.prod(sizes.values())
        if several > _SMALL and families and not any(first[name].null_count() for name in names):
            found = _by_family(table, families, sizes, named, check)
            if found is not None:
                return found
        if several <= _GROUPS:
            groups = _grouped(table, names, named)
            if groups is not None:
                return Held(groups[0].frame, groups[0].weights, groups[1])
        if asking and (asked := _asked(table, names, named, sizes, check)) is not None:
            return asked
    return Held(in_chunks(_chunks(table), every, check), weights)


def _grouped(table: nw.LazyFrame[Any], names: Sequence[str], named: str | None) -> tuple[Groups, int] | None:
    """The configurations that occur, counted by the engine, and the number of rows; None: too many."""
    rows, weight = _free("rows", names), _free("weight", names)
    sums = [nw.len().alias(rows)]
    if named is not None:
        _check_weights(table, named)
        sums.append(nw.col(named).sum().alias(weight))
    grouped = table.group_by(*names, drop_null_keys=False).agg(*sums).head(_GROUPS + 1).collect()
    if len(grouped) > _GROUPS:
        return None
    grouped = grouped.sort(*names)
    counts = grouped[rows].to_numpy()
    weights = counts if named is None else grouped[weight].to_numpy()
    frame = {name: grouped[name].to_native() for name in names}
    return Groups(frame, weights.astype(np.float64)), int(counts.sum())


def _check_weights(table: nw.LazyFrame[Any], named: str) -> None:
    """Refuse missing or negative weights, which sums would hide."""
    column = nw.col(named)
    found = table.select(column.is_null().sum().alias("missing"), column.min().alias("least")).collect()
    missing, least = found["missing"].item(), found["least"].item()
    if missing:
        raise InvalidFrame(f"{shown(named)}, the column of weights, has no value in {missing:,} rows.")
    if not least >= 0.0:
        raise InvalidArgument(
            f"{shown(named)}, the column of weights, has {least}; weights must be non-negative numbers."
        )


def _free(name: str, names: Iterable[str]) -> str:
    """A name different from all of these."""
    taken = set(names)
    while name in taken:
        name += "_"
    return name


def _by_family(
    table: nw.LazyFrame[Any],
    families: Sequence[Sequence[str]],
    sizes: Mapping[str, int],
    named: str | None,
    check: Callable[[], None],
) -> Held | None:
    """The counts of these families, several in each group-by if that stays small; None: cells are missing."""
    found: list[Groups] = []
    n_rows = 0
    seen: dict[str, list[Any]] = {}
    for names in batches(families, sizes, _SMALL):
        check()
        groups = _grouped(table, names, named)
        if groups is None:
            return None
        found.append(groups[0])
        n_rows = groups[1]
        for name, column in groups[0].frame.items():
            values = nw.from_native(column, series_only=True)
            if values.null_count():
                return None
            if name not in seen:
                seen[name] = values.unique().to_list()
    longest = max(map(len, seen.values()))
    padded = {name: values + values[:1] * (longest - len(values)) for name, values in seen.items()}
    return Held(padded, None, n_rows, tuple(found))


def _asked(
    table: nw.LazyFrame[Any],
    names: Sequence[str],
    named: str | None,
    sizes: Mapping[str, int],
    check: Callable[[], None],
) -> Held | None:
    """The values of each column, and the engine to query; None: the codes of the rows fit in memory."""
    n_rows = int(table.select(nw.len().alias("rows")).collect()["rows"].item())
    if 2 * n_rows * sum(1 if sizes[name] < _BYTE else 2 for name in names) <= current().memory_limit:
        return None
    engine = EngineRows(table, named, n_rows)
    seen: dict[str, list[Any]] = {}
    for name in names:
        check()
        seen[name] = nw.from_native(engine.grouped([name]).frame[name], series_only=True).to_list()
    longest = max(map(len, seen.values()))
    padded = {name: values + values[-1:] * (longest - len(values)) for name, values in seen.items()}
    return Held(padded, None, n_rows, engine=engine)


def batches(families: Sequence[Sequence[str]], sizes: Mapping[str, int], most: int) -> list[list[str]]:
    """A few sets of columns that cover these families, with at most this many configurations each.

    >>> batches(["ab", "bc", "ad", "cd"], {"a": 2, "b": 2, "c": 2, "d": 8}, 16)
    [['a', 'd'], ['c', 'd'], ['a', 'b', 'c']]
    """

    def size(names: Iterable[str]) -> int:
        return math.prod(sizes[name] for name in names)

    made: list[dict[str, None]] = []
    for family in sorted(families, key=size, reverse=True):
        fits = [both for both in made if size(both | dict.fromkeys(family)) <= most]
        best = min(fits, key=lambda both: size(both | dict.fromkeys(family)) / size(both), default=None)
        if best is None:
            made.append(dict.fromkeys(family))
        else:
            best.update(dict.fromkeys(family))
    return [list(names) for names in made]


def _chunks(table: nw.LazyFrame[Any]) -> Iterator[Any]:
    """The rows in chunks, as the engine delivers them."""
    native: Any = table.to_native()
    if hasattr(native, "to_arrow_reader"):  # duckdb
        yield from native.to_arrow_reader(_CHUNK)
    elif hasattr(native, "fetch_arrow_reader"):  # older ones
        yield from native.fetch_arrow_reader(_CHUNK)
    elif hasattr(native, "collect_batches"):  # polars
        yield from native.collect_batches(chunk_size=_CHUNK)
    elif hasattr(native, "partitions"):  # dask
        for part in native.partitions:
            yield part.compute()
    else:
        yield table.collect().to_native()
