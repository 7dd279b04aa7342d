"""Frames whose columns nobody declared: each becomes a variable, and its codes or numbers, in one reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from pgm.errors import InvalidArgument, InvalidFrame, UnknownVariable, counted, listed, shown
from pgm.variables import REAL, Domain, Interval, Variable, as_domain, check_name, is_missing

from .reading import _BAD, Column, _codes, _floats, _mixed, _read, _unknown, names_of

_ANY = Domain([0])
_MOST = 65_535  # states of a column


@dataclass(frozen=True, slots=True)
class Observations:
    """All columns of a frame as variables, with what was observed of each."""

    n_rows: int
    variables: dict[str, Variable]  # in the order of the columns
    codes: dict[str, np.ndarray]  # int32, -1 where missing, of those that have states
    values: dict[str, np.ndarray]  # float64, NaN where missing, of those that are continuous


def observations(
    frame: object,
    *,
    states: Mapping[str, Any] | None = None,
    continuous: str | Iterable[str] = (),
    declared: Mapping[str, Variable] | None = None,
    names: Iterable[str] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Observations:
    """Read a frame, and find out what its columns are.

    Truths, text, whole numbers and categories become states, sorted unless the categories have an order;
    other numbers are continuous. A column of floats that are all whole could be either: it must be declared.

    Args:
        frame: a pandas, polars, pyarrow, duckdb or dask frame, a dict of columns, or a list of dicts (rows).
        states: {name: states in order, or Bins}, of columns whose states the data should not decide.
        continuous: names of columns that hold numbers although they could be states.
        declared: variables that are known, by name.
        names: the columns to read; all if left out.
        check: called before each column; raises when the time limit has passed.

    Raises:
        InvalidFrame: a column without a value, or one that could be either.
        UnknownVariable: a name that is no column.
        UnknownState: a value that is none of the declared states.

    >>> seen = observations({"wet": ["yes", None, "no"], "x": [0.5, 1.0, None], "n": [2, 1, 2]})
    >>> seen.variables["wet"].states, seen.codes["wet"].tolist(), seen.variables["x"].continuous
    (('no', 'yes'), [1, -1, 0], True)
    """
    real = [continuous] if isinstance(continuous, str) else list(continuous)
    stated = dict(states or {})
    there = [name for name in names_of(frame) if isinstance(name, str)]
    wanted = there if names is None else list(names)
    for name in [*stated, *real, *wanted]:
        if name not in there:
            raise UnknownVariable(name, there, where="The frame's columns")
    if twice := [name for name in real if name in stated]:
        raise InvalidArgument(f"{listed(twice)}: states= and continuous= contradict each other.")
    n_rows, found = _read(frame, {check_name(name): Variable.of(name, _ANY) for name in wanted})
    variables: dict[str, Variable] = {}
    codes: dict[str, np.ndarray] = {}
    values: dict[str, np.ndarray] = {}
    for name in wanted:
        check()
        column = found[name]
        known = (declared or {}).get(name)
        if known is None and name in stated:
            known = Variable(name, stated[name])
        if known is None and name in real:
            known = Variable.of(name, REAL)
        if known is None:
            known, read = _found(name, column)
        elif known.continuous:
            read, wrong = _floats(column)
            _refuse(known, column, wrong)
        else:
            read = _codes(known, column)
            _refuse(known, column, read == _BAD)
        if known.card > _MOST:
            raise InvalidFrame(
                f"The column {shown(name)} has {counted(known.card)} different values, as an identifier has; "
                "states occur again. Leave the column out, or divide it with states=pgm.Bins."
            )
        variables[name] = known
        (values if known.continuous else codes)[name] = read
    return Observations(n_rows, variables, codes, values)


def _refuse(variable: Variable, column: Column, wrong: np.ndarray) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise _unknown(variable, column[row], row, int(wrong.sum()), "Declare it in states=, or leave it out")


def _found(name: str, column: Column) -> tuple[Variable, np.ndarray]:
    """The variable that a column's values make, and its codes or numbers."""
    dtype = column.dtype if isinstance(column, nw.Series) else None
    if isinstance(column, nw.Series):
        if isinstance(dtype, nw.Categorical | nw.Enum):
            return _categories(name, column)
        if dtype is not None and (dtype.is_float() or dtype.is_integer() or dtype == nw.Boolean):
            if dtype.is_float() or not column.null_count():
                column = column.to_numpy()
        elif column.implementation.is_pandas():
            numbers, distinct = column.to_native().factorize()
            return _numbered(name, column, np.asarray(numbers), list(distinct))
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return _real(name, column)
    if isinstance(column, np.ndarray) and column.dtype.kind in "biu":
        distinct = np.unique(column)
        return _with(name, distinct.tolist(), column)
    cells = column.to_list() if isinstance(column, nw.Series) else list(column)
    seen = _Seen()
    try:
        numbers = np.fromiter(map(seen.__getitem__, cells), np.int64, len(cells))
    except TypeError:
        raise InvalidFrame(
            f"The column {shown(name)} has values that cannot be states, such as lists; make them text."
        ) from None
    return _numbered(name, cells, numbers, list(seen))


class _Seen(dict[Any, int]):
    """Numbers values in the order in which they are met."""

    def __missing__(self, value: Any) -> int:
        self[value] = found = len(self)
        return found


def _numbered(
    name: str, column: Any, numbers: np.ndarray, distinct: list[Any]
) -> tuple[Variable, np.ndarray]:
    """From the number of each row's value among the distinct ones; -1 is missing."""
    present = [value for value in distinct if not is_missing(value)]
    kinds = {
        bool if isinstance(v, np.bool_) else float if isinstance(v, np.floating) else type(v) for v in present
    }
    if present and kinds <= {float}:
        return _real(name, np.array([np.nan if is_missing(v) else v for v in column], np.float64))
    cells = column if isinstance(column, list) or not kinds & {bool, int, float} else list(column)
    if kinds & {bool, int, float} and _mixed(cells):  # True == 1: the distinct ones hide it
        present = [v for v in {(type(v), v): v for v in cells}.values() if not is_missing(v)]
        return _with(name, present, cells)
    variable = _variable(name, present)
    table = np.array([*(-1 if is_missing(v) else variable.domain.find(v) for v in distinct), -1], np.int32)
    return variable, table[numbers]


def _with(name: str, distinct: list[Any], column: Any) -> tuple[Variable, np.ndarray]:
    variable = _variable(name, distinct)
    return variable, _codes(variable, column)


def _variable(name: str, distinct: list[Any]) -> Variable:
    found = [value.item() if isinstance(value, np.generic) else value for value in distinct]
    if not found:
        raise InvalidFrame(f"The column {shown(name)} has no value: nothing can be learned of it.")
    if all(isinstance(value, bool) for value in found):
        found = [False, True]
    try:
        found.sort()
    except TypeError:
        found.sort(key=_rank)
    return Variable(name, as_domain(found, declared=False))


def _rank(value: Any) -> tuple[Any, ...]:
    """Where a value stands among others of several kinds: numbers first, then kind by kind."""
    if isinstance(value, int | float):
        return (0, "", value, "")
    return (1, type(value).__name__, value.lo if isinstance(value, Interval) else 0, str(value))


def _real(name: str, column: np.ndarray) -> tuple[Variable, np.ndarray]:
    values = column.astype(np.float64)
    seen = values[~np.isnan(values)]
    if not seen.size:
        raise InvalidFrame(f"The column {shown(name)} has no value: nothing can be learned of it.")
    variable = Variable.of(name, REAL)
    _refuse(variable, column, np.isinf(values))
    if (seen == np.floor(seen)).all():
        raise InvalidFrame(
            f"The column {shown(name)} has whole numbers written as floats, which may be states or numbers: "
            f"say which with states={{{name!r}: [...]}} or continuous=[{name!r}]."
        )
    return variable, values


def _categories(name: str, column: nw.Series[Any]) -> tuple[Variable, np.ndarray]:
    """Categories are declared, and in order only if they say so."""
    ordered = isinstance(column.dtype, nw.Enum)
    if column.implementation.is_pandas():
        native = column.to_native().cat
        ordered, states = bool(native.ordered), native.categories.tolist()
    elif isinstance(column.dtype, nw.Enum):
        states = list(column.dtype.categories)
    else:
        states = column.unique().to_list()
    states = [value for value in states if not is_missing(value)]
    if not states:
        raise InvalidFrame(f"The column {shown(name)} has no value: nothing can be learned of it.")
    variable = Variable(name, as_domain(states)) if ordered else _variable(name, states)
    return variable, _codes(variable, column)
