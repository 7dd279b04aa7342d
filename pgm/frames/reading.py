"""Reads data frames, the one entry point for data: codes of states, -1 or NaN where nothing was observed."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, UnknownState, listed, nearest, nearest_text, shown, warn
from pgm.evidence import Likelihoods, is_weighed
from pgm.variables import REAL, Variable, as_float, is_missing

from .coded import Coded, narrow
from .side_by_side import block
from .soft_cells import SoftCells, is_array, of_array, of_cells

if TYPE_CHECKING:
    import narwhals as nw
else:
    from pgm.frames import narwhals_later as nw

_MISSING, _BAD = -1, -2
_LEAVE_OUT = 'bad_rows="missing" leaves such values out'
_COMPARED = 2_000  # names, and pairs of names, that are compared to find typos: a model may have millions
_NEAR = 0.75  # the share of common letters in a likely typo, such as "rian" for "rain"
_HINTS = 5  # columns for which an error suggests a name
_NARROW = 1 << 16  # integers of a range this small are looked up in a table, others sorted

Column: TypeAlias = "list[Any] | np.ndarray | Coded | nw.Series[Any]"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a frame that are variables, as codes of their states."""

    n_rows: int
    codes: dict[str, np.ndarray]  # int32, -1 where missing; in the order of the variables
    bad: np.ndarray  # rows with a value that is not a state; such cells are -1
    soft: dict[str, SoftCells] = field(default_factory=dict)  # cells that weigh states; their codes are -1


@dataclass(frozen=True, slots=True)
class RealColumns:
    """The columns of a frame that are continuous variables."""

    n_rows: int
    values: dict[str, np.ndarray]  # float64, NaN where missing; in the order of the variables
    bad: np.ndarray  # rows with a value that is not a number; such cells are NaN
    complete: frozenset[str] = frozenset()  # columns without a missing cell


def among(
    frame: object, variables: Mapping[str, Variable], places: Mapping[str, int], but: AbstractSet[str]
) -> dict[str, Variable]:
    """The variables that have a column in the frame, except those in `but`, in the order of the model.

    The work grows with the frame, not with the model; what is not a frame is refused when it is read.
    A frame that names no variable is refused, and a column that nearly names one is warned about: if it were
    ignored silently, the prior would look like an answer.

    >>> a, b = Variable("a", ["no", "yes"]), Variable("b", ["no", "yes"])
    >>> list(among({"b": ["no"], "note": ["x"], "a": ["yes"]}, {"a": a, "b": b}, {"a": 0, "b": 1}, set()))
    ['a', 'b']
    """
    written = list(names_of(frame))
    there = {name for name in written if isinstance(name, str) and name in places}
    if others := [name for name in written if name not in there]:
        _look_for_typos(others, there, but, places)
    return {name: variables[name] for name in sorted(there - but, key=places.__getitem__)}


def _look_for_typos(
    others: Sequence[object], there: AbstractSet[str], but: AbstractSet[str], places: Mapping[str, int]
) -> None:
    """Raise if no column is a variable; warn about columns whose names are close to absent variables."""
    if not there:
        hint = next(filter(None, (nearest(name, places) for name in others[:_HINTS])), "")
        raise InvalidFrame(
            f"No column of the frame is a variable: it has {listed(others)}, and the variables are "
            f"{listed(places)}.{hint}"
        )
    absent = [name for name in islice(places, _COMPARED) if name not in there and name not in but]
    plain = {_letters(name): name for name in reversed(absent)}
    for name in others if absent else ():
        if not isinstance(name, str):
            continue
        letters = _letters(name)
        meant = letters if letters and letters in plain else None
        if meant is None and len(others) * len(plain) <= _COMPARED:
            meant = nearest_text(letters, plain, _NEAR)
        if meant is not None and _digits(meant) == _digits(letters):  # x1 and x2 are two names, not a typo
            warn(
                f"The column {shown(name)} is ignored, because no variable has this name, and "
                f"{shown(plain[meant])} has no column: rename it if that is what you meant."
            )


def _letters(name: str) -> str:
    """A name reduced for comparison: without case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _digits(name: str) -> list[str]:
    return re.findall(r"\d+", name)


def names_of(frame: Any) -> Iterable[object]:
    """The names of the columns, as written; none if this is not a frame."""
    if isinstance(frame, Mapping):
        return frame
    if isinstance(frame, list | tuple):
        return dict.fromkeys(name for row in frame if isinstance(row, Mapping) for name in row)
    if isinstance(frame, np.ndarray):
        return frame.dtype.names or ()
    if nw.dependencies.is_pandas_dataframe(frame):
        return list(frame.columns)
    try:
        return list(nw.from_native(_as_table(frame)).collect_schema().names())
    except TypeError:
        return ()
    except nw.exceptions.DuplicateError:
        return _repeated(frame)


def is_rows(given: Any) -> bool:
    """Whether this is rows of data, not one case: a frame, a list of dicts, or a dict of columns.

    >>> is_rows({"rain": [True, False]}), is_rows({"rain": True}), is_rows({}), is_rows(None)
    (True, False, False, False)
    """
    if isinstance(given, Mapping):
        return bool(given) and all(map(_holds_values, given.values()))
    return given is not None


def _holds_values(column: Any) -> bool:
    # Most evidence is a state, which is recognised without narwhals.
    if column is None or isinstance(column, str | int | float | np.generic):
        return False
    if isinstance(column, np.ndarray):
        return column.ndim > 0
    if isinstance(column, list | range | Coded | Likelihoods):
        return True
    return isinstance(nw.from_native(column, series_only=True, pass_through=True), nw.Series) or hasattr(
        column, "to_pylist"
    )


def weights_of(weights: Any, n_rows: int, frame: Any = None) -> np.ndarray:
    """The weight of each row, checked; None: 1 each; text names a column of the frame.

    >>> weights_of([1, 0.5], 2), weights_of("n", 2, {"n": [1, 0.5]})
    (array([1. , 0.5]), array([1. , 0.5]))
    """
    if weights is None:
        return np.ones(n_rows)
    if isinstance(weights, str) and frame is not None:
        weights = _weights_column(frame, weights)
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(f"weights= are numbers, one for each row, not {shown(weights)}.") from None
    if found.shape != (n_rows,):
        raise InvalidArgument(
            f"weights= has one number for each of the {n_rows:,} rows; this array has shape {found.shape}."
        )
    bad = ~((found >= 0.0) & (found < math.inf))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidArgument(
            f"The weight of row {row:,} (the first is 0) is {float(found[row])!r}; weights must be "
            "non-negative numbers."
        )
    if found.size and not found.max() < sys.float_info.max / found.size:
        raise InvalidArgument("weights= are so large that their sum is infinite; use another unit.")
    return np.ascontiguousarray(found)


def _weights_column(frame: Any, name: str) -> np.ndarray:
    written = list(names_of(frame))
    if name not in written:
        raise InvalidArgument(
            f"weights= are numbers, one for each row, or a column's name, not {shown(name)}; the columns are "
            f"{listed(written)}.{nearest(name, written)}"
        )
    found = real_columns(frame, {name: Variable.of(name, REAL)}, remedy="A weight is a number").values[name]
    if np.isnan(found).any():
        row = int(np.isnan(found).argmax())
        raise InvalidFrame(
            f"Row {row:,} (the first is 0): the column of weights, {shown(name)}, has no value."
        )
    return found


def columns(
    frame: object,
    wanted: Mapping[str, Variable],
    *,
    bad: str = "raise",
    remedy: str = _LEAVE_OUT,
    check: Callable[[], None] = lambda: None,
    numbered: bool = True,
    soft: bool = False,
) -> Columns:
    """Read the wanted columns that exist; the others are not touched.

    Args:
        frame: a pandas, polars, pyarrow, duckdb or dask frame, a dict of columns, or a list of dicts (rows).
        wanted: the variables by name.
        bad: "raise" an error about a value that is not a state, or treat it as "missing" and mark its row.
        remedy: the advice in that error.
        check: called before each column; raises when the time limit has passed.
        numbered: whether rows are those of the user's frame, so that an error names one.
        soft: whether cells may weigh states: pgm.Likelihood, pgm.OneOf, pgm.Not, or an array (rows, states).

    >>> wet = Variable("wet", ["no", "yes"])
    >>> columns({"wet": ["yes", None, "no"], "note": ["a", "b", "c"]}, {"wet": wet}).codes
    {'wet': array([ 1, -1,  0], dtype=int32)}
    """
    if bad not in ("raise", "missing"):
        raise InvalidArgument(f"Bad rows can 'raise' or be 'missing', not {shown(bad)}.")
    n_rows, found = _read(frame, wanted, soft)
    codes: dict[str, np.ndarray] = {}
    weighed: dict[str, SoftCells] = {}
    bad_rows = np.zeros(n_rows, dtype=bool)
    for name, column in found.items():
        check()
        if is_array(column):
            weighed[name] = of_array(wanted[name], column)
            codes[name] = np.full(n_rows, _MISSING, np.int32)
            continue
        coded = _codes(wanted[name], column)
        wrong = coded == _BAD
        if soft and wrong.any() and is_weighed(column[int(wrong.argmax())]):
            cells, taken = of_cells(wanted[name], list(column), np.flatnonzero(wrong))
            if cells is not None:
                weighed[name] = cells
                coded[taken], wrong = _MISSING, wrong & ~taken
        if wrong.any():
            row = int(wrong.argmax())
            if bad == "raise":
                raise _unknown(wanted[name], column[row], row if numbered else None, int(wrong.sum()), remedy)
            bad_rows |= wrong
            coded[wrong] = _MISSING
        codes[name] = coded
    return Columns(n_rows, codes, bad_rows, weighed)


def real_columns(
    frame: object,
    wanted: Mapping[str, Variable],
    *,
    bad: str = "raise",
    remedy: str = _LEAVE_OUT,
    largest: float = math.inf,
    truths: bool = False,
    check: Callable[[], None] = lambda: None,
    copy: bool = True,
) -> RealColumns:
    """Read the wanted columns that exist as finite floats, NaN where missing.

    Args:
        frame: as for `columns`.
        wanted: the variables by name.
        bad: "raise" an error about a value that is not a number, or treat it as "missing" and mark its row.
        remedy: the advice in that error.
        largest: with "missing", values of larger magnitude are bad too; the caller reports them.
        truths: read True and False as 1 and 0, where a column has no states.
        check: called before each column; raises when the time limit has passed.
        copy: False: a column may be the frame's own memory, only to be read.

    >>> from pgm.variables import REAL
    >>> real_columns({"x": [1, None, 2.5]}, {"x": Variable("x", REAL)}).values
    {'x': array([1. , nan, 2.5])}
    """
    whole = block(frame, wanted)
    n_rows, found = _read(frame, wanted) if whole is None else whole.columns
    finite = whole is not None and bool(np.isfinite(whole.values).all())
    values: dict[str, np.ndarray] = {}
    bad_rows = np.zeros(n_rows, dtype=bool)
    complete = set()
    for name, column in found.items():
        check()
        made, wrong = _floats(column, truths, copy, finite)
        if bad != "raise" and largest < math.inf:
            wrong = np.abs(made) > largest if wrong is None else wrong | (np.abs(made) > largest)
        if wrong is not None and wrong.any():
            if bad == "raise":
                row = int(wrong.argmax())
                raise _unknown(wanted[name], column[row], row, int(wrong.sum()), remedy)
            made = np.where(wrong, np.nan, made)
            bad_rows |= wrong
        values[name] = made
        if wrong is None or not np.isnan(made).any():
            complete.add(name)
    return RealColumns(n_rows, values, bad_rows, frozenset(complete))


def _floats(
    column: Column, truths: bool = False, copy: bool = True, finite: bool = False
) -> tuple[np.ndarray, np.ndarray | None]:
    """A column as floats, NaN where missing, and which cells are neither; None: all are finite floats.

    Args:
        column: the cells.
        truths: read True and False as 1 and 0.
        copy: False: the floats may be the memory of the column, read-only.
        finite: it is known to be an array of finite floats.
    """
    if isinstance(column, Coded):
        made, bad = _floats([*column.values, None], truths)
        return column.looked_up(made), None if bad is None else column.looked_up(bad)
    if isinstance(column, nw.Series) and (
        column.dtype.is_float() or (column.dtype.is_integer() and not column.null_count())
    ):
        column = column.to_numpy()
    if isinstance(column, np.ndarray) and column.dtype.kind in ("fiub" if truths else "fiu"):
        values = column.astype(np.float64, copy=copy)
        return values, None if finite or np.isfinite(values).all() else np.isinf(values)
    cells = list(column)
    if truths:
        cells = [float(cell) if isinstance(cell, bool | np.bool) else cell for cell in cells]
    values = np.fromiter(map(as_float, cells), np.float64, len(cells))
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return values, None
    for row in np.flatnonzero(wrong).tolist():
        wrong[row] = not is_missing(cells[row])
    return values, wrong


def _unknown(variable: Variable, value: object, row: int | None, count: int, remedy: str) -> UnknownState:
    more = f" ({count:,} rows have such values)" if count > 1 and row is not None else ""
    where = "The frame" if row is None else f"Row {row:,} (the first is 0)"
    return UnknownState(variable, value, where=where, remedy=f"{remedy}{more}.")


# --- from a frame to columns --------------------------------------------------------------------------------


def _read(frame: object, wanted: Mapping[str, Variable], soft: bool = False) -> tuple[int, dict[str, Column]]:
    """The number of rows, and the wanted columns in the order of the variables; `soft` allows weights."""
    if isinstance(frame, Mapping):
        return _of_dict(frame, wanted, soft)
    if isinstance(frame, list | tuple):
        return _of_rows(frame, wanted)
    if isinstance(frame, np.ndarray):
        if frame.dtype.names is None or frame.ndim != 1:
            raise InvalidFrame(
                f"An array of shape {frame.shape} has no names for its columns; "
                "write a dict of columns, {'rain': array[:, 0], ...}."
            )
        return _of_dict({name: frame[name] for name in frame.dtype.names}, wanted)
    return _of_native(frame, wanted)


def _of_dict(
    frame: Mapping[Any, Any], wanted: Mapping[str, Variable], soft: bool = False
) -> tuple[int, dict[str, Column]]:
    found = {
        name: frame[name] if soft and is_array(frame[name]) else _column(name, frame[name])
        for name in wanted
        if name in frame
    }
    lengths = {name: len(column) for name, column in found.items()}
    for name, column in frame.items():
        if name not in found and hasattr(column, "__len__") and not isinstance(column, str | bytes):
            lengths[name] = len(column)
    n_rows = next(iter(lengths.values()), 0)
    for name, length in lengths.items():
        if length != n_rows:
            first = next(iter(lengths))
            raise InvalidFrame(
                f"Columns of different lengths: {shown(first)} has {n_rows:,} rows, {shown(name)} {length:,}."
            )
    return n_rows, found


def _of_rows(rows: Sequence[Any], wanted: Mapping[str, Variable]) -> tuple[int, dict[str, Column]]:
    present: dict[Any, None] = {}
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidFrame(
                f"Row {i:,} of the list is {shown(row)}; rows are dicts such as {{'rain': True}}."
            )
        present.update(dict.fromkeys(row))
    return len(rows), {name: [row.get(name) for row in rows] for name in wanted if name in present}


def _of_native(frame: Any, wanted: Mapping[str, Variable]) -> tuple[int, dict[str, Column]]:
    frame = _as_table(frame)
    try:
        table: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(frame)
    except TypeError:
        path = f" Read the file first: pandas.read_csv({frame!r})." if isinstance(frame, str | Path) else ""
        raise InvalidFrame(
            f"{shown(frame)} is not a data frame; pgm reads pandas, polars, pyarrow, duckdb and dask frames, "
            f"dicts of columns, and lists of dicts.{path}"
        ) from None
    except nw.exceptions.DuplicateError:
        table = _narrowed(frame, wanted)
    present = frozenset(table.collect_schema().names())  # only tested for membership, never iterated
    names = [name for name in wanted if name in present]
    if isinstance(table, nw.LazyFrame):
        if not names:
            return int(table.select(nw.len()).collect().item()), {}
        table = table.select(*names).collect()
    return len(table), {name: table.get_column(name) for name in names}


def _as_table(frame: Any) -> Any:
    """A record batch of pyarrow as a table, anything else as it is."""
    if hasattr(frame, "__arrow_c_array__") and hasattr(frame, "schema"):
        import pyarrow  # type: ignore[import-untyped]

        return pyarrow.table(frame)
    return frame


def _repeated(frame: Any) -> list[Any]:
    """The names of a pandas or pyarrow frame, some of which are duplicated."""
    return list(getattr(_as_table(frame), "column_names", None) or frame.columns)


def _narrowed(frame: Any, wanted: Mapping[str, Variable]) -> nw.DataFrame[Any]:
    """The wanted columns of a pandas or pyarrow frame with duplicate names, if they are unique."""
    present = Counter(_repeated(frame))
    names = [name for name in present if name in wanted]
    for name in names:
        if present[name] > 1:
            raise InvalidFrame(f"The frame has {present[name]} columns {shown(name)}; keep one of them.")
    return nw.from_native(frame.select(names) if hasattr(frame, "select") else frame[names], eager_only=True)


def _column(name: object, column: Any) -> Column:
    """A column of a dict as a list, an array or a series."""
    if type(column) is np.ndarray and column.ndim == 1:
        return column
    if isinstance(column, Likelihoods):
        column = np.asarray(column, dtype=object)
    if isinstance(column, np.ma.MaskedArray):
        column = column.tolist()  # with None where masked
    if isinstance(column, list | Coded):
        return column
    series: Any = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    if hasattr(column, "to_pylist"):  # pyarrow
        return list(column.to_pylist())
    if hasattr(column, "__array__"):
        column = np.asarray(column)
        if column.ndim == 1:
            return column  # type: ignore[no-any-return]
        raise InvalidFrame(f"The column {shown(name)} has {column.ndim} dimensions; a column has one.")
    if isinstance(column, Sequence) and not isinstance(column, str | bytes):
        return list(column)
    raise InvalidFrame(
        f"The column {shown(name)} is {shown(column)}, not a list of values; for a single row, write a list: "
        "[{'rain': True, ...}]."
    )


# --- from a column to codes ---------------------------------------------------------------------------------


def _codes(variable: Variable, column: Column) -> np.ndarray:
    """The code of each value; -1 where missing, -2 where it is not a state."""
    if isinstance(column, Coded):
        return column.looked_up(_lookup(variable, column.values).astype(narrow(variable.card)))
    if isinstance(column, nw.Series):
        dtype = column.dtype
        if isinstance(dtype, nw.Categorical | nw.Enum) and column.implementation.is_pandas():
            native = column.to_native().cat
            table = _lookup(variable, native.categories.tolist())
            return np.take(table, np.asarray(native.codes))  # -1, missing, indexes the last entry
        if isinstance(dtype, nw.Categorical | nw.Enum) and column.implementation.is_polars():
            return _codes_of_polars(variable, column.to_native())
        if dtype.is_float() or ((dtype.is_integer() or dtype == nw.Boolean) and not column.null_count()):
            column = column.to_numpy()
        else:
            column = column.to_list()
    if isinstance(column, list):
        return _codes_of_list(variable, column)
    if column.dtype.kind in "biuf":
        return _codes_of_numbers(variable, column)
    if column.dtype.kind == "M":
        column = column.astype("datetime64[us]")  # the resolution of Python's own datetime
    return _codes_of_list(variable, column.tolist())


def _codes_of_polars(variable: Variable, column: Any) -> np.ndarray:
    """Codes of a categorical column: each category is looked up once, in some row that has it."""
    physical = column.to_physical().to_numpy()
    if physical.dtype.kind == "f":  # polars writes missing ones as NaN
        physical = np.where(np.isnan(physical), -1.0, physical)
    physical = physical.astype(np.int64)
    if physical.size == 0 or physical.max() > physical.size + _NARROW:
        return _codes_of_list(variable, column.to_list())
    rows = np.full(int(physical.max()) + 2, -1, np.int64)  # the last entry is for missing values
    rows[physical] = np.arange(physical.size)
    rows[-1] = -1
    codes = np.full(rows.size, _MISSING, np.int32)
    for category in np.flatnonzero(rows >= 0).tolist():
        codes[category] = _code(variable, column[int(rows[category])])
    found: np.ndarray = codes[physical]  # -1 indexes the last entry
    return found


def _lookup(variable: Variable, values: Iterable[Any]) -> np.ndarray:
    """The codes of some values, and -1 at the end."""
    return np.array([*(_code(variable, value) for value in values), _MISSING], dtype=np.int32)


def _code(variable: Variable, value: object) -> int:
    code = variable.domain.find(value)
    return code if code >= 0 else _MISSING if is_missing(value) else _BAD


class _Memo(dict[Any, int]):
    """Caches the code of each value seen."""

    def __init__(self, variable: Variable) -> None:
        super().__init__()
        self.variable = variable

    def __missing__(self, value: object) -> int:
        if type(value) is float and value != value:
            return _MISSING
        code = _code(self.variable, value)
        if code != _MISSING or len(self) < 1000:  # there may be many missing-value objects
            self[value] = code
        return code


def _codes_of_list(variable: Variable, values: list[Any]) -> np.ndarray:
    find = variable.domain.find
    if (find(True), find(False)) == (find(1), find(0)) or not _mixed(values):
        try:
            return np.fromiter(map(_Memo(variable).__getitem__, values), np.int32, len(values))
        except TypeError:  # unhashable, so certainly not a state
            pass
    return np.fromiter((_code(variable, value) for value in values), np.int32, len(values))


def _mixed(values: list[Any]) -> bool:
    """Whether there are booleans among numbers: True == 1, but only one of them means "TRUE"."""
    kinds = dict.fromkeys(map(type, values))
    truth = [kind for kind in kinds if issubclass(kind, bool | np.bool_)]
    return bool(truth) and any(
        issubclass(kind, int | float | np.number) for kind in kinds if kind not in truth
    )


def _codes_of_numbers(variable: Variable, values: np.ndarray) -> np.ndarray:
    if values.size == 0:
        return np.zeros(0, dtype=np.int32)
    if values.dtype.kind == "b":
        return _by_table(variable, values.astype(np.int64), [False, True])
    if values.dtype != np.uint64:  # one width, which holds the bounds below and any difference
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False)
    if variable.bins is not None:
        return _binned(variable, values)
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (np.abs(values) < 2**53)
        whole[whole] = values[whole] == np.floor(values[whole])
        seen = values == values
        if whole[seen].all():  # floats such as 1.0, as in an integer column with missing values
            codes = np.full(values.shape, _MISSING, dtype=np.int32)
            codes[seen] = _codes_of_numbers(variable, values[seen].astype(np.int64))
            return codes
        return _by_sorting(variable, values)
    lo, hi = int(values.min()), int(values.max())
    if hi - lo < _NARROW:
        return _by_table(variable, (values - values.dtype.type(lo)).astype(np.int64), range(lo, hi + 1))
    return _by_sorting(variable, values)


def _by_table(variable: Variable, places: np.ndarray, values: Sequence[Any]) -> np.ndarray:
    """Codes from a table of all possible values, filled in for the states."""
    table = np.full(len(values), _BAD, dtype=np.int32)
    for place in np.flatnonzero(np.bincount(places, minlength=len(values))).tolist():
        table[place] = _code(variable, values[place])
    return np.take(table, places)


def _by_sorting(variable: Variable, values: np.ndarray) -> np.ndarray:
    distinct, places = np.unique(values, return_inverse=True)
    return np.take(_lookup(variable, distinct.tolist()), places)


def _binned(variable: Variable, values: np.ndarray) -> np.ndarray:
    """Codes of values by the edges of the bins; the last bin includes its upper edge."""
    assert variable.bins is not None
    edges = np.array(variable.bins.edges, dtype=np.float64)
    codes = np.searchsorted(edges, values, side="right").astype(np.int32) - np.int32(1)
    codes[values == edges[-1]] = variable.card - 1
    codes[(values < edges[0]) | (values > edges[-1])] = _BAD
    codes[values != values] = _MISSING
    return codes
